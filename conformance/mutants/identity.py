"""Wrong answers to the question which rows, keys and numbers are the same."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, all_replaced, replaced
from deltaproof.reference.operator import Increment
from deltaproof.reference.operators import aggregate_layout
from deltaproof.reference.operators.aggregate_increment import AggregateIncrement
from deltaproof.reference.operators.join import Join, JoinIncrement
from deltaproof.reference.sums import sum_of_units
from deltaproof.reference.types import DOUBLE, Row, Schema, Type, Value
from deltaproof.reference.zset import ZSet

JOIN_STEP = JoinIncrement.step
GROUP_INIT = AggregateIncrement.__init__
FINITE_UNITS = aggregate_layout.finite_units

OfRow = Callable[[Row], Any]


def join_keys(of: Callable[[list[Value]], Any]) -> Callable[..., Increment]:
    """An `increment` of Join whose keys are this function of the key columns."""

    def increment(self: Join, *inputs: Schema) -> Increment:
        left, right = inputs
        places = (
            [left.index(name) for name, _ in self.on],
            [right.index(name) for _, name in self.on],
        )

        def key(positions: list[int]) -> OfRow:
            return lambda row: of([row[position] for position in positions])

        return JoinIncrement(inputs, (key(places[0]), key(places[1])))

    return increment


def concatenated(values: list[Value]) -> str:
    return "".join("" if value is None else str(value) for value in values)


def one_bit_of_the_hash(values: list[Value]) -> int | None:
    return None if None in values else hash(tuple(values)) & 1


def join_feeds_one_port(self: JoinIncrement, da: ZSet, db: ZSet) -> ZSet:
    return JOIN_STEP(self, da, ZSet() if da == db else db)


def group_keys_read_null_as_empty(self: AggregateIncrement, *arguments: Any) -> None:
    GROUP_INIT(self, *arguments)
    right = self.key_of
    self.key_of = lambda row: tuple("" if value is None else value for value in right(row))


def floats_of(kind: Type) -> Callable[[Value], Any]:
    return (lambda value: value) if kind == DOUBLE else FINITE_UNITS(kind)


def running_sum(total: Any, kind: Type, what: object) -> Value:
    return float(total) if kind == DOUBLE else sum_of_units(total, kind, what)


def plant_running_floats() -> AbstractContextManager[None]:
    return all_replaced(
        [
            (aggregate_layout, "finite_units", floats_of),
            (aggregate_layout, "sum_of_units", running_sum),
        ]
    )


def mutant(
    name: str, edit: str, source: str, cell: str, plant: Callable[[], AbstractContextManager[None]]
) -> Mutant:
    operator, _, kind = cell.partition("@")
    return Mutant(name, edit, source, "reference", (operator, kind), plant)


REFERENCE: tuple[Mutant, ...] = (
    mutant(
        "join_key_is_a_concatenation",
        "the key is its columns written one after the other, NULL as nothing",
        "gazelle#1103",
        "join.inner@null",
        lambda: replaced(Join, "increment", join_keys(concatenated)),
    ),
    mutant(
        "join_key_is_a_bit_of_its_hash",
        "rows match when their keys' hashes do",
        "pipelinedb#1136",
        "join.inner@insert",
        lambda: replaced(Join, "increment", join_keys(one_bit_of_the_hash)),
    ),
    mutant(
        "join_with_itself_is_fed_once",
        "where both sides change alike, only the left one is told",
        "openivm@6f42bc5",
        "join.inner@insert",
        lambda: replaced(JoinIncrement, "step", join_feeds_one_port),
    ),
    mutant(
        "group_key_reads_null_as_empty",
        "a NULL key and the empty text are one group",
        "RediSearch#10073",
        "aggregate.count@null",
        lambda: replaced(AggregateIncrement, "__init__", group_keys_read_null_as_empty),
    ),
    mutant(
        "sum_of_doubles_drifts",
        "a running sum of doubles, rounded at every change",
        "feldera#4136",
        "aggregate.sum@churn",
        plant_running_floats,
    ),
)
SPARK: tuple[Mutant, ...] = ()
