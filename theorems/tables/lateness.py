"""State may be dropped when nothing later can touch it: behind the watermark, and for nothing else.

    w(t)             the watermark at tick t: it never goes back, and no delta has a row below it
    a ≥ w            the rows of a whose time is w or later
    kept[0]          = d[0] ≥ w(0)
    kept[n + 1]      = (kept[n] + d[n + 1]) ≥ w(n + 1)

What is kept is the table above the watermark, though no table is stored. For a query that is
local to keys, and keys that have one time each, it is all that an increment needs: windows that
are over, sessions that ended, days that are complete. For a join of rows whose times differ by at
most h, it is enough to keep what is above w - h.
"""

from __future__ import annotations

from collections.abc import Callable

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import TICK, after
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Term,
    Thm,
    axiom,
    both,
    fresh_sort,
    fresh_symbol,
    induct,
    inst,
    prove,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.operators.join import any_join, join_contract
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.sharding import is_local
from deltaproof.theorems.tables.zsets import INT, ZSets, any_zsets, if_then, streams_of

Time = Callable[[Term], Term]  # of a row, of a group or of a tick


class Kept:
    """What is kept of a table: at every tick the rows with a time of at least the tick's bound."""

    def __init__(self, rows: ZSets, time: Time, bound: Time) -> None:
        self.rows, self.changes, self.time, self.bound = rows, streams_of(rows), time, bound
        at, add = self.changes.at, rows.add
        self.above = above = rows.comprehension(
            "a ≥ w",
            [rows.sort, INT],
            lambda x, a, w: if_then(time(x) >= w, rows.weight(a, x)),
            lambda a, w: rows.entries(a),
            [rows.no_weight_outside()],
        )
        self.of = self.changes.space.define(
            "kept",
            [self.changes.sort],
            cases=(
                lambda recur, d: above(at(d, TICK.first), bound(TICK.first)),
                lambda recur, n, d: above(add(recur(n, d), at(d, after(n))), bound(after(n))),
            ),
        )

    def table(self, d: Term, grows: Thm) -> Thm:
        """∀ t. kept(d)[t] = I(d)[t] ≥ bound(t), if ∀ n. bound(n) <= bound(n + 1)."""
        rows, changes, above = self.rows, self.changes, self.above
        a, b, (w, v) = rows.a, rows.b, z3.Ints("w v")
        twice = rows.equal(
            "((a ≥ w) + d) ≥ v = (a + d) ≥ v",
            above(rows.add(above(a, w), b), v),
            above(rows.add(a, b), v),
            [a, b, w, v],
            above.equations,
            [w <= v],
        )

        def claim(tick: Term) -> Formula:
            return changes.at(self.of(d), tick) == above(
                changes.at(changes.I(d), tick), self.bound(tick)
            )

        def facts(case: Case) -> list[Thm]:
            now, whole = changes.at(self.of(d), case.term), changes.at(changes.I(d), case.term)
            known = unfold([changes.space], now, whole)
            for tick in case.arguments:
                before, delta = changes.at(changes.I(d), tick), changes.at(d, case.term)
                bounds = self.bound(tick), self.bound(case.term)
                known += [inst(twice, before, delta, *bounds), inst(grows, tick)]
            return known

        return induct("kept = I(d) ≥ bound", TICK, claim, (), facts)


class Watermark:
    """Any watermark of a stream of changes d, and any time of a row."""

    def __init__(self, rows: ZSets, time: Time) -> None:
        changes = streams_of(rows)
        self.rows, self.time = rows, time
        self.d = fresh_symbol("d", changes.sort)()
        self.mark, n = fresh_symbol("w", TICK, INT), z3.Const("n", TICK)
        self.grows = axiom(
            "the watermark never goes back", z3.ForAll([n], self.mark(n) <= self.mark(after(n)))
        )
        x = z3.FreshConst(rows.row, "x")
        weight = rows.weight(changes.at(self.d, n), x)
        self.in_time = axiom(
            "no row comes below the watermark",
            z3.ForAll([n, x], z3.Or(weight == 0, self.mark(n) <= time(x)), patterns=[weight]),
        )

    def less(self, margin: Term) -> Time:
        """The watermark less a margin."""
        return lambda tick: self.mark(tick) - margin

    def later(self, tick: Term) -> Thm:
        """∀ x. a row of the next tick's delta has a time of at least this tick's watermark."""
        rows, changes = self.rows, streams_of(self.rows)
        x = z3.FreshConst(rows.row, "x")
        weight = rows.weight(changes.at(self.d, after(tick)), x)
        goal = z3.Or(weight == 0, self.mark(tick) <= self.time(x))
        known = [self.in_time, inst(self.grows, tick)]
        return prove_for_all("the next delta is later", [x], goal, known, patterns=[weight])


class CleanQuery:
    """A query that is local to keys, over keys that have one time each."""

    def __init__(self) -> None:
        self.rows, self.results = rows, results = any_zsets("A"), any_zsets("B")
        keys = fresh_sort("keys")
        self.key, self.group = (
            fresh_symbol("key", rows.row, keys),
            fresh_symbol("group", results.row, keys),
        )
        self.when = fresh_symbol("time", keys, INT)
        self.query = fresh_symbol("Q", rows.sort, results.sort)
        local = is_local(rows, results, self.key, self.group, self.query)
        self.local = axiom("Q is local to keys", local)
        self.water = Watermark(rows, self.time)
        self.kept = Kept(rows, self.time, self.water.mark)

    def time(self, x: Term) -> Term:
        return self.when(self.key(x))

    def step(self, a: Term, d: Term) -> Term:
        """Q(a + d) - Q(a)."""
        return self.results.group.sub(self.query(self.rows.add(a, d)), self.query(a))

    def unneeded(self, tick: Term) -> Thm:
        """The step over what was kept at a tick is the step over the table, for the next delta."""
        rows, results, changes, d = self.rows, self.results, self.kept.changes, self.water.d
        a, delta = changes.at(changes.I(d), tick), changes.at(d, after(tick))
        kept = self.kept.above(a, self.water.mark(tick))
        y = results.x
        instances = [
            inst(self.local, one, other, y)
            for one, other in (
                (kept, a),
                (rows.add(kept, delta), rows.add(a, delta)),
                (rows.add(kept, delta), kept),
                (rows.add(a, delta), a),
            )
        ]
        known = [*instances, *self.kept.above.equations, *rows.weights, self.water.later(tick)]
        left, right = self.step(kept, delta), self.step(a, delta)
        goal = results.weight(left, y) == results.weight(right, y)
        everywhere = prove_for_all("at every row", [y], goal, [*known, *results.weights])
        name = "Q(kept + d) - Q(kept) = Q(a + d) - Q(a)"
        return prove(name, left == right, [inst(results.extensional, left, right), everywhere])

    def contract(self) -> Thm:
        """D(Q(I(d))) = the steps over what is kept."""
        changes, target, d = self.kept.changes, streams_of(self.results), self.water.d
        at, kept = changes.at, self.kept.of
        answer = target.lift("Q", self.query, changes)
        output = target.space.define(
            "output",
            [changes.sort],
            cases=(
                lambda recur, d: self.query(at(d, TICK.first)),
                lambda recur, n, d: self.step(at(kept(d), n), at(d, after(n))),
            ),
        )
        table = self.kept.table(d, self.water.grows)

        def facts(case: Case) -> list[Thm]:
            now, whole = at(changes.I(d), case.term), at(d, case.term)
            known = []
            for tick in case.arguments:
                before, whole = at(changes.I(d), tick), self.rows.add(at(changes.I(d), tick), whole)
                over_kept = self.step(at(kept(d), tick), at(d, case.term))
                goal = over_kept == self.step(before, at(d, case.term))
                facts = [self.unneeded(tick), inst(table, tick)]
                known.append(prove(f"{case.name}: one step", goal, facts))
            goal = self.query(now) == self.query(whole)
            unfolded = unfold([changes.space], now)
            return [*known, prove(f"{case.name}: Q of the integral", goal, unfolded)]

        left, right = target.D(answer(changes.I(d))), output(d)
        return both(
            "state above the watermark", table, target.equal("Q over kept", left, right, facts)
        )


# ---------------------------------------------------------------- wrong variants

ROWS = "k BIGINT, t BIGINT"
COUNTS = Run(Aggregate(("k",), (("n", AggregateCall("count_star")),)), (ROWS,))
PAIRS = Run(Join(()), ("t BIGINT", "u BIGINT"))


def since(bound: int, columns: str = ROWS) -> Run:
    """The rows with a time t from the bound on: what is kept."""
    return Run(Filter(col("t") >= bound), (columns,))


def late_row() -> Counterexample:
    """The row of a group whose state was dropped: the group begins anew."""
    before, delta, t, w = z3.Ints("before delta t w")

    def replay(before: int, delta: int, t: int, w: int) -> tuple[ZSet, ZSet]:
        table, late = row(before, 7, t), row(delta, 7, t)
        kept = since(w).over(table)
        return COUNTS.change([kept], [late]), COUNTS.change([table], [late])

    claim = if_then(t >= w, before) + delta == before + delta
    given = [before > 0, delta > 0]
    name = "a late row finds its group's state"
    return refute(name, claim, given, [before, delta, t, w], replay=replay)


def group_of_two_times() -> Counterexample:
    """Rows dropped by their own time, from a group that later rows still come to."""
    old, delta, t, w = z3.Ints("old delta t w")

    def replay(old: int, delta: int, t: int, w: int) -> tuple[ZSet, ZSet]:
        table, new = row(old, 7, t), row(delta, 7, w)
        kept = since(w).over(table)
        return COUNTS.change([kept], [new]), COUNTS.change([table], [new])

    claim = if_then(t >= w, old) + delta == old + delta
    given = [old > 0, delta > 0, t < w]
    name = "rows below the watermark are in no group of later rows"
    return refute(name, claim, given, [old, delta, t, w], replay=replay)


def join_state_without_a_margin() -> Counterexample:
    """Rows dropped at the watermark itself, though later rows may match them."""
    a, t, u, w, h = z3.Ints("a t u w h")

    def replay(a: int, t: int, u: int, w: int, h: int) -> tuple[ZSet, ZSet]:
        near = Run(
            Filter((col("u") - col("t") <= h) & (col("t") - col("u") <= h)), ("t BIGINT, u BIGINT",)
        )
        table, later = row(a, t), row(1, u)
        kept = since(w, "t BIGINT").over(table)
        return near.over(PAIRS.over(kept, later)), near.over(PAIRS.over(table, later))

    given = [w <= u, u - t <= h, t - u <= h, h >= 0]
    claim = if_then(t >= w, a) == a
    name = "rows of a join are kept until the watermark"
    return refute(name, claim, given, [a, t, u, w, h], replay=replay)


@theorem(
    statement="local Q: D(Q(Id))[n+1] = Q(k+d) - Q(k), k = Id[n] ≥ w; w never falls, no late rows",
    source="beyond the paper: lateness and state clean-up in Feldera; watermarks in Flink",
    wrong=(late_row, group_of_two_times),
)
def state_cleanup() -> Thm:
    """For keys with one time each, a watermark that never goes back, and deltas not below it."""
    return CleanQuery().contract()


@theorem(
    statement="da ⋈ zI(db) = da ⋈ z(I(db) ≥ w - h), matches h apart, w never falls, no late rows",
    source="beyond the paper: interval joins; DBSP (VLDB 2023) theorem 3.4",
    wrong=(join_state_without_a_margin,),
)
def join_state_cleanup() -> Thm:
    """The two products with a table, of the join's three; the right side likewise."""
    left, right, join = any_zsets("A"), any_zsets("B"), any_join()
    times = fresh_symbol("time", left.row, INT), fresh_symbol("time of the right", right.row, INT)
    h = fresh_symbol("h", INT)()
    x, r, n = left.x, right.x, z3.Const("n", TICK)
    apart = times[0](x) - times[1](r)
    near = axiom(
        "rows that match are at most h apart",
        z3.ForAll([x, r], z3.Implies(join.matches(x, r), z3.And(-h <= apart, apart <= h))),
    )
    waters = Watermark(left, times[0]), Watermark(right, times[1])
    pairs, proofs = join.pairs.zsets, []
    for place, (water, other) in enumerate((waters, waters[::-1])):
        kept = Kept(other.rows, other.time, water.less(h))
        grows = prove_for_all(
            "the bound never goes back", [n], kept.bound(n) <= kept.bound(after(n)), [water.grows]
        )
        changes, deltas = kept.changes, streams_of(water.rows)
        delta, table = deltas.at(water.d, after(n)), changes.at(changes.I(other.d), n)
        state = changes.at(kept.of(other.d), n)

        def joined(rows: Term, delta: Term = delta, place: int = place) -> Term:
            return join.join(rows, delta) if place else join.join(delta, rows)

        as_kept = kept.above(table, kept.bound(n))
        known = [*join.join.equations, *kept.above.equations, near, water.later(n)]
        enough = pairs.equal("d ⋈ (b ≥ w - h) = d ⋈ b", joined(as_kept), joined(table), [], known)
        stored = inst(kept.table(other.d, grows), n)
        goal = joined(state) == joined(table)
        proofs.append(prove_for_all("d ⋈ kept = d ⋈ zI", [n], goal, [enough, stored]))
    return both("the state of a join above the watermark", *proofs, join_contract())
