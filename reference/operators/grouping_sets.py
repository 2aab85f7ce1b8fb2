"""Grouping by several sets of keys at once is the sum of one GROUP BY for each.

A sum of queries changes by the sum of their changes, so each set keeps its own groups and sees
the same delta. A key that a set lacks is NULL in its rows, as is a key that is NULL in the data:
the two are told apart by the grouping column alone, and their rows are never merged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.aggregate import (
    Aggregate,
    Named,
    all_ignore_copies,
    calls_label,
    capabilities_of,
    clash,
    names,
    sample_calls,
)
from deltaproof.reference.operators.aggregate_functions import call_from_json, call_to_json
from deltaproof.reference.scalar import Expr, col, lit
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.select import (
    AggregateCall,
    Compound,
    Relation,
    Select,
    Statement,
    WindowCall,
)
from deltaproof.reference.store import add_into
from deltaproof.reference.types import BIGINT, Column, Row, Schema
from deltaproof.reference.zset import ZSet

MOST_KEYS = 62  # so that the bits of the grouping column are a BIGINT
Columns = tuple[tuple[str, Expr | AggregateCall | WindowCall], ...]  # of a Select
Place = Callable[[Row], Row]  # from the row of one set's GROUP BY to the output row


@dataclass(frozen=True)
class GroupingSets(Operator):
    """γ over several sets of keys: the rows of all, NULL for a key that a set lacks.

    The columns are all keys in the order in which the sets name them, the aggregates, and, with
    `grouping`, a bit mask: a bit is set when the key is not in the row's set, the first key
    having the highest. An empty set has exactly one row at every tick, also over no rows.

    Shape    Z[A] → Z[K × V], general
    Law      Q = Σ over the sets of γ(set), each in its columns
    Source   SQL:1999 GROUPING SETS; per set DBSP (VLDB 2023) section 7.2, 7.4
    Raises   SchemaError for no sets, no aggregates, a key twice in one set, unknown keys

    >>> count = (("n", AggregateCall("count_star")),)
    >>> rollup = GroupingSets((("a",), ()), count, "g")
    >>> rows = Schema.parse("a BIGINT")
    >>> rollup.meaning(rows)(ZSet({(None,): 2}))
    ZSet({(None, 2, 0): 1, (None, 2, 1): 1})
    """

    sets: tuple[tuple[str, ...], ...]
    aggregates: tuple[Named, ...]
    grouping: str | None = None

    name = "grouping_sets"
    shape = Shape.GENERAL
    theorem = "grouping_sets_increment"
    source = "SQL:1999 GROUPING SETS; DBSP (VLDB 2023) section 7.2, 7.4"
    state = "per set and group what an aggregate keeps"
    claimed = ("positive", "set_valued", "duplicate_free", "by_name")

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key of any set, in the order in which they are named."""
        return tuple(dict.fromkeys(key for keys in self.sets for key in keys))

    @property
    def parts(self) -> tuple[Aggregate, ...]:
        """The GROUP BY of each set."""
        return tuple(Aggregate(keys, self.aggregates) for keys in self.sets)

    def mask(self, keys: Sequence[str]) -> int:
        """The value of the grouping column in the rows of this set.

        >>> GroupingSets((("a", "b"), ("b",), ()), ()).mask(("b",))
        2
        """
        mask = 0
        for key in self.keys:
            mask = 2 * mask + (key not in keys)
        return mask

    def capabilities(self) -> tuple[str, ...]:
        return (self.name, *capabilities_of(call for _, call in self.aggregates))

    def claims(self) -> tuple[str, ...]:
        told_apart = self.grouping is not None and len({*map(self.mask, self.sets)}) == len(
            self.sets
        )
        return self.claimed_if(
            set_valued=told_apart or len(self.sets) == 1,
            duplicate_free=all_ignore_copies(self.aggregates),
        )

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (tuple(key for key in self.keys if all(key in keys for keys in self.sets)),)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        self.check()
        keys = tuple(Column(key, rows.column(key).type) for key in self.keys)
        results = Aggregate((), self.aggregates).output(rows).columns
        mask = () if self.grouping is None else (Column(self.grouping, BIGINT, nullable=False),)
        return Schema((*keys, *results, *mask))

    def check(self) -> None:
        if not self.sets or not self.aggregates:
            raise SchemaError("grouping_sets: expected at least one set and one aggregate")
        if twice := next((keys for keys in self.sets if len(set(keys)) < len(keys)), None):
            raise SchemaError(f"grouping_sets: the set ({', '.join(twice)}) names a key twice")
        if len(self.keys) > MOST_KEYS:
            raise SchemaError(f"grouping_sets: {len(self.keys)} keys: at most {MOST_KEYS}")

    def meaning(self, *inputs: Schema) -> Meaning:
        parts = [(part.meaning(*inputs), self.place(part.keys)) for part in self.parts]

        def aggregated(table: ZSet) -> ZSet:
            return ZSet(
                [(place(row), w) for part, place in parts for row, w in part(table).items()]
            )

        return aggregated

    def place(self, keys: Sequence[str]) -> Place:
        """From a row of the GROUP BY of these keys to the output row."""
        width = len(keys)
        sources = [keys.index(key) if key in keys else None for key in self.keys]
        mask = () if self.grouping is None else (self.mask(keys),)

        def placed(row: Row) -> Row:
            own = [None if source is None else row[source] for source in sources]
            return (*own, *row[width:], *mask)

        return placed

    def increment(self, *inputs: Schema) -> Increment:
        return GroupingSetsIncrement(
            [(part.increment(*inputs), self.place(part.keys)) for part in self.parts]
        )

    def select(self, *inputs: Relation) -> Statement:
        """GROUPING SETS; with a grouping column one SELECT per set, where it is a number."""
        (rows,) = inputs
        if self.grouping is None:
            columns: Columns = tuple((key, col(key)) for key in self.keys)
            columns += self.aggregates
            return Select(columns, rows, grouping_sets=self.sets, schema=self.output(rows.schema))
        return Compound(tuple(self.select_of(keys, rows) for keys in self.sets))

    def select_of(self, keys: tuple[str, ...], rows: Relation) -> Select:
        def key_column(key: str) -> Expr:
            return col(key) if key in keys else Literal(rows.schema.column(key).type, None)

        columns: Columns = tuple((key, key_column(key)) for key in self.keys)
        columns += self.aggregates
        columns += ((self.grouping or "", lit(self.mask(keys))),)
        return Select(columns, rows, group_by=keys, schema=self.output(rows.schema))

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        keys = random.sample(rows.names, min(len(rows), random.randint(1, 3)))
        calls = [call for call in sample_calls(random, rows) if call[1].function != "single"]
        sets = [
            tuple(random.sample(keys, random.randint(0, len(keys))))
            for _ in range(random.choice((1, 2, 2, 3)))
        ]
        if not calls or clash(keys, calls) or {"g"} & {name.lower() for name in rows.names}:
            return None
        return cls(tuple(sets), tuple(calls), random.choice(("g", None)))

    def label(self) -> str:
        sets = ", ".join(f"({', '.join(keys)})" for keys in self.sets)
        mask = "" if self.grouping is None else f", GROUPING AS {self.grouping}"
        return f"aggregate {calls_label(self.aggregates)}{mask} BY GROUPING SETS ({sets})"

    def to_json(self) -> dict[str, Any]:
        calls = [call_to_json(name, call) for name, call in self.aggregates]
        sets = [list(keys) for keys in self.sets]
        return {"sets": sets, "aggregates": calls, "grouping": self.grouping}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        sets = tuple(tuple(names(keys)) for keys in arguments["sets"])
        return cls(
            sets, tuple(map(call_from_json, arguments["aggregates"])), arguments.get("grouping")
        )


class GroupingSetsIncrement:
    """The increments of the sets, side by side.

    Source   DBSP (VLDB 2023) sections 7.2 and 7.4
    """

    def __init__(self, parts: Sequence[tuple[Increment, Place]]) -> None:
        self.parts = parts

    def step(self, delta: ZSet) -> ZSet:
        output: dict[Row, Any] = {}
        for part, place in self.parts:
            add_into(output, [(place(row), weight) for row, weight in part.step(delta).items()])
        return ZSet.trusted(output)

    def commit(self) -> None:
        for part, _ in self.parts:
            part.commit()

    def clear(self) -> None:
        for part, _ in self.parts:
            part.clear()

    def save(self) -> Any:
        return [part.save() for part, _ in self.parts]

    def restore(self, saved: Any) -> None:
        for (part, _), own in zip(self.parts, saved, strict=True):
            part.restore(own)
