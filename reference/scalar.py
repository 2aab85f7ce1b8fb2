"""A scalar expression is a value: the same tree is typed, run, printed, saved and compared.

    >>> from deltaproof.reference.types import Schema
    >>> late = (col("delay") > 15) & col("carrier").eq("UA")
    >>> print(late)
    delay > 15 AND carrier = 'UA'
    >>> flights = Schema.parse("carrier VARCHAR NOT NULL, delay BIGINT")
    >>> late.type_in(flights), late.nullable_in(flights)
    (BOOLEAN, True)
    >>> run = late.compile(flights)
    >>> run(("UA", 20)), run(("UA", 3)), run(("UA", None)), run(("AA", None))
    (True, False, None, False)

Here are the words in which expressions are written; `+ - * / %`, `< <= > >=`, `& | ~`, `.eq`,
`.ne`, `.is_null`, `.like` and their kin are methods of every expression. The trees that the
words build are in `scalar_tree`, what operations do with values in `scalar_closure`, random
expressions in `scalar_sample`.
"""

from __future__ import annotations

from typing import Any

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.scalar_functions import ArrayOf, Call, Case, Cast, Coalesce, Substring
from deltaproof.reference.scalar_json import from_json
from deltaproof.reference.scalar_sample import sample_expression, sample_predicate, sample_value
from deltaproof.reference.scalar_tree import ColumnRef, Expr, Literal, as_expression, literal_of
from deltaproof.reference.types import Type, parse_type

__all__ = [
    "Expr",
    "array",
    "as_expression",
    "case",
    "cast",
    "coalesce",
    "col",
    "concat",
    "day",
    "from_json",
    "length",
    "lit",
    "lower",
    "month",
    "null",
    "sample_expression",
    "sample_predicate",
    "sample_value",
    "substring",
    "upper",
    "year",
]


def col(name: str) -> Expr:
    """The column of this name."""
    if not isinstance(name, str):
        raise SchemaError(f"col needs the name of a column, got {name!r}")
    return ColumnRef(name)


def lit(value: Any) -> Expr:
    """A value that is the same for every row; its SQL type is that of the Python value.

    >>> from decimal import Decimal
    >>> lit(3).to_json(), lit(Decimal("1.50")).to_json()
    (['lit', 'BIGINT', 3], ['lit', 'DECIMAL(3,2)', '1.50'])

    Raises SchemaError for a value that has no SQL type; NULL is written `null(BIGINT)`.
    """
    return literal_of(value)


def null(kind: Type) -> Expr:
    """NULL, of this type."""
    return Literal(_type(kind), None)


def case(*branches: tuple[Any, Any], default: Any = None) -> Expr:
    """The value of the first branch whose condition is TRUE, else the default, else NULL.

    >>> print(case((col("delay") > 15, "late"), default="on time"))
    CASE WHEN delay > 15 THEN 'late' ELSE 'on time' END
    """
    pairs = tuple((as_expression(when), as_expression(then)) for when, then in branches)
    return Case(pairs, None if default is None else as_expression(default))


def coalesce(*arguments: Any) -> Expr:
    """The first argument that is not NULL."""
    return Coalesce(tuple(map(as_expression, arguments)))


def cast(value: Any, kind: Type) -> Expr:
    """The value as another type, where no information needed to be guessed.

    BIGINT to DOUBLE, DECIMAL or VARCHAR; BOOLEAN to BIGINT; DECIMAL to DOUBLE or to a DECIMAL of
    no smaller scale; DATE to TIMESTAMP or VARCHAR; TIMESTAMP to DATE; DOUBLE to BIGINT, which
    truncates toward zero (engines round, or truncate: none is asked to guess).
    """
    return Cast(as_expression(value), _type(kind))


def lower(text: Any) -> Expr:
    """A to Z become a to z.

    Only ASCII, by definition: beyond it engines differ with their Unicode tables and locales.
    """
    return Call("lower", (as_expression(text),))


def upper(text: Any) -> Expr:
    """a to z become A to Z; only ASCII, as in `lower`."""
    return Call("upper", (as_expression(text),))


def length(text: Any) -> Expr:
    """The number of code points."""
    return Call("length", (as_expression(text),))


def concat(*texts: Any) -> Expr:
    """The texts one after the other; NULL when one is NULL."""
    return Call("concat", tuple(map(as_expression, texts)))


def substring(text: Any, start: int, count: int) -> Expr:
    """At most `count` code points from position `start` on, which is 1 or more.

    >>> from deltaproof.reference.types import Schema
    >>> substring("abc", 2, 5).compile(Schema(()))(())
    'bc'
    """
    return Substring(as_expression(text), start, count)


def year(moment: Any) -> Expr:
    """The year of a DATE or TIMESTAMP, as BIGINT."""
    return Call("year", (as_expression(moment),))


def month(moment: Any) -> Expr:
    """The month of a DATE or TIMESTAMP, 1 to 12."""
    return Call("month", (as_expression(moment),))


def day(moment: Any) -> Expr:
    """The day of the month of a DATE or TIMESTAMP, 1 to 31."""
    return Call("day", (as_expression(moment),))


def array(*elements: Any) -> Expr:
    """An array of these elements, all of one type.

    >>> print(array(col("a"), 1))
    ARRAY[a, 1]
    """
    return ArrayOf(tuple(map(as_expression, elements)))


def _type(kind: Type) -> Type:
    if isinstance(kind, str):
        return parse_type(kind)
    if not isinstance(kind, Type):
        raise SchemaError(f"expected a type like BIGINT, got {kind!r}")
    return kind
