"""Union all is the group's `+`: linear in the pair of its inputs, so its own increment."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.zset import ZSet
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

UNION = Run(SetOperation("union"), ("k BIGINT", "k BIGINT"))


def union_of_sets() -> Counterexample:
    """UNION where UNION ALL belongs: a row of both sides counts once."""
    a, da, b, db = z3.Ints("a da b db")

    def union(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
        return z3.If(x + y > 0, z3.IntVal(1), z3.IntVal(0))

    claim = union(a + da, b + db) - union(a, b) == union(da, db)

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        deltas = [row(da, 7), row(db, 7)]
        return UNION.change([row(a, 7), row(b, 7)], deltas), UNION.over(*deltas)

    name = "D(union(I(da), I(db))) = union(da, db)"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


@theorem(
    statement="(a + a') + (b + b') = (a + b) + (a' + b'), so D(I(da) + I(db)) = da + db",
    source="DBSP (VLDB 2023) table 1, proposition 3.2",
    lean="add_incremental",
    wrong=(union_of_sets,),
)
def union_all_linear() -> Thm:
    rows = any_zsets("A")
    add, group = rows.add, rows.group
    a, b, c, d = z3.Consts("a b c d", rows.sort)
    goal = add(add(a, c), add(b, d)) == add(add(a, b), add(c, d))
    linear = certificate("union all is linear in the pair", group, goal)
    changes = streams_of(rows)
    da, db = changes.stream("da"), changes.stream("db")
    unioned = changes.D(changes.add(changes.I(da), changes.I(db)))
    increment = changes.equal("D(I(da) + I(db)) = da + db", unioned, changes.add(da, db))
    return both(
        "union all is linear and its own increment",
        gen(linear, a, b, c, d),
        gen(increment, da, db),
    )


ROWS = [(1,), (2,), (None,)]


def union_all_subject(rows: int = 3, ticks: int = 2) -> Subject:
    """Rows of both inputs, and rows of one."""
    return subject_of(UnionAll(), [("k BIGINT", ROWS[:rows]), ("k BIGINT", ROWS[:1])], ticks)


def union_all_code_that_counts_shared_rows_once() -> Counterexample:
    subject = union_all_subject()
    return refute_code(
        "a row of both inputs has the weight of the left one",
        subject,
        lambda: Altered(subject.increment(), lambda output, a, b: output - b),
    )


@theorem(
    statement="UnionAll's increment, as it runs, is D ∘ union_all ∘ I",
    source="reference/operators/union_all.py, reference/operator.py",
    scope="all integer weights; 3+1 rows, 2 ticks",
    wrong=(union_all_code_that_counts_shared_rows_once,),
)
def union_all_code() -> Thm:
    code = prove_code(union_all_subject())
    return both("union all", code, prove_paths(union_all_subject(1, 2)))
