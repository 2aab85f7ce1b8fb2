"""Flat map puts one row for each element of an array; it is linear like the map it generalises."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.scalar import Expr, array, from_json
from deltaproof.reference.scalar_functions import ArrayOf
from deltaproof.reference.scalar_sample import sample_expression
from deltaproof.reference.scalar_tree import ColumnRef, checked_expressions
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.types import ARRAY, Column, Row, Schema
from deltaproof.reference.zset import ZSet, without_zeros


@dataclass(frozen=True)
class FlatMap(Operator):
    """UNNEST: each row once per element of its array, the element in a new last column.

    An element that stands in the array twice counts twice; an empty or NULL array gives no row.

    Shape    Z[A] → Z[A × E], linear
    Source   Lean: flatmap_incremental
    Raises   SchemaError when the expression is not an ARRAY
    """

    array: Expr
    element: str

    name = "flat_map"
    shape = Shape.LINEAR
    theorem = "flat_map_linear"
    source = "DBSP (VLDB 2023) section 7.4; Lean: flatmap_incremental"
    claimed = ("monotone", "generic", "by_name")

    def claims(self) -> tuple[str, ...]:
        elements = self.array.operands if isinstance(self.array, ArrayOf) else (self.array,)
        return self.claimed_if(generic=all(isinstance(each, ColumnRef) for each in elements))

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        checked_expressions(self.name, self.array)
        kind = self.array.type_in(rows)
        if not isinstance(kind, ARRAY):
            raise SchemaError(f"flat_map: expected an ARRAY to unnest, got {kind} {self.array}")
        return Schema((*rows.columns, Column(self.element, kind.element)))

    def meaning(self, *inputs: Schema) -> Meaning:
        elements = self.array.compile(*inputs)

        def flat_mapped(rows: ZSet) -> ZSet:
            weights: dict[Row, Any] = {}
            for row, weight in rows.items():
                for element in elements(row) or ():
                    new = (*row, element)
                    weights[new] = weights.get(new, 0) + weight
            return ZSet.trusted(without_zeros(weights))

        return flat_mapped

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        return Select.star(rows, unnest=(self.element, self.array))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        kinds = [c.type for c in rows.columns if not isinstance(c.type, ARRAY)]
        if not kinds:
            return None
        kind = random.choice(kinds)
        values = [sample_expression(random, rows, kind) for _ in range(random.randint(1, 3))]
        return cls(array(*values), _unused("e", rows))

    def label(self) -> str:
        return f"flat_map {self.array} AS {self.element}"

    def to_json(self) -> dict[str, Any]:
        return {"array": self.array.to_json(), "element": self.element}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(from_json(arguments["array"]), arguments["element"])


def _unused(stem: str, schema: Schema) -> str:
    """The first of stem0, stem1, … that names no column."""
    taken = {name.lower() for name in schema.names}
    return next(name for n in range(len(taken) + 1) if (name := f"{stem}{n}") not in taken)
