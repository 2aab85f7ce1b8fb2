"""What it costs to delete an edge of a graph and to put it back, beside computing the closure anew.

`make bench` runs this under pytest-benchmark: the transitive closure of a graph of 10,000 nodes
in components of 1,000, each a random tree with a tenth as many edges more. 100 random edges are
deleted and put back, a tick each; the closure of one component is computed from nothing. The
summary gives the cost of one edge, both ticks, as a share of that.
"""

from __future__ import annotations

from random import Random

from pytest_benchmark.fixture import BenchmarkFixture

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.query import Query, recursion, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row

NODES, COMPONENT, EDGES_CHANGED = 10_000, 1_000, 100

EDGES = table("edges", "a BIGINT NOT NULL, b BIGINT NOT NULL")
PATHS = table("paths", "a BIGINT NOT NULL, c BIGINT NOT NULL")


def closure() -> Query:
    """The pairs of nodes with a path from the first to the second."""
    longer = PATHS.join(EDGES.prefix("next_"), {"c": "next_a"})
    paths = EDGES.map(a=col("a"), c=col("b")).union_all(longer.map(a=col("a"), c=col("next_b")))
    return recursion("paths", {"paths": paths})


def graph(nodes: int, component: int) -> list[Row]:
    """Random trees whose edges lead away from the root, and a tenth as many edges across."""
    random = Random(1)
    edges: dict[Row, None] = {}
    for first in range(0, nodes, component):
        for node in range(first + 1, first + component):
            edges[(random.randrange(first, node), node)] = None
        for _ in range(component // 10):
            edges[tuple(sorted(random.sample(range(first, first + component), 2)))] = None
    return list(edges)


def loaded(edges: list[Row]) -> Circuit:
    circuit = Circuit(closure())
    circuit.step({"edges": dict.fromkeys(edges, 1)})
    return circuit


def bench_delete_and_put_back(benchmark: BenchmarkFixture) -> None:
    """100 edges, one after the other: two ticks each."""
    edges = graph(NODES, COMPONENT)
    circuit = loaded(edges)
    changed = Random(2).sample(edges, EDGES_CHANGED)

    def run() -> None:
        for edge in changed:
            circuit.step({"edges": {edge: -1}})
            circuit.step({"edges": {edge: 1}})

    benchmark.group = f"closure of {NODES:,} nodes"
    benchmark.extra_info |= {"recursion": "change", "changes": EDGES_CHANGED}
    benchmark.pedantic(run, rounds=5)  # type: ignore[no-untyped-call]  # no types


def bench_component_anew(benchmark: BenchmarkFixture) -> None:
    """The closure of one component, from nothing."""
    edges = graph(COMPONENT, COMPONENT)
    benchmark.group = f"closure of {NODES:,} nodes"
    benchmark.extra_info |= {"recursion": "anew", "changes": 1}
    benchmark.pedantic(lambda: loaded(edges), rounds=5)  # type: ignore[no-untyped-call]  # no types
