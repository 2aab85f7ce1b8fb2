"""Wrong variants of the Spark forms: a word or two of the SQL that they write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, replaced
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.spark_backend import engine
from deltaproof.spark_backend.lowering import Lowering, Relation
from deltaproof.spark_backend.operators import FORMS, aggregate, distinct, join


@contextmanager
def form_replaced(kind: type[Operator], wrong: Any) -> Iterator[None]:
    """While this lasts, the operator has the wrong form."""
    with replaced(engine, "FORMS", {**RIGHT, kind: wrong}):
        yield


def filter_keeps_null(operator: Filter, rows: Relation, lowering: Lowering) -> Relation:
    predicate = lowering.scalars(rows.schema)(operator.predicate)
    kept = f"SELECT * FROM {rows.name} WHERE COALESCE({predicate}, TRUE)"
    return replace(rows, name=lowering.define(kept))


def filter_lets_retractions_pass(operator: Filter, rows: Relation, lowering: Lowering) -> Relation:
    predicate = lowering.scalars(rows.schema)(operator.predicate)
    kept = f"SELECT * FROM {rows.name} WHERE _weight < 0 OR {predicate}"
    return replace(rows, name=lowering.define(kept))


def union_feeds_one_source_once(
    operator: UnionAll, left: Relation, right: Relation, lowering: Lowering
) -> Relation:
    if left == right:
        return left
    return RIGHT[UnionAll](operator, left, right, lowering)


def negate_forgets_the_sign(operator: Negate, rows: Relation, lowering: Lowering) -> Relation:
    return rows


RIGHT = dict(FORMS)


def zero_when_empty(argument: aggregate.Argument, result: str) -> str:
    return f"IF({argument.weight} > 0, {result}, 0)"


def mutant(name: str, edit: str, source: str, cell: str, plant: Any) -> Mutant:
    operator, _, kind = cell.partition("@")
    return Mutant(name, edit, source, "spark", (operator, kind), plant)


MUTANTS: tuple[Mutant, ...] = (
    mutant(
        "filter_keeps_null",
        "a predicate that is NULL keeps the row",
        "TanStack/db#1254",
        "filter@null",
        lambda: form_replaced(Filter, filter_keeps_null),
    ),
    mutant(
        "filter_lets_retractions_pass",
        "the predicate is tested on insertions only",
        "flink#27371",
        "filter@update",
        lambda: form_replaced(Filter, filter_lets_retractions_pass),
    ),
    mutant(
        "union_feeds_one_source_once",
        "t UNION ALL t is fed once",
        "turso#5734",
        "union_all@insert",
        lambda: form_replaced(UnionAll, union_feeds_one_source_once),
    ),
    mutant(
        "negate_forgets_the_sign",
        "deletions arrive downstream as insertions",
        "turso#8293",
        "negate@insert",
        lambda: form_replaced(Negate, negate_forgets_the_sign),
    ),
    mutant(
        "join_pairs_too_early",
        "a pair is there when its first row arrives",
        "differential-dataflow#24",
        "join.inner@insert",
        lambda: replaced(join, "pair_tick", lambda: "LEAST(a._tick, b._tick) AS _tick"),
    ),
    mutant(
        "join_takes_one_weight",
        "the weights of one side are taken for one",
        "pg_ivm#82",
        "join.inner@duplicate",
        lambda: replaced(join, "pair_weight", lambda: "a._weight AS _weight"),
    ),
    mutant(
        "join_meets_the_past_twice",
        "lines of the past are filed as new",
        "pg-trickle#18",
        "join.inner@churn",
        lambda: replaced(join, "LEFT_PART", "EXPLODE(ARRAY(0, 1))"),
    ),
    mutant(
        "distinct_keeps_weights",
        "a row that is there twice is put out twice",
        "ddlog#306",
        "distinct@duplicate",
        lambda: replaced(distinct, "presence", lambda weight: f"({weight})"),
    ),
    mutant(
        "distinct_takes_negative_for_present",
        "a row is there when its weight is not zero",
        "the convention of TanStack/db",
        "distinct@signed",
        lambda: replaced(distinct, "presence", lambda weight: f"IF({weight} <> 0, 1L, 0L)"),
    ),
    mutant(
        "aggregate_keeps_emptied_groups",
        "an emptied group keeps a row of zeros",
        "openivm@3b0f283",
        "aggregate.count@empty-out",
        lambda: replaced(aggregate, "group_exists", lambda: "TRUE"),
    ),
    mutant(
        "aggregate_sum_is_zero_over_nothing",
        "SUM over NULLs is 0",
        "risingwave#7412",
        "aggregate.sum@null",
        lambda: replaced(aggregate, "unless_empty", zero_when_empty),
    ),
    mutant(
        "aggregate_keeps_the_cached_extremum",
        "MIN and MAX look at values whose last row was deleted",
        "flink#9120",
        "aggregate.min@delete",
        lambda: replaced(aggregate, "if_present", lambda value: value),
    ),
)
