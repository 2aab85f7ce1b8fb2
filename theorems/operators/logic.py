"""The general linear operator, a sum of branches that each map a row to weighted rows some ticks
later, is linear and time-invariant; two of them, one after the other, are one.

    branch(s)  = z^k(↑apply(images, s))        images(row): weighted rows, any number of them
    logic(s)   = branch₁(s) + branch₂(s) + …
    followed by: weights multiply, delays add
"""

from __future__ import annotations

from dataclasses import replace

import z3

from deltaproof.reference.operators.logic import Branch, Logic
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.stream import delay
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linear import Delays, Linear, lifted
from deltaproof.theorems.calculus.streams import TICK, additive, affine_as_linear, group_of_streams
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import Subject, prove_code, refute_code, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Formula,
    ProofError,
    Term,
    Thm,
    axiom,
    both,
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
from deltaproof.theorems.tables.sums import ComposedMaps, LinearMaps, linear_maps
from deltaproof.theorems.tables.zsets import any_zsets, streams_of


def applied(name: str, maps: LinearMaps, images: Term) -> Linear:
    """↑apply(images, ·) as an operator on streams."""
    source, target = streams_of(maps.source), streams_of(maps.target)
    return lifted(name, source, target, maps.with_images(images), maps.linear_for(images))


def any_images(name: str, maps: LinearMaps) -> Term:
    """The images of single rows, of which nothing is known."""
    return fresh_symbol(name, maps.images.sort)()


def branch_without_its_delay() -> Counterexample:
    """The row comes out at once, and the view is early by a tick."""
    d0, d1 = z3.Ints("d0 d1")

    def replay(d0: int, d1: int) -> tuple[ZSet, ZSet]:
        late = Run(Logic((Branch((("k", col("k")),), delay=1),)), ("k BIGINT",))
        return late.change([row(d0, 1)], [row(d1, 1)]), row(d1, 1)

    return refute("branch(d)[1] = d[1], with delay 1", d1 == d0, show=[d0, d1], replay=replay)


def weight_squared() -> Counterexample:
    """A factor taken from the weight of the row: no function of the row alone."""
    a, d = z3.Ints("a d")
    claim = (a + d) * (a + d) - a * a == d * d
    return refute("D(logic(I(d))) = logic(d), with the weight as factor", claim, show=[a, d])


@theorem(
    statement="z^k(apply(images, s)) + rest(s) is LTI, rest LTI: so D(logic(I(d))) = logic(d)",
    source="DBSP (VLDB 2023) sections 2 and 7.4, theorem 3.3",
    wrong=(branch_without_its_delay, weight_squared, affine_as_linear),
)
def logic_linear() -> Thm:
    """One branch and any linear rest: so, branch by branch, any number of branches.

    Images are any lists of weighted rows: a condition is an empty list, a weight expression the
    weight in it, an unnested array one entry per element.
    """
    a, b = any_zsets("A"), any_zsets("B")
    maps, source, target = linear_maps(a, b), streams_of(a), streams_of(b)
    late = Delays(target)
    branch = late.of(late.k).after(applied("branch", maps, any_images("images", maps)))
    of = fresh_symbol("rest", source.sort, target.sort)
    s = source.stream("s")
    rest = Linear(
        "rest",
        source,
        target,
        of,
        axiom(
            "the rest is linear",
            additive(group_of_streams(source), group_of_streams(target), of),
        ),
        axiom("the rest is time-invariant", z3.ForAll([s], of(source.z(s)) == target.z(of(s)))),
    )
    whole = branch.plus(rest)
    return both(
        "logic is its own increment",
        *[gen(each.laws(), late.k) for each in (branch, whole)],
        *[gen(each.increment(), late.k) for each in (branch, whole)],
    )


def delays_that_do_not_add() -> Counterexample:
    """The longer of two delays for their sum: what comes out at tick 2 comes out a tick early."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[int, int]:
        late = delay([s0, s1, 0])
        return delay(late)[2], late[2]

    return refute("z(z(s))[2] = z(s)[2]", s0 == s1, show=[s0, s1], replay=replay)


def weights_that_add() -> Counterexample:
    v, w = z3.Ints("first_factor second_factor")

    def replay(v: int, w: int) -> tuple[ZSet, ZSet]:
        first, second = (Logic((Branch((("k", col("k")),), weight=lit(f)),)) for f in (v, w))
        fused = first.followed_by(second)
        return row(v + w, 1), Run(fused or first, ("k BIGINT",)).over(row(1, 1))

    return refute("factors of both branches add", v + w == v * w, show=[v, w], replay=replay)


@theorem(
    statement="z^j(g(z^k(f(s)))) = z^(j+k)((g ∘ f)(s)): a branch after a branch is one, delays add",
    source="DBSP (VLDB 2023) section 2 and proposition 2.4",
    wrong=(delays_that_do_not_add, weights_that_add),
)
def logic_composition() -> Thm:
    """(g ∘ f)(row) are the images of the images, with the product of the weights."""
    a, b, c = any_zsets("A"), any_zsets("B"), any_zsets("C")
    first, second, whole = linear_maps(a, b), linear_maps(b, c), linear_maps(a, c)
    composed = ComposedMaps(first, second, whole)
    f, g = any_images("f", first), any_images("g", second)
    one, other = applied("f", first, f), applied("g", second, g)
    both_images = applied("g ∘ f", whole, composed.of(f, g))
    inside, outside = Delays(streams_of(b)), Delays(streams_of(c))
    s, j, k = one.source.stream("s"), z3.Const("j", TICK), z3.Const("k", TICK)
    delays_pass = _delays_pass(other, inside, outside)
    plus, delays_add = _delays_add(outside)
    streams = streams_of(c)
    at, space = streams.at, streams.space
    t = z3.Const("t", TICK)
    merged, twice = both_images.of(s), other.of(one.of(s))
    maps_compose = inst(composed.theorem(), f, g, one.source.at(s, t))
    goal = at(twice, t) == at(merged, t)
    unfolded = unfold([space, streams_of(b).space], at(twice, t), at(merged, t))
    pointwise = gen(
        prove("g(f(s)) = (g ∘ f)(s), at every tick", goal, [maps_compose, *unfolded]), t
    )
    same = space.equal("g(f(s)) = (g ∘ f)(s)", twice, merged, pointwise)
    left = outside.power(j, other.of(inside.power(k, one.of(s))))
    right = outside.power(plus(j, k), merged)
    known = [same, inst(delays_pass, k, one.of(s)), inst(delays_add, j, k, merged)]
    whole_claim = prove("a branch after a branch is a branch", left == right, known)
    return both(
        "branches compose",
        delays_pass,
        delays_add,
        gen(whole_claim, s, j, k),
    )


def _delays_pass(operator: Linear, inside: Delays, outside: Delays) -> Thm:
    """∀ k s. S(z^k(s)) = z^k(S(s))."""
    s = operator.source.stream("s")

    def claim(k: Term) -> Formula:
        late = operator.of(inside.power(k, s))
        return z3.ForAll([s], late == outside.power(k, operator.of(s)), patterns=[late])

    by = [*inside.power.equations, *outside.power.equations, operator.invariant]
    return induct("S(z^k(s)) = z^k(S(s))", TICK, claim, by)


def _delays_add(delays: Delays) -> tuple[Definition, Thm]:
    """(j + k, ∀ j k s. z^j(z^k(s)) = z^(j + k)(s))."""
    plus = recursive(
        "+",
        TICK,
        [TICK],
        TICK,
        (lambda recur, k: k, lambda recur, n, k: TICK.constructor(1)(recur(n, k))),
    )
    k, s, power = delays.k, delays.s, delays.power

    def claim(j: Term) -> Formula:
        twice = power(j, power(k, s))
        return z3.ForAll([k, s], twice == power(plus(j, k), s), patterns=[twice])

    by = [*plus.equations, *power.equations]
    return plus, induct("z^j(z^k(s)) = z^(j + k)(s)", TICK, claim, by)


# ---------------------------------------------------------------- the code

ROWS: list[Row] = [(1, 3), (2, None), (1, 7)]
WEIGHED = Branch((("x", col("k")),), weight=col("v"))
WEIGHED_X = Branch((("x", col("x")),), weight=col("x"))
LATER = Branch((("x", col("v")),), where=col("v") > 5, weight=lit(-1), delay=1)


def logic_subject(*branches: Branch, rows: int = 3, ticks: int = 3) -> Subject:
    """Factors from the row, NULL among them; a branch that waits and takes rows away."""
    return subject_of(Logic(branches), [("k BIGINT, v BIGINT", ROWS[:rows])], ticks)


def composed_subject() -> Subject:
    """One logic after another, as one, against the meaning of the one and then the other."""
    first, second = Logic((WEIGHED, LATER)), Logic((Branch((("x", col("x")),), delay=1), WEIGHED_X))
    whole = first.followed_by(second)
    if whole is None:
        raise ProofError("these two do not fuse")
    fused = logic_subject(*whole.branches)
    schema = Schema.parse("k BIGINT, v BIGINT")
    inner = first.over_time(schema)
    outer = second.over_time(first.output(schema))
    return replace(fused, name="fused", over_time=lambda rows: outer(inner(rows)))


def logic_code_at_once() -> Counterexample:
    """The branch that should wait does not."""
    subject = logic_subject(WEIGHED, LATER)
    wrong = logic_subject(WEIGHED, replace(LATER, delay=0))
    return refute_code("a branch comes out at once", subject, wrong.increment)


def logic_code_without_factors() -> Counterexample:
    subject = logic_subject(WEIGHED, LATER)
    wrong = logic_subject(replace(WEIGHED, weight=None), LATER)
    return refute_code("each row counts once", subject, wrong.increment)


@theorem(
    statement="Logic's increment, also of two fused into one, as it runs, is D ∘ logic ∘ I",
    source="reference/operators/logic.py, reference/operators/due.py",
    scope="all integer weights; 3 rows, 3 ticks",
    wrong=(logic_code_at_once, logic_code_without_factors),
)
def logic_code() -> Thm:
    return both(
        "logic",
        prove_code(logic_subject(WEIGHED, LATER)),
        prove_code(logic_subject(WEIGHED)),
        prove_code(composed_subject()),
        prove_paths(logic_subject(WEIGHED, LATER, rows=1)),
    )
