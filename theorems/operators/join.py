"""Inner join is bilinear, so its increment is da × b + a × db + da × db."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import z3

from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import bilinear_increment
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Symbol,
    Term,
    Thm,
    both,
    fresh_symbol,
    induct,
    inst,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import ZSets, any_zsets, if_then, streams_of

SIDES = ("k BIGINT", "j BIGINT")
JOINED = Run(Join((("k", "j"),)), SIDES)
KEPT = Run(SemiJoin((("k", "j"),)), SIDES)
ADDED = Run(UnionAll(), SIDES)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows of a join: a row of the left and a row of the right."""

    zsets: ZSets
    pair: Callable[[Term, Term], Term]
    left: Callable[[Term], Term]
    right: Callable[[Term], Term]


@cache
def pairs_of(left: ZSets, right: ZSets) -> Pairs:
    name = f"{left.name} x {right.name}"
    declared = z3.Datatype(f"rows of {name}")
    declared.declare("pair", ("left", left.row), ("right", right.row))
    sort = declared.create()
    return Pairs(ZSets(name, sort), sort.constructor(0), sort.accessor(0, 0), sort.accessor(0, 1))


@dataclass(frozen=True, eq=False)
class AnyJoin:
    """A join on an arbitrary condition, with the theorems that it is linear in each input."""

    matches: Symbol
    join: Definition
    pairs: Pairs
    on_the_left: Thm
    on_the_right: Thm


@cache
def any_join() -> AnyJoin:
    left, right = any_zsets("A"), any_zsets("B")
    pairs = pairs_of(left, right)
    matches = fresh_symbol("matches", left.row, right.row, z3.BoolSort())
    all_pairs, listed = product(pairs, left, right)

    def weight(y: Term, a: Term, b: Term) -> Term:
        one, other = pairs.left(y), pairs.right(y)
        return if_then(matches(one, other), left.weight(a, one) * right.weight(b, other))

    join = pairs.zsets.comprehension(
        "join",
        [left.sort, right.sort],
        weight,
        lambda a, b: all_pairs(left.entries(a), right.entries(b)),
        [listed, left.no_weight_outside(), right.no_weight_outside()],
    )
    a, c, b, d = left.a, left.b, right.a, right.b
    add, equal = pairs.zsets.add, pairs.zsets.equal
    known = [*join.equations, *left.weights, *right.weights]
    return AnyJoin(
        matches,
        join,
        pairs,
        equal(
            "join(a + c, b) = join(a, b) + join(c, b)",
            join(left.add(a, c), b),
            add(join(a, b), join(c, b)),
            [a, c, b],
            known,
        ),
        equal(
            "join(a, b + d) = join(a, b) + join(a, d)",
            join(a, right.add(b, d)),
            add(join(a, b), join(a, d)),
            [a, b, d],
            known,
        ),
    )


def product(pairs: Pairs, left: ZSets, right: ZSets) -> tuple[Definition, Thm]:
    """All pairs of rows of two lists, and the theorem that none is missing."""
    rows, lists = pairs.zsets, pairs.zsets.lists
    one_row = recursive(
        "pairs of a row",
        right.lists.sort,
        [left.row],
        lists.sort,
        (
            lambda recur, x: lists.none,
            lambda recur, k, w, rest, x: lists.entry(pairs.pair(x, k), w, recur(rest, x)),
        ),
    )
    all_pairs = recursive(
        "pairs",
        left.lists.sort,
        [right.lists.sort],
        lists.sort,
        (
            lambda recur, m: lists.none,
            lambda recur, k, w, rest, m: lists.join(one_row(m, k), recur(rest, m)),
        ),
    )
    x, y = left.x, rows.x
    has_row = induct(
        "the pairs of a row",
        right.lists.sort,
        lambda es: z3.ForAll(
            [x, y],
            lists.has(one_row(es, x), y)
            == z3.And(pairs.left(y) == x, right.lists.has(es, pairs.right(y))),
        ),
        [*lists.has.equations, *right.lists.has.equations, *one_row.equations],
    )
    n = right.list
    has_all = induct(
        "the pairs of two lists",
        left.lists.sort,
        lambda es: z3.ForAll(
            [n, y],
            lists.has(all_pairs(es, n), y)
            == z3.And(left.lists.has(es, pairs.left(y)), right.lists.has(n, pairs.right(y))),
            patterns=[lists.has(all_pairs(es, n), y)],
        ),
        [
            *lists.has.equations,
            *left.lists.has.equations,
            *all_pairs.equations,
            rows.has_joined,
            has_row,
        ],
    )
    return all_pairs, has_all


def join_that_adds_weights() -> Counterexample:
    a, c, b = z3.Ints("a c b")
    claim = (a + c) + b == (a + b) + (c + b)

    def replay(a: int, c: int, b: int) -> tuple[ZSet, ZSet]:
        one, other, whole = (ADDED.over(row(each, 7), row(b, 7)) for each in (a, c, a + c))
        return whole, one + other

    name = "join(a + c, b) = join(a, b) + join(c, b), with + for ×"
    return refute(name, claim, show=[a, c, b], replay=replay)


def semijoin() -> Counterexample:
    """A join that asks only whether the right side has the row is not linear on the right."""
    a, b, d = z3.Ints("a b d")
    claim = if_then(b + d > 0, a) == if_then(b > 0, a) + if_then(d > 0, a)

    def replay(a: int, b: int, d: int) -> tuple[ZSet, ZSet]:
        one, other, whole = (KEPT.over(row(a, 7), row(each, 7)) for each in (b, d, b + d))
        return whole, one + other

    name = "semijoin(a, b + d) = semijoin(a, b) + semijoin(a, d)"
    return refute(name, claim, show=[a, b, d], replay=replay)


@theorem(
    statement="join(a + c, b) = join(a, b) + join(c, b), and join(a, b + d) likewise",
    source="DBSP (VLDB 2023) table 1",
    lean="equi_join_bilinear",
    wrong=(join_that_adds_weights, semijoin),
)
def join_bilinear() -> Thm:
    """The condition is any relation of a left row and a right row; equal keys, not NULL, is one."""
    return both("join is bilinear", any_join().on_the_left, any_join().on_the_right)


def joined_products(a: int, da: int, b: int, db: int) -> tuple[ZSet, ...]:
    """What the join's increment puts out; da × b, a × db and da × db, for one key."""
    before, deltas = (row(a, 7), row(b, 7)), (row(da, 7), row(db, 7))
    sides = ((deltas[0], before[1]), (before[0], deltas[1]), deltas)
    return (JOINED.change(before, deltas), *[JOINED.over(*each) for each in sides])


def join_against_the_tables_after() -> Counterexample:
    """da × b_after + a_after × db counts da × db twice."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == da * (b + db) + (a + da) * db

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        change, *one_sided, both_new = joined_products(a, da, b, db)
        return change, one_sided[0] + one_sided[1] + both_new.scale(2)

    name = "D(join) = join(da, b_after) + join(a_after, db)"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


def join_without_the_product_of_deltas() -> Counterexample:
    """da × b_before + a_before × db misses what is new on both sides."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == da * b + a * db

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        change, left, right, _ = joined_products(a, da, b, db)
        return change, left + right

    name = "D(join) = join(da, b_before) + join(a_before, db)"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


@theorem(
    statement="D(join(I(da), I(db))) = join(da, zI(db)) + join(zI(da), db) + join(da, db)",
    source="DBSP (VLDB 2023) theorem 3.4",
    lean="equi_join_incremental",
    wrong=(join_against_the_tables_after, join_without_the_product_of_deltas),
)
def join_increment() -> Thm:
    """The three terms that the join's code computes, at every tick, for tables of any size."""
    left, right = any_zsets("A"), any_zsets("B")
    it = any_join()
    a, b, x = left.a, right.a, it.pairs.zsets.x
    unmatched = prove_for_all(
        "join(da, b) has only pairs with a left row in da",
        [a, b, x],
        it.pairs.zsets.weight(it.join(a, b), x) == 0,
        [inst(it.join.equations[0], x, a, b)],
        given=[left.weight(a, it.pairs.left(x)) == 0],
    )
    return both("the incremental join", join_contract(), unmatched)


@cache
def join_contract() -> Thm:
    """∀ da db. D(join(I(da), I(db))) = the three terms."""
    it = any_join()
    return bilinear_increment(
        "join",
        (streams_of(any_zsets("A")), streams_of(any_zsets("B"))),
        streams_of(it.pairs.zsets),
        it.join,
        (it.on_the_left, it.on_the_right),
    )


LEFT = [(1, 10), (1, 11), (2, 12), (None, 13)]
RIGHT = [(1, 20), (1, 21), (2, 22), (None, 23)]


def join_subject(rows: int = 4, ticks: int = 3) -> Subject:
    """Two rows a key on each side, a key with one, and NULL keys."""
    inputs = [("k BIGINT, v BIGINT", LEFT[:rows]), ("j BIGINT, w BIGINT", RIGHT[:rows])]
    return subject_of(Join((("k", "j"),)), inputs, ticks)


def join_code_without_the_product_of_deltas() -> Counterexample:
    """Rows that arrive on both sides in one tick do not meet."""
    subject = join_subject()
    return refute_code(
        "puts out da × b + a × db",
        subject,
        lambda: Altered(subject.increment(), lambda out, da, db: out - subject.meaning(da, db)),
    )


def join_code_against_the_tables_after() -> Counterexample:
    """Rows that arrive on both sides in one tick meet twice."""
    subject = join_subject()
    return refute_code(
        "puts out da × b_after + a_after × db",
        subject,
        lambda: Altered(subject.increment(), lambda out, da, db: out + subject.meaning(da, db)),
    )


@theorem(
    statement="JoinIncrement, as it runs, is D ∘ join ∘ I",
    source="reference/operators/join.py",
    scope="all integer weights; 4+4 rows, 3 ticks",
    wrong=(join_code_without_the_product_of_deltas, join_code_against_the_tables_after),
)
def join_code() -> Thm:
    return both("join", prove_code(join_subject()), prove_paths(join_subject(1, 2)))
