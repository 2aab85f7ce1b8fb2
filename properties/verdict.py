"""What is known of a law: proved, tested, refuted or vacuous, four things never merged.

Counterexample   inputs on which the two sides differ, or on which a side cannot be computed
Proof            that there is none, and how far that goes
Verdict          one law: what was tried, what was found
Report           many laws: those that are claimed, and apart from them those that are not
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from rich.table import Table
from rich.text import Text

from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import GROUPS, Equation, Law, Subject, inherited
from deltaproof.properties.show import shown
from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.query import Query
from deltaproof.reference.show import RULED, table_text

RIGHT = ("cases", "telling")  # columns of numbers
WORTH_TELLING = 0.1  # the share of telling cases below which nothing is advised


@dataclass(frozen=True)
class Counterexample:
    """Inputs on which the two sides of a law differ; its text is the explanation.

    Where a side could not be computed there is no equation, and `error` says what was raised.
    """

    law: Law
    inputs: Inputs
    equation: Equation | None
    error: str = ""
    again: bool = True  # whether it differs whenever it is tried

    @property
    def kind(self) -> str:
        """In which way the law fails: the sides differ, or what kind of error was raised."""
        return f"raises {self.error.partition(':')[0]}" if self.error else "differs"

    @property
    def subject(self) -> Subject | Query | None:
        """What the law is refuted of, where it is of something."""
        first = self.inputs[0][1] if self.inputs else None
        return first if isinstance(first, Subject | Query) else None

    def __str__(self) -> str:
        law = self.law
        premises = " and ".join(each.text for each in law.premises)
        provided = f", when {premises}" if premises else ""
        lines = [
            f"{law.name} does not hold{self._about()}",
            *self._sides(),
            *self._data(),
            f"  the law: {law.statement}{provided}",
            f"  why it matters: {law.why}",
            f"  source: {law.source}",
        ]
        if not self.again:
            lines.append("  not every time: the answers depend on more than the inputs")
        return "\n".join(lines)

    def _about(self) -> str:
        if isinstance(self.subject, Subject):
            schemas = ", ".join(f"({schema})" for schema in self.subject.schemas)
            return f" for {self.subject} over {schemas}"
        if isinstance(self.subject, Query):
            return f" for the query\n{indent(str(self.subject), '    ')}"
        return ""

    def _sides(self) -> Iterator[str]:
        """What each side is; of two streams, the first values that differ."""
        if self.equation is None:
            yield f"    it raises {self.error}"
            return
        names = self.law.sides
        width = max(map(len, names))
        lhs, rhs = self.equation.lhs, self.equation.rhs
        if (tick := first_difference(lhs, rhs)) is not None:
            yield f"  at t = {tick}, the first difference:"
            lhs, rhs = lhs[tick], rhs[tick]
        for name, side in zip(names, (lhs, rhs), strict=True):
            yield f"    {name:<{width}} = {shown(side)}"

    def _data(self) -> Iterator[str]:
        lead = "  with"
        for name, value in self.inputs:
            if not isinstance(value, Subject | Query):
                yield f"{lead} {name} = {shown(value)}"
                lead = "      "


def first_difference(lhs: Any, rhs: Any) -> int | None:
    """The first tick at which two streams differ; None for what is no stream.

    >>> from deltaproof.reference.zset import ZSet
    >>> first_difference([ZSet(), ZSet({(1,): 1})], [ZSet(), ZSet()])
    1
    """
    if not (isinstance(lhs, list) and isinstance(rhs, list) and len(lhs) == len(rhs)):
        return None
    differing = (tick for tick, pair in enumerate(zip(lhs, rhs, strict=True)) if pair[0] != pair[1])
    return next(differing, None)


class LawViolation(DeltaproofError):
    """A law that does not hold; the message is the smallest counterexample found."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(str(counterexample))
        self.counterexample = counterexample


@dataclass(frozen=True)
class Proof:
    """That no counterexample exists, as far as the scope goes.

    >>> print(Proof("all tables of 2 rows, all weights", 0.31))
    all tables of 2 rows, all weights (0.3 s)
    """

    scope: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.scope} ({self.seconds:.1f} s)"


@dataclass(frozen=True)
class Verdict:
    """What looking for a counterexample found, and what a proof adds to it."""

    law: Law
    about: str
    tested: int  # cases tried
    telling: int  # cases among them whose sides were not both empty
    counterexample: Counterexample | None = None
    claimed: bool = True  # whether it must hold by what is declared
    proof: Proof | None = None

    @property
    def status(self) -> str:
        """refuted, proved, tested; or vacuous, when no case could have refuted it."""
        if self.counterexample:
            return "refuted"
        if self.proof:
            return "proved"
        return "tested" if self.telling else "vacuous"

    @property
    def telling_share(self) -> float:
        return self.telling / self.tested if self.tested else 0.0

    @property
    def evidence(self) -> str:
        """How many cases, how many of them told something, and how far the proof goes."""
        if self.status == "vacuous":
            return "all sides were empty" if self.tested else "no case could be drawn"
        cases = f"{self.tested} cases, {self.telling_share:.0%} telling" if self.tested else ""
        return "; ".join(filter(None, (cases, str(self.proof or ""))))

    def check(self) -> None:
        """Raises LawViolation when the law was refuted."""
        if self.counterexample:
            raise LawViolation(self.counterexample)

    def __str__(self) -> str:
        about = f" for {self.about}" if self.about else ""
        match self.status:
            case "refuted":
                return str(self.counterexample)
            case "proved":
                return f"{self.law.name} is proved{about}: {self.proof}"
            case "tested":
                return f"{self.law.name} holds{about} in {self.tested} cases"
        if not self.tested:
            return f"{self.law.name} is untested{about}: no case could be drawn"
        return f"{self.law.name} is untested{about}: all {self.tested} cases are vacuous"


@dataclass(frozen=True)
class Report:
    """The verdict on each law, the claimed ones first; its text is a table and the refutations.

    Of a kind of operator, `claiming` says how many of its random instances claim a group, out
    of how many.
    """

    verdicts: tuple[Verdict, ...]
    claiming: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def claimed(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self.verdicts if each.claimed)

    @property
    def ok(self) -> bool:
        """Whether every claimed law was proved or tested."""
        return all(each.status in ("proved", "tested") for each in self.claimed)

    @property
    def refuted(self) -> tuple[Verdict, ...]:
        """The claimed laws that do not hold."""
        return tuple(each for each in self.claimed if each.counterexample)

    @property
    def counts(self) -> dict[str, int]:
        """How many of the claimed laws have which status."""
        found = [each.status for each in self.claimed]
        return {name: found.count(name) for name in ("proved", "tested", "refuted", "vacuous")}

    @property
    def unclaimed(self) -> dict[str, tuple[Verdict, ...]]:
        """The laws that were tried although nobody claims them, by their groups."""
        groups: dict[str, tuple[Verdict, ...]] = {}
        for each in self.verdicts:
            if not each.claimed:
                groups[each.law.of] = (*groups.get(each.law.of, ()), each)
        return groups

    @property
    def worth_claiming(self) -> tuple[str, ...]:
        """The groups whose laws held, with those of all groups that they are within."""
        tried = self.unclaimed
        good = {name for name, verdicts in tried.items() if all(map(convincing, verdicts))}
        return tuple(
            name for name in tried if all(each in good or each not in tried for each in above(name))
        )

    def check(self) -> None:
        """Raises LawViolation for the first claimed law that was refuted."""
        for verdict in self.claimed:
            verdict.check()

    def summary(self) -> str:
        """The counts in a line: 31 laws: 12 proved in scope, 19 tested, 0 refuted, 0 vacuous."""
        words = {"proved": "proved in scope"} if self.counts["proved"] else {}
        found = self.counts.items()
        counts = ", ".join(f"{number} {words.get(status, status)}" for status, number in found)
        return f"{len(self.claimed)} laws: {counts}"

    def table(self) -> str:
        """Law, verdict and evidence, by group; apart from them what is not claimed."""
        lines = [law_table(self.claimed, self.claiming)]
        worth = self.worth_claiming
        for group, verdicts in self.unclaimed.items():
            lines.append(self.not_claimed(group, verdicts, group in worth))
        if self.unclaimed:
            lines.insert(1, "\nnot claimed, but tried:")
        return "\n".join(lines)

    def not_claimed(self, group: str, verdicts: tuple[Verdict, ...], worth: bool) -> str:
        """A line about a group that is not claimed."""
        refuted = [each for each in verdicts if each.counterexample]
        tested = min(each.tested for each in verdicts)
        if refuted:
            (last,) = refuted
            found = f"refuted after {last.tested} cases by {last.law.name}"
        elif worth:
            laws = f"{len(verdicts)} {'law' if len(verdicts) == 1 else 'laws'}"
            found = f"WORTH CLAIMING: {GROUPS[group].says} ({laws}, {tested} cases)"
        elif all(map(convincing, verdicts)):
            within = ", ".join(each for each in above(group)[:-1] if each in self.unclaimed)
            found = f"not refuted in {tested} cases, but it is not {within}"
        else:
            found = "not refuted, but too few cases say anything"
        claiming, instances = self.claiming.get(group, (0, 0))
        if claiming:
            found += f", of instances that do not claim it; {claiming} of {instances} do"
        return f"  {group:<16} {found}"

    def __str__(self) -> str:
        failures = [f"\n{each}" for each in self.refuted]
        return "\n".join([self.table(), *failures])


def convincing(verdict: Verdict) -> bool:
    """Whether this law alone would be worth claiming."""
    if verdict.status == "proved":
        return True
    return verdict.status == "tested" and verdict.telling_share >= WORTH_TELLING


def above(name: str) -> tuple[str, ...]:
    """The group and the groups it is within that must be claimed too, the widest first."""
    return tuple(each for each in inherited(name) if each in GROUPS and GROUPS[each].claimable)


def claiming_text(share: tuple[int, int] | None) -> str:
    """How many instances of a kind claim it, where only some do.

    >>> claiming_text((3, 40))
    ' (3 of 40 random instances claim it)'
    """
    if share is None or share[0] == share[1]:
        return ""
    return f" ({share[0]} of {share[1]} random instances claim it)"


def law_table(verdicts: tuple[Verdict, ...], claiming: Mapping[str, tuple[int, int]]) -> str:
    """Law, verdict and evidence, under a heading for each group; below, what was proved."""
    scopes = list(dict.fromkeys(each.proof.scope for each in verdicts if each.proof))
    groups = by_group(verdicts)
    ordered = [each for members in groups.values() for each in members]
    cells: list[tuple[str, ...]] = [
        ("law", "verdict", "cases", "telling", "proof" if scopes else "", "")
    ]
    cells += [cells_of(each, scopes) for each in ordered]
    head, rule, *rows = table_text(grid(cells)).splitlines()
    lines, following = [head, rule], iter(rows)
    for group, members in groups.items():
        says = f": {GROUPS[group].says}" if group in GROUPS else ""
        lines.append(f"{group}{says}{claiming_text(claiming.get(group))}")
        lines += [next(following) for _ in members]
    for number, scope in enumerate(scopes, 1):
        first, *others = scope.split("; ")
        lines += ["", "proofs, and how far they go:"] if number == 1 else []
        lines.append(f"  {number:>2}  {first}")
        lines += [f"      {other}" for other in others]
    return "\n".join(lines)


def cells_of(verdict: Verdict, scopes: Sequence[str]) -> tuple[str, ...]:
    """A row of the table; in place of numbers, where there are none, why."""
    name, proof, tried = f"  {verdict.law.name}", verdict.proof, verdict.tested > 0
    return (
        name,
        verdict.status,
        f"{verdict.tested}" if tried else "",
        f"{verdict.telling_share:.0%}" if tried else "",
        f"{scopes.index(proof.scope) + 1:>2}: {proof.seconds:.1f} s" if proof else "",
        verdict.evidence if verdict.status not in ("proved", "tested", "refuted") else "",
    )


def grid(cells: Sequence[tuple[str, ...]]) -> Table:
    """A table of these cells, without the columns that are empty."""
    used = [n for n in range(len(cells[0])) if any(row[n] for row in cells)]
    table = Table(box=RULED, pad_edge=False, show_edge=False)
    for n in used:
        table.add_column(cells[0][n], justify="right" if cells[0][n] in RIGHT else "left")
    for row in cells[1:]:
        table.add_row(*(Text(row[n]) for n in used))
    return table


def by_group(verdicts: tuple[Verdict, ...]) -> dict[str, list[Verdict]]:
    """The verdicts by the groups of their laws, the groups in the order of inheritance."""
    places = {name: place for place, name in enumerate(GROUPS)}
    ordered = sorted(verdicts, key=lambda each: places.get(each.law.of, len(places)))
    groups: dict[str, list[Verdict]] = {}
    for each in ordered:
        groups.setdefault(each.law.of, []).append(each)
    return groups
