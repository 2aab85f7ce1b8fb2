"""Simpler values: a case says more when its rows hold 0, 1, 'a' and 'b'.

A renaming replaces a value of a type by a simpler one, in every row and every column of that
type, so keys that were equal stay equal; or in one column only; or in the query's literals too.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

from deltaproof.conformance.case import Case
from deltaproof.conformance.shrink_stream import canonical
from deltaproof.reference.errors import RowError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate, with_new
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.map import Map
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.scalar import Expr
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Column,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

Typed: TypeAlias = tuple[Type, Value]
Place: TypeAlias = tuple[str, str] | None  # a table and its column, or everywhere

SIMPLE = 10  # so many values of a type are simple: 0 to 9, 'a' to 'j'
NULL_COST = 50  # NULL is simpler than 17, but not than 0
ODD_COST = 100
FIRST_DAY = datetime.date(2013, 1, 1)
FIRST_MOMENT = datetime.datetime(2013, 1, 1)


@dataclass(frozen=True)
class Renaming:
    """What values become, everywhere or in one column; `|` lets the first renaming win.

    >>> (Renaming({(None, BIGINT, 7): 0}) | Renaming({(None, BIGINT, 7): 1})).values
    {(None, BIGINT, 7): 0}
    """

    values: Mapping[tuple[Place, Type, Value], Value]
    literals: bool = False

    def __or__(self, other: Renaming) -> Renaming:
        return Renaming({**other.values, **self.values}, self.literals or other.literals)

    def __call__(self, place: Place, kind: Type, value: Value) -> Value:
        if (place, kind, value) in self.values:
            return self.values[place, kind, value]
        if (None, kind, value) in self.values:
            return self.values[None, kind, value]
        if isinstance(kind, ARRAY) and value is not None:
            return tuple(self(place, kind.element, each) for each in value)
        return value


def simple(kind: Type, n: int) -> Value:
    """The n-th simplest value of a type. Raises IndexError when there are not so many.

    >>> simple(BIGINT, 0), simple(VARCHAR, 1), simple(DATE, 0)
    (0, 'b', datetime.date(2013, 1, 1))
    """
    if kind == BOOLEAN:
        return (False, True)[n]
    if kind == BIGINT:
        return n
    if kind == DOUBLE:
        return float(n)
    if kind == VARCHAR:
        return "abcdefghij"[n]
    if kind == DATE:
        return FIRST_DAY + datetime.timedelta(days=n)
    if kind == TIMESTAMP:
        return FIRST_MOMENT + datetime.timedelta(days=n)
    if isinstance(kind, DECIMAL):
        try:
            return kind.canonical(Decimal(n))
        except RowError:
            return kind.from_units(n)
    if isinstance(kind, ARRAY):
        return tuple(simple(kind.element, 0) for _ in range(n))
    raise IndexError(f"no simple values of {kind}")


@lru_cache(10_000)
def cost(kind: Type, value: Value) -> int:
    """How much a reader has to take in; renamings only ever lower it.

    >>> cost(BIGINT, 0), cost(BIGINT, None), cost(BIGINT, -5), cost(ARRAY(BIGINT), (0, 1))
    (0, 50, 105, 3)
    """
    if value is None:
        return NULL_COST
    if isinstance(kind, ARRAY):
        return len(value) + sum(cost(kind.element, each) for each in value)
    for n in range(SIMPLE):
        try:
            if simple(kind, n) == value:
                return n
        except IndexError:
            break
    if isinstance(value, int | float | Decimal) and not math.isnan(value):
        return ODD_COST + int(min(abs(float(value)), 1e7))
    return ODD_COST + len(str(value))


def case_cost(case: Case) -> int:
    """The cost of all values of a case, those of its literals too."""
    cells = sum(cost(column.type, value) for _, column, value in cells_of(case))
    return cells + sum(cost(kind, value) for kind, value in literals(case.query))


def cells_of(case: Case) -> Iterator[tuple[str, Column, Value]]:
    """Every value of every row, with its table and column."""
    tables = case.tables
    for tick in case.ticks:
        for name, delta in tick.items():
            for row in delta:
                for column, value in zip(tables[name].columns, row, strict=True):
                    yield name, column, value


def with_elements(kind: Type, value: Value) -> Iterator[Typed]:
    """The value and, of an array, the elements."""
    yield kind, value
    if isinstance(kind, ARRAY):
        for element in value or ():
            yield from with_elements(kind.element, element)


def renamed(case: Case, renaming: Renaming) -> Case:
    """The case after the renaming. Raises RowError for a NULL where there may be none."""
    tables = case.tables
    ticks = [
        {name: renamed_delta(renaming, name, tables[name], delta) for name, delta in tick.items()}
        for tick in case.ticks
    ]
    query = with_literals(case.query, renaming) if renaming.literals else case.query
    return canonical(case, query, ticks, case.restarts)


def renamed_delta(renaming: Renaming, name: str, schema: Schema, delta: ZSet) -> ZSet:
    def new(row: Row) -> list[Value]:
        columns = zip(schema.columns, row, strict=True)
        return [renaming((name, column.name), column.type, value) for column, value in columns]

    return ZSet.of(schema, [(tuple(new(row)), weight) for row, weight in delta.items()])


def renamings(case: Case) -> list[Renaming]:
    """All values at once, in order; then each value everywhere; then column by column."""
    cells = list(cells_of(case))
    typed = {each: None for _, column, value in cells for each in with_elements(column.type, value)}
    places = {((name, column.name), column.type, value): None for name, column, value in cells}
    columns: dict[tuple[Place, Type], list[Value]] = {}
    for place, kind, value in places:
        columns.setdefault((place, kind), []).append(value)
    return [
        *in_order(typed),
        *(Renaming({(None, *each): new}) for each in typed for new in simpler_values(*each)),
        *(
            Renaming({(place, kind, value): simple(kind, 0) for value in values})
            for (place, kind), values in columns.items()
        ),
        *(
            Renaming({(place, kind, value): new})
            for place, kind, value in places
            for new in simpler_values(kind, value)[:1]
        ),
    ]


def literal_renamings(case: Case) -> list[Renaming]:
    """The values of the query's literals, in the query and in the rows."""
    named = dict.fromkeys(literals(case.query))
    typed = {
        each: None
        for _, column, value in cells_of(case)
        for each in with_elements(column.type, value)
    }
    return [
        *(replace(each, literals=True) for each in in_order({**typed, **named})),
        *(
            Renaming({(None, *each): new}, literals=True)
            for each in named
            for new in simpler_values(*each)
        ),
    ]


def in_order(typed: Iterable[Typed]) -> Iterator[Renaming]:
    """All values of each type become its first simple ones, from 0 or from 1, in their order."""
    by_type: dict[Type, list[Value]] = {}
    for kind, value in typed:
        if value is not None and not isinstance(kind, ARRAY):
            by_type.setdefault(kind, []).append(value)
    for first in (0, 1):
        values: dict[tuple[Place, Type, Value], Value] = {}
        for kind, known in by_type.items():
            ordered = sorted(known, key=kind.order)
            try:
                new = [simple(kind, n) for n in range(first, first + len(ordered))]
            except IndexError:
                continue
            values |= {(None, kind, old): each for old, each in zip(ordered, new, strict=True)}
        yield Renaming(values)


def simpler_values(kind: Type, value: Value) -> list[Value]:
    """What may stand for the value, simplest first.

    >>> simpler_values(BIGINT, -5), simpler_values(VARCHAR, "b")
    ([0, 1, 2, None, -1], ['a'])
    """
    targets: list[Value] = []
    for n in range(3):
        try:
            targets.append(simple(kind, n))
        except IndexError:
            break
    targets.append(None)
    if kind in (BIGINT, DOUBLE):
        targets.append(kind.python(-1))
    return [target for target in targets if cost(kind, target) < cost(kind, value)]


def literals(query: Query) -> list[Typed]:
    """The literals of a query, inputs first."""
    found: list[Typed] = []

    def note(literal: Literal) -> Expr:
        found.append((literal.type, literal.value))
        return literal

    for operator in query.operators():
        with_expressions(operator, lambda expression: each_literal(expression, note))
    return found


def with_literals(query: Query, renaming: Renaming) -> Query:
    """The query with its literals renamed. Raises SchemaError when it does not fit any more."""

    def new(literal: Literal) -> Expr:
        return Literal(literal.type, renaming(None, literal.type, literal.value))

    if not isinstance(query, Apply):
        return query
    operator = with_expressions(query.operator, lambda expression: each_literal(expression, new))
    return Apply(operator, tuple(with_literals(each, renaming) for each in query.over))


def each_literal(expression: Expr, new: Callable[[Literal], Expr]) -> Expr:
    """The expression with its literals replaced."""
    if isinstance(expression, Literal):
        return new(expression)
    return expression.with_operands([each_literal(each, new) for each in expression.operands])


def with_expressions(operator: Operator, new: Callable[[Expr], Expr]) -> Operator:
    """The operator with its expressions replaced."""
    match operator:
        case Filter():
            return replace(operator, predicate=new(operator.predicate))
        case Map():
            return replace(operator, columns=tuple((n, new(each)) for n, each in operator.columns))
        case FlatMap():
            return replace(operator, array=new(operator.array))
        case Aggregate() | GroupingSets():
            calls = ((name, with_new(call, new)) for name, call in operator.aggregates)
            return replace(operator, aggregates=tuple(calls))
        case _:
            return operator
