"""Filter keeps the rows whose predicate is TRUE; it is linear, so changes are filtered alike."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.scalar import Expr, from_json, sample_predicate
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.types import BOOLEAN, Schema
from deltaproof.reference.zset import ZSet


@dataclass(frozen=True)
class Filter(Operator):
    """σ: the rows whose predicate is TRUE, with their weights; FALSE and NULL drop a row.

    Shape    Z[A] → Z[A], linear
    Source   DBSP (VLDB 2023) table 1; Lean: filter_incremental
    Raises   SchemaError when the predicate is not BOOLEAN over the input's columns
    """

    predicate: Expr

    name = "filter"
    shape = Shape.LINEAR
    theorem = "filter_linear"
    source = "DBSP (VLDB 2023) table 1; Lean: filter_linear"
    claimed = ("monotone", "idempotent", "by_name")

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        if not isinstance(self.predicate, Expr):
            raise SchemaError(
                f"filter: expected an expression, got {self.predicate!r}; equality of a column "
                "is col('k').eq(1), as == compares expressions"
            )
        if (kind := self.predicate.type_in(rows)) != BOOLEAN:
            raise SchemaError(f"filter: expected a BOOLEAN predicate, got {kind} {self.predicate}")
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        keeps = self.predicate.compile(*inputs)

        def filtered(rows: ZSet) -> ZSet:
            return ZSet.trusted({row: weight for row, weight in rows.items() if keeps(row)})

        return filtered

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        return Select.star(rows, where=self.predicate)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        return cls(sample_predicate(random, rows))

    def label(self) -> str:
        return f"filter {self.predicate}"

    def to_json(self) -> dict[str, Any]:
        return {"predicate": self.predicate.to_json()}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(from_json(arguments["predicate"]))
