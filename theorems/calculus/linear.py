"""A linear, time-invariant operator on streams is its own increment, and so is what is built of
such operators; fused into a join they leave it bilinear.

    S(s + r) = S(s) + S(r)     S(z(s)) = z(S(s))     ⟹     D(S(I(d))) = S(d)

Here S is an operator on whole streams and may remember: a delay, an integral, a weighted sum of
delayed rows. That is more than `lifted_linear_increment` says, where S looks at one tick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import z3

from deltaproof.reference import stream as reference
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import (
    ONCE,
    PAIRED,
    TICK,
    Streams,
    additive,
    affine_as_linear,
    any_product,
    any_streams,
    bilinear_increment,
    delay_laws,
    differential_laws,
    differentiate_after_integrate,
    group_of_streams,
    integrate_after_differentiate,
    present,
    product_without_the_delays,
    product_without_the_product_of_deltas,
    zero_of_additive,
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
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

Image = Callable[[Term], Term]

SECOND = Run(Filter(col("k") > lit(0)), ("k BIGINT",))
FIRST = Run(Map((("k", lit(0)),)), ("k BIGINT",))
SWAPPED = Run(Map((("k", lit(1) - col("k")),)), ("k BIGINT",))


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear, time-invariant operator on streams, with the two theorems that say so."""

    name: str
    source: Streams
    target: Streams
    of: Image
    linear: Thm  # ∀ s r. S(s + r) = S(s) + S(r)
    invariant: Thm  # ∀ s. S(z(s)) = z(S(s))

    def laws(self) -> Thm:
        return both(f"{self.name} is linear and time-invariant", self.linear, self.invariant)

    def passes_difference(self) -> Thm:
        """∀ s. D(S(s)) = S(D(s))."""
        source, target, of = self.source, self.target, self.of
        here, there = group_of_streams(source), group_of_streams(target)
        s = source.stream("s")
        delayed = source.z(s)
        negated = here.neg(delayed)
        opposite = certificate("s + -s = 0", here, here.add(delayed, negated) == here.zero)
        at_zero = inst(self.linear, here.zero, here.zero)
        change = here.add(s, negated)
        sides = [
            inst(self.linear, s, negated),
            inst(self.linear, delayed, negated),
            inst(self.invariant, s),
            prove("S(s + -s) = S(0)", of(here.add(delayed, negated)) == of(here.zero), [opposite]),
            zero_of_additive(self.name, here, there, of, at_zero),
            inst(difference(target), of(s)),
        ]
        split = certificate("D(S(s)) = S(s - z(s))", there, target.D(of(s)) == of(change), sides)
        goal = target.D(of(s)) == of(source.D(s))
        name = f"D({self.name}(s)) = {self.name}(D(s))"
        return gen(prove(name, goal, [split, inst(difference(source), s)]), s)

    def passes_integral(self) -> Thm:
        """∀ s. I(S(s)) = S(I(s))."""
        s, target = self.source.stream("s"), self.target
        right = self.of(self.source.I(s))
        known = [
            inst(self.increment(), s),
            inst(integrate_after_differentiate(target), right),
        ]
        name = f"I({self.name}(s)) = {self.name}(I(s))"
        return gen(prove(name, target.I(self.of(s)) == right, known), s)

    def increment(self) -> Thm:
        """∀ d. D(S(I(d))) = S(d)."""
        d = self.source.stream("d")
        passed = inst(self.passes_difference(), self.source.I(d))
        inverse = inst(differentiate_after_integrate(self.source), d)
        goal = self.target.D(self.of(self.source.I(d))) == self.of(d)
        return gen(prove(f"D({self.name}(I(d))) = {self.name}(d)", goal, [passed, inverse]), d)

    def after(self, other: Linear) -> Linear:
        """S ∘ R."""
        s, r = other.source.stream("s"), other.source.stream("r")
        name = f"{self.name}({other.name})"

        def of(stream: Term) -> Term:
            return self.of(other.of(stream))

        add, plus = other.source.add, self.target.add
        linear = [inst(other.linear, s, r), inst(self.linear, other.of(s), other.of(r))]
        invariant = [inst(other.invariant, s), inst(self.invariant, other.of(s))]
        sums, delays = of(add(s, r)) == plus(of(s), of(r)), of(other.source.z(s))
        return Linear(
            name,
            other.source,
            self.target,
            of,
            prove_for_all(f"{name} is linear", [s, r], sums, linear),
            prove_for_all(f"{name} is late", [s], delays == self.target.z(of(s)), invariant),
        )

    def plus(self, other: Linear) -> Linear:
        """S + R, the same rows through both."""
        source, target = self.source, self.target
        group, s, r = group_of_streams(target), source.stream("s"), source.stream("r")
        name = f"{self.name} + {other.name}"

        def of(stream: Term) -> Term:
            return target.add(self.of(stream), other.of(stream))

        linear = [inst(self.linear, s, r), inst(other.linear, s, r)]
        sums = of(source.add(s, r)) == target.add(of(s), of(r))
        invariant = [
            inst(self.invariant, s),
            inst(other.invariant, s),
            inst(delay_laws(target), self.of(s), other.of(s)),
        ]
        delays = of(source.z(s)) == target.z(of(s))
        return Linear(
            name,
            source,
            target,
            of,
            gen(certificate(f"{name} is linear", group, sums, linear), s, r),
            gen(prove(f"{name} is late", delays, invariant), s),
        )


@cache
def difference(streams: Streams) -> Thm:
    """∀ s. D(s) = s - z(s), as streams."""
    s = streams.stream("s")
    right = streams.add(s, streams.neg(streams.z(s)))
    return gen(streams.equal("D(s) = s - z(s)", streams.D(s), right), s)


def lifted(name: str, source: Streams, target: Streams, function: Image, linear: Thm) -> Linear:
    """↑f for a function with the theorem ∀ x y. f(x + y) = f(x) + f(y)."""
    of = target.lift(name, function, source)
    s, r = source.stream("s"), source.stream("r")
    zero = source.group.zero
    nothing = zero_of_additive(name, source.group, target.group, function, inst(linear, zero, zero))

    def sums(case: Case) -> list[Thm]:
        one, other = source.at(s, case.term), source.at(r, case.term)
        whole = source.at(source.add(s, r), case.term)
        total = target.group.add(function(one), function(other))
        known = [*unfold([source.space], whole), inst(linear, one, other)]
        return [prove(f"{case.name}: f of a sum", function(whole) == total, known)]

    def delays(case: Case) -> list[Thm]:
        late = source.at(source.z(s), case.term)
        before = source.at(s, case.arguments[0]) if case.arguments else zero
        unfolded = unfold([source.space], late)
        return [
            prove(f"{case.name}: f, late", function(late) == function(before), unfolded),
            nothing,
        ]

    plus = target.add(of(s), of(r))
    return Linear(
        name,
        source,
        target,
        of,
        gen(target.equal(f"{name} is linear", of(source.add(s, r)), plus, sums), s, r),
        gen(target.equal(f"{name} is late", of(source.z(s)), target.z(of(s)), delays), s),
    )


def any_lifted(name: str, source: Streams, target: Streams) -> Linear:
    """↑f, where nothing is known of f but that it is linear."""
    f = fresh_symbol(name, source.group.sort, target.group.sort)
    linear = axiom(f"{name} is linear", additive(source.group, target.group, f))
    return lifted(name, source, target, f, linear)


def change_of_sum(name: str, *summands: tuple[Linear, Thm]) -> Thm:
    """D(f(Q) + g(R) + …) = f(Q') + g(R') + …, from D(Q) = Q', D(R) = R', … and linear f, g, …."""
    target = summands[0][0].target
    additive_D, _ = parts(differential_laws(target))
    known: list[Thm] = []
    views, changes = [], []
    for operator, contract in summands:
        view, delta = contract.formula.arg(0).arg(0), contract.formula.arg(1)
        views.append(operator.of(view))
        changes.append(operator.of(delta))
        passed = inst(operator.passes_difference(), view)
        label = f"D({operator.name}(Q)) = {operator.name}(Q')"
        known.append(prove(label, target.D(views[-1]) == changes[-1], [passed, contract]))
    whole, change = views[0], changes[0]
    for one, other in zip(views[1:], changes[1:], strict=True):
        known.append(inst(additive_D, whole, one))
        whole, change = target.add(whole, one), target.add(change, other)
    return certificate(name, group_of_streams(target), target.D(whole) == change, known)


class Delays:
    """z applied k times, for every k at once: k is a tick, and ticks are counted from the first."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self.power = recursive(
            "z^",
            TICK,
            [streams.sort],
            streams.sort,
            (lambda recur, s: s, lambda recur, n, s: streams.z(recur(n, s))),
        )
        self.k, self.s, self.r = z3.Const("k", TICK), streams.stream("s"), streams.stream("r")

    def linear(self) -> Thm:
        """∀ k s r. z^k(s + r) = z^k(s) + z^k(r)."""
        power, add, s, r = self.power, self.streams.add, self.s, self.r

        def claim(k: Term) -> Formula:
            whole = power(k, add(s, r))
            both_sides = whole == add(power(k, s), power(k, r))
            return z3.ForAll([s, r], both_sides, patterns=[whole])

        by = [*power.equations, delay_laws(self.streams)]
        return induct("z^k(s + r) = z^k(s) + z^k(r)", TICK, claim, by)

    def invariant(self) -> Thm:
        """∀ k s. z^k(z(s)) = z(z^k(s))."""
        power, z, s = self.power, self.streams.z, self.s
        claim = lambda k: z3.ForAll([s], power(k, z(s)) == z(power(k, s)))  # noqa: E731  # a formula
        return induct("z^k(z(s)) = z(z^k(s))", TICK, claim, power.equations)

    def of(self, k: Term) -> Linear:
        """z^k for one number of ticks, with the theorems for it."""
        s, r = self.s, self.r
        return Linear(
            "z^k",
            self.streams,
            self.streams,
            lambda stream: self.power(k, stream),
            gen(inst(inst(self.linear(), k), s, r), s, r),
            gen(inst(inst(self.invariant(), k), s), s),
        )


# ---------------------------------------------------------------- theorems


def doubled_every_tick() -> Counterexample:
    """S(s)[t] = t · s[t] is linear, but a stream that starts later is scaled by more."""
    d0, d1 = z3.Ints("d0 d1")
    claim = 2 * (d0 + d1) - 1 * d0 == 2 * d1

    def replay(d0: int, d1: int) -> tuple[list[int], list[int]]:
        def scaled(stream: list[int]) -> list[int]:
            return reference.lift(lambda t, value: (t + 1) * value)(range(len(stream)), stream)

        deltas = [d0, d1]
        return reference.differentiate(scaled(reference.integrate(deltas))), scaled(deltas)

    name = "D(S(I(d)))[1] = S(d)[1], with S(s)[t] = (t + 1) s[t]"
    return refute(name, claim, show=[d0, d1], replay=replay)


@theorem(
    statement="D(S(I(d))) = S(d) for every linear, time-invariant S, also one that remembers",
    source="DBSP (VLDB 2023) theorem 3.3",
    lean="lti_incremental",
    wrong=(doubled_every_tick, affine_as_linear),
)
def linear_increment_over_time() -> Thm:
    return any_linear("S", "A", "B").increment()


def any_linear(name: str, source: str, target: str) -> Linear:
    """An operator of which nothing is known but that it is linear and time-invariant."""
    a, b = any_streams(source), any_streams(target)
    of = fresh_symbol(name, a.sort, b.sort)
    s = a.stream("s")
    return Linear(
        name,
        a,
        b,
        of,
        axiom(f"{name} is linear", additive(group_of_streams(a), group_of_streams(b), of)),
        axiom(f"{name} is time-invariant", z3.ForAll([s], of(a.z(s)) == b.z(of(s)))),
    )


def composed_in_the_other_order() -> Counterexample:
    """S ∘ R for R ∘ S: both are linear, and a rewrite that swaps them is wrong."""
    a, b = z3.Ints("a b")
    first = (a + b, b)  # S adds the second row to the first
    swapped = (b, a)  # R swaps the rows
    claim = z3.And(first[1] == swapped[0] + swapped[1], first[0] == swapped[1])

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        def onto_the_first(rows: ZSet) -> ZSet:
            return rows + FIRST.over(SECOND.over(rows))

        rows = row(a, 0) + row(b, 1)
        return SWAPPED.over(onto_the_first(rows)), onto_the_first(SWAPPED.over(rows))

    return refute("R(S(a)) = S(R(a))", claim, show=[a, b], replay=replay)


def linear_after_distinct() -> Counterexample:
    """A filter of distinct rows as its own increment: only linear operators fuse."""
    a, d = z3.Ints("a d")

    claim = present(a + d) - present(a) == present(d)

    def replay(a: int, d: int) -> tuple[ZSet, ZSet]:
        before, delta = row(a, 1), row(d, 1)
        right = SECOND.over(ONCE.over(delta))
        return SECOND.over(ONCE.change([before], [delta])), right

    name = "D(S(distinct(I(d)))) = S(distinct(d))"
    return refute(name, claim, show=[a, d], replay=replay)


@theorem(
    statement="S ∘ R and S + T are linear, time-invariant: D(S(R(I(d)))) = S(R(d)), they fuse",
    source="DBSP (VLDB 2023) section 2, theorem 3.3",
    wrong=(composed_in_the_other_order, linear_after_distinct),
)
def linear_compose() -> Thm:
    s, r, t = any_linear("S", "B", "C"), any_linear("R", "A", "B"), any_linear("T", "B", "C")
    composed, summed = s.after(r), s.plus(t)
    proofs = [one for each in (composed, summed) for one in (each.laws(), each.increment())]
    return both("linear operators compose", *proofs)


def join_after_distinct() -> Counterexample:
    """distinct fused into a join: its product of deltas is not the delta of the product."""
    a, b, db = z3.Ints("a b db")

    claim = a * present(b + db) - a * present(b) == a * present(db)

    def replay(a: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        left, before, delta = row(a, 7), row(b, 8), row(db, 8)
        after = PAIRED.over(left, ONCE.over(before + delta))
        return after - PAIRED.over(left, ONCE.over(before)), PAIRED.over(left, ONCE.over(delta))

    name = "D(a × distinct(b)) = a × distinct(db)"
    return refute(name, claim, show=[a, b, db], replay=replay)


@theorem(
    statement="h(Q(f(a), g(b))) is bilinear for bilinear Q, linear f, g, h: so fusing is right",
    source="DBSP (VLDB 2023) section 2, theorem 3.4; long version, 3.22",
    wrong=(join_after_distinct, product_without_the_delays, product_without_the_product_of_deltas),
)
def join_after_linear() -> Thm:
    """A planner may move filters and projections into a join, on either side of it."""
    a, b, c, d, e, w = (any_streams(name) for name in "ABCDEW")
    f = fresh_symbol("f", a.group.sort, c.group.sort)
    g = fresh_symbol("g", b.group.sort, d.group.sort)
    h = fresh_symbol("h", e.group.sort, w.group.sort)
    q, bilinear = any_product("Q", c.group, d.group, e.group)
    x, y = z3.Consts("x y", a.group.sort)
    v, u = z3.Consts("v u", b.group.sort)
    add = {
        each: streams.group.add for each, streams in zip("abcdew", (a, b, c, d, e, w), strict=True)
    }
    known = [
        axiom("f is linear", additive(a.group, c.group, f)),
        axiom("g is linear", additive(b.group, d.group, g)),
        axiom("h is linear", additive(e.group, w.group, h)),
        *bilinear,
    ]
    sorts, target = [a.group.sort, b.group.sort], w.group.sort
    fused = define("h(Q(f, g))", sorts, target, lambda one, other: h(q(f(one), g(other))))
    on_the_left = prove_for_all(
        "h(Q(f(x + y), g(v))) = h(Q(f(x), g(v))) + h(Q(f(y), g(v)))",
        [x, y, v],
        fused(add["a"](x, y), v) == add["w"](fused(x, v), fused(y, v)),
        [*known, *fused.equations],
    )
    on_the_right = prove_for_all(
        "h(Q(f(x), g(v + u))) = h(Q(f(x), g(v))) + h(Q(f(x), g(u)))",
        [x, v, u],
        fused(x, add["b"](v, u)) == add["w"](fused(x, v), fused(x, u)),
        [*known, *fused.equations],
    )
    linear = (on_the_left, on_the_right)
    contract = bilinear_increment("h(Q(f, g))", (a, b), w, fused, linear)
    return both("a join of linear inputs is bilinear", *linear, contract)
