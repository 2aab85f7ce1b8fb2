"""`deltaproof laws`: what an operator is, which laws it obeys, and on what evidence."""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from deltaproof.conformance.case import Case
from deltaproof.conformance.connect import backend as backend_named
from deltaproof.conformance.console import (
    NONCONFORMANT,
    PASS,
    UNKNOWN,
    progress_bar,
    say,
    writable,
)
from deltaproof.conformance.laws.target import LawTarget
from deltaproof.conformance.target import running
from deltaproof.properties.check import check_laws, judge
from deltaproof.properties.law import Law, Subject, inherited
from deltaproof.properties.lawfile import LawFile
from deltaproof.properties.laws import CATALOGUE, laws_of
from deltaproof.properties.show import shown
from deltaproof.properties.verdict import Counterexample, Report, Verdict
from deltaproof.reference.errors import DeltaproofError, UsageError
from deltaproof.reference.operator import Shape
from deltaproof.reference.query import Query, Table, apply

OUT = Path("out/laws")


@click.command()
@click.argument("target", metavar="TARGET")
@click.option("--prove", "proving", is_flag=True, help="Prove what can be, on symbolic weights.")
@click.option("--cases", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--schema", "schemas", multiple=True, help="'k BIGINT, v DOUBLE', of each input.")
@click.option("--shape", type=click.Choice([each.value for each in Shape]), help="Of a function.")
@click.option("-b", "--backend", help="Ask this backend's implementation of the operator.")
@click.option("--law", "names", multiple=True, help="This law only; repeat for several.")
@click.option("--unclaimed/--no-unclaimed", default=None, help="Try what is not claimed too.")
@click.option("--out", type=click.Path(path_type=Path), help=f"For counterexamples ({OUT}).")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def laws(
    target: str,
    proving: bool,
    cases: int,
    schemas: tuple[str, ...],
    shape: str | None,
    backend: str | None,
    names: tuple[str, ...],
    unclaimed: bool | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Check every law that an operator declares, and try those that it does not.

    TARGET is one of ours by its name, package.module:Operator or path/file.py:Operator: a class,
    which is checked on random instances, or an operator with its arguments, which needs a --schema
    for each input. A function of Z-sets needs those and its --shape too.

    \b
    A law is proved (as far as the scope says), tested (no counterexample in so many cases),
    refuted, or vacuous (no case could have refuted it). A case is telling when its sides are not
    both empty. Each refutation is a file that replays. Exit 0: every claimed law that could be
    asked is proved or tested; 1: one is refuted; 2: one is vacuous, or none could be asked. What
    a backend could not be asked is listed, with the reason. What is not claimed
    never fails: it is worth claiming, or it is refuted, and with --out that is a file too.

    \b
    Examples:
      deltaproof laws distinct
      deltaproof laws mine.py:Median --cases 1000
      deltaproof laws mine.py:MEDIAN --schema "k BIGINT, v DOUBLE" --prove
      deltaproof laws mine.py:clamped --schema "k BIGINT" --shape linear
      deltaproof laws join -b duckdb --law operator_left_additive
    """
    with running(target):
        asked = LawTarget.named(target, schemas, shape)
    if backend and (proving or unclaimed):
        raise UsageError(f"-b asks {backend}; --prove and --unclaimed are about the code here")
    with progress_bar() as progress, running(target):
        chosen = chosen_laws(names, asked)
        writable(out or OUT, "--out")
        if backend:
            from deltaproof.conformance.laws.asked import check_laws_on

            there = backend_named(backend)
            report: Report = check_laws_on(there, asked.about, cases, progress, chosen)
        else:
            tried = unclaimed is not False and not chosen
            report = check_laws(
                asked.about, examples=cases, unclaimed=tried, laws=chosen, progress=progress
            )
        if proving:
            from deltaproof.conformance.laws.proofs import with_proofs

            report = with_proofs(report, asked.about, progress)
    found = Findings(asked, report, backend, out)
    with running(target):  # a file is judged once more when it is written
        lines = [json.dumps(found.to_json(), indent=1)] if as_json else found.lines()
    say(lines)
    return found.exit_code


def chosen_laws(names: Sequence[str], asked: LawTarget) -> tuple[Law, ...]:
    """The laws of these names. Raises UsageError for one that is not, or says nothing here."""
    about = asked.about
    known = {law.name: law for law in (*CATALOGUE, *laws_of(about))}
    found = []
    for name in dict.fromkeys(names):
        if name not in known:
            near = difflib.get_close_matches(name, known)
            hint = f": did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"there is no law {name!r}{hint}")
        law = known[name]
        if isinstance(about, Subject) and not law.fits(about):
            unmet = " and ".join(each.text for each in law.premises if not each.holds(about))
            raise UsageError(f"{name} says nothing about {about}: it is not so that {unmet}")
        found.append(law)
    return tuple(found)


@dataclass(frozen=True)
class Findings:
    """What was found, and where its counterexamples are written."""

    asked: LawTarget
    report: Report
    backend: str | None
    out: Path | None

    @property
    def exit_code(self) -> int:
        counts = self.report.counts
        if counts["refuted"]:
            return NONCONFORMANT
        if not (counts["proved"] or counts["tested"]) and self.report.claimed:
            return UNKNOWN
        return UNKNOWN if counts["vacuous"] or not self.report.verdicts else PASS

    def lines(self) -> list[str]:
        where = f", on {self.backend}" if self.backend else ""
        lines = [f"{self.asked}{where}", "", self.report.table()]
        if worth := self.report.worth_claiming:
            lines += ["", how_to_claim(worth)]
        for same in alike(self.report.refuted):
            lines += ["", str(same[0]), *self.files(same[0])]
            if others := [each.law.name for each in same[1:]]:
                lines.append(f"  the same error refutes: {', '.join(others)}")
        unclaimed = [
            each
            for verdicts in self.report.unclaimed.values()
            for each in verdicts
            if each.counterexample
        ]
        if self.out is not None and unclaimed:
            lines.append("")
            lines += [f"{each.law.name}:" + "".join(self.files(each)) for each in unclaimed]
        return [*lines, "", self.report.summary(), f"exit {self.exit_code}"]

    def files(self, verdict: Verdict) -> list[str]:
        """The files of a refutation, and the commands that replay them."""
        saved = self.saved(verdict)
        return [f"  {name}: {text}" for name, text in saved.items()]

    def saved(self, verdict: Verdict) -> dict[str, str]:
        """What was written of it: that it replays was tried."""
        counterexample = verdict.counterexample
        if counterexample is None:
            return {}
        folder = self.out or OUT
        on = f" -b {self.backend}" if self.backend else ""
        try:
            path = law_file(counterexample, self.asked, self.backend).save(folder)
        except DeltaproofError as error:
            return {"no file": str(error)}
        replay = f"deltaproof replay {shlex.quote(str(path))}{self.asked.option}"
        found = {"file": str(path), "replay": replay + on}
        if case := case_of(counterexample):
            name = shlex.quote(str(case.save(folder)))
            found["case"] = f"deltaproof replay {name}{self.asked.option}{on}"
        return found

    def to_json(self) -> dict[str, Any]:
        report = self.report
        return {
            "about": str(self.asked),
            "backend": self.backend,
            "laws": [self.verdict_json(each) for each in report.verdicts],
            "counts": report.counts,
            "worth_claiming": list(report.worth_claiming),
            "claiming": {name: list(share) for name, share in report.claiming.items()},
            "exit": self.exit_code,
        }

    def verdict_json(self, verdict: Verdict) -> dict[str, Any]:
        law, proof, found = verdict.law, verdict.proof, verdict.counterexample
        document: dict[str, Any] = {
            "law": law.name,
            "group": law.of,
            "statement": law.statement,
            "claimed": verdict.claimed,
            "status": verdict.status,
            "evidence": verdict.evidence,
            "tested": verdict.tested,
            "telling": verdict.telling,
            "proof": {"scope": proof.scope, "seconds": proof.seconds} if proof else None,
        }
        if found:
            document["counterexample"] = counterexample_json(found)
            if verdict.claimed or self.out is not None:
                document["counterexample"] |= self.saved(verdict)
        return document


def alike(refuted: Sequence[Verdict]) -> list[list[Verdict]]:
    """The refutations, those by one and the same error together: it is explained once."""
    found: dict[str, list[Verdict]] = {}
    for each in refuted:
        error = each.counterexample.error if each.counterexample else ""
        found.setdefault(error or each.law.name, []).append(each)
    return list(found.values())


def how_to_claim(groups: Sequence[str]) -> str:
    """What to write into the declaration.

    >>> how_to_claim(["linear", "positive"])
    'to claim it: shape = Shape.LINEAR, claimed = ("positive",)'
    """
    implied = {each for name in groups for each in inherited(name)[:-1]}
    bare = [name.removesuffix("_over_time") for name in groups if name not in implied]
    words = [f"shape = {each}" for each in Shape if each.value in bare]
    said = tuple(name for name in bare if name not in {each.value for each in Shape})
    if said:
        words.append(f"claimed = {said}".replace("'", '"'))
    return f"to claim it: {', '.join(words)}"


def counterexample_json(found: Counterexample) -> dict[str, Any]:
    sides = {"raises": found.error}
    if found.equation:
        sides = {"lhs": shown(found.equation.lhs), "rhs": shown(found.equation.rhs)}
    inputs = {name: shown(value) for name, value in found.inputs}
    return {"text": str(found), "inputs": inputs, "why": found.law.why, **sides}


def law_file(found: Counterexample, asked: LawTarget, backend: str | None) -> LawFile:
    """The file of a counterexample. Raises UsageError when what it says is not what was found.

    It is read again and judged here; what a backend broke is only read again.
    """
    file = LawFile.of(found.law, found.inputs, asked.words)
    law, inputs = LawFile.from_json(json.loads(json.dumps(file.to_json()))).case(asked.value)
    if backend is None and found.again:
        judged = judge(law, inputs)
        kind = judged.counterexample.kind if judged and judged.counterexample else "holds"
        if kind != found.kind:
            raise UsageError(
                f"read from JSON the operator is another one: its law then {kind}; "
                "see its to_json and from_json"
            )
    return file


def case_of(found: Counterexample) -> Case | None:
    """The counterexample as a case for any backend, where the law is that of a view."""
    given = dict(found.inputs)
    title = f"breaks {found.law.name}"
    if found.law.name == "circuit_is_incremental":
        return Case(given["q"], tuple(given["s"]), title=title)
    operator = found.subject.operator if isinstance(found.subject, Subject) else None
    if found.law.name != "increment_is_incremental" or operator is None:
        return None
    tables = [Table(f"t{n}", schema) for n, schema in enumerate(given["q"].schemas)]
    query: Query = apply(operator, *tables)
    names = [each.name for each in tables]
    ticks = [dict(zip(names, deltas, strict=True)) for deltas in zip(*given["s"], strict=True)]
    return Case(query, tuple(ticks), title=title)
