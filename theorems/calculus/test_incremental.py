"""The proofs about increments use their hypotheses: without them they fail."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.causality import CAUSAL, any_operator
from deltaproof.theorems.calculus.incremental import (
    Inputs,
    Operators,
    causal_increment,
    causal_pointwise,
    increment_operator,
    joined,
    present,
    units_of,
)
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import ProofError, axiom

A, B = any_streams("A"), any_streams("B")


def test_an_operator_is_not_its_increment() -> None:
    operators = Operators(A, B)
    q = z3.Const("Q", operators.sort)
    with pytest.raises(ProofError):
        operators.equal("Q^Δ = Q", operators.increment(q), q, lambda s: [])


def test_an_operator_is_the_increment_of_what_has_it_as_increment() -> None:
    operators = Operators(A, A)
    q, s = z3.Const("Q", operators.sort), A.stream("s")
    unfolded = operators.increment.unfold(s, q).formula
    assert unfolded.arg(1).eq(A.D(operators.at(q, A.I(s))))


def test_units_are_in_the_order_that_is_said() -> None:
    names = [each.name for each in units_of(A)]
    assert names == ["id^Δ = id", "+^Δ = +", "-^Δ = -", "z^Δ = z", "I^Δ = I", "D^Δ = D"]


def test_the_increment_of_an_operator_with_two_inputs_integrates_both() -> None:
    operator = any_operator("T", (A, B), B)
    d, e = A.stream("d"), B.stream("e")
    assert increment_operator(operator).of(d, e).eq(B.D(operator.of(A.I(d), B.I(e))))


def test_an_increment_is_causal_only_for_a_theorem_that_says_so_of_the_query() -> None:
    query = any_operator("Q", (A,), B)
    s, r, t = query.variables
    nothing = z3.ForAll([s, r, t], B.at(query.of(s), t) == B.at(query.of(s), t))
    with pytest.raises(ProofError, match="causal"):
        causal_increment(query, axiom("nothing of Q", nothing))
    causal = causal_increment(query, axiom("Q is causal", query.reads(CAUSAL)))
    assert causal.formula.eq(increment_operator(query).reads(CAUSAL))


def test_an_operator_of_which_nothing_is_known_is_not_pointwise() -> None:
    with pytest.raises(ProofError, match="Q is causal"):
        causal_pointwise(any_operator("Q", (A,), A))


def test_a_list_of_streams_is_mapped_one_by_one() -> None:
    inputs = Inputs(A)
    s, r = A.stream("s"), A.stream("r")
    unfolded = inputs.z.unfold(inputs.list(s, r)).formula.arg(1)
    assert unfolded.eq(inputs.some(A.z(s), inputs.z(inputs.list(r))))


def test_the_join_of_one_row_tables_multiplies_weights() -> None:
    assert (joined(2), joined(2, 3), joined(2, 3, 0)) == (2, 6, 0)


def test_distinct_of_a_row_is_its_presence() -> None:
    assert [present(weight) for weight in (-1, 0, 1, 2)] == [0, 0, 1, 1]
