"""The state of incremental operators follows the data: what cancels out takes no room.

add_into   weights += delta, in place, zeros removed
Index      rows by key, for joins
Weights    the values of one group with their weights, for DISTINCT
Values     the values of one group in order, for MIN and MAX
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from deltaproof.reference.types import Row, Value
from deltaproof.reference.zset import Weight

BLOCK = 500  # values of a block of an order, at least, once it was split


def add_into(weights: dict[Any, Weight], delta: Iterable[tuple[Any, Weight]]) -> None:
    """Adds the delta to the weights in place; a weight that becomes zero is removed.

    >>> weights = {"a": 1}
    >>> add_into(weights, [("a", -1), ("b", 2)])
    >>> weights
    {'b': 2}
    """
    get = weights.get
    for row, change in delta:
        weight = get(row, 0) + change
        if weight:
            weights[row] = weight
        else:
            weights.pop(row, None)


class Index:
    """A Z-set arranged by key: key → the rows with that key and their weights.

    Rows whose key function gives None (a NULL in the key) are not kept: they match nothing.

    >>> index = Index(lambda row: row[:1])
    >>> index.add([(("k", 1), 1), (("k", 2), 1), (("k", 1), -1)])
    >>> index.rows
    {('k',): {('k', 2): 1}}
    >>> index.add([(("k", 2), -1)])
    >>> index.rows
    {}
    """

    __slots__ = ("key", "rows")

    def __init__(self, key: Callable[[Row], Row | None]) -> None:
        self.key = key
        self.rows: dict[Row, dict[Row, Weight]] = {}

    def add(self, delta: Iterable[tuple[Row, Weight]]) -> None:
        """Adds a delta; an emptied key is removed, and comes back like a new one."""
        key_of, rows = self.key, self.rows
        for row, change in delta:
            key = key_of(row)
            if key is None:
                continue
            bucket = rows.get(key)
            if bucket is None:
                bucket = rows[key] = {}
            weight = bucket.get(row, 0) + change
            if weight:
                bucket[row] = weight
            else:
                bucket.pop(row, None)
                if not bucket:
                    del rows[key]

    def of(self, key: Row | None) -> dict[Row, Weight]:
        """The rows with this key; none for None."""
        return self.rows.get(key, {}) if key is not None else {}

    def items(self) -> Iterator[tuple[Row, Weight]]:
        for bucket in self.rows.values():
            yield from bucket.items()


class Weights:
    """The values of one group with their weights, in no order.

    >>> values = Weights()
    >>> values.add({3: 1, 5: 2})
    >>> values.add({3: -1})
    >>> values.weight(3), dict(values.items())
    (0, {5: 2})
    """

    __slots__ = ("weights",)

    def __init__(self) -> None:
        self.weights: dict[Value, Weight] = {}

    def add(self, delta: Mapping[Value, Weight]) -> None:
        add_into(self.weights, delta.items())

    def weight(self, value: Value) -> Weight:
        return self.weights.get(value, 0)

    def items(self) -> Iterable[tuple[Value, Weight]]:
        return self.weights.items()

    def __bool__(self) -> bool:
        return bool(self.weights)


class Values(Weights):
    """The values of one group with their weights, those of positive weight in order.

    >>> values = Values(lambda value: value)
    >>> values.add({3: 1, 5: 1, 9: -1})
    >>> values.extremes_after({3: -1})
    (5, 5)
    >>> values.extremes_after({})
    (3, 5)
    >>> values.extremes_after({3: -1, 5: -1})
    (None, None)
    """

    __slots__ = ("blocks", "lasts", "order")

    def __init__(self, order: Callable[[Value], Any]) -> None:
        super().__init__()
        self.order = order
        # The values of positive weight, ascending, in blocks, and beside each its sort key: what
        # comes or goes moves the rest of its block, not of the group.
        self.blocks: list[tuple[list[Any], list[Value]]] = []
        self.lasts: list[Any] = []  # the last key of each block

    def add(self, delta: Mapping[Value, Weight]) -> None:
        """Adds a change of weights; only a value that crosses zero moves in the order."""
        for value, change in delta.items():
            before = self.weights.get(value, 0)
            add_into(self.weights, [(value, change)])
            after = self.weights.get(value, 0)
            if (before > 0) != (after > 0):
                self._place(value, after > 0)

    def _place(self, value: Value, present: bool) -> None:
        key = self.order(value)
        if not self.blocks:
            self.blocks.append(([], []))
            self.lasts.append(key)
        place = min(bisect_left(self.lasts, key), len(self.blocks) - 1)
        keys, values = self.blocks[place]
        position = bisect_left(keys, key)
        if present:
            keys.insert(position, key)
            values.insert(position, value)
        else:
            del keys[position], values[position]
        self._keep_size(place)

    def _keep_size(self, place: int) -> None:
        """An empty block goes; one of twice the size is two; the last keys are right again."""
        keys, values = self.blocks[place]
        half = len(keys) // 2
        parts = [(keys, values)] if keys else []
        if half >= BLOCK:
            parts = [(keys[:half], values[:half]), (keys[half:], values[half:])]
        self.blocks[place : place + 1] = parts
        self.lasts[place : place + 1] = [part[0][-1] for part in parts]

    def upwards(self) -> Iterator[Value]:
        """The values of positive weight, the least first."""
        return chain.from_iterable(values for _, values in self.blocks)

    def downwards(self) -> Iterator[Value]:
        """The same, the greatest first."""
        return chain.from_iterable(reversed(values) for _, values in reversed(self.blocks))

    def extremes_after(self, delta: Mapping[Value, Weight]) -> tuple[Value, Value]:
        """(MIN, MAX) as they will be after this change, which is not applied; None over nothing.

        Costs the size of the change, whatever the size of the group.
        """
        present = [v for v, change in delta.items() if self.weights.get(v, 0) + change > 0]
        for kept in (self.upwards(), self.downwards()):
            for value in kept:
                if value not in delta:
                    present.append(value)
                    break
        if not present:
            return None, None
        return min(present, key=self.order), max(present, key=self.order)
