"""Integrate adds up the contents of all ticks so far; it is linear and time-invariant."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Shape,
    StreamMeaning,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.operators.due import only_over_time
from deltaproof.reference.select import Relation
from deltaproof.reference.store import add_into
from deltaproof.reference.stream import integrate
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet


@dataclass(frozen=True)
class Integrate(Operator):
    """I: the sum of the contents at every tick so far.

    Over a table it says for how many ticks each row has been there. It is a sum of contents,
    not of changes: a table is the sum of its changes already.

    Shape    linear and time-invariant, so Q^Δ = Q: the output's change at a tick is the sum of
             all changes of the input, which is the input's contents, at every tick anew
    Law      I(a + b) = I(a) + I(b);  I(z(s)) = z(I(s));  D(I(s)) = s
    Source   DBSP (VLDB 2023) definition 2.17, proposition 2.19; Lean: integral_lti

    >>> Integrate().over_time(Schema.parse("k BIGINT"))([ZSet({(1,): 1})] * 3)
    [ZSet({(1,): 1}), ZSet({(1,): 2}), ZSet({(1,): 3})]
    """

    name = "integrate"
    lifted = False
    shape = Shape.LINEAR
    state = "the contents of its input"
    theorem = "integrate_linear_time_invariant"
    source = "DBSP (VLDB 2023) definition 2.17, proposition 2.19; Lean: integral_lti"

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        only_over_time(self.label())

    def over_time(self, *inputs: Schema) -> StreamMeaning:
        return integrate

    def increment(self, *inputs: Schema) -> Increment:
        return IntegrateIncrement(*inputs)

    def select(self, *inputs: Relation) -> None:
        return None

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        return cls()


class IntegrateIncrement:
    """Keeps the input's contents, and puts them out at every tick."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.clear()

    def clear(self) -> None:
        self.weights: dict[Row, Weight] = {}
        self.staged = ZSet()

    def step(self, delta: ZSet) -> ZSet:
        self.staged = delta
        contents = dict(self.weights)
        add_into(contents, delta.items())
        return ZSet.trusted(contents)

    def commit(self) -> None:
        add_into(self.weights, self.staged.items())
        self.staged = ZSet()

    def save(self) -> Any:
        return zset_to_json(self.schema, ZSet.trusted(self.weights))

    def restore(self, saved: Any) -> None:
        self.clear()
        self.weights = dict(zset_from_json(self.schema, saved).items())
