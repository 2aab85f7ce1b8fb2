"""Streams of whole numbers under convolution are a commutative ring, in which z and I are factors.

    (s × r)[t] = s[0] r[t] + s[1] r[t-1] + … + s[t] r[0]

So a stream may be written as the power series Σ s[t] zᵗ, and a circuit of z, D, I and feedback as a
fraction of polynomials: `ztransform` decides equations of such fractions, and this ring is why that
is allowed. Proved by induction over time, for all streams and ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import z3

from deltaproof.reference.stream import delay, integrate
from deltaproof.theorems.calculus.streams import TICK, after
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Facts,
    Formula,
    FunctionSpace,
    Term,
    Thm,
    both,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.registry import theorem

INT = z3.IntSort()


class Series:
    """Streams of whole numbers, with `+`, ×, z, I and the stream 1 0 0 …"""

    def __init__(self) -> None:
        space = self.space = FunctionSpace("streams of integers", TICK, INT)
        sort, at, first = space.sort, space.at, TICK.first
        self.at = at
        self.tail = space.define("tail", [sort], lambda t, s: at(s, after(t)))
        self.add = space.define("add", [sort, sort], lambda t, s, r: at(s, t) + at(r, t))
        self.scale = space.define("scale", [INT, sort], lambda t, c, s: c * at(s, t))
        self.zero = space.define("zero", [], lambda t: z3.IntVal(0))
        self.ones = space.define("ones", [], lambda t: z3.IntVal(1))
        self.unit = space.define(
            "unit", [], cases=(lambda recur: z3.IntVal(1), lambda recur, n: z3.IntVal(0))
        )
        self.z = space.define(
            "z", [sort], cases=(lambda recur, s: z3.IntVal(0), lambda recur, n, s: at(s, n))
        )
        self.I = space.define(
            "I",
            [sort],
            cases=(
                lambda recur, s: at(s, first),
                lambda recur, n, s: recur(n, s) + at(s, after(n)),
            ),
        )
        self.sum = recursive(
            "sum of products",
            TICK,
            [sort, sort],
            INT,
            (
                lambda recur, s, r: at(s, first) * at(r, first),
                lambda recur, n, s, r: at(s, first) * at(r, after(n)) + recur(n, self.tail(s), r),
            ),
        )
        self.times = space.define("×", [sort, sort], self.sum)

    def streams(self, names: str) -> list[Term]:
        return [z3.Const(name, self.space.sort) for name in names]

    def same(
        self,
        name: str,
        left: Term,
        right: Term,
        over: Sequence[Term],
        by: Sequence[Definition],
    ) -> Thm:
        """∀ over. left = right, where these definitions say so at every tick."""
        tick = z3.Const("t", TICK)
        known = [thm for each in (*by, self.tail) for thm in each.equations]
        goal = self.at(left, tick) == self.at(right, tick)
        everywhere = prove_for_all(f"{name}, at t", [tick], goal, known)
        equal = self.space.equal(name, left, right, everywhere)
        return gen(equal, *over, patterns=[left]) if over else equal

    def by_induction(
        self,
        name: str,
        over: Sequence[Term],
        sides: Callable[[Term], tuple[Term, Term]],
        by: Sequence[Thm],
    ) -> Thm:
        """∀ t over. left(t) = right(t)."""

        def claim(tick: Term) -> Formula:
            left, right = sides(tick)
            return z3.ForAll(list(over), left == right, patterns=[left])

        return induct(name, TICK, claim, [*self.sum.equations, *by])

    def step_by_step(
        self,
        name: str,
        over: Sequence[Term],
        sides: Callable[[Term], tuple[Term, Term]],
        facts: Facts,
        before: Sequence[Term],
    ) -> Thm:
        """∀ t over. left(t) = right(t), from `facts` and the claim for `before` a tick earlier.

        The facts are about single numbers only, so that products are all there is to find.
        """

        def claim(tick: Term) -> Formula:
            left, right = sides(tick)
            return z3.ForAll(list(over), left == right)

        def step(case: Case) -> Thm:
            left, right = sides(case.term)
            earlier = [inst(each, *before) for each in case.hypotheses]
            supposed = [each.formula for each in earlier]
            numbers = prove(f"{case.name}, in numbers", left == right, facts(case), supposed)
            return gen(prove(case.name, left == right, [numbers, *earlier]), *over)

        return induct(name, TICK, claim, step=step)


@cache
def series() -> Series:
    return Series()


# ---------------------------------------------------------------- linear in each factor


@cache
def sum_additive() -> Thm:
    """∀ t s r q. Σ of (s + r) × q = Σ of s × q + Σ of r × q."""
    it = series()
    s, r, q = it.streams("srq")
    tail = it.same(
        "tail(s + r)", it.tail(it.add(s, r)), it.add(it.tail(s), it.tail(r)), [s, r], [it.add]
    )
    return it.by_induction(
        "(s + r) × q = s × q + r × q",
        [s, r, q],
        lambda t: (it.sum(t, it.add(s, r), q), it.sum(t, s, q) + it.sum(t, r, q)),
        [tail, *it.add.equations],
    )


@cache
def sum_scaled() -> Thm:
    """∀ t c s r. Σ of (c s) × r = c Σ of s × r."""
    it = series()
    (s, r), c = it.streams("sr"), z3.Int("c")
    multiple = it.scale(c, s)
    tail = it.same("tail(c s)", it.tail(multiple), it.scale(c, it.tail(s)), [c, s], [it.scale])

    def facts(case: Case) -> list[Thm]:
        known = [it.scale.unfold(TICK.first, c, s)]
        known += [it.sum.unfold(case.term, each, r) for each in (multiple, s)]
        return [*known, *[inst(tail, c, s) for _ in case.arguments]]

    return it.step_by_step(
        "(c s) × r = c (s × r)",
        [c, s, r],
        lambda t: (it.sum(t, multiple, r), c * it.sum(t, s, r)),
        facts,
        [c, it.tail(s), r],
    )


# ---------------------------------------------------------------- the ring


@cache
def commutative() -> Thm:
    """∀ t s r. Σ of s × r = Σ of r × s."""
    it = series()
    s, r = it.streams("sr")
    last = it.by_induction(
        "the last product apart",
        [s, r],
        lambda t: (
            it.sum(after(t), s, r),
            it.at(s, after(t)) * it.at(r, TICK.first) + it.sum(t, s, it.tail(r)),
        ),
        it.tail.equations,
    )
    return it.by_induction(
        "s × r = r × s", [s, r], lambda t: (it.sum(t, s, r), it.sum(t, r, s)), [last]
    )


@cache
def associative() -> Thm:
    """∀ t s r q. Σ of (s × r) × q = Σ of s × (r × q)."""
    it = series()
    s, r, q = it.streams("srq")
    times, tail, first = it.times, it.tail, TICK.first
    head = it.scale(it.at(s, first), tail(r))
    rest = times(tail(s), r)
    split = it.same(
        "tail(s × r) = s[0] tail(r) + tail(s) × r",
        tail(times(s, r)),
        it.add(head, rest),
        [s, r],
        [times, it.add, it.scale, it.sum],
    )

    def facts(case: Case) -> list[Thm]:
        known = [
            it.sum.unfold(case.term, times(s, r), q),
            it.sum.unfold(case.term, s, times(r, q)),
            it.sum.unfold(first, s, r),
            it.sum.unfold(case.term, r, q),
            times.unfold(first, s, r),
            times.unfold(case.term, r, q),
        ]
        for tick in case.arguments:
            known += [
                inst(split, s, r),
                inst(sum_additive(), tick, head, rest, q),
                inst(sum_scaled(), tick, it.at(s, first), tail(r), q),
                times.unfold(tick, tail(s), r),
            ]
        return known

    return it.step_by_step(
        "(s × r) × q = s × (r × q)",
        [s, r, q],
        lambda t: (it.sum(t, times(s, r), q), it.sum(t, s, times(r, q))),
        facts,
        [tail(s), r, q],
    )


@cache
def unit() -> Thm:
    """∀ t s. Σ of (1 0 0 …) × s = s[t]."""
    it = series()
    (s,) = it.streams("s")
    zero, one = it.zero(), it.unit()
    zero_tail = it.same("tail(0) = 0", it.tail(zero), zero, [], [it.zero])
    nothing = it.by_induction(
        "0 × s = 0",
        [s],
        lambda t: (it.sum(t, zero, s), z3.IntVal(0)),
        [zero_tail, *it.zero.equations],
    )
    tail = it.same("tail(1 0 0 …) = 0", it.tail(one), zero, [], [it.unit, it.zero])
    return it.by_induction(
        "(1 0 0 …) × s = s",
        [s],
        lambda t: (it.sum(t, one, s), it.at(s, t)),
        [tail, nothing, *it.unit.equations],
    )


@cache
def delay_factor() -> Thm:
    """∀ t s r. Σ of z(s) × r = z(s × r)."""
    it = series()
    s, r = it.streams("sr")
    tail = it.same("tail(z(s)) = s", it.tail(it.z(s)), s, [s], [it.z])
    return it.by_induction(
        "z(s) × r = z(s × r)",
        [s, r],
        lambda t: (it.sum(t, it.z(s), r), it.at(it.z(it.times(s, r)), t)),
        [tail, *it.z.equations, *it.times.equations],
    )


@cache
def integral_factor() -> Thm:
    """∀ t s. Σ of (1 1 1 …) × s = I(s)[t]."""
    it = series()
    (s,) = it.streams("s")
    ones = it.ones()
    tail = it.same("tail(1 1 1 …) = 1 1 1 …", it.tail(ones), ones, [], [it.ones])
    return it.by_induction(
        "(1 1 1 …) × s = I(s)",
        [s],
        lambda t: (it.sum(t, ones, s), it.at(it.I(s), t)),
        [tail, *it.ones.equations, *it.I.equations],
    )


@cache
def integral_product(s: Term) -> Thm:
    """(1 1 1 …) × s = I(s), as streams."""
    it, t = series(), z3.Const("t", TICK)
    product, integral = it.times(it.ones(), s), it.I(s)
    known = [it.times.unfold(t, it.ones(), s), inst(integral_factor(), t, s)]
    goal = it.at(product, t) == it.at(integral, t)
    everywhere = prove_for_all("(1 1 1 …) × s = I(s), at t", [t], goal, known)
    return it.space.equal("(1 1 1 …) × s = I(s)", product, integral, everywhere)


def identity() -> Term:
    """0 1 2 …: z(I(1 1 1 …))."""
    it = series()
    return it.z(it.I(it.ones()))


@cache
def identity_squared() -> Thm:
    """id × id = z(I(I(id))): a factor id is z(I(1 1 1 …)), and z and I are factors."""
    it, t = series(), z3.Const("t", TICK)
    one, ones, times = identity(), it.ones(), it.times
    counted, twice = it.I(ones), it.I(it.I(one))
    factors = [integral_product(each) for each in (ones, one, it.I(one))]
    inner = prove_for_all(
        "I(1 1 1 …) × id = I(I(id)), at t",
        [t],
        it.at(times(counted, one), t) == it.at(twice, t),
        [
            *factors,
            times.unfold(t, times(ones, ones), one),
            inst(associative(), t, ones, ones, one),
            times.unfold(t, ones, times(ones, one)),
        ],
    )
    known = [
        it.space.equal("I(1 1 1 …) × id = I(I(id))", times(counted, one), twice, inner),
        times.unfold(t, one, one),
        inst(delay_factor(), t, counted, one),
    ]
    square, late = times(one, one), it.z(twice)
    goal = it.at(square, t) == it.at(late, t)
    everywhere = prove_for_all("id × id = z(I(I(id))), at t", [t], goal, known)
    return it.space.equal("id × id = z(I(I(id)))", square, late, everywhere)


def convolved(s: Sequence[int], r: Sequence[int]) -> list[int]:
    """s × r: every value of r, by the reference's delay, times the value of s at that tick.

    >>> convolved([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    [0, 0, 1, 4, 10]
    """
    total, later = [0] * len(r), list(r)
    for value in s:
        total = [each + value * one for each, one in zip(total, later, strict=True)]
        later = delay(later)
    return total


def product_tick_by_tick() -> Counterexample:
    """The product at every tick is not that of the power series: z is no factor of it."""
    s0, r0, r1 = z3.Ints("s0 r0 r1")

    def replay(s0: int, r0: int, r1: int) -> tuple[list[int], list[int]]:
        s, r = [s0, 0], [r0, r1]
        late, product = delay(s), [a * b for a, b in zip(s, r, strict=True)]
        return [a * b for a, b in zip(late, r, strict=True)], delay(product)

    return refute(
        "z(s) r = z(s r), tick by tick", s0 * r1 == s0 * r0, show=[s0, r0, r1], replay=replay
    )


def integral_as_the_first_value() -> Counterexample:
    """1 0 0 … is the factor of nothing done, not of I."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        return integrate([s0, s1]), convolved([1, 0], [s0, s1])

    return refute("I(s) = (1 0 0 …) × s", s0 + s1 == s1, show=[s0, s1], replay=replay)


@theorem(
    statement="streams under convolution are a commutative ring; z and I are factors in it",
    source="DBSP long version (2022) appendix A",
    wrong=(product_tick_by_tick, integral_as_the_first_value),
)
def convolution_ring() -> Thm:
    """Sums are tick by tick, so that they are a group is `stream_group`."""
    return both(
        "the ring of power series",
        associative(),
        commutative(),
        sum_additive(),
        unit(),
        delay_factor(),
        integral_factor(),
    )
