"""What is wrong with Z-sets, with streams, and with operators in what they mean.

    Wrong            a wrong one, and how the law says so
    WRONG_DATA       by the name of a law of Z-sets or streams
    WRONG_MEANINGS   by the name of a law of operators, whatever they do

A wrong one is a function with a shape it does not have, an operator's declaration with one
part replaced, or a replacement for a word that the laws are written in (`ZSet.__add__`,
`integrate`, `Circuit`). Most are models of published bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from deltaproof.properties.check import subject_of_function
from deltaproof.properties.law import Stream, Subject, subject_of
from deltaproof.properties.laws import data
from deltaproof.reference.operator import Meaning, Shape
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.query import count
from deltaproof.reference.scalar import col
from deltaproof.reference.stream import delay, differentiate, integrate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet, positive

K = Schema.parse("k BIGINT NOT NULL")
V = Schema.parse("v BIGINT NOT NULL")
KV = Schema.parse("k BIGINT NOT NULL, v BIGINT NOT NULL")
PAIRS = Schema.parse("k BIGINT, v BIGINT")
LINEAR, BILINEAR, GENERAL = Shape.LINEAR, Shape.BILINEAR, Shape.GENERAL


@dataclass(frozen=True)
class Wrong:
    """A wrong subject, or a replacement for a word of the laws; and what is then said of it."""

    says: str  # part of the message
    about: Subject | None = None
    replaces: tuple[Any, str, Any] | None = None  # object, name of its attribute, replacement


# ── Wrong Z-sets ────────────────────────────────────────────────────────────────────────────


def zset_of(weights: Mapping[Any, int]) -> ZSet:
    return ZSet.trusted({row: weight for row, weight in weights.items() if weight})


def combined(of: Callable[[int, int], int]) -> Callable[[ZSet, ZSet], ZSet]:
    """An addition that does this to the weights of a row."""
    return lambda a, b: zset_of({row: of(a[row], b[row]) for row in (*a, *b)})


def keeps_zeros(a: ZSet, b: ZSet) -> ZSet:
    return ZSet.trusted({row: a[row] + b[row] for row in (*a, *b)})


def last_entry_wins(self: ZSet, entries: Any = (), schema: Schema | None = None) -> None:
    self._weights = dict(entries)
    self.schema = schema


def above_zero(a: ZSet) -> ZSet:
    return zset_of({row: max(weight, 0) for row, weight in a.items()})


def wrong_zset(method: str, replacement: Any, says: str) -> Wrong:
    return Wrong(says, replaces=(ZSet, method, replacement))


# ── Wrong streams ───────────────────────────────────────────────────────────────────────────


def wrong_stream(name: str, replacement: Callable[[Stream], Stream], says: str) -> Wrong:
    return Wrong(says, replaces=(data, name, replacement))


def integrates_tables(s: Stream) -> Stream:
    """Clips at every tick, as an engine without negative weights does."""
    return list(accumulate(s, lambda a, b: above_zero(a + b)))


def forgets_the_first(s: Stream) -> Stream:
    return [ZSet(), *s[1:]]


WRONG_DATA: dict[str, Wrong] = {
    "zset_add_associative": wrong_zset("__add__", combined(lambda n, m: max(n + m, 0)), "+1"),
    "zset_add_commutes": wrong_zset("__add__", combined(lambda n, m: n or m), "a + b"),
    "zset_zero_identity": wrong_zset("__add__", combined(lambda n, m: max(n + m, 0)), "-1}"),
    "zset_negate_inverse": wrong_zset("__add__", keeps_zeros, ": +0}"),
    "zset_subtract_adds_negation": wrong_zset(
        "__sub__", combined(lambda n, m: max(n - m, 0)), "-1}"
    ),
    "zset_scale_distributes": wrong_zset("scale", lambda a, n: distinct(a), "n(a + b)"),
    "zset_scale_adds": wrong_zset(
        "scale", lambda a, n: zset_of({r: n * n * w for r, w in a.items()}), "ma"
    ),
    "zset_scale_associative": wrong_zset(
        "scale", lambda a, n: zset_of({r: w + n for r, w in a.items()}), "n(ma)"
    ),
    "zset_scale_negates": wrong_zset(
        "scale", lambda a, n: zset_of({r: max(n * w, 0) for r, w in a.items()}), "-1 a"
    ),
    "zset_entries_add_up": wrong_zset("__init__", last_entry_wins, "ZSet(entries of a and of b)"),
    "integrate_differentiate_inverse": wrong_stream(
        "differentiate", lambda s: forgets_the_first(differentiate(s)), "at t = 0"
    ),
    "differentiate_integrate_inverse": wrong_stream("integrate", integrates_tables, "I(D(s))"),
    "integrate_recursive": wrong_stream("integrate", lambda s: s, "at t = 1"),
    "differentiate_definition": wrong_stream(
        "differentiate", lambda s: [-each for each in differentiate(s)], "s - z(s)"
    ),
    "integrate_additive": wrong_stream("integrate", integrates_tables, "I(s) + I(r)"),
    "differentiate_additive": wrong_stream(
        "differentiate", lambda s: [above_zero(each) for each in differentiate(s)], "D(s + r)"
    ),
    "delay_additive": wrong_stream(
        "delay", lambda s: [above_zero(each) for each in delay(s)], "z(s) + z(r)"
    ),
    "integrate_time_invariant": wrong_stream(
        "integrate", lambda s: integrate(forgets_the_first(s)), "I(z(s))"
    ),
    "differentiate_time_invariant": wrong_stream(
        "differentiate", lambda s: forgets_the_first(differentiate(s)), "D(z(s))"
    ),
    "delay_strict": wrong_stream("delay", lambda s: s, "z(s)[<=t]"),
    "integrate_causal": wrong_stream(
        "integrate", lambda s: [integrate(s)[-1]] * len(s), "I(s)[<=t]"
    ),
    "differentiate_causal": wrong_stream("differentiate", lambda s: [*s[1:], ZSet()], "D(s)[<=t]"),
}

# ── Wrong operators ─────────────────────────────────────────────────────────────────────────


def distinct(a: ZSet) -> ZSet:
    return zset_of({row: positive(weight) for row, weight in a.items()})


def first_row_only(a: ZSet) -> ZSet:
    return zset_of(dict(list(a.items())[:1]))


def eats_its_input(a: ZSet) -> ZSet:
    result = ZSet(dict(a.items()))
    a._weights.clear()
    return result


def adds_a_row(a: ZSet) -> ZSet:
    return a + ZSet({(7,): 1})


def identity(a: ZSet) -> ZSet:
    return a


def plus_one(a: ZSet) -> ZSet:
    return ZSet([((row[0] + 1,), weight) for row, weight in a.items()])


def cross(a: ZSet, b: ZSet) -> ZSet:
    return ZSet([(x + y, n * m) for x, n in a.items() for y, m in b.items()])


def left_semijoin(a: ZSet, b: ZSet) -> ZSet:
    """Matches lose the weight of the left side when the gate opens (pg_ivm #82)."""
    return cross(distinct(a), b)


def right_semijoin(a: ZSet, b: ZSet) -> ZSet:
    return cross(a, distinct(b))


def left_outer(a: ZSet, b: ZSet) -> ZSet:
    return cross(a, b or ZSet({(None,): 1}))


def right_outer(a: ZSet, b: ZSet) -> ZSet:
    return cross(a or ZSet({(None,): 1}), b)


def claimed(meaning: Meaning, shape: Shape, stream: Callable[..., Stream] | None = None) -> Subject:
    schemas = (K, V) if shape is BILINEAR else (K,)
    return subject_of_function(meaning, shape, *schemas, stream=stream)


JOIN = subject_of(Join((("k", "v"),)), K, V)
DISTINCT = subject_of(Distinct(), K)
FILTER = subject_of(Filter(col("k") > 0), K)
DELAY = subject_of(Delay(1), K)
COUNT = subject_of(Aggregate((), (("n", count()),)), K)
COUNT_BY_K = subject_of(Aggregate(("k",), (("n", count()),)), K)


def turns_debts(a: ZSet) -> ZSet:
    return a.scale(-1) + distinct(a).scale(2)


counter = iter(range(10**9))


class FirstColumn(Map):
    """Takes the first column, whatever its name."""

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda a: ZSet([((row[0], row[0]), weight) for row, weight in a.items()])


FIRST_COLUMN = subject_of(FirstColumn((("k", col("k")), ("v", col("v")))), KV)


def wrong(meaning: Meaning, says: str, shape: Shape = LINEAR) -> Wrong:
    return Wrong(says, claimed(meaning, shape))


WRONG_MEANINGS: dict[str, Wrong] = {
    "operator_row_order_free": wrong(first_row_only, "rows of a in reverse"),
    "operator_well_typed": Wrong(
        "column k: expected VARCHAR, got int", replace(FILTER, output=Schema.parse("k VARCHAR"))
    ),
    "operator_keeps_inputs": wrong(eats_its_input, "a after Q(a)"),
    "operator_zero_preserving": wrong(adds_a_row, "Q(0) = {(7): +1}"),
    "operator_time_invariant": wrong(adds_a_row, "at t = 0"),
    "operator_causal_over_time": Wrong(
        "Q(s[<=t], then r)[<=t]", replace(DELAY, over_time=lambda s: [*s[1:], ZSet()])
    ),
    "operator_additive_over_time": Wrong(
        "Q(s) + Q(r)", replace(DELAY, over_time=lambda s: [above_zero(each) for each in delay(s)])
    ),
    "operator_deterministic": wrong(lambda a: a.scale(next(counter)), "asked again"),
    "operator_additive": wrong(distinct, "Q(a + b)"),
    "operator_odd": wrong(above_zero, "Q(-a)"),
    "operator_homogeneous": wrong(distinct, "with a = {(0): +1}"),
    "operator_commutes_with_integrate": wrong(distinct, "the first difference"),
    "operator_commutes_with_differentiate": wrong(distinct, "D(Q(s))"),
    "operator_left_additive": wrong(left_semijoin, "Q(a, b) + Q(a', b)", BILINEAR),
    "operator_right_additive": wrong(right_semijoin, "Q(a, b) + Q(a, b')", BILINEAR),
    "operator_multiplies_factors": wrong(left_semijoin, "nm Q(a, b)", BILINEAR),
    "operator_left_zero": wrong(right_outer, "Q(0, b) = {(NULL, 0): +1}", BILINEAR),
    "operator_right_zero": wrong(left_outer, "Q(a, 0) = {(0, NULL): +1}", BILINEAR),
    "operator_product_rule": wrong(left_semijoin, "Q(s, z(I(r)))", BILINEAR),
    "operator_strict": Wrong("Q(s[<t], then r)[<=t]", FILTER),
    "operator_positive": wrong(lambda a: -a, "Q(a) above zero  = 0"),
    "operator_under_distinct": wrong(turns_debts, "over tables"),
    "operator_makes_sets": wrong(identity, "distinct(Q(a))   = {(0): +1}"),
    "operator_monotone": Wrong("the lesser of Q(a) and Q(a + b)", COUNT_BY_K),
    "operator_idempotent": wrong(lambda a: a + a, "Q(Q(a)) = {(0): +4}"),
    "operator_commutes": wrong(lambda a, b: a - b, "Q(b, a)", BILINEAR),
    "operator_ignores_size": wrong(above_zero, "Q(n a)"),
    "operator_sees_through_distinct": wrong(identity, "Q(distinct(a))   = {(0): +1}"),
    "operator_scales": wrong(distinct, "Q(n a)"),
    "operator_renames": wrong(plus_one, "Q(f(a))"),
    "operator_permutes_columns": Wrong("columns turned", FIRST_COLUMN),
    "operator_partitions": Wrong("sum of Q(part of a)", replace(COUNT, partition=(("k",),))),
}
