"""What the proofs showed: a table for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from deltaproof.theorems.admitted import ADMITTED
from deltaproof.theorems.errata import ERRATA
from deltaproof.theorems.kernel import EFFORT, Query
from deltaproof.theorems.library import CHAPTERS, Chapter
from deltaproof.theorems.registry import UNBOUNDED, Proof
from deltaproof.theorems.second_solver import CONFIRMED


def by_chapter(proofs: Sequence[Proof]) -> Iterator[tuple[Chapter, list[Proof]]]:
    """The chapters in reading order, each with those of the proofs that belong to it."""
    for chapter in CHAPTERS:
        names = {theorem.name for theorem in chapter.theorems}
        if here := [proof for proof in proofs if proof.name in names]:
            yield chapter, here


def conditions(proofs: Sequence[Proof]) -> list[Query]:
    """Every question asked for these proofs, each once, however many rest on it."""
    return list({id(query): query for proof in proofs for query in proof.queries}.values())


# ---------------------------------------------------------------- for people


def table(proofs: Sequence[Proof], details: bool = False) -> Table:
    """A line per theorem: what was proved, for what scope, at what cost, refuting how much.

    `z3 ms` is the time z3 took for the conditions of the theorem and all that it rests on; `cvc5`
    is how many of them cvc5 confirms; `refuted` is how many wrong variants were refuted, and how
    many of those the reference's own code showed to be wrong. With details, each wrong variant
    and the values that refute it stand below.
    """
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("")
    grid.add_column("theorem", overflow="fold", ratio=1)
    for heading in ("z3 ms", "cvc5", "refuted"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for proof in proofs:
        grid.add_row(
            Text("✓", "green") if proof.holds else Text("✗", "red"),
            described(proof, details),
            f"{sum(query.ms for query in proof.queries):.0f}",
            confirmed(proof),
            f"{len(proof.counterexamples)} ({proof.replayed})",
        )
    return grid


def described(proof: Proof, details: bool) -> Text:
    """Name and statement, scope and source; why it failed, if it did; the refuted variants."""
    text = Text(proof.name, "bold").append(f"\n{proof.statement}", "not bold")
    about = [proof.scope, proof.source, *([f"Lean: {proof.lean}"] if proof.lean else [])]
    text.append(f"\n{' · '.join(about)}", "not bold dim")
    if proof.assumed:
        text.append(f"\nfor any with: {'; '.join(proof.assumed)}", "not bold dim")
    if proof.problem:
        text.append(f"\n{proof.problem}", "not bold red")
    for each in proof.counterexamples if details else ():
        text.append(f"\n✗ {each}", "not bold dim")
    for name, answer in proof.second.others if details else ():
        text.append(f"\ncvc5 says {answer} to: {name}", "not bold dim")
    return text


def confirmed(proof: Proof) -> str:
    """12/12; a dash where cvc5 was not asked or there is nothing to ask.

    >>> confirmed(Proof("p", "p", "here", "unbounded", 1.0))
    '-'
    """
    second = proof.second
    return f"{second.confirmed}/{second.asked}" if second.asked else "-"


def counted(proofs: Sequence[Proof]) -> list[str]:
    """What holds, in numbers that depend on nothing but the proofs."""
    held = [proof for proof in proofs if proof.holds]
    asked, answers = conditions(proofs), second_answers(proofs)
    unbounded = [proof for proof in held if proof.scope.startswith(UNBOUNDED)]
    variants = [each for proof in proofs for each in proof.counterexamples]
    lines = [
        f"{len(held)} of {len(proofs)} theorems hold, {len(unbounded)} of them unbounded",
        f"{len(asked)} conditions, {len(conditions(unbounded))} of them unbounded",
        f"{len(variants)} wrong variants refuted, "
        f"{sum(bool(each.replay) for each in variants)} of them replayed on the reference",
    ]
    if answers:
        agreed = sum(answer == CONFIRMED for answer in answers)
        lines.append(
            f"{agreed} of {len(answers)} conditions ({100 * agreed / len(answers):.1f} %) "
            f"confirmed by cvc5; {len(asked) - len(answers)} were run case by case"
        )
    return lines


def summary(proofs: Sequence[Proof]) -> list[str]:
    """The same, and what it cost."""
    asked = conditions(proofs)
    unknown = sum(query.alone == "unknown" for query in asked)
    undecided = sum("z3 gave up" in proof.problem for proof in proofs)
    return [
        *counted(proofs),
        f"{sum(proof.ms for proof in proofs) / 1000:.1f} s in all, z3 "
        f"{sum(query.ms for query in asked) / 1000:.1f} s; the dearest condition took "
        f"{max((query.units for query in asked), default=0):,} of {EFFORT:,} units; "
        f"undecided: {undecided}, hypotheses of unknown consistency: {unknown}",
    ]


def second_answers(proofs: Sequence[Proof]) -> list[str]:
    """cvc5's answer to every condition that it was asked, each once."""
    said = {id(query): answer for proof in proofs for query, answer in proof.second.answers}
    return list(said.values())


def errata_table() -> Table:
    """Every slip in print, what holds instead, and the theorem that has both."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("where", "printed", "what holds", "theorem"):
        grid.add_column(heading, overflow="fold")
    for slip in ERRATA:
        grid.add_row(slip.place, slip.printed, slip.holds, slip.theorem)
    return grid


def admitted_table() -> Table:
    """What is claimed and not proved."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("admitted, not proved", overflow="fold", ratio=1)
    grid.add_column("because", overflow="fold", ratio=2)
    for each in ADMITTED:
        grid.add_row(each.claim, each.reason)
    return grid


def printed(proofs: Sequence[Proof], details: bool = False, whole: bool = True) -> Group:
    """The report: a table per chapter, the summary; what is admitted, when it is the whole."""
    parts: list[RenderableType] = []
    for chapter, here in by_chapter(proofs):
        parts += [Text(chapter.title, "bold underline"), table(here, details), Text("")]
        if chapter.name == "weights":
            from deltaproof.theorems.weights import weight_table

            parts += [weight_table(), Text("")]
        if chapter.name == "errata":
            parts += [errata_table(), Text("")]
    if whole:
        axioms = sorted({axiom for proof in proofs for axiom in proof.axioms})
        assumed = Text("axioms: ").append("; ".join(axioms) or "none")
        parts += [admitted_table(), Text(""), assumed, Text("")]
    return Group(*parts, *map(Text, summary(proofs)))


# ---------------------------------------------------------------- for programs


def as_json(proofs: Sequence[Proof]) -> dict[str, Any]:
    """The proofs, the totals, the slips in print and what is admitted, as plain values."""
    chapters = {proof.name: chapter.name for chapter, here in by_chapter(proofs) for proof in here}
    asked, answers = conditions(proofs), second_answers(proofs)
    return {
        "holds": all(proof.holds for proof in proofs),
        "theorems": [{"chapter": chapters[proof.name], **proof.to_json()} for proof in proofs],
        "totals": {
            "theorems": len(proofs),
            "conditions": len(asked),
            "conditions_unbounded": len(
                conditions([proof for proof in proofs if proof.scope.startswith(UNBOUNDED)])
            ),
            "wrong_variants": sum(len(proof.counterexamples) for proof in proofs),
            "wrong_variants_replayed": sum(proof.replayed for proof in proofs),
            "seconds": round(sum(proof.ms for proof in proofs) / 1000, 1),
            "cvc5_asked": len(answers),
            "cvc5_confirmed": sum(answer == CONFIRMED for answer in answers),
        },
        "errata": [
            {"where": e.place, "printed": e.printed, "holds": e.holds, "theorem": e.theorem}
            for e in ERRATA
        ],
        "admitted": [
            {"claim": each.claim, "reason": each.reason, "theorems": list(each.theorems)}
            for each in ADMITTED
        ],
    }
