"""A license that is missing, false, about something else or empty is found, and said in a line."""

from __future__ import annotations

from dataclasses import replace

import z3

from deltaproof.reference.operator import Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.distinct import DistinctIncrement
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.negate import Negate
from deltaproof.theorems.kernel import Counterexample, Thm, prove, refute
from deltaproof.theorems.licenses import (
    CAPABILITIES,
    INCREMENTS,
    License,
    about_a_change,
    faults,
    faults_of_capabilities,
    faults_of_increments,
    faults_of_operators,
    faults_of_rewrites,
    is_increment,
    made_by,
    rewrites,
    written_increments,
    wrong_with,
)
from deltaproof.theorems.operators.negate import negate_linear
from deltaproof.theorems.registry import Proof, theorem

X = z3.Int("x")


def is_itself() -> Thm:
    return prove("x is x", X == X)


def is_zero() -> Counterexample:
    return refute("x is 0", X == 0, show=[X])


GOOD = negate_linear.prove()
NO_CHANGE = theorem(statement="x = x", source="logic", wrong=(is_zero,), abstract="no code")(
    is_itself
).prove()
FALSE = replace(GOOD, name="false", error="step 3: does not hold")
VACUOUS = replace(GOOD, name="vacuous", counterexamples=())


def proof_of(name: str) -> Proof | None:
    """Every name is that of a good theorem, but these."""
    others = {"is_itself": NO_CHANGE, "false": FALSE, "vacuous": VACUOUS, "missing": None}
    return others.get(name, GOOD)


def test_a_good_theorem_has_nothing_wrong_with_it() -> None:
    assert GOOD.holds
    assert wrong_with("negate_linear", proof_of, change=True) == ""


def test_a_theorem_that_is_missing_false_vacuous_or_about_something_else_is_found() -> None:
    assert NO_CHANGE.holds
    found = [
        wrong_with(name, proof_of, change=True)
        for name in ("missing", "false", "vacuous", "is_itself")
    ]
    assert found == [
        "'missing' is in no chapter",
        "'false' does not hold: step 3: does not hold",
        "'vacuous' refutes no wrong variant",
        "'is_itself' is not about an increment",
    ]


def test_a_theorem_without_D_is_not_about_a_change() -> None:
    assert about_a_change(GOOD)
    assert not about_a_change(NO_CHANGE)
    assert not about_a_change(replace(GOOD, evidence=None))


def test_what_is_admitted_needs_a_reason() -> None:
    assert list(faults("sum", License((), admitted="it is on paper"), proof_of)) == []
    found = list(faults("sum", License(()), proof_of))
    assert found == ["sum: no theorem, and no reason to admit it without"]


def test_code_that_fails_is_found() -> None:
    license = License(("negate_linear",), code="false")
    found = list(faults("negate", license, proof_of))
    assert found == ["negate: 'false' does not hold: step 3: does not hold"]


class Unproved(Join):
    name = "unproved"
    theorem = "missing"

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("join.inner", "join.sideways")


def test_an_operator_without_a_theorem_or_with_a_new_capability_is_found() -> None:
    assert list(faults_of_operators([Negate], proof_of)) == []
    assert list(faults_of_operators([Unproved], proof_of)) == [
        "unproved: 'missing' is in no chapter",
        "join.sideways: nobody says why it is right",
    ]


def test_a_capability_whose_theorem_fails_is_found() -> None:
    def without_null_join_key(name: str) -> Proof | None:
        return None if name == "null_join_key" else GOOD

    found = list(faults_of_operators([Join], without_null_join_key))
    assert found == ["join.inner: 'null_join_key' is in no chapter"]


def test_a_rewrite_without_a_theorem_is_found() -> None:
    assert list(faults_of_rewrites(rewrites(), proof_of)) == []
    found = list(faults_of_rewrites([Unproved], proof_of))
    assert found == ["unproved: 'missing' is in no chapter"]

    def without_composition(name: str) -> Proof | None:
        return None if name == "logic_composition" else GOOD

    unlicensed = "'logic_composition' is in no chapter"
    assert list(faults_of_rewrites(rewrites(), without_composition)) == [
        f"chain: {unlicensed}",
        f"fused_join: {unlicensed}",
    ]


def test_an_increment_without_a_license_and_a_license_without_an_increment_are_found() -> None:
    assert list(faults_of_increments(INCREMENTS, proof_of)) == []
    others = [name for name in INCREMENTS if name != "Due"]
    assert list(faults_of_increments([*others, "ShinyIncrement"], proof_of)) == [
        "ShinyIncrement: no theorem, and no reason to admit it without",
        "ShinyIncrement: its code was run in no theorem",
        "Due: there is no such increment",
    ]


def test_every_class_that_steps_is_taken_for_an_increment() -> None:
    class Quiet:
        def commit(self) -> None: ...
        def clear(self) -> None: ...
        def save(self) -> None: ...
        def restore(self, saved: object) -> None: ...

    assert is_increment(Quiet)
    assert is_increment(DistinctIncrement)
    assert not is_increment(Join)
    assert set(written_increments()) == set(INCREMENTS)


def test_every_operator_makes_increments_that_are_written() -> None:
    assert made_by(Negate) == {"LinearIncrement"}
    assert all(made_by(kind) <= set(written_increments()) for kind in OPERATORS)


def test_capabilities_are_those_that_operators_have() -> None:
    assert list(faults_of_capabilities()) == []
    assert set(CAPABILITIES) == {name for kind in OPERATORS for name in kind.all_capabilities()}


def test_the_rewrites_are_operators_of_the_planner() -> None:
    assert [kind.shape for kind in rewrites()] == [Shape.LINEAR, Shape.BILINEAR]
