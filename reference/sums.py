"""SUM and AVG are the exact sum, rounded once, so the order of the rows cannot matter.

A running sum of doubles drifts: 1e16 + 1 - 1e16 is 0 when rounded at each step. Here every
number is a whole multiple of a unit (1, 10^-scale, or 2^-1074, the smallest double), and
whole numbers form a group: what was added can be taken away. NaN and the infinities have
no multiple; their weights are counted instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from deltaproof.reference.errors import EvaluationError, RowError
from deltaproof.reference.types import (
    BIGINT_MAX,
    BIGINT_MIN,
    DECIMAL,
    DOUBLE,
    NAN,
    Type,
    Value,
    canonical_double,
)

DOUBLE_UNITS = 2**1074  # units in 1.0: the smallest double is 2**-1074
SPECIALS = (math.inf, -math.inf, NAN)


def in_64_bits(total: Any, what: object) -> Any:
    """The total, when 64 bits hold it. Raises EvaluationError naming what it is the total of.

    >>> in_64_bits(2**63, "sum(v)")
    Traceback (most recent call last):
    deltaproof.reference.errors.EvaluationError: sum(v) is 9223372036854775808: over 64 bits
    """
    if BIGINT_MIN <= total <= BIGINT_MAX:
        return total
    raise EvaluationError(f"{what} is {total}: over 64 bits")


def units_of(kind: Type) -> Callable[[Value], int]:
    """The function from a value of this type to its whole number of units.

    >>> from decimal import Decimal
    >>> units_of(DECIMAL(10, 2))(Decimal("1.50")), units_of(DOUBLE)(0.5) == DOUBLE_UNITS // 2
    (150, True)
    """
    if isinstance(kind, DECIMAL):
        return kind.units
    return double_units if kind == DOUBLE else lambda value: value


def unit_of(kind: Type) -> int:
    """How many of its units make 1."""
    if isinstance(kind, DECIMAL):
        ten: int = 10**kind.scale
        return ten
    return DOUBLE_UNITS if kind == DOUBLE else 1


def double_units(value: float) -> int:
    """A finite double as a whole number of 2^-1074."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * (DOUBLE_UNITS // denominator)


def sum_of_units(total: Any, kind: Type, what: object) -> Value:
    """The SUM that a total of units stands for. Raises EvaluationError when it does not fit."""
    if kind == DOUBLE:
        return divided(total, DOUBLE_UNITS)
    if isinstance(kind, DECIMAL):
        try:
            return DECIMAL(38, kind.scale).from_units(total)
        except RowError as error:
            raise EvaluationError(f"{what}: {error}") from None
    return in_64_bits(total, what)


def average_of_units(total: Any, weight: Any, kind: Type) -> Value:
    """The AVG that a total of units over this many values stands for, a DOUBLE."""
    if kind == DOUBLE:
        return divided(total, weight * DOUBLE_UNITS)
    return divided(total, weight * 10**kind.scale if isinstance(kind, DECIMAL) else weight)


def divided(numerator: Any, denominator: Any) -> float:
    """The quotient of two whole numbers as a double, rounded once; infinite when too large."""
    try:
        return canonical_double(numerator / denominator)
    except OverflowError:
        return math.inf if (numerator < 0) == (denominator < 0) else -math.inf


def root(value: float | None) -> float | None:
    """The square root, rounded once; of NULL it is NULL, of a number below zero NaN.

    >>> root(2.25), root(None), root(-1.0)
    (1.5, None, nan)
    """
    return value if value is None or value is NAN else math.sqrt(value) if value >= 0 else NAN


def weight_of_specials(given: Iterable[tuple[Value, Any]]) -> bool:
    """Whether +∞, −∞ or NaN has a weight other than zero."""
    special = dict.fromkeys(SPECIALS, 0)
    for value, weight in given:
        if value in special:
            special[value] += weight
    return any(special.values())


def special_total(plus: Any, minus: Any, nan: Any) -> float | None:
    """What weights of +∞, −∞ and NaN make of a sum; None when they leave it as it is.

    >>> special_total(1, 0, 0), special_total(1, 1, 0), special_total(0, 0, 0)
    (inf, nan, None)
    """
    rising, falling = plus > 0 or minus < 0, plus < 0 or minus > 0
    if nan or (rising and falling):
        return NAN
    return math.inf if rising else -math.inf if falling else None


def exact_sum(given: Iterable[tuple[Value, Any]], kind: Type, what: object) -> Value:
    """SUM of values with weights, from its definition.

    >>> exact_sum([(1e16, 1), (1.0, 1), (1e16, -1)], DOUBLE, "sum")
    1.0
    """
    special, total, _ = totals(given, kind)
    return sum_of_units(total, kind, what) if special is None else special


def exact_average(given: Iterable[tuple[Value, Any]], kind: Type) -> Value:
    """AVG of values with weights, from its definition; the weights' total must not be zero.

    >>> exact_average([(0.1, 3)], DOUBLE)
    0.1
    """
    special, total, weight = totals(given, kind)
    return average_of_units(total, weight, kind) if special is None else special


def totals(given: Iterable[tuple[Value, Any]], kind: Type) -> tuple[float | None, Any, Any]:
    """(what the specials make of the sum, units of the finite values, weight of all values)."""
    units = units_of(kind)
    total: Any = 0
    count: Any = 0
    special = dict.fromkeys(SPECIALS, 0)
    for value, weight in given:
        count = count + weight
        if kind == DOUBLE and value in special:
            special[value] += weight
        else:
            total = total + units(value) * weight
    plus, minus, nan = special.values()
    return (special_total(plus, minus, nan) if kind == DOUBLE else None), total, count
