"""The trees of scalar expressions: what each operation is, said once for all readings of it.

    Expr         operands, type_in, nullable_in, columns, compile, to_json, str
    leaves       ColumnRef Literal
    operations   Arithmetic Comparison Distinct Logic Negative Not IsNull Like
    functions    Case Coalesce Cast Call Substring ArrayOf, in `scalar_functions`

All are frozen and equal when their trees are equal: `==` compares trees, `.eq` builds one.
Types are never promoted: an expression over BIGINT and DOUBLE is refused until one side is
cast. What NULL, NaN and overflow do is said in `scalar_closure`. The builders are in `scalar`.
"""

from __future__ import annotations

import datetime
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from deltaproof.reference import scalar_closure as closure
from deltaproof.reference.errors import RowError, SchemaError
from deltaproof.reference.scalar_closure import Closure, Operand
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Row,
    Schema,
    Type,
    Value,
)


class Expr(ABC):
    """A scalar expression over the columns of one row.

    A subclass says its operands, its type, whether it may be NULL, its closure, its text and
    its JSON. Every other method follows from those.
    """

    binds: ClassVar[int] = 9  # how strongly its text holds together, for `text_in`

    @property
    @abstractmethod
    def operands(self) -> tuple[Expr, ...]: ...

    @abstractmethod
    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        """The same operation on other operands, as many as `operands` has."""

    @abstractmethod
    def type_in(self, schema: Schema) -> Type:
        """The type over rows of this schema. Raises SchemaError when types do not fit."""

    def nullable_in(self, schema: Schema) -> bool:
        """Whether it may be NULL; by default, whether an operand may."""
        return any(operand.nullable_in(schema) for operand in self.operands)

    @abstractmethod
    def to_json(self) -> list[Any]:
        """The tree as lists, operation first: [">", ["col", "delay"], ["lit", "BIGINT", 15]]."""

    @abstractmethod
    def closure_in(self, schema: Schema) -> Closure:
        """The closure, once `type_in` has accepted the schema."""

    def compile(self, schema: Schema) -> Callable[[Row], Value]:
        """The expression as a function of a row. Raises SchemaError when types do not fit.

        The function raises EvaluationError for a row on which the expression has no value.
        """
        self.type_in(schema)
        return self.closure_in(schema)

    def columns(self) -> frozenset[str]:
        """The names of the columns it reads."""
        return frozenset().union(*(operand.columns() for operand in self.operands))

    def substitute(self, columns: Mapping[str, Expr]) -> Expr:
        """The expression with these columns replaced; others stay.

        >>> print((ColumnRef("a") + 1).substitute({"a": ColumnRef("x") * 2}))
        x * 2 + 1
        """
        return self.with_operands([operand.substitute(columns) for operand in self.operands])

    def operand_in(self, schema: Schema) -> Operand:
        return Operand(self.closure_in(schema), self.nullable_in(schema))

    def refusal(self, why: str) -> SchemaError:
        """The error to raise, which begins with the expression."""
        return SchemaError(f"{self}: {why}")

    def __repr__(self) -> str:
        return f"<{self}>"

    def __bool__(self) -> bool:
        raise SchemaError(f"{self} is not true or false before it sees a row: use & | ~ to combine")

    def __add__(self, other: Any) -> Expr:
        return Arithmetic("+", self, as_expression(other))

    def __radd__(self, other: Any) -> Expr:
        return Arithmetic("+", as_expression(other), self)

    def __sub__(self, other: Any) -> Expr:
        return Arithmetic("-", self, as_expression(other))

    def __rsub__(self, other: Any) -> Expr:
        return Arithmetic("-", as_expression(other), self)

    def __mul__(self, other: Any) -> Expr:
        return Arithmetic("*", self, as_expression(other))

    def __rmul__(self, other: Any) -> Expr:
        return Arithmetic("*", as_expression(other), self)

    def __truediv__(self, other: Any) -> Expr:
        return Arithmetic("/", self, as_expression(other))

    def __rtruediv__(self, other: Any) -> Expr:
        return Arithmetic("/", as_expression(other), self)

    def __mod__(self, other: Any) -> Expr:
        return Arithmetic("%", self, as_expression(other))

    def __rmod__(self, other: Any) -> Expr:
        return Arithmetic("%", as_expression(other), self)

    def __neg__(self) -> Expr:
        return Negative(self)

    def __lt__(self, other: Any) -> Expr:
        return Comparison("<", self, as_expression(other))

    def __le__(self, other: Any) -> Expr:
        return Comparison("<=", self, as_expression(other))

    def __gt__(self, other: Any) -> Expr:
        return Comparison(">", self, as_expression(other))

    def __ge__(self, other: Any) -> Expr:
        return Comparison(">=", self, as_expression(other))

    def eq(self, other: Any) -> Expr:
        """SQL `=`: NULL when a side is NULL."""
        return Comparison("=", self, as_expression(other))

    def ne(self, other: Any) -> Expr:
        """SQL `<>`: NULL when a side is NULL."""
        return Comparison("<>", self, as_expression(other))

    def is_distinct_from(self, other: Any) -> Expr:
        """`<>` for which NULL is a value, equal to itself."""
        return Distinct("IS DISTINCT FROM", self, as_expression(other))

    def is_not_distinct_from(self, other: Any) -> Expr:
        """`=` for which NULL is a value, equal to itself."""
        return Distinct("IS NOT DISTINCT FROM", self, as_expression(other))

    def __and__(self, other: Any) -> Expr:
        return Logic("AND", self, as_expression(other))

    def __rand__(self, other: Any) -> Expr:
        return Logic("AND", as_expression(other), self)

    def __or__(self, other: Any) -> Expr:
        return Logic("OR", self, as_expression(other))

    def __ror__(self, other: Any) -> Expr:
        return Logic("OR", as_expression(other), self)

    def __invert__(self) -> Expr:
        return Not(self)

    def is_null(self) -> Expr:
        return IsNull(self, negated=False)

    def is_not_null(self) -> Expr:
        return IsNull(self, negated=True)

    def like(self, pattern: str) -> Expr:
        """LIKE: % is any text, _ one code point; case counts, nothing is escaped."""
        return Like(self, pattern)


# --- the nouns ---


@dataclass(frozen=True, repr=False)
class ColumnRef(Expr):
    """The value of a column."""

    name: str

    @property
    def operands(self) -> tuple[Expr, ...]:
        return ()

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        return self

    def type_in(self, schema: Schema) -> Type:
        return schema.column(self.name).type

    def nullable_in(self, schema: Schema) -> bool:
        return schema.column(self.name).nullable

    def columns(self) -> frozenset[str]:
        return frozenset((self.name,))

    def substitute(self, columns: Mapping[str, Expr]) -> Expr:
        return columns.get(self.name, self)

    def operand_in(self, schema: Schema) -> Operand:
        return Operand.column(schema.index(self.name), self.nullable_in(schema))

    def closure_in(self, schema: Schema) -> Closure:
        return self.operand_in(schema).closure

    def to_json(self) -> list[Any]:
        return ["col", self.name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False, eq=False)
class Literal(Expr):
    """A value of a type, or NULL of a type. Raises SchemaError for a value of another type."""

    type: Type
    value: Value

    def __post_init__(self) -> None:
        if self.value is None:
            return
        try:
            object.__setattr__(self, "value", self.type.canonical(self.value))
        except RowError as error:
            raise SchemaError(f"literal: {error}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return (self.type, self.value) == (other.type, other.value)  # as tuples: NaN is itself

    def __hash__(self) -> int:
        return hash((self.type, self.value))

    @property
    def operands(self) -> tuple[Expr, ...]:
        return ()

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        return self

    def type_in(self, schema: Schema) -> Type:
        return self.type

    def nullable_in(self, schema: Schema) -> bool:
        return self.value is None

    def operand_in(self, schema: Schema) -> Operand:
        return Operand.literal(self.value)

    def closure_in(self, schema: Schema) -> Closure:
        return Operand.literal(self.value).closure

    def to_json(self) -> list[Any]:
        return [
            "lit",
            str(self.type),
            None if self.value is None else self.type.to_json(self.value),
        ]

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        if isinstance(self.value, bool):
            return str(self.value).upper()
        if isinstance(self.value, str):
            return quoted(self.value)
        if self.type in (DATE, TIMESTAMP) or self.value in (NAN, math.inf, -math.inf):
            return f"{self.type} '{self.value}'"
        return str(self.value)


@dataclass(frozen=True, repr=False)
class Binary(Expr):
    """An operation written between its two operands."""

    symbol: str
    left: Expr
    right: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.left, self.right)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        left, right = operands
        return replace(self, left=left, right=right)

    def _types(self, schema: Schema) -> tuple[Type, Type]:
        return self.left.type_in(schema), self.right.type_in(schema)

    def _comparable(self, schema: Schema) -> None:
        left, right = self._types(schema)
        if isinstance(left, ARRAY) or isinstance(right, ARRAY):
            raise self.refusal("arrays are not compared: flat_map them first")
        if left != right and not (isinstance(left, DECIMAL) and isinstance(right, DECIMAL)):
            raise self.refusal(f"cannot compare {left} with {right}: cast one side")

    def _sides(self, schema: Schema) -> tuple[Operand, Operand]:
        return self.left.operand_in(schema), self.right.operand_in(schema)

    def to_json(self) -> list[Any]:
        return [self.symbol.lower(), self.left.to_json(), self.right.to_json()]

    def __str__(self) -> str:
        binds = binding(self)
        left = text_in(self.left, binds + isinstance(self, Comparison | Distinct))
        return f"{left} {self.symbol} {text_in(self.right, binds + 1)}"


@dataclass(frozen=True, repr=False)
class Unary(Expr):
    """An operation on one operand."""

    operand: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        (operand,) = operands
        return replace(self, operand=operand)

    def needs(self, wanted: Type, schema: Schema) -> None:
        if (kind := self.operand.type_in(schema)) != wanted:
            raise self.refusal(f"expected {wanted}, got {kind}")


@dataclass(frozen=True, repr=False)
class Arithmetic(Binary):
    """+ - * / % of two numbers of one type.

    BIGINT / BIGINT is DOUBLE, both sides cast first. % is for BIGINT and truncates toward zero.
    DECIMALs need not have the same precision and scale: + - * are exact, in the type of the SQL
    standard that loses no digit, or of 38 digits, where a result that needs more is an error.
    """

    def type_in(self, schema: Schema) -> Type:
        left, right = self._types(schema)
        if left == right == BIGINT:
            return DOUBLE if self.symbol == "/" else BIGINT
        if left == right == DOUBLE and self.symbol != "%":
            return DOUBLE
        if isinstance(left, DECIMAL) and isinstance(right, DECIMAL) and self.symbol in "+-*":
            return self._decimal(left, right)
        wanted = {"%": "two BIGINTs", "/": "two BIGINTs or two DOUBLEs"}.get(
            self.symbol, "two BIGINTs, two DOUBLEs or two DECIMALs"
        )
        raise self.refusal(f"{self.symbol} needs {wanted}, got {left} and {right}: cast one side")

    def _decimal(self, left: DECIMAL, right: DECIMAL) -> DECIMAL:
        if self.symbol == "*":
            scale = left.scale + right.scale
            if scale > 38:
                raise self.refusal(f"{left} * {right} has {scale} decimal places of at most 38")
            return DECIMAL(min(38, left.precision + right.precision + 1), scale)
        scale = max(left.scale, right.scale)
        whole = max(left.precision - left.scale, right.precision - right.scale)
        return DECIMAL(min(38, whole + scale + 1), scale)

    def closure_in(self, schema: Schema) -> Closure:
        left, right = self._sides(schema)
        if self.symbol == "/":
            quotient = closure.strict_two(closure.double_divide, left, right)
            return closure.guarded(closure.double_result(quotient), self)
        if self.symbol == "%":
            return closure.guarded(closure.strict_two(closure.bigint_modulo, left, right), self)
        result = self.type_in(schema)
        if isinstance(result, DECIMAL):
            exact = closure.strict_two(closure.DECIMAL_ARITHMETIC[self.symbol], left, right)
            return closure.decimal_result(exact, result, self)
        plain = closure.strict_two(closure.ARITHMETIC[self.symbol], left, right)
        if result == BIGINT:
            return closure.bigint_result(plain, self)
        return closure.double_result(plain)


@dataclass(frozen=True, repr=False)
class Comparison(Binary):
    """= <> < <= > >= of two values of one type, or of two DECIMALs; NULL when one is NULL."""

    def type_in(self, schema: Schema) -> Type:
        self._comparable(schema)
        return BOOLEAN

    def closure_in(self, schema: Schema) -> Closure:
        left, right = self._sides(schema)
        functions = closure.COMPARISONS
        if self.left.type_in(schema) == DOUBLE:
            functions = closure.DOUBLE_ORDER
            if right.constant and right.constant[0] is not NAN:
                functions = closure.DOUBLE_AGAINST_NUMBER
        return closure.strict_two(functions[self.symbol], left, right)


@dataclass(frozen=True, repr=False)
class Distinct(Binary):
    """IS DISTINCT FROM, IS NOT DISTINCT FROM: NULL is a value like any other. Never NULL."""

    def type_in(self, schema: Schema) -> Type:
        self._comparable(schema)
        return BOOLEAN

    def nullable_in(self, schema: Schema) -> bool:
        return False

    def closure_in(self, schema: Schema) -> Closure:
        double = self.left.type_in(schema) == DOUBLE
        equal = (closure.DOUBLE_ORDER if double else closure.COMPARISONS)["="]
        left, right = self._sides(schema)
        return closure.distinct(left, right, self.symbol == "IS NOT DISTINCT FROM", equal)


@dataclass(frozen=True, repr=False)
class Logic(Binary):
    """AND, OR of SQL's three truth values."""

    def type_in(self, schema: Schema) -> Type:
        left, right = self._types(schema)
        if not left == right == BOOLEAN:
            raise self.refusal(f"{self.symbol} needs two BOOLEANs, got {left} and {right}")
        return BOOLEAN

    def closure_in(self, schema: Schema) -> Closure:
        combine = closure.both if self.symbol == "AND" else closure.either
        return combine(*self._sides(schema))


# --- operations on one operand ---


@dataclass(frozen=True, repr=False)
class Negative(Unary):
    """−x of a number."""

    def type_in(self, schema: Schema) -> Type:
        kind = self.operand.type_in(schema)
        if kind not in (BIGINT, DOUBLE) and not isinstance(kind, DECIMAL):
            raise self.refusal(f"expected a number, got {kind}")
        return kind

    def closure_in(self, schema: Schema) -> Closure:
        operand, kind = self.operand.operand_in(schema), self.type_in(schema)
        if isinstance(kind, DECIMAL):
            return closure.strict_one(closure.EXACT.minus, operand)
        negative = closure.strict_one(operator.neg, operand)
        if kind == BIGINT:
            return closure.bigint_result(negative, self)
        return closure.double_result(negative)

    def to_json(self) -> list[Any]:
        return ["neg", self.operand.to_json()]

    def __str__(self) -> str:
        return f"-{text_in(self.operand, binding(self) + 1)}"


@dataclass(frozen=True, repr=False)
class Not(Unary):
    """NOT; of NULL it is NULL."""

    def type_in(self, schema: Schema) -> Type:
        self.needs(BOOLEAN, schema)
        return BOOLEAN

    def closure_in(self, schema: Schema) -> Closure:
        return closure.strict_one(operator.not_, self.operand.operand_in(schema))

    def to_json(self) -> list[Any]:
        return ["not", self.operand.to_json()]

    def __str__(self) -> str:
        return f"NOT {text_in(self.operand, binding(self))}"


@dataclass(frozen=True, repr=False)
class IsNull(Unary):
    """IS NULL, or IS NOT NULL when negated."""

    negated: bool

    def type_in(self, schema: Schema) -> Type:
        self.operand.type_in(schema)
        return BOOLEAN

    def nullable_in(self, schema: Schema) -> bool:
        return False

    def closure_in(self, schema: Schema) -> Closure:
        inner = self.operand.closure_in(schema)
        if self.negated:
            return lambda row: inner(row) is not None
        return lambda row: inner(row) is None

    def to_json(self) -> list[Any]:
        return ["is not null" if self.negated else "is null", self.operand.to_json()]

    def __str__(self) -> str:
        operand = text_in(self.operand, binding(self) + 1)
        return f"{operand} IS NOT NULL" if self.negated else f"{operand} IS NULL"


@dataclass(frozen=True, repr=False)
class Like(Unary):
    """LIKE with a constant pattern: % is any text, _ one code point; no letter is an escape."""

    pattern: str

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str):
            raise SchemaError(f"LIKE needs a string as its pattern, got {self.pattern!r}")

    def type_in(self, schema: Schema) -> Type:
        self.needs(VARCHAR, schema)
        return BOOLEAN

    def closure_in(self, schema: Schema) -> Closure:
        matches = closure.like_matcher(self.pattern)
        return closure.strict_one(matches, self.operand.operand_in(schema))

    def to_json(self) -> list[Any]:
        return ["like", self.operand.to_json(), self.pattern]

    def __str__(self) -> str:
        return f"{text_in(self.operand, binding(self) + 1)} LIKE {quoted(self.pattern)}"


# --- text and literals ---


def quoted(text: str) -> str:
    """The text as an SQL string.

    >>> print(quoted("it's"))
    'it''s'
    """
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


BINDS_AS_COMPARISON = 4


def binding(expression: Expr) -> int:
    """How strongly the printed operation holds its operands; a name or a call strongest."""
    match expression:
        case Logic(symbol="OR"):
            return 1
        case Logic():
            return 2
        case Not():
            return 3
        case Comparison() | Distinct() | IsNull() | Like():
            return BINDS_AS_COMPARISON
        case Arithmetic(symbol="+" | "-"):
            return 5
        case Arithmetic():
            return 6
        case Negative():
            return 7
        case Literal(value=int() | float() | Decimal() as value) if str(value).startswith("-"):
            return 7
        case _:
            return expression.binds


def text_in(expression: Expr, at_least: int) -> str:
    """The text, in parentheses where its surroundings hold an operand more strongly."""
    return str(expression) if binding(expression) >= at_least else f"({expression})"


def literal_of(value: Any) -> Literal:
    """The literal of a Python value, its type from the value's. Raises SchemaError."""
    simple = {
        bool: BOOLEAN,
        int: BIGINT,
        float: DOUBLE,
        str: VARCHAR,
        datetime.date: DATE,
        datetime.datetime: TIMESTAMP,
    }
    if type(value) in simple:
        return Literal(simple[type(value)], value)
    if isinstance(value, Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        scale = max(0, -int(exponent))
        return Literal(DECIMAL(max(len(digits) + max(0, int(exponent)), scale), scale), value)
    if value is None:
        raise SchemaError("NULL has no type of its own: write null(BIGINT)")
    raise SchemaError(f"no SQL literal for {type(value).__name__} {value!r}")


def as_expression(value: Any) -> Expr:
    """The expression itself, or a plain Python value as a literal."""
    return value if isinstance(value, Expr) else literal_of(value)


def checked_expressions(operator: str, *values: Any) -> None:
    """Raises SchemaError for what is no expression; None, for one left out, may stand there."""
    for value in values:
        if value is not None and not isinstance(value, Expr):
            raise SchemaError(
                f"{operator}: expected an expression, got {value!r}: a column is col('k'), "
                "a value lit(1)"
            )
