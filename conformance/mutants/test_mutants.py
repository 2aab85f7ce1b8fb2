"""Every mutant of the reference dies in its cell; what is no bug survives, and says so."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from deltaproof.conformance.mutants import Death, MutantReport, kill, mutants_of, run_mutants
from deltaproof.conformance.mutants.mutant import Mutant
from deltaproof.reference.errors import UsageError


@pytest.fixture(scope="module")
def report() -> MutantReport:
    return run_mutants(["reference"], 7, lambda *_: None)


def test_every_mutant_of_the_reference_is_killed_in_its_cell(report: MutantReport) -> None:
    assert [death.mutant.name for death in report.deaths if not death.killed] == []
    assert len(report.deaths) == len(mutants_of("reference")) >= 120


def test_half_of_the_mutants_need_at_most_fifty_cases(report: MutantReport) -> None:
    assert report.median <= 50


def test_mutants_leave_nothing_behind(report: MutantReport) -> None:
    harmless = Mutant("none", "nothing", "", "reference", ("aggregate.count", "churn"), nullcontext)
    assert not kill(harmless, "reference", 7).killed


def test_a_survivor_is_named_and_breaks_the_suite() -> None:
    survivor = MutantReport([Death(mutants_of("reference")[0], 3_000, None)], {})
    assert not survivor.all_killed
    assert "SURVIVED" in "\n".join(survivor.lines())


def test_no_mutant_at_all_is_no_proof() -> None:
    assert not MutantReport([], {"reference": "not here"}).all_killed


def test_a_backend_without_mutants_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="'sqlite' has no mutants"):
        run_mutants(["sqlite"], 7, lambda *_: None)
