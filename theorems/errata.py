"""Slips in print, each refuted with values, beside what holds instead.

A slip is a claim as it stands in a paper; the theorem that corrects it has the printed claim among
its wrong variants. Found while proving, but for lemma 4.9, which the Lean formalization found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from deltaproof.reference.operators.join import Join
from deltaproof.reference.stream import delay, integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causal import constant_as_zero
from deltaproof.theorems.calculus.convolution import INT, identity, identity_squared, series
from deltaproof.theorems.calculus.streams import TICK, abelian_group
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
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
    prove,
    prove_for_all,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.loops.elimination import sums_of_divergent_streams
from deltaproof.theorems.operators.recursion import positive_as_growing
from deltaproof.theorems.operators.semi_join import present_unless_zero
from deltaproof.theorems.registry import WrongVariant, theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.confluence import rules_as_printed
from deltaproof.theorems.tables.relations import difference_at_the_first_tick
from deltaproof.theorems.tables.zsets import ZERO


@dataclass(frozen=True)
class Erratum:
    """Where a slip is printed, what it says, what holds, and the values that refute it."""

    place: str
    printed: str
    holds: str
    theorem: str
    refuted: WrongVariant  # one of the theorem's wrong variants


# ---------------------------------------------------------------- bilinear, as printed


def product_as_printed() -> Counterexample:
    """f(a, c + d) = f(a, c) + f(c, d), for the product."""
    a, c, d = z3.Ints("a c d")

    def replay(a: int, c: int, d: int) -> tuple[ZSet, ZSet]:
        join = Run(Join((("k", "j"),)), ("k BIGINT", "j BIGINT"))
        left, right = row(a, 1), row(c, 1) + row(d, 1)
        return join.over(left, right), join.over(left, row(c, 1)) + join.over(row(c, 1), row(d, 1))

    name = "a (c + d) = a c + c d"
    return refute(name, a * (c + d) == a * c + c * d, show=[a, c, d], replay=replay)


@theorem(
    statement="f(a + x, b) = f(a, b) + f(x, b), f(a, c + d) = f(a, c) + f(c, d): then f = 0",
    source="DBSP (VLDB 2023) definition 2.13, as printed",
    wrong=(product_as_printed,),
)
def bilinear_as_printed() -> Thm:
    """A letter in the definition of "bilinear": with c for a, nothing but zero is bilinear."""
    group, target = abelian_group("A"), abelian_group("C")
    f, add, zero = fresh_symbol("f", group.sort, group.sort, target.sort), group.add, group.zero
    a, c, d = z3.Consts("a c d", group.sort)
    left = axiom(
        "f is linear on the left",
        z3.ForAll([a, c, d], f(add(a, c), d) == target.add(f(a, d), f(c, d))),
    )
    printed = axiom(
        "f is as printed on the right",
        z3.ForAll([a, c, d], f(a, add(c, d)) == target.add(f(a, c), f(c, d))),
    )
    neutral = {
        "0 + 0 = 0": add(zero, zero) == zero,
        "0 + d = d": add(zero, d) == d,
        "c + 0 = c": add(c, zero) == c,
    }
    sums = [certificate(name, group, goal) for name, goal in neutral.items()]

    def split(name: str, one: z3.ExprRef, first: z3.ExprRef, second: z3.ExprRef, by: Thm) -> Thm:
        return prove(name, one == target.add(first, second), [*sums, by])

    nothing = [
        split("f(0, d) twice", f(zero, d), f(zero, d), f(zero, d), inst(left, zero, zero, d)),
        split("f(a, d)", f(a, d), f(a, zero), f(zero, d), inst(printed, a, zero, d)),
        split("f(c, 0)", f(c, zero), f(c, zero), f(zero, zero), inst(printed, c, zero, zero)),
        split("f(a, c)", f(a, c), f(a, c), f(c, zero), inst(printed, a, c, zero)),
    ]
    for_any_c = gen(certificate("f(c, 0) = 0", target, f(c, zero) == target.zero, nothing), c)
    known = [*nothing, inst(for_any_c, a)]
    return gen(certificate("f(a, d) = 0", target, f(a, d) == target.zero, known), a, d)


# ---------------------------------------------------------------- a convolution, as printed


def convolution_as_printed() -> Counterexample:
    """id × id = 0 0 1 4 8 …"""
    t, values = z3.Int("t"), (0, 0, 1, 4, 8)
    printed = z3.Sum([z3.If(t == at, value, 0) for at, value in enumerate(values)])

    def replay(t: int) -> tuple[int, int]:
        """A factor id is the delay of two integrals."""
        identity = delay(integrate([1] * len(values)))
        return values[t], delay(integrate(integrate(identity)))[t]

    claim = 6 * printed == (t - 1) * t * (t + 1)
    name = "(id × id)[t] = 0 0 1 4 8"
    return refute(name, claim, given=[t >= 0, t < len(values)], show=[t], replay=replay)


@theorem(
    statement="id x id = z(I(I(id))), 6 (id x id)[t] = (t - 1) t (t + 1): 0 0 1 4 10 ...",
    source="DBSP long version (2022) appendix A, as printed",
    wrong=(convolution_as_printed,),
)
def convolution_of_identity() -> Thm:
    """id × id is z I I id, whose values are products by induction; `number` is that of a tick."""
    it, t, k, one = series(), z3.Const("t", TICK), z3.Int("k"), identity()
    number = recursive("number", TICK, [], INT, (lambda recur: ZERO, lambda recur, n: recur(n) + 1))
    # Names for the products: then the inductions have nothing to multiply.
    two = define("k (k + 1)", [INT], INT, lambda k: k * (k + 1))
    three = define("k (k + 1) (k + 2)", [INT], INT, lambda k: k * (k + 1) * (k + 2))
    grow = prove_for_all(
        "products of the next number",
        [k],
        z3.And(two(k + 1) == two(k) + 2 * (k + 1), three(k + 1) == three(k) + 3 * two(k + 1)),
        [*two.equations, *three.equations],
    )
    first = [two.unfold(ZERO), three.unfold(ZERO), three.unfold(z3.IntVal(-1))]

    def by_induction(
        name: str, stream: Term, times: int, value: Callable[[Term], Term], *by: Thm
    ) -> Thm:
        """∀ t. times stream[t] = value(number of t)."""

        def facts(case: Case) -> list[Thm]:
            values = unfold([it.space], it.at(stream, case.term))
            before = [inst(each, tick) for each in by for tick in (*case.arguments, case.term)]
            more = [inst(grow, number(tick)) for tick in case.arguments]
            return [number.unfold(case.term), *first, *values, *before, *more]

        claim = lambda tick: times * it.at(stream, tick) == value(number(tick))  # noqa: E731
        return induct(name, TICK, claim, facts=facts)

    once, twice = it.I(one), it.I(it.I(one))
    counted = by_induction("I(1 1 1 …)[t] = t + 1", it.I(it.ones()), 1, lambda n: n + 1)
    own = by_induction("id[t] = t", one, 1, lambda n: n, counted)
    summed = by_induction("2 I(id)[t] = t (t + 1)", once, 2, two, own)
    cubes = by_induction("6 I(I(id))[t] = t (t + 1) (t + 2)", twice, 6, three, summed)
    late = by_induction("6 z(I(I(id)))[t]", it.z(twice), 6, lambda n: three(n - 1), cubes)
    n = number(t)
    closed = prove_for_all(
        "6 (id × id)[t] = (t - 1) t (t + 1)",
        [t],
        6 * it.at(it.times(one, one), t) == (n - 1) * n * (n + 1),
        [identity_squared(), inst(late, t), three.unfold(n - 1)],
    )
    return both("id × id", own, identity_squared(), closed)


# ---------------------------------------------------------------- all of them

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "DBSP (VLDB 2023) algorithm 4.6, footnote",
        "the order of the rules does not matter: they are confluent",
        "confluent when an outer distinct removes every distinct below it in a positive chain",
        "distinct_rewriting_confluent",
        rules_as_printed,
    ),
    Erratum(
        "DBSP (VLDB 2023) definition 2.13",
        "f(a, c + d) = f(a, c) + f(c, d)",
        "f(a, c + d) = f(a, c) + f(a, d); as printed only f = 0 is bilinear",
        "bilinear_as_printed",
        product_as_printed,
    ),
    Erratum(
        "DBSP (VLDB 2023) after definition 2.8",
        "F(s)[0] = 0 for strict F",
        "F(s)[0] is the same for every s",
        "strict_first_value",
        constant_as_zero,
    ),
    Erratum(
        "DBSP long version (2022) lemma 4.9",
        "the elements of D(s) are positive for monotone s",
        "for t > 0; at t = 0 exactly if s[0] is positive",
        "positive_integral_monotone",
        difference_at_the_first_tick,
    ),
    Erratum(
        "DBSP long version (2022) theorem 8.2, proof",
        "ispositive(R), so R(x) >= x",
        "R monotone: the iterates from nothing grow, and rest at the least fixpoint",
        "recursion_least",
        positive_as_growing,
    ),
    Erratum(
        "DBSP (VLDB 2023) proposition 5.2, as section 6 uses it",
        "the increment of lifted elimination is lifted elimination",
        "where all rows are zero from a common tick on",
        "elimination_linear",
        sums_of_divergent_streams,
    ),
    Erratum(
        "DBSP long version (2022) appendix A",
        "id x id = 0 0 1 4 8 ...",
        "id x id = 0 0 1 4 10 ...",
        "convolution_of_identity",
        convolution_as_printed,
    ),
    Erratum(
        "TanStack DB, anti join",
        "a row has a match when the weights of its matches do not sum to 0",
        "when they sum to more than 0; the two agree exactly on sums that are not negative",
        "presence_semantics",
        present_unless_zero,
    ),
)
