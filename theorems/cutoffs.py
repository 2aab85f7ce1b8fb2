"""What an operator does on small tables decides what it does on all of them.

    linear       two that agree on tables of one row agree
    bilinear     on pairs of them
    pointwise    on tables of one row, when a row's weights alone decide its weight
    grouped      on tables of one group, when a group's rows alone decide its results
    by order     on one choice of values for each way to order them, when only the order counts

So a run of the code on every weight of such tables is a run on all tables, if the code is of that
kind. That it is can be seen on symbolic runs too: `mentions` looks at which weights the output of
a row depends on, `of_group` runs the code on one group alone, and `Compared` values can be compared
and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product as product_of
from time import perf_counter
from typing import Any

import z3

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.set_operation import KINDS, SetOperation
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.forking import Enumerated, enumerated, prove_each, prove_paths
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    ProofError,
    Query,
    Symbol,
    Term,
    Thm,
    axiom,
    both,
    fresh_sort,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    refute,
    subterms,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.streams import additive, zero_of_additive
from deltaproof.theorems.symbolic import Stateless, Subject, cells, entries, subject_of
from deltaproof.theorems.zsets import INT, ZERO, ZSets, any_zsets, if_then

Function = Callable[[Term], Term]


# ---------------------------------------------------------------- linear and bilinear


def one_row(rows: ZSets, k: Term, w: Term) -> Term:
    """The table in which this row weighs this, and no other row anything."""
    return rows.zset(rows.lists.entry(k, w, rows.lists.none))


def weight_of_one_row(rows: ZSets) -> Thm:
    """∀ k w x. weight(one row, x) = w if x is k, else 0."""
    k, w, x = z3.Const("k", rows.row), z3.Int("w"), rows.x
    table = one_row(rows, k, w)
    listed = rows.lists.entry(k, w, rows.lists.none)
    known = [
        rows.weight.unfold(table, x),
        inst(rows.presented, listed, x),
        rows.lists.W.unfold(listed, x),
        rows.lists.W.unfold(rows.lists.none, x),
    ]
    goal = rows.weight(table, x) == if_then(k == x, w)
    return prove_for_all("what one row weighs", [k, w, x], goal, known)


@dataclass(frozen=True, eq=False)
class LinearPair:
    """Two linear functions and the theorem that they agree on tables of one row."""

    source: ZSets
    target: ZSets
    f: Function
    g: Function
    f_linear: Thm  # ∀ a b. f(a + b) = f(a) + f(b)
    g_linear: Thm
    agree: Thm  # ∀ k w. f(one row) = g(one row)

    def everywhere(self) -> Thm:
        """∀ a. f(a) = g(a), by induction over the entries of a."""
        source, lists, f, g = self.source, self.source.lists, self.f, self.g
        a = source.a

        def facts(case: Case) -> list[Thm]:
            return self.of_entry(case) if case.arguments else self.of_nothing()

        listed = induct(
            "f = g on every list of entries",
            lists.sort,
            lambda es: f(source.zset(es)) == g(source.zset(es)),
            facts=facts,
        )
        shown = source.equal(
            "a is what its entries weigh",
            source.zset(source.entries(a)),
            a,
            [],
            [*source.weight.equations, source.presented],
        )
        known = [inst(listed, source.entries(a)), shown]
        return prove_for_all("f(a) = g(a)", [a], f(a) == g(a), known)

    def of_nothing(self) -> list[Thm]:
        """f(0) = 0 = g(0)."""
        source, target = self.source, self.target
        zero = source.zero()
        return [
            source.zero.unfold(),
            *[
                zero_of_additive(name, source.group, target.group, h, inst(linear, zero, zero))
                for name, h, linear in (("f", self.f, self.f_linear), ("g", self.g, self.g_linear))
            ],
        ]

    def of_entry(self, case: Case) -> list[Thm]:
        """The list is its first entry and the rest, and both functions are linear there."""
        source, lists = self.source, self.source.lists
        k, w, rest = case.arguments
        first, others = one_row(source, k, w), source.zset(rest)
        split = source.equal(
            "the first entry and the rest",
            source.zset(case.term),
            source.add(first, others),
            [],
            [
                *source.weight.equations,
                source.presented,
                *lists.W.equations,
            ],
        )
        return [
            split,
            inst(self.f_linear, first, others),
            inst(self.g_linear, first, others),
            inst(self.agree, k, w),
        ]


def fresh_function(name: str, *inputs: ZSets, target: ZSets) -> Symbol:
    return fresh_symbol(name, *[each.sort for each in inputs], target.sort)
