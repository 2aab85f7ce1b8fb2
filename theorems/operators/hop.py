"""A row in each of its windows is a flat map: hop is linear by `flat_map_linear`."""

from __future__ import annotations

from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both
from deltaproof.theorems.registry import theorem

ROWS: list[Row] = [(1, 3), (1, 7), (1, None), (2, 3)]


def hop_subject(slide: int, rows: int = 4, ticks: int = 2) -> Subject:
    """Windows of 4: each time is in one, or in two, and NULL in none."""
    operator = Hop("t", 4, slide, "begins", "ends")
    return subject_of(operator, [("k BIGINT, t BIGINT", ROWS[:rows])], ticks)


def hop_code_with_one_window() -> Counterexample:
    """Windows that overlap, and each row in the last only."""
    subject = hop_subject(2)

    def last(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet.trusted({row: w for row, w in output.items() if row[2] + 2 > row[1]})

    return refute_code(
        "a row is in one window", subject, lambda: Altered(subject.increment(), last)
    )


@theorem(
    statement="Hop's increment, as it runs, is D ∘ hop ∘ I",
    source="reference/operators/hop.py, reference/operator.py",
    scope="all integer weights; 4 rows, 2 ticks, tumbling and overlapping",
    wrong=(hop_code_with_one_window,),
)
def hop_code() -> Thm:
    merged = [prove_code(hop_subject(slide)) for slide in (4, 2)]
    return both("hop", *merged, prove_paths(hop_subject(2, 2, 2)))
