"""Inner join is bilinear: the change of a product is da × b + a × db + da × db."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Shape,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.select import JoinOn, Relation, Select
from deltaproof.reference.store import Index
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet, without_zeros

KeyFunction = Callable[[Row], Row | None]


class Changes(Protocol):
    """Rows with their weights: a Z-set, or a list in which equal rows are not added up."""

    def items(self) -> Iterable[tuple[Row, Weight]]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Join(Operator):
    """a ⋈ b: the pairs of rows whose keys are equal; weights multiply, NULL matches nothing.

    The output has the left columns, then the right ones. With no key it is the cross product.

    Shape    Z[A] × Z[B] → Z[A × B], bilinear
    Law      (a + a') ⋈ b = a ⋈ b + a' ⋈ b, and on the right likewise
    Source   DBSP (VLDB 2023) theorem 3.4; Lean: equi_join_incremental
    Raises   SchemaError for keys of different types, or a column name on both sides
    """

    on: tuple[tuple[str, str], ...]

    name = "join"
    arity = 2
    shape = Shape.BILINEAR
    theorem = "join_increment"
    source = "DBSP (VLDB 2023) theorem 3.4; Lean: equi_join_incremental"
    state = "both inputs, by key"
    claimed = ("monotone", "generic", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("join.inner",)

    def capabilities(self) -> tuple[str, ...]:
        return ("join.inner",)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(name for name, _ in self.on), tuple(name for _, name in self.on)

    def output(self, *inputs: Schema) -> Schema:
        left, right = inputs
        for a, b in self.on:
            if left.column(a).type != right.column(b).type:
                raise SchemaError(
                    f"join: keys must have one type, got {left.column(a)} and {right.column(b)}: "
                    "cast one side in a map before the join"
                )
        return Schema(left.columns + right.columns)

    def meaning(self, *inputs: Schema) -> Meaning:
        left_key, right_key = self.keys(*inputs)

        def joined(left: ZSet, right: ZSet) -> ZSet:
            index = Index(right_key)
            index.add(right.items())
            pairs = {
                row + other: weight * match
                for row, weight in left.items()
                for other, match in index.of(left_key(row)).items()
            }
            return ZSet.trusted(without_zeros(pairs))

        return joined

    def increment(self, *inputs: Schema) -> Increment:
        return JoinIncrement(inputs, self.keys(*inputs))

    def keys(self, left: Schema, right: Schema) -> tuple[KeyFunction, KeyFunction]:
        """The key of a row on each side, None where a part of it is NULL."""
        return (
            matching_key([left.index(name) for name, _ in self.on]),
            matching_key([right.index(name) for _, name in self.on]),
        )

    def select(self, *inputs: Relation) -> Select:
        left, right = inputs
        return Select.star(JoinOn(left, right, self.on))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        left, right = inputs
        pairs = [(a.name, b.name) for a in left.columns for b in right.columns if a.type == b.type]
        clash = {n.lower() for n in left.names} & {n.lower() for n in right.names}
        if clash or not pairs:
            return None
        return cls(tuple(random.sample(pairs, min(len(pairs), random.choice((1, 1, 1, 2))))))

    def label(self) -> str:
        return "join " + " AND ".join(f"{a} = {b}" for a, b in self.on) if self.on else "join"

    def to_json(self) -> dict[str, Any]:
        return {"on": [list(pair) for pair in self.on]}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        if not all(isinstance(pair, list) for pair in arguments["on"]):
            raise TypeError(f"expected pairs [left, right], got {arguments['on']!r}")
        return cls(tuple((left, right) for left, right in arguments["on"]))


def matching_key(positions: list[int]) -> KeyFunction:
    """The values at these positions, or None when one of them is NULL.

    >>> matching_key([1])(("a", 7)), matching_key([0, 1])(("a", None)), matching_key([])(("a",))
    (7, None, ())
    """
    if len(positions) == 1:
        (only,) = positions
        return lambda row: row[only]

    def key(row: Row) -> Row | None:
        values = tuple([row[position] for position in positions])
        return None if None in values else values

    return key


class JoinIncrement:
    """Both integrals, indexed by key: a delta meets only the rows that it matches."""

    def __init__(self, schemas: tuple[Schema, ...], keys: tuple[KeyFunction, KeyFunction]) -> None:
        self.schemas = schemas
        self.keys = keys
        self.clear()

    def clear(self) -> None:
        self.left, self.right = (Index(key) for key in self.keys)
        self.staged: tuple[Changes, Changes] = (ZSet(), ZSet())

    def step(self, da: Changes, db: Changes) -> ZSet:
        output: dict[Row, Any] = {}
        left_key, right_key = self.keys
        if da:
            self.add_matches(output, da, left_key, self.right.rows)  # da × b
        if db:
            self.add_matches(output, db, right_key, self.left.rows, swapped=True)  # a × db
            if da:
                change = Index(right_key)
                change.add(db.items())
                self.add_matches(output, da, left_key, change.rows)  # da × db
        self.staged = (da, db)
        return ZSet.trusted(without_zeros(output))

    @staticmethod
    def add_matches(
        output: dict[Row, Any],
        delta: Changes,
        key_of: KeyFunction,
        rows: dict[Row, dict[Row, Any]],
        swapped: bool = False,
    ) -> None:
        """Adds to the output the pairs of a delta's rows with the rows of an index."""
        for row, weight in delta.items():
            bucket = rows.get(key_of(row))  # type: ignore[arg-type]  # None is never a key there
            if bucket:
                for other, match in bucket.items():
                    pair = other + row if swapped else row + other
                    output[pair] = output.get(pair, 0) + weight * match

    def commit(self) -> None:
        da, db = self.staged
        self.left.add(da.items())
        self.right.add(db.items())
        self.staged = (ZSet(), ZSet())

    def save(self) -> Any:
        sides = zip(self.schemas, (self.left, self.right), strict=True)
        return [zset_to_json(schema, ZSet.trusted(dict(side.items()))) for schema, side in sides]

    def restore(self, saved: Any) -> None:
        self.clear()
        sides = zip(self.schemas, (self.left, self.right), saved, strict=True)
        for schema, side, entries in sides:
            side.add(zset_from_json(schema, entries).items())
