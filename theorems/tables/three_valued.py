"""A condition is TRUE, FALSE or NULL, and WHERE keeps a row for TRUE alone.

    AND   FALSE when one is FALSE, else NULL when one is NULL, else TRUE
    OR    TRUE when one is TRUE, else NULL when one is NULL, else FALSE
    NOT   of NULL it is NULL

The laws of two values hold as far as Kleene's logic has them: De Morgan's do, the excluded middle
does not. So a table is the sum of three: where p, where NOT p, and where p IS NULL.

What is proved here is about these tables; `truth_tables_code` says that the reference's scalar code
computes them, on every argument there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product as product_of
from typing import Any, TypeAlias

import z3

from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.scalar import (
    Expr,
    case,
    coalesce,
    col,
    is_false,
    is_in,
    is_true,
    lit,
    null,
    nullif,
)
from deltaproof.reference.types import BOOLEAN, Schema
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import additive
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Formula,
    Sort,
    Term,
    Thm,
    axiom,
    both,
    fresh_symbol,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import ZSets, any_zsets, if_then

VALUES: dict[str, bool | None] = {"FALSE": False, "NULL": None, "TRUE": True}


def _truth_sort() -> Sort:
    truth = z3.Datatype("truth value")
    for name in VALUES:
        truth.declare(name)
    return truth.create()


TRUTH = _truth_sort()
FALSE, NULL, TRUE = (TRUTH.constructor(place)() for place in range(3))
CONSTANTS = {False: FALSE, None: NULL, True: TRUE}

Truth: TypeAlias = bool | None


def conjunction(p: Term, q: Term) -> Term:
    """AND."""
    unknown = z3.Or(p == NULL, q == NULL)
    return z3.If(z3.Or(p == FALSE, q == FALSE), FALSE, z3.If(unknown, NULL, TRUE))


def disjunction(p: Term, q: Term) -> Term:
    """OR."""
    unknown = z3.Or(p == NULL, q == NULL)
    return z3.If(z3.Or(p == TRUE, q == TRUE), TRUE, z3.If(unknown, NULL, FALSE))


def negation(p: Term) -> Term:
    """NOT."""
    return z3.If(p == TRUE, FALSE, z3.If(p == FALSE, TRUE, NULL))


def truth(condition: Formula) -> Term:
    """TRUE or FALSE."""
    return z3.If(condition, TRUE, FALSE)


def first_known(p: Term, q: Term) -> Term:
    """COALESCE."""
    return z3.If(p == NULL, q, p)


def chosen(p: Term, then: Term, otherwise: Term) -> Term:
    """CASE WHEN p THEN … ELSE … END."""
    return z3.If(p == TRUE, then, otherwise)


def equal(p: Term, q: Term) -> Term:
    """p = q."""
    return z3.If(z3.Or(p == NULL, q == NULL), NULL, truth(p == q))


# ---------------------------------------------------------------- the code

P, Q = col("p"), col("q")

# What the scalar code is asked for two truth values, and the table that it should be.
TABLES: tuple[tuple[Expr, Callable[[Term, Term], Term]], ...] = (
    (P & Q, conjunction),
    (P | Q, disjunction),
    (~P, lambda p, q: negation(p)),
    (P.is_null(), lambda p, q: truth(p == NULL)),
    (P.is_not_null(), lambda p, q: truth(p != NULL)),
    (is_true(P), lambda p, q: truth(p == TRUE)),
    (is_false(P), lambda p, q: truth(p == FALSE)),
    (P.eq(Q), equal),
    (P.ne(Q), lambda p, q: negation(equal(p, q))),
    (P.is_distinct_from(Q), lambda p, q: truth(p != q)),
    (P.is_not_distinct_from(Q), lambda p, q: truth(p == q)),
    (is_in(P, Q, False), lambda p, q: disjunction(equal(p, q), equal(p, FALSE))),
    (coalesce(P, Q), first_known),
    (nullif(P, Q), lambda p, q: z3.If(p == q, NULL, p)),
    (case((P, Q), default=True), lambda p, q: chosen(p, q, TRUE)),
)
# NULLs allowed or not, in columns or written down: the scalar code has a closure for each.
WAYS = ("nullable", "not null", "literal")


def computed(expression: Expr, p: Truth, q: Truth, ways: tuple[str, str]) -> Any:
    """What the reference's expression is where p and q are these, given in these ways.

    >>> computed(P & Q, None, False, ("nullable", "literal"))
    False
    """
    columns, literals = [], {}
    for name, value, way in (("p", p, ways[0]), ("q", q, ways[1])):
        columns.append(f"{name} BOOLEAN{' NOT NULL' if way == 'not null' else ''}")
        if way == "literal":
            literals[name] = null(BOOLEAN) if value is None else lit(value)
    run = expression.substitute(literals).compile(Schema.parse(", ".join(columns)))
    return run((p, q))


def settings(expression: Expr) -> Iterator[tuple[Truth, Truth, tuple[str, str]]]:
    """Every p and q, each given in every way that can give it."""
    unary = "q" not in expression.columns()
    for p, q in product_of(CONSTANTS, (None,) if unary else CONSTANTS):
        for ways in product_of(WAYS, WAYS[:1] if unary else WAYS):
            if (p is not None or ways[0] != "not null") and (
                q is not None or ways[1] != "not null"
            ):
                yield p, q, ways


def prove_table(expression: Expr, table: Callable[[Term, Term], Term]) -> Thm:
    """For all p and q the table has what the code computes, however p and q are given to it."""
    found: dict[tuple[Truth, Truth], set[Any]] = {}
    for p, q, ways in settings(expression):
        found.setdefault((p, q), set()).add(computed(expression, p, q, ways))
    proofs = [
        prove(
            f"{expression} where p is {p} and q is {q}",
            z3.And(*[table(CONSTANTS[p], CONSTANTS[q]) == CONSTANTS[each] for each in results]),
        )
        for (p, q), results in found.items()
    ]
    return both(str(expression), *proofs)


def shown(name: str) -> tuple[Term, Term]:
    """Two arbitrary truth values, by their names in `name`."""
    p, q = z3.Consts(name, TRUTH)
    return p, q


def null_in_null_out() -> Counterexample:
    """AND as an operation like +, which is NULL when an argument is."""
    p, q = shown("p q")
    strict = z3.If(z3.Or(p == NULL, q == NULL), NULL, truth(z3.And(p == TRUE, q == TRUE)))

    def replay(p: str, q: str) -> tuple[Truth, Truth]:
        """The reference multiplies with NULL in, NULL out."""
        one, other = VALUES[p], VALUES[q]
        factors = [None if each is None else int(each) for each in (one, other)]
        times = (col("x") * col("y")).compile(Schema.parse("x BIGINT, y BIGINT"))(tuple(factors))
        strict = None if times is None else times == 1
        return strict, computed(P & Q, one, other, ("nullable", "nullable"))

    name = "AND is NULL when an argument is"
    return refute(name, strict == conjunction(p, q), show=[p, q], replay=replay)


def null_equals_null() -> Counterexample:
    p, q = shown("p q")

    def replay(p: str, q: str) -> tuple[Truth, Truth]:
        one, other = (
            computed(each, VALUES[p], VALUES[q], ("nullable", "nullable"))
            for each in (P.is_not_distinct_from(Q), P.eq(Q))
        )
        return one, other

    name = "p = q is p IS NOT DISTINCT FROM q"
    return refute(name, truth(p == q) == equal(p, q), show=[p, q], replay=replay)


@theorem(
    statement="AND OR NOT = <> IN IS COALESCE NULLIF CASE, as they run, are Kleene's tables",
    source="SQL:2016 8.20; reference/scalar_closure.py",
    scope="every argument: TRUE, FALSE, NULL; as nullable column, NOT NULL column or literal",
    wrong=(null_in_null_out, null_equals_null),
)
def truth_tables_code() -> Thm:
    return both("truth tables", *[prove_table(*each) for each in TABLES])


# ---------------------------------------------------------------- laws


def excluded_middle() -> Counterexample:
    (p,) = z3.Consts("p", TRUTH)

    def replay(p: str) -> tuple[Truth, Truth]:
        return computed(P | ~P, VALUES[p], None, ("nullable", "nullable")), True

    claim = disjunction(p, negation(p)) == TRUE
    return refute("p OR NOT p is TRUE", claim, show=[p], replay=replay)


def negated_on_one_side() -> Counterexample:
    p, q = shown("p q")

    def replay(p: str, q: str) -> tuple[Truth, Truth]:
        one, other = (
            computed(each, VALUES[p], VALUES[q], ("nullable", "nullable"))
            for each in (~(P & Q), ~P | Q)
        )
        return one, other

    claim = negation(conjunction(p, q)) == disjunction(negation(p), q)
    return refute("NOT (p AND q) = NOT p OR q", claim, show=[p, q], replay=replay)


@theorem(
    statement="NOT (p AND q) = NOT p OR NOT q; NOT NOT p = p; AND, OR a distributive lattice",
    source="beyond the paper: Kleene's three-valued logic, SQL:2016 8.20",
    wrong=(excluded_middle, negated_on_one_side),
)
def truth_de_morgan() -> Thm:
    p, q, r = z3.Consts("p q r", TRUTH)
    laws: list[tuple[str, Formula]] = [
        (
            "NOT (p AND q) = NOT p OR NOT q",
            negation(conjunction(p, q)) == disjunction(negation(p), negation(q)),
        ),
        (
            "NOT (p OR q) = NOT p AND NOT q",
            negation(disjunction(p, q)) == conjunction(negation(p), negation(q)),
        ),
        ("NOT NOT p = p", negation(negation(p)) == p),
        ("NOT p IS NULL where p is", (negation(p) == NULL) == (p == NULL)),
    ]
    for name, op, other, neutral in (
        ("AND", conjunction, disjunction, TRUE),
        ("OR", disjunction, conjunction, FALSE),
    ):
        laws += [
            (f"{name} associative", op(op(p, q), r) == op(p, op(q, r))),
            (f"{name} commutative", op(p, q) == op(q, p)),
            (f"{name} idempotent", op(p, p) == p),
            (f"{name} absorbs", op(p, other(p, q)) == p),
            (f"{name} distributes", op(p, other(q, r)) == other(op(p, q), op(p, r))),
            (f"{name} neutral", op(p, neutral) == p),
        ]
    return both("De Morgan", *[prove_for_all(name, [p, q, r], law) for name, law in laws])


def case_that_skips_false_alone() -> Counterexample:
    """WHEN NULL taken for WHEN TRUE."""
    p, q = shown("p q")

    def replay(p: str, q: str) -> tuple[Truth, Truth]:
        one, other = (
            computed(each, VALUES[p], VALUES[q], ("nullable", "nullable"))
            for each in (case((P.is_distinct_from(False), Q), default=True), TABLES[-1][0])
        )
        return one, other

    claim = z3.If(p != FALSE, q, TRUE) == chosen(p, q, TRUE)
    return refute("CASE takes what is not FALSE", claim, show=[p, q], replay=replay)


def not_below_is_above() -> Counterexample:
    """NOT (a < b) is a >= b also for NULL, but a >= b OR a < b is not everything."""
    a, b = nullables("a b")

    def replay(*given: Any) -> tuple[Truth, Truth]:
        x, y = python_values(given)
        either = (col("x") < col("y")) | (col("x") >= col("y"))
        return either.compile(Schema.parse("x BIGINT, y BIGINT"))((x, y)), True

    below, above = compared(a, b, lambda x, y: x < y), compared(a, b, lambda x, y: x >= y)
    claim = disjunction(below, above) == TRUE
    return refute("a < b OR a >= b", claim, show=[*a, *b], replay=replay)


Nullable: TypeAlias = tuple[Term, Term]  # whether it is NULL, and the number where it is not


def nullables(names: str) -> list[Nullable]:
    """Arbitrary numbers that may be NULL."""
    return [(z3.Bool(f"{name}_is_NULL"), z3.Int(name)) for name in names.split()]


def python_values(given: tuple[Any, ...]) -> list[int | None]:
    """The numbers, None for NULL, from what a counterexample shows of them.

    >>> python_values((True, 3, False, 5))
    [None, 5]
    """
    pairs = zip(given[::2], given[1::2], strict=True)
    return [None if is_null else number for is_null, number in pairs]


def compared(a: Nullable, b: Nullable, holds: Callable[[Term, Term], Formula]) -> Term:
    """A comparison: NULL when a side is."""
    return z3.If(z3.Or(a[0], b[0]), NULL, truth(holds(a[1], b[1])))


def same_value(a: Nullable, b: Nullable) -> Formula:
    """IS NOT DISTINCT FROM: NULL is a value like any other."""
    return z3.Or(z3.And(a[0], b[0]), z3.And(z3.Not(a[0]), z3.Not(b[0]), a[1] == b[1]))


@theorem(
    statement="IS DISTINCT FROM is never NULL, an equivalence; COALESCE, NULLIF are CASEs of it",
    source="beyond the paper: SQL:2016 8.15, 6.12",
    wrong=(case_that_skips_false_alone, not_below_is_above),
)
def null_comparisons() -> Thm:
    p, q = shown("p q")
    a, b, c = nullables("a b c")
    variables = [each for value in (a, b, c) for each in value]
    eq = compared(a, b, lambda x, y: x == y)
    same, known = same_value(a, b), z3.And(z3.Not(a[0]), z3.Not(b[0]))
    opposites = [
        (
            f"NOT (a {sign} b) = a {opposite} b",
            negation(compared(a, b, holds)) == compared(a, b, holds_not),
        )
        for sign, opposite, holds, holds_not in (
            ("<", ">=", lambda x, y: x < y, lambda x, y: x >= y),
            ("<=", ">", lambda x, y: x <= y, lambda x, y: x > y),
            ("=", "<>", lambda x, y: x == y, lambda x, y: x != y),
        )
    ]
    laws = [
        *opposites,
        ("a IS NOT DISTINCT FROM a", same_value(a, a)),
        ("symmetric", same == same_value(b, a)),
        ("transitive", z3.Implies(z3.And(same, same_value(b, c)), same_value(a, c))),
        ("= where both are known", z3.Implies(known, eq == truth(same))),
        ("= is TRUE where both are known and same", (eq == TRUE) == z3.And(known, same)),
        ("= is not NULL where both are known", (eq == NULL) == z3.Not(known)),
    ]
    truths: list[tuple[str, Formula]] = [
        (
            "COALESCE(p, q) = CASE WHEN p IS NOT NULL THEN p ELSE q END",
            first_known(p, q) == chosen(truth(p != NULL), p, q),
        ),
        (
            "NULLIF(p, q) = CASE WHEN p = q THEN NULL ELSE p END",
            chosen(truth(p != q), p, NULL) == chosen(equal(p, q), NULL, p),
        ),
        ("CASE WHEN p = CASE WHEN p IS TRUE", chosen(p, q, p) == chosen(truth(p == TRUE), q, p)),
    ]
    return both(
        "NULL and comparisons",
        *[prove_for_all(name, variables, law) for name, law in laws],
        *[prove_for_all(name, [p, q], law) for name, law in truths],
    )


# ---------------------------------------------------------------- WHERE


class Where:
    """The rows of a table for which a condition is TRUE; the condition is any function of a row."""

    def __init__(self, rows: ZSets) -> None:
        self.rows = rows
        self.p, self.q = (fresh_symbol(name, rows.row, TRUTH) for name in "pq")

    def where(self, name: str, condition: Callable[[Term], Term]) -> Definition:
        return self.rows.pointwise(
            f"where {name}", lambda x, weight: if_then(condition(x) == TRUE, weight)
        )

    def conditions(self) -> dict[str, Definition]:
        """WHERE p and its kin."""
        p, q = self.p, self.q
        return {
            "p": self.where("p", p),
            "q": self.where("q", q),
            "NOT p": self.where("NOT p", lambda x: negation(p(x))),
            "p IS NULL": self.where("p IS NULL", lambda x: truth(p(x) == NULL)),
            "p AND q": self.where("p AND q", lambda x: conjunction(p(x), q(x))),
            "p OR q": self.where("p OR q", lambda x: disjunction(p(x), q(x))),
        }


CONDITION = ("p BOOLEAN", "q BOOLEAN")
WHERE_P, WHERE_NOT_P, WHERE_NOT_FALSE = (
    Run(Filter(each), (CONDITION[0],)) for each in (P, ~P, P.is_distinct_from(False))
)
WHERE_ONE, WHERE_OTHER, WHERE_EITHER = (
    Run(Filter(each), (", ".join(CONDITION),)) for each in (P, Q, P | Q)
)


def where_not_false() -> Counterexample:
    """A CHECK constraint in the place of WHERE: it lets NULL pass."""
    p, w = z3.Const("p", TRUTH), z3.Int("w")

    def replay(p: str, w: int) -> tuple[ZSet, ZSet]:
        table = row(w, VALUES[p])
        return WHERE_NOT_FALSE.over(table), WHERE_P.over(table)

    claim = if_then(p != FALSE, w) == if_then(p == TRUE, w)
    return refute("WHERE keeps what is not FALSE", claim, show=[p, w], replay=replay)


def where_or_counted_twice() -> Counterexample:
    p, q = shown("p q")
    w = z3.Int("w")

    def replay(p: str, q: str, w: int) -> tuple[ZSet, ZSet]:
        table = row(w, VALUES[p], VALUES[q])
        return WHERE_EITHER.over(table), WHERE_ONE.over(table) + WHERE_OTHER.over(table)

    claim = if_then(disjunction(p, q) == TRUE, w) == if_then(p == TRUE, w) + if_then(q == TRUE, w)
    name = "where (p OR q) = where p + where q"
    return refute(name, claim, show=[p, q, w], replay=replay)


@theorem(
    statement="where(p AND q) = where q of where p; where(p OR q) = where p + where q - both",
    source="beyond the paper: SQL:2016 7.12; DBSP (VLDB 2023) table 1",
    wrong=(where_not_false, where_or_counted_twice),
)
def where_keeps_true() -> Thm:
    it = Where(any_zsets("A"))
    rows, of = it.rows, it.conditions()
    a = rows.a
    known = [each for one in of.values() for each in one.equations]
    one, other, common = of["p"](a), of["q"](a), of["p AND q"](a)
    return both(
        "WHERE keeps what is TRUE",
        rows.equal("where(p AND q) = where q of where p", common, of["q"](one), [a], known),
        rows.equal(
            "where(p OR q) = where p + where q - where(p AND q)",
            of["p OR q"](a),
            rows.group.sub(rows.add(one, other), common),
            [a],
            known,
        ),
    )


def partition_in_two() -> Counterexample:
    """Rows for which p is NULL are in neither."""
    p, w = z3.Const("p", TRUTH), z3.Int("w")

    def replay(p: str, w: int) -> tuple[ZSet, ZSet]:
        table = row(w, VALUES[p])
        return WHERE_P.over(table) + WHERE_NOT_P.over(table), table

    claim = if_then(p == TRUE, w) + if_then(negation(p) == TRUE, w) == w
    return refute("where p + where NOT p = all", claim, show=[p, w], replay=replay)


@theorem(
    statement="where p + where NOT p + where p IS NULL = a; and Q of the three for linear Q",
    source="beyond the paper: ternary logic partitioning (Rigger and Su, OOPSLA 2020)",
    wrong=(partition_in_two,),
)
def where_partition() -> Thm:
    """What SQLancer tests engines with: it needs nothing of p but that it has a value."""
    it = Where(any_zsets("A"))
    rows, of = it.rows, it.conditions()
    a, add = rows.a, rows.add
    true, false, unknown = (of[name](a) for name in ("p", "NOT p", "p IS NULL"))
    known = [each for one in of.values() for each in one.equations]
    whole = rows.equal("a partition in three", add(add(true, false), unknown), a, [], known)
    target = any_zsets("B")
    q = fresh_symbol("Q", rows.sort, target.sort)
    linear = axiom("Q is linear", additive(rows.group, target.group, q))
    sums = [inst(linear, add(true, false), unknown), inst(linear, true, false)]
    goal = target.add(target.add(q(true), q(false)), q(unknown)) == q(a)
    parts = prove("Q, part by part", goal, [whole, *sums])
    return both("ternary partition", gen(whole, a), gen(parts, a))
