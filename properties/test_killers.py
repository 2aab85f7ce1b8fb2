"""What broke engines is in the catalogue, canonical, and drawn."""

from __future__ import annotations

import datetime
import math
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from deltaproof.properties.killers import (
    HUGE_WEIGHTS,
    KILLERS,
    LONG,
    NOT_VALUES,
    killer_domain,
    killer_rows,
    killer_values,
    killer_zsets,
)
from deltaproof.reference.errors import RowError
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    SIMPLE_TYPES,
    TIMESTAMP,
    VARCHAR,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

EVERY_TYPE: tuple[Type, ...] = (
    *SIMPLE_TYPES,
    DECIMAL(10, 2),
    DECIMAL(38, 0),
    DECIMAL(4, 4),
    ARRAY(BIGINT),
    ARRAY(VARCHAR),
    ARRAY(ARRAY(DOUBLE)),
)
CENTS = DECIMAL(10, 2)
ALL = Schema.parse(
    "b BOOLEAN, n BIGINT, x DOUBLE, m DECIMAL(38,2), s VARCHAR, d DATE, t TIMESTAMP, "
    "a ARRAY(VARCHAR)"
)

# What the catalogue of published bugs lists, and the values that stand for it here.
CATALOGUE: dict[str, tuple[Type, tuple[Value, ...]]] = {
    "NULL beside ''": (VARCHAR, ("",)),
    "NULL beside 'NULL'": (VARCHAR, ("NULL",)),
    "the infinities": (DOUBLE, (math.inf, -math.inf)),
    "NaN": (DOUBLE, (NAN,)),
    "minus zero": (DOUBLE, (0.0,)),
    "1.1e31, 1e-39": (DOUBLE, (1.1e31, -1.1e31, 1e-39)),
    "DBL_MAX": (DOUBLE, (sys.float_info.max, -sys.float_info.max)),
    "the smallest doubles": (DOUBLE, (sys.float_info.min, 5e-324)),
    "1e16 + 1 - 1e16": (DOUBLE, (1e16, 1.0, -1e16)),
    "int64 min and max": (BIGINT, (-(2**63), 2**63 - 1)),
    "integers that no double holds": (BIGINT, (2**53, 2**53 + 1)),
    "integer beside float": (BIGINT, (0, 1)),
    "TRUE beside 1": (BOOLEAN, (False, True)),
    "decimal scales": (CENTS, (Decimal("0.00"), Decimal("1.00"), Decimal("0.01"))),
    "the largest decimals": (CENTS, (Decimal("99999999.99"), Decimal("-99999999.99"))),
    "non-BMP characters": (VARCHAR, ("\U0001f600", "\uffee")),
    "newline and signs in LIKE": (VARCHAR, ("a\nb", "%", "_", "\\")),
    "trailing spaces": (VARCHAR, ("a", "a ")),
    "case": (VARCHAR, ("a", "A")),
    "combining characters": (VARCHAR, ("\u00e9", "e\u0301")),
    "__proto__": (VARCHAR, ("__proto__",)),
    "text that is a number": (VARCHAR, ("1", "01")),
    "quotes": (VARCHAR, ("'", '"')),
    "very long strings": (VARCHAR, (LONG,)),
    "dates before the epoch": (DATE, (datetime.date(1969, 12, 31),)),
    "the first and last date": (DATE, (datetime.date(1, 1, 1), datetime.date(9999, 12, 31))),
    "days that one calendar lacks": (DATE, (datetime.date(1582, 10, 14),)),
    "leap days": (DATE, (datetime.date(2000, 2, 29),)),
    "timestamps before the epoch": (
        TIMESTAMP,
        (datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),),
    ),
    "DST gap": (TIMESTAMP, (datetime.datetime(2013, 3, 10, 2, 30),)),
    "DST fold": (TIMESTAMP, (datetime.datetime(2013, 11, 3, 1, 30),)),
    "the first and last timestamp": (TIMESTAMP, (datetime.datetime.min, datetime.datetime.max)),
    "empty arrays": (ARRAY(BIGINT), ((),)),
    "NULL inside an array": (ARRAY(BIGINT), ((None,), (None, 0), (0, None))),
    "equal elements": (ARRAY(BIGINT), ((0, 0),)),
    "nested arrays": (ARRAY(ARRAY(BIGINT)), ((), ((),), ((None,),))),
    "'NULL' in an array": (ARRAY(VARCHAR), (("NULL",), (None,), ("",), ())),
}


@pytest.mark.parametrize("what", CATALOGUE)
def test_what_the_catalogue_of_bugs_lists_is_here(what: str) -> None:
    kind, values = CATALOGUE[what]
    assert set(values) <= set(killer_domain(kind))


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=str)
def test_every_value_is_canonical_and_there_once(kind: Type) -> None:
    domain = killer_domain(kind)
    assert list(map(repr, map(kind.canonical, domain))) == list(map(repr, domain))
    assert len(set(domain)) == len(domain) >= 2


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=str)
def test_every_value_survives_json(kind: Type) -> None:
    for value in killer_domain(kind):
        assert kind.from_json(kind.to_json(value)) == value or value is NAN


def test_every_group_says_who_differed_and_where_it_is_written() -> None:
    for killer in (killer for killers in KILLERS.values() for killer in killers):
        assert killer.what
        assert killer.differed
        assert bool(killer.source) == (killer.differed != "none found"), killer.what


def test_what_is_no_value_has_a_reason() -> None:
    assert all(NOT_VALUES.values())
    assert {"INTERVAL", "named time zones", "leap seconds", "CHAR"} <= NOT_VALUES.keys()


@pytest.mark.parametrize(
    ("kind", "refused", "message"),
    [
        (TIMESTAMP, "2016-12-31T23:59:60", "expected TIMESTAMP like"),
        (DATE, "2013-02-29", "expected DATE like"),
        (DATE, "10000-01-01", "expected DATE like"),
        (BIGINT, 2**63, "more than 64 bits"),
        (BIGINT, True, "expected BIGINT, got bool True"),
        (BIGINT, 1.0, "expected BIGINT, got float 1.0"),
        (BIGINT, "1", "expected BIGINT, got str '1'"),
        (BOOLEAN, 1, "expected BOOLEAN, got int 1"),
        (CENTS, "0.001", "more decimal places"),
        (CENTS, "100000000.00", "has more digits"),
    ],
)
def test_what_is_no_value_of_a_type_is_refused_on_entry(
    kind: Type, refused: Any, message: str
) -> None:
    with pytest.raises(RowError, match=message):
        kind.from_json(refused)


def test_what_is_written_in_several_ways_is_one_row() -> None:
    rows = Schema.parse("x DOUBLE, m DECIMAL(10,2)")
    given_ = [(-0.0, Decimal(1)), (0.0, Decimal("1.0")), (0.0, Decimal("1.00"))]
    assert ZSet.of(rows, [(row, 1) for row in given_]) == ZSet({(0.0, Decimal("1.00")): 3})
    assert len(ZSet.of(rows, [((float("nan"), None), 1), ((NAN, None), 1)])) == 1


def test_what_only_looks_alike_is_several_rows() -> None:
    texts = Schema.parse("s VARCHAR")
    alike = ["\u00e9", "e\u0301", "a", "a ", " a", "A", "", "NULL", None]
    assert len(ZSet.of(texts, [((text,), 1) for text in alike])) == len(alike)


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=str)
def test_the_last_value_is_drawn_and_null_where_it_may_be(kind: Type) -> None:
    last = killer_domain(kind)[-1]
    assert find(killer_values(kind), lambda value: value == last) == last
    assert find(killer_values(kind, nullable=True), lambda value: value is None) is None


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_rows_and_zsets_fit_their_schema(data: st.DataObject) -> None:
    row = data.draw(killer_rows(ALL))
    assert ALL.row(row) == row
    zset = data.draw(killer_zsets(ALL))
    assert ZSet.of(ALL, zset.items()) == zset


def test_weights_go_beyond_every_type_of_an_engine_and_never_wrap() -> None:
    assert {2**31, 2**63 - 1, 10**30} <= set(HUGE_WEIGHTS)
    small = Schema.parse("n BIGINT NOT NULL")
    for weight in HUGE_WEIGHTS:
        once = ZSet.of(small, [((0,), weight)])
        assert (once + once)[(0,)] == 2 * weight
        assert once - once == ZSet()
    last = -HUGE_WEIGHTS[-1]
    assert find(killer_zsets(small), lambda z: z[(0,)] == last) == ZSet({(0,): last})
