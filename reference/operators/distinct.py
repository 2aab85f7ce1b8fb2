"""Distinct is not linear, but only rows of the delta can cross zero."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Shape,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet, positive, without_zeros


@dataclass(frozen=True)
class Distinct(Operator):
    """Weight 1 where the weight is positive, nothing elsewhere; NULLs are equal.

    Shape    Z[A] → Z[A], general
    Source   DBSP (VLDB 2023) definition 4.3, proposition 4.7; Lean: distinct_incremental_ok
    """

    name = "distinct"
    shape = Shape.GENERAL
    theorem = "distinct_increment"
    source = "DBSP (VLDB 2023) proposition 4.7; Lean: distinct_incremental_ok"
    state = "the weight of every row"
    claimed = ("set_valued", "monotone", "idempotent", "duplicate_free", "generic", "by_name")

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(each.names for each in inputs)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        def distinct(rows: ZSet) -> ZSet:
            weights = {row: positive(weight) for row, weight in rows.items()}
            return ZSet.trusted(without_zeros(weights))

        return distinct

    def increment(self, *inputs: Schema) -> Increment:
        return DistinctIncrement(*inputs)

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        return Select.star(rows, distinct=True)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        return cls()


class DistinctIncrement:
    """Keeps the weight of every row; emits the change of its sign."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.clear()

    def clear(self) -> None:
        self.weights: dict[Row, Any] = {}
        self.staged = ZSet()

    def step(self, delta: ZSet) -> ZSet:
        output = {}
        for row, change in delta.items():  # only rows of the delta can cross zero
            before = self.weights.get(row, 0)
            output[row] = positive(before + change) - positive(before)
        self.staged = delta
        return ZSet.trusted(without_zeros(output))

    def commit(self) -> None:
        add_into(self.weights, self.staged.items())
        self.staged = ZSet()

    def save(self) -> Any:
        return zset_to_json(self.schema, ZSet.trusted(self.weights))

    def restore(self, saved: Any) -> None:
        self.weights = dict(zset_from_json(self.schema, saved).items())
