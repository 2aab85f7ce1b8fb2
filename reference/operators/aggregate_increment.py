"""A delta changes only the groups it touches, and a group's sums by the delta's sums.

The state of a group is its sums (whole numbers, linear in the weights: its rows, and what
COUNT, SUM and AVG add up), its output row, and values kept one by one where a call needs them.
What is kept for which call, and how results are read off it: `aggregate_layout`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deltaproof.reference.errors import CheckpointError, EvaluationError
from deltaproof.reference.operators.aggregate_layout import ROWS, Kept, Layout
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import Row, Schema, Value, key_function
from deltaproof.reference.zset import Weight, ZSet, is_weight, positive

__all__ = ["ROWS", "AggregateIncrement", "Layout"]

NOTHING_READ: list[Any] = []

# The sums, and last the output row that is in the view now, or None. A tuple of plain values is
# nothing that the garbage collector must walk, however many groups there are.
Group = tuple[Any, ...]
Changes = dict[Value, Weight]  # value → change of its weight


class AggregateIncrement:
    """Keeps sums, values and the output row of each group; a tick costs what it touches.

    Source   DBSP (VLDB 2023) sections 7.2 and 7.4
    """

    def __init__(self, keys: tuple[str, ...], calls: Iterable[AggregateCall], rows: Schema) -> None:
        self.keyless = not keys
        self.key_of = key_function([rows.index(key) for key in keys])
        self.key_schema = Schema(tuple(rows.column(key) for key in keys))
        self.layout = Layout(rows)
        self.finishes = [self.layout.finish(call) for call in calls]
        self.only_finish = self.finishes[0] if len(self.finishes) == 1 else None
        parts = enumerate(self.layout.parts)
        self.parts = [(place, part) for place, part in parts if place != ROWS and part is not None]
        self.no_group: Group = (*[0 for _ in self.layout.parts], None)
        self.slots = self.layout.slots
        self.crossings = [
            (n, slot.crossings) for n, slot in enumerate(self.slots) if slot.crossings
        ]
        self.clear()

    def clear(self) -> None:
        self.groups: dict[Row, Group] = {}
        self.values: dict[Row, list[Kept]] = {}
        self.stage({}, {})

    def stage(self, groups: dict[Row, Group], values: dict[Row, list[Changes]]) -> None:
        """What `commit` will put in place: the groups as they will be, changes of their values."""
        self.staged_groups, self.staged_values = groups, values

    def step(self, delta: ZSet) -> ZSet:
        touched = self.fold_sums(delta)
        value_changes = self.fold_values(delta) if self.slots else {}
        if self.crossings:
            self.fold_crossings(touched, value_changes)
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
                values = changes[key] = [{} for _ in self.slots]
            for slot, weights in zip(self.slots, values, strict=True):
                value = slot.given(row)
                if value is not None:
                    weights[value] = weights.get(value, 0) + weight
        return changes

    def fold_crossings(
        self, touched: dict[Row, list[Any]], changes: dict[Row, list[Changes]]
    ) -> None:
        """Adds to the sums of DISTINCT the values that come, and takes away those that go."""
        for key, values in changes.items():
            sums, kept = touched[key], self.values.get(key) or self.no_values()
            for n, crossings in self.crossings:
                for value, change in values[n].items():
                    before = kept[n].weight(value)
                    crossed = positive(before + change) - positive(before)
                    for place, part in crossings:
                        adds = part(value)
                        if adds is not None:
                            sums[place] += adds * crossed

    def row_after(self, key: Row, sums: list[Any], changes: dict[Row, list[Changes]]) -> Row | None:
        """The group's output row once these are its sums; None when the group is not there."""
        if not (self.keyless or sums[ROWS] > 0):
            return None
        read = self.values_after(key, changes) if self.slots else NOTHING_READ
        try:
            if self.only_finish:
                return (*key, self.only_finish(sums, read))
            return (*key, *[finish(sums, read) for finish in self.finishes])
        except EvaluationError as error:
            raise EvaluationError(f"{error} in group {key!r}") from None

    def values_after(self, key: Row, changes: dict[Row, list[Changes]]) -> list[Any]:
        """What the calls need of each slot once the changes are applied."""
        kept = self.values.get(key) or self.no_values()
        change = changes.get(key) or [{} for _ in kept]
        return [
            slot.keep.read(values, more)
            for slot, values, more in zip(self.slots, kept, change, strict=True)
        ]

    def no_values(self) -> list[Kept]:
        return [slot.empty() for slot in self.slots]

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
        return [
            [
                self.key_schema.row_to_json(key),
                sums,
                [
                    [[slot.kind.to_json(value), w] for value, w in values.items()]
                    for slot, values in zip(self.slots, self.values.get(key, ()), strict=False)
                ],
            ]
            for key, (*sums, _) in self.groups.items()
        ]

    def restore(self, saved: Any) -> None:
        self.clear()
        groups, values = {}, {}
        for saved_key, sums, saved_values in saved:
            key = self.key_schema.row_from_json(saved_key)
            if len(sums) != len(self.layout.parts) or not all(map(is_weight, sums)):
                raise CheckpointError(f"group {key!r}: expected its sums, got {sums!r:.80}")
            values[key] = [
                dict(ZSet([(slot.kind.from_json(value), w) for value, w in entries]).items())
                for slot, entries in zip(
                    self.slots, saved_values or [[]] * len(self.slots), strict=True
                )
            ]
            groups[key] = (*sums, self.row_after(key, sums, values))
        self.stage(groups, values if self.slots else {})
        self.commit()
