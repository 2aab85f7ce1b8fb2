"""NULL equals nothing, so it joins nothing; NOT IN asks of every row; aggregates do not see it.

k = j          NULL where k or j is
a ⋈ b          the pairs for which it is TRUE
x NOT IN b     TRUE where x = key is FALSE for every row of b
SUM, COUNT     over the values that are not NULL
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3

from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.scalar import col, is_in, lit, null
from deltaproof.reference.types import BIGINT
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Formula,
    Sort,
    Term,
    Thm,
    both,
    fresh_sort,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.operators.aggregate import any_grouping
from deltaproof.theorems.operators.aggregate_presence import (
    no_value,
    nothing_kept,
    something_kept,
)
from deltaproof.theorems.operators.aggregate_sums import (
    AVG,
    ROWS,
    SUM,
    Kept,
    nullable_argument,
    value_of,
)
from deltaproof.theorems.operators.join import any_join
from deltaproof.theorems.operators.semi_join import Matches, anti, semi
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.three_valued import (
    FALSE,
    NULL,
    TRUE,
    TRUTH,
    compared,
    conjunction,
    negation,
    nullables,
    python_values,
    same_value,
    truth,
)
from deltaproof.theorems.tables.zsets import ZSets, any_zsets, if_then

# ---------------------------------------------------------------- NULL in a join key


class Equality:
    """key = key of a left and a right row, each of which may be NULL."""

    def __init__(self, left: ZSets, right: ZSets) -> None:
        keys, yes_or_no = fresh_sort("keys"), z3.BoolSort()
        self.null_left = fresh_symbol("left key is NULL", left.row, yes_or_no)
        self.null_right = fresh_symbol("right key is NULL", right.row, yes_or_no)
        self.key_left = fresh_symbol("left key", left.row, keys)
        self.key_right = fresh_symbol("right key", right.row, keys)

    def of(self, one: Term, other: Term) -> Term:
        """The truth value of: the keys are equal."""
        unknown = z3.Or(self.null_left(one), self.null_right(other))
        return z3.If(unknown, NULL, truth(self.key_left(one) == self.key_right(other)))

    def holds(self, one: Term, other: Term) -> Formula:
        return self.of(one, other) == TRUE


SIDES = ("k BIGINT", "j BIGINT")
EQUAL_KEYS = Run(Join((("k", "j"),)), SIDES)
ALL_PAIRS = Run(Join(()), SIDES)
SAME_KEYS = Run(Filter(col("k").is_not_distinct_from(col("j"))), ("k BIGINT, j BIGINT",))
WITHOUT_EQUAL = Run(SemiJoin((("k", "j"),), anti=True), SIDES)


def null_key_matches_null() -> Counterexample:
    """Keys compared by IS NOT DISTINCT FROM, as GROUP BY does."""
    (k, j), (a, b) = nullables("k j"), z3.Ints("a b")

    def replay(a: int, b: int, *given: Any) -> tuple[ZSet, ZSet]:
        left, right = python_values(given)
        tables = row(a, left), row(b, right)
        return SAME_KEYS.over(ALL_PAIRS.over(*tables)), EQUAL_KEYS.over(*tables)

    joined = if_then(compared(k, j, lambda x, y: x == y) == TRUE, a * b)
    claim = if_then(same_value(k, j), a * b) == joined
    return refute("NULL joins NULL", claim, show=[a, b, *k, *j], replay=replay)


def anti_join_that_loses_null_keys() -> Counterexample:
    """NOT (k = j) for "has no match": a NULL key then passes neither semi nor anti join."""
    (k, j), (a, b) = nullables("k j"), z3.Ints("a b")
    match = compared(k, j, lambda x, y: x == y)

    def replay(a: int, b: int, *given: Any) -> tuple[ZSet, ZSet]:
        left, right = python_values(given)
        rows, others = row(a, left), row(b, right)
        unequal = Run(SemiJoin((), col("k").ne(col("j"))), SIDES)
        return unequal.over(rows, others), WITHOUT_EQUAL.over(rows, others)

    unequal = if_then(negation(match) == TRUE, a)
    claim = unequal == if_then(match != TRUE, a)
    return refute("anti join is NOT (k = j)", claim, [b == 1], [a, b, *k, *j], replay=replay)


@theorem(
    statement="a row whose key is NULL joins nothing, is in no semi join and in every anti join",
    source="beyond the paper: SQL:2016 7.10, equality of NULL; reference/operators/presence.py",
    wrong=(null_key_matches_null, anti_join_that_loses_null_keys),
)
def null_join_key() -> Thm:
    left, right = any_zsets("A"), any_zsets("B")
    keys, join = Equality(left, right), any_join()
    a, b, x, y = left.a, right.a, left.x, join.pairs.zsets.x
    one, other = join.pairs.left(y), join.pairs.right(y)
    pair = prove_for_all(
        "a pair with a NULL key weighs nothing",
        [a, b, y],
        join.pairs.zsets.weight(join.join(a, b), y) == 0,
        [inst(join.join.equations[0], y, a, b)],
        given=[
            join.matches(one, other) == keys.holds(one, other),
            z3.Or(keys.null_left(one), keys.null_right(other)),
        ],
    )
    matches = Matches(left, right, keys.holds)
    mass = matches.of(b, x)
    unmatched = prove(
        "nothing matches a NULL key", mass == 0, [inst(matches.unmatched(), b, x)],
        [keys.null_left(x)],
    )  # fmt: skip
    weight = left.weight(a, x)
    kept = prove_for_all(
        "semi join drops it, anti join keeps it",
        [a, b, x],
        z3.And(semi(weight, mass) == 0, anti(weight, mass) == weight),
        [unmatched],
        given=[keys.null_left(x)],
    )
    return both("NULL in a join key", pair, gen(unmatched, b, x), kept)


# ---------------------------------------------------------------- NOT IN


class NotIn:
    """x NOT IN (the keys of some rows), as SQL defines it: x <> key is TRUE for all of them.

    The rows are a list of entries, of any length; those that are there weigh more than nothing.
    """

    def __init__(self, left: ZSets, right: ZSets) -> None:
        self.left, self.right, self.keys = left, right, Equality(left, right)
        self.x, yes_or_no = left.x, z3.BoolSort()
        equal, null_key = self.keys.of, self.keys.null_right
        self.value = self._over_rows(
            "NOT IN", TRUTH, TRUE, lambda k, w, rest: conjunction(negation(equal(self.x, k)), rest)
        )
        self.bag = self._over_rows(
            "a bag", yes_or_no, z3.BoolVal(True), lambda k, w, rest: z3.And(w > 0, rest)
        )
        self.has_null = self._over_rows(
            "a key is NULL",
            yes_or_no,
            z3.BoolVal(False),
            lambda k, w, rest: z3.Or(null_key(k), rest),
        )
        self.unless_false = Matches(left, right, lambda x, k: equal(x, k) != FALSE)
        self.where_true = Matches(left, right, lambda x, k: equal(x, k) == TRUE)
        self.entries = z3.Const("entries", right.lists.sort)

    def _over_rows(
        self, name: str, result: Sort, empty: Term, step: Callable[[Term, Term, Term], Term]
    ) -> Definition:
        """From the last row to the first, for the left row x."""

        def at_row(recur: Callable[..., Term], k: Term, w: Term, rest: Term, x: Term) -> Term:
            return z3.substitute(step(k, w, recur(rest, x)), (self.x, x))

        cases = (lambda recur, x: empty, at_row)
        return recursive(name, self.right.lists.sort, [self.left.row], result, cases)

    def mass(self, matches: Matches, entries: Term) -> Term:
        """m: what the rows of these entries that match x weigh together."""
        return matches.maps.total_of(entries, matches.images(self.x), matches.only)

    def masses(self, case: Case, matches: Matches) -> list[Thm]:
        """m of no rows is 0, and of one more row it is the row's weight, if it matches, more."""
        images, only = matches.images(self.x), matches.only
        empty, entry = matches.maps.totals_for(images, only)
        if not case.arguments:
            return [empty]
        k, w, rest = case.arguments
        known = [
            inst(entry, k, w, rest),
            matches.maps.part.unfold(images, k, w, only),
            matches.images.unfold(k, self.x),
            *matches.number.lists.W.equations,
        ]
        more = if_then(matches.related(self.x, k), w)
        goal = self.mass(matches, case.term) == more + self.mass(matches, rest)
        return [prove("m of one more row", goal, known)]

    def over_entries(self, name: str, claim: Callable[[Term], Formula], *masses: Matches) -> Thm:
        """∀ x. claim(entries), by induction over the entries."""
        definitions = (self.value, self.bag, self.has_null)

        def facts(case: Case) -> list[Thm]:
            known = [each.unfold(case.term, self.x) for each in definitions]
            return [*known, *[fact for each in masses for fact in self.masses(case, each)]]

        return gen(induct(name, self.right.lists.sort, claim, (), facts), self.x)

    def theorems(self) -> Iterator[Thm]:
        x, value, has_null = self.x, self.value, self.has_null
        bag, either, true = self.bag, self.unless_false, self.where_true

        def as_anti_join(entries: Term) -> Formula:
            m = self.mass(either, entries)
            same = (value(entries, x) == TRUE) == (m <= 0)
            return z3.Implies(bag(entries, x), z3.And(m >= 0, same))

        def without_null(entries: Term) -> Formula:
            same = self.mass(either, entries) == self.mass(true, entries)
            null_somewhere = z3.Or(has_null(entries, x), self.keys.null_left(x))
            return z3.Or(null_somewhere, same)

        def with_null(entries: Term) -> Formula:
            return z3.Implies(has_null(entries, x), value(entries, x) != TRUE)

        kept = self.over_entries("NOT IN is an anti join by: not FALSE", as_anti_join, either)
        same = self.over_entries("without NULL, not FALSE is TRUE", without_null, either, true)
        yield kept
        yield self.over_entries("a NULL key, and nothing is NOT IN", with_null)
        yield from self._of_tables(kept, same)

    def _of_tables(self, kept: Thm, same: Thm) -> Iterator[Thm]:
        """The same of Z-sets, with the weight of matches by which joins keep their rows."""
        b, x = self.right.a, self.x
        entries = self.right.entries(b)
        applied = [
            each.maps.applied(each.images(x), b, each.only)
            for each in (self.unless_false, self.where_true)
        ]
        known = [*applied, inst(kept, x, entries), inst(same, x, entries)]
        bag, is_in = self.bag(entries, x), self.value(entries, x) == TRUE
        null_somewhere = z3.Or(self.has_null(entries, x), self.keys.null_left(x))
        for name, matches, given in (
            ("x NOT IN b is b's anti join by: x = key is not FALSE", self.unless_false, [bag]),
            (
                "without NULL, x NOT IN b is the anti join by x = key",
                self.where_true,
                [bag, z3.Not(null_somewhere)],
            ),
        ):
            yield prove_for_all(name, [b, x], is_in == (matches.of(b, x) <= 0), known, given)


NOT_IN = Run(SemiJoin((), col("k").eq(col("j")).is_distinct_from(False), anti=True), SIDES)


def not_in_as_anti_join() -> Counterexample:
    """NOT IN planned as an anti join by equal keys: one NULL in the subquery, and rows appear."""
    (k, j), (a, b) = nullables("k j"), z3.Ints("a b")
    match = compared(k, j, lambda x, y: x == y)

    def replay(a: int, b: int, *given: Any) -> tuple[ZSet, ZSet]:
        left, right = python_values(given)
        rows, others = row(a, left), row(b, right)
        return WITHOUT_EQUAL.over(rows, others), NOT_IN.over(rows, others)

    claim = if_then(match != TRUE, a) == if_then(match == FALSE, a)
    show = [a, b, *k, *j]
    return refute("NOT IN is an anti join by k = j", claim, [b == 1], show, replay=replay)


def not_in_that_skips_null() -> Counterexample:
    """NULLs of the subquery left out first, as aggregates do."""
    (k, j), a = nullables("k j"), z3.Int("a")
    match = compared(k, j, lambda x, y: x == y)

    def replay(a: int, *given: Any) -> tuple[ZSet, ZSet]:
        left, right = python_values(given)
        option = null(BIGINT) if right is None else lit(right)
        skipping = ~is_in(col("k"), option) if right is not None else lit(True)
        one, other = (
            Run(Filter(each), ("k BIGINT",)).over(row(a, left))
            for each in (skipping, ~is_in(col("k"), option))
        )
        return one, other

    claim = if_then(z3.Or(j[0], match == FALSE), a) == if_then(match == FALSE, a)
    return refute("NOT IN skips NULL", claim, show=[a, *k, *j], replay=replay)


@theorem(
    statement="x NOT IN b = anti join by: x = key not FALSE; by x = key TRUE only without NULLs",
    source="beyond the paper: SQL:2016 8.4 and 8.9; reference/operators/semi_join.py",
    wrong=(not_in_as_anti_join, not_in_that_skips_null),
)
def not_in_anti_join() -> Thm:
    """For subqueries of any size; with a NULL among the keys no row is kept."""
    return both("NOT IN", *NotIn(any_zsets("A"), any_zsets("B")).theorems())


# ---------------------------------------------------------------- aggregates skip NULL


def sum_of_nothing_is_zero() -> Counterexample:
    n, x = z3.Ints("n x")

    def replay(n: int, x: int) -> tuple[bool, bool]:
        return False, value_of(SUM, row(n, x)) is None

    claim = z3.BoolVal(False) == (n == 0)
    return refute("SUM is never NULL", claim, [n >= 0], [n, x], replay=replay)


def average_with_null_as_zero() -> Counterexample:
    """SUM / COUNT(*), where SUM / COUNT(x) belongs; both sides times the two counts."""
    x, nulls = z3.Ints("x nulls")

    def replay(x: int, nulls: int) -> tuple[float, float]:
        table = row(1, x) + row(nulls, None)
        return value_of(SUM, table) / value_of(ROWS, table), value_of(AVG, table)

    claim = x == x * (1 + nulls)
    return refute("AVG = SUM / COUNT(*)", claim, [nulls >= 0], [x, nulls], replay=replay)


@theorem(
    statement="rows of NULL change no SUM or COUNT(x); a bag's SUM is NULL iff no value is there",
    source="DBSP (VLDB 2023) section 7.2, footnote on NULL; SQL:2016 10.9",
    wrong=(sum_of_nothing_is_zero, average_with_null_as_zero),
)
def aggregate_skips_null() -> Thm:
    """SUM is read off (sum, n), n the weight of the values that are not NULL: NULL when n is 0."""
    it = any_grouping()
    count, value = nullable_argument()
    kept = [Kept(it, "n", count), Kept(it, "sum", value)]
    rows, g = it.rows, it.g
    a, d = rows.a, rows.b
    silent = [
        nothing_kept(each, part, count) for each, part in zip(kept, (count, value), strict=True)
    ]
    only_nulls = no_value(it, count, d, g)
    skipped = [
        prove_for_all(
            f"{each.name}(a + rows of NULL) = {each.name}(a)",
            [a, d, g],
            each.of(rows.add(a, d), g) == each.of(a, g),
            [inst(each.plus(), a, d, g), inst(nothing, d, g)],
            [only_nulls],
        )
        for each, nothing in zip(kept, silent, strict=True)
    ]
    return both("aggregates skip NULL", *silent, *skipped, something_kept(kept[0], count))
