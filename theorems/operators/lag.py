"""A change at one place of the sequence changes LAG for the copy there and the next few behind it.

    after[i] = before[i] for i < q,  the new copy at q,  before[i - 1] for i > q
    lag(s, i) = s[i - k]             LEAD is LAG in the opposite order

Not the changed row alone: its successors at distance up to k read it, or read across it.
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import Enumerated, enumerated, prove_each, refute_each
from deltaproof.theorems.execution.symbolic import Altered, Subject, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Term,
    Thm,
    both,
    define,
    fresh_sort,
    fresh_symbol,
    prove_for_all,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT


def insertion(before: Definition | Term, new: Term, place: Term) -> Definition:
    """The sequence with a new copy at the place."""
    sort = new.sort()

    def at(i: Term, q: Term) -> Term:
        return z3.If(i < q, before(i), z3.If(i == q, new, before(i - 1)))

    return define("after", [INT, INT], sort, at)


def only_the_changed_row() -> Counterexample:
    """The successor of a new row still reads the row in front of it."""
    before, new = z3.Ints("row_in_front new_row")

    def replay(before: int, new: int) -> tuple[ZSet, ZSet]:
        """The last row with the value in front of it, with the new row and without."""
        ordered, columns = (Order(col("place")),), ("place BIGINT, v BIGINT",)
        lags = Run(Lag(col("v"), 1, "n", (), ordered), columns)
        sequence = row(1, 1, before) + row(1, 3, 0)
        found = lags.over(sequence + row(1, 2, new)), lags.over(sequence)
        one, other = (ZSet([each for each in rows.items() if each[0][0] == 3]) for rows in found)
        return one, other

    return refute("lag of the next row stays", before == new, show=[before, new], replay=replay)


def next_row_only() -> Counterexample:
    """With an offset of two, the second successor changes too."""
    q, i, k = z3.Ints("place successor offset")
    changed = z3.And(q < i, i <= q + k)
    given = [k == 2, q == 0, i > q]
    return refute("only the next copy reads across", changed == (i == q + 1), given, [q, i, k])


@theorem(
    statement="a copy inserted at place q changes LAG(k) of the copy itself and of the next k only",
    source="SQL: LAG, LEAD; a deletion is an insertion read backwards",
    wrong=(only_the_changed_row, next_row_only),
)
def lag_locality() -> Thm:
    values = fresh_sort("values")
    before = fresh_symbol("before", INT, values)
    new = fresh_symbol("new", values)()
    i, q, k = z3.Ints("i q k")
    after = insertion(before, new, q)
    in_front = prove_for_all(
        "copies in front keep their lag",
        [i, q, k],
        after(i - k, q) == before(i - k),
        after.equations,
        given=[k >= 1, i < q],
    )
    behind = prove_for_all(
        "copies further behind than k keep theirs, one place later",
        [i, q, k],
        after(i - k, q) == before(i - 1 - k),
        after.equations,
        given=[k >= 1, i > q + k],
    )
    return both("LAG", in_front, behind)


# ---------------------------------------------------------------- the code

ROWS: list[Row] = [(1, 3), (1, 5), (1, 7)]


def lag_subject(offset: int, rows: list[Row] = ROWS, ticks: int = 2) -> Subject:
    order, default = (Order(col("v")),), None if offset > 0 else lit(0)
    operator = Lag(col("v"), offset, "n", ("k",), order, default)
    return subject_of(operator, [("k BIGINT, v BIGINT", rows)], ticks)


def lag_code_of_changed_rows() -> Counterexample:
    """A middle row is deleted, and its successor still reads it."""
    subject = lag_subject(1)

    def only_the_delta(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([(row, weight) for row, weight in output.items() if row[:2] in delta])

    name = "only rows of the delta look back again"
    return refute_each(name, subject, lambda: Altered(subject.increment(), only_the_delta), 0, 1)


@theorem(
    statement="The increments of LAG and LEAD, as they run, are D ∘ lag ∘ I",
    source="reference/operators/lag.py, reference/operators/ordered_increment.py",
    scope="weights from -1 to 1; 3 rows, 2 ticks, or 2 rows, 3 ticks; to 2 with 2 rows",
    wrong=(lag_code_of_changed_rows,),
)
def lag_code() -> Enumerated:
    proofs = [prove_each(lag_subject(offset), -1, 1) for offset in (1, -1, 2)]
    longer = prove_each(lag_subject(1, ROWS[:2], 3), -1, 1)
    far = prove_each(lag_subject(2, [*ROWS, (1, 8)]), 0, 1)
    return enumerated(*proofs, prove_each(lag_subject(1, ROWS[:2]), -1, 2), longer, far)
