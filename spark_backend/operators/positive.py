"""Positive over a range of ticks: how often a row is there after each line, and before it."""

from __future__ import annotations

from dataclasses import replace

from deltaproof.reference.operators.positive import Positive
from deltaproof.spark_backend.lowering import Lowering, Relation
from deltaproof.spark_backend.operators.set_operation import copies, rowwise_changes


def lower_positive(operator: Positive, rows: Relation, lowering: Lowering) -> Relation:
    """The running weight of each row, cut off below zero."""
    name = rowwise_changes(rows.name, rows.columns, ["_weight"], copies, lowering)
    return replace(rows, name=name, consolidated=True)
