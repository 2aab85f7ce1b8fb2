"""`package.module:name` or `path/to/file.py:name` is something of the user's, found and imported.

    target_named     whatever the words name
    callable_named   a function, or anything else that can be called
    operator_named   an operator: a kind of operator, or one with its arguments
    kind_named       a kind of operator

Nothing is ever imported because a file of cases says so: only because the user does.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS

Modules = dict[str, ModuleType]


def operator_named(target: str) -> Operator | type[Operator]:
    """The operator that these words name; one of ours by its name alone.

    Raises UsageError when there is none.

    >>> operator_named("distinct").name
    'distinct'
    """
    ours = {kind.name: kind for kind in OPERATORS}
    if target in ours:
        return ours[target]
    if ":" not in target:
        near = difflib.get_close_matches(target, ours)
        hint = f": did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(
            f"no operator {target!r}{hint} Expected one of ours, package.module:Operator "
            "or path/to/file.py:Operator"
        )
    value = target_named(target, {})
    is_kind = isinstance(value, type) and issubclass(value, Operator)
    if not (is_kind or isinstance(value, Operator)):
        raise UsageError(f"{target} is no operator, but {type(value).__name__} {value!r}")
    found: Operator | type[Operator] = value
    return found


def kind_named(target: str) -> type[Operator]:
    """The kind of operator that these words name; of one with its arguments, its kind.

    Raises UsageError when there is none.

    >>> kind_named("distinct").name
    'distinct'
    """
    found = operator_named(target)
    return found if isinstance(found, type) else type(found)


def callable_named(target: str, modules: Modules) -> Callable[..., Any]:
    """The function of this name; a module that was loaded for another name is not loaded again."""
    value = target_named(target, modules)
    if not callable(value):
        raise UsageError(f"{target} is no function, but {type(value).__name__} {value!r}")
    function: Callable[..., Any] = value
    return function


def target_named(target: str, modules: Modules) -> Any:
    """Whatever has this name. Raises UsageError when there is nothing."""
    place, _, name = target.rpartition(":")
    if not (place and name):
        example = "package.module:name or path/to/file.py:name"
        raise UsageError(f"{target!r} names nothing: expected {example}")
    if place not in modules:
        modules[place] = file_module(place) if place.endswith(".py") else named_module(place)
    value: Any = modules[place]
    for part in name.split("."):
        if not hasattr(value, part):
            raise UsageError(f"there is no {name} in {place}{suggestion(part, value)}")
        value = getattr(value, part)
    return value


def suggestion(name: str, module: object) -> str:
    names = [each for each, value in vars(module).items() if callable(value)]
    near = difflib.get_close_matches(name, names)
    return f": did you mean {' or '.join(near)}?" if near else ""


def named_module(name: str) -> ModuleType:
    """The module of this name, looked for in the working directory too."""
    if not {"", str(Path.cwd())} & set(sys.path):
        sys.path.append(str(Path.cwd()))
    return loaded(name, lambda: importlib.import_module(name))


def file_module(name: str) -> ModuleType:
    """The file as a module of its own name, which finds the files beside it."""
    path = Path(name).resolve()
    if not path.is_file():
        raise UsageError(f"there is no file {name}")
    spec = importlib.util.spec_from_file_location(f"deltaproof_of_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    execute = spec.loader.exec_module

    def ready() -> ModuleType:
        execute(module)
        return module

    return loaded(name, ready)


def loaded(name: str, load: Callable[[], ModuleType]) -> ModuleType:
    """What was loaded. Whatever the module raises is a wrong argument, not our failure.

    What it prints goes to standard error: standard output is for the verdict, maybe as JSON.
    """
    try:
        with redirect_stdout(sys.stderr):
            return load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what no `except Exception` catches
        why = f"{type(error).__name__}: {error}"
        inside = "attempted relative import" in why and name.endswith(".py")
        hint = " (name the module, not its file: package.module:function)" if inside else ""
        raise UsageError(f"cannot import {name}: {why}{hint}") from error
