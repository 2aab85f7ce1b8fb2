"""What the suite asks of a backend: open a view, step it, read it, close it.

    backend.open(tables, views) → session
    session.step(deltas)          one call is one tick is one transaction
    session.read(view)            the view's contents after everything stepped so far
    session.close()

Each optional method switches on more checks: `changes` (the output delta of the last tick),
`checkpoint` and `restore` (restart at any tick), and on the backend `run_many` (all random
cases of one query at once, for engines that are slow to start a job) and `refuses`.

What a backend can do, it declares in `capabilities`; what it does not declare is reported
as unsupported, never as passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from deltaproof.conformance.case import Stream, Tick
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query
from deltaproof.reference.types import SIMPLE_TYPES, Schema, Type
from deltaproof.reference.zset import ZSet

OPERATOR_CAPABILITIES: tuple[str, ...] = tuple(
    capability for operator in OPERATORS for capability in operator.all_capabilities()
)
VALUE_CAPABILITIES: tuple[str, ...] = (
    *(f"type.{kind.name.lower()}" for kind in SIMPLE_TYPES),
    "type.decimal",
    "type.array",
    "value.nan",  # DOUBLE may hold NaN and the infinities
)
CHANGE_CAPABILITIES: tuple[str, ...] = (
    "weights.signed",  # a weight may be negative; without it, tables hold rows
    "restart",  # checkpoint and restore
)
CAPABILITIES = frozenset(OPERATOR_CAPABILITIES + VALUE_CAPABILITIES + CHANGE_CAPABILITIES)


class Observed(NamedTuple):
    """What a backend showed after one tick; None for what it does not show."""

    contents: ZSet | None
    delta: ZSet | None


class Session(Protocol):
    """A view kept by a backend. Optional: changes, checkpoint, restore."""

    def step(self, deltas: Tick) -> None:
        """One tick: all these changes at once."""

    def read(self, view: str) -> ZSet:
        """The contents of the view after the last tick."""

    def close(self) -> None: ...


@runtime_checkable
class ShowsChanges(Session, Protocol):
    """A session that shows the output delta of the last tick."""

    def changes(self, view: str) -> ZSet: ...


@runtime_checkable
class Restarts(Session, Protocol):
    """A session that can be stopped and started again."""

    def checkpoint(self) -> Any:
        """All that must survive a restart."""

    def restore(self, saved: Any) -> None:
        """Continue from a checkpoint; called once, before the first step."""


class Backend(Protocol):
    """An engine under test. Optional: run_many."""

    name: str
    capabilities: frozenset[str]
    tolerance: float  # how far a DOUBLE may be off, relative; 0.0 means exact

    def describe(self) -> str:
        """The engine and its version, for the report: "SQLite 3.40.1"."""

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> Session: ...


@runtime_checkable
class Refuses(Backend, Protocol):
    """A backend that can tell of a query, beyond its capabilities, that it cannot run it."""

    def refuses(self, query: Query) -> str | None:
        """Why not; None when it can."""


@runtime_checkable
class RunsMany(Backend, Protocol):
    """A backend that runs all cases of one query at once."""

    def run_many(self, query: Query, streams: Sequence[Stream]) -> list[list[Observed]]:
        """Every stream fed to its own copy of the view: what was observed, by stream and tick."""


def needs(query: Query) -> frozenset[str]:
    """The capabilities that a query asks of a backend: its operators, and the types of its columns.

    >>> from deltaproof.reference.query import table
    >>> sorted(needs(table("t", "k BIGINT, x DOUBLE").distinct()))
    ['distinct', 'type.bigint', 'type.double']
    """
    kinds = {kind for node in query.nodes() for kind in node.schema.types}
    return query.capabilities() | {type_capability(kind) for kind in kinds}


def type_capability(kind: Type) -> str:
    return f"type.{kind.name.lower()}"
