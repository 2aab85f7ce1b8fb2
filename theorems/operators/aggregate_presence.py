"""The group of a bag is there while COUNT(*) is above zero, and SUM is a number while COUNT(x) is.

Both are read off sums of weights. With negative weights a sum may be zero though rows are there;
in a bag it is zero only when every row of the group is gone, or NULL.
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Term,
    Thm,
    both,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.aggregate import GROUPS, ONE, Grouping, any_grouping
from deltaproof.theorems.operators.aggregate_sums import Kept, Part
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.positive_sums import Signs, is_positive
from deltaproof.theorems.tables.zsets import if_then

KEYS = Run(Map((("k", col("k")),)), ("k BIGINT, v BIGINT",))


def no_value(it: Grouping, counts: Part, a: Term, g: Term) -> Formula:
    """No row of the group that has any weight counts."""
    x = z3.FreshConst(it.rows.row, "x")
    weight = it.rows.weight(a, x)
    return z3.ForAll([x], z3.Or(weight == 0, it.key(x) != g, counts(x) == 0), patterns=[weight])


def contribution(kept: Kept, part: Part, a: Term, g: Term, x: Term) -> Thm:
    """What row x of a adds to group g: its weight times its part, if it is of the group."""
    rows, maps, image = kept.grouping.rows, kept.maps, kept.image()
    weight = rows.lists.W(rows.entries(a), x)
    known = [
        maps.part.unfold(image, x, weight, g),
        kept.image.unfold(x),
        *kept.groups.lists.W.equations,
    ]
    added = if_then(kept.grouping.key(x) == g, weight * part(x))
    return prove("what a row adds", maps.part(image, x, weight, g) == added, known)


def nothing_kept(kept: Kept, part: Part, counts: Part) -> Thm:
    """∀ a g. no row of the group counts → kept(a, g) = 0; a row that does not count has part 0."""
    it, maps, rows = kept.grouping, kept.maps, kept.grouping.rows
    a, g, x = rows.a, it.g, rows.x
    image, weight = kept.image(), rows.lists.W(rows.entries(a), rows.x)
    given = [no_value(it, counts, a, g)]
    nothing = prove(
        "such a row adds nothing",
        z3.ForAll([x], maps.part(image, x, weight, g) == 0, patterns=[weight]),
        [gen(contribution(kept, part, a, g, x), x, patterns=[weight]), *rows.weight.equations],
        given,
    )
    silent = inst(gen(maps.nothing, maps.f, maps.y), image, g, rows.entries(a))
    known = [nothing, silent, maps.applied(image, a, g)]
    return prove_for_all(f"{kept.name} = 0", [a, g], kept.of(a, g) == 0, known, given)


def something_kept(kept: Kept, counts: Part) -> Thm:
    """∀ a g x. a >= 0, and x of group g is there and counts → kept(a, g) > 0."""
    it, maps, rows = kept.grouping, kept.maps, kept.grouping.rows
    a, g, x, z = rows.a, it.g, rows.x, z3.FreshConst(rows.row, "z")
    image, listed, bag = kept.image(), rows.entries(a), is_positive(rows, a)
    weight, other = rows.lists.W(listed, x), rows.lists.W(listed, z)
    added = gen(contribution(kept, counts, a, g, x), x, patterns=[weight])
    parts = z3.ForAll([z], maps.part(image, z, other, g) >= 0, patterns=[other])
    none_below = prove("nothing is taken off", parts, [added, *rows.weight.equations], [bag])
    positive = gen(gen(Signs(maps).positive, maps.y), maps.f)
    known = [
        none_below,
        added,
        inst(positive, image, g, listed, x),
        maps.applied(image, a, g),
        rows.weight.unfold(a, x),
    ]
    given = [bag, it.key(x) == g, rows.weight(a, x) > 0, counts(x) != 0]
    return prove_for_all(f"{kept.name} > 0", [a, g, x], kept.of(a, g) > 0, known, given)


def rows_that_cancel() -> Counterexample:
    """COUNT(*) = 0 over rows that are there, and rows that are owed."""
    one, other = z3.Ints("one other")

    def replay(one: int, other: int) -> tuple[bool, bool]:
        """Whether the group is missing, and whether none of its rows is there."""
        table = row(one, 7, 1) + row(other, 7, 2)
        return not GROUPS.over(KEYS.over(table)), not any(w > 0 for _, w in table.items())

    claim = (one + other <= 0) == z3.And(one <= 0, other <= 0)
    name = "a group without a count has no rows, whatever their weights"
    return refute(name, claim, show=[one, other], replay=replay)


def group_of_no_values() -> Counterexample:
    """COUNT(x) asked whether the group is there: groups of NULL disappear."""
    rows, values = z3.Ints("rows values")

    def replay(rows: int, values: int) -> tuple[bool, bool]:
        table = ZSet({(7, None): rows - values, (7, 1): values})
        known = ZSet([(each, w) for each, w in table.items() if each[1] is not None])
        return bool(GROUPS.over(KEYS.over(known))), bool(GROUPS.over(KEYS.over(table)))

    claim, given = (values > 0) == (rows > 0), [rows >= values, values >= 0]
    return refute("a group has a value", claim, given, [rows, values], replay=replay)


@theorem(
    statement="a >= 0: COUNT(*) of a group is 0 if no row of it is there, and > 0 if one is",
    source="beyond the paper: when GROUP BY has a row; DBSP (VLDB 2023) section 7.2",
    wrong=(rows_that_cancel, group_of_no_values),
)
def aggregate_group_exists() -> Thm:
    """Why the code may ask for the group's total weight alone."""
    kept = Kept(any_grouping(), "COUNT(*)", lambda x: ONE)
    nothing = nothing_kept(kept, lambda x: ONE, lambda x: ONE)
    return both("COUNT(*) and presence", nothing, something_kept(kept, lambda x: ONE))
