"""A law of an operator at one size, to be run on weights that stand for every integer.

Run      the law, rows for each input, how many ticks a stream has, the numbers it asks for
Saving   an increment whose saved state can go through JSON although its weights are symbolic
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from itertools import product as product_of
from random import Random
from typing import Any

from deltaproof.properties.inputs import Inputs, copied, unchanged
from deltaproof.properties.law import (
    Bags,
    Equation,
    Factor,
    Law,
    Left,
    LeftStream,
    Right,
    RightStream,
    Size,
    Streams,
    Subject,
    Tick,
    ZSets,
)
from deltaproof.reference.operator import Increment
from deltaproof.reference.types import Row
from deltaproof.reference.zset import Weight, ZSet
from deltaproof.theorems.execution.forking import ForkedInt, Path, Weights
from deltaproof.theorems.execution.meeting_rows import Rows
from deltaproof.theorems.kernel import ProofError

MOST_TRIES = 625  # small weights to look for paths with
SMALL = (0, 1, -1, 2, -2)
TRIED = {Factor: (2, -1, 0), Size: (2, 1)}  # numbers that stay plain integers


@dataclass(frozen=True)
class Run:
    """A law at one size: rows for each input, how many ticks a stream has, and its numbers."""

    law: Law
    subject: Subject
    rows: Rows
    ticks: int
    numbers: tuple[int, ...] = ()
    bound: int | None = None  # on weights
    watching: bool = False  # the steps of code that is not ours, see `watched`

    def inputs(self, weight: Weights | Path) -> Inputs:
        """The arguments of the equation, each row with the weight that its name is given."""
        numbers = iter(self.numbers)
        return tuple(
            (name, next(numbers) if kind in NUMBERS else self.value(name, kind, weight))
            for name, kind in self.law.parameters
        )

    def value(self, name: str, kind: Any, weight: Weights | Path) -> Any:
        """The value of one parameter. Raises ProofError for a kind that is not known here."""
        if kind is Subject:
            return self.subject
        if kind not in PARTS:
            raise ProofError(f"{self.law.name}: no symbolic value for {name}, a {kind}")
        places, streams = PARTS[kind]
        chosen = range(len(self.rows)) if places is None else places
        made: list[Any] = []
        for place in chosen:
            ticks = [
                self.delta(name, place, tick, weight)
                for tick in range(self.ticks if streams else 1)
            ]
            made.append(ticks if streams else ticks[0])
        return tuple(made) if places is None else made[0]

    def delta(self, name: str, place: int, tick: int, weight: Weights | Path) -> ZSet:
        entries: list[tuple[Row, Weight]] = []
        for row in self.rows[place]:
            called = f"{name}{place}{row} at {tick}"
            entries.append(
                (row, weight.integer(called) if isinstance(weight, Path) else weight[called])
            )
        return ZSet(entries, self.subject.schemas[place])

    @property
    def names(self) -> dict[str, bool]:
        """The name of every weight, and whether it may be negative."""
        found: dict[str, bool] = {}
        for name, kind in self.law.parameters:
            places, streams = PARTS.get(kind, ((), False))
            for place in range(len(self.rows)) if places is None else places:
                for tick in range(self.ticks if streams else 1):
                    for row in self.rows[place]:
                        found[f"{name}{place}{row} at {tick}"] = kind is not Bags
        return found


NUMBERS = (Tick, Factor, Size)
# The inputs of the operator that a parameter has (None: all, in a tuple), and whether in streams.
PARTS: dict[Any, tuple[Sequence[int] | None, bool]] = {
    ZSets: (None, False),
    Bags: (None, False),
    Left: ((0,), False),
    Right: ((1,), False),
    Streams: (None, True),
    LeftStream: ((0,), True),
    RightStream: ((1,), True),
}


def numbers_of(law: Law, ticks: int) -> Iterator[tuple[int, ...]]:
    """Every choice of the numbers that a law asks for: of ticks all there are, of others a few."""
    asked = [kind for _, kind in law.parameters if kind in NUMBERS]
    return product_of(*(range(ticks) if kind is Tick else TRIED[kind] for kind in asked))


class Written(dict[str, int]):
    """A symbolic weight in a saved state: JSON holds its number, and `==` asks for its worth."""

    __hash__ = None  # compared, and never a key
    __slots__ = ("weight",)

    def __init__(self, number: int, weight: ForkedInt) -> None:
        super().__init__({WRITTEN: number})
        self.weight = weight

    def __eq__(self, other: object) -> bool:
        return bool(self.weight == (other.weight if isinstance(other, Written) else other))

    def __ne__(self, other: object) -> bool:
        return not self == other


WRITTEN = "symbolic weight"


class Saving:
    """An increment whose saved state can go through JSON although its weights are symbolic.

    >>> import json
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> from deltaproof.reference.types import Schema
    >>> saving = Saving(Distinct().increment(Schema.parse("k BIGINT")), [])
    >>> delta = ZSet({(7,): Path({"w": 3}).integer("w")})
    >>> _, _ = saving.step(delta), saving.commit()
    >>> json.dumps(saving.save())
    '[[[7], {"symbolic weight": 0}]]'
    """

    def __init__(self, increment: Increment, weights: list[ForkedInt]) -> None:
        self.increment, self.weights = increment, weights
        self.step, self.commit, self.clear = increment.step, increment.commit, increment.clear

    def save(self) -> Any:
        return self.written(self.increment.save())

    def restore(self, saved: Any) -> None:
        self.increment.restore(self.read(saved))

    def written(self, state: Any) -> Any:
        if isinstance(state, ForkedInt):
            self.weights.append(state)
            return Written(len(self.weights) - 1, state)
        if isinstance(state, dict):
            return {name: self.written(each) for name, each in state.items()}
        return type(state)(map(self.written, state)) if type(state) in (list, tuple) else state

    def read(self, state: Any) -> Any:
        if isinstance(state, dict):
            if WRITTEN in state:
                return self.weights[state[WRITTEN]]
            return {name: self.read(each) for name, each in state.items()}
        return type(state)(map(self.read, state)) if type(state) in (list, tuple) else state


def saving(subject: Subject) -> Subject:
    """The subject, with increments whose states can be saved in a symbolic run."""
    weights: list[ForkedInt] = []
    return replace(subject, increment=lambda: Saving(subject.increment(), weights))


def holds_on(made: Run, weights: Weights | Path) -> bool:
    """Whether the sides are equal, for symbolic weights on their path."""
    inputs = made.inputs(weights)
    given = copied(inputs)
    equation: Equation = made.law.equation(*values(given))
    equal = bool(equation.lhs == equation.rhs)
    if equal:
        unchanged(inputs, given)
    return equal


def small(names: Iterable[str]) -> Iterator[dict[str, int]]:
    """All weights from -2 to 2, zeros first; of too many, some at random."""
    names = list(names)
    every: Iterable[Sequence[int]] = product_of(SMALL, repeat=len(names))
    if len(SMALL) ** len(names) > MOST_TRIES:
        draw = Random(0)
        random = (draw.choices(SMALL, k=len(names)) for _ in range(MOST_TRIES))
        every = chain(product_of(SMALL[:2], repeat=len(names)), random)
    return (dict(zip(names, each, strict=True)) for each in every)


def scope_of(runs: Sequence[Run]) -> str:
    """How far the proof goes, in words."""
    first = runs[0]
    if not first.names:
        return "computed: the law has no inputs"
    kinds = [kind for _, kind in first.law.parameters]
    rows = max(map(len, first.rows))
    least = 0 if Bags in kinds else None if first.bound is None else -first.bound
    parts = [weights_text(least, first.bound)]
    parts.append(f"{rows} row{'s' * (rows > 1)} an input")
    if any(PARTS[kind][1] for kind in kinds if kind in PARTS):
        parts.append(f"{first.ticks} tick{'s' * (first.ticks > 1)}")
    numbers = [name for name, kind in first.law.parameters if kind in NUMBERS]
    for place, name in enumerate(numbers):
        if name != "t" or Tick not in kinds:
            tried = dict.fromkeys(str(each.numbers[place]) for each in runs)
            parts.append(f"{name} in {{{', '.join(tried)}}}")
    count = len({each.rows for each in runs})
    parts.append(f"{count} choices of rows" if count > 1 else "one choice of rows")
    return ", ".join(parts)


def weights_text(least: int | None, most: int | None) -> str:
    """Which weights these are.

    >>> weights_text(None, None), weights_text(0, None), weights_text(-1000, 1000)
    ('all integer weights', 'all weights from 0 on', 'all weights from -1000 to 1000')
    """
    if least is None:
        return "all integer weights"
    return f"all weights from {least} " + ("on" if most is None else f"to {most}")


def values(inputs: Inputs) -> list[Any]:
    return [value for _, value in inputs]


def zero(value: Any) -> bool:
    """Whether this is the empty Z-set, or made of nothing else."""
    return all(map(zero, value)) if isinstance(value, list | tuple) else not value
