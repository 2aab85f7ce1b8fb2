"""What is computed from the rows of one group changes only in the groups that the deltas touch,
whatever is computed: any number of rows of any weights, from one table or from two.

    contents(a, g)   the rows of group g in the table a
    F(g, contents)   any Z-set computed from them; nothing, where the group has no rows
    Q(a)             all F(g, contents(a, g)) together; group(y) says whose result the row y is

Top-k, ranks, LAG and LEAD, rolling windows and sessions have one table and the partition as group;
an ASOF join has two tables and the key as group. `aggregate_increment` is the case of one row a
group; here a group has as many results as it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import z3

from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import present, steps_increment
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Symbol,
    Term,
    Thm,
    axiom,
    both,
    certificate,
    fresh_sort,
    fresh_symbol,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.operators.aggregate import GROUPS, group_read_off_its_delta
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import ZSets, any_zsets, if_then, streams_of

RANKED = Run(Rank("rank", "n", (), (Order(col("v")),)), ("v BIGINT",))


class Grouped:
    """Any function of the contents of a group, over one or more tables."""

    def __init__(self, inputs: Sequence[ZSets], results: ZSets) -> None:
        self.inputs, self.results = tuple(inputs), results
        self.sort = fresh_sort("groups")
        self.g = z3.Const("g", self.sort)
        self.keys = [fresh_symbol("key", each.row, self.sort) for each in inputs]
        self.group = fresh_symbol("group", results.row, self.sort)
        tables = [each.sort for each in inputs]
        self.F = fresh_symbol("F", self.sort, *tables, results.sort)
        nothing = self.F(self.g, *[each.zero() for each in inputs]) == results.zero()
        self.empty_is_nothing = axiom(
            "a group without rows has no results", z3.ForAll([self.g], nothing)
        )
        self.contents = [self._contents(number) for number in range(len(inputs))]
        self.tables = [z3.Const(f"a{number}", sort) for number, sort in enumerate(tables)]
        self.deltas = [z3.Const(f"d{number}", sort) for number, sort in enumerate(tables)]
        self.candidates = [self._candidates(number) for number in range(len(inputs))]
        self.query = results.comprehension(
            "grouped",
            tables,
            lambda y, *a: results.weight(self.of_group(self.group(y), a), y),
            self.rows_of,
            [self._no_other_results()],
        )

    def _contents(self, number: int) -> Definition:
        rows, key = self.inputs[number], self.keys[number]
        return rows.comprehension(
            "contents",
            [rows.sort, self.sort],
            lambda x, a, g: if_then(key(x) == g, rows.weight(a, x)),
            lambda a, g: rows.entries(a),
            [rows.no_weight_outside()],
        )

    def contents_of(self, g: Term, tables: Sequence[Term]) -> list[Term]:
        return [of(a, g) for of, a in zip(self.contents, tables, strict=True)]

    def of_group(self, g: Term, tables: Sequence[Term]) -> Term:
        """F of the group's rows."""
        return self.F(g, *self.contents_of(g, tables))

    def _candidates(self, number: int) -> Definition:
        """(entries, tables) ↦ the results of the groups of all rows in the entries."""
        rows, key, results = self.inputs[number], self.keys[number], self.results
        lists = results.lists
        return recursive(
            "results",
            rows.lists.sort,
            [each.sort for each in self.inputs],
            lists.sort,
            (
                lambda recur, *a: lists.none,
                lambda recur, k, w, rest, *a: lists.join(
                    results.entries(self.of_group(key(k), a)), recur(rest, *a)
                ),
            ),
        )

    def rows_of(self, *tables: Term) -> Term:
        """The results of all groups, as one list of entries."""
        listed = self.results.lists.none
        for rows, candidates, a in zip(self.inputs, self.candidates, tables, strict=True):
            listed = self.results.lists.join(candidates(rows.entries(a), *tables), listed)
        return listed

    def _no_other_results(self) -> Thm:
        """∀ a y. what is no result of a group in the tables weighs nothing."""
        results, a, y = self.results, self.tables, self.results.x
        mine = self.of_group(self.group(y), a)
        known = [self.empty_is_nothing, results.no_weight_outside(), *results.weights[:1]]
        for number in range(len(self.inputs)):
            known += [self._rows_or_nothing(number), self._listed(number)]
        known += [results.has_joined, *results.lists.has.equations]
        listed = results.lists.has(self.rows_of(*a), y)
        goal = z3.Or(listed, results.weight(mine, y) == 0)
        return prove_for_all("no result without a row", [*a, y], goal, known)

    def _rows_or_nothing(self, number: int) -> Thm:
        """The table has a row of the group of y, or the group's contents are empty."""
        rows, key, a = self.inputs[number], self.keys[number], self.tables[number]
        x, g = rows.x, self.group(self.results.x)
        inside = self.contents[number](a, g)
        row = z3.And(key(x) == g, rows.lists.has(rows.entries(a), x))
        goal = z3.Or(z3.Exists([x], row), inside == rows.zero())
        known = [
            inst(rows.extensional, inside, rows.zero()),
            *self.contents[number].equations,
            *rows.weights[:1],
            rows.no_weight_outside(),
        ]
        return prove("a row of the group, or nothing of it", goal, known)

    def _listed(self, number: int) -> Thm:
        """∀ x. every result of the group of a row in the table is a candidate."""
        rows, key, candidates = self.inputs[number], self.keys[number], self.candidates[number]
        lists, a, x, y = self.results.lists, self.tables, rows.x, self.results.x

        def result(row: Term) -> Term:
            return lists.has(self.results.entries(self.of_group(key(row), a)), y)

        every = induct(
            "every result of a listed row's group is a candidate",
            rows.lists.sort,
            lambda es: z3.ForAll(
                [x],
                z3.Implies(
                    z3.And(rows.lists.has(es, x), result(x)), lists.has(candidates(es, *a), y)
                ),
                patterns=[rows.lists.has(es, x)],
            ),
            [*rows.lists.has.equations, *candidates.equations, *lists.has.equations,
             self.results.has_joined],
        )  # fmt: skip
        return inst(every, rows.entries(a[number]))

    def after(self) -> list[Term]:
        """a + d, for every table."""
        pairs = zip(self.inputs, self.tables, self.deltas, strict=True)
        return [rows.add(a, d) for rows, a, d in pairs]

    def untouched(self) -> Thm:
        """∀ a d g. no rows of g in the deltas → the group keeps its results."""
        g, known, given = self.g, [], []
        parts = zip(self.inputs, self.contents, self.tables, self.deltas, strict=True)
        for rows, contents, a, d in parts:
            sums = rows.equal(
                "contents(a + d, g) = contents(a, g) + contents(d, g)",
                contents(rows.add(a, d), g),
                rows.add(contents(a, g), contents(d, g)),
                [],
                contents.equations,
            )
            before = contents(a, g)
            neutral = rows.add(before, rows.zero()) == before
            known += [sums, certificate("c + 0 = c", rows.group, neutral)]
            given.append(contents(d, g) == rows.zero())
        now, then = self.of_group(g, self.after()), self.of_group(g, self.tables)
        arbitrary = [*self.tables, *self.deltas, g]
        name = "a group outside the deltas keeps its results"
        return prove_for_all(name, arbitrary, now == then, known, given)

    def increment(self) -> tuple[Thm, Thm]:
        """(the step of the touched groups is Q(a + d) - Q(a), the contract over time)."""
        results, a, d, y = self.results, self.tables, self.deltas, self.results.x
        sorts = [each.sort for each in self.inputs]
        touched = fresh_symbol("touched", *sorts, self.sort, z3.BoolSort())
        silent = [
            of == rows.zero()
            for rows, of in zip(self.inputs, self.contents_of(self.g, d), strict=True)
        ]
        enough = axiom(
            "every group with rows in the delta is touched",
            z3.ForAll([*d, self.g], z3.Or(touched(*d, self.g), z3.And(*silent))),
        )
        step = self._step(touched)
        now, before = self.query(*self.after()), self.query(*a)
        same = prove_for_all(
            "a row of a group that is not touched keeps its weight",
            [y],
            z3.Or(touched(*d, self.group(y)), results.weight(now, y) == results.weight(before, y)),
            [
                inst(self.untouched(), *a, *d, self.group(y)),
                inst(enough, *d, self.group(y)),
                *self.query.equations,
            ],
            patterns=[results.weight(before, y)],
        )
        agrees = results.equal(
            "change of touched groups = Q(a + d) - Q(a)",
            step(*a, *d),
            results.group.sub(now, before),
            [*a, *d],
            [*step.equations, same],
        )
        streams = [streams_of(each) for each in self.inputs]
        target = streams_of(results)
        empty = self._empty()
        contract = steps_increment("Q", streams, target, self.query, step, agrees, empty)
        return agrees, contract

    def _step(self, touched: Symbol) -> Definition:
        results, count = self.results, len(self.inputs)

        def sides(*tables: Term) -> tuple[Term, Term]:
            a, d = tables[:count], tables[count:]
            after = [rows.add(x, y) for rows, x, y in zip(self.inputs, a, d, strict=True)]
            return self.query(*after), self.query(*a)

        def weight(y: Term, *tables: Term) -> Term:
            new, old = sides(*tables)
            change = results.weight(new, y) - results.weight(old, y)
            return if_then(touched(*tables[count:], self.group(y)), change)

        def candidates(*tables: Term) -> Term:
            new, old = sides(*tables)
            return results.lists.join(results.entries(new), results.entries(old))

        return results.comprehension(
            "change of touched groups",
            [each.sort for each in self.inputs] * 2,
            weight,
            candidates,
            [results.has_joined, results.no_weight_outside()],
        )

    def _empty(self) -> Thm:
        """Q(0) = 0."""
        results, zeros = self.results, [each.zero() for each in self.inputs]
        known = [*self.query.equations, self.empty_is_nothing]
        for rows, contents in zip(self.inputs, self.contents, strict=True):
            nothing = contents(rows.zero(), self.g)
            name = "contents(0, g) = 0"
            known.append(rows.equal(name, nothing, rows.zero(), [self.g], contents.equations))
        return results.equal("Q(0) = 0", self.query(*zeros), results.zero(), [], known)


@cache
def one_table() -> Grouped:
    """Any function of the groups of one table."""
    return Grouped([any_zsets("A")], any_zsets("V"))


# ---------------------------------------------------------------- wrong variants


def only_new_rows_ranked() -> Counterexample:
    """The delta's row gets its rank, and the rows behind it keep the one they had."""
    before, delta = z3.Ints("rows_ahead delta_ahead")
    claim = 1 + before + delta == 1 + before

    def replay(before: int, delta: int) -> tuple[int, int]:
        """How often the row behind has the rank that it had: once, and then not."""
        then, now = (RANKED.over(row(n, 3) + row(1, 5)) for n in (before, before + delta))
        old_rank = (5, 1 + before)
        return now[old_rank], then[old_rank]

    name, given = "rows outside the delta keep their results", [before >= 0, delta > 0]
    return refute(name, claim, given, [before, delta], replay=replay)


def group_left_by_a_moved_row() -> Counterexample:
    """An update of the key touches the new group only: the old one keeps the row."""
    before, delta = z3.Ints("rows_of_the_old_group delta_of_the_old_group")
    given = [before > 0, delta < 0]
    claim = present(before + delta) == present(before)

    def replay(before: int, delta: int) -> tuple[ZSet, ZSet]:
        return GROUPS.over(row(before + delta, 7)), GROUPS.over(row(before, 7))

    name = "only groups with insertions are touched"
    return refute(name, claim, given, [before, delta], replay=replay)


@theorem(
    statement="D(Q(I(d))) = new - old of touched groups, any function of a group, 0 for no rows",
    source="DBSP (VLDB 2023) section 7.4",
    lean="group_by_linear",
    wrong=(group_read_off_its_delta, only_new_rows_ranked, group_left_by_a_moved_row),
)
def grouped_increment() -> Thm:
    """For one table and for two; `touched` may be any set with at least the deltas' groups."""
    one = one_table()
    two = Grouped([any_zsets("A"), any_zsets("B")], any_zsets("V"))
    return both("only touched groups change", *one.increment(), *two.increment())
