"""As-of join over a range of ticks: at each touched tick, rows of both sides in order of time.

Both sides stand in one clause. At every tick that touches a key, the rows of the key that are
there then are put in order of time, and each left row takes the last right row before it. What
is so found holds until the next tick that touches the key: it comes at the one and goes at the
other, and what stays the same cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.types import ARRAY, Column
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed
from deltaproof.spark_backend.operators.presence import Side, sides_of

LEFT_ROW, RIGHT_ROW = 0, 1


def lower_asof_join(
    operator: AsofJoin, left: Relation, right: Relation, lowering: Lowering
) -> Relation:
    """Each left row with the last right row of its key that is not later."""
    sides = sides_of(operator.on, left, right)
    times = (left.schema.index(operator.left_time), right.schema.index(operator.right_time))
    lines = lines_of_both(sides, times, lowering)
    moments = rows_at_touched_ticks(sides, lines, lowering)
    found = last_right_rows(sides, moments, operator.strict, lowering)
    if operator.kind == "inner":
        found = lowering.define(f"SELECT * FROM {found} WHERE _match IS NOT NULL")
    name = from_tick_to_tick(sides, found, lowering)
    return Relation(name, operator.output(left.schema, right.schema), consolidated=False)


def lines_of_both(sides: tuple[Side, Side], times: tuple[int, int], lowering: Lowering) -> str:
    """The lines of both sides with those of the past: keys `_k0` …, time `_t`, side, columns."""
    left, right = sides
    sources = [left.rows.name, right_rows_that_may_match(right, times[1], lowering)]
    columns = ([*left.renamed(), *right.nulls()], [*left.nulls(), *right.renamed()])
    parts = [
        f"SELECT _case, _tick, {place} AS _side, {listed(*each)}, _weight FROM {source}"
        for place, (each, source) in enumerate(zip(columns, sources, strict=True))
    ]
    both = lowering.define(f"SELECT {ONE_PARTITION} * FROM ({' UNION ALL '.join(parts)})")
    both = lowering.with_past(both, ["_side", *left.columns, *right.columns], ["_weight"])
    keys = [
        f"IF(_side = {LEFT_ROW}, {left.columns[a]}, {right.columns[b]}) AS {key}"
        for a, b, key in zip(left.keys, right.keys, left.key_columns, strict=True)
    ]
    time = f"IF(_side = {LEFT_ROW}, {left.columns[times[0]]}, {right.columns[times[1]]}) AS _t"
    return lowering.define(f"SELECT *, {listed(*keys, time)} FROM {both}")


def right_rows_that_may_match(right: Side, time: int, lowering: Lowering) -> str:
    """A NULL in the key or the time matches nothing."""
    known = " AND ".join(f"_c{place} IS NOT NULL" for place in dict.fromkeys((*right.keys, time)))
    return lowering.define(f"SELECT * FROM {right.rows.name} WHERE {known}")


def rows_at_touched_ticks(sides: tuple[Side, Side], lines: str, lowering: Lowering) -> str:
    """For every tick `_at` that touches a key, its rows as they are then; `_next` is the next one.

    A left row is there with any weight, a right row when its weight is positive.
    """
    left, right = sides
    group = listed("_case", *left.key_columns)
    row = listed("_case", "_side", *left.columns, *right.columns)
    history = lowering.define(
        f"SELECT *, SUM(_weight) OVER so_far AS _present, LEAD(_tick) OVER in_order AS _until, "
        f"COLLECT_SET(IF(_tick > 0, _tick, NULL)) OVER (PARTITION BY {group}) AS _touched "
        f"FROM {lines} WINDOW in_order AS (PARTITION BY {row} ORDER BY _tick), "
        f"so_far AS (PARTITION BY {row} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    )
    at = "_touched"
    if not lowering.first:
        at = "IF(SIZE(_touched) > 0, ARRAY_APPEND(_touched, 0), NULL)"
    ticks = lowering.define(f"SELECT *, SORT_ARRAY({at}) AS _ticks FROM {history}")
    moments = lowering.define(f"SELECT *, POSEXPLODE(_ticks) AS (_place, _at) FROM {ticks}")
    valid = lowering.define(
        f"SELECT *, GET(_ticks, _place + 1) AS _next FROM {moments} "
        "WHERE _at >= _tick AND (_until IS NULL OR _at < _until)"
    )
    return lowering.define(
        f"SELECT * FROM {valid} WHERE IF(_side = {LEFT_ROW}, _present <> 0, {right_row_is_there()})"
    )


def right_row_is_there() -> str:
    return "_present > 0"


def last_right_rows(
    sides: tuple[Side, Side], moments: str, strict: bool, lowering: Lowering
) -> str:
    """The left rows, each with its `_match`: the last right row before it, or NULL."""
    left, right = sides
    match = f"IF(_side = {RIGHT_ROW}, STRUCT({listed(*right.columns)}), NULL)"
    order = listed("_t NULLS FIRST", side_order(strict), *whole_row(right))
    window = f"(PARTITION BY {listed('_case', *left.key_columns, '_at')} ORDER BY {order} "
    window += "ROWS UNBOUNDED PRECEDING)"
    columns = listed("_case", "_side", "_at", "_next", *left.columns, "_present")
    matched = lowering.define(
        f"SELECT {columns}, LAST_VALUE({match}) IGNORE NULLS OVER {window} AS _match FROM {moments}"
    )
    return lowering.define(f"SELECT * FROM {matched} WHERE _side = {LEFT_ROW}")


def side_order(strict: bool) -> str:
    """Of one time, right rows come before the left rows that they may match."""
    return "_side ASC" if strict else "_side DESC"


def whole_row(right: Side) -> Sequence[str]:
    """The right row, column by column, NULLS LAST: it decides between rows of one time."""
    pairs = zip(right.columns, right.rows.schema.columns, strict=True)
    return [f"{ordered(name, column)} ASC NULLS LAST" for name, column in pairs]


def ordered(name: str, column: Column) -> str:
    """The column as it is ordered by: in Spark's arrays NULL comes first, in ours last."""
    if isinstance(column.type, ARRAY):
        return f"TRANSFORM({name}, _e -> STRUCT(_e IS NULL, _e))"
    return name


def from_tick_to_tick(sides: tuple[Side, Side], found: str, lowering: Lowering) -> str:
    """What is found at a tick comes then, and goes at the next that touches the key."""
    left, right = sides
    comes = "STRUCT(_at AS _tick, _present AS _weight)"
    goes = "STRUCT(_next AS _tick, - _present AS _weight)"
    matched = [f"_match.{name} AS {name}" for name in right.columns]
    changes = lowering.define(
        f"SELECT _case, {listed(*left.columns, *matched)}, INLINE(ARRAY({comes}, {goes})) "
        f"FROM {found}"
    )
    columns = listed("_case", "_tick", *left.columns, *right.columns, "_weight")
    return lowering.define(f"SELECT {columns} FROM {changes} WHERE _tick > 0")
