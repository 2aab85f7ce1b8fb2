"""Expressions: each node of sqlglot's tree becomes the expression of ours that means it.

A node that is a column of the plan already (an aggregate, a window function, a computed key of
GROUP BY) is that column. Calls are in `functions`; subqueries are handed on to `subquery`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias

from sqlglot import exp

from deltaproof.reference.errors import SchemaError, SqlError
from deltaproof.reference.parse.casts import cast
from deltaproof.reference.parse.dates import added
from deltaproof.reference.parse.functions import function_of
from deltaproof.reference.parse.scope import Block
from deltaproof.reference.parse.types import arithmetic, compared, is_null, together
from deltaproof.reference.scalar import Expr, coalesce, col, concat, is_in, lit, lower, null, nullif
from deltaproof.reference.scalar_functions import ArrayOf, Case, Cast
from deltaproof.reference.scalar_tree import (
    Comparison,
    Distinct,
    IsNull,
    Like,
    Literal,
    Logic,
    Negative,
    Not,
)
from deltaproof.reference.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    VARCHAR,
    Type,
)

SUBQUERIES = (exp.Subquery, exp.Exists, exp.Query)
Reader: TypeAlias = Callable[["Scalars", Any], Expr]  # of one kind of node


class Scalars:
    """Reads expressions in the scope of one SELECT."""

    def __init__(self, block: Block, subquery: Callable[[Block, exp.Expr], Expr]) -> None:
        self.block = block
        self.subquery = subquery

    def read(self, node: exp.Expr) -> Expr:
        """The expression. Raises SqlError with the place of what has no meaning here."""
        if (known := self.block.known.get(id(node))) is not None:
            return known
        if (key := self.key(node)) is not None:
            return key
        try:
            value = self.operation(node)
            self.type_of(value)
        except SchemaError as error:
            raise self.block.refusal(node, str(error)) from None
        return value

    def key(self, node: exp.Expr) -> Expr | None:
        """The column of the GROUP BY expression that this node repeats."""
        before = self.block.before
        if before is None or not self.block.keys or isinstance(node, exp.Literal | exp.Null):
            return None
        if node.find(*SUBQUERIES, exp.AggFunc, exp.Window):
            return None
        try:
            value = Scalars(before, self.subquery).read(node)
        except SqlError:
            return None
        return next((col(name) for each, name in self.block.keys if each == value), None)

    def operation(self, node: exp.Expr) -> Expr:
        if isinstance(node, SUBQUERIES) or is_quantified(node):
            return self.subquery(self.block, node)
        for kind in type(node).__mro__:
            if (reader := READERS.get(kind)) is not None:
                return reader(self, node)
        return function_of(self, node)

    def type_of(self, value: Expr) -> Type:
        return value.type_in(self.block.schema)

    def boolean(self, node: exp.Expr) -> Expr:
        """A condition. Raises SqlError for what is not BOOLEAN."""
        value = self.read(node)
        if is_null(value):
            return null(BOOLEAN)
        if (kind := self.type_of(value)) != BOOLEAN:
            raise self.block.refusal(node, f"expected a condition, got {kind} {value}")
        return value

    # --- leaves ---

    def column(self, node: exp.Column) -> Expr:
        if isinstance(node.this, exp.Star):
            raise self.block.refusal(node, "* stands for columns in a SELECT list only")
        return self.block.resolve(node)

    def literal(self, node: exp.Literal) -> Expr:
        text = node.this
        if node.is_string:
            return lit(text)
        if "e" in text.lower():
            if math.isinf(float(text)):
                raise self.block.refusal(node, f"{text} is no DOUBLE: it is too large")
            return lit(float(text))
        if "." in text:
            return lit(
                float(text) if self.block.context.text.dialect == "sqlite" else Decimal(text)
            )
        return lit(int(text))

    def negative(self, node: exp.Neg) -> Expr:
        inside = node.this
        if isinstance(inside, exp.Literal) and not inside.is_string:
            signed = exp.Literal(this=f"-{inside.this}", is_string=False)
            return self.literal(signed)
        return Negative(self.read(inside))

    # --- operations ---

    def arithmetic(self, node: exp.Binary) -> Expr:
        left, right = self.read(node.left), self.read(node.right)
        return arithmetic(SYMBOLS[type(node)], left, right, self.block.schema)

    def sum(self, node: exp.Binary) -> Expr:
        """+ and -, of numbers or of a moment and an interval."""
        return added(self, node)

    def division(self, node: exp.Div) -> Expr:
        """Whole numbers are divided as the dialect does; all others as DOUBLEs."""
        left, right = self.read(node.left), self.read(node.right)
        narrow = widened(self, node.left, left), widened(self, node.right, right)
        if narrow[0] is not None and narrow[1] is not None:
            return narrow[0] / narrow[1]  # CAST(a AS DOUBLE) / CAST(b AS DOUBLE), which `/` is
        whole = self.type_of(left) == self.type_of(right) == BIGINT
        if whole and self.block.context.text.dialect not in ("spark", "duckdb"):
            return whole_quotient(left, right)
        return arithmetic("/", left, right, self.block.schema)

    def whole_division(self, node: exp.IntDiv) -> Expr:
        left, right = self.read(node.left), self.read(node.right)
        if not self.type_of(left) == self.type_of(right) == BIGINT:
            raise self.block.refusal(node, "whole division needs two BIGINTs: cast them")
        return whole_quotient(left, right)

    def comparison(self, node: exp.Binary) -> Expr:
        return self.compare(node, SYMBOLS[type(node)], node.left, node.right)

    def compare(self, node: exp.Expr, symbol: str, left: exp.Expr, right: exp.Expr) -> Expr:
        """Two sides of one type; rows (a, b) = (c, d) column by column."""
        if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple):
            if symbol != "=" or len(left.expressions) != len(right.expressions):
                raise self.block.refusal(node, "rows are compared by =, with as many columns")
            sides = zip(left.expressions, right.expressions, strict=True)
            return reduce(lambda a, b: a & b, [self.compare(node, "=", a, b) for a, b in sides])
        pair = compared(self.read(left), self.read(right), self.block.schema)
        return Comparison(symbol, *pair)

    def distinct(self, node: exp.Binary) -> Expr:
        pair = compared(self.read(node.left), self.read(node.right), self.block.schema)
        return Distinct(SYMBOLS[type(node)], *pair)

    def logic(self, node: exp.Connector) -> Expr:
        symbol = "AND" if isinstance(node, exp.And) else "OR"
        parts = [self.boolean(each) for each in node.flatten(unnest=False)]
        return reduce(lambda a, b: Logic(symbol, a, b), parts)

    def negation(self, node: exp.Not) -> Expr:
        inside = node.this.unnest()
        if isinstance(inside, exp.Is):
            value = self.is_(inside)
            if isinstance(value, IsNull):
                return IsNull(value.operand, not value.negated)
            return inverse(value)
        value = self.boolean(node.this)
        return Not(value)

    def is_(self, node: exp.Is) -> Expr:
        """IS NULL, IS TRUE, IS FALSE, IS UNKNOWN."""
        right, negated = node.expression, bool(node.args.get("negate"))
        while isinstance(right, exp.Not):
            right, negated = right.this, not negated
        if isinstance(right, exp.Null):
            return IsNull(self.read(node.this), negated)
        if isinstance(right, exp.Boolean):
            value = self.boolean(node.this)
            return (value.is_distinct_from if negated else value.is_not_distinct_from)(right.this)
        raise self.block.refusal(node, "IS is followed by NULL, TRUE or FALSE")

    def between(self, node: exp.Between) -> Expr:
        value = self.read(node.this)
        low, high = self.read(node.args["low"]), self.read(node.args["high"])
        schema = self.block.schema
        return Comparison(">=", *compared(value, low, schema)) & Comparison(
            "<=", *compared(value, high, schema)
        )

    def in_list(self, node: exp.In) -> Expr:
        """x IN (a, b); of rows, the OR of their comparisons."""
        if node.args.get("unnest") or not node.expressions:
            raise self.block.refusal(node, "IN needs a list or a subquery")
        if isinstance(node.this, exp.Tuple):
            rows = [self.compare(node, "=", node.this, each) for each in node.expressions]
            return reduce(lambda a, b: a | b, rows)
        value, *options = self.read(node.this), *map(self.read, node.expressions)
        return is_in(*together([value, *options], self.block.schema))

    def like(self, node: exp.Binary) -> Expr:
        text, pattern = self.read(node.this), self.read(node.expression)
        if not isinstance(pattern, Literal) or pattern.type != VARCHAR or pattern.value is None:
            raise self.block.refusal(node, "LIKE needs a constant pattern: write the text itself")
        form = pattern.value
        if self.block.context.text.dialect in ("spark", "postgres"):
            form = unescaped(form, self, node)
        if isinstance(node, exp.ILike):
            text, form = lower(text), form.lower()
        return Not(Like(text, form)) if node.args.get("negate") else Like(text, form)

    def glob(self, node: exp.Glob) -> Expr:
        """SQLite's GLOB, in the form in which LIKE is printed for it."""
        pattern = self.read(node.expression)
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise self.block.refusal(node, "GLOB needs a constant pattern")
        form = pattern.value
        for plain, mark in (("[*]", "\0"), ("[?]", "\1"), ("[[]", "\2")):
            form = form.replace(plain, mark)
        if any(letter in form for letter in "%_[]"):
            raise self.block.refusal(node, f"GLOB {pattern} has no LIKE: write LIKE")
        form = form.translate(str.maketrans("*?\0\1\2", "%_*?["))
        return Like(self.read(node.this), form)

    def concat(self, node: exp.DPipe) -> Expr:
        parts = [self.read(each) for each in node.flatten()]
        return concat(*[self.as_text(part) for part in parts])

    def as_text(self, value: Expr) -> Expr:
        if is_null(value) or self.type_of(value) == VARCHAR:
            return null(VARCHAR) if is_null(value) else value
        return Cast(value, VARCHAR)

    # --- calls that the grammar knows ---

    def case(self, node: exp.Case) -> Expr:
        subject, branches = node.this, node.args["ifs"]
        conditions = [
            self.compare(node, "=", subject, each.this) if subject else self.boolean(each.this)
            for each in branches
        ]
        values = [self.read(each.args["true"]) for each in branches]
        default = node.args.get("default")
        if default is not None:
            values.append(self.read(default))
        values = together(values, self.block.schema)
        pairs = tuple(zip(conditions, values, strict=False))  # the last value may be the default
        return Case(pairs, values[-1] if default is not None else None)

    def if_(self, node: exp.If) -> Expr:
        otherwise = node.args.get("false")
        values = [self.read(node.args["true"])]
        values += [self.read(otherwise)] if otherwise is not None else []
        values = together(values, self.block.schema)
        return Case(((self.boolean(node.this), values[0]),), values[1] if values[1:] else None)

    def coalesce(self, node: exp.Coalesce) -> Expr:
        values = [self.read(each) for each in (node.this, *node.expressions)]
        return coalesce(*together(values, self.block.schema))

    def nullif(self, node: exp.Nullif) -> Expr:
        pair = compared(self.read(node.this), self.read(node.expression), self.block.schema)
        return nullif(*pair)

    def array(self, node: exp.Array) -> Expr:
        if any(isinstance(each, exp.Query) for each in node.expressions):
            raise self.block.refusal(node, "ARRAY of a subquery", "write ARRAY_AGG in a subquery")
        if not node.expressions:
            raise self.block.refusal(node, "ARRAY[] is of no type", "write CAST(ARRAY[] AS T[])")
        return ArrayOf(tuple(together([self.read(e) for e in node.expressions], self.block.schema)))


def is_quantified(node: exp.Expr) -> bool:
    """Whether it is IN, ANY or ALL of a subquery."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Binary) and isinstance(node.expression, exp.Any | exp.All)


def inverse(value: Expr) -> Expr:
    """NOT of a condition that is never NULL."""
    match value:
        case Distinct(symbol="IS DISTINCT FROM", left=left, right=right):
            return left.is_not_distinct_from(right)
        case Distinct(left=left, right=right):
            return left.is_distinct_from(right)
    return Not(value)


def widened(scalars: Scalars, node: exp.Expr, value: Expr) -> Expr | None:
    """The BIGINT that is cast to DOUBLE here; None where there is none."""
    if isinstance(value, Cast) and value.kind == DOUBLE:
        return value.operand if scalars.type_of(value.operand) == BIGINT else None
    bare = node.unnest()
    if isinstance(bare, exp.Cast) and isinstance(value, Literal) and value.type == DOUBLE:
        inside = scalars.read(bare.this)
        return inside if scalars.type_of(inside) == BIGINT else None
    return None


def whole_quotient(left: Expr, right: Expr) -> Expr:
    """The quotient of BIGINTs truncated toward zero; exact below 2^53, where DOUBLE is."""
    return Cast((left - left % right) / right, BIGINT)


def unescaped(pattern: str, scalars: Scalars, node: exp.Expr) -> str:
    """The pattern without its backslashes, where each escapes a backslash."""
    plain = pattern.replace("\\\\", "\0")
    if "\\" in plain:
        raise scalars.block.refusal(
            node, "an escaped % or _ has no LIKE here", "compare with = or use POSITION"
        )
    return plain.replace("\0", "\\")


SYMBOLS: Mapping[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}

READERS: Mapping[type[exp.Expr], Reader] = {
    exp.Column: Scalars.column,
    exp.Literal: Scalars.literal,
    exp.Null: lambda self, node: null(VARCHAR),
    exp.Boolean: lambda self, node: lit(node.this),
    exp.Paren: lambda self, node: self.read(node.this),
    exp.Neg: Scalars.negative,
    exp.Add: Scalars.sum,
    exp.Sub: Scalars.sum,
    exp.Mul: Scalars.arithmetic,
    exp.Mod: Scalars.arithmetic,
    exp.Div: Scalars.division,
    exp.IntDiv: Scalars.whole_division,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), Scalars.comparison),
    exp.NullSafeEQ: Scalars.distinct,
    exp.NullSafeNEQ: Scalars.distinct,
    exp.And: Scalars.logic,
    exp.Or: Scalars.logic,
    exp.Not: Scalars.negation,
    exp.Is: Scalars.is_,
    exp.Between: Scalars.between,
    exp.In: Scalars.in_list,
    exp.Like: Scalars.like,
    exp.ILike: Scalars.like,
    exp.Glob: Scalars.glob,
    exp.DPipe: Scalars.concat,
    exp.Case: Scalars.case,
    exp.If: Scalars.if_,
    exp.Coalesce: Scalars.coalesce,
    exp.Nullif: Scalars.nullif,
    exp.Array: Scalars.array,
    exp.Cast: cast,
}
