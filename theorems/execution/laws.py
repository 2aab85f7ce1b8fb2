"""The laws of Z-sets and streams, written once for everyone, hold for all integer weights.

`properties.laws` states them as equations between values; Hypothesis tries them on random
Z-sets. Here the same functions run on Z-sets whose weights stand for every integer, with rows
that both sides share and rows that one side has alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import z3

from deltaproof.properties.laws import CATALOGUE, Equation, Law
from deltaproof.reference.zset import Weight, ZSet
from deltaproof.theorems.execution.symbolic import Cell, MergedWeight, term_of
from deltaproof.theorems.kernel import (
    Counterexample,
    ProofError,
    Thm,
    both,
    one_line,
    prove,
    refute,
)
from deltaproof.theorems.registry import theorem

TICKS = 3
ROWS = {0: ("x", "y"), 1: ("y", "z"), 2: ("x", "z")}  # of the first, second and third argument

WeightOf = Callable[[str], Weight]


def laws() -> list[Law]:
    """The laws that are about nothing but Z-sets, streams, ticks and numbers."""
    return [each for each in CATALOGUE if each.of in ("zset", "stream")]


def arguments(law: Law, tick: int, weight: WeightOf) -> list[Any]:
    """A value for each parameter of the law: its weights by name, and this tick."""
    drawn: list[Any] = []
    for place, (name, kind) in enumerate(law.parameters):
        rows = ROWS[place % len(ROWS)]
        if kind is ZSet:
            drawn.append(ZSet({(row,): weight(f"{name}({row})") for row in rows}))
        elif kind == list[ZSet]:
            drawn.append(
                [
                    ZSet({(row,): weight(f"{name}({row}) at tick {t}") for row in rows})
                    for t in range(TICKS)
                ]
            )
        elif kind.__name__ == "Factor":
            drawn.append(weight(name))
        elif kind.__name__ == "Tick":
            drawn.append(tick)
        else:
            raise ProofError(f"law {law.name}: no symbolic value for {name}, a {kind}")
    return drawn


def ticks_of(law: Law) -> range:
    """The ticks to run a law at: all of them, or one when it does not ask."""
    asks = any(getattr(kind, "__name__", "") == "Tick" for _, kind in law.parameters)
    return range(TICKS if asks else 1)


def pairs(equation: Equation) -> Iterator[tuple[ZSet, ZSet]]:
    """The Z-sets of both sides, tick by tick where they are streams."""
    if isinstance(equation.lhs, ZSet):
        yield equation.lhs, equation.rhs
    else:
        yield from zip(equation.lhs, equation.rhs, strict=True)


def cells(law: Law, tick: int) -> list[Cell]:
    """Every row of both sides of the law, on merged weights."""
    drawn = arguments(law, tick, lambda name: MergedWeight(z3.Int(name)))
    return [
        Cell(f"{law.name}, row {row}", term_of(left[row]), term_of(right[row]))
        for left, right in pairs(law.equation(*drawn))
        for row in {**dict(left.items()), **dict(right.items())}
    ]


def prove_law(law: Law) -> Thm:
    """For all integer weights the two sides weigh every row the same."""
    found = [cell for tick in ticks_of(law) for cell in cells(law, tick)]
    proofs = [prove(cell.name, cell.output == cell.expected) for cell in found]
    return both(f"{law.name}: {law.statement}", *proofs)


def refute_law(law: Law) -> Counterexample:
    """Weights for which the law is false, replayed on integers. Raises ProofError if it is true."""
    weights = [z3.Int(name) for name in names(law)]
    for cell in cells(law, 0):
        try:
            found = refute(law.statement, cell.output == cell.expected, show=weights)
        except ProofError:
            continue
        values = dict(found.values)
        for left, right in pairs(law.equation(*arguments(law, 0, values.__getitem__))):
            if left != right:
                shown = tuple((name, value) for name, value in found.values if value)
                replay = f"left is {one_line(left)}, right is {one_line(right)}"
                return replace(found, values=shown, replay=replay)
    raise ProofError(f"{law.name}: expected a counterexample, the law holds")


def names(law: Law) -> list[str]:
    """The names of all weights that a law asks for."""
    asked: list[str] = []

    def weight(name: str) -> int:
        asked.append(name)
        return 1

    arguments(law, 0, weight)
    return asked


def false_law(statement: str, equation: Callable[..., Equation]) -> Law:
    return Law(equation.__name__, "zset", statement, "it is false", "nobody", equation)


def subtraction_commutes() -> Counterexample:
    def subtract_commutes(a: ZSet, b: ZSet) -> Equation:
        return Equation(a - b, b - a)

    return refute_law(false_law("a - b = b - a", subtract_commutes))


def scaling_is_addition() -> Counterexample:
    def scale_adds(a: ZSet, b: ZSet) -> Equation:
        return Equation(a.scale(2) + b, a + b.scale(2))

    return refute_law(false_law("2a + b = a + 2b", scale_adds))


@theorem(
    statement="the laws of properties/laws/data.py on Z-sets and streams, as they run",
    source="properties/laws/data.py",
    scope="all integer weights; 2 rows per argument, 3 ticks",
    wrong=(subtraction_commutes, scaling_is_addition),
)
def zset_laws_code() -> Thm:
    """D and I inverse, linear, time-invariant, causal; the group laws; the module laws."""
    return both("the laws of Z-sets and streams", *map(prove_law, laws()))
