"""Every law refutes something: for each law in the catalogue there is a wrong one here.

    WRONG   the name of a law → what is wrong, and how the law says so

A wrong one is a function with a shape it does not have, an operator's declaration with one
part replaced, or a replacement for a word that the laws are written in (`ZSet.__add__`,
`integrate`, `Circuit`). Most are models of published bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from types import ModuleType
from typing import Any

import pytest

from deltaproof.properties.check import (
    Counterexample,
    LawViolation,
    check_law,
    subject_of_function,
)
from deltaproof.properties.law import Law, Stream, Subject, run, subject_of
from deltaproof.properties.laws import CATALOGUE, data, queries, words
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.operator import (
    BilinearIncrement,
    Increment,
    LinearIncrement,
    Meaning,
    Shape,
)
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.distinct import Distinct, DistinctIncrement
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.logic import keeping
from deltaproof.reference.operators.map import Map
from deltaproof.reference.query import count
from deltaproof.reference.scalar import col
from deltaproof.reference.stream import delay, differentiate, integrate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet, positive

K = Schema.parse("k BIGINT NOT NULL")
V = Schema.parse("v BIGINT NOT NULL")
KV = Schema.parse("k BIGINT NOT NULL, v BIGINT NOT NULL")
LINEAR, BILINEAR, GENERAL = Shape.LINEAR, Shape.BILINEAR, Shape.GENERAL


@dataclass(frozen=True)
class Wrong:
    """A wrong subject, or a replacement for a word of the laws; and what is then said of it."""

    says: str  # part of the message
    about: Subject | None = None
    replaces: tuple[Any, str, Any] | None = None  # object, name of its attribute, replacement


# ── Wrong Z-sets ────────────────────────────────────────────────────────────────────────────


def zset_of(weights: Mapping[Any, int]) -> ZSet:
    return ZSet.trusted({row: weight for row, weight in weights.items() if weight})


def combined(of: Callable[[int, int], int]) -> Callable[[ZSet, ZSet], ZSet]:
    """An addition that does this to the weights of a row."""
    return lambda a, b: zset_of({row: of(a[row], b[row]) for row in (*a, *b)})


def keeps_zeros(a: ZSet, b: ZSet) -> ZSet:
    return ZSet.trusted({row: a[row] + b[row] for row in (*a, *b)})


def last_entry_wins(self: ZSet, entries: Any = (), schema: Schema | None = None) -> None:
    self._weights = dict(entries)
    self.schema = schema


def above_zero(a: ZSet) -> ZSet:
    return zset_of({row: max(weight, 0) for row, weight in a.items()})


def wrong_zset(method: str, replacement: Any, says: str) -> Wrong:
    return Wrong(says, replaces=(ZSet, method, replacement))


# ── Wrong streams ───────────────────────────────────────────────────────────────────────────


def wrong_stream(name: str, replacement: Callable[[Stream], Stream], says: str) -> Wrong:
    return Wrong(says, replaces=(data, name, replacement))


def integrates_tables(s: Stream) -> Stream:
    """Clips at every tick, as an engine without negative weights does."""
    return list(accumulate(s, lambda a, b: above_zero(a + b)))


def forgets_the_first(s: Stream) -> Stream:
    return [ZSet(), *s[1:]]


# ── Wrong operators ─────────────────────────────────────────────────────────────────────────


def distinct(a: ZSet) -> ZSet:
    return zset_of({row: positive(weight) for row, weight in a.items()})


def first_row_only(a: ZSet) -> ZSet:
    return zset_of(dict(list(a.items())[:1]))


def eats_its_input(a: ZSet) -> ZSet:
    result = ZSet(dict(a.items()))
    a._weights.clear()
    return result


def adds_a_row(a: ZSet) -> ZSet:
    return a + ZSet({(7,): 1})


def identity(a: ZSet) -> ZSet:
    return a


def plus_one(a: ZSet) -> ZSet:
    return ZSet([((row[0] + 1,), weight) for row, weight in a.items()])


def cross(a: ZSet, b: ZSet) -> ZSet:
    return ZSet([(x + y, n * m) for x, n in a.items() for y, m in b.items()])


def left_semijoin(a: ZSet, b: ZSet) -> ZSet:
    """Matches lose the weight of the left side when the gate opens (pg_ivm #82)."""
    return cross(distinct(a), b)


def right_semijoin(a: ZSet, b: ZSet) -> ZSet:
    return cross(a, distinct(b))


def left_outer(a: ZSet, b: ZSet) -> ZSet:
    return cross(a, b or ZSet({(None,): 1}))


def right_outer(a: ZSet, b: ZSet) -> ZSet:
    return cross(a or ZSet({(None,): 1}), b)


def claimed(meaning: Meaning, shape: Shape, stream: Callable[..., Stream] | None = None) -> Subject:
    schemas = (K, V) if shape is BILINEAR else (K,)
    return subject_of_function(meaning, shape, *schemas, stream=stream)


JOIN = subject_of(Join((("k", "v"),)), K, V)
DISTINCT = subject_of(Distinct(), K)
FILTER = subject_of(Filter(col("k") > 0), K)
DELAY = subject_of(Delay(1), K)
COUNT = subject_of(Aggregate((), (("n", count()),)), K)
COUNT_BY_K = subject_of(Aggregate(("k",), (("n", count()),)), K)


class FirstColumn(Map):
    """Takes the first column, whatever its name."""

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda a: ZSet([((row[0], row[0]), weight) for row, weight in a.items()])


FIRST_COLUMN = subject_of(FirstColumn((("k", col("k")), ("v", col("v")))), KV)


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


def wrong_circuit(kind: type[Circuit], says: str, where: ModuleType = queries) -> Wrong:
    return Wrong(says, DISTINCT, replaces=(where, "Circuit", kind))


class ForgetfulJoin(Join):
    """A join that forgets the product of the changes, as an operator a query can have."""

    def increment(self, *inputs: Schema) -> Increment:
        return WithoutTheProductOfChanges(self.meaning(*inputs), inputs)


def wrong(meaning: Meaning, says: str, shape: Shape = LINEAR) -> Wrong:
    return Wrong(says, claimed(meaning, shape))


def wrong_form(q: Subject, says: str, stream: Callable[[Subject], Callable[..., Stream]]) -> Wrong:
    return Wrong(says, replace(q, stream=stream(q)))


WRONG: dict[str, Wrong] = {
    # Z-sets
    "zset_add_associative": wrong_zset("__add__", combined(lambda n, m: max(n + m, 0)), "+1"),
    "zset_add_commutes": wrong_zset("__add__", combined(lambda n, m: n or m), "a + b"),
    "zset_zero_identity": wrong_zset("__add__", combined(lambda n, m: max(n + m, 0)), "-1}"),
    "zset_negate_inverse": wrong_zset("__add__", keeps_zeros, ": +0}"),
    "zset_subtract_adds_negation": wrong_zset(
        "__sub__", combined(lambda n, m: max(n - m, 0)), "-1}"
    ),
    "zset_scale_distributes": wrong_zset("scale", lambda a, n: distinct(a), "n(a + b)"),
    "zset_scale_adds": wrong_zset(
        "scale", lambda a, n: zset_of({r: n * n * w for r, w in a.items()}), "ma"
    ),
    "zset_entries_add_up": wrong_zset("__init__", last_entry_wins, "ZSet(entries of a and of b)"),
    # streams
    "integrate_differentiate_inverse": wrong_stream(
        "differentiate", lambda s: forgets_the_first(differentiate(s)), "at t = 0"
    ),
    "differentiate_integrate_inverse": wrong_stream("integrate", integrates_tables, "I(D(s))"),
    "integrate_recursive": wrong_stream("integrate", lambda s: s, "at t = 1"),
    "differentiate_definition": wrong_stream(
        "differentiate", lambda s: [-each for each in differentiate(s)], "s - z(s)"
    ),
    "integrate_additive": wrong_stream("integrate", integrates_tables, "I(s) + I(r)"),
    "differentiate_additive": wrong_stream(
        "differentiate", lambda s: [above_zero(each) for each in differentiate(s)], "D(s + r)"
    ),
    "delay_additive": wrong_stream(
        "delay", lambda s: [above_zero(each) for each in delay(s)], "z(s) + z(r)"
    ),
    "integrate_time_invariant": wrong_stream(
        "integrate", lambda s: integrate(forgets_the_first(s)), "I(z(s))"
    ),
    "differentiate_time_invariant": wrong_stream(
        "differentiate", lambda s: forgets_the_first(differentiate(s)), "D(z(s))"
    ),
    "delay_strict": wrong_stream("delay", lambda s: s, "z(s)[<=t]"),
    "integrate_causal": wrong_stream(
        "integrate", lambda s: [integrate(s)[-1]] * len(s), "I(s)[<=t]"
    ),
    "differentiate_causal": wrong_stream("differentiate", lambda s: [*s[1:], ZSet()], "D(s)[<=t]"),
    # every operator
    "operator_row_order_free": wrong(first_row_only, "rows of a in reverse"),
    "operator_well_typed": Wrong(
        "column k: expected VARCHAR, got int", replace(FILTER, output=Schema.parse("k VARCHAR"))
    ),
    "operator_keeps_inputs": wrong(eats_its_input, "a after Q(a)"),
    "operator_zero_preserving": wrong(adds_a_row, "Q(0) = {(7): +1}"),
    "operator_time_invariant": wrong(adds_a_row, "at t = 0"),
    "increment_is_incremental": wrong_form(JOIN, "D(Q(I(s)))", late),
    "increment_default_agrees": Wrong(
        "(Q^D of its shape)(s) = {(0, 0): +1}",
        with_increment(JOIN, lambda: WithoutTheProductOfChanges(JOIN.meaning, JOIN.schemas)),
    ),
    "increment_causal": wrong_form(FILTER, "Q^D(s[<=t], then r)[<=t]", early),
    "increment_time_invariant": wrong_form(FILTER, "when Q(0) = 0", without_the_snapshot),
    "increment_of_zero": wrong_form(COUNT, "{(0): +1}", silent_over_nothing),
    "increment_skips_zero": wrong_form(FILTER, "with a zero after t", repeated),
    "increment_merges_ticks": Wrong("sum of Q^D(s)", replace(DISTINCT, stream=without_counts)),
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
    # operators over time
    "operator_causal_over_time": Wrong(
        "Q(s[<=t], then r)[<=t]", replace(DELAY, over_time=lambda s: [*s[1:], ZSet()])
    ),
    "operator_additive_over_time": Wrong(
        "Q(s) + Q(r)", replace(DELAY, over_time=lambda s: [above_zero(each) for each in delay(s)])
    ),
    "increment_is_operator_over_time": Wrong(
        "Q(s) over time", with_increment(DELAY, lambda: LinearIncrement(identity))
    ),
    # linear operators
    "operator_additive": wrong(distinct, "Q(a + b)"),
    "operator_odd": wrong(above_zero, "Q(-a)"),
    "operator_homogeneous": wrong(distinct, "with a = {(0): +1}"),
    "operator_commutes_with_integrate": wrong(distinct, "the first difference"),
    "increment_is_operator": Wrong(
        "Q^D(s)", replace(DISTINCT, shape=LINEAR, increment=lambda: DistinctIncrement(K))
    ),
    # bilinear operators
    "operator_left_additive": wrong(left_semijoin, "Q(a, b) + Q(a', b)", BILINEAR),
    "operator_right_additive": wrong(right_semijoin, "Q(a, b) + Q(a, b')", BILINEAR),
    "operator_left_zero": wrong(right_outer, "Q(0, b) = {(NULL, 0): +1}", BILINEAR),
    "operator_right_zero": wrong(left_outer, "Q(a, 0) = {(0, NULL): +1}", BILINEAR),
    "operator_product_rule": wrong(left_semijoin, "Q(s, z(I(r)))", BILINEAR),
    # claims
    "operator_strict": Wrong("Q(s[<t], then r)[<=t]", FILTER),
    "operator_positive": wrong(lambda a: -a, "Q(a) above zero  = 0"),
    "operator_makes_sets": wrong(identity, "distinct(Q(a))   = {(0): +1}"),
    "operator_monotone": Wrong("the lesser of Q(a) and Q(a + b)", COUNT_BY_K),
    "operator_idempotent": wrong(lambda a: a + a, "Q(Q(a)) = {(0): +4}"),
    "operator_commutes": wrong(lambda a, b: a - b, "Q(b, a)", BILINEAR),
    "operator_ignores_size": wrong(above_zero, "Q(n a)"),
    "operator_sees_through_distinct": wrong(identity, "Q(distinct(a))   = {(0): +1}"),
    "operator_scales": wrong(distinct, "Q(n a)"),
    "operator_renames": wrong(plus_one, "Q(f(a))"),
    "operator_permutes_columns": Wrong("columns turned", FIRST_COLUMN),
    "operator_partitions": Wrong("sum of Q(part of a)", replace(COUNT, partition=(("k",),))),
    "increment_partitions": Wrong("sum of Q^D(part of s)", replace(COUNT, partition=(("k",),))),
    # one operator
    "filter_commutes_with_distinct": wrong(lambda a: a - distinct(a), "Q(distinct(a))"),
    "map_keeps_weight": wrong(distinct, "weight of Q(a)"),
    "map_under_distinct": wrong(lambda a: a.scale(-1) + distinct(a).scale(2), "over tables"),
    "flat_map_keeps_columns": wrong(plus_one, "is among a"),
    "union_all_zero_identity": wrong(lambda a, b: distinct(a + b), "Q(a, 0)", BILINEAR),
    "union_all_under_distinct": wrong(lambda a, b: a - b, "over tables", BILINEAR),
    "negate_involutive": wrong(above_zero, "Q(Q(a))"),
    "join_commutes": Wrong("columns swapped", replace(JOIN, meaning=left_semijoin)),
    "join_commutes_with_distinct": Wrong(
        "over tables", replace(JOIN, meaning=lambda a, b: cross(a, b) + cross(a, b))
    ),
    "distinct_is_a_set": wrong(above_zero, "1 where a > 0"),
    "aggregate_has_one_row_per_group": Wrong(
        "distinct(keys of a)",
        replace(COUNT_BY_K, meaning=lambda a: zset_of({(*r, w): 1 for r, w in a.items()})),
    ),
    "delay_commutes_with_integrate": Wrong(
        "Q(I(s))", replace(DELAY, over_time=lambda s: [above_zero(each) for each in delay(s)])
    ),
    "integrate_is_undone_by_differentiate": Wrong(
        "D(Q(s))", replace(subject_of(Integrate(), K), over_time=integrates_tables)
    ),
    "differentiate_is_undone_by_integrate": Wrong(
        "I(Q(s))",
        replace(
            subject_of(Differentiate(), K), over_time=lambda s: forgets_the_first(differentiate(s))
        ),
    ),
    "logic_composes": Wrong(
        "(Q followed by R)(s)",
        replace(subject_of(keeping(K), K), meaning=distinct),
    ),
    # queries
    "circuit_is_incremental": Wrong("circuit(s)", subject_of(ForgetfulJoin((("k", "v"),)), K, V)),
    "circuit_chain_rule": wrong_circuit(InsertsOnly, "Q1^D(Q2^D(s))", words),
    "circuit_contents_integrate": wrong_circuit(ReadsStale, "contents after s"),
    "circuit_restores": wrong_circuit(RestoresEmpty, "restored at t"),
    "circuit_refuses_whole_ticks": wrong_circuit(CommitsEachNode, "refusing r at t"),
}


def entries(value: Any) -> int:
    """How many rows with a weight there are in Z-sets, streams and ticks."""
    if isinstance(value, ZSet):
        return len(value)
    if isinstance(value, dict):
        return entries(list(value.values()))
    return sum(map(entries, value)) if isinstance(value, list | tuple) else 0


def refutation(law: Law, patch: pytest.MonkeyPatch) -> Counterexample:
    """The smallest counterexample that the law finds to what is wrong."""
    wrong = WRONG[law.name]
    if wrong.replaces:
        patch.setattr(*wrong.replaces)
    verdict = check_law(law, wrong.about, examples=200)
    patch.undo()
    assert verdict.status == "refuted"
    with pytest.raises(LawViolation) as raised:
        verdict.check()
    return raised.value.counterexample


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_every_law_refutes_what_is_wrong_and_says_why(
    law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    counterexample = refutation(law, monkeypatch)
    message = str(counterexample)
    assert message.startswith(f"{law.name} does not hold")
    assert WRONG[law.name].says in message
    assert law.why in message
    assert law.source in message
    data = [value for _, value in counterexample.inputs if not isinstance(value, Subject)]
    assert sum(map(entries, data)) <= 4
