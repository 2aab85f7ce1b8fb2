"""Session windows over a range of ticks: in each snapshot, a session starts after each long gap."""

from __future__ import annotations

from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.hop import UNITS
from deltaproof.spark_backend.snapshots import from_tick_to_tick, snapshots, window


def lower_session_window(operator: SessionWindow, rows: Relation, lowering: Lowering) -> Relation:
    """Each row with the bounds of its session, which the number of starts so far names."""
    place = rows.schema.index(operator.time)
    units, value = UNITS[rows.schema.types[place]]
    there = snapshots(rows, operator.partition, lowering, where=f"_c{place} IS NOT NULL")
    timed = lowering.define(f"SELECT *, {units.format(f'_c{place}')} AS _time FROM {there}")
    over = window(rows, operator.partition, ["_time"])
    marked = lowering.define(f"SELECT *, {starts(operator, over)} AS _starts FROM {timed}")
    so_far = window(rows, operator.partition, ["_time"], SO_FAR)
    numbered = lowering.define(f"SELECT *, SUM(_starts) OVER {so_far} AS _session FROM {marked}")
    whole = f"{window(rows, operator.partition, [])[:-1]}, _session)"
    width = len(rows.schema)
    bounds = [
        f"{value.format(f'MIN(_time) OVER {whole}')} AS _c{width}",
        f"{value.format(f'MAX(_time) OVER {whole} + {operator.gap}L')} AS _c{width + 1}",
    ]
    found = lowering.define(f"SELECT *, {listed(*bounds)} FROM {numbered}")
    columns = [*rows.columns, f"_c{width}", f"_c{width + 1}"]
    name = from_tick_to_tick(found, columns, "_present", lowering)
    return Relation(name, operator.output(rows.schema), consolidated=False)


SO_FAR = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def starts(operator: SessionWindow, over: str) -> str:
    """1 where a row comes too long after the one before it, also after none."""
    gap = f"CAST(_time AS DECIMAL(20,0)) - LAG(_time) OVER {over} > {operator.gap}"
    return f"IF(COALESCE({gap}, TRUE), 1L, 0L)"
