"""The values of a column: each once, however many rows have it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.scalar import col
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Schema, Value
from deltaproof.reference.zset import Weight, ZSet

# It works as it is. Change it from EDIT 1 on, and ask `deltaproof laws` after every step.


@dataclass(frozen=True)
class ValuesOf(Operator):
    """EDIT 1: what it puts out; what weights, NULL and the last row of a group mean to it.

    A value is there when its rows' total weight is positive. NULL is a value.

    Shape    Z[A] → Z[V], general
    Raises   SchemaError for a column that is not there
    """

    column: str  # EDIT 2: the arguments

    name = "values_of"  # in trees, in JSON, and behind `lower_` in the Spark form
    shape = Shape.GENERAL  # LINEAR when Q(a + b) = Q(a) + Q(b), BILINEAR when in each of two inputs
    theorem = "general_increment"  # of theorems/THEOREMS.md: what licenses the increment
    source = "SQL:2016 SELECT DISTINCT"  # where one can read what it must do
    spark = "deltaproof.conformance.skeleton.values_of_spark"
    claimed = ("set_valued", "by_name")  # `deltaproof laws` says what else is worth claiming

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        """EDIT 3: for each input the columns by which it may be split; () where it may not."""
        return ((self.column,),)

    def output(self, *inputs: Schema) -> Schema:
        """EDIT 4: the columns of the output. Raise SchemaError for inputs that do not fit."""
        (rows,) = inputs
        return Schema((rows.column(self.column),))

    def meaning(self, *inputs: Schema) -> Meaning:
        """EDIT 5: the output of whole tables, from nothing; all else is held to this."""
        (rows,) = inputs
        place = rows.index(self.column)

        def values_of(table: ZSet) -> ZSet:
            weights: dict[Value, Weight] = {}
            for row, weight in table.items():
                add_into(weights, [(row[place], weight)])
            return ZSet({(value,): 1 for value, weight in weights.items() if weight > 0})

        return values_of

    # EDIT 6, when all the rest is right: a method `increment`, to be fast. Without it the operator
    # keeps its inputs and asks its meaning again at every tick, which is slow and never wrong. It
    # takes the input schemas, and returns an object with step, commit, clear, save and restore:
    # see Increment in deltaproof.reference.operator, and for a short one its operators.distinct.

    def select(self, *inputs: Relation) -> Select | None:
        """EDIT 7: the same in SQL, for SQLite and DuckDB to contradict; None when SQL cannot."""
        (rows,) = inputs
        return Select(((self.column, col(self.column)),), rows, distinct=True)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """EDIT 8: random arguments that fit these schemas, so that it can be fuzzed."""
        (rows,) = inputs
        return cls(random.choice(rows.names)) if rows.names else None

    def label(self) -> str:
        """EDIT 9: the operator with its arguments on one line; and below, these as JSON."""
        return f"{self.name} {self.column}"

    def to_json(self) -> dict[str, Any]:
        return {"column": self.column}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(arguments["column"])
