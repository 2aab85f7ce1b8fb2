"""Operators over time, windows and the moving filter: what they mean, and that changes suffice.

`oracle_*` compares a circuit with the meaning of all tables' contents so far; an operator over
time has no other witness, as no shape gives it an increment.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import increment_of_shape
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.scalar import col
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.stream import integrate
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

Tick = dict[str, dict[Row, int]]

T = table("t", "k BIGINT, v BIGINT")
A, B = ZSet({(1, 5): 1}), ZSet({(2, 7): -2})


def contents(query: Query, ticks: Sequence[Tick], restarts: bool = False) -> list[ZSet]:
    """What the view shows after each tick; with restarts, from a checkpoint after every one."""
    circuit = Circuit(query)
    shown = []
    for tick in ticks:
        circuit.step(tick)
        shown.append(circuit.contents()["view"])
        if restarts:
            circuit = Circuit.restore(query, circuit.checkpoint())
    return shown


def meant(query: Query, ticks: Sequence[Tick]) -> list[ZSet]:
    """What the view means after each tick."""
    schemas = query.tables()
    sums = {
        name: integrate([ZSet.of(schema, tick.get(name, {})) for tick in ticks])
        for name, schema in schemas.items()
    }
    tables = [{name: sums[name][n] for name in schemas} for n in range(len(ticks))]
    return query.over_time()(tables)


def random_ticks(random: Random, tables: dict[str, Schema], ticks: int = 8) -> list[Tick]:
    """Weights of both signs, NULLs, rows deleted before they come, empty ticks."""

    def value(kind: Any, nullable: bool) -> Any:
        return None if nullable and random.random() < 0.2 else sample_value(random, kind)

    return [
        {
            name: {
                tuple(value(c.type, c.nullable) for c in schema.columns): random.choice((-1, 1, 2))
                for _ in range(random.randrange(4))
            }
            for name, schema in tables.items()
            if random.random() < 0.6
        }
        for _ in range(ticks)
    ]


OVER_TIME: dict[str, Query] = {
    "delay": T.delay(),
    "delay by three": T.delay(3),
    "delay of a delay": T.delay().delay(2),
    "integrate": T.integrate(),
    "differentiate": T.differentiate(),
    "integral of a derivative": T.differentiate().integrate(),
    "what is new since two ticks": T.union_all(T.delay(2).negate()),
    "groups of a delay": T.delay().group_by("k").aggregate(n=count()),
    "delay of a count": T.aggregate(n=count()).delay(),
    "join with its own past": T.join(T.delay().prefix("old_"), on={"k": "old_k"}),
    "integral of a distinct": T.project("k").distinct().integrate(),
}


@pytest.mark.parametrize("name", list(OVER_TIME))
@pytest.mark.parametrize("restarts", [False, True], ids=["", "restarting"])
def test_oracle_over_time(name: str, restarts: bool) -> None:
    query = OVER_TIME[name]
    for seed in range(40):
        ticks = random_ticks(Random(seed), query.tables())
        assert contents(query, ticks, restarts) == meant(query, ticks)


def test_delay_shows_what_was_so_many_ticks_ago() -> None:
    ticks: list[Tick] = [{"t": {(1, 5): 1}}, {}, {"t": {(1, 5): -1}}, {}, {}]
    there, gone = ZSet({(1, 5): 1}), ZSet()
    assert contents(T.delay(2), ticks) == [gone, gone, there, there, gone]


def test_integrate_counts_the_ticks_that_a_row_was_there() -> None:
    ticks: list[Tick] = [{"t": {(1, 5): 2}}, {}, {"t": {(1, 5): -1}}, {"t": {(1, 5): -1}}]
    weights = [2, 4, 5, 5]
    assert contents(T.integrate(), ticks) == [ZSet({(1, 5): weight}) for weight in weights]


def test_differentiate_shows_the_last_change_only() -> None:
    ticks: list[Tick] = [{"t": {(1, 5): 2}}, {}, {"t": {(1, 5): -1}}]
    changes = [ZSet({(1, 5): 2}), ZSet(), ZSet({(1, 5): -1})]
    assert contents(T.differentiate(), ticks) == changes


@pytest.mark.parametrize("query", [T.delay(2), T.integrate(), T.differentiate()], ids=str)
def test_an_operator_over_time_has_no_meaning_at_a_tick(query: Query) -> None:
    assert not query.lifted
    with pytest.raises(SchemaError, match="over time"):
        query.meaning()


@pytest.mark.parametrize("ticks", [0, -1, True, "1"])
def test_delay_refuses_a_number_of_ticks_below_one(ticks: Any) -> None:
    with pytest.raises(SchemaError, match="delay: expected 1 tick or more"):
        T.delay(ticks)


@pytest.mark.parametrize("query", [T.delay(3), T.integrate(), T.differentiate()], ids=str)
def test_nothing_is_kept_of_what_was_taken_away(query: Query) -> None:
    increment = query.operators()[0].increment(T.schema)
    for delta in (A + B, -A, -B, ZSet(), ZSet(), ZSet()):
        increment.step(delta)
        increment.commit()
    assert increment.save() == []


# ── Windows ─────────────────────────────────────────────────────────────────────────────────


def windows(kind: str, value: Any, size: int, slide: int) -> list[Row]:
    schema = Schema.parse(f"t {kind}")
    answer = Hop("t", size, slide, "a", "b").meaning(schema)(ZSet.of(schema, {(value,): 1}))
    return sorted(row[1:] for row in answer)


@pytest.mark.parametrize("time", [-8, -7, -1, 0, 1, 6, 7, 8])
@pytest.mark.parametrize(("size", "slide"), [(7, 7), (7, 3), (5, 2), (2, 5), (1, 1), (6, 3)])
def test_the_windows_are_those_that_hold_the_time(time: int, size: int, slide: int) -> None:
    starts = [slide * n for n in range(-20, 20)]
    expected = [(start, start + size) for start in starts if start <= time < start + size]
    assert windows("BIGINT", time, size, slide) == expected


def test_windows_of_dates_and_timestamps_before_1970() -> None:
    day, moment = datetime.date, datetime.datetime
    assert windows("DATE", day(1969, 12, 31), 7, 7) == [(day(1969, 12, 25), day(1970, 1, 1))]
    hour = 3_600_000_000
    late = moment(1969, 12, 31, 23, 59, 59, 999_999)
    assert windows("TIMESTAMP", late, hour, hour) == [
        (moment(1969, 12, 31, 23), moment(1970, 1, 1))
    ]


def test_a_row_without_a_time_is_in_no_window() -> None:
    assert windows("BIGINT", None, 10, 5) == []


def test_windows_keep_the_weight_of_the_row() -> None:
    assert contents(T.hop("v", 10, 5), [{"t": {(1, 7): -3}}]) == [
        ZSet({(1, 7, 0, 10): -3, (1, 7, 5, 15): -3})
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [("BIGINT", 2**63 - 1), ("BIGINT", -(2**63)), ("DATE", datetime.date(9999, 12, 31))],
)
def test_a_window_that_its_type_cannot_hold_is_an_error(kind: str, value: Any) -> None:
    with pytest.raises(EvaluationError, match="a window's bound"):
        windows(kind, value, 1000, 1000)


def test_hop_refuses_times_that_are_no_times_and_windows_without_size() -> None:
    with pytest.raises(SchemaError, match="BIGINT, DATE or TIMESTAMP"):
        table("s", "name VARCHAR").hop("name", 10)
    with pytest.raises(SchemaError, match="expected a size of 1 or more"):
        T.hop("v", 0)
    with pytest.raises(SchemaError, match="expected a slide of 1 or more"):
        T.hop("v", 5, -1)


def test_oracle_windows_are_grouped_like_any_column() -> None:
    query = T.hop("v", 3, 2).group_by("window_start").aggregate(n=count())
    for seed in range(20):
        ticks = random_ticks(Random(seed), query.tables())
        assert contents(query, ticks) == meant(query, ticks)


@pytest.mark.parametrize(
    "operator",
    [
        Delay(3),
        Hop("v", 7, 2, "a", "b"),
        TemporalFilter(col("k"), None),
        TemporalFilter(None, col("v") + 1),
    ],
    ids=repr,
)
def test_arguments_come_back_from_json(operator: Any) -> None:
    assert type(operator).from_json(operator.to_json()) == operator


def test_a_filter_of_a_delay_still_runs_when_nothing_changes() -> None:
    query = T.delay().filter(col("v") > 5)
    assert contents(query, [{"t": {(1, 7): 1}}, {}]) == [ZSet(), ZSet({(1, 7): 1})]


# ── The filter that asks for the time ───────────────────────────────────────────────────────

CLOCK = table("clock", "now BIGINT")
VALID = T.temporal_filter(CLOCK, lower=col("k"), upper=col("v"))
FILTERS: dict[str, Query] = {
    "from and until": VALID,
    "from": T.temporal_filter(CLOCK, lower=col("v")),
    "until": T.temporal_filter(CLOCK, upper=col("v")),
    "a window that moves": T.temporal_filter(CLOCK, lower=col("v"), upper=col("v") + 2),
    "of a column that is called like the clock's": table("t", "now BIGINT, x DOUBLE")
    .map(now=col("x"), y=col("now"))
    .temporal_filter(table("clock", "now DOUBLE"), lower=col("now")),
    "by a clock of many rows": T.temporal_filter(T.project("v"), lower=col("k"), upper=col("v")),
    "by text": table("s", "name VARCHAR").temporal_filter(
        table("clock", "now VARCHAR"), upper=col("name")
    ),
}


@pytest.mark.parametrize("name", list(FILTERS))
@pytest.mark.parametrize("restarts", [False, True], ids=["", "restarting"])
def test_oracle_temporal_filter(name: str, restarts: bool) -> None:
    query = FILTERS[name]
    for seed in range(60):
        ticks = random_ticks(Random(seed), query.tables())
        assert contents(query, ticks, restarts) == meant(query, ticks)


@pytest.mark.parametrize("name", list(FILTERS))
def test_differential_temporal_filter_is_bilinear(name: str) -> None:
    (node,) = [each for each in FILTERS[name].nodes() if each.label().startswith("temporal")]
    schemas = [each.schema for each in node.inputs]
    operator = FILTERS[name].operators()[-1]
    for seed in range(40):
        own = operator.increment(*schemas)
        default = increment_of_shape(operator.shape, operator.meaning(*schemas), schemas)
        tables = {str(place): schema for place, schema in enumerate(schemas)}
        for tick in random_ticks(Random(seed), tables):
            deltas = [ZSet.of(schema, tick.get(name, {})) for name, schema in tables.items()]
            assert own.step(*deltas) == default.step(*deltas)
            own.commit()
            default.commit()


def test_a_row_comes_with_its_lower_bound_and_goes_with_its_upper() -> None:
    ticks: list[Tick] = [{"t": {(3, 5): 2}, "clock": {(2,): 1}}]
    ticks += [{"clock": {(now,): -1, (now + 1,): 1}} for now in range(2, 6)]
    there, gone = ZSet({(3, 5): 2}), ZSet()
    assert contents(VALID, ticks) == [gone, there, there, gone, gone]


def test_the_clock_may_go_back_and_may_stop() -> None:
    ticks: list[Tick] = [
        {"t": {(3, 5): 1}, "clock": {(9,): 1}},
        {"clock": {(9,): -1, (4,): 1}},
        {"clock": {(4,): -1}},
    ]
    assert contents(VALID, ticks) == [ZSet(), ZSet({(3, 5): 1}), ZSet()]


def test_a_row_with_a_bound_that_is_null_is_never_there() -> None:
    ticks: list[Tick] = [{"t": {(None, 5): 1, (3, None): 1}, "clock": {(4,): 1, (None,): 1}}]
    assert contents(VALID, ticks) == [ZSet()]


@pytest.mark.parametrize("row", [(2**62, 0), (None, 2**63 - 1)])
def test_a_bound_without_a_value_is_an_error_whatever_the_clock_says(row: Row) -> None:
    view = T.temporal_filter(CLOCK, lower=col("k") * 4, upper=col("v") + 1)
    with pytest.raises(EvaluationError):
        view.meaning()({"t": ZSet({row: 1})})
    with pytest.raises(EvaluationError):
        Circuit(view).step({"t": {row: 1}})


def test_a_row_deleted_after_the_clock_moved_is_the_row_that_came() -> None:
    ticks: list[Tick] = [
        {"t": {(1, 9): 1}, "clock": {(2,): 1}},
        {"clock": {(2,): -1, (5,): 1}},
        {"t": {(1, 9): -1}},
    ]
    assert contents(VALID, ticks) == [ZSet({(1, 9): 1}), ZSet({(1, 9): 1}), ZSet()]


def test_nothing_is_kept_when_rows_and_clock_are_gone() -> None:
    increment = TemporalFilter(col("k"), col("v")).increment(T.schema, CLOCK.schema)
    rows, now = ZSet({(1, 5): 2, (2, None): 1}), ZSet({(3,): 1})
    for deltas in ((rows, now), (-rows, -now)):
        increment.step(*deltas)
        increment.commit()
    assert increment.save() == [[], []]


def test_the_clock_touches_only_the_rows_whose_bound_it_passes() -> None:
    operator = TemporalFilter(col("k"), col("v"))
    increment: Any = operator.increment(T.schema, CLOCK.schema)
    increment.step(ZSet({(n, n + 10): 1 for n in range(100_000)}), ZSet({(50_000,): 1}))
    increment.commit()
    touched = 0

    class Counted(dict[Row, int]):
        def items(self) -> Any:
            nonlocal touched
            touched += len(self)
            return super().items()

    for boundaries in (increment.lower, increment.upper):
        boundaries.rows = {key: Counted(rows) for key, rows in boundaries.rows.items()}
    output = increment.step(ZSet(), ZSet({(50_000,): -1, (50_001,): 1}))
    assert output == ZSet({(49_991, 50_001): -1, (50_001, 50_011): 1})
    assert touched == 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: T.temporal_filter(T, lower=col("v")), "a clock of one column"),
        (lambda: T.temporal_filter(CLOCK), "lower, upper or both"),
        (lambda: T.temporal_filter(CLOCK, lower=col("v").eq(1)), "bounds of the clock's type"),
        (lambda: T.temporal_filter(table("c", "b BOOLEAN"), lower=col("v")), "a clock of moments"),
    ],
)
def test_temporal_filter_refuses_what_does_not_fit(make: Any, says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        make()
