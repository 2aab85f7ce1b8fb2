"""Time per tick follows the change: measured for every operator, as its state grows tenfold, twice.

`make bench` runs this: ticks of 100 changed rows a table, over states of 3,000, 30,000 and 300,000
rows. The summary prints the ratio of the time per tick to that of a tenth of the state, beside
what the operator claims:

    hash      the change meets what it touches by key: ratio 1.3 at most
    ordered   and finds its place in an order: 1.5 at most
    output    what comes out grows with the state, so the time does: no claim

The changes are of the same keys whatever the state, so what is measured is the work, and not how
often a larger dictionary misses the processor's caches (`bench_circuit` has both).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.order import Order
from deltaproof.reference.query import (
    Query,
    arg_max,
    array_agg,
    avg,
    bool_or,
    count,
    max_,
    median,
    min_,
    stddev,
    sum_,
    table,
)
from deltaproof.reference.scalar import array, col
from deltaproof.reference.select import Frame
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

TICKS, CHANGES = 20, 100
STATES = (3_000, 30_000, 300_000)
PER_KEY = 10  # rows of one key, on average
TOUCHED = 200  # keys that the changes are of
VALUES = 1_000_000

T = table("t", "k BIGINT NOT NULL, v BIGINT NOT NULL")
U = table("u", "key BIGINT NOT NULL, w BIGINT NOT NULL")
NOW = table("now", "n BIGINT NOT NULL")
BY_V = Order(col("v"))

HASH, ORDERED, OUTPUT = "hash: 1.3", "ordered: 1.5", "output"


@dataclass(frozen=True)
class Work:
    """A query with one operator, and what it claims."""

    query: Query
    claim: str


PER_GROUP: Mapping[str, Work] = {
    "filter": Work(T.filter(col("v") > 500_000), HASH),
    "map": Work(T.map(k=col("k"), d=col("v") * 2), HASH),
    "flat_map": Work(T.flat_map(array(col("v"), col("k")), "e"), HASH),
    "hop": Work(T.hop("v", 100, 50), HASH),
    "union_all": Work(T.union_all(U), HASH),
    "negate": Work(T.negate(), HASH),
    "positive": Work(T.positive(), HASH),
    "distinct": Work(T.distinct(), HASH),
    "set_operation.except": Work(T.except_(U), HASH),
    "set_operation.intersect_all": Work(T.intersect(U, all=True), HASH),
    "join.inner": Work(T.join(U, on={"k": "key"}), HASH),
    "join.semi": Work(T.semi_join(U, on={"k": "key"}), HASH),
    "join.anti": Work(T.anti_join(U, on={"k": "key"}), HASH),
    "join.left": Work(T.left_join(U, on={"k": "key"}), HASH),
    "join.left, residual": Work(T.left_join(U, {"k": "key"}, col("v") < col("w")), HASH),
    "join.full": Work(T.full_join(U, on={"k": "key"}), HASH),
    "join.asof": Work(T.asof_join(U, {"k": "key"}, "v", "w"), ORDERED),
    "aggregate.count": Work(T.group_by("k").aggregate(n=count()), HASH),
    "aggregate.sum": Work(T.group_by("k").aggregate(s=sum_(col("v"))), HASH),
    "aggregate.avg": Work(T.group_by("k").aggregate(m=avg(col("v"))), HASH),
    "aggregate.min": Work(T.group_by("k").aggregate(m=min_(col("v"))), ORDERED),
    "aggregate.stddev": Work(T.group_by("k").aggregate(m=stddev(col("v"))), HASH),
    "aggregate.count_distinct": Work(
        T.group_by("k").aggregate(n=count(col("v"), distinct=True)), HASH
    ),
    "aggregate.bool": Work(T.group_by("k").aggregate(b=bool_or(col("v") > 9)), HASH),
    "aggregate.arg": Work(T.group_by("k").aggregate(a=arg_max(col("k"), col("v"))), ORDERED),
    "aggregate.array_agg": Work(T.group_by("k").aggregate(a=array_agg(col("v"))), ORDERED),
    "aggregate.quantile": Work(T.group_by("k").aggregate(m=median(col("v"))), ORDERED),
    "grouping_sets": Work(T.rollup("k").aggregate(n=count()), HASH),
    "top_k": Work(T.top_k(3, BY_V, partition=("k",)), ORDERED),
    "window.row_number": Work(T.row_number("n", BY_V, partition=("k",)), ORDERED),
    "window.lag": Work(T.lag("before", col("v"), BY_V, partition=("k",)), ORDERED),
    "window.rolling_rows": Work(
        T.rolling(Frame("rows", 2, 0), BY_V, partition=("k",), s=sum_(col("v"))), ORDERED
    ),
    "window.session": Work(T.session_window("v", 1_000, partition=("k",)), ORDERED),
    "temporal_filter": Work(T.temporal_filter(NOW, lower=col("v")), ORDERED),
    "delay": Work(T.delay(), HASH),
    "differentiate": Work(T.differentiate(), HASH),
    "per_group": Work(T.per_group(("k",), T.aggregate(n=count())), HASH),
}
IN_ONE_GROUP: Mapping[str, Work] = {
    "aggregate.max": Work(T.aggregate(m=max_(col("v"))), ORDERED),
    "aggregate.quantile": Work(T.aggregate(m=median(col("v"))), ORDERED),
    "top_k": Work(T.top_k(10, BY_V), ORDERED),
    "window.lag": Work(T.lag("before", col("v"), BY_V), ORDERED),
    "window.rolling_rows": Work(T.rolling(Frame("rows", 2, 0), BY_V, s=sum_(col("v"))), ORDERED),
    "window.session": Work(T.session_window("v", 1), ORDERED),
    "window.rank": Work(T.rank("r", BY_V), OUTPUT),
    "integrate": Work(T.integrate(), OUTPUT),
}
CASES = [
    *[(f"{name}", work, "groups") for name, work in PER_GROUP.items()],
    *[(f"{name}, one group", work, "one") for name, work in IN_ONE_GROUP.items()],
]


def stream(query: Query, rows: int) -> Iterator[dict[str, ZSet]]:
    """First the whole state, then ticks that replace rows of the same few keys."""
    random = Random(7)
    schemas = query.tables()
    live: dict[str, list[Row]] = {name: [] for name in schemas}

    def fresh(name: str, keys: int) -> Row:
        row = (random.randrange(keys), random.randrange(VALUES))[: len(schemas[name])]
        live[name].append(row)
        return row

    sizes = {name: 1 if name == "now" else rows for name in schemas}
    keys = {name: VALUES if name == "now" else rows // PER_KEY for name in schemas}
    yield {
        name: ZSet([(fresh(name, keys[name]), 1) for _ in range(size)], schemas[name])
        for name, size in sizes.items()
    }
    for name, alive in live.items():
        if name != "now":
            alive[:] = [row for row in alive if row[0] < TOUCHED]
    for _ in range(TICKS):
        tick = {}
        for name, alive in live.items():
            if name == "now":
                continue
            changes: list[tuple[Row, int]] = []
            for _ in range(CHANGES // 2):
                place = random.randrange(len(alive))
                alive[place], alive[-1] = alive[-1], alive[place]
                changes += [(alive.pop(), -1), (fresh(name, TOUCHED), 1)]
            tick[name] = ZSet(changes, schemas[name])
        yield tick


@pytest.mark.parametrize("rows", STATES)
@pytest.mark.parametrize(("name", "work", "reach"), CASES, ids=[case[0] for case in CASES])
def bench_work(benchmark: BenchmarkFixture, name: str, work: Work, reach: str, rows: int) -> None:
    """20 ticks, after the state is loaded."""
    states = [rows] if work.claim != OUTPUT else [rows // 10]
    first, *ticks = stream(work.query, states[0])
    circuit = Circuit(work.query)
    circuit.step(first)

    def run() -> None:
        for tick in ticks:
            circuit.step(tick)
        for tick in reversed(ticks):
            circuit.step({name: -delta for name, delta in tick.items()})

    benchmark.group = f"work, {name}, {rows:,} rows"
    benchmark.extra_info |= {"query": name, "way": "runtime", "rows": rows, "claim": work.claim}
    benchmark.extra_info["ticks"] = 2 * TICKS
    benchmark.pedantic(run, rounds=5)  # type: ignore[no-untyped-call]  # no types
