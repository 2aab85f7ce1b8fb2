"""What a follower does wrong becomes its result; what it does not show is not judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from deltaproof.conformance.adapter import Backend, Observed, Session
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.case import Tick
from deltaproof.conformance.lockstep import STRETCH, Result, Run, Shown, lockstep
from deltaproof.reference.errors import BackendError
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT NOT NULL")
VIEWS = {"count": T.aggregate(n=count()), "set": T.distinct()}
TICKS: list[Tick] = [
    {"t": ZSet({(1,): 2})},
    {"t": ZSet({(2,): 1})},
    {"t": ZSet({(1,): -2, (9,): 1})},
]


class Wrapped(ReferenceBackend):
    """The reference, each session of it wrapped into one of another kind."""

    name = "wrapped"

    def __init__(self, wrap: Callable[[Session], Session]) -> None:
        super().__init__()
        self.wrap = wrap

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> Session:  # type: ignore[override]  # another kind of session
        return self.wrap(super().open(tables, views))


class ContentsOnly:
    """A session that shows the views' contents and nothing more, and counts the looks."""

    def __init__(self, inner: Session) -> None:
        self.inner = inner
        self.looks = 0
        self.closed = False

    def step(self, deltas: Tick) -> None:
        self.inner.step(deltas)

    def read(self, view: str) -> ZSet:
        self.looks += 1
        return self.inner.read(view)

    def close(self) -> None:
        self.closed = True
        self.inner.close()


class Wrong(ContentsOnly):
    """Shows an empty view once a row 9 has come."""

    def read(self, view: str) -> ZSet:
        right = super().read(view)
        return ZSet() if (9,) in right else right


class Floats(ContentsOnly):
    """Counts in floats."""

    def read(self, view: str) -> ZSet:
        return ZSet((tuple(map(float, row)), n) for row, n in super().read(view).items())


class Crashes(ContentsOnly):
    """Falls over at the second tick."""

    def step(self, deltas: Tick) -> None:
        if (2,) in deltas["t"]:
            raise ZeroDivisionError("over and\nout")
        super().step(deltas)


class DeltasInStretches(ContentsOnly):
    """Takes many ticks at once and shows only the output deltas."""

    stretches: list[int]

    def __init__(self, inner: Session, answered: int | None = None) -> None:
        super().__init__(inner)
        self.stretches = []
        self.answered = answered

    def step_many(self, ticks: Sequence[Tick]) -> Sequence[Shown]:
        self.stretches.append(len(ticks))
        shown = []
        before = dict.fromkeys(VIEWS, ZSet())
        for tick in ticks:
            before = {view: self.inner.read(view) for view in VIEWS}
            self.inner.step(tick)
            after = {view: self.inner.read(view) for view in VIEWS}
            shown.append({view: Observed(None, after[view] - before[view]) for view in VIEWS})
        return shown[: self.answered]


def run(backend: Backend, ticks: Sequence[Tick] = TICKS, every: int = 1) -> Run:
    return lockstep(VIEWS, ticks, ReferenceBackend(), [backend], {backend.name: every})


def results(backend: Backend) -> dict[str, Result]:
    return {result.view: result for result in run(backend).results}


def test_every_view_is_compared_at_every_tick() -> None:
    found = run(ReferenceBackend())
    assert found.ok
    assert (found.ticks, found.changes) == (3, 4)
    assert [str(each) for each in found.results] == [
        "count on reference: equal at 3 ticks",
        "set on reference: equal at 3 ticks",
    ]


def test_the_first_difference_ends_the_comparison_of_that_view_only() -> None:
    found = results(Wrapped(Wrong))
    assert str(found["set"]) == (
        "set on wrapped: differs at tick 3, contents/missing-row: 2 rows\n"
        "    expected weight 1, got 0: k=2\n"
        "    expected weight 1, got 0: k=9"
    )
    assert found["count"].ticks == 3
    assert found["set"].ticks == 3


def test_a_value_of_another_type_is_a_difference() -> None:
    found = results(Wrapped(Floats))
    assert "differs at tick 1, type: column n: expected BIGINT" in str(found["count"])


def test_a_crash_is_a_result_of_all_its_views_and_not_the_end() -> None:
    found = run(Wrapped(Crashes))
    assert not found.ok
    assert found.ticks == 3
    assert [str(each) for each in found.results] == [
        "count on wrapped: failed: after tick 1: ZeroDivisionError: over and",
        "set on wrapped: failed: after tick 1: ZeroDivisionError: over and",
    ]
    assert found.results[0].to_json()["error"] == "after tick 1: ZeroDivisionError: over and"


def test_deltas_alone_are_integrated_and_a_stretch_is_taken_in_one() -> None:
    sessions: list[DeltasInStretches] = []

    def wrap(inner: Session) -> Session:
        sessions.append(DeltasInStretches(inner))
        return sessions[-1]

    many: list[Tick] = [{"t": ZSet({(n,): 1})} for n in range(STRETCH + 3)]
    found = run(Wrapped(wrap), many)
    assert found.ok
    assert {each.ticks for each in found.results} == {STRETCH + 3}
    assert sessions[0].stretches == [STRETCH, 3]


def test_an_answer_for_fewer_ticks_than_given_is_an_error() -> None:
    found = results(Wrapped(lambda inner: DeltasInStretches(inner, answered=2)))
    assert found["set"].error == "after tick 0: 3 ticks given, 2 answered"


@pytest.mark.parametrize(("every", "looks"), [(1, 3), (2, 2), (3, 1), (10, 1)])
def test_a_sparse_look_never_misses_the_last_tick(every: int, looks: int) -> None:
    sessions: list[Wrong] = []

    def wrap(inner: Session) -> Session:
        sessions.append(Wrong(inner))
        return sessions[-1]

    found = run(Wrapped(wrap), every=every)
    assert sessions[0].looks == looks * len(VIEWS)
    assert [each.difference.tick for each in found.results if each.difference] == [3]


def test_an_oracle_of_wrong_types_is_refused() -> None:
    with pytest.raises(BackendError, match="view count, tick 1: column n: expected BIGINT"):
        lockstep(VIEWS, TICKS, Wrapped(Floats), [])


def test_every_session_is_closed_when_the_oracle_fails() -> None:
    sessions: list[ContentsOnly] = []

    def wrap(inner: Session) -> Session:
        sessions.append(ContentsOnly(inner))
        return sessions[-1]

    with pytest.raises(ZeroDivisionError):
        lockstep(VIEWS, TICKS, Wrapped(Crashes), [Wrapped(wrap)])
    assert sessions[0].closed


def test_a_stream_without_ticks_says_nothing() -> None:
    assert run(ReferenceBackend(), []).ticks == 0
