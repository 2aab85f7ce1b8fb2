"""One sign of a module is changed in its syntax tree; the file stays as it is.

    + and -    < and <=    > and >=    `and` and `or`    z3.And and z3.Or    a negation dropped

The changed tree is compiled, and the code of the one function with the sign stands in for the
function's own for as long as the fault is `planted`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from deltaproof.reference.errors import UsageError

OTHER: dict[type[ast.AST], Any] = {  # sign ↦ class of the sign that takes its place
    ast.Add: ast.Sub,
    ast.Lt: ast.LtE,
    ast.Gt: ast.GtE,
    ast.And: ast.Or,
}
OTHER |= {changed: sign for sign, changed in OTHER.items()}
WORDS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "and",
    ast.Or: "or",
}
CALLS = {"And": "Or", "Or": "And"}  # of z3


@dataclass(frozen=True)
class Fault:
    """A sign in a function of a module, by its number among the signs of the module."""

    module: str
    function: str  # its qualified name
    number: int
    first_line: int
    last_line: int
    change: str
    code: str  # the expression, as it is

    def __str__(self) -> str:
        return f"{self.module.removeprefix('deltaproof.')}:{self.first_line} {self.function}"


@cache
def faults_in(module: str) -> tuple[Fault, ...]:
    """Every fault that can be planted in the module.

    >>> [fault.change for fault in faults_in("deltaproof.reference.stream")]
    ['- → +', '- → +']
    >>> str(faults_in("deltaproof.reference.operators.negate")[0]).split(":")[0]
    'reference.operators.negate'
    """
    tree = ast.parse(inspect.getsource(import_module(module)))
    return tuple(
        Fault(
            module,
            function,
            number,
            node.lineno,
            node.end_lineno or node.lineno,
            change_of(node),
            " ".join(ast.unparse(node).split()),
        )
        for number, (function, node) in enumerate(signs(tree))
    )


def signs(tree: ast.Module) -> Iterator[tuple[str, ast.expr | ast.AugAssign]]:
    """(qualified name of the outermost function, node) of every sign."""
    for name, function in functions_in(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.expr | ast.AugAssign) and change_of(node):
                yield name, node


def functions_in(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, not those inside of functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions_in(node, f"{prefix}{node.name}.")


def change_of(node: ast.AST) -> str:
    """What would become of the node's sign; "" where it has none.

    >>> change_of(ast.parse("a - b", mode="eval").body), change_of(ast.parse("a[b]").body[0])
    ('- → +', '')
    """
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub() as op, left=left, right=right):
            return "" if is_text(left) or is_text(right) else swapped(op)
        case ast.AugAssign(op=ast.Add() | ast.Sub() as op, value=value):
            return "" if is_text(value) else swapped(op)
        case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() as op]):
            return swapped(op)
        case ast.BoolOp(op=op):
            return swapped(op)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return "" if isinstance(operand, ast.Constant) else "- dropped"
        case ast.UnaryOp(op=ast.Not()):
            return "not dropped"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="z3"), attr=name)):
            return f"{name} → {CALLS[name]}" if name in CALLS else "Not dropped" * (name == "Not")
    return ""


def swapped(op: ast.AST) -> str:
    return f"{WORDS[type(op)]} → {WORDS[OTHER[type(op)]]}"


def is_text(node: ast.AST) -> bool:
    """Whether + there joins texts or lists, which is no arithmetic."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


class Change(ast.NodeTransformer):
    """Puts the changed node in the place of one node."""

    def __init__(self, target: ast.AST) -> None:
        self.target = target

    def visit(self, node: ast.AST) -> Any:
        changed = self.generic_visit(node)
        return with_other_sign(changed) if node is self.target else changed


def with_other_sign(node: Any) -> Any:
    """The node with its sign changed, or what is left of it without its negation."""
    match node:
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            node.op = OTHER[type(node.op)]()
        case ast.Compare():
            node.ops = [OTHER[type(node.ops[0])]()]
        case ast.UnaryOp():
            return node.operand
        case ast.Call(func=ast.Attribute(attr="Not"), args=[only]):
            return only
        case ast.Call(func=ast.Attribute() as called):
            called.attr = CALLS[called.attr]
    return node


# ---------------------------------------------------------------- planting


def changed_code(fault: Fault) -> CodeType:
    """The code of the function with the fault in it."""
    module = import_module(fault.module)
    tree = ast.parse(inspect.getsource(module))
    _, node = list(signs(tree))[fault.number]
    changed = ast.fix_missing_locations(Change(node).visit(tree))
    # as in the module itself, whose annotations are not evaluated
    return code_named(fault.function, compile(changed, str(module.__file__), "exec"))


def code_named(name: str, code: CodeType) -> CodeType:
    """The code of this qualified name inside of the code. Raises UsageError without one."""
    waiting = [code]
    while waiting:
        here = waiting.pop()
        if here.co_qualname == name:
            return here
        waiting += [each for each in here.co_consts if isinstance(each, CodeType)]
    raise UsageError(f"no function {name} in {code.co_filename}")


def function_named(module: str, name: str) -> FunctionType:
    """The function itself, taken out of what wraps it."""
    found: Any = import_module(module)
    for part in name.split("."):
        found = vars(found)[part]
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        found = unwrapped(found)
    return found


def unwrapped(found: Any) -> Any:
    """What a decorator has wrapped. Raises UsageError where that is not known."""
    if isinstance(found, property):
        return found.fget
    if isinstance(found, cached_property):
        return found.func
    for name in ("__wrapped__", "__func__", "function"):
        if hasattr(found, name):
            return getattr(found, name)
    raise UsageError(f"no function inside of {found!r}")


class Planted:
    """The fault, in place while this is entered.

    >>> from deltaproof.reference.stream import differentiate
    >>> (fault, *_) = faults_in("deltaproof.reference.stream")
    >>> with Planted(fault):
    ...     differentiate([1, 3, 0])
    [1, 4, 3]
    >>> differentiate([1, 3, 0])
    [1, 2, -3]
    """

    def __init__(self, fault: Fault) -> None:
        self.function = function_named(fault.module, fault.function)
        self.right, self.wrong = self.function.__code__, changed_code(fault)
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1
        self.function.__code__ = self.wrong

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        if not self.depth:
            self.function.__code__ = self.right
