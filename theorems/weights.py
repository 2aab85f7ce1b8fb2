"""Which theorem needs which weights: every law of Z-sets against every kind of number.

The theorems are about whole numbers without end. An engine counts in 64 bits or in doubles, or only
says whether a row is there, and some laws are lost on the way. Each cell of the table is *proved*
by z3 for all weights, or *refuted* by weights that are run, or the law has a minus and the weights
have *no minus*. Read it by column:

    64 bits that wrap around    a ring: whatever is linear, bilinear or a difference stays true;
                                what asks "above zero" is lost where a product or sum overflows
    64 bits that saturate       the order stays, and every law of differences is lost
    double                      sums depend on their order, so no increment is exact
    naturals, booleans          no deletions: none of the laws that make increments
    GF(2)                       a ring, but two copies of a row are none
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any, TypeAlias

import z3
from rich.table import Table
from rich.text import Text

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    ProofError,
    Query,
    Sort,
    Term,
    ask,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

Weight: TypeAlias = Any  # a z3 term, a number, or a Z-set of one row
PROVED, REFUTED, NO_MINUS = "proved", "refuted", "no minus"
MARKS = {PROVED: "✓", REFUTED: "✗", NO_MINUS: "·"}

# ---------------------------------------------------------------- arithmetic


@dataclass(frozen=True)
class Arithmetic:
    """What the laws are written in: once for z3, once for numbers, once for the reference."""

    zero: Weight
    one: Weight
    plus: Callable[[Weight, Weight], Weight]
    times: Callable[[Weight, Weight], Weight]
    minus: Callable[[Weight], Weight] | None
    above: Callable[[Weight], Any]  # whether it is above zero: whether the row is there
    choose: Callable[[Any, Weight, Weight], Weight]

    def less(self, left: Weight, right: Weight) -> Weight:
        """left - right."""
        if self.minus is None:
            raise ProofError("these weights have no minus")
        return self.plus(left, self.minus(right))

    def distinct(self, weight: Weight) -> Weight:
        return self.choose(self.above(weight), self.one, self.zero)

    def crossing(self, before: Weight, after: Weight) -> Weight:
        """H: 1 for a row that appears, -1 for one that goes, else 0."""
        appears = self.choose(self.above(after), self.one, self.zero)
        goes = self.choose(self.above(after), self.zero, self.less(self.zero, self.one))
        return self.choose(self.above(before), goes, appears)


@dataclass(frozen=True)
class Law:
    """An equation between weights; `positive` says that none of them may be below zero."""

    name: str
    statement: str
    source: str
    variables: str
    sides: Callable[..., tuple[Weight, Weight]]  # of an arithmetic and the variables
    differences: bool = False  # whether it has a minus
    positive: bool = False


LAWS = (
    Law(
        "plus_associative",
        "(a + b) + c = a + (b + c)",
        "proposition 2.11",
        "abc",
        lambda w, a, b, c: (w.plus(w.plus(a, b), c), w.plus(a, w.plus(b, c))),
    ),
    Law(
        "plus_commutative",
        "a + b = b + a",
        "proposition 2.11",
        "ab",
        lambda w, a, b: (w.plus(a, b), w.plus(b, a)),
    ),
    Law("plus_zero", "a + 0 = a", "proposition 2.11", "a", lambda w, a: (w.plus(a, w.zero), a)),
    Law(
        "minus_inverse",
        "a - a = 0",
        "proposition 2.11",
        "a",
        lambda w, a: (w.less(a, a), w.zero),
        differences=True,
    ),
    Law(
        "integrate_inverse",
        "(a + d) - a = d: D ∘ I = 1",
        "theorem 2.20",
        "ad",
        lambda w, a, d: (w.less(w.plus(a, d), a), d),
        differences=True,
    ),
    Law(
        "sum_linear",
        "(a + b) + (c + d) = (a + c) + (b + d): I and SUM are homomorphisms",
        "proposition 2.19, section 7.2",
        "abcd",
        lambda w, a, b, c, d: (
            w.plus(w.plus(a, b), w.plus(c, d)),
            w.plus(w.plus(a, c), w.plus(b, d)),
        ),
    ),
    Law(
        "join_bilinear",
        "(a + b) × c = a × c + b × c",
        "table 1",
        "abc",
        lambda w, a, b, c: (w.times(w.plus(a, b), c), w.plus(w.times(a, c), w.times(b, c))),
    ),
    Law(
        "join_commutative",
        "a × b = b × a",
        "joins in another order",
        "ab",
        lambda w, a, b: (w.times(a, b), w.times(b, a)),
    ),
    Law(
        "join_associative",
        "(a × b) × c = a × (b × c)",
        "joins in another order",
        "abc",
        lambda w, a, b, c: (w.times(w.times(a, b), c), w.times(a, w.times(b, c))),
    ),
    Law(
        "join_increment",
        "(a + c) × (b + d) - a × b = (a + c) × d + c × b",
        "theorem 3.4",
        "abcd",
        lambda w, a, b, c, d: (
            w.less(w.times(w.plus(a, c), w.plus(b, d)), w.times(a, b)),
            w.plus(w.times(w.plus(a, c), d), w.times(c, b)),
        ),
        differences=True,
    ),
    Law(
        "distinct_increment",
        "distinct(a + d) - distinct(a) = H(a, a + d)",
        "proposition 4.7",
        "ad",
        lambda w, a, d: (
            w.less(w.distinct(w.plus(a, d)), w.distinct(a)),
            w.crossing(a, w.plus(a, d)),
        ),
        differences=True,
    ),
    Law(
        "distinct_idempotent",
        "distinct(distinct(a)) = distinct(a)",
        "definition 4.3",
        "a",
        lambda w, a: (w.distinct(w.distinct(a)), w.distinct(a)),
    ),
    Law(
        "distinct_join",
        "distinct(a) × distinct(b) = distinct(a × b), for a, b >= 0",
        "proposition 4.4",
        "ab",
        lambda w, a, b: (w.times(w.distinct(a), w.distinct(b)), w.distinct(w.times(a, b))),
        positive=True,
    ),
    Law(
        "distinct_plus",
        "distinct(distinct(a) + distinct(b)) = distinct(a + b), for a, b >= 0",
        "proposition 4.5",
        "ab",
        lambda w, a, b: (
            w.distinct(w.plus(w.distinct(a), w.distinct(b))),
            w.distinct(w.plus(a, b)),
        ),
        positive=True,
    ),
    Law(
        "union_present",
        "a row of a or of b is in distinct(a + b), for a, b >= 0",
        "table 1",
        "ab",
        lambda w, a, b: (
            w.distinct(w.plus(a, b)),
            w.choose(w.above(a), w.one, w.distinct(b)),
        ),
        positive=True,
    ),
    Law(
        "plus_positive",
        "a + b >= 0, for a, b >= 0",
        "definition 4.2",
        "ab",
        lambda w, a, b: (
            w.choose(w.above(w.plus(a, b)), w.zero, w.plus(a, b)),
            w.zero,
        ),
        positive=True,
    ),
    Law(
        "join_positive",
        "a × b >= 0, for a, b >= 0",
        "definition 4.2",
        "ab",
        lambda w, a, b: (w.choose(w.above(w.times(a, b)), w.zero, w.times(a, b)), w.zero),
        positive=True,
    ),
)


# ---------------------------------------------------------------- kinds of weights


def choose_number(which: bool, one: Weight, other: Weight) -> Weight:
    return one if which else other


@dataclass(frozen=True)
class Kind:
    """A kind of number: for z3, and as a machine computes it.

    `fails` are the laws that it does not have, each with weights that show it. `narrow` are those
    with products of unknown weights that z3 cannot do in all bits, each with the same in fewer.
    """

    name: str
    sort: Sort
    solver: Arithmetic
    machine: Arithmetic
    equal: Callable[[Term, Term], Formula]
    value: Callable[[Any], Term]  # a number as a term
    given: Callable[[Term], Sequence[Formula]] = lambda weight: ()
    fails: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    narrow: tuple[tuple[str, Kind], ...] = ()

    def claim(self, law: Law) -> tuple[list[Term], list[Formula], Formula]:
        """(the weights, what is supposed of them, the law)."""
        weights = [z3.Const(name, self.sort) for name in law.variables]
        supposed = [each for weight in weights for each in self.given(weight)]
        if law.positive:
            below = self.solver.above
            supposed += [
                z3.Or(below(weight), self.equal(weight, self.solver.zero)) for weight in weights
            ]
        return weights, supposed, self.equal(*law.sides(self.solver, *weights))


def same(left: Term, right: Term) -> Formula:
    return left == right


def exact(name: str, sort: Sort, value: Callable[[Any], Term], natural: bool = False) -> Kind:
    """Z, Q or N, as z3 and Python have them."""

    def arithmetic(zero: Weight, one: Weight, choose: Callable[..., Weight]) -> Arithmetic:
        return Arithmetic(
            zero,
            one,
            lambda a, b: a + b,
            lambda a, b: a * b,
            None if natural else lambda a: -a,
            lambda a: a > 0,
            choose,
        )

    return Kind(
        name,
        sort,
        arithmetic(value(0), value(1), z3.If),
        arithmetic(0, 1, choose_number),
        same,
        value,
        (lambda weight: [weight >= 0]) if natural else lambda weight: [],
    )


LEAST, MOST = -(2**63), 2**63 - 1


def wrapped(number: int) -> int:
    """The number as 64 bits hold it.

    >>> wrapped(2**63) == -(2**63), wrapped(2**64), wrapped(-1)
    (True, 0, -1)
    """
    return (number - LEAST) % 2**64 + LEAST


def clamped(number: int) -> int:
    """The nearest number that 64 bits hold."""
    return max(LEAST, min(MOST, number))


def wrapping() -> Kind:
    def value(number: int) -> Term:
        return z3.BitVecVal(number, 64)

    return Kind(
        "int64, wrapping",
        z3.BitVecSort(64),
        Arithmetic(
            value(0),
            value(1),
            lambda a, b: a + b,
            lambda a, b: a * b,
            lambda a: -a,
            lambda a: a > 0,
            z3.If,
        ),
        Arithmetic(
            0,
            1,
            lambda a, b: wrapped(a + b),
            lambda a, b: wrapped(a * b),
            lambda a: wrapped(-a),
            lambda a: a > 0,
            choose_number,
        ),
        same,
        value,
        fails=(
            ("distinct_join", (2**32, 2**32)),
            ("distinct_plus", (2**62, 2**62)),
            ("union_present", (2**62, 2**62)),
            ("plus_positive", (2**62, 2**62)),
            ("join_positive", (2**32, 2**31)),
        ),
    )


def saturating(bits: int = 64) -> Kind:
    """What overflows is the largest or smallest number; products are taken in twice the bits."""

    def value(number: int) -> Term:
        return z3.BitVecVal(number, bits)

    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def clamp(wide: Term) -> Term:
        return z3.If(
            wide > most,
            value(most),
            z3.If(wide < least, value(least), z3.Extract(bits - 1, 0, wide)),
        )

    def plus(a: Term, b: Term) -> Term:
        return clamp(z3.SignExt(1, a) + z3.SignExt(1, b))

    def times(a: Term, b: Term) -> Term:
        return clamp(z3.SignExt(bits, a) * z3.SignExt(bits, b))

    return Kind(
        "int64, saturating" if bits == 64 else f"{bits} bits",
        z3.BitVecSort(bits),
        Arithmetic(
            value(0),
            value(1),
            plus,
            times,
            lambda a: clamp(-z3.SignExt(1, a)),
            lambda a: a > 0,
            z3.If,
        ),
        Arithmetic(
            0,
            1,
            lambda a, b: clamped(a + b),
            lambda a, b: clamped(a * b),
            lambda a: clamped(-a),
            lambda a: a > 0,
            choose_number,
        ),
        same,
        value,
        fails=(
            ("plus_associative", (MOST, 1, -1)),
            ("minus_inverse", (LEAST,)),
            ("integrate_inverse", (MOST, 1)),
            ("sum_linear", (MOST, -1, 1, 0)),
            ("join_bilinear", (MOST, 1, -1)),
            ("join_associative", (2**62, 4, -1)),
            ("join_increment", (MOST, 1, 1, 0)),
        ),
        narrow=(("distinct_join", saturating(8)), ("join_positive", saturating(8)))
        if bits == 64
        else (),
    )


def floating(name: str = "double", sort: Sort | None = None) -> Kind:
    """Every number but infinities and NaN, rounded to the nearest."""
    precision = z3.Float64() if sort is None else sort
    nearest = z3.RNE()

    def value(number: float) -> Term:
        return z3.FPVal(float(number), precision)

    zero = value(0)
    whole = 2**53  # from here on a double holds every second whole number only
    return Kind(
        name,
        precision,
        Arithmetic(
            zero,
            value(1),
            lambda a, b: z3.fpAdd(nearest, a, b),
            lambda a, b: z3.fpMul(nearest, a, b),
            z3.fpNeg,
            lambda a: z3.fpGT(a, zero),
            z3.If,
        ),
        Arithmetic(
            0.0,
            1.0,
            lambda a, b: float(a) + float(b),
            lambda a, b: float(a) * float(b),
            lambda a: -float(a),
            lambda a: a > 0,
            choose_number,
        ),
        z3.fpEQ,
        value,
        lambda weight: [z3.Not(z3.fpIsNaN(weight)), z3.Not(z3.fpIsInf(weight))],
        fails=(
            ("plus_associative", (whole, 1, 1)),
            ("integrate_inverse", (whole, 1)),
            ("sum_linear", (whole, -whole, 1, 0)),
            ("join_bilinear", (whole, 1, 3)),
            ("join_associative", (3, 3, 2**52 + 1)),
            ("join_increment", (whole, whole, whole, 1)),
            ("distinct_join", (1e-200, 1e-200)),
        ),
        narrow=(
            ("join_commutative", floating("float16", z3.Float16())),
            ("join_positive", floating("float32", z3.Float32())),
        )
        if sort is None
        else (),
    )


def logical(name: str, plus: Callable[[Term, Term], Term], ring: bool) -> Kind:
    """Booleans with `or`, or GF(2) with `xor`; the product is `and`."""
    yes, no = z3.BoolVal(True), z3.BoolVal(False)
    return Kind(
        name,
        z3.BoolSort(),
        Arithmetic(no, yes, plus, z3.And, (lambda a: a) if ring else None, lambda a: a, z3.If),
        Arithmetic(
            0,
            1,
            (lambda a, b: a ^ b) if ring else (lambda a, b: a | b),
            lambda a, b: a & b,
            (lambda a: a) if ring else None,
            lambda a: a > 0,
            choose_number,
        ),
        same,
        lambda number: yes if number else no,
        fails=(("union_present", (1, 1)),) if ring else (),
    )


@cache
def kinds() -> tuple[Kind, ...]:
    """The columns of the table."""
    return (
        exact("Z", z3.IntSort(), z3.IntVal),
        exact("Q", z3.RealSort(), z3.RealVal),
        wrapping(),
        saturating(),
        floating(),
        exact("naturals", z3.IntSort(), z3.IntVal, natural=True),
        logical("booleans", z3.Or, ring=False),
        logical("GF(2)", z3.Xor, ring=True),
    )


# ---------------------------------------------------------------- cells


@dataclass(frozen=True)
class Cell:
    """What became of a law for a kind of weights."""

    law: Law
    kind: str
    verdict: str
    bits: str = ""  # where it was proved for fewer bits than the kind has
    query: Query | None = None
    counterexample: Counterexample | None = None

    @property
    def mark(self) -> str:
        """✓, ✗ or ·; behind ✓ the bits, if they were not all."""
        return f"{MARKS[self.verdict]} {self.bits}".rstrip()

    @property
    def values(self) -> str:
        """The weights that refute the law; nothing where it holds."""
        if self.counterexample is None:
            return ""
        return ", ".join(f"{x} = {power_text(value)}" for x, value in self.counterexample.values)


def cell(law: Law, kind: Kind) -> Cell:
    """Proves or refutes it. Raises ProofError when what is expected of it does not hold."""
    if law.differences and kind.solver.minus is None:
        return Cell(law, kind.name, NO_MINUS)
    example = dict(kind.fails).get(law.name)
    if example is not None:
        return Cell(law, kind.name, REFUTED, counterexample=refuted(law, kind, example))
    exactly = dict(kind.narrow).get(law.name, kind)
    _, supposed, claim = exactly.claim(law)
    query = ask(f"{law.name}, {exactly.name}", [], claim, given=supposed)
    return Cell(law, kind.name, PROVED, "" if exactly is kind else exactly.name, query)


def refuted(law: Law, kind: Kind, example: tuple[Any, ...]) -> Counterexample:
    """The law is false for these weights: z3 says so, and the machine's arithmetic.

    The reference, whose weights have no bounds, has it nevertheless; else ProofError.
    """
    started = perf_counter()
    name = f"{law.statement}, {kind.name}"
    weights, supposed, claim = kind.claim(law)
    fixed = [weight == kind.value(x) for weight, x in zip(weights, example, strict=True)]
    refute(name, claim, [*supposed, *fixed])
    ms = (perf_counter() - started) * 1000
    left, right = law.sides(kind.machine, *example)
    if left == right:
        raise ProofError(f"{name}: the machine has {left} on both sides")
    words = f"{kind.name}: {left} is not {right}"
    if all(isinstance(x, int) for x in example):
        one, other = law.sides(REFERENCE, *[row(x, KEY) for x in example])
        if one != other:
            raise ProofError(f"{name}: the reference has {one!r} and {other!r}")
        words += f"; the reference: {one[(KEY,)]} on both sides"
    else:
        words += "; the reference takes no such weights"
    return Counterexample(name, tuple(zip(law.variables, example, strict=True)), ms, words)


KEY = 7
ONCE = Run(Distinct(), ("k BIGINT",))
PAIRS = Run(Join((("k", "j"),)), ("k BIGINT", "j BIGINT"))
LEFT = Run(Map((("k", col("k")),)), ("k BIGINT, j BIGINT",))


def is_there(weight: ZSet) -> bool:
    return bool(ONCE.over(weight))


# The reference's own operators on the Z-set of one row, whose weight it is.
REFERENCE = Arithmetic(
    ZSet(),
    row(1, KEY),
    lambda a, b: a + b,
    lambda a, b: LEFT.over(PAIRS.over(a, b)),
    lambda a: -a,
    is_there,
    choose_number,
)


@dataclass(frozen=True)
class Cells:
    """All cells, law by law."""

    cells: tuple[Cell, ...]

    @property
    def queries(self) -> tuple[Query, ...]:
        return tuple(each.query for each in self.cells if each.query is not None)

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        return tuple(each.counterexample for each in self.cells if each.counterexample is not None)


@cache
def weight_cells() -> Cells:
    """Every law for every kind of weights. Raises ProofError for a cell that is not as expected."""
    return Cells(tuple(cell(law, kind) for law in LAWS for kind in kinds()))


def weight_rows() -> list[tuple[str, ...]]:
    """A heading, then a line for each law: a mark for each kind, and what refutes it.

    >>> weight_rows()[5][:7]
    ('(a + d) - a = d: D ∘ I = 1', '✓', '✓', '✓', '✗', '✗', '·')
    """
    lines: list[tuple[str, ...]] = [("law", *[kind.name for kind in kinds()], "refuted by")]
    for law in LAWS:
        own = [each for each in weight_cells().cells if each.law is law]
        refuted_by = "; ".join(f"{each.kind}: {each.values}" for each in own if each.values)
        lines.append((law.statement, *[each.mark for each in own], refuted_by))
    return lines


LEGEND = "✓ proved, in so many bits if not in all; ✗ refuted; · there is no minus"


def weight_table() -> Table:
    """The same for a terminal."""
    heading, *lines = weight_rows()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), caption=LEGEND)
    grid.caption_justify = "left"
    for name in heading:
        grid.add_column(name, overflow="fold")
    for line in lines:
        grid.add_row(*map(Text, line))
    return grid


def power_text(number: float) -> str:
    """A weight near a power of two, as that.

    >>> [power_text(each) for each in (2**63 - 1, -(2**63), 2**52 + 1, 3, -1, 1e-200)]
    ['2^63 - 1', '-2^63', '2^52 + 1', '3', '-1', '1e-200']
    """
    power = round(abs(number)).bit_length() - 1
    for exponent in (power, power + 1):
        rest = abs(number) - 2**exponent if exponent > 20 else None
        if rest is not None and abs(rest) <= 1:
            size = f"2^{exponent}" + (f" {'-' if rest < 0 else '+'} {abs(rest)}" if rest else "")
            return size if number > 0 else f"-{size}"
    return str(number)


# ---------------------------------------------------------------- the theorem


def cell_of(law: str, kind: str) -> Counterexample:
    """The counterexample of a cell. Raises ProofError when the law holds there."""
    (found,) = [
        cell(each, column)
        for each in LAWS
        for column in kinds()
        if (each.name, column.name) == (law, kind)
    ]
    if found.counterexample is None:
        raise ProofError(f"{law}, {kind}: expected a counterexample, it is {found.verdict}")
    return found.counterexample


def wrapped_product() -> Counterexample:
    """2³² copies joined with 2³² copies are none, so distinct must not be moved over the join."""
    return cell_of("distinct_join", "int64, wrapping")


def saturated_integral() -> Counterexample:
    """A delta that saturates is lost: taking it back leaves the wrong table."""
    return cell_of("integrate_inverse", "int64, saturating")


def sum_of_doubles() -> Counterexample:
    """A value that is inserted into a large SUM and deleted again."""
    return cell_of("integrate_inverse", "double")


def union_of_parities() -> Counterexample:
    return cell_of("union_present", "GF(2)")


@theorem(
    statement="laws that hold for Z, Q, 64 bits wrapping or saturating, double, N, booleans, GF(2)",
    source="beyond the paper: DBSP (VLDB 2023) sections 2 to 4 for other weights than Z",
    scope="all weights; products of unknowns: 8 bits where saturating, float16 or 32 for double",
    wrong=(wrapped_product, saturated_integral, sum_of_doubles, union_of_parities),
)
def weight_domains() -> Cells:
    """136 cells: 17 laws for 8 kinds of weights."""
    return weight_cells()
