"""A corpus is replayed first, grows by what is new, merges by copying; broken files hurt nobody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from deltaproof.conformance.fuzzing.clock import Limits
from deltaproof.conformance.fuzzing.corpus import loaded
from deltaproof.conformance.fuzzing.fuzzer import Fuzzer
from deltaproof.conformance.fuzzing.ground import Target
from deltaproof.conformance.fuzzing.report import fuzz_json, fuzz_lines
from deltaproof.conformance.fuzzing.run import FuzzRun, fuzz
from deltaproof.conformance.mutants import mutants_of

NEGATE = Target.named("negate")


def run(corpus: Path, cases: int = 300, seed: int = 7) -> FuzzRun:
    limits = Limits(seconds=None, cases=cases)
    return fuzz(NEGATE, limits, seed=seed, corpus=corpus, out=corpus.parent / "out")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_case_is_kept_when_it_is_the_first_in_its_cell(tmp_path: Path) -> None:
    found = run(tmp_path / "corpus")
    assert found.corpus is not None
    assert found.corpus.written == len(files(tmp_path / "corpus")) > 50
    assert found.corpus.written <= len(found.tally.covered)


def test_what_the_corpus_reaches_is_not_kept_again(tmp_path: Path) -> None:
    first = run(tmp_path / "corpus")
    again = run(tmp_path / "corpus")
    assert first.corpus is not None
    assert again.corpus is not None
    assert again.tally.replayed == first.corpus.written
    assert again.corpus.written < first.corpus.written / 2
    assert again.tally.covered.keys() >= first.tally.covered.keys()


def test_a_corpus_is_replayed_before_anything_else(tmp_path: Path) -> None:
    """With the bug planted, the corpus alone finds it: no random case is needed."""
    corpus = tmp_path / "corpus"
    (mutant,) = [each for each in mutants_of("reference") if each.name.startswith("negate_of")]
    with mutant.plant():
        found = run(corpus)
    (failure,) = [each for each in found.classes if each.where == "negate"]
    assert failure.path is not None
    assert failure.path.name in files(corpus)
    with mutant.plant():
        fuzzer = Fuzzer(NEGATE, "8", tmp_path)
        for case in loaded(corpus, NEGATE).cases:
            fuzzer.replay(case)
    assert fuzzer.tally.cases == 0
    assert ("delta/missing-row", "negate") in fuzzer.classes.found


def test_two_corpora_merge_by_copying_their_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    run(one, cases=100, seed=1)
    run(other, cases=100, seed=2)
    names = files(one) | files(other)
    assert len(names) > max(len(files(one)), len(files(other)))
    shutil.copytree(other, one, dirs_exist_ok=True)
    assert files(one) == names
    assert len(loaded(one, NEGATE).cases) == len(names)


def test_broken_and_foreign_files_are_reported_and_left_alone(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "0.case.json").write_text("{not json")
    (corpus / "1.case.json").write_bytes(b"\xff\xfe\x00")
    (corpus / "2.case.json").write_text(json.dumps({"tables": {"t": "k BIGINT"}, "ticks": []}))
    (corpus / "3.case.json").mkdir()
    (corpus / "README.md").write_text("ours")
    unknown = {"op": "nobodys", "inputs": [{"table": "t"}]}
    (corpus / "4.case.json").write_text(
        json.dumps({"tables": {"t": "k BIGINT"}, "query": unknown, "ticks": []})
    )
    other = {"op": "distinct", "inputs": [{"table": "t"}]}
    (corpus / "5.case.json").write_text(
        json.dumps({"tables": {"t": "k BIGINT"}, "query": other, "ticks": []})
    )
    before = files(corpus)
    found = run(corpus, cases=50)
    assert found.classes == []
    assert files(corpus) >= before
    assert found.corpus is not None
    assert found.corpus.foreign == ["3.case.json", "README.md"]
    assert found.corpus.of_others == 1
    assert [message.split(":")[0][-11:] for message in found.corpus.unreadable] == [
        "0.case.json",
        "1.case.json",
        "2.case.json",
        "4.case.json",
    ]
    text = "\n".join(fuzz_lines(found))
    assert "no case files: 3.case.json, README.md" in text
    assert "unreadable: " in text
    assert fuzz_json(found)["corpus"]["of_others"] == 1
