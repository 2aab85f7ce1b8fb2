"""Each operator says what SQL says, and its increment says the same about changes.

`oracle_*` compares with the meaning of the integrated input, recomputed at every tick;
`differential_*` compares an operator's own increment with the one its shape licenses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from random import Random

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import Increment, Operator, Pairing, increment_of_shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.logic import Branch
from deltaproof.reference.query import Query, avg, count, max_, min_, quantile, sum_, table
from deltaproof.reference.scalar import array, col, lit
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.types import NAN, Row, Schema
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT")
S = table("s", "key BIGINT, name VARCHAR")


def answer(query: Query, **tables: dict[Row, int]) -> ZSet:
    schemas = query.tables()
    return query.meaning()({name: ZSet.of(schemas[name], rows) for name, rows in tables.items()})


def test_filter_drops_what_is_not_true() -> None:
    rows = {(1, 5): 2, (2, None): 1, (3, 1): -1}
    assert answer(T.filter(col("v") > 3), t=rows) == ZSet({(1, 5): 2})


def test_map_adds_the_weights_of_rows_that_become_equal() -> None:
    rows = {(1, 5): 2, (1, 6): 1, (2, 5): 1, (2, 6): -1}
    assert answer(T.project("k"), t=rows) == ZSet({(1,): 3})


def test_flat_map_counts_an_element_as_often_as_it_stands_there() -> None:
    query = T.flat_map(array(col("v"), col("v"), lit(0)), "e")
    assert answer(query, t={(1, 7): 2}) == ZSet({(1, 7, 7): 4, (1, 7, 0): 2})


def test_union_all_and_negate_make_the_difference_of_zsets() -> None:
    difference = T.union_all(T.filter(col("v") > 3).negate())
    assert answer(difference, t={(1, 5): 1, (2, 1): 1}) == ZSet({(2, 1): 1})


def test_join_multiplies_weights_and_null_matches_nothing() -> None:
    rows = {(1, 5): 2, (None, 6): 1}
    names = {(1, "a"): 3, (None, "b"): 1}
    joined = answer(T.join(S, on={"k": "key"}), t=rows, s=names)
    assert joined == ZSet({(1, 5, 1, "a"): 6})


def test_join_without_keys_is_the_cross_product() -> None:
    assert len(answer(T.join(S), t={(1, 1): 1, (2, 2): 1}, s={(1, "a"): 1, (2, "b"): 1})) == 4


def test_distinct_keeps_what_is_there_once() -> None:
    assert answer(T.distinct(), t={(1, 5): 3, (2, 5): -3, (None, None): 2}) == ZSet(
        {(1, 5): 1, (None, None): 1}
    )


EVERYTHING = {
    "n": count(),
    "c": count(col("v")),
    "s": sum_(col("v")),
    "m": avg(col("v")),
    "lo": min_(col("v")),
    "hi": max_(col("v")),
}


def test_aggregates_skip_null_and_group_null_keys_together() -> None:
    query = T.group_by("k").aggregate(**EVERYTHING)
    rows = {(1, 5): 2, (1, None): 1, (None, None): 1, (2, 0): 1}
    assert answer(query, t=rows) == ZSet(
        {
            (1, 3, 2, 10, 5.0, 5, 5): 1,
            (None, 1, 0, None, None, None, None): 1,
            (2, 1, 1, 0, 0.0, 0, 0): 1,
        }
    )


def test_an_aggregate_without_keys_has_a_row_over_nothing_from_the_first_tick_on() -> None:
    circuit = Circuit(T.aggregate(**EVERYTHING))
    nothing = ZSet({(0, 0, None, None, None, None): 1})
    assert circuit.step({})["view"] == nothing
    assert circuit.step({})["view"] == ZSet()
    circuit.step({"t": {(1, 1): 1}})
    circuit.step({"t": {(1, 1): -1}})
    assert circuit.contents()["view"] == nothing


def test_a_group_exists_when_its_total_weight_is_positive() -> None:
    query = T.group_by("k").aggregate(n=count(), hi=max_(col("v")))
    rows = {(1, 5): 1, (1, 9): -1, (2, 5): 2, (2, 9): -1}
    assert answer(query, t=rows) == ZSet({(2, 1, 5): 1})


def test_double_sums_are_exact_until_they_are_rounded_once() -> None:
    query = table("d", "x DOUBLE").aggregate(s=sum_(col("x")), m=avg(col("x")))
    circuit = Circuit(query)
    circuit.step({"d": {(1e16,): 1, (1.0,): 1, (0.1,): 1}})
    circuit.step({"d": {(1e16,): -1, (0.1,): -1}})
    assert circuit.contents()["view"] == ZSet({(1.0, 1.0): 1})


def test_infinity_and_nan_leave_a_double_sum_as_they_came() -> None:
    circuit = Circuit(table("d", "x DOUBLE").aggregate(s=sum_(col("x"))))
    sums = []
    for change in ({(float("inf"),): 1, (2.0,): 1}, {(float("-inf"),): 1}, {(float("inf"),): -1}):
        circuit.step({"d": change})
        ((row, _),) = circuit.contents()["view"].items()
        sums.append(row[0])
    assert sums == [float("inf"), NAN, float("-inf")]


def test_decimal_sums_keep_their_scale() -> None:
    query = table("d", "x DECIMAL(10,2)").aggregate(s=sum_(col("x")))
    ((row, _),) = answer(query, d={(Decimal("1.50"),): 3}).items()
    assert str(row[0]) == "4.50"
    assert str(query.schema) == "s DECIMAL(38,2)"


def test_a_sum_over_64_bits_is_an_error_that_names_the_group() -> None:
    circuit = Circuit(T.group_by("k").aggregate(s=sum_(col("v"))))
    with pytest.raises(EvaluationError, match=r"SUM\(v\) is 9223372036854775808.*group \(7,\)"):
        circuit.step({"t": {(7, 2**62): 2}})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: T.filter(col("nope") > 1), "unknown column 'nope': there are k, v"),
        (lambda: T.filter(col("v")), "expected a BOOLEAN predicate"),
        (lambda: T.filter(col("k") == 1), "expected an expression, got False"),  # type: ignore[arg-type, comparison-overlap]
        (lambda: T.map(k=1), "map: expected an expression, got 1: a column is col"),  # type: ignore[arg-type]
        (lambda: T.flat_map("v", "e"), "flat_map: expected an expression, got 'v'"),  # type: ignore[arg-type]
        (lambda: T.lag("p", col("v"), "v", default=0), "lag: expected an expression"),  # type: ignore[arg-type]
        (lambda: T.top_k(1, 1), "top_k: expected an expression, got 1"),  # type: ignore[arg-type]
        (lambda: T.temporal_filter(table("c", "n BIGINT"), 1), "expected an expression"),  # type: ignore[arg-type]
        (lambda: T.logic(Branch((("k", 1),))), "logic: expected an expression"),  # type: ignore[arg-type]
        (lambda: T.aggregate(n=1), r"n: expected a call such as count\(\), got 1"),  # type: ignore[arg-type]
        (lambda: T.rolling(Frame("rows", 1, 0), "v", n=1), "n: expected a call"),  # type: ignore[arg-type]
        (lambda: T.union_all("s"), "union_all: expected a query, got 's'"),  # type: ignore[arg-type]
        (lambda: T.join(S.prefix("s_"), on="k"), "expected keys as {left: right} or pairs"),  # type: ignore[arg-type]
        (lambda: T.asof_join(T, {}, "k", "v", strict=1), "strict True or False, got 1"),  # type: ignore[arg-type]
        (lambda: table("t", 3), "table 't': expected its columns, got 3"),  # type: ignore[arg-type]
        (lambda: T.aggregate(q=quantile(col("v"), "half")), 'a fraction like "0.9", got'),
        (lambda: T.aggregate(q=quantile(col("v"), "nan")), "a fraction is from 0 to 1, got NaN"),
        (lambda: T.join(T, on={"k": "k"}), "rename one"),
        (lambda: T.join(S, on={"k": "name"}), "keys must have one type"),
        (lambda: T.union_all(S), "same types in the same order"),
        (lambda: T.flat_map(col("v"), "e"), "expected an ARRAY"),
        (lambda: S.aggregate(s=sum_(col("name"))), "needs a number, got VARCHAR"),
        (lambda: T.aggregate(s=AggregateCall("median", col("v"))), "unknown function 'median'"),
    ],
)
def test_a_query_that_cannot_mean_anything_is_refused_when_it_is_built(
    build: object, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        build()  # type: ignore[operator]


SCHEMAS = (
    Schema.parse("a BIGINT, b BIGINT, c VARCHAR"),
    Schema.parse("x BIGINT, y DOUBLE, z DECIMAL(10,2)"),
    Schema.parse("k BIGINT, l BIGINT"),
)
CLOCK = Schema.parse("now BIGINT")
TICKS = 8


def samples(kind: type[Operator]) -> Iterator[tuple[Operator, list[Schema]]]:
    """Random instances, with the schemas of their inputs."""
    random = Random(f"operators/{kind.name}")
    while True:
        schemas = random.sample(SCHEMAS, kind.arity)
        if kind.arity == 2 and kind.pairing is Pairing.SAME_TYPES:
            schemas = schemas[:1] * 2
        if kind.arity == 2 and kind.pairing is Pairing.CLOCK:
            schemas = [schemas[0], CLOCK]
        operator = kind.sample(random, *schemas)
        if operator and "aggregate.single" not in operator.capabilities():  # an error more often
            yield operator, schemas


def delta(random: Random, schema: Schema) -> ZSet:
    """Up to four changes; values that meet."""
    rows = [
        tuple(
            None if random.random() < 0.2 else sample_value(random, kind) for kind in schema.types
        )
        for _ in range(random.randrange(5))
    ]
    return ZSet([(row, random.choice((-2, -1, 1, 1, 2))) for row in rows], schema)


def cases(
    kind: type[Operator], number: int
) -> Iterator[tuple[Operator, list[Schema], list[list[ZSet]]]]:
    """(an instance, its schemas, a stream per input) for which the operator has a value."""
    random = Random(f"cases/{kind.name}")
    found = 0
    for operator, schemas in samples(kind):
        streams = [[delta(random, schema) for _ in range(TICKS)] for schema in schemas]
        try:
            operator.over_time(*schemas)(*map(integrate, streams))
        except EvaluationError:
            continue
        yield operator, schemas, streams
        found += 1
        if found == number:
            return


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_oracle_the_increment_against_the_meaning_at_every_tick(kind: type[Operator]) -> None:
    for operator, schemas, streams in cases(kind, 60):
        contents = operator.over_time(*schemas)(*map(integrate, streams))
        assert run(operator.increment(*schemas), streams) == differentiate(contents), operator


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_differential_the_increment_of_the_shape_against_its_own(kind: type[Operator]) -> None:
    for operator, schemas, streams in cases(kind, 20):
        if operator.lifted:
            of_shape = increment_of_shape(operator.shape, operator.meaning(*schemas), schemas)
            own = operator.increment(*schemas)
            assert run(own, streams) == run(of_shape, streams), operator.label()


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_a_saved_state_goes_on_at_every_tick(kind: type[Operator]) -> None:
    for operator, schemas, streams in cases(kind, 10):
        whole, restarted = (operator.increment(*schemas) for _ in range(2))
        for deltas in zip(*streams, strict=True):
            assert restarted.step(*deltas) == whole.step(*deltas), operator.label()
            whole.commit()
            restarted.commit()
            saved = json.loads(json.dumps(restarted.save()))
            restarted = operator.increment(*schemas)
            restarted.restore(saved)


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_state_is_empty_again_when_everything_was_taken_back(kind: type[Operator]) -> None:
    for operator, schemas, streams in cases(kind, 30):
        if not operator.lifted or operator.meaning(*schemas)(*[ZSet((), s) for s in schemas]):
            continue  # what is due is not over; an aggregate without keys keeps its one row
        own = operator.increment(*schemas)
        baseline = repr(own.save())
        run(own, [stream + [-each for each in stream] for stream in streams])
        assert repr(own.save()) == baseline, operator.label()


def run(increment: Increment, streams: list[list[ZSet]]) -> list[ZSet]:
    outputs = []
    for deltas in zip(*streams, strict=True):
        outputs.append(increment.step(*deltas))
        increment.commit()
    return outputs


def test_every_declaration_is_complete() -> None:
    for kind in OPERATORS:
        assert "Shape" in (kind.__doc__ or ""), kind
        assert all((kind.name, kind.theorem, kind.source)), kind
        operator, schemas = next(samples(kind))
        known = {name for each in OPERATORS for name in each.all_capabilities()}
        assert set(kind.all_capabilities()) & set(operator.capabilities())
        assert set(operator.capabilities()) <= known
        assert type(operator).from_json(operator.to_json()) == operator
        assert operator.output(*schemas)
        assert operator.remembers()
