"""A plan means what its query means, fails where it fails, and has fewer nodes.

`oracle_*` compares with the query's meaning, `differential_*` with a circuit of the query as
it is written.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import DeltaproofError, EvaluationError
from deltaproof.reference.operators.logic import Branch
from deltaproof.reference.operators.test_streams import Tick, contents, meant, random_ticks
from deltaproof.reference.planner import Chain, FusedJoin, as_written, plan_views, planned
from deltaproof.reference.query import Query, count, sum_, table
from deltaproof.reference.scalar import array, col, lit
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT")
S = table("s", "key BIGINT, w BIGINT")
LATE = T.filter(col("v") > 0).map(k=col("k"), w=col("v") * 2).filter(col("w").ne(4))
WIDE = T.flat_map(array(col("k"), col("v")), "e").filter(col("e") > 0).project("e")
QUERIES: dict[str, Query] = {
    "a chain": LATE,
    "a chain with an unnest": WIDE,
    "two unnests": T.flat_map(array(col("k"), lit(1)), "e").flat_map(array(col("v")), "f"),
    "a chain of every kind": T.negate()
    .hop("v", 3, 1)
    .logic(Branch((("k", col("k")), ("v", col("window_start"))), weight=col("k")))
    .filter(col("v") > 0),
    "chains on both sides of a join": LATE.join(
        S.filter(col("w") > 0).map(key=col("key"), x=col("w") + 1), on={"k": "key"}
    ),
    "a chain after a join": T.join(S, on={"k": "key"}).filter(col("v") < col("w")).project("k"),
    "chains around a join": LATE.join(S.prefix("s_"), on={"k": "s_key"})
    .map(k=col("k"), d=col("w") - col("s_w"))
    .filter(col("d") > 0),
    "a self-join": T.join(T.prefix("r_"), on={"k": "r_k"}),
    "a self-join of a chain": LATE.join(LATE.prefix("r_"), on={"k": "r_k"}),
    "a chain that is read twice": LATE.project("k").union_all(LATE.project("w")),
    "joins of joins": T.prefix("a_")
    .join(S.prefix("b_"), on={"a_k": "b_key"})
    .project("a_v", "b_w")
    .join(T.filter(col("k") > 0).prefix("c_"), on={"b_w": "c_k"})
    .group_by("c_v")
    .aggregate(n=count(), s=sum_(col("a_v"))),
    "no chain": T.distinct().union_all(T.filter(col("v") > 0)),
    "a join by no key": T.project("k").join(S.project("w")).filter(col("k") < col("w")),
}


def outputs(circuit: Circuit, ticks: list[Tick]) -> list[ZSet]:
    return [circuit.step(tick)["view"] for tick in ticks]


@pytest.mark.parametrize("name", list(QUERIES))
def test_oracle_a_plan_means_what_its_query_means(name: str) -> None:
    query = QUERIES[name]
    for seed in range(30):
        ticks = random_ticks(Random(seed), query.tables())
        assert contents(planned(query), ticks) == meant(query, ticks)
        assert meant(planned(query), ticks) == meant(query, ticks)
        assert planned(query).schema == query.schema


@pytest.mark.parametrize("name", list(QUERIES))
def test_differential_a_plan_changes_what_its_query_changes(name: str) -> None:
    query = QUERIES[name]
    for seed in range(30):
        ticks = random_ticks(Random(seed), query.tables())
        ours, plain = Circuit(query), Circuit(query, plan=as_written)
        assert outputs(ours, ticks) == outputs(plain, ticks)
        assert contents(query, ticks, restarts=True) == meant(query, ticks)


def operators(query: Query) -> list[str]:
    return [type(each).__name__ for each in planned(query).operators()]


def test_a_chain_is_one_operator() -> None:
    assert operators(LATE) == ["Chain"]
    assert operators(QUERIES["a chain of every kind"]) == ["Chain"]
    assert operators(T.filter(col("v") > 0)) == ["Filter"]


def test_a_join_takes_in_the_chains_beside_it() -> None:
    assert operators(QUERIES["chains around a join"]) == ["FusedJoin"]
    assert operators(QUERIES["joins of joins"]) == ["FusedJoin", "FusedJoin", "Aggregate"]
    assert operators(T.join(S, on={"k": "key"})) == ["Join"]


def test_what_is_read_twice_is_computed_once() -> None:
    assert operators(QUERIES["a self-join of a chain"]) == ["Chain", "FusedJoin"]
    assert operators(QUERIES["a chain that is read twice"]) == ["Chain", "Map", "Map", "UnionAll"]


def test_what_two_views_share_stays_shared() -> None:
    views = plan_views({"late": LATE, "keys": LATE.project("k")}).views
    assert views["keys"].inputs == (views["late"],)


def test_operators_over_time_stay_apart() -> None:
    query = (
        T.filter(col("v") > 0)
        .delay()
        .filter(col("k") > 0)
        .logic(Branch((("k", col("k")),), delay=1))
    )
    assert operators(query) == ["Filter", "Delay", "Filter", "Logic"]


def test_a_rewrite_says_what_became_one_and_why() -> None:
    (rewrite,) = plan_views({"view": QUERIES["chains around a join"]}).rewrites
    assert rewrite.theorem == "join_after_linear"
    assert rewrite.before[0] == "filter v > 0"
    assert "join k = s_key" in rewrite.before
    (rewrite,) = plan_views({"view": WIDE}).rewrites
    assert rewrite.theorem == "linear_compose"
    assert str(rewrite).startswith("flat_map ARRAY[k, v] AS e → filter e > 0 → map e  ⟹  chain")


def test_projections_and_filters_of_a_chain_are_one_step() -> None:
    from deltaproof.reference.planner import simplified

    chain = T.filter(col("v") > 0).project("v").filter(col("v") < 9).map(w=col("v") + 1)
    (operator,) = planned(chain).operators()
    assert isinstance(operator, Chain)
    assert [str(each.label()) for each in simplified(operator.stages, T.schema)] == [
        "logic v + 1 AS w WHERE v > 0 AND v < 9"
    ]


# ── Errors ──────────────────────────────────────────────────────────────────────────────────


def test_a_column_that_nobody_reads_is_computed_all_the_same() -> None:
    query = T.map(k=col("k"), q=1 % col("v")).project("k")
    with pytest.raises(EvaluationError, match=r"tick 1, map k, 1 % v AS q: "):
        Circuit(query).step({"t": {(1, 0): 1}})


def test_a_row_that_a_filter_drops_is_not_computed() -> None:
    query = T.filter(col("v").ne(0)).map(q=1 % col("v"))
    assert Circuit(query).step({"t": {(1, 0): 1, (1, 3): 1}})["view"] == ZSet({(1,): 1})


def test_rows_that_cancel_between_two_operators_are_not_computed() -> None:
    query = T.project("k").map(q=1 % col("k"))
    assert Circuit(query).step({"t": {(0, 1): 1, (0, 2): -1}})["view"] == ZSet()
    joined = query.join(S, on={"q": "key"})
    assert Circuit(joined).step({"t": {(0, 1): 1, (0, 2): -1}})["view"] == ZSet()


def test_an_error_beside_a_join_names_the_operator_and_changes_nothing() -> None:
    query = (
        T.map(k=col("k"), q=1 % col("v"))
        .join(S, on={"k": "key"})
        .filter((col("w") % col("q")).eq(0))
    )
    circuit, plain = Circuit(query), Circuit(query, plan=as_written)
    ticks: list[Tick] = [
        {"t": {(1, 5): 1}, "s": {(1, 3): 1}},
        {"t": {(1, 0): 1}},
        {"t": {(1, 1): 1}},
        {"s": {(1, 4): 1}},
    ]
    for tick in ticks:
        assert told(circuit, tick) == told(plain, tick)
    assert told(circuit, ticks[1]).startswith("tick 3, map k, 1 % v AS q: ")


def told(circuit: Circuit, tick: Tick) -> Any:
    """What the circuit says to a tick: the output, or the words of the error."""
    try:
        return circuit.step(tick)["view"]
    except DeltaproofError as error:
        return str(error)


DIVISIONS: list[Query] = [
    T.map(k=col("k"), q=col("k") % col("v")).project("k").filter((lit(6) % col("k")).eq(0)),
    T.project("k").map(q=lit(6) % col("k")).filter(col("q") > 1),
    T.filter((col("k") % col("v")).eq(0)).filter((col("v") % col("k")).eq(0)).project("v"),
    T.logic(Branch((("k", col("k")),), weight=col("k") % col("v"))).filter(
        (lit(6) % col("k")).eq(0)
    ),
    T.filter(col("v") > -1).flat_map(array(col("k") % col("v"), lit(2)), "e").project("e"),
    T.map(k=col("k"), q=lit(6) % col("v"))
    .join(S.map(key=lit(4) % col("w"), w=col("w")), on={"k": "key"})
    .map(z=col("q") % col("w")),
]


@pytest.mark.parametrize("query", DIVISIONS, ids=str)
def test_differential_a_plan_fails_where_its_query_fails(query: Query) -> None:
    failed = 0
    for seed in range(60):
        circuit, plain = Circuit(query), Circuit(query, plan=as_written)
        for tick in random_ticks(Random(seed), query.tables()):
            words = told(plain, tick)
            failed += isinstance(words, str)
            assert told(circuit, tick) == words
    assert failed > 20


def test_the_parts_of_a_plan_have_the_capabilities_of_what_they_are_made_of() -> None:
    for query in QUERIES.values():
        assert planned(query).capabilities() == query.capabilities()


def test_rows_pass_through_a_chain_into_a_join_only_once() -> None:
    query = QUERIES["chains around a join"]
    fused = planned(query).operators()[-1]
    assert isinstance(fused, FusedJoin)
    increment: Any = fused.increment(T.schema, S.schema)
    row: Row = (1, 3)
    increment.step(ZSet({row: 1}), ZSet())
    increment.commit()
    assert increment.save() == [[[[1, 6], 1]], []]
    increment.step(ZSet({row: -1}), ZSet())
    increment.commit()
    assert increment.save() == [[], []]
