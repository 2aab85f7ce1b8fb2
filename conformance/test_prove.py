"""The command proves, prints and says by its exit code what it found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import deltaproof.theorems as theorems
from deltaproof.conformance import cli
from deltaproof.theorems import chosen, second_solver
from deltaproof.theorems.kernel import ProofError, Query, Thm
from deltaproof.theorems.registry import Theorem

EXAMPLES = "deltaproof.theorems.verify.examples"


def test_theorems_that_hold_are_printed_and_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "integrate_inverse", "--details"]) == 0
    printed = capsys.readouterr().out
    assert "D(I(s)) = s and I(D(s)) = s" in printed
    assert "1 of 1 theorems hold, 1 of them unbounded" in printed
    assert "s0 = 1" in printed
    assert "6 of 6 conditions (100.0 %) confirmed by cvc5" in printed


def test_a_number_a_chapter_and_an_operator_choose_theorems() -> None:
    assert "distinct_increment" in {each.name for each in chosen(["4.7"])}
    assert "integrate_inverse" in {each.name for each in chosen(["streams"])}
    assert {each.name for each in chosen(["negate"])} == {"negate_linear", "negate_code"}


def test_json_has_what_the_table_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "join_ztransform", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (only,) = report["theorems"]
    assert (report["holds"], only["chapter"], only["name"]) == (True, "algebra", "join_ztransform")
    assert only["cvc5"]["confirmed"] == only["cvc5"]["asked"] == only["conditions"] > 0
    assert report["totals"]["theorems"] == 1
    assert only["refuted"]
    assert report["admitted"]


def test_the_conditions_are_written_as_smtlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["prove", "integrate_inverse", "--no-cvc5", "--smtlib", str(tmp_path)]) == 0
    files = sorted((tmp_path / "integrate_inverse").iterdir())
    assert len(files) == 6
    assert all(second_solver.confirm(file.read_text()) == "unsat" for file in files)
    assert "6 conditions written" in capsys.readouterr().err


def test_help_says_what_a_step_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "f(before, delta), or f(delta), is how g changes." in printed
    assert "Then f(state, delta) gives (change, state): h(input)." in printed


def broken(words: list[str] | None) -> list[Theorem]:
    def proof() -> Thm:
        raise ProofError("a step does not hold")

    return [replace(each, function=proof) for each in chosen(words)]


def test_a_theorem_that_fails_is_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theorems, "chosen", broken)
    assert cli.run(["prove", "zset_group"]) == 1
    printed = capsys.readouterr().out
    assert "a step does not hold" in printed
    assert "0 of 1 theorems hold" in printed


def test_a_condition_that_cvc5_refutes_fails_the_theorem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    contradicted = "(set-logic ALL)(declare-fun x () Int)(assert (> x 0))(check-sat)"

    def text(query: Query) -> str:
        return contradicted

    monkeypatch.setattr(second_solver, "smtlib", text)
    assert cli.run(["prove", "zset_group"]) == 1
    assert "z3 proves it and cvc5 refutes it" in " ".join(capsys.readouterr().out.split())


def test_without_cvc5_the_report_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_solver, "available", lambda: False)
    assert cli.run(["prove", "zset_group"]) == 0
    printed = capsys.readouterr()
    assert "cvc5: not run: not installed" in printed.err
    assert "confirmed by cvc5" not in printed.out
    assert cli.run(["prove", "zset_group", "--cvc5"]) == 4


@pytest.mark.parametrize("words", [["no_such_theorem"], ["--no-such-flag"], ["99.9"]])
def test_a_wrong_argument_is_one_line_and_exit_4(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["prove", *words]) == 4
    printed = capsys.readouterr()
    assert words[0] in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_name_that_is_almost_right_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "join_linear"]) == 4
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["refund", "--linear"], 0, "refund is linear: proved, "),
        (["with_fee", "--linear"], 1, "with_fee is not linear: "),
        (["clamp", "--linear"], 1, "clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1"),
    ],
)
def test_a_claim_about_a_function_of_the_user(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    function, *flags = words
    assert cli.run(["prove", f"{EXAMPLES}:{function}", *flags]) == code
    assert said in capsys.readouterr().out


def test_a_verdict_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", f"{EXAMPLES}:clamp", "--linear", "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["answer"] == "refuted"


@pytest.mark.parametrize("words", [["--linear"], ["a:b", "c:d", "--linear"], ["a:b"]])
def test_a_claim_needs_one_function_and_one_claim(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["prove", *words]) == 4
    assert capsys.readouterr().err.count("\n") == 1


def test_plans_of_random_queries_are_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "--plans", "40", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["queries"], found["equal"], found["unequal"]) == (40, 40, [])


@pytest.mark.parametrize(
    "words",
    [
        [f"{EXAMPLES}:clamp", "--linear", "--cvc5"],
        [f"{EXAMPLES}:clamp", "--linear", "--plans", "2"],
        ["--plans", "2", "--supports"],
        ["--supports", "--details"],
    ],
)
def test_an_option_that_would_not_be_heeded_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["prove", *words]) == 4
    assert "has no part in" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named_by_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert cli.run(["prove", "zset_group", "--smtlib", str(tmp_path / "file")]) == 4
    assert "--smtlib" in capsys.readouterr().err


def test_an_operator_brings_the_theorem_that_licenses_it() -> None:
    assert "grouped_increment" in {each.name for each in chosen(["top_k"])}
    assert {each.name for each in chosen(["join.left"])} == {"outer_join_increment"}


def test_a_number_without_a_theorem_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "TR 12.1"]) == 4
    assert "without a theorem" in capsys.readouterr().err


def test_the_slips_in_print_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prove", "errata", "--no-cvc5"]) == 0
    assert "what holds" in capsys.readouterr().out
    assert cli.run(["prove", "errata", "--no-cvc5", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["errata"]) == 8
