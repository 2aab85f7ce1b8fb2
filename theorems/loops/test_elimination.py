"""δ0 and ∫ say what they are meant to: values that they give, and claims that they refuse."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.streams import after, any_streams
from deltaproof.theorems.kernel import ProofError, inst, prove, unfold
from deltaproof.theorems.loops.elimination import FIRST, Elimination, N, T, by_time, elimination


def any_elimination() -> Elimination:
    return elimination(any_streams("A"))


def test_the_introduced_value_is_there_at_the_first_tick_and_not_later() -> None:
    it = any_elimination()
    at, impulse = it.streams.at, it.introduced(it.x)
    first, later = at(impulse, FIRST), at(impulse, after(T))
    goal = z3.And(first == it.x, later == it.streams.group.zero)
    prove("δ0", goal, unfold([it.streams.space], first, later))


def test_a_value_other_than_zero_is_not_zero_from_the_first_tick_on() -> None:
    it = any_elimination()
    impulse = it.introduced(it.x)
    known = [it.zero_from.unfold(impulse, FIRST), *it.introduced.equations]
    with pytest.raises(ProofError, match="nonzero: "):
        prove("nonzero", it.zero_from(impulse, FIRST), known)


def test_the_sum_of_an_introduced_value_is_no_other_value() -> None:
    it = any_elimination()
    impulse, one_sum = it.introduced(it.x), inst(it.one_sum, it.introduced(it.x), it.x, it.y)
    given = [it.sums_to(impulse, it.x), it.sums_to(impulse, it.y)]
    prove("one sum", it.x == it.y, [one_sum], given)
    with pytest.raises(ProofError):
        prove("any sum", it.x == it.y, [one_sum], given[:1])


def test_induction_over_time_refuses_what_holds_at_the_first_tick_only() -> None:
    it = any_elimination()
    streams, impulse = it.streams, it.introduced(it.x)
    with pytest.raises(ProofError, match=r"constant \[next\]"):
        by_time(
            "constant",
            lambda t: streams.at(impulse, t) == it.x,
            lambda case: unfold([streams.space], streams.at(impulse, case.term)),
        )


def test_a_stream_that_is_zero_from_a_bound_on_rests_there() -> None:
    it = any_elimination()
    formula = inst(it.rests, it.s, N, T).formula
    total = it.streams.I(it.s)
    assert formula.arg(1).eq(it.streams.at(total, T) == it.streams.at(total, N))
