"""What somebody's operator declares wrongly, raises or prints is theirs, and said in one line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from deltaproof.conformance import cli
from deltaproof.conformance.explain import replay_command
from deltaproof.conformance.target import operator_named
from deltaproof.reference.query import Table, apply
from deltaproof.reference.types import Schema

OPERATORS = '''
from dataclasses import dataclass

from deltaproof.reference.operator import LinearIncrement, Operator, Shape
from deltaproof.reference.zset import ZSet


@dataclass(frozen=True)
class Fine(Operator):
    name = "fine"
    shape = Shape.GENERAL
    theorem = "general_increment"
    source = "none"

    def output(self, rows):
        return rows

    def meaning(self, rows):
        print("noise")
        return lambda zset: zset

    @classmethod
    def sample(cls, random, rows):
        return cls()


class Nameless(Fine):
    name = ""


class Shapeless(Fine):
    shape = "general"


class Claims(Fine):
    name = "claims"
    claimed = ("set_valud",)


class NoneFit(Fine):
    name = "none_fit"

    @classmethod
    def sample(cls, random, rows):
        return None


class SampleRaises(Fine):
    name = "sample_raises"

    @classmethod
    def sample(cls, random, rows):
        raise LookupError("no sample")


class MeaningRaises(Fine):
    name = "meaning_raises"

    def meaning(self, rows):
        def refuse(zset):
            raise LookupError("no meaning")

        return refuse


class Exits(Fine):
    name = "exits"

    def meaning(self, rows):
        def leave(zset):
            raise SystemExit(3)

        return leave


class Doubles(Fine):
    name = "doubles"

    def increment(self, rows):
        return LinearIncrement(lambda delta: delta + delta)


class NoJson(Fine):
    name = "no_json"

    def to_json(self):
        return {"of": object()}


class Untyped(Fine):
    """What it puts out is not of its schema, and a checkpoint does not take it."""

    name = "untyped"

    def meaning(self, rows):
        return lambda zset: ZSet({("text",) * len(row): w for row, w in zset.items()})
'''


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my folder"
    folder.mkdir()
    (folder / "own.py").write_text(OPERATORS)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DELTAPROOF_TRACEBACK", raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(arguments)
    printed = capsys.readouterr()
    return code, printed.out, " ".join(printed.err.split())


@pytest.mark.parametrize("command", ["laws", "fuzz"])
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Nameless", "own.py:Nameless: name = '': expected a name like median_per_group"),
        ("Shapeless", "own.py:Shapeless: shape = 'general': expected one of Shape.LINEAR, "),
    ],
)
def test_a_declaration_that_cannot_be_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], command: str, name: str, complaint: str
) -> None:
    code, out, err = run(capsys, command, f"own.py:{name}")
    assert (code, out) == (4, "")
    assert err.startswith(f"deltaproof: {complaint}")


def test_a_claim_without_laws_is_refused_and_never_just_believed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(capsys, "laws", "own.py:Claims")
    assert (code, out) == (4, "")
    assert err.endswith("claims 'set_valud', of which there is no law: did you mean set_valued?")


def test_a_sample_that_raises_is_not_our_failure(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "laws", "own.py:SampleRaises", "--cases", "5")
    assert (code, out) == (2, "")
    assert err.startswith("deltaproof: own.py:SampleRaises raised LookupError: no sample; ")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_operator_that_fits_nowhere_ends_the_run(
    capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    arguments = ("fuzz", "own.py:NoneFit", "--cases", "50", "--jobs", jobs, "--json")
    code, out, _ = run(capsys, *arguments)
    assert (code, json.loads(out)["stopped"]) == (2, "nothing")


def test_what_an_operator_prints_is_not_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("laws", "fuzz"):
        code, out, err = run(capsys, command, "own.py:Fine", "--cases", "30", "--json")
        assert (code, json.loads(out)["exit"]) == (0, 0)
        assert "noise" in err


def test_a_meaning_that_raises_is_found_and_its_case_replays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "fuzz", "own.py:MeaningRaises", "--cases", "30", "--json")
    (failure,) = json.loads(out)["classes"]
    assert (code, failure["class"]) == (1, "meaning/LookupError")
    code, out, err = run(capsys, *shlex.split(failure["replay"])[1:])
    assert (code, out) == (2, "")
    assert err.startswith("deltaproof: own.py:MeaningRaises raised LookupError: no meaning; ")
    suite = ("conform", "--operator", "own.py:MeaningRaises", "-b", "sqlite", "--cases", "20")
    code, _, err = run(capsys, *suite)
    assert code == 2
    assert err.startswith("deltaproof: own.py:MeaningRaises raised LookupError: no meaning; ")


def test_an_operator_that_ends_the_process_is_a_class_of_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "fuzz", "own.py:Exits", "--cases", "30", "--json")
    (failure,) = json.loads(out)["classes"]
    assert (code, failure["class"]) == (1, "meaning/SystemExit")


def test_cases_that_cannot_be_written_are_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("fuzz", "own.py:NoJson", "--cases", "60", "--corpus", "corpus", "--json")
    code, out, _ = run(capsys, *arguments)
    assert code == 1
    assert "json/TypeError" in {each["class"] for each in json.loads(out)["classes"]}
    assert list(Path("corpus").iterdir()) == []


def test_the_smallest_case_of_an_untyped_operator_has_it_and_can_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What it put out is never taken for the rows of a table."""
    _, out, _ = run(capsys, "fuzz", "own.py:Untyped", "--cases", "150", "--json")
    classes = json.loads(out)["classes"]
    assert "crash/CheckpointError" in {each["class"] for each in classes}
    for each in classes:
        assert "untyped" in each["operators"]
        assert run(capsys, *shlex.split(each["replay"])[1:])[0] in (1, 2)


def test_every_command_that_is_printed_can_be_pasted_when_names_have_spaces(
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = str(Path("own.py").resolve()) + ":MeaningRaises"
    arguments = ("laws", target, "--cases", "5", "--no-unclaimed", "--out", "my files")
    _, out, _ = run(capsys, *arguments)
    commands = [line.partition(": ")[2] for line in out.splitlines() if "  replay: " in line]
    assert commands
    assert [run(capsys, *shlex.split(each)[1:])[0] for each in commands] == [1] * len(commands)


def test_the_suite_and_a_test_say_how_to_replay_a_case_of_somebodys_operator(
    capsys: pytest.CaptureFixture[str],
) -> None:
    suite = ("conform", "--operator", "own.py:Doubles", "-b", "reference", "--cases", "20")
    code, out, _ = run(capsys, *suite)
    words = next(line for line in out.splitlines() if "deltaproof replay" in line)
    command = shlex.split(words.partition("deltaproof ")[2])
    assert (code, command[-2:]) == (1, ["--operator", "own.py:Doubles"])
    code, out, _ = run(capsys, *command)
    assert code == 1
    assert shlex.join(command) in out  # and again

    query = apply(operator_named("own.py:Doubles")(), Table("t", Schema.parse("k BIGINT")))  # type: ignore[operator]  # a kind
    assert replay_command(None, "reference", query).endswith("--operator own.py:Doubles")
