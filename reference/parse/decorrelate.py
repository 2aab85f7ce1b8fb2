"""Reading a subquery so that it can be joined: what is inside no longer looks outside.

Two forms, the first that fits:

    pulled    the conditions of WHERE that read the query around are taken out of the subquery and
              become the condition of the join. For EXISTS and IN any condition may be pulled;
              for an aggregate only `outer = inner`, which becomes GROUP BY inner.
              Kim (1982), "On optimizing an SQL-like nested query"; what it got wrong, COUNT over
              an empty group, is put right by a left join and a value for the missing group
              (Ganski and Wong 1987); Galindo-Legaria and Joshi (SIGMOD 2001) for the whole.
    domain    the general case: the distinct values D of the outer columns that the subquery reads
              are joined to the tables of the subquery, which is so evaluated for all of them at
              once, each of its clauses per value; then it is joined back on those columns, NULLs
              being equal. Neumann and Kemper (BTW 2015), "Unnesting arbitrary queries".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from deltaproof.reference.parse.joins import combined
from deltaproof.reference.parse.scope import (
    Block,
    NeedsDomain,
    Outer,
    projected,
)
from deltaproof.reference.query import Query
from deltaproof.reference.scalar import Expr, col

if TYPE_CHECKING:
    from deltaproof.reference.parse.select import Answer


def nested(block: Block, node: exp.Expr, role: str, whole: bool = False) -> Answer:
    """The subquery, its names resolved here where they are not its own.

    The pulled form is tried first, unless the `whole` domain is asked for.
    """
    read = block.context.read_query
    outer = Outer(block)
    if not whole:
        try:
            return read(block.context, node, block.environment, outer, role)
        except NeedsDomain as need:
            if need.outer is not outer:
                raise
    names = columns_read(block, node, role)
    columns = [block.lookup(name, qualifier, node) for name, qualifier in names]
    used = dict.fromkeys(column.name for column in columns if column is not None)
    return read(block.context, node, block.environment, domain_of(block, list(used)), role)


def domain_of(block: Block, used: Sequence[str]) -> Outer:
    """The distinct values of these columns of the plan so far, under new names."""
    renamed = {name: block.fresh(f"outer_{name}") for name in used}
    columns = [(new, col(old)) for old, new in renamed.items()]
    domain = projected(block.query, columns).distinct() if columns else None
    return Outer(block, domain, renamed)


def columns_read(block: Block, node: exp.Expr, role: str) -> Sequence[tuple[str, str]]:
    """The names in a subquery that stand for columns around it.

    They are found by reading it once over a domain of all columns. What is found is kept: a
    subquery inside is read again for each of the readings of those around it.
    """
    known = block.context.correlations.get(id(node))
    if known is None:
        taken = set(block.taken)
        outer = domain_of(block, list(block.query.schema.names))
        block.context.read_query(block.context, node, block.environment, outer, role)
        block.taken = taken
        known = block.context.correlations[id(node)] = tuple(outer.used)
    return known


def derived(
    block: Block, node: exp.Expr
) -> tuple[Query, Sequence[tuple[str, str]], Sequence[Expr]]:
    """A subquery in FROM: its plan, what is visible of it, and how it hangs on the domain."""
    read = block.context.read_query
    if block.outer is None:
        answer = read(block.context, node, block.environment)
        return answer.query, list(zip(answer.names, answer.columns, strict=True)), ()
    around = block.outer
    alone = Outer(around.block, may_pull=False)
    try:
        answer = read(block.context, node, block.environment, alone)
        return answer.query, list(zip(answer.names, answer.columns, strict=True)), ()
    except NeedsDomain as need:
        if need.outer is not alone:
            raise
    if around.domain is None:
        raise NeedsDomain(around)
    inside = Outer(around.block, around.domain, around.renamed)
    answer = read(block.context, node, block.environment, inside)
    around.used.update(inside.used)
    renamed = {each.column: block.fresh(each.column) for each in answer.carried}
    plan = projected(
        answer.query,
        [(renamed.get(name, name), col(name)) for name in answer.query.schema.names],
    )
    pairs = zip(answer.carried, around.renamed.values(), strict=True)
    same = [col(own).is_not_distinct_from(col(renamed[each.column])) for each, own in pairs]
    return plan, list(zip(answer.names, answer.columns, strict=True)), same


def lateral(
    block: Block, node: exp.Expr, plan: Query, kind: str
) -> tuple[Query, Sequence[tuple[str, str]]]:
    """The rows of a plan, each with the rows that the subquery has for it."""
    block.query = plan
    answer = nested(block, node, "table")
    if answer.carried and (answer.exactly_one or answer.empty is not None):
        answer = nested(block, node, "table", whole=True)
    right, renamed = renamed_apart(block, answer.query)
    joined = combined(kind, plan, right, hangs_on(answer, renamed), block.fresh)
    visible = [(n, renamed.get(c, c)) for n, c in zip(answer.names, answer.columns, strict=True)]
    return joined, visible


def hangs_on(answer: Answer, renamed: dict[str, str]) -> list[Expr]:
    """The conditions under which a row of the answer counts for a row around."""
    conditions = []
    for each in answer.carried:
        inner = col(renamed[each.column])
        same = each.outer.is_not_distinct_from(inner) if each.null_safe else each.outer.eq(inner)
        conditions.append(same)
    names = {old: col(new) for old, new in renamed.items()}
    return [*conditions, *(each.substitute(names) for each in answer.pulled)]


def renamed_apart(block: Block, query: Query) -> tuple[Query, dict[str, str]]:
    """The query, none of its columns called like one around; and what each is called now."""
    renamed = {name: block.fresh(name) for name in query.schema.names}
    return projected(query, [(new, col(old)) for old, new in renamed.items()]), renamed
