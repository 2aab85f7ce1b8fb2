"""Delta joins are proved from linearity, delays and time-invariance: without one they fail."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from deltaproof.theorems.calculus.multilinear import (
    Multilinear,
    any_bilinear_operator,
    integral_unrolled,
)
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import ProofError, Term, prove

A = any_streams("A")


class WithoutDelays(Multilinear):
    """Every other input as it is after the tick."""

    def before(self, ds: Term) -> Term:
        return self.inputs.I(ds)


def test_a_join_of_n_without_delays_has_no_such_increment() -> None:
    with pytest.raises(ProofError, match="telescope"):
        WithoutDelays(A).increment()


def test_one_input_is_its_own_increment() -> None:
    """The sum for one input has one term: the delta."""
    join = Multilinear(A)
    d, inputs = A.stream("d"), join.inputs
    one = join.terms(inputs.list(d), inputs.none)
    lists = [*join.terms.equations, *join.plug.equations, *inputs.I.equations, *inputs.z.equations]
    proved = prove("one term", one == A.add(join.of(inputs.list(d)), A.zero), lists)
    assert [each.verdict for each in proved.queries] == ["unsat"]


def test_three_inputs_follow_from_n() -> None:
    assert str(Multilinear(A).of_three()) == "⊢ three inputs"


def test_a_bilinear_operator_has_to_be_time_invariant() -> None:
    operator = any_bilinear_operator("Q", A, A, A)
    with pytest.raises(ProofError):
        replace(operator, invariant=operator.on_the_left).increment()


def test_both_forms_of_the_increment_are_proved() -> None:
    operator = any_bilinear_operator("Q", A, A, A)
    two, three = operator.increment(), operator.increment_of_deltas()
    assert z3.is_quantifier(two.formula)
    assert two.formula.body().arg(0).eq(three.formula.body().arg(0))


def test_the_integral_is_the_delta_and_the_integral_before() -> None:
    d = A.stream("d")
    unrolled = z3.ForAll([d], A.I(d) == A.add(d, A.z(A.I(d))))
    assert integral_unrolled(A).formula.eq(unrolled)
