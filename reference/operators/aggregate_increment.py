"""A delta changes only the groups it touches, and a group's sums by the delta's sums.

The state of a group is its sums (whole numbers, linear in the weights: its rows, and what
COUNT, SUM and AVG add up), its output row, and for MIN and MAX its values in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.store import Values
from deltaproof.reference.sums import (
    SPECIALS,
    average_of_units,
    in_64_bits,
    special_total,
    sum_of_units,
    units_of,
)
from deltaproof.reference.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    DOUBLE,
    Row,
    Schema,
    Type,
    Value,
    key_function,
)
from deltaproof.reference.zset import ZSet

Part = Callable[[Row], Any]  # what one row of weight 1 adds to a sum; None adds nothing
Extremes = tuple[Value, Value]  # (MIN, MAX)
Finish = Callable[[list[Any], list[Extremes]], Value]  # (sums, extremes) → result
NO_EXTREMES: list[Extremes] = []

ROWS = 0  # the first sum of every group is the weight of its rows


@dataclass
class Layout:
    """The sums and the ordered values that the calls need; one that two calls need is kept once."""

    rows: Schema
    parts: list[Part] = field(default_factory=lambda: [lambda row: 1])
    places: dict[Any, int] = field(default_factory=lambda: {"rows": ROWS})
    arguments: list[tuple[Part, Type]] = field(default_factory=list)

    def sum(self, name: Any, part: Part) -> int:
        """The place of this sum, new or shared."""
        if name not in self.places:
            self.places[name] = len(self.parts)
            self.parts.append(part)
        return self.places[name]

    def values(self, call: AggregateCall, argument: Part, kind: Type) -> int:
        """The place of the ordered values of this argument, new or shared."""
        name = ("values", call.argument)
        if name not in self.places:
            self.places[name] = len(self.arguments)
            self.arguments.append((argument, kind))
        return self.places[name]

    def finish(self, call: AggregateCall) -> Finish:
        """The function from a group's state to the result of this call."""
        if call.argument is None:
            return lambda sums, extremes: in_64_bits(sums[ROWS], call)
        argument, kind = call.argument.compile(self.rows), call.argument.type_in(self.rows)
        if call.function in ("min", "max"):
            place, side = self.values(call, argument, kind), int(call.function == "max")
            return lambda sums, extremes: extremes[place][side]
        count = self.count_place(call, argument)
        if call.function == "count":
            return lambda sums, extremes: in_64_bits(sums[count], call)
        total, specials = self.total_places(call, argument, kind)
        if call.function == "sum" and kind == BIGINT:
            return bigint_sum(call, total, count)

        def result(sums: list[Any], extremes: list[Extremes]) -> Value:
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

    def count_place(self, call: AggregateCall, argument: Part) -> int:
        """The weight of the rows where the argument is not NULL: of all rows if it never is."""
        if call.argument is None or not call.argument.nullable_in(self.rows):
            return ROWS
        return self.sum(("count", call.argument), lambda row: None if argument(row) is None else 1)

    def total_places(
        self, call: AggregateCall, argument: Part, kind: Type
    ) -> tuple[int, tuple[int, ...]]:
        """The place of the sum of units, and for DOUBLE those of the weights of +∞, −∞ and NaN."""
        if kind != DOUBLE:
            part = argument if kind == BIGINT else in_units(argument, units_of(kind))
            return self.sum(("sum", call.argument), part), ()
        finite = in_units(lambda row: finite_or_null(argument(row)), units_of(kind))
        specials = tuple(
            self.sum((special, call.argument), is_special(argument, special))
            for special in SPECIALS
        )
        return self.sum(("sum", call.argument), finite), specials


def bigint_sum(call: AggregateCall, total: int, count: int) -> Finish:
    """SUM(BIGINT): `sum_of_units`, without a call per group."""

    def result(sums: list[Any], extremes: list[Extremes]) -> Value:
        if not sums[count] > 0:
            return None
        value = sums[total]
        return value if BIGINT_MIN <= value <= BIGINT_MAX else in_64_bits(value, call)

    return result


def in_units(argument: Part, units: Callable[[Value], int]) -> Part:
    """The argument as a whole number of its type's unit."""

    def part(row: Row) -> int | None:
        value = argument(row)
        return None if value is None else units(value)

    return part


def finite_or_null(value: Value) -> Value:
    return None if value in SPECIALS else value


def is_special(argument: Part, special: float) -> Part:
    """1 where the argument is this special value."""

    def part(row: Row) -> int | None:
        value = argument(row)
        return 1 if value is special or value == special else None  # NaN is one object

    return part


# The sums, and last the output row that is in the view now, or None. A tuple of plain values is
# nothing that the garbage collector must walk, however many groups there are.
Group = tuple[Any, ...]
Changes = dict[Value, Any]  # value → change of its weight


class AggregateIncrement:
    """Keeps sums, ordered values and the output row of each group; a tick costs what it touches.

    Source   DBSP (VLDB 2023) sections 7.2 and 7.4
    """

    def __init__(self, keys: tuple[str, ...], calls: Iterable[AggregateCall], rows: Schema) -> None:
        self.keyless = not keys
        self.key_of = key_function([rows.index(key) for key in keys])
        self.key_schema = Schema(tuple(rows.column(key) for key in keys))
        self.layout = Layout(rows)
        self.finishes = [self.layout.finish(call) for call in calls]
        self.only_finish = self.finishes[0] if len(self.finishes) == 1 else None
        self.parts = list(enumerate(self.layout.parts))[1:]
        self.no_group: Group = (*[0 for _ in self.layout.parts], None)
        self.arguments = [argument for argument, _ in self.layout.arguments]
        self.orders = [kind.order for _, kind in self.layout.arguments]
        self.clear()

    def clear(self) -> None:
        self.groups: dict[Row, Group] = {}
        self.values: dict[Row, list[Values]] = {}
        self.stage({}, {})

    def stage(self, groups: dict[Row, Group], values: dict[Row, list[Changes]]) -> None:
        """What `commit` will put in place: the groups as they will be, changes of their values."""
        self.staged_groups, self.staged_values = groups, values

    def step(self, delta: ZSet) -> ZSet:
        touched = self.fold_sums(delta)
        value_changes = self.fold_values(delta) if self.arguments else {}
        if self.keyless and () not in self.groups:  # its row is there from the first tick on
            touched.setdefault((), list(self.no_group))
        row_after = self.row_after
        output: dict[Row, int] = {}
        groups: dict[Row, Group] = {}
        for key, group in touched.items():  # a group outside the delta keeps its row
            before = group[-1]
            after = group[-1] = row_after(key, group, value_changes)
            groups[key] = tuple(group)
            if before != after:
                if before is not None:
                    output[before] = -1
                if after is not None:
                    output[after] = 1
        self.stage(groups, value_changes)
        return ZSet.trusted(output)

    def fold_sums(self, delta: ZSet) -> dict[Row, list[Any]]:
        """Every group that the delta touches: its sums with the delta's added, its row as it is."""
        touched: dict[Row, list[Any]] = {}
        key_of, parts, group_of, no_group = self.key_of, self.parts, self.groups.get, self.no_group
        for row, weight in delta.items():
            key = key_of(row)
            sums = touched.get(key)
            if sums is None:
                sums = touched[key] = list(group_of(key, no_group))
            sums[ROWS] += weight
            for place, part in parts:
                value = part(row)
                if value is not None:
                    sums[place] += value * weight
        return touched

    def fold_values(self, delta: ZSet) -> dict[Row, list[Changes]]:
        """What the delta adds to the ordered values of every group that it touches."""
        changes: dict[Row, list[Changes]] = {}
        for row, weight in delta.items():
            key = self.key_of(row)
            values = changes.get(key)
            if values is None:
                values = changes[key] = [{} for _ in self.arguments]
            for argument, weights in zip(self.arguments, values, strict=True):
                value = argument(row)
                if value is not None:
                    weights[value] = weights.get(value, 0) + weight
        return changes

    def row_after(self, key: Row, sums: list[Any], changes: dict[Row, list[Changes]]) -> Row | None:
        """The group's output row once these are its sums; None when the group is not there."""
        if not (self.keyless or sums[ROWS] > 0):
            return None
        extremes = self.extremes_after(key, changes) if self.arguments else NO_EXTREMES
        try:
            if self.only_finish:
                return (*key, self.only_finish(sums, extremes))
            return (*key, *[finish(sums, extremes) for finish in self.finishes])
        except EvaluationError as error:
            raise EvaluationError(f"{error} in group {key!r}") from None

    def extremes_after(self, key: Row, changes: dict[Row, list[Changes]]) -> list[Extremes]:
        """(MIN, MAX) of each kept argument once the changes are applied."""
        kept = self.values.get(key) or self.no_values()
        change = changes.get(key) or [{} for _ in kept]
        return [values.extremes_after(more) for values, more in zip(kept, change, strict=True)]

    def no_values(self) -> list[Values]:
        return [Values(order) for order in self.orders]

    def commit(self) -> None:
        self.groups.update(self.staged_groups)
        for key, changes in self.staged_values.items():
            kept = self.values.get(key)
            if kept is None:
                kept = self.values[key] = self.no_values()
            for values, more in zip(kept, changes, strict=True):
                values.add(more)
        for key, group in self.staged_groups.items():
            if group[-1] is None:
                self.forget_if_empty(key, group)
        self.stage({}, {})

    def forget_if_empty(self, key: Row, group: Group) -> None:
        """A group without rows takes no room; one whose weights only sum to zero stays."""
        if not any(group) and not any(self.values.get(key, ())):
            del self.groups[key]
            self.values.pop(key, None)

    def save(self) -> Any:
        kinds = [kind for _, kind in self.layout.arguments]
        return [
            [
                self.key_schema.row_to_json(key),
                sums,
                [
                    [[kind.to_json(value), weight] for value, weight in values.weights.items()]
                    for kind, values in zip(kinds, self.values.get(key, ()), strict=False)
                ],
            ]
            for key, (*sums, _) in self.groups.items()
        ]

    def restore(self, saved: Any) -> None:
        self.clear()
        kinds = [kind for _, kind in self.layout.arguments]
        groups, values = {}, {}
        for saved_key, sums, saved_values in saved:
            key = self.key_schema.row_from_json(saved_key)
            values[key] = [
                {kind.from_json(value): weight for value, weight in entries}
                for kind, entries in zip(kinds, saved_values or [[]] * len(kinds), strict=True)
            ]
            groups[key] = (*sums, self.row_after(key, sums, values))
        self.stage(groups, values if self.arguments else {})
        self.commit()
