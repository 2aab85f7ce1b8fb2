"""Where a row stands in a RANGE: a number to measure distances from, or only an order of peers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.hop import TIMES
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import Change, Entry
from deltaproof.reference.select import Frame
from deltaproof.reference.types import DECIMAL, Schema, Type


@dataclass(frozen=True)
class Place:
    """Places ascend with the order; `back` and `forward` are distances between them.

    None is without bound. A distance of 0 reaches the peers, which asks nothing of a place but
    that it can be compared.
    """

    of: Callable[[Entry | Change], Any]
    back: int | None
    forward: int | None

    def first(self, here: Any) -> Any:
        """The lowest place in the frame of a row that stands here; there must be a bound."""
        return here - self.back if self.back else here

    def last(self, here: Any) -> Any:
        """The highest place in the frame of a row that stands here; there must be a bound."""
        return here + self.forward if self.forward else here

    def in_frame(self, there: Any, here: Any) -> bool:
        """Whether a row that stands there is in the frame of one that stands here."""
        if self.back is not None and there < self.first(here):
            return False
        return self.forward is None or not self.last(here) < there


def place_function(frame: Frame, order: Sequence[Order], rows: Schema) -> Place:
    """The places that a RANGE frame needs. Raises SchemaError where distances have no meaning."""
    if not frame.preceding and not frame.following:  # CURRENT ROW or unbounded: peers suffice
        return Place(lambda entry: entry.key[:-1], frame.preceding, frame.following)
    if len(order) != 1:
        raise SchemaError(
            f"rolling: {frame} needs an order of one term to measure, got {len(order)}"
        )
    (term,) = order
    kind = term.expression.type_in(rows)
    if (units := unit_of_order(kind)) is None:
        raise SchemaError(
            f"rolling: {frame} over {term}, which is {kind}: distances are exact for BIGINT, "
            "DECIMAL, DATE and TIMESTAMP only: cast it, or use ROWS"
        )
    value_of, sign = term.expression.compile(rows), -1 if term.descending else 1
    null = -math.inf if term.nulls_first else math.inf

    def of(entry: Entry | Change) -> Any:
        value = value_of(entry.row)
        return null if value is None else sign * units(value)

    one = 10**kind.scale if isinstance(kind, DECIMAL) else 1
    bounds = [each and each * one for each in (frame.preceding, frame.following)]
    return Place(of, *bounds)


def unit_of_order(kind: Type) -> Callable[[Any], int] | None:
    """The function from a value to its number of units; None where distances are not exact.

    >>> from decimal import Decimal
    >>> unit_of_order(DECIMAL(10, 2))(Decimal("1.50"))
    150
    """
    if isinstance(kind, DECIMAL):
        return kind.units
    return TIMES[kind][0] if kind in TIMES else None
