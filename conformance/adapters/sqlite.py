"""SQLite as an independent oracle: its tables hold rows, the view's SELECT runs at every tick.

SQLite keeps each value's own type, whatever its column says: BOOLEAN is 0 or 1, DATE and
TIMESTAMP are ISO text, and an integer that overflowed comes back as the float it became.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from deltaproof.conformance.adapters.pool import Pool
from deltaproof.conformance.adapters.recompute import (
    Change,
    RecomputeSession,
    capabilities_in,
    refusal,
)
from deltaproof.conformance.adapters.rows import Reader, Rows, read_double
from deltaproof.reference.durable import transaction
from deltaproof.reference.errors import BackendError, RowError
from deltaproof.reference.query import Query
from deltaproof.reference.sql import sql_type, to_sql
from deltaproof.reference.types import BOOLEAN, DATE, DOUBLE, TIMESTAMP, Row, Schema, Type, Value


class SqliteBackend:
    """SQLite in memory, by recompute.

    >>> from deltaproof.reference.query import table
    >>> from deltaproof.reference.zset import ZSet
    >>> sales = table("sales", "fruit VARCHAR, fresh BOOLEAN")
    >>> session = SqliteBackend().open(sales.tables(), {"kinds": sales.distinct()})
    >>> session.step({"sales": ZSet({("fig", True): 2, (None, False): 1})})
    >>> session.step({"sales": ZSet({("fig", True): -1, (None, False): -1})})
    >>> session.read("kinds")
    ZSet({('fig', True): 1})
    """

    name = "sqlite"
    tolerance = 1e-9  # a sum of doubles is rounded at every step

    def __init__(self) -> None:
        self.capabilities = capabilities_in("sqlite")
        self.databases: Pool[SqliteDatabase] = Pool()

    def describe(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    def refuses(self, query: Query) -> str | None:
        """Why this query has no SQL here; None when it has."""
        return refusal(query, "sqlite")

    def open(
        self, tables: Mapping[str, Schema], views: Mapping[str, Query]
    ) -> RecomputeSession[SqliteDatabase]:
        """Raises SchemaError for a query that SQLite has no words for."""
        kind = (*tables.items(), *views.items())
        database = self.databases.take(kind, lambda: SqliteDatabase(tables, views))
        return RecomputeSession(
            database, tables, database.views, lambda used: self.databases.give(kind, used)
        )


class SqliteDatabase:
    """A database in memory for these tables, and the SELECT of each view."""

    def __init__(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> None:
        self.selects = {name: to_sql(query, "sqlite") for name, query in views.items()}
        self.views = {name: Rows(query.schema, reader) for name, query in views.items()}
        self.tables = {name: Statements(name, schema) for name, schema in tables.items()}
        self.connection = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=256, check_same_thread=False
        )
        with errors_of("create"):
            for table in self.tables.values():
                self.connection.execute(table.create)

    def __del__(self) -> None:
        if connection := getattr(self, "connection", None):
            connection.close()

    def clear(self) -> None:
        with errors_of("clear"):
            for table in self.tables.values():
                self.connection.execute(table.clear)

    def write(self, changes: Sequence[Change]) -> None:
        with errors_of("write"), transaction(self.connection):
            for change in changes:
                table = self.tables[change.table]
                if change.deletes:
                    deletes = [(number,) for number in change.deletes]
                    self.connection.executemany(table.delete, deletes)
                if change.inserts:
                    self.connection.executemany(table.insert, map(table.written, change.inserts))

    def answer(self, view: str) -> Iterable[Row]:
        with errors_of(f"view {view}"):
            return self.connection.execute(self.selects[view]).fetchall()


class Statements:
    """What is said to SQLite about one table; rows are numbered by their rowid."""

    def __init__(self, name: str, schema: Schema) -> None:
        for kind in schema.types:
            sql_type(kind, "sqlite")  # raises SchemaError for a type that SQLite cannot hold
        table, columns = quoted(name), [quoted(column) for column in schema.names]
        number = rowid_name(schema)
        places = ", ".join("?" for _ in (number, *columns))
        self.create = f"CREATE TABLE {table} ({', '.join(columns)})"  # no types: converts nothing
        self.clear = f"DELETE FROM {table}"
        self.delete = f"DELETE FROM {table} WHERE {number} = ?"
        self.insert = f"INSERT INTO {table} ({', '.join((number, *columns))}) VALUES ({places})"
        self.as_text = [
            (place, kind.to_json)
            for place, kind in enumerate(schema.types, 1)
            if kind in (DATE, TIMESTAMP)
        ]

    def written(self, numbered: tuple[int, Row]) -> list[Value]:
        """The parameters that insert this row under its number."""
        number, row = numbered
        values = [number, *row]
        for place, text in self.as_text:
            values[place] = text(values[place])
        return values


def rowid_name(schema: Schema) -> str:
    """A name of the row's number that no column of the table hides."""
    taken = {name.lower() for name in schema.names}
    for name in ("rowid", "oid", "_rowid_"):
        if name not in taken:
            return name
    raise BackendError(f"sqlite: no name is left for the number of a row of ({schema})")


def quoted(name: str) -> str:
    """The name as an SQL identifier.

    >>> print(quoted('5" disk'))
    "5"" disk"
    """
    return '"' + name.replace('"', '""') + '"'


def reader(kind: Type) -> Reader | None:
    """How SQLite's answers are read as values of this type."""
    if kind == BOOLEAN:
        return read_boolean
    if kind == DOUBLE:
        return read_double
    if kind in (DATE, TIMESTAMP):
        return lambda value: read_text(kind, value)
    return None


def read_boolean(value: Any) -> Value:
    return value == 1 if type(value) is int and value in (0, 1) else value


def read_text(kind: Type, value: Any) -> Value:
    """The DATE or TIMESTAMP that is written as this text; other values stay what they are.

    >>> from deltaproof.reference.types import DATE
    >>> read_text(DATE, "2013-01-31"), read_text(DATE, "20130131"), read_text(DATE, 7)
    (datetime.date(2013, 1, 31), '20130131', 7)
    """
    try:
        read = kind.from_json(value)
    except RowError:
        return value
    return read if kind.to_json(read) == value else value


@contextmanager
def errors_of(what: str) -> Iterator[None]:
    """SQLite's own errors, and its refusal of integers beyond 64 bits, as BackendError."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        raise BackendError(f"sqlite: {what}: {error}") from error
