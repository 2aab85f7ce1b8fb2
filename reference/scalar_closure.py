"""What an operation does with values, as closures over a row, without the tree above it.

NULL, NaN and 64 bits behave as they do because of the functions here and nowhere else:

    strict          one NULL operand makes the result NULL; `strict_one`, `strict_two`, `strict_all`
    three-valued    FALSE AND NULL is FALSE, TRUE OR NULL is TRUE: `both`, `either`
    DOUBLE          NaN equals itself and is above all others: `DOUBLE_ORDER`
    BIGINT          a result outside 64 bits is an error, never a wrapped number
    DECIMAL         exact

An operand says beforehand whether it is a column or a literal and whether it may be NULL, so
the common forms (`column < literal`) become one closure instead of three. Operands are
evaluated from left to right, and only until the result is known.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, TypeAlias

from deltaproof.reference.errors import EvaluationError, RowError
from deltaproof.reference.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Row,
    Type,
    Value,
    canonical_double,
)

Closure: TypeAlias = Callable[[Row], Value]

EXACT = Context(prec=100)  # a product of two DECIMALs has at most 76 digits


@dataclass(frozen=True)
class Operand:
    """A closure and what is known of it before any row is: a place, a constant, never NULL."""

    closure: Closure
    nullable: bool = True
    position: int | None = None
    constant: tuple[Value, ...] = ()  # a tuple of the one value, empty when it depends on the row

    @classmethod
    def column(cls, position: int, nullable: bool) -> Operand:
        return cls(operator.itemgetter(position), nullable, position)

    @classmethod
    def literal(cls, value: Value) -> Operand:
        return cls(lambda row: value, value is None, None, (value,))


# --- NULL in, NULL out ---


def strict_one(function: Callable[[Any], Value], operand: Operand) -> Closure:
    """The function of one operand, NULL for NULL.

    >>> strict_one(abs, Operand.column(0, nullable=True))((-3,))
    3
    >>> strict_one(abs, Operand.column(0, nullable=True))((None,))
    """
    inner, position = operand.closure, operand.position
    if not operand.nullable:
        return lambda row: function(inner(row))
    if position is not None:
        return lambda row: None if (value := row[position]) is None else function(value)
    return lambda row: None if (value := inner(row)) is None else function(value)


def strict_two(function: Callable[[Any, Any], Value], left: Operand, right: Operand) -> Closure:
    """The function of two operands, NULL when either is."""
    nullable = left.nullable or right.nullable
    if left.position is not None:
        if right.constant and right.constant != (None,):
            return _column_constant(function, left.position, right.constant[0], nullable)
        if right.position is not None:
            return _column_column(function, left.position, right.position, nullable)
    first, second = left.closure, right.closure
    if not nullable:
        return lambda row: function(first(row), second(row))

    def strict(row: Row) -> Value:
        a = first(row)
        if a is None:
            return None
        b = second(row)
        return None if b is None else function(a, b)

    return strict


def _column_constant(
    function: Callable[[Any, Any], Value], position: int, constant: Value, nullable: bool
) -> Closure:
    if not nullable:
        return lambda row: function(row[position], constant)
    return lambda row: None if (value := row[position]) is None else function(value, constant)


def _column_column(
    function: Callable[[Any, Any], Value], left: int, right: int, nullable: bool
) -> Closure:
    if not nullable:
        return lambda row: function(row[left], row[right])

    def strict(row: Row) -> Value:
        a = row[left]
        b = row[right]
        return None if a is None or b is None else function(a, b)

    return strict


def strict_all(function: Callable[..., Value], operands: Sequence[Operand]) -> Closure:
    """The function of any number of operands, NULL when one of them is."""
    closures = [operand.closure for operand in operands]

    def strict(row: Row) -> Value:
        values = [closure(row) for closure in closures]
        return None if None in values else function(*values)

    return strict


# --- three-valued logic ---


def both(left: Operand, right: Operand) -> Closure:
    """AND: FALSE when one is FALSE, else NULL when one is NULL."""
    first, second = left.closure, right.closure
    if not left.nullable:
        return lambda row: first(row) and second(row)

    def conjunction(row: Row) -> Value:
        a = first(row)
        if a is False:
            return False
        b = second(row)
        return b if a or b is False else None

    return conjunction


def either(left: Operand, right: Operand) -> Closure:
    """OR: TRUE when one is TRUE, else NULL when one is NULL."""
    first, second = left.closure, right.closure
    if not left.nullable:
        return lambda row: first(row) or second(row)

    def disjunction(row: Row) -> Value:
        a = first(row)
        if a is True:
            return True
        b = second(row)
        return b if a is False or b is True else None

    return disjunction


def choose(branches: Sequence[tuple[Closure, Closure]], default: Closure) -> Closure:
    """CASE: the value of the first branch whose condition is TRUE."""

    def chosen(row: Row) -> Value:
        for condition, value in branches:
            if condition(row):
                return value(row)
        return default(row)

    return chosen


def first_not_null(closures: Sequence[Closure]) -> Closure:
    def first(row: Row) -> Value:
        for closure in closures:
            value = closure(row)
            if value is not None:
                return value
        return None

    return first


# --- comparison ---


def _double_equal(a: float, b: float) -> bool:
    return a == b or a is b  # there is one NaN object


def _double_less(a: float, b: float) -> bool:
    return a < b or (b is NAN and a is not NAN)


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
DOUBLE_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "=": _double_equal,
    "<>": lambda a, b: not _double_equal(a, b),
    "<": _double_less,
    "<=": lambda a, b: a <= b or b is NAN,
    ">": lambda a, b: _double_less(b, a),
    ">=": lambda a, b: a >= b or a is NAN,
}
# against a number that is not NaN: a NaN is above it, so "above" is "not at most"
DOUBLE_AGAINST_NUMBER: Mapping[str, Callable[[float, float], bool]] = {
    **COMPARISONS,
    ">": lambda a, b: not a <= b,
    ">=": lambda a, b: not a < b,
}


def distinct(left: Operand, right: Operand, negated: bool, equal: Callable[..., bool]) -> Closure:
    """IS DISTINCT FROM, or IS NOT DISTINCT FROM when negated: NULL is a value like any other."""
    first, second = left.closure, right.closure

    def differs(row: Row) -> bool:
        a, b = first(row), second(row)
        if a is None or b is None:
            return (a is b) is negated
        return equal(a, b) is negated

    return differs


# --- arithmetic ---

ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
DECIMAL_ARITHMETIC: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
}


def double_divide(a: float, b: float) -> float:
    """The quotient as DOUBLE, of two DOUBLEs or of two BIGINTs cast to DOUBLE first."""
    if b == 0:
        raise ZeroDivisionError("division by zero")
    return float(a) / float(b)


def bigint_modulo(a: int, b: int) -> int:
    """The remainder of the division truncated toward zero: it has the sign of the dividend.

    >>> bigint_modulo(-7, 3), bigint_modulo(7, -3)
    (-1, 1)
    """
    if b == 0:
        raise ZeroDivisionError("modulo by zero")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def bigint_result(closure: Closure, expression: object) -> Closure:
    """The closure, refusing a result outside 64 bits."""

    def checked(row: Row) -> Value:
        value = closure(row)
        if value is None or BIGINT_MIN <= value <= BIGINT_MAX:
            return value
        raise EvaluationError(f"{expression}: {value} needs more than 64 bits, on row {row!r}")

    return checked


def double_result(closure: Closure) -> Closure:
    """The closure with one NaN and no negative zero."""

    def canonical(row: Row) -> Value:
        value = closure(row)
        return None if value is None else canonical_double(value)

    return canonical


def decimal_result(closure: Closure, kind: DECIMAL, expression: object) -> Closure:
    """The closure, refusing more digits than the type has; a zero has no sign."""
    zero, limit = kind.from_units(0), Decimal(10 ** (kind.precision - kind.scale))

    def checked(row: Row) -> Value:
        value = closure(row)
        if value is None or -limit < value < limit:
            return value if value or value is None else zero
        raise EvaluationError(f"{expression}: {value} does not fit {kind}, on row {row!r}")

    return checked


def guarded(closure: Closure, expression: object) -> Closure:
    """The closure, its arithmetic errors naming the expression and the row."""

    def guard(row: Row) -> Value:
        try:
            return closure(row)
        except ArithmeticError as error:
            raise EvaluationError(f"{expression}: {error}, on row {row!r}") from None

    return guard


def decimal_rounded(places: int) -> Callable[[Decimal], Decimal]:
    """The nearest DECIMAL with so many places; halfway away from zero."""
    unit = Decimal(1).scaleb(-places)

    def rounded(value: Decimal) -> Decimal:
        nearest = value.quantize(unit, ROUND_HALF_UP, EXACT)
        return nearest or nearest.copy_abs()

    return rounded


def double_rounded(value: float) -> float:
    """The nearest whole number; halfway away from zero.

    >>> double_rounded(-2.5), double_rounded(0.49999999999999994)
    (-3.0, 0.0)
    """
    if not math.isfinite(value):
        return value
    size = abs(value)
    below = math.floor(size)
    whole = below + (size - below >= 0.5)  # the difference is exact
    return canonical_double(math.copysign(whole, value))


# --- time ---


def beginning(unit: str, timestamp: bool) -> Callable[[Any], Any]:
    """The function to the beginning of the year, month, … of a date or timestamp.

    >>> beginning("week", timestamp=False)(datetime.date(2024, 3, 3))
    datetime.date(2024, 2, 26)
    """
    if unit in ("hour", "minute", "second"):
        below = {"hour": ("minute", "second"), "minute": ("second",)}.get(unit, ())
        zeros = dict.fromkeys((*below, "microsecond"), 0)
        return lambda moment: moment.replace(**zeros)
    first = FIRST_DAYS[unit]
    if not timestamp:
        return first
    return lambda moment: date_to_timestamp(first(moment.date()))


FIRST_DAYS: Mapping[str, Callable[[datetime.date], datetime.date]] = {
    "year": lambda date: date.replace(month=1, day=1),
    "quarter": lambda date: date.replace(month=(date.month - 1) // 3 * 3 + 1, day=1),
    "month": lambda date: date.replace(day=1),
    "week": lambda date: date - datetime.timedelta(days=date.weekday()),
    "day": lambda date: date,
}


# --- membership ---


def one_of(options: Sequence[Value]) -> Callable[[Value], bool | None]:
    """Whether a value is among these; unknown where it is not, and NULL is among them.

    >>> one_of([1, 2])(3), one_of([1, None])(1), one_of([1, None])(3)
    (False, True, None)
    """
    known = frozenset(option for option in options if option is not None)
    otherwise = None if None in options else False
    return lambda value: True if value in known else otherwise


# --- text ---


def like_matcher(pattern: str) -> Callable[[str], bool]:
    """LIKE: % stands for any text, _ for one code point, all else for itself.

    >>> like_matcher("a%_")("a"), like_matcher("a%_")("abc")
    (False, True)
    """
    inner = pattern.strip("%")
    if "_" in inner or "%" in inner:
        wild = {"%": ".*", "_": "."}
        expression = re.compile("".join(wild.get(c, re.escape(c)) for c in pattern), re.DOTALL)
        return lambda text: expression.fullmatch(text) is not None
    before, after = pattern.startswith("%"), pattern.endswith("%")
    if before and after:
        return lambda text: inner in text
    if after:
        return lambda text: text.startswith(inner)
    if before:
        return lambda text: text.endswith(inner)
    return lambda text: text == inner


# --- casts ---


def double_to_bigint(value: float) -> int:
    """Truncates toward zero. Raises OverflowError for NaN, infinities and more than 64 bits."""
    if not -(2.0**63) <= value < 2.0**63:
        raise OverflowError(f"{value} has no BIGINT")
    return int(value)


def bigint_to_decimal(kind: DECIMAL) -> Callable[[int], Decimal]:
    factor = 10**kind.scale
    return lambda value: _fitting(kind, value * factor)


def decimal_to_decimal(kind: DECIMAL) -> Callable[[Decimal], Decimal]:
    return lambda value: _fitting(kind, kind.units(value))


def _fitting(kind: DECIMAL, units: int) -> Decimal:
    try:
        return kind.from_units(units)
    except RowError as error:
        raise OverflowError(str(error)) from None


def date_to_timestamp(value: datetime.date) -> datetime.datetime:
    return datetime.datetime(value.year, value.month, value.day)


def decimal_to_double(value: Decimal) -> float:
    return canonical_double(float(value))


def bigint_of(text: str) -> int:
    """The number that is written here, spaces around it aside. Raises ArithmeticError."""
    number = int(_written(BIGINT, WHOLE, text))
    if not BIGINT_MIN <= number <= BIGINT_MAX:
        raise OverflowError(f"{text!r} needs more than 64 bits")
    return number


def double_of(text: str) -> float:
    return canonical_double(float(_written(DOUBLE, DOUBLES, text)))


def text_to_decimal(kind: DECIMAL) -> Callable[[str], Decimal]:
    """What has more places than the type is rounded, halfway away from zero."""
    unit = Decimal(1).scaleb(-kind.scale)

    def decimal_of(text: str) -> Decimal:
        number = Decimal(_written(kind, NUMBER, text))
        if number and number.adjusted() >= kind.precision:
            raise OverflowError(f"{text!r} does not fit {kind}")
        return _fitting(kind, kind.units(number.quantize(unit, ROUND_HALF_UP, EXACT)))

    return decimal_of


def date_of(text: str) -> Value:
    return _moment(DATE, _written(DATE, DAY, text), text)


def timestamp_of(text: str) -> Value:
    """A date, or a date and a time of day with at most six decimal places."""
    found = _written(TIMESTAMP, MOMENT, text).replace(" ", "T")
    day, _, clock = found.partition("T")
    seconds, _, places = (clock or "00:00:00").partition(".")
    return _moment(TIMESTAMP, f"{day}T{seconds}.{places:0<6}", text)


def _moment(kind: Type, written: str, text: str) -> Value:
    try:
        return kind.from_json(written)
    except RowError:
        raise ArithmeticError(f"{text!r} is no {kind}") from None


def _written(kind: Type, pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(inner := text.strip(" ")) is None:
        raise ArithmeticError(f"{text!r} is no {kind}")
    return inner


WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
DOUBLES = re.compile(rf"{NUMBER.pattern}|nan|[+-]?inf(inity)?", re.IGNORECASE)
DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOMENT = re.compile(DAY.pattern + r"([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?")


def boolean_to_text(value: bool) -> str:
    return "true" if value else "false"


CASTS: Mapping[tuple[Type, Type], Callable[[Any], Value]] = {
    (BIGINT, DOUBLE): float,
    (BIGINT, VARCHAR): str,
    (BOOLEAN, BIGINT): int,
    (DATE, TIMESTAMP): date_to_timestamp,
    (DATE, VARCHAR): datetime.date.isoformat,
    (TIMESTAMP, DATE): datetime.datetime.date,
    (DOUBLE, BIGINT): double_to_bigint,
    (BOOLEAN, VARCHAR): boolean_to_text,
    (VARCHAR, BIGINT): bigint_of,
    (VARCHAR, DOUBLE): double_of,
    (VARCHAR, DATE): date_of,
    (VARCHAR, TIMESTAMP): timestamp_of,
}
CASTS_ALLOWED = (
    "allowed are "
    + ", ".join(f"{source} to {target}" for source, target in CASTS)
    + ", BIGINT and VARCHAR to DECIMAL, DECIMAL to DOUBLE and VARCHAR, DECIMAL to a DECIMAL of no "
    "smaller scale, DECIMAL without places to BIGINT (round it first)"
)


def cast_function(source: Type, target: Type) -> Callable[[Any], Value] | None:
    """What a cast does to a value that is not NULL; None when there is no such cast."""
    if isinstance(target, DECIMAL):
        if source == BIGINT:
            return bigint_to_decimal(target)
        if source == VARCHAR:
            return text_to_decimal(target)
        if isinstance(source, DECIMAL) and source.scale <= target.scale and source != target:
            return decimal_to_decimal(target)
    if isinstance(source, DECIMAL):
        return casts_of_decimal(source).get(target)
    return CASTS.get((source, target))


def casts_of_decimal(source: DECIMAL) -> Mapping[Type, Callable[[Any], Value]]:
    casts: dict[Type, Callable[[Any], Value]] = {
        DOUBLE: decimal_to_double,
        VARCHAR: lambda value: f"{value:f}",
    }
    return casts if source.scale else {**casts, BIGINT: decimal_to_bigint}


def decimal_to_bigint(value: Decimal) -> int:
    number = int(value)
    if not BIGINT_MIN <= number <= BIGINT_MAX:
        raise OverflowError(f"{value} needs more than 64 bits")
    return number
