"""Delay over a range of ticks: every line some ticks later, in this call or in one after it."""

from __future__ import annotations

from deltaproof.reference.operators.delay import Delay
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.due import put_out_when_due


def lower_delay(operator: Delay, rows: Relation, lowering: Lowering) -> Relation:
    """z⁻ᵏ: `_tick` + k; linear and time-invariant, so changes are delayed as contents are."""
    columns = listed("_case", "_tick", *rows.columns, f"{due(operator)} AS _due", "_weight")
    lines = lowering.define(f"SELECT {columns} FROM {rows.name}")
    return put_out_when_due(lines, rows.schema, lowering)


def due(operator: Delay) -> str:
    """The tick at which a line is put out."""
    return f"_tick + {operator.ticks}"
