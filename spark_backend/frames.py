"""Z-sets cross into Spark and back by Arrow, and come back as the values they were.

A stream of Z-sets is a table with one line per row, tick and case:

    _case INT     which of the streams that run side by side
    _tick INT     1, 2, … within one call
    _c0, _c1, …   the row, by position: no name of the user's enters Spark
    _weight       BIGINT; a weight that needs more than 64 bits is refused, never clipped

    Type        Arrow              Spark
    BOOLEAN     bool               BOOLEAN
    BIGINT      int64              BIGINT
    DOUBLE      float64            DOUBLE
    DECIMAL     decimal128(p, s)   DECIMAL(p,s)
    VARCHAR     string             STRING
    DATE        date32             DATE
    TIMESTAMP   timestamp[us]      TIMESTAMP_NTZ
    ARRAY       list               ARRAY

A delta may come as Arrow in the first place: a line per row, the columns by name, in the order
and of the types above, and last the weights, if there are others than 1. It goes to Spark through
a file: Parquet, of which Spark reads the columns that a query asks for, a part at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from deltaproof.reference.errors import BackendError, RowError, WeightError
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

ArrowTable: TypeAlias = Any  # pyarrow.Table; pyarrow has no types of its own
# one case: per tick, the delta of each table, which may be what `arrow_delta` gave
Stream: TypeAlias = Sequence[Mapping[str, ZSet | ArrowTable]]
WEIGHT = "_weight"

ARROW_TYPES: Mapping[Type, Any] = {
    BOOLEAN: pyarrow.bool_(),
    BIGINT: pyarrow.int64(),
    DOUBLE: pyarrow.float64(),
    VARCHAR: pyarrow.string(),
    DATE: pyarrow.date32(),
    TIMESTAMP: pyarrow.timestamp("us"),
}


def arrow_type(kind: Type) -> Any:
    """The Arrow type of a column.

    >>> arrow_type(DECIMAL(10, 2)), arrow_type(ARRAY(BIGINT)).value_type
    (Decimal128Type(decimal128(10, 2)), DataType(int64))
    """
    if isinstance(kind, ARRAY):
        return pyarrow.list_(arrow_type(kind.element))
    if isinstance(kind, DECIMAL):
        return pyarrow.decimal128(kind.precision, kind.scale)
    return ARROW_TYPES[kind]


def column_names(schema: Schema) -> list[str]:
    """The names of a row's columns inside Spark."""
    return [f"_c{position}" for position in range(len(schema))]


def arrow_schema(schema: Schema) -> Any:
    """The columns of a stream of Z-sets over this schema."""
    columns = [
        pyarrow.field(name, arrow_type(column.type), column.nullable)
        for name, column in zip(column_names(schema), schema.columns, strict=True)
    ]
    return pyarrow.schema(
        [
            pyarrow.field("_case", pyarrow.int32(), False),
            pyarrow.field("_tick", pyarrow.int32(), False),
            *columns,
            pyarrow.field("_weight", pyarrow.int64(), False),
        ]
    )


def table_of_streams(name: str, schema: Schema, streams: Sequence[Stream]) -> ArrowTable:
    """The changes of one base table in every case and tick, as Arrow holds them.

    Deltas that came as Arrow are left out: `arrow_deltas` gives them.

    Raises BackendError for a weight or a value that Spark cannot hold.

    >>> schema = Schema.parse("k BIGINT")
    >>> stream = [{"t": ZSet.of(schema, {(7,): 2})}, {}, {"t": ZSet.of(schema, {(7,): -1})}]
    >>> table_of_streams("t", schema, [stream]).to_pydict()
    {'_case': [0, 0], '_tick': [1, 3], '_c0': [7, 7], '_weight': [2, -1]}
    """
    deltas = [
        (case, tick, delta)
        for case, stream in enumerate(streams)
        for tick, tables in enumerate(stream, start=1)
        if isinstance(delta := tables.get(name), ZSet)
    ]
    rows = [row for _, _, delta in deltas for row in delta]
    columns = [
        list(chain.from_iterable(repeat(case, len(delta)) for case, _, delta in deltas)),
        list(chain.from_iterable(repeat(tick, len(delta)) for _, tick, delta in deltas)),
        *(zip(*rows, strict=True) if rows else repeat((), len(schema))),
        [weight for _, _, delta in deltas for _, weight in delta.items()],
    ]
    fields = arrow_schema(schema)
    return pyarrow.Table.from_arrays(
        [
            arrow_column(name, values, field, schema)
            for values, field in zip(columns, fields, strict=True)
        ],
        schema=fields,
    )


def arrow_column(table: str, values: Sequence[Value], field: Any, schema: Schema) -> Any:
    """One column as Arrow holds it. Raises BackendError naming what Spark cannot hold."""
    try:
        return pyarrow.array(values, field.type)
    except (OverflowError, ValueError, TypeError, pyarrow.ArrowException) as error:
        if field.name == "_weight":
            largest = max(values, key=abs)
            raise BackendError(
                f"table {table}: Spark keeps weights in 64 bits, and {largest} needs more"
            ) from None
        column = schema.columns[int(field.name.removeprefix("_c"))]
        raise BackendError(
            f"table {table}, column {column}: Spark cannot hold it: {error}"
        ) from None


def arrow_deltas(name: str, streams: Sequence[Stream]) -> list[tuple[int, int, ArrowTable]]:
    """(case, tick, delta) for the changes of one base table that came as Arrow."""
    return [
        (case, tick, delta)
        for case, stream in enumerate(streams)
        for tick, tables in enumerate(stream, start=1)
        if isinstance(delta := tables.get(name), pyarrow.Table)
    ]


def arrow_delta(schema: Schema, table: ArrowTable) -> ArrowTable:
    """A delta that comes as Arrow, its columns named by position, its values canonical.

    Equal rows may stand on several lines: their weights add up.

    Raises   RowError for columns of other names, order or types, and for NULL in a column without;
             WeightError for a NULL among the weights

    >>> schema = Schema.parse("k BIGINT, x DOUBLE")
    >>> arrow_delta(schema, pyarrow.table({"k": [7], "x": [-0.0]})).to_pydict()
    {'_c0': [7], '_c1': [0.0], '_weight': [1]}
    >>> arrow_delta(schema, pyarrow.table({"k": [7], "x": [1]}))
    Traceback (most recent call last):
    deltaproof.reference.errors.RowError: column x DOUBLE: expected Arrow type double, got int64
    """
    weights = pyarrow.repeat(pyarrow.scalar(1, pyarrow.int64()), len(table))
    if table.column_names == [*schema.names, WEIGHT]:
        *columns, weights = table.columns
    elif table.column_names == list(schema.names):
        columns = table.columns
    else:
        expected = ", ".join(schema.names)
        raise RowError(
            f"expected an Arrow table of columns {expected}, and perhaps {WEIGHT}, "
            f"got {', '.join(table.column_names)}"
        )
    fields = list(arrow_schema(schema))[2:]
    for column, field, got in zip(schema.columns, fields, columns, strict=False):
        if type_words([field]) != type_words([got]):
            raise RowError(f"column {column}: expected Arrow type {field.type}, got {got.type}")
        if got.null_count and not column.nullable:
            raise RowError(f"column {column}: {got.null_count} of the values are NULL")
    if weights.type != pyarrow.int64() or weights.null_count:
        raise WeightError(
            f"{WEIGHT}: expected int64 without NULL, "
            f"got {weights.type} with NULL on {weights.null_count} lines"
        )
    # of the right types already, but for what Arrow adds of names inside arrays
    typed = [column.cast(field.type) for column, field in zip(columns, fields, strict=False)]
    values = map(canonical_column, typed, schema.types)
    return pyarrow.Table.from_arrays([*values, weights], schema=pyarrow.schema(fields))


def canonical_column(column: Any, kind: Type) -> Any:
    """The column with one zero and one NaN among its DOUBLEs."""
    if kind == DOUBLE:
        values = pyarrow.compute.add(column, 0.0)  # -0.0 + 0.0 is 0.0
        return pyarrow.compute.if_else(pyarrow.compute.is_nan(values), NAN, values)
    if isinstance(kind, ARRAY) and innermost(kind) == DOUBLE:
        return pyarrow.array(python_values(column, kind), arrow_type(kind))
    return column


def innermost(kind: Type) -> Type:
    return innermost(kind.element) if isinstance(kind, ARRAY) else kind


def write_delta(table: ArrowTable, path: Path) -> None:
    """The file through which Spark reads what `arrow_delta` gave."""
    pyarrow.parquet.write_table(table, path, compression="snappy")


def zsets_of_table(
    table: ArrowTable, schema: Schema, ticks_by_case: Sequence[int]
) -> list[list[ZSet]]:
    """Per case and tick, the Z-set that a consolidated table of changes holds.

    Lines of ticks that a case no longer has are dropped: an output that goes on by itself, such
    as an integral's, does so until the longest case is over.

    >>> schema = Schema.parse("k BIGINT")
    >>> stream = [{"t": ZSet.of(schema, {(7,): 2})}, {}]
    >>> zsets_of_table(table_of_streams("t", schema, [stream]), schema, [2])
    [[ZSet({(7,): 2}), ZSet({})]]
    """
    expected, got = map(type_words, (arrow_schema(schema), table.schema))
    if got != expected:
        raise BackendError(f"Spark gave columns of types {got} where {expected} were expected")
    longest = max(ticks_by_case, default=0)
    entries: list[list[dict[Row, int]]] = [[{} for _ in range(longest)] for _ in ticks_by_case]
    cases, ticks, *columns, weights = (
        python_values(column, kind)
        for column, kind in zip(table.columns, [BIGINT, BIGINT, *schema.types, BIGINT], strict=True)
    )
    rows = zip(*columns, strict=True) if columns else repeat((), len(weights))
    for case, tick, row, weight in zip(cases, ticks, rows, weights, strict=True):
        entries[case][tick - 1][row] = weight
    return [
        [ZSet.trusted(zset, schema) for zset in stream[:ticks]]
        for stream, ticks in zip(entries, ticks_by_case, strict=True)
    ]


def python_values(column: Any, kind: Type) -> list[Value]:
    """The column's canonical values: NULL is None, an array a tuple, NaN the one NaN."""
    values: list[Value]
    if kind == DOUBLE:
        values = pyarrow.compute.add(column, 0.0).to_pylist()  # -0.0 + 0.0 is 0.0
        return [NAN if value != value else value for value in values]
    values = column.to_pylist()
    if isinstance(kind, ARRAY):
        return [canonical_array(value, kind) for value in values]
    return values


def canonical_array(values: list[Value] | None, kind: ARRAY) -> Value:
    return None if values is None else kind.canonical(values)


def type_words(fields: Any) -> list[str]:
    """The types of columns, without what Arrow adds of names and NULLs inside arrays."""

    def words(kind: Any) -> str:
        return f"list<{words(kind.value_type)}>" if pyarrow.types.is_list(kind) else str(kind)

    return [words(field.type) for field in fields]
