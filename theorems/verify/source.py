"""The source of a function, found by its compiled code: what is read is what runs.

A name and a line can deceive: files change after they are imported, decorators put one function
in the place of another, several lambdas share a line. So the file is compiled again, and the
function is read only where its own code comes out. What cannot be found, or would be more than a
function of its arguments, is refused with what to write instead.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

from deltaproof.reference.errors import DeltaproofError

FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
NOT_PLAIN = (
    (inspect.CO_COROUTINE, "an async function", "write `def`: a weight is there at once"),
    (inspect.CO_ASYNC_GENERATOR, "an async generator", "return all weights in one tuple"),
    (inspect.CO_GENERATOR, "a generator", "return all weights in one tuple"),
    (
        inspect.CO_VARARGS,
        "any number of arguments (*)",
        "give each argument a name, or take tuples",
    ),
    (inspect.CO_VARKEYWORDS, "any keyword argument (**)", "give each argument a name"),
)

Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class UnsupportedCode(DeltaproofError):
    """Code that is not translated: what it is, where, and what to write instead."""

    def __init__(self, what: str, instead: str, place: str = "", line: str = "") -> None:
        text = f"{what}: {instead}"
        super().__init__(
            (f"{place}: {text}" if place else text) + (f"\n    {line}" if line else "")
        )
        self.what, self.instead, self.place = what, instead, place


@dataclass(frozen=True)
class Source:
    """A function, its node in the tree of its file, and the file."""

    function: FunctionType
    file: str
    lines: tuple[str, ...]
    tree: ast.Module
    node: Node

    @property
    def body(self) -> list[ast.stmt]:
        """The statements; of a lambda, the one that returns its expression."""
        if isinstance(self.node, ast.Lambda):
            returned = ast.Return(self.node.body)
            return [ast.copy_location(returned, self.node.body)]
        return self.node.body

    def refused(self, node: ast.AST, what: str, instead: str) -> UnsupportedCode:
        """The error that says so of this node, with its place and line."""
        number = getattr(node, "lineno", self.node.lineno)
        line = self.lines[number - 1].strip() if number <= len(self.lines) else ""
        return UnsupportedCode(what, instead, f"{shown_path(self.file)}:{number}", line)

    def rebinds(self, kind: type[ast.Global | ast.Nonlocal], name: str) -> bool:
        """Does a function declare that it assigns the name outside of itself?

        `nonlocal` means a name of this function only where both are in one function.
        """
        if (kind, name) not in _rebound(self.tree):
            return False
        around = [each for each in self.tree.body if self.node in ast.walk(each)]
        return kind is ast.Global or any((kind, name) in _rebound(each) for each in around)


def source_of(function: Any) -> Source:
    """The source of a plain function. Raises UnsupportedCode for everything else.

    >>> source_of(shown_path).node.name
    'shown_path'
    >>> source_of(len)
    Traceback (most recent call last):
    deltaproof.theorems.verify.source.UnsupportedCode: len is not written in Python: \
write a `def` that computes it
    """
    plain = plain_function(function)
    code = plain.__code__
    lines = tuple(_lines(plain))
    if not lines:
        raise UnsupportedCode(
            f"the source of {plain.__name__} cannot be found in {code.co_filename}",
            "save the function in a file and import it from there",
        )
    changed = UnsupportedCode(
        f"the source of {plain.__name__} is not what runs (line {code.co_firstlineno})",
        "if the file has changed since it was imported, start anew",
        shown_path(code.co_filename),
    )
    try:
        tree = _parsed("".join(lines))
        compiled = _compiled("".join(lines), code.co_filename, code.co_flags & FUTURES)
    except (SyntaxError, ValueError):
        raise changed from None
    if code not in compiled:
        raise changed
    node = _node(tree, code)
    if node is None:
        raise UnsupportedCode(
            f"line {code.co_firstlineno} has several functions that look like {plain.__name__}",
            "give it a `def` of its own",
            shown_path(code.co_filename),
        )
    return Source(plain, code.co_filename, lines, tree, node)


def plain_function(function: Any) -> FunctionType:
    """A function whose result depends on nothing but its arguments, as far as its kind shows.

    Raises UnsupportedCode for methods, classes, partials, generators and the like.
    """
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(function, MethodType):
        raise UnsupportedCode(
            f"{name} is a method of an object", "write a function whose arguments are all it needs"
        )
    if isinstance(function, functools.partial):
        raise UnsupportedCode("a functools.partial", "write a `def` that calls the function")
    if isinstance(function, type):
        raise UnsupportedCode(f"{name} is a class", "name a function")
    if not isinstance(function, FunctionType):
        if isinstance(getattr(function, "__wrapped__", None), FunctionType):
            raise UnsupportedCode(
                f"a decorator has wrapped {name} into a {type(function).__name__}",
                f"prove the function inside, {name}.__wrapped__",
            )
        if not isinstance(function, type(len)):
            raise UnsupportedCode(f"{name} is an object and no function", "write a `def`")
        raise UnsupportedCode(f"{name} is not written in Python", "write a `def` that computes it")
    for flag, what, instead in NOT_PLAIN:
        if function.__code__.co_flags & flag:
            place = (
                f"{shown_path(function.__code__.co_filename)}:{function.__code__.co_firstlineno}"
            )
            inside = f"; or prove the function inside, {name}.__wrapped__"
            wrapped = inside if hasattr(function, "__wrapped__") else ""
            takes = "takes" if "(" in what else "is"
            raise UnsupportedCode(f"{name} {takes} {what}", instead + wrapped, place)
    if "__signature__" in function.__dict__:
        raise UnsupportedCode(f"{name} has a __signature__ of its own", "remove it")
    return function


def shown_path(file: str) -> str:
    """The path as seen from the working directory, when it is below.

    >>> shown_path("/somewhere/else.py")
    '/somewhere/else.py'
    >>> shown_path(str(Path.cwd() / "operators.py"))
    'operators.py'
    """
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _lines(function: FunctionType) -> list[str]:
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


@functools.lru_cache(maxsize=32)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@functools.lru_cache(maxsize=32)
def _rebound(tree: ast.AST) -> frozenset[tuple[type[ast.Global | ast.Nonlocal], str]]:
    """What is declared `global` or `nonlocal`; a file is walked once, and not once per name."""
    return frozenset(
        (type(node), name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    )


@functools.lru_cache(maxsize=32)
def _compiled(text: str, file: str, flags: int) -> frozenset[CodeType]:
    module = compile(text, file, "exec", flags=flags, dont_inherit=True)
    return frozenset(_codes(module))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _node(tree: ast.Module, code: CodeType) -> Node | None:
    """The node that the code was compiled from, of lambdas the innermost; None when several are."""
    nodes: list[Node] = [
        node for node in ast.walk(tree) if isinstance(node, Node) and _begins(node, code)
    ]
    if len(nodes) > 1:
        around = [node for node in nodes if isinstance(node, ast.Lambda) and _around(node, code)]
        nodes = [node for node in around if not {*ast.walk(node.body)} & {*around}]
    return nodes[0] if len(nodes) == 1 else None


def _begins(node: Node, code: CodeType) -> bool:
    named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    if tuple(each.arg for each in named) != code.co_varnames[: len(named)]:
        return False
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    lines = [node.lineno, *(each.lineno for each in node.decorator_list)]
    return node.name == code.co_name and min(lines) == code.co_firstlineno


def _around(node: ast.Lambda, code: CodeType) -> bool:
    """Does every instruction, but the first that only begins, come from the lambda's body?"""
    places = [place for place in code.co_positions() if place[2:] != (0, 0)]
    start = (node.body.lineno, node.body.col_offset)
    end = (node.body.end_lineno or 0, node.body.end_col_offset or 0)
    return bool(places) and all(_within(place, start, end) for place in places)


def _within(
    place: tuple[int | None, int | None, int | None, int | None],
    start: tuple[int, int],
    end: tuple[int, int],
) -> bool:
    line, end_line, column, end_column = place
    if line is None or end_line is None or column is None or end_column is None:
        return False
    return start <= (line, column) and (end_line, end_column) <= end
