"""Wrong variants of the operators that read an order: top-k, ranks, LAG, frames, sessions.

As for the other mutants only increments are patched, and of Spark the SQL that it is given; the
meaning, which is the oracle, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, all_replaced, replaced
from deltaproof.reference import ordered
from deltaproof.reference.operator import Increment
from deltaproof.reference.operators import ordered_increment
from deltaproof.reference.operators.lag import Neighbours
from deltaproof.reference.operators.ordered_increment import (
    OrderedIncrement,
    Reader,
    Rows,
    Stretch,
    copies_within,
    nothing,
    reached,
)
from deltaproof.reference.operators.rank import Rank, Ranks, RowNumbers
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.rolling_increment import (
    Extreme,
    RangeFrames,
    RowsFrames,
    Summary,
    Total,
)
from deltaproof.reference.operators.session_window import Sessions
from deltaproof.reference.operators.top_k import Head
from deltaproof.reference.order import Order, peer_key
from deltaproof.reference.ordered import After, Change, Entry, InOrder, Ordered
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet

Stretches = Iterable[Stretch]


def the_changed_rows(self: Any, before: Ordered, after: After) -> Stretches:
    """Looks again at the rows that changed, and at no others."""
    return [(change.key, change.key) for change in after.changes]


# --- top-k ---


def top_k_does_not_refill(self: Head, group: InOrder, stretch: Stretch) -> Rows:
    """What is put out is what was in it before and what has just come."""
    rows = list(HEAD_ROWS(self, group, stretch))
    if not isinstance(group, After):
        return rows
    known = {row for row, _ in HEAD_ROWS(self, group.before, stretch)}
    known |= {change.row for change in group.changes}
    return [(row, weight) for row, weight in rows if row in known]


def top_k_refills_past_ties(self: Head, group: InOrder, stretch: Stretch) -> Rows:
    """What refills it begins behind the last row that it had, and behind the peers of that."""
    rows = list(HEAD_ROWS(self, group, stretch))
    if not isinstance(group, After):
        return rows
    had = [row for row, _ in HEAD_ROWS(self, group.before, stretch)]
    key = group.before.key
    skipped = key(had[-1])[:-1] if had else None
    changed = {change.row for change in group.changes}
    return [
        (row, weight)
        for row, weight in rows
        if row in had or row in changed or key(row)[:-1] != skipped
    ]


def top_k_collapses_equal_rows(self: Head, group: InOrder, stretch: Stretch) -> Rows:
    return [(row, 1) for row, _ in HEAD_ROWS(self, group, stretch)]


def top_k_forgets_the_offset(self: Head, group: InOrder, stretch: Stretch) -> Rows:
    end = self.operator.offset + self.operator.limit
    return top_k_module.kept(group.between(None, None), 0, 0, end) if end else ()


def no_key_is_no_group(self: OrderedIncrement, delta: ZSet) -> ZSet:
    """An empty key is falsy, and what is falsy is taken for nothing."""
    return ORDERED_STEP(self, ZSet({row: w for row, w in delta.items() if self.partition_of(row)}))


def in_order_of_arrival(
    self: OrderedIncrement, rows: Schema, partition: Any, order: Sequence[Order], reader: Any
) -> None:
    """Rows that the order calls equal stand as they came."""
    ORDERED_INIT(self, rows, partition, order, reader)
    peers, arrived = peer_key(order, rows), dict[Row, int]()
    self.key = lambda row: (*peers(row), arrived.setdefault(row, len(arrived)))


def absent_rows_are_there(self: Ordered, row: Row, key: Any = None) -> Weight:
    """What was deleted before it came is taken for nothing: it is there when it comes."""
    return max(0, ORDERED_WEIGHT(self, row, key))


# --- ranks ---


def dense_rank_counts_rows(self: Rank, *inputs: Schema) -> Increment:
    (rows,) = inputs
    reader: Reader = RowNumbers() if self.function == "row_number" else Ranks()
    return OrderedIncrement(rows, self.partition, self.order, reader)


def rank_stops_at_the_next_peers(self: Ranks, before: Ordered, after: After) -> Stretches:
    peers = [(change.key[:-1], (*change.key[:-1], ordered.LAST)) for change in after.changes]
    return [(low, high) for low, high in peers]


# --- LAG and LEAD ---


def lead_looks_behind(self: Neighbours, before: Ordered, after: After) -> Stretches:
    """LEAD looks again at the rows that LAG would."""
    return reached(before, after, copies_within(abs(self.offset)), nothing)


def lag_counts_rows_not_copies(
    group: InOrder, stretch: Stretch, back: int | None, forward: int | None
) -> tuple[list[Row], int, int]:
    rows, start, end = COPIES_AROUND(group, stretch, back, forward)
    once = [row for place, row in enumerate(rows) if place < start or rows[place - 1] != row]
    return once, start, len(once) - (len(rows) - end)


# --- rolling aggregates ---


def never_leaves(self: Any, place: int, value: Any, weight: Weight) -> None:
    """What has entered the frame stays in it."""


def range_is_rows(self: Rolling, *inputs: Schema) -> Increment:
    (rows,) = inputs
    reader = RowsFrames(self.frame, Summary([call for _, call in self.calls], rows))
    return OrderedIncrement(rows, self.partition, self.order, reader)


def range_without_peers(self: RangeFrames, before: Ordered, after: After) -> Stretches:
    """A change is seen by the rows behind it, not by its peers in front."""
    return reached(before, after, None if self.place.back is None else self.seen_above, nothing)


# --- sessions ---


def session_stays_merged(self: Sessions, before: Ordered, after: After) -> Stretches:
    """Rows that come may join sessions; rows that go do not take them apart."""
    if any(change.after > change.before for change in after.changes):
        return SESSION_STRETCHES(self, before, after)
    return the_changed_rows(self, before, after)


def session_asks_one_neighbour(
    self: Sessions, change: Change, entries: Iterator[Entry]
) -> Iterator[Entry]:
    """Only the row next to the change hears of the session's new bounds."""
    return iter([*SESSION_LINKED(self, change, entries)][:1])


# --- state ---


def save_forgets_weights(self: OrderedIncrement) -> Any:
    return [[row, 1] for row, _ in ORDERED_SAVE(self)]


top_k_module = import_module("deltaproof.reference.operators.top_k")
lag_module = import_module("deltaproof.reference.operators.lag")
HEAD_ROWS = Head.rows
ORDERED_INIT = OrderedIncrement.__init__
ORDERED_STEP = OrderedIncrement.step
COPIES_AROUND = ordered_increment.copies_around
ORDERED_WEIGHT = Ordered.weight
ORDERED_SAVE = OrderedIncrement.save
SESSION_STRETCHES = Sessions.stretches
SESSION_LINKED = Sessions.linked


def mutant(name: str, edit: str, source: str, cell: str, *wrong: tuple[Any, str, Any]) -> Mutant:
    operator, _, kind = cell.partition("@")
    return Mutant(name, edit, source, "reference", (operator, kind), lambda: all_replaced(wrong))


REFERENCE: tuple[Mutant, ...] = (
    mutant(
        "top_k_does_not_refill",
        "a row that leaves is not replaced by the next",
        "readyset@87fc8b846",
        "top_k@delete",
        (Head, "rows", top_k_does_not_refill),
    ),
    mutant(
        "top_k_refills_past_ties",
        "what refills it skips rows that tie with the last",
        "readyset@a925ea96a",
        "top_k@delete",
        (Head, "rows", top_k_refills_past_ties),
    ),
    mutant(
        "top_k_ties_by_arrival",
        "rows that tie stand in the order in which they came",
        "risingwave#13461",
        "top_k@insert",
        (OrderedIncrement, "__init__", in_order_of_arrival),
    ),
    mutant(
        "top_k_collapses_equal_rows",
        "a row that is there twice is put out once",
        "readyset@305ffa68e",
        "top_k@duplicate",
        (Head, "rows", top_k_collapses_equal_rows),
    ),
    mutant(
        "top_k_takes_no_key_for_no_group",
        "without a partition there is no output",
        "readyset@305ffa68e",
        "top_k@insert",
        (OrderedIncrement, "step", no_key_is_no_group),
    ),
    mutant(
        "top_k_forgets_the_offset",
        "the first rows are put out, also with an OFFSET",
        "risingwave#24527",
        "top_k@insert",
        (Head, "rows", top_k_forgets_the_offset),
    ),
    mutant(
        "top_k_forgets_negative_weights",
        "a row that was deleted before it came is there when it comes",
        "materialize#18415",
        "top_k@signed",
        (Ordered, "weight", absent_rows_are_there),
    ),
    mutant(
        "top_k_checkpoints_rows_once",
        "after a restart every row is there once",
        "readyset#1277",
        "top_k@restart",
        (OrderedIncrement, "save", save_forgets_weights),
    ),
    mutant(
        "row_number_stays",
        "rows behind a deleted row keep their numbers",
        "risingwave#12282",
        "window.row_number@delete",
        (RowNumbers, "stretches", the_changed_rows),
    ),
    mutant(
        "rank_stays",
        "only the peers of a changed row get a new rank",
        "risingwave#12282",
        "window.rank@insert",
        (Ranks, "stretches", rank_stops_at_the_next_peers),
    ),
    mutant(
        "dense_rank_counts_rows",
        "DENSE_RANK leaves gaps, as RANK does",
        "risingwave#17947",
        "window.dense_rank@duplicate",
        (Rank, "increment", dense_rank_counts_rows),
    ),
    mutant(
        "lag_asks_the_changed_row_only",
        "the row behind a deleted row keeps its LAG",
        "feldera#2338",
        "window.lag@delete",
        (Neighbours, "stretches", the_changed_rows),
    ),
    mutant(
        "lead_asks_the_rows_behind",
        "the row in front of a new row keeps its LEAD",
        "feldera#2349",
        "window.lead@insert",
        (Neighbours, "stretches", lead_looks_behind),
    ),
    mutant(
        "lag_counts_rows_not_copies",
        "a row that is there twice has one LAG",
        "readyset@305ffa68e",
        "window.lag@duplicate",
        (lag_module, "copies_around", lag_counts_rows_not_copies),
    ),
    mutant(
        "rolling_total_keeps_what_left",
        "a row that leaves the frame stays in the sum",
        "risingwave#14311",
        "window.rolling_rows@insert",
        (Total, "leave", never_leaves),
        (Extreme, "leave", never_leaves),
    ),
    mutant(
        "rolling_asks_the_changed_row_only",
        "rows whose frame held a deleted row keep its value",
        "risingwave#14311",
        "window.rolling_rows@delete",
        (RowsFrames, "stretches", the_changed_rows),
    ),
    mutant(
        "rolling_takes_range_for_rows",
        "peers are counted by their places",
        "risingwave#14311",
        "window.rolling_range@duplicate",
        (Rolling, "increment", range_is_rows),
    ),
    mutant(
        "rolling_range_forgets_peers",
        "peers in front of a new row keep their aggregates",
        "risingwave#14045",
        "window.rolling_range@insert",
        (RangeFrames, "stretches", range_without_peers),
    ),
    mutant(
        "session_stays_merged",
        "two sessions stay one when the row between them goes",
        "flink#7284",
        "window.session@delete",
        (Sessions, "stretches", session_stays_merged),
    ),
    mutant(
        "session_asks_one_neighbour",
        "rows far from a new row keep the bounds of their session",
        "flink#7284",
        "window.session@insert",
        (Sessions, "linked", session_asks_one_neighbour),
    ),
)


# --- Spark ---


def on_spark(
    name: str, edit: str, source: str, cell: str, module: str, function: str, wrong: Any
) -> Mutant:
    operator, _, kind = cell.partition("@")

    def plant() -> AbstractContextManager[None]:
        return replaced(import_module(f"deltaproof.spark_backend.{module}"), function, wrong)

    return Mutant(name, edit, source, "spark", (operator, kind), plant)


SPARK: tuple[Mutant, ...] = (
    on_spark(
        "top_k_keeps_what_was_retracted",
        "a row that was deleted has a place in the order",
        "flink#19778",
        "top_k@delete",
        "snapshots",
        "is_there",
        lambda: "TRUE",
    ),
    on_spark(
        "top_k_forgets_the_offset",
        "the first rows are put out, also with an OFFSET",
        "risingwave#24527",
        "top_k@insert",
        "operators.top_k",
        "kept_copies",
        lambda operator: f"LEAST(_end, {operator.offset + operator.limit}L) - (_end - _present)",
    ),
    on_spark(
        "top_k_collapses_equal_rows",
        "a row that is there twice takes two places and is put out once",
        "readyset@305ffa68e",
        "top_k@duplicate",
        "operators.top_k",
        "kept_copies",
        lambda operator: (
            f"IF(_end <= {operator.offset + operator.limit}L AND _end > {operator.offset}L, 1L, 0L)"
        ),
    ),
    on_spark(
        "top_k_ties_by_arrival",
        "of rows that tie any one is taken",
        "risingwave#13461",
        "top_k@insert",
        "operators.top_k",
        "tie_break",
        lambda rows: [f"{name} DESC NULLS FIRST" for name in rows.columns],
    ),
    on_spark(
        "rank_leaves_no_gaps",
        "RANK counts groups of peers, as DENSE_RANK does",
        "risingwave#17947",
        "window.rank@duplicate",
        "operators.rank",
        "PEERS",
        "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    ),
    on_spark(
        "lag_of_rows_not_copies",
        "a row that is there twice has one LAG",
        "readyset@305ffa68e",
        "window.lag@duplicate",
        "operators.lag",
        "copies",
        lambda first, last: first,
    ),
    on_spark(
        "rolling_takes_current_row_for_unbounded",
        "a bound of no rows is read as no bound",
        "risingwave#14311",
        "window.rolling_rows@insert",
        "operators.rolling",
        "bound_text",
        lambda bound, side, other, distance: (
            f"{distance(abs(bound))} {side if bound > 0 else other}"
            if bound
            else f"UNBOUNDED {side}"
        ),
    ),
    on_spark(
        "session_of_the_whole_partition",
        "rows that come close upon each other start sessions, others do not",
        "flink#7284",
        "window.session@insert",
        "operators.session_window",
        "starts",
        lambda operator, over: "0L",
    ),
)
