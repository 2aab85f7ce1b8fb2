"""Distinct over a range of ticks: a row's running weight says when it enters and when it leaves."""

from __future__ import annotations

from dataclasses import replace

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.spark_backend.lowering import Lowering, Relation, listed


def lower_distinct(operator: Distinct, rows: Relation, lowering: Lowering) -> Relation:
    """At each line the sign of the weight before and after it; the difference is the change."""
    row = listed("_case", *rows.columns)
    lines = one_line_per_tick(rows, lowering)
    lines = lowering.with_past(lines, rows.columns, ["_weight"])
    after = f"SUM(_weight) OVER (PARTITION BY {row} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    weights = lowering.define(f"SELECT {row}, _tick, _weight, {after} AS _after FROM {lines}")
    change = f"{presence('_after')} - {presence('_after - _weight')}"
    changes = lowering.define(f"SELECT {row}, _tick, {change} AS _weight FROM {weights}")
    name = lowering.define(f"SELECT * FROM {changes} WHERE _weight <> 0 AND _tick > 0")
    return replace(rows, name=name, consolidated=True)


def presence(weight: str) -> str:
    """1 when the weight is positive, else 0."""
    return f"IF({weight} > 0, 1L, 0L)"


def one_line_per_tick(rows: Relation, lowering: Lowering) -> str:
    """The relation's lines, those of one row in one tick added up."""
    if rows.consolidated:
        return rows.name
    line = listed("_case", "_tick", *rows.columns)
    return lowering.define(
        f"SELECT {line}, SUM(_weight) AS _weight FROM {rows.name} GROUP BY {line}"
    )
