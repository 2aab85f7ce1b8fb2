"""Smaller queries: what can be cut from a tree of operators while the rest still fits.

    isolated   one operator alone, fed with what its inputs were
    trimmed    a subtree instead of the tree, an input instead of its operator, a table instead
               of a subtree; fewer keys, aggregates and columns; simpler expressions

A table that stands for a subtree gets the deltas that the subtree had, recomputed by its
meaning, so what is above it sees the same changes as before. What does not fit is left out:
the schema rules decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

from deltaproof.conformance.case import Case
from deltaproof.conformance.judge import Oracle
from deltaproof.conformance.shrink_stream import canonical
from deltaproof.reference.errors import DeltaproofError, SchemaError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate, simpler_calls
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.scalar import Expr
from deltaproof.reference.scalar_functions import ArrayOf, Call, Coalesce
from deltaproof.reference.types import Schema, key_function
from deltaproof.reference.zset import ZSet

Replacements: TypeAlias = Mapping[Query, Query]
Item = TypeVar("Item")
Given = ParamSpec("Given")


def isolated(case: Case) -> Iterator[Case]:
    """For each operator, the case in which it is the only one.

    >>> from deltaproof.reference.query import table
    >>> query = table("t", "k BIGINT").negate().distinct()
    >>> for alone in isolated(Case(query, ({"t": ZSet({(7,): 2})},))):
    ...     print(alone.query.label(), alone.ticks)
    negate ({'t': ZSet({(7,): 2})},)
    distinct ({'t': ZSet({(7,): -2})},)
    """
    for node in case.query.nodes():
        if isinstance(node, Apply):
            yield from fitting(with_tables, case, node, node.over)


def trimmed(case: Case) -> Iterator[Case]:
    """Every case whose query is one step smaller, or a part of this one."""
    nodes = case.query.nodes()
    for node in nodes[:-1]:
        yield from fitting(with_query, case, node)
    for node in nodes:
        if isinstance(node, Apply):
            yield from fitting(with_tables, case, case.query, (node,))
            for smaller in (*node.over, *simpler_nodes(node)):
                yield from fitting(put, case, node, smaller)
        elif isinstance(node, Table):
            for name in node.schema.names:
                yield from fitting(without_column, case, node.name, name)
    yield without_unread_columns(case)


def fitting(
    build: Callable[Concatenate[Case, Given], Case],
    case: Case,
    *given: Given.args,
    **named: Given.kwargs,
) -> Iterator[Case]:
    """The case that is built, unless a schema rule is broken or a value does not exist."""
    try:
        yield build(case, *given, **named)
    except DeltaproofError:
        return


def with_query(case: Case, query: Query) -> Case:
    return canonical(case, query, case.ticks, case.restarts)


def put(case: Case, node: Query, smaller: Query) -> Case:
    """The case with a node replaced wherever it stands."""
    return with_query(case, replaced(case.query, {node: smaller}))


def replaced(query: Query, by: Replacements) -> Query:
    """The tree with these subtrees replaced. Raises SchemaError when the rest does not fit."""
    if query in by:
        return by[query]
    if isinstance(query, Apply):
        return Apply(query.operator, tuple(replaced(each, by) for each in query.over))
    return query


def with_tables(case: Case, query: Query, subtrees: tuple[Query, ...]) -> Case:
    """The case of this query with subtrees of it made tables that change as they did."""
    inner = [each for each in dict.fromkeys(subtrees) if isinstance(each, Apply)]
    taken = tables_outside(query, inner)
    by: dict[Query, Query] = {}
    ticks = [dict(tick) for tick in case.ticks]
    for subtree in inner:
        name = next(name for name in names_for(subtree) if name not in taken)
        taken.add(name)
        by[subtree] = Table(name, subtree.schema)
        for tick, delta in zip(ticks, Oracle(subtree).expected(case).deltas, strict=True):
            tick[name] = ZSet(delta.items(), subtree.schema)  # RowError when it puts out others
    return canonical(case, replaced(query, by), ticks, case.restarts)


def tables_outside(query: Query, subtrees: Sequence[Query]) -> set[str]:
    """The names of the tables that are read outside these subtrees."""
    if query in subtrees:
        return set()
    if isinstance(query, Table):
        return {query.name}
    return {name for each in query.inputs for name in tables_outside(each, subtrees)}


def names_for(subtree: Query) -> Iterator[str]:
    """Names for a table in place of a subtree: those of its tables come first."""
    yield from subtree.tables()
    yield from (f"t{n}" for n in count())


def without_column(case: Case, name: str, column: str) -> Case:
    """The case whose table never had this column. Raises SchemaError if something reads it."""
    schema = case.tables[name]
    columns = tuple(each for each in schema.columns if each.name != column)
    if not columns:
        raise SchemaError(f"table {name}: a table has at least one column")
    smaller = Table(name, Schema(columns))
    keep = key_function([schema.index(each.name) for each in columns])
    ticks = [
        {**tick, name: ZSet((keep(row), weight) for row, weight in tick[name].items())}
        if name in tick
        else tick
        for tick in case.ticks
    ]
    query = replaced(case.query, {Table(name, schema): smaller})
    return canonical(case, query, ticks, case.restarts)


def without_unread_columns(case: Case) -> Case:
    """The case without every column that no operator needs, as far as the schema rules say."""
    for name, schema in case.tables.items():
        for column in schema.names:
            for smaller in fitting(without_column, case, name, column):
                case = smaller
    return case


def simpler_nodes(node: Apply) -> Iterator[Query]:
    """The node with one argument of its operator fewer or simpler, where the schemas allow it."""
    for operator in simpler_operators(node.operator):
        try:
            yield Apply(operator, node.over)
        except SchemaError:
            continue


def simpler_operators(operator: Operator) -> Iterator[Operator]:
    """The operator with one column, key, aggregate or part of an expression left out."""
    match operator:
        case Filter():
            yield from (replace(operator, predicate=each) for each in simpler(operator.predicate))
        case Map():
            yield from (replace(operator, columns=each) for each in shorter(operator.columns))
            for n, (name, value) in enumerate(operator.columns):
                for each in simpler(value):
                    yield replace(operator, columns=with_item(operator.columns, n, (name, each)))
        case FlatMap():
            yield from (replace(operator, array=each) for each in simpler(operator.array))
        case Join():
            yield from (replace(operator, on=each) for each in shorter(operator.on))
        case Aggregate():
            yield from (replace(operator, keys=each) for each in shorter(operator.keys, down_to=0))
            yield from fewer_calls(operator)
        case GroupingSets():
            yield from (replace(operator, sets=each) for each in shorter(operator.sets))
            for n, keys in enumerate(operator.sets):
                for fewer in shorter(keys, down_to=0):
                    yield replace(operator, sets=with_item(operator.sets, n, fewer))
            yield from fewer_calls(operator)


def fewer_calls(operator: Aggregate | GroupingSets) -> Iterator[Operator]:
    """The operator with fewer calls, or with one that says less."""
    yield from (replace(operator, aggregates=each) for each in shorter(operator.aggregates))
    for n, (name, call) in enumerate(operator.aggregates):
        for each in simpler_calls(call, simpler):
            yield replace(operator, aggregates=with_item(operator.aggregates, n, (name, each)))


def simpler(expression: Expr) -> Iterator[Expr]:
    """The expression with one operation replaced by one of its operands; types are not checked.

    >>> from deltaproof.reference.scalar import col
    >>> print(*simpler((col("k") + 1 > 3) & col("b")), sep="; ")
    k + 1 > 3; b; k + 1 AND b; 3 AND b; k > 3 AND b; 1 > 3 AND b
    """
    operands = expression.operands
    yield from operands
    if isinstance(expression, ArrayOf | Coalesce | Call):
        yield from map(expression.with_operands, shorter(operands))
    for n, operand in enumerate(operands):
        for each in simpler(operand):
            yield expression.with_operands(with_item(operands, n, each))


def shorter(items: tuple[Item, ...], down_to: int = 1) -> Iterator[tuple[Item, ...]]:
    """The fewest items there may be, and the items without one of them.

    >>> list(shorter((1, 2, 3)))
    [(1,), (2,), (3,), (2, 3), (1, 3), (1, 2)]
    """
    if len(items) > down_to:
        yield from combinations(items, down_to)
        if len(items) > down_to + 1:
            yield from (items[:n] + items[n + 1 :] for n in range(len(items)))


def with_item(items: tuple[Item, ...], n: int, item: Item) -> tuple[Item, ...]:
    return (*items[:n], item, *items[n + 1 :])
