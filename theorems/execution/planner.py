"""The runtime's fused operators compute what the query says, one operator after the other.

`linear_compose` and `join_after_linear` say that they may be fused; here the fused code is run.
"""

from __future__ import annotations

from dataclasses import replace

from deltaproof.reference.planner import planned
from deltaproof.reference.query import Apply, Query, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Subject,
    prove_code,
    refute_code,
    subject_of_query,
)
from deltaproof.theorems.kernel import Counterexample, ProofError, Thm, both
from deltaproof.theorems.registry import theorem

LEFT: list[Row] = [(1, 3), (1, 7), (2, 7)]
RIGHT: list[Row] = [(1, (7, 7)), (2, (7, 8))]
A, B = table("a", "k BIGINT, v BIGINT"), table("b", "j BIGINT, tags ARRAY(BIGINT)")


def chain() -> Query:
    """Three linear operators: rows merge, and some are dropped."""
    return A.filter(col("v") > 5).negate().project("v")


def fused_join(least: int = 6) -> Query:
    """Both sides of the join are chains, and a chain reads it."""
    left = A.filter(col("v") > 2).map(k=col("k"), w=col("v"))
    right = B.flat_map(col("tags"), "tag").project("j", "tag")
    return left.join(right, on={"k": "j"}).filter(col("tag") > least).project("w", "tag")


def planned_subject(query: Query, rows: int = 3, ticks: int = 2) -> Subject:
    """The run of the query as it is planned. Raises ProofError when it is not one operator."""
    plan = planned(query)
    if not (isinstance(plan, Apply) and set(plan.over) <= set(query.nodes())):
        raise ProofError(f"expected one fused operator, got {plan}")
    tables = [LEFT[:rows], RIGHT[:rows]][: len(query.tables())]
    subject = subject_of_query(query, tables, ticks)
    schemas = [each.schema for each in plan.over]
    return replace(subject, name=plan.label(), increment=lambda: plan.operator.increment(*schemas))


def chain_without_its_filter() -> Counterexample:
    subject, wrong = planned_subject(chain()), planned_subject(A.negate().project("v"))
    return refute_code("a stage is left out", subject, wrong.increment)


def join_that_takes_in_distinct() -> Counterexample:
    """A distinct fused into the join, as if it were linear: equal rows of a delta count once."""
    subject = planned_subject(fused_join())

    def once(output: ZSet, da: ZSet, db: ZSet) -> ZSet:
        return ZSet.trusted({row: positive(w) - positive(-w) for row, w in output.items()})

    name = "the delta of distinct is distinct of the delta"
    return refute_code(name, subject, lambda: Altered(subject.increment(), once))


@theorem(
    statement="Chain and FusedJoin, as they run, are D ∘ query ∘ I for the queries they stand for",
    source="reference/planner.py",
    scope="all integer weights; 3+2 rows, 2 ticks",
    wrong=(chain_without_its_filter, join_that_takes_in_distinct),
)
def planner_code() -> Thm:
    queries = (chain(), fused_join())
    merged = [prove_code(planned_subject(query)) for query in queries]
    return both("planner", *merged, prove_paths(planned_subject(fused_join(), 1)))
