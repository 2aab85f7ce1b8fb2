"""A recursive query is kept up to date by one loop in both times, for any body.

    o[t] = fix o. ↑R(E(i[t]), z(o))        the recursion of a tick, by iteration
    d    = R^ΔΔ(↑δ0(D(i)), ↑z(d))          the loop of changes of changes, over all ticks

The only solution of the second is d = D D o; what it adds up to in a tick is the change of the
first one's result since the tick before, and it comes to rest no later.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property

import z3

from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causality import (
    at_most,
)
from deltaproof.theorems.calculus.streams import (
    TICK,
    after,
    integrate_after_differentiate,
)
from deltaproof.theorems.execution.symbolic import CircuitSteps
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Term,
    Thm,
    both,
    certificate,
    gen,
    inst,
    parts,
    prove,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.loops.elimination import introduction, streams_of_streams
from deltaproof.theorems.loops.iteration import Iteration, any_iteration, paths
from deltaproof.theorems.loops.nested import passes_difference, passes_integral, two_times
from deltaproof.theorems.registry import theorem


class NestedIteration:
    """The recursion of each tick, and the loop in both times that keeps its result up to date."""

    def __init__(self, recursion: Iteration) -> None:
        self.recursion, self.inputs = recursion, recursion.inputs
        self.times = two_times(recursion.outputs)
        self.inner, self.outer = self.times.inner, self.times.outer
        self.nested = streams_of_streams(self.inputs)
        self.introduced = introduction(recursion.into)
        inputs, inner, outer = self.inputs, self.inner, self.outer
        self.sums = self.nested.lift("I", inputs.I, self.nested)
        self.body = outer.lift("R", recursion.lifted, self.nested, outer)
        self.runs = outer.lift("o", recursion.output, inputs)
        self.column = inner.space.define(
            "column", [outer.sort, TICK], lambda t, s, n: inner.at(outer.at(s, t), n)
        )
        self.results = inner.space.define(
            "R^(n+1)(0)",
            [inputs.sort, TICK],
            lambda t, i, n: recursion.power(after(n), inputs.at(i, t)),
        )
        self.i, self.d = inputs.stream("i"), outer.stream("d")
        self.t, self.n = z3.Consts("t n", TICK)

    def constants(self) -> Term:
        """↑E(i)."""
        return self.sums(self.introduced.of(self.i))

    def step(self, d: Term) -> Term:
        """R^ΔΔ(↑δ0(D(i)), ↑z(d))."""
        entering = self.sums(self.nested.I(self.introduced.of(self.inputs.D(self.i))))
        return self.times.changes(self.body(entering, self.times.contents(self.times.z.of(d))))

    @cached_property
    def entering(self) -> Thm:
        """I I ↑δ0(D(i)) = ↑E(i)."""
        change = self.inputs.D(self.i)
        known = [
            inst(passes_integral(self.introduced), change),
            inst(integrate_after_differentiate(self.inputs), self.i),
        ]
        left = self.sums(self.nested.I(self.introduced.of(change)))
        return prove("I I ↑δ0(D(i)) = ↑E(i)", left == self.constants(), known)

    def row(self, s: Term) -> list[Thm]:
        """What s is at a tick."""
        spaces = [self.outer.space, self.nested.space]
        here = unfold(spaces, self.outer.at(s, self.t))
        return [*here, *unfold(spaces, self.nested.at(self.constants(), self.t))]

    @cached_property
    def only_runs(self) -> Thm:
        """∀ a. a = ↑R(↑E(i), ↑z(a)) → a = ↑o(i), and ↑o(i) is such an a."""
        outer, inputs, fix = self.outer, self.inputs, self.recursion.loop.fixpoint
        a, runs, now = outer.stream("a"), self.runs(self.i), inputs.at(self.i, self.t)
        constant = self.recursion.into.constant(now)

        def everywhere(name: str, left: Term, right: Term, known: Thm, given: list[Formula]) -> Thm:
            here = outer.at(left, self.t) == outer.at(right, self.t)
            rows = [*self.row(left), *self.row(right), *self.row(self.loop_of(a)), known]
            proof = prove_for_all(name, [self.t], here, rows, given)
            by = [proof, inst(outer.space.extensional, left, right)]
            return prove(name, left == right, by, given)

        unique = inst(fix.unique, constant, outer.at(a, self.t))
        only = everywhere("a = ↑o(i)", a, runs, unique, [a == self.loop_of(a)])
        one = everywhere("↑o(i)", runs, self.loop_of(runs), inst(fix.solves, constant), [])
        return both("the runs", gen(only, a), one)

    def loop_of(self, a: Term) -> Term:
        """↑R(↑E(i), ↑z(a))."""
        return self.body(self.constants(), self.times.z.of(a))

    @cached_property
    def one_solution(self) -> Thm:
        """∀ i d. d = R^ΔΔ(↑δ0(D(i)), ↑z(d)) exactly if d = D D ↑o(i)."""
        times, d, runs = self.times, self.d, self.runs(self.i)
        only, one = parts(self.only_runs)
        view, changes = times.contents(d), times.changes(runs)
        known = [self.entering, inst(times.delay_of_contents, d)]
        again = self.body(self.constants(), times.contents(times.z.of(d)))
        forth = prove(
            "only D D ↑o(i)",
            d == changes,
            [
                *known,
                inst(times.contents_of_changes, again),
                inst(times.changes_of_contents, d),
                inst(only, view),
            ],
            given=[d == self.step(d)],
        )
        back = prove(
            "D D ↑o(i)",
            changes == self.step(changes),
            [
                self.entering,
                one,
                inst(times.delay_of_contents, changes),
                inst(times.contents_of_changes, runs),
            ],
        )
        return both("one solution", gen(forth, self.i, d), gen(back, self.i))

    @cached_property
    def sums_of_changes(self) -> Thm:
        """∀ i n. the sums up to n of D D ↑o(i) are the changes of R^(n+1)(0), tick by tick."""
        times, inner, runs = self.times, self.inner, self.runs(self.i)
        i, n, t = self.i, self.n, self.t
        delta, shown = times.I.of(times.changes(runs)), self.results(self.i, self.n)
        inside = times.I.of(times.D.of(runs))
        inverse = integrate_after_differentiate(inner)
        whole = prove(
            "↑I D D ↑o(i) = D(↑o(i))",
            delta == self.outer.D(runs),
            [
                inst(passes_difference(times.I), times.D.of(runs)),
                times.everywhere("I D s = s by iteration", inverse, inside, runs),
            ],
        )
        value = inner.at(self.column(runs, n), t) == inner.at(shown, t)
        known = [
            *unfold([inner.space, self.outer.space], value),
            inst(self.recursion.approximations, self.inputs.at(i, t), n),
        ]
        same = inner.space.equal(
            "column n of ↑o(i)",
            self.column(runs, n),
            shown,
            prove_for_all("at a tick", [t], value, known),
        )
        left, right = self.column(delta, n), inner.D(shown)
        proof = prove("the changes", left == right, [whole, same, self._column_of_change(runs)])
        return gen(proof, i, n)

    def _column_of_change(self, s: Term) -> Thm:
        """The column of D(s) is D of the column."""
        inner, outer = self.inner, self.outer
        change = outer.D(s)

        def facts(case: Case) -> list[Thm]:
            spaces, zero = [outer.space, inner.space], inner.group.zero
            now, late = outer.at(s, case.term), outer.at(outer.z(s), case.term)
            before = [inner.at(outer.at(s, tick), self.n) for tick in case.arguments]
            step = inner.group.sub(inner.at(now, self.n), *(before or [zero]))
            whole = inner.at(self.column(change, self.n), case.term)
            rows = inner.at(outer.group.sub(now, late), self.n), inner.at(inner.zero, self.n)
            return [prove(f"{case.name}: D(s)[t][n]", whole == step, unfold(spaces, whole, *rows))]

        left, right = self.column(change, self.n), inner.D(self.column(s, self.n))
        return inner.equal("column of D(s)", left, right, facts)

    def rest(self, i: Term) -> Formula:
        """The iteration for this input rests at n."""
        return z3.substitute(self.recursion.at_rest(self.n), (self.recursion.i, i))

    @cached_property
    def at_rest(self) -> tuple[Thm, Thm]:
        """Where the recursion of a tick, and that of the tick before, rest at n, D D ↑o(i) is zero
        at that tick from iteration n on: the first tick, and the one after t.
        """
        return self._quiet(TICK.first, []), gen(self._quiet(after(self.t), [self.t]), self.t)

    def _quiet(self, tick: Term, before: Sequence[Term]) -> Thm:
        """At one tick, with what is there of ticks before it."""
        inner, outer, recursion = self.inner, self.outer, self.recursion
        group, n, j, leq = inner.group, self.n, z3.Const("j", TICK), at_most()
        delta = self.times.D.of(self.runs(self.i))
        changes = self.times.changes(self.runs(self.i))
        now, late = outer.at(delta, tick), outer.at(outer.z(delta), tick)
        value = inner.at(outer.at(changes, tick), j)
        step = inner.at(outer.group.sub(now, late), j), inner.at(inner.zero, j)
        known = [
            *unfold([outer.space, inner.space], value, *step),
            leq.unfold(after(j), n),
            certificate("0 - 0 = 0", group, group.sub(group.zero, group.zero) == group.zero),
        ]
        inputs = [self.inputs.at(self.i, each) for each in (tick, *before)]
        for each in inputs:
            rest = recursion.power(n, each)
            known += [
                inst(recursion.changes, each, j),
                inst(recursion.rests, each, n, j),
                inst(recursion.rests, each, n, after(j)),
                certificate("x - x = 0", group, group.sub(rest, rest) == group.zero),
            ]
        given = [*map(self.rest, inputs), leq(j, n)]
        goal = value == group.zero
        return prove_for_all("nothing changes from n on", [self.i, n, j], goal, known, given)


@cache
def nested_iteration() -> NestedIteration:
    return NestedIteration(any_iteration())


def path_lost_and_found(first: bool, second: bool, short: bool) -> tuple[ZSet, ZSet]:
    """The change of the paths when the edge from 1 to 3 goes: by the reference's increment, and
    without what the other way there derives later on."""
    edges = ZSet({(1, 2): int(first), (2, 3): int(second), (1, 3): int(short)})
    gone = ZSet({(1, 3): -int(short)})
    query = paths()
    circuit = CircuitSteps(query)
    circuit.step(edges)
    return circuit.step(gone), gone


def deletion_without_later_iterations() -> Counterexample:
    """The row that was derived by an edge goes with it, though it has a longer derivation."""
    first, second, short = z3.Bools("edge_1_2 edge_2_3 edge_1_3")
    longer = z3.And(first, second)
    claim = z3.And(z3.Or(short, longer), z3.Not(longer)) == short
    name = "without the edge from 1 to 3 the path is gone"
    return refute(name, claim, show=[first, second, short], replay=path_lost_and_found)


@theorem(
    statement="d = R^ΔΔ(↑δ0(di), ↑z(d)) has one solution; its sums are the changes of R^(n+1)(0)",
    source="DBSP (VLDB 2023) equation 6.1; long version (2022) section 9",
    lean="cycle2_incremental, incremental_closure2_ok",
    wrong=(deletion_without_later_iterations,),
)
def incremental_recursion() -> Thm:
    """The circuit of section 6 for any R: what its iterations of a tick put out in all, up to any
    n, is the change of n + 1 rounds of R since the tick before, and so of the fixpoint.
    """
    it = nested_iteration()
    return both("incremental recursion", it.one_solution, it.sums_of_changes)


def rest_of_this_tick_only() -> Counterexample:
    """The tick before took longer: what it derived late has to be taken back late."""
    first, second = z3.Bools("edge_1_2 edge_2_3")

    def replay(first: bool, second: bool) -> tuple[ZSet, ZSet]:
        circuit = CircuitSteps(paths())
        circuit.step(ZSet({(1, 2): int(first), (2, 3): int(second)}))
        gone = ZSet({(2, 3): -int(second)})
        return circuit.step(gone), gone

    name = "what rests at 1 now has no change at iteration 1"
    return refute(name, z3.Not(z3.And(first, second)), show=[first, second], replay=replay)


@theorem(
    statement="if the recursions of a tick and of the one before rest at n, d is 0 from there on",
    source="DBSP (VLDB 2023) section 6",
    wrong=(rest_of_this_tick_only,),
)
def nested_iterations_bounded() -> Thm:
    """The incremental loop never iterates longer than the loops from nothing would."""
    return both("no more iterations", *nested_iteration().at_rest)
