"""A recursion costs, per tick, what the tick changes in the course of its iteration.

The definitions are flattened to linear operators, joins and distinct, and these run in both
times: the tick and the iteration (`fixpoint`). What does not depend on the recursion is an
ordinary circuit, runs once per tick, and enters at iteration 0 as a set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deltaproof.reference.fixpoint import (
    DistinctNode,
    Fixpoint,
    JoinNode,
    LinearNode,
    Node,
    VariableNode,
)
from deltaproof.reference.nested import Subcircuit
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.recursion_rules import reads_any
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.zset import ZSet


class RecursionIncrement:
    """Keeps the differences, in both times, of every relation and of both sides of every join.

    Source   DBSP (VLDB 2023) section 6, theorem 6.2
    """

    def __init__(
        self, bodies: Mapping[Query, Query], result: Query, tables: Sequence[str], bound: int
    ) -> None:
        """For flattened bodies, by the relation that each defines; `tables` names the inputs."""
        self.tables = tables
        self.names = {relation.label() for relation in bodies}
        self.fixpoint = Fixpoint()
        self.places = {
            relation: self.fixpoint.add(VariableNode(relation.label(), bound))
            for relation in bodies
        }
        self.entries: dict[Query, int] = {}  # what comes from outside, and where it enters
        for relation, body in bodies.items():
            present = self.fixpoint.add(DistinctNode(relation.schema), self.place(body))
            self.fixpoint.feed_back(present, self.places[relation])
        self.result = self.places[result]
        self.outside = Subcircuit(list(self.entries))

    def place(self, query: Query) -> int:
        """The place of the node of this subquery, which stands after those of its inputs."""
        if query not in self.places:
            self.places[query] = self.new_place(query)
        return self.places[query]

    def new_place(self, query: Query) -> int:
        if not isinstance(query, Apply) or not reads_any(query, self.names):
            self.entries[query] = self.fixpoint.add(LinearNode(lambda rows: rows))
            return self.entries[query]
        inputs = [self.place(each) for each in query.over]
        return self.fixpoint.add(node_of(query), *inputs)

    def clear(self) -> None:
        self.outside.clear()
        self.fixpoint.clear()

    def step(self, *deltas: ZSet) -> ZSet:
        entering = self.outside.step(dict(zip(self.tables, deltas, strict=True)))
        sources = dict(zip(self.entries.values(), entering, strict=True))
        return self.fixpoint.run(sources, self.result)

    def commit(self) -> None:
        self.outside.commit()
        self.fixpoint.commit()

    def save(self) -> Any:
        return [self.outside.save(), self.fixpoint.save()]

    def restore(self, saved: Any) -> None:
        outside, inside = saved
        self.outside.restore(outside)
        self.fixpoint.restore(inside)


def node_of(query: Apply) -> Node:
    """The operator in both times; `flattened` leaves three kinds."""
    schemas = [each.schema for each in query.over]
    if isinstance(query.operator, Join):
        left, right = schemas
        return JoinNode(schemas, query.operator.keys(left, right))
    if isinstance(query.operator, Distinct):
        return DistinctNode(query.schema)
    return LinearNode(query.operator.meaning(*schemas))
