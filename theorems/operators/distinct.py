"""Distinct is not linear, but only rows of the delta can cross zero."""

from __future__ import annotations

from functools import cache

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.calculus.streams import present, step_increment
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
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
    both,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import ZERO, ZSets, any_zsets, if_then, streams_of

ONE = z3.IntVal(1)
ONCE = Run(Distinct(), ("k BIGINT",))
ALL_BUT = Run(SetOperation("except"), ("k BIGINT", "k BIGINT"))
IN_BOTH = Run(SetOperation("intersect"), ("k BIGINT", "k BIGINT"))


def crossing(before: Term, change: Term) -> Term:
    """H: 1 for a row that appears, -1 for a row that goes, 0 for one that stays as it is."""
    appears = z3.And(before <= 0, before + change > 0)
    goes = z3.And(before > 0, before + change <= 0)
    return z3.If(appears, ONE, if_then(goes, -ONE))


def signs(delta: ZSet) -> ZSet:
    """1 for every insertion and -1 for every deletion.

    >>> signs(ZSet({("x",): 3, ("y",): -2}))
    ZSet({('x',): 1, ('y',): -1})
    """
    return ZSet.trusted({row: positive(w) - positive(-w) for row, w in delta.items()})


def sign_of_the_delta() -> Counterexample:
    """Emits 1 for every insertion and -1 for every deletion, whatever was there."""
    i, d = z3.Ints("before delta")
    sign = z3.If(d > 0, ONE, if_then(d < 0, -ONE))
    claim = sign == present(i + d) - present(i)

    def replay(before: int, delta: int) -> tuple[ZSet, ZSet]:
        return signs(row(delta, 7)), ONCE.change([row(before, 7)], [row(delta, 7)])

    return refute("H(before, delta) = sign(delta)", claim, show=[i, d], replay=replay)


def below_zero_for_not_above_zero() -> Counterexample:
    """H with < where <= belongs: a row whose weight becomes exactly zero is kept."""
    i, d = z3.Ints("before delta")
    wrong = z3.If(z3.And(i > 0, i + d < 0), -ONE, if_then(z3.And(i <= 0, i + d > 0), ONE))
    claim = wrong == present(i + d) - present(i)

    def replay(before: int, delta: int) -> tuple[ZSet, ZSet]:
        old, change = row(before, 7), row(delta, 7)
        appears = ALL_BUT.over(old + change, old)
        goes = IN_BOTH.over(old, -(old + change))  # what is owed after
        return appears - goes, ONCE.change([old], [change])

    return refute("H with < for <=", claim, show=[i, d], replay=replay)


def distinct_as_linear() -> Counterexample:
    a, b = z3.Ints("a b")
    claim = present(a + b) == present(a) + present(b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other = row(a, 7), row(b, 7)
        return ONCE.over(one + other), ONCE.over(one) + ONCE.over(other)

    name = "distinct(a + b) = distinct(a) + distinct(b)"
    return refute(name, claim, show=[a, b], replay=replay)


@theorem(
    statement="D(distinct(I(d))) = H(zI(d), d), where H looks at the rows of d only",
    source="DBSP (VLDB 2023) proposition 4.7",
    lean="distinct_incremental_ok",
    wrong=(sign_of_the_delta, below_zero_for_not_above_zero, distinct_as_linear),
)
def distinct_increment() -> Thm:
    rows = any_zsets("A")
    step = crossings(rows)
    a, d, x = rows.a, rows.b, rows.x
    untouched = prove_for_all(
        "a row outside the delta stays as it is",
        [a, d, x],
        rows.weight(step(a, d), x) == 0,
        [inst(step.equations[0], x, a, d)],
        given=[rows.weight(d, x) == 0],
    )
    agrees, contract = distinct_contract(rows)
    return both("distinct is kept up to date by H", agrees, untouched, contract)


@cache
def distinct_of(rows: ZSets) -> Definition:
    """distinct(m), which weighs 1 where m weighs more than 0, and nothing elsewhere."""
    return rows.pointwise("distinct", lambda x, weight: present(weight))


@cache
def distinct_contract(rows: ZSets) -> tuple[Thm, Thm]:
    """(H is the change of distinct, D(distinct(I(d))) = H(zI(d), d)), for rows of any sort."""
    distinct, step = distinct_of(rows), crossings(rows)
    a, d = rows.a, rows.b
    agrees = rows.equal(
        "H(a, d) = distinct(a + d) - distinct(a)",
        step(a, d),
        rows.group.sub(distinct(rows.add(a, d)), distinct(a)),
        [a, d],
        [*step.equations, *distinct.equations],
    )
    empty = rows.equal(
        "distinct(0) = 0", distinct(rows.zero()), rows.zero(), [], distinct.equations
    )
    changes = streams_of(rows)
    return agrees, step_increment("distinct", changes, changes, distinct, step, agrees, empty)


@cache
def crossings(rows: ZSets) -> Definition:
    """(before, delta) ↦ the rows of the delta that cross zero."""
    return rows.comprehension(
        "H",
        [rows.sort, rows.sort],
        lambda x, a, d: crossing(rows.weight(a, x), rows.weight(d, x)),
        lambda a, d: rows.entries(d),
        [rows.no_weight_outside()],
    )


@theorem(
    statement="distinct(distinct(a)) = distinct(a), and distinct(a) is a set",
    source="DBSP (VLDB 2023) definition 4.3; long version (2022) propositions 4.4, 4.5",
    lean="distinct_idem, distinct_is_set",
    wrong=(distinct_as_linear,),
)
def distinct_idempotent() -> Thm:
    rows = any_zsets("A")
    distinct, a, x = distinct_of(rows), rows.a, rows.x
    weight = rows.weight(distinct(a), x)
    zero_or_one = prove(
        "every weight of distinct(a) is 0 or 1",
        z3.Or(weight == ZERO, weight == ONE),
        distinct.equations,
    )
    twice = idempotence(rows)
    return both("distinct is idempotent and makes a set", twice, gen(zero_or_one, a, x))


@cache
def idempotence(rows: ZSets) -> Thm:
    """∀ a. distinct(distinct(a)) = distinct(a), for rows of any sort."""
    distinct, a = distinct_of(rows), rows.a
    name = "distinct(distinct(a)) = distinct(a)"
    return rows.equal(name, distinct(distinct(a)), distinct(a), [a], distinct.equations)


def distinct_subject(rows: int = 4, ticks: int = 4) -> Subject:
    values = [(1, 3), (1, None), (None, None), (2, 3)]
    return subject_of(Distinct(), [("k BIGINT, v BIGINT", values[:rows])], ticks)


def distinct_code_with_the_sign_of_the_delta() -> Counterexample:
    """No state: 1 for every insertion, -1 for every deletion."""
    name = "puts out the sign of the delta"
    return refute_code(name, distinct_subject(1, 2), lambda: Stateless(signs))


@theorem(
    statement="DistinctIncrement, as it runs, is D ∘ distinct ∘ I",
    source="reference/operators/distinct.py",
    scope="all integer weights; 4 rows, 4 ticks",
    wrong=(distinct_code_with_the_sign_of_the_delta,),
)
def distinct_code() -> Thm:
    return both("distinct", prove_code(distinct_subject()), prove_paths(distinct_subject(1, 3)))
