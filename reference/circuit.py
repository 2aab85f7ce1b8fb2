"""The runtime keeps views up to date from changes; its work per tick follows the delta.

    circuit = Circuit(query)
    circuit.step({"flights": delta})   one tick: output deltas
    circuit.contents()                 the views: the integral of all output deltas

A tick is all or nothing. Every node first computes its output delta from its state and its
input deltas, changing nothing; only when all have succeeded does each commit its staged
change, which cannot fail.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deltaproof.reference.errors import (
    CheckpointError,
    DeltaproofError,
    RowError,
    SchemaError,
    TickError,
    WeightError,
)
from deltaproof.reference.operator import Increment, zset_from_json, zset_to_json
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import RawEntries, ZSet

VERSION = 1
BROKEN = (  # what reading a state that was tampered with may run into
    DeltaproofError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
EMPTY = ZSet()


@dataclass(frozen=True)
class Node:
    """An operator of the circuit, with its state and the places of its inputs."""

    label: str
    increment: Increment
    inputs: tuple[int, ...]
    rests: bool  # whether no change in means no change out, after the first tick


class Circuit:
    """Incremental views of a stream of changes.

    Law      after every tick, contents()[view] = meaning of the view over all input so far
    Raises   TickError for an unknown table; RowError and WeightError for a bad delta;
             EvaluationError when an expression has no value. The state is then as it was.

    >>> from deltaproof.reference.query import count, table
    >>> sales = table("sales", "fruit VARCHAR, kg BIGINT")
    >>> circuit = Circuit(sales.group_by("fruit").aggregate(n=count()))
    >>> print(circuit.step({"sales": {("fig", 2): 1, ("fig", 3): 1}})["view"])
    fruit   n   weight
    ──────────────────
    fig     2       +1
    >>> circuit.step({"sales": {("fig", 2): -1}})["view"]
    ZSet({('fig', 2): -1, ('fig', 1): 1})
    >>> circuit.contents()["view"]
    ZSet({('fig', 1): 1})
    """

    def __init__(self, views: Query | Mapping[str, Query]) -> None:
        self.views = {"view": views} if isinstance(views, Query) else dict(views)
        self.tables: dict[str, Schema] = {}
        self._places: dict[Query, int] = {}
        self._sources: list[tuple[int, str]] = []
        self._nodes: list[tuple[int, Node]] = []
        for query in self.views.values():
            for name, schema in query.tables().items():
                if self.tables.setdefault(name, schema) != schema:
                    raise SchemaError(f"table {name!r} has two schemas, in different views")
            for node in query.nodes():
                self._place(node)
        self._outputs = [
            (name, self._places[query], query.schema) for name, query in self.views.items()
        ]
        self.reset()

    def _place(self, query: Query) -> None:
        if query in self._places:
            return
        place = self._places[query] = len(self._places)
        if isinstance(query, Apply):
            increment = query.operator.increment(*[each.schema for each in query.over])
            inputs = tuple(self._places[each] for each in query.over)
            self._nodes.append((place, Node(query.label(), increment, inputs, query.operator.lifted)))
        else:
            self._sources.append((place, query.label()))

    def reset(self) -> None:
        """Back to before the first tick."""
        self.ticks = 0
        self._contents: dict[str, dict[Row, Any]] = {name: {} for name in self.views}
        for _, node in self._nodes:
            node.increment.clear()

    def step(self, deltas: Mapping[str, ZSet | RawEntries]) -> dict[str, ZSet]:
        """Applies one tick: a delta for each table that changes. The output deltas, by view."""
        inputs = self.checked(deltas)
        values = [EMPTY] * len(self._places)
        for place, name in self._sources:
            if name in inputs:
                values[place] = inputs[name]
        ran = []
        try:
            for place, node in self._nodes:
                arguments = [values[each] for each in node.inputs]
                if any(arguments) or not (self.ticks and node.rests):
                    values[place] = node.increment.step(*arguments)
                    ran.append(node.increment)
        except DeltaproofError as error:
            raise type(error)(f"tick {self.ticks + 1}, {node.label}: {error}") from None
        outputs = {name: values[place].typed(schema) for name, place, schema in self._outputs}
        for increment in ran:
            increment.commit()
        for name, output in outputs.items():
            add_into(self._contents[name], output.items())
        self.ticks += 1
        return outputs

    def checked(self, deltas: Mapping[str, ZSet | RawEntries]) -> dict[str, ZSet]:
        """The deltas, made canonical by the schemas of their tables."""
        checked = {}
        for name, delta in deltas.items():
            schema = self.tables.get(name)
            if schema is None:
                known = ", ".join(self.tables)
                raise TickError(f"tick {self.ticks + 1}: unknown table {name!r}: there are {known}")
            if isinstance(delta, ZSet) and delta.schema == schema:
                checked[name] = delta
                continue
            try:
                checked[name] = ZSet.of(schema, delta.items() if isinstance(delta, ZSet) else delta)
            except (RowError, WeightError) as error:
                message = f"tick {self.ticks + 1}, table {name}: {error}"
                raise type(error)(message) from None
            except (TypeError, ValueError) as error:
                raise TickError(
                    f"tick {self.ticks + 1}, table {name}: expected a ZSet or (row, weight) pairs, "
                    f"got {delta!r:.80} ({error})"
                ) from None
        return checked

    def contents(self) -> dict[str, ZSet]:
        """Every view as it is after the ticks so far."""
        return {
            name: ZSet.trusted(dict(weights), self.views[name].schema)
            for name, weights in self._contents.items()
        }

    def checkpoint(self) -> str:
        """The state as JSON text; `Circuit.restore` continues from it."""
        contents = {
            name: zset_to_json(self.views[name].schema, ZSet.trusted(weights))
            for name, weights in self._contents.items()
        }
        return json.dumps(
            {
                "deltaproof_checkpoint": VERSION,
                "ticks": self.ticks,
                "views": {name: query.to_json() for name, query in self.views.items()},
                "tables": {name: schema.to_json() for name, schema in self.tables.items()},
                "contents": contents,
                "nodes": [node.increment.save() for _, node in self._nodes],
            }
        )

    @classmethod
    def restore(cls, views: Query | Mapping[str, Query], checkpoint: str) -> Circuit:
        """A circuit of these views, in the state of the checkpoint.

        Raises CheckpointError when the text is broken or is of other views.

        >>> from deltaproof.reference.query import table
        >>> query = table("t", "k BIGINT").distinct()
        >>> circuit = Circuit(query)
        >>> _ = circuit.step({"t": {(1,): 2}})
        >>> Circuit.restore(query, circuit.checkpoint()).step({"t": {(1,): -2}})["view"]
        ZSet({(1,): -1})
        """
        circuit = cls(views)
        saved = read_checkpoint(checkpoint)
        expected = {name: query.to_json() for name, query in circuit.views.items()}
        if saved["views"] != expected:
            raise CheckpointError(
                "the checkpoint is of other views: build the circuit it was made by"
            )
        if saved["tables"] != {name: schema.to_json() for name, schema in circuit.tables.items()}:
            raise CheckpointError("the checkpoint is of tables with other columns")
        try:
            circuit._restore(saved)
        except BROKEN as error:
            raise CheckpointError(f"a broken checkpoint: {error!r}") from None
        return circuit

    def _restore(self, saved: dict[str, Any]) -> None:
        self.ticks = saved["ticks"]
        if type(self.ticks) is not int or self.ticks < 0:
            raise CheckpointError(f"expected a number of ticks, got {self.ticks!r}")
        for name, query in self.views.items():
            entries = zset_from_json(query.schema, saved["contents"][name])
            self._contents[name] = dict(entries.items())
        if self.ticks:  # before the first tick a state is not empty input but no input
            for (_, node), state in zip(self._nodes, saved["nodes"], strict=True):
                node.increment.restore(state)


def read_checkpoint(text: str) -> dict[str, Any]:
    """The JSON of a checkpoint. Raises CheckpointError when it is none."""
    try:
        saved = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"a checkpoint is JSON text: {error}") from None
    keys = {"ticks", "views", "tables", "contents", "nodes"}
    if not isinstance(saved, dict) or not keys <= saved.keys():
        raise CheckpointError("a checkpoint has ticks, views, tables, contents and nodes")
    if saved.get("deltaproof_checkpoint") != VERSION:
        version = saved.get("deltaproof_checkpoint")
        raise CheckpointError(f"expected checkpoint version {VERSION}, got {version!r}")
    return saved
