"""A counterexample is made as small as can be: fewer ticks, rows, copies, simpler values.

    reduced(inputs, fails)   the smallest inputs found on which the law still fails that way
    measure(inputs)          what "small" is

Every accepted step makes the measure smaller, so the search ends; it depends on nothing but
the inputs and the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

from deltaproof.properties.decode import domain
from deltaproof.properties.draw import NUMBERS
from deltaproof.properties.inputs import Inputs, rebuilt, zsets_in
from deltaproof.properties.law import Law, Tick
from deltaproof.reference.types import Row, Schema, Type, Value
from deltaproof.reference.zset import ZSet

TRIES = 600  # candidates; a typical counterexample takes a hundred

Fails: TypeAlias = Callable[[Inputs], bool]  # in the way that matters


def reduced(law: Law, inputs: Inputs, fails: Fails, tries: int = TRIES) -> Inputs:
    """The smallest inputs found on which the law still fails.

    >>> from deltaproof.properties.laws.data import zset_add_commutes
    >>> given = (("a", ZSet({(1,): 3, (2,): 1})), ("b", ZSet({(1,): 2, (3,): -5})))
    >>> reduced(zset_add_commutes, given, lambda each: (1,) in each[0][1] and (1,) in each[1][1])
    (('a', ZSet({(1,): 1})), ('b', ZSet({(1,): 1})))
    """
    small = Small.of(law, inputs)
    left = tries
    while left:
        size = small.measure()
        smaller = (each for each in small.candidates() if each.measure() < size)
        for candidate in islice(smaller, left):
            left -= 1
            if fails(candidate.inputs()):
                small = candidate
                break
        else:
            break
    return small.inputs()


@dataclass(frozen=True)
class Small:
    """The inputs of a law, taken apart: their shape, and the Z-sets in it one after the other."""

    law: Law
    given: Inputs
    zsets: tuple[ZSet, ...]

    @classmethod
    def of(cls, law: Law, given: Inputs) -> Small:
        return cls(law, given, tuple(zsets_in([value for _, value in given])))

    def inputs(self) -> Inputs:
        """The inputs, with the Z-sets in their places."""
        supply = iter(self.zsets)
        return tuple((name, rebuilt(value, supply)) for name, value in self.given)

    def measure(self) -> tuple[int, ...]:
        """How much there is to read: ticks, rows, copies, then how simple it all is."""
        rows = [(zset.schema, row, weight) for zset in self.zsets for row, weight in zset.items()]
        return (
            self.ticks,
            len(rows),
            sum(abs(weight) for *_, weight in rows),
            sum(weight < 0 for *_, weight in rows),
            sum(effort(*each) for schema, row, _ in rows for each in typed(schema, row)),
            sum(self.number_efforts()),
        )

    @property
    def ticks(self) -> int:
        """How long the streams are; 0 without."""
        return max((len(each) for each in streams_in(tuple(v for _, v in self.given))), default=0)

    def number_efforts(self) -> Iterator[int]:
        for (_, kind), (_, value) in zip(self.law.parameters, self.given, strict=True):
            if kind in NUMBERS:
                yield number_effort(kind, value)

    def candidates(self) -> Iterator[Small]:
        """What might still fail, the boldest first."""
        yield from self.shorter()
        yield from self.emptier()
        yield from self.lighter()
        yield from self.simpler()
        yield from self.other_numbers()

    def shorter(self) -> Iterator[Small]:
        """A tick left out of all streams, or added to the one before; the last tick first."""
        for tick in reversed(range(self.ticks if self.ticks > 1 else 0)):
            for merged in (False, True) if tick else (False,):
                given = [value for _, value in self.inputs()]
                cut = [without_tick(value, tick, merged) for value in given]
                yield self.changed(self.with_ticks_before(cut, tick))

    def with_ticks_before(self, values: Sequence[Any], tick: int) -> list[Any]:
        """The positions among the values, where there is one tick less."""
        last = max(self.ticks - 2, 0)
        return [
            min(value - (value > tick), last) if kind == Tick else value
            for (_, kind), value in zip(self.law.parameters, values, strict=True)
        ]

    def changed(self, values: Sequence[Any]) -> Small:
        names = [name for name, _ in self.given]
        return Small.of(self.law, tuple(zip(names, values, strict=True)))

    def emptier(self) -> Iterator[Small]:
        """A Z-set emptied, a row gone from all of them, a row gone from one."""
        for place, zset in enumerate(self.zsets):
            if len(zset) > 1:
                yield self.put({place: {}})
        everywhere = dict.fromkeys((zset.schema, row) for zset in self.zsets for row in zset)
        for schema, row in everywhere:
            of = [n for n, each in enumerate(self.zsets) if each.schema == schema and row in each]
            if len(of) > 1:
                yield self.put({place: without(self.zsets[place], row) for place in of})
        for place, zset in enumerate(self.zsets):
            for row in zset:
                yield self.put({place: without(zset, row)})

    def lighter(self) -> Iterator[Small]:
        """One copy of every row; then of one row, also one added where it was taken away."""
        ones = [{row: sign(weight) for row, weight in zset.items()} for zset in self.zsets]
        yield self.put(dict(enumerate(ones)))
        for place, zset in enumerate(self.zsets):
            for row, weight in zset.items():
                for other in dict.fromkeys((1, sign(weight), weight - sign(weight))):
                    yield self.put({place: {**without(zset, row), row: other}})

    def simpler(self) -> Iterator[Small]:
        """A value that is a simpler one wherever it is; then only in one row."""
        values = [each for zset in self.zsets for row in zset for each in typed(zset.schema, row)]
        for kind, value in dict.fromkeys(values):
            for other in simpler_values(kind, value):
                yield self.put(dict(enumerate(self.renamed(kind, value, other))))
        for place, zset in enumerate(self.zsets):
            for row, weight in zset.items():
                for column, (kind, value) in enumerate(typed(zset.schema, row)):
                    for other in simpler_values(kind, value):
                        moved = (*row[:column], other, *row[column + 1 :])
                        kept = without(zset, row)
                        yield self.put({place: {**kept, moved: kept.get(moved, 0) + weight}})

    def renamed(self, kind: Type, value: Value, other: Value) -> Iterator[dict[Row, int]]:
        """The weights of each Z-set, with the other value for this one in columns of the type."""
        for zset in self.zsets:
            weights: dict[Row, int] = {}
            for row, weight in zset.items():
                if entries := list(typed(zset.schema, row)):
                    row = tuple(other if each == (kind, value) else each[1] for each in entries)
                weights[row] = weights.get(row, 0) + weight
            yield weights

    def other_numbers(self) -> Iterator[Small]:
        values = [value for _, value in self.inputs()]
        for place, (_, kind) in enumerate(self.law.parameters):
            for other in NUMBERS.get(kind, ()):
                yield self.changed([*values[:place], other, *values[place + 1 :]])

    def put(self, others: Mapping[int, Mapping[Row, int]]) -> Small:
        """Other weights in the Z-sets at these places."""
        zsets = list(self.zsets)
        for place, weights in others.items():
            zsets[place] = ZSet(weights, zsets[place].schema)
        return replace(self, zsets=tuple(zsets))


def without(zset: ZSet, row: Row) -> dict[Row, int]:
    """The weights of all rows but this one."""
    return {each: weight for each, weight in zset.items() if each != row}


def sign(weight: int) -> int:
    """1 or -1.

    >>> sign(7), sign(-7)
    (1, -1)
    """
    return 1 if weight > 0 else -1


def typed(schema: Schema | None, row: Row) -> Iterator[tuple[Type, Value]]:
    """The values of a row with the types of their columns; none when these are not known."""
    if schema is not None:
        yield from zip(schema.types, row, strict=True)


def simpler_values(kind: Type, value: Value) -> tuple[Value, ...]:
    """The values of this type that are simpler, the simplest first; NULL is simpler than nothing.

    >>> from deltaproof.reference.types import BIGINT
    >>> simpler_values(BIGINT, 2), simpler_values(BIGINT, 2**63 - 1)
    ((0, 1), (0, 1, 2, 3, -1))
    """
    return domain(kind, False)[: effort(kind, value)]


def effort(kind: Type, value: Value) -> int:
    """How hard a value is to read: its place among those that are tried first."""
    known = domain(kind, False)
    return known.index(value) if value in known else len(known)


def number_effort(kind: Any, value: int) -> int:
    """How hard a number is to read.

    >>> from deltaproof.properties.law import Size
    >>> number_effort(Size, 2) < number_effort(Size, 3)
    True
    """
    known = NUMBERS[kind]
    return known.index(value) if value in known else len(known)


# ── Streams wherever they are ───────────────────────────────────────────────────────────────


def streams_in(value: Any) -> Iterator[list[Any]]:
    """The streams in a value: lists of Z-sets, or of ticks."""
    if isinstance(value, list):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from streams_in(each)


def without_tick(value: Any, tick: int, merged: bool) -> Any:
    """The streams in a value without this tick; what it changed is changed at the one before."""
    if type(value) is tuple:
        return tuple(without_tick(each, tick, merged) for each in value)
    if not isinstance(value, list) or len(value) <= tick:
        return value
    kept = [*value[:tick], *value[tick + 1 :]]
    if merged:
        kept[tick - 1] = sum_of(value[tick - 1], value[tick])
    return kept


def sum_of(first: Any, second: Any) -> Any:
    """Two deltas as one; of ticks, table by table."""
    if isinstance(first, dict):
        return {name: delta + second[name] for name, delta in first.items()}
    return first + second
