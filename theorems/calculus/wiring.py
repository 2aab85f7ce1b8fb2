"""Circuits as values, what they compute, and that every one of them is causal.

    wire, delay, integrate, differentiate     linear k     linear and time-invariant
    negate c, sequence c c, plus c c          join b c c   bilinear, time-invariant, causal
    loop c                                    query q      causal
                                              change q     D ∘ query q ∘ I: the code of an increment

A loop is a = c(s + z(a)). Nothing is assumed of loops: the loop of any operator at all is defined,
as the loop of its causal part, which is the operator itself when that is causal. Every circuit is
causal, by induction; so every loop in one has a solution, and only one.

All streams are over one group: several tables are one value, of which choosing one is linear, and
so is what puts a stream beside what comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property

import z3

from deltaproof.theorems.calculus.causality import (
    CAUSAL,
    Loop,
    Operator,
    agree_now,
    lifted_causal,
)
from deltaproof.theorems.calculus.cutting import cut, cut_agrees, cut_of_agreeing
from deltaproof.theorems.calculus.incremental import (
    Operators,
    causal_increment,
    causal_pointwise,
)
from deltaproof.theorems.calculus.linear import Linear
from deltaproof.theorems.calculus.linear_causality import causal_of_linear
from deltaproof.theorems.calculus.multilinear import Bilinear
from deltaproof.theorems.calculus.streams import (
    TICK,
    any_streams,
    differentiate_after_integrate,
    integral_laws,
    integrate_after_differentiate,
)
from deltaproof.theorems.kernel import (
    Case,
    Formula,
    Sort,
    Term,
    Thm,
    assume,
    axiom,
    constructor_of,
    define,
    discharge,
    fresh_sort,
    fresh_symbol,
    gen,
    induct,
    inst,
    parts,
    prove,
    prove_for_all,
    recursive,
    subterms,
    unfold,
)

T = z3.Const("t", TICK)


# ---------------------------------------------------------------- what nodes denote


class Nodes:
    """The operators that circuits are made of, each by a name. All that is assumed is its kind.

    A *linear* node is linear and time-invariant, a *join* bilinear, time-invariant and causal, a
    *query* causal. What is lifted is such a node: see `lifting_linear` and `lifting_causal`.
    """

    def __init__(self) -> None:
        self.streams = any_streams("A")
        S = self.streams.sort
        kinds = (("linear", 1), ("join", 2), ("query", 1))
        self.sort = {kind: fresh_sort(f"{kind} node") for kind, _ in kinds}
        self.of = {
            kind: fresh_symbol(kind, self.sort[kind], *[S] * arity, S) for kind, arity in kinds
        }
        self.k = z3.Const("k", self.sort["linear"])
        self.b = z3.Const("b", self.sort["join"])
        self.q = z3.Const("q", self.sort["query"])

    @cached_property
    def linear(self) -> Linear:
        """The linear node k."""
        streams, k, of = self.streams, self.k, self.of["linear"]
        s, r = streams.stream("s"), streams.stream("r")
        sums = of(k, streams.add(s, r)) == streams.add(of(k, s), of(k, r))
        delays = of(k, streams.z(s)) == streams.z(of(k, s))
        additive = axiom("every linear node is linear", _nested([k], [s, r], sums))
        late = axiom("every linear node is time-invariant", _nested([k], [s], delays))
        return Linear(
            "k", streams, streams, lambda one: of(k, one), inst(additive, k), inst(late, k)
        )

    @cached_property
    def join(self) -> Bilinear:
        """The join b."""
        streams, b, of, z = self.streams, self.b, self.of["join"], self.streams.z
        add, s, r, a = streams.add, *map(streams.stream, "sra")
        left = of(b, add(s, r), a) == add(of(b, s, a), of(b, r, a))
        right = of(b, a, add(s, r)) == add(of(b, a, s), of(b, a, r))
        late = of(b, z(s), z(r)) == z(of(b, s, r))
        laws = (
            axiom("every join node is linear on the left", _nested([b], [s, r, a], left)),
            axiom("every join node is linear on the right", _nested([b], [a, s, r], right)),
            axiom("every join node is time-invariant", _nested([b], [s, r], late)),
        )
        image = lambda one, other: of(b, one, other)  # noqa: E731  # of a Bilinear
        return Bilinear("b", streams, streams, streams, image, *[inst(law, b) for law in laws])

    @cached_property
    def join_causal(self) -> Thm:
        """∀ b s … t. the inputs agree up to t → b(s, …)[t] = b(r, …)[t]."""
        of, sort = self.of["join"], self.sort["join"]
        operator = Operator(
            "b", (self.streams,) * 2, self.streams, lambda s, r, b: of(b, s, r), (sort,)
        )
        return axiom("every join node is causal", operator.reads(CAUSAL))

    @cached_property
    def query_causal(self) -> Thm:
        """∀ q s r t. agree(t, s, r) → q(s)[t] = q(r)[t]."""
        of, sort = self.of["query"], self.sort["query"]
        operator = Operator("q", (self.streams,), self.streams, lambda s, q: of(q, s), (sort,))
        return axiom("every query node is causal", operator.reads(CAUSAL))


def _nested(outer: Sequence[Term], inner: Sequence[Term], body: Formula) -> Formula:
    """∀ outer. ∀ inner. body, so that the outer variables can be given alone."""
    return z3.ForAll(list(outer), z3.ForAll(list(inner), body))


# ---------------------------------------------------------------- circuits, and what they compute


def circuit_sort(nodes: dict[str, Sort]) -> Sort:
    """The datatype of circuits over these nodes."""
    declared = z3.Datatype("Circuit")
    for name in ("wire", "delay", "integrate", "differentiate"):
        declared.declare(name)
    declared.declare("linear", ("linear_node", nodes["linear"]))
    declared.declare("query", ("query_node", nodes["query"]))
    declared.declare("change", ("changed_node", nodes["query"]))
    declared.declare("negate", ("negated", declared))
    declared.declare("sequence", ("earlier", declared), ("later", declared))
    declared.declare("plus", ("summand", declared), ("other", declared))
    declared.declare("join", ("join_node", nodes["join"]), ("left", declared), ("right", declared))
    declared.declare("loop", ("inner", declared))
    return declared.create()


class Circuits:
    """The circuits, the operators they stand for (`den`), and the algorithm (`inc`)."""

    def __init__(self) -> None:
        nodes = self.nodes = Nodes()
        streams = self.streams = nodes.streams
        self.operators = Operators(streams, streams)
        self.sort = circuit_sort(nodes.sort)
        self.c = z3.Const("c", self.sort)
        self.f, self.g = z3.Consts("f g", self.operators.sort)
        self.s, self.r = streams.stream("s"), streams.stream("r")
        self._define_operators()
        self.den = recursive("den", self.sort, [], self.operators.sort, self._meanings())
        self.inc = recursive("inc", self.sort, [], self.sort, self._increments())

    def make(self, name: str, *arguments: Term) -> Term:
        """The circuit that this constructor makes."""
        return getattr(self.sort, name)(*arguments) if arguments else getattr(self.sort, name)

    def _define_operators(self) -> None:
        """What wiring makes of operators."""
        define, at, streams = self.operators.space.define, self.operators.at, self.streams
        operator, of, sort = self.operators.sort, self.nodes.of, self.nodes.sort
        self.wire = define("wire", [], lambda s: s)
        self.identity = self.wire()
        self.delay = define("delay", [], streams.z)()
        self.integrate = define("integrate", [], streams.I)()
        self.differentiate = define("differentiate", [], streams.D)()
        self.linear = define("linear", [sort["linear"]], lambda s, k: of["linear"](k, s))
        self.query = define("query", [sort["query"]], lambda s, q: of["query"](q, s))
        self.negated = define("negated", [operator], lambda s, f: streams.neg(at(f, s)))
        self.sequence = define("sequence", [operator] * 2, lambda s, f, g: at(g, at(f, s)))
        self.plus = define("plus", [operator] * 2, lambda s, f, g: streams.add(at(f, s), at(g, s)))
        self.join = define(
            "join",
            [sort["join"], operator, operator],
            lambda s, b, f, g: of["join"](b, at(f, s), at(g, s)),
        )
        self.increment = self.operators.increment
        self.causal_part = streams.space.define(
            "causal part",
            [operator, streams.sort],
            lambda t, f, s: streams.at(at(f, cut(streams, CAUSAL)(s, t)), t),
        )
        self.looped = self._loop()
        self.loop = define("loop", [operator], self.looped.operator.of)

    def _meanings(self) -> tuple[Callable[..., Term], ...]:
        """den, one case per constructor."""
        return (
            lambda den: self.identity,
            lambda den: self.delay,
            lambda den: self.integrate,
            lambda den: self.differentiate,
            lambda den, k: self.linear(k),
            lambda den, q: self.query(q),
            lambda den, q: self.increment(self.query(q)),
            lambda den, c: self.negated(den(c)),
            lambda den, c, e: self.sequence(den(c), den(e)),
            lambda den, c, e: self.plus(den(c), den(e)),
            lambda den, b, c, e: self.join(b, den(c), den(e)),
            lambda den, c: self.loop(den(c)),
        )

    def _increments(self) -> tuple[Callable[..., Term], ...]:
        """inc, one case per constructor: only queries, and joins, become something else."""
        make = self.make
        integrate, differentiate = make("integrate"), make("differentiate")

        def recomputed(inc: Callable[[Term], Term], q: Term) -> Term:
            return make("sequence", integrate, make("sequence", make("change", q), differentiate))

        def joined(inc: Callable[[Term], Term], b: Term, c: Term, e: Term) -> Term:
            """b(I(dc), de) + b(dc, z(I(de)))."""
            after = make("sequence", inc(c), integrate)
            before = make("sequence", make("sequence", inc(e), integrate), make("delay"))
            return make("plus", make("join", b, after, inc(e)), make("join", b, inc(c), before))

        return (
            lambda inc: make("wire"),
            lambda inc: make("delay"),
            lambda inc: integrate,
            lambda inc: differentiate,
            lambda inc, k: make("linear", k),
            lambda inc, q: make("change", q),
            recomputed,
            lambda inc, c: make("negate", inc(c)),
            lambda inc, c, e: make("sequence", inc(c), inc(e)),
            lambda inc, c, e: make("plus", inc(c), inc(e)),
            joined,
            lambda inc, c: make("loop", inc(c)),
        )

    def meaning(self, argument: Term) -> Term:
        """What an argument of a constructor stands for: the operator of a circuit, or a node."""
        return self.den(argument) if argument.sort() == self.sort else argument

    def wiring(self) -> list[Thm]:
        """What operators that are wired make of a stream: the definitions without loops."""
        named = (self.wire, self.linear, self.query, self.negated)
        wires = (*named, self.sequence, self.plus, self.join)
        return [equation for each in wires for equation in each.equations]

    def meanings(self, circuit: Term) -> list[Thm]:
        """The equations of `den` for a circuit and for the circuits that it is made of."""
        made = [each for each in subterms(circuit) if each.sort() == self.sort]
        return [self.den.unfold(each) for each in made if constructor_of(each) is not None]

    # ------------------------------------------------------------ loops exist

    def called(self, f: Term) -> Operator:
        """An operator that is a value, as a function."""
        return Operator(str(f), (self.streams,), self.streams, lambda s: self.operators.at(f, s))

    def _loop(self) -> Loop:
        """fix a. f'(s + z(a)) for any operator f at all, where f' is its causal part.

        At tick t the causal part of f is f of the input cut off after t. So it is causal, and
        it is f itself if f is causal.
        """
        streams, sort, part = self.streams, self.operators.sort, self.causal_part
        causal_part = Operator("part", (streams,), streams, lambda s, f: part(f, s), (sort,))

        def cut_off(case: Case) -> list[Thm]:
            f, s, r, _ = causal_part.variables
            return [
                part.unfold(case.term, f, s),
                part.unfold(case.term, f, r),
                inst(cut_of_agreeing(streams, CAUSAL), s, r, case.term),
            ]

        cut_off_is_causal = causal_part.proved(CAUSAL, cut_off)
        adding = Operator("+", (streams, streams), streams, streams.add)
        keeps = adding.agreeing(CAUSAL, lifted_causal(adding))
        body = Operator(
            "f(s + a)",
            (streams, streams),
            streams,
            lambda s, a, f: part(f, streams.add(s, a)),
            (sort,),
        )

        def facts(case: Case) -> list[Thm]:
            f, s, a, r, b, _ = body.variables
            return [
                inst(keeps, s, a, r, b, case.term),
                inst(cut_off_is_causal, f, streams.add(s, a), streams.add(r, b), case.term),
            ]

        return Loop("loop", body, body.proved(CAUSAL, facts))


@cache
def circuits() -> Circuits:
    return Circuits()


# ---------------------------------------------------------------- every circuit is causal


class Causality:
    """`holds(f)`: the operator f, which is a value, is causal; and what keeps that so."""

    def __init__(self, circuits: Circuits) -> None:
        self.it, self.streams = circuits, circuits.streams
        sort = circuits.operators.sort
        body = lambda f: circuits.called(f).reads(CAUSAL)  # noqa: E731  # a formula
        self.holds = define("causal", [sort], z3.BoolSort(), body)
        self.s, self.r, self.t = circuits.called(circuits.f).variables

    def supposed(self, f: Term) -> Thm:
        """causal(f) ⊢ ∀ s r t. agree(t, s, r) → f(s)[t] = f(r)[t]."""
        known = [self.holds.unfold(f), assume(self.holds(f))]
        return prove(f"{f} is causal", self.it.called(f).reads(CAUSAL), known)

    def same(self, f: Term) -> Thm:
        """causal(f) ⊢ agree(t, s, r) → f(s)[t] = f(r)[t]."""
        return inst(self.supposed(f), self.s, self.r, self.t)

    def kept(self, f: Term) -> Thm:
        """causal(f) ⊢ agree(t, s, r) → agree(t, f(s), f(r))."""
        keeps = self.it.called(f).agreeing(CAUSAL, self.supposed(f))
        return inst(keeps, self.s, self.r, self.t)

    def of(self, image: Term, known: Iterable[Thm], *inner: Term) -> Thm:
        """causal(image), if causal(f) for each inner f, from what is known of s, r and t."""
        operator, space = self.it.called(image), self.it.operators.space
        sides = [self.it.operators.at(image, each) for each in (self.s, self.r)]
        made = unfold([space], *sides)
        values = [self.streams.at(each.formula.arg(1), self.t) for each in made]
        by = [*known, *made, *unfold([self.streams.space], *values)]
        name = f"{image.decl().name().split('!')[0]} is causal"
        proved = gen(prove(name, operator.claim(CAUSAL)(self.t), by), self.s, self.r, self.t)
        proved = prove(name, self.holds(image), [self.holds.unfold(image), proved])
        for f in inner:
            proved = discharge(name, self.holds(f), proved)
        return gen(proved, *inner) if inner else proved

    @cached_property
    def increment(self) -> Thm:
        """∀ f. causal(f) → causal(f^Δ)."""
        f = self.it.f
        change = causal_increment(self.it.called(f), self.supposed(f))
        return self.of(self.it.increment(f), [inst(change, self.s, self.r, self.t)], f)

    @cached_property
    def rules(self) -> dict[str, Thm]:
        """For each constructor: what it makes is causal, if its parts are."""
        it, nodes, streams, s, r, t = self.it, self.it.nodes, self.streams, self.s, self.r, self.t
        f, g, k, b, q = it.f, it.g, nodes.k, nodes.b, nodes.q
        at, of = it.operators.at, self.of

        def on_streams(image: Term, function: Callable[[Term], Term]) -> Thm:
            reads = causal_pointwise(Operator(str(image), (streams,), streams, function))
            return of(image, [inst(reads, s, r, t)])

        query = of(it.query(q), [inst(nodes.query_causal, q, s, r, t)])
        linear = of(it.linear(k), [inst(causal_of_linear(nodes.linear), s, r, t)])
        inputs = [at(f, s), at(g, s), at(f, r), at(g, r)]
        kept = self.kept(f)
        joined = [inst(nodes.join_causal, b, *inputs, t), kept, self.kept(g)]
        later = inst(self.supposed(g), at(f, s), at(f, r), t)
        looped = inst(it.looped.causal(), f, s, r, t)
        change = prove(
            "a change is causal",
            self.holds(it.increment(it.query(q))),
            [inst(self.increment, it.query(q)), query],
        )
        return {
            "wire": of(it.identity, [inst(agree_now(streams), s, r, t)]),
            "delay": on_streams(it.delay, streams.z),
            "integrate": on_streams(it.integrate, streams.I),
            "differentiate": on_streams(it.differentiate, streams.D),
            "linear": gen(linear, k),
            "query": gen(query, q),
            "change": gen(change, q),
            "negate": of(it.negated(f), [self.same(f)], f),
            "sequence": of(it.sequence(f, g), [later, kept], f, g),
            "plus": of(it.plus(f, g), [self.same(f), self.same(g)], f, g),
            "join": gen(of(it.join(b, f, g), joined, f, g), b),
            "loop": gen(of(it.loop(f), [looped]), f),
        }

    @cached_property
    def of_circuits(self) -> Thm:
        """∀ c. causal(den(c))."""
        it = self.it

        def facts(case: Case) -> list[Thm]:
            rule = self.rules[constructor(case)]
            parts_of = [it.meaning(each) for each in case.arguments]
            known = it.meanings(case.term)
            return [*known, inst(rule, *parts_of) if parts_of else rule]

        return induct(
            "every circuit is causal", it.sort, lambda c: self.holds(it.den(c)), facts=facts
        )


def constructor(case: Case) -> str:
    """The word for what the case's circuit is made with."""
    return str(case.term.decl().name())


# ---------------------------------------------------------------- loops


class Loops:
    """A loop around a causal operator has one solution, and its increment is a loop."""

    def __init__(self, causality: Causality) -> None:
        self.causality, self.it = causality, causality.it
        self.streams, self.at = self.it.streams, self.it.operators.at

    @cached_property
    def whole(self) -> Thm:
        """causal(f) ⊢ ∀ s. the causal part of f at s is f(s)."""
        it, streams, t = self.it, self.streams, self.causality.t
        f, s = it.f, it.s
        short = cut(streams, CAUSAL)(s, t)
        left, right = it.causal_part(f, s), self.at(f, s)
        known = [
            it.causal_part.unfold(t, f, s),
            inst(cut_agrees(streams, CAUSAL), s, t),
            inst(self.causality.supposed(f), s, short, t),
        ]
        name = "the causal part of f is f"
        everywhere = prove_for_all(name, [t], streams.at(left, t) == streams.at(right, t), known)
        return gen(streams.space.equal(name, left, right, everywhere), s)

    def turn(self, f: Term, s: Term, a: Term) -> Term:
        """f(s + z(a)): once around."""
        return self.at(f, self.streams.add(s, self.streams.z(a)))

    @cached_property
    def solves(self) -> Thm:
        """∀ f s. causal(f) → loop(f)(s) = f(s + z(loop(f)(s)))."""
        it, f, s = self.it, self.it.f, self.it.s
        solution = self.at(it.loop(f), s)
        inner = self.streams.add(s, self.streams.z(it.looped.operator.of(s, f)))
        known = [
            it.loop.unfold(s, f),
            inst(it.looped.fixpoint.solves, s, f),
            inst(self.whole, inner),
        ]
        proved = prove("a loop", solution == self.turn(f, s, solution), known)
        return gen(discharge("a loop has a solution", self.causality.holds(f), proved), f, s)

    @cached_property
    def unique(self) -> Thm:
        """∀ f s a. causal(f) → a = f(s + z(a)) → a = loop(f)(s)."""
        it, f, s = self.it, self.it.f, self.it.s
        a = self.streams.stream("a")
        known = [
            it.loop.unfold(s, f),
            inst(it.looped.fixpoint.unique, s, f, a),
            inst(self.whole, self.streams.add(s, self.streams.z(a))),
        ]
        goal = a == self.at(it.loop(f), s)
        proved = prove("a loop, again", goal, known, given=[a == self.turn(f, s, a)])
        return gen(discharge("a loop has one solution", self.causality.holds(f), proved), f, s, a)

    @cached_property
    def increment(self) -> Thm:
        """∀ f. causal(f) → loop(f)^Δ = loop(f^Δ)."""
        it, streams, f = self.it, self.streams, self.it.f
        change = it.increment(f)
        additive, late = parts(integral_laws(streams))
        supposed = assume(self.causality.holds(f))

        def by(d: Term) -> list[Thm]:
            deltas, total = self.at(it.loop(change), d), streams.I(d)
            around = streams.add(d, streams.z(deltas))
            view = self.at(f, streams.I(around))
            return [
                supposed,
                inst(self.causality.increment, f),
                inst(self.solves, change, d),
                *unfold([it.operators.space], self.at(change, around)),
                inst(integrate_after_differentiate(streams), view),
                inst(additive, d, streams.z(deltas)),
                inst(late, deltas),
                inst(self.unique, f, total, streams.I(deltas)),
                inst(differentiate_after_integrate(streams), deltas),
            ]

        same = it.operators.equal(
            "loop(f)^Δ = loop(f^Δ)", it.increment(it.loop(f)), it.loop(change), by
        )
        return gen(discharge(same.name, supposed.formula, same), f)
