"""The reference's incremental runtime behind the protocol: the engine the suite itself brings.

It is judged like any other backend, against its own meaning recomputed from nothing. A query's
circuit is built once and reset for every case, as building costs more than a small case runs.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence

from deltaproof.conformance.adapter import CAPABILITIES, Observed
from deltaproof.conformance.adapters.pool import Pool
from deltaproof.conformance.case import Stream, Tick
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import BackendError, UsageError
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Views = tuple[tuple[str, Query], ...]
VIEW = "view"


class ReferenceBackend:
    """`deltaproof.reference.circuit.Circuit`, with every capability.

    >>> from deltaproof.reference.query import table
    >>> numbers = table("numbers", "n BIGINT")
    >>> session = ReferenceBackend().open(numbers.tables(), {"set": numbers.distinct()})
    >>> session.step({"numbers": ZSet({(7,): 2})})
    >>> session.read("set"), session.changes("set")
    (ZSet({(7,): 1}), ZSet({(7,): 1}))
    """

    name = "reference"
    capabilities = CAPABILITIES
    tolerance = 0.0

    def __init__(self) -> None:
        self.circuits: Pool[Circuit] = Pool()

    def describe(self) -> str:
        return f"reference, on {platform.python_implementation()} {platform.python_version()}"

    def refuses(self, query: Query) -> str | None:
        """Nothing: whatever is declared has a meaning and an increment."""
        return None

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        return ReferenceSession(self.circuits, tuple(views.items()))

    def run_many(self, query: Query, streams: Sequence[Stream]) -> list[list[Observed]]:
        """Every stream through the same circuit, reset between them."""
        kind = ((VIEW, query),)
        circuit = self.circuits.take(kind, lambda: Circuit(query))
        observed = [run_stream(circuit, stream) for stream in streams]
        self.circuits.give(kind, circuit)
        return observed


def run_stream(circuit: Circuit, stream: Stream) -> list[Observed]:
    """What the circuit's one view shows at each tick, from the start."""
    circuit.reset()
    observed = []
    for tick in stream:
        delta = circuit.step(tick)[VIEW]
        observed.append(Observed(circuit.contents()[VIEW], delta))
    return observed


class ReferenceSession:
    """A circuit of its own, from opening to closing."""

    def __init__(self, circuits: Pool[Circuit], views: Views) -> None:
        self.circuits = circuits
        self.views = views
        self.circuit: Circuit | None = circuits.take(views, lambda: Circuit(dict(views)))
        self.circuit.reset()
        self.deltas: Mapping[str, ZSet] = {name: ZSet() for name, _ in views}
        self.contents: Mapping[str, ZSet] | None = None

    def step(self, deltas: Tick) -> None:
        self.deltas = self.running.step(deltas)
        self.contents = None

    def read(self, view: str) -> ZSet:
        if self.contents is None:
            self.contents = self.running.contents()
        return known_view(self.contents, view)

    def changes(self, view: str) -> ZSet:
        return known_view(self.deltas, view)

    def checkpoint(self) -> str:
        return self.running.checkpoint()

    def restore(self, saved: str) -> None:
        self.circuit = Circuit.restore(dict(self.views), saved)
        self.contents = None

    def close(self) -> None:
        if self.circuit is not None:
            self.circuits.give(self.views, self.circuit)
            self.circuit = None

    @property
    def running(self) -> Circuit:
        if self.circuit is None:
            raise BackendError("reference: the session is closed")
        return self.circuit


def known_view(views: Mapping[str, ZSet], name: str) -> ZSet:
    """The view of this name. Raises UsageError with the names there are."""
    if name not in views:
        raise UsageError(f"unknown view {name!r}: there are {', '.join(views)}")
    return views[name]
