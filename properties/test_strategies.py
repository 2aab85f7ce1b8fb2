"""What is drawn is valid, meets what it should meet, and shrinks to what one would write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from deltaproof.properties.decode import TYPES, Choices, domain
from deltaproof.properties.killers import HUGE_WEIGHTS, killer_domain
from deltaproof.properties.strategies import (
    bags,
    delta_streams,
    operators,
    queries,
    rows,
    schemas,
    streams,
    subjects,
    types,
    values,
    views,
    zsets,
)
from deltaproof.reference.errors import EvaluationError, UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.query import Query
from deltaproof.reference.stream import integrate
from deltaproof.reference.types import BIGINT, BOOLEAN, Column, Schema, Type
from deltaproof.reference.zset import ZSet

T = TypeVar("T")

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
    (stream,) = data.draw(streams(schema, signed=False))
    assert all(table.is_positive() for table in integrate(stream))


@given(st.data(), schemas())
def test_a_bag_has_positive_weights(data: st.DataObject, schema: Schema) -> None:
    assert data.draw(bags(schema)).is_positive()


@given(st.data(), queries(depth=3))
def test_a_query_can_be_evaluated_on_streams_of_its_tables(
    data: st.DataObject, query: Query
) -> None:
    ticks = data.draw(delta_streams(query.tables(), ticks=2, killers=False))
    for result in query.over_time()(ticks):
        assert ZSet.of(query.schema, result.items()) == result


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_is_drawn(kind: Type) -> None:
    assert find(types(), lambda drawn: drawn == kind) == kind


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_null_is_drawn_only_where_it_may_be(kind: Type) -> None:
    assert find(values(kind, nullable=True), lambda value: value is None) is None
    with pytest.raises(NoSuchExample):
        find(values(kind), lambda value: value is None)


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.name)
def test_every_kind_of_operator_is_drawn(kind: type[Operator]) -> None:
    subject = find(subjects(kind), lambda drawn: True)
    assert isinstance(subject.operator, kind)


def test_a_row_that_comes_back_shrinks_to_one_row() -> None:
    def comes_back(drawn: tuple[list[ZSet], ...]) -> bool:
        before, gone, back, _ = integrate(drawn[0])
        return bool(before and not gone and back)

    (stream,) = find(streams(K), comes_back)
    assert [len(delta) for delta in stream] == [1, 1, 1, 0]


def rows_in(ticks: list[dict[str, ZSet]]) -> int:
    return sum(len(delta) for tick in ticks for delta in tick.values())


TABLES = {"t": "k BIGINT NOT NULL, v VARCHAR", "s": "k BIGINT NOT NULL, x DOUBLE"}


def test_both_sides_of_a_join_in_one_tick_shrink_to_two_rows() -> None:
    def both_sides(ticks: list[dict[str, ZSet]]) -> bool:
        return any({row[0] for row in tick["t"]} & {row[0] for row in tick["s"]} for tick in ticks)

    smallest = find(delta_streams(TABLES), both_sides)
    assert rows_in(smallest) == 2
    assert all(row[0] == 0 for tick in smallest for delta in tick.values() for row in delta)


def test_a_group_that_is_emptied_while_another_stays_shrinks_to_three_rows() -> None:
    def emptied(ticks: list[dict[str, ZSet]]) -> bool:
        groups = [{row[0] for row in z} for z in integrate([tick["t"] for tick in ticks])]
        return any(before - after and after for before, after in pairwise(groups))

    assert rows_in(find(delta_streams(TABLES, signed=False), emptied)) == 3


def test_a_view_whose_increment_forgets_a_retraction_shrinks_to_three_rows() -> None:
    """The query and its ticks are shrunk together, by what the view shows."""

    def differs(view: tuple[Query, list[dict[str, ZSet]]]) -> bool:
        query, ticks = view
        try:
            right = query.over_time()(integrals(ticks))
            inserts = [{name: as_inserts(delta) for name, delta in tick.items()} for tick in ticks]
            return right != query.over_time()(integrals(inserts))
        except EvaluationError:
            return False

    query, ticks = find(views(2, root=Aggregate, signed=False), differs)
    assert rows_in(ticks) <= 3
    assert len(query.operators()) == 1


def as_inserts(delta: ZSet) -> ZSet:
    return ZSet({row: weight for row, weight in delta.items() if weight > 0}, delta.schema)


def integrals(ticks: list[dict[str, ZSet]]) -> list[dict[str, ZSet]]:
    contents = [integrate([tick[name] for tick in ticks]) for name in ticks[0]]
    return [dict(zip(ticks[0], tables, strict=True)) for tables in zip(*contents, strict=True)]


def test_an_operator_shrinks_to_a_simple_one() -> None:
    def has_min(drawn: Operator) -> bool:
        return "aggregate.min" in drawn.capabilities()

    smallest = find(operators(K, kind=Aggregate), has_min)
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


def drawn(strategy: SearchStrategy[T], examples: int = 400) -> list[T]:
    found: list[T] = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != BOOLEAN], ids=str)
def test_values_that_broke_engines_are_a_share_or_all_or_none(kind: Type) -> None:
    broke = {repr(value) for value in killer_domain(kind)}
    never_plain = broke - {repr(value) for value in domain(kind, False)}

    def share(strategy: SearchStrategy[object], of: set[str]) -> float:
        found = drawn(strategy)
        return sum(repr(value) in of for value in found) / len(found)

    for strategy in (values(kind), rows_of_one(kind)):
        assert 0.01 < share(strategy, never_plain) < 0.25
    assert share(values(kind, killers=True), broke) == 1
    assert share(values(kind, killers=False), never_plain) == 0


def rows_of_one(kind: Type) -> SearchStrategy[object]:
    return rows(Schema((Column("k", kind, False),))).map(lambda row: row[0])


def test_one_history_in_eight_is_of_killers_and_every_second_of_them_has_huge_weights() -> None:
    least = min(killer_domain(BIGINT)[2:], key=abs)
    histories = drawn(delta_streams({"t": K}), 1000)
    far = [
        any(abs(row[0]) >= abs(least) for tick in each for row in tick["t"]) for each in histories
    ]
    huge = [
        any(weight >= min(HUGE_WEIGHTS) for tick in each for _, weight in tick["t"].items())
        for each in histories
    ]
    assert 0.04 < sum(far) / len(far) < 0.2
    assert 0.02 < sum(huge) / len(huge) < 0.12
    bags = drawn(delta_streams({"t": K}, signed=False, killers=True))
    assert all(w < 1000 for each in bags for tick in each for _, w in tick["t"].items())


def test_a_case_with_a_killer_shrinks_to_a_plain_one_where_it_need_not_be() -> None:
    assert find(zsets(K), bool) == ZSet({(0,): 1})
    assert find(zsets(K, killers=True), bool) == ZSet({(0,): 1})


def test_few_views_have_no_value() -> None:
    """Over 64-bit extremes a sum has none; the share of such cases is what drawing them costs."""

    def has_value(view: tuple[Query, list[dict[str, ZSet]]]) -> bool:
        query, ticks = view
        try:
            query.over_time()(integrals(ticks))
        except EvaluationError:
            return False
        return True

    seen = [has_value(view) for view in drawn(views(2))]
    assert sum(seen) >= 0.95 * len(seen)


def test_any_operator_that_fits_is_drawn() -> None:
    two = Schema.parse("a BIGINT, b VARCHAR"), Schema.parse("c BIGINT, d VARCHAR")
    names = {operator.name for operator in drawn(operators(*two))}
    assert names >= {"join", "semi_join", "union_all", "outer_join", "set_operation"}
    assert {operator.arity for operator in drawn(operators(*two), 50)} == {2}
    assert len({operator.name for operator in drawn(operators())}) >= 20


def test_an_operator_of_somebody_else_is_drawn_as_ours_are() -> None:
    class Twice(UnionAll):
        name = "twice"

    assert type(find(operators(K, K, kind=Twice), lambda operator: True)) is Twice
    query = find(queries(root=Twice), lambda query: True)
    assert type(query.operators()[-1]) is Twice
    (only,) = find(queries(1, kinds=[Twice]), lambda query: bool(query.operators())).operators()
    assert type(only) is Twice


def test_queries_are_over_the_tables_that_are_given() -> None:
    query, ticks = find(views(1, Join, {"a": "x BIGINT", "b": "y BIGINT"}), lambda view: True)
    assert set(query.tables()) <= {"a", "b"}
    assert all(tick.keys() == query.tables().keys() for tick in ticks)


class Bare(Operator):
    """Says nothing of how it is drawn."""

    name = "bare"


def unchecked(value: object) -> Any:
    """As somebody writes it who checks no types."""
    return value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: operators(unchecked(Join)), "expected a Schema or its words"),
        (lambda: operators(K, kind=Bare), "Bare has no `sample`"),
        (
            lambda: queries(root=unchecked(K)),
            "expected a kind of operator, such as Distinct, got Schema",
        ),
        (lambda: queries(-1), "expected at least one level of operators, got depth=-1"),
        (lambda: operators(K, K, K), "no operator has 3 inputs"),
        (lambda: delta_streams(unchecked(K)), "expected the tables, {name: schema}"),
        (streams, "streams need a schema each"),
        (lambda: streams(K, ticks=0), "at least one tick, got ticks=0"),
        (lambda: zsets(unchecked(7)), "expected a Schema or its words"),
    ],
)
def test_a_wrong_argument_is_said_to_be_one(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        call()
    assert message in str(raised.value)
