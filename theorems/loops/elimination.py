"""A query that iterates is a stream made from one value and made into one value again.

    δ0(v)      the value at the first tick, then zeros         introduction
    E(v)       I(δ0(v)): the value at every tick
    ∫ s        the sum of s, where s is zero from some tick on  elimination

    ∫ D(fix o. ↑R(E(i), z(o)))     the recursive query o = R(i, o)
    ∫ D(fix o. ↑Q(δ0(i) + z(o)))   x := i; while x changes: x := Q(x)

The loop computes R(i, 0), R(i, R(i, 0)), … tick by tick; where that comes to rest, its changes
are zero from then on, and their sum is where it rests. Ticks are iterations here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.query import count, table
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causality import (
    at_most,
    at_most_reflexive,
    at_most_total,
    at_most_transitive,
)
from deltaproof.theorems.calculus.linear import Linear, lifted
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    after,
    any_streams,
    differentiate_after_integrate,
    group_of_streams,
    integral_laws,
    present,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Term,
    Thm,
    axiom,
    both,
    certificate,
    define,
    fresh_symbol,
    gen,
    induct,
    inst,
    parts,
    prove,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import if_then

FIRST = TICK.first
T, N, M = z3.Consts("t n m", TICK)


def by_time(name: str, claim: Callable[[Term], Formula], facts: Any) -> Thm:
    """∀ t. claim(t), by induction over time."""
    return inst(induct(name, TICK, claim, facts=facts), T)


class Elimination:
    """Introduction and elimination of the streams over one group."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        group, at = streams.group, streams.at
        self.introduced = streams.space.define(
            "δ0", [group.sort], cases=(lambda recur, v: v, lambda recur, n, v: group.zero)
        )
        later, until = z3.Consts("later until", TICK)
        self.zero_from = define(
            "zero from",
            [streams.sort, TICK],
            z3.BoolSort(),
            lambda s, n: z3.ForAll(
                [later], z3.Implies(at_most()(later, n), at(s, later) == group.zero)
            ),
        )
        self.sums_to = define(
            "∫",
            [streams.sort, group.sort],
            z3.BoolSort(),
            lambda s, x: z3.Exists(
                [until], z3.And(self.zero_from(s, until), at(streams.I(s), until) == x)
            ),
        )
        self.s, self.r = streams.stream("s"), streams.stream("r")
        self.x, self.y = z3.Consts("x y", group.sort)

    def constant(self, v: Term) -> Term:
        """E(v)."""
        return self.streams.I(self.introduced(v))

    @cached_property
    def zero_there(self) -> Thm:
        """∀ s n t. s is zero from n on ∧ n ≤ t → s[t] = 0."""
        s = self.s
        given = [self.zero_from(s, N), at_most()(T, N)]
        goal = self.streams.at(s, T) == self.streams.group.zero
        known = [self.zero_from.unfold(s, N)]
        return prove_for_all("zero from n on", [s, N, T], goal, known, given)

    @cached_property
    def rests(self) -> Thm:
        """∀ s n t. s is zero from n on ∧ n ≤ t → I(s)[t] = I(s)[n]."""
        streams, s, leq = self.streams, self.s, at_most()
        group, at, total = streams.group, streams.at, streams.I(self.s)

        def facts(case: Case) -> list[Thm]:
            known = [leq.unfold(case.term, N), inst(self.zero_there, s, N, case.term)]
            for tick in case.arguments:
                before = at(total, tick)
                known += unfold([streams.space], at(total, case.term))[:1]
                neutral = group.add(before, group.zero) == before
                known.append(certificate("x + 0 = x", group, neutral))
            return known

        def claim(t: Term) -> Formula:
            settled = at(total, t) == at(total, N)
            return z3.Implies(z3.And(self.zero_from(s, N), leq(t, N)), settled)

        return gen(by_time("I(s) is constant where s is zero", claim, facts), s, N, T)

    @cached_property
    def one_sum(self) -> Thm:
        """∀ s x y. ∫ s = x ∧ ∫ s = y → x = y."""
        s, x, y = self.s, self.x, self.y
        at, total = self.streams.at, self.streams.I(self.s)
        bounds = prove_for_all(
            "two bounds, one sum",
            [s, N, M],
            at(total, N) == at(total, M),
            [inst(at_most_total(), M, N), inst(self.rests, s, N, M), inst(self.rests, s, M, N)],
            given=[self.zero_from(s, N), self.zero_from(s, M)],
        )
        known = [bounds, self.sums_to.unfold(s, x), self.sums_to.unfold(s, y)]
        given = [self.sums_to(s, x), self.sums_to(s, y)]
        return prove_for_all("one sum", [s, x, y], x == y, known, given)

    def sum_at(self, s: Term, bound: Term, x: Term, zero: Thm, total: Thm) -> Thm:
        """∫ s = x, from the theorems that s is 0 from the bound on, and that I(s) is x there."""
        settled = prove(
            "zero from", self.zero_from(s, bound), [zero, self.zero_from.unfold(s, bound)]
        )
        here = self.streams.at(self.streams.I(s), bound) == x
        known = [settled, prove("the sum", here, [total]), self.sums_to.unfold(s, x)]
        return prove("∫ s = x", self.sums_to(s, x), known)

    @cached_property
    def introduction_additive(self) -> Thm:
        """∀ v w. δ0(v + w) = δ0(v) + δ0(w)."""
        group, add, v, w = self.streams.group, self.streams.add, self.x, self.y
        whole = self.introduced(group.add(v, w))
        right = add(self.introduced(v), self.introduced(w))
        return gen(self.streams.equal("δ0(v + w) = δ0(v) + δ0(w)", whole, right), v, w)

    @cached_property
    def constants(self) -> Thm:
        """∀ v t. E(v)[t] = v."""
        streams, v = self.streams, self.x
        at, group, constant = streams.at, streams.group, self.constant(self.x)

        def step(case: Case) -> Thm:
            unfolded = unfold([streams.space], case.goal)
            return certificate(case.name, group, case.goal, [*unfolded, *case.hypotheses])

        proved = induct("E(v)[t] = v", TICK, lambda t: at(constant, t) == v, step=step)
        return gen(inst(proved, T), v, T)

    @cached_property
    def elimination_additive(self) -> Thm:
        """∀ s r x y. ∫ s = x ∧ ∫ r = y → ∫ (s + r) = x + y."""
        streams, s, r, x, y = self.streams, self.s, self.r, self.x, self.y
        group, at, add, leq = streams.group, streams.at, streams.add, at_most()
        both_sides, k = add(s, r), z3.Const("k", TICK)
        given = [self.zero_from(s, N), self.zero_from(r, M), leq(k, N), leq(k, M)]
        late = [inst(at_most_transitive(), tick, k, T) for tick in (N, M)]
        zeros = [inst(self.zero_there, each, tick, T) for each, tick in ((s, N), (r, M))]
        nothing = certificate("0 + 0 = 0", group, group.add(group.zero, group.zero) == group.zero)
        unfolded = unfold([streams.space], at(both_sides, T))
        here = z3.Implies(leq(T, k), at(both_sides, T) == group.zero)
        zero = prove("s + r is zero too", here, [*late, *zeros, nothing, *unfolded], given)
        linear, _ = parts(integral_laws(streams))
        total, sums = streams.I(both_sides), add(streams.I(s), streams.I(r))
        known = [
            inst(linear, s, r),
            *unfold([streams.space], at(sums, k)),
            inst(self.rests, s, N, k),
            inst(self.rests, r, M, k),
        ]
        value = group.add(at(streams.I(s), N), at(streams.I(r), M))
        added = prove("the sums are added", at(total, k) == value, known, given)
        bounded = prove_for_all(
            "∫ at a common bound",
            [s, r, N, M, k],
            self.sums_to(both_sides, value),
            [
                gen(zero, T),
                added,
                self.zero_from.unfold(both_sides, k),
                self.sums_to.unfold(both_sides, value),
            ],
            given,
        )
        known = [
            self.sums_to.unfold(s, x),
            self.sums_to.unfold(r, y),
            gen(inst(bounded, s, r, N, M, N), N, M),
            gen(inst(bounded, s, r, N, M, M), N, M),
            at_most_reflexive(),
            at_most_total(),
        ]
        given = [self.sums_to(s, x), self.sums_to(r, y)]
        goal = self.sums_to(both_sides, group.add(x, y))
        return prove_for_all("∫ is linear", [s, r, x, y], goal, known, given)


@cache
def elimination(streams: Streams) -> Elimination:
    return Elimination(streams)


# ---------------------------------------------------------------- introduction and elimination


def sum_too_early() -> Counterexample:
    """The sum up to a tick after which the stream changes again."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[int, int]:
        totals = integrate([s0, s1, 0])
        return totals[0], totals[-1]

    return refute("∫ s = I(s)[0], with s[1] not 0", s0 == s0 + s1, show=[s0, s1], replay=replay)


def until_the_first_zero(stream: Sequence[Any]) -> Any:
    """The sum of the values before the first zero.

    >>> until_the_first_zero([1, 2, 0, 5]), until_the_first_zero([0])
    (3, 0)
    """
    values = list(stream)
    return integrate([0, *values[: [*values, 0].index(0)]])[-1]


def sum_until_the_first_zero() -> Counterexample:
    """A stream may be zero and go on; only that of a loop which is at rest may not."""
    s0, s2 = z3.Ints("s0 s2")

    def replay(s0: int, s2: int) -> tuple[int, int]:
        return until_the_first_zero([s0, 0, s2, 0]), integrate([s0, 0, s2, 0])[-1]

    return refute("∫ s = s[0], with s[1] = 0", s0 == s0 + s2, show=[s0, s2], replay=replay)


@theorem(
    statement="if s is 0 from n on, I(s) is I(s)[n] from n on, the same for every such n: ∫ s",
    source="DBSP (VLDB 2023) definition 5.1; long version (2022) definition 7.2",
    lean="sum_vals_zero_ge, sum_vals_eq, stream_elim_zero_after",
    wrong=(sum_too_early, sum_until_the_first_zero),
)
def zero_almost_everywhere() -> Thm:
    """So the sum of a stream that is zero almost everywhere is well defined."""
    it = elimination(any_streams("A"))
    return both("∫ is well defined", it.rests, it.one_sum)


def introduced_as_a_set() -> Counterexample:
    """The rows of positive weight, once each: how a recursion takes its inputs, but not δ0."""
    v, w = z3.Ints("v w")
    claim = present(v + w) == present(v) + present(w)

    def replay(v: int, w: int) -> tuple[ZSet, ZSet]:
        entering = Run(Distinct(), ("k BIGINT",))
        return entering.over(row(v + w, 1)), entering.over(row(v, 1)) + entering.over(row(w, 1))

    return refute("distinct(v + w) = distinct(v) + distinct(w)", claim, show=[v, w], replay=replay)


def introduced_at_every_tick() -> Counterexample:
    """E for δ0: linear too, but its sum is not the value."""
    v = z3.Int("v")
    claim = v + v == v
    return refute(
        "∫ (v, v, 0, …) = v", claim, show=[v], replay=lambda v: (integrate([v, v, 0])[-1], v)
    )


@theorem(
    statement="δ0(v + w) = δ0(v) + δ0(w), ↑δ0 is time-invariant, D(↑δ0(I(d))) = ↑δ0(d)",
    source="DBSP (VLDB 2023) proposition 5.2; long version (2022) proposition 7.4",
    lean="delta_linear, delta_incremental",
    wrong=(introduced_as_a_set, introduced_at_every_tick),
)
def introduction_linear() -> Thm:
    it = elimination(any_streams("A"))
    over_ticks = introduction(it)
    return both("δ0", it.introduction_additive, over_ticks.invariant, over_ticks.increment())


@cache
def streams_of_streams(inner: Streams) -> Streams:
    """The streams over the group of these streams."""
    return Streams(f"streams of {inner.name}", group_of_streams(inner))


@cache
def introduction(it: Elimination) -> Linear:
    """↑δ0, from streams to streams of streams."""
    inner = it.streams
    outer = streams_of_streams(inner)
    return lifted("δ0", inner, outer, it.introduced, it.introduction_additive)


def sums_of_divergent_streams() -> Counterexample:
    """∫ of a stream that goes on for ever taken as 0: the increment of ∫ is then not ∫."""
    a, b = z3.Ints("a b")
    before, now, change = z3.Bools("before_converges now_converges change_converges")
    given = [
        z3.Implies(z3.And(before, now), change),
        z3.Implies(z3.And(before, change), now),
        z3.Implies(z3.And(now, change), before),
    ]
    claim = if_then(now, a + b) - if_then(before, a) == if_then(change, b)

    def replay(a: int, b: int, before: bool, now: bool, change: bool) -> tuple[int, int]:
        """Rows as Z-sets of iterations; one that has not come to rest weighs at the last."""
        first, last = (0,), (9,)
        owed = int(not before)
        left = 0 if now else owed + int(not change)
        rows = [ZSet({first: a, last: owed}), ZSet({first: b, last: left - owed})]
        sums = [0 if row[last] else row[first] for row in integrate(rows)]
        return differentiate(sums)[1], 0 if rows[1][last] else rows[1][first]

    name = "(↑∫)^Δ = ↑∫, with ∫ = 0 where there is no sum"
    return refute(name, claim, given, show=[a, b, before, now, change], replay=replay)


def sums_that_stop_at_zero() -> Counterexample:
    """Up to the first zero: of two streams that are zero at different ticks."""
    s0, r1 = z3.Ints("s0 r1")

    def replay(s0: int, r1: int) -> tuple[int, int]:
        s, r = [s0, 0], [0, r1]
        whole = [x + y for x, y in zip(s, r, strict=True)]
        return until_the_first_zero(whole), until_the_first_zero(s) + until_the_first_zero(r)

    claim = if_then(s0 != 0, s0 + r1) == s0
    return refute(
        "∫ (s + r) = ∫ s + ∫ r, up to the first zero", claim, show=[s0, r1], replay=replay
    )


@theorem(
    statement="∫(s + r) = ∫s + ∫r, ∫δ0(v) = v; ↑∫ to a common bound is LTI, its own increment",
    source="DBSP (VLDB 2023) proposition 5.2; long version (2022) proposition 7.4",
    lean="stream_elim_linear, stream_elim_delta, stream_elim_time_invariant",
    wrong=(sums_that_stop_at_zero, sums_of_divergent_streams),
)
def elimination_linear() -> Thm:
    """For s and r that are zero from any ticks on. Over streams of streams there must be one bound
    for all rows: without it a row may have a sum although its changes have none.
    """
    it = elimination(any_streams("A"))
    return both("∫", it.elimination_additive, _sum_of_introduced(it), *_sums_to_bound(it))


def _sums_to_bound(it: Elimination) -> tuple[Thm, Thm, Thm]:
    """Linear, time-invariant and its own increment: s ↦ the sums of its rows up to any bound."""
    inner, bound = it.streams, fresh_symbol("bound", TICK)()
    outer = streams_of_streams(inner)
    s, r = it.s, it.r
    sums, _ = parts(integral_laws(inner))

    def to_bound(row: Term) -> Term:
        return inner.at(inner.I(row), bound)

    totals = inner.add(inner.I(s), inner.I(r))
    known = [inst(sums, s, r), *unfold([inner.space], inner.at(totals, bound))]
    whole = to_bound(inner.add(s, r)) == inner.group.add(to_bound(s), to_bound(r))
    additive = prove_for_all("the sum up to the bound is linear", [s, r], whole, known)
    over_ticks = lifted("∫", outer, inner, to_bound, additive)
    return over_ticks.linear, over_ticks.invariant, over_ticks.increment()


def _sum_of_introduced(it: Elimination) -> Thm:
    """∀ v. ∫ δ0(v) = v."""
    streams, v = it.streams, it.x
    one, leq, impulse = after(FIRST), at_most(), it.introduced(v)

    def facts(case: Case) -> list[Thm]:
        return [
            leq.unfold(case.term, one),
            leq.unfold(FIRST, one),
            *unfold([streams.space], case.goal),
        ]

    def claim(t: Term) -> Formula:
        return z3.Implies(leq(t, one), streams.at(impulse, t) == streams.group.zero)

    zero = gen(by_time("δ0(v) is zero from the second tick on", claim, facts), T)
    return gen(it.sum_at(impulse, one, v, zero, inst(it.constants, v, one)), v)


def constant_stream_integrated() -> Counterexample:
    """E(v) = I(E(v)): integrating what is constant already."""
    v = z3.Int("v")
    return refute(
        "I(E(v))[1] = v", v + v == v, show=[v], replay=lambda v: (integrate([v, v])[1], v)
    )


@theorem(
    statement="E(v) = I(δ0(v)) is v at every tick, D(E(v)) = δ0(v), so ∫ D(E(v)) = v",
    source="DBSP (VLDB 2023) section 5; long version (2022) section 7.1",
    lean="integral_delta",
    wrong=(constant_stream_integrated,),
)
def constant_stream() -> Thm:
    it = elimination(any_streams("A"))
    v, impulse = it.x, it.introduced(it.x)
    change = inst(differentiate_after_integrate(it.streams), impulse)
    summed = prove(
        "∫ D(E(v)) = v",
        it.sums_to(it.streams.D(it.constant(v)), v),
        [change, inst(_sum_of_introduced(it), v)],
    )
    return both("E", it.constants, gen(change, v), gen(summed, v))


def count_over_nothing() -> Counterexample:
    """COUNT(*) has a row over the empty table, so what is inside δ0 and ∫ must not have it."""
    rows = z3.Int("rows_of_count")

    def replay(rows: int) -> tuple[ZSet, ZSet]:
        over_nothing = table("t", "k BIGINT").aggregate(n=count()).meaning()({})
        return over_nothing, ZSet()

    return refute("Q(0) = 0 for Q = COUNT", rows == 0, [rows == 1], show=[rows], replay=replay)


@theorem(
    statement="∫ Q(δ0(0)) = 0 for every time-invariant Q: the whole maps zero to zero",
    source="DBSP long version (2022) proposition 7.5",
    lean="nested_zpp",
    wrong=(count_over_nothing,),
)
def introduction_of_zero() -> Thm:
    source, target = any_streams("A"), any_streams("B")
    here, there = elimination(source), elimination(target)
    q, s = fresh_symbol("Q", source.sort, target.sort), source.stream("s")
    invariant = axiom("Q is time-invariant", z3.ForAll([s], q(source.z(s)) == target.z(q(s))))
    nothing, zero = source.zero, target.group.zero
    late = source.equal("z(0) = 0", source.z(nothing), nothing)
    output, nothing_in = q(nothing), here.introduced(source.group.zero)
    itself = prove("Q(0) = z(Q(0))", output == target.z(output), [late, inst(invariant, nothing)])

    def facts(case: Case) -> list[Thm]:
        return [itself, *unfold([target.space], target.at(target.z(output), case.term))]

    values = gen(by_time("Q(0)[t] = 0", lambda t: target.at(output, t) == zero, facts), T)
    empty = source.equal("δ0(0) = 0", nothing_in, nothing)
    total = prove(
        "I(Q(0))[0] = 0",
        target.at(target.I(output), FIRST) == zero,
        [values, *unfold([target.space], target.at(target.I(output), FIRST))],
    )
    summed = there.sum_at(output, FIRST, zero, values, total)
    return prove("∫ Q(δ0(0)) = 0", there.sums_to(q(nothing_in), zero), [summed, empty])
