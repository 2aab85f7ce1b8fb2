"""What joins obey, and how they follow from each other: inner, semi, anti, outer, as-of."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from deltaproof.properties.law import Bags, Equation, Left, Premise, Right, Subject, law
from deltaproof.properties.laws.words import distinct, first_columns, total, where
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.outer_join import LEFT, RIGHT, OuterJoin
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.types import key_function
from deltaproof.reference.zset import ZSet

# ── Inner join ──────────────────────────────────────────────────────────────────────────────


@law("join", "a join b = b join a, columns swapped", source="DBSP (VLDB 2023) table 1")
def join_commutes(q: Subject, a: Left, b: Right) -> Equation:
    """The planner may choose which side to index."""
    left, right = q.schemas
    on = cast(Join, q.operator).on
    turned_on = Join(tuple((its, ours) for ours, its in on))
    swapped = q.another(turned_on, right, left).meaning(b, a)
    width = len(right)
    turned = {row[width:] + row[:width]: weight for row, weight in swapped.items()}
    return Equation(q.meaning(a, b), ZSet(turned))


@law(
    "join",
    "a join b = pairs of a x b whose keys are equal",
    source="DBSP (VLDB 2023) table 1; Lean: equi_join",
)
def join_filters_pairs(q: Subject, a: Left, b: Right) -> Equation:
    """A join is a filter over all pairs, so whatever is true of both is true of it."""
    left, right = q.schemas
    on = cast(Join, q.operator).on
    key_of = key_function([left.index(ours) for ours, _ in on])
    other_key_of = key_function([len(left) + right.index(theirs) for _, theirs in on])
    pairs = q.another(Join(()), left, right).meaning(a, b)
    met = where(pairs, lambda row: key_of(row) == other_key_of(row) and None not in key_of(row))
    return Equation(q.meaning(a, b), met)


@law(
    "join",
    "distinct(a) join distinct(b) = distinct(a join b) over tables",
    source="DBSP (VLDB 2023) proposition 4.4; Lean: join_distinct_comm",
)
def join_commutes_with_distinct(q: Subject, ab: Bags) -> Equation:
    """A join of sets is a set."""
    return Equation(q.meaning(*map(distinct, ab)), distinct(q.meaning(*ab)))


# ── Semi and anti join ──────────────────────────────────────────────────────────────────────


@law("semi_join", "Q(a, b) + Q with the others kept (a, b) = a", source="semi_join.py")
def semi_join_and_anti_join_divide(q: Subject, a: Left, b: Right) -> Equation:
    """EXISTS and NOT EXISTS have each row once between them, with its weight, NULL keys too."""
    operator = cast(SemiJoin, q.operator)
    others = q.another(replace(operator, anti=not operator.anti), *q.schemas)
    return Equation(q.meaning(a, b) + others.meaning(a, b), a)


@law(
    "semi_join",
    "Q(a + a', b) = Q(a, b) + Q(a', b)",
    source="semi_join.py: linear in the left, general in the right",
)
def semi_join_left_additive(q: Subject, a: Left, more: Left, b: Right) -> Equation:
    """Whether a row is kept is asked of that row alone, so a change on the left is joined alone."""
    return Equation(q.meaning(a + more, b), q.meaning(a, b) + q.meaning(more, b))


@law("semi_join", "Q(a, distinct(b)) = Q(a, b) over tables", source="DBSP (VLDB 2023) table 1")
def semi_join_counts_no_matches(q: Subject, ab: Bags) -> Equation:
    """That there is a match matters, not how many there are: no row is kept twice."""
    a, b = ab
    return Equation(q.meaning(a, distinct(b)), q.meaning(a, b))


# ── Outer join ──────────────────────────────────────────────────────────────────────────────


@law(
    "outer_join",
    "Q(a, b) = a join b + the rows that match nothing, with NULLs",
    source="outer_join.py; SQL:2016 part 2, 7.10 <joined table>",
)
def outer_join_pads_what_is_left(q: Subject, a: Left, b: Right) -> Equation:
    """It is made of joins that are understood, so nothing new must be believed of it."""
    operator, (left, right) = cast(OuterJoin, q.operator), q.schemas
    on, residual = operator.on, operator.residual
    pairs = q.another(Join(on), left, right)
    parts = [pairs.meaning(a, b)]
    if residual is not None:
        parts = [q.another(Filter(residual), Join(on).output(left, right)).meaning(*parts)]
    if LEFT in operator.padded:
        kept = q.another(SemiJoin(on, residual, anti=True), left, right).meaning(a, b)
        parts.append(ZSet({row + (None,) * len(right): w for row, w in kept.items()}))
    if RIGHT in operator.padded:
        turned = tuple((theirs, ours) for ours, theirs in on)
        kept = q.another(SemiJoin(turned, residual, anti=True), right, left).meaning(b, a)
        parts.append(ZSet({(None,) * len(left) + row: w for row, w in kept.items()}))
    return Equation(q.meaning(a, b), total(parts))


# ── As-of join ──────────────────────────────────────────────────────────────────────────────

KEEPS_LEFT_ROWS = Premise(
    "Q is a left as-of join", lambda q: cast(AsofJoin, q.operator).kind == "left"
)


@law(
    "asof_join",
    "left columns of Q(a, b) = a",
    source="asof_join.py",
    provided=KEEPS_LEFT_ROWS,
)
def asof_join_keeps_left_rows(q: Subject, a: Left, b: Right) -> Equation:
    """Each left row is joined once, however many right rows are not later than it."""
    return Equation(first_columns(q.meaning(a, b), len(q.schemas[0])), a)


@law(
    "asof_join",
    "Q(a + a', b) = Q(a, b) + Q(a', b)",
    source="asof_join.py: linear in the left, general in the right",
)
def asof_join_left_additive(q: Subject, a: Left, more: Left, b: Right) -> Equation:
    """What a left row is joined with does not depend on the other left rows."""
    return Equation(q.meaning(a + more, b), q.meaning(a, b) + q.meaning(more, b))


@law("asof_join", "Q(a, distinct(b)) = Q(a, b)", source="asof_join.py")
def asof_join_counts_no_matches(q: Subject, a: Left, b: Right) -> Equation:
    """The last row is joined once, however often it is there; one that is owed is not there."""
    return Equation(q.meaning(a, distinct(b)), q.meaning(a, b))


@law(
    "asof_join",
    "Q(a, b) = Q(a, the matches in Q(a, b)) over tables",
    source="asof_join.py: the last of the rows that are not later",
)
def asof_join_needs_only_matches(q: Subject, ab: Bags) -> Equation:
    """Right rows that are nobody's match may be thrown away: the matches alone give the answer."""
    a, b = ab
    joined, width = q.meaning(a, b), len(q.schemas[0])
    matches = {row[width:]: 1 for row in joined if row[width:] in b}
    return Equation(joined, q.meaning(a, ZSet(matches, q.schemas[1])))


# ── Temporal filter ─────────────────────────────────────────────────────────────────────────


@law(
    "temporal_filter",
    "Q(a, clock) = sum of (a where lower <= n and n < upper), n in clock",
    source="temporal_filter.py; Lean: filter_incremental",
)
def temporal_filter_at_a_moment_is_filter(q: Subject, a: Left, clock: Right) -> Equation:
    """What is asked of now() is answered as if the time stood written in the condition."""
    operator, (rows, times) = cast(TemporalFilter, q.operator), q.schemas
    (kind,) = times.types
    moments = [
        q.another(Filter(operator.predicate(Literal(kind, now))), rows).meaning(a).scale(weight)
        for (now,), weight in clock.items()
    ]
    return Equation(q.meaning(a, clock), total(moments))
