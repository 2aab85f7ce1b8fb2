"""A plain Python function as z3 terms that mean the same for every integer, or a refusal.

    def clamp(w):              If(w > 0, w, 0)
        if w > 0:
            return w
        return 0

Translated: assignments (also += and unpacking), if, for over range(constant) and tuples, break,
continue, early return; + - * ** // % << >> by constants, comparisons (also chained, and `in` a
tuple), and, or, not, conditional expressions; ints, bools and tuples of them; min, max, abs, int,
bool, sum, len, any, all, divmod, tuple; constants and functions of the module or of a closure.

Everything else raises UnsupportedCode with file, line and what to write instead: nothing is
guessed. And nothing is believed: `difference` runs the function itself on many integers, beside
the terms.
"""

from __future__ import annotations

import ast
import inspect
import random
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from deltaproof.reference.errors import UsageError
from deltaproof.theorems.verify.body import Body, Reading, arguments_of, signature_of
from deltaproof.theorems.verify.source import Source, UnsupportedCode, source_of
from deltaproof.theorems.verify.values import (
    BOOL,
    INT,
    Shape,
    Value,
    described,
    filled,
    flat,
    number,
    shape_of,
    skeleton,
    term,
    variables,
)

SAMPLES = 64  # random arguments on which the function itself is run beside its terms
WORDS = [sign * 2**bits for bits in (31, 63, 64) for sign in (1, -1)]
EXTREMES = (*range(-3, 4), *(end + step for end in WORDS for step in (-1, 0, 1)), 10**30, -(10**30))

# ---------------------------------------------------------------- the whole function


@dataclass(frozen=True, eq=False)
class Code:
    """A Python function and the terms that mean the same.

    >>> code = translated(choice_of_sign)
    >>> code(z3.Int("x")), code(3), code.run(3)
    (If(x <= 0, 0, 1), 1, 1)
    """

    function: Callable[..., Any]
    source: Source
    names: tuple[str, ...]
    inputs: tuple[Value, ...]
    output: Value
    constants: tuple[tuple[str, Value], ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(map(shape_of, self.inputs))

    def __call__(self, *arguments: Value) -> Value:
        """The output for these arguments, known or not."""
        pairs = [
            (variable, term(number(value) if z3.is_int(variable) else value))
            for variable, value in zip(flat(self.inputs), flat(arguments), strict=True)
        ]
        numbers = (z3.simplify(z3.substitute(term(each), *pairs)) for each in flat(self.output))
        return filled(shape_of(self.output), map(plain, numbers))

    def run(self, *arguments: Any) -> Any:
        """What the function itself returns. Raises UnsupportedCode when it raises."""
        try:
            return self.function(*arguments)
        except Exception as error:  # noqa: BLE001  # whatever the user's function raises
            call = f"{self.name}({', '.join(map(repr, arguments))})"
            what = f"{call} raises {type(error).__name__}: {error}"
            raise UnsupportedCode(what, "return a weight for every integer") from None


def plain(value: Any) -> Value:
    """A z3 number or bool as Python's; other terms as they are."""
    if z3.is_int_value(value):
        try:
            return value.as_long()
        except ValueError:
            raise too_many_digits() from None
    return z3.is_true(value) if z3.is_true(value) or z3.is_false(value) else value


def too_many_digits() -> UnsupportedCode:
    """The refusal for numbers that Python does not read from text, nor print."""
    what = f"a result of more than {sys.get_int_max_str_digits():,} digits"
    return UnsupportedCode(what, "smaller constants, or fewer factors")


def choice_of_sign(w: int) -> int:
    """1 where the weight is positive: the function of the examples in this file."""
    return 1 if w > 0 else 0


def translated(function: Any, shapes: Sequence[Shape] | None = None) -> Code:
    """The function as terms; its arguments have these shapes, else the ones it declares.

    Raises UnsupportedCode, and UsageError when there are more or fewer shapes than weights.
    """
    source = source_of(function)
    declared = shapes_of(source)
    names = [each.name for each in weights(source)]
    if shapes is not None:
        check_shapes(source, names, declared, shapes)
    inputs = tuple(map(variables, names, declared if shapes is None else shapes))
    reading = Reading(flat(inputs), calls=[source.function.__code__])
    output = Body(source, reading, True).result(arguments_of(source, inputs, {}, reading))
    if not flat(output):
        what = f"{source.function.__name__} returns nothing but empty tuples"
        raise source.refused(source.node, what, "return at least one weight")
    constants = tuple(sorted(reading.constants, key=str))
    return Code(function, source, tuple(names), inputs, output, constants)


def check_shapes(
    source: Source, names: Sequence[str], declared: Sequence[Shape], shapes: Sequence[Shape]
) -> None:
    """Raises UsageError for a wrong number of weights, UnsupportedCode for a wrong shape."""
    function = source.function
    if len(names) != len(shapes):
        raise UsageError(
            f"{function.__name__} takes {counted(len(names))} ({', '.join(names)}), "
            f"here {len(shapes)} are given"
        )
    given = ", ".join(map(described, shapes))
    for name, one, other in zip(names, declared, shapes, strict=True):
        said = name in function.__annotations__
        if said and skeleton(one) != skeleton(other):
            what = f"{name} is declared {described(one)}, here it is {described(other)}"
            raise source.refused(
                source.node, what, f"declare what {function.__name__} is given: {given}"
            )


def counted(arguments: int) -> str:
    """
    >>> counted(1), counted(2)
    ('1 argument', '2 arguments')
    """
    return f"{arguments} argument" + ("s" if arguments != 1 else "")


# ---------------------------------------------------------------- the shapes of the arguments


def shape_of_type(declared: Any) -> Shape | None:
    """The shape that an annotation declares; None for one that declares none of ours.

    >>> shape_of_type(tuple[int, tuple[bool, int]]), shape_of_type(float)
    (('int', ('bool', 'int')), None)
    """
    if declared is inspect.Parameter.empty or declared is Any:
        return INT
    if hasattr(declared, "__supertype__"):  # NewType("Weight", int)
        return shape_of_type(declared.__supertype__)
    if hasattr(declared, "__value__"):  # type Weight = int
        return shape_of_type(declared.__value__)
    if typing.get_origin(declared) is typing.Annotated:
        return shape_of_type(typing.get_args(declared)[0])
    if typing.get_origin(declared) is tuple:
        shapes = [shape_of_type(each) for each in typing.get_args(declared)]
        return tuple(shapes) if shapes and None not in shapes else None
    return {int: INT, bool: BOOL}.get(declared) if isinstance(declared, type) else None


def shapes_of(source: Source) -> list[Shape]:
    """The shapes of the parameters without a default, as they are declared; int if nothing is."""
    function = source.function
    try:
        declared = inspect.get_annotations(function, eval_str=True)
    except Exception as error:  # noqa: BLE001  # whatever evaluating the user's text raises
        what = f"an annotation of {function.__name__} raises {type(error).__name__}: {error}"
        raise source.refused(source.node, what, DECLARE) from None
    shapes = []
    for each in weights(source):
        shape = shape_of_type(declared.get(each.name, inspect.Parameter.empty))
        if shape is None:
            what = f"{each.name} is declared {inspect.formatannotation(each.annotation)}"
            raise source.refused(source.node, what, DECLARE)
        shapes.append(shape)
    return shapes


DECLARE = "declare int, bool, or a tuple like tuple[int, int]"


def weights(source: Source) -> list[inspect.Parameter]:
    """The parameters that a claim is about: those without a default."""
    found = [
        each
        for each in signature_of(source.function).parameters.values()
        if each.default is each.empty
    ]
    for each in found:
        if each.kind is each.KEYWORD_ONLY:
            what = f"{each.name} must be given by keyword"
            raise source.refused(source.node, what, "leave the * out, or give it a default")
    return found


# ---------------------------------------------------------------- the check of the translation


def difference(code: Code) -> str:
    """Where the function itself and its terms differ, of many arguments; "" if nowhere.

    >>> difference(translated(choice_of_sign))
    ''
    """
    for arguments in samples(code):
        try:
            expected = code.run(*arguments)
        except UnsupportedCode as refusal:
            return refusal.what
        meant = code(*arguments)
        if not same(expected, meant):
            call = f"{code.name}({', '.join(map(repr, arguments))})"
            return f"{call} is {expected!r}, and its translation {meant}"
    return ""


def same(one: Any, other: Any) -> bool:
    """Equal ints, bools, or tuples of them; a bool equals an int as in Python.

    >>> same((1, True), (1, 1)), same(1, 1.0), same(1, (1,))
    (True, False, False)
    """
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, int) and isinstance(other, int) and one == other


def samples(code: Code) -> Iterator[tuple[Any, ...]]:
    """Arguments that try a function hard: zeros, small ones, the ends of machine words, and
    the constants of its own source and their neighbours."""
    near = [n + step for n in own_numbers(code.source) for step in (-1, 0, 1)]
    numbers = [*EXTREMES, *near]
    width = len(flat(code.inputs))
    randomly = random.Random(7)
    for each in numbers:
        yield filled(code.shapes, iter([each] * width))
    for _ in range(SAMPLES):
        pool = randomly.choice((range(2), range(-3, 4), numbers, [randomly.getrandbits(70)]))
        yield filled(code.shapes, iter([randomly.choice(pool) for _ in range(width)]))


def own_numbers(source: Source) -> list[int]:
    """The constants of the source, each with both signs."""
    found = {
        node.value
        for node in ast.walk(source.node)
        if isinstance(node, ast.Constant) and type(node.value) is int
        if node.value.bit_length() <= 200
    }
    return sorted({sign * each for each in found for sign in (1, -1)})[:40]
