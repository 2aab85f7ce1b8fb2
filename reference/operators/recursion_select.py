"""The recursions that SQL has words for: WITH RECURSIVE r AS (base UNION step).

There the step is one SELECT that reads the recursion once, in its FROM, and not inside another
query; this is what the engines have in common. So there must be one relation, whose body is a
union in which one part reads it, once, directly or in a join with what is outside. What comes
after that join, maps and filters, goes into the same SELECT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.recursion_rules import reads_any
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.scalar import Expr
from deltaproof.reference.select import (
    Compound,
    JoinOn,
    Recursive,
    Relation,
    Select,
    columns_of,
    fresh_name,
)

if TYPE_CHECKING:
    from deltaproof.reference.operators.recursion import Recursion

Source = Relation | Select


def recursive_select(recursion: Recursion, inputs: Sequence[Relation]) -> Recursive | None:
    """The recursion as SQL says it; None where it has no words for it."""
    if len(recursion.definitions) != 1:
        return None
    ((name, body),) = recursion.definitions
    relation = recursion.relation(name)
    tables: dict[Query, Source] = {
        Table(table, schema): given
        for (table, schema), given in zip(recursion.tables, inputs, strict=True)
    }
    parts = list(parts_of_union(body))
    bases = [said(part, tables) for part in parts if not reads_any(part, {name})]
    steps = [part for part in parts if reads_any(part, {name})]
    if not bases or len(steps) != 1:
        return None
    own = Relation(fresh_name(name, [each.name for each in inputs]), relation.schema)
    step = step_of(steps[0], {relation: own, **tables}, relation)
    if step is None or None in bases:
        return None
    selects = tuple(as_select(base) for base in bases if base is not None)
    base = selects[0] if len(selects) == 1 else Compound(selects)
    return Recursive(own.name, relation.schema, base, step)


def parts_of_union(query: Query) -> Iterator[Query]:
    """What is united in the body; duplicates go in any case."""
    if isinstance(query, Apply):
        match query.operator:
            case UnionAll() | SetOperation("union") | Distinct():
                for each in query.over:
                    yield from parts_of_union(each)
                return
    yield query


def step_of(query: Query, tables: Mapping[Query, Source], relation: Query) -> Select | None:
    """The part of the body that reads the relation, as one SELECT."""
    if query == relation:
        return as_select(tables[query])
    if not isinstance(query, Apply):
        return None
    match query.operator:
        case Join(on):
            return join_of(query, on, tables, relation)
        case Filter(predicate):
            inner = step_of(query.over[0], tables, relation)
            return None if inner is None else narrowed(inner, predicate)
        case Map(columns):
            inner = step_of(query.over[0], tables, relation)
            return None if inner is None else computed(inner, columns, query)
        case Distinct():
            return step_of(query.over[0], tables, relation)
    return None


def join_of(
    query: Apply,
    on: tuple[tuple[str, str], ...],
    tables: Mapping[Query, Source],
    relation: Query,
) -> Select | None:
    """A join of the relation itself with something that does not read it."""
    if relation not in query.over or query.over[0] == query.over[1]:
        return None
    left, right = (said(each, tables) for each in query.over)
    reads_once = sum(relation in each.nodes() for each in query.over) == 1
    if left is None or right is None or not reads_once:
        return None
    return Select.star(JoinOn(left, right, on))


def expressions(select: Select) -> dict[str, Expr]:
    """What each column of a step is made of."""
    return {name: value for name, value in select.columns if isinstance(value, Expr)}


def narrowed(select: Select, predicate: Expr) -> Select:
    more = predicate.substitute(expressions(select))
    return replace(select, where=more if select.where is None else select.where & more)


def computed(select: Select, columns: Sequence[tuple[str, Expr]], query: Query) -> Select:
    known = expressions(select)
    new = tuple((name, value.substitute(known)) for name, value in columns)
    return replace(select, columns=new, schema=query.schema)


def said(query: Query, tables: Mapping[Query, Source]) -> Source | None:
    """What does not read the relation, as a subquery; None where an operator is not a SELECT."""
    if not isinstance(query, Apply):
        return tables[query]
    inputs = [said(each, tables) for each in query.over]
    places = [Relation(f"_input{n}", each.schema) for n, each in enumerate(query.over)]
    select = query.operator.select(*places)
    if not isinstance(select, Select) or None in inputs:
        return None
    sources = {place.name: each for place, each in zip(places, inputs, strict=True)}
    return placed(replace(select, schema=query.schema), sources)


def placed(select: Select, sources: Mapping[str, Source | None]) -> Select | None:
    """The SELECT with its inputs in their places; None where one must be a table and is not."""
    exists = select.exists
    if exists is not None:
        other = sources[exists.relation.name]
        if not isinstance(other, Relation):
            return None
        exists = replace(exists, relation=other)
    source = placed_source(select.source, sources)
    return None if source is None else replace(select, source=source, exists=exists)


def placed_source(
    source: Relation | JoinOn | Select, sources: Mapping[str, Source | None]
) -> Relation | JoinOn | Select | None:
    if isinstance(source, Relation):
        return sources[source.name]
    if isinstance(source, Select):
        return placed(source, sources)
    left, right = (placed_source(each, sources) for each in (source.left, source.right))
    if left is None or right is None or isinstance(left, JoinOn) or isinstance(right, JoinOn):
        return None
    return replace(source, left=left, right=right)


def as_select(source: Source) -> Select:
    """The source as a statement of its own."""
    if isinstance(source, Select):
        return source
    return Select(columns_of(source.schema.names), source, schema=source.schema)
