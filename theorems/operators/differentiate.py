"""The change of a table is linear and time-invariant, so its increment is itself: a change comes
out when it happens and is taken back a tick later."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linear import Linear
from deltaproof.theorems.calculus.streams import (
    Streams,
    any_streams,
    difference_to_a_fixed_value,
    differential_laws,
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


def differential(streams: Streams) -> Linear:
    linear, invariant = parts(differential_laws(streams))
    return Linear("D", streams, streams, streams.D, linear, invariant)


def change_that_is_never_taken_back() -> Counterexample:
    """The delta for the change of deltas: the view then keeps every change for ever."""
    d0, d1 = z3.Ints("d0 d1")
    claim = d1 - d0 == d1

    def replay(d0: int, d1: int) -> tuple[ZSet, ZSet]:
        increments = Run(Differentiate(), ("k BIGINT",))
        return increments.change([row(d0, 1)], [row(d1, 1)]), row(d1, 1)

    return refute("D(D(I(d)))[1] = d[1]", claim, show=[d0, d1], replay=replay)


@theorem(
    statement="D is linear and time-invariant, so D(D(I(d))) = D(d)",
    source="DBSP (VLDB 2023) proposition 2.16, theorem 3.3",
    lean="derivative_lti",
    wrong=(change_that_is_never_taken_back, difference_to_a_fixed_value),
)
def differentiate_linear_time_invariant() -> Thm:
    over_time = differential(any_streams("A"))
    return both("D is its own increment", over_time.laws(), over_time.increment())


# ---------------------------------------------------------------- the code


def differentiate_subject(rows: int = 3, ticks: int = 3) -> Subject:
    inputs = [("k BIGINT", [(1,), (None,), (2,)][:rows])]
    return subject_of(Differentiate(), inputs, ticks)


def differentiate_code_that_never_takes_back() -> Counterexample:
    return refute_code(
        "puts out the delta, for ever",
        differentiate_subject(),
        lambda: Stateless(lambda delta: delta),
    )


@theorem(
    statement="Differentiate's increment, as it runs, is D ∘ differentiate ∘ I",
    source="reference/operators/differentiate.py, reference/operators/due.py",
    scope="all integer weights; 3 rows, 3 ticks",
    wrong=(differentiate_code_that_never_takes_back,),
)
def differentiate_code() -> Thm:
    return both(
        "differentiate",
        prove_code(differentiate_subject()),
        prove_paths(differentiate_subject(rows=1, ticks=2)),
    )
