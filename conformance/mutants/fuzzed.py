"""The fuzzer is trusted as far as it finds known bugs from nothing: an empty corpus, no hint.

For each mutant of the reference its operator is fuzzed with the bug planted, until a case fails,
and the same case is then run without it: it must be equal, so that the find is the bug's doing.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from deltaproof.conformance.case import Case
from deltaproof.conformance.console import BROKEN, PASS, progress_bar, say
from deltaproof.conformance.fuzzing.classes import Classes
from deltaproof.conformance.fuzzing.clock import collected_rarely
from deltaproof.conformance.fuzzing.fuzzer import Fuzzer
from deltaproof.conformance.fuzzing.ground import Target
from deltaproof.conformance.fuzzing.verdict import Verdict, alone
from deltaproof.conformance.generate import operator_of
from deltaproof.conformance.mutants import mutants_of
from deltaproof.conformance.mutants.mutant import Mutant
from deltaproof.reference.errors import UsageError
from deltaproof.reference.show import RULED, table_text

SECONDS = 60.0  # a mutant that is not found in this time was not found

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Find:
    """What became of a mutant under fuzzing: the case it was found by, or none."""

    mutant: Mutant
    operator: str
    cases: int
    seconds: float  # of a core
    kind: str = ""  # the class of the first failure; "" when there was none
    where: str = ""  # the kind of change that found it
    fault: str = ""

    @property
    def found(self) -> bool:
        return bool(self.kind) and not self.fault


@dataclass(frozen=True)
class FindReport:
    """Every mutant, and how long it took to find it."""

    finds: list[Find]

    @property
    def all_found(self) -> bool:
        return bool(self.finds) and all(each.found for each in self.finds)

    @property
    def seconds(self) -> list[float]:
        return [each.seconds for each in self.finds if each.found]

    def lines(self) -> Iterator[str]:
        table = Table(box=RULED, pad_edge=False, show_edge=False)
        for name in ("operator", "mutant", "found by", "of", "cases", "seconds"):
            table.add_column(name, justify="right" if name in ("cases", "seconds") else "left")
        for each in self.finds:
            by = each.fault or each.kind or "NOT FOUND"
            words = each.operator, each.mutant.name, by, each.where
            table.add_row(*words, f"{each.cases:,}", f"{each.seconds:.2f}")
        yield from table_text(table).splitlines()
        found = sum(each.found for each in self.finds)
        line = f"{found} of {len(self.finds)} mutants found by fuzzing from an empty corpus"
        if not self.seconds:
            yield line
            return
        cases = [each.cases for each in self.finds if each.found]
        yield (
            f"{line}; median {statistics.median(self.seconds):.2f} s "
            f"({statistics.median(cases):,.0f} cases), worst {max(self.seconds):.2f} s "
            f"({max(cases):,} cases)"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "found": sum(each.found for each in self.finds),
            "mutants": [
                {
                    "name": each.mutant.name,
                    "edit": each.mutant.edit,
                    "source": each.mutant.source,
                    "operator": each.operator,
                    "found": each.found,
                    "class": each.kind or None,
                    "change": each.where or None,
                    "cases": each.cases,
                    "seconds": round(each.seconds, 3),
                    "fault": each.fault,
                }
                for each in self.finds
            ],
            "median_seconds": statistics.median(self.seconds) if self.seconds else None,
            "worst_seconds": max(self.seconds, default=None),
        }


class FirstFailure(Classes):
    """Keeps the first case that differs, and shrinks nothing."""

    first: tuple[Case, Verdict, int] | None = None

    def add(self, case: Case, verdict: Verdict, number: int) -> bool:
        if verdict.difference is not None:  # a crash would be seen by anybody
            self.first = self.first or (case, verdict, number)
        return False

    def add_without_case(self, verdict: Verdict, doing: str, number: int) -> bool:
        return False


def find_mutants(
    mutants: Sequence[Mutant], seed: int, progress: Progress, seconds: float = SECONDS
) -> FindReport:
    """Fuzzes the operator of each of these mutants until it is found, or the time is over.

    The time is that of a core, so that it does not depend on what else runs.
    """
    finds = []
    for done, mutant in enumerate(mutants):
        progress(f"fuzzing for {mutant.name}", done, len(mutants))
        finds.append(find(mutant, seed, seconds))
    return FindReport(finds)


def find(mutant: Mutant, seed: int, seconds: float = SECONDS) -> Find:
    """Fuzzes the mutant's operator, from nothing."""
    target = Target.named(operator_of(mutant.cell[0]).name)
    fuzzer = Fuzzer(target, f"{seed}", Path())
    failures = fuzzer.classes = FirstFailure(target, Path())
    started = time.process_time()
    with mutant.plant(), collected_rarely():
        while failures.first is None and time.process_time() - started < seconds:
            fuzzer.round()
    took = time.process_time() - started
    if failures.first is None:
        return Find(mutant, target.name, fuzzer.tally.cases, took)
    case, verdict, number = failures.first
    innocent = alone(case).failed
    fault = "the case fails without the mutant too" if innocent else ""
    kind = case.cell.rpartition("@")[2]
    return Find(mutant, target.name, number, took, verdict.kind, kind, fault)


def mutants_by_fuzzing(names: Sequence[str], seed: int, as_json: bool) -> int:
    """The command: every mutant of the reference. Raises UsageError for another backend."""
    if others := [name for name in names if name != "reference"]:
        raise UsageError(f"--fuzz runs the reference alone: leave out -b {others[0]}")
    with progress_bar() as progress:
        report = find_mutants(mutants_of("reference"), seed, progress)
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=1))
    else:
        say(report.lines())
    return PASS if report.all_found else BROKEN
