"""Differentiate over a range of ticks: every line, and its undoing one tick later."""

from __future__ import annotations

from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.due import put_out_when_due


def lower_differentiate(operator: Differentiate, rows: Relation, lowering: Lowering) -> Relation:
    """D: s - z⁻¹ s, of changes as of contents."""
    both = f"SELECT *, EXPLODE(ARRAY({NOW}, {LATER})) AS _part FROM {rows.name}"
    columns = listed(
        "_case", "_tick", *rows.columns, "_tick + _part AS _due", f"{signed()} AS _weight"
    )
    lines = lowering.define(f"SELECT {columns} FROM ({both})")
    return put_out_when_due(lines, rows.schema, lowering)


NOW, LATER = 0, 1


def signed() -> str:
    """The weight of a line, and of its undoing."""
    return f"IF(_part = {NOW}, _weight, -_weight)"
