"""RANK is one more than the weight of the rows before: linear in the table, and untouched by what
changes behind; a row of weight w has the row numbers from there up to the next row's.
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import (
    Enumerated,
    prove_each,
    prove_paths,
    refute_each,
    refute_paths,
)
from deltaproof.theorems.execution.symbolic import Altered, Subject, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Thm,
    both,
    fresh_symbol,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.semi_join import Matches
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import any_zsets


def ranks_that_count_rows() -> Counterexample:
    """A row of weight 2 pushes those behind it by 2."""
    weight, rest = z3.Ints("weight_in_front rest")
    given = [weight > 0, rest >= 0]
    claim = 1 + rest + 1 == 1 + rest + weight

    def replay(weight: int, rest: int) -> tuple[list[int], list[int]]:
        return rank_of_the_last(rest, 1), rank_of_the_last(rest, weight)

    name = "RANK = 1 + the number of rows before"
    return refute(name, claim, given, show=[weight, rest], replay=replay)


def rank_of_the_last(*weights: int) -> list[int]:
    """What RANK gives the row behind rows of these weights.

    >>> rank_of_the_last(), rank_of_the_last(2, 1)
    ([1], [4])
    """
    ranks = Run(Rank("rank", "n", (), (Order(col("v")),)), ("v BIGINT",))
    in_front = ZSet([((place,), weight) for place, weight in enumerate(weights)])
    behind = len(weights)
    return [rank for v, rank in ranks.over(in_front + row(1, behind)) if v == behind]


def ranks_kept_behind_a_change() -> Counterexample:
    before, change = z3.Ints("weight_before change_before")

    def replay(before: int, change: int) -> tuple[list[int], list[int]]:
        return rank_of_the_last(before + change), rank_of_the_last(before)

    claim, name = before + change == before, "RANK stays outside the delta"
    return refute(name, claim, [before >= 0, change > 0], show=[before, change], replay=replay)


@theorem(
    statement="RANK = 1 + m, m linear; it changes only behind a changed row",
    source="SQL: RANK, ROW_NUMBER",
    wrong=(ranks_that_count_rows, ranks_kept_behind_a_change),
)
def rank_locality() -> Thm:
    """`before` is any relation of two rows: of one partition, and less in its order."""
    rows = any_zsets("A")
    before = fresh_symbol("before", rows.row, rows.row, z3.BoolSort())
    weights = Matches(rows, rows, lambda y, x: before(x, y))
    a, d, y, x = rows.a, rows.b, rows.x, z3.Const("r", rows.row)
    none_before = z3.ForAll([x], z3.Implies(before(x, y), rows.weight(d, x) == 0))
    same = prove_for_all(
        "a row before every change keeps its rank",
        [a, d, y],
        1 + weights.of(rows.add(a, d), y) == 1 + weights.of(a, y),
        [weights.plus(), weights.unmatched()],
        given=[none_before],
    )
    return both("RANK", weights.plus(), same)


# ---------------------------------------------------------------- the code

ROWS: list[Row] = [(2, 5), (1, 5), (1, 7)]  # two peers, and a row behind them


def rank_subject(function: str, rows: list[Row], ticks: int) -> Subject:
    operator = Rank(function, "n", (), (Order(col("v")),))
    return subject_of(operator, [("k BIGINT, v BIGINT", rows)], ticks)


def rank_code_of_changed_rows() -> Counterexample:
    """The rows behind a changed row keep the rank they had."""
    subject = rank_subject("rank", ROWS[1:], 2)

    def only_the_delta(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([(row, weight) for row, weight in output.items() if row[:2] in delta])

    name = "only rows of the delta are ranked again"
    return refute_paths(name, subject, lambda: Altered(subject.increment(), only_the_delta))


def rank_code_that_counts_groups() -> Counterexample:
    subject = rank_subject("rank", ROWS, 1)
    wrong = rank_subject("dense_rank", ROWS, 1)
    return refute_each("RANK is DENSE_RANK", subject, wrong.increment, 0, 1)


@theorem(
    statement="The increments of RANK and DENSE_RANK, as they run, are D ∘ rank ∘ I",
    source="reference/operators/rank.py, reference/operators/ordered_increment.py",
    scope="weights from -1000 to 1000; 2 rows, 2 ticks, or 3 rows, 1 tick",
    wrong=(rank_code_of_changed_rows, rank_code_that_counts_groups),
)
def rank_code() -> Thm:
    subjects = [
        rank_subject(function, *size)
        for function in ("rank", "dense_rank")
        for size in ((ROWS[1:], 2), (ROWS, 1))
    ]
    return both("ranks", *map(prove_paths, subjects))


def row_numbers_of_rows() -> Counterexample:
    """A row of weight 2 gets one number."""
    subject = rank_subject("row_number", ROWS[:1], 1)
    wrong = rank_subject("dense_rank", ROWS[:1], 1)
    return refute_each("a row gets one number", subject, wrong.increment, 0, 2)


@theorem(
    statement="The increment of ROW_NUMBER, as it runs, is D ∘ rank ∘ I",
    source="reference/operators/rank.py, reference/operators/ordered_increment.py",
    scope="weights from -1 to 2; 3 rows, 2 ticks",
    wrong=(row_numbers_of_rows,),
)
def rank_row_number_code() -> Enumerated:
    return prove_each(rank_subject("row_number", ROWS, 2), -1, 2)
