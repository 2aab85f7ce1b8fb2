"""The named functions: what each takes, gives, and does to values that are not NULL.

All are NULL when an argument is NULL, but for GREATEST and LEAST, which pass over NULLs, and
`element`, which is NULL where the array has no such place. Texts are counted in code points.
A function without a value for its arguments raises ArithmeticError; `Call` says on which row.

    numbers   abs sign floor ceil greatest least
    text      lower upper length concat trim ltrim rtrim replace position right starts_with
    time      year month day hour minute second epoch_days epoch_micros
              add_days add_months add_micros
    arrays    cardinality element contains sequence
"""

from __future__ import annotations

import calendar
import datetime
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BIGINT_MAX,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Type,
    Value,
    canonical_double,
)

Python: TypeAlias = Callable[..., Value]
Result: TypeAlias = Callable[[Sequence[Type]], Type | None]  # None: the types do not fit

MOST_ELEMENTS = 1_000_000  # of a sequence
EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
WIDE = Context(prec=100)


@dataclass(frozen=True)
class Function:
    """A named function of values.

    takes    its arguments as a reader sees them, for errors
    result   the type it gives for arguments of these types
    python   what it does, once the types are known
    nulls    what NULL among the arguments means: NULL, or that they are "skipped"; with "result"
             it may be NULL though no argument is
    partial  whether some values have no result
    """

    takes: str
    result: Result
    python: Callable[[Sequence[Type]], Python]
    nulls: str = "strict"
    partial: bool = False


def fixed(
    gives: Type, *takes: Type | tuple[Type, ...], python: Python, partial: bool = False
) -> Function:
    """A function of arguments of these types, each of one type or one of several."""
    choices = [each if isinstance(each, tuple) else (each,) for each in takes]

    def result(kinds: Sequence[Type]) -> Type | None:
        fits = len(kinds) == len(choices) and all(map(operator.contains, choices, kinds))
        return gives if fits else None

    listed = ", ".join(" or ".join(map(str, each)) for each in choices)
    return Function(listed, result, lambda kinds: python, partial=partial)


# --- numbers ---


def is_number(kind: Type) -> bool:
    return kind in (BIGINT, DOUBLE) or isinstance(kind, DECIMAL)


def one_number(kinds: Sequence[Type]) -> Type | None:
    return kinds[0] if len(kinds) == 1 and is_number(kinds[0]) else None


def whole_number(kinds: Sequence[Type]) -> Type | None:
    """The type of FLOOR and CEIL: a DECIMAL without places, which may have one digit more."""
    kind = one_number(kinds)
    if isinstance(kind, DECIMAL) and kind.scale:
        return DECIMAL(kind.precision - kind.scale + 1, 0)
    return kind


def absolute(kinds: Sequence[Type]) -> Python:
    return {BIGINT: bigint_absolute, DOUBLE: double_absolute}.get(kinds[0], Decimal.copy_abs)


def bigint_absolute(value: int) -> int:
    if (size := abs(value)) > BIGINT_MAX:
        raise OverflowError(f"{size} needs more than 64 bits")
    return size


def double_absolute(value: float) -> float:
    return canonical_double(abs(value))


def sign(kinds: Sequence[Type]) -> Python:
    """-1, 0 or 1; 1 of NaN, which is above all numbers."""
    if kinds[0] == DOUBLE:
        return lambda value: 0 if value == 0 else (-1 if value < 0 else 1)
    return lambda value: (value > 0) - (value < 0)


def rounded_to_whole(down: bool) -> Callable[[Sequence[Type]], Python]:
    mode, double = (ROUND_FLOOR, math.floor) if down else (ROUND_CEILING, math.ceil)

    def python(kinds: Sequence[Type]) -> Python:
        if kinds[0] == BIGINT:
            return lambda value: value
        if kinds[0] == DOUBLE:
            return lambda value: canonical_double(double(value) if math.isfinite(value) else value)
        return lambda value: decimal_zero(value.quantize(Decimal(1), mode, WIDE))

    return python


def decimal_zero(value: Decimal) -> Decimal:
    """Without the sign that a negative number leaves on zero."""
    return value or value.copy_abs()


def extreme(choose: Any) -> Function:
    """GREATEST and LEAST: of the arguments that are not NULL."""

    def result(kinds: Sequence[Type]) -> Type | None:
        same = len(set(kinds)) == 1 and not isinstance(kinds[0], ARRAY)
        return kinds[0] if same else None

    def python(kinds: Sequence[Type]) -> Python:
        order = kinds[0].order
        return lambda *values: choose(
            (value for value in values if value is not None), key=order, default=None
        )

    return Function("values of one type that has an order", result, python, "skipped")


# --- text ---

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {lower: upper for upper, lower in _LOWER.items()}


def ascii_lower(text: str) -> str:
    """A to Z become a to z; every other letter stays.

    >>> ascii_lower("ÀB")
    'Àb'
    """
    return text.lower() if text.isascii() else text.translate(_LOWER)


def ascii_upper(text: str) -> str:
    return text.upper() if text.isascii() else text.translate(_UPPER)


def replaced(text: str, old: str, new: str) -> str:
    """Every `old` as `new`; nothing is replaced where `old` is empty."""
    return text.replace(old, new) if old else text


def position(text: str, part: str) -> int:
    """The place of the first `part`, from 1; 0 where there is none.

    >>> position("abc", "c"), position("abc", "x"), position("abc", "")
    (3, 0, 1)
    """
    return text.find(part) + 1


def last_letters(text: str, count: int) -> str:
    """The last `count` code points; none when `count` is below 1."""
    return text[-count:] if count > 0 else ""


def concatenated(kinds: Sequence[Type]) -> Type | None:
    return VARCHAR if kinds and all(kind == VARCHAR for kind in kinds) else None


# --- time ---


def epoch_days(value: datetime.date) -> int:
    """Days since 1970-01-01."""
    return value.toordinal() - EPOCH.toordinal()


def epoch_micros(value: datetime.datetime) -> int:
    """Microseconds since 1970-01-01T00:00:00."""
    return (value - EPOCH) // MICROSECOND


def add_days(value: datetime.date, days: int) -> datetime.date:
    return dated(value.toordinal() + days, f"{value} and {days} days")


def dated(ordinal: int, what: str) -> datetime.date:
    if not 1 <= ordinal <= datetime.date.max.toordinal():
        raise OverflowError(f"{what}: expected a year from 1 to 9999")
    return datetime.date.fromordinal(ordinal)


def add_months(value: datetime.date, months: int) -> datetime.date:
    """The same day of a later month, or that month's last day where it has no such day.

    >>> add_months(datetime.date(2024, 1, 31), 1), add_months(datetime.date(2024, 3, 1), -13)
    (datetime.date(2024, 2, 29), datetime.date(2023, 2, 1))
    """
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"{value} and {months} months: expected a year from 1 to 9999")
    last = calendar.monthrange(year, month + 1)[1]
    return value.replace(year=year, month=month + 1, day=min(value.day, last))


def add_micros(value: datetime.datetime, micros: int) -> datetime.datetime:
    try:
        return value + micros * MICROSECOND
    except OverflowError:
        raise OverflowError(
            f"{value} and {micros} microseconds: expected a year from 1 to 9999"
        ) from None


# --- arrays ---


def cardinality_type(kinds: Sequence[Type]) -> Type | None:
    return BIGINT if len(kinds) == 1 and isinstance(kinds[0], ARRAY) else None


def element_type(kinds: Sequence[Type]) -> Type | None:
    match kinds:
        case [ARRAY(element), place] if place == BIGINT:
            return element
    return None


def element_at(array: tuple[Value, ...], place: int) -> Value:
    """The element at a place, from 1; NULL where there is no such place.

    >>> element_at((7, 8), 1), element_at((7, 8), 3), element_at((7, 8), 0)
    (7, None, None)
    """
    return array[place - 1] if 1 <= place <= len(array) else None


def contains_type(kinds: Sequence[Type]) -> Type | None:
    match kinds:
        case [ARRAY(element), kind] if kind == element and not isinstance(kind, ARRAY):
            return BOOLEAN
    return None


def sequence(start: int, stop: int, step: int = 1) -> tuple[Value, ...]:
    """start, start + step, … up to stop, which belongs to it; empty when stop is behind start.

    >>> sequence(1, 3), sequence(3, 1), sequence(5, 1, -2)
    ((1, 2, 3), (), (5, 3, 1))
    """
    if step == 0:
        raise ArithmeticError("a sequence needs a step that is not 0")
    number = max(0, (stop - start) // step + 1)
    if number > MOST_ELEMENTS:
        raise OverflowError(f"a sequence of {number} elements: at most {MOST_ELEMENTS}")
    return tuple(start + step * n for n in range(number))


def sequence_type(kinds: Sequence[Type]) -> Type | None:
    fits = len(kinds) in (2, 3) and all(kind == BIGINT for kind in kinds)
    return ARRAY(BIGINT) if fits else None


def always(python: Python) -> Callable[[Sequence[Type]], Python]:
    return lambda kinds: python


def field(name: str) -> Python:
    return operator.attrgetter(name)


MOMENT = (DATE, TIMESTAMP)
FUNCTIONS: Mapping[str, Function] = {
    "abs": Function("a number", one_number, absolute, partial=True),
    "sign": Function("a number", lambda kinds: one_number(kinds) and BIGINT, sign),
    "floor": Function("a number", whole_number, rounded_to_whole(down=True)),
    "ceil": Function("a number", whole_number, rounded_to_whole(down=False)),
    "greatest": extreme(max),
    "least": extreme(min),
    "lower": fixed(VARCHAR, VARCHAR, python=ascii_lower),
    "upper": fixed(VARCHAR, VARCHAR, python=ascii_upper),
    "length": fixed(BIGINT, VARCHAR, python=len),
    "concat": Function("VARCHARs", concatenated, always(lambda *texts: "".join(texts))),
    "trim": fixed(VARCHAR, VARCHAR, python=lambda text: text.strip(" ")),
    "ltrim": fixed(VARCHAR, VARCHAR, python=lambda text: text.lstrip(" ")),
    "rtrim": fixed(VARCHAR, VARCHAR, python=lambda text: text.rstrip(" ")),
    "replace": fixed(VARCHAR, VARCHAR, VARCHAR, VARCHAR, python=replaced),
    "position": fixed(BIGINT, VARCHAR, VARCHAR, python=position),
    "right": fixed(VARCHAR, VARCHAR, BIGINT, python=last_letters),
    "starts_with": fixed(BOOLEAN, VARCHAR, VARCHAR, python=str.startswith),
    "year": fixed(BIGINT, MOMENT, python=field("year")),
    "month": fixed(BIGINT, MOMENT, python=field("month")),
    "day": fixed(BIGINT, MOMENT, python=field("day")),
    "hour": fixed(BIGINT, TIMESTAMP, python=field("hour")),
    "minute": fixed(BIGINT, TIMESTAMP, python=field("minute")),
    "second": fixed(BIGINT, TIMESTAMP, python=field("second")),
    "epoch_days": fixed(BIGINT, DATE, python=epoch_days),
    "epoch_micros": fixed(BIGINT, TIMESTAMP, python=epoch_micros),
    "add_days": fixed(DATE, DATE, BIGINT, python=add_days, partial=True),
    "add_months": fixed(DATE, DATE, BIGINT, python=add_months, partial=True),
    "add_micros": fixed(TIMESTAMP, TIMESTAMP, BIGINT, python=add_micros, partial=True),
    "cardinality": Function("an ARRAY", cardinality_type, always(len)),
    "element": Function("an ARRAY, BIGINT", element_type, always(element_at), "result"),
    "contains": Function("an ARRAY, one of its elements", contains_type, always(operator.contains)),
    "sequence": Function("2 or 3 BIGINTs", sequence_type, always(sequence), partial=True),
}
