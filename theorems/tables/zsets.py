"""Z-sets over any rows are an abelian group, and any weights that vanish off a list make one.

A Z-set is what its finitely many entries weigh: it is presented by a list of (row, weight)
entries, in which a row may stand more than once, and two lists are the same Z-set when every
row weighs the same in both. That is all that is assumed here; so what is proved holds for
supports of any size, by induction over the list.

    W(entries, row)       the weight of a row: the sum over its entries
    weight(a, row)        the same for a Z-set
    a + b, -a, 0          concatenation, negation, no entries
    comprehension         the Z-set with given weights, zero for all rows outside a given list
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import z3

from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import Streams
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    FunctionSpace,
    Group,
    Sort,
    Term,
    Thm,
    axiom,
    both,
    define,
    fresh_sort,
    fresh_symbol,
    gen,
    group_laws,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

INT = z3.IntSort()
ZERO = z3.IntVal(0)


def if_then(condition: Term, weight: Term) -> Term:
    """The weight where the condition holds, zero elsewhere."""
    return z3.If(condition, weight, ZERO)


class Entries:
    """Lists of (row, weight), and what they weigh."""

    def __init__(self, name: str, row: Sort) -> None:
        declared = z3.Datatype(f"entries of {name}")
        declared.declare(f"none of {name}")  # SMT-LIB wants one sort per name
        fields = (("row", row), ("weight", INT), ("rest", declared))
        declared.declare(
            f"entry of {name}", *[(f"{field} of {name}", sort) for field, sort in fields]
        )
        self.row = row
        self.sort = declared.create()
        self.none, self.entry = self.sort.constructor(0)(), self.sort.constructor(1)
        self.W = recursive(
            "W",
            self.sort,
            [row],
            INT,
            (
                lambda recur, x: ZERO,
                lambda recur, k, w, rest, x: if_then(k == x, w) + recur(rest, x),
            ),
        )
        self.join = recursive(
            "++",
            self.sort,
            [self.sort],
            self.sort,
            (lambda recur, m: m, lambda recur, k, w, rest, m: self.entry(k, w, recur(rest, m))),
        )
        self.minus = recursive(
            "minus",
            self.sort,
            [],
            self.sort,
            (lambda recur: self.none, lambda recur, k, w, rest: self.entry(k, -w, recur(rest))),
        )
        self.has = recursive(
            "has",
            self.sort,
            [row],
            z3.BoolSort(),
            (
                lambda recur, x: z3.BoolVal(False),
                lambda recur, k, w, rest, x: z3.Or(k == x, recur(rest, x)),
            ),
        )
        self.x = z3.Const("x", row)
        self.m = z3.Const("m", self.sort)

    def claim(self, body: Callable[[Term, Term], Term]) -> Callable[[Term], Term]:
        """The claim about a list that body(list, row) holds for every row."""
        return lambda entries: z3.ForAll([self.x], body(entries, self.x))

    def weight_of_joined(self) -> Thm:
        """∀ l m x. W(l ++ m, x) = W(l, x) + W(m, x)."""

        def claim(entries: Term) -> Term:
            joined = self.W(self.join(entries, self.m), self.x)
            return z3.ForAll(
                [self.m, self.x],
                joined == self.W(entries, self.x) + self.W(self.m, self.x),
                patterns=[joined],
            )

        by = (*self.W.equations, *self.join.equations)
        return induct("W(l ++ m, x) = W(l, x) + W(m, x)", self.sort, claim, by)

    def weight_of_minus(self) -> Thm:
        """∀ l x. W(-l, x) = -W(l, x)."""
        claim = self.claim(lambda es, x: self.W(self.minus(es), x) == -self.W(es, x))
        by = (*self.W.equations, *self.minus.equations)
        return induct("W(-l, x) = -W(l, x)", self.sort, claim, by)

    def has_joined(self) -> Thm:
        """∀ l m x. has(l ++ m, x) = has(l, x) or has(m, x)."""

        def claim(entries: Term) -> Term:
            joined = self.has(self.join(entries, self.m), self.x)
            either = z3.Or(self.has(entries, self.x), self.has(self.m, self.x))
            return z3.ForAll([self.m, self.x], joined == either, patterns=[joined])

        by = (*self.has.equations, *self.join.equations)
        return induct("has(l ++ m, x) = has(l, x) or has(m, x)", self.sort, claim, by)

    def weight_outside(self) -> Thm:
        """∀ l x. a row that is in no entry weighs nothing."""
        claim = self.claim(lambda es, x: z3.Or(self.has(es, x), self.W(es, x) == 0))
        by = (*self.W.equations, *self.has.equations)
        return induct("not has(l, x) → W(l, x) = 0", self.sort, claim, by)


class ZSets:
    """The Z-sets over one sort of rows: a group, with comprehension."""

    def __init__(self, name: str, row: Sort | None = None) -> None:
        self.name = name
        self.row = fresh_sort(f"rows of {name}") if row is None else row
        self.lists = Entries(name, self.row)
        self.sort = fresh_sort(f"Z[{name}]")
        self.entries = fresh_symbol("entries", self.sort, self.lists.sort)
        self.zset = fresh_symbol("zset", self.lists.sort, self.sort)
        self.weight = define(
            "weight",
            [self.sort, self.row],
            INT,
            lambda a, x: self.lists.W(self.entries(a), x),
        )
        self.a, self.b = z3.Const("a", self.sort), z3.Const("b", self.sort)
        self.x, self.list = z3.Const("x", self.row), z3.Const("l", self.lists.sort)
        a, b, x = self.a, self.b, self.x
        W, weight = self.lists.W, self.weight
        shown = W(self.entries(self.zset(self.list)), x)
        self.presented = axiom(
            f"Z[{name}]: every list of entries is a Z-set",
            z3.ForAll([self.list, x], shown == W(self.list, x), patterns=[shown]),
        )
        same = z3.ForAll([x], weight(a, x) == weight(b, x))
        self.extensional = axiom(
            f"Z[{name}]: equal weights, equal Z-sets", z3.ForAll([a, b], z3.Implies(same, a == b))
        )
        self.joined = self.lists.weight_of_joined()
        self.negated = self.lists.weight_of_minus()
        self.outside = self.lists.weight_outside()
        self.has_joined = self.lists.has_joined()
        self.functions = FunctionSpace(f"weights on {name}", self.row, INT)
        self._define_group()
        self.restricted = self._define_restriction()

    def _define_group(self) -> None:
        lists, entries, zset = self.lists, self.entries, self.zset
        self.zero = define("0", [], self.sort, lambda: zset(lists.none))
        self.add = define(
            "+",
            [self.sort, self.sort],
            self.sort,
            lambda a, b: zset(lists.join(entries(a), entries(b))),
        )
        self.neg = define("-", [self.sort], self.sort, lambda a: zset(lists.minus(entries(a))))
        a, b, x, weight = self.a, self.b, self.x, self.weight
        known = (*weight.equations, self.presented)
        self.weights = (
            self._law("weight(0, x) = 0", [x], weight(self.zero(), x), ZERO, known, self.zero),
            self._law(
                "weight(a + b, x) = weight(a, x) + weight(b, x)",
                [a, b, x],
                weight(self.add(a, b), x),
                weight(a, x) + weight(b, x),
                (*known, self.joined),
                self.add,
            ),
            self._law(
                "weight(-a, x) = -weight(a, x)",
                [a, x],
                weight(self.neg(a), x),
                -weight(a, x),
                (*known, self.negated),
                self.neg,
            ),
        )
        self.group = Group(self.sort, self.add, self.neg, self.zero(), self._laws())

    def _law(
        self,
        name: str,
        variables: Sequence[Term],
        left: Term,
        right: Term,
        known: Sequence[Thm],
        definition: Definition,
    ) -> Thm:
        by = [*known, *definition.equations, *self.lists.W.equations]
        return prove_for_all(name, variables, left == right, by, patterns=[left])

    def _laws(self) -> Thm:
        """Z[A] is an abelian group, because the integers are one, row by row."""
        a, b, c = z3.Consts("a b c", self.sort)
        add, neg, zero = self.add, self.neg, self.zero()
        laws = group_laws(self.sort, add, neg, zero)
        proofs = [
            self.equal(
                "(a + b) + c = a + (b + c)", add(add(a, b), c), add(a, add(b, c)), [a, b, c]
            ),
            self.equal("a + b = b + a", add(a, b), add(b, a), [a, b]),
            self.equal("a + 0 = a", add(a, zero), a, [a]),
            self.equal("a + -a = 0", add(a, neg(a)), zero, [a]),
        ]
        stated = [prove(p.name, law, [p]) for p, law in zip(proofs, laws, strict=True)]
        return both(f"Z[{self.name}] is an abelian group", *stated)

    def equal(
        self,
        name: str,
        left: Term,
        right: Term,
        variables: Sequence[Term] = (),
        by: Sequence[Thm] = (),
        given: Sequence[Term] = (),
    ) -> Thm:
        """∀ variables. given → left = right, because every row weighs the same in both."""
        x = z3.FreshConst(self.row, "row")
        goal = self.weight(left, x) == self.weight(right, x)
        everywhere = prove_for_all(f"{name}, at every row", [x], goal, [*self.weights, *by], given)
        known = [inst(self.extensional, left, right), everywhere]
        same = prove(name, left == right, known, given)
        return gen(same, *variables) if variables else same

    def _define_restriction(self) -> Thm:
        """∀ l h x. the entries `restrict(l, h)` weigh h(x) at the rows in l, and zero elsewhere.

        Going up the list, each row is given what its weight still lacks.
        """
        lists, at = self.lists, self.functions.at
        self.restrict = recursive(
            "restrict",
            lists.sort,
            [self.functions.sort],
            lists.sort,
            (
                lambda recur, h: lists.none,
                lambda recur, k, w, rest, h: lists.entry(
                    k, at(h, k) - lists.W(recur(rest, h), k), recur(rest, h)
                ),
            ),
        )
        h = z3.Const("h", self.functions.sort)

        def claim(entries: Term) -> Term:
            left = lists.W(self.restrict(entries, h), self.x)
            right = if_then(lists.has(entries, self.x), at(h, self.x))
            return z3.ForAll([h, self.x], left == right, patterns=[left])

        by = (*lists.W.equations, *lists.has.equations, *self.restrict.equations)
        return induct("W(restrict(l, h), x)", lists.sort, claim, by)

    def comprehension(
        self,
        name: str,
        sorts: Sequence[Sort],
        weight: Callable[..., Term],
        rows: Callable[..., Term],
        by: Sequence[Thm] = (),
    ) -> Definition:
        """The function F from parameters to Z-sets where row x weighs weight(x, parameters).

        The given weights must be zero outside the list rows(parameters): that is proved here,
        from `by`. The equation of the definition is the theorem about its weights.
        """
        h = self.functions.define(f"{name} weights", sorts, weight)
        F = define(name, sorts, self.sort, lambda *ps: self.zset(self.restrict(rows(*ps), h(*ps))))
        parameters = [z3.FreshConst(sort, "p") for sort in sorts]
        x = z3.FreshConst(self.row, "row")
        left, value = self.weight(F(*parameters), x), weight(x, *parameters)
        listed = rows(*parameters)
        inside = prove(
            f"{name}: no weight outside the rows",
            z3.Or(self.lists.has(listed, x), value == 0),
            by,
        )
        unfolded = [
            self.weight.unfold(F(*parameters), x),
            F.unfold(*parameters),
            inst(self.presented, self.restrict(listed, h(*parameters)), x),
            inst(self.restricted, listed, h(*parameters), x),
            h.unfold(x, *parameters),
        ]
        equation = prove(f"{name}: weights", left == value, [*unfolded, inside])
        return Definition(F.symbol, (gen(equation, x, *parameters, patterns=[left]),))

    def pointwise(
        self, name: str, weight: Callable[[Term, Term], Term], by: Sequence[Thm] = ()
    ) -> Definition:
        """a ↦ the Z-set that weighs weight(x, weight(a, x)) at row x; weight(x, 0) must be 0."""
        return self.comprehension(
            name,
            [self.sort],
            lambda x, a: weight(x, self.weight(a, x)),
            self.entries,
            [*by, self.no_weight_outside()],
        )

    def no_weight_outside(self) -> Thm:
        """∀ a x. a row in no entry of a weighs nothing in a."""
        a, x = self.a, self.x
        goal = z3.Or(self.lists.has(self.entries(a), x), self.weight(a, x) == 0)
        by = [inst(self.outside, self.entries(a), x), self.weight.unfold(a, x)]
        return prove_for_all("no weight outside the entries", [a, x], goal, by)


@cache
def any_zsets(name: str) -> ZSets:
    """The Z-sets over arbitrary rows."""
    return ZSets(name)


@cache
def streams_of(zsets: ZSets) -> Streams:
    """The streams of changes of these Z-sets."""
    return Streams(f"Z[{zsets.name}]", zsets.group)


def union_by_presence() -> Counterexample:
    """+ as a union of sets: max instead of the sum."""
    a, b = z3.Ints("a b")
    maximum = z3.If(a > b, a, b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        """The maximum of two bags: their sum less what they share."""
        bag, other = row(a, 7), row(b, 7)
        shared = Run(SetOperation("intersect_all"), ("k BIGINT", "k BIGINT")).over(bag, other)
        return (bag + other - shared) - other, bag

    name = "(a + b) - b = a, with + the maximum"
    return refute(name, maximum - b == a, [a >= 0, b >= 0], show=[a, b], replay=replay)


@theorem(
    statement="Z[A] is an abelian group: + is associative and commutes, a + 0 = a, a - a = 0",
    source="DBSP (VLDB 2023) section 4",
    lean="zset.zset_group",
    wrong=(union_by_presence,),
)
def zset_group() -> Thm:
    """Changes can be added in any order and taken back."""
    return any_zsets("A").group.laws
