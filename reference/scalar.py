"""A scalar expression is a value: the same tree is typed, run, printed, saved and compared.

    >>> from deltaproof.reference.types import Schema
    >>> late = (col("delay") > 15) & col("carrier").eq("UA")
    >>> print(late)
    delay > 15 AND carrier = 'UA'
    >>> flights = Schema.parse("carrier VARCHAR NOT NULL, delay BIGINT")
    >>> late.type_in(flights), late.nullable_in(flights)
    (BOOLEAN, True)
    >>> run = late.compile(flights)
    >>> run(("UA", 20)), run(("UA", 3)), run(("UA", None)), run(("AA", None))
    (True, False, None, False)

Here are the words in which expressions are written; `+ - * / %`, `< <= > >=`, `& | ~`, `.eq`,
`.ne`, `.is_null`, `.like` and their kin are methods of every expression. The trees that the
words build are in `scalar_tree`, what operations do with values in `scalar_closure`, random
expressions in `scalar_sample`.
"""

from __future__ import annotations

from typing import Any

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.scalar_functions import (
    ArrayOf,
    Call,
    Case,
    Cast,
    Coalesce,
    DateTrunc,
    In,
    Round,
    Substring,
)
from deltaproof.reference.scalar_json import from_json
from deltaproof.reference.scalar_sample import sample_expression, sample_predicate, sample_value
from deltaproof.reference.scalar_tree import (
    ColumnRef,
    Expr,
    Literal,
    Logic,
    as_expression,
    literal_of,
)
from deltaproof.reference.types import Type, parse_type

__all__ = [
    "Expr",
    "absolute",
    "add_days",
    "add_micros",
    "add_months",
    "array",
    "as_expression",
    "between",
    "cardinality",
    "case",
    "cast",
    "ceil",
    "coalesce",
    "col",
    "concat",
    "contains",
    "date_trunc",
    "day",
    "days_between",
    "element",
    "epoch_days",
    "epoch_micros",
    "floor",
    "from_json",
    "greatest",
    "hour",
    "if_",
    "is_false",
    "is_in",
    "is_true",
    "least",
    "left",
    "length",
    "lit",
    "lower",
    "ltrim",
    "minute",
    "month",
    "null",
    "nullif",
    "position",
    "replace",
    "right",
    "rounded",
    "rtrim",
    "sample_expression",
    "sample_predicate",
    "sample_value",
    "second",
    "sequence",
    "sign",
    "starts_with",
    "substring",
    "trim",
    "upper",
    "year",
]


def col(name: str) -> Expr:
    """The column of this name."""
    if not isinstance(name, str):
        raise SchemaError(f"col needs the name of a column, got {name!r}")
    return ColumnRef(name)


def lit(value: Any) -> Expr:
    """A value that is the same for every row; its SQL type is that of the Python value.

    >>> from decimal import Decimal
    >>> lit(3).to_json(), lit(Decimal("1.50")).to_json()
    (['lit', 'BIGINT', 3], ['lit', 'DECIMAL(3,2)', '1.50'])

    Raises SchemaError for a value that has no SQL type; NULL is written `null(BIGINT)`.
    """
    return literal_of(value)


def null(kind: Type) -> Expr:
    """NULL, of this type."""
    return Literal(_type(kind), None)


def case(*branches: tuple[Any, Any], default: Any = None) -> Expr:
    """The value of the first branch whose condition is TRUE, else the default, else NULL.

    >>> print(case((col("delay") > 15, "late"), default="on time"))
    CASE WHEN delay > 15 THEN 'late' ELSE 'on time' END
    """
    pairs = tuple((as_expression(when), as_expression(then)) for when, then in branches)
    return Case(pairs, None if default is None else as_expression(default))


def coalesce(*arguments: Any) -> Expr:
    """The first argument that is not NULL."""
    return Coalesce(tuple(map(as_expression, arguments)))


def cast(value: Any, kind: Type) -> Expr:
    """The value as another type, where no information needed to be guessed.

    BIGINT to DOUBLE, DECIMAL or VARCHAR; BOOLEAN to BIGINT or VARCHAR; DECIMAL to DOUBLE or
    VARCHAR, to a DECIMAL of no smaller scale, and without places to BIGINT; DATE to TIMESTAMP or
    VARCHAR; TIMESTAMP to DATE; DOUBLE to BIGINT, which truncates toward zero (engines round, or
    truncate: none is asked to guess); VARCHAR to BIGINT, DOUBLE, DECIMAL (rounded to its places),
    DATE and TIMESTAMP, where another text is an error.

    >>> from deltaproof.reference.types import BIGINT, Schema
    >>> cast(" -7 ", BIGINT).compile(Schema(()))(())
    -7
    """
    return Cast(as_expression(value), _type(kind))


def lower(text: Any) -> Expr:
    """A to Z become a to z.

    Only ASCII, by definition: beyond it engines differ with their Unicode tables and locales.
    """
    return _call("lower", text)


def upper(text: Any) -> Expr:
    """a to z become A to Z; only ASCII, as in `lower`."""
    return _call("upper", text)


def length(text: Any) -> Expr:
    """The number of code points."""
    return _call("length", text)


def concat(*texts: Any) -> Expr:
    """The texts one after the other; NULL when one is NULL."""
    return _call("concat", *texts)


def substring(text: Any, start: int, count: int) -> Expr:
    """At most `count` code points from position `start` on, which is 1 or more.

    >>> from deltaproof.reference.types import Schema
    >>> substring("abc", 2, 5).compile(Schema(()))(())
    'bc'
    """
    return Substring(as_expression(text), start, count)


def year(moment: Any) -> Expr:
    """The year of a DATE or TIMESTAMP, as BIGINT."""
    return _call("year", moment)


def month(moment: Any) -> Expr:
    """The month of a DATE or TIMESTAMP, 1 to 12."""
    return _call("month", moment)


def day(moment: Any) -> Expr:
    """The day of the month of a DATE or TIMESTAMP, 1 to 31."""
    return _call("day", moment)


def hour(moment: Any) -> Expr:
    """The hour of a TIMESTAMP, 0 to 23; `minute` and `second` likewise, whole seconds."""
    return _call("hour", moment)


def minute(moment: Any) -> Expr:
    """The minute of a TIMESTAMP, 0 to 59."""
    return _call("minute", moment)


def second(moment: Any) -> Expr:
    """The whole second of a TIMESTAMP, 0 to 59."""
    return _call("second", moment)


def date_trunc(unit: str, moment: Any) -> Expr:
    """The beginning of the year, quarter, month, week (Monday), day, hour, minute or second.

    >>> print(date_trunc("month", col("d")))
    DATE_TRUNC('month', d)
    """
    return DateTrunc(as_expression(moment), unit)


def epoch_days(date: Any) -> Expr:
    """The days of a DATE since 1970-01-01; `add_days(date(1970, 1, 1), n)` is the way back."""
    return _call("epoch_days", date)


def epoch_micros(moment: Any) -> Expr:
    """The microseconds of a TIMESTAMP since 1970-01-01."""
    return _call("epoch_micros", moment)


def add_days(date: Any, days: Any) -> Expr:
    """The DATE so many days later."""
    return _call("add_days", date, days)


def add_months(date: Any, months: Any) -> Expr:
    """The same day so many months later, or the last of that month where it has no such day."""
    return _call("add_months", date, months)


def add_micros(moment: Any, micros: Any) -> Expr:
    """The TIMESTAMP so many microseconds later."""
    return _call("add_micros", moment, micros)


def days_between(earlier: Any, later: Any) -> Expr:
    """The days from one DATE to another.

    >>> print(days_between(col("a"), col("b")))
    EPOCH_DAYS(b) - EPOCH_DAYS(a)
    """
    return epoch_days(later) - epoch_days(earlier)


# --- numbers ---


def absolute(number: Any) -> Expr:
    """ABS: an error for the least BIGINT, whose absolute value is none."""
    return _call("abs", number)


def sign(number: Any) -> Expr:
    """-1, 0 or 1 as BIGINT; NaN, which is above all numbers, has 1."""
    return _call("sign", number)


def floor(number: Any) -> Expr:
    """The greatest whole number that is not above it; a DECIMAL has no places then."""
    return _call("floor", number)


def ceil(number: Any) -> Expr:
    """The least whole number that is not below it."""
    return _call("ceil", number)


def rounded(number: Any, places: int = 0) -> Expr:
    """ROUND: the nearest with so many places, halfway away from zero; a DOUBLE to none."""
    return Round(as_expression(number), places)


def greatest(*values: Any) -> Expr:
    """The greatest of those that are not NULL; NULL when all are."""
    return _call("greatest", *values)


def least(*values: Any) -> Expr:
    """The least of those that are not NULL; NULL when all are."""
    return _call("least", *values)


# --- conditions ---


def nullif(value: Any, other: Any) -> Expr:
    """NULL where the two are equal, else the value.

    >>> print(nullif(col("a"), 0))
    CASE WHEN a IS DISTINCT FROM 0 THEN a END

    >>> from deltaproof.reference.types import Schema
    >>> nullif(col("a"), 0).compile(Schema.parse("a BIGINT"))((None,))
    """
    given = as_expression(value)
    return case((given.is_distinct_from(other), given))


def if_(condition: Any, then: Any, otherwise: Any = None) -> Expr:
    """The first where the condition is TRUE, else the second."""
    return case((condition, then), default=otherwise)


def is_true(condition: Any) -> Expr:
    """IS TRUE: FALSE of NULL. IS UNKNOWN is `.is_null()`."""
    return as_expression(condition).is_not_distinct_from(True)


def is_false(condition: Any) -> Expr:
    """IS FALSE: FALSE of NULL."""
    return as_expression(condition).is_not_distinct_from(False)


def between(value: Any, low: Any, high: Any) -> Expr:
    """BETWEEN, both ends included.

    >>> print(between(col("a"), 1, 3))
    a >= 1 AND a <= 3
    """
    given = as_expression(value)
    return Logic("AND", given >= low, given <= high)


def is_in(value: Any, *options: Any) -> Expr:
    """IN: TRUE when it is equal to one; else NULL when it, or one of them, is NULL.

    >>> print(is_in(col("a"), 1, 2))
    a IN (1, 2)
    """
    return In(as_expression(value), tuple(map(as_expression, options)))


# --- text ---


def trim(text: Any) -> Expr:
    """Without the spaces at both ends; only spaces, no other white space."""
    return _call("trim", text)


def ltrim(text: Any) -> Expr:
    """Without the spaces at the beginning."""
    return _call("ltrim", text)


def rtrim(text: Any) -> Expr:
    """Without the spaces at the end."""
    return _call("rtrim", text)


def replace(text: Any, old: Any, new: Any) -> Expr:
    """Every `old` in the text as `new`; as it was where `old` is empty."""
    return _call("replace", text, old, new)


def position(text: Any, part: Any) -> Expr:
    """The place of the first `part` in the text, from 1; 0 where there is none."""
    return _call("position", text, part)


def left(text: Any, count: int) -> Expr:
    """The first code points, which is a substring."""
    return substring(text, 1, count)


def right(text: Any, count: Any) -> Expr:
    """The last code points; none when the count is below 1."""
    return _call("right", text, count)


def starts_with(text: Any, prefix: Any) -> Expr:
    """Whether the text begins like this; every text begins with the empty one."""
    return _call("starts_with", text, prefix)


# --- arrays ---


def array(*elements: Any) -> Expr:
    """An array of these elements, all of one type.

    >>> print(array(col("a"), 1))
    ARRAY[a, 1]
    """
    return ArrayOf(tuple(map(as_expression, elements)))


def cardinality(values: Any) -> Expr:
    """The number of an array's elements, NULLs among them."""
    return _call("cardinality", values)


def element(values: Any, place: Any) -> Expr:
    """The element at a place, the first being 1; NULL where there is no such place."""
    return _call("element", values, place)


def contains(values: Any, value: Any) -> Expr:
    """Whether an element is equal to the value; NULL elements are equal to none."""
    return _call("contains", values, value)


def sequence(start: Any, stop: Any, step: Any = 1) -> Expr:
    """GENERATE_SERIES: start, start + step, … up to stop, which belongs to it.

    Empty where stop is on the other side. At most a million elements: more are an error.
    """
    return _call("sequence", start, stop, step)


def _call(function: str, *arguments: Any) -> Expr:
    return Call(function, tuple(map(as_expression, arguments)))


def _type(kind: Type) -> Type:
    if isinstance(kind, str):
        return parse_type(kind)
    if not isinstance(kind, Type):
        raise SchemaError(f"expected a type like BIGINT, got {kind!r}")
    return kind
