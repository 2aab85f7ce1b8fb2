"""The plans of random queries, each proved to compute the changes of its query.

    validate_random(500, seed)   500 queries of the suite's generator, one line of what was found

Needs z3-solver and sympy, which the extra `theorems` brings.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from deltaproof.conformance.generate import Shape, shapes

if TYPE_CHECKING:
    from deltaproof.theorems.calculus.plans import Validations

# Capabilities of the linear and bilinear operators, each with its turn; joins have a second one.
ALGEBRAIC = (
    *("filter", "map", "flat_map", "window.hop", "logic", "union_all", "negate"),
    *("delay", "integrate", "differentiate", "temporal_filter", "join.inner", "join.inner"),
)


def random_shapes(seed: int) -> Iterator[Shape]:
    """Random queries without end, most of them with more than one of these operators."""
    return shapes(seed, ALGEBRAIC)


def validate_random(cases: int, seed: int) -> Validations:
    """The plans of the first `cases` random queries of this seed.

    >>> print(validate_random(1, 7))  # doctest: +ELLIPSIS
    1 of 1 plans are equal to D ∘ query ∘ I; ...
    """
    from deltaproof.theorems.calculus.plans import validate_all  # needs z3, which may be missing

    return validate_all(shape.query for shape in islice(random_shapes(seed), cases))
