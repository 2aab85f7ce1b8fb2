"""A query per group is the query over each group's rows, and only touched groups do work."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import Shape, increment_of_shape
from deltaproof.reference.operators.per_group import PerGroup, PerGroupIncrement
from deltaproof.reference.query import (
    Apply,
    Query,
    count,
    max_,
    per_group,
    recursion,
    sum_,
    table,
)
from deltaproof.reference.scalar import col
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT")
S = table("s", "k BIGINT, w BIGINT")
EDGES = table("edges", "k BIGINT, a BIGINT, b BIGINT")
PATHS = table("paths", "a BIGINT, b BIGINT")

VALUES = T.project("v")
TOTAL = T.aggregate(n=count(), total=sum_(col("v")))
LONGER = PATHS.join(EDGES.project("a", "b").prefix("e_"), {"b": "e_a"})
CLOSURE = recursion(
    "paths", {"paths": EDGES.project("a", "b").union_all(LONGER.map(a=col("a"), b=col("e_b")))}
)
QUERIES: dict[str, Query] = {
    "rows": per_group(["k"], VALUES),
    "distinct": per_group(["k"], VALUES.distinct()),
    "an aggregate without keys": per_group(["k"], TOTAL),
    "an aggregate with keys": per_group(["k"], T.group_by("v").aggregate(n=count())),
    "two tables": per_group(["k"], VALUES.join(S.project("w"), {"v": "w"})),
    "what the other table has not": per_group(["k"], VALUES.union_all(S.project("w").negate())),
    "a recursion": per_group(["k"], CLOSURE),
    "groups of groups": per_group(
        ["k"],
        per_group(
            ["a"], table("rows", EDGES.schema).aggregate(top=max_(col("b"))), rows=EDGES
        ).project("a", "top"),
    ),
    "over what another query gives": T.distinct().per_group(["k"], VALUES),
    "two keys": per_group(["k", "v"], T.aggregate(n=count())),
}


def random_tick(random: Random, query: Query) -> dict[str, ZSet]:
    values = (0, 1, 2, None)

    def delta(schema: Schema) -> ZSet:
        rows = (tuple(random.choice(values) for _ in schema.types) for _ in range(4))
        return ZSet([(row, random.choice((-2, -1, 1, 1, 2))) for row in rows])

    tables = query.tables().items()
    return {name: delta(schema) for name, schema in tables if random.random() < 0.8}


@pytest.mark.parametrize("name", list(QUERIES))
def test_oracle_a_query_per_group_is_what_it_means_at_every_tick(name: str) -> None:
    query = QUERIES[name]
    meaning = query.meaning()
    for seed in range(15):
        random = Random(seed)
        circuit = Circuit(query)
        total = {name: ZSet() for name in query.tables()}
        for tick in range(8):
            deltas = random_tick(random, query)
            circuit.step(deltas)
            total |= {name: total[name] + delta for name, delta in deltas.items()}
            assert circuit.contents()["view"] == meaning(total), (seed, tick)
            if tick == 4:
                circuit = Circuit.restore(query, circuit.checkpoint())
        circuit.step({name: -rows for name, rows in total.items()})
        assert circuit.contents()["view"] == ZSet()
        assert increment_of(circuit).groups == {}
    assert Query.from_json(json.loads(json.dumps(query.to_json())), query.tables()) == query


def increment_of(circuit: Circuit) -> PerGroupIncrement:
    """The state of the outermost operator."""
    _, node = circuit._nodes[-1]
    assert isinstance(node.increment, PerGroupIncrement)
    return node.increment


def test_differential_random_queries_per_group_against_the_general_increment() -> None:
    random = Random("per_group")
    schema = Schema.parse("k BIGINT, v BIGINT, w VARCHAR NOT NULL, x DOUBLE")
    for _ in range(100):
        operator = PerGroup.sample(random, schema)
        assert operator is not None
        assert PerGroup.from_json(json.loads(json.dumps(operator.to_json()))) == operator
        own = operator.increment(schema)
        general = increment_of_shape(Shape.GENERAL, operator.meaning(schema), [schema])
        for _ in range(5):
            rows = [
                tuple(sample_value(random, kind) for kind in schema.types)
                for _ in range(random.randrange(5))
            ]
            delta = ZSet([(row, random.choice((-1, 1, 1, 2))) for row in rows], schema)
            try:
                expected = general.step(delta)
            except EvaluationError:
                with pytest.raises(EvaluationError):
                    own.step(delta)
                continue
            assert own.step(delta) == expected, operator
            own.commit()
            general.commit()


def test_a_group_is_there_while_it_has_a_row_of_any_weight() -> None:
    circuit = Circuit(QUERIES["an aggregate without keys"])
    nothing_but_a_debt = {"t": {(1, 5): -1}}
    assert circuit.step(nothing_but_a_debt)["view"] == ZSet({(1, -1, None): 1})
    assert circuit.step({"t": {(1, 7): 1}})["view"] == ZSet({(1, -1, None): -1, (1, 0, None): 1})
    circuit.step({"t": {(1, 5): 1}})
    assert circuit.step({"t": {(1, 7): -1}})["view"] == ZSet({(1, 1, 7): -1})


def test_a_group_stays_while_any_of_its_tables_has_a_row() -> None:
    query = per_group(["k"], TOTAL.join(S.aggregate(others=count())))
    circuit = Circuit(query)
    circuit.step({"t": {(1, 5): 1}, "s": {(1, 0): 1}})
    circuit.step({"t": {(1, 5): -1}})
    assert circuit.contents()["view"] == ZSet({(1, 0, None, 1): 1})
    circuit.step({"s": {(1, 0): -1}})
    assert circuit.contents()["view"] == ZSet()


def test_null_keys_are_one_group() -> None:
    circuit = Circuit(QUERIES["an aggregate without keys"])
    circuit.step({"t": {(None, 1): 1, (None, 2): 1, (0, 5): 1}})
    assert circuit.contents()["view"] == ZSet({(None, 2, 3): 1, (0, 1, 5): 1})


def test_only_the_groups_that_a_tick_touches_do_work() -> None:
    circuit = Circuit(QUERIES["an aggregate without keys"])
    circuit.step({"t": {(key, 1): 1 for key in range(500)}})
    increment = increment_of(circuit)
    increment.step(ZSet({(7, 2): 1, (8, 1): -1}))
    assert set(increment.staged) == {(7,), (8,)}


def test_a_tick_that_fails_in_one_group_changes_none() -> None:
    circuit = Circuit(per_group(["k"], T.aggregate(s=sum_(col("v")))))
    circuit.step({"t": {(1, 1): 1}})
    with pytest.raises(EvaluationError, match=r"SUM\(v\) is 9223372036854775808.*in group \(2,\)"):
        circuit.step({"t": {(1, 5): 1, (2, 2**62): 2}})
    assert circuit.step({"t": {(1, 2): 1}})["view"] == ZSet({(1, 1): -1, (1, 3): 1})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: per_group(["k"], T.distinct()), "has a column 'k', and so has the key"),
        (lambda: per_group(["z"], VALUES), "unknown column 'z'"),
        (lambda: per_group([], VALUES), "no keys"),
        (lambda: per_group(["k"], VALUES.delay()), "remembers earlier ticks"),
        (
            lambda: per_group(["k"], VALUES.join(table("n", "k VARCHAR").map(n=col("k")))),
            "key 'k' must have one type in every table",
        ),
    ],
)
def test_a_query_per_group_that_means_nothing_is_refused(
    build: Callable[[], Apply], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        build()
