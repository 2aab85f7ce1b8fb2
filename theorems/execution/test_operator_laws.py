"""What is proved of a law is true of the code as it runs: wrong operators are never proved."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from deltaproof.properties.law import Subject, subject_of
from deltaproof.properties.laws import CATALOGUE, Law, laws_of
from deltaproof.reference.operator import Increment, LinearIncrement, Meaning, Operator, Shape
from deltaproof.reference.operators.distinct import Distinct, DistinctIncrement
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.query import Apply, count, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet
from deltaproof.theorems.execution import operator_laws
from deltaproof.theorems.execution.operator_laws import Attempt, attempt_law, prove_law

NAMED = {each.name: each for each in CATALOGUE}
increment_is_incremental = NAMED["increment_is_incremental"]
increment_restores = NAMED["increment_restores"]
operator_additive = NAMED["operator_additive"]
operator_homogeneous = NAMED["operator_homogeneous"]
operator_zero_preserving = NAMED["operator_zero_preserving"]

K = Schema.parse("k BIGINT")


class Weighing(Operator):
    """Somebody's own operator: what becomes of the weight of each row, said to be linear."""

    name = "weighing"
    shape = Shape.LINEAR
    theorem = source = ""

    def __init__(self, weigh: Callable[[Row, Any], Any]) -> None:
        self.weigh = weigh

    def output(self, *inputs: Schema) -> Schema:
        return inputs[0]

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda rows: ZSet([(row, self.weigh(row, w)) for row, w in rows.items()])


def attempt(law: Law, weigh: Callable[[Row, Any], Any]) -> Attempt:
    return attempt_law(law, subject_of(Weighing(weigh), K))


def test_an_own_linear_operator_is_proved_for_all_integers() -> None:
    found = attempt(operator_additive, lambda row, w: w + w)
    assert found.proof is not None
    assert found.proof.scope == "all integer weights, 2 rows an input, 3 choices of rows"
    assert found.proof.seconds > 0


def test_code_that_branches_on_weights_is_proved_on_every_path() -> None:
    found = attempt(operator_additive, lambda row, w: w if w > 0 else 0 + w)
    assert found.proof is not None


WRONG: dict[str, Callable[[Row, Any], Any]] = {
    "clips weights": lambda row, w: 1,
    "drops retractions": lambda row, w: max(0, w),
    "is wrong for one weight that no test would try": lambda row, w: 0 if w == 7919 else w,
    "is wrong from a large weight on": lambda row, w: w if w < 10**9 else 0,
    "is right on symbols and wrong on numbers": lambda row, w: w - 1 if type(w) is int else w,
    "forgets NULL": lambda row, w: w if row != (None,) else min(w, 1),
    "asks what only a number can answer": lambda row, w: w if w % 2 == 0 else 0,
}


@pytest.mark.parametrize("weigh", WRONG.values(), ids=WRONG)
def test_a_wrong_operator_is_refuted_by_plain_integers(weigh: Callable[[Row, Any], Any]) -> None:
    wrong = subject_of(Weighing(weigh), K)
    found = attempt_law(operator_additive, wrong)
    assert found.proof is None
    assert found.refuting is not None
    assert found.refuting[0] == ("q", wrong)
    weights = [w for _, value in found.refuting[1:] for each in value for _, w in each.items()]
    assert all(type(weight) is int for weight in weights)


RARE = {7919}
HIDDEN: dict[str, Callable[[Row, Any], Any]] = {
    "looks it up among integers": lambda row, w: 0 if w in RARE else w,
    "asks whether it is an int": lambda row, w: 0 if isinstance(w, int) and w == 7919 else w,
    "asks for its type": lambda row, w: 0 if type(w) is int and w == 7919 else w,
    "reads it": lambda row, w: 0 if str(w) == "7919" else w,
    "reads it in a text": lambda row, w: 0 if f"{w}" == "7919" else w,
    "asks for what only integers have": lambda row, w: 0 if getattr(w, "real", 0) == 7919 else w,
}


def test_what_integers_hide_from_symbols_is_not_proved() -> None:
    """Wrong for one weight that is not met here, in code that never asks what a symbol is worth."""
    proved = [name for name, weigh in HIDDEN.items() if attempt(operator_additive, weigh).proof]
    assert proved == []


def test_what_is_wrong_by_chance_is_not_proved() -> None:
    dice = random.Random(0)
    assert attempt(operator_additive, lambda row, w: w * dice.randrange(2)).proof is None


def test_what_cannot_be_run_on_symbols_is_not_proved() -> None:
    found = attempt(
        operator_additive, lambda row, w: sum(1 if w > 0 else -1 for _ in range(abs(w)))
    )
    assert found == Attempt(reason=found.reason)
    assert "TypeError" in found.reason


class NeverTakesBack(DistinctIncrement):
    """Puts out a row when it comes, and nothing when it goes: it asks only whether it is there."""

    def __init__(self, *inputs: Schema) -> None:
        super().__init__(*inputs)
        self.seen: dict[Row, Weight] = {}

    def step(self, delta: ZSet) -> ZSet:
        super().step(delta)
        new = [row for row in delta if row not in self.seen]
        self.seen |= dict.fromkeys(new, 1)
        return ZSet(dict.fromkeys(new, 1))


class Forgets(DistinctIncrement):
    def save(self) -> Any:
        return []


def with_increment(increment: Callable[..., Increment]) -> Subject:
    return replace(subject_of(Distinct(), K), increment=lambda: increment(K))


def test_presence_of_a_row_is_a_question_too() -> None:
    """Were an entry that may be zero taken for one that is there, this would be proved."""
    found = attempt_law(increment_is_incremental, with_increment(NeverTakesBack))
    assert found.proof is None
    assert found.refuting is not None


def test_a_restart_that_forgets_is_refuted_and_the_right_one_proved() -> None:
    assert attempt_law(increment_restores, with_increment(Forgets)).refuting
    proof = prove_law(increment_restores, subject_of(Distinct(), K))
    assert proof is not None
    assert proof.scope.startswith("all integer weights, 2 rows an input, 2 ticks")


def test_a_theorem_is_named_for_our_operator_and_not_for_one_made_of_it() -> None:
    ours = prove_law(increment_is_incremental, subject_of(Distinct(), K))
    assert ours is not None
    assert ours.scope.endswith("; theorem distinct_increment, unbounded")

    class Mine(Distinct):
        pass

    mine = prove_law(increment_is_incremental, subject_of(Mine(), K))
    assert mine is not None
    assert "theorem" not in mine.scope


def test_a_wrong_increment_does_not_borrow_the_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = with_increment(lambda schema: LinearIncrement(Distinct().meaning(schema)))
    assert attempt_law(increment_is_incremental, wrong).refuting
    monkeypatch.setattr(operator_laws, "MOST_SECONDS", 0.0)  # nothing can be run
    assert prove_law(increment_is_incremental, wrong) is None


def test_a_wrong_meaning_does_not_borrow_the_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = subject_of(Filter(col("k") > 0), K)
    wrong = replace(kept, meaning=lambda rows: ZSet(dict(list(rows.items())[:6])))
    proof = prove_law(operator_additive, wrong)
    assert proof is not None
    assert "theorem" not in proof.scope
    assert "theorem filter_linear" in str(prove_law(operator_additive, kept))


def test_a_theorem_that_does_not_hold_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_laws, "catalogue", tuple)
    operator_laws.holds.cache_clear()
    try:
        proof = prove_law(operator_additive, subject_of(Filter(col("k") > 0), K))
    finally:
        operator_laws.holds.cache_clear()
    assert proof is not None
    assert "theorem" not in proof.scope


def test_sums_that_could_leave_64_bits_are_proved_within_a_bound() -> None:
    counted = table("t", "k BIGINT, v BIGINT").group_by("k").aggregate(n=count())
    assert isinstance(counted, Apply)
    q = subject_of(counted.operator, Schema.parse("k BIGINT, v BIGINT"))
    proof = prove_law(NAMED["operator_makes_sets"], q)
    assert proof is not None
    assert proof.scope == "all weights from 0 to 1000, 2 rows an input, 4 choices of rows"


def test_numbers_of_a_law_are_named_in_the_scope() -> None:
    proof = prove_law(operator_homogeneous, subject_of(Weighing(lambda row, w: w), K))
    assert proof is not None
    assert "n in {2, -1, 0}" in proof.scope


def test_a_law_without_inputs_is_computed() -> None:
    proof = prove_law(operator_zero_preserving, subject_of(Distinct(), K))
    assert proof is not None
    assert proof.scope == "computed: the law has no inputs"


def test_rows_are_found_that_a_predicate_lets_pass() -> None:
    proof = prove_law(operator_additive, subject_of(Filter(col("k") > 50), K))
    assert proof is not None


def test_nothing_is_proved_where_no_row_says_anything() -> None:
    found = attempt_law(operator_additive, subject_of(Filter(col("k") > 5_000), K))
    assert found.proof is not None  # the theorem alone
    assert found.proof.scope == "theorem filter_linear, unbounded"
    mine = attempt(operator_additive, lambda row, w: 0)
    assert mine.proof is None
    assert "no 2 rows of an input were found" in mine.reason


def test_a_law_of_something_else_and_a_backend_are_not_proved() -> None:
    assert "is not about an operator" in attempt_law(CATALOGUE[0], subject_of(Distinct(), K)).reason
    whole = replace(subject_of(Distinct(), K), stream=lambda s: s)
    assert "answers whole streams" in attempt_law(operator_additive, whole).reason


def test_every_law_of_a_join_that_ends_in_time_is_proved() -> None:
    left, right = Schema.parse("a BIGINT, v BIGINT"), Schema.parse("b BIGINT, w BIGINT")
    q = subject_of(Join((("a", "b"),)), left, right)
    found = {law.name: attempt_law(law, q) for law in laws_of(q) if law.of in ("bilinear", "join")}
    assert [name for name, each in found.items() if each.refuting] == []
    assert found["operator_left_additive"].proof is not None
