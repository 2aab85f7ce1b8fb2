"""The real input: every view of the flights, on every backend, at every tick of the year.

What is expected is recomputed by DuckDB at every tick; SQLite, which shares no code with it,
is compared like a backend. `flights_data` tells how the flights become a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from deltaproof.conformance.adapter import Backend
from deltaproof.conformance.connect import availability, backend
from deltaproof.conformance.flights_data import AIRLINES, FLIGHTS, PLANES, Flights
from deltaproof.conformance.lockstep import Result, Run, lockstep
from deltaproof.reference.query import Query, avg, count, max_, min_, sum_
from deltaproof.reference.scalar import col

DEFAULT_DAYS = 31
ORACLES = ("duckdb", "sqlite")  # the first that is installed recomputes, the other is compared
# SQLite takes a second to recompute the views of a year: in longer runs it is asked once a month.
SQLITE_EVERY_TICK = 31  # days of a run in which it is asked at every tick
SQLITE_MONTHLY = 31

VIEWS: Mapping[str, Query] = {
    # how late each airline is, from each airport
    "delays": FLIGHTS.join(AIRLINES.prefix("airline_"), on={"carrier": "airline_carrier"})
    .group_by("airline_name", "origin")
    .aggregate(
        flights=count(),
        departed=count(col("dep_delay")),
        landed=count(col("arr_delay")),
        total_delay=sum_(col("arr_delay")),
        mean_delay=avg(col("arr_delay")),
    ),
    # who built the planes, and when
    "makers": FLIGHTS.join(PLANES.prefix("plane_"), on={"tailnum": "plane_tailnum"})
    .group_by("plane_manufacturer")
    .aggregate(
        flights=count(),
        oldest=min_(col("plane_year")),
        newest=max_(col("plane_year")),
        farthest=max_(col("distance")),
        seats=sum_(col("plane_seats")),
    ),
    # every route, and its best and worst flight
    "routes": FLIGHTS.group_by("origin", "dest").aggregate(
        flights=count(),
        landed=count(col("arr_delay")),
        earliest=min_(col("arr_delay")),
        latest=max_(col("arr_delay")),
    ),
    # the routes on which somebody still waits: most rows come and go every day
    "waiting": FLIGHTS.filter(col("dep_delay").is_null()).project("origin", "dest").distinct(),
}

Progress = Callable[[str, int, int], None]  # what was done, how many steps of how many


@dataclass(frozen=True)
class FlightsReport:
    """How the views of the flights went on each backend."""

    days: int
    flights: int  # scheduled on these days
    oracle: str  # recomputes what is expected
    engines: Mapping[str, str]  # the engine of each backend, with its version
    run: Run

    @property
    def ok(self) -> bool:
        return self.run.ok

    @property
    def differs(self) -> bool:
        """Whether a view came out wrong; when not ok and not this, a backend gave up."""
        return self.run.differs

    def lines(self) -> Iterator[str]:
        """The summary, as lines of text; every difference with its tick and its first rows."""
        run = self.run
        yield (
            f"{self.days} days of real flights: {self.flights:,} flights, {run.ticks} ticks, "
            f"{run.changes:,} changes, {len(VIEWS)} views: {', '.join(VIEWS)}"
        )
        oracle = self.engines[self.oracle]
        yield f"  expected    recomputed at every tick by {oracle}, {self.time(self.oracle)}"
        for name, results in groupby(run.results, key=lambda result: result.backend):
            yield f"  {name:<11} {self.verdict(list(results))}, {self.time(name)}"
        for result in run.results:
            if result.difference:
                yield ""
                yield from (f"  {line}" for line in str(result).splitlines())

    def verdict(self, results: Sequence[Result]) -> str:
        """What is said of one backend in a few words."""
        if differing := [result.view for result in results if result.difference]:
            return f"NOT EQUAL: {', '.join(differing)}"
        if results[0].error:
            return f"FAILED {results[0].error}"
        ticks = results[0].ticks
        every = "every tick" if ticks == self.run.ticks else f"{ticks} of {self.run.ticks} ticks"
        return f"equal at {every}"

    def time(self, name: str) -> str:
        return f"{self.run.seconds[name]:.1f} s"

    def to_json(self) -> dict[str, Any]:
        return {
            "days": self.days,
            "flights": self.flights,
            "ticks": self.run.ticks,
            "changes": self.run.changes,
            "ok": self.ok,
            "oracle": self.oracle,
            "engines": dict(self.engines),
            "results": [result.to_json() for result in self.run.results],
            "seconds": {name: round(spent, 3) for name, spent in self.run.seconds.items()},
        }


def flights_run(
    backends: Sequence[str | Backend],
    days: int = DEFAULT_DAYS,
    progress: Progress = lambda text, done, total: None,
) -> FlightsReport:
    """Replays the first days of the year on these backends, all views at once.

    Raises   UsageError for an unknown backend or a wrong number of days; BackendMissing when
             the data or a backend is not installed

    >>> report = flights_run(["reference"], days=2)
    >>> report.ok, report.run.ticks, report.flights
    (True, 4, 1785)
    """
    flights = Flights.load(days)
    installed = [name for name in ORACLES if availability()[name] is None]
    oracle, *others = [backend(name) for name in installed]
    given = [backend(each) if isinstance(each, str) else each for each in backends]
    followers = [each for each in given if each.name not in ORACLES] + others
    total = (1 + len(followers)) * days
    run = lockstep(
        VIEWS,
        flights.ticks(),
        oracle,
        followers,
        every={"sqlite": 1 if days <= SQLITE_EVERY_TICK else SQLITE_MONTHLY},
        progress=lambda done, text: progress(f"flights: {text}", min(done, total), total),
    )
    engines = {each.name: each.describe() for each in (oracle, *followers)}
    return FlightsReport(days, len(flights), oracle.name, engines, run)
