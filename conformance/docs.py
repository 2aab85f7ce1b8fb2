"""The operator table of the README, made from the declarations.

python -m deltaproof.conformance.docs            writes it
python -m deltaproof.conformance.docs --check    exit 1 when it is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

from deltaproof.conformance.generate import Growth, sample_tables
from deltaproof.reference.operator import STATE_OF_SHAPE, Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Apply
from deltaproof.reference.select import Relation

BEGIN, END = "<!-- operators: begin, made by `make docs` -->", "<!-- operators: end -->"
README = Path(__file__).resolve().parent.parent / "README.md"


HEAD = ("operator", "what it is", "shape", "increment licensed by", "keeps", "SQL", "Spark")
SAMPLES = 40  # random instances that are asked for their SQL


def operator_table() -> str:
    """A row per operator: what it is, its shape, the theorem of its increment, where it runs.

    >>> operator_table().splitlines()[0]
    '| operator | what it is | shape | increment licensed by | keeps | SQL | Spark |'
    """
    return "\n".join([line(HEAD), "|---" * len(HEAD) + "|", *map(operator_row, OPERATORS)])


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def operator_row(kind: type[Operator]) -> str:
    sentence = " ".join((kind.__doc__ or "").strip().partition("\n\n")[0].split())
    native = find_spec(f"deltaproof.spark_backend.operators.{kind.name}") is not None
    return line(
        (
            name_with_capabilities(kind),
            sentence.replace("|", "\\|"),
            kind.shape.value,
            f"`{kind.theorem}`: {kind.source}",
            kind.state or STATE_OF_SHAPE[kind.shape],
            sql_words(kind),
            "native" if native else "none",
        )
    )


def name_with_capabilities(kind: type[Operator]) -> str:
    """The operator's name, and what its instances may need, where that is more than one thing."""
    parts = [name.rpartition(".")[2] for name in kind.all_capabilities()]
    return f"{kind.name} ({', '.join(parts)})" if len(parts) > 1 else kind.name


def sql_words(kind: type[Operator]) -> str:
    """Whether plain SQL has words for it: for all random instances, for some, for none.

    >>> from deltaproof.reference.operators.negate import Negate
    >>> sql_words(Negate)
    'no word for it'
    """
    random = Random(kind.name)
    said: list[bool] = []
    while len(said) < SAMPLES:
        query = Growth(random, sample_tables(random)).around((kind,), 1)
        if isinstance(query, Apply) and query.operator.name == kind.name:
            inputs = [Relation(f"t{n}", each.schema) for n, each in enumerate(query.over)]
            said.append(query.operator.select(*inputs) is not None)
    return "yes" if all(said) else "some of it" if any(said) else "no word for it"


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
