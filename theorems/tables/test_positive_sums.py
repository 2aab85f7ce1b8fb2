from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.kernel import ProofError, inst, prove
from deltaproof.theorems.tables.positive_sums import any_map, signs_of_products


def test_signs_of_products_ask_for_weights_that_are_not_negative() -> None:
    n, m = z3.Ints("n m")
    signs = inst(signs_of_products(), n, m)
    positive = (n * m > 0) == z3.And(n > 0, m > 0)
    prove("for bags", positive, [signs], [n >= 0, m >= 0])
    with pytest.raises(ProofError, match="does not hold"):
        prove("for changes", positive, [signs])


def test_a_map_puts_a_row_where_its_function_says_and_nowhere_else() -> None:
    it = any_map()
    maps = it.positive.maps
    k, y = z3.Const("k", maps.source.row), z3.Const("y", maps.target.row)
    weight = maps.target.lists.W(maps.images.at(it.images(), k), y)
    prove("there", weight == 1, [inst(it.weights, k, y)], [it.f(k) == y])
    prove("not elsewhere", weight == 0, [inst(it.weights, k, y)], [it.f(k) != y])
