"""Laws asked of any backend: of Spark, or of a SQL engine, by what it answers and nothing else.

    Q(a)        what the view contains after one tick of a
    Q^D(s)      the output deltas over the ticks of s; where a backend shows none, the differences
                of what the view contains

So the laws of an operator apply, but for those that step an increment themselves, and those of
queries, which speak of our runtime. What a backend does not declare it is not asked, and a law of
which no case could be asked is `not run`, with the reason.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from deltaproof.conformance.adapter import Backend
from deltaproof.conformance.laws.interview import (
    Broke,
    Interview,
    NotAsked,
    Outcome,
    Progress,
    silent,
)
from deltaproof.conformance.laws.shrink import shrink_laws
from deltaproof.conformance.laws.tolerance import agree
from deltaproof.conformance.shrink import Budget
from deltaproof.conformance.shrink_stream import possible
from deltaproof.properties.check import is_telling
from deltaproof.properties.draw import Draws, about_text, drawn
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import RESTARTS, STEPPED, Equation, Law, Subject
from deltaproof.properties.laws import laws_of
from deltaproof.properties.strategies import as_bag, subjects
from deltaproof.properties.verdict import Counterexample, Report, Verdict
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.zset import ZSet

INSTANCES = 3  # of a kind of operator: each is a query of its own, so a job of its own
BUDGET = Budget(tries=20_000, seconds=20.0)  # for making counterexamples smaller, all together

# Laws of Python functions, of which a backend shows nothing.
MEANINGLESS: Mapping[str, str] = {"operator_keeps_inputs": "a backend gets copies of its inputs"}


@dataclass(frozen=True)
class NotRun(Verdict):
    """A law of which this backend could not be asked a single case."""

    reason: str = ""

    @property
    def status(self) -> str:
        return "not run"

    @property
    def evidence(self) -> str:
        return self.reason

    def __str__(self) -> str:
        return f"{self.law.name} is not run for {self.about}: {self.reason}"


@dataclass(frozen=True)
class AskedReport(Report):
    """The verdicts on a backend, and what it took to reach them."""

    backend: str = ""
    questions: int = 0  # streams that the backend was fed
    batches: int = 0  # jobs, on an engine that takes a batch in one
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """With those that were not run, and why is beside each."""
        return super().counts | {"not run": sum(isinstance(each, NotRun) for each in self.claimed)}

    @property
    def cases(self) -> int:
        return sum(each.tested for each in self.verdicts)

    @property
    def measured(self) -> str:
        """What was asked, on one line."""
        return (
            f"{self.backend}: {self.cases} cases, {self.questions} questions "
            f"in {self.batches} batches, {self.seconds:.1f} s"
        )


def check_laws_on(
    backend: Backend,
    about: Subject | type[Operator],
    examples: int = 100,
    progress: Progress = silent,
    laws: Sequence[Law] = (),
) -> AskedReport:
    """Checks every law that an operator declares, or these, on this backend's implementation.

    A kind of operator is checked on a few random instances that the backend supports. The same
    arguments always ask the same.

    >>> from deltaproof.conformance.adapters.sqlite import SqliteBackend
    >>> from deltaproof.properties.law import subject_of
    >>> from deltaproof.properties.laws.claims import operator_idempotent
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> from deltaproof.reference.types import Schema
    >>> q = subject_of(Distinct(), Schema.parse("k BIGINT NOT NULL"))
    >>> report = check_laws_on(SqliteBackend(), q, 10, laws=[operator_idempotent])
    >>> report.ok, report.verdicts[0].about, report.verdicts[0].status
    (True, 'distinct on sqlite', 'tested')

    Raises UsageError for a function that is no operator: a backend runs operators.
    """
    started = time.monotonic()
    interview = Interview(backend, progress)
    tries, reason = drawn_tries(interview, about, examples, laws)
    answer(interview, tries)
    make_smaller(interview, [each for each in tries if each.broken])
    name = f"{about_text(about)} on {backend.name}"
    groups: dict[str, list[Tried]] = {}
    for each in tries:
        groups.setdefault(each.law.name, []).append(each)
    verdicts = [verdict(name, group) for group in groups.values()]
    # what is asked for by name gets an answer; of the rest, what could be asked of some backend
    unrun = [each for each in laws if not askable(each)]
    unrun += filter(askable, [] if tries else laws or laws_of(about))
    verdicts += [NotRun(law, name, 0, 0, reason=unaskable(law) or reason) for law in unrun]
    took = time.monotonic() - started
    return AskedReport(
        tuple(verdicts),
        backend=backend.name,
        questions=interview.questions,
        batches=interview.batches,
        seconds=took,
    )


def judge_on(backend: Backend, law: Law, inputs: Inputs) -> Counterexample | None:
    """One case of a law on a backend; the operator is that of the subject among the inputs.

    Raises NotAsked where this backend cannot be asked.
    """
    interview = Interview(backend)
    asked = [(name, interview.implemented(each)) for name, each in inputs]
    (outcome,) = interview.outcomes([(law, tuple(asked))])
    if isinstance(outcome, NotAsked):
        raise outcome
    return Tried(law, [], backend.tolerance).breaks(tuple(asked), outcome)


def askable(law: Law) -> bool:
    """Whether the law says anything about a backend."""
    return not unaskable(law)


def unaskable(law: Law) -> str:
    """Why no backend is asked the law; nothing where one can be."""
    if not law.parameters or law.parameters[0][1] is not Subject:
        return "it speaks of our runtime, or of Z-sets"
    if STEPPED in law.premises:
        return "it steps an increment, and a backend shows none"
    return MEANINGLESS.get(law.name, "")


# ---------------------------------------------------------------- what is tried


@dataclass
class Tried:
    """A law of one instance on a backend: its cases, and what became of each."""

    law: Law
    cases: list[Inputs]
    tolerance: float
    unrun: str = ""
    outcomes: list[Outcome] = field(default_factory=list)
    smallest: Counterexample | None = None

    def breaks(self, inputs: Inputs, outcome: Outcome) -> Counterexample | None:
        """The counterexample that this outcome is, if it is one."""
        if isinstance(outcome, Broke):
            return Counterexample(self.law, inputs, None, str(outcome))
        if isinstance(outcome, Equation) and not agree(outcome, self.tolerance):
            return Counterexample(self.law, inputs, outcome)
        return None

    @cached_property
    def broken(self) -> int:
        """The number of the first case that breaks the law, from 1; 0 when none does."""
        pairs = zip(self.cases, self.outcomes, strict=True)
        return next((n for n, pair in enumerate(pairs, 1) if self.breaks(*pair)), 0)


def drawn_tries(
    interview: Interview, about: Subject | type[Operator], examples: int, laws: Sequence[Law]
) -> tuple[list[Tried], str]:
    """The laws that apply, with their cases; without any, why not."""
    implemented, reason = implementations(interview, about)
    tries = []
    for number, (declared, asked) in enumerate(implemented):
        draws = Draws(asked, -(-examples // len(implemented)))
        for law in laws or laws_of(declared):
            # what is not about stepping is claimed by the declaration, and never asked of a backend
            claimed = [each for each in law.premises if each not in (STEPPED, RESTARTS)]
            if not askable(law) or not all(each.holds(declared) for each in claimed):
                continue
            interview.progress("drawing cases", number, len(implemented))
            tried = Tried(law, [], interview.backend.tolerance)
            if RESTARTS in law.premises and not RESTARTS.holds(asked):
                tried.unrun = f"{interview.backend.name} does not declare restart"
            else:
                tried.cases = draws.of(law)
                if not interview.signed:
                    tried.cases = [
                        tables_only(each, n % 2 > 0) for n, each in enumerate(tried.cases)
                    ]
            tries.append(tried)
    return tries, reason


def implementations(
    interview: Interview, about: Subject | type[Operator]
) -> tuple[list[tuple[Subject, Subject]], str]:
    """Each subject as it is declared and as the backend has it; or why there is none."""
    if isinstance(about, Subject) and about.operator is None:
        raise UsageError(
            f"{about} is a function, and {interview.backend.name} runs operators: "
            "declare one (reference.operator.Operator)"
        )
    found, reason = [], f"no instance of {about_text(about)} could be drawn"
    for each in [about] if isinstance(about, Subject) else instances(about):
        if each.operator is not None:
            try:
                found.append((each, interview.implemented(each)))
            except NotAsked as error:
                reason = str(error)
    return found[:INSTANCES], reason


def instances(kind: type[Operator]) -> list[Subject]:
    """Random instances that differ, the same whenever asked."""
    different = {(str(each), each.schemas): each for each in drawn(subjects(kind), 20)}
    return list(different.values())


def tables_only(inputs: Inputs, everywhere: bool) -> Inputs:
    """The inputs with Z-sets made tables, and streams made changes of tables.

    Some laws take a stream for changes and some for contents: `everywhere` fits both, and has
    no deletions.
    """
    return tuple((name, tabular(value, everywhere)) for name, value in inputs)


def tabular(value: Any, everywhere: bool = False) -> Any:
    """Weights above zero; in streams only if everywhere, else no deletion of what is not there.

    >>> gone, there = ZSet({(7,): -2}), ZSet({(7,): 1})
    >>> tabular((gone, there)), tabular([gone, there, gone])
    ((ZSet({(7,): 2}), ZSet({(7,): 1})), [ZSet({}), ZSet({(7,): 1}), ZSet({(7,): -1})])
    """
    match value:
        case ZSet():
            return as_bag(value)
        case list() if everywhere:
            return list(map(as_bag, value))
        case list():
            held = possible([{"t": each} for each in value])
            return [
                ZSet(tick["t"].items(), each.schema) for each, tick in zip(value, held, strict=True)
            ]
        case tuple():
            return tuple(tabular(each, everywhere) for each in value)
        case _:
            return value


# ---------------------------------------------------------------- what becomes of it


def answer(interview: Interview, tries: Sequence[Tried]) -> None:
    """Asks for all cases of all laws together."""
    outcomes = iter(
        interview.outcomes([(each.law, inputs) for each in tries for inputs in each.cases])
    )
    for each in tries:
        each.outcomes = [next(outcomes) for _ in each.cases]


def make_smaller(interview: Interview, tries: Sequence[Tried]) -> None:
    """Makes the first case that breaks each law as small as it becomes, and asks it anew."""
    first = [each.cases[each.broken - 1] for each in tries]
    kinds = [kind_of(each, each.broken - 1) for each in tries]

    def judged(batch: Sequence[tuple[int, Inputs]]) -> list[Counterexample | None]:
        outcomes = interview.outcomes([(tries[n].law, inputs) for n, inputs in batch])
        pairs = zip(batch, outcomes, strict=True)
        return [tries[n].breaks(inputs, outcome) for (n, inputs), outcome in pairs]

    def fails(batch: Sequence[tuple[int, Inputs]]) -> list[bool]:
        return [
            found is not None and found.kind == kinds[n]
            for (n, _), found in zip(batch, judged(batch), strict=True)
        ]

    if tries:
        broken = [(each.law, inputs) for each, inputs in zip(tries, first, strict=True)]
        smallest = list(enumerate(shrink_laws(broken, fails, BUDGET)))
        known = judged(smallest)
        interview.forget()
        for each, found, anew in zip(tries, known, judged(smallest), strict=True):
            found = found or each.breaks(
                each.cases[each.broken - 1], each.outcomes[each.broken - 1]
            )
            if found is not None:
                each.smallest = replace(found, again=anew is not None)


def kind_of(tried: Tried, place: int) -> str:
    """In which way the case at this place breaks the law."""
    found = tried.breaks(tried.cases[place], tried.outcomes[place])
    return found.kind if found else ""


def verdict(about: str, group: Sequence[Tried]) -> Verdict:
    """What the cases of a law, of all instances, come to; those with no value do not count."""
    law, tested, telling = group[0].law, 0, 0
    reasons = Counter(each.unrun for each in group if each.unrun)
    for each in group:
        upto = each.broken or len(each.cases)
        for inputs, outcome in zip(each.cases[:upto], each.outcomes[:upto], strict=True):
            if isinstance(outcome, NotAsked):
                reasons[str(outcome)] += 1
            elif isinstance(outcome, Equation):
                tested += 1
                telling += is_telling(law, inputs, outcome.lhs, outcome.rhs)
            elif isinstance(outcome, Broke):
                tested, telling = tested + 1, telling + 1
    found = next((each.smallest for each in group if each.smallest), None)
    if not (telling or found) and reasons:  # of two empty Z-sets nothing was learned
        reason, _ = reasons.most_common(1)[0]
        return NotRun(law, about, 0, 0, reason=reason)
    return Verdict(law, about, tested, telling, found)
