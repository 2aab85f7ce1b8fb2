"""Groups as they are at every tick that touches them: the general way to read an order on Spark.

A row's lines say when its weight changes, so between two of them its weight holds. At every tick
`_at` that touches a group each of the group's rows is put down once, with the weight that it has
then. What an operator makes of such a snapshot holds until the next tick that touches the group:
it comes at `_at` and goes at `_next`, and what stays the same from one to the other cancels.

    history      each line with the row's weight after it, and the tick until which that holds
    snapshots    the rows of a group at each touched tick: the columns, `_present`, `_at`, `_next`
    from_tick_to_tick
                 the changes: results come at `_at` and go at `_next`

A call's touched groups are read anew at each of their ticks; groups that it does not touch are
read over and left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from deltaproof.reference.order import Order
from deltaproof.reference.ordered import MOST_COPIES
from deltaproof.reference.types import ARRAY, Schema, Type
from deltaproof.spark_backend.lowering import Lowering, Relation, listed

TOO_MANY = f"RAISE_ERROR('a row is there over {MOST_COPIES} times: each copy has its own result')"


def snapshots(
    rows: Relation, partition: Sequence[str], lowering: Lowering, where: str = "TRUE"
) -> str:
    """The rows of positive weight of each touched partition, at every tick that touches it."""
    columns = rows.columns
    lines = rows.name
    if where != "TRUE":
        lines = lowering.define(f"SELECT * FROM {lines} WHERE {where}")
    lines = lowering.with_past(lines, columns, ["_weight"])
    group = listed("_case", *(f"_c{rows.schema.index(name)}" for name in partition))
    row = listed("_case", *columns)
    touched = f"COLLECT_SET(IF(_tick > 0, _tick, NULL)) OVER (PARTITION BY {group})"
    history = lowering.define(
        f"SELECT {row}, _tick, SUM(_weight) OVER so_far AS _present, "
        f"LEAD(_tick) OVER in_order AS _until, {touched} AS _touched FROM {lines} "
        f"WINDOW in_order AS (PARTITION BY {row} ORDER BY _tick), "
        f"so_far AS (PARTITION BY {row} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    )
    at = "_touched"
    if not lowering.first:  # what the group was before this call
        at = "IF(SIZE(_touched) > 0, ARRAY_APPEND(_touched, 0), NULL)"
    there = lowering.define(
        f"SELECT {row}, _tick, _present, _until, SORT_ARRAY({at}) AS _ticks FROM {history} "
        f"WHERE {is_there()}"
    )
    moments = lowering.define(f"SELECT *, POSEXPLODE(_ticks) AS (_place, _at) FROM {there}")
    return lowering.define(
        f"SELECT {row}, _present, _at, GET(_ticks, _place + 1) AS _next FROM {moments} "
        "WHERE _at >= _tick AND (_until IS NULL OR _at < _until)"
    )


def is_there() -> str:
    """A row is in an order when its weight is positive."""
    return "_present > 0"


def copies(first: str, last: str) -> str:
    """A line for each number from the first to the last, where each copy has its own result."""
    most = f"IF({last} - ({first}) >= {MOST_COPIES}L, {TOO_MANY}, {last})"
    return f"EXPLODE(SEQUENCE({first}, {most}))"


def from_tick_to_tick(found: str, columns: Sequence[str], weight: str, lowering: Lowering) -> str:
    """What is found at a tick comes then, and goes at the next that touches its group."""
    comes = f"STRUCT(_at AS _tick, {weight} AS _weight)"
    goes = f"STRUCT(_next AS _tick, - {weight} AS _weight)"
    changes = lowering.define(
        f"SELECT _case, {listed(*columns)}, INLINE(ARRAY({comes}, {goes})) FROM {found}"
    )
    return lowering.define(f"SELECT * FROM {changes} WHERE _tick > 0")


def window(rows: Relation, partition: Sequence[str], order: Sequence[str], frame: str = "") -> str:
    """What stands behind OVER, within one partition at one tick."""
    keys = listed("_case", "_at", *(f"_c{rows.schema.index(name)}" for name in partition))
    terms = f" ORDER BY {listed(*order)}" if order else ""
    return f"(PARTITION BY {keys}{terms}{frame and ' ' + frame})"


def terms_of(order: Sequence[Order], schema: Schema, lowering: Lowering) -> list[str]:
    """What ORDER BY says; Spark is told where NULLs stand."""
    scalars = lowering.scalars(schema)
    return [
        f"{scalars(term.expression)} {'DESC' if term.descending else 'ASC'} "
        f"NULLS {'FIRST' if term.nulls_first else 'LAST'}"
        for term in order
    ]


def whole_row(schema: Schema) -> list[str]:
    """The row, column by column, NULLS LAST: it completes every order."""
    return [
        f"{ordered(f'_c{place}', kind)} ASC NULLS LAST" for place, kind in enumerate(schema.types)
    ]


def ordered(value: str, kind: Type, depth: int = 0) -> str:
    """The value as it is ordered by: in Spark's arrays NULL comes first, in ours last.

    >>> from deltaproof.reference.types import BIGINT
    >>> ordered("_c0", BIGINT), ordered("_c1", ARRAY(BIGINT))
    ('_c0', 'TRANSFORM(_c1, _e0 -> STRUCT(_e0 IS NULL, _e0))')
    """
    if not isinstance(kind, ARRAY):
        return value
    element = f"_e{depth}"
    inside = ordered(element, kind.element, depth + 1)
    return f"TRANSFORM({value}, {element} -> STRUCT({element} IS NULL, {inside}))"
