"""Twelve operators as somebody could have written them, each wrong in one way.

    Capped              not linear              LookupJoin        depends on which came first
    WithHeader          not zero-preserving     Numbered          not deterministic
    HalfJoin            wrong increment         Amnesiac          forgets at a restart
    Hoarder             state that leaks        CountedApart      unsafe to shard
    LatestRow           depends on row order    Reversal          negative out of positive
    ClippedDistinct     clips weights           NullBlindCount    blind to NULL

Their meanings are right where the increment is wrong, and the other way round. Most are models
of published bugs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from deltaproof.reference.operator import (
    BilinearIncrement,
    GeneralIncrement,
    Increment,
    Meaning,
    Operator,
    Shape,
)
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct, DistinctIncrement
from deltaproof.reference.operators.join import Join
from deltaproof.reference.query import count as counted
from deltaproof.reference.types import BIGINT, Column, Schema
from deltaproof.reference.zset import ZSet


class OfOneInput(Operator):
    """Rows go out as they came in, or with a column more."""

    shape = Shape.LINEAR
    theorem = ""
    source = "properties/wrong_operators.py"
    added: tuple[Column, ...] = ()

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        return Schema((*rows.columns, *self.added))


# ── Wrong in what they mean ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Capped(OfOneInput):
    """No row more than twice: declared linear, and is not above the cap."""

    name = "capped"

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda rows: ZSet({row: max(-2, min(2, w)) for row, w in rows.items()})


@dataclass(frozen=True)
class WithHeader(OfOneInput):
    """An empty row before all others: declared linear, and is there over nothing too."""

    name = "with_header"

    def meaning(self, *inputs: Schema) -> Meaning:
        (schema,) = inputs
        header = (None,) * len(schema)
        return lambda rows: rows + ZSet({header: 1})


@dataclass(frozen=True)
class LatestRow(OfOneInput):
    """LAST_VALUE without ORDER BY: of the rows that are there, the one that came last."""

    name = "latest_row"
    shape = Shape.GENERAL

    def meaning(self, *inputs: Schema) -> Meaning:
        def latest(rows: ZSet) -> ZSet:
            present = [row for row, weight in rows.items() if weight > 0]
            return ZSet(dict.fromkeys(present[-1:], 1))

        return latest


@dataclass(frozen=True)
class Numbered(OfOneInput):
    """Each row with the number of the call that saw it, as a sequence or a clock gives one."""

    name = "numbered"
    shape = Shape.GENERAL
    added = (Column("call", BIGINT, nullable=False),)
    calls = count()

    def meaning(self, *inputs: Schema) -> Meaning:
        def numbered(rows: ZSet) -> ZSet:
            call = next(self.calls)
            return ZSet({(*row, call): weight for row, weight in rows.items()})

        return numbered


@dataclass(frozen=True)
class Reversal(OfOneInput):
    """Each row and beside it the entry that takes it back: its claim to make tables is wrong."""

    name = "reversal"
    claimed = ("positive",)
    added = (Column("entry", BIGINT, nullable=False),)

    def meaning(self, *inputs: Schema) -> Meaning:
        return lambda rows: ZSet(
            [((*row, entry), entry * w) for row, w in rows.items() for entry in (1, -1)]
        )


# ── Wrong in how they keep up ───────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class HalfJoin(Join):
    """A join whose increment forgets the product of the changes (pg_ivm, early versions)."""

    name = "half_join"

    def increment(self, *inputs: Schema) -> Increment:
        return WithoutTheProductOfChanges(self.meaning(*inputs), inputs)


class WithoutTheProductOfChanges(BilinearIncrement):
    def step(self, da: ZSet, db: ZSet) -> ZSet:
        a, b = self.before
        self.staged = (a + da, b + db)
        return self.meaning(da, b) + self.meaning(a, db)


@dataclass(frozen=True)
class LookupJoin(Join):
    """A join whose left rows look up what is on the right, and never look again."""

    name = "lookup_join"

    def increment(self, *inputs: Schema) -> Increment:
        return LooksUp(self.meaning(*inputs), inputs)


class LooksUp(BilinearIncrement):
    def step(self, da: ZSet, db: ZSet) -> ZSet:
        a, b = self.before
        self.staged = (a + da, b + db)
        return self.meaning(da, b + db)


@dataclass(frozen=True)
class Hoarder(Distinct):
    """DISTINCT that keeps the rows that are gone, with weight zero."""

    name = "hoarder"

    def increment(self, *inputs: Schema) -> Increment:
        return KeepsTombstones(*inputs)


class KeepsTombstones(DistinctIncrement):
    def commit(self) -> None:
        for row, weight in self.staged.items():
            self.weights[row] = self.weights.get(row, 0) + weight


@dataclass(frozen=True)
class ClippedDistinct(Distinct):
    """DISTINCT whose store holds no weight below zero: what is owed is forgotten."""

    name = "clipped_distinct"

    def increment(self, *inputs: Schema) -> Increment:
        return KeepsNoDebts(*inputs)


class KeepsNoDebts(DistinctIncrement):
    def commit(self) -> None:
        super().commit()
        self.weights = {row: weight for row, weight in self.weights.items() if weight > 0}


@dataclass(frozen=True)
class Amnesiac(Distinct):
    """DISTINCT that comes back from a restart with an empty store."""

    name = "amnesiac"

    def increment(self, *inputs: Schema) -> Increment:
        return RestoresNothing(*inputs)


class RestoresNothing(DistinctIncrement):
    def restore(self, saved: Any) -> None: ...


@dataclass(frozen=True)
class NullBlindCount(Aggregate):
    """A count per key whose increment sees no rows with a NULL key."""

    name = "null_blind_count"

    def increment(self, *inputs: Schema) -> Increment:
        (rows,) = inputs
        return NullBlind([rows.index(key) for key in self.keys], self.meaning(*inputs), inputs)


class NullBlind(GeneralIncrement):
    def __init__(self, keys: list[int], meaning: Meaning, inputs: tuple[Schema, ...]) -> None:
        super().__init__(meaning, inputs)
        self.keys = keys

    def step(self, *deltas: ZSet) -> ZSet:
        (delta,) = deltas
        known = {row: w for row, w in delta.items() if None not in [row[key] for key in self.keys]}
        return super().step(ZSet(known, delta.schema))


@dataclass(frozen=True)
class CountedApart(Aggregate):
    """A count per key that says it may be sharded by all columns."""

    name = "counted_apart"

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(each.names for each in inputs)


K = Schema.parse("k BIGINT")
V = Schema.parse("v BIGINT")
KV = Schema.parse("k BIGINT, v BIGINT")
ON, BY_K, COUNT = (("k", "v"),), ("k",), (("n", counted()),)

# What each is wrong in → the operator, and the schemas of its inputs
TWELVE: dict[str, tuple[Operator, tuple[Schema, ...]]] = {
    "not linear": (Capped(), (K,)),
    "not zero-preserving": (WithHeader(), (K,)),
    "wrong increment": (HalfJoin(ON), (K, V)),
    "state that leaks": (Hoarder(), (K,)),
    "order-dependent": (LatestRow(), (K,)),
    "weight-clipping": (ClippedDistinct(), (K,)),
    "NULL-blind": (NullBlindCount(BY_K, COUNT), (K,)),
    "tick-order-dependent": (LookupJoin(ON), (K, V)),
    "non-deterministic": (Numbered(), (K,)),
    "restart-forgetting": (Amnesiac(), (K,)),
    "shard-unsafe": (CountedApart(BY_K, COUNT), (KV,)),
    "negative output": (Reversal(), (K,)),
}
