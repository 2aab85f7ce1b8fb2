"""What an aggregate keeps of a group, and how each result is read off it.

    sums     whole numbers, linear in the weights of the group's rows: COUNT, SUM, AVG, variances
    slots    values with their weights, kept one by one
             ENDS     MIN and MAX, ARG_MIN and ARG_MAX, which ask for the ends of the order
             ORDER    quantiles, which ask for a place in it, and ARRAY_AGG, which asks for all
             WEIGHTS  DISTINCT, whose sums add up a value when it comes, not its rows

    SUM(v)             Σ v·w
    SUM(DISTINCT v)    Σ v over the values v with w(v) > 0
    VAR_POP(v)         (n Σ v²·w - (Σ v·w)²) / n²

Two calls that need the same sum or the same values share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operators.aggregate_functions import (
    between,
    counted_once,
    given_kind,
    given_value,
    too_many_rows,
)
from deltaproof.reference.ordered import After, InOrder, Ordered, copies
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.store import Values, Weights
from deltaproof.reference.sums import (
    SPECIALS,
    average_of_units,
    divided,
    in_64_bits,
    root,
    special_total,
    sum_of_units,
    unit_of,
    units_of,
)
from deltaproof.reference.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    DOUBLE,
    NAN,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import Weight

Given = Callable[[Row], Value]  # what a call is given for a row; None for nothing
Part = Callable[[Value], Any]  # what one row, or value, of weight 1 adds to a sum; None: nothing
Changes = Mapping[Value, Weight]  # value → change of its weight
Finish = Callable[[list[Any], list[Any]], Value]  # (sums, what was read of the slots) → result

ROWS = 0  # the first sum of every group is the weight of its rows


class Kept(Protocol):
    """Values of one group with their weights."""

    def add(self, delta: Changes) -> None: ...
    def items(self) -> Iterable[tuple[Value, Weight]]: ...
    def weight(self, value: Value) -> Weight: ...
    def __bool__(self) -> bool: ...


@dataclass(frozen=True)
class Keep:
    """How values are kept, and what is read of them: as they will be once a change is applied."""

    empty: Callable[[Type], Any]
    read: Callable[[Any, Changes], Any]


ENDS = Keep(lambda kind: Values(kind.order), lambda values, changes: values.extremes_after(changes))
ORDER = Keep(lambda kind: Ordered(kind.order), After)
WEIGHTS = Keep(lambda kind: Weights(), lambda weights, changes: None)


@dataclass
class Slot:
    """Values of a group that are kept one by one.

    `crossings` are the sums to which a value adds its part when it becomes present, and from
    which it takes it when it no longer is.
    """

    given: Given
    kind: Type
    keep: Keep
    crossings: list[tuple[int, Part]] = field(default_factory=list)

    def empty(self) -> Kept:
        kept: Kept = self.keep.empty(self.kind)
        return kept


@dataclass
class Layout:
    """The sums and the slots that the calls need; one that two calls need is kept once."""

    rows: Schema
    parts: list[Part | None] = field(default_factory=lambda: [one])  # None: kept by a slot
    places: dict[Any, int] = field(default_factory=lambda: {"rows": ROWS})
    slots: list[Slot] = field(default_factory=list)

    # --- what is kept ---

    def given(self, call: AggregateCall) -> Given:
        return given_value(call, self.rows)

    def sum(self, call: AggregateCall, name: Any, part: Part | None = None) -> int:
        """The place of the sum of what each given value adds, new or shared; without a part
        it adds itself."""
        once = counted_once(call)
        named = (name, call.argument, call.where, once)
        if named not in self.places:
            self.places[named] = len(self.parts)
            if once:
                slot = self.slots[self.slot(call, WEIGHTS)]
                slot.crossings.append((len(self.parts), part or itself))
                self.parts.append(None)
            else:
                given = self.given(call)
                self.parts.append(given if part is None else of_given(part, given))
        return self.places[named]

    def slot(self, call: AggregateCall, keep: Keep) -> int:
        """The place of the values that the call is given, new or shared."""
        named = (keep, call.argument, call.where, call.by, call.function == "single")
        if named not in self.places:
            self.places[named] = len(self.slots)
            self.slots.append(Slot(self.given(call), given_kind(call, self.rows), keep))
        return self.places[named]

    # --- how results are read off it ---

    def finish(self, call: AggregateCall) -> Finish:
        """The function from what is kept of a group to the result of this call."""
        match call.function:
            case "min" | "max" | "arg_min" | "arg_max":
                return self.extreme(call)
            case "array_agg" | "quantile" | "single":
                return self.walk(call)
            case "bool_and" | "bool_or":
                return self.logical(call)
            case "variance_pop" | "variance_samp" | "stddev_pop" | "stddev_samp":
                return self.spread(call)
        count = self.count_place(call, self.given(call))
        if call.function in ("count_star", "count"):
            return lambda sums, read: in_64_bits(sums[count], call)
        return self.sum_or_average(call, count)

    def count_place(self, call: AggregateCall, argument: Given) -> int:
        """The weight of what the call is given: of all rows if it is given something for each."""
        always = call.argument is None or not call.argument.nullable_in(self.rows)
        if always and call.where is None and not counted_once(call):
            return ROWS
        return self.sum(call, "count", one)

    def total_places(self, call: AggregateCall) -> tuple[int, tuple[int, ...]]:
        """The place of the sum of units, and for DOUBLE those of the weights of +∞, −∞ and NaN."""
        kind = given_kind(call, self.rows)
        if kind == BIGINT:
            return self.sum(call, "sum"), ()
        return self.sum(call, "sum", finite_units(kind)), self.special_places(call, kind)

    def special_places(self, call: AggregateCall, kind: Type) -> tuple[int, ...]:
        if kind != DOUBLE:
            return ()
        return tuple(self.sum(call, special, is_special(special)) for special in SPECIALS)

    def sum_or_average(self, call: AggregateCall, count: int) -> Finish:
        kind = given_kind(call, self.rows)
        total, specials = self.total_places(call)
        if call.function == "sum" and kind == BIGINT:
            return bigint_sum(call, total, count)

        def result(sums: list[Any], read: list[Any]) -> Value:
            if not sums[count] > 0:
                return None
            if specials:
                special = special_total(*[sums[place] for place in specials])
                if special is not None:
                    return special
            if call.function == "sum":
                return sum_of_units(sums[total], kind, call)
            return average_of_units(sums[total], sums[count], kind)

        return result

    def spread(self, call: AggregateCall) -> Finish:
        """VARIANCE and STDDEV, off the sums of the values and of their squares."""
        kind = given_kind(call, self.rows)
        count = self.count_place(call, self.given(call))
        total, specials = self.total_places(call)
        squares = self.sum(call, "squares", squared(finite_units(kind)))
        unit = unit_of(kind)
        less = 1 if call.function.endswith("samp") else 0
        square_root = call.function.startswith("stddev")

        def result(sums: list[Any], read: list[Any]) -> Value:
            n = sums[count]
            if not n > less:
                return None
            if any(sums[place] for place in specials):
                return NAN
            deviations = n * sums[squares] - sums[total] * sums[total]
            variance = divided(deviations, n * (n - less) * unit * unit)
            return root(variance) if square_root else variance

        return result

    def logical(self, call: AggregateCall) -> Finish:
        """BOOL_AND and BOOL_OR, off the weights of TRUE and of FALSE."""
        true = self.sum(call, True, lambda value: 1 if value else None)
        false = self.sum(call, False, lambda value: None if value else 1)
        decisive, otherwise = (false, true) if call.function == "bool_and" else (true, false)
        answer = call.function == "bool_or"

        def result(sums: list[Any], read: list[Any]) -> Value:
            if sums[decisive] > 0:
                return answer
            return not answer if sums[otherwise] > 0 else None

        return result

    def extreme(self, call: AggregateCall) -> Finish:
        place, side = self.slot(call, ENDS), int(call.function.endswith("max"))
        if call.by is None:
            return lambda sums, read: read[place][side]

        def argument(sums: list[Any], read: list[Any]) -> Value:
            pair = read[place][side]
            return None if pair is None else pair[1]

        return argument

    def walk(self, call: AggregateCall) -> Finish:
        """ARRAY_AGG, quantiles and SINGLE, off the values in order."""
        place, kind = self.slot(call, ORDER), given_kind(call, self.rows)
        if call.function == "array_agg":
            return lambda sums, read: whole(read[place])
        if call.function == "single":
            return lambda sums, read: only_value(call, read[place])
        fraction = Fraction(call.fraction or 0)
        return lambda sums, read: quantile(read[place], fraction, kind)


# --- parts ---


def one(value: Value) -> int:
    return 1


def itself(value: Value) -> Any:
    return value


def of_given(part: Part, given: Given) -> Part:
    """The part of what a call is given for a row."""

    def of_row(row: Row) -> Any:
        value = given(row)
        return None if value is None else part(value)

    return of_row


def finite_units(kind: Type) -> Part:
    """A value as a whole number of its type's unit; nothing for +∞, −∞ and NaN."""
    units = units_of(kind)
    return (lambda value: None if value in SPECIALS else units(value)) if kind == DOUBLE else units


def squared(units: Part) -> Part:
    def square(value: Value) -> Any:
        number = units(value)
        return None if number is None else number * number

    return square


def is_special(special: float) -> Part:
    """1 for this special value; NaN is one object."""
    return lambda value: 1 if value is special or value == special else None


# --- results ---


def bigint_sum(call: AggregateCall, total: int, count: int) -> Finish:
    """SUM(BIGINT): `sum_of_units`, without a call per group."""

    def result(sums: list[Any], read: list[Any]) -> Value:
        if not sums[count] > 0:
            return None
        value = sums[total]
        return value if BIGINT_MIN <= value <= BIGINT_MAX else in_64_bits(value, call)

    return result


def whole(values: InOrder) -> Value:
    """Every value as often as it is there; None for none."""
    return tuple([value for entry in values.upwards() for value in copies(entry)]) or None


def only_value(call: AggregateCall, values: InOrder) -> Value:
    """The only value's only column. Raises EvaluationError when there are more."""
    if values.total > 1:
        raise EvaluationError(too_many_rows(call, values.total))
    entry = values.first()
    return None if entry is None else entry.row[0]


def quantile(values: InOrder, fraction: Fraction, kind: Type) -> Value:
    """The number at a fraction of the way from the first to the last copy."""
    position = fraction * max(values.total - 1, 0)
    below = int(position)
    low, high = values.nth(below), values.nth(below + (position > below))
    if low is None or high is None:
        return None
    return between(low.row, high.row, position - below, kind)
