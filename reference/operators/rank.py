"""A rank changes where rows in front come or go; a stretch without such a difference stays.

The output is as large as what moves: a row put in front of a partition gives every row behind
it another number, and that is what SQL says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.ordered_increment import (
    OrderedIncrement,
    Reader,
    Rows,
    Stretch,
    add_difference,
    read_in_order,
)
from deltaproof.reference.operators.over import (
    checked_over,
    columns,
    fresh,
    over_from_json,
    over_label,
    over_to_json,
    sample_over,
    with_calls,
)
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import LAST, After, Entry, InOrder, Key, Ordered, copies
from deltaproof.reference.select import Relation, Select, WindowCall
from deltaproof.reference.sums import in_64_bits
from deltaproof.reference.types import BIGINT, Column, Row, Schema
from deltaproof.reference.zset import Weight, ZSet, positive

FUNCTIONS = ("row_number", "rank", "dense_rank")


@dataclass(frozen=True)
class Rank(Operator):
    """ROW_NUMBER, RANK and DENSE_RANK: each row with its place in its partition.

    A row of weight w > 0 is w rows. ROW_NUMBER gives each of them its own number, in the order
    completed by the whole row, so that the numbers are a function of the table. To RANK and
    DENSE_RANK rows that the order calls equal are peers and share a number: 1 + the rows before
    them, or 1 + the groups of peers before them. Without an order all rows are peers.

    Shape    Z[A] → Z[A × N], general
    Source   SQL:2016 <rank function type>, ROW_NUMBER
    Raises   SchemaError for columns that are not there, an order over arrays, a name that is
             taken; EvaluationError for the row numbers of a row that is there too often, and
             for a rank outside 64 bits

    >>> from deltaproof.reference.scalar import col
    >>> from deltaproof.reference.zset import ZSet
    >>> rows = ZSet({("a",): 2, ("b",): 1})
    >>> for function in FUNCTIONS:
    ...     Rank(function, "n", (), (Order(col("v")),)).meaning(Schema.parse("v VARCHAR"))(rows)
    ZSet({('a', 1): 1, ('a', 2): 1, ('b', 3): 1})
    ZSet({('a', 1): 2, ('b', 3): 1})
    ZSet({('a', 1): 2, ('b', 2): 1})
    """

    function: str
    result: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]

    name = "rank"
    shape = Shape.GENERAL
    theorem = "grouped_increment"
    source = "SQL:2016 <rank function type>, ROW_NUMBER; the order completed by the row"
    state = "the rows of each partition, in order"
    claimed = ("set_valued", "positive", "scales", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return tuple(f"window.{function}" for function in FUNCTIONS)

    def capabilities(self) -> tuple[str, ...]:
        return (f"window.{self.function}",)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def claims(self) -> tuple[str, ...]:
        return self.claimed_if(
            set_valued=self.function == "row_number",  # it numbers every copy of a row
            scales=self.function == "dense_rank",
            by_name=self.function != "row_number",
        )

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        if self.function not in FUNCTIONS:
            raise SchemaError(
                f"rank: unknown function {self.function!r}: there are {', '.join(FUNCTIONS)}"
            )
        checked_over(self.function, self.partition, self.order, rows)
        return Schema((*rows.columns, Column(self.result, BIGINT, nullable=False)))

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        results = {"row_number": row_numbers, "rank": ranks, "dense_rank": dense_ranks}
        return read_in_order(rows, self.partition, self.order, results[self.function])

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        if self.function == "dense_rank":
            return DenseRankIncrement(rows, self.partition, self.order, Ranks())
        reader: Reader = RowNumbers() if self.function == "row_number" else Ranks()
        return OrderedIncrement(rows, self.partition, self.order, reader)

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        call = WindowCall(self.function, (), columns(self.partition), self.order)
        return with_calls(rows, self.output(rows.schema), (self.result, call))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        (result,) = fresh(rows, "place")
        return cls(random.choice(FUNCTIONS), result, *sample_over(random, rows))

    def label(self) -> str:
        return f"{self.function} AS {self.result}{over_label(self.partition, self.order)}"

    def to_json(self) -> dict[str, Any]:
        over = over_to_json(self.partition, self.order)
        return {"function": self.function, "result": self.result, **over}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(arguments["function"], arguments["result"], *over_from_json(arguments))


# --- from the definition ---


def peers_of(key: Key) -> Key:
    """What ORDER BY says of a row, without the whole row that completes it."""
    return key[:-1]


def row_numbers(entries: Iterable[Entry], before: Weight = 0) -> Rows:
    """Each copy of each row with its number, from the number of rows before them on."""
    all_copies = (row for entry in entries for row in copies(entry))
    for number, row in enumerate(all_copies, before + 1):
        yield (*row, number), 1


def ranks(entries: Iterable[Entry], before: Weight = 0) -> Rows:
    """Peers with 1 + the number of rows before the first of them."""
    for _, peers in groupby(entries, lambda entry: peers_of(entry.key)):
        rank = in_64_bits(before + 1, "RANK")
        for _, row, weight in peers:
            yield (*row, rank), weight
            before = before + weight


def dense_ranks(entries: Iterable[Entry], before: int = 0) -> Rows:
    """Peers with 1 + the number of groups of peers before them."""
    for rank, (_, peers) in enumerate(
        groupby(entries, lambda entry: peers_of(entry.key)), before + 1
    ):
        for _, row, weight in peers:
            yield (*row, rank), weight


# --- from the changes ---


def shifted(
    after: After, peers: Callable[[Key], Key], end: Callable[[Key], Key], shift: Callable[..., Any]
) -> Iterator[Stretch]:
    """The changed rows, and all rows in front of which the changes do not add up to nothing.

    Rows that share a number are `peers`, and the last of them is not beyond `end` of it. `shift`
    is what the changes of these peers add to the number of those behind them.
    """
    groups = [
        (key, list(changes))
        for key, changes in groupby(after.changes, lambda change: peers(change.key))
    ]
    moved: Any = 0
    for (key, changes), (following, _) in pairwise([*groups, (None, [])]):
        if moved:
            yield key, end(key)
        else:
            yield from ((change.key, change.key) for change in changes)
        moved = moved + shift(key, changes)
        if moved:
            yield end(key), following


def end_of_peers(key: Key) -> Key:
    """Beyond every row of these peers."""
    return (*key, LAST)


def more_rows(key: Key, changes: Iterable[Any]) -> Weight:
    return sum(change.after - change.before for change in changes)


class RowNumbers:
    """Every row is alone; the numbers from a row on follow from the number of rows before it."""

    def stretches(self, before: Ordered, after: After) -> Iterator[Stretch]:
        return shifted(after, lambda key: key, lambda key: key, more_rows)

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        first, _ = stretch
        return row_numbers(group.between(*stretch), group.weight_before(first))


class Ranks:
    """A stretch may begin within peers: their number follows from the rows before the first."""

    def stretches(self, before: Ordered, after: After) -> Iterator[Stretch]:
        return shifted(after, peers_of, end_of_peers, more_rows)

    def rows(self, group: InOrder, stretch: Stretch) -> Rows:
        first, _ = stretch
        before, peers, number = group.weight_before(first), None, 0
        for key, row, weight in group.between(*stretch):
            if peers_of(key) != peers:
                inside = peers is None  # the stretch may begin within these
                peers = peers_of(key)
                ahead = group.weight_before(peers) if inside else before
                number = in_64_bits(1 + ahead, "RANK")
            yield (*row, number), weight
            before = before + weight


class DenseRankIncrement(OrderedIncrement):
    """Keeps the groups of peers in order as well, each as one, so that they can be counted."""

    def clear(self) -> None:
        super().clear()
        self.peers: dict[Row, Ordered] = {}
        self.staged_peers: dict[Row, dict[Key, int]] = {}

    def step(self, delta: ZSet) -> ZSet:
        self.staged_peers = {}
        return super().step(delta)

    def read(
        self, partition: Row, before: Ordered, after: After, output: dict[Row, Weight]
    ) -> None:
        changed = [peers for peers, _ in groupby(after.keys, peers_of)]
        comes = {
            peers: positive(is_there(after, peers)) - positive(is_there(before, peers))
            for peers in changed
        }
        self.staged_peers[partition] = comes
        peers_before = self.peers.get(partition) or Ordered(itself)
        peers_after = After(peers_before, comes)
        add_difference(
            shifted(after, peers_of, end_of_peers, lambda peers, _: comes[peers]),
            lambda stretch: dense_stretch(before, peers_before, stretch),
            lambda stretch: dense_stretch(after, peers_after, stretch),
            output,
        )

    def commit(self) -> None:
        super().commit()
        for partition, comes in self.staged_peers.items():
            peers = self.peers.setdefault(partition, Ordered(itself))
            peers.add(comes)
            if not peers:
                del self.peers[partition]
        self.staged_peers = {}

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        for partition, group in self.groups.items():
            peers = Ordered(itself)
            peers.add({key: 1 for key, _ in groupby(group.upwards(), lambda e: peers_of(e.key))})
            if peers:
                self.peers[partition] = peers


def itself(peers: Key) -> Key:
    return peers


def is_there(group: InOrder, peers: Key) -> Weight:
    """The weight of a row among these peers; 0 when there is none."""
    entry = next(group.upwards(peers), None)
    return entry.weight if entry is not None and peers_of(entry.key) == peers else 0


def dense_stretch(group: InOrder, peers: InOrder, stretch: Stretch) -> Rows:
    """The rows of a stretch; its first rank follows from the groups of peers before it."""
    entries = group.between(*stretch)
    first = next(entries, None)
    if first is None:
        return ()
    return dense_ranks(chain([first], entries), peers.weight_before(peers_of(first.key)))
