"""Increments, as they run, are right for an engine that counts in 64 bits and wraps around: linear
ones, those of joins, and those that ask for signs row by row.

Numbers modulo 2^64 are a ring, and that is all that linear and bilinear increments need. Which
rows are there is asked with a sign, which a sum that overflows changes; but the increment of
`distinct` asks it of the same sums as its meaning does, so it too equals D ∘ meaning ∘ I in
wrap-around arithmetic. What is lost there is order: see `weights`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import add, mul, sub
from typing import Any

import z3

from deltaproof.reference.operators.set_operation import KINDS
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.execution.symbolic import (
    WRAP_AROUND,
    Altered,
    Stateless,
    Steps,
    Subject,
    cells,
    outputs,
    prove_code,
)
from deltaproof.theorems.kernel import Counterexample, ProofError, Thm, both, one_line, refute
from deltaproof.theorems.operators.delay import delay_subject
from deltaproof.theorems.operators.differentiate import differentiate_subject
from deltaproof.theorems.operators.distinct import distinct_subject
from deltaproof.theorems.operators.filter import filter_subject
from deltaproof.theorems.operators.flat_map import flat_map_subject
from deltaproof.theorems.operators.hop import hop_subject
from deltaproof.theorems.operators.integrate import integrate_subject
from deltaproof.theorems.operators.join import join_subject
from deltaproof.theorems.operators.logic import LATER, WEIGHED, logic_subject
from deltaproof.theorems.operators.map import map_subject
from deltaproof.theorems.operators.negate import negate_subject
from deltaproof.theorems.operators.positive import positive_subject
from deltaproof.theorems.operators.set_operation import set_operation_subject
from deltaproof.theorems.operators.temporal_filter import BOTH_BOUNDS, temporal_filter_subject
from deltaproof.theorems.operators.union_all import union_all_subject
from deltaproof.theorems.registry import theorem

HALF = 2**63


class Wrapped(int):
    """A weight of 64 bits that wraps around: what the symbolic weights here stand for.

    >>> Wrapped(HALF - 1) + 1 == -HALF, Wrapped(HALF) > 0, 1 - Wrapped(3)
    (True, False, -2)
    """

    symbolic_weight = True

    def __new__(cls, number: int) -> Wrapped:
        return super().__new__(cls, (int(number) + HALF) % (2 * HALF) - HALF)

    def __add__(self, other: int) -> Wrapped:
        return Wrapped(add(int(self), int(other)))

    def __sub__(self, other: int) -> Wrapped:
        return Wrapped(sub(int(self), int(other)))

    def __mul__(self, other: int) -> Wrapped:
        return Wrapped(mul(int(self), int(other)))

    def __rsub__(self, other: int) -> Wrapped:
        return Wrapped(sub(int(other), int(self)))

    def __neg__(self) -> Wrapped:
        return Wrapped(-int(self))

    __radd__, __rmul__ = __add__, __mul__


def prove_wrapped(name: str, *subjects: Subject) -> Thm:
    """For all 2^64 values of every weight, each subject's code is right."""
    return both(name, *[prove_code(subject, WRAP_AROUND) for subject in subjects])


def refute_wrapped(name: str, subject: Subject, wrong: Callable[[], Steps]) -> Counterexample:
    """Weights of 64 bits, none of them zero, for which the wrong increment is wrong; replayed."""
    weights = [z3.Const(each, WRAP_AROUND) for each, *_ in subject.weights()]
    there = [weight != 0 for weight in weights]
    small = [z3.And(weight >= -3, weight <= 3) for weight in weights]
    for given in ([*there, *small], there):
        for cell in cells(subject, wrong(), WRAP_AROUND):
            try:
                found = refute(name, cell.output == cell.expected, given, weights)
            except ProofError:
                continue
            return replayed_wrapped(found, subject, wrong)
    raise ProofError(f"{name}: the wrong increment was not refuted")


def replayed_wrapped(
    found: Counterexample, subject: Subject, wrong: Callable[[], Steps]
) -> Counterexample:
    """The counterexample with what the code does on weights that wrap around."""
    values = {name: Wrapped(int(value)) for name, value in found.values}
    ticks = subject.deltas(values.__getitem__)
    for number, (output, expected) in enumerate(outputs(subject, wrong(), ticks)):
        if output - expected:
            shown = tuple((name, int(value)) for name, value in values.items() if value)
            replay = f"tick {number + 1} puts out {one_line(output)}, expected {one_line(expected)}"
            return replace(found, values=shown, replay=replay)
    raise ProofError(f"{found.name}: the weights {values} do not show the error")


# ---------------------------------------------------------------- wrong variants


def images_that_replace() -> Counterexample:
    subject = map_subject(2, 1)

    def last_image(delta: ZSet) -> ZSet:
        return ZSet.trusted({row[:1]: weight for row, weight in delta.items()})

    name = "rows with one image replace each other"
    return refute_wrapped(name, subject, lambda: Stateless(last_image))


def join_without_product_of_deltas() -> Counterexample:
    subject = join_subject(1, 1)

    def without(output: ZSet, da: ZSet, db: ZSet) -> ZSet:
        return output - subject.meaning(da, db)

    name = "da ⋈ db is left out"
    return refute_wrapped(name, subject, lambda: Altered(subject.increment(), without))


class Growing:
    """Distinct that takes for granted that a row which gains weight cannot go.

    Over the integers that is right; `row_that_cannot_go` proves it before it refutes it here.
    """

    def __init__(self) -> None:
        self.before = self.staged = ZSet()

    def step(self, delta: ZSet) -> ZSet:
        self.staged = self.before + delta
        weights = {row: self.change(self.before[row], d) for row, d in delta.items()}
        return ZSet.trusted(weights)

    def change(self, before: Any, delta: Any) -> Any:
        appears = (1 - positive(before)) * positive(before + delta)
        goes = positive(before) * (1 - positive(before + delta)) * (1 - positive(delta))
        return appears - goes

    def commit(self) -> None:
        self.before = self.staged


def row_that_cannot_go() -> Counterexample:
    """A weight at its greatest gains one, and is the least: the row goes."""
    subject = distinct_subject(1, 2)
    prove_code(replace(subject, increment=Growing))  # right where nothing overflows
    return refute_wrapped("a row that gains weight stays", subject, Growing)


# ---------------------------------------------------------------- theorems


@theorem(
    statement="Linear increments, as they run, are D ∘ meaning ∘ I in wrap-around arithmetic",
    source="beyond the paper: Z modulo 2^64 as weights; DBSP (VLDB 2023) theorem 3.3",
    scope="all 2^64 values of each weight; rows and ticks as in the operators' own theorems",
    wrong=(images_that_replace,),
)
def wraparound_linear_code() -> Thm:
    return prove_wrapped(
        "linear operators wrap around",
        filter_subject(),
        map_subject(),
        flat_map_subject(),
        hop_subject(2),
        logic_subject(WEIGHED, LATER),
        union_all_subject(),
        negate_subject(),
        delay_subject(),
        integrate_subject(),
        differentiate_subject(),
    )


@theorem(
    statement="Bilinear increments, as they run, are D ∘ meaning ∘ I in wrap-around arithmetic",
    source="beyond the paper: Z modulo 2^64 as weights; DBSP (VLDB 2023) theorem 3.4",
    scope="all 2^64 values of each weight; joins 3+3 rows, 2 ticks, and 2 rows, 2 times, 2 ticks",
    wrong=(join_without_product_of_deltas,),
)
def wraparound_bilinear_code() -> Thm:
    """Products are those of the ring; z3 multiplies them out and does not count bits."""
    return prove_wrapped(
        "joins wrap around", join_subject(3, 2), temporal_filter_subject(BOTH_BOUNDS, 2, 2, 2)
    )


@theorem(
    statement="Increments that ask for signs, as they run, are D ∘ meaning ∘ I where weights wrap",
    source="beyond the paper: Z modulo 2^64 as weights; DBSP (VLDB 2023) proposition 4.7",
    scope="all 2^64 values of each weight; rows and ticks as in the operators' own theorems",
    wrong=(row_that_cannot_go,),
)
def wraparound_distinct_code() -> Thm:
    """`distinct`, the positive part and the set operations: both sides ask the same sums."""
    return prove_wrapped(
        "signs wrap around",
        distinct_subject(),
        positive_subject(),
        *[set_operation_subject(kind) for kind in KINDS],
    )
