"""What fusing gains: the same ticks by the plan, and by a circuit of the query as written.

`make bench` runs this: 40 ticks of 1,000 changed rows a table, over 20,000 rows. In each group
the number in brackets is the time beside the faster one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from deltaproof.reference.bench_circuit import ITEMS, ORDERS, stream
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.planner import as_written, fused
from deltaproof.reference.query import Query
from deltaproof.reference.scalar import col

ROWS, TICKS = 20_000, 40
Plan = Callable[[dict[str, Query]], dict[str, Query]]

FOUR: Query = (
    ITEMS.filter(col("price") > 100)
    .map(order_id=col("order_id"), net=col("price") * 2 - 1)
    .filter(col("net") < 1_800)
    .map(of=col("order_id"), gross=col("net") + 1)
)
QUERIES: dict[str, Query] = {
    "four linear operators": FOUR,
    "renamed and filtered, twice": ITEMS.prefix("i_")
    .filter(col("i_price") > 100)
    .prefix("j_")
    .filter(col("j_i_price") < 900),
    "four, then a join": ORDERS.join(FOUR, on={"id": "of"}),
    "four, a join, a filter": ORDERS.join(FOUR, on={"id": "of"})
    .filter(col("gross") < 900)
    .project("customer", "gross"),
}


@pytest.mark.parametrize("plan", [fused, as_written], ids=["fused", "as-written"])
@pytest.mark.parametrize("name", list(QUERIES))
def bench_plan(benchmark: BenchmarkFixture, name: str, plan: Plan) -> None:
    first, *ticks = stream(QUERIES[name], ROWS, ROWS)

    def loaded() -> tuple[tuple[Circuit], dict[str, object]]:
        circuit = Circuit(QUERIES[name], plan=plan)
        circuit.step(first)
        return (circuit,), {}

    def run(circuit: Circuit) -> None:
        for tick in ticks[:TICKS]:
            circuit.step(tick)

    benchmark.group = name
    benchmark.pedantic(run, setup=loaded, rounds=5)  # type: ignore[no-untyped-call]  # no types
