"""What the proofs showed, as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from deltaproof.theorems.admitted import ADMITTED
from deltaproof.theorems.registry import UNBOUNDED, Proof


def table(proofs: Sequence[Proof], details: bool = False) -> Table:
    """A line per theorem: what was proved, for what scope, at what cost, refuting how much.

    With details, every wrong variant and the values that refute it stand below.
    """
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "theorem", "scope"):
        grid.add_column(heading, overflow="fold")
    for heading in ("refuted", "asked", "ms"):
        grid.add_column(heading, justify="right")
    for proof in proofs:
        grid.add_row(
            Text("✓", "green") if proof.holds else Text("✗", "red"),
            described(proof, details),
            proof.scope,
            str(len(proof.counterexamples)),
            str(len(proof.queries)),
            f"{proof.ms:.0f}",
        )
    return grid


def described(proof: Proof, details: bool) -> Text:
    """Name and statement; why it failed, if it did; the refuted variants, if wanted."""
    text = Text(proof.name, "bold").append(f"\n{proof.statement}", "not bold")
    if proof.error:
        text.append(f"\n{proof.error}", "not bold red")
    for each in proof.counterexamples if details else ():
        text.append(f"\n✗ {each}", "not bold dim")
    return text


def summary(proofs: Sequence[Proof]) -> str:
    """One line: how many hold, how many without bound, what was asked and refuted."""
    questions = {id(query): query for proof in proofs for query in proof.queries}
    unbounded = sum(proof.scope.startswith(UNBOUNDED) for proof in proofs if proof.holds)
    refuted = sum(len(proof.counterexamples) for proof in proofs)
    return (
        f"{sum(proof.holds for proof in proofs)} of {len(proofs)} theorems hold, "
        f"{unbounded} of them unbounded; {refuted} wrong variants refuted; "
        f"{len(questions)} questions took the solvers "
        f"{sum(query.ms for query in questions.values()) / 1000:.1f} s "
        f"of {sum(proof.ms for proof in proofs) / 1000:.1f} s"
    )


def admitted_table() -> Table:
    """What is claimed and not proved."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("admitted, not proved", overflow="fold", ratio=1)
    grid.add_column("because", overflow="fold", ratio=2)
    for each in ADMITTED:
        grid.add_row(each.claim, each.reason)
    return grid


def printed(proofs: Sequence[Proof], details: bool = False) -> Group:
    """The whole report."""
    axioms = sorted({axiom for proof in proofs for axiom in proof.axioms})
    assumed = Text("axioms: ").append("; ".join(axioms) or "none")
    gap = Text("")
    return Group(
        table(proofs, details), gap, admitted_table(), gap, assumed, gap, Text(summary(proofs))
    )


def as_json(proofs: Sequence[Proof]) -> dict[str, Any]:
    return {
        "holds": all(proof.holds for proof in proofs),
        "theorems": [proof.to_json() for proof in proofs],
        "admitted": [
            {"claim": each.claim, "reason": each.reason, "theorems": list(each.theorems)}
            for each in ADMITTED
        ],
    }
