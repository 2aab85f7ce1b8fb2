"""MIN after a tick is the smaller of two: over the changed values, and over those not changed.

The order of the unchanged values was known before the tick, so only the first of them matters
and only the delta is read. MAX is MIN in the opposite order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Sort,
    Symbol,
    Term,
    Thm,
    axiom,
    both,
    fresh_sort,
    fresh_symbol,
    prove,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.zsets import INT


@dataclass(frozen=True, eq=False)
class Extreme:
    """The least member of a set of values, if there is one."""

    exists: Term
    value: Term

    def of(
        self, members: Callable[[Term], Formula], at_most: Callable[[Term, Term], Formula]
    ) -> Formula:
        """This is the least of the members; it is missing exactly when there are none."""
        v = z3.Const("v", self.value.sort())
        is_member = members(self.value)
        least = z3.ForAll([v], z3.Implies(members(v), at_most(self.value, v)))
        nothing = z3.ForAll([v], z3.Not(members(v)))
        return z3.If(self.exists, z3.And(is_member, least), nothing)


def total_order(name: str, sort: Sort) -> tuple[Symbol, Thm]:
    """An arbitrary total order: NULLS LAST, NaN last, by code point."""
    at_most = fresh_symbol(name, sort, sort, z3.BoolSort())
    x, y, z = z3.Consts("x y z", sort)
    laws = z3.And(
        z3.ForAll([x, y, z], z3.Implies(z3.And(at_most(x, y), at_most(y, z)), at_most(x, z))),
        z3.ForAll([x, y], z3.Or(at_most(x, y), at_most(y, x))),
        z3.ForAll([x, y], z3.Implies(z3.And(at_most(x, y), at_most(y, x)), x == y)),
    )
    return at_most, axiom("values are totally ordered", laws)


def smaller_of(one: Extreme, other: Extreme, at_most: Callable[[Term, Term], Formula]) -> Extreme:
    """The least of two extremes, each of which may be missing."""
    first = z3.Or(z3.Not(other.exists), z3.And(one.exists, at_most(one.value, other.value)))
    return Extreme(z3.Or(one.exists, other.exists), z3.If(first, one.value, other.value))


def cached_minimum() -> Counterexample:
    """MIN after = the smaller of MIN before and the inserted value: deletions are forgotten."""
    least, second, weight = z3.Ints("least second delta_of_least")
    after = z3.If(1 + weight > 0, least, second)
    given = [least < second, weight < 1]
    return refute(
        "MIN after a deletion = MIN before", after == least, given, [least, second, weight]
    )


def next_value_from_the_minimum_alone() -> Counterexample:
    """Two groups with the same MIN, the same deletion, and different results."""
    least, one, other = z3.Ints("least next_here next_there")
    given = [least < one, least < other]
    return refute("MIN needs to keep only itself", one == other, given, [least, one, other])


def negative_weights_as_members() -> Counterexample:
    """A value of weight -1 taken for a member."""
    v, w, weight = z3.Ints("v w weight_of_v")
    members = z3.If(weight > 0, z3.If(v < w, v, w), w)
    claim = z3.If(weight != 0, z3.If(v < w, v, w), w) == members
    return refute("members are the values of weight other than 0", claim, show=[v, w, weight])


@theorem(
    statement="MIN(a + d) = min(MIN of changed values present after, MIN of unchanged values of a)",
    source="DBSP (VLDB 2023) section 7.2, MIN; SQL: MIN and MAX over nothing are NULL",
    wrong=(cached_minimum, next_value_from_the_minimum_alone, negative_weights_as_members),
)
def min_max_reevaluation() -> Thm:
    """For any totally ordered values, groups of any size and weights of any sign."""
    sort = fresh_sort("values")
    at_most, order = total_order("at most", sort)
    before, delta = fresh_symbol("before", sort, INT), fresh_symbol("delta", sort, INT)
    changed = fresh_symbol("changed", sort, z3.BoolSort())
    v = z3.Const("v", sort)
    enough = axiom(
        "every value that the delta weighs is among the changed",
        z3.ForAll([v], z3.Or(changed(v), delta(v) == 0)),
    )

    def after(x: Term) -> Formula:
        return before(x) + delta(x) > 0

    def among_changed(x: Term) -> Formula:
        return z3.And(changed(x), after(x))

    def among_unchanged(x: Term) -> Formula:
        return z3.And(z3.Not(changed(x)), before(x) > 0)

    def at_least(x: Term, y: Term) -> Formula:
        return at_most(y, x)

    def proof(name: str, ordered: Callable[[Term, Term], Formula]) -> Thm:
        one, other, result = (
            Extreme(z3.Bool(f"{each}?"), z3.Const(each, sort))
            for each in ("changed_extreme", "unchanged_extreme", "extreme")
        )
        given = [
            one.of(among_changed, ordered),
            other.of(among_unchanged, ordered),
            result.of(after, ordered),
        ]
        merged = smaller_of(one, other, ordered)
        goal = z3.And(
            result.exists == merged.exists,
            z3.Implies(result.exists, result.value == merged.value),
        )
        return prove(name, goal, [order, enough], given)

    return both("MIN and MAX", proof("MIN", at_most), proof("MAX", at_least))
