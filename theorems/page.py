"""THEOREMS.md: every theorem on one page, made from the proofs and never written by hand.

`make docs` writes it. What depends on the machine (milliseconds) or on what z3 happens to find
(the values of counterexamples) is not on it; `deltaproof prove --details` prints that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from deltaproof.theorems import prove_all
from deltaproof.theorems.admitted import ADMITTED
from deltaproof.theorems.errata import ERRATA
from deltaproof.theorems.paper import BEYOND, ITEMS, LONG, PAPER, UNNUMBERED, Item
from deltaproof.theorems.registry import Proof
from deltaproof.theorems.report import by_chapter, confirmed, counted, summary
from deltaproof.theorems.weights import LEGEND, weight_rows

PAGE = Path(__file__).with_name("THEOREMS.md")
OPENING = """\
# What is proved

Made by `make docs` from the proofs themselves: do not edit. `deltaproof prove` proves all of it
again and prints times; `deltaproof prove NAME --details` prints the counterexamples.

A *condition* is one question to a solver: formulas that cannot all be true. Of its hypotheses alone
z3 finds values, or no contradiction (see what is admitted, at the end), and it stays within a limit
of z3's own units of work. The
column *cvc5* says how many of a theorem's conditions a second solver confirms; of equations in
abelian groups and of identities of fractions it checks the whole numbers that settle them. *For any
with* are the hypotheses that a theorem takes as axioms. Every theorem has
*wrong variants*, claims near it that are false: each is refuted with values; where the reference
has code for what the claim is about, that code was run on the values and showed it (*replayed*).
"""


def page(proofs: Sequence[Proof]) -> str:
    """The page as Markdown."""
    return "\n".join(_lines(proofs)) + "\n"


def _lines(proofs: Sequence[Proof]) -> Iterator[str]:
    yield OPENING
    yield from (f"{line}  " for line in counted(proofs))
    yield ""
    for chapter, here in by_chapter(proofs):
        yield f"## {chapter.title} (`{chapter.name}`)\n"
        yield from _table(
            ["theorem", "scope", "source", "conditions", "cvc5", "wrong variants refuted"],
            [_row(proof) for proof in here],
        )
        if chapter.name == "weights":
            heading, *lines = weight_rows()
            yield f"{LEGEND}.\n"
            yield from _table(heading, lines)
        if chapter.name == "errata":
            yield from _table(
                ["where", "printed", "what holds", "theorem"],
                [[slip.place, slip.printed, slip.holds, f"`{slip.theorem}`"] for slip in ERRATA],
            )
    yield from _numbered()
    yield "## Admitted, not proved\n"
    yield from _table(
        ["claim", "because"],
        [[each.claim, each.reason] for each in ADMITTED],
    )
    yield "## Axioms\n"
    yield "What a statement says of its functions, and what streams and Z-sets are:\n"
    yield from (f"- {name}" for name in sorted({name for each in proofs for name in each.axioms}))


def _row(proof: Proof) -> list[str]:
    source = f"{proof.source}; Lean: `{proof.lean}`" if proof.lean else proof.source
    replayed = f"{proof.replayed} replayed" if proof.replayed else "none replayed"
    variants = "; ".join(f"`{each.name}`" for each in proof.counterexamples)
    assumed = f"<br>*for any with: {'; '.join(proof.assumed)}*" if proof.assumed else ""
    return [
        f"**{proof.name}**<br>{proof.statement}{assumed}",
        proof.scope,
        source,
        str(len(proof.queries)),
        confirmed(proof),
        f"{variants} ({replayed})",
    ]


def _numbered() -> Iterator[str]:
    for edition, title in ((PAPER, "The paper, by number"), (LONG, "The long version, by number")):
        yield f"## {title}\n"
        items = [item for item in ITEMS if item.edition == edition]
        rows = [[item.number, item.kind, item.statement, _where(item)] for item in items]
        yield from _table(["number", "kind", "statement", "here"], rows)
    for title, claims in (
        ("What the paper says without a number", UNNUMBERED),
        ("Beyond the paper", BEYOND),
    ):
        yield f"## {title}\n"
        rows = [
            [each.place, each.statement, ", ".join(f"`{name}`" for name in each.theorems)]
            for each in claims
        ]
        yield from _table(["where", "claim", "theorems"], rows)


def _where(item: Item) -> str:
    names = [*([item.defined.removeprefix("deltaproof.")] if item.defined else []), *item.theorems]
    lean = f"Lean: `{item.lean}`" if item.lean else ""
    return "; ".join(filter(None, [", ".join(f"`{name}`" for name in names), lean, item.remark]))


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line(headings)
    yield _line(["---"] * len(headings))
    yield from map(_line, rows)
    yield ""


def _line(cells: Sequence[str]) -> str:
    r"""
    >>> _line(["a | b", "c"])
    '| a \\| b | c |'
    """
    return f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in cells)} |"


def main() -> int:
    """Proves everything and writes the page. The exit code: 0 all hold, 1 something does not."""
    proofs = prove_all(cvc5=True)
    PAGE.write_text(page(proofs), encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in summary(proofs)))
    return 0 if all(proof.holds for proof in proofs) else 1


if __name__ == "__main__":
    sys.exit(main())
