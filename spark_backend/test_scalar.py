"""An expression means on Spark what it means in the reference, for every row."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from deltaproof.reference.query import Query, table
from deltaproof.reference.scalar import Expr, col, if_
from deltaproof.reference.scalar_examples import EXAMPLES
from deltaproof.reference.scalar_sample import sample_expression, sample_predicate, sample_value
from deltaproof.reference.types import BIGINT, BOOLEAN, DATE, DOUBLE, VARCHAR, Row, Schema
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import run_many
from deltaproof.spark_backend.session import session

SCHEMA = Schema.parse("a BIGINT, b BIGINT, x DOUBLE, s VARCHAR, d DATE, t BOOLEAN")
AT_ONCE = 40  # expressions in one map, which is one job


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session()


def rows(random: Random, number: int) -> list[Row]:
    return [
        tuple(None if random.random() < 0.2 else sample_value(random, t) for t in SCHEMA.types)
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_oracle_random_expressions_over_random_rows(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    kinds = (BIGINT, DOUBLE, VARCHAR, DATE, BOOLEAN)
    expressions: list[Expr] = [
        sample_expression(random, SCHEMA, random.choice(kinds)) for _ in range(AT_ONCE - 10)
    ]
    expressions += [sample_predicate(random, SCHEMA) for _ in range(10)]
    named = {f"e{n}": expression for n, expression in enumerate(expressions)}
    query: Query = table("t", SCHEMA).map(**named)
    given = ZSet([(row, 1) for row in rows(random, 60)], SCHEMA)
    ((output,),) = run_many(spark, query, [[{"t": given}]])
    compiled = [expression.compile(SCHEMA) for expression in expressions]
    expected = ZSet([(tuple(value(row) for value in compiled), w) for row, w in given.items()])
    assert output == expected


def test_oracle_every_function_at_its_edges(spark: SparkSession) -> None:
    """A row per value of an example, which x0 names, and a column per example, NULL elsewhere."""
    kinds = list(dict.fromkeys(example.kind for example in EXAMPLES))
    schema = Schema.parse(", ".join(f"x{n} {kind}" for n, kind in enumerate(("BIGINT", *kinds))))
    named: dict[str, Expr] = {"n": col("x0")}
    given: list[Row] = []
    for number, example in enumerate(EXAMPLES):
        own = 1 + kinds.index(example.kind)
        value = example.expression.substitute({"x": col(f"x{own}")})
        named[f"e{number}"] = if_(col("x0").eq(number), value)
        before, after = (None,) * (own - 1), (None,) * (len(kinds) - own)
        given += [(number, *before, x, *after) for x in {**example.values, None: None}]
    rows = ZSet([(row, 1) for row in given], schema)
    ((output,),) = run_many(spark, table("t", schema).map(**named), [[{"t": rows}]])
    compiled = [expression.compile(schema) for expression in named.values()]
    assert output == ZSet([(tuple(value(row) for value in compiled), 1) for row in given])
