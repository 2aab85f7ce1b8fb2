"""`deltaproof fuzz` and `deltaproof mutants --fuzz`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deltaproof.conformance import cli
from deltaproof.conformance.mutants import fuzzed, mutants_of

RUN = ("fuzz", "negate", "--cases", "120")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_a_run_ends_with_its_verdict_and_its_exit_code(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = run(capsys, *RUN, "--out", str(tmp_path))
    assert code == 0
    assert out.splitlines()[0].split() == ["operator", "negate", "(negate),", "seed", "7"]
    assert out.splitlines()[-1] == "exit 0"
    assert "EQUAL at every tick" in out


def test_the_outcome_as_json_has_every_number_of_the_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (mutant,) = [each for each in mutants_of("reference") if each.name.startswith("negate_of")]
    corpus = str(tmp_path / "corpus")
    with mutant.plant():
        code, out, _ = run(capsys, *RUN, "--json", "--out", str(tmp_path), "--corpus", corpus)
    document = json.loads(out)
    assert code == document["exit"] == 1
    assert document["cases"] == document["equal"] + document["vacuous"] + document["failing"]
    assert document["failing"] == sum(each["cases"] for each in document["classes"])
    assert document["failure_rate_bound"] == pytest.approx(3 / document["equal"])
    assert document["places"]["negate alone"]["churn"] > 0
    assert document["stopped"] == "cases"
    assert document["corpus"]["new"] == len(list((tmp_path / "corpus").iterdir()))
    first = document["classes"][0]
    assert first["operators"] == "negate"
    assert Path(first["file"]).is_file()
    assert first["replay"] == f"deltaproof replay {first['file']} -b reference"


def test_a_class_that_was_found_replays_with_the_command_that_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (mutant,) = [each for each in mutants_of("reference") if each.name.startswith("negate_of")]
    with mutant.plant():
        _, out, _ = run(capsys, *RUN, "--json", "--out", str(tmp_path))
        words = json.loads(out)["classes"][0]["replay"].split()
        assert run(capsys, *words[1:])[0] == 1
    assert run(capsys, *words[1:])[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fuzz", "distinkt"], "did you mean distinct"),
        (["fuzz", "negate", "--for", "soon"], "'soon' is not a duration like 60s"),
        (["fuzz", "negate", "--for", "0s"], "a run of no time at all"),
        (["fuzz", "negate", "--plateau", "never"], "nor off"),
        (["fuzz", "negate", "--for", "5s", "--cases", "5"], "give one of them"),
        (["fuzz", "negate", "--schema", "k BIGINT"], "--schema is for an operator with"),
        (["fuzz", "no_such_module:Op"], "cannot import no_such_module"),
        (["fuzz", "negate", "--corpus", "/dev/null"], "--corpus /dev/null"),
        (["mutants", "--fuzz", "-b", "spark"], "--fuzz runs the reference alone"),
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


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("fuzz", "mutants"):
        code, out, _ = run(capsys, name, "--help")
        assert code == 0
        assert "deltaproof mutants --fuzz" in out or "deltaproof fuzz distinct" in out


def test_known_bugs_are_found_by_fuzzing_with_median_and_worst_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = mutants_of("reference")[:3]
    monkeypatch.setattr(fuzzed, "mutants_of", lambda name: some)
    code, out, _ = run(capsys, "mutants", "--fuzz")
    assert code == 0
    assert out.splitlines()[-1].startswith("3 of 3 mutants found by fuzzing from an empty corpus")
    assert "worst" in out.splitlines()[-1]
    code, out, _ = run(capsys, "mutants", "--fuzz", "--json")
    document = json.loads(out)
    assert (code, document["found"]) == (0, 3)
    assert document["mutants"][0]["class"].startswith("delta/")
