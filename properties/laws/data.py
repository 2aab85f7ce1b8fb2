"""Z-sets are a module over the integers; I and D are inverse, linear, causal and time-invariant."""

from __future__ import annotations

from deltaproof.properties.law import Equation, Factor, Stream, Tick, law
from deltaproof.properties.laws.words import plus, spliced
from deltaproof.reference.stream import delay, differentiate, integrate, lift
from deltaproof.reference.zset import ZSet

# ── Z-sets are an abelian group, and a module over the integers ─────────────────────────────

GROUP = "DBSP (VLDB 2023) section 4; Lean: zset_group"


@law("zset", "(a + b) + c = a + (b + c)", source=GROUP)
def zset_add_associative(a: ZSet, b: ZSet, c: ZSet) -> Equation:
    """A batch of changes may be cut anywhere."""
    return Equation((a + b) + c, a + (b + c))


@law("zset", "a + b = b + a", source=GROUP)
def zset_add_commutes(a: ZSet, b: ZSet) -> Equation:
    """The order in which changes arrive within a tick means nothing."""
    return Equation(a + b, b + a)


@law("zset", "a + 0 = a", source=GROUP)
def zset_zero_identity(a: ZSet) -> Equation:
    """A tick without changes changes nothing."""
    return Equation(a + ZSet(), a)


@law("zset", "a + (-a) = 0", source=GROUP)
def zset_negate_inverse(a: ZSet) -> Equation:
    """Whatever was inserted can be deleted, and then nothing of it is left."""
    return Equation(a + (-a), ZSet())


@law("zset", "a - b = a + (-b)", source=GROUP)
def zset_subtract_adds_negation(a: ZSet, b: ZSet) -> Equation:
    """The change from b to a, when added to b, gives a."""
    return Equation(a - b, a + (-b))


@law("zset", "n(a + b) = na + nb", source=GROUP)
def zset_scale_distributes(a: ZSet, b: ZSet, n: Factor) -> Equation:
    """Weights multiply in a join, and must do so row by row."""
    return Equation((a + b).scale(n), a.scale(n) + b.scale(n))


@law("zset", "(n + m)a = na + ma", source=GROUP)
def zset_scale_adds(a: ZSet, n: Factor, m: Factor) -> Equation:
    """A row of weight 2 is that row twice."""
    return Equation(a.scale(n + m), a.scale(n) + a.scale(m))


@law("zset", "n(ma) = (nm)a", source=GROUP)
def zset_scale_associative(a: ZSet, n: Factor, m: Factor) -> Equation:
    """Whoever doubles and then triples has done it six times."""
    return Equation(a.scale(m).scale(n), a.scale(n * m))


@law("zset", "-1 a = -a", source=GROUP)
def zset_scale_negates(a: ZSet) -> Equation:
    """To delete is to insert minus once."""
    return Equation(a.scale(-1), -a)


@law("zset", "ZSet(entries of a and of b) = a + b", source=GROUP)
def zset_entries_add_up(a: ZSet, b: ZSet) -> Equation:
    """Two Z-sets are the same change exactly when they are equal, however they were written."""
    return Equation(ZSet([*a.items(), *b.items()]), a + b)


# ── Streams: I and D are inverse, linear, causal and time-invariant ─────────────────────────

INVERSE = "DBSP (VLDB 2023) theorem 2.20; Lean: integral_derivative, derivative_integral"
I_LTI = "DBSP (VLDB 2023) proposition 2.19; Lean: integral_lti"
D_LTI = "DBSP (VLDB 2023) proposition 2.16; Lean: derivative_lti"


@law("stream", "D(I(s)) = s", source=INVERSE)
def integrate_differentiate_inverse(s: Stream) -> Equation:
    """The changes can be read off the contents."""
    return Equation(differentiate(integrate(s)), s)


@law("stream", "I(D(s)) = s", source=INVERSE)
def differentiate_integrate_inverse(s: Stream) -> Equation:
    """The contents can be rebuilt from the changes: nothing is lost by sending only those."""
    return Equation(integrate(differentiate(s)), s)


@law(
    "stream", "I(s) = s + z(I(s))", source="DBSP (VLDB 2023) definition 2.17; Lean: integral_unfold"
)
def integrate_recursive(s: Stream) -> Equation:
    """The contents now are the contents before plus the change: one addition per tick is enough."""
    before = delay(integrate(s))
    return Equation(integrate(s), lift(plus)(s, before))


@law("stream", "D(s) = s - z(s)", source="DBSP (VLDB 2023) definition 2.15; Lean: D")
def differentiate_definition(s: Stream) -> Equation:
    """The change is now minus before, and everything is new at the first tick."""
    return Equation(
        differentiate(s), [now - before for now, before in zip(s, delay(s), strict=True)]
    )


@law("stream", "I(s + r) = I(s) + I(r)", source=I_LTI)
def integrate_additive(s: Stream, r: Stream) -> Equation:
    """Contents may be kept in parts."""
    return Equation(integrate(lift(plus)(s, r)), lift(plus)(integrate(s), integrate(r)))


@law("stream", "D(s + r) = D(s) + D(r)", source=D_LTI)
def differentiate_additive(s: Stream, r: Stream) -> Equation:
    """Changes of parts may be computed apart."""
    both = differentiate(lift(plus)(s, r))
    return Equation(both, lift(plus)(differentiate(s), differentiate(r)))


@law(
    "stream",
    "z(s + r) = z(s) + z(r)",
    source="DBSP (VLDB 2023) definition 2.12; Lean: delay_linear",
)
def delay_additive(s: Stream, r: Stream) -> Equation:
    """To wait is to do nothing to the data."""
    return Equation(delay(lift(plus)(s, r)), lift(plus)(delay(s), delay(r)))


@law("stream", "I(z(s)) = z(I(s))", source=I_LTI)
def integrate_time_invariant(s: Stream) -> Equation:
    """When a stream starts does not matter, only what came before."""
    return Equation(integrate(delay(s)), delay(integrate(s)))


@law("stream", "D(z(s)) = z(D(s))", source=D_LTI)
def differentiate_time_invariant(s: Stream) -> Equation:
    """When a stream starts does not matter, only what came before."""
    return Equation(differentiate(delay(s)), delay(differentiate(s)))


@law(
    "stream",
    "z(s)[<=t] = z(s[<t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.8; Lean: delay_strict",
)
def delay_strict(s: Stream, r: Stream, t: Tick) -> Equation:
    """Strict: today's output needs no input of today, so a loop through z has one solution."""
    return Equation(delay(s)[: t + 1], delay(spliced(s, r, t))[: t + 1])


@law(
    "stream",
    "I(s)[<=t] = I(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: integral_causal",
)
def integrate_causal(s: Stream, r: Stream, t: Tick) -> Equation:
    """What is to come cannot change what was answered."""
    return Equation(integrate(s)[: t + 1], integrate(spliced(s, r, t + 1))[: t + 1])


@law(
    "stream",
    "D(s)[<=t] = D(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: derivative_causal",
)
def differentiate_causal(s: Stream, r: Stream, t: Tick) -> Equation:
    """What is to come cannot change what was answered."""
    return Equation(differentiate(s)[: t + 1], differentiate(spliced(s, r, t + 1))[: t + 1])
