"""What is wrong with increments, and with the circuits that are made of them.

WRONG_INCREMENTS   by the name of a law of increments: a wrong one, and how the law says so
WRONG_CIRCUITS     by the name of a law of queries
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from deltaproof.properties.law import Stream, Subject, run, subject_of
from deltaproof.properties.laws import queries, words
from deltaproof.properties.wrong import (
    COUNT,
    DELAY,
    DISTINCT,
    FILTER,
    JOIN,
    LINEAR,
    K,
    V,
    Wrong,
    above_zero,
    counter,
    cross,
    distinct,
    first_row_only,
    forgets_the_first,
    identity,
    integrates_tables,
    zset_of,
)
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.operator import BilinearIncrement, Increment, LinearIncrement
from deltaproof.reference.operators.distinct import DistinctIncrement
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.stream import delay, differentiate, integrate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

# ── Wrong increments ────────────────────────────────────────────────────────────────────────


class WithoutTheProductOfChanges(BilinearIncrement):
    """Drops da × db: wrong only when both sides change in one tick."""

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        a, b = self.before
        self.staged = (a + da, b + db)
        return self.meaning(da, b) + self.meaning(a, db)


class ChangesInStep(DistinctIncrement):
    """Does not wait for the commit."""

    def step(self, delta: ZSet) -> ZSet:
        output = super().step(delta)
        super().commit()
        return output

    def commit(self) -> None: ...


class ClearsNothing(DistinctIncrement):
    def clear(self) -> None:
        if not hasattr(self, "weights"):
            super().clear()


class RestoresNothing(DistinctIncrement):
    def restore(self, saved: Any) -> None: ...


class KeepsTombstones(DistinctIncrement):
    """A row that is gone is kept with weight zero."""

    def commit(self) -> None:
        for row, weight in self.staged.items():
            self.weights[row] = self.weights.get(row, 0) + weight


def late(q: Subject) -> Callable[..., Stream]:
    """Answers at every tick what was true at the one before."""
    return lambda *s: delay(run(q.increment(), s))


def early(q: Subject) -> Callable[..., Stream]:
    """Answers for all ticks at once, and puts everything into the first."""

    def outputs(*s: Stream) -> Stream:
        answers = run(q.increment(), s)
        return [integrate(answers)[-1], *[ZSet() for _ in answers[1:]]]

    return outputs


def without_the_snapshot(q: Subject) -> Callable[..., Stream]:
    """Takes what is there at the first tick as known."""
    return lambda *s: forgets_the_first(run(q.increment(), s))


def repeated(q: Subject) -> Callable[..., Stream]:
    """Says again what it said when nothing changes."""

    def outputs(*s: Stream) -> Stream:
        last = ZSet()
        answers = []
        for delta, answer in zip(s[0], run(q.increment(), s), strict=True):
            last = answer if delta else last
            answers.append(last)
        return answers

    return outputs


def silent_over_nothing(q: Subject) -> Callable[..., Stream]:
    """Has no row over no rows until there is a change."""
    return lambda *s: [
        answer if delta else ZSet() for delta, answer in zip(*s, run(q.increment(), s), strict=True)
    ]


def answers_yes(q: Subject) -> Callable[..., Stream]:
    """Puts out True for 1, which is equal to it."""

    def yes(rows: ZSet) -> ZSet:
        return ZSet([(tuple(x == 1 or x for x in row), weight) for row, weight in rows.items()])

    return lambda *s: list(map(yes, run(q.increment(), s)))


def looked_up(s: Stream, r: Stream) -> Stream:
    """A lookup join: a change on the right meets nobody (Flink: lookup and temporal joins)."""
    return [cross(da, b) for da, b in zip(s, integrate(r), strict=True)]


def of_tables(s: Stream) -> Stream:
    """What is deleted before it is inserted is forgotten."""
    return differentiate(integrates_tables(s))


def without_counts(s: Stream) -> Stream:
    """DISTINCT that remembers the rows, but not how often they are there."""
    present: set[Any] = set()
    answers = []
    for delta in s:
        changed = {row: w for row, w in delta.items() if (w > 0) != (row in present)}
        present ^= changed.keys()
        answers.append(zset_of({row: 1 if w > 0 else -1 for row, w in changed.items()}))
    return answers


def with_increment(q: Subject, make: Callable[[], Increment]) -> Subject:
    return replace(q, increment=make)


def wrong_form(q: Subject, says: str, stream: Callable[[Subject], Callable[..., Stream]]) -> Wrong:
    return Wrong(says, replace(q, stream=stream(q)))


WRONG_INCREMENTS: dict[str, Wrong] = {
    "increment_is_incremental": wrong_form(JOIN, "D(Q(I(s)))", late),
    "increment_takes_changes": wrong_form(FILTER, "Q^D(D(s))", late),
    "increment_default_agrees": Wrong(
        "(Q^D of its shape)(s) = {(0, 0): +1}",
        with_increment(JOIN, lambda: WithoutTheProductOfChanges(JOIN.meaning, JOIN.schemas)),
    ),
    "increment_well_typed": wrong_form(FILTER, "expected BIGINT, got bool True", answers_yes),
    "increment_causal": wrong_form(FILTER, "Q^D(s[<=t], then r)[<=t]", early),
    "increment_time_invariant": wrong_form(FILTER, "when Q(0) = 0", without_the_snapshot),
    "increment_of_zero": wrong_form(COUNT, "{(0): +1}", silent_over_nothing),
    "increment_step_only_reads": Wrong(
        "each tick tried with r first", with_increment(DISTINCT, lambda: ChangesInStep(K))
    ),
    "increment_clear_forgets": Wrong(
        "cleared after r", with_increment(DISTINCT, lambda: ClearsNothing(K))
    ),
    "increment_restores": Wrong(
        "restored at t", with_increment(DISTINCT, lambda: RestoresNothing(K))
    ),
    "increment_state_returns": Wrong(
        "state after s and its undoing", with_increment(DISTINCT, lambda: KeepsTombstones(K))
    ),
    "increment_is_operator_over_time": Wrong(
        "Q(s) over time", with_increment(DELAY, lambda: LinearIncrement(identity))
    ),
    "increment_merges_ticks": Wrong("sum of Q^D(s)", replace(DISTINCT, stream=without_counts)),
    "increment_splits_ticks": Wrong("cut in two", replace(DISTINCT, stream=without_counts)),
    "increment_skips_zero": wrong_form(FILTER, "with a zero after t", repeated),
    "increment_forgets_order": Wrong("backwards", replace(FILTER, stream=of_tables)),
    "increment_commutes_ticks": Wrong("then b, then a", replace(JOIN, stream=looked_up)),
    "increment_row_order_free": Wrong(
        "rows of s in reverse",
        replace(FILTER, stream=lambda s: [first_row_only(each) for each in s]),
    ),
    "increment_undoes": Wrong("-s backwards", replace(FILTER, stream=of_tables)),
    "increment_empties": Wrong(
        "sum of Q^D(s, then -sum of s) - Q(0) = {(0): +1}",
        replace(FILTER, stream=lambda s: [above_zero(each) for each in s]),
    ),
    "increment_deterministic": Wrong(
        "run again",
        replace(FILTER, stream=lambda s: [each.scale(next(counter)) for each in s]),
    ),
    "increment_checkpoint_is_replay": Wrong(
        "restored at t", with_increment(DISTINCT, lambda: RestoresNothing(K))
    ),
    "increment_cycle_rule": Wrong(
        "fix a. Q^D(s + z(a))", with_increment(DISTINCT, lambda: LinearIncrement(distinct))
    ),
    "increment_is_operator": Wrong(
        "Q^D(s)", replace(DISTINCT, shape=LINEAR, increment=lambda: DistinctIncrement(K))
    ),
    "increment_partitions": Wrong("sum of Q^D(part of s)", replace(COUNT, partition=(("k",),))),
}

# ── Wrong circuits ──────────────────────────────────────────────────────────────────────────


class InsertsOnly(Circuit):
    def step(self, deltas: Any, tick: int | None = None) -> dict[str, ZSet]:
        return super().step({name: above_zero(delta) for name, delta in deltas.items()})


class ReadsStale(Circuit):
    """The view is read before the last tick is in it."""

    def step(self, deltas: Any, tick: int | None = None) -> dict[str, ZSet]:
        self.stale = super().contents()
        return super().step(deltas)

    def contents(self) -> dict[str, ZSet]:
        return self.stale


class RestoresEmpty(Circuit):
    @classmethod
    def restore(cls, views: Any, checkpoint: str) -> Circuit:
        return Circuit(views)


class CommitsEachNode(Circuit):
    """Commits each operator when it has run, not the tick when all have."""

    def __init__(self, views: Any) -> None:
        super().__init__(views)
        nodes = [
            (place, replace(node, increment=Hasty(node.increment))) for place, node in self._nodes
        ]
        self._nodes = nodes


class Hasty:
    def __init__(self, increment: Increment) -> None:
        self.increment = increment
        self.clear, self.save, self.restore = increment.clear, increment.save, increment.restore

    def step(self, *deltas: ZSet) -> ZSet:
        output = self.increment.step(*deltas)
        self.increment.commit()
        return output

    def commit(self) -> None: ...


class DropsABranch(Circuit):
    """Its planner takes what is shared for what is there twice, and drops one."""

    def __init__(self, views: Query) -> None:
        shared = isinstance(views, Apply) and isinstance(views.operator, UnionAll)
        super().__init__(views.inputs[0] if shared else views)


class LastEntryWins(Circuit):
    """Reads the rows of a change into a dictionary."""

    def step(self, deltas: Any, tick: int | None = None) -> dict[str, ZSet]:
        entries = {
            name: each.items() if isinstance(each, ZSet) else each for name, each in deltas.items()
        }
        return super().step({name: dict(each) for name, each in entries.items()})


def wrong_circuit(kind: type[Circuit], says: str, where: ModuleType = queries) -> Wrong:
    return Wrong(says, DISTINCT, replaces=(where, "Circuit", kind))


class ForgetfulJoin(Join):
    """A join that forgets the product of the changes, as an operator a query can have."""

    def increment(self, *inputs: Schema) -> Increment:
        return WithoutTheProductOfChanges(self.meaning(*inputs), inputs)


WRONG_CIRCUITS: dict[str, Wrong] = {
    "circuit_is_incremental": Wrong("circuit(s)", subject_of(ForgetfulJoin((("k", "v"),)), K, V)),
    "circuit_chain_rule": wrong_circuit(InsertsOnly, "Q1^D(Q2^D(s))", words),
    "circuit_sum_rule": wrong_circuit(DropsABranch, "Q1^D(s) + Q2^D(s)", words),
    "circuit_contents_integrate": wrong_circuit(ReadsStale, "contents after s"),
    "circuit_restores": wrong_circuit(RestoresEmpty, "restored at t"),
    "circuit_checkpoint_is_replay": wrong_circuit(RestoresEmpty, "restored at t"),
    "circuit_consolidates": wrong_circuit(LastEntryWins, "entries of s, r and -r"),
    "circuit_refuses_whole_ticks": wrong_circuit(CommitsEachNode, "refusing r at t"),
}
