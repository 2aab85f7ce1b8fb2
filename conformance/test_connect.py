"""A backend is found by its name, and who cannot be found is told why."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from deltaproof.conformance import connect
from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.connect import availability, backend
from deltaproof.reference.errors import BackendMissing, UsageError

MINE = """
from deltaproof.conformance.adapters.reference import ReferenceBackend

class Mine(ReferenceBackend):
    name = "mine"

class Boastful(Mine):
    capabilities = frozenset({"teleport", "filter"})

class Empty:
    name = "empty"

number = 7
"""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a module `mine_adapter` in it."""
    (tmp_path / "mine_adapter.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine_adapter", raising=False)
    return tmp_path


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(connect, "find_spec", lambda n: None if n in missing else found(n))


def test_our_backends_have_their_own_names() -> None:
    for name, why_not in availability().items():
        if why_not is None and name != "spark":  # that one may start a session
            assert backend(name).name == name


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    message = (
        "unknown backend 'duck': there are reference, spark, sqlite, duckdb "
        "and py:package.module:Class"
    )
    with pytest.raises(UsageError, match=message):
        backend("duck")


def test_a_class_of_the_working_directory_is_a_backend(workplace: Path) -> None:
    found = backend("py:mine_adapter:Mine")
    assert found.name == "mine"
    assert isinstance(found, ReferenceBackend)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("py:mine_adapter", "expected py:package.module:Class"),
        ("py:", "expected py:package.module:Class"),
        ("py:no_such_module:Mine", "no_such_module: ModuleNotFoundError: No module named"),
        ("py:mine_adapter:Yours", "there is no Yours in mine_adapter"),
        ("py:mine_adapter:number", "expected a class, got int"),
        ("py:mine_adapter:Empty", "Empty has no capabilities, tolerance, describe, open"),
        ("py:mine_adapter:Boastful", "unknown capabilities teleport: there are aggregate.arg, "),
    ],
)
def test_what_is_no_backend_is_told_what_it_lacks(workplace: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        backend(name)


def test_a_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "duckdb", "pyarrow")
    message = r"duckdb and pyarrow are not installed: pip install 'deltaproof\[duckdb\]'"
    with pytest.raises(BackendMissing, match=message):
        backend("duckdb")
    assert availability()["duckdb"] == (
        "duckdb and pyarrow are not installed: pip install 'deltaproof[duckdb]'"
    )
    assert availability()["sqlite"] is None


def test_the_adapter_itself_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)  # as if it were not installed
    spec = importlib.util.find_spec("deltaproof.conformance.adapters.duckdb")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.raises(BackendMissing, match=r"pip install 'deltaproof\[duckdb\]'"):
        spec.loader.exec_module(module)


def test_installed_packages_bring_backends(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = workplace / "mine-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[deltaproof.backends]\nmine = mine_adapter:Mine\nlost = lost_adapter:Lost\n"
    )
    monkeypatch.syspath_prepend(str(workplace))
    assert backend("mine").name == "mine"
    assert availability()["mine"] is None
    assert availability()["lost"] == (
        "backend lost: cannot load lost_adapter:Lost: No module named 'lost_adapter'"
    )
    with pytest.raises(BackendMissing, match="cannot load lost_adapter:Lost"):
        backend("lost")
