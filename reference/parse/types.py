"""The casts that SQL makes without being asked, made here once and seen in the query.

Our expressions are never promoted by themselves. Between two types the wider is taken,

    BIGINT < DECIMAL < DOUBLE        DATE < TIMESTAMP

and a literal takes the type of the other side: a text that is compared with a DATE is a DATE,
a NULL is a NULL of any type. DECIMAL / anything is DOUBLE; DECIMAL * DECIMAL whose exact type
has more than 38 digits is computed after a cast to fewer whole digits, checked at run time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce

from deltaproof.reference.errors import EvaluationError, RowError, SchemaError
from deltaproof.reference.scalar import Expr
from deltaproof.reference.scalar_functions import Cast
from deltaproof.reference.scalar_tree import Arithmetic, Literal
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Schema,
    Type,
)

DIGITS = 38  # of the widest DECIMAL
BIGINT_DIGITS = 19


def is_null(value: Expr) -> bool:
    """Whether it is the word NULL, which takes any type."""
    return isinstance(value, Literal) and value.value is None


def is_number(kind: Type) -> bool:
    return kind in (BIGINT, DOUBLE) or isinstance(kind, DECIMAL)


def common_type(kinds: Iterable[Type]) -> Type:
    """The type that all of these become. Raises SchemaError when there is none.

    >>> common_type([BIGINT, DECIMAL(10, 2)]), common_type([DATE, TIMESTAMP])
    (DECIMAL(21,2), TIMESTAMP)
    """
    return reduce(_wider, kinds)


def _wider(a: Type, b: Type) -> Type:
    if a == b:
        return a
    if DOUBLE in (a, b) and is_number(a) and is_number(b):
        return DOUBLE
    if is_number(a) and is_number(b):
        first, second = as_decimal(a), as_decimal(b)
        scale = max(first.scale, second.scale)
        whole = max(first.precision - first.scale, second.precision - second.scale)
        return DECIMAL(min(DIGITS, whole + scale), scale)
    if {a, b} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    if isinstance(a, ARRAY) and isinstance(b, ARRAY):
        return ARRAY(_wider(a.element, b.element))
    raise SchemaError(f"{a} and {b} have no common type: cast one of them")


def as_decimal(kind: Type) -> DECIMAL:
    return kind if isinstance(kind, DECIMAL) else DECIMAL(BIGINT_DIGITS, 0)


def together(values: Sequence[Expr], schema: Schema) -> list[Expr]:
    """The values of CASE, COALESCE, IN or a column of a UNION, all of one type."""
    if len({value.type_in(schema) for value in values}) > 1:
        values = [constant(value) for value in values]
    kinds = [value.type_in(schema) for value in values]
    free = [_adapts(value) for value in values]
    fixed = [kind for kind, adapts in zip(kinds, free, strict=True) if not adapts]
    named = [k for k, v in zip(kinds, values, strict=True) if _adapts(v) and not is_null(v)]
    if not fixed:
        target = common_type(named or kinds)
    elif all(kind != VARCHAR for kind in fixed):  # texts become what the others are
        numbers = [kind for kind in named if kind != VARCHAR]
        target = common_type([*fixed, *numbers])
    else:
        target = common_type([*fixed, *named])
    return [converted(value, target, schema) for value in values]


def _adapts(value: Expr) -> bool:
    """Whether it is a literal that takes the type of the others."""
    return isinstance(value, Literal) and (
        value.value is None or value.type == VARCHAR or is_number(value.type)
    )


def compared(left: Expr, right: Expr, schema: Schema) -> tuple[Expr, Expr]:
    """Both sides of a comparison; two DECIMALs are compared as they are."""
    kinds = left.type_in(schema), right.type_in(schema)
    if kinds[0] != kinds[1]:
        left, right = constant(left), constant(right)
    if all(isinstance(kind, DECIMAL) for kind in kinds):
        return left, right
    for value, other in ((left, kinds[1]), (right, kinds[0])):
        if isinstance(value, Literal) and isinstance(other, DECIMAL) and value.type == BIGINT:
            exact = value if value.value is None else small_decimal(value)
            return (exact, right) if value is left else (left, exact)
    first, second = together([left, right], schema)
    return first, second


def constant(value: Expr) -> Expr:
    """What is computed from literals alone, as a literal: 1 + 10 takes another type as 11 does."""
    if isinstance(value, Literal) or value.columns():
        return value
    try:
        return Literal(value.type_in(Schema(())), value.compile(Schema(()))(()))
    except EvaluationError:
        return value


def small_decimal(literal: Literal) -> Literal:
    """A whole number as the narrowest DECIMAL.

    >>> small_decimal(Literal(BIGINT, 100)).type
    DECIMAL(3,0)
    """
    return Literal(DECIMAL(len(str(abs(literal.value))), 0), Decimal(literal.value))


def converted(value: Expr, target: Type, schema: Schema) -> Expr:
    """The value as this type: a literal is rewritten, anything else is cast."""
    if (kind := value.type_in(schema)) == target:
        return value
    if isinstance(value, Literal):
        return literal_as(value, target)
    cast = Cast(value, target)
    if isinstance(kind, ARRAY) or kind == VARCHAR:
        raise SchemaError(f"{value} is {kind}, not {target}, and is not cast without being asked")
    cast.type_in(schema)
    return cast


def literal_as(literal: Literal, target: Type) -> Literal:
    """The literal as this type. Raises SchemaError when it is not a value of it."""
    value, kind = literal.value, literal.type
    try:
        if value is None or kind == target:
            return Literal(target, value)
        if kind == VARCHAR and target in (DATE, TIMESTAMP):
            return Literal(target, target.from_json(value.strip().replace(" ", "T")))
        if kind == VARCHAR and target == BIGINT:
            return Literal(target, int(value))
        if kind == VARCHAR and target == DOUBLE:
            return Literal(
                target, DOUBLE.from_json(value.lower()) if _special(value) else float(value)
            )
        if kind == VARCHAR and isinstance(target, DECIMAL):
            return Literal(target, Decimal(value))
        if is_number(kind) and target == DOUBLE:
            return Literal(DOUBLE, float(value))
        if is_number(kind) and isinstance(target, DECIMAL) and kind != DOUBLE:
            return Literal(target, Decimal(value))
    except (RowError, ValueError, ArithmeticError):
        raise SchemaError(f"{literal} is not a {target}") from None
    made = Cast(literal, target)
    made.type_in(Schema(()))
    return Literal(target, made.compile(Schema(()))(()))


def _special(text: str) -> bool:
    return text.lower() in ("nan", "inf", "-inf")


def arithmetic(symbol: str, left: Expr, right: Expr, schema: Schema) -> Expr:
    """left symbol right, both sides of one kind. Raises SchemaError for what is no number."""
    kinds = left.type_in(schema), right.type_in(schema)
    if is_null(left) and not is_null(right):
        left, kinds = literal_as(Literal(VARCHAR, None), kinds[1]), (kinds[1], kinds[1])
    if is_null(right) and not is_null(left):
        right, kinds = literal_as(Literal(VARCHAR, None), kinds[0]), (kinds[0], kinds[0])
    if kinds[0] == kinds[1] == BIGINT or not all(map(is_number, kinds)):
        return Arithmetic(symbol, left, right)
    if DOUBLE in kinds or symbol == "/":
        both = [converted(value, DOUBLE, schema) for value in (left, right)]
        return Arithmetic(symbol, *both)
    first, second = (_exact(value, schema) for value in (left, right))
    if symbol == "*":
        first, second = _narrowed(first, second, schema)
    return Arithmetic(symbol, first, second)


def _exact(value: Expr, schema: Schema) -> Expr:
    """The number as a DECIMAL that loses no digit."""
    if isinstance(value.type_in(schema), DECIMAL):
        return value
    if isinstance(value, Literal) and value.value is not None:
        return small_decimal(value)
    return converted(value, DECIMAL(BIGINT_DIGITS, 0), schema)


def _narrowed(left: Expr, right: Expr, schema: Schema) -> tuple[Expr, Expr]:
    """Two factors, the one of more whole digits cast to so few that the product has 38 digits."""
    kinds = [value.type_in(schema) for value in (left, right)]
    first, second = (as_decimal(kind) for kind in kinds)
    excess = first.precision + second.precision + 1 - DIGITS
    if excess <= 0:
        return left, right
    wide_first = first.precision - first.scale >= second.precision - second.scale
    wide = first if wide_first else second
    if wide.precision - excess < max(1, wide.scale):
        raise SchemaError(
            f"{first} * {second} has no exact type of {DIGITS} digits: cast one side to DOUBLE"
        )
    kind = DECIMAL(wide.precision - excess, wide.scale)
    return (Cast(left, kind), right) if wide_first else (left, Cast(right, kind))
