"""Semi and anti join keep left rows by the presence of a match, however many matches there are."""

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
from deltaproof.reference.operators.presence import (
    Pairs,
    PresenceByKey,
    PresenceByRow,
    absent,
    checked_keys,
    checked_residual,
    condition,
    condition_from_json,
    condition_label,
    condition_to_json,
    key_functions,
    match_weight,
    present,
    sample_condition,
)
from deltaproof.reference.scalar import Expr
from deltaproof.reference.select import Exists, Relation, Select
from deltaproof.reference.store import Index
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet, without_zeros


@dataclass(frozen=True)
class SemiJoin(Operator):
    """a ⋉ b: the left rows that a right row matches, with their own weights; anti: the others.

    m(row) is the total weight of the right rows whose keys are equal and for which the residual
    is TRUE. A left row is kept where m(row) > 0; by the anti join where it is not. NULL equals
    nothing, so a left row with a NULL key has no match: the anti join keeps it. This is EXISTS
    and NOT EXISTS. NOT IN is the anti join without keys whose residual is
    `a.eq(b).is_distinct_from(False)`: TRUE or NULL counts as a match.

    Shape    Z[A] × Z[B] → Z[A], linear in the left, general in the right
    Law      a ⋉ b + a ▷ b = a
    Source   DBSP (VLDB 2023) table 1: a ⋈ distinct(keys of b)
    Raises   SchemaError for keys of different types, or a residual that is not BOOLEAN
    """

    on: Pairs
    residual: Expr | None = None
    anti: bool = False

    name = "semi_join"
    arity = 2
    shape = Shape.GENERAL
    theorem = "presence_increment"
    source = "DBSP (VLDB 2023) table 1 and proposition 4.7"
    state = "both inputs by key, and the weight that matches each row"
    claimed = ("positive", "monotone", "scales", "generic", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("join.semi", "join.anti")

    def capabilities(self) -> tuple[str, ...]:
        return ("join.anti" if self.anti else "join.semi",)

    def remembers(self) -> str:
        if self.residual is None:
            return "the left input, by key; the weight of every key on the right"
        return "both inputs, by key; what matches each left row"

    def claims(self) -> tuple[str, ...]:
        return self.claimed_if(monotone=not self.anti, generic=self.residual is None)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(name for name, _ in self.on), tuple(name for _, name in self.on)

    def output(self, *inputs: Schema) -> Schema:
        left, right = inputs
        checked_keys(self.verb, self.on, left, right)
        checked_residual(self.verb, self.residual, left, right)
        return left

    def meaning(self, *inputs: Schema) -> Meaning:
        left_key, right_key = key_functions(self.on, *inputs)
        matches = condition(self.residual, *inputs)
        keeps = absent if self.anti else present

        def kept(left: ZSet, right: ZSet) -> ZSet:
            index = Index(right_key)
            index.add(right.items())
            weights = {
                row: weight * keeps(match_weight(row, index.of(left_key(row)).items(), matches))
                for row, weight in left.items()
            }
            return ZSet.trusted(without_zeros(weights))

        return kept

    def increment(self, *inputs: Schema) -> Increment:
        if self.residual is None:
            return SemiJoinIncrement(self, inputs)
        return ResidualSemiJoinIncrement(self, inputs)

    def select(self, *inputs: Relation) -> Select:
        left, right = inputs
        return Select.star(left, exists=Exists(right, self.on, self.residual, self.anti))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        if (sampled := sample_condition(random, *inputs)) is None:
            return None
        return cls(*sampled, anti=random.random() < 0.5)

    @property
    def verb(self) -> str:
        return "anti join" if self.anti else "semi join"

    def label(self) -> str:
        return self.verb + condition_label(self.on, self.residual)

    def to_json(self) -> dict[str, Any]:
        return {**condition_to_json(self.on, self.residual), "anti": self.anti}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        if type(anti := arguments["anti"]) is not bool:
            raise TypeError(f"anti: expected true or false, got {anti!r}")
        return cls(*condition_from_json(arguments), anti)


class SemiJoinIncrement:
    """Keeps the left rows by key, and the weight of each key on the right."""

    def __init__(self, operator: SemiJoin, inputs: tuple[Schema, ...]) -> None:
        left, right = self.schemas = inputs
        self.keys = key_functions(operator.on, left, right)
        self.key_types = [right.column(name).type for _, name in operator.on]
        self.keeps = absent if operator.anti else present
        self.clear()

    def clear(self) -> None:
        left_key, right_key = self.keys
        self.left = Index(left_key)
        self.presence = PresenceByKey(self.left, right_key, self.keeps)
        self.staged = ZSet()

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        self.staged = da
        return ZSet.trusted(without_zeros(self.presence.change(da, db)))

    def commit(self) -> None:
        self.left.add(self.staged.items())
        self.presence.commit()
        self.staged = ZSet()

    def save(self) -> Any:
        left, _ = self.schemas
        totals = [[self.key_to_json(key), total] for key, total in self.presence.totals.items()]
        return [zset_to_json(left, ZSet.trusted(dict(self.left.items()))), totals]

    def restore(self, saved: Any) -> None:
        self.clear()
        left, _ = self.schemas
        entries, totals = saved
        self.left.add(zset_from_json(left, entries).items())
        by_key = ZSet([(self.key_from_json(key), total) for key, total in totals])
        self.presence.totals = dict(by_key.items())

    def key_to_json(self, key: Any) -> list[Any]:
        values = key if len(self.key_types) != 1 else (key,)
        return [kind.to_json(value) for kind, value in zip(self.key_types, values, strict=True)]

    def key_from_json(self, saved: Any) -> Any:
        """The key that `key_to_json` wrote: of one column it is the bare value."""
        key = tuple(k.from_json(value) for k, value in zip(self.key_types, saved, strict=True))
        return key if len(key) != 1 else key[0]


class ResidualSemiJoinIncrement:
    """Keeps both sides by key, and m(row) for each left row."""

    def __init__(self, operator: SemiJoin, inputs: tuple[Schema, ...]) -> None:
        self.schemas = inputs
        self.keys = key_functions(operator.on, *inputs)
        self.matches = condition(operator.residual, *inputs)
        self.keeps = absent if operator.anti else present
        self.clear()

    def clear(self) -> None:
        self.left, self.right = self.sides = tuple(Index(key) for key in self.keys)
        self.presence = PresenceByRow(self.left, self.right, self.matches, self.keeps)
        self.staged: tuple[ZSet, ZSet] = (ZSet(), ZSet())

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        self.staged = (da, db)
        return ZSet.trusted(without_zeros(self.presence.change(da, db)))

    def commit(self) -> None:
        for side, delta in zip(self.sides, self.staged, strict=True):
            side.add(delta.items())
        self.presence.commit()
        self.staged = (ZSet(), ZSet())

    def save(self) -> Any:
        sides = zip(self.schemas, self.sides, strict=True)
        return [zset_to_json(schema, ZSet.trusted(dict(side.items()))) for schema, side in sides]

    def restore(self, saved: Any) -> None:
        self.clear()
        for schema, side, entries in zip(self.schemas, self.sides, saved, strict=True):
            side.add(zset_from_json(schema, entries).items())
        self.presence.recount(self.right)
