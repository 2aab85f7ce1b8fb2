"""Aggregate calls: which function of ours a call is, in any of the dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.parse.scalars import SUBQUERIES, Scalars
from deltaproof.reference.parse.tidy import conjunction, conjuncts
from deltaproof.reference.scalar import Expr, case
from deltaproof.reference.scalar_functions import Cast
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import BIGINT, DECIMAL, DOUBLE, Schema

SIMPLE: Mapping[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Variance: "variance_samp",
    exp.VariancePop: "variance_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.ArrayAgg: "array_agg",
}


EXACT = ("avg", "variance_samp", "variance_pop", "stddev_samp", "stddev_pop", "quantile")
BY = {exp.ArgMin: "arg_min", exp.ArgMax: "arg_max"}


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Grouping | exp.GroupingId):
        return False
    if isinstance(node, exp.Bracket):
        return is_first_of_all(node)
    return isinstance(node, exp.AggFunc | exp.WithinGroup) or (
        isinstance(node, exp.Filter) and is_aggregate(node.this)
    )


def is_first_of_all(node: exp.Expr) -> bool:
    """Whether it is (ARRAY_AGG(x ORDER BY y))[1], which is ARG_MIN."""
    inside = node.this.unnest()
    inside = inside.this if isinstance(inside, exp.Filter) else inside
    return isinstance(inside, exp.ArrayAgg) and isinstance(inside.this, exp.Order)


def aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregate calls of an expression, not those of its subqueries or window functions."""
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, SUBQUERIES):
            continue
        if isinstance(each, exp.Window):
            wraps = exp.Filter | exp.IgnoreNulls | exp.RespectNulls
            inner = each.this.this if isinstance(each.this, wraps) else each.this
            stack.extend(inner.iter_expressions())
            stack.extend(part for part in each.iter_expressions() if part is not each.this)
        elif is_aggregate(each):
            yield each
        else:
            stack.extend(reversed(list(each.iter_expressions())))


def aggregate_call(scalars: Scalars, node: exp.Expr) -> AggregateCall:
    """The call of our own. Raises SqlError for aggregates that are not known here."""
    block = scalars.block
    where = None
    if isinstance(node, exp.Bracket):
        return first_of_all(scalars, node)
    if isinstance(node, exp.Filter):
        where = scalars.boolean(node.expression.this)
        node = node.this
    call = call_of(scalars, node)
    if call.function == "array_agg" and call.argument is not None:
        where = without_nulls(scalars, node, call.argument, where)
    call = replace(call, where=where)
    try:
        Aggregate((), (("a", call),)).output(block.query.schema)
    except SchemaError as error:
        raise block.refusal(node, str(error)) from None
    return call


def call_of(scalars: Scalars, node: exp.Expr) -> AggregateCall:
    block = scalars.block
    argument, distinct = node.this, False
    if isinstance(argument, exp.Distinct):
        if len(argument.expressions) != 1:
            raise block.refusal(node, "DISTINCT of several columns", "count a SELECT DISTINCT")
        argument, distinct = argument.expressions[0], True
    if isinstance(node, exp.Count):
        if isinstance(argument, exp.Star) or argument is None:
            return AggregateCall("count_star")
        if node.expressions:
            raise block.refusal(node, "COUNT of one expression, or COUNT(*)")
        value = scalars.read(argument)
        if isinstance(value, Literal) and value.value is not None and not distinct:
            return AggregateCall("count_star")
        return AggregateCall("count", value, distinct)
    if isinstance(node, exp.CountIf):
        condition = scalars.boolean(argument)
        if block.context.text.dialect == "duckdb":  # where it is a SUM, and NULL over NULLs alone
            return AggregateCall("sum", case((condition, 1), (~condition, 0)))
        return AggregateCall("count", case((condition, True)))
    if isinstance(node, exp.WithinGroup):
        return within_group(scalars, node)
    if isinstance(node, exp.Median):
        return AggregateCall(
            "quantile", exactly("quantile", scalars, argument), fraction=Decimal("0.5")
        )
    if isinstance(node, exp.Quantile):
        return quantile(scalars, argument, node.args["quantile"])
    if isinstance(node, exp.PercentileCont) and node.expression is not None:
        return quantile(scalars, argument, node.expression)
    for by_kind, function in BY.items():
        if isinstance(node, by_kind):
            by = scalars.read(node.expression)
            return AggregateCall(function, scalars.read(argument), by=by)
    for kind, function in SIMPLE.items():
        if type(node) is kind:
            if node.expressions:
                name = type(node).__name__.upper()
                raise block.refusal(
                    node, f"{name} is of one value", "write GREATEST or LEAST of several"
                )
            argument = unordered(scalars, node, argument)
            return AggregateCall(function, exactly(function, scalars, argument), distinct)
    raise block.refusal(
        node,
        f"no aggregate {node.sql_name()} here"
        if isinstance(node, exp.Func)
        else "no such aggregate",
    )


def unordered(scalars: Scalars, node: exp.Expr, argument: exp.Expr) -> exp.Expr:
    """The argument of ARRAY_AGG (x ORDER BY x), which is the order that it has here."""
    if not isinstance(argument, exp.Order):
        return argument
    terms = argument.expressions
    value: exp.Expr = argument.this
    if len(terms) != 1 or terms[0].this != value or terms[0].args.get("desc"):
        raise scalars.block.refusal(
            node, "an ARRAY_AGG is in the order of its values", "write ARRAY_AGG(x ORDER BY x)"
        )
    return value


def without_nulls(
    scalars: Scalars, node: exp.Expr, argument: Expr, where: Expr | None
) -> Expr | None:
    """The FILTER of ARRAY_AGG, which leaves out NULLs here: elsewhere it must say so."""
    parts = [] if where is None else conjuncts(where)
    others = [each for each in parts if each != argument.is_not_null()]
    spark = scalars.block.context.text.dialect == "spark"
    if len(others) == len(parts) and argument.nullable_in(scalars.block.schema) and not spark:
        raise scalars.block.refusal(
            node, "ARRAY_AGG leaves out NULLs here", "add FILTER (WHERE x IS NOT NULL)"
        )
    return conjunction(others)


def first_of_all(scalars: Scalars, node: exp.Bracket) -> AggregateCall:
    """(ARRAY_AGG(x ORDER BY y, x) FILTER (WHERE x IS NOT NULL AND y IS NOT NULL))[1] as ARG_MIN."""
    inside, where = node.this.unnest(), None
    if isinstance(inside, exp.Filter):
        where = scalars.boolean(inside.expression.this)
        inside = inside.this
    argument, terms = scalars.read(inside.this.this), inside.this.expressions
    values = [scalars.read(term.this) for term in terms]
    directions = {bool(term.args.get("desc")) for term in terms}
    if values[1:] != [argument] or len(directions) > 1 or node.expressions[0].name != "0":
        raise scalars.block.refusal(
            node, "the first of an ARRAY_AGG is (ARRAY_AGG(x ORDER BY y, x))[1], x and y not NULL"
        )
    parts = [] if where is None else conjuncts(where)
    given = [each.is_not_null() for each in (argument, values[0])]
    schema = scalars.block.schema
    if any(
        e not in parts and v.nullable_in(schema)
        for e, v in zip(given, (argument, values[0]), strict=True)
    ):
        raise scalars.block.refusal(
            node, "NULLs are left out here", "add FILTER (WHERE x IS NOT NULL AND y IS NOT NULL)"
        )
    rest = conjunction(each for each in parts if each not in given)
    return AggregateCall(
        "arg_max" if True in directions else "arg_min", argument, where=rest, by=values[0]
    )


def exactly(function: str, scalars: Scalars, argument: exp.Expr) -> Expr:
    """The argument; AVG and its kin of BIGINT and DECIMAL are exact without a cast to DOUBLE."""
    value = scalars.read(argument)
    if function in EXACT and isinstance(value, Cast) and value.kind == DOUBLE:
        kind = scalars.type_of(value.operand)
        if kind == BIGINT or isinstance(kind, DECIMAL):
            return value.operand
    return value


def within_group(scalars: Scalars, node: exp.WithinGroup) -> AggregateCall:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."""
    if not isinstance(node.this, exp.PercentileCont):
        raise scalars.block.refusal(node, "of the ordered-set aggregates there is PERCENTILE_CONT")
    (term,) = node.expression.expressions
    return quantile(scalars, term.this, node.this.this, reverse=bool(term.args.get("desc")))


def quantile(
    scalars: Scalars, argument: exp.Expr, fraction: exp.Expr, reverse: bool = False
) -> AggregateCall:
    value = scalars.read(fraction)
    if not isinstance(value, Literal) or value.value is None:
        raise scalars.block.refusal(fraction, "the fraction must be a constant")
    exact = Decimal(str(value.value))
    return AggregateCall(
        "quantile", exactly("quantile", scalars, argument), fraction=1 - exact if reverse else exact
    )


def empty_values(calls: Sequence[tuple[str, AggregateCall]], rows: Schema) -> dict[str, Expr]:
    """What each aggregate is over no rows: 0 or NULL."""
    schema = Aggregate((), tuple(calls)).output(rows)
    return {
        name: Literal(schema.column(name).type, 0 if call.function.startswith("count") else None)
        for name, call in calls
    }
