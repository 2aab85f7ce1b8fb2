"""Two circuits of linear and join operators are equal exactly when their normal forms are.

    circuit = input | z circuit | I circuit | D circuit | circuit + circuit | - circuit
            | f(circuit)                 f any linear, time-invariant operator
            | f(circuit, circuit, …)     f any time-invariant operator, linear in each input

Every f is known by its name alone. Sums move out through each f and what is left is a sum of
*shapes*: trees of names with inputs at the leaves. With a variable for the delay of each leaf, z on
a subtree is the product of its variables, and a shape has one fraction as its factor:

    D(I(a) ⋈ I(b))         a ⋈ b: (1 - xy) / ((1 - x)(1 - y))
    I(a) ⋈ b + a ⋈ zI(b)   a ⋈ b: 1 / (1 - x) + y / (1 - y)           the same

Denominators are products of 1 - m, where m is the product of the variables under a node; each acts
as an invertible operator, so they are cleared and polynomials compared. The answer holds at every
tick, for all inputs and all operators of the names; where two circuits differ there are operators
and inputs that show it, see `unlike`. What is left of one minus the other is its *residue*: the
terms that the other lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from time import perf_counter
from typing import Protocol, Self, TypeAlias, TypeVar

import z3

from deltaproof.reference.stream import delay, differentiate, integrate, lift
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.ztransform import Identities, Ratio, ratio
from deltaproof.theorems.kernel import Counterexample, ProofError, Query, Term
from deltaproof.theorems.registry import theorem

# ---------------------------------------------------------------- circuits


class Circuit:
    """A stream made of input streams; `+` and `-` are those of the streams.

    >>> a, b = Input("a"), Input("b")
    >>> print(Integral(Apply("⋈", (a, Delay(b)))) - a)
    I(a ⋈ z(b)) - a
    """

    def __add__(self, other: Circuit) -> Circuit:
        return Sum(self, other)

    def __sub__(self, other: Circuit) -> Circuit:
        return Sum(self, Negation(other))

    def __neg__(self) -> Circuit:
        return Negation(self)


@dataclass(frozen=True)
class Input(Circuit):
    """An arbitrary stream."""

    name: Hashable

    def __str__(self) -> str:
        return str(self.name)


@dataclass(frozen=True)
class Delay(Circuit):
    of: Circuit

    def __str__(self) -> str:
        return f"z({self.of})"


@dataclass(frozen=True)
class Integral(Circuit):
    of: Circuit

    def __str__(self) -> str:
        return f"I({self.of})"


@dataclass(frozen=True)
class Difference(Circuit):
    of: Circuit

    def __str__(self) -> str:
        return f"D({self.of})"


@dataclass(frozen=True)
class Negation(Circuit):
    of: Circuit

    def __str__(self) -> str:
        return f"-({self.of})"


@dataclass(frozen=True)
class Sum(Circuit):
    left: Circuit
    right: Circuit

    def __str__(self) -> str:
        if isinstance(self.right, Negation):
            return f"{self.left} - {self.right.of}"
        return f"{self.left} + {self.right}"


@dataclass(frozen=True)
class Apply(Circuit):
    """A time-invariant operator, linear in each of its inputs. Equal names, equal operators."""

    name: Hashable
    over: tuple[Circuit, ...]

    def __str__(self) -> str:
        return applied(self.name, [str(each) for each in self.over])


def applied(name: Hashable, over: Sequence[str]) -> str:
    """f(a, b), or a ⋈ b where the name is a sign.

    >>> applied("filter", ["a"]), applied("⋈", ["a", "b ⋈ c"])
    ('filter(a)', 'a ⋈ (b ⋈ c)')
    """
    words = str(name)
    if len(over) < 2 or any(letter.isalnum() for letter in words):
        return f"{words}({', '.join(over)})"
    return f" {words} ".join(f"({each})" if f" {words} " in each else each for each in over)


# ---------------------------------------------------------------- the factor of a shape

Monomial: TypeAlias = tuple[int, ...]  # the exponent of each leaf's variable
Polynomial: TypeAlias = dict[Monomial, int]  # no zero is kept


class Factor(Protocol):
    """What stands before a shape. The variables are those of its leaves, from left to right."""

    def delayed(self) -> Self:
        """Times the product of all variables."""

    def integrated(self) -> Self:
        """Over 1 - the product of all variables."""

    def differenced(self) -> Self:
        """Times 1 - the product of all variables."""

    def plus(self, other: Self) -> Self: ...

    def minus(self) -> Self: ...

    def beside(self, other: Self) -> Self:
        """The product, where the other's variables come after one's own."""


F = TypeVar("F", bound=Factor)


@dataclass(frozen=True)
class Fraction:
    """top / Π (1 - m), over the monomials m of the bottom, each as often as it is there.

    >>> x = Fraction.leaf()
    >>> print(x.integrated().beside(x.delayed()).differenced())
    (y - x*y^2) / (1 - x)
    """

    top: Polynomial
    bottom: tuple[Monomial, ...]  # sorted
    width: int

    @classmethod
    def leaf(cls) -> Fraction:
        return cls({(0,): 1}, (), 1)

    @property
    def all(self) -> Monomial:
        return (1,) * self.width

    def delayed(self) -> Fraction:
        return Fraction(shifted(self.top, self.all), self.bottom, self.width)

    def integrated(self) -> Fraction:
        return Fraction(self.top, tuple(sorted((*self.bottom, self.all))), self.width)

    def differenced(self) -> Fraction:
        if self.all in self.bottom:
            return Fraction(self.top, without(self.bottom, self.all), self.width)
        return Fraction(times_one_minus(self.top, self.all), self.bottom, self.width)

    def plus(self, other: Fraction) -> Fraction:
        mine, theirs = Counter(self.bottom), Counter(other.bottom)
        top = sum_of(over(self.top, theirs - mine), over(other.top, mine - theirs))
        return Fraction(top, tuple(sorted((mine | theirs).elements())), self.width)

    def minus(self) -> Fraction:
        top = {monomial: -factor for monomial, factor in self.top.items()}
        return Fraction(top, self.bottom, self.width)

    def beside(self, other: Fraction) -> Fraction:
        before, after = (0,) * self.width, (0,) * other.width
        top = {
            one + two: factor * times
            for one, factor in self.top.items()
            for two, times in other.top.items()
        }
        bottom = [one + after for one in self.bottom] + [before + two for two in other.bottom]
        return Fraction(top, tuple(sorted(bottom)), self.width + other.width)

    def reduced(self) -> Fraction:
        """In lowest terms: two fractions are equal exactly when they are the same reduced.

        A monomial here has no square in it, so 1 - m does not factor any further.
        """
        top, bottom = self.top, self.bottom
        for monomial in self.bottom:
            quotient = divided(top, monomial)
            if quotient is not None:
                top, bottom = quotient, without(bottom, monomial)
        return Fraction(dict(sorted(top.items())), bottom if top else (), self.width)

    @property
    def is_zero(self) -> bool:
        return not self.top

    def key(self) -> Hashable:
        """The value itself; equal for equal fractions in lowest terms."""
        return tuple(self.top.items()), self.bottom

    def __str__(self) -> str:
        terms = map(signed, self.top.values(), map(monomial_text, self.top))
        top = "".join(terms).removeprefix(" + ").strip() or "0"
        bottom = "".join(f"(1 - {monomial_text(each)})" for each in self.bottom)
        return f"({top}) / {bottom}" if bottom else top


def shifted(top: Polynomial, by: Monomial) -> Polynomial:
    return {moved(monomial, by): factor for monomial, factor in top.items()}


def moved(monomial: Monomial, by: Monomial) -> Monomial:
    return tuple(map(int.__add__, monomial, by))


def sum_of(one: Polynomial, other: Polynomial) -> Polynomial:
    total = dict(one)
    for monomial, factor in other.items():
        total[monomial] = total.get(monomial, 0) + factor
    return {monomial: factor for monomial, factor in total.items() if factor}


def times_one_minus(top: Polynomial, by: Monomial) -> Polynomial:
    return sum_of(top, {moved(monomial, by): -factor for monomial, factor in top.items()})


def over(top: Polynomial, missing: Counter[Monomial]) -> Polynomial:
    """The top over a bottom that has these more."""
    for monomial in missing.elements():
        top = times_one_minus(top, monomial)
    return top


def without(bottom: tuple[Monomial, ...], monomial: Monomial) -> tuple[Monomial, ...]:
    place = bottom.index(monomial)
    return bottom[:place] + bottom[place + 1 :]


def divided(top: Polynomial, by: Monomial) -> Polynomial | None:
    """top / (1 - by), when that is a polynomial.

    q = top + by q: from the lowest degree up, until nothing is carried on.

    >>> divided({(0,): 1, (2,): -1}, (1,)), divided({(0,): 1, (2,): 1}, (1,))
    ({(0,): 1, (1,): 1}, None)
    """
    most = max(map(sum, top), default=0)
    left, quotient = dict(top), Polynomial()
    while left:
        lowest = min(left, key=sum)
        factor = left.pop(lowest)
        if sum(lowest) > most:
            return None
        quotient[lowest] = factor
        carried = moved(lowest, by)
        left[carried] = left.get(carried, 0) + factor
        if not left[carried]:
            del left[carried]
    return quotient


def monomial_text(monomial: Monomial) -> str:
    names = "xyw" if len(monomial) <= 3 else [f"x{place}" for place in range(len(monomial))]
    powers = zip(names, monomial, strict=False)
    return "*".join(f"{x}^{n}" if n > 1 else x for x, n in powers if n)


def signed(factor: int, words: str) -> str:
    """' + 2 words', to be joined with others."""
    size = "" if abs(factor) == 1 and words else str(abs(factor))
    return f" {'-' if factor < 0 else '+'} {'*'.join(filter(None, (size, words)))}"


@dataclass(frozen=True)
class Unreduced:
    """The same as terms for a solver: nothing is cancelled, so that it has something to check."""

    of: Callable[[Sequence[Term]], Ratio]
    width: int

    @classmethod
    def leaf(cls) -> Unreduced:
        return cls(lambda xs: ratio(1), 1)

    def delayed(self) -> Unreduced:
        return Unreduced(lambda xs: self.of(xs) * prod(xs), self.width)

    def integrated(self) -> Unreduced:
        return Unreduced(lambda xs: self.of(xs) / (1 - prod(xs)), self.width)

    def differenced(self) -> Unreduced:
        return Unreduced(lambda xs: self.of(xs) * (1 - prod(xs)), self.width)

    def plus(self, other: Unreduced) -> Unreduced:
        return Unreduced(lambda xs: self.of(xs) + other.of(xs), self.width)

    def minus(self) -> Unreduced:
        return Unreduced(lambda xs: -self.of(xs), self.width)

    def beside(self, other: Unreduced) -> Unreduced:
        here, width = self.width, self.width + other.width
        return Unreduced(lambda xs: self.of(xs[:here]) * other.of(xs[here:]), width)


# ---------------------------------------------------------------- normal forms


@dataclass(frozen=True)
class Shape:
    """A tree of operators with inputs at the leaves: what a circuit's value is linear in."""

    name: Hashable
    over: tuple[Shape, ...] = ()  # none: an input

    @property
    def leaves(self) -> int:
        return sum(each.leaves for each in self.over) or 1

    def __str__(self) -> str:
        return self.written((0,) * self.leaves, Counter())

    def written(self, delays: Monomial, integrals: Counter[Monomial]) -> str:
        """The shape as a circuit with z's at the leaves and I's at the nodes.

        `integrals` says of how many nodes with these leaves there is an integral, and is used up.
        """
        return self._written(delays, integrals, 0, len(delays))

    def _written(
        self, delays: Monomial, integrals: Counter[Monomial], first: int, width: int
    ) -> str:
        after = first + self.leaves
        if not self.over:
            words = str(self.name)
            signs = "z" * delays[first]
        else:
            parts, signs, place = [], "", first
            for each in self.over:
                parts.append(each._written(delays, integrals, place, width))
                place += each.leaves
            words = applied(self.name, parts)
        mine = tuple(int(first <= place < after) for place in range(width))
        signs += "I" * integrals.pop(mine, 0)
        return f"{signs}({words})" if signs else words


def normal_form(circuit: Circuit, leaf: F) -> dict[Shape, F]:
    """The factor of each shape; `leaf` is that of an input."""
    known: dict[int, dict[Shape, F]] = {}

    def form(node: Circuit) -> dict[Shape, F]:
        if id(node) not in known:
            known[id(node)] = made(node)
        return known[id(node)]

    def made(node: Circuit) -> dict[Shape, F]:
        match node:
            case Input(name):
                return {Shape(name): leaf}
            case Delay(of):
                return {shape: factor.delayed() for shape, factor in form(of).items()}
            case Integral(of):
                return {shape: factor.integrated() for shape, factor in form(of).items()}
            case Difference(of):
                return {shape: factor.differenced() for shape, factor in form(of).items()}
            case Negation(of):
                return {shape: factor.minus() for shape, factor in form(of).items()}
            case Sum(left, right):
                return added(form(left), form(right))
            case Apply(name, over):
                return distributed(name, [form(each) for each in over])
        raise TypeError(f"no circuit: {node!r}")

    return form(circuit)


def added(left: Mapping[Shape, F], right: Mapping[Shape, F]) -> dict[Shape, F]:
    total = dict(left)
    for shape, factor in right.items():
        total[shape] = total[shape].plus(factor) if shape in total else factor
    return total


def distributed(name: Hashable, over: Sequence[Mapping[Shape, F]]) -> dict[Shape, F]:
    """f(Σ, Σ, …) as a sum of f of one summand of each."""
    total: dict[Shape, F] = {}
    for chosen in product(*[form.items() for form in over]):
        shape = Shape(name, tuple(each for each, _ in chosen))
        factor, *others = [each for _, each in chosen]
        for other in others:
            factor = factor.beside(other)
        total[shape] = total[shape].plus(factor) if shape in total else factor
    return total


def canonical(circuit: Circuit) -> dict[Shape, Fraction]:
    """The factor of each shape in lowest terms, without zeros: equal for equal circuits."""
    form = {shape: each.reduced() for shape, each in normal_form(circuit, Fraction.leaf()).items()}
    return {shape: each for shape, each in form.items() if not each.is_zero}


# ---------------------------------------------------------------- equal, or what is left


@dataclass(frozen=True)
class Residue:
    """What the right circuit lacks of one shape (or has too much, where factors are negative)."""

    shape: Shape
    factor: Fraction

    def __str__(self) -> str:
        terms = [
            (times, self.shape.written(monomial, Counter(self.factor.bottom)))
            for monomial, times in self.factor.top.items()
        ]
        missing = [(times, words) for times, words in terms if times > 0]
        extra = [(-times, words) for times, words in terms if times < 0]
        said = (("missing", missing), ("too much", extra))
        return "; ".join(f"{name}: {sum_text(some)}" for name, some in said if some)


def sum_text(terms: Sequence[tuple[int, str]]) -> str:
    return " + ".join(words if times == 1 else f"{times} ({words})" for times, words in terms)


def equivalent(left: Circuit, right: Circuit) -> dict[Shape, Residue]:
    """Nothing when the circuits are equal, else what the right one lacks, shape by shape.

    >>> a, b = Input("a"), Input("b")
    >>> def join(left, right):
    ...     return Apply("⋈", (left, right))
    >>> changed = Difference(join(Integral(a), Integral(b)))
    >>> equivalent(changed, join(Integral(a), b) + join(a, Delay(Integral(b))))
    {}
    >>> for residue in equivalent(changed, join(Integral(a), b)).values():
    ...     print(residue)
    missing: a ⋈ zI(b)
    """
    form = normal_form(left - right, Fraction.leaf())
    return {
        shape: Residue(shape, factor.reduced())
        for shape, factor in form.items()
        if not factor.is_zero
    }


def residue_text(residues: Mapping[Shape, Residue]) -> str:
    return "; ".join(map(str, residues.values()))


def clash(left: Circuit, right: Circuit) -> list[Term]:
    """That the circuits differ, as polynomials over the integers: no solver can satisfy it."""
    sides = [normal_form(each, Unreduced.leaf()) for each in (left, right)]
    unequal = []
    for number, shape in enumerate(dict.fromkeys((*sides[0], *sides[1]))):
        xs = [z3.Int(f"x{number}_{place}") for place in range(shape.leaves)]
        one, other = (side[shape].of(xs) if shape in side else ratio(0) for side in sides)
        unequal.append(one.top * other.bottom != other.top * one.bottom)
    return [z3.Or(*unequal)]


# ---------------------------------------------------------------- circuits that run

Function: TypeAlias = Callable[..., list[ZSet]]  # of whole streams


def run(
    circuit: Circuit,
    streams: Mapping[Hashable, list[ZSet]],
    functions: Callable[[Hashable], Function],
) -> list[ZSet]:
    """The circuit's stream, with the reference's z, D, I and `+`."""
    known: dict[int, list[ZSet]] = {}

    def value(node: Circuit) -> list[ZSet]:
        if id(node) not in known:
            known[id(node)] = made(node)
        return known[id(node)]

    def made(node: Circuit) -> list[ZSet]:
        match node:
            case Input(name):
                return streams[name]
            case Delay(of):
                return delay(value(of))
            case Integral(of):
                return integrate(value(of))
            case Difference(of):
                return differentiate(value(of))
            case Negation(of):
                return lift(lambda a: -a)(value(of))
            case Sum(left, right):
                return lift(lambda a, b: a + b)(value(left), value(right))
            case Apply(name, over):
                return functions(name)(*map(value, over))
        raise TypeError(f"no circuit: {node!r}")

    return value(circuit)


def inputs(circuit: Circuit) -> Iterator[Hashable]:
    """The names of the inputs, each as often as it is read."""
    match circuit:
        case Input(name):
            yield name
        case Sum(left, right):
            yield from inputs(left)
            yield from inputs(right)
        case Apply(_, over):
            for each in over:
                yield from inputs(each)
        case Delay(of) | Integral(of) | Difference(of) | Negation(of):
            yield from inputs(of)


def a_row_a_tick(name: Hashable, ticks: int) -> list[ZSet]:
    """The input that tells all delays apart: at every tick a row that comes at no other."""
    return [ZSet({(name, tick): 1}) for tick in range(1, ticks + 1)]


def free(name: Hashable) -> Function:
    """The operator that keeps its name and all rows apart: what it makes is made in no other way.

    >>> free("f")([ZSet({("a", 1): 2})], [ZSet({("b", 1): 3})])
    [ZSet({('f', ('a', 1), ('b', 1)): 6})]
    """

    def at_a_tick(*zsets: ZSet) -> ZSet:
        entries: dict[Row, int] = {}
        for chosen in product(*[each.items() for each in zsets]):
            entries[(name, *[row for row, _ in chosen])] = prod(weight for _, weight in chosen)
        return ZSet(entries)

    return lift(at_a_tick)


def unlike(left: Circuit, right: Circuit, most: int = 6) -> tuple[list[ZSet], list[ZSet]] | None:
    """Both outputs on inputs that tell them apart, for as few ticks as will do; None if none do.

    >>> a = Input("a")
    >>> unlike(Difference(a), a)
    ([ZSet({('a', 1): 1}), ZSet({('a', 2): 1, ('a', 1): -1})], \
[ZSet({('a', 1): 1}), ZSet({('a', 2): 1})])
    """
    names = dict.fromkeys((*inputs(left), *inputs(right)))
    for ticks in range(1, most + 1):
        streams = {name: a_row_a_tick(name, ticks) for name in names}
        one, other = (run(each, streams, free) for each in (left, right))
        if one != other:
            return one, other
    return None


# ---------------------------------------------------------------- theorems


def equal_circuits(*claims: tuple[str, Circuit, Circuit]) -> Identities:
    """Every claim (name, left, right) holds. Raises ProofError with the residue of one."""
    return Identities(tuple(equal_circuit(*claim) for claim in claims))


def equal_circuit(name: str, left: Circuit, right: Circuit) -> Query:
    started = perf_counter()
    residues = equivalent(left, right)
    if residues:
        raise ProofError(f"{name}: {residue_text(residues)}")
    ms = (perf_counter() - started) * 1000
    return Query(name, "identity", ms, clash=lambda: clash(left, right))


def unequal_circuits(name: str, left: Circuit, right: Circuit) -> Counterexample:
    """The residue, and the outputs of both for the reference's z, D and I and free operators.

    Raises ProofError when the circuits are equal, or when no run shows that they are not.
    """
    started = perf_counter()
    residues = equivalent(left, right)
    if not residues:
        raise ProofError(f"{name}: expected a residue, but the circuits are equal")
    ms = (perf_counter() - started) * 1000
    shown = unlike(left, right)
    if shown is None:
        raise ProofError(f"{name}: {residue_text(residues)}, but no run of six ticks shows it")
    one, other = (outputs[-1] for outputs in shown)
    words = f"the reference at tick {len(shown[0])}: {one!r} is not {other!r}"
    return Counterexample(name, (("residue", residue_text(residues)),), ms, words)


A, B, C, E = map(Input, "abce")


def z(of: Circuit) -> Circuit:
    return Delay(of)


def I(of: Circuit) -> Circuit:  # noqa: E743  # the integral
    return Integral(of)


def D(of: Circuit) -> Circuit:
    return Difference(of)


def join(left: Circuit, right: Circuit) -> Circuit:
    return Apply("⋈", (left, right))


def other_join(left: Circuit, right: Circuit) -> Circuit:
    return Apply("⋉", (left, right))


def filtered(of: Circuit) -> Circuit:
    return Apply("filter", (of,))


def mapped(of: Circuit) -> Circuit:
    return Apply("map", (of,))


def changes(query: Callable[..., Circuit], *tables: Circuit) -> Circuit:
    """D(Q(I(a), I(b), …)): what is meant by the increment."""
    return D(query(*map(I, tables)))


def join_delta(
    left: Circuit,
    right: Circuit,
    join: Callable[[Circuit, Circuit], Circuit] = join,
) -> Circuit:
    """The increment of a join whose inputs change by these."""
    return join(I(left), right) + join(left, z(I(right)))


def left_join_undelayed() -> Counterexample:
    return unequal_circuits(
        "D(I(a) ⋈ I(b)) = I(a) ⋈ b + a ⋈ I(b)", changes(join, A, B), join(I(A), B) + join(A, I(B))
    )


def chain_of_joins_with_one_delay_forgotten() -> Counterexample:
    """The outer join is right and the inner one is not."""
    inner = join(I(A), B) + join(A, I(B))
    return unequal_circuits(
        "D((I(a) ⋈ I(b)) ⋉ I(c)), with a ⋈ b undelayed",
        changes(lambda a, b, c: other_join(join(a, b), c), A, B, C),
        join_delta(inner, C, other_join),
    )


def linear_operators_in_another_order() -> Counterexample:
    """A filter over a map is not the map over the filter."""
    return unequal_circuits(
        "D(map(filter(I(a)))) = filter(map(a))",
        changes(lambda a: mapped(filtered(a)), A),
        filtered(mapped(A)),
    )


def self_join_counted_once() -> Counterexample:
    """a ⋈ a changes on both sides: the change on the left alone is half of it."""
    return unequal_circuits(
        "D(I(a) ⋈ I(a)) = a ⋈ I(a)", changes(lambda a: join(a, a), A), join(A, I(A))
    )


@theorem(
    statement="circuits of z, I, D, +, - and named linear or join operators: equality is decided",
    source="beyond the paper: DBSP (VLDB 2023) theorems 2.20, 3.3, 3.4 and proposition 3.2 as data",
    scope="unbounded (polynomials)",
    wrong=(
        left_join_undelayed,
        chain_of_joins_with_one_delay_forgotten,
        linear_operators_in_another_order,
        self_join_counted_once,
    ),
)
def circuit_equivalence() -> Identities:
    """The increments of the paper, and those of joins of joins, as circuits that are equal."""

    def bushy(a: Circuit, b: Circuit, c: Circuit, e: Circuit) -> Circuit:
        return other_join(join(a, b), join(c, e))

    def with_delay(a: Circuit, b: Circuit, c: Circuit, e: Circuit) -> Circuit:
        return other_join(join(a, filtered(b)), mapped(c + z(e)))

    def difference_of_joins(a: Circuit, b: Circuit) -> Circuit:
        return join(a, b) - other_join(b, filtered(a))

    return equal_circuits(
        ("D(I(a)) = a", D(I(A)), A),
        ("I(D(a)) = a", I(D(A)), A),
        ("D(f(I(a))) = f(a)", changes(filtered, A), filtered(A)),
        ("I(f(a)) = f(I(a))", I(filtered(A)), filtered(I(A))),
        ("two terms", changes(join, A, B), join_delta(A, B)),
        ("three terms", changes(join, A, B), join(A, B) + join(z(I(A)), B) + join(A, z(I(B)))),
        (
            "a chain over a join over a chain",
            changes(lambda a, b: mapped(join(filtered(a), b)), A, B),
            mapped(join_delta(filtered(A), B)),
        ),
        ("self join", changes(lambda a: join(a, a), A), join_delta(A, A)),
        (
            "a difference of joins",
            changes(difference_of_joins, A, B),
            join_delta(A, B) - join_delta(B, filtered(A), other_join),
        ),
        (
            "three-way join",
            changes(lambda a, b, c: other_join(join(a, b), c), A, B, C),
            join_delta(join_delta(A, B), C, other_join),
        ),
        (
            "bushy four-way join",
            changes(bushy, A, B, C, E),
            join_delta(join_delta(A, B), join_delta(C, E), other_join),
        ),
        (
            "a join with a delay in the query",
            changes(with_delay, A, B, C, E),
            join_delta(join_delta(A, filtered(B)), mapped(C + z(E)), other_join),
        ),
        (
            "the change of the change of a join",
            D(changes(lambda a, b: join(I(a), I(b)), A, B)),
            join_delta_delta(),
        ),
    )


def join_delta_delta() -> Circuit:
    """The increment of the increment: each of the two joins in it is a join of streams again."""
    return join_delta(I(A), B) + join_delta(A, z(I(B)))
