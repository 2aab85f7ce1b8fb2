"""The eight tables of TPC-H, their keys, and the 22 queries as they stand in the folder beside.

Source   TPC Benchmark H, revision 3, clause 1.4; the parameters are those of its validation
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deltaproof.reference.errors import UsageError
from deltaproof.reference.types import Schema

FOLDER = Path(__file__).resolve().parent
QUERIES: tuple[str, ...] = tuple(f"q{number:02}" for number in range(1, 23))

TABLES: Mapping[str, Schema] = {
    name: Schema.parse(", ".join(f"{column} NOT NULL" for column in columns.split("; ")))
    for name, columns in {
        "region": "r_regionkey BIGINT; r_name VARCHAR; r_comment VARCHAR",
        "nation": "n_nationkey BIGINT; n_name VARCHAR; n_regionkey BIGINT; n_comment VARCHAR",
        "supplier": "s_suppkey BIGINT; s_name VARCHAR; s_address VARCHAR; s_nationkey BIGINT; "
        "s_phone VARCHAR; s_acctbal DECIMAL(15,2); s_comment VARCHAR",
        "customer": "c_custkey BIGINT; c_name VARCHAR; c_address VARCHAR; c_nationkey BIGINT; "
        "c_phone VARCHAR; c_acctbal DECIMAL(15,2); c_mktsegment VARCHAR; c_comment VARCHAR",
        "part": "p_partkey BIGINT; p_name VARCHAR; p_mfgr VARCHAR; p_brand VARCHAR; "
        "p_type VARCHAR; p_size BIGINT; p_container VARCHAR; p_retailprice DECIMAL(15,2); "
        "p_comment VARCHAR",
        "partsupp": "ps_partkey BIGINT; ps_suppkey BIGINT; ps_availqty BIGINT; "
        "ps_supplycost DECIMAL(15,2); ps_comment VARCHAR",
        "orders": "o_orderkey BIGINT; o_custkey BIGINT; o_orderstatus VARCHAR; "
        "o_totalprice DECIMAL(15,2); o_orderdate DATE; o_orderpriority VARCHAR; "
        "o_clerk VARCHAR; o_shippriority BIGINT; o_comment VARCHAR",
        "lineitem": "l_orderkey BIGINT; l_partkey BIGINT; l_suppkey BIGINT; "
        "l_linenumber BIGINT; l_quantity DECIMAL(15,2); l_extendedprice DECIMAL(15,2); "
        "l_discount DECIMAL(15,2); l_tax DECIMAL(15,2); l_returnflag VARCHAR; "
        "l_linestatus VARCHAR; l_shipdate DATE; l_commitdate DATE; l_receiptdate DATE; "
        "l_shipinstruct VARCHAR; l_shipmode VARCHAR; l_comment VARCHAR",
    }.items()
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}


def query_text(name: str) -> str:
    """The SQL of a query, as the benchmark words it. Raises UsageError for an unknown name.

    >>> query_text("q06").split()[:3]
    ['select', 'sum(l_extendedprice', '*']
    """
    if name not in QUERIES:
        raise UsageError(f"unknown query {name!r}: there are {', '.join(QUERIES)}")
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
