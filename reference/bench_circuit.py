"""What the runtime costs beside the shortest dictionary code written for one query by hand.

`make bench` runs this under pytest-benchmark: 100 ticks of 1,000 changed rows a table, over
states of 10,000 to 1,000,000 rows, by the runtime and by hand. Changes are of rows anywhere in
the state, or of rows of the same 10,000 keys whatever the state. The summary gives ratios within
the run: rows per second of the runtime over those by hand, and time per tick when the state
grows tenfold. With changes anywhere both ways slow down alike, as a larger dictionary misses the
processor's caches more often; with the same keys what is left is the work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.query import Query, sum_, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

TICKS, CHANGES = 100, 1_000
STATES = (10_000, 100_000, 1_000_000)

Tick = dict[str, ZSet]
Step = Callable[[Tick], object]

ORDERS = table("orders", "id BIGINT NOT NULL, customer BIGINT NOT NULL")
ITEMS = table("items", "order_id BIGINT NOT NULL, price BIGINT NOT NULL")

JOIN: Query = ORDERS.join(ITEMS, on={"id": "order_id"})
SUM: Query = ITEMS.group_by("order_id").aggregate(total=sum_(col("price")))


def join_by_hand() -> Step:
    """The incremental join as one would write it for this query alone."""
    left: dict[int, dict[Row, int]] = defaultdict(dict)
    right: dict[int, dict[Row, int]] = defaultdict(dict)
    view: dict[Row, int] = {}

    def add(weights: dict[Row, int], row: Row, weight: int) -> None:
        total = weights.get(row, 0) + weight
        if total:
            weights[row] = total
        else:
            del weights[row]

    def step(tick: Tick) -> dict[Row, int]:
        output: dict[Row, int] = {}
        for row, weight in tick["orders"].items():
            for other, match in right[row[0]].items():
                add(output, row + other, weight * match)
            add(left[row[0]], row, weight)
        for row, weight in tick["items"].items():
            for other, match in left[row[0]].items():
                add(output, other + row, weight * match)
            add(right[row[0]], row, weight)
        for row, weight in output.items():
            add(view, row, weight)
        return output

    return step


def sum_by_hand() -> Step:
    """The incremental SUM as one would write it for this query alone."""
    counts: dict[int, int] = defaultdict(int)
    sums: dict[int, int] = defaultdict(int)
    view: dict[Row, int] = {}

    def step(tick: Tick) -> dict[Row, int]:
        before: dict[int, Row | None] = {}
        for (key, price), weight in tick["items"].items():
            if key not in before:
                before[key] = (key, sums[key]) if counts[key] > 0 else None
            counts[key] += weight
            sums[key] += price * weight
        output: dict[Row, int] = {}
        for key, old in before.items():
            new = (key, sums[key]) if counts[key] > 0 else None
            if old != new:
                if old:
                    output[old] = -1
                    del view[old]
                if new:
                    output[new] = 1
                    view[new] = 1
        return output

    return step


def by_runtime(query: Query) -> Step:
    return Circuit(query).step


def stream(query: Query, rows: int, keys: int) -> Iterator[Tick]:
    """First the whole state, then ticks that replace rows whose key is below `keys`."""
    random = Random(7)
    live: dict[str, list[Row]] = {name: [] for name in query.tables()}
    schemas = query.tables()

    def fresh(name: str, keys: int) -> Row:
        row = (random.randrange(keys), random.randrange(1_000))
        live[name].append(row)
        return row

    yield {
        name: ZSet([(fresh(name, rows), 1) for _ in range(rows)], schemas[name]) for name in live
    }
    for alive in live.values():
        alive[:] = [row for row in alive if row[0] < keys]
    for _ in range(TICKS):
        tick = {}
        for name, alive in live.items():
            changes: list[tuple[Row, int]] = []
            for _ in range(CHANGES // 2):
                place = random.randrange(len(alive))
                alive[place], alive[-1] = alive[-1], alive[place]
                changes += [(alive.pop(), -1), (fresh(name, keys), 1)]
            tick[name] = ZSet(changes, schemas[name])
        yield tick


@pytest.mark.parametrize("rows", STATES)
@pytest.mark.parametrize("reach", ["anywhere", "same-keys"])
@pytest.mark.parametrize("way", ["runtime", "by-hand"])
@pytest.mark.parametrize(
    ("query", "by_hand"), [(JOIN, join_by_hand), (SUM, sum_by_hand)], ids=["join", "sum"]
)
def bench_ticks(
    benchmark: BenchmarkFixture,
    query: Query,
    by_hand: Callable[[], Step],
    way: str,
    reach: str,
    rows: int,
) -> None:
    """100 ticks, after the state is loaded."""
    first, *ticks = stream(query, rows, rows if reach == "anywhere" else STATES[0])

    def loaded() -> tuple[tuple[Step], dict[str, object]]:
        step = by_runtime(query) if way == "runtime" else by_hand()
        step(first)
        return (step,), {}

    def run(step: Step) -> None:
        for tick in ticks:
            step(tick)

    name = f"{'join' if query is JOIN else 'sum'}, {reach}"
    benchmark.group = f"{name}, {rows:,} rows"
    benchmark.extra_info |= {"query": name, "way": way, "rows": rows}
    benchmark.pedantic(run, setup=loaded, rounds=5)  # type: ignore[no-untyped-call]  # no types
