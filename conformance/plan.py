"""`deltaproof explain`: a view's query, its incremental circuit, and why each node may do so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from deltaproof.reference.errors import BackendMissing, SchemaError, UsageError
from deltaproof.reference.plan import plan_of
from deltaproof.reference.planner import Rewrite, plan_views
from deltaproof.reference.query import Query
from deltaproof.reference.sql import DIALECTS, parse, parse_tables, to_sql
from deltaproof.reference.types import Schema

WIDE = 10_000  # columns of what is no terminal


def view_of(text: str, tables: Sequence[str], schema_file: Path | None, dialect: str) -> Query:
    """The view that a SELECT says, over tables that are declared beside it.

    Raises SqlError for SQL that is not supported, UsageError for a declaration that is broken.

    >>> print(view_of("SELECT k FROM t WHERE v > 3", ["t(k BIGINT, v BIGINT)"], None, "ansi"))
    map k
    └─ filter v > 3
       └─ t
    """
    declared: dict[str, Schema] = {}
    for name, schema in map(declared_table, tables):
        if name.lower() in map(str.lower, declared):
            raise UsageError(f"--table {name}: two tables are called that: rename one")
        declared[name] = schema
    if schema_file is not None:
        try:
            declared |= parse_tables(schema_file.read_text(encoding="utf-8"), dialect)
        except UnicodeDecodeError as error:
            raise UsageError(f"{schema_file} is no UTF-8 text: {error}") from None
    if not declared:
        raise UsageError("no tables: declare them with --table 'sales(fruit VARCHAR)' or --schema")
    return parse(sys.stdin.read() if text == "-" else text, declared, dialect)


def declared_table(words: str) -> tuple[str, Schema]:
    """The name and schema of "sales(fruit VARCHAR, kg BIGINT)". Raises UsageError.

    >>> name, schema = declared_table("sales(fruit VARCHAR, price DECIMAL(10, 2))")
    >>> print(name, "|", schema)
    sales | fruit VARCHAR, price DECIMAL(10,2)
    """
    name, opened, rest = words.strip().partition("(")
    if not opened or not rest.endswith(")") or not name.strip():
        raise UsageError(f"--table {words!r}: expected NAME(COLUMN TYPE, …)")
    try:
        return name.strip(), Schema.parse(rest[:-1])
    except SchemaError as error:
        raise UsageError(f"--table {words!r}: {error}") from None


def plan_lines(query: Query) -> Iterator[str]:
    """The query as it was written, and the circuit that keeps it."""
    circuit, rewrites = circuit_of(query)
    yield from ["query", *(f"  {line}" for line in str(query).splitlines()), ""]
    yield f"rows  {query.schema}"
    plan = plan_of(circuit)
    lines = list(plan.lines())
    if max(map(len, lines)) + 2 > get_terminal_size((WIDE, 24)).columns:
        lines = list(plan.narrow_lines())
    yield from ["", "circuit", *(f"  {line}" for line in lines)]
    for number, rewrite in enumerate(rewrites):
        yield from [] if number else ["", "rewritten"]
        yield f"  {rewrite}"


def circuit_of(query: Query) -> tuple[Query, tuple[Rewrite, ...]]:
    """The query as the runtime runs it, and what was rewritten on the way."""
    plan = plan_views({"view": query})
    return plan.views["view"], plan.rewrites


def plan_json(query: Query) -> dict[str, Any]:
    return {
        "query": query.to_json(),
        "tables": {name: schema.to_json() for name, schema in query.tables().items()},
        "schema": str(query.schema),
        "circuit": plan_of(circuit_of(query)[0]).to_json(),
        "sql": sql_by_dialect(query),
    }


def sql_by_dialect(query: Query) -> Mapping[str, str]:
    """The query in every dialect that can say it; for the others, why not."""
    said = {}
    for dialect in DIALECTS:
        try:
            said[dialect] = to_sql(query, dialect, pretty=True)
        except SchemaError as error:
            said[dialect] = f"-- not in this dialect: {error}"
    return said


def draw(query: Query, file: Path) -> None:
    """Writes the circuit as an SVG picture. Raises BackendMissing without the drawing library."""
    try:
        import pygraphviz
    except ImportError:
        raise BackendMissing(
            "--svg needs Graphviz's layout: pip install 'deltaproof[draw]'"
        ) from None
    graph = pygraphviz.AGraph(string=plan_of(circuit_of(query)[0]).to_dot())
    file.write_bytes(graph.draw(format="svg", prog="dot"))


def plan_text(query: Query, as_json: bool) -> Iterator[str]:
    """What the command prints."""
    if as_json:
        yield json.dumps(plan_json(query), indent=1)
    else:
        yield from plan_lines(query)
