"""Semi and anti join over a range of ticks: rows meet the presence of their keys, not matches."""

from __future__ import annotations

from dataclasses import replace

from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.types import Schema
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.join import pair_tick, pair_weight
from deltaproof.spark_backend.operators.presence import (
    Side,
    all_lines,
    kept_changes,
    meeting,
    presence_lines,
    read_again,
    row_lines,
    sides_of,
)


def lower_semi_join(
    operator: SemiJoin, left: Relation, right: Relation, lowering: Lowering
) -> Relation:
    """a ⋉ b, or a ▷ b."""
    if operator.anti or operator.residual is not None:
        left = read_again(left, lowering)
    rows, others = sides_of(operator.on, left, right)
    if operator.residual is None:
        name = by_key(rows, others, operator.anti, lowering)
        return replace(left, name=name, consolidated=False)
    scalars = lowering.scalars(Schema(left.schema.columns + right.schema.columns))
    kept = if_unmatched if operator.anti else if_matched
    lines = row_lines(others, lowering)
    name = kept_changes(rows, lines, scalars(operator.residual), kept, lowering)
    return replace(left, name=name, consolidated=True)


def by_key(rows: Side, others: Side, anti: bool, lowering: Lowering) -> str:
    """The rows that meet a key that is present; anti: all rows, less these."""
    met = meeting(
        row_lines(rows, lowering),
        presence_lines(others, lowering),
        [pair_tick(), *rows.columns, pair_weight()],
        rows.key_columns,
        (),
        lowering,
    )
    if not anti:
        return met
    columns = listed("_case", "_tick", *rows.columns)
    every = f"SELECT {columns}, _weight FROM {rows.rows.name}"
    return all_lines([every, f"SELECT {columns}, - _weight AS _weight FROM {met}"], lowering)


def if_matched(weight: str, match: str) -> str:
    """The weight of a row while it has a match."""
    return f"IF({match} > 0, {weight}, 0L)"


def if_unmatched(weight: str, match: str) -> str:
    """The weight of a row while it has none."""
    return f"IF({match} > 0, 0L, {weight})"
