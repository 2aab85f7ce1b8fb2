"""What a case says of an operator under fuzzing: equal, vacuous, without a value, or how it fails.

A crash is a class of failure like any other: of the meaning, or of the increment. Nothing that an
operator raises ends the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deltaproof.conformance.adapter import Backend, Observed
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.case import Case
from deltaproof.conformance.judge import Difference, Expected, Judge, Oracle, run_cases
from deltaproof.conformance.shrink import Failing
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.query import Query

EQUAL, VACUOUS, REFUSED = "equal", "vacuous", "without a value"


class Verdict(NamedTuple):
    """The class of a failure, or one of the three words above; and what there is to show for it."""

    kind: str
    message: str = ""
    difference: Difference | None = None
    observed: Sequence[Observed] = ()

    @property
    def failed(self) -> bool:
        return self.kind not in (EQUAL, VACUOUS, REFUSED)

    @property
    def telling(self) -> bool:
        """Whether the case could show something: the view changed, or failed."""
        return self.kind not in (VACUOUS, REFUSED)


def verdicts(backend: Backend, query: Query, cases: Sequence[Case]) -> list[Verdict]:
    """What each of these cases of one query says.

    >>> case = Case.from_json({"tables": {"t": "k BIGINT"}, "query": {"op": "distinct",
    ...     "inputs": [{"table": "t"}]}, "ticks": [{"t": [[[7], 2]]}, {"t": [[[7], -2]]}]})
    >>> [verdict.kind for verdict in verdicts(ReferenceBackend(), case.query, [case])]
    ['equal']
    """
    try:
        oracle = Oracle(query)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody's operator
        return [crashed("meaning", error)] * len(cases)
    found: list[Verdict | None] = [None] * len(cases)
    waiting: list[tuple[int, Expected]] = []
    for place, case in enumerate(cases):
        try:
            waiting.append((place, oracle.expected(case)))
        except EvaluationError as error:
            found[place] = Verdict(REFUSED, str(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody's operator
            found[place] = crashed("meaning", error)
    judge = Judge(query.schema, backend.tolerance)
    answered = answers(backend, [cases[place] for place, _ in waiting])
    for (place, expected), answer in zip(waiting, answered, strict=True):
        found[place] = judged(judge, expected, answer)
    return [each for each in found if each is not None]


def judged(judge: Judge, expected: Expected, answer: list[Observed] | Verdict) -> Verdict:
    """What the answer to one case is worth."""
    if isinstance(answer, Verdict):
        return answer
    try:
        difference = judge.difference(expected, answer)
    except Exception as error:  # noqa: BLE001  # rows that cannot even be compared
        return crashed("crash", error)
    if difference is not None:
        return Verdict(difference.kind, difference.message, difference, answer)
    return Verdict(VACUOUS if expected.vacuous else EQUAL)


def answers(backend: Backend, cases: Sequence[Case]) -> list[list[Observed] | Verdict]:
    """What was observed of each case, or its crash; a batch that crashes is halved."""
    if not cases:
        return []
    try:
        return list(run_cases(backend, cases))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody's operator
        if len(cases) == 1:
            return [crashed("crash", error)]
    half = len(cases) // 2
    return answers(backend, cases[:half]) + answers(backend, cases[half:])


def crashed(what: str, error: BaseException) -> Verdict:
    """The class of an error, by where it came from: `meaning`, `crash` (the increment), `sample`.

    >>> crashed("crash", ZeroDivisionError("division by zero")).kind
    'crash/ZeroDivisionError'
    """
    name = type(error).__name__
    return Verdict(f"{what}/{name}", f"{name}: {error}")


def alone(case: Case) -> Verdict:
    """What the case says when nothing ran before it."""
    return verdicts(ReferenceBackend(), case.query, [case])[0]


def again(case: Case) -> Verdict:
    """What it says the second time, after the circuit was reset: what `clear` forgot shows."""
    return verdicts(ReferenceBackend(), case.query, [case, case])[1]


def failing_alone(kind: str) -> Failing:
    """Which of a batch fail in this class, for `shrink`: each query on circuits of its own."""

    def failing(cases: Sequence[Case]) -> list[bool]:
        found = [False] * len(cases)
        groups: dict[Query, list[int]] = {}
        for place, case in enumerate(cases):
            groups.setdefault(case.query, []).append(place)
        for query, places in groups.items():
            several = verdicts(ReferenceBackend(), query, [cases[place] for place in places])
            for place, verdict in zip(places, several, strict=True):
                found[place] = verdict.kind == kind
        return found

    return failing


def failing_again(kind: str) -> Failing:
    """The same for what fails only the second time."""
    return lambda cases: [again(case).kind == kind and not alone(case).failed for case in cases]
