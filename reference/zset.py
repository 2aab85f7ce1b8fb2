"""A Z-set is a finite function from rows to weights: the group in which tables and changes live.

A table is a Z-set whose weights are positive; a change is a Z-set of any weights; applying
a change is `+`. No zero weight survives the constructor, so two Z-sets are the same change
exactly when they are equal.

Code here asks of a weight only `+`, `-`, `*`, "is it positive" and "is it literally zero",
so the same functions run on integers and on symbolic weights.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from deltaproof.reference.errors import WeightError
from deltaproof.reference.types import Row, Schema

Weight: TypeAlias = Any  # an int, or a symbolic weight; see `is_weight`
Entries: TypeAlias = Mapping[Row, Weight] | Iterable[tuple[Row, Weight]]
RawEntries: TypeAlias = Mapping[Row, Weight] | Iterable[tuple[Iterable[Any], Weight]]


class ZSet:
    """A finite function from rows to weights; a row that is not in it has weight 0.

    Law      (a + b) - b = a;  a + b = b + a;  a + ZSet() = a
    Source   Lean: zset; DBSP (VLDB 2023) section 4
    Raises   WeightError for a weight that is not an integer

    >>> bought = ZSet([(("apple",), 2), (("pear",), 1)])
    >>> sold = ZSet({("pear",): 1})
    >>> bought - sold
    ZSet({('apple',): 2})

    Zeros are never kept, and entries of one row add up:

    >>> ZSet([(("apple",), 1), (("apple",), -1)]) == ZSet()
    True
    """

    __slots__ = ("_weights", "schema")
    __hash__ = None  # type: ignore[assignment]  # holds a dict: compare, do not hash

    def __init__(self, entries: RawEntries = (), schema: Schema | None = None) -> None:
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        weights: dict[Row, Weight] = {}
        for row, weight in pairs:
            if not is_weight(weight):
                raise WeightError(
                    f"row {row!r}: expected an integer weight, "
                    f"got {type(weight).__name__} {weight!r}"
                )
            canonical: Any = row if schema is None else schema.row(row)
            weights[canonical] = weights.get(canonical, 0) + weight
        self._weights = without_zeros(weights)
        self.schema = schema

    @classmethod
    def of(cls, schema: Schema, entries: RawEntries) -> ZSet:
        """The Z-set of these entries, each row made canonical by the schema.

        Raises RowError for a row that does not fit, WeightError for a bad weight.

        >>> print(ZSet.of(Schema.parse("fruit VARCHAR, kg DOUBLE"), [(["fig", -0.0], 3)]))
        fruit   kg    weight
        ────────────────────
        fig     0.0       +3
        """
        return cls(entries, schema)

    @classmethod
    def trusted(cls, weights: dict[Row, Weight], schema: Schema | None = None) -> ZSet:
        """A Z-set around a dictionary that is already consolidated: canonical rows, no zeros."""
        zset = cls.__new__(cls)
        zset._weights = weights
        zset.schema = schema
        return zset

    def typed(self, schema: Schema) -> ZSet:
        """The same Z-set, known to hold canonical rows of this schema."""
        return ZSet.trusted(self._weights, schema)

    def items(self) -> ItemsView[Row, Weight]:
        return self._weights.items()

    def get(self, row: Row, default: Weight = 0) -> Weight:
        return self._weights.get(row, default)

    def __getitem__(self, row: Row) -> Weight:
        return self._weights.get(row, 0)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __bool__(self) -> bool:
        return bool(self._weights)

    def __eq__(self, other: object) -> bool:
        return self._weights == other._weights if isinstance(other, ZSet) else NotImplemented

    def __add__(self, other: ZSet) -> ZSet:
        small, large = sorted((self._weights, other._weights), key=len)
        weights = dict(large)
        for row, weight in small.items():
            weights[row] = weights.get(row, 0) + weight
        return ZSet.trusted(without_zeros(weights), common_schema(self, other))

    def __neg__(self) -> ZSet:
        return ZSet.trusted({row: -weight for row, weight in self.items()}, self.schema)

    def __sub__(self, other: ZSet) -> ZSet:
        weights = dict(self._weights)
        for row, weight in other._weights.items():
            weights[row] = weights.get(row, 0) - weight
        return ZSet.trusted(without_zeros(weights), common_schema(self, other))

    def scale(self, factor: int) -> ZSet:
        """Every weight times the factor.

        >>> ZSet({("x",): 2}).scale(-3)
        ZSet({('x',): -6})
        """
        weights = {row: factor * weight for row, weight in self.items()}
        return ZSet.trusted(without_zeros(weights), self.schema)

    def is_positive(self) -> bool:
        """Whether every weight is above zero: whether this Z-set is a table (a bag)."""
        return all(weight > 0 for weight in self._weights.values())

    def sorted_items(self) -> list[tuple[Row, Weight]]:
        """The entries in an order that depends on nothing but the entries."""
        key = self.schema.sort_key if self.schema else repr
        return sorted(self.items(), key=lambda entry: key(entry[0]))

    def __repr__(self) -> str:
        return f"ZSet({self._weights!r})"

    def __str__(self) -> str:
        from deltaproof.reference.show import zset_table  # the printer needs a table library

        return zset_table(self)


def common_schema(left: ZSet, right: ZSet) -> Schema | None:
    """The schema of both; None when they differ. What is empty fits any."""
    if left.schema is right.schema or (right.schema is None and not right):
        return left.schema
    if left.schema is None and not left:
        return right.schema
    return left.schema if left.schema == right.schema else None


def is_weight(weight: Any) -> bool:
    """Whether this may be a weight: an int (not a bool), or a value that says it stands for one.

    >>> is_weight(-3), is_weight(True), is_weight(1.0)
    (True, False, False)
    """
    return type(weight) is int or getattr(type(weight), "symbolic_weight", False)


def positive(weight: Weight) -> Weight:
    """The indicator of "this weight is above zero": 1 or 0.

    >>> positive(3), positive(0), positive(-3)
    (1, 0, 0)
    """
    return (weight > 0) * 1


def without_zeros(weights: dict[Row, Weight]) -> dict[Row, Weight]:
    """The dictionary without the entries whose weight is literally zero."""
    if 0 in weights.values():
        return {row: weight for row, weight in weights.items() if weight}
    return weights
