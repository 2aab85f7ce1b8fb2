"""UNION, INTERSECT and EXCEPT look at one row at a time, so only rows of the deltas can change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Pairing,
    Shape,
    same_types,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.select import Compound, Relation
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Column, Row, Schema
from deltaproof.reference.zset import Weight, ZSet, positive, without_zeros

Combine: TypeAlias = Callable[[Weight, Weight], Weight]  # a row's weights left and right → its own


def above_zero(weight: Weight) -> Weight:
    """max(weight, 0), without a branch.

    >>> above_zero(3), above_zero(0), above_zero(-3)
    (3, 0, 0)
    """
    return positive(weight) * weight


def least(a: Weight, b: Weight) -> Weight:
    """The lesser of two weights: a - max(a - b, 0)."""
    return a - above_zero(a - b)


# A row of weight a on the left and b on the right. Rows of weight 0 or below are not there, but
# UNION is the set of a + b, where a row that is owed (below 0) on one side takes one of the other.
KINDS: Mapping[str, Combine] = {
    "union": lambda a, b: positive(a + b),
    "intersect": lambda a, b: positive(a) * positive(b),
    "except": lambda a, b: positive(a) * (1 - positive(b)),
    "intersect_all": lambda a, b: least(above_zero(a), above_zero(b)),
    "except_all": lambda a, b: above_zero(above_zero(a) - above_zero(b)),
}


@dataclass(frozen=True)
class SetOperation(Operator):
    """A row's weight from its weights on both sides; NULLs are equal.

    kind            weight of a row that has weight a on the left and b on the right
    union           1 where a + b > 0
    intersect       1 where a > 0 and b > 0
    except          1 where a > 0 and not b > 0
    intersect_all   the lesser of a and b, none below 0
    except_all      a less b, none below 0

    The columns and their names are those of the left input, as in union all.

    Shape    Z[A] × Z[A] → Z[A], general
    Source   DBSP (VLDB 2023) table 1; SQL:2016 part 2, 7.17 <query expression>
    Raises   SchemaError when the inputs' types differ, or for a kind that there is not
    """

    kind: str

    name = "set_operation"
    arity = 2
    pairing = Pairing.SAME_TYPES
    shape = Shape.GENERAL
    theorem = "rowwise_increment"
    source = "DBSP (VLDB 2023) table 1, proposition 4.7 row by row"
    state = "the weight of every row, on both sides"
    claimed = (
        *("positive", "set_valued", "monotone"),
        *("commutative", "duplicate_free", "scales", "generic"),
    )

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return tuple(f"set.{kind}" for kind in KINDS)

    def capabilities(self) -> tuple[str, ...]:
        return (f"set.{self.kind}",)

    def claims(self) -> tuple[str, ...]:
        of_sets = not self.kind.endswith("_all")
        either = self.kind.startswith(("union", "intersect"))
        return self.claimed_if(
            set_valued=of_sets,
            duplicate_free=of_sets,
            scales=not of_sets,
            monotone=either,
            commutative=either,
        )

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(each.names for each in inputs)

    def output(self, *inputs: Schema) -> Schema:
        left, right = inputs
        if self.kind not in KINDS:
            raise SchemaError(
                f"set_operation: unknown kind {self.kind!r}: there are {', '.join(KINDS)}"
            )
        same_types(self.label(), left, right)
        return Schema(
            tuple(
                Column(a.name, a.type, a.nullable or b.nullable)
                for a, b in zip(left.columns, right.columns, strict=True)
            )
        )

    def meaning(self, *inputs: Schema) -> Meaning:
        combine = KINDS[self.kind]

        def combined(left: ZSet, right: ZSet) -> ZSet:
            rows = dict.fromkeys([*left, *right])
            return ZSet.trusted(
                without_zeros({row: combine(left[row], right[row]) for row in rows})
            )

        return combined

    def increment(self, *inputs: Schema) -> Increment:
        return RowwiseIncrement(KINDS[self.kind], inputs)

    def select(self, *inputs: Relation) -> Compound:
        return Compound(inputs, self.label())

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        left, right = inputs
        return cls(random.choice(list(KINDS))) if left.types == right.types else None

    def label(self) -> str:
        return self.kind.replace("_", " ")

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        if arguments["kind"] not in KINDS:
            raise ValueError(f"expected one of {', '.join(KINDS)}, got {arguments['kind']!r}")
        return cls(arguments["kind"])


class RowwiseIncrement:
    """Keeps the weight of every row of every input; emits the change of what they make.

    The output weight of a row is a function of that row's input weights, the same for every row,
    and 0 where they are all 0.

    Law      Q^Δ(d)[row] = f(before[row] + d[row]) - f(before[row])

    >>> rows = Schema.parse("k BIGINT")
    >>> increment = RowwiseIncrement(KINDS["except"], (rows, rows))
    >>> increment.step(ZSet({(1,): 2, (2,): 1}), ZSet({(2,): 1}))
    ZSet({(1,): 1})
    >>> increment.commit()
    >>> increment.step(ZSet(), ZSet({(1,): 5, (2,): -1}))
    ZSet({(1,): -1, (2,): 1})
    """

    def __init__(self, weight_of: Callable[..., Weight], inputs: tuple[Schema, ...]) -> None:
        self.weight_of = weight_of
        self.schemas = inputs
        self.clear()

    def clear(self) -> None:
        self.before: list[dict[Row, Any]] = [{} for _ in self.schemas]
        self.staged: tuple[ZSet, ...] = ()

    def step(self, *deltas: ZSet) -> ZSet:
        output = {}
        for row in dict.fromkeys([row for delta in deltas for row in delta]):
            before = [weights.get(row, 0) for weights in self.before]
            after = [weight + delta[row] for weight, delta in zip(before, deltas, strict=True)]
            output[row] = self.weight_of(*after) - self.weight_of(*before)
        self.staged = deltas
        return ZSet.trusted(without_zeros(output))

    def commit(self) -> None:
        for weights, delta in zip(self.before, self.staged, strict=True):
            add_into(weights, delta.items())
        self.staged = tuple(ZSet() for _ in self.schemas)

    def save(self) -> Any:
        sides = zip(self.schemas, self.before, strict=True)
        return [zset_to_json(schema, ZSet.trusted(weights)) for schema, weights in sides]

    def restore(self, saved: Any) -> None:
        self.clear()
        sides = zip(self.schemas, saved, strict=True)
        self.before = [dict(zset_from_json(schema, entries).items()) for schema, entries in sides]
