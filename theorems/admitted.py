"""What is claimed and not proved here, and why one may believe it nevertheless."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Admitted:
    """A claim, why it stands without a proof, and the theorems that lean on it; none named: all."""

    claim: str
    reason: str
    theorems: tuple[str, ...] = ()


CODE_ON_MERGED_WEIGHTS = (
    "filter_code",
    "map_code",
    "flat_map_code",
    "union_all_code",
    "negate_code",
    "join_code",
    "distinct_code",
    "default_increments_code",
    "circuit_code",
    "planner_code",
    "hop_code",
    "logic_code",
    "delay_code",
    "integrate_code",
    "differentiate_code",
    "temporal_filter_code",
    "set_operation_code",
    "positive_code",
    "semi_join_code",
    "outer_join_code",
)
CODE_OF_AGGREGATES = (
    "aggregate_count_code",
    "aggregate_sum_code",
    "aggregate_avg_code",
    "aggregate_min_max_code",
    "aggregate_keyless_code",
    "grouping_sets_code",
)
CODE_ON_PATHS = (
    "asof_join_code",
    "top_k_code",
    "rank_code",
    "session_window_code",
)
CODE_ON_EACH_WEIGHT = (
    "aggregate_functions_code",
    "rank_row_number_code",
    "lag_code",
    "rolling_code",
)
CODE_ON_EACH_BODY = ("recursion_code", "per_group_code")
CODE_ON_SMALL_WEIGHTS = (*CODE_ON_EACH_WEIGHT, "order_blocks_code")
OTHER_RUNS = (
    "zset_laws_code",
    "wraparound_linear_code",
    "wraparound_bilinear_code",
    "wraparound_distinct_code",
    "locality_rows_code",
    "locality_groups_code",
    "order_types_code",
    "transitive_closure_incremental",
)

# By the theorem that carries the code from the stated rows to tables of any size.
BY_LINEAR_CUTOFF = (
    "filter_code",
    "map_code",
    "flat_map_code",
    "hop_code",
    "logic_code",
    "union_all_code",
    "negate_code",
    "delay_code",
    "integrate_code",
    "differentiate_code",
    "wraparound_linear_code",
)
BY_BILINEAR_CUTOFF = ("join_code", "temporal_filter_code", "wraparound_bilinear_code")
BY_POINTWISE_CUTOFF = (
    "distinct_code",
    "set_operation_code",
    "positive_code",
    "wraparound_distinct_code",
)
BY_GROUPED_CUTOFF = (
    "semi_join_code",
    "outer_join_code",
    "asof_join_code",
    *CODE_OF_AGGREGATES,
    "aggregate_functions_code",
    "top_k_code",
    "rank_code",
    "rank_row_number_code",
    "session_window_code",
    "lag_code",
    "rolling_code",
    "per_group_code",
    "order_blocks_code",
)
BY_NO_CUTOFF = ("recursion_code", "default_increments_code", "circuit_code", "planner_code")

ADMITTED: tuple[Admitted, ...] = (
    Admitted(
        "z3's answer 'unsat' is right, and so is the kernel.",
        "The kernel is one file of rules that can be read; equations of groups are checked in it "
        "without z3. cvc5 answers the same conditions, all but one in a hundred. What is read off "
        "fractions, paths and variables rests on its own file as well: `ztransform`, "
        "`circuit_algebra`, `forking`, `locality`.",
    ),
    Admitted(
        "The hypotheses of a theorem hold together in some model, beside what defines the notions.",
        "`axioms_have_models` shows a model of each kind of hypothesis, found by its words, and z3 "
        "finds no contradiction in all of them together; one model for all is on paper.",
    ),
    Admitted(
        "Streams are functions from ticks, and Z-sets are lists of entries up to equal weights.",
        "These are the axioms that `axioms` lists under each proof: they define the two notions, "
        "and the real streams and Z-sets satisfy them.",
    ),
    Admitted(
        "An expression is a function of the row: the same row gives the same value at every tick.",
        "The theorems take predicates, images, keys and arguments as arbitrary functions. That "
        "the scalar expressions are functions is by their construction: no clock, no randomness.",
        (
            "filter_linear",
            "map_linear",
            "flat_map_linear",
            "logic_linear",
            "join_increment",
            "presence_increment",
            "temporal_filter_increment",
            "aggregate_increment",
            "grouped_increment",
        ),
    ),
    Admitted(
        "The code of a linear operator is linear, that of a join bilinear, on rows not run too.",
        "Then `linear_cutoff` and `bilinear_cutoff` carry it from one row, and from pairs, to any "
        "tables. That the functions are linear is proved; that the code treats a row that was not "
        "run like one that was is read in it: it loops over entries and tells no rows apart.",
        (*BY_LINEAR_CUTOFF, *BY_BILINEAR_CUTOFF),
    ),
    Admitted(
        "The code that asks for signs looks at one row at a time, on rows not run too.",
        "Then `pointwise_cutoff` carries it from one row to tables of any size. On three rows "
        "`locality_rows_code` sees that the weight of a row depends on its own weights only.",
        (*BY_POINTWISE_CUTOFF, "locality_rows_code"),
    ),
    Admitted(
        "The code of groups and keys looks at one group at a time, at any as at those run.",
        "Then `grouped_cutoff` carries it from one group to any number; on two groups "
        "`locality_groups_code` sees that. How many rows a group has is part of the scope; where "
        "values are only compared (`order_types_code`), `order_cutoff` carries it to any values.",
        (*BY_GROUPED_CUTOFF, "locality_groups_code", "order_types_code"),
    ),
    Admitted(
        "What the code of recursion, circuits and plans does on the stated rows, it does on any.",
        "`recursion_seminaive` and `incremental_chain` hold for tables of any size; of the code, "
        "larger tables are the business of the randomized suite.",
        BY_NO_CUTOFF,
    ),
    Admitted(
        "What the code does for the stated number of ticks, it does for any number of them.",
        "A tick reads the state and the delta, and the state is a function of the sum of deltas "
        "so far: the ticks that were run reach every kind of it. The randomized suite runs more.",
        (
            *CODE_ON_MERGED_WEIGHTS,
            *CODE_OF_AGGREGATES,
            *CODE_ON_PATHS,
            *CODE_ON_SMALL_WEIGHTS,
            *CODE_ON_EACH_BODY,
            *OTHER_RUNS,
        ),
    ),
    Admitted(
        "An entry of weight zero is the same as no entry.",
        "A run on merged weights keeps an entry that may be zero, the running code drops it. Each "
        "of these theorems therefore also runs the unmodified code on every path, where zeros are "
        "dropped, on fewer rows.",
        CODE_ON_MERGED_WEIGHTS,
    ),
    Admitted(
        "An entry of weight zero is the same as no entry where weights wrap around, too.",
        "Zeros are dropped by the same code in both arithmetics; only over the integers the paths "
        "on which they are were run.",
        ("wraparound_linear_code", "wraparound_bilinear_code", "wraparound_distinct_code"),
    ),
    Admitted(
        "Semi, anti and outer joins, aggregates and ordered operators wrap around as they should.",
        "Their code is run over the integers only: products of unknown 64-bit terms under a sign "
        "are more than the solvers decide. A reference without bounds has no need of it.",
    ),
    Admitted(
        "Laws of saturating and floating weights hold at full width where fewer bits were proved.",
        "The table says in how many; a counterexample, where there is one, is at full width.",
        ("weight_domains",),
    ),
    Admitted(
        "Circuits carry values of one group on every wire.",
        "Several tables of several types are one value of a product group, `product_group`; that "
        "the circuits of a typed language are circuits of this kind is on paper.",
        ("circuits_causal", "circuits_incremental", "circuits_batch", "circuits_rewritten"),
    ),
    Admitted(
        "Aggregates and ordered operators are right beyond weights of ±1000.",
        "The bound keeps sums within 64 bits, past which the code raises an error by design. No "
        "other step of the code depends on the size of a weight.",
        (*CODE_OF_AGGREGATES, *CODE_ON_PATHS, "order_types_code", "locality_groups_code"),
    ),
    Admitted(
        "What makes a result of every copy of a row is right for more copies than were run.",
        "ROW_NUMBER, LAG, frames, arrays and quantiles walk the copies of a row one by one, so a "
        "weight has as many paths as values, and each small one is run by itself. The loop is the "
        "same for more copies; a weight above a million is refused.",
        CODE_ON_SMALL_WEIGHTS,
    ),
    Admitted(
        "Recursion and queries per group are right for other bodies than those that were run.",
        "`recursion_seminaive` and `per_group_lifting` hold for any body. The code is run on two "
        "bodies each, with every small weight; the operators of a body have their own theorems.",
        CODE_ON_EACH_BODY,
    ),
    Admitted(
        "The iterations of a recursion end, or the bound stops them and the tick fails.",
        "`recursion_least` says that what is at rest is the least fixpoint; that a body comes to "
        "rest is not claimed: one that makes new values need not.",
        ("recursion_seminaive", "recursion_least"),
    ),
    Admitted(
        "A body has the same rows when an operator in it has: only presence matters inside.",
        "`recursion_rewrites` holds row by row, `distinct_once` and `distinct_once_map` for each "
        "operator over weights that are not negative. That this goes for a whole body is on paper.",
        ("recursion_rewrites",),
    ),
    Admitted(
        "AVG rounds once, and equal quotients round to equal doubles.",
        "The run compares quotients of integers before they are rounded. Both sides round the "
        "quotient of the same two integers with the same division.",
        ("aggregate_avg_code",),
    ),
    Admitted(
        "SUM and AVG of DOUBLE and DECIMAL are the exact sum of units, rounded once.",
        "`sum_linear` holds for any whole-number part per row and any function that reads the "
        "result off, so also for units of 2^-1074 and for counted infinities and NaNs; but the "
        "code for these types is run by tests only, not on symbolic weights.",
        ("sum_linear", "avg_from_sums"),
    ),
    Admitted(
        "A checkpoint restores the state that was saved.",
        "Saving and restoring are not run on symbolic weights: a JSON text has no symbolic values. "
        "Tests and laws compare runs with and without a restart.",
    ),
    Admitted(
        "An identity of fractions is an identity of circuits.",
        "With one clock a circuit of z, D, I and feedback is a power series: `convolution_ring`. "
        "With a variable for each input or clock, 1 - x, 1 - y and 1 - x y act on streams as "
        "invertible operators, so denominators can be cleared; this argument is on paper.",
        (
            "integrate_ztransform",
            "incremental_ztransform",
            "window_ztransform",
            "join_ztransform",
            "join_nway_ztransform",
            "nested_ztransform",
            "circuit_equivalence",
            "planner_validated",
        ),
    ),
)
