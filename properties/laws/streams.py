"""What delay, integrate and differentiate obey as operators of a query."""

from __future__ import annotations

from typing import cast

from deltaproof.properties.law import Equation, Streams, Subject, law
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.stream import delay, differentiate, integrate


@law(
    "delay",
    "I(Q(s)) = Q(I(s))",
    source="DBSP (VLDB 2023) proposition 2.19; Lean: integral_time_invariant",
)
def delay_commutes_with_integrate(q: Subject, s: Streams) -> Equation:
    """It makes no difference whether contents or changes are delayed."""
    return Equation(integrate(q.contents(*s)), q.contents(*map(integrate, s)))


@law("delay", "Q(s) = z(s), as often as Q has ticks", source="DBSP (VLDB 2023) definition 2.5")
def delay_adds_up(q: Subject, s: Streams) -> Equation:
    """To wait twice is to wait as long as both."""
    (waited,) = s
    for _ in range(cast(Delay, q.operator).ticks):
        waited = delay(waited)
    return Equation(q.contents(*s), waited)


@law("integrate", "D(Q(s)) = s", source="DBSP (VLDB 2023) theorem 2.20; Lean: derivative_integral")
def integrate_is_undone_by_differentiate(q: Subject, s: Streams) -> Equation:
    """What was added up at a tick can be read off the sums."""
    return Equation((differentiate(q.contents(*s)),), s)


@law(
    "differentiate",
    "I(Q(s)) = s",
    source="DBSP (VLDB 2023) theorem 2.20; Lean: integral_derivative",
)
def differentiate_is_undone_by_integrate(q: Subject, s: Streams) -> Equation:
    """The contents can be rebuilt from their changes."""
    return Equation((integrate(q.contents(*s)),), s)
