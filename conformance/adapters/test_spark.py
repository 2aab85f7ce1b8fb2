"""Real Spark, through the protocol: in batches, in chunks of ticks, and one job per tick."""

from __future__ import annotations

from itertools import islice

import pytest

from deltaproof.conformance.adapters.spark import SparkBackend
from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import applicable_kinds, shapes, take_cases
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.judge import Judge, Oracle, run_case, run_cases
from deltaproof.conformance.mutants import FAMILIES, kill
from deltaproof.conformance.mutants.mutant import Mutant
from deltaproof.conformance.mutants.spark import MUTANTS
from deltaproof.conformance.suite import supports
from deltaproof.properties.killers import HUGE_WEIGHTS
from deltaproof.reference.errors import BackendError, EvaluationError
from deltaproof.reference.query import table
from deltaproof.reference.zset import ZSet

KINDS_RUN = [kind for kind in KINDS if kind != "restart"]


@pytest.fixture(scope="module")
def spark() -> SparkBackend:
    return SparkBackend()


def with_value(cases: list[Case]) -> list[Case]:
    """The cases whose query has a value at every tick: one that has none fails a whole batch."""
    oracle = Oracle(cases[0].query)

    def has_value(case: Case) -> bool:
        try:
            oracle.expected(case)
        except EvaluationError:
            return False
        return True

    return list(filter(has_value, cases))


def differing(backend: SparkBackend, cases: list[Case], one_by_one: bool = False) -> list[str]:
    """The names of the cases that are not equal, at every tick."""
    oracle = Oracle(cases[0].query)
    judge = Judge(cases[0].query.schema, backend.tolerance)
    observed = (
        [run_case(backend, case) for case in cases] if one_by_one else run_cases(backend, cases)
    )
    return [
        case.identity
        for case, seen in zip(cases, observed, strict=True)
        if judge.difference(oracle.expected(case), seen)
    ]


def test_oracle_random_cases_of_a_shape_are_equal_in_one_job(spark: SparkBackend) -> None:
    for shape in islice(shapes(23), 12):
        if cases := with_value(take_cases(shape, KINDS_RUN, 66)):
            assert differing(spark, cases) == [], shape.query


def test_oracle_values_that_broke_engines_are_equal(spark: SparkBackend) -> None:
    judged = 0
    for shape in islice(shapes(23, ["join.inner", "aggregate.min"], values="killers"), 4):
        if not supports(spark, shape):
            continue
        kinds = applicable_kinds(shape, KINDS_RUN, spark.capabilities)
        if cases := with_value(take_cases(shape, kinds, 33)):
            assert differing(spark, cases) == [], shape.query
        judged += len(cases)
    assert judged >= 60


def test_a_huge_weight_is_kept_or_refused_and_never_wraps(spark: SparkBackend) -> None:
    rows = table("t", "k BIGINT")
    pairs = rows.join(rows.prefix("r_"), on={"k": "r_k"})  # of weight w × w
    answers = {}
    for weight in HUGE_WEIGHTS:
        case = Case(pairs, ({"t": ZSet({(7,): weight})}, {"t": ZSet({(7,): -weight})}))
        try:
            answers[weight] = "differs" if differing(spark, [case]) else "equal"
        except BackendError as error:
            answers[weight] = str(error)
    for weight, answer in answers.items():
        assert answer == "equal" if weight**2 < 2**63 else "64 bits, and" in answer


def test_oracle_a_view_kept_tick_by_tick_is_equal(spark: SparkBackend) -> None:
    for shape in islice(shapes(29, ["aggregate.min", "join.inner"]), 2):
        cases = take_cases(shape, ["churn", "signed"], 2)
        assert differing(spark, cases, one_by_one=True) == [], shape.query


def test_a_case_without_a_single_change_has_the_row_of_a_keyless_aggregate(
    spark: SparkBackend,
) -> None:
    case = Case.from_json(
        {
            "tables": {"t": "k BIGINT"},
            "query": {
                "op": "aggregate",
                "keys": [],
                "aggregates": [["n", "count_star", None]],
                "inputs": [{"table": "t"}],
            },
            "ticks": [{}, {}, {}],
        }
    )
    assert differing(spark, [case]) == []
    assert differing(spark, [case], one_by_one=True) == []


# Two of each family: all of them, which `make mutants` plants, take minutes.
PLANTED = [*MUTANTS[:2], *(mutant for family in FAMILIES for mutant in family.SPARK[:2])]


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_spark_forms_is_killed_in_its_cell(mutant: Mutant) -> None:
    death = kill(mutant, "spark", 7)
    assert death.killed, death
