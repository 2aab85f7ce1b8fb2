"""Negate is linear: the lines of the changes with the other sign."""

from __future__ import annotations

from dataclasses import replace

from deltaproof.reference.operators.negate import Negate
from deltaproof.spark_backend.lowering import Lowering, Relation, listed


def lower_negate(operator: Negate, rows: Relation, lowering: Lowering) -> Relation:
    """-a: the smallest BIGINT has no negative, which is then an error."""
    columns = listed("_case", "_tick", *rows.columns, "- _weight AS _weight")
    return replace(rows, name=lowering.define(f"SELECT {columns} FROM {rows.name}"))
