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
    "circuit_code",
)
CODE_OF_AGGREGATES = (
    "aggregate_count_code",
    "aggregate_sum_code",
    "aggregate_avg_code",
    "aggregate_min_max_code",
    "aggregate_keyless_code",
)

ADMITTED: tuple[Admitted, ...] = (
    Admitted(
        "z3's answer 'unsat' is right, and so is the kernel.",
        "The kernel is one file of rules that can be read; equations of groups are checked in it "
        "without z3. No second solver replays z3's answers.",
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
        ("filter_linear", "map_linear", "flat_map_linear", "join_increment", "aggregate_increment"),
    ),
    Admitted(
        "What the code does for the stated rows and ticks, it does for any number of them.",
        "The unbounded theorems are about the functions, not about the code. A linear operator is "
        "settled by one row at a time, a bilinear one by pairs, distinct by one row and an "
        "aggregate by one group; larger tables are the business of the randomized suite.",
        (*CODE_ON_MERGED_WEIGHTS, *CODE_OF_AGGREGATES),
    ),
    Admitted(
        "An entry of weight zero is the same as no entry.",
        "A run on merged weights keeps an entry that may be zero, the running code drops it. Each "
        "of these theorems therefore also runs the unmodified code on every path, where zeros are "
        "dropped, on fewer rows.",
        CODE_ON_MERGED_WEIGHTS,
    ),
    Admitted(
        "Aggregates are right beyond weights of ±1000.",
        "The bound keeps sums within 64 bits, past which the code raises an error by design. No "
        "other step of the code depends on the size of a weight.",
        CODE_OF_AGGREGATES,
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
        "1 - x, 1 - y and 1 - x y act on streams as invertible operators, so denominators can be "
        "cleared; what is left are polynomials in delays. This argument is on paper.",
        ("integrate_ztransform", "join_ztransform"),
    ),
)
