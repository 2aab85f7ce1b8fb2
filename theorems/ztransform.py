"""With z as a number, I is 1 / (1 - z) and D is 1 - z, and circuits become fractions to compare.

A linear, time-invariant operator made of z, D, I and feedback multiplies a stream by a power
series in z. For a bilinear, time-invariant Q write Q(p(z) a, q(z) b) as p(x) q(y), and an operator
r(z) on its output as r(x y), because z Q(a, b) = Q(z a, z b). Then an identity between circuits is
an identity of fractions, which sympy decides; what a wrong circuit leaves is its *residue*, and it
names the term that was forgotten.

    D(Q(I(a), I(b))) = Q(a, zI(b)) + Q(zI(a), b) + Q(a, b)

        1 - x y           y       x
    --------------- = --------- + --------- + 1
    (1 - x) (1 - y)     1 - y     1 - x

This is a second, independent road to the theorems of `streams`: no induction, no z3.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

import sympy

from deltaproof.theorems.kernel import Counterexample, ProofError, Query
from deltaproof.theorems.registry import theorem

Fraction: TypeAlias = Any  # a sympy expression: sympy is not typed

Z, X, Y = sympy.symbols("z x y")


def integral(delay: Fraction) -> Fraction:
    """I as a fraction of its delay."""
    return 1 / (1 - delay)


def difference(delay: Fraction) -> Fraction:
    """D as a polynomial of its delay."""
    return 1 - delay


@dataclass(frozen=True)
class Identities:
    """Equal fractions, each checked."""

    queries: tuple[Query, ...]


def residue(left: Fraction, right: Fraction) -> Fraction:
    """left - right in lowest terms: 0 exactly when they are equal.

    >>> residue(difference(Z) * integral(Z), 1)
    0
    """
    return sympy.factor(sympy.cancel(sympy.together(left - right)))


def identities(*claims: tuple[str, Fraction, Fraction]) -> Identities:
    """Every claim (name, left, right) holds. Raises ProofError with the residue of one."""
    queries = []
    for name, left, right in claims:
        started = perf_counter()
        rest = residue(left, right)
        if rest != 0:
            raise ProofError(f"{name}: the sides differ by {rest}")
        queries.append(Query(name, "identity", (perf_counter() - started) * 1000))
    return Identities(tuple(queries))


def residue_of(name: str, left: Fraction, right: Fraction) -> Counterexample:
    """What a wrong identity leaves. Raises ProofError when it leaves nothing."""
    started = perf_counter()
    rest = residue(left, right)
    if rest == 0:
        raise ProofError(f"{name}: expected a residue, but the identity holds")
    return Counterexample(name, (("residue", str(rest)),), (perf_counter() - started) * 1000)


def feedback_of_two_ticks() -> Counterexample:
    return residue_of("a = s + z² a is I", 1 / (1 - Z**2), integral(Z))


def difference_over_two_ticks() -> Counterexample:
    return residue_of("D = 1 - z² is the inverse of I", (1 - Z**2) * integral(Z), 1)


@theorem(
    statement="I = 1 / (1 - z) and D = 1 - z: D I = 1, and D S I = S for every linear S",
    source="DBSP (VLDB 2023) theorems 2.20 and 3.3; long version, appendix A",
    scope="unbounded (sympy)",
    wrong=(feedback_of_two_ticks, difference_over_two_ticks),
)
def integrate_ztransform() -> Identities:
    s, r = sympy.Function("S")(Z), sympy.Function("R")(Z)
    d, i = difference(Z), integral(Z)
    first_terms, polynomial = sympy.series(i, Z, 0, 12).removeO(), sum(Z**n for n in range(12))
    return identities(
        ("D I = 1", d * i, 1),
        ("I = 1 + z I", i, 1 + Z * i),
        ("I = 1 + z + z² + …, 12 terms", first_terms, polynomial),
        ("D S I = S", d * s * i, s),
        ("D (S R) I = (D S I) (D R I)", d * s * r * i, (d * s * i) * (d * r * i)),
        ("D (S + R) I = D S I + D R I", d * (s + r) * i, d * s * i + d * r * i),
        ("feedback S / (1 - z S)", s / (1 - Z * s), s * (1 + Z * s / (1 - Z * s))),
    )


def incremental_product(x: Fraction, y: Fraction) -> Fraction:
    """D(Q(I(a), I(b)))."""
    return difference(x * y) * integral(x) * integral(y)


def product_without_delay() -> Counterexample:
    """Q(a, I(b)) + Q(I(a), b): the residue -1 is Q(a, b), counted twice."""
    return residue_of(
        "D(Q(I(a), I(b))) = Q(a, I(b)) + Q(I(a), b)",
        incremental_product(X, Y),
        integral(Y) + integral(X),
    )


def product_with_both_delays() -> Counterexample:
    """Q(a, zI(b)) + Q(zI(a), b): the residue 1 is Q(a, b), forgotten."""
    return residue_of(
        "D(Q(I(a), I(b))) = Q(a, zI(b)) + Q(zI(a), b)",
        incremental_product(X, Y),
        Y * integral(Y) + X * integral(X),
    )


@theorem(
    statement="(1 - xy) / ((1 - x)(1 - y)) = y / (1 - y) + x / (1 - x) + 1: the incremental join",
    source="DBSP (VLDB 2023) theorem 3.4",
    scope="unbounded (sympy)",
    wrong=(product_without_delay, product_with_both_delays),
)
def join_ztransform() -> Identities:
    w = sympy.symbols("w")
    a, za, zb = integral(X), X * integral(X), Y * integral(Y)
    return identities(
        ("three terms", incremental_product(X, Y), zb + za + 1),
        ("two terms", incremental_product(X, Y), a + zb),
        ("without fractions", 1 - X * Y, (1 - Y) + (1 - X) * Y),
        ("n inputs from n - 1, X the product of the first n - 1", 1 - X * w, (1 - X) * w + (1 - w)),
    )
