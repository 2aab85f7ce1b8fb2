"""The reference's own code, unmodified, on every path that the weights could send it down.

A `ForkedInt` is an integer known only by its form, a sum of products of weights. Wherever the
code needs to decide something about it (`if`, `>`, `==`, a dictionary lookup), the answer is that
of the weights which the run was started with, and it is noted. All weights that give the same
answers take the same path; on it everything is decided, so both sides are compared as they are.

    small weights ──▶ paths ──▶ do any weights take none of them? ── no ──▶ all were run
                        ▲                    │ asks z3
                        └────── these ───────┘

That last answer is the theorem, so how the paths were found need not be trusted.

This is for code that branches on weights, as aggregates do. It costs a run per path, so the
tables are tiny: that and the bound on the weights is the scope of such a proof.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product as product_of
from math import prod
from random import Random
from time import perf_counter
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import z3

from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forms import Form, Question, constant, formula_of, plus, product
from deltaproof.theorems.execution.symbolic import (
    Deltas,
    Steps,
    Subject,
    outputs,
    replayed,
)
from deltaproof.theorems.execution.watched import is_own
from deltaproof.theorems.kernel import (
    EFFORT,
    Counterexample,
    Formula,
    ProofError,
    Query,
    Thm,
    one_line,
    prove,
    queries,
    small_values,
)

MOST_PATHS = 5_000
MOST_TRIES = 1_000  # small weights to look for paths with

T = TypeVar("T")
Weights: TypeAlias = Mapping[str, int]


# ---------------------------------------------------------------- integers that note decisions


class Path:
    """One run: the weights that it was started with, and what it asked about them.

    All weights that give these answers take this path: nothing else of them was looked at.

    >>> path = Path({"w": 3})
    >>> bool(path.integer("w") > 1), path.conditions
    (True, [w + -1 > 0])
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = dict(weights)
        self.answers: list[tuple[Question, bool]] = []  # in the order in which they were asked
        self.known: dict[Question, bool] = {}

    def decide(self, question: Question) -> bool:
        """The answer on this path; it is noted unless it follows from earlier ones."""
        if question.known is not None:
            return question.known
        if question not in self.known:
            yes = question.answer(self.weights)
            self.answers.append((question, yes))
            self.known |= {question: yes, **question.follows(yes)}
        return self.known[question]

    def integer(self, name: str) -> ForkedInt:
        self.weights.setdefault(name, 0)
        return ForkedInt({(name,): 1}, self)

    @property
    def conditions(self) -> list[Formula]:
        """The answers, as z3 has them."""
        return [formula_of(question, yes) for question, yes in self.answers]


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
        if is_own(sys._getframe(1)):
            return hash(self._pinned())  # it may be looked for among plain integers
        return 0  # equal integers must hash alike, and which are equal is decided by asking

    def __bool__(self) -> bool:
        return self != 0

    def __str__(self) -> str:
        return str(self._pinned())

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self._pinned(), spec)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ProofError(f"{name} of an integer is not known of what stands for one")

    def _pinned(self) -> int:
        """The integer that it is here. That is noted: other integers do not take this path."""
        worth = sum(
            number * prod(self.path.weights[name] for name in names)
            for names, number in self.form.items()
        )
        self.path.decide(Question.zero(plus(self.form, constant(worth), -1)))
        return worth


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


# ---------------------------------------------------------------- paths


class Fork:
    """A question and what comes after each answer; or the end of a path, or where none was yet."""

    __slots__ = ("branches", "made", "question", "ran")

    def __init__(self) -> None:
        self.ran = False
        self.question: Question | None = None
        self.branches: tuple[Fork, ...] = ()  # after no, after yes
        self.made: Formula = None  # until another path passes by

    def after(self, question: Question, yes: bool) -> Fork:
        """Raises ProofError when a run with the same answers has asked something else."""
        self.made = None
        if self.question is None and not self.ran:
            self.question, self.branches = question, (Fork(), Fork())
        if self.question != question:
            raise ProofError(f"two runs with the same answers ask different questions: {question}")
        return self.branches[yes]

    def formula(self) -> Formula:
        """Which weights come to an end. Where both answers do, the question does not matter."""
        if self.question is None:
            return z3.BoolVal(self.ran)
        if self.made is None:
            no, yes = (branch.formula() for branch in self.branches)
            self.made = no if no.eq(yes) else z3.If(formula_of(self.question), yes, no)
        return self.made


class Tree:
    """The paths that were run, as the questions that part them.

    >>> path, tree = Path({"w": 3}), Tree("one sign")
    >>> if path.integer("w") > 0:
    ...     tree.add(path)
    >>> tree.has({"w": 5}), tree.has({"w": 0}), tree.formula()
    (True, False, If(w > 0, True, False))
    """

    def __init__(self, name: str = "the run") -> None:
        self.name = name
        self.ran = 0  # paths
        self.root = Fork()
        self.proof: Thm | None = None  # that there are no others

    def add(self, path: Path) -> None:
        """Takes in a path. Raises ProofError when there are too many of them."""
        if self.ran == MOST_PATHS:
            raise ProofError(f"more than {MOST_PATHS} paths: fewer rows or ticks")
        here = self.root
        for question, yes in path.answers:
            here = here.after(question, yes)
        here.ran = True
        self.ran += 1

    def has(self, weights: Weights) -> bool:
        """Whether these weights take a path that was run."""
        here = self.root
        while here.question is not None:
            here = here.branches[here.question.answer(weights)]
        return here.ran

    def formula(self) -> Formula:
        """Which weights do."""
        return self.root.formula()

    def left_out(self, given: Sequence[Formula]) -> Weights | None:
        """Weights that take no path so far; None where z3 finds none, which proves nothing yet."""
        solver = z3.SimpleSolver()
        solver.set("rlimit", EFFORT)
        solver.add(*given, z3.Not(self.formula()))
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return {each.name(): model[each].as_long() for each in model.decls()}

    def close(self, given: Sequence[Formula]) -> None:
        """Proves that no weights are left out. Raises ProofError when that fails."""
        name = f"{self.name}: {self.ran} paths were run, and there are no others"
        self.proof = prove(name, self.formula(), given=given)


def paths(
    run: Callable[[Path], T],
    given: Sequence[Formula] = (),
    tries: Iterable[Weights] = (),
    tree: Tree | None = None,
    around: Callable[[Weights], Iterable[Weights]] = lambda found: [found],
) -> Iterator[tuple[Path, T]]:
    """Every path of the run, with what it returned: those of the tries, then those z3 finds.

    Each time it does, weights `around` what it found are tried too. At the end `tree.proof` says
    that these were all.
    """
    tree = Tree() if tree is None else tree
    while tree.proof is None:
        for weights in tries:
            if not tree.has(weights):
                path = Path(weights)
                result = run(path)
                tree.add(path)
                yield path, result
        left_out = tree.left_out(given)
        if left_out is None:
            tree.close(given)
        else:
            tries = around(left_out)


def explore(
    subject: Subject, increment: Callable[[], Steps], tree: Tree | None = None
) -> Iterator[tuple[Path, int | None]]:
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

    return paths(run, bounds(subject), small_weights(subject), tree, partial(near, subject.bound))


def small_weights(subject: Subject) -> Iterator[Weights]:
    """All weights from -2 to 2, the smallest first; of too many, some at random."""
    names = [name for name, *_ in subject.weights()]
    numbers = (0, 1, -1, 2, -2)
    if len(numbers) ** len(names) <= MOST_TRIES:
        values: Iterable[Sequence[int]] = product_of(numbers, repeat=len(names))
    else:
        draw = Random(0)
        values = (draw.choices(numbers, k=len(names)) for _ in range(MOST_TRIES))
    for each in values:
        yield dict(zip(names, each, strict=True))


def near(bound: int, found: Weights) -> Iterator[Weights]:
    """The weights, and those where some are changed a little: missing paths come in flocks."""
    changed = [dict.fromkeys((weight, 0, weight + 1, weight - 1)) for weight in found.values()]
    few = len(changed) <= 5
    for weights in product_of(*changed) if few else [tuple(found.values())]:
        if all(-bound <= weight <= bound for weight in weights):
            yield dict(zip(found, weights, strict=True))


def bounds(subject: Subject) -> list[Formula]:
    """Weights from -bound to bound: sums of values stay within 64 bits, and copies are few."""
    names = [z3.Int(name) for name, *_ in subject.weights()]
    return [z3.And(name >= -subject.bound, name <= subject.bound) for name in names]


def prove_paths(subject: Subject) -> Thm:
    """On every path the code's output is D ∘ meaning ∘ I. Raises ProofError with the weights.

    The theorem that comes back says that the paths which were run leave no weights out.
    """
    tree = Tree(subject.name)
    for path, wrong_tick in explore(subject, subject.increment, tree):
        if wrong_tick is not None:
            weights = dict(weights_of(path, subject))
            raise ProofError(f"{subject.name}: wrong at tick {wrong_tick + 1} for {weights}")
    if tree.proof is None:
        raise ProofError(f"{subject.name}: nothing says that all paths were run")
    return tree.proof


def refute_paths(name: str, subject: Subject, wrong: Callable[[], Steps]) -> Counterexample:
    """Weights for which the wrong increment is wrong, replayed on integers."""
    started = perf_counter()
    for path, wrong_tick in explore(subject, wrong):
        if wrong_tick is not None:
            ms = (perf_counter() - started) * 1000
            return replayed(Counterexample(name, weights_of(path, subject), ms), subject, wrong)
    raise ProofError(f"{name}: the wrong increment was not refuted")


def weights_of(path: Path, subject: Subject) -> tuple[tuple[str, int], ...]:
    """Small weights that take this path."""
    solver = z3.SimpleSolver()
    solver.set("rlimit", EFFORT)
    solver.add(*bounds(subject), *path.conditions)
    names = [name for name, *_ in subject.weights()]
    values = small_values(solver, list(map(z3.Int, names)))
    return values or tuple((name, path.weights[name]) for name in names)


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


def wrong_tick(subject: Subject, increment: Steps, weights: Weights) -> int | None:
    """The first tick at which the increment is wrong on these weights."""
    ticks = subject.deltas(weights.__getitem__)
    for number, (output, expected) in enumerate(outputs(subject, increment, ticks)):
        if output != expected:
            return number
    return None


class Remembered:
    """A meaning that is computed once for equal inputs: it is a function."""

    def __init__(self, meaning: Callable[..., ZSet]) -> None:
        self.meaning = meaning
        self.known: dict[Any, ZSet] = {}

    def __call__(self, *inputs: ZSet) -> ZSet:
        key = tuple(frozenset(each.items()) for each in inputs)
        if key not in self.known:
            self.known[key] = self.meaning(*inputs)
        return self.known[key]


def all_deltas(subject: Subject, low: int, high: int) -> list[Deltas]:
    """What the inputs may change by at a tick, each row with a weight from low to high."""
    one_tick = replace(subject, ticks=1)
    return [one_tick.deltas(each.__getitem__)[0] for each in all_weights(one_tick, low, high)]


def prove_each(subject: Subject, low: int, high: int) -> Enumerated:
    """Right for all weights from low to high, each run by itself.

    For code that makes something of every single copy of a row: it asks which number a weight is,
    so that its paths are the numbers.
    """
    started = perf_counter()
    deltas = all_deltas(subject, low, high)
    remembered = replace(subject, meaning=Remembered(subject.meaning))
    for before in product_of(deltas, repeat=subject.ticks - 1):
        if ticks := first_wrong(remembered, before, deltas):
            shown = ", ".join(one_line(delta) for tick in ticks for delta in tick)
            raise ProofError(f"{subject.name}: wrong at tick {len(ticks)} for the deltas {shown}")
    runs = len(deltas) ** subject.ticks
    name = f"{subject.name}: right for {runs} combinations of weights"
    return Enumerated((Query(name, "enumerated", (perf_counter() - started) * 1000),))


@runtime_checkable
class Saves(Protocol):
    """An increment that shows its state, as the reference's do."""

    def save(self) -> Any: ...


def first_wrong(
    subject: Subject, before: Sequence[Deltas], deltas: Sequence[Deltas]
) -> Sequence[Deltas]:
    """The ticks at whose last the increment is wrong: of these before, then one of the deltas.

    An increment that shows its state is asked for every delta in the one state that the ticks
    before left. Raises ProofError when that changed without a commit.
    """
    increment = subject.increment()
    for number, (output, expected) in enumerate(outputs(subject, increment, before)):
        if output != expected:
            return before[: number + 1]
    shown = increment if isinstance(increment, Saves) else None
    state = shown.save() if shown else None
    for last in deltas:
        if not shown:
            increment = after(subject, before)
        if increment.step(*last) != last_change(subject, (*before, last)):
            return (*before, last)
    if shown and shown.save() != state:
        raise ProofError(f"{subject.name}: a step that was not committed has changed the state")
    return ()


def after(subject: Subject, ticks: Sequence[Deltas]) -> Steps:
    """A new increment that has seen these ticks."""
    increment = subject.increment()
    for deltas in ticks:
        increment.step(*deltas)
        increment.commit()
    return increment


def last_change(subject: Subject, ticks: Sequence[Deltas]) -> ZSet:
    """D ∘ meaning ∘ I at the last of these ticks."""
    integrals = [integrate(stream) for stream in zip(*ticks, strict=True)]
    return differentiate(subject.contents(*integrals))[-1]


def enumerated(*proofs: Enumerated | Thm) -> Enumerated:
    """All of these as one, with theorems about paths among them."""
    found: list[Query] = []
    for proof in proofs:
        found += queries(proof) if isinstance(proof, Thm) else proof.queries
    return Enumerated(tuple(found))


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
