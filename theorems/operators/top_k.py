"""In the first k rows a row is kept with what its weight has left when those before it are placed.

    before(l, x)   the weight of the rows before x
    take(l, k)     going down the ordered rows, each with its weight, until k are placed
    weight(take(l, k), x) = min(weight(l, x), max(0, k - before(l, x)))

So rows behind place k never matter to those in front, and `offset` is take(offset + limit) without
take(offset). That only touched groups change is `grouped_increment`.
"""

from __future__ import annotations

from functools import cache

import z3

from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import (
    Enumerated,
    enumerated,
    prove_each,
    prove_paths,
    refute_each,
)
from deltaproof.theorems.execution.symbolic import Altered, Stateless, Subject, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Term,
    Thm,
    both,
    induct,
    inst,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, if_then

YES = z3.BoolVal(True)


def smaller_of(one: Term, other: Term) -> Term:
    return z3.If(one < other, one, other)


def not_negative(number: Term) -> Term:
    return z3.If(number > 0, number, ZERO)


class Ordered:
    """Lists of rows with positive weights in strictly ascending order. A row is its place in the
    order: any total order of finitely many rows is that of some integers."""

    def __init__(self) -> None:
        lists = ZSets("ordered", INT).lists
        self.lists, sort = lists, lists.sort
        yes_or_no = z3.BoolSort()
        self.before = recursive(
            "before",
            sort,
            [INT],
            INT,
            (
                lambda recur, y: ZERO,
                lambda recur, k, w, rest, y: if_then(k < y, w) + recur(rest, y),
            ),
        )
        self.take = recursive(
            "take",
            sort,
            [INT],
            sort,
            (
                lambda recur, n: lists.none,
                lambda recur, k, w, rest, n: z3.If(
                    n <= 0, lists.none, lists.entry(k, smaller_of(w, n), recur(rest, n - w))
                ),
            ),
        )
        self.above = recursive(
            "all above",
            sort,
            [INT],
            yes_or_no,
            (lambda recur, y: YES, lambda recur, k, w, rest, y: z3.And(y < k, recur(rest, y))),
        )
        self.is_ordered = recursive(
            "ordered",
            sort,
            [],
            yes_or_no,
            (
                lambda recur: YES,
                lambda recur, k, w, rest: z3.And(w > 0, self.above(rest, k), recur(rest)),
            ),
        )
        self.k, self.y = z3.Ints("k y")

    def nothing_before(self) -> Thm:
        """∀ l h y. all rows of l are above h, y ≤ h → before(l, y) = 0 and W(l, y) = 0."""
        h, y, lists = z3.Int("h"), self.y, self.lists
        above = self.above

        def claim(entries: Term) -> Formula:
            none = z3.And(self.before(entries, y) == 0, lists.W(entries, y) == 0)
            premise = z3.And(above(entries, h), y <= h)
            pattern = z3.MultiPattern(above(entries, h), self.before(entries, y))
            other = z3.MultiPattern(above(entries, h), lists.W(entries, y))
            return z3.ForAll([h, y], z3.Implies(premise, none), patterns=[pattern, other])

        by = [*self.before.equations, *above.equations, *lists.W.equations]
        return induct("nothing before the first", lists.sort, claim, by)

    def not_below_zero(self) -> Thm:
        """∀ l y. l ordered → before(l, y) ≥ 0 and W(l, y) ≥ 0."""
        y, lists = self.y, self.lists

        def claim(entries: Term) -> Formula:
            both_sides = z3.And(self.before(entries, y) >= 0, lists.W(entries, y) >= 0)
            patterns = [self.before(entries, y), lists.W(entries, y)]
            whole = z3.Implies(self.is_ordered(entries), both_sides)
            return z3.ForAll([y], whole, patterns=patterns)

        by = [*self.before.equations, *self.is_ordered.equations, *lists.W.equations]
        return induct("weights are not negative", lists.sort, claim, by)

    def nothing_taken(self) -> Thm:
        """∀ l k. k ≤ 0 → take(l, k) = none."""
        k = self.k

        def claim(entries: Term) -> Formula:
            taken = self.take(entries, k)
            empty = z3.Implies(k <= 0, taken == self.lists.none)
            return z3.ForAll([k], empty, patterns=[taken])

        return induct("take(l, 0) = none", self.lists.sort, claim, self.take.equations)

    def taken(self) -> tuple[Thm, Thm]:
        """∀ l k y. l ordered, k ≥ 0 → what take(l, k) has before y, and of y."""
        k, y, lists, take = self.k, self.y, self.lists, self.take

        def place(entries: Term) -> Formula:
            left = self.before(take(entries, k), y)
            here = left == smaller_of(self.before(entries, y), k)
            return z3.ForAll([k, y], z3.Implies(k >= 0, here), patterns=[left])

        def share(entries: Term) -> Formula:
            left = lists.W(take(entries, k), y)
            rest = not_negative(k - self.before(entries, y))
            here = left == smaller_of(lists.W(entries, y), rest)
            return z3.ForAll([k, y], z3.Implies(k >= 0, here), patterns=[left])

        by = [
            self.nothing_before(),
            self.not_below_zero(),
            self.nothing_taken(),
            *self.before.equations,
            *self.take.equations,
            *self.above.equations,
            *self.is_ordered.equations,
            *lists.W.equations,
        ]

        def proved(name: str, body: object) -> Thm:
            def claim(entries: Term) -> Formula:
                return z3.Implies(self.is_ordered(entries), body(entries))  # type: ignore[operator]

            return induct(name, lists.sort, claim, by)

        return (
            proved("before(take(l, k), y) = min(before(l, y), k)", place),
            proved("W(take(l, k), y) = min(W(l, y), max(0, k - before(l, y)))", share),
        )


@cache
def ordered() -> Ordered:
    return Ordered()


def duplicates_as_one() -> Counterexample:
    """A row of weight 2 that takes one place."""
    w, k = z3.Ints("weight k")
    claim = smaller_of(z3.IntVal(1), k) == smaller_of(w, k)

    def replay(w: int, k: int) -> tuple[ZSet, ZSet]:
        return first_rows(k, row(1, 0)), first_rows(k, row(w, 0))

    name = "each row is placed once"
    return refute(name, claim, [w > 0, k >= 0], show=[w, k], replay=replay)


def first_rows(k: int, rows: ZSet) -> ZSet:
    """What TopK keeps of these rows, each a number and its place in the order.

    >>> first_rows(3, ZSet({(0,): 2, (1,): 5}))
    ZSet({(0,): 2, (1,): 1})
    """
    return Run(TopK((), ORDER, k), ("v BIGINT",)).over(rows)


def no_refill() -> Counterexample:
    """A row in the window is deleted and nothing moves up."""
    w, before, gone, k = z3.Ints("weight before deleted_before k")
    kept = smaller_of(w, not_negative(k - before))
    after = smaller_of(w, not_negative(k - (before - gone)))
    given = [w > 0, gone > 0, gone <= before, k > 0]
    return refute(
        "rows outside the delta stay as they are", kept == after, given, [w, before, gone, k]
    )


def window_of_k_minus_one() -> Counterexample:
    a, b, k = z3.Ints("before_here before_there k")
    kept = smaller_of(a, k - 1) + b < k
    given = [a >= 0, b >= 0, k > 1]

    def replay(a: int, b: int, k: int) -> tuple[int, int]:
        """The weight of a row behind a and b, among the first k of what is left and of all."""
        there = row(b, 0) + row(1, 1)
        left = first_rows(k, first_rows(k - 1, row(a, 0)) + there)
        return left[(1,)], first_rows(k, row(a, 0) + there)[(1,)]

    name = "k - 1 rows are enough"
    return refute(name, kept == (a + b < k), given, [a, b, k], replay=replay)


@theorem(
    statement="weight(take(l, k), x) = min(weight(l, x), max(0, k - before(l, x))), any ordered l",
    source="SQL: ORDER BY … LIMIT; induction over the ordered rows",
    wrong=(duplicates_as_one, no_refill),
)
def top_k_weight() -> Thm:
    return both("top k", *ordered().taken())


@theorem(
    statement="the first k of (a's first k, and b) are the first k of a and b, for any split",
    source="SQL: ORDER BY … LIMIT; induction over the ordered rows",
    wrong=(window_of_k_minus_one,),
)
def top_k_merge() -> Thm:
    """What the first k rows of a part drop has k rows of that part before it."""
    it = ordered()
    placed, _ = it.taken()
    entries, k, y, other = z3.Const("l", it.lists.sort), it.k, it.y, z3.Int("before_in_b")
    kept = it.before(it.take(entries, k), y) + other
    goal = z3.And(
        (kept < k) == (it.before(entries, y) + other < k),
        z3.Implies(kept < k, kept == it.before(entries, y) + other),
    )
    return prove_for_all(
        "the same places below k",
        [entries, k, y, other],
        goal,
        [inst(placed, entries), it.not_below_zero()],
        given=[it.is_ordered(entries), k >= 0, other >= 0],
    )


# ---------------------------------------------------------------- the code

ROWS = [(2, 5), (1, 5), (1, 7), (1, None)]  # peers, a row behind them, and NULL
ORDER = (Order(col("v")),)


def top_k_subject(operator: TopK, rows: list[tuple[int, int | None]], ticks: int) -> Subject:
    return subject_of(operator, [("k BIGINT, v BIGINT", rows)], ticks)


def first(limit: int, offset: int = 0, partition: tuple[str, ...] = ()) -> TopK:
    return TopK(partition, ORDER, limit, offset)


def top_k_code_without_refill() -> Counterexample:
    """A row in the window is deleted, and nothing moves up."""
    subject = top_k_subject(first(1), ROWS[1:3], 2)

    def only_the_delta(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([(row, weight) for row, weight in output.items() if row in delta])

    name = "rows outside the delta stay as they are"
    return refute_each(name, subject, lambda: Altered(subject.increment(), only_the_delta), 0, 1)


def top_k_code_of_the_delta() -> Counterexample:
    subject = top_k_subject(first(1), ROWS[1:3], 2)
    name = "puts out the first rows of the delta"
    return refute_each(name, subject, lambda: Stateless(subject.meaning), -1, 1)


@theorem(
    statement="TopK's increment, as it runs, is D ∘ top_k ∘ I",
    source="reference/operators/top_k.py, reference/operators/ordered_increment.py",
    scope="weights from -1000 to 1000; 2 rows, 2 ticks; from -1 to 1 with 3 ticks, or 4 rows",
    wrong=(top_k_code_without_refill, top_k_code_of_the_delta),
)
def top_k_code() -> Enumerated:
    paths = prove_paths(top_k_subject(first(1), ROWS[1:3], 2))
    runs = [
        prove_each(top_k_subject(first(1, partition=("k",)), ROWS, 1), -1, 2),
        prove_each(top_k_subject(first(2, offset=1), ROWS[:3], 2), -1, 1),
        prove_each(top_k_subject(first(2), ROWS[1:], 2), -1, 1),
        prove_each(top_k_subject(first(1), ROWS[1:3], 3), -1, 1),
    ]
    return enumerated(paths, *runs)
