"""What is proved of causal and strict operators is not proved of others."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    STRICT,
    Loop,
    Operator,
    Reads,
    agree,
    agree_now,
    any_operator,
    causal_formula,
    delay_strict_of,
    fixpoint,
    lifted_causal,
    pointwise,
    strict_formula,
)
from deltaproof.theorems.calculus.streams import TICK, after, any_streams
from deltaproof.theorems.kernel import Case, ProofError, Thm, axiom, axioms, inst, prove, unfold

A = any_streams("A")
PLUS = Operator("+", (A, A), A, A.add.symbol)


def unfolded(case: Case) -> list[Thm]:
    return unfold([A.space], *case.goal.children())


def test_streams_that_agree_up_to_a_tick_may_differ_at_the_next() -> None:
    s, r, t = A.stream("s"), A.stream("r"), z3.Const("t", TICK)
    given, later = [agree(A, t, s, r)], A.at(s, after(t)) == A.at(r, after(t))
    with pytest.raises(ProofError, match="does not hold"):
        prove("later", later, [inst(agree_now(A), s, r, t)], given=given)


def test_an_operator_that_looks_ahead_is_not_causal() -> None:
    ahead = A.space.define("ahead", [A.sort], lambda t, s: A.at(s, after(t)))
    with pytest.raises(ProofError, match="looking ahead is causal"):
        lifted_causal(Operator("looking ahead", (A,), A, ahead))


def test_the_identity_is_causal_but_not_strict() -> None:
    same = Operator("id", (A,), A, lambda s: s)
    lifted_causal(same)
    with pytest.raises(ProofError, match="id is strict"):
        same.proved(STRICT, unfolded)


def test_the_formulas_are_those_that_proofs_have() -> None:
    assert delay_strict_of(A).formula.eq(strict_formula(A, A.z))
    assert lifted_causal(PLUS).formula.eq(causal_formula([A, A], A, A.add))


def test_a_composition_is_as_strict_as_its_parts_are() -> None:
    late_sum = Operator("s + z(s)", (A,), A, lambda s: A.add(s, A.z(s)))
    late = Operator("z", (A,), A, A.z.symbol)
    parts = [Reads(PLUS, CAUSAL, lifted_causal(PLUS)), Reads(late, STRICT, delay_strict_of(A))]
    late_sum.composed(CAUSAL, parts)
    with pytest.raises(ProofError, match="is strict"):
        late_sum.composed(STRICT, parts)
    with pytest.raises(ProofError, match="is causal"):
        late_sum.composed(CAUSAL, parts[:1])


def test_a_fixpoint_needs_the_theorem_that_its_body_is_strict() -> None:
    with pytest.raises(ProofError, match="does not say that the body is strict"):
        fixpoint("fix id", A, [], lambda a: a, delay_strict_of(A))


def test_a_fixpoint_assumes_no_more_than_that_streams_are_functions() -> None:
    fix = fixpoint("fix z", A, [], A.z, delay_strict_of(A))
    assert axioms(fix.solves, fix.unique) == ("streams of A: equal everywhere is equal",)


def test_a_loop_takes_more_than_one_input() -> None:
    three = Operator("s + r + a", (A, A, A), A, lambda s, r, a: A.add(A.add(s, r), a))
    loop = Loop("Q", three, lifted_causal(three))
    assert loop.causal().formula.eq(loop.operator.reads(CAUSAL))
    s, r = A.stream("s"), A.stream("r")
    q = loop.operator.of(s, r)
    solved = inst(loop.fixpoint.solves, s, r).formula
    assert solved.eq(q == A.add(A.add(s, r), A.z(q)))


def test_a_loop_that_does_not_delay_is_refused() -> None:
    same = Operator("id", (A,), A, lambda s: s)
    with pytest.raises(ProofError):
        Loop("Q", PLUS, lifted_causal(PLUS), same, delay_strict_of(A))


def test_a_loop_of_an_operator_that_looks_ahead_is_refused() -> None:
    ahead = any_operator("ahead", [A, A], A)
    says_nothing = axiom("ahead is itself", z3.BoolVal(True))
    with pytest.raises(ProofError):
        Loop("Q", ahead, says_nothing)


def test_streams_that_differ_at_a_tick_are_not_equal() -> None:
    with pytest.raises(ProofError, match="at t: does not hold"):
        pointwise("s + s = s", A, A.add(A.stream("s"), A.stream("s")), A.stream("s"))
