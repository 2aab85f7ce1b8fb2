"""Spark's set operations, semi, anti, outer and as-of joins put out what the reference does.

`differential_*` compares with the reference's runtime at every tick: all ticks in one job, in
ranges, and one by one.
"""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.query import Query, table
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.types import NAN, Row
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.session import session

Tick = dict[str, dict[Row, int]]

T = table("t", "k BIGINT, v BIGINT, x DOUBLE, a ARRAY(BIGINT)")
S = table("s", "key BIGINT, w BIGINT, y DOUBLE, b ARRAY(BIGINT)")
ON = {"k": "key"}
BELOW = col("v") < col("w")
NOT_FALSE = col("k").eq(col("key")).is_distinct_from(lit(False))

QUERIES: dict[str, Query] = {
    "union": T.union(S),
    "intersect": T.intersect(S),
    "except": T.except_(S),
    "intersect all": T.intersect(S, all=True),
    "except all": T.except_(S, all=True),
    "positive": T.project("k", "x").positive(),
    "semi": T.semi_join(S, ON),
    "anti": T.anti_join(S, ON),
    "semi on two keys, one of them DOUBLE": T.semi_join(S, {"k": "key", "x": "y"}),
    "anti on arrays": T.anti_join(S, {"a": "b"}),
    "anti without a condition": T.anti_join(S),
    "semi with a residual": T.semi_join(S, ON, BELOW),
    "anti with a residual": T.anti_join(S, ON, BELOW),
    "not in": T.anti_join(S, residual=NOT_FALSE),
    "semi with itself": T.semi_join(T, {"k": "v"}),
    "left": T.left_join(S, ON),
    "right": T.right_join(S, ON),
    "full": T.full_join(S, ON),
    "full without a condition": T.full_join(S),
    "left with a residual": T.left_join(S, ON, BELOW),
    "right with a residual": T.right_join(S, ON, BELOW),
    "full with a residual": T.full_join(S, ON, BELOW),
    "full with a residual alone": T.full_join(S, residual=BELOW),
    "left join of distinct rows": T.project("k").distinct().left_join(S.distinct(), ON),
    "asof": T.asof_join(S, ON, "v", "w"),
    "asof, left": T.asof_join(S, ON, "v", "w", kind="left"),
    "asof, strict": T.asof_join(S, ON, "v", "w", kind="left", strict=True),
    "asof without a key": T.asof_join(S, (), "x", "y", kind="left"),
}
CHUNKED = [
    "except all",
    "positive",
    "semi",
    "anti",
    "semi with a residual",
    "not in",
    "full",
    "full with a residual",
    "left join of distinct rows",
    "asof, left",
]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def random_row(random: Random) -> Row:
    pick = random.choice
    return (
        pick((0, 1, None)),
        pick((0, 1, 2, None)),
        pick((0.0, 0.5, NAN, None)),
        pick(((), (1, None), (1, 2), None)),
    )


def random_ticks(seed: int, ticks: int = 5) -> list[Tick]:
    """Ticks of weights of both signs, NULLs, NaN, empty ticks, rows deleted before they come."""
    random = Random(seed)
    stream: list[Tick] = []
    for _ in range(ticks):
        tick: Tick = {}
        for name in ("t", "s"):
            for _ in range(random.choice((0, 1, 2, 3))):
                row = random_row(random)
                tick.setdefault(name, {})[row] = random.choice((-2, -1, 1, 1, 2))
        stream.append(tick)
    return undone(random, stream)


def undone(random: Random, stream: list[Tick]) -> list[Tick]:
    """The stream, some of its ticks taking another one back: matches appear and go."""
    for place in range(1, len(stream)):
        if random.random() < 0.3:
            before = stream[random.randrange(place)]
            stream[place] = {
                name: {row: -weight for row, weight in delta.items()}
                for name, delta in before.items()
            }
    return stream


def zsets(query: Query, stream: list[Tick]) -> list[dict[str, ZSet]]:
    schemas = query.tables()
    return [
        {name: ZSet.of(schemas[name], delta) for name, delta in tick.items() if name in schemas}
        for tick in stream
    ]


def by_reference(query: Query, stream: list[dict[str, ZSet]]) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in stream]


@pytest.mark.parametrize("name", list(QUERIES))
def test_differential_many_streams_at_once(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    streams = [zsets(query, random_ticks(seed)) for seed in range(60)]
    outputs = run_many(spark, query, streams)
    assert outputs == [by_reference(query, stream) for stream in streams]


@pytest.mark.parametrize("name", CHUNKED)
@pytest.mark.parametrize("chunks", [[1, 2, 2]], ids=str)
def test_differential_state_is_carried_from_range_to_range(
    spark: SparkSession, name: str, chunks: list[int]
) -> None:
    query = QUERIES[name]
    streams = [zsets(query, random_ticks(seed)) for seed in range(100, 130)]
    assert run_many(spark, query, streams, chunks) == [
        by_reference(query, stream) for stream in streams
    ]


def test_differential_several_views_one_tick_at_a_time(spark: SparkSession) -> None:
    names = ["anti with a residual", "full", "asof, strict"]
    views = {name.replace(",", ""): QUERIES[name] for name in names}
    engine, circuit = Engine(spark, views), Circuit(views)
    for tick in random_ticks(99, ticks=4):
        assert engine.step(tick) == circuit.step(tick)
    assert engine.contents() == circuit.contents()
