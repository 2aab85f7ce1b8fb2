"""Random recursions over the graph that two columns of one type make of a table's rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from deltaproof.reference.query import Apply, Query, Table, recursion
from deltaproof.reference.scalar import col, sample_predicate
from deltaproof.reference.types import ARRAY, Column, Schema

Bodies: TypeAlias = dict[str, Query]


@dataclass(frozen=True)
class Graph:
    """A table as the edges from its column `a` to its column `b`, and a relation of such pairs."""

    random: Random
    rows: Table
    a: Column
    b: Column

    @property
    def edges(self) -> Query:
        return self.rows.map(a=col(self.a.name), b=col(self.b.name))

    @property
    def some_edges(self) -> Query:
        return self.edges.filter(sample_predicate(self.random, self.edges.schema))

    def relation(self, name: str) -> Table:
        """A relation of pairs; a pair has the ends of a path, which may be NULL where an edge's."""
        ends = (replace(column, nullable=True) for column in (self.a, self.b))
        a, b = (replace(end, name=name) for end, name in zip(ends, "ab", strict=True))
        return Table(name, Schema((a, b)))


def sample_recursion(random: Random, schema: Schema) -> Apply | None:
    """A random recursion over a table of this schema; None without two columns of one type."""
    pairs = [
        (a, b)
        for a in schema.columns
        for b in schema.columns
        if a != b and a.type == b.type and not isinstance(a.type, ARRAY)
    ]
    if not pairs:
        return None
    graph = Graph(random, Table("rows", schema), *random.choice(pairs))
    make = random.choice((linear, linear, linear, *KINDS))
    bodies = make(graph)
    return recursion(random.choice(list(bodies)) if make is mutual else next(iter(bodies)), bodies)


def step(first: Query, second: Query) -> Query:
    """The paths made of one of the first and then one of the second."""
    other = second.prefix("next_")
    return first.join(other, {"b": "next_a"}).map(a=col("a"), b=col("next_b"))


def linear(graph: Graph) -> Bodies:
    """Paths, longer by an edge at the end or at the start; sometimes only some of them."""
    paths = graph.relation("paths")
    ends = [(paths, graph.edges), (graph.edges, paths)]
    longer = step(*graph.random.choice(ends))
    if graph.random.random() < 0.3:
        longer = longer.filter(sample_predicate(graph.random, longer.schema))
    return {"paths": graph.random.choice((graph.edges, graph.some_edges)).union_all(longer)}


def doubling(graph: Graph) -> Bodies:
    """Paths made of two paths."""
    paths = graph.relation("paths")
    return {"paths": graph.edges.union(step(paths, paths))}


def reachable(graph: Graph) -> Bodies:
    """What is reached from where some edges start."""
    reached = Table("reached", Schema((replace(graph.a, name="n", nullable=True),)))
    further = reached.join(graph.edges, {"n": "a"}).map(n=col("b"))
    return {"reached": graph.some_edges.map(n=col("a")).union_all(further)}


def same_generation(graph: Graph) -> Bodies:
    """Pairs that are equally far from a common ancestor."""
    same = graph.relation("same")
    parent = graph.edges.map(p=col("a"), c=col("b"))
    other = graph.edges.map(q=col("a"), d=col("b"))
    siblings = parent.join(other, {"p": "q"}).map(a=col("c"), b=col("d"))
    cousins = parent.join(same, {"p": "a"}).join(other, {"b": "q"}).map(a=col("c"), b=col("d"))
    return {"same": siblings.union_all(cousins)}


def mutual(graph: Graph) -> Bodies:
    """Paths of an odd and of an even number of edges, each in terms of the other."""
    odd, even = graph.relation("odd"), graph.relation("even")
    return {
        "odd": graph.edges.union_all(step(even, graph.edges)),
        "even": step(odd, graph.edges),
    }


def nested(graph: Graph) -> Bodies:
    """Paths in a graph that has an edge back along some of its own paths."""
    outer, inner = graph.relation("outer"), graph.relation("paths")
    edges = graph.relation("edges")
    closure = recursion(
        "paths",
        {"paths": edges.union_all(step(inner, edges))},
        edges=graph.edges.union_all(outer.map(a=col("b"), b=col("a"))),
    )
    onward = closure.semi_join(graph.edges.prefix("out_"), {"b": "out_a"})
    return {"outer": graph.some_edges.union_all(onward)}


def restricted(graph: Graph) -> Bodies:
    """Paths that may go on only where something outside the recursion allows it."""
    paths = graph.relation("paths")
    outside = graph.edges.prefix("out_")
    longer = step(paths, graph.edges)
    restriction: Callable[[], Query] = graph.random.choice(
        (
            lambda: longer.semi_join(outside, {"b": "out_a"}),
            lambda: longer.anti_join(outside, {"a": "out_b"}),
            lambda: longer.except_(graph.some_edges),
            lambda: longer.intersect(graph.edges.map(a=col("b"), b=col("a"))),
            lambda: longer.left_join(outside, {"b": "out_a"}).map(a=col("a"), b=col("out_b")),
            lambda: graph.edges.semi_join(paths.prefix("out_"), {"a": "out_b"}),
        )
    )
    return {"paths": graph.some_edges.union(restriction())}


KINDS = (doubling, reachable, same_generation, mutual, nested, restricted)
