"""The first rows of an order change only where a change stands among them or before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.ordered_increment import (
    OrderedIncrement,
    Rows,
    Stretch,
    read_in_order,
)
from deltaproof.reference.operators.over import (
    checked_count,
    checked_over,
    columns,
    fresh,
    over_from_json,
    over_label,
    over_to_json,
    sample_over,
    with_calls,
)
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import After, Entry, InOrder, Ordered
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.select import Relation, Select, WindowCall, columns_of
from deltaproof.reference.types import BIGINT, Column, Row, Schema
from deltaproof.reference.zset import Weight


@dataclass(frozen=True)
class TopK(Operator):
    """ORDER BY … LIMIT … OFFSET: of each partition the rows offset + 1 to offset + limit.

    The order is completed by the whole row, so the rows are the same whatever order they came
    in. A row of weight w is there w times, and may be kept with a part of its weight. Rows of
    weight 0 or less are not there. Without a partition it is one order over all rows.

    Shape    Z[A] → Z[A], general
    Source   ORDER BY with LIMIT, and ROW_NUMBER() <= k per partition
    Raises   SchemaError for columns that are not there, an order over arrays, a limit below 0

    >>> from deltaproof.reference.zset import ZSet
    >>> best = TopK(("k",), (Order(col("v"), descending=True),), limit=2)
    >>> best.meaning(Schema.parse("k BIGINT, v BIGINT"))(ZSet({(1, 5): 1, (1, 7): 1, (1, 6): 3}))
    ZSet({(1, 7): 1, (1, 6): 1})
    """

    partition: tuple[str, ...]
    order: tuple[Order, ...]
    limit: int
    offset: int = 0

    name = "top_k"
    shape = Shape.GENERAL
    theorem = "grouped_increment"
    source = "SQL:2016 <order by clause>, <fetch first clause>; the order completed by the row"
    state = "the rows of each partition, in order"
    claimed = ("positive", "set_valued", "idempotent", "duplicate_free")

    def claims(self) -> tuple[str, ...]:
        return self.claimed_if(
            idempotent=not self.offset,
            set_valued=self.limit <= 1,
            duplicate_free=self.limit <= 1 and not self.offset,
        )

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        checked_over(self.name, self.partition, self.order, rows)
        checked_count(self.name, "a limit", self.limit, 0)
        checked_count(self.name, "an offset", self.offset, 0)
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs

        def first(entries: list[Entry]) -> Rows:
            return kept(entries, 0, self.offset, self.offset + self.limit)

        return read_in_order(rows, self.partition, self.order, first)

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        return OrderedIncrement(rows, self.partition, self.order, Head(self))

    def select(self, *inputs: Relation) -> Select:
        """Rows with their numbers, and of those the ones whose number is low enough."""
        (rows,) = inputs
        (number,) = fresh(rows.schema, "row_number")
        call = WindowCall("row_number", (), columns(self.partition), self.order)
        own = columns_of(rows.schema.names)
        schema = Schema((*rows.schema.columns, Column(number, BIGINT, nullable=False)))
        numbered = with_calls(rows, schema, (number, call))
        where = col(number) <= lit(self.offset + self.limit)
        if self.offset:
            where = (col(number) > lit(self.offset)) & where
        return Select(own, numbered, where=where, schema=rows.schema)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        partition, order = sample_over(random, *inputs)
        return cls(partition, order, random.choice((1, 1, 2, 3)), random.choice((0, 0, 0, 1, 2)))

    def label(self) -> str:
        offset = f" OFFSET {self.offset}" if self.offset else ""
        return f"top_k {self.limit}{offset}{over_label(self.partition, self.order)}"

    def to_json(self) -> dict[str, Any]:
        over = over_to_json(self.partition, self.order)
        return {"limit": self.limit, "offset": self.offset, **over}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(*over_from_json(arguments), arguments["limit"], arguments["offset"])


def kept(
    entries: Iterable[Entry], position: Weight, start: int, end: int
) -> Iterator[tuple[Row, Weight]]:
    """Of entries that begin at this position, what stands from `start` to before `end`."""
    for _, row, weight in entries:
        if not end - position > 0:
            return
        following = position + weight
        copies = min(following, end) - max(position, start)
        if copies > 0:
            yield row, copies
        position = following


@dataclass(frozen=True)
class Head:
    """Reads the first rows, from the first change on: rows before it stand where they stood."""

    operator: TopK

    def stretches(self, before: Ordered, after: After) -> Iterable[Stretch]:
        end = after.keys[-1] if not after.shifts[-1] else None  # beyond it nothing has moved
        yield after.keys[0], end

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        start, end = self.operator.offset, self.operator.offset + self.operator.limit
        first, _ = stretch
        return kept(group.between(*stretch), group.weight_before(first), start, end)
