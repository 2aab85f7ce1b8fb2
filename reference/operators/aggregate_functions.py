"""What each aggregate function means, as SQL says it: a function of the values of one group.

A call is *given* one value per row of the group, with the row's weight: its argument where the
FILTER is TRUE and nothing is NULL. A value is *present* when its total weight is positive.

    function                    over the given values                               over none
    count_star, count           their total weight                                  0
    sum, avg                    the exact sum, rounded once, or by the weight       NULL
    var, stddev (pop, samp)     Σ w (x - mean)² by n, or n - 1; its square root     NULL
    bool_and, bool_or           whether all, or any, of the present are TRUE        NULL
    min, max                    the least, the greatest present                     NULL
    arg_min, arg_max            of the present pairs (by, argument): see below      NULL
    array_agg                   the present in order, each as often as its weight   NULL
    quantile                    between two of array_agg, at fraction × (n - 1)     NULL
    single                      the one row's argument, which may be NULL           NULL

DISTINCT gives a present value once, and one that is not present not at all. ARG_MIN and ARG_MAX
skip rows where the argument or `by` is NULL, as all functions skip NULL; of the rows at the least
`by` ARG_MIN takes the least argument, of those at the greatest ARG_MAX takes the greatest.
QUANTILE between two values goes straight from one to the other, exactly, rounded once; from -∞ it
gets nowhere, and is NaN. SINGLE is what a scalar subquery is: more than one row is an error.

SUM, AVG and the variances are read off sums, so they take weights below zero by formula, and are
NULL unless the total weight is positive (VAR_SAMP: above one); a variance below zero, which only
such weights can make, has the root NaN. NaN and the infinities have the variance NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from deltaproof.reference.errors import EvaluationError, RowError, SchemaError
from deltaproof.reference.ordered import Entry, copies, in_order
from deltaproof.reference.scalar import Expr, from_json
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.sums import (
    SPECIALS,
    divided,
    exact_average,
    exact_sum,
    in_64_bits,
    root,
    unit_of,
    units_of,
    weight_of_specials,
)
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    NAN,
    Column,
    Row,
    Schema,
    Type,
    Value,
    canonical_double,
    null_last,
)
from deltaproof.reference.zset import Weight

# What a function needs of a backend; DISTINCT and FILTER are capabilities of their own.
CAPABILITIES: Mapping[str, str] = {
    "count_star": "count",
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "min": "min",
    "max": "max",
    "variance_pop": "variance",
    "variance_samp": "variance",
    "stddev_pop": "stddev",
    "stddev_samp": "stddev",
    "bool_and": "bool",
    "bool_or": "bool",
    "arg_min": "arg",
    "arg_max": "arg",
    "array_agg": "array_agg",
    "quantile": "quantile",
    "single": "single",
}
FUNCTIONS = tuple(CAPABILITIES)
COUNTED_ONCE = ("count", "sum", "avg")  # what DISTINCT changes
MAY_BE_DISTINCT = (*COUNTED_ONCE, "min", "max")
IGNORING_COPIES = ("min", "max", "arg_min", "arg_max", "bool_and", "bool_or")
ORDERED = ("min", "max", "arg_min", "arg_max", "array_agg")  # what compares values
NUMERIC = ("sum", "avg", "variance_pop", "variance_samp", "stddev_pop", "stddev_samp", "quantile")
LOGICAL = ("bool_and", "bool_or")

Given = list[tuple[Value, Weight]]  # values, none NULL, with weights of any sign
Definition = Callable[[AggregateCall, Type, Given], Value]


def capability(function: str) -> str:
    """COUNT(*) and COUNT(x) are one capability, as are the two sides of a pair."""
    return CAPABILITIES[function]


def counted_once(call: AggregateCall) -> bool:
    """Whether DISTINCT makes a difference: MIN and MAX do not mind it."""
    return call.distinct and call.function in COUNTED_ONCE


def call_capabilities(call: AggregateCall) -> tuple[str, ...]:
    """What a backend must be able to do for this call.

    >>> from deltaproof.reference.scalar import col
    >>> call_capabilities(AggregateCall("count", col("v"), distinct=True, where=col("v") > 0))
    ('aggregate.count_distinct', 'aggregate.filter')
    """
    own = capability(call.function) + ("_distinct" if counted_once(call) else "")
    return (f"aggregate.{own}", *(["aggregate.filter"] if call.where is not None else []))


ALL_CAPABILITIES = tuple(
    f"aggregate.{name}"
    for name in (
        *("count", "sum", "avg", "min", "max"),
        *("count_distinct", "sum_distinct", "avg_distinct", "filter"),
        *("variance", "stddev", "bool", "arg", "array_agg", "quantile", "single"),
    )
)


# --- the schema rule ---


def result_column(name: str, call: AggregateCall, rows: Schema) -> Column:
    """The output column of a call. Raises SchemaError when it does not fit."""
    if not isinstance(call, AggregateCall):
        raise SchemaError(f"aggregate: {name}: expected a call such as count(), got {call!r}")
    if call.function not in FUNCTIONS:
        raise SchemaError(f"aggregate: unknown function {call.function!r}: {', '.join(FUNCTIONS)}")
    check_clauses(call, rows)
    if call.argument is None:
        return Column(name, BIGINT, nullable=False)
    kind = call.argument.type_in(rows)
    check_argument(call, kind)
    match call.function:
        case "count":
            return Column(name, BIGINT, nullable=False)
        case "sum":
            return Column(name, DECIMAL(38, kind.scale) if isinstance(kind, DECIMAL) else kind)
        case "array_agg":
            return Column(name, ARRAY(kind))
        case function if function in NUMERIC:
            return Column(name, DOUBLE)
    return Column(name, kind)


def check_clauses(call: AggregateCall, rows: Schema) -> None:
    """Raises SchemaError for what belongs to another function, or is missing."""
    for each in call.arguments:
        if not isinstance(each, Expr):
            raise SchemaError(f"aggregate: {call.function}: expected an expression, got {each!r}")
    if call.function == "count_star" and call.argument is not None:
        raise SchemaError("aggregate: count_star takes no argument: use count")
    if call.function != "count_star" and call.argument is None:
        raise SchemaError(f"aggregate: {call.function} needs an argument")
    if call.distinct and call.function not in MAY_BE_DISTINCT:
        raise SchemaError(f"aggregate: {call.function} has no DISTINCT: it is for COUNT, SUM, AVG")
    if (call.by is not None) != (call.function in ("arg_min", "arg_max")):
        raise SchemaError(f"aggregate: {call}: arg_min and arg_max, and only they, say by what")
    if (call.fraction is not None) != (call.function == "quantile"):
        raise SchemaError(f"aggregate: {call}: a quantile, and only it, has a fraction")
    if call.fraction is not None and (call.fraction.is_nan() or not 0 <= call.fraction <= 1):
        raise SchemaError(f"aggregate: {call}: a fraction is from 0 to 1, got {call.fraction}")
    if call.where is not None and (kind := call.where.type_in(rows)) != BOOLEAN:
        raise SchemaError(f"aggregate: {call}: FILTER needs a BOOLEAN condition, got {kind}")
    if call.by is not None and isinstance(kind := call.by.type_in(rows), ARRAY):
        raise SchemaError(f"aggregate: {call}: by {kind}: arrays have no order here")


def check_argument(call: AggregateCall, kind: Type) -> None:
    """Raises SchemaError for an argument of a type that the function cannot take."""
    if call.function in ORDERED and isinstance(kind, ARRAY):
        raise SchemaError(f"aggregate: {call} of {kind}: arrays have no MIN and MAX here")
    if call.function in LOGICAL and kind != BOOLEAN:
        raise SchemaError(f"aggregate: {call} needs a BOOLEAN, got {kind}")
    is_number = kind in (BIGINT, DOUBLE) or isinstance(kind, DECIMAL)
    if call.function in NUMERIC and not is_number:
        raise SchemaError(f"aggregate: {call} needs a number, got {kind}")


# --- what a call is given ---


def given_kind(call: AggregateCall, rows: Schema) -> Type:
    """The type of the values that the call is given."""
    kind = BOOLEAN if call.argument is None else call.argument.type_in(rows)
    if call.by is not None:
        return RowOf((call.by.type_in(rows), kind))
    return RowOf((kind,)) if call.function == "single" else kind


def given_value(call: AggregateCall, rows: Schema) -> Callable[[Row], Value]:
    """The function from a row to what the call is given for it; None for nothing."""
    value = value_function(call, rows)
    if call.where is None:
        return value
    keeps = call.where.compile(rows)
    return lambda row: value(row) if keeps(row) else None


def value_function(call: AggregateCall, rows: Schema) -> Callable[[Row], Value]:
    """What the call is given for a row that the FILTER lets through."""
    if call.argument is None:
        return lambda row: True
    argument = call.argument.compile(rows)
    if call.by is not None:
        return pair_function(call.by.compile(rows), argument)
    return (lambda row: (argument(row),)) if call.function == "single" else argument


def pair_function(
    by: Callable[[Row], Value], argument: Callable[[Row], Value]
) -> Callable[[Row], Value]:
    """(by, argument), which order as ARG_MIN and ARG_MAX choose; None where either is NULL."""

    def pair(row: Row) -> Value:
        both = (by(row), argument(row))
        return None if None in both else both

    return pair


@dataclass(frozen=True, repr=False)
class RowOf(Type):
    """The type of small rows that an aggregate keeps: no column has it."""

    kinds: tuple[Type, ...]
    name = "ROW"
    python = tuple

    def order(self, value: Value) -> Any:
        return tuple(null_last(k, v) for k, v in zip(self.kinds, value, strict=True))

    def to_json(self, value: Value) -> Any:
        pairs = zip(self.kinds, value, strict=True)
        return [None if each is None else kind.to_json(each) for kind, each in pairs]

    def from_json(self, value: Any) -> Value:
        if not isinstance(value, list) or len(value) != len(self.kinds):
            raise RowError(f"expected {len(self.kinds)} values of an aggregate, got {value!r}")
        pairs = zip(self.kinds, value, strict=True)
        return tuple(None if each is None else kind.from_json(each) for kind, each in pairs)


# --- definitions ---


def definition(call: AggregateCall, rows: Schema) -> Callable[[Given], Value]:
    """The function from all values that the call is given in a group to its result."""
    define = DEFINITIONS[call.function]
    kind = given_kind(call, rows)
    if counted_once(call):
        return lambda given: define(call, kind, [(value, 1) for value, _ in present(given)])
    return lambda given: define(call, kind, given)


def present(given: Given) -> Given:
    """The values of positive total weight, each once, with that weight."""
    weights: dict[Value, Weight] = {}
    for value, weight in given:
        weights[value] = weights.get(value, 0) + weight
    return [(value, weight) for value, weight in weights.items() if weight > 0]


def total_weight(given: Given) -> Weight:
    return sum(weight for _, weight in given)


def count_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    return in_64_bits(total_weight(given), call)


def sum_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    return exact_sum(given, kind, call) if total_weight(given) > 0 else None


def average_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    return exact_average(given, kind) if total_weight(given) > 0 else None


def variance_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    """Σ w (x - mean)² / n, or / (n - 1), in whole numbers: n x - Σ w x is n times x - mean."""
    n = total_weight(given)
    less = 1 if call.function.endswith("samp") else 0
    if not n > less:
        return None
    if kind == DOUBLE and weight_of_specials(given):
        return NAN
    units = units_of(kind)
    finite = [(units(v), w) for v, w in given if kind != DOUBLE or v not in SPECIALS]
    total = sum(x * w for x, w in finite)
    squares = sum(w * (n * x - total) * (n * x - total) for x, w in finite)
    unit = unit_of(kind)
    return divided(squares, n * n * (n - less) * unit * unit)


def stddev_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    return root(variance_of(call, kind, given))


def all_true(call: AggregateCall, kind: Type, given: Given) -> Value:
    values = [value for value, _ in present(given)]
    return all(values) if values else None


def any_true(call: AggregateCall, kind: Type, given: Given) -> Value:
    values = [value for value, _ in present(given)]
    return any(values) if values else None


def least_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    return min((value for value, _ in present(given)), key=kind.order, default=None)


def greatest_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    return max((value for value, _ in present(given)), key=kind.order, default=None)


def argument_at_least(call: AggregateCall, kind: Type, given: Given) -> Value:
    least = least_of(call, kind, given)
    return None if least is None else least[1]


def argument_at_greatest(call: AggregateCall, kind: Type, given: Given) -> Value:
    greatest = greatest_of(call, kind, given)
    return None if greatest is None else greatest[1]


def array_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    entries = in_order(kind.order, present(given))
    return tuple(value for entry in entries for value in copies(entry)) or None


def quantile_of(call: AggregateCall, kind: Type, given: Given) -> Value:
    entries = in_order(kind.order, present(given))
    if not entries:
        return None
    last = sum(entry.weight for entry in entries) - 1
    position = Fraction(call.fraction or 0) * last
    below = int(position)
    low, high = (copy_at(place, entries) for place in (below, min(below + 1, last)))
    return between(low, high, position - below, kind)


def copy_at(place: int, entries: list[Entry]) -> Value:
    """The value of the copy that this many copies come before."""
    for _, value, weight in entries:
        if place < weight:
            return value
        place -= weight
    raise IndexError(place)


def between(low: Value, high: Value, share: Fraction, kind: Type) -> float:
    """The number at this share of the way from low to high, exact and rounded once.

    >>> between(1, 2, Fraction(1, 2), BIGINT), between(0.5, float("inf"), Fraction(1, 2), DOUBLE)
    (1.5, inf)
    """
    if share == 0 or low == high:
        share, high = Fraction(0), low
    if kind == DOUBLE and (low in SPECIALS or high in SPECIALS):
        return canonical_double(low if share == 0 else low + (high - low))
    units = units_of(kind)
    p, q = share.numerator, share.denominator
    return divided(units(low) * (q - p) + units(high) * p, q * unit_of(kind))


def only_row(call: AggregateCall, kind: Type, given: Given) -> Value:
    """The argument of the one row there is. Raises EvaluationError when there are more."""
    rows = present(given)
    if not rows:
        return None
    if (number := total_weight(rows)) > 1:
        raise EvaluationError(too_many_rows(call, number))
    return rows[0][0][0]


def too_many_rows(call: AggregateCall, number: Weight) -> str:
    return f"{call}: a scalar subquery gave {number} rows: one is the most"


DEFINITIONS: Mapping[str, Definition] = {
    "count_star": count_of,
    "count": count_of,
    "sum": sum_of,
    "avg": average_of,
    "min": least_of,
    "max": greatest_of,
    "variance_pop": variance_of,
    "variance_samp": variance_of,
    "stddev_pop": stddev_of,
    "stddev_samp": stddev_of,
    "bool_and": all_true,
    "bool_or": any_true,
    "arg_min": argument_at_least,
    "arg_max": argument_at_greatest,
    "array_agg": array_of,
    "quantile": quantile_of,
    "single": only_row,
}


# --- calls as JSON ---


def call_to_json(name: str, call: AggregateCall) -> list[Any]:
    """[name, function, argument], and where there is more to say, a fourth that says it."""
    argument = None if call.argument is None else call.argument.to_json()
    more: dict[str, Any] = {}
    if call.distinct:
        more["distinct"] = True
    if call.where is not None:
        more["where"] = call.where.to_json()
    if call.by is not None:
        more["by"] = call.by.to_json()
    if call.fraction is not None:
        more["fraction"] = str(call.fraction)
    return [name, call.function, argument, *([more] if more else [])]


def call_from_json(saved: Any) -> tuple[str, AggregateCall]:
    """What `call_to_json` wrote. Raises CaseError, TypeError or ValueError."""

    def expression(of: Any) -> Expr | None:
        return None if of is None else from_json(of)

    name, function, argument, *rest = saved
    if not isinstance(function, str):
        raise TypeError(f"expected the name of an aggregate function, got {function!r}")
    (more,) = rest or [{}]
    if not isinstance(more, dict) or not more.keys() <= {"distinct", "where", "by", "fraction"}:
        raise TypeError(f"expected distinct, where, by and fraction, got {more!r}")
    distinct = more.get("distinct", False)
    if type(distinct) is not bool:
        raise TypeError(f"distinct must be true or false, got {distinct!r}")
    return name, AggregateCall(
        function,
        expression(argument),
        distinct,
        expression(more.get("where")),
        expression(more.get("by")),
        fraction_from_json(more.get("fraction")),
    )


def fraction_from_json(text: Any) -> Decimal | None:
    if text is None:
        return None
    if not isinstance(text, str) or not text.replace(".", "", 1).isdecimal():
        raise ValueError(f'expected a fraction like "0.25", got {text!r}')
    return Decimal(text)
