"""GROUPING SETS, ROLLUP and CUBE are one GROUP BY per set, added up: `grouping_sets_increment`."""

from __future__ import annotations

from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import prove_paths, refute_paths
from deltaproof.theorems.execution.symbolic import Altered, Subject, subject_of
from deltaproof.theorems.kernel import Counterexample, Thm, both
from deltaproof.theorems.registry import theorem

ROWS: list[Row] = [(1, 7), (None, 7)]
CALLS = (("s", AggregateCall("sum", col("v"))),)
ROLLUP = (("k",), ())


def grouping_sets_subject(grouping: str | None, rows: list[Row], ticks: int = 2) -> Subject:
    """A key that is NULL, and the sets that have no key at all."""
    return subject_of(GroupingSets(ROLLUP, CALLS, grouping), [("k BIGINT, v BIGINT", rows)], ticks)


def grouping_sets_code_in_one_row() -> Counterexample:
    """The subtotal of all, and the group whose key is NULL, told apart by nothing."""
    subject = grouping_sets_subject("g", ROWS[1:])

    def unmarked(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([((*row[:-1], 0), weight) for row, weight in output.items()])

    name = "the grouping column is 0"
    return refute_paths(name, subject, lambda: Altered(subject.increment(), unmarked))


def grouping_sets_code_of_one_set() -> Counterexample:
    subject = grouping_sets_subject(None, ROWS[:1])
    operator = GroupingSets(ROLLUP[:1], CALLS)
    wrong = subject_of(operator, [("k BIGINT, v BIGINT", ROWS[:1])], 2)
    return refute_paths("the first set alone", subject, wrong.increment)


@theorem(
    statement="GroupingSetsIncrement, as it runs, is D ∘ grouping_sets ∘ I",
    source="reference/operators/grouping_sets.py",
    scope="weights from -1000 to 1000; 2 rows, 2 ticks",
    wrong=(grouping_sets_code_in_one_row, grouping_sets_code_of_one_set),
)
def grouping_sets_code() -> Thm:
    return both("grouping sets", prove_paths(grouping_sets_subject("g", ROWS)))
