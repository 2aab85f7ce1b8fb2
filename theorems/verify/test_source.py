"""The source that is read is the source of what runs, or nothing is read."""

from __future__ import annotations

import functools
import importlib.util
import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from deltaproof.theorems.verify.code import translated
from deltaproof.theorems.verify.source import UnsupportedCode, _rebound, plain_function, source_of

TWICE, THRICE = lambda w: 2 * w, lambda w: 3 * w  # a line of several is the case
SAME, SAME_AGAIN = lambda w: w, lambda w: w
OUTER: tuple[Callable[[int], Callable[[int], int]], int] = (lambda a: lambda b: b - 1, 0)


def times(k: int) -> Callable[[int], int]:
    def inner(w: int) -> int:
        return w * k

    return inner


def loaded(path: Path, text: str) -> Any:
    """The text as a module, read from a file."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lambdas_in_one_line_are_told_apart() -> None:
    assert [translated(each)(5) for each in (TWICE, THRICE, SAME, SAME_AGAIN)] == [10, 15, 5, 5]
    assert translated(OUTER[0](0))(5) == 4


def test_a_lambda_among_the_arguments_of_a_call_is_found() -> None:
    found = [
        translated(each)(5)
        for each in (
            lambda w: w + 1,
            lambda w: w + 2,
        )
    ]
    assert found == [6, 7]


def test_a_closure_is_read_with_its_own_values() -> None:
    assert [translated(times(k))(5) for k in (1, -2)] == [5, -10]


def test_a_decorated_function_is_what_the_decorator_made_of_it() -> None:
    def more(function: Callable[[int], int]) -> Callable[[int], int]:
        @functools.wraps(function)
        def wrapper(w: int) -> int:
            return function(w) + 1

        return wrapper

    assert translated(more(times(2)))(5) == 11


def test_a_function_with_the_code_of_another_is_that_other() -> None:
    def one(w: int) -> int:
        return w

    one.__code__ = TWICE.__code__
    assert translated(one)(5) == 10


def test_a_file_that_has_changed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "operators.py"
    module = loaded(path, "def f(w):\n    return w + 1\n")
    assert translated(module.f)(5) == 6
    path.write_text("def f(w):\n    return w + 22\n")
    linecache.clearcache()
    with pytest.raises(UnsupportedCode, match="the source of f is not what runs"):
        source_of(module.f)
    path.write_text("def f(w:\n")
    linecache.clearcache()
    with pytest.raises(UnsupportedCode, match="the file has changed since it was imported"):
        source_of(module.f)


def test_two_definitions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    text = "def f(w):\n    return w\n\ng = f\n\ndef f(w):\n    return w + 1\n"
    module = loaded(tmp_path / "twice.py", text)
    assert (translated(module.g)(5), translated(module.f)(5)) == (5, 6)


def made_by_exec() -> FunctionType:
    names: dict[str, Any] = {}
    exec("def f(w):\n    return w", names)
    function: FunctionType = names["f"]
    return function


class Operator:
    def weight(self, w: int) -> int:
        return w

    @staticmethod
    def alone(w: int) -> int:
        return w + w

    def __call__(self, w: int) -> int:
        return w


def any_number(*ws: int) -> int:
    return sum(ws)


def any_keyword(**ws: int) -> int:
    return sum(ws.values())


def one_by_one(w: int) -> Iterator[int]:
    yield w


async def later(w: int) -> int:
    return w


async def later_one_by_one(w: int) -> Any:
    yield w


@functools.lru_cache
def remembered(w: int) -> int:
    return w


@functools.wraps(one_by_one)
def wrapper(*ws: int) -> int:
    return sum(ws)


def signed(w: int) -> int:
    return w


signed.__signature__ = None  # type: ignore[attr-defined]  # whatever it says, it is not the code


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (Operator().weight, "weight is a method of an object"),
        (Operator(), "Operator is an object and no function"),
        (Operator, "Operator is a class: name a function"),
        (functools.partial(max, 0), "a functools.partial: write a `def`"),
        (abs, "abs is not written in Python: write a `def` that computes it"),
        (remembered, "a decorator has wrapped remembered into .*remembered.__wrapped__"),
        (any_number, r"test_source.py:\d+: any_number takes any number of arguments"),
        (any_keyword, "any_keyword takes any keyword argument"),
        (wrapper, "or prove the function inside, one_by_one.__wrapped__"),
        (one_by_one, "one_by_one is a generator: return all weights in one tuple"),
        (later, "later is an async function"),
        (later_one_by_one, "later_one_by_one is an async generator"),
        (signed, "signed has a __signature__ of its own"),
        (made_by_exec(), "the source of f cannot be found in <string>: save the function"),
    ],
)
def test_what_is_no_plain_function_is_refused(function: Any, message: str) -> None:
    with pytest.raises(UnsupportedCode, match=message):
        source_of(function)


def test_a_static_method_is_a_plain_function() -> None:
    assert plain_function(Operator.alone) is Operator.alone
    assert translated(Operator.alone)(5) == 10


def test_a_file_is_walked_once_for_its_global_names(tmp_path: Path) -> None:
    lines = "".join("    x = x + A * w\n" for _ in range(300))
    function = loaded(tmp_path / "long.py", f"A = 2\ndef f(w):\n    x = 0\n{lines}    return x\n").f
    walked = _rebound.cache_info().misses
    assert translated(function)(1) == 600
    assert _rebound.cache_info().misses == walked + 1


def test_a_refusal_names_the_line_and_shows_it() -> None:
    source = source_of(times(1))
    refusal = source.refused(source.body[0], "this", "write that")
    place, line = str(refusal).split("\n")
    assert place.endswith(f"test_source.py:{source.body[0].lineno}: this: write that")
    assert line == "    return w * k"
