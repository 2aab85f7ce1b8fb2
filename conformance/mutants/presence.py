"""Wrong variants of set operations, semi, anti, outer and as-of joins.

As for the other mutants only increments are patched, and of Spark the SQL that it is given; the
meaning, which is the oracle, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, replaced
from deltaproof.reference.operator import Increment
from deltaproof.reference.operators.asof_join import AsofJoinIncrement
from deltaproof.reference.operators.outer_join import OuterJoinIncrement
from deltaproof.reference.operators.presence import Keeps, PresenceByKey, PresenceByRow
from deltaproof.reference.operators.semi_join import SemiJoin, SemiJoinIncrement
from deltaproof.reference.operators.set_operation import RowwiseIncrement
from deltaproof.reference.ordered import LAST, After, InOrder
from deltaproof.reference.store import Index
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet

# --- set operations ---


def rowwise_without_state(self: RowwiseIncrement, *deltas: ZSet) -> ZSet:
    """Takes the deltas for the tables."""
    self.staged = deltas
    rows = dict.fromkeys([row for delta in deltas for row in delta])
    return ZSet({row: self.weight_of(*[delta[row] for delta in deltas]) for row in rows})


def rowwise_looks_at_the_left_only(self: RowwiseIncrement, *deltas: ZSet) -> ZSet:
    right = ROWWISE_STEP(self, *deltas)
    return ZSet({row: weight for row, weight in right.items() if row in deltas[0]})


def rowwise_counts_changes_as_one(self: RowwiseIncrement, *deltas: ZSet) -> ZSet:
    """Several changes of one row in a tick arrive as one."""
    clipped = [ZSet({row: 1 if w > 0 else -1 for row, w in delta.items()}) for delta in deltas]
    return ROWWISE_STEP(self, *clipped)


def rowwise_forgets_what_is_owed(self: RowwiseIncrement) -> None:
    ROWWISE_COMMIT(self)
    self.before = [{row: w for row, w in weights.items() if w > 0} for weights in self.before]


# --- semi, anti and outer joins ---


def with_keeps(wrong: Callable[[Keeps], Keeps]) -> Callable[..., dict[Row, Weight]]:
    """`PresenceByKey.change`, deciding by another function of the match weight."""

    def change(self: PresenceByKey, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
        with replaced(self, "keeps", wrong(self.keeps)):
            return CHANGE_BY_KEY(self, rows, others)

    return change


def counting_matches(keeps: Keeps) -> Keeps:
    """Every match counts, not the first one only."""
    return (lambda match: 1 - match) if keeps(0) else (lambda match: match)


def taking_negative_for_present(keeps: Keeps) -> Keeps:
    return lambda match: keeps(1 if match else 0)


def by_key_as_before_the_tick(self: PresenceByKey, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
    """New rows are kept by the matches that there were before the tick."""
    output = CHANGE_BY_KEY(self, rows, others)
    for row, weight in rows.items():
        key = self.rows.key(row)
        before = self.keeps(self.totals.get(key, 0) if key is not None else 0)
        after = self.keeps(0)
        if key is not None:
            after = self.keeps(self.totals.get(key, 0) + self.staged.get(key, 0))
        output[row] += weight * (before - after)
    return output


def by_key_never_back(self: PresenceByKey, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
    """What a key that goes did to rows that stay is left undone."""
    going = {
        key
        for key, change in self.by_key(others).items()
        if self.totals.get(key, 0) > 0 and not self.totals[key] + change > 0
    }
    output = CHANGE_BY_KEY(self, rows, others)
    return {
        row: weight
        for row, weight in output.items()
        if row in rows or self.rows.key(row) not in going
    }


def by_key_counts_updates(self: PresenceByKey, others: ZSet) -> dict[Any, Weight]:
    """An update of a matching row adds one; the retraction of the old row is not seen."""
    updated = {self.other_key(row) for row, weight in others.items() if weight > 0}
    seen = {row: w for row, w in others.items() if w > 0 or self.other_key(row) not in updated}
    return TOTALS_BY_KEY(self, ZSet(seen))


def semi_join_null_equals_null(self: SemiJoin, *inputs: Schema) -> Increment:
    increment = SEMI_INCREMENT(self, *inputs)
    left, right = inputs
    left_places = [left.index(name) for name, _ in self.on]
    right_places = [right.index(name) for _, name in self.on]
    increment.keys = (  # type: ignore[attr-defined]  # both forms have them
        lambda row: tuple([row[place] for place in left_places]),
        lambda row: tuple([row[place] for place in right_places]),
    )
    increment.clear()
    return increment


def semi_join_saves_the_rows_only(self: SemiJoinIncrement) -> Any:
    left, _ = SEMI_SAVE(self)
    return [left, []]


def recounts_nothing(self: Any, others: Index) -> None:
    """The matches of each row are not in the checkpoint, and not counted again."""


def outer_join_pads_by_key(
    self: OuterJoinIncrement, side: int, rows: Index, others: Index, keeps: Keeps
) -> PresenceByKey:
    """The residual is a filter of the pairs: a row whose pairs it drops is not padded."""
    return PresenceByKey(rows, self.keys[1 - side], keeps)


def gained_by_new_rows_only(self: PresenceByRow, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
    return {row: gain for row, gain in GAINED(self, rows, others).items() if row in rows}


# --- as-of joins ---


def asof_takes_the_first_of_a_time(self: AsofJoinIncrement, row: Row, others: InOrder) -> Any:
    last = MATCH(self, row, others)
    if last is None:
        return None
    (*_, first) = (e.row for e in others.downwards() if self.orders[1](last)[0] == e.key[0])
    return first


def asof_turns_strict_around(self: AsofJoinIncrement, row: Row, others: InOrder) -> Any:
    if self.places[0](row) is None:
        return None
    place = self.orders[0](row)[0]
    last = next(others.downwards((place, LAST) if self.strict else (place,)), None)
    return None if last is None else last.row


def asof_is_never_late(self: AsofJoinIncrement, afters: dict[Any, After]) -> Iterator[Row]:
    """A right row is joined to the left rows that come after it."""
    return iter(())


def asof_reaches_one_row(
    self: AsofJoinIncrement, times: Any, key: Any, after: After
) -> Iterator[Row]:
    """Only the next left row is looked at again."""
    yield from list(REACHED(self, times, key, after))[:1]


def asof_keeps_what_was_retracted(
    self: AsofJoinIncrement, delta: ZSet
) -> dict[Any, dict[Row, Weight]]:
    return RIGHT_BY_KEY(self, ZSet({row: w for row, w in delta.items() if w > 0}))


ROWWISE_STEP, ROWWISE_COMMIT = RowwiseIncrement.step, RowwiseIncrement.commit
CHANGE_BY_KEY, TOTALS_BY_KEY = PresenceByKey.change, PresenceByKey.by_key
GAINED = PresenceByRow.gained
SEMI_INCREMENT, SEMI_SAVE = SemiJoin.increment, SemiJoinIncrement.save
MATCH, REACHED = AsofJoinIncrement.match, AsofJoinIncrement.reached
RIGHT_BY_KEY = AsofJoinIncrement.right_by_key


def mutant(
    name: str, edit: str, source: str, cell: str, owner: Any, attribute: str, wrong: Any
) -> Mutant:
    operator, _, kind = cell.partition("@")
    return Mutant(
        name,
        edit,
        source,
        "reference",
        (operator, kind),
        lambda: replaced(owner, attribute, wrong),
    )


REFERENCE: tuple[Mutant, ...] = (
    mutant(
        "union_without_state",
        "the deltas are taken for the tables",
        "ddlog#306",
        "set.union@duplicate",
        RowwiseIncrement,
        "step",
        rowwise_without_state,
    ),
    mutant(
        "except_looks_at_the_left_only",
        "the change of one side is given to one port",
        "openivm@6f42bc5",
        "set.except@insert",
        RowwiseIncrement,
        "step",
        rowwise_looks_at_the_left_only,
    ),
    mutant(
        "intersect_all_counts_changes_as_one",
        "the delta is assumed to carry +1 or -1 per row",
        "ddlog#306",
        "set.intersect_all@duplicate",
        RowwiseIncrement,
        "step",
        rowwise_counts_changes_as_one,
    ),
    mutant(
        "except_all_counts_changes_as_one",
        "the delta is assumed to carry +1 or -1 per row",
        "ddlog#306",
        "set.except_all@duplicate",
        RowwiseIncrement,
        "step",
        rowwise_counts_changes_as_one,
    ),
    mutant(
        "intersect_without_state",
        "a row is there only if both sides get it in one tick",
        "differential-dataflow#24",
        "set.intersect@insert",
        RowwiseIncrement,
        "step",
        rowwise_without_state,
    ),
    mutant(
        "positive_forgets_what_is_owed",
        "a row retracted before it comes is there once it has come",
        "risingwave#8059",
        "positive@signed",
        RowwiseIncrement,
        "commit",
        rowwise_forgets_what_is_owed,
    ),
    mutant(
        "semi_join_counts_matches",
        "a row is put out once per match",
        "feldera#3365",
        "join.semi@insert",
        PresenceByKey,
        "change",
        with_keeps(counting_matches),
    ),
    mutant(
        "anti_join_counts_rows_not_keys",
        "rows of one key are taken away one by one",
        "feldera#3365",
        "join.anti@duplicate",
        PresenceByKey,
        "change",
        with_keeps(counting_matches),
    ),
    mutant(
        "semi_join_takes_negative_for_present",
        "a key is there when its weight is not zero",
        "the convention of TanStack/db",
        "join.semi@signed",
        PresenceByKey,
        "change",
        with_keeps(taking_negative_for_present),
    ),
    mutant(
        "anti_join_null_equals_null",
        "NULL keys match each other",
        "swanhart#157",
        "join.anti@null",
        SemiJoin,
        "increment",
        semi_join_null_equals_null,
    ),
    mutant(
        "semi_join_forgets_matches_at_restart",
        "the number of matches is not flushed",
        "risingwave#2794",
        "join.semi@restart",
        SemiJoinIncrement,
        "save",
        semi_join_saves_the_rows_only,
    ),
    mutant(
        "semi_join_residual_looks_forward_only",
        "a late match changes nothing for the rows that were there",
        "risingwave#15327",
        "join.semi@insert",
        PresenceByRow,
        "gained",
        gained_by_new_rows_only,
    ),
    mutant(
        "left_join_pads_new_rows_anyway",
        "a new row is padded although its match comes with it",
        "openivm@2904319",
        "join.left@both-sides",
        PresenceByKey,
        "change",
        by_key_as_before_the_tick,
    ),
    mutant(
        "left_join_counts_updates",
        "an update of a match counts as one more match",
        "flink#29204",
        "join.left@update",
        PresenceByKey,
        "by_key",
        by_key_counts_updates,
    ),
    mutant(
        "right_join_never_pads_again",
        "the padded row does not come back with the last match gone",
        "flink#29204",
        "join.right@delete",
        PresenceByKey,
        "change",
        by_key_never_back,
    ),
    mutant(
        "left_join_filters_after_matching",
        "the condition is a filter of the pairs, not part of the match",
        "TanStack/db#1254",
        "join.left@insert",
        OuterJoinIncrement,
        "presence",
        outer_join_pads_by_key,
    ),
    mutant(
        "full_join_forgets_matches_at_restart",
        "the number of matches is not flushed",
        "risingwave#2794",
        "join.full@restart",
        PresenceByKey,
        "recount",
        recounts_nothing,
    ),
    mutant(
        "full_join_residual_forgets_matches_at_restart",
        "the number of matches is not flushed",
        "risingwave#2794",
        "join.full@restart",
        PresenceByRow,
        "recount",
        recounts_nothing,
    ),
    mutant(
        "asof_join_takes_the_first_of_a_time",
        "of several rows of one time another one is taken",
        "risingwave#13461",
        "join.asof@insert",
        AsofJoinIncrement,
        "match",
        asof_takes_the_first_of_a_time,
    ),
    mutant(
        "asof_join_turns_strict_around",
        "a row of the same time is late",
        "feldera#2349",
        "join.asof@insert",
        AsofJoinIncrement,
        "match",
        asof_turns_strict_around,
    ),
    mutant(
        "asof_join_looks_forward_only",
        "a late right row changes nothing for the left rows that were there",
        "flink#28229",
        "join.asof@insert",
        AsofJoinIncrement,
        "touched",
        asof_is_never_late,
    ),
    mutant(
        "asof_join_looks_at_one_successor",
        "only one left row after a change is looked at again",
        "feldera#2338",
        "join.asof@insert",
        AsofJoinIncrement,
        "reached",
        asof_reaches_one_row,
    ),
    mutant(
        "asof_join_keeps_what_was_retracted",
        "a right row that was deleted is still the match",
        "flink#9120",
        "join.asof@delete",
        AsofJoinIncrement,
        "right_by_key",
        asof_keeps_what_was_retracted,
    ),
)


# --- Spark ---


def in_form(operator: str, attribute: str, wrong: Any) -> AbstractContextManager[None]:
    """`replaced` in an operator's Spark form, which is loaded only when it is planted."""
    module = import_module(f"deltaproof.spark_backend.operators.{operator}")
    return replaced(module, attribute, wrong)


def on_spark(
    name: str, edit: str, source: str, cell: str, form: str, attribute: str, wrong: Any
) -> Mutant:
    operator, _, kind = cell.partition("@")
    return Mutant(
        name,
        edit,
        source,
        "spark",
        (operator, kind),
        lambda: in_form(form, attribute, wrong),
    )


SPARK: tuple[Mutant, ...] = (
    on_spark(
        "except_all_keeps_copies_as_one",
        "the copies of a row are taken for one",
        "ddlog#306",
        "set.except_all@duplicate",
        "set_operation",
        "copies",
        lambda weight: f"IF({weight} > 0, 1L, 0L)",
    ),
    on_spark(
        "intersect_takes_negative_for_present",
        "a row is there when its weight is not zero",
        "the convention of TanStack/db",
        "set.intersect@signed",
        "set_operation",
        "there",
        lambda weight: f"{weight} <> 0",
    ),
    on_spark(
        "positive_shows_what_is_owed",
        "weights below zero are put out",
        "feldera@dd9c059f9",
        "positive@signed",
        "positive",
        "copies",
        lambda weight: f"({weight})",
    ),
    on_spark(
        "semi_join_counts_matches",
        "a row is put out once per match",
        "feldera#3365",
        "join.semi@insert",
        "presence",
        "key_presence",
        lambda total: f"{total}",
    ),
    on_spark(
        "anti_join_takes_negative_for_present",
        "a key is there when its weight is not zero",
        "the convention of TanStack/db",
        "join.anti@signed",
        "presence",
        "key_presence",
        lambda total: f"IF({total} <> 0, 1L, 0L)",
    ),
    on_spark(
        "left_join_never_takes_padding_away",
        "a padded row stays when its match comes",
        "spark#26108",
        "join.left@insert",
        "presence",
        "key_presence",
        lambda total: "0L",
    ),
    on_spark(
        "full_join_pads_new_rows_anyway",
        "a row meets absence when its first line comes, or the match's",
        "openivm@2904319",
        "join.full@insert",
        "outer_join",
        "pair_tick",
        lambda: "LEAST(a._tick, b._tick) AS _tick",
    ),
    on_spark(
        "right_join_filters_after_matching",
        "a row without a match is not padded where there is a condition",
        "TanStack/db#1254",
        "join.right@insert",
        "outer_join",
        "if_unmatched",
        lambda weight, match: "0L",
    ),
    on_spark(
        "asof_join_turns_strict_around",
        "a row of the same time is late",
        "feldera#2349",
        "join.asof@insert",
        "asof_join",
        "side_order",
        lambda strict: "_side DESC" if strict else "_side ASC",
    ),
    on_spark(
        "asof_join_keeps_what_was_retracted",
        "a right row that was deleted is still the match",
        "flink#9120",
        "join.asof@delete",
        "asof_join",
        "right_row_is_there",
        lambda: "TRUE",
    ),
    on_spark(
        "asof_join_ties_by_arrival",
        "of several rows of one time any one is taken",
        "risingwave#13461",
        "join.asof@insert",
        "asof_join",
        "whole_row",
        lambda right: [f"{name} DESC" for name in right.columns],
    ),
)
