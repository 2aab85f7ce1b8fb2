"""The classes of failure that a fuzzing run met: each with its smallest case, and its text.

A class is a kind of failure and the operators it takes. Before a case is shrunk, the operator is
tried alone, fed as it was in the case: when it fails so too, whatever is around it has no part in
it, and the kind is that of its own failure. So one bug is one class, or few, wherever it was met.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from deltaproof.conformance.case import Case
from deltaproof.conformance.explain import (
    delta_entry,
    description,
    entries,
    explain,
    indented,
    labelled,
    replay_command,
    wrapped,
)
from deltaproof.conformance.fuzzing.ground import Target
from deltaproof.conformance.fuzzing.verdict import (
    Verdict,
    again,
    alone,
    failing_again,
    failing_alone,
)
from deltaproof.conformance.shrink import Budget, Search, Size, positive_stream, shrink
from deltaproof.conformance.shrink import Failing as StillFailing
from deltaproof.conformance.shrink_query import isolated
from deltaproof.reference.query import Query

Key: TypeAlias = tuple[str, str]

LEAK, UNSTEADY = "leak", "unsteady"
LEAK_NOTE = "equal when it runs first; the second time, after a reset, it differs: see `clear`"
UNSTEADY_NOTE = "equal when it runs by itself: it depends on the cases before it, or on chance"
MOST_CLASSES = 8
MOST_SHRINKS = 16  # failures that are shrunk before it is known which class they are of
BUDGET = Budget(tries=500, seconds=2.0)


@dataclass(frozen=True)
class FailureClass:
    """One way to fail: its smallest case, how many cases failed so, and what to say of it."""

    kind: str  # a Difference's, or a crash's
    where: str  # the operators of the smallest case, inputs first
    cases: int
    first: int  # the number of the first case that failed so
    text: str
    message: str = ""
    case: Case | None = None  # None where there is none, or it cannot be written
    sizes: tuple[Size, Size] | None = None
    path: Path | None = None

    @property
    def key(self) -> Key:
        return self.kind, self.where

    def joined(self, other: FailureClass) -> FailureClass:
        """The class with the cases of another, and the smaller of the two smallest cases."""
        small = min(self, other, key=lambda each: each.size)
        cases, first = self.cases + other.cases, min(self.first, other.first)
        return replace(small, cases=cases, first=first)

    @property
    def size(self) -> tuple[float, ...]:
        return Size.of(self.case) if self.case else (float("inf"),)


@dataclass(frozen=True)
class Failing:
    """A failing case as it is to be shrunk, and the class that it is of."""

    case: Case
    kind: str
    verdict: Verdict
    note: str = ""


class Classes:
    """Sorts failures into classes as they come."""

    def __init__(self, target: Target, out: Path, budget: Budget = BUDGET) -> None:
        self.target = target
        self.out = out
        self.budget = budget
        self.found: dict[Key, FailureClass] = {}
        self.of_bucket: dict[tuple[object, ...], Key] = {}
        self.shrinks = 0
        self.unsorted = 0  # failing cases of which it is not known what class they are of

    def add(self, case: Case, verdict: Verdict, number: int) -> bool:
        """One more failing case; whether it is of a new class."""
        bucket = (verdict.kind, self.target.places_in(case.query))
        if key := self.of_bucket.get(bucket):
            self.count(key)
            return False
        failing = self.by_itself(case, verdict)
        key = self.key(failing)
        if key not in self.found:
            if len(self.found) >= MOST_CLASSES or self.shrinks >= MOST_SHRINKS:
                self.unsorted += 1
                return False
            fresh = self.smallest(failing, number)
            self.of_bucket[bucket] = fresh.key
            return self.join(fresh)
        self.of_bucket[bucket] = key
        self.count(key)
        return False

    def add_without_case(self, verdict: Verdict, doing: str, number: int) -> bool:
        """A failure before there was a case: of `sample`, or of the operator's JSON."""
        lines = labelled([("doing", doing), ("error", verdict.message)])
        text = f"FAIL  {self.target.name}  {verdict.kind}\n\n{indented(lines)}"
        name = self.target.name
        return self.join(FailureClass(verdict.kind, name, 1, number, text, verdict.message))

    def key(self, failing: Failing) -> Key:
        """The class that a failure belongs to. What is left behind shows in whatever comes next."""
        if failing.kind == UNSTEADY and (LEAK, self.target.name) in self.found:
            return LEAK, self.target.name
        return failing.kind, self.where(failing.kind, failing.case)

    def where(self, kind: str, case: Case) -> str:
        return self.target.name if kind in (LEAK, UNSTEADY) else operators_of(case.query)

    def count(self, key: Key) -> None:
        self.found[key] = replace(self.found[key], cases=self.found[key].cases + 1)

    def join(self, fresh: FailureClass) -> bool:
        known = self.found.get(fresh.key)
        self.found[fresh.key] = known.joined(fresh) if known else fresh
        return known is None

    def by_itself(self, case: Case, verdict: Verdict) -> Failing:
        """The failure as it is without the cases before it, and without the other operators."""
        name = self.target.name
        if (fails := alone(case)).failed:
            for part in isolated_targets(case, name):
                if (found := alone(part)).failed:
                    return Failing(part, found.kind, found)
            return Failing(case, fails.kind, fails)
        for part in (*isolated_targets(case, name), case):
            if (found := again(part)).failed:
                return Failing(part, LEAK, found, LEAK_NOTE)
        return Failing(case, UNSTEADY, verdict, UNSTEADY_NOTE)

    def smallest(self, failing: Failing, number: int) -> FailureClass:
        """The class of this failure, with its case shrunk."""
        case, verdict, sizes = failing.case, failing.verdict, None
        notes = [failing.note] if failing.note else []
        if failing.kind != UNSTEADY:
            self.shrinks += 1
            question = (failing_again if failing.kind == LEAK else failing_alone)(verdict.kind)
            small = shrunk(case, question, self.budget)
            shown = (again if failing.kind == LEAK else alone)(small)
            if shown.kind == verdict.kind:
                case, verdict, sizes = small, shown, (Size.of(failing.case), Size.of(small))
        titled = replace(case, title=f"{failing.kind} of {self.target.name}").with_notes(
            found={"by": "fuzz", "class": failing.kind, "operator": self.target.words}
        )
        kept: Case | None = titled
        path: Path | None = None
        try:
            path = self.out / f"{titled.identity}.case.json"
        except Exception as error:  # noqa: BLE001  # `to_json` of somebody's operator
            kept = None
            notes.append(f"the case cannot be written: {type(error).__name__}: {error}")
        where = self.where(failing.kind, case)
        text = told(titled, failing.kind, verdict, path, self.target, notes)
        message = verdict.message
        return FailureClass(failing.kind, where, 1, number, text, message, kept, sizes, path)


def isolated_targets(case: Case, name: str) -> list[Case]:
    """The cases in which an operator of this name is the only one, fed as it was; inputs first."""
    found: list[Case] = []
    with contextlib.suppress(
        Exception, SystemExit
    ):  # of a meaning that crashes: above it nothing is fed
        parts = isolated(case)
        found.extend(each for each in parts if operators_of(each.query) == name)
    return found


def shrunk(case: Case, failing: StillFailing, budget: Budget) -> Case:
    """The smallest case found; only its stream, where the query cannot be cut."""
    try:
        return shrink(case, failing, budget, signed=True).case
    except (Exception, SystemExit):  # noqa: BLE001  # a meaning that crashes, or JSON that cannot be
        pass
    try:
        search = Search(case, failing, budget, signed=not positive_stream(case))
        while search.shorten():
            pass
    except (Exception, SystemExit):  # noqa: BLE001  # the same
        return case
    return search.case


def merged(several: Iterable[Iterable[FailureClass]]) -> list[FailureClass]:
    """The classes of several runs as one list, the most frequent first."""
    found: dict[Key, FailureClass] = {}
    for each in (each for classes in several for each in classes):
        known = found.get(each.key)
        found[each.key] = known.joined(each) if known else each
    return sorted(found.values(), key=lambda each: (-each.cases, each.key))


def saved(found: Sequence[FailureClass], folder: Path) -> list[FailureClass]:
    """The classes with their smallest cases in files of that folder."""
    return [replace(each, path=each.case.save(folder)) if each.case else each for each in found]


def operators_of(query: Query) -> str:
    """The operators of a query, inputs first, in one line.

    >>> from deltaproof.reference.query import table
    >>> operators_of(table("t", "k BIGINT").distinct().negate())
    'distinct, negate'
    """
    return ", ".join(each.name for each in query.operators()) or "no operator"


def replay_words(path: Path | None, target: Target) -> str:
    """The command that runs the case again; it names the operator where that is the user's.

    >>> replay_words(Path("a.case.json"), Target.named("distinct"))
    'deltaproof replay a.case.json -b reference'
    """
    named = shlex.join(["--operator", target.words]) if target.own else ""
    return f"{replay_command(path, 'reference')} {named}".rstrip()


def told(
    case: Case,
    kind: str,
    verdict: Verdict,
    path: Path | None,
    target: Target,
    also: Sequence[str],
) -> str:
    """The failure as text: with the ticks side by side, or with the error it ends in."""
    replay = replay_words(path, target)
    if verdict.difference is not None:
        text = explain(case, verdict.difference, "reference", path, also, observed=verdict.observed)
        return text.replace(replay_command(path, "reference", case.query), replay)
    ticks = [
        (
            f"tick {number}",
            " ".join(f"{name} {changes}" for name, changes in tick_words(case, tick)),
        )
        for number, tick in enumerate(case.ticks, 1)
    ]
    end = [("error", verdict.message), *(("note", note) for note in also), ("replay", replay)]
    head = f"FAIL  {case.cell}  {kind}  on reference"
    parts = [labelled(description(case)), labelled(ticks), labelled(end)]
    return "\n\n".join([head, *map(indented, parts)])


def tick_words(case: Case, tick: object) -> list[tuple[str, str]]:
    tables = case.tables
    deltas = dict(tick)  # type: ignore[call-overload]  # a Tick
    return [
        (name, wrapped(entries(tables[name], delta, delta_entry), 80))
        for name, delta in deltas.items()
    ]
