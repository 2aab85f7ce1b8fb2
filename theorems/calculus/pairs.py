"""Two streams are one stream of pairs, so loops through each other are one loop.

    pair: S_A × S_B → S_(A×B)        first, second: back

The pairs of two groups are a group, so everything proved of streams over a group is proved of
streams of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import z3

from deltaproof.reference import stream as reference
from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    STRICT,
    Loop,
    Operator,
    Reads,
    any_operator,
    lifted_causal,
    pointwise,
)
from deltaproof.theorems.calculus.streams import Streams, any_streams
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Formula,
    FunctionSpace,
    Group,
    Term,
    Thm,
    axiom,
    both,
    define,
    gen,
    group_laws,
    inst,
    prove,
    refute,
)
from deltaproof.theorems.registry import theorem

# ---------------------------------------------------------------- pairs


@dataclass(frozen=True, eq=False)
class Product:
    """The pairs of two groups' elements: a group, side by side, and how that is defined."""

    group: Group
    equations: tuple[Thm, ...]


@cache
def product(left: Group, right: Group) -> Product:
    """The product of two groups."""
    name = f"{left.sort} × {right.sort}"
    datatype = z3.Datatype(name)
    fields = (f"left of {name}", left.sort), (f"right of {name}", right.sort)
    datatype.declare(f"pair of {name}", *fields)  # SMT-LIB wants one sort per name
    sort = datatype.create()
    pair = sort.constructor(0)
    one, other = (sort.accessor(0, place) for place in (0, 1))

    def added(p: Term, q: Term) -> Term:
        return pair(left.add(one(p), one(q)), right.add(other(p), other(q)))

    add = define("add", [sort, sort], sort, added)
    neg = define("neg", [sort], sort, lambda p: pair(left.neg(one(p)), right.neg(other(p))))
    zero = define("zero", [], sort, lambda: pair(left.zero, right.zero))
    equations = (*add.equations, *neg.equations, *zero.equations)
    names = ("associative", "commutative", "neutral", "inverse")
    laws = group_laws(sort, add, neg, zero())
    proofs = [
        prove(f"pairs: {name}", law, [left.laws, right.laws, *equations])
        for name, law in zip(names, laws, strict=True)
    ]
    group = Group(sort, add, neg, zero(), both("pairs are an abelian group", *proofs))
    return Product(group, equations)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Between pairs of streams and streams of pairs."""

    left: Streams
    right: Streams
    streams: Streams
    pair: Definition
    first: Definition
    second: Definition
    values: Product

    @property
    def spaces(self) -> list[FunctionSpace]:
        return [each.space for each in (self.left, self.right, self.streams)]

    @property
    def operators(self) -> tuple[Operator, Operator, Operator]:
        """pair, first and second."""
        both_sides, whole = (self.left, self.right), (self.streams,)
        return (
            Operator("pair", both_sides, self.streams, self.pair),
            Operator("first", whole, self.left, self.first),
            Operator("second", whole, self.right, self.second),
        )

    @cached_property
    def causal(self) -> list[Reads]:
        """Each of them is causal."""
        spaces = self.spaces
        return [Reads(each, CAUSAL, lifted_causal(each, spaces)) for each in self.operators]

    @cached_property
    def equations(self) -> Thm:
        """The parts of pair(a, b) are a and b, and p is the pair of its parts."""
        a, b, p = self.left.stream("a"), self.right.stream("b"), self.streams.stream("p")
        pair, first, second, spaces = self.pair, self.first, self.second, self.spaces
        whole = pair(first(p), second(p))
        return both(
            "pairing streams and taking them apart",
            gen(pointwise("first(pair(a, b)) = a", self.left, first(pair(a, b)), a, spaces), a, b),
            gen(
                pointwise("second(pair(a, b)) = b", self.right, second(pair(a, b)), b, spaces), a, b
            ),
            gen(pointwise("pair(first(p), second(p)) = p", self.streams, whole, p, spaces), p),
        )


@cache
def pairs_of(left: Streams, right: Streams) -> Pairs:
    """The streams of pairs of values of these streams."""
    values = product(left.group, right.group)
    group = values.group
    streams = Streams(f"{left.name} × {right.name}", group)
    sort = group.sort
    return Pairs(
        left,
        right,
        streams,
        streams.lift("pair", sort.constructor(0), left, right),
        left.lift("first", sort.accessor(0, 0), streams),
        right.lift("second", sort.accessor(0, 1), streams),
        values,
    )


# ---------------------------------------------------------------- theorems


def loops_one_after_the_other() -> Counterexample:
    """a = s + z(b), b = r + z(a), solved as if b knew nothing of a."""
    s0, s1, r0, r1 = z3.Ints("s0 s1 r0 r1")

    def replay(s0: int, s1: int, r0: int, r1: int) -> tuple[list[int], list[int]]:
        body = reference.lift(lambda one, other: one + other)
        b = reference.integrate([r0, r1])
        a = body([s0, s1], reference.delay(b))
        return b, body([r0, r1], reference.delay(a))

    name = "b = I(r) solves b = r + z(s + z(b)) at tick 1"
    claim = r0 + r1 == r1 + s0
    return refute(name, claim, show=[s0, s1, r0, r1], replay=replay)


@theorem(
    statement="a = T1(s, F1(b)), b = T2(r, F2(a)) have one solution, causal in s and r",
    source="DBSP long version (2022) proposition 3.18",
    lean="",
    wrong=(loops_one_after_the_other,),
)
def mutual_fixpoint() -> Thm:
    """Two loops through each other are one loop over pairs."""
    a, b, c, d, e, h = (any_streams(name) for name in "ABCDEH")
    t1, t2 = any_operator("T1", [a, e], c), any_operator("T2", [b, h], d)
    f1, f2 = any_operator("F1", [d], e), any_operator("F2", [c], h)
    looped, made = pairs_of(e, h), pairs_of(c, d)
    causal = [Reads(t, CAUSAL, axiom(f"{t.name} is causal", t.reads(CAUSAL))) for t in (t1, t2)]
    strict = [Reads(f, STRICT, axiom(f"{f.name} is strict", f.reads(STRICT))) for f in (f1, f2)]
    parts = [*looped.causal, *made.causal]

    def side_by_side(s: Term, r: Term, q: Term) -> Term:
        return made.pair(t1.of(s, looped.first(q)), t2.of(r, looped.second(q)))

    def swapped(p: Term) -> Term:
        return looped.pair(f1.of(made.second(p)), f2.of(made.first(p)))

    circuit = Operator("T1 × T2", (a, b, looped.streams), made.streams, side_by_side)
    back = Operator("(F1 × F2) ∘ swap", (made.streams,), looped.streams, swapped)
    loop = Loop(
        "fix p. (T1 × T2)(s, r, (F1 × F2)(swap(p)))",
        circuit,
        circuit.composed(CAUSAL, [*causal, *parts]),
        back,
        back.composed(STRICT, [*strict, *parts]),
    )
    s, r, x, y = (each.stream(name) for each, name in ((a, "s"), (b, "r"), (c, "x"), (d, "y")))
    solution = loop.operator.of(s, r)
    q1, q2 = made.first(solution), made.second(solution)

    def sides(one: Term, other: Term) -> tuple[Term, Term]:
        return t1.of(s, f1.of(other)), t2.of(r, f2.of(one))

    def apart(one: Term, other: Term) -> list[Thm]:
        """Pairs taken apart: what is looped, the outputs, and the sides of the equations."""
        values = [
            (looped, f1.of(other), f2.of(one)),
            (made, one, other),
            (made, *sides(one, other)),
        ]
        laws = [(pairs.equations.rests_on[:2], left, right) for pairs, left, right in values]
        return [inst(law, left, right) for two, left, right in laws for law in two]

    def solved(one: Term, other: Term) -> Formula:
        left, right = sides(one, other)
        return z3.And(one == left, other == right)

    exists = [*apart(q1, q2), inst(loop.fixpoint.solves, s, r)]
    only = [*apart(x, y), inst(loop.fixpoint.unique, s, r, made.pair(x, y))]
    same = z3.And(x == q1, y == q2)
    whole = Reads(loop.operator, CAUSAL, loop.causal())
    outputs = [
        Operator("Q1", (a, b), c, lambda one, other: made.first(loop.operator.of(one, other))),
        Operator("Q2", (a, b), d, lambda one, other: made.second(loop.operator.of(one, other))),
    ]
    return both(
        "mutual recursion",
        gen(prove("a, b solve both equations", solved(q1, q2), exists), s, r),
        gen(prove("nothing else does", same, only, given=[solved(x, y)]), s, r, x, y),
        *[each.composed(CAUSAL, [whole, *made.causal]) for each in outputs],
    )
