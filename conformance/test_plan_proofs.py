"""Every plan of a random query is proved equal to D ∘ query ∘ I, and a wrong planner is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import Shape, shapes, take_cases
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.plan_proofs import random_shapes, validate_random
from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.planner import Chain, FusedJoin, plan_views, planned
from deltaproof.reference.query import Apply as Node
from deltaproof.reference.query import Query
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.circuit_algebra import Apply, Circuit, Delay, Integral
from deltaproof.theorems.calculus.plans import (
    Named,
    Validations,
    meant_changes,
    run_circuit,
    runtime_changes,
    validate,
    validate_all,
)

PLANS, SEED = 1000, 4


@cache
def found() -> Validations:
    return validate_random(PLANS, SEED)


def test_the_plans_of_random_queries_are_proved() -> None:
    """All that the generator makes; a third of linear and bilinear nodes only."""
    assert found().unequal == ()
    assert len(found().all) == PLANS
    assert len(found().algebraic) >= 250
    assert len(found().with_a_join) >= 40


def test_the_plans_of_all_operators_are_proved() -> None:
    """What is not linear is an input of the algebra; the planner must leave it in its place."""
    validations = validate_all(shape.query for shape in islice(shapes(SEED), 300))
    assert validations.unequal == ()


def test_these_plans_are_not_the_queries() -> None:
    """Otherwise nothing would be proved of the planner."""
    queries = [each.query for each in found().algebraic]
    fused = Counter(
        rewrite.theorem for query in queries for rewrite in plan_views({"view": query}).rewrites
    )
    assert min(fused["linear_compose"], fused["join_after_linear"]) >= 20


def undelayed(join: Named, da: Circuit, db: Circuit) -> Circuit:
    """da ⋈ b + a ⋈ db, after the tick."""
    return Apply(join, (da, Integral(db))) + Apply(join, (Integral(da), db))


def twice_delayed(join: Named, da: Circuit, db: Circuit) -> Circuit:
    """da ⋈ b + a ⋈ db, before the tick."""
    return Apply(join, (da, Delay(Integral(db)))) + Apply(join, (Delay(Integral(da)), db))


@pytest.mark.parametrize("terms", [undelayed, twice_delayed])
def test_a_wrong_increment_of_the_join_is_found(
    terms: Callable[[Named, Circuit, Circuit], Circuit],
) -> None:
    joins = [each.query for each in found().with_a_join if "join" in str(each.runs)]
    residues = [validate(query, join_terms=terms).residues for query in joins]
    assert len(joins) >= 20
    assert [query for query, left in zip(joins, residues, strict=True) if not left] == []


def altered(alter: Callable[[Chain | FusedJoin], Chain | FusedJoin]) -> Callable[[Query], Query]:
    """The planner, and then every fused operator changed."""

    def plan(query: Query) -> Query:
        return changed(planned(query))

    def changed(query: Query) -> Query:
        if not isinstance(query, Node):
            return query
        operator = query.operator
        if isinstance(operator, Chain | FusedJoin):
            operator = alter(operator)
        return Node(operator, tuple(map(changed, query.over)))

    return plan


def reversed_stages(fused: Chain | FusedJoin) -> Chain | FusedJoin:
    if isinstance(fused, Chain):
        return Chain(fused.stages[::-1])
    return replace(fused, after=fused.after[::-1])


def without_the_last(fused: Chain | FusedJoin) -> Chain | FusedJoin:
    if isinstance(fused, Chain):
        return Chain(fused.stages[:-1])
    return replace(fused, after=fused.after[:-1])


@pytest.mark.parametrize(("alter", "least"), [(reversed_stages, 10), (without_the_last, 60)])
def test_a_wrong_fusion_is_found(
    alter: Callable[[Chain | FusedJoin], Chain | FusedJoin], least: int
) -> None:
    """Where the wrong plan has a schema at all; a chain of negations has no order to be wrong."""
    verdicts = Counter(validated(each.query, altered(alter)) for each in found().algebraic)
    assert verdicts["found"] >= least
    assert verdicts["missed"] == 0


def validated(query: Query, plan: Callable[[Query], Query]) -> str:
    """What became of a wrong plan: found, missed, or there was nothing wrong to be found."""
    try:
        if plan(query) == planned(query):
            return "right"
        if validate(query, plan).residues:
            return "found"
    except DeltaproofError:
        return "no plan"
    return "missed" if told_apart(query, plan) else "equal"


def told_apart(query: Query, plan: Callable[[Query], Query]) -> bool:
    """Whether the wrong plan puts out something else in one of some cases."""
    shape = next(each for each in random_shapes(SEED) if each.query == query)
    for case in take_cases(shape, list(KINDS), 6):
        deltas = deltas_of(case)
        try:
            if runtime_changes(query, deltas, plan) != runtime_changes(query, deltas):
                return True
        except DeltaproofError:
            continue
    return False


def deltas_of(case: Case) -> dict[str, list[ZSet]]:
    tables = case.query.tables()
    return {
        name: [tick.get(name, ZSet((), schema)) for tick in case.ticks]
        for name, schema in tables.items()
    }


def test_differential_the_circuit_that_is_proved_is_the_one_that_runs() -> None:
    """The same changes from the algebra's circuit, from the runtime and from the meaning."""
    compared = 0
    for shape in islice(random_shapes(SEED), 300):
        validation = validate(shape.query)
        if validation.algebraic:
            compared += sum(agree(shape, case) for case in take_cases(shape, list(KINDS), 2))
    assert compared >= 100


def agree(shape: Shape, case: Case) -> bool:
    """Asserts it; False for a case that has no value at some tick."""
    deltas, validation = deltas_of(case), validate(shape.query)
    if not case.ticks:
        return False
    try:
        expected = meant_changes(shape.query, deltas)
    except DeltaproofError:
        return False
    assert run_circuit(validation.runs, deltas) == expected
    assert runtime_changes(shape.query, deltas) == expected
    return True
