"""A circuit is right because its nodes are: the chain rule, and the runtime's own code."""

from __future__ import annotations

from deltaproof.reference.query import Query, table
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Steps,
    Subject,
    prove_code,
    refute_code,
    subject_of_query,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both
from deltaproof.theorems.registry import theorem


def example() -> Query:
    """Five operators on two tables; the join is used twice."""
    left = table("a", "k BIGINT, v BIGINT")
    right = table("b", "j BIGINT, w BIGINT")
    joined = left.filter(col("v") > 0).join(right, on={"k": "j"})
    return joined.map(k=col("k")).distinct().union_all(joined.map(k=col("w")).negate())


def circuit_subject(rows: int = 2, ticks: int = 2) -> Subject:
    left, right = [(1, 10), (1, 11)], [(1, 1), (1, 2)]
    return subject_of_query(example(), [left[:rows], right[:rows]], ticks)


class LateInput:
    """A circuit that sees the second table's delta one tick late."""

    def __init__(self, steps: Steps) -> None:
        self.steps, self.late = steps, ZSet()

    def step(self, *deltas: ZSet) -> ZSet:
        first, second = deltas
        output = self.steps.step(first, self.late)
        self.late = second
        return output

    def commit(self) -> None:
        self.steps.commit()


def circuit_with_a_late_input() -> Counterexample:
    subject = circuit_subject()
    return refute_code("one table arrives late", subject, lambda: LateInput(subject.increment()))


@theorem(
    statement="Circuit.step, as it runs, is D ∘ query ∘ I for a query of five operators",
    source="reference/circuit.py; DBSP (VLDB 2023) proposition 3.2 (chain rule)",
    scope="all integer weights; 2+2 rows, 2 ticks",
    wrong=(circuit_with_a_late_input,),
)
def circuit_code() -> Thm:
    return both("circuit", prove_code(circuit_subject()), prove_paths(circuit_subject(1, 2)))
