"""A law is an equation as a value: named, with its reason, and judged by nobody here.

    Equation   two sides
    Law        a name, a statement, why it matters, and the function from inputs to an `Equation`
    Group      laws that stand or fall together, and the groups whose laws they inherit
    Subject    what the laws of operators speak of: an operator at the schemas of its inputs

The types of a law's parameters say what it wants: one Z-set, one Z-set per input of the
operator, streams, a tick, a number. Who draws them, and what "equal" is, is the business of
whoever runs the law: `check` with Hypothesis, theorems with z3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NewType, TypeAlias, get_type_hints

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Shape,
    StreamMeaning,
    increment_of_shape,
)
from deltaproof.reference.operators import OPERATORS
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
    claims: tuple[str, ...] = ()  # names of groups, beyond what its shape says
    partition: tuple[tuple[str, ...], ...] = ()  # for each input, see `Operator.partition_by`
    restarted: Callable[[Streams, int], Stream] | None = (
        None  # the outputs, restarted before a tick
    )
    implementing: Callable[..., Subject] | None = None  # see `another`

    def __str__(self) -> str:
        return self.operator.label() if self.operator else self.name

    @property
    def zeros(self) -> ZSets:
        return tuple(ZSet((), schema) for schema in self.schemas)

    def preserves_zero(self) -> bool:
        """Whether Q(0) = 0. Being linear or bilinear claims it; the rest show it by their meaning.

        So an aggregate without keys, whose meaning has a row over no rows, is exempt from the
        laws that need Q(0) = 0 by nothing but its declaration. What cannot be computed is not 0.
        """
        if self.shape is not Shape.GENERAL:
            return True
        try:
            return not any(self.contents(*([zero] for zero in self.zeros)))
        except Exception:  # noqa: BLE001  # whatever the user's code raises: other laws show it
            return False

    def contents(self, *streams: Stream) -> Stream:
        """Q: the output's contents at every tick, for the inputs' contents at every tick."""
        return self.over_time(*streams) if self.over_time else lift(self.meaning)(*streams)

    def outputs(self, *streams: Stream) -> Stream:
        """Q^D: the output deltas for these input deltas, from the first tick on."""
        return self.stream(*streams) if self.stream else run(self.increment(), streams)

    def outputs_restarted(self, streams: Streams, t: int) -> Stream:
        """Q^D, stopped before tick t and continued from nothing but what it had saved."""
        if self.restarted is not None:
            return self.restarted(streams, t)
        original = self.increment()
        outputs = run(original, tuple(stream[:t] for stream in streams))
        restored = self.increment()
        if t:  # before the first tick there is no state to save
            restored.restore(json.loads(json.dumps(original.save())))
        return outputs + run(restored, tuple(stream[t:] for stream in streams))

    def another(self, operator: Operator, *inputs: Schema) -> Subject:
        """Another operator, as whoever implements this one implements it."""
        return (self.implementing or subject_of)(operator, *inputs)

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
        claims=operator.claims(),
        partition=operator.partition_by(*inputs),
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


def takes(schema: Schema, given: Schema) -> bool:
    """Whether every row of the one schema is a row of the other, whatever its columns are named.

    >>> numbers, known = Schema.parse("n BIGINT"), Schema.parse("k BIGINT NOT NULL")
    >>> takes(numbers, known), takes(known, numbers)
    (True, False)
    """
    pairs = zip(schema.columns, given.columns, strict=False)
    return schema.types == given.types and all(a.nullable or not b.nullable for a, b in pairs)


def reversed_columns(schema: Schema) -> Schema:
    """The same columns in the opposite order."""
    return Schema(tuple(reversed(schema.columns)))


def takes_turned(q: Subject) -> bool:
    """Whether the operator's schema rule accepts the columns of its inputs in another order."""
    if q.operator is None:
        return False
    try:
        q.operator.output(*map(reversed_columns, q.schemas))
    except SchemaError:
        return False
    return True


ZERO_PRESERVING = Premise("Q(0) = 0", Subject.preserves_zero)
LIFTED = Premise("Q has a meaning at each tick alone", lambda q: q.over_time is None)
OVER_TIME = Premise("Q remembers earlier ticks", lambda q: q.over_time is not None)
STEPPED = Premise("Q^D is an Increment", lambda q: q.stream is None)
RESTARTS = Premise("Q^D can be restarted", lambda q: q.stream is None or q.restarted is not None)
TYPED = Premise("Q has a schema rule", lambda q: q.output is not None)
ONE_INPUT = Premise("Q has one input", lambda q: len(q.schemas) == 1)
TWO_INPUTS = Premise("Q has two inputs", lambda q: len(q.schemas) == 2)
INPUTS_ALIKE = Premise(
    "Q has two inputs of the same types",
    lambda q: len(q.schemas) == 2 and takes(*q.schemas) and takes(*reversed(q.schemas)),
)
LOOPS = Premise(
    "the output of Q fits its last input",
    lambda q: q.output is not None and takes(q.schemas[-1], q.output),
)
ENDOMORPHIC = Premise(
    "the output of Q fits its one input",
    lambda q: len(q.schemas) == 1 and q.output is not None and takes(q.schemas[0], q.output),
)
TURNABLE = Premise("Q takes its columns in another order", takes_turned)
PARTITIONED = Premise(
    "Q says by which columns it may be partitioned",
    lambda q: bool(q.partition) and all(q.partition),
)


@dataclass(frozen=True)
class Group:
    """Laws that stand or fall together.

    Whoever is in it is in the groups that it is `within`, and obeys their laws too. An operator
    is in a group by what can be seen of it (`provided`), and, where the group is `claimable`,
    because it says so: by its shape, or in `Operator.claimed`.
    """

    name: str
    says: str
    within: tuple[str, ...] = ()
    provided: Premise | None = None
    claimable: bool = False


def claim(name: str, says: str, within: str = "lifted", provided: Premise | None = None) -> Group:
    """A group that an operator is in when it says so."""
    return Group(name, says, (within,), provided, claimable=True)


GROUPS: Mapping[str, Group] = {
    each.name: each
    for each in (
        Group("operator", "is a function of streams"),
        Group("causal", "needs no later input", ("operator",)),
        Group("time_invariant", "does not know the hour", ("causal",), ZERO_PRESERVING),
        Group("lifted", "does the same at every tick", ("causal",), LIFTED),
        Group("over_time", "remembers earlier ticks", ("causal",), OVER_TIME),
        Group(
            "linear",
            "treats changes as contents",
            ("lifted", "time_invariant", "scales"),
            None,
            True,
        ),
        Group(
            "bilinear", "is linear in each input", ("lifted", "time_invariant"), TWO_INPUTS, True
        ),
        Group("general", "has no shape to build on", ("causal",)),
        Group("linear_over_time", "adds up over time", ("over_time", "time_invariant"), None, True),
        claim("strict", "needs no input of this tick", "causal"),
        claim("positive", "makes tables of tables"),
        claim("set_valued", "makes sets of tables", "positive"),
        claim("monotone", "never takes a row back when a table grows", "positive"),
        claim("idempotent", "does nothing the second time", provided=ENDOMORPHIC),
        claim("commutative", "may have its inputs swapped", provided=INPUTS_ALIKE),
        claim("duplicate_free", "does not see how often a row is there"),
        claim("scales", "multiplies weights that are multiplied"),
        claim("generic", "knows of values only which are equal"),
        claim("by_name", "knows columns by their names, not their places", provided=TURNABLE),
        Group("partitioned", "works on each part alone", ("causal",), PARTITIONED),
        Group("query", "composes with other operators"),
    )
}


def inherited(name: str) -> tuple[str, ...]:
    """The group and all that it is within, the widest first.

    >>> inherited("linear")
    ('operator', 'causal', 'lifted', 'time_invariant', 'scales', 'linear')
    """
    parents = GROUPS[name].within if name in GROUPS else ()
    above = [each for parent in parents for each in inherited(parent)]
    return (*dict.fromkeys(above), name)


def groups_of(q: Subject) -> frozenset[str]:
    """The groups that this is in: by what can be seen of it, and by what it says."""
    said = {*q.claims, q.shape.value if q.over_time is None else f"{q.shape.value}_over_time"}
    said |= {name for name, each in GROUPS.items() if not each.claimable and fits(name, q)}
    if q.operator is None:
        said.remove("query")
    elif is_one_of_ours(type(q.operator)):
        said.add(q.operator.name)
    return frozenset(each for name in said for each in inherited(name))


def is_one_of_ours(kind: type[Operator]) -> bool:
    """Whether the laws of our operator of this name speak of it: not of what only has its name."""
    return any(issubclass(kind, each) and kind.name == each.name for each in OPERATORS)


def fits(name: str, q: Subject) -> bool:
    """Whether all that can be seen of it lets it be in this group."""
    groups = [GROUPS[each] for each in inherited(name) if each in GROUPS]
    return all(group.provided is None or group.provided.holds(q) for group in groups)


@dataclass(frozen=True)
class Law:
    """A named equation.

    >>> from deltaproof.properties.laws.data import zset_add_commutes
    >>> from deltaproof.properties.laws.operators import increment_causal
    >>> zset_add_commutes.name, zset_add_commutes.statement
    ('zset_add_commutes', 'a + b = b + a')
    >>> zset_add_commutes.equation(ZSet({("x",): 1}), ZSet({("x",): 2}))
    Equation(lhs=ZSet({('x',): 3}), rhs=ZSet({('x',): 3}))
    >>> [name for name, _ in increment_causal.parameters]
    ['q', 's', 'r', 't']
    """

    name: str
    of: str  # whose law it is: zset, stream, the name of a group, or an operator's
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
    def premises(self) -> tuple[Premise, ...]:
        """What must be true of a subject: for the groups that the law is of, and for itself."""
        groups = [GROUPS[each] for each in inherited(self.of) if each in GROUPS]
        found = [group.provided for group in groups] + [self.provided]
        return tuple(dict.fromkeys(each for each in found if each is not None))

    def fits(self, q: Subject) -> bool:
        """Whether the law says anything about this."""
        return all(premise.holds(q) for premise in self.premises)

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
