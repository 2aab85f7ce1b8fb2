"""What circuits are made of is causal because it is proved to be, not because it is a circuit."""

from __future__ import annotations

import pytest

from deltaproof.theorems.calculus.algorithm import algorithm
from deltaproof.theorems.calculus.wiring import Causality, circuits
from deltaproof.theorems.kernel import ProofError, axioms, inst, prove

it = circuits()
causality = algorithm().causality


def test_nothing_is_assumed_of_loops() -> None:
    assert [name for name in axioms(causality.of_circuits) if "loop" in name.lower()] == []


def test_a_loop_is_causal_around_any_operator() -> None:
    rule = causality.rules["loop"]
    assert inst(rule, it.f).formula.eq(causality.holds(it.loop(it.f)))


def test_a_sequence_is_not_causal_for_nothing() -> None:
    """Without the theorem that its first part is causal."""
    f, g = it.f, it.g
    sequence = Causality(it).rules["sequence"]
    with pytest.raises(ProofError, match="does not hold"):
        prove("a sequence", causality.holds(it.sequence(f, g)), [inst(sequence, f, g)])


def test_a_loop_solves_its_equation_only_if_it_is_causal() -> None:
    f, s = it.f, it.s
    loops = algorithm().loops
    solution = it.operators.at(it.loop(f), s)
    with pytest.raises(ProofError, match="does not hold"):
        prove("any loop", solution == loops.turn(f, s, solution), [inst(loops.solves, f, s)])


def test_the_parts_of_a_circuit_have_their_meanings() -> None:
    circuit = it.make("sequence", it.make("delay"), it.make("loop", it.c))
    made = {each.formula.arg(0).arg(0).decl().name() for each in it.meanings(circuit)}
    assert made == {"sequence", "delay", "loop"}
