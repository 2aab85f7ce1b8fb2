"""Removing distincts ends in one plan, in any order, and every plan on the way means the same.

    filter(p, distinct(t))                → distinct(filter(p, t))            4.4
    join(c, distinct(t), distinct(u))     → distinct(join(c, t, u))           4.4
    distinct(Q(distinct(t)))              → distinct(Q(t))                    4.5, Q one operator
    distinct(… Q(… R(distinct(t)) …) …)   → distinct(… Q(… R(t) …) …)         4.5*, any chain

With 4.4 and 4.5 alone the order does matter: a distinct that has moved or gone leaves the ones
below it out of the reach of 4.5, which looks over one operator. With 4.5* in the place of 4.5 the
order does not matter, and 4.5* is 4.5 at every operator of the chain: below, all are bags.

A plan is a tree of these operators over inputs that are bags; differences of tables are inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from time import perf_counter

import z3

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    ProofError,
    Symbol,
    Term,
    Thm,
    axiom,
    both,
    fresh_sort,
    fresh_symbol,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.tables.positive_sums import distinct_once_map, once_before_the_projection
from deltaproof.theorems.tables.relations import (
    distinct_commutes,
    distinct_once,
    positive_preserved,
    product_of_debts,
)

BOOL = z3.BoolSort()
INSIDE = {"filter": "in filter", "map": "in map", "join": "in join", "plus": "in +"}
Relation = Callable[[Term, Term], Formula]


class Plans:
    """Trees of distinct, filter, map, join and +, with any predicates, functions and conditions."""

    def __init__(self) -> None:
        self.label = fresh_sort("labels")
        declared = z3.Datatype("plans")  # "distinct" alone is a word of SMT-LIB
        declared.declare("input plan", ("input label", self.label))
        declared.declare("distinct plan", ("distinct of", declared))
        declared.declare("filter plan", ("filter label", self.label), ("filter of", declared))
        declared.declare("map plan", ("map label", self.label), ("map of", declared))
        declared.declare(
            "join plan",
            ("join label", self.label),
            ("join left", declared),
            ("join right", declared),
        )
        declared.declare("plus plan", ("plus left", declared), ("plus right", declared))
        self.sort = declared.create()
        self.input, self.distinct, self.filter, self.map, self.join, self.plus = (
            self.sort.constructor(number) for number in range(6)
        )
        self.is_distinct, self.below = self.sort.recognizer(1), self.sort.accessor(1, 0)
        self.t, self.u, self.v, self.w = z3.Consts("t u v w", self.sort)
        self.tag = z3.Const("tag", self.label)
        self.bare = recursive("bare", self.sort, [], self.sort, self._bare())
        self.normal = recursive("normal", self.sort, [], self.sort, self._normal())
        self.size = recursive("size", self.sort, [], z3.IntSort(), self._size())

    def _bare(self) -> Sequence[Callable[..., Term]]:
        """bare(t): t without any distinct."""
        return (
            lambda recur, tag: self.input(tag),
            lambda recur, t: recur(t),
            lambda recur, tag, t: self.filter(tag, recur(t)),
            lambda recur, tag, t: self.map(tag, recur(t)),
            lambda recur, tag, t, u: self.join(tag, recur(t), recur(u)),
            lambda recur, t, u: self.plus(recur(t), recur(u)),
        )

    def _normal(self) -> Sequence[Callable[..., Term]]:
        """normal(t): nothing below a distinct, and distinct above filters and joins of sets."""

        def filtered(recur: Callable[[Term], Term], tag: Term, t: Term) -> Term:
            n = recur(t)
            lifted = self.distinct(self.filter(tag, self.below(n)))
            return z3.If(self.is_distinct(n), lifted, self.filter(tag, n))

        def joined(recur: Callable[[Term], Term], tag: Term, t: Term, u: Term) -> Term:
            n, m = recur(t), recur(u)
            lifted = self.distinct(self.join(tag, self.below(n), self.below(m)))
            sets = z3.And(self.is_distinct(n), self.is_distinct(m))
            return z3.If(sets, lifted, self.join(tag, n, m))

        return (
            lambda recur, tag: self.input(tag),
            lambda recur, t: self.distinct(self.bare(t)),
            filtered,
            lambda recur, tag, t: self.map(tag, recur(t)),
            joined,
            lambda recur, t, u: self.plus(recur(t), recur(u)),
        )

    def _size(self) -> Sequence[Callable[..., Term]]:
        """size(t): an operator doubles what a distinct below it adds."""
        return (
            lambda recur, tag: z3.IntVal(1),
            lambda recur, t: recur(t) + 1,
            lambda recur, tag, t: 2 * recur(t),
            lambda recur, tag, t: 2 * recur(t),
            lambda recur, tag, t, u: 2 * (recur(t) + recur(u)),
            lambda recur, t, u: recur(t) + recur(u),
        )

    def equations(self) -> list[Thm]:
        return [*self.bare.equations, *self.normal.equations]

    def under_operators(self, related: Relation) -> dict[str, Formula]:
        """Related plans are related below every operator; and so is a plan with itself."""
        t, u, v, w, tag = self.t, self.u, self.v, self.w, self.tag
        operators = {
            "in distinct": (self.distinct, (), [(t, u)]),
            "in filter": (self.filter, (tag,), [(t, u)]),
            "in map": (self.map, (tag,), [(t, u)]),
            "in join": (self.join, (tag,), [(t, u), (v, w)]),
            "in +": (self.plus, (), [(t, u), (v, w)]),
        }
        two_steps = z3.Implies(z3.And(related(t, u), related(u, v)), related(t, v))
        rules = {
            "t → t": z3.ForAll([t], related(t, t)),
            "t → u → v": z3.ForAll([t, u, v], two_steps),
        }
        for name, (operator, tags, sides) in operators.items():
            given = z3.And(*[related(*side) for side in sides])
            before, after = (operator(*tags, *each) for each in zip(*sides, strict=True))
            free = [*tags, *[plan for side in sides for plan in side]]
            rules[name] = z3.ForAll(free, z3.Implies(given, related(before, after)))
        return rules

    def rules(self, becomes: Relation, below: Relation) -> dict[str, Formula]:
        """What 4.4 and 4.5* say of "becomes", and of "becomes, below a distinct"."""
        t, u, tag = self.t, self.u, self.tag
        distinct, filter_, join = self.distinct, self.filter, self.join
        above_filter = becomes(filter_(tag, distinct(t)), distinct(filter_(tag, t)))
        above_join = becomes(join(tag, distinct(t), distinct(u)), distinct(join(tag, t, u)))
        once = z3.Implies(below(t, u), becomes(distinct(t), distinct(u)))
        return {
            **self.under_operators(becomes),
            **{f"{name}, below": each for name, each in self.under_operators(below).items()},
            "4.4, filter": z3.ForAll([tag, t], above_filter),
            "4.4, join": z3.ForAll([tag, t, u], above_join),
            "4.5*": z3.ForAll([t, u], once),
            "4.5*, below": z3.ForAll([t], below(distinct(t), t)),
        }


@dataclass(frozen=True, eq=False)
class Rewriting:
    """t →* u: u is made of t by the rules, any number of times, anywhere in t."""

    plans: Plans
    becomes: Symbol
    below: Symbol

    @cached_property
    def closed(self) -> dict[str, Thm]:
        """The rules hold of →*, and of →* below a distinct: each rule as a theorem."""
        rules = self.plans.rules(self.becomes, self.below)
        all_rules = axiom("→* is closed under 4.4 and 4.5*", z3.And(*rules.values()))
        return {name: prove(name, formula, [all_rules]) for name, formula in rules.items()}

    def rule(self, name: str, *terms: Term) -> Thm:
        """One rule for these plans."""
        return inst(self.closed[name], *terms)

    def least(self, name: str, kept: Relation, below: Relation, by: Sequence[Thm]) -> Thm:
        """∀ t u. t →* u → kept(t, u), because the rules hold of "kept" and "below" too."""
        plans = self.plans
        t, u = plans.t, plans.u
        proofs = [
            prove(f"{name}: {rule}", formula, by)
            for rule, formula in plans.rules(kept, below).items()
        ]
        conclusion = z3.ForAll([t, u], z3.Implies(self.becomes(t, u), kept(t, u)))
        rules = z3.And(*[each.formula for each in proofs])
        least = axiom("→* is the least relation with the rules", z3.Implies(rules, conclusion))
        return prove(name, conclusion, [least, *proofs])


@cache
def rewriting() -> Rewriting:
    plans = Plans()
    sort = plans.sort
    return Rewriting(
        plans, fresh_symbol("becomes", sort, sort, BOOL), fresh_symbol("below", sort, sort, BOOL)
    )


# ---------------------------------------------------------------- one normal form


def operator_of(plan: Term) -> str:
    """The operator at the root: "filter", say."""
    return str(plan.decl().name()).removesuffix(" plan")


def reaches_bare(it: Rewriting) -> Thm:
    """∀ t. below a distinct, t →* bare(t): every distinct may go."""
    plans, bare = it.plans, it.plans.bare

    def facts(case: Case) -> list[Thm]:
        """The rule for the operator, from its inputs to those without a distinct."""
        operator, t = operator_of(case.term), case.arguments[-1]
        known = [bare.unfold(case.term)]
        if operator == "input":
            return [*known, it.rule("t → t, below", case.term)]
        if operator == "distinct":
            through = it.rule("t → u → v, below", case.term, t, bare(t))
            return [*known, it.rule("4.5*, below", t), through]
        inputs = [each for each in case.arguments if each.sort() == plans.sort]
        labels = [each for each in case.arguments if each.sort() == plans.label]
        pairs = [side for each in inputs for side in (each, bare(each))]
        return [*known, it.rule(f"{INSIDE[operator]}, below", *labels, *pairs)]

    name = "t →* bare(t), below a distinct"
    return induct(name, plans.sort, lambda t: it.below(t, bare(t)), (), facts)


def reaches_normal(it: Rewriting) -> Thm:
    """∀ t. t →* normal(t)."""
    plans, normal, without = it.plans, it.plans.normal, reaches_bare(it)

    def lifted(case: Case, rule: str, *labels_and_sets: Term) -> list[Thm]:
        """4.4 for inputs that are sets, and the two steps as one."""
        raised = it.rule(rule, *labels_and_sets)
        return [raised, it.rule("t → u → v", case.term, *raised.formula.children())]

    def facts(case: Case) -> list[Thm]:
        operator = operator_of(case.term)
        known = [normal.unfold(case.term)]
        if operator == "input":
            return [*known, it.rule("t → t", case.term)]
        if operator == "distinct":
            (t,) = case.arguments
            return [*known, inst(without, t), it.rule("4.5*", t, plans.bare(t))]
        inputs = [each for each in case.arguments if each.sort() == plans.sort]
        labels = [each for each in case.arguments if each.sort() == plans.label]
        pairs = [side for each in inputs for side in (each, normal(each))]
        sets = [plans.below(normal(each)) for each in inputs]
        match operator:
            case "filter":
                known += lifted(case, "4.4, filter", *labels, *sets)
            case "join":
                known += lifted(case, "4.4, join", *labels, *sets)
        return [*known, it.rule(INSIDE[operator], *labels, *pairs)]

    return induct("t →* normal(t)", plans.sort, lambda t: it.becomes(t, normal(t)), (), facts)


def same_normal(it: Rewriting) -> Thm:
    """∀ t u. t →* u → normal(t) = normal(u)."""
    plans = it.plans

    def kept(t: Term, u: Term) -> Formula:
        return z3.And(plans.normal(t) == plans.normal(u), plans.bare(t) == plans.bare(u))

    def below(t: Term, u: Term) -> Formula:
        return plans.bare(t) == plans.bare(u)

    return it.least("the rules keep the normal form", kept, below, plans.equations())


def smaller(it: Rewriting) -> Thm:
    """∀ t u. t →* u → u = t, or size(u) < size(t); and size(t) > 0: so it ends."""
    plans, size = it.plans, it.plans.size

    def shrinks(t: Term, u: Term) -> Formula:
        return z3.Or(t == u, size(u) < size(t))

    positive = induct("size(t) > 0", plans.sort, lambda t: size(t) > 0, size.equations)
    down = it.least("the rules make plans smaller", shrinks, shrinks, size.equations)
    return both("it ends", down, positive)


# ---------------------------------------------------------------- one meaning


class Meaning:
    """What plans mean, for any operators that have the properties of 4.4 and 4.5."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self.bag = bag = fresh_sort("bags")
        label = plans.label
        self.table = fresh_symbol("table", label, bag)
        self.distinct = fresh_symbol("distinct", bag, bag)
        self.filter = fresh_symbol("filter", label, bag, bag)
        self.map = fresh_symbol("map", label, bag, bag)
        self.join = fresh_symbol("join", label, bag, bag, bag)
        self.plus = fresh_symbol("plus", bag, bag, bag)
        self.of = recursive(
            "meaning",
            plans.sort,
            [],
            bag,
            (
                lambda recur, tag: self.table(tag),
                lambda recur, t: self.distinct(recur(t)),
                lambda recur, tag, t: self.filter(tag, recur(t)),
                lambda recur, tag, t: self.map(tag, recur(t)),
                lambda recur, tag, t, u: self.join(tag, recur(t), recur(u)),
                lambda recur, t, u: self.plus(recur(t), recur(u)),
            ),
        )
        self.commutes, self.once = self._commutes(), self._once()

    def _commutes(self) -> Thm:
        """Q(distinct(a)) = distinct(Q(a)), for filters and joins; distinct is idempotent."""
        a, b = z3.Consts("a b", self.bag)
        tag, d = self.plans.tag, self.distinct
        filters, joins = self.filter, self.join
        laws = (
            z3.ForAll([a], d(d(a)) == d(a)),
            z3.ForAll([tag, a], filters(tag, d(a)) == d(filters(tag, a))),
            z3.ForAll([tag, a, b], joins(tag, d(a), d(b)) == d(joins(tag, a, b))),
        )
        return axiom("proposition 4.4 holds of the operators", z3.And(*laws))

    def _once(self) -> Thm:
        """distinct(Q(distinct(a))) = distinct(Q(a)), for every operator."""
        a, b = z3.Consts("a b", self.bag)
        tag, d = self.plans.tag, self.distinct
        laws = (
            z3.ForAll([tag, a], d(self.filter(tag, d(a))) == d(self.filter(tag, a))),
            z3.ForAll([tag, a], d(self.map(tag, d(a))) == d(self.map(tag, a))),
            z3.ForAll([tag, a, b], d(self.join(tag, d(a), d(b))) == d(self.join(tag, a, b))),
            z3.ForAll([a, b], d(self.plus(d(a), d(b))) == d(self.plus(a, b))),
        )
        return axiom("proposition 4.5 holds of the operators", z3.And(*laws))

    def same_set(self, of: Symbol, *labels: Term) -> Thm:
        """The rows of Q(a, …) depend on the rows of a, … only: 4.5, twice."""
        name, d, arity = str(of.name()), self.distinct, of.arity() - len(labels)
        inputs = [z3.FreshConst(self.bag, "a") for _ in range(arity)]
        others = [z3.FreshConst(self.bag, "b") for _ in range(arity)]
        one, other = of(*labels, *inputs), of(*labels, *others)
        sets = [d(each) for each in inputs], [d(each) for each in others]
        known = [
            prove(
                f"{name}: 4.5",
                d(of(*labels, *each)) == d(of(*labels, *rows)),
                [self.once],
            )
            for each, rows in zip(sets, (inputs, others), strict=True)
        ]
        given = [d(each) == d(rows) for each, rows in zip(inputs, others, strict=True)]
        return prove_for_all(
            f"{name}: the same rows in, the same rows out",
            [*labels, *inputs, *others],
            d(one) == d(other),
            known,
            given,
            patterns=[z3.MultiPattern(d(one), d(other))],
        )

    def kept(self, it: Rewriting) -> Thm:
        """∀ t u. t →* u → meaning(t) = meaning(u)."""
        d, of, tag = self.distinct, self.of, self.plans.tag
        labelled = [self.same_set(each, tag) for each in (self.filter, self.map, self.join)]
        known = [*of.equations, self.commutes, *labelled, self.same_set(self.plus)]
        return it.least(
            "the rules keep the meaning",
            lambda t, u: of(t) == of(u),
            lambda t, u: d(of(t)) == d(of(u)),
            known,
        )


# ---------------------------------------------------------------- the rules as printed


@dataclass(frozen=True)
class Tree:
    """A plan to run: an operator and its inputs, or the input x."""

    operator: str
    inputs: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        below = ", ".join(map(str, self.inputs))
        return f"{self.operator}({below})" if below else self.operator


INPUT = Tree("x")


def plan(*operators: str) -> Tree:
    """One operator over the other, from the outside in, over x.

    >>> print(plan("distinct", "map"))
    distinct(map(x))
    """
    tree = INPUT
    for operator in reversed(operators):
        tree = Tree(operator, (tree,))
    return tree


def trees(size: int) -> Iterator[Tree]:
    """All plans of this many nodes, over one input.

    >>> [str(tree) for tree in trees(2)]
    ['distinct(x)', 'filter(x)', 'map(x)']
    """
    if size == 1:
        yield INPUT
        return
    for operator in ("distinct", "filter", "map"):
        yield from (Tree(operator, (below,)) for below in trees(size - 1))
    for left in range(1, size - 1):
        for sides in product(trees(left), trees(size - 1 - left)):
            yield from (Tree(operator, sides) for operator in ("join", "+"))


def printed_rules(tree: Tree) -> Iterator[Tree]:
    """What 4.4, 4.5 and idempotence make of a plan at its root, in one step.

    >>> [str(tree) for tree in printed_rules(plan("distinct", "map", "distinct"))]
    ['distinct(map(x))']
    """
    match tree:
        case Tree("filter", (Tree("distinct", below),)):
            yield Tree("distinct", (Tree("filter", below),))
        case Tree("join", (Tree("distinct", left), Tree("distinct", right))):
            yield Tree("distinct", (Tree("join", left + right),))
        case Tree("distinct", (Tree("distinct", below),)):
            yield Tree("distinct", below)
        case Tree("distinct", (Tree(operator, inputs),)):
            for place, each in enumerate(inputs):
                if each.operator == "distinct":
                    bare = (*inputs[:place], *each.inputs, *inputs[place + 1 :])
                    yield Tree("distinct", (Tree(operator, bare),))


def steps(tree: Tree) -> Iterator[Tree]:
    """What the printed rules make of a plan anywhere in it, in one step."""
    yield from printed_rules(tree)
    for place, below in enumerate(tree.inputs):
        for other in steps(below):
            yield Tree(tree.operator, (*tree.inputs[:place], other, *tree.inputs[place + 1 :]))


@cache
def normal_forms(tree: Tree) -> frozenset[Tree]:
    """Where the printed rules may end.

    >>> [str(tree) for tree in normal_forms(plan("filter", "distinct"))]
    ['distinct(filter(x))']
    """
    further = [normal_forms(each) for each in steps(tree)]
    return frozenset[Tree]().union(*further) if further else frozenset({tree})


# ---------------------------------------------------------------- theorems

COLUMNS = "k BIGINT, v BIGINT"
OPERATORS: dict[str, Operator] = {
    "distinct": Distinct(),
    "filter": Filter(col("k") > 0),
    "map": Map((("k", col("k")), ("v", lit(0)))),
}


def run(tree: Tree, table: ZSet) -> tuple[ZSet, int]:
    """What the plan puts out for this table, and how many weights its distincts remember then.

    >>> run(plan("distinct", "map"), ZSet({(7, 1): 1, (7, 2): 1}))
    (ZSet({(7, 0): 1}), 1)
    """
    if tree == INPUT:
        return table, 0
    before, remembered = run(tree.inputs[0], table)
    increment = OPERATORS[tree.operator].increment(Schema.parse(COLUMNS))
    output = increment.step(before)
    increment.commit()
    return output, remembered + len(increment.save() or ())


def rules_as_printed() -> Counterexample:
    """4.4 and 4.5 without chains: the smallest plan of all that has two normal forms.

    The two mean the same, on the reference's operators, and one of them remembers more.
    """
    started = perf_counter()
    plans = (tree for size in range(1, 7) for tree in trees(size))
    found = next(tree for tree in plans if len(normal_forms(tree)) > 1)
    one, other = sorted(normal_forms(found), key=str)
    ms = (perf_counter() - started) * 1000
    table = ZSet({(7, 1): 2, (7, 2): 1, (-7, 1): 1})
    (left, much), (right, little), (whole, _) = (run(tree, table) for tree in (one, other, found))
    if not left == right == whole:
        raise ProofError(f"{found}: the normal forms {one} and {other} differ on {table!r}")
    if much == little:
        raise ProofError(f"{found}: {one} and {other} both remember {much} weights")
    values = (("plan", str(found)), ("one end", str(one)), ("another", str(other)))
    replay = f"the reference: both put out {left!r}, remembering {much} and {little} weights"
    return Counterexample("4.4 and 4.5 as printed end in one plan", values, ms, replay)


@theorem(
    statement="->*, the least relation closed under 4.4 and 4.5*, is confluent, and it ends",
    source="beyond the paper: DBSP (VLDB 2023) algorithm 4.6, footnote, with 4.5 for whole chains",
    wrong=(rules_as_printed,),
)
def distinct_rewriting_confluent() -> Thm:
    """For plans of any size: what t becomes has the normal form of t, and becomes it.

    Every change makes a plan smaller, so rewriting ends, and it ends in the normal form.
    """
    it = rewriting()
    plans, becomes, normal = it.plans, it.becomes, it.plans.normal
    t, u, v, w = plans.t, plans.u, plans.v, plans.w
    reached, same = reaches_normal(it), same_normal(it)
    meets = z3.Exists([w], z3.And(becomes(u, w), becomes(v, w)))
    ends = [inst(reached, each) for each in (u, v)]
    confluent = prove_for_all(
        "what a plan becomes by two ways becomes one plan",
        [t, u, v],
        meets,
        [*ends, inst(same, t, u), inst(same, t, v)],
        [becomes(t, u), becomes(t, v)],
    )
    at_rest = z3.ForAll([w], z3.Implies(becomes(u, w), w == u), patterns=[becomes(u, w)])
    unique = prove_for_all(
        "a plan at rest is the normal form",
        [t, u],
        u == normal(t),
        [inst(reached, u), inst(same, t, u)],
        [becomes(t, u), at_rest],
    )
    return both("removing distincts is confluent", confluent, unique, reached, smaller(it))


@theorem(
    statement="t ->* u: t and u mean the same, if propositions 4.4 and 4.5 hold of the operators",
    source="DBSP (VLDB 2023) algorithm 4.6, step 2",
    wrong=(once_before_the_projection, product_of_debts),
)
def distinct_rewriting_sound() -> Thm:
    """For any operators that have 4.4 and 4.5 and keep bags; the last four say that ours do."""
    it = rewriting()
    meaning = Meaning(it.plans)
    ours = (distinct_commutes, distinct_once, distinct_once_map, positive_preserved)
    return both("rewriting keeps the meaning", meaning.kept(it), *[each() for each in ours])
