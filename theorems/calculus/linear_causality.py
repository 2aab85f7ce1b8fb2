"""A linear, time-invariant operator cannot look ahead: it is causal, with nothing more assumed.

    s, r agree up to t   ⟹   s - r is zero up to t   ⟹   s - r = z(…z(d)…), t + 1 times
                         ⟹   S(s) - S(r) = z(…z(S(d))…), which is zero up to t

That is so because streams begin: before the first tick there is nothing. A bilinear operator may
still look ahead, since only one of its inputs is zero up to t.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import z3

from deltaproof.theorems.calculus.causality import CAUSAL, Operator, agreement, for_all_ticks
from deltaproof.theorems.calculus.linear import Linear, any_linear
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    after,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Formula,
    Term,
    Thm,
    assume,
    certificate,
    discharge,
    gen,
    induct,
    inst,
    prove,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem

# ---------------------------------------------------------------- linear operators are causal


@dataclass(frozen=True)
class Tail:
    """The stream from the second tick on: what z makes a stream of that begins with zero."""

    streams: Streams

    @cached_property
    def of(self) -> Definition:
        at = self.streams.at
        return self.streams.space.define("tail", [self.streams.sort], lambda t, s: at(s, after(t)))

    def delayed(self) -> Thm:
        """∀ s. s[0] = 0 → z(tail(s)) = s."""
        streams, s = self.streams, self.streams.stream("s")
        empty = assume(streams.at(s, TICK.first) == streams.group.zero)
        left = streams.z(self.of(s))
        everywhere = induct(
            "z(tail(s))[t] = s[t]",
            TICK,
            lambda t: streams.at(left, t) == streams.at(s, t),
            facts=lambda case: [*unfold([streams.space], case.goal), empty],
        )
        same = streams.space.equal("z(tail(s)) = s", left, s, everywhere)
        return gen(discharge("z(tail(s)) = s", empty.formula, same), s)

    def agrees(self) -> Thm:
        """∀ s t. agree(t + 1, s, 0) → s[0] = 0 ∧ agree(t, tail(s), 0)."""
        streams, s = self.streams, self.streams.stream("s")
        here, zero, at = agreement(streams), streams.zero, streams.at
        tail = self.of(s)
        first = at(s, TICK.first) == streams.group.zero

        def claim(t: Term) -> Formula:
            return z3.Implies(here(after(t), s, zero), z3.And(first, here(t, tail, zero)))

        def facts(case: Case) -> list[Thm]:
            ticks = (TICK.first, case.term, after(case.term))
            return [
                here.unfold(case.term, s, zero),
                here.unfold(after(case.term), s, zero),
                here.unfold(case.term, tail, zero),
                *unfold([streams.space], at(tail, case.term), *[at(zero, t) for t in ticks]),
            ]

        return for_all_ticks("agree(t + 1, s, 0) → agree(t, tail(s), 0)", [s], claim, facts)


def causal_of_linear(operator: Linear) -> Thm:
    """∀ s r t. agree(t, s, r) → S(s)[t] = S(r)[t], for linear, time-invariant S.

    Where the input is zero up to t it is t + 1 delays of something, and so is the output.
    """
    source, target, of = operator.source, operator.target, operator.of
    function = Operator(operator.name, (source,), target, of)
    s, r, tick = function.variables
    change = source.add(s, source.neg(r))
    at, plus, zero = target.at, target.group.add, target.group.zero
    same = source.equal("s = (s - r) + r", s, source.add(change, r))
    whole = target.add(of(change), of(r))
    added = prove(
        "S(s)[t] = S(s - r)[t] + S(r)[t]",
        at(of(s), tick) == plus(at(of(change), tick), at(of(r), tick)),
        [same, inst(operator.linear, change, r), *unfold([target.space], at(whole, tick))],
    )
    supposed = assume(function.agree(CAUSAL, tick))
    known = [
        supposed,
        inst(_difference_agrees(source), s, r, tick),
        inst(_zero_until(operator), change, tick),
    ]
    empty = prove("S(s - r)[t] = 0", at(of(change), tick) == zero, known)
    goal = at(of(s), tick) == at(of(r), tick)
    equal = certificate("S(s)[t] = S(r)[t]", target.group, goal, [added, empty])
    proved = discharge(f"{operator.name} is causal", supposed.formula, equal)
    return gen(proved, s, r, tick)


def _zero_until(operator: Linear) -> Thm:
    """∀ d t. agree(t, d, 0) → S(d)[t] = 0."""
    source, target, of = operator.source, operator.target, operator.of
    tail, d, t = Tail(source), source.stream("d"), z3.Const("t", TICK)
    here, rest = agreement(source), tail.of(d)
    begins, goes_on = tail.delayed(), tail.agrees()

    def empty(tick: Term) -> Formula:
        nothing = target.at(of(d), tick) == target.group.zero
        return z3.Implies(here(tick, d, source.zero), nothing)

    def step(case: Case) -> Thm:
        known = [
            here.unfold(case.term, d, source.zero),
            *unfold([source.space], source.at(source.zero, TICK.first)),
            *unfold([target.space], target.at(target.z(of(rest)), case.term)),
            inst(begins, d),
            inst(operator.invariant, rest),
            *[inst(goes_on, d, tick) for tick in case.arguments],
            *[inst(hypothesis, rest) for hypothesis in case.hypotheses],
        ]
        return gen(prove(case.name, empty(case.term), known), d)

    name = f"{operator.name} is zero as long as its input is"
    everywhere = induct(name, TICK, lambda tick: z3.ForAll([d], empty(tick)), step=step)
    return gen(inst(inst(everywhere, t), d), d, t)


@cache
def _difference_agrees(streams: Streams) -> Thm:
    """∀ s r t. agree(t, s, r) → agree(t, s - r, 0)."""
    s, r, here, group = streams.stream("s"), streams.stream("r"), agreement(streams), streams.group
    change = streams.add(s, streams.neg(r))

    def facts(case: Case) -> list[Thm]:
        now, zero = streams.at(r, case.term), streams.at(streams.zero, case.term)
        opposite = group.add(now, group.neg(now)) == group.zero
        return [
            here.unfold(case.term, s, r),
            here.unfold(case.term, change, streams.zero),
            *unfold([streams.space], streams.at(change, case.term), zero),
            certificate("x - x = 0", group, opposite),
        ]

    return for_all_ticks(
        "agree(t, s, r) → agree(t, s - r, 0)",
        [s, r],
        lambda t: z3.Implies(here(t, s, r), here(t, change, streams.zero)),
        facts,
    )


def tomorrow_is_linear() -> Counterexample:
    """S(s)[t] = s[t + 1] is linear, and not causal: it is not time-invariant."""
    s0, s1, r1 = z3.Ints("s0 s1 r1")
    return refute(
        "s[0] = r[0] → S(s)[0] = S(r)[0], with S(s)[t] = s[t + 1]", s1 == r1, show=[s0, s1, r1]
    )


@theorem(
    statement="a linear, time-invariant operator is causal: agree(t, s, r) -> S(s)[t] = S(r)[t]",
    source="beyond the paper: every stream that is zero up to t is t + 1 delays of a stream",
    wrong=(tomorrow_is_linear,),
    abstract="the reference gets its input tick by tick, so no operator of it can look ahead",
)
def linear_causal() -> Thm:
    """So a loop around linear operators needs no proof that it has a solution."""
    return causal_of_linear(any_linear("S", "A", "B"))
