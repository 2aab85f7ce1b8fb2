"""Prints aggregate and window functions, each result in the type that its schema rule says.

The order of a window is completed by all columns of the row, NULLS LAST, as `order.order_key`
does; RANK, DENSE_RANK and RANGE frames leave peers together. RANGE frames over a DATE or a
TIMESTAMP are over its number of days or microseconds, which every engine can add to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.order import Order
from deltaproof.reference.scalar_tree import ColumnRef
from deltaproof.reference.select import AggregateCall, Frame, WindowCall
from deltaproof.reference.sql_calls import not_null
from deltaproof.reference.sql_scalar import ScalarPrinter
from deltaproof.reference.types import BIGINT, BOOLEAN, DECIMAL, DOUBLE, Type

PEERS = ("rank", "dense_rank")


def aggregate_tree(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """The call as a column of a SELECT. Raises SchemaError where the dialect has no word."""
    if call.function == "avg" and call.distinct and needs_quotient(call, scalar):
        return distinct_average(call, scalar)
    if call.function in COMPOSED:
        return COMPOSED[call.function](call, scalar)
    function, kind = function_tree(call, scalar)
    return function if kind is None else scalar.cast(function, kind)


def function_tree(call: AggregateCall, scalar: ScalarPrinter) -> tuple[exp.Expr, Type | None]:
    """The function with its FILTER, and the type to cast it to where the engine's is another."""
    function, kind = bare_function(call, scalar)
    return filtered(function, condition_of(call, scalar)), kind


def condition_of(call: AggregateCall, scalar: ScalarPrinter) -> list[exp.Expr]:
    return [] if call.where is None else [scalar(call.where)]


def filtered(function: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Expr:
    """FILTER (WHERE all of them), where there are any."""
    if not conditions:
        return function
    return exp.Filter(this=function, expression=exp.Where(this=exp.and_(*conditions, copy=False)))


def bare_function(call: AggregateCall, scalar: ScalarPrinter) -> tuple[exp.Expr, Type | None]:
    if call.argument is None:
        return exp.Count(this=exp.Star()), None
    kind, argument = call.argument.type_in(scalar.schema), scalar(call.argument)
    given = exp.Distinct(expressions=[argument]) if call.distinct else argument
    match call.function:
        case "count":
            return exp.Count(this=given), None
        case "sum" if isinstance(kind, DECIMAL):
            return exp.Sum(this=given), DECIMAL(38, kind.scale)
        case "sum":
            wider = kind == BIGINT and scalar.dialect not in ("sqlite", "spark")
            return exp.Sum(this=given), BIGINT if wider else None
        case "avg" if kind == DOUBLE or scalar.dialect in ("sqlite", "duckdb"):
            return exp.Avg(this=given), None
        case "avg" if not call.distinct:
            return exp.Avg(this=scalar.cast(argument, DOUBLE)), None
        case "min" | "max" | "bool_and" | "bool_or":
            return extreme_word(call.function, kind, scalar.dialect)(this=argument), None
        case function if function in STATISTICS and scalar.dialect != "sqlite":
            given = argument if kind == DOUBLE else scalar.cast(argument, DOUBLE)
            return exp.Anonymous(this=STATISTICS[function], expressions=[given]), None
    raise scalar.refusal(f"has no {call}")


def extreme_word(function: str, kind: Type, dialect: str) -> type[exp.AggFunc]:
    """SQLite has no BOOL_AND, which is MIN there; Postgres has no MIN of BOOLEANs."""
    least = function in ("min", "bool_and")
    said = function.startswith("bool") or (kind == BOOLEAN and dialect in ("ansi", "postgres"))
    if said and dialect != "sqlite":
        return exp.LogicalAnd if least else exp.LogicalOr
    return exp.Min if least else exp.Max


STATISTICS = {
    "variance_pop": "VAR_POP",
    "variance_samp": "VAR_SAMP",
    "stddev_pop": "STDDEV_POP",
    "stddev_samp": "STDDEV_SAMP",
}


# --- aggregates that take more than one word ---


def given_of(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    if call.argument is None:
        raise SchemaError(f"{call.function} needs an argument")
    return scalar(call.argument)


def ordered_array(
    call: AggregateCall, scalar: ScalarPrinter, order: Sequence[exp.Expr], descending: bool = False
) -> exp.Expr:
    """ARRAY_AGG in this order of the rows where nothing of the order is NULL; NULL over none."""
    terms = [exp.Ordered(this=each, desc=descending or None, nulls_first=False) for each in order]
    given = exp.Order(this=given_of(call, scalar), expressions=terms)
    present = [not_null(each) for each in order]
    return filtered(
        exp.Anonymous(this="ARRAY_AGG", expressions=[given]),
        [*condition_of(call, scalar), *present],
    )


def array_agg_tree(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """All values that are not NULL, in order."""
    if scalar.dialect == "sqlite":
        raise scalar.refusal(f"has no arrays: {call}")
    given = given_of(call, scalar)
    if scalar.dialect != "spark":
        return ordered_array(call, scalar, [given])
    listed = filtered(
        exp.Anonymous(this="COLLECT_LIST", expressions=[given]), condition_of(call, scalar)
    )
    ordered = exp.Anonymous(this="ARRAY_SORT", expressions=[listed])
    empty = exp.EQ(this=exp.Anonymous(this="SIZE", expressions=[listed.copy()]), expression=zero())
    return exp.Case(ifs=[exp.If(this=exp.Not(this=empty), true=ordered)])


def arg_tree(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """The argument at the least or greatest `by`; of several the least or the greatest."""
    if scalar.dialect == "sqlite" or call.by is None:
        raise scalar.refusal(f"has no {call}")
    least, given, by = call.function == "arg_min", given_of(call, scalar), scalar(call.by)
    if scalar.dialect != "spark":
        ordered = ordered_array(call, scalar, [by, given], descending=not least)
        return exp.Bracket(this=exp.Paren(this=ordered), expressions=[zero()])  # from 0 in trees
    pair = exp.Anonymous(this="STRUCT", expressions=[by, given.copy()])
    chosen = exp.Anonymous(this="MIN_BY" if least else "MAX_BY", expressions=[given, pair])
    return filtered(chosen, [*condition_of(call, scalar), not_null(by), not_null(given)])


def quantile_tree(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """PERCENTILE_CONT of the values as DOUBLE."""
    if scalar.dialect == "sqlite" or call.argument is None:
        raise scalar.refusal(f"has no {call}")
    given = scalar.as_double(call.argument)
    share = exp.Literal.number(f"{call.fraction:f}")
    word = {"duckdb": "QUANTILE_CONT", "spark": "PERCENTILE"}.get(scalar.dialect)
    if word is not None:
        both = exp.Anonymous(this=word, expressions=[given, share])
        return filtered(both, condition_of(call, scalar))
    function = exp.WithinGroup(
        this=exp.PercentileCont(this=share),
        expression=exp.Order(expressions=[exp.Ordered(this=given, nulls_first=False)]),
    )
    return filtered(function, condition_of(call, scalar))


def single_tree(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """The one row's argument; an error where there are more rows."""
    word = {"duckdb": "ERROR", "spark": "RAISE_ERROR"}.get(scalar.dialect)
    if word is None:
        raise scalar.refusal(f"has no {call}: no word for an error")
    conditions = condition_of(call, scalar)
    rows = filtered(exp.Count(this=exp.Star()), conditions)
    several = exp.GT(this=rows, expression=exp.Literal.number(1))
    message = exp.Literal.string("a scalar subquery gave more than one row")
    error = exp.Anonymous(this=word, expressions=[message])
    value = exp.Anonymous(this="ANY_VALUE", expressions=[given_of(call, scalar)])
    default = filtered(value, [each.copy() for each in conditions])
    return exp.Case(ifs=[exp.If(this=several, true=error)], default=default)


def needs_quotient(call: AggregateCall, scalar: ScalarPrinter) -> bool:
    """Whether AVG of these values is no DOUBLE in this dialect."""
    kind = call.argument.type_in(scalar.schema) if call.argument is not None else DOUBLE
    return kind != DOUBLE and scalar.dialect not in ("sqlite", "duckdb")


def distinct_average(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """The sum of the distinct values by their number: a cast before DISTINCT could make two one."""
    parts = []
    for function in ("sum", "count"):
        part = aggregate_tree(replace(call, function=function), scalar)
        parts.append(scalar.cast(part, DOUBLE))
    none = exp.Anonymous(this="NULLIF", expressions=[parts[1], zero()])
    return exp.Div(this=parts[0], expression=none)


def zero() -> exp.Expr:
    return exp.Literal.number(0)


def statistic_tree(call: AggregateCall, scalar: ScalarPrinter) -> exp.Expr:
    """A variance or its root; DuckDB's is 0, not NaN, where one infinity or NaN is all there is."""
    function, _ = function_tree(call, scalar)
    kind = call.argument.type_in(scalar.schema) if call.argument is not None else None
    if scalar.dialect != "duckdb" or kind != DOUBLE:
        return function
    size = exp.Max(this=exp.Abs(this=given_of(call, scalar)))
    greatest = filtered(size, condition_of(call, scalar))
    return exp.Add(this=function, expression=exp.Mul(this=zero(), expression=greatest))


COMPOSED: Mapping[str, Callable[[AggregateCall, ScalarPrinter], exp.Expr]] = {
    "array_agg": array_agg_tree,
    "arg_min": arg_tree,
    "arg_max": arg_tree,
    "quantile": quantile_tree,
    "single": single_tree,
    **dict.fromkeys(STATISTICS, statistic_tree),
}


# --- windows ---


def window_tree(call: WindowCall, scalar: ScalarPrinter) -> exp.Expr:
    """The window function as a column of a SELECT."""
    function, kind = window_function(call, scalar)
    ranged = call.frame is not None and call.frame.unit == "range"
    terms = list(call.order)
    if call.function not in PEERS and not ranged:
        given = {each.expression for each in terms}
        whole = (ColumnRef(name) for name in scalar.schema.names)
        terms += [Order(column) for column in whole if column not in given]
    if ranged and call.frame is not None and (call.frame.preceding or call.frame.following):
        order = [numbered(each, scalar) for each in terms]
    else:
        order = [ordered(each, scalar) for each in terms]
    window = exp.Window(
        this=function,
        partition_by=[scalar(each) for each in call.partition],
        order=exp.Order(expressions=order) if order else None,
        spec=None if call.frame is None else frame_tree(call.frame),
    )
    return window if kind is None else scalar.cast(window, kind)


def window_function(call: WindowCall, scalar: ScalarPrinter) -> tuple[exp.Expr, Type | None]:
    number = BIGINT if scalar.dialect == "spark" else None
    match call.function:
        case AggregateCall() as aggregate:
            return function_tree(aggregate, scalar)
        case "row_number":
            return exp.RowNumber(), number
        case "rank":
            return exp.Anonymous(this="RANK"), number
        case "dense_rank":
            return exp.Anonymous(this="DENSE_RANK"), number
        case "lag" | "lead" as name:
            back = (name == "lag") == (call.offset >= 0)
            value, *default = map(scalar, call.arguments)
            places = exp.Literal.number(abs(call.offset))
            word = "LAG" if back else "LEAD"
            return exp.Anonymous(this=word, expressions=[value, places, *default]), None
    raise SchemaError(f"unknown window function {call.function!r}")


def ordered(order: Order, scalar: ScalarPrinter) -> exp.Ordered:
    """One term of ORDER BY; sqlglot says NULLS FIRST or LAST where it is not the default."""
    desc = True if order.descending else None
    tree = scalar(order.expression)
    return exp.Ordered(this=tree, desc=desc, nulls_first=order.nulls_first)


def numbered(order: Order, scalar: ScalarPrinter) -> exp.Ordered:
    """The term as a number of the frame's unit."""
    term = ordered(order, scalar)
    term.set("this", scalar.as_number(order.expression))
    return term


def frame_tree(frame: Frame) -> exp.WindowSpec:
    start, start_side = bound_tree(frame.preceding, "PRECEDING", "FOLLOWING")
    end, end_side = bound_tree(frame.following, "FOLLOWING", "PRECEDING")
    return exp.WindowSpec(
        kind=frame.unit.upper(), start=start, start_side=start_side, end=end, end_side=end_side
    )


def bound_tree(distance: int | None, side: str, other: str) -> tuple[exp.Expr | str, str | None]:
    if distance is None:
        return "UNBOUNDED", side
    if distance == 0:
        return "CURRENT ROW", None
    return exp.Literal.number(abs(distance)), side if distance > 0 else other
