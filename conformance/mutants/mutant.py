"""A mutant is a published bug, planted in one increment for a moment.

The suite proves that it can fail: every mutant must be killed by a case of the cell that was
predicted for it, and by a difference in what the view shows, not by a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """One planted bug: where it comes from, where it must show, and how to plant it."""

    name: str
    edit: str  # what is wrong, in a few words
    source: str  # the published bug it is modelled on
    backend: str
    cell: tuple[str, str]  # (operator, kind of change) that must kill it
    plant: Callable[[], AbstractContextManager[None]]


@contextmanager
def replaced(owner: Any, name: str, wrong: Any) -> Iterator[None]:
    """While this lasts, the owner's attribute is the wrong one.

    >>> class Clock:
    ...     hour = 12
    >>> with replaced(Clock, "hour", 13):
    ...     Clock.hour
    13
    >>> Clock.hour
    12
    """
    own = name in vars(owner)
    right = vars(owner).get(name)
    setattr(owner, name, wrong)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, right)
        else:  # it was inherited
            delattr(owner, name)


@contextmanager
def all_replaced(replacements: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """`replaced`, for several at once."""
    if not replacements:
        yield
        return
    first, *rest = replacements
    with replaced(*first), all_replaced(rest):
        yield
