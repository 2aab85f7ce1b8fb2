"""What Python computes on ints, bools and tuples, also where the ints are z3 terms.

A value is a Python int or bool, a z3 term of sort Int or Bool, or a tuple of values. Numbers that
are known stay Python's, and Python computes with them; a term means what Python would compute for
every integer in its place. A bool is an int (`True + 1` is 2), // and % round down, `and` and `or`
return one of their operands. What has no such meaning raises UnsupportedCode.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from deltaproof.theorems.verify.source import UnsupportedCode

Value: TypeAlias = Any  # int, bool, a z3 term, or a tuple of values
Shape: TypeAlias = Any  # "int", "bool", or a tuple of shapes

INT, BOOL = "int", "bool"
MOST_BITS = 2_000  # of a number that is computed while reading
MOST_FACTORS = 8  # in a product of weights: x ** 8, or eight weights
MOST_MEMBERS = 1_000  # of a tuple

KNOWN: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
ON_BOOLS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitAnd: z3.And,
    ast.BitOr: z3.Or,
    ast.BitXor: z3.Xor,
}


@dataclass(frozen=True)
class Clash:
    """What two branches leave in one variable when no term can be both, such as 1 and (1, 2)."""

    one: Shape
    other: Shape

    def refusal(self, name: str) -> UnsupportedCode:
        both = f"{described(self.one)} on one path and {described(self.other)} on another"
        return UnsupportedCode(f"{name} is {both}", "give it the same shape on every path")


# ---------------------------------------------------------------- shapes


def known(value: Value) -> bool:
    """A Python number, not a term."""
    return isinstance(value, int)


def shape_of(value: Value) -> Shape:
    """
    >>> shape_of((1, (True, z3.Int("x"), z3.Int("x") > 0)))
    ('int', ('bool', 'int', 'bool'))
    """
    if isinstance(value, tuple):
        return tuple(map(shape_of, value))
    if isinstance(value, bool) or z3.is_bool(value):
        return BOOL
    return INT


def described(shape: Shape) -> str:
    """
    >>> described(("int", "int")), described("bool")
    ('a tuple of 2', 'a bool')
    """
    if isinstance(shape, tuple):
        return f"a tuple of {len(shape)}" if shape else "an empty tuple"
    return f"an {shape}" if shape == INT else f"a {shape}"


def skeleton(shape: Shape) -> Shape:
    """The shape without the difference between ints and bools, which are ints too."""
    return tuple(map(skeleton, shape)) if isinstance(shape, tuple) else INT


def flat(value: Value) -> list[Value]:
    """The numbers in a value, from left to right.

    >>> flat((1, (2, (), 3)))
    [1, 2, 3]
    """
    if isinstance(value, tuple):
        return [number for each in value for number in flat(each)]
    return [value]


def filled(shape: Shape, numbers: Iterator[Value]) -> Value:
    """A value of this shape made of these numbers; of a bool's number, whether it is not zero.

    >>> filled(("int", ("bool", "int")), iter([4, 1, 6]))
    (4, (True, 6))
    """
    if isinstance(shape, tuple):
        return tuple([filled(each, numbers) for each in shape])
    number = next(numbers)
    return bool(number) if shape == BOOL and known(number) else number


def variables(name: str, shape: Shape) -> Value:
    """A value of this shape made of new variables."""
    if isinstance(shape, tuple):
        return tuple([variables(f"{name}[{place}]", each) for place, each in enumerate(shape)])
    return z3.FreshBool(name) if shape == BOOL else z3.FreshInt(name)


# ---------------------------------------------------------------- truth


def term(value: Value) -> Any:
    """A number or bool as a z3 term."""
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.IntVal(value) if known(value) else value


def number(value: Value) -> Value:
    """The value as an int: True is 1. Raises UnsupportedCode for a tuple."""
    if isinstance(value, tuple):
        raise UnsupportedCode(
            f"{described(shape_of(value))} where a number is needed",
            "take its members one by one, t[0] or a, b = t",
        )
    if known(value):
        return int(value)
    return z3.If(value, z3.IntVal(1), z3.IntVal(0)) if z3.is_bool(value) else value


def truth(value: Value) -> Value:
    """What `if value` asks: a number is true when it is not 0, a tuple when it is not empty."""
    if known(value) or isinstance(value, tuple):
        return bool(value)
    return value if z3.is_bool(value) else value != 0


def negation(condition: Value) -> Value:
    return not condition if known(condition) else z3.Not(condition)


def conjunction(one: Value, other: Value) -> Value:
    if known(one):
        return other if one else False
    if known(other):
        return one if other else False
    return z3.And(one, other)


def disjunction(one: Value, other: Value) -> Value:
    if known(one):
        return True if one else other
    if known(other):
        return True if other else one
    return z3.Or(one, other)


def choice(condition: Value, one: Value, other: Value) -> Value:
    """`one if condition else other`, or a Clash where no term can be both.

    A bool and an int become an int, which Python cannot tell from the bool by any arithmetic.

    >>> choice(z3.Bool("c"), (1, True), (1, 5))
    (1, If(c, 1, 5))
    >>> choice(z3.Bool("c"), 1, (1, 2))
    Clash(one='int', other=('int', 'int'))
    """
    if known(condition):
        return one if condition else other
    if isinstance(one, Clash) or isinstance(other, Clash):
        return one if isinstance(one, Clash) else other
    if isinstance(one, tuple) or isinstance(other, tuple):
        if skeleton(shape_of(one)) != skeleton(shape_of(other)):
            return Clash(shape_of(one), shape_of(other))
        return tuple([choice(condition, a, b) for a, b in zip(one, other, strict=True)])
    if shape_of(one) != shape_of(other):
        one, other = number(one), number(other)
    one_term, other_term = term(one), term(other)
    return one if one_term.eq(other_term) else z3.If(condition, one_term, other_term)


def equality(one: Value, other: Value) -> Value:
    """`one == other`: tuples member by member; a tuple is never a number."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        if len(one) != len(other):
            return False
        same: Value = True
        for a, b in zip(one, other, strict=True):
            same = conjunction(same, equality(a, b))
        return same
    if isinstance(one, tuple) or isinstance(other, tuple):
        return False
    if known(one) and known(other):
        return one == other
    return term(number(one)) == term(number(other))


# ---------------------------------------------------------------- operators


def unary(sign: ast.unaryop, value: Value) -> Value:
    """- + ~ not."""
    if isinstance(sign, ast.Not):
        return negation(truth(value))
    amount = number(value)
    if isinstance(sign, ast.USub):
        return -amount
    return amount if isinstance(sign, ast.UAdd) else -amount - 1


def binary(sign: ast.operator, one: Value, other: Value) -> Value:
    """one + other and so on, as Python computes it.

    >>> x = z3.Int("x")
    >>> binary(ast.Add(), x, True), binary(ast.FloorDiv(), -7, 2), binary(ast.Add(), (1,), (2,))
    (x + 1, -4, (1, 2))
    """
    kind = type(sign)
    if isinstance(one, tuple) or isinstance(other, tuple):
        return joined(kind, one, other)
    if kind not in KNOWN:
        what, instead = ("/", "write //") if kind is ast.Div else ("@", "write a sum of products")
        raise UnsupportedCode(f"{what} does not give an int", instead)
    if known(one) and known(other):
        return small(computed(kind, one, other))
    if kind in ON_BOOLS and shape_of(one) == shape_of(other) == BOOL:
        return ON_BOOLS[kind](term(one), term(other))
    return on_terms(kind, number(one), number(other))


def joined(kind: type[ast.operator], one: Value, other: Value) -> Value:
    """Tuples behind one another, which is all that Python's + does with them."""
    if not (kind is ast.Add and isinstance(one, tuple) and isinstance(other, tuple)):
        shapes = f"{described(shape_of(one))} and {described(shape_of(other))}"
        raise UnsupportedCode(
            f"arithmetic of {shapes}", "compute member by member, (a[0] + b[0], a[1] + b[1])"
        )
    if len(one) + len(other) > MOST_MEMBERS:
        raise UnsupportedCode(f"a tuple of more than {MOST_MEMBERS}", "fewer members")
    return one + other


def computed(kind: type[ast.operator], one: int, other: int) -> Value:
    """What Python computes of two known numbers."""
    if kind in (ast.Pow, ast.LShift):
        bits = other if kind is ast.LShift else other * max(one.bit_length(), 1)
        if bits > MOST_BITS:
            raise too_large()
    try:
        result = KNOWN[kind](one, other)
    except (ZeroDivisionError, ValueError) as error:
        raise UnsupportedCode(f"this raises {type(error).__name__}", f"{error}") from None
    if not known(result):
        raise UnsupportedCode(f"{one} ** {other} is no int", "use whole numbers only")
    return result


def too_large() -> UnsupportedCode:
    return UnsupportedCode(f"a number of more than {MOST_BITS} bits", "a smaller constant")


def small(value: int) -> int:
    """The number itself. Raises UnsupportedCode when it is too large to write to z3."""
    if value.bit_length() > MOST_BITS:
        raise too_large()
    return value


def on_terms(kind: type[ast.operator], one: Value, other: Value) -> Value:
    """Arithmetic where at least one operand is a term."""
    if kind in (ast.Add, ast.Sub, ast.Mult):
        return KNOWN[kind](one, other)
    if not known(other):
        raise UnsupportedCode(*NOT_BY_WEIGHTS[kind])
    if kind in (ast.FloorDiv, ast.Mod):
        return divided(kind, one, other)
    if kind is ast.Pow and 0 <= other <= MOST_FACTORS:
        power: Value = 1
        for _ in range(other):
            power = one if known(power) else power * one
        return power
    if kind in (ast.LShift, ast.RShift) and 0 <= other <= MOST_BITS:
        return divided(ast.FloorDiv, one, 2**other) if kind is ast.RShift else one * 2**other
    raise UnsupportedCode(*NOT_BY_WEIGHTS[kind])


_BITS = ("the bits of a weight", "write % and // by a power of two")
NOT_BY_WEIGHTS: dict[type[ast.operator], tuple[str, str]] = {
    ast.FloorDiv: ("a division by a weight", "divide by a constant"),
    ast.Mod: ("a remainder by a weight", "divide by a constant"),
    ast.Pow: ("this power", f"a constant exponent from 0 to {MOST_FACTORS}"),
    ast.LShift: ("this shift", "a constant number of bits, not negative"),
    ast.RShift: ("this shift", "a constant number of bits, not negative"),
    ast.BitAnd: _BITS,
    ast.BitOr: _BITS,
    ast.BitXor: _BITS,
}


def divided(kind: type[ast.operator], one: Value, by: int) -> Value:
    """// or % by a constant, rounding down.

    z3 rounds so that the remainder is never negative, Python so that it has the divisor's sign:
    the same for positive divisors, and for a negative one a // b = -a // -b, a % b = -(-a % -b).
    """
    if by == 0:
        raise UnsupportedCode("a division by 0", "divide by another constant")
    if kind is ast.FloorDiv:
        return term(one) / by if by > 0 else (-term(one)) / -by
    return term(one) % by if by > 0 else -((-term(one)) % -by)


def compared(sign: ast.cmpop, one: Value, other: Value) -> Value:
    """one < other and so on; `in` asks the members of a tuple."""
    if isinstance(sign, ast.Eq | ast.NotEq):
        same = equality(one, other)
        return same if isinstance(sign, ast.Eq) else negation(same)
    if isinstance(sign, ast.In | ast.NotIn):
        found = member(one, other)
        return found if isinstance(sign, ast.In) else negation(found)
    if type(sign) not in ORDER:
        raise UnsupportedCode("`is` between numbers", "write ==; a weight is never None")
    if isinstance(one, tuple) or isinstance(other, tuple):
        raise UnsupportedCode("the order of tuples", "compare member by member")
    return ORDER[type(sign)](number(one), number(other))


def member(one: Value, others: Value) -> Value:
    if not isinstance(others, tuple):
        raise UnsupportedCode(f"`in` {described(shape_of(others))}", "write `w in (1, 2)`")
    found: Value = False
    for other in others:
        found = disjunction(found, equality(one, other))
    return found


def extreme(largest: bool, values: Sequence[Value]) -> Value:
    """max or min: of equal values the first, which only bools could tell from the others."""
    if not values:
        raise UnsupportedCode("min or max of nothing", "at least one value")
    best = values[0]
    for each in values[1:]:
        if isinstance(each, tuple) or isinstance(best, tuple):
            raise UnsupportedCode("the order of tuples", "compare member by member")
        one, other = number(each), number(best)
        best = choice(one > other if largest else one < other, each, best)
    return best


def absolute(value: Value) -> Value:
    amount = number(value)
    return abs(amount) if known(amount) else z3.If(amount < 0, -amount, amount)


class Degrees:
    """How many weights are multiplied in a term; each term is looked at once."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[Any, int]] = {}  # the term is kept, so that its id stays its own

    def of(self, value: Any) -> int:
        """
        >>> x, y = z3.Ints("x y")
        >>> Degrees().of(x * (y + 1) * 3 + z3.If(x > 0, x, 0))
        2
        """
        waiting = [value]
        while waiting:
            each = waiting[-1]
            if each.get_id() in self.seen:
                waiting.pop()
                continue
            missing = [part for part in each.children() if part.get_id() not in self.seen]
            if missing:
                waiting += missing
                continue
            self.seen[each.get_id()] = (each, self._degree(each))
        return self.seen[value.get_id()][1]

    def _degree(self, each: Any) -> int:
        below = [self.seen[part.get_id()][1] for part in each.children()]
        if z3.is_bool(each) and below:
            return 0  # a condition only chooses
        if not below:
            return 0 if z3.is_int_value(each) or z3.is_bool(each) else 1
        return sum(below) if z3.is_mul(each) else max(below)
