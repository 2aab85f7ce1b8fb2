"""The machine passes what is right, finds what is planted, and keeps its smallest run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from deltaproof.conformance.adapter import Backend
from deltaproof.conformance.adapters.reference import ReferenceBackend, ReferenceSession
from deltaproof.conformance.case import Case, Tick
from deltaproof.conformance.connect import backend
from deltaproof.conformance.held import failure
from deltaproof.conformance.machine import view_machine
from deltaproof.conformance.mutants.mutant import replaced
from deltaproof.conformance.mutants.reference import (
    distinct_without_counts,
    join_drops_the_product_of_deltas,
    saves_nothing,
)
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operators.distinct import DistinctIncrement
from deltaproof.reference.operators.join import JoinIncrement
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.types import Schema

RUNS = settings(
    max_examples=100,
    stateful_step_count=20,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)
K = table("t", "k BIGINT NOT NULL")
JOIN: Query = K.join(table("s", "j BIGINT NOT NULL"), on={"k": "j"})


def found_by(name: Backend | str, query: Query, out: Path) -> str:
    """What a machine says that must fail within 2,000 steps."""
    with pytest.raises(AssertionError) as raised:
        run_state_machine_as_test(view_machine(name, query, out=out), settings=RUNS)
    return str(raised.value)


@pytest.mark.parametrize("name", ["reference", "sqlite", "duckdb"])
def test_a_backend_that_is_right_passes(name: str, tmp_path: Path) -> None:
    if name == "duckdb":
        pytest.importorskip("duckdb")
    runs = settings(RUNS, max_examples=10)
    run_state_machine_as_test(view_machine(name, out=tmp_path), settings=runs)
    grouped = K.group_by("k").aggregate(n=count())
    run_state_machine_as_test(view_machine(name, grouped, out=tmp_path), settings=runs)
    assert not list(tmp_path.iterdir())


def test_only_what_is_declared_is_asked() -> None:
    assert hasattr(view_machine("reference"), "restore")
    assert hasattr(view_machine("reference"), "delete_what_may_not_be_there")
    assert not hasattr(view_machine("sqlite"), "restore")
    assert not hasattr(view_machine("sqlite"), "delete_what_may_not_be_there")


def test_a_query_that_the_backend_refuses_is_an_error() -> None:
    with pytest.raises(UsageError, match="sqlite cannot run this query: sqlite does not declare"):
        view_machine("sqlite", K.negate())


@pytest.mark.parametrize(
    ("owner", "method", "wrong", "query", "rows"),
    [
        (DistinctIncrement, "step", distinct_without_counts, K.distinct(), 2),
        (JoinIncrement, "step", join_drops_the_product_of_deltas, JOIN, 2),
    ],
    ids=["distinct without counts", "join without the product of deltas"],
)
def test_a_planted_mutant_is_found_and_kept_as_one_small_case(
    owner: type, method: str, wrong: object, query: Query, rows: int, tmp_path: Path
) -> None:
    with replaced(owner, method, wrong):
        said = found_by("reference", query, tmp_path)
        (file,) = tmp_path.iterdir()
        assert failure(backend("reference"), Case.load(file)) is not None
    assert f"deltaproof replay {file} -b reference" in said
    assert "<- first difference" in said
    assert Case.load(file).rows <= rows
    assert failure(backend("reference"), Case.load(file)) is None  # it is the mutant's


def test_a_mutant_that_forgets_at_a_restart_is_found(tmp_path: Path) -> None:
    with replaced(DistinctIncrement, "save", saves_nothing):
        said = found_by("reference", K.distinct(), tmp_path)
    (file,) = tmp_path.iterdir()
    case = Case.load(file)
    assert case.restarts == (1,)
    assert case.rows <= 2
    assert "restart" in said


class TickByTick:
    """The reference without `run_many`, by sessions of this kind."""

    tolerance = 0.0
    capabilities = ReferenceBackend.capabilities

    def __init__(self, name: str, kind: type[ReferenceSession]) -> None:
        self.name = name
        self.kind = kind
        self.right = ReferenceBackend()

    def describe(self) -> str:
        return self.name

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        return self.kind(self.right.circuits, tuple(views.items()))


class Crashing(ReferenceSession):
    """Fails at the second copy of a row."""

    def step(self, deltas: Tick) -> None:
        if any(weight > 1 for delta in deltas.values() for _, weight in delta.items()):
            raise RuntimeError("two of one row")
        super().step(deltas)


def test_a_crash_is_a_failure_with_a_case(tmp_path: Path) -> None:
    said = found_by(TickByTick("crashing", Crashing), K.distinct(), tmp_path)
    assert "crash/RuntimeError  on crashing" in said
    assert "RuntimeError: two of one row" in said
    assert "in a straight line" not in said
    (file,) = tmp_path.iterdir()
    assert [dict(tick["t"].items()) for tick in Case.load(file).ticks] == [{(0,): 2}]


class Leaking(ReferenceSession):
    """Restored from a checkpoint, it remembers that there were ticks after it."""

    furthest: ClassVar[int] = 0
    spoiled = False

    def step(self, deltas: Tick) -> None:
        super().step(deltas)
        ticks = self.running.ticks
        if self.spoiled:
            raise RuntimeError("the future is known")
        Leaking.furthest = ticks if ticks == 1 else max(ticks, Leaking.furthest)

    def restore(self, saved: str) -> None:
        super().restore(saved)
        self.spoiled = Leaking.furthest > self.running.ticks


def test_a_failure_that_takes_a_restore_to_an_earlier_tick_says_so(tmp_path: Path) -> None:
    said = found_by(TickByTick("leaking", Leaking), K.distinct(), tmp_path)
    assert "RuntimeError: the future is known" in said
    assert "replayed in a straight line the case does not fail" in said
