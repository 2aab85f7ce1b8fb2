"""A law is checked by looking for inputs that break it, and the smallest ones are shown.

    check_law(law, kind)   one law, on random operators of a kind, or on one `Subject`
    check_laws(thing)      every law of an operator, of a kind of operator, or of a function
    judge(law, inputs)     one case of one law

    >>> from deltaproof.properties.laws.claims import operator_idempotent
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> print(check_law(operator_idempotent, Distinct, examples=50))
    operator_idempotent holds for distinct in 50 cases

A verdict says how many cases were tried and how many of them said anything: an equation
between two empty Z-sets was not tested, it was only not refuted.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis.errors import Flaky, Unsatisfiable

from deltaproof.properties.draw import About, Draws, about_text, cases, drawn
from deltaproof.properties.inputs import Inputs, copied, rebuilt, unchanged, zsets_in
from deltaproof.properties.law import GROUPS, Law, Stream, Subject, groups_of, subject_of
from deltaproof.properties.laws import CATALOGUE, laws_of, unclaimed_laws
from deltaproof.properties.reduce import reduced
from deltaproof.properties.strategies import subjects
from deltaproof.properties.verdict import (
    Counterexample,
    LawViolation,
    Proof,
    Report,
    Verdict,
    first_difference,
)
from deltaproof.reference.errors import DeltaproofError, EvaluationError, UsageError
from deltaproof.reference.operator import Meaning, Operator, Shape, increment_of_shape
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

__all__ = [
    "Counterexample",
    "Judged",
    "LawViolation",
    "Proof",
    "Report",
    "Verdict",
    "check_law",
    "check_laws",
    "first_difference",
    "judge",
    "subject_from",
    "subject_of_function",
]

ENOUGH = 10  # counterexamples, to take the one of the smallest operator
INSTANCES = 40  # random instances of a kind that are asked what they claim
MORE = 4  # times as many cases, where expressions had no value in some
HEAPS = (8, 25)  # cases put together
SHRINKING = 3  # times as many cases, to find again what is to be shrunk

Progress = Callable[[str, int, int], None]  # what is going on, how much is done, of how much


# ── One case ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Judged:
    """What one case says of a law: whether it says anything, and whether it breaks it."""

    telling: bool
    counterexample: Counterexample | None = None


def judge(law: Law, inputs: Inputs) -> Judged | None:
    """The law on these inputs; None where an expression has no value, so that it says nothing.

    Whatever else the code under test raises refutes the law: an answer was due. It works on a
    copy; when it spoils that, sides which are equal are equal by chance.

    >>> from deltaproof.properties.laws.data import zset_add_commutes
    >>> judge(zset_add_commutes, (("a", ZSet({(1,): 1})), ("b", ZSet())))
    Judged(telling=True, counterexample=None)
    """
    try:
        given = copied(inputs)
        equation = law.equation(*[value for _, value in given])
        differs = bool(equation.lhs != equation.rhs)
        if not differs:
            unchanged(inputs, given)
    except EvaluationError:
        return None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever the user's code raises
        return Judged(True, Counterexample(law, inputs, None, raised(error)))
    if differs:
        return Judged(True, Counterexample(law, inputs, equation))
    return Judged(is_telling(law, inputs, equation.lhs, equation.rhs))


def raised(error: BaseException) -> str:
    """What was raised, and where: ZeroDivisionError: division by zero (median.py, line 12)."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


def is_telling(law: Law, inputs: Inputs, *sides: Any) -> bool:
    """Whether the case could have refuted the law: its sides are not both zero.

    Where they must be, whether it has inputs that are not zero.
    """
    if not law.vanishes:
        return not is_zero(sides)
    data = [value for _, value in inputs if isinstance(value, ZSet | list | tuple)]
    return not data or not is_zero(data)


def is_zero(value: Any) -> bool:
    """Whether this is the empty Z-set, or made of nothing else."""
    if isinstance(value, dict):
        return is_zero(list(value.values()))
    return all(map(is_zero, value)) if isinstance(value, list | tuple) else not value


def smallest(found: Counterexample) -> Counterexample:
    """The smallest counterexample that fails in the same way, by leaving out and simplifying."""
    best = found

    def fails(inputs: Inputs) -> bool:
        nonlocal best
        judged = judge(found.law, inputs)
        if judged is None or judged.counterexample is None:
            return False
        if judged.counterexample.kind != found.kind:
            return False
        best = judged.counterexample
        return True

    reduced(found.law, found.inputs, fails)
    judged = judge(best.law, best.inputs)
    return best if judged and judged.counterexample else replace(best, again=False)


# ── One law ─────────────────────────────────────────────────────────────────────────────────


def check_law(
    law: Law,
    about: About = None,
    examples: int = 100,
    claimed: bool | None = True,
    draws: Draws | None = None,
) -> Verdict:
    """Looks for inputs that break the law, and shrinks what it finds.

    The law of a Z-set or a stream is about nothing else; that of an operator or a query is
    about one `Subject`, or about random operators of a kind: those that claim the law's group,
    those that do not (claimed=False), or all (None). Cases in which an expression has no value
    are not counted. The same arguments always give the same verdict.

    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> k = Schema.parse("k BIGINT NOT NULL")
    >>> linear = subject_of_function(Distinct().meaning(k), Shape.LINEAR, k)
    >>> print(check_law(operator_additive, linear))
    operator_additive does not hold for distinct over (k BIGINT NOT NULL)
        Q(a + b)    = {(0): +1}
        Q(a) + Q(b) = {(0): +2}
      with a = {(0): +1}
           b = {(0): +1}
      the law: Q(a + b) = Q(a) + Q(b), when Q has a meaning at each tick alone and Q(0) = 0
      why it matters: From it follows Q^D = Q: a change alone is enough to know the output's change.
      source: DBSP (VLDB 2023) definition 2.12; Lean: linear
    """
    draws = draws or Draws(about, examples)
    tested = telling = 0
    found: list[Counterexample] = []
    for inputs in cases_of(law, draws, claimed):
        judged = judge(law, inputs)
        if judged and judged.counterexample:
            found.append(judged.counterexample)
        if judged and len(found) <= 1:
            tested += 1
            telling += judged.telling
        if tested == examples or len(found) == ENOUGH:
            break
    if not found and isinstance(about, Subject):
        heaped = (judge(law, each) for each in heaps(draws.of(law, claimed)))
        found += [each.counterexample for each in heaped if each and each.counterexample]
    smallest_found = None
    if found:
        first = min(found, key=reading)
        if not isinstance(about, Subject) and claimed is not False:
            first = shrunk(first, about, claimed)
        smallest_found = smallest(first)
    return Verdict(law, about_text(about), tested, telling, smallest_found, claimed is not False)


def reading(found: Counterexample) -> int:
    """How much there is to read about whom a law is refuted of."""
    return len(str(found.subject or ""))


def cases_of(law: Law, draws: Draws, claimed: bool | None) -> Iterator[Inputs]:
    """The cases drawn for it; and when they are used up, as some said nothing, more of them."""
    first = draws.of(law, claimed)
    yield from first
    if len(first) == draws.examples:
        yield from draws.of(law, claimed, MORE)[len(first) :]


def heaps(drawn: Sequence[Inputs]) -> Iterator[Inputs]:
    """Several cases as one: many rows, for code that is right on a few, as LIMIT 5 is linear.

    They are beyond the cases that are counted.
    """
    for size in HEAPS:
        for start in range(0, len(drawn), len(drawn) // 2 + 1):
            first, *others = drawn[start : start + size]
            zsets = [list(zsets_in([value for _, value in each])) for each in (first, *others)]
            sums = (sum(each[1:], each[0]) for each in zip(*zsets, strict=True))
            yield tuple((name, rebuilt(value, sums)) for name, value in first)


def shrunk(found: Counterexample, about: About, claimed: bool | None) -> Counterexample:
    """A counterexample of a small operator over few columns: Hypothesis looks again, and shrinks.

    Given back as it is when Hypothesis does not meet another one.
    """
    law, last = found.law, found

    @settings(
        max_examples=100 * SHRINKING,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(law, about, claimed))
    def search(inputs: Inputs) -> None:
        nonlocal last
        judged = judge(law, inputs)
        if judged is None:
            reject()
        if judged.counterexample and judged.counterexample.kind == found.kind:
            last = judged.counterexample
            raise LawViolation(last)

    with suppress(LawViolation, Flaky, Unsatisfiable):  # flaky: depends on more than the inputs
        search()
    return last


# ── All laws ────────────────────────────────────────────────────────────────────────────────


def check_laws(
    about: type[Operator] | Operator | Subject | Meaning,
    *inputs: Schema,
    shape: Shape | None = None,
    examples: int = 100,
    unclaimed: bool = False,
    laws: Sequence[Law] = (),
    progress: Progress | None = None,
) -> Report:
    """Checks every law that this must obey by what it declares.

    A kind of operator is checked on random instances, an operator at its input schemas, and
    any function of Z-sets at its input schemas with the shape that is claimed for it. Those
    that it does not claim, but could, are tried when asked for: what holds is worth claiming.
    Where laws are named, these are checked and no others.

    >>> def doubled_plus_one(a: ZSet) -> ZSet:
    ...     return a + a + ZSet({(1,): 1})
    >>> report = check_laws(doubled_plus_one, Schema.parse("k BIGINT"), shape=Shape.LINEAR)
    >>> [each.law.name for each in report.verdicts if each.status == "refuted"][:2]
    ['operator_zero_preserving', 'operator_time_invariant']
    """
    subject = subject_from(about, inputs, shape)
    draws = Draws(subject, examples)
    claimed = laws_of(subject)
    others, claiming = not_claimed(subject) if unclaimed and not laws else ((), {})
    # a law that is asked for by name is asked of all instances when it is not claimed
    asked = [(law, law in claimed or None) for law in laws] or [(law, True) for law in claimed]
    verdicts: list[Verdict] = []
    refuted: set[str] = set()  # groups that nobody should claim: the rest of their laws can wait
    for done, (law, whose) in enumerate([*asked, *((law, False) for law in others)]):
        if progress:
            progress(law.name, done, len(asked) + len(others))
        if law.of in refuted:
            continue
        verdict = check_law(law, subject, examples, whose, draws)
        if not verdict.claimed and verdict.counterexample:
            refuted.add(law.of)
        verdicts.append(verdict)
    return Report(tuple(verdicts), claiming)


def not_claimed(subject: type[Operator] | Subject) -> tuple[tuple[Law, ...], dict[str, Any]]:
    """The laws that it does not claim but could; of a kind, that some of its instances do not.

    And for each group that is claimed or not how many instances claim it, out of how many.
    """
    if isinstance(subject, Subject):
        return unclaimed_laws(subject), {}
    instances = drawn(subjects(subject), INSTANCES)
    laws = {law.name for each in instances for law in unclaimed_laws(each)}
    groups = [groups_of(each) for each in instances]
    shares = {
        name: (sum(name in each for each in groups), len(groups))
        for name, group in GROUPS.items()
        if group.claimable
    }
    return tuple(law for law in CATALOGUE if law.name in laws), shares


def subject_from(
    about: Any, inputs: tuple[Schema, ...], shape: Shape | None
) -> type[Operator] | Subject:
    """What the arguments of `check_laws` speak of. Raises UsageError when they do not say it."""
    if isinstance(about, Subject) or (isinstance(about, type) and issubclass(about, Operator)):
        return about
    if not inputs:
        raise UsageError("the schemas of the inputs are missing: check_laws(operator, schema, ...)")
    if isinstance(about, Operator):
        return subject_at(about, inputs)
    if not callable(about):
        kinds = "an operator, a kind of operator, a Subject or a function of Z-sets"
        raise UsageError(f"expected {kinds}, got {type(about).__name__} {about!r}")
    if shape is None:
        raise UsageError("the shape that the function claims is missing: shape=Shape.LINEAR")
    return subject_of_function(about, shape, *inputs)


def subject_at(operator: Operator, inputs: Iterable[Schema]) -> Subject:
    """The operator at these schemas. Raises UsageError when its declaration itself is broken."""
    try:
        return subject_of(operator, *inputs)
    except DeltaproofError:
        raise
    except Exception as error:
        over = ", ".join(f"({each})" for each in inputs)
        what = f"{operator.name} over {over} cannot be declared"
        raise UsageError(f"{what}: {raised(error)}") from error


def subject_of_function(
    meaning: Meaning,
    shape: Shape,
    *inputs: Schema,
    stream: Callable[..., Stream] | None = None,
) -> Subject:
    """Any function of Z-sets, with the shape claimed for it, and perhaps its incremental form."""
    return Subject(
        name=getattr(meaning, "__name__", "Q"),
        shape=shape,
        schemas=inputs,
        meaning=meaning,
        increment=lambda: increment_of_shape(shape, meaning, inputs),
        stream=stream,
    )
