"""What one operator obeys and no other need: its laws go by its name."""

from __future__ import annotations

from typing import cast

from deltaproof.properties.law import (
    Bags,
    Equation,
    Left,
    Right,
    Streams,
    Subject,
    ZSets,
    law,
)
from deltaproof.properties.laws.words import (
    distinct,
    weight_of,
)
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.logic import Logic, keeping
from deltaproof.reference.scalar import lit
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.types import key_function
from deltaproof.reference.zset import ZSet, positive

# ── Laws of one operator ────────────────────────────────────────────────────────────────────


@law("filter", "distinct(Q(a)) = Q(distinct(a))", source="Lean: filter_distinct_comm")
def filter_commutes_with_distinct(q: Subject, a: ZSets) -> Equation:
    """A filter may go below a DISTINCT, on changes as on tables."""
    (rows,) = a
    return Equation(distinct(q.meaning(rows)), q.meaning(distinct(rows)))


@law("map", "weight of Q(a) = weight of a", source="Lean: map_apply")
def map_keeps_weight(q: Subject, a: ZSets) -> Equation:
    """Rows that become equal add up; none is lost and none is made."""
    return Equation(weight_of(q.meaning(*a)), weight_of(*a))


@law(
    "map",
    "distinct(Q(distinct(a))) = distinct(Q(a)) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: map_distinct_dedup",
)
def map_under_distinct(q: Subject, a: Bags) -> Equation:
    """A DISTINCT below another one may be dropped."""
    (rows,) = a
    return Equation(distinct(q.meaning(distinct(rows))), distinct(q.meaning(rows)))


@law(
    "flat_map",
    "Q(a) without the element is among a = Q(a) without the element",
    source="flat_map.py",
)
def flat_map_keeps_columns(q: Subject, a: ZSets) -> Equation:
    """Each element stands beside the row that it came from."""
    (rows,) = a
    kept = {row[:-1]: 1 for row in q.meaning(rows)}
    return Equation(ZSet({row: 1 for row in kept if rows[row]}), ZSet(kept))


@law("union_all", "Q(a, 0) = a", source="DBSP (VLDB 2023) table 1")
def union_all_zero_identity(q: Subject, a: Left) -> Equation:
    """It is the group's addition, and keeps duplicates."""
    return Equation(q.meaning(a, q.zeros[1]), a)


@law(
    "union_all",
    "distinct(Q(distinct(a), distinct(b))) = distinct(Q(a, b)) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: add_distinct_dedup",
)
def union_all_under_distinct(q: Subject, ab: Bags) -> Equation:
    """A DISTINCT below another one may be dropped."""
    return Equation(distinct(q.meaning(*map(distinct, ab))), distinct(q.meaning(*ab)))


@law("negate", "Q(Q(a)) = a", source="DBSP (VLDB 2023) proposition 3.2")
def negate_involutive(q: Subject, a: ZSets) -> Equation:
    """Undoing an undo is doing."""
    return Equation(q.meaning(q.meaning(*a)), *a)


@law("join", "a join b = b join a, columns swapped", source="DBSP (VLDB 2023) table 1")
def join_commutes(q: Subject, a: Left, b: Right) -> Equation:
    """The planner may choose which side to index."""
    left, right = q.schemas
    on = cast(Join, q.operator).on
    swapped = Join(tuple((its, ours) for ours, its in on)).meaning(right, left)(b, a)
    width = len(right)
    turned = {row[width:] + row[:width]: weight for row, weight in swapped.items()}
    return Equation(q.meaning(a, b), ZSet(turned))


@law(
    "join",
    "distinct(a) join distinct(b) = distinct(a join b) over tables",
    source="DBSP (VLDB 2023) proposition 4.4; Lean: join_distinct_comm",
)
def join_commutes_with_distinct(q: Subject, ab: Bags) -> Equation:
    """A join of sets is a set."""
    return Equation(q.meaning(*map(distinct, ab)), distinct(q.meaning(*ab)))


@law(
    "distinct",
    "Q(a) = 1 where a > 0",
    source="DBSP (VLDB 2023) definition 4.3; Lean: distinct_is_set",
)
def distinct_is_a_set(q: Subject, a: ZSets) -> Equation:
    """Its output is a set whatever its input is: weights are 1, never 2, never negative."""
    (rows,) = a
    return Equation(q.meaning(rows), ZSet({row: positive(w) for row, w in rows.items()}))


@law("aggregate", "keys of Q(a) = distinct(keys of a)", source="aggregate.py; Lean: group_by")
def aggregate_has_one_row_per_group(q: Subject, a: ZSets) -> Equation:
    """A group is there exactly when its weight is positive, and once; without keys it always is."""
    (rows,) = q.schemas
    keys = cast(Aggregate, q.operator).keys
    key_of = key_function([rows.index(key) for key in keys])
    groups = ZSet([(key_of(row), weight) for row, weight in a[0].items()])
    found = ZSet([(row[: len(keys)], weight) for row, weight in q.meaning(*a).items()])
    return Equation(found, distinct(groups) if keys else ZSet({(): 1}))


@law(
    "delay",
    "I(Q(s)) = Q(I(s))",
    source="DBSP (VLDB 2023) proposition 2.19; Lean: integral_time_invariant",
)
def delay_commutes_with_integrate(q: Subject, s: Streams) -> Equation:
    """It makes no difference whether contents or changes are delayed."""
    return Equation(integrate(q.contents(*s)), q.contents(*map(integrate, s)))


@law("integrate", "D(Q(s)) = s", source="DBSP (VLDB 2023) theorem 2.20; Lean: derivative_integral")
def integrate_is_undone_by_differentiate(q: Subject, s: Streams) -> Equation:
    """What was added up at a tick can be read off the sums."""
    return Equation((differentiate(q.contents(*s)),), s)


@law(
    "differentiate",
    "I(Q(s)) = s",
    source="DBSP (VLDB 2023) theorem 2.20; Lean: integral_derivative",
)
def differentiate_is_undone_by_integrate(q: Subject, s: Streams) -> Equation:
    """The contents can be rebuilt from their changes."""
    return Equation((integrate(q.contents(*s)),), s)


@law(
    "logic",
    "R(Q(s)) = (Q followed by R)(s)",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: chain_incremental",
)
def logic_composes(q: Subject, s: Streams) -> Equation:
    """A chain of linear operators is one, and need not store what passes between them."""
    first, (rows,) = cast(Logic, q.operator), q.schemas
    between = first.output(rows)
    second = Logic((*keeping(between, delay=1).branches, *keeping(between, weight=lit(2)).branches))
    together = cast(Logic, first.followed_by(second))
    return Equation(second.over_time(between)(q.contents(*s)), together.over_time(rows)(*s))
