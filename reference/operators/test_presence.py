"""Set operations, semi, anti and outer joins: what is there, and what matches.

`oracle_*` compares a circuit with the meaning of the integrated input at every tick;
`differential_*` compares an operator's own increment with the one its shape licenses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice, product
from random import Random
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Operator, increment_of_shape
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.set_operation import KINDS, SetOperation
from deltaproof.reference.query import Query, apply, table
from deltaproof.reference.scalar import Expr, col, lit, sample_value
from deltaproof.reference.store import Index
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

FAMILY = (SetOperation, Positive, SemiJoin, OuterJoin, AsofJoin)
SCHEMAS = (
    Schema.parse("a BIGINT, b BIGINT, c VARCHAR"),
    Schema.parse("x BIGINT, y DOUBLE"),
    Schema.parse("p BIGINT, q BIGINT, r VARCHAR"),
)
T = table("t", "k BIGINT, v BIGINT")
S = table("s", "key BIGINT, w BIGINT")
MATCH = {"k": "key"}
Delta = dict[Row, int]


def samples(kind: type[Operator]) -> Iterator[Query]:
    """Random instances of the operator, over two tables."""
    random = Random(f"presence/{kind.name}")
    while True:
        schemas = [random.choice(SCHEMAS) for _ in range(kind.arity)]
        if operator := kind.sample(random, *schemas):
            yield apply(operator, *[table(f"t{n}", each) for n, each in enumerate(schemas)])


def random_delta(random: Random, schema: Schema) -> ZSet:
    """Up to four changes of both signs, of rows that meet."""
    rows = [
        tuple(
            None if random.random() < 0.2 else sample_value(random, kind) for kind in schema.types
        )
        for _ in range(random.choice((0, 0, 1, 2, 4)))
    ]
    return ZSet([(row, random.choice((-2, -1, 1, 1, 1, 2))) for row in rows], schema)


def random_ticks(seed: str, query: Query, ticks: int) -> list[dict[str, ZSet]]:
    random = Random(seed)
    tables = query.tables().items()
    return [{name: random_delta(random, each) for name, each in tables} for _ in range(ticks)]


def view(query: Query, **tables: Delta) -> ZSet:
    return query.meaning()({name: ZSet(rows) for name, rows in tables.items()})


def outputs(query: Query, *ticks: dict[str, Any]) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in ticks]


# --- three witnesses ---


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.name)
def test_oracle_the_view_is_the_meaning_of_the_tables_at_every_tick(kind: type[Operator]) -> None:
    for number, query in enumerate(islice(samples(kind), 120)):
        circuit, meaning = Circuit(query), query.meaning()
        tables = {name: ZSet((), schema) for name, schema in query.tables().items()}
        for tick in random_ticks(f"oracle/{number}", query, 10):
            circuit.step(tick)
            tables = {name: rows + tick[name] for name, rows in tables.items()}
            assert circuit.contents()["view"] == meaning(tables), str(query)


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.name)
def test_differential_own_increment_against_the_one_of_the_shape(kind: type[Operator]) -> None:
    for number, query in enumerate(islice(samples(kind), 120)):
        (operator,) = query.operators()
        schemas = [each.schema for each in query.inputs]
        own = operator.increment(*schemas)
        plain = increment_of_shape(operator.shape, operator.meaning(*schemas), schemas)
        for tick in random_ticks(f"differential/{number}", query, 10):
            deltas = [tick[each.label()] for each in query.inputs]
            assert own.step(*deltas) == plain.step(*deltas), operator.label()
            own.commit()
            plain.commit()


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.name)
def test_a_restored_circuit_continues_as_if_nothing_had_happened(kind: type[Operator]) -> None:
    for number, query in enumerate(islice(samples(kind), 60)):
        circuit = Circuit(query)
        for tick in random_ticks(f"restore/{number}", query, 8):
            restored = Circuit.restore(query, circuit.checkpoint())
            assert restored.step(tick) == circuit.step(tick), str(query)
            circuit = restored


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.name)
def test_state_is_empty_once_everything_was_taken_away(kind: type[Operator]) -> None:
    for number, query in enumerate(islice(samples(kind), 60)):
        (operator,) = query.operators()
        own = operator.increment(*[each.schema for each in query.inputs])
        empty = json.dumps(own.save())
        ticks = random_ticks(f"empty/{number}", query, 6)
        for sign, tick in product((1, -1), ticks):
            own.step(*[tick[each.label()].scale(sign) for each in query.inputs])
            own.commit()
        assert json.dumps(own.save()) == empty, operator.label()
        assert not remembered(own), operator.label()


def remembered(increment: Any) -> list[Any]:
    """What the presences of an increment still keep."""
    presences = getattr(increment, "presences", None) or [getattr(increment, "presence", None)]
    kept = [getattr(each, name, {}) for each in presences for name in ("totals", "match")]
    return [each for each in kept if each]


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.name)
def test_an_operator_survives_its_json(kind: type[Operator]) -> None:
    for query in islice(samples(kind), 40):
        written = json.loads(json.dumps(query.to_json()))
        assert Query.from_json(written, query.tables()) == query


# --- set operations, row by row ---


@pytest.mark.parametrize(
    ("kind", "a", "b", "weight"),
    [
        ("union", 2, 3, 1),
        ("union", -1, 1, 0),
        ("union", -1, 2, 1),
        ("intersect", 2, 3, 1),
        ("intersect", 2, -3, 0),
        ("except", 2, 0, 1),
        ("except", 2, 1, 0),
        ("except", 2, -1, 1),
        ("except", -2, 0, 0),
        ("intersect_all", 2, 3, 2),
        ("intersect_all", 3, 2, 2),
        ("intersect_all", -2, -3, 0),
        ("except_all", 3, 1, 2),
        ("except_all", 1, 3, 0),
        ("except_all", 2, -3, 2),
        ("except_all", -2, -3, 0),
    ],
)
def test_a_set_operation_makes_one_weight_of_two(kind: str, a: int, b: int, weight: int) -> None:
    operator = SetOperation(kind)
    row = (1, 2)
    combined = operator.meaning(T.schema, T.schema)(ZSet({row: a}), ZSet({row: b}))
    assert combined == ZSet({row: weight})


@pytest.mark.parametrize("kind", KINDS)
def test_no_weights_make_a_row_of_nothing(kind: str) -> None:
    assert KINDS[kind](0, 0) == 0


def test_law_the_lesser_of_two_weights_without_a_branch() -> None:
    for a, b in product(range(-3, 4), repeat=2):
        assert KINDS["intersect_all"](a, b) == max(0, min(a, b))
        assert KINDS["except_all"](a, b) == max(0, max(a, 0) - max(b, 0))


def test_set_operations_take_nulls_for_equal() -> None:
    nulls = {(None, None): 2}
    assert view(T.intersect(S), t=nulls, s=nulls) == ZSet({(None, None): 1})
    assert view(T.except_(S, all=True), t=nulls, s={(None, None): 1}) == ZSet({(None, None): 1})


def test_positive_shows_a_row_once_what_was_owed_is_paid() -> None:
    first, second, third = outputs(
        T.positive(), {"t": {(1, 1): -1}}, {"t": {(1, 1): 3}}, {"t": {(1, 1): -1}}
    )
    assert not first
    assert second == ZSet({(1, 1): 2})
    assert third == ZSet({(1, 1): -1})


def test_a_set_operation_takes_the_names_of_the_left_and_the_nulls_of_both() -> None:
    left = table("l", "a BIGINT NOT NULL, b BIGINT NOT NULL")
    right = table("r", "c BIGINT NOT NULL, d BIGINT")
    assert str(left.union(right).schema) == "a BIGINT NOT NULL, b BIGINT"


# --- semi and anti join ---


def test_the_second_match_of_a_row_changes_nothing() -> None:
    row = (1, 7)
    changes = outputs(
        T.semi_join(S, on=MATCH),
        {"t": {row: 2}, "s": {(1, 1): 1}},
        {"s": {(1, 2): 1}},
        {"s": {(1, 1): -1}},
        {"s": {(1, 2): -1}},
    )
    assert changes == [ZSet({row: 2}), ZSet(), ZSet(), ZSet({row: -2})]


def test_an_anti_join_keeps_rows_with_a_null_key() -> None:
    left, right = {(None, 1): 1, (1, 1): 1}, {(None, 1): 1, (1, 1): 1}
    assert view(T.anti_join(S, on=MATCH), t=left, s=right) == ZSet({(None, 1): 1})
    assert not view(T.semi_join(S, on=MATCH), t={(None, 1): 1}, s=right)


def test_not_in_keeps_nothing_once_the_list_has_a_null() -> None:
    not_in = T.anti_join(S, residual=col("k").eq(col("key")).is_distinct_from(lit(False)))
    rows = {(1, 0): 1, (2, 0): 1, (None, 0): 1}
    changes = outputs(
        not_in, {"t": rows}, {"s": {(1, 0): 1}}, {"s": {(None, 0): 1}}, {"s": {(None, 0): -1}}
    )
    assert changes == [
        ZSet(rows),
        ZSet({(1, 0): -1, (None, 0): -1}),
        ZSet({(2, 0): -1}),
        ZSet({(2, 0): 1}),
    ]


def test_a_key_is_present_when_its_total_weight_is_above_zero() -> None:
    cancelling = {(1, 1): 1, (1, 2): -1}
    assert not view(T.semi_join(S, on=MATCH), t={(1, 0): 1}, s=cancelling)
    assert view(T.anti_join(S, on=MATCH), t={(1, 0): 1}, s=cancelling) == ZSet({(1, 0): 1})


def test_a_residual_counts_the_rows_it_is_true_of() -> None:
    later = T.semi_join(S, on=MATCH, residual=col("v") < col("w"))
    changes = outputs(
        later,
        {"t": {(1, 5): 1, (1, 8): 1, (1, None): 1}, "s": {(1, 7): 1}},
        {"s": {(1, 9): 1}},
        {"s": {(1, 7): -1}},
    )
    assert changes == [ZSet({(1, 5): 1}), ZSet({(1, 8): 1}), ZSet()]


def test_a_table_may_be_joined_with_itself_where_no_condition_names_its_columns() -> None:
    assert T.semi_join(T, on={"k": "v"}).schema == T.schema
    with pytest.raises(SchemaError, match="two columns are called"):
        T.semi_join(T, on={"k": "v"}, residual=col("k") < col("v"))


def test_a_match_that_does_not_cross_zero_reads_no_row_of_the_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    increment = SemiJoin((("k", "key"),)).increment(T.schema, S.schema)
    increment.step(ZSet({(1, v): 1 for v in range(1000)}), ZSet({(1, 1): 1}))
    increment.commit()
    monkeypatch.setattr(Index, "of", lambda self, key: pytest.fail(f"read all rows of {key}"))
    assert not increment.step(ZSet(), ZSet({(1, 2): 1}))


@pytest.mark.parametrize(("went", "came"), [("t", "s"), ("s", "t")])
@pytest.mark.parametrize("join", [Query.semi_join, Query.anti_join, Query.full_join])
def test_a_residual_is_not_asked_of_a_row_that_goes_and_one_that_comes(
    join: Callable[..., Query], went: str, came: str
) -> None:
    query = join(T, S, on={"k": "key"}, residual=lit(9) % (col("v") - col("w")) > 1)
    circuit = Circuit(query)
    circuit.step({went: {(1, 5): 1}})
    circuit.step({went: {(1, 5): -1}, came: {(1, 5): 1}})
    assert circuit.contents()["view"] == query.meaning()({came: ZSet({(1, 5): 1})})


def test_a_residual_is_asked_of_the_delta_and_the_rows_of_its_keys() -> None:
    operator = SemiJoin((("k", "key"),), residual=col("v") < col("w"))
    increment: Any = operator.increment(T.schema, S.schema)
    rows = {(k, v): 1 for k in range(100) for v in range(3)}
    increment.step(ZSet(rows), ZSet(rows))
    increment.commit()
    asked: list[tuple[Row, Row]] = []
    matches = increment.presence.matches

    def counting(row: Row, other: Row) -> bool:
        asked.append((row, other))
        return bool(matches(row, other))

    increment.presence.matches = counting
    assert increment.step(ZSet({(7, 8): 1}), ZSet({(7, 9): 1})) == ZSet({(7, 2): 1, (7, 8): 1})
    assert len(asked) == 7  # the new row of the left with 3, that of the right with 3 + 1


# --- outer joins ---


def test_a_match_takes_the_place_of_the_nulls() -> None:
    changes = outputs(
        T.left_join(S, on=MATCH),
        {"t": {(1, 5): 2}},
        {"s": {(1, 7): 1}},
        {"s": {(1, 8): 1}},
        {"s": {(1, 7): -1, (1, 8): -1}},
    )
    assert changes == [
        ZSet({(1, 5, None, None): 2}),
        ZSet({(1, 5, None, None): -2, (1, 5, 1, 7): 2}),
        ZSet({(1, 5, 1, 8): 2}),
        ZSet({(1, 5, None, None): 2, (1, 5, 1, 7): -2, (1, 5, 1, 8): -2}),
    ]


def test_each_kind_of_join_pads_its_own_side() -> None:
    left: Delta = {(1, 5): 1, (None, 6): 1}
    right: Delta = {(2, 7): 1, (None, 8): 1}
    lefts: Delta = {(1, 5, None, None): 1, (None, 6, None, None): 1}
    rights: Delta = {(None, None, 2, 7): 1, (None, None, None, 8): 1}
    assert view(T.left_join(S, on=MATCH), t=left, s=right) == ZSet(lefts)
    assert view(T.right_join(S, on=MATCH), t=left, s=right) == ZSet(rights)
    assert view(T.full_join(S, on=MATCH), t=left, s=right) == ZSet({**lefts, **rights})


def test_a_pair_that_looks_like_a_padded_row_adds_to_it() -> None:
    nothing_known = T.left_join(S, residual=col("k").eq(1) & col("w").is_null())
    changes = outputs(
        nothing_known,
        {"t": {(1, 0): 1, (2, 0): 1}, "s": {(None, None): 3}},
        {"s": {(None, None): -3}},
    )
    assert changes == [
        ZSet({(1, 0, None, None): 3, (2, 0, None, None): 1}),
        ZSet({(1, 0, None, None): -2}),
    ]


def test_padded_columns_may_be_null() -> None:
    left = table("l", "a BIGINT NOT NULL")
    right = table("r", "b BIGINT NOT NULL")
    on = {"a": "b"}
    assert str(left.left_join(right, on).schema) == "a BIGINT NOT NULL, b BIGINT"
    assert str(left.right_join(right, on).schema) == "a BIGINT, b BIGINT NOT NULL"
    assert str(left.full_join(right, on).schema) == "a BIGINT, b BIGINT"


# --- errors ---


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (SetOperation("minus"), "unknown kind 'minus': there are union, intersect"),
        (SemiJoin((("k", "nope"),)), "unknown column 'nope': there are key, name"),
        (SemiJoin((("k", "name"),)), "semi join: keys must have one type"),
        (SemiJoin((), col("v") + 1, anti=True), "anti join: expected a BOOLEAN residual"),
        (SemiJoin((), "v > 1"), "semi join: expected an expression as residual"),  # type: ignore[arg-type]
        (OuterJoin("outer", ()), "unknown kind 'outer': there are left, right, full"),
        (OuterJoin("left", (("k", "name"),)), "left join: keys must have one type"),
    ],
)
def test_what_does_not_fit_is_refused(operator: Operator, message: str) -> None:
    other = Schema.parse("key BIGINT, name VARCHAR")
    with pytest.raises(SchemaError, match=message):
        operator.output(T.schema, other)


def test_inputs_of_other_types_have_no_union() -> None:
    with pytest.raises(SchemaError, match="intersect all: both inputs must have the same types"):
        T.intersect(T.project("k"), all=True)


@pytest.mark.parametrize("kind", [SetOperation, SemiJoin, OuterJoin])
@pytest.mark.parametrize("broken", [{}, {"kind": "x"}, {"kind": []}, {"on": 1}, {"anti": 1}])
def test_broken_arguments_are_refused(kind: type[Operator], broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        kind.from_json(broken)


def test_labels_say_the_condition() -> None:
    condition: Expr = col("v") < col("w")
    assert T.anti_join(S, MATCH, condition).label() == "anti join k = key AND v < w"
    assert T.left_join(S, residual=condition).label() == "left join v < w"
    assert T.except_(S, all=True).label() == "except all"
