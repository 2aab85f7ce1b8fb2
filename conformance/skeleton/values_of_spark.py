"""The values of a column, on Spark: a value's running weight says when it comes and goes."""

from __future__ import annotations

from typing import Any

from deltaproof.spark_backend.lowering import Lowering, Relation


def lower_values_of(operator: Any, rows: Relation, lowering: Lowering) -> Relation:
    """EDIT 10: SELECT over SELECT, for all ticks of all cases (`_case`, `_tick`) at once.

    A line changes the weight of a row by `_weight`; the row's columns are `_c0`, `_c1` and so on.
    `with_past` adds, as lines of tick 0, what earlier calls left, and keeps it for the next.
    """
    place = rows.schema.index(operator.column)
    changes = lowering.define(
        f"SELECT _case, _tick, _c{place} AS _c0, SUM(_weight) AS _weight FROM {rows.name} "
        f"GROUP BY _case, _tick, _c{place}"
    )
    lines = lowering.with_past(changes, ["_c0"], ["_weight"])
    so_far = "(PARTITION BY _case, _c0 ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    weights = lowering.define(f"SELECT *, SUM(_weight) OVER {so_far} AS _after FROM {lines}")
    change = "IF(_after > 0, 1L, 0L) - IF(_after - _weight > 0, 1L, 0L)"
    name = lowering.define(
        f"SELECT _case, _tick, _c0, {change} AS _weight FROM {weights} WHERE _tick > 0"
    )
    return Relation(name, operator.output(rows.schema), consolidated=False)
