"""A sum of contributions that are not below zero is above zero exactly when one of them is.

The sum is that of a linear map (see `sums`), over a table of any size. So what projections,
maps and flat maps make of a bag is a bag, and a row is in it exactly when a row of the input
puts it there: that is all that distinct asks, so it need not be asked below a projection.

    S(l) >= 0     every contribution >= 0
    S(l) = 0      every contribution = 0      (in `sums`)
    S(l) > 0      every contribution >= 0, and some contribution > 0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import present
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Formula,
    Symbol,
    Term,
    Thm,
    both,
    fresh_symbol,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.distinct import ONE, distinct_of
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.sums import LinearMaps, linear_maps
from deltaproof.theorems.tables.zsets import ZSets, any_zsets, if_then

PROJECTED = Run(Map((("k", col("k")),)), ("k BIGINT, v BIGINT",))
ONCE = Run(Distinct(), ("k BIGINT",))
ONCE_OF_TWO = Run(Distinct(), ("k BIGINT, v BIGINT",))


def is_positive(rows: ZSets, a: Term) -> Formula:
    """ispositive(a): no row weighs less than nothing."""
    x = z3.FreshConst(rows.row, "x")
    return z3.ForAll([x], rows.weight(a, x) >= 0, patterns=[rows.weight(a, x)])


def signs_of_products() -> Thm:
    """∀ n m >= 0. n m >= 0, and n m > 0 exactly when n > 0 and m > 0; and 0 m = 0."""
    n, m = z3.Ints("n m")
    goal = z3.And(n * m >= 0, (n * m > 0) == z3.And(n > 0, m > 0))
    return prove_for_all("signs of products", [n, m], goal, given=[n >= 0, m >= 0])


# ---------------------------------------------------------------- the lemma, on lists of entries


class Signs:
    """What the sign of a sum says of the signs of its contributions."""

    def __init__(self, maps: LinearMaps) -> None:
        self.maps = maps
        self.nonnegative = self._nonnegative()
        self.positive = self._positive()

    def contribution(self, entries: Term, x: Term) -> Term:
        return self.maps.contribution(x, self.maps.source.lists.W(entries, x))

    def none_below(self, entries: Term) -> Formula:
        """Every contribution is at least zero."""
        x = z3.FreshConst(self.maps.source.row, "x")
        weight = self.maps.source.lists.W(entries, x)
        return z3.ForAll([x], self.contribution(entries, x) >= 0, patterns=[weight])

    def _nonnegative(self) -> Thm:
        """∀ l. (∀ x. contribution(x, W(l, x)) >= 0) → S(l) >= 0, by induction on the length."""
        maps = self.maps

        def claim(entries: Term) -> Formula:
            return z3.Implies(self.none_below(entries), maps.total(entries) >= 0)

        return maps.by_removing_a_row(
            "no contribution below zero → S(l) >= 0", claim, [*maps.totals, maps.no_weight()]
        )

    def _positive(self) -> Thm:
        """∀ l x. (∀ y. contribution(y, W(l, y)) >= 0) ∧ contribution(x, W(l, x)) > 0 → S(l) > 0."""
        maps, lists = self.maps, self.maps.source.lists
        x, es = lists.x, z3.Const("l", lists.sort)
        rest = maps.without(es, x)
        known = [
            inst(maps.split, es, x),
            inst(self.nonnegative, rest),
            maps.removed_at(es, x),
            maps.no_weight(),
        ]
        given = [self.none_below(es), self.contribution(es, x) > 0]
        return prove_for_all("S(l) > 0", [es, x], maps.total(es) > 0, known, given)


# ---------------------------------------------------------------- the lemma, on Z-sets


class PositiveMaps:
    """Linear maps with images that weigh nothing below zero: maps, projections, flat maps."""

    def __init__(self, maps: LinearMaps) -> None:
        self.maps, self.signs = maps, Signs(maps)
        self.reached = self._reached()

    def images_positive(self, images: Term) -> Formula:
        """Every image is a bag."""
        maps = self.maps
        k, y = z3.FreshConst(maps.source.row, "k"), z3.FreshConst(maps.target.row, "y")
        weight = maps.target.lists.W(maps.images.at(images, k), y)
        return z3.ForAll([k, y], weight >= 0, patterns=[weight])

    def from_row(self, images: Term, a: Term, y: Term) -> Formula:
        """Some row of a is there, and y is there in its image."""
        maps = self.maps
        x = z3.FreshConst(maps.source.row, "x")
        image = maps.target.lists.W(maps.images.at(images, x), y)
        return z3.Exists([x], z3.And(maps.source.weight(a, x) > 0, image > 0))

    def _contributions(self, a: Term) -> Thm:
        """∀ x. the contribution of row x of a, as the product of two weights with its sign."""
        maps = self.maps
        source, target, f, y, x = maps.source, maps.target, maps.f, maps.y, maps.source.lists.x
        weight, listed = source.weight(a, x), source.lists.W(source.entries(a), x)
        image = target.lists.W(maps.images.at(f, x), y)
        here = maps.contribution(x, listed)
        both_there = (here > 0) == z3.And(weight > 0, image > 0)
        known = [
            maps.part.unfold(f, x, listed, y),
            source.weight.unfold(a, x),
            inst(signs_of_products(), weight, image),
        ]
        goal = z3.And(here == weight * image, here >= 0, both_there)
        given = [weight >= 0, image >= 0]
        name = "a contribution is the product of two weights"
        return prove_for_all(name, [x], goal, known, given, patterns=[listed])

    def _reached(self) -> Thm:
        """∀ f a y. f(k) >= 0 ∧ a >= 0 → f(a)[y] >= 0 ∧ (f(a)[y] > 0 ⟺ some row of a has y)."""
        maps, f, y, a = self.maps, self.maps.f, self.maps.y, self.maps.source.a
        listed, weight = maps.source.entries(a), maps.target.weight(maps.apply(f, a), y)
        bags = [self.images_positive(f), is_positive(maps.source, a)]
        contributions = self._contributions(a)
        none_below = prove(
            "no contribution below zero", self.signs.none_below(listed), [contributions], bags
        )
        x = maps.source.lists.x
        one = prove_for_all(
            "a row that is there makes the sum positive",
            [x],
            maps.total(listed) > 0,
            [contributions, none_below, inst(self.signs.positive, listed, x)],
            [*bags, self.signs.contribution(listed, x) > 0],
        )
        known = [
            contributions,
            one,
            none_below,
            inst(self.signs.nonnegative, listed),
            inst(maps.nothing, listed),
            maps.applied(f, a, y),
        ]
        goal = z3.And(weight >= 0, (weight > 0) == self.from_row(f, a, y))
        return prove_for_all("what a bag is mapped to", [f, a, y], goal, known, bags)

    @cached_property
    def once(self) -> Thm:
        """∀ f a. f(k) >= 0 ∧ a >= 0 → distinct(f(distinct(a))) = distinct(f(a))."""
        maps, f, a = self.maps, self.maps.f, self.maps.source.a
        inner, outer = distinct_of(maps.source), distinct_of(maps.target)
        set_of_a = inner(a)
        y = maps.target.x
        bags = [self.images_positive(f), is_positive(maps.source, a)]
        positive_too = prove(
            "distinct(a) is positive", is_positive(maps.source, set_of_a), inner.equations
        )
        same = prove_for_all(
            "the same rows are reached",
            [y],
            (maps.target.weight(maps.apply(f, set_of_a), y) > 0)
            == (maps.target.weight(maps.apply(f, a), y) > 0),
            [
                positive_too,
                *inner.equations,
                inst(self.reached, f, set_of_a, y),
                inst(self.reached, f, a, y),
            ],
            bags,
        )
        once = maps.target.equal(
            "distinct(f(distinct(a))) = distinct(f(a))",
            outer(maps.apply(f, set_of_a)),
            outer(maps.apply(f, a)),
            [],
            [*outer.equations, same],
            bags,
        )
        return gen(once, f, a)


@cache
def positive_maps(source: ZSets, target: ZSets) -> PositiveMaps:
    return PositiveMaps(linear_maps(source, target))


@dataclass(frozen=True, eq=False)
class AnyMap:
    """map(f) for an arbitrary function f of the row: its image of a row is one row."""

    positive: PositiveMaps
    f: Symbol
    images: Definition
    weights: Thm  # ∀ k y. W(image(k), y) = [f(k) = y]

    def of(self, a: Term) -> Term:
        return self.positive.maps.apply(self.images(), a)

    def reached(self, a: Term, y: Term) -> Thm:
        """a >= 0 → map(a)[y] >= 0 ∧ (map(a)[y] > 0 ⟺ some row x of a has f(x) = y)."""
        positive, maps = self.positive, self.positive.maps
        images = prove("images of one row", positive.images_positive(self.images()), [self.weights])
        x, weight = z3.FreshConst(maps.source.row, "x"), maps.target.weight(self.of(a), y)
        some = z3.Exists([x], z3.And(maps.source.weight(a, x) > 0, self.f(x) == y))
        return prove(
            "what a bag is mapped to",
            z3.And(weight >= 0, (weight > 0) == some),
            [images, self.weights, inst(positive.reached, self.images(), a, y)],
            [is_positive(maps.source, a)],
        )

    def once(self) -> Thm:
        """∀ a. a >= 0 → distinct(map(distinct(a))) = distinct(map(a))."""
        positive = self.positive
        source, target = positive.maps.source, positive.maps.target
        a = source.a
        images = prove("images of one row", positive.images_positive(self.images()), [self.weights])
        inner, outer = distinct_of(source), distinct_of(target)
        goal = outer(self.of(inner(a))) == outer(self.of(a))
        known = [images, inst(positive.once, self.images(), a)]
        name = "distinct(map(distinct(a))) = distinct(map(a))"
        return prove_for_all(name, [a], goal, known, [is_positive(source, a)])

    def one_to_one(self) -> Formula:
        """No two rows have one image: a renaming, or a map that keeps a key."""
        k, m = (z3.FreshConst(self.positive.maps.source.row, name) for name in "km")
        return z3.ForAll([k, m], z3.Implies(self.f(k) == self.f(m), k == m))

    def contributions(self, weight: Callable[[Term], Term], y: Term) -> Thm:
        """∀ k. what k adds to y: its weight if f(k) = y, else nothing."""
        maps = self.positive.maps
        k = z3.FreshConst(maps.source.row, "k")
        part = maps.part(self.images(), k, weight(k), y)
        known = [maps.part.unfold(self.images(), k, weight(k), y), self.weights]
        goal = part == if_then(self.f(k) == y, weight(k))
        return prove_for_all("what a row adds", [k], goal, known, patterns=[part])

    def weight_kept(self, a: Term, x: Term) -> Thm:
        """f is one to one → map(a)[f(x)] = a[x]: the rows but x add nothing to f(x)."""
        maps, image, y = self.positive.maps, self.images(), self.f(x)
        lists, listed = maps.source.lists, maps.source.entries(a)
        others = maps.without(listed, x)
        laws = (maps.split, maps.nothing)
        split, nothing = (inst(gen(each, maps.f, maps.y), image, y) for each in laws)
        known = [
            inst(split, listed, x),
            inst(nothing, others),
            maps.removed_at(listed, x),
            self.contributions(lambda k: lists.W(others, k), y),
            self.contributions(lambda k: lists.W(listed, k), y),
            maps.applied(image, a, y),
            maps.source.weight.unfold(a, x),
        ]
        goal = maps.target.weight(self.of(a), y) == maps.source.weight(a, x)
        return prove("map(a)[f(x)] = a[x]", goal, known, [self.one_to_one()])

    def no_preimage(self, a: Term, y: Term) -> Thm:
        """No row becomes y → map(a)[y] = 0."""
        maps = self.positive.maps
        x, listed = z3.FreshConst(maps.source.row, "x"), maps.source.entries(a)
        known = [
            inst(gen(maps.nothing, maps.f, maps.y), self.images(), y, listed),
            self.contributions(lambda k: maps.source.lists.W(listed, k), y),
            maps.applied(self.images(), a, y),
        ]
        given = [z3.ForAll([x], self.f(x) != y)]
        return prove("no row becomes y", maps.target.weight(self.of(a), y) == 0, known, given)

    def commutes(self) -> Thm:
        """∀ a. f is one to one → distinct(map(a)) = map(distinct(a))."""
        source, target = self.positive.maps.source, self.positive.maps.target
        inner, outer = distinct_of(source), distinct_of(target)
        a, x, y = source.a, source.x, z3.FreshConst(target.row, "y")
        rows = (a, inner(a))
        kept = [gen(self.weight_kept(each, x), x, patterns=[self.f(x)]) for each in rows]
        absent = [gen(self.no_preimage(each, y), y) for each in rows]
        return target.equal(
            "distinct(map(a)) = map(distinct(a))",
            outer(self.of(a)),
            self.of(inner(a)),
            [a],
            [*kept, *absent, *inner.equations, *outer.equations],
            [self.one_to_one()],
        )


@cache
def any_map() -> AnyMap:
    source, target = any_zsets("A"), any_zsets("B")
    positive, lists = positive_maps(source, target), target.lists
    maps = positive.maps
    f = fresh_symbol("f", source.row, target.row)
    images = maps.images.define("row of f", [], lambda k: lists.entry(f(k), ONE, lists.none))
    k, y = z3.Const("k", source.row), z3.Const("y", target.row)
    weight = lists.W(maps.images.at(images(), k), y)
    known = [images.unfold(k), *lists.W.equations]
    goal = weight == if_then(f(k) == y, ONE)
    weights = prove_for_all("an image is one row", [k, y], goal, known, patterns=[weight])
    return AnyMap(positive, f, images, weights)


# ---------------------------------------------------------------- theorems


def sum_that_cancels() -> Counterexample:
    """Without positivity two rows with one image may leave nothing of it."""
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        table = row(a, 7, 1) + row(b, 7, 2)
        return ONCE.over(PROJECTED.over(table)), ONCE.over(PROJECTED.over(ONCE_OF_TWO.over(table)))

    name = "one positive contribution makes the sum positive, whatever the others are"
    return refute(name, a + b > 0, [a > 0], [a, b], replay=replay)


def sum_of_signs() -> Counterexample:
    """The sum counts, and the number of rows that reach y is not its sign."""
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        table = row(a, 7, 1) + row(b, 7, 2)
        return PROJECTED.over(table), ONCE.over(PROJECTED.over(table))

    claim = a + b == present(a + b)
    return refute(
        "a projected bag has weights 0 and 1", claim, [a > 0, b > 0], [a, b], replay=replay
    )


@theorem(
    statement="no contribution below 0: the sum is >= 0, and > 0 exactly if a contribution is > 0",
    source="DBSP (VLDB 2023) table 1: ispositive of projection; proposition 4.5 rests on it",
    lean="map_at_nonneg, map_at_pos",
    wrong=(sum_that_cancels, sum_of_signs),
)
def sum_positive() -> Thm:
    """For tables of any size, and any images that are bags: what a flat map puts into them."""
    positive = positive_maps(any_zsets("A"), any_zsets("B"))
    maps, signs = positive.maps, positive.signs
    lemmas = (maps.nothing, signs.nonnegative, signs.positive)
    return both(
        "the sign of a sum", *[gen(each, maps.f, maps.y) for each in lemmas], positive.reached
    )


def once_over_a_change() -> Counterexample:
    """distinct below a projection is needed where weights may be below zero: on a change."""
    a, b = z3.Ints("a b")
    claim = present(present(a) + present(b)) == present(a + b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        table = row(a, 7, 1) + row(b, 7, 2)
        return ONCE.over(PROJECTED.over(ONCE_OF_TWO.over(table))), ONCE.over(PROJECTED.over(table))

    name = "distinct(map(distinct(a))) = distinct(map(a)) for every a"
    return refute(name, claim, show=[a, b], replay=replay)


def once_before_the_projection() -> Counterexample:
    """4.4 for a projection: the set of rows is projected onto a bag."""
    a, b = z3.Ints("a b")
    claim = present(a) + present(b) == present(a + b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        table = row(a, 7, 1) + row(b, 7, 2)
        return PROJECTED.over(ONCE_OF_TWO.over(table)), ONCE.over(PROJECTED.over(table))

    name = "map(distinct(a)) = distinct(map(a))"
    return refute(name, claim, [a >= 0, b >= 0], [a, b], replay=replay)


@theorem(
    statement="ispositive(a): distinct(f(distinct(a))) = distinct(f(a)), f a map or a flat map",
    source="DBSP (VLDB 2023) proposition 4.5 (projection, map)",
    lean="map_distinct_dedup",
    wrong=(once_over_a_change, once_before_the_projection),
)
def distinct_once_map() -> Thm:
    """Both sides have the rows that some row of a reaches; a flat map's images must be bags."""
    positive = positive_maps(any_zsets("A"), any_zsets("B"))
    return both("distinct once, after a map", positive.once, any_map().once())


@theorem(
    statement="f one to one: distinct(map(f, a)) = map(f, distinct(a)), for every Z-set a",
    source="beyond the paper: Lean has it for bags; DBSP (VLDB 2023) proposition 4.4 for a map",
    lean="map_inj_distinct_comm",
    wrong=(once_before_the_projection,),
)
def distinct_commutes_renaming() -> Thm:
    """Renaming columns, and a projection that keeps a key: over weights of any sign."""
    return both("distinct may wait for a renaming", any_map().commutes())
