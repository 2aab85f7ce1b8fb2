"""Recursion on Spark gives what the reference's runtime gives, all ticks at once or by turns."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.operators.test_recursion import QUERIES, random_tick
from deltaproof.reference.query import Query, apply, recursion, table
from deltaproof.reference.scalar import col
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.session import session

Stream = list[dict[str, ZSet]]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def streams_of(query: Query, number: int, ticks: int = 4) -> list[Stream]:
    """Random streams, each of its own seed."""

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


@pytest.mark.parametrize("name", ["closure", "odd", "nested", "anti join"])
def test_differential_many_streams_at_once(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    streams = streams_of(query, 30)
    assert run_many(spark, query, streams) == [by_reference(query, each) for each in streams]


@pytest.mark.parametrize("name", ["closure", "an aggregate without keys outside"])
def test_differential_state_is_carried_from_range_to_range(spark: SparkSession, name: str) -> None:
    query = QUERIES[name]
    streams = streams_of(query, 20)
    expected = [by_reference(query, each) for each in streams]
    assert run_many(spark, query, streams, [2, 2]) == expected


def test_differential_random_recursions(spark: SparkSession) -> None:
    random = Random("recursion on Spark")
    schema = Schema.parse("k BIGINT, v VARCHAR NOT NULL, l BIGINT, w VARCHAR")
    rows = table("rows", schema)

    def delta() -> ZSet:
        some = [tuple(sample_value(random, kind) for kind in schema.types) for _ in range(4)]
        return ZSet([(row, random.choice((-1, 1, 1, 2))) for row in some], schema)

    for _ in range(2):
        operator = Recursion.sample(random, schema)
        assert operator is not None
        query = apply(operator, rows)
        streams: list[Stream] = [[{"rows": delta()} for _ in range(4)] for _ in range(20)]
        expected = [by_reference(query, each) for each in streams]
        assert run_many(spark, query, streams) == expected, operator


def test_a_cycle_cut_from_its_root_leaves_nothing(spark: SparkSession) -> None:
    edges, roots = table("e", "a BIGINT, b BIGINT"), table("f", "x BIGINT")
    reached = table("reached", "n BIGINT")
    further = reached.join(edges, {"n": "a"}).map(n=col("b"))
    query = recursion("reached", {"reached": roots.map(n=col("x")).union_all(further)})
    engine = Engine(spark, query)
    engine.step({"e": {(1, 2): 1, (2, 3): 1, (3, 2): 1}, "f": {(1,): 1}})
    assert engine.contents()["view"] == ZSet({(1,): 1, (2,): 1, (3,): 1})
    assert engine.step({"e": {(1, 2): -1}})["view"] == ZSet({(2,): -1, (3,): -1})
    assert engine.step({})["view"] == ZSet()


def test_a_recursion_that_does_not_end_is_an_error_and_changes_nothing(spark: SparkSession) -> None:
    edges, paths = table("e", "a BIGINT, b BIGINT"), table("r", "a BIGINT, b BIGINT")
    body = edges.union_all(paths.map(a=col("a"), b=col("b") + 1))
    engine = Engine(spark, recursion("r", {"r": body}, bound=4))
    engine.step({"e": {(2, None): 1}})
    with pytest.raises(EvaluationError, match="'r' still changes after 4 iterations, the bound"):
        engine.step({"e": {(1, 1): 1}})
    assert engine.step({"e": {(2, None): -1}})["view"] == ZSet({(2, None): -1})
