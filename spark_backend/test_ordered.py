"""Operators that read an order: Spark's snapshots against the reference's increments.

`differential_*`: every query is a random instance of an operator, as the suite draws them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import MOST_COPIES
from deltaproof.reference.query import Query, apply, count, sum_, table
from deltaproof.reference.scalar import col
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.select import Frame
from deltaproof.reference.types import DOUBLE, NAN, Row, Schema, Value
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.session import session

KINDS: tuple[type[Operator], ...] = (TopK, Rank, Lag, Rolling, SessionWindow)
SCHEMAS = (
    Schema.parse("a BIGINT, b BIGINT, c VARCHAR"),
    Schema.parse("x DOUBLE, n BIGINT, z DECIMAL(10,2)"),
    Schema.parse("d DATE, t TIMESTAMP, b BOOLEAN, h ARRAY(BIGINT)"),
)
T = table("t", "k BIGINT, v BIGINT")
Stream = list[dict[str, ZSet]]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def queries(kind: type[Operator], seed: int) -> Iterator[Query]:
    random = Random(f"{kind.name}/{seed}")
    while True:
        schema = random.choice(SCHEMAS)
        if operator := kind.sample(random, schema):
            yield apply(operator, table("t", schema))


def random_value(random: Random, schema: Schema, place: int) -> Value:
    kind = schema.types[place]
    if random.random() < 0.15:
        return None
    return NAN if kind == DOUBLE and random.random() < 0.1 else sample_value(random, kind)


def random_stream(seed: int, schema: Schema, ticks: int = 5) -> Stream:
    """Ticks of weights of both signs, NULLs, NaN, empty ticks, rows that go again."""
    random = Random(seed)
    given: list[Row] = []
    stream: Stream = []
    for _ in range(ticks):
        rows = [
            tuple(random_value(random, schema, place) for place in range(len(schema)))
            for _ in range(random.randrange(4))
        ]
        rows += random.sample(given, min(len(given), random.randrange(3)))
        given += rows
        delta = [(row, random.choice((-2, -1, -1, 1, 1, 2, 3))) for row in rows]
        stream.append({"t": ZSet.of(schema, delta)} if rows else {})
    return stream


def by_reference(query: Query, stream: Stream) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in stream]


def check(spark: SparkSession, query: Query, chunks: list[int] | None, streams: int) -> None:
    (schema,) = query.tables().values()
    given = [random_stream(seed, schema) for seed in range(streams)]
    outputs = run_many(spark, query, given, chunks)
    for seed, (stream, output) in enumerate(zip(given, outputs, strict=True)):
        expected = by_reference(query, stream)
        assert close(output, expected), f"{query}\nstream {seed}: {stream}"


def close(output: list[ZSet], expected: list[ZSet]) -> bool:
    """Equal, but for the last digits of doubles."""
    return list(map(rounded, output)) == list(map(rounded, expected))


def rounded(zset: ZSet) -> dict[Row, int]:
    return {
        tuple(
            float(f"{v:.12g}") if isinstance(v, float) and v is not NAN else v for v in row
        ): weight
        for row, weight in zset.items()
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_differential_many_streams_at_once(spark: SparkSession, kind: type[Operator]) -> None:
    for query in islice(queries(kind, 1), 5):
        check(spark, query, None, 40)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("chunks", [[1] * 5, [2, 1, 2]])
def test_differential_state_is_carried_from_range_to_range(
    spark: SparkSession, kind: type[Operator], chunks: list[int]
) -> None:
    for query in islice(queries(kind, 2), 1):
        check(spark, query, chunks, 20)


def test_numbers_and_distances_at_the_ends_of_64_bits(spark: SparkSession) -> None:
    near = Frame("range", 5, 5)
    query = T.rolling(near, "v", n=count(), s=sum_(col("k")))
    rows = {(1, 2**63 - 1): 1, (2, 2**63 - 4): 1, (3, -(2**63)): 2, (4, None): 1, (5, 0): 1}
    stream = [{"t": ZSet.of(T.schema, rows)}, {"t": ZSet.of(T.schema, {(2, 2**63 - 4): -1})}]
    assert run_many(spark, query, [stream]) == [by_reference(query, stream)]
    visits = T.session_window("v", 3)
    inside = [{"t": ZSet.of(T.schema, {(1, -(2**63)): 1, (2, 2**63 - 9): 1, (3, 2**63 - 7): 1})}]
    assert run_many(spark, visits, [inside]) == [by_reference(visits, inside)]


def test_a_row_that_is_there_too_often_has_no_numbers(spark: SparkSession) -> None:
    engine, circuit = Engine(spark, T.row_number("n", "v")), Circuit(T.row_number("n", "v"))
    for runner in (engine, circuit):
        with pytest.raises(EvaluationError, match="times"):
            runner.step({"t": {(1, 1): MOST_COPIES + 1}})
        assert runner.step({"t": {(1, 1): 1}}) == {"view": ZSet({(1, 1, 1): 1})}
    often = T.rank("n", Order(col("v")))
    assert Engine(spark, often).step({"t": {(1, 1): 2**40}}) == {"view": ZSet({(1, 1, 1): 2**40})}


def test_the_whole_row_is_ordered_as_the_reference_orders_it(spark: SparkSession) -> None:
    odd = table("t", "h ARRAY(BIGINT), g ARRAY(DOUBLE), s VARCHAR, b BOOLEAN")
    rows: list[Row] = [
        (array, doubles, text, flag)
        for array in (None, (), (1,), (1, None), (1, 2), (None,), (2,))
        for doubles, text, flag in (
            ((NAN, None), "\uffff", True),
            ((float("inf"),), "\U0001f600", None),
            (None, "", False),
            ((NAN,), "\uffff", False),
        )
    ]
    stream = [{"t": ZSet.of(odd.schema, [(row, 1) for row in rows])}]
    query = odd.row_number("n")
    assert run_many(spark, query, [stream]) == [by_reference(query, stream)]
