"""A wrong operator is found wherever it is wrong, as one class with a case of a row or two."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from deltaproof.conformance.case import Case
from deltaproof.conformance.fuzzing.clock import Limits
from deltaproof.conformance.fuzzing.fuzzer import Fuzzer
from deltaproof.conformance.fuzzing.ground import Target
from deltaproof.conformance.fuzzing.report import exit_code, fuzz_json, fuzz_lines
from deltaproof.conformance.fuzzing.run import FuzzRun, fuzz
from deltaproof.conformance.fuzzing.verdict import alone
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.mutants import mutants_of
from deltaproof.conformance.mutants.fuzzed import Find, FindReport, find, find_mutants
from deltaproof.conformance.mutants.mutant import Mutant
from deltaproof.reference.errors import SchemaError, UsageError

OPERATORS = '''
"""Operators of somebody: `weight // 2`, right and wrong in several ways."""

from dataclasses import dataclass

from deltaproof.reference.operator import GeneralIncrement, Operator, Shape
from deltaproof.reference.zset import ZSet


@dataclass(frozen=True)
class Halves(Operator):
    name = "halves"
    shape = Shape.GENERAL
    theorem = "general_increment"
    source = "none"

    def output(self, rows):
        return rows

    def meaning(self, rows):
        return lambda zset: ZSet({row: weight // 2 for row, weight in zset.items()})

    @classmethod
    def sample(cls, random, rows):
        return cls()


class Clipped(GeneralIncrement):
    def step(self, delta):
        return ZSet({row: max(-1, min(1, w)) for row, w in super().step(delta).items()})


class Crashing(GeneralIncrement):
    def step(self, delta):
        if any(None in row for row in delta):
            raise ZeroDivisionError("a NULL was met")
        return super().step(delta)


class Leaking(GeneralIncrement):
    cleared = 0

    def clear(self):
        super().clear()
        self.cleared += 1

    def step(self, delta):
        output = super().step(delta)
        return output + delta if self.cleared > 3 else output


@dataclass(frozen=True)
class Clips(Halves):
    name = "clips"

    def increment(self, rows):
        return Clipped(self.meaning(rows), (rows,))


@dataclass(frozen=True)
class Crashes(Halves):
    name = "crashes"

    def increment(self, rows):
        return Crashing(self.meaning(rows), (rows,))


@dataclass(frozen=True)
class Leaks(Halves):
    name = "leaks"

    def increment(self, rows):
        return Leaking(self.meaning(rows), (rows,))


@dataclass(frozen=True)
class Endless(Halves):
    name = "endless"

    def meaning(self, rows):
        def go_on(zset):
            while zset:
                pass
            return zset

        return go_on


@dataclass(frozen=True)
class Senseless(Halves):
    name = "senseless"

    def meaning(self, rows):
        def refuse_three(zset):
            if len(zset) > 2:
                raise KeyError("three rows")
            return zset

        return refuse_three


@dataclass(frozen=True)
class Forgets(Halves):
    factor: int = 1
    name = "forgets"

    @classmethod
    def sample(cls, random, rows):
        return cls(random.randint(2, 9))


@dataclass(frozen=True)
class Unsampled(Halves):
    name = "unsampled"

    @classmethod
    def sample(cls, random, rows):
        raise LookupError("nothing to sample")


@dataclass(frozen=True)
class NameTaken(Halves):
    name = "distinct"


halves = Halves()
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own_operators.py"
    path.write_text(OPERATORS)
    return path


def run(file: Path, name: str, out: Path, cases: int = 400, **options: object) -> FuzzRun:
    limits = Limits(seconds=None, cases=cases)
    return fuzz(Target.named(f"{file}:{name}"), limits, out=out, **options)  # type: ignore[arg-type]


def test_a_right_operator_passes_with_a_bound(file: Path, tmp_path: Path) -> None:
    found = run(file, "Halves", tmp_path)
    assert found.classes == []
    assert exit_code(found) == 0
    assert found.bound == 3 / found.tally.equal
    last = list(fuzz_lines(found))[-1]
    assert last.startswith(f"EQUAL at every tick of {found.tally.equal:,} cases")
    assert "rule of three" in last


def test_weights_that_are_clipped_are_one_class_with_a_case_of_one_row(
    file: Path, tmp_path: Path
) -> None:
    found = run(file, "Clips", tmp_path)
    (failure,) = found.classes
    assert (failure.kind, failure.where) == ("delta/wrong-weight", "clips")
    assert failure.case is not None
    assert (len(failure.case.ticks), failure.case.rows) == (1, 1)
    assert failure.cases == found.tally.failing > 5
    assert f"--operator {file}:Clips" in failure.text
    assert exit_code(found) == 1


def test_the_smallest_case_of_a_class_replays_from_its_file(file: Path, tmp_path: Path) -> None:
    target = Target.named(f"{file}:Clips")
    (failure,) = run(file, "Clips", tmp_path).classes
    assert failure.path is not None
    with target.known():
        assert alone(Case.load(failure.path)).kind == failure.kind


def test_a_crash_of_an_increment_is_a_class_and_no_traceback(file: Path, tmp_path: Path) -> None:
    (failure,) = run(file, "Crashes", tmp_path).classes
    assert failure.kind == "crash/ZeroDivisionError"
    assert failure.case is not None
    assert failure.case.rows == 1
    assert "ZeroDivisionError: a NULL was met" in failure.text


def test_a_crash_of_a_meaning_is_a_class(file: Path, tmp_path: Path) -> None:
    found = {each.kind: each for each in run(file, "Senseless", tmp_path).classes}
    failure = found["meaning/KeyError"]
    assert failure.case is not None
    assert failure.case.rows <= 3


def test_state_that_a_reset_leaves_behind_is_a_class(file: Path, tmp_path: Path) -> None:
    (failure,) = run(file, "Leaks", tmp_path, cases=800).classes
    assert (failure.kind, failure.where) == ("leak", "leaks")
    assert "see `clear`" in failure.text


def test_json_that_forgets_an_argument_is_a_class(file: Path, tmp_path: Path) -> None:
    (failure,) = run(file, "Forgets", tmp_path).classes
    assert failure.kind == "json/unequal"
    assert failure.path is None


def test_a_sample_that_raises_is_a_class_and_shows_no_case(file: Path, tmp_path: Path) -> None:
    found = fuzz(Target.named(f"{file}:Unsampled"), Limits(seconds=0.5), out=tmp_path)
    (failure,) = found.classes
    assert failure.kind == "sample/LookupError"
    assert found.tally.cases == 0
    assert exit_code(found) == 1


def test_an_instance_is_placed_over_tables_of_the_given_schemas(file: Path, tmp_path: Path) -> None:
    target = Target.named(f"{file}:halves", ["name VARCHAR, amount DECIMAL(5,1)"])
    found = fuzz(target, Limits(seconds=None, cases=300), out=tmp_path)
    assert found.tally.equal > 100
    assert found.classes == []
    assert len(found.tally.fits) > 8


@pytest.mark.parametrize(
    ("words", "schemas", "message"),
    [
        ("distinkt", [], "did you mean distinct"),
        ("FILE:halves", [], "give --schema for each of its 1 inputs"),
        ("FILE:Halves", ["k BIGINT"], "--schema is for an operator with its arguments"),
        ("FILE:Clipped", [], "is no operator"),
        ("deltaproof.reference.operator:Operator", [], "declares no 'name'"),
    ],
)
def test_what_cannot_be_placed_is_a_usage_error(
    file: Path, words: str, schemas: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Target.named(words.replace("FILE", str(file)), schemas)


def test_a_name_that_is_taken_is_refused(file: Path) -> None:
    with pytest.raises(SchemaError, match="name yours otherwise"):
        fuzz(Target.named(f"{file}:NameTaken"), Limits(cases=10))


def test_every_place_that_fits_is_reached_by_every_kind_of_change(tmp_path: Path) -> None:
    """But for what no history reaches: a set of what is negated is empty, unless signed."""
    fuzzer = Fuzzer(Target.named("distinct"), "7", tmp_path)
    while fuzzer.covering:
        fuzzer.round()
    tally = fuzzer.tally
    cells = {(place, kind) for place in tally.fits for kind in KINDS}
    missing = {place for place, _ in cells - tally.covered.keys()}
    assert missing <= {("negate", "distinct"), ("differentiate", "distinct")}
    assert len(tally.fits) == 54
    assert tally.failing == 0


def test_the_same_seed_and_number_of_cases_give_the_same_run(file: Path, tmp_path: Path) -> None:
    def outcome() -> tuple[object, ...]:
        found = run(file, "Clips", tmp_path, cases=300)
        tally = found.tally
        texts = [each.text for each in found.classes]
        return tally.cases, tally.equal, tally.vacuous, tally.covered, texts

    assert outcome() == outcome()


def test_a_run_ends_when_nothing_new_comes(tmp_path: Path) -> None:
    limits = Limits(seconds=60, plateau=0.2, least=100)
    found = fuzz(Target.named("negate"), limits, out=tmp_path)
    assert found.stopped == "plateau"
    assert found.quiet >= 0.2
    assert found.tally.cases >= 100
    assert any("nothing new came: a plateau" in line for line in fuzz_lines(found))


def test_a_run_ends_when_the_time_is_over(tmp_path: Path) -> None:
    found = fuzz(Target.named("negate"), Limits(seconds=0.3, plateau=None), out=tmp_path)
    assert found.stopped == "time"
    assert 0.3 <= found.seconds < 10


def test_an_interrupted_run_says_what_it_has(tmp_path: Path) -> None:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    found = fuzz(Target.named("negate"), Limits(seconds=60), out=tmp_path)
    assert found.stopped == "interrupted"
    assert found.tally.cases > 0
    assert exit_code(found) == 2


def test_several_processes_share_the_places_and_add_up(file: Path, tmp_path: Path) -> None:
    found = run(file, "Clips", tmp_path, cases=700, jobs=2, corpus=tmp_path / "corpus")
    assert found.lost == []
    assert found.stopped == "cases"
    assert found.tally.cases >= 700
    assert [(each.kind, each.where) for each in found.classes] == [("delta/wrong-weight", "clips")]
    assert found.corpus is not None
    assert found.corpus.written > 20
    assert fuzz_json(found)["jobs"] == 2


def test_a_process_that_is_killed_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    import multiprocessing

    def kill_one() -> None:
        deadline = time.monotonic() + 60
        while not multiprocessing.active_children() and time.monotonic() < deadline:
            time.sleep(0.05)
        first = multiprocessing.active_children()[0]
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)

    threading.Thread(target=kill_one).start()
    found = fuzz(Target.named("negate"), Limits(seconds=6, plateau=None), jobs=2, out=tmp_path)
    assert len(found.lost) == 1
    assert "died, with exit code -9" in found.lost[0]
    assert found.stopped == "time"
    assert found.tally.cases > 0
    assert exit_code(found) == 2
    assert any("the others went on" in line for line in fuzz_lines(found))


# --- known bugs ---


@pytest.mark.parametrize(
    "name",
    [
        "filter_takes_the_first_change",
        "join_drops_the_product_of_deltas",
        "distinct_forgets_at_restart",
        "aggregate_count_counts_null",
        "recursion_deletes_by_support_count",
    ],
)
def test_a_published_bug_is_found_from_an_empty_corpus(name: str) -> None:
    (mutant,) = [each for each in mutants_of("reference") if each.name == name]
    found = find(mutant, seed=7, seconds=20)
    assert found.found
    assert found.operator == mutant.cell[0].partition(".")[0]


def test_what_is_no_bug_is_not_found_and_breaks_the_report() -> None:
    from contextlib import nullcontext

    harmless = Mutant("none", "nothing", "", "reference", ("negate", "churn"), nullcontext)
    report = find_mutants([harmless], 7, lambda *_: None, seconds=0.3)
    assert not report.all_found
    assert "NOT FOUND" in "\n".join(report.lines())


def test_a_case_that_fails_without_the_bug_too_proves_nothing() -> None:
    mutant = mutants_of("reference")[0]
    fault = "the case fails without the mutant too"
    report = FindReport([Find(mutant, "filter", 3, 0.1, "delta/extra-row", "insert", fault)])
    assert not report.all_found
    assert fault in "\n".join(report.lines())


def test_no_mutant_at_all_is_no_proof() -> None:
    assert not FindReport([]).all_found


def test_an_operator_that_does_not_end_is_interrupted_and_named(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deltaproof.conformance.fuzzing.run.PATIENCE", 1.0)
    found = fuzz(Target.named(f"{file}:Endless"), Limits(seconds=60), out=tmp_path)
    assert (found.stopped, exit_code(found)) == ("endless", 2)
    assert "endless" in found.endless
    assert found.seconds < 20


def test_one_interruption_is_enough_when_the_round_does_not_end(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deltaproof.conformance.fuzzing.run.SHORT_PATIENCE", 0.2)
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    found = fuzz(Target.named(f"{file}:Endless"), Limits(seconds=60), out=tmp_path)
    assert (found.stopped, exit_code(found)) == ("interrupted", 2)
