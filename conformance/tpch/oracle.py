"""What every query must show after a tick: DuckDB runs the benchmark's own text, from nothing.

No query of ours is involved: the tables are DuckDB's, a tick deletes rows by their keys and
inserts others, and the text of the query is read from its file. DuckDB takes neither DAY (3) nor
three statements at once, so the precision goes, and Q15's view stands under WITH. Two things are
added. Where LIMIT cuts rows that ORDER BY calls equal, any of them would be right: the order is
completed by the other columns, which is the order that deltaproof completes it by. And the
answer's columns are cast to the types of the view, which loses nothing that the judge would have
seen: a DECIMAL to one of the same scale, a count to BIGINT.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from deltaproof.conformance.adapters.duckdb import Engine, arrow_table, reader
from deltaproof.conformance.adapters.rows import Rows
from deltaproof.conformance.tpch.data import ArrowTable
from deltaproof.conformance.tpch.schema import KEYS, TABLES, query_text
from deltaproof.reference.errors import BackendError
from deltaproof.reference.sql import create_table, sql_type
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

INTERVAL_PRECISION = re.compile(r"\b(day)\s*\(\d+\)", re.IGNORECASE)


class Oracle:
    """The eight tables in DuckDB, and the text of every query.

    Raises   BackendError when DuckDB fails, or a row that is to be deleted is not there
    """

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self.engine = Engine()
        self.rows = {name: Rows(schema, reader) for name, schema in schemas.items()}
        self.texts = {name: typed(completed(query_text(name)), schemas[name]) for name in schemas}
        with self.engine.errors():
            self.engine.connection.execute("SET disabled_optimizers = ''")  # all of them
            for name, schema in TABLES.items():
                self.engine.connection.execute(create_table(name, schema, "duckdb"))

    def step(self, tick: Mapping[str, ZSet | ArrowTable]) -> None:
        """The changes of one tick; rows that come as Arrow are inserted."""
        with self.engine.transaction():
            for name, delta in tick.items():
                if not isinstance(delta, ZSet):
                    self.load(name, delta)
                    continue
                self.delete(name, [row for row, weight in delta.items() if weight < 0])
                self.insert(name, [row for row, weight in delta.items() if weight > 0])

    def delete(self, name: str, rows: list[tuple[object, ...]]) -> None:
        schema = TABLES[name]
        equal = [f"{key} = _c{schema.index(key)}" for key in KEYS[name]]
        before = self.count(name)
        self.run_over(rows, schema, f"DELETE FROM {name} USING _arrow WHERE {' AND '.join(equal)}")
        if (gone := before - self.count(name)) != len(rows):
            raise BackendError(f"{name}: {len(rows)} rows to delete, {gone} were there")

    def insert(self, name: str, rows: list[tuple[object, ...]]) -> None:
        columns = ", ".join(f"_c{place}" for place in range(len(TABLES[name])))
        self.run_over(rows, TABLES[name], f"INSERT INTO {name} SELECT {columns} FROM _arrow")

    def load(self, name: str, table: ArrowTable) -> None:
        connection = self.engine.connection
        connection.register("_arrow", table)
        connection.execute(f"INSERT INTO {name} SELECT * FROM _arrow")
        connection.unregister("_arrow")

    def run_over(self, rows: list[tuple[object, ...]], schema: Schema, statement: str) -> None:
        """Runs a statement that reads these rows as `_arrow`."""
        connection = self.engine.connection
        connection.register("_arrow", arrow_table(schema, range(len(rows)), rows))
        connection.execute(statement)
        connection.unregister("_arrow")

    def count(self, name: str) -> int:
        ((number,),) = self.engine.connection.execute(f"SELECT COUNT(*) FROM {name}").fetchall()
        return int(number)

    def contents(self, query: str) -> ZSet:
        return self.rows[query].zset((row, 1) for row in self.engine.rows(self.texts[query]))


def completed(text: str) -> exp.Query:
    """The query with the order that LIMIT cuts by completed by all its columns.

    >>> completed("SELECT a, b FROM t ORDER BY b DESC LIMIT 3").sql("duckdb")
    'SELECT a, b FROM t ORDER BY b DESC, 1, 2 LIMIT 3'
    """
    query = one_query(text)
    if query.args.get("limit") is None:
        return query
    places = [
        exp.Ordered(this=exp.Literal.number(place), nulls_first=False)
        for place in range(1, len(query.selects) + 1)
    ]
    return query.order_by(*places, copy=False)


def one_query(text: str) -> exp.Query:
    """The statements of a text as one query: a view that is created for it, under WITH.

    >>> one_query("CREATE VIEW v (n) AS SELECT 1; SELECT n FROM v; DROP VIEW v").sql("duckdb")
    'WITH v(n) AS (SELECT 1) SELECT n FROM v'
    """
    without_precision = INTERVAL_PRECISION.sub(r"\1", text)  # DuckDB does not take DAY (3)
    views = {}
    for statement in sqlglot.parse(without_precision, dialect="duckdb"):
        if isinstance(statement, exp.Create):
            views[statement.this] = statement.expression
        elif isinstance(statement, exp.Query):
            for name, select in views.items():
                table = name.this if isinstance(name, exp.Schema) else name
                columns = name.expressions if isinstance(name, exp.Schema) else []
                alias = exp.TableAlias(this=table.this, columns=columns)
                cte = exp.CTE(this=select, alias=alias)
                statement.set("with_", exp.With(expressions=[cte]))
            return statement
    raise BackendError(f"not a query: {text[:60]!r}")


def typed(query: exp.Query, schema: Schema) -> str:
    """The query, its columns named by place and cast to the types of the view."""
    names = [f"_c{place}" for place in range(len(schema))]
    alias = exp.TableAlias(this=exp.to_identifier("_view"), columns=map(exp.to_identifier, names))
    columns = [
        exp.cast(exp.column(name), sql_type(kind, "duckdb"))
        for name, kind in zip(names, schema.types, strict=True)
    ]
    inner = exp.Subquery(this=query, alias=alias)
    return exp.select(*columns).from_(inner).sql(dialect="duckdb")
