"""The reference's own code, run once on weights that stand for every integer.

    delta weights w₁, w₂, … ──▶ JoinIncrement.step ──▶ terms over w₁, w₂, …
                                                      =  for all integers?   asks z3
    their running sums ────────▶ Join.meaning ──────▶ terms over w₁, w₂, …

Operators ask of a weight only `+`, `-`, `*`, "is it positive" and "is it literally zero". A
`MergedWeight` answers the first four with terms, so both outcomes of a question stay in one
run: "is it positive" is the weight 1-or-0. Rows are concrete, and so are the number of rows and
of ticks: that is the scope of such a proof; over the weights it is complete.

Z-sets are compared as weight functions, over all rows of either side: an entry that may be
zero is the same as none. For code that does branch on weights (aggregates), see `forking`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any, Protocol, TypeAlias

import z3

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.operator import Operator, StreamMeaning
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.stream import differentiate, integrate, lift
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    ProofError,
    Sort,
    Term,
    Thm,
    both,
    one_line,
    prove,
    refute,
)

Deltas: TypeAlias = tuple[ZSet, ...]  # one per input, of one tick


class Steps(Protocol):
    """The part of an increment that a run needs."""

    @property
    def step(self) -> Callable[..., ZSet]: ...

    def commit(self) -> None: ...


@dataclass(frozen=True)
class Subject:
    """Code to run: what it means, what keeps it up to date, and the rows and ticks to run it on."""

    name: str
    meaning: Callable[..., ZSet]
    increment: Callable[[], Steps]
    rows: tuple[tuple[Row, ...], ...]  # per input
    ticks: int
    over_time: StreamMeaning | None = None  # where what is meant is not the same at every tick
    bound: int = 1000  # on weights, where every path is run

    def contents(self, *inputs: list[ZSet]) -> list[ZSet]:
        """What the output should contain at every tick, from what the inputs contain."""
        return (self.over_time or lift(self.meaning))(*inputs)

    def weights(self) -> list[tuple[str, int, int, Row]]:
        """(name, tick, input, row) of every weight of the run."""
        return [
            (f"{ascii_lowercase[place]}{row} at tick {tick + 1}", tick, place, row)
            for tick in range(self.ticks)
            for place, rows in enumerate(self.rows)
            for row in rows
        ]

    def deltas(self, weight: Callable[[str], Weight], trusted: bool = False) -> list[Deltas]:
        """The deltas of every tick, each row with the weight that its name is given."""
        entries: list[list[dict[Row, Weight]]] = [
            [{} for _ in self.rows] for _ in range(self.ticks)
        ]
        for name, tick, place, row in self.weights():
            entries[tick][place][row] = weight(name)
        make = ZSet.trusted if trusted else ZSet
        return [tuple(make(each) for each in tick) for tick in entries]


def subject_of(
    operator: Operator, inputs: Sequence[tuple[str, Sequence[Row]]], ticks: int
) -> Subject:
    """The run of an operator on tables with these columns and rows."""
    schemas = [Schema.parse(columns) for columns, _ in inputs]
    rows = tuple(
        tuple(schema.row(row) for row in rows)
        for schema, (_, rows) in zip(schemas, inputs, strict=True)
    )
    return Subject(
        operator.label(),
        operator.meaning(*schemas) if operator.lifted else meaning_at_a_tick,
        lambda: operator.increment(*schemas),
        rows,
        ticks,
        None if operator.lifted else operator.over_time(*schemas),
    )


def meaning_at_a_tick(*inputs: ZSet) -> ZSet:
    """Of an operator over time: there is none. Raises ProofError."""
    raise ProofError("an operator over time has no meaning at a tick: use `contents`")


class CircuitSteps:
    """A whole circuit of one view, as an increment of its tables."""

    def __init__(self, query: Query) -> None:
        self.query, self.circuit = query, Circuit(query)

    def step(self, *deltas: ZSet) -> ZSet:
        tables = self.query.tables()
        pairs = zip(tables.items(), deltas, strict=True)
        return self.circuit.step(
            {name: ZSet.trusted(dict(d.items()), schema) for (name, schema), d in pairs}
        )["view"]

    def commit(self) -> None:
        """The circuit commits its own tick."""


def subject_of_query(query: Query, rows: Sequence[Sequence[Row]], ticks: int) -> Subject:
    """The run of a whole circuit against the query's meaning."""
    tables, meaning = query.tables(), query.meaning()

    def whole(*zsets: ZSet) -> ZSet:
        return meaning(dict(zip(tables, zsets, strict=True)))

    label = " ".join(str(query).split())
    return Subject(label, whole, lambda: CircuitSteps(query), tuple(map(tuple, rows)), ticks)


def subject_of_root(query: Query, rows: Sequence[Sequence[Row]], ticks: int) -> Subject:
    """The run of the one operator of a query, on its tables. Raises ProofError for more."""
    if not (isinstance(query, Apply) and all(isinstance(each, Table) for each in query.over)):
        raise ProofError(f"expected one operator over tables, got {query}")
    subject, operator = subject_of_query(query, rows, ticks), query.operator
    schemas = [each.schema for each in query.over]
    return replace(subject, increment=lambda: operator.increment(*schemas))


def outputs(
    subject: Subject, increment: Steps, ticks: Sequence[Deltas]
) -> Iterator[tuple[ZSet, ZSet]]:
    """(the increment's output, D ∘ meaning ∘ I) at every tick. The weights may be of any kind."""
    integrals = [integrate(stream) for stream in zip(*ticks, strict=True)]
    expected = differentiate(subject.contents(*integrals))
    for deltas, change in zip(ticks, expected, strict=True):
        output = increment.step(*deltas)
        increment.commit()
        yield output, change


# ---------------------------------------------------------------- weights that never branch

INTEGERS = z3.IntSort()  # the weights of the reference
WRAP_AROUND = z3.BitVecSort(64)  # those of an engine that counts in 64 bits, signed


class MergedWeight:
    """A weight that stands for every integer, in code that does not branch on weights.

    The one decision it takes part in is whether an entry may be dropped: only one whose weight is
    zero for all integers is. Any other decision raises TypeError, since half of its outcomes
    would go unseen. A term of 64 bits stands for every number that wraps around there.

    >>> w = MergedWeight(z3.Int("w"))
    >>> w + 1 - w, (w > 0) * 2
    (MergedWeight(w + 1 - w), MergedWeight(If(0 < w, 2, 0)))
    >>> bool(w), bool(w - w), w == 0
    (True, False, False)
    >>> "there" if w > 0 else "not there"
    Traceback (most recent call last):
    TypeError: a branch on 0 < w
    """

    symbolic_weight = True
    __slots__ = ("term",)
    __hash__ = None  # type: ignore[assignment]  # a weight is never a key

    def __init__(self, term: Term) -> None:
        self.term = term

    def _of(self, other: Weight) -> Term:
        """The other weight as a term of this one's kind."""
        return term_of(other, self.term.sort())

    def __add__(self, other: Weight) -> MergedWeight:
        return MergedWeight(self.term + self._of(other))

    __radd__ = __add__

    def __sub__(self, other: Weight) -> MergedWeight:
        return MergedWeight(self.term - self._of(other))

    def __rsub__(self, other: Weight) -> MergedWeight:
        return MergedWeight(self._of(other) - self.term)

    def __mul__(self, other: Weight) -> MergedWeight:
        if isinstance(other, Chosen):
            return other * self
        return MergedWeight(self.term * self._of(other))

    __rmul__ = __mul__

    def __neg__(self) -> MergedWeight:
        return MergedWeight(-self.term)

    def __gt__(self, other: Weight) -> IsPositive:
        return IsPositive(self.term > self._of(other), self.term.sort())

    def __eq__(self, other: object) -> bool:
        """Whether this is zero, for all integers; nothing else may be asked."""
        if type(other) is int and other == 0:
            return not self
        raise TypeError(f"a comparison of {self.term} with {other}")

    def __bool__(self) -> bool:
        """Whether the entry of this weight has to be kept."""
        return not z3.simplify(self.term).eq(term_of(0, self.term.sort()))

    def __repr__(self) -> str:
        return f"MergedWeight({self.term})"


class IsPositive:
    """Whether a weight is positive: to multiply with, 1 for yes, 0 for no; not to branch on."""

    __slots__ = ("condition", "sort")

    def __init__(self, condition: Formula, sort: Sort = INTEGERS) -> None:
        self.condition, self.sort = condition, sort

    def __mul__(self, other: Weight) -> MergedWeight:
        return Chosen(self.condition, term_of(1, self.sort)).times(other)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        known = z3.simplify(self.condition)
        if z3.is_true(known) or z3.is_false(known):
            return bool(z3.is_true(known))
        raise TypeError(f"a branch on {self.condition}")


class Chosen(MergedWeight):
    """A weight where a condition holds, else 0.

    A product with it is a choice again, so that z3 is spared the products of unknowns.
    """

    __slots__ = ("chosen", "condition")

    def __init__(self, condition: Formula, chosen: Term) -> None:
        super().__init__(z3.If(condition, chosen, term_of(0, chosen.sort())))
        self.condition, self.chosen = condition, chosen

    def times(self, other: Weight) -> Chosen:
        if isinstance(other, Chosen):
            return Chosen(z3.And(self.condition, other.condition), self.chosen * other.chosen)
        return Chosen(self.condition, z3.simplify(self.chosen * self._of(other)))

    __mul__ = __rmul__ = times

    def __rsub__(self, other: Weight) -> MergedWeight:
        one = term_of(1, self.term.sort())
        if type(other) is int and other == 1 and self.chosen.eq(one):
            return Chosen(z3.Not(self.condition), one)
        return super().__rsub__(other)


def term_of(weight: Weight, sort: Sort = INTEGERS) -> Term:
    return weight.term if isinstance(weight, MergedWeight) else sort.cast(int(weight))


@dataclass(frozen=True)
class Cell:
    """One row at one tick: what the code put out, and what it should have."""

    name: str
    output: Term
    expected: Term
    row: Row = ()


def cells(subject: Subject, increment: Steps, sort: Sort = INTEGERS) -> list[Cell]:
    """Every row of every tick of one run on merged weights."""
    ticks = subject.deltas(lambda name: MergedWeight(z3.Const(name, sort)), trusted=True)
    found = []
    for number, (output, expected) in enumerate(_merged_outputs(subject, increment, ticks)):
        for row in {**dict(output.items()), **dict(expected.items())}:
            name = f"{subject.name}, tick {number + 1}, row {row}"
            sides = term_of(output[row], sort), term_of(expected[row], sort)
            found.append(Cell(name, *sides, row))
    return found


def _merged_outputs(
    subject: Subject, increment: Steps, ticks: Sequence[Deltas]
) -> list[tuple[ZSet, ZSet]]:
    try:
        return list(outputs(subject, increment, ticks))
    except TypeError as error:
        raise ProofError(
            f"{subject.name}: the code asks of a weight what only a number can answer ({error}); "
            "use + - *, positive(weight), or run it with `forking`"
        ) from error


def prove_code(subject: Subject, sort: Sort = INTEGERS) -> Thm:
    """For all weights of a sort: the code's output is D ∘ meaning ∘ I, at every row and tick."""
    found = cells(subject, subject.increment(), sort)
    if not found:
        raise ProofError(f"{subject.name}: the run has no output, so it proves nothing")
    return both(subject.name, *[prove(each.name, each.output == each.expected) for each in found])


def refute_code(name: str, subject: Subject, wrong: Callable[[], Steps]) -> Counterexample:
    """Weights for which the wrong increment is wrong, replayed on integers.

    A weight of zero is an entry here and none in the replay; where that matters to the wrong
    code, weights without zeros are tried next. Raises ProofError when nothing shows the error.
    """
    weights = [z3.Int(each) for each, *_ in subject.weights()]
    found = cells(subject, wrong())
    for given in ([], [weight != 0 for weight in weights]):
        for cell in found:
            try:
                shown = refute(name, cell.output == cell.expected, given, weights)
                return replayed(shown, subject, wrong)
            except ProofError:
                continue
    raise ProofError(f"{name}: the wrong increment was not refuted")


def replayed(found: Counterexample, subject: Subject, wrong: Callable[[], Steps]) -> Counterexample:
    """The counterexample with what the code does on these integers.

    Raises ProofError when the code is right on them.
    """
    values = dict(found.values)
    ticks = subject.deltas(lambda name: int(values[name]))
    for number, (output, expected) in enumerate(outputs(subject, wrong(), ticks)):
        if output - expected:
            shown = tuple((name, value) for name, value in found.values if value)
            replay = f"tick {number + 1} puts out {one_line(output)}, expected {one_line(expected)}"
            return replace(found, values=shown or (("every weight", 0),), replay=replay)
    raise ProofError(f"{found.name}: the integers {values} do not show the error")


# ---------------------------------------------------------------- wrong increments


class Altered:
    """An increment whose output is changed on its way out: a wrong variant of the code."""

    def __init__(self, increment: Steps, alter: Callable[..., ZSet]) -> None:
        self.increment, self.alter = increment, alter

    def step(self, *deltas: ZSet) -> ZSet:
        return self.alter(self.increment.step(*deltas), *deltas)

    def commit(self) -> None:
        self.increment.commit()


class Within:
    """An increment that does everything within a context: with a fault planted, say, or watched."""

    def __init__(self, make: Callable[[], Steps], context: AbstractContextManager[Any]) -> None:
        self.context = context
        with context:
            self.increment = make()

    def step(self, *deltas: ZSet) -> ZSet:
        with self.context:
            return self.increment.step(*deltas)

    def commit(self) -> None:
        with self.context:
            self.increment.commit()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.increment, name)


class OneSided:
    """An increment that puts out what one input changes; what the others change is only kept."""

    def __init__(self, increment: Steps, side: int) -> None:
        self.increment, self.side = increment, side

    def step(self, *deltas: ZSet) -> ZSet:
        seen = [d if place == self.side else ZSet() for place, d in enumerate(deltas)]
        output = self.increment.step(*seen)
        self.increment.commit()
        others = [ZSet() if place == self.side else d for place, d in enumerate(deltas)]
        self.increment.step(*others)
        return output

    def commit(self) -> None:
        self.increment.commit()


class Stateless:
    """An increment that is a function of the deltas alone."""

    def __init__(self, function: Callable[..., ZSet]) -> None:
        self.step = function

    def commit(self) -> None:
        """Nothing to remember."""
