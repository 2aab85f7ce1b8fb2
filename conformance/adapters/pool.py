"""What was built for one query serves its next case too, one session at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Engine = TypeVar("Engine")


class Pool(Generic[Engine]):
    """Engines at rest, by what they were built for; the least recently used kinds are dropped.

    An engine that was taken is not here: two sessions never share one, however they overlap.

    >>> pool = Pool[list[str]]()
    >>> first, second = pool.take("a", list), pool.take("a", list)
    >>> first is second
    False
    >>> pool.give("a", first)
    >>> pool.take("a", list) is first
    True
    """

    def __init__(self, kinds: int = 32) -> None:
        self.kinds = kinds
        self.resting: dict[Hashable, list[Engine]] = {}

    def take(self, kind: Hashable, build: Callable[[], Engine]) -> Engine:
        resting = self.resting.get(kind)
        return resting.pop() if resting else build()

    def give(self, kind: Hashable, engine: Engine) -> None:
        self.resting[kind] = [*self.resting.pop(kind, ()), engine]
        if len(self.resting) > self.kinds:
            del self.resting[next(iter(self.resting))]
