"""Linear operators are causal because they are time-invariant: without it the proof fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deltaproof.theorems.calculus.causality import CAUSAL, Operator
from deltaproof.theorems.calculus.linear import any_linear
from deltaproof.theorems.calculus.linear_causality import Tail, causal_of_linear
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import ProofError


def test_what_is_proved_is_causality() -> None:
    linear = any_linear("S", "A", "B")
    operator = Operator("S", (linear.source,), linear.target, linear.of)
    assert causal_of_linear(linear).formula.eq(operator.reads(CAUSAL))


def test_a_linear_operator_that_is_not_time_invariant_may_look_ahead() -> None:
    linear = any_linear("S", "A", "B")
    with pytest.raises(ProofError):
        causal_of_linear(replace(linear, invariant=linear.linear))


def test_a_stream_is_its_delayed_tail_only_if_it_begins_with_zero() -> None:
    streams = any_streams("A")
    s = streams.stream("s")
    delayed = Tail(streams).delayed()
    assert delayed.formula.body().num_args() == 2
    with pytest.raises(ProofError):
        streams.equal("z(tail(s)) = s", streams.z(Tail(streams).of(s)), s)
