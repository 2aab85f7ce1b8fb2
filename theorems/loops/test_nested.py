"""The two clocks on matrices, and on streams of streams."""

from __future__ import annotations

import pytest
import z3

from deltaproof.reference.stream import delay, differentiate, integrate
from deltaproof.theorems.calculus.streams import TICK, any_streams
from deltaproof.theorems.kernel import ProofError, axiom, fresh_symbol, inst, prove
from deltaproof.theorems.loops.nested import (
    Transposed,
    by_iteration,
    by_tick,
    passes_difference,
    passes_integral,
    reads_earlier_iterations,
    square,
    two_times,
    unknowns,
    value,
)
from deltaproof.theorems.loops.nested_increments import entered_at, joined_at

MATRIX = [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]  # s[t][i] = 2t + i, as in the long version


def test_the_clocks_on_the_matrix_of_the_paper() -> None:
    assert by_tick(delay, MATRIX) == [[0, 0, 0, 0], [0, 1, 2, 3], [2, 3, 4, 5]]
    assert by_iteration(delay, MATRIX) == [[0, 0, 1, 2], [0, 2, 3, 4], [0, 4, 5, 6]]
    assert by_tick(integrate, MATRIX)[2] == [6, 9, 12, 15]
    assert by_iteration(differentiate, by_tick(differentiate, MATRIX))[1] == [2, 0, 0, 0]


def test_unknowns_fill_a_square() -> None:
    assert str(square(*unknowns("s"))) == "[[s00, s01], [s10, s11]]"


def test_what_commutes_with_d_commutes_with_i() -> None:
    times = two_times(any_streams("A"))
    s, outer = times.outer.stream("s"), times.outer
    here = inst(passes_integral(times.z), s).formula
    assert here.eq(outer.I(times.z.of(s)) == times.z.of(outer.I(s)))
    assert inst(passes_difference(times.z), s).formula.arg(0).eq(outer.D(times.z.of(s)))


def test_transposing_twice_changes_nothing() -> None:
    inner = any_streams("A")
    turned = Transposed(inner)
    s, (t, i) = turned.outer.stream("s"), z3.Consts("t i", TICK)
    (here,) = turned.values(s, i, t)
    assert here.formula.eq(value(inner, turned.of(s), i, t) == value(inner, s, t, i))
    prove("s", turned.of(turned.of(s)) == s, [inst(turned.twice(), s)])


def test_only_a_strict_operator_has_a_fixpoint() -> None:
    """The identity reads its own iteration: the theorem that it is strict cannot be had."""
    inner = any_streams("A")
    with pytest.raises(ProofError):
        prove("strict", reads_earlier_iterations(inner, lambda s: s))
    F = fresh_symbol("F", *[Transposed(inner).outer.sort] * 2)
    strict = axiom("F is strict", reads_earlier_iterations(inner, F))
    assert Transposed(inner).fixpoint("fix", F, strict).symbol() is not None


def test_rows_meet_at_the_later_tick_and_iteration() -> None:
    assert joined_at([2, 0, 0, 0], [0, 0, 0, 3]) == 6
    assert joined_at([0, 0, 0, 2], [0, 0, 0, 3]) == 6
    assert joined_at([2, 0, 0, 0], [3, 0, 0, 0]) == 0


def test_a_row_that_comes_a_round_earlier_leaves_the_later_round() -> None:
    assert entered_at([[0, 1], [1, 0]]) == -1
    assert entered_at([[0, 0], [0, 1]]) == 1
    assert entered_at([[1, 0], [0, 1]]) == 0
