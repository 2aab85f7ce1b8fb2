"""Histories: the kinds of change that a stream is made to contain.

Insert-only random streams find few bugs; what finds them is the kind of change. Each kind
is a short script over small pools of rows: three keys, few values, so that changes meet.
Except in `signed`, no table ever holds a row a negative number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from deltaproof.conformance.case import Tick
from deltaproof.properties.killers import HUGE_WEIGHTS
from deltaproof.reference.types import Row, Schema, Value
from deltaproof.reference.zset import ZSet

TICKS = 5  # a script makes at least so many


@dataclass(frozen=True)
class Pool:
    """The rows that one table may hold: without NULL, with NULL, and by their first column."""

    schema: Schema
    plain: tuple[Row, ...]
    nulls: tuple[Row, ...]
    by_key: Mapping[Value, tuple[Row, ...]]

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.plain + self.nulls


class History:
    """Records changes tick by tick, and knows the rows that are live."""

    __slots__ = ("live", "names", "now", "pools", "random", "restarts", "ticks", "weights")

    def __init__(
        self, random: Random, pools: Mapping[str, Pool], weights: Sequence[int] | None = None
    ) -> None:
        self.random = random.random
        self.weights = weights or WEIGHTS
        self.pools = pools
        self.names = list(pools)
        self.live: dict[str, list[Row]] = {name: [] for name in pools}
        self.now: dict[str, dict[Row, int]] = {}
        self.ticks: list[Tick] = []
        self.restarts: list[int] = []

    def below(self, n: int) -> int:
        """A random number from 0 to n - 1."""
        return int(self.random() * n)

    def table(self) -> str:
        return self.names[self.below(len(self.names))]

    def pick(self, name: str, nulls: bool = False) -> Row:
        """A random row that the table may hold."""
        pool = self.pools[name]
        rows = pool.nulls if nulls and pool.nulls else pool.plain
        return rows[self.below(len(rows))]

    def change(self, name: str, row: Row, weight: int) -> None:
        """Adds to this tick's delta; the live rows do not follow (see `insert`, `delete`)."""
        delta = self.now.get(name)
        if delta is None:
            delta = self.now[name] = {}
        delta[row] = delta.get(row, 0) + weight

    def insert(self, name: str, row: Row, copies: int = 1) -> None:
        self.change(name, row, copies)
        live = self.live[name]
        for _ in range(copies):
            live.append(row)

    def delete(self, name: str, position: int) -> Row:
        """Deletes the live row at this position; the last one takes its place."""
        live = self.live[name]
        row = live[position]
        last = live.pop()
        if position < len(live):
            live[position] = last
        self.change(name, row, -1)
        return row

    def delete_some(self, name: str, most: int) -> None:
        for _ in range(self.below(most) + 1):
            if live := self.live[name]:
                self.delete(name, self.below(len(live)))

    def delete_all(self, name: str) -> None:
        while live := self.live[name]:
            self.delete(name, len(live) - 1)

    def insert_some(self, name: str, most: int, nulls: bool = False) -> None:
        for _ in range(self.below(most) + 1):
            self.insert(name, self.pick(name, nulls))

    def fill(self) -> None:
        """The first tick: one to three rows in every table, so that joins find something."""
        for name in self.names:
            self.insert_some(name, 3, nulls=self.random() < 0.2)
        self.tick()

    def tick(self) -> None:
        """Ends the tick: changes that cancel out are not changes."""
        tick = {}
        for name, delta in self.now.items():
            weights = {row: w for row, w in delta.items() if w} if 0 in delta.values() else delta
            if weights:
                tick[name] = ZSet.trusted(weights, self.pools[name].schema)
        self.ticks.append(tick)
        self.now = {}


def insert(h: History) -> None:
    """Rows only ever arrive."""
    h.fill()
    for _ in range(TICKS - 1):
        h.insert_some(h.table(), 3)
        h.tick()


def delete(h: History) -> None:
    """Rows arrive, then leave one by one."""
    h.fill()
    for name in h.names:
        h.insert_some(name, 2)
    h.tick()
    for _ in range(TICKS - 2):
        h.delete_some(h.table(), 2)
        h.tick()


def update(h: History) -> None:
    """A row is replaced in one tick: same key, or a new key."""
    h.fill()
    for _ in range(TICKS - 1):
        name = h.table()
        if live := h.live[name]:
            old = h.delete(name, h.below(len(live)))
            alike = h.pools[name].by_key.get(old[0], ()) if h.random() < 0.6 else ()
            h.insert(name, alike[h.below(len(alike))] if alike else h.pick(name))
        else:
            h.insert_some(name, 2)
        h.tick()


def duplicate(h: History) -> None:
    """One row several times, in one tick or in several; then fewer times."""
    h.fill()
    name = h.table()
    row = h.pick(name)
    h.insert(name, row, 2 + h.below(2))
    h.tick()
    h.insert(name, row)
    h.tick()
    for _ in range(TICKS - 3):
        live = h.live[name]
        if row in live:
            h.delete(name, live.index(row))
        if h.random() < 0.5:
            h.insert_some(h.table(), 1)
        h.tick()


def resurrect(h: History) -> None:
    """A table is emptied, in one tick or row by row, and then the same rows come back."""
    h.fill()
    name = h.table()
    rows = list(h.live[name])
    if h.random() < 0.5:
        h.delete_all(name)
        h.tick()
    else:
        while h.live[name]:
            h.delete(name, len(h.live[name]) - 1)
            h.tick()
    for row in rows:
        h.insert(name, row)
    h.tick()
    while len(h.ticks) < TICKS:
        change = h.delete_some if h.random() < 0.5 else h.insert_some
        change(name, 1)
        h.tick()


def churn(h: History) -> None:
    """Inserts and deletes together in each tick, some of one and the same row."""
    h.fill()
    for _ in range(TICKS - 1):
        for name in h.names:
            h.insert_some(name, 2)
            h.delete_some(name, 2)
        h.tick()


def empty_out(h: History) -> None:
    """Everything is deleted; nothing happens; life goes on."""
    h.fill()
    h.insert_some(h.table(), 2)
    h.tick()
    for name in h.names:
        h.delete_all(name)
    h.tick()
    h.tick()
    h.insert_some(h.table(), 3)
    h.tick()


def both_sides(h: History) -> None:
    """Rows of one key come and go in all tables in one tick."""
    h.fill()
    for n in range(TICKS - 1):
        keys = h.pools[h.names[0]].by_key
        key = list(keys)[h.below(len(keys))]
        for name in h.names:
            if n % 2 and h.live[name] and h.random() < 0.6:
                h.delete(name, h.below(len(h.live[name])))
            if alike := h.pools[name].by_key.get(key):
                h.insert(name, alike[h.below(len(alike))])
            else:
                h.insert_some(name, 1)
        h.tick()


def multi_table(h: History) -> None:
    """Every tick changes every table, each in its own way."""
    h.fill()
    for _ in range(TICKS - 1):
        for name in h.names:
            if h.live[name] and h.random() < 0.5:
                h.delete_some(name, 2)
            else:
                h.insert_some(name, 2)
        h.tick()


def null(h: History) -> None:
    """Rows with NULLs come, meet others, and go."""
    for name in h.names:
        h.insert_some(name, 3, nulls=True)
    h.tick()
    for n in range(TICKS - 1):
        name = h.table()
        h.insert_some(name, 2, nulls=h.random() < 0.7)
        if n % 2:
            h.delete_some(name, 2)
        h.tick()


def signed(h: History) -> None:
    """Weights of both signs: rows deleted before they were inserted, large weights."""
    h.fill()
    for _ in range(TICKS - 1):
        for name in h.names:
            if h.random() < 0.7:
                h.change(name, h.pick(name, h.random() < 0.2), h.weights[h.below(len(h.weights))])
        h.tick()


def restart(h: History) -> None:
    """Any change, and the engine is stopped and started between ticks."""
    kinds = (delete, update, churn, empty_out, multi_table, null)
    kinds[h.below(len(kinds))](h)
    h.restarts = sorted({1 + h.below(TICKS - 1) for _ in range(1 + h.below(2))})


WEIGHTS = (-3, -2, -1, -1, -1, 1, 1, 2, 1_000_000)  # three of a million fit 64 bits multiplied
HUGE = (*HUGE_WEIGHTS, *(-weight for weight in HUGE_WEIGHTS))

KINDS: Mapping[str, Callable[[History], None]] = {
    "insert": insert,
    "delete": delete,
    "update": update,
    "duplicate": duplicate,
    "resurrect": resurrect,
    "churn": churn,
    "empty-out": empty_out,
    "both-sides": both_sides,
    "multi-table": multi_table,
    "null": null,
    "signed": signed,
    "restart": restart,
}
NEEDS: Mapping[str, str] = {"signed": "weights.signed", "restart": "restart"}
