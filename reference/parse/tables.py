"""CREATE TABLE becomes a schema: names, types and NOT NULL; other constraints say nothing here."""

from __future__ import annotations

from sqlglot import exp

from deltaproof.reference.parse.casts import type_of
from deltaproof.reference.parse.text import Text
from deltaproof.reference.types import Column, Schema


def parse_tables(text: str, dialect: str = "ansi") -> dict[str, Schema]:
    """The tables that a text of CREATE TABLE statements declares, in its order.

    A PRIMARY KEY is NOT NULL, and otherwise, like every other constraint, no part of a schema.

    >>> tables = parse_tables("CREATE TABLE sales (fruit VARCHAR(20) PRIMARY KEY, kg BIGINT)")
    >>> print(tables["sales"])
    fruit VARCHAR NOT NULL, kg BIGINT

    Raises SqlError with line and column for what is broken or not supported.
    """
    source = Text(text, dialect)
    tables: dict[str, Schema] = {}
    for node in source.statements():
        if not isinstance(node, exp.Create) or not isinstance(node.this, exp.Schema):
            raise source.refusal(node, "expected CREATE TABLE name (column type, …)")
        columns = [each for each in node.this.expressions if isinstance(each, exp.ColumnDef)]
        keys = key_names(node.this)
        tables[node.this.this.name] = Schema(
            tuple(column_of(source, column, keys) for column in columns)
        )
    return tables


def column_of(source: Text, column: exp.ColumnDef, keys: frozenset[str]) -> Column:
    if column.kind is None:
        raise source.refusal(column, f"column {column.name} needs a type")
    required = (exp.NotNullColumnConstraint, exp.PrimaryKeyColumnConstraint)
    not_null = any(
        isinstance(each.kind, required) and not each.kind.args.get("allow_null")
        for each in column.constraints
    )
    nullable = not not_null and column.name.lower() not in keys
    return Column(column.name, type_of(source, column.kind), nullable)


def key_names(table: exp.Schema) -> frozenset[str]:
    """The columns of PRIMARY KEY (…), in lower case."""
    keys = [each for each in table.expressions if isinstance(each, exp.PrimaryKey)]
    return frozenset(column.name.lower() for key in keys for column in key.expressions)
