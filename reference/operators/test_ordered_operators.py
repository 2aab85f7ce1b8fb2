"""Top-k, ranks, LAG, frames and sessions say what SQL says, and look only near what changes.

`oracle_*` compares with the meaning of the integrated input at every tick, `differential_*` with
the increment that needs nothing but the meaning.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any

import pytest

from deltaproof.reference import ordered
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import CaseError, EvaluationError, SchemaError
from deltaproof.reference.operator import Operator, Shape, increment_of_shape
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import Ordered
from deltaproof.reference.query import (
    Query,
    avg,
    count,
    desc,
    max_,
    min_,
    query_from_json,
    sum_,
    table,
)
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

KINDS: tuple[type[Operator], ...] = (TopK, Rank, Lag, Rolling, SessionWindow)
SCHEMAS = (
    Schema.parse("a BIGINT, b BIGINT, c VARCHAR"),
    Schema.parse("x DOUBLE, n BIGINT, z DECIMAL(10,2)"),
    Schema.parse("d DATE, t TIMESTAMP, b BOOLEAN, h ARRAY(BIGINT)"),
)
T = table("t", "k BIGINT, v BIGINT")
V = table("t", "v BIGINT")


def answer(query: Query, rows: dict[Row, int]) -> ZSet:
    (schema,) = query.tables().values()
    return query.meaning()({"t": ZSet.of(schema, rows)})


def ticks(query: Query, *changes: dict[Row, int]) -> list[ZSet]:
    circuit = Circuit(query)
    return [circuit.step({"t": change})["view"] for change in changes]


# --- what they mean ---


def test_top_k_counts_duplicates_and_may_keep_a_part_of_them() -> None:
    rows = {(1, 5): 1, (1, 7): 1, (1, 6): 3, (2, 1): 1, (2, 9): -1}
    assert answer(T.top_k(3, desc("v"), partition=["k"]), rows) == ZSet(
        {(1, 7): 1, (1, 6): 2, (2, 1): 1}
    )
    assert answer(T.top_k(2, desc("v"), offset=1), rows) == ZSet({(1, 6): 2})
    assert answer(T.top_k(0, "v"), rows) == ZSet()


def test_top_k_takes_nulls_last_and_breaks_ties_by_the_whole_row() -> None:
    rows = {(2, None): 1, (2, 5): 1, (1, 5): 1}
    assert answer(T.top_k(1, "v"), rows) == ZSet({(1, 5): 1})
    assert answer(T.top_k(1, desc("v")), rows) == ZSet({(1, 5): 1})
    assert answer(T.top_k(1, desc("v", nulls_first=True)), rows) == ZSet({(2, None): 1})
    assert answer(T.top_k(1), rows) == ZSet({(1, 5): 1})


def test_top_k_is_refilled_from_behind() -> None:
    rows = {(1, 1): 1, (1, 2): 1, (1, 3): 1, (1, 4): 1}
    _, delta = ticks(T.top_k(2, "v"), rows, {(1, 1): -1})
    assert delta == ZSet({(1, 1): -1, (1, 3): 1})


def test_peers_share_a_rank_and_every_copy_has_a_number() -> None:
    rows = {(1, 5): 2, (2, 5): 1, (3, 6): 1, (4, None): 1, (5, 0): -1}
    assert answer(T.row_number("n", "v"), rows) == ZSet(
        dict.fromkeys([(1, 5, 1), (1, 5, 2), (2, 5, 3), (3, 6, 4), (4, None, 5)], 1)
    )
    assert answer(T.rank("n", "v"), rows) == ZSet(
        {(1, 5, 1): 2, (2, 5, 1): 1, (3, 6, 4): 1, (4, None, 5): 1}
    )
    assert answer(T.dense_rank("n", "v"), rows) == ZSet(
        {(1, 5, 1): 2, (2, 5, 1): 1, (3, 6, 2): 1, (4, None, 3): 1}
    )


def test_a_new_peer_moves_the_ranks_behind_and_no_dense_rank() -> None:
    rows, more = {(1, 5): 1, (2, 7): 1}, {(3, 5): 1}
    assert ticks(T.rank("n", "v"), rows, more)[1] == ZSet(
        {(3, 5, 1): 1, (2, 7, 2): -1, (2, 7, 3): 1}
    )
    assert ticks(T.dense_rank("n", "v"), rows, more)[1] == ZSet({(3, 5, 1): 1})


def test_a_rank_outside_64_bits_fails_the_tick_and_the_next_one_works() -> None:
    circuit = Circuit(T.rank("n", "v"))
    circuit.step({"t": {(1, 5): 2**63 - 1, (2, 7): -1}})
    for row in ((3, 6), (2, 7)):
        with pytest.raises(EvaluationError, match="RANK is 9223372036854775808: over 64 bits"):
            circuit.step({"t": {row: 2}})
    circuit.step({"t": {(3, 6): 1, (1, 5): -1}})
    assert circuit.contents()["view"] == ZSet({(1, 5, 1): 2**63 - 2, (3, 6, 2**63 - 1): 1})


def test_lag_looks_over_copies_and_does_not_skip_null() -> None:
    rows = {(1, 1): 2, (2, None): 1, (3, 5): 1}
    assert answer(T.lag("p", col("v"), "k"), rows) == ZSet(
        {(1, 1, None): 1, (1, 1, 1): 1, (2, None, 1): 1, (3, 5, None): 1}
    )
    assert answer(T.lead("p", col("v"), "k", offset=2, default=lit(-1)), rows) == ZSet(
        {(1, 1, None): 1, (1, 1, 5): 1, (2, None, -1): 1, (3, 5, -1): 1}
    )
    assert answer(T.lag("p", col("v"), "k", partition=["k"], default=col("k")), rows) == ZSet(
        {(1, 1, 1): 2, (2, None, 2): 1, (3, 5, 3): 1}
    )


def test_deleting_a_row_changes_the_lag_of_the_row_behind_it() -> None:
    _, delta = ticks(V.lag("p", col("v"), "v"), {(1,): 1, (2,): 1, (3,): 1}, {(2,): -1})
    assert delta == ZSet({(2, 1): -1, (3, 2): -1, (3, 1): 1})


def frames(frame: Frame, rows: dict[Row, int], *order: Order | str) -> dict[Row, int]:
    """(v, sum, count) of every row."""
    return dict(answer(V.rolling(frame, *order, s=sum_(col("v")), n=count()), rows).items())


def test_frames_of_rows_count_copies() -> None:
    rows = {(1,): 2, (4,): 1, (9,): 1}
    assert frames(Frame("rows", 1, 0), rows, "v") == {
        (1, 1, 1): 1,
        (1, 2, 2): 1,
        (4, 5, 2): 1,
        (9, 13, 2): 1,
    }
    beside = frames(Frame("rows", -1, 2), rows, "v")  # BETWEEN 1 FOLLOWING AND 2 FOLLOWING
    assert beside == {(1, 5, 2): 1, (1, 13, 2): 1, (4, 9, 1): 1, (9, None, 0): 1}


def test_frames_of_range_reach_by_value_and_peers_share_them() -> None:
    rows = {(1,): 2, (4,): 1, (9,): 1, (None,): 1}
    assert frames(Frame("range", 3, 0), rows, "v") == {
        (1, 2, 2): 2,
        (4, 6, 3): 1,
        (9, 9, 1): 1,
        (None, None, 1): 1,
    }
    assert frames(Frame("range", 3, 0), rows, desc("v")) == {
        (1, 6, 3): 2,
        (4, 4, 1): 1,
        (9, 9, 1): 1,
        (None, None, 1): 1,
    }


@pytest.mark.parametrize(
    ("nulls_first", "back", "counts"),
    [
        (False, None, {None: 4, 1: 2, 4: 3}),
        (True, None, {None: 1, 1: 3, 4: 4}),
        (False, 3, {None: 1, 1: 2, 4: 3}),
        (True, 3, {None: 1, 1: 2, 4: 3}),
        (True, 0, {None: 1, 1: 2, 4: 1}),
    ],
)
def test_null_is_in_the_frame_of_others_only_where_it_is_unbounded(
    nulls_first: bool, back: int | None, counts: dict[int | None, int]
) -> None:
    order = Order(col("v"), nulls_first=nulls_first)
    found = frames(Frame("range", back, 0), {(1,): 2, (4,): 1, (None,): 1}, order)
    assert {v: n for v, _, n in found} == counts


@pytest.mark.parametrize("unit", ["rows", "range"])
@pytest.mark.parametrize("following", [1, None])
def test_a_row_in_no_frame_is_not_asked_for_a_value(unit: str, following: int | None) -> None:
    query = T.rolling(Frame(unit, -1, following), "v", s=sum_(1 % col("k")))
    rows: dict[Row, int] = {(0, 5): 1, (2, 6): 1}
    assert ticks(query, rows) == [answer(query, rows)] == [ZSet({(0, 5, 1): 1, (2, 6, None): 1})]


def test_without_an_order_it_is_an_aggregate_of_the_partition() -> None:
    query = T.rolling(Frame("range", None, None), partition=["k"], top=max_(col("v")))
    assert answer(query, {(1, 5): 1, (1, 7): 1, (2, None): 1}) == ZSet(
        {(1, 5, 7): 1, (1, 7, 7): 1, (2, None, None): 1}
    )
    assert answer(T.rolling(Frame("range", 0, 0), n=count()), {(1, 5): 2, (2, 1): 1}) == ZSet(
        {(1, 5, 3): 2, (2, 1, 3): 1}
    )


def test_distances_have_the_unit_of_the_order() -> None:
    day, cents = datetime.date(2024, 2, 28), Decimal("1.50")
    dates = table("t", "d DATE").rolling(Frame("range", 2, 0), "d", n=count())
    later = datetime.date(2024, 3, 1)
    assert answer(dates, {(day,): 1, (later,): 1}) == ZSet({(day, 1): 1, (later, 2): 1})
    decimals = table("t", "x DECIMAL(10,2)").rolling(Frame("range", 1, 0), "x", n=count())
    assert answer(decimals, {(cents,): 1, (Decimal("2.50"),): 1, (Decimal("3.51"),): 1}) == ZSet(
        {(cents, 1): 1, (Decimal("2.50"), 2): 1, (Decimal("3.51"), 1): 1}
    )


def test_aggregates_of_a_frame_are_exact() -> None:
    doubles = table("t", "n BIGINT, x DOUBLE")
    query = doubles.rolling(Frame("rows", 1, 0), "n", s=sum_(col("x")), m=avg(col("x")))
    rows = {(1, 1e16): 1, (2, float("inf")): 1, (3, 1.0): 1, (4, 2.0): 1}
    inf = float("inf")
    assert answer(query, rows) == ZSet(
        dict.fromkeys(
            [(1, 1e16, 1e16, 1e16), (2, inf, inf, inf), (3, 1.0, inf, inf), (4, 2.0, 3.0, 1.5)], 1
        )
    )
    assert ticks(query, rows)[0] == answer(query, rows)


def test_a_row_joins_two_sessions_and_takes_them_apart_when_it_goes() -> None:
    query = V.session_window("v", 5)
    first, joined, apart = ticks(query, {(0,): 1, (10,): 2}, {(5,): 1}, {(5,): -1})
    assert first == ZSet({(0, 0, 5): 1, (10, 10, 15): 2})
    assert joined == ZSet(
        {(0, 0, 5): -1, (10, 10, 15): -2, (0, 0, 15): 1, (5, 0, 15): 1, (10, 0, 15): 2}
    )
    assert apart == -joined


def test_sessions_drop_rows_without_a_time_and_have_the_type_of_the_time() -> None:
    moment = datetime.datetime(2024, 1, 1)
    query = table("t", "t TIMESTAMP").session_window("t", 1_000_000, start="s", end="e")
    assert answer(query, {(moment,): 1, (None,): 1}) == ZSet(
        {(moment, moment, moment + datetime.timedelta(seconds=1)): 1}
    )
    assert str(query.schema) == "t TIMESTAMP, s TIMESTAMP NOT NULL, e TIMESTAMP NOT NULL"
    with pytest.raises(EvaluationError, match="more than 64 bits"):
        answer(V.session_window("v", 5), {(2**63 - 2,): 1})


@pytest.mark.parametrize("build", [T.row_number, lambda n, o: T.lag(n, col("v"), o)])
def test_a_row_that_is_there_too_often_is_refused_where_every_copy_differs(
    build: Callable[..., Query], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered, "MOST_COPIES", 3)
    circuit = Circuit(build("n", "v"))
    circuit.step({"t": {(1, 1): 3}})
    with pytest.raises(EvaluationError, match=r"row \(1, 1\) is there 4 times"):
        circuit.step({"t": {(1, 1): 1}})
    circuit.step({"t": {(1, 1): -2}})
    assert sum(weight for _, weight in circuit.contents()["view"].items()) == 1


S = table("t", "name VARCHAR, x DOUBLE, tags ARRAY(BIGINT)")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: T.top_k(-1, "v"), "expected a limit of 0 or more, got -1"),
        (lambda: T.top_k(1, "nope"), "unknown column 'nope'"),
        (lambda: T.top_k(1, "v", partition=["nope"]), "unknown column 'nope'"),
        (lambda: S.top_k(1, "tags"), "arrays have no order here"),
        (lambda: T.rank("v", "k"), "names must differ"),
        (lambda: T.lag("p", col("v"), "k", offset=0), "an offset above 0"),
        (lambda: T.lag("p", col("v"), "k", default=lit("x")), "both must have one type"),
        (lambda: T.rolling(Frame("rows", -2, 1), "v", n=count()), "ends before it begins"),
        (lambda: T.rolling(Frame("groups", 0, 0), "v", n=count()), 'expected Frame\\("rows"'),
        (lambda: T.rolling(Frame("range", 1, 0), n=count()), "an order of one term"),
        (lambda: S.rolling(Frame("range", 1, 0), "x", n=count()), "x, which is DOUBLE"),
        (lambda: S.rolling(Frame("range", 1, 0), "name", n=count()), "which is VARCHAR"),
        (
            lambda: T.rolling(
                Frame("rows", 1, 0), "v", n=AggregateCall("sum", col("v"), where=col("v") > 0)
            ),
            "without DISTINCT and FILTER",
        ),
        (lambda: S.session_window("x", 1), "BIGINT, DATE or TIMESTAMP, got x DOUBLE"),
        (lambda: T.session_window("v", -1), "expected a gap of 0 or more"),
    ],
)
def test_what_has_no_meaning_is_refused_when_it_is_built(
    build: Callable[[], Query], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        build()


@pytest.mark.parametrize(
    ("broken", "value"),
    [("order", "v"), ("order", [["v"]]), ("partition", "k"), ("limit", None), ("limit", True)],
)
def test_a_broken_case_file_is_an_error_that_says_where(broken: str, value: Any) -> None:
    tree = T.top_k(1, "v", partition=["k"]).to_json() | {broken: value}
    with pytest.raises((CaseError, SchemaError), match="top_k"):
        query_from_json(tree, {"t": T.schema}, "query")


# --- changes ---


def samples(kind: type[Operator], seed: object) -> Iterator[tuple[Operator, Schema]]:
    random = Random(f"{kind.name}/{seed}")
    while True:
        schema = random.choice(SCHEMAS)
        if operator := kind.sample(random, schema):
            yield operator, schema


def random_delta(random: Random, schema: Schema, size: int) -> ZSet:
    rows = [
        tuple(
            None if random.random() < 0.15 else sample_value(random, kind) for kind in schema.types
        )
        for _ in range(size)
    ]
    return ZSet([(row, random.choice((-2, -1, 1, 1, 2))) for row in rows], schema)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_oracle_and_differential_over_random_ticks(
    kind: type[Operator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered, "BLOCK", 2)
    random = Random(f"ticks/{kind.name}")
    for operator, schema in islice(samples(kind, "ticks"), 40):
        meaning, own = operator.meaning(schema), operator.increment(schema)
        general = increment_of_shape(Shape.GENERAL, meaning, [schema])
        contents, view = ZSet(), ZSet()
        for tick in range(8):
            delta = random_delta(random, schema, random.choice((0, 1, 2, 4, 12)))
            output = own.step(delta)
            assert output == general.step(delta), operator.label()
            assert own.step(delta) == output  # nothing was applied by looking
            own.commit()
            general.commit()
            contents, view = contents + delta, view + output
            assert view == meaning(contents), operator.label()
            if tick == 4:
                saved = own.save()
                own = operator.increment(schema)
                own.restore(saved)
                assert own.save() == saved


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_state_is_empty_again_when_everything_was_taken_back(kind: type[Operator]) -> None:
    random = Random(f"empty/{kind.name}")
    for operator, schema in islice(samples(kind, "empty"), 20):
        own: Any = operator.increment(schema)
        deltas = [random_delta(random, schema, 4) for _ in range(5)]
        for delta in deltas + [-delta for delta in deltas]:
            own.step(delta)
            own.commit()
        assert not own.groups
        assert not getattr(own, "peers", {})


NARROW = {
    "top_k": T.top_k(10, desc("v")),
    "row_number at the end": T.row_number("n", "v"),
    "lag": T.lag("p", col("v"), "v"),
    "lead": T.lead("p", col("v"), "v", offset=3),
    "rolling rows": T.rolling(Frame("rows", 3, 3), "v", s=sum_(col("k")), lo=min_(col("k"))),
    "rolling range": T.rolling(Frame("range", 10, 0), "v", s=sum_(col("k"))),
    "dense_rank at the end": T.dense_rank("n", "v"),
    "session": T.session_window("v", 2),
}


@pytest.mark.parametrize("name", list(NARROW))
def test_work_follows_the_change_and_not_the_group(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries read for a change near the end of one group of 300 and of 3,000 rows."""
    read = []
    upwards, downwards = Ordered.upwards, Ordered.downwards

    def counted(entries: Iterator[Any]) -> Iterator[Any]:
        for entry in entries:
            read.append(entry)
            yield entry

    work = []
    for size in (300, 3_000):
        circuit = Circuit(NARROW[name])
        circuit.step({"t": {(0, 3 * number): 1 for number in range(size)}})
        with monkeypatch.context() as patched:
            patched.setattr(Ordered, "upwards", lambda *args: counted(upwards(*args)))
            patched.setattr(Ordered, "downwards", lambda *args: counted(downwards(*args)))
            read.clear()
            circuit.step({"t": {(0, 3 * size - 7): 1}})
        work.append(len(read))
    small, large = work
    assert small == large
    assert small < 100
