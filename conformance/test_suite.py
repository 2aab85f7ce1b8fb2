"""A run counts what it did, and never calls unknown or untested what it did not see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from deltaproof.conformance.adapter import CAPABILITIES, Backend
from deltaproof.conformance.adapters.reference import ReferenceBackend, ReferenceSession
from deltaproof.conformance.report import grid_lines, letters, suite_lines, verdict_line
from deltaproof.conformance.suite import (
    BackendRun,
    Suite,
    SuiteRun,
    all_cells,
    outcome,
    select_cells,
    status,
)
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet


class Named(ReferenceBackend):
    """The reference under another name, with some of its capabilities."""

    def __init__(self, name: str, lacks: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.name = name
        self.capabilities = CAPABILITIES - lacks


class Empty(Named):
    """A backend whose views are always empty."""

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        session = super().open(tables, views)
        session.read = lambda view: ZSet()  # type: ignore[method-assign]
        session.changes = lambda view: ZSet()  # type: ignore[method-assign]
        return session

    run_many = None  # type: ignore[assignment]


def run(
    *backends: Backend,
    cells: list[str] | None = None,
    cases: int = 24,
    out: Path | None = None,
    values: str = "plain",
) -> SuiteRun:
    chosen = select_cells(cells or [])
    not_run = {"oracle23c": "not installed"}
    suite = Suite(backends, not_run, 7, chosen, out, lambda *_: None, values=values)
    return suite.go(cases, None)


def test_every_cell_gets_a_case_also_in_a_short_run() -> None:
    found = run(Named("one"), cases=1)
    (backend,) = found.backends
    assert backend.cells.keys() == set(all_cells())
    assert {status(tally) for tally in backend.cells.values()} == {"ok"}
    assert found.exit_code == 0


def test_what_is_not_declared_is_counted_as_unsupported() -> None:
    lacks = frozenset({"negate", "weights.signed", "restart"})
    (backend,) = run(Named("some", lacks), cases=300).backends
    for (operator, kind), tally in backend.cells.items():
        if operator == "negate" or kind in ("signed", "restart"):
            assert status(tally) == "unsupported", (operator, kind)
    assert status(backend.cells["distinct", "null"]) == "ok"
    assert sum(tally["unsupported"] for tally in backend.cells.values()) > 0


def test_two_sql_oracles_against_the_reference_make_it_suspect() -> None:
    found = run(Empty("sqlite"), Empty("duckdb"), cells=["map@insert"])
    assert found.suspects
    assert found.exit_code == 5
    assert verdict_line(found).startswith("SUSPECT")


def test_one_wrong_backend_is_nonconformant_and_the_right_one_is_not_blamed(tmp_path: Path) -> None:
    found = run(Named("right"), Empty("wrong"), cells=["union_all@insert"], out=tmp_path)
    right, wrong = found.backends
    assert found.exit_code == 1
    assert not right.failures
    assert wrong.failures[0].kind == "delta/missing-row"
    assert wrong.failures[0].path is not None
    text = "\n".join(suite_lines(found))
    assert "union_all@insert" in text
    assert "oracle23c" in text
    assert "not run: not installed" in text
    assert outcome(found)["backends"][1]["failures"][0]["file"] == str(wrong.failures[0].path)


@pytest.mark.parametrize(
    ("tally", "verdict"),
    [
        (Counter(ok=9, fails=1), "fails"),
        (Counter(ok=9, unknown=1), "unknown"),
        (Counter(ok=9, unsupported=1), "ok"),
        (Counter(unsupported=1), "unsupported"),
        (Counter(), "not run"),
        (None, "not run"),
    ],
)
def test_a_cell_is_no_better_than_its_worst_case(tally: Counter[str] | None, verdict: str) -> None:
    assert status(tally) == verdict


def test_backends_have_letters_of_their_own_in_the_grid() -> None:
    runs = [BackendRun(name, "", 0.0) for name in ("reference", "spark", "sqlite", "duckdb")]
    assert letters(runs) == ["r", "s", "q", "d"]
    for each, verdict in zip(runs, ("ok", "fails", "unknown", "unsupported"), strict=True):
        each.count([("distinct", "null")], verdict, 3)
    (row,) = [line for line in grid_lines(runs) if line.startswith("distinct")]
    assert "rX?-" in row
    assert row.endswith("3")


def test_a_failing_case_is_counted_in_each_of_its_own_cells() -> None:
    (backend,) = run(Empty("wrong"), cases=300).backends
    judged = backend.cases
    tallies = [tally for (_, kind), tally in backend.cells.items() if kind != "restart"]
    assert judged >= 300
    assert all(tally["fails"] for tally in tallies)
    assert {status(tally) for tally in tallies} == {"fails"}


def test_a_backend_that_ends_the_process_is_unknown() -> None:
    class Exits(Named):
        run_many = None  # type: ignore[assignment]

        def open(
            self, tables: Mapping[str, Schema], views: Mapping[str, Query]
        ) -> ReferenceSession:
            raise SystemExit(0)

    found = run(Exits("exits"), cells=["distinct@insert"])
    assert found.exit_code == 2
    assert "SystemExit" in found.backends[0].unknown[0]


def test_the_report_says_how_many_cases_hold_killers() -> None:
    plain = run(Named("one"), cells=["distinct"])
    assert (plain.killer_shapes, plain.killer_cases) == (0, 0)
    assert "0 of them (0.0%), of 0 queries, hold values that broke engines" in text_of(plain)
    killers = run(Named("one"), cells=["distinct"], values="killers")
    assert (killers.killer_shapes, killers.killer_cases) == (killers.shapes, killers.cases)
    assert outcome(killers)["killers"]["cases"] == killers.cases > 0
    assert f"{killers.cases:,} of them (100.0%)" in text_of(killers)
    mixed = run(Named("one"), cases=600, values="mixed")
    assert 0.05 < mixed.killer_cases / mixed.cases < 0.35


def text_of(found: SuiteRun) -> str:
    return "\n".join(suite_lines(found))


def test_huge_weights_and_exact_sums_are_asked_of_those_alone_that_declare_them() -> None:
    lacks = frozenset({"weights.huge", "sum.exact"})
    cells = ["aggregate.avg@signed", "aggregate.avg@churn", "distinct@signed"]
    found = run(Named("all"), Named("some", lacks), cells=cells, cases=300, values="killers")
    everything, some = found.backends
    assert not everything.failures + some.failures
    assert sum(tally["unsupported"] for tally in everything.cells.values()) == 0
    assert 0 < some.cases < everything.cases
    for cell in select_cells(cells):
        assert some.cells[cell]["unsupported"], cell
        assert some.cells[cell].total() == everything.cells[cell].total()
