"""A law is an equation as a value: named, with its reason, and judged by nobody here.

    Equation   two sides
    Law        a name, a statement, why it matters, and the function from inputs to an `Equation`
    Subject    what the laws of operators speak of: an operator at the schemas of its inputs

The types of a law's parameters say what it wants: one Z-set, one Z-set per input of the
operator, streams, a tick, a number. Who draws them, and what "equal" is, is the business of
whoever runs the law: `check` with Hypothesis, theorems with z3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NewType, TypeAlias, get_type_hints

from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Shape,
    StreamMeaning,
    increment_of_shape,
)
from deltaproof.reference.stream import lift
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Stream: TypeAlias = list[ZSet]
ZSets: TypeAlias = tuple[ZSet, ...]  # one per input of an operator
Streams: TypeAlias = tuple[list[ZSet], ...]  # one per input of an operator, equally long
Bags = NewType("Bags", tuple[ZSet, ...])  # the same, of positive weights: tables
Left = NewType("Left", ZSet)  # a Z-set for the left input of an operator, and so on
Right = NewType("Right", ZSet)
LeftStream = NewType("LeftStream", list[ZSet])
RightStream = NewType("RightStream", list[ZSet])
Ticks: TypeAlias = list[dict[str, ZSet]]  # for each tick, a delta per table
Tick = NewType("Tick", int)  # a position in the streams that are drawn with it
Factor = NewType("Factor", int)  # any whole number
Size = NewType("Size", int)  # a whole number above zero


@dataclass(frozen=True)
class Equation:
    """Two sides that a law says are equal: Z-sets, streams of them, or plain values."""

    lhs: Any
    rhs: Any


@dataclass(frozen=True)
class Subject:
    """An operator at the schemas of its inputs: what the laws of operators speak of.

    `stream` is for an incremental form that is not an `Increment`, such as an engine that
    answers a range of ticks at once; laws about steps and state then do not apply.

    `over_time` is for what has no meaning at a tick alone, such as a delay; laws about single
    Z-sets then do not apply, and `contents` is what the others speak of.

    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> q = subject_of(Distinct(), Schema.parse("k BIGINT"))
    >>> q.meaning(ZSet({(1,): 3}))
    ZSet({(1,): 1})
    >>> q.outputs([ZSet({(1,): 3}), ZSet({(1,): -3})])
    [ZSet({(1,): 1}), ZSet({(1,): -1})]
    """

    name: str
    shape: Shape
    schemas: tuple[Schema, ...]
    meaning: Meaning
    increment: Callable[[], Increment]  # a new one, before its first tick
    output: Schema | None = None
    operator: Operator | None = None
    stream: Callable[..., Stream] | None = None
    over_time: StreamMeaning | None = None

    def __str__(self) -> str:
        return self.operator.label() if self.operator else self.name

    @property
    def zeros(self) -> ZSets:
        return tuple(ZSet((), schema) for schema in self.schemas)

    def preserves_zero(self) -> bool:
        """Whether Q(0) = 0. Being linear or bilinear claims it; the rest show it by their meaning.

        So an aggregate without keys, whose meaning has a row over no rows, is exempt from the
        laws that need Q(0) = 0 by nothing but its declaration.
        """
        if self.shape is not Shape.GENERAL:
            return True
        return not any(self.contents(*([zero] for zero in self.zeros)))

    def contents(self, *streams: Stream) -> Stream:
        """Q: the output's contents at every tick, for the inputs' contents at every tick."""
        return self.over_time(*streams) if self.over_time else lift(self.meaning)(*streams)

    def outputs(self, *streams: Stream) -> Stream:
        """Q^D: the output deltas for these input deltas, from the first tick on."""
        return self.stream(*streams) if self.stream else run(self.increment(), streams)

    def default(self) -> Increment:
        """The increment that the shape alone licenses."""
        return increment_of_shape(self.shape, self.meaning, self.schemas)


def subject_of(operator: Operator, *inputs: Schema) -> Subject:
    """The operator at these input schemas. Raises SchemaError when they do not fit."""
    return Subject(
        name=operator.name,
        shape=operator.shape,
        schemas=inputs,
        meaning=operator.meaning(*inputs) if operator.lifted else at_no_tick(operator),
        increment=lambda: operator.increment(*inputs),
        output=operator.output(*inputs),
        operator=operator,
        over_time=None if operator.lifted else operator.over_time(*inputs),
    )


def at_no_tick(operator: Operator) -> Meaning:
    """What stands for the meaning at a tick of an operator that has none."""

    def meaning(*inputs: ZSet) -> ZSet:
        return operator.meaning()(*inputs)  # raises SchemaError, saying so

    return meaning


@dataclass(frozen=True)
class Premise:
    """What must be true of a subject before a law says anything about it."""

    text: str
    holds: Callable[[Subject], bool]


ZERO_PRESERVING = Premise("Q(0) = 0", Subject.preserves_zero)
LIFTED = Premise("Q has a meaning at each tick alone", lambda q: q.over_time is None)
STEPPED = Premise("Q^D is an Increment", lambda q: q.stream is None)
TYPED = Premise("Q has a schema rule", lambda q: q.output is not None)


@dataclass(frozen=True)
class Law:
    """A named equation.

    >>> from deltaproof.properties.laws import increment_causal, zset_add_commutes
    >>> zset_add_commutes.name, zset_add_commutes.statement
    ('zset_add_commutes', 'a + b = b + a')
    >>> zset_add_commutes.equation(ZSet({("x",): 1}), ZSet({("x",): 2}))
    Equation(lhs=ZSet({('x',): 3}), rhs=ZSet({('x',): 3}))
    >>> [name for name, _ in increment_causal.parameters]
    ['q', 's', 'r', 't']
    """

    name: str
    of: str  # whose law it is: zset, stream, operator, a shape, query, or an operator's name
    statement: str
    why: str
    source: str
    equation: Callable[..., Equation]
    provided: Premise | None = None

    @cached_property
    def parameters(self) -> tuple[tuple[str, Any], ...]:
        """The equation's parameters: their names, and the types that say what to draw."""
        hints = get_type_hints(self.equation)
        return tuple((name, kind) for name, kind in hints.items() if name != "return")

    @property
    def sides(self) -> tuple[str, str]:
        """The two sides of the statement."""
        lhs, _, rhs = self.statement.partition(" = ")
        return lhs, rhs

    @property
    def vanishes(self) -> bool:
        """Whether both sides are zero by the statement, and so are no sign of a vacuous case."""
        return self.sides[1].endswith("0")


def law(
    of: str, statement: str, *, source: str, provided: Premise | None = None
) -> Callable[[Callable[..., Equation]], Law]:
    """Makes the function below it a `Law`: its name is the name, its docstring the why."""

    def named(equation: Callable[..., Equation]) -> Law:
        why = " ".join((equation.__doc__ or "").split())
        return Law(equation.__name__, of, statement, why, source, equation, provided)

    return named


def run(increment: Increment, streams: Streams) -> Stream:
    """The outputs of an increment, one tick after the other."""
    outputs = []
    for deltas in zip(*streams, strict=True):
        outputs.append(increment.step(*deltas))
        increment.commit()
    return outputs
