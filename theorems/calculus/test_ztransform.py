"""One equation, two solvers: sympy reduces it, and z3 looks for values that break it."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.ztransform import (
    Identity,
    difference,
    feedback,
    identities,
    incremental_product,
    integral,
    last_three,
    plus,
    ratio,
    residue_of,
)
from deltaproof.theorems.kernel import ProofError


def test_a_wrong_identity_has_values_that_break_it() -> None:
    for factor, expected in ((1, z3.unsat), (2, z3.sat)):
        identity = Identity(
            "D I = 1", "z", lambda z, n=factor: (difference(z) * integral(z) * n, 1)
        )
        solver = z3.Solver()
        solver.add(identity.cleared())
        assert solver.check() == expected


def test_a_ratio_computes_as_fractions_do() -> None:
    third, half = ratio(1) / 3, 1 / ratio(2)
    for value, top, bottom in (
        (third + half, 5, 6),
        (half - third, 1, 6),
        (2 - half, 3, 2),
        (third * half, 1, 6),
        (-third / half, -2, 3),
        (half**3, 1, 8),
    ):
        assert z3.simplify(value.top * bottom == value.bottom * top)


def test_an_identity_that_holds_is_no_counterexample() -> None:
    with pytest.raises(ProofError, match="expected a residue, but the identity holds"):
        residue_of("D I = 1", "z", lambda z: (difference(z) * integral(z), 1))


def test_streams_that_are_equal_refute_nothing() -> None:
    with pytest.raises(ProofError, match=r"I = 1: the reference has \[1\] on both sides"):
        residue_of("I = 1", "z", lambda z: (integral(z), 1), lambda: ([1], [1]))


def test_every_identity_is_given_to_the_second_solver() -> None:
    found = identities(("a b = b a", "x y", lambda x, y: (x * y, y * x)))
    (query,) = found.queries
    assert query.clash is not None
    assert len(query.clash()) == 1


def test_a_loop_is_solved_tick_by_tick() -> None:
    assert feedback(lambda a: plus([1, 0, 0], [0, *a[:-1]]), 3) == [1, 1, 1]
    assert last_three([1, 1, 1, 1]) == [1, 2, 3, 3]


def test_the_product_of_one_input_is_its_change() -> None:
    assert Identity("one input", "x", lambda x: (incremental_product(x), 1)).residue() == 0
