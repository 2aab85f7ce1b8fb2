"""`deltaproof new-operator`: an operator that works, in three files of yours, to be changed.

    NAME.py          the declaration: what it is, its meaning, its SQL, how it is sampled
    NAME_spark.py    lower_NAME, its form on Spark
    test_NAME.py     its laws, its meaning by hand, a fuzz, and the suite on SQL engines and Spark

They are the files of `skeleton/` under another name. Those run in our tests as they are, so what
is written here passes everything from the first minute; the places to change say EDIT.
"""

from __future__ import annotations

import json
import keyword
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import click

from deltaproof.conformance.console import PASS, say
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operators import OPERATORS

SKELETON = Path(__file__).parent / "skeleton"
PACKAGE = "deltaproof.conformance.skeleton."
NAME, CLASS = "values_of", "ValuesOf"  # what is called otherwise
FILES = (f"{NAME}.py", f"{NAME}_spark.py", f"test_{NAME}.py")


@dataclass(frozen=True)
class Written:
    """The files of a new operator, and what to do with them."""

    name: str
    files: tuple[Path, ...]
    edits: int  # places to change

    @property
    def target(self) -> str:
        return shlex.quote(f"{self.files[0]}:{class_name(self.name)}")

    @property
    def commands(self) -> Mapping[str, str]:
        """What to run next, in this order, by what it says."""
        declaration, _, test = (shlex.quote(str(path)) for path in self.files)
        return {
            "its laws": f"deltaproof laws {self.target}",
            "its own code, proved": f"deltaproof laws {self.target} --prove",
            "a function of weights, proved": f"deltaproof prove {declaration}:FUNCTION --linear",
            "above and below every other": f"deltaproof fuzz {self.target} --for 60s",
            "on SQL engines and on Spark": (
                f"deltaproof conform --operator {self.target} -b duckdb -b spark --cases 600"
            ),
            "all of it, short": f"python -m pytest {test}",
        }

    def lines(self) -> list[str]:
        declaration, *_ = self.files
        width = max(map(len, self.commands))
        return [
            *(f"written: {path}" for path in self.files),
            "",
            f"It works as it is. What to change says EDIT, {self.edits} times, see {declaration}.",
            "After each change ask again:",
            "",
            *(f"  {what:<{width}}  {command}" for what, command in self.commands.items()),
        ]

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "operator": self.target,
            "files": [str(path) for path in self.files],
            "edits": self.edits,
            "commands": list(self.commands.values()),
        }


@click.command("new-operator")
@click.argument("name")
@click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="The folder for its files; the current one without it.",
)
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def new_operator(name: str, folder: Path, as_json: bool) -> int:
    """Write a new operator: its declaration, its Spark form and its test, all of them working.

    NAME is what it is called in queries and in JSON, as a Python name in lower case. No file is
    ever overwritten.

    \b
    Examples:
      deltaproof new-operator median_per_group
      deltaproof new-operator median_per_group --in operators
    """
    written = write(name, folder)
    if as_json:
        click.echo(json.dumps(written.to_json(), indent=1))
    else:
        say(written.lines())
    return PASS


def write(name: str, folder: Path) -> Written:
    """Writes the three files. Raises UsageError when it cannot; then it has written none."""
    checked_name(name)
    texts = {folder / file.replace(NAME, name): text_of(file, name) for file in FILES}
    if there := [str(path) for path in texts if path.exists()]:
        raise UsageError(
            f"{', '.join(there)}: a file is there already, and none is overwritten: choose "
            "another name, or another folder with --in"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}: name a folder with --in") from None
    edits = sum(text.count("EDIT ") - text.count("from EDIT ") for text in texts.values())
    return Written(name, tuple(texts), edits)


def checked_name(name: str) -> None:
    """Raises UsageError unless an operator, its class and its files can be called so."""
    example = "expected a name like median_per_group"
    if not (name.isidentifier() and name.isascii() and name.islower()) or name.startswith("_"):
        raise UsageError(f"{name!r} is no name for an operator: {example}")
    if keyword.iskeyword(name) or name in sys.stdlib_module_names:
        raise UsageError(f"{name!r} is a word of Python, which its file cannot be: {example}")
    if name in packages_distributions():
        raise UsageError(f"{name!r} is a package, which its file would hide: {example}")
    if (
        name in ("test", "conftest")
        or name.startswith("test_")
        or name.endswith(("_test", "_spark"))
    ):
        raise UsageError(f"{name!r} reads like the name of another of its files: {example}")
    if name in {kind.name for kind in OPERATORS}:
        raise UsageError(f"there is an operator {name!r} already: name yours otherwise")


def class_name(name: str) -> str:
    """
    >>> class_name("median_per_group")
    'MedianPerGroup'
    """
    return "".join(word.capitalize() for word in name.split("_"))


def text_of(file: str, name: str) -> str:
    """A file of the skeleton, the operator called by this name."""
    text = (SKELETON / file).read_text(encoding="utf-8")
    own = [line for line in text.splitlines(keepends=True) if line.startswith(f"from {PACKAGE}")]
    for line in own:  # an import of the file beside it goes below those of the installed package
        text = text.replace(line, "", 1)
        last = text.rindex("\nfrom deltaproof.")
        end = text.index("\n", last + 1) + 1
        text = f"{text[:end]}\n{line}{text[end:]}"
    return text.replace(PACKAGE, "").replace(NAME, name).replace(CLASS, class_name(name))
