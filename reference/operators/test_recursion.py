"""A recursion is the least fixpoint at every tick, and a change costs what it changes in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest

from deltaproof.reference.bench_recursion import closure, graph
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.operator import Shape, increment_of_shape
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.operators.recursion_increment import RecursionIncrement
from deltaproof.reference.query import Apply, Query, count, max_, recursion, table
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.select import Recursive, Relation
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

E = table("e", "a BIGINT, b BIGINT")
F = table("f", "x BIGINT, y BIGINT")
R = table("r", "a BIGINT, b BIGINT")
STEP = R.join(E.prefix("e_"), {"b": "e_a"}).map(a=col("a"), b=col("e_b"))
SWAPPED = {"a": col("b"), "b": col("a")}


def paths(body: Query) -> Apply:
    return recursion("r", {"r": body})


def mutual(result: str) -> Apply:
    even, odd = table("even", "n BIGINT"), table("odd", "n BIGINT")
    return recursion(
        result,
        {
            "even": F.map(n=col("x")).union_all(odd.join(E, {"n": "a"}).map(n=col("b"))),
            "odd": even.join(E, {"n": "a"}).map(n=col("b")),
        },
    )


def nested() -> Apply:
    """Paths in a graph that has an edge back along those of its own paths that end in F."""
    outer, edges = table("outer", "a BIGINT, b BIGINT"), table("g", "a BIGINT, b BIGINT")
    step = R.join(edges.prefix("g_"), {"b": "g_a"}).map(a=col("a"), b=col("g_b"))
    inner = recursion("r", {"r": edges.union_all(step)}, g=outer.map(**SWAPPED).union_all(E))
    ends = inner.semi_join(F, {"a": "x"})
    return recursion("outer", {"outer": F.map(a=col("x"), b=col("y")).union_all(ends)})


QUERIES: dict[str, Query] = {
    "closure": paths(E.union_all(STEP)),
    "closure by doubling": paths(
        E.union_all(R.join(R.prefix("z_"), {"b": "z_a"}).map(a=col("a"), b=col("z_b")))
    ),
    "even": mutual("even"),
    "odd": mutual("odd"),
    "nested": nested(),
    "nested, not recursive in the outer": recursion(
        "r", {"r": paths(E.union_all(STEP)).union_all(R.map(**SWAPPED).semi_join(F, {"a": "x"}))}
    ),
    "semi join with what is outside": paths(E.union(STEP.semi_join(F, {"a": "x"}, col("b") > 1))),
    "semi join of what is outside": paths(
        F.map(a=col("x"), b=col("y")).union(E.semi_join(R.prefix("r_"), {"a": "r_b"}))
    ),
    "anti join": paths(E.union(STEP.anti_join(F, {"a": "x"}, col("b") > col("y")))),
    "except": paths(E.union(STEP.except_(F))),
    "intersect": paths(E.union(STEP.intersect(R.map(**SWAPPED), all=True)).union(STEP.positive())),
    "left join": paths(
        E.union(STEP.left_join(F, {"b": "x"}, col("a") > col("y")).map(a=col("a"), b=col("y")))
    ),
    "right join": paths(E.union(F.right_join(STEP, {"x": "b"}).map(a=col("a"), b=col("y")))),
    "new values, up to a bound of their own": paths(
        E.union_all(R.map(a=col("a"), b=col("b") + 1).filter(col("b") < 5)).distinct()
    ),
    "an aggregate outside": paths(E.group_by("a").aggregate(b=count()).union_all(STEP)),
    "an aggregate without keys outside": paths(
        E.aggregate(b=count(), m=max_(col("b"))).map(a=col("m"), b=col("b")).union_all(STEP)
    ),
}
LOOP = {(1, 2): 1, (2, 3): 1, (3, 2): 1}


def random_tick(random: Random, query: Query) -> dict[str, ZSet]:
    """Changes of either sign, NULLs, rows deleted that are not there; sometimes none."""
    values = (0, 1, 2, 3, 4, None)

    def delta(schema: Schema) -> ZSet:
        rows = (tuple(random.choice(values) for _ in schema.types) for _ in range(5))
        return ZSet([(row, random.choice((-2, -1, 1, 1, 2))) for row in rows])

    tables = query.tables().items()
    return {name: delta(schema) for name, schema in tables if random.random() < 0.8}


@pytest.mark.parametrize("name", list(QUERIES))
def test_oracle_a_recursion_is_what_it_means_at_every_tick(name: str) -> None:
    query = QUERIES[name]
    meaning = query.meaning()
    for seed in range(12):
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
        assert circuit.contents()["view"] == meaning({})


def test_differential_random_recursions_against_the_general_increment() -> None:
    random = Random("recursion")
    schema = Schema.parse("k BIGINT, v VARCHAR NOT NULL, l BIGINT, w VARCHAR")
    for _ in range(80):
        operator = Recursion.sample(random, schema)
        assert operator is not None
        assert Recursion.from_json(json.loads(json.dumps(operator.to_json()))) == operator
        own = operator.increment(schema)
        general = increment_of_shape(Shape.GENERAL, operator.meaning(schema), [schema])
        for _ in range(6):
            rows = [
                tuple(sample_value(random, kind) for kind in schema.types)
                for _ in range(random.randrange(6))
            ]
            delta = ZSet([(row, random.choice((-1, 1, 1, 2))) for row in rows], schema)
            assert own.step(delta) == general.step(delta), operator
            own.commit()
            general.commit()


def test_a_schema_without_two_columns_of_one_type_has_no_random_recursion() -> None:
    assert Recursion.sample(Random(1), Schema.parse("k BIGINT, v VARCHAR")) is None


def test_nested_recursion_means_what_its_flattened_form_means() -> None:
    query = nested()
    flat = recursion("outer", flat_definitions(query))
    meaning, flat_meaning = query.meaning(), flat.meaning()
    random = Random(5)
    for _ in range(100):
        tables = random_tick(random, query)
        assert meaning(tables) == flat_meaning(tables)
    assert len(flat_definitions(query)) == 2


def flat_definitions(query: Apply) -> dict[str, Query]:
    assert isinstance(query.operator, Recursion)
    return {relation.label(): body for relation, body in query.operator.bodies.items()}


def test_a_cycle_cut_from_its_root_leaves_nothing() -> None:
    reached = table("reached", "n BIGINT")
    further = reached.join(E, {"n": "a"}).map(n=col("b"))
    query = recursion("reached", {"reached": F.map(n=col("y")).union_all(further)})
    circuit = Circuit(query)
    circuit.step({"e": LOOP, "f": {(0, 1): 1}})
    assert circuit.contents()["view"] == ZSet({(1,): 1, (2,): 1, (3,): 1})
    assert circuit.step({"e": {(1, 2): -1}})["view"] == ZSet({(2,): -1, (3,): -1})
    circuit.step({"f": {(0, 1): -1}})
    assert circuit.contents()["view"] == ZSet()


def test_state_is_empty_again_when_everything_was_taken_back() -> None:
    circuit, untouched = Circuit(QUERIES["nested"]), Circuit(QUERIES["nested"])
    untouched.step({})
    circuit.step({"e": LOOP, "f": {(3, 1): 1, (2, 2): 1}})
    circuit.step({"e": {(3, 2): -1, (3, 3): 5}})
    circuit.step({"e": {(1, 2): -1, (2, 3): -1, (3, 3): -5}, "f": {(3, 1): -1, (2, 2): -1}})
    assert json.loads(circuit.checkpoint())["nodes"] == json.loads(untouched.checkpoint())["nodes"]


def test_a_second_derivation_keeps_a_row_and_the_last_one_takes_it_along() -> None:
    circuit = Circuit(QUERIES["closure"])
    circuit.step({"e": {(1, 2): 1, (2, 4): 1, (1, 3): 1, (3, 4): 1, (1, 4): 1}})
    assert circuit.step({"e": {(1, 4): -1}})["view"] == ZSet()
    assert circuit.step({"e": {(2, 4): -1}})["view"] == ZSet({(2, 4): -1})
    assert circuit.step({"e": {(3, 4): -1}})["view"] == ZSet({(3, 4): -1, (1, 4): -1})


def test_what_enters_the_recursion_enters_as_a_set() -> None:
    circuit = Circuit(QUERIES["closure"])
    circuit.step({"e": {(1, 2): -1, (2, 3): 7}})
    assert circuit.contents()["view"] == ZSet({(2, 3): 1})
    assert circuit.step({"e": {(1, 2): 2}})["view"] == ZSet({(1, 2): 1, (1, 3): 1})


def test_a_recursion_that_does_not_end_is_an_error_that_names_it_and_changes_nothing() -> None:
    query = recursion("r", {"r": E.union_all(R.map(a=col("a"), b=col("b") + 1))}, bound=50)
    circuit = Circuit(query)
    circuit.step({})
    with pytest.raises(EvaluationError, match="'r' still changes after 50 iterations, the bound"):
        circuit.step({"e": {(1, 1): 1}})
    with pytest.raises(EvaluationError, match="'r' still changes after 50 iterations, the bound"):
        query.meaning()({"e": ZSet({(1, 1): 1})})
    assert circuit.ticks == 1
    assert circuit.step({"e": {(1, None): 1}})["view"] == ZSet({(1, None): 1})


@pytest.mark.parametrize("bound", [4, 5])
def test_the_bound_is_the_same_for_the_increment_and_the_meaning(bound: int) -> None:
    """A chain of three edges: new paths in three iterations, none in the fourth."""
    chain = ZSet({(1, 2): 1, (2, 3): 1, (3, 4): 1})
    query = recursion("r", {"r": E.union_all(STEP)}, bound=bound)
    short = recursion("r", {"r": E.union_all(STEP)}, bound=3)
    assert len(query.meaning()({"e": chain})) == 6
    assert len(Circuit(query).step({"e": chain})["view"]) == 6
    for fails in (lambda: short.meaning()({"e": chain}), lambda: Circuit(short).step({"e": chain})):
        with pytest.raises(EvaluationError):
            fails()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: paths(E.union_all(R.negate())), "negate cannot read the recursive r"),
        (lambda: paths(E.except_(R)), "except cannot read the recursive r on its right"),
        (lambda: paths(R.except_(E, all=True)), "except all cannot read the recursive r"),
        (lambda: paths(E.anti_join(R.prefix("r_"), {"a": "r_b"})), "anti join .* cannot read"),
        (
            lambda: paths(E.left_join(R.prefix("r_"), {"a": "r_a"}).project("a", "r_b")),
            "left join .* cannot read",
        ),
        (lambda: paths(R.group_by("a").aggregate(b=count())), "aggregate .* cannot read"),
        (lambda: paths(R.group_by("a").aggregate(b=count()).union_all(E)), "no least fixpoint"),
        (lambda: paths(E.delay()), "remembers earlier ticks"),
        (lambda: paths(R.project("a").union_all(E.project("b"))), "they must have the same types"),
        (
            lambda: recursion("r", {"r": E.union_all(table("r", "a BIGINT NOT NULL, b BIGINT"))}),
            "a must be nullable",
        ),
        (lambda: recursion("s", {"r": E}), "no definition of 's': there are r"),
        (lambda: recursion("r", {"r": E}, bound=0), "bound must be at least 1"),
    ],
)
def test_a_recursion_without_a_least_fixpoint_is_refused(
    build: Callable[[], Query], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        build()


def test_what_does_not_depend_on_the_recursion_may_use_anything() -> None:
    single = E.anti_join(F, {"a": "x"}).group_by("a").aggregate(b=max_(col("b")))
    query = paths(single.union_all(STEP))
    assert query.meaning()({"e": ZSet(LOOP), "f": ZSet({(3, 0): 1})}) == ZSet(
        {(1, 2): 1, (2, 3): 1, (1, 3): 1, (2, 2): 1}
    )


def visits(circuit: Circuit, edges: dict[Row, int]) -> int:
    """The work of a tick: the rows that go into and come out of the nodes of the iteration."""
    circuit.step({"edges": edges})
    (increment,) = (
        node.increment
        for _, node in circuit._nodes
        if isinstance(node.increment, RecursionIncrement)
    )
    return increment.fixpoint.visits


def test_the_work_of_a_tick_follows_what_it_changes_and_not_the_size_of_the_graph() -> None:
    work = []
    for nodes in (400, 1_600):
        edges = graph(nodes, component=200)
        circuit = Circuit(closure())
        visits(circuit, dict.fromkeys(edges, 1))
        changed = Random(1).sample(edges[:199], 20)
        work.append(sum(visits(circuit, {e: -1}) + visits(circuit, {e: 1}) for e in changed))
    assert work[0] == work[1]


def test_an_edge_deleted_and_put_back_costs_little_of_the_closure_of_its_component() -> None:
    edges = graph(1_000, component=1_000)
    circuit = Circuit(closure())
    anew = visits(circuit, dict.fromkeys(edges, 1))
    changed = Random(2).sample(edges, 50)
    work = [visits(circuit, {edge: -1}) + visits(circuit, {edge: 1}) for edge in changed]
    assert sum(work) / len(work) < 0.05 * anew


def test_sql_has_words_for_a_base_and_a_step_that_reads_the_recursion_once() -> None:
    relations = (Relation("e", E.schema), Relation("r", F.schema))

    def said(query: Query) -> Recursive | None:
        assert isinstance(query, Apply)
        assert isinstance(query.operator, Recursion)
        return query.operator.select(*relations[: len(query.over)])

    found = said(QUERIES["closure"])
    assert found is not None
    assert (found.name, found.schema) == ("r", R.schema)
    kept = said(paths(E.union_all(STEP.semi_join(F, {"a": "x"}).filter(col("b") > lit(0)))))
    assert kept is None
    assert said(QUERIES["closure by doubling"]) is None
    assert said(QUERIES["even"]) is None


def test_a_recursion_of_a_tables_name_is_renamed_in_sql() -> None:
    operator = paths(E.union_all(STEP)).operator
    assert isinstance(operator, Recursion)
    found = operator.select(Relation("r", E.schema))
    assert found is not None
    assert found.name == "r_"
