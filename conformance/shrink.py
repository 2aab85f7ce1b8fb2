"""The smallest case that still fails in the same way: a failure worth reading.

    shrink        leaves out, merges, cuts and simplifies until nothing more can go
    failing_on    the question that it asks: which of these still fail like that on this backend?
    same_class    the way in which a case fails

Candidates are tried in batches, because for some engines all cases of one query cost one job:
first what can go from the stream, then what can go from the query. Every step makes the case
smaller in one order (`measure`), so the search ends; it depends on nothing but the case, what
fails and the budget.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import or_
from typing import NamedTuple, Protocol, Self, TypeAlias, TypeVar

from deltaproof.conformance.adapter import Backend, Observed
from deltaproof.conformance.case import Case
from deltaproof.conformance.judge import Difference, Judge, Oracle, run_cases
from deltaproof.conformance.shrink_query import fitting, isolated, trimmed
from deltaproof.conformance.shrink_stream import Edit, coarse, edited, fine, positive_stream
from deltaproof.conformance.shrink_values import (
    case_cost,
    literal_renamings,
    renamed,
    renamings,
)
from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.query import Query

__all__ = [
    "Budget",
    "Shrunk",
    "Size",
    "crash_kind",
    "failing_on",
    "kinds_of_failure",
    "measure",
    "positive_stream",
    "same_class",
    "shrink",
]

Failing: TypeAlias = Callable[[Sequence[Case]], Sequence[bool]]

STREAMS_AT_ONCE = 128  # cases of one query
QUERIES_AT_ONCE = 4  # cases of several queries: a job for each, on some engines
FEW_ROWS = 24  # so few that all that can be left out is tried in one batch


@dataclass(frozen=True)
class Budget:
    """When to stop: after so many candidates, or when a batch ends after so much time."""

    tries: int = 500
    seconds: float = 5.0


class Size(NamedTuple):
    """How much there is to read in a case."""

    operators: int
    ticks: int
    rows: int

    @classmethod
    def of(cls, case: Case) -> Self:
        return cls(len(case.query.operators()), len(case.ticks), case.rows)

    def __str__(self) -> str:
        return f"{self.operators} ops, {self.ticks} ticks, {self.rows} rows"


@dataclass(frozen=True)
class Shrunk:
    """The smallest case found, and what it took to find it.

    >>> from deltaproof.reference.query import table
    >>> print(Shrunk(Case(table("t", "k BIGINT"), ()), 212, 0.8, Size(9, 31, 88)))
    shrunk 9 ops, 31 ticks, 88 rows -> 0 ops, 0 ticks, 0 rows (0.8 s, 212 tries)
    """

    case: Case
    tries: int
    seconds: float
    before: Size

    @property
    def after(self) -> Size:
        return Size.of(self.case)

    def __str__(self) -> str:
        return f"shrunk {self.before} -> {self.after} ({self.seconds:.1f} s, {self.tries} tries)"


def shrink(case: Case, failing: Failing, budget: Budget = Budget(), signed: bool = False) -> Shrunk:
    """The smallest case found that still fails.

    `failing` says of each case of a batch whether it still fails in the way that matters. Unless
    `signed`, no table ever holds a row a negative number of times; where the case itself keeps
    to that, so does what it shrinks to, signed or not.

    >>> from deltaproof.reference.query import table
    >>> from deltaproof.reference.zset import ZSet
    >>> noise = {"t": ZSet({(n,): n for n in range(1, 6)})}
    >>> case = Case(table("t", "k BIGINT").negate().negate(), (noise, noise))
    >>> def has_a_five(cases):
    ...     return [any((5,) in tick.get("t", ()) for tick in case.ticks) for case in cases]
    >>> smallest = shrink(case, has_a_five).case
    >>> print(smallest.query, smallest.ticks)
    t ({'t': ZSet({(5,): 1})},)
    """
    search = Search(case, failing, budget, signed and not positive_stream(case))
    search.run()
    return Shrunk(search.case, search.tries, time.monotonic() - search.started, Size.of(case))


def measure(case: Case) -> tuple[int, ...]:
    """What makes a case smaller than another, what matters most to a reader first."""
    weights = [
        (n, abs(weight))
        for n, tick in enumerate(case.ticks)
        for delta in tick.values()
        for _, weight in delta.items()
    ]
    tables = case.tables
    return (
        len(case.query.operators()),
        len(tables),
        len(case.ticks),
        case.rows,
        sum(weight for _, weight in weights),
        sum(n for n, _ in weights),
        len(case.restarts),
        sum(len(schema) for schema in tables.values()),
        len(json.dumps(case.query.to_json())),
        case_cost(case),
    )


class Step(Protocol):
    """A way to make a case smaller that can be taken together with others of its kind."""

    def __or__(self, other: Self) -> Self: ...


S = TypeVar("S", bound=Step)
T = TypeVar("T")


class Search:
    """The smallest failing case so far, and what is left of the budget."""

    def __init__(self, case: Case, failing: Failing, budget: Budget, signed: bool) -> None:
        self.case = case
        self.failing = failing
        self.budget = budget
        self.signed = signed
        self.tries = 0
        self.started = time.monotonic()
        self.seen = {case.identity}

    def run(self) -> None:
        """Round after round, until one changes nothing."""
        self.improve(coarse(self.case), self.edited)
        self.cut(isolated)
        while self.round():
            pass

    def round(self) -> bool:
        before = self.case
        while self.shorten():
            pass
        while self.cut(trimmed):
            pass
        while self.improve(renamings(self.case), renamed):
            pass
        while self.improve(literal_renamings(self.case), renamed, QUERIES_AT_ONCE):
            pass
        return self.case is not before

    def shorten(self) -> bool:
        """Leaves out of the stream what can go; whether there was anything."""
        if self.case.rows <= FEW_ROWS:
            return self.improve(coarse(self.case) + fine(self.case), self.edited)
        return self.improve(coarse(self.case), self.edited) or self.improve(
            fine(self.case), self.edited
        )

    def edited(self, case: Case, edit: Edit) -> Case:
        return edited(case, edit, self.signed)

    def improve(
        self,
        steps: Iterable[S],
        take: Callable[[Case, S], Case],
        at_once: int = STREAMS_AT_ONCE,
    ) -> bool:
        """Takes the steps that can be taken together; whether there were any.

        Those that keep the failure alone are joined, the ones that save most first: two, four,
        eight, … and all of them; the smallest case that fails is taken.
        """
        alone = self.still_failing(steps, take, at_once)
        if not alone:
            return False
        alone.sort(key=lambda found: measure(found[0]))
        joined = list(accumulate((step for _, step in alone), or_))
        together = [joined[n - 1] for n in doubling(len(joined))]
        found = self.still_failing(together, take, at_once)
        self.case = min((case for case, _ in (alone[0], *found)), key=measure)
        return True

    def still_failing(
        self, steps: Iterable[S], take: Callable[[Case, S], Case], at_once: int
    ) -> list[tuple[Case, S]]:
        """The steps after which the case still fails, and what it is then."""
        taken = ((case, step) for step in steps for case in fitting(take, self.case, step))
        new = ((case, step) for case, step in taken if self.is_new(case))
        found: list[tuple[Case, S]] = []
        while batch := self.next_batch(new, at_once):
            verdicts = self.failing([case for case, _ in batch])
            found += [each for each, fails in zip(batch, verdicts, strict=True) if fails]
        return found

    def cut(self, cuts: Callable[[Case], Iterable[Case]]) -> bool:
        """Takes the smallest of the first of these cases that fail; whether there was one.

        The smallest are tried first, but a bare table last; few at first, then more at once.
        """
        ordered = sorted(cuts(self.case), key=lambda c: (not c.query.inputs, measure(c)))
        new = (case for case in ordered if self.is_new(case))
        at_once = 1
        while batch := self.next_batch(new, at_once):
            verdicts = self.failing(batch)
            if found := [case for case, fails in zip(batch, verdicts, strict=True) if fails]:
                self.case = min(found, key=measure)
                return True
            at_once = min(2 * at_once, QUERIES_AT_ONCE)
        return False

    def is_new(self, case: Case) -> bool:
        """Whether the candidate is worth a try: smaller, possible, and not tried before."""
        if not case.ticks or measure(case) >= measure(self.case):
            return False
        if (identity := case.identity) in self.seen:
            return False
        self.seen.add(identity)
        return self.signed or positive_stream(case)

    def next_batch(self, candidates: Iterator[T], at_once: int) -> list[T]:
        """The next candidates to try, as far as the budget goes; making them takes time too."""
        batch: list[T] = []
        wanted = min(at_once, self.budget.tries - self.tries)
        while len(batch) < wanted and time.monotonic() - self.started < self.budget.seconds:
            try:
                batch.append(next(candidates))
            except StopIteration:
                break
        self.tries += len(batch)
        return batch


def doubling(count: int) -> list[int]:
    """2, 4, 8, … below the count, and the count.

    >>> doubling(11), doubling(1)
    ([2, 4, 8, 11], [])
    """
    powers = [2**n for n in range(1, count.bit_length()) if 2**n < count]
    return [*powers, count] if count > 1 else []


def same_class(difference: Difference, other: Difference) -> bool:
    """Whether two differences are of one kind, so that one may stand for the other."""
    return difference.kind == other.kind


def crash_kind(error: Exception) -> str:
    """The class of a failure that is an error of the backend.

    >>> crash_kind(ZeroDivisionError("division by zero"))
    'crash/ZeroDivisionError'
    """
    return f"crash/{type(error).__name__}"


def failing_on(backend: Backend, kind: str) -> Failing:
    """Which of a batch fail on this backend in this class: a Difference's kind, or a crash's.

    The cases of one query go to the backend together. A case that has no expected value does
    not fail, and a crash fails only in the class of crashes.
    """

    def failing(cases: Sequence[Case]) -> list[bool]:
        verdicts = [False] * len(cases)
        groups: dict[Query, list[int]] = {}
        for place, case in enumerate(cases):
            groups.setdefault(case.query, []).append(place)
        for query, places in groups.items():
            kinds = kinds_of_failure(backend, query, [cases[place] for place in places])
            for place, found in zip(places, kinds, strict=True):
                verdicts[place] = found == kind
        return verdicts

    return failing


def kinds_of_failure(backend: Backend, query: Query, cases: Sequence[Case]) -> list[str | None]:
    """For each case of one query the class in which it fails; None for those that do not."""
    oracle, judge = Oracle(query), Judge(query.schema, backend.tolerance)
    kinds: list[str | None] = [None] * len(cases)
    valid = []
    for place, case in enumerate(cases):
        try:
            valid.append((place, oracle.expected(case)))
        except DeltaproofError:
            continue
    observed = outcomes(backend, [cases[place] for place, _ in valid])
    for (place, expected), outcome in zip(valid, observed, strict=True):
        if isinstance(outcome, Exception):
            kinds[place] = crash_kind(outcome)
        elif difference := judge.difference(expected, outcome):
            kinds[place] = difference.kind
    return kinds


def outcomes(backend: Backend, cases: Sequence[Case]) -> list[Sequence[Observed] | Exception]:
    """What was observed of each case, or how it crashed; a batch that crashes is halved."""
    if not cases:
        return []
    try:
        return list(run_cases(backend, cases))
    except Exception as error:  # noqa: BLE001  # an engine under test may raise anything
        if len(cases) == 1:
            return [error]
        half = len(cases) // 2
        return outcomes(backend, cases[:half]) + outcomes(backend, cases[half:])
