"""A row is a tuple made canonical by its schema on entry.

Two rows are the same row exactly when they are equal as Python tuples: True is never 1
(a column holds one type), −0.0 is 0.0, there is one NaN and it equals itself, a decimal
carries its column's scale. Everything behind the door may therefore use plain dictionaries.

    Type      BOOLEAN BIGINT DOUBLE DECIMAL(p,s) VARCHAR DATE TIMESTAMP ARRAY(element)
    Column    a name, a type, nullable or not
    Schema    columns in order; `schema.row(values)` is the door
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from deltaproof.reference.errors import RowError, SchemaError

Value: TypeAlias = Any  # a canonical value of some Type, or None for NULL
Row: TypeAlias = tuple[Value, ...]

NAN = float("nan")  # the only NaN: tuples compare by identity first, so it equals itself
BIGINT_MIN, BIGINT_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Type:
    """A SQL type. `canonical` is its door; the rest reads and writes its values.

    >>> BIGINT.canonical(3), DOUBLE.canonical(-0.0), str(DECIMAL(10, 2))
    (3, 0.0, 'DECIMAL(10,2)')
    """

    name: ClassVar[str]
    python: ClassVar[type]

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return str(self)

    def canonical(self, value: Any) -> Value:
        """The value as this type keeps it. Raises RowError for a value of another type."""
        if type(value) is not self.python:
            raise RowError(f"expected {self}, got {type(value).__name__} {value!r}")
        return value

    def to_json(self, value: Value) -> Any:
        """The value as JSON keeps it; `from_json` is its inverse. NULL is null everywhere."""
        return value

    def from_json(self, value: Any) -> Value:
        return self.canonical(value)

    def order(self, value: Value) -> Any:
        """A key that sorts values as SQL does here: NaN last, strings by code point."""
        return value


@dataclass(frozen=True, repr=False)
class Boolean(Type):
    name = "BOOLEAN"
    python = bool


@dataclass(frozen=True, repr=False)
class BigInt(Type):
    """64 bit integer."""

    name = "BIGINT"
    python = int

    def canonical(self, value: Any) -> Value:
        if type(value) is not int:
            raise RowError(f"expected BIGINT, got {type(value).__name__} {value!r}")
        if not BIGINT_MIN <= value <= BIGINT_MAX:
            raise RowError(f"expected BIGINT, got {value}, which needs more than 64 bits")
        return value


@dataclass(frozen=True, repr=False)
class Double(Type):
    """IEEE double; −0.0 is 0.0, NaN is one value, equal to itself and above all others."""

    name = "DOUBLE"
    python = float

    def canonical(self, value: Any) -> Value:
        if type(value) is not float:
            raise RowError(f"expected DOUBLE, got {type(value).__name__} {value!r}")
        return canonical_double(value)

    def to_json(self, value: Value) -> Any:
        return value if value is None or math.isfinite(value) else str(value)

    def from_json(self, value: Any) -> Value:
        if value in ("nan", "inf", "-inf"):
            return canonical_double(float(value))
        return self.canonical(float(value) if type(value) is int else value)

    def order(self, value: Value) -> Any:
        return (value is NAN, value)


@dataclass(frozen=True, repr=False)
class DECIMAL(Type):
    """Exact decimal: `precision` digits (at most 38), `scale` of them after the point."""

    precision: int
    scale: int
    name = "DECIMAL"
    python = Decimal

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= 38 and 0 <= self.scale <= self.precision):
            raise SchemaError(
                f"DECIMAL({self.precision},{self.scale}): expected 1 <= precision <= 38 "
                "and 0 <= scale <= precision"
            )

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"

    def canonical(self, value: Any) -> Value:
        if type(value) is not Decimal or not value.is_finite():
            raise RowError(f"expected {self}, got {type(value).__name__} {value!r}")
        return self.from_units(self.units(value))

    def units(self, value: Decimal) -> int:
        """The value as a whole number of 10^-scale. Raises RowError when it is not one."""
        if value and not -400 < value.adjusted() < self.precision:
            raise RowError(f"expected {self}, got {value}, which has other digits")
        sign, digits, exponent = value.as_tuple()
        magnitude: int = int("".join(map(str, digits)) or "0")
        shift = int(exponent) + self.scale
        ten: int = 10 ** abs(shift)
        units, rest = (magnitude * ten, 0) if shift >= 0 else divmod(magnitude, ten)
        if rest:
            raise RowError(f"expected {self}, got {value}, which has more decimal places")
        return -units if sign else units

    def from_units(self, units: int) -> Decimal:
        """units × 10^-scale, exactly. Raises RowError when it needs more digits than there are."""
        if abs(units) >= 10**self.precision:
            raise RowError(f"expected {self}, got {units}e-{self.scale}, which has more digits")
        digits = tuple(map(int, str(abs(units))))
        return Decimal((int(units < 0), digits, -self.scale))

    def to_json(self, value: Value) -> Any:
        return None if value is None else str(value)

    def from_json(self, value: Any) -> Value:
        if not isinstance(value, str) or not re.fullmatch(r"-?\d+(\.\d+)?(E-?\d+)?", value):
            raise RowError(f"expected {self} as a string like '1.50', got {value!r}")
        return self.canonical(Decimal(value))


@dataclass(frozen=True, repr=False)
class Varchar(Type):
    """Unicode text, compared by code point."""

    name = "VARCHAR"
    python = str


@dataclass(frozen=True, repr=False)
class Date(Type):
    name = "DATE"
    python = datetime.date

    def to_json(self, value: Value) -> Any:
        return None if value is None else value.isoformat()

    def from_json(self, value: Any) -> Value:
        try:
            return datetime.date.fromisoformat(value)
        except (TypeError, ValueError):
            raise RowError(f"expected DATE like '2013-01-31', got {value!r}") from None


@dataclass(frozen=True, repr=False)
class Timestamp(Type):
    """UTC, microseconds, no time zone attached."""

    name = "TIMESTAMP"
    python = datetime.datetime

    def canonical(self, value: Any) -> Value:
        if type(value) is not datetime.datetime or value.tzinfo is not None:
            raise RowError(
                f"expected TIMESTAMP (datetime in UTC without tzinfo), "
                f"got {type(value).__name__} {value!r}"
            )
        return value

    def to_json(self, value: Value) -> Any:
        return None if value is None else value.isoformat(timespec="microseconds")

    def from_json(self, value: Any) -> Value:
        try:
            return self.canonical(datetime.datetime.fromisoformat(value))
        except (TypeError, ValueError):
            raise RowError(
                f"expected TIMESTAMP like '2013-01-31T10:00:00', got {value!r}"
            ) from None


@dataclass(frozen=True, repr=False)
class ARRAY(Type):
    """A list of values of one type, NULLs allowed, kept as a tuple."""

    element: Type
    name = "ARRAY"
    python = tuple

    def __str__(self) -> str:
        return f"ARRAY({self.element})"

    def canonical(self, value: Any) -> Value:
        if type(value) not in (tuple, list):
            raise RowError(f"expected {self}, got {type(value).__name__} {value!r}")
        return tuple(None if v is None else self.element.canonical(v) for v in value)

    def to_json(self, value: Value) -> Any:
        return None if value is None else [self.element.to_json(v) for v in value]

    def from_json(self, value: Any) -> Value:
        if not isinstance(value, list):
            raise RowError(f"expected {self} as a list, got {value!r}")
        return tuple(None if v is None else self.element.from_json(v) for v in value)

    def order(self, value: Value) -> Any:
        return tuple(null_last(self.element, v) for v in value)


BOOLEAN, BIGINT, DOUBLE, VARCHAR = Boolean(), BigInt(), Double(), Varchar()
DATE, TIMESTAMP = Date(), Timestamp()
SIMPLE_TYPES: tuple[Type, ...] = (BOOLEAN, BIGINT, DOUBLE, VARCHAR, DATE, TIMESTAMP)


def canonical_double(value: float) -> float:
    """One NaN, and no negative zero.

    >>> canonical_double(-0.0), canonical_double(float("nan")) is NAN
    (0.0, True)
    """
    return value + 0.0 if value == value else NAN


def null_last(kind: Type, value: Value) -> tuple[bool, Any]:
    """A sort key for nullable values: NULLS LAST."""
    return (True, 0) if value is None else (False, kind.order(value))


def parse_type(text: str) -> Type:
    """The type that a SQL name stands for.

    >>> parse_type("decimal(10, 2)"), parse_type("ARRAY(BIGINT)")
    (DECIMAL(10,2), ARRAY(BIGINT))
    """
    word = text.strip().upper()
    for simple in SIMPLE_TYPES:
        if word == simple.name:
            return simple
    if decimal := re.fullmatch(r"DECIMAL\((\d+)\s*,\s*(\d+)\)", word):
        return DECIMAL(int(decimal[1]), int(decimal[2]))
    if array := re.fullmatch(r"ARRAY\((.+)\)", word):
        return ARRAY(parse_type(array[1]))
    names = ", ".join(simple.name for simple in SIMPLE_TYPES)
    raise SchemaError(f"unknown type {text!r}: expected {names}, DECIMAL(p,s) or ARRAY(type)")


@dataclass(frozen=True)
class Column:
    """A named, typed column.

    >>> print(Column("k", BIGINT, nullable=False))
    k BIGINT NOT NULL
    """

    name: str
    type: Type
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.type}" + ("" if self.nullable else " NOT NULL")


@dataclass(frozen=True)
class Schema:
    """Columns in order, their names unique whatever the case of their letters.

    >>> flights = Schema.parse("carrier VARCHAR NOT NULL, delay BIGINT")
    >>> flights.row(["UA", None])
    ('UA', None)
    >>> flights.row(["UA", True])
    Traceback (most recent call last):
    deltaproof.reference.errors.RowError: column delay: expected BIGINT, got bool True
    """

    columns: tuple[Column, ...]
    _known_good: set[tuple[type, ...]] = field(
        default_factory=set, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for column in self.columns:
            name: object = column.name  # whatever a case file said it is
            if not isinstance(name, str) or not name:
                raise SchemaError(f"a column's name is text, got {column.name!r}")
            if other := seen.get(column.name.lower()):
                raise SchemaError(
                    f"two columns are called {other!r} and {column.name!r}; names must differ "
                    "by more than case: rename one, e.g. with query.prefix('left_')"
                )
            seen[column.name.lower()] = column.name

    @classmethod
    def parse(cls, text: str) -> Schema:
        """A schema from the words of a CREATE TABLE: "k BIGINT NOT NULL, v DECIMAL(10,2)"."""
        return cls(tuple(_parse_column(part) for part in _split_columns(text)))

    def __str__(self) -> str:
        return ", ".join(map(str, self.columns))

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def types(self) -> tuple[Type, ...]:
        return tuple(column.type for column in self.columns)

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    @cached_property
    def _checked(self) -> tuple[int, ...]:
        """The columns whose values a matching Python type alone does not make canonical."""
        plain = (Boolean, Varchar, Date)
        return tuple(i for i, t in enumerate(self.types) if not isinstance(t, plain))

    def index(self, name: str) -> int:
        """The position of a column. Raises SchemaError with the names there are."""
        if name not in self._positions:
            raise SchemaError(
                f"unknown column {name!r}: there are {', '.join(self.names) or 'none'}"
            )
        return self._positions[name]

    def column(self, name: str) -> Column:
        return self.columns[self.index(name)]

    def row(self, values: Iterable[Any]) -> Row:
        """The canonical row of these values. Raises RowError naming what does not fit."""
        row = tuple(values)
        python_types = tuple(map(type, row))
        if python_types not in self._known_good:
            return self._row_checked(row, python_types)
        for position in self._checked:
            value = row[position]
            if value is not None:
                canonical = self._canonical(position, value)
                if canonical is not value:
                    row = (*row[:position], canonical, *row[position + 1 :])
        return row

    def _row_checked(self, row: Row, python_types: tuple[type, ...]) -> Row:
        if len(row) != len(self.columns):
            raise RowError(
                f"expected {len(self.columns)} values for ({self}), got {len(row)}: {row!r}"
            )
        canonical = tuple(self._canonical(i, value) for i, value in enumerate(row))
        self._known_good.add(python_types)
        return canonical

    def _canonical(self, position: int, value: Any) -> Value:
        column = self.columns[position]
        if value is None:
            if not column.nullable:
                raise RowError(f"column {column.name}: expected {column.type} NOT NULL, got NULL")
            return None
        try:
            return column.type.canonical(value)
        except RowError as error:
            raise RowError(f"column {column.name}: {error}") from None

    def sort_key(self, row: Row) -> Any:
        """Orders rows by their columns, left to right, NULLS LAST."""
        return tuple(null_last(t, v) for t, v in zip(self.types, row, strict=True))

    def row_to_json(self, row: Row) -> list[Any]:
        return [None if v is None else t.to_json(v) for t, v in zip(self.types, row, strict=True)]

    def row_from_json(self, values: Any) -> Row:
        """The row that `row_to_json` wrote. Raises RowError naming the column that does not fit."""
        if not isinstance(values, list) or len(values) != len(self.columns):
            raise RowError(
                f"expected a list of {len(self.columns)} values for ({self}), got {values!r}"
            )
        row = []
        for column, value in zip(self.columns, values, strict=True):
            try:
                row.append(None if value is None else column.type.from_json(value))
            except RowError as error:
                raise RowError(f"column {column.name}: {error}") from None
        return self.row(row)

    def to_json(self) -> list[dict[str, Any]]:
        return [{"name": c.name, "type": str(c.type), "nullable": c.nullable} for c in self.columns]

    @classmethod
    def from_json(cls, columns: Any) -> Schema:
        """The schema that `to_json` wrote, or its words. Raises SchemaError."""
        if isinstance(columns, str):
            return cls.parse(columns)
        if not isinstance(columns, list):
            raise SchemaError(f"expected a list of columns or 'k BIGINT, …', got {columns!r}")
        return cls(tuple(map(_column_from_json, columns)))


def key_function(positions: Sequence[int]) -> Callable[[Row], Row]:
    """The function from a row to the tuple of its values at these positions.

    >>> key_function([2, 0])(("a", "b", "c"))
    ('c', 'a')
    """
    if len(positions) == 1:
        (only,) = positions
        return lambda row: (row[only],)
    places = tuple(positions)
    if places == tuple(range(len(places))):
        width = len(places)
        return lambda row: row[:width]
    return lambda row: tuple([row[place] for place in places])


def _column_from_json(column: Any) -> Column:
    if not isinstance(column, dict) or not isinstance(column.get("name"), str):
        raise SchemaError(
            f'expected a column like {{"name": "k", "type": "BIGINT"}}, got {column!r}'
        )
    nullable = column.get("nullable", True)
    if not isinstance(nullable, bool):
        raise SchemaError(
            f"column {column['name']}: nullable must be true or false, got {nullable!r}"
        )
    return Column(column["name"], parse_type(str(column.get("type"))), nullable)


def _split_columns(text: str) -> list[str]:
    """Splits at the commas that stand outside parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _parse_column(text: str) -> Column:
    words = " ".join(text.split())
    nullable = not words.upper().endswith(" NOT NULL")
    name, _, kind = (words if nullable else words[: -len(" NOT NULL")]).strip().partition(" ")
    if not kind:
        raise SchemaError(f"expected a column like 'k BIGINT NOT NULL', got {text!r}")
    return Column(name, parse_type(kind), nullable)
