"""Positive keeps the weights above zero, row by row: a case of `rowwise_increment`."""

from __future__ import annotations

from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Stateless,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both
from deltaproof.theorems.registry import theorem


def positive_subject(rows: int = 3, ticks: int = 3) -> Subject:
    return subject_of(Positive(), [("k BIGINT", [(1,), (None,), (2,)][:rows])], ticks)


def positive_code_of_the_deltas() -> Counterexample:
    """No state: deletions are dropped."""
    subject = positive_subject()
    name = "puts out the positive part of the delta"
    return refute_code(name, subject, lambda: Stateless(subject.meaning))


def positive_code_that_makes_a_set() -> Counterexample:
    """Weights above zero as 1."""
    subject = positive_subject()

    def signs(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet.trusted({row: positive(w) - positive(-w) for row, w in output.items()})

    name = "every change is of one row"
    return refute_code(name, subject, lambda: Altered(subject.increment(), signs))


@theorem(
    statement="Positive's increment, as it runs, is D ∘ positive ∘ I",
    source="reference/operators/positive.py, reference/operators/set_operation.py",
    scope="all integer weights; 3 rows, 3 ticks",
    wrong=(positive_code_of_the_deltas, positive_code_that_makes_a_set),
)
def positive_code() -> Thm:
    return both("positive", prove_code(positive_subject()), prove_paths(positive_subject(2, 2)))
