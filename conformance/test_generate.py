"""The generator reaches what it promises, and the same seed makes the same cases."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import pytest

from deltaproof.conformance.adapter import OPERATOR_CAPABILITIES
from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import DEPTH, Shape, argument_types, shapes, take_cases
from deltaproof.conformance.histories import KINDS, TICKS, WEIGHTS
from deltaproof.conformance.pools import DOMAINS, SPECIAL_DOUBLES, with_killers
from deltaproof.conformance.shrink import positive_stream
from deltaproof.properties.killers import HUGE_WEIGHTS, killer_groups
from deltaproof.reference.query import Query
from deltaproof.reference.types import DOUBLE, NAN, Type
from deltaproof.reference.zset import ZSet

SHAPES = list(islice(shapes(3), 3 * len(OPERATOR_CAPABILITIES)))
KILLERS = list(islice(shapes(3, values="killers"), len(SHAPES)))
MIXED = list(islice(shapes(3, values="mixed"), len(OPERATOR_CAPABILITIES)))


def cases_of(kind: str, each: int = 6) -> list[Case]:
    return [case for shape in SHAPES for case in take_cases(shape, [kind], each)]


def depth(query: Query) -> int:
    return 1 + max(map(depth, query.inputs)) if query.inputs else 0


def test_the_same_seed_makes_the_same_cases() -> None:
    def first(seed: int) -> list[str]:
        return [
            case.identity
            for shape in islice(shapes(seed), 5)
            for case in take_cases(shape, list(KINDS), 12)
        ]

    assert first(1) == first(1)
    assert first(1) != first(2)


def test_every_operator_takes_its_turn() -> None:
    for capability, shape in zip(OPERATOR_CAPABILITIES * 3, SHAPES, strict=True):
        assert capability in shape.query.capabilities()


def test_queries_are_up_to_three_operators_deep_over_up_to_three_tables() -> None:
    depths = [depth(shape.query) for shape in SHAPES]
    assert max(depths) >= DEPTH
    assert {len(shape.query.tables()) for shape in SHAPES} >= {1, 2}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_case_has_at_least_five_ticks(kind: str) -> None:
    assert all(len(case.ticks) >= TICKS for case in cases_of(kind))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "signed"])
def test_a_table_never_holds_a_row_a_negative_number_of_times(kind: str) -> None:
    assert all(positive_stream(case) for case in cases_of(kind))


def test_signed_cases_do() -> None:
    assert sum(not positive_stream(case) for case in cases_of("signed")) > 50


def test_each_kind_of_change_makes_the_change_it_is_named_for() -> None:
    share = dict.fromkeys(KINDS, 0.0)
    for kind in share:
        cases = cases_of(kind)
        share[kind] = sum(WITNESS[kind](case) for case in cases) / len(cases)
    assert {kind: part for kind, part in share.items() if part < 0.5} == {}


def deltas(case: Case) -> list[ZSet]:
    return [delta for tick in case.ticks for delta in tick.values()]


def only_inserts(case: Case) -> bool:
    return all(delta.is_positive() for delta in deltas(case))


def has_deletes(case: Case) -> bool:
    return any(weight < 0 for delta in deltas(case) for _, weight in delta.items())


def has_both_signs(case: Case) -> bool:
    return any(
        {weight > 0 for _, weight in delta.items()} == {True, False} for delta in deltas(case)
    )


def has_copies(case: Case) -> bool:
    return any(weight > 1 for delta in deltas(case) for _, weight in delta.items())


def brings_back(case: Case) -> bool:
    gone = set()
    for delta in deltas(case):
        if any(weight > 0 and row in gone for row, weight in delta.items()):
            return True
        gone |= {row for row, weight in delta.items() if weight < 0}
    return False


def ends_empty_once(case: Case) -> bool:
    totals = dict.fromkeys(case.tables, ZSet())
    for number, tick in enumerate(case.ticks):
        totals = {name: total + tick.get(name, ZSet()) for name, total in totals.items()}
        if number and not any(totals.values()):
            return True
    return False


def changes_all_tables(case: Case) -> bool:
    return any(len(tick) == len(case.tables) for tick in case.ticks[1:])


def has_nulls(case: Case) -> bool:
    nullable = any(column.nullable for schema in case.tables.values() for column in schema.columns)
    return not nullable or any(None in row for delta in deltas(case) for row in delta)


WITNESS: dict[str, Callable[[Case], bool]] = {
    "insert": only_inserts,
    "delete": has_deletes,
    "update": has_both_signs,
    "duplicate": has_copies,
    "resurrect": brings_back,
    "churn": has_both_signs,
    "empty-out": ends_empty_once,
    "both-sides": changes_all_tables,
    "multi-table": changes_all_tables,
    "null": has_nulls,
    "signed": lambda case: not positive_stream(case),
    "restart": lambda case: bool(case.restarts),
}


@pytest.mark.parametrize("capability", OPERATOR_CAPABILITIES)
def test_every_turn_of_every_operator_comes_to_an_end(capability: str) -> None:
    found = list(islice(shapes(5, [capability]), 12))
    assert all(capability in shape.query.capabilities() for shape in found)


def test_sums_of_every_type_of_number_take_turns() -> None:
    kinds = set()
    for shape in islice(shapes(5, ["aggregate.sum"]), 6):
        kinds |= argument_types(shape.query, "aggregate.sum")
    assert {str(kind) for kind in kinds} >= {"DOUBLE", "BIGINT", "DECIMAL(10,2)"}


def values_of(shape: Shape, kind: Type) -> set[object]:
    """The values of this type in the tables of a shape."""
    return {
        row[place]
        for pool in shape.pools.values()
        for place, each in enumerate(pool.schema.types)
        if each == kind
        for row in pool.rows
    }


def test_what_the_tables_hold_changes_no_query_and_no_plain_shape() -> None:
    for plain, mixed, killers in zip(SHAPES, MIXED, KILLERS, strict=False):
        assert plain.query == mixed.query == killers.query
        assert mixed.pools == (killers.pools if mixed.killers else plain.pools)
        assert not plain.killers
        assert killers.killers


def test_about_one_shape_of_six_holds_killers_when_mixed() -> None:
    chosen = [with_killers("mixed", f"3/{number}") for number in range(600)]
    assert 80 < sum(chosen) < 120
    assert [shape.killers for shape in MIXED] == chosen[: len(MIXED)]


@pytest.mark.parametrize("kind", DOMAINS, ids=str)
def test_the_killers_of_a_type_come_up_and_plain_values_stay_beside(kind: Type) -> None:
    held = set().union(*[values_of(shape, kind) for shape in KILLERS])
    assert all(held.intersection(group) for group in killer_groups(kind))
    assert held >= set(DOMAINS[kind][:2])
    plain = set().union(*[values_of(shape, kind) for shape in SHAPES])
    assert plain <= {*DOMAINS[kind], *SPECIAL_DOUBLES, None}


def test_killers_are_among_the_keys_and_rows_still_meet() -> None:
    keys = [key for shape in KILLERS for pool in shape.pools.values() for key in pool.by_key]
    assert any(key not in (0, 1) for key in keys)
    assert all(len(pool.by_key) < 12 for shape in KILLERS for pool in shape.pools.values())
    joins = [shape for shape in KILLERS if "join.inner" in shape.needs]
    shared = [set.intersection(*[set(p.by_key) for p in shape.pools.values()]) for shape in joins]
    assert sum(map(bool, shared)) > 0.9 * len(joins)


def weights_of(shapes_: list[Shape], kind: str) -> set[int]:
    cases = [case for shape in shapes_ for case in take_cases(shape, [kind], 6)]
    return {abs(weight) for case in cases for delta in deltas(case) for _, weight in delta.items()}


def test_weights_are_huge_in_signed_histories_of_half_the_shapes_of_killers() -> None:
    huge = [shape for shape in KILLERS if shape.huge]
    assert 0.4 < len(huge) / len(KILLERS) < 0.6
    assert weights_of(huge, "signed") >= set(HUGE_WEIGHTS)
    assert max(weights_of(huge, "churn")) < 20
    modest = [shape for shape in KILLERS if not shape.huge]
    assert max(weights_of(modest, "signed")) <= 2 * max(WEIGHTS)
    assert huge[0].asks("signed") == {"weights.signed", "weights.huge"}
    assert modest[0].asks("signed") == {"weights.signed"}
    assert huge[0].asks("churn") == frozenset()


def test_sums_of_killers_ask_for_exact_sums_where_a_double_is_added_up() -> None:
    asking = [shape for shape in KILLERS if "sum.exact" in shape.needs]
    assert 0.1 < len(asking) / len(KILLERS) < 0.4
    assert all("type.double" in shape.needs for shape in asking)
    assert not any("sum.exact" in shape.needs for shape in SHAPES)


def test_nan_is_asked_for_where_it_is() -> None:
    for shape in (*SHAPES, *KILLERS):
        special = values_of(shape, DOUBLE) & {math.inf, -math.inf, NAN}
        assert ("value.nan" in shape.needs) == bool(special)
