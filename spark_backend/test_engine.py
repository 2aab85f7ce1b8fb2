"""Spark keeps the views that the reference keeps: tick by tick, in ranges, and many at a time.

`differential_*` compares with the reference's runtime at every tick; `oracle_*` with the
meaning of the integrated input.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow
import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import (
    BackendError,
    DeltaproofError,
    EvaluationError,
    RowError,
    TickError,
    WeightError,
)
from deltaproof.reference.query import Query, avg, count, max_, min_, sum_, table
from deltaproof.reference.scalar import array, col, lit
from deltaproof.reference.types import NAN, Row, Schema
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.frames import ArrowTable, arrow_type
from deltaproof.spark_backend.session import session

Tick = dict[str, dict[Row, int]]

T = table("t", "k BIGINT, v BIGINT, x DOUBLE")
S = table("s", "key BIGINT, name VARCHAR")
EVERYTHING = {
    "n": count(),
    "c": count(col("v")),
    "s": sum_(col("v")),
    "m": avg(col("v")),
    "lo": min_(col("v")),
    "hi": max_(col("x")),
    "d": sum_(col("x")),
}
QUERIES: dict[str, Query] = {
    "filter": T.filter(col("v") > 0),
    "map": T.map(k=col("k"), w=col("v") * 2 - 1),
    "flat_map": T.flat_map(array(col("v"), col("v"), lit(0)), "e"),
    "union of a table and its negation": T.project("k").union_all(T.project("v").negate()),
    "join": T.join(S, on={"k": "key"}),
    "self join": T.join(T.prefix("r_"), on={"k": "r_k", "v": "r_v"}),
    "distinct": T.project("k").distinct(),
    "aggregate": T.group_by("k").aggregate(**EVERYTHING),
    "aggregate without a key": T.aggregate(**EVERYTHING),
    "aggregate of a join of an aggregate": T.group_by("k")
    .aggregate(n=count(), top=max_(col("v")))
    .join(S, on={"k": "key"})
    .group_by("name")
    .aggregate(n=sum_(col("n")), top=min_(col("top"))),
}


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def random_ticks(seed: int, ticks: int = 5) -> list[Tick]:
    """Ticks of weights of both signs, NULLs, NaN, empty ticks, rows deleted before they come."""
    random = Random(seed)
    pick = random.choice
    stream: list[Tick] = []
    for _ in range(ticks):
        tick: Tick = {}
        for _ in range(random.randrange(5)):
            row = (pick((0, 1, None)), pick((0, 1, -5, None)), pick((0.0, 0.5, NAN, None)))
            tick.setdefault("t", {})[row] = pick((-2, -1, 1, 1, 2))
        for _ in range(random.randrange(3)):
            tick.setdefault("s", {})[pick((0, 1, None)), pick(("a", "", None))] = pick((-1, 1, 1))
        stream.append(tick)
    return stream


def only(query: Query, tick: Tick) -> Tick:
    return {name: delta for name, delta in tick.items() if name in query.tables()}


def by_reference(query: Query, stream: list[Tick]) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(only(query, tick))["view"] for tick in stream]


def zsets(query: Query, stream: list[Tick]) -> list[dict[str, ZSet]]:
    schemas = query.tables()
    return [
        {name: ZSet.of(schemas[name], delta) for name, delta in only(query, tick).items()}
        for tick in stream
    ]


@pytest.mark.parametrize("name", list(QUERIES))
def test_differential_many_streams_at_once(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    streams = [random_ticks(seed) for seed in range(40)] + [[{}] * 5, [{}]]
    outputs = run_many(spark, query, [zsets(query, stream) for stream in streams])
    assert outputs == [by_reference(query, stream) for stream in streams]


@pytest.mark.parametrize("name", ["join", "distinct", "aggregate", "aggregate without a key"])
@pytest.mark.parametrize("chunks", [[1, 4], [2, 1, 2]])
def test_differential_state_is_carried_from_range_to_range(
    spark: SparkSession, name: str, chunks: list[int]
) -> None:
    query = QUERIES[name]
    streams = [random_ticks(seed) for seed in range(20)]
    given = [zsets(query, stream) for stream in streams]
    assert run_many(spark, query, given, chunks) == [
        by_reference(query, stream) for stream in streams
    ]


def test_differential_several_views_one_tick_at_a_time(spark: SparkSession) -> None:
    views = {
        "totals": QUERIES["aggregate of a join of an aggregate"],
        "keys": T.project("k").distinct(),
        "rows": T.aggregate(n=count()),
    }
    engine, circuit = Engine(spark, views), Circuit(views)
    for tick in random_ticks(99, ticks=4):
        assert engine.step(tick) == circuit.step(tick)
        assert engine.contents() == circuit.contents()


def test_a_name_of_the_users_is_never_taken_for_one_of_ours(spark: SparkSession) -> None:
    odd = table("_tick", 'sum BIGINT, _tick BIGINT, _weight BIGINT, "q`uote BIGINT')
    query = odd.group_by("_weight").aggregate(_case=count(), _c0=sum_(col("_tick")))
    stream: list[Tick] = [{"_tick": {(1, 2, 3, 4): 2}}, {"_tick": {(1, 2, 3, 4): -1}}]
    assert run_many(spark, query, [zsets(query, stream)]) == [by_reference(query, stream)]


def as_arrow(schema: Schema, delta: ZSet) -> ArrowTable:
    """The delta as Arrow, a row of weight 2 on two lines of weight 1."""
    lines = [
        (*row, weight // abs(weight)) for row, weight in delta.items() for _ in range(abs(weight))
    ]
    columns = list(zip(*lines, strict=True)) or [()] * (len(schema) + 1)
    kinds = [*map(arrow_type, schema.types), pyarrow.int64()]
    names = [*schema.names, "_weight"]
    return pyarrow.table(list(map(pyarrow.array, columns, kinds)), names=names)


@pytest.mark.parametrize(
    "name", ["union of a table and its negation", "join", "distinct", "aggregate"]
)
def test_differential_deltas_as_arrow(spark: SparkSession, name: str) -> None:
    """Every other tick comes as Arrow, two at a time."""
    query = QUERIES[name]
    stream = random_ticks(7, ticks=4)
    given: list[dict[str, Any]] = [
        {
            table: as_arrow(query.tables()[table], delta) if number % 2 == 0 else delta
            for table, delta in tick.items()
        }
        for number, tick in enumerate(zsets(query, stream))
    ]
    engine = Engine(spark, query)
    outputs = [*engine.step_many(given[:2]), *engine.step_many(given[2:])]
    assert [output["view"] for output in outputs] == by_reference(query, stream)
    engine.close()


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"v": [1], "k": [1]}, RowError, "tick 1, table t: .* of columns k, v, .* got v, k$"),
        ({"k": [1]}, RowError, "got k$"),
        ({"k": ["x"], "v": [1]}, RowError, "column k .*: expected Arrow type int64, got string"),
        ({"k": [None, 1], "v": [1, 1]}, RowError, "column k .*: 1 of the values are NULL"),
        ({"k": [1], "v": [1], "_weight": [1.0]}, WeightError, "_weight: .* got double with"),
        ({"k": [1, 1], "v": [1, 1], "_weight": [1, None]}, WeightError, "without NULL"),
    ],
)
def test_arrow_that_is_no_delta_is_refused(
    spark: SparkSession, columns: dict[str, Any], error: type[DeltaproofError], message: str
) -> None:
    engine = Engine(spark, table("t", "k BIGINT NOT NULL, v BIGINT").distinct())
    with pytest.raises(error, match=message):
        engine.step({"t": pyarrow.table(columns)})
    assert engine.ticks == 0


def test_a_closed_engine_shows_its_views_and_takes_no_tick(spark: SparkSession) -> None:
    engine = Engine(spark, T.project("k").distinct())
    engine.step({"t": {(1, 1, None): 1}})
    engine.close()
    assert engine.contents() == {"view": ZSet({(1,): 1})}
    with pytest.raises(TickError, match="tick 2: the engine is closed"):
        engine.step({})


@pytest.mark.parametrize(
    ("tick", "error"),
    [
        ({"nope": {}}, TickError),
        ({"t": {(1, "x", None): 1}}, RowError),
        ({"t": {(1, 2**62, None): 2}}, EvaluationError),
        ({"t": {(1, 1, None): 2**63}}, BackendError),
    ],
)
def test_a_tick_that_fails_changes_nothing(
    spark: SparkSession, tick: Any, error: type[DeltaproofError]
) -> None:
    query = T.group_by("k").aggregate(n=count(), s=sum_(col("v")))
    engine, circuit = Engine(spark, query), Circuit(query)
    first: Tick = {"t": {(1, 5, None): 1}}
    after: Tick = {"t": {(1, 5, None): -1, (1, 7, None): 1}}
    assert engine.step(first) == circuit.step(first)
    with pytest.raises(error):
        engine.step(tick)
    assert engine.contents() == circuit.contents()
    assert engine.step(after) == circuit.step(after)


def test_values_of_every_type_come_back_as_they_went(spark: SparkSession) -> None:
    schema = Schema.parse(
        "a BOOLEAN, b BIGINT, c DOUBLE, d DECIMAL(10,2), e VARCHAR, f DATE, g TIMESTAMP, "
        "h ARRAY(BIGINT), i ARRAY(DOUBLE)"
    )
    rows: list[list[Any]] = [
        [None] * 9,
        [
            True,
            -(2**63),
            -0.0,
            Decimal("-1.50"),
            "ünï'\"`\\%",
            datetime.date(1, 1, 1),
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
            [1, None],
            [float("nan"), -0.0],
        ],
        [
            False,
            2**63 - 1,
            float("nan"),
            Decimal("99999999.99"),
            "",
            datetime.date(9999, 12, 31),
            datetime.datetime(9999, 12, 31),
            [],
            [float("inf")],
        ],
    ]
    query = table("t", schema).distinct()
    given = ZSet.of(schema, [(row, 1) for row in rows])
    ((output,),) = run_many(spark, query, [[{"t": given}]])
    assert output == given
    kinds = {tuple(map(type, row)) for row in output}
    assert kinds == {tuple(map(type, row)) for row in given}
    columns = map(pyarrow.array, zip(*rows, strict=True), map(arrow_type, schema.types))
    arrow = pyarrow.table(list(columns), names=list(schema.names))
    assert Engine(spark, query).step({"t": arrow}) == {"view": given}
