"""Delay shows what was some ticks ago; it is linear and time-invariant, so changes wait alike."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape, StreamMeaning
from deltaproof.reference.operators.due import Due, later, only_over_time
from deltaproof.reference.select import Relation
from deltaproof.reference.types import Schema


@dataclass(frozen=True)
class Delay(Operator):
    """z⁻ᵏ: the contents of `ticks` ticks ago; empty until there were so many.

    Shape    linear and time-invariant, so Q^Δ = Q; keeps the changes of the last k ticks
    Law      z(a + b) = z(a) + z(b);  I(z(s)) = z(I(s))
    Source   DBSP (VLDB 2023) definition 2.5; Lean: delay, delay_linear
    Raises   SchemaError for a number of ticks below 1

    >>> from deltaproof.reference.zset import ZSet
    >>> Delay(1).over_time(Schema.parse("k BIGINT"))([ZSet({(1,): 1}), ZSet({(2,): 1})])
    [ZSet({}), ZSet({(1,): 1})]
    """

    ticks: int = 1

    name = "delay"
    lifted = False
    shape = Shape.LINEAR
    state = "the changes of the last ticks"
    theorem = "delay_linear_time_invariant"
    source = "DBSP (VLDB 2023) definition 2.5; Lean: delay_linear, delay_time_invariant"
    claimed = ("strict",)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        if type(self.ticks) is not int or self.ticks < 1:
            raise SchemaError(f"delay: expected 1 tick or more, got {self.ticks!r}")
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        only_over_time(self.label())

    def over_time(self, *inputs: Schema) -> StreamMeaning:
        return lambda stream: later(stream, self.ticks)

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        return Due(rows, {self.ticks: lambda delta: delta})

    def select(self, *inputs: Relation) -> None:
        return None

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        return cls(random.choice((1, 1, 2, 3)))

    def label(self) -> str:
        return f"delay {self.ticks}"

    def to_json(self) -> dict[str, Any]:
        return {"ticks": self.ticks}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(arguments["ticks"])
