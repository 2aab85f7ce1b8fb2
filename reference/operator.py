"""One declaration per operator: what it means, what shape it has, and how it is kept up to date.

The shape alone licenses an increment, so a new operator is correct before it is fast:

    linear     Q(a + b) = Q(a) + Q(b)          Q^Δ(d)      = Q(d)                  no state
    bilinear   linear in each of two inputs    Q^Δ(da, db) = Q(da, b) + Q(a, db) + Q(da, db)
    general    anything                        Q^Δ(d)      = Q(a + d) - Q(a)

where a and b are the inputs before the tick. An operator that overrides `increment` names
the theorem that makes its own form right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from random import Random
from typing import Any, ClassVar, Protocol, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.select import Relation, Statement
from deltaproof.reference.stream import lift
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Meaning: TypeAlias = Callable[..., ZSet]  # a function of the input Z-sets
StreamMeaning: TypeAlias = Callable[..., list[ZSet]]  # of the inputs' contents at every tick


class Shape(Enum):
    """What is known of an operator's algebra."""

    LINEAR = "linear"
    BILINEAR = "bilinear"
    GENERAL = "general"


class Pairing(Enum):
    """What two inputs must have in common for an operator to take them both."""

    DISTINCT_NAMES = "no column name on both sides"  # joins
    SAME_TYPES = "the same types in the same order"  # set operations
    CLOCK = "a table of one column on the right"  # what is asked of `now`


class Increment(Protocol):
    """An operator in incremental form, with the state that it keeps between ticks.

    `step` only reads the state and stages the change; `commit` makes the staged change the
    state and cannot fail. So a tick that fails anywhere changes nothing anywhere.
    """

    @property
    def step(self) -> Callable[..., ZSet]:
        """The function from the inputs' deltas to the output's."""

    def commit(self) -> None:
        """The change staged by the last `step` becomes part of the state."""

    def clear(self) -> None:
        """Back to before the first tick."""

    def save(self) -> Any:
        """The state as JSON can hold it."""

    def restore(self, saved: Any) -> None:
        """The state that `save` wrote becomes the state."""


class Operator:
    """A function from Z-sets to Z-sets, declared once for every room.

    Subclasses are frozen dataclasses, one per file of `reference/operators/`.
    """

    name: ClassVar[str]  # the file name of this operator in every folder
    arity: ClassVar[int] = 1  # how many inputs `sample` takes
    pairing: ClassVar[Pairing] = Pairing.DISTINCT_NAMES  # of the inputs, where there are two
    shape: ClassVar[Shape]
    theorem: ClassVar[str]  # licenses the increment; a function of this name in theorems/
    source: ClassVar[str]
    state: ClassVar[str] = ""  # what the increment remembers, in a few words; see `remembers`
    claimed: ClassVar[tuple[str, ...]] = ()  # what instances may claim; see `claims`
    spark: ClassVar[str] = ""  # the module of `lower_<name>`; "" is ours of that name

    @property
    def lifted(self) -> bool:
        """Whether the output at a tick depends on the inputs' contents at that tick only."""
        return True

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        """Every capability that an instance may need, in the order of the report."""
        return (cls.name,)

    def capabilities(self) -> tuple[str, ...]:
        """What a backend must be able to do to run this operator."""
        return (self.name,)

    def inputs(self) -> int:
        """How many inputs this instance takes."""
        return self.arity

    def claims(self) -> tuple[str, ...]:
        """What this instance says of itself beyond its shape: groups of laws, by their names.

        They are in `properties.law`: positive, monotone, idempotent and so on. Whatever is
        claimed is tested, and what is not claimed is tried.
        """
        return self.claimed

    def claimed_if(self, **conditions: bool) -> tuple[str, ...]:
        """What is `claimed`, less what has a condition that this instance does not meet."""
        return tuple(name for name in self.claimed if conditions.get(name, True))

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        """For each input the columns by which it may be partitioned.

        Rows that agree in these columns must stay together; then the outputs of the parts add
        up to the output of the whole. Without columns nothing may be taken apart.
        """
        if self.shape is Shape.LINEAR:
            return tuple(each.names for each in inputs)
        return tuple(() for _ in inputs)

    def output(self, *inputs: Schema) -> Schema:
        """The schema rule. Raises SchemaError when the inputs do not fit."""
        raise NotImplementedError

    def meaning(self, *inputs: Schema) -> Meaning:
        """For these input schemas, the function from input Z-sets to the output Z-set."""
        raise NotImplementedError

    def over_time(self, *inputs: Schema) -> StreamMeaning:
        """The function from the inputs' contents at every tick to the output's.

        An operator that is `lifted` means the same at every tick; one that is not, such as a
        delay, has its meaning here and no other.
        """
        return lift(self.meaning(*inputs))

    def remembers(self) -> str:
        """What the incremental form keeps between ticks, in a few words."""
        return self.state or STATE_OF_SHAPE[self.shape]

    def increment(self, *inputs: Schema) -> Increment:
        """The incremental form; unless overridden, the one that the shape licenses."""
        return increment_of_shape(self.shape, self.meaning(*inputs), inputs)

    def select(self, *inputs: Relation) -> Statement | None:
        """The operator as SQL says it; None where plain SQL has no words for it."""
        return None

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """A random instance that fits these schemas; None when none does."""
        raise NotImplementedError

    def label(self) -> str:
        """The operator and its arguments on one line, for trees and failures."""
        return self.name

    def to_json(self) -> dict[str, Any]:
        """The arguments as JSON; `from_json` is its inverse."""
        return {}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls()


STATE_OF_SHAPE = {
    Shape.LINEAR: "nothing",
    Shape.BILINEAR: "both inputs",
    Shape.GENERAL: "its inputs and its output",
}


def increment_of_shape(shape: Shape, meaning: Meaning, inputs: Sequence[Schema]) -> Increment:
    """The increment that needs nothing but the meaning and the shape."""
    match shape:
        case Shape.LINEAR:
            return LinearIncrement(meaning)
        case Shape.BILINEAR:
            return BilinearIncrement(meaning, inputs)
        case Shape.GENERAL:
            return GeneralIncrement(meaning, inputs)


class LinearIncrement:
    """Q^Δ = Q, and nothing to remember.

    Source   DBSP (VLDB 2023) theorem 3.3; Lean: lti_incremental
    """

    def __init__(self, meaning: Meaning) -> None:
        self.step = meaning

    def commit(self) -> None: ...
    def clear(self) -> None: ...

    def save(self) -> Any:
        return None

    def restore(self, saved: Any) -> None: ...


class IntegratingIncrement:
    """Keeps the integral of every input; the base of the increments that need no more."""

    def __init__(self, meaning: Meaning, inputs: Sequence[Schema]) -> None:
        self.meaning = meaning
        self.schemas = tuple(inputs)
        self.clear()

    def clear(self) -> None:
        self.before: tuple[ZSet, ...] = tuple(ZSet((), schema) for schema in self.schemas)
        self.staged = self.before

    def commit(self) -> None:
        self.before = self.staged

    def save(self) -> Any:
        pairs = zip(self.schemas, self.before, strict=True)
        return [zset_to_json(schema, zset) for schema, zset in pairs]

    def restore(self, saved: Any) -> None:
        pairs = zip(self.schemas, saved, strict=True)
        self.before = tuple(zset_from_json(schema, entries) for schema, entries in pairs)


class BilinearIncrement(IntegratingIncrement):
    """Q(da, b) + Q(a, db) + Q(da, db).

    Source   DBSP (VLDB 2023) theorem 3.4; Lean: bilinear_incremental
    """

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        a, b = self.before
        self.staged = (a + da, b + db)
        return self.meaning(da, b) + self.meaning(a, db) + self.meaning(da, db)


class GeneralIncrement(IntegratingIncrement):
    """Q(a + d) - Q(a), where before the first tick the output is empty whatever Q(0) is."""

    def clear(self) -> None:
        super().clear()
        self.output = self.staged_output = ZSet()

    def step(self, *deltas: ZSet) -> ZSet:
        self.staged = tuple(a + d for a, d in zip(self.before, deltas, strict=True))
        self.staged_output = self.meaning(*self.staged)
        return self.staged_output - self.output

    def commit(self) -> None:
        super().commit()
        self.output = self.staged_output

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        self.output = self.meaning(*self.before)


def zset_to_json(schema: Schema, zset: ZSet) -> list[Any]:
    """[[row, weight], …] in a stable order."""
    ordered = sorted(zset.items(), key=lambda entry: schema.sort_key(entry[0]))
    return [[schema.row_to_json(row), weight] for row, weight in ordered]


def zset_from_json(schema: Schema, entries: Any) -> ZSet:
    """The Z-set that `zset_to_json` wrote. Raises RowError or WeightError."""
    return ZSet([(schema.row_from_json(row), weight) for row, weight in entries], schema)


def same_types(operator: str, left: Schema, right: Schema) -> None:
    """Raises SchemaError unless both inputs have the same types in the same order."""
    if left.types != right.types:
        raise SchemaError(
            f"{operator}: both inputs must have the same types in the same order, "
            f"got ({left}) and ({right})"
        )
