"""The 22 queries, as the benchmark words them, become joins on keys."""

from __future__ import annotations

import pytest

from deltaproof.conformance.tpch.schema import QUERIES, TABLES, query_text
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.sql import parse

# compared with one row for all: the total of Q11, the average balance of Q22
WITH_ONE_ROW = {"q11": 1, "q22": 1}


@pytest.mark.parametrize("name", QUERIES)
def test_every_join_has_a_key(name: str) -> None:
    query = parse(query_text(name), TABLES)
    products = [node for node in query.nodes() if is_product(node)]
    assert len(products) == WITH_ONE_ROW.get(name, 0)
    assert all(has_one_row(node.inputs[1]) for node in products)


def has_one_row(query: Query) -> bool:
    """Whether it is an aggregate without keys, or computed from one."""
    while isinstance(query, Apply) and isinstance(query.operator, Map):
        (query,) = query.inputs
    return (
        isinstance(query, Apply)
        and isinstance(query.operator, Aggregate)
        and not query.operator.keys
    )


def is_product(node: Query) -> bool:
    """Whether it pairs every row with every row."""
    return (
        isinstance(node, Apply)
        and isinstance(node.operator, Join | OuterJoin | SemiJoin)
        and not node.operator.on
    )


@pytest.mark.parametrize("name", QUERIES)
def test_no_join_carries_a_comment_that_nobody_reads(name: str) -> None:
    """What a query does not read is projected away before the joins that would remember it."""
    text = query_text(name)
    for node in parse(text, TABLES).nodes():
        if isinstance(node, Apply) and isinstance(node.operator, Join | OuterJoin | SemiJoin):
            for column in node.schema.names:
                assert "comment" not in column or column in text, f"{name}: {node.label()}"
