"""Every aggregate function on Spark follows the reference's runtime, up to the last digits of a
DOUBLE: in one shot, in ranges, tick by tick."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.query import (
    Query,
    arg_max,
    arg_min,
    array_agg,
    avg,
    bool_and,
    bool_or,
    count,
    max_,
    median,
    min_,
    quantile,
    single,
    stddev,
    sum_,
    table,
    variance,
)
from deltaproof.reference.scalar import col
from deltaproof.reference.types import NAN, Row, Value
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine, run_many
from deltaproof.spark_backend.session import session

Stream = list[dict[str, ZSet]]

T = table("t", "k BIGINT, v BIGINT, x DOUBLE, d DECIMAL(10,2), s VARCHAR, b BOOLEAN")
K, V, X, D, S, B = (col(name) for name in T.columns.names)
DOMAINS: tuple[tuple[Value, ...], ...] = (
    (0, 1, None),
    (0, 1, -5, 7, None),
    (0.0, 0.5, -1.25, math.inf, -math.inf, NAN, None),
    (Decimal("0.00"), Decimal("1.50"), Decimal("-0.01"), None),
    ("", "a", "b", None),
    (True, False, None),
)
RUNNING = {
    "rows": count(),
    "rows_where": count(where=V > 0),
    "given": count(S, where=B),
    "total": sum_(D, where=V < 5),
    "mean": avg(V),
    "var_pop": variance(V, population=True),
    "stddev": stddev(D, where=V > 0),
    "every": bool_and(B),
    "any": bool_or(B, where=V > 0),
}
SNAPSHOT = {
    "rows": count(),
    "n": count(S, distinct=True),
    "total": sum_(X, distinct=True),
    "cents": sum_(D, distinct=True, where=B),
    "mean": avg(V, distinct=True),
    "plain": avg(V),
    "least": min_(V, distinct=True),
    "greatest": max_(X, where=B),
    "var": variance(X),
    "stddev": stddev(X, population=True, where=V > 0),
    "var_exact": variance(V),
    "first": arg_min(S, V),
    "last": arg_max(V, X, where=S.eq("a")),
    "every": bool_and(B),
    "values": array_agg(X),
    "texts": array_agg(S, where=V > 0),
    "middle": median(V),
    "low": quantile(X, "0.25"),
    "high": quantile(X, "0.9"),
    "cent": median(D),
}
QUERIES: dict[str, Query] = {
    "running": T.group_by("k").aggregate(**RUNNING),
    "running without a key": T.aggregate(**RUNNING),
    "snapshot": T.group_by("k").aggregate(**SNAPSHOT),
    "snapshot without a key": T.aggregate(**SNAPSHOT),
    "alone": T.group_by("k").aggregate(values=array_agg(D)),
    "rollup": T.rollup("k", "s").aggregate(n=count(), m=median(V)),
    "cube with a mask": T.cube("k", "b", grouping="g").aggregate(n=count(V), high=max_(S)),
    "grouping sets of a join": T.project("k", "v")
    .join(T.project("k", "s").prefix("r_"), on={"k": "r_k"})
    .grouping_sets(["v"], ["r_s", "v"], ["v"], [])
    .aggregate(n=count(), least=min_(col("r_s")))
    .distinct(),
    "single": T.distinct().group_by(*T.columns.names).aggregate(one=single(S), of=single(V)),
}


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def random_stream(seed: int, ticks: int = 5) -> Stream:
    """Weights of both signs, NULLs, special doubles, empty ticks, deletes of what is not there."""
    random = Random(seed)
    stream: Stream = []
    for _ in range(ticks):
        rows: list[tuple[Row, int]] = [
            (tuple(map(random.choice, DOMAINS)), random.choice((-2, -1, 1, 1, 1, 2)))
            for _ in range(random.randrange(5))
        ]
        stream.append({"t": ZSet(rows, T.columns)} if rows else {})
    return stream


def by_reference(query: Query, stream: Stream) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in stream]


def rounded(value: Value) -> Value:
    """The value up to the last digits of a DOUBLE."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.9g}") + 0.0
    return value


def same_views(ours: list[ZSet], theirs: list[ZSet]) -> bool:
    """Whether both streams of changes add up to the same, tick by tick."""
    view = ZSet()
    for a, b in zip(ours, theirs, strict=True):
        view = view + ZSet([(tuple(map(rounded, row)), w) for row, w in a.items()])
        view = view - ZSet([(tuple(map(rounded, row)), w) for row, w in b.items()])
        if view:
            return False
    return True


IN_RANGES = ("running without a key", "snapshot", "cube with a mask")


@pytest.mark.parametrize(
    ("name", "chunks"),
    [*[(name, None) for name in QUERIES], *[(name, [2, 1, 2]) for name in IN_RANGES]],
)
def test_differential_many_streams_at_once(
    spark: SparkSession, name: str, chunks: list[int] | None
) -> None:
    query = QUERIES[name]
    streams = [random_stream(seed) for seed in range(30)]
    outputs = run_many(spark, query, streams, chunks)
    for stream, output in zip(streams, outputs, strict=True):
        expected = by_reference(query, stream)
        assert same_views(output, expected), (stream, output, expected)


def test_differential_one_tick_at_a_time(spark: SparkSession) -> None:
    views = {"groups": QUERIES["alone"], "sets": QUERIES["cube with a mask"]}
    engine, circuit = Engine(spark, views), Circuit(views)
    for tick in random_stream(7, ticks=3):
        ours, theirs = engine.step(tick), circuit.step(tick)
        for name in views:
            assert same_views([ours[name]], [theirs[name]])


def test_a_scalar_subquery_of_two_rows_is_an_error_and_the_next_tick_works(
    spark: SparkSession,
) -> None:
    query = T.aggregate(only=single(V))
    engine, circuit = Engine(spark, query), Circuit(query)
    one: Row = (1, 5, None, None, None, None)
    other: Row = (1, None, None, None, None, None)
    assert engine.step({"t": {one: 1}}) == circuit.step({"t": {one: 1}})
    with pytest.raises(EvaluationError, match="more than one row"):
        engine.step({"t": {other: 1}})
    change = {"t": {one: -1, other: 1}}
    assert engine.step(change) == circuit.step(change)
