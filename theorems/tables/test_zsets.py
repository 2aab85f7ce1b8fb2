"""Finite support is proved, never taken for granted."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.streams import present
from deltaproof.theorems.kernel import ProofError, inst, prove
from deltaproof.theorems.tables.sums import linear_maps
from deltaproof.theorems.tables.zsets import any_zsets


def test_a_function_that_weighs_infinitely_many_rows_is_no_zset() -> None:
    rows = any_zsets("A")
    with pytest.raises(ProofError, match="no weight outside the rows"):
        rows.comprehension("everything once", [rows.sort], lambda x, a: z3.IntVal(1), rows.entries)


def test_a_pointwise_function_must_keep_zero() -> None:
    rows = any_zsets("A")
    with pytest.raises(ProofError, match="no weight outside the rows"):
        rows.pointwise("plus one", lambda x, weight: weight + 1)


def test_distinct_is_not_proved_linear() -> None:
    rows = any_zsets("A")
    (weights,) = rows.pointwise("distinct", lambda x, weight: present(weight)).equations
    a, b, x = rows.a, rows.b, rows.x
    sides = [inst(weights, x, each) for each in (rows.add(a, b), a, b)]
    sums = [inst(rows.weights[1], a, b, x)]
    whole, one, other = (each.formula.arg(0) for each in sides)
    with pytest.raises(ProofError, match="does not hold"):
        prove("distinct is linear", whole == one + other, [*sides, *sums])


def test_one_proof_of_linearity_serves_every_image() -> None:
    """`sums` proves it once for all images; an operator only names its own."""
    maps = linear_maps(any_zsets("A"), any_zsets("B"))
    images = maps.images.define("no rows", [], lambda k: maps.target.lists.none)
    assert maps.linear_for(images()).queries == ()
