"""Every theorem there is, by chapter and in reading order: nothing registers itself."""

from __future__ import annotations

from dataclasses import dataclass

from deltaproof.theorems.calculus.algorithm import (
    algorithm_lifts,
    algorithm_views,
    circuits_batch,
    circuits_causal,
    circuits_incremental,
    circuits_rewritten,
    circuits_without_recomputation,
)
from deltaproof.theorems.calculus.causal import (
    agreement_pointwise,
    causal_composition,
    delay_strict,
    integrate_causal,
    lifting_causal,
    lifting_composes,
    lifting_time_invariance,
    strict_first_value,
    strict_is_causal,
)
from deltaproof.theorems.calculus.circuit_algebra import circuit_equivalence
from deltaproof.theorems.calculus.convolution import convolution_ring
from deltaproof.theorems.calculus.cutting import causal_cut, cut_commutes, fixpoint_cut
from deltaproof.theorems.calculus.feedback import (
    feedback_body_strict,
    feedback_causal,
    feedback_time_invariant,
    strict_fixpoint,
)
from deltaproof.theorems.calculus.incremental import (
    incremental_causal,
    incremental_chain_nary,
    incremental_cycle,
    incremental_inversion,
    incremental_push_pull,
    incremental_sum,
    incremental_units,
    loop_sliding,
)
from deltaproof.theorems.calculus.linear import (
    join_after_linear,
    linear_compose,
    linear_increment_over_time,
)
from deltaproof.theorems.calculus.linear_causality import linear_causal
from deltaproof.theorems.calculus.linearity import (
    bilinear_after_linear,
    bilinear_zero,
    feedback_linear,
    integral_fixpoint,
    integral_is_sum,
    lifting_linear,
    linear_zero_odd,
    product_group,
)
from deltaproof.theorems.calculus.multilinear import (
    bilinear_increment_over_time,
    nary_join_increment,
)
from deltaproof.theorems.calculus.pairs import mutual_fixpoint
from deltaproof.theorems.calculus.plans import planner_validated
from deltaproof.theorems.calculus.streams import (
    general_increment,
    incremental_chain,
    integrate_inverse,
    integrate_linear,
    lifted_bilinear_increment,
    lifted_linear_increment,
    stream_group,
)
from deltaproof.theorems.calculus.ztransform import (
    incremental_ztransform,
    integrate_ztransform,
    join_nway_ztransform,
    join_ztransform,
    nested_ztransform,
    window_ztransform,
)
from deltaproof.theorems.errata import bilinear_as_printed, convolution_of_identity
from deltaproof.theorems.execution.blocks import order_blocks_code
from deltaproof.theorems.execution.circuit import circuit_code
from deltaproof.theorems.execution.cutoffs import (
    bilinear_cutoff,
    grouped_cutoff,
    linear_cutoff,
    order_cutoff,
    pointwise_cutoff,
)
from deltaproof.theorems.execution.laws import zset_laws_code
from deltaproof.theorems.execution.locality import (
    locality_groups_code,
    locality_rows_code,
    order_types_code,
)
from deltaproof.theorems.execution.planner import planner_code
from deltaproof.theorems.execution.shapes import default_increments_code
from deltaproof.theorems.execution.wraparound import (
    wraparound_bilinear_code,
    wraparound_distinct_code,
    wraparound_linear_code,
)
from deltaproof.theorems.loops.elimination import (
    constant_stream,
    elimination_linear,
    introduction_linear,
    introduction_of_zero,
    zero_almost_everywhere,
)
from deltaproof.theorems.loops.iteration import (
    mutual_recursion,
    recursive_circuit,
    seminaive_evaluation,
    while_loop,
)
from deltaproof.theorems.loops.nested import (
    clocks_commute,
    lifted_cycle,
    lifted_delay_strict,
    nested_fixpoint,
)
from deltaproof.theorems.loops.nested_increments import (
    doubly_incremental_distinct,
    doubly_incremental_join,
)
from deltaproof.theorems.loops.nested_recursion import (
    incremental_recursion,
    nested_iterations_bounded,
)
from deltaproof.theorems.loops.transitive_closure import transitive_closure_incremental
from deltaproof.theorems.loops.window import monotone_window
from deltaproof.theorems.models import axioms_have_models
from deltaproof.theorems.operators.aggregate import aggregate_increment, aggregate_keyless
from deltaproof.theorems.operators.aggregate_code import (
    aggregate_avg_code,
    aggregate_count_code,
    aggregate_functions_code,
    aggregate_keyless_code,
    aggregate_min_max_code,
    aggregate_sum_code,
)
from deltaproof.theorems.operators.aggregate_extremes import (
    min_max_insertions,
    min_max_reevaluation,
)
from deltaproof.theorems.operators.aggregate_parts import (
    distinct_aggregate_increment,
    filtered_aggregate_linear,
    grouping_sets_increment,
    variance_from_sums,
)
from deltaproof.theorems.operators.aggregate_presence import aggregate_group_exists
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
from deltaproof.theorems.operators.semi_join import (
    presence_increment,
    presence_semantics,
    semi_join_code,
)
from deltaproof.theorems.operators.session_window import session_locality, session_window_code
from deltaproof.theorems.operators.set_operation import rowwise_increment, set_operation_code
from deltaproof.theorems.operators.temporal_filter import (
    temporal_filter_code,
    temporal_filter_increment,
)
from deltaproof.theorems.operators.top_k import top_k_code, top_k_merge, top_k_weight
from deltaproof.theorems.operators.union_all import union_all_code, union_all_linear
from deltaproof.theorems.registry import Theorem
from deltaproof.theorems.tables.batching import consolidation_weights, ticks_merge
from deltaproof.theorems.tables.confluence import (
    distinct_rewriting_confluent,
    distinct_rewriting_sound,
)
from deltaproof.theorems.tables.grouped import grouped_increment
from deltaproof.theorems.tables.indexed import (
    count_zero_empty,
    grouping_linear,
    linear_aggregate_linear,
)
from deltaproof.theorems.tables.lateness import join_state_cleanup, state_cleanup
from deltaproof.theorems.tables.nulls import aggregate_skips_null, not_in_anti_join, null_join_key
from deltaproof.theorems.tables.positive_sums import (
    distinct_commutes_renaming,
    distinct_once_map,
    sum_positive,
)
from deltaproof.theorems.tables.relations import (
    distinct_commutes,
    distinct_frame,
    distinct_is_toset,
    distinct_once,
    intersect_bilinear,
    isset_preserved,
    join_is_filtered_product,
    positive_integral_monotone,
    positive_order,
    positive_preserved,
    toset_commutes,
    toset_map,
)
from deltaproof.theorems.tables.sharding import sharded_join, sharded_query
from deltaproof.theorems.tables.sums import sum_linear_extension
from deltaproof.theorems.tables.three_valued import (
    null_comparisons,
    truth_de_morgan,
    truth_tables_code,
    where_keeps_true,
    where_partition,
)
from deltaproof.theorems.tables.upserts import upsert_to_zset
from deltaproof.theorems.tables.zsets import zset_group
from deltaproof.theorems.weights import weight_domains


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
            integral_fixpoint,
            integral_is_sum,
            linear_zero_odd,
            bilinear_zero,
            lifting_linear,
            bilinear_after_linear,
            product_group,
        ),
    ),
    Chapter(
        "causality",
        "Causal and strict operators, and their fixpoints",
        (
            lifting_composes,
            lifting_time_invariance,
            agreement_pointwise,
            lifting_causal,
            delay_strict,
            integrate_causal,
            strict_is_causal,
            causal_composition,
            strict_first_value,
            cut_commutes,
            causal_cut,
            feedback_body_strict,
            strict_fixpoint,
            feedback_causal,
            feedback_time_invariant,
            linear_causal,
            feedback_linear,
            fixpoint_cut,
            mutual_fixpoint,
        ),
    ),
    Chapter(
        "increments",
        "The increment of a query is D ∘ Q ∘ I",
        (
            lifted_linear_increment,
            lifted_bilinear_increment,
            general_increment,
            incremental_inversion,
            incremental_units,
            incremental_push_pull,
            incremental_chain,
            incremental_chain_nary,
            incremental_sum,
            incremental_causal,
            incremental_cycle,
            loop_sliding,
            linear_increment_over_time,
            bilinear_increment_over_time,
            nary_join_increment,
            linear_compose,
            join_after_linear,
        ),
    ),
    Chapter(
        "circuits",
        "Every circuit at once: algorithm 4.6",
        (
            circuits_causal,
            circuits_incremental,
            circuits_batch,
            circuits_without_recomputation,
            circuits_rewritten,
            algorithm_lifts,
            algorithm_views,
        ),
    ),
    Chapter(
        "algebra",
        "The same circuits as fractions",
        (
            convolution_ring,
            integrate_ztransform,
            incremental_ztransform,
            window_ztransform,
            join_ztransform,
            join_nway_ztransform,
            nested_ztransform,
            circuit_equivalence,
            planner_validated,
        ),
    ),
    Chapter(
        "zsets",
        "Z-sets, and sums over tables of any size",
        (
            zset_group,
            sum_linear_extension,
            sum_positive,
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
    Chapter(
        "relations",
        "Sets as Z-sets: what distinct may be moved over",
        (
            toset_commutes,
            toset_map,
            isset_preserved,
            positive_preserved,
            positive_order,
            join_is_filtered_product,
            intersect_bilinear,
            distinct_is_toset,
            distinct_commutes,
            distinct_commutes_renaming,
            distinct_once,
            distinct_once_map,
            distinct_frame,
            distinct_rewriting_sound,
            distinct_rewriting_confluent,
            positive_integral_monotone,
        ),
    ),
    Chapter(
        "presence",
        "Operators that ask whether a row is there",
        (
            distinct_idempotent,
            distinct_increment,
            rowwise_increment,
            presence_increment,
            presence_semantics,
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
            min_max_insertions,
            aggregate_group_exists,
            grouping_sets_increment,
            grouped_increment,
            grouping_linear,
            linear_aggregate_linear,
            count_zero_empty,
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
            zero_almost_everywhere,
            introduction_linear,
            elimination_linear,
            constant_stream,
            introduction_of_zero,
            recursive_circuit,
            seminaive_evaluation,
            mutual_recursion,
            while_loop,
            monotone_window,
            recursion_seminaive,
            recursion_least,
            recursion_bekic,
            recursion_times,
            recursion_rewrites,
        ),
    ),
    Chapter(
        "nested",
        "Streams of streams",
        (
            clocks_commute,
            lifted_delay_strict,
            nested_fixpoint,
            lifted_cycle,
            doubly_incremental_join,
            doubly_incremental_distinct,
            incremental_recursion,
            nested_iterations_bounded,
            transitive_closure_incremental,
        ),
    ),
    Chapter(
        "logic",
        "NULL and three-valued logic",
        (
            truth_tables_code,
            truth_de_morgan,
            null_comparisons,
            where_keeps_true,
            where_partition,
            null_join_key,
            not_in_anti_join,
            aggregate_skips_null,
        ),
    ),
    Chapter(
        "engine",
        "What engines do beyond the paper",
        (
            consolidation_weights,
            ticks_merge,
            sharded_query,
            sharded_join,
            state_cleanup,
            join_state_cleanup,
            upsert_to_zset,
        ),
    ),
    Chapter("models", "What is assumed is true of something", (axioms_have_models,)),
    Chapter("weights", "Which theorem needs which weights", (weight_domains,)),
    Chapter(
        "errata",
        "Slips in print, and what holds instead",
        (
            bilinear_as_printed,
            convolution_of_identity,
        ),
    ),
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
            order_blocks_code,
            default_increments_code,
            circuit_code,
            planner_code,
            zset_laws_code,
            wraparound_linear_code,
            wraparound_bilinear_code,
            wraparound_distinct_code,
            linear_cutoff,
            bilinear_cutoff,
            pointwise_cutoff,
            grouped_cutoff,
            order_cutoff,
            locality_rows_code,
            locality_groups_code,
            order_types_code,
        ),
    ),
)

THEOREMS: tuple[Theorem, ...] = tuple(each for chapter in CHAPTERS for each in chapter.theorems)
