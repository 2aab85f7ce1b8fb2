"""Negate is the group's `-`: linear, and so its own increment."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Self

from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.select import Relation
from deltaproof.reference.types import Schema


@dataclass(frozen=True)
class Negate(Operator):
    """-a: every weight with the other sign. With union all it makes the difference of Z-sets.

    Shape    Z[A] → Z[A], linear
    Source   DBSP (VLDB 2023) proposition 3.2; Lean: linear_neg
    """

    name = "negate"
    shape = Shape.LINEAR
    theorem = "negate_linear"
    source = "DBSP (VLDB 2023) proposition 3.2; Lean: linear_neg"
    claimed = ("generic", "by_name")

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda rows: -rows

    def select(self, *inputs: Relation) -> None:
        """Plain SQL has no word for it: its tables hold no row a negative number of times."""

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        return cls()
