"""The rows of one group in order, at a cost that hardly grows with the group.

Operators that read an order (top-k, ranks, LAG, rolling aggregates, sessions, ASOF, quantiles)
ask the same few things of a group: what comes from here on, what comes before here, how many
rows stand before. They ask it twice at a tick: of the group as it was, and of the group as it
will be. Both answers come from here, and neither changes anything:

    InOrder     what can be asked: rows of positive weight, in order, each with its weight
    Ordered     a group as it is: the state of an operator
    After       the same group once a change is applied, which is not applied

    group = Ordered(order_key(order, schema))
    after = After(group, delta)          # in `step`: read `group` and `after`, decide
    group.add(delta)                     # in `commit`

A key is what `order.order_key` makes of a row: one item per term of ORDER BY, last the whole
row, so no two rows share a key. A shorter tuple, such as `key[:-1]`, comes before all keys that
begin with it; `(*key[:-1], LAST)` comes after them.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.types import Row
from deltaproof.reference.zset import Weight

Key: TypeAlias = Any  # comparable by < and ==
Total: TypeAlias = Any  # a sum of weights

BLOCK = 500  # entries, about; a block of twice as many is split
MOST_COPIES = 100_000  # of one row, where every copy has its own result


class Entry(NamedTuple):
    """A row of positive weight in its place."""

    key: Key
    row: Row
    weight: Weight


class Change(NamedTuple):
    """What a delta does to one row's weight in the order: 0 where the row is not there."""

    key: Key
    row: Row
    before: Weight
    after: Weight


class Last:
    """Comes after everything.

    >>> ("a", "z") < ("a", LAST), ("a", LAST) < ("b",), LAST < ("z",)
    (True, True, False)
    """

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __repr__(self) -> str:
        return "LAST"


LAST = Last()


class InOrder:
    """Rows of positive weight in the order of their keys; a row of weight w stands there w times.

    What comes after a key, however far: `upwards`; before it, nearest first: `downwards`. Both
    are lazy, so that reading the neighbours of a row costs what is read.
    """

    def upwards(self, start: Key = None) -> Iterator[Entry]:
        """The entries whose key is not below `start`, ascending; all without it."""
        raise NotImplementedError

    def downwards(self, start: Key = None) -> Iterator[Entry]:
        """The entries whose key is below `start`, descending; all without it."""
        raise NotImplementedError

    def weight_before(self, key: Key) -> Total:
        """The number of rows, counted with their weights, whose key is below this one."""
        raise NotImplementedError

    @property
    def total(self) -> Total:
        """The number of rows, counted with their weights."""
        raise NotImplementedError

    def nth(self, position: int) -> Entry | None:
        """The entry that the copy of this number belongs to, counted from 0; None past the end."""
        raise NotImplementedError

    def first(self) -> Entry | None:
        return next(self.upwards(), None)

    def last(self) -> Entry | None:
        return next(self.downwards(), None)

    def between(self, low: Key, high: Key) -> Iterator[Entry]:
        """The entries from `low` up to and with `high`; None is without bound."""
        for entry in self.upwards(low):
            if high is not None and high < entry.key:
                return
            yield entry


class Ordered(InOrder):
    """A group's rows in order, in blocks, so that adding and finding a row cost about one block.

    Rows of weight zero take no room; rows of negative weight are remembered, but not in order.

    >>> group = Ordered(lambda row: row)
    >>> group.add({("b",): 2, ("a",): 1, ("c",): -1})
    >>> [(row, weight) for _, row, weight in group.upwards()]
    [(('a',), 1), (('b',), 2)]
    >>> group.weight_before(("b",)), group.total, group.nth(2).row
    (1, 3, ('b',))
    >>> group.add({("c",): 2, ("b",): -2})
    >>> [row for _, row, _ in group.downwards()]
    [('c',), ('a',)]
    """

    __slots__ = ("absent", "blocks", "ends", "key", "totals")

    def __init__(self, key: Callable[[Row], Key]) -> None:
        self.key = key
        self.blocks: list[list[Entry]] = []
        self.ends: list[Key] = []  # the last key of each block
        self.totals: list[Total] = []  # the weight of each block
        self.absent: dict[Row, Weight] = {}  # rows of negative weight

    def __bool__(self) -> bool:
        return bool(self.blocks or self.absent)

    def items(self) -> Iterator[tuple[Row, Weight]]:
        """Every row with its weight, also those that are not in order."""
        for entry in self.upwards():
            yield entry.row, entry.weight
        yield from self.absent.items()

    def add(self, delta: Mapping[Row, Weight]) -> None:
        """Applies a change of weights; a weight that becomes zero is forgotten."""
        if not self and len(delta) > BLOCK:
            self._load(delta)
            return
        for row, change in delta.items():
            self._add(row, change)

    def weight(self, row: Row, key: Key = None) -> Weight:
        """The row's weight, also where it is negative; 0 for a row that is not known."""
        key = self.key(row) if key is None else key
        block, place = self._find(key)
        if self._is_at(block, place, key):
            return self.blocks[block][place].weight
        return self.absent.get(row, 0)

    def upwards(self, start: Key = None) -> Iterator[Entry]:
        block, place = (0, 0) if start is None else self._find(start)
        for number in range(block, len(self.blocks)):
            yield from self.blocks[number][place:] if place else self.blocks[number]
            place = 0

    def downwards(self, start: Key = None) -> Iterator[Entry]:
        block, place = (len(self.blocks), 0) if start is None else self._find(start)
        if place:
            yield from reversed(self.blocks[block][:place])
        for number in range(block - 1, -1, -1):
            yield from reversed(self.blocks[number])

    def weight_before(self, key: Key) -> Total:
        block, place = self._find(key)
        total = sum(self.totals[:block])
        if place:
            total = total + sum([entry.weight for entry in self.blocks[block][:place]])
        return total

    @property
    def total(self) -> Total:
        return sum(self.totals)

    def nth(self, position: int) -> Entry | None:
        rest = position
        for block, total in zip(self.blocks, self.totals, strict=True):
            if rest < total:
                for entry in block:
                    if rest < entry.weight:
                        return entry
                    rest -= entry.weight
            rest -= total
        return None

    def _find(self, key: Key) -> tuple[int, int]:
        """Where the first entry is whose key is not below this one: (block, place in it)."""
        block = bisect_left(self.ends, key)
        if block == len(self.blocks):
            return block, 0
        return block, bisect_left(self.blocks[block], key, key=key_of)

    def _is_at(self, block: int, place: int, key: Key) -> bool:
        return block < len(self.blocks) and bool(self.blocks[block][place].key == key)

    def _add(self, row: Row, change: Weight) -> None:
        key = self.key(row)
        block, place = self._find(key)
        present = self._is_at(block, place, key)
        before = self.blocks[block][place].weight if present else self.absent.pop(row, 0)
        after = before + change
        if after > 0:
            if present:
                self.blocks[block][place] = Entry(key, row, after)
                self.totals[block] += change
            else:
                self._insert(block, place, Entry(key, row, after))
            return
        if present:
            self._remove(block, place)
        if after:
            self.absent[row] = after

    def _load(self, weights: Mapping[Row, Weight]) -> None:
        """Fills an empty group: sorting many rows once costs less than placing each."""
        entries = in_order(self.key, weights.items())
        self.blocks = [entries[n : n + BLOCK] for n in range(0, len(entries), BLOCK)]
        self.ends = [block[-1].key for block in self.blocks]
        self.totals = [sum(entry.weight for entry in block) for block in self.blocks]
        self.absent = {row: weight for row, weight in weights.items() if weight and not weight > 0}

    def _insert(self, block: int, place: int, entry: Entry) -> None:
        if block == len(self.blocks):  # it comes last
            if not self.blocks:
                self.blocks, self.ends, self.totals = [[entry]], [entry.key], [entry.weight]
                return
            block, place = block - 1, len(self.blocks[-1])
        entries = self.blocks[block]
        entries.insert(place, entry)
        self.totals[block] += entry.weight
        self.ends[block] = entries[-1].key
        if len(entries) > 2 * BLOCK:
            halves = [entries[:BLOCK], entries[BLOCK:]]
            self.blocks[block : block + 1] = halves
            self.ends[block : block + 1] = [half[-1].key for half in halves]
            self.totals[block : block + 1] = [sum(e.weight for e in half) for half in halves]

    def _remove(self, block: int, place: int) -> None:
        entries = self.blocks[block]
        self.totals[block] -= entries.pop(place).weight
        if entries:
            self.ends[block] = entries[-1].key
        else:
            del self.blocks[block], self.ends[block], self.totals[block]


class After(InOrder):
    """A group as it will be once a delta is applied; nothing is applied, nothing is copied.

    `changes` are the rows of the delta whose weight in the order changes, in order: a row that
    is not there before and not there after is not among them.

    >>> group = Ordered(lambda row: row)
    >>> group.add({("a",): 1, ("c",): 3})
    >>> after = After(group, {("a",): -1, ("b",): 2, ("d",): -5})
    >>> [(row, weight) for _, row, weight in after.upwards()]
    [(('b',), 2), (('c',), 3)]
    >>> [change.row for change in after.changes], after.weight_before(("c",)), group.total
    ([('a',), ('b',)], 2, 4)
    """

    def __init__(self, before: Ordered, delta: Mapping[Row, Weight]) -> None:
        self.before = before
        self.changes = sorted(changes_of(before, delta), key=key_of)
        self.keys = [change.key for change in self.changes]
        self.shifts: list[Total] = [0]  # what the first n changes add to the number of rows
        for change in self.changes:
            self.shifts.append(self.shifts[-1] + change.after - change.before)

    def upwards(self, start: Key = None) -> Iterator[Entry]:
        place = 0 if start is None else bisect_left(self.keys, start)
        changes = map(self.changes.__getitem__, range(place, len(self.changes)))
        return overlaid(self.before.upwards(start), changes, operator.lt)

    def downwards(self, start: Key = None) -> Iterator[Entry]:
        place = len(self.keys) if start is None else bisect_left(self.keys, start)
        changes = map(self.changes.__getitem__, range(place - 1, -1, -1))
        return overlaid(self.before.downwards(start), changes, operator.gt)

    def weight_before(self, key: Key) -> Total:
        return self.before.weight_before(key) + self.shifts[bisect_left(self.keys, key)]

    @property
    def total(self) -> Total:
        return self.before.total + self.shifts[-1]

    def nth(self, position: int) -> Entry | None:
        # The last change that begins at or before the position; between two changes the rows
        # stand as they stood, moved by what the changes before them add up to.
        low, high = 0, len(self.changes)
        while low < high:
            middle = (low + high) // 2
            if position < self.weight_before(self.keys[middle]):
                high = middle
            else:
                low = middle + 1
        if low:
            key, row, _, weight = self.changes[low - 1]
            if position < self.weight_before(key) + weight:
                return Entry(key, row, weight)
        return self.before.nth(position - self.shifts[low])


def changes_of(group: Ordered, delta: Mapping[Row, Weight]) -> Iterator[Change]:
    """What the delta changes in the order: weights that are positive before or after."""
    for row, change in delta.items():
        key = group.key(row)
        weight = group.weight(row, key)
        before, after = present(weight), present(weight + change)
        if before > 0 or after > 0:
            yield Change(key, row, before, after)


def present(weight: Weight) -> Weight:
    """How often a row of this weight is there."""
    return max(0, weight)


def overlaid(
    entries: Iterator[Entry],
    changes: Iterator[Change],
    is_before: Callable[[Key, Key], bool],
) -> Iterator[Entry]:
    """The entries with the changed ones in their place; both run in the same direction."""
    change = next(changes, None)
    for entry in entries:
        while change is not None and is_before(change.key, entry.key):
            if change.after > 0:
                yield Entry(change.key, change.row, change.after)
            change = next(changes, None)
        if change is None or change.key != entry.key:
            yield entry
    while change is not None:
        if change.after > 0:
            yield Entry(change.key, change.row, change.after)
        change = next(changes, None)


def in_order(key: Callable[[Row], Key], rows: Iterable[tuple[Row, Weight]]) -> list[Entry]:
    """The rows of positive weight in order, from nothing: for definitions.

    >>> in_order(lambda row: row, [(("b",), 1), (("a",), 2), (("c",), -1)])
    [Entry(key=('a',), row=('a',), weight=2), Entry(key=('b',), row=('b',), weight=1)]
    """
    return sorted((Entry(key(row), row, w) for row, w in rows if w > 0), key=key_of)


def copies(entry: Entry) -> Iterator[Row]:
    """The row as often as it is there. Raises EvaluationError over MOST_COPIES."""
    left = entry.weight
    if left > MOST_COPIES:
        raise EvaluationError(
            f"row {entry.row!r} is there {left} times: at most {MOST_COPIES} copies "
            "of a row get a result each"
        )
    while left > 0:
        yield entry.row
        left = left - 1


key_of = operator.itemgetter(0)
