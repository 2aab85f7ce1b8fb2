"""A delta changes only the groups it touches, and a group's sums by the delta's sums.

The state of a group is

    sums      whole numbers, linear in the weights: its rows, and what COUNT, SUM, AVG add up
    values    for MIN and MAX, the values in order
    row       the output row that is in the view now, None when there is none
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.store import Values, add_into
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
    DOUBLE,
    Row,
    Schema,
    Type,
    Value,
    key_function,
)
from deltaproof.reference.zset import ZSet

Part = Callable[[Row], Any]  # what one row of weight 1 adds to a sum; None adds nothing
Finish = Callable[[list[Any], list[tuple[Value, Value]]], Value]  # (sums, extremes) → result

ROWS = 0  # the first sum of every group is the weight of its rows


@dataclass
class Layout:
    """Which sums and which ordered values the calls need; a part that two calls need is kept once."""

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

        def result(sums: list[Any], extremes: list[tuple[Value, Value]]) -> Value:
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


def in_units(argument: Part, units: Callable[[Value], int]) -> Part:
    """The argument as a whole number of its type's unit."""

    def part(row: Row) -> int | None:
        value = argument(row)
        return None if value is None else units(value)

    return part


def finite_or_null(value: Value) -> Value:
    return None if value in SPECIALS else value


def is_special(argument: Part, special: float) -> Part:
    """1 where the argument is this special value (NaN is one object, so `in` finds it)."""
    return lambda row: 1 if argument(row) in (special,) else None


@dataclass
class Group:
    """What is kept of one group."""

    sums: list[Any]
    values: list[Values]
    row: Row | None


class Change:
    """What a delta adds to one group."""

    __slots__ = ("sums", "values")

    def __init__(self, sums: int, values: int) -> None:
        self.sums: list[Any] = [0] * sums
        self.values: list[dict[Value, Any]] = [{} for _ in range(values)]


class AggregateIncrement:
    """Keeps a `Group` per key; a tick costs the delta and the groups it touches.

    Source   DBSP (VLDB 2023) sections 7.2 and 7.4
    """

    def __init__(
        self, keys: tuple[str, ...], calls: Iterable[AggregateCall], rows: Schema
    ) -> None:
        self.keyless = not keys
        self.key_of = key_function([rows.index(key) for key in keys])
        self.key_schema = Schema(tuple(rows.column(key) for key in keys))
        self.layout = Layout(rows)
        self.finishes = [self.layout.finish(call) for call in calls]
        self.parts = list(enumerate(self.layout.parts))[1:]
        self.arguments = [argument for argument, _ in self.layout.arguments]
        self.orders = [kind.order for _, kind in self.layout.arguments]
        self.clear()

    def clear(self) -> None:
        self.groups: dict[Row, Group] = {}
        self.staged: dict[Row, tuple[Change, Row | None]] = {}

    def step(self, delta: ZSet) -> ZSet:
        changes = self.fold(delta)
        if self.keyless and () not in self.groups:  # its row is there from the first tick on
            changes.setdefault((), self.no_change())
        output: dict[Row, int] = {}
        staged = {}
        for key, change in changes.items():  # a group outside the delta keeps its row
            group = self.groups.get(key)
            before = group.row if group else None
            after = self.row_after(key, group, change)
            staged[key] = (change, after)
            if before != after:
                if before is not None:
                    output[before] = -1
                if after is not None:
                    output[after] = 1
        self.staged = staged
        return ZSet.trusted(output)

    def fold(self, delta: ZSet) -> dict[Row, Change]:
        """The delta's contribution to every group that it touches."""
        changes: dict[Row, Change] = {}
        key_of, parts = self.key_of, self.parts
        for row, weight in delta.items():
            key = key_of(row)
            change = changes.get(key)
            if change is None:
                change = changes[key] = self.no_change()
            sums = change.sums
            sums[ROWS] += weight
            for place, part in parts:
                value = part(row)
                if value is not None:
                    sums[place] += value * weight
            for argument, values in zip(self.arguments, change.values):
                value = argument(row)
                if value is not None:
                    values[value] = values.get(value, 0) + weight
        return changes

    def no_change(self) -> Change:
        return Change(len(self.parts) + 1, len(self.arguments))

    def row_after(self, key: Row, group: Group | None, change: Change) -> Row | None:
        """The group's output row once the change is applied; None when the group is not there."""
        sums = change.sums
        if group:
            sums = [before + more for before, more in zip(group.sums, sums)]
        if not (self.keyless or sums[ROWS] > 0):
            return None
        extremes = self.extremes_after(group, change)
        try:
            return (*key, *[finish(sums, extremes) for finish in self.finishes])
        except EvaluationError as error:
            raise EvaluationError(f"{error} in group {key!r}") from None

    def extremes_after(self, group: Group | None, change: Change) -> list[tuple[Value, Value]]:
        """(MIN, MAX) of each kept argument once the change is applied."""
        kept = group.values if group else self.no_values()
        return [values.extremes_after(more) for values, more in zip(kept, change.values)]

    def no_values(self) -> list[Values]:
        return [Values(order) for order in self.orders]

    def commit(self) -> None:
        for key, (change, row) in self.staged.items():
            group = self.groups.get(key)
            if group is None:
                group = self.groups[key] = Group([0] * len(change.sums), self.no_values(), None)
            group.sums = [before + more for before, more in zip(group.sums, change.sums)]
            for values, more in zip(group.values, change.values):
                values.add(more)
            group.row = row
            if not (self.keyless or any(group.sums) or any(group.values)):
                del self.groups[key]
        self.staged = {}

    def save(self) -> Any:
        return [
            [
                self.key_schema.row_to_json(key),
                group.sums,
                [
                    [[kind.to_json(value), weight] for value, weight in values.weights.items()]
                    for (_, kind), values in zip(self.layout.arguments, group.values)
                ],
            ]
            for key, group in self.groups.items()
        ]

    def restore(self, saved: Any) -> None:
        self.clear()
        for key, sums, kept in saved:
            change = self.no_change()
            change.sums = sums
            for (_, kind), values, entries in zip(self.layout.arguments, change.values, kept):
                add_into(values, [(kind.from_json(value), weight) for value, weight in entries])
            row = self.key_schema.row_from_json(key)
            self.staged[row] = (change, self.row_after(row, None, change))
        self.commit()
