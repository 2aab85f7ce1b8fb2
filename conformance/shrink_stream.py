"""Smaller streams: what can be left out of a case, or made smaller, while its query stays.

    Edit     ticks left out, ticks made one, weights made smaller, restarts left out
    coarse   the edits that take away much at once
    fine     the edits that take away one thing each

Edits of one case add up with `|`, so what can go alone can be tried together. A table that
holds rows keeps holding rows: where an insertion goes, so do the deletions that need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, combinations
from typing import TypeAlias, TypeVar

from deltaproof.conformance.case import Case, Tick
from deltaproof.reference.query import Query
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet

Change: TypeAlias = tuple[int, str, Row]  # the place of a tick, from 0; a table; a row
Item = TypeVar("Item")

FEW = 10  # with so few changes left, every two of them are left out together, each is moved


@dataclass(frozen=True)
class Edit:
    """What to leave out of a case or make smaller, in the case's own words.

    ticks: left out; joints: tick n and the one after it become one; weights: what a change's
    weight becomes, 0 to leave it out, also where there was no change; restarts: left out.
    """

    ticks: frozenset[int] = frozenset()
    joints: frozenset[int] = frozenset()
    weights: Mapping[Change, Weight] = field(default_factory=dict)
    restarts: frozenset[int] = frozenset()

    def __or__(self, other: Edit) -> Edit:
        """Both edits; of two weights for one change the one nearer to zero."""
        weights = dict(self.weights)
        for change, weight in other.weights.items():
            weights[change] = min(weight, weights.get(change, weight), key=abs)
        return Edit(
            self.ticks | other.ticks,
            self.joints | other.joints,
            weights,
            self.restarts | other.restarts,
        )


def leaving_out(changes: Iterable[Change]) -> Edit:
    return Edit(weights=dict.fromkeys(changes, 0))


def edited(case: Case, edit: Edit, signed: bool) -> Case:
    """The case after the edit, canonical; unless `signed`, its tables still hold rows.

    >>> from deltaproof.reference.query import table
    >>> tick = {"t": ZSet({(7,): 1})}
    >>> case = Case(table("t", "k BIGINT"), (tick, tick, {"t": ZSet({(7,): -2})}))
    >>> edited(case, Edit(ticks=frozenset({0})), signed=False).ticks
    ({'t': ZSet({(7,): 1})}, {'t': ZSet({(7,): -1})})
    """
    groups = tick_groups(len(case.ticks), edit)
    ticks = [merged([left(case.ticks[n], n, edit) for n in group]) for group in groups]
    starts = [group[0] for group in groups]
    kept = {
        sum(1 for start in starts if start < restart): None
        for restart in case.restarts
        if restart not in edit.restarts
    }
    restarts = tuple(restart for restart in kept if restart)
    return canonical(case, case.query, ticks if signed else possible(ticks), restarts)


def tick_groups(count: int, edit: Edit) -> list[list[int]]:
    """The old ticks of each new tick."""
    groups: list[list[int]] = []
    joined = False
    for n in range(count):
        if n not in edit.ticks:
            if joined:
                groups[-1].append(n)
            else:
                groups.append([n])
        joined = bool(groups) and n in edit.joints and (joined or n not in edit.ticks)
    return groups


def left(tick: Tick, n: int, edit: Edit) -> Tick:
    """What the edit leaves of the tick at this place."""
    weights = {name: dict(delta.items()) for name, delta in tick.items()}
    for (place, name, row), weight in edit.weights.items():
        if place == n:
            weights.setdefault(name, {})[row] = weight
    return {name: ZSet(entries) for name, entries in weights.items()}


def merged(ticks: Sequence[Tick]) -> Tick:
    """The ticks as one."""
    total: dict[str, ZSet] = {}
    for tick in ticks:
        for name, delta in tick.items():
            total[name] = total[name] + delta if name in total else delta
    return total


def possible(ticks: Iterable[Tick]) -> list[Tick]:
    """The ticks without the deletions of rows that are not there."""
    held: dict[tuple[str, Row], Weight] = {}
    return [
        {name: clipped(name, delta, held) for name, delta in sorted(tick.items())} for tick in ticks
    ]


def clipped(name: str, delta: ZSet, held: dict[tuple[str, Row], Weight]) -> ZSet:
    """The delta, its deletions limited by what the table holds, to which it is then added."""
    weights = {}
    for row, weight in delta.items():
        before = held.get((name, row), 0)
        weights[row] = max(weight, -before)
        held[name, row] = before + weights[row]
    return ZSet(weights)


def canonical(case: Case, query: Query, ticks: Iterable[Tick], restarts: Sequence[int]) -> Case:
    """The case with this query and stream, as it would be read back from its file."""
    tables = query.tables()
    ordered = tuple(
        {name: in_order(tick[name], tables[name]) for name in tables if tick.get(name)}
        for tick in ticks
    )
    return replace(case, query=query, ticks=ordered, restarts=tuple(restarts))


def in_order(delta: ZSet, schema: Schema) -> ZSet:
    return ZSet.trusted(dict(delta.typed(schema).sorted_items()), schema)


def positive_stream(case: Case) -> bool:
    """Whether no table holds a row a negative number of times after any tick.

    >>> from deltaproof.reference.query import table
    >>> ticks = ({"t": ZSet({(7,): 1})}, {"t": ZSet({(7,): -2})})
    >>> positive_stream(Case(table("t", "k BIGINT"), ticks))
    False
    """
    return all(
        table.is_positive()
        for name in case.tables
        for table in accumulate((tick.get(name, ZSet()) for tick in case.ticks), initial=ZSet())
    )


def changes(case: Case) -> list[Change]:
    return [
        (n, name, row)
        for n, tick in enumerate(case.ticks)
        for name, delta in tick.items()
        for row in delta
    ]


def weight_of(case: Case, change: Change) -> Weight:
    n, name, row = change
    return case.ticks[n][name][row]


def coarse(case: Case) -> list[Edit]:
    """Ends and beginnings of the stream, then halves, quarters and eighths of everything."""
    count, every = len(case.ticks), changes(case)
    tables = {name: [change for change in every if change[1] == name] for name in case.tables}
    heavy = {change: sign(weight_of(case, change)) for change in every}
    return [
        *(Edit(ticks=frozenset(range(end, count))) for end in range(1, count)),
        *(Edit(joints=frozenset(range(end))) for end in range(count - 1, 1, -1)),
        *(Edit(ticks=frozenset(part)) for part in parts(range(count), (2, 4))),
        *(leaving_out(part) for part in tables.values()),
        *(leaving_out(chain.from_iterable(part)) for part in parts(by_row(every), (2, 4, 8))),
        *(leaving_out(part) for part in parts(every, (2, 4, 8))),
        Edit(weights=heavy),
        Edit(restarts=frozenset(case.restarts)),
    ]


def fine(case: Case) -> list[Edit]:
    """Each tick, each two ticks made one, each row, each change, each weight, each restart.

    Moving a change to an earlier tick saves nothing yet, but may let it meet its like.
    """
    count, every = len(case.ticks), changes(case)
    weights = [(change, weight_of(case, change)) for change in every]
    few = every if len(every) <= FEW else ()
    return [
        *(leaving_out(part) for part in parts(every, (16, 32))),
        *(Edit(ticks=frozenset((n,))) for n in range(count)),
        *(Edit(joints=frozenset((n,))) for n in range(count - 1)),
        *(leaving_out(part) for part in by_row(every)),
        *(leaving_out((change,)) for change in every),
        *(Edit(weights={change: sign(weight)}) for change, weight in weights),
        *(Edit(weights={change: half(weight)}) for change, weight in weights),
        *(Edit(restarts=frozenset((restart,))) for restart in case.restarts),
        *(leaving_out(pair) for pair in combinations(few, 2)),
        *(
            moved(case, change, to)
            for change in few
            for to in dict.fromkeys((0, change[0] - 1))
            if 0 <= to < change[0]
        ),
    ]


def moved(case: Case, change: Change, to: int) -> Edit:
    """The change takes place in another tick."""
    _, name, row = change
    there = case.ticks[to].get(name, ZSet())[row]
    return Edit(weights={change: 0, (to, name, row): there + weight_of(case, change)})


def by_row(every: Sequence[Change]) -> list[list[Change]]:
    """All changes of a row together."""
    rows: dict[tuple[str, Row], list[Change]] = {}
    for change in every:
        rows.setdefault(change[1:], []).append(change)
    return list(rows.values())


def parts(items: Sequence[Item], into: Iterable[int]) -> Iterator[list[Item]]:
    """The items cut into this many parts, for each number of parts that leaves some together.

    >>> list(parts("abcd", (2, 4)))
    [['a', 'b'], ['c', 'd']]
    """
    for count in into:
        length = -(-len(items) // count)
        if length > 1:
            yield from (list(items[n : n + length]) for n in range(0, len(items), length))


def sign(weight: Weight) -> Weight:
    return 1 if weight > 0 else -1


def half(weight: Weight) -> Weight:
    """Half the weight, never zero.

    >>> half(5), half(-1)
    (2, -1)
    """
    return sign(weight) * max(1, abs(weight) // 2)
