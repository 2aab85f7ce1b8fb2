"""`deltaproof new-operator` writes an operator that works, and overwrites nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deltaproof.conformance.cli import run
from deltaproof.conformance.new_operator import FILES, SKELETON, text_of, write
from deltaproof.properties.check import check_laws
from deltaproof.reference.errors import UsageError


def test_it_writes_three_files_and_says_what_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert run(["new-operator", "first_seen", "--in", str(folder)]) == 0
    assert sorted(each.name for each in folder.iterdir()) == [
        "first_seen.py",
        "first_seen_spark.py",
        "test_first_seen.py",
    ]
    said = capsys.readouterr().out
    target = f"{folder}/first_seen.py:FirstSeen"
    for each in ("laws", "fuzz", "conform --operator"):
        assert f"deltaproof {each} {target}" in said
    assert f"pytest {folder}/test_first_seen.py" in said


def test_its_outcome_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new-operator", "first_seen", "--in", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["operator"] == f"{tmp_path}/first_seen.py:FirstSeen"
    assert [Path(each).name for each in said["files"]] == [
        "first_seen.py",
        "first_seen_spark.py",
        "test_first_seen.py",
    ]
    numbers = [f"EDIT {number}" for number in range(1, said["edits"] + 1)]
    text = "".join(Path(each).read_text() for each in said["files"])
    assert [each for each in numbers if f"{each}:" in text or f"{each}," in text] == numbers


def test_a_path_with_a_space_is_quoted_in_the_commands(tmp_path: Path) -> None:
    written = write("first_seen", tmp_path / "my operators")
    assert f"laws '{tmp_path}/my operators/first_seen.py:FirstSeen'" in "\n".join(written.lines())


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("FirstSeen", "'FirstSeen' is no name for an operator: expected a name like"),
        ("first-seen", "'first-seen' is no name for an operator"),
        ("../seen", "'../seen' is no name for an operator"),
        ("größe", "'größe' is no name for an operator"),
        ("_seen", "'_seen' is no name for an operator"),
        ("lambda", "'lambda' is a word of Python"),
        ("random", "'random' is a word of Python"),
        ("deltaproof", "'deltaproof' is a package, which its file would hide"),
        ("pytest", "'pytest' is a package, which its file would hide"),
        ("test", "'test' reads like the name of another of its files"),
        ("test_seen", "'test_seen' reads like the name of another of its files"),
        ("seen_spark", "'seen_spark' reads like the name of another of its files"),
        ("distinct", "there is an operator 'distinct' already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    name: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new-operator", name, "--in", str(tmp_path)]) == 4
    assert capsys.readouterr().err.startswith(f"deltaproof: {complaint}")
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_overwritten_and_none_is_written_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "test_first_seen.py"
    mine.write_text("mine")
    assert run(["new-operator", "first_seen", "--in", str(tmp_path)]) == 4
    assert "is there already, and none is overwritten" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [mine]
    assert mine.read_text() == "mine"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="name a folder with --in"):
        write("first_seen", tmp_path / "file" / "below")


def test_under_another_name_only_the_name_differs() -> None:
    for file in FILES:
        again = text_of(file, "first_seen").replace("first_seen", "values_of")
        again = again.replace("FirstSeen", "ValuesOf")
        ours = (SKELETON / file).read_text().replace("deltaproof.conformance.skeleton.", "")
        assert sorted(filter(None, again.splitlines())) == sorted(filter(None, ours.splitlines()))


def test_what_is_written_obeys_its_laws(tmp_path: Path) -> None:
    from deltaproof.conformance.target import kind_named

    written = write("first_seen", tmp_path)
    report = check_laws(kind_named(written.target), examples=10)
    assert [each for each in report.verdicts if each.status == "refuted"] == []


def test_what_is_written_is_tested_by_pytest_where_it_lies(tmp_path: Path) -> None:
    *_, test = write("first_seen", tmp_path).files
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(test), "-k", "means or sqlite"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout
