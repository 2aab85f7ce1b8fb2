"""What is drawn is valid, meets what it should meet, and shrinks to what one would write."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from deltaproof.properties import strategies
from deltaproof.properties.strategies import (
    Choices,
    bags,
    delta_streams,
    operators,
    queries,
    rows,
    schemas,
    subjects,
    table_streams,
    types,
    values,
    zsets,
)
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.query import Query
from deltaproof.reference.stream import integrate
from deltaproof.reference.types import Schema, Type
from deltaproof.reference.zset import ZSet

K = Schema.parse("k BIGINT NOT NULL")


@given(st.data(), schemas())
def test_a_row_is_canonical_for_its_schema(data: st.DataObject, schema: Schema) -> None:
    row = data.draw(rows(schema))
    assert schema.row(row) == row


@given(st.data(), schemas())
def test_the_rows_of_a_zset_are_canonical_for_its_schema(
    data: st.DataObject, schema: Schema
) -> None:
    zset = data.draw(zsets(schema))
    assert ZSet.of(schema, zset.items()) == zset


@given(st.data(), schemas())
def test_the_sum_of_an_unsigned_stream_is_a_table_at_every_tick(
    data: st.DataObject, schema: Schema
) -> None:
    (stream,) = data.draw(delta_streams(schema, signed=False))
    assert all(table.is_positive() for table in integrate(stream))


@given(st.data(), schemas())
def test_a_bag_has_positive_weights(data: st.DataObject, schema: Schema) -> None:
    assert data.draw(bags(schema)).is_positive()


@given(st.data(), queries(depth=3))
def test_a_query_can_be_evaluated_on_streams_of_its_tables(
    data: st.DataObject, query: Query
) -> None:
    ticks = data.draw(table_streams(query.tables(), ticks=2))
    for result in query.over_time()(ticks):
        assert ZSet.of(query.schema, result.items()) == result


@pytest.mark.parametrize("kind", strategies.TYPES, ids=str)
def test_every_type_is_drawn(kind: Type) -> None:
    assert find(types(), lambda drawn: drawn == kind) == kind


@pytest.mark.parametrize("kind", strategies.TYPES, ids=str)
def test_null_is_drawn_only_where_it_may_be(kind: Type) -> None:
    assert find(values(kind, nullable=True), lambda value: value is None) is None
    with pytest.raises(NoSuchExample):
        find(values(kind), lambda value: value is None)


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_every_kind_of_operator_is_drawn(kind: type[Operator]) -> None:
    subject = find(subjects(kind), lambda drawn: True)
    assert isinstance(subject.operator, kind)


def test_a_row_that_comes_back_shrinks_to_one_row() -> None:
    def comes_back(streams: tuple[list[ZSet], ...]) -> bool:
        before, gone, back, _ = integrate(streams[0])
        return bool(before and not gone and back)

    (stream,) = find(delta_streams(K), comes_back)
    assert [len(delta) for delta in stream] == [1, 1, 1, 0]


def test_an_operator_shrinks_to_a_simple_one() -> None:
    def has_min(drawn: Operator) -> bool:
        return "aggregate.min" in drawn.capabilities()

    smallest = find(operators(Aggregate, K), has_min)
    assert len(smallest.label()) <= len("aggregate COUNT(*) AS a0, MIN(k) AS a1 BY k")


def test_a_join_of_three_tables_shrinks_to_little_else() -> None:
    def two_joins(query: Query) -> bool:
        return sum(isinstance(each, Join) for each in query.operators()) == 2

    smallest = find(queries(depth=2), two_joins, settings=settings(max_examples=2000))
    assert len(smallest.operators()) <= 4  # two joins, and renaming for each


def test_queries_put_operators_above_and_below_each_other() -> None:
    pairs: Counter[tuple[str, str]] = Counter()

    @settings(max_examples=40)
    @given(st.data())
    def count(data: st.DataObject) -> None:
        for kind in OPERATORS:
            query = data.draw(queries(depth=2, root=kind))
            for below in query.inputs:
                pairs.update((kind.name, each.name) for each in _top(below))

    count()
    every = {kind.name for kind in OPERATORS}
    assert {above for above, _ in pairs} == every
    assert {below for _, below in pairs} == every
    assert len(pairs) >= 0.4 * len(OPERATORS) ** 2  # the rest is a matter of more examples


def _top(query: Query) -> list[Operator]:
    """The operator at the top of a query; none for a table."""
    return query.operators()[-1:]


def test_zeros_choose_what_is_simplest() -> None:
    choices = Choices(bytes(8))
    assert choices.choice("abc") == "a"
    assert choices.randint(1, 3) == 1
    assert not choices.random() < 0.9


def test_choices_go_on_when_the_bytes_are_used_up() -> None:
    assert sorted(Choices(b"").sample(range(100), 3)) == [0, 1, 2]


def test_a_union_is_drawn_of_two_tables_and_of_one() -> None:
    union = queries(depth=1, root=UnionAll)
    assert set(find(union, lambda query: len(query.tables()) == 2).tables()) == {"t0", "t1"}
    assert set(find(union, lambda query: len(query.tables()) == 1).tables()) == {"t0"}
