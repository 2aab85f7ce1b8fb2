"""Outer join is the inner join and, beside it, the rows that nothing matches, padded with NULLs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.join import JoinIncrement
from deltaproof.reference.operators.presence import (
    Keeps,
    Matches,
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
    sample_condition,
    turned,
)
from deltaproof.reference.scalar import Expr
from deltaproof.reference.select import JoinOn, Relation, Select
from deltaproof.reference.store import Index, add_into
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet, without_zeros

LEFT, RIGHT = 0, 1
PADDED = {"left": (LEFT,), "right": (RIGHT,), "full": (LEFT, RIGHT)}  # whose rows all remain
Pad = Callable[[Row], Row]


@dataclass(frozen=True)
class OuterJoin(Operator):
    """a ⟕ b: the matching pairs, and each left row that nothing matches, with NULLs beside it.

    A pair matches when the keys are equal and the residual is TRUE; weights multiply. A left row
    is padded, with its own weight, where the total weight m(row) of what matches it is not above
    zero. A right join pads right rows, a full join both. NULL equals nothing, so a row with a
    NULL key is padded.

    Shape    Z[A] × Z[B] → Z[A × B], general
    Law      a ⟕ b = a ⋈ b + pad(a ▷ b)
    Source   DBSP (VLDB 2023) table 1, the inner join and the anti join
    Raises   SchemaError for keys of different types, a residual that is not BOOLEAN, a column
             name on both sides, or a kind that there is not
    """

    kind: str
    on: Pairs
    residual: Expr | None = None

    name = "outer_join"
    arity = 2
    shape = Shape.GENERAL
    theorem = "outer_join_increment"
    source = "DBSP (VLDB 2023) theorem 3.4 and proposition 4.7"
    state = "both inputs by key, and the weight that matches each row"
    claimed = ("positive", "generic", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return tuple(f"join.{kind}" for kind in PADDED)

    def capabilities(self) -> tuple[str, ...]:
        return (f"join.{self.kind}",)

    def remembers(self) -> str:
        what = "the weight of every key" if self.residual is None else "what matches each row"
        return f"both inputs, by key; {what}"

    def claims(self) -> tuple[str, ...]:
        return self.claimed_if(generic=self.residual is None)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(name for name, _ in self.on), tuple(name for _, name in self.on)

    def output(self, *inputs: Schema) -> Schema:
        left, right = inputs
        if self.kind not in PADDED:
            raise SchemaError(
                f"outer_join: unknown kind {self.kind!r}: there are {', '.join(PADDED)}"
            )
        checked_keys(f"{self.kind} join", self.on, left, right)
        checked_residual(f"{self.kind} join", self.residual, left, right)
        sides = ((left, RIGHT), (right, LEFT))  # a side may be NULL where the other is padded
        return Schema(
            tuple(
                replace(column, nullable=True) if other in PADDED[self.kind] else column
                for side, other in sides
                for column in side.columns
            )
        )

    def meaning(self, *inputs: Schema) -> Meaning:
        keys = key_functions(self.on, *inputs)
        matches = condition(self.residual, *inputs)
        padded = [(side, matches_of(side, matches), pad(side, inputs)) for side in self.padded]

        def joined(*sides: ZSet) -> ZSet:
            indexes = [Index(key) for key in keys]
            for index, rows in zip(indexes, sides, strict=True):
                index.add(rows.items())
            output: dict[Row, Any] = {}
            for row, weight in sides[LEFT].items():
                for other, match in indexes[RIGHT].of(keys[LEFT](row)).items():
                    if matches(row, other):
                        add_into(output, [(row + other, weight * match)])
            for side, matched, padding in padded:
                for row, weight in sides[side].items():
                    others = indexes[1 - side].of(keys[side](row)).items()
                    unmatched = absent(match_weight(row, others, matched))
                    add_into(output, [(padding(row), weight * unmatched)])
            return ZSet.trusted(output)

        return joined

    @property
    def padded(self) -> tuple[int, ...]:
        return PADDED[self.kind]

    def increment(self, *inputs: Schema) -> Increment:
        return OuterJoinIncrement(self, inputs)

    def select(self, *inputs: Relation) -> Select:
        left, right = inputs
        return Select.star(JoinOn(left, right, self.on, self.kind, self.residual))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        if (sampled := sample_condition(random, *inputs)) is None:
            return None
        return cls(random.choice(tuple(PADDED)), *sampled)

    def label(self) -> str:
        return f"{self.kind} join{condition_label(self.on, self.residual)}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **condition_to_json(self.on, self.residual)}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        if arguments["kind"] not in PADDED:
            raise ValueError(f"expected one of {', '.join(PADDED)}, got {arguments['kind']!r}")
        return cls(arguments["kind"], *condition_from_json(arguments))


def pad(side: int, inputs: tuple[Schema, ...]) -> Pad:
    """The function from a row of this side to the output row with NULLs for the other side.

    >>> rows = (Schema.parse("a BIGINT"), Schema.parse("b BIGINT, c BIGINT"))
    >>> pad(LEFT, rows)((1,)), pad(RIGHT, rows)((2, 3))
    ((1, None, None), (None, 2, 3))
    """
    nulls = (None,) * len(inputs[1 - side])
    return (lambda row: row + nulls) if side == LEFT else (lambda row: nulls + row)


def matches_of(side: int, matches: Matches) -> Matches:
    """The condition as the rows of this side ask it: own row first."""
    return matches if side == LEFT else turned(matches)


class OuterJoinIncrement:
    """The increment of the inner join, and of the presence of each padded side's rows.

    Law      (a ⋈ b + pad(a ▷ b))^Δ = (a ⋈ b)^Δ + pad((a ▷ b)^Δ)
    """

    def __init__(self, operator: OuterJoin, inputs: tuple[Schema, ...]) -> None:
        self.keys = key_functions(operator.on, *inputs)
        self.matches = condition(operator.residual, *inputs)
        self.by_row = operator.residual is not None
        self.pads = [(side, pad(side, inputs)) for side in operator.padded]
        self.join = JoinIncrement(inputs, self.keys)
        self.watch()

    def watch(self) -> None:
        """The presence of both sides' rows, over the join's state as it is."""
        sides = (self.join.left, self.join.right)
        self.presences: list[PresenceByKey | PresenceByRow] = []
        for side, _ in self.pads:
            presence = self.presence(side, sides[side], sides[1 - side], absent)
            presence.recount(sides[1 - side])
            self.presences.append(presence)

    def presence(
        self, side: int, rows: Index, others: Index, keeps: Keeps
    ) -> PresenceByKey | PresenceByRow:
        if self.by_row:
            return PresenceByRow(rows, others, matches_of(side, self.matches), keeps)
        return PresenceByKey(rows, self.keys[1 - side], keeps)

    def clear(self) -> None:
        self.join.clear()
        self.watch()

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        output = self.pairs(da, db)
        for (side, padding), presence in zip(self.pads, self.presences, strict=True):
            rows, others = (da, db) if side == LEFT else (db, da)
            change = presence.change(rows, others)
            add_into(output, [(padding(row), weight) for row, weight in change.items()])
        return ZSet.trusted(without_zeros(output))

    def pairs(self, da: ZSet, db: ZSet) -> dict[Row, Any]:
        """The change of the inner join."""
        pairs = self.join.step(da, db).items()
        if not self.by_row:
            return dict(pairs)
        width = len(self.join.schemas[LEFT])
        return {pair: w for pair, w in pairs if self.matches(pair[:width], pair[width:])}

    def commit(self) -> None:
        self.join.commit()
        for presence in self.presences:
            presence.commit()

    def save(self) -> Any:
        return self.join.save()

    def restore(self, saved: Any) -> None:
        self.join.restore(saved)
        self.watch()
