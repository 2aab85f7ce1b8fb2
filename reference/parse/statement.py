"""Any query: a SELECT, a set operation, or either of them after WITH."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.parse import subquery
from deltaproof.reference.parse.recursive import recursive_tables
from deltaproof.reference.parse.scalars import Scalars
from deltaproof.reference.parse.scope import (
    Block,
    Context,
    Environment,
    Field,
    NeedsDomain,
    Outer,
    Source,
    projected,
)
from deltaproof.reference.parse.select import Answer, SelectReader, limit_of, order_term
from deltaproof.reference.parse.types import converted, together
from deltaproof.reference.query import Apply, Query, apply
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.types import Column, Schema


def read_query(
    context: Context,
    node: exp.Expr,
    environment: Environment,
    outer: Outer | None = None,
    role: str = "table",
) -> Answer:
    """Any query. The role is "table", "scalar", "rows" (of IN) or "exists" (columns unread)."""
    environment = with_tables(context, node, environment, outer)
    if isinstance(node, exp.Subquery):
        if any(node.args.get(part) for part in ("order", "limit", "offset")):
            inner = read_query(context, node.this, environment, outer)
            return limited(Block(context, environment, outer), inner, node)
        return read_query(context, node.this, environment, outer, role)
    if isinstance(node, exp.SetOperation):
        answer = set_operation(context, node, environment, outer)
        return limited(Block(context, environment, outer), answer, node)
    if isinstance(node, exp.Select):
        return SelectReader(context, node, environment, outer, role).read()
    raise context.refusal(node, f"{node.key.upper()} is no query", "write SELECT …")


def with_tables(
    context: Context, node: exp.Expr, environment: Environment, outer: Outer | None
) -> Environment:
    """The environment with the tables of WITH, which do not read the query around."""
    clause = node.args.get("with_")
    if clause is None:
        return environment
    known = dict(environment)
    names = [table.alias.lower() for table in clause.expressions]
    if twice := [t for place, t in enumerate(clause.expressions) if names[place] in names[:place]]:
        raise context.refusal(twice[0], f"two tables of WITH are called {twice[0].alias!r}")
    if clause.args.get("recursive"):
        return recursive_tables(context, clause, known)
    for table in clause.expressions:
        alone = None if outer is None else Outer(outer.block, may_pull=False)
        try:
            answer = read_query(context, table.this, known, alone)
        except NeedsDomain as need:
            if need.outer is not alone:
                raise
            raise context.refusal(
                table, f"{table.alias} of WITH reads the query around", "write it as a subquery"
            ) from None
        given = [each.name for each in table.args["alias"].columns]
        known[table.alias.lower()] = named(context, table, answer, given)
    return known


def named(context: Context, node: exp.Expr, answer: Answer, given: Sequence[str]) -> Query:
    """The answer as a table, its columns under the names given."""
    if len(given) > len(answer.names):
        raise context.refusal(node, f"{len(given)} names for {len(answer.names)} columns")
    names = [*given, *answer.query.schema.names[len(given) :]]
    values = [col(name) for name in answer.query.schema.names]
    return context.tidied(projected(answer.query, zip(names, values, strict=True)))


# --- SELECT ---


# --- set operations ---


def set_operation(
    context: Context, node: exp.SetOperation, environment: Environment, outer: Outer | None
) -> Answer:
    """UNION, INTERSECT, EXCEPT, with or without ALL; columns by position, named by the first."""
    if node.args.get("by_name") or node.args.get("side") or node.args.get("kind"):
        raise context.refusal(node, "UNION BY NAME", "name the columns in one order")
    if outer is not None:
        outer.may_pull = False  # what one side pulls says nothing of the other's rows
    left = read_query(context, node.left, environment, outer)
    right = read_query(context, node.right, environment, outer)
    if len(left.names) != len(right.names):
        raise context.refusal(
            node, f"{node.key.upper()} of {len(left.names)} and {len(right.names)} columns"
        )
    try:
        first, second = of_one_type(left, right)
    except SchemaError as error:
        raise context.refusal(node, f"{node.key.upper()}: {error}") from None
    everything = not node.args.get("distinct")
    if isinstance(node, exp.Union) and everything:
        plan = first.union_all(second)
    else:
        kind = node.key.lower() + ("_all" if everything else "")
        plan = apply(SetOperation(kind), first, second)
    return replace(left, query=plan, at_most_one=False, exactly_one=False, empty=None)


def united(answers: Sequence[Answer]) -> Query:
    """UNION ALL of answers with as many columns each. Raises SchemaError for their types."""
    total = answers[0]
    for each in answers[1:]:
        first, second = of_one_type(total, each)
        total = replace(total, query=first.union_all(second))
    return total.query


def of_one_type(left: Answer, right: Answer) -> tuple[Query, Query]:
    """Both plans with columns of the same types, carried ones included."""
    seen: tuple[list[Expr], list[Expr]] = ([], [])
    for a, b in zip(left.columns, right.columns, strict=True):
        kinds = left.query.schema.column(a).type, right.query.schema.column(b).type
        pair = Schema((Column("left", kinds[0]), Column("right", kinds[1])))
        sides = constant_column(left.query, a), constant_column(right.query, b)
        target = kinds[0]
        if kinds[0] != kinds[1]:
            given = [
                col(name) if constant is None else constant
                for constant, name in zip(sides, ("left", "right"), strict=True)
            ]
            target = together(given, pair)[0].type_in(pair)
        for place, (side, name) in enumerate(((left, a), (right, b))):
            constant = sides[place]
            value = col(name) if constant is None or kinds[place] == target else constant
            seen[place].append(converted(value, target, side.query.schema))
    plans = []
    for side, values in zip((left, right), seen, strict=True):
        carried = [each.column for each in side.carried]
        columns = [*zip(side.columns, values, strict=True), *((n, col(n)) for n in carried)]
        plans.append(projected(side.query, columns))
    return plans[0], plans[1]


def constant_column(plan: Query, name: str) -> Literal | None:
    """The literal that a column of a SELECT is, which takes the other side's type."""
    if isinstance(plan, Apply) and isinstance(plan.operator, Map):
        value = dict(plan.operator.columns)[name]
        return value if isinstance(value, Literal) else None
    return None


def limited(block: Block, answer: Answer, node: exp.Expr) -> Answer:
    """ORDER BY and LIMIT after a set operation, over its columns by name or position."""
    if not (node.args.get("limit") or node.args.get("offset")):
        return answer
    scalars = Scalars(block, subquery.value)
    block.query = answer.query
    block.scope.add(Source("", tuple(map(Field, answer.names, answer.columns))))
    clause = node.args.get("order")
    order = []
    for term in [] if clause is None else clause.expressions:
        place = block.place(term.this, "ORDER BY", len(answer.columns))
        value = scalars.read(term.this) if place is None else col(answer.columns[place])
        order.append(order_term(term, value))
    limit, offset = limit_of(scalars, node)
    partition = tuple(each.column for each in answer.carried)
    plan = apply(TopK(partition, tuple(order), limit, offset), answer.query)
    return replace(answer, query=plan, at_most_one=limit <= 1, exactly_one=False, empty=None)
