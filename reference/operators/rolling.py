"""A rolling aggregate changes for the rows whose frame holds a change, and for no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.aggregate_functions import (
    call_from_json,
    call_to_json,
    definition,
    given_value,
    result_column,
)
from deltaproof.reference.operators.ordered_increment import (
    OrderedIncrement,
    Reader,
    Rows,
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
from deltaproof.reference.operators.rolling_increment import RangeFrames, RowsFrames, Summary
from deltaproof.reference.operators.rolling_place import place_function, unit_of_order
from deltaproof.reference.order import Order, sample_order
from deltaproof.reference.ordered import Entry, copies
from deltaproof.reference.scalar import col
from deltaproof.reference.select import (
    AggregateCall,
    Frame,
    Relation,
    Select,
    WindowCall,
)
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight

FUNCTIONS = ("count_star", "count", "sum", "avg", "min", "max")


Members: TypeAlias = list[tuple[Row, Weight]]  # the rows of a frame and how often each is in it


@dataclass(frozen=True)
class Rolling(Operator):
    """COUNT, SUM, AVG, MIN and MAX OVER a frame: each row with an aggregate of rows around it.

    A frame of ROWS goes so many rows back and forward in the order completed by the whole row; a
    row of weight w > 0 stands there w times, and each of its copies has its own frame. A frame of
    RANGE holds the rows whose order value is at most so far before or behind, so peers share it;
    CURRENT ROW (0) means the row's peers, and rows whose order value is NULL are peers of one
    another and at no distance from others: they are in the frame of another row only where it is
    unbounded on their side. Without an order all rows are peers: that is an aggregate of the
    partition beside each of its rows. Aggregates are those of `Aggregate`; over an empty frame
    COUNT is 0 and the others NULL. Rows of weight 0 or less are not there.

    Distances are in the unit of the order value: whole numbers for BIGINT and DECIMAL, days for
    DATE, microseconds for TIMESTAMP. A negative one looks to the other side.

    Shape    Z[A] → Z[A × V], general
    Source   SQL:2016 <window clause>, <window frame clause>
    Raises   SchemaError for a frame that ends before it begins, and for distances in RANGE where
             the order is not one term of these types (a DOUBLE has no exact distance);
             EvaluationError for a SUM outside 64 bits, or a row that is there too often for
             frames of ROWS

    >>> from deltaproof.reference.zset import ZSet
    >>> both = Frame("rows", 1, 0)
    >>> total = Rolling((("s", AggregateCall("sum", col("v"))),), (), (Order(col("v")),), both)
    >>> total.meaning(Schema.parse("v BIGINT"))(ZSet({(1,): 2, (5,): 1, (3,): -1}))
    ZSet({(1, 1): 1, (1, 2): 1, (5, 6): 1})
    """

    calls: tuple[tuple[str, AggregateCall], ...]
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    frame: Frame

    name = "rolling"
    shape = Shape.GENERAL
    theorem = "grouped_increment"
    source = "SQL:2016 <window frame clause>; the order completed by the row"
    state = "the rows of each partition, in order"
    claimed = ("positive", "scales", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("window.rolling_rows", "window.rolling_range")

    def capabilities(self) -> tuple[str, ...]:
        return (f"window.rolling_{self.frame.unit}",)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def claims(self) -> tuple[str, ...]:
        frame = self.frame
        all_rows = frame.preceding is None and frame.following is None
        with_peers = all_rows or frame.unit == "range"  # else it tells copies of a row apart
        no_sums = all(call.function in ("avg", "min", "max") for _, call in self.calls)
        return self.claimed_if(scales=with_peers and no_sums, by_name=with_peers)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        checked_over(self.name, self.partition, self.order, rows)
        checked_frame(self.frame)
        if self.frame.unit == "range":
            place_function(self.frame, self.order, rows)
        results = [result_column(name, call, rows) for name, call in self.calls]
        for _, call in self.calls:
            checked_call(call)
        return Schema((*rows.columns, *results))

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        calls = [(given_value(call, rows), definition(call, rows)) for _, call in self.calls]

        def aggregated(frame: Members) -> Row:
            given = [[(value(row), weight) for row, weight in frame] for value, _ in calls]
            present = [[pair for pair in pairs if pair[0] is not None] for pairs in given]
            return tuple(define(values) for (_, define), values in zip(calls, present, strict=True))

        results = self.rows_results if self.frame.unit == "rows" else self.range_results
        return read_in_order(
            rows, self.partition, self.order, lambda entries: results(entries, rows, aggregated)
        )

    def rows_results(
        self, entries: list[Entry], rows: Schema, aggregated: Callable[[Members], Row]
    ) -> Rows:
        """Every copy with the aggregates of the copies around it."""
        runs: list[tuple[int, int, Row]] = []  # the places of a row's copies: from, to before
        for entry in entries:
            start = runs[-1][1] if runs else 0
            runs.append((start, start + len(list(copies(entry))), entry.row))
        back, forward = self.frame.preceding, self.frame.following
        for start, end, row in runs:
            for place in range(start, end):
                first = 0 if back is None else place - back
                last = runs[-1][1] if forward is None else place + forward + 1
                frame = [(each, min(b, last) - max(a, first)) for a, b, each in runs]
                yield (*row, *aggregated([pair for pair in frame if pair[1] > 0])), 1

    def range_results(
        self, entries: list[Entry], rows: Schema, aggregated: Callable[[Members], Row]
    ) -> Rows:
        """Every row with the aggregates of the rows whose order value is near enough."""
        place = place_function(self.frame, self.order, rows)
        placed = [(place.of(entry), entry) for entry in entries]
        for here, (_, row, weight) in placed:
            near = [entry for there, entry in placed if place.in_frame(there, here)]
            yield (*row, *aggregated([(entry.row, entry.weight) for entry in near])), weight

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        summary = Summary([call for _, call in self.calls], rows)
        reader: Reader
        if self.frame.unit == "rows":
            reader = RowsFrames(self.frame, summary)
        else:
            reader = RangeFrames(place_function(self.frame, self.order, rows), summary)
        return OrderedIncrement(rows, self.partition, self.order, reader)

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        over = columns(self.partition), self.order, self.frame
        calls = [(name, WindowCall(call, (), *over)) for name, call in self.calls]
        return with_calls(rows, self.output(rows.schema), *calls)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        calls = [
            call
            for function in random.sample(FUNCTIONS, random.randint(1, 3))
            if (call := sample_call(random, function, rows))
        ]
        if not calls:
            return None
        named = tuple(zip(fresh(rows, *[f"r{n}_" for n in range(len(calls))]), calls, strict=True))
        partition, order = sample_over(random, rows)
        if random.random() < 0.5:
            return cls(named, partition, order, sample_frame(random, "rows", 1))
        measured = [each for each in rows.columns if unit_of_order(each.type) is not None]
        if measured and random.random() < 0.7:
            chosen = random.choice(measured)
            rest = tuple(name for name in partition if name != chosen.name)
            terms = sample_order(random, Schema((chosen,)))
            unit = 43_200_000_000 if chosen.type.name == "TIMESTAMP" else 1
            return cls(named, rest, terms, sample_frame(random, "range", unit))
        order = order if random.random() < 0.8 else ()
        return cls(named, partition, order, random.choice(UNMEASURED))

    def label(self) -> str:
        calls = ", ".join(f"{call} AS {name}" for name, call in self.calls)
        return f"rolling {calls}{over_label(self.partition, self.order)} {self.frame}"

    def to_json(self) -> dict[str, Any]:
        calls = [call_to_json(name, call) for name, call in self.calls]
        frame = [self.frame.unit, self.frame.preceding, self.frame.following]
        return {"calls": calls, **over_to_json(self.partition, self.order), "frame": frame}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        calls = tuple(map(call_from_json, arguments["calls"]))
        unit, preceding, following = arguments["frame"]
        return cls(calls, *over_from_json(arguments), Frame(unit, preceding, following))


UNMEASURED = tuple(
    Frame("range", *bounds) for bounds in ((None, 0), (None, None), (0, None), (0, 0))
)


def checked_frame(frame: Any) -> None:
    """Raises SchemaError for a frame that is none."""
    if not isinstance(frame, Frame) or frame.unit not in ("rows", "range"):
        raise SchemaError(f'rolling: expected Frame("rows" or "range", …), got {frame!r}')
    bounds = [each for each in (frame.preceding, frame.following) if each is not None]
    if any(type(each) is not int for each in bounds):
        raise SchemaError(f"rolling: {frame!r}: a bound is a whole number, or None")
    if len(bounds) == 2 and sum(bounds) < 0:
        raise SchemaError(f"rolling: {frame} ends before it begins")


def checked_call(call: AggregateCall) -> None:
    """Raises SchemaError for an aggregate that has no rolling form."""
    plain = not call.distinct and call.where is None and call.by is None and call.fraction is None
    if call.function not in FUNCTIONS or not plain:
        raise SchemaError(
            f"rolling: {call}: over a frame there are COUNT, SUM, AVG, MIN and MAX, without "
            "DISTINCT and FILTER: for FILTER write CASE WHEN … THEN … END as the argument"
        )


def sample_call(random: Random, function: str, rows: Schema) -> AggregateCall | None:
    """A call of this function on a random column that fits; None when none does."""
    if function == "count_star":
        return AggregateCall(function)
    calls = [AggregateCall(function, col(name)) for name in rows.names]
    fitting = [call for call in calls if fits(call, rows)]
    return random.choice(fitting) if fitting else None


def fits(call: AggregateCall, rows: Schema) -> bool:
    try:
        result_column("r", call, rows)
    except SchemaError:
        return False
    return True


def sample_frame(random: Random, unit: str, step: int) -> Frame:
    """A frame of a few steps, often to or from the row itself, sometimes beside it."""
    while True:
        back = random.choice((None, 0, 1, 1, 2, -1))
        forward = random.choice((None, 0, 0, 0, 1, 2, -1))
        if back is None or forward is None or back + forward >= 0:
            bounds = [each if each is None else each * step for each in (back, forward)]
            return Frame(unit, *bounds)
