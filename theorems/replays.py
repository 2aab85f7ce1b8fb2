"""The values of a counterexample, as weights of rows, go through the reference's own operators.

    over     what an operator means over tables
    first    what its increment puts out at the first tick
    change   what its increment puts out, after a tick that brought the tables and one of deltas

One row, or two, are enough: a formula speaks of the weights of that many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deltaproof.reference.operator import Operator
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import Weight, ZSet


@dataclass(frozen=True)
class Run:
    """An operator of the reference, and the columns of its inputs.

    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> distinct = Run(Distinct(), ("k BIGINT",))
    >>> distinct.over(row(3, 7))
    ZSet({(7,): 1})
    >>> distinct.first(row(-3, 7))
    ZSet({})
    >>> distinct.change([row(3, 7)], [row(-3, 7)])
    ZSet({(7,): -1})
    """

    operator: Operator
    columns: tuple[str, ...]

    @property
    def schemas(self) -> list[Schema]:
        return [Schema.parse(each) for each in self.columns]

    def over(self, *tables: ZSet) -> ZSet:
        """What the operator means over these tables."""
        return self.operator.meaning(*self.schemas)(*tables)

    def first(self, *deltas: ZSet) -> ZSet:
        """What its increment puts out at the first tick."""
        return self.operator.increment(*self.schemas).step(*deltas)

    def change(self, before: Sequence[ZSet], deltas: Sequence[ZSet]) -> ZSet:
        """What its increment puts out for the deltas, when the tables were these before."""
        increment = self.operator.increment(*self.schemas)
        increment.step(*before)
        increment.commit()
        return increment.step(*deltas)


def row(weight: Weight, *values: Any) -> ZSet:
    """The Z-set of one row with these values; the empty one for a weight of 0.

    >>> row(2, 7, "x"), row(0, 7)
    (ZSet({(7, 'x'): 2}), ZSet({}))
    """
    return ZSet({values: weight})
