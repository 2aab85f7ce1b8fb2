"""Negate is the group's `-`: linear, so its own increment."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.calculus.streams import linear_increment
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both, certificate, gen, refute
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import any_zsets, streams_of

EXCEPT_ALL = Run(SetOperation("except_all"), ("k BIGINT", "k BIGINT"))
NEGATED = Run(Negate(), ("k BIGINT",))


def monus() -> Counterexample:
    """A bag difference that stops at zero, as SQL's EXCEPT ALL does: a - b, but never below 0."""
    a, b, db = z3.Ints("a b db")

    def monus_of(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
        return z3.If(x - y > 0, x - y, z3.IntVal(0))

    claim = monus_of(a, b + db) - monus_of(a, b) == -db
    positive = [a >= 0, b >= 0, b + db >= 0]

    def replay(a: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        change = EXCEPT_ALL.change([row(a, 7), row(b, 7)], [ZSet(), row(db, 7)])
        return change, NEGATED.over(row(db, 7))

    return refute("D(a EXCEPT ALL b) = -db", claim, positive, [a, b, db], replay=replay)


@theorem(
    statement="-(a + b) = -a + -b, so D(-I(d)) = -d",
    source="DBSP (VLDB 2023) proposition 3.2",
    lean="linear_neg",
    wrong=(monus,),
)
def negate_linear() -> Thm:
    rows = any_zsets("A")
    a, b = rows.a, rows.b
    goal = rows.neg(rows.add(a, b)) == rows.add(rows.neg(a), rows.neg(b))
    linear = gen(certificate("negate is linear", rows.group, goal), a, b)
    changes = streams_of(rows)
    increment = linear_increment("negate", changes, changes, rows.neg, linear)
    return both("negate is linear and its own increment", linear, increment)


def negate_subject(ticks: int = 2) -> Subject:
    return subject_of(Negate(), [("k BIGINT", [(1,), (None,)])], ticks)


def negate_code_that_stays_positive() -> Counterexample:
    """Weights below zero cut off, as in an engine whose weights are counts."""
    subject = negate_subject()

    def cut_off(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet.trusted({row: weight * positive(weight) for row, weight in output.items()})

    name = "weights below zero are dropped"
    return refute_code(name, subject, lambda: Altered(subject.increment(), cut_off))


@theorem(
    statement="Negate's increment, as it runs, is D ∘ negate ∘ I",
    source="reference/operators/negate.py, reference/operator.py",
    scope="all integer weights; 2 rows, 2 ticks",
    wrong=(negate_code_that_stays_positive,),
)
def negate_code() -> Thm:
    return both("negate", prove_code(negate_subject()), prove_paths(negate_subject()))
