"""The command proves, prints and says by its exit code what it found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import deltaproof.theorems.__main__ as command
from deltaproof.theorems import chosen
from deltaproof.theorems.kernel import ProofError, Thm
from deltaproof.theorems.registry import Theorem
from deltaproof.theorems.ztransform import identities, incremental_product


def test_theorems_that_hold_are_printed_and_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["integrate_inverse", "--details"]) == 0
    printed = capsys.readouterr().out
    assert "D(I(s)) = s and I(D(s)) = s" in printed
    assert "1 of 1 theorems hold, 1 of them unbounded; 2 wrong variants refuted" in printed
    assert "s0 = 1" in printed
    assert "admitted, not proved" in printed


def test_json_has_what_the_table_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["join_ztransform", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (only,) = report["theorems"]
    assert (report["holds"], only["name"], only["scope"]) == (
        True,
        "join_ztransform",
        "unbounded (sympy)",
    )
    assert [each["values"] for each in only["refuted"]] == [{"residue": "-1"}, {"residue": "1"}]
    assert report["admitted"]


def test_a_theorem_that_fails_is_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Thm:
        raise ProofError("a step does not hold")

    def with_broken(names: list[str] | None) -> list[Theorem]:
        return [replace(each, function=broken) for each in chosen(names)]

    monkeypatch.setattr(command, "chosen", with_broken)
    assert command.main(["zset_group"]) == 1
    printed = capsys.readouterr().out
    assert "a step does not hold" in printed
    assert "0 of 1 theorems hold" in printed


@pytest.mark.parametrize("arguments", [["no_such_theorem"], ["--no-such-flag"]])
def test_a_wrong_argument_is_one_line_and_exit_4(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 4
    printed = capsys.readouterr()
    assert arguments[0] in printed.err.replace("\n", "")
    assert printed.out == ""


def test_a_wrong_fraction_is_named_by_its_residue() -> None:
    with pytest.raises(ProofError, match="two products: the sides differ by 1"):
        identities(
            (
                "two products",
                "x y",
                lambda x, y: (incremental_product(x, y), x / (1 - x) + y / (1 - y)),
            )
        )
