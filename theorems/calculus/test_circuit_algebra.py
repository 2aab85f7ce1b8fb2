"""The algebra says "equal" exactly when the reference's own z, D and I do, and sympy agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
import sympy
import z3

from deltaproof.theorems.calculus.circuit_algebra import (
    Apply,
    Circuit,
    D,
    Delay,
    Difference,
    Fraction,
    I,
    Input,
    Integral,
    Negation,
    Shape,
    canonical,
    changes,
    clash,
    equal_circuits,
    equivalent,
    join,
    join_delta,
    normal_form,
    residue_text,
    unequal_circuits,
    unlike,
    z,
)
from deltaproof.theorems.kernel import ProofError

A, B, C = Input("a"), Input("b"), Input("c")
f = Apply("f", (A,))


def random_circuit(random: Random, size: int) -> Circuit:
    """A circuit over a and b of at most this depth, with operators f and ⋈."""
    if size == 0 or random.random() < 0.2:
        return random.choice((A, B))
    left = random_circuit(random, size - 1)
    kind = random.choice(("z", "I", "D", "-", "+", "f", "⋈", "⋈"))
    match kind:
        case "z":
            return Delay(left)
        case "I":
            return Integral(left)
        case "D":
            return Difference(left)
        case "-":
            return Negation(left)
        case "+":
            return left + random_circuit(random, size - 1)
        case "f":
            return Apply("f", (left,))
    return join(left, random_circuit(random, size - 1))


def rewritten(random: Random, circuit: Circuit) -> Circuit:
    """The circuit in other words: what is equal is put in the place of what was there."""
    match circuit:
        case Delay(of):
            return Delay(rewritten(random, of))
        case Integral(of):
            new = rewritten(random, of)
            return random.choice((Integral(new), new + Delay(Integral(new))))
        case Difference(of):
            new = rewritten(random, of)
            return random.choice((Difference(new), new - Delay(new)))
        case Apply(name, (left, right)):
            left, right = rewritten(random, left), rewritten(random, right)
            changed = join_delta(Difference(left), Difference(right))
            return random.choice((Apply(name, (left, right)), Integral(changed)))
        case Input():
            return random.choice((circuit, Difference(Integral(circuit)), circuit))
    return circuit


@pytest.mark.parametrize("seed", range(60))
def test_circuits_in_other_words_are_equal(seed: int) -> None:
    random = Random(seed)
    circuit = random_circuit(random, 3)
    other = rewritten(random, circuit)
    assert equivalent(circuit, other) == {}
    assert canonical(circuit) == canonical(other)
    assert unlike(circuit, other, 3) is None


@pytest.mark.parametrize("seed", range(60))
def test_two_random_circuits_are_equal_as_the_reference_runs_them(seed: int) -> None:
    random = Random(seed)
    left, right = random_circuit(random, 3), random_circuit(random, 3)
    assert (equivalent(left, right) == {}) == (unlike(left, right, 5) is None)
    assert (canonical(left) == canonical(right)) == (equivalent(left, right) == {})


@dataclass(frozen=True)
class BySympy:
    """The factor of a shape as sympy has it: x0, x1, … for the leaves."""

    value: Any
    width: int

    def all(self) -> Any:
        return sympy.prod(variables(self.width))

    def delayed(self) -> BySympy:
        return BySympy(self.value * self.all(), self.width)

    def integrated(self) -> BySympy:
        return BySympy(self.value / (1 - self.all()), self.width)

    def differenced(self) -> BySympy:
        return BySympy(self.value * (1 - self.all()), self.width)

    def plus(self, other: BySympy) -> BySympy:
        return BySympy(self.value + other.value, self.width)

    def minus(self) -> BySympy:
        return BySympy(-self.value, self.width)

    def beside(self, other: BySympy) -> BySympy:
        before, after = variables(other.width), variables(self.width + other.width)
        moved = dict(zip(before, after[self.width :], strict=True))
        value = other.value.subs(moved, simultaneous=True)
        return BySympy(self.value * value, self.width + other.width)


def variables(number: int) -> Sequence[Any]:
    return [sympy.Symbol(f"x{place}") for place in range(number)]


def as_sympy(fraction: Fraction) -> Any:
    xs = variables(fraction.width)

    def monomial(powers: Sequence[int]) -> Any:
        return sympy.prod([x**power for x, power in zip(xs, powers, strict=True)])

    top = sum(factor * monomial(powers) for powers, factor in fraction.top.items())
    return top / sympy.prod([1 - monomial(each) for each in fraction.bottom])


@pytest.mark.parametrize("seed", range(25))
def test_sympy_has_the_same_normal_forms(seed: int) -> None:
    circuit = random_circuit(Random(seed), 3)
    expected = normal_form(circuit, BySympy(sympy.Integer(1), 1))
    found = normal_form(circuit, Fraction.leaf())
    assert found.keys() == expected.keys()
    for shape, factor in found.items():
        assert sympy.cancel(as_sympy(factor) - expected[shape].value) == 0
        assert sympy.cancel(as_sympy(factor.reduced()) - expected[shape].value) == 0


def test_a_residue_names_the_terms_that_were_forgotten() -> None:
    changed = changes(join, A, B)
    without = {
        join(I(A), B): "missing: a ⋈ zI(b)",
        join(A, z(I(B))): "missing: I(a) ⋈ b",
        join(I(A), B) + join(A, I(B)): "too much: a ⋈ b",
    }
    said = {each: residue_text(equivalent(changed, each)) for each in without}
    assert said == without
    assert residue_text(equivalent(join(A, A), join(A, A) + join(A, A) + f)) == (
        "too much: a ⋈ a; too much: f(a)"
    )


def test_an_integral_over_a_join_stands_at_the_join() -> None:
    (residue,) = equivalent(f + Integral(join(A, z(B))), f).values()
    assert residue.shape == Shape("⋈", (Shape("a"), Shape("b")))
    assert str(residue) == "missing: I(a ⋈ z(b))"


def test_joins_of_two_names_are_two_joins() -> None:
    assert equivalent(join(A, B), Apply("⋉", (A, B))) != {}
    assert equivalent(join(A, B), join(B, A)) != {}


def test_a_solver_is_asked_without_knowing_the_answer() -> None:
    changed = changes(join, A, B)
    for right, expected in ((join_delta(A, B), z3.unsat), (join(I(A), B), z3.sat)):
        solver = z3.Solver()
        solver.add(*clash(changed, right))
        assert solver.check() == expected


def test_what_is_claimed_wrongly_is_no_theorem() -> None:
    with pytest.raises(ProofError, match=r"D is 1: too much: z\(a\)"):
        equal_circuits(("D is 1", D(A), A))
    with pytest.raises(ProofError, match="expected a residue, but the circuits are equal"):
        unequal_circuits("D I is not 1", D(I(A)), A)
    with pytest.raises(TypeError, match="no circuit"):
        equivalent(A, Circuit())
