"""What is put out later: lines of a range of ticks that are due in it, or after it.

A line that is due after the call is remembered, with the number of ticks of the next call at
which it is due; one that is due later still is carried on from call to call.
"""

from __future__ import annotations

from deltaproof.reference.types import Schema
from deltaproof.spark_backend.lowering import Lowering, Relation, listed


def put_out_when_due(clause: str, schema: Schema, lowering: Lowering) -> Relation:
    """The lines of a clause at the tick that its column `_due` says, also in a later call."""
    columns = Relation(clause, schema, False).columns
    rest = listed("_case", *columns, f"_due - {lowering.ticks} AS _due", "_weight")
    carried = f"SELECT {rest} FROM {{lines}} WHERE _due > {lowering.ticks}"
    lines = lowering.with_past(clause, [*columns, "_due"], ["_weight"], carried)
    put_out = listed("_case", "_due AS _tick", *columns, "_weight")
    name = lowering.define(f"SELECT {put_out} FROM {lines} WHERE _due <= {lowering.ticks}")
    return Relation(name, schema, consolidated=False)
