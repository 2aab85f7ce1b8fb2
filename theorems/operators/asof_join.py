"""An ASOF join is a function of the rows of a key on both sides: a case of `grouped_increment`."""

from __future__ import annotations

from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.types import Row
from deltaproof.theorems.execution.forking import (
    Enumerated,
    enumerated,
    prove_each,
    prove_paths,
    refute_paths,
)
from deltaproof.theorems.execution.symbolic import OneSided, Subject, subject_of
from deltaproof.theorems.kernel import Counterexample
from deltaproof.theorems.registry import theorem

LEFT: list[Row] = [(1, 5), (None, 5)]
RIGHT: list[Row] = [(1, 4), (1, 5), (None, 4)]


def asof_join_subject(
    kind: str, strict: bool, rows: tuple[list[Row], list[Row]], ticks: int
) -> Subject:
    operator = AsofJoin((("k", "j"),), "t", "u", kind, strict)
    left, right = rows
    return subject_of(
        operator, [("k BIGINT, t BIGINT", left), ("j BIGINT, u BIGINT", right)], ticks
    )


def asof_code_that_hears_one_side() -> Counterexample:
    """A later match arrives, and the left rows keep the one they had."""
    subject = asof_join_subject("left", False, (LEFT[:1], RIGHT[:1]), 2)
    name = "left rows outside the delta keep their match"
    return refute_paths(name, subject, lambda: OneSided(subject.increment(), 0))


def asof_code_that_is_not_strict() -> Counterexample:
    rows = (LEFT[:1], RIGHT[1:2])
    subject = asof_join_subject("inner", True, rows, 1)
    wrong = asof_join_subject("inner", False, rows, 1)
    return refute_paths("u <= t where u < t was asked for", subject, wrong.increment)


@theorem(
    statement="AsofJoin's increment, as it runs, is D ∘ asof_join ∘ I",
    source="reference/operators/asof_join.py",
    scope="weights from -1000 to 1000; 1+1 rows, 2 ticks, or 2+3 rows, 1 tick",
    wrong=(asof_code_that_hears_one_side, asof_code_that_is_not_strict),
)
def asof_join_code() -> Enumerated:
    """And for weights from -1 to 1 with 1+2 rows and 2 ticks, with 1+1 rows and 3 ticks."""
    small = prove_paths(asof_join_subject("left", False, (LEFT[:1], RIGHT[:1]), 2))
    wide = prove_paths(asof_join_subject("inner", False, (LEFT, RIGHT), 1))
    two = (LEFT[:1], RIGHT[:2])
    runs = [
        prove_each(asof_join_subject("left", strict, two, 2), -1, 1) for strict in (False, True)
    ]
    longer = prove_each(asof_join_subject("left", False, (LEFT[:1], RIGHT[:1]), 3), -1, 1)
    return enumerated(small, wide, *runs, longer)
