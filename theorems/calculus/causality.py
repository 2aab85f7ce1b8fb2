"""An operator is causal when its output up to a tick depends on the input up to that tick, and
strict when it depends on the input before it; a strict operator has exactly one fixpoint.

    agree(t, s, r)             s[0] = r[0], …, s[t] = r[t]
    agree before t             the same for the ticks before t, which may be none
    F is causal                agree(t, s, r)        → F(s)[t] = F(r)[t]
    F is strict                s, r agree before t   → F(s)[t] = F(r)[t]
    fix a. F(a)                at tick t: F applied t + 1 times to the zero stream, at t

What a feedback loop computes is such a fixpoint: the loop is strict since it goes through a
delay, and the rest of the circuit is causal. So a loop has one meaning, and it is causal.

Agreement is by recursion on the tick, so that induction over time needs no order of ticks;
`agreement_pointwise` says that it is what the paper writes with ≤ and <.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import z3

from deltaproof.theorems.calculus.streams import TICK, Streams
from deltaproof.theorems.kernel import (
    Case,
    Definition,
    Facts,
    Formula,
    FunctionSpace,
    ProofError,
    Sort,
    Symbol,
    Term,
    Thm,
    constructor_of,
    fresh_symbol,
    gen,
    induct,
    inst,
    no_facts,
    prove,
    recursive,
    unfold,
)

Agreement = Callable[[Streams], Definition]
FIRST = TICK.first
T, N, K = z3.Consts("t n k", TICK)


# ---------------------------------------------------------------- to agree up to a tick


@cache
def agreement(streams: Streams) -> Definition:
    """agree(t, s, r): equal at t and at all ticks before."""
    at, following = streams.at, TICK.constructor(1)
    return recursive(
        "agree",
        TICK,
        [streams.sort, streams.sort],
        z3.BoolSort(),
        (
            lambda recur, s, r: at(s, FIRST) == at(r, FIRST),
            lambda recur, n, s, r: z3.And(
                recur(n, s, r), at(s, following(n)) == at(r, following(n))
            ),
        ),
    )


@cache
def agreement_before(streams: Streams) -> Definition:
    """The same for the ticks before t."""
    return recursive(
        "agree before",
        TICK,
        [streams.sort, streams.sort],
        z3.BoolSort(),
        (
            lambda recur, s, r: z3.BoolVal(True),
            lambda recur, n, s, r: agreement(streams)(n, s, r),
        ),
    )


CAUSAL: Agreement = agreement
STRICT: Agreement = agreement_before


def agree(streams: Streams, tick: Term, s: Term, r: Term) -> Formula:
    """s and r are equal up to the tick, and at it."""
    return agreement(streams)(tick, s, r)


def for_all_ticks(
    name: str, constants: Sequence[Term], claim: Callable[[Term], Formula], facts: Facts = no_facts
) -> Thm:
    """∀ constants t. claim(t), by induction over time."""
    proved = induct(name, TICK, claim, facts=facts)
    return gen(inst(proved, T), *constants, T, name=name)


def two_streams(streams: Streams) -> tuple[Term, Term]:
    return streams.stream("s"), streams.stream("r")


@cache
def agree_now(streams: Streams) -> Thm:
    """∀ s r t. agree(t, s, r) → s[t] = r[t]."""
    s, r = two_streams(streams)
    return for_all_ticks(
        "agree(t, s, r) → s[t] = r[t]",
        [s, r],
        lambda t: z3.Implies(agree(streams, t, s, r), streams.at(s, t) == streams.at(r, t)),
        lambda case: [agreement(streams).unfold(case.term, s, r)],
    )


@cache
def agree_earlier(streams: Streams) -> Thm:
    """∀ s r t. agree(t, s, r) → s and r agree before t."""
    s, r = two_streams(streams)
    here, before = agreement(streams), agreement_before(streams)
    return for_all_ticks(
        "who agree up to t agree before t",
        [s, r],
        lambda t: z3.Implies(here(t, s, r), before(t, s, r)),
        lambda case: [each.unfold(case.term, s, r) for each in (here, before)],
    )


@cache
def agree_transitive(streams: Streams) -> Thm:
    """∀ s r q t. agree(t, s, r) ∧ agree(t, r, q) → agree(t, s, q)."""
    s, r = two_streams(streams)
    q, here = streams.stream("q"), agreement(streams)
    pairs = ((s, r), (r, q), (s, q))
    return for_all_ticks(
        "agreement is transitive",
        [s, r, q],
        lambda t: z3.Implies(z3.And(here(t, s, r), here(t, r, q)), here(t, s, q)),
        lambda case: [here.unfold(case.term, *pair) for pair in pairs],
    )


@cache
def agree_reflexive(streams: Streams) -> Thm:
    """∀ s t. agree(t, s, s)."""
    s, here = streams.stream("s"), agreement(streams)
    return for_all_ticks(
        "agree(t, s, s)",
        [s],
        lambda t: here(t, s, s),
        lambda case: [here.unfold(case.term, s, s)],
    )


# ---------------------------------------------------------------- the order of ticks


@cache
def at_most() -> Definition:
    """at_most(t, k): k ≤ t."""
    following = TICK.constructor(1)
    return recursive(
        "at most",
        TICK,
        [TICK],
        z3.BoolSort(),
        (
            lambda recur, k: k == FIRST,
            lambda recur, n, k: z3.Or(recur(n, k), k == following(n)),
        ),
    )


@cache
def less_than() -> Definition:
    """less_than(t, k): k < t."""
    return recursive(
        "less than",
        TICK,
        [TICK],
        z3.BoolSort(),
        (lambda recur, k: z3.BoolVal(False), lambda recur, n, k: at_most()(n, k)),
    )


@cache
def at_most_reflexive() -> Thm:
    """∀ t. t ≤ t."""
    leq = at_most()
    return for_all_ticks(
        "t ≤ t", [], lambda t: leq(t, t), lambda case: [leq.unfold(case.term, case.term)]
    )


@cache
def at_most_transitive() -> Thm:
    """∀ k n t. k ≤ n ∧ n ≤ t → k ≤ t."""
    leq = at_most()
    return for_all_ticks(
        "k ≤ n ≤ t → k ≤ t",
        [K, N],
        lambda t: z3.Implies(z3.And(leq(N, K), leq(t, N)), leq(t, K)),
        lambda case: [leq.unfold(FIRST, K), *[leq.unfold(case.term, tick) for tick in (K, N)]],
    )


@cache
def at_most_total() -> Thm:
    """∀ k t. k ≤ t ∨ t ≤ k."""
    leq, following = at_most(), TICK.constructor(1)
    from_the_first = for_all_ticks(
        "0 ≤ t", [], lambda t: leq(t, FIRST), lambda case: [leq.unfold(case.term, FIRST)]
    )
    steps = for_all_ticks(
        "n ≤ t → n = t ∨ n + 1 ≤ t",
        [N],
        lambda t: z3.Implies(leq(t, N), z3.Or(t == N, leq(t, following(N)))),
        lambda case: [leq.unfold(case.term, tick) for tick in (N, following(N))],
    )

    def facts(case: Case) -> list[Thm]:
        known = [inst(from_the_first, K), leq.unfold(case.term, K), at_most_reflexive()]
        for tick in case.arguments:
            known += [inst(steps, tick, K), leq.unfold(case.term, tick)]
        return known

    return for_all_ticks("k ≤ t ∨ t ≤ k", [K], lambda t: z3.Or(leq(t, K), leq(K, t)), facts)


def ticks_read(kind: Agreement) -> Definition:
    """k ≤ t for CAUSAL, k < t for STRICT."""
    return at_most() if kind is CAUSAL else less_than()


@cache
def agree_pointwise(streams: Streams, kind: Agreement) -> Thm:
    """∀ s r t. agree(t, s, r) ↔ ∀ k ≤ t. s[k] = r[k]; for STRICT before t, and k < t."""
    s, r = two_streams(streams)
    same = streams.at(s, K) == streams.at(r, K)

    def claim(t: Term) -> Formula:
        order = ticks_read(kind)
        return kind(streams)(t, s, r) == z3.ForAll([K], z3.Implies(order(t, K), same))

    def facts(case: Case) -> list[Thm]:
        known = [kind(streams).unfold(case.term, s, r), *ticks_read(kind).equations]
        if kind is STRICT:
            known += [inst(agree_pointwise(streams, CAUSAL), s, r, n) for n in case.arguments]
        return known

    word = "up to" if kind is CAUSAL else "before"
    return for_all_ticks(f"to agree is to be equal at all ticks {word} t", [s, r], claim, facts)


# ---------------------------------------------------------------- causal and strict operators


@dataclass(frozen=True, eq=False)
class Operator:
    """A function of streams to a stream; `sorts` are those of parameters that follow the streams.

    `reads` is the formula that says which part of its inputs an output reads: CAUSAL or STRICT.
    """

    name: str
    sources: tuple[Streams, ...]
    target: Streams
    of: Callable[..., Term]
    sorts: tuple[Sort, ...] = ()

    @property
    def parameters(self) -> list[Term]:
        return [z3.Const(f"p!{place}", sort) for place, sort in enumerate(self.sorts)]

    def inputs(self, name: str) -> list[Term]:
        return [each.stream(f"{name}!{place}") for place, each in enumerate(self.sources)]

    @property
    def variables(self) -> list[Term]:
        """Of the formula, in its order: parameters, streams, streams that agree with these, t."""
        return [*self.parameters, *self.inputs("s"), *self.inputs("r"), z3.Const("t!", TICK)]

    def image(self, streams: Sequence[Term]) -> Term:
        return self.of(*streams, *self.parameters)

    @property
    def pairs(self) -> list[tuple[Streams, Term, Term]]:
        """Each input twice: the two streams that are compared, and where they are from."""
        return list(zip(self.sources, self.inputs("s"), self.inputs("r"), strict=True))

    def agree(self, kind: Agreement, tick: Term) -> Formula:
        """The inputs agree."""
        return z3.And(*[kind(streams)(tick, s, r) for streams, s, r in self.pairs])

    def claim(self, kind: Agreement) -> Callable[[Term], Formula]:
        """t ↦ what the outputs have in common at t when the inputs agree."""
        left, right = self.image(self.inputs("s")), self.image(self.inputs("r"))
        at = self.target.at
        return lambda t: z3.Implies(self.agree(kind, t), at(left, t) == at(right, t))

    def reads(self, kind: Agreement) -> Formula:
        """∀ parameters s r t. s and r agree → F(s)[t] = F(r)[t]."""
        return z3.ForAll(self.variables, self.claim(kind)(self.variables[-1]))

    def proved(self, kind: Agreement, facts: Facts) -> Thm:
        """`reads`, by induction over time."""
        word = "causal" if kind is CAUSAL else "strict"
        return self.for_all(f"{self.name} is {word}", kind, self.claim(kind), facts)

    def composed(self, kind: Agreement, parts: Sequence[Reads]) -> Thm:
        """`reads`, because the operator is composed of these and of its inputs.

        Each of the parts is one symbol, and another.
        """
        left, right = self.image(self.inputs("s")), self.image(self.inputs("r"))
        symbols = {each.head.get_id(): each for each in parts}

        def facts(case: Case) -> list[Thm]:
            known = [inst(agree_now(self.target), left, right, case.term)]
            for one, other in _side_by_side(left, right):
                if part := symbols.get(one.decl().get_id()):
                    for tick in (case.term, *case.arguments):
                        known += part.applied(one, other, tick)
            return known

        return self.proved(kind, facts)

    def agreeing(self, kind: Agreement, reads: Thm) -> Thm:
        """∀ parameters s r t. s and r agree → agree(t, F(s), F(r)), for F that `reads` so."""
        left, right = self.image(self.inputs("s")), self.image(self.inputs("r"))
        here = agreement(self.target)

        def claim(t: Term) -> Formula:
            return z3.Implies(self.agree(kind, t), here(t, left, right))

        def facts(case: Case) -> list[Thm]:
            return [
                here.unfold(case.term, left, right),
                inst(reads, *self.variables[:-1], case.term),
            ]

        return self.for_all(f"{self.name} keeps agreement", kind, claim, facts)

    def for_all(
        self, name: str, kind: Agreement, claim: Callable[[Term], Formula], facts: Facts
    ) -> Thm:
        """∀ variables. claim(t), by induction over time; all definitions of `agree` at hand."""

        def known(case: Case) -> list[Thm]:
            unfolded = [kind(streams).unfold(case.term, s, r) for streams, s, r in self.pairs]
            earlier = [
                inst(agree_earlier(streams), s, r, tick)
                for streams, s, r in self.pairs
                for tick in case.arguments
            ]
            return [*unfolded, *earlier, *facts(case)]

        *constants, tick = self.variables
        proved = induct(name, TICK, claim, facts=known)
        return gen(inst(proved, tick), *constants, tick, name=name)

    def invariant(self) -> Formula:
        """∀ parameters s …. F(z(s), …) = z(F(s, …))."""
        inputs, z = self.inputs("s"), self.target.z
        late = [each.z(s) for each, s in zip(self.sources, inputs, strict=True)]
        equation = self.image(late) == z(self.image(inputs))
        return z3.ForAll([*self.parameters, *inputs], equation)


@dataclass(frozen=True, eq=False)
class Reads:
    """An operator and the theorem that it is causal, or strict."""

    operator: Operator
    kind: Agreement
    proof: Thm

    @property
    def head(self) -> Symbol:
        """Its symbol."""
        return self.operator.image(self.operator.inputs("s")).decl()

    @cached_property
    def keeps(self) -> Thm:
        """`agreeing`."""
        return self.operator.agreeing(self.kind, self.proof)

    def applied(self, one: Term, other: Term, tick: Term) -> list[Thm]:
        """What is known of F(s, …) and F(r, …) at this tick when the inputs agree."""
        sources = self.operator.sources
        width, parameters = len(sources), one.children()[len(sources) :]
        left, right = one.children()[:width], other.children()[:width]
        known = [inst(self.keeps, *parameters, *left, *right, tick)]
        for streams, s, r in zip(sources, left, right, strict=True):
            if s.eq(r):
                known.append(inst(agree_reflexive(streams), s, tick))
            known.append(inst(agree_earlier(streams), s, r, tick))
            if self.kind is STRICT and constructor_of(tick) is not None:
                known.append(agreement_before(streams).unfold(tick, s, r))
        return known


def _side_by_side(one: Term, other: Term) -> Iterator[tuple[Term, Term]]:
    """The parts of two terms of one form."""
    yield one, other
    for left, right in zip(one.children(), other.children(), strict=True):
        yield from _side_by_side(left, right)


def any_operator(name: str, sources: Sequence[Streams], target: Streams) -> Operator:
    """An operator of which nothing is known."""
    symbol = fresh_symbol(name, *[each.sort for each in sources], target.sort)
    return Operator(name, tuple(sources), target, symbol)


def causal_formula(
    sources: Sequence[Streams],
    target: Streams,
    of: Callable[..., Term],
    sorts: Sequence[Sort] = (),
) -> Formula:
    """∀ parameters s … r … t. agree(t, s, r) ∧ … → of(s, …, parameters)[t] = of(r, …)[t]."""
    return Operator("", tuple(sources), target, of, tuple(sorts)).reads(CAUSAL)


def strict_formula(
    streams: Streams,
    body: Callable[..., Term],
    sorts: Sequence[Sort] = (),
    target: Streams | None = None,
) -> Formula:
    """∀ parameters a b t. a and b agree before t → body(a, parameters)[t] = body(b, …)[t]."""
    return Operator("", (streams,), target or streams, body, tuple(sorts)).reads(STRICT)


def pointwise(
    name: str, target: Streams, left: Term, right: Term, spaces: Iterable[FunctionSpace] = (),
    by: Iterable[Thm] = (),
) -> Thm:  # fmt: skip
    """left = right, because all definitions unfolded make them equal at every tick."""
    goal = target.at(left, T) == target.at(right, T)
    known = [*unfold([target.space, *spaces], goal), *by]
    return target.space.equal(name, left, right, gen(prove(f"{name}, at t", goal, known), T))


# ---------------------------------------------------------------- operators that are causal


@cache
def delay_strict_of(streams: Streams) -> Thm:
    """z is strict."""
    operator = Operator("z", (streams,), streams, streams.z)
    s, r = operator.inputs("s") + operator.inputs("r")

    def facts(case: Case) -> list[Thm]:
        before = [inst(agree_now(streams), s, r, tick) for tick in case.arguments]
        return [*unfold([streams.space], case.goal), *before]

    return operator.proved(STRICT, facts)


def lifted_causal(operator: Operator, spaces: Iterable[FunctionSpace] = ()) -> Thm:
    """An operator whose value at a tick is made of the inputs' values at that tick."""
    known = [operator.target.space, *spaces]

    def facts(case: Case) -> list[Thm]:
        now = [inst(agree_now(streams), s, r, case.term) for streams, s, r in operator.pairs]
        return [*unfold(known, case.goal), *now]

    return operator.proved(CAUSAL, facts)


def causal_of_strict(operator: Operator, strict: Thm) -> Thm:
    """A strict operator is causal."""

    def facts(case: Case) -> list[Thm]:
        earlier = [
            inst(agree_earlier(streams), s, r, case.term) for streams, s, r in operator.pairs
        ]
        return [inst(strict, *operator.variables[:-1], case.term), *earlier]

    return operator.proved(CAUSAL, facts)


# ---------------------------------------------------------------- fixpoints


@dataclass(frozen=True, eq=False)
class Fixpoint:
    """fix a. F(a, parameters), the only one."""

    symbol: Definition
    solves: Thm  # ∀ parameters. fix = F(fix, parameters)
    unique: Thm  # ∀ parameters b. b = F(b, parameters) → b = fix


def fixpoint(
    name: str, streams: Streams, sorts: Sequence[Sort], body: Callable[..., Term], strict: Thm
) -> Fixpoint:
    """The fixpoint of a ↦ body(a, parameters), for a theorem that says `strict_formula` of it.

    Raises ProofError for a theorem that says something else.

    At tick t it is F(F(…F(0))) at t, with F applied t + 1 times: later applications change
    nothing at t any more, because F is strict.
    """
    if not strict.formula.eq(strict_formula(streams, body, sorts)):
        raise ProofError(f"{name}: {strict} does not say that the body is strict")
    operator = Operator(name, (streams,), streams, body, tuple(sorts))
    p, zero = operator.parameters, streams.zero
    here, before = agreement(streams), agreement_before(streams)
    keeps = operator.agreeing(STRICT, strict)
    iterated = recursive(
        f"{name} iterated",
        TICK,
        sorts,
        streams.sort,
        (
            lambda recur, *each: body(zero, *each),
            lambda recur, n, *each: body(recur(n, *each), *each),
        ),
    )
    solution = streams.space.define(name, sorts, lambda t, *each: streams.at(iterated(t, *each), t))
    fix = solution(*p)

    def previous(case: Case) -> Term:
        """What F is applied to at this tick."""
        return iterated(*case.arguments, *p) if case.arguments else zero

    def one_more(case: Case) -> list[Thm]:
        one, other = previous(case), iterated(case.term, *p)
        following = TICK.constructor(1)(case.term)
        return [
            iterated.unfold(case.term, *p),
            iterated.unfold(following, *p),
            before.unfold(case.term, one, other),
            inst(keeps, *p, one, other, case.term),
        ]

    steady = for_all_ticks(
        f"{name}: one more F changes nothing up to t",
        p,
        lambda t: here(t, iterated(t, *p), iterated(TICK.constructor(1)(t), *p)),
        one_more,
    )

    def up_to(case: Case) -> list[Thm]:
        known = [
            here.unfold(case.term, fix, iterated(case.term, *p)),
            solution.unfold(case.term, *p),
        ]
        for tick in case.arguments:
            one, other = iterated(tick, *p), iterated(case.term, *p)
            known.append(inst(steady, *p, tick))
            known.append(inst(agree_transitive(streams), fix, one, other, tick))
        return known

    iterates = for_all_ticks(
        f"{name}: up to t it is F applied t + 1 times",
        p,
        lambda t: here(t, fix, iterated(t, *p)),
        up_to,
    )

    def solved(case: Case) -> list[Thm]:
        return [
            solution.unfold(case.term, *p),
            iterated.unfold(case.term, *p),
            before.unfold(case.term, fix, previous(case)),
            inst(strict, *p, fix, previous(case), case.term),
            *[inst(iterates, *p, tick) for tick in case.arguments],
        ]

    everywhere = induct(
        f"{name} solves a = F(a)",
        TICK,
        lambda t: streams.at(fix, t) == streams.at(body(fix, *p), t),
        facts=solved,
    )
    solves = streams.space.equal(f"{name} = F({name})", fix, body(fix, *p), everywhere)
    b = streams.stream("b!")
    other_solution = b == body(b, *p)

    def again(case: Case) -> list[Thm]:
        return [
            here.unfold(case.term, b, fix),
            before.unfold(case.term, b, fix),
            inst(strict, *p, b, fix, case.term),
            solves,
        ]

    same = induct(
        f"{name} is the only solution, up to t",
        TICK,
        lambda t: z3.Implies(other_solution, here(t, b, fix)),
        facts=again,
    )
    now = [inst(same, T), inst(agree_now(streams), b, fix, T)]
    at = streams.at
    equal = prove(f"{name}: b[t]", z3.Implies(other_solution, at(b, T) == at(fix, T)), now)
    unique = prove(
        f"{name} is the only solution",
        b == fix,
        [inst(streams.space.extensional, b, fix), gen(equal, T)],
        given=[other_solution],
    )
    return Fixpoint(
        solution,
        gen(solves, *p, name=f"{name} solves a = F(a)") if p else solves,
        gen(unique, *p, b),
    )


class Loop:
    """Q(s, …) = fix a. T(s, …, F(a)) for causal T and strict F; F is the delay if not given.

    `causal` and `strict` are the theorems that say so of T and F.
    """

    def __init__(
        self,
        name: str,
        circuit: Operator,
        causal: Thm,
        back: Operator | None = None,
        strict: Thm | None = None,
    ) -> None:
        streams = circuit.target
        if back is None or strict is None:
            back = Operator("z", (streams,), streams, streams.z)
            strict = delay_strict_of(streams)
        self.name, self.circuit, self.back = name, circuit, back
        self.sources = circuit.sources[:-1]
        self.sorts = (*[each.sort for each in self.sources], *circuit.sorts)
        self.keeps = circuit.agreeing(CAUSAL, causal)
        self.back_keeps = back.agreeing(STRICT, strict)
        self.strict = self._strict(causal)
        self.fixpoint = fixpoint(name, streams, self.sorts, self.body, self.strict)
        self.operator = Operator(
            name, self.sources, streams, self.fixpoint.symbol.symbol, circuit.sorts
        )

    def body(self, a: Term, *others: Term) -> Term:
        """T(s, …, F(a)), where `others` are the inputs s, … and then the parameters."""
        width = len(self.sources)
        return self.circuit.of(*others[:width], self.back.of(a), *others[width:])

    def _strict(self, causal: Thm) -> Thm:
        """a ↦ T(s, …, F(a)) is strict."""
        loop = Operator(
            f"{self.name}, its body,", (self.circuit.target,), self.circuit.target, self.body,
            self.sorts,
        )  # fmt: skip
        (a,), (b,), others = loop.inputs("s"), loop.inputs("r"), loop.parameters
        width = len(self.sources)
        inputs, parameters = others[:width], others[width:]
        left, right = [*inputs, self.back.of(a)], [*inputs, self.back.of(b)]

        def facts(case: Case) -> list[Thm]:
            unchanged = zip(self.sources, inputs, strict=True)
            return [
                inst(self.back_keeps, a, b, case.term),
                *[inst(agree_reflexive(each), s, case.term) for each, s in unchanged],
                inst(causal, *parameters, *left, *right, case.term),
            ]

        return loop.proved(STRICT, facts)

    def causal(self) -> Thm:
        """Q is causal."""
        q, streams = self.operator, self.circuit.target
        p, s, r = q.parameters, q.inputs("s"), q.inputs("r")
        left, right = q.image(s), q.image(r)
        here, before = agreement(streams), agreement_before(streams)

        def facts(case: Case) -> list[Thm]:
            looped = [*s, self.back.of(left), *r, self.back.of(right)]
            return [
                inst(self.fixpoint.solves, *s, *p),
                inst(self.fixpoint.solves, *r, *p),
                before.unfold(case.term, left, right),
                inst(self.back_keeps, left, right, case.term),
                inst(self.keeps, *p, *looped, case.term),
            ]

        keeps = q.for_all(
            f"{self.name} keeps agreement",
            CAUSAL,
            lambda t: z3.Implies(q.agree(CAUSAL, t), here(t, left, right)),
            facts,
        )

        def now(case: Case) -> list[Thm]:
            return [
                inst(keeps, *q.variables[:-1], case.term),
                inst(agree_now(streams), left, right, case.term),
            ]

        return q.proved(CAUSAL, now)

    def invariant(self, circuit: Thm, back: Thm) -> Thm:
        """Q is time-invariant, if T and F are: z(Q(s)) solves the equation of Q(z(s))."""
        q, z = self.operator, self.circuit.target.z
        p, s = q.parameters, q.inputs("s")
        late = [each.z(one) for each, one in zip(self.sources, s, strict=True)]
        solution = q.image(s)
        known = [
            inst(self.fixpoint.solves, *s, *p),
            inst(circuit, *p, *s, self.back.of(solution)),
            inst(back, solution),
            inst(self.fixpoint.unique, *late, *p, z(solution)),
        ]
        goal = q.image(late) == z(solution)
        return gen(prove(f"{self.name} is time-invariant", goal, known), *p, *s)
