"""Z-sets form a group, and nothing that is not a weight becomes one."""

from __future__ import annotations

import pytest

from deltaproof.reference.errors import RowError, SchemaError, WeightError
from deltaproof.reference.types import NAN, Schema
from deltaproof.reference.zset import ZSet, positive

FRUIT = Schema.parse("fruit VARCHAR, kg DOUBLE")


def test_entries_of_one_row_add_up_and_zeros_are_not_kept() -> None:
    assert ZSet([(("a",), 2), (("a",), -2), (("b",), 1), (("b",), 1)]) == ZSet({("b",): 2})


def test_the_group_laws_hold_on_an_example() -> None:
    a, b = ZSet({("x",): 2, ("y",): -1}), ZSet({("y",): 1, ("z",): 5})
    assert a + b == b + a == ZSet({("x",): 2, ("z",): 5})
    assert a - a == ZSet()
    negative = -a
    assert -negative == a
    assert (a + b) - b == a


def test_weights_of_any_size_are_exact() -> None:
    huge = 10**40
    assert ZSet({("x",): huge}).scale(huge)[("x",)] == 10**80


@pytest.mark.parametrize("weight", [1.0, True, "1", None])
def test_a_weight_that_is_not_an_integer_is_refused(weight: object) -> None:
    with pytest.raises(WeightError, match="expected an integer weight"):
        ZSet([(("a",), weight)])


def test_rows_are_made_canonical_on_entry() -> None:
    zset = ZSet.of(FRUIT, [(["fig", -0.0], 1), (["fig", 0.0], 1), (["kiwi", float("nan")], 1)])
    assert zset == ZSet({("fig", 0.0): 2, ("kiwi", NAN): 1})


def test_two_nans_are_one_row() -> None:
    zset = ZSet.of(FRUIT, [(["a", float("nan")], 1), (["a", float("inf") - float("inf")], -1)])
    assert zset == ZSet()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["fig"], "expected 2 values"),
        ([1, 1.0], "column fruit: expected VARCHAR, got int 1"),
        (["fig", 1], "column kg: expected DOUBLE, got int 1"),
        (["fig", True], "column kg: expected DOUBLE, got bool True"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_name(row: list[object], message: str) -> None:
    with pytest.raises(RowError, match=message):
        ZSet.of(FRUIT, [(row, 1)])


def test_a_bigint_of_65_bits_is_refused() -> None:
    with pytest.raises(RowError, match="more than 64 bits"):
        ZSet.of(Schema.parse("k BIGINT"), [([2**63], 1)])


def test_null_in_a_not_null_column_is_refused_also_after_good_rows() -> None:
    schema = Schema.parse("k BIGINT NOT NULL")
    schema.row([1])
    with pytest.raises(RowError, match="NOT NULL, got NULL"):
        schema.row([None])


def test_columns_that_differ_only_in_case_are_refused() -> None:
    with pytest.raises(SchemaError, match="differ by more than case"):
        Schema.parse("k BIGINT, K BIGINT")


def test_a_zset_prints_as_a_table_in_sql_order() -> None:
    zset = ZSet.of(FRUIT, {("fig", None): -1, ("fig", 2.5): 10, ("apple", 1.0): 1})
    assert str(zset).splitlines() == [
        "fruit   kg     weight",
        "─────────────────────",
        "apple   1.0        +1",
        "fig     2.5       +10",
        "fig     NULL       -1",
    ]


def test_positive_is_one_only_above_zero() -> None:
    assert [positive(weight) for weight in (-(10**30), -1, 0, 1, 10**30)] == [0, 0, 0, 1, 1]
