"""CAST, and the types that the words of the dialects stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from deltaproof.reference.parse.text import Text
from deltaproof.reference.parse.types import converted
from deltaproof.reference.scalar import Expr
from deltaproof.reference.scalar_functions import ArrayOf, Cast
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Type,
)

if TYPE_CHECKING:
    from deltaproof.reference.parse.scalars import Scalars

NAMES = exp.DataType.Type


LENGTHS = (NAMES.VARCHAR, NAMES.TEXT, NAMES.CHAR, NAMES.NCHAR, NAMES.NVARCHAR)
TYPES: Mapping[object, Type] = {
    **dict.fromkeys((NAMES.BOOLEAN,), BOOLEAN),
    **dict.fromkeys((NAMES.BIGINT, NAMES.INT, NAMES.SMALLINT, NAMES.TINYINT), BIGINT),
    **dict.fromkeys((NAMES.DOUBLE, NAMES.FLOAT), DOUBLE),
    **dict.fromkeys(LENGTHS, VARCHAR),
    NAMES.DATE: DATE,
    **dict.fromkeys((NAMES.TIMESTAMP, NAMES.TIMESTAMPNTZ, NAMES.DATETIME), TIMESTAMP),
}


def cast(scalars: Scalars, node: exp.Cast) -> Expr:
    """CAST, of a literal the literal of that type."""
    # to sqlglot every CAST of Spark is one, though in its ANSI mode it fails as elsewhere
    if isinstance(node, exp.TryCast) and scalars.block.context.text.dialect != "spark":
        raise scalars.block.refusal(
            node, "TRY_CAST", "write CAST, which fails for what is no value"
        )
    kind = type_named(scalars, node.args["to"])
    inside = node.this
    if isinstance(inside, exp.Array) and not inside.expressions:
        return Literal(kind, ())
    if kind == BIGINT and is_truncation(inside):
        return Cast(scalars.read(truncated(inside)), BIGINT)
    value = scalars.read(inside)
    bare = isinstance(inside.unnest(), exp.Literal | exp.Neg | exp.Null | exp.Boolean)
    if isinstance(value, Literal) and bare:
        if value.type == kind:
            return value
        if (value.type, kind) != (DOUBLE, BIGINT):
            return converted(value, kind, scalars.block.schema)
    return cast_of(scalars, node, value, kind)


def cast_of(scalars: Scalars, node: exp.Expr, value: Expr, kind: Type) -> Expr:
    source = scalars.type_of(value)
    if isinstance(value, ArrayOf) and isinstance(kind, ARRAY):
        value = array_as(value, kind)
        source = scalars.type_of(value)
    dialect = scalars.block.context.text.dialect
    if (source, kind) == (DOUBLE, BIGINT) and dialect not in ("spark", "sqlite"):
        raise scalars.block.refusal(
            node, "engines round or truncate here", "write CAST(TRUNC(x) AS BIGINT)"
        )
    return value if source == kind else Cast(value, kind)


def type_named(scalars: Scalars, node: exp.Expr) -> Type:
    """The type that a CAST names; a text is cast to no length, which would cut it."""
    if node.this in LENGTHS and node.expressions:
        raise scalars.block.refusal(
            node.parent, f"a CAST to {node.sql()} would cut the text", "write SUBSTRING(x, 1, n)"
        )
    return type_of(scalars.block.context.text, node)


def type_of(text: Text, node: exp.Expr) -> Type:
    """The type that these words stand for; whole numbers of any width are BIGINT.

    A text has no greatest length here.
    """
    kind = node.this
    sizes = [each.name for each in node.expressions]
    if isinstance(node, exp.DataType):
        if kind == NAMES.ARRAY and node.expressions:
            return ARRAY(type_of(text, node.expressions[0]))
        if kind in (NAMES.DECIMAL, NAMES.BIGDECIMAL):
            if not sizes:
                raise text.refusal(node.parent, "DECIMAL needs its digits: DECIMAL(18,2)")
            return DECIMAL(int(sizes[0]), int(sizes[1]) if len(sizes) > 1 else 0)
        if kind == NAMES.TIMESTAMPTZ and text.dialect == "spark":
            return TIMESTAMP  # its TIMESTAMP is an instant, in a session that is in UTC
        if kind in TYPES and (not sizes or kind in LENGTHS or TYPES[kind] == TIMESTAMP):
            return TYPES[kind]
    known = "BOOLEAN, BIGINT, DOUBLE, DECIMAL(p,s), VARCHAR, DATE, TIMESTAMP, and arrays of one"
    raise text.refusal(node.parent, f"no type {node.sql()} here: there are {known}")


def is_truncation(node: exp.Expr) -> bool:
    return isinstance(node, exp.Trunc) or (
        isinstance(node, exp.Anonymous) and node.name.upper() == "TRUNC"
    )


def truncated(node: exp.Expr) -> exp.Expr:
    operand: exp.Expr = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    return operand


def array_as(value: ArrayOf, kind: ARRAY) -> Expr:
    """An array of literals is one literal; of a NULL only, it takes its type from the cast."""
    if all(isinstance(each, Literal) for each in value.elements):
        elements = [each.value for each in value.elements if isinstance(each, Literal)]
        return Literal(kind, tuple(elements))
    return value
