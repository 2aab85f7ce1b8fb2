"""The plugin as its users meet it: a project of their own, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deltaproof.conformance.case import Case

ENGINE = '''
"""An engine that takes every change for an insertion."""

from deltaproof.conformance.adapters.reference import ReferenceBackend, ReferenceSession
from deltaproof.reference.zset import ZSet


class Wrong:
    name = "wrong"
    tolerance = 0.0
    right = ReferenceBackend()
    capabilities = right.capabilities

    def describe(self):
        return "Wrong 1.2"

    def open(self, tables, views):
        return Session(self.right.circuits, tuple(views.items()))


class Session(ReferenceSession):
    def step(self, deltas):
        inserted = {
            name: ZSet({row: abs(weight) for row, weight in delta.items()}, delta.schema)
            for name, delta in deltas.items()
        }
        super().step(inserted)
'''

FOLLOWS = """
from hypothesis import given

from deltaproof.properties import views


@given(view=views(depth=1, signed=False, killers=False))
def test_the_engine_follows(deltaproof_holds, view):
    deltaproof_holds(*view)
"""


class Project:
    """A folder with tests in it, and pytest run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)

    def pytest(self, *options: str, **environment: str) -> tuple[int, str]:
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(self.folder), **environment},
        )
        return ended.returncode, ended.stdout + ended.stderr

    def files(self, kind: str = "case") -> list[Path]:
        return sorted(self.folder.glob(f"**/*.{kind}.json"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_smallest_failing_example_is_one_file_and_replays(project: Project) -> None:
    project.write(engine=ENGINE, test_it=FOLLOWS)
    code, said = project.pytest(
        "--deltaproof-backend=py:engine:Wrong",
        "--deltaproof-out=found",
        "--hypothesis-profile=deltaproof-ci",
    )
    assert code == 1, said
    assert "deltaproof 0.1.0: py:engine:Wrong (Wrong 1.2)" in said
    assert "<- first difference" in said
    (file,) = project.files()
    command = f"deltaproof replay found/{file.name} -b py:engine:Wrong"
    assert said.count(command) >= 2  # in the explanation, and in the summary
    assert "deltaproof: to see what failed again" in said
    assert Case.load(file).rows <= 3
    replayed = subprocess.run(
        [sys.executable, "-m", "deltaproof.conformance.cli", *command.split()[1:]],
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert replayed.returncode == 1, replayed.stderr


def test_every_backend_that_is_named_is_tested_and_nothing_is_written_of_what_holds(
    project: Project,
) -> None:
    project.write(test_it=FOLLOWS)
    code, said = project.pytest(
        *("-v", "--deltaproof-backend=reference", "--deltaproof-backend=sqlite"),
        "--hypothesis-profile=deltaproof-ci",
    )
    assert code == 0, said
    assert "test_the_engine_follows[reference]" in said
    assert "test_the_engine_follows[sqlite]" in said
    assert project.files() == []
    assert "to see what failed again" not in said


def test_what_a_backend_does_not_declare_is_skipped(project: Project) -> None:
    project.write(
        test_it="""
from deltaproof.reference.query import table
from deltaproof.reference.zset import ZSet

def test_signed(deltaproof_holds):
    deltaproof_holds(table("t", "k BIGINT").distinct(), [{"t": ZSet({(1,): -1})}])
"""
    )
    code, said = project.pytest("--deltaproof-backend=sqlite", "-rs")
    assert code == 0, said
    assert "1 skipped" in said
    assert "sqlite does not declare weights.signed" in said


def test_a_law_that_is_refuted_is_a_file_that_replays(project: Project) -> None:
    project.write(
        test_it="""
from dataclasses import dataclass
from deltaproof.reference.operator import Shape
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

@dataclass(frozen=True)
class Clipped(Negate):
    name = "clipped"
    theorem = ""

    def meaning(self, *inputs):
        return lambda rows: ZSet({row: max(-1, min(1, w)) for row, w in rows.items()})

def test_laws(deltaproof_laws):
    deltaproof_laws(Clipped(), Schema.parse("k BIGINT NOT NULL"))

def test_laws_of_ours(deltaproof_laws):
    from deltaproof.reference.operators.distinct import Distinct
    assert deltaproof_laws(Distinct, examples=20).ok
"""
    )
    code, said = project.pytest("--deltaproof-out=found")
    assert code == 1, said
    assert "1 failed, 1 passed" in said
    names = {json.loads(file.read_text())["law"] for file in project.files("law")}
    assert "operator_additive" in names
    commands = [line for line in said.splitlines() if line.startswith("deltaproof replay found/")]
    additive = next(line for line in commands if "operator_additive" in line)
    assert additive.endswith("--operator test_it.py:Clipped")
    replayed = subprocess.run(
        [sys.executable, "-m", "deltaproof.conformance.cli", *additive.split()[1:]],
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert replayed.returncode == 1, replayed.stderr
    assert "operator_additive" in replayed.stdout


def test_the_machine_runs_as_a_fixture_and_its_file_is_listed(project: Project) -> None:
    project.write(
        engine=ENGINE,
        test_it="""
from deltaproof.reference.query import table

def test_machine(deltaproof_machine):
    deltaproof_machine(table("t", "k BIGINT NOT NULL").distinct())
""",
    )
    code, said = project.pytest(
        "--deltaproof-backend=py:engine:Wrong", "--hypothesis-profile=deltaproof-ci"
    )
    assert code == 1, said
    (file,) = project.files()
    assert f"deltaproof replay out/cases/{file.name} -b py:engine:Wrong" in said
    assert Case.load(file).rows <= 2


def test_a_backend_that_is_not_there_is_one_line(project: Project) -> None:
    code, said = project.pytest("--deltaproof-backend=oracle9")
    assert code == 4
    assert "ERROR: --deltaproof-backend: unknown backend 'oracle9'" in said
    assert "Traceback" not in said


PROFILE = """
from hypothesis import settings

def test_profile():
    assert settings.get_current_profile_name() == "deltaproof-deep"
    assert settings().max_examples == 1000
    assert settings().print_blob
"""


def test_a_profile_is_chosen_by_option_or_by_environment(project: Project) -> None:
    project.write(test_it=PROFILE)
    by_option, said = project.pytest("--hypothesis-profile=deltaproof-deep")
    assert by_option == 0, said
    by_name, said = project.pytest(HYPOTHESIS_PROFILE="deltaproof-deep")
    assert by_name == 0, said
    unknown, said = project.pytest("--hypothesis-profile=deltaproof-deeep")
    assert unknown == 4
    assert "there is no Hypothesis profile 'deltaproof-deeep': there are deltaproof-ci" in said


def test_a_project_that_asks_for_nothing_pays_nothing(project: Project) -> None:
    project.write(
        test_it="""
import sys

def test_imports():
    heavy = {"hypothesis", "z3", "pyspark", "duckdb", "sqlglot", "deltaproof.reference.zset"}
    assert heavy & set(sys.modules) == set()
"""
    )
    code, said = project.pytest("-p", "deltaproof")
    assert code == 0, said
