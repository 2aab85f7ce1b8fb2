"""The generator reaches what it promises, and the same seed makes the same cases."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest

from deltaproof.conformance.adapter import OPERATOR_CAPABILITIES
from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import DEPTH, argument_types, shapes, take_cases
from deltaproof.conformance.histories import KINDS, TICKS
from deltaproof.conformance.shrink import positive_stream
from deltaproof.reference.query import Query
from deltaproof.reference.zset import ZSet

SHAPES = list(islice(shapes(3), 3 * len(OPERATOR_CAPABILITIES)))


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
