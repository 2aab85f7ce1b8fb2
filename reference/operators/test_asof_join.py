"""As-of join takes the last right row that is not later, and looks no further than it must.

That its increment agrees with its meaning is tested in `test_presence`, with its neighbours.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.asof_join import AsofJoin, AsofJoinIncrement
from deltaproof.reference.query import Query, table
from deltaproof.reference.select import Relation
from deltaproof.reference.types import NAN, Row
from deltaproof.reference.zset import ZSet

TRADES = table("trades", "stock VARCHAR, t BIGINT")
QUOTES = table("quotes", "symbol VARCHAR, u BIGINT, price BIGINT")
ON = {"stock": "symbol"}
LAST_QUOTE = TRADES.asof_join(QUOTES, ON, "t", "u")
QUOTE_OR_NULL = TRADES.asof_join(QUOTES, ON, "t", "u", kind="left")
EARLIER_QUOTE = TRADES.asof_join(QUOTES, ON, "t", "u", strict=True)

Delta = dict[Row, int]


def outputs(query: Query, *ticks: tuple[Delta, Delta]) -> list[ZSet]:
    circuit = Circuit(query)
    left, right = (each.label() for each in query.inputs)
    return [circuit.step({left: trades, right: quotes})["view"] for trades, quotes in ticks]


def test_a_row_takes_the_last_right_row_that_is_not_later() -> None:
    trades: Delta = {("a", 5): 1, ("a", 9): 2, ("a", 1): 1, ("b", 9): 1}
    quotes: Delta = {("a", 3, 30): 1, ("a", 5, 50): 1, ("a", 10, 100): 1}
    (change,) = outputs(LAST_QUOTE, (trades, quotes))
    assert change == ZSet({("a", 5, "a", 5, 50): 1, ("a", 9, "a", 5, 50): 2})
    (change,) = outputs(EARLIER_QUOTE, (trades, quotes))
    assert change == ZSet({("a", 5, "a", 3, 30): 1, ("a", 9, "a", 5, 50): 2})


def test_without_a_match_a_left_join_pads() -> None:
    trades: Delta = {("a", 1): 1, ("a", None): 1, (None, 9): 1}
    quotes: Delta = {("a", 3, 30): 1, (None, 3, 30): 1, ("a", None, 0): 1}
    (change,) = outputs(QUOTE_OR_NULL, (trades, quotes))
    assert change == ZSet({(*row, None, None, None): 1 for row in trades})
    assert outputs(LAST_QUOTE, (trades, quotes)) == [ZSet()]


def test_a_late_right_row_is_for_the_left_rows_up_to_the_next_one() -> None:
    trades: Delta = {("a", t): 1 for t in (2, 4, 6, 8)}
    first, second = outputs(
        LAST_QUOTE,
        (trades, {("a", 1, 10): 1, ("a", 7, 70): 1}),
        ({}, {("a", 4, 40): 1}),
    )
    assert len(first) == 4
    assert second == ZSet(
        {
            ("a", 4, "a", 1, 10): -1,
            ("a", 4, "a", 4, 40): 1,
            ("a", 6, "a", 1, 10): -1,
            ("a", 6, "a", 4, 40): 1,
        }
    )


def test_of_several_rows_of_one_time_the_greatest_is_taken_and_null_is_greatest() -> None:
    changes = outputs(
        LAST_QUOTE,
        ({("a", 5): 1}, {("a", 5, 10): 1, ("a", 5, 20): 1}),
        ({}, {("a", 5, 10): -1}),
        ({}, {("a", 5, None): 1}),
    )
    assert changes == [
        ZSet({("a", 5, "a", 5, 20): 1}),
        ZSet(),
        ZSet({("a", 5, "a", 5, 20): -1, ("a", 5, "a", 5, None): 1}),
    ]


def test_a_right_row_counts_once_and_only_above_zero() -> None:
    changes = outputs(
        LAST_QUOTE,
        ({("a", 5): 1}, {("a", 3, 30): 3, ("a", 4, 40): -1}),
        ({}, {("a", 3, 30): -2}),
        ({}, {("a", 4, 40): 2}),
    )
    assert changes == [
        ZSet({("a", 5, "a", 3, 30): 1}),
        ZSet(),
        ZSet({("a", 5, "a", 3, 30): -1, ("a", 5, "a", 4, 40): 1}),
    ]


def test_a_left_row_that_is_owed_is_matched_with_its_weight() -> None:
    changes = outputs(LAST_QUOTE, ({("a", 5): -2}, {("a", 3, 30): 1}), ({}, {("a", 4, 40): 1}))
    assert changes[1] == ZSet({("a", 5, "a", 3, 30): 2, ("a", 5, "a", 4, 40): -2})


def test_times_are_of_any_ordered_type_and_nan_is_the_last() -> None:
    left, right = table("l", "x DOUBLE"), table("r", "y DOUBLE")
    view = left.asof_join(right, (), "x", "y")
    (change,) = outputs(view, ({(NAN,): 1, (2.0,): 1}, {(1.0,): 1, (NAN,): 1}))
    assert change == ZSet({(NAN, NAN): 1, (2.0, 1.0): 1})
    days, dates = table("d", "a DATE"), table("e", "b DATE")
    one, two = datetime.date(2013, 1, 1), datetime.date(2013, 1, 2)
    (change,) = outputs(days.asof_join(dates, (), "a", "b"), ({(two,): 1}, {(one,): 1}))
    assert change == ZSet({(two, one): 1})


@pytest.mark.parametrize("quote", [("a", 500, 0), ("a", 501, 1)])
def test_a_change_reads_the_left_rows_up_to_the_next_right_row_and_no_more(quote: Row) -> None:
    increment: Any = AsofJoin((("stock", "symbol"),), "t", "u").increment(
        TRADES.schema, QUOTES.schema
    )
    trades = ZSet({("a", t): 1 for t in range(1000)})
    increment.step(trades, ZSet({("a", u, u): 1 for u in range(0, 1000, 10)}))
    increment.commit()
    read: list[Row] = []

    def counting(afters: Any) -> Iterator[Row]:
        for row in AsofJoinIncrement.touched(increment, afters):
            read.append(row)
            yield row

    increment.touched = counting
    increment.step(ZSet(), ZSet({quote: 1}))
    # the first is of a time where a greater row is the match already
    assert read == ([] if quote[1] == 500 else [("a", t) for t in range(501, 510)])


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (AsofJoin((), "t", "u", "full"), "unknown kind 'full': there are inner, left"),
        (AsofJoin((), "t", "symbol"), "times must have one type"),
        (AsofJoin((("t", "symbol"),), "t", "u"), "asof join: keys must have one type"),
        (AsofJoin((), "nope", "u"), "unknown column 'nope': there are stock, t"),
    ],
)
def test_what_does_not_fit_is_refused(operator: AsofJoin, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        operator.output(TRADES.schema, QUOTES.schema)


def test_the_padded_columns_may_be_null() -> None:
    left, right = table("l", "x BIGINT NOT NULL"), table("r", "y BIGINT NOT NULL")
    words = "x BIGINT NOT NULL, y BIGINT"
    assert str(left.asof_join(right, (), "x", "y", kind="left").schema) == words


def test_a_label_says_keys_and_times() -> None:
    assert LAST_QUOTE.label() == "inner asof join stock = symbol AND u <= t"
    assert TRADES.asof_join(QUOTES, (), "t", "u", "left", True).label() == "left asof join u < t"


def test_arrays_have_no_order_in_sql() -> None:
    right = table("r", "y BIGINT, tags ARRAY(BIGINT)")
    view = TRADES.asof_join(right, (), "t", "y")
    (operator,) = view.operators()
    assert operator.select(Relation("l", TRADES.schema), Relation("r", right.schema)) is None
