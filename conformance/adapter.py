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

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from deltaproof.conformance.case import Stream, Tick
from deltaproof.reference.operators import OPERATORS, kinds_by_name
from deltaproof.reference.query import Query
from deltaproof.reference.types import DOUBLE, SIMPLE_TYPES, Row, Schema, Type, Value
from deltaproof.reference.zset import ZSet

OPERATOR_CAPABILITIES: tuple[str, ...] = tuple(
    capability for operator in OPERATORS for capability in operator.all_capabilities()
)
VALUE_CAPABILITIES: tuple[str, ...] = (
    *(f"type.{kind.name.lower()}" for kind in SIMPLE_TYPES),
    "type.decimal",
    "type.array",
    "value.nan",  # DOUBLE may hold NaN and the infinities
    "sum.exact",  # a sum of DOUBLE is rounded once: 1e16 + 1 - 1e16 is 1
    "sum.wide",  # a sum of BIGINT may need more than 64 bits on the way
    "range.wide",  # a RANGE frame may reach beyond 64 bits
)
CHANGE_CAPABILITIES: tuple[str, ...] = (
    "weights.signed",  # a weight may be negative; without it, tables hold rows
    "weights.huge",  # a weight may be of any size; without it, one beyond 64 bits is an error
    "restart",  # checkpoint and restore
)
CAPABILITIES = frozenset(OPERATOR_CAPABILITIES + VALUE_CAPABILITIES + CHANGE_CAPABILITIES)


def operator_capabilities() -> tuple[str, ...]:
    """Those of every operator that is known: of ours, then of somebody's own."""
    return tuple(name for kind in kinds_by_name().values() for name in kind.all_capabilities())


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
    """A backend that can tell of a query, beyond its capabilities, that it cannot run it.

    So it can be asked about operators that are not ours, which no capability names.
    """

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


def unsupported(backend: Backend, query: Query, also: frozenset[str] = frozenset()) -> str | None:
    """Why a backend does not run a query whose cases ask for this `also`; None when it does.

    No backend can declare the name of an operator that is not ours. Whether it runs one is for
    its `refuses` to say; a backend that cannot be asked does not.

    >>> from deltaproof.conformance.adapters.reference import ReferenceBackend
    >>> from deltaproof.reference.query import table
    >>> print(unsupported(ReferenceBackend(), table("t", "k BIGINT").distinct()))
    None
    """
    undeclared = (needs(query) | also) - backend.capabilities
    if missing := sorted(undeclared & CAPABILITIES):
        return f"{backend.name} does not declare {', '.join(missing)}"
    if isinstance(backend, Refuses):
        return backend.refuses(query)
    if undeclared:
        own = ", ".join(sorted(undeclared))
        return f"{backend.name} does not declare {own}, and has no method `refuses` to be asked"
    return None


def type_capability(kind: Type) -> str:
    return f"type.{kind.name.lower()}"


def value_capabilities(schema: Schema, rows: Iterable[Row]) -> set[str]:
    """What the values in these rows ask of a backend, beyond their types.

    >>> value_capabilities(Schema.parse("x DOUBLE"), [(1.0,), (None,), (float("inf"),)])
    {'value.nan'}
    """
    columns = zip(schema.types, zip(*rows, strict=True), strict=False)
    asked = (value_capability(kind, value) for kind, column in columns for value in set(column))
    return {capability for capability in asked if capability is not None}


def value_capability(kind: Type, value: Value) -> str | None:
    """What one value asks of a backend beyond its type, if anything."""
    if kind == DOUBLE and value is not None and not math.isfinite(value):
        return "value.nan"
    return None
