"""A law file is replayed on the operator that it is about, here or as a backend implements it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deltaproof.conformance.adapter import Backend
from deltaproof.conformance.console import NONCONFORMANT, PASS, UNKNOWN, say
from deltaproof.conformance.laws.interview import Broke, Interview, NotAsked
from deltaproof.conformance.laws.tolerance import agree
from deltaproof.conformance.target import Modules, kind_named, target_named
from deltaproof.properties.check import Judged, judge
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import Equation, Law, Subject
from deltaproof.properties.lawfile import SUFFIX, LawFile
from deltaproof.properties.verdict import Counterexample
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator


def is_law_file(path: Path) -> bool:
    """Whether this file holds a law's counterexample, and not a case; broken files are neither."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return path.name.endswith(SUFFIX)
    return isinstance(document, dict) and "deltaproof_law" in document


def replay_law(
    path: Path, own: Sequence[str], backends: Sequence[Backend], as_json: bool = False
) -> int:
    """Says what becomes of a law file: on each backend, or without any in the operator's code."""
    modules: Modules = {}
    given = [target_named(each, modules) if ":" in each else kind_named(each) for each in own]
    file = LawFile.load(path)
    law, inputs = file.case(concerned(file, given))
    asked: Sequence[Backend | None] = list(backends) or [None]
    outcomes = [outcome(law, inputs, each) for each in asked]
    if as_json:
        click.echo(json.dumps({"law": file.law, "outcomes": outcomes}))
    else:
        say(each["text"] for each in outcomes)
    held = [each["holds"] for each in outcomes]
    return NONCONFORMANT if False in held else UNKNOWN if None in held else PASS


def concerned(file: LawFile, given: Sequence[Any]) -> Any:
    """Which of the things that are made known the file is about; None when it is one of ours."""
    if file.operator is None and "q" not in file.inputs:
        functions = [each for each in given if not isinstance(each, type | Operator)]
        return functions[0] if len(functions) == 1 else None
    if file.operator is None:
        return next(iter(given), None)
    named = [each for each in given if getattr(each, "name", None) == file.operator["op"]]
    return next(iter(named), None)


def outcome(law: Law, inputs: Inputs, backend: Backend | None) -> dict[str, Any]:
    """What becomes of the law on one backend, as JSON and, in `text`, in words."""
    judged = judge(law, inputs) if backend is None else judged_on(backend, law, inputs)
    found = judged.counterexample if judged else None
    where = f" on {backend.name}" if backend else ""
    text = f"{law.name} holds on these inputs{where}"
    if judged is None:
        text = f"{law.name} says nothing of these inputs{where}: an expression has no value"
    if found:
        text = f"{backend.name}: {found}" if backend else str(found)
    return {
        "backend": backend.name if backend else None,
        "holds": None if judged is None else found is None,
        "text": text,
    }


def judged_on(backend: Backend, law: Law, inputs: Inputs) -> Judged | None:
    """The law on these inputs, as the backend implements the operator."""
    name, subject = inputs[0]
    if not isinstance(subject, Subject) or subject.operator is None:
        raise UsageError(f"{law.name} is about no operator that {backend.name} could run: no -b")
    interview = Interview(backend)
    there = interview.subject(subject.operator, *subject.schemas)
    asked = ((name, there), *inputs[1:])
    (outcome,) = interview.outcomes([(law, asked)])
    if isinstance(outcome, Broke):
        return Judged(True, Counterexample(law, asked, None, str(outcome)))
    if isinstance(outcome, NotAsked):
        raise outcome
    if not isinstance(outcome, Equation):
        return None
    if agree(outcome, backend.tolerance):
        return Judged(True)
    return Judged(True, Counterexample(law, asked, outcome))
