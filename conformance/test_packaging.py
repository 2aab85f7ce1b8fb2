"""The repository is what pyproject.toml says: its folders, its layers, its extras, its pins."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("reference", "properties", "theorems", "spark_backend", "conformance")

pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").exists(), reason="this is an installed copy, not the repository"
)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def sources(folder: str) -> Iterator[Path]:
    return iter(sorted((ROOT / folder).rglob("*.py")))


def imports_of(path: Path) -> set[str]:
    """The modules that a file imports, wherever in the file it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_every_folder_that_holds_code_is_a_package_of_the_wheel() -> None:
    setuptools = project()["tool"]["setuptools"]
    folders = {str(path.parent.relative_to(ROOT)) for name in FOLDERS for path in sources(name)}
    names = {f"deltaproof.{folder.replace('/', '.')}": folder for folder in folders}
    assert setuptools["package-dir"] == names
    assert sorted(setuptools["packages"]) == sorted(names)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_ships_its_types(folder: str) -> None:
    assert (ROOT / folder / "py.typed").is_file()


def test_no_python_lies_outside_the_five_folders() -> None:
    hidden = {"build", "dist", "out"}
    roots = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith(".") and path.name not in hidden
        if any(path.rglob("*.py"))
    }
    assert roots == set(FOLDERS)
    assert list(ROOT.glob("*.py")) == []


def third_party(path: Path) -> set[str]:
    """The packages that a file of the reference imports from outside of it."""
    tops = {n.partition(".")[0] for n in imports_of(path) if not n.startswith(REFERENCE)}
    return tops - sys.stdlib_module_names


REFERENCE = "deltaproof.reference"


def test_the_reference_imports_the_standard_library_only() -> None:
    """But for SQL, which sqlglot reads and prints, and for tables, which rich draws."""
    allowed = {"sql": {"sqlglot"}, "parse": {"sqlglot"}, "show": {"rich"}, "plan": {"rich"}}
    foreign = {}
    for path in sources("reference"):
        if not path.stem.startswith(("test_", "bench_", "conftest")):
            name = path.relative_to(ROOT / "reference").with_suffix("").as_posix()
            part = re.split(r"[/_]", name)[0]  # sql_select is a part of sql, parse/joins of parse
            foreign[name] = third_party(path) - allowed.get(part, set())
    assert {name: packages for name, packages in foreign.items() if packages} == {}


# Each is opened by name, when somebody asks for that engine, and may need it from its first line.
DOORS = {
    "deltaproof.conformance.adapters.spark",
    "deltaproof.conformance.adapters.duckdb",
    "deltaproof.conformance.mutants.spark",
    "deltaproof.conformance.pytest_plugin",
    "deltaproof.conformance.skeleton.values_of_spark",
    "deltaproof.conformance.tpch.oracle",
    "deltaproof.conformance.tpch.run",
}

IMPORT_WITHOUT = """
import importlib, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if any(name == absent or name.startswith(absent + ".") for absent in ABSENT):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT = sys.argv[1].split()
sys.meta_path.insert(0, Absent())
for name in sys.argv[2].split():
    importlib.import_module(name)
"""


def modules(folder: str) -> Iterator[str]:
    """The import names of a folder's files, but for its tests and benchmarks."""
    for path in sources(folder):
        if not path.stem.startswith(("test_", "bench_", "conftest", "__init__")):
            yield ".".join(("deltaproof", *path.relative_to(ROOT).with_suffix("").parts))


def test_the_core_is_importable_without_any_extra() -> None:
    """Neither engines nor solvers, nor the folders that stand on them, are imported in passing."""
    extras = project()["project"]["optional-dependencies"]
    packages = {name_of(line) for extra in extras.values() for line in extra} - {"deltaproof"}
    imported_as = {"z3-solver": "z3", "pytest-benchmark": "pytest_benchmark"}
    absent = {imported_as.get(name, name) for name in packages}
    absent |= {"pandas", "numpy", "py4j", "deltaproof.spark_backend", "deltaproof.theorems"}
    core = {name for name in FOLDERS if f"deltaproof.{name}" not in absent}
    wanted = {module for folder in core for module in modules(folder)} - DOORS
    ended = subprocess.run(
        [sys.executable, "-c", IMPORT_WITHOUT, " ".join(absent), " ".join(sorted(wanted))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def name_of(requirement: str) -> str:
    """The name of a requirement as pip compares names.

    >>> name_of("Pytest_benchmark>=5"), name_of("deltaproof[spark,duckdb]")
    ('pytest-benchmark', 'deltaproof')
    """
    name = re.match(r"[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", name.group().lower()) if name else ""


def test_the_constraints_are_names_and_versions_and_cover_what_we_ask_for() -> None:
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    lines = [line for line in pins if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert lines == sorted(lines, key=str.lower)
    asked = project()["project"]["dependencies"]
    for extra in project()["project"]["optional-dependencies"].values():
        asked = asked + extra
    pinned = {name_of(line) for line in lines} | {"deltaproof"}
    assert {name_of(line) for line in asked} - pinned == set()
