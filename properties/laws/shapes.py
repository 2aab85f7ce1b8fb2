"""What linear and bilinear operators obey, and why a change alone is enough for them."""

from __future__ import annotations

from deltaproof.properties.law import (
    Equation,
    Factor,
    Left,
    LeftStream,
    Right,
    RightStream,
    Streams,
    Subject,
    ZSets,
    law,
)
from deltaproof.properties.laws.words import plus
from deltaproof.reference.stream import delay, differentiate, incremental, integrate, lift
from deltaproof.reference.zset import ZSet

# ── Linear operators ────────────────────────────────────────────────────────────────────────

LINEAR = "DBSP (VLDB 2023) definition 2.12; Lean: linear"
LTI = "DBSP (VLDB 2023) theorem 3.3; Lean: lti_incremental"


@law("linear", "Q(a + b) = Q(a) + Q(b)", source=LINEAR)
def operator_additive(q: Subject, a: ZSets, b: ZSets) -> Equation:
    """From it follows Q^D = Q: a change alone is enough to know the output's change."""
    return Equation(q.meaning(*map(plus, a, b)), q.meaning(*a) + q.meaning(*b))


@law("linear", "Q(-a) = -Q(a)", source="DBSP (VLDB 2023) definition 2.12; Lean: linear_neg")
def operator_odd(q: Subject, a: ZSets) -> Equation:
    """A deletion is an insertion with the other sign, and needs no code of its own."""
    return Equation(q.meaning(*[-each for each in a]), -q.meaning(*a))


@law("linear", "Q(n a) = n Q(a)", source=LINEAR)
def operator_homogeneous(q: Subject, a: ZSets, n: Factor) -> Equation:
    """Duplicates go through with their weight, not one by one."""
    return Equation(q.meaning(*[each.scale(n) for each in a]), q.meaning(*a).scale(n))


@law("linear", "Q(I(s)) = I(Q(s))", source="DBSP (VLDB 2023) theorem 3.3; Lean: integral_lift_comm")
def operator_commutes_with_integrate(q: Subject, s: Streams) -> Equation:
    """It makes no difference whether contents or changes go through a linear operator."""
    return Equation(lift(q.meaning)(*map(integrate, s)), integrate(lift(q.meaning)(*s)))


@law(
    "linear", "Q(D(s)) = D(Q(s))", source="DBSP (VLDB 2023) theorem 3.3; Lean: derivative_lift_comm"
)
def operator_commutes_with_differentiate(q: Subject, s: Streams) -> Equation:
    """The changes of the output are the output of the changes."""
    return Equation(lift(q.meaning)(*map(differentiate, s)), differentiate(lift(q.meaning)(*s)))


@law("linear", "Q^D(s) = Q(s)", source=LTI)
def increment_is_operator(q: Subject, s: Streams) -> Equation:
    """A linear operator is its own increment and needs no state."""
    return Equation(q.outputs(*s), lift(q.meaning)(*s))


# ── Bilinear operators ──────────────────────────────────────────────────────────────────────

BILINEAR = "DBSP (VLDB 2023) definition 2.13; Lean: bilinear"


@law("bilinear", "Q(a + a', b) = Q(a, b) + Q(a', b)", source=BILINEAR)
def operator_left_additive(q: Subject, a: Left, more: Left, b: Right) -> Equation:
    """The delta rule da x b + a x db + da x db is derived from it."""
    return Equation(q.meaning(a + more, b), q.meaning(a, b) + q.meaning(more, b))


@law("bilinear", "Q(a, b + b') = Q(a, b) + Q(a, b')", source=BILINEAR)
def operator_right_additive(q: Subject, a: Left, b: Right, more: Right) -> Equation:
    """The delta rule da x b + a x db + da x db is derived from it."""
    return Equation(q.meaning(a, b + more), q.meaning(a, b) + q.meaning(a, more))


@law("bilinear", "Q(n a, m b) = nm Q(a, b)", source=BILINEAR)
def operator_multiplies_factors(q: Subject, a: Left, b: Right, n: Factor, m: Factor) -> Equation:
    """Pairs are counted, not made: a row that is there n times meets one that is there m times."""
    return Equation(q.meaning(a.scale(n), b.scale(m)), q.meaning(a, b).scale(n * m))


@law("bilinear", "Q(0, b) = 0", source=BILINEAR)
def operator_left_zero(q: Subject, b: Right) -> Equation:
    """A side that did not change contributes nothing."""
    return Equation(q.meaning(q.zeros[0], b), ZSet())


@law("bilinear", "Q(a, 0) = 0", source=BILINEAR)
def operator_right_zero(q: Subject, a: Left) -> Equation:
    """A side that did not change contributes nothing."""
    return Equation(q.meaning(a, q.zeros[1]), ZSet())


@law(
    "bilinear",
    "D(Q(I(s), I(r))) = Q(s, z(I(r))) + Q(z(I(s)), r) + Q(s, r)",
    source="DBSP (VLDB 2023) theorem 3.4; Lean: bilinear_incremental",
)
def operator_product_rule(q: Subject, s: LeftStream, r: RightStream) -> Equation:
    """It licenses the increment of every bilinear operator: only matches of a change are made."""
    before_s, before_r = delay(integrate(s)), delay(integrate(r))
    changed = lift(q.meaning)(s, before_r), lift(q.meaning)(before_s, r), lift(q.meaning)(s, r)
    return Equation(incremental(q.meaning)(s, r), lift(lambda a, b, c: a + b + c)(*changed))
