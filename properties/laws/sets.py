"""What operators obey that look at each row's weight: distinct, positive, set operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from deltaproof.properties.law import Bags, Equation, Premise, Subject, ZSets, law
from deltaproof.properties.laws.words import above_zero, distinct
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.zset import ZSet, positive


@law(
    "distinct",
    "Q(a) = 1 where a > 0",
    source="DBSP (VLDB 2023) definition 4.3; Lean: distinct_is_set",
)
def distinct_is_a_set(q: Subject, a: ZSets) -> Equation:
    """Its output is a set whatever its input is: weights are 1, never 2, never negative."""
    (rows,) = a
    return Equation(q.meaning(rows), ZSet({row: positive(w) for row, w in rows.items()}))


@law(
    "distinct",
    "Q(Q(a) + Q(b)) = Q(a + b) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: add_distinct_dedup",
)
def distinct_merges(q: Subject, a: Bags, b: Bags) -> Equation:
    """Each shard may drop its duplicates before the shards are put together."""
    (one,), (other,) = a, b
    return Equation(q.meaning(q.meaning(one) + q.meaning(other)), q.meaning(one + other))


# A group of laws has the same name; see `law.GROUPS`.
IS_POSITIVE = Premise("Q is max(weight, 0)", lambda q: isinstance(q.operator, Positive))


@law(
    "positive",
    "Q(a) - Q(-a) = a",
    source="positive.py: max(n, 0) - max(-n, 0) = n",
    provided=IS_POSITIVE,
)
def positive_splits_a_change(q: Subject, a: ZSets) -> Equation:
    """A change is what it inserts less what it deletes: so it is sent to who knows no weights."""
    (rows,) = a
    return Equation(q.meaning(rows) - q.meaning(-rows), rows)


@law(
    "positive",
    "Q(a) = a over tables",
    source="positive.py: over a bag it changes nothing",
    provided=IS_POSITIVE,
)
def positive_keeps_tables(q: Subject, a: Bags) -> Equation:
    """Above whatever makes tables of tables it may be dropped."""
    return Equation(q.meaning(*a), *a)


# ── Set operations ──────────────────────────────────────────────────────────────────────────

# For each kind another one, and what the two divide between them.
DIVIDE: Mapping[str, tuple[str, Callable[[ZSet, ZSet], ZSet]]] = {
    "union": ("intersect", lambda a, b: distinct(a) + distinct(b)),
    "intersect": ("except", lambda a, b: distinct(a)),
    "except": ("intersect", lambda a, b: distinct(a)),
    "intersect_all": ("except_all", lambda a, b: a),
    "except_all": ("intersect_all", lambda a, b: a),
}
FORMULAS: Mapping[str, Callable[[ZSet, ZSet], ZSet]] = {
    "union": lambda a, b: distinct(a + b),
    "intersect": lambda a, b: distinct(a) + distinct(b) - distinct(a + b),
    "except": lambda a, b: distinct(distinct(a) - distinct(b)),
    "intersect_all": lambda a, b: a - above_zero(a - b),
    "except_all": lambda a, b: above_zero(a - b),
}


@law(
    "set_operation",
    "Q(a, b) + the other operation (a, b) = what both are of, over tables",
    source="SQL:2016 part 2, 7.17 <query expression>",
)
def set_operation_divides(q: Subject, ab: Bags) -> Equation:
    """INTERSECT and EXCEPT have each row of a between them, with ALL as often as it is there."""
    other, whole = DIVIDE[cast(SetOperation, q.operator).kind]
    rest = q.another(SetOperation(other), *q.schemas)
    return Equation(q.meaning(*ab) + rest.meaning(*ab), whole(*ab))


@law(
    "set_operation",
    "Q(a, b) = a formula of sums and distincts of a and b, over tables",
    source="DBSP (VLDB 2023) table 1; the ALL forms: SQL:2016 part 2, 7.17 <query expression>",
)
def set_operation_by_formula(q: Subject, ab: Bags) -> Equation:
    """What is proved of sums and of DISTINCT is proved of it."""
    return Equation(q.meaning(*ab), FORMULAS[cast(SetOperation, q.operator).kind](*ab))
