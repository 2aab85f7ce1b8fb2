"""What an operator reads in an order changes only near the rows that change.

Each partition is kept in order. A tick changes a few rows of it; the operator says which
*stretches* of the order those changes can be seen from, and what the rows of a stretch give.
Those are put out as they will be, less as they were:

    Q(a + d) - Q(a)  =  Σ over stretches of   rows(a + d, stretch) - rows(a, stretch)

since outside the stretches both are equal. Stretches that overlap are one, so that no row is
counted twice.

Source   theorem `grouped_increment`: a change of one group changes no other, and within it
         whatever holds every difference may stand for the whole
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

from deltaproof.reference.operator import Meaning, zset_from_json, zset_to_json
from deltaproof.reference.order import Order, order_key
from deltaproof.reference.ordered import (
    After,
    Change,
    Entry,
    InOrder,
    Key,
    Ordered,
    copies,
    in_order,
)
from deltaproof.reference.types import Row, Schema, key_function
from deltaproof.reference.zset import Weight, ZSet, without_zeros

Stretch: TypeAlias = tuple[Key, Key]  # from the first key to the last; None is without bound
Rows: TypeAlias = Iterable[tuple[Row, Weight]]
Reach: TypeAlias = Callable[[Change, Iterator[Entry]], Iterator[Entry]]


class Reader(Protocol):
    """What an operator reads in the order of one partition."""

    def stretches(self, before: Ordered, after: After) -> Iterable[Stretch]:
        """Where the output may differ, in order."""

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        """The output of the rows in this stretch."""


class OrderedIncrement:
    """Keeps each partition in order; reads what the changes of a tick can be seen from.

    A partition without rows takes no room.
    """

    def __init__(
        self, rows: Schema, partition: Sequence[str], order: Sequence[Order], reader: Reader
    ) -> None:
        self.schema = rows
        self.partition_of = partition_function(rows, partition)
        self.key = order_key(order, rows)
        self.reader = reader
        self.clear()

    def clear(self) -> None:
        self.groups: dict[Row, Ordered] = {}
        self.staged: dict[Row, dict[Row, Weight]] = {}

    def step(self, delta: ZSet) -> ZSet:
        self.staged = by_partition(self.partition_of, delta)
        output: dict[Row, Weight] = {}
        for partition, changes in self.staged.items():
            before = self.groups.get(partition) or Ordered(self.key)
            after = After(before, changes)
            if after.changes:
                self.read(partition, before, after, output)
        return ZSet.trusted(without_zeros(output))

    def read(
        self, partition: Row, before: Ordered, after: After, output: dict[Row, Weight]
    ) -> None:
        """Adds what this partition changes in the output."""
        stretches = self.reader.stretches(before, after)
        views = partial(self.reader.rows, before), partial(self.reader.rows, after)
        add_difference(stretches, *views, output)

    def commit(self) -> None:
        for partition, changes in self.staged.items():
            if partition not in self.groups:
                self.groups[partition] = Ordered(self.key)
            group = self.groups[partition]
            group.add(changes)
            if not group:
                del self.groups[partition]
        self.staged = {}

    def save(self) -> Any:
        weights = {row: weight for group in self.groups.values() for row, weight in group.items()}
        return zset_to_json(self.schema, ZSet.trusted(weights))

    def restore(self, saved: Any) -> None:
        self.clear()
        self.staged = by_partition(self.partition_of, zset_from_json(self.schema, saved))
        self.commit()


def add_difference(
    stretches: Iterable[Stretch],
    rows_before: Callable[[Stretch], Rows],
    rows_after: Callable[[Stretch], Rows],
    output: dict[Row, Weight],
) -> None:
    """Adds what the stretches give after the change, less what they gave before it."""
    for stretch in merged(stretches):
        for row, weight in rows_before(stretch):
            output[row] = output.get(row, 0) - weight
        for row, weight in rows_after(stretch):
            output[row] = output.get(row, 0) + weight


def merged(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Stretches in the order of their first keys, those that touch made one.

    >>> list(merged([(1, 3), (3, 4), (6, 6), (5, 9)]))
    [(1, 4), (5, 9)]
    >>> list(merged([(1, 3), (None, 2), (7, None), (8, 9)]))
    [(None, 3), (7, None)]
    """
    waiting: list[Stretch] = []
    for low, high in stretches:
        while waiting and touches(waiting[-1], low):
            first, last = waiting.pop()
            low = lower_of(first, low)
            high = None if high is None or last is None else max(high, last)
        waiting.append((low, high))
    yield from waiting


def touches(stretch: Stretch, low: Key) -> bool:
    """Whether a stretch that begins at this key, not before it, begins within the other."""
    _, last = stretch
    return low is None or last is None or not last < low


def lower_of(first: Key, second: Key) -> Key:
    return None if first is None or second is None else min(first, second)


def reached(before: Ordered, after: After, up: Reach | None, down: Reach | None) -> list[Stretch]:
    """For each change, what can be reached from it in either view, upwards and downwards.

    `up` takes the change and the entries above it, nearest first, and yields those that see it;
    None stands for all; `down` likewise. A walk that comes to the next change ends there: what
    lies beyond is that one's to find. So together they walk no entry twice per view.
    """
    ends = [None, *after.keys, None]
    stretches = []
    for change, previous, following in zip(after.changes, ends, ends[2:], strict=False):
        low = high = change.key
        for group in (before, after):
            if down is not None:
                entries = until(group.downwards(change.key), previous, operator.gt)
                low = min([low, *[entry.key for entry in down(change, entries)][-1:]])
            if up is not None:
                entries = until(above(group, change.key), following, operator.lt)
                high = max([high, *[entry.key for entry in up(change, entries)][-1:]])
        stretches.append((low if down else None, high if up else None))
    return stretches


def nothing(change: Change, entries: Iterator[Entry]) -> Iterator[Entry]:
    """Where no other row sees the change."""
    return iter(())


def copies_within(distance: int) -> Reach:
    """The entries that have a copy at most so many copies away."""
    return lambda change, entries: taken(entries, distance)


def copies_around(
    group: InOrder, stretch: Stretch, back: int | None, forward: int | None
) -> tuple[list[Row], int, int]:
    """The copies of a stretch and so many on either side; where among them the stretch is.

    None stands for all. Copies beyond the list are not there, or further away.
    """
    low, high = stretch
    inside = [row for entry in group.between(low, high) for row in copies(entry)]
    below = group.downwards(low) if low is not None else iter(())
    front = [row for entry in taken(below, back) for row in copies(entry)]
    behind: list[Row] = []
    if high is not None:
        behind = [row for entry in taken(above(group, high), forward) for row in copies(entry)]
    return [*reversed(front), *inside, *behind], len(front), len(front) + len(inside)


def taken(entries: Iterator[Entry], count: int | None) -> Iterator[Entry]:
    """Entries until they have this many copies; None stands for all."""
    left: Weight = count
    for entry in entries:
        if left is not None:
            if not left > 0:
                return
            left = left - entry.weight
        yield entry


def above(group: InOrder, key: Key) -> Iterator[Entry]:
    """The entries whose key is above this one."""
    return (entry for entry in group.upwards(key) if entry.key != key)


def until(
    entries: Iterator[Entry], end: Key, is_before: Callable[[Key, Key], bool]
) -> Iterator[Entry]:
    """The entries before the end, and the one that is there or just beyond it."""
    for entry in entries:
        yield entry
        if end is not None and not is_before(entry.key, end):
            return


def partition_function(rows: Schema, partition: Sequence[str]) -> Callable[[Row], Row]:
    """The function from a row to the values that name its partition; NULLs are equal."""
    return key_function([rows.index(name) for name in partition])


def by_partition(partition_of: Callable[[Row], Row], delta: ZSet) -> dict[Row, dict[Row, Weight]]:
    """The delta, each partition's rows by themselves."""
    partitions: dict[Row, dict[Row, Weight]] = {}
    for row, weight in delta.items():
        partitions.setdefault(partition_of(row), {})[row] = weight
    return partitions


def read_in_order(
    rows: Schema,
    partition: Sequence[str],
    order: Sequence[Order],
    results: Callable[[list[Entry]], Rows],
) -> Meaning:
    """The meaning that reads each partition's rows of positive weight in order, from nothing."""
    partition_of, key = partition_function(rows, partition), order_key(order, rows)

    def meaning(table: ZSet) -> ZSet:
        groups = by_partition(partition_of, table).values()
        return ZSet(each for group in groups for each in results(in_order(key, group.items())))

    return meaning
