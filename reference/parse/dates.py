"""Moments and intervals: constant ones are computed, others become date functions.

As in the standard, a DATE that is moved by days or months stays a DATE.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.parse.types import arithmetic
from deltaproof.reference.parse.types import constant as constant_of
from deltaproof.reference.scalar import (
    Expr,
    add_days,
    add_micros,
    add_months,
    days_between,
    epoch_days,
)
from deltaproof.reference.scalar_functions import Cast
from deltaproof.reference.scalar_tree import Literal, Negative
from deltaproof.reference.types import BIGINT, DATE, TIMESTAMP, VARCHAR

if TYPE_CHECKING:
    from deltaproof.reference.parse.scalars import Scalars

DAYS = {"DAY": 1, "WEEK": 7}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
MICROS = {
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
DAY = 24 * MICROS["HOUR"]
NAMED = {f"TO_{unit}S": unit for unit in (*DAYS, *MONTHS, *MICROS)}  # DuckDB


def added(scalars: Scalars, node: exp.Binary) -> Expr:
    """moment ± interval, date ± days, date - date, or a sum of numbers; each side is read once."""
    sign = 1 if isinstance(node, exp.Add) else -1
    left, right = node.left, node.right
    if sign == 1 and is_interval(left):
        left, right = right, left
    if is_interval(right):
        amount, unit = interval_of(scalars, right)
        value = scalars.read(left)
        if isinstance(value, Literal) and value.type == VARCHAR and value.value is not None:
            raise scalars.block.refusal(node, "a text is no moment", f"write DATE {value}")
        return moved(scalars, node, value, amount, sign, unit)
    first, second = scalars.read(left), scalars.read(right)
    kinds = [scalars.type_of(value) for value in (first, second)]
    if kinds == [DATE, DATE] and sign == -1:
        return days_from(second, first)
    if kinds == [BIGINT, DATE] and sign == 1:
        return moved(scalars, node, second, first, sign, "DAY")
    if kinds == [DATE, BIGINT]:
        return moved(scalars, node, first, second, sign, "DAY")
    return arithmetic("+" if sign == 1 else "-", first, second, scalars.block.schema)


def days_from(earlier: Expr, later: Expr) -> Expr:
    """The days between two dates; from 1970-01-01 they have a function of their own."""
    if earlier == Literal(DATE, datetime.date(1970, 1, 1)):
        return epoch_days(later)
    return days_between(earlier, later)


def is_interval(node: exp.Expr) -> bool:
    """Whether it is an interval: INTERVAL '3' MONTH, n * INTERVAL '1' MONTH, TO_MONTHS(n)."""
    bare = node.unnest()
    if isinstance(bare, exp.Mul):
        return is_interval(bare.left) or is_interval(bare.right)
    return isinstance(bare, exp.Interval) or (
        isinstance(bare, exp.Anonymous) and bare.name.upper() in NAMED
    )


def interval_of(scalars: Scalars, node: exp.Expr) -> tuple[Expr, str]:
    """How many of which unit."""
    interval = node.unnest()
    if isinstance(interval, exp.Anonymous):
        argument = interval.expressions[0]
        if isinstance(argument, exp.Cast):  # to the width that the function takes
            argument = argument.this
        return scalars.read(argument), NAMED[interval.name.upper()]
    if isinstance(interval, exp.Mul):
        sides = [interval.left, interval.right]
        if is_interval(sides[0]):
            sides.reverse()
        amount, unit = interval_of(scalars, sides[1])
        number = scalars.read(sides[0])
        return (number if amount == Literal(BIGINT, 1) else number * amount), unit
    unit_node = interval.args.get("unit")
    word = ""
    if unit_node is not None:
        word = unit_node.name if isinstance(unit_node, exp.Var) else type(unit_node).__name__
    number = scalars.read(interval.this)
    if isinstance(number, Literal) and isinstance(number.value, str):
        text, _, rest = number.value.strip().partition(" ")
        try:
            number = Literal(BIGINT, int(text))
        except ValueError:
            raise scalars.block.refusal(
                interval, "an interval is a whole number of one unit", "write INTERVAL '3' MONTH"
            ) from None
        word = rest.strip() or word
    word = word.upper().removesuffix("S")
    if word not in {*DAYS, *MONTHS, *MICROS}:
        raise scalars.block.refusal(interval, f"no interval of unit {word or 'none'!r}")
    return number, word


def moved(
    scalars: Scalars, node: exp.Expr, moment: Expr, amount: Expr, sign: int, unit: str
) -> Expr:
    """The moment so many units later, or earlier where the sign is negative."""
    kind, amount = scalars.type_of(moment), constant_of(amount)
    if kind not in (DATE, TIMESTAMP):
        raise scalars.block.refusal(node, f"an interval is added to a moment, not to {kind}")
    if isinstance(moment, Literal) and isinstance(amount, Literal):
        return constant(moment, sign * amount.value, unit)
    if unit in MONTHS:
        if kind == TIMESTAMP:
            raise scalars.block.refusal(node, "months are added to a DATE", "cast it to DATE first")
        return add_months(moment, scaled(amount, sign * MONTHS[unit]))
    if unit in DAYS and kind == DATE:
        return add_days(moment, scaled(amount, sign * DAYS[unit]))
    later = scaled(amount, sign * (MICROS.get(unit) or DAYS[unit] * DAY))
    return add_micros(moment if kind == TIMESTAMP else Cast(moment, TIMESTAMP), later)


def scaled(amount: Expr, factor: int) -> Expr:
    if isinstance(amount, Literal):
        return Literal(BIGINT, amount.value * factor)
    if factor == -1:
        return Negative(amount)
    return amount if factor == 1 else amount * factor


def constant(moment: Literal, amount: int, unit: str) -> Literal:
    """The moment itself, computed: a month later is the same day, or the month's last.

    >>> print(constant(Literal(DATE, datetime.date(2024, 1, 31)), 1, "MONTH"))
    DATE '2024-02-29'
    """
    value = moment.value
    if value is None:
        return moment
    try:
        if unit in DAYS:
            return Literal(moment.type, value + datetime.timedelta(days=amount * DAYS[unit]))
        if unit in MICROS:
            if moment.type == DATE:
                value = datetime.datetime(value.year, value.month, value.day)
            delta = datetime.timedelta(microseconds=amount * MICROS[unit])
            return Literal(TIMESTAMP, value + delta)
        months = value.year * 12 + value.month - 1 + amount * MONTHS[unit]
        year, month = divmod(months, 12)
        first = datetime.date(year, month + 1, 1)
        following = datetime.date(year + month // 11, (month + 1) % 12 + 1, 1)
        last = (following - first).days
        day = min(value.day, last)
        return Literal(moment.type, value.replace(year=year, month=month + 1, day=day))
    except (OverflowError, ValueError):
        raise SchemaError(f"{moment} and {amount} {unit} is outside the years 1 to 9999") from None
