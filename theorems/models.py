"""What theorems assume is true of something: every kind of axiom has a model, so from the axioms
nothing false follows.

    groups            the integers
    streams           arrays over ticks, which are all functions of a tick
    Z-sets            over two rows, the pairs of their weights
    operators         I, z, D and + on streams of integers
    sets              bits, ordered by inclusion

An axiom that says what an operator is like is true of an operator that we have: that z is strict
is a theorem, so "F is strict" contradicts nothing. Definitions need no model, since they only
name what is there.

Not proved: that an axiom says what its phrase says; each is written once, beside the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import z3

from deltaproof.reference import stream as reference
from deltaproof.theorems.calculus.causality import Operator, delay_strict_of, lifted_causal
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    additive,
    after,
    differential_laws,
    group_of_streams,
    integral_laws,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Group,
    Term,
    Thm,
    both,
    define,
    gen,
    group_laws,
    parts,
    prove,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.tables.zsets import Entries

INT, BOOL = z3.IntSort(), z3.BoolSort()
X, Y, V, W = z3.Ints("x y v w")
P, Q, R, S = z3.BitVecs("p q r s", 3)  # sets of three things
F, G = z3.Consts("f g", z3.ArraySort(TICK, INT))
N = z3.Const("n", TICK)
ONE = z3.BitVecVal(1, 3)
ROW, (FIG, PEAR) = z3.EnumSort("fruit", ("fig", "pear"))


@dataclass(frozen=True)
class Model:
    """A phrase that ends the names of axioms, and something of which it is true."""

    phrase: str
    words: str
    proof: Callable[[], Thm]

    def of(self, axiom: str) -> bool:
        return self.phrase in axiom


def without_model(names: Iterable[str]) -> list[str]:
    """The axioms among these that no model is known of.

    >>> without_model(["F is strict", "every operator is linear everywhere", "F is fast"])
    ['F is fast']
    """
    return [name for name in names if not any(model.of(name) for model in MODELS)]


def true_of(words: str, *claims: Formula) -> Callable[[], Thm]:
    """The claims, which z3 finds true without any theorem."""
    return lambda: prove(words, z3.And(*claims))


# ---------------------------------------------------------------- where things are true


@cache
def integers() -> Group:
    """The integers, a group."""
    add = define("plus", [INT, INT], INT, lambda x, y: x + y)
    neg = define("minus", [INT], INT, lambda x: -x)
    zero = z3.IntVal(0)
    laws = group_laws(INT, add, neg, zero)
    names = ("associative", "commutative", "neutral", "inverse")
    known = [*add.equations, *neg.equations]
    proofs = [prove(f"integers: {name}", law, known) for name, law in zip(names, laws, strict=True)]
    return Group(INT, add, neg, zero, both("the integers are an abelian group", *proofs))


@cache
def integer_streams() -> Streams:
    return Streams("integers", integers())


def twice_is_linear() -> Thm:
    """f(x) = 2x, which is even, on integers; I on streams."""
    group, streams = integers(), integer_streams()
    twice = define("twice", [INT], INT, lambda x: 2 * x)
    known = [*twice.equations, *group.add.equations]  # type: ignore[attr-defined]  # a Definition
    whole = group_of_streams(streams)
    sums, _ = parts(integral_laws(streams))
    return both(
        "2x and I are linear",
        prove("2x is linear", additive(group, group, twice), known),
        prove("I is linear", additive(whole, whole, streams.I), [sums]),
    )


def difference_is_invariant() -> Thm:
    """D(z(s)) = z(D(s))."""
    _, invariant = parts(differential_laws(integer_streams()))
    return invariant


def plus_is_causal() -> Thm:
    streams = integer_streams()
    return lifted_causal(Operator("+", (streams, streams), streams, streams.add))


def delay_is_strict() -> Thm:
    return delay_strict_of(integer_streams())


def negation_is_lifted() -> Thm:
    """lift(f)(s)[t] = f(s[t])."""
    streams = integer_streams()
    lifted, s = streams.lift("negation", lambda x: -x, streams), streams.stream("s")
    goal = streams.at(lifted(s), N) == -streams.at(s, N)
    return gen(prove("lifted negation", goal, unfold([streams.space], goal)), s, N)


@cache
def two_rows() -> tuple[z3.DatatypeSortRef, Callable[[Term, Term], Term]]:
    """The Z-sets over two rows, and the weight of a row in one."""
    declared = z3.Datatype("two weights")
    declared.declare("weights", ("of fig", INT), ("of pear", INT))
    sort = declared.create()
    fig, pear = sort.accessor(0, 0), sort.accessor(0, 1)
    return sort, lambda zset, row: z3.If(row == FIG, fig(zset), pear(zset))


def weights_make_the_zset() -> Thm:
    sort, weight = two_rows()
    (a, b), row = z3.Consts("a b", sort), z3.Const("row", ROW)
    same = z3.ForAll([row], weight(a, row) == weight(b, row))
    return prove("equal weights, equal pairs", z3.ForAll([a, b], z3.Implies(same, a == b)))


def lists_make_a_zset() -> Thm:
    """The list of two entries weighs what the list weighs that it was made of."""
    sort, _ = two_rows()
    entries = Entries("fruit", ROW)
    zset, (fig, pear) = sort.constructor(0), (sort.accessor(0, place) for place in (0, 1))

    def listed(pair: Term) -> Term:
        return entries.entry(FIG, fig(pair), entries.entry(PEAR, pear(pair), entries.none))

    some, row = z3.Const("l", entries.sort), z3.Const("row", ROW)
    made = listed(zset(entries.W(some, FIG), entries.W(some, PEAR)))
    goal = entries.W(made, row) == entries.W(some, row)
    return gen(prove("every list is a pair", goal, entries.W.equations), some, row)


def watermark_of_ticks() -> Thm:
    """The number of the tick as the watermark: it grows, and what comes is not below it."""
    count = recursive(
        "count", TICK, [], INT, (lambda recur: z3.IntVal(0), lambda recur, n: recur(n) + 1)
    )
    weight = z3.If(count(N) <= X, z3.IntVal(1), z3.IntVal(0))
    goal = z3.And(count(N) <= count(after(N)), z3.Or(weight == 0, count(N) <= X))
    return gen(prove("a watermark", goal, count.equations), N, X)


def smallest_relation() -> Thm:
    """Over integers, → from each to itself and to what is smaller by one or more."""
    step = z3.Function("P", INT, INT, BOOL)
    rules = z3.And(
        z3.ForAll([X], step(X, X)),
        z3.ForAll([X, Y, V], z3.Implies(z3.And(step(X, Y), step(Y, V)), step(X, V))),
    )
    least = z3.Implies(rules, z3.ForAll([X, Y], z3.Implies(X == Y, step(X, Y))))
    closed = z3.ForAll([X, Y, V], z3.Implies(z3.And(X == Y, Y == V), X == V))
    return prove("equality is the least relation closed under these rules", z3.And(closed, least))


def below(one: Term, other: Term) -> Formula:
    """one ⊆ other."""
    return one & ~other == 0


def least_fixpoints() -> Thm:
    """g(x, y) = x ∪ y ∪ {1}, h(x) = x ∪ {1}; f(x, y) = x ∪ y, X = {1}."""
    grows = z3.And(below(P | R, Q | S), below(P | R | ONE, Q | S | ONE))
    monotone = z3.Implies(z3.And(below(P, Q), below(R, S)), grows)
    inner = z3.And(
        below(P | (P | ONE) | ONE, P | ONE), z3.Implies(below(P | Q | ONE, Q), below(P | ONE, Q))
    )
    outer = z3.And(
        below(ONE | (ONE | ONE), ONE), z3.Implies(below(P | (P | ONE), P), below(ONE, P))
    )
    return prove("sets of three things", z3.And(monotone, inner, outer))


def order_decides(one: Formula, other: Formula) -> Formula:
    """x, y and v, w compare alike → one = other."""
    alike = z3.And((X < Y) == (V < W), (Y < X) == (W < V))
    return z3.Implies(alike, one == other)


def bags_as_sets() -> tuple[Formula, ...]:
    """4.4 and 4.5 of sets: distinct and map leave them, filter and join are ∩, plus is ∪."""
    return (P & (Q & R) == (P & Q) & R, P & (Q | R) == (P & Q) | (P & R))


# ---------------------------------------------------------------- one model for every kind

MODELS: tuple[Model, ...] = (
    Model("is an abelian group", "the integers", lambda: integers().laws),
    Model(
        "everywhere is equal",
        "arrays over ticks",
        true_of(
            "equal everywhere, equal arrays",
            z3.ForAll([F, G], z3.Implies(z3.ForAll([N], F[N] == G[N]), F == G)),
        ),
    ),
    Model("equal weights, equal Z-sets", "pairs of weights of two rows", weights_make_the_zset),
    Model("every list of entries is a Z-set", "pairs of weights of two rows", lists_make_a_zset),
    Model("is linear on the", "x y", true_of("x y", (X + Y) * V == X * V + Y * V)),
    Model("is linear", "2x, and I on streams", twice_is_linear),
    Model("is time-invariant", "D", difference_is_invariant),
    Model("is causal", "+ on streams", plus_is_causal),
    Model("is strict", "z", delay_is_strict),
    Model("is lifted", "lifted negation", negation_is_lifted),
    Model("f(0, 0) is 0", "f(x, y) = x y", true_of("0 0 = 0", z3.IntVal(0) * 0 == 0)),
    Model("a rewrite keeps the meaning", "x + y as y + x", true_of("x + y", X + Y == Y + X)),
    Model(
        "is touched",
        "touched: what weighs something",
        true_of("touched or 0", z3.Or(X != 0, Y != 0, z3.And(X == 0, Y == 0))),
    ),
    Model(
        "a group without rows",
        "there if x > 0, with the results 2x",
        true_of("no rows", z3.Not(z3.IntVal(0) > 0), 2 * z3.IntVal(0) == 0),
    ),
    Model(
        "is among the changed",
        "changed: what weighs something",
        true_of("changed or 0", z3.Or(X != 0, X == 0)),
    ),
    Model(
        "values are totally ordered",
        "the integers",
        true_of(
            "integers",
            z3.Implies(z3.And(X <= Y, Y <= V), X <= V),
            z3.Or(X <= Y, Y <= X),
            z3.Implies(z3.And(X <= Y, Y <= X), X == Y),
        ),
    ),
    Model(
        "sets are partially ordered, with a least",
        "sets of three things",
        true_of(
            "inclusion",
            below(P, P),
            z3.Implies(z3.And(below(P, Q), below(Q, R)), below(P, R)),
            z3.Implies(z3.And(below(P, Q), below(Q, P)), P == Q),
            below(P & 0, P),
        ),
    ),
    Model("is monotone", "sets of three things, and clocks", least_fixpoints),
    Model("is the least fixpoint of", "sets of three things", least_fixpoints),
    Model("is the least relation with the rules", "equality of integers", smallest_relation),
    Model("is closed under 4.4 and 4.5*", "equality of integers", smallest_relation),
    Model("holds of the operators", "bags as sets", true_of("sets", *bags_as_sets())),
    Model(
        "is decided",
        "a weight twice, row by row; of values, whether the first is below",
        true_of("2x, and x < y", z3.Implies(X == V, 2 * X == 2 * V), order_decides(X < Y, V < W)),
    ),
    Model(
        "f and g agree",
        "x + x and 2x",
        true_of("x + x = 2x", X + X == 2 * X),
    ),
    Model(
        "is as printed on the right",
        "f(x, y) = 0, and nothing else",
        true_of("0 = 0 + 0", z3.IntVal(0) == z3.IntVal(0) + 0),
    ),
    Model(
        "is local to keys",
        "Q doubles every weight",
        true_of("2x", z3.Implies(X == Y, 2 * X == 2 * Y)),
    ),
    Model("of no rows is empty", "Q doubles every weight", true_of("0", 2 * z3.IntVal(0) == 0)),
    Model(
        "rows that match are on one shard",
        "x matches x, and is on shard x mod 4",
        true_of("x mod 4", z3.Implies(X == Y, X % 4 == Y % 4)),
    ),
    Model(
        "rows that match are at most h apart",
        "x matches x",
        true_of(
            "|x - x| <= h", z3.Implies(z3.And(X == Y, V >= 0), z3.And(-V <= X - Y, X - Y <= V))
        ),
    ),
    Model("the watermark never goes back", "the number of the tick", watermark_of_ticks),
    Model("no row comes below the watermark", "the number of the tick", watermark_of_ticks),
)


def every_operator_is_linear() -> Counterexample:
    """An axiom that has no model where f is x + 1: z3 finds where it fails."""

    def replay(x: int, y: int) -> tuple[list[int], list[int]]:
        successor = reference.lift(lambda value: value + 1)
        (one,), (other,) = successor([x]), successor([y])
        return successor([x + y]), [one + other]

    claim = (X + Y) + 1 == (X + 1) + (Y + 1)
    return refute("f is linear, for f(x) = x + 1", claim, show=[X, Y], replay=replay)


def every_operator_is_strict() -> Counterexample:
    """The same of D, which reads the value at the tick."""

    def replay(x: int, y: int) -> tuple[int, int]:
        return reference.differentiate([x])[0], reference.differentiate([y])[0]

    return refute("F is strict, for F = D, at tick 0", X == Y, show=[X, Y], replay=replay)


@theorem(
    statement="every kind of axiom used here is true of something: no theorem rests on nonsense",
    source="beyond the paper: consistency of what the proofs assume",
    wrong=(every_operator_is_linear, every_operator_is_strict),
)
def axioms_have_models() -> Thm:
    """What the models themselves assume of streams is the first thing that has a model."""
    return both("every kind of axiom has a model", *[model.proof() for model in MODELS])
