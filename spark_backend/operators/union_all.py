"""Union all is linear: the lines of both inputs' changes."""

from __future__ import annotations

from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed


def lower_union_all(
    operator: UnionAll, left: Relation, right: Relation, lowering: Lowering
) -> Relation:
    """a + b, column by column in order."""
    columns = listed("_case", "_tick", *left.columns, "_weight")
    lines = " UNION ALL ".join(f"SELECT {columns} FROM {side.name}" for side in (left, right))
    name = lowering.define(f"SELECT {ONE_PARTITION} * FROM ({lines})")
    return Relation(name, operator.output(left.schema, right.schema), consolidated=False)
