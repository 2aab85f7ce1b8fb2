"""The reference's own code, unmodified, on every path that the weights could send it down.

A `ForkedInt` is an integer known only by its term. Wherever the code needs to decide
something about it (`if`, `>`, `==`, a dictionary lookup), the path is split: the code is run
again from the start for each answer that z3 finds possible, until every path has been run. On
one path everything is decided, so the two sides are compared as they are.

This is for code that branches on weights, as aggregates do. It costs a run per path, so the
tables are tiny: that and the bound on the weights is the scope of such a proof.

Z3's "unknown" counts as possible: a path that no weights take is run in vain, and none is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product as product_of
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

import z3

from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    ProofError,
    Query,
    Term,
    Thm,
    prove,
    small_values,
)
from deltaproof.theorems.symbolic import Steps, Subject, outputs, replayed

EFFORT = 2_000_000
MOST_PATHS = 5_000

T = TypeVar("T")


# ---------------------------------------------------------------- sums of products of weights

Form: TypeAlias = Mapping[tuple[str, ...], int]  # the factor of each product of weights


def constant(number: int) -> Form:
    return {(): number} if number else {}


def plus(one: Form, other: Form, times: int = 1) -> Form:
    """one + times · other."""
    total = dict(one)
    for names, factor in other.items():
        total[names] = total.get(names, 0) + times * factor
    return {names: factor for names, factor in total.items() if factor}


def product(one: Form, other: Form) -> Form:
    total: Form = {}
    for names, factor in one.items():
        terms = {tuple(sorted((*names, *more))): factor * each for more, each in other.items()}
        total = plus(total, terms)
    return total


def term_of_form(form: Form) -> Term:
    """The form as z3 has it."""
    products = [
        z3.Product([z3.IntVal(factor), *map(z3.Int, names)]) for names, factor in form.items()
    ]
    return z3.Sum([z3.IntVal(0), *products])


@dataclass(frozen=True)
class Question:
    """Is the form above zero, or, where `equal` is asked, zero?"""

    parts: frozenset[tuple[tuple[str, ...], int]]
    equal: bool = False

    @classmethod
    def positive(cls, form: Form) -> Question:
        return cls(frozenset(form.items()))

    @classmethod
    def zero(cls, form: Form) -> Question:
        """Asked in one way, whatever the sign."""
        turned = bool(form) and form[min(form)] < 0
        return cls(frozenset(plus({}, form, -1 if turned else 1).items()), equal=True)

    @cached_property
    def known(self) -> bool | None:
        """The answer that needs no weights: to a question about a number."""
        if any(names for names, _ in self.parts):
            return None
        number = sum(factor for _, factor in self.parts)
        return number == 0 if self.equal else number > 0

    def follows(self, yes: bool) -> dict[Question, bool]:
        """What the answer says about other questions."""
        form = dict(self.parts)
        above, below = self.positive(form), self.positive(plus({}, form, -1))
        if self.equal:
            return {above: False, below: False} if yes else {}
        opposite = {self.positive(plus(constant(1), form, -1)): not yes}
        return opposite | ({self.zero(form): False, below: False} if yes else {})


@cache
def formula_of(question: Question) -> Formula:
    """The question as z3 has it; every path asks the same ones again."""
    term = term_of_form(dict(question.parts))
    return term == 0 if question.equal else term > 0


# ---------------------------------------------------------------- paths


@dataclass(frozen=True)
class Answer:
    """What a path answers to a new question; `forced` when the other answer is impossible."""

    yes: bool
    forced: bool


class Path:
    """One run: the answers so far, and what z3 knows from them."""

    def __init__(self, answers: Sequence[Answer], given: Sequence[Formula]) -> None:
        self.answers = list(answers)
        self.given = given
        self.asked = 0
        self.others: list[tuple[Answer, ...]] = []
        self.conditions: list[Formula] = []
        self.known: dict[Question, bool] = {}

    @cached_property
    def solver(self) -> Any:
        """z3, with all that was decided; it is not needed while old answers are repeated."""
        solver = z3.Solver()
        solver.set("rlimit", EFFORT)
        solver.add(*self.given, *self.conditions)
        return solver

    def decide(self, question: Question) -> bool:
        """The answer on this path. A new question with two possible answers splits it."""
        if question.known is not None:
            return question.known
        if question not in self.known:
            yes = self.new_answer(question)
            self.known |= {question: yes, **question.follows(yes)}
        return self.known[question]

    def new_answer(self, question: Question) -> bool:
        if self.asked == len(self.answers):
            self.answers.append(self.first_answer(formula_of(question)))
        answer = self.answers[self.asked]
        self.asked += 1
        if not answer.forced:
            formula = formula_of(question)
            self.add(formula if answer.yes else z3.Not(formula))
        return answer.yes

    def add(self, condition: Formula) -> None:
        self.conditions.append(condition)
        if "solver" in vars(self):
            self.solver.add(condition)

    def first_answer(self, condition: Formula) -> Answer:
        """Yes when it is possible; then No is left for another path, if it is possible too."""
        if self.solver.check(condition) == z3.unsat:
            return Answer(yes=False, forced=True)
        if self.solver.check(z3.Not(condition)) == z3.unsat:
            return Answer(yes=True, forced=True)
        self.others.append((*self.answers, Answer(yes=False, forced=False)))
        return Answer(yes=True, forced=False)

    def integer(self, name: str) -> ForkedInt:
        return ForkedInt({(name,): 1}, self)


class ForkedInt:
    """An integer whose value is decided question by question."""

    symbolic_weight = True
    __slots__ = ("form", "path")

    def __init__(self, form: Form, path: Path) -> None:
        self.form, self.path = form, path

    def _made(self, form: Form) -> Any:
        """The integer of this form: a plain one, where no weights are left in it."""
        return ForkedInt(form, self.path) if any(form) else form.get((), 0)

    def __add__(self, other: Any) -> Any:
        return self._made(plus(self.form, form_of(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._made(plus(self.form, form_of(other), -1))

    def __rsub__(self, other: Any) -> Any:
        return self._made(plus(form_of(other), self.form, -1))

    def __mul__(self, other: Any) -> Any:
        return self._made(product(self.form, form_of(other)))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self._made(plus({}, self.form, -1))

    def __truediv__(self, other: Any) -> ForkedQuotient:
        return ForkedQuotient(self.form, form_of(other), self.path)

    def __rtruediv__(self, other: Any) -> ForkedQuotient:
        return ForkedQuotient(form_of(other), self.form, self.path)

    def __gt__(self, other: Any) -> bool:
        return self.path.decide(Question.positive(plus(self.form, form_of(other), -1)))

    def __lt__(self, other: Any) -> bool:
        return self.path.decide(Question.positive(plus(form_of(other), self.form, -1)))

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | ForkedInt):
            return NotImplemented
        return self.path.decide(Question.zero(plus(self.form, form_of(other), -1)))

    def __hash__(self) -> int:
        return 0  # equal integers must hash alike, and which are equal is decided by asking

    def __bool__(self) -> bool:
        return self != 0


def form_of(value: Any) -> Form:
    return value.form if isinstance(value, ForkedInt) else constant(value)


class ForkedQuotient:
    """A quotient of integers, before it is rounded to a double.

    Two doubles are taken as equal where the quotients are: rounding is a function. That
    unequal quotients may round to one double makes no difference to the comparison, because both
    sides of it round the same quotients (see `admitted`).
    """

    __slots__ = ("denominator", "numerator", "path")

    def __init__(self, numerator: Form, denominator: Form, path: Path) -> None:
        self.numerator, self.denominator, self.path = numerator, denominator, path

    def __add__(self, other: Any) -> ForkedQuotient:
        if other != 0.0:
            raise ProofError(f"a quotient plus {other}: only + 0.0, against -0.0, is understood")
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForkedQuotient):
            return NotImplemented
        left = product(self.numerator, other.denominator)
        right = product(other.numerator, self.denominator)
        return self.path.decide(Question.zero(plus(left, right, -1)))

    def __hash__(self) -> int:
        return 0


def paths(run: Callable[[Path], T], given: Sequence[Formula]) -> Iterator[tuple[Path, T]]:
    """Every path of the run, with what it returned. Raises ProofError when there are too many."""
    waiting: list[tuple[Answer, ...]] = [()]
    for _ in range(MOST_PATHS):
        if not waiting:
            return
        path = Path(waiting.pop(), given)
        result = run(path)
        waiting += path.others
        yield path, result
    raise ProofError(f"more than {MOST_PATHS} paths: fewer rows or ticks")


def explore(subject: Subject, increment: Callable[[], Steps]) -> Iterator[tuple[Path, int | None]]:
    """Every path, with the first tick at which the increment is wrong, None when it is right."""

    def run(path: Path) -> int | None:
        ticks = subject.deltas(path.integer)
        try:
            for number, (output, expected) in enumerate(outputs(subject, increment(), ticks)):
                if output - expected:
                    return number
        except TypeError as error:
            raise ProofError(f"{subject.name}: cannot run on symbolic integers: {error}") from error
        return None

    return paths(run, bounds(subject))


def bounds(subject: Subject) -> list[Formula]:
    """Weights from -bound to bound: sums of values stay within 64 bits, and copies are few."""
    names = [z3.Int(name) for name, *_ in subject.weights()]
    return [z3.And(name >= -subject.bound, name <= subject.bound) for name in names]


def prove_paths(subject: Subject) -> Thm:
    """On every path the code's output is D ∘ meaning ∘ I. Raises ProofError with the weights.

    The theorem that comes back says that the paths which were run leave no weights out: z3 is
    asked once for all of them, so a fault in the search for paths would show.
    """
    conditions = []
    for path, wrong_tick in explore(subject, subject.increment):
        if wrong_tick is not None:
            weights = dict(weights_of(path, subject))
            raise ProofError(f"{subject.name}: wrong at tick {wrong_tick + 1} for {weights}")
        conditions.append(z3.And(*path.conditions))
    name = f"{subject.name}: right on {len(conditions)} paths, and there are no others"
    return prove(name, z3.Or(*conditions), given=bounds(subject))


def refute_paths(name: str, subject: Subject, wrong: Callable[[], Steps]) -> Counterexample:
    """Weights for which the wrong increment is wrong, replayed on integers."""
    started = perf_counter()
    for path, wrong_tick in explore(subject, wrong):
        if wrong_tick is not None:
            ms = (perf_counter() - started) * 1000
            return replayed(Counterexample(name, weights_of(path, subject), ms), subject, wrong)
    raise ProofError(f"{name}: the wrong increment was not refuted")


def weights_of(path: Path, subject: Subject) -> tuple[tuple[str, int], ...]:
    """Weights that take this path. Raises ProofError when z3 finds none."""
    values = small_values(path.solver, [z3.Int(name) for name, *_ in subject.weights()])
    if values is None:
        raise ProofError(f"{subject.name}: z3 finds no weights that take a path that may be wrong")
    return values


# ---------------------------------------------------------------- every weight, one by one


@dataclass(frozen=True)
class Enumerated:
    """Runs on plain integers, every combination of them."""

    queries: tuple[Query, ...]


def all_weights(subject: Subject, low: int, high: int) -> Iterator[dict[str, int]]:
    """Every assignment of weights from low to high, small ones first."""
    names = [name for name, *_ in subject.weights()]
    numbers = sorted(range(low, high + 1), key=abs)
    for values in product_of(numbers, repeat=len(names)):
        yield dict(zip(names, values, strict=True))


def wrong_tick(subject: Subject, increment: Steps, weights: Mapping[str, int]) -> int | None:
    """The first tick at which the increment is wrong on these weights."""
    ticks = subject.deltas(weights.__getitem__)
    for number, (output, expected) in enumerate(outputs(subject, increment, ticks)):
        if output != expected:
            return number
    return None


def prove_each(subject: Subject, low: int, high: int) -> Enumerated:
    """Right for all weights from low to high, each run by itself.

    For code that makes something of every single copy of a row: it asks which number a weight is,
    so that its paths are the numbers.
    """
    started = perf_counter()
    runs = 0
    for weights in all_weights(subject, low, high):
        runs += 1
        if (tick := wrong_tick(subject, subject.increment(), weights)) is not None:
            raise ProofError(f"{subject.name}: wrong at tick {tick + 1} for {weights}")
    name = f"{subject.name}: right for {runs} combinations of weights"
    return Enumerated((Query(name, "enumerated", (perf_counter() - started) * 1000),))


def enumerated(*proofs: Enumerated) -> Enumerated:
    """All of these as one."""
    return Enumerated(tuple(query for proof in proofs for query in proof.queries))


def refute_each(
    name: str, subject: Subject, wrong: Callable[[], Steps], low: int, high: int
) -> Counterexample:
    """Small weights for which the wrong increment is wrong."""
    started = perf_counter()
    for weights in all_weights(subject, low, high):
        if wrong_tick(subject, wrong(), weights) is not None:
            ms = (perf_counter() - started) * 1000
            return replayed(Counterexample(name, tuple(weights.items()), ms), subject, wrong)
    raise ProofError(f"{name}: the wrong increment was not refuted")
