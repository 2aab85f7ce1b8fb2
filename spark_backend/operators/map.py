"""Map is linear: every line's row computed anew, its weight kept; equal rows add up later."""

from __future__ import annotations

from deltaproof.reference.operators.map import Map
from deltaproof.spark_backend.lowering import Lowering, Relation, listed


def lower_map(operator: Map, rows: Relation, lowering: Lowering) -> Relation:
    """π: the columns' expressions over each line."""
    scalars = lowering.scalars(rows.schema)
    values = [f"{scalars(value)} AS _c{n}" for n, (_, value) in enumerate(operator.columns)]
    columns = listed("_case", "_tick", *values, "_weight")
    name = lowering.define(f"SELECT {columns} FROM {rows.name}")
    return Relation(name, operator.output(rows.schema), consolidated=False)
