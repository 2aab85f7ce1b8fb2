"""The tutorial is true: its files are written, its commands run, and they print what it says.

    ```python FILE      the whole of a file
    ```diff FILE        lines of it, some with - or + before them; @@ stands for lines left out
    ```console          commands behind $, and what each prints; ... stands for anything

Numbers may differ, such as times, and so may widths of tables. Each block of commands runs in a
folder of its own, in which are the files as they are at that place of the text.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).with_name("TUTORIAL.md")
FENCE = re.compile(r"^```(python|diff|console) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "deltaproof": [sys.executable, "-m", "deltaproof.conformance.cli"],
    "python": [sys.executable],
}
NEEDS = {"spark": "pyspark", "duckdb": "duckdb", "prove": "z3", "--prove": "z3"}  # word ↦ module
SECONDS = 600


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is, of which file, and its text."""

    kind: str
    file: str
    text: str

    @property
    def commands(self) -> list[tuple[str, str]]:
        """(command, what it prints), in order."""
        parts = re.split(r"^\$ (.*)\n", self.text, flags=re.MULTILINE)[1:]
        return list(zip(parts[::2], parts[1::2], strict=True))


BLOCKS = [Block(*found.groups()) for found in FENCE.finditer(TUTORIAL.read_text("utf-8"))]
CONSOLES = [place for place, block in enumerate(BLOCKS) if block.kind == "console"]


def named(place: int) -> str:
    return " && ".join(command for command, _ in BLOCKS[place].commands)


@pytest.mark.parametrize("place", CONSOLES, ids=named)
def test_the_tutorial_says_what_is_printed_by(place: int, tmp_path: Path) -> None:
    for word, module in NEEDS.items():
        if word in named(place).split() and find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install 'deltaproof[all]'")
    write_files(tmp_path, BLOCKS[:place])
    for command, wanted in BLOCKS[place].commands:
        printed = output_of(command, tmp_path)
        assert re.fullmatch(pattern_of(wanted), comparable(printed)), printed


def write_files(folder: Path, blocks: list[Block]) -> None:
    """The files as they are after these blocks."""
    for block in blocks:
        path = folder / block.file
        if block.kind == "python":
            path.write_text(block.text, "utf-8")
        elif block.kind == "diff":
            path.write_text(patched(path.read_text("utf-8"), block.text), "utf-8")
        for command, _ in block.commands:
            if "new-operator" in command:
                output_of(command, folder)


def patched(text: str, diff: str) -> str:
    """The text with its lines changed as the diff says.

    >>> patched("a\\nb\\nc\\nd\\n", " a\\n-b\\n+B\\n@@\\n c\\n+C\\n")
    'a\\nB\\nc\\nC\\nd\\n'
    """
    for hunk in diff.split("@@\n"):
        lines = [(line[:1] or " ", line[1:] + "\n") for line in hunk.splitlines()]
        before = "".join(line for sign, line in lines if sign in " -")
        after = "".join(line for sign, line in lines if sign in " +")
        if text.count(before) != 1:
            raise ValueError(f"these lines are there {text.count(before)} times:\n{before}")
        text = text.replace(before, after)
    return text


def output_of(command: str, folder: Path) -> str:
    """What a command prints, on standard output."""
    program, *arguments = shlex.split(command)
    ended = subprocess.run(
        [*PROGRAMS[program], *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.stdout or not ended.stderr, ended.stderr
    return ended.stdout


def comparable(text: str) -> str:
    """The text without what may differ: numbers, and how wide a table is.

    >>> comparable("3,144 cases in 2.5s\\n────  1e-09, out/5c1e0b7a90ff.case.json\\n")
    '# cases in #s ─ #, out/#.case.json'
    """
    text = re.sub(r"\b[0-9a-f]{12}\b", "#", text)  # a name made from the content of a file
    text = re.sub(r"\b\d[\d,]*(\.\d+)*(e-?\d+)?", "#", text)
    return " ".join(re.sub("─+", "─", text).split())


def pattern_of(wanted: str) -> str:
    """A pattern of what may be printed where this is wanted."""
    parts = re.split(r"\s*\.\.\.\s*", comparable(wanted))
    return r".*".join(map(re.escape, parts))


def files() -> Iterator[tuple[str, str]]:
    """Every file of the tutorial that is Python, as it is at the end."""
    texts: dict[str, str] = {}
    for block in BLOCKS:
        if block.kind == "python":
            texts[block.file] = block.text
        elif block.kind == "diff" and block.file in texts:
            texts[block.file] = patched(texts[block.file], block.text)
    yield from texts.items()


def test_every_command_of_the_tutorial_shows_what_it_prints() -> None:
    assert len(CONSOLES) >= 10
    for place in CONSOLES:
        for command, wanted in BLOCKS[place].commands:
            assert wanted.strip(" .\n"), command


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed")
def test_the_files_of_the_tutorial_are_formatted_as_ours_are(tmp_path: Path) -> None:
    for name, text in files():
        (tmp_path / name).write_text(text, "utf-8")
    settings = str(TUTORIAL.parent.parent / "pyproject.toml")
    ruff = [sys.executable, "-m", "ruff"]
    for words in (["format", "--check"], ["check", "--ignore", "I001"]):  # theirs are first-party
        ended = subprocess.run(
            [*ruff, *words, "--config", settings, "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_examples_of_this_file_run() -> None:
    assert doctest.testmod(sys.modules[__name__]).failed == 0


def test_a_line_of_output_that_differs_is_seen() -> None:
    pattern = pattern_of("EQUAL at every tick: spark (72)\n...\nexit 0\n")
    assert re.fullmatch(pattern, comparable("EQUAL at every tick: spark (7)\nso\nexit 0\n"))
    assert not re.fullmatch(pattern, comparable("EQUAL at every tick: spark (7)\nexit 0 or so\n"))
    assert not re.fullmatch(pattern, comparable("NONCONFORMANT: 1\nexit 1\n"))
