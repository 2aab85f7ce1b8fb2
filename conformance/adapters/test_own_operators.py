"""An operator that is not ours runs where it has a form, and is refused with a reason elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from deltaproof.conformance.adapter import Backend, needs, operator_capabilities, unsupported
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.adapters.sqlite import SqliteBackend
from deltaproof.conformance.case import Case, Stream
from deltaproof.conformance.connect import availability, backend
from deltaproof.conformance.judge import Judge, Oracle, run_case, run_cases
from deltaproof.conformance.skeleton.values_of import ValuesOf
from deltaproof.reference.errors import SchemaError, UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import knowing
from deltaproof.reference.query import Query, apply, table
from deltaproof.reference.select import Relation, Select
from deltaproof.reference.sql import to_sql
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v VARCHAR")
VALUES = apply(ValuesOf("v"), T)
TICKS: Stream = (
    {"t": ZSet({(1, "a"): 2, (2, "a"): 1, (1, None): 1})},
    {"t": ZSet({(1, "a"): -2, (3, "b"): 1})},
    {"t": ZSet({(2, "a"): -1, (1, None): -1})},
    {"t": ZSet({(5, "a"): 1})},
)
HAS_SPARK = pytest.mark.skipif(find_spec("pyspark") is None, reason="Spark is not installed")


class Wordless(ValuesOf):
    """Says nothing to anyone but us."""

    name = "wordless"
    spark = ""

    def select(self, *inputs: Relation) -> Select | None:
        return None


class Lost(ValuesOf):
    name = "lost"
    spark = "no_such.module"


class Formless(ValuesOf):
    name = "formless"
    spark = "deltaproof.conformance.skeleton.values_of_spark"


def with_operator(operator: Operator) -> Query:
    return apply(operator, T)


@pytest.mark.parametrize("name", ["reference", "sqlite", "duckdb", "spark"])
def test_oracle_an_own_operator_with_its_forms_is_equal_on(name: str) -> None:
    if reason := availability()[name]:
        pytest.skip(reason)
    engine = backend(name)
    assert unsupported(engine, VALUES) is None
    case = Case(VALUES, tuple(TICKS))
    judge = Judge(VALUES.schema, engine.tolerance)
    expected = Oracle(VALUES).expected(case)
    (at_once,) = run_cases(engine, [case])
    assert judge.difference(expected, at_once) is None
    assert judge.difference(expected, run_case(engine, case)) is None


def test_the_reference_runs_whatever_is_declared() -> None:
    assert unsupported(ReferenceBackend(), with_operator(Wordless("k"))) is None


def test_an_operator_without_select_is_refused_by_sql_with_a_reason() -> None:
    query = with_operator(Wordless("k"))
    reason = "wordless has no plain SQL form: its `select` gives none"
    assert unsupported(SqliteBackend(), query) == reason
    with pytest.raises(SchemaError, match="its `select` gives none"):
        to_sql(query, "ansi")


class Silent:
    """A backend that cannot be asked about a query."""

    name = "silent"
    capabilities = needs(VALUES) - {"values_of"}
    tolerance = 0.0

    def describe(self) -> str:
        return "Silent 1"

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> SilentSession:
        return SilentSession()


class SilentSession:
    def step(self, deltas: Mapping[str, ZSet]) -> None: ...

    def read(self, view: str) -> ZSet:
        return ZSet()

    def close(self) -> None: ...


def test_a_backend_that_cannot_be_asked_does_not_run_an_own_operator() -> None:
    silent: Backend = Silent()
    assert unsupported(silent, T) is None
    assert unsupported(silent, VALUES) == (
        "silent does not declare values_of, and has no method `refuses` to be asked"
    )
    assert unsupported(silent, VALUES.negate()) == "silent does not declare negate"


def test_a_capability_of_ours_must_still_be_declared_beside_an_own_operator() -> None:
    sqlite = SqliteBackend()
    assert unsupported(sqlite, VALUES, frozenset({"restart"})) == "sqlite does not declare restart"


def test_own_operators_have_cells_while_they_are_known() -> None:
    assert "values_of" not in operator_capabilities()
    with knowing(ValuesOf):
        assert operator_capabilities()[-1] == "values_of"


@HAS_SPARK
@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        (
            Wordless("k"),
            'operator wordless has no Spark form: set `spark = "package.module"` in class '
            "Wordless, and write lower_wordless(operator, *inputs, lowering) there",
        ),
        (
            Lost("k"),
            "operator lost has no Spark form: cannot import 'no_such.module', which class Lost "
            "names in `spark`: ModuleNotFoundError: No module named 'no_such'; expected "
            "lower_lost(operator, *inputs, lowering) there",
        ),
        (
            Formless("k"),
            "operator formless has no Spark form: there is no function lower_formless in "
            f"{Path(__file__).resolve().parents[1] / 'skeleton' / 'values_of_spark.py'}; "
            "expected lower_formless(operator, *inputs, lowering)",
        ),
    ],
    ids=lambda each: each.name if isinstance(each, Operator) else "",
)
def test_an_operator_without_a_spark_form_is_refused_with_what_to_write(
    operator: Operator, reason: str
) -> None:
    from deltaproof.spark_backend.lowering import own_form

    spark = backend("spark")
    assert unsupported(spark, with_operator(operator)) == reason
    assert unsupported(spark, with_operator(operator).distinct()) == reason
    with pytest.raises(UsageError) as raised:
        own_form(type(operator))
    assert str(raised.value) == reason


@HAS_SPARK
def test_an_operator_without_a_spark_form_is_found_inside_a_query_per_group() -> None:
    inner = with_operator(Wordless("v"))
    reason = unsupported(backend("spark"), T.per_group(["k"], inner))
    assert reason
    assert "wordless has no Spark form" in reason


@HAS_SPARK
def test_a_module_of_a_spark_form_that_fails_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deltaproof.spark_backend.lowering import own_form

    (tmp_path / "broken_form_spark.py").write_text("def lower_broken(\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    broken = type("Broken", (ValuesOf,), {"name": "broken", "spark": "broken_form_spark"})
    with pytest.raises(UsageError, match="cannot import 'broken_form_spark'"):
        own_form(broken)
    assert "broken_form_spark" not in sys.modules


def test_an_operator_that_does_not_mention_sql_has_no_sql_form() -> None:
    assert Operator().select(Relation("t", T.schema)) is None
