"""A set operation looks at one row of both inputs at a time, so only rows of the deltas can change.

weight(result, x) = f(weight(a, x), weight(b, x))      f any function with f(0, 0) = 0

UNION      [a + b > 0]           INTERSECT ALL   min(a⁺, b⁺)
INTERSECT  [a > 0 and b > 0]     EXCEPT ALL      max(a⁺ - b⁺, 0)
EXCEPT     [a > 0 and b <= 0]    positive        a⁺           with a⁺ = max(a, 0)
"""

from __future__ import annotations

from collections.abc import Callable

import z3

from deltaproof.reference.operators.set_operation import KINDS, SetOperation
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import present, steps_increment
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    OneSided,
    Stateless,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Term,
    Thm,
    axiom,
    both,
    fresh_symbol,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.distinct import ONCE, ONE
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, any_zsets, if_then, streams_of

Combine = Callable[[Term, Term], Term]

EITHER, LESS, SHARED, LEFT_OVER = (
    Run(SetOperation(kind), ("k BIGINT", "k BIGINT"))
    for kind in ("union", "except", "intersect_all", "except_all")
)


def positive_part(weight: Term) -> Term:
    """a⁺."""
    return if_then(weight > 0, weight)


def smaller(one: Term, other: Term) -> Term:
    return z3.If(one < other, one, other)


def union(a: Term, b: Term) -> Term:
    return present(a + b)


def intersect(a: Term, b: Term) -> Term:
    return if_then(z3.And(a > 0, b > 0), ONE)


def except_(a: Term, b: Term) -> Term:
    return if_then(z3.And(a > 0, b <= 0), ONE)


def intersect_all(a: Term, b: Term) -> Term:
    return smaller(positive_part(a), positive_part(b))


def except_all(a: Term, b: Term) -> Term:
    return positive_part(positive_part(a) - positive_part(b))


SET_OPERATIONS: dict[str, Combine] = {
    "union": union,
    "intersect": intersect,
    "except": except_,
    "intersect all": intersect_all,
    "except all": except_all,
    "positive": lambda a, b: positive_part(a),
}


# ---------------------------------------------------------------- any function of two weights


def rowwise(rows: ZSets, f: Combine, nothing: Thm) -> Definition:
    """(a, b) ↦ the Z-set that weighs f of both weights; `nothing` says f(0, 0) = 0."""
    lists = rows.lists
    return rows.comprehension(
        "row by row",
        [rows.sort, rows.sort],
        lambda x, a, b: f(rows.weight(a, x), rows.weight(b, x)),
        lambda a, b: lists.join(rows.entries(a), rows.entries(b)),
        [rows.has_joined, rows.no_weight_outside(), nothing],
    )


def rowwise_step(rows: ZSets, f: Combine) -> Definition:
    """(a, b, da, db) ↦ the change of f at the rows of the deltas, and nothing at other rows."""
    lists, weight = rows.lists, rows.weight

    def listed(da: Term, db: Term) -> Term:
        return lists.join(rows.entries(da), rows.entries(db))

    def change(x: Term, a: Term, b: Term, da: Term, db: Term) -> Term:
        before = f(weight(a, x), weight(b, x))
        after = f(weight(a, x) + weight(da, x), weight(b, x) + weight(db, x))
        return if_then(lists.has(listed(da, db), x), after - before)

    return rows.comprehension(
        "change row by row", [rows.sort] * 4, change, lambda a, b, da, db: listed(da, db)
    )


def rows_of_one_delta() -> Counterexample:
    """EXCEPT looks at the rows of the left delta: what the right side takes away stays."""
    a, da, b, db = z3.Ints("a da b db")
    change = except_(a + da, b + db) - except_(a, b)

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        before, deltas = [row(a, 7), row(b, 7)], [row(da, 7), row(db, 7)]
        increment = OneSided(LESS.operator.increment(*LESS.schemas), 0)
        increment.step(*before)
        increment.commit()
        return increment.step(*deltas), LESS.change(before, deltas)

    claim = if_then(da != 0, change) == change
    name = "only rows of the left delta change"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


def result_of_the_deltas() -> Counterexample:
    """INTERSECT ALL of the deltas, as if it were linear."""
    a, da, b, db = z3.Ints("a da b db")
    change = intersect_all(a + da, b + db) - intersect_all(a, b)
    given = [a >= 0, b >= 0, da >= 0, db >= 0]
    claim = intersect_all(da, db) == change

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        before, deltas = [row(a, 7), row(b, 7)], [row(da, 7), row(db, 7)]
        return SHARED.over(*deltas), SHARED.change(before, deltas)

    name = "D(a INTERSECT ALL b) = da INTERSECT ALL db"
    return refute(name, claim, given, [a, da, b, db], replay=replay)


def except_all_without_the_floor() -> Counterexample:
    """a - b, which is below zero where the right side has more."""
    a, b = z3.Ints("a b")
    claim = except_all(a, b) == a - b

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        return LEFT_OVER.over(row(a, 7), row(b, 7)), row(a, 7) - row(b, 7)

    return refute("EXCEPT ALL = a - b", claim, [a >= 0, b >= 0], show=[a, b], replay=replay)


def union_of_presences() -> Counterexample:
    """[a > 0 or b > 0] is not [a + b > 0] on signed Z-sets."""
    a, b = z3.Ints("a b")
    claim = if_then(z3.Or(a > 0, b > 0), ONE) == union(a, b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other = row(a, 7), row(b, 7)
        return ONCE.over(ONCE.over(one) + ONCE.over(other)), EITHER.over(one, other)

    return refute("UNION = distinct(a) or distinct(b)", claim, show=[a, b], replay=replay)


@theorem(
    statement="D(f(I(da), I(db))), f of two weights, f(0, 0) = 0, looks at rows of da and db only",
    source="DBSP (VLDB 2023) table 1, definition 3.1; proposition 4.7 is the case of distinct",
    wrong=(
        rows_of_one_delta,
        result_of_the_deltas,
        except_all_without_the_floor,
        union_of_presences,
    ),
)
def rowwise_increment() -> Thm:
    """For any f, and then for the f of UNION, INTERSECT, EXCEPT, their ALL forms, and positive."""
    rows = any_zsets("A")
    f = fresh_symbol("f", INT, INT, INT)
    nothing = axiom("f(0, 0) is 0", f(ZERO, ZERO) == 0)
    combined, step = rowwise(rows, f, nothing), rowwise_step(rows, f)
    a, b, da, db = z3.Consts("a b da db", rows.sort)
    x, add = rows.x, rows.add
    agrees = rows.equal(
        "the change of f = f(a + da, b + db) - f(a, b)",
        step(a, b, da, db),
        rows.group.sub(combined(add(a, da), add(b, db)), combined(a, b)),
        [a, b, da, db],
        [*step.equations, *combined.equations, rows.has_joined, rows.no_weight_outside()],
    )
    empty = rows.equal(
        "f of nothing is nothing",
        combined(rows.zero(), rows.zero()),
        rows.zero(),
        [],
        [*combined.equations, nothing],
    )
    untouched = prove_for_all(
        "a row in neither delta stays as it is",
        [a, b, da, db, x],
        rows.weight(step(a, b, da, db), x) == 0,
        [inst(agrees, a, b, da, db), *combined.equations, *rows.weights],
        given=[rows.weight(da, x) == 0, rows.weight(db, x) == 0],
    )
    changes = streams_of(rows)
    contract = steps_increment("f", [changes, changes], changes, combined, step, agrees, empty)
    return both("row by row", agrees, untouched, contract, *instances())


def instances() -> list[Thm]:
    """f(0, 0) = 0 for every set operation, and what it means on bags."""
    a, b = z3.Ints("a b")
    bags = [a >= 0, b >= 0]
    laws = {
        "UNION = distinct(a + b)": union(a, b) == present(a + b),
        "INTERSECT = distinct of the product": intersect(a, b) == present(a * b),
        "EXCEPT = distinct(a) - INTERSECT": except_(a, b) == present(a) - intersect(a, b),
        "INTERSECT ALL = a - EXCEPT ALL": intersect_all(a, b) == a - except_all(a, b),
        "EXCEPT ALL = positive(a - b)": except_all(a, b) == positive_part(a - b),
    }
    nothing = [
        prove(f"{name}: f(0, 0) = 0", f(ZERO, ZERO) == 0) for name, f in SET_OPERATIONS.items()
    ]
    return [*nothing, *(prove_for_all(n, [a, b], law, given=bags) for n, law in laws.items())]


# ---------------------------------------------------------------- the code

ROWS = [(1,), (None,), (2,)]


def set_operation_subject(kind: str, rows: int = 3, ticks: int = 2) -> Subject:
    """Rows of both inputs, NULL among them, and a row of the left one."""
    inputs = [("k BIGINT", ROWS[:rows]), ("k BIGINT", ROWS[:2][:rows])]
    return subject_of(SetOperation(kind), inputs, ticks)


def set_operation_code_of_the_deltas() -> Counterexample:
    """No state: EXCEPT ALL of the deltas."""
    subject = set_operation_subject("except_all")
    name = "puts out da EXCEPT ALL db"
    return refute_code(name, subject, lambda: Stateless(subject.meaning))


def set_operation_code_that_hears_one_side() -> Counterexample:
    """A row that the right side takes away stays in the view."""
    subject = set_operation_subject("except")
    name = "rows of the left delta only"
    return refute_code(name, subject, lambda: OneSided(subject.increment(), 0))


@theorem(
    statement="RowwiseIncrement for all set operations, as it runs, is D ∘ set_operation ∘ I",
    source="reference/operators/set_operation.py",
    scope="all integer weights; 3+2 rows, 2 ticks",
    wrong=(set_operation_code_of_the_deltas, set_operation_code_that_hears_one_side),
)
def set_operation_code() -> Thm:
    merged = [prove_code(set_operation_subject(kind)) for kind in KINDS]
    forked = [prove_paths(set_operation_subject(kind, 1, 2)) for kind in ("except", "except_all")]
    return both("set operations", *merged, *forked)
