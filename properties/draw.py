"""What the parameters of a law ask for is drawn from one history, so that its Z-sets share rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from deltaproof.properties.law import (
    GROUPS,
    Bags,
    Factor,
    Law,
    Left,
    LeftStream,
    Right,
    RightStream,
    Size,
    Stream,
    Streams,
    Subject,
    Tick,
    Ticks,
    ZSets,
    groups_of,
)
from deltaproof.properties.strategies import (
    TICKS,
    as_bag,
    delta_streams,
    queries,
    schemas,
    subjects,
)
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.query import Query, Table, apply
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

About: TypeAlias = type[Operator] | Subject | None  # what a law is checked of, if of anything
Inputs: TypeAlias = tuple[tuple[str, Any], ...]  # the arguments of an equation, by name


@st.composite
def cases(draw: DrawFn, law: Law, about: About) -> Inputs:
    """A value for each parameter of the law's equation."""
    names, kinds = zip(*law.parameters, strict=True)
    given: list[Any] = []
    if kinds[0] is Subject:
        subject = draw(subjects_about(law, about))
        given, tables = [subject], {str(n): schema for n, schema in enumerate(subject.schemas)}
    elif kinds[0] is Query:
        query = draw(queries_about(about))
        given, tables = [query], query.tables()
    else:
        tables = {"rows": draw(schemas())}
    given += draw_inputs(draw, tables, kinds[len(given) :])
    return tuple(zip(names, given, strict=True))


def subjects_about(law: Law, about: About) -> SearchStrategy[Subject]:
    """The subject, or random ones of the kind that meet the law's premise."""
    if isinstance(about, Subject):
        return st.just(about)
    if about is None:
        raise UsageError(f"{law.name} is a law of operators: say which, check_law(law, Filter)")
    claimable = law.of in GROUPS and GROUPS[law.of].claimable

    def meets(drawn: Subject) -> bool:
        return law.fits(drawn) and (not claimable or law.of in groups_of(drawn))

    return subjects(about).filter(meets)


def queries_about(about: About) -> SearchStrategy[Query]:
    """Random queries; with the subject, or an operator of the kind, at the top."""
    if not isinstance(about, Subject):
        return queries(depth=2, root=about)
    if about.operator is None:
        raise UsageError(f"{about} is no operator, and cannot be in a query")
    over = [Table(f"t{n}", schema) for n, schema in enumerate(about.schemas)]
    return st.just(apply(about.operator, *over))


PARTS: Mapping[Any, tuple[int, Callable[[Streams], Any]]] = {
    ZSet: (1, lambda part: part[0][0]),
    ZSets: (1, lambda part: tuple(stream[0] for stream in part)),
    Left: (1, lambda part: part[0][0]),
    Right: (1, lambda part: part[1][0]),
    LeftStream: (TICKS, lambda part: part[0]),
    RightStream: (TICKS, lambda part: part[1]),
    Bags: (1, lambda part: tuple(as_bag(stream[0]) for stream in part)),
    Stream: (TICKS, lambda part: part[0]),
    Streams: (TICKS, lambda part: part),
    Ticks: (TICKS, lambda part: part),
}
NUMBERS: Mapping[Any, SearchStrategy[Any]] = {
    Tick: st.integers(0, TICKS - 1),
    Factor: st.sampled_from((2, -1, 0, 3, -2)),
    Size: st.sampled_from((2, 1, 3)),
}


def draw_inputs(draw: DrawFn, tables: Mapping[str, Schema], kinds: Sequence[Any]) -> list[Any]:
    """A value of each kind; all Z-sets are parts of one history, so that they share rows."""
    ticks = sum(PARTS[kind][0] for kind in kinds if kind in PARTS)
    history = draw(delta_streams(*tables.values(), ticks=ticks)) if ticks else ()
    given: list[Any] = []
    start = 0
    for kind in kinds:
        if kind in PARTS:
            length, taken = PARTS[kind]
            part = tuple(stream[start : start + length] for stream in history)
            given.append(by_tick(tables, part) if kind == Ticks else taken(part))
            start += length
        else:
            given.append(draw(NUMBERS[kind]))
    return given


def by_tick(tables: Mapping[str, Schema], streams: Streams) -> Ticks:
    """The streams of the tables as a circuit takes them: a delta per table, tick by tick."""
    return [dict(zip(tables, deltas, strict=True)) for deltas in zip(*streams, strict=True)]
