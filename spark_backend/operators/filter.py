"""Filter is linear: the lines of the changes that the predicate keeps."""

from __future__ import annotations

from dataclasses import replace

from deltaproof.reference.operators.filter import Filter
from deltaproof.spark_backend.lowering import Lowering, Relation


def lower_filter(operator: Filter, rows: Relation, lowering: Lowering) -> Relation:
    """σ: WHERE keeps a line when the predicate is TRUE, not when it is NULL."""
    predicate = lowering.scalars(rows.schema)(operator.predicate)
    return replace(rows, name=lowering.define(f"SELECT * FROM {rows.name} WHERE {predicate}"))
