"""`deltaproof laws --prove`: what random cases did not refute is run on symbolic weights.

A law of one subject is proved as far as its proof goes. Of a kind of operator a few random
instances are tried; only when there is a proof for each of them is there one for the table,
which says of how many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from deltaproof.properties.check import judge, smallest
from deltaproof.properties.draw import drawn, may_be_claimed
from deltaproof.properties.law import Law, Subject, groups_of
from deltaproof.properties.strategies import subjects
from deltaproof.properties.verdict import Proof, Report, Verdict
from deltaproof.reference.errors import BackendMissing
from deltaproof.reference.operator import Operator

if TYPE_CHECKING:
    from deltaproof.theorems.execution.operator_laws import Attempt

DRAWN = 40
INSTANCES = 3  # that differ, of a kind

Progress = Callable[[str, int, int], None]


def with_proofs(report: Report, about: type[Operator] | Subject, progress: Progress) -> Report:
    """The report, with a proof wherever one was found; a proof may fail with a counterexample.

    Raises BackendMissing without z3.
    """
    attempt = prover()
    instances = different(about)
    verdicts = []
    for done, verdict in enumerate(report.verdicts):
        progress(f"proving {verdict.law.name}", done, len(report.verdicts))
        provable = verdict.claimed and not verdict.counterexample
        verdicts.append(proved(verdict, instances, attempt) if provable else verdict)
    return replace(report, verdicts=tuple(verdicts))


def prover() -> Callable[[Law, Subject], Attempt]:
    try:
        from deltaproof.theorems.execution.operator_laws import attempt_law
    except ModuleNotFoundError as error:
        if error.name != "z3":
            raise
        needed = "proofs need z3-solver: pip install 'deltaproof[theorems]'"
        raise BackendMissing(needed) from None
    return attempt_law


def different(about: type[Operator] | Subject) -> list[Subject]:
    """The subject; of a kind, random instances that differ, the same whenever asked."""
    if isinstance(about, Subject):
        return [about]
    return list(
        {(str(each), each.schemas): each for each in drawn(subjects(about), DRAWN)}.values()
    )


def proved(
    verdict: Verdict, instances: list[Subject], attempt: Callable[[Law, Subject], Attempt]
) -> Verdict:
    """The verdict, with what the solver says of the instances that the law is about."""
    law = verdict.law
    concerned = [each for each in instances if held_to(law, each)][:INSTANCES]
    proofs = []
    for each in concerned:
        found = attempt(law, each)
        if found.refuting:
            judged = judge(law, found.refuting)
            if judged and judged.counterexample:
                return replace(verdict, counterexample=smallest(judged.counterexample))
        if found.proof is None:
            return verdict
        proofs.append(found.proof)
    if not proofs:
        return verdict
    scopes = "; ".join(dict.fromkeys(each.scope for each in proofs))
    several = f"{len(proofs)} random instances: " if len(instances) > 1 else ""
    return replace(verdict, proof=Proof(several + scopes, sum(each.seconds for each in proofs)))


def held_to(law: Law, subject: Subject) -> bool:
    """Whether this instance must obey the law."""
    return law.fits(subject) and (not may_be_claimed(law) or law.of in groups_of(subject))
