"""Small random expressions that meet their own edges often: over tiny domains, NULL included.

Whatever is sampled has a value on every row of small values: never a division by anything but
a literal that is not zero, never a sum that leaves its type.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeVar

from deltaproof.reference.scalar_functions import (
    DATE_UNITS,
    UNITS,
    ArrayOf,
    Call,
    Case,
    Cast,
    Coalesce,
    DateTrunc,
    In,
    Substring,
)
from deltaproof.reference.scalar_tree import (
    Arithmetic,
    ColumnRef,
    Comparison,
    Distinct,
    Expr,
    IsNull,
    Like,
    Literal,
    Logic,
    Negative,
    Not,
)
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Schema,
    Type,
    Value,
)

T = TypeVar("T")

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
PATTERNS = ("%", "a%", "%b", "_", "%a%", "a", "")
DAY = datetime.date(2013, 1, 1)
MIDNIGHT = datetime.datetime(2013, 1, 1)
VALUES: Mapping[Type, tuple[Value, ...]] = {
    BOOLEAN: (False, True),
    BIGINT: (0, 1, 2, 3),
    DOUBLE: (-0.5, 0.0, 0.5, 1.0, 2.0),
    VARCHAR: ("", "a", "b", "ab", "B"),
    DATE: tuple(DAY + datetime.timedelta(days=days) for days in (0, 1, 30, 365)),
    TIMESTAMP: tuple(MIDNIGHT + datetime.timedelta(hours=hours) for hours in (0, 10, 24, 8760)),
}
ROOM = 9  # digits before the point, more than any sampled BIGINT has


def sample_value(random: Random, kind: Type) -> Value:
    """A value of the small domain of this type; not NULL."""
    if isinstance(kind, DECIMAL):
        halves = pick(random, (-1, 0, 1, 2, 3))
        return kind.from_units(halves * min(10**kind.scale, 10 ** (kind.precision - 1)) // 2)
    if isinstance(kind, ARRAY):
        return tuple(sample_value(random, kind.element) for _ in range(_below(random, 3)))
    return pick(random, VALUES[kind])


def sample_predicate(random: Random, schema: Schema, depth: int = 2) -> Expr:
    """A random condition over the columns: TRUE, FALSE and, where NULL may come in, NULL."""
    choice = random.random()
    if depth and choice < 0.25:
        left, right = (sample_predicate(random, schema, depth - 1) for _ in range(2))
        return Logic(pick(random, ("AND", "OR")), left, right)
    if depth and choice < 0.33:
        return Not(sample_predicate(random, schema, depth - 1))
    columns = schema.columns
    if not columns:
        return Literal(BOOLEAN, random.random() < 0.5)
    column = pick(random, columns)
    operand: Expr = ColumnRef(column.name)
    if isinstance(column.type, ARRAY) or choice < 0.45:
        return IsNull(operand, negated=random.random() < 0.5)
    if column.type == BOOLEAN and choice < 0.7:
        return operand
    if column.type == VARCHAR and choice < 0.6:
        return Like(operand, pick(random, PATTERNS))
    if depth > 1 and choice < 0.7:
        operand = sample_expression(random, schema, column.type, 1)
    other = sample_expression(random, schema, column.type, 0)
    if other == operand:
        other = Literal(column.type, sample_value(random, column.type))
    if choice < 0.76:
        options = {other, Literal(column.type, sample_value(random, column.type))}
        return In(operand, tuple(sorted(options, key=str)))
    if choice < 0.82:
        return Distinct(pick(random, ("IS DISTINCT FROM", "IS NOT DISTINCT FROM")), operand, other)
    return Comparison(pick(random, COMPARISONS), operand, other)


def sample_expression(random: Random, schema: Schema, kind: Type, depth: int = 2) -> Expr:
    """A random expression of this type over the columns.

    >>> rows = Schema.parse("k BIGINT, s VARCHAR")
    >>> sample_expression(Random(1), rows, BIGINT).type_in(rows)
    BIGINT
    """
    if depth and random.random() < 0.7:
        return _operation(random, schema, kind, depth)
    names = [column.name for column in schema.columns if column.type == kind]
    if names and random.random() < 0.7:
        return ColumnRef(pick(random, names))
    return Literal(kind, None if random.random() < 0.1 else sample_value(random, kind))


def _operation(random: Random, schema: Schema, kind: Type, depth: int) -> Expr:
    def inner(of: Type) -> Expr:
        return sample_expression(random, schema, of, depth - 1)

    if random.random() < 0.25:
        if random.random() < 0.5:
            return Coalesce((inner(kind), inner(kind)))
        default = inner(kind) if random.random() < 0.7 else None
        return Case(((sample_predicate(random, schema, depth - 1), inner(kind)),), default)
    if isinstance(kind, ARRAY):
        return ArrayOf(tuple(inner(kind.element) for _ in range(1 + _below(random, 3))))
    if isinstance(kind, DECIMAL):
        return _decimal(random, kind, inner)
    if kind == BOOLEAN:
        return sample_predicate(random, schema, depth - 1)
    return pick(random, OPERATIONS[kind])(random, inner)


Inner = Callable[[Type], Expr]


def _decimal(random: Random, kind: DECIMAL, inner: Inner) -> Expr:
    """A cast of a BIGINT or of a sum, where the type has room for it."""
    if kind.precision - kind.scale < ROOM:
        return inner(kind)
    if random.random() < 0.5:
        return Cast(inner(BIGINT), kind)
    summand = DECIMAL(kind.precision - 1, kind.scale)  # a sum has one digit more
    return Arithmetic(pick(random, "+-"), Cast(inner(BIGINT), summand), inner(summand))


def _bigint_arithmetic(random: Random, inner: Inner) -> Expr:
    symbol = pick(random, "+-*%")
    right = inner(BIGINT) if symbol in "+-" else Literal(BIGINT, 1 + _below(random, 3))
    return Arithmetic(symbol, inner(BIGINT), right)


def _double_to_bigint(random: Random, inner: Inner) -> Expr:
    """Only where the DOUBLE is small: NaN and the infinities have no BIGINT."""
    value = inner(DOUBLE)
    small = Logic(
        "AND",
        Comparison(">=", value, Literal(DOUBLE, -1000.0)),
        Comparison("<=", value, Literal(DOUBLE, 1000.0)),
    )
    return Case(((small, Cast(value, BIGINT)),))


def _double_arithmetic(random: Random, inner: Inner) -> Expr:
    symbol = pick(random, "+-*/")
    right = inner(DOUBLE) if symbol in "+-" else Literal(DOUBLE, pick(random, (-2.0, 0.5, 4.0)))
    return Arithmetic(symbol, inner(DOUBLE), right)


def _call(function: str, *takes: Type) -> Callable[[Random, Inner], Expr]:
    return lambda random, inner: Call(function, tuple(map(inner, takes)))


def _with_small(
    function: str, takes: Type, small: Sequence[Value], kind: Type = BIGINT
) -> Callable[[Random, Inner], Expr]:
    """A call whose second argument is one of a few literals."""
    return lambda random, inner: Call(function, (inner(takes), Literal(kind, pick(random, small))))


def _trunc(kind: Type, units: Sequence[str]) -> Callable[[Random, Inner], Expr]:
    return lambda random, inner: DateTrunc(inner(kind), pick(random, units))


def _replace(random: Random, inner: Inner) -> Expr:
    old, new = (Literal(VARCHAR, pick(random, ("a", "b", "ab", ""))) for _ in range(2))
    return Call("replace", (inner(VARCHAR), old, new))


def _cast(source: Type, target: Type) -> Callable[[Random, Inner], Expr]:
    return lambda random, inner: Cast(inner(source), target)


OPERATIONS: Mapping[Type, Sequence[Callable[[Random, Inner], Expr]]] = {
    BIGINT: (
        _bigint_arithmetic,
        _bigint_arithmetic,
        lambda random, inner: Negative(inner(BIGINT)),
        _cast(BOOLEAN, BIGINT),
        _double_to_bigint,
        _call("length", VARCHAR),
        _call("year", DATE),
        _call("month", TIMESTAMP),
        _call("day", DATE),
        _call("hour", TIMESTAMP),
        _call("abs", BIGINT),
        _call("sign", BIGINT),
        _call("greatest", BIGINT, BIGINT),
        _call("least", BIGINT, BIGINT, BIGINT),
        _call("epoch_days", DATE),
        _call("position", VARCHAR, VARCHAR),
    ),
    DOUBLE: (
        _double_arithmetic,
        _double_arithmetic,
        lambda random, inner: Negative(inner(DOUBLE)),
        lambda random, inner: Arithmetic("/", inner(BIGINT), Literal(BIGINT, 4)),
        _cast(BIGINT, DOUBLE),
        _call("abs", DOUBLE),
        # not FLOOR, CEIL, ROUND: they make a 1 of the least error in an engine's sum
        _call("greatest", DOUBLE, DOUBLE),
    ),
    VARCHAR: (
        _call("lower", VARCHAR),
        _call("upper", VARCHAR),
        _call("concat", VARCHAR, VARCHAR),
        lambda random, inner: Substring(inner(VARCHAR), 1 + _below(random, 2), _below(random, 3)),
        _cast(BIGINT, VARCHAR),
        _cast(DATE, VARCHAR),
        _call("trim", VARCHAR),
        _call("least", VARCHAR, VARCHAR),
        _with_small("right", VARCHAR, (1, 2)),
        _replace,
    ),
    DATE: (
        _cast(TIMESTAMP, DATE),
        _with_small("add_days", DATE, (-1, 1, 31)),
        _with_small("add_months", DATE, (-1, 1, 12)),
        _trunc(DATE, DATE_UNITS),
    ),
    TIMESTAMP: (
        _cast(DATE, TIMESTAMP),
        _with_small("add_micros", TIMESTAMP, (-1, 3_600_000_000)),
        _trunc(TIMESTAMP, UNITS),
    ),
}


def pick(random: Random, choices: Sequence[T]) -> T:
    """`random.choice`, but three times as fast: the generator lives on it."""
    return choices[int(random.random() * len(choices))]


def _below(random: Random, bound: int) -> int:
    return int(random.random() * bound)
