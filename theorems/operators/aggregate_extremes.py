"""MIN after a tick is the smaller of two: over the changed values, and over those not changed.

The order of the unchanged values was known before the tick, so only the first of them matters
and only the delta is read. MAX is MIN in the opposite order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from deltaproof.reference.select import AggregateCall
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
from deltaproof.theorems.operators.aggregate_sums import V, keyless, value_of
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import row
from deltaproof.theorems.tables.zsets import INT

MIN, MAX = (keyless(AggregateCall(name, V)) for name in ("min", "max"))


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

    def replay(least: int, second: int, weight: int) -> tuple[int, int]:
        table = row(1, least) + row(1, second)
        return value_of(MIN, table + row(weight, least)), value_of(MIN, table)

    name, show = "MIN after a deletion = MIN before", [least, second, weight]
    return refute(name, after == least, given, show, replay=replay)


def next_value_from_the_minimum_alone() -> Counterexample:
    """Two groups with the same MIN, the same deletion, and different results."""
    least, one, other = z3.Ints("least next_here next_there")
    given = [least < one, least < other]

    def replay(least: int, one: int, other: int) -> tuple[int, int]:
        groups = (row(1, least) + row(1, next_value) for next_value in (one, other))
        here, there = (value_of(MIN, group - row(1, least)) for group in groups)
        return here, there

    name = "MIN needs to keep only itself"
    return refute(name, one == other, given, [least, one, other], replay=replay)


def negative_weights_as_members() -> Counterexample:
    """A value of weight -1 taken for a member."""
    v, w, weight = z3.Ints("v w weight_of_v")
    members = z3.If(weight > 0, z3.If(v < w, v, w), w)
    claim = z3.If(weight != 0, z3.If(v < w, v, w), w) == members

    def replay(v: int, w: int, weight: int) -> tuple[int, int]:
        """A weight is not 0 when its absolute value is above 0."""
        taken, given = (value_of(MIN, row(each, v) + row(1, w)) for each in (abs(weight), weight))
        return taken, given

    name = "members are the values of weight other than 0"
    return refute(name, claim, show=[v, w, weight], replay=replay)


@theorem(
    statement="total order: MIN(a + d) = min(MIN of changed now present, MIN of unchanged of a)",
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


# ---------------------------------------------------------------- without reading the group


def minimum_as_linear() -> Counterexample:
    """MIN of a sum as the sum of the MINs."""
    a, d = z3.Ints("a d")

    def replay(a: int, d: int) -> tuple[int, int]:
        one, other = row(1, a), row(1, d)
        return value_of(MIN, one + other), value_of(MIN, one) + value_of(MIN, other)

    claim = z3.If(a < d, a, d) == a + d
    return refute("MIN(a + d) = MIN(a) + MIN(d)", claim, show=[a, d], replay=replay)


def minimum_kept_over_a_smaller_value() -> Counterexample:
    """MIN is still there, and so it stays, whatever came."""
    least, new = z3.Ints("least new")

    def replay(least: int, new: int) -> tuple[int, int]:
        table = row(1, least)
        return value_of(MIN, table), value_of(MIN, table + row(1, new))

    claim = least == z3.If(new < least, new, least)
    return refute("MIN stays while it is there", claim, show=[least, new], replay=replay)


@theorem(
    statement="inserts, total order: MIN(a + d) = min(MIN a, MIN d); MIN stays if there, none less",
    source="DBSP (VLDB 2023) section 7.2, MIN; beyond the paper: when no group is read",
    wrong=(minimum_as_linear, minimum_kept_over_a_smaller_value, cached_minimum),
)
def min_max_insertions() -> Thm:
    """For any totally ordered values, groups of any size; MAX is MIN in the opposite order."""
    sort = fresh_sort("values")
    at_most, order = total_order("at most", sort)
    before, delta = fresh_symbol("before", sort, INT), fresh_symbol("delta", sort, INT)
    v = z3.Const("v", sort)
    old, new, result = (
        Extreme(z3.Bool(f"{name}?"), z3.Const(name, sort)) for name in ("before", "delta", "after")
    )

    def after(x: Term) -> Formula:
        return before(x) + delta(x) > 0

    def proofs(name: str, ordered: Callable[[Term, Term], Formula]) -> tuple[Thm, Thm]:
        known = [old.of(lambda x: before(x) > 0, ordered), result.of(after, ordered)]
        inserted = [
            *known,
            new.of(lambda x: delta(x) > 0, ordered),
            z3.ForAll([v], z3.And(before(v) >= 0, delta(v) >= 0), patterns=[before(v), delta(v)]),
        ]
        merged = smaller_of(old, new, ordered)
        same = z3.Implies(result.exists, result.value == merged.value)
        none_below = z3.ForAll([v], z3.Or(delta(v) <= 0, ordered(old.value, v)))
        safe = [*known, old.exists, after(old.value), none_below]
        stays = z3.And(result.exists, result.value == old.value)
        return (
            prove(
                f"{name} of insertions",
                z3.And(result.exists == merged.exists, same),
                [order],
                inserted,
            ),
            prove(f"{name} stays", stays, [order], safe),
        )

    def at_least(x: Term, y: Term) -> Formula:
        return at_most(y, x)

    return both("MIN and MAX, unread", *proofs("MIN", at_most), *proofs("MAX", at_least))
