"""A temporal filter is bilinear in its rows and the clock; when the clock moves on, only rows with
a bound that it passes change.

    filtered(a, now)[x] = a[x] · (how much of `now` is in lower(x) <= now < upper(x))

`now` is a table: usually one row of weight 1, replaced at every tick. So time is data, and the
increment is that of a join with the relation "is within the bounds of".
"""

from __future__ import annotations

from functools import cache

import z3

from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import bilinear_increment, product_without_the_delays
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    OneSided,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Term,
    Thm,
    both,
    fresh_symbol,
    inst,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.semi_join import Matches
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZSets, any_zsets, if_then, streams_of

BEGUN = Run(TemporalFilter(col("t"), None), ("t BIGINT", "now BIGINT"))
NOT_OVER = Run(TemporalFilter(None, col("t")), ("t BIGINT", "now BIGINT"))


@cache
def clocks() -> ZSets:
    """Tables of times."""
    return ZSets("times", INT)


class Bounds:
    """Any bounds of a row: each may be missing, and a row whose bound is NULL is never there."""

    def __init__(self, rows: ZSets) -> None:
        row, yes_or_no = rows.row, z3.BoolSort()
        self.lower, self.upper = fresh_symbol("lower", row, INT), fresh_symbol("upper", row, INT)
        self.from_ever = fresh_symbol("no lower bound", row, yes_or_no)
        self.for_ever = fresh_symbol("no upper bound", row, yes_or_no)
        self.null = fresh_symbol("a bound is NULL", row, yes_or_no)

    def contain(self, x: Term, now: Term) -> Term:
        begun = z3.Or(self.from_ever(x), self.lower(x) <= now)
        not_over = z3.Or(self.for_ever(x), now < self.upper(x))
        return z3.And(z3.Not(self.null(x)), begun, not_over)

    def passed(self, x: Term, now: Term, later: Term) -> Term:
        """The clock passes a bound of the row between these times."""
        bounds = ((self.from_ever, self.lower), (self.for_ever, self.upper))
        crossed = [
            z3.And(z3.Not(missing(x)), now < bound(x), bound(x) <= later)
            for missing, bound in bounds
        ]
        return z3.And(z3.Not(self.null(x)), z3.Or(*crossed))


def row_that_never_expires() -> Counterexample:
    """Only rows of the delta are tested: what was there stays for ever."""
    now, later, upper, a = z3.Ints("now later upper weight")
    claim = if_then(later < upper, a) - if_then(now < upper, a) == 0

    def replay(now: int, later: int, upper: int, a: int) -> tuple[ZSet, ZSet]:
        return clock_moved(NOT_OVER, row(a, upper), now, later), ZSet()

    name, given = "the clock takes nothing out", [now < later, a > 0]
    return refute(name, claim, given, [now, later, upper, a], replay=replay)


def clock_moved(filtered: Run, rows: ZSet, now: int, later: int) -> ZSet:
    """What the increment puts out when the clock moves, and no rows come or go."""
    return filtered.change([rows, row(1, now)], [ZSet(), row(1, later) - row(1, now)])


def rows_that_enter_only_by_delta() -> Counterexample:
    """A row that arrived before its time is forgotten."""
    now, later, lower, a = z3.Ints("now later lower weight")
    claim = if_then(lower <= later, a) - if_then(lower <= now, a) == 0

    def replay(now: int, later: int, lower: int, a: int) -> tuple[ZSet, ZSet]:
        return clock_moved(BEGUN, row(a, lower), now, later), ZSet()

    name, given = "the clock brings nothing in", [now < later, a > 0]
    return refute(name, claim, given, [now, later, lower, a], replay=replay)


def closed_upper_bound() -> Counterexample:
    now, upper = z3.Ints("now upper")

    def replay(now: int, upper: int) -> tuple[ZSet, ZSet]:
        closed = Run(Filter(col("t") >= now), ("t BIGINT",))
        return closed.over(row(1, upper)), NOT_OVER.over(row(1, upper), row(1, now))

    name, claim = "now <= upper is now < upper", (now <= upper) == (now < upper)
    return refute(name, claim, show=[now, upper], replay=replay)


@theorem(
    statement="rows × clock is bilinear, and a clock that moves changes rows whose bound it passes",
    source="DBSP (VLDB 2023) theorem 3.4 and section 7.5; temporal filters on now()",
    wrong=(
        row_that_never_expires,
        rows_that_enter_only_by_delta,
        closed_upper_bound,
        product_without_the_delays,
    ),
)
def temporal_filter_increment() -> Thm:
    rows, clock = any_zsets("A"), clocks()
    bounds = Bounds(rows)
    matches = Matches(rows, clock, bounds.contain)
    filtered = rows.comprehension(
        "temporal filter",
        [rows.sort, clock.sort],
        lambda x, a, now: rows.weight(a, x) * matches.of(now, x),
        lambda a, now: rows.entries(a),
        [rows.no_weight_outside()],
    )
    a, c, b, d = rows.a, rows.b, clock.a, clock.b
    known = [*filtered.equations, matches.plus()]
    left = rows.equal(
        "filtered(a + c, b) = filtered(a, b) + filtered(c, b)",
        filtered(rows.add(a, c), b),
        rows.add(filtered(a, b), filtered(c, b)),
        [a, c, b],
        known,
    )
    right = rows.equal(
        "filtered(a, b + d) = filtered(a, b) + filtered(a, d)",
        filtered(a, clock.add(b, d)),
        rows.add(filtered(a, b), filtered(a, d)),
        [a, b, d],
        known,
    )
    contract = bilinear_increment(
        "filtered", (streams_of(rows), streams_of(clock)), streams_of(rows), filtered, (left, right)
    )
    return both(
        "temporal filter", left, right, contract, only_rows_in_between(bounds, matches, filtered)
    )


def only_rows_in_between(bounds: Bounds, matches: Matches, filtered: Definition) -> Thm:
    """now ≤ later → the clock's move, -now +later, changes no row whose bounds are elsewhere."""
    rows, clock = matches.left, matches.right
    a, x, (now, later) = rows.a, rows.x, z3.Ints("now later")
    lists = clock.lists

    def reads(time: Term, weight: int) -> Term:
        return clock.zset(lists.entry(time, weight, lists.none))

    move = clock.add(reads(later, 1), reads(now, -1))
    known = [
        *filtered.equations,
        inst(matches.plus(), reads(later, 1), reads(now, -1), x),
        matches.of_one_row(later, z3.IntVal(1), x),
        matches.of_one_row(now, z3.IntVal(-1), x),
    ]
    return prove_for_all(
        "a row changes only when a bound of it is passed",
        [a, x, now, later],
        rows.weight(filtered(a, move), x) == 0,
        known,
        given=[now <= later, z3.Not(bounds.passed(x, now, later))],
    )


# ---------------------------------------------------------------- the code

ROWS: list[Row] = [
    (1, 3),
    (2, 2),
    (3, None),
    (2, 4),
]  # the second is never there: it ends as it begins
CLOCK: list[Row] = [(1,), (2,), (3,)]


def temporal_filter_subject(
    operator: TemporalFilter, rows: int = 4, times: int = 3, ticks: int = 2
) -> Subject:
    inputs = [("a BIGINT, b BIGINT", ROWS[:rows]), ("now BIGINT", CLOCK[:times])]
    return subject_of(operator, inputs, ticks)


BOTH_BOUNDS = TemporalFilter(col("a"), col("b"))
ONE_BOUND = TemporalFilter(None, col("b"))


def temporal_filter_code_that_hears_no_clock() -> Counterexample:
    """The clock moves on, and only rows of the delta are tested."""
    subject = temporal_filter_subject(BOTH_BOUNDS)
    name = "rows outside the delta stay"
    return refute_code(name, subject, lambda: OneSided(subject.increment(), 0))


def temporal_filter_code_without_its_end() -> Counterexample:
    subject = temporal_filter_subject(BOTH_BOUNDS)
    wrong = temporal_filter_subject(TemporalFilter(col("a"), None))
    return refute_code("rows never expire", subject, wrong.increment)


@theorem(
    statement="TemporalFilter's increment, as it runs, is D ∘ temporal_filter ∘ I",
    source="reference/operators/temporal_filter.py",
    scope="all integer weights; 4 rows, 3 times, 2 ticks",
    wrong=(temporal_filter_code_that_hears_no_clock, temporal_filter_code_without_its_end),
)
def temporal_filter_code() -> Thm:
    merged = [prove_code(temporal_filter_subject(each)) for each in (BOTH_BOUNDS, ONE_BOUND)]
    return both("temporal filter", *merged, prove_paths(temporal_filter_subject(BOTH_BOUNDS, 1, 1)))
