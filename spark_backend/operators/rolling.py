"""Rolling aggregates over a range of ticks: in each snapshot, Spark's own frames.

    ROWS     over the rows' copies in order
    RANGE    over the rows, each with its weight, in the order of a number that distances are
             measured in: it ascends where the order descends, so a frame is written the same way

Not exact: SUM and AVG of DOUBLE are rounded at every addition; the reference rounds once.
"""

from __future__ import annotations

from collections.abc import Callable

from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.types import BIGINT, DECIMAL, DOUBLE, Schema, Type
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.hop import UNITS
from deltaproof.spark_backend.scalar import ScalarText
from deltaproof.spark_backend.snapshots import (
    copies,
    from_tick_to_tick,
    snapshots,
    terms_of,
    whole_row,
    window,
)

DIGITS = "DECIMAL(19,0)"  # every BIGINT; the product of two has 38 digits
FAR = 10**20  # no two times or numbers of 64 bits are so far apart


def lower_rolling(operator: Rolling, rows: Relation, lowering: Lowering) -> Relation:
    """Each row, or each copy of it, with the aggregates of its frame."""
    taken = snapshots(rows, operator.partition, lowering)
    weight = "_present"
    if operator.frame.unit == "rows":
        copied = copies("1L", "_present")
        taken, weight = lowering.define(f"SELECT *, {copied} AS _copy FROM {taken}"), "1L"
    over = window(rows, operator.partition, *order_and_frame(operator, rows, lowering))
    scalars = lowering.scalars(rows.schema)
    results = [f"_c{n}" for n in range(len(rows.schema), len(rows.schema) + len(operator.calls))]
    values = [
        f"{result_of(call, rows.schema, scalars, weight, over)} AS {name}"
        for name, (_, call) in zip(results, operator.calls, strict=True)
    ]
    found = lowering.define(f"SELECT *, {listed(*values)} FROM {taken}")
    name = from_tick_to_tick(found, [*rows.columns, *results], weight, lowering)
    return Relation(name, operator.output(rows.schema), consolidated=False)


def order_and_frame(operator: Rolling, rows: Relation, lowering: Lowering) -> tuple[list[str], str]:
    """ORDER BY and the frame."""
    frame = operator.frame
    terms = terms_of(operator.order, rows.schema, lowering)
    if frame.unit == "rows":
        return [*terms, *whole_row(rows.schema)], frame_text(frame, str)
    if not frame.preceding and not frame.following:
        if not terms:  # all rows are peers
            return [], "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        return terms, frame_text(frame, str)
    (term,) = operator.order
    number, distance = measured(
        lowering.scalars(rows.schema)(term.expression), term.expression.type_in(rows.schema)
    )
    sign = "- " if term.descending else ""
    nulls = "FIRST" if term.nulls_first else "LAST"
    return [f"{sign}{number} ASC NULLS {nulls}"], frame_text(frame, distance)


def measured(value: str, kind: Type) -> tuple[str, Callable[[int], str]]:
    """The order value as a DECIMAL with room for a distance, and how a distance is written."""
    if isinstance(kind, DECIMAL):
        number = f"DECIMAL({min(38, kind.precision + 2)},{kind.scale})"
    else:
        number, value = "DECIMAL(22,0)", UNITS[kind][0].format(value)
    return f"CAST({value} AS {number})", lambda bound: f"CAST({min(bound, FAR)} AS {number})"


def frame_text(frame: Frame, distance: Callable[[int], str]) -> str:
    """The frame as Spark writes it."""
    first = bound_text(frame.preceding, "PRECEDING", "FOLLOWING", distance)
    last = bound_text(frame.following, "FOLLOWING", "PRECEDING", distance)
    return f"{frame.unit.upper()} BETWEEN {first} AND {last}"


def bound_text(bound: int | None, side: str, other: str, distance: Callable[[int], str]) -> str:
    if bound is None:
        return f"UNBOUNDED {side}"
    if not bound:
        return "CURRENT ROW"
    return f"{distance(abs(bound))} {side if bound > 0 else other}"


def result_of(
    call: AggregateCall, schema: Schema, scalars: ScalarText, weight: str, over: str
) -> str:
    """The aggregate of the frame; every line of it stands for `weight` rows."""
    if call.argument is None:
        return f"COALESCE(SUM({weight}) OVER {over}, 0L)"
    value, kind = scalars(call.argument), call.argument.type_in(schema)
    if call.function in ("min", "max"):
        return f"{call.function.upper()}({value}) OVER {over}"
    count = f"COALESCE(SUM(IF({value} IS NULL, 0L, {weight})) OVER {over}, 0L)"
    if call.function == "count":
        return count
    total = f"SUM({times_weight(value, kind, weight)}) OVER {over}"
    if call.function == "sum":
        return sum_of(total, kind)
    return f"IF({count} > 0, {average_of(total, count, kind)}, NULL)"


def times_weight(value: str, kind: Type, weight: str) -> str:
    """What a line adds to the sum: exactly, except for DOUBLE."""
    if kind == DOUBLE:
        return f"{value} * CAST({weight} AS DOUBLE)"
    exact = f"CAST({value} AS {DIGITS})" if kind == BIGINT else value
    return exact if weight == "1L" else f"{exact} * CAST({weight} AS {DIGITS})"


def sum_of(total: str, kind: Type) -> str:
    if isinstance(kind, DECIMAL):
        return f"CAST({total} AS DECIMAL(38,{kind.scale}))"
    return f"CAST({total} AS BIGINT)" if kind == BIGINT else f"({total} + 0.0D)"


def average_of(total: str, count: str, kind: Type) -> str:
    """The quotient of two whole numbers as DOUBLE: for DECIMAL, of its units."""
    total, count = f"CAST({total} AS DOUBLE)", f"CAST({count} AS DOUBLE)"
    if isinstance(kind, DECIMAL):
        one = f"1E{kind.scale}D"
        total, count = f"RINT({total} * {one})", f"({count} * {one})"
    return f"({total} / {count} + 0.0D)"
