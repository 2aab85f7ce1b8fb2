"""Wrong variants of what aggregates keep of a group and of how results are read off it.

Increments and Spark forms are patched; the meaning, which is the oracle, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, all_replaced, replaced
from deltaproof.reference.operator import Increment
from deltaproof.reference.operators import aggregate_layout
from deltaproof.reference.operators.aggregate_functions import (
    between,
    given_kind,
    value_function,
)
from deltaproof.reference.operators.aggregate_increment import ROWS, AggregateIncrement, Layout
from deltaproof.reference.operators.grouping_sets import GroupingSets, GroupingSetsIncrement
from deltaproof.reference.ordered import After
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.store import Values
from deltaproof.reference.sums import unit_of
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

Sums = list[Any]
Crossed = Callable[[Any, Any], Any]  # (a value's weight before, its change) → what DISTINCT adds


def folding(crossed: Crossed) -> Callable[..., None]:
    """`fold_crossings`, with another rule of when a value comes and goes."""

    def fold_crossings(self: AggregateIncrement, touched: Any, changes: Any) -> None:
        for key, values in changes.items():
            kept = self.values.get(key) or self.no_values()
            for n, crossings in self.crossings:
                for value, change in values[n].items():
                    for place, part in crossings:
                        adds = part(value) or 0
                        touched[key][place] += adds * crossed(kept[n].weight(value), change)

    return fold_crossings


def distinct_of_the_delta(before: Any, change: Any) -> Any:
    return (change > 0) - (change < 0)


def distinct_that_only_comes(before: Any, change: Any) -> Any:
    return int(before + change > 0 and not before > 0)


def share_a_sum(self: Layout, call: AggregateCall, name: Any, part: Any = None) -> int:
    """The sum of this argument, whoever asked for it first."""
    asked = (name, call.argument, call.where)
    found = [place for each, place in self.places.items() if each[:3] == asked]
    return found[0] if found else SUM(self, call, name, part)


class Deleting:
    """Whether the row at hand is being deleted: the FILTER of the mutant below asks."""

    now = False


def filter_of_insertions(self: Layout, call: AggregateCall) -> Callable[[Row], Any]:
    value = value_function(call, self.rows)
    if call.where is None:
        return value
    keeps = call.where.compile(self.rows)
    return lambda row: value(row) if Deleting.now or keeps(row) else None


def fold_one_by_one(self: AggregateIncrement, delta: ZSet) -> dict[Row, Sums]:
    touched: dict[Row, Sums] = {}
    for row, weight in delta.items():
        Deleting.now = weight < 0
        key = self.key_of(row)
        sums = touched.setdefault(key, list(self.groups.get(key, self.no_group)))
        sums[ROWS] += weight
        for place, part in self.parts:
            sums[place] += (part(row) or 0) * weight
    Deleting.now = False
    return touched


def filter_empties_the_group(
    self: AggregateIncrement, key: Row, sums: Sums, changes: Any
) -> Row | None:
    passed = any(sums[1:-1]) or len(sums) == 2
    return ROW_AFTER(self, key, sums, changes) if passed or self.keyless else None


def variance_of_floats(self: Layout, call: AggregateCall) -> Any:
    """E[x²] - E[x]², each rounded before the other is taken away."""
    right = SPREAD(self, call)
    count = self.count_place(call, self.given(call))
    total, specials = self.total_places(call)
    squares = self.places["squares", call.argument, call.where, False]
    unit = unit_of(given_kind(call, self.rows))

    def result(sums: Sums, read: list[Any]) -> Any:
        exact, n = right(sums, read), sums[count]
        if exact is None or any(sums[place] for place in specials):
            return exact
        mean = sums[total] / (n * unit)
        return sums[squares] / (n * unit * unit) - mean * mean

    return result


def bool_keeps_true(self: AggregateIncrement, key: Row, sums: Sums, changes: Any) -> Row | None:
    right = ROW_AFTER(self, key, sums, changes)
    group = self.groups.get(key)
    before = group[-1] if group else None
    if right is None or before is None:
        return right
    width = len(key)
    pairs = zip(before[width:], right[width:], strict=True)
    return (*key, *[old if old is True else new for old, new in pairs])


def extremes_of_what_ever_was(self: Values, delta: Any) -> tuple[Any, Any]:
    present = [*self.upwards(), *[value for value, weight in delta.items() if weight > 0]]
    if not present:
        return None, None
    return min(present, key=self.order), max(present, key=self.order)


def falsy_argument_is_null(self: Layout, call: AggregateCall) -> Any:
    right = EXTREME(self, call)
    return lambda sums, read: right(sums, read) or None


def appended(values: After) -> Any:
    """What was there, then what came."""
    changed = {change.row: change.after for change in values.changes}
    kept = [(entry.row, entry.weight) for entry in values.before.upwards()]
    stays = [(row, weight) for row, weight in kept if row not in changed]
    both = [*stays, *[(row, weight) for row, weight in changed.items() if weight > 0]]
    return tuple(row for row, weight in both for _ in range(weight)) or None


def empty_array(values: After) -> Any:
    return WHOLE(values) or ()


def quantile_of_the_old_rank(values: After, fraction: Fraction, kind: Any) -> Any:
    """The place is that of a group as large as it was before the tick."""
    position = fraction * max(min(values.before.total, values.total) - 1, 0)
    below = int(position)
    low, high = values.nth(below), values.nth(below + (position > below))
    if low is None or high is None:
        return None
    return between(low.row, high.row, position - below, kind)


def quantile_without_weights(values: After, fraction: Fraction, kind: Any) -> Any:
    rows = [entry.row for entry in values.upwards()]
    if not rows:
        return None
    position = fraction * (len(rows) - 1)
    below = int(position)
    high = rows[below + (position > below)]
    return between(rows[below], high, position - below, kind)


def single_that_stays(call: AggregateCall, values: After) -> Any:
    entry = values.first() or values.before.first()
    return None if entry is None else entry.row[0]


def count_of_plain(self: Layout, call: AggregateCall, argument: Any) -> int:
    """AVG(DISTINCT) divides by the number of rows."""
    return self.sum(AggregateCall("count", call.argument, False, call.where), "count", lambda v: 1)


def drop_null_keys(self: AggregateIncrement, delta: ZSet) -> ZSet:
    kept = {row: w for row, w in delta.items() if None not in self.key_of(row)}
    return STEP(self, ZSet.trusted(kept))


def save_sums_only(self: AggregateIncrement) -> Any:
    return [[key, sums, []] for key, sums, _ in SAVE(self)]


def null_is_an_absent_key(self: GroupingSets, *inputs: Schema) -> Increment:
    """The grouping column is read off the NULLs of the row."""
    keys = len(self.keys)

    def guessed(place: Callable[[Row], Row]) -> Callable[[Row], Row]:
        def placed(row: Row) -> Row:
            right = place(row)
            if self.grouping is None:
                return right
            mask = 0
            for value in right[:keys]:
                mask = 2 * mask + (value is None)
            return (*right[:-1], mask)

        return placed

    return GroupingSetsIncrement(
        [(part.increment(*inputs), guessed(self.place(part.keys))) for part in self.parts]
    )


def merge_alike_rows(self: GroupingSetsIncrement, delta: ZSet) -> ZSet:
    """A row that two sets give, or one gives and another takes, is one change."""
    return ZSet([(row, 1 if w > 0 else -1) for row, w in SETS_STEP(self, delta).items()])


SUM, SPREAD, EXTREME = Layout.sum, Layout.spread, Layout.extreme
WHOLE = aggregate_layout.whole
ROW_AFTER, STEP, SAVE = (
    AggregateIncrement.row_after,
    AggregateIncrement.step,
    AggregateIncrement.save,
)
SETS_STEP = GroupingSetsIncrement.step


def in_reference(
    name: str, edit: str, source: str, cell: str, owner: Any, attribute: str, wrong: Any
) -> Mutant:
    operator, _, kind = cell.partition("@")
    plant = lambda: replaced(owner, attribute, wrong)  # noqa: E731  # as short as it is clear
    return Mutant(name, edit, source, "reference", (operator, kind), plant)


REFERENCE: tuple[Mutant, ...] = (
    in_reference(
        "count_distinct_counts_the_delta",
        "the number of distinct values of the delta is added",
        "starrocks#73003",
        "aggregate.count_distinct@duplicate",
        AggregateIncrement,
        "fold_crossings",
        folding(distinct_of_the_delta),
    ),
    in_reference(
        "sum_distinct_is_never_taken_away",
        "a value that goes stays in the sum",
        "flink#7284",
        "aggregate.sum_distinct@delete",
        AggregateIncrement,
        "fold_crossings",
        folding(distinct_that_only_comes),
    ),
    in_reference(
        "distinct_and_plain_share_a_sum",
        "SUM(x) and SUM(DISTINCT x) are kept once",
        "risingwave#7688",
        "aggregate.avg_distinct@duplicate",
        Layout,
        "sum",
        share_a_sum,
    ),
    in_reference(
        "avg_distinct_divides_by_all_rows",
        "AVG(DISTINCT x) divides by COUNT(x)",
        "hive#2872",
        "aggregate.avg_distinct@duplicate",
        Layout,
        "count_place",
        count_of_plain,
    ),
    Mutant(
        "filter_lets_retractions_in",
        "the FILTER is tested on insertions only",
        "flink#27371",
        "reference",
        ("aggregate.filter", "update"),
        lambda: all_replaced(
            [
                (Layout, "given", filter_of_insertions),
                (AggregateIncrement, "fold_sums", fold_one_by_one),
            ]
        ),
    ),
    in_reference(
        "filter_empties_the_group",
        "a group without rows that pass the FILTER is gone",
        "openivm@69bfc19",
        "aggregate.filter@insert",
        AggregateIncrement,
        "row_after",
        filter_empties_the_group,
    ),
    in_reference(
        "variance_of_floats",
        "E[x²] - E[x]² in floating point",
        "openivm@074a824",
        "aggregate.variance@insert",
        Layout,
        "spread",
        variance_of_floats,
    ),
    in_reference(
        "stddev_is_the_variance",
        "two rewrites collide and the root is lost",
        "openivm@5a80df4",
        "aggregate.stddev@insert",
        aggregate_layout,
        "root",
        lambda variance: variance,
    ),
    in_reference(
        "bool_or_is_cached",
        "TRUE stays when its last row goes",
        "risingwave#7412",
        "aggregate.bool@delete",
        AggregateIncrement,
        "row_after",
        bool_keeps_true,
    ),
    in_reference(
        "arg_min_keeps_the_old_argument",
        "the argument stays when its row goes",
        "flink#9120",
        "aggregate.arg@delete",
        Values,
        "extremes_after",
        extremes_of_what_ever_was,
    ),
    in_reference(
        "arg_min_takes_falsy_for_unset",
        "an argument of 0 or '' is read as NULL",
        "TanStack/db#1775",
        "aggregate.arg@insert",
        Layout,
        "extreme",
        falsy_argument_is_null,
    ),
    in_reference(
        "array_agg_in_order_of_arrival",
        "new values are appended",
        "risingwave#13461",
        "aggregate.array_agg@insert",
        aggregate_layout,
        "whole",
        appended,
    ),
    in_reference(
        "array_agg_of_nothing_is_empty",
        "an array without values where NULL belongs",
        "risingwave#5962",
        "aggregate.array_agg@null",
        aggregate_layout,
        "whole",
        empty_array,
    ),
    in_reference(
        "quantile_by_the_old_rank",
        "the place is looked up in a group of the old size",
        "readyset@a925ea96a",
        "aggregate.quantile@insert",
        aggregate_layout,
        "quantile",
        quantile_of_the_old_rank,
    ),
    in_reference(
        "quantile_without_weights",
        "a value that is there twice counts once",
        "ddlog#306",
        "aggregate.quantile@duplicate",
        aggregate_layout,
        "quantile",
        quantile_without_weights,
    ),
    in_reference(
        "single_stays_when_its_row_goes",
        "a scalar subquery keeps its last value",
        "feldera#4248",
        "aggregate.single@delete",
        aggregate_layout,
        "only_value",
        single_that_stays,
    ),
    in_reference(
        "null_keys_form_no_group",
        "rows with NULL in a key are dropped",
        "hive#1995",
        "aggregate.count@null",
        AggregateIncrement,
        "step",
        drop_null_keys,
    ),
    in_reference(
        "aggregate_checkpoints_sums_only",
        "the checkpoint skips the values",
        "feldera#6765",
        "aggregate.count_distinct@restart",
        AggregateIncrement,
        "save",
        save_sums_only,
    ),
    in_reference(
        "grouping_reads_null_as_absent",
        "NULL in the data is taken for a key that is not in the set",
        "starrocks#79312",
        "grouping_sets@null",
        GroupingSets,
        "increment",
        null_is_an_absent_key,
    ),
    in_reference(
        "grouping_sets_merge_alike_rows",
        "rows of two sets that look alike are one row",
        "ddlog#306",
        "grouping_sets@null",
        GroupingSetsIncrement,
        "step",
        merge_alike_rows,
    ),
)


# --- Spark ---


def on_spark(
    name: str, edit: str, source: str, cell: str, form: str, attribute: str, wrong: Any
) -> Mutant:
    """A mutant of one function of a Spark form, which is imported when it is planted."""
    operator, _, kind = cell.partition("@")

    def plant() -> Any:
        module = import_module(f"deltaproof.spark_backend.operators.{form}")
        return replaced(module, attribute, wrong)

    return Mutant(name, edit, source, "spark", (operator, kind), plant)


SPARK: tuple[Mutant, ...] = (
    on_spark(
        "count_distinct_counts_rows",
        "a value that is there twice counts twice",
        "ddlog#306",
        "aggregate.count_distinct@duplicate",
        "aggregate",
        "presence",
        lambda weight: weight,
    ),
    on_spark(
        "filter_is_not_asked",
        "FILTER lets every row in",
        "flink#27371",
        "aggregate.filter@insert",
        "aggregate",
        "where_true",
        lambda condition, text: text,
    ),
    on_spark(
        "sample_variance_is_that_of_the_population",
        "VAR_SAMP divides by n",
        "openivm@074a824",
        "aggregate.variance@insert",
        "aggregate",
        "degrees_of_freedom",
        lambda count, less: count,
    ),
    on_spark(
        "arg_min_keeps_the_old_argument",
        "the argument stays when its row goes",
        "flink#9120",
        "aggregate.arg@delete",
        "aggregate",
        "if_present",
        lambda value: value,
    ),
    on_spark(
        "array_agg_of_nothing_is_empty",
        "an array without values where NULL belongs",
        "risingwave#5962",
        "aggregate.array_agg@null",
        "aggregate",
        "null_when_empty",
        lambda array: array,
    ),
    on_spark(
        "quantile_without_weights",
        "a value that is there twice counts once",
        "ddlog#306",
        "aggregate.quantile@duplicate",
        "aggregate",
        "copies_of",
        lambda weight: f"IF({weight} > 0, 1L, 0L)",
    ),
    on_spark(
        "grouping_is_always_zero",
        "a key that is not in the set is not told from NULL in the data",
        "starrocks#79312",
        "grouping_sets@insert",
        "grouping_sets",
        "grouping_mask",
        lambda all_keys, keys: 0,
    ),
)
