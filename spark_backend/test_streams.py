"""Windows, the moving filter, linear logic and operators over time: Spark against the circuit.

Each stream runs with many others in one job, in ranges of ticks, and tick by tick.
"""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.operators.logic import Branch, Logic
from deltaproof.reference.operators.test_streams import Tick, random_ticks
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.scalar import array, case, col, lit
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.session import session

T = table("t", "k BIGINT, v BIGINT")
CLOCK = table("clock", "now BIGINT")
TIMES = table("times", "n BIGINT, d DATE, m TIMESTAMP")
HOUR = 3_600_000_000
K = ("k", col("k"))

QUERIES: dict[str, Query] = {
    "tumbling": TIMES.hop("n", 3),
    "hopping dates": TIMES.hop("d", 30, 7),
    "hopping timestamps": TIMES.hop("m", 5 * HOUR, 2 * HOUR),
    "windows with gaps": TIMES.hop("n", 1, 3),
    "groups of windows": TIMES.hop("d", 30, 7).group_by("window_end").aggregate(n=count()),
    "temporal filter": T.temporal_filter(CLOCK, lower=col("k"), upper=col("v")),
    "from": T.temporal_filter(CLOCK, lower=col("v") + 1),
    "until": T.temporal_filter(CLOCK, upper=col("v")),
    "delay": T.delay(),
    "delay by three": T.delay(3),
    "delay of a delay": T.delay(2).delay(2),
    "integrate": T.integrate(),
    "differentiate": T.differentiate(),
    "integral of a distinct of a derivative": T.differentiate().distinct().integrate(),
    "join with its own past": T.join(T.delay().prefix("old_"), on={"k": "old_k"}),
    "count of a delay": T.delay(2).aggregate(n=count()),
    "logic": T.logic(
        Branch((K,), where=col("v") > 0, weight=col("v")),
        Branch((("k", col("e")),), unnest=("e", array(col("v"), col("v"), lit(7)))),
    ),
    "logic with delays": T.logic(
        Branch((K,), weight=case((col("v") > 0, lit(2)))),
        Branch((K,), weight=lit(-1), delay=1),
        Branch((("k", col("v")),), delay=4),
    ),
}


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def streams(query: Query, number: int) -> list[list[Tick]]:
    tables = query.tables()
    given = [random_ticks(Random(seed), tables, ticks=5) for seed in range(number)]
    return [*given, [{}] * 5, random_ticks(Random(99), tables, ticks=2)]


def by_reference(query: Query, stream: list[Tick]) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in stream]


def typed(tables: dict[str, Schema], stream: list[Tick]) -> list[dict[str, ZSet]]:
    return [{name: ZSet.of(tables[name], delta) for name, delta in tick.items()} for tick in stream]


@pytest.mark.parametrize("name", list(QUERIES))
def test_differential_many_streams_at_once(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    given = streams(query, 30)
    outputs = run_many(spark, query, [typed(query.tables(), each) for each in given])
    assert outputs == [by_reference(query, each) for each in given]


REMEMBER = [
    "temporal filter",
    "delay by three",
    "delay of a delay",
    "integrate",
    "differentiate",
    "join with its own past",
    "logic with delays",
]


@pytest.mark.parametrize("name", REMEMBER)
@pytest.mark.parametrize("chunks", [[2, 1, 2], [1, 4]], ids=str)
def test_differential_state_is_carried_from_range_to_range(
    spark: SparkSession, name: str, chunks: list[int]
) -> None:
    query = QUERIES[name]
    given = streams(query, 20)
    outputs = run_many(spark, query, [typed(query.tables(), each) for each in given], chunks)
    assert outputs == [by_reference(query, each) for each in given]


@pytest.mark.parametrize("seed", range(6))
def test_differential_random_logic(spark: SparkSession, seed: int) -> None:
    logic = Logic.sample(Random(seed), TIMES.schema)
    assert logic is not None
    query = TIMES.logic(*logic.branches)
    given = streams(query, 10)
    outputs = run_many(spark, query, [typed(query.tables(), each) for each in given], [3, 2])
    assert outputs == [by_reference(query, each) for each in given]


def test_differential_what_is_due_survives_calls_that_bring_nothing(spark: SparkSession) -> None:
    query = T.delay(3).integrate()
    engine, circuit = Engine(spark, query), Circuit(query)
    for tick in ({"t": {(1, 5): 2}}, {}, {"t": {(1, 5): -1}}, {}, {}, {}, {}):
        assert engine.step(tick) == circuit.step(tick)
    assert engine.contents() == circuit.contents()
