"""What is wrong with one operator: it means what another one does, or loses what it should keep.

WRONG_BY_NAME   by the name of a law of one operator: a wrong one, and how the law says so
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from deltaproof.properties.law import Subject, run, subject_of
from deltaproof.properties.wrong import (
    BILINEAR,
    COUNT_BY_K,
    DELAY,
    FILTER,
    JOIN,
    KV,
    PAIRS,
    K,
    V,
    Wrong,
    above_zero,
    cross,
    distinct,
    first_row_only,
    forgets_the_first,
    identity,
    integrates_tables,
    left_outer,
    left_semijoin,
    plus_one,
    turns_debts,
    wrong,
    zset_of,
)
from deltaproof.reference.operator import Meaning, Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.logic import keeping
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.query import count, recursion, table
from deltaproof.reference.scalar import array, col
from deltaproof.reference.select import Frame
from deltaproof.reference.stream import delay, differentiate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet, positive

TWICE = FlatMap(array(col("k"), col("k")), "e")
TUMBLE = Hop("k", 2, 2, "start", "end")
BY_K = (Order(col("k")),)
TOP = TopK((), BY_K, 1)
RANK = Rank("rank", "n", (), BY_K)
LAG = Lag(col("k"), 1, "before", (), BY_K)
COUNTED = (("n", count()),)
ROLLING = Rolling(COUNTED, (), BY_K, Frame("rows", 1, 0))
SESSION = SessionWindow("k", 1, (), "start", "end")
EXCEPT_ALL = SetOperation("except_all")
SEMI = SemiJoin((("k", "v"),))
LEFT = OuterJoin("left", (("k", "v"),))
ASOF = AsofJoin((), "k", "v", "left")
SINCE_K = TemporalFilter(col("k"), None)
ROLLUP = GroupingSets((("k",), ()), COUNTED)
FIRST_OF_EACH = PerGroup(("k",), table("rows", KV).top_k(1, col("v")).map(first=col("v")))


def closure() -> Recursion:
    """The pairs that a path of edges leads between."""
    edges, paths = table("edges", PAIRS), table("paths", PAIRS)
    longer = paths.join(edges.prefix("next_"), {"v": "next_k"}).map(k=col("k"), v=col("next_v"))
    operator = recursion("paths", {"paths": edges.union_all(longer)}).operator
    return cast(Recursion, operator)


def of(operator: Operator, meaning: Meaning, *inputs: Schema) -> Subject:
    """An operator that does not mean what it says."""
    return replace(subject_of(operator, *(inputs or (K,))), meaning=meaning)


def instead(operator: Operator, other: Operator, *inputs: Schema) -> Subject:
    """An operator that means what another one does."""
    return of(operator, other.meaning(*(inputs or (K,))), *inputs)


def copies_lost(a: ZSet) -> ZSet:
    """Rows that are there several times are there once."""
    return ZSet({(*row, None): positive(weight) for row, weight in a.items()})


def asof_of_all(a: ZSet, b: ZSet) -> ZSet:
    """A pair counts as often as there are rows on the right."""
    first = min(b, default=(None,))
    return ZSet({row + first: weight * max(len(b), 1) for row, weight in a.items()})


def counted_together(a: ZSet) -> ZSet:
    """Each group has the count of all."""
    total = sum(weight for _, weight in a.items())
    return zset_of({(*row, total): positive(weight) for row, weight in a.items()})


def first_of_all(a: ZSet) -> ZSet:
    """The first row of all groups, in each of them."""
    first = min((row[1] for row in above_zero(a)), default=None)
    return zset_of({(row[0], first): 1 for row in above_zero(a)})


CLOSURE = subject_of(closure(), PAIRS)


def left_outer_of_sets(a: ZSet, b: ZSet) -> ZSet:
    return left_outer(distinct(a), distinct(b))


WRONG_BY_NAME: dict[str, Wrong] = {
    "recursion_seminaive": Wrong(
        "from nothing",
        replace(CLOSURE, stream=lambda s: run(CLOSURE.increment(), ([*map(above_zero, s)],))),
    ),
    "recursion_is_a_fixpoint": Wrong("distinct(body(Q(a)))", replace(CLOSURE, meaning=distinct)),
    "filter_commutes_with_distinct": wrong(lambda a: a - distinct(a), "Q(distinct(a))"),
    "filter_partitions_three_ways": Wrong("where it is not so", replace(FILTER, meaning=identity)),
    "map_keeps_weight": wrong(distinct, "weight of Q(a)"),
    "map_under_distinct": wrong(lambda a: a.scale(-1) + distinct(a).scale(2), "over tables"),
    "flat_map_under_distinct": Wrong("over tables", of(TWICE, turns_debts)),
    "flat_map_keeps_columns": wrong(plus_one, "is among a"),
    "flat_map_counts_elements": Wrong("as often as its array is long", of(TWICE, copies_lost)),
    "hop_tumbles": Wrong("without the window", instead(TUMBLE, Hop("k", 4, 2, "start", "end"))),
    "hop_windows_hold_their_rows": Wrong(
        "start <= time < end",
        of(
            TUMBLE,
            lambda a: zset_of(
                {(k, int(k / 2) * 2, int(k / 2) * 2 + 2): w for (k,), w in a.items()}
            ),
        ),
    ),
    "hop_commutes_with_distinct": Wrong("Q(distinct(a))", of(TUMBLE, lambda a: a - distinct(a))),
    "logic_composes": Wrong(
        "(Q followed by R)(s)",
        replace(subject_of(keeping(K), K), meaning=distinct),
    ),
    "logic_adds_branches": Wrong(
        "sum of Q of each branch", replace(subject_of(keeping(K), K), meaning=distinct)
    ),
    "negate_involutive": wrong(above_zero, "Q(Q(a))"),
    "negate_cancels": wrong(identity, "Q(a) + a = {(0): +2}"),
    "union_all_zero_identity": wrong(lambda a, b: distinct(a + b), "Q(a, 0)", BILINEAR),
    "union_all_keeps_weight": wrong(lambda a, b: distinct(a + b), "weight of b", BILINEAR),
    "union_all_under_distinct": wrong(lambda a, b: a - b, "over tables", BILINEAR),
    "distinct_is_a_set": wrong(above_zero, "1 where a > 0"),
    "distinct_merges": wrong(lambda a: a + a, "over tables"),
    "positive_splits_a_change": wrong(distinct, "Q(a) - Q(-a)"),
    "positive_keeps_tables": wrong(distinct, "over tables"),
    "set_operation_divides": Wrong("the other operation", of(EXCEPT_ALL, lambda a, b: a - b, K, V)),
    "set_operation_by_formula": Wrong("a formula", of(EXCEPT_ALL, lambda a, b: a - b, K, V)),
    "join_commutes": Wrong("columns swapped", replace(JOIN, meaning=left_semijoin)),
    "join_filters_pairs": Wrong("whose keys are equal", replace(JOIN, meaning=cross)),
    "join_commutes_with_distinct": Wrong(
        "over tables", replace(JOIN, meaning=lambda a, b: cross(a, b) + cross(a, b))
    ),
    "semi_join_and_anti_join_divide": Wrong(
        "others kept", instead(SEMI, replace(SEMI, anti=True), K, V)
    ),
    "semi_join_left_additive": Wrong(
        "Q(a', b)", of(SEMI, lambda a, b: distinct(a) if b else ZSet(), K, V)
    ),
    "semi_join_counts_no_matches": Wrong(
        "over tables", of(SEMI, lambda a, b: a.scale(len(b) and sum(w for _, w in b.items())), K, V)
    ),
    "outer_join_pads_what_is_left": Wrong(
        "the rows that match nothing", instead(LEFT, Join(LEFT.on), K, V)
    ),
    "asof_join_keeps_left_rows": Wrong(
        "left columns", instead(ASOF, replace(ASOF, kind="inner"), K, V)
    ),
    "asof_join_left_additive": Wrong("Q(a', b)", of(ASOF, left_outer_of_sets, K, V)),
    "asof_join_counts_no_matches": Wrong("Q(a, distinct(b))", of(ASOF, left_outer, K, V)),
    "asof_join_needs_only_matches": Wrong("over tables", of(ASOF, asof_of_all, K, V)),
    "temporal_filter_at_a_moment_is_filter": Wrong(
        "n in clock", instead(SINCE_K, TemporalFilter(None, col("k")), K, V)
    ),
    "aggregate_has_one_row_per_group": Wrong(
        "distinct(keys of a)",
        replace(COUNT_BY_K, meaning=lambda a: zset_of({(*r, w): 1 for r, w in a.items()})),
    ),
    "aggregate_of_each_group_alone": Wrong(
        "sum of Q(group of a)", replace(COUNT_BY_K, meaning=counted_together)
    ),
    "aggregate_folds_each_group": Wrong(
        "row by row",
        replace(COUNT_BY_K, meaning=lambda a: zset_of({(*r, 1): 1 for r, _ in a.items()})),
    ),
    "grouping_sets_add_up": Wrong(
        "GROUP BY of each set", instead(ROLLUP, Aggregate(("k",), COUNTED))
    ),
    "per_group_runs_each_alone": Wrong("the key in front", of(FIRST_OF_EACH, first_of_all, KV)),
    "top_k_pages": Wrong("rows behind Q(a)", of(TOP, above_zero)),
    "top_k_is_by_row_number": Wrong("row number", of(TOP, lambda a: first_row_only(above_zero(a)))),
    "rank_keeps_rows": Wrong("a above zero", of(RANK, copies_lost)),
    "rank_counts_what_is_before": Wrong(
        "before it", instead(RANK, replace(RANK, function="dense_rank"))
    ),
    "lag_keeps_rows": Wrong("a above zero", of(LAG, copies_lost)),
    "lag_reads_by_row_number": Wrong("less by the offset", instead(LAG, replace(LAG, offset=-1))),
    "rolling_keeps_rows": Wrong("a above zero", of(ROLLING, copies_lost)),
    "rolling_aggregates_each_frame": Wrong(
        "in its frame", instead(ROLLING, replace(ROLLING, frame=Frame("rows", 0, 1)))
    ),
    "session_window_keeps_rows": Wrong("with a time", of(SESSION, copies_lost)),
    "session_window_follows_gaps": Wrong(
        "a chain of gaps", instead(SESSION, replace(SESSION, gap=2))
    ),
    "delay_commutes_with_integrate": Wrong(
        "Q(I(s))", replace(DELAY, over_time=lambda s: [above_zero(each) for each in delay(s)])
    ),
    "delay_adds_up": Wrong("as often as Q has ticks", replace(DELAY, over_time=lambda s: s)),
    "integrate_is_undone_by_differentiate": Wrong(
        "D(Q(s))", replace(subject_of(Integrate(), K), over_time=integrates_tables)
    ),
    "differentiate_is_undone_by_integrate": Wrong(
        "I(Q(s))",
        replace(
            subject_of(Differentiate(), K), over_time=lambda s: forgets_the_first(differentiate(s))
        ),
    ),
}
