"""Of whom the laws are asked: an operator, a kind of operator, or a function of Z-sets, by name.

LawTarget.named("distinct")                                     random instances of ours
LawTarget.named("mine.py:Median", ["k BIGINT, v DOUBLE"])       somebody's own
LawTarget.named("mine.py:clamped", ["k BIGINT"], "linear")      a function, and what it claims
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from deltaproof.conformance.target import checked, operator_named, target_named
from deltaproof.properties.check import subject_at, subject_of_function
from deltaproof.properties.law import Subject
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.types import Schema


@dataclass(frozen=True)
class LawTarget:
    """Who is asked: the words that name it, what they name, and what the laws speak of.

    >>> print(LawTarget.named("distinct"))
    distinct, random instances
    >>> print(LawTarget.named("distinct", ["k BIGINT"]))
    distinct over (k BIGINT)
    """

    words: str
    value: Any
    about: type[Operator] | Subject

    @classmethod
    def named(cls, words: str, schemas: Sequence[str] = (), shape: str | None = None) -> LawTarget:
        """What these words name. Raises UsageError when they do not say enough, or too much."""
        value = target_named(words, {}) if ":" in words else operator_named(words)
        inputs = tuple(map(Schema.parse, schemas))
        return cls(words, value, about(words, value, inputs, shape))

    @property
    def own(self) -> bool:
        """Whether a file about it needs `--operator` to be read."""
        return self.value not in OPERATORS

    @property
    def option(self) -> str:
        """The option that makes it known to `deltaproof replay`, if it needs one."""
        return f" --operator {shlex.quote(self.words)}" if self.own else ""

    def __str__(self) -> str:
        if isinstance(self.about, Subject):
            over = ", ".join(f"({schema})" for schema in self.about.schemas)
            return f"{self.about} over {over}"
        return f"{self.about.name}, random instances"


def about(
    words: str, value: Any, inputs: tuple[Schema, ...], shape: str | None
) -> type[Operator] | Subject:
    """What the laws speak of."""
    kind = isinstance(value, type) and issubclass(value, Operator)
    if isinstance(value, Subject) and (inputs or shape):
        raise UsageError(f"{words} says its schemas and its shape: leave out --schema and --shape")
    if (kind or isinstance(value, Operator)) and shape:
        raise UsageError(f"{words} says its shape: leave out --shape")
    if isinstance(value, Subject):
        return value
    if kind or isinstance(value, Operator):
        checked(words, value)
    if kind:
        found: type[Operator] = value
        return at_schemas(words, plain(words, found), inputs) if inputs else found
    if isinstance(value, Operator):
        return at_schemas(words, value, inputs)
    return function(words, value, inputs, shape)


def plain(words: str, kind: type[Operator]) -> Operator:
    """The instance of a kind that has no arguments."""
    try:
        return kind()
    except TypeError:
        raise UsageError(
            f"{words} has arguments: name an instance, or leave out --schema for random ones"
        ) from None


def at_schemas(words: str, operator: Operator, inputs: tuple[Schema, ...]) -> Subject:
    if len(inputs) != operator.inputs():
        raise UsageError(
            f"{words} has {operator.inputs()} inputs: give each a --schema, got {len(inputs)}"
        )
    return subject_at(operator, inputs)


def function(words: str, value: Any, inputs: tuple[Schema, ...], shape: str | None) -> Subject:
    """A function of Z-sets, one for each schema."""
    if not callable(value):
        raise UsageError(
            f"{words} is no operator and no function, but {type(value).__name__} {value!r}"
        )
    if not inputs or shape is None:
        shapes = ", ".join(each.value for each in Shape)
        raise UsageError(
            f"{words} is a function of Z-sets: say what it is of, --schema 'k BIGINT' "
            f"for each argument, and what it claims to be, --shape {shapes}"
        )
    with suppress(ValueError):  # a function that shows no signature
        try:
            inspect.signature(value).bind(*inputs)
        except TypeError as error:
            raise UsageError(f"{words} and {len(inputs)} --schema: {error}") from None
    if shape == Shape.BILINEAR.value and len(inputs) != 2:
        raise UsageError(f"{words} is claimed to be bilinear: give two --schema, got {len(inputs)}")
    return subject_of_function(value, Shape(shape), *inputs)
