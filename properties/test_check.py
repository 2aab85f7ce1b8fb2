"""A verdict counts what it tried, a refutation explains itself, and misuse is one clear line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count as counter
from typing import Any

import pytest

from deltaproof.properties.check import (
    LawViolation,
    Proof,
    Report,
    check_law,
    check_laws,
    subject_of_function,
)
from deltaproof.properties.law import GROUPS, Equation, Subject, ZSets, law, subject_of
from deltaproof.properties.laws import laws_of
from deltaproof.properties.laws.claims import operator_commutes
from deltaproof.properties.laws.data import zset_add_commutes
from deltaproof.properties.laws.operators import (
    increment_is_incremental,
    operator_keeps_inputs,
    operator_well_typed,
    operator_zero_preserving,
)
from deltaproof.properties.laws.queries import circuit_is_incremental
from deltaproof.properties.laws.shapes import operator_additive, operator_odd
from deltaproof.reference.errors import EvaluationError, UsageError
from deltaproof.reference.operator import Increment, LinearIncrement, Operator, Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.map import Map
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
        "  with s = [{(0): +1}, {(0): +1}]\n"
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
    assert (verdict.status, verdict.tested) == ("tested", 30)
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


def test_a_refutation_that_does_not_come_back_says_so() -> None:
    clock = counter()

    def wrong_once(a: ZSet) -> ZSet:
        return -a if next(clock) == 20 else a

    verdict = check_law(operator_odd, subject_of_function(wrong_once, Shape.LINEAR, K))
    assert str(verdict).endswith("not every time: the answers depend on more than the inputs")


def test_a_crash_is_a_refutation_that_says_what_was_raised_and_by_which_rows() -> None:
    def crashes(a: ZSet) -> ZSet:
        return ZSet({row: weight + 0 // (weight + 1) for row, weight in a.items()})

    verdict = check_law(operator_odd, subject_of_function(crashes, Shape.LINEAR, K))
    assert verdict.status == "refuted"
    assert verdict.counterexample is not None
    assert verdict.counterexample.kind == "raises ZeroDivisionError"
    sides, data = str(verdict).splitlines()[1:3]
    assert sides.startswith("    it raises ZeroDivisionError: integer division or modulo by zero (")
    assert "test_check.py, line " in sides
    assert data == "  with a = {(0): +1}"


def test_a_crash_does_not_end_the_check_of_the_other_laws() -> None:
    def wants_rows(a: ZSet) -> ZSet:
        return ZSet({max(a): 1})

    report = check_laws(wants_rows, K, shape=GENERAL, examples=20, unclaimed=True)
    found = {each.law.name: each.status for each in report.verdicts}
    assert found["increment_of_zero"] == "refuted"
    assert found["operator_deterministic"] == "refuted"
    assert "operator_zero_preserving" not in found  # Q(0) is not known to be 0
    assert report.worth_claiming == ()


def test_an_operator_that_ends_the_process_is_refuted() -> None:
    def ends(a: ZSet) -> ZSet:
        raise SystemExit(3)

    verdict = check_law(operator_odd, subject_of_function(ends, Shape.LINEAR, K))
    assert str(verdict).splitlines()[1].startswith("    it raises SystemExit: 3")


def test_an_operator_that_spoils_its_input_does_not_spoil_the_counterexample() -> None:
    def eats(a: ZSet) -> ZSet:
        rows = ZSet(dict(a.items()))
        a._weights.clear()
        return rows

    verdict = check_law(operator_keeps_inputs, subject_of_function(eats, Shape.LINEAR, K))
    assert dict(verdict.counterexample.inputs)["a"] == (ZSet({(0,): 1}),)  # type: ignore[union-attr]


def test_an_increment_that_empties_what_it_is_given_is_not_right_by_that() -> None:
    """Both sides would be empty: the one by its answer, the other by what was left of the input."""

    class Swallows(LinearIncrement):
        def __init__(self) -> None:
            def step(delta: ZSet) -> ZSet:
                delta._weights.clear()
                return ZSet()

            super().__init__(step)

    swallows = replace(subject_of(Filter(col("k") > 0), K), increment=Swallows)
    verdict = check_law(increment_is_incremental, swallows)
    assert verdict.counterexample is not None
    assert verdict.counterexample.error.startswith("InputChanged: s was changed by the operator")


def test_an_increment_without_a_value_where_the_meaning_has_one_is_refuted() -> None:
    def step(delta: ZSet) -> ZSet:
        if not delta.is_positive():
            raise EvaluationError("a deletion")
        return delta

    q = subject_of(Filter(col("k") < 99), K)
    refusing = replace(q, increment=lambda: LinearIncrement(step))
    verdict = check_law(increment_is_incremental, refusing)
    assert "Q^D(s)     = no value: a deletion\n    D(Q(I(s))) = [{(0): -1}]" in str(verdict)


@pytest.mark.parametrize("weights", [{(0,): 1.0}, {(0,): 1, ("x",): 1}, {0: 1}], ids=repr)
def test_what_is_no_zset_is_shown_as_it_is(weights: dict[Any, Any]) -> None:
    q = subject_of(Filter(col("k") > 0), K)
    wrong = replace(q, meaning=lambda rows: ZSet.trusted(dict(weights), K))
    assert check_law(operator_additive, wrong).status == "refuted"
    assert "does not hold" in str(check_law(operator_well_typed, wrong))


class CalledLikeOurs(Filter):
    name = "join"


def test_the_laws_of_our_operators_are_not_for_what_only_has_their_name() -> None:
    report = check_laws(CalledLikeOurs(col("k") > 0), K, examples=5)
    assert report.ok
    assert not {"join", "filter"} & {each.law.of for each in report.verdicts}


def test_a_function_is_no_operator_of_a_query() -> None:
    with pytest.raises(UsageError, match="distinct is no operator, and cannot be in a query"):
        check_law(circuit_is_incremental, subject_of_function(Distinct().meaning(K), GENERAL, K))


def test_cases_in_which_an_expression_has_no_value_are_not_counted() -> None:
    inverse = Filter(1 / col("k") > 0.0)
    verdict = check_law(operator_odd, subject_of(inverse, K), examples=40)
    assert (verdict.status, verdict.tested) == ("tested", 40)


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
    laws = [line.split() for line in lines if line.startswith("  ")]
    assert {name for name, *_ in laws} == {law.name for law in laws_of(subject_of(Distinct(), K))}
    assert {status for _, status, *_ in laws} == {"tested"}
    assert ["operator_keeps_inputs", "tested", "10"] in [line[:3] for line in laws]
    groups = [line.partition(":")[0] for line in lines[1:] if not line.startswith(" ")]
    assert groups[:4] == ["operator", "causal", "time_invariant", "lifted"]  # the widest first
    assert groups[-1] == "distinct"


def test_a_law_of_which_no_case_can_be_drawn_is_vacuous() -> None:
    verdict = check_law(operator_commutes, Filter, examples=5)
    assert (verdict.status, verdict.tested) == ("vacuous", 0)
    assert str(verdict) == "operator_commutes is untested for filter: no case could be drawn"


def test_a_law_without_data_is_tried_once() -> None:
    assert check_law(operator_zero_preserving, subject_of(Distinct(), K)).tested == 1


@dataclass(frozen=True)
class Silent(Distinct):
    """DISTINCT that does not say what else it is."""

    def claims(self) -> tuple[str, ...]:
        return ()


def test_what_holds_without_being_claimed_is_worth_claiming() -> None:
    report = check_laws(Silent(), K, examples=60, unclaimed=True)
    assert report.ok
    assert {"positive", "set_valued", "monotone", "idempotent"} <= set(report.worth_claiming)
    assert {"linear", "scales", "strict"}.isdisjoint(report.worth_claiming)
    assert "  idempotent       WORTH CLAIMING: does nothing the second time (1 law" in str(report)


def test_what_is_not_claimed_and_does_not_hold_is_no_failure_and_keeps_its_counterexample() -> None:
    report = check_laws(Distinct(), K, examples=60, unclaimed=True)
    report.check()
    (linear,) = report.unclaimed["linear"]
    assert (linear.status, linear.claimed, report.ok) == ("refuted", False, True)
    assert linear.counterexample is not None
    assert "  linear           refuted after" in str(report)


def test_what_is_wrong_on_many_rows_only_is_not_worth_claiming() -> None:
    limited = subject_of_function(lambda a: ZSet(dict(sorted(a.items())[:5])), GENERAL, K)
    worth = check_laws(limited, unclaimed=True).worth_claiming
    assert "linear" not in worth
    assert "positive" in worth


def test_a_group_is_not_worth_claiming_when_one_that_it_is_within_is_refuted() -> None:
    def negated(a: ZSet) -> ZSet:
        return -a

    report = check_laws(negated, K, shape=Shape.LINEAR, examples=60, unclaimed=True)
    assert "positive" not in report.worth_claiming
    assert {"set_valued", "monotone"}.isdisjoint(report.worth_claiming)


def test_a_filter_that_keeps_nothing_is_told_to_claim_nothing() -> None:
    report = check_laws(Filter(lit(False)), K, examples=20, unclaimed=True)
    assert report.worth_claiming == ()


def test_of_a_kind_the_report_says_how_many_instances_claim_a_group() -> None:
    report = check_laws(Map, examples=10, unclaimed=True)
    some, all_of_them = report.claiming["generic"]
    assert 0 < some < all_of_them == report.claiming["positive"][0]
    assert f"generic: {GROUPS['generic'].says} ({some} of {all_of_them} random" in str(report)


def test_a_law_may_be_asked_for_by_name_claimed_or_not() -> None:
    report = check_laws(Distinct(), K, laws=[operator_additive, operator_zero_preserving])
    assert [(each.law.name, each.status) for each in report.claimed] == [
        ("operator_additive", "refuted"),
        ("operator_zero_preserving", "tested"),
    ]


def test_a_proof_beats_a_test_and_a_counterexample_beats_a_proof() -> None:
    tested = check_law(operator_additive, subject_of(Filter(col("k") > 0), K), examples=20)
    proof = Proof("all weights of 2 rows", 0.2)
    assert replace(tested, proof=proof).status == "proved"
    assert str(replace(tested, proof=proof)).endswith("k > 0: all weights of 2 rows (0.2 s)")
    wrong = check_law(operator_additive, subject_of_function(Distinct().meaning(K), GENERAL, K))
    assert replace(wrong, proof=proof).status == "refuted"
    untold = check_law(operator_additive, subject_of(Filter(lit(False)), K), examples=20)
    assert (untold.status, replace(untold, proof=proof).status) == ("vacuous", "proved")


def test_the_proofs_are_listed_once_below_the_table() -> None:
    tested = check_law(operator_additive, subject_of(Filter(col("k") > 0), K), examples=20)
    proved = replace(tested, proof=Proof("all weights of 2 rows; a theorem, unbounded", 0.2))
    text = str(Report((proved, replace(proved, law=operator_odd))))
    assert text.count("all weights of 2 rows") == 1
    assert "   1  all weights of 2 rows\n      a theorem, unbounded" in text
    assert (
        Report((proved,)).summary() == "1 laws: 1 proved in scope, 0 tested, 0 refuted, 0 vacuous"
    )


class NotDeclared(Distinct):
    """An operator whose schema rule is not finished."""

    def output(self, *inputs: Schema) -> Schema:
        raise KeyError("todo")


def test_a_declaration_that_is_broken_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match=r"distinct over \(k BIGINT NOT NULL\) cannot be declared"):
        check_laws(NotDeclared(), K)


def test_what_is_no_operator_and_no_function_is_refused() -> None:
    with pytest.raises(UsageError, match="expected an operator, a kind of operator"):
        check_laws(7, K)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_a_kind_of_operator_is_checked_on_random_instances(kind: type[Operator]) -> None:
    assert check_law(increment_is_incremental, kind, examples=10).status == "tested"


def test_an_operator_without_its_schemas_is_refused() -> None:
    with pytest.raises(UsageError, match="the schemas of the inputs are missing"):
        check_laws(Distinct())


def test_a_function_without_its_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="the shape that the function claims is missing"):
        check_laws(lambda a: a, K)


def test_a_law_of_operators_without_an_operator_is_refused() -> None:
    with pytest.raises(UsageError, match="operator_odd is a law of operators: say which"):
        check_law(operator_odd)
