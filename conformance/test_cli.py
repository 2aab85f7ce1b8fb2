"""The command says what is wrong in one line, and its exit code says what it found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from deltaproof.conformance import cli, suite
from deltaproof.conformance.adapter import CAPABILITIES, OPERATOR_CAPABILITIES, Backend
from deltaproof.conformance.adapters.reference import ReferenceBackend, ReferenceSession
from deltaproof.conformance.case import Case, Tick
from deltaproof.conformance.connect import backend
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.mutants import mutants_of
from deltaproof.conformance.suite import all_cells, select_cells
from deltaproof.reference.errors import BackendError
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

CASE = {
    "tables": {"t": "k BIGINT"},
    "query": {"op": "distinct", "inputs": [{"table": "t"}]},
    "ticks": [{"t": [[[7], 2]]}, {"t": [[[7], -1]]}],
}


class ForgetsDeletes:
    """A wrong backend: the reference, fed with insertions only."""

    name = "forgets-deletes"
    capabilities = CAPABILITIES - {"weights.signed", "restart"}
    tolerance = 0.0

    def describe(self) -> str:
        return "the reference without deletions"

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        session = ReferenceBackend().open(tables, views)
        step = session.step

        def insertions_only(deltas: Tick) -> None:
            kept = {
                name: ZSet({row: w for row, w in delta.items() if w > 0}, delta.schema)
                for name, delta in deltas.items()
            }
            step(kept)

        session.step = insertions_only  # type: ignore[method-assign]
        return session


class Crashes(ForgetsDeletes):
    """A backend that breaks down on its first tick."""

    name = "crashes"

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> ReferenceSession:
        raise BackendError("crashes: out of memory")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backends above, under their names, as an entry point would bring them."""
    own = {"forgets-deletes": ForgetsDeletes, "crashes": Crashes}

    def found(name: str) -> Backend:
        return own[name]() if name in own else backend(name)

    monkeypatch.setattr(cli, "backend", found)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_reference_and_sqlite_are_equal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("--cases", "600", "--no-flights", "--out", str(tmp_path))
    code, out, _ = run(capsys, "conform", "-b", "reference", "-b", "sqlite", *options)
    assert code == 0
    assert "EQUAL at every tick: reference" in out
    assert not list(tmp_path.iterdir())


def test_json_has_every_cell_with_its_denominator(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "conform", "-b", "reference", "--cases", "300", "--no-flights", "--json"
    )
    document = json.loads(out)
    (backend,) = document["backends"]
    assert (code, document["exit"]) == (0, 0)
    assert backend["cells"].keys() == {"@".join(cell) for cell in all_cells()}
    assert all(cell["verdict"] == "ok" and cell["ok"] >= 1 for cell in backend["cells"].values())


def test_one_cell_may_be_run_alone(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("conform", "-b", "reference", "--cases", "30", "--json", "distinct@null")
    code, out, _ = run(capsys, *arguments)
    (backend,) = json.loads(out)["backends"]
    assert code == 0
    assert list(backend["cells"]) == ["distinct@null"]
    assert "flights" not in json.loads(out)


@pytest.mark.usefixtures("registered")
def test_a_wrong_backend_fails_with_a_small_case_that_replays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("--cases", "60", "--out", str(tmp_path), "filter@delete")
    code, out, _ = run(capsys, "conform", "-b", "forgets-deletes", *options)
    assert code == 1
    assert "NONCONFORMANT: forgets-deletes" in out
    assert "deltaproof replay" in out
    path = next(tmp_path.glob("*.case.json"))
    case = Case.load(path)
    assert case.rows <= 4
    assert len(case.ticks) <= 3
    assert run(capsys, "replay", str(path), "-b", "forgets-deletes")[0] == 1
    assert run(capsys, "replay", str(path), "-b", "reference", "-b", "sqlite")[0] == 0


@pytest.mark.usefixtures("registered")
def test_a_crash_is_unknown_never_passed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", "-b", "crashes", "--cases", "12", "map@insert")
    assert code == 2
    assert "UNKNOWN" in out
    assert "out of memory" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["conform", "nosuch@insert"], "unknown cell 'nosuch@insert'"),
        (["conform", "distinct@nosuch"], "unknown cell 'distinct@nosuch'"),
        (["conform", "-b", "oracle23c"], "oracle23c"),
        (["conform", "--cases", "0"], "0 is not in the range"),
        (["conform", "--for", "soon"], "'soon' is not a duration like 60s"),
        (["conform", "--days", "400"], "400 is not in the range"),
        (["replay", "missing.case.json"], "missing.case.json: No such file"),
        (["mutants", "-b", "sqlite"], "has no mutants"),
        (["nosuch"], "No such command 'nosuch'"),
    ],
)
def test_a_wrong_argument_is_one_clear_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 4
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""


def test_a_broken_case_file_is_one_clear_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "broken.case.json"
    path.write_text(json.dumps(CASE | {"ticks": [{"t": [[["seven"], 1]]}]}))
    code, _, err = run(capsys, "replay", str(path))
    assert code == 4
    assert "tick 1, table t: column k: expected BIGINT, got str 'seven'" in err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("conform", "replay", "mutants"):
        code, out, _ = run(capsys, name, "--help")
        assert code == 0
        assert "Example" in out


def test_a_planted_bug_is_found_by_the_suite_and_shrunk(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mutant = next(
        each for each in mutants_of("reference") if each.name == "join_drops_the_product_of_deltas"
    )
    options = ("--cases", "120", "--out", str(tmp_path), "join.inner@both-sides")
    with mutant.plant():
        code, out, _ = run(capsys, "conform", "-b", "reference", *options)
    assert code == 1
    assert "join.inner@both-sides" in out
    smallest = min((Case.load(path) for path in tmp_path.iterdir()), key=lambda case: case.rows)
    assert (len(smallest.query.operators()), smallest.rows) <= (2, 2)


def test_a_suite_without_a_case_is_no_pass() -> None:
    run_of_nothing = suite.SuiteRun(7, [], {})
    assert run_of_nothing.exit_code == 2


def test_cells_may_be_named_by_operator_by_kind_or_by_a_family_of_operators() -> None:
    assert len(select_cells(["distinct"])) == len(KINDS) == 12
    assert len(select_cells(["@null"])) == len(OPERATOR_CAPABILITIES)
    assert {operator for operator, _ in select_cells(["aggregate@null"])} == {
        name for name in OPERATOR_CAPABILITIES if name.startswith("aggregate.")
    }


@pytest.mark.parametrize(("values", "share"), [("plain", 0.0), ("killers", 1.0)])
def test_values_says_what_the_tables_hold(
    values: str, share: float, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["conform", "distinct", "-b", "reference", "--cases", "60", "--values", values]
    assert cli.run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["killers"]["cases"] == share * found["cases"]
    assert cli.run([*words[:-1], "odd"]) == 4
    assert "'plain', 'killers', 'mixed'" in capsys.readouterr().err
