"""`deltaproof prove pkg.module:function --linear` and its like, before click reads the words.

    --linear                  f(a + b) = f(a) + f(b)
    --bilinear                the same in each of two arguments
    --zero-preserving         f(0) = 0
    --equal-to G              f = g
    --increment-of G          f is a step that puts out the changes of g; --state H is what it keeps
    --sufficient-state G      g keeps enough of the input for the changes of f
    --given G                 for which arguments all this is claimed

A function is named `package.module:function` or `path/to/file.py:function`.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from deltaproof.reference.errors import BackendMissing, UsageError

if TYPE_CHECKING:
    from deltaproof.theorems.verify.verdict import Verdict

HELPERS = ("state", "given")


@dataclass(frozen=True)
class Options:
    """What to prove, as the words of the command say it: exactly one claim."""

    linear: bool = False
    bilinear: bool = False
    zero_preserving: bool = False
    equal_to: str | None = None
    increment_of: str | None = None
    sufficient_state: str | None = None
    state: str | None = None
    given: str | None = None


def run(target: str, options: Options) -> Verdict:
    """The verdict on the function that the target names.

    Raises UsageError for a function that cannot be found, or words that do not go together;
    BackendMissing without z3.

    >>> print(run("deltaproof.theorems.verify.examples:clamp", Options(linear=True)))
    clamp is not linear: clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1
    """
    claim = claim_of(options)
    try:
        from deltaproof.theorems import verify
    except ModuleNotFoundError as error:
        if error.name != "z3":
            raise
        needed = "proofs need z3-solver: pip install 'deltaproof[theorems]'"
        raise BackendMissing(needed) from None
    modules: dict[str, ModuleType] = {}
    function = found(target, modules)
    others = {
        word: found(name, modules) for word, name in vars(options).items() if isinstance(name, str)
    }
    proofs: Mapping[str, Callable[[], Verdict]] = {
        "linear": lambda: verify.prove_linear(function, others.get("given")),
        "bilinear": lambda: verify.prove_bilinear(function, others.get("given")),
        "zero_preserving": lambda: verify.prove_zero_preserving(function),
        "equal_to": lambda: verify.prove_equal(function, others["equal_to"], others.get("given")),
        "increment_of": lambda: verify.prove_increment(
            function, others["increment_of"], others.get("state"), others.get("given")
        ),
        "sufficient_state": lambda: verify.prove_sufficient_state(
            function, others["sufficient_state"], others.get("given")
        ),
    }
    return proofs[claim]()


def claim_of(options: Options) -> str:
    """The one claim that is asked for.

    >>> claim_of(Options(increment_of="m:f"))
    'increment_of'
    """
    claims = [each.name for each in fields(Options) if each.name not in HELPERS]
    asked = [name for name in claims if getattr(options, name) not in (None, False)]
    if len(asked) != 1:
        words = ", ".join(map(word, asked or claims))
        raise UsageError(f"one claim at a time, {'not' if asked else 'one of'} {words}")
    if options.state and asked != ["increment_of"]:
        raise UsageError("--state belongs to --increment-of")
    if options.given and asked == ["zero_preserving"]:
        raise UsageError("--given has no part in --zero-preserving: 0 is the only argument")
    return asked[0]


def word(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def found(target: str, modules: dict[str, ModuleType]) -> Callable[..., Any]:
    """The function of this name; a module that was loaded for another name is not loaded again."""
    place, _, name = target.rpartition(":")
    if not (place and name):
        example = "package.module:function or path/to/file.py:function"
        raise UsageError(f"{target!r} names no function: expected {example}")
    if place not in modules:
        modules[place] = file_module(place) if place.endswith(".py") else named_module(place)
    value: Any = modules[place]
    for part in name.split("."):
        if not hasattr(value, part):
            raise UsageError(f"there is no {name} in {place}{suggestion(part, value)}")
        value = getattr(value, part)
    if not callable(value):
        raise UsageError(f"{target} is no function, but {type(value).__name__} {value!r}")
    function: Callable[..., Any] = value
    return function


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
