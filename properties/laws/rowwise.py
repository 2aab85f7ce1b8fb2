"""What operators obey that take each row alone: filter, map, flat map, hop, logic and others."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import cast

from deltaproof.properties.law import Bags, Equation, Left, Right, Streams, Subject, ZSets, law
from deltaproof.properties.laws.words import distinct, first_columns, plus, total, weight_of, where
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.hop import TIMES, Hop
from deltaproof.reference.operators.logic import Logic, keeping
from deltaproof.reference.scalar import lit
from deltaproof.reference.stream import lift
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

# ── Filter ──────────────────────────────────────────────────────────────────────────────────


@law("filter", "distinct(Q(a)) = Q(distinct(a))", source="Lean: filter_distinct_comm")
def filter_commutes_with_distinct(q: Subject, a: ZSets) -> Equation:
    """A filter may go below a DISTINCT, on changes as on tables."""
    (rows,) = a
    return Equation(distinct(q.meaning(rows)), q.meaning(distinct(rows)))


@law(
    "filter",
    "Q(a) + Q, where it is not so (a) + Q, where it is not known (a) = a",
    source="beyond the paper: ternary logic partitioning (Rigger & Su, OOPSLA 2020)",
)
def filter_partitions_three_ways(q: Subject, a: ZSets) -> Equation:
    """A condition is TRUE, FALSE or NULL of a row, and no row is lost between the three."""
    predicate = cast(Filter, q.operator).predicate
    others = [q.another(Filter(each), *q.schemas) for each in (~predicate, predicate.is_null())]
    return Equation(total([each.meaning(*a) for each in (q, *others)]), *a)


# ── Map, flat map ───────────────────────────────────────────────────────────────────────────


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
    "distinct(Q(distinct(a))) = distinct(Q(a)) over tables",
    source="beyond the paper: proposition 4.5 of a map to several rows",
)
def flat_map_under_distinct(q: Subject, a: Bags) -> Equation:
    """A DISTINCT below another one may be dropped, though an array may hold an element twice."""
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


@law(
    "flat_map",
    "Q(a) without the element = a, each row as often as its array is long",
    source="flat_map.py",
)
def flat_map_counts_elements(q: Subject, a: ZSets) -> Equation:
    """No element is lost or made: an array of three equal ones gives its row three times."""
    (rows,), (schema,) = a, q.schemas
    elements = cast(FlatMap, q.operator).array.compile(schema)
    counted = [(row, weight * len(elements(row) or ())) for row, weight in rows.items()]
    return Equation(first_columns(q.meaning(rows), len(schema)), ZSet(counted))


# ── Windows of fixed size ───────────────────────────────────────────────────────────────────


def timed(q: Subject, rows: ZSet) -> ZSet:
    """The rows that have a time."""
    place = q.schemas[0].index(cast(Hop, q.operator).time)
    return where(rows, lambda row: row[place] is not None)


@law("hop", "Q(a) that tumbles, without the window = a with a time", source="hop.py")
def hop_tumbles(q: Subject, a: ZSets) -> Equation:
    """Windows that do not overlap and leave no gap have each row once."""
    operator, (rows,) = cast(Hop, q.operator), a
    tumbling = q if operator.size == operator.slide else None
    tumbling = tumbling or q.another(replace(operator, slide=operator.size), *q.schemas)
    return Equation(first_columns(tumbling.meaning(rows), len(*q.schemas)), timed(q, rows))


@law("hop", "Q(a) where start <= time < end = Q(a)", source="hop.py; Beam model (VLDB 2015)")
def hop_windows_hold_their_rows(q: Subject, a: ZSets) -> Equation:
    """A row is counted in the windows that its time is in, before 1970 as after it."""
    operator, (schema,), rows = cast(Hop, q.operator), q.schemas, q.meaning(*a)
    place = schema.index(operator.time)
    units_of, _ = TIMES[schema.types[place]]

    def holds(row: Row) -> bool:
        time, start, end = map(units_of, (row[place], *row[-2:]))
        fits = start % operator.slide == 0 and end - start == operator.size
        return fits and start <= time < end

    return Equation(where(rows, holds), rows)


@law("hop", "distinct(Q(a)) = Q(distinct(a))", source="DBSP (VLDB 2023) proposition 4.4")
def hop_commutes_with_distinct(q: Subject, a: ZSets) -> Equation:
    """No two rows share a row of the output, so a DISTINCT may go below it, on changes too."""
    (rows,) = a
    return Equation(distinct(q.meaning(rows)), q.meaning(distinct(rows)))


# ── Logic, negate, union all ────────────────────────────────────────────────────────────────


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
    after, whole = q.another(second, between), q.another(together, rows)
    return Equation(after.contents(q.contents(*s)), whole.contents(*s))


@law(
    "logic",
    "Q(s) = sum of Q of each branch (s)",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: add_incremental",
)
def logic_adds_branches(q: Subject, s: Streams) -> Equation:
    """What becomes of a row is the sum of what becomes of it each way."""
    branches = cast(Logic, q.operator).branches
    alone = [q.another(Logic((each,)), *q.schemas).contents(*s) for each in branches]
    return Equation(q.contents(*s), reduce(lift(plus), alone))


@law("negate", "Q(Q(a)) = a", source="DBSP (VLDB 2023) proposition 3.2")
def negate_involutive(q: Subject, a: ZSets) -> Equation:
    """Undoing an undo is doing."""
    return Equation(q.meaning(q.meaning(*a)), *a)


@law("negate", "Q(a) + a = 0", source="DBSP (VLDB 2023) proposition 2.11; Lean: zset_group")
def negate_cancels(q: Subject, a: ZSets) -> Equation:
    """With UNION ALL it makes the difference of two tables."""
    return Equation(total([q.meaning(*a), *a]), ZSet())


@law("union_all", "Q(a, 0) = a", source="DBSP (VLDB 2023) table 1")
def union_all_zero_identity(q: Subject, a: Left) -> Equation:
    """It is the group's addition, and keeps duplicates."""
    return Equation(q.meaning(a, q.zeros[1]), a)


@law("union_all", "weight of Q(a, b) = weight of a + weight of b", source="union_all.py")
def union_all_keeps_weight(q: Subject, a: Left, b: Right) -> Equation:
    """No row of either side is lost or counted twice, also where both have it."""
    return Equation(weight_of(q.meaning(a, b)), weight_of(a) + weight_of(b))


@law(
    "union_all",
    "distinct(Q(distinct(a), distinct(b))) = distinct(Q(a, b)) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: add_distinct_dedup",
)
def union_all_under_distinct(q: Subject, ab: Bags) -> Equation:
    """A DISTINCT below another one may be dropped."""
    return Equation(distinct(q.meaning(*map(distinct, ab))), distinct(q.meaning(*ab)))
