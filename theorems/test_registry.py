"""What a theorem's function returns is a proof, or the theorem does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import z3

from deltaproof.theorems.kernel import (
    Counterexample,
    ProofError,
    Query,
    Thm,
    assume,
    axiom,
    prove,
    refute,
)
from deltaproof.theorems.registry import Theorem, theorem

X = z3.Int("x")


@dataclass(frozen=True)
class Enumerated:
    """Evidence that is no theorem of the kernel."""

    queries: tuple[Query, ...]


def refuted() -> Counterexample:
    return refute("x is 0", X == 0, show=[X])


@theorem(statement="x is x", source="logic", wrong=(refuted,), abstract="there is no code of it")
def equality_reflexive() -> Thm:
    return prove("x is x", X == X)


def returning(evidence: Callable[[], Thm | None]) -> Theorem:
    return replace(equality_reflexive, function=evidence)  # type: ignore[arg-type]  # it is tested


def test_a_theorem_that_is_proved_holds() -> None:
    assert equality_reflexive.prove().holds


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (lambda: None, "its function returned nothing"),
        (lambda: prove("x > 0", X > 0, [assume(X > 1)]), "rests on assumptions: x > 1"),
        (lambda: axiom("x is large", X > 5), "no question was asked"),
    ],
)
def test_what_proves_nothing_does_not_hold(evidence: Callable[[], Thm | None], why: str) -> None:
    assert returning(evidence).prove().error == why


def test_what_nobody_asked_is_not_proved() -> None:
    """A lemma that was stated without being asked may still be kept, and found again."""
    guess = Enumerated((Query("2 + 2 = 5", "not asked", 0.0),))
    proof = replace(equality_reflexive, function=lambda: guess).prove()
    assert proof.error == "2 + 2 = 5: nobody has answered this, it is not asked"


def test_a_failure_without_words_is_a_failure() -> None:
    def silent() -> Thm:
        raise ProofError("")

    assert returning(silent).prove().error == "ProofError"
