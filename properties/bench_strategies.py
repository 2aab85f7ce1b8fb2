"""What a case costs that Hypothesis draws: flat blocks of bytes beside nested lists, and judged.

`make bench` runs this under pytest-benchmark; the summary gives cases per second, the goal of 500
that are drawn and judged, and how many times nested lists the flat form is, in the same run.
Nested lists are what one writes first: a list of ticks, of tables, of rows, each of its values.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pytest_benchmark.fixture import BenchmarkFixture

from deltaproof.properties.decode import ROWS, TICKS, WEIGHTS, domain
from deltaproof.properties.draw import About, cases
from deltaproof.properties.law import Law
from deltaproof.properties.laws.operators import increment_is_incremental
from deltaproof.properties.laws.queries import circuit_is_incremental
from deltaproof.properties.strategies import delta_streams, views
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

CASES, ROUNDS = 300, 3
TABLES = {
    "t": Schema.parse("k BIGINT NOT NULL, name VARCHAR"),
    "s": Schema.parse("k BIGINT, x DOUBLE NOT NULL, day DATE"),
}


def nested(tables: dict[str, Schema]) -> SearchStrategy[list[dict[str, ZSet]]]:
    """The same streams of changes, as lists of lists."""
    weights = st.sampled_from([weight for weight in WEIGHTS if weight is not None])

    def change(schema: Schema) -> SearchStrategy[ZSet]:
        values = [
            st.sampled_from(domain(column.type, column.nullable)) for column in schema.columns
        ]
        entries = st.lists(st.tuples(st.tuples(*values), weights), max_size=ROWS)
        return entries.map(lambda drawn: ZSet(drawn, schema))

    tick = st.fixed_dictionaries({name: change(schema) for name, schema in tables.items()})
    return st.lists(tick, min_size=TICKS, max_size=TICKS)


def search(strategy: SearchStrategy[object], judge: Callable[[object], object]) -> None:
    """So many cases, drawn and judged as in a test that passes."""

    @settings(
        max_examples=CASES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def every(case: object) -> None:
        judge(case)

    every()


def measured(
    benchmark: BenchmarkFixture,
    lane: str,
    strategy: SearchStrategy[object],
    judge: Callable[[object], object] = bool,
) -> None:
    benchmark.extra_info.update(lane=lane, cases=CASES)
    benchmark.pedantic(  # type: ignore[no-untyped-call]  # no types
        search, (strategy, judge), rounds=ROUNDS, warmup_rounds=1
    )


@pytest.mark.parametrize("way", ["flat", "nested"])
def bench_streams_drawn(benchmark: BenchmarkFixture, way: str) -> None:
    strategy: SearchStrategy[object] = delta_streams(TABLES) if way == "flat" else nested(TABLES)
    measured(benchmark, f"streams of two tables, drawn: {way}", strategy)


def bench_views_drawn(benchmark: BenchmarkFixture) -> None:
    measured(benchmark, "queries of two operators with ticks, drawn", views(2))


@pytest.mark.parametrize(
    ("law", "about"),
    [
        (increment_is_incremental, Distinct),
        (increment_is_incremental, Join),
        (increment_is_incremental, Aggregate),
        (circuit_is_incremental, None),
    ],
    ids=lambda each: getattr(each, "name", "any"),
)
def bench_law_judged(benchmark: BenchmarkFixture, law: Law, about: About) -> None:
    name = about.name if about is not None else "two operators"

    def judge(case: object) -> None:
        assert isinstance(case, tuple)
        try:
            equation = law.equation(*[value for _, value in case])
        except EvaluationError:
            return
        assert equation.lhs == equation.rhs

    measured(benchmark, f"judged: {law.name}, {name}", cases(law, about), judge)
