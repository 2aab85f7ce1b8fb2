"""Over time: what a change of now puts out now or later, kept until it is due.

`Due` is the increment of every operator whose output is a sum of delayed linear parts, such as
`delay` and `logic`. Linear and time-invariant, they are their own increments: what goes in as
a change comes out as a change, only later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from deltaproof.reference.errors import CheckpointError, SchemaError
from deltaproof.reference.operator import Meaning, zset_from_json, zset_to_json
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

NOTHING = ZSet()


class Due:
    """Keeps the outputs that are due at later ticks; `parts` are the linear functions by delay.

    Law      Q^Δ = Q for what is linear and time-invariant
    Source   DBSP (VLDB 2023) theorem 3.3; Lean: lti_incremental

    >>> due = Due(Schema.parse("k BIGINT"), {0: lambda d: d, 2: lambda d: -d})
    >>> for delta in ({(7,): 1}, {}, {}):
    ...     print(repr(due.step(ZSet(delta))))
    ...     due.commit()
    ZSet({(7,): 1})
    ZSet({})
    ZSet({(7,): -1})
    """

    def __init__(self, schema: Schema, parts: Mapping[int, Meaning]) -> None:
        self.schema = schema
        self.parts = parts
        self.clear()

    def clear(self) -> None:
        self.now = 0
        self.due: dict[int, ZSet] = {}  # by the tick at which it is put out
        self.staged: dict[int, ZSet] = {}

    def step(self, delta: ZSet) -> ZSet:
        parts = {self.now + ticks: part(delta) for ticks, part in self.parts.items()}
        output = parts.pop(self.now, NOTHING) + self.due.get(self.now, NOTHING)
        self.staged = {tick: part for tick, part in parts.items() if part}
        return output

    def commit(self) -> None:
        self.due.pop(self.now, None)
        for tick, part in self.staged.items():
            if total := self.due.pop(tick, NOTHING) + part:
                self.due[tick] = total
        self.now += 1
        self.staged = {}

    def save(self) -> Any:
        """[[ticks until then, entries], …]"""
        pending = sorted(self.due.items())
        return [[tick - self.now, zset_to_json(self.schema, zset)] for tick, zset in pending]

    def restore(self, saved: Any) -> None:
        self.clear()
        for ticks, entries in saved:
            if type(ticks) is not int or ticks < 0:
                raise CheckpointError(f"expected a number of ticks until it is due, got {ticks!r}")
            self.due[ticks] = zset_from_json(self.schema, entries)


def only_over_time(operator: str) -> NoReturn:
    """Raises SchemaError: the operator has no meaning at a tick alone."""
    raise SchemaError(
        f"{operator}: its output depends on earlier ticks, so it has a meaning over time only: "
        "use over_time()"
    )


def later(stream: list[ZSet], ticks: int) -> list[ZSet]:
    """z⁻ᵗ: the stream so many ticks later, empty before.

    >>> later([ZSet({(1,): 1}), ZSet()], 1)
    [ZSet({}), ZSet({(1,): 1})]
    """
    return [ZSet() for _ in stream[:ticks]] + stream[: max(len(stream) - ticks, 0)]
