"""A loop computes a recursive query: round by round, and where it rests the sum of its changes.

    o = ↑R(E(i), z(o))         o[t] = R(i, R(i, … 0)), t + 1 times; the query is ∫ D(o)
    δ = R^Δ(δ0(i), z(δ))       δ = D(o): semi-naive evaluation, the same query
    o = ↑Q(δ0(i) + z(o))       x := i; while x changes: x := Q(x)

Ticks are rounds here. R and Q are any functions; several relations are one relation of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.query import Query, recursion, table
from deltaproof.reference.scalar import col
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causality import (
    Loop,
    Operator,
    at_most,
    at_most_reflexive,
    at_most_transitive,
    lifted_causal,
)
from deltaproof.theorems.calculus.incremental import causal_increment, increment_operator
from deltaproof.theorems.calculus.pairs import pairs_of
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    after,
    any_streams,
    differentiate_after_integrate,
    integral_laws,
    integrate_after_differentiate,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Term,
    Thm,
    assume,
    both,
    certificate,
    discharge,
    everything_under,
    fresh_symbol,
    gen,
    inst,
    parts,
    prove,
    prove_for_all,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.loops.elimination import by_time, elimination
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

FIRST = TICK.first
T, N = z3.Consts("t n", TICK)


class Iteration:
    """The loop o = ↑R(E(i), z(o)) for one R, and R(i, R(i, … 0))."""

    def __init__(
        self, inputs: Streams, outputs: Streams, body: Callable[[Term, Term], Term]
    ) -> None:
        self.inputs, self.outputs, self.body = inputs, outputs, body
        self.into, self.out = elimination(inputs), elimination(outputs)
        self.lifted = outputs.lift("R", body, inputs, outputs)
        self.circuit = Operator("↑R", (inputs, outputs), outputs, self.lifted)
        self.causal = lifted_causal(self.circuit)
        self.loop = Loop("naive", self.circuit, self.causal)
        self.i = self.into.x
        self.power = recursive(
            "R^",
            TICK,
            [inputs.group.sort],
            outputs.group.sort,
            (lambda recur, i: outputs.group.zero, lambda recur, n, i: body(i, recur(n, i))),
        )

    def output(self, i: Term) -> Term:
        """o."""
        return self.loop.operator.of(self.into.constant(i))

    def powers(self, *ticks: Term) -> list[Thm]:
        """R^t(0) for these ticks and for the next ones."""
        every = [each for tick in ticks for each in (tick, after(tick))]
        return [self.power.unfold(t, self.i) for t in every if t.children() or t.eq(FIRST)]

    @cached_property
    def approximations(self) -> Thm:
        """∀ i t. o[t] = R^(t+1)(0)."""
        i, outputs = self.i, self.outputs
        o, constant = self.output(i), self.into.constant(i)
        solves = inst(self.loop.fixpoint.solves, constant)

        def facts(case: Case) -> list[Thm]:
            value = outputs.at(solves.formula.arg(1), case.term)
            constants = inst(self.into.constants, i, case.term)
            return [solves, constants, *unfold([outputs.space], value), *self.powers(case.term)]

        def claim(t: Term) -> Formula:
            return outputs.at(o, t) == self.power(after(t), i)

        return gen(by_time("o[t] = R^(t+1)(0)", claim, facts), i, T)

    @cached_property
    def changes(self) -> Thm:
        """∀ i t. D(o)[t] = R^(t+1)(0) - R^t(0)."""
        i, outputs = self.i, self.outputs
        change = outputs.D(self.output(i))

        def facts(case: Case) -> list[Thm]:
            ticks = (*case.arguments, case.term)
            known = [inst(self.approximations, i, tick) for tick in ticks]
            zero = self.power.equations[:1]
            return [*known, *zero, *unfold([outputs.space], outputs.at(change, case.term))]

        def claim(t: Term) -> Formula:
            step = outputs.group.sub(self.power(after(t), i), self.power(t, i))
            return outputs.at(change, t) == step

        return gen(by_time("D(o)[t] = R^(t+1)(0) - R^t(0)", claim, facts), i, T)

    def at_rest(self, n: Term) -> Formula:
        """R^(n+1)(0) = R^n(0)."""
        return self.power(after(n), self.i) == self.power(n, self.i)

    @cached_property
    def rests(self) -> Thm:
        """∀ i n t. at rest at n ∧ n ≤ t → R^t(0) = R^n(0)."""
        i, leq = self.i, at_most()

        def facts(case: Case) -> list[Thm]:
            return [leq.unfold(case.term, N), *self.powers(*case.arguments), *self.powers(N)]

        def claim(t: Term) -> Formula:
            given = z3.And(self.at_rest(N), leq(t, N))
            return z3.Implies(given, self.power(t, i) == self.power(N, i))

        return gen(by_time("R^t(0) is at rest from n on", claim, facts), i, N, T)

    @cached_property
    def result(self) -> Thm:
        """∀ i n. at rest at n → ∫ D(o) = R^n(0)."""
        i, outputs, leq = self.i, self.outputs, at_most()
        group, at, power, o = outputs.group, outputs.at, self.power, self.output(self.i)
        assumed = assume(self.at_rest(N))
        settled = power(N, i)
        known = [
            assumed,
            inst(self.changes, i, T),
            inst(self.rests, i, N, T),
            inst(self.rests, i, N, after(T)),
            leq.unfold(after(T), N),
            certificate("x - x = 0", group, group.sub(settled, settled) == group.zero),
        ]
        quiet = z3.Implies(leq(T, N), at(outputs.D(o), T) == group.zero)
        zero = gen(prove("D(o) is zero from n on", quiet, known), T)
        total = at(outputs.I(outputs.D(o)), N) == settled
        inverse = inst(integrate_after_differentiate(outputs), o)
        last = prove("I(D(o))[n]", total, [assumed, inverse, inst(self.approximations, i, N)])
        summed = self.out.sum_at(outputs.D(o), N, settled, zero, last)
        return gen(discharge("∫ D(o) = R^n(0)", self.at_rest(N), summed), i, N)

    @cached_property
    def fixpoint(self) -> Thm:
        """∀ i n. at rest at n → R(i, R^n(0)) = R^n(0)."""
        i, x = self.i, self.power(N, self.i)
        known = self.powers(N)
        goal = self.body(i, x) == x
        return prove_for_all(
            "what is at rest is a fixpoint", [i, N], goal, known, [self.at_rest(N)]
        )

    @cached_property
    def incremental(self) -> Loop:
        """The loop of R^Δ."""
        change = increment_operator(self.circuit)
        return Loop("semi-naive", change, causal_increment(self.circuit, self.causal))

    def changes_only(self, i: Term) -> Term:
        """δ = R^Δ(δ0(i), z(δ))."""
        return self.incremental.operator.of(self.into.introduced(i))

    @cached_property
    def seminaive(self) -> Thm:
        """∀ i. δ = D(o)."""
        i, outputs, o = self.i, self.outputs, self.output(self.i)
        constant, delta = self.into.constant(i), self.changes_only(self.i)
        _, late = parts(integral_laws(outputs))
        again = self.circuit.of(constant, outputs.I(outputs.z(delta)))
        total = prove(
            "I(δ) = o",
            outputs.I(delta) == o,
            [
                inst(self.incremental.fixpoint.solves, self.into.introduced(i)),
                inst(integrate_after_differentiate(outputs), again),
                inst(late, delta),
                inst(self.loop.fixpoint.unique, constant, outputs.I(delta)),
            ],
        )
        inverse = inst(differentiate_after_integrate(outputs), delta)
        return gen(prove("δ = D(o)", delta == outputs.D(o), [total, inverse]), i)


@cache
def any_iteration() -> Iteration:
    """The loop of an R of which nothing is known."""
    inputs, outputs = any_streams("B"), any_streams("A")
    i, o = inputs.group.sort, outputs.group.sort
    return Iteration(inputs, outputs, fresh_symbol("R", i, o, o))


def paths() -> Query:
    """The paths of a graph: the edges, and the edges behind a path."""
    known, edges = table("paths", "a BIGINT, b BIGINT"), table("edges", "a BIGINT, b BIGINT")
    longer = known.join(edges.prefix("next_"), on={"b": "next_a"})
    body = edges.union_all(longer.map(a=col("a"), b=col("next_b")))
    return recursion("paths", {"paths": body})


def one_iteration_too_few() -> Counterexample:
    """R(0) for the fixpoint: of a graph its edges, and not its paths."""
    first, second = z3.Bools("edge_1_2 edge_2_3")

    def replay(first: bool, second: bool) -> tuple[ZSet, ZSet]:
        edges = ZSet({(1, 2): int(first), (2, 3): int(second)})
        return Run(Distinct(), ("a BIGINT, b BIGINT",)).over(edges), paths().meaning()(
            {"edges": edges}
        )

    name = "the path from 1 to 3 is there after an iteration"
    return refute(name, z3.Not(z3.And(first, second)), show=[first, second], replay=replay)


def body_that_swings() -> Counterexample:
    """What is there if it is not: R^(n+1)(0) = R^n(0) for no n, and there is no sum."""
    seed = z3.Bool("seed")

    def replay(seed: bool) -> tuple[ZSet, ZSet]:
        rows, known = table("rows", "k BIGINT"), table("known", "k BIGINT")
        body, contents = rows.except_(known).meaning(), ZSet({(1,): int(seed)})
        first = body({"rows": contents, "known": ZSet()})
        return body({"rows": contents, "known": first}), first

    after_one = z3.And(seed, z3.Not(z3.BoolVal(False)))
    after_two = z3.And(seed, z3.Not(after_one))
    name = "R(R(0)) = R(0) for R(x) = the rows that are not in x"
    return refute(name, after_two == after_one, show=[seed], replay=replay)


@theorem(
    statement="o = R(E(i), z(o)) is R^(t+1)(0) at t; where that rests, ∫D(o) is R^n(0), a fixpoint",
    source="DBSP (VLDB 2023) algorithm 5.3, theorem 5.4; long version (2022) theorem 8.2",
    lean="approxs_apply, derivative_approx_almost_zero, naive_ok",
    wrong=(one_iteration_too_few, body_that_swings),
)
def recursive_circuit() -> Thm:
    """For any R. For a monotone one it is the least fixpoint: see `recursion_least`."""
    it = any_iteration()
    return both(
        "naive", it.approximations, it.changes, it.result, it.fixpoint, it.loop.fixpoint.solves
    )


def new_rows_meet_new_rows_only() -> Counterexample:
    """A body that reads itself twice: a change meets what is there, and not only changes."""
    before, change = z3.Ints("before change")
    claim = (before + change) * (before + change) - before * before == change * change

    def replay(before: int, change: int) -> tuple[int, int]:
        totals = integrate([before, change])
        return differentiate([x * x for x in totals])[1], change * change

    return refute("R^Δ(δ) = R(δ), for R(x) = x * x", claim, show=[before, change], replay=replay)


@theorem(
    statement="fix δ. R^Δ(δ0(i), z(δ)) = D(fix o. R(E(i), z(o))), so both have the same ∫",
    source="DBSP (VLDB 2023) equation 5.1; long version (2022) section 8.1",
    lean="seminaive_equiv, seminaive_ok",
    wrong=(new_rows_meet_new_rows_only,),
)
def seminaive_evaluation() -> Thm:
    """Semi-naive is naive, for any R: the cycle rule for the loop of one recursion."""
    it = any_iteration()
    i, x = it.i, it.power(N, it.i)
    known = [inst(it.seminaive, i), inst(it.result, i, N)]
    goal = it.out.sums_to(it.changes_only(i), x)
    return both(
        "semi-naive",
        it.seminaive,
        prove_for_all("∫ δ = R^n(0)", [i, N], goal, known, [it.at_rest(N)]),
    )


def loop_that_keeps_adding_its_input() -> Counterexample:
    """E for δ0: the input is added before every round, not before the first only."""
    i = z3.Int("i")
    claim = 2 * (i + 2 * i) == 2 * (2 * i)

    def replay(i: int) -> tuple[ZSet, ZSet]:
        start = row(i, 1)
        return (start + start.scale(2)).scale(2), start.scale(2).scale(2)

    return refute("o[1] = Q(Q(i)), with E(i), Q(x) = 2x", claim, show=[i], replay=replay)


@theorem(
    statement="o = Q(δ0(i) + z(o)) is Q^(t+1)(i) at t; where x := Q(x) stops changing, ∫D(o) is x",
    source="DBSP (VLDB 2023) section 7.6; long version (2022) theorem 7.8",
    wrong=(loop_that_keeps_adding_its_input, body_that_swings),
)
def while_loop() -> Thm:
    """x := i; while x changes: x := Q(x), for any Q."""
    streams = any_streams("A")
    it, group, at = elimination(streams), streams.group, streams.at
    body = fresh_symbol("Q", group.sort, group.sort)
    applied = streams.lift("Q", body, streams)
    circuit = Operator(
        "↑Q(s + a)", (streams, streams), streams, lambda s, a: applied(streams.add(s, a))
    )
    loop = Loop("while", circuit, lifted_causal(circuit))
    power = recursive(
        "Q^",
        TICK,
        [group.sort],
        group.sort,
        (lambda recur, i: i, lambda recur, n, i: body(recur(n, i))),
    )
    i, leq = it.x, at_most()
    o = loop.operator.of(it.introduced(i))
    change, rest, late = streams.D(o), power(N, i), after(N)
    solves = inst(loop.fixpoint.solves, it.introduced(i))

    def rounds(*ticks: Term) -> list[Thm]:
        every = [each for tick in ticks for each in (tick, after(tick))]
        return [power.unfold(t, i) for t in every if t.children() or t.eq(FIRST)]

    def values(case: Case) -> list[Thm]:
        first, *_ = case.arguments or (None,)
        so_far = i if first is None else at(o, first)
        given = at(streams.add(it.introduced(i), streams.z(o)), case.term)
        zero = group.zero
        total = group.add(i, zero) if first is None else group.add(zero, so_far)
        sums = certificate("the input or what was computed", group, total == so_far)
        right = at(solves.formula.arg(1), case.term)
        return [solves, sums, *unfold([streams.space], right, given), *rounds(case.term)]

    approximations = gen(
        by_time("o[t] = Q^(t+1)(i)", lambda t: at(o, t) == power(after(t), i), values), i, T
    )
    at_rest = power(late, i) == rest

    def settled(case: Case) -> list[Thm]:
        return [leq.unfold(case.term, N), *rounds(*case.arguments, N)]

    stays = by_time(
        "Q^t(i) is at rest from n on",
        lambda t: z3.Implies(z3.And(at_rest, leq(t, N)), power(t, i) == rest),
        settled,
    )
    stays = gen(stays, i, N, T)
    nothing = certificate("x - x = 0", group, group.sub(rest, rest) == group.zero)

    def quiet(case: Case) -> list[Thm]:
        known = [leq.unfold(case.term, late), leq.unfold(late, N), inst(at_most_reflexive(), N)]
        for tick in (*case.arguments, case.term):
            known += [
                inst(approximations, i, tick),
                inst(stays, i, N, tick),
                inst(stays, i, N, after(tick)),
                leq.unfold(after(tick), N),
                inst(at_most_transitive(), N, late, tick),
            ]
        return [*known, nothing, *unfold([streams.space], at(change, case.term))]

    zero = by_time(
        "D(o) is zero after n",
        lambda t: z3.Implies(z3.And(at_rest, leq(t, late)), at(change, t) == group.zero),
        quiet,
    )
    assumed = assume(at_rest)
    there = [assumed, inst(at_most_reflexive(), N)]
    here = z3.Implies(leq(T, late), at(change, T) == group.zero)
    ended = prove(
        "I(D(o))[n + 1]",
        at(streams.I(change), late) == rest,
        [
            *there,
            inst(integrate_after_differentiate(streams), o),
            inst(approximations, i, late),
            inst(stays, i, N, after(late)),
            leq.unfold(late, N),
            leq.unfold(after(late), N),
        ],
    )
    quietly = gen(prove("D(o) is zero", here, [assumed, zero]), T)
    summed = it.sum_at(change, late, rest, quietly, ended)
    return both(
        "while", approximations, gen(discharge("∫ D(o) = x", at_rest, summed), i, N), solves
    )


def relations_one_after_the_other() -> Counterexample:
    """P to its end before Q begins: P never sees what Q derives."""
    blue, red = z3.Bools("blue_1_2 red_2_3")

    def replay(blue: bool, red: bool) -> tuple[ZSet, ZSet]:
        tables = {"blue": ZSet({(1, 2): int(blue)}), "red": ZSet({(2, 3): int(red)})}
        own = Run(Distinct(), ("a BIGINT, b BIGINT",)).over(tables["blue"])
        return own, alternating("blue").meaning()(tables)

    name = "no path of blue and red goes from 1 to 3"
    return refute(name, z3.Not(z3.And(blue, red)), show=[blue, red], replay=replay)


def alternating(first: str) -> Query:
    """The paths of edges of two colours in turn that begin with this colour."""
    colours = ("blue", "red")
    bodies = {}
    for colour, other in zip(colours, reversed(colours), strict=True):
        edges = table(colour, "a BIGINT, b BIGINT")
        behind = table(f"{other} paths", "a BIGINT, b BIGINT").prefix("next_")
        longer = edges.join(behind, on={"b": "next_a"}).map(a=col("a"), b=col("next_b"))
        bodies[f"{colour} paths"] = edges.union_all(longer)
    return recursion(f"{first} paths", bodies)


@theorem(
    statement="o1 = R1(E(i), z(o1), z(o2)), o2 = R2(…): the loop of (R1, R2) over pairs",
    source="DBSP long version (2022) theorem 8.3, whose proof is left open there",
    wrong=(relations_one_after_the_other,),
)
def mutual_recursion() -> Thm:
    """Pairs of relations are a group, so `recursive_circuit` holds of two relations, or of any
    number, that are defined in terms of each other. Where they rest they solve both equations.
    """
    inputs, left, right = any_streams("A"), any_streams("B"), any_streams("C")
    pairs = pairs_of(left, right)
    whole, group = pairs.streams, pairs.streams.group
    i, x, y = inputs.group.sort, left.group.sort, right.group.sort
    R1, R2 = fresh_symbol("R1", i, x, y, x), fresh_symbol("R2", i, x, y, y)
    pair = group.sort.constructor(0)
    first, second = (group.sort.accessor(0, place) for place in (0, 1))

    def body(i: Term, p: Term) -> Term:
        return pair(R1(i, first(p), second(p)), R2(i, first(p), second(p)))

    it = Iteration(inputs, whole, body)
    one, other = left.lift("R1", R1, inputs, left, right), right.lift("R2", R2, inputs, left, right)
    a, b, i = left.stream("o1"), right.stream("o2"), it.i
    constant = it.into.constant(i)
    looped = one(constant, left.z(a), right.z(b)), other(constant, left.z(a), right.z(b))
    given = [a == looped[0], b == looped[1]]
    together, again = pairs.pair(a, b), it.circuit.of(constant, whole.z(pairs.pair(a, b)))
    definitions = [each for each in everything_under(group.laws) if each.kind == "definition"]

    def facts(case: Case) -> list[Thm]:
        values = left.at(looped[0], case.term), right.at(looped[1], case.term)
        return [*definitions, *unfold(pairs.spaces, case.goal, *values), *map(assume, given)]

    def claim(t: Term) -> Formula:
        return whole.at(together, t) == whole.at(again, t)

    same = whole.space.equal(
        "the pair solves the loop", together, again, gen(by_time("", claim, facts), T)
    )
    solution = prove(
        "two loops are one loop of pairs",
        z3.Implies(z3.And(*given), together == it.output(i)),
        [_discharged(same, given), inst(it.loop.fixpoint.unique, constant, together)],
    )
    x, y = first(it.power(N, i)), second(it.power(N, i))
    rests = prove_for_all(
        "both equations are solved",
        [i, N],
        z3.And(x == R1(i, x, y), y == R2(i, x, y)),
        [inst(it.fixpoint, i, N)],
        given=[it.at_rest(N)],
    )
    return both("mutual recursion", gen(solution, a, b, i), it.approximations, it.result, rests)


def _discharged(thm: Thm, assumptions: Sequence[Formula]) -> Thm:
    """assumptions → what was proved from them."""
    for each in assumptions:
        thm = discharge(thm.name, each, thm)
    return thm
