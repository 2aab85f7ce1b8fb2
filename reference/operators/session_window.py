"""A change moves the bounds of the sessions around it, and of no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.hop import TIMES
from deltaproof.reference.operators.ordered_increment import (
    OrderedIncrement,
    Rows,
    Stretch,
    reached,
    read_in_order,
)
from deltaproof.reference.operators.over import (
    checked_count,
    checked_over,
    columns,
    fresh,
    names_from_json,
    over_label,
)
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import After, Change, Entry, InOrder, Ordered
from deltaproof.reference.scalar import case, col
from deltaproof.reference.select import (
    AggregateCall,
    Frame,
    Relation,
    Select,
    WindowCall,
    columns_of,
)
from deltaproof.reference.types import BIGINT, TIMESTAMP, Column, Schema, Value


@dataclass(frozen=True)
class SessionWindow(Operator):
    """Each row with the start and the end of its session: rows that follow close upon another.

    Two rows of a partition that stand next to each other in time are of one session when they
    are at most `gap` apart: whole numbers for BIGINT, days for DATE, microseconds for TIMESTAMP.
    A session starts with its first row and ends `gap` after its last, so one row may join two
    sessions, and take them apart when it goes. Rows of weight 0 or less are not there; rows
    without a time are in no session and are dropped.

    Shape    Z[A] → Z[A × T × T], general
    Source   Beam model (VLDB 2015) section 2.2, sessions
    Raises   SchemaError for a time that is not BIGINT, DATE or TIMESTAMP, a gap below 0, a name
             that is taken; EvaluationError for an end that the type cannot hold

    >>> from deltaproof.reference.zset import ZSet
    >>> visits = SessionWindow("t", 5, (), "start", "end").meaning(Schema.parse("t BIGINT"))
    >>> visits(ZSet({(1,): 1, (6,): 2, (12,): 1, (None,): 1}))
    ZSet({(1, 1, 11): 1, (6, 1, 11): 2, (12, 12, 17): 1})
    """

    time: str
    gap: int
    partition: tuple[str, ...]
    start: str
    end: str

    name = "session_window"
    shape = Shape.GENERAL
    theorem = "grouped_increment"
    source = "Beam model (VLDB 2015) section 2.2, sessions"
    state = "the rows of each partition, in order of time"
    claimed = ("positive", "scales", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("window.session",)

    def capabilities(self) -> tuple[str, ...]:
        return ("window.session",)

    @property
    def order(self) -> tuple[Order, ...]:
        return (Order(col(self.time)),)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        kind = rows.column(self.time).type
        if kind not in TIMES:
            raise SchemaError(
                f"session_window: expected a time of type BIGINT, DATE or TIMESTAMP, "
                f"got {self.time} {kind}"
            )
        checked_over(self.name, self.partition, self.order, rows)
        checked_count(self.name, "a gap", self.gap, 0)
        bounds = [Column(name, kind, nullable=False) for name in (self.start, self.end)]
        return Schema((*rows.columns, *bounds))

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        return read_in_order(rows, self.partition, self.order, Sessions(self, rows).bounds)

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        return OrderedIncrement(rows, self.partition, self.order, Sessions(self, rows))

    def select(self, *inputs: Relation) -> Select | None:
        """Of BIGINT times; dates and timestamps have no arithmetic here.

        A row that comes too long after the row before it starts a session; the number of starts
        so far is the session's.
        """
        (rows,) = inputs
        if rows.schema.column(self.time).type != BIGINT:
            return None
        before, starts, number = fresh(self.output(rows.schema), "previous", "starts", "session")
        time, own = col(self.time), columns_of(rows.schema.names)
        partition = columns(self.partition)

        def with_column(schema: Schema, name: str) -> Schema:
            return Schema((*schema.columns, Column(name, BIGINT)))

        lag = WindowCall("lag", (time,), partition, self.order)
        first = with_column(rows.schema, before)
        found = Select((*own, (before, lag)), rows, where=~time.is_null(), schema=first)
        # the difference may not fit 64 bits; a time and the gap do, as they bound a session
        is_start = case((col(before).is_null() | (time > col(before) + self.gap), 1), default=0)
        second = with_column(rows.schema, starts)
        marked = Select((*own, (starts, is_start)), found, schema=second)
        so_far = AggregateCall("sum", col(starts))
        count = WindowCall(so_far, (), partition, self.order, Frame("range", None, 0))
        third = with_column(rows.schema, number)
        numbered = Select((*own, (number, count)), marked, schema=third)
        whole = (*partition, col(number)), (), Frame("range", None, None)
        bounds = [
            (name, WindowCall(AggregateCall(function, time), (), *whole))
            for name, function in ((self.start, "min"), (self.end, "max"))
        ]
        output = self.output(rows.schema)
        bounded = Select((*own, *bounds), numbered, schema=output)
        end = (self.end, col(self.end) + self.gap)
        return Select((*own, (self.start, col(self.start)), end), bounded, schema=output)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        times = [column for column in rows.columns if column.type in TIMES]
        if not times:
            return None
        time = random.choice(times)
        unit = 6 * 3_600_000_000 if time.type == TIMESTAMP else 1
        others = [name for name in rows.names if name != time.name]
        partition = random.sample(others, min(len(others), random.choice((0, 1, 1))))
        gap = random.choice((0, 1, 1, 2, 5))
        return cls(time.name, gap * unit, tuple(partition), *fresh(rows, "begins", "ends"))

    def label(self) -> str:
        by = over_label(self.partition, ())
        return f"session_window {self.time} GAP {self.gap} AS {self.start}, {self.end}{by}"

    def to_json(self) -> dict[str, Any]:
        return {
            "time": self.time,
            "gap": self.gap,
            "partition": list(self.partition),
            "start": self.start,
            "end": self.end,
        }

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        time, gap, start, end = (arguments[name] for name in ("time", "gap", "start", "end"))
        return cls(time, gap, names_from_json(arguments["partition"]), start, end)


class Sessions:
    """Reads the sessions that a change is part of, or was."""

    def __init__(self, operator: SessionWindow, rows: Schema) -> None:
        place = rows.index(operator.time)
        units_of, self.value_of = TIMES[rows.types[place]]
        self.gap = operator.gap
        self.place = place
        self.units_of = units_of

    def time(self, entry: Entry | Change) -> int | None:
        value: Value = entry.row[self.place]
        return None if value is None else self.units_of(value)

    def sessions(self, entries: Iterable[Entry]) -> Iterator[list[tuple[int, Entry]]]:
        """The sessions of rows in order: a row too far behind the last begins the next."""
        session: list[tuple[int, Entry]] = []
        for entry in entries:
            if (time := self.time(entry)) is None:
                continue
            if session and time - session[-1][0] > self.gap:
                yield session
                session = []
            session.append((time, entry))
        if session:
            yield session

    def bounds(self, entries: Iterable[Entry]) -> Rows:
        """Every row with the bounds of its session."""
        for session in self.sessions(entries):
            (first, _), (last, _) = session[0], session[-1]
            start, end = self.value_of(first), self.value_of(last + self.gap)
            for _, (_, row, weight) in session:
                yield (*row, start, end), weight

    def stretches(self, before: Ordered, after: After) -> list[Stretch]:
        return reached(before, after, self.linked, self.linked)

    def linked(self, change: Change, entries: Iterator[Entry]) -> Iterator[Entry]:
        """From a change on, the rows that each follow close upon the one before."""
        near = self.time(change)
        for entry in entries:
            time = self.time(entry)
            if near is None or time is None or abs(time - near) > self.gap:
                return
            yield entry
            near = time

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        return self.bounds(group.between(*stretch))
