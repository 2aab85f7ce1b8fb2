"""What is built of lifted functions, delays, D and I reads nothing of the future.

lift(f)     causal; time-invariant exactly when f(0) = 0
z           strict, so causal
D, I        causal
G ∘ F       causal, if both are; strict, if one is strict beside; time-invariant, if both are
"""

from __future__ import annotations

import z3

from deltaproof.reference import stream as reference
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    FIRST,
    STRICT,
    Operator,
    Reads,
    agree_earlier,
    agree_now,
    agree_pointwise,
    agreement_before,
    any_operator,
    at_most_reflexive,
    at_most_total,
    at_most_transitive,
    causal_of_strict,
    delay_strict_of,
    lifted_causal,
    pointwise,
)
from deltaproof.theorems.calculus.streams import TICK, any_streams
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Thm,
    assume,
    axiom,
    both,
    discharge,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem


def composed_the_other_way() -> Counterexample:
    x = z3.Int("x")

    def replay(x: int) -> tuple[list[int], list[int]]:
        f, g = reference.lift(lambda v: v + 1), reference.lift(lambda v: 2 * v)
        return reference.lift(lambda v: 2 * v + 1)([x]), g(f([x]))

    claim = 2 * x + 1 == 2 * (x + 1)
    return refute("f(g(x)) = g(f(x)), f adds 1, g doubles", claim, show=[x], replay=replay)


@theorem(
    statement="lift(f o g) = lift(f) o lift(g)",
    source="DBSP (VLDB 2023) proposition 2.4",
    lean="lifting_distributivity",
    wrong=(composed_the_other_way,),
)
def lifting_composes() -> Thm:
    a, b, c = (any_streams(name) for name in "ABC")
    g = fresh_symbol("g", a.group.sort, b.group.sort)
    f = fresh_symbol("f", b.group.sort, c.group.sort)
    s = a.stream("s")
    one, other = b.lift("g", g, a), c.lift("f", f, b)
    whole = c.lift("f o g", lambda value: f(g(value)), a)
    name = "lift(f o g)(s) = lift(f)(lift(g)(s))"
    return gen(pointwise(name, c, whole(s), other(one(s)), [b.space]), s)


def constant_as_time_invariant() -> Counterexample:
    """f(x) = x + c: of the zero before the first tick it makes a c."""
    c = z3.Int("c")

    def replay(c: int) -> tuple[list[int], list[int]]:
        lifted = reference.lift(lambda value: value + c)
        return lifted(reference.delay([0, 0])), reference.delay(lifted([0, 0]))

    name = "f(z(s)) = z(f(s)) at tick 0, f(x) = x + c"
    return refute(name, 0 + c == 0, show=[c], replay=replay)


@theorem(
    statement="lift(f) is time-invariant if and only if f(0) = 0",
    source="DBSP long version (2022) proposition 3.7",
    lean="lifting_time_invariance",
    wrong=(constant_as_time_invariant,),
)
def lifting_time_invariance() -> Thm:
    a, b = any_streams("A"), any_streams("B")
    f = fresh_symbol("f", a.group.sort, b.group.sort)
    lifted, s = b.lift("f", f, a), a.stream("s!0")
    keeps_zero = f(a.group.zero) == b.group.zero
    left, right, spaces = lifted(a.z(s)), b.z(lifted(s)), [a.space, b.space]
    everywhere = induct(
        "f(0) = 0 → f(z(s))[t] = z(f(s))[t]",
        TICK,
        lambda t: z3.Implies(keeps_zero, b.at(left, t) == b.at(right, t)),
        facts=lambda case: unfold(spaces, case.goal),
    )
    equal = [inst(b.space.extensional, left, right), everywhere]
    invariant = prove("f(0) = 0 → f(z(s)) = z(f(s))", left == right, equal, given=[keeps_zero])
    formula = Operator("lift(f)", (a,), b, lifted).invariant()
    supposed = assume(formula)
    nothing = b.at(lifted(a.z(a.zero)), FIRST), b.at(b.z(lifted(a.zero)), FIRST)
    known = [inst(supposed, a.zero), *unfold(spaces, *nothing)]
    zero = discharge("the other way", formula, prove("f(0) = 0", keeps_zero, known))
    return prove("time-invariant iff f(0) = 0", formula == keeps_zero, [gen(invariant, s), zero])


def value_at_the_tick_alone() -> Counterexample:
    """I reads more than the value at the tick."""
    s0, s1, r0, r1 = z3.Ints("s0 s1 r0 r1")

    def replay(s0: int, s1: int, r0: int, r1: int) -> tuple[int, int]:
        return reference.integrate([s0, s1])[1], reference.integrate([r0, r1])[1]

    name = "s[1] = r[1] → I(s)[1] = I(r)[1]"
    claim = s0 + s1 == r0 + r1
    return refute(name, claim, [s1 == r1], show=[s0, s1, r0, r1], replay=replay)


@theorem(
    statement="agreement by recursion on the tick is equality at all i <= t, before t at all i < t",
    source="DBSP (VLDB 2023) definitions 2.7, 2.8",
    lean="agree_upto",
    wrong=(value_at_the_tick_alone,),
)
def agreement_pointwise() -> Thm:
    """The definitions of causal and strict say here what they say in the paper."""
    streams = any_streams("A")
    both_kinds = [agree_pointwise(streams, kind) for kind in (CAUSAL, STRICT)]
    order = (at_most_reflexive(), at_most_transitive(), at_most_total())
    return both("to agree is to be equal at every tick", *both_kinds, *order)


def lifted_as_strict() -> Counterexample:
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[int, int]:
        negated = reference.lift(lambda value: -value)
        return negated([s0])[0], negated([r0])[0]

    return refute("(-s)[0] = (-r)[0] for all s, r", -s0 == -r0, show=[s0, r0], replay=replay)


@theorem(
    statement="lift(f) is causal, for f of one input and of two",
    source="DBSP (VLDB 2023) definition 2.7",
    lean="lifting_causal",
    wrong=(lifted_as_strict,),
)
def lifting_causal() -> Thm:
    a, b, c = (any_streams(name) for name in "ABC")
    f = fresh_symbol("f", a.group.sort, c.group.sort)
    g = fresh_symbol("g", a.group.sort, b.group.sort, c.group.sort)
    return both(
        "lifted operators are causal",
        lifted_causal(Operator("lift(f)", (a,), c, c.lift("f", f, a))),
        lifted_causal(Operator("lift(g)", (a, b), c, c.lift("g", g, a, b))),
    )


def difference_as_strict() -> Counterexample:
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[int, int]:
        return reference.differentiate([s0])[0], reference.differentiate([r0])[0]

    return refute("D(s)[0] = D(r)[0] for all s, r", s0 == r0, show=[s0, r0], replay=replay)


@theorem(
    statement="z is strict",
    source="DBSP (VLDB 2023) definition 2.8",
    lean="delay_strict",
    wrong=(difference_as_strict,),
)
def delay_strict() -> Thm:
    return delay_strict_of(any_streams("A"))


@theorem(
    statement="D, I and z are causal",
    source="DBSP (VLDB 2023) propositions 2.16, 2.19",
    lean="derivative_causal, integral_causal, delay_causal",
    wrong=(value_at_the_tick_alone,),
)
def integrate_causal() -> Thm:
    a = any_streams("A")
    late = Operator("z", (a,), a, a.z)
    strict, difference, integral = delay_strict_of(a), *(
        Operator(name, (a,), a, of) for name, of in (("D", a.D), ("I", a.I))
    )  # fmt: skip
    s, r, space = *late.inputs("s"), *late.inputs("r"), [a.space]

    def values(case: Case) -> list[Thm]:
        now = inst(agree_now(a), s, r, case.term)
        return [now, *unfold(space, *case.goal.children())]

    def delayed(case: Case) -> list[Thm]:
        earlier = inst(agree_earlier(a), s, r, case.term)
        return [*values(case), inst(strict, s, r, case.term), earlier]

    return both(
        "D, I and z are causal",
        difference.proved(CAUSAL, delayed),
        integral.proved(CAUSAL, values),
        causal_of_strict(late, strict),
    )


def causal_as_strict() -> Counterexample:
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[int, int]:
        return reference.integrate([s0])[0], reference.integrate([r0])[0]

    return refute("I(s)[0] = I(r)[0] for all s, r", s0 == r0, show=[s0, r0], replay=replay)


@theorem(
    statement="a strict operator is causal",
    source="DBSP (VLDB 2023) section 2, definition 2.8",
    lean="strict_causal_to_causal",
    wrong=(causal_as_strict,),
)
def strict_is_causal() -> Thm:
    f = any_operator("F", [any_streams("A")], any_streams("B"))
    return causal_of_strict(f, axiom("F is strict", f.reads(STRICT)))


def two_delays_for_one() -> Counterexample:
    """z after z reads further back than z: strict is not all there is to say of it."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        stream = [s0, s1]
        return reference.delay(reference.delay(stream)), reference.delay(stream)

    return refute("z(z(s))[1] = z(s)[1]", s0 == 0, show=[s0, s1], replay=replay)


def causal_after_causal_as_strict() -> Counterexample:
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[int, int]:
        one, other = (reference.integrate(reference.integrate([each])) for each in (s0, r0))
        return one[0], other[0]

    return refute("I(I(s))[0] = I(I(r))[0] for all s, r", s0 == r0, show=[s0, r0], replay=replay)


@theorem(
    statement="G o F is causal if both are, strict if one of them is, time-invariant if both are",
    source="DBSP (VLDB 2023) section 2; long version (2022) lemma 3.10",
    lean="causal_comp_causal, causal_strict_strict, strict_causal_strict",
    wrong=(causal_after_causal_as_strict, two_delays_for_one),
)
def causal_composition() -> Thm:
    a, b, c = (any_streams(name) for name in "ABC")
    f, g = any_operator("F", [a], b), any_operator("G", [b], c)
    composed = Operator("G(F)", (a,), c, lambda s: g.of(f.of(s)))
    causal, strict = (
        {
            each: Reads(each, kind, axiom(f"{each.name} is {word}", each.reads(kind)))
            for each in (f, g)
        }
        for kind, word in ((CAUSAL, "causal"), (STRICT, "strict"))
    )
    late = {each: axiom(f"{each.name} is time-invariant", each.invariant()) for each in (f, g)}
    s = a.stream("s")
    goal = composed.of(a.z(s)) == c.z(composed.of(s))
    inputs = [inst(late[f], s), inst(late[g], f.of(s))]
    return both(
        "what composition keeps",
        composed.composed(CAUSAL, [causal[f], causal[g]]),
        composed.composed(STRICT, [strict[f], causal[g]]),
        composed.composed(STRICT, [causal[f], strict[g]]),
        gen(prove("G(F(z(s))) = z(G(F(s)))", goal, inputs), s),
    )


def second_value_of_the_delay() -> Counterexample:
    s0, s1, r0, r1 = z3.Ints("s0 s1 r0 r1")

    def replay(s0: int, s1: int, r0: int, r1: int) -> tuple[int, int]:
        return reference.delay([s0, s1])[1], reference.delay([r0, r1])[1]

    name = "z(s)[1] = z(r)[1] for all s, r"
    return refute(name, s0 == r0, show=[s0, s1, r0, r1], replay=replay)


def constant_as_zero() -> Counterexample:
    """As printed after definition 2.8; the operator that is always c is strict too."""
    c = z3.Int("c")

    def replay(c: int) -> tuple[int, int]:
        return reference.lift(lambda value: c)([7])[0], 0

    return refute("F(s)[0] = 0, with F(s)[t] = c", c == 0, show=[c], replay=replay)


@theorem(
    statement="the first value of a strict operator is the same for every input",
    source="DBSP (VLDB 2023) section 2, definition 2.8",
    lean="strict_unique_zero",
    wrong=(second_value_of_the_delay, constant_as_zero),
)
def strict_first_value() -> Thm:
    a, b = any_streams("A"), any_streams("B")
    f = any_operator("F", [a], b)
    strict = axiom("F is strict", f.reads(STRICT))
    s, r = a.stream("s"), a.stream("r")
    known = [inst(strict, s, r, FIRST), agreement_before(a).unfold(FIRST, s, r)]
    goal = b.at(f.of(s), FIRST) == b.at(f.of(r), FIRST)
    return gen(prove("F(s)[0] = F(r)[0]", goal, known), s, r)
