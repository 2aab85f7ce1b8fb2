"""An order of rows that leaves nothing open: what ORDER BY says, completed by the whole row.

Two rows that ORDER BY calls equal are ordered by all their columns, ascending, NULLs last. So
the first k rows, the row before and the row number are functions of the table, and do not
depend on the order in which its rows arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.scalar import Expr, col, from_json
from deltaproof.reference.scalar_tree import checked_expressions
from deltaproof.reference.types import ARRAY, Row, Schema, Value


@dataclass(frozen=True)
class Order:
    """One term of ORDER BY; NULLs come last unless said, also where it descends.

    >>> print(Order(col("delay"), descending=True))
    delay DESC
    """

    expression: Expr
    descending: bool = False
    nulls_first: bool = False

    def __str__(self) -> str:
        words = [str(self.expression), "DESC" if self.descending else ""]
        return " ".join([*filter(None, words), *(["NULLS FIRST"] if self.nulls_first else [])])

    def to_json(self) -> list[Any]:
        return [self.expression.to_json(), self.descending, self.nulls_first]

    @classmethod
    def from_json(cls, saved: Any) -> Order:
        """Raises CaseError, TypeError or ValueError for what `to_json` did not write."""
        expression, descending, nulls_first = saved
        if type(descending) is not bool or type(nulls_first) is not bool:
            raise TypeError(f"expected [expression, descending, nulls first], got {saved!r}")
        return cls(from_json(expression), descending, nulls_first)


def checked_order(operator: str, order: Sequence[Order], schema: Schema) -> None:
    """Raises SchemaError for an order over columns that are not there, or over arrays."""
    for each in order:
        if not isinstance(each, Order):
            raise SchemaError(f"{operator}: expected Order(...), got {each!r}")
        checked_expressions(operator, each.expression)
        if isinstance(kind := each.expression.type_in(schema), ARRAY):
            raise SchemaError(f"{operator}: {each} is {kind}: arrays have no order here")


def order_key(order: Sequence[Order], schema: Schema) -> Callable[[Row], Any]:
    """The function from a row to its place: what ORDER BY says, then the whole row.

    >>> key = order_key([Order(col("v"), descending=True)], Schema.parse("k BIGINT, v BIGINT"))
    >>> sorted([(1, 5), (2, 7), (3, None), (0, 5)], key=key)
    [(2, 7), (0, 5), (1, 5), (3, None)]
    """
    places = [place_of(each, schema) for each in order]
    whole = schema.sort_key
    return lambda row: (*[place(row) for place in places], whole(row))


def peer_key(order: Sequence[Order], schema: Schema) -> Callable[[Row], Any]:
    """The function from a row to what ORDER BY alone says: peers, such as of RANK, are equal.

    >>> key = peer_key([Order(col("v"))], Schema.parse("k BIGINT, v BIGINT"))
    >>> key((1, 5)) == key((2, 5))
    True
    """
    places = [place_of(each, schema) for each in order]
    return lambda row: tuple([place(row) for place in places])


def place_of(order: Order, schema: Schema) -> Callable[[Row], Any]:
    """The function from a row to its place by one term."""
    value_of, kind = order.expression.compile(schema), order.expression.type_in(schema)
    null, present = ((0,), 1) if order.nulls_first else ((2,), 1)

    def place(row: Row) -> Any:
        value: Value = value_of(row)
        if value is None:
            return null
        key = kind.order(value)
        return (present, Descending(key) if order.descending else key)

    return place


class Descending:
    """A key turned around.

    >>> Descending(3) < Descending(2), Descending(3) == Descending(3)
    (True, True)
    """

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Descending) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)


def sample_order(random: Random, schema: Schema) -> tuple[Order, ...]:
    """One or two random terms over the columns; none where no column can be ordered by."""
    names = [each.name for each in schema.columns if not isinstance(each.type, ARRAY)]
    chosen = random.sample(names, min(len(names), random.choice((1, 1, 2))))
    return tuple(
        Order(col(name), descending=random.random() < 0.4, nulls_first=random.random() < 0.2)
        for name in chosen
    )
