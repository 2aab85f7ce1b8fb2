"""Filter is linear, so its increment is itself."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.calculus.streams import linear_increment
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Stateless,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both, fresh_symbol, refute
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import any_zsets, if_then, streams_of

KEPT = Run(Filter(col("k") > 0), ("k BIGINT",))
BAG = Run(Positive(), ("k BIGINT",))
COUNTED = Run(Aggregate(("k",), (("n", AggregateCall("count_star")),)), ("k BIGINT",))
OFTEN = Run(Filter(col("n") > 1), ("k BIGINT, n BIGINT",))


def filter_that_looks_at_the_weight() -> Counterexample:
    """HAVING-like: a predicate over the weight instead of the row."""
    a, b = z3.Ints("a b")
    claim = if_then(a + b > 1, a + b) == if_then(a > 1, a) + if_then(b > 1, b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other, whole = (OFTEN.over(COUNTED.over(row(each, 7))) for each in (a, b, a + b))
        return whole, one + other

    name = "filter(a + b) = filter(a) + filter(b), keeping weights over 1"
    return refute(name, claim, show=[a, b], replay=replay)


def filter_that_drops_retractions() -> Counterexample:
    """A filter of deltas that drops negative weights: deletions are lost."""
    a, d = z3.Ints("a d")
    claim = (a + d) - a == if_then(d > 0, d)

    def replay(a: int, d: int) -> tuple[ZSet, ZSet]:
        return KEPT.change([row(a, 7)], [row(d, 7)]), BAG.over(KEPT.over(row(d, 7)))

    name = "filter(a + d) - filter(a) = the positive part of d"
    return refute(name, claim, show=[a, d], replay=replay)


@theorem(
    statement="filter(a + b) = filter(a) + filter(b), so D(filter(I(d))) = filter(d)",
    source="DBSP (VLDB 2023) table 1, theorem 3.3",
    lean="filter_linear, filter_incremental",
    wrong=(filter_that_looks_at_the_weight, filter_that_drops_retractions),
)
def filter_linear() -> Thm:
    """The predicate is any function of the row: an expression, NULL logic and all, is one."""
    rows = any_zsets("A")
    keeps = fresh_symbol("keeps", rows.row, z3.BoolSort())
    filtered = rows.pointwise("filter", lambda x, weight: if_then(keeps(x), weight))
    a, b = rows.a, rows.b
    linear = rows.equal(
        "filter(a + b) = filter(a) + filter(b)",
        filtered(rows.add(a, b)),
        rows.add(filtered(a), filtered(b)),
        [a, b],
        filtered.equations,
    )
    changes = streams_of(rows)
    increment = linear_increment("filter", changes, changes, filtered, linear)
    return both("filter is linear and its own increment", linear, increment)


ROWS = [(1, 3), (2, None), (2, 7), (None, 7)]


def filter_subject(rows: int = 4, ticks: int = 2) -> Subject:
    """The predicate is TRUE, FALSE and NULL on these rows."""
    return subject_of(Filter(col("v") > 5), [("k BIGINT, v BIGINT", ROWS[:rows])], ticks)


def filter_code_without_retractions() -> Counterexample:
    subject = filter_subject()

    def insertions(delta: ZSet) -> ZSet:
        kept = subject.meaning(delta).items()
        return ZSet.trusted({row: weight * positive(weight) for row, weight in kept})

    return refute_code("negative weights are filtered out", subject, lambda: Stateless(insertions))


@theorem(
    statement="Filter's increment, as it runs, is D ∘ filter ∘ I",
    source="reference/operators/filter.py, reference/operator.py",
    scope="all integer weights; 4 rows, 2 ticks",
    wrong=(filter_code_without_retractions,),
)
def filter_code() -> Thm:
    return both("filter", prove_code(filter_subject()), prove_paths(filter_subject(3, 2)))
