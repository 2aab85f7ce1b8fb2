"""D and I are inverse, so an incremental query is D ∘ Q ∘ I.

A stream is a finite prefix: a list with one group element per tick (here mostly a
`ZSet`, but anything with `+` and `-` will do). An operator on streams is causal: the value
at a tick depends on the values up to that tick.

    lift(f)         ↑f   f at every tick
    delay           z⁻¹  yesterday's value, zero at the first tick
    integrate       I    the sum so far:             I(s)[t] = s[0] + … + s[t]
    differentiate   D    the change since yesterday: D(s)[t] = s[t] - s[t-1]
    incremental(Q)  Q^Δ  D ∘ ↑Q ∘ I, the meaning of "incremental"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import add
from typing import Any, Protocol, Self, TypeVar


class Group(Protocol):
    """What a stream is made of: an abelian group's `+` and `-`."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...


G = TypeVar("G", bound=Group)
A = TypeVar("A")
B = TypeVar("B")


def lift(function: Callable[..., B]) -> Callable[..., list[B]]:
    """↑f: the function applied at every tick.

    Law      ↑(f ∘ g) = ↑f ∘ ↑g
    Source   DBSP (VLDB 2023) definition 2.3; Lean: lifting

    >>> lift(lambda a, b: a * b)([1, 2, 3], [10, 10, 10])
    [10, 20, 30]
    """
    return lambda *streams: [function(*values) for values in zip(*streams, strict=True)]


def delay(stream: Sequence[G]) -> list[G]:
    """z⁻¹: every value one tick later, zero first.

    Source   DBSP (VLDB 2023) definition 2.5; Lean: delay

    >>> delay([1, 2, 3])
    [0, 1, 2]
    >>> delay([])
    []
    """
    return [zero_like(stream[0]), *stream[:-1]] if stream else []


def integrate(stream: Sequence[G]) -> list[G]:
    """I: the running sum.

    Law      I = fix a. s + z⁻¹ a;  D ∘ I = id
    Source   DBSP (VLDB 2023) definition 2.17, proposition 2.18; Lean: I

    >>> integrate([1, 2, -3])
    [1, 3, 0]
    """
    return list(accumulate(stream, add))


def differentiate(stream: Sequence[G]) -> list[G]:
    """D: the change since the tick before.

    Law      D(s) = s - z⁻¹ s;  I ∘ D = id
    Source   DBSP (VLDB 2023) definition 2.15, theorem 2.20; Lean: D

    >>> differentiate([1, 3, 0])
    [1, 2, -3]
    """
    return [now - before for now, before in zip(stream, delay(stream), strict=True)]


def incremental(query: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Q^Δ = D ∘ ↑Q ∘ I: what every incremental form must equal.

    Source   DBSP (VLDB 2023) definition 3.1; Lean: incremental

    >>> incremental(lambda total: total * total)([1, 1, 1])
    [1, 3, 5]
    """
    return lambda *streams: differentiate(lift(query)(*map(integrate, streams)))


def zero_like(value: G) -> G:
    """The zero of the group that this value belongs to."""
    return value - value
