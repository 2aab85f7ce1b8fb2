"""A temporal filter is bilinear: a row and a moment of the clock meet at the later tick."""

from __future__ import annotations

from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.scalar import Expr
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.join import (
    LEFT_PART,
    RIGHT_PARTS,
    pair_tick,
    pair_weight,
    side_of_join,
)


def lower_temporal_filter(
    operator: TemporalFilter, rows: Relation, clock: Relation, lowering: Lowering
) -> Relation:
    """The lines of rows × clock where the moment is within the bounds; the clock itself drops out.

    A moment that goes takes back with its weight what it brought when it came.
    """
    lines = side_of_join(rows, LEFT_PART, lowering)
    moments = side_of_join(clock, RIGHT_PARTS, lowering)
    scalars = lowering.scalars(rows.schema)
    bounds = [
        f"{scalars(bound)} AS {name}"
        for name, bound in (("_lower", operator.lower), ("_upper", operator.upper))
        if bound is not None
    ]
    bounded = lowering.define(f"SELECT *, {listed(*bounds)} FROM {lines}")
    parts = [] if lowering.first else ["a._part = b._part"]
    within = within_bounds(operator.lower, operator.upper)
    matching = " AND ".join(["a._case = b._case", *parts, *within])
    columns = [f"a.{name} AS {name}" for name in rows.columns]
    selected = listed("a._case AS _case", pair_tick(), *columns, pair_weight())
    name = lowering.define(
        f"SELECT /*+ SHUFFLE_HASH(b) */ {selected} FROM {bounded} a JOIN {moments} b ON {matching}"
    )
    return Relation(name, rows.schema, consolidated=False)


def within_bounds(lower: Expr | None, upper: Expr | None) -> list[str]:
    """lower <= now and now < upper, as far as there are bounds."""
    conditions = {"a._lower <= b._c0": lower, "b._c0 < a._upper": upper}
    return [condition for condition, bound in conditions.items() if bound is not None]
