"""GROUP BY is not linear, but a delta changes only the groups it touches.

COUNT, SUM and AVG are read off sums that are linear in the weights, so a group's sums after a
tick are its sums before it plus the delta's. MIN and MAX read the group's values in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.aggregate_increment import AggregateIncrement
from deltaproof.reference.scalar import col, from_json
from deltaproof.reference.select import AggregateCall, Relation, Select
from deltaproof.reference.sums import exact_average, exact_sum, in_64_bits
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    DECIMAL,
    DOUBLE,
    Column,
    Row,
    Schema,
    Value,
    key_function,
)
from deltaproof.reference.zset import Weight, ZSet

FUNCTIONS = ("count_star", "count", "sum", "avg", "min", "max")

Members = list[tuple[Value, Weight]]  # the argument's value and the weight of each row of a group


@dataclass(frozen=True)
class Aggregate(Operator):
    """γ: one row per group of positive total weight: its keys, then its aggregates.

    Without keys there is exactly one row at every tick, also over no rows. NULL keys are
    equal. Aggregates skip NULL, except COUNT(*); SUM and AVG are NULL unless the non-NULL
    values have a positive total weight; MIN and MAX look at values of positive weight.

    Shape    Z[A] → Z[K × V], general
    Source   DBSP (VLDB 2023) section 7.2; Lean: group_by_linear
    Raises   SchemaError for unknown keys or arguments that do not fit; EvaluationError for a
             SUM or COUNT outside 64 bits, naming the group
    """

    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]

    name = "aggregate"
    shape = Shape.GENERAL
    theorem = "aggregate_increment"
    source = "DBSP (VLDB 2023) section 7.2, 7.4; Lean: group_by_linear"

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"aggregate.{capability(f)}" for f in FUNCTIONS))

    def capabilities(self) -> tuple[str, ...]:
        functions = dict.fromkeys(call.function for _, call in self.aggregates)
        return tuple(dict.fromkeys(f"aggregate.{capability(f)}" for f in functions))

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        keys = tuple(rows.column(key) for key in self.keys)
        results = tuple(result_column(name, call, rows) for name, call in self.aggregates)
        return Schema(keys + results)

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        key_of = key_function([rows.index(key) for key in self.keys])
        calls = [(argument_of(call, rows), meaning_of(call, rows)) for _, call in self.aggregates]
        keyless = not self.keys

        def aggregated(table: ZSet) -> ZSet:
            groups: dict[Row, list[tuple[Row, Weight]]] = {(): []} if keyless else {}
            for row, weight in table.items():
                groups.setdefault(key_of(row), []).append((row, weight))
            result = {}
            for key, members in groups.items():
                if keyless or sum(weight for _, weight in members) > 0:
                    values = (
                        function([(argument(row), weight) for row, weight in members])
                        for argument, function in calls
                    )
                    result[(*key, *values)] = 1
            return ZSet.trusted(result)

        return aggregated

    def increment(self, *inputs: Schema) -> Increment:
        return AggregateIncrement(self.keys, [call for _, call in self.aggregates], *inputs)

    def select(self, *inputs: Relation) -> Select:
        (rows,) = inputs
        keys = tuple((key, col(key)) for key in self.keys)
        return Select(keys + self.aggregates, rows, group_by=self.keys)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        (rows,) = inputs
        count = random.choice((0, 1, 1, 1, 2))
        keys = random.sample(rows.names, min(count, len(rows)))
        calls = [
            call
            for function in random.sample(FUNCTIONS, random.randint(1, 3))
            if (call := sample_call(random, function, rows))
        ]
        named = tuple((f"a{n}", call) for n, call in enumerate(calls))
        taken = {name.lower() for name in keys}
        return cls(tuple(keys), named) if named and not taken & {n for n, _ in named} else None

    def label(self) -> str:
        calls = ", ".join(f"{call} AS {name}" for name, call in self.aggregates)
        return f"aggregate {calls}" + (f" BY {', '.join(self.keys)}" if self.keys else "")

    def to_json(self) -> dict[str, Any]:
        calls = [
            [name, call.function, call.argument.to_json() if call.argument is not None else None]
            for name, call in self.aggregates
        ]
        return {"keys": list(self.keys), "aggregates": calls}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        calls = tuple(
            (name, AggregateCall(function, None if of is None else from_json(of)))
            for name, function, of in arguments["aggregates"]
        )
        return cls(tuple(names(arguments["keys"])), calls)


def names(keys: Any) -> list[str]:
    """The keys, when they are a list of names. Raises TypeError."""
    if not isinstance(keys, list):
        raise TypeError(f"expected a list of names, got {keys!r}")
    return keys


def capability(function: str) -> str:
    """COUNT(*) and COUNT(x) are one capability."""
    return "count" if function == "count_star" else function


def result_column(name: str, call: AggregateCall, rows: Schema) -> Column:
    """The output column of a call. Raises SchemaError when the argument does not fit."""
    if call.function not in FUNCTIONS:
        raise SchemaError(f"aggregate: unknown function {call.function!r}: {', '.join(FUNCTIONS)}")
    if call.function == "count_star":
        if call.argument is not None:
            raise SchemaError("aggregate: count_star takes no argument: use count")
        return Column(name, BIGINT, nullable=False)
    if call.argument is None:
        raise SchemaError(f"aggregate: {call.function} needs an argument")
    kind = call.argument.type_in(rows)
    if call.function == "count":
        return Column(name, BIGINT, nullable=False)
    if call.function in ("min", "max"):
        if isinstance(kind, ARRAY):
            raise SchemaError(f"aggregate: {call} of {kind}: arrays have no MIN and MAX here")
        return Column(name, kind)
    if kind not in (BIGINT, DOUBLE) and not isinstance(kind, DECIMAL):
        raise SchemaError(f"aggregate: {call} needs a number, got {kind}")
    if call.function == "avg":
        return Column(name, DOUBLE)
    return Column(name, DECIMAL(38, kind.scale) if isinstance(kind, DECIMAL) else kind)


def argument_of(call: AggregateCall, rows: Schema) -> Callable[[Row], Value]:
    """The function from a row to the argument; COUNT(*) counts a value that is never NULL."""
    return call.argument.compile(rows) if call.argument is not None else lambda row: True


def meaning_of(call: AggregateCall, rows: Schema) -> Callable[[Members], Value]:
    """The definition of an aggregate, over all members of one group."""
    kind = call.argument.type_in(rows) if call.argument is not None else BIGINT

    def non_null(members: Members) -> Members:
        return [(value, weight) for value, weight in members if value is not None]

    def count(members: Members) -> Value:
        return in_64_bits(sum(weight for _, weight in non_null(members)), call)

    def total(members: Members) -> Value:
        given = non_null(members)
        return exact_sum(given, kind, call) if sum(weight for _, weight in given) > 0 else None

    def average(members: Members) -> Value:
        given = non_null(members)
        return exact_average(given, kind) if sum(weight for _, weight in given) > 0 else None

    def extreme(members: Members) -> Value:
        weights: dict[Value, Weight] = {}
        for value, weight in non_null(members):
            weights[value] = weights.get(value, 0) + weight
        present = [value for value, weight in weights.items() if weight > 0]
        choose = min if call.function == "min" else max
        return choose(present, key=kind.order) if present else None

    return {"count_star": count, "count": count, "sum": total, "avg": average}.get(
        call.function, extreme
    )


def sample_call(random: Random, function: str, rows: Schema) -> AggregateCall | None:
    """A call of this function on a random column that fits; None when none does."""
    if function == "count_star":
        return AggregateCall(function, None)
    calls = [AggregateCall(function, col(name)) for name in rows.names]
    fitting = [call for call in calls if fits(call, rows)]
    return random.choice(fitting) if fitting else None


def fits(call: AggregateCall, rows: Schema) -> bool:
    try:
        result_column("a", call, rows)
    except SchemaError:
        return False
    return True
