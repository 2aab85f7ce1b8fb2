"""Hop is linear: every line once per window that its time is in."""

from __future__ import annotations

from collections.abc import Mapping

from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.types import BIGINT, DATE, TIMESTAMP, Type
from deltaproof.spark_backend.lowering import Lowering, Relation, listed

# Whole numbers of a time, and the time of a whole number. UTC stands in for no time zone.
UNITS: Mapping[Type, tuple[str, str]] = {
    BIGINT: ("{}", "{}"),
    DATE: ("CAST(UNIX_DATE({}) AS BIGINT)", "DATE_FROM_UNIX_DATE(CAST({} AS INT))"),
    TIMESTAMP: (
        "UNIX_MICROS(CAST({} AS TIMESTAMP))",
        "CAST(TIMESTAMP_MICROS({}) AS TIMESTAMP_NTZ)",
    ),
}


def lower_hop(operator: Hop, rows: Relation, lowering: Lowering) -> Relation:
    """EXPLODE over the starts, from the first window that holds the time to the last."""
    place = rows.schema.index(operator.time)
    units, value = UNITS[rows.schema.types[place]]
    size, slide = f"{operator.size}L", f"{operator.slide}L"
    time = units.format(f"_c{place}")
    since = since_start(time, slide)
    placed = (
        f"SELECT *, {time} - {since} AS _last, {since} AS _since "
        f"FROM {rows.name} WHERE _c{place} IS NOT NULL"
    )
    first = f"_last - ({size} - 1L - _since) DIV {slide} * {slide}"
    starts = f"SELECT *, EXPLODE(SEQUENCE({first}, _last, {slide})) AS _start FROM ({placed})"
    width = len(rows.schema)
    columns = listed(
        "_case",
        "_tick",
        *rows.columns,
        f"{value.format('_start')} AS _c{width}",
        f"{value.format(f'_start + {size}')} AS _c{width + 1}",
        "_weight",
    )
    name = lowering.define(f"SELECT {columns} FROM ({starts} WHERE _since < {size})")
    return Relation(name, operator.output(rows.schema), rows.consolidated)


def since_start(time: str, slide: str) -> str:
    """How long the last window to begin has been going on; never negative, also before 1970."""
    return f"PMOD({time}, {slide})"
