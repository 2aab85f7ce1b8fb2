"""`package.module:name` or `path/to/file.py:name` is something of the user's, found and imported.

    target_named     whatever the words name
    callable_named   a function, or anything else that can be called
    operator_named   an operator: a kind of operator, or one with its arguments
    kind_named       a kind of operator
    words_of         the other way: words that name what was found or imported
    checked          a declaration without which nothing can be said of an operator
    running          while something of the user's runs

Nothing is ever imported because a file of cases says so: only because the user does.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from deltaproof.reference.errors import BackendError, DeltaproofError, UsageError
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query

Modules = dict[str, ModuleType]
NAMED: dict[object, str] = {}  # kinds of operators, and what the user called them


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
    checked(target, found)
    NAMED[found if isinstance(found, type) else type(found)] = target
    return found


def words_of(thing: Any) -> str:
    """Words that name a class or a function: those of the user, or else where it is.

    >>> words_of(Operator)
    'deltaproof.reference.operator:Operator'
    """
    if thing in NAMED:
        return NAMED[thing]
    module = sys.modules.get(thing.__module__)
    place: str = thing.__module__
    if (file := getattr(module, "__file__", None)) and not getattr(module, "__package__", ""):
        path = Path(file)
        place = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    return f"{place}:{thing.__qualname__}"


def operator_options(query: Query) -> list[str]:
    """The options that make the user's operators in this query known to `deltaproof replay`."""
    kinds = {type(each): None for each in query.operators() if type(each) not in OPERATORS}
    return [word for kind in kinds for word in ("--operator", words_of(kind))]


def checked(target: str, found: Operator | type[Operator]) -> None:
    """Raises UsageError unless it declares a name and a shape."""
    for part in ("name", "shape"):
        if not hasattr(found, part):
            raise UsageError(f"{target}: the operator declares no {part!r}: every operator does")
    if not str(found.name).isidentifier():
        raise UsageError(f"{target}: name = {found.name!r}: expected a name like median_per_group")
    if not isinstance(found.shape, Shape):
        shapes = ", ".join(f"Shape.{each.name}" for each in Shape)
        raise UsageError(f"{target}: shape = {found.shape!r}: expected one of {shapes}")


@contextmanager
def running(*targets: str) -> Iterator[None]:
    """While this lasts, what these words name runs: what the user's own raises is not our failure.

    What is printed goes to standard error: standard output is for the verdict, maybe as JSON.
    Raises BackendError for whatever was raised.
    """
    own = " or ".join(target for target in targets if ":" in target)
    try:
        with redirect_stdout(sys.stderr):
            yield
    except DeltaproofError:
        raise
    except (Exception, SystemExit) as error:
        if not own or os.environ.get("DELTAPROOF_TRACEBACK"):
            raise
        why = f"{type(error).__name__}: {error}; DELTAPROOF_TRACEBACK=1 shows where"
        raise BackendError(f"{own} raised {why}") from error


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
