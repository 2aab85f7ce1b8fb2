"""Differentiate shows what the last tick changed; it is linear and time-invariant."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Self

from deltaproof.reference.operator import Increment, Meaning, Operator, Shape, StreamMeaning
from deltaproof.reference.operators.due import Due, only_over_time
from deltaproof.reference.select import Relation
from deltaproof.reference.stream import differentiate
from deltaproof.reference.types import Schema


@dataclass(frozen=True)
class Differentiate(Operator):
    """D: the contents now minus the contents a tick ago; all of them at the first tick.

    Its contents are the input's last change, with negative weights where rows went.

    Shape    linear and time-invariant, so Q^Δ = Q; keeps the changes of the last tick
    Law      D(s) = s - z(s);  I(D(s)) = s
    Source   DBSP (VLDB 2023) definition 2.15, proposition 2.16; Lean: derivative_lti

    >>> from deltaproof.reference.zset import ZSet
    >>> Differentiate().over_time(Schema.parse("k BIGINT"))([ZSet({(1,): 1}), ZSet()])
    [ZSet({(1,): 1}), ZSet({(1,): -1})]
    """

    name = "differentiate"
    lifted = False
    shape = Shape.LINEAR
    state = "the changes of the last tick"
    theorem = "differentiate_linear_time_invariant"
    source = "DBSP (VLDB 2023) definition 2.15, proposition 2.16; Lean: derivative_lti"

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        only_over_time(self.label())

    def over_time(self, *inputs: Schema) -> StreamMeaning:
        return differentiate

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        return Due(rows, {0: lambda delta: delta, 1: lambda delta: -delta})

    def select(self, *inputs: Relation) -> None:
        return None

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        return cls()
