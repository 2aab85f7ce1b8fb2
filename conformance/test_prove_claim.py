"""The command finds functions by name or file, and says what is wrong with its words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deltaproof.conformance.prove_claim import Options, run
from deltaproof.reference.errors import UsageError

EXAMPLES = "deltaproof.theorems.verify.examples"
OPERATORS = """
from shared_by_operators import twice

LIMIT = 3

def double(w):
    return twice(w)

def capped(w):
    return min(w, LIMIT)

def capped_step(before, d):
    return capped(before + d) - capped(before)

def is_small(w):
    return w <= LIMIT and w >= -LIMIT

class Weights:
    @staticmethod
    def negated(w):
        return -w
"""


@pytest.fixture
def operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shared_by_operators.py").write_text("def twice(w):\n    return 2 * w\n")
    (tmp_path / "operators_of_mine.py").write_text(OPERATORS)
    return tmp_path / "operators_of_mine.py"


@pytest.mark.parametrize(
    ("function", "options", "answer"),
    [
        ("refund", Options(linear=True), "proved"),
        ("with_fee", Options(zero_preserving=True), "refuted"),
        ("matched", Options(bilinear=True), "refuted"),
        ("clamp", Options(equal_to=f"{EXAMPLES}:refund"), "refuted"),
        ("matched_step", Options(increment_of=f"{EXAMPLES}:matched"), "proved"),
        (
            "left_join_step",
            Options(increment_of=f"{EXAMPLES}:left_join", state=f"{EXAMPLES}:both_weights"),
            "refuted",
        ),
        ("matched", Options(sufficient_state=f"{EXAMPLES}:both_weights"), "proved"),
    ],
)
def test_every_claim_has_its_word(function: str, options: Options, answer: str) -> None:
    assert run(f"{EXAMPLES}:{function}", options).answer == answer


def test_functions_of_a_file_are_found_with_the_files_beside_it(operators: Path) -> None:
    assert run(f"{operators}:double", Options(linear=True)).answer == "proved"
    assert run("operators_of_mine.py:Weights.negated", Options(linear=True)).answer == "proved"
    assert run("operators_of_mine:double", Options(linear=True)).answer == "proved"
    given = f"{operators}:is_small"
    verdict = run(f"{operators}:capped", Options(linear=True, given=given))
    assert verdict.scope == (
        "all integers for which is_small holds, those of deltas too, with LIMIT = 3"
    )
    step = Options(increment_of=f"{operators}:capped")
    assert run(f"{operators}:capped_step", step).answer == "proved"


def test_a_refusal_names_the_file_as_seen_from_here(operators: Path) -> None:
    operators.write_text("def f(w):\n    while w:\n        w -= 1\n    return w\n")
    verdict = run("operators_of_mine.py:f", Options(linear=True))
    assert verdict.why.startswith("operators_of_mine.py:2: `while`: write a loop over range")


def test_what_a_file_prints_does_not_come_between_us_and_our_reader(
    operators: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operators.write_text("print('loading')\ndef f(w): return w\n")
    assert run(f"{operators}:f", Options(linear=True)).answer == "proved"
    assert capsys.readouterr() == ("", "loading\n")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("clamp", "'clamp' names nothing: expected package.module:name or path"),
        (":clamp", "names nothing"),
        (f"{EXAMPLES}:", "names nothing"),
        (f"{EXAMPLES}:clmap", f"there is no clmap in {EXAMPLES}: did you mean clamp?"),
        (f"{EXAMPLES}:PRICE", "PRICE is no function, but int 3"),
        ("no_such_package.at_all:f", "cannot import no_such_package.at_all: ModuleNotFoundError"),
        ("..:f", "cannot import ..: "),
        ("no_such_file.py:f", "there is no file no_such_file.py"),
    ],
)
def test_a_target_that_is_not_there_is_one_line(target: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        run(target, Options(linear=True))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(w:", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise BaseException('stop')", "BaseException: stop"),
        ("from . import x", r"ImportError: .*name the module, not its file: package\.module"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(text: str, message: str, operators: Path) -> None:
    operators.write_text(text)
    with pytest.raises(UsageError, match=f"cannot import {operators}: {message}"):
        run(f"{operators}:f", Options(linear=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(), "one claim at a time, one of --linear, --bilinear, --zero-preserving"),
        (Options(linear=True, bilinear=True), "one claim at a time, not --linear, --bilinear"),
        (Options(linear=True, state="a:b"), "--state belongs to --increment-of"),
        (Options(zero_preserving=True, given="a:b"), "--given has no part in --zero-preserving"),
    ],
)
def test_words_that_do_not_go_together_are_one_line(options: Options, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        run(f"{EXAMPLES}:clamp", options)
    assert str(refused.value).startswith(message)


WITHOUT_Z3 = """
import sys
sys.modules["z3"] = None
from deltaproof.reference.errors import BackendMissing
from deltaproof.conformance.prove_claim import Options, run
try:
    run("deltaproof.theorems.verify.examples:clamp", Options(linear=True))
except BackendMissing as error:
    sys.exit(str(error))
"""


def test_without_z3_the_error_says_what_to_install() -> None:
    command = [sys.executable, "-c", WITHOUT_Z3]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stderr == "proofs need z3-solver: pip install 'deltaproof[theorems]'\n"
