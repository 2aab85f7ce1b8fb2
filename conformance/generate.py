"""The generator: random queries, three operators deep, and random histories for them.

Everything follows from a seed. A shape is one query with pools of rows for its tables; the
cases of a shape differ in their histories. Domains are small on purpose: rows must meet.
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import count, islice
from random import Random

from deltaproof.conformance.adapter import (
    OPERATOR_CAPABILITIES,
    needs,
    type_capability,
)
from deltaproof.conformance.case import Case
from deltaproof.conformance.histories import KINDS, NEEDS, History, Pool
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Operator, Pairing
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.query import Apply, Query, Table, apply
from deltaproof.reference.scalar_sample import sample_predicate
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Column,
    Row,
    Schema,
    Type,
    Value,
)

DEPTH = 3
MONEY = DECIMAL(10, 2)
BIGINTS = ARRAY(BIGINT)

DOMAINS: Mapping[Type, tuple[Value, ...]] = {
    BIGINT: (0, 1, 2, -5, 5),
    VARCHAR: ("a", "b", "", "ab"),
    DOUBLE: (0.0, 0.5, -0.5, 1.25),
    BOOLEAN: (True, False),
    DATE: (datetime.date(2013, 1, 1), datetime.date(2013, 1, 31), datetime.date(1969, 12, 31)),
    TIMESTAMP: (
        datetime.datetime(2013, 1, 1, 5, 15),
        datetime.datetime(2013, 1, 1, 23, 59, 59, 999_999),
    ),
    MONEY: (Decimal("0.00"), Decimal("1.50"), Decimal("-1.50"), Decimal("0.01")),
    BIGINTS: ((), (1,), (1, 1), (0, None)),
}
KEYS: tuple[Value, ...] = (0, 1, 2)
SPECIAL_DOUBLES = (NAN, math.inf, 1e16)

# The types that an aggregate's argument takes in turn; odd turns are plain, see `shapes`.
ARGUMENTS: Mapping[str, Sequence[Type]] = {
    "aggregate.sum": (DOUBLE, BIGINT, MONEY),
    "aggregate.avg": (DOUBLE, BIGINT, MONEY),
    "aggregate.min": (DOUBLE, VARCHAR, MONEY),
    "aggregate.max": (TIMESTAMP, DATE, DOUBLE),
}
NOT_PLAIN = frozenset({"negate", "type.decimal", "type.array"})  # what not every engine has

COLUMN_TYPES: Sequence[Type] = (
    *([BIGINT] * 6),
    *([VARCHAR] * 4),
    *([DOUBLE] * 2),
    BOOLEAN,
    DATE,
    TIMESTAMP,
    MONEY,
    BIGINTS,
)


@dataclass(frozen=True)
class Shape:
    """A query, the pools of rows for its tables, and a seed for its histories."""

    query: Query
    pools: Mapping[str, Pool] = field(compare=False)
    special_doubles: bool
    seed: str

    @cached_property
    def root(self) -> int:
        """The seed as a number, so that each case's own is one addition away."""
        return int.from_bytes(hashlib.sha256(self.seed.encode()).digest()[:8])

    @cached_property
    def needs(self) -> frozenset[str]:
        """The capabilities that its cases ask of a backend, whatever the history."""
        return needs(self.query) | ({"value.nan"} if self.special_doubles else frozenset())

    def cases(self, kinds: Sequence[str], start: int = 0) -> Iterator[Case]:
        """Cases without end, the kinds of change taking turns."""
        for number in count(start):
            yield self.case(kinds[number % len(kinds)], number)

    def case(self, kind: str, number: int) -> Case:
        """The case of this kind and number; it depends on nothing else."""
        history = History(Random(self.root + number), self.pools)
        KINDS[kind](history)
        return Case(self.query, tuple(history.ticks), f"@{kind}", "", tuple(history.restarts))


def shapes(seed: int, capabilities: Sequence[str] = OPERATOR_CAPABILITIES) -> Iterator[Shape]:
    """Shapes without end; each of the capabilities takes its turn to be in the query.

    Every second round is of plain shapes, so that each operator meets every SQL engine too.
    """
    for number in count():
        turn, place = divmod(number, len(capabilities))
        name = capabilities[place]
        kinds = ARGUMENTS.get(name, (None,))
        kind = kinds[turn % len(kinds)]
        yield shape(f"{seed}/{number}", name, plain=turn % 2 == 1, argument=kind)


def shape(seed: str, capability: str, plain: bool = False, argument: Type | None = None) -> Shape:
    """The shape of this seed, its query using this operator; `plain` asks no engine for more.

    With an `argument` an aggregate of this capability has one of that type.

    >>> "distinct" in shape("7", "distinct").needs
    True
    """
    random = Random(seed)
    special = not plain and (argument == DOUBLE or random.random() < 0.25)
    asked = {capability, type_capability(argument)} if argument else {capability}
    refused = NOT_PLAIN - asked if plain else frozenset()
    while True:
        tables = sample_tables(random, argument)
        query = sample_query(random, tables, DEPTH)
        fits = argument is None or argument in argument_types(query, capability)
        if fits and capability in query.capabilities() and not needs(query) & refused:
            used = query.tables()
            pools = {name: pool(random, schema, special) for name, schema in used.items()}
            has_doubles = any(DOUBLE in schema.types for schema in used.values())
            return Shape(query, pools, special and has_doubles, seed)


def argument_types(query: Query, name: str) -> set[Type]:
    """The types of the arguments that the aggregates of this capability have in the query."""
    return {
        call.argument.type_in(node.over[0].schema)
        for node in query.nodes()
        if isinstance(node, Apply) and isinstance(node.operator, Aggregate)
        for _, call in node.operator.aggregates
        if call.argument is not None and f"aggregate.{call.function}" == name
    }


def sample_tables(random: Random, wanted: Type | None = None) -> list[Table]:
    """Two or three tables, each with a key column first; sometimes two of the same columns.

    A `wanted` type is that of a column of every table.
    """
    tables = []
    types: list[Type] = []
    for name in ("r", "s", "t")[: random.choice((2, 2, 3))]:
        if not types or random.random() < 0.6:
            types = [BIGINT, *random.choices(COLUMN_TYPES, k=random.choice((1, 1, 2, 2, 3)))]
            types += [wanted] if wanted is not None else []
        columns = (
            Column(f"{name}{place}", kind, nullable=random.random() < 0.8)
            for place, kind in enumerate(types)
        )
        tables.append(Table(name, Schema(tuple(columns))))
    return tables


def sample_query(random: Random, tables: Sequence[Table], depth: int) -> Query:
    """A random tree of at most this depth, over at least one operator."""
    fresh = (f"j{number}_" for number in count())
    clocks = [each.project(each.schema.names[0]).distinct() for each in tables]

    def grow(depth: int) -> Query:
        if depth == 0 or (depth < DEPTH and random.random() < 0.15):
            return random.choice(tables)
        while True:
            kind = random.choice(OPERATORS)
            inputs = [grow(depth - 1)]
            if kind.arity == 2:
                inputs.append(partner(kind, inputs[0], depth))
            operator = kind.sample(random, *[each.schema for each in inputs])
            if operator is not None and (query := fitting(operator, inputs)) is not None:
                return query

    def partner(kind: type[Operator], left: Query, depth: int) -> Query:
        """The other input: one of equal types, of other names, or a clock."""
        if kind.pairing is Pairing.CLOCK:
            return random.choice(clocks)
        other = grow(random.randrange(depth))
        if kind.pairing is Pairing.SAME_TYPES and other.schema.types != left.schema.types:
            some = Filter(sample_predicate(random, left.schema))
            return random.choice((left, apply(some, left)))
        if kind.pairing is Pairing.DISTINCT_NAMES:
            return other.prefix(next(fresh)) if clashes(left.schema, other.schema) else other
        return other

    return grow(depth)


def fitting(operator: object, inputs: Sequence[Query]) -> Query | None:
    """The operator over these inputs, or None when a column becomes one too many."""
    try:
        query = Apply(operator, tuple(inputs))  # type: ignore[arg-type]  # sampled from OPERATORS
    except SchemaError:
        return None
    return query if len(query.schema) <= 12 else None


def clashes(left: Schema, right: Schema) -> bool:
    return not {name.lower() for name in left.names}.isdisjoint(
        name.lower() for name in right.names
    )


def pool(random: Random, schema: Schema, special_doubles: bool) -> Pool:
    """Up to 18 rows over small domains, some with NULL where a column allows it."""

    def domain(column: Column) -> tuple[Value, ...]:
        if column.type == DOUBLE and special_doubles:
            return DOMAINS[DOUBLE][:2] + SPECIAL_DOUBLES
        return DOMAINS[column.type][:3] if random.random() < 0.5 else DOMAINS[column.type]

    domains = [KEYS, *[domain(column) for column in schema.columns[1:]]]
    plain = [tuple(map(random.choice, domains)) for _ in range(12)]
    nulls = [
        tuple(
            None if column.nullable and random.random() < 0.5 else random.choice(values)
            for column, values in zip(schema.columns, domains, strict=True)
        )
        for _ in range(6)
    ]
    by_key: dict[Value, list[Row]] = {}
    for row in plain:
        by_key.setdefault(row[0], []).append(row)
    return Pool(
        schema,
        tuple(dict.fromkeys(plain)),
        tuple(row for row in dict.fromkeys(nulls) if None in row),
        {key: tuple(rows) for key, rows in by_key.items()},
    )


def applicable_kinds(shape: Shape, kinds: Sequence[str], capabilities: frozenset[str]) -> list[str]:
    """The kinds of change that a backend of these capabilities can be asked about."""
    return [kind for kind in kinds if NEEDS.get(kind, kind) in capabilities or kind not in NEEDS]


def take_cases(shape: Shape, kinds: Sequence[str], number: int) -> list[Case]:
    """The first cases of a shape.

    >>> len(take_cases(shape("7", "distinct"), ["insert", "null"], 4))
    4
    """
    return list(islice(shape.cases(kinds), number))
