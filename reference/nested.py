"""A query inside an operator: its ticks are staged, like those of any increment.

    Subcircuit(queries)
    subcircuit.step({"t": delta})   the output delta of each query; the state is only read
    subcircuit.commit()             what was staged becomes the state
    claims_of(query)                what its operators claim, carried to the whole

`Circuit` is a subcircuit that commits every tick at once, and counts them; this one waits until
the operator that it is part of is told to commit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from deltaproof.reference.operator import Increment, Operator, Shape
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.zset import ZSet

EMPTY = ZSet()


def one_line(query: Query) -> str:
    """The query on one line, for the label of the operator that it is part of.

    >>> from deltaproof.reference.query import table
    >>> one_line(table("t", "k BIGINT").distinct().union_all(table("s", "k BIGINT")))
    'union_all(distinct(t), s)'
    """
    inputs = ", ".join(map(one_line, query.inputs))
    return f"{query.label()}({inputs})" if inputs else query.label()


CARRIED = ("positive", "monotone", "scales", "generic")  # a query has it when all in it have
IMPLIED = {"set_valued": "positive", "monotone": "positive"}


def claims_of(query: Query) -> frozenset[str]:
    """What is true of a query, by what its operators claim.

    >>> from deltaproof.reference.query import table
    >>> rows = table("t", "k BIGINT")
    >>> sorted(claims_of(rows.union_all(rows)))
    ['generic', 'monotone', 'positive', 'scales']
    >>> sorted(claims_of(rows.distinct()) & {"set_valued", "duplicate_free"})
    ['duplicate_free', 'set_valued']
    """
    nodes = [node for node in query.nodes() if isinstance(node, Apply)]
    claims = {node: claims_with_consequences(node.operator) for node in nodes}
    found = {name for name in CARRIED if all(name in each for each in claims.values())}
    if isinstance(query, Apply) and "set_valued" in claims[query] and "positive" in found:
        found.add("set_valued")
    if nodes and all(ignores_copies(node, claims[node]) for node in nodes):
        found.add("duplicate_free")
    return frozenset(found)


def claims_with_consequences(operator: Operator) -> set[str]:
    claims = set(operator.claims())
    linear = {"scales"} if operator.shape is Shape.LINEAR else set()
    return claims | linear | {IMPLIED[name] for name in claims if name in IMPLIED}


def ignores_copies(node: Apply, claims: Collection[str]) -> bool:
    """Whether no copy of a table's row gets through: where tables are read, or not at all."""
    over = [isinstance(each, Table) for each in node.over]
    return not any(over) or (all(over) and "duplicate_free" in claims)


class Subcircuit:
    """The increments of some queries over named tables; a subquery of two queries runs once.

    Law      the sum of all outputs of a query = its meaning over the sum of all inputs

    >>> from deltaproof.reference.query import table
    >>> inner = Subcircuit([table("t", "k BIGINT").distinct()])
    >>> inner.step({"t": ZSet({(1,): 2})})  # tried, and tried again: nothing has changed
    [ZSet({(1,): 1})]
    >>> inner.step({"t": ZSet({(1,): 2})})
    [ZSet({(1,): 1})]
    >>> inner.commit()
    >>> inner.step({"t": ZSet({(1,): 2})})
    [ZSet({})]
    """

    def __init__(self, queries: Sequence[Query]) -> None:
        self.places: dict[Query, int] = {}
        self.sources: list[tuple[int, str]] = []
        self.increments: list[tuple[int, Increment, tuple[int, ...]]] = []
        for query in queries:
            for node in query.nodes():
                self.place(node)
        self.outputs = [self.places[query] for query in queries]
        self.clear()

    def place(self, node: Query) -> None:
        """Gives the node its place, after those of its inputs."""
        if node in self.places:
            return
        place = self.places[node] = len(self.places)
        if isinstance(node, Apply):
            increment = node.operator.increment(*[each.schema for each in node.over])
            inputs = tuple(self.places[each] for each in node.over)
            self.increments.append((place, increment, inputs))
        else:
            self.sources.append((place, node.label()))

    def clear(self) -> None:
        self.started = False
        self.ran: list[Increment] = []
        for _, increment, _ in self.increments:
            increment.clear()

    def step(self, deltas: Mapping[str, ZSet]) -> list[ZSet]:
        """The output delta of each query, staged."""
        values = [EMPTY] * len(self.places)
        for place, name in self.sources:
            values[place] = deltas.get(name, EMPTY)
        self.ran = []
        for place, increment, inputs in self.increments:
            arguments = [values[each] for each in inputs]
            if any(arguments) or not self.started:  # no change in, no change out (lifted)
                values[place] = increment.step(*arguments)
                self.ran.append(increment)
        return [values[place] for place in self.outputs]

    def commit(self) -> None:
        for increment in self.ran:
            increment.commit()
        self.ran = []
        self.started = True

    def save(self) -> Any:
        return [increment.save() for _, increment, _ in self.increments]

    def restore(self, saved: Any) -> None:
        """The state after at least one tick; before the first there is none to save."""
        self.clear()
        for (_, increment, _), state in zip(self.increments, saved, strict=True):
            increment.restore(state)
        self.started = True
