"""The runtime keeps views up to date from changes; its work per tick follows the delta.

    circuit = Circuit(query)
    circuit.step({"flights": delta})   one tick: output deltas
    circuit.contents()                 the views: the integral of all output deltas

A tick is all or nothing. Every node first computes its output delta from its state and its
input deltas, changing nothing; only when all have succeeded does each commit its staged
change, which cannot fail. With a store other than memory the tick is in the file before that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deltaproof.reference.durable import MemoryStore, Saved, open_store
from deltaproof.reference.errors import (
    CheckpointError,
    DeltaproofError,
    RowError,
    SchemaError,
    TickError,
    WeightError,
)
from deltaproof.reference.operator import Increment, zset_from_json, zset_to_json
from deltaproof.reference.planner import fused
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

    `store` is "memory:" or "sqlite:///FILE" (see `durable`): a circuit that is opened on a file
    continues after the last tick that was committed to it. `plan` chooses what runs for the
    views (see `planner`); a checkpoint belongs to the plan that it was made with.

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

    def __init__(
        self,
        views: Query | Mapping[str, Query],
        store: str = "memory:",
        *,
        plan: Callable[[dict[str, Query]], dict[str, Query]] = fused,
    ) -> None:
        self.views = {"view": views} if isinstance(views, Query) else dict(views)
        self.tables: dict[str, Schema] = {}
        self._places: dict[Query, int] = {}
        self._sources: list[tuple[int, str]] = []
        self._nodes: list[tuple[int, Node]] = []
        for query in self.views.values():
            for name, schema in query.tables().items():
                if self.tables.setdefault(name, schema) != schema:
                    raise SchemaError(f"table {name!r} has two schemas, in different views")
        planned = plan(self.views)
        for query in planned.values():
            for node in query.nodes():
                self._place(node)
        self._outputs = [
            (name, self._places[planned[name]], query.schema) for name, query in self.views.items()
        ]
        self._clear()
        self._store = open_store(store)
        self._continue(self._store.load(lambda: json.dumps(self._identity())))

    def _place(self, query: Query) -> None:
        if query in self._places:
            return
        place = self._places[query] = len(self._places)
        if isinstance(query, Apply):
            increment = query.operator.increment(*[each.schema for each in query.over])
            inputs = tuple(self._places[each] for each in query.over)
            self._nodes.append(
                (place, Node(query.label(), increment, inputs, query.operator.lifted))
            )
        else:
            self._sources.append((place, query.label()))

    def _continue(self, saved: Saved) -> None:
        """From what the store holds: its checkpoint, and the ticks after it."""
        try:
            if saved.checkpoint is not None:
                self._restore(read_checkpoint(saved.checkpoint))
            for _, words in saved.ticks:
                self._apply(self._from_words(words))
        except BROKEN as error:
            message = f"the store's tick {self.ticks + 1} is broken: {error!r}"
            raise CheckpointError(message) from error

    def _identity(self) -> dict[str, Any]:
        """What a saved state belongs to."""
        return {
            "views": {name: query.to_json() for name, query in self.views.items()},
            "tables": {name: schema.to_json() for name, schema in self.tables.items()},
        }

    def _from_words(self, words: Mapping[str, Any]) -> dict[str, ZSet]:
        return {name: zset_from_json(self.tables[name], each) for name, each in words.items()}

    def reset(self) -> None:
        """Back to before the first tick, in the store too."""
        self._store.clear()
        self._clear()

    def close(self) -> None:
        """Lets go of the store; what was committed stays in it."""
        self._store.close()

    def _clear(self) -> None:
        self.ticks = 0
        self._last: dict[str, ZSet] | None = None  # the outputs of the last tick
        self._contents: dict[str, dict[Row, Any]] = {name: {} for name in self.views}
        for _, node in self._nodes:
            node.increment.clear()

    def step(
        self, deltas: Mapping[str, ZSet | RawEntries], tick: int | None = None
    ) -> dict[str, ZSet]:
        """Applies one tick: a delta for each table that changes. The output deltas, by view.

        With its number a tick is applied once however often it is offered: the last one, offered
        again, gives the same outputs and changes nothing. Ticks count from 1.

        Raises also TickError for a number that is not the next, and when the store cannot keep it.
        """
        if tick is not None and tick != self.ticks + 1:
            return self._offered_again(tick)
        return self._apply(self.checked(deltas), self._keep)

    def _offered_again(self, tick: int) -> dict[str, ZSet]:
        outputs = self._last if tick == self.ticks else None
        if outputs is None and (words := self._store.outputs_of(tick)) is not None:
            views = self.views.items()
            outputs = {name: zset_from_json(view.schema, words[name]) for name, view in views}
        if outputs is None:
            raise TickError(
                f"tick {tick} cannot be applied after tick {self.ticks}: expected {self.ticks + 1}"
                + (", or the last one again" if self.ticks else "")
            )
        return outputs

    def _keep(self, deltas: Mapping[str, ZSet], outputs: Mapping[str, ZSet]) -> None:
        """Puts the tick into the store; from then on it happened."""
        if isinstance(self._store, MemoryStore):
            return
        views = self.views.items()
        self._store.append(
            self.ticks + 1,
            {name: zset_to_json(self.tables[name], delta) for name, delta in deltas.items()},
            {name: zset_to_json(view.schema, outputs[name]) for name, view in views},
            self.checkpoint,
        )

    def _apply(
        self, inputs: Mapping[str, ZSet], keep: Callable[..., None] | None = None
    ) -> dict[str, ZSet]:
        """Runs every node, has the tick kept, and only then makes it part of the state."""
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
            label = error.operator or node.label
            raise type(error)(f"tick {self.ticks + 1}, {label}: {error}") from None
        outputs = {name: values[place].typed(schema) for name, place, schema in self._outputs}
        if keep is not None:
            keep(inputs, outputs)
        for increment in ran:
            increment.commit()
        for name, output in outputs.items():
            add_into(self._contents[name], output.items())
        self.ticks += 1
        self._last = outputs
        return outputs

    def checked(self, deltas: Mapping[str, ZSet | RawEntries]) -> dict[str, ZSet]:
        """The deltas, made canonical by the schemas of their tables."""
        checked = {}
        if not isinstance(deltas, Mapping):
            raise TickError(f"tick {self.ticks + 1}: expected deltas by table, got {deltas!r:.80}")
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
                **self._identity(),
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
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"a checkpoint is JSON text: {error}") from None
    keys = {"ticks", "views", "tables", "contents", "nodes"}
    if not isinstance(saved, dict) or not keys <= saved.keys():
        raise CheckpointError("a checkpoint has ticks, views, tables, contents and nodes")
    if saved.get("deltaproof_checkpoint") != VERSION:
        version = saved.get("deltaproof_checkpoint")
        raise CheckpointError(f"expected checkpoint version {VERSION}, got {version!r}")
    return saved
