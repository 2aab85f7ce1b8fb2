from __future__ import annotations

from collections.abc import Iterator

from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import prove
from deltaproof.theorems.tables.confluence import (
    Plans,
    Tree,
    normal_forms,
    plan,
    run,
    trees,
)

BAG = ZSet({(7, 1): 2, (7, 2): 1, (8, 1): 1, (-7, 1): 3})


def chains(size: int) -> Iterator[Tree]:
    """The plans of one input per operator, up to this many nodes."""
    for nodes in range(1, size + 1):
        yield from (tree for tree in trees(nodes) if "," not in str(tree))


def test_the_printed_rules_end_in_two_ways_for_14_of_1160_small_plans() -> None:
    small = [tree for size in range(1, 7) for tree in trees(size)]
    assert len(small) == 1160
    assert sum(len(normal_forms(tree)) > 1 for tree in small) == 14


def test_every_end_of_a_plan_puts_out_what_the_plan_does() -> None:
    for tree in chains(6):
        expected, _ = run(tree, BAG)
        assert [run(end, BAG)[0] for end in normal_forms(tree)] == [
            expected for _ in normal_forms(tree)
        ]


def test_the_normal_form_of_chains_removes_what_the_printed_rules_leave() -> None:
    plans = Plans()
    p, f = plans.tag, plans.tag
    below = plans.distinct(plans.map(f, plans.distinct(plans.input(p))))
    bare = plans.distinct(plans.filter(p, plans.map(f, plans.input(p))))
    goal = plans.normal(plans.filter(p, below)) == bare
    prove("filter(distinct(map(distinct(x))))", goal, plans.equations())


def test_a_distinct_below_a_map_stays_where_nothing_is_above() -> None:
    (end,) = normal_forms(plan("map", "distinct"))
    assert end == plan("map", "distinct")
