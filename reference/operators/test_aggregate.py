"""Every aggregate function says what SQL says, and follows the changes of its groups.

`oracle_*` compares with the meaning of the integrated input at every tick; `differential_*` with
the increment that the shape licenses.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from time import perf_counter

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import Operator, Shape, increment_of_shape
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.aggregate_functions import ALL_CAPABILITIES
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.query import (
    Query,
    arg_max,
    arg_min,
    array_agg,
    avg,
    bool_and,
    bool_or,
    count,
    max_,
    median,
    min_,
    quantile,
    single,
    stddev,
    sum_,
    table,
    variance,
)
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import DECIMAL, NAN, Row, Schema, Value
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT, x DOUBLE, d DECIMAL(10,2), s VARCHAR, b BOOLEAN")
ROWS = T.columns
K, V, X, D, S, B = (col(name) for name in ROWS.names)
DOMAINS: tuple[tuple[Value, ...], ...] = (
    (0, 1, None),
    (0, 1, -5, 7, None),
    (0.0, 0.5, -1.25, 1e16, math.inf, -math.inf, NAN, None),
    (Decimal("0.00"), Decimal("1.50"), Decimal("-0.01"), None),
    ("", "a", "b", None),
    (True, False, None),
)
CALLS: dict[str, AggregateCall] = {
    "rows_where": count(where=V > 0),
    "count_distinct": count(S, distinct=True),
    "count_distinct_where": count(V, distinct=True, where=X > 0.0),
    "sum_distinct": sum_(V, distinct=True),
    "sum_distinct_double": sum_(X, distinct=True),
    "sum_distinct_decimal": sum_(D, distinct=True),
    "avg_distinct": avg(D, distinct=True),
    "avg_where": avg(V, where=S.eq("a")),
    "min_distinct": min_(V, distinct=True),
    "max_where": max_(X, where=B),
    "var_pop": variance(V, population=True),
    "var_samp": variance(D),
    "var_double": variance(X, where=V > 0),
    "stddev_pop": stddev(X, population=True),
    "stddev_samp": stddev(V),
    "and": bool_and(B),
    "or": bool_or(B, where=V > 0),
    "arg_min": arg_min(S, V),
    "arg_max": arg_max(V, X),
    "arg_max_where": arg_max(D, S, where=B),
    "values": array_agg(X),
    "texts": array_agg(S, where=V > 0),
    "median": median(V),
    "quantile": quantile(X, "0.9"),
    "quantile_decimal": quantile(D, "0.25"),
}


def answer(call: AggregateCall, *rows: Row, query: Query = T) -> Value:
    """The result over these rows, each there once."""
    (schema,) = query.tables().values()
    given = ZSet([(row, 1) for row in rows], schema)
    ((result, *_),) = query.aggregate(a=call).meaning()({"t": given})
    return result


def row(v: Value = None, x: Value = None, s: Value = None, b: Value = None) -> Row:
    return (1, v, x, None, s, b)


def test_filter_lets_only_what_is_true_in() -> None:
    rows = [row(1, s="a"), row(2, s="b"), row(4), row(None, s="a")]
    assert answer(sum_(V, where=S.eq("a")), *rows) == 1
    assert answer(count(where=S.eq("a")), *rows) == 2
    assert answer(sum_(V, where=S.eq("z")), *rows) is None


def test_distinct_takes_a_value_once_however_often_it_is_there() -> None:
    rows = [row(2), row(2), row(2, s="a"), row(5), row(None)]
    assert answer(count(V, distinct=True), *rows) == 2
    assert answer(sum_(V, distinct=True), *rows) == 7
    assert answer(avg(V, distinct=True), *rows) == 3.5


def test_variance_and_stddev_are_those_of_the_exact_numbers() -> None:
    values = [1e16, 1.0, 0.5, -3.25]
    rows = [row(x=value) for value in values]
    assert answer(variance(X), *rows) == statistics.variance(values)
    assert answer(variance(X, population=True), *rows) == statistics.pvariance(values)
    assert answer(stddev(X), *rows) == math.sqrt(statistics.variance(values))


def test_variance_of_one_value_is_zero_over_the_population_and_null_of_a_sample() -> None:
    assert answer(variance(V, population=True), row(3)) == 0.0
    assert answer(variance(V), row(3)) is None
    assert answer(stddev(V, population=True)) is None
    assert answer(variance(X), row(x=math.inf), row(x=1.0)) is NAN


def test_bool_and_is_null_over_nothing_and_skips_null() -> None:
    assert answer(bool_and(B)) is None
    assert answer(bool_and(B), row(b=None), row(b=True)) is True
    assert answer(bool_and(B), row(b=False), row(b=True)) is False
    assert answer(bool_or(B), row(b=False), row(b=None)) is False


def test_arg_min_takes_the_least_argument_of_a_tie_and_arg_max_the_greatest() -> None:
    rows = [row(1, s="b"), row(1, s="a"), row(2, s="c"), row(0, s=None), row(None, s="z")]
    assert answer(arg_min(S, V), *rows) == "a"
    assert answer(arg_max(S, V), *rows) == "c"
    assert answer(arg_max(S, V), *rows[:2]) == "b"
    assert answer(arg_max(S, V), *rows[3:]) is None


def test_array_agg_is_in_order_and_null_over_nothing() -> None:
    rows = [row(x=NAN), row(x=2.0), row(x=None), row(x=-1.0), row(x=2.0, v=1)]
    assert answer(array_agg(X), *rows) == (-1.0, 2.0, 2.0, NAN)
    assert answer(array_agg(X), row(x=None)) is None


def test_quantiles_go_straight_from_one_value_to_the_next() -> None:
    rows = [row(1), row(2), row(4), row(10)]
    assert [answer(quantile(V, fraction), *rows) for fraction in ("0", "0.5", "0.9", "1")] == [
        1.0,
        3.0,
        8.2,
        10.0,
    ]
    assert answer(median(V), row(2**62), row(2**62 + 2)) == float(2**62 + 1)
    assert answer(median(X), row(x=-math.inf), row(x=0.0)) is NAN
    assert answer(median(X), row(x=-math.inf), row(x=-math.inf)) == -math.inf
    assert answer(quantile(X, "0.25"), row(x=1.0), row(x=math.inf)) == math.inf
    assert answer(median(V)) is None


@pytest.mark.parametrize("fraction", ["0", "0.5", "1"])
def test_a_quantile_is_null_again_once_its_values_went(fraction: str) -> None:
    circuit = Circuit(T.aggregate(q=quantile(V, fraction)))
    circuit.step({"t": {row(5): 1, row(7): 1}})
    circuit.step({"t": {row(5): -1, row(7): -1}})
    assert circuit.contents()["view"] == ZSet({(None,): 1})


def test_single_is_the_value_of_the_only_row() -> None:
    assert answer(single(V)) is None
    assert answer(single(V), row(5)) == 5
    assert answer(single(V), row(None)) is None
    assert answer(single(V, where=V > 1), row(1), row(5)) == 5
    with pytest.raises(EvaluationError, match=r"SINGLE\(v\): a scalar subquery gave 2 rows"):
        answer(single(V), row(None), row(5))


def test_single_fails_the_tick_and_the_next_one_works() -> None:
    circuit = Circuit(T.aggregate(only=single(V)))
    circuit.step({"t": {row(5): 1}})
    for two in ({row(5): 1}, {row(7): 1}):
        with pytest.raises(EvaluationError, match="gave 2 rows"):
            circuit.step({"t": two})
    circuit.step({"t": {row(5): -1, row(7): 1}})
    assert circuit.contents()["view"] == ZSet({(7,): 1})


def test_a_value_is_present_when_its_total_weight_is_positive() -> None:
    query = T.aggregate(n=count(V, distinct=True), least=min_(V), every=array_agg(V))
    given = ZSet({row(3): 2, row(3, s="a"): -1, row(1): -1, row(2): 1, row(2, s="a"): -1})
    assert query.meaning()({"t": given}) == ZSet({(1, 3, (3,)): 1})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (bool_and(V), "needs a BOOLEAN, got BIGINT"),
        (variance(S), "needs a number, got VARCHAR"),
        (count(where=V), "FILTER needs a BOOLEAN condition, got BIGINT"),
        (AggregateCall("array_agg", V, distinct=True), "array_agg has no DISTINCT"),
        (AggregateCall("arg_min", V), "say by what"),
        (AggregateCall("min", V, by=X), "say by what"),
        (AggregateCall("quantile", V), "has a fraction"),
        (quantile(V, "1.5"), "a fraction is from 0 to 1"),
        (AggregateCall("sum"), "sum needs an argument"),
    ],
)
def test_a_call_that_cannot_mean_anything_is_refused(call: AggregateCall, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        T.aggregate(a=call)


def test_a_rollup_tells_null_in_the_data_from_a_key_that_is_not_there() -> None:
    query = T.rollup("k", "s", grouping="g").aggregate(n=count())
    given = ZSet({(1, 5, None, None, None, None): 2, (1, 5, None, None, "a", None): 1})
    assert query.meaning()({"t": given}) == ZSet(
        {(1, None, 2, 0): 1, (1, "a", 1, 0): 1, (1, None, 3, 1): 1, (None, None, 3, 3): 1}
    )
    assert str(query.schema) == "k BIGINT, s VARCHAR, n BIGINT NOT NULL, g BIGINT NOT NULL"


def test_the_empty_set_has_a_row_at_every_tick() -> None:
    circuit = Circuit(T.cube("k").aggregate(n=count()))
    assert circuit.step({})["view"] == ZSet({(None, 0): 1})
    circuit.step({"t": {row(5): 1}})
    assert circuit.contents()["view"] == ZSet({(None, 1): 1, (1, 1): 1})
    circuit.step({"t": {row(5): -1}})
    assert circuit.contents()["view"] == ZSet({(None, 0): 1})


def test_rows_of_two_sets_that_look_alike_are_two_rows() -> None:
    query = T.grouping_sets(["k"], ["k"], []).aggregate(n=count())
    given = ZSet({(None, 5, None, None, None, None): 1})
    assert query.meaning()({"t": given}) == ZSet({(None, 1): 3})


@pytest.mark.parametrize(
    ("sets", "message"),
    [((), "at least one set"), ((["k", "k"],), "names a key twice"), ((["z"],), "unknown column")],
)
def test_grouping_sets_that_cannot_mean_anything_are_refused(
    sets: tuple[list[str], ...], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        T.grouping_sets(*sets).aggregate(n=count())


# --- witnesses over random streams ---


def deltas(seed: str, ticks: int) -> Iterator[ZSet]:
    """Weights of both signs, NULLs, deletes of what is not there, empty ticks."""
    random = Random(seed)
    gone: list[tuple[Row, int]] = []
    for _ in range(ticks):
        entries = [
            (tuple(map(random.choice, DOMAINS)), random.choice((-2, -1, 1, 1, 1, 2)))
            for _ in range(random.randrange(5))
        ]
        entries += [gone.pop(random.randrange(len(gone))) for _ in range(len(gone) // 3)]
        gone += [(changed, -weight) for changed, weight in entries]
        yield ZSet(entries, ROWS)


OPERATORS: dict[str, Operator] = {
    **{name: Aggregate(("k",), (("a", call),)) for name, call in CALLS.items()},
    "all, without keys": Aggregate((), tuple(CALLS.items())),
    "all, by two keys": Aggregate(("s", "k"), tuple(CALLS.items())),
    "grouping sets": GroupingSets(
        (("k", "s"), (), ("s",)), (("n", count()), ("m", median(V)), ("c", CALLS["values"])), "g"
    ),
}


@pytest.mark.parametrize("name", list(OPERATORS))
def test_oracle_and_differential(name: str) -> None:
    operator = OPERATORS[name]
    meaning = operator.meaning(ROWS)
    for seed in range(8):
        own = operator.increment(ROWS)
        general = increment_of_shape(Shape.GENERAL, meaning, [ROWS])
        before = view = ZSet()
        for delta in deltas(f"{name}/{seed}", 12):
            output = own.step(delta)
            assert output == general.step(delta)
            own.commit()
            general.commit()
            before, view = before + delta, view + output
            assert view == meaning(before)


@pytest.mark.parametrize("name", list(OPERATORS))
def test_a_checkpoint_is_all_that_is_needed_to_go_on(name: str) -> None:
    own, other = (OPERATORS[name].increment(ROWS) for _ in range(2))
    for delta in deltas(name, 10):
        saved = json.loads(json.dumps(own.save()))
        other.clear()
        other.restore(saved)
        assert own.step(delta) == other.step(delta)
        own.commit()


@pytest.mark.parametrize("name", [name for name in OPERATORS if name in CALLS])
def test_state_is_empty_again_when_everything_was_taken_back(name: str) -> None:
    own = OPERATORS[name].increment(ROWS)
    ticks = list(deltas(name, 6))
    for delta in ticks + [-delta for delta in ticks]:
        own.step(delta)
        own.commit()
    assert own.save() == []


def test_operators_come_back_from_json_as_they_were() -> None:
    for operator in OPERATORS.values():
        saved = json.loads(json.dumps(operator.to_json()))
        assert type(operator).from_json(saved) == operator
    assert Aggregate.from_json({"keys": [], "aggregates": [["n", "count_star", None]]}) == (
        Aggregate((), (("n", count()),))
    )


@pytest.mark.parametrize(
    "saved",
    [
        ["n", "count"],
        ["n", "count", None, {"often": True}],
        ["n", "count", None, {"distinct": 1}],
        ["n", "quantile", None, {"fraction": "half"}],
        ["n", 3, None],
    ],
)
def test_broken_json_is_refused(saved: list[object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Aggregate.from_json({"keys": [], "aggregates": [saved]})


def test_samples_reach_every_capability() -> None:
    random = Random(3)
    found: set[str] = set()
    for _ in range(1500):
        for kind in (Aggregate, GroupingSets):
            if operator := kind.sample(random, ROWS):
                operator.output(ROWS)
                found |= set(operator.capabilities())
    assert found == {*ALL_CAPABILITIES, "grouping_sets"}


WORK = ("count_distinct", "var_pop", "arg_min", "median")


@pytest.mark.parametrize("name", WORK)
def test_work_follows_the_change_and_not_the_group(name: str) -> None:
    """One group a hundred times as large, the same changes: not ten times the time."""

    def seconds(size: int) -> float:
        own = Aggregate((), (("a", CALLS[name]),)).increment(ROWS)
        scale = DECIMAL(10, 2)
        rows: list[Row] = [
            (1, n, float(n), scale.from_units(n % 9999), f"{n:06}", True) for n in range(size)
        ]
        own.step(ZSet([(each, 1) for each in rows], ROWS))
        own.commit()
        best = math.inf
        for n in range(40):
            change = ZSet([(rows[(7 * n + m) % size], -1) for m in range(10)], ROWS)
            start = perf_counter()
            own.step(change)
            own.commit()
            best = min(best, perf_counter() - start)
        return best

    assert seconds(100_000) < 10 * seconds(1_000)


def test_the_schema_says_the_type_of_every_result() -> None:
    schema: Schema = T.aggregate(**CALLS).schema
    kinds = {column.name: str(column.type) for column in schema.columns}
    assert kinds["sum_distinct_decimal"] == "DECIMAL(38,2)"
    assert kinds["values"] == "ARRAY(DOUBLE)"
    assert kinds["arg_max_where"] == "DECIMAL(10,2)"
    assert kinds["median"] == kinds["var_samp"] == "DOUBLE"
