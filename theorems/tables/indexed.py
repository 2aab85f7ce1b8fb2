"""Grouping is linear, and so is an aggregate per group of which each part is; a count tells empty.

    G(a)[k]     the rows of a whose key is k: for every key a Z-set (an indexed Z-set)
    Agg(i)      the sum of agg(k, i[k]) over all keys k whose group is not empty

Indexed Z-sets are a group, key by key, so streams of them have D and I, and a query that ends
with its groups, or works on groups, is incremental like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import (
    Streams,
    additive,
    linear_increment,
    zero_of_additive,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    FunctionSpace,
    Group,
    Sort,
    Term,
    Thm,
    axiom,
    both,
    certificate,
    fresh_symbol,
    gen,
    group_laws,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.operators.aggregate import ONE, any_grouping
from deltaproof.theorems.operators.aggregate_sums import Kept, groups_of
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.positive_sums import is_positive, positive_maps
from deltaproof.theorems.tables.sums import linear_maps
from deltaproof.theorems.tables.zsets import ZERO, any_zsets, if_then, streams_of

TABLE = "k BIGINT, v BIGINT"
COUNTED = Run(Aggregate(("k",), (("n", AggregateCall("count_star")),)), (TABLE,))


class Indexed:
    """The functions from keys to the elements of a group: a group, key by key."""

    def __init__(self, name: str, key: Sort, values: Group) -> None:
        self.values = values
        self.space = FunctionSpace(f"indexed {name}", key, values.sort)
        sort, at = self.space.sort, self.space.at
        define = self.space.define
        self.zero = define("0", [], lambda k: values.zero)
        self.add = define("+", [sort, sort], lambda k, i, j: values.add(at(i, k), at(j, k)))
        self.neg = define("-", [sort], lambda k, i: values.neg(at(i, k)))
        self.group = Group(sort, self.add, self.neg, self.zero(), self._laws())

    def equal(self, name: str, left: Term, right: Term, by: Callable[[Term], list[Thm]]) -> Thm:
        """left = right, because they are equal at every key."""
        k = z3.FreshConst(self.space.index, "k")
        goal = self.space.at(left, k) == self.space.at(right, k)
        return self.space.equal(name, left, right, prove_for_all(name, [k], goal, by(k)))

    def _laws(self) -> Thm:
        add, neg, zero = self.add, self.neg, self.zero()
        i, j, h = z3.Consts("i j h", self.space.sort)
        equations = [*add.equations, *neg.equations, *self.zero.equations]
        known = [*equations, self.values.laws]
        proofs = [
            gen(self.equal(name, left, right, lambda k: known), *variables)
            for name, left, right, variables in (
                ("(i + j) + h = i + (j + h)", add(add(i, j), h), add(i, add(j, h)), [i, j, h]),
                ("i + j = j + i", add(i, j), add(j, i), [i, j]),
                ("i + 0 = i", add(i, zero), i, [i]),
                ("i + -i = 0", add(i, neg(i)), zero, [i]),
            )
        ]
        laws = group_laws(self.space.sort, add, neg, zero)
        stated = [prove(each.name, law, [each]) for each, law in zip(proofs, laws, strict=True)]
        return both(f"{self.space.name}: an abelian group", *stated)


# ---------------------------------------------------------------- grouping


def grouping_by_what_is_left() -> Counterexample:
    """GROUP BY ... HAVING COUNT(*) > 1: which groups there are depends on the weights."""
    a, b = z3.Ints("a b")
    claim = if_then(a + b > 1, a + b) == if_then(a > 1, a) + if_then(b > 1, b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        large = Run(Filter(col("n") > 1), ("k BIGINT, n BIGINT",))

        def kept(table: ZSet) -> ZSet:
            pairs = Run(Join((("j", "k"),)), ("j BIGINT, v BIGINT", "k BIGINT, n BIGINT"))
            return pairs.over(table, large.over(COUNTED.over(table)))

        one, other = row(a, 7, 1), row(b, 7, 1)
        return kept(one + other), kept(one) + kept(other)

    name = "G(a + b) = G(a) + G(b), groups of more than one row only"
    return refute(name, claim, [a >= 0, b >= 0], [a, b], replay=replay)


@theorem(
    statement="G(a + b) = G(a) + G(b), G(a)[k] = the rows of key k, so D(G(I(d))) = G(d)",
    source="DBSP (VLDB 2023) section 7.3",
    lean="group_by_linear",
    wrong=(grouping_by_what_is_left,),
)
def grouping_linear() -> Thm:
    """As functions from keys to Z-sets, for any key function."""
    it = any_grouping()
    rows, indexed = it.rows, any_indexed()
    grouped = indexed.space.define("G", [rows.sort], lambda k, a: it.contents(a, k))
    a, b = rows.a, rows.b
    linear = gen(
        indexed.equal(
            "G(a + b) = G(a) + G(b)",
            grouped(rows.add(a, b)),
            indexed.add(grouped(a), grouped(b)),
            lambda k: [
                *grouped.equations,
                *indexed.add.equations,
                inst(it.contents_linear(), a, b, k),
            ],
        ),
        a,
        b,
    )
    streams = Streams("indexed Z[A]", indexed.group)
    increment = linear_increment("G", streams_of(rows), streams, grouped, linear)
    return both("grouping is linear and its own increment", linear, increment)


@cache
def any_indexed() -> Indexed:
    """The functions from any keys to the Z-sets over any rows."""
    it = any_grouping()
    return Indexed("Z[A]", it.group_sort, it.rows.group)


# ---------------------------------------------------------------- aggregating linearly


class LinearAggregate:
    """Agg(G(a)) for any agg(k, table) that is linear in the table, over lists of keys."""

    def __init__(self) -> None:
        self.grouping = it = any_grouping()
        self.rows, self.results = it.rows, any_zsets("V")
        self.keys = groups_of(it)
        rows, results, lists = self.rows, self.results, self.keys.lists
        self.agg = fresh_symbol("agg", it.group_sort, rows.sort, results.sort)
        g = it.g
        linear = additive(rows.group, results.group, lambda table: self.agg(g, table))
        self.linear = axiom("agg(k, table) is linear in the table", z3.ForAll([g], linear))
        self.maps = linear_maps(self.keys, results)
        self.images = self.maps.images.define(
            "results of a key",
            [rows.sort],
            lambda k, a: results.entries(self.agg(k, it.contents(a, k))),
        )
        self.each_once = self.keys.comprehension(
            "keys, each once", [lists.sort], lambda k, s: if_then(lists.has(s, k), ONE), lambda s: s
        )
        self.keys_of = recursive(
            "keys of",
            rows.lists.sort,
            [],
            lists.sort,
            (
                lambda recur: lists.none,
                lambda recur, x, w, rest: lists.entry(it.key(x), ONE, recur(rest)),
            ),
        )

    def over(self, keys: Term, a: Term) -> Term:
        """The sum of agg(k, G(a)[k]) over the listed keys, each once."""
        return self.maps.apply(self.images(a), self.each_once(keys))

    def covers(self, keys: Term, a: Term) -> Formula:
        """Every group that is not listed is empty."""
        it, k = self.grouping, z3.FreshConst(self.grouping.group_sort, "k")
        empty = it.contents(a, k) == self.rows.zero()
        return z3.ForAll([k], z3.Or(self.keys.lists.has(keys, k), empty))

    def weight_of_result(self, k: Term, a: Term, y: Term) -> Term:
        """What y weighs in agg(k, G(a)[k])."""
        return self.results.weight(self.agg(k, self.grouping.contents(a, k)), y)

    def image(self, a: Term, y: Term) -> Thm:
        """∀ k. the image of k weighs at y what agg(k, G(a)[k]) does."""
        k = z3.FreshConst(self.grouping.group_sort, "k")
        listed = self.results.lists.W(self.maps.images.at(self.images(a), k), y)
        result = self.agg(k, self.grouping.contents(a, k))
        known = [self.images.unfold(k, a), self.results.weight.unfold(result, y)]
        goal = listed == self.weight_of_result(k, a, y)
        return prove_for_all("the image of a key", [k], goal, known, patterns=[listed])

    @cached_property
    def all_keys(self) -> Thm:
        """∀ a. the keys of the rows of a cover a."""
        it, rows, lists = self.grouping, self.rows, self.keys.lists
        x, a = rows.x, rows.a
        listed = induct(
            "the key of a listed row is listed",
            rows.lists.sort,
            lambda es: z3.ForAll(
                [x],
                z3.Implies(rows.lists.has(es, x), lists.has(self.keys_of(es), it.key(x))),
                patterns=[rows.lists.has(es, x)],
            ),
            [*rows.lists.has.equations, *lists.has.equations, *self.keys_of.equations],
        )
        k = z3.FreshConst(it.group_sort, "k")
        keys, inside = self.keys_of(rows.entries(a)), it.contents(a, k)
        known = [
            inst(listed, rows.entries(a)),
            inst(rows.extensional, inside, rows.zero()),
            *it.contents.equations,
            *rows.weights[:1],
            rows.no_weight_outside(),
        ]
        goal = z3.Or(lists.has(keys, k), inside == rows.zero())
        each = prove_for_all("a group that is not listed is empty", [k], goal, known)
        return prove_for_all("there is a cover", [a], self.covers(keys, a), [each])

    @cached_property
    def well_defined(self) -> Thm:
        """∀ a s m. s and m cover a → the sums over s and over m are the same."""
        maps, rows, keys, results = self.maps, self.rows, self.keys, self.results
        a, y, k = rows.a, results.x, z3.FreshConst(self.grouping.group_sort, "k")
        s, m = keys.list, z3.Const("m", keys.lists.sort)
        one, other = self.each_once(s), self.each_once(m)
        apart, images = keys.group.sub(one, other), self.images(a)
        listed = keys.lists.W(keys.entries(apart), k)
        given = [self.covers(s, a), self.covers(m, a)]
        empty = zero_of_additive(
            "agg",
            rows.group,
            results.group,
            lambda table: self.agg(k, table),
            inst(self.linear, k),
        )
        silent = prove_for_all(
            "a key in one list only adds nothing",
            [k],
            maps.part(images, k, listed, y) == 0,
            [
                maps.part.unfold(images, k, listed, y),
                self.image(a, y),
                empty,
                keys.weight.unfold(apart, k),
                *keys.weights,
                *self.each_once.equations,
                *results.weights[:1],
            ],
            given,
            patterns=[listed],
        )
        nothing = inst(gen(maps.nothing, maps.f, maps.y), images, y, keys.entries(apart))
        zero = prove_for_all(
            "the sum over what is apart is 0",
            [y],
            results.weight(maps.apply(images, apart), y) == 0,
            [silent, nothing, maps.applied(images, apart, y)],
            given,
        )
        back = certificate("m + (s - m) = l", keys.group, keys.add(other, apart) == one)
        split = inst(maps.linear, images, other, apart)
        same = results.equal(
            "the same sum", self.over(s, a), self.over(m, a), [], [back, split, zero], given
        )
        return gen(same, a, s, m)

    @cached_property
    def additive(self) -> Thm:
        """∀ s a b. the sum for a + b is that for a plus that for b, over the same keys."""
        it, maps, rows, keys, results = (
            self.grouping,
            self.maps,
            self.rows,
            self.keys,
            self.results,
        )
        a, b, y, s = rows.a, rows.b, results.x, keys.list
        whole = rows.add(a, b)
        tables = (whole, a, b)
        k = z3.FreshConst(it.group_sort, "k")
        sums = prove_for_all(
            "agg of a sum",
            [k],
            self.weight_of_result(k, whole, y)
            == self.weight_of_result(k, a, y) + self.weight_of_result(k, b, y),
            [
                inst(it.contents_linear(), a, b, k),
                inst(inst(self.linear, k), it.contents(a, k), it.contents(b, k)),
                *results.weights,
            ],
            patterns=[self.weight_of_result(k, whole, y)],
        )
        images = [self.image(table, y) for table in tables]

        def claim(entries: Term) -> Formula:
            total, one, other = (maps.total_of(entries, self.images(t), y) for t in tables)
            return total == one + other

        def facts(case: Case) -> list[Thm]:
            totals = [maps.totals_for(self.images(table), y) for table in tables]
            if not case.arguments:
                return [empty for empty, _ in totals]
            key, w, rest = case.arguments
            steps = [inst(step, key, w, rest) for _, step in totals]
            added = [maps.part(self.images(table), key, w, y) for table in tables]
            parts = [maps.part.unfold(self.images(table), key, w, y) for table in tables]
            goal = added[0] == added[1] + added[2]
            known = [*parts, *[inst(each, key) for each in (*images, sums)]]
            return [*steps, prove("what a key adds", goal, known)]

        lists = induct("the sum of images of a sum", keys.lists.sort, claim, (), facts)
        entries = keys.entries(self.each_once(s))
        known = [inst(lists, entries)]
        known += [maps.applied(self.images(table), self.each_once(s), y) for table in tables]
        total, one, other = (results.weight(self.over(s, table), y) for table in tables)
        everywhere = prove_for_all("at every row", [y], total == one + other, known)
        right = results.add(self.over(s, a), self.over(s, b))
        return results.equal("Agg(a + b)", self.over(s, whole), right, [s, a, b], [everywhere])

    def whole(self) -> Thm:
        """∀ a b. Agg(a + b) = Agg(a) + Agg(b), each over the keys of its own rows."""
        rows, lists, results = self.rows, self.keys.lists, self.results
        a, b = rows.a, rows.b
        tables = (a, b, rows.add(a, b))
        own = [self.keys_of(rows.entries(table)) for table in tables]
        common = lists.join(own[0], lists.join(own[1], own[2]))
        covered, moved = self.all_keys, self.well_defined
        same = []
        for table, keys in zip(tables, own, strict=True):
            of_own = inst(covered, table)
            of_all = prove(
                "the keys of both tables are enough",
                self.covers(common, table),
                [of_own, self.keys.has_joined],
            )
            goal = self.over(keys, table) == self.over(common, table)
            same.append(
                prove(
                    "over the keys of both tables",
                    goal,
                    [of_own, of_all, inst(moved, table, keys, common)],
                )
            )
        one, other, whole = (self.over(keys, t) for keys, t in zip(own, tables, strict=True))
        goal = whole == results.add(one, other)
        known = [*same, inst(self.additive, common, a, b)]
        return prove_for_all("Agg(a + b) = Agg(a) + Agg(b)", [a, b], goal, known)


def makeset_as_linear() -> Counterexample:
    """COUNT is linear, but not the row {COUNT -> 1} that it is put into."""
    a, b, y = z3.Ints("a b y")
    whole, one, other = (if_then(y == count, ONE) for count in (a + b, a, b))

    def replay(a: int, b: int, y: int) -> tuple[ZSet, ZSet]:
        whole, one, other = (COUNTED.over(row(w, 7, 0)) for w in (a + b, a, b))
        result = Run(Filter(col("n").eq(y)), ("k BIGINT, n BIGINT",))
        return result.over(whole), result.over(one + other)

    name = "{COUNT(a + b) -> 1} = {COUNT(a) -> 1} + {COUNT(b) -> 1}, at row y"
    given = [a > 0, b > 0]
    return refute(name, whole == one + other, given, [a, b, y], replay=replay)


def result_per_row() -> Counterexample:
    """The sum over the rows instead of the keys: a group's result as often as it has rows."""
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        table = row(a, 7, 1) + row(b, 7, 2)
        pairs = Run(Join((("j", "k"),)), ("j BIGINT, v BIGINT", "k BIGINT, n BIGINT"))
        result = Run(
            Map((("k", col("k")), ("n", col("n")))),
            ("j BIGINT, v BIGINT, k BIGINT, n BIGINT",),
        )
        return result.over(pairs.over(table, COUNTED.over(table))), COUNTED.over(table)

    name = "the results of all rows = the results of all groups"
    return refute(name, a + b == 1, [a > 0, b > 0], [a, b], replay=replay)


@theorem(
    statement="Agg(G(a)) = sum of agg(k, G(a)[k]) is well defined, and linear if agg(k, _) is",
    source="DBSP (VLDB 2023) section 7.4",
    wrong=(makeset_as_linear, result_per_row),
)
def linear_aggregate_linear() -> Thm:
    """The sum over any list of keys that leaves out no group with rows, and there is one.

    Two tables and their sum have a list in common, so Agg itself is additive.
    """
    it = LinearAggregate()
    return both("Agg is linear", it.all_keys, it.well_defined, it.additive, it.whole())


# ---------------------------------------------------------------- counting to know what is there


def count_of_a_change() -> Counterexample:
    """In a change, a row in and a row out count 0 and are not nothing."""
    a, b = z3.Ints("a b")
    claim = (a + b == 0) == z3.And(a == 0, b == 0)

    def replay(a: int, b: int) -> tuple[set[object], set[object]]:
        change = row(a, 7, 1) + row(b, 7, 2)
        return {key for key, _ in COUNTED.over(change)}, {key for key, _ in change}

    return refute("COUNT(*) = 0 exactly for no rows", claim, show=[a, b], replay=replay)


def count_of_values() -> Counterexample:
    """COUNT(x) is 0 for a group of NULLs, which is there."""
    null, given = z3.Ints("rows_with_NULL rows_without")
    claim = (given == 0) == (null + given == 0)

    def replay(null: int, given: int) -> tuple[set[object], set[object]]:
        counts = Run(Aggregate(("k",), (("n", AggregateCall("count", col("v"))),)), (TABLE,))
        table = row(null, 7, None) + row(given, 7, 1)
        there = {key for key, n in counts.over(table) if n}
        return there, {key for key, _ in counts.over(table)}

    name = "COUNT(x) = 0 exactly for no rows"
    return refute(name, claim, [null >= 0, given >= 0], [null, given], replay=replay)


@theorem(
    statement="ispositive(a): COUNT(*) of a group is 0 exactly if the group has no rows in a",
    source="beyond the paper: how engines keep the groups of GROUP BY, by one linear count",
    wrong=(count_of_a_change, count_of_values),
)
def count_zero_empty() -> Thm:
    """So a group comes and goes with a count that is linear, and no row is kept for it."""
    it = any_grouping()
    rows, g, a = it.rows, it.g, it.rows.a
    count = Kept(it, "COUNT(*)", lambda k: ONE)
    positive, maps, lists = positive_maps(rows, count.groups), count.maps, count.groups.lists
    x, image = rows.x, count.image()
    weight = lists.W(maps.images.at(image, x), g)
    of_row = prove_for_all(
        "a row counts for its group",
        [x],
        weight == if_then(it.key(x) == g, ONE),
        [count.image.unfold(x), *lists.W.equations],
        patterns=[weight],
    )
    bags = prove("images are bags", positive.images_positive(image), [gen(of_row, g)])
    inside = it.contents(a, g)
    known = [
        bags,
        of_row,
        inst(positive.reached, image, a, g),
        *it.contents.equations,
        *rows.weights[:1],
        inst(rows.extensional, inside, rows.zero()),
    ]
    goal = (count.of(a, g) == ZERO) == (inside == rows.zero())
    given = [is_positive(rows, a)]
    empty = prove_for_all("COUNT(*) = 0 ⟺ no rows", [a, g], goal, known, given)
    return both("a count tells whether a group is there", empty, count.increment())
