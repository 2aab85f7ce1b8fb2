"""The judge sees every way in which a view can be wrong, and nothing else."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from deltaproof.conformance.adapter import Observed
from deltaproof.conformance.case import Case
from deltaproof.conformance.judge import Expected, Judge, Oracle
from deltaproof.reference.types import NAN, Schema
from deltaproof.reference.zset import ZSet

CASE = Case.from_json(
    {
        "tables": {"t": "k BIGINT, x DOUBLE"},
        "query": {"table": "t"},
        "ticks": [{"t": [[[1, 0.1], 2]]}, {"t": [[[1, 0.1], -1]]}],
    }
)
SCHEMA = CASE.query.schema
EXPECTED = Oracle(CASE.query).expected(CASE)
RIGHT = [Observed(*pair) for pair in zip(EXPECTED.contents, EXPECTED.deltas, strict=True)]


def test_what_is_right_is_equal_with_or_without_changes() -> None:
    judge = Judge(SCHEMA)
    assert judge.difference(EXPECTED, RIGHT) is None
    assert judge.difference(EXPECTED, [Observed(read, None) for read, _ in RIGHT]) is None
    assert judge.difference(EXPECTED, [Observed(None, delta) for _, delta in RIGHT]) is None


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        (Observed(ZSet(), None), "contents/missing-row"),
        (Observed(ZSet({(1, 0.1): 2}), None), "contents/wrong-weight"),
        (Observed(ZSet({(1, 0.1): 1, (2, 0.1): 1}), None), "contents/extra-row"),
        (Observed(None, ZSet()), "delta/missing-row"),
        (Observed(ZSet({(1, 0.1): 1}), ZSet({(1, 0.1): -2})), "delta/wrong-weight"),
        (Observed(ZSet({(1.0, 0.1): 1}), None), "type"),
        (Observed(ZSet({(True, 0.1): 1}), None), "type"),
        (Observed(ZSet({(1, Decimal("0.1")): 1}), None), "type"),
        (Observed(ZSet({(1, 0.1, None): 1}), None), "type"),
        (Observed(ZSet.trusted({(1, 0.1): 1, (9, 0.1): 0}), None), "contents/zero-weight"),
    ],
)
def test_each_way_to_be_wrong_has_its_name_and_its_tick(second: Observed, kind: str) -> None:
    first = RIGHT[0] if second.contents is not None else Observed(None, RIGHT[0].delta)
    found = Judge(SCHEMA).difference(EXPECTED, [first, second])
    assert found is not None
    assert (found.tick, found.kind) == (2, kind)


def test_a_lost_tick_is_a_difference() -> None:
    found = Judge(SCHEMA).difference(EXPECTED, RIGHT[:1])
    assert found is not None
    assert (found.tick, found.kind, found.message) == (2, "ticks", "expected 2 ticks, got 1")


def test_a_not_null_column_that_shows_null_is_a_type_fault() -> None:
    judge = Judge(Schema.parse("n BIGINT NOT NULL"))
    expected = Expected((ZSet({(0,): 1}),), (ZSet({(0,): 1}),))
    found = judge.difference(expected, [Observed(ZSet({(None,): 1}), None)])
    assert found is not None
    assert "NOT NULL, got NULL" in found.message


@pytest.mark.parametrize(
    ("value", "equal"), [(0.1 + 1e-12, True), (0.1 + 1e-3, False), (None, False), (NAN, False)]
)
def test_doubles_are_compared_within_the_declared_tolerance_only(value: Any, equal: bool) -> None:
    near = [RIGHT[0], Observed(ZSet({(1, value): 1}), None)]
    assert (Judge(SCHEMA, 1e-9).difference(EXPECTED, near) is None) is equal
    assert Judge(SCHEMA).difference(EXPECTED, near) is not None


def test_the_tolerance_never_forgives_a_weight_or_another_column() -> None:
    judge = Judge(SCHEMA, 1e-9)
    for wrong in (ZSet({(1, 0.1 + 1e-12): 2}), ZSet({(2, 0.1 + 1e-12): 1})):
        assert judge.difference(EXPECTED, [RIGHT[0], Observed(wrong, None)]) is not None


def test_a_case_whose_view_hardly_changes_is_vacuous() -> None:
    assert not EXPECTED.vacuous
    still = Case(CASE.query, CASE.ticks[:1] * 1 + ({}, {}))
    assert Oracle(still.query).expected(still).vacuous


@pytest.mark.parametrize(("value", "other"), [(5.0, math.inf), (math.inf, -math.inf), (NAN, 1.0)])
def test_no_tolerance_makes_a_number_infinite(value: float, other: float) -> None:
    row = ZSet({(1, other): 1})
    expected = Expected((ZSet({(1, value): 1}),), (ZSet({(1, value): 1}),))
    assert Judge(SCHEMA, 1e-9).difference(expected, [Observed(row, None)]) is not None


def test_a_backend_that_shows_nothing_does_not_pass() -> None:
    found = Judge(SCHEMA).difference(EXPECTED, [Observed(None, None)] * 2)
    assert found is not None
    assert "neither contents nor an output delta" in found.message


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ("a ARRAY(BIGINT)", (1,), (1.0,)),
        ("a ARRAY(BIGINT)", (1,), (True,)),
        ("m DECIMAL(10,2)", Decimal("1.50"), Decimal("1.5")),
        ("x DOUBLE", 0.0, -0.0),
    ],
)
def test_types_are_judged_to_the_value(schema: str, right: Any, wrong: Any) -> None:
    judge = Judge(Schema.parse(schema))
    expected = Expected((ZSet({(right,): 1}),), (ZSet({(right,): 1}),))
    assert judge.difference(expected, [Observed(ZSet({(right,): 1}), None)]) is None
    found = judge.difference(expected, [Observed(ZSet.trusted({(wrong,): 1}), None)])
    assert found is not None
    assert found.kind == "type"


@pytest.mark.parametrize("weight", [1.0, True])
def test_a_weight_that_is_no_integer_is_a_type_fault(weight: Any) -> None:
    wrong = Observed(ZSet.trusted({(1, 0.1): weight}), None)
    found = Judge(SCHEMA).difference(EXPECTED, [wrong, wrong])
    assert found is not None
    assert "expected an integer weight" in found.message


def test_what_is_no_zset_is_a_type_fault() -> None:
    wrong: Any = Observed({(1, 0.1): 2}, None)  # type: ignore[arg-type]
    found = Judge(SCHEMA).difference(EXPECTED, [wrong, wrong])
    assert found is not None
    assert "expected a ZSet of contents, got dict" in found.message
