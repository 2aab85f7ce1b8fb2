"""Each operator says what SQL says, and its increment says the same about changes.

`oracle_*` compares with the meaning of the integrated input, recomputed at every tick;
`differential_*` compares an operator's own increment with the one its shape licenses.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from random import Random

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import Operator, Shape, increment_of_shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.query import Query, avg, count, max_, min_, sum_, table
from deltaproof.reference.scalar import array, col, lit
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.select import AggregateCall
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
)


def samples(kind: type[Operator]) -> Iterator[tuple[Operator, list[Schema]]]:
    random = Random(f"operators/{kind.name}")
    while True:
        schemas = [random.choice(SCHEMAS) for _ in range(kind.arity)]
        if operator := kind.sample(random, *schemas):
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


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_differential_own_increment_against_the_general_one(kind: type[Operator]) -> None:
    random = Random(f"differential/{kind.name}")
    for operator, schemas in islice(samples(kind), 60):
        own = operator.increment(*schemas)
        general = increment_of_shape(Shape.GENERAL, operator.meaning(*schemas), schemas)
        for _ in range(8):
            deltas = [delta(random, schema) for schema in schemas]
            assert own.step(*deltas) == general.step(*deltas), operator.label()
            own.commit()
            general.commit()


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_differential_the_increment_of_the_shape_against_the_general_one(
    kind: type[Operator],
) -> None:
    random = Random(f"shape/{kind.name}")
    for operator, schemas in islice(samples(kind), 20):
        meaning = operator.meaning(*schemas)
        own = increment_of_shape(operator.shape, meaning, schemas)
        general = increment_of_shape(Shape.GENERAL, meaning, schemas)
        for _ in range(5):
            deltas = [delta(random, schema) for schema in schemas]
            assert own.step(*deltas) == general.step(*deltas), operator.label()
            own.commit()
            general.commit()


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_state_is_empty_again_when_everything_was_taken_back(kind: type[Operator]) -> None:
    random = Random(f"baseline/{kind.name}")
    for operator, schemas in islice(samples(kind), 30):
        if isinstance(operator, Aggregate) and not operator.keys:
            continue  # its one row stays
        own = operator.increment(*schemas)
        baseline = repr(own.save())
        ticks = [[delta(random, schema) for schema in schemas] for _ in range(4)]
        for deltas in ticks + [[-change for change in deltas] for deltas in ticks]:
            own.step(*deltas)
            own.commit()
        assert repr(own.save()) == baseline, operator.label()


def test_every_declaration_is_complete() -> None:
    for kind in OPERATORS:
        assert "Shape" in (kind.__doc__ or ""), kind
        assert all((kind.name, kind.theorem, kind.source)), kind
        operator, schemas = next(samples(kind))
        assert operator.capabilities()
        assert type(operator).from_json(operator.to_json()) == operator
        assert operator.output(*schemas)
