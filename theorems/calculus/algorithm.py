"""Algorithm 4.6 is right for every circuit: what it makes of a circuit is that circuit's increment.

    den(inc(c)) = den(c)^Δ                                 for all circuits c
    I(den(inc(circuit(q)))(d))[t] = q(I(d)[t])             for all queries q, at every tick

`circuit` translates a query, node by node; rewrites that keep what a node computes may be applied
anywhere; `inc` makes the circuit incremental. What is assumed is only what the names of operators
stand for: linear and time-invariant ones, joins, and causal ones. That loops compute something,
and one thing, is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, reduce

import z3

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.query import table
from deltaproof.reference.stream import integrate, lift
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.feedback import loop_without_a_delay
from deltaproof.theorems.calculus.incremental import (
    difference_negated,
    units_of,
)
from deltaproof.theorems.calculus.streams import (
    differential_laws,
    differentiate_after_integrate,
    integrate_after_differentiate,
    present,
)
from deltaproof.theorems.calculus.wiring import Causality, Circuits, Loops, T, circuits, constructor
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Formula,
    Term,
    Thm,
    axiom,
    both,
    constructor_of,
    fresh_symbol,
    gen,
    induct,
    inst,
    parts,
    prove,
    prove_for_all,
    recursive,
    refute,
    subterms,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row

# ---------------------------------------------------------------- the algorithm


class Algorithm:
    """What the increment of each wiring is, and that `inc` puts it there."""

    def __init__(self, circuits: Circuits) -> None:
        self.it = circuits
        self.causality = Causality(circuits)
        self.loops = Loops(self.causality)

    @cached_property
    def rules(self) -> dict[str, Thm]:
        """For each constructor: the increment of what it makes, from those of its parts."""
        it, streams, nodes = self.it, self.it.streams, self.it.nodes
        f, g, k, b, q = it.f, it.g, nodes.k, nodes.b, nodes.q
        at, delta, sequence = it.operators.at, it.increment, it.sequence
        _, _, _, late, integral, difference = units_of(streams)
        inverse, back = (
            differentiate_after_integrate(streams),
            integrate_after_differentiate(streams),
        )
        additive, _ = parts(differential_laws(streams))
        linear, join = nodes.linear.increment(), nodes.join.increment()

        def equal(left: Term, right: Term, by: Callable[[Term], Sequence[Thm]]) -> Thm:
            """left^Δ = right, by facts for the stream of deltas."""
            return it.operators.equal(f"{left}^Δ = {right}", delta(left), right, by)

        def seen(d: Term) -> tuple[Term, Term]:
            return at(f, streams.I(d)), at(g, streams.I(d))

        def joined(d: Term) -> list[Thm]:
            changes = [streams.D(each) for each in seen(d)]
            return [inst(join, *changes), *[inst(back, each) for each in seen(d)]]

        after = sequence(delta(f), it.integrate)
        before = sequence(sequence(delta(g), it.integrate), it.delay)
        two_joins = it.plus(it.join(b, after, delta(g)), it.join(b, delta(f), before))
        changed = delta(it.query(q))
        recomputed = sequence(it.integrate, sequence(changed, it.differentiate))
        return {
            "wire": equal(it.identity, it.identity, lambda d: [inst(inverse, d)]),
            "delay": equal(it.delay, it.delay, lambda d: [inst(late, d)]),
            "integrate": equal(it.integrate, it.integrate, lambda d: [inst(integral, d)]),
            "differentiate": equal(
                it.differentiate, it.differentiate, lambda d: [inst(difference, d)]
            ),
            "linear": gen(equal(it.linear(k), it.linear(k), lambda d: [inst(linear, d)]), k),
            "change": gen(equal(changed, recomputed, lambda d: []), q),
            "negate": gen(
                equal(
                    it.negated(f),
                    it.negated(delta(f)),
                    lambda d: [inst(difference_negated(streams), seen(d)[0])],
                ),
                f,
            ),
            "sequence": gen(
                equal(
                    sequence(f, g),
                    sequence(delta(f), delta(g)),
                    lambda d: [inst(back, seen(d)[0])],
                ),
                f,
                g,
            ),
            "plus": gen(
                equal(
                    it.plus(f, g),
                    it.plus(delta(f), delta(g)),
                    lambda d: [inst(additive, *seen(d))],
                ),
                f,
                g,
            ),
            "join": gen(equal(it.join(b, f, g), two_joins, joined), b, f, g),
            "loop": self.loops.increment,
        }

    @cached_property
    def right(self) -> Thm:
        """∀ c. den(inc(c)) = den(c)^Δ."""
        it = self.it

        def facts(case: Case) -> list[Thm]:
            made = it.inc.unfold(case.term)
            known = [made, *it.meanings(case.term), *it.meanings(made.formula.arg(1))]
            inner = [each for each in case.arguments if each.sort() == it.sort]
            causal = [inst(self.causality.of_circuits, each) for each in inner]
            word = constructor(case)
            if word == "query":
                return known
            arguments = [it.meaning(each) for each in case.arguments]
            rule = self.rules[word]
            return [*known, *causal, inst(rule, *arguments) if arguments else rule]

        return induct(
            "the algorithm",
            it.sort,
            lambda c: it.den(it.inc(c)) == it.increment(it.den(c)),
            facts=facts,
        )

    @cached_property
    def increment(self) -> Thm:
        """∀ c d. den(inc(c))(d) = D(den(c)(I(d)))."""
        it, streams = self.it, self.it.streams
        c, d = it.c, streams.stream("d")
        at = it.operators.at
        known = [inst(self.right, c), it.increment.unfold(d, it.den(c))]
        goal = at(it.den(it.inc(c)), d) == streams.D(at(it.den(c), streams.I(d)))
        return prove_for_all("den(inc(c))(d) = D(den(c)(I(d)))", [c, d], goal, known)

    @cached_property
    def view(self) -> Thm:
        """∀ c d. I(den(inc(c))(d)) = den(c)(I(d))."""
        it, streams = self.it, self.it.streams
        c, d, at = it.c, streams.stream("d"), it.operators.at
        view = at(it.den(c), streams.I(d))
        known = [inst(self.increment, c, d), inst(integrate_after_differentiate(streams), view)]
        goal = streams.I(at(it.den(it.inc(c)), d)) == view
        return prove_for_all("I(den(inc(c))(d)) = den(c)(I(d))", [c, d], goal, known)


@cache
def algorithm() -> Algorithm:
    return Algorithm(circuits())


# ---------------------------------------------------------------- rewrites


class Rewrites:
    """A rewrite of one node that keeps its meaning, applied everywhere in a circuit."""

    def __init__(self, circuits: Circuits) -> None:
        it = self.it = circuits
        self.rewrite = fresh_symbol("rewrite", it.sort, it.sort)
        self.applies = fresh_symbol("applies", it.sort, z3.BoolSort())
        meaning = it.den(self.rewrite(it.c)) == it.den(it.c)
        self.sound = axiom("a rewrite keeps the meaning of a node", z3.ForAll([it.c], meaning))
        self.from_above = self._everywhere(
            "from above", lambda old, new: z3.If(self.applies(old), self.rewrite(old), new)
        )
        self.from_below = self._everywhere("from below", lambda old, new: self.rewrite(new))

    def _everywhere(self, name: str, node: Callable[[Term, Term], Term]) -> Definition:
        """node(circuit, the same of rewritten parts), for every circuit."""
        sort = self.it.sort

        def case(number: int) -> Callable[..., Term]:
            make = sort.constructor(number)

            def rewritten(recur: Callable[[Term], Term], *arguments: Term) -> Term:
                new = [recur(each) if each.sort() == sort else each for each in arguments]
                return node(make(*arguments), make(*new))

            return rewritten

        return recursive(name, sort, [], sort, [case(n) for n in range(sort.num_constructors())])

    def kept(self, everywhere: Definition) -> Thm:
        """∀ c. den(everywhere(c)) = den(c)."""
        it = self.it

        def facts(case: Case) -> list[Thm]:
            made = everywhere.unfold(case.term)
            circuits = [each for each in subterms(made.formula) if each.sort() == it.sort]
            old_and_new = [each for each in circuits if constructor_of(each) is not None]
            rewritten = [inst(self.sound, each) for each in old_and_new]
            return [made, *rewritten, *[it.den.unfold(each) for each in old_and_new]]

        name = f"rewriting {everywhere.symbol.name().split('!')[0]} keeps the meaning"
        claim = lambda c: it.den(everywhere(c)) == it.den(c)  # noqa: E731  # a formula
        return induct(name, it.sort, claim, facts=facts)


# ---------------------------------------------------------------- queries over tables


class Trees:
    """Queries over tables, what they mean, and the circuits that they are translated to.

    A node of a query is an operator on tables, applied at every tick: what is assumed here.
    """

    def __init__(self, circuits: Circuits) -> None:
        it = self.it = circuits
        nodes, value = it.nodes, it.streams.group.sort
        sorts = nodes.sort
        declared = z3.Datatype("Tree")
        declared.declare("table")
        declared.declare("selected", ("selection", sorts["linear"]), ("selected_of", declared))
        declared.declare("computed", ("computation", sorts["query"]), ("computed_of", declared))
        declared.declare("minus", ("minus_of", declared))
        declared.declare("union", ("one", declared), ("another", declared))
        declared.declare(
            "product", ("condition", sorts["join"]), ("outer", declared), ("inner_of", declared)
        )
        self.sort = declared.create()
        arity = {"linear": 1, "join": 2, "query": 1}
        self.of = {
            kind: fresh_symbol(f"{kind} on tables", sorts[kind], *[value] * n, value)
            for kind, n in arity.items()
        }
        self.lifted = [self._lifted(kind, n) for kind, n in arity.items()]
        self.rows = recursive("rows", self.sort, [value], value, self._meanings())
        self.circuit = recursive("circuit", self.sort, [], it.sort, self._circuits())

    def _lifted(self, kind: str, arity: int) -> Thm:
        """∀ k s … t. k(s, …)[t] = k(s[t], …)."""
        streams, name = self.it.streams, z3.Const("k", self.it.nodes.sort[kind])
        inputs = [streams.stream(f"s{place}") for place in range(arity)]
        at, now = streams.at, [streams.at(s, T) for s in inputs]
        left = at(self.it.nodes.of[kind](name, *inputs), T)
        formula = z3.ForAll([name, *inputs, T], left == self.of[kind](name, *now), patterns=[left])
        return axiom(f"every {kind} node of the query is lifted", formula)

    def _meanings(self) -> tuple[Callable[..., Term], ...]:
        of, group = self.of, self.it.streams.group
        return (
            lambda rows, x: x,
            lambda rows, k, q, x: of["linear"](k, rows(q, x)),
            lambda rows, f, q, x: of["query"](f, rows(q, x)),
            lambda rows, q, x: group.neg(rows(q, x)),
            lambda rows, q, p, x: group.add(rows(q, x), rows(p, x)),
            lambda rows, b, q, p, x: of["join"](b, rows(q, x), rows(p, x)),
        )

    def _circuits(self) -> tuple[Callable[..., Term], ...]:
        make = self.it.make
        return (
            lambda of: make("wire"),
            lambda of, k, q: make("sequence", of(q), make("linear", k)),
            lambda of, f, q: make("sequence", of(q), make("query", f)),
            lambda of, q: make("negate", of(q)),
            lambda of, q, p: make("plus", of(q), of(p)),
            lambda of, b, q, p: make("join", b, of(q), of(p)),
        )

    @cached_property
    def translated(self) -> Thm:
        """∀ q. ∀ s t. den(circuit(q))(s)[t] = rows(q, s[t])."""
        it, streams = self.it, self.it.streams
        s, at = it.s, streams.at

        def computed(q: Term) -> Term:
            return at(it.operators.at(it.den(self.circuit(q)), s), T)

        def claim(q: Term) -> Formula:
            left = computed(q)
            return z3.ForAll([s, T], left == self.rows(q, at(s, T)), patterns=[left])

        def step(case: Case) -> Thm:
            q, now = case.term, at(s, T)
            made = self.circuit.unfold(q)
            circuit = made.formula.arg(1)
            known = [
                made,
                self.rows.unfold(q, now),
                *it.meanings(circuit),
                *it.wiring(),
                *streams.add.equations,
                *streams.neg.equations,
                *self.lifted,
                *case.hypotheses,
            ]
            return gen(
                prove(case.name, computed(q) == self.rows(q, now), known),
                s,
                T,
                patterns=[computed(q)],
            )

        return induct("translated and lifted", self.sort, claim, step=step)


@cache
def trees() -> Trees:
    return Trees(circuits())


# ---------------------------------------------------------------- theorems

JOIN = Run(Join((("k", "j"),)), ("k BIGINT", "j BIGINT"))
DISTINCT = Run(Distinct(), ("k BIGINT",))
NEGATE = Run(Negate(), ("k BIGINT",))
ROW = 1  # the only row there is in the wrong variants: as if weights were tables


def wire_as_strict() -> Counterexample:
    """Streams that agree before tick 0, where there is nothing, and I of them at tick 0."""
    s0, r0 = z3.Ints("s0 r0")

    def replay(s0: int, r0: int) -> tuple[list[int], list[int]]:
        return integrate([s0]), integrate([r0])

    return refute("I(s)[0] = I(r)[0]", s0 == r0, show=[s0, r0], replay=replay)


@theorem(
    statement="a circuit of causal nodes over one group is causal: every loop has one solution",
    source="DBSP (VLDB 2023) proposition 2.9, lemma 2.10; section 2",
    lean="ckt_causal",
    wrong=(wire_as_strict, loop_without_a_delay),
)
def circuits_causal() -> Thm:
    """Nothing is assumed of loops: that they compute something, and one thing, is proved."""
    it, loops, causal = circuits(), algorithm().loops, algorithm().causality.of_circuits
    c, s, a = it.c, it.s, it.streams.stream("a")
    loop, inner = it.den(it.make("loop", c)), it.den(c)
    looped, known = it.den.unfold(it.make("loop", c)), inst(causal, c)
    solution = it.operators.at(loop, s)
    solves, unique = inst(loops.solves, inner, s), inst(loops.unique, inner, s, a)
    return both(
        "circuits and their loops",
        causal,
        prove_for_all(
            "a loop has a solution",
            [c, s],
            solution == loops.turn(inner, s, solution),
            [looped, known, solves],
        ),
        prove_for_all(
            "a loop has one solution",
            [c, s, a],
            a == solution,
            [looped, known, unique],
            given=[a == loops.turn(inner, s, a)],
        ),
    )


def join_rule_without_the_delay() -> Counterexample:
    """inc(join) = I(da) × db + da × I(db): rows that are new on both sides meet twice."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == (a + da) * db + da * (b + db)

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        change = JOIN.change([row(a, ROW), row(b, ROW)], [row(da, ROW), row(db, ROW)])
        left, right = (row(a + da, ROW), row(db, ROW)), (row(da, ROW), row(b + db, ROW))
        return change, JOIN.over(*left) + JOIN.over(*right)

    name = "inc(join) without z: D(I(da) × I(db)) = I(da) × db + da × I(db)"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


def query_rule_of_linear_nodes() -> Counterexample:
    """inc(query q) = query q: distinct as if it were linear."""
    a, d = z3.Ints("a d")
    claim = present(a + d) - present(a) == present(d)

    def replay(a: int, d: int) -> tuple[ZSet, ZSet]:
        return DISTINCT.change([row(a, ROW)], [row(d, ROW)]), DISTINCT.over(row(d, ROW))

    name = "inc(distinct) = distinct: D(distinct(I(d))) = distinct(d)"
    return refute(name, claim, show=[a, d], replay=replay)


@theorem(
    statement="den(inc(c)) = D den(c) I, c over one group of LTI, bilinear TI, causal nodes, loops",
    source="DBSP (VLDB 2023) algorithm 4.6, step 5",
    lean="incrementalize_ok",
    wrong=(join_rule_without_the_delay, query_rule_of_linear_nodes),
)
def circuits_incremental() -> Thm:
    """The algorithm is right, by structural induction: its rules are theorems of chapter 3."""
    return both("the algorithm", algorithm().right, algorithm().increment)


def last_change_for_the_view() -> Counterexample:
    """What the incremental circuit puts out, for what the circuit does."""
    a, d = z3.Ints("a d")
    claim = present(a + d) - present(a) == present(a + d)

    def replay(a: int, d: int) -> tuple[ZSet, ZSet]:
        return DISTINCT.change([row(a, ROW)], [row(d, ROW)]), DISTINCT.over(row(a + d, ROW))

    name = "den(inc(c))(d) = den(c)(I(d)), with distinct for c"
    return refute(name, claim, show=[a, d], replay=replay)


@theorem(
    statement="I(den(inc(c))(d)) = den(c)(I(d)), such c over one group: changes add up to the view",
    source="DBSP (VLDB 2023) algorithm 4.6, proposition 3.2 (push/pull)",
    wrong=(last_change_for_the_view, join_rule_without_the_delay),
)
def circuits_batch() -> Thm:
    """The one claim: at every tick, whatever came, the view is the circuit of all input so far."""
    return algorithm().view


def join_as_its_own_increment() -> Counterexample:
    """A circuit without query nodes as its own increment: that is so if it has no join either."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == da * db

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        deltas = [row(da, ROW), row(db, ROW)]
        return JOIN.change([row(a, ROW), row(b, ROW)], deltas), JOIN.over(*deltas)

    name = "inc(join) = join: D(I(da) × I(db)) = da × db"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


@theorem(
    statement="c over one group: inc(c) has no query; not linear, no join runs as its increment",
    source="DBSP (VLDB 2023) algorithm 4.6",
    wrong=(join_as_its_own_increment, query_rule_of_linear_nodes),
)
def circuits_without_recomputation() -> Thm:
    """Only joins, and the code of increments, see whole tables in the incremental circuit."""
    it = circuits()

    def anywhere(recur: Callable[[Term], Term], *arguments: Term) -> Term:
        inside = [recur(each) for each in arguments if each.sort() == it.sort]
        return reduce(z3.Or, inside) if inside else z3.BoolVal(False)

    words = [it.sort.constructor(n).name() for n in range(it.sort.num_constructors())]
    query: Callable[..., Term] = lambda recur, q: z3.BoolVal(True)  # noqa: E731  # a case
    cases = [query if word == "query" else anywhere for word in words]
    recomputes = recursive("recomputes", it.sort, [], z3.BoolSort(), cases)

    def facts(case: Case) -> list[Thm]:
        made = it.inc.unfold(case.term)
        inside = [each for each in subterms(made.formula.arg(1)) if each.sort() == it.sort]
        return [made, *[recomputes.unfold(c) for c in inside if constructor_of(c) is not None]]

    claim = lambda c: z3.Not(recomputes(it.inc(c)))  # noqa: E731  # a formula
    return induct("nothing is recomputed", it.sort, claim, facts=facts)


def distinct_moved_over_negate() -> Counterexample:
    a = z3.Int("a")

    def replay(a: int) -> tuple[ZSet, ZSet]:
        return DISTINCT.over(NEGATE.over(row(a, ROW))), NEGATE.over(DISTINCT.over(row(a, ROW)))

    claim = present(-a) == -present(a)
    return refute("distinct(-a) = -distinct(a)", claim, show=[a], replay=replay)


@theorem(
    statement="rewriting nodes all over a circuit, one group, keeps den(c), if each rewrite does",
    source="DBSP (VLDB 2023) algorithm 4.6, step 2: eliminating distinct, applied recursively",
    lean="recursive_opt_ok",
    wrong=(distinct_moved_over_negate,),
)
def circuits_rewritten() -> Thm:
    """From above, where a rewrite applies, or from below; also inside loops."""
    rewrites = Rewrites(circuits())
    passes = (rewrites.from_above, rewrites.from_below)
    return both("rewrites", *[rewrites.kept(each) for each in passes])


def lifted_in_the_other_order() -> Counterexample:
    """↑(f ∘ g) = ↑g ∘ ↑f."""
    s0 = z3.Int("s0")

    def replay(s0: int) -> tuple[list[int], list[int]]:
        grown, squared = lift(lambda x: x + 1), lift(lambda x: x * x)
        return lift(lambda x: (x + 1) * (x + 1))([s0]), grown(squared([s0]))

    claim = (s0 + 1) * (s0 + 1) == s0 * s0 + 1
    return refute("↑(f ∘ g) = ↑g ∘ ↑f, with x * x and x + 1", claim, show=[s0], replay=replay)


@theorem(
    statement="den(circuit(q))(s)[t] = q(s[t]): a tree of lifted operators is the lifted tree",
    source="DBSP (VLDB 2023) algorithm 4.6, steps 1, 3 and 4; proposition 2.4",
    lean="lifting_comp",
    wrong=(lifted_in_the_other_order,),
)
def algorithm_lifts() -> Thm:
    """The lifting of a tree of operators is the tree of lifted operators, for every tree."""
    return trees().translated


def view_of_the_tick_before() -> Counterexample:
    """A view that is one tick late, as if the circuit had a delay in it."""
    a, d = z3.Ints("a d")

    def replay(a: int, d: int) -> tuple[ZSet, ZSet]:
        query = table("t", "k BIGINT").distinct()
        circuit = Circuit(query)
        for delta in (a, d):
            circuit.step({"t": row(delta, ROW)})
        return circuit.contents()["view"], query.meaning()({"t": row(a, ROW)})

    claim = present(a + d) == present(a)
    name = "I(den(inc(circuit(q)))(d))[1] = q(I(d)[0]), with distinct for q"
    return refute(name, claim, show=[a, d], replay=replay)


@theorem(
    statement="I(den(inc(circuit(q)))(d))[t] = q(I(d)[t]), q of lifted linear, join, query nodes",
    source="DBSP (VLDB 2023) algorithm 4.6, all steps",
    wrong=(view_of_the_tick_before, last_change_for_the_view),
)
def algorithm_views() -> Thm:
    """At every tick the changes that were put out add up to the query of the table as it is."""
    it, streams = circuits(), circuits().streams
    q, d = z3.Const("query", trees().sort), streams.stream("d")
    circuit, table, t = trees().circuit(q), streams.I(d), algorithm().causality.t
    view = streams.I(it.operators.at(it.den(it.inc(circuit)), d))
    goal = streams.at(view, t) == trees().rows(q, streams.at(table, t))
    known = [
        inst(algorithm().view, circuit, d),
        inst(inst(trees().translated, q), table, t),
    ]
    return prove_for_all("incremental views", [q, d, t], goal, known)
