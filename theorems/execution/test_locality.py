"""Code that looks beyond its row, its group or the order of values is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import prove_each
from deltaproof.theorems.execution.locality import (
    ORDER,
    VALUE,
    Compared,
    alone,
    caught,
    first_column,
    local_to,
    on_every_order,
)
from deltaproof.theorems.execution.symbolic import Stateless, Subject, subject_of
from deltaproof.theorems.kernel import ProofError

ROWS = [(1, 3), (2, 5)]


def distinct() -> Subject:
    return subject_of(Distinct(), [(VALUE, ROWS)], 2)


def test_every_row_of_every_tick_is_looked_at() -> None:
    (query,) = local_to(distinct()).queries
    assert query.name == "distinct: 4 rows, each of its own"


def test_a_row_that_reads_another_is_named() -> None:
    def summed(delta: ZSet) -> ZSet:
        total = sum((weight for _, weight in delta.items()), start=0)
        return ZSet.trusted(dict.fromkeys(delta, total))

    wrong = replace(distinct(), increment=lambda: Stateless(summed))
    with pytest.raises(ProofError, match=r"row \(1, 3\): .* depends on a\(2, 5\) at tick 1"):
        local_to(wrong)


def test_rows_that_may_be_read_are_said() -> None:
    """A group by the first column: no other row has it."""
    assert local_to(distinct(), lambda place, row, result: row[0] == result[0]).queries


def test_the_first_of_all_rows_is_not_the_first_of_its_group() -> None:
    by_group, overall = (
        subject_of(TopK(partition, ORDER, 1), [(VALUE, ROWS)], 1) for partition in (("k",), ())
    )
    prove_each(alone(by_group, first_column, [first_column], 2), -1, 1)
    with pytest.raises(ProofError, match="group 2: wrong at tick 1"):
        prove_each(alone(overall, first_column, [first_column], 2), -1, 1)


def test_code_that_adds_values_is_not_decided_by_their_order() -> None:
    total = Aggregate((), (("s", AggregateCall("sum", col("v"))),))
    with pytest.raises(ProofError, match="the code does more than compare"):
        on_every_order(total, 2, 1)


def test_values_compare_as_their_places_do() -> None:
    low, high = Compared(0), Compared(1)
    assert [low < high, low <= high, low > high, low >= high] == [True, True, False, False]
    assert (low == Compared(0), low == 0, len({low, Compared(0), high})) == (True, False, 2)


def test_a_check_that_passes_has_not_caught_the_wrong_operator() -> None:
    with pytest.raises(ProofError, match="was not caught: no such words"):
        caught(lambda: None, "no such words")

    def fails() -> None:
        raise ProofError("something else")

    with pytest.raises(ProofError, match="something else"):
        caught(fails, "no such words")
