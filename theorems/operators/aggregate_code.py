"""The aggregate's own code, unmodified, on every path that weights from -1000 to 1000 can take.

Two rows are enough for what an aggregate can get wrong in one group: a group that appears,
shrinks, goes and comes back, NULL beside a value, an extremum deleted while another is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from math import inf

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.scalar import coalesce, col, lit
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import (
    Enumerated,
    enumerated,
    prove_each,
    prove_paths,
    refute_each,
    refute_paths,
)
from deltaproof.theorems.execution.symbolic import Altered, Stateless, Steps, Subject, subject_of
from deltaproof.theorems.kernel import Counterexample, Thm, both
from deltaproof.theorems.registry import theorem

SCOPE = "weights from -1000 to 1000; 2 rows, 2 ticks"
VALUE_AND_NULL = [(1, 7), (1, None)]
TWO_VALUES = [(1, 7), (1, 3)]
TWO_GROUPS = [(1, 7), (2, 7)]


def aggregate(*functions: str, keys: tuple[str, ...] = ("k",)) -> Aggregate:
    """These functions of column v, by k."""
    calls = [AggregateCall(f, None if f == "count_star" else col("v")) for f in functions]
    return Aggregate(keys, tuple(zip(functions, calls, strict=True)))


def aggregate_subject(operator: Aggregate, rows: Sequence[Row], ticks: int = 2) -> Subject:
    return subject_of(operator, [("k BIGINT, v BIGINT", rows)], ticks)


def altered(subject: Subject, alter: Callable[[ZSet], ZSet]) -> Steps:
    """The increment with its output changed."""
    return Altered(subject.increment(), lambda output, delta: alter(output))


# ---------------------------------------------------------------- wrong variants


def old_row_left_in_the_view() -> Counterexample:
    subject = aggregate_subject(aggregate("count_star"), TWO_VALUES[:1])

    def additions(output: ZSet) -> ZSet:
        return ZSet([(row, weight) for row, weight in output.items() if weight > 0])

    name = "puts out new rows and never retracts old ones"
    return refute_paths(name, subject, lambda: altered(subject, additions))


def group_that_stays_gone() -> Counterexample:
    """What has once been removed is never put out again: a tombstone."""
    subject = aggregate_subject(aggregate("count_star"), TWO_VALUES[:1], ticks=3)

    def with_tombstones() -> Steps:
        gone: set[Row] = set()

        def alive(output: ZSet) -> ZSet:
            kept = ZSet([(row, w) for row, w in output.items() if row[:1] not in gone])
            emptied = {row[:1] for row in output} - {row[:1] for row, w in output.items() if w > 0}
            gone.update(emptied)
            return kept

        return altered(subject, alive)

    return refute_paths("a group that was emptied never comes back", subject, with_tombstones)


def count_of_nulls() -> Counterexample:
    subject = aggregate_subject(aggregate("count"), VALUE_AND_NULL[1:])
    wrong = aggregate_subject(aggregate("count_star"), VALUE_AND_NULL[1:])
    return refute_paths("COUNT(x) counts NULL", subject, wrong.increment)


def sum_of_nothing_is_zero() -> Counterexample:
    subject = aggregate_subject(aggregate("sum"), VALUE_AND_NULL[1:])

    def zero_for_null(output: ZSet) -> ZSet:
        return ZSet([((k, 0 if v is None else v), w) for (k, v), w in output.items()])

    name = "SUM over NULLs is 0"
    return refute_paths(name, subject, lambda: altered(subject, zero_for_null))


def average_with_nulls_as_zero() -> Counterexample:
    subject = aggregate_subject(aggregate("avg"), VALUE_AND_NULL, ticks=1)
    nulls_as_zero = AggregateCall("avg", coalesce(col("v"), lit(0)))
    wrong = aggregate_subject(Aggregate(("k",), (("avg", nulls_as_zero),)), VALUE_AND_NULL, 1)
    return refute_paths("AVG takes NULL for 0", subject, wrong.increment)


def minimum_that_only_falls() -> Counterexample:
    """A cached MIN that is compared with new values and not re-evaluated after a deletion."""
    subject = aggregate_subject(aggregate("min"), TWO_VALUES)

    def with_cache() -> Steps:
        least: dict[Row, int] = {}

        def cached(output: ZSet) -> ZSet:
            entries = []
            for (k, v), weight in output.items():
                if weight > 0 and v is not None:
                    least[(k,)] = min(v, least.get((k,), v))
                entries.append(((k, least.get((k,), v)), weight))
            return ZSet(entries)

        return altered(subject, cached)

    return refute_paths("MIN keeps a cached extremum", subject, with_cache)


def no_row_before_the_first_change() -> Counterexample:
    subject = aggregate_subject(aggregate("count_star", keys=()), TWO_VALUES[:1])

    def lazily() -> Steps:
        steps = subject.increment()

        def only_with_changes(delta: ZSet) -> ZSet:
            output = steps.step(delta)
            steps.commit()
            return output if delta else ZSet()

        return Stateless(only_with_changes)

    return refute_paths("an empty delta puts out nothing", subject, lazily)


# ---------------------------------------------------------------- theorems


def right_on_every_path(name: str, *subjects: Subject) -> Thm:
    return both(name, *map(prove_paths, subjects))


@theorem(
    statement="AggregateIncrement for COUNT(*) and COUNT(x), as it runs, is D ∘ aggregate ∘ I",
    source="reference/operators/aggregate_increment.py",
    scope=SCOPE,
    wrong=(old_row_left_in_the_view, group_that_stays_gone, count_of_nulls),
)
def aggregate_count_code() -> Thm:
    counts = aggregate("count_star", "count")
    return right_on_every_path(
        "counts",
        aggregate_subject(counts, VALUE_AND_NULL),
        aggregate_subject(counts, TWO_GROUPS),
        aggregate_subject(counts, VALUE_AND_NULL[:1], ticks=3),
    )


@theorem(
    statement="AggregateIncrement for SUM, as it runs, is D ∘ aggregate ∘ I",
    source="reference/operators/aggregate_increment.py, reference/sums.py",
    scope=SCOPE,
    wrong=(sum_of_nothing_is_zero,),
)
def aggregate_sum_code() -> Thm:
    return right_on_every_path(
        "sums",
        aggregate_subject(aggregate("sum"), VALUE_AND_NULL),
        aggregate_subject(aggregate("sum"), TWO_VALUES),
    )


@theorem(
    statement="AggregateIncrement for AVG, as it runs, is D ∘ aggregate ∘ I, before rounding",
    source="reference/operators/aggregate_increment.py, reference/sums.py",
    scope=SCOPE,
    wrong=(average_with_nulls_as_zero,),
)
def aggregate_avg_code() -> Thm:
    return right_on_every_path(
        "averages",
        aggregate_subject(aggregate("avg"), VALUE_AND_NULL),
        aggregate_subject(aggregate("avg"), TWO_VALUES),
    )


@theorem(
    statement="AggregateIncrement for MIN and MAX, as it runs, is D ∘ aggregate ∘ I",
    source="reference/operators/aggregate_increment.py, reference/store.py",
    scope=f"{SCOPE}; from -1 to 1 with 3 ticks",
    wrong=(minimum_that_only_falls,),
)
def aggregate_min_max_code() -> Enumerated:
    """What a tick leaves in the order of the values is seen at the tick after the next."""
    extremes = aggregate("min", "max")
    paths = right_on_every_path(
        "extremes",
        aggregate_subject(extremes, VALUE_AND_NULL),
        aggregate_subject(extremes, TWO_VALUES),
    )
    return enumerated(paths, prove_each(aggregate_subject(extremes, TWO_VALUES, ticks=3), -1, 1))


@theorem(
    statement="AggregateIncrement without keys, as it runs, has one row at every tick",
    source="reference/operators/aggregate_increment.py",
    scope=SCOPE,
    wrong=(no_row_before_the_first_change,),
)
def aggregate_keyless_code() -> Thm:
    everything = aggregate("count_star", "sum", "min", keys=())
    return right_on_every_path(
        "one row",
        aggregate_subject(everything, VALUE_AND_NULL),
        aggregate_subject(everything, TWO_VALUES[:1], ticks=3),
    )


# ---------------------------------------------------------------- the other functions

NUMBERS: list[Row] = [(1, 7), (1, 3), (1, None)]
PAIRS = "k BIGINT, v BIGINT"
DOUBLES = "k BIGINT, v DOUBLE"


def others_subject(
    *calls: tuple[str, AggregateCall], rows: Sequence[Row] = NUMBERS, columns: str = PAIRS
) -> Subject:
    return subject_of(Aggregate(("k",), calls), [(columns, rows)], 2)


V = col("v")
DISTINCT = (
    ("count", AggregateCall("count", V, distinct=True)),
    ("sum", AggregateCall("sum", V, distinct=True)),
)
FILTERED = (
    ("count", AggregateCall("count_star", where=V > 5)),
    ("least", AggregateCall("min", V, where=V > 5)),
)
SUMS = tuple((name, AggregateCall(name, V)) for name in ("sum", "avg"))
SPREAD = tuple((name, AggregateCall(name, V)) for name in ("variance_pop", "stddev_samp"))
PRESENT = (
    ("all", AggregateCall("bool_and", V > 5)),
    ("any", AggregateCall("bool_or", V > 5)),
    ("first", AggregateCall("arg_min", V, by=-V)),
    ("array", AggregateCall("array_agg", V)),
    ("median", AggregateCall("quantile", V, fraction=Decimal("0.5"))),
)


def count_distinct_of_the_delta() -> Counterexample:
    """COUNT(DISTINCT v) that counts a value for each of its rows."""
    subject = others_subject(DISTINCT[0], rows=NUMBERS[:1])
    wrong = others_subject(("count", AggregateCall("count", V)), rows=NUMBERS[:1])
    return refute_each("COUNT(DISTINCT v) is COUNT(v)", subject, wrong.increment, 0, 2)


def filter_that_is_forgotten() -> Counterexample:
    subject = others_subject(FILTERED[0], rows=NUMBERS[1:2])
    wrong = others_subject(("count", AggregateCall("count_star")), rows=NUMBERS[1:2])
    return refute_each("FILTER lets every row in", subject, wrong.increment, 0, 1)


def variance_of_a_sample() -> Counterexample:
    subject = others_subject(("spread", AggregateCall("variance_pop", V)), rows=NUMBERS[:2])
    wrong = others_subject(("spread", AggregateCall("variance_samp", V)), rows=NUMBERS[:2])
    return refute_each("n - 1 in place of n", subject, wrong.increment, 0, 1)


def array_without_copies() -> Counterexample:
    subject = others_subject(PRESENT[3], rows=NUMBERS[:1])

    def once(output: ZSet) -> ZSet:
        return ZSet([((k, tuple(dict.fromkeys(array))), w) for (k, array), w in output.items()])

    name = "a value stands once in the array"
    return refute_each(name, subject, lambda: altered(subject, once), 0, 2)


@theorem(
    statement="AggregateIncrement for DISTINCT, FILTER, VARIANCE, arrays … as it runs is D ∘ Q ∘ I",
    source="reference/operators/aggregate_increment.py, reference/operators/aggregate_functions.py",
    scope="weights from -1 to 1; 3 rows, 2 ticks, or 2 rows, 3 ticks; to 2 with 2 rows",
    wrong=(
        count_distinct_of_the_delta,
        filter_that_is_forgotten,
        variance_of_a_sample,
        array_without_copies,
    ),
)
def aggregate_functions_code() -> Enumerated:
    families = (DISTINCT, FILTERED, SPREAD, PRESENT)
    three = [prove_each(others_subject(*calls), -1, 1) for calls in families]
    subjects = [others_subject(*calls, rows=NUMBERS[:2]) for calls in families]
    two = [prove_each(subject, -1, 2) for subject in subjects]
    longer = [prove_each(replace(subject, ticks=3), -1, 1) for subject in subjects]
    numbers = [(1, -inf), (1, 0.1), (1, 0.3), (1, inf)]
    doubles = others_subject(*SUMS, *PRESENT[4:], rows=numbers, columns=DOUBLES)
    return enumerated(*three, *two, *longer, prove_each(doubles, 0, 1))
