"""What the parameters of a law ask for is drawn from one history, so that its Z-sets share rows.

cases(law, about)        the strategy: a value for each parameter
Draws(about).of(law)     so many cases of a law; all laws of one thing share what is drawn
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import DrawFn, SearchStrategy

from deltaproof.properties.decode import TICKS, by_tick, history
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import (
    GROUPS,
    Bags,
    Factor,
    Law,
    Left,
    LeftStream,
    Premise,
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
from deltaproof.properties.strategies import as_bag, blocks, queries, schemas, subjects
from deltaproof.reference.errors import DeltaproofError, UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.query import Query, Table, apply
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

About: TypeAlias = type[Operator] | Subject | None  # what a law is checked of, if of anything
Of: TypeAlias = Subject | Query | Schema  # what the rest of a case is drawn for
T = TypeVar("T")

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
NUMBERS: Mapping[Any, Sequence[int]] = {  # the simplest first
    Tick: range(TICKS),
    Factor: (2, -1, 0, 3, -2),
    Size: (2, 1, 3),
}


@dataclass
class Material:
    """What cases of laws are made of: of whom, and bytes for whatever a law asks for."""

    of: Of
    given: tuple[bytes, ...]  # events, a universe for each table, numbers
    known: dict[Premise, bool] = field(default_factory=dict)

    def inputs(self, law: Law) -> Inputs:
        """A value for each parameter of the law's equation."""
        names, kinds = zip(*law.parameters, strict=True)
        first = () if isinstance(self.of, Schema) else (self.of,)
        rest = inputs_of(self.given, tables_of(self.of), kinds[len(first) :])
        return tuple(zip(names, (*first, *rest), strict=True))

    @cached_property
    def groups(self) -> frozenset[str]:
        return groups_of(self.of) if isinstance(self.of, Subject) else frozenset()

    def meets(self, law: Law, claimed: bool | None) -> bool:
        """Whether the law says anything about this one, and it claims so, or does not."""
        if not isinstance(self.of, Subject):
            return True
        for premise in law.premises:
            if premise not in self.known:
                self.known[premise] = premise.holds(self.of)
            if not self.known[premise]:
                return False
        return claimed is None or not may_be_claimed(law) or claimed == (law.of in self.groups)


def inputs_of(
    given: Sequence[bytes], tables: Mapping[str, Schema], kinds: Sequence[Any]
) -> list[Any]:
    """A value of each kind; all Z-sets are parts of one history, so that they share rows."""
    *blocks, numbers = given
    ticks = sum(PARTS[kind][0] for kind in kinds if kind in PARTS)
    streams = history(blocks, [*tables.values()], ticks) if ticks else ()
    found: list[Any] = []
    start = 0
    for kind, byte in zip(kinds, numbers, strict=False):
        if kind in PARTS:
            length, taken = PARTS[kind]
            part = tuple(stream[start : start + length] for stream in streams)
            found.append(by_tick(list(tables), part) if kind == Ticks else taken(part))
            start += length
        else:
            found.append(NUMBERS[kind][byte % len(NUMBERS[kind])])
    return found


def tables_of(of: Of) -> Mapping[str, Schema]:
    """The tables that the Z-sets of a case are changes of."""
    if isinstance(of, Subject):
        return {str(n): schema for n, schema in enumerate(of.schemas)}
    return of.tables() if isinstance(of, Query) else {"rows": of}


def may_be_claimed(law: Law) -> bool:
    """Whether an operator is held to this law because it says so."""
    return law.of in GROUPS and GROUPS[law.of].claimable


# ── One case, by Hypothesis ─────────────────────────────────────────────────────────────────


def cases(law: Law, about: About, claimed: bool | None = True) -> SearchStrategy[Inputs]:
    """A value for each parameter of the law's equation.

    Of random operators of a kind those are drawn that meet the law's premises: the ones that
    claim the law's group, or those that do not (claimed=False), or all (None).
    """

    def meets(of: Of) -> bool:
        return isinstance(about, Subject) or Material(of, ()).meets(law, claimed)

    return materials(whose(law, about).filter(meets)).map(lambda drawn: drawn.inputs(law))


@st.composite
def materials(draw: DrawFn, whose: SearchStrategy[Any]) -> Material:
    of = draw(whose)
    return Material(of, draw(blocks(len(tables_of(of)) + 2)))


def whose(law: Law, about: About) -> SearchStrategy[Any]:
    """Whose case it is: an operator's, a query's, or anybody's rows of some schema."""
    first = law.parameters[0][1] if law.parameters else None
    if first is Query:
        return queries_about(about)
    if first is not Subject:
        return schemas()
    if isinstance(about, Subject):
        return st.just(about)
    if about is None:
        raise UsageError(f"{law.name} is a law of operators: say which, check_law(law, Filter)")
    return subjects(about)


def queries_about(about: About) -> SearchStrategy[Query]:
    """Random queries; with the subject, or an operator of the kind, at the top."""
    if not isinstance(about, Subject):
        return queries(depth=2, root=about)
    if about.operator is None:
        raise UsageError(f"{about} is no operator, and cannot be in a query")
    over = [Table(f"t{n}", schema) for n, schema in enumerate(about.schemas)]
    return st.just(apply(about.operator, *over))


# ── Many at once ────────────────────────────────────────────────────────────────────────────

POOL = 4  # times as many instances, to find enough that meet a premise
LEAST_POOL = 200


class Draws:
    """Cases of laws about one thing, the same whenever asked.

    To draw takes ten times as long as to judge, so what is drawn once serves all laws.

    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.filter import Filter
    >>> draws = Draws(Filter, examples=5)
    >>> [name for name, _ in draws.of(operator_additive)[0]]
    ['q', 'a', 'b']
    """

    def __init__(self, about: About, examples: int = 100) -> None:
        self.about = about
        self.examples = examples
        self.drawn: dict[Any, list[Material]] = {}

    def of(self, law: Law, claimed: bool | None = True, more: int = 1) -> list[Inputs]:
        """Cases of this law, `more` times as many as usual; fewer where there are not so many.

        Raises UsageError when an instance of the operator cannot even be made.
        """
        return [each.inputs(law) for each in self.materials(law, claimed, self.examples * more)]

    def materials(self, law: Law, claimed: bool | None, wanted: int) -> list[Material]:
        if isinstance(self.about, Subject):
            # a law without data has one case, however often it is tried
            return self.pool(law, wanted)[: None if len(law.parameters) > 1 else 1]
        for size in (wanted, max(wanted * POOL, LEAST_POOL)):
            found = [each for each in self.pool(law, size) if each.meets(law, claimed)]
            if len(found) >= wanted:
                break
        if 0 < len(found) < wanted:  # they are rare: every one drawn must be one
            key = law.premises, law.of if may_be_claimed(law) else "", claimed, wanted
            if key not in self.drawn:
                rare = whose(law, self.about).filter(
                    lambda of: Material(of, ()).meets(law, claimed)
                )
                self.drawn[key] = self.draw(rare, wanted)
            return self.drawn[key]
        return found[:wanted]

    def pool(self, law: Law, size: int) -> list[Material]:
        """So many, whether they meet the law's premises or not."""
        key = law.parameters[0][1] if law.parameters else None, size
        if key not in self.drawn:
            self.drawn[key] = self.draw(whose(law, self.about), size)
        return self.drawn[key]

    def draw(self, whose: SearchStrategy[Any], size: int) -> list[Material]:
        try:
            return drawn(materials(whose), size)
        except DeltaproofError:
            raise
        except Exception as error:
            hint = ": it has no `sample`" if isinstance(error, NotImplementedError) else ""
            what = f"{about_text(self.about)}: no random instance can be made{hint}"
            raise UsageError(f"{what}: {type(error).__name__}: {error}") from error


def drawn(strategy: SearchStrategy[T], examples: int) -> list[T]:
    """So many values of the strategy, the same whenever asked; fewer where there are no more."""
    found: list[T] = []

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    with suppress(Unsatisfiable):  # nothing meets the premise
        collect()
    return found


def about_text(about: About) -> str:
    """What a law is checked of, in a few words."""
    if about is None:
        return ""
    return f"{about}" if isinstance(about, Subject) else about.name
