"""A delay of k ticks is linear and time-invariant, so its increment is itself: the rows that
changed k ticks ago."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.stream import integrate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linear import Delays
from deltaproof.theorems.calculus.streams import any_streams, delay_that_repeats_the_first_value
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import Subject, prove_code, refute_code, subject_of
from deltaproof.theorems.kernel import Counterexample, Thm, both, gen, refute
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import row


def delay_of_the_view() -> Counterexample:
    """The view of the tick before for the change of the tick before."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d1) - d0 == d0 + d1

    def replay(d0: int, d1: int) -> tuple[ZSet, ZSet]:
        """What the increment puts out at tick 2, and the view at tick 1."""
        increment, deltas = Delay().increment(Schema.parse("k BIGINT")), [row(d0, 1), row(d1, 1)]
        for delta in deltas:
            increment.step(delta)
            increment.commit()
        return increment.step(ZSet()), integrate(deltas)[-1]

    return refute("D(z(I(d)))[2] = I(d)[1]", claim, show=[d0, d1], replay=replay)


@theorem(
    statement="z^k(s + r) = z^k(s) + z^k(r), and D(z^k(I(d))) = z^k(d), for every k",
    source="DBSP (VLDB 2023) definition 2.5, theorem 3.3",
    lean="delay_lti",
    wrong=(delay_that_repeats_the_first_value, delay_of_the_view),
)
def delay_linear_time_invariant() -> Thm:
    delays = Delays(any_streams("A"))
    late = delays.of(delays.k)
    return both("z^k is its own increment", delays.linear(), gen(late.increment(), delays.k))


# ---------------------------------------------------------------- the code


def delay_subject(delay: int = 2, rows: int = 3, ticks: int = 4) -> Subject:
    inputs = [("k BIGINT", [(1,), (None,), (2,)][:rows])]
    return subject_of(Delay(delay), inputs, ticks)


def delay_code_of_one_tick() -> Counterexample:
    return refute_code(
        "puts out what changed, a tick early", delay_subject(), delay_subject(1).increment
    )


@theorem(
    statement="Delay's increment, as it runs, is D ∘ delay ∘ I",
    source="reference/operators/delay.py, reference/operators/due.py",
    scope="all integer weights; 3 rows, 4 ticks",
    wrong=(delay_code_of_one_tick,),
)
def delay_code() -> Thm:
    return both("delay", prove_code(delay_subject()), prove_paths(delay_subject(rows=1)))
