"""What stands behind OVER: the partition and the order, read, checked and printed alike by all.

An operator that reads an order takes the names of its partition's columns and the terms of its
order. Names of its own columns must not be taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.order import Order, checked_order, sample_order
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.select import (
    AggregateCall,
    Relation,
    Select,
    WindowCall,
    columns_of,
)
from deltaproof.reference.types import Schema


def checked_over(
    operator: str, partition: Sequence[str], order: Sequence[Order], rows: Schema
) -> None:
    """Raises SchemaError for columns that are not there, and for an order over arrays."""
    for name in partition:
        rows.column(name)
    checked_order(operator, order, rows)


def checked_count(operator: str, what: str, value: Any, least: int) -> None:
    """Raises SchemaError unless the value is a whole number of at least this much."""
    if type(value) is not int or value < least:
        raise SchemaError(f"{operator}: expected {what} of {least} or more, got {value!r}")


def over_label(partition: Sequence[str], order: Sequence[Order]) -> str:
    """The partition and the order in words, for labels.

    >>> over_label(["k"], [Order(col("v"), descending=True)]), over_label([], [])
    (' BY k ORDER v DESC', '')
    """
    by = f" BY {', '.join(partition)}" if partition else ""
    return by + (f" ORDER {', '.join(map(str, order))}" if order else "")


def over_to_json(partition: Sequence[str], order: Sequence[Order]) -> dict[str, Any]:
    return {"partition": list(partition), "order": [each.to_json() for each in order]}


def over_from_json(arguments: dict[str, Any]) -> tuple[tuple[str, ...], tuple[Order, ...]]:
    """What `over_to_json` wrote. Raises KeyError, TypeError, ValueError or CaseError."""
    order = tuple(map(Order.from_json, arguments["order"]))
    return names_from_json(arguments["partition"]), order


def names_from_json(saved: Any) -> tuple[str, ...]:
    """The names of columns. Raises TypeError for what is no list of them."""
    if not isinstance(saved, list):
        raise TypeError(f"expected a list of names, got {saved!r}")
    return tuple(saved)


def columns(partition: Sequence[str]) -> tuple[Expr, ...]:
    """The partition's columns as expressions."""
    return tuple(map(col, partition))


def with_calls(rows: Relation, schema: Schema, *calls: tuple[str, WindowCall]) -> Select:
    """The SELECT of all columns of the source, and behind them the window calls."""
    named: list[tuple[str, Expr | AggregateCall | WindowCall]] = [*columns_of(rows.schema.names)]
    return Select((*named, *calls), rows, schema=schema)


def sample_over(random: Random, rows: Schema) -> tuple[tuple[str, ...], tuple[Order, ...]]:
    """A random partition of none to two columns, and a random order."""
    count = min(random.choice((0, 1, 1, 2)), max(len(rows) - 1, 0))
    return tuple(random.sample(rows.names, count)), sample_order(random, rows)


def fresh(rows: Schema, *stems: str) -> tuple[str, ...]:
    """Names like these that no column has.

    >>> fresh(Schema.parse("n BIGINT, N1 BIGINT"), "n")
    ('n2',)
    """
    taken = {name.lower() for name in rows.names}
    numbered = (tuple(f"{stem}{n or ''}" for stem in stems) for n in range(len(taken) + 1))
    return next(tried for tried in numbered if taken.isdisjoint(each.lower() for each in tried))
