"""GROUP BY is not linear, but a delta changes only the groups it touches.

COUNT, SUM, AVG, the variances and BOOL_AND are read off sums that are linear in the weights, so a
group's sums after a tick are its sums before it plus the delta's. DISTINCT adds up values as they
come and go. MIN, MAX, ARG_MIN and ARG_MAX read the ends of the group's values in order, a
quantile two places in it, ARRAY_AGG all of it: its cost follows the group, as its result does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any, Self

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.aggregate_functions import (
    ALL_CAPABILITIES,
    FUNCTIONS,
    IGNORING_COPIES,
    MAY_BE_DISTINCT,
    call_capabilities,
    call_from_json,
    call_to_json,
    capability,
    definition,
    given_value,
    result_column,
)
from deltaproof.reference.operators.aggregate_increment import AggregateIncrement
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.scalar_sample import sample_predicate
from deltaproof.reference.select import AggregateCall, Relation, Select
from deltaproof.reference.types import Row, Schema, Value, key_function
from deltaproof.reference.zset import Weight, ZSet

__all__ = ["FUNCTIONS", "Aggregate", "capability"]

Named = tuple[str, AggregateCall]

# Often what most queries ask for; seldom `single`, which has no value over most groups.
SAMPLED = (*("count_star", "count", "sum", "avg", "min", "max") * 3, *FUNCTIONS[:-1] * 2, "single")
FRACTIONS = tuple(map(Decimal, ("0.5", "0.5", "0", "0.25", "0.9", "1")))


@dataclass(frozen=True)
class Aggregate(Operator):
    """γ: one row per group of positive total weight: its keys, then its aggregates.

    Without keys there is exactly one row at every tick, also over no rows. NULL keys are
    equal. Aggregates skip NULL, except COUNT(*), and with FILTER the rows where it is not TRUE.
    What each function is: `aggregate_functions`.

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
    state = "per group its sums, its row, and values where a call asks for their order"
    claimed = ("set_valued", "duplicate_free", "by_name")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ALL_CAPABILITIES

    def capabilities(self) -> tuple[str, ...]:
        return capabilities_of(call for _, call in self.aggregates)

    def claims(self) -> tuple[str, ...]:
        return self.claimed_if(duplicate_free=all_ignore_copies(self.aggregates))

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return (self.keys,)

    def output(self, *inputs: Schema) -> Schema:
        (rows,) = inputs
        keys = tuple(rows.column(key) for key in self.keys)
        results = tuple(result_column(name, call, rows) for name, call in self.aggregates)
        return Schema(keys + results)

    def meaning(self, *inputs: Schema) -> Meaning:
        (rows,) = inputs
        key_of = key_function([rows.index(key) for key in self.keys])
        calls = [(given_value(call, rows), definition(call, rows)) for _, call in self.aggregates]
        keyless = not self.keys

        def aggregated(table: ZSet) -> ZSet:
            groups: dict[Row, list[tuple[Row, Weight]]] = {(): []} if keyless else {}
            for row, weight in table.items():
                groups.setdefault(key_of(row), []).append((row, weight))
            result = {}
            for key, members in groups.items():
                if keyless or sum(weight for _, weight in members) > 0:
                    values = (define(given_to(given, members)) for given, define in calls)
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
        keys = tuple(random.sample(rows.names, min(count, len(rows))))
        calls = sample_calls(random, rows)
        if any(call.function == "single" for _, call in calls):  # it takes one row at the most
            keys = rows.names[: len(rows) - random.randint(0, 1)]
        return cls(keys, calls) if calls and not clash(keys, calls) else None

    def label(self) -> str:
        by = f" BY {', '.join(self.keys)}" if self.keys else ""
        return f"aggregate {calls_label(self.aggregates)}{by}"

    def to_json(self) -> dict[str, Any]:
        calls = [call_to_json(name, call) for name, call in self.aggregates]
        return {"keys": list(self.keys), "aggregates": calls}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        calls = tuple(map(call_from_json, arguments["aggregates"]))
        return cls(tuple(names(arguments["keys"])), calls)


def given_to(
    given: Callable[[Row], Value], members: Sequence[tuple[Row, Weight]]
) -> list[tuple[Value, Weight]]:
    """The values that a call is given for the rows of a group."""
    values = [(given(row), weight) for row, weight in members]
    return [(value, weight) for value, weight in values if value is not None]


def names(keys: Any) -> list[str]:
    """The keys, when they are a list of names. Raises TypeError."""
    if not isinstance(keys, list):
        raise TypeError(f"expected a list of names, got {keys!r}")
    return keys


def capabilities_of(calls: Iterable[AggregateCall]) -> tuple[str, ...]:
    """What a backend must be able to do for these calls, each once."""
    return tuple(dict.fromkeys(name for call in calls for name in call_capabilities(call)))


def all_ignore_copies(calls: Sequence[Named]) -> bool:
    """Whether it makes no difference to any call how often a value is there."""
    return all(call.distinct or call.function in IGNORING_COPIES for _, call in calls)


def calls_label(calls: Sequence[Named]) -> str:
    return ", ".join(f"{call} AS {name}" for name, call in calls)


def with_new(call: AggregateCall, new: Callable[[Expr], Expr]) -> AggregateCall:
    """The call with each expression that it reads replaced."""
    argument, where, by = (
        None if each is None else new(each) for each in (call.argument, call.where, call.by)
    )
    return replace(call, argument=argument, where=where, by=by)


def simpler_calls(
    call: AggregateCall, simpler: Callable[[Expr], Iterable[Expr]]
) -> Iterator[AggregateCall]:
    """The call without FILTER or DISTINCT, or with one of its expressions made simpler."""
    if call.where is not None:
        yield replace(call, where=None)
        yield from (replace(call, where=each) for each in simpler(call.where))
    if call.distinct:
        yield replace(call, distinct=False)
    if call.argument is not None:
        yield from (replace(call, argument=each) for each in simpler(call.argument))
    if call.by is not None:
        yield from (replace(call, by=each) for each in simpler(call.by))


# --- random calls ---


def sample_calls(random: Random, rows: Schema) -> tuple[Named, ...]:
    """One to three random calls over these rows; none where none fits."""
    functions = dict.fromkeys(random.choice(SAMPLED) for _ in range(random.randint(1, 3)))
    calls = [call for each in functions if (call := sample_call(random, each, rows))]
    return tuple((f"a{n}", call) for n, call in enumerate(calls))


def clash(keys: Iterable[str], calls: Sequence[Named]) -> bool:
    """Whether a key has the name of an aggregate."""
    return not {key.lower() for key in keys}.isdisjoint(name for name, _ in calls)


def sample_call(random: Random, function: str, rows: Schema) -> AggregateCall | None:
    """A call of this function on a random column that fits; None when none does."""
    filtered = 0.7 if function == "single" else 0.25
    where = sample_predicate(random, rows) if random.random() < filtered else None
    if function == "count_star":
        return AggregateCall(function, where=where)
    distinct = function in MAY_BE_DISTINCT and random.random() < 0.3
    by = col(random.choice(rows.names)) if function.startswith("arg_") and len(rows) else None
    fraction = random.choice(FRACTIONS) if function == "quantile" else None
    calls = [
        AggregateCall(function, col(name), distinct, where, by, fraction) for name in rows.names
    ]
    fitting = [call for call in calls if fits(call, rows)]
    return random.choice(fitting) if fitting else None


def fits(call: AggregateCall, rows: Schema) -> bool:
    try:
        result_column("a", call, rows)
    except SchemaError:
        return False
    return True
