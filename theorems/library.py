"""Every theorem there is, by chapter and in reading order: nothing registers itself."""

from __future__ import annotations

from dataclasses import dataclass

from deltaproof.theorems.circuit import circuit_code
from deltaproof.theorems.grouped import grouped_increment
from deltaproof.theorems.laws import zset_laws_code
from deltaproof.theorems.linear import (
    join_after_linear,
    linear_compose,
    linear_increment_over_time,
)
from deltaproof.theorems.operators.aggregate import aggregate_increment, aggregate_keyless
from deltaproof.theorems.operators.aggregate_code import (
    aggregate_avg_code,
    aggregate_count_code,
    aggregate_functions_code,
    aggregate_keyless_code,
    aggregate_min_max_code,
    aggregate_sum_code,
)
from deltaproof.theorems.operators.aggregate_extremes import min_max_reevaluation
from deltaproof.theorems.operators.aggregate_parts import (
    distinct_aggregate_increment,
    filtered_aggregate_linear,
    grouping_sets_increment,
    variance_from_sums,
)
from deltaproof.theorems.operators.aggregate_sums import avg_from_sums, count_linear, sum_linear
from deltaproof.theorems.operators.asof_join import asof_join_code
from deltaproof.theorems.operators.delay import delay_code, delay_linear_time_invariant
from deltaproof.theorems.operators.differentiate import (
    differentiate_code,
    differentiate_linear_time_invariant,
)
from deltaproof.theorems.operators.distinct import (
    distinct_code,
    distinct_idempotent,
    distinct_increment,
)
from deltaproof.theorems.operators.filter import filter_code, filter_linear
from deltaproof.theorems.operators.flat_map import flat_map_code, flat_map_linear
from deltaproof.theorems.operators.grouping_sets import grouping_sets_code
from deltaproof.theorems.operators.hop import hop_code
from deltaproof.theorems.operators.integrate import (
    integrate_code,
    integrate_linear_time_invariant,
)
from deltaproof.theorems.operators.join import join_bilinear, join_code, join_increment
from deltaproof.theorems.operators.lag import lag_code, lag_locality
from deltaproof.theorems.operators.logic import logic_code, logic_composition, logic_linear
from deltaproof.theorems.operators.map import map_code, map_linear
from deltaproof.theorems.operators.negate import negate_code, negate_linear
from deltaproof.theorems.operators.outer_join import outer_join_code, outer_join_increment
from deltaproof.theorems.operators.per_group import per_group_code, per_group_lifting
from deltaproof.theorems.operators.positive import positive_code
from deltaproof.theorems.operators.rank import rank_code, rank_locality, rank_row_number_code
from deltaproof.theorems.operators.recursion import (
    recursion_bekic,
    recursion_code,
    recursion_least,
    recursion_rewrites,
    recursion_seminaive,
    recursion_times,
)
from deltaproof.theorems.operators.rolling import rolling_code, rolling_locality
from deltaproof.theorems.operators.semi_join import presence_increment, semi_join_code
from deltaproof.theorems.operators.session_window import session_locality, session_window_code
from deltaproof.theorems.operators.set_operation import rowwise_increment, set_operation_code
from deltaproof.theorems.operators.temporal_filter import (
    temporal_filter_code,
    temporal_filter_increment,
)
from deltaproof.theorems.operators.top_k import top_k_code, top_k_merge, top_k_weight
from deltaproof.theorems.operators.union_all import union_all_code, union_all_linear
from deltaproof.theorems.planner import planner_code
from deltaproof.theorems.registry import Theorem
from deltaproof.theorems.streams import (
    general_increment,
    incremental_chain,
    integrate_inverse,
    integrate_linear,
    lifted_bilinear_increment,
    lifted_linear_increment,
    stream_group,
)
from deltaproof.theorems.sums import sum_linear_extension
from deltaproof.theorems.zsets import zset_group
from deltaproof.theorems.ztransform import integrate_ztransform, join_ztransform


@dataclass(frozen=True)
class Chapter:
    """Theorems that belong together; `name` is the word for them on the command line."""

    name: str
    title: str
    theorems: tuple[Theorem, ...]


CHAPTERS: tuple[Chapter, ...] = (
    Chapter(
        "streams",
        "Streams, delay, D and I",
        (
            integrate_inverse,
            stream_group,
            integrate_linear,
        ),
    ),
    Chapter("causality", "Causal and strict operators, and their fixpoints", ()),
    Chapter(
        "increments",
        "The increment of a query is D ∘ Q ∘ I",
        (
            lifted_linear_increment,
            lifted_bilinear_increment,
            general_increment,
            incremental_chain,
            linear_increment_over_time,
            linear_compose,
            join_after_linear,
        ),
    ),
    Chapter("circuits", "Every circuit at once: algorithm 4.6", ()),
    Chapter(
        "algebra",
        "The same circuits as fractions",
        (
            integrate_ztransform,
            join_ztransform,
        ),
    ),
    Chapter(
        "zsets",
        "Z-sets, and sums over tables of any size",
        (
            zset_group,
            sum_linear_extension,
        ),
    ),
    Chapter(
        "linear",
        "Linear operators",
        (
            filter_linear,
            map_linear,
            flat_map_linear,
            logic_linear,
            logic_composition,
            union_all_linear,
            negate_linear,
            delay_linear_time_invariant,
            integrate_linear_time_invariant,
            differentiate_linear_time_invariant,
        ),
    ),
    Chapter(
        "bilinear",
        "Joins",
        (
            join_bilinear,
            join_increment,
            temporal_filter_increment,
        ),
    ),
    Chapter("relations", "Sets as Z-sets: what distinct may be moved over", ()),
    Chapter(
        "presence",
        "Operators that ask whether a row is there",
        (
            distinct_idempotent,
            distinct_increment,
            rowwise_increment,
            presence_increment,
            outer_join_increment,
        ),
    ),
    Chapter(
        "aggregates",
        "Aggregates and groups",
        (
            aggregate_increment,
            aggregate_keyless,
            count_linear,
            sum_linear,
            avg_from_sums,
            variance_from_sums,
            filtered_aggregate_linear,
            distinct_aggregate_increment,
            min_max_reevaluation,
            grouping_sets_increment,
            grouped_increment,
            per_group_lifting,
        ),
    ),
    Chapter(
        "order",
        "Operators over an order",
        (
            top_k_weight,
            top_k_merge,
            rank_locality,
            lag_locality,
            rolling_locality,
            session_locality,
        ),
    ),
    Chapter(
        "recursion",
        "Fixpoints of queries",
        (
            recursion_seminaive,
            recursion_least,
            recursion_bekic,
            recursion_times,
            recursion_rewrites,
        ),
    ),
    Chapter("nested", "Streams of streams", ()),
    Chapter("logic", "NULL and three-valued logic", ()),
    Chapter("engine", "What engines do beyond the paper", ()),
    Chapter("weights", "Which theorem needs which weights", ()),
    Chapter("errata", "Slips in print, and what holds instead", ()),
    Chapter(
        "code",
        "The code that runs, on symbolic weights",
        (
            filter_code,
            map_code,
            flat_map_code,
            hop_code,
            logic_code,
            union_all_code,
            negate_code,
            delay_code,
            integrate_code,
            differentiate_code,
            join_code,
            temporal_filter_code,
            distinct_code,
            set_operation_code,
            positive_code,
            semi_join_code,
            outer_join_code,
            asof_join_code,
            aggregate_count_code,
            aggregate_sum_code,
            aggregate_avg_code,
            aggregate_min_max_code,
            aggregate_keyless_code,
            aggregate_functions_code,
            grouping_sets_code,
            top_k_code,
            rank_code,
            rank_row_number_code,
            lag_code,
            rolling_code,
            session_window_code,
            recursion_code,
            per_group_code,
            circuit_code,
            planner_code,
            zset_laws_code,
        ),
    ),
)

THEOREMS: tuple[Theorem, ...] = tuple(each for chapter in CHAPTERS for each in chapter.theorems)
