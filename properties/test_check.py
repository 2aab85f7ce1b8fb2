"""A verdict counts what it tried, a refutation explains itself, and misuse is one clear line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count as counter

import pytest

from deltaproof.properties.check import (
    LawViolation,
    check_law,
    check_laws,
    subject_of_function,
)
from deltaproof.properties.law import Equation, Subject, ZSets, law, subject_of
from deltaproof.properties.laws import laws_of
from deltaproof.properties.laws.data import zset_add_commutes
from deltaproof.properties.laws.operators import increment_is_incremental, operator_zero_preserving
from deltaproof.properties.laws.queries import circuit_is_incremental
from deltaproof.properties.laws.shapes import operator_additive, operator_odd
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Increment, LinearIncrement, Operator, Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.query import count
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

K = Schema.parse("k BIGINT NOT NULL")
GENERAL = Shape.GENERAL


class ClaimsToBeLinear(Distinct):
    """DISTINCT with the increment of a linear operator."""

    def increment(self, *inputs: Schema) -> Increment:
        return LinearIncrement(self.meaning(*inputs))


def test_a_refuted_increment_shows_the_first_tick_that_differs() -> None:
    verdict = check_law(increment_is_incremental, subject_of(ClaimsToBeLinear(), K))
    assert str(verdict) == (
        "increment_is_incremental does not hold for distinct over (k BIGINT NOT NULL)\n"
        "  at t = 1, the first difference:\n"
        "    Q^D(s)     = {(0): +1}\n"
        "    D(Q(I(s))) = 0\n"
        "  with s = [{(0): +1}, {(0): +1}, 0, 0]\n"
        "  the law: Q^D(s) = D(Q(I(s)))\n"
        "  why it matters: The one claim: maintained and recomputed are the same view, "
        "at every tick.\n"
        "  source: DBSP (VLDB 2023) definition 3.1; Lean: incremental"
    )


def test_a_refuted_query_shows_its_tree() -> None:
    verdict = check_law(circuit_is_incremental, subject_of(ClaimsToBeLinear(), K))
    assert str(verdict).startswith(
        "circuit_is_incremental does not hold for the query\n    distinct\n    └─ t0\n  at t = 1"
    )


def test_a_refutation_is_raised_as_an_error() -> None:
    claimed = subject_of_function(Distinct().meaning(K), Shape.LINEAR, K)
    with pytest.raises(LawViolation, match="increment_is_incremental does not hold"):
        check_laws(claimed, examples=20).check()


def test_a_law_that_holds_raises_nothing() -> None:
    verdict = check_law(zset_add_commutes, examples=30)
    verdict.check()
    assert (verdict.status, verdict.tested) == ("holds", 30)
    assert verdict.telling_share > 0.5


def test_the_same_check_gives_the_same_verdict() -> None:
    assert check_law(operator_odd, Filter) == check_law(operator_odd, Filter)


def test_a_filter_that_keeps_nothing_leaves_its_laws_untested() -> None:
    verdict = check_law(operator_additive, subject_of(Filter(lit(False)), K), examples=20)
    assert verdict.status == "vacuous"
    assert (
        str(verdict) == "operator_additive is untested for filter FALSE: all 20 cases are vacuous"
    )


def test_an_aggregate_without_keys_is_exempt_from_zero_preservation_by_its_meaning() -> None:
    without_keys = subject_of(Aggregate((), (("n", count()),)), K)
    with_keys = subject_of(Aggregate(("k",), (("n", count()),)), K)
    assert without_keys.meaning(ZSet()) == ZSet({(0,): 1})
    assert operator_zero_preserving not in laws_of(without_keys)
    assert operator_zero_preserving in laws_of(with_keys)


def test_a_linear_operator_cannot_be_exempt_from_zero_preservation() -> None:
    def with_a_row(a: ZSet) -> ZSet:
        return a + ZSet({(1,): 1})

    report = check_laws(with_a_row, K, shape=Shape.LINEAR, examples=20)
    statuses = {each.law.name: each.status for each in report.verdicts}
    assert statuses["operator_zero_preserving"] == "refuted"
    assert not report.ok


def test_an_answer_that_depends_on_more_than_the_input_is_refuted() -> None:
    clock = counter()

    def now(a: ZSet) -> ZSet:
        return ZSet({(*row, next(clock)): weight for row, weight in a.items()})

    assert check_law(operator_odd, subject_of_function(now, Shape.LINEAR, K)).status == "refuted"


def test_an_implementation_that_crashes_is_shown_with_what_it_crashed_on() -> None:
    def crashes(a: ZSet) -> ZSet:
        return ZSet({row: 1 // (weight + 1) for row, weight in a.items()})

    with pytest.raises(ZeroDivisionError) as raised:
        check_law(operator_odd, subject_of_function(crashes, Shape.LINEAR, K))
    assert "while checking operator_odd with q = crashes, a = {(0): +1}" in raised.value.__notes__


def test_a_function_is_no_operator_of_a_query() -> None:
    with pytest.raises(UsageError, match="distinct is no operator, and cannot be in a query"):
        check_law(circuit_is_incremental, subject_of_function(Distinct().meaning(K), GENERAL, K))


def test_cases_in_which_an_expression_has_no_value_are_not_counted() -> None:
    inverse = Filter(1 / col("k") > 0.0)
    verdict = check_law(operator_odd, subject_of(inverse, K), examples=40)
    assert verdict.status == "holds"


@law("even", "Q(a) + Q(a) = 2 Q(a)", source="this test")
def even_doubles(q: Subject, a: ZSets) -> Equation:
    """An operator may bring a law of its own."""
    return Equation(q.meaning(*a) + q.meaning(*a), q.meaning(*a).scale(2))


@dataclass(frozen=True)
class WithALawOfItsOwn(Distinct):
    laws = (even_doubles,)


def test_an_operator_brings_laws_of_its_own() -> None:
    assert laws_of(WithALawOfItsOwn()) == (*laws_of(Distinct), even_doubles)
    assert check_laws(WithALawOfItsOwn(), K, examples=10).ok


def test_the_report_is_a_table_of_law_and_verdict() -> None:
    report = check_laws(Distinct(), K, examples=10)
    heading, *lines = str(report).splitlines()
    assert heading.split() == ["law", "verdict", "cases", "telling"]
    assert len(lines) == len(laws_of(subject_of(Distinct(), K)))
    assert lines[0].split()[:3] == ["operator_row_order_free", "holds", "10"]


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_a_kind_of_operator_is_checked_on_random_instances(kind: type[Operator]) -> None:
    assert check_law(increment_is_incremental, kind, examples=10).status == "holds"


def test_an_operator_without_its_schemas_is_refused() -> None:
    with pytest.raises(UsageError, match="the schemas of the inputs are missing"):
        check_laws(Distinct())


def test_a_function_without_its_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="the shape that the function claims is missing"):
        check_laws(lambda a: a, K)


def test_a_law_of_operators_without_an_operator_is_refused() -> None:
    with pytest.raises(UsageError, match="operator_odd is a law of operators: say which"):
        check_law(operator_odd)
