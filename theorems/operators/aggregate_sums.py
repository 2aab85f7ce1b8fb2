"""COUNT, SUM and AVG are read off whole numbers per group that are linear in the weights.

    kept(g)  =  the sum of part(row) · weight over the rows of group g

    COUNT(*)   part = 1
    COUNT(x)   part = 1, or 0 where x is NULL
    SUM(x)     part = x, or 0 where x is NULL; and COUNT(x), because SUM of nothing is NULL
    AVG(x)     the same two

So what is kept after a tick is what was kept before plus the delta's, and no row is read again.
What is read off, `finish`, is any function of the kept numbers: rounding, overflow checks and
NULL over nothing are in it, and it need not be linear: AVG is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import linear_increment, present
from deltaproof.theorems.kernel import (
    Counterexample,
    Term,
    Thm,
    both,
    fresh_sort,
    fresh_symbol,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.aggregate import ONE, Grouping, any_grouping
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.sums import linear_maps
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, streams_of


def keyless(*calls: AggregateCall) -> Run:
    """The aggregates of a table of one column v, without GROUP BY."""
    named = tuple((f"a{number}", call) for number, call in enumerate(calls))
    return Run(Aggregate((), named), ("v BIGINT",))


V = col("v")
ROWS, COUNT, COUNT_DISTINCT, SUM, AVG = (
    keyless(call)
    for call in (
        AggregateCall("count_star"),
        AggregateCall("count", V),
        AggregateCall("count", V, distinct=True),
        AggregateCall("sum", V),
        AggregateCall("avg", V),
    )
)


def value_of(run: Run, table: ZSet) -> Any:
    """The one value of a keyless aggregate over a table."""
    ((value,),) = run.over(table)
    return value


Part = Callable[[Term], Term]  # what one row of weight 1 adds


class Kept:
    """A whole number kept for every group: the Z-set over the groups with these weights."""

    def __init__(self, grouping: Grouping, name: str, part: Part) -> None:
        self.grouping, self.name = grouping, name
        self.groups = groups_of(grouping)
        self.maps = linear_maps(grouping.rows, self.groups)
        lists, key = self.groups.lists, grouping.key
        self.image = self.maps.images.define(
            f"{name} of a row", [], lambda k: lists.entry(key(k), part(k), lists.none)
        )
        self.linear = self.maps.linear_for(self.image())

    def of(self, a: Term, g: Term) -> Term:
        """What is kept for the group when the table is a."""
        return self.groups.weight(self.maps.apply(self.image(), a), g)

    def increment(self) -> Thm:
        """∀ d. D(kept(I(d))) = kept(d)."""
        source, target = streams_of(self.grouping.rows), streams_of(self.groups)
        apply = self.maps.with_images(self.image())
        return linear_increment(self.name, source, target, apply, self.linear)

    def plus(self) -> Thm:
        """∀ a d g. kept(a + d, g) = kept(a, g) + kept(d, g)."""
        rows, g = self.grouping.rows, self.grouping.g
        a, d = rows.a, rows.b
        goal = self.of(rows.add(a, d), g) == self.of(a, g) + self.of(d, g)
        known = [inst(self.linear, a, d), *self.groups.weights]
        name = f"{self.name}(a + d, g) = {self.name}(a, g) + {self.name}(d, g)"
        return prove_for_all(name, [a, d, g], goal, known)

    def own_rows(self) -> Thm:
        """∀ a g. kept(a, g) = kept(contents(a, g), g): rows of other groups add nothing."""
        it, rows, g = self.grouping, self.grouping.rows, self.grouping.g
        a, inside = rows.a, it.contents(rows.a, g)
        others = rows.group.sub(a, inside)
        whole = rows.equal(
            "a = contents + others", a, rows.add(inside, others), [], it.contents.equations
        )
        known = [
            whole,
            inst(self.plus(), inside, others, g),
            self.silent(others, g),
        ]
        goal = self.of(a, g) == self.of(inside, g)
        return gen(prove(f"{self.name}(a, g) = {self.name}(contents(a, g), g)", goal, known), a, g)

    def silent(self, others: Term, g: Term) -> Thm:
        """kept(others, g) = 0, because no row of group g is among the others."""
        rows, maps, it = self.grouping.rows, self.maps, self.grouping
        x, lists, image = rows.x, self.groups.lists, self.image
        weight = rows.lists.W(rows.entries(others), x)
        images = prove_for_all(
            "a row of another group adds nothing",
            [x],
            maps.part(image(), x, weight, g) == 0,
            [
                maps.part.unfold(image(), x, weight, g),
                image.unfold(x),
                *lists.W.equations,
                *it.contents.equations,
                *rows.weights,
                rows.weight.unfold(others, x),
            ],
            patterns=[weight],
        )
        nothing = inst(gen(maps.nothing, maps.f, maps.y), image(), g, rows.entries(others))
        applied = maps.applied(image(), others, g)
        return prove("no row of the group", self.of(others, g) == 0, [images, nothing, applied])


@cache
def groups_of(grouping: Grouping) -> ZSets:
    return ZSets("G", grouping.group_sort)


def read_off(name: str, parts: Sequence[Part]) -> Thm:
    """`read_off_kept` for one kept number per part."""
    it = any_grouping()
    return read_off_kept(name, [Kept(it, f"{name}{n}", part) for n, part in enumerate(parts)])


def read_off_kept(name: str, kept: Sequence[Kept]) -> Thm:
    """∀ a d g. finish(kept before + kept of the delta) = finish(kept of the group's rows after).

    The left side is what the code computes, the right side is the definition over all rows.
    Together with: every kept number is linear and its own increment.
    """
    it = any_grouping()
    rows, g = it.rows, it.g
    a, d = rows.a, rows.b
    plus = [each.plus() for each in kept]
    own_rows = [each.own_rows() for each in kept]
    finish = fresh_symbol("finish", *([INT] * len(kept)), fresh_sort("result"))
    after = rows.add(a, d)
    code = finish(*[each.of(a, g) + each.of(d, g) for each in kept])
    definition = finish(*[each.of(it.contents(after, g), g) for each in kept])
    known = [inst(each, a, d, g) for each in plus] + [inst(each, after, g) for each in own_rows]
    agree = gen(prove(f"{name} is read off", code == definition, known), a, d, g)
    return both(name, *plus, *own_rows, *[each.increment() for each in kept], agree)


def nullable_argument() -> tuple[Part, Part]:
    """(1 or 0 for NULL, the value or 0 for NULL) of an arbitrary nullable argument."""
    row = any_grouping().rows.row
    is_null = fresh_symbol("is null", row, z3.BoolSort())
    value = fresh_symbol("value", row, INT)

    def one_or_nothing(k: Term) -> Term:
        return z3.If(is_null(k), ZERO, ONE)

    def value_or_nothing(k: Term) -> Term:
        return z3.If(is_null(k), ZERO, value(k))

    return one_or_nothing, value_or_nothing


def count_of_null_rows() -> Counterexample:
    null, given = z3.Ints("rows_with_NULL rows_without")
    claim = null + given == given

    def replay(null: int, given: int) -> tuple[int, int]:
        table = row(null, None) + row(given, 7)
        return value_of(ROWS, table), value_of(COUNT, table)

    return refute("COUNT(x) = the weight of all rows", claim, show=[null, given], replay=replay)


def count_of_distinct_rows() -> Counterexample:
    """Duplicates counted once: the weight is forgotten."""
    a, d = z3.Ints("a d")
    claim = present(a + d) == present(a) + present(d)

    def replay(a: int, d: int) -> tuple[int, int]:
        one, other, whole = (value_of(COUNT_DISTINCT, row(each, 7)) for each in (a, d, a + d))
        return whole, one + other

    return refute("COUNT counts rows, not weights", claim, show=[a, d], replay=replay)


@theorem(
    statement="COUNT(*) and COUNT(x): kept(a + d) = kept(a) + kept(d), part = 1, or 0 for NULL",
    source="DBSP (VLDB 2023) section 7.2",
    lean="count_linear",
    wrong=(count_of_null_rows, count_of_distinct_rows),
)
def count_linear() -> Thm:
    count, _ = nullable_argument()
    return both("COUNT", read_off("COUNT(*)", [lambda k: ONE]), read_off("COUNT", [count]))


def null_when_the_sum_is_zero() -> Counterexample:
    """SUM is NULL when nothing was summed, and not when the values cancel."""
    x, y, n = z3.Ints("x y n")
    claim = (x + y == 0) == (n == 0)

    def replay(x: int, y: int, n: int) -> tuple[bool, bool]:
        table = row(1, x) + row(1, y)
        total = value_of(SUM, table)
        return total == 0, total is None and n == 2

    name = "SUM is NULL where the total is 0"
    return refute(name, claim, [n == 2], [x, y, n], replay=replay)


def sum_that_never_returns_to_null() -> Counterexample:
    """SUM = 0 after the last row is deleted, where NULL belongs."""
    before, delta = z3.Ints("count_before count_delta")
    claim = z3.Implies(before > 0, before + delta > 0)

    def replay(before: int, delta: int) -> tuple[bool, bool]:
        then, now = (value_of(SUM, row(n, 7)) for n in (before, before + delta))
        return then is not None, now is not None

    name = "SUM stays a number once it was one"
    return refute(name, claim, [before + delta >= 0], [before, delta], replay=replay)


@theorem(
    statement="SUM(x): kept(a + d) = kept(a) + kept(d) for (sum, non-NULL count), any finish",
    source="DBSP (VLDB 2023) section 7.2 and its footnote on NULL",
    lean="sum_linear",
    wrong=(null_when_the_sum_is_zero, sum_that_never_returns_to_null),
)
def sum_linear() -> Thm:
    count, value = nullable_argument()
    return read_off("SUM", [value, count])


def average_of_averages() -> Counterexample:
    """n times the value x, then m times the value y; both sides times 2 (n + m)."""
    x, y, n, m = z3.Ints("x y n m")
    claim = 2 * (n * x + m * y) == (x + y) * (n + m)
    given = [n > 0, m > 0, n + m < 5]

    def replay(x: int, y: int, n: int, m: int) -> tuple[float, float]:
        a, d = row(n, x), row(m, y)
        return value_of(AVG, a + d), (value_of(AVG, a) + value_of(AVG, d)) / 2

    name = "AVG(a + d) = (AVG(a) + AVG(d)) / 2"
    return refute(name, claim, given, [x, y, n, m], replay=replay)


@theorem(
    statement="AVG(x) = finish(sum, count), both kept: AVG itself is not linear, what is kept is",
    source="DBSP (VLDB 2023) section 7.2",
    wrong=(average_of_averages,),
)
def avg_from_sums() -> Thm:
    count, value = nullable_argument()
    return read_off("AVG", [value, count])
