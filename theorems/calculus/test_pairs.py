"""A stream of pairs holds what was paired, in its place."""

from __future__ import annotations

import pytest

from deltaproof.theorems.calculus.causality import pointwise
from deltaproof.theorems.calculus.pairs import pairs_of, product
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import ProofError, axioms, inst

A = any_streams("A")


def test_the_parts_are_in_their_places() -> None:
    pairs = pairs_of(A, A)
    s, r = A.stream("s"), A.stream("r")
    first, second, _ = pairs.equations.rests_on
    assert inst(first, s, r).formula.eq(pairs.first(pairs.pair(s, r)) == s)
    assert inst(second, s, r).formula.eq(pairs.second(pairs.pair(s, r)) == r)
    with pytest.raises(ProofError):
        pointwise("swapped", A, pairs.first(pairs.pair(s, r)), r, pairs.spaces)


def test_pairs_are_a_group_because_the_parts_are() -> None:
    group = product(A.group, A.group).group
    assert axioms(group.laws) == ("A is an abelian group",)
