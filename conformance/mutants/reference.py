"""Wrong variants of the reference's increments, each a few lines and each from a published bug.

Only increments are patched: the meaning, which is the oracle, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, all_replaced, replaced
from deltaproof.reference.operator import Increment, LinearIncrement, Operator
from deltaproof.reference.operators.aggregate_increment import ROWS, AggregateIncrement, Layout
from deltaproof.reference.operators.distinct import DistinctIncrement
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.join import Join, JoinIncrement
from deltaproof.reference.operators.map import Map, row_function
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.store import Values
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet, without_zeros

Step = Callable[..., ZSet]


def linear(step: Callable[[Any, tuple[Schema, ...]], Step]) -> Callable[..., Increment]:
    """An `increment` method without state, from a function of the operator and its inputs."""

    def increment(self: Operator, *inputs: Schema) -> Increment:
        return LinearIncrement(step(self, inputs))

    return increment


def filter_lets_retractions_pass(self: Filter, inputs: tuple[Schema, ...]) -> Step:
    keeps = self.predicate.compile(*inputs)
    return lambda rows: ZSet({row: w for row, w in rows.items() if w < 0 or keeps(row)})


def filter_takes_the_first_change(self: Filter, inputs: tuple[Schema, ...]) -> Step:
    keeps = self.predicate.compile(*inputs)
    return lambda rows: ZSet([(row, w) for row, w in list(rows.items())[:1] if keeps(row)])


def map_keeps_the_last_weight(self: Map, inputs: tuple[Schema, ...]) -> Step:
    image = row_function([value.compile(*inputs) for _, value in self.columns])
    return lambda rows: ZSet({image(row): w for row, w in rows.items()})


def map_keeps_zeros(self: Map, inputs: tuple[Schema, ...]) -> Step:
    image = row_function([value.compile(*inputs) for _, value in self.columns])

    def step(rows: ZSet) -> ZSet:
        weights: dict[Row, Any] = {}
        for row, weight in rows.items():
            weights[image(row)] = weights.get(image(row), 0) + weight
        return ZSet.trusted(weights)

    return step


def map_compresses_by_key(self: Map, inputs: tuple[Schema, ...]) -> Step:
    right = self.meaning(*inputs)

    def step(rows: ZSet) -> ZSet:
        by_key: dict[Any, int] = {}
        for row, weight in rows.items():
            by_key[row[0]] = by_key.get(row[0], 0) + weight
        return right(ZSet({row: w for row, w in rows.items() if by_key[row[0]]}))

    return step


def flat_map_forgets_repeated_elements(self: FlatMap, inputs: tuple[Schema, ...]) -> Step:
    elements = self.array.compile(*inputs)
    return lambda rows: ZSet(
        {(*row, element): w for row, w in rows.items() for element in elements(row) or ()}
    )


def union_feeds_one_source_once(self: UnionAll, inputs: tuple[Schema, ...]) -> Step:
    return lambda left, right: left if left is right else left + right


def negate_of_insertions_only(self: Negate, inputs: tuple[Schema, ...]) -> Step:
    return lambda rows: ZSet({row: -weight for row, weight in rows.items() if weight > 0})


class LateIncrement(LinearIncrement):
    """Answers with the delta of the tick before."""

    def __init__(self, operator: Map, inputs: tuple[Schema, ...]) -> None:
        self.right = operator.meaning(*inputs)
        self.clear()
        self.step = self.late

    def clear(self) -> None:
        self.now = self.before = ZSet()

    def late(self, rows: ZSet) -> ZSet:
        self.now = self.right(rows)
        return self.before

    def commit(self) -> None:
        self.before = self.now


def join_drops_the_product_of_deltas(self: JoinIncrement, da: ZSet, db: ZSet) -> ZSet:
    output: dict[Row, Any] = {}
    left_key, right_key = self.keys
    self.add_matches(output, da, left_key, self.right.rows)
    self.add_matches(output, db, right_key, self.left.rows, swapped=True)
    self.staged = (da, db)
    return ZSet.trusted(without_zeros(output))


def join_counts_the_product_of_deltas_twice(self: JoinIncrement, da: ZSet, db: ZSet) -> ZSet:
    right = JOIN_STEP(self, da, db)
    return right + (right - join_drops_the_product_of_deltas(self, da, db))


def join_clips_weights(self: JoinIncrement, da: ZSet, db: ZSet) -> ZSet:
    return ZSet({row: max(-1, min(1, w)) for row, w in JOIN_STEP(self, da, db).items()})


def join_null_equals_null(self: Join, *inputs: Schema) -> Increment:
    left, right = inputs
    places = (
        [left.index(name) for name, _ in self.on],
        [right.index(name) for _, name in self.on],
    )

    def key(positions: list[int]) -> Callable[[Row], Row]:
        return lambda row: tuple([row[position] for position in positions])

    return JoinIncrement(inputs, (key(places[0]), key(places[1])))


def join_checkpoints_one_side(self: JoinIncrement) -> Any:
    left, _ = JOIN_SAVE(self)
    return [left, []]


def distinct_emits_the_sign(self: DistinctIncrement, delta: ZSet) -> ZSet:
    return ZSet({row: 1 if weight > 0 else -1 for row, weight in delta.items()})


def distinct_without_counts(self: DistinctIncrement, delta: ZSet) -> ZSet:
    self.staged = ZSet({row: (weight > 0) - (row in self.weights) for row, weight in delta.items()})
    return self.staged


def aggregate_group_dies_with_a_zero_sum(
    self: AggregateIncrement, key: Row, sums: list[Any], changes: Any
) -> Row | None:
    return None if sums[-2] == 0 else ROW_AFTER(self, key, sums, changes)


def aggregate_keeps_emptied_groups(
    self: AggregateIncrement, key: Row, sums: list[Any], changes: Any
) -> Row | None:
    if sums[ROWS] > 0 or self.keyless:
        return ROW_AFTER(self, key, sums, changes)
    return (*key, *[finish(sums, self.values_after(key, changes)) for finish in self.finishes])


def aggregate_marks_emptied_groups_dead(
    self: AggregateIncrement, key: Row, sums: list[Any], changes: Any
) -> Row | None:
    group = self.groups.get(key)
    dead = group is not None and group[-1] is None
    return None if dead else ROW_AFTER(self, key, sums, changes)


def aggregate_emptied_group_is_kept_in_mind(self: AggregateIncrement, key: Row, group: Any) -> None:
    """Part of the mutant above: the tombstone stays."""


def aggregate_has_no_row_over_nothing(
    self: AggregateIncrement, key: Row, sums: list[Any], changes: Any
) -> Row | None:
    return ROW_AFTER(self, key, sums, changes) if sums[ROWS] > 0 else None


def aggregate_sum_never_back_to_null(
    self: AggregateIncrement, key: Row, sums: list[Any], changes: Any
) -> Row | None:
    right = ROW_AFTER(self, key, sums, changes)
    group = self.groups.get(key)
    before = group[-1] if group else None
    if right is None or before is None:
        return right
    width = len(key)
    kept = [
        0 * old if new is None and isinstance(old, int | float) else new
        for old, new in zip(before[width:], right[width:], strict=True)
    ]
    return (*key, *kept)


def aggregate_counts_null(self: Layout, call: Any, argument: Any) -> int:
    return ROWS


def aggregate_keeps_the_cached_extremum(self: Values, delta: Any) -> tuple[Any, Any]:
    present = [*self.upwards(), *[value for value, weight in delta.items() if weight > 0]]
    if not present:
        return None, None
    return min(present, key=self.order), max(present, key=self.order)


def aggregate_takes_falsy_for_unset(self: Values, delta: Any) -> tuple[Any, Any]:
    least, greatest = EXTREMES_AFTER(self, delta)
    return least or None, greatest or None


def aggregate_moves_without_retracting(self: AggregateIncrement, delta: ZSet) -> ZSet:
    right = AGGREGATE_STEP(self, delta)
    return right if right.is_positive() or len(right) < 2 or self.keyless else keep_inserts(right)


def keep_inserts(delta: ZSet) -> ZSet:
    """The delta without the retraction of a group that leaves as another one comes."""
    inserted = [row for row, weight in delta.items() if weight > 0]
    moved = inserted and {row[0] for row in inserted} != {row[0] for row in delta}
    return ZSet(dict.fromkeys(inserted, 1)) if moved else delta


def saves_nothing(self: Any) -> Any:
    return []


JOIN_STEP, JOIN_SAVE = JoinIncrement.step, JoinIncrement.save
ROW_AFTER, AGGREGATE_STEP = AggregateIncrement.row_after, AggregateIncrement.step
EXTREMES_AFTER = Values.extremes_after


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


MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "filter_lets_retractions_pass",
        "the predicate is tested on insertions only",
        "flink#27371",
        "filter@update",
        Filter,
        "increment",
        linear(filter_lets_retractions_pass),
    ),
    mutant(
        "filter_takes_the_first_change",
        "only the first message of a tick is used",
        "d2ts#74",
        "filter@churn",
        Filter,
        "increment",
        linear(filter_takes_the_first_change),
    ),
    mutant(
        "map_keeps_the_last_weight",
        "rows that become equal overwrite each other's weight",
        "TanStack/db#1703",
        "map@churn",
        Map,
        "increment",
        linear(map_keeps_the_last_weight),
    ),
    mutant(
        "map_keeps_zeros",
        "rows whose weights cancel stay with weight zero",
        "feldera@256d83aac",
        "map@churn",
        Map,
        "increment",
        linear(map_keeps_zeros),
    ),
    mutant(
        "map_compresses_by_key",
        "-old +new of one key cancel out, whatever the other columns",
        "TanStack/db#1367",
        "map@update",
        Map,
        "increment",
        linear(map_compresses_by_key),
    ),
    mutant(
        "map_is_one_tick_late",
        "the delay is off by one",
        "feldera@ee7af2a2c",
        "map@insert",
        Map,
        "increment",
        lambda self, *inputs: LateIncrement(self, inputs),
    ),
    mutant(
        "flat_map_forgets_repeated_elements",
        "an element that stands twice in the array counts once",
        "feldera PR #1700",
        "flat_map@insert",
        FlatMap,
        "increment",
        linear(flat_map_forgets_repeated_elements),
    ),
    mutant(
        "union_feeds_one_source_once",
        "t UNION ALL t is fed once",
        "turso#5734",
        "union_all@insert",
        UnionAll,
        "increment",
        linear(union_feeds_one_source_once),
    ),
    mutant(
        "negate_of_insertions_only",
        "downstream of a negation only insertions arrive",
        "turso#8293",
        "negate@delete",
        Negate,
        "increment",
        linear(negate_of_insertions_only),
    ),
    mutant(
        "join_drops_the_product_of_deltas",
        "da × db is left out",
        "differential-dataflow#24",
        "join.inner@both-sides",
        JoinIncrement,
        "step",
        join_drops_the_product_of_deltas,
    ),
    mutant(
        "join_counts_the_product_of_deltas_twice",
        "both sides are joined with the integral after the tick",
        "pg-trickle#18",
        "join.inner@both-sides",
        JoinIncrement,
        "step",
        join_counts_the_product_of_deltas_twice,
    ),
    mutant(
        "join_clips_weights",
        "weights above one are one",
        "ddlog#306",
        "join.inner@duplicate",
        JoinIncrement,
        "step",
        join_clips_weights,
    ),
    mutant(
        "join_null_equals_null",
        "NULL keys match each other",
        "swanhart#157",
        "join.inner@null",
        Join,
        "increment",
        join_null_equals_null,
    ),
    mutant(
        "join_checkpoints_one_side",
        "the checkpoint skips a trace",
        "feldera#6765",
        "join.inner@restart",
        JoinIncrement,
        "save",
        join_checkpoints_one_side,
    ),
    mutant(
        "distinct_emits_the_sign",
        "stateless: the sign of the delta is put out",
        "ddlog#306",
        "distinct@duplicate",
        DistinctIncrement,
        "step",
        distinct_emits_the_sign,
    ),
    mutant(
        "distinct_without_counts",
        "a set is kept instead of weights",
        "the classic mistake",
        "distinct@duplicate",
        DistinctIncrement,
        "step",
        distinct_without_counts,
    ),
    mutant(
        "distinct_forgets_at_restart",
        "the checkpoint skips an operator",
        "feldera#6765",
        "distinct@restart",
        DistinctIncrement,
        "save",
        saves_nothing,
    ),
    mutant(
        "aggregate_group_dies_with_a_zero_sum",
        "a group is taken for empty when its SUM is 0",
        "openivm@69bfc19",
        "aggregate.sum@insert",
        AggregateIncrement,
        "row_after",
        aggregate_group_dies_with_a_zero_sum,
    ),
    mutant(
        "aggregate_keeps_emptied_groups",
        "an emptied group keeps a row of zeros",
        "openivm@3b0f283",
        "aggregate.count@empty-out",
        AggregateIncrement,
        "row_after",
        aggregate_keeps_emptied_groups,
    ),
    Mutant(
        "aggregate_marks_emptied_groups_dead",
        "a group emptied once never comes back",
        "turso#8531",
        "reference",
        ("aggregate.count", "resurrect"),
        lambda: all_replaced(
            [
                (AggregateIncrement, "row_after", aggregate_marks_emptied_groups_dead),
                (AggregateIncrement, "forget_if_empty", aggregate_emptied_group_is_kept_in_mind),
            ]
        ),
    ),
    mutant(
        "aggregate_has_no_row_over_nothing",
        "without GROUP BY there is no row for no input",
        "pgsql-ivm#88",
        "aggregate.count@empty-out",
        AggregateIncrement,
        "row_after",
        aggregate_has_no_row_over_nothing,
    ),
    mutant(
        "aggregate_sum_never_back_to_null",
        "SUM stays 0 when the last non-NULL value goes",
        "risingwave#7412",
        "aggregate.sum@null",
        AggregateIncrement,
        "row_after",
        aggregate_sum_never_back_to_null,
    ),
    mutant(
        "aggregate_count_counts_null",
        "COUNT(column) counts NULL",
        "hive#2872",
        "aggregate.count@null",
        Layout,
        "count_place",
        aggregate_counts_null,
    ),
    mutant(
        "aggregate_avg_divides_by_all_rows",
        "AVG divides by COUNT(*)",
        "hive#2872",
        "aggregate.avg@null",
        Layout,
        "count_place",
        aggregate_counts_null,
    ),
    mutant(
        "aggregate_keeps_the_cached_extremum",
        "MIN and MAX keep a value whose last row was deleted",
        "flink#9120",
        "aggregate.min@delete",
        Values,
        "extremes_after",
        aggregate_keeps_the_cached_extremum,
    ),
    mutant(
        "aggregate_takes_falsy_for_unset",
        "MIN and MAX take 0, '' and FALSE for no value",
        "TanStack/db#1775",
        "aggregate.max@insert",
        Values,
        "extremes_after",
        aggregate_takes_falsy_for_unset,
    ),
    mutant(
        "aggregate_moves_without_retracting",
        "an update of the group key only inserts into the new group",
        "materialize#6553",
        "aggregate.count@update",
        AggregateIncrement,
        "step",
        aggregate_moves_without_retracting,
    ),
    mutant(
        "aggregate_forgets_at_restart",
        "the checkpoint skips an operator",
        "starrocks#73134",
        "aggregate.sum@restart",
        AggregateIncrement,
        "save",
        saves_nothing,
    ),
)
