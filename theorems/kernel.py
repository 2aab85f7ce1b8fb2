"""A proof is a value: only the rules in this file can make a `Thm`.

z3 answers one question at a time. The kernel adds what z3 does not have: theorems that rest
on theorems, induction over datatypes (time, finite support), definitions that are
conservative by construction, and equations in any abelian group.

    prove        the goal follows from these theorems                  asks z3
    certificate  an equation of an abelian group follows from others   integers, checked here
    induct       structural induction over a datatype                  one proof per constructor
    wf_induct    the same, with the claim at chosen smaller terms
    assume       a formula follows from itself; `discharge` takes it back as an antecedent
    inst, gen    for all: elimination, introduction
    both, parts  several theorems as one, and back
    define       a new symbol, equal to a term
    recursive    a new symbol, by primitive recursion on a datatype
    axiom        what is assumed: found again by `axioms`, printed with every proof
    refute       a claim is false, and here are the values that show it

Every question to z3 has a resource limit and not a time limit, so the answer does not depend
on how busy the machine is. Every proof also asks whether its hypotheses alone are
contradictory: from nonsense everything follows, and such a proof is an error.

Trusted: this file and z3's answer "unsat".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cache, partial
from itertools import count
from time import perf_counter
from typing import Any, TypeAlias

import z3

from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.zset import ZSet

Term: TypeAlias = Any  # z3 is not typed: this is the border
Formula: TypeAlias = Any
Sort: TypeAlias = Any
Symbol: TypeAlias = Any
Replay: TypeAlias = Callable[..., tuple[Any, Any]]  # values ↦ both sides, from the reference

EFFORT = 1_000_000  # z3 resource units for a goal; all proofs here together need five times that
# What z3 tries first depends on what the process asked it before: a search that got lost begins
# anew, with its tactics and another seed. An answer stays an answer, whichever seed finds it.
SEEDS = (0, 1, 2)
QUICK_EFFORT = 50_000  # for a goal without hypotheses, before z3's tactics are asked
VACUITY_EFFORT = 10_000  # for the hypotheses alone, where "unknown" is a fair answer

_KEY = object()
_numbers = count()


class ProofError(DeltaproofError):
    """A step that does not hold, or that z3 could not decide; `model` may show why."""

    def __init__(self, message: str, model: Any = None) -> None:
        super().__init__(message)
        self.model = model


@dataclass(frozen=True)
class Query:
    """One question (a *condition*), its answer and its cost.

    `alone` says why the hypotheses without the goal are no nonsense: "none" (there are none),
    "sat" (z3 found values), "model" (all are theorems, so the model of the axioms has them),
    "assumed" (the same, beside what an induction or `assume` supposes) or "given" (the same, and
    z3 found values for what is given beside them).
    `clash` makes the formulas that cannot all be true: what a second solver is asked; None where
    the answer came from no formula.
    """

    name: str
    verdict: str
    ms: float
    alone: str = "none"
    units: int = 0  # of z3's resource, of at most EFFORT
    clash: Callable[[], Sequence[Formula]] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Counterexample:
    """Values for which a claim is false; `replay` says what the real code made of them."""

    name: str
    values: tuple[tuple[str, Any], ...]
    ms: float
    replay: str = ""

    def __str__(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.values)
        return f"{self.name}: {values}" + (f"; {self.replay}" if self.replay else "")


@dataclass(frozen=True, eq=False)
class Thm:
    """assumptions ⊢ formula, and everything that it rests on.

    >>> x = z3.Int("x")
    >>> prove("a square is positive", x * x >= 0)
    ⊢ a square is positive
    >>> Thm("one is two", z3.BoolVal(False), "rule")
    Traceback (most recent call last):
    deltaproof.theorems.kernel.ProofError: one is two: only the rules of the kernel make a Thm
    """

    name: str
    formula: Formula
    kind: str  # "axiom", "definition", "rule"
    rests_on: tuple[Thm, ...] = ()
    assumptions: tuple[Formula, ...] = ()
    queries: tuple[Query, ...] = ()
    key: InitVar[object] = None

    def __post_init__(self, key: object) -> None:
        if key is not _KEY:
            raise ProofError(f"{self.name}: only the rules of the kernel make a Thm")

    def __init_subclass__(cls) -> None:
        raise ProofError(f"{cls.__name__}: there is one kind of Thm, whose constructor asks")

    def __repr__(self) -> str:
        return f"⊢ {self.name}"


def _rule(
    name: str,
    formula: Formula,
    rests_on: Sequence[Thm] = (),
    queries: Iterable[Query] = (),
    assumptions: Sequence[Formula] | None = None,
    kind: str = "rule",
) -> Thm:
    """A theorem; unless said, it keeps the assumptions of what it rests on."""
    for each in rests_on:
        if not isinstance(each, Thm):
            raise ProofError(f"{name}: {each!r} is no theorem")
    kept = _union(thm.assumptions for thm in rests_on) if assumptions is None else assumptions
    return Thm(name, formula, kind, tuple(rests_on), tuple(kept), tuple(queries), key=_KEY)


def _union(groups: Iterable[Sequence[Formula]]) -> tuple[Formula, ...]:
    formulas: list[Formula] = []
    for group in groups:
        formulas += [formula for formula in group if not _among(formula, formulas)]
    return tuple(formulas)


def _among(term: Term, terms: Iterable[Term]) -> bool:
    return any(term.eq(other) for other in terms)


# ---------------------------------------------------------------- what a theorem rests on


def everything_under(*thms: Thm) -> list[Thm]:
    """The theorems and all that they rest on, each once."""
    found: dict[int, Thm] = {}
    waiting = list(thms)
    while waiting:
        thm = waiting.pop()
        if id(thm) not in found:
            found[id(thm)] = thm
            waiting += thm.rests_on
    return list(found.values())


def axioms(*thms: Thm) -> tuple[str, ...]:
    """The names of all axioms under these theorems, sorted."""
    return tuple(sorted({thm.name for thm in everything_under(*thms) if thm.kind == "axiom"}))


def queries(*thms: Thm) -> tuple[Query, ...]:
    """Every question that was asked for these theorems and what they rest on."""
    return tuple(query for thm in everything_under(*thms) for query in thm.queries)


# ---------------------------------------------------------------- asking z3


def ask(
    name: str,
    hypotheses: Sequence[Formula],
    goal: Formula,
    effort: int = EFFORT,
    given: Sequence[Formula] = (),
) -> Query:
    """Does the goal follow? Raises ProofError unless it does, and not only from nonsense.

    `hypotheses` are formulas of theorems; `given` is what is supposed beside them.
    """
    supposed = [*hypotheses, *given]
    solver = z3.SimpleSolver()
    solver.add(*supposed)
    alone = _alone(name, solver, bool(hypotheses), given)
    started, spent = perf_counter(), _units()
    # z3's core serves the formulas of theorems; a goal alone may be one for its tactics
    solver.set("rlimit", effort if hypotheses else min(effort, QUICK_EFFORT))
    solver.add(z3.Not(goal))
    verdict = solver.check()
    for seed in SEEDS if verdict == z3.unknown else ():
        spent = _units(solver)
        solver = z3.Solver()
        solver.set("rlimit", effort)
        solver.set("random_seed", seed)
        solver.add(*supposed, z3.Not(goal))
        verdict = solver.check()
        if verdict != z3.unknown:
            break
    ms, units = (perf_counter() - started) * 1000, _units(solver) - spent
    if verdict == z3.sat:
        model = solver.model()
        raise ProofError(f"{name}: does not hold, for example where {model}", model)
    if verdict == z3.unknown:
        raise ProofError(
            f"{name}: z3 gave up {1 + len(SEEDS)} times after {effort:,} units "
            f"({solver.reason_unknown()}); "
            "usually a fact is missing: add the lemma's instance to `by`"
        )
    return Query(name, "unsat", ms, alone, units, lambda: [*supposed, z3.Not(goal)])


_spent = 0


def _units(solver: Any = None) -> int:
    """z3's units spent up to now in this process, as the last solver asked has counted them."""
    global _spent
    if solver is not None:
        _spent = solver.statistics().get_key_value("rlimit count")
    return _spent


def _alone(name: str, solver: Any, by_theorems: bool, given: Sequence[Formula]) -> str:
    """Why what the solver knows has a model. Raises ProofError when it contradicts itself.

    z3 cannot always find values for formulas with quantifiers. Formulas of theorems are then
    true in the model of the axioms (see `models`); for what is given, values are looked for alone.
    What an induction assumes is the claim, which is true there too when the induction succeeds.
    """
    if not by_theorems and not given:
        return "none"
    verdict = _consistent(name, solver)
    if verdict != z3.unknown:
        return str(verdict)
    if not given:
        return "model"
    only_given = z3.SimpleSolver()
    only_given.add(*given)
    return "given" if _consistent(name, only_given) == z3.sat else "unknown"


def _consistent(name: str, solver: Any) -> Any:
    solver.set("rlimit", VACUITY_EFFORT)
    verdict = solver.check()
    if verdict == z3.unsat:
        raise ProofError(f"{name}: the hypotheses contradict each other, so this proves nothing")
    return verdict


def refute(
    name: str,
    claim: Formula,
    given: Sequence[Formula] = (),
    show: Sequence[Term] = (),
    effort: int = EFFORT,
    replay: Replay | None = None,
) -> Counterexample:
    """Small values for which the claim is false. Raises ProofError when there are none.

    `replay` is called with the values of `show`, runs the reference's own code on them and returns
    the two sides of the claim. Raises ProofError when they are equal: then the formula of the
    claim is not what the code does.

    >>> a, b = z3.Ints("a b")
    >>> refute("minus commutes", a - b == b - a, given=[a > b, b == 0], show=[a, b]).values
    (('a', 1), ('b', 0))
    """
    solver = z3.Solver()
    solver.set("rlimit", effort)
    solver.add(*given, z3.Not(claim))
    started = perf_counter()
    values = small_values(solver, show)
    if values is None:
        raise ProofError(f"{name}: expected a counterexample, z3 finds none")
    ms = (perf_counter() - started) * 1000
    return Counterexample(name, values, ms, _replayed(name, replay, values) if replay else "")


def _replayed(name: str, replay: Replay, values: Sequence[tuple[str, Any]]) -> str:
    left, right = replay(*(value for _, value in values))
    if left == right:
        raise ProofError(f"{name}: on {dict(values)} the reference has {left} on both sides")
    return f"the reference: {one_line(left)} is not {one_line(right)}"


def one_line(value: Any) -> str:
    """A side of a replay; a Z-set as its entries, in an order that depends on nothing else.

    >>> one_line(ZSet({("b",): -1, ("a",): 2}))
    "{('a',): +2, ('b',): -1}"
    >>> one_line((1, ZSet()))
    '(1, {})'
    """
    if isinstance(value, ZSet):
        shown = [f"{row}: {weight:+d}" for row, weight in value.sorted_items() if weight]
        return "{" + ", ".join(shown) + "}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(map(one_line, value)) + ")"
    return str(value)


def small_values(solver: Any, show: Sequence[Term]) -> tuple[tuple[str, Any], ...] | None:
    """Values of these terms that satisfy what the solver knows, small if that can be."""
    numbers = [term for term in show if z3.is_arith(term)]
    for low, high in ((0, 1), (-1, 1), (0, 3), (-9, 9), (None, None)):
        within = [] if low is None else [z3.And(low <= each, each <= high) for each in numbers]
        if solver.check(*within) == z3.sat:
            model = solver.model()
            values = [_plain(model.eval(term, model_completion=True)) for term in show]
            return tuple(zip(map(str, show), values, strict=True))
    return None


def _plain(value: Term) -> Any:
    """A z3 value as Python has it, or its text."""
    if z3.is_int_value(value):
        return value.as_long()
    if z3.is_true(value) or z3.is_false(value):
        return z3.is_true(value)
    return str(value)


# ---------------------------------------------------------------- rules


def axiom(name: str, formula: Formula) -> Thm:
    """What is assumed. The audit (`axioms`) finds it again under every theorem that uses it."""
    return _rule(name, formula, kind="axiom")


def prove(
    name: str,
    goal: Formula,
    by: Iterable[Thm] = (),
    given: Sequence[Formula] = (),
    effort: int = EFFORT,
) -> Thm:
    """given → goal, from these theorems. Raises ProofError with a counterexample, or "gave up"."""
    premises, given = tuple(by), tuple(given)
    assumed = _union(thm.assumptions for thm in premises)
    hypotheses = [*(thm.formula for thm in premises), *assumed]
    query = ask(name, hypotheses, goal, effort, given)
    if assumed and query.alone == "model":
        query = replace(query, alone="assumed")
    formula = z3.Implies(z3.And(*given), goal) if given else goal
    return _rule(name, formula, premises, [query])


def assume(formula: Formula) -> Thm:
    """formula ⊢ formula."""
    return _rule("assumed", formula, assumptions=(formula,))


def discharge(name: str, assumption: Formula, thm: Thm) -> Thm:
    """From `assumption, … ⊢ formula` to `… ⊢ assumption → formula`."""
    rest = tuple(each for each in thm.assumptions if not each.eq(assumption))
    return _rule(name, z3.Implies(assumption, thm.formula), [thm], assumptions=rest)


def inst(thm: Thm, *terms: Term) -> Thm:
    """The theorem for these values of its outermost bound variables."""
    formula, left = thm.formula, list(terms)
    while left:
        if not (z3.is_quantifier(formula) and formula.is_forall()):
            raise ProofError(f"{thm.name}: {len(left)} more terms than it has variables")
        width = formula.num_vars()
        if width > len(left):
            raise ProofError(f"{thm.name}: needs {width} terms at once, got {len(left)}")
        here, left = left[:width], left[width:]
        for place, term in enumerate(here):
            if formula.var_sort(place) != term.sort():
                raise ProofError(
                    f"{thm.name}: variable {formula.var_name(place)} is a "
                    f"{formula.var_sort(place)}, got the {term.sort()} {term}"
                )
        formula = z3.substitute_vars(formula.body(), *reversed(here))
    return _rule(f"{thm.name}, at {', '.join(map(_head, terms))}", formula, [thm])


def _head(term: Term) -> str:
    """The term's outermost symbol: whole terms are long, and printing them takes z3's time."""
    return f"{term.decl().name()}(…)" if z3.is_app(term) and term.num_args() else str(term)


def gen(thm: Thm, *constants: Term, name: str = "", patterns: Sequence[Term] = ()) -> Thm:
    """For all values of these constants, which nothing under the theorem may speak about."""
    _check_arbitrary(thm, constants)
    formula = z3.ForAll(list(constants), thm.formula, patterns=list(patterns))
    return _rule(name or thm.name, formula, [thm])


def both(name: str, *thms: Thm) -> Thm:
    """All of these theorems as one."""
    return _rule(name, z3.And(*[thm.formula for thm in thms]), thms)


def parts(thm: Thm) -> tuple[Thm, ...]:
    """The theorems that `both` made one. Raises ProofError for any other theorem."""
    formula = thm.formula
    if not (z3.is_and(formula) and len(thm.rests_on) == formula.num_args()):
        raise ProofError(f"{thm.name}: not made of several theorems")
    if not all(map(_same_formula, thm.rests_on, formula.children())):
        raise ProofError(f"{thm.name}: not made of several theorems")
    return thm.rests_on


def _same_formula(thm: Thm, formula: Formula) -> bool:
    return bool(thm.formula.eq(formula))


def prove_for_all(
    name: str,
    constants: Sequence[Term],
    goal: Formula,
    by: Iterable[Thm] = (),
    given: Sequence[Formula] = (),
    patterns: Sequence[Term] = (),
) -> Thm:
    """`prove`, then `gen`: for all values of the constants, given → goal."""
    return gen(prove(name, goal, by, given), *constants, patterns=patterns)


def _check_arbitrary(thm: Thm, constants: Sequence[Term]) -> None:
    """Raises ProofError unless the constants are fresh to the axioms and assumptions used."""
    for constant in constants:
        for each in everything_under(thm):
            if each.kind != "rule" and constant.get_id() in _terms_of(each):
                raise ProofError(f"{thm.name}: {constant} is not arbitrary, see {each.name}")
        for formula in thm.assumptions:
            if _among(constant, subterms(formula)):
                raise ProofError(
                    f"{thm.name}: {constant} is not arbitrary, see assumption {formula}"
                )


@cache
def _terms_of(thm: Thm) -> frozenset[int]:
    """All terms in the formula, by z3's numbers: equal terms have one, as long as they live."""
    return frozenset(each.get_id() for each in subterms(thm.formula))


def subterms(term: Term) -> Iterator[Term]:
    """The term and all terms in it, each once."""
    seen: set[int] = set()
    waiting = [term]
    while waiting:
        here = waiting.pop()
        if here.get_id() not in seen:
            seen.add(here.get_id())
            yield here
            waiting += here.children()


# ---------------------------------------------------------------- induction


@dataclass(frozen=True, eq=False)
class Case:
    """One case of an induction: prove the goal, the claim at `term`, from the hypotheses."""

    name: str
    arguments: tuple[Term, ...]
    term: Term
    goal: Formula
    hypotheses: tuple[Thm, ...]


Step: TypeAlias = Callable[[Case], Thm]
Facts: TypeAlias = Callable[[Case], Iterable[Thm]]  # theorems that one case needs


def no_facts(case: Case) -> tuple[Thm, ...]:
    return ()


def induct(
    name: str,
    sort: Sort,
    claim: Callable[[Term], Formula],
    by: Iterable[Thm] = (),
    facts: Facts = no_facts,
    step: Step | None = None,
) -> Thm:
    """∀ x. claim(x), because it holds for every constructor if it holds for the arguments.

    A case is proved by z3 from `by`, `facts(case)` and the hypotheses, or by `step(case)`.
    """
    return _induct(name, sort, claim, _by_z3(by, facts) if step is None else step, _parts)


def wf_induct(
    name: str,
    sort: Sort,
    claim: Callable[[Term], Formula],
    smaller: Callable[[Case], Sequence[Term]],
    measure: Callable[[Term], Term],
    by: Iterable[Thm] = (),
    facts: Facts = no_facts,
) -> Thm:
    """The same with the claim at any terms of smaller measure, a whole number from 0 up.

    Raises ProofError for another kind of measure: below a fraction there is always a smaller one.
    """
    premises = tuple(by)
    (variable,) = _constants([sort])
    size = measure(variable)  # built once, like the claim
    if not z3.is_int(size):
        raise ProofError(f"{name}: expected a whole number as the measure, got the {size.sort()}")

    def decreasing(case: Case) -> tuple[Sequence[Term], list[Thm]]:
        _check_unmentioned(case, size)
        terms = tuple(smaller(case))
        known = [*premises, *facts(case)]
        whole = z3.substitute(size, (variable, case.term))
        sizes = [z3.substitute(size, (variable, term)) for term in terms]
        goals = [z3.And(each >= 0, each < whole) for each in sizes]
        return terms, [prove(f"{case.name}: smaller", goal, known) for goal in goals]

    return _induct(name, sort, claim, _by_z3(premises, facts), decreasing)


def _by_z3(by: Iterable[Thm], facts: Facts) -> Step:
    premises = tuple(by)
    return lambda case: prove(case.name, case.goal, [*premises, *facts(case), *case.hypotheses])


def _parts(case: Case) -> tuple[Sequence[Term], list[Thm]]:
    """The arguments that belong to the datatype: they are smaller, and need no proof of it."""
    return [each for each in case.arguments if each.sort() == case.term.sort()], []


def _induct(
    name: str,
    sort: Sort,
    claim: Callable[[Term], Formula],
    step: Step,
    smaller: Callable[[Case], tuple[Sequence[Term], list[Thm]]],
) -> Thm:
    variable = z3.Const(f"x!{next(_numbers)}", sort)
    formula = claim(variable)  # built once: a case sees the claim only with its term put in
    rests_on: list[Thm] = []
    for number in range(sort.num_constructors()):
        constructor = sort.constructor(number)
        arguments = _constants(map(constructor.domain, range(constructor.arity())))
        term = constructor(*arguments)
        goal = z3.substitute(formula, (variable, term))
        case = Case(f"{name} [{constructor.name()}]", arguments, term, goal, ())
        _check_unmentioned(case, formula)
        terms, proofs = smaller(case)
        claims = [z3.substitute(formula, (variable, each)) for each in terms]
        proved = step(replace(case, hypotheses=tuple(map(assume, claims))))
        if not proved.formula.eq(goal):
            raise ProofError(f"{case.name}: expected a proof of {goal}, got {proved.formula}")
        for each in claims:
            proved = discharge(case.name, each, proved)
        for each in (proved, *proofs):
            _check_arbitrary(each, arguments)
        rests_on += [proved, *proofs]
    return _rule(name, z3.ForAll([variable], formula), rests_on)


def _check_unmentioned(case: Case, term: Term) -> None:
    """Raises ProofError when the term speaks about what stands for all values in the case."""
    for each in subterms(term):
        if _among(each, case.arguments):
            raise ProofError(f"{case.name}: {each} is not arbitrary, the claim speaks about it")


def _constants(sorts: Iterable[Sort]) -> tuple[Term, ...]:
    """A constant of each sort; names with "!" are the kernel's, and nothing else has them."""
    return tuple(z3.Const(f"x!{next(_numbers)}", sort) for sort in sorts)


# ---------------------------------------------------------------- definitions


@dataclass(frozen=True, eq=False)
class Definition:
    """A fresh symbol and the equations that define it."""

    symbol: Symbol
    equations: tuple[Thm, ...]

    def __call__(self, *arguments: Term) -> Term:
        return self.symbol(*arguments)

    def unfold(self, *arguments: Term) -> Thm:
        """symbol(arguments) = its definition; for a recursive symbol the first is constructed."""
        if len(self.equations) == 1:
            return inst(self.equations[0], *arguments) if arguments else self.equations[0]
        first, *others = arguments
        number = constructor_of(first)
        if number is None:
            raise ProofError(f"{self.symbol}: {first} is not built by a constructor")
        return inst(self.equations[number], *first.children(), *others)


def fresh_symbol(name: str, *sorts: Sort) -> Symbol:
    """A symbol that nothing has used before, with a name that SMT-LIB can read."""
    opening = "n" if name[:1].isdigit() else ""
    readable = name.replace("'", "_").replace("|", "_").replace("\\", "_")
    return z3.Function(f"{opening}{readable}!{next(_numbers)}", *sorts)


def fresh_sort(name: str) -> Sort:
    return z3.DeclareSort(f"{name}!{next(_numbers)}")


def define(name: str, sorts: Sequence[Sort], result: Sort, body: Callable[..., Term]) -> Definition:
    """A new function with symbol(x…) = body(x…).

    >>> double = define("double", [z3.IntSort()], z3.IntSort(), lambda x: x + x)
    >>> prove("double 2 is 4", double(z3.IntVal(2)) == 4, double.equations)
    ⊢ double 2 is 4
    """
    symbol = fresh_symbol(name, *sorts, result)
    variables = _constants(sorts)
    right = _written(name, symbol, lambda: body(*variables))
    return Definition(symbol, (_equation(name, symbol(*variables), right, variables),))


def recursive(
    name: str,
    sort: Sort,
    sorts: Sequence[Sort],
    result: Sort,
    cases: Sequence[Callable[..., Term]],
) -> Definition:
    """A new function on a datatype, by one equation per constructor.

    A case is called with `recur`, the constructor's arguments and the other arguments. `recur` is
    the new function on the constructor's own arguments and on nothing else.
    """
    symbol = fresh_symbol(name, sort, *sorts, result)
    return Definition(symbol, _by_cases(name, symbol, symbol, sort, sorts, cases))


def _by_cases(
    name: str,
    symbol: Symbol,
    head: Callable[..., Term],
    sort: Sort,
    sorts: Sequence[Sort],
    cases: Sequence[Callable[..., Term]],
    at: Symbol = None,
) -> tuple[Thm, ...]:
    """For every constructor: head(constructor(arguments), others) = case(recur, …)."""
    equations = []
    for number, case in enumerate(cases):
        constructor = sort.constructor(number)
        arguments = _constants(map(constructor.domain, range(constructor.arity())))
        others = _constants(sorts)
        left = head(constructor(*arguments), *others)
        recur = _recursion(name, head, arguments)
        body = partial(case, recur, *arguments, *others)
        right = _written(name, symbol, body, arguments, at)
        label = f"{name} [{constructor.name()}]"
        equations.append(_equation(label, left, right, (*arguments, *others)))
    return tuple(equations)


def _recursion(
    name: str, head: Callable[..., Term], arguments: Sequence[Term]
) -> Callable[..., Term]:
    def recur(first: Term, *others: Term) -> Term:
        if not _among(first, arguments):
            raise ProofError(f"{name}: recursion on {first}, expected one of {arguments}")
        return head(first, *others)

    return recur


_unfinished: list[Symbol] = []  # those whose definitions are being written


def _written(
    name: str,
    symbol: Symbol,
    body: Callable[[], Term],
    arguments: Sequence[Term] = (),
    at: Symbol = None,
) -> Term:
    """The body of a definition, which speaks about the symbol at these arguments only.

    Raises ProofError when it got hold of the symbol otherwise, or bound an argument, so that it
    speaks about all; and when it is part of the definition of another symbol and speaks of that.
    """
    _unfinished.append(symbol)
    try:
        term = body()
    finally:
        _unfinished.pop()
    for index in _indices(term, symbol, at):
        if not _among(index, arguments):
            raise ProofError(f"{name}: speaks about itself at {index}, not by recursion")
    for each in filter(z3.is_app, subterms(term) if _unfinished else ()):
        if _among(each.decl(), _unfinished):
            raise ProofError(f"{name}: speaks about {each.decl()}, which is not defined yet")
    return term


def _indices(term: Term, symbol: Symbol, at: Symbol = None) -> Iterator[Term]:
    """Where the term has symbol(index, ...), or at(symbol(...), index): the indices.

    Of any other use of the symbol, the use itself.
    """
    seen: set[int] = set()
    waiting = [term]
    while waiting:
        here = waiting.pop()
        if here.get_id() in seen:
            continue
        seen.add(here.get_id())
        parts = here.children()
        if _is_made_by(here, symbol):
            yield parts[0] if parts and at is None else here
        elif at is not None and _is_made_by(here, at) and _is_made_by(parts[0], symbol):
            yield parts[1]
            parts = [*parts[0].children(), parts[1]]
        waiting += parts


def _equation(name: str, left: Term, right: Term, variables: Sequence[Term]) -> Thm:
    formula = left == right
    if variables:
        formula = z3.ForAll(list(variables), formula, patterns=[left])
    return _rule(name, formula, kind="definition")


def constructor_of(term: Term) -> int | None:
    """The number of the constructor that the term is built with; None when it is built by none."""
    if not (z3.is_app(term) and isinstance(term.sort(), z3.DatatypeSortRef)):
        return None
    sort = term.sort()
    for number in range(sort.num_constructors()):
        if term.decl().eq(sort.constructor(number)):
            return number
    return None


class FunctionSpace:
    """All functions from an index sort to a value sort, as values of one sort.

    `at(f, index)` applies; two functions equal at every index are equal; `define` makes one
    from any description of its values (comprehension). The real functions are a model of this.
    """

    def __init__(self, name: str, index: Sort, value: Sort) -> None:
        self.name, self.index, self.value = name, index, value
        self.sort = fresh_sort(name)
        self.at = fresh_symbol("at", self.sort, index, value)
        self.made: dict[int, Definition] = {}
        f, g = _constants([self.sort, self.sort])
        (place,) = _constants([index])
        same = z3.ForAll([place], self.at(f, place) == self.at(g, place))
        self.extensional = axiom(
            f"{name}: equal everywhere is equal", z3.ForAll([f, g], z3.Implies(same, f == g))
        )

    def define(
        self,
        name: str,
        sorts: Sequence[Sort],
        body: Callable[..., Term] | None = None,
        cases: Sequence[Callable[..., Term]] = (),
    ) -> Definition:
        """A function of parameters into this space, by `body(index, parameters)`, or by
        recursion on the index with one of `cases` per constructor."""
        symbol = fresh_symbol(name, *sorts, self.sort)

        def head(index: Term, *parameters: Term) -> Term:
            return self.at(symbol(*parameters), index)

        if body is None:
            equations = _by_cases(name, symbol, head, self.index, sorts, cases, self.at)
        else:
            index, *parameters = _constants([self.index, *sorts])
            left = head(index, *parameters)
            right = _written(name, symbol, partial(body, index, *parameters))
            equations = (_equation(name, left, right, (index, *parameters)),)
        definition = Definition(symbol, equations)
        self.made[symbol.get_id()] = definition
        return definition

    def definition_at(self, term: Term) -> Thm | None:
        """The equation that defines the term, when it is the value of a defined function."""
        if not (z3.is_app(term) and term.decl().eq(self.at)):
            return None
        function, index = term.children()
        definition = self.made.get(function.decl().get_id()) if z3.is_app(function) else None
        if definition is None:
            return None
        if len(definition.equations) > 1 and constructor_of(index) is None:
            return None
        return definition.unfold(index, *function.children())

    def equal(self, name: str, left: Term, right: Term, everywhere: Thm) -> Thm:
        """left = right, because they are equal at every index."""
        return prove(name, left == right, [inst(self.extensional, left, right), everywhere])


def unfold(spaces: Iterable[FunctionSpace], *terms: Term) -> list[Thm]:
    """The definitions of all values in these terms, and of the values in those, to the end."""
    known, found = tuple(spaces), dict[int, Thm]()
    waiting = list(terms)
    while waiting:
        for each in subterms(waiting.pop()):
            equations = (space.definition_at(each) for space in known)
            if each.get_id() not in found and (equation := next(filter(None, equations), None)):
                found[each.get_id()] = equation
                waiting.append(equation.formula.arg(1))
    return list(found.values())


# ---------------------------------------------------------------- abelian groups


@dataclass(frozen=True, eq=False)
class Group:
    """An abelian group on a sort: its symbols and the theorem (or axiom) that it is one."""

    sort: Sort
    add: Callable[[Term, Term], Term]
    neg: Callable[[Term], Term]
    zero: Term
    laws: Thm

    def sub(self, left: Term, right: Term) -> Term:
        return self.add(left, self.neg(right))


def group_laws(
    sort: Sort, add: Callable[[Term, Term], Term], neg: Callable[[Term], Term], zero: Term
) -> tuple[Formula, ...]:
    """Associative, commutative, neutral, inverse."""
    x, y, z = _law_variables(sort)
    return (
        z3.ForAll([x, y, z], add(add(x, y), z) == add(x, add(y, z))),
        z3.ForAll([x, y], add(x, y) == add(y, x)),
        z3.ForAll([x], add(x, zero) == x),
        z3.ForAll([x], add(x, neg(x)) == zero),
    )


def certificate(name: str, group: Group, goal: Formula, by: Iterable[Thm] = ()) -> Thm:
    """An equation that is a whole-number combination of other equations of the group.

    Valid in every abelian group, and complete: what is not such a combination fails in some
    group (2x = 0 does not give x = 0, though in the integers it would). z3 only finds the
    numbers; they are checked here.
    """
    if not _says_group(group):
        raise ProofError(f"{name}: {group.laws} does not say that this is an abelian group")
    if not _is_equation(goal, group.sort):
        raise ProofError(f"{name}: {goal} is no equation of {group.sort}")
    premises = [thm for thm in by if _is_equation(thm.formula, group.sort)]
    form = linear_form(group, *goal.children())
    forms = [linear_form(group, *thm.formula.children()) for thm in premises]
    started = perf_counter()
    factors = combination(form, forms)
    ms = (perf_counter() - started) * 1000
    if factors is None or combined(factors, forms) != form:
        raise ProofError(f"{name}: {goal} is no combination of {[t.formula for t in premises]}")

    def clash() -> list[Formula]:
        """Over the integers, which show a difference of factors: goal ≠ factors · premises."""
        numbers = {term: z3.Int(f"term{place}") for place, term in enumerate(_atoms(form, forms))}
        combined_terms = [f * _value(each, numbers) for f, each in zip(factors, forms, strict=True)]
        return [_value(form, numbers) != _sum(combined_terms)]

    query = Query(name, "certificate", ms, clash=clash)
    return _rule(name, goal, [group.laws, *premises], [query])


def _law_variables(sort: Sort) -> Sequence[Term]:
    return tuple(z3.Consts("x y z", sort))


@cache
def _says_group(group: Group) -> bool:
    """The theorem is the laws, of the symbols that `linear_form` reads, binding none of them."""
    x, y, _ = variables = _law_variables(group.sort)
    laws = z3.And(*group_laws(group.sort, group.add, group.neg, group.zero))
    read = _applies(group.add, x, y) and _applies(group.neg, x)
    captured = any(_among(each, variables) for each in subterms(group.zero))
    return bool(group.laws.formula.eq(laws)) and read and not captured


def _applies(symbol: Callable[..., Term], *arguments: Term) -> bool:
    """Whether a call of the symbol is the term made by it, of these arguments and no others."""
    made = symbol(*arguments)
    same = [each.eq(other) for each, other in zip(made.children(), arguments, strict=False)]
    return _is_made_by(made, symbol) and len(made.children()) == len(arguments) and all(same)


def _atoms(form: LinearForm, forms: Sequence[LinearForm]) -> list[int]:
    return list({term: None for each in (form, *forms) for term in each})


def _value(form: LinearForm, numbers: dict[int, Term]) -> Term:
    return _sum([times * numbers[term] for term, times in form.items()])


def _sum(terms: Sequence[Term]) -> Term:
    """Of any number of terms: SMT-LIB has no sum of one."""
    return z3.Sum(terms) if len(terms) > 1 else next(iter(terms), z3.IntVal(0))


def _is_equation(formula: Formula, sort: Sort) -> bool:
    return bool(z3.is_eq(formula)) and formula.arg(0).sort() == sort


LinearForm: TypeAlias = dict[int, int]  # factors, by z3's number of the term


def linear_form(group: Group, left: Term, right: Term) -> LinearForm:
    """left - right as factors of the terms that are no sums."""
    factors: LinearForm = {}
    zero = group.zero.get_id()
    waiting = [(left, 1), (right, -1)]
    while waiting:
        term, sign = waiting.pop()
        if _is_made_by(term, group.add):
            waiting += [(each, sign) for each in term.children()]
        elif _is_made_by(term, group.neg):
            waiting.append((term.arg(0), -sign))
        elif (number := term.get_id()) != zero:
            factors[number] = factors.get(number, 0) + sign
    return {term: factor for term, factor in factors.items() if factor}


def _is_made_by(term: Term, symbol: Any) -> bool:
    return bool(z3.is_app(term)) and bool(term.decl().eq(getattr(symbol, "symbol", symbol)))


def combination(form: LinearForm, forms: Sequence[LinearForm]) -> tuple[int, ...] | None:
    """Whole numbers that combine the forms to the form; None when there are none."""
    factors = _eliminated(form, forms)
    if combined(factors, forms) == form:
        return factors
    solver = z3.SimpleSolver()
    unknowns = [z3.Int(f"factor{number}") for number in range(len(forms))]
    for term in _atoms(form, forms):
        parts = [x * each[term] for x, each in zip(unknowns, forms, strict=True) if term in each]
        solver.add(_sum(parts) == form.get(term, 0))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return tuple(model.eval(x, model_completion=True).as_long() for x in unknowns)


def _eliminated(form: LinearForm, forms: Sequence[LinearForm]) -> tuple[int, ...]:
    """The combination where, one after the other, a term is left in one form only.

    Then its factor is forced. Most proofs are such chains of definitions, and z3 is not asked.
    """
    factors, left, rest = [0] * len(forms), dict(form), set(range(len(forms)))
    uses: dict[int, set[int]] = {}
    for number, each in enumerate(forms):
        for term in each:
            uses.setdefault(term, set()).add(number)
    waiting = [term for term, users in uses.items() if len(users) == 1]
    while waiting:
        term = waiting.pop()
        for number in uses[term] & rest:
            rest.discard(number)
            factors[number] = left.get(term, 0) // forms[number][term]
            for other, times in forms[number].items():
                left[other] = left.get(other, 0) - factors[number] * times
                uses[other].discard(number)
                if len(uses[other]) == 1:
                    waiting.append(other)
    return tuple(factors)


def combined(factors: Sequence[int], forms: Sequence[LinearForm]) -> LinearForm:
    total: LinearForm = {}
    for factor, form in zip(factors, forms, strict=True):
        for term, times in form.items():
            total[term] = total.get(term, 0) + factor * times
    return {term: times for term, times in total.items() if times}
