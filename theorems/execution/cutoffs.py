"""What an operator does on small tables decides what it does on all of them.

    linear       two that agree on tables of one row agree
    bilinear     on pairs of them
    pointwise    on tables of one row, when a row's weights alone decide its weight
    grouped      on tables of one group, when a group's rows alone decide its results
    by order     on one choice of values for each way to order them, when only the order counts

So a run of the code on every weight of such tables is a run on all tables, if the code is of that
kind. That it is, is seen on the code itself: see `locality`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product as product_of
from typing import Any

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linearity import any_additive, any_bilinear, on_one_side
from deltaproof.theorems.calculus.streams import zero_of_additive
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Symbol,
    Term,
    Thm,
    axiom,
    both,
    fresh_sort,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, any_zsets, if_then

Function = Callable[[Term], Term]


# ---------------------------------------------------------------- linear and bilinear


def one_row(rows: ZSets, k: Term, w: Term) -> Term:
    """The table in which this row weighs this, and no other row anything."""
    return rows.zset(rows.lists.entry(k, w, rows.lists.none))


def weight_of_one_row(rows: ZSets) -> Thm:
    """∀ k w x. weight(one row, x) = w if x is k, else 0."""
    k, w, x = z3.Const("k", rows.row), z3.Int("w"), rows.x
    table = one_row(rows, k, w)
    listed = rows.lists.entry(k, w, rows.lists.none)
    known = [
        rows.weight.unfold(table, x),
        inst(rows.presented, listed, x),
        rows.lists.W.unfold(listed, x),
        rows.lists.W.unfold(rows.lists.none, x),
    ]
    goal = rows.weight(table, x) == if_then(k == x, w)
    return prove_for_all("what one row weighs", [k, w, x], goal, known)


@dataclass(frozen=True, eq=False)
class LinearPair:
    """Two linear functions and the theorem that they agree on tables of one row."""

    source: ZSets
    target: ZSets
    f: Function
    g: Function
    f_linear: Thm  # ∀ a b. f(a + b) = f(a) + f(b)
    g_linear: Thm
    agree: Thm  # ∀ k w. f(one row) = g(one row)

    def everywhere(self) -> Thm:
        """∀ a. f(a) = g(a), by induction over the entries of a."""
        source, lists, f, g = self.source, self.source.lists, self.f, self.g
        a = source.a

        def facts(case: Case) -> list[Thm]:
            return self.of_entry(case) if case.arguments else self.of_nothing()

        listed = induct(
            "f = g on every list of entries",
            lists.sort,
            lambda es: f(source.zset(es)) == g(source.zset(es)),
            facts=facts,
        )
        shown = source.equal(
            "a is what its entries weigh",
            source.zset(source.entries(a)),
            a,
            [],
            [*source.weight.equations, source.presented],
        )
        known = [inst(listed, source.entries(a)), shown]
        return prove_for_all("f(a) = g(a)", [a], f(a) == g(a), known)

    def of_nothing(self) -> list[Thm]:
        """f(0) = 0 = g(0)."""
        source, target = self.source, self.target
        zero = source.zero()
        return [
            source.zero.unfold(),
            *[
                zero_of_additive(name, source.group, target.group, h, inst(linear, zero, zero))
                for name, h, linear in (("f", self.f, self.f_linear), ("g", self.g, self.g_linear))
            ],
        ]

    def of_entry(self, case: Case) -> list[Thm]:
        """The list is its first entry and the rest, and both functions are linear there."""
        source, lists = self.source, self.source.lists
        k, w, rest = case.arguments
        first, others = one_row(source, k, w), source.zset(rest)
        split = source.equal(
            "the first entry and the rest",
            source.zset(case.term),
            source.add(first, others),
            [],
            [*source.weight.equations, source.presented, *lists.W.equations],
        )
        return [
            split,
            inst(self.f_linear, first, others),
            inst(self.g_linear, first, others),
            inst(self.agree, k, w),
        ]


def agree_on_one_row(name: str, source: ZSets, f: Function, g: Function) -> Thm:
    """What is supposed: the two are equal where the table has one row, whatever it weighs."""
    k, w = z3.Const("k", source.row), z3.Int("w")
    table = one_row(source, k, w)
    return axiom(name, z3.ForAll([k, w], f(table) == g(table)))


# ---------------------------------------------------------------- row by row, group by group


class Pointwise:
    """Functions of two tables that give a row the same weight wherever it weighs the same."""

    def __init__(self, rows: ZSets) -> None:
        self.rows = rows
        sort = rows.sort
        self.f, self.g = (fresh_symbol(name, sort, sort, sort) for name in "fg")

    def local(self, name: str, h: Symbol) -> Thm:
        """∀ a b c d x. a, c weigh x the same, and b, d → h(a, b), h(c, d) weigh x the same."""
        rows, x, weight = self.rows, self.rows.x, self.rows.weight
        a, b, c, d = z3.Consts("a b c d", rows.sort)
        same = z3.And(weight(a, x) == weight(c, x), weight(b, x) == weight(d, x))
        goal = weight(h(a, b), x) == weight(h(c, d), x)
        return axiom(name, z3.ForAll([a, b, c, d, x], z3.Implies(same, goal)))

    def agree(self) -> Thm:
        """What is supposed: they are equal on two tables of this one row."""
        rows, k = self.rows, z3.Const("k", self.rows.row)
        v, w = z3.Ints("v w")
        tables = one_row(rows, k, v), one_row(rows, k, w)
        name = "f and g agree where the tables have one row"
        return axiom(name, z3.ForAll([k, v, w], self.f(*tables) == self.g(*tables)))

    def everywhere(self) -> Thm:
        """∀ a b. f(a, b) = g(a, b): at x, the tables that have nothing but x decide."""
        rows, x, weight = self.rows, self.rows.x, self.rows.weight
        a, b = z3.Consts("a b", rows.sort)
        alone = [one_row(rows, x, weight(each, x)) for each in (a, b)]
        weighs = weight_of_one_row(rows)
        known = [inst(weighs, x, weight(each, x), x) for each in (a, b)]
        local = [
            inst(self.local(f"{name} is decided row by row", h), a, b, *alone, x)
            for name, h in (("f", self.f), ("g", self.g))
        ]
        same = inst(self.agree(), x, weight(a, x), weight(b, x))
        goal = weight(self.f(a, b), x) == weight(self.g(a, b), x)
        at_x = prove_for_all("f(a, b) = g(a, b), at every row", [x], goal, [*known, *local, same])
        known = [inst(rows.extensional, self.f(a, b), self.g(a, b)), at_x]
        return prove_for_all("f(a, b) = g(a, b)", [a, b], self.f(a, b) == self.g(a, b), known)


class ByGroup:
    """Functions of a table whose results in a group are those of the group's rows alone."""

    def __init__(self, rows: ZSets, results: ZSets) -> None:
        self.rows, self.results = rows, results
        self.sort = fresh_sort("groups")
        self.key = fresh_symbol("key", rows.row, self.sort)
        self.group = fresh_symbol("group", results.row, self.sort)
        self.f, self.g = (fresh_symbol(name, rows.sort, results.sort) for name in "fg")
        self.of_group = rows.comprehension(
            "rows of a group",
            [rows.sort, self.sort],
            lambda x, a, k: if_then(self.key(x) == k, rows.weight(a, x)),
            lambda a, k: rows.entries(a),
            [rows.no_weight_outside()],
        )

    def local(self, name: str, h: Symbol) -> Thm:
        """∀ a y. y weighs the same in h(a) and in h(the rows of a in y's group)."""
        rows, results, y = self.rows, self.results, self.results.x
        alone = self.of_group(rows.a, self.group(y))
        goal = results.weight(h(rows.a), y) == results.weight(h(alone), y)
        return axiom(name, z3.ForAll([rows.a, y], goal))

    def one_group(self, a: Term, k: Term) -> Formula:
        """Whether a has no rows but of this group."""
        x = z3.FreshConst(self.rows.row, "row")
        return z3.ForAll([x], z3.Or(self.key(x) == k, self.rows.weight(a, x) == 0))

    def agree(self) -> Thm:
        """What is supposed: they are equal on tables of one group."""
        a, k = self.rows.a, z3.Const("k", self.sort)
        goal = z3.Implies(self.one_group(a, k), self.f(a) == self.g(a))
        return axiom("f and g agree where the table has one group", z3.ForAll([a, k], goal))

    def everywhere(self) -> Thm:
        """∀ a. f(a) = g(a): at y, the table of y's group decides."""
        rows, results, y = self.rows, self.results, self.results.x
        a, k = rows.a, self.group(results.x)
        alone = self.of_group(a, k)
        one = prove("the rows of a group are of one", self.one_group(alone, k),
                    self.of_group.equations)  # fmt: skip
        same = prove(
            "f = g there", self.f(alone) == self.g(alone), [one, inst(self.agree(), alone, k)]
        )
        local = [
            inst(self.local(f"{name} is decided group by group", h), a, y)
            for name, h in (("f", self.f), ("g", self.g))
        ]
        goal = results.weight(self.f(a), y) == results.weight(self.g(a), y)
        at_y = prove_for_all("f(a) = g(a), at every row", [y], goal, [*local, same])
        known = [inst(results.extensional, self.f(a), self.g(a)), at_y]
        return prove_for_all("f(a) = g(a)", [a], self.f(a) == self.g(a), known)


# ---------------------------------------------------------------- by order


def weak_orders(count: int) -> list[tuple[int, ...]]:
    """Values that stand for every way to order so many, ties included.

    >>> weak_orders(2)
    [(0, 0), (0, 1), (1, 0)]
    >>> [len(weak_orders(count)) for count in (1, 2, 3, 4)]
    [1, 3, 13, 75]
    """
    ranks = product_of(range(count), repeat=count)
    return [each for each in ranks if set(each) == set(range(max(each) + 1))]


def same_order(values: Sequence[Term], others: Sequence[Any]) -> Formula:
    """Whether each two of the values compare as those of the others do."""
    places = [(i, j) for j in range(len(values)) for i in range(j)]
    return z3.And(
        *[(values[i] < values[j]) == (others[i] < others[j]) for i, j in places],
        *[(values[j] < values[i]) == (others[j] < others[i]) for i, j in places],
    )


def by_order(count: int) -> Thm:
    """∀ values. f = g, which only their order decides, and which agree on all orders."""
    v, u = ([z3.Int(f"{name}{i}") for i in range(count)] for name in ("value", "other"))
    f, g = (fresh_symbol(name, *[INT] * count, INT) for name in "fg")

    def decided(name: str, h: Symbol) -> Thm:
        goal = z3.Implies(same_order(v, u), h(*v) == h(*u))
        return axiom(f"{name} is decided by the order of the values", z3.ForAll([*v, *u], goal))

    orders = [tuple(map(z3.IntVal, each)) for each in weak_orders(count)]
    agree = axiom(
        "f and g agree on one choice of values for every order",
        z3.And(*[f(*each) == g(*each) for each in orders]),
    )
    one_of_them = prove(
        f"every {count} values are ordered in one of {len(orders)} ways",
        z3.Or(*[same_order(v, each) for each in orders]),
    )
    known = [one_of_them, agree]
    for name, h in (("f", f), ("g", g)):
        law = decided(name, h)
        known += [inst(law, *v, *each) for each in orders]
    return prove_for_all(f"f = g for {count} values", v, f(*v) == g(*v), known)


# ---------------------------------------------------------------- wrong variants

ONCE = Run(Distinct(), ("k BIGINT",))
TWICE = Run(Positive(), ("k BIGINT",))
PAIRED = Run(Join(()), ("k BIGINT", "j BIGINT"))


def agree_on_tables_without_duplicates() -> Counterexample:
    """Distinct and the positive part agree where rows weigh 0 or 1, and are not equal."""
    w = z3.Int("w")
    claim = z3.If(w > 0, z3.IntVal(1), ZERO) == z3.If(w > 0, w, ZERO)

    def replay(w: int) -> tuple[ZSet, ZSet]:
        return ONCE.over(row(w, 7)), TWICE.over(row(w, 7))

    return refute("rows that weigh 1 decide", claim, show=[w], replay=replay)


def distinct_from_single_entries() -> Counterexample:
    """Distinct and the positive part of a sum, from entries that each weigh 1: not linear."""
    v, w = z3.Ints("v w")
    sign = [z3.If(each > 0, z3.IntVal(1), ZERO) for each in (v, w, v + w)]
    claim = sign[2] == sign[0] + sign[1]

    def replay(v: int, w: int) -> tuple[ZSet, ZSet]:
        return ONCE.over(row(v + w, 7)), ONCE.over(row(v, 7)) + ONCE.over(row(w, 7))

    name = "distinct is settled entry by entry"
    return refute(name, claim, [v >= 0, w >= 0], [v, w], replay=replay)


def product_from_one_side() -> Counterexample:
    """a ⋈ b and a ⋈ (b + b) agree where b is empty, and that is not enough."""
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        left, right = row(a, 7), row(b, 8)
        return PAIRED.over(left, right), PAIRED.over(left, right + right)

    return refute("one side decides a product", a * b == a * (b + b), show=[a, b], replay=replay)


RANKED = Run(Rank("rank", "n", (), (Order(col("v")),)), ("k BIGINT, v BIGINT",))
BY_KEY = Run(Rank("rank", "n", ("k",), (Order(col("v")),)), ("k BIGINT, v BIGINT",))


def rank_over_all_groups() -> Counterexample:
    """Ranks by k and over all rows agree on tables of one k, and not on two."""
    ahead, here = z3.Ints("rows_of_another_group rows_of_this_group")

    def replay(ahead: int, here: int) -> tuple[ZSet, ZSet]:
        table = row(ahead, 1, 3) + row(here, 2, 5)
        return RANKED.over(table), BY_KEY.over(table)

    name = "what reads other groups is settled by one"
    claim = z3.If(ahead > 0, 1 + ahead, z3.IntVal(1)) == 1
    return refute(name, claim, [here > 0], [ahead, here], replay=replay)


LEAST = Run(Aggregate((), (("n", AggregateCall("min", col("v"))),)), ("v BIGINT",))
SUMMED = Run(Aggregate((), (("n", AggregateCall("sum", col("v"))),)), ("v BIGINT",))


def sum_by_order() -> Counterexample:
    """MIN and SUM of 0 and another value: SUM is not decided by the order."""
    v, w = z3.Ints("v w")
    least = z3.If(v < w, v, w)

    def replay(v: int, w: int) -> tuple[ZSet, ZSet]:
        table = row(1, v) + row(1, w)
        return LEAST.over(table), SUMMED.over(table)

    name = "MIN(v, w) = v + w, as it is where v = 0 <= w"
    return refute(name, least == v + w, [v != w], [v, w], replay=replay)


# ---------------------------------------------------------------- theorems


@theorem(
    statement="linear f, g that agree on tables of one row agree on all tables",
    source="beyond the paper: cutoffs for testing; DBSP (VLDB 2023) definition 2.12",
    wrong=(distinct_from_single_entries,),
)
def linear_cutoff() -> Thm:
    source, target = any_zsets("A"), any_zsets("B")
    f, f_linear = any_additive("f", source.group, target.group)
    g, g_linear = any_additive("g", source.group, target.group)
    agree = agree_on_one_row("f and g agree where the table has one row", source, f, g)
    return LinearPair(source, target, f, g, f_linear, g_linear, agree).everywhere()


@theorem(
    statement="bilinear f, g that agree on pairs of one row each agree on all pairs of tables",
    source="beyond the paper: cutoffs for testing; DBSP (VLDB 2023) definition 2.13",
    wrong=(product_from_one_side,),
)
def bilinear_cutoff() -> Thm:
    """First for any left table and one row on the right, then for any right table."""
    left, right, target = any_zsets("A"), any_zsets("B"), any_zsets("C")
    f, *f_linear = any_bilinear("f", left.group, right.group, target.group)
    g, *g_linear = any_bilinear("g", left.group, right.group, target.group)
    k, v, j, w = z3.Const("k", left.row), z3.Int("v"), z3.Const("j", right.row), z3.Int("w")
    one, other = one_row(left, k, v), one_row(right, j, w)
    agree = axiom(
        "f and g agree where both tables have one row",
        z3.ForAll([j, w], z3.ForAll([k, v], f(one, other) == g(one, other))),
    )
    on_the_left = LinearPair(
        left,
        target,
        lambda a: f(a, other),
        lambda a: g(a, other),
        on_one_side(f_linear[0], other, left.sort),
        on_one_side(g_linear[0], other, left.sort),
        inst(agree, j, w),
    ).everywhere()
    a = left.a
    on_the_right = LinearPair(
        right,
        target,
        lambda b: f(a, b),
        lambda b: g(a, b),
        on_one_side(f_linear[1], a, right.sort),
        on_one_side(g_linear[1], a, right.sort),
        gen(inst(on_the_left, a), j, w),
    ).everywhere()
    return gen(on_the_right, a)


@theorem(
    statement="f, g decided row by row that agree on tables of one row agree on all tables",
    source="beyond the paper: distinct and set operations, DBSP (VLDB 2023) definition 4.3",
    wrong=(agree_on_tables_without_duplicates,),
)
def pointwise_cutoff() -> Thm:
    return Pointwise(any_zsets("A")).everywhere()


@theorem(
    statement="f, g decided group by group that agree on tables of one group agree on all tables",
    source="beyond the paper: GROUP BY, partitions and join keys, DBSP (VLDB 2023) section 7.4",
    wrong=(rank_over_all_groups,),
)
def grouped_cutoff() -> Thm:
    return ByGroup(any_zsets("A"), any_zsets("B")).everywhere()


@theorem(
    statement="f, g that the order of up to 4 values decides agree, if on all 1, 3, 13, 75 orders",
    source="beyond the paper: MIN, MAX, top-k and ranks do nothing with values but compare them",
    scope="unbounded in the values; 1 to 4 of them",
    wrong=(sum_by_order,),
)
def order_cutoff() -> Thm:
    return both("by order", *map(by_order, (1, 2, 3, 4)))
