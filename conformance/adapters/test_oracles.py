"""Three engines that share no code for answering must say the same at every tick."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any

import pytest

from deltaproof.conformance.adapter import Backend, Observed, Refuses, type_capability
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.adapters.sqlite import SqliteBackend
from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import applicable_kinds, shapes, take_cases
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.judge import Difference, Judge, Oracle, run_case, run_cases
from deltaproof.conformance.pools import DOMAINS
from deltaproof.conformance.suite import supports
from deltaproof.properties.killers import killer_domain
from deltaproof.reference.errors import (
    BackendError,
    DeltaproofError,
    EvaluationError,
    SchemaError,
    TickError,
)
from deltaproof.reference.order import Order
from deltaproof.reference.query import (
    Query,
    Table,
    avg,
    count,
    max_,
    min_,
    sum_,
    table,
    variance,
)
from deltaproof.reference.scalar import (
    add_months,
    array,
    case,
    cast,
    coalesce,
    col,
    date_trunc,
    lit,
    lower,
    year,
)
from deltaproof.reference.scalar_sample import sample_expression
from deltaproof.reference.select import Frame
from deltaproof.reference.types import DATE, DOUBLE, NAN, VARCHAR, Column, Row, Schema
from deltaproof.reference.zset import ZSet

pytest.importorskip("duckdb")
duckdb_adapter = pytest.importorskip("deltaproof.conformance.adapters.duckdb")

BACKENDS: Mapping[str, Backend] = {
    "reference": ReferenceBackend(),
    "sqlite": SqliteBackend(),
    "duckdb": duckdb_adapter.DuckDBBackend(),
}
ORACLES = [BACKENDS["sqlite"], BACKENDS["duckdb"]]
each_oracle = pytest.mark.parametrize("oracle", ORACLES, ids=["sqlite", "duckdb"])

NEW_YEAR = datetime.date(2013, 1, 1)
NOON = datetime.datetime(2013, 1, 1, 12, 0, 0, 5)
T = table("t", "k BIGINT, v VARCHAR")
U = table("u", "n BIGINT, x DOUBLE")
B = table("b", "p BOOLEAN, d DATE, m TIMESTAMP")

Weights = dict[tuple[Any, ...], int]


def ticks(*deltas: Mapping[str, Weights]) -> list[dict[str, ZSet]]:
    return [{name: ZSet(delta) for name, delta in tick.items()} for tick in deltas]


T_TICKS = ticks(
    {"t": {(1, "a"): 2, (1, None): 1, (None, "b"): 1}},
    {},
    {"t": {(1, "a"): -1, (2, "B"): 3}},
    {"t": {(1, "a"): -1, (1, None): -1, (None, "b"): -1, (2, "B"): -3}},
    {"t": {(1, "a"): 1}},
)
TU_TICKS = ticks(
    {"t": {(1, "a"): 2, (None, "b"): 1}, "u": {(1, 0.5): 1, (None, 1.0): 1}},
    {"u": {(1, 0.5): 1, (1, -0.5): 1}},
    {"t": {(1, "a"): -1}, "u": {(1, 0.5): -2}},
    {"t": {(1, "a"): -1}},
)
U_TICKS = ticks(
    {"u": {(1, 0.5): 1, (1, None): 1, (2, None): 1, (None, 2.0): 2}},
    {"u": {(1, 0.5): -1, (2, -1.5): 1}},
    {"u": {(1, None): -1, (2, None): -1, (2, -1.5): -1, (None, 2.0): -2}},
)
B_TICKS = ticks(
    {"b": {(True, NEW_YEAR, NOON): 2, (False, None, NOON): 1, (None, NEW_YEAR, None): 1}},
    {"b": {(True, NEW_YEAR, NOON): -2}},
)

# title: (query, ticks, the contents after the last tick)
CASES: Mapping[str, tuple[Query, list[dict[str, ZSet]], Weights]] = {
    "a table is itself": (T, T_TICKS, {(1, "a"): 1}),
    "filter keeps a row only when the predicate is true": (
        T.filter((col("k") < 2) | col("v").eq("b")),
        T_TICKS[:1],
        {(1, "a"): 2, (1, None): 1, (None, "b"): 1},
    ),
    "like minds the case": (T.filter(col("v").like("b%")), T_TICKS[:3], {(None, "b"): 1}),
    "map merges rows that become equal": (
        T.project("k"),
        T_TICKS[:3],
        {(1,): 2, (2,): 3, (None,): 1},
    ),
    "expressions of every type": (
        B.map(
            c=case((col("p"), "yes"), (col("p").is_null(), "?"), default="no"),
            y=year(col("m")),
            later=col("d") > lit(datetime.date(2012, 12, 31)),
            day=cast(col("m"), DATE),
            half=cast(coalesce(year(col("d")), 1), DOUBLE) / 2.0,
            text=lower(cast(col("d"), VARCHAR)),
        ),
        B_TICKS,
        {
            ("no", 2013, None, NEW_YEAR, 0.5, None): 1,
            ("?", None, True, None, 1006.5, "2013-01-01"): 1,
        },
    ),
    "division truncates toward zero": (
        U.map(r=(col("n") - 4) % 3, q=cast((col("n") - 4), DOUBLE) / 2.0),
        U_TICKS[:1],
        {(0, -1.5): 2, (-2, -1.0): 1, (None, None): 2},
    ),
    "flat map makes a row per element": (
        T.flat_map(array(col("k"), col("k") + 1, 7), "e").project("e"),
        T_TICKS[:1],
        {(1,): 3, (2,): 3, (7,): 4, (None,): 2},
    ),
    "union all adds weights": (T.union_all(T.filter(col("k") > 1)), T_TICKS[:3], {
        (1, "a"): 1, (1, None): 1, (None, "b"): 1, (2, "B"): 6,
    }),
    "join multiplies weights and NULL matches nothing": (
        T.join(U, on={"k": "n"}),
        TU_TICKS[:2],
        {(1, "a", 1, 0.5): 4, (1, "a", 1, -0.5): 2},
    ),
    "join with both sides in one tick": (T.join(U, on={"k": "n"}), TU_TICKS[:3], {
        (1, "a", 1, -0.5): 1,
    }),
    "join with itself": (
        T.join(T.prefix("r_"), on={"k": "r_k"}),
        T_TICKS[:1],
        {
            (1, "a", 1, "a"): 4,
            (1, "a", 1, None): 2,
            (1, None, 1, "a"): 2,
            (1, None, 1, None): 1,
        },
    ),
    "cross product": (
        T.project("k").join(U.project("n")),
        TU_TICKS[:1],
        {(1, 1): 2, (1, None): 2, (None, 1): 1, (None, None): 1},
    ),
    "distinct counts once and NULLs are equal": (T.project("k").distinct(), T_TICKS[:3], {
        (1,): 1, (2,): 1, (None,): 1,
    }),
    "a group emptied and resurrected": (
        T.group_by("k").aggregate(n=count(), named=count(col("v"))),
        T_TICKS,
        {(1, 1, 1): 1},
    ),
    "aggregates skip NULL": (
        U.group_by("n").aggregate(
            s=sum_(col("x")), a=avg(col("x")), low=min_(col("x")), high=max_(col("x"))
        ),
        U_TICKS[:2],
        {(1, None, None, None, None): 1, (2, -1.5, -1.5, -1.5, -1.5): 1,
         (None, 4.0, 2.0, 2.0, 2.0): 1},
    ),
    "without a key there is one row over nothing": (
        U.aggregate(rows=count(), s=sum_(col("n")), a=avg(col("n")), low=min_(col("x"))),
        U_TICKS,
        {(0, None, None, None): 1},
    ),
    "MIN and MAX of text, dates and booleans": (
        B.aggregate(p=max_(col("p")), d=min_(col("d")), m=max_(col("m"))),
        B_TICKS,
        {(False, NEW_YEAR, NOON): 1},
    ),
    "a shared subquery": (
        T.distinct().join(T.distinct().prefix("r_"), on={"k": "r_k"}).group_by("k").aggregate(
            n=count()
        ),
        T_TICKS[:1],
        {(1, 4): 1},
    ),
    "an aggregate of an aggregate without a key": (
        T.aggregate(low=min_(col("k"))).group_by("low").aggregate(n=count()),
        T_TICKS[:4],
        {(None, 1): 1},
    ),
}  # fmt: skip


def checked(case_: Case, backend: Backend, observed: Sequence[Observed]) -> Difference | None:
    expected = Oracle(case_.query).expected(case_)
    return Judge(case_.query.schema, backend.tolerance).difference(expected, observed)


@pytest.mark.parametrize("title", CASES)
@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_says_at_every_tick_what_the_meaning_says(name: str, title: str) -> None:
    query, stream, last = CASES[title]
    backend, case_ = BACKENDS[name], Case(query, tuple(stream))
    observed = run_case(backend, case_)
    assert checked(case_, backend, observed) is None
    assert observed[-1].contents == ZSet(last)


def test_the_batch_form_of_duckdb_observes_what_its_sessions_observe() -> None:
    duckdb = BACKENDS["duckdb"]
    for query, stream, _ in CASES.values():
        cases = [Case(query, tuple(stream[:length])) for length in range(len(stream) + 1)]
        assert run_cases(duckdb, cases) == [run_case(duckdb, each) for each in cases]


def has_value(case_: Case) -> bool:
    try:
        Oracle(case_.query).expected(case_)
    except EvaluationError:
        return False
    return True


@pytest.mark.parametrize(("name", "number"), [("reference", 60), ("sqlite", 60), ("duckdb", 60)])
def test_random_cases_agree(name: str, number: int) -> None:
    backend = BACKENDS[name]
    judged = 0
    for shape in islice(shapes(20130101), number):
        if not supports(backend, shape):
            continue
        kinds = applicable_kinds(shape, list(KINDS), backend.capabilities)
        cases = [each for each in take_cases(shape, kinds, 15) if has_value(each)]
        for case_, observed in zip(cases, run_cases(backend, cases), strict=True):
            assert checked(case_, backend, observed) is None, case_.text()
            judged += 1
    assert judged >= 300


# --- a bag ---


@each_oracle
def test_a_delete_takes_out_exactly_its_copies(oracle: Backend) -> None:
    session = oracle.open(T.tables(), {"view": T})
    session.step({"t": ZSet({(1, None): 5, (None, None): 2, (1, "a"): 1})})
    session.step({"t": ZSet({(1, None): -3, (None, None): -1})})
    assert session.read("view") == ZSet({(1, None): 2, (None, None): 1, (1, "a"): 1})
    session.step({"t": ZSet({(1, None): -2, (None, None): -1, (1, "a"): -1})})
    assert session.read("view") == ZSet()


@each_oracle
def test_deleting_a_row_that_is_not_there_is_refused_and_changes_nothing(oracle: Backend) -> None:
    session = oracle.open(T.tables(), {"view": T})
    session.step({"t": ZSet({(1, "a"): 1})})
    message = (
        r"table t: cannot delete 2 of row \(1, 'a'\): it holds 1, "
        "and a bag has no negative weights"
    )
    with pytest.raises(BackendError, match=message):
        session.step({"t": ZSet({(7, "new"): 1, (1, "a"): -2})})
    assert session.read("view") == ZSet({(1, "a"): 1})
    session.step({"t": ZSet({(1, "a"): -1})})
    assert session.read("view") == ZSet()


def test_the_batch_form_refuses_it_too() -> None:
    stream = ticks({"t": {(1, "a"): 1}}, {"t": {(1, "a"): -2}})
    with pytest.raises(BackendError, match=r"cannot delete 2 of row \(1, 'a'\): it holds 1"):
        run_cases(BACKENDS["duckdb"], [Case(T, tuple(stream))])


@each_oracle
def test_a_weight_no_bag_could_hold_is_refused(oracle: Backend) -> None:
    session = oracle.open(T.tables(), {"view": T})
    with pytest.raises(BackendError, match="a bag writes every copy down, at most 100000"):
        session.step({"t": ZSet({(1, "a"): 10**12})})


@each_oracle
def test_an_unknown_table_is_refused(oracle: Backend) -> None:
    session = oracle.open(T.tables(), {"view": T})
    with pytest.raises(TickError, match="unknown table 'u': there are t"):
        session.step({"u": ZSet({(1, 0.5): 1})})


# --- types come back as they came ---


@each_oracle
def test_values_come_back_as_their_types(oracle: Backend) -> None:
    row = (True, NEW_YEAR, NOON)
    session = oracle.open(B.tables(), {"view": B})
    session.step({"b": ZSet({row: 1, (False, None, None): 1})})
    found = session.read("view")
    assert found == ZSet({row: 1, (False, None, None): 1})
    assert {tuple(map(type, each)) for each in found} == {
        (bool, datetime.date, datetime.datetime),
        (bool, type(None), type(None)),
    }


def test_an_integer_that_overflows_into_a_float_is_seen_as_a_float() -> None:
    query = T.map(k=col("k") + 1)
    session = BACKENDS["sqlite"].open(T.tables(), {"view": query})
    session.step({"t": ZSet({(2**63 - 1, "a"): 1})})
    difference = Judge(query.schema).compare(1, "contents", ZSet(), session.read("view"))
    assert difference is not None
    assert difference.message == ("column k: expected BIGINT, got float 9.223372036854776e+18")


def test_a_sum_beyond_64_bits_fails_in_duckdb() -> None:
    session = BACKENDS["duckdb"].open(T.tables(), {"view": T.aggregate(s=sum_(col("k")))})
    session.step({"t": ZSet({(2**63 - 1, "a"): 2})})
    with pytest.raises(BackendError, match="duckdb: Conversion Error"):
        session.read("view")


def test_a_value_outside_64_bits_is_refused_on_the_way_in() -> None:
    for oracle in ORACLES:
        session = oracle.open(T.tables(), {"view": T})
        with pytest.raises(DeltaproofError, match="more than 64 bits"):
            session.step({"t": ZSet({(2**63, "a"): 1})})


def test_duckdb_has_decimals_arrays_and_nan() -> None:
    special = table("s", "d DECIMAL(10,2), a ARRAY(DOUBLE), x DOUBLE")
    row = (Decimal("1.50"), (NAN, None, 0.5), NAN)
    view = special.group_by("a").aggregate(d=sum_(col("d")), x=max_(col("x")))
    case_ = Case(view, tuple(ticks({"s": {row: 2, (None, (), 1.0): 1}}, {"s": {row: -1}})))
    duckdb = BACKENDS["duckdb"]
    for observed in (run_case(duckdb, case_), *run_cases(duckdb, [case_])):
        assert checked(case_, duckdb, observed) is None
        assert observed[0].contents == ZSet(
            {((NAN, None, 0.5), Decimal("3.00"), NAN): 1, ((), None, 1.0): 1}
        )


# --- what is declared is true ---


@pytest.mark.parametrize(
    ("kind", "capability"), [("DECIMAL(10,2)", "type.decimal"), ("ARRAY(BIGINT)", "type.array")]
)
def test_sqlite_has_no_decimals_and_no_arrays(kind: str, capability: str) -> None:
    sqlite = BACKENDS["sqlite"]
    assert capability not in sqlite.capabilities
    rows = table("t", f"d {kind}")
    with pytest.raises(SchemaError, match="sqlite has no type for"):
        sqlite.open(rows.tables(), {"view": rows})


def test_sqlite_takes_nan_for_null() -> None:
    assert "value.nan" not in BACKENDS["sqlite"].capabilities
    session = BACKENDS["sqlite"].open(U.tables(), {"view": U})
    session.step({"u": ZSet({(1, NAN): 1})})
    assert session.read("view") == ZSet({(1, None): 1})


@each_oracle
def test_sql_cannot_negate(oracle: Backend) -> None:
    assert "negate" not in oracle.capabilities
    with pytest.raises(SchemaError, match="negate has no plain SQL form"):
        oracle.open(T.tables(), {"view": T.negate()})


# --- values that broke engines ---

FIRST, LAST = datetime.datetime.min, datetime.datetime.max
ENDS = {(2**63 - 1, "a"): 1, (-(2**63), "b"): 1, (1 - 2**63, "c"): 1, (0, "d"): 2}


def judged(oracle: Backend, query: Query, rows: Weights) -> Difference | None:
    (name,) = query.tables()
    case_ = Case(query, tuple(ticks({name: rows}, {name: dict.fromkeys(rows, -1)})))
    found = [run_case(oracle, case_), *run_cases(oracle, [case_])]
    return next((each for one in found if (each := checked(case_, oracle, one))), None)


@each_oracle
def test_sessions_are_told_apart_across_all_of_64_bits(oracle: Backend) -> None:
    rows = {(2**63 - 2, "a"): 1, (-(2**63), "b"): 1, (1 - 2**63, "c"): 1, (0, "d"): 2}
    assert judged(oracle, T.session_window("k", gap=1), rows) is None


def test_a_window_that_is_left_out_need_not_fit_64_bits() -> None:
    rows = {(-(2**63), "a"): 1, (1 - 2**63, "b"): 1, (7, "c"): 1}
    assert judged(BACKENDS["duckdb"], T.hop("k", size=1, slide=3), rows) is None


@each_oracle
@pytest.mark.parametrize("unit", ["hour", "day", "week", "month", "quarter", "year"])
def test_the_last_microsecond_of_all_is_of_its_own_day(oracle: Backend, unit: str) -> None:
    rows: Weights = {(True, None, LAST): 1, (False, None, FIRST): 1, (None, None, NOON): 1}
    assert judged(oracle, B.map(m=date_trunc(unit, col("m"))), rows) is None


@each_oracle
def test_a_month_before_the_last_month_of_all(oracle: Backend) -> None:
    last = datetime.date(9999, 12, 31)
    rows: Weights = {(None, last, None): 1, (None, datetime.date(9999, 11, 30), None): 1}
    later = case((col("d") < lit(last), add_months(col("d"), 1)))
    assert judged(oracle, B.map(later=later, earlier=add_months(col("d"), -1)), rows) is None


@each_oracle
def test_keys_at_the_ends_of_64_bits_stay_apart(oracle: Backend) -> None:
    query = T.group_by("k").aggregate(n=count(), low=min_(col("v")))
    assert judged(oracle, query.join(T.prefix("r_"), on={"k": "r_k"}), ENDS) is None


@pytest.mark.parametrize("rows", [
    {(1, 1.1e31): 1, (2, 1.0): 1, (3, -1.1e31): 1},
    {(2**31 - 1, 0.5): 2, (2**31, 0.5): 1},
])  # fmt: skip
def test_duckdb_rounds_sums_at_every_step_and_declares_it(rows: Weights) -> None:
    assert "sum.exact" not in BACKENDS["duckdb"].capabilities
    query = U.aggregate(s=sum_(col("x")), v=variance(col("n"), population=True))
    case_ = Case(query, tuple(ticks({"u": rows})))
    assert judged(BACKENDS["reference"], query, rows) is None
    difference = checked(case_, BACKENDS["duckdb"], run_case(BACKENDS["duckdb"], case_))
    assert difference is not None
    assert difference.what == "contents"


def test_sqlite_adds_up_in_64_bits_and_declares_it() -> None:
    assert "sum.wide" not in BACKENDS["sqlite"].capabilities
    query, rows = T.aggregate(s=sum_(col("k"))), {(1, "a"): 1, (2**63 - 1, "b"): 1, (-1, "c"): 1}
    assert judged(BACKENDS["duckdb"], query, rows) is None
    with pytest.raises(BackendError, match="sqlite: view view: integer overflow"):
        judged(BACKENDS["sqlite"], query, rows)


def test_a_range_frame_beyond_64_bits_is_wrong_in_sqlite_refused_in_duckdb_and_declared() -> None:
    assert not any("range.wide" in oracle.capabilities for oracle in ORACLES)
    query = T.rolling(Frame("range", -1, 2), Order(col("k"), descending=True), n=count())
    rows: Weights = {(-(2**63), "a"): 1}
    assert judged(BACKENDS["reference"], query, rows) is None
    assert judged(BACKENDS["sqlite"], query, rows) is not None
    with pytest.raises(BackendError, match="Overflow in subtraction of INT64"):
        judged(BACKENDS["duckdb"], query, rows)


@each_oracle
def test_random_expressions_over_values_that_broke_engines_agree(oracle: Backend) -> None:
    random = Random(1970)
    kinds = [kind for kind in DOMAINS if type_capability(kind) in oracle.capabilities]
    rows = Table("t", Schema(tuple(Column(f"c{n}", kind) for n, kind in enumerate(kinds * 2))))
    with_nan = "value.nan" in oracle.capabilities
    judged_rows = 0
    for _ in range(12):
        columns = [sample_expression(random, rows.schema, kind) for kind in kinds]
        query = rows.map(**{f"e{n}": each for n, each in enumerate(columns)})
        drawn = [
            tuple(map(random.choice, map(killer_domain, rows.schema.types))) for _ in range(30)
        ]
        cases = [Case(query, ({"t": ZSet({row: 1}, rows.schema)},)) for row in drawn]
        cases = [
            each
            for each, row in zip(cases, drawn, strict=True)
            if has_value(each) and (with_nan or all(map(finite, row)))
        ]
        for each, observed in zip(cases, run_cases(oracle, cases), strict=True):
            assert checked(each, oracle, observed) is None, each.text()
        judged_rows += len(cases)
    assert judged_rows >= 150


def finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


# --- names, sessions, batches ---


def test_no_name_of_a_user_clashes_with_one_of_ours() -> None:
    schema = Schema.parse("rowid BIGINT, oid BIGINT, _number BIGINT, _c0 BIGINT, moment BIGINT")
    odd = table('_moments "x"', schema).join(table("_t0", 'select BIGINT, a"b VARCHAR').distinct())
    deltas: dict[str, Weights] = {
        '_moments "x"': {(1, 2, 3, 4, 5): 1},
        "_t0": {(6, "it's"): 2},
    }
    case_ = Case(odd, tuple(ticks(deltas)))
    for backend in BACKENDS.values():
        for observed in (run_case(backend, case_), *run_cases(backend, [case_])):
            assert observed[0].contents == ZSet({(1, 2, 3, 4, 5, 6, "it's"): 1})


@pytest.mark.parametrize("name", BACKENDS)
def test_sessions_of_one_query_do_not_share_rows(name: str) -> None:
    backend = BACKENDS[name]
    first, second = (backend.open(T.tables(), {"view": T}) for _ in range(2))
    first.step({"t": ZSet({(1, "a"): 1})})
    second.step({"t": ZSet({(2, "b"): 1})})
    assert (first.read("view"), second.read("view")) == (
        ZSet({(1, "a"): 1}),
        ZSet({(2, "b"): 1}),
    )
    first.close()
    third = backend.open(T.tables(), {"view": T})
    assert (second.read("view"), third.read("view")) == (ZSet({(2, "b"): 1}), ZSet())


@pytest.mark.parametrize("name", BACKENDS)
def test_a_closed_session_says_so_and_closes_once_more(name: str) -> None:
    session = BACKENDS[name].open(T.tables(), {"view": T})
    session.close()
    session.close()
    with pytest.raises(BackendError, match="the session is closed"):
        session.step({})
    one, two = (BACKENDS[name].open(T.tables(), {"view": T}) for _ in range(2))
    one.step({"t": ZSet({(1, "a"): 1})})
    assert two.read("view") == ZSet()


@pytest.mark.parametrize("name", BACKENDS)
def test_several_views_of_the_same_tables(name: str) -> None:
    views = {"all": T, "keys": T.project("k").distinct(), "size": T.aggregate(n=count())}
    session = BACKENDS[name].open(T.tables(), views)
    session.step({"t": ZSet({(1, "a"): 2, (1, "b"): 1})})
    assert {view: session.read(view) for view in views} == {
        "all": ZSet({(1, "a"): 2, (1, "b"): 1}),
        "keys": ZSet({(1,): 1}),
        "size": ZSet({(3,): 1}),
    }
    with pytest.raises(DeltaproofError, match="unknown view 'other': there are all, keys, size"):
        session.read("other")


def test_a_large_batch_is_asked_for_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    query, stream, _ = CASES["a group emptied and resurrected"]
    cases = [Case(query, tuple(stream[:length])) for length in (5, 0, 3, 1)]
    whole = run_cases(BACKENDS["duckdb"], cases)
    monkeypatch.setattr(duckdb_adapter, "ROWS_AT_ONCE", 3)
    assert run_cases(BACKENDS["duckdb"], cases) == whole
    assert run_cases(BACKENDS["duckdb"], []) == []


def test_an_engine_that_failed_is_not_used_again() -> None:
    backend = duckdb_adapter.DuckDBBackend()
    query = T.map(k=col("k") + 1)
    broken = Case(query, tuple(ticks({"t": {(2**63 - 1, "a"): 1}})))
    with pytest.raises(BackendError, match="duckdb: Out of Range Error: Overflow"):
        run_cases(backend, [broken])
    assert backend.engines.resting == {}
    fine = Case(query, tuple(ticks({"t": {(1, "a"): 1}})))
    assert run_cases(backend, [fine]) == [[Observed(ZSet({(2,): 1}), None)]]


# --- the judge catches a backend that is wrong ---


class Wrong(SqliteBackend):
    """A SQLite that reads a view through a lie."""

    def lie(self, row: Row, weight: int) -> tuple[Row, int]:
        raise NotImplementedError

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> Any:
        session = super().open(tables, views)
        truth = session.read

        def read(view: str) -> ZSet:
            told = [self.lie(row, weight) for row, weight in truth(view).items()]
            return ZSet(told)

        session.read = read  # type: ignore[method-assign]  # a lie on purpose
        return session


class CountsInFloats(Wrong):
    def lie(self, row: Row, weight: int) -> tuple[Row, int]:
        return (row[0], float(row[1])), weight


class ForgetsDuplicates(Wrong):
    def lie(self, row: Row, weight: int) -> tuple[Row, int]:
        return row, min(weight, 1)


class LosesTheNull(Wrong):
    def lie(self, row: Row, weight: int) -> tuple[Row, int]:
        return row, 0 if None in row else weight


class KeepsTheDead(SqliteBackend):
    """A SQLite that never hears of deletions."""

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> Any:
        session = super().open(tables, views)
        step = session.step

        def step_forward(deltas: Mapping[str, ZSet]) -> None:
            step({n: ZSet([e for e in d.items() if e[1] > 0]) for n, d in deltas.items()})

        session.step = step_forward  # type: ignore[method-assign]  # deaf on purpose
        return session


@pytest.mark.parametrize(
    ("backend", "title", "tick", "kind"),
    [
        (ForgetsDuplicates(), "a table is itself", 1, "contents/wrong-weight"),
        (LosesTheNull(), "distinct counts once and NULLs are equal", 1, "contents/missing-row"),
        (KeepsTheDead(), "distinct counts once and NULLs are equal", None, ""),
        (KeepsTheDead(), "a table is itself", 3, "contents/wrong-weight"),
        (KeepsTheDead(), "like minds the case", None, ""),
        (CountsInFloats(), "a shared subquery", 1, "type"),
    ],
)
def test_the_judge_catches_a_backend_that_is_wrong(
    backend: Backend, title: str, tick: int | None, kind: str
) -> None:
    query, stream, _ = CASES[title]
    case_ = Case(query, tuple(stream))
    difference = checked(case_, backend, run_case(backend, case_))
    if tick is None:  # this case does not show this mistake
        assert difference is None
    else:
        assert difference is not None
        assert (difference.tick, difference.kind) == (tick, kind)


def test_the_judge_says_which_column_has_the_wrong_type() -> None:
    query, stream, _ = CASES["a shared subquery"]
    case_ = Case(query, tuple(stream))
    difference = checked(case_, CountsInFloats(), run_case(CountsInFloats(), case_))
    assert difference is not None
    assert difference.message == "column n: expected BIGINT, got float 4.0"
    assert (difference.expected, difference.got) == (ZSet({(1, 4): 1}), ZSet({(1, 4.0): 1}))


@pytest.mark.parametrize("backend", [SqliteBackend(), duckdb_adapter.DuckDBBackend()], ids=str)
def test_a_query_that_sql_has_no_words_for_is_refused_before_it_runs(
    backend: Refuses,
) -> None:
    numbers = table("numbers", "n BIGINT")
    assert "negate" in (backend.refuses(numbers.negate()) or "")
    assert backend.refuses(numbers.distinct()) is None
