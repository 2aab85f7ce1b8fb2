"""Calls: which function of ours a name of SQL stands for, in any of the dialects."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import exp

from deltaproof.reference import scalar
from deltaproof.reference.parse import dates
from deltaproof.reference.parse.types import converted, together
from deltaproof.reference.scalar import Expr
from deltaproof.reference.scalar_functions import UNITS, Cast
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.types import ARRAY, BIGINT, DATE, TIMESTAMP, VARCHAR

if TYPE_CHECKING:
    from deltaproof.reference.parse.scalars import Scalars

Call: TypeAlias = Callable[["Scalars", Any], Expr]

ASCII = ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def function_of(scalars: Scalars, node: exp.Expr) -> Expr:
    """The expression of a call. Raises SqlError for functions that are not known here."""
    if is_clock(node):
        raise scalars.block.refusal(
            node,
            f"{name_of(node)} is not the same at every reading",
            "time is data: make `now` a table of one row and join it",
        )
    if isinstance(node, exp.AggFunc):
        raise scalars.block.refusal(node, f"an aggregate ({name_of(node)}) cannot stand here")
    if isinstance(node, exp.Window):
        raise scalars.block.refusal(node, "a window function stands in SELECT or QUALIFY only")
    for kind in type(node).__mro__:
        if (call := CALLS.get(kind)) is not None:
            return call(scalars, node)
    if isinstance(node, exp.Anonymous) and (named := NAMED.get(node.name.upper())):
        return named(*[scalars.read(each) for each in node.expressions])
    raise scalars.block.refusal(node, f"{name_of(node)} is not supported here")


def name_of(node: exp.Expr) -> str:
    """The name of a call, for a message."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()


CLOCKS = (
    exp.CurrentDate,
    exp.CurrentDatetime,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentTimestampLTZ,
    exp.Localtime,
    exp.Localtimestamp,
    exp.Rand,
    exp.Randn,
    exp.Uuid,
)
CLOCK_NAMES = frozenset(
    {"NOW", "TODAY", "SYSDATE", "CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "TRANSACTION_TIMESTAMP"}
    | {"RANDOM", "RAND", "SETSEED", "UUID", "GEN_RANDOM_UUID", "NEXTVAL"}
    | {"MONOTONICALLY_INCREASING_ID", "GET_CURRENT_TIMESTAMP", "UNIX_TIMESTAMP"}
)


def is_clock(node: exp.Expr) -> bool:
    """Whether its value depends on when, or how often, it is read."""
    return isinstance(node, CLOCKS) or (
        isinstance(node, exp.Anonymous) and name_of(node) in CLOCK_NAMES
    )


def of_one(function: Callable[[Any], Expr]) -> Call:
    """A function of the node's only operand."""
    return lambda scalars, node: function(scalars.read(node.this))


def of_text(function: Callable[[Any], Expr]) -> Call:
    return lambda scalars, node: function(scalars.as_text(scalars.read(node.this)))


def of_values(function: Callable[..., Expr]) -> Call:
    """A function of values that SQL gives one type."""

    def call(scalars: Scalars, node: Any) -> Expr:
        values = [scalars.read(each) for each in (node.this, *node.expressions)]
        return function(*together(values, scalars.block.schema))

    return call


def whole(scalars: Scalars, node: exp.Expr, what: str) -> int:
    """A constant whole number."""
    value = scalars.read(node)
    if isinstance(value, Literal) and value.type == BIGINT and value.value is not None:
        return int(value.value)
    raise scalars.block.refusal(node, f"{what} must be a constant whole number")


def substring(scalars: Scalars, node: exp.Substring) -> Expr:
    length, start = node.args.get("length"), node.args.get("start")
    first = 1 if start is None else whole(scalars, start, "where SUBSTRING begins")
    count = 2**31 if length is None else whole(scalars, length, "the length of SUBSTRING")
    if first < 1:
        raise scalars.block.refusal(node, "SUBSTRING begins at 1 or later")
    return scalar.substring(scalars.read(node.this), first, count)


def concat(scalars: Scalars, node: exp.Concat) -> Expr:
    """CONCAT skips NULLs in Postgres and DuckDB; in Spark, and written ||, NULL is NULL."""
    parts = [scalars.as_text(scalars.read(each)) for each in node.expressions]
    if node.args.get("coalesce"):
        parts = [scalar.coalesce(part, "") for part in parts]
    return scalar.concat(*parts)


def trim(scalars: Scalars, node: exp.Trim) -> Expr:
    letters = node.expression
    if letters is not None and letters.name != " ":
        raise scalars.block.refusal(node, "TRIM takes away spaces only")
    side = (node.args.get("position") or "").upper()
    function = {"LEADING": scalar.ltrim, "TRAILING": scalar.rtrim}.get(side, scalar.trim)
    return function(scalars.read(node.this))


def rounded(scalars: Scalars, node: exp.Round) -> Expr:
    places = node.args.get("decimals")
    count = 0 if places is None else whole(scalars, places, "the number of places of ROUND")
    return scalar.rounded(scalars.read(node.this), count)


def extract(scalars: Scalars, node: exp.Extract) -> Expr:
    unit = node.name.upper()
    parts = {"YEAR": scalar.year, "MONTH": scalar.month, "DAY": scalar.day}
    parts |= {"HOUR": scalar.hour, "MINUTE": scalar.minute, "SECOND": scalar.second}
    if unit not in parts:
        raise scalars.block.refusal(node, f"EXTRACT of {unit}: there are {', '.join(parts)}")
    return parts[unit](scalars.read(node.expression))


def truncated(scalars: Scalars, node: exp.Expr) -> Expr:
    """DATE_TRUNC('month', moment)."""
    unit = node.args["unit"].name.lower()
    if unit not in UNITS:
        raise scalars.block.refusal(node, f"DATE_TRUNC to {unit!r}: there are {', '.join(UNITS)}")
    return scalar.date_trunc(unit, scalars.read(node.this))


def position(scalars: Scalars, node: exp.StrPosition) -> Expr:
    if node.args.get("position") is not None:
        raise scalars.block.refusal(node, "POSITION looks from the beginning only")
    return scalar.position(scalars.read(node.this), scalars.read(node.args["substr"]))


def moved(sign: int, unit: str | None = None) -> Call:
    """DATE_ADD(date, 3), ADD_MONTHS(date, 3), DATE_SUB …: as date ± INTERVAL '3' unit."""

    def call(scalars: Scalars, node: Any) -> Expr:
        amount, word = node.expression, unit or "DAY"
        if isinstance(amount, exp.Interval):
            number, word = dates.interval_of(scalars, amount)
        else:
            number = scalars.read(amount)
            if unit is None and node.args.get("unit") is not None:
                word = node.args["unit"].name.upper()
        moment = scalars.read(node.this)
        return dates.moved(scalars, node, moment, number, sign, word)

    return call


def difference(scalars: Scalars, node: exp.DateDiff) -> Expr:
    """DATE_DIFF('day', earlier, later), DATEDIFF(later, earlier)."""
    unit = node.args.get("unit")
    if unit is not None and unit.name.upper() != "DAY":
        raise scalars.block.refusal(node, "only days are counted between dates")
    later, earlier = scalars.read(node.this), scalars.read(node.expression)
    return dates.days_from(as_date(scalars, earlier), as_date(scalars, later))


def length(scalars: Scalars, node: exp.Length) -> Expr:
    """LENGTH of a text; of an array, its elements."""
    value = scalars.read(node.this)
    if isinstance(scalars.type_of(value), ARRAY):
        return scalar.cardinality(value)
    return scalar.length(scalars.as_text(value))


def part(function: Callable[[Any], Expr]) -> Call:
    """YEAR, MONTH, DAY of a moment, which sqlglot casts to DATE for some dialects."""

    def call(scalars: Scalars, node: Any) -> Expr:
        inside = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        return function(scalars.read(inside))

    return call


def micros_between(scalars: Scalars, node: exp.TimestampDiff) -> Expr:
    """TIMESTAMPDIFF(MICROSECOND, earlier, later)."""
    if node.args["unit"].name.upper() != "MICROSECOND":
        raise scalars.block.refusal(node, "only MICROSECONDs are counted between timestamps")
    later, earlier = scalars.read(node.this), scalars.read(node.expression)
    from_epoch = earlier == Literal(TIMESTAMP, datetime.datetime(1970, 1, 1))
    count = scalar.epoch_micros(later)
    return count if from_epoch else count - scalar.epoch_micros(earlier)


def as_date(scalars: Scalars, value: Expr) -> Expr:
    if isinstance(value, Literal) and value.type == VARCHAR:
        return converted(value, DATE, scalars.block.schema)
    return Cast(value, DATE) if scalars.type_of(value) == TIMESTAMP else value


def series(scalars: Scalars, node: Any) -> Expr:
    """GENERATE_SERIES(start, stop, step): an array of whole numbers."""
    start, stop = scalars.read(node.args["start"]), scalars.read(node.args["end"])
    step = node.args.get("step")
    last = stop - 1 if node.args.get("is_end_exclusive") else stop
    return scalar.sequence(start, last, 1 if step is None else scalars.read(step))


def translate(scalars: Scalars, node: exp.Translate) -> Expr:
    """TRANSLATE of the letters A to Z, as LOWER and UPPER are printed where they know more."""
    letters = node.args["from_"].name, node.args["to"].name
    if letters == ASCII:
        return scalar.lower(scalars.read(node.this))
    if letters == ASCII[::-1]:
        return scalar.upper(scalars.read(node.this))
    raise scalars.block.refusal(node, "TRANSLATE is not supported here", "write REPLACE")


CALLS: Mapping[type[exp.Expr], Call] = {
    exp.Lower: of_text(scalar.lower),
    exp.Upper: of_text(scalar.upper),
    exp.Length: length,
    exp.Concat: concat,
    exp.Substring: substring,
    exp.Left: lambda s, n: scalar.left(s.read(n.this), whole(s, n.expression, "LEFT's length")),
    exp.Translate: translate,
    exp.Right: lambda s, n: scalar.right(s.read(n.this), s.read(n.expression)),
    exp.Trim: trim,
    exp.Replace: lambda s, n: scalar.replace(
        s.read(n.this), s.read(n.expression), s.read(n.args["replacement"])
    ),
    exp.StrPosition: position,
    exp.UnixDate: lambda s, n: scalar.epoch_days(s.read(n.this)),
    exp.StartsWith: lambda s, n: scalar.starts_with(s.read(n.this), s.read(n.expression)),
    exp.Abs: of_one(scalar.absolute),
    exp.Sign: of_one(scalar.sign),
    exp.Floor: of_one(scalar.floor),
    exp.Ceil: of_one(scalar.ceil),
    exp.Round: rounded,
    exp.Greatest: of_values(scalar.greatest),
    exp.Least: of_values(scalar.least),
    exp.Extract: extract,
    exp.Year: part(scalar.year),
    exp.Month: part(scalar.month),
    exp.Day: part(scalar.day),
    exp.DayOfMonth: part(scalar.day),
    exp.Hour: of_one(scalar.hour),
    exp.Minute: of_one(scalar.minute),
    exp.Second: of_one(scalar.second),
    exp.DateTrunc: truncated,
    exp.TimestampTrunc: truncated,
    exp.DateAdd: moved(1),
    exp.TsOrDsAdd: moved(1),
    exp.DateSub: moved(-1),
    exp.TimestampAdd: moved(1),
    exp.TimestampDiff: micros_between,
    exp.AddMonths: moved(1, "MONTH"),
    exp.DateDiff: difference,
    exp.GenerateSeries: series,
    exp.ExplodingGenerateSeries: series,
    exp.ArraySize: of_one(scalar.cardinality),
    exp.ArrayContains: lambda s, n: scalar.contains(s.read(n.this), s.read(n.expression)),
    exp.TsOrDsToDate: lambda s, n: as_date(s, s.read(n.this)),
    exp.Date: lambda s, n: as_date(s, s.read(n.this)),
}
NAMED: Mapping[str, Callable[..., Expr]] = {
    "EPOCH_US": scalar.epoch_micros,
    "UNIX_MICROS": scalar.epoch_micros,
    "CARDINALITY": scalar.cardinality,
    "LEN": scalar.length,
    "INSTR": scalar.position,
    "YEAR": scalar.year,
    "MONTH": scalar.month,
    "DAY": scalar.day,
    "RANGE": lambda *v: scalar.sequence(v[0], v[1] - 1, *v[2:]),
    "SEQUENCE": scalar.sequence,
    "REPLACE": scalar.replace,
}
