"""Every theorem holds, every wrong variant is refuted, and every increment cites a theorem."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache

import pytest
import z3

import deltaproof.theorems
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operators import OPERATORS
from deltaproof.theorems import catalogue, prove_all
from deltaproof.theorems.admitted import ADMITTED
from deltaproof.theorems.kernel import (
    EFFORT,
    Counterexample,
    ProofError,
    Thm,
    everything_under,
    prove,
    refute,
)
from deltaproof.theorems.licenses import (
    faults_of_capabilities,
    faults_of_increments,
    faults_of_operators,
    faults_of_rewrites,
    made_by,
    rewrites,
    written_increments,
)
from deltaproof.theorems.models import without_model
from deltaproof.theorems.page import PAGE, page
from deltaproof.theorems.registry import STRUCTURE, UNBOUNDED, Proof, Theorem, theorem
from deltaproof.theorems.report import conditions, second_answers
from deltaproof.theorems.second_solver import SecondSolver

NAMES = [each.name for each in catalogue()]
X = z3.Int("x")

# What a theorem may assume: the definition of streams and Z-sets, and what its statement says.
STATED = {
    "is an abelian group",
    "is linear",
    "is time-invariant",
    "is causal",
    "is strict",
    "Q is linear on the left",
    "Q is linear on the right",
    "f(0, 0) is 0",
    "node of the query is lifted",
    "a rewrite keeps the meaning of a node",
    "every row whose weight or matches change is touched",
    "a group without rows is not there",
    "a group without rows has no results",
    "every group with rows in the delta is touched",
    "every value that the delta weighs is among the changed",
    "values are totally ordered",
    "is as printed on the right",
    "sets are partially ordered, with a least",
    "is monotone",
    "h(x) is the least fixpoint of g(x, y)",
    "X is the least fixpoint of f(x, h(x))",
    "is the least relation with the rules",
    "is closed under 4.4 and 4.5*",
    "proposition 4.4 holds of the operators",
    "proposition 4.5 holds of the operators",
    "is local to keys",
    "of no rows is empty",
    "rows that match are on one shard",
    "rows that match are at most h apart",
    "the watermark never goes back",
    "no row comes below the watermark",
    "f and g agree",
    "is decided",
}


@cache
def proof_of(name: str) -> Proof:
    (proof,) = prove_all([name])
    return proof


def known_proof(name: str) -> Proof | None:
    return proof_of(name) if name in NAMES else None


@pytest.mark.parametrize("name", NAMES)
def test_it_holds_and_its_wrong_variants_do_not(name: str) -> None:
    proof = proof_of(name)
    assert proof.error == ""
    assert proof.counterexamples
    assert all(each.values for each in proof.counterexamples)
    assert proof.queries


@pytest.mark.parametrize("name", NAMES)
def test_it_assumes_nothing_that_it_does_not_say(name: str) -> None:
    assumed = [each for each in proof_of(name).axioms if not each.endswith(STRUCTURE)]
    assert [each for each in assumed if not any(said in each for said in STATED)] == []


def test_every_kind_of_axiom_has_a_model() -> None:
    assert without_model({each for name in NAMES for each in proof_of(name).axioms}) == []


def test_axioms_and_definitions_do_not_contradict_each_other() -> None:
    """z3 may answer "unknown" to so many quantifiers; it must not find a contradiction."""
    solver = z3.Solver()
    solver.set("rlimit", 1_000_000)
    for proof in map(proof_of, NAMES):
        if isinstance(proof.evidence, Thm):
            roots = [each for each in everything_under(proof.evidence) if each.kind != "rule"]
            solver.add(*[each.formula for each in roots])
    assert solver.check() != z3.unsat


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_code")])
def test_the_wrong_code_is_wrong_on_integers_too(name: str) -> None:
    assert all(each.replay for each in proof_of(name).counterexamples)


def test_every_operator_and_all_that_it_can_do_is_licensed_by_theorems() -> None:
    assert list(faults_of_operators(OPERATORS, known_proof)) == []
    assert list(faults_of_capabilities()) == []


def test_every_rewrite_of_the_planner_is_licensed_by_a_theorem() -> None:
    assert list(faults_of_rewrites(rewrites(), known_proof)) == []


def test_every_increment_that_is_written_is_licensed_and_was_run_on_symbolic_weights() -> None:
    assert list(faults_of_increments(written_increments(), known_proof)) == []


def test_increments_that_operators_make_are_among_those_that_are_written() -> None:
    made = frozenset[str]().union(*map(made_by, OPERATORS))
    assert made - set(written_increments()) == set()


def test_the_code_of_every_operator_is_run_on_symbolic_weights() -> None:
    """That of the operator itself, or of another whose increments it uses as they are."""
    codes = [name for name in NAMES if name.endswith("_code")]
    own = [kind for kind in OPERATORS if any(name.startswith(kind.name) for name in codes)]
    run = frozenset[str]().union(*map(made_by, own))
    assert [kind.name for kind in OPERATORS if kind not in own and not made_by(kind) <= run] == []


def test_every_theorem_that_is_written_is_listed() -> None:
    package = deltaproof.theorems
    written = {
        value.name
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if "test_" not in module.name and "__main__" not in module.name
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, Theorem)
    }
    assert sorted(written) == sorted(NAMES)


def test_every_name_is_a_subject_and_a_property() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(name.isidentifier() and "_" in name for name in NAMES)


def test_statements_fit_on_a_line_and_name_their_source() -> None:
    assert [each.name for each in catalogue() if not 0 < len(each.statement) <= 100] == []
    assert [each.name for each in catalogue() if not each.source] == []


def test_what_is_admitted_names_theorems_that_exist() -> None:
    assert [name for each in ADMITTED for name in each.theorems if name not in NAMES] == []
    assert all(each.claim and each.reason for each in ADMITTED)


def test_an_unknown_theorem_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="'join_linear': did you mean join_bilinear"):
        prove_all(["join_linear"])


# ---------------------------------------------------------------- theorems that must not pass


def proved() -> Thm:
    return prove("x is x", X == X)


def refuted() -> Counterexample:
    return refute("x is 0", X == 0, show=[X])


def example() -> Theorem:
    return theorem(statement="true", source="logic", wrong=(refuted,), abstract="logic")(proved)


def test_a_theorem_without_a_wrong_variant_does_not_hold() -> None:
    assert example().prove().holds
    alone = replace(example(), wrong=()).prove()
    assert not alone.holds
    assert "no wrong variant" in alone.error


def test_a_theorem_whose_wrong_variants_no_code_ran_says_why() -> None:
    silent = replace(example(), abstract="").prove()
    assert silent.error == "no wrong variant is replayed on the reference, and no reason is given"


def test_a_wrong_variant_that_is_right_fails_the_theorem() -> None:
    def not_wrong() -> Counterexample:
        return refute("x is x", X == X)

    failed = replace(example(), wrong=(refuted, not_wrong)).prove()
    assert failed.error == "x is x: expected a counterexample, z3 finds none"


def test_a_proof_that_fails_says_where() -> None:
    def broken() -> Thm:
        raise ProofError("step 3: does not hold")

    failed = replace(example(), function=broken).prove()
    assert (failed.holds, failed.error) == (False, "step 3: does not hold")


# ---------------------------------------------------------------- all of it


@cache
def whole() -> list[Proof]:
    """Every proof, with what cvc5 says."""
    with SecondSolver() as second:
        for name in NAMES:
            second.ask(proof_of(name).queries)
        return [
            replace(proof, second=second.answers(proof.queries)) for proof in map(proof_of, NAMES)
        ]


def test_the_catalogue_is_as_large_as_it_was() -> None:
    """A floor under what is printed: a theorem or a condition that went missing is seen."""
    unbounded = [proof for proof in whole() if proof.scope.startswith(UNBOUNDED)]
    assert len(whole()) >= 215
    assert len(unbounded) >= 168
    assert len(conditions(unbounded)) >= 3_700
    assert sum(proof.replayed for proof in whole()) >= 350


def test_no_condition_is_left_open() -> None:
    asked = conditions(whole())
    assert [query.name for query in asked if query.verdict == "unknown"] == []
    assert [query.name for query in asked if query.units > EFFORT] == []
    assert sum(query.alone == "unknown" for query in asked) <= 2


def test_cvc5_confirms_almost_all_conditions_and_contradicts_none() -> None:
    answers = second_answers(whole())
    assert len(answers) >= 4_500
    assert answers.count("unsat") >= 0.99 * len(answers)
    assert [proof.name for proof in whole() if proof.second.contradicted] == []


def test_the_page_is_fresh() -> None:
    assert page(whole()) == PAGE.read_text(encoding="utf-8"), "run `make docs`"
