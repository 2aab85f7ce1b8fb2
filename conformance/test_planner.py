"""On random queries a plan says what its query says, with the operators that a suite meets."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from deltaproof.conformance.adapter import Observed
from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import shapes, take_cases
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.judge import VIEW, Judge, Oracle
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import DeltaproofError, EvaluationError
from deltaproof.reference.planner import as_written, plan_views
from deltaproof.reference.query import Query

SHAPES = 120
FUSED = ["filter", "map", "flat_map", "window.hop", "logic", "join.inner"]


def told(circuit: Circuit, case: Case) -> list[object]:
    """What the circuit puts out at each tick, or how it refuses the tick."""
    outputs: list[object] = []
    for tick in case.ticks:
        try:
            outputs.append(circuit.step(tick)[VIEW])
        except DeltaproofError as error:
            outputs.append(str(error))
    return outputs


def test_differential_plans_of_random_queries() -> None:
    fused: Counter[str] = Counter()
    for shape in islice(shapes(11, FUSED), SHAPES):
        views: dict[str, Query] = {VIEW: shape.query}
        for rewrite in plan_views(views).rewrites:
            fused[rewrite.theorem] += 1
        for case in take_cases(shape, list(KINDS), 3):
            circuit, plain = Circuit(views), Circuit(views, plan=as_written)
            assert told(circuit, case) == told(plain, case)
    assert min(fused["linear_compose"], fused["join_after_linear"]) > 10


def test_oracle_plans_of_random_queries() -> None:
    for shape in islice(shapes(12, FUSED), SHAPES // 2):
        oracle, judge = Oracle(shape.query), Judge(shape.query.schema)
        for case in take_cases(shape, list(KINDS), 2):
            try:
                expected = oracle.expected(case)
            except EvaluationError:
                continue
            circuit = Circuit(shape.query)
            observed = []
            for tick in case.ticks:
                delta = circuit.step(tick)[VIEW]
                observed.append(Observed(circuit.contents()[VIEW], delta))
            assert judge.difference(expected, observed) is None
