"""A query per group on Spark gives what the reference's runtime gives."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.test_per_group import QUERIES, random_tick
from deltaproof.reference.query import Query, apply, table
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.operators import FORMS
from deltaproof.spark_backend.session import session

Stream = list[dict[str, ZSet]]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def streams_of(query: Query, number: int, ticks: int = 5) -> list[Stream]:
    """Random streams, each of its own seed; NULL keys, weights of either sign, empty ticks."""

    def typed(tick: dict[str, ZSet]) -> dict[str, ZSet]:
        schemas = query.tables()
        return {name: ZSet.of(schemas[name], delta.items()) for name, delta in tick.items()}

    return [
        [typed(random_tick(random, query)) for _ in range(ticks)]
        for random in map(Random, range(number))
    ]


def by_reference(query: Query, stream: Stream) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in stream]


@pytest.mark.parametrize("name", list(QUERIES))
def test_differential_many_streams_at_once(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    streams = streams_of(query, 30)
    assert run_many(spark, query, streams) == [by_reference(query, each) for each in streams]


@pytest.mark.parametrize(
    "name", ["distinct", "an aggregate without keys", "two tables", "groups of groups"]
)
def test_differential_state_is_carried_from_range_to_range(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    streams = streams_of(query, 30)
    expected = [by_reference(query, each) for each in streams]
    assert run_many(spark, query, streams, [2, 1, 2]) == expected


def test_differential_random_queries_per_group(spark: SparkSession) -> None:
    random = Random("per_group on Spark")
    schema = Schema.parse("k BIGINT, v BIGINT, w VARCHAR NOT NULL")
    rows = table("rows", schema)

    def delta() -> ZSet:
        some = [tuple(sample_value(random, kind) for kind in schema.types) for _ in range(4)]
        return ZSet([(row, random.choice((-1, 1, 1, 2))) for row in some], schema)

    done = 0
    while done < 8:
        operator = PerGroup.sample(random, schema)
        assert operator is not None
        if not all(type(each) in FORMS for each in operator.query.operators()):
            continue
        query = apply(operator, rows)
        streams: list[Stream] = [[{"rows": delta()} for _ in range(4)] for _ in range(15)]
        expected = [by_reference(query, each) for each in streams]
        assert run_many(spark, query, streams, [2, 2]) == expected, operator
        done += 1


def test_a_group_that_comes_back_begins_anew(spark: SparkSession) -> None:
    query = QUERIES["an aggregate without keys"]
    engine, circuit = Engine(spark, query), Circuit(query)
    for change in ({(1, 5): 1}, {(1, 5): -1}, {}, {(1, 5): 1, (None, 2): 3}, {(None, 2): -3}):
        tick = {"t": change}
        assert engine.step(tick) == circuit.step(tick)
        assert engine.contents() == circuit.contents()
