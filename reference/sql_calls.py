"""Prints the named functions, ROUND, DATE_TRUNC and IN in the words of each engine.

What is one word everywhere is printed as that word. Elsewhere an engine's own word means
something else, gives another type, or is missing, and others are chosen: SQLite's times are
text, Spark's FLOOR gives a BIGINT and its SEQUENCE runs backwards, DuckDB's TRIM takes every
kind of space, Postgres rounds DOUBLEs to even.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from deltaproof.reference.scalar_functions import Call, DateTrunc, Round
from deltaproof.reference.scalar_tree import Arithmetic, Expr, Literal
from deltaproof.reference.types import BIGINT, DATE, DECIMAL, DOUBLE, TIMESTAMP, Type

if TYPE_CHECKING:
    from deltaproof.reference.sql_scalar import ScalarPrinter

ASCII_UPPER, ASCII_LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
FIRST_DAY = "1970-01-01"
ALL_ARE_WHOLE = "4503599627370496.0"  # from 2^52 on no DOUBLE has a fraction

Trees = Sequence[exp.Expr]


# --- small words ---


def function(name: str, *arguments: exp.Expr | str | int) -> exp.Anonymous:
    """A call by its name, which sqlglot leaves as it is."""
    return exp.Anonymous(this=name, expressions=[tree_of(each).copy() for each in arguments])


def tree_of(value: exp.Expr | str | int) -> exp.Expr:
    """A tree as it is, a text as a string, a number as a number."""
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int):
        return negative(exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)
    return value


def negative(value: exp.Expr) -> exp.Expr:
    return exp.Neg(this=enclosed(value))


def enclosed(value: exp.Expr, loose: Any = (exp.Binary, exp.Not, exp.Neg)) -> exp.Expr:
    """The operand, in parentheses if it is one of these operations."""
    return exp.Paren(this=value) if isinstance(value, loose) else value


def binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr | str | int) -> exp.Expr:
    return kind(this=enclosed(left.copy()), expression=enclosed(tree_of(right).copy()))


def plus(left: exp.Expr, right: exp.Expr | str | int) -> exp.Expr:
    return binary(exp.Add, left, right)


def joined(left: exp.Expr, right: exp.Expr | str) -> exp.Expr:
    return binary(exp.DPipe, left, right)


def at_least(left: exp.Expr, right: exp.Expr | int) -> exp.Expr:
    return binary(exp.GTE, left, right)


def decimal(text: str) -> exp.Expr:
    return exp.Literal(this=text, is_string=False)


def when(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Case:
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=default)


def interval(count: str, unit: str) -> exp.Expr:
    return exp.Interval(this=exp.Literal.string(count), unit=exp.Var(this=unit))


# --- the functions ---


def call_tree(call: Call, printer: ScalarPrinter) -> exp.Expr:
    """The call in the printer's dialect. Raises SchemaError where it has no word for it."""
    arguments = [printer(argument) for argument in call.arguments]
    return PRINTED[call.function](printer, call, arguments)


def letters(function_: type[exp.Func], these: str, become: str) -> Printed:
    """LOWER, UPPER for ASCII only, as everywhere here."""

    def printed(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
        if printer.dialect in ("sqlite", "ansi"):
            return function_(this=arguments[0])
        return function("TRANSLATE", arguments[0], these, become)

    return printed


def length(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    return printer.bigint(exp.Length(this=arguments[0]))


def concat(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    return reduce(lambda a, b: exp.DPipe(this=a, expression=b), arguments)


def word(name: str, **others: str) -> Printed:
    """A function that is one word everywhere, in some dialects another one."""
    return lambda printer, call, arguments: function(others.get(printer.dialect, name), *arguments)


def sign(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    """Written out for DOUBLEs: engines give NaN, 0 or an error for NaN."""
    (value,) = arguments
    if call.arguments[0].type_in(printer.schema) != DOUBLE:
        result = function("SIGN", value)
        return result if printer.dialect == "sqlite" else printer.cast(result, BIGINT)
    one, minus, none = (printer.literal(Literal(BIGINT, number)) for number in (1, -1, 0))
    return when(
        (binary(exp.GT, value, 0), one),
        (binary(exp.LT, value, 0), minus),
        (binary(exp.EQ, value, 0), none),
    )


def whole(name: str) -> Printed:
    """FLOOR and CEIL in the type of the schema rule."""

    def printed(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
        (value,) = arguments
        kind = call.arguments[0].type_in(printer.schema)
        if kind == BIGINT:
            return value
        result = function(name, value)
        if isinstance(kind, DECIMAL):
            return printer.cast(result, call.type_in(printer.schema))
        if printer.dialect != "spark":
            return result
        small = binary(exp.LT, function("ABS", value), decimal(f"{ALL_ARE_WHOLE}D"))
        return when((small, printer.cast(result, DOUBLE)), default=value)

    return printed


def extreme(name: str) -> Printed:
    """GREATEST and LEAST pass over NULLs; SQLite's MAX and MIN of several values do not."""

    def printed(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
        if len(arguments) == 1:
            return arguments[0]
        if printer.dialect != "sqlite":
            return function(name, *arguments)
        turned = [[*arguments[n:], *arguments[:n]] for n in range(len(arguments))]
        given = [function("COALESCE", *each) for each in turned]
        return function("MAX" if name == "GREATEST" else "MIN", *given)

    return printed


# --- text ---


def trim(name: str) -> Printed:
    def printed(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
        spaces = [" "] if printer.dialect == "duckdb" else []  # alone it takes every space
        return function(name, *arguments, *spaces)

    return printed


def position(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    text, part = arguments
    return printer.bigint(exp.StrPosition(this=text, substr=part))


def right(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    """Written out for counts below 1, which engines read in their own ways."""
    text, count = arguments
    match call.arguments[1]:
        case Literal(value=int() as number) if number >= 1 and number < 2**31:
            count = tree_of(number)
            if printer.dialect == "sqlite":
                return function("SUBSTR", text, negative(count))
            return function("RIGHT", text, count)
    nothing = printer.substring(text.copy(), 1, 0)
    if printer.dialect == "sqlite":
        last = function("SUBSTR", text, negative(count))
    else:
        last = function("RIGHT", text, printer.int32(count))
    return when((at_least(count, 1), last), (binary(exp.LT, count, 1), nothing))


def starts_with(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    text, prefix = arguments
    if printer.dialect == "sqlite":
        length = function("LENGTH", prefix)
        start = function("SUBSTR", text, 1, length)
        return exp.EQ(this=start, expression=enclosed(prefix.copy()))
    name = "STARTSWITH" if printer.dialect == "spark" else "STARTS_WITH"
    return function(name, text, prefix)


# --- time ---


def part(unit: str, start: int, count: int) -> Printed:
    """A part of a date or timestamp: in SQLite of its text."""

    def printed(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
        (moment,) = arguments
        if printer.dialect == "sqlite":
            return printer.cast(printer.substring(moment, start, count), BIGINT)
        if printer.dialect in ("ansi", "postgres"):
            extracted: exp.Expr = exp.Extract(this=exp.Var(this=unit), expression=moment)
            if unit == "SECOND":  # which has the fraction too
                extracted = function("FLOOR", extracted)
            return printer.cast(extracted, BIGINT)
        return printer.bigint(function(unit, moment))

    return printed


def epoch_days(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    (date,) = arguments
    first = exp.Literal.string(FIRST_DAY)
    match printer.dialect:
        case "sqlite":
            days = binary(exp.Sub, function("JULIANDAY", date), function("JULIANDAY", first))
            return printer.cast(days, BIGINT)
        case "duckdb":
            return function("DATE_DIFF", "day", printer.cast(first, DATE), date)
        case "spark":
            return printer.cast(function("UNIX_DATE", date), BIGINT)
    return printer.cast(binary(exp.Sub, date, printer.cast(first, DATE)), BIGINT)


def epoch_micros(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    (moment,) = arguments
    match printer.dialect:
        case "sqlite":
            second = function("SUBSTR", moment, 1, 19)  # with its fraction it is rounded up
            seconds = printer.cast(function("STRFTIME", "%s", second), BIGINT)
            rest = printer.cast(function("SUBSTR", moment, 21, 6), BIGINT)
            return plus(exp.Mul(this=seconds, expression=tree_of(1_000_000)), rest)
        case "duckdb":
            return function("EPOCH_US", moment)
        case "spark":
            first = printer.cast(exp.Literal.string(f"{FIRST_DAY} 00:00:00"), TIMESTAMP)
            unit = exp.Var(this="MICROSECOND")
            return function("TIMESTAMPDIFF", unit, first, moment)
    seconds = exp.Extract(this=exp.Var(this="EPOCH"), expression=moment)
    return printer.cast(exp.Mul(this=seconds, expression=tree_of(1_000_000)), BIGINT)


def add_days(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    date, days = arguments
    if printer.dialect == "sqlite":
        return function("DATE", date, joined(days, " days"))
    if printer.dialect == "spark":
        return function("DATE_ADD", date, printer.int32(days))
    return plus(date, printer.int32(days))


def add_months(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    date, months = arguments
    match printer.dialect:
        case "sqlite":
            return add_months_in_sqlite(printer, date, months)
        case "duckdb":
            later = plus(date, function("TO_MONTHS", printer.int32(months)))
        case "spark":
            return function("ADD_MONTHS", date, printer.int32(months))
        case _:
            span = exp.Mul(this=enclosed(months), expression=interval("1", "MONTH"))
            later = exp.Add(this=enclosed(date), expression=span)
    return printer.cast(later, DATE)


def add_months_in_sqlite(printer: ScalarPrinter, date: exp.Expr, months: exp.Expr) -> exp.Expr:
    """From the first of the later month as many days as the earlier one was in, if it has them."""
    months = exp.Paren(this=joined(months, " months"))
    first = function("DATE", date, "start of month", months)
    last = function("DATE", date, "start of month", months, "1 month", "-1 day")
    last = function("COALESCE", last, "9999-12-31")  # there is no day after it to count from
    days = [printer.cast(function("SUBSTR", each, 9, 2), BIGINT) for each in (date, last)]
    forward = exp.Paren(this=binary(exp.Sub, function("MIN", *days), 1))
    return function("DATE", first, joined(forward, " days"))


def add_micros(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    moment, micros = arguments
    match printer.dialect:
        case "sqlite":
            return add_micros_in_sqlite(printer, call)
        case "duckdb":
            return plus(moment, function("TO_MICROSECONDS", micros))
        case "spark":
            return function("TIMESTAMPADD", exp.Var(this="MICROSECOND"), micros, moment)
    span = exp.Mul(this=enclosed(micros), expression=interval("1", "MICROSECOND"))
    return exp.Add(this=enclosed(moment), expression=span)


def add_micros_in_sqlite(printer: ScalarPrinter, call: Call) -> exp.Expr:
    """The text of the whole seconds since 1970, rounded down, then the rest of them."""
    moment, micros = call.arguments
    total: Expr = Arithmetic("+", Call("epoch_micros", (moment,)), micros)
    second = Literal(BIGINT, 1_000_000)
    rest = Arithmetic("%", Arithmetic("+", Arithmetic("%", total, second), second), second)
    whole_seconds = binary(exp.Div, printer(Arithmetic("-", total, rest)), 1_000_000)
    text = function("STRFTIME", "%Y-%m-%dT%H:%M:%S", whole_seconds, "unixepoch")
    return joined(text, function("PRINTF", ".%06d", printer(rest)))


# --- arrays ---


def cardinality(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    name = {"duckdb": "LEN", "spark": "ARRAY_SIZE"}.get(with_arrays(printer, call), "CARDINALITY")
    return printer.bigint(function(name, arguments[0]))


def element(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    """Places below 1, which some count from the end, are no places."""
    array, place = arguments
    match with_arrays(printer, call):
        case "duckdb":
            found: exp.Expr = function("LIST_EXTRACT", array, place)
        case "spark":
            inside = exp.Between(this=enclosed(place), low=tree_of(1), high=function("SIZE", array))
            at = function("ELEMENT_AT", array, printer.int32(place.copy()))
            return when((inside, at))
        case _:
            found = exp.Bracket(this=exp.Paren(this=array), expressions=[place.copy()], offset=1)
    return when((at_least(place, 1), found))


def contains(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    """NULL elements, which make it NULL where they are compared, are passed over."""
    array, value = arguments
    match with_arrays(printer, call):
        case "duckdb":
            return function("LIST_CONTAINS", array, value)
        case "spark":
            found: exp.Expr = function("ARRAY_CONTAINS", array, value)
        case _:
            found = exp.EQ(this=enclosed(value), expression=function("ANY", array))
    given = exp.And(this=not_null(array), expression=not_null(value))
    return when((given, function("COALESCE", found, exp.Boolean(this=False))))


def sequence(printer: ScalarPrinter, call: Call, arguments: Trees) -> exp.Expr:
    start, stop, *given = arguments
    step = given[0] if given else printer.literal(Literal(BIGINT, 1))
    match with_arrays(printer, call):
        case "duckdb":
            return function("GENERATE_SERIES", start, stop, step)
        case "spark":
            return sequence_in_spark(printer, call, start, stop, step)
    series = exp.Select().select(function("GENERATE_SERIES", start, stop, step))
    known = reduce(lambda a, b: exp.And(this=a, expression=b), map(not_null, (start, stop, step)))
    return when((known, function("ARRAY", series)))


def sequence_in_spark(
    printer: ScalarPrinter, call: Call, start: exp.Expr, stop: exp.Expr, step: exp.Expr
) -> exp.Expr:
    """SEQUENCE, and nothing where stop is on the other side: there it is an error."""
    ahead = exp.And(this=binary(exp.GT, step, 0), expression=binary(exp.LTE, start, stop))
    back = exp.And(this=binary(exp.LT, step, 0), expression=binary(exp.GTE, start, stop))
    runs = exp.Or(this=exp.Paren(this=ahead), expression=exp.Paren(this=back))
    empty = printer.cast(function("ARRAY"), call.type_in(printer.schema))
    return when(
        (runs, function("SEQUENCE", start, stop, step)),
        (exp.Not(this=exp.Paren(this=runs.copy())), empty),
    )


def with_arrays(printer: ScalarPrinter, call: Call) -> str:
    if printer.dialect == "sqlite":
        raise printer.refusal(f"has no arrays: {call}")
    return printer.dialect


def not_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=enclosed(value.copy()), expression=exp.Not(this=exp.Null()))


Printed = Callable[["ScalarPrinter", Call, Trees], exp.Expr]
PRINTED: Mapping[str, Printed] = {
    "abs": word("ABS"),
    "sign": sign,
    "floor": whole("FLOOR"),
    "ceil": whole("CEIL"),
    "greatest": extreme("GREATEST"),
    "least": extreme("LEAST"),
    "lower": letters(exp.Lower, ASCII_UPPER, ASCII_LOWER),
    "upper": letters(exp.Upper, ASCII_LOWER, ASCII_UPPER),
    "length": length,
    "concat": concat,
    "trim": trim("TRIM"),
    "ltrim": trim("LTRIM"),
    "rtrim": trim("RTRIM"),
    "replace": word("REPLACE"),
    "position": position,
    "right": right,
    "starts_with": starts_with,
    "year": part("YEAR", 1, 4),
    "month": part("MONTH", 6, 2),
    "day": part("DAY", 9, 2),
    "hour": part("HOUR", 12, 2),
    "minute": part("MINUTE", 15, 2),
    "second": part("SECOND", 18, 2),
    "epoch_days": epoch_days,
    "epoch_micros": epoch_micros,
    "add_days": add_days,
    "add_months": add_months,
    "add_micros": add_micros,
    "cardinality": cardinality,
    "element": element,
    "contains": contains,
    "sequence": sequence,
}


# --- ROUND, DATE_TRUNC ---


def round_tree(rounded: Round, printer: ScalarPrinter) -> exp.Expr:
    """Halfway away from zero, also where the engine's own ROUND goes to even."""
    kind, value = rounded.operand.type_in(printer.schema), printer(rounded.operand)
    if isinstance(kind, DECIMAL) and rounded.places < kind.scale:
        result = function("ROUND", value, rounded.places)
        return printer.cast(result, rounded.type_in(printer.schema))
    if kind != DOUBLE:
        return value
    if printer.dialect in ("duckdb", "spark"):
        return function("ROUND", value)
    cut = function("TRUNC", value)
    rest = function("ABS", binary(exp.Sub, value, cut))
    away = plus(cut, function("SIGN", value))
    halfway = decimal("0.5")
    up = exp.GTE(this=rest, expression=halfway)
    return when((up, away), default=cut.copy())


def date_trunc_tree(trunc: DateTrunc, printer: ScalarPrinter) -> exp.Expr:
    kind, moment = trunc.operand.type_in(printer.schema), printer(trunc.operand)
    if kind == DATE and trunc.unit == "day":
        return moment
    if printer.dialect == "sqlite":
        return date_trunc_in_sqlite(trunc.unit, kind, moment)
    if printer.dialect == "spark" and kind == DATE:
        return function("TRUNC", moment, trunc.unit.upper())
    given = moment if kind == TIMESTAMP else printer.cast(moment, TIMESTAMP)
    return printer.cast(function("DATE_TRUNC", trunc.unit, given), kind)


def date_trunc_in_sqlite(unit: str, kind: Type, moment: exp.Expr) -> exp.Expr:
    if unit in CLOCK:
        digits, rest = CLOCK[unit]
        return joined(function("SUBSTR", moment, 1, digits), rest)
    back: Mapping[str, list[exp.Expr | str]] = {
        "year": ["start of year"],
        "month": ["start of month"],
        "week": ["-6 days", "weekday 1"],  # the first Monday from six days before
        "quarter": ["start of month", months_into_quarter(moment)],
        "day": [],
    }
    day = moment if kind == DATE else function("SUBSTR", moment, 1, 10)  # else it is rounded up
    date = function("DATE", day, *back[unit])
    return date if kind == DATE else joined(date, "T00:00:00.000000")


CLOCK = {"hour": (13, ":00:00.000000"), "minute": (16, ":00.000000"), "second": (19, ".000000")}


def months_into_quarter(moment: exp.Expr) -> exp.Expr:
    """How far to go back: '-0 months', '-1 months' or '-2 months'."""
    month = exp.Cast(this=function("SUBSTR", moment, 6, 2), to=exp.DataType.build("INT"))
    behind = exp.Mod(this=exp.Paren(this=binary(exp.Sub, month, 1)), expression=tree_of(3))
    return joined(joined(exp.Literal.string("-"), exp.Paren(this=behind)), " months")
