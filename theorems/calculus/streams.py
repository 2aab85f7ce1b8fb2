"""D and I are inverse, so the incremental form of any query is D ∘ Q ∘ I; linear and bilinear
queries need no recomputation.

A stream is a function from ticks to an abelian group. Ticks are a datatype (the first, and
the next of each), so induction over time is structural and no proof splits cases on t = 0.

    z(s)[0] = 0                z(s)[n+1] = s[n]
    D(s)    = s - z(s)
    I(s)[0] = s[0]             I(s)[n+1] = I(s)[n] + s[n+1]

Everything is proved for any abelian group, any function f or Q and all ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import z3

from deltaproof.reference import stream as reference
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Facts,
    Formula,
    FunctionSpace,
    Group,
    Replay,
    Sort,
    Term,
    Thm,
    axiom,
    both,
    certificate,
    fresh_sort,
    fresh_symbol,
    gen,
    group_laws,
    induct,
    inst,
    no_facts,
    prove,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

ONCE = Run(Distinct(), ("k BIGINT",))
PAIRED = Run(Join(()), ("k BIGINT", "j BIGINT"))


def _tick_sort() -> Sort:
    tick = z3.Datatype("Tick")
    tick.declare("first")
    tick.declare("next", ("before", tick))
    return tick.create()


TICK = _tick_sort()


def after(tick: Term) -> Term:
    """The next tick."""
    return TICK.constructor(1)(tick)


def abelian_group(name: str) -> Group:
    """Any abelian group: a sort of which nothing is known but the laws."""
    sort = fresh_sort(name)
    add, neg = fresh_symbol("add", sort, sort, sort), fresh_symbol("neg", sort, sort)
    zero = fresh_symbol("zero", sort)()
    laws = z3.And(*group_laws(sort, add, neg, zero))
    return Group(sort, add, neg, zero, axiom(f"{name} is an abelian group", laws))


class Streams:
    """The streams over one group, with `+`, `-`, z, D and I."""

    def __init__(self, name: str, group: Group) -> None:
        self.name, self.group = name, group
        self.space = FunctionSpace(f"streams of {name}", TICK, group.sort)
        self.sort, self.at = self.space.sort, self.space.at
        at = self.at
        self.zero = self._pointwise("zero", lambda t: group.zero, 0)()
        self.add = self._pointwise("add", lambda t, s, r: group.add(at(s, t), at(r, t)), 2)
        self.neg = self._pointwise("neg", lambda t, s: group.neg(at(s, t)), 1)
        self.z = self.space.define(
            "z",
            [self.sort],
            cases=(lambda recur, s: group.zero, lambda recur, n, s: at(s, n)),
        )
        self.D = self._pointwise("D", lambda t, s: group.sub(at(s, t), at(self.z(s), t)), 1)
        self.I = self.space.define(
            "I",
            [self.sort],
            cases=(
                lambda recur, s: at(s, TICK.first),
                lambda recur, n, s: group.add(recur(n, s), at(s, after(n))),
            ),
        )

    def _pointwise(self, name: str, body: Callable[..., Term], arity: int) -> Definition:
        return self.space.define(name, [self.sort] * arity, body)

    def stream(self, name: str) -> Term:
        """An arbitrary stream."""
        return z3.Const(name, self.sort)

    def lift(self, name: str, function: Callable[..., Term], *inputs: Streams) -> Definition:
        """↑f: the function of the inputs' values, at every tick."""

        def body(tick: Term, *streams: Term) -> Term:
            values = [each.at(s, tick) for each, s in zip(inputs, streams, strict=True)]
            return function(*values)

        return self.space.define(name, [each.sort for each in inputs], body)

    def equal(
        self,
        name: str,
        left: Term,
        right: Term,
        facts: Facts = no_facts,
    ) -> Thm:
        """left = right as streams, by induction over time.

        A case unfolds all definitions and closes with a certificate, from `facts(case)` and
        from the equality a tick before.
        """

        def step(case: Case) -> Thm:
            known = [*facts(case), *case.hypotheses]
            unfolded = unfold([self.space], case.goal, *(thm.formula for thm in known))
            return certificate(case.name, self.group, case.goal, [*unfolded, *known])

        def claim(tick: Term) -> Formula:
            return self.at(left, tick) == self.at(right, tick)

        return self.space.equal(name, left, right, induct(name, TICK, claim, step=step))


@cache
def any_streams(name: str) -> Streams:
    """The streams over an arbitrary abelian group."""
    return Streams(name, abelian_group(name))


# ---------------------------------------------------------------- D and I


@cache
def differentiate_after_integrate(streams: Streams) -> Thm:
    """∀ s. D(I(s)) = s."""
    s = streams.stream("s")
    return gen(streams.equal("D(I(s)) = s", streams.D(streams.I(s)), s), s)


@cache
def integrate_after_differentiate(streams: Streams) -> Thm:
    """∀ s. I(D(s)) = s."""
    s = streams.stream("s")
    return gen(streams.equal("I(D(s)) = s", streams.I(streams.D(s)), s), s)


def delay_that_repeats_the_first_value() -> Counterexample:
    """z(s)[0] = s[0] loses the first delta."""
    s0 = z3.Int("s0")

    def replay(s0: int) -> tuple[list[int], list[int]]:
        table = reference.integrate([s0])
        delayed = table[:1]
        return [table[0] - delayed[0]], reference.differentiate(table)

    name = "D(I(s))[0] = s[0], with z(s)[0] = s[0]"
    return refute(name, s0 - s0 == s0, show=[s0], replay=replay)


def integral_without_the_delay() -> Counterexample:
    """I as a sum of the last two values only."""
    s0, s1, s2 = z3.Ints("s0 s1 s2")
    d2 = (s1 + s2) - (s0 + s1)

    def replay(s0: int, s1: int, s2: int) -> tuple[list[int], list[int]]:
        stream = [s0, s1, s2]
        two = reference.lift(lambda before, now: before + now)(reference.delay(stream), stream)
        return reference.differentiate(two), reference.differentiate(reference.integrate(stream))

    name = "D(I(s))[2] = s[2], with I(s)[t] = s[t-1] + s[t]"
    return refute(name, d2 == s2, show=[s0, s1, s2], replay=replay)


@theorem(
    statement="D(I(s)) = s and I(D(s)) = s",
    source="DBSP (VLDB 2023) theorem 2.20",
    lean="derivative_integral, integral_derivative",
    wrong=(delay_that_repeats_the_first_value, integral_without_the_delay),
)
def integrate_inverse() -> Thm:
    """Nothing is lost between a stream of changes and a stream of tables."""
    streams = any_streams("A")
    return both(
        "D and I are inverse",
        differentiate_after_integrate(streams),
        integrate_after_differentiate(streams),
    )


def minus_commutes() -> Counterexample:
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        return row(a, 7) - row(b, 7), row(b, 7) - row(a, 7)

    return refute("a - b = b - a", a - b == b - a, show=[a, b], replay=replay)


@theorem(
    statement="streams over an abelian group are an abelian group, tick by tick",
    source="DBSP (VLDB 2023) proposition 2.11",
    wrong=(minus_commutes,),
)
def stream_group() -> Thm:
    return stream_group_of(any_streams("A"))


@cache
def stream_group_of(streams: Streams) -> Thm:
    """The four laws for the streams over a group."""
    add, neg, zero = streams.add, streams.neg, streams.zero
    s, r, q = (streams.stream(name) for name in "srq")
    equal = streams.equal
    return both(
        f"streams of {streams.name} are an abelian group",
        gen(equal("(s + r) + q = s + (r + q)", add(add(s, r), q), add(s, add(r, q))), s, r, q),
        gen(equal("s + r = r + s", add(s, r), add(r, s)), s, r),
        gen(equal("s + 0 = s", add(s, zero), s), s),
        gen(equal("s + -s = 0", add(s, neg(s)), zero), s),
    )


@cache
def group_of_streams(streams: Streams) -> Group:
    """The streams over a group as a group, for equations between whole streams."""
    add, neg, zero = streams.add, streams.neg, streams.zero
    laws = group_laws(streams.sort, add, neg, zero)
    proofs = stream_group_of(streams).rests_on
    stated = [prove(each.name, law, [each]) for each, law in zip(proofs, laws, strict=True)]
    return Group(streams.sort, add, neg, zero, both("streams are a group", *stated))


def integral_of_absolute_values() -> Counterexample:
    s0, r0 = z3.Ints("s0 r0")
    claim = z3.Abs(s0 + r0) == z3.Abs(s0) + z3.Abs(r0)

    def replay(s0: int, r0: int) -> tuple[list[int], list[int]]:
        whole, one, other = (
            reference.integrate(reference.lift(abs)([value])) for value in (s0 + r0, s0, r0)
        )
        return whole, [one[0] + other[0]]

    name = "I(s + r) = I(s) + I(r), with |s[t]| summed"
    return refute(name, claim, show=[s0, r0], replay=replay)


def difference_to_a_fixed_value() -> Counterexample:
    """D that subtracts 1 instead of the value a tick before."""
    s0, r0 = z3.Ints("s0 r0")
    claim = (s0 + r0) - 1 == (s0 - 1) + (r0 - 1)

    def replay(s0: int, r0: int) -> tuple[list[int], list[int]]:
        difference = reference.lift(lambda value: value - 1)
        (one,), (other,) = difference([s0]), difference([r0])
        return difference([s0 + r0]), [one + other]

    name = "D(s + r) = D(s) + D(r), with D(s)[t] = s[t] - 1"
    return refute(name, claim, show=[s0, r0], replay=replay)


@theorem(
    statement="D, I and z are linear, and D z = z D, I z = z I",
    source="DBSP (VLDB 2023) propositions 2.16, 2.19",
    lean="derivative_lti, integral_lti",
    wrong=(integral_of_absolute_values, difference_to_a_fixed_value),
)
def integrate_linear() -> Thm:
    streams = any_streams("A")
    laws = (differential_laws, integral_laws, delay_laws)
    return both("D, I and z are linear and time-invariant", *[one(streams) for one in laws])


@cache
def delay_laws(streams: Streams) -> Thm:
    """∀ s r. z(s + r) = z(s) + z(r)."""
    add, z, s, r = streams.add, streams.z, streams.stream("s"), streams.stream("r")
    return gen(streams.equal("z(s + r) = z(s) + z(r)", z(add(s, r)), add(z(s), z(r))), s, r)


@cache
def differential_laws(streams: Streams) -> Thm:
    """∀ s r. D(s + r) = D(s) + D(r), and ∀ s. D(z(s)) = z(D(s))."""
    add, z, D, equal = streams.add, streams.z, streams.D, streams.equal
    s, r = streams.stream("s"), streams.stream("r")
    return both(
        "D is linear and time-invariant",
        gen(equal("D(s + r) = D(s) + D(r)", D(add(s, r)), add(D(s), D(r))), s, r),
        gen(equal("D(z(s)) = z(D(s))", D(z(s)), z(D(s))), s),
    )


@cache
def integral_laws(streams: Streams) -> Thm:
    """∀ s r. I(s + r) = I(s) + I(r), and ∀ s. I(z(s)) = z(I(s))."""
    add, z, I, equal = streams.add, streams.z, streams.I, streams.equal  # noqa: E741  # the integral
    s, r = streams.stream("s"), streams.stream("r")
    unrolled = gen(equal("I(s) = s + z(I(s))", I(s), add(s, z(I(s)))), s)

    def integral_so_far(case: Case) -> list[Thm]:
        """I(s)[n] = s[n] + z(I(s))[n], for the case of the tick after n."""
        return [
            prove(
                "I(s)[n] = s[n] + z(I(s))[n]",
                streams.at(I(s), tick) == streams.at(add(s, z(I(s))), tick),
                [inst(unrolled, s)],
            )
            for tick in case.arguments
        ]

    return both(
        "I is linear and time-invariant",
        gen(equal("I(s + r) = I(s) + I(r)", I(add(s, r)), add(I(s), I(r))), s, r),
        gen(equal("I(z(s)) = z(I(s))", I(z(s)), z(I(s)), integral_so_far), s),
    )


# ---------------------------------------------------------------- increments of linear queries


def zero_of_additive(
    name: str, source: Group, target: Group, query: Callable[[Term], Term], split: Thm
) -> Thm:
    """f(0) = 0, from f(0 + 0) = f(0) + f(0)."""
    zero, image = source.zero, query(source.zero)
    sum_of_zeros = certificate(f"{name}: 0 + 0 = 0", source, source.add(zero, zero) == zero)
    doubled = prove(
        f"{name}: f(0) = f(0) + f(0)", image == target.add(image, image), [sum_of_zeros, split]
    )
    return certificate(f"{name}: f(0) = 0", target, image == target.zero, [doubled])


def linear_increment(
    name: str, source: Streams, target: Streams, query: Callable[[Term], Term], linear: Thm
) -> Thm:
    """∀ d. D(↑f(I(d))) = ↑f(d), for f with the theorem ∀ x y. f(x + y) = f(x) + f(y)."""
    lifted = target.lift(name, query, source)
    d = source.stream("d")
    integral = source.I(d)

    def facts(case: Case) -> list[Thm]:
        """f of the integral is f of the integral before plus f of the delta."""
        now, change = source.at(integral, case.term), source.at(d, case.term)
        known, total = unfold([source.space], now), query(change)
        for tick in case.arguments:
            before = source.at(integral, tick)
            known.append(inst(linear, before, change))
            total = target.group.add(query(before), total)
        return [prove(f"{case.name}: f of the integral", query(now) == total, known)]

    left, right = target.D(lifted(integral)), lifted(d)
    return gen(target.equal(f"D({name}(I(d))) = {name}(d)", left, right, facts), d)


def bilinear_increment(
    name: str,
    sides: tuple[Streams, Streams],
    target: Streams,
    query: Callable[[Term, Term], Term],
    linear: tuple[Thm, Thm],
) -> Thm:
    """∀ da db. D(↑Q(I(da), I(db))) = ↑Q(da, z(I(db))) + ↑Q(z(I(da)), db) + ↑Q(da, db).

    `linear` says that Q is additive on the left, ∀ x y b. Q(x + y, b) = Q(x, b) + Q(y, b), and
    on the right, ∀ a x y. Q(a, x + y) = Q(a, x) + Q(a, y).
    """
    left, right = sides
    spaces = [left.space, right.space]
    lifted = target.lift(name, query, left, right)
    da, db = left.stream("da"), right.stream("db")
    a, b = left.I(da), right.I(db)

    def first(case: Case, x: Term, y: Term) -> list[tuple[Term, Term, list[Thm]]]:
        """At the first tick the integrals before are zero, and so are the products with them."""
        zero_left, zero_right, zero = left.group.zero, right.group.zero, target.group.zero
        no_left = zero_of_additive(
            name,
            left.group,
            target.group,
            lambda v: query(v, y),
            inst(linear[0], zero_left, zero_left, y),
        )
        no_right = zero_of_additive(
            name,
            right.group,
            target.group,
            lambda v: query(x, v),
            inst(linear[1], x, zero_right, zero_right),
        )
        return [
            (query(left.at(a, case.term), right.at(b, case.term)), query(x, y), []),
            (query(left.at(left.z(a), case.term), y), zero, [no_left]),
            (query(x, right.at(right.z(b), case.term)), zero, [no_right]),
        ]

    def later(case: Case, x: Term, y: Term) -> list[tuple[Term, Term, list[Thm]]]:
        """The product of the sums is the sum of the four products."""
        (tick,) = case.arguments
        before, other = left.at(a, tick), right.at(b, tick)
        add = target.group.add
        four = add(add(query(before, other), query(before, y)), add(query(x, other), query(x, y)))
        splits = [
            inst(linear[0], before, x, right.group.add(other, y)),
            inst(linear[1], before, other, y),
            inst(linear[1], x, other, y),
        ]
        return [
            (query(left.at(a, case.term), right.at(b, case.term)), four, splits),
            (query(left.at(left.z(a), case.term), y), query(before, y), []),
            (query(x, right.at(right.z(b), case.term)), query(x, other), []),
        ]

    def facts(case: Case) -> list[Thm]:
        x, y = left.at(da, case.term), right.at(db, case.term)
        equations = (later if case.arguments else first)(case, x, y)
        return [
            prove(f"{case.name}: product", one == other, [*unfold(spaces, one), *known])
            for one, other, known in equations
        ]

    terms = target.add(target.add(lifted(da, right.z(b)), lifted(left.z(a), db)), lifted(da, db))
    label = f"D({name}(I(da), I(db))) = {name}(da, zI(db)) + {name}(zI(da), db) + {name}(da, db)"
    return gen(target.equal(label, target.D(lifted(a, b)), terms, facts), da, db)


def any_product(
    name: str, left: Group, right: Group, target: Group
) -> tuple[Callable[[Term, Term], Term], tuple[Thm, Thm]]:
    """A function of which nothing is known but that it is bilinear, as `bilinear_increment` has it.

    The axioms: ∀ x y v. Q(x + y, v) = Q(x, v) + Q(y, v), ∀ x v w. Q(x, v + w) = Q(x, v) + Q(x, w).
    """
    q = fresh_symbol(name, left.sort, right.sort, target.sort)
    x, y = z3.Consts("x y", left.sort)
    v, w = z3.Consts("v w", right.sort)
    on_the_left = z3.ForAll([x, y, v], q(left.add(x, y), v) == target.add(q(x, v), q(y, v)))
    on_the_right = z3.ForAll([x, v, w], q(x, right.add(v, w)) == target.add(q(x, v), q(x, w)))
    return q, (
        axiom(f"{name} is linear on the left", on_the_left),
        axiom(f"{name} is linear on the right", on_the_right),
    )


def present(weight: Term) -> Term:
    """1 where the weight is positive, 0 elsewhere: what distinct makes of it."""
    return z3.If(weight > 0, z3.IntVal(1), z3.IntVal(0))


def additive(source: Group, target: Group, query: Callable[[Term], Term]) -> Formula:
    """∀ x y. f(x + y) = f(x) + f(y)."""
    x, y = z3.Consts("x y", source.sort)
    return z3.ForAll([x, y], query(source.add(x, y)) == target.add(query(x), query(y)))


def own_increment(function: Callable[[int], int]) -> Replay:
    """At the second tick, D(f(I(d))) and f(d)."""

    def replay(d0: int, d1: int) -> tuple[int, int]:
        return reference.incremental(function)([d0, d1])[1], reference.lift(function)([d0, d1])[1]

    return replay


def square_as_linear() -> Counterexample:
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d1) * (d0 + d1) - d0 * d0 == d1 * d1
    name = "D(f(I(d)))[1] = f(d[1]), with f(x) = x * x"
    return refute(name, claim, show=[d0, d1], replay=own_increment(lambda value: value * value))


def affine_as_linear() -> Counterexample:
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d1 + 1) - (d0 + 1) == d1 + 1
    name = "D(f(I(d)))[1] = f(d[1]), with f(x) = x + 1"
    return refute(name, claim, show=[d0, d1], replay=own_increment(lambda value: value + 1))


@theorem(
    statement="D(f(I(d))) = f(d) for linear f",
    source="DBSP (VLDB 2023) theorem 3.3",
    lean="lti_incremental",
    wrong=(square_as_linear, affine_as_linear),
)
def lifted_linear_increment() -> Thm:
    """A linear query is its own increment and keeps no state."""
    source, target = any_streams("A"), any_streams("B")
    f = fresh_symbol("f", source.group.sort, target.group.sort)
    linear = axiom("f is linear", additive(source.group, target.group, f))
    return linear_increment("f", source, target, f, linear)


def product_without_the_delays() -> Counterexample:
    """da × b_after + a_after × db counts da × db twice."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == da * (b + db) + (a + da) * db

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        old, new, table, other = row(a, 7), row(da, 7), row(b, 8), row(db, 8)
        right = PAIRED.over(new, table + other) + PAIRED.over(old + new, other)
        return PAIRED.change([old, table], [new, other]), right

    name = "D(a b) = da b_after + a_after db"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


def product_without_the_product_of_deltas() -> Counterexample:
    """da × b_before + a_before × db misses what is new on both sides."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == da * b + a * db

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        old, new, table, other = row(a, 7), row(da, 7), row(b, 8), row(db, 8)
        right = PAIRED.over(new, table) + PAIRED.over(old, other)
        return PAIRED.change([old, table], [new, other]), right

    name = "D(a b) = da b_before + a_before db"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


@theorem(
    statement="D(Q(I(da), I(db))) = Q(da, zI(db)) + Q(zI(da), db) + Q(da, db) for bilinear Q",
    source="DBSP (VLDB 2023) theorem 3.4",
    lean="bilinear_incremental",
    wrong=(product_without_the_delays, product_without_the_product_of_deltas),
)
def lifted_bilinear_increment() -> Thm:
    """The increment of a bilinear query, in the three terms that the code computes."""
    left, right, target = any_streams("A"), any_streams("B"), any_streams("C")
    q, linear = any_product("Q", left.group, right.group, target.group)
    return bilinear_increment("Q", (left, right), target, q, linear)


# ---------------------------------------------------------------- increments of any query


def general_increment_of(
    name: str, source: Streams, target: Streams, query: Callable[[Term], Term]
) -> Thm:
    """∀ d. D(↑Q(I(d)))[0] = Q(d[0]) and [n+1] = Q(I(d)[n] + d[n+1]) - Q(I(d)[n])."""
    at, plus, minus = source.at, source.group.add, target.group.sub
    lifted = target.lift(name, query, source)

    def later(recur: Callable[..., Term], tick: Term, d: Term) -> Term:
        before = at(source.I(d), tick)
        return minus(query(plus(before, at(d, after(tick)))), query(before))

    recomputed = target.space.define(
        f"{name} recomputed",
        [source.sort],
        cases=(lambda recur, d: query(at(d, TICK.first)), later),
    )
    d = source.stream("d")

    def facts(case: Case) -> list[Thm]:
        now, total = at(source.I(d), case.term), at(d, case.term)
        for tick in case.arguments:
            total = plus(at(source.I(d), tick), total)
        unfolded = unfold([source.space], now)
        return [prove(f"{case.name}: Q of the integral", query(now) == query(total), unfolded)]

    left = target.D(lifted(source.I(d)))
    return gen(target.equal(f"D({name}(I(d))) recomputed", left, recomputed(d), facts), d)


def step_increment(
    name: str,
    source: Streams,
    target: Streams,
    query: Callable[[Term], Term],
    step: Callable[[Term, Term], Term],
    agrees: Thm,
    empty: Thm,
) -> Thm:
    """∀ d. D(↑Q(I(d))) = ↑step(z(I(d)), d): the contract of an increment with state.

    From `agrees`, ∀ a d. step(a, d) = Q(a + d) - Q(a), and `empty`, Q(0) = 0.
    """
    return steps_increment(name, [source], target, query, step, agrees, empty)


def steps_increment(
    name: str,
    sources: Sequence[Streams],
    target: Streams,
    query: Callable[..., Term],
    step: Callable[..., Term],
    agrees: Thm,
    empty: Thm,
) -> Thm:
    """∀ da db …. D(↑Q(I(da), I(db), …)) = ↑step(z(I(da)), z(I(db)), …, da, db, …).

    From `agrees`, ∀ a b … da db …. step(a, b, …, da, db, …) = Q(a + da, b + db, …) - Q(a, b, …),
    and `empty`, Q(0, 0, …) = 0.
    """
    minus = target.group.sub
    lifted = target.lift(name, query, *sources)
    stepped = target.lift(f"{name} step", step, *sources, *sources)
    deltas = [each.stream(f"d{number}") for number, each in enumerate(sources)]
    integrals = [each.I(d) for each, d in zip(sources, deltas, strict=True)]

    def facts(case: Case) -> list[Thm]:
        before, now, change, delayed, known = [], [], [], [], []
        for source, d, integral in zip(sources, deltas, integrals, strict=True):
            zero, d_now = source.group.zero, source.at(d, case.term)
            before.append(source.at(integral, case.arguments[0]) if case.arguments else zero)
            now.append(source.at(integral, case.term))
            change.append(d_now)
            delayed.append(source.at(source.z(integral), case.term))
            known += unfold([source.space], now[-1], delayed[-1])
            neutral = source.group.add(zero, d_now) == d_now
            known.append(certificate("0 + d = d", source.group, neutral))
        goal = step(*delayed, *change) == minus(query(*now), query(*before))
        known.append(inst(agrees, *before, *change))
        return [prove(f"{case.name}: one step", goal, known), empty]

    label = f"D({name}(I(d))) = step(zI(d), d)"
    delays = [each.z(integral) for each, integral in zip(sources, integrals, strict=True)]
    right = stepped(*delays, *deltas)
    return gen(target.equal(label, target.D(lifted(*integrals)), right, facts), *deltas)


def increment_from_before_the_first_tick() -> Counterexample:
    """Q(a + d) - Q(a) at the first tick too: the row that Q has over nothing never appears."""
    d0 = z3.Int("d0")
    claim = d0 + 1 == (0 + d0 + 1) - (0 + 1)

    def replay(d0: int) -> tuple[int, int]:
        query = reference.lift(lambda value: value + 1)
        after_it, before = query([0 + d0, 0])
        return reference.incremental(lambda value: value + 1)([d0])[0], after_it - before

    name = "D(Q(I(d)))[0] = Q(0 + d[0]) - Q(0), with Q(x) = x + 1"
    return refute(name, claim, show=[d0], replay=replay)


def increment_from_the_delta_alone() -> Counterexample:
    a, d = z3.Ints("a d")

    claim = present(a + d) - present(a) == present(d)

    def replay(a: int, d: int) -> tuple[ZSet, ZSet]:
        return ONCE.change([row(a, 7)], [row(d, 7)]), ONCE.over(row(d, 7))

    name = "Q(a + d) - Q(a) = Q(d), with Q = sign"
    return refute(name, claim, show=[a, d], replay=replay)


@theorem(
    statement="D(Q(I(d))) is Q(d) at the first tick, then Q(before + d) - Q(before), for any Q",
    source="DBSP (VLDB 2023) definition 3.1",
    lean="incremental",
    wrong=(increment_from_before_the_first_tick, increment_from_the_delta_alone),
)
def general_increment() -> Thm:
    """Recomputing and subtracting is right for every query, linear or not."""
    source, target = any_streams("A"), any_streams("B")
    q = fresh_symbol("Q", source.group.sort, target.group.sort)
    return general_increment_of("Q", source, target, q)


def chain_that_forgets_to_integrate() -> Counterexample:
    """(Q ∘ R)^Δ = Q ∘ R^Δ, with R = id."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d1) * (d0 + d1) - d0 * d0 == d1 * d1

    def replay(d0: int, d1: int) -> tuple[int, int]:
        def square(value: int) -> int:
            return value * value

        change = reference.differentiate(reference.integrate([d0, d1]))
        return reference.incremental(square)([d0, d1])[1], reference.lift(square)(change)[1]

    name = "D(Q(R(I(d)))) = Q(D(R(I(d)))), with Q(x) = x * x"
    return refute(name, claim, show=[d0, d1], replay=replay)


@theorem(
    statement="D(Q(R(I(d)))) = D(Q(I(D(R(I(d)))))): the increment of a query is its operators'",
    source="DBSP (VLDB 2023) proposition 3.2 (chain rule)",
    lean="incremental_comp",
    wrong=(chain_that_forgets_to_integrate,),
)
def incremental_chain() -> Thm:
    """For any stream operators Q and R, with any state: so a circuit is right if its nodes are."""
    a, b, c = (any_streams(name) for name in "ABC")
    r, s = fresh_symbol("R", a.sort, b.sort), fresh_symbol("S", a.sort, b.sort)
    q = fresh_symbol("Q", b.sort, b.sort, c.sort)
    d = a.stream("d")
    inner, other = r(a.I(d)), s(a.I(d))
    goal = c.D(q(inner, other)) == c.D(q(b.I(b.D(inner)), b.I(b.D(other))))
    inverse = integrate_after_differentiate(b)
    return gen(prove("chain rule", goal, [inst(inverse, inner), inst(inverse, other)]), d)
