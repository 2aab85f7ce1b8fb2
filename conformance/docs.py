"""The operator table of the README, made from the declarations.

python -m deltaproof.conformance.docs            writes it
python -m deltaproof.conformance.docs --check    exit 1 when it is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import FUNCTIONS, capability
from deltaproof.reference.operators.negate import Negate

BEGIN, END = "<!-- operators: begin, made by `make docs` -->", "<!-- operators: end -->"
README = Path(__file__).resolve().parent.parent / "README.md"


def operator_table() -> str:
    """A row per operator: what it is, its shape, the theorem of its increment, where it runs.

    >>> operator_table().splitlines()[0]
    '| operator | what it is | shape | increment licensed by | SQL | Spark |'
    """
    head = "| operator | what it is | shape | increment licensed by | SQL | Spark |"
    return "\n".join([head, "|---|---|---|---|---|---|", *map(operator_row, OPERATORS)])


def operator_row(kind: type[Operator]) -> str:
    sentence = (kind.__doc__ or "").strip().splitlines()[0]
    name = kind.name
    if name == "aggregate":
        functions = dict.fromkeys(capability(each).upper() for each in FUNCTIONS)
        name = f"aggregate ({', '.join(functions)})"
    sql = "no word for it" if kind is Negate else "yes"
    native = find_spec(f"deltaproof.spark_backend.operators.{kind.name}") is not None
    spark = "native" if native else "none"
    theorem = f"`{kind.theorem}`: {kind.source}"
    return f"| {name} | {sentence} | {kind.shape.value} | {theorem} | {sql} | {spark} |"


def with_table(text: str) -> str:
    """The text with the table between its two marks made anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{operator_table()}\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    text = README.read_text(encoding="utf-8")
    made = with_table(text)
    if "--check" in arguments:
        if made != text:
            sys.stderr.write("README.md: the operator table is out of date: run `make docs`\n")
        return int(made != text)
    README.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
