"""ValuesOf obeys its laws, means what it should, and is equal everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltaproof.conformance.cli import run
from deltaproof.conformance.connect import availability
from deltaproof.conformance.skeleton.values_of import ValuesOf
from deltaproof.properties.asserts import laws_as_tests
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

TARGET = f"{ValuesOf.__module__}:{ValuesOf.__name__}"

TestLaws = laws_as_tests(ValuesOf)


def test_what_it_means() -> None:
    """EDIT 11: a table small enough to check by hand: rows twice, NULL, weights below zero."""
    meaning = ValuesOf("k").meaning(Schema.parse("k BIGINT, v BIGINT"))
    table = ZSet({(1, 5): 2, (1, 7): 1, (None, 5): 1, (2, 5): -1})
    assert meaning(table) == ZSet({(1,): 1, (None,): 1})


def test_it_is_equal_above_and_below_every_other_operator(tmp_path: Path) -> None:
    limits = ["--cases", "2000", "--corpus", str(tmp_path / "corpus"), "--out", str(tmp_path)]
    assert run(["fuzz", TARGET, *limits]) == 0


@pytest.mark.parametrize("backend", ["sqlite", "duckdb", "spark"])
def test_it_is_equal_on(backend: str, tmp_path: Path) -> None:
    if reason := availability()[backend]:
        pytest.skip(reason)
    limits = ["--cases", "60", "--out", str(tmp_path)]
    assert run(["conform", "--operator", TARGET, "-b", backend, *limits]) == 0
