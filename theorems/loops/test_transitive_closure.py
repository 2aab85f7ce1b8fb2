"""The circuit of section 6, its meaning and the reference's recursion, on graphs that are known."""

from __future__ import annotations

from random import Random

import pytest
import z3

from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import ProofError, prove
from deltaproof.theorems.loops.transitive_closure import (
    ONE,
    Edge,
    Nested,
    Run,
    all_graphs,
    circuit_changes,
    closure,
    four_products,
    pairs_of,
    reference_changes,
    times,
    two_products,
)
from deltaproof.theorems.tables.zsets import ZERO

Graph = dict[Edge, bool]


def random_history(random: Random, nodes: int, ticks: int) -> list[Graph]:
    return [{edge: random.random() < 0.4 for edge in pairs_of(nodes)} for _ in range(ticks)]


def of(graph: Graph) -> ZSet:
    return ZSet({edge: int(there) for edge, there in graph.items()})


def paths_of(graph: Graph) -> set[Edge]:
    truths = {edge: z3.BoolVal(there) for edge, there in graph.items()}
    found = closure(truths, 1 + max(node for node, _ in graph))
    return {edge for edge, there in found.items() if z3.is_true(z3.simplify(there))}


def test_the_closure_of_a_cycle_is_everything() -> None:
    cycle = {(a, b): b == (a + 1) % 3 for a, b in pairs_of(3)}
    assert paths_of(cycle) == set(pairs_of(3))
    assert paths_of({edge: edge == (0, 1) for edge in pairs_of(3)}) == {(0, 1)}


@pytest.mark.parametrize("seed", range(5))
def test_the_circuit_is_the_reference_on_random_graphs(seed: int) -> None:
    history = random_history(Random(seed), nodes=3, ticks=3)
    assert circuit_changes(history, four_products) == reference_changes(history)


def test_two_products_are_not_enough_where_an_old_edge_meets_a_new_one() -> None:
    old = {edge: edge == (1, 0) for edge in pairs_of(2)}
    both = {edge: edge in {(0, 1), (1, 0)} for edge in pairs_of(2)}
    assert circuit_changes([old, both], two_products) != reference_changes([old, both])
    assert circuit_changes([old, both], four_products) == reference_changes([old, both])


def test_a_circuit_that_is_wrong_is_not_proved() -> None:
    cells = Run(all_graphs(nodes=2, ticks=2), two_products).cells()
    right = z3.And(*[output == expected for _, output, expected in cells])
    with pytest.raises(ProofError, match="does not hold"):
        prove("two products", right)


def test_before_the_first_tick_and_iteration_there_is_nothing() -> None:
    ones = Nested(1, lambda t, i: {(0, 0): ONE})
    assert ones.at(-1, 0) == ones.at(0, -1) == {(0, 0): ZERO}
    totals = ones.over_ticks().over_iterations()
    assert z3.simplify(totals.at(1, 2)[0, 0]).as_long() == 6
    assert z3.simplify((ones - ones.by_tick()).at(1, 0)[0, 0]).as_long() == 0
    assert z3.simplify((ones - ones.by_iteration()).at(1, 0)[0, 0]).as_long() == 1


def test_a_product_that_is_multiplied_out_is_the_same_product() -> None:
    x, y, c = z3.Int("x"), z3.Int("y"), z3.Bool("c")
    factor = z3.If(c, ONE, ZERO) + (z3.If(c, y, ONE) - ONE)
    prove("the same", times(x, factor) == x * factor)
    assert times(x, ZERO).eq(ZERO)
    assert times(x, ONE).eq(x)
