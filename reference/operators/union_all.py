"""Union all is the group's `+`: linear, and so its own increment."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Self

from deltaproof.reference.operator import Meaning, Operator, Pairing, Shape, same_types
from deltaproof.reference.select import Compound, Relation
from deltaproof.reference.types import Column, Schema


@dataclass(frozen=True)
class UnionAll(Operator):
    """a + b: the weights of both inputs, added. The column names are those of the left input.

    Shape    Z[A] × Z[A] → Z[A], linear in the pair
    Source   DBSP (VLDB 2023) table 1; Lean: add_incremental
    Raises   SchemaError when the inputs' types differ
    """

    name = "union_all"
    arity = 2
    pairing = Pairing.SAME_TYPES
    shape = Shape.LINEAR
    theorem = "union_all_linear"
    source = "DBSP (VLDB 2023) proposition 3.2; Lean: add_incremental"
    claimed = ("monotone", "commutative", "generic")

    def output(self, *inputs: Schema) -> Schema:
        left, right = inputs
        same_types(self.name, left, right)
        return Schema(
            tuple(
                Column(a.name, a.type, a.nullable or b.nullable)
                for a, b in zip(left.columns, right.columns, strict=True)
            )
        )

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda left, right: left + right

    def select(self, *inputs: Relation) -> Compound:
        return Compound(inputs)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        left, right = inputs
        return cls() if left.types == right.types else None
