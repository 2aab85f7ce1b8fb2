"""`deltaproof laws` says what an operator is and on what evidence, and `replay` repeats it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from deltaproof.conformance import cli
from deltaproof.conformance.case import Case
from deltaproof.conformance.laws.command import Findings, alike, how_to_claim
from deltaproof.conformance.laws.target import LawTarget
from deltaproof.properties.check import check_laws
from deltaproof.properties.inputs import zsets_in
from deltaproof.properties.law import GROUPS
from deltaproof.properties.lawfile import LawFile
from deltaproof.properties.laws import laws_of
from deltaproof.properties.reduce import streams_in
from deltaproof.properties.verdict import Report
from deltaproof.reference.operator import Shape
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

K = Schema.parse("k BIGINT")
OF_K = ("--schema", "k BIGINT", "--cases", "30")

MINE = """
from dataclasses import dataclass
from deltaproof.reference.operator import LinearIncrement, Shape
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.zset import ZSet

@dataclass(frozen=True)
class AtLeast(Distinct):
    least: int = 1
    name = "at_least"
    claimed = ()

    def meaning(self, *inputs):
        return lambda a: ZSet({row: 1 for row, w in a.items() if w >= self.least})

    def increment(self, *inputs):
        return LinearIncrement(self.meaning(*inputs))

    @classmethod
    def sample(cls, random, *inputs):
        return cls(random.choice((1, 2)))

    def to_json(self):
        return {"least": self.least}

    @classmethod
    def from_json(cls, arguments):
        return cls(arguments["least"])

class Forgetful(AtLeast):
    name = "forgetful"

    def to_json(self):
        return {"least": 9}

TWICE = AtLeast(2)
FORGETFUL = Forgetful(2)
NOTHING = Filter(lit(False))
POSITIVE = Filter(col("k") > 0)
SEVEN = 7

def doubled(a):
    print("noise")
    return a + a

def clamped(a):
    return ZSet({row: max(weight, 0) for row, weight in a.items()})

def crashes(a):
    return ZSet({row: weight + 0 // (weight - 2) for row, weight in a.items()})

def minus(a, b):
    return a - b
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with somebody's own operators, which is the working directory."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def report_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, "laws", *arguments, "--json")
    return code, json.loads(out)


@pytest.mark.usefixtures("mine")
def test_every_law_of_an_operator_of_ours_is_tested(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "laws", "distinct", "--schema", "k BIGINT", "--cases", "30")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "distinct over (k BIGINT)"
    number = len(laws_of(LawTarget.named("distinct", ["k BIGINT"]).about))
    assert lines[-2] == f"{number} laws: 0 proved, {number} tested, 0 refuted, 0 vacuous"
    assert lines[-1] == "exit 0"
    assert any(line.startswith("  linear           refuted after") for line in lines)


@pytest.mark.usefixtures("mine")
def test_the_groups_come_in_the_order_of_inheritance(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "laws", "distinct", "--cases", "5", "--no-unclaimed")
    headings = [line.partition(":")[0] for line in out.splitlines() if line and line[0] != " "]
    groups = [name for name in headings if name in GROUPS]
    assert groups == [name for name in GROUPS if name in groups]
    assert groups[0] == "operator"
    assert "not claimed, but tried" not in out


def test_no_line_of_a_table_is_cut_or_wrapped_without_a_terminal(mine: Path) -> None:
    """As a pipe and as a terminal of 80 columns see it."""
    command = [sys.executable, "-m", "deltaproof.conformance.cli", "laws", "mine.py:clamped"]
    options = ["--schema", "k BIGINT", "--shape", "linear", "--cases", "10"]
    ran = subprocess.run(
        [*command, *options],
        capture_output=True,
        text=True,
        cwd=mine,
        env={"COLUMNS": "80", "PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert ran.returncode == 1
    table = ran.stdout.partition("not claimed")[0].splitlines()
    laws = [line.split() for line in table if line.startswith("  ")]
    subject = LawTarget.named("mine.py:clamped", ["k BIGINT"], "linear").about
    assert len(laws) == len(laws_of(subject))
    assert all(len(words) == 4 and words[3].endswith("%") for words in laws)
    assert all(len(line) <= 80 for line in table)
    long = "  the law: Q(-a) = -Q(a), when Q has a meaning at each tick alone and Q(0) = 0"
    assert long in ran.stdout.splitlines()


@pytest.mark.usefixtures("mine")
def test_a_refutation_shows_both_sides_the_reason_and_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("laws", "mine.py:TWICE", "--schema", "k BIGINT NOT NULL", "--cases", "50")
    code, out, _ = run(capsys, *arguments, "--law", "increment_is_incremental")
    assert code == 1
    about, *explained = out.split("\n\n")[2].splitlines()
    assert about == "increment_is_incremental does not hold for at_least over (k BIGINT NOT NULL)"
    *text, file, replay, case = explained
    assert (
        "  why it matters: The one claim: maintained and recomputed are the same view" in text[-2]
    )
    assert [line.partition(" = ")[0].strip() for line in text[1:3]] == ["Q^D(s)", "D(Q(I(s)))"]
    path = Path(file.removeprefix("  file: "))
    assert replay == f"  replay: deltaproof replay {path} --operator mine.py:TWICE"
    words = replay.removeprefix("  replay: deltaproof ").split()
    assert run(capsys, *words)[:2] == (1, "\n".join([about, *text]) + "\n")
    code, out, _ = run(capsys, *case.removeprefix("  case: deltaproof ").split())
    assert code == 1
    assert out.startswith("FAIL  a case of no cell")


@pytest.mark.usefixtures("mine")
def test_counterexamples_are_small(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = report_of(capsys, "mine.py:TWICE", *OF_K, "--no-unclaimed")
    refuted = [each for each in document["laws"] if each["status"] == "refuted"]
    kind = LawTarget.named("mine.py:AtLeast").value
    assert code == document["exit"] == 1
    assert {"increment_is_incremental", "increment_merges_ticks"} <= {e["law"] for e in refuted}
    for each in refuted:
        _, inputs = LawFile.load(Path(each["counterexample"]["file"])).case(kind)
        data = tuple(value for _, value in inputs)
        assert sum(map(len, zsets_in(data))) <= 3
        assert max(map(len, streams_in(data)), default=0) <= 3


@pytest.mark.usefixtures("mine")
def test_every_file_replays_on_the_operator_it_is_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, document = report_of(capsys, "mine.py:TWICE", *OF_K, "--out", "files")
    found = [each["counterexample"] for each in document["laws"] if "counterexample" in each]
    assert len(found) > 5
    for each in found:
        words = each["replay"].removeprefix("deltaproof ").split()
        assert run(capsys, *words)[:2] == (1, each["text"] + "\n")


@pytest.mark.usefixtures("mine")
def test_a_crash_is_explained_once_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--schema", "k BIGINT", "--shape", "general", "--cases", "30")
    code, out, _ = run(capsys, "laws", "mine.py:crashes", *options)
    assert code == 1
    assert out.count("it raises ZeroDivisionError: integer division or modulo by zero") == 1
    assert "mine.py, line " in out
    assert "  the same error refutes: " in out
    assert "Traceback" not in out


@pytest.mark.usefixtures("mine")
def test_what_an_operator_prints_is_not_in_the_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--schema", "k BIGINT", "--shape", "linear", "--cases", "10", "--out", "files")
    code, document = report_of(capsys, "mine.py:doubled", *options)
    assert (code, document["about"]) == (0, "doubled over (k BIGINT)")


@pytest.mark.usefixtures("mine")
def test_what_is_worth_claiming_is_said_with_how_to_claim_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ("--schema", "k BIGINT", "--shape", "general", "--cases", "60")
    code, out, _ = run(capsys, "laws", "mine.py:doubled", *options)
    assert code == 0
    assert "  linear           WORTH CLAIMING: treats changes as contents (" in out
    assert "to claim it: shape = Shape.LINEAR, claimed = (" in out
    assert "  set_valued       refuted after" in out
    assert not list(Path("out/laws").iterdir())  # files of these are written with --out only


@pytest.mark.usefixtures("mine")
def test_an_operator_that_lets_nothing_through_is_no_pass(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "laws", "mine.py:NOTHING", "--schema", "k BIGINT", "--cases", "10")
    assert code == 2
    assert "all sides were empty" in out
    assert out.endswith("exit 2\n")


@pytest.mark.usefixtures("mine")
def test_an_operator_that_json_does_not_bring_back_has_no_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("laws", "mine.py:FORGETFUL", "--schema", "k BIGINT", "--cases", "50")
    code, out, _ = run(capsys, *arguments, "--law", "operator_odd")
    assert code == 1
    assert "  no file: read from JSON the operator is another one" in out
    assert "see its to_json and from_json" in out


@pytest.mark.usefixtures("mine")
def test_a_law_asked_for_by_name_may_be_one_that_is_not_claimed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    laws = ("--law", "operator_odd", "--law", "operator_idempotent")
    code, document = report_of(capsys, "distinct", *laws)
    assert code == 1
    assert {each["law"]: each["status"] for each in document["laws"]} == {
        "operator_odd": "refuted",
        "operator_idempotent": "tested",
    }


@pytest.mark.usefixtures("mine")
def test_a_law_is_asked_of_a_backend_and_its_file_replays_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("laws", "distinct", "-b", "sqlite", "--cases", "20", "--json")
    code, out, _ = run(capsys, *asked, "--law", "operator_idempotent", "--law", "operator_additive")
    document = json.loads(out)
    assert (code, document["backend"]) == (1, "sqlite")
    kept, broken = sorted(document["laws"], key=lambda each: each["status"] == "refuted")
    assert (kept["law"], kept["status"]) == ("operator_idempotent", "tested")
    words = broken["counterexample"]["replay"].removeprefix("deltaproof ").split()
    assert words[-2:] == ["-b", "sqlite"]
    code, out, _ = run(capsys, *words)
    assert code == 1
    assert out.startswith("sqlite: operator_additive does not hold for distinct")
    code, out, _ = run(capsys, *words[:-2], "-b", "reference", "--json")
    assert (code, json.loads(out)["outcomes"][0]["backend"]) == (1, "reference")


@pytest.mark.skipif(find_spec("z3") is None, reason="z3 is not installed")
@pytest.mark.usefixtures("mine")
def test_proofs_stand_beside_tests_with_their_scope(capsys: pytest.CaptureFixture[str]) -> None:
    laws = ("--law", "operator_additive", "--law", "circuit_restores", "--cases", "20")
    arguments = ("mine.py:POSITIVE", "--schema", "k BIGINT NOT NULL", *laws)
    code, document = report_of(capsys, *arguments, "--prove")
    found = {each["law"]: each for each in document["laws"]}
    assert code == 0
    assert found["operator_additive"]["status"] == "proved"
    assert "all integer weights" in found["operator_additive"]["proof"]["scope"]
    assert found["circuit_restores"]["status"] == "tested"
    _, out, _ = run(capsys, "laws", *arguments, "--prove")
    assert "proofs, and how far they go:\n   1  all integer weights" in out
    assert "2 laws: 1 proved in scope, 1 tested, 0 refuted, 0 vacuous" in out


@pytest.mark.skipif(find_spec("z3") is None, reason="z3 is not installed")
@pytest.mark.usefixtures("mine")
def test_of_a_kind_a_proof_is_of_some_instances_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, document = report_of(capsys, "filter", "--law", "operator_odd", "--cases", "20", "--prove")
    (only,) = document["laws"]
    assert only["status"] in ("proved", "tested")
    if only["proof"]:
        assert "random instances: " in only["proof"]["scope"]


def test_without_z3_the_command_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, mine: Path
) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    for name in list(sys.modules):
        if name.startswith("deltaproof.theorems"):
            monkeypatch.delitem(sys.modules, name)
    code, _, err = run(capsys, "laws", "distinct", "--cases", "3", "--prove")
    assert code == 4
    assert "proofs need z3-solver: pip install 'deltaproof[theorems]'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["laws", "nosuch"], "no operator 'nosuch'"),
        (["laws", "distnct"], "did you mean distinct?"),
        (["laws", "mine.py:NoSuch"], "there is no NoSuch in mine.py"),
        (["laws", "nofile.py:Median"], "there is no file nofile.py"),
        (["laws", "mine.py:SEVEN"], "mine.py:SEVEN is no operator and no function, but int 7"),
        (["laws", "mine.py:TWICE"], "mine.py:TWICE has 1 inputs: give each a --schema, got 0"),
        (["laws", "mine.py:doubled"], "mine.py:doubled is a function of Z-sets: say what it is of"),
        (["laws", "mine.py:doubled", "--schema", "k BIGINT"], "--shape linear, bilinear, general"),
        (
            ["laws", "mine.py:minus", "--schema", "k BIGINT", "--shape", "linear"],
            "missing a required argument: 'b'",
        ),
        (
            ["laws", "mine.py:doubled", "--schema", "k BIGINT", "--shape", "bilinear"],
            "give two --schema, got 1",
        ),
        (["laws", "distinct", "--shape", "linear"], "distinct says its shape: leave out --shape"),
        (["laws", "distinct", "--schema", "k BIGNUM"], "BIGNUM"),
        (["laws", "filter", "--schema", "k BIGINT"], "filter has arguments: name an instance"),
        (["laws", "distinct", "--cases", "0"], "0 is not in the range"),
        (["laws", "distinct", "--law", "operator_od"], "did you mean operator_odd"),
        (
            ["laws", "distinct", "--schema", "k BIGINT", "--law", "operator_commutes"],
            "operator_commutes says nothing about distinct: it is not so that Q has two inputs",
        ),
        (["laws", "distinct", "-b", "sqlite", "--prove"], "-b asks sqlite; --prove"),
        (["laws", "distinct", "-b", "oracle23c"], "oracle23c"),
        (["replay", "none.law.json"], "none.law.json: No such file"),
    ],
    ids=lambda value: None if isinstance(value, list) else value[:30],
)
@pytest.mark.usefixtures("mine")
def test_a_wrong_argument_is_one_clear_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 4
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""


def law_file(capsys: pytest.CaptureFixture[str], target: str, *options: str) -> str:
    arguments = (target, *options, "--law", "operator_odd", "--cases", "50")
    _, document = report_of(capsys, *arguments)
    path: str = document["laws"][0]["counterexample"]["file"]
    return path


@pytest.mark.usefixtures("mine")
def test_a_law_file_about_somebodys_operator_asks_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = law_file(capsys, "mine.py:TWICE", "--schema", "k BIGINT")
    code, out, err = run(capsys, "replay", path)
    assert (code, out) == (4, "")
    assert "there is no operator 'at_least' here: name it with --operator mine.py:TWICE" in err
    code, _, err = run(capsys, "replay", path, "--operator", "mine.py:FORGETFUL")
    assert code == 4
    given = ("--operator", "mine.py:FORGETFUL", "--operator", "mine.py:AtLeast")
    code, out, _ = run(capsys, "replay", path, *given)
    assert code == 1
    assert out.startswith("operator_odd does not hold for")


@pytest.mark.usefixtures("mine")
def test_a_law_file_about_a_function_asks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    path = law_file(capsys, "mine.py:clamped", "--schema", "k BIGINT", "--shape", "linear")
    code, _, err = run(capsys, "replay", path)
    assert code == 4
    assert "the file is about the function mine.py:clamped" in err
    assert run(capsys, "replay", path, "--operator", "mine.py:clamped")[0] == 1
    code, out, _ = run(capsys, "replay", path, "--operator", "mine.py:doubled")
    assert (code, out.splitlines()[-1]) == (0, "operator_odd holds on these inputs")
    code, _, err = run(capsys, "replay", path, "--operator", "mine.py:doubled", "-b", "sqlite")
    assert code == 4
    assert "is about no operator that sqlite could run" in err


@pytest.mark.usefixtures("mine")
def test_a_law_that_holds_again_is_exit_0(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(law_file(capsys, "distinct", "--schema", "k BIGINT"))
    document = json.loads(path.read_text()) | {"law": "operator_idempotent"}
    path.write_text(json.dumps(document))
    code, out, _ = run(capsys, "replay", str(path))
    assert (code, out) == (0, "operator_idempotent holds on these inputs\n")
    code, out, _ = run(capsys, "replay", str(path), "-b", "reference", "--json")
    assert json.loads(out)["outcomes"] == [
        {
            "backend": "reference",
            "holds": True,
            "text": "operator_idempotent holds on these inputs on reference",
        }
    ]


CASE = {
    "tables": {"t": "k BIGINT"},
    "query": {"op": "at_least", "least": 2, "inputs": [{"table": "t"}]},
    "ticks": [{"t": [[[7], 1]]}, {"t": [[[7], 1]]}],
}


@pytest.mark.usefixtures("mine")
def test_a_case_with_somebodys_operator_asks_for_it_and_replays_with_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = Path("own.case.json")
    path.write_text(json.dumps(CASE))
    code, _, err = run(capsys, "replay", str(path))
    assert code == 4
    assert "unknown operator 'at_least'" in err
    assert "make yours known with --operator package.module:Name or file.py:Name" in err
    code, out, _ = run(capsys, "replay", str(path), "--operator", "mine.py:AtLeast")
    assert code == 1
    assert "first difference" in out
    case = CASE | {"query": {"op": "distinct", "inputs": [{"table": "t"}]}}
    path.write_text(json.dumps(case))
    assert run(capsys, "replay", str(path), "--operator", "mine.py:AtLeast")[0] == 0
    assert Case.load(path).query.operators()


def test_a_report_of_nothing_is_no_pass() -> None:
    asked = LawTarget.named("distinct")
    assert Findings(asked, Report(()), None, None).exit_code == 2


def test_refutations_by_one_error_are_together_and_others_are_not() -> None:
    def raises(a: ZSet) -> ZSet:
        raise ValueError("todo")

    one_error = check_laws(raises, K, shape=Shape.LINEAR, examples=5).refuted
    assert alike(one_error) == [list(one_error)]
    several = check_laws(lambda a: a + ZSet({(1,): 1}), K, shape=Shape.LINEAR, examples=5).refuted
    assert alike(several) == [[each] for each in several]


def test_what_is_implied_by_a_claim_need_not_be_claimed() -> None:
    assert how_to_claim(["scales", "linear"]) == "to claim it: shape = Shape.LINEAR"
    assert how_to_claim(["linear_over_time"]) == "to claim it: shape = Shape.LINEAR"
    said = how_to_claim(["positive", "monotone", "idempotent"])
    assert said == 'to claim it: claimed = ("monotone", "idempotent")'
