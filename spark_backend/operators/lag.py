"""LAG and LEAD over a range of ticks: in each snapshot, over the rows' copies in order."""

from __future__ import annotations

from deltaproof.reference.operators.lag import Lag
from deltaproof.spark_backend.lowering import Lowering, Relation
from deltaproof.spark_backend.snapshots import (
    copies,
    from_tick_to_tick,
    snapshots,
    terms_of,
    whole_row,
    window,
)


def lower_lag(operator: Lag, rows: Relation, lowering: Lowering) -> Relation:
    """Each copy of a row with the value of the copy so many places away."""
    taken = snapshots(rows, operator.partition, lowering)
    copied = lowering.define(f"SELECT *, {copies('1L', '_present')} AS _copy FROM {taken}")
    order = [*terms_of(operator.order, rows.schema, lowering), *whole_row(rows.schema)]
    over = window(rows, operator.partition, order)
    scalars = lowering.scalars(rows.schema)
    given = [scalars(operator.argument), str(abs(operator.offset))]
    if operator.default is not None:
        given.append(scalars(operator.default))
    result = f"_c{len(rows.schema)}"
    value = f"{operator.function.upper()}({', '.join(given)}) OVER {over}"
    found = lowering.define(f"SELECT *, {value} AS {result} FROM {copied}")
    name = from_tick_to_tick(found, [*rows.columns, result], "1L", lowering)
    return Relation(name, operator.output(rows.schema), consolidated=False)
