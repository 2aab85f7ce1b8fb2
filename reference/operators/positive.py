"""Positive keeps the rows that are there: what is owed (a weight below 0) does not show."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Self

from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.set_operation import RowwiseIncrement, above_zero
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet, without_zeros


@dataclass(frozen=True)
class Positive(Operator):
    """max(weight, 0), row by row: the bag that a Z-set stands for.

    Over a bag it changes nothing, which is what SQL says of it.

    Shape    Z[A] → Z[A], general
    Law      positive(positive(a)) = positive(a); positive(a) = a for a bag
    Source   DBSP (VLDB 2023) section 4: distinct, with weights kept
    """

    name = "positive"
    shape = Shape.GENERAL
    theorem = "rowwise_increment"
    source = "DBSP (VLDB 2023) proposition 4.7, with weights kept"
    state = "the weight of every row"
    claimed = ("monotone", "idempotent", "scales", "generic", "by_name")

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(each.names for each in inputs)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        def bag(rows: ZSet) -> ZSet:
            weights = {row: above_zero(weight) for row, weight in rows.items()}
            return ZSet.trusted(without_zeros(weights))

        return bag

    def increment(self, *inputs: Schema) -> Increment:
        return RowwiseIncrement(above_zero, inputs)

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        return Select.star(rows)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        return cls()
