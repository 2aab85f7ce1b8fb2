"""Work may be divided by key: what each shard answers about its rows adds up to the whole answer.

    a|i          the rows of a on shard i
    Σ Q(a|i)     over the shards, of which there may be any number, each once

A query is local to keys when a result of group g depends on the rows of group g alone. Every
function of a group is (see `grouped`): aggregates, top-k, ranks, windows by partition. Rows that
a join may match are on one shard of either side, when the shard is a function of the key.

Each shard keeps its own state and sees its own deltas: (a|i) is linear in a, so the deltas on a
shard are those of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import TICK, differential_laws
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Formula,
    Sort,
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
    parts,
    prove,
    prove_for_all,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.operators.join import any_join
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.grouped import one_table
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, any_zsets, if_then, streams_of


class Shards:
    """Lists of shards, and how often a shard stands in one."""

    def __init__(self) -> None:
        self.shard = fresh_sort("shards")
        declared = z3.Datatype(f"list of {self.shard}")
        declared.declare(f"none of {self.shard}")  # SMT-LIB wants one sort per name
        fields = ((f"first of {self.shard}", self.shard), (f"rest of {self.shard}", declared))
        declared.declare(f"one of {self.shard}", *fields)
        self.sort = declared.create()
        self.times = recursive(
            "times",
            self.sort,
            [self.shard],
            INT,
            (
                lambda recur, i: ZERO,
                lambda recur, first, rest, i: if_then(first == i, z3.IntVal(1)) + recur(rest, i),
            ),
        )
        self.all = z3.Const("shards", self.sort)

    def each_once(self) -> Formula:
        """Every shard stands in the list once."""
        i = z3.FreshConst(self.shard, "i")
        return z3.ForAll([i], self.times(self.all, i) == 1, patterns=[self.times(self.all, i)])

    def total(self, target: ZSets, sorts: list[Sort], part: Callable[..., Term]) -> Definition:
        """(shards, tables) ↦ Σ part(shard, tables)."""
        return recursive(
            "total",
            self.sort,
            sorts,
            target.sort,
            (
                lambda recur, *tables: target.zero(),
                lambda recur, first, rest, *tables: target.add(
                    part(first, *tables), recur(rest, *tables)
                ),
            ),
        )

    def adds_up(
        self,
        name: str,
        target: ZSets,
        total: Definition,
        tables: list[Term],
        whole: Term,
        home: Callable[[Term], Term],
        own: Thm,
    ) -> Thm:
        """∀ tables shards. each shard stands there once → Σ part(i, tables) = whole.

        `own` says ∀ i. that row y weighs in part(i, tables) what it does in the whole, if shard i
        is its home, and nothing elsewhere.
        """
        y, whole_weight = target.x, target.weight(whole, target.x)

        def claim(shards: Term) -> Formula:
            weight = target.weight(total(shards, *tables), y)
            return weight == self.times(shards, home(y)) * whole_weight

        def facts(case: Case) -> list[Thm]:
            known = [total.unfold(case.term, *tables), self.times.unfold(case.term, home(y))]
            return [*known, *target.weights, *[inst(own, first) for first in case.arguments[:1]]]

        sums = gen(inst(induct(f"{name}, row by row", self.sort, claim, (), facts), self.all), y)
        left, given = total(self.all, *tables), [self.each_once()]
        return target.equal(name, left, whole, [*tables, self.all], [sums], given)


@dataclass(frozen=True, eq=False)
class Sharded:
    """Any query that is local to keys, and a shard for every key."""

    rows: ZSets
    results: ZSets
    shards: Shards
    key: Symbol
    group: Symbol
    home: Symbol
    query: Symbol
    on: Definition  # (a, i) ↦ the rows of a on shard i
    local: Thm
    empty: Thm

    def own(self) -> Thm:
        """∀ a y i. Q(a|i) weighs at y what Q(a) does, if i is the shard of y's key, else 0."""
        rows, results, on, query = self.rows, self.results, self.on, self.query
        a, y, i = rows.a, results.x, z3.Const("i", self.shards.shard)
        part = on(a, i)
        here = results.weight(query(part), y)
        known = [
            inst(self.local, part, a, y),
            inst(self.local, part, rows.zero(), y),
            self.empty,
            *on.equations,
            *rows.weights,
            *results.weights,
        ]
        goal = here == if_then(i == self.home(self.group(y)), results.weight(query(a), y))
        return gen(prove_for_all("a shard answers for its own keys", [i], goal, known), a, y)

    def whole(self) -> Thm:
        """∀ a shards. each shard once → Σ Q(a|i) = Q(a)."""
        a, y = self.rows.a, self.results.x
        own = inst(self.own(), a, y)
        return self.shards.adds_up(
            "Σ Q(a|i) = Q(a)",
            self.results,
            self.total,
            [a],
            self.query(a),
            lambda y: self.home(self.group(y)),
            own,
        )

    @cached_property
    def total(self) -> Definition:
        return self.shards.total(
            self.results, [self.rows.sort], lambda i, a: self.query(self.on(a, i))
        )

    def over_time(self) -> Thm:
        """∀ d shards. each shard once → Σ D(Q(I(d|i))) = D(Q(I(d)))."""
        return OverTime(self).outputs_add_up()


class OverTime:
    """Every shard keeps its own state and sees its own deltas."""

    def __init__(self, it: Sharded) -> None:
        self.it, self.shards = it, it.shards
        self.inputs, self.outputs = inputs, outputs = streams_of(it.rows), streams_of(it.results)
        self.d, self.total = inputs.stream("d"), it.total
        self.view = inputs.I(self.d)
        self.on = inputs.space.define(
            "on a shard",
            [it.shards.shard, inputs.sort],
            lambda tick, i, s: it.on(inputs.at(s, tick), i),
        )
        self.answer = outputs.lift("Q", it.query, inputs)
        self.summed = outputs.space.define(
            "Σ Q",
            [it.shards.sort, inputs.sort],
            lambda tick, shards, s: self.total(shards, inputs.at(s, tick)),
        )
        self.put_out = recursive(
            "Σ D(Q(I(d|i)))",
            it.shards.sort,
            [inputs.sort],
            outputs.sort,
            (
                lambda recur, d: outputs.zero,
                lambda recur, i, rest, d: outputs.add(
                    outputs.D(self.answer(inputs.I(self.on(i, d)))), recur(rest, d)
                ),
            ),
        )

    def own_table(self) -> Thm:
        """∀ i d. I(d|i) = I(d)|i."""
        it, inputs, d = self.it, self.inputs, self.d
        i = z3.Const("i", self.shards.shard)
        linear = on_linear(it.rows, it.on)

        def facts(case: Case) -> list[Thm]:
            now, change = inputs.at(self.view, case.term), inputs.at(d, case.term)
            known, total = unfold([inputs.space], now), it.on(change, i)
            for tick in case.arguments:
                before = inputs.at(self.view, tick)
                known.append(inst(linear, before, change, i))
                total = it.rows.add(it.on(before, i), total)
            return [prove(f"{case.name}: the table on a shard", it.on(now, i) == total, known)]

        left, right = inputs.I(self.on(i, d)), self.on(i, self.view)
        return gen(inputs.equal("I(d|i) = I(d)|i", left, right, facts), i, d)

    def changes(self) -> Thm:
        """∀ shards. Σ D(Q(I(d|i))) = D(Σ Q(I(d)|i)), by induction over the shards."""
        own_table, outputs, d = self.own_table(), self.outputs, self.d
        add, D, zero = outputs.add, outputs.D, outputs.zero
        additive, _ = parts(differential_laws(outputs))
        no_change = outputs.equal("D(0) = 0", D(zero), zero)

        def split(case: Case, whole: Term) -> Thm:
            """Σ over the shards of the case is this, at every tick."""

            def facts(at: Case) -> list[Thm]:
                known = [self.total.unfold(case.term, self.inputs.at(self.view, at.term))]
                return known + [self._own_at(i, at.term) for i in case.arguments[:1]]

            return outputs.equal("one shard more", self.summed(case.term, self.view), whole, facts)

        def one_more(case: Case) -> Thm:
            known = [self.put_out.unfold(case.term, d), *case.hypotheses, no_change]
            if case.arguments:
                i, rest = case.arguments
                mine, others = self.answer(self.on(i, self.view)), self.summed(rest, self.view)
                known += [split(case, add(mine, others)), inst(additive, mine, others)]
                known.append(inst(own_table, i, d))
            else:
                known.append(split(case, zero))
            return prove(case.name, case.goal, known)

        def claim(shards: Term) -> Formula:
            return self.put_out(shards, d) == D(self.summed(shards, self.view))

        return induct("Σ D(Q(I(d|i))) = D(Σ Q(I(d)|i))", self.shards.sort, claim, step=one_more)

    def _own_at(self, i: Term, tick: Term) -> Thm:
        """Q of the table on shard i at a tick is Q of the table at the tick, on shard i."""
        now = self.inputs.at(self.on(i, self.view), tick)
        restricted = self.it.on(self.inputs.at(self.view, tick), i)
        goal = self.it.query(now) == self.it.query(restricted)
        return prove("Q on a shard, at a tick", goal, unfold([self.inputs.space], now))

    def outputs_add_up(self) -> Thm:
        outputs, d, shards = self.outputs, self.d, self.shards
        summed, whole = self.summed(shards.all, self.view), self.answer(self.view)
        once, tick = [shards.each_once()], z3.Const("t", TICK)
        left, right = outputs.at(summed, tick), outputs.at(whole, tick)
        known = [
            *unfold([outputs.space], left, right),
            inst(self.it.whole(), self.inputs.at(self.view, tick), shards.all),
        ]
        everywhere = prove_for_all("Σ at every tick", [tick], left == right, known, once)
        extensional = inst(outputs.space.extensional, summed, whole)
        same = prove("Σ Q(I(d)|i) = Q(I(d))", summed == whole, [extensional, everywhere], once)
        goal = self.put_out(shards.all, d) == outputs.D(whole)
        known = [inst(self.changes(), shards.all), same]
        return prove_for_all("Σ D(Q(I(d|i))) = D(Q(I(d)))", [d, shards.all], goal, known, once)


def on_linear(rows: ZSets, on: Definition) -> Thm:
    """∀ a b i. (a + b)|i = a|i + b|i."""
    a, b, i = rows.a, rows.b, z3.Const("i", on.symbol.domain(1))
    whole, both_parts = on(rows.add(a, b), i), rows.add(on(a, i), on(b, i))
    return rows.equal("(a + b)|i = a|i + b|i", whole, both_parts, [a, b, i], on.equations)


def on_shard(rows: ZSets, shards: Shards, home: Callable[[Term], Term]) -> Definition:
    """(a, i) ↦ a|i, the rows whose home is shard i."""
    return rows.comprehension(
        "on a shard",
        [rows.sort, shards.shard],
        lambda x, a, i: if_then(home(x) == i, rows.weight(a, x)),
        lambda a, i: rows.entries(a),
        [rows.no_weight_outside()],
    )


def is_local(
    rows: ZSets, results: ZSets, key: Symbol, group: Symbol, query: Callable[[Term], Term]
) -> Formula:
    """∀ a b y. a and b agree on the rows of y's group → Q(a) and Q(b) agree at y."""
    a, b = (z3.FreshConst(rows.sort, name) for name in "ab")
    x, y = z3.FreshConst(rows.row, "x"), z3.FreshConst(results.row, "y")
    alike = z3.ForAll([x], z3.Implies(key(x) == group(y), rows.weight(a, x) == rows.weight(b, x)))
    same = results.weight(query(a), y) == results.weight(query(b), y)
    return z3.ForAll([a, b, y], z3.Implies(alike, same))


def any_sharded() -> Sharded:
    """A query of which nothing is known but that it is local to keys."""
    rows, results, shards = any_zsets("A"), any_zsets("B"), Shards()
    keys = fresh_sort("keys")
    key, group = fresh_symbol("key", rows.row, keys), fresh_symbol("group", results.row, keys)
    home = fresh_symbol("home", keys, shards.shard)
    query = fresh_symbol("Q", rows.sort, results.sort)
    local = axiom("Q is local to keys", is_local(rows, results, key, group, query))
    empty = axiom("Q of no rows is empty", query(rows.zero()) == results.zero())
    on = on_shard(rows, shards, lambda x: home(key(x)))
    return Sharded(rows, results, shards, key, group, home, query, on, local, empty)


def grouped_is_local() -> Thm:
    """Any function of the groups of a table is local to their keys."""
    it = one_table()
    (rows,), results, (key,), (contents,) = it.inputs, it.results, it.keys, it.contents
    a, b, y = rows.a, rows.b, results.x
    x, g = z3.FreshConst(rows.row, "x"), it.group(y)
    alike = z3.ForAll([x], z3.Implies(key(x) == g, rows.weight(a, x) == rows.weight(b, x)))
    same = rows.equal(
        "the same contents", contents(a, g), contents(b, g), [], contents.equations, [alike]
    )
    goal = results.weight(it.query(a), y) == results.weight(it.query(b), y)
    local = prove("grouped", goal, [same, *it.query.equations], [alike])
    return prove(
        "a function of groups is local to keys",
        is_local(rows, results, key, it.group, it.query),
        [gen(local, a, b, y)],
    )


# ---------------------------------------------------------------- wrong variants

ROWS = "k BIGINT, v BIGINT"
COUNTS = Run(Aggregate(("k",), (("n", AggregateCall("count_star")),)), (ROWS,))
FIRST, SECOND = (Run(Filter(each), (ROWS,)) for each in (col("v") > 0, col("v") <= 0))
SIDES = (ROWS, "j BIGINT, w BIGINT")
JOINED = Run(Join((("k", "j"),)), SIDES)
RIGHT_FIRST, RIGHT_SECOND = (Run(Filter(each), SIDES[1:]) for each in (col("w") > 0, col("w") <= 0))


def sharded_by_another_column() -> Counterexample:
    """A group on two shards has a row from each, and neither has its count."""
    one, other, y = z3.Ints("here there y")

    def replay(one: int, other: int, y: int) -> tuple[int, int]:
        table = row(one, 7, 1) + row(other, 7, -1)
        parts = [COUNTS.over(shard.over(table)) for shard in (FIRST, SECOND)]
        return (parts[0] + parts[1])[(7, y)], COUNTS.over(table)[(7, y)]

    def counted(n: Term) -> Term:
        return if_then(z3.And(n > 0, n == y), z3.IntVal(1))

    claim = counted(one) + counted(other) == counted(one + other)
    name, show = "COUNT on shards by v = COUNT", [one, other, y]
    return refute(name, claim, [one >= 0, other >= 0], show, replay=replay)


def join_sharded_by_another_column() -> Counterexample:
    """Rows that match are on different shards, and do not meet."""
    a, b, v, w = z3.Ints("a b v w")

    def replay(a: int, b: int, v: int, w: int) -> tuple[ZSet, ZSet]:
        left, right = row(a, 7, v), row(b, 7, w)
        shards = ((FIRST, RIGHT_FIRST), (SECOND, RIGHT_SECOND))
        pairs = [JOINED.over(one.over(left), other.over(right)) for one, other in shards]
        return pairs[0] + pairs[1], JOINED.over(left, right)

    claim = if_then((v > 0) == (w > 0), a * b) == a * b
    name = "the join of shards by v and w = the join"
    return refute(name, claim, show=[a, b, v, w], replay=replay)


@theorem(
    statement="Σ Q(a|i) = Q(a), Σ D(Q(I(d|i))) = D(Q(I(d))) over shards by key, Q local to keys",
    source="beyond the paper: data-parallel circuits of Feldera and differential dataflow",
    wrong=(sharded_by_another_column,),
)
def sharded_query() -> Thm:
    """For any number of shards; aggregates, top-k, ranks and partitioned windows are local."""
    it = any_sharded()
    return both("a sharded query", it.whole(), it.over_time(), grouped_is_local())


@theorem(
    statement="Σ (a|i ⋈ b|i) = a ⋈ b if matches are on one shard; Σ (a|i ⋈ b) = a ⋈ b in any case",
    source="beyond the paper: co-partitioned and broadcast joins",
    wrong=(join_sharded_by_another_column,),
)
def sharded_join() -> Thm:
    left, right, join, shards = any_zsets("A"), any_zsets("B"), any_join(), Shards()
    home = fresh_symbol("home", left.row, shards.shard)
    home_right = fresh_symbol("home of the right", right.row, shards.shard)
    a, b, x, r = left.a, right.a, left.x, right.x
    together = axiom(
        "rows that match are on one shard",
        z3.ForAll([x, r], z3.Implies(join.matches(x, r), home(x) == home_right(r))),
    )
    on_left, on_right = on_shard(left, shards, home), on_shard(right, shards, home_right)
    pairs, i = join.pairs.zsets, z3.Const("i", shards.shard)
    whole, y = join.join(a, b), pairs.x
    sorts, known = [left.sort, right.sort], [*join.join.equations, *on_left.equations]

    def sums(name: str, part: Callable[..., Term], by: Sequence[Thm]) -> Thm:
        weight = if_then(i == home(join.pairs.left(y)), pairs.weight(whole, y))
        own = prove_for_all(
            f"{name}, on a shard", [i], pairs.weight(part(i, a, b), y) == weight, by
        )
        total = shards.total(pairs, sorts, part)
        return shards.adds_up(
            name, pairs, total, [a, b], whole, lambda y: home(join.pairs.left(y)), own
        )

    def copartitioned(i: Term, a: Term, b: Term) -> Term:
        return join.join(on_left(a, i), on_right(b, i))

    def broadcast(i: Term, a: Term, b: Term) -> Term:
        return join.join(on_left(a, i), b)

    return both(
        "sharded joins",
        sums("Σ (a|i ⋈ b|i) = a ⋈ b", copartitioned, [*known, *on_right.equations, together]),
        sums("Σ (a|i ⋈ b) = a ⋈ b", broadcast, known),
    )
