"""A law asked of a backend costs a few jobs, and what a backend does wrong refutes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from deltaproof.conformance.adapter import Backend, Observed, Session
from deltaproof.conformance.adapters.duckdb import DuckDBBackend
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.adapters.spark import SparkBackend
from deltaproof.conformance.adapters.sqlite import SqliteBackend
from deltaproof.conformance.case import Stream
from deltaproof.conformance.laws.asked import AskedReport, check_laws_on, judge_on
from deltaproof.conformance.laws.interview import Interview, NotAsked
from deltaproof.conformance.laws.tolerance import agree
from deltaproof.conformance.mutants.mutant import replaced
from deltaproof.properties.check import subject_of_function
from deltaproof.properties.law import Equation, Law, Subject, ZSets, law, subject_of
from deltaproof.properties.laws import CATALOGUE, laws_of
from deltaproof.properties.verdict import Verdict
from deltaproof.reference.errors import EvaluationError, UsageError
from deltaproof.reference.operator import Shape
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.query import Query
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import NAN, Schema
from deltaproof.reference.zset import ZSet

NAMED = {each.name: each for each in CATALOGUE}
circuit_is_incremental = NAMED["circuit_is_incremental"]
increment_is_incremental = NAMED["increment_is_incremental"]
increment_restores = NAMED["increment_restores"]
increment_step_only_reads = NAMED["increment_step_only_reads"]
join_commutes = NAMED["join_commutes"]
operator_additive, operator_odd = NAMED["operator_additive"], NAMED["operator_odd"]
operator_idempotent = NAMED["operator_idempotent"]

K = Schema.parse("k BIGINT NOT NULL")
A, B = Schema.parse("a BIGINT, v VARCHAR"), Schema.parse("b BIGINT, x DOUBLE")
DISTINCT = subject_of(Distinct(), K)
KEPT = subject_of(Filter(col("k") > 0), K)
JOINED = subject_of(Join((("a", "b"),)), A, B)
COUNTED = subject_of(Aggregate(("v",), (("n", AggregateCall("count_star")),)), A)


class Batching:
    """A backend seen from outside: the reference, its batches counted, its answers spoiled."""

    name = "spoiled"
    capabilities = ReferenceBackend.capabilities
    tolerance = 0.0

    def __init__(self, spoil: object = None) -> None:
        self.inner = ReferenceBackend()
        self.spoil = spoil
        self.batches: list[int] = []

    def describe(self) -> str:
        return "the reference, spoiled"

    def refuses(self, query: Query) -> str | None:
        return None

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> Session:
        return self.inner.open(tables, views)

    def run_many(self, query: Query, streams: Sequence[Stream]) -> list[list[Observed]]:
        self.batches.append(len(streams))
        answers = self.inner.run_many(query, streams)
        if callable(self.spoil):
            pairs = zip(streams, answers, strict=True)
            return [self.spoil(stream, answer) for stream, answer in pairs]
        return answers


def verdict_on(backend: Backend, about: Subject, asked: Law, examples: int = 30) -> Verdict:
    (found,) = check_laws_on(backend, about, examples, laws=[asked]).verdicts
    return found


def statuses(report: AskedReport) -> set[str]:
    return {each.status for each in report.verdicts}


@pytest.mark.parametrize("about", [DISTINCT, KEPT, JOINED, COUNTED], ids=str)
@pytest.mark.parametrize("backend", [ReferenceBackend(), SqliteBackend(), DuckDBBackend()])
def test_law_every_law_holds_on_every_engine_here(backend: Backend, about: Subject) -> None:
    report = check_laws_on(backend, about, examples=12)
    assert report.refuted == ()
    assert statuses(report) <= {"tested", "not run"}
    assert report.counts["tested"] > 10
    assert report.cases > 100
    assert backend.name in report.measured


def test_law_laws_are_asked_of_spark_in_a_few_jobs() -> None:
    laws = [increment_is_incremental, operator_idempotent, NAMED["increment_causal"]]
    report = check_laws_on(SparkBackend(), DISTINCT, 12, laws=[*laws, increment_restores])
    assert [each.status for each in report.verdicts] == ["tested", "tested", "tested", "not run"]
    assert report.questions > 50
    assert report.batches == 2
    assert str(report.verdicts[-1]) == (
        "increment_restores is not run for distinct on spark: spark does not declare restart"
    )


def test_all_cases_of_all_laws_are_asked_together() -> None:
    backend = Batching()
    report = check_laws_on(backend, DISTINCT, examples=20)
    assert report.cases > 300
    streams_alone = [size for size in backend.batches if size > 1]
    assert len(streams_alone) < 10
    assert report.ok


def test_the_backend_answers_and_not_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    with replaced(Join, "meaning", lambda *inputs: pytest.fail("the reference was asked")):
        interview = Interview(SqliteBackend())
        monkeypatch.setattr("deltaproof.conformance.laws.interview.Oracle", Unasked)
        monkeypatch.setattr("deltaproof.conformance.laws.interview.subject_of", declared)
        q = interview.subject(Join((("a", "b"),)), A, B)
        inputs = (("q", q), ("a", ZSet({(1, "x"): 2})), ("b", ZSet({(1, 0.5): 1})))
        (equation,) = interview.outcomes([(join_commutes, inputs)])
    assert equation == Equation(*[ZSet({(1, "x", 1, 0.5): 2})] * 2)


class Unasked:
    """An oracle that knows nothing: every question has a value."""

    def __init__(self, query: Query) -> None: ...
    def expected(self, case: object) -> None: ...


def declared(operator: Join, *schemas: Schema) -> Subject:
    return replace(JOINED, operator=operator, schemas=schemas)


def keeps_nothing_back(stream: Stream, answer: list[Observed]) -> list[Observed]:
    """DISTINCT that never takes a row back: after a deletion its view still holds it."""
    total, observed = ZSet(), []
    for each in answer:
        delta = ZSet({row: w for row, w in (each.delta or ZSet()).items() if w > 0})
        total = total + delta
        observed.append(Observed(total, delta))
    return observed


def test_a_wrong_increment_is_refuted_by_a_small_case() -> None:
    found = verdict_on(Batching(keeps_nothing_back), DISTINCT, increment_is_incremental, 40)
    assert str(found) == (
        "increment_is_incremental does not hold for distinct over (k BIGINT NOT NULL)\n"
        "  at t = 1, the first difference:\n"
        "    Q^D(s)     = 0\n"
        "    D(Q(I(s))) = {(0): -1}\n"
        "  with s = [{(0): +1}, {(0): -1}]\n"
        "  the law: Q^D(s) = D(Q(I(s)))\n"
        "  why it matters: The one claim: maintained and recomputed are the same view, "
        "at every tick.\n"
        "  source: DBSP (VLDB 2023) definition 3.1; Lean: incremental"
    )


def test_only_the_laws_that_it_breaks_are_refuted() -> None:
    report = check_laws_on(Batching(keeps_nothing_back), DISTINCT, examples=20)
    refuted = {each.law.name for each in report.refuted}
    assert {"increment_is_incremental", "increment_default_agrees"} <= refuted
    assert not {"operator_idempotent", "operator_well_typed", "distinct_is_a_set"} & refuted
    for each in report.refuted:
        assert each.counterexample is not None
        rows = str(each.counterexample.inputs).count(": ") - 1
        assert rows <= 12
    assert not report.ok


def test_a_backend_that_fails_refutes_with_its_error() -> None:
    def breaks(stream: Stream, answer: list[Observed]) -> list[Observed]:
        if any(
            weight > 2 for tick in stream for delta in tick.values() for _, weight in delta.items()
        ):
            raise ZeroDivisionError("three of a kind\nand more")
        return answer

    found = verdict_on(Batching(breaks), DISTINCT, operator_idempotent)
    assert found.counterexample is not None
    assert found.counterexample.error == "ZeroDivisionError: three of a kind (on spoiled)"
    assert found.counterexample.inputs[1:] == (("a", (ZSet({(0,): 3}),)),)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda stream, answer: answer[:-1], "an answer: 0 ticks, expected 1"),
        (
            lambda stream, answer: [Observed(None, None)] * len(answer),
            "an answer: neither contents",
        ),
        (
            lambda stream, answer: [Observed(ZSet({(1, 2): 1}), None)] * len(answer),
            "an answer: the row (1, 2), expected 1 columns",
        ),
    ],
)
def test_an_answer_out_of_shape_refutes(spoil: object, message: str) -> None:
    found = verdict_on(Batching(spoil), DISTINCT, operator_idempotent, 5)
    assert found.counterexample is not None
    assert found.counterexample.error.startswith(message)


def test_an_answer_that_changes_from_one_asking_to_the_next_is_seen() -> None:
    answers = iter(range(10**9))

    def moody(stream: Stream, answer: list[Observed]) -> list[Observed]:
        return answer if next(answers) % 3 else [Observed(ZSet(), ZSet()) for _ in answer]

    @law("operator", "Q(a) = Q(a), asked again", source="here")
    def same_again(q: Subject, a: ZSets) -> Equation:
        """An answer is a function of the data."""
        return Equation(q.meaning(*a), q.meaning(*a))

    assert verdict_on(Batching(moody), DISTINCT, same_again).status == "refuted"
    assert verdict_on(Batching(), DISTINCT, same_again).status == "tested"


def test_what_a_backend_does_not_declare_is_not_run() -> None:
    delayed = check_laws_on(SqliteBackend(), subject_of(Delay(1), K), examples=5)
    assert statuses(delayed) == {"not run"}
    assert not delayed.ok
    assert delayed.verdicts[0].evidence == "sqlite does not declare delay"
    odd = verdict_on(SqliteBackend(), KEPT, operator_odd)
    assert (odd.status, odd.evidence) == ("not run", "sqlite does not declare weights.signed")
    restarted = verdict_on(DuckDBBackend(), KEPT, increment_restores)
    assert restarted.evidence == "duckdb does not declare restart"


def test_restarts_are_asked_where_they_are_declared() -> None:
    assert verdict_on(ReferenceBackend(), DISTINCT, increment_restores, 10).status == "tested"


def test_a_case_without_a_value_is_not_counted() -> None:
    divided = subject_of(Map((("r", lit(6) % col("k")),)), K)
    found = verdict_on(ReferenceBackend(), divided, operator_additive, 60)
    assert found.status == "tested"
    assert 0 < found.tested < 60


def test_a_kind_of_operator_is_asked_on_several_instances() -> None:
    report = check_laws_on(SqliteBackend(), Filter, examples=6, laws=[operator_additive])
    (found,) = report.verdicts
    assert found.status == "tested"
    assert found.about == "filter on sqlite"


def test_laws_that_say_nothing_of_a_backend_are_left_out() -> None:
    names = {each.law.name for each in check_laws_on(SqliteBackend(), KEPT, 2).verdicts}
    assert increment_step_only_reads in laws_of(KEPT)
    assert circuit_is_incremental in laws_of(KEPT)
    assert not names & {
        "increment_step_only_reads",
        "circuit_is_incremental",
        "operator_keeps_inputs",
    }


def test_a_law_that_is_asked_for_and_says_nothing_of_a_backend_is_not_run() -> None:
    report = check_laws_on(SqliteBackend(), KEPT, 2, laws=[increment_step_only_reads])
    assert [(each.status, each.evidence) for each in report.verdicts] == [
        ("not run", "it steps an increment, and a backend shows none")
    ]


def test_a_backend_without_a_value_where_there_is_one_is_refuted() -> None:
    def gives_up(stream: Stream, answer: list[Observed]) -> list[Observed]:
        raise EvaluationError("out of range")

    found = verdict_on(Batching(gives_up), DISTINCT, operator_idempotent)
    assert found.counterexample is not None
    assert found.counterexample.error == "EvaluationError: out of range (on spoiled)"


def test_contents_that_are_not_the_sum_of_the_changes_refute() -> None:
    """A backend that shows both is believed in neither alone."""

    def stale(stream: Stream, answer: list[Observed]) -> list[Observed]:
        return [Observed(answer[0].contents, each.delta) for each in answer]

    found = verdict_on(Batching(stale), DISTINCT, increment_is_incremental)
    assert found.counterexample is not None
    assert found.counterexample.error.startswith("an answer: at tick 1 the contents are not")


def test_a_function_cannot_be_asked_of_a_backend() -> None:
    function = subject_of_function(lambda a: a, Shape.LINEAR, K)
    with pytest.raises(UsageError, match="is a function, and sqlite runs operators"):
        check_laws_on(SqliteBackend(), function)


def test_one_case_is_judged_on_a_backend() -> None:
    inputs = (("q", DISTINCT), ("a", (ZSet({(0,): 1}),)), ("b", (ZSet({(0,): 1}),)))
    found = judge_on(SqliteBackend(), operator_additive, inputs)
    assert found is not None
    assert found.equation == Equation(ZSet({(0,): 1}), ZSet({(0,): 2}))
    assert judge_on(SqliteBackend(), operator_idempotent, inputs[:2]) is None
    negative = (("q", DISTINCT), ("a", (ZSet({(0,): -1}),)))
    with pytest.raises(NotAsked, match=r"does not declare weights\.signed"):
        judge_on(SqliteBackend(), operator_idempotent, negative)


def test_the_same_arguments_ask_the_same() -> None:
    first, second = (check_laws_on(SqliteBackend(), DISTINCT, 6) for _ in range(2))
    assert (first.questions, str(first)) == (second.questions, str(second))


def test_doubles_agree_within_the_tolerance_of_the_backend() -> None:
    third = ZSet({("x", 0.1 + 0.2): 1, ("y", NAN): 2})
    rounded = ZSet({("x", 0.3): 1, ("y", NAN): 2})
    assert not agree(Equation(third, rounded))
    assert agree(Equation((third, [third]), (rounded, [rounded])), 1e-9)
    assert not agree(Equation(third, ZSet({("x", 0.4): 1, ("y", NAN): 2})), 1e-9)
    assert not agree(Equation(ZSet({(1,): 1}), ZSet({(2,): 1})), 1e-9)
    assert not agree(Equation(third, rounded + rounded), 1e-9)
