"""A row of a window function keeps its result while no row that it sees changes, and over RANGE
only rows within the frame's reach of a change see it.

    sees(y, x)     any relation: same partition, and within the frame of y
    seen(a, y)     the rows of a that y sees;  its result is any function of them
    RANGE          y - preceding <= x <= y + following, so x is seen from
                   x - following <= y <= x + preceding
"""

from __future__ import annotations

from math import inf

import z3

from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import Enumerated, enumerated, prove_each, refute_each
from deltaproof.theorems.execution.symbolic import Altered, Subject, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Thm,
    both,
    certificate,
    fresh_sort,
    fresh_symbol,
    inst,
    prove_for_all,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import any_zsets, if_then


def frame_for_reach() -> Counterexample:
    """The frame of the changed row itself for the rows whose frame has it."""
    x, y, preceding, following = z3.Ints("x y preceding following")
    seen = z3.And(y - preceding <= x, x <= y + following)
    wrong = z3.And(x - preceding <= y, y <= x + following)
    given = [preceding >= 0, following == 0]

    def replay(x: int, y: int, preceding: int, following: int) -> tuple[bool, bool]:
        frame = Frame("range", preceding, following)
        return in_frame(x, y, frame), in_frame(y, x, frame)

    name, show = "x is seen from its own frame", [x, y, preceding, following]
    return refute(name, seen == wrong, given, show, replay=replay)


def in_frame(x: int, y: int, frame: Frame) -> bool:
    """Whether the row at x is in the frame of the row at y.

    >>> in_frame(3, 5, LAST_TWO), in_frame(5, 3, LAST_TWO)
    (True, False)
    """
    calls = (("sum", AggregateCall("sum", col("weight"))),)
    operator = Rolling(calls, (), (Order(col("place")),), frame)
    sums = Run(operator, ("place BIGINT, weight BIGINT",)).over(row(1, x, 1) + row(1, y, 0))
    return [total for place, weight, total in sums if (place, weight) == (y, 0)] == [1]


def rows_in_the_delta_only() -> Counterexample:
    """Other rows keep their sums when a row in their frame changes."""
    total, change = z3.Ints("sum_before change_in_frame")

    def replay(total: int, change: int) -> tuple[ZSet, ZSet]:
        """What the increment changes in the row behind, and nothing."""
        sums = Run(Rolling(CALLS[:1], ("k",), (Order(col("v")),), LAST_TWO), (COLUMNS,))
        before = row(1, 1, 5) + row(total, 1, 4)
        change_of_sums = sums.change([before], [row(change, 1, 4)])
        return ZSet([each for each in change_of_sums.items() if each[0][1] == 5]), ZSet()

    claim, name = total + change == total, "a sum outside the delta stays"
    return refute(name, claim, [total >= 0, change > 0], show=[total, change], replay=replay)


@theorem(
    statement="a row that sees no row of d keeps any function of what it sees; RANGE: its reach",
    source="SQL: window frames",
    wrong=(frame_for_reach, rows_in_the_delta_only),
)
def rolling_locality() -> Thm:
    rows = any_zsets("A")
    viewers, values = fresh_sort("rows of the result"), fresh_sort("values")
    sees = fresh_symbol("sees", viewers, rows.row, z3.BoolSort())
    f = fresh_symbol("f", viewers, rows.sort, values)
    y, a, d = z3.Const("y", viewers), rows.a, rows.b
    seen = rows.comprehension(
        "seen",
        [rows.sort, viewers],
        lambda x, a, y: if_then(sees(y, x), rows.weight(a, x)),
        lambda a, y: rows.entries(a),
        [rows.no_weight_outside()],
    )
    sums = rows.equal(
        "seen(a + d, y) = seen(a, y) + seen(d, y)",
        seen(rows.add(a, d), y),
        rows.add(seen(a, y), seen(d, y)),
        [a, d, y],
        seen.equations,
    )
    neutral = certificate("s + 0 = s", rows.group, rows.add(seen(a, y), rows.zero()) == seen(a, y))
    same = prove_for_all(
        "nothing seen of the delta, nothing changed",
        [a, d, y],
        f(y, seen(rows.add(a, d), y)) == f(y, seen(a, y)),
        [inst(sums, a, d, y), neutral],
        given=[seen(d, y) == rows.zero()],
    )
    u, v, preceding, following = z3.Ints("u v preceding following")
    reach = prove_for_all(
        "the reach of a change",
        [u, v, preceding, following],
        z3.And(v - preceding <= u, u <= v + following)
        == z3.And(u - following <= v, v <= u + preceding),
    )
    return both("window frames", same, reach)


# ---------------------------------------------------------------- the code

ROWS: list[Row] = [(1, 3), (1, 5), (1, None)]  # two apart, and a row without a place
CALLS = tuple((name, AggregateCall(name, col("v"))) for name in ("sum", "avg", "min"))
COLUMNS = "k BIGINT, v BIGINT"
LAST_TWO = Frame("range", 2, 0)
AROUND = (Frame("range", 0, 2), Frame("range", 1, 1), Frame("rows", 2, 0))


def rolling_subject(frame: Frame, rows: list[Row] = ROWS, ticks: int = 2) -> Subject:
    operator = Rolling(CALLS, ("k",), (Order(col("v")),), frame)
    return subject_of(operator, [(COLUMNS, rows)], ticks)


def rolling_code_of_changed_rows() -> Counterexample:
    """Rows whose frame has a changed row keep their sums."""
    subject = rolling_subject(LAST_TWO, ROWS[:2])

    def only_the_delta(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([(row, weight) for row, weight in output.items() if row[:2] in delta])

    name = "only frames of rows of the delta are summed again"
    return refute_each(name, subject, lambda: Altered(subject.increment(), only_the_delta), 0, 1)


def rolling_code_of_rows_for_range() -> Counterexample:
    """One row before, where all rows at most 2 before were asked for: two copies."""
    subject = rolling_subject(LAST_TWO, ROWS[:2], 1)
    wrong = rolling_subject(Frame("rows", 1, 0), ROWS[:2], 1)
    return refute_each("RANGE 2 is ROWS 1", subject, wrong.increment, 0, 2)


@theorem(
    statement="The increments over frames of ROWS and RANGE, as they run, are D ∘ rolling ∘ I",
    source="reference/operators/rolling.py, reference/operators/rolling_increment.py",
    scope="weights from -1 to 1; 3 rows, 2 ticks, or 2 rows, 3 ticks; to 2 with 2 rows",
    wrong=(rolling_code_of_changed_rows, rolling_code_of_rows_for_range),
)
def rolling_code() -> Enumerated:
    frames = [Frame("rows", 1, 0), LAST_TWO, Frame("range", None, 0), Frame("rows", 0, 1)]
    proofs = [prove_each(rolling_subject(frame), -1, 1) for frame in frames]
    more = [prove_each(rolling_subject(frame, ROWS[:2]), -1, 2) for frame in frames[:2]]
    longer = [prove_each(rolling_subject(frame, ROWS[:2], 3), -1, 1) for frame in frames[:2]]
    numbers, order, frame = [(1, 0.1), (1, inf)], (Order(col("v")),), frames[0]
    doubles = subject_of(Rolling(CALLS, ("k",), order, frame), [("k BIGINT, v DOUBLE", numbers)], 2)
    wide: list[Row] = [(1, 3), (1, 5), (1, 6), (1, 8)]
    around = [prove_each(rolling_subject(each, wide), 0, 1) for each in AROUND]
    return enumerated(*proofs, *more, *longer, prove_each(doubles, -1, 1), *around)
