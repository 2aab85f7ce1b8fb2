"""A theorem is a function that returns its proof, and never work done at import.

    @theorem(statement="D(I(s)) = s", source="theorem 2.20", wrong=(d_without_delay,))
    def integrate_inverse() -> Thm: ...

Every theorem carries at least one *wrong variant*: a function that states something near the
theorem which is false, and returns the values that refute it. A proof method that cannot tell
the theorem from its wrong variant proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

import z3

from deltaproof.reference.errors import DeltaproofError
from deltaproof.theorems.kernel import Counterexample, Query, Thm, axioms, queries
from deltaproof.theorems.second_solver import Confirmed

UNBOUNDED = "unbounded"
# How the axioms end that only say what streams and Z-sets are.
STRUCTURE = (
    "equal weights, equal Z-sets",
    "every list of entries is a Z-set",
    "everywhere is equal",
)
# What settles a condition: z3, whole factors, equal fractions, all cases, what the code has read.
ANSWERS = ("unsat", "certificate", "identity", "enumerated", "read")


class Evidence(Protocol):
    """What a theorem's function returns when it is not a `Thm`: it says what was asked."""

    @property
    def queries(self) -> tuple[Query, ...]: ...


WrongVariant = Callable[[], Counterexample]


@dataclass(frozen=True)
class Proof:
    """What a run of a theorem's function found; `error` says why when it did not hold."""

    name: str
    statement: str
    source: str
    scope: str
    ms: float
    lean: str = ""
    queries: tuple[Query, ...] = ()
    axioms: tuple[str, ...] = ()
    counterexamples: tuple[Counterexample, ...] = ()
    error: str = ""
    second: Confirmed = field(default_factory=Confirmed)  # if cvc5 was asked
    evidence: Any = field(default=None, repr=False, compare=False)

    @property
    def holds(self) -> bool:
        return not self.problem

    @property
    def problem(self) -> str:
        """Why it does not hold, or ""."""
        if self.error or not self.second.contradicted:
            return self.error
        return f"{self.second.contradicted}: z3 proves it and cvc5 refutes it"

    @property
    def assumed(self) -> tuple[str, ...]:
        """The hypotheses: its axioms but for those that say what streams and Z-sets are."""
        return tuple(axiom for axiom in self.axioms if not axiom.endswith(STRUCTURE))

    @property
    def replayed(self) -> int:
        """How many of the wrong variants the reference's own code showed to be wrong."""
        return sum(bool(each.replay) for each in self.counterexamples)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "statement": self.statement,
            "source": self.source,
            "scope": self.scope,
            "lean": self.lean,
            "holds": self.holds,
            "error": self.problem,
            "ms": round(self.ms, 1),
            "z3_ms": round(sum(query.ms for query in self.queries), 1),
            "conditions": len(self.queries),
            "most_units": max((query.units for query in self.queries), default=0),
            "cvc5": {
                "asked": self.second.asked,
                "confirmed": self.second.confirmed,
                "others": dict(self.second.others),
            },
            "axioms": list(self.axioms),
            "assumed": list(self.assumed),
            "refuted": [
                {"name": each.name, "values": dict(each.values), "replay": each.replay}
                for each in self.counterexamples
            ],
        }


@dataclass(frozen=True)
class Theorem:
    """A claim, the function that proves it, and wrong variants that must be refuted."""

    name: str
    statement: str
    source: str
    scope: str
    function: Callable[[], Thm | Evidence]
    wrong: tuple[WrongVariant, ...]
    lean: str = ""  # its name in the Lean 3 formalization, or ""
    abstract: str = ""  # why no wrong variant can be replayed on the reference's code

    @property
    def file(self) -> str:
        """The file that it stands in; for an operator's theorems, the operator's name."""
        return self.function.__module__.rpartition(".")[2]

    def __call__(self) -> Any:
        """The proof itself, for theorems that rest on this one. Raises ProofError."""
        return self.function()

    def prove(self) -> Proof:
        """Runs the proof and the wrong variants; what fails is in the result, not raised."""
        started = perf_counter()
        evidence: Any = None
        refuted: list[Counterexample] = []
        error = "" if self.wrong else "no wrong variant: nothing shows that the proof can fail"
        try:
            evidence = self.function()
            error = error or unproved(evidence)
            refuted = [wrong() for wrong in self.wrong]
            if not error and not self.abstract and not any(each.replay for each in refuted):
                error = "no wrong variant is replayed on the reference, and no reason is given"
        except (DeltaproofError, z3.Z3Exception) as failure:
            error = str(failure) or type(failure).__name__
        ms = (perf_counter() - started) * 1000
        asked, assumed = audit(evidence)
        return Proof(
            self.name,
            self.statement,
            self.source,
            self.scope,
            ms,
            self.lean,
            asked,
            assumed,
            tuple(refuted),
            error,
            evidence=evidence,
        )


def unproved(evidence: Any) -> str:
    """Why what a theorem's function returned is no proof, or ""."""
    if evidence is None:
        return "its function returned nothing"
    if isinstance(evidence, Thm) and evidence.assumptions:
        return f"rests on assumptions: {', '.join(map(str, evidence.assumptions))}"
    asked, _ = audit(evidence)
    believed = next((each for each in asked if each.verdict not in ANSWERS), None)
    if believed is not None:
        return f"{believed.name}: nobody has answered this, it is {believed.verdict}"
    return "" if asked else "no question was asked"


def audit(evidence: Any) -> tuple[tuple[Query, ...], tuple[str, ...]]:
    """(every question asked, every axiom used) for what a theorem's function returned."""
    if evidence is None:
        return (), ()
    if isinstance(evidence, Thm):
        return queries(evidence), axioms(evidence)
    return evidence.queries, ()


def theorem(
    *,
    statement: str,
    source: str,
    wrong: tuple[WrongVariant, ...],
    scope: str = UNBOUNDED,
    lean: str = "",
    abstract: str = "",
) -> Callable[[Callable[[], Any]], Theorem]:
    """Declares the theorem that has the name of the function below it.

    At least one wrong variant has a replay on the reference's code; where there is nothing to
    run (arbitrary operators, say), `abstract` says why.
    """

    def declared(function: Callable[[], Any]) -> Theorem:
        name = function.__name__
        return Theorem(name, statement, source, scope, function, wrong, lean, abstract)

    return declared
