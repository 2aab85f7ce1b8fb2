"""The loops of `iteration` compute what they are said to, on a body that is known."""

from __future__ import annotations

import pytest
import z3

from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import after, any_streams
from deltaproof.theorems.kernel import ProofError, inst, prove
from deltaproof.theorems.loops.elimination import FIRST
from deltaproof.theorems.loops.iteration import Iteration, alternating, any_iteration, paths


def test_two_rounds_apply_the_body_twice() -> None:
    it = any_iteration()
    i, at, zero = it.i, it.outputs.at, it.outputs.group.zero
    known = [inst(it.approximations, i, after(FIRST)), *it.powers(FIRST, after(FIRST))]
    goal = at(it.output(i), after(FIRST)) == it.body(i, it.body(i, zero))
    prove("o[1] = R(R(0))", goal, known)
    with pytest.raises(ProofError):
        prove("o[1] = R(0)", at(it.output(i), after(FIRST)) == it.body(i, zero), known)


def test_a_body_that_is_the_input_rests_after_one_round() -> None:
    streams = any_streams("A")
    it = Iteration(streams, streams, lambda i, o: i)
    one = after(FIRST)
    rest = z3.substitute(it.at_rest(FIRST), (FIRST, one))
    known = [prove("R^2(0) = R^1(0)", rest, it.powers(FIRST, one)), inst(it.result, it.i, one)]
    total = it.out.sums_to(streams.D(it.output(it.i)), it.i)
    prove("∫ D(o) = i", total, [*known, *it.powers(FIRST)])


def test_the_paths_of_a_chain() -> None:
    edges = ZSet({(1, 2): 1, (2, 3): 1})
    assert paths().meaning()({"edges": edges}) == ZSet({(1, 2): 1, (2, 3): 1, (1, 3): 1})


def test_a_path_of_two_colours_begins_with_the_first() -> None:
    tables = {"blue": ZSet({(1, 2): 1}), "red": ZSet({(2, 3): 1})}
    assert alternating("red").meaning()(tables) == ZSet({(2, 3): 1})
    assert alternating("blue").meaning()(tables) == ZSet({(1, 2): 1, (1, 3): 1})
