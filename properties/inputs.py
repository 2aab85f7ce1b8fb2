"""The arguments of an equation, by name, and the Z-sets in them, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.zset import ZSet

Inputs: TypeAlias = tuple[tuple[str, Any], ...]


def zsets_in(value: Any) -> Iterator[ZSet]:
    """The Z-sets in a value: in it, in lists, in tuples, in ticks."""
    if isinstance(value, ZSet):
        yield value
    elif isinstance(value, dict):
        yield from zsets_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from zsets_in(each)


def rebuilt(value: Any, supply: Iterator[ZSet]) -> Any:
    """The value with other Z-sets, in the order of `zsets_in`."""
    if isinstance(value, ZSet):
        return next(supply)
    if isinstance(value, dict):
        return {name: rebuilt(each, supply) for name, each in value.items()}
    if isinstance(value, list):
        return [rebuilt(each, supply) for each in value]
    return tuple(rebuilt(each, supply) for each in value) if type(value) is tuple else value


def copied(inputs: Inputs) -> Inputs:
    """The inputs with Z-sets of their own, so that nobody can change those."""
    zsets = zsets_in([value for _, value in inputs])
    own = (ZSet.trusted(dict(each.items()), each.schema) for each in zsets)
    return tuple((name, rebuilt(value, own)) for name, value in inputs)


class InputChanged(DeltaproofError):
    """The code under test has changed what it was given: both sides are no longer of one input."""


def unchanged(inputs: Inputs, given: Inputs) -> None:
    """Raises InputChanged unless the copies that were given away are still what they were."""
    for (name, before), (_, after) in zip(inputs, given, strict=True):
        if list(zsets_in(before)) != list(zsets_in(after)):
            raise InputChanged(f"{name} was changed by the operator that was given it")
