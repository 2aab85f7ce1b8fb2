"""Flat map is linear: every line once per element of its array, with the line's weight."""

from __future__ import annotations

from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.spark_backend.lowering import Lowering, Relation, listed


def lower_flat_map(operator: FlatMap, rows: Relation, lowering: Lowering) -> Relation:
    """UNNEST: EXPLODE makes no line of a NULL or an empty array."""
    array = lowering.scalars(rows.schema)(operator.array)
    element = f"EXPLODE({array}) AS _c{len(rows.schema)}"
    columns = listed("_case", "_tick", *rows.columns, element, "_weight")
    name = lowering.define(f"SELECT {columns} FROM {rows.name}")
    return Relation(name, operator.output(rows.schema), consolidated=False)
