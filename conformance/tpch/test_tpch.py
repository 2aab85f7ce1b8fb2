"""TPC-H: the stream is what the benchmark's refreshes make of it, and the views keep up with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from importlib.util import find_spec

import pytest

from deltaproof.conformance.connect import availability, backend
from deltaproof.reference.errors import BackendError, UsageError
from deltaproof.reference.query import Query
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

if find_spec("duckdb") is None:  # the oracle of every test here
    pytest.skip("duckdb is not installed", allow_module_level=True)

from deltaproof.conformance.tpch.data import ArrowTpch, Tpch
from deltaproof.conformance.tpch.oracle import Oracle
from deltaproof.conformance.tpch.run import tpch_run, with_rows
from deltaproof.conformance.tpch.schema import KEYS, QUERIES, TABLES, query_text
from deltaproof.reference.sql import parse

SCALE = 0.001  # 1,500 orders
# `make soak` runs all of them at scale 0.01, also on Spark; a test run has no time for that
LONG = os.environ.get("DELTAPROOF_LONG") == "1"


def tables_after(ticks: int) -> Mapping[str, ZSet]:
    tables = {name: ZSet((), schema) for name, schema in TABLES.items()}
    for tick in Tpch.load(SCALE).ticks(ticks):
        for name, delta in tick.items():
            tables[name] = tables[name] + delta
    return tables


def test_every_table_keeps_one_row_per_key_at_every_tick() -> None:
    """But for partsupp, whose keys the generator repeats at a scale as small as this."""
    for name, rows in tables_after(6).items():
        schema = TABLES[name]
        if name == "partsupp":
            continue
        keys = [tuple(row[schema.index(key)] for key in KEYS[name]) for row in rows]
        assert rows.is_positive()
        assert len(set(keys)) == len(keys)


def test_a_refresh_inserts_and_deletes_as_many_orders_and_updates_the_rest() -> None:
    _, tick = Tpch.load(SCALE).ticks(2)
    orders = dict(tick["orders"].items())
    assert sorted(orders.values()) == [-1, -1, 1, 1]
    lines = {row[0] for row in tick["lineitem"]}
    assert lines == {row[0] for row in orders}
    assert {name for name in tick if tick[name]} == {
        *("orders", "lineitem", "part", "supplier", "customer")
    }


def test_the_same_scale_gives_the_same_stream() -> None:
    first, second = (list(Tpch.load(SCALE).ticks(4)) for _ in range(2))
    assert first == second


def test_the_load_as_arrow_is_the_same_load_and_the_refreshes_after_it_are_the_same() -> None:
    first, *refreshes = ArrowTpch.load(SCALE).ticks(4)
    assert not any(isinstance(delta, ZSet) for delta in first.values())
    assert [with_rows(first), *refreshes] == list(Tpch.load(SCALE).ticks(4))


def test_the_oracle_takes_the_load_as_arrow() -> None:
    schema = Schema.parse("revenue DECIMAL(38,4)")
    by_rows, by_arrow = Oracle({"q06": schema}), Oracle({"q06": schema})
    for rows, arrow in zip(Tpch.load(SCALE).ticks(2), ArrowTpch.load(SCALE).ticks(2), strict=True):
        by_rows.step(rows)
        by_arrow.step(arrow)
        assert by_arrow.contents("q06") == by_rows.contents("q06")


def test_a_large_scale_comes_as_arrow_and_the_reference_gets_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deltaproof.conformance.tpch.run.ROWS_UP_TO", 0.0)
    assert tpch_run([backend("reference")], ["q06", "q13"], SCALE, 3).ok


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_is_a_view(name: str) -> None:
    query = parse(query_text(name), TABLES)
    assert set(query.tables()) <= set(TABLES)
    assert len(query.schema)


def test_the_queries_are_not_made_easier() -> None:
    """What makes each hard is in its text."""
    texts = {name: " ".join(query_text(name).upper().split()) for name in QUERIES}
    assert "LEFT OUTER JOIN" in texts["q13"] or "LEFT JOIN" in texts["q13"]
    assert "NOT IN" in texts["q16"]
    assert "NOT EXISTS" in texts["q21"]
    assert "NOT EXISTS" in texts["q22"]
    assert "EXISTS" in texts["q04"]
    assert texts["q20"].count("SELECT") == 4
    assert [name for name in QUERIES if "LIMIT" in texts[name]] == [
        *("q02", "q03", "q10", "q18", "q21")
    ]


def test_the_reference_keeps_every_query_up_to_date() -> None:
    report = tpch_run([backend("reference")], scale=SCALE, ticks=4)
    assert [str(run.result) for run in report.runs if not run.ok] == []
    assert len(report.runs) == len(QUERIES)
    assert report.changes > 0


@pytest.mark.skipif(not LONG, reason="takes minutes: `make soak` sets DELTAPROOF_LONG=1")
@pytest.mark.parametrize("name", ["reference", "spark"])
def test_every_query_at_scale_one_hundredth(name: str) -> None:
    if (why := availability()[name]) is not None:
        pytest.skip(f"{name}: {why}")
    report = tpch_run([backend(name)], scale=0.01, ticks=8)
    assert [str(run.result) for run in report.runs if not run.ok] == []


def test_a_view_that_is_wrong_is_found_at_its_tick() -> None:
    class Wrong:
        """Q6 without its last filter."""

        name, capabilities, tolerance = "wrong", frozenset[str](), 0.0

        def describe(self) -> str:
            return "wrong"

        def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> object:
            text = query_text("q06").replace("and l_quantity < 24", "")
            right = backend("reference")
            return right.open(tables, dict.fromkeys(views, parse(text, TABLES)))

    report = tpch_run([Wrong()], ["q06"], SCALE, 3)  # type: ignore[list-item]  # not a Backend
    assert report.differs
    assert any("q06 on wrong: differs at tick 1" in line for line in report.lines())


def test_the_oracle_refuses_to_delete_what_is_not_there() -> None:
    oracle = Oracle({"q06": Schema.parse("revenue DECIMAL(38,4)")})
    row: Row = (1, "ASIA", "")
    with pytest.raises(BackendError, match="region: 1 rows to delete, 0 were there"):
        oracle.step({"region": ZSet({row: -1}, TABLES["region"])})


def test_decimals_of_the_oracle_are_exact() -> None:
    oracle = Oracle({"q06": Schema.parse("revenue DECIMAL(38,4)")})
    for tick in Tpch.load(SCALE).ticks(2):
        oracle.step(tick)
    ((revenue,),) = oracle.contents("q06")
    assert isinstance(revenue, Decimal)
    assert revenue.as_tuple().exponent == -4


def test_an_unknown_query_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown query 'q23': there are q01, q02"):
        query_text("q23")
