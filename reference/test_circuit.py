"""The runtime keeps views, tick by tick, and a tick is all or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import (
    CheckpointError,
    EvaluationError,
    RowError,
    SchemaError,
    TickError,
    WeightError,
)
from deltaproof.reference.query import Query, count, min_, sum_, table
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

ORDERS = table("orders", "id BIGINT, customer VARCHAR, amount BIGINT")
NAMES = table("names", "customer_id VARCHAR, name VARCHAR")
JOINED = ORDERS.join(NAMES, on={"customer": "customer_id"})
TOTALS = JOINED.group_by("name").aggregate(n=count(), total=sum_(col("amount")))

Tick = dict[str, dict[Row, Any]]
TICKS: list[Tick] = [
    {"orders": {(1, "x", 5): 1, (2, "y", 7): 1}, "names": {("x", "Xenia"): 1}},
    {"names": {("y", "Yves"): 1}, "orders": {(3, "y", 1): 1}},
    {},
    {"orders": {(1, "x", 5): -1}, "names": {("y", "Yves"): -1}},
    {"names": {("y", "Yvonne"): 1}},
]


def test_both_sides_of_a_join_may_change_in_one_tick() -> None:
    circuit = Circuit(TOTALS)
    outputs = [circuit.step(tick)["view"] for tick in TICKS]
    assert outputs == [
        ZSet({("Xenia", 1, 5): 1}),
        ZSet({("Yves", 2, 8): 1}),
        ZSet(),
        ZSet({("Xenia", 1, 5): -1, ("Yves", 2, 8): -1}),
        ZSet({("Yvonne", 2, 8): 1}),
    ]
    assert circuit.contents()["view"] == ZSet({("Yvonne", 2, 8): 1})


def test_views_share_what_they_have_in_common() -> None:
    circuit = Circuit({"totals": TOTALS, "joined": JOINED, "again": TOTALS})
    assert len(circuit._nodes) == 2
    outputs = circuit.step(TICKS[0])
    assert outputs["totals"] == outputs["again"] == ZSet({("Xenia", 1, 5): 1})
    assert outputs["joined"] == ZSet({(1, "x", 5, "x", "Xenia"): 1})


def test_a_row_may_be_deleted_before_it_is_inserted() -> None:
    circuit = Circuit(ORDERS.project("customer").distinct())
    assert circuit.step({"orders": {(1, "x", 5): -1}})["view"] == ZSet()
    assert circuit.step({"orders": {(1, "x", 5): 1}})["view"] == ZSet()
    assert circuit.step({"orders": {(1, "x", 5): 1}})["view"] == ZSet({("x",): 1})


def test_a_checkpoint_at_any_tick_changes_nothing() -> None:
    query = TOTALS.union_all(JOINED.group_by("name").aggregate(n=count(), lo=min_(col("amount"))))
    straight = Circuit(query)
    expected = [straight.step(tick) for tick in TICKS]
    for stop in range(len(TICKS) + 1):
        circuit = Circuit(query)
        outputs = [circuit.step(tick) for tick in TICKS[:stop]]
        circuit = Circuit.restore(query, circuit.checkpoint())
        outputs += [circuit.step(tick) for tick in TICKS[stop:]]
        assert outputs == expected
        assert circuit.contents() == straight.contents()


def test_a_keyless_aggregate_restored_before_the_first_tick_still_shows_its_row() -> None:
    query = ORDERS.aggregate(n=count())
    circuit = Circuit.restore(query, Circuit(query).checkpoint())
    assert circuit.step({})["view"] == ZSet({(0,): 1})


@pytest.mark.parametrize(
    ("tick", "error", "message"),
    [
        ({"nope": {}}, TickError, "unknown table 'nope': there are orders, names"),
        ({"orders": {(1, "x"): 1}}, RowError, "tick 2, table orders: expected 3 values"),
        ({"orders": {(1, "x", 5): 1.5}}, WeightError, "expected an integer weight, got float 1.5"),
        ({"orders": {(1, 2, 5): 1}}, RowError, "column customer: expected VARCHAR, got int 2"),
        ({"orders": {(8, "x", 2**62): 2}}, EvaluationError, "tick 2, aggregate .* over 64 bits"),
    ],
)
def test_a_tick_that_fails_changes_nothing(
    tick: Tick, error: type[Exception], message: str
) -> None:
    circuit = Circuit(TOTALS)
    circuit.step(TICKS[0])
    before = circuit.checkpoint()
    with pytest.raises(error, match=message):
        circuit.step({"names": {("x", "Other"): 1}} | tick)
    assert circuit.checkpoint() == before
    assert circuit.step(TICKS[1])["view"] == ZSet({("Yves", 2, 8): 1})


def test_division_by_zero_names_the_operator_and_leaves_the_state() -> None:
    circuit = Circuit(ORDERS.map(share=lit(10) / col("amount")))
    circuit.step({"orders": {(1, "x", 5): 1}})
    with pytest.raises(EvaluationError, match="tick 2, map"):
        circuit.step({"orders": {(1, "x", 0): 1}})
    assert circuit.contents()["view"] == ZSet({(2.0,): 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "JSON text"),
        (None, "JSON text"),
        ("[]", "has ticks, views"),
        (
            json.dumps(json.loads(Circuit(TOTALS).checkpoint()) | {"nodes": None, "ticks": 1}),
            "broken",
        ),
        (Circuit(JOINED).checkpoint(), "other views"),
        (
            json.dumps(json.loads(Circuit(TOTALS).checkpoint()) | {"deltaproof_checkpoint": 9}),
            "version",
        ),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(text: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        Circuit.restore(TOTALS, text)


@pytest.mark.parametrize(
    ("query", "node", "message"),
    [
        (ORDERS.aggregate(n=count()), [[[], ["zz"], []]], r"group \(\): expected its sums"),
        (ORDERS.aggregate(n=count()), [[[], [], []]], r"group \(\): expected its sums"),
        (ORDERS.aggregate(n=min_(col("id"))), [[[], [1], [[[5, "1"]]]]], "an integer weight"),
        (
            ORDERS.semi_join(NAMES, {"customer": "customer_id"}),
            [[], [[["x"], "1"]]],
            "integer weight",
        ),
        (ORDERS.per_group(["id"], ORDERS.project("amount")), [[[[]], [None]]], "rows of one group"),
    ],
)
def test_a_state_that_is_none_of_the_operator_is_refused(
    query: Query, node: Any, message: str
) -> None:
    circuit = Circuit(query)
    circuit.step({})
    broken = json.loads(circuit.checkpoint()) | {"nodes": [node]}
    with pytest.raises(CheckpointError, match=message):
        Circuit.restore(query, json.dumps(broken))


def test_a_query_comes_back_from_json_as_it_was() -> None:
    tables = TOTALS.tables()
    assert type(TOTALS).from_json(TOTALS.to_json(), tables) == TOTALS


def test_work_per_tick_follows_the_delta_not_the_state() -> None:
    """The rows that a join looks at are those that match; counted, not timed."""
    circuit = Circuit(JOINED)
    circuit.step({"orders": {(n, f"c{n}", n): 1 for n in range(2_000)}})
    looked_at = 0

    class Counting(dict):  # type: ignore[type-arg]
        def items(self):  # type: ignore[no-untyped-def]
            nonlocal looked_at
            looked_at += len(self)
            return super().items()

    (_, node) = circuit._nodes[-1]
    index = node.increment.left  # type: ignore[attr-defined]
    index.rows = {key: Counting(bucket) for key, bucket in index.rows.items()}
    circuit.step({"names": {("c7", "Seven"): 1}})
    assert looked_at == 1


def test_two_views_may_not_give_one_table_two_schemas() -> None:
    other = table("orders", "id VARCHAR")
    with pytest.raises(SchemaError, match="'orders' has two schemas"):
        Circuit({"one": ORDERS.distinct(), "two": other.distinct()})


@pytest.mark.parametrize("delta", [None, 7, [1], ["abc"]])
def test_what_is_no_delta_is_refused(delta: Any) -> None:
    circuit = Circuit(JOINED)
    with pytest.raises((TickError, RowError), match="tick 1, table orders"):
        circuit.step({"orders": delta})


@pytest.mark.parametrize("deltas", [None, [1], {1: 2}.items()])
def test_a_tick_is_deltas_by_table(deltas: Any) -> None:
    with pytest.raises(TickError, match="tick 1: expected deltas by table, got"):
        Circuit(JOINED).step(deltas)


def test_a_zset_with_a_schema_holds_only_rows_of_it() -> None:
    with pytest.raises(RowError, match="column id: expected BIGINT, got str"):
        ZSet({("oops", "x", 1): 1}, ORDERS.schema)
    mixed = ZSet({(1, "x", 1): 1}, ORDERS.schema) + ZSet({("oops",): 1})
    assert mixed.schema is None
