"""To read nothing of the future is to survive cutting: cut(F(s), n) = cut(F(cut(s, n)), n).

    cut(s, n)     s up to the tick n, then zeros

Cutting is not an operator of circuits, it is not time-invariant; it is how the long version of
the paper reasons about causal operators and their fixpoints. Here it is proved of operators that
are causal in the sense of `causality`, in both directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import z3

from deltaproof.reference import stream as reference
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    STRICT,
    Agreement,
    N,
    Operator,
    T,
    agree_pointwise,
    any_operator,
    at_most,
    at_most_reflexive,
    at_most_total,
    at_most_transitive,
    causal_of_strict,
    fixpoint,
    pointwise,
    ticks_read,
    two_streams,
)
from deltaproof.theorems.calculus.feedback import any_strict
from deltaproof.theorems.calculus.streams import TICK, Streams, any_streams
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Formula,
    Thm,
    assume,
    both,
    discharge,
    gen,
    inst,
    prove,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem

# ---------------------------------------------------------------- cutting


@cache
def cut(streams: Streams, kind: Agreement) -> Definition:
    """cut(s, n): s up to the tick n, then zeros; for STRICT before n, and from n on zeros."""
    at, zero, order = streams.at, streams.group.zero, ticks_read(kind)
    return streams.space.define(
        "cut", [streams.sort, TICK], lambda t, s, n: z3.If(order(n, t), at(s, t), zero)
    )


@cache
def cut_agrees(streams: Streams, kind: Agreement) -> Thm:
    """∀ s n. s agrees with cut(s, n), up to n or before it."""
    s = streams.stream("s")
    short = cut(streams, kind)(s, N)
    known = [inst(agree_pointwise(streams, kind), s, short, N), *cut(streams, kind).equations]
    return gen(prove("s agrees with cut(s, n)", kind(streams)(N, s, short), known), s, N)


@cache
def cut_of_agreeing(streams: Streams, kind: Agreement) -> Thm:
    """∀ s r n. s and r agree → cut(s, n) = cut(r, n), up to n or before it."""
    s, r = two_streams(streams)
    agreed, short = kind(streams)(N, s, r), cut(streams, kind)
    known = [
        inst(agree_pointwise(streams, kind), s, r, N),
        inst(streams.space.extensional, short(s, N), short(r, N)),
        *short.equations,
    ]
    proved = prove("cuts of who agree are equal", short(s, N) == short(r, N), known, given=[agreed])
    return gen(proved, s, r, N)


def cut_formula(operator: Operator, kind: Agreement) -> Formula:
    """∀ s … n. cut(F(s, …), n) = cut(F(cut(s, n), …), n); for STRICT the inner cut is before n."""
    inputs = operator.inputs("s")
    short = [cut(each, kind)(s, N) for each, s in zip(operator.sources, inputs, strict=True)]
    outer = cut(operator.target, CAUSAL)
    equation = outer(operator.image(inputs), N) == outer(operator.image(short), N)
    return z3.ForAll([*operator.parameters, *inputs, N], equation)


def cut_of(operator: Operator, kind: Agreement, reads: Thm) -> Thm:
    """`cut_formula`, for an operator that is causal or strict."""
    inputs, target = operator.inputs("s"), operator.target
    pairs = list(zip(operator.sources, inputs, strict=True))
    short = [cut(each, kind)(s, N) for each, s in pairs]
    left, right = operator.image(inputs), operator.image(short)
    outer = cut(target, CAUSAL)
    known = [
        *[inst(cut_agrees(each, kind), s, N) for each, s in pairs],
        inst(operator.agreeing(kind, reads), *operator.parameters, *inputs, *short, N),
        inst(agree_pointwise(target, CAUSAL), left, right, N),
    ]
    name = f"cut({operator.name}(s), n) = cut({operator.name}(cut(s, n)), n)"
    proved = pointwise(name, target, outer(left, N), outer(right, N), by=known)
    return gen(proved, *operator.parameters, *inputs, N)


def reads_of_cut(operator: Operator, kind: Agreement) -> Thm:
    """`cut_formula` → the operator is causal, or strict."""
    formula, target = cut_formula(operator, kind), operator.target
    supposed, tick = assume(formula), operator.variables[-1]
    s, r = operator.inputs("s"), operator.inputs("r")
    outer = cut(target, CAUSAL)
    known = [
        *[inst(supposed, *operator.parameters, *each, tick) for each in (s, r)],
        *[outer.unfold(tick, operator.image(each), tick) for each in (s, r)],
        *[inst(cut_of_agreeing(each, kind), x, y, tick) for each, x, y in operator.pairs],
        inst(at_most_reflexive(), tick),
    ]
    proved = prove(f"{operator.name} reads what its cut reads", operator.claim(kind)(tick), known)
    return discharge(
        f"who commutes with cutting reads no further: {operator.name}",
        formula,
        gen(proved, *operator.variables),
    )


# ---------------------------------------------------------------- theorems


def prefix(stream: Sequence[int], last: int) -> list[int]:
    """cut(s, n) of a list.

    >>> prefix([7, 8, 9], 1)
    [7, 8, 0]
    """
    return [value if tick <= last else 0 for tick, value in enumerate(stream)]


def cut_as_time_invariant() -> Counterexample:
    """The authors say so: cutting is not an operator of circuits, only of their theory."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        return prefix(reference.delay([s0, s1]), 0), reference.delay(prefix([s0, s1], 0))

    return refute("cut(z(s), 0) = z(cut(s, 0)) at tick 1", s0 == 0, show=[s0, s1], replay=replay)


@theorem(
    statement="cut(cut(s, n), m) = cut(s, min(n, m)): cuts commute, and cutting twice is cutting",
    source="DBSP long version (2022) definition 3.9",
    lean="cut_cut, cut_comm, cut_idem",
    wrong=(cut_as_time_invariant,),
)
def cut_commutes() -> Thm:
    a = any_streams("A")
    s, m = a.stream("s"), z3.Const("m", TICK)
    short, leq = cut(a, CAUSAL), at_most()
    least = z3.If(leq(m, N), N, m)
    order = [
        inst(at_most_transitive(), T, N, m),
        inst(at_most_transitive(), T, m, N),
        inst(at_most_total(), N, m),
    ]
    twice, other = short(short(s, N), m), short(short(s, m), N)
    again = short(short(s, N), N)
    name = "cut(cut(s, n), m) = cut(s, min(n, m))"
    return both(
        "cutting",
        gen(pointwise(name, a, twice, short(s, least), by=order), s, N, m),
        gen(pointwise("cuts commute", a, twice, other), s, N, m),
        gen(pointwise("cutting twice is cutting", a, again, short(s, N)), s, N),
    )


def cut_before_is_enough() -> Counterexample:
    """I of a cut stream goes on after the cut; so it is cut again."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        cut_after = prefix(reference.integrate([s0, s1]), 0)
        return cut_after, reference.integrate(prefix([s0, s1], 0))

    return refute("cut(I(s), 0) = I(cut(s, 0)) at tick 1", s0 == 0, show=[s0, s1], replay=replay)


@theorem(
    statement="T is causal iff cut(T(s, r), n) = cut(T(cut(s, n), cut(r, n)), n); strict: before n",
    source="DBSP long version (2022) lemma 3.10",
    wrong=(cut_before_is_enough,),
)
def causal_cut() -> Thm:
    a, b, c = (any_streams(name) for name in "ABC")
    proofs = []
    for kind, name, sources in ((CAUSAL, "T", [a, b]), (STRICT, "F", [a])):
        operator = any_operator(name, sources, c)
        reads = operator.reads(kind)
        cuts = discharge(f"{name} is cut", reads, cut_of(operator, kind, assume(reads)))
        known = [cuts, reads_of_cut(operator, kind)]
        proofs.append(prove(f"{name} and cuts", reads == cut_formula(operator, kind), known))
    return both("causal and strict, by cutting", *proofs)


def cut_fixpoint_without_the_cut() -> Counterexample:
    """A fixpoint that is cut no longer solves the equation that was not cut."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[int], list[int]]:
        solution = prefix(reference.integrate([s0, s1]), 0)
        body = reference.lift(lambda s, a: s + a)
        return solution, body([s0, s1], reference.delay(solution))

    name = "cut(I(s), 0) = s + z(cut(I(s), 0)) at tick 1"
    return refute(name, s1 + s0 == 0, show=[s0, s1], replay=replay)


@theorem(
    statement="cut(fix a. F(a), n) = fix a. cut(F(a), n) for strict F",
    source="DBSP long version (2022) corollary 3.16",
    wrong=(cut_fixpoint_without_the_cut,),
)
def fixpoint_cut() -> Thm:
    f, strict, fix = any_strict()
    streams = f.target
    short = cut(streams, CAUSAL)
    body = Operator("cut F", (streams,), streams, lambda a, n: short(f.of(a), n), (TICK,))
    (a,), (b,), (n,) = body.inputs("s"), body.inputs("r"), body.parameters

    def facts(case: Case) -> list[Thm]:
        return [inst(strict, a, b, case.term), *unfold([streams.space], *case.goal.children())]

    cut_fix = fixpoint("fix cut F", streams, [TICK], body.of, body.proved(STRICT, facts))
    solution = short(fix.symbol(), n)
    cuts = cut_of(f, CAUSAL, causal_of_strict(f, strict))
    known = [fix.solves, inst(cuts, fix.symbol(), n), inst(cut_fix.unique, n, solution)]
    name = "cut(fix a. F(a), n) = fix a. cut(F(a), n)"
    return gen(prove(name, solution == cut_fix.symbol(n), known), n)
