"""From a text to queries: one SELECT, or views that read each other."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.parse.scope import Context
from deltaproof.reference.parse.statement import named, read_query, united
from deltaproof.reference.parse.text import Text
from deltaproof.reference.parse.understood import first_not_understood
from deltaproof.reference.query import Query, Table
from deltaproof.reference.types import Schema


def parse(text: str, tables: Mapping[str, Schema], dialect: str = "ansi") -> Query:
    """The query that an SQL text means, over these tables.

    The text is one SELECT, before which there may be views that it reads: CREATE VIEW … AS …;

    >>> flights = {"flights": Schema.parse("carrier VARCHAR, delay BIGINT")}
    >>> late = "SELECT carrier, COUNT(*) AS n FROM flights WHERE delay > 15 GROUP BY carrier"
    >>> print(parse(late, flights))
    aggregate COUNT(*) AS n BY carrier
    └─ filter delay > 15
       └─ flights

    `dialect` is ansi, spark, duckdb, postgres or sqlite: the words, and what depends on them, such
    as where NULLs are in an order. ORDER BY without LIMIT is passed over, as a view has no order.

    Raises SqlError with line and column for what is broken, ambiguous, unknown or not supported.
    """
    _, queries = statements(text, tables, dialect)
    if len(queries) != 1:
        raise Text(text, dialect).refusal(None, f"expected one SELECT, got {len(queries)}")
    return queries[0]


def parse_views(text: str, tables: Mapping[str, Schema], dialect: str = "ansi") -> dict[str, Query]:
    """The views of a text: CREATE VIEW a AS …; CREATE VIEW b AS SELECT … FROM a; in order.

    >>> views = parse_views(
    ...     "CREATE VIEW a AS SELECT DISTINCT k FROM t;"
    ...     "CREATE VIEW b AS SELECT COUNT(*) AS n FROM a",
    ...     {"t": Schema.parse("k BIGINT")},
    ... )
    >>> print(views["b"])
    aggregate COUNT(*) AS n
    └─ distinct
       └─ t
    """
    views, queries = statements(text, tables, dialect)
    if queries or not views:
        raise Text(text, dialect).refusal(None, "expected CREATE VIEW … AS SELECT … and no SELECT")
    return views


def statements(
    text: str, tables: Mapping[str, Schema], dialect: str
) -> tuple[dict[str, Query], list[Query]]:
    """The views and the other queries of a text."""
    source = Text(text, dialect)
    base: dict[str, Query] = {name: Table(name, schema) for name, schema in tables.items()}
    known = {name.lower(): query for name, query in base.items()}
    context = Context(source, read_query, united, base)
    views: dict[str, Query] = {}
    queries: list[Query] = []
    try:
        for node in source.statements():
            if not is_query_or_view(node):
                raise context.refusal(node, f"{node.key.upper()} is no query", "write SELECT …")
            if odd := first_not_understood(node):
                words = odd[1].strip("_").replace("_", " ").upper()
                raise context.refusal(odd[0], f"{odd[0].key.upper()} with {words} is not supported")
            if isinstance(node, exp.Create) and node.kind == "VIEW":
                name, query = view(context, node, known)
                views[name] = known[name.lower()] = query
            elif isinstance(node, exp.Drop) and node.kind == "VIEW":
                continue
            else:
                queries.append(context.tidied(read_query(context, node, known).query))
    except RecursionError:
        raise source.too_deep() from None
    except SchemaError as error:
        raise source.refusal(None, str(error)) from None
    return views, queries


def view(context: Context, node: exp.Create, known: Mapping[str, Query]) -> tuple[str, Query]:
    """CREATE VIEW name (columns) AS query."""
    target = node.this
    given = [each.name for each in target.expressions] if isinstance(target, exp.Schema) else []
    table = target.this if isinstance(target, exp.Schema) else target
    if node.expression is None:
        raise context.refusal(node, "CREATE VIEW needs AS SELECT …")
    answer = read_query(context, node.expression, known)
    return table.name, named(context, node, answer, given)


def is_query_or_view(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query) or (
        isinstance(node, exp.Create | exp.Drop) and node.kind == "VIEW"
    )
