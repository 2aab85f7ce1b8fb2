"""A function's statements walked once, and what they compute written as z3 terms.

Branches are not enumerated: what they leave in each variable is merged with If, so twenty `if`s
are twenty Ifs and not a million paths. Loops over what has a known length are unrolled, and
functions that are called are walked in place. The condition under which Python comes to a place is
known there, so a variable without a value, or a path without a return, is found with arguments
that lead to it.
"""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import z3

from deltaproof.theorems.kernel import small_values
from deltaproof.theorems.verify.source import Source, UnsupportedCode, source_of
from deltaproof.theorems.verify.values import (
    MOST_FACTORS,
    MOST_MEMBERS,
    Clash,
    Degrees,
    Value,
    absolute,
    binary,
    choice,
    compared,
    conjunction,
    described,
    disjunction,
    extreme,
    known,
    negation,
    number,
    shape_of,
    small,
    truth,
    unary,
)

MOST_STEPS = 5_000  # nodes walked, with loops unrolled and calls walked again
MOST_DEPTH = 100  # nodes in one another; an elif is in the else of the if before it
REACH_EFFORT = 200_000  # z3 units to find out whether a path can be taken

STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("`while`", "write a loop over range(constant)"),
    ast.Try: ("`try`", "return a weight on every path; nothing that is translated raises"),
    ast.TryStar: ("`try`", "return a weight on every path; nothing that is translated raises"),
    ast.Raise: ("`raise`", "return a weight here, and say with `given` when it matters"),
    ast.Assert: ("`assert`", "say what is supposed in a function for `given`"),
    ast.With: ("`with`", "compute from the arguments only"),
    ast.AsyncWith: ("`async with`", "compute from the arguments only"),
    ast.AsyncFor: ("`async for`", "write a loop over range(constant)"),
    ast.Import: ("`import` in a function", "import at the top of the file"),
    ast.ImportFrom: ("`import` in a function", "import at the top of the file"),
    ast.FunctionDef: ("a function in a function", "define it at the top of the file"),
    ast.AsyncFunctionDef: ("an async function", "define a function at the top of the file"),
    ast.ClassDef: ("a class in a function", "use ints and tuples"),
    ast.Global: ("`global`", "take the value as an argument and return the new one"),
    ast.Nonlocal: ("`nonlocal`", "take the value as an argument and return the new one"),
    ast.Delete: ("`del`", "leave it out"),
    ast.Match: ("`match`", "write if / elif / else"),
}
EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("a lambda in a function", "define a function at the top of the file"),
    ast.List: ("a list", "write a tuple: (1, 2)"),
    ast.ListComp: ("a list comprehension", "write tuple(... for ...) or sum(... for ...)"),
    ast.Dict: ("a dict", "write a tuple, or if / elif / else"),
    ast.DictComp: ("a dict", "write a tuple, or if / elif / else"),
    ast.Set: ("a set", "write a tuple: w in (1, 2)"),
    ast.SetComp: ("a set", "write a tuple: w in (1, 2)"),
    ast.JoinedStr: ("a string", "weights are ints"),
    ast.Await: ("`await`", "compute from the arguments only"),
    ast.Yield: ("`yield`", "return all weights in one tuple"),
    ast.YieldFrom: ("`yield`", "return all weights in one tuple"),
    ast.NamedExpr: ("an assignment in an expression (:=)", "assign on a line of its own"),
    ast.Attribute: (
        "an attribute",
        "import the name itself (from module import name); of an object take what is used of it "
        "as an argument",
    ),
    ast.Starred: ("* before a value here", "write the members out"),
    ast.Slice: ("a slice here", "write the members out"),
    ast.GeneratorExp: (
        "a generator here",
        "write it in tuple(...), sum(...), min, max, any or all",
    ),
}
CONSTANTS: dict[type, tuple[str, str]] = {
    float: ("a float", "weights are ints: scale them, or write // for division"),
    complex: ("a complex number", "weights are ints"),
    str: ("a string", "weights are ints"),
    bytes: ("bytes", "weights are ints"),
    type(None): ("None", "return an int on every path; 0 is the weight of what is not there"),
    list: ("a list, which can change", "write a tuple"),
    dict: ("a dict, which can change", "write a tuple, or if / elif / else"),
    set: ("a set, which can change", "write a tuple"),
}

Slot = tuple[Value, Value]  # of a variable: its value, and the condition that it has none
Env = dict[str, Slot]


@dataclass
class State:
    """Where the walk is: the condition that Python comes here, and the variables if it does."""

    alive: Value
    env: Env


@dataclass
class Reading:
    """What one translation shares among the functions it walks."""

    inputs: Sequence[Any]
    steps: int = 0
    depth: int = 0
    degrees: Degrees = field(default_factory=Degrees)
    constants: set[tuple[str, Value]] = field(default_factory=set)
    calls: list[CodeType] = field(default_factory=list)

    def happens(self, condition: Value) -> str:
        """Arguments for which the condition is true, as text; "" when there are none."""
        if known(condition):
            return "any argument" if condition else ""
        solver = z3.Solver()
        solver.set("rlimit", REACH_EFFORT)
        solver.add(condition)
        if solver.check() == z3.unsat:
            return ""
        found = small_values(solver, [each for each in self.inputs if z3.is_expr(each)])
        names = [f"{name.partition('!')[0]} = {value}" for name, value in found or ()]
        return ", ".join(names) or "some argument"


class Body:
    """One call of one function: its statements walked, its returns collected."""

    def __init__(self, source: Source, reading: Reading, supposed: Value) -> None:
        self.source, self.reading, self.supposed = source, reading, supposed
        code = source.function.__code__
        self.locals = {*code.co_varnames, *code.co_cellvars}
        self.state = State(True, {})
        self.returned: list[tuple[Value, Value]] = []
        self.broken: list[list[State]] = []
        self.continued: list[list[State]] = []

    def result(self, arguments: dict[str, Value]) -> Value:
        """What the function returns for these arguments."""
        name, node = self.source.function.__name__, self.source.node
        self.state = State(True, {key: (value, False) for key, value in arguments.items()})
        self.block(self.source.body)
        without = self.reading.happens(conjunction(self.supposed, self.state.alive))
        if without or not self.returned:
            what = f"{name} ends without a return, for {without or 'any argument'}"
            raise self.source.refused(node, what, "return a weight on every path")
        value = self.returned[-1][1]
        for condition, each in reversed(self.returned[:-1]):
            value = choice(condition, each, value)
        if isinstance(value, Clash):
            raise self.located(node, value.refusal(f"what {name} returns"))
        return value

    def refused(self, node: ast.AST, what: str, instead: str) -> UnsupportedCode:
        return self.source.refused(node, what, instead)

    def located(self, node: ast.AST, refusal: UnsupportedCode) -> UnsupportedCode:
        """The refusal with a place, if it has none yet."""
        return refusal if refusal.place else self.refused(node, refusal.what, refusal.instead)

    def spend(self, node: ast.AST) -> None:
        self.reading.steps += 1
        if self.reading.steps > MOST_STEPS:
            what = f"more than {MOST_STEPS:,} steps with all loops unrolled"
            raise self.refused(node, what, "shorter loops")

    @contextmanager
    def inside(self, node: ast.AST) -> Iterator[None]:
        """The walk of one node, which is a step; its refusals get its place."""
        self.spend(node)
        self.reading.depth += 1
        if self.reading.depth > MOST_DEPTH:
            what = f"code that is nested more than {MOST_DEPTH} deep"
            raise self.refused(node, what, "several functions, or shorter expressions")
        try:
            yield
        except UnsupportedCode as refusal:
            raise self.located(node, refusal) from None
        finally:
            self.reading.depth -= 1

    # ------------------------------------------------------------ statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for each in statements:
            if self.state.alive is False:
                return
            with self.inside(each):
                self.statement(each)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Return():
                self.on_return(node)
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.value(node.value))
            case ast.AugAssign():
                self.assign(node.target, self.combined(node, node.op, node.target, node.value))
            case ast.If():
                self.on_if(node)
            case ast.For():
                self.on_for(node)
            case ast.Break():
                self.leave(self.broken)
            case ast.Continue():
                self.leave(self.continued)
            case ast.Pass():
                pass
            case ast.Expr():
                if not isinstance(node.value, ast.Constant):
                    what = "a statement whose value is not used"
                    raise self.refused(node, what, "leave it out: only what is returned counts")
            case _:
                what, instead = STATEMENTS.get(type(node), (type(node).__name__, "leave it out"))
                raise self.refused(node, what, instead)

    def on_return(self, node: ast.Return) -> None:
        if node.value is None:
            raise self.refused(node, *CONSTANTS[type(None)])
        self.returned.append((self.state.alive, self.value(node.value)))
        self.state = State(False, self.state.env)

    def leave(self, ways: list[list[State]]) -> None:
        ways[-1].append(self.state)
        self.state = State(False, dict(self.state.env))

    def on_if(self, node: ast.If) -> None:
        condition = truth(self.value(node.test))
        before = self.state
        states = []
        for holds, statements in ((condition, node.body), (negation(condition), node.orelse)):
            self.state = State(conjunction(before.alive, holds), dict(before.env))
            self.block(statements)
            states.append(self.state)
        self.state = merged(states)

    def on_for(self, node: ast.For) -> None:
        self.broken.append([])
        for each in self.members(node.iter):
            self.continued.append([])
            self.assign(node.target, each)
            self.block(node.body)
            self.state = merged([*self.continued.pop(), self.state])
        self.block(node.orelse)
        self.state = merged([*self.broken.pop(), self.state])

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                if isinstance(value, Clash):
                    raise self.located(target, value.refusal("this value"))
                self.check_name(target)
                self.state.env[target.id] = (value, False)
            case ast.Tuple() | ast.List():
                self.unpack(target, value)
            case _:
                what = "an assignment to a part of something"
                raise self.refused(
                    target, what, "assign to a variable: ints and tuples have no parts"
                )

    def unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        places = target.elts
        if any(isinstance(each, ast.Starred) for each in places):
            raise self.refused(target, "a * target, which makes a list", "name each member")
        if not isinstance(value, tuple) or len(value) != len(places):
            what = f"{described(shape_of(value))} where {len(places)} values are unpacked"
            raise self.refused(target, what, TO_BE_A_TUPLE)
        for place, each in zip(places, value, strict=True):
            self.assign(place, each)

    # ------------------------------------------------------------ expressions

    def value(self, node: ast.expr) -> Value:
        """What the expression is, where the walk is."""
        with self.inside(node):
            return self.expression(node)

    def expression(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return constant(node.value)
            case ast.Name():
                return self.named(node)
            case ast.BinOp():
                return self.combined(node, node.op, node.left, node.right)
            case ast.UnaryOp():
                return unary(node.op, self.value(node.operand))
            case ast.BoolOp():
                return self.on_bool(isinstance(node.op, ast.And), node.values)
            case ast.Compare():
                return self.on_compare(node)
            case ast.IfExp():
                return self.on_either(node, truth(self.value(node.test)), node.body, node.orelse)
            case ast.Tuple():
                return self.spread(node.elts)
            case ast.Subscript():
                return self.on_subscript(node)
            case ast.Call():
                return self.on_call(node)
            case _:
                what, instead = EXPRESSIONS.get(type(node), (type(node).__name__, "leave it out"))
                raise self.refused(node, what, instead)

    def combined(self, node: ast.AST, sign: ast.operator, left: ast.expr, right: ast.expr) -> Value:
        value = binary(sign, self.value(left), self.value(right))
        multiplied = isinstance(sign, ast.Mult | ast.Pow) and z3.is_expr(value)
        if multiplied and self.reading.degrees.of(value) > MOST_FACTORS:
            what = f"a product of more than {MOST_FACTORS} weights"
            raise self.refused(node, what, "fewer factors")
        return value

    def on_bool(self, all_of: bool, nodes: Sequence[ast.expr]) -> Value:
        """`and` and `or`: the first operand that decides, or the last; the others are not run."""
        first = self.value(nodes[0])
        if len(nodes) == 1:
            return first
        goes_on = truth(first) if all_of else negation(truth(first))
        if known(goes_on):
            return self.on_bool(all_of, nodes[1:]) if goes_on else first
        with self.where(goes_on):
            rest = self.on_bool(all_of, nodes[1:])
        return self.one_of(nodes[0], goes_on, rest, first)

    def on_compare(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        holds: Value = True
        for sign, other in zip(node.ops, node.comparators, strict=True):
            if holds is False:
                return False
            with self.where(holds):
                among = isinstance(sign, ast.In | ast.NotIn) and len(node.ops) == 1
                right = self.members(other) if among else self.value(other)
            holds = conjunction(holds, compared(sign, left, right))
            left = right
        return holds

    def on_either(
        self, node: ast.expr, condition: Value, body: ast.expr, orelse: ast.expr
    ) -> Value:
        if known(condition):
            return self.value(body if condition else orelse)
        with self.where(condition):
            one = self.value(body)
        with self.where(negation(condition)):
            other = self.value(orelse)
        return self.one_of(node, condition, one, other)

    def one_of(self, node: ast.expr, condition: Value, one: Value, other: Value) -> Value:
        value = choice(condition, one, other)
        if isinstance(value, Clash):
            raise self.located(node, value.refusal("this"))
        return value

    def on_subscript(self, node: ast.Subscript) -> Value:
        of = self.value(node.value)
        if not isinstance(of, tuple):
            what = f"[...] of {described(shape_of(of))}"
            raise self.refused(node, what, TO_BE_A_TUPLE)
        try:
            return of[self.index(node.slice)]
        except (IndexError, ValueError) as error:
            raise self.refused(node, f"{error} (it has {len(of)})", "another index") from None

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*[None if end is None else self.index(end) for end in ends])
        place = self.value(node)
        if not known(place):
            instead = "a constant index, or if / elif over the members"
            raise self.refused(node, "an index that depends on a weight", instead)
        return place

    def spread(self, nodes: Sequence[ast.expr]) -> tuple[Value, ...]:
        """The values of a tuple or of a call's arguments, where *t stands for the members of t."""
        values: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self.members(node.value)
            else:
                values.append(self.value(node))
        return tuple(values)

    @contextmanager
    def where(self, condition: Value) -> Iterator[None]:
        """Expressions in here are run only if the condition holds."""
        before = self.state
        self.state = State(conjunction(before.alive, condition), before.env)
        try:
            yield
        finally:
            self.state = before

    # ------------------------------------------------------------ names

    def check_name(self, node: ast.Name) -> None:
        if node.id.startswith("__"):
            raise self.refused(node, f"the name {node.id}", "a name without __ in front")

    def named(self, node: ast.Name) -> Value:
        """The variable of this name, or else the constant."""
        self.check_name(node)
        if node.id in self.state.env or node.id in self.locals:
            return self.variable(node)
        found = self.outside(node)
        if isinstance(found, FunctionType) or callable(found):
            what = f"{node.id} is a function used as a value"
            raise self.refused(node, what, f"call it: {node.id}(...)")
        value = constant(found, node.id)
        self.reading.constants.add((node.id, value))
        return value

    def variable(self, node: ast.Name) -> Value:
        value, missing = self.state.env.get(node.id, (None, True))
        if missing is not False:
            here = conjunction(self.supposed, self.state.alive)
            without = self.reading.happens(conjunction(here, missing))
            if without or value is None:
                what = f"{node.id} has no value here, for {without or 'any argument'}"
                raise self.refused(node, what, f"assign {node.id} on every path to this line")
        if isinstance(value, Clash):
            raise self.located(node, value.refusal(node.id))
        return value

    def outside(self, node: ast.Name) -> Any:
        """What a name means that is not assigned in the function: closure, module, builtin."""
        function, name = self.source.function, node.id
        free = function.__code__.co_freevars
        changes = f"{name} is assigned by a function"
        if name in free:
            if self.source.rebinds(ast.Nonlocal, name):
                raise self.refused(node, f"{changes} (`nonlocal`)", "take it as an argument")
            try:
                return (function.__closure__ or ())[free.index(name)].cell_contents
            except ValueError:
                raise self.refused(node, f"{name} has no value yet", "assign it first") from None
        if self.source.rebinds(ast.Global, name):
            raise self.refused(node, f"{changes} (`global`)", "take it as an argument")
        if name in function.__globals__:
            return function.__globals__[name]
        known_to_all = function.__builtins__  # type: ignore[attr-defined]  # typeshed lacks it
        if name in known_to_all:
            return known_to_all[name]
        raise self.refused(node, f"{name} is not defined", "define or import it")

    # ------------------------------------------------------------ calls

    def called(self, node: ast.Call) -> Any:
        """The function that is called: a builtin or one of Python's functions."""
        if not isinstance(node.func, ast.Name):
            what = "a call of something that is not a plain name"
            raise self.refused(node, what, "import the function itself: from module import name")
        self.check_name(node.func)
        name = node.func.id
        if name in self.state.env or name in self.locals:
            what = f"{name} is a variable of this function"
            raise self.refused(node, what, "call a function of the module by its name")
        return self.outside(node.func)

    def on_call(self, node: ast.Call) -> Value:
        function = self.called(node)
        if isinstance(function, FunctionType):
            return self.walked(node, function)
        if isinstance(function, type(abs) | type) and function in CALLS:
            if node.keywords:
                keyword = node.keywords[0].arg or "**"
                what = f"the keyword {keyword} of {function.__name__}"
                raise self.refused(node, what, "positional arguments only")
            return CALLS[function](self, node)
        name = typing.cast("ast.Name", node.func).id
        source_of_function(function, name)
        raise self.refused(node, f"{name}()", "write out what it computes")

    def walked(self, node: ast.Call, function: FunctionType) -> Value:
        """What a call of one of Python's functions returns."""
        if function.__code__ in self.reading.calls:
            what = f"{function.__name__} calls itself"
            raise self.refused(node, what, "write a loop over range(constant)")
        arguments = self.spread(node.args)
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.refused(node, "** in a call", "name each argument")
        named = {keyword.arg or "": self.value(keyword.value) for keyword in node.keywords}
        source = source_of(function)
        bound = arguments_of(source, arguments, named, self.reading)
        body = Body(source, self.reading, conjunction(self.supposed, self.state.alive))
        self.reading.calls.append(function.__code__)
        value = body.result(bound)
        self.reading.calls.pop()
        return value

    def members(self, node: ast.expr) -> tuple[Value, ...]:
        """What is iterated over: a tuple, or range, enumerate, zip and reversed of such."""
        if isinstance(node, ast.GeneratorExp):
            return tuple(self.generated(node.elt, node.generators))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = None if node.func.id in self.locals else self.called(node)
            if function is zip:
                return self.zipped(node)
            if function in (range, enumerate, reversed) and not node.keywords:
                return self.iterated(node, function)
        value = self.value(node)
        if not isinstance(value, tuple):
            what = f"the members of {described(shape_of(value))}"
            raise self.refused(node, what, f"range(constant) or a tuple; {TO_BE_A_TUPLE}")
        return value

    def iterated(self, node: ast.Call, function: Any) -> tuple[Value, ...]:
        if function is not range:
            nodes = node.args
            if any(isinstance(each, ast.Starred) for each in nodes):
                raise self.refused(node, f"* in {function.__name__}()", "write the arguments out")
            if len(nodes) != 1:
                raise self.refused(node, f"{function.__name__}() of {len(nodes)}", "one tuple")
            return tuple(function(self.members(nodes[0])))
        bounds = self.spread(node.args)
        if not all(map(known, bounds)):
            raise self.refused(node, "a range that depends on a weight", "write range(constant)")
        try:
            numbers = range(*bounds)
        except (TypeError, ValueError) as error:
            raise self.refused(node, f"range: {error}", "write range(constant)") from None
        if numbers[MOST_MEMBERS:]:
            raise self.refused(node, f"more than {MOST_MEMBERS:,} rounds", "a shorter loop")
        return tuple(numbers)

    def zipped(self, node: ast.Call) -> tuple[Value, ...]:
        """zip(a, b), also with strict=True or strict=False."""
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise self.refused(node, "* in zip()", "write the arguments out")
        strict = {each.arg: self.value(each.value) for each in node.keywords}
        if strict.keys() - {"strict"} or not all(map(known, strict.values())):
            raise self.refused(node, "this keyword of zip", "strict=True or strict=False")
        try:
            return tuple(zip(*map(self.members, node.args), strict=bool(strict.get("strict"))))
        except ValueError as error:
            raise self.refused(node, str(error), "tuples of one length") from None

    def generated(self, element: ast.expr, loops: Sequence[ast.comprehension]) -> Iterator[Value]:
        """The values of a generator, whose variables are its own."""
        if not loops:
            yield self.value(element)
            return
        loop, *inner = loops
        if loop.ifs or loop.is_async:
            instead = "write what is left out as 0: sum(w if w > 0 else 0 for w in ws)"
            raise self.refused(loop.iter, "`if` in a generator", instead)
        before = self.state
        for each in self.members(loop.iter):
            self.state = State(before.alive, dict(self.state.env))
            self.assign(loop.target, each)
            yield from self.generated(element, inner)
            self.state = before

    def one_argument(self, node: ast.Call) -> Value:
        (value,) = self.several(node, 1, 1)
        return value

    def several(self, node: ast.Call, least: int, most: int) -> tuple[Value, ...]:
        values = self.spread(node.args)
        if not least <= len(values) <= most:
            name = typing.cast("ast.Name", node.func).id
            raise self.refused(node, f"{name}() of {len(values)} arguments", f"give it {most}")
        return values

    def many(self, node: ast.Call) -> tuple[Value, ...]:
        """The only argument's members."""
        if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            name = typing.cast("ast.Name", node.func).id
            raise self.refused(node, f"{name}() of {len(node.args)} arguments", "one tuple")
        return self.members(node.args[0])

    def candidates(self, node: ast.Call) -> tuple[Value, ...]:
        """What min and max choose from: their arguments, or the members of the only one."""
        alone = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
        if alone:
            return self.many(node)
        values = self.spread(node.args)
        if len(values) == 1:
            raise self.refused(node, "min or max of one value behind *", "leave the * out")
        return values

    def total(self, node: ast.Call) -> Value:
        if len(node.args) not in (1, 2) or isinstance(node.args[0], ast.Starred):
            raise self.refused(node, f"sum() of {len(node.args)} arguments", "sum(t) or sum(t, 0)")
        total: Value = self.value(node.args[1]) if len(node.args) == 2 else 0
        for each in self.members(node.args[0]):
            total = binary(ast.Add(), total, each)
        return total

    def decided(self, node: ast.Call, all_of: bool) -> Value:
        holds: Value = all_of
        for each in self.many(node):
            holds = (conjunction if all_of else disjunction)(holds, truth(each))
        return holds

    def quotient(self, node: ast.Call) -> Value:
        one, other = self.several(node, 2, 2)
        return (binary(ast.FloorDiv(), one, other), binary(ast.Mod(), one, other))

    def length(self, node: ast.Call) -> Value:
        value = self.one_argument(node)
        if not isinstance(value, tuple):
            raise self.refused(node, f"len() of {described(shape_of(value))}", TO_BE_A_TUPLE)
        return len(value)

    def to_int(self, node: ast.Call) -> Value:
        values = self.several(node, 0, 1)
        return number(values[0]) if values else 0

    def to_bool(self, node: ast.Call) -> Value:
        values = self.several(node, 0, 1)
        return truth(values[0]) if values else False


TO_BE_A_TUPLE = "an argument is a tuple when it says so: w: tuple[int, int]"

CALLS: dict[Any, Callable[[Body, ast.Call], Value]] = {
    min: lambda body, node: extreme(False, body.candidates(node)),
    max: lambda body, node: extreme(True, body.candidates(node)),
    abs: lambda body, node: absolute(body.one_argument(node)),
    int: Body.to_int,
    bool: Body.to_bool,
    sum: Body.total,
    len: Body.length,
    any: lambda body, node: body.decided(node, False),
    all: lambda body, node: body.decided(node, True),
    divmod: Body.quotient,
    tuple: lambda body, node: body.many(node) if node.args else (),
}


def source_of_function(function: Any, name: str) -> None:
    """Raises UnsupportedCode when what is called is known to be no function of this kind."""
    if callable(function) and not isinstance(function, type(abs) | type):
        source_of(function)
    if not callable(function):
        raise UnsupportedCode(f"{name} is no function", "call a function of the module")


def constant(value: Any, name: str = "") -> Value:
    """A constant of the source or the module. Raises UnsupportedCode unless it is made of ints.

    >>> constant((1, True))
    (1, True)
    >>> constant(0.5, "RATE")
    Traceback (most recent call last):
    deltaproof.theorems.verify.source.UnsupportedCode: a float (RATE): weights are ints: \
scale them, or write // for division
    """
    if type(value) in (int, bool):
        return small(value)
    if type(value) is tuple:
        return tuple([constant(each, name) for each in value])
    what, instead = CONSTANTS.get(
        type(value), (f"a value of type {type(value).__name__}", "use ints, bools and tuples")
    )
    raise UnsupportedCode(f"{what} ({name})" if name else what, instead)


def merged(states: Sequence[State]) -> State:
    """Where the walk is when it came from one of these states."""
    possible = [state for state in states if state.alive is not False]
    if not possible:
        return states[-1]
    whole = possible[-1]
    for state in reversed(possible[:-1]):
        names = {**state.env, **whole.env}
        env = {name: either(name, state, whole) for name in names}
        whole = State(disjunction(state.alive, whole.alive), env)
    return whole


def either(name: str, one: State, other: State) -> Slot:
    value, missing = one.env.get(name, (None, True))
    other_value, other_missing = other.env.get(name, (None, True))
    without: Value = False
    if missing is not False or other_missing is not False:
        without = disjunction(
            conjunction(one.alive, missing), conjunction(other.alive, other_missing)
        )
    if value is None or other_value is None:
        return (other_value if value is None else value), without
    return choice(one.alive, value, other_value), without


# ---------------------------------------------------------------- parameters


def signature_of(function: FunctionType) -> inspect.Signature:
    """The parameters of the function itself, also when a decorator says that it wraps another."""
    return inspect.signature(function, follow_wrapped=False)


def arguments_of(
    source: Source, arguments: Sequence[Value], named: dict[str, Value], reading: Reading
) -> dict[str, Value]:
    """The value of each parameter in a call, defaults included."""
    function = source.function
    signature = signature_of(function)
    try:
        bound = dict(signature.bind(*arguments, **named).arguments)
    except TypeError as error:
        raise UnsupportedCode(
            f"{function.__name__}(): {error}", "call it as it is defined"
        ) from None
    for each in signature.parameters.values():
        if each.name not in bound:
            try:
                bound[each.name] = constant(each.default, each.name)
            except UnsupportedCode as refusal:
                raise source.refused(source.node, refusal.what, refusal.instead) from None
            reading.constants.add((each.name, bound[each.name]))
    return bound
