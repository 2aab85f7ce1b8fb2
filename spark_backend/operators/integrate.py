"""Integrate over a range of ticks: a line of the input is a line of the output ever after."""

from __future__ import annotations

from deltaproof.reference.operators.integrate import Integrate
from deltaproof.spark_backend.lowering import Lowering, Relation, listed


def lower_integrate(operator: Integrate, rows: Relation, lowering: Lowering) -> Relation:
    """I: the sum of contents changes at every tick by what is there then, changed or not.

    So the lines of the past count again at every tick, and each new line from its tick on.
    """
    lines = lowering.with_past(rows.name, rows.columns, ["_weight"])
    columns = listed("_case", f"{ticks_of_line(lowering)} AS _tick", *rows.columns, "_weight")
    name = lowering.define(f"SELECT {columns} FROM {lines}")
    return Relation(name, rows.schema, consolidated=False)


def ticks_of_line(lowering: Lowering) -> str:
    """Every tick of this call at which the line is part of the contents."""
    return f"EXPLODE(SEQUENCE(GREATEST(_tick, 1), {lowering.ticks}))"
