"""Without linearity nothing of it follows; with it, a loop of an operator is linear."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.causality import Operator, lifted_causal
from deltaproof.theorems.calculus.linear import any_lifted
from deltaproof.theorems.calculus.linearity import (
    additive_laws,
    any_bilinear,
    loop_linear,
    on_one_side,
)
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import ProofError, axiom, fresh_symbol, inst

A = any_streams("A")


def test_a_function_that_only_keeps_zero_is_not_odd() -> None:
    f = fresh_symbol("f", A.group.sort, A.group.sort)
    x, y = z3.Consts("x y", A.group.sort)
    zero = axiom("f(0) is 0", z3.ForAll([x, y], f(A.group.zero) == A.group.zero))
    with pytest.raises(ProofError):
        additive_laws("f", A.group, A.group, f, zero)


def test_one_side_of_a_bilinear_function_is_linear_for_each_value_of_the_other() -> None:
    q, left, _ = any_bilinear("Q", A.group, A.group, A.group)
    b = z3.Const("b", A.group.sort)
    linear = on_one_side(left, b, A.group.sort)
    laws = additive_laws("Q(x, b)", A.group, A.group, lambda x: q(x, b), linear)
    assert laws.formula.arg(0).eq(q(A.group.zero, b) == A.group.zero)


def test_the_loop_of_a_lifted_linear_function_is_its_own_increment() -> None:
    linear = any_lifted("f", A, A)
    operator = Operator("f", (A,), A, linear.of)
    loop = loop_linear(linear, lifted_causal(operator))
    d = A.stream("d")
    increment = inst(loop.increment(), d).formula
    assert increment.eq(A.D(loop.of(A.I(d))) == loop.of(d))
