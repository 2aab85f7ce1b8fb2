"""A row's LAG is read off a row in front of it, so a change is seen by the rows just behind it.

It is not enough to look again at the rows that changed: the row behind a deleted row has another
row in front of it now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.ordered_increment import (
    OrderedIncrement,
    Rows,
    Stretch,
    copies_around,
    copies_within,
    nothing,
    reached,
    read_in_order,
)
from deltaproof.reference.operators.over import (
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
from deltaproof.reference.ordered import After, Entry, InOrder, Ordered, copies
from deltaproof.reference.scalar import Expr, col, from_json
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.scalar_tree import Literal, checked_expressions
from deltaproof.reference.select import Relation, Select, WindowCall
from deltaproof.reference.types import ARRAY, Column, Row, Schema, Value


@dataclass(frozen=True)
class Lag(Operator):
    """LAG and LEAD: each row with a value of the row so many places in front of it, or behind.

    A row of weight w > 0 stands in the order w times, and each of its copies may have another
    value; rows of weight 0 or less do not stand there. `offset` > 0 is LAG, < 0 is LEAD. Where
    there is no such place the value is the default of the row itself, or NULL. A value that is
    NULL is not skipped.

    Shape    Z[A] → Z[A × V], general
    Source   SQL:2016 <lead or lag function>
    Raises   SchemaError for an offset of 0, a default of another type, a name that is taken;
             EvaluationError for a row that is there too often to look at each copy

    >>> from deltaproof.reference.zset import ZSet
    >>> previous = Lag(col("v"), 1, "previous", (), (Order(col("v")),))
    >>> previous.meaning(Schema.parse("v BIGINT"))(ZSet({(1,): 2, (5,): 1, (3,): -1}))
    ZSet({(1, None): 1, (1, 1): 1, (5, 1): 1})
    """

    argument: Expr
    offset: int
    result: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    default: Expr | None = None

    name = "lag"
    shape = Shape.GENERAL
    theorem = "grouped_increment"
    source = "SQL:2016 <lead or lag function>; the order completed by the row"
    state = "the rows of each partition, in order"
    claimed = ("positive",)

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("window.lag", "window.lead")

    def capabilities(self) -> tuple[str, ...]:
        return (f"window.{self.function}",)

    @property
    def function(self) -> str:
        return "lag" if self.offset > 0 else "lead"

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        if type(self.offset) is not int or not self.offset:
            raise SchemaError(
                f"lag: expected an offset above 0 (LAG) or below (LEAD), got {self.offset!r}"
            )
        checked_over(self.function, self.partition, self.order, rows)
        checked_expressions(self.function, self.argument, self.default)
        kind, nullable = self.argument.type_in(rows), True
        if self.default is not None:
            if (found := self.default.type_in(rows)) != kind:
                raise SchemaError(
                    f"{self.function}: {self.argument} is {kind}, its default {self.default} is "
                    f"{found}: both must have one type"
                )
            nullable = self.argument.nullable_in(rows) or self.default.nullable_in(rows)
        return Schema((*rows.columns, Column(self.result, kind, nullable)))

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        value_of = self.value_function(rows)

        def results(entries: list[Entry]) -> Rows:
            rows_in_order = [row for entry in entries for row in copies(entry)]
            for place, row in enumerate(rows_in_order):
                yield (*row, value_of(rows_in_order, place)), 1

        return read_in_order(rows, self.partition, self.order, results)

    def value_function(self, rows: Schema) -> Callable[[Sequence[Row], int], Value]:
        """The function from rows in order and a place among them to the value there."""
        argument = self.argument.compile(rows)
        default = self.default.compile(rows) if self.default is not None else lambda row: None

        def value(rows_in_order: Sequence[Row], place: int) -> Value:
            source = place - self.offset
            if 0 <= source < len(rows_in_order):
                return argument(rows_in_order[source])
            return default(rows_in_order[place])

        return value

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        reader = Neighbours(self.offset, self.value_function(rows))
        return OrderedIncrement(rows, self.partition, self.order, reader)

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        arguments = (self.argument, *([] if self.default is None else [self.default]))
        over = columns(self.partition), self.order
        call = WindowCall(self.function, arguments, *over, offset=abs(self.offset))
        return with_calls(rows, self.output(rows.schema), (self.result, call))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        if not len(rows):
            return None
        (result,) = fresh(rows, "neighbour")
        argument = random.choice(rows.columns)
        offset = random.choice((-3, -2, -1, -1, 1, 1, 2, 3))
        default = None
        if random.random() < 0.4:
            default = col(argument.name)
            if not isinstance(argument.type, ARRAY) and random.random() < 0.5:
                default = Literal(argument.type, sample_value(random, argument.type))
        return cls(col(argument.name), offset, result, *sample_over(random, rows), default)

    def label(self) -> str:
        default = "" if self.default is None else f", {self.default}"
        call = f"{self.function}({self.argument}, {abs(self.offset)}{default})"
        return f"{call} AS {self.result}{over_label(self.partition, self.order)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "argument": self.argument.to_json(),
            "offset": self.offset,
            "result": self.result,
            **over_to_json(self.partition, self.order),
            "default": None if self.default is None else self.default.to_json(),
        }

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        saved = arguments["default"]
        return cls(
            from_json(arguments["argument"]),
            arguments["offset"],
            arguments["result"],
            *over_from_json(arguments),
            None if saved is None else from_json(saved),
        )


@dataclass(frozen=True)
class Neighbours:
    """A change is seen by as many copies behind it (LEAD: in front of it) as the offset says."""

    offset: int
    value: Callable[[Sequence[Row], int], Value]

    def stretches(self, before: Ordered, after: After) -> list[Stretch]:
        seen = copies_within(abs(self.offset))
        up, down = (seen, nothing) if self.offset > 0 else (nothing, seen)
        return reached(before, after, up, down)

    def rows(self, group: InOrder, stretch: Stretch) -> Iterator[tuple[Row, int]]:
        back, forward = max(self.offset, 0), max(-self.offset, 0)
        rows, start, end = copies_around(group, stretch, back, forward)
        for place in range(start, end):
            yield (*rows[place], self.value(rows, place)), 1
