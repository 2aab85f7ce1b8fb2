"""The general linear operator: every branch, in their order, and one after the other."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operators.logic import Branch, Logic, keeping
from deltaproof.reference.operators.test_streams import contents, meant, random_ticks
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.scalar import array, case, col, lit, null
from deltaproof.reference.stream import differentiate, integrate, lift
from deltaproof.reference.types import BIGINT, Schema
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT")
K, V = ("k", col("k")), ("v", col("v"))
SCHEMAS = [
    Schema.parse("k BIGINT, v BIGINT"),
    Schema.parse("k BIGINT NOT NULL, s VARCHAR, x DOUBLE"),
    Schema.parse("element BIGINT, d DATE"),
]


def sampled(seed: int, rows: Schema) -> Logic:
    logic = Logic.sample(Random(seed), rows)
    assert logic is not None
    return logic


def streams(schema: Schema, seed: int) -> list[ZSet]:
    """The contents of a table of this schema, tick by tick."""
    ticks = random_ticks(Random(seed), {"t": schema})
    return integrate([ZSet.of(schema, tick.get("t", {})) for tick in ticks])


def logic(*branches: Branch) -> Query:
    return T.logic(*branches)


def test_every_branch_makes_something_of_every_row() -> None:
    both = logic(Branch((K,), where=col("v") > 3), Branch((("k", col("v")),)))
    assert contents(both, [{"t": {(1, 5): 2, (2, 1): 1}}]) == [ZSet({(1,): 3, (5,): 2})]


def test_a_weight_is_a_factor_and_null_counts_as_zero() -> None:
    weighed = logic(Branch((K,), weight=col("v")))
    rows = {(1, 3): 2, (2, -1): 1, (3, 0): 1, (4, None): 1}
    assert contents(weighed, [{"t": rows}]) == [ZSet({(1,): 6, (2,): -1})]


def test_a_branch_with_a_delay_puts_out_later() -> None:
    now_and_then = logic(Branch((K,)), Branch((K,), weight=lit(-1), delay=2))
    shown = contents(now_and_then, [{"t": {(1, 1): 1}}, {}, {}, {}])
    assert shown == [ZSet({(1,): 1}), ZSet({(1,): 1}), ZSet(), ZSet()]


def test_an_element_hides_a_column_of_its_name() -> None:
    hides = logic(Branch((K, V), unnest=("v", array(col("v"), lit(0)))))
    assert contents(hides, [{"t": {(1, 5): 1}}]) == [ZSet({(1, 5): 1, (1, 0): 1})]


def test_columns_are_computed_of_rows_that_are_left_only() -> None:
    guarded = logic(Branch((("q", col("k") % col("v")),), where=col("v").ne(0)))
    assert contents(guarded, [{"t": {(7, 0): 1, (7, 4): 1}}]) == [ZSet({(3,): 1})]
    weighed = logic(Branch((("q", col("k") % col("v")),), weight=col("v")))
    assert contents(weighed, [{"t": {(7, 0): 1, (7, 4): 1}}]) == [ZSet({(3,): 4})]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("restarts", [False, True], ids=["", "restarting"])
def test_oracle_logic(schema: Schema, restarts: bool) -> None:
    for seed in range(60):
        query = table("t", schema).logic(*sampled(seed, schema).branches)
        ticks = random_ticks(Random(seed), query.tables())
        assert contents(query, ticks, restarts) == meant(query, ticks)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_one_logic_followed_by_another_is_what_both_do(schema: Schema) -> None:
    composed = 0
    for seed in range(200):
        first = sampled(seed, schema)
        between = first.output(schema)
        second = sampled(1000 + seed, between)
        together = first.followed_by(second)
        if together is None:
            assert all(any(b.unnest for b in each.branches) for each in (first, second))
            continue
        composed += 1
        assert together.output(schema).types == second.output(between).types
        stream = streams(schema, seed)
        apart = second.over_time(between)(first.over_time(schema)(stream))
        assert together.over_time(schema)(stream) == apart
    assert composed > 150


def test_the_second_condition_is_not_asked_of_rows_that_the_first_drops() -> None:
    first = keeping(T.schema, where=col("v") > 0)
    second = keeping(T.schema, where=(col("k") % col("v")).eq(0))
    together = first.followed_by(second)
    assert together is not None
    answer = T.logic(*together.branches)
    rows = {(6, 0): 1, (6, None): 1, (6, 3): 1, (7, 3): 1}
    assert contents(answer, [{"t": rows}]) == [ZSet({(6, 3): 1})]


def test_a_composition_renames_an_element_that_would_hide_a_column() -> None:
    first = Logic((Branch((("a", col("element")),)),))
    second = Logic(
        (Branch((("a", col("a")), ("b", col("element"))), unnest=("element", array(1, 2))),)
    )
    together = first.followed_by(second)
    assert together is not None
    rows = Schema.parse("element BIGINT")
    assert together.meaning(rows)(ZSet({(7,): 1})) == ZSet({(7, 1): 1, (7, 2): 1})


def test_a_logic_without_a_delay_is_its_own_increment() -> None:
    for seed in range(50):
        operator = sampled(seed, T.schema)
        stream = streams(T.schema, seed)
        if operator.lifted:
            increment = operator.increment(T.schema)
            deltas = differentiate(stream)
            meaning = operator.meaning(T.schema)
            assert [increment.step(d) for d in deltas] == lift(meaning)(deltas)
            assert increment.save() is None


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_logic_comes_back_from_json(schema: Schema) -> None:
    for seed in range(100):
        operator = sampled(seed, schema)
        assert Logic.from_json(operator.to_json()) == operator


def test_what_a_row_adds_and_takes_later_leaves_no_state() -> None:
    query = logic(Branch((K,), delay=1), Branch((K,), weight=lit(-1), delay=3))
    increment = query.operators()[0].increment(T.schema)
    for delta in (ZSet({(1, 1): 1}), ZSet({(1, 1): -1}), ZSet(), ZSet(), ZSet()):
        increment.step(delta)
        increment.commit()
    assert increment.save() == []


@pytest.mark.parametrize(
    ("branches", "says"),
    [
        ((), "a branch or more"),
        ((Branch((K,)), Branch((V,))), "the same columns"),
        ((Branch((K,), weight=col("k").eq(1)),), "expected BIGINT"),
        ((Branch((K,), where=col("k")),), "expected BOOLEAN"),
        ((Branch((K,), delay=-1),), "a delay of 0 ticks or more"),
        ((Branch((K,), unnest=("e", col("k"))),), "expected an ARRAY to unnest"),
        ((Branch((K,), unnest=(1, array(col("k")))),), "the name of an element, got 1"),  # type: ignore[arg-type]  # on purpose
    ],
)
def test_logic_refuses_what_does_not_fit(branches: Any, says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        logic(*branches)


def test_a_column_that_may_be_null_in_one_branch_may_be_null() -> None:
    query = logic(Branch((("a", lit(1)),)), Branch((("a", null(BIGINT)),)))
    assert str(query.schema) == "a BIGINT"


def test_a_failed_row_names_the_logic_and_changes_nothing() -> None:
    query = logic(Branch((("q", 1 % col("v")),), delay=1)).group_by("q").aggregate(n=count())
    circuit = Circuit(query)
    circuit.step({"t": {(1, 5): 1}})
    with pytest.raises(EvaluationError, match=r"tick 2, logic 1 % v AS q DELAY 1"):
        circuit.step({"t": {(1, 0): 1}})
    assert circuit.step({})["view"] == ZSet({(1, 1): 1})


def test_weights_may_depend_on_the_row() -> None:
    sign = case((col("v") > 0, lit(1)), default=lit(-1))
    query = logic(Branch((K,), weight=sign))
    assert contents(query, [{"t": {(1, 5): 2, (1, -5): 3, (2, None): 1}}]) == [
        ZSet({(1,): -1, (2,): -1})
    ]
