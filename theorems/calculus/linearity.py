"""Linear means that sums pass; zeros, negations, loops with a delay and integrals then pass too.

    f(a + b) = f(a) + f(b)                        linear
    Q(a + b, c) = Q(a, c) + Q(b, c), and right    bilinear
    S linear, S(z(s)) = z(S(s))                   linear, time-invariant
    Q(s) = fix a. S(s + z(a))                     so is this, and I is the case of S(s) = s

Everything is proved for any abelian groups; since streams over a group are one, the same is
proved of operators on streams.
"""

from __future__ import annotations

from collections.abc import Callable

import z3

from deltaproof.reference import stream as reference
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    Loop,
    Operator,
    Reads,
    any_operator,
    for_all_ticks,
    lifted_causal,
    pointwise,
)
from deltaproof.theorems.calculus.feedback import loop_that_counts_ticks
from deltaproof.theorems.calculus.linear import Linear, lifted
from deltaproof.theorems.calculus.pairs import Pairs, pairs_of
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    additive,
    after,
    any_streams,
    delay_laws,
    group_of_streams,
    present,
    zero_of_additive,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Group,
    Term,
    Thm,
    axiom,
    both,
    certificate,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

ONCE = Run(Distinct(), ("k BIGINT",))
PAIRED = Run(Join(()), ("k BIGINT", "j BIGINT"))
ONCE_PAIRED = Run(Distinct(), ("k BIGINT, j BIGINT",))
ADDED = Run(UnionAll(), ("k BIGINT", "k BIGINT"))


# ---------------------------------------------------------------- what follows from additivity


def odd_of_additive(
    name: str, source: Group, target: Group, query: Callable[[Term], Term], linear: Thm, a: Term
) -> Thm:
    """f(-a) = -f(a), from ∀ x y. f(x + y) = f(x) + f(y)."""
    nothing = source.add(a, source.neg(a))
    split = inst(linear, a, source.neg(a))
    cancel = certificate("a + -a = 0", source, nothing == source.zero)
    at_zero = inst(linear, source.zero, source.zero)
    known = [
        split,
        zero_of_additive(name, source, target, query, at_zero),
        prove(f"{name}(a + -a) = {name}(0)", query(nothing) == query(source.zero), [cancel]),
    ]
    opposite = query(source.neg(a)) == target.neg(query(a))
    return certificate(f"{name}(-a) = -{name}(a)", target, opposite, known)


def additive_laws(
    name: str, source: Group, target: Group, query: Callable[[Term], Term], linear: Thm
) -> Thm:
    """f(0) = 0, ∀ a. f(-a) = -f(a), ∀ a b. f(a - b) = f(a) - f(b)."""
    a, b = z3.Consts("a b", source.sort)
    at_zero = inst(linear, source.zero, source.zero)
    odd = gen(odd_of_additive(name, source, target, query, linear, b), b)
    difference = query(source.sub(a, b)) == target.sub(query(a), query(b))
    known = [inst(linear, a, source.neg(b)), inst(odd, b)]
    return both(
        f"what follows for {name}",
        zero_of_additive(name, source, target, query, at_zero),
        odd,
        gen(certificate(f"{name}(a - b) = {name}(a) - {name}(b)", target, difference, known), a, b),
    )


def any_additive(name: str, source: Group, target: Group) -> tuple[Callable[[Term], Term], Thm]:
    """A function of which nothing is known but that it is linear."""
    symbol = fresh_symbol(name, source.sort, target.sort)
    return symbol, axiom(f"{name} is linear", additive(source, target, symbol))


def any_bilinear(
    name: str, left: Group, right: Group, target: Group
) -> tuple[Callable[[Term, Term], Term], Thm, Thm]:
    """A function of which nothing is known but that it is linear on each side.

    The theorems: ∀ b x y. Q(x + y, b) = Q(x, b) + Q(y, b) and ∀ a x y. Q(a, x + y) = ….
    """
    symbol = fresh_symbol(name, left.sort, right.sort, target.sort)
    x, y, a = z3.Consts("x y a", left.sort)
    v, w, b = z3.Consts("v w b", right.sort)
    on_the_left = symbol(left.add(x, y), b) == target.add(symbol(x, b), symbol(y, b))
    on_the_right = symbol(a, right.add(v, w)) == target.add(symbol(a, v), symbol(a, w))
    return (
        symbol,
        axiom(f"{name} is linear on the left", z3.ForAll([b, x, y], on_the_left)),
        axiom(f"{name} is linear on the right", z3.ForAll([a, v, w], on_the_right)),
    )


def on_one_side(linear: Thm, other: Term, sort: z3.SortRef) -> Thm:
    """∀ x y. Q(x + y, other) = Q(x, other) + Q(y, other): the law of one side, for one other."""
    x, y = z3.Consts("x! y!", sort)
    return gen(inst(linear, other, x, y), x, y)


# ---------------------------------------------------------------- theorems


def distinct_as_odd() -> Counterexample:
    a = z3.Int("a")

    def replay(a: int) -> tuple[ZSet, ZSet]:
        return ONCE.over(-row(a, 7)), -ONCE.over(row(a, 7))

    name = "distinct(-a) = -distinct(a)"
    return refute(name, present(-a) == -present(a), show=[a], replay=replay)


@theorem(
    statement="f(0) = 0, f(-a) = -f(a), f(a - b) = f(a) - f(b) for linear f",
    source="DBSP (VLDB 2023) definition 2.12",
    lean="linear_zero, linear_neg, linear_sub",
    wrong=(distinct_as_odd,),
)
def linear_zero_odd() -> Thm:
    a, b = any_streams("A").group, any_streams("B").group
    f, linear = any_additive("f", a, b)
    return additive_laws("f", a, b, f, linear)


def union_as_bilinear() -> Counterexample:
    """a + b is linear in the pair of both and not in each: 0 + b is not 0."""
    b = z3.Int("b")

    def replay(b: int) -> tuple[ZSet, ZSet]:
        return ADDED.over(row(0, 7), row(b, 7)), row(0, 7)

    return refute("Q(0, b) = 0, with Q(a, b) = a + b", 0 + b == 0, show=[b], replay=replay)


@theorem(
    statement="Q(0, b) = 0 = Q(a, 0), Q(-a, b) = -Q(a, b) = Q(a, -b) for bilinear Q",
    source="DBSP (VLDB 2023) definition 2.13",
    lean="bilinear_sub_1, bilinear_sub_2",
    wrong=(union_as_bilinear,),
)
def bilinear_zero() -> Thm:
    left, right, target = (any_streams(name).group for name in "ABC")
    q, on_the_left, on_the_right = any_bilinear("Q", left, right, target)
    a, b = z3.Const("a!", left.sort), z3.Const("b!", right.sort)
    of_left = on_one_side(on_the_left, b, left.sort)
    of_right = on_one_side(on_the_right, a, right.sort)
    return both(
        "a bilinear Q",
        gen(additive_laws("Q", left, target, lambda x: q(x, b), of_left), b),
        gen(additive_laws("Q", right, target, lambda x: q(a, x), of_right), a),
    )


def square_as_lifted_linear() -> Counterexample:
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[list[int], list[int]]:
        square = reference.lift(lambda value: value * value)
        (one,), (other,) = square([s0]), square([r0])
        return square([s0 + r0]), [one + other]

    name = "f(s + r) = f(s) + f(r), f(x) = x * x"
    claim = (s0 + r0) * (s0 + r0) == s0 * s0 + r0 * r0
    return refute(name, claim, show=[s0, r0], replay=replay)


@theorem(
    statement="lift(f) is linear and time-invariant for linear f, lift(Q) bilinear for bilinear Q",
    source="DBSP (VLDB 2023) section 2, definitions 2.12, 2.13",
    lean="lifting_lti, lifting_bilinear",
    wrong=(square_as_lifted_linear,),
)
def lifting_linear() -> Thm:
    a, b, c = (any_streams(name) for name in "ABC")
    f, linear = any_additive("f", a.group, b.group)
    q, on_the_left, on_the_right = any_bilinear("Q", a.group, b.group, c.group)
    whole, spaces = c.lift("Q", q, a, b), [a.space, b.space]
    s, r, u, v = *(a.stream(name) for name in "sr"), *(b.stream(name) for name in "uv")
    left, right = whole(a.add(s, r), u), whole(s, b.add(u, v))
    left_sum, right_sum = c.add(whole(s, u), whole(r, u)), c.add(whole(s, u), whole(s, v))
    return both(
        "lifting keeps linear and bilinear",
        lifted("f", a, b, f, linear).laws(),
        gen(pointwise("Q on the left", c, left, left_sum, spaces, [on_the_left]), s, r, u),
        gen(pointwise("Q on the right", c, right, right_sum, spaces, [on_the_right]), s, u, v),
    )


def distinct_after_join() -> Counterexample:
    a, b, c = z3.Ints("a b c")

    def replay(a: int, b: int, c: int) -> tuple[ZSet, ZSet]:
        def found(left: ZSet, right: ZSet) -> ZSet:
            return ONCE_PAIRED.over(PAIRED.over(left, right))

        one, other, table = row(a, 7), row(b, 7), row(c, 8)
        return found(one + other, table), found(one, table) + found(other, table)

    name = "distinct((a + b) × c) = distinct(a × c) + distinct(b × c)"
    claim = present((a + b) * c) == present(a * c) + present(b * c)
    return refute(name, claim, show=[a, b, c], replay=replay)


@theorem(
    statement="S(T(a, b)) is bilinear for bilinear T and linear S",
    source="DBSP long version (2022) proposition 3.22",
    wrong=(distinct_after_join,),
)
def bilinear_after_linear() -> Thm:
    a, b, c, d = (any_streams(name).group for name in "ABCD")
    q, on_the_left, on_the_right = any_bilinear("T", a, b, c)
    f, linear = any_additive("S", c, d)
    (x, y), (v, w) = z3.Consts("x y", a.sort), z3.Consts("v w", b.sort)
    left = [inst(on_the_left, v, x, y), inst(linear, q(x, v), q(y, v))]
    right = [inst(on_the_right, x, v, w), inst(linear, q(x, v), q(x, w))]
    of_left = f(q(a.add(x, y), v)) == d.add(f(q(x, v)), f(q(y, v)))
    of_right = f(q(x, b.add(v, w))) == d.add(f(q(x, v)), f(q(x, w)))
    return both(
        "linear after bilinear",
        gen(prove("S(T) on the left", of_left, left), x, y, v),
        gen(prove("S(T) on the right", of_right, right), x, v, w),
    )


def product_as_linear() -> Counterexample:
    """A bilinear Q is not linear in the pair: (a, b) + (c, d) gives four products."""
    a, b, c, d = z3.Ints("a b c d")

    def replay(a: int, b: int, c: int, d: int) -> tuple[ZSet, ZSet]:
        left, right, more, other = row(a, 7), row(b, 8), row(c, 7), row(d, 8)
        whole = PAIRED.over(left + more, right + other)
        return whole, PAIRED.over(left, right) + PAIRED.over(more, other)

    name = "Q((a, b) + (c, d)) = Q(a, b) + Q(c, d), with Q(a, b) = a × b"
    claim = (a + c) * (b + d) == a * b + c * d
    return refute(name, claim, show=[a, b, c, d], replay=replay)


@theorem(
    statement="A × B is a group, and z, D, I of a stream of pairs are those of its parts",
    source="DBSP long version (2022) proposition 3.19",
    lean="derivative_sprod, integral_sprod",
    wrong=(product_as_linear,),
)
def product_group() -> Thm:
    pairs = pairs_of(any_streams("A"), any_streams("B"))
    return both("pairs", pairs.values.group.laws, pairs.equations, parts_of_operators(pairs))


def parts_of_operators(pairs: Pairs) -> Thm:
    """z, D and I of pair(s, r) are pair(z(s), z(r)), pair(D(s), D(r)), pair(I(s), I(r))."""
    left, right, whole = pairs.left, pairs.right, pairs.streams
    s, r = left.stream("s"), right.stream("r")
    proofs = []
    for name in "zDI":
        of_whole, of_left, of_right = (getattr(each, name) for each in (whole, left, right))
        one, other = of_whole(pairs.pair(s, r)), pairs.pair(of_left(s), of_right(r))

        def facts(case: Case) -> list[Thm]:
            known = unfold(pairs.spaces, case.goal, *(each.formula for each in case.hypotheses))
            return [*known, *pairs.values.equations]

        def claim(t: Term, one: Term = one, other: Term = other) -> Term:
            return whole.at(one, t) == whole.at(other, t)

        label = f"{name}(pair(s, r)) = pair({name}(s), {name}(r))"
        everywhere = for_all_ticks(label, [], claim, facts)
        proofs.append(gen(whole.space.equal(label, one, other, everywhere), s, r))
    return both("z, D and I go through pairs", *proofs)


# ---------------------------------------------------------------- loops and the integral


def sum_of(streams: Streams) -> Operator:
    """+ as an operator of two streams."""
    return Operator("+", (streams, streams), streams, streams.add.symbol)


def loop_of(operator: Operator, causal: Thm) -> Loop:
    """fix a. S(s + z(a)) for causal S."""
    streams = operator.target
    plus = sum_of(streams)
    summed = Operator(
        f"{operator.name}(s + a)",
        (streams, streams),
        streams,
        lambda s, a: operator.of(streams.add(s, a)),
    )
    parts = [Reads(operator, CAUSAL, causal), Reads(plus, CAUSAL, lifted_causal(plus))]
    name = f"fix a. {operator.name}(s + z(a))"
    return Loop(name, summed, summed.composed(CAUSAL, parts))


def loop_linear(operator: Linear, causal: Thm) -> Linear:
    """fix a. S(s + z(a)), which is linear and time-invariant with S."""
    streams, of = operator.source, operator.of
    add, z, group = streams.add, streams.z, group_of_streams(streams)
    loop = loop_of(Operator(operator.name, (streams,), streams, of), causal)
    q = loop.operator.of
    s, r, a = (streams.stream(name) for name in "sra")
    one, other = add(s, z(q(s))), add(r, z(q(r)))
    total, looped = add(q(s), q(r)), add(z(q(s)), z(q(r)))
    regrouped = certificate("regrouped", group, add(one, other) == add(add(s, r), looped))
    sums = [
        inst(loop.fixpoint.solves, s),
        inst(loop.fixpoint.solves, r),
        inst(operator.linear, one, other),
        inst(delay_laws(streams), q(s), q(r)),
        regrouped,
        inst(loop.fixpoint.unique, add(s, r), total),
    ]
    late = [inst(delay_laws(streams), s, a), inst(operator.invariant, add(s, a))]
    circuit = prove("S(z(s) + z(a)) = z(S(s + a))", of(add(z(s), z(a))) == z(of(add(s, a))), late)
    back = gen(prove("z(z(a)) = z(z(a))", z(z(a)) == z(z(a))), a)
    name = loop.name
    linear = gen(prove(f"{name} is linear", q(add(s, r)) == total, sums), s, r)
    return Linear(name, streams, streams, q, linear, loop.invariant(gen(circuit, s, a), back))


def loop_with_distinct() -> Counterexample:
    """A loop through distinct is not linear: it is what makes a recursive query hard."""
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[ZSet, ZSet]:
        first = reference.lift(lambda s, a: ONCE.over(s + a))
        zero = [row(0, 7)]
        whole, one, other = (first([row(w, 7)], zero) for w in (s0 + r0, s0, r0))
        return whole[0], one[0] + other[0]

    name = "fix a. distinct(s + z(a)) is linear, at the first tick"
    claim = present(s0 + r0) == present(s0) + present(r0)
    return refute(name, claim, show=[s0, r0], replay=replay)


@theorem(
    statement="fix a. S(s + z(a)) is linear, time-invariant, its own increment for causal LTI S",
    source="DBSP (VLDB 2023) proposition 2.14",
    lean="feedback_lti",
    wrong=(loop_with_distinct, loop_that_counts_ticks),
)
def feedback_linear() -> Thm:
    streams = any_streams("A")
    operator = any_operator("S", [streams], streams)
    group, s = group_of_streams(streams), streams.stream("s")
    late = z3.ForAll([s], operator.of(streams.z(s)) == streams.z(operator.of(s)))
    known = Linear(
        "S",
        streams,
        streams,
        operator.of,
        axiom("S is linear", additive(group, group, operator.of)),
        axiom("S is time-invariant", late),
    )
    loop = loop_linear(known, axiom("S is causal", operator.reads(CAUSAL)))
    return both(loop.name, loop.linear, loop.invariant, loop.increment())


def difference_as_fixpoint() -> Counterexample:
    """D for I: it solves the equation with the sign of the delay turned, and of s itself."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        difference = reference.differentiate([s0, s1])
        plus = reference.lift(lambda one, other: one + other)
        return difference, plus([s0, s1], reference.delay(difference))

    name = "D(s) = s + z(D(s)) at tick 1"
    return refute(name, s1 - s0 == s1 + s0, show=[s0, s1], replay=replay)


@theorem(
    statement="I(s) = s + z(I(s)), and if a = s + z(a) then a = I(s): I is that loop",
    source="DBSP (VLDB 2023) definition 2.17",
    lean="integral_unfold, derivative_integral_inverse",
    wrong=(difference_as_fixpoint,),
)
def integral_fixpoint() -> Thm:
    """The paper defines I by the loop; here it is defined by recursion on the tick."""
    streams = any_streams("A")
    plus, s, a = sum_of(streams), streams.stream("s"), streams.stream("a")
    loop = Loop("fix a. s + z(a)", plus, lifted_causal(plus))
    integral, body = streams.I(s), streams.add(s, streams.z(streams.I(s)))
    solves = gen(streams.equal("I(s) = s + z(I(s))", integral, body), s)
    same = [inst(solves, s), inst(loop.fixpoint.unique, s, integral)]
    equal = prove("I(s) = fix a. s + z(a)", integral == loop.operator.of(s), same)
    only = prove(
        "a = I(s)",
        a == integral,
        [equal, inst(loop.fixpoint.unique, s, a)],
        given=[a == streams.add(s, streams.z(a))],
    )
    return both("I is the loop", solves, gen(equal, s), gen(only, s, a))


def sum_before_the_tick() -> Counterexample:
    """The sum of s[0], …, s[t-1], which is z(I(s))[t]."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        stream = [s0, s1]
        return reference.integrate(stream), [sum(stream[:tick]) for tick in range(2)]

    name = "I(s)[t] = s[0] + ... + s[t-1], for t = 0 and 1"
    claim = z3.And(s0 == 0, s0 + s1 == s0)
    return refute(name, claim, show=[s0, s1], replay=replay)


@theorem(
    statement="I(s)[t] = s[0] + (s[1] + (... + s[t])), a sum from the front",
    source="DBSP (VLDB 2023) proposition 2.18",
    lean="integral_sum_vals",
    wrong=(sum_before_the_tick,),
)
def integral_is_sum() -> Thm:
    """The sum knows nothing of I: it adds the first value to the sum of the rest of the stream."""
    streams = any_streams("A")
    at, add, s = streams.at, streams.group.add, streams.stream("s")
    rest = streams.space.define("rest", [streams.sort], lambda t, s: at(s, after(t)))
    total = recursive(
        "sum",
        TICK,
        [streams.sort],
        streams.group.sort,
        (
            lambda recur, s: at(s, TICK.first),
            lambda recur, n, s: add(at(s, TICK.first), recur(n, rest(s))),
        ),
    )

    def close(case: Case) -> Thm:
        known = unfold([streams.space], case.goal, *(each.formula for each in case.hypotheses))
        return certificate(case.name, streams.group, case.goal, [*known, *case.hypotheses])

    def from_the_front(t: Term) -> Formula:
        return at(streams.I(s), after(t)) == add(at(s, TICK.first), at(streams.I(rest(s)), t))

    label = "I(s)[t+1] = s[0] + I(rest(s))[t]"
    front = gen(induct(label, TICK, from_the_front, step=close), s)

    def step(case: Case) -> Thm:
        known = [total.unfold(case.term, s), *unfold([streams.space], at(streams.I(s), case.term))]
        for tick in case.arguments:
            (before,) = case.hypotheses
            known += [inst(front, s, tick), inst(before, rest(s))]
        equation = at(streams.I(s), case.term) == total(case.term, s)
        return gen(certificate(case.name, streams.group, equation, known), s)

    def claim(t: Term) -> Formula:
        return z3.ForAll([s], at(streams.I(s), t) == total(t, s))

    return induct("I(s)[t] is the sum up to t", TICK, claim, step=step)
