"""A law of an operator holds for all integer weights: its own code is run on every path they take.

    prove_law      the law of a `properties.law.Subject`, anybody's: a proof, or None
    attempt_law    the same, with the weights that refute it, or why nothing could be proved

The rows are a few that meet; the weights stand for every integer. The equation of the law, which
tests run on numbers, runs here on `ForkedInt`s: whatever the code asks (is it positive, is it
zero, is the row there) is noted, and the weights that give the same answers take the same path.
On it both sides are compared; z3 then proves that the paths which were run leave no weights out.
Each path is also run on plain integers, and the code must do the same steps: what looks at what
a weight is, not at what it is worth, shows itself (and what `watched` lists as not seen does not).

Of our own operators some laws are theorems for any data: these are proved too, when asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from time import process_time
from typing import Any

import z3

from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import (
    Law,
    Subject,
    subject_of,
)
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.theorems import catalogue
from deltaproof.theorems.execution.forking import Path, Tree, Weights, near, paths
from deltaproof.theorems.execution.law_runs import (
    PARTS,
    Run,
    holds_on,
    numbers_of,
    saving,
    scope_of,
    small,
    values,
    zero,
)
from deltaproof.theorems.execution.meeting_rows import choices
from deltaproof.theorems.execution.watched import Steps, watched
from deltaproof.theorems.kernel import Formula

SIZES = ((2, 2), (1, 2), (1, 1))  # rows of an input, ticks of a stream: the first that closes
LONGER = (1, 3)  # tried too, where the law is about streams
MOST_WEIGHTS = 6  # in one run: two of them take about ten paths, six about a thousand
MOST_PATHS = 700  # of one run
MOST_SECONDS = 10.0  # of processor time, for a law: far above what the paths allow
BOUND = 1_000  # on weights, where a sum of more would not fit 64 bits

# Laws that are theorems for any data, of our own operators: what such a theorem is called.
LINEAR = ("operator_additive", "increment_is_operator", "increment_is_incremental")
UNBOUNDED = {
    ("join", "operator_left_additive"): "join_bilinear",
    ("join", "operator_right_additive"): "join_bilinear",
    ("distinct", "operator_idempotent"): "distinct_idempotent",
}


@dataclass(frozen=True)
class LawProof:
    """What was proved just now: how far it goes, and how long it took."""

    scope: str
    seconds: float


@dataclass(frozen=True)
class Attempt:
    """A proof; or inputs of plain integers that refute the law; or why there is neither."""

    proof: LawProof | None = None
    refuting: Inputs | None = None
    reason: str = ""


def prove_law(law: Law, subject: Subject) -> LawProof | None:
    """The proof that no weights break the law on a few rows; None when there is none.

    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.filter import Filter
    >>> from deltaproof.reference.scalar import col
    >>> from deltaproof.reference.types import Schema
    >>> kept = subject_of(Filter(col("k") > 0), Schema.parse("k BIGINT NOT NULL"))
    >>> prove_law(operator_additive, kept).scope
    'all integer weights, 2 rows an input, 2 choices of rows; theorem filter_linear, unbounded'
    """
    return attempt_law(law, subject).proof


def attempt_law(law: Law, subject: Subject) -> Attempt:
    """What running the law on symbolic weights comes to; a theorem adds to what is not refuted.

    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> from deltaproof.reference.types import Schema
    >>> wrong = subject_of(Distinct(), Schema.parse("k BIGINT NOT NULL"))
    >>> attempt_law(operator_additive, wrong).refuting[1:]
    (('a', (ZSet({(1,): 1}),)), ('b', (ZSet({(1,): 1}),)))
    """
    started = process_time()
    first, *_ = [name for name, kind in law.parameters if kind is Subject] or [""]
    if not first:
        return Attempt(reason=f"{law.name} is not about an operator")
    if subject.stream is not None:
        return Attempt(reason=f"{subject} answers whole streams, and has no code to run here")
    operator = subject.operator
    watching = not is_ours(subject) or isinstance(operator, PerGroup | Recursion)  # of anything
    ran = attempt_sizes(law, saving(subject), started, watching)
    if ran.refuting:
        own = tuple((name, subject if name == first else each) for name, each in ran.refuting)
        return Attempt(refuting=own)
    theorem = theorem_of(law, subject)
    scopes = [ran.proof.scope] if ran.proof else []
    scopes += [f"theorem {theorem}, unbounded"] if theorem else []
    if not scopes:
        return ran
    return Attempt(LawProof("; ".join(scopes), process_time() - started))


# ---------------------------------------------------------------- running it


def attempt_sizes(law: Law, subject: Subject, started: float, watching: bool) -> Attempt:
    """The largest size with few enough weights; and, where that holds, more ticks of one row."""
    sizes = (attempt_size(law, subject, *size, started, watching) for size in SIZES)
    # a smaller size is for fewer weights: it would not make up for what two rows may show
    found = next(filter(None, sizes), Attempt(reason="it has more weights than can be run"))
    if found.proof and any(PARTS[kind][1] for _, kind in law.parameters if kind in PARTS):
        more = attempt_size(law, subject, *LONGER, started, watching)
        if more and more.refuting:
            return more
        if more and more.proof:
            rows, ticks = LONGER
            scope = f"{found.proof.scope} (and {rows} row, {ticks} ticks)"
            return Attempt(LawProof(scope, process_time() - started))
    return found


def attempt_size(
    law: Law, subject: Subject, rows: int, ticks: int, started: float, watching: bool
) -> Attempt | None:
    """All paths at this size, on rows that tell something; None where they would be too many."""
    runs = telling_runs(law, subject, rows, ticks)
    if not runs:
        number = f"{rows} row{'s' * (rows > 1)}"
        return Attempt(reason=f"no {number} of an input were found on which the law says anything")
    if len(runs[0].names) > MOST_WEIGHTS:
        return None
    return attempt_runs([replace(each, watching=watching) for each in runs], started)


def telling_runs(law: Law, subject: Subject, rows: int, ticks: int) -> list[Run]:
    """A run for each choice of rows and numbers; the first values of which the law says anything.

    Of these values all choices are run: rows of one group, rows apart, rows with NULL.
    """
    numbers = list(numbers_of(law, ticks))
    for chosen in choices(subject.schemas, rows):
        runs = [Run(law, subject, each, ticks, n) for each in chosen for n in numbers]
        if any(map(telling, runs)):
            return runs
    return []


def telling(made: Run) -> bool:
    """Whether a side of the law is not zero where every weight is 1, or must be."""
    try:
        equation = made.law.equation(*values(made.inputs(dict.fromkeys(made.names, 1))))
    except Exception:  # noqa: BLE001  # whatever the user's code raises: nothing is told
        return False
    return made.law.vanishes or not made.names or not (zero(equation.lhs) and zero(equation.rhs))


def attempt_runs(runs: Sequence[Run], started: float) -> Attempt:
    """The proof that all of these hold, or what the first that does not comes to."""
    for made in runs:
        try:
            found = attempt_paths(made, started)
        except EvaluationError as error:  # a sum of weights beyond 64 bits has no value
            if made.bound is None:
                return attempt_runs([replace(each, bound=BOUND) for each in runs], started)
            return Attempt(reason=f"an expression has no value: {error}")
        except Exception as error:  # noqa: BLE001  # the user's code met what is no number
            what = f"{type(error).__name__}: {error}"
            found = Attempt(reason=f"the run on symbolic weights did not come to an end: {what}")
            found = refuted_by_numbers(made) or found
        if found.refuting or found.reason:
            return found
    return Attempt(LawProof(scope_of(runs), process_time() - started))


def attempt_paths(made: Run, started: float) -> Attempt:
    """Every path that the weights could send the law down. Neither a reason nor inputs: it holds.

    Raises ProofError when z3 does not see that there are no other paths.
    """
    tree = Tree(made.law.name)
    names = made.names
    given: list[Formula] = [z3.Int(name) >= 0 for name, signed in names.items() if not signed]
    if made.bound is not None:
        given += [z3.And(z3.Int(n) <= made.bound, z3.Int(n) >= -made.bound) for n in names]

    def fitting(tries: Iterable[Weights]) -> Iterator[Weights]:
        return (w for w in tries if all(names[n] or value >= 0 for n, value in w.items()))

    def around(found: Weights) -> Iterator[Weights]:
        whole = {name: found.get(name, 0) for name in names}
        return fitting(chain([whole], near(made.bound or BOUND, whole)))

    def run(weights: Weights | Path) -> tuple[bool, Steps]:
        whole = partial(holds_on, made, weights)
        return watched(whole) if made.watching else (whole(), [])

    for path, (holds, steps) in paths(run, given, fitting(small(names)), tree, around):
        weights = {name: path.weights.get(name, 0) for name in names}
        holds_on_integers, steps_on_integers = run(weights)
        if not holds_on_integers:
            return Attempt(refuting=made.inputs(weights))
        if not holds:
            return Attempt(reason="symbolic weights break it, and no integers were found that do")
        if steps != steps_on_integers:
            reason = "its code does with integers what it does not with what stands for them"
            return refuted_by_numbers(made) or Attempt(reason=reason)
        if tree.ran > MOST_PATHS:
            return Attempt(reason=f"more than {MOST_PATHS} paths")
        if process_time() - started > MOST_SECONDS:
            return Attempt(reason=f"not all paths were run in {MOST_SECONDS:g} s")
    return Attempt() if tree.proof is not None else Attempt(reason="z3 did not close the paths")


def refuted_by_numbers(made: Run) -> Attempt | None:
    """Small weights that refute what could not be run on symbolic ones."""
    names = made.names
    for weights in small(names):
        if all(signed or weights[name] >= 0 for name, signed in names.items()):
            try:
                if not holds_on(made, weights):
                    return Attempt(refuting=made.inputs(weights))
            except Exception:  # noqa: BLE001  # `check` shows what the user's code raises
                return None
    return None


# ---------------------------------------------------------------- theorems for any data


def theorem_of(law: Law, subject: Subject) -> str:
    """The theorem that says this of one of our operators for any data, and holds; else nothing."""
    operator = subject.operator
    if operator is None or not is_ours(subject):
        return ""
    name = UNBOUNDED.get((operator.name, law.name), "")
    if law.name == "increment_is_incremental" or (
        law.name in LINEAR and operator.theorem.endswith("_linear")
    ):
        name = operator.theorem
    return name if name and holds(name) else ""


def is_ours(subject: Subject) -> bool:
    """Whether it is one of our operators as `subject_of` makes it, and no part was exchanged."""
    operator = subject.operator
    if operator is None or type(operator) not in OPERATORS or subject.stream is not None:
        return False
    ours = subject_of(operator, *subject.schemas)
    return type(subject.increment()) is type(ours.increment()) and code(subject) == code(ours)


def code(subject: Subject) -> list[Any]:
    """What runs when it is asked."""
    parts = (subject.meaning, subject.increment, subject.over_time)
    return [getattr(each, "__code__", type(each)) for each in parts]


@cache
def holds(name: str) -> bool:
    """Whether the theorem of this name is proved, now, and its wrong variants refuted."""
    found = [each for each in catalogue() if each.name == name]
    return bool(found) and all(each.prove().holds for each in found)
