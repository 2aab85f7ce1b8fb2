"""A claim about functions, decided twice: by z3 for all integers, by the functions for some.

A claim comes as formulas and as a *judge*, which runs the functions themselves. z3 says whether
the formulas hold; the judge has the last word. What it finds at the smallest arguments is the
counterexample, and a claim that z3 proved must hold there too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from time import perf_counter
from typing import Any, Literal, TypeAlias

import z3

from deltaproof.reference.errors import UsageError
from deltaproof.theorems.kernel import EFFORT, Counterexample, Formula, ProofError, ask
from deltaproof.theorems.verify.code import Code, difference, too_many_digits
from deltaproof.theorems.verify.source import UnsupportedCode
from deltaproof.theorems.verify.values import (
    BOOL,
    Shape,
    Value,
    binary,
    conjunction,
    disjunction,
    equality,
    filled,
    flat,
    number,
    shape_of,
    skeleton,
    term,
    variables,
)

Answer = Literal["proved", "refuted", "unknown"]
Function: TypeAlias = Callable[..., Any]
Arguments: TypeAlias = tuple[Value, ...]
Condition: TypeAlias = tuple[str, list[Formula], Formula]  # its name, what is supposed, the goal
Conditions: TypeAlias = tuple[Condition, ...]

EXIT_CODES: dict[Answer, int] = {"proved": 0, "refuted": 1, "unknown": 2}
MOST_TRIED = 5_000  # small arguments on which a claim that was not proved is run
SOME_TRIED = 500  # on which one that was proved is run
LARGEST_SHELL = 20_000  # arguments with one sum that are brought into order


@dataclass(frozen=True)
class Verdict:
    """What was claimed, and what was found.

    >>> print(Verdict("double is linear", "proved", "all integers"))
    double is linear: proved, all integers
    >>> Verdict("f is linear", "unknown", why="z3 gave up").exit_code
    2
    """

    claim: str
    answer: Answer
    scope: str = ""
    counterexample: Counterexample | None = None
    why: str = ""
    ms: float = 0.0

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]

    def __str__(self) -> str:
        if self.counterexample is not None:
            return f"{self.claim.replace(' is ', ' is not ', 1)}: {self.counterexample.replay}"
        return f"{self.claim}: {self.answer}, {self.scope or self.why}"

    def to_json(self) -> dict[str, Any]:
        found = self.counterexample
        shown = None if found is None else {"values": dict(found.values), "text": found.replay}
        return {
            "claim": self.claim,
            "answer": self.answer,
            "scope": self.scope,
            "counterexample": shown,
            "why": self.why,
            "ms": round(self.ms, 1),
        }


# ---------------------------------------------------------------- what the claims are made of


@dataclass(frozen=True)
class Role:
    """Some arguments in a claim, such as those before a delta."""

    name: str
    parameters: Sequence[str]
    values: Arguments
    moves: bool = False  # where this role is always zero, the claim says nothing

    def names(self) -> list[str]:
        """A name for each number, as a counterexample shows it."""
        found = []
        for parameter, value in zip(self.parameters, self.values, strict=True):
            alone = self.name if len(self.parameters) == 1 else f"{self.name}.{parameter}"
            found += _members(alone if self.name else parameter, value)
        return found


def _members(name: str, value: Value) -> list[str]:
    if not isinstance(value, tuple):
        return [name]
    return [each for i, part in enumerate(value) for each in _members(f"{name}[{i}]", part)]


@dataclass(frozen=True)
class Claim:
    """A claim as formulas for z3, and as a judge that runs the functions themselves.

    A judge takes the arguments of each role; it says how the claim fails there, or "". Of several
    the first is asked everywhere before the second is: its counterexample says more.
    """

    roles: tuple[Role, ...]
    conditions: Conditions
    judges: tuple[Callable[..., str], ...]
    codes: tuple[Code, ...]
    of: str = "all integers"
    covers: str = ""
    given: Function | None = None
    late_first: bool = False  # of two small counterexamples, the one with the smaller last role

    @property
    def numbers(self) -> list[Value]:
        return [number for role in self.roles for number in flat(role.values)]

    @property
    def names(self) -> list[str]:
        return [name for role in self.roles for name in role.names()]

    def fails(self, judge: Callable[..., str], numbers: Sequence[Any]) -> str:
        """What a judge says of these numbers."""
        left = iter(numbers)
        arguments = [filled(tuple(map(shape_of, role.values)), left) for role in self.roles]
        try:
            return judge(*arguments)
        except ValueError:  # the functions do not raise; printing what they return does
            raise too_many_digits() from None

    def scope(self) -> str:
        supposed = f" for which {name_of(self.given)} holds" if self.given else ""
        constants = {f"{name} = {value}" for code in self.codes for name, value in code.constants}
        read = f"with {' and '.join(sorted(constants))}" if constants else ""
        return ", ".join(filter(None, [self.of + supposed, self.covers, read]))


def conditions(hypotheses: list[Formula], *goals: tuple[str, Value, Value]) -> Conditions:
    """One condition for each number of each goal `name: one = other`."""
    found: list[Condition] = []
    for name, one, other in goals:
        if skeleton(shape_of(one)) != skeleton(shape_of(other)):
            found.append((name, hypotheses, z3.BoolVal(False)))
            continue
        pairs = list(zip(flat(one), flat(other), strict=True))
        for place, (a, b) in enumerate(pairs):
            label = f"{name}[{place}]" if len(pairs) > 1 else name
            found.append((label, hypotheses, term(equality(a, b))))
    return tuple(found)


def point(name: str, shapes: Sequence[Shape]) -> Arguments:
    """Arguments of these shapes, made of new variables."""
    return tuple([variables(name or "w", shape) for shape in shapes])


def zero(shape: Shape) -> Value:
    """
    >>> zero(("int", ("bool", "int")))
    (0, (False, 0))
    """
    return tuple(map(zero, shape)) if isinstance(shape, tuple) else False if shape == BOOL else 0


def plus(one: Value, other: Value) -> Value:
    """The sum; tuples member by member.

    >>> plus((1, (2, 3)), (10, (20, 30)))
    (11, (22, 33))
    """
    if isinstance(one, tuple):
        return tuple([plus(a, b) for a, b in zip(one, other, strict=True)])
    return binary(ast.Add(), number(one), number(other))


def minus(one: Value, other: Value) -> Value:
    """The difference; tuples member by member."""
    if isinstance(one, tuple):
        return tuple([minus(a, b) for a, b in zip(one, other, strict=True)])
    return binary(ast.Sub(), number(one), number(other))


def name_of(function: Any) -> str:
    """What to call a function. Raises UsageError for what cannot be called."""
    if not callable(function):
        raise UsageError(f"expected a function, got {function!r}")
    return str(getattr(function, "__name__", type(function).__name__))


# ---------------------------------------------------------------- the answer


def decided(text: str, build: Callable[[], Claim]) -> Verdict:
    """The verdict on a claim. Code that is not translated makes it unknown."""
    started = perf_counter()

    def verdict(answer: Answer, **found: Any) -> Verdict:
        return Verdict(text, answer, ms=(perf_counter() - started) * 1000, **found)

    try:
        claim = build()
        check_translations(claim)
        check_not_vacuous(claim)
        failed = [each for each in claim.conditions if not holds(each)]
        if not failed:
            check_small(claim)
            return verdict("proved", scope=claim.scope())
        if found := counterexample(claim, failed):
            values, replay = found
            shown = tuple(zip(claim.names, values, strict=True))
            ms = (perf_counter() - started) * 1000
            return verdict("refuted", counterexample=Counterexample(text, shown, ms, replay))
        return verdict("unknown", why=gave_up(failed))
    except (UnsupportedCode, z3.Z3Exception) as refusal:
        return verdict("unknown", why=str(refusal))
    except RecursionError:
        return verdict("unknown", why=TOO_DEEP)


TOO_DEEP = "Python's stack is too small for this: fewer arguments, or tuples less deep"


def gave_up(failed: Sequence[Condition]) -> str:
    of = f" on its {failed[0][0]}" if failed[0][0] else ""
    return (
        f"z3 gave up{of} after {EFFORT:,} units, and of the {MOST_TRIED:,} smallest arguments none "
        "refutes it. What helps: fewer products of weights, a narrower `given`, or one claim for "
        "each part of the function"
    )


def check_translations(claim: Claim) -> None:
    """Raises UnsupportedCode where a function and its translation differ."""
    for code in claim.codes:
        if found := difference(code):
            raise mistranslated(code, found)


def mistranslated(code: Code, found: str) -> UnsupportedCode:
    what = f"the translation and the function differ: {found}"
    return code.source.refused(code.source.node, what, MISTAKE)


MISTAKE = "if it depends on its arguments only, this is a mistake of deltaproof: please report it"


def check_not_vacuous(claim: Claim) -> None:
    """Raises UnsupportedCode when `given` leaves nothing, or only zeros where something moves."""
    moving = [role for role in claim.roles if role.moves]
    moves: Value = True
    for role in moving:
        moves = conjunction(moves, disjunction_of([number != 0 for number in flat(role.values)]))
    name = name_of(claim.given) if claim.given else ""
    names = ", ".join(role.name for role in moving)
    zeros = "only zero deltas satisfy" if len(moving) < 2 else f"one of {names} is always 0 under"
    nothing = (
        "nothing satisfies" if len(claim.roles) < 2 else "no arguments, with their sums, satisfy"
    )
    for _, hypotheses, _ in claim.conditions if claim.given else ():
        for needed, what in ((True, nothing), (moves, zeros)):
            solver = z3.Solver()
            solver.set("rlimit", EFFORT)
            solver.add(*hypotheses, term(needed))
            answer = solver.check()
            if answer == z3.unsat:
                raise UnsupportedCode(f"{what} `given` ({name})", "a wider precondition")
            if answer == z3.unknown:
                found = f"z3 finds nothing that satisfies `given` ({name})"
                raise UnsupportedCode(found, "a simpler precondition, without products of weights")


def disjunction_of(formulas: Sequence[Formula]) -> Value:
    found: Value = False
    for each in formulas:
        found = disjunction(found, each)
    return found


def holds(condition: Condition) -> bool:
    """Does z3 prove it? False also when it gives up."""
    name, hypotheses, goal = condition
    try:
        ask(name or "the claim", [], goal, given=hypotheses)
    except ProofError:
        return False
    return True


def check_small(claim: Claim) -> None:
    """Raises UnsupportedCode when a claim that z3 has proved fails at small arguments."""
    for numbers in islice(small_points(claim), SOME_TRIED):
        for judge in claim.judges:
            if fails := claim.fails(judge, numbers):
                raise mistranslated(claim.codes[0], fails)


def counterexample(claim: Claim, failed: Sequence[Condition]) -> tuple[list[Any], str] | None:
    """The smallest numbers found for which the functions themselves break the claim, and how."""
    for judge in claim.judges:
        for numbers in islice(small_points(claim), MOST_TRIED):
            if fails := claim.fails(judge, numbers):
                return numbers, fails
    found = (smallest(claim.numbers, each) for each in failed)
    for numbers in sorted((each for each in found if each is not None), key=size):
        for judge in claim.judges:
            if fails := claim.fails(judge, numbers):
                return numbers, fails
        where = ", ".join(f"{n} = {x}" for n, x in zip(claim.names, numbers, strict=True))
        raise mistranslated(claim.codes[0], where)
    return None


def size(numbers: Sequence[Any]) -> int:
    return sum(map(abs, numbers))


def small_points(claim: Claim) -> Iterator[list[Any]]:
    """Numbers for the claim, those with the smallest sum first, of those the fewest negative."""
    shapes = [shape_of(number) for number in claim.numbers]
    widths = [len(flat(role.values)) for role in claim.roles]
    ends = [sum(widths[: place + 1]) for place in range(len(widths))]
    slices = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]

    def order(numbers: list[Any]) -> tuple[int, list[Any]]:
        roles = [numbers[each] for each in slices]
        late = [number for role in reversed(roles) for number in role]
        return sum(number < 0 for number in numbers), late if claim.late_first else numbers

    for total in count():
        shell = list(islice(of_size(shapes, total), LARGEST_SHELL))
        if not shell and total > len(shapes):
            return
        yield from sorted(shell, key=order)


def of_size(shapes: Sequence[Shape], total: int) -> Iterator[list[Any]]:
    """All numbers of these shapes whose absolute values add up to the total.

    >>> list(of_size(["int", "bool"], 1))
    [[0, True], [-1, False], [1, False]]
    """
    if not shapes:
        if total == 0:
            yield []
        return
    first, *others = shapes
    for amount in range(min(total, 1) + 1) if first == BOOL else range(total + 1):
        for rest in of_size(others, total - amount):
            if first == BOOL:
                yield [bool(amount), *rest]
            else:
                yield from ([each, *rest] for each in ([-amount, amount] if amount else [0]))


def smallest(numbers: Sequence[Value], condition: Condition) -> list[Any] | None:
    """Numbers for which the condition is false, their absolute values as small as z3 finds."""
    _, hypotheses, goal = condition
    solver = z3.Solver()
    solver.set("rlimit", EFFORT)
    solver.add(*hypotheses, z3.Not(goal))
    if solver.check() != z3.sat:
        return None
    found = of_model(solver.model(), numbers)
    total = z3.Sum([z3.IntVal(0), *[z3.If(x < 0, -x, x) for x in numbers if z3.is_int(x)]])
    least, most = 0, size(found)
    while least < most:
        middle = (least + most) // 2
        if solver.check(total <= middle) == z3.sat:
            found = of_model(solver.model(), numbers)
            most = min(middle, sum(abs(each) for each in found if type(each) is int))
        else:
            least = middle + 1
    solver.add(total <= most)
    for x in filter(z3.is_int, numbers):
        simple = next((n for n in (0, 1, -1) if solver.check(x == n) == z3.sat), None)
        if simple is not None:
            found = of_model(solver.model(), numbers)
            solver.add(x == simple)
    return found


def of_model(model: Any, numbers: Sequence[Value]) -> list[Any]:
    values = [model.eval(number, model_completion=True) for number in numbers]
    return [v.as_long() if z3.is_int_value(v) else z3.is_true(v) for v in values]
