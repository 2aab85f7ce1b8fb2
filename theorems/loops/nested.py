"""Streams of streams have two clocks, ticks and iterations; what holds of one clock holds of both.

    s[t][i]            the row s[t] is what tick t does, iteration by iteration
    z, D, I            by tick: they take whole rows
    ↑z, ↑D, ↑I         by iteration: at every tick, inside the row

A loop over the iterations is closed by ↑z, and has one solution. Lifting a query that loops is
lifting each operator in its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import z3

from deltaproof.reference.stream import delay, differentiate, integrate, lift
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    STRICT,
    Fixpoint,
    Loop,
    agree_pointwise,
    agreement_before,
    any_operator,
    at_most,
    at_most_reflexive,
    delay_strict_of,
    fixpoint,
    less_than,
    strict_formula,
)
from deltaproof.theorems.calculus.linear import Linear, lifted
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    any_streams,
    delay_laws,
    differential_laws,
    differentiate_after_integrate,
    integral_laws,
    integrate_after_differentiate,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Term,
    Thm,
    axiom,
    both,
    define,
    fresh_symbol,
    gen,
    inst,
    parts,
    prove,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.loops.elimination import streams_of_streams
from deltaproof.theorems.registry import theorem


class TwoTimes:
    """Streams, by tick, of streams, by iteration: z, D and I in each of the two times."""

    def __init__(self, inner: Streams) -> None:
        self.inner = inner
        self.outer = streams_of_streams(inner)

    @cached_property
    def z(self) -> Linear:
        return self._inside("z by iteration", self.inner.z, delay_laws(self.inner))

    @cached_property
    def D(self) -> Linear:
        linear, _ = parts(differential_laws(self.inner))
        return self._inside("D by iteration", self.inner.D, linear)

    @cached_property
    def I(self) -> Linear:  # noqa: E743  # the integral
        linear, _ = parts(integral_laws(self.inner))
        return self._inside("I by iteration", self.inner.I, linear)

    def _inside(self, name: str, function: Callable[[Term], Term], linear: Thm) -> Linear:
        return lifted(name, self.outer, self.outer, function, linear)

    def everywhere(self, name: str, law: Thm, left: Term, right: Term) -> Thm:
        """left = right, because the law holds of the stream of iterations at every tick."""
        outer = self.outer
        t = z3.Const("t", TICK)
        one, other = outer.at(left, t), outer.at(right, t)
        proof = prove(name, one == other, [law, *unfold([outer.space], one, other)])
        return outer.space.equal(name, left, right, gen(proof, t))

    def changes(self, s: Term) -> Term:
        """D by tick of D by iteration."""
        return self.outer.D(self.D.of(s))

    def contents(self, s: Term) -> Term:
        """I by iteration of I by tick."""
        return self.I.of(self.outer.I(s))

    @cached_property
    def contents_of_changes(self) -> Thm:
        """∀ s. I I D D s = s."""
        s, outer = self.outer.stream("s"), self.outer
        inside = self.I.of(self.D.of(s))
        inverse = integrate_after_differentiate(self.inner)
        goal = self.contents(self.changes(s)) == s
        known = [
            inst(integrate_after_differentiate(outer), self.D.of(s)),
            self.everywhere("I D s = s by iteration", inverse, inside, s),
        ]
        return gen(prove("I I D D s = s", goal, known), s)

    @cached_property
    def changes_of_contents(self) -> Thm:
        """∀ s. D D I I s = s."""
        s, outer = self.outer.stream("s"), self.outer
        now = outer.I(s)
        inverse = differentiate_after_integrate(self.inner)
        goal = self.changes(self.contents(s)) == s
        known = [
            self.everywhere("D I s = s by iteration", inverse, self.D.of(self.I.of(now)), now),
            inst(differentiate_after_integrate(outer), s),
        ]
        return gen(prove("D D I I s = s", goal, known), s)

    @cached_property
    def delay_of_contents(self) -> Thm:
        """∀ s. z(I I s) = I I z(s), with z the delay by one iteration."""
        s, outer = self.outer.stream("s"), self.outer
        now = outer.I(s)
        _, invariant = parts(integral_laws(self.inner))
        left, right = self.I.of(self.z.of(now)), self.z.of(self.I.of(now))
        known = [
            self.everywhere("I z = z I by iteration", invariant, left, right),
            inst(passes_integral(self.z), s),
        ]
        goal = self.z.of(self.contents(s)) == self.contents(self.z.of(s))
        return gen(prove("z I I s = I I z s", goal, known), s)


@cache
def two_times(inner: Streams) -> TwoTimes:
    return TwoTimes(inner)


@cache
def passes_difference(operator: Linear) -> Thm:
    """∀ s. D(S(s)) = S(D(s))."""
    return operator.passes_difference()


@cache
def passes_integral(operator: Linear) -> Thm:
    """∀ s. I(S(s)) = S(I(s)), since D is one to one."""
    here, there = operator.source, operator.target
    s = here.stream("s")
    total = operator.of(here.I(s))
    known = [
        inst(passes_difference(operator), here.I(s)),
        inst(differentiate_after_integrate(here), s),
        inst(integrate_after_differentiate(there), total),
    ]
    goal = there.I(operator.of(s)) == total
    return gen(prove(f"I({operator.name}(s)) = {operator.name}(I(s))", goal, known), s)


# ---------------------------------------------------------------- the clocks

Rows = Sequence[Sequence[Any]]  # the first ticks and iterations of a stream of streams


def by_iteration(operator: Callable[[Sequence[Any]], list[Any]], rows: Rows) -> list[list[Any]]:
    """The reference's operator on streams, on the iterations of each tick.

    >>> by_iteration(delay, [[1, 2], [3, 4]])
    [[0, 1], [0, 3]]
    """
    return lift(operator)(rows)


def by_tick(operator: Callable[[Sequence[Any]], list[Any]], rows: Rows) -> list[list[Any]]:
    """The same on whole rows, tick by tick.

    >>> by_tick(delay, [[1, 2], [3, 4]])
    [[0, 0], [1, 2]]
    """
    columns = lift(operator)([list(column) for column in zip(*rows, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def unknowns(name: str) -> list[Term]:
    """The values of two ticks of two iterations."""
    return [z3.Int(f"{name}{t}{i}") for t in range(2) for i in range(2)]


def square(*numbers: Any) -> list[list[Any]]:
    """Four numbers as two ticks of two iterations.

    >>> square(1, 2, 3, 4)
    [[1, 2], [3, 4]]
    """
    one, two, three, four = numbers
    return [[one, two], [three, four]]


def one_clock_for_the_other() -> Counterexample:
    """The delay by a tick where the loop needs that by an iteration."""

    def sides(*s: Any) -> tuple[Any, Any]:
        return by_tick(delay, square(*s))[1][1], by_iteration(delay, square(*s))[1][1]

    left, right = sides(*(s := unknowns("s")))
    return refute("z(s)[1][1] = ↑z(s)[1][1]", left == right, show=s, replay=sides)


def difference_undone_in_the_other_time() -> Counterexample:
    """D by tick takes back I by tick, not I by iteration."""

    def sides(*s: Any) -> tuple[Any, Any]:
        there = by_tick(differentiate, by_iteration(integrate, square(*s)))
        return there[1][1], s[3]

    left, right = sides(*(s := unknowns("s")))
    return refute("D(↑I(s))[1][1] = s[1][1]", left == right, show=s, replay=sides)


@theorem(
    statement="each of z, D, I by tick commutes with each of ↑z, ↑D, ↑I by iteration",
    source="DBSP (VLDB 2023) section 6; long version (2022) section 7.2",
    lean="integral_lift_time_invariant",
    wrong=(one_clock_for_the_other, difference_undone_in_the_other_time),
)
def clocks_commute() -> Thm:
    """Nine equations: ↑S is linear and time-invariant, for each linear S."""
    times = two_times(any_streams("A"))
    inside = (times.z, times.D, times.I)
    return both(
        "the clocks commute",
        *[each.invariant for each in inside],
        *map(passes_difference, inside),
        *map(passes_integral, inside),
    )


# ---------------------------------------------------------------- loops


def value(streams: Streams, s: Term, tick: Term, iteration: Term) -> Term:
    """s[tick][iteration], for a stream of these streams."""
    return streams.at(streams_of_streams(streams).at(s, tick), iteration)


def reads_earlier_iterations(inner: Streams, of: Callable[[Term], Term]) -> Formula:
    """∀ s r t i. (∀ n ≤ t, j < i. s[n][j] = r[n][j]) → F(s)[t][i] = F(r)[t][i]: F is strict."""
    outer = streams_of_streams(inner)
    s, r = outer.stream("s!"), outer.stream("r!")
    t, i, n, j = z3.Consts("t! i! n! j!", TICK)
    earlier = z3.Implies(
        z3.And(at_most()(t, n), less_than()(i, j)), value(inner, s, n, j) == value(inner, r, n, j)
    )
    same = value(inner, of(s), t, i) == value(inner, of(r), t, i)
    return z3.ForAll([s, r, t, i], z3.Implies(z3.ForAll([n, j], earlier), same))


def delay_by_tick_in_the_loop() -> Counterexample:
    """z in place of ↑z: two that agree in all earlier iterations, and in this one not."""

    def sides(*numbers: Any) -> tuple[Any, Any]:
        s, r = square(*numbers[:4]), square(*numbers[4:])
        return by_tick(delay, s)[1][0], by_tick(delay, r)[1][0]

    numbers = [*unknowns("s"), *unknowns("r")]
    left, right = sides(*numbers)
    name = "z(s)[1][0] = z(r)[1][0]: there is no iteration before 0"
    return refute(name, left == right, show=numbers, replay=sides)


@theorem(
    statement="↑z is strict by iteration: ↑z(s)[t][i] reads no more than s[n][j] for n <= t, j < i",
    source="DBSP (VLDB 2023) proposition 6.1",
    lean="lifting_delay_strict2",
    wrong=(delay_by_tick_in_the_loop,),
)
def lifted_delay_strict() -> Thm:
    inner = any_streams("A")
    outer = streams_of_streams(inner)
    late = outer.lift("z", inner.z, outer)
    s, r = outer.stream("s!"), outer.stream("r!")
    t, i = z3.Consts("t! i!", TICK)
    before = agree_pointwise(inner, STRICT)
    row, other = outer.at(s, t), outer.at(r, t)
    earlier = reads_earlier_iterations(inner, late).body().arg(0)
    earlier = z3.substitute_vars(earlier, i, t, r, s)
    agree = prove(
        "the rows agree before i",
        agreement_before(inner)(i, row, other),
        [inst(before, row, other, i), inst(at_most_reflexive(), t)],
        given=[earlier],
    )
    left, right = outer.at(late(s), t), outer.at(late(r), t)
    proof = prove(
        "↑z is strict",
        z3.Implies(earlier, inner.at(left, i) == inner.at(right, i)),
        [agree, inst(delay_strict_of(inner), row, other, i), *unfold([outer.space], left, right)],
    )
    return prove("↑z", reads_earlier_iterations(inner, late), [gen(proof, s, r, t, i)])


class Transposed:
    """Streams of streams with ticks for iterations and iterations for ticks."""

    def __init__(self, inner: Streams) -> None:
        self.inner, self.outer = inner, streams_of_streams(inner)
        self.column = inner.space.define(
            "column", [TICK, self.outer.sort], lambda t, i, s: value(inner, s, t, i)
        )
        self.of = self.outer.space.define("transposed", [self.outer.sort], self.column)

    def values(self, s: Term, iteration: Term, tick: Term) -> list[Thm]:
        """transposed(s)[iteration][tick] = s[tick][iteration]."""
        there = value(self.inner, self.of(s), iteration, tick)
        goal = there == value(self.inner, s, tick, iteration)
        unfolded = unfold([self.inner.space, self.outer.space], there)
        column = self.column.unfold(tick, iteration, s)
        return [prove("transposed", goal, [*unfolded, column])]

    def twice(self) -> Thm:
        """∀ s. transposed(transposed(s)) = s."""
        inner, outer = self.inner, self.outer
        s = outer.stream("s")
        t, i = z3.Consts("t i", TICK)
        again = self.of(self.of(s))
        known = [*self.values(self.of(s), t, i), *self.values(s, i, t)]
        here = prove_for_all(
            "transposed twice, at a tick and an iteration",
            [i],
            value(inner, again, t, i) == value(inner, s, t, i),
            known,
        )
        row = inner.space.equal("its rows", outer.at(again, t), outer.at(s, t), here)
        return gen(outer.space.equal("transposed twice", again, s, gen(row, t)), s)

    def fixpoint(self, name: str, of: Callable[[Term], Term], strict: Thm) -> Fixpoint:
        """The only s with s = F(s), for the theorem `reads_earlier_iterations` of F."""
        outer = self.outer

        def body(columns: Term) -> Term:
            return self.of(of(self.of(columns)))

        columns = fixpoint(f"{name}, by iteration", outer, [], body, self._strict(of, strict))
        solution = self.of(columns.symbol())
        twice, b = self.twice(), outer.stream("b")
        symbol = define(name, [], outer.sort, lambda: solution)
        solves = prove(
            f"{name} solves s = F(s)",
            symbol() == of(symbol()),
            [columns.solves, inst(twice, of(solution)), *symbol.equations],
        )
        unique = prove(
            f"{name} is the only solution",
            b == symbol(),
            [inst(columns.unique, self.of(b)), inst(twice, b), *symbol.equations],
            given=[b == of(b)],
        )
        return Fixpoint(symbol, solves, gen(unique, b))

    def _strict(self, of: Callable[[Term], Term], strict: Thm) -> Thm:
        """columns ↦ transposed(F(transposed(columns))) reads earlier columns only."""
        inner, outer = self.inner, self.outer
        s, r = outer.stream("s!0"), outer.stream("r!0")
        n, j, i, t = z3.Consts("n! j! t! t", TICK)
        before = agree_pointwise(outer, STRICT)
        one, other, agree_before = self.of(s), self.of(r), agreement_before(outer)(i, s, r)
        earlier = prove(
            "the columns before i are the same",
            z3.ForAll(
                [n, j],
                z3.Implies(
                    z3.And(at_most()(t, n), less_than()(i, j)),
                    value(inner, one, n, j) == value(inner, other, n, j),
                ),
            ),
            [
                inst(before, s, r, i),
                *[gen(self.values(each, n, j)[0], n, j) for each in (s, r)],
            ],
            given=[agree_before],
        )
        images = [self.of(of(each)) for each in (one, other)]
        values = [proof for each in (one, other) for proof in self.values(of(each), i, t)]
        same = prove(
            "F at t, i",
            value(inner, images[0], i, t) == value(inner, images[1], i, t),
            [earlier, inst(strict, one, other, t, i), *values],
            given=[agree_before],
        )
        columns = [outer.at(image, i) for image in images]
        extensional = inst(inner.space.extensional, *columns)
        proof = prove(
            "the same column",
            z3.Implies(agree_before, columns[0] == columns[1]),
            [extensional, gen(same, t)],
        )
        goal = strict_formula(outer, lambda each: self.of(of(self.of(each))))
        return prove("strict by iteration", goal, [gen(proof, s, r, i)])


def loop_without_a_solution() -> Counterexample:
    """The integral closed without its delay: a = s + a has no solution, I(s) is none."""
    s, a = z3.Ints("s a")

    def replay(s: int, a: int) -> tuple[list[int], list[int]]:
        total = integrate([s])
        return [s + each for each in total], total

    return refute("s + a = a for a = I(s)[0]", s + a == a, [a == s], show=[s, a], replay=replay)


@theorem(
    statement="an F on streams of streams that is strict by iteration has exactly one fixpoint",
    source="DBSP long version (2022) section 7.2; VLDB 2023 proposition 2.9, by iteration",
    lean="fix2_eq, fix2_unique",
    wrong=(loop_without_a_solution, delay_by_tick_in_the_loop),
)
def nested_fixpoint() -> Thm:
    """Transposed, F reads earlier columns only: then it is a strict operator on streams."""
    inner = any_streams("A")
    outer = streams_of_streams(inner)
    F = fresh_symbol("F", outer.sort, outer.sort)
    strict = axiom("F is strict", reads_earlier_iterations(inner, F))
    loop = Transposed(inner).fixpoint("fix F", F, strict)
    return both("one fixpoint", loop.solves, loop.unique)


# ---------------------------------------------------------------- lifted loops


def loop_closed_by_tick() -> Counterexample:
    """z for ↑z in the loop: what comes back is of the tick before, and that is I, not ↑I."""

    def sides(*numbers: Any) -> tuple[Any, Any]:
        rows = square(*numbers)
        return by_iteration(integrate, rows)[1][0], by_tick(integrate, rows)[1][0]

    left, right = sides(*(s := unknowns("s")))
    name = "↑(s -> fix a. s + z(a)) = s -> fix a. (↑+)(s, z(a))"
    return refute(name, left == right, show=s, replay=sides)


@theorem(
    statement="↑(s -> fix a. T(s, z(a))) = s -> fix a. (↑T)(s, ↑z(a)), for every causal T",
    source="DBSP (VLDB 2023) proposition 6.2; long version (2022) proposition 7.7",
    lean="lifting_cycle",
    wrong=(loop_closed_by_tick,),
)
def lifted_cycle() -> Thm:
    """Lifting a circuit with a loop is lifting each operator in it: what that loop has as its only
    solution is the loop of each tick.
    """
    a, b = any_streams("A"), any_streams("B")
    circuit = any_operator("T", (a, b), b)
    loop = Loop("Q", circuit, axiom("T is causal", circuit.reads(CAUSAL)))
    inputs, outputs = streams_of_streams(a), streams_of_streams(b)
    loops = outputs.lift("Q", loop.operator.of, inputs)
    body = outputs.lift("T", circuit.of, inputs, outputs)
    late = outputs.lift("z", b.z, outputs)
    s, other, t = inputs.stream("s"), outputs.stream("a"), z3.Const("t", TICK)
    row = inputs.at(s, t)

    def at_tick(term: Term) -> list[Thm]:
        return unfold([outputs.space], outputs.at(term, t))

    def everywhere(
        name: str, left: Term, right: Term, known: Sequence[Thm], given: Sequence[Formula] = ()
    ) -> Thm:
        """given → left = right, by what is known of them at any tick."""
        here = outputs.at(left, t) == outputs.at(right, t)
        unfolded = [*at_tick(left), *at_tick(right), *known]
        proof = prove_for_all(name, [t], here, unfolded, given)
        by = [proof, inst(outputs.space.extensional, left, right)]
        return prove(name, left == right, by, given)

    again, own = body(s, late(loops(s))), body(s, late(other))
    solves = everywhere("↑Q", loops(s), again, [inst(loop.fixpoint.solves, row)])
    known = [*at_tick(own), inst(loop.fixpoint.unique, row, outputs.at(other, t))]
    unique = everywhere("only ↑Q", other, loops(s), known, [other == own])
    return both("lifted loops", gen(solves, s), gen(unique, s, other))
