"""Taking increments respects how queries are built: composition, sums, feedback.

    Q^Δ = D ∘ Q ∘ I

    inversion   Q ↦ Q^Δ is a bijection                   units   +, -, z, I and D are their own
    push, pull  Q ∘ I = I ∘ Q^Δ,  D ∘ Q = Q^Δ ∘ D        sum     (Q + R)^Δ = Q^Δ + R^Δ
    chain       Q(R1, …, Rn)^Δ = Q^Δ(R1^Δ, …, Rn^Δ)      cycle   (fix a. T(s, z(a)))^Δ likewise

Here Q, R and T are operators on whole streams of any abelian group, and may remember anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.stream import delay, differentiate, incremental, integrate, lift
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    STRICT,
    Loop,
    Operator,
    Reads,
    agree_now,
    any_operator,
)
from deltaproof.theorems.calculus.streams import (
    Streams,
    any_streams,
    differential_laws,
    differentiate_after_integrate,
    integral_laws,
    integrate_after_differentiate,
)
from deltaproof.theorems.calculus.streams import present as sign  # ours runs the reference
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    FunctionSpace,
    Term,
    Thm,
    axiom,
    both,
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

Query = Callable[[Term], Term]


def increment_of(source: Streams, target: Streams, query: Query) -> Query:
    """Q^Δ = D ∘ Q ∘ I."""
    return lambda d: target.D(query(source.I(d)))


class Operators:
    """All operators from the streams of one group to those of another, as values of one sort."""

    def __init__(self, source: Streams, target: Streams) -> None:
        self.source, self.target = source, target
        name = f"operators from {source.name} to {target.name}"
        self.space = FunctionSpace(name, source.sort, target.sort)
        self.sort, self.at = self.space.sort, self.space.at
        self.increment = self.space.define(
            "increment", [self.sort], lambda d, q: target.D(self.at(q, source.I(d)))
        )
        self.undone = self.space.define(
            "increment, undone", [self.sort], lambda s, q: target.I(self.at(q, source.D(s)))
        )

    def equal(self, name: str, left: Term, right: Term, by: Callable[[Term], Sequence[Thm]]) -> Thm:
        """left = right as operators, because they agree on every stream: by `by(stream)`."""
        s = self.source.stream("s")
        one, other = self.at(left, s), self.at(right, s)
        known = [*unfold([self.space], one, other), *by(s)]
        return self.space.equal(name, left, right, prove_for_all(name, [s], one == other, known))


# ---------------------------------------------------------------- the reference, to replay on


DISTINCT = Run(Distinct(), ("k BIGINT",))
NEGATE = Run(Negate(), ("k BIGINT",))


def squares(stream: Sequence[int]) -> list[int]:
    """↑(x * x), a query that is not linear.

    >>> squares([1, -2])
    [1, 4]
    """
    return lift(lambda x: x * x)(stream)


def joined(*tables: int) -> int:
    """The weight of the only row of a join of tables that have one row each, of these weights.

    >>> joined(2, 3, -1)
    -6
    """
    output = ZSet({(1,): tables[0]})
    schema = Schema.parse("c0 BIGINT")
    for place, weight in enumerate(tables[1:], start=1):
        other = Schema.parse(f"c{place} BIGINT")
        join = Join((("c0", f"c{place}"),))
        output = join.meaning(schema, other)(output, ZSet({(1,): weight}))
        schema = join.output(schema, other)
    return int(output[(1,) * len(tables)])


def present(weight: int) -> int:
    """The weight that distinct gives to a row of this weight.

    >>> present(5), present(-5)
    (1, 0)
    """
    return int(DISTINCT.over(row(weight, 1))[(1,)])


# ---------------------------------------------------------------- 3.2: inversion


def increment_applied_twice() -> Counterexample:
    """Q^ΔΔ for Q: the way back is not the way there."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d0 + d1) * (d0 + d0 + d1) - d0 * d0 - d0 * d0 == d1 * d1

    def replay(*d: int) -> tuple[list[int], list[int]]:
        twice = differentiate(differentiate(squares(integrate(integrate(d)))))
        return twice, squares(d)

    name = "D(D(Q(I(I(d)))))[1] = Q(d)[1], with Q(x) = x * x"
    return refute(name, claim, show=[d0, d1], replay=replay)


@theorem(
    statement="Q -> D Q I is a bijection, its inverse is Q -> I Q D, for all stream operators",
    source="DBSP (VLDB 2023) proposition 3.2 (inversion)",
    lean="incremental_inversion_l, incremental_inversion_r, incremental_bijection",
    wrong=(increment_applied_twice,),
)
def incremental_inversion() -> Thm:
    """What an increment computes determines the query: no two queries have the same one."""
    a, b = any_streams("A"), any_streams("B")
    it = Operators(a, b)
    q, r = z3.Consts("Q R", it.sort)
    increment, undone = it.increment, it.undone
    there = undone(increment(q))
    back = increment(undone(q))
    left = it.equal(
        "I(D(Q(I(D(s))))) = Q(s)",
        there,
        q,
        lambda s: [
            inst(integrate_after_differentiate(a), s),
            inst(integrate_after_differentiate(b), it.at(q, s)),
        ],
    )
    right = it.equal(
        "D(I(Q(D(I(s))))) = Q(s)",
        back,
        q,
        lambda s: [
            inst(differentiate_after_integrate(a), s),
            inst(differentiate_after_integrate(b), it.at(q, s)),
        ],
    )
    undo = gen(left, q)
    return both(
        "the increment is a bijection",
        undo,
        gen(right, q),
        prove_for_all(
            "one to one",
            [q, r],
            q == r,
            [inst(undo, q), inst(undo, r)],
            given=[increment(q) == increment(r)],
        ),
    )


# ---------------------------------------------------------------- 3.2: units, push and pull


@cache
def units_of(streams: Streams) -> tuple[Thm, ...]:
    """id, +, -, z, I and D are their own increments: one theorem for each, in this order."""
    add, neg, z, D, I = streams.add, streams.neg, streams.z, streams.D, streams.I  # noqa: E741
    d, e = streams.stream("d"), streams.stream("e")
    additive_D, late_D = parts(differential_laws(streams))
    inverse = differentiate_after_integrate(streams)
    sums = [inst(additive_D, I(d), I(e)), inst(inverse, d), inst(inverse, e)]
    late = [inst(late_D, I(d)), inst(inverse, d)]
    return (
        prove_for_all("id^Δ = id", [d], D(I(d)) == d, [inst(inverse, d)]),
        prove_for_all("+^Δ = +", [d, e], D(add(I(d), I(e))) == add(d, e), sums),
        gen(streams.equal("-^Δ = -", D(neg(I(d))), neg(d)), d),
        prove_for_all("z^Δ = z", [d], D(z(I(d))) == z(d), late),
        prove_for_all("I^Δ = I", [d], D(I(I(d))) == I(d), [inst(inverse, I(d))]),
        prove_for_all("D^Δ = D", [d], D(D(I(d))) == D(d), [inst(inverse, d)]),
    )


def integral_as_its_own_undoing() -> Counterexample:
    """I^Δ = id for I^Δ = I: an integral of changes is not a change."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d0 + d1) - d0 == d1

    def replay(*d: int) -> tuple[list[int], list[int]]:
        return differentiate(integrate(integrate(d))), list(d)

    return refute("D(I(I(d)))[1] = d[1]", claim, show=[d0, d1], replay=replay)


def absolute_value_as_a_unit() -> Counterexample:
    """|.|^Δ = |.|: it respects 0 and signs, and that is not enough."""
    d0, d1 = z3.Ints("d0 d1")
    claim = z3.Abs(d0 + d1) - z3.Abs(d0) == z3.Abs(d1)

    def replay(*d: int) -> tuple[list[int], list[int]]:
        return incremental(abs)(d), lift(abs)(d)

    return refute("D(|I(d)|)[1] = |d[1]|", claim, show=[d0, d1], replay=replay)


@theorem(
    statement="id, +, -, z, I and D are their own increments",
    source="DBSP (VLDB 2023) proposition 3.2 (invariance)",
    lean="delay_invariance, integral_invariance, derivative_invariance",
    wrong=(integral_as_its_own_undoing, absolute_value_as_a_unit),
)
def incremental_units() -> Thm:
    """The wires of a circuit need no change when it becomes incremental."""
    return both("units", *units_of(any_streams("A")))


def query_pulled_through_the_integral() -> Counterexample:
    """Q ∘ I = I ∘ Q, without the increment."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d1) * (d0 + d1) == d0 * d0 + d1 * d1

    def replay(*d: int) -> tuple[list[int], list[int]]:
        return squares(integrate(d)), integrate(squares(d))

    return refute("Q(I(d))[1] = I(Q(d))[1], with Q(x) = x * x", claim, show=[d0, d1], replay=replay)


@theorem(
    statement="Q(I(d)) = I(Q^Δ(d)) and D(Q(s)) = Q^Δ(D(s)), for every stream operator Q",
    source="DBSP (VLDB 2023) proposition 3.2 (push/pull)",
    lean="integrate_push, derivative_push, I_push, D_push",
    wrong=(query_pulled_through_the_integral,),
)
def incremental_push_pull() -> Thm:
    """The view is the integral of its changes; a change of the table is a change of the view."""
    a, b = any_streams("A"), any_streams("B")
    q = fresh_symbol("Q", a.sort, b.sort)
    change = increment_of(a, b, q)
    d, s = a.stream("d"), a.stream("s")
    inverses = [
        inst(integrate_after_differentiate(b), q(a.I(d))),
        inst(integrate_after_differentiate(a), s),
    ]
    return both(
        "push and pull",
        prove_for_all("Q(I(d)) = I(Q^Δ(d))", [d], q(a.I(d)) == b.I(change(d)), inverses[:1]),
        prove_for_all("D(Q(s)) = Q^Δ(D(s))", [s], b.D(q(s)) == change(a.D(s)), inverses[1:]),
    )


# ---------------------------------------------------------------- 3.2: chain and sum


class Inputs:
    """Lists of streams: the inputs of an operator that has any number of them."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        listed = z3.Datatype(f"inputs of {streams.name}")
        listed.declare("none")
        listed.declare("some", ("head", streams.sort), ("rest", listed))
        self.sort = listed.create()
        self.none, self.some = self.sort.constructor(0)(), self.sort.constructor(1)
        self.D, self.I, self.z = map(self.of_each, (streams.D, streams.I, streams.z))

    def of_each(self, query: Query) -> Definition:
        """The list of query(stream)."""
        cases = (lambda recur: self.none, lambda recur, s, rest: self.some(query(s), recur(rest)))
        return recursive("of each", self.sort, [], self.sort, cases)

    def list(self, *streams: Term) -> Term:
        """These streams as a list."""
        return reduce(lambda rest, s: self.some(s, rest), reversed(streams), self.none)


def product_of_differences() -> Counterexample:
    """Q(R, S)^Δ = Q(R^Δ, S^Δ): the node in the middle sees changes where it needs tables."""
    a, da, b, db = z3.Ints("a da b db")

    def replay(a: int, da: int, b: int, db: int) -> tuple[int, int]:
        change = joined(present(a + da), present(b + db)) - joined(present(a), present(b))
        return change, joined(present(a + da) - present(a), present(b + db) - present(b))

    change = sign(a + da) * sign(b + db) - sign(a) * sign(b)
    claim = change == (sign(a + da) - sign(a)) * (sign(b + db) - sign(b))
    name = "D(distinct(a) × distinct(b)) = D(distinct(a)) × D(distinct(b))"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


@theorem(
    statement="D(Q(R(I(ds)))) = D(Q(I(D(R(I(ds)))))) for n inputs and m streams between, all n, m",
    source="DBSP (VLDB 2023) proposition 3.2 (chain rule, operators with multiple inputs)",
    lean="chain_incremental, D_push2",
    wrong=(product_of_differences,),
)
def incremental_chain_nary() -> Thm:
    """Q sees what the nodes R make of the same inputs: a circuit, one layer after another."""
    a, b, target = Inputs(any_streams("A")), Inputs(any_streams("B")), any_streams("C")
    inverse = integrate_after_differentiate(b.streams)
    back = induct(
        "I(D(ss)) = ss",
        b.sort,
        lambda ss: b.I(b.D(ss)) == ss,
        [*b.I.equations, *b.D.equations, inverse],
    )
    r, q = fresh_symbol("R", a.sort, b.sort), fresh_symbol("Q", b.sort, target.sort)
    ds = z3.Const("ds", a.sort)
    between = r(a.I(ds))
    goal = target.D(q(between)) == target.D(q(b.I(b.D(between))))
    return prove_for_all("chain rule", [ds], goal, [inst(back, between)])


def product_of_increments() -> Counterexample:
    """(Q · R)^Δ = Q^Δ · R^Δ: what holds for sums does not for products."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 + d1) * (d0 + d1) - d0 * d0 == d1 * d1

    def replay(*d: int) -> tuple[list[int], list[int]]:
        one = incremental(lambda x: x)
        return incremental(lambda x: x * x)(d), lift(lambda x, y: x * y)(one(d), one(d))

    name = "(Q · R)^Δ(d)[1] = (Q^Δ · R^Δ)(d)[1], with Q = R = id"
    return refute(name, claim, show=[d0, d1], replay=replay)


@theorem(
    statement="(Q + R)^Δ = Q^Δ + R^Δ and (-Q)^Δ = -Q^Δ, for all stream operators Q, R",
    source="DBSP (VLDB 2023) proposition 3.2 (add)",
    lean="add_incremental",
    wrong=(product_of_increments,),
)
def incremental_sum() -> Thm:
    a, b = any_streams("A"), any_streams("B")
    q, r = fresh_symbol("Q", a.sort, b.sort), fresh_symbol("R", a.sort, b.sort)
    d = a.stream("d")
    additive_D, _ = parts(differential_laws(b))
    one, other = q(a.I(d)), r(a.I(d))
    return both(
        "the increment of a sum",
        gen(inst(additive_D, one, other), d),
        gen(inst(difference_negated(b), one), d),
    )


@cache
def difference_negated(streams: Streams) -> Thm:
    """∀ s. D(-s) = -D(s)."""
    s = streams.stream("s")
    return gen(
        streams.equal("D(-s) = -D(s)", streams.D(streams.neg(s)), streams.neg(streams.D(s))), s
    )


# ---------------------------------------------------------------- 3.2: cycle


@cache
def integral_keeps_agreement(streams: Streams) -> Thm:
    """∀ s r t. agree(t, s, r) → agree(t, I(s), I(r))."""
    integral = Operator("I", (streams,), streams, streams.I)
    return integral.agreeing(CAUSAL, causal_pointwise(integral))


def causal_pointwise(operator: Operator) -> Thm:
    """An operator whose value is made of the inputs' values now, and of its value before."""

    def facts(case: Case) -> list[Thm]:
        values = [
            inst(agree_now(streams), s, r, tick)
            for streams, s, r in operator.pairs
            for tick in (*case.arguments, case.term)
        ]
        return [*unfold([operator.target.space], case.goal), *values]

    return operator.proved(CAUSAL, facts)


def increment_operator(operator: Operator) -> Operator:
    """T^Δ: I on every input, D on the output."""

    def of(*arguments: Term) -> Term:
        width = len(operator.sources)
        pairs = zip(operator.sources, arguments[:width], strict=True)
        integrals = [streams.I(d) for streams, d in pairs]
        return operator.target.D(operator.of(*integrals, *arguments[width:]))

    target = operator.target
    return Operator(f"{operator.name}^Δ", operator.sources, target, of, operator.sorts)


def causal_increment(operator: Operator, causal: Thm) -> Thm:
    """T^Δ is causal, for a theorem that says so of T."""
    change, parameters = increment_operator(operator), operator.parameters
    integrals = [(each, each.I(s), each.I(r)) for each, s, r in change.pairs]
    before, after = [s for _, s, _ in integrals], [r for _, _, r in integrals]

    def facts(case: Case) -> list[Thm]:
        known = unfold([operator.target.space], case.goal)
        for tick in (*case.arguments, case.term):
            known.append(inst(causal, *parameters, *before, *after, tick))
            known += [
                inst(integral_keeps_agreement(streams), s, r, tick)
                for streams, s, r in change.pairs
            ]
        return known

    return change.proved(CAUSAL, facts)


def increment_as_strict() -> Counterexample:
    """A strict increment would not see the delta of its own tick."""
    d0, e0 = z3.Ints("d0 e0")

    def replay(d0: int, e0: int) -> tuple[list[int], list[int]]:
        return incremental(lambda x: x)([d0]), incremental(lambda x: x)([e0])

    return refute("Q^Δ(d)[0] = Q^Δ(e)[0], with Q = id", d0 == e0, show=[d0, e0], replay=replay)


@theorem(
    statement="Q^Δ is causal if Q is, of one input and of two",
    source="DBSP long version (2022) proposition 5.2 (cycle: both sides are well defined)",
    lean="causal_incremental, causal_incremental2",
    wrong=(increment_as_strict,),
)
def incremental_causal() -> Thm:
    """So the increment of a circuit may be computed tick by tick, and looped through a delay."""
    a, b, c = (any_streams(name) for name in "ABC")
    queries = (any_operator("Q", (a,), b), any_operator("T", (a, c), b))
    proofs = [
        causal_increment(query, axiom(f"{query.name} is causal", query.reads(CAUSAL)))
        for query in queries
    ]
    return both("increments are causal", *proofs)


def loop_of_squares(d: Sequence[int]) -> list[int]:
    """fix a. T(d, z(a)) for T(s, a) = s * s + a: the sum of the squares.

    >>> loop_of_squares([1, 2])
    [1, 5]
    """
    return integrate(squares(d))


def looped(body: Callable[[list[int]], list[int]], ticks: int) -> list[int]:
    """fix a. body(a), for a body with a delay in it: every round has one more tick right.

    >>> looped(lambda a: plus([1, 2, 3], delay(a)), 3)
    [1, 3, 6]
    """
    return reduce(lambda a, _: body(a), range(ticks), [0] * ticks)


def plus(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """↑+.

    >>> plus([1, 2], [3, 4])
    [4, 6]
    """
    return lift(lambda x, y: x + y)(one, other)


def loop_that_keeps_its_circuit() -> Counterexample:
    """fix a. T(d, z(a)) of the deltas for the increment of the loop, with T for T^Δ."""
    d0, d1 = z3.Ints("d0 d1")
    claim = (d0 * d0 + (d0 + d1) * (d0 + d1)) - d0 * d0 == d0 * d0 + d1 * d1

    def replay(*d: int) -> tuple[list[int], list[int]]:
        return differentiate(loop_of_squares(integrate(d))), loop_of_squares(d)

    name = "(fix a. T(s, z(a)))^Δ[1] = fix a. T(d, z(a))[1], with T(s, a) = s * s + a"
    return refute(name, claim, show=[d0, d1], replay=replay)


def loop_of_deltas_not_added_up() -> Counterexample:
    """T^Δ with I on its input and none on what comes back, which are deltas too."""
    d = z3.Ints("d0 d1 d2")
    claim = d[0] + d[1] + d[2] == d[1] + d[2]

    def replay(*d: int) -> tuple[list[int], list[int]]:
        s, ticks = integrate(d), len(d)
        whole = looped(lambda a: plus(s, delay(a)), ticks)
        return differentiate(whole), looped(lambda a: differentiate(plus(s, delay(a))), ticks)

    name = "(fix a. s + z(a))^Δ[2] = fix a. D(I(d) + z(a))[2]"
    return refute(name, claim, show=d, replay=replay)


@theorem(
    statement="(fix a. T(s, z(a)))^Δ = fix a. T^Δ(s, z(a)) for every causal T; both exist, once",
    source="DBSP (VLDB 2023) proposition 3.2 (cycle); long version (2022) lemma 5.3",
    lean="cycle_incremental",
    wrong=(loop_that_keeps_its_circuit, loop_of_deltas_not_added_up),
)
def incremental_cycle() -> Thm:
    """The increment of a feedback loop is the loop around the increment."""
    a, b = any_streams("A"), any_streams("B")
    circuit = any_operator("T", (a, b), b)
    causal = axiom("T is causal", circuit.reads(CAUSAL))
    loop = Loop("fix T", circuit, causal)
    change = Loop("fix T^Δ", increment_operator(circuit), causal_increment(circuit, causal))
    d = a.stream("d")
    deltas, view = change.operator.of(d), loop.operator.of(a.I(d))
    _, late = parts(integral_laws(b))
    known = [
        inst(change.fixpoint.solves, d),
        inst(integrate_after_differentiate(b), circuit.of(a.I(d), b.I(b.z(deltas)))),
        inst(late, deltas),
        inst(loop.fixpoint.unique, a.I(d), b.I(deltas)),
    ]
    total = prove("I(fix T^Δ) = fix T", b.I(deltas) == view, known)
    inverse = inst(differentiate_after_integrate(b), deltas)
    same = prove_for_all("the cycle rule", [d], b.D(view) == deltas, [total, inverse])
    return both("cycle", same, loop.fixpoint.solves, change.fixpoint.solves)


def loop_without_what_slid() -> Counterexample:
    """fix a. G(T(s, F(a))) = fix b. T(s, F(G(b))), with G = -, T = + and F = z."""
    s0 = z3.Int("s0")

    def replay(s0: int) -> tuple[ZSet, ZSet]:
        s = [row(s0, 1)]
        first = lift(lambda one, other: one + other)(s, delay(s))
        return NEGATE.over(first[0]), first[0]

    name = "fix a. G(T(s, F(a))) = fix b. T(s, F(G(b))), with G = -, T = + and F = z"
    return refute(name, -s0 == s0, show=[s0], replay=replay)


def loop_left_as_it_was() -> Counterexample:
    """G moved to where the loop is read, and not to where it goes back."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        s, negated = [s0, s1], lift(lambda x: -x)
        whole = looped(lambda a: negated(plus(s, delay(a))), 2)
        return whole, negated(looped(lambda b: plus(s, delay(b)), 2))

    name = "fix a. G(T(s, F(a))) = G(fix b. T(s, F(b))), with G = -, T = + and F = z"
    return refute(name, -(s1 - s0) == -(s0 + s1), show=[s0, s1], replay=replay)


@theorem(
    statement="fix a. G(T(s, F(a))) = G(fix b. T(s, F(G(b)))) for causal T and G, strict F",
    source="DBSP long version (2022) proposition 3.24",
    wrong=(loop_without_what_slid, loop_left_as_it_was),
)
def loop_sliding() -> Thm:
    """What ends a loop may move to where the loop is read, and to where it goes back."""
    a, b, c, e = (any_streams(name) for name in "ABCE")
    circuit, last = any_operator("T", (a, c), b), any_operator("G", (b,), e)
    back = any_operator("F", (e,), c)
    causal = [
        Reads(each, CAUSAL, axiom(f"{each.name} is causal", each.reads(CAUSAL)))
        for each in (circuit, last)
    ]
    strict = Reads(back, STRICT, axiom("F is strict", back.reads(STRICT)))
    whole = Operator("G(T)", (a, c), e, lambda s, x: last.of(circuit.of(s, x)))
    slid = Operator("F(G)", (b,), c, lambda x: back.of(last.of(x)))
    before = Loop("fix a. G(T(s, F(a)))", whole, whole.composed(CAUSAL, causal), back, strict.proof)
    after = Loop(
        "fix b. T(s, F(G(b)))",
        circuit,
        causal[0].proof,
        slid,
        slid.composed(STRICT, [causal[1], strict]),
    )
    s = a.stream("s")
    moved = last.of(after.operator.of(s))
    known = [inst(after.fixpoint.solves, s), inst(before.fixpoint.unique, s, moved)]
    return prove_for_all("sliding", [s], before.operator.of(s) == moved, known)
