"""Prints a query as SQL that means what the query means, in the words of several engines.

Every operator becomes one SELECT, written once even when it is used twice:

    >>> from deltaproof.reference.query import count, table
    >>> from deltaproof.reference.scalar import col
    >>> flights = table("flights", "carrier VARCHAR, delay BIGINT")
    >>> late = flights.filter(col("delay") > 15).group_by("carrier").aggregate(n=count())
    >>> print(to_sql(late, "sqlite", pretty=True))
    WITH "_q1" AS (
      SELECT
        "carrier",
        "delay"
      FROM "flights"
      WHERE
        "delay" > 15
    )
    SELECT
      "carrier",
      COUNT(*) AS "n"
    FROM "_q1"
    GROUP BY
      "carrier"

Trees are built and printed by sqlglot; no text is pasted. Statements are printed by
`sql_select`, aggregate and window functions by `sql_aggregate`, expressions by `sql_scalar` and
`sql_calls`.
"""

from __future__ import annotations

from sqlglot import exp

from deltaproof.reference.parse.tables import parse_tables
from deltaproof.reference.parse.views import parse, parse_views
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.scalar_tree import Expr
from deltaproof.reference.sql_scalar import (
    DIALECTS,
    SQLITE_TYPES,
    ScalarPrinter,
    identifier,
    known,
    sql_type,
)
from deltaproof.reference.sql_select import StatementPrinter, Tables, with_steps
from deltaproof.reference.types import Column, Schema

__all__ = [
    "DIALECTS",
    "SQLITE_TYPES",
    "Tables",
    "create_table",
    "expression_sql",
    "parse",
    "parse_tables",
    "parse_views",
    "sql_type",
    "to_sql",
    "to_tree",
]


def to_sql(
    query: Query, dialect: str, table_source: Tables | None = None, *, pretty: bool = False
) -> str:
    """The query as one SELECT statement.

    `table_source` says for a table's name which query to read in its place, such as a part of
    the table that is chosen by a row outside.

    Raises SchemaError for what the dialect cannot say, UsageError for an unknown dialect.
    """
    tree = to_tree(query, dialect, table_source)
    return tree.sql(dialect=DIALECTS[dialect], pretty=pretty)


def to_tree(query: Query, dialect: str, table_source: Tables | None = None) -> exp.Query:
    """The query as a sqlglot tree, for those who build a larger statement around it."""
    printer = StatementPrinter(known(dialect), query.tables(), table_source or {})
    steps = [node for node in query.nodes() if isinstance(node, Apply) and node != query]
    named = [(printer.name(node), printer.statement(node)) for node in steps]
    return with_steps(printer.statement(query), named)


def create_table(name: str, schema: Schema, dialect: str) -> str:
    """The statement that creates a table of this schema.

    >>> create_table("t", Schema.parse("k BIGINT NOT NULL, d DATE"), "sqlite")
    'CREATE TABLE "t" ("k" INTEGER NOT NULL, "d" TEXT)'
    """
    columns = [_column_definition(column, dialect) for column in schema.columns]
    table = exp.Schema(this=exp.Table(this=identifier(name)), expressions=columns)
    return exp.Create(this=table, kind="TABLE").sql(dialect=DIALECTS[known(dialect)])


def _column_definition(column: Column, dialect: str) -> exp.ColumnDef:
    not_null = exp.ColumnConstraint(kind=exp.NotNullColumnConstraint())
    return exp.ColumnDef(
        this=identifier(column.name),
        kind=sql_type(column.type, dialect),
        constraints=[] if column.nullable else [not_null],
    )


def expression_sql(expression: Expr, schema: Schema, dialect: str) -> str:
    """A scalar expression over the columns of one table.

    >>> from deltaproof.reference.scalar import cast, col
    >>> from deltaproof.reference.types import BIGINT
    >>> v = Schema.parse("v DOUBLE")
    >>> expression_sql(cast(col("v"), BIGINT) / 2, v, "duckdb")
    'CAST(CAST(TRUNC("v") AS BIGINT) AS DOUBLE) / CAST(2 AS DOUBLE)'
    """
    expression.type_in(schema)
    return ScalarPrinter(known(dialect), schema)(expression).sql(dialect=DIALECTS[dialect])
