"""A backend is found by its name, and nothing is imported for one that nobody asked for.

    reference, spark, sqlite, duckdb      ours
    py:package.module:Class               yours, from any module that can be imported
    NAME                                  an entry point of the group deltaproof.backends

A class is called without arguments; what it makes must have what `adapter.Backend` asks for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from deltaproof.conformance.adapter import CAPABILITIES, Backend
from deltaproof.reference.errors import (
    BackendError,
    BackendMissing,
    DeltaproofError,
    UsageError,
)

GROUP = "deltaproof.backends"
PYTHON = "py:"
ASKED_FOR = ("name", "capabilities", "tolerance", "describe", "open")


@dataclass(frozen=True)
class Builtin:
    """A backend of ours: where its class is, the modules it stands on, and who brings them."""

    module: str
    name: str
    stands_on: tuple[str, ...] = ()
    extra: str = ""

    def lacks(self) -> str | None:
        """What to install before it can be used; None when nothing is missing."""
        missing = [module for module in self.stands_on if find_spec(module) is None]
        if not missing:
            return None
        what = f"{missing[0]} is" if len(missing) == 1 else f"{' and '.join(missing)} are"
        return f"{what} not installed: pip install 'deltaproof[{self.extra}]'"


ADAPTERS = "deltaproof.conformance.adapters"
BUILTIN: Mapping[str, Builtin] = {
    "reference": Builtin(f"{ADAPTERS}.reference", "ReferenceBackend"),
    "spark": Builtin(f"{ADAPTERS}.spark", "SparkBackend", ("pyspark", "pyarrow"), "spark"),
    "sqlite": Builtin(f"{ADAPTERS}.sqlite", "SqliteBackend"),
    "duckdb": Builtin(f"{ADAPTERS}.duckdb", "DuckDBBackend", ("duckdb", "pyarrow"), "duckdb"),
}


def backend(name: str) -> Backend:
    """The backend of this name, ready to open sessions.

    Raises UsageError for an unknown name or a class that is no backend, BackendMissing when
    its engine is not installed.

    >>> backend("reference").name
    'reference'
    >>> backend("oracle9")
    Traceback (most recent call last):
    deltaproof.reference.errors.UsageError: unknown backend 'oracle9': there are reference, spark, \
sqlite, duckdb and py:package.module:Class
    """
    made = backend_class(name)
    try:
        return checked(name, made())
    except DeltaproofError:
        raise
    except Exception as error:
        raise UsageError(
            f"backend {name}: it could not be made: {type(error).__name__}: {error}"
        ) from error


def backend_class(name: str) -> Callable[[], Any]:
    """What to call for a backend of this name."""
    if name.startswith(PYTHON):
        return python_class(name)
    if ours := BUILTIN.get(name):
        if message := ours.lacks():
            raise BackendMissing(f"backend {name}: {message}")
        return attribute(name, ours.module, ours.name)
    if entry := registered().get(name):
        return entry_class(entry)
    names = ", ".join((*BUILTIN, *registered()))
    raise UsageError(f"unknown backend {name!r}: there are {names} and py:package.module:Class")


def python_class(name: str) -> Callable[[], Any]:
    """The class that `py:package.module:Class` names, looked for in the working directory too."""
    module, _, attribute_name = name.removeprefix(PYTHON).partition(":")
    if not (module and attribute_name):
        raise UsageError(f"backend {name!r}: expected py:package.module:Class")
    if not {"", str(Path.cwd())} & set(sys.path):
        sys.path.append(str(Path.cwd()))
    return attribute(name, module, attribute_name)


def attribute(name: str, module: str, attribute_name: str) -> Callable[[], Any]:
    try:
        found = getattr(importlib.import_module(module), attribute_name)
    except AttributeError:
        raise UsageError(f"backend {name}: there is no {attribute_name} in {module}") from None
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise UsageError(f"backend {name}: cannot import {module}: {what}") from error
    return callable_class(name, found)


def registered() -> dict[str, EntryPoint]:
    """The backends that installed packages bring, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def entry_class(entry: EntryPoint) -> Callable[[], Any]:
    try:
        return callable_class(entry.name, entry.load())
    except (ImportError, AttributeError) as error:
        raise BackendMissing(f"backend {entry.name}: cannot load {entry.value}: {error}") from error


def callable_class(name: str, found: Any) -> Callable[[], Any]:
    if not callable(found):
        raise UsageError(f"backend {name}: expected a class, got {type(found).__name__}")
    made: Callable[[], Any] = found
    return made


def checked(name: str, made: Any) -> Backend:
    """What was made, if it is a backend. Raises UsageError saying what it lacks."""
    if lacking := [each for each in ASKED_FOR if not hasattr(made, each)]:
        raise UsageError(
            f"backend {name}: {type(made).__name__} has no {', '.join(lacking)}: "
            "see deltaproof.conformance.adapter.Backend"
        )
    if not isinstance(made.name, str) or not made.name:
        raise UsageError(f"backend {name}: its name is text, got {made.name!r}")
    if not isinstance(made.tolerance, float | int) or not 0 <= made.tolerance < 1:
        raise UsageError(f"backend {name}: its tolerance is 0.0 to 1.0, got {made.tolerance!r}")
    if not isinstance(made.capabilities, frozenset):
        raise UsageError(
            f"backend {name}: its capabilities are a frozenset of names, got {made.capabilities!r}"
        )
    if unknown := sorted(map(str, made.capabilities - CAPABILITIES)):
        raise UsageError(
            f"backend {name}: unknown capabilities {', '.join(unknown)}: "
            f"there are {', '.join(sorted(CAPABILITIES))}"
        )
    found: Backend = made
    return found


def availability() -> dict[str, str | None]:
    """Every backend with a name of its own: None, or what keeps it from being used.

    >>> availability()["reference"] is None
    True
    """
    found = {name: ours.lacks() for name, ours in BUILTIN.items()}
    return found | {name: fault(entry) for name, entry in registered().items() if name not in found}


def fault(entry: EntryPoint) -> str | None:
    """Why this entry point cannot be loaded."""
    try:
        entry_class(entry)
    except (BackendError, UsageError) as error:
        return str(error)
    return None
