"""Faults are caught, or shown to be none, or the command fails: each verdict is earned once."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

import deltaproof.theorems.execution.planted as command
from deltaproof.theorems.execution.faults import Fault, faults_in
from deltaproof.theorems.execution.planted import (
    ALSO_TRUE,
    CRASH,
    EQUIVALENT,
    NOT_CAUGHT,
    REFUTED,
    Outcome,
    Report,
    Said,
    attempt,
    compared,
    executes,
    planted,
    run_with,
    same_meaning,
    stated,
)

REFERENCE = "deltaproof.reference"


def fault(module: str, function: str, change: str) -> Fault:
    """The first such fault."""
    found = (each for each in faults_in(module) if each.function == function)
    return next(each for each in found if each.change == change)


def test_a_wrong_increment_is_refuted() -> None:
    wrong = fault(f"{REFERENCE}.operators.distinct", "DistinctIncrement.step", "+ → -")
    verdict, why, _ = run_with("distinct_code", wrong)
    assert verdict == REFUTED
    assert "distinct, tick 1" in why
    assert run_with("filter_code", wrong)[0] == NOT_CAUGHT


def test_the_line_that_a_run_reaches_is_known() -> None:
    wrong = fault(f"{REFERENCE}.operators.distinct", "DistinctIncrement.step", "+ → -")
    assert (executes("distinct_code", wrong), executes("filter_code", wrong)) == (True, False)


def test_what_raises_anything_is_a_crash() -> None:
    def broken() -> None:
        raise ZeroDivisionError("by zero")

    assert attempt(broken) == (CRASH, "ZeroDivisionError: by zero")
    assert attempt(lambda: None)[0] == NOT_CAUGHT


def test_a_loop_without_an_end_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "SECONDS", 1)

    def endless() -> None:
        while True:
            pass

    assert attempt(endless) == (CRASH, "TimeoutError: no end after 1 s")


def test_a_changed_statement_that_is_proved_is_compared_with_the_old() -> None:
    def said(formula: str, *roots: str) -> Said:
        return Said(formula, roots, f"(declare-fun x () Int) (assert {formula})", ())

    old = said("(< x 3)")
    assert compared(old, said("(<= x 2)"))[0] == EQUIVALENT
    assert compared(old, said("(<= x 3)"))[0] == ALSO_TRUE
    assert compared(old, said("(<= x 2)", "another definition"))[0] == NOT_CAUGHT
    assert not same_meaning(old.smtlib, "(assert (< y 3))")


def test_what_a_theorem_says_is_known_without_proving_it() -> None:
    """In a process of its own: lemmas that nobody proved must not stay in this one."""
    names = ("zset_group", "filter_code", "lag_code")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        found, code, paths = apart.map(stated, names)
    assert found is not None
    assert "forall" in found.formula
    assert any(name == "zset_group" for _, name in found.functions)
    assert code is not None
    assert paths is None


def test_a_fault_of_each_kind_is_caught() -> None:
    """In processes of their own, as the command does it."""
    heard: list[Outcome] = []
    report = planted(12, 1, heard.append)
    assert (len(report.statements), len(report.increments)) == (1, 1)
    assert report.caught, [each for each in report.outcomes if each.verdict == NOT_CAUGHT]
    assert sorted(map(str, heard)) == sorted(map(str, report.outcomes))


@pytest.fixture
def a_report() -> Report:
    wrong = fault(f"{REFERENCE}.operators.distinct", "DistinctIncrement.step", "+ → -")
    outcome = Outcome(wrong, "distinct_code", REFUTED, "distinct, tick 2", 3.0)
    return Report(7, (), (outcome,))


def test_a_fault_that_is_not_caught_is_exit_1(
    a_report: Report, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "planted", lambda seed, count: a_report)
    assert command.main(["--seed", "7"]) == 0
    assert "1 refuted" in capsys.readouterr().out
    missed = replace(a_report.increments[0], verdict=NOT_CAUGHT)
    monkeypatch.setattr(command, "planted", lambda *_: replace(a_report, increments=(missed,)))
    assert command.main(["--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["caught"], printed["increments"][0]["verdict"]) == (False, NOT_CAUGHT)
