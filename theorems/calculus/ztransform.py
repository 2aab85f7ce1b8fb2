"""With z as a number, I is 1 / (1 - z) and D is 1 - z, and circuits become fractions to compare.

A linear, time-invariant operator made of z, D, I and feedback multiplies a stream by a power
series in z. For a bilinear, time-invariant Q write Q(p(z) a, q(z) b) as p(x) q(y), and an operator
r(z) on its output as r(x y), because z Q(a, b) = Q(z a, z b). Streams of streams have two clocks,
so two variables. Then an identity between circuits is an identity of fractions, which sympy
decides; what a wrong circuit leaves is its *residue*, and it names the term that was forgotten.

    D(Q(I(a), I(b))) = Q(a, zI(b)) + Q(zI(a), b) + Q(a, b)

        1 - x y           y       x
    --------------- = --------- + --------- + 1
    (1 - x) (1 - y)     1 - y     1 - x

This is a second, independent road to the theorems of `streams`: no induction, no z3. Each identity
is also handed on as polynomials without denominators, for a second solver to refute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from time import perf_counter
from typing import Any, TypeAlias

import sympy
import z3

from deltaproof.reference.stream import delay, differentiate, incremental, integrate, lift
from deltaproof.theorems.kernel import Counterexample, ProofError, Query, Term
from deltaproof.theorems.registry import theorem

Fraction: TypeAlias = Any  # of sympy's field of fractions, or a `Ratio`
Equation: TypeAlias = Callable[..., tuple[Fraction, Fraction]]
Stream: TypeAlias = list[int]


@dataclass(frozen=True)
class Identity:
    """An equation between fractions of these variables, written once for every solver."""

    name: str
    variables: str
    equation: Equation

    def residue(self) -> Fraction:
        """left - right in lowest terms: 0 exactly when they are equal.

        >>> Identity("D I = 1", "z", lambda z: (difference(z) * integral(z), 1)).residue()
        0
        >>> Identity("I I = I", "z", lambda z: (integral(z) ** 2, integral(z))).residue()
        z/(z**2 - 2*z + 1)
        """
        _, *symbols = sympy.field(self.variables.replace(" ", ","), sympy.ZZ)
        left, right = self.equation(*symbols)
        return left - right

    def cleared(self) -> Term:
        """left ≠ right without denominators, over the integers."""
        left, right = map(ratio, self.equation(*map(ratio, z3.Ints(self.variables))))
        return left.top * right.bottom != right.top * left.bottom


@dataclass(frozen=True)
class Ratio:
    """A fraction of z3 terms that is never reduced, so nothing is decided by writing it down."""

    top: Term
    bottom: Term

    def __add__(self, other: Any) -> Ratio:
        other = ratio(other)
        return Ratio(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: Any) -> Ratio:
        other = ratio(other)
        return Ratio(self.top * other.top, self.bottom * other.bottom)

    def __neg__(self) -> Ratio:
        return Ratio(-self.top, self.bottom)

    def __sub__(self, other: Any) -> Ratio:
        return self + -ratio(other)

    def __rsub__(self, other: Any) -> Ratio:
        return ratio(other) - self

    def __truediv__(self, other: Any) -> Ratio:
        other = ratio(other)
        return Ratio(self.top * other.bottom, self.bottom * other.top)

    def __rtruediv__(self, other: Any) -> Ratio:
        return ratio(other) / self

    def __pow__(self, times: int) -> Ratio:
        return prod([self] * times, start=ratio(1))

    __radd__, __rmul__ = __add__, __mul__


def ratio(value: Any) -> Ratio:
    """A whole number or a z3 term as a fraction."""
    if isinstance(value, Ratio):
        return value
    return Ratio(z3.IntVal(value) if isinstance(value, int) else value, z3.IntVal(1))


def integral(z: Fraction) -> Fraction:
    """I as a fraction of its delay."""
    return 1 / (1 - z)


def difference(z: Fraction) -> Fraction:
    """D as a polynomial of its delay."""
    return 1 - z


@dataclass(frozen=True)
class Identities:
    """Equal fractions, each checked."""

    queries: tuple[Query, ...]


def identities(*claims: tuple[str, str, Equation]) -> Identities:
    """Every claim (name, variables, equation) holds. Raises ProofError with the residue of one."""
    queries = []
    for identity in (Identity(*claim) for claim in claims):
        started = perf_counter()
        rest = identity.residue()
        if rest != 0:
            raise ProofError(f"{identity.name}: the sides differ by {factored(rest)}")
        queries.append(checked(identity, (perf_counter() - started) * 1000))
    return Identities(tuple(queries))


def checked(identity: Identity, ms: float) -> Query:
    return Query(identity.name, "identity", ms, clash=lambda: [identity.cleared()])


def factored(rest: Fraction) -> Any:
    return sympy.factor(rest.as_expr())


def residue_of(
    name: str,
    variables: str,
    equation: Equation,
    streams: Callable[[], tuple[Any, Any]] | None = None,
) -> Counterexample:
    """What a wrong identity leaves, and streams on which the reference shows it.

    `streams` runs the two circuits with the reference's z, D and I. Raises ProofError when the
    identity leaves nothing, or when the streams are equal.
    """
    started = perf_counter()
    rest = Identity(name, variables, equation).residue()
    if rest == 0:
        raise ProofError(f"{name}: expected a residue, but the identity holds")
    ms = (perf_counter() - started) * 1000
    words = ""
    if streams is not None:
        left, right = streams()
        if left == right:
            raise ProofError(f"{name}: the reference has {left} on both sides")
        words = f"the reference: {left} is not {right}"
    return Counterexample(name, (("residue", str(factored(rest))),), ms, words)


# ---------------------------------------------------------------- circuits to run


ONE_ROW: Stream = [1, 0, 0, 0, 0]  # a row that comes at the first tick and stays
ONE_EACH: Stream = [1, 1, 1, 1, 1]


def plus(*streams: Sequence[Any]) -> list[Any]:
    return lift(lambda *values: sum(values[1:], values[0]))(*streams)


def times(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
    return lift(lambda a, b: a * b)(left, right)


def feedback(body: Callable[[Stream], Stream], ticks: int = 5) -> Stream:
    """The stream a = body(a), by as many rounds as there are ticks: the body must be strict."""
    stream = [0] * ticks
    for _ in range(ticks):
        stream = body(stream)
    return stream


# ---------------------------------------------------------------- one clock, linear


def feedback_of_two_ticks() -> Counterexample:
    return residue_of(
        "a = s + z² a is I",
        "z",
        lambda z: (1 / (1 - z**2), integral(z)),
        lambda: (feedback(lambda a: plus(ONE_ROW, delay(delay(a)))), integrate(ONE_ROW)),
    )


def difference_over_two_ticks() -> Counterexample:
    def two_ticks(s: Stream) -> Stream:
        return [now - before for now, before in zip(s, delay(delay(s)), strict=True)]

    return residue_of(
        "D = 1 - z² is the inverse of I",
        "z",
        lambda z: ((1 - z**2) * integral(z), 1),
        lambda: (two_ticks(integrate(ONE_ROW)), ONE_ROW),
    )


@theorem(
    statement="I = 1 / (1 - z) and D = 1 - z: D I = 1, and D S I = S for every linear S",
    source="DBSP (VLDB 2023) theorems 2.20 and 3.3; long version (2022), appendix A",
    scope="unbounded (sympy)",
    wrong=(feedback_of_two_ticks, difference_over_two_ticks),
)
def integrate_ztransform() -> Identities:
    """A stream operator S here is any power series in z: it commutes with D and I."""

    def first_ticks(z: Fraction) -> tuple[Fraction, Fraction]:
        return integral(z), sum(z**n for n in range(12)) + z**12 * integral(z)

    def one_tick_more(z: Fraction, i: Fraction, p: Fraction, q: Fraction) -> Any:
        """If I = p + q I, with p a sum and q the next power, then I = (p + q) + q z I."""
        return (p + q) + q * z * i - i, (p + q * i - i) + q * (1 + z * i - i)

    d, i = difference, integral
    return identities(
        ("D I = 1", "z", lambda z: (d(z) * i(z), 1)),
        ("I D = 1", "z", lambda z: (i(z) * d(z), 1)),
        ("I = 1 + z I", "z", lambda z: (i(z), 1 + z * i(z))),
        ("I = 1 + z + … + z¹¹ + z¹² I", "z", first_ticks),
        ("the sum of any number of ticks", "z i p q", one_tick_more),
        ("D S I = S", "z s", lambda z, s: (d(z) * s * i(z), s)),
    )


def chain_that_integrates_once() -> Counterexample:
    """D S R I = (D S) (D R I): the increment of S is fed with changes as if they were contents."""
    return residue_of(
        "(S R)^Δ = (D S) (D R I)",
        "z s r",
        lambda z, s, r: (
            difference(z) * s * r * integral(z),
            difference(z) * s * difference(z) * r * integral(z),
        ),
        lambda: (
            differentiate(integrate(ONE_EACH)),
            differentiate(differentiate(integrate(ONE_EACH))),
        ),
    )


def cycle_without_its_delay() -> Counterexample:
    """The same loop closed without z is another operator."""
    return residue_of(
        "a = S(s + z a) is S / (1 - S)",
        "z s",
        lambda z, s: (s / (1 - z * s), s / (1 - s)),
    )


@theorem(
    statement="inversion, chain, sum and cycle rule: D (S / (1 - z S)) I = S / (1 - z S)",
    source="DBSP (VLDB 2023) propositions 2.14 and 3.2",
    scope="unbounded (sympy)",
    wrong=(chain_that_integrates_once, cycle_without_its_delay),
)
def incremental_ztransform() -> Identities:
    """Proposition 3.2 for linear operators S and R: any power series in z."""

    def delta(z: Fraction, s: Fraction) -> Fraction:
        return difference(z) * s * integral(z)

    def loop(z: Fraction, s: Fraction) -> Fraction:
        """fix a. S(s + z a)."""
        return s / (1 - z * s)

    return identities(
        ("inversion", "z s", lambda z, s: (integral(z) * delta(z, s) * difference(z), s)),
        ("chain", "z s r", lambda z, s, r: (delta(z, s * r), delta(z, s) * delta(z, r))),
        ("sum", "z s r", lambda z, s, r: (delta(z, s + r), delta(z, s) + delta(z, r))),
        ("z^Δ = z", "z", lambda z: (delta(z, z), z)),
        ("D^Δ = D", "z", lambda z: (delta(z, difference(z)), difference(z))),
        ("I^Δ = I", "z", lambda z: (delta(z, integral(z)), integral(z))),
        ("feedback", "z s", lambda z, s: (loop(z, s), s * (1 + z * loop(z, s)))),
        ("cycle", "z s", lambda z, s: (delta(z, loop(z, s)), loop(z, delta(z, s)))),
        ("Q I = I Q^Δ", "z s", lambda z, s: (s * integral(z), integral(z) * delta(z, s))),
        ("D Q = Q^Δ D", "z s", lambda z, s: (difference(z) * s, delta(z, s) * difference(z))),
    )


def window_that_never_forgets() -> Counterexample:
    return residue_of(
        "the sum of the last 3 ticks is I",
        "z",
        lambda z: (1 + z + z**2, integral(z)),
        lambda: (last_three(ONE_EACH), integrate(ONE_EACH)),
    )


def window_of_one_tick_less() -> Counterexample:
    """I - z² I sums two ticks, not three."""
    total = integrate(ONE_EACH)
    return residue_of(
        "the sum of the last 3 ticks is I - z² I",
        "z",
        lambda z: (1 + z + z**2, integral(z) - z**2 * integral(z)),
        lambda: (
            last_three(ONE_EACH),
            [a - b for a, b in zip(total, delay(delay(total)), strict=True)],
        ),
    )


def last_three(s: Stream) -> Stream:
    return plus(s, delay(s), delay(delay(s)))


@theorem(
    statement="the sum of the last m ticks is I - z^m I, and its own increment",
    source="DBSP long version (2022) section on window aggregates; VLDB 2023 section 7.5",
    scope="unbounded (sympy)",
    wrong=(window_that_never_forgets, window_of_one_tick_less),
)
def window_ztransform() -> Identities:
    """For m = 2, 3, 7 written out, and for any m from m - 1 on; q is z^m."""
    i, d = integral, difference

    def written_out(m: int) -> tuple[str, str, Equation]:
        return (
            f"the last {m} ticks",
            "z",
            lambda z: ((1 - z**m) * i(z), sum(z**n for n in range(m))),
        )

    return identities(
        *map(written_out, (2, 3, 7)),
        ("a tick more", "z q", lambda z, q: ((1 - q * z) * i(z), (1 - q) * i(z) + q)),
        (
            "its own increment",
            "z q",
            lambda z, q: (d(z) * ((1 - q) * i(z)) * i(z), (1 - q) * i(z)),
        ),
    )


# ---------------------------------------------------------------- bilinear


def incremental_product(*xs: Fraction) -> Fraction:
    """D(Q(I(a), I(b), …)), with one variable for each input."""
    return difference(prod(xs)) * prod(map(integral, xs))


def delayed_integral(x: Fraction) -> Fraction:
    return x * integral(x)


def product_without_delay() -> Counterexample:
    """Q(a, I(b)) + Q(I(a), b): the residue -1 is Q(a, b), counted twice."""
    return residue_of(
        "D(Q(I(a), I(b))) = Q(a, I(b)) + Q(I(a), b)",
        "x y",
        lambda x, y: (incremental_product(x, y), integral(y) + integral(x)),
        lambda: (
            incremental(lambda a, b: a * b)(ONE_EACH, ONE_EACH),
            plus(times(ONE_EACH, integrate(ONE_EACH)), times(integrate(ONE_EACH), ONE_EACH)),
        ),
    )


def product_with_both_delays() -> Counterexample:
    """Q(a, zI(b)) + Q(zI(a), b): the residue 1 is Q(a, b), forgotten."""
    before = delay(integrate(ONE_EACH))
    return residue_of(
        "D(Q(I(a), I(b))) = Q(a, zI(b)) + Q(zI(a), b)",
        "x y",
        lambda x, y: (incremental_product(x, y), delayed_integral(y) + delayed_integral(x)),
        lambda: (
            incremental(lambda a, b: a * b)(ONE_EACH, ONE_EACH),
            plus(times(ONE_EACH, before), times(before, ONE_EACH)),
        ),
    )


@theorem(
    statement="(1 - xy) / ((1 - x)(1 - y)) = y / (1 - y) + x / (1 - x) + 1: the incremental join",
    source="DBSP (VLDB 2023) theorem 3.4",
    scope="unbounded (sympy)",
    wrong=(product_without_delay, product_with_both_delays),
)
def join_ztransform() -> Identities:
    i, zi = integral, delayed_integral
    return identities(
        ("three terms", "x y", lambda x, y: (incremental_product(x, y), zi(y) + zi(x) + 1)),
        ("two terms", "x y", lambda x, y: (incremental_product(x, y), i(x) + zi(y))),
        ("two terms, the other way", "x y", lambda x, y: (incremental_product(x, y), zi(x) + i(y))),
        ("without fractions", "x y", lambda x, y: (1 - x * y, (1 - y) + (1 - x) * y)),
    )


def products(xs: Sequence[Fraction]) -> Fraction:
    """Σ over k of Q(I(a), …, I(before k), the delta of k, zI(after k), …)."""
    return sum(
        prod(map(integral, xs[:k])) * prod(map(delayed_integral, xs[k + 1 :]))
        for k in range(len(xs))
    )


def three_way_join_with_delays_everywhere() -> Counterexample:
    """da zI(b) zI(c) + zI(a) db zI(c) + zI(a) zI(b) dc: what arrives together never meets."""
    before = delay(integrate(ONE_EACH))
    one = times(ONE_EACH, times(before, before))
    return residue_of(
        "D(Q(I, I, I)) = the three products of one delta and two delayed integrals",
        "x y w",
        lambda x, y, w: (
            incremental_product(x, y, w),
            delayed_integral(y) * delayed_integral(w)
            + delayed_integral(x) * delayed_integral(w)
            + delayed_integral(x) * delayed_integral(y),
        ),
        lambda: (
            incremental(lambda a, b, c: a * b * c)(ONE_EACH, ONE_EACH, ONE_EACH),
            plus(one, one, one),
        ),
    )


def three_way_join_without_its_middle() -> Counterexample:
    """I(a) db zI(c) is left out."""
    total = integrate(ONE_EACH)
    return residue_of(
        "D(Q(I, I, I)) = da zI(b) zI(c) + I(a) I(b) dc",
        "x y w",
        lambda x, y, w: (
            incremental_product(x, y, w),
            delayed_integral(y) * delayed_integral(w) + integral(x) * integral(y),
        ),
        lambda: (
            incremental(lambda a, b, c: a * b * c)(ONE_EACH, ONE_EACH, ONE_EACH),
            plus(
                times(ONE_EACH, times(delay(total), delay(total))),
                times(times(total, total), ONE_EACH),
            ),
        ),
    )


@theorem(
    statement="the increment of an n-way join is Σ over k of Q(I …, delta of input k, zI …)",
    source="beyond the paper: n-way delta joins, as in Materialize; from theorem 3.4",
    scope="unbounded (sympy); n = 3 … 6 written out, and every n from n - 1",
    wrong=(three_way_join_with_delays_everywhere, three_way_join_without_its_middle),
)
def join_nway_ztransform() -> Identities:
    """A delta meets the inputs before it as they are, and those after it as they were."""

    def written_out(n: int) -> tuple[str, str, Equation]:
        names = " ".join(f"x{place}" for place in range(n))
        return f"{n} inputs", names, lambda *xs: (incremental_product(*xs), products(xs))

    def without_fractions(n: int) -> tuple[str, str, Equation]:
        """The same, times every 1 - x: of tables where the other is of changes."""
        names = " ".join(f"x{place}" for place in range(n))

        def of_tables(*xs: Fraction) -> tuple[Fraction, Fraction]:
            parts = [difference(x) * prod(xs[k + 1 :]) for k, x in enumerate(xs)]
            return difference(prod(xs)), sum(parts)

        return f"{n} inputs, without fractions", names, of_tables

    def one_more(x: Fraction, w: Fraction) -> tuple[Fraction, Fraction]:
        """x is the product of the first n variables: D over n + 1 from D over n."""
        return 1 - x * w, (1 - x) * w + (1 - w)

    def sum_of_one_more(x: Fraction, w: Fraction, p: Fraction, s: Fraction) -> Any:
        """If (1 - x) p = s for n inputs, p the product of their I, then for one more as well."""
        left = (1 - x * w) * p * integral(w) - (s * delayed_integral(w) + p)
        return left, ((1 - x) * p - s) * delayed_integral(w)

    return identities(
        *map(written_out, (3, 4)),
        *map(without_fractions, (3, 4, 5, 6)),
        ("D over one more input", "x w", one_more),
        ("the sum over one more input", "x w p s", sum_of_one_more),
    )


# ---------------------------------------------------------------- two clocks


def doubly_incremental(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> Fraction:
    """((↑↑Q)^Δ)^Δ: rows a and columns b of the left, rows c and columns d of the right."""
    return difference(a * c) * difference(b * d) * prod(map(integral, (a, b, c, d)))


class Row(tuple[int, ...]):
    """The values of the inner clock, with `+` and `-`: so a stream of streams is a stream."""

    def __add__(self, other: Any) -> Row:
        return Row(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Any) -> Row:
        return Row(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self, other: Any) -> Row:
        return Row(a * b for a, b in zip(self, other, strict=True))


Grid: TypeAlias = list[Row]
ONES: Grid = [Row((1, 1)), Row((1, 1))]


def inner(operator: Callable[[Any], Any]) -> Callable[[Grid], Grid]:
    """↑S: the operator for each value of the outer clock."""
    return lift(lambda row: Row(operator(row)))


def nested_join_without_a_term() -> Counterexample:
    """Three products of four: the residue is Q(a, zI ↑zI b)."""

    def three(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> Fraction:
        i, zi = integral, delayed_integral
        return i(a) * i(b) + i(b) * zi(c) + i(a) * zi(d)

    def run() -> tuple[Grid, Grid]:
        rows, columns = integrate(ONES), inner(integrate)(ONES)
        total = inner(integrate)(rows)
        whole = differentiate(inner(differentiate)(times(total, total)))
        return whole, plus(
            times(total, ONES),
            times(columns, delay(rows)),
            times(rows, inner(delay)(columns)),
        )

    return residue_of(
        "the doubly incremental join has three terms",
        "a b c d",
        lambda a, b, c, d: (doubly_incremental(a, b, c, d), three(a, b, c, d)),
        run,
    )


def nested_feedback_over_the_other_clock() -> Counterexample:
    """A loop with the delay of the inner clock is not the integral over the outer one."""
    return residue_of(
        "fix a. s + ↑z a is I over the outer clock",
        "y z",
        lambda y, z: (1 + z * integral(z), integral(y)),
        lambda: (inner(integrate)(ONES), integrate(ONES)),
    )


@theorem(
    statement="with two clocks I and D commute, and the doubly incremental join has four terms",
    source="DBSP (VLDB 2023) section 6, proposition 6.2",
    lean="join_double_incremental_ok",
    scope="unbounded (sympy)",
    wrong=(nested_join_without_a_term, nested_feedback_over_the_other_clock),
)
def nested_ztransform() -> Identities:
    """y is the delay of the outer clock, z that of the inner one."""
    i, d, zi = integral, difference, delayed_integral

    def four_terms(a: Fraction, b: Fraction, c: Fraction, e: Fraction) -> Any:
        """I(↑I a) b + ↑I a (z I b) + I a (↑z ↑I b) + a (zI ↑zI b)."""
        return (
            doubly_incremental(a, b, c, e),
            i(a) * i(b) + i(b) * zi(c) + i(a) * zi(e) + zi(c) * zi(e),
        )

    def one_clock_after_the_other(a: Fraction, b: Fraction, c: Fraction, e: Fraction) -> Any:
        return doubly_incremental(a, b, c, e), (i(a) + zi(c)) * (i(b) + zi(e))

    return identities(
        ("I ↑I = ↑I I", "y z", lambda y, z: (i(y) * i(z), i(z) * i(y))),
        ("D ↑D = ↑D D", "y z", lambda y, z: (d(y) * d(z), d(z) * d(y))),
        ("↑D ↑I = 1, in spite of I", "y z", lambda y, z: (d(z) * i(y) * i(z), i(y))),
        ("↑I = fix a. s + ↑z a", "z", lambda z: (i(z), 1 + z * i(z))),
        ("four terms", "a b c d", four_terms),
        ("two terms for each clock", "a b c d", one_clock_after_the_other),
    )
