"""An engine's answer becomes a Z-set with its types as they came: no value is converted to fit.

What is a value of the column's type is made canonical. Everything else is handed on, so that
the judge sees the float where a BIGINT should be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from deltaproof.reference.types import Row, Schema, Type, Value, canonical_double
from deltaproof.reference.zset import Weight, ZSet

Reader: TypeAlias = Callable[[Any], Value]  # of values that are not NULL, as the engine gives them


class Rows:
    """Reads rows of one schema; `reader` gives the reader of a type, None where it needs none.

    >>> rows = Rows(Schema.parse("n BIGINT, x DOUBLE"), lambda kind: read_double)
    >>> rows.zset([((1, -0.0), 1), ((1, 0.0), 1)])
    ZSet({(1, 0.0): 2})

    A row of wrong types is not lost among equal rows of right ones, as 2.0 would be in 2:

    >>> rows.zset([((2, None), 1), ((2.0, None), 1), ((2, None), 1)])
    ZSet({(2.0, None): 3})
    """

    def __init__(self, schema: Schema, reader: Callable[[Type], Reader | None]) -> None:
        readers = [reader(kind) for kind in schema.types]
        self.schema = schema
        self.readers = [(place, each) for place, each in enumerate(readers) if each is not None]
        self.well_typed: set[tuple[type, ...]] = set()

    def zset(self, entries: Iterable[tuple[Row, Weight]]) -> ZSet:
        weights: dict[Row, Weight] = {}
        for given, weight in entries:
            row = self.read(given) if self.readers else given
            before = weights.get(row, 0)
            if tuple(map(type, row)) not in self.well_typed and not self.fits(row):
                weights.pop(row, None)  # of equal keys a dictionary keeps the first
            weights[row] = before + weight
        return ZSet.trusted(weights, self.schema)

    def read(self, row: Row) -> Row:
        values = list(row)
        for place, reader in self.readers:
            if values[place] is not None:
                values[place] = reader(values[place])
        return tuple(values)

    def fits(self, row: Row) -> bool:
        """Whether these are values of the schema's types."""
        types = tuple(map(type, row))
        fits = len(row) == len(self.schema) and all(
            value is None or found is kind.python
            for value, found, kind in zip(row, types, self.schema.types, strict=True)
        )
        if fits:
            self.well_typed.add(types)
        return fits


def read_double(value: Any) -> Value:
    """One NaN and no negative zero; what is not a float stays what it is."""
    return canonical_double(value) if type(value) is float else value
