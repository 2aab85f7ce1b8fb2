"""An assertion raises the counterexample, or says why there is nothing to assert; never neither."""

from __future__ import annotations

import pytest

from deltaproof.properties import asserts
from deltaproof.properties.asserts import (
    assert_bilinear,
    assert_causal,
    assert_commutative,
    assert_incremental,
    assert_laws,
    assert_lifted,
    assert_linear,
    assert_monotone,
    assert_positive,
    assert_set_valued,
    assert_zero_preserving,
    laws_as_tests,
)
from deltaproof.properties.check import LawViolation, subject_of_function
from deltaproof.properties.law import GROUPS, subject_of
from deltaproof.properties.laws import laws_of
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Increment, LinearIncrement, Shape
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.query import count
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

K = Schema.parse("k BIGINT NOT NULL")
V = Schema.parse("v BIGINT NOT NULL")


class ClaimsToBeLinear(Distinct):
    """DISTINCT with the increment of a linear operator."""

    def increment(self, *inputs: Schema) -> Increment:
        return LinearIncrement(self.meaning(*inputs))


def test_there_is_an_assertion_for_every_group_that_may_be_claimed() -> None:
    claimable = {name for name, group in GROUPS.items() if group.claimable}
    missing = {name for name in claimable if not hasattr(asserts, f"assert_{name}")}
    assert missing == set()


def test_an_operator_a_kind_a_subject_and_a_function_may_be_asserted_of() -> None:
    kept = Filter(col("k") > 0)
    assert_linear(kept, K, examples=20)
    assert_linear(Filter, examples=20)
    assert_linear(subject_of(kept, K), examples=20)
    assert_linear(kept.meaning(K), K, examples=20)
    assert_bilinear(Join((("k", "v"),)), K, V, examples=20)


def test_a_claim_that_is_wrong_raises_the_smallest_counterexample() -> None:
    with pytest.raises(LawViolation, match="operator_additive does not hold for distinct") as error:
        assert_linear(Distinct(), K)
    assert error.value.counterexample.law.of == "linear"
    with pytest.raises(LawViolation, match="operator_monotone"):
        assert_monotone(Aggregate(("k",), (("n", count()),)), K)


def test_of_a_kind_every_instance_is_asked_whatever_it_claims() -> None:
    with pytest.raises(LawViolation):
        assert_linear(Distinct, examples=20)


def test_a_group_brings_the_groups_that_are_claimed_with_it() -> None:
    def negated(a: ZSet) -> ZSet:
        return -a

    with pytest.raises(LawViolation, match="operator_positive"):
        assert_set_valued(negated, K)


def test_what_every_operator_is_may_be_asserted_too() -> None:
    assert_incremental(Distinct(), K, examples=30)
    assert_causal(Distinct(), K, examples=30)
    assert_lifted(Distinct(), K, examples=30)
    with pytest.raises(LawViolation, match="increment_is_incremental does not hold"):
        assert_incremental(ClaimsToBeLinear(), K)
    with pytest.raises(LawViolation, match=r"increment_merges_ticks|increment_default_agrees"):
        assert_lifted(ClaimsToBeLinear(), K)


def test_an_operator_that_makes_something_of_nothing_is_not_linear_nor_zero_preserving() -> None:
    counts = Aggregate((), (("n", count()),))
    with pytest.raises(LawViolation, match="operator_zero_preserving does not hold"):
        assert_linear(counts, K)
    with pytest.raises(LawViolation, match=r"Q\(0\) = \{\(0\): \+1\}"):
        assert_zero_preserving(counts, K)


def test_what_cannot_be_is_no_pass() -> None:
    with pytest.raises(UsageError, match="it is not so that Q has two inputs"):
        assert_commutative(Distinct(), K)
    with pytest.raises(UsageError, match="lifted says nothing about delay 1"):
        assert_lifted(Delay(1), K)


def test_what_cannot_be_tested_is_no_pass() -> None:
    with pytest.raises(UsageError, match="operator_positive is untested for filter FALSE"):
        assert_positive(Filter(lit(False)), K, examples=10)


def test_a_function_may_say_its_shape_where_all_laws_are_asserted() -> None:
    def doubled(a: ZSet) -> ZSet:
        return a + a

    assert_laws(doubled, K, shape=Shape.LINEAR, examples=20)
    with pytest.raises(UsageError, match="the shape that the function claims is missing"):
        assert_laws(doubled, K)
    with pytest.raises(LawViolation):
        assert_laws(subject_of_function(Distinct().meaning(K), Shape.LINEAR, K), examples=20)


def test_the_laws_of_an_operator_are_a_class_of_tests() -> None:
    tests = laws_as_tests(ClaimsToBeLinear(), K, examples=40)
    names = {name for name in vars(tests) if name.startswith("test_")}
    assert names == {f"test_{law.name}" for law in laws_of(subject_of(Distinct(), K))}
    made = tests()
    made.test_operator_idempotent()
    with pytest.raises(LawViolation, match="increment_is_incremental does not hold"):
        made.test_increment_is_incremental()
    assert "The one claim" in vars(tests)["test_increment_is_incremental"].__doc__


TestDistinct = laws_as_tests(Distinct(), K, examples=20)
TestFilters = laws_as_tests(Filter, examples=10)
