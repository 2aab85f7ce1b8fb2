from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.kernel import ProofError, Term, Thm, prove
from deltaproof.theorems.operators.distinct import distinct_of
from deltaproof.theorems.tables.positive_sums import is_positive
from deltaproof.theorems.tables.relations import at_least, is_set, relations, sets_of
from deltaproof.theorems.tables.zsets import any_zsets

ROWS = any_zsets("A")
X = z3.Const("one row", ROWS.row)


def weighing(weight: int) -> Term:
    """The Z-set in which one row has this weight."""
    lists = ROWS.lists
    return ROWS.zset(lists.entry(X, weight, lists.none))


def known(*weights: int) -> list[Thm]:
    """What Z-sets weigh, and what these weigh at the row."""
    laws = [*ROWS.weight.equations, *ROWS.lists.W.equations, ROWS.presented, *ROWS.weights]
    here = [(weight, ROWS.weight(weighing(weight), X)) for weight in weights]
    return [*laws, *[prove(f"weighs {weight}", term == weight, laws) for weight, term in here]]


@pytest.mark.parametrize(
    ("weight", "set_", "bag"),
    [(0, True, True), (1, True, True), (2, False, True), (-1, False, False)],
)
def test_what_is_a_set_and_what_is_a_bag(weight: int, set_: bool, bag: bool) -> None:
    prove("a set", is_set(ROWS, weighing(weight)) == set_, known(weight))
    prove("a bag", is_positive(ROWS, weighing(weight)) == bag, known(weight))


def test_a_bag_is_at_least_what_it_has_more_of() -> None:
    prove("3 >= 2", at_least(ROWS, weighing(3), weighing(2)), known())
    less = ROWS.weight(ROWS.group.sub(weighing(2), weighing(3)), X)
    difference = prove("2 - 3", less == -1, known(2, 3))
    prove("not 2 >= 3", z3.Not(at_least(ROWS, weighing(2), weighing(3))), [difference])


def test_what_is_owed_is_in_no_set() -> None:
    sets = sets_of(ROWS)
    owed = sets.space.at(sets.toset(weighing(-1)), X)
    prove("-1 is not there", z3.Not(owed), [*known(), *sets.equations()])


def test_the_intersection_of_a_row_multiplies_its_weights() -> None:
    it = relations()
    shared = it.intersect(weighing(2), weighing(3))
    prove("2 times 3", ROWS.weight(shared, X) == 6, [*known(), *it.intersect.equations])


def test_distinct_of_bags_is_not_proved_to_be_the_bag() -> None:
    a = z3.Const("a", ROWS.sort)
    distinct = distinct_of(ROWS)
    goal = ROWS.weight(distinct(a), X) == ROWS.weight(a, X)
    with pytest.raises(ProofError, match="does not hold"):
        prove("distinct(a) = a", goal, distinct.equations, [ROWS.weight(a, X) >= 0])
