"""A feedback loop with a delay in it computes exactly one stream, and reads nothing of the future.

    Q(s) = fix a. T(s, F(a))       T causal, F strict

It exists without an axiom: at tick t it is what t + 1 rounds through the loop make of zeros. It
is the only solution, so whatever else solves the equation is the same stream; that is how z(Q(s))
is seen to be Q(z(s)).
"""

from __future__ import annotations

from functools import cache

import z3

from deltaproof.reference import stream as reference
from deltaproof.theorems.calculus.causal import causal_as_strict
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    STRICT,
    Fixpoint,
    Loop,
    Operator,
    any_operator,
    fixpoint,
)
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import (
    Counterexample,
    Thm,
    axiom,
    both,
    refute,
)
from deltaproof.theorems.registry import theorem

# ---------------------------------------------------------------- theorems


def loop_without_a_delay() -> Counterexample:
    s0, a0, b0 = z3.Ints("s0 a0 b0")

    def replay(s0: int, a0: int, b0: int) -> tuple[int, int]:
        body = reference.lift(lambda s, a: s + a)
        return body([s0], [a0])[0], body([s0], [b0])[0]

    name = "(s + a)[0] = (s + b)[0] for all a, b"
    return refute(name, s0 + a0 == s0 + b0, show=[s0, a0, b0], replay=replay)


@cache
def any_loop() -> Loop:
    """fix a. T(s, F(a)), where nothing is known but that T is causal and F strict."""
    a, b, c = (any_streams(name) for name in "ABC")
    circuit, back = any_operator("T", [a, c], b), any_operator("F", [b], c)
    causal = axiom("T is causal", circuit.reads(CAUSAL))
    strict = axiom("F is strict", back.reads(STRICT))
    return Loop("fix a. T(s, F(a))", circuit, causal, back, strict)


@theorem(
    statement="a -> T(s, F(a)) is strict for causal T, strict F: the body of a loop with a delay",
    source="DBSP long version (2022) lemma 3.15",
    lean="feedback_ckt_body_strict",
    wrong=(loop_without_a_delay,),
)
def feedback_body_strict() -> Thm:
    return any_loop().strict


@cache
def any_strict() -> tuple[Operator, Thm, Fixpoint]:
    """F, of which nothing is known but that it is strict, and its fixpoint."""
    a = any_streams("A")
    f = any_operator("F", [a], a)
    strict = axiom("F is strict", f.reads(STRICT))
    return f, strict, fixpoint("fix F", a, [], f.of, strict)


def fixpoint_of_a_causal_body() -> Counterexample:
    """a = s + a has no solution but for s = 0; I(s) solves it with the delay only."""
    s0 = z3.Int("s0")

    def replay(s0: int) -> tuple[list[int], list[int]]:
        integral = reference.integrate([s0])
        return integral, reference.lift(lambda s, a: s + a)([s0], integral)

    return refute("I(s) solves a = s + a, at tick 0", s0 == s0 + s0, show=[s0], replay=replay)


def fixpoint_that_may_start_anywhere() -> Counterexample:
    """a = z(a) + s[0] at the first tick: other values do not solve it."""
    s0, a0 = z3.Ints("s0 a0")

    def replay(s0: int, a0: int) -> tuple[list[int], list[int]]:
        return [a0], reference.lift(lambda s, a: s + a)([s0], reference.delay([a0]))

    return refute("a = s + z(a) for every a0", a0 == s0, show=[s0, a0], replay=replay)


@theorem(
    statement="a strict F has exactly one fixpoint: a = F(a), built from F(0), F(F(0)), ...",
    source="DBSP (VLDB 2023) proposition 2.9",
    lean="fix_eq, fix_unique",
    wrong=(fixpoint_of_a_causal_body, fixpoint_that_may_start_anywhere),
)
def strict_fixpoint() -> Thm:
    """It exists, without an axiom, and no other stream solves the equation."""
    _, _, fix = any_strict()
    return both("the fixpoint of F", fix.solves, fix.unique)


@theorem(
    statement="Q(s) = fix a. T(s, F(a)) is one operator, and causal, for causal T and strict F",
    source="DBSP (VLDB 2023) lemma 2.10",
    lean="feedback_ckt_unfold, feedback_ckt_causal",
    wrong=(causal_as_strict, loop_without_a_delay),
)
def feedback_causal() -> Thm:
    loop = any_loop()
    return both("feedback", loop.fixpoint.solves, loop.fixpoint.unique, loop.causal())


def loop_that_counts_ticks() -> Counterexample:
    """fix a. s + z(a) + c is I(s + c): at a later start it has counted already."""
    c = z3.Int("c")

    def replay(c: int) -> tuple[list[int], list[int]]:
        more = reference.lift(lambda value: value + c)
        late = reference.integrate(more(reference.delay([0, 0])))
        return late, reference.delay(reference.integrate(more([0, 0])))

    name = "Q(z(s)) = z(Q(s)) at tick 0, Q(s) = fix a. s + z(a) + c"
    return refute(name, 0 + 0 + c == 0, show=[c], replay=replay)


@theorem(
    statement="Q(s) = fix a. T(s, F(a)) is time-invariant if T and F are",
    source="DBSP (VLDB 2023) lemma 2.10",
    lean="feedback_time_invariant",
    wrong=(loop_that_counts_ticks,),
)
def feedback_time_invariant() -> Thm:
    loop = any_loop()
    circuit, back = (
        axiom(f"{each.name} is time-invariant", each.invariant())
        for each in (loop.circuit, loop.back)
    )
    return loop.invariant(circuit, back)
