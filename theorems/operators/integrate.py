"""The integral over time is linear and time-invariant, so its increment is itself: a change of
the table is added to the running sum at every tick from then on."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linear import Linear
from deltaproof.theorems.calculus.streams import (
    Streams,
    any_streams,
    integral_laws,
    integral_of_absolute_values,
)
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Stateless,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both, parts, refute
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row


def integral(streams: Streams) -> Linear:
    linear, invariant = parts(integral_laws(streams))
    return Linear("I", streams, streams, streams.I, linear, invariant)


def integral_of_the_delta_once() -> Counterexample:
    """The delta itself for the integral of deltas: right at the first tick only."""
    d0, d1 = z3.Ints("d0 d1")
    contents = (d0, d0 + d1)
    claim = (contents[0] + contents[1]) - contents[0] == d1

    def replay(d0: int, d1: int) -> tuple[ZSet, ZSet]:
        increments = Run(Integrate(), ("k BIGINT",))
        return increments.change([row(d0, 1)], [row(d1, 1)]), row(d1, 1)

    return refute("D(I(I(d)))[1] = d[1]", claim, show=[d0, d1], replay=replay)


@theorem(
    statement="I is linear and time-invariant, so D(I(I(d))) = I(d)",
    source="DBSP (VLDB 2023) proposition 2.19, theorem 3.3",
    lean="integral_lti",
    wrong=(integral_of_the_delta_once, integral_of_absolute_values),
)
def integrate_linear_time_invariant() -> Thm:
    over_time = integral(any_streams("A"))
    return both("I is its own increment", over_time.laws(), over_time.increment())


# ---------------------------------------------------------------- the code


def integrate_subject(rows: int = 3, ticks: int = 3) -> Subject:
    inputs = [("k BIGINT", [(1,), (None,), (2,)][:rows])]
    return subject_of(Integrate(), inputs, ticks)


def integrate_code_that_forgets() -> Counterexample:
    return refute_code(
        "puts out the delta, once", integrate_subject(), lambda: Stateless(lambda delta: delta)
    )


@theorem(
    statement="Integrate's increment, as it runs, is D ∘ integrate ∘ I",
    source="reference/operators/integrate.py, reference/operators/due.py",
    scope="all integer weights; 3 rows, 3 ticks",
    wrong=(integrate_code_that_forgets,),
)
def integrate_code() -> Thm:
    return both(
        "integrate",
        prove_code(integrate_subject()),
        prove_paths(integrate_subject(rows=1, ticks=2)),
    )
