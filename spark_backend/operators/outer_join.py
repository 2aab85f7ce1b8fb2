"""Outer join over a range of ticks: one join with absence standing beside rows, and the padding."""

from __future__ import annotations

from deltaproof.reference.operators.outer_join import LEFT, RIGHT, OuterJoin
from deltaproof.reference.types import Schema
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.join import pair_tick, pair_weight
from deltaproof.spark_backend.operators.presence import (
    Side,
    absence_lines,
    all_lines,
    kept_changes,
    meeting,
    read_again,
    row_lines,
    sides_of,
)
from deltaproof.spark_backend.operators.semi_join import if_unmatched


def lower_outer_join(
    operator: OuterJoin, left: Relation, right: Relation, lowering: Lowering
) -> Relation:
    """a ⟕ b, a ⟖ b or a ⟗ b."""
    sides = sides_of(operator.on, read_again(left, lowering), read_again(right, lowering))
    if operator.residual is None:
        parts = by_key(operator, sides, lowering)
    else:
        scalars = lowering.scalars(Schema(left.schema.columns + right.schema.columns))
        parts = by_row(operator, sides, scalars(operator.residual), lowering)
    schema = operator.output(left.schema, right.schema)
    return Relation(all_lines(parts, lowering), schema, consolidated=False)


def by_key(operator: OuterJoin, sides: tuple[Side, Side], lowering: Lowering) -> list[str]:
    """The pairs of rows, and of rows and absence; and all rows of the padded sides."""
    lines = [lines_of_side(operator, sides, side, lowering) for side in (LEFT, RIGHT)]
    both_absent = operator.kind == "full"
    conditions = ["NOT (a._absent AND b._absent)"] if both_absent else []
    pairs = pairs_of(sides, lines, conditions, lowering)
    padded = [padding(sides, side, renamed(sides[side], lowering)) for side in operator.padded]
    return [pairs, *padded]


def lines_of_side(
    operator: OuterJoin, sides: tuple[Side, Side], side: int, lowering: Lowering
) -> str:
    """A side's lines, and beside them -p ⊗ NULLs where the other side is padded."""
    parts = [row_lines(sides[side], lowering)]
    if 1 - side in operator.padded:
        parts.append(absence_lines(sides[side], lowering))
    columns = listed("_case", "_tick", *sides[side].key_columns, *sides[side].columns)
    return all_lines(
        [f"SELECT {columns}, _absent, _weight FROM {part}" for part in parts], lowering
    )


def by_row(
    operator: OuterJoin, sides: tuple[Side, Side], residual: str, lowering: Lowering
) -> list[str]:
    """The pairs of rows; and the rows of the padded sides, while they have no match."""
    lines = [row_lines(side, lowering) for side in sides]
    pairs = pairs_of(sides, lines, [residual], lowering)
    padded = []
    for side in operator.padded:
        kept = kept_changes(sides[side], lines[1 - side], residual, if_unmatched, lowering)
        padded.append(padding(sides, side, kept))
    return [pairs, *padded]


def pairs_of(
    sides: tuple[Side, Side], lines: list[str], conditions: list[str], lowering: Lowering
) -> str:
    """The pairs of lines of both sides, as a SELECT."""
    columns = [*sides[LEFT].columns, *sides[RIGHT].columns]
    selected = [pair_tick(), *columns, pair_weight()]
    keys = sides[LEFT].key_columns
    met = meeting(lines[LEFT], lines[RIGHT], selected, keys, conditions, lowering)
    return f"SELECT {listed('_case', '_tick', *columns)}, _weight FROM {met}"


def renamed(side: Side, lowering: Lowering) -> str:
    """The lines of this call under the names that they have in the pair."""
    columns = listed("_case", "_tick", *side.renamed(), "_weight")
    return lowering.define(f"SELECT {columns} FROM {side.rows.name}")


def padding(sides: tuple[Side, Side], side: int, rows: str) -> str:
    """Rows of one side with NULLs in the columns of the other, as a SELECT."""
    columns = [*sides[side].columns, *sides[1 - side].nulls()]
    if side == RIGHT:
        columns = [*sides[LEFT].nulls(), *sides[RIGHT].columns]
    return f"SELECT {listed('_case', '_tick', *columns)}, _weight FROM {rows}"
