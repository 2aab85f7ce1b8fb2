"""Windows of fixed size are linear: a row's windows follow from its own time alone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.scalar import array, col, lit
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    DATE,
    TIMESTAMP,
    Column,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

MICROSECOND = datetime.timedelta(microseconds=1)
EPOCH = datetime.datetime(1970, 1, 1)
EPOCH_DAY = EPOCH.toordinal()
MOST_IN_SQL = 12  # windows that a row is in, for plain SQL to list them one by one


@dataclass(frozen=True)
class Hop(Operator):
    """HOP and TUMBLE: each row once for every window that its time is in.

    The windows are [s, s + size) for every multiple s of the slide, counted from 0 or from
    1970-01-01, in whole numbers for BIGINT, days for DATE, microseconds for TIMESTAMP. With
    slide = size they tumble: each time is in one window. With slide < size they overlap; with
    slide > size there are gaps, and a row in a gap is in no window. A row without a time is in
    none.

    Shape    Z[A] → Z[A × T × T], linear
    Source   flat_map of a row to its windows; windows as in Beam and SQL's TUMBLE and HOP
    Raises   SchemaError for a time that is not BIGINT, DATE or TIMESTAMP, or a size or slide
             below 1; EvaluationError for a window that its type cannot hold

    >>> rows = Schema.parse("t BIGINT")
    >>> Hop("t", 10, 10, "start", "end").meaning(rows)(ZSet({(-1,): 1, (10,): 2}))
    ZSet({(-1, -10, 0): 1, (10, 10, 20): 2})
    >>> Hop("t", 10, 5, "start", "end").meaning(rows)(ZSet({(7,): 1, (None,): 1}))
    ZSet({(7, 0, 10): 1, (7, 5, 15): 1})
    """

    time: str
    size: int
    slide: int
    start: str
    end: str

    name = "hop"
    shape = Shape.LINEAR
    theorem = "flat_map_linear"
    source = "Beam model (VLDB 2015) section 2.2, windows of fixed size; Lean: flatmap_incremental"
    claimed = ("monotone", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("window.hop",)

    def capabilities(self) -> tuple[str, ...]:
        return ("window.hop",)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        kind = rows.column(self.time).type
        if kind not in TIMES:
            raise SchemaError(
                f"hop: expected a time of type BIGINT, DATE or TIMESTAMP, got {self.time} {kind}"
            )
        for name, units in (("size", self.size), ("slide", self.slide)):
            if type(units) is not int or units < 1:
                raise SchemaError(f"hop: expected a {name} of 1 or more, got {units!r}")
        window = [Column(name, kind, nullable=False) for name in (self.start, self.end)]
        return Schema((*rows.columns, *window))

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        windows = self.windows(rows)
        return lambda zset: ZSet.trusted(
            {(*row, *window): weight for row, weight in zset.items() for window in windows(row)}
        )

    def windows(self, rows: Schema) -> Callable[[Row], Iterator[Row]]:
        """The function from a row to the (start, end) of each window that it is in."""
        place = rows.index(self.time)
        units_of, value_of = TIMES[rows.types[place]]

        def windows(row: Row) -> Iterator[Row]:
            time = row[place]
            if time is None:
                return
            units = units_of(time)
            last = self.last_start(units)
            first = last - (self.size - 1 - (units - last)) // self.slide * self.slide
            for start in range(first, last + 1, self.slide):
                yield value_of(start), value_of(start + self.size)

        return windows

    def last_start(self, units: int) -> int:
        """The last multiple of the slide that is not after the time."""
        return units - units % self.slide  # Python's % is never negative, also before 1970

    def select(self, *inputs: Relation) -> Select | None:
        """Of BIGINT times; dates and timestamps have no arithmetic here."""
        (rows,) = inputs
        most = -(-self.size // self.slide)
        if rows.schema.column(self.time).type != BIGINT or most > MOST_IN_SQL:
            return None
        schema = self.output(rows.schema)
        (ago,) = unused(schema, "ago")
        # SQL's % takes the sign of what is divided; a start that is not there may not fit 64 bits
        last = (col(self.time) % lit(self.slide) + lit(self.slide)) % lit(self.slide)
        starts = array(*[last + lit(number * self.slide) for number in range(most)])
        start = col(self.time) - col(ago)
        columns = [(name, col(name)) for name in rows.schema.names]
        return Select(
            (*columns, (self.start, start), (self.end, start + lit(self.size))),
            rows,
            where=col(ago) < lit(self.size),
            unnest=(ago, starts),
            schema=schema,
        )

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """Windows of a few units, tumbling, overlapping or with gaps between them."""
        (rows,) = inputs
        times = [column for column in rows.columns if column.type in TIMES]
        if not times:
            return None
        time = random.choice(times)
        unit = 6 * 3_600_000_000 if time.type == TIMESTAMP else 1
        size, slide = random.choice(((2, 2), (3, 1), (3, 2), (1, 3), (7, 7), (5, 2)))
        start, end = unused(rows, "start", "end")
        return cls(time.name, size * unit, slide * unit, start, end)

    def label(self) -> str:
        kind = "TUMBLE" if self.size == self.slide else f"HOP {self.slide} OF"
        return f"hop {self.time} {kind} {self.size} AS {self.start}, {self.end}"

    def to_json(self) -> dict[str, Any]:
        return {
            "time": self.time,
            "size": self.size,
            "slide": self.slide,
            "start": self.start,
            "end": self.end,
        }

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(*[arguments[name] for name in ("time", "size", "slide", "start", "end")])


def unused(rows: Schema, *stems: str) -> tuple[str, ...]:
    """Names like these that no column has, all with the same number behind."""
    taken = {name.lower() for name in rows.names}
    tried = (tuple(f"{stem}{number}" for stem in stems) for number in range(len(taken) + 1))
    return next(names for names in tried if taken.isdisjoint(names))


def bigint(units: int) -> Value:
    if not BIGINT_MIN <= units <= BIGINT_MAX:
        raise EvaluationError(f"a window's bound {units} needs more than 64 bits")
    return units


def date_units(value: Value) -> int:
    """Days since 1970-01-01."""
    return int(value.toordinal()) - EPOCH_DAY


def date_of(units: int) -> Value:
    try:
        return datetime.date.fromordinal(units + EPOCH_DAY)
    except (ValueError, OverflowError):
        raise EvaluationError(f"a window's bound, day {units} of 1970, is no DATE") from None


def timestamp_units(value: Value) -> int:
    """Microseconds since 1970-01-01."""
    return int((value - EPOCH) // MICROSECOND)


def timestamp_of(units: int) -> Value:
    try:
        return EPOCH + units * MICROSECOND
    except OverflowError:
        raise EvaluationError(
            f"a window's bound, microsecond {units} of 1970, is no TIMESTAMP"
        ) from None


TIMES: Mapping[Type, tuple[Callable[[Value], int], Callable[[int], Value]]] = {
    BIGINT: (int, bigint),
    DATE: (date_units, date_of),
    TIMESTAMP: (timestamp_units, timestamp_of),
}
