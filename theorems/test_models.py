"""A claim that is true of nothing is noticed, and so is an axiom that nobody has thought of."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.kernel import ProofError, axioms
from deltaproof.theorems.models import MODELS, X, axioms_have_models, true_of, without_model


def test_a_model_in_which_the_claim_fails_is_none() -> None:
    with pytest.raises(ProofError, match="x > 0: does not hold"):
        true_of("x > 0", X > 0)()


def test_an_axiom_of_an_unknown_kind_has_no_model() -> None:
    assert without_model(["F is strict", "F is fast"]) == ["F is fast"]
    assert without_model(model.phrase for model in MODELS) == []


def test_the_models_assume_nothing_that_has_no_model() -> None:
    assumed = axioms(axioms_have_models())
    assert without_model(assumed) == []
    assert [name for name in assumed if not name.endswith("everywhere is equal")] == []


def test_true_of_takes_several_claims() -> None:
    with pytest.raises(ProofError):
        true_of("both", z3.BoolVal(True), X == X + 1)()
