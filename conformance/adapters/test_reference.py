"""The reference's runtime behind the protocol keeps every promise that it declares."""

from __future__ import annotations

import pytest

from deltaproof.conformance.adapter import CAPABILITIES, Observed, Restarts, RunsMany, ShowsChanges
from deltaproof.conformance.adapters.pool import Pool
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.case import Case
from deltaproof.conformance.judge import Judge, Oracle, run_case
from deltaproof.reference.errors import CheckpointError, EvaluationError
from deltaproof.reference.query import count, table
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT")
COUNTS = T.group_by("k").aggregate(n=count())
TICKS = (
    {"t": ZSet({(1, 1): 2, (2, 1): 1})},
    {"t": ZSet({(1, 1): -2})},
    {"t": ZSet({(1, 5): 1, (2, 1): -3})},
)


def test_it_declares_everything() -> None:
    backend = ReferenceBackend()
    session = backend.open(T.tables(), {"view": T})
    assert backend.capabilities == CAPABILITIES
    assert isinstance(backend, RunsMany)
    assert isinstance(session, ShowsChanges)
    assert isinstance(session, Restarts)


def test_the_batch_form_observes_what_sessions_observe() -> None:
    backend = ReferenceBackend()
    streams = [TICKS, TICKS[:1], (), TICKS[1:]]
    batch = backend.run_many(COUNTS, streams)
    assert batch == [run_case(backend, Case(COUNTS, tuple(stream))) for stream in streams]
    assert batch[0][1] == Observed(ZSet({(2, 1): 1}), ZSet({(1, 2): -1}))


@pytest.mark.parametrize("restarts", [(1,), (0, 2), (1, 2, 3)])
def test_a_restart_at_any_tick_changes_nothing(restarts: tuple[int, ...]) -> None:
    case = Case(COUNTS, TICKS, restarts=restarts)
    expected = Oracle(COUNTS).expected(case)
    observed = run_case(ReferenceBackend(), case)
    assert Judge(COUNTS.schema).difference(expected, observed) is None


def test_a_checkpoint_of_another_view_is_refused() -> None:
    backend = ReferenceBackend()
    saved = backend.open(T.tables(), {"view": COUNTS}).checkpoint()
    with pytest.raises(CheckpointError):
        backend.open(T.tables(), {"view": T.distinct()}).restore(saved)


def test_a_circuit_is_built_once_for_cases_that_follow_each_other() -> None:
    backend = ReferenceBackend()
    first = backend.open(T.tables(), {"view": COUNTS})
    circuit = first.circuit
    first.step(TICKS[0])
    first.close()
    second = backend.open(T.tables(), {"view": COUNTS})
    assert second.circuit is circuit
    assert (second.read("view"), second.changes("view")) == (ZSet(), ZSet())


def test_what_was_read_stays_as_it_was_read() -> None:
    session = ReferenceBackend().open(T.tables(), {"view": T})
    session.step(TICKS[0])
    before = session.read("view")
    session.step(TICKS[1])
    assert before == TICKS[0]["t"]


def test_a_failed_tick_leaves_the_session_usable() -> None:
    query = T.map(q=col("k") * col("v"))
    session = ReferenceBackend().open(T.tables(), {"view": query})
    session.step({"t": ZSet({(2, 3): 1})})
    with pytest.raises(EvaluationError):
        session.step({"t": ZSet({(2**62, 4): 1, (1, 1): 1})})
    session.step({"t": ZSet({(1, 1): 1})})
    assert session.read("view") == ZSet({(6,): 1, (1,): 1})


def test_a_failed_batch_does_not_spoil_the_next() -> None:
    backend, query = ReferenceBackend(), T.map(q=col("k") * col("v"))
    with pytest.raises(EvaluationError):
        backend.run_many(query, [[{"t": ZSet({(2, 3): 1})}, {"t": ZSet({(2**62, 4): 1})}]])
    assert backend.run_many(query, [[{"t": ZSet({(1, 1): 1})}]]) == [
        [Observed(ZSet({(1,): 1}), ZSet({(1,): 1}))]
    ]


def test_a_pool_keeps_the_kinds_used_last() -> None:
    pool: Pool[str] = Pool(kinds=2)
    for kind in ("a", "b", "a", "c"):
        pool.give(kind, pool.take(kind, lambda kind=kind: f"engine {kind}"))  # type: ignore[misc]
    assert pool.resting == {"a": ["engine a"], "c": ["engine c"]}
