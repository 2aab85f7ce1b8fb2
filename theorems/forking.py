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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import z3

from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    ProofError,
    Term,
    Thm,
    prove,
    small_values,
)
from deltaproof.theorems.symbolic import Steps, Subject, outputs, replayed

BOUND = 1000  # weights from -BOUND to BOUND, so that sums of values stay within 64 bits
EFFORT = 2_000_000
MOST_PATHS = 5_000

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """What a path answers to a new question; `forced` when the other answer is impossible."""

    yes: bool
    forced: bool


class Path:
    """One run: the answers so far, and what z3 knows from them."""

    def __init__(self, answers: Sequence[Answer], given: Sequence[Formula]) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.others: list[tuple[Answer, ...]] = []
        self.conditions: list[Formula] = []
        self.known: dict[Formula, bool] = {}
        self.solver = z3.Solver()
        self.solver.set("rlimit", EFFORT)
        self.solver.add(*given)

    def decide(self, condition: Formula) -> bool:
        """The answer on this path. A new question with two possible answers splits it."""
        simple = z3.simplify(condition)
        if z3.is_true(simple) or z3.is_false(simple):
            return bool(z3.is_true(simple))
        if simple not in self.known:
            self.known[simple] = self.new_answer(simple)
        return self.known[simple]

    def new_answer(self, condition: Formula) -> bool:
        if self.asked == len(self.answers):
            self.answers.append(self.first_answer(condition))
        answer = self.answers[self.asked]
        self.asked += 1
        if not answer.forced:
            self.conditions.append(condition if answer.yes else z3.Not(condition))
            self.solver.add(self.conditions[-1])
        return answer.yes

    def first_answer(self, condition: Formula) -> Answer:
        """Yes when it is possible; then No is left for another path, if it is possible too."""
        if self.solver.check(condition) == z3.unsat:
            return Answer(yes=False, forced=True)
        if self.solver.check(z3.Not(condition)) == z3.unsat:
            return Answer(yes=True, forced=True)
        self.others.append((*self.answers, Answer(yes=False, forced=False)))
        return Answer(yes=True, forced=False)

    def integer(self, name: str) -> ForkedInt:
        return ForkedInt(z3.Int(name), self)


class ForkedInt:
    """An integer whose value is decided question by question."""

    symbolic_weight = True
    __slots__ = ("path", "term")

    def __init__(self, term: Term, path: Path) -> None:
        self.term, self.path = term, path

    def _made(self, term: Term) -> ForkedInt:
        return ForkedInt(term, self.path)

    def __add__(self, other: Any) -> ForkedInt:
        return self._made(self.term + integer_term(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> ForkedInt:
        return self._made(self.term - integer_term(other))

    def __rsub__(self, other: Any) -> ForkedInt:
        return self._made(integer_term(other) - self.term)

    def __mul__(self, other: Any) -> ForkedInt:
        return self._made(self.term * integer_term(other))

    __rmul__ = __mul__

    def __neg__(self) -> ForkedInt:
        return self._made(-self.term)

    def __truediv__(self, other: Any) -> ForkedQuotient:
        return ForkedQuotient(self.term, integer_term(other), self.path)

    def __rtruediv__(self, other: Any) -> ForkedQuotient:
        return ForkedQuotient(integer_term(other), self.term, self.path)

    def __gt__(self, other: Any) -> bool:
        return self.path.decide(self.term > integer_term(other))

    def __ge__(self, other: Any) -> bool:
        return self.path.decide(self.term >= integer_term(other))

    def __lt__(self, other: Any) -> bool:
        return self.path.decide(self.term < integer_term(other))

    def __le__(self, other: Any) -> bool:
        return self.path.decide(self.term <= integer_term(other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | ForkedInt):
            return NotImplemented
        return self.path.decide(self.term == integer_term(other))

    def __hash__(self) -> int:
        return 0  # equal integers must hash alike, and which are equal is decided by asking

    def __bool__(self) -> bool:
        return self.path.decide(self.term != 0)


def integer_term(value: Any) -> Term:
    return value.term if isinstance(value, ForkedInt) else z3.IntVal(value)


class ForkedQuotient:
    """A quotient of integers, before it is rounded to a double.

    Two doubles are taken as equal where the quotients are: rounding is a function. That
    unequal quotients may round to one double makes no difference to the comparison, because both
    sides of it round the same quotients (see `admitted`).
    """

    __slots__ = ("denominator", "numerator", "path")

    def __init__(self, numerator: Term, denominator: Term, path: Path) -> None:
        self.numerator, self.denominator, self.path = numerator, denominator, path

    def __add__(self, other: Any) -> ForkedQuotient:
        if other != 0.0:
            raise ProofError(f"a quotient plus {other}: only + 0.0, against -0.0, is understood")
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForkedQuotient):
            return NotImplemented
        left = self.numerator * other.denominator
        return self.path.decide(left == other.numerator * self.denominator)

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
    return [z3.And(z3.Int(name) >= -BOUND, z3.Int(name) <= BOUND) for name, *_ in subject.weights()]


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
