"""A plan is equal to its query or its residue says what is missing; a run says the same."""

from __future__ import annotations

import pytest

from deltaproof.reference.planner import Chain, FusedJoin, planned
from deltaproof.reference.query import Apply as Node
from deltaproof.reference.query import Query, table
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.circuit_algebra import Apply, Circuit, Delay, Integral, clash
from deltaproof.theorems.calculus.plans import (
    Deltas,
    Named,
    R,
    S,
    T,
    chain,
    examples,
    meant_changes,
    run_circuit,
    runtime_changes,
    validate,
    validate_all,
)
from deltaproof.theorems.kernel import ProofError

TICKS: Deltas = {
    "r": [ZSet({(1, 1): 1, (2, 2): 1}), ZSet({(1, 1): -1, (1, 3): 2}), ZSet(), ZSet({(2, 2): 1})],
    "s": [ZSet({(1, 5): 2}), ZSet({(2, 6): 1}), ZSet({(1, 5): -1}), ZSet({(2, 1): 1})],
    "t": [ZSet({(1,): 1}), ZSet({(2,): 1, (1,): -1}), ZSet({(3,): 1}), ZSet()],
}


@pytest.mark.parametrize("query", list(examples()), ids=lambda query: query.label()[:30])
def test_differential_the_circuit_that_is_proved_is_the_one_that_runs(query: Query) -> None:
    validation = validate(query)
    deltas = {name: TICKS[name] for name in query.tables()}
    assert validation.equal
    assert run_circuit(validation.runs, deltas) == meant_changes(query, deltas)
    assert runtime_changes(query, deltas) == meant_changes(query, deltas)


def test_the_examples_meet_what_the_planner_fuses() -> None:
    nodes = [node for query in examples() for node in planned(query).nodes()]
    fused = [type(node.operator) for node in nodes if isinstance(node, Node)]
    assert {Chain, FusedJoin} <= set(fused)


def test_an_operator_that_is_not_linear_is_an_input_of_the_algebra() -> None:
    query = R.filter(col("v") > 0).distinct().project("k").join(T, on={"k": "n"})
    validation = validate(query)
    assert (validation.equal, validation.opaque) == (True, ("distinct",))
    assert str(validation) == "equal; not of linear and bilinear nodes: distinct"
    with pytest.raises(KeyError, match="distinct"):
        run_circuit(validation.runs, {"t": TICKS["t"]})


def test_distinct_over_other_changes_is_another_input() -> None:
    """A plan that filters less below a distinct is wrong, and is found to be."""
    query = R.filter(col("v") > 0).distinct()
    wrong = validate(query, plan=lambda query: R.filter(col("v") > 1).distinct())
    assert str(wrong).startswith("missing: [distinct]; too much: [distinct]")


def test_equal_changes_below_distinct_are_one_input() -> None:
    """Though they are written in another way: the normal forms are compared, not the words."""
    query = R.union_all(R).distinct()
    same = validate(query, plan=lambda query: R.negate().negate().union_all(R).distinct())
    assert same.equal


def test_an_expression_means_what_its_columns_are() -> None:
    """x > 1 is of the first column over one table and of the second over the other."""
    one, other = table("one", "x BIGINT, y BIGINT"), table("other", "y BIGINT, x BIGINT")
    query = one.union_all(other).filter(col("x") > 1)
    wrong = validate(
        query,
        plan=lambda query: one.filter(col("x") > 1).union_all(other.filter(col("x") > 1)),
    )
    assert not wrong.equal


def test_a_filter_goes_through_a_union_of_the_same_columns() -> None:
    query = R.union_all(R.negate()).filter(col("v") > 1)
    pushed = R.filter(col("v") > 1).union_all(R.filter(col("v") > 1).negate())
    assert validate(query, plan=lambda query: pushed).equal


def late_on_both_sides(join: Named, da: Circuit, db: Circuit) -> Circuit:
    a, b = Delay(Integral(da)), Delay(Integral(db))
    return Apply(join, (da, b)) + Apply(join, (a, db))


def test_a_join_that_forgets_a_term_is_named_with_it() -> None:
    wrong = validate(R.join(S, on={"k": "j"}), join_terms=late_on_both_sides)
    assert str(wrong) == "missing: join k = j(r, s)"


def test_a_stage_that_is_not_linear_is_no_stage() -> None:
    distinct = R.distinct()
    assert isinstance(distinct, Node)
    with pytest.raises(ProofError, match="distinct is not linear"):
        chain((distinct.operator,), R.schema, validate(R.negate()).runs)


def test_the_summary_counts_and_shows_what_is_wrong() -> None:
    found = validate_all([R.negate(), R.join(S, on={"k": "j"}), R.distinct()])
    assert str(found).startswith(
        "3 of 3 plans are equal to D ∘ query ∘ I; "
        "2 are of linear and bilinear nodes only, 1 of these with a join; "
    )
    assert "\n" not in str(found)
    wrong = validate(R.negate(), plan=lambda query: R)
    assert "negate\n└─ r\ntoo much: 2 (r)" in str(type(found)((wrong,)))


def test_the_second_solver_is_asked_about_whole_plans() -> None:
    validation = validate(R.filter(col("v") > 0).join(S, on={"k": "j"}))
    (question,) = clash(validation.meant, validation.runs)
    assert question.num_args() >= 1
