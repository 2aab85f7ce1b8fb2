"""What a law asks of a backend is asked all at once, for engines that are slow to start a job.

    law, inputs ──▶ evaluate ──▶ an equation, when all it asked for is known
                       ▲  │
                       │  └────▶ questions ──▶ one batch of cases for each query
                       └──────────── answers ─────┘

An evaluation that asks for something unknown gets a guess, the empty answer, and goes on, so that
it comes to its later questions too. Its result is thrown away, and it is evaluated again after
the backend has answered. All that is asked before the first unknown answer is asked rightly, so
every evaluation gets further than the one before. Most laws need one batch, some two; many laws
with a hundred cases each need no more.

The backend alone answers. The reference is asked one thing: whether an expression has no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias

from deltaproof.conformance.adapter import (
    Backend,
    Observed,
    RunsMany,
    unsupported,
    value_capabilities,
)
from deltaproof.conformance.adapters.recompute import MOST_COPIES
from deltaproof.conformance.case import Case
from deltaproof.conformance.judge import Oracle
from deltaproof.conformance.laws.tolerance import agree
from deltaproof.conformance.shrink import outcomes
from deltaproof.conformance.shrink_stream import positive_stream
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import Equation, Law, Stream, Streams, Subject, subject_of
from deltaproof.reference.errors import (
    BackendError,
    DeltaproofError,
    EvaluationError,
    RowError,
    SchemaError,
    TickError,
    WeightError,
)
from deltaproof.reference.operator import Operator
from deltaproof.reference.query import Query, Table, apply
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

AT_ONCE = 2_000  # cases in one batch
MOST_ROUNDS = 100
HUGE = MOST_COPIES  # from here on a weight is one that a backend may not hold
REFUSED = (RowError, WeightError, SchemaError, TickError)  # an adapter says what it cannot hold


class NotAsked(DeltaproofError):
    """A question that this backend cannot be asked: its case shows nothing of it."""


class Broke(DeltaproofError):
    """A question that the backend should have answered, and failed to."""


LawCase: TypeAlias = tuple[Law, Inputs]
Outcome: TypeAlias = Equation | NotAsked | Broke | EvaluationError
Key: TypeAlias = tuple[Any, ...]
Answer: TypeAlias = list[Observed] | Exception
Progress: TypeAlias = Callable[[str, int, int], None]


def silent(text: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


class Interview:
    """One backend, and all that it was asked and answered.

    >>> from deltaproof.conformance.adapters.reference import ReferenceBackend
    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> interview = Interview(ReferenceBackend())
    >>> q = interview.subject(Distinct(), Schema.parse("k BIGINT"))
    >>> one = (ZSet({(7,): 1}),)
    >>> interview.outcomes([(operator_additive, (("q", q), ("a", one), ("b", one)))])
    [Equation(lhs=ZSet({(7,): 1}), rhs=ZSet({(7,): 2}))]
    >>> interview.questions, interview.batches
    (3, 1)
    """

    def __init__(self, backend: Backend, progress: Progress = silent) -> None:
        self.backend = backend
        self.progress = progress
        self.signed = "weights.signed" in backend.capabilities
        self.answers: dict[Key, Answer] = {}
        self.waiting: dict[Key, Case] = {}
        self.asked: Counter[Key] = Counter()  # by the evaluation that runs
        self.guessed = False  # by the evaluation that runs
        self.queries: dict[Query, int] = {}
        self.questions = self.batches = 0

    # ---------------------------------------------------------------- what laws speak of

    def subject(self, operator: Operator, *schemas: Schema) -> Subject:
        """The backend's implementation of this operator. Raises NotAsked when it has none."""
        query = apply(operator, *(Table(f"t{n}", each) for n, each in enumerate(schemas)))
        if reason := unsupported(self.backend, query):
            raise NotAsked(reason)
        number = self.queries.setdefault(query, len(self.queries))

        def asked(streams: Streams, restart: int = 0) -> list[Observed]:
            return self.answer(query, number, streams, restart)

        def meaning(*inputs: ZSet) -> ZSet:
            (only,) = asked(tuple([each] for each in inputs))
            return contents_of(only)

        def stream(*streams: Stream) -> Stream:
            return deltas_of(asked(streams))

        def over_time(*streams: Stream) -> Stream:
            return integrate(stream(*map(differentiate, streams)))

        def restarted(streams: Streams, tick: int) -> Stream:
            return deltas_of(asked(streams, tick))

        return replace(
            subject_of(operator, *schemas),
            meaning=meaning,
            increment=not_stepped,
            stream=stream,
            over_time=None if operator.lifted else over_time,
            restarted=restarted if "restart" in self.backend.capabilities else None,
            implementing=self.subject,
        )

    def implemented(self, value: Any) -> Any:
        """The backend's implementation, of a subject that is an operator; else what it is."""
        if isinstance(value, Subject) and value.operator is not None:
            return self.subject(value.operator, *value.schemas)
        return value

    def answer(
        self, query: Query, number: int, streams: Streams, restart: int = 0
    ) -> list[Observed]:
        """What the backend shows at every tick; a guess where that is not known yet.

        A question that is asked twice in one evaluation is two questions: whether the backend
        answers both alike may be what the law is about. The order of rows is part of a question.

        Raises NotAsked, Broke, EvaluationError.
        """
        if not streams[0]:
            return []
        question = (number, restart, tuple(map(entries, streams)))
        self.asked[question] += 1
        key = (*question, self.asked[question])
        known = self.answers.get(key)
        if isinstance(known, list):
            return known
        if self.guessed and (known is not None or key in self.waiting):
            return guess(streams)
        if isinstance(known, Exception):
            raise known
        if key not in self.waiting:
            case = case_of(query, streams, restart)
            if reason := self.unaskable(case):
                if self.guessed:
                    return guess(streams)
                raise NotAsked(reason)
            self.waiting[key] = case
        self.guessed = True
        return guess(streams)

    def unaskable(self, case: Case) -> str:
        """Why this backend cannot be fed this stream; nothing when it can."""
        tables, asked = case.tables, set[str]()
        for tick in case.ticks:
            for name, delta in tick.items():
                asked |= value_capabilities(tables[name], delta)
                for row, weight in delta.items():
                    if abs(weight) >= HUGE:
                        asked.add("weights.huge")
                    try:
                        tables[name].row(row)
                    except RowError as error:
                        return str(error)
        if not self.signed and not positive_stream(case):
            asked.add("weights.signed")
        if lacking := sorted(asked - self.backend.capabilities):
            return f"{self.backend.name} does not declare {', '.join(lacking)}"
        return ""

    # ---------------------------------------------------------------- asking

    def forget(self) -> None:
        """What is asked from now on is asked anew."""
        self.answers.clear()

    def outcomes(self, cases: Sequence[LawCase]) -> list[Outcome]:
        """For each case its equation; or why there is none."""
        found: dict[int, Outcome] = {}
        for _ in range(MOST_ROUNDS):
            for place, (law, inputs) in enumerate(cases):
                if place not in found and (outcome := self.evaluate(law, inputs)):
                    found[place] = outcome
            if len(found) == len(cases):
                return [found[place] for place in range(len(cases))]
            self.send()
        names = {law.name for place, (law, _) in enumerate(cases) if place not in found}
        raise BackendError(
            f"{', '.join(sorted(names))}: after {MOST_ROUNDS} answers of {self.backend.name} still "
            "not evaluated: a law must ask the same of the same inputs"
        )

    def evaluate(self, law: Law, inputs: Inputs) -> Outcome | None:
        """What is known of the case; None when questions had to be noted."""
        self.asked.clear()
        self.guessed = False
        try:
            equation = law.equation(*[value for _, value in inputs])
        except (NotAsked, Broke, EvaluationError) as outcome:
            return None if self.guessed else outcome
        except Exception as error:  # noqa: BLE001  # the law could not take what was answered
            text = " ".join(str(error).split())
            return None if self.guessed else Broke(f"{type(error).__name__}: {text}")
        return None if self.guessed else equation

    def send(self) -> None:
        """Puts the questions that wait to the backend, those of one query together."""
        groups: dict[Query, list[tuple[Key, Case]]] = {}
        for key, case in self.waiting.items():
            groups.setdefault(case.query, []).append((key, case))
        done, total = 0, len(self.waiting)
        self.waiting = {}
        for query, group in groups.items():
            oracle = Oracle(query)
            valued = []
            for key, case in group:
                try:
                    oracle.expected(case)
                    valued.append((key, case))
                except EvaluationError as error:
                    self.answers[key] = error
            for part in batches(valued, AT_ONCE if isinstance(self.backend, RunsMany) else 1):
                self.progress(f"asking {self.backend.name}", done, total)
                observed = outcomes(self.backend, [case for _, case in part])
                self.batches += 1
                self.questions += len(part)
                done += len(part)
                for (key, case), each in zip(part, observed, strict=True):
                    self.answers[key] = self.checked(case, each)

    def checked(self, case: Case, observed: Sequence[Observed] | Exception) -> Answer:
        """What was observed, if it is in shape; else the error that the evaluation meets."""
        name = self.backend.name
        if isinstance(observed, REFUSED):
            return NotAsked(f"{name} refuses it: {observed}")
        if isinstance(observed, Exception):
            first, *_ = str(observed).splitlines() or [""]
            return Broke(f"{type(observed).__name__}: {first} (on {name})")
        if len(observed) != len(case.ticks):
            return Broke(f"an answer: {len(observed)} ticks, expected {len(case.ticks)}")
        width, before = len(case.query.schema), ZSet()
        for number, (contents, delta) in enumerate(observed):
            if contents is None and delta is None:
                return Broke("an answer: neither contents nor an output delta")
            for rows in (contents, delta):
                if rows is not None and (fault := fault_of(rows, width)):
                    return Broke(f"an answer: {fault}")
            if contents is None or delta is None:
                continue
            if not agree(Equation(before + delta, contents), self.backend.tolerance):
                return Broke(f"an answer: at tick {number} the contents are not what was shown")
            before = contents
        return list(observed)


def not_stepped() -> NoReturn:
    """What a law that steps an increment itself meets."""
    raise NotAsked("the law steps an increment, and a backend is asked for whole streams")


def case_of(query: Query, streams: Streams, restart: int) -> Case:
    """The streams as ticks of the query's tables."""
    tables = query.tables()
    ticks = tuple(
        {
            name: delta.typed(schema)
            for (name, schema), delta in zip(tables.items(), deltas, strict=True)
        }
        for deltas in zip(*streams, strict=True)
    )
    return Case(query, ticks, restarts=(restart,) if restart else ())


def entries(stream: Stream) -> Key:
    return tuple(tuple(delta.items()) for delta in stream)


def guess(streams: Streams) -> list[Observed]:
    return [Observed(ZSet(), ZSet()) for _ in streams[0]]


def contents_of(observed: Observed) -> ZSet:
    """What the view contains after its first tick."""
    contents, delta = observed
    return contents if contents is not None else delta or ZSet()


def deltas_of(observed: Sequence[Observed]) -> Stream:
    """The output deltas: as they were shown, or the differences of what the view contained."""
    deltas, before = [], ZSet()
    for contents, delta in observed:
        now = contents if contents is not None else before + (delta or ZSet())
        deltas.append(delta if delta is not None else now - before)
        before = now
    return deltas


def fault_of(rows: Any, width: int) -> str:
    """What keeps this from being a Z-set of rows so wide; nothing when it is one."""
    if not isinstance(rows, ZSet):
        return f"{type(rows).__name__} {rows!r:.80}, expected a ZSet"
    for row, weight in rows.items():
        if type(row) is not tuple or len(row) != width:
            return f"the row {row!r}, expected {width} columns"
        if type(weight) is not int:
            return f"the weight {weight!r} of {row!r}, expected an integer"
    return ""


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))
