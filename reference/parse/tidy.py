"""Two projections in a row are one: what reading a statement leaves behind is put in order.

And rows that are chosen by their ROW_NUMBER are those of a top-k, which need not be numbered:
that is how SQL says "the first three of each", and how `to_sql` prints it.

Only inside a statement: a table of WITH and a view stay the subtrees that they are, so that two
readers share them, and so that what `to_sql` prints is read back as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.query import Apply, Query, apply
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.scalar_tree import ColumnRef, Comparison, Literal, Logic

EVERY_ROW = 2**62  # the limit of OFFSET alone


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts of an AND, in order."""
    parts: list[Expr] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case Logic(symbol="AND", left=left, right=right):
                stack += [right, left]
            case other:
                parts.append(other)
    return parts


def conjunction(conditions: Iterable[Expr]) -> Expr | None:
    """The AND of them; None of none."""
    parts = list(conditions)
    return reduce(lambda a, b: a & b, parts) if parts else None


def filtered(query: Query, conditions: Sequence[Expr]) -> Query:
    """The rows for which all these are TRUE."""
    condition = conjunction(conditions)
    return query if condition is None else query.filter(condition)


def tidied(plan: Query, keep: Iterable[Query]) -> Query:
    """The plan with adjacent projections made one, but for those of the queries to keep."""
    kept = frozenset(keep)
    done: dict[Query, Query] = {}
    for node in plan.nodes():
        if node in kept or not isinstance(node, Apply):
            done[node] = node
        else:
            inputs = [done[each] for each in node.over]
            done[node] = fused(node, inputs, kept)
    return done[plan]


def fused(node: Apply, inputs: list[Query], kept: frozenset[Query]) -> Query:
    """The operator over these inputs, which are tidy; a projection of a projection is one."""
    if not isinstance(node.operator, Map):
        same = all(a is b for a, b in zip(node.over, inputs, strict=True))
        return node if same else apply(node.operator, *inputs)
    (below,) = inputs
    columns = node.operator.columns
    below = chosen_by_number(below, columns, kept)
    if isinstance(below, Apply) and isinstance(below.operator, Map) and below not in kept:
        inner = dict(below.operator.columns)
        if is_cheap(columns, inner):
            columns = tuple((name, value.substitute(inner)) for name, value in columns)
            (below,) = below.over
    if columns == tuple((name, col(name)) for name in below.schema.names):
        return below
    return apply(Map(columns), below)


def chosen_by_number(
    query: Query, columns: Iterable[tuple[str, Expr]], kept: frozenset[Query]
) -> Query:
    """The first rows of each partition, where they are filtered by a number that nobody reads."""
    match query:
        case Apply(
            operator=Filter(predicate=predicate),
            over=(Apply(operator=Rank(function="row_number") as rank, over=(rows,)) as numbered,),
        ) if query not in kept and numbered not in kept:
            pass
        case _:
            return query
    reads = {name for _, value in columns for name in value.columns()}
    parts = conjuncts(predicate)
    about = [each for each in parts if rank.result in each.columns()]
    others = [each for each in parts if rank.result not in each.columns()]
    bounds = [number_bound(each, rank.result) for each in about]
    if rank.result in reads or not bounds or None in bounds:
        return query
    first = max([low for low, _ in filter(None, bounds)], default=1)
    last = min([high for _, high in filter(None, bounds)])
    first, limit = max(first, 1), max(0, last - max(first, 1) + 1)
    top = apply(TopK(rank.partition, rank.order, limit, first - 1), rows)
    return filtered(top, others)


def number_bound(condition: Expr, name: str) -> tuple[int, int] | None:
    """The least and greatest number that meet a comparison with a constant."""
    match condition:
        case Comparison(
            symbol=symbol, left=ColumnRef(name=column), right=Literal(value=int() as n)
        ):
            if column == name:
                return {
                    "<=": (1, n),
                    "<": (1, n - 1),
                    "=": (n, n),
                    ">": (n + 1, EVERY_ROW),
                    ">=": (n, EVERY_ROW),
                }.get(symbol)
    return None


def is_cheap(columns: Iterable[tuple[str, Expr]], inner: dict[str, Expr]) -> bool:
    """Whether no computed column would be computed twice."""
    reads: dict[str, int] = {}
    for _, value in columns:
        for name in references(value):
            reads[name] = reads.get(name, 0) + 1
    return all(
        isinstance(inner[name], ColumnRef | Literal) or number == 1
        for name, number in reads.items()
    )


def references(value: Expr) -> list[str]:
    """The columns that an expression reads, each as often as it does."""
    if isinstance(value, ColumnRef):
        return [value.name]
    return [name for each in value.operands for name in references(each)]
