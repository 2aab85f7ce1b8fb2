"""Slides a frame over the rows of a stretch: what enters is added, what leaves is taken away.

Which rows see a change follows from the frame turned around: a row sees what is at most
`preceding` before it, so a change is seen by rows at most `preceding` behind it. A bound that is
None is seen to the end of the partition, and every row there is looked at again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from deltaproof.reference.operators.aggregate_functions import given_value
from deltaproof.reference.operators.ordered_increment import (
    Reach,
    Rows,
    Stretch,
    above,
    copies_around,
    copies_within,
    nothing,
    reached,
)
from deltaproof.reference.operators.rolling_place import Place
from deltaproof.reference.ordered import After, Change, Entry, InOrder, Ordered
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.sums import (
    SPECIALS,
    average_of_units,
    in_64_bits,
    special_total,
    sum_of_units,
    units_of,
)
from deltaproof.reference.types import BOOLEAN, DOUBLE, Row, Schema, Type, Value
from deltaproof.reference.zset import Weight

Placed: TypeAlias = tuple[Any, Row, Weight]  # a row, or one copy of it, and its place


class Rolled(Protocol):
    """An aggregate of a frame that moves up."""

    def enter(self, place: int, value: Value, weight: Weight) -> None:
        """A value comes into the frame at its upper end."""

    def leave(self, place: int, value: Value, weight: Weight) -> None:
        """The value that has been in the frame for the longest leaves it."""

    def result(self) -> Value: ...


class Total:
    """COUNT, SUM and AVG of a frame: exact whole numbers, so what leaves can be taken away."""

    def __init__(self, call: AggregateCall, kind: Type) -> None:
        self.call, self.kind = call, kind
        self.units = units_of(kind)
        self.counts_only = call.function in ("count_star", "count")
        self.weight: Weight = 0
        self.total: Any = 0
        self.specials = dict.fromkeys(SPECIALS, 0)

    def enter(self, place: int, value: Value, weight: Weight) -> None:
        self.weight = self.weight + weight
        if self.counts_only:
            return
        if self.kind == DOUBLE and value in self.specials:
            self.specials[value] += weight
        else:
            self.total = self.total + self.units(value) * weight

    def leave(self, place: int, value: Value, weight: Weight) -> None:
        self.enter(place, value, -weight)

    def result(self) -> Value:
        if self.counts_only:
            return in_64_bits(self.weight, self.call)
        if not self.weight > 0:
            return None
        special = special_total(*self.specials.values()) if self.kind == DOUBLE else None
        if special is not None:
            return special
        if self.call.function == "sum":
            return sum_of_units(self.total, self.kind, self.call)
        return average_of_units(self.total, self.weight, self.kind)


class Extreme:
    """MIN or MAX of a frame: what may still become it, best first.

    A value is of no more use once a better one has come in behind it, which stays longer.
    """

    def __init__(self, call: AggregateCall, kind: Type) -> None:
        self.order, self.is_min = kind.order, call.function == "min"
        self.candidates: deque[tuple[int, Any, Value]] = deque()

    def enter(self, place: int, value: Value, weight: Weight) -> None:
        key, candidates = self.order(value), self.candidates
        while candidates and not self.is_better(candidates[-1][1], key):
            candidates.pop()
        candidates.append((place, key, value))

    def is_better(self, first: Any, second: Any) -> bool:
        return bool(first < second if self.is_min else second < first)

    def leave(self, place: int, value: Value, weight: Weight) -> None:
        if self.candidates and self.candidates[0][0] == place:
            self.candidates.popleft()

    def result(self) -> Value:
        return self.candidates[0][2] if self.candidates else None


class Summary:
    """The calls over a frame, kept up to date as it moves."""

    def __init__(self, calls: Sequence[AggregateCall], rows: Schema) -> None:
        self.calls = [
            (call, BOOLEAN if call.argument is None else call.argument.type_in(rows))
            for call in calls
        ]
        self.values = [given_value(call, rows) for call in calls]

    def slide(
        self, placed: Sequence[Placed], inside: range, is_in: Callable[[Any, Any], int]
    ) -> Rows:
        """The rows inside with their aggregates. `placed` holds all that any frame of them may.

        `is_in(there, here)` is negative where a place is before the frame of a row that stands
        here, positive behind it, and 0 within.
        """
        rolled: list[Rolled] = [
            (Extreme if call.function in ("min", "max") else Total)(call, kind)
            for call, kind in self.calls
        ]
        columns = list(zip(self.values, rolled, strict=True))
        first = end = 0
        for number in inside:
            here, row, weight = placed[number]
            while first < end and is_in(placed[first][0], here) < 0:
                for value_of, each in columns:
                    if (value := value_of(placed[first][1])) is not None:
                        each.leave(first, value, placed[first][2])
                first += 1
            while end < len(placed) and not (where := is_in(placed[end][0], here)) > 0:
                if where < 0:  # in no frame, so its value is not asked for: it may have none
                    first = end + 1
                else:
                    for value_of, each in columns:
                        if (value := value_of(placed[end][1])) is not None:
                            each.enter(end, value, placed[end][2])
                end += 1
            yield (*row, *[each.result() for each in rolled]), weight


@dataclass(frozen=True)
class RowsFrames:
    """Frames of ROWS: places are numbers of copies."""

    frame: Frame
    summary: Summary

    def stretches(self, before: Ordered, after: After) -> list[Stretch]:
        up, down = map(copies_reach, (self.frame.preceding, self.frame.following))
        return reached(before, after, up, down)

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        back, forward = (
            bound if bound is None else max(bound, 0)
            for bound in (self.frame.preceding, self.frame.following)
        )
        rows, start, end = copies_around(group, stretch, back, forward)
        placed = [(place, row, 1) for place, row in enumerate(rows)]
        return self.summary.slide(placed, range(start, end), self.is_in)

    def is_in(self, there: int, here: int) -> int:
        back, forward = self.frame.preceding, self.frame.following
        if back is not None and there < here - back:
            return -1
        return 1 if forward is not None and there > here + forward else 0


def copies_reach(bound: int | None) -> Reach | None:
    """The rows that see a change within this bound; None for all."""
    if bound is None:
        return None
    return copies_within(bound) if bound > 0 else nothing


@dataclass(frozen=True)
class RangeFrames:
    """Frames of RANGE: places are order values, and a row enters with its whole weight."""

    place: Place
    summary: Summary

    def stretches(self, before: Ordered, after: After) -> list[Stretch]:
        up = None if self.place.back is None else self.seen_above
        down = None if self.place.forward is None else self.seen_below
        return reached(before, after, up, down)

    def seen_above(self, change: Change, entries: Iterator[Entry]) -> Iterator[Entry]:
        """The rows behind a change whose frame goes back as far as it."""
        there = self.place.of(change)
        for entry in entries:
            if there < self.place.first(self.place.of(entry)):
                return
            yield entry

    def seen_below(self, change: Change, entries: Iterator[Entry]) -> Iterator[Entry]:
        """The rows in front of a change whose frame goes forward as far as it."""
        there = self.place.of(change)
        for entry in entries:
            if self.place.last(self.place.of(entry)) < there:
                return
            yield entry

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        low, high = stretch
        inside = [self.placed(entry) for entry in group.between(low, high)]
        if not inside:
            return ()
        front = list(self.below(group, low, inside[0][0]))
        behind = list(self.behind(group, high, inside[-1][0]))
        placed = [*reversed(front), *inside, *behind]
        return self.summary.slide(placed, range(len(front), len(front) + len(inside)), self.is_in)

    def placed(self, entry: Entry) -> Placed:
        return self.place.of(entry), entry.row, entry.weight

    def below(self, group: InOrder, low: Any, here: Any) -> Iterator[Placed]:
        """What is in the frame of the stretch's first row and below it."""
        for entry in group.downwards(low) if low is not None else ():
            if self.place.back is not None and self.place.of(entry) < self.place.first(here):
                return
            yield self.placed(entry)

    def behind(self, group: InOrder, high: Any, here: Any) -> Iterator[Placed]:
        """What is in the frame of the stretch's last row and above it."""
        for entry in above(group, high) if high is not None else ():
            if self.place.forward is not None and self.place.last(here) < self.place.of(entry):
                return
            yield self.placed(entry)

    def is_in(self, there: Any, here: Any) -> int:
        if self.place.back is not None and there < self.place.first(here):
            return -1
        return 1 if self.place.forward is not None and self.place.last(here) < there else 0
