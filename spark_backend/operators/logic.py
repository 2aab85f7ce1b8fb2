"""Logic is linear: every line through every branch, at its tick or a number of ticks later."""

from __future__ import annotations

from deltaproof.reference.operators.logic import Branch, Logic
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed
from deltaproof.spark_backend.operators.due import put_out_when_due


def lower_logic(operator: Logic, rows: Relation, lowering: Lowering) -> Relation:
    """UNION ALL of the branches; with a delay, put out when they are due."""
    if len(operator.branches) > 1:
        rows = lowering.share(rows)
    lines = [branch_lines(branch, rows, lowering) for branch in operator.branches]
    schema = operator.output(rows.schema)
    if len(lines) > 1:
        together = " UNION ALL ".join(f"SELECT * FROM {each}" for each in lines)
        lines = [lowering.define(f"SELECT {ONE_PARTITION} * FROM ({together})")]
    if not operator.lifted:
        return put_out_when_due(lines[0], schema, lowering)
    return Relation(lines[0], schema, consolidated=False)


def branch_lines(branch: Branch, rows: Relation, lowering: Lowering) -> str:
    """The lines of one branch: unnest, where, weight, columns, in this order."""
    scope = branch.scope(rows.schema)
    scalars = lowering.scalars(scope)
    lines = rows.name
    if branch.unnest is not None:
        elements = lowering.scalars(rows.schema)(branch.unnest[1])
        element = f"EXPLODE({elements}) AS _c{len(rows.schema)}"
        lines = lowering.define(f"SELECT *, {element} FROM {lines}")
    if branch.where is not None:
        lines = lowering.define(f"SELECT * FROM {lines} WHERE {scalars(branch.where)}")
    weight = "_weight"
    if branch.weight is not None:
        factor = scalars(branch.weight)
        lines = lowering.define(f"SELECT *, {factor} AS _factor FROM {lines}")
        lines = lowering.define(f"SELECT * FROM {lines} WHERE _factor <> 0")
        weight = f"{weighted()} AS _weight"
    values = [f"{scalars(value)} AS _c{n}" for n, (_, value) in enumerate(branch.columns)]
    columns = listed("_case", "_tick", *values, f"{due(branch)} AS _due", weight)
    return lowering.define(f"SELECT {columns} FROM {lines}")


def weighted() -> str:
    """The weight of a line times the branch's factor."""
    return "_weight * _factor"


def due(branch: Branch) -> str:
    """The tick at which a line is put out."""
    return f"_tick + {branch.delay}"
