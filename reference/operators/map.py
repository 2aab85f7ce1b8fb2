"""Map computes a new row from each row; rows that become equal add their weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.scalar import Expr, col, from_json, sample_expression
from deltaproof.reference.scalar_tree import ColumnRef, checked_expressions
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.types import Column, Row, Schema, Value
from deltaproof.reference.zset import ZSet, without_zeros


@dataclass(frozen=True)
class Map(Operator):
    """π: the named expressions of each row. Projection, renaming and computing are all this.

    Shape    Z[A] → Z[B], linear: the weight of b is the sum of the weights of its pre-images
    Source   DBSP (VLDB 2023) table 1; Lean: map_incremental
    Raises   SchemaError for an expression that has no type, or two columns of one name
    """

    columns: tuple[tuple[str, Expr], ...]

    name = "map"
    shape = Shape.LINEAR
    theorem = "map_linear"
    source = "DBSP (VLDB 2023) table 1; Lean: map_linear"
    claimed = ("monotone", "generic", "by_name")

    def claims(self) -> tuple[str, ...]:
        copies = all(isinstance(value, ColumnRef) for _, value in self.columns)
        return self.claimed_if(generic=copies)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        checked_expressions(self.name, *[value for _, value in self.columns])
        return Schema(
            tuple(
                Column(name, value.type_in(rows), value.nullable_in(rows))
                for name, value in self.columns
            )
        )

    def meaning(self, *inputs: Schema) -> Meaning:
        image = row_function([value.compile(*inputs) for _, value in self.columns])

        def mapped(rows: ZSet) -> ZSet:
            weights: dict[Row, Any] = {}
            for row, weight in rows.items():
                new = image(row)
                weights[new] = weights.get(new, 0) + weight
            return ZSet.trusted(without_zeros(weights))

        return mapped

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        return Select(self.columns, rows)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """Keeps most columns, computes some; sometimes drops enough for rows to merge."""
        (rows,) = inputs
        kept = [c for c in rows.columns if random.random() < 0.7] or [random.choice(rows.columns)]
        columns: list[tuple[str, Expr]] = []
        for position, column in enumerate(kept):
            computed = random.random() < 0.3
            value = sample_expression(random, rows, column.type) if computed else col(column.name)
            columns.append((f"m{position}", value))
        return cls(tuple(columns))

    def label(self) -> str:
        return "map " + ", ".join(
            name if str(value) == name else f"{value} AS {name}" for name, value in self.columns
        )

    def to_json(self) -> dict[str, Any]:
        return {"columns": [[name, value.to_json()] for name, value in self.columns]}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(tuple((name, from_json(value)) for name, value in arguments["columns"]))


def row_function(values: list[Callable[[Row], Value]]) -> Callable[[Row], Row]:
    """The function from a row to the tuple of these values of it."""
    match values:
        case [one]:
            return lambda row: (one(row),)
        case [one, two]:
            return lambda row: (one(row), two(row))
        case [one, two, three]:
            return lambda row: (one(row), two(row), three(row))
        case _:
            return lambda row: tuple([value(row) for value in values])
