"""Every increment has its line in the table of sizes, and a wrong one is seen in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from rich.console import Console

from deltaproof.reference.operator import Increment, Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Schema
from deltaproof.theorems.execution import supports
from deltaproof.theorems.execution.supports import (
    PAIRS,
    SUPPORTS,
    Mode,
    Support,
    keyed,
    largest,
    run,
    run_supports,
    support_table,
)


@dataclass(frozen=True)
class Linear(Distinct):
    """Distinct, kept up to date as if it were linear."""

    shape: ClassVar[Shape] = Shape.LINEAR

    def increment(self, *inputs: Schema) -> Increment:
        return Filter(col("k").is_not_null()).increment(*inputs)


def small(mode: Mode) -> Support:
    return Support(Distinct(), mode, ((PAIRS, keyed(1)),), rows=2, ticks=2)


def test_every_operator_has_a_line() -> None:
    assert {each.operator.name for each in SUPPORTS} == {each.name for each in OPERATORS}


def test_each_mode_says_how_much_it_ran() -> None:
    found = [run(small(mode)) for mode in ("merged", "paths", "enumerated")]
    assert [each.cells for each in found] == [4, 121, 81]
    assert [each.scope for each in found] == ["all integers", "-1000 to 1000", "-1 to 1"]
    assert all(each.holds and each.rows == (2,) for each in found)


def test_a_wrong_increment_is_an_error_in_every_mode() -> None:
    for mode in ("merged", "paths", "enumerated"):
        found = run(replace(small(mode), operator=Linear()))
        assert (found.holds, found.cells) == (False, 0)
        assert found.error.startswith("distinct")


def test_a_run_without_output_proves_nothing() -> None:
    empty = replace(small("merged"), operator=Filter(col("v") > 5))
    assert "proves nothing" in run(empty).error


def test_the_table_shows_what_is_wrong() -> None:
    heard: list[tuple[object, int, int]] = []

    def progress(*said: object) -> None:
        heard.append(said)  # type: ignore[arg-type]  # a name and two numbers

    runs = run_supports(progress, [small("paths"), replace(small("paths"), operator=Linear())])
    assert heard == [("distinct", 0, 2), ("distinct", 1, 2)]
    console = Console(width=200)
    with console.capture() as printed:
        console.print(support_table(runs))
    lines = printed.get().splitlines()
    times = [f"{ms:.0f}" for ms in (runs[0].build_ms, runs[0].z3_ms)]
    assert lines[1].split() == [
        *["✓", "distinct", "paths", "-1000", "to", "1000", "2", "2", "121"],
        *times,
    ]
    assert lines[2].startswith("✗")
    assert runs[1].to_json()["holds"] is False


def test_the_largest_size_is_the_one_with_the_most_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(supports.SIZES, "enumerated", ((1, 2), (1, 2)))
    support = replace(small("enumerated"), rows=1, ticks=1)
    assert largest(support, ms=0.0) is support
    found = largest(support, ms=1e9)
    assert (found.rows, found.ticks) == (2, 2)
