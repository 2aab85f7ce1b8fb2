"""GROUP BY changes only in the groups that the delta touches, whatever is computed per group.

    contents(a, g)    the rows of group g in the table a
    there(contents)   whether the group exists; a group without rows does not
    f(g, contents)    any function: SUM, MIN, a median, the whole array

COUNT, SUM and AVG need no contents: they are read off sums per group, and those are linear.
MIN and MAX need the values of the group, but of the unchanged ones only the outermost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import (
    general_increment_of,
    integrate_after_differentiate,
    present,
    step_increment,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Term,
    Thm,
    axiom,
    both,
    certificate,
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
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import ZERO, ZSets, any_zsets, if_then, streams_of

ONE = z3.IntVal(1)

ROWS = ("k BIGINT",)
SIZE = (("n", AggregateCall("count_star")),)
GROUPS = Run(Aggregate(("k",), ()), ROWS)
SIZES = Run(Aggregate(("k",), SIZE), ROWS)
TOTAL = Run(Aggregate((), SIZE), ROWS)
ONLY_SIZE = Run(Map((("n", col("n")),)), ("k BIGINT, n BIGINT",))


class Grouping:
    """GROUP BY with any key and any function of a group, as a function of Z-sets."""

    def __init__(self, rows: ZSets) -> None:
        self.rows = rows
        self.group_sort, self.value_sort = fresh_sort("groups"), fresh_sort("values")
        declared = z3.Datatype("rows of groups")
        declared.declare("result", ("group", self.group_sort), ("value", self.value_sort))
        row = declared.create()
        self.result, self.results = row.constructor(0), ZSets("G x V", row)
        self.group, self.value = row.accessor(0, 0), row.accessor(0, 1)
        self.key = fresh_symbol("key", rows.row, self.group_sort)
        self.f = fresh_symbol("f", self.group_sort, rows.sort, self.value_sort)
        self.there = fresh_symbol("there", rows.sort, z3.BoolSort())
        self.empty_is_not_there = axiom(
            "a group without rows is not there", z3.Not(self.there(rows.zero()))
        )
        self.g = z3.Const("g", self.group_sort)
        self.contents = rows.comprehension(
            "contents",
            [rows.sort, self.group_sort],
            lambda x, a, g: if_then(self.key(x) == g, rows.weight(a, x)),
            lambda a, g: rows.entries(a),
            [rows.no_weight_outside()],
        )
        self.query = self.results.comprehension(
            "group by",
            [rows.sort],
            self.weight_of_result,
            lambda a: self.candidates(rows.entries(a), a),
            [self._no_other_results()],
        )

    def of_group(self, a: Term, g: Term) -> Term:
        """f of the group's rows."""
        return self.f(g, self.contents(a, g))

    def weight_of_result(self, y: Term, a: Term) -> Term:
        """1 for the row of a group that is there, 0 for everything else."""
        g = self.group(y)
        is_there = self.there(self.contents(a, g))
        return if_then(z3.And(is_there, self.of_group(a, g) == self.value(y)), ONE)

    def _no_other_results(self) -> Thm:
        """∀ a y. every result row is that of a row in the table."""
        rows, lists = self.rows, self.results.lists
        self.candidates = recursive(
            "results",
            rows.lists.sort,
            [rows.sort],
            lists.sort,
            (
                lambda recur, a: lists.none,
                lambda recur, k, w, rest, a: lists.entry(
                    self.result(self.key(k), self.of_group(a, self.key(k))), ONE, recur(rest, a)
                ),
            ),
        )
        a, x, y = rows.a, rows.x, self.results.x
        mine = self.result(self.key(x), self.of_group(a, self.key(x)))
        listed = induct(
            "the result of every listed row is a candidate",
            rows.lists.sort,
            lambda es: z3.ForAll(
                [a, x],
                z3.Implies(rows.lists.has(es, x), lists.has(self.candidates(es, a), mine)),
                patterns=[z3.MultiPattern(rows.lists.has(es, x), self.candidates(es, a))],
            ),
            [*rows.lists.has.equations, *lists.has.equations, *self.candidates.equations],
        )
        g = self.group(y)
        inside = self.contents(a, g)
        nothing = prove(
            "a group none of whose rows is in the table has no contents",
            z3.Or(
                z3.Exists([x], z3.And(self.key(x) == g, rows.lists.has(rows.entries(a), x))),
                inside == rows.zero(),
            ),
            [
                inst(rows.extensional, inside, rows.zero()),
                *self.contents.equations,
                *rows.weights[:1],
                rows.no_weight_outside(),
            ],
        )
        goal = z3.Or(
            lists.has(self.candidates(rows.entries(a), a), y), self.weight_of_result(y, a) == 0
        )
        known = [nothing, inst(listed, rows.entries(a)), self.empty_is_not_there]
        return prove_for_all("no result without a row", [a, y], goal, known)

    def contents_linear(self) -> Thm:
        """∀ a d g. contents(a + d, g) = contents(a, g) + contents(d, g)."""
        rows, g = self.rows, self.g
        a, d = rows.a, rows.b
        return rows.equal(
            "contents(a + d, g) = contents(a, g) + contents(d, g)",
            self.contents(rows.add(a, d), g),
            rows.add(self.contents(a, g), self.contents(d, g)),
            [a, d, g],
            self.contents.equations,
        )

    def untouched(self) -> Thm:
        """∀ a d g. contents(d, g) = 0 → contents(a + d, g) = contents(a, g)."""
        rows, g = self.rows, self.g
        a, d = rows.a, rows.b
        before = self.contents(a, g)
        neutral = certificate("c + 0 = c", rows.group, rows.add(before, rows.zero()) == before)
        return prove_for_all(
            "a group outside the delta keeps its contents",
            [a, d, g],
            self.contents(rows.add(a, d), g) == before,
            [inst(self.contents_linear(), a, d, g), neutral],
            given=[self.contents(d, g) == rows.zero()],
            patterns=[self.contents(rows.add(a, d), g)],
        )

    def increment(self, touched: Callable[[Term, Term], Term]) -> Definition:
        """(before, delta) ↦ minus the old and plus the new rows of the touched groups."""
        rows, results = self.rows, self.results

        def weight(y: Term, a: Term, d: Term) -> Term:
            new, old = self.query(rows.add(a, d)), self.query(a)
            change = results.weight(new, y) - results.weight(old, y)
            return if_then(touched(d, self.group(y)), change)

        def candidates(a: Term, d: Term) -> Term:
            new, old = self.query(rows.add(a, d)), self.query(a)
            return results.lists.join(results.entries(new), results.entries(old))

        return results.comprehension(
            "change of touched groups",
            [rows.sort, rows.sort],
            weight,
            candidates,
            [results.has_joined, results.no_weight_outside()],
        )


@cache
def any_grouping() -> Grouping:
    return Grouping(any_zsets("A"))


def group_that_never_comes_back() -> Counterexample:
    """A group that was emptied and touched again emits no new row: a tombstone."""
    before, delta = z3.Ints("before delta")
    emitted = z3.If(before > 0, present(before + delta) - present(before), ZERO)
    claim = emitted == present(before + delta) - present(before)

    def replay(before: int, delta: int) -> tuple[ZSet, ZSet]:
        table, d = row(before, 7), row(delta, 7)
        change = GROUPS.change([table], [d])
        return change if GROUPS.over(table) else ZSet(), GROUPS.over(table + d) - GROUPS.over(table)

    name = "rows are emitted only for groups that were there"
    return refute(name, claim, show=[before, delta], replay=replay)


def old_row_not_retracted() -> Counterexample:
    """Emits the new row of a touched group and leaves the old one in the view."""
    before, delta, y = z3.Ints("before delta y")
    old, new = if_then(before == y, ONE), if_then(before + delta == y, ONE)

    def replay(before: int, delta: int, y: int) -> tuple[int, int]:
        table, d = row(before, 7), row(delta, 7)
        return TOTAL.over(table + d)[(y,)], TOTAL.change([table], [d])[(y,)]

    return refute("change = +new", new == new - old, show=[before, delta, y], replay=replay)


def group_read_off_its_delta() -> Counterexample:
    """f of the group's delta instead of f of the group."""
    before, delta = z3.Ints("before delta")
    claim = present(delta) == present(before + delta)

    def replay(before: int, delta: int) -> tuple[ZSet, ZSet]:
        return GROUPS.over(row(delta, 7)), GROUPS.over(row(before + delta, 7))

    name = "f(g, contents after) = f(g, delta)"
    return refute(name, claim, show=[before, delta], replay=replay)


@theorem(
    statement="D(G(I(d))) = new - old of touched groups, any function of a group, 0 for no rows",
    source="DBSP (VLDB 2023) section 7.4",
    lean="group_by_linear",
    wrong=(group_that_never_comes_back, old_row_not_retracted, group_read_off_its_delta),
)
def aggregate_increment() -> Thm:
    """`touched` may be any set of groups that has at least the groups of the delta's rows."""
    it = any_grouping()
    rows, results, g = it.rows, it.results, it.g
    a, d, y = rows.a, rows.b, results.x
    touched = fresh_symbol("touched", rows.sort, it.group_sort, z3.BoolSort())
    enough = axiom(
        "every group with rows in the delta is touched",
        z3.ForAll([d, g], z3.Or(touched(d, g), it.contents(d, g) == rows.zero())),
    )
    step = it.increment(touched)
    outside = inst(it.untouched(), a, d, it.group(y))
    same = prove_for_all(
        "a group that is not touched keeps its row",
        [y],
        z3.Or(
            touched(d, it.group(y)),
            results.weight(it.query(rows.add(a, d)), y) == results.weight(it.query(a), y),
        ),
        [outside, inst(enough, d, it.group(y)), *it.query.equations],
        patterns=[results.weight(it.query(a), y)],
    )
    agrees = results.equal(
        "change of touched groups = G(a + d) - G(a)",
        step(a, d),
        results.group.sub(it.query(rows.add(a, d)), it.query(a)),
        [a, d],
        [*step.equations, same],
    )
    nothing = rows.equal(
        "contents(0, g) = 0", it.contents(rows.zero(), g), rows.zero(), [g], it.contents.equations
    )
    empty = results.equal(
        "G(0) = 0",
        it.query(rows.zero()),
        results.zero(),
        [],
        [*it.query.equations, nothing, it.empty_is_not_there],
    )
    contract = step_increment(
        "group by", streams_of(rows), streams_of(results), it.query, step, agrees, empty
    )
    return both("only touched groups change", agrees, contract)


# ---------------------------------------------------------------- one row, without keys


def keyless_row_from_the_first_change() -> Counterexample:
    """Q(a + d) - Q(a) at the first tick too: over an empty table the row never appears."""
    d0, y = z3.Ints("d0 y")
    now, over_nothing = if_then(d0 == y, ONE), if_then(y == ZERO, ONE)
    claim = now - over_nothing == now

    def replay(d0: int, y: int) -> tuple[int, int]:
        now = TOTAL.over(row(d0, 7))
        return (now - TOTAL.over(ZSet()))[(y,)], TOTAL.first(row(d0, 7))[(y,)]

    return refute("the first tick emits Q(d) - Q(0)", claim, show=[d0, y], replay=replay)


def keyless_row_only_while_there_are_rows() -> Counterexample:
    """The row of a keyless aggregate treated like that of a group: gone when the table is empty."""
    n, y = z3.Ints("n y")
    claim = if_then(z3.And(n > 0, n == y), ONE) == if_then(n == y, ONE)

    def replay(n: int, y: int) -> tuple[int, int]:
        table = row(n, 7)
        return ONLY_SIZE.over(SIZES.over(table))[(y,)], TOTAL.over(table)[(y,)]

    return refute("no rows, no result", claim, [n >= 0], [n, y], replay=replay)


@theorem(
    statement="I(D(F(I(d))))[t] is the one row f(I(d)[t]), at every tick t, also over no rows",
    source="SQL: aggregation without GROUP BY; DBSP (VLDB 2023) definition 3.1",
    wrong=(keyless_row_from_the_first_change, keyless_row_only_while_there_are_rows),
)
def aggregate_keyless() -> Thm:
    rows, results = any_zsets("A"), any_zsets("V")
    f = fresh_symbol("f", rows.sort, results.row)
    lists = results.lists
    query = results.comprehension(
        "one row",
        [rows.sort],
        lambda y, a: if_then(f(a) == y, ONE),
        lambda a: lists.entry(f(a), ONE, lists.none),
        lists.has.equations,
    )
    changes, output = streams_of(rows), streams_of(results)
    lifted = output.lift("one row", query, changes)
    d = changes.stream("d")
    view = lifted(changes.I(d))
    increment = general_increment_of("one row", changes, output, query)
    contents = gen(inst(integrate_after_differentiate(output), view), d)
    return both("one row at every tick", contents, *lifted.equations, *query.equations, increment)


# ---------------------------------------------------------------- COUNT, SUM, AVG
