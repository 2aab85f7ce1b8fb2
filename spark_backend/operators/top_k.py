"""Top-k over a range of ticks: in each snapshot the copies whose place is among the first."""

from __future__ import annotations

from deltaproof.reference.operators.top_k import TopK
from deltaproof.spark_backend.lowering import Lowering, Relation
from deltaproof.spark_backend.snapshots import (
    from_tick_to_tick,
    snapshots,
    terms_of,
    whole_row,
    window,
)


def lower_top_k(operator: TopK, rows: Relation, lowering: Lowering) -> Relation:
    """A row stands at the places up to the running weight; so many of them are kept."""
    taken = snapshots(rows, operator.partition, lowering)
    order = [*terms_of(operator.order, rows.schema, lowering), *tie_break(rows)]
    over = window(rows, operator.partition, order, "ROWS UNBOUNDED PRECEDING")
    placed = lowering.define(f"SELECT *, SUM(_present) OVER {over} AS _end FROM {taken}")
    kept = lowering.define(f"SELECT *, {kept_copies(operator)} AS _kept FROM {placed}")
    found = lowering.define(f"SELECT * FROM {kept} WHERE _kept > 0")
    name = from_tick_to_tick(found, rows.columns, "_kept", lowering)
    return Relation(name, operator.output(rows.schema), consolidated=False)


def tie_break(rows: Relation) -> list[str]:
    """What decides between rows that the order calls equal."""
    return whole_row(rows.schema)


def kept_copies(operator: TopK) -> str:
    """How many of a row's places are beyond the offset and not beyond the limit."""
    start, end = f"{operator.offset}L", f"{operator.offset + operator.limit}L"
    return f"LEAST(_end, {end}) - GREATEST(_end - _present, {start})"
