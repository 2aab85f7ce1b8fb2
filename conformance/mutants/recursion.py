"""Wrong variants of recursion and of queries per group, each from a published bug.

Not here: a body without distinct (differential-dataflow#14). It never comes to rest, so it is an
error and not a difference, and a crash kills nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from itertools import takewhile
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, replaced
from deltaproof.reference import fixpoint
from deltaproof.reference.fixpoint import (
    Agenda,
    Course,
    Differences,
    DistinctNode,
    Fixpoint,
    JoinNode,
    Rows,
)
from deltaproof.reference.nested import Subcircuit
from deltaproof.reference.operators.per_group import PerGroupIncrement
from deltaproof.reference.store import Index, add_into
from deltaproof.reference.zset import ZSet, positive

REACT = JoinNode.react
STEP = PerGroupIncrement.step
COMMIT = PerGroupIncrement.commit


def react_by_support_count(
    self: DistinctNode, iteration: int, inputs: Sequence[Rows]
) -> Differences:
    """Counts derivations, whenever they were made: rows of a cycle support each other."""
    (rows,) = inputs
    output: Differences = {iteration: {}}
    for row, weight in rows.items():
        before = self.now.get(row, self.past.get(row, {}))
        after = dict(before)
        add_into(after, [(0, weight)])
        self.now[row] = after
        change = positive(sum(after.values())) - positive(sum(before.values()))
        if change:
            output[iteration][row] = change
    return output


def feed_back_at_once(self: Fixpoint, source: int, variable: int) -> None:
    self.edges[source].append(fixpoint.Edge(variable, 0, delay=0))


def react_without_the_other_time(
    self: JoinNode, iteration: int, inputs: Sequence[Rows]
) -> Differences:
    """Pairs with rows of later iterations enter in the iteration of the change."""
    pairs: Rows = {}
    for rows in REACT(self, iteration, inputs).values():
        add_into(pairs, rows.items())
    return {iteration: pairs}


def react_without_derivations_left(
    self: DistinctNode, iteration: int, inputs: Sequence[Rows]
) -> Differences:
    """A row goes with the first of its derivations that goes."""
    (rows,) = inputs
    output: Differences = {}
    for row, weight in rows.items():
        before = self.now.get(row, self.past.get(row, {}))
        after: Course = {} if weight < 0 else dict(before)
        add_into(after, [(iteration, weight)] if weight > 0 else [])
        self.now[row] = after
        change = fixpoint.presence(after)
        add_into(change, [(when, -sign) for when, sign in fixpoint.presence(before).items()])
        for when, sign in change.items():
            if when >= iteration:
                output.setdefault(when, {})[row] = sign
    return output


class StickyIndex(Index):
    """An index that cannot let go of the last row of a key."""

    __slots__ = ()

    def add(self, delta: Any) -> None:
        for entry, weight in delta:
            bucket = self.of(self.key(entry))
            if weight > 0 or len(bucket) > 1 or entry not in bucket:
                super().add([(entry, weight)])


def clear_with_sticky_indexes(self: JoinNode) -> None:
    self.past = [StickyIndex(key) for key in self.keys]
    self.forget_staged()


def agenda_until_a_quiet_iteration(self: Agenda) -> Iterator[tuple[int, int, list[Rows]]]:
    """Stops when an iteration changes nothing, whatever is still due in later ones."""
    seen = 0

    def soon(moment: tuple[int, int, list[Rows]]) -> bool:
        nonlocal seen
        goes_on = moment[0] <= seen + 1
        seen = moment[0]
        return goes_on

    return takewhile(soon, ITERATE(self))


ITERATE = Agenda.__iter__


def restores_nothing(self: Any, saved: Any) -> None:
    self.clear()


def restores_as_new(self: Subcircuit, saved: Any) -> None:
    self.clear()
    self.started = True


def emptied_group_keeps_its_output(self: PerGroupIncrement, *deltas: ZSet) -> ZSet:
    right = self.over_nothing
    self.over_nothing = ZSet()
    try:
        return STEP(self, *deltas)
    finally:
        self.over_nothing = right


def emptied_group_lives_on(self: PerGroupIncrement) -> None:
    self.emptied = []
    COMMIT(self)


def null_keys_have_no_group(self: PerGroupIncrement, *deltas: ZSet) -> ZSet:
    kept = [
        ZSet({row: weight for row, weight in delta.items() if None not in key_of(row)})
        for key_of, delta in zip(self.keys, deltas, strict=True)
    ]
    return STEP(self, *kept)


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
        "recursion_deletes_by_support_count",
        "rows of a cycle keep each other when it is cut from its root",
        "M50, the textbook fault",
        "recursion@delete",
        DistinctNode,
        "react",
        react_by_support_count,
    ),
    mutant(
        "recursion_feeds_back_at_once",
        "the inner integral is not delayed",
        "feldera#5452",
        "recursion@delete",
        Fixpoint,
        "feed_back",
        feed_back_at_once,
    ),
    mutant(
        "recursion_pairs_meet_too_early",
        "a change meets rows of later iterations in its own",
        "feldera#5452",
        "recursion@churn",
        JoinNode,
        "react",
        react_without_the_other_time,
    ),
    mutant(
        "recursion_forgets_other_derivations",
        "a row goes with the first of its derivations, nothing is derived again",
        "M50, the textbook fault",
        "recursion@delete",
        DistinctNode,
        "react",
        react_without_derivations_left,
    ),
    mutant(
        "recursion_keeps_the_last_row_of_a_key",
        "the nested trace keeps a key whose last row was deleted",
        "M17, a published engine",
        "recursion@churn",
        JoinNode,
        "clear",
        clear_with_sticky_indexes,
    ),
    mutant(
        "recursion_drops_what_is_in_flight",
        "an iteration without changes ends the loop, though later ones have some",
        "differential-dataflow#801",
        "recursion@churn",
        Agenda,
        "__iter__",
        agenda_until_a_quiet_iteration,
    ),
    mutant(
        "recursion_forgets_joins_at_restart",
        "the checkpoint skips the traces inside the recursion",
        "feldera#6765",
        "recursion@restart",
        JoinNode,
        "restore",
        restores_nothing,
    ),
    mutant(
        "recursion_forgets_rows_at_restart",
        "the checkpoint skips what the relations were",
        "pathway CHANGELOG 0.32.1",
        "recursion@restart",
        DistinctNode,
        "restore",
        restores_nothing,
    ),
    mutant(
        "per_group_keeps_emptied_groups",
        "an emptied group keeps what its query gives over nothing",
        "openivm@3b0f283",
        "per_group@empty-out",
        PerGroupIncrement,
        "step",
        emptied_group_keeps_its_output,
    ),
    mutant(
        "per_group_emptied_group_lives_on",
        "a group that was emptied is not new when it comes back",
        "turso#8531",
        "per_group@resurrect",
        PerGroupIncrement,
        "commit",
        emptied_group_lives_on,
    ),
    mutant(
        "per_group_forgets_at_restart",
        "the checkpoint skips the circuits inside the groups",
        "feldera#6765",
        "per_group@restart",
        Subcircuit,
        "restore",
        restores_as_new,
    ),
    mutant(
        "per_group_drops_null_keys",
        "a group whose key is NULL is no group",
        "swanhart#157",
        "per_group@null",
        PerGroupIncrement,
        "step",
        null_keys_have_no_group,
    ),
)


# --- Spark: a word or two of the SQL that it is given ---


def spark_mutant(
    name: str, edit: str, source: str, cell: str, place: str, wrong: Callable[[Any], Any]
) -> Mutant:
    """`wrong` makes the wrong one from the right one, which `place` names: file, colon, path."""
    operator, _, kind = cell.partition("@")

    def plant() -> AbstractContextManager[None]:
        file, _, path = place.partition(":")
        owner: Any = import_module(f"deltaproof.spark_backend.operators.{file}")
        *owners, attribute = path.split(".")
        for each in owners:
            owner = getattr(owner, each)
        return replaced(owner, attribute, wrong(getattr(owner, attribute)))

    return Mutant(name, edit, source, "spark", (operator, kind), plant)


def remembers_no_iterations(right: Any) -> Any:
    """Everything that is remembered is of the first iteration."""

    def remember(self: Any) -> None:
        line = ", ".join(["_case", "_tick", "0 AS _iter", *self.columns, "_weight"])
        lines = self.together(*self.now, *self.past())
        self.lowering.remember(self.place, self.lowering.define(f"SELECT {line} FROM {lines}"))

    return remember


def groups_never_end(right: Any) -> Any:
    def changes_of_presence(counts: str, lowering: Any) -> Any:
        return lowering.define(f"SELECT * FROM {right(counts, lowering)} WHERE _weight > 0")

    return changes_of_presence


SPARK: tuple[Mutant, ...] = (
    spark_mutant(
        "recursion_forgets_earlier_iterations",
        "new rows on the left meet only what is new on the right",
        "differential-dataflow#801",
        "recursion@insert",
        "recursion:RIGHT_PARTS",
        lambda right: ("ARRAY(0, 1)", "ARRAY(2)", "ARRAY(0, 3)", "ARRAY(0)"),
    ),
    spark_mutant(
        "recursion_joins_the_past_too_late",
        "a change does not meet what was derived after it, in earlier ticks",
        "feldera#5452",
        "recursion@churn",
        "recursion:LEFT_PARTS",
        lambda right: ("ARRAY(0)", "ARRAY(1, 3)", "ARRAY(1)", "ARRAY(1)"),
    ),
    spark_mutant(
        "recursion_forgets_its_iterations",
        "the clock inside the recursion is lost between calls",
        "feldera#6765",
        "recursion@churn",
        "recursion:Trace.remember",
        remembers_no_iterations,
    ),
    spark_mutant(
        "per_group_keeps_emptied_groups",
        "an emptied group keeps what its query gives over nothing",
        "openivm@3b0f283",
        "per_group@empty-out",
        "per_group:changes_of_presence",
        groups_never_end,
    ),
    spark_mutant(
        "per_group_emptied_group_lives_on",
        "a group that was emptied is not new when it comes back",
        "turso#8531",
        "per_group@resurrect",
        "per_group:forget_groups_without_rows",
        lambda right: lambda start, counts, lowering: None,
    ),
)
