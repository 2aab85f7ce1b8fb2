"""The mutants define trust: a suite that has never failed says nothing by passing.

`run_mutants` plants each published bug in turn and feeds the predicted cell's cases until one
differs. The same cases run without the bug as well: they must be equal, so that a kill is the
bug's doing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rich.table import Table

from deltaproof.conformance.adapter import Backend
from deltaproof.conformance.case import Case
from deltaproof.conformance.connect import availability, backend
from deltaproof.conformance.generate import Shape, shapes
from deltaproof.conformance.judge import Difference, Judge, Oracle, run_cases
from deltaproof.conformance.mutants import (
    aggregates,
    identity,
    ordered,
    presence,
    recursion,
    streams,
)
from deltaproof.conformance.mutants.mutant import Mutant
from deltaproof.reference.errors import (
    BackendMissing,
    DeltaproofError,
    EvaluationError,
    UsageError,
)
from deltaproof.reference.show import RULED, table_text

MOST_CASES = 3_000  # a mutant that survives so many cases has survived
CASES_PER_SHAPE = {"reference": 3, "spark": 40}  # a Spark job per shape, so more cases in each
TABLES = ("reference", "spark")
FAMILIES = (identity, presence, aggregates, ordered, streams, recursion)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Death:
    """What became of a mutant: the cases to its first difference, or why there is none."""

    mutant: Mutant
    cases: int
    difference: Difference | None
    fault: str = ""

    @property
    def killed(self) -> bool:
        return self.difference is not None and not self.fault


@dataclass(frozen=True)
class MutantReport:
    """Every mutant's end."""

    deaths: list[Death]
    not_run: dict[str, str]

    @property
    def all_killed(self) -> bool:
        return bool(self.deaths) and all(death.killed for death in self.deaths)

    @property
    def median(self) -> float:
        return statistics.median(death.cases for death in self.deaths) if self.deaths else 0.0

    def lines(self) -> Iterator[str]:
        table = Table(box=RULED, pad_edge=False, show_edge=False)
        for name in ("backend", "mutant", "modelled on", "cell", "killed by", "cases"):
            table.add_column(name, justify="right" if name == "cases" else "left")
        for death in self.deaths:
            by = death.fault or (death.difference.kind if death.difference else "SURVIVED")
            table.add_row(
                death.mutant.backend,
                death.mutant.name,
                death.mutant.source,
                "@".join(death.mutant.cell),
                by,
                f"{death.cases:,}",
            )
        yield from table_text(table).splitlines()
        for name, reason in self.not_run.items():
            yield f"not run: {name}: {reason}"
        killed = sum(death.killed for death in self.deaths)
        worst = max((death.cases for death in self.deaths), default=0)
        yield (
            f"{killed} of {len(self.deaths)} mutants killed in their predicted cell; "
            f"median {self.median:g} cases to kill, worst {worst:,}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "killed": sum(death.killed for death in self.deaths),
            "mutants": [
                {
                    "name": death.mutant.name,
                    "edit": death.mutant.edit,
                    "source": death.mutant.source,
                    "backend": death.mutant.backend,
                    "cell": "@".join(death.mutant.cell),
                    "killed": death.killed,
                    "cases": death.cases,
                    "class": death.difference.kind if death.difference else None,
                    "fault": death.fault,
                }
                for death in self.deaths
            ],
            "median_cases": self.median,
            "not_run": self.not_run,
        }


def mutants_of(name: str) -> tuple[Mutant, ...]:
    """The mutants of a backend: of the first eight operators, then family by family."""
    if name == "reference":
        from deltaproof.conformance.mutants import reference

        return reference.MUTANTS + tuple(each for family in FAMILIES for each in family.REFERENCE)
    from deltaproof.conformance.mutants import spark

    return spark.MUTANTS + tuple(each for family in FAMILIES for each in family.SPARK)


def run_mutants(names: Sequence[str], seed: int, progress: Progress) -> MutantReport:
    """Plants every mutant of these backends (of none: of all that are installed).

    Raises UsageError for a backend that has no mutants, BackendMissing for one that is not here.
    """
    for name in names:
        if name not in TABLES:
            raise UsageError(f"backend {name!r} has no mutants: there are {', '.join(TABLES)}")
    reasons = {name: reason for name, reason in availability().items() if name in TABLES}
    not_run = {name: reason for name, reason in reasons.items() if reason is not None}
    if missing := [name for name in names if name in not_run]:
        raise BackendMissing(f"{missing[0]}: {not_run[missing[0]]}")
    chosen = [name for name in names or TABLES if name not in not_run]
    planned = [(name, mutant) for name in chosen for mutant in mutants_of(name)]
    deaths = []
    for done, (name, mutant) in enumerate(planned):
        progress(f"mutant {mutant.name}", done, len(planned))
        deaths.append(kill(mutant, name, seed))
    return MutantReport(deaths, {} if names else not_run)


def kill(mutant: Mutant, name: str, seed: int) -> Death:
    """Feeds the mutant's cell until a case differs."""
    fed = 0
    for shape, cases in cell_cases(mutant, CASES_PER_SHAPE[name], seed):
        try:
            with mutant.plant():
                number, found = first_difference(backend(name), shape, cases)
        except DeltaproofError:  # a crash kills nobody: the next shape may show a difference
            number, found = len(cases), None
        if found:
            _, innocent = first_difference(backend(name), shape, cases[: number + 1])
            fault = "the case differs without the mutant too" if innocent else ""
            return Death(mutant, fed + number + 1, found, fault)
        fed += len(cases)
        if fed >= MOST_CASES:
            break
    return Death(mutant, fed, None)


def cell_cases(mutant: Mutant, per_shape: int, seed: int) -> Iterator[tuple[Shape, list[Case]]]:
    """The cases of the mutant's cell, shape by shape."""
    operator, kind = mutant.cell
    for shape in shapes(seed, [operator]):
        oracle = Oracle(shape.query)
        cases = []
        for case in islice(shape.cases([kind]), per_shape):
            try:
                oracle.expected(case)
            except EvaluationError:
                continue
            cases.append(case)
        if cases:
            yield shape, cases


def first_difference(
    under_test: Backend, shape: Shape, cases: Sequence[Case]
) -> tuple[int, Difference | None]:
    """The place of the first case that differs, and how it does."""
    oracle = Oracle(shape.query)
    judge = Judge(shape.query.schema, under_test.tolerance)
    for place, (case, observed) in enumerate(zip(cases, run_cases(under_test, cases), strict=True)):
        if found := judge.difference(oracle.expected(case), observed):
            return place, found
    return len(cases), None
