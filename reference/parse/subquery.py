"""Subqueries of every kind become joins; no operator has a query inside it.

    under AND of WHERE or HAVING            elsewhere (under OR, in CASE, in SELECT)
    EXISTS, IN, ANY     semi join           left join with a column that says whether
    NOT EXISTS, ALL     anti join           likewise
    NOT IN              anti join, for which NULL is a match
    scalar              left join; an inner join where a comparison would drop the padded row;
                        more than one row is an error at run time (SINGLE)

How a subquery is made one that can be joined is in `decorrelate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.parse.decorrelate import hangs_on, nested, renamed_apart
from deltaproof.reference.parse.joins import combined
from deltaproof.reference.parse.scalars import SYMBOLS, Scalars, is_quantified
from deltaproof.reference.parse.scope import (
    Block,
    projected,
    with_columns,
)
from deltaproof.reference.parse.tidy import filtered
from deltaproof.reference.parse.types import compared
from deltaproof.reference.query import Query, apply, count
from deltaproof.reference.scalar import Expr, case, coalesce, col, lit, null
from deltaproof.reference.scalar_tree import Comparison, Literal
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import BOOLEAN, Schema

if TYPE_CHECKING:
    from deltaproof.reference.parse.select import Answer


# --- reading a subquery ---


# --- conditions: a part of the AND of WHERE or HAVING ---


def condition(block: Block, scalars: Scalars, node: exp.Expr) -> None:
    """Keeps the rows of the plan for which the condition is TRUE."""
    bare, negated = node.unnest(), False
    while isinstance(bare, exp.Not):
        bare, negated = bare.this.unnest(), not negated
    if isinstance(bare, exp.Exists):
        exists(block, bare.this, negated)
    elif is_quantified(bare):
        quantified(block, scalars, bare, negated)
    elif not negated and isinstance(bare, exp.EQ) and equals_scalar(block, scalars, bare):
        return
    else:
        value = scalars.boolean(node)
        block.query = filtered(block.query, [value])


def equals_scalar(block: Block, scalars: Scalars, node: exp.EQ) -> bool:
    """value = (SELECT …) as one more key of the join with the subquery."""
    sides = [node.left, node.right]
    if isinstance(sides[0], exp.Subquery):
        sides.reverse()
    if not isinstance(sides[1], exp.Subquery) or isinstance(sides[0], exp.Subquery | exp.Tuple):
        return False
    left = scalars.read(sides[0])
    found = scalar_rows(block, sides[1])
    if found.filler is not None:
        return False
    schema = Schema((*block.query.schema.columns, *found.rows.schema.columns))
    try:
        pair = compared(left, col(found.column), schema)
    except SchemaError as error:
        raise block.refusal(node, str(error)) from None
    conditions = [*found.conditions, Comparison("=", *pair)]
    block.query = combined("inner", block.query, found.rows, conditions, block.fresh)
    return True


def exists(block: Block, node: exp.Expr, negated: bool) -> None:
    """[NOT] EXISTS as a semi or anti join."""
    answer = nested(block, node, "exists")
    if answer.exactly_one:
        block.query = filtered(block.query, [lit(False)]) if negated else block.query
        return
    right, renamed = renamed_apart(block, answer.query)
    conditions = hangs_on(answer, renamed)
    kind = "anti" if negated else "semi"
    block.query = combined(kind, block.query, right, conditions, block.fresh)


def quantified(block: Block, scalars: Scalars, node: exp.Expr, negated: bool) -> None:
    """IN, ANY and ALL as semi and anti joins, the comparison as their condition.

    x op ANY is TRUE when a row's comparison is TRUE; x op ALL when none is FALSE or NULL.
    """
    left, symbol, query, every = parts_of(scalars, node)
    answer = nested(block, query, "rows")
    right, renamed = renamed_apart(block, answer.query)
    matches = comparisons(block, node, left, symbol, answer, renamed, right)
    around = Schema((*block.query.schema.columns, *right.schema.columns))
    certain = not any(each.nullable_in(around) for each in matches)
    whole = all_of(matches)
    if every == negated:  # one row decides
        kind, test = "semi", [~whole] if every else matches
    elif every:
        kind, test = "anti", [~whole if certain else whole.is_distinct_from(True)]
    else:
        kind, test = "anti", matches if certain else [whole.is_distinct_from(False)]
    conditions = [*hangs_on(answer, renamed), *test]
    read = frozenset[str]().union(*(each.columns() for each in conditions))
    needed = [(name, col(name)) for name in right.schema.names if name in read]
    right = projected(right, needed) if needed else right
    block.query = combined(kind, block.query, right, conditions, block.fresh)


def parts_of(scalars: Scalars, node: exp.Expr) -> tuple[list[Expr], str, exp.Expr, bool]:
    """The left side, the comparison, the subquery, and whether every row must compare."""
    side = node.this
    if isinstance(node, exp.In):
        symbol, query, every = "=", node.args["query"], False
    else:
        symbol, quantifier = SYMBOLS.get(type(node), ""), node.expression
        query, every = quantifier.this, isinstance(quantifier, exp.All)
        if not symbol or not isinstance(query.unnest(), exp.Query):
            raise scalars.block.refusal(node, "ANY and ALL compare with a subquery")
    columns = side.expressions if isinstance(side, exp.Tuple) else [side]
    if len(columns) > 1 and symbol != "=":
        raise scalars.block.refusal(node, "rows are compared by = only")
    return [scalars.read(each) for each in columns], symbol, query, every


def comparisons(
    block: Block,
    node: exp.Expr,
    left: Sequence[Expr],
    symbol: str,
    answer: Answer,
    renamed: dict[str, str],
    right: Query,
) -> list[Expr]:
    """The left side against each column of the subquery."""
    if len(left) != len(answer.values):
        raise block.refusal(
            node, f"{len(left)} columns are compared with a subquery of {len(answer.values)}"
        )
    names = {old: col(new) for old, new in renamed.items()}
    schema = Schema(
        (*block.columns.values(), *(c for c in right.schema.columns if c.name not in block.columns))
    )
    values = [value.substitute(names) for value in answer.values]
    try:
        pairs = [compared(a, b, schema) for a, b in zip(left, values, strict=True)]
    except SchemaError as error:
        raise block.refusal(node, str(error)) from None
    return [Comparison(symbol, *pair) for pair in pairs]


def all_of(conditions: Sequence[Expr]) -> Expr:
    """The AND of one or more conditions."""
    first, *others = conditions
    return reduce(lambda a, b: a & b, others, first)


# --- values: a subquery anywhere else ---


def value(block: Block, node: exp.Expr) -> Expr:
    """The subquery as a column that the plan gets by a join."""
    if isinstance(node, exp.Exists):
        return exists_value(block, node.this)
    if is_quantified(node):
        return quantified_value(block, node)
    return scalar_value(block, node)


def exists_value(block: Block, node: exp.Expr) -> Expr:
    """Whether there is a row, for each row of the plan."""
    answer = nested(block, node, "keys")
    if answer.exactly_one:
        return lit(True)
    if not answer.carried:
        number = block.fresh("number")
        one = answer.query.aggregate(**{number: count()}).map(**{number: col(number) > 0})
        block.query = combined("inner", block.query, one, (), block.fresh)
        return col(number)
    keys = dict.fromkeys(each.column for each in answer.carried)
    present = projected(answer.query, [(key, col(key)) for key in keys]).distinct()
    found = block.fresh("found")
    right, renamed = renamed_apart(block, present)
    right = with_columns(right, [(found, lit(True))])
    block.query = combined("left", block.query, right, hangs_on(answer, renamed), block.fresh)
    return col(found).is_not_null()


def quantified_value(block: Block, node: exp.Expr) -> Expr:
    """TRUE, FALSE or NULL, for each row of the plan: the rows that compare are counted.

    The subquery is evaluated for the distinct left sides: D × rows, grouped by D.
    """
    scalars = Scalars(block, value)
    left, symbol, query, every = parts_of(scalars, node)
    answer = nested(block, query, "table")
    inner = [(block.fresh("side"), each) for each in left]
    outer = [(block.fresh("outer"), each.outer) for each in answer.carried]
    domain = projected(block.query, [*inner, *outer]).distinct()
    right, renamed = renamed_apart(block, answer.query)
    sides = [col(name) for name, _ in inner]
    for column in domain.schema.columns:
        block.columns[column.name] = column
    tests = comparisons(block, node, sides, symbol, answer, renamed, right)
    same = []
    for (name, _), each in zip(outer, answer.carried, strict=True):
        key = col(renamed[each.column])
        same.append(col(name).is_not_distinct_from(key) if each.null_safe else col(name).eq(key))
    pairs = combined("inner", domain, right, same, block.fresh)
    test = all_of(tests)
    decisive, unknown = block.fresh("decisive"), block.fresh("unknown")
    calls = (
        (decisive, AggregateCall("count_star", where=~test if every else test)),
        (unknown, AggregateCall("count_star", where=test.is_null())),
    )
    keys = tuple(name for name, _ in (*inner, *outer))
    counted = apply(Aggregate(keys, calls), pairs)
    back = [each.is_not_distinct_from(col(name)) for name, each in (*inner, *outer)]
    block.query = combined("left", block.query, counted, back, block.fresh)
    return case(
        (coalesce(col(decisive), 0) > 0, not every),
        (coalesce(col(unknown), 0) > 0, null(BOOLEAN)),
        default=every,
    )


@dataclass(frozen=True)
class ScalarRows:
    """A scalar subquery as rows: at most one for each row around that meets the conditions.

    Where there is none the value is the `filler`, or NULL.
    """

    rows: Query
    column: str
    conditions: Sequence[Expr]
    filler: Literal | None


def scalar_rows(block: Block, node: exp.Expr) -> ScalarRows:
    answer = nested(block, node.this if isinstance(node, exp.Subquery) else node, "scalar")
    if len(answer.names) != 1:
        raise block.refusal(
            node, f"a subquery as a value has {len(answer.names)} columns: select one"
        )
    (column,) = answer.columns
    rows, renamed = renamed_apart(block, answer.query)
    column = renamed[column]
    conditions = hangs_on(answer, renamed)
    keys = tuple(dict.fromkeys(renamed[each.column] for each in answer.carried))
    if not answer.exactly_one and (not answer.at_most_one or not keys):
        if keys and not any(each.null_safe for each in answer.carried):
            # two rows are an error only where a row around asks for them
            rows = combined("semi", rows, block.query, conditions, block.fresh)
        name = block.fresh(column)
        single = AggregateCall("single", col(column))
        rows, column = apply(Aggregate(keys, ((name, single),)), rows), name
    return ScalarRows(rows, column, conditions, answer.empty)


def scalar_value(block: Block, node: exp.Expr) -> Expr:
    """The one value of a subquery, for each row of the plan; NULL where it has none."""
    found = scalar_rows(block, node)
    rows, result, marker = found.rows, col(found.column), ""
    never_null = not rows.schema.column(found.column).nullable
    if found.filler is not None and not never_null:
        marker = block.fresh("present")
        rows = with_columns(rows, [(marker, lit(True))])
    inner = not found.conditions or (found.filler is None and strictly_read(node))
    kind = "inner" if inner else "left"
    block.query = combined(kind, block.query, rows, found.conditions, block.fresh)
    if found.filler is None:
        return result
    if marker:
        return case((col(marker), result), default=found.filler)
    return coalesce(result, found.filler)


def strictly_read(node: exp.Expr) -> bool:
    """Whether a NULL here makes a condition of the AND of WHERE or HAVING not TRUE."""
    around = node.parent
    while isinstance(
        around, exp.Paren | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Neg | exp.Cast
    ):
        around = around.parent
    if not isinstance(around, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
        return False
    around = around.parent
    while isinstance(around, exp.Paren | exp.And):
        around = around.parent
    return isinstance(around, exp.Where | exp.Having)
