"""A sum over a table does not depend on how the table is presented, and it is linear.

Give each row k a Z-set image(k), as a list of entries. The *linear map* with these images sends
a table to the sum of weight(k) · image(k) over its rows. Map, flat map and the sums behind
COUNT, SUM and AVG are linear maps: map has the image [(f(k), 1)], the sum per group has
[(key(k), value(k))].

That the sum is the same for every list that presents the table is not obvious when the list
has any length: it is the main lemma here, by induction on the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    FunctionSpace,
    Term,
    Thm,
    both,
    define,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
    wf_induct,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, any_zsets

PAIRED = Run(Join(()), ("k BIGINT", "j BIGINT"))
SMALLEST = Run(Aggregate((), (("least", AggregateCall("min", col("v"))),)), ("v BIGINT",))


class LinearMaps:
    """All linear maps from Z[A] to Z[B], each given by the images of single rows."""

    def __init__(self, source: ZSets, target: ZSets) -> None:
        self.source, self.target = source, target
        self.images = FunctionSpace(
            f"images of {source.name} in {target.name}", source.row, target.lists.sort
        )
        self.f = z3.Const("f", self.images.sort)
        self.y = z3.Const("y", target.row)
        self._define()
        self._prove()

    def _define(self) -> None:
        source, target, images = self.source.lists, self.target.lists, self.images
        self.scale = recursive(
            "scale",
            target.sort,
            [INT],
            target.sort,
            (
                lambda recur, n: target.none,
                lambda recur, k, w, rest, n: target.entry(k, n * w, recur(rest, n)),
            ),
        )
        self.apply_entries = recursive(
            "sum of images",
            source.sort,
            [images.sort],
            target.sort,
            (
                lambda recur, f: target.none,
                lambda recur, k, w, rest, f: target.join(
                    self.scale(images.at(f, k), w), recur(rest, f)
                ),
            ),
        )
        self.apply = define(
            "apply",
            [images.sort, self.source.sort],
            self.target.sort,
            lambda f, a: self.target.zset(self.apply_entries(self.source.entries(a), f)),
        )
        self.part = define(
            "part",
            [images.sort, source.row, INT, target.row],
            INT,
            lambda f, k, w, y: w * target.W(images.at(f, k), y),
        )
        self.without = recursive(
            "without",
            source.sort,
            [source.row],
            source.sort,
            (
                lambda recur, x: source.none,
                lambda recur, k, w, rest, x: z3.If(
                    k == x, recur(rest, x), source.entry(k, w, recur(rest, x))
                ),
            ),
        )
        self.length = recursive(
            "length",
            source.sort,
            [],
            INT,
            (lambda recur: ZERO, lambda recur, k, w, rest: 1 + recur(rest)),
        )

    def total(self, entries: Term) -> Term:
        """S: what row y weighs in the sum of the images f, for an arbitrary f and y."""
        return self.target.lists.W(self.apply_entries(entries, self.f), self.y)

    def total_of(self, entries: Term, images: Term, row: Term) -> Term:
        """S for these images, at this row."""
        return self.target.lists.W(self.apply_entries(entries, images), row)

    def totals_for(self, images: Term, row: Term) -> tuple[Thm, ...]:
        """The two equations of `totals`, for these images at this row."""
        return tuple(inst(gen(each, self.f, self.y), images, row) for each in self.totals)

    def contribution(self, row: Term, weight: Term) -> Term:
        """What a row of this weight adds to y."""
        return self.part(self.f, row, weight, self.y)

    def _prove(self) -> None:
        self.totals = self._totals()
        self.total_joined = self._total_joined()
        self.total_minus = self._total_minus()
        self.split = self._split()
        self.removed, self.lengths = self._removed(), self._lengths()
        self.nothing = self._nothing()
        self.same = self._same()
        self.linear = self._linear()

    def _totals(self) -> tuple[Thm, Thm]:
        """S(none) = 0 and S(entry(k, w, rest)) = contribution(k, w) + S(rest)."""
        source, target, f, y = self.source.lists, self.target.lists, self.f, self.y
        n = z3.Int("n")

        def scaled_entry(case: Case) -> list[Thm]:
            """Without the lists around it, that a product distributes is quickly seen."""
            if not case.arguments:
                return []
            k, w, rest = case.arguments
            here, others = target.W(case.term, y), target.W(rest, y)
            goal = n * here == z3.If(k == y, n * w, ZERO) + n * others
            return [prove("n (w + v) = n w + n v", goal, [target.W.unfold(case.term, y)])]

        scaled = induct(
            "W(scale(l, n), y) = n W(l, y)",
            target.sort,
            lambda es: target.W(self.scale(es, n), y) == n * target.W(es, y),
            [*target.W.equations, *self.scale.equations],
            scaled_entry,
        )
        k, w, rest = z3.Const("k", source.row), z3.Int("w"), z3.Const("rest", source.sort)
        entry = source.entry(k, w, rest)
        empty = prove(
            "S(none) = 0",
            self.total(source.none) == 0,
            [self.apply_entries.unfold(source.none, f), *target.W.equations],
        )
        image, others = self.scale(self.images.at(f, k), w), self.apply_entries(rest, f)
        known = [
            self.apply_entries.unfold(entry, f),
            inst(self.target.joined, image, others, y),
            inst(gen(scaled, n), w, self.images.at(f, k)),
            self.part.unfold(f, k, w, y),
        ]
        goal = self.total(entry) == self.contribution(k, w) + self.total(rest)
        step = prove("S(entry(k, w, rest)) = contribution(k, w) + S(rest)", goal, known)
        return empty, gen(step, k, w, rest, patterns=[self.total(entry)])

    def plus(self, row: Term, one: Term, other: Term) -> Thm:
        """The contribution of a row is linear in its weight, here at these weights."""
        goal = self.contribution(row, one + other) == self.contribution(
            row, one
        ) + self.contribution(row, other)
        parts = [self.part.unfold(self.f, row, w, self.y) for w in (one, other, one + other)]
        return prove(
            "contribution(k, w + v) = contribution(k, w) + contribution(k, v)", goal, parts
        )

    def no_weight(self) -> Thm:
        """∀ k. contribution(k, 0) = 0."""
        k = z3.Const("k", self.source.row)
        none = self.contribution(k, ZERO)
        unfolded = [self.part.unfold(self.f, k, ZERO, self.y)]
        return prove_for_all("contribution(k, 0) = 0", [k], none == 0, unfolded, patterns=[none])

    def _total_joined(self) -> Thm:
        lists = self.source.lists
        m = lists.m
        return induct(
            "S(l ++ m) = S(l) + S(m)",
            lists.sort,
            lambda es: self.total(lists.join(es, m)) == self.total(es) + self.total(m),
            [*self.totals, *lists.join.equations],
        )

    def _total_minus(self) -> Thm:
        lists = self.source.lists

        def opposite(case: Case) -> list[Thm]:
            if not case.arguments:
                return []
            k, w, _ = case.arguments
            return [self.plus(k, w, -w), self.no_weight()]

        return induct(
            "S(-l) = -S(l)",
            lists.sort,
            lambda es: self.total(lists.minus(es)) == -self.total(es),
            [*self.totals, *lists.minus.equations],
            opposite,
        )

    def _split(self) -> Thm:
        """∀ l x. S(l) = contribution(x, W(l, x)) + S(l without x)."""
        lists, x = self.source.lists, self.source.lists.x

        def claim(entries: Term) -> Term:
            here = self.contribution(x, lists.W(entries, x))
            total = here + self.total(self.without(entries, x))
            return z3.ForAll([x], self.total(entries) == total, patterns=[self.without(entries, x)])

        def facts(case: Case) -> list[Thm]:
            if not case.arguments:
                return [self.no_weight()]
            _, w, rest = case.arguments
            weight = lists.W(rest, x)
            return [gen(self.plus(x, w, weight), x, patterns=[weight])]

        by = [*self.totals, *lists.W.equations, *self.without.equations]
        return induct(
            "S(l) = contribution(x, W(l, x)) + S(l without x)", lists.sort, claim, by, facts
        )

    def _nothing(self) -> Thm:
        """∀ l. (∀ x. contribution(x, W(l, x)) = 0) → S(l) = 0, by induction on the length."""
        lists, x = self.source.lists, self.source.lists.x

        def claim(entries: Term) -> Term:
            weight = lists.W(entries, x)
            none = z3.ForAll([x], self.contribution(x, weight) == 0, patterns=[weight])
            return z3.Implies(none, self.total(entries) == 0)

        return self.by_removing_a_row(
            "nothing contributes → S(l) = 0", claim, [*self.totals, self.no_weight()]
        )

    def by_removing_a_row(
        self, name: str, claim: Callable[[Term], Formula], by: Sequence[Thm]
    ) -> Thm:
        """∀ l. claim(l), where the claim for l without the row of its first entry may be used."""

        def first_row(case: Case) -> Sequence[Term]:
            return [self.without(case.term, k) for k in case.arguments[:1]]

        def facts(case: Case) -> list[Thm]:
            return self.without_first(case) if case.arguments else []

        return wf_induct(name, self.source.lists.sort, claim, first_row, self.length, by, facts)

    def without_first(self, case: Case) -> list[Thm]:
        """What is known of a list without the row of its first entry."""
        k, _, rest = case.arguments
        return [
            inst(self.split, case.term, k),
            inst(self.lengths, rest, k),
            self.without.unfold(case.term, k),
            self.length.unfold(case.term),
            self.removed_at(case.term, k),
        ]

    def _removed(self) -> Thm:
        """∀ l x y. W(l without x, y) = 0 if y is x, else W(l, y)."""
        lists, x = self.source.lists, self.source.lists.x

        def claim(entries: Term) -> Term:
            y = z3.Const("y", lists.row)
            left = lists.W(self.without(entries, x), y)
            right = z3.If(x == y, ZERO, lists.W(entries, y))
            return z3.ForAll([x, y], left == right, patterns=[left])

        by = [*lists.W.equations, *self.without.equations]
        return induct("W(l without x, y)", lists.sort, claim, by)

    def _lengths(self) -> Thm:
        """∀ l x. 0 <= length(l without x) <= length(l)."""
        lists, x = self.source.lists, self.source.lists.x

        def claim(entries: Term) -> Term:
            length = self.length(self.without(entries, x))
            return z3.ForAll([x], z3.And(length >= 0, length <= self.length(entries)))

        by = [*self.without.equations, *self.length.equations]
        return induct("length(l without x) <= length(l)", lists.sort, claim, by)

    def removed_at(self, entries: Term, row: Term) -> Thm:
        """∀ y. W(entries without row, y) = 0 if y is the row, else W(entries, y)."""
        lists = self.source.lists
        y = z3.Const("y", lists.row)
        left = lists.W(self.without(entries, row), y)
        goal = left == z3.If(row == y, ZERO, lists.W(entries, y))
        return prove_for_all("W(l without k, y)", [y], goal, [self.removed], patterns=[left])

    def _same(self) -> Thm:
        """∀ l m. (∀ x. W(l, x) = W(m, x)) → S(l) = S(m)."""
        lists, x, m = self.source.lists, self.source.lists.x, self.source.lists.m
        es = z3.Const("l", lists.sort)
        equal = z3.ForAll([x], lists.W(es, x) == lists.W(m, x), patterns=[lists.W(es, x)])
        difference = lists.join(es, lists.minus(m))
        zero = prove(
            "W(l ++ -m, x) = 0",
            z3.ForAll([x], self.contribution(x, lists.W(difference, x)) == 0),
            [self.source.joined, self.source.negated, self.no_weight()],
            given=[equal],
        )
        known = [
            zero,
            inst(self.nothing, difference),
            inst(gen(self.total_joined, m), lists.minus(m), es),
            inst(self.total_minus, m),
        ]
        goal = self.total(es) == self.total(m)
        same = prove("S depends on the weights only", goal, known, [equal])
        return gen(same, es, m)

    def _linear(self) -> Thm:
        """∀ f a b. apply(f, a + b) = apply(f, a) + apply(f, b)."""
        source, target, f = self.source, self.target, self.f
        a, b, x = source.a, source.b, source.x
        added = source.add(a, b)
        joined = source.lists.join(source.entries(a), source.entries(b))
        weight = source.lists.W
        presented = prove_for_all(
            "entries of a + b weigh as those of a ++ those of b",
            [x],
            weight(source.entries(added), x) == weight(joined, x),
            [source.add.unfold(a, b), source.presented],
        )
        total = prove(
            "S(entries of a + b) = S(entries of a) + S(entries of b)",
            self.total(source.entries(added))
            == self.total(source.entries(a)) + self.total(source.entries(b)),
            [
                presented,
                inst(self.same, source.entries(added), joined),
                inst(gen(self.total_joined, source.lists.m), source.entries(b), source.entries(a)),
            ],
        )
        everywhere = gen(total, self.y)
        return target.equal(
            "apply(f, a + b) = apply(f, a) + apply(f, b)",
            self.apply(f, added),
            target.add(self.apply(f, a), self.apply(f, b)),
            [f, a, b],
            [everywhere, *self._applied(added, a, b)],
        )

    def _applied(self, *zsets: Term) -> list[Thm]:
        """weight(apply(f, a), y) = S(entries of a), for each of these Z-sets."""
        target, f, y = self.target, self.f, self.y
        proofs = []
        for a in zsets:
            image = self.apply(f, a)
            known = [
                target.weight.unfold(image, y),
                self.apply.unfold(f, a),
                inst(target.presented, self.apply_entries(self.source.entries(a), f), y),
            ]
            goal = target.weight(image, y) == self.total(self.source.entries(a))
            applied = prove("weight(apply(f, a), y) = S(entries of a)", goal, known)
            proofs.append(gen(applied, y, patterns=[target.weight(image, y)]))
        return proofs

    def applied(self, images: Term, a: Term, y: Term) -> Thm:
        """weight(apply(images, a), y) = the sum over the entries of a, at one row y."""
        (proof,) = self._applied(self.source.a)
        return inst(gen(gen(proof, self.source.a), self.f), images, a, y)

    def with_images(self, images: Term) -> Callable[[Term], Term]:
        """The linear map with these images."""
        return lambda a: self.apply(images, a)

    def linear_for(self, images: Term) -> Thm:
        """∀ a b. apply(images, a + b) = apply(images, a) + apply(images, b)."""
        a, b = self.source.a, self.source.b
        return gen(inst(self.linear, images, a, b), a, b)


@cache
def linear_maps(source: ZSets, target: ZSets) -> LinearMaps:
    return LinearMaps(source, target)


class ComposedMaps:
    """Linear maps of linear maps: A → B → C is the linear map with the images of images."""

    def __init__(self, first: LinearMaps, second: LinearMaps, whole: LinearMaps) -> None:
        self.first, self.second, self.whole = first, second, whole
        self.of = whole.images.define(
            "images of images",
            [first.images.sort, second.images.sort],
            lambda k, f, g: second.apply_entries(first.images.at(f, k), g),
        )

    def theorem(self) -> Thm:
        """∀ f g a. apply(g, apply(f, a)) = apply(images of images, a)."""
        first, second, whole = self.first, self.second, self.whole
        f, g, y, a = first.f, z3.Const("g", second.images.sort), whole.y, first.source.a
        both_images = self.of(f, g)
        inner, outer = first.apply(f, a), first.source.entries(a)
        listed = first.apply_entries(outer, f)
        known = [
            second.applied(g, inner, y),
            whole.applied(both_images, a, y),
            inst(self._same_totals(), f, g, y, outer),
            self._presented(inner, listed, f, a, g, y),
        ]
        target = whole.target
        goal = target.weight(second.apply(g, inner), y) == target.weight(
            whole.apply(both_images, a), y
        )
        everywhere = prove_for_all("at every row", [y], goal, known)
        left, right = second.apply(g, inner), whole.apply(both_images, a)
        same = prove(
            "apply(g, apply(f, a)) = apply(images of images, a)",
            left == right,
            [inst(target.extensional, left, right), everywhere],
        )
        return gen(same, f, g, a)

    def _presented(self, inner: Term, listed: Term, f: Term, a: Term, g: Term, y: Term) -> Thm:
        """The sum over apply(f, a) is that over the list which presents it."""
        first, second = self.first, self.second
        middle = first.target
        x = second.source.lists.x
        entries = middle.entries(inner)
        weights = prove_for_all(
            "the entries of apply(f, a) weigh what its list does",
            [x],
            middle.lists.W(entries, x) == middle.lists.W(listed, x),
            [first.apply.unfold(f, a), middle.presented],
            patterns=[middle.lists.W(entries, x)],
        )
        same = inst(gen(second.same, second.f, second.y), g, y)
        goal = second.total_of(entries, g, y) == second.total_of(listed, g, y)
        return prove("the same sum", goal, [inst(same, entries, listed), weights])

    def _same_totals(self) -> Thm:
        """∀ f g y l. S(sum of the images f over l, g) = S(l, images of images), at row y."""
        first, second, whole = self.first, self.second, self.whole
        f, g, y = first.f, z3.Const("g", second.images.sort), whole.y
        composed = self.of(f, g)
        scaled = self._scaled()

        def total(entries: Term) -> Term:
            return second.total_of(first.apply_entries(entries, f), g, y)

        def claim(entries: Term) -> Formula:
            return total(entries) == whole.total_of(entries, composed, y)

        def facts(case: Case) -> list[Thm]:
            if not case.arguments:
                empty = first.apply_entries.unfold(case.term, f)
                return [empty, *second.totals_for(g, y)[:1], *whole.totals_for(composed, y)[:1]]
            k, w, rest = case.arguments
            image = first.images.at(f, k)
            piece = first.scale(image, w)
            joined = inst(
                gen(gen(second.total_joined, second.source.lists.m), second.f, second.y),
                g, y, first.apply_entries(rest, f), piece,
            )  # fmt: skip
            return [
                first.apply_entries.unfold(case.term, f),
                joined,
                inst(scaled, g, y, w, image),
                inst(whole.totals_for(composed, y)[1], k, w, rest),
                whole.part.unfold(composed, k, w, y),
                self.of.unfold(k, f, g),
            ]

        return gen(
            induct("the same sum of images", first.source.lists.sort, claim, (), facts), f, g, y
        )

    def _scaled(self) -> Thm:
        """∀ g y n l. S(scale(l, n)) = n S(l)."""
        first, second = self.first, self.second
        lists, n = second.source.lists, z3.Int("n")
        scale = first.scale

        def claim(entries: Term) -> Formula:
            return second.total(scale(entries, n)) == n * second.total(entries)

        def facts(case: Case) -> list[Thm]:
            if not case.arguments:
                return [second.totals[0], scale.unfold(case.term, n)]
            k, w, rest = case.arguments
            times = prove(
                "contribution(k, n w) = n contribution(k, w)",
                second.contribution(k, n * w) == n * second.contribution(k, w),
                [second.part.unfold(second.f, k, v, second.y) for v in (w, n * w)],
            )
            return [
                scale.unfold(case.term, n),
                inst(second.totals[1], k, w, rest),
                inst(second.totals[1], k, n * w, scale(rest, n)),
                times,
            ]

        return gen(
            induct("S(scale(l, n)) = n S(l)", lists.sort, claim, (), facts), second.f, second.y, n
        )


def sum_of_squares() -> Counterexample:
    """A sum that squares each entry's weight depends on how the table is presented."""
    w, v = z3.Ints("w v")
    claim = (w + v) * (w + v) == w * w + v * v

    def replay(w: int, v: int) -> tuple[ZSet, ZSet]:
        """A row joined with itself weighs the square of its weight."""
        one, other, whole = (PAIRED.over(row(each, 7), row(each, 7)) for each in (w, v, w + v))
        return whole, one + other

    name = "one entry of weight w + v = two entries of w and v, with w * w"
    return refute(name, claim, show=[w, v], replay=replay)


def smallest_value() -> Counterexample:
    a, b = z3.Ints("a b")
    claim = z3.If(a < b, a, b) == a + b

    def replay(a: int, b: int) -> tuple[int, int]:
        one, other, both_rows = (
            next(iter(SMALLEST.over(each)))[0]
            for each in (row(1, a), row(1, b), row(1, a) + row(1, b))
        )
        return both_rows, one + other

    return refute("MIN(a + b) = MIN(a) + MIN(b)", claim, show=[a, b], replay=replay)


@theorem(
    statement="the sum of weight(k) image(k) over a table of any size is well defined and linear",
    source="DBSP (VLDB 2023) section 7.2",
    lean="general_sum_linear",
    wrong=(sum_of_squares, smallest_value),
)
def sum_linear_extension() -> Thm:
    """Z[A] is the free abelian group on A: any images of single rows extend to a linear map."""
    maps = linear_maps(any_zsets("A"), any_zsets("B"))
    return both("linear extension", gen(maps.same, maps.f, maps.y), maps.linear)
