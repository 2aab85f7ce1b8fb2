"""WITH RECURSIVE: tables that read themselves, or each other, are a least fixpoint.

A table's first SELECT, which reads none of the others, gives the columns; then the whole UNION is
read with every recursive table as a base table of these columns, all nullable. The fixpoint is of
sets, so UNION ALL is refused in it: it would keep each row once per way to derive it, which has
no meaning that can be maintained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.parse.scope import Context, Environment, projected
from deltaproof.reference.query import Query, Table, recursion
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Schema


def recursive_tables(context: Context, clause: exp.Expr, known: dict[str, Query]) -> Environment:
    """The environment with the tables of WITH RECURSIVE, in the order of the text."""
    tables: Sequence[exp.CTE] = clause.expressions
    names = [table.alias.lower() for table in tables]
    reads = [table_names(table.this) & set(names) for table in tables]
    place = 0
    while place < len(tables):
        end = group_end(names, reads, place)
        group = tables[place:end]
        if any(reads[n] & set(names[place:end]) for n in range(place, end)):
            define(context, group, known)
        else:
            (table,) = group
            answer = context.read_query(context, table.this, known)
            known[table.alias.lower()] = renamed(context, table, answer.query)
        place = end
    return known


def group_end(names: Sequence[str], reads: Sequence[set[str]], place: int) -> int:
    """Behind the last table that those from here on read, before any of them is complete."""
    last = each = place
    while each <= last:
        last = max([last, *(names.index(name) for name in reads[each])])
        each += 1
    return last + 1


def table_names(node: exp.Expr) -> set[str]:
    """The names of the tables that a query reads, in lower case."""
    return {table.name.lower() for table in node.find_all(exp.Table)}


def renamed(context: Context, table: exp.CTE, query: Query) -> Query:
    """The table under the names that WITH gives its columns."""
    given = [each.name for each in table.args["alias"].columns]
    if len(given) > len(query.schema):
        raise context.refusal(table, f"{len(given)} names for {len(query.schema)} columns")
    names = [*given, *query.schema.names[len(given) :]]
    columns = zip(names, map(col, query.schema.names), strict=True)
    return context.tidied(projected(query, columns))


def define(context: Context, group: Sequence[exp.CTE], known: dict[str, Query]) -> None:
    """Adds tables that read themselves or each other."""
    own = {table.alias.lower() for table in group}
    relations: dict[str, Table] = {}
    for table in group:
        base = first_part(context, table, own)
        schema = renamed(context, table, context.read_query(context, base, known).query).schema
        columns = tuple(replace(column, nullable=True) for column in schema.columns)
        name = unused(table.alias, context, known)
        relations[table.alias.lower()] = Table(name, Schema(columns))
    inside = {**known, **relations}
    bodies = {
        relations[table.alias.lower()].name: renamed(context, table, body(context, table, inside))
        for table in group
    }
    for table in group:
        relation = relations[table.alias.lower()]
        try:
            known[table.alias.lower()] = context.tidied(recursion(relation.name, bodies))
        except SchemaError as error:
            raise context.refusal(table, str(error)) from None


def unused(name: str, context: Context, known: Environment) -> str:
    """A name for the relation that no base table has."""
    taken = {table.lower() for table in context.tables}
    number, chosen = 1, name
    while chosen.lower() in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen


def first_part(context: Context, table: exp.CTE, own: set[str]) -> exp.Expr:
    """The SELECT that a recursive table begins with, which reads none of the others."""
    node: exp.Expr = table.this
    while isinstance(node, exp.Union | exp.Subquery):
        node = node.this
    if node is table.this or table_names(node) & own:
        raise context.refusal(
            table, f"{table.alias} reads itself", "begin with a SELECT that does not, then UNION"
        )
    return node


def body(context: Context, table: exp.CTE, inside: Environment) -> Query:
    """All parts of the UNION, added up: the fixpoint takes them as a set."""
    parts = []
    stack = [table.this]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Union):
            stack.append(node.this)
        elif isinstance(node, exp.Union):
            if not node.args.get("distinct"):
                raise context.refusal(
                    node.expression,
                    "UNION ALL in a recursion keeps a row once per way to derive it",
                    "write UNION",
                )
            if node.args.get("limit") or node.args.get("with_"):
                raise context.refusal(node, "LIMIT or WITH inside a recursion", "put it outside")
            stack += [node.expression, node.this]
        else:
            parts.append(context.read_query(context, node, inside))
    if len({len(part.names) for part in parts}) > 1:
        raise context.refusal(table, "all parts of a UNION need as many columns")
    try:
        return context.united(parts)
    except SchemaError as error:
        raise context.refusal(table, f"UNION: {error}") from None
