"""What a run of fuzzing has done so far, as numbers that add up over processes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

from deltaproof.conformance.fuzzing.ground import Place

Cell: TypeAlias = tuple[Place, str]  # a place × a kind of change


@dataclass
class Tally:
    """Cases, and what they reached.

    >>> (Tally(cases=3, equal=2) + Tally(cases=4, equal=4)).bound
    0.5
    """

    shapes: int = 0
    cases: int = 0  # random cases that have a meaning
    equal: int = 0  # of those, not vacuous and as the meaning says
    vacuous: int = 0
    failing: int = 0
    refused: int = 0  # cases without a value, such as an overflow
    replayed: int = 0  # cases of the corpus; they are in none of the numbers above
    seconds: float = 0.0  # of a core, at work
    covered: Counter[Cell] = field(default_factory=Counter)  # cases that could show something
    forms: Counter[str] = field(default_factory=Counter)  # the same, by the operator's capability
    fits: set[Place] = field(default_factory=set)
    vain: Counter[Place] = field(default_factory=Counter)  # draws that did not fit

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.shapes + other.shapes,
            self.cases + other.cases,
            self.equal + other.equal,
            self.vacuous + other.vacuous,
            self.failing + other.failing,
            self.refused + other.refused,
            self.replayed + other.replayed,
            self.seconds + other.seconds,
            self.covered + other.covered,
            self.forms + other.forms,
            self.fits | other.fits,
            self.vain + other.vain,
        )

    @property
    def rate(self) -> float:
        """Cases per second of one core."""
        return self.cases / self.seconds if self.seconds else 0.0

    @property
    def bound(self) -> float | None:
        """At 95 % no more than this share of cases fails outside the classes that were found.

        The rule of three: n cases that could have failed and did not leave at most 3/n.

        >>> Tally(equal=1).bound  # of all cases no more than all
        1.0
        """
        return min(1.0, 3 / self.equal) if self.equal else None
