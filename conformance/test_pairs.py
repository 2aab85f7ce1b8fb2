"""Every pair of operators that fits gets a query, and the report counts them by backend."""

from __future__ import annotations

from itertools import islice

from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.pairs import Pair, PairShapes, pairs_of, possible_pairs
from deltaproof.conformance.report import pairs_line
from deltaproof.conformance.suite import Suite, select_cells
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import table

T = table("t", "k BIGINT, v BIGINT")


def test_nearly_all_pairs_fit_and_those_that_do_not_are_known() -> None:
    names = {kind.name for kind in OPERATORS}
    possible = possible_pairs()
    assert {name for pair in possible for name in pair} == names
    assert len(possible) >= 0.95 * len(names) ** 2


def test_towers_cover_nearly_every_pair_in_far_fewer_queries() -> None:
    wanted = possible_pairs()
    found = PairShapes(7, wanted)
    covered: set[Pair] = set()
    queries = 0
    for shape in found:
        found.used(shape.query)
        covered |= pairs_of(shape.query)
        queries += 1
    assert len(covered & wanted) >= 0.99 * len(wanted)
    assert queries < len(wanted) / 2


def test_the_same_seed_gives_the_same_towers() -> None:
    def first(seed: int) -> list[str]:
        return [str(each.query) for each in islice(PairShapes(seed, possible_pairs()), 5)]

    assert first(1) == first(1)
    assert first(1) != first(2)


def test_a_pair_whose_view_is_never_used_is_given_up() -> None:
    shapes = list(PairShapes(7, {("filter", "map")}))
    assert 0 < len(shapes) <= 12


def test_a_pair_is_counted_in_the_direction_of_the_changes() -> None:
    query = T.distinct().union_all(T.negate())
    assert pairs_of(query) == {("distinct", "union_all"), ("negate", "union_all")}


def test_a_run_of_one_operator_is_about_its_pairs_only() -> None:
    suite = Suite([ReferenceBackend()], {}, 7, select_cells(["distinct"]), None, lambda *_: None)
    possible = suite.run.possible_pairs
    assert possible
    assert all("distinct" in pair for pair in possible)
    found = suite.go(120, None)
    (reference,) = found.backends
    assert reference.pairs <= possible
    assert f"of {len(possible)} that fit, reference {len(reference.pairs)}" in pairs_line(found)
