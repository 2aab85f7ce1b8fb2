"""A scalar expression as Spark evaluates it, with the meaning that the reference gives it.

The expression becomes SQL text over positional columns `_c0`, `_c1`, …, not a tree of Column
objects: each Column costs a call into the JVM, and a query of four operators then takes longer
to build than to run. No value and no name of the user's is part of the text: a column is its
position, a literal a parameter (`:_p0`), bound when the query is made.

Where plain Spark means something else, the text says what we mean:

    a / b           both sides cast to DOUBLE first; DOUBLE results have no negative zero
    lower, upper    ASCII letters only
    LIKE            no escape character: a backslash stands for itself
    DOUBLE → BIGINT 2^63 is an error; Spark clips it to 2^63 - 1
    DECIMAL < =     exact even where no DECIMAL type holds both sides

Not the same, and known: Spark may evaluate an expression that is not needed, or not evaluate
one whose result nobody reads, so an expression with no value (a division by zero) can raise
here on a row that the reference never asks about, and the other way round.

Source   Spark's ANSI mode; measured in a session with `allowPrecisionLoss` off
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from deltaproof.reference.scalar_functions import (
    ArrayOf,
    Call,
    Case,
    Cast,
    Coalesce,
    DateTrunc,
    In,
    Round,
    Substring,
)
from deltaproof.reference.scalar_tree import (
    Arithmetic,
    ColumnRef,
    Comparison,
    Distinct,
    Expr,
    IsNull,
    Like,
    Literal,
    Logic,
    Negative,
    Not,
)
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Schema,
    Type,
    Value,
)
from deltaproof.spark_backend.scalar_calls import FUNCTIONS, date_trunc_text, round_text

SPARK_NAMES: Mapping[Type, str] = {
    BOOLEAN: "BOOLEAN",
    BIGINT: "BIGINT",
    DOUBLE: "DOUBLE",
    VARCHAR: "STRING",
    DATE: "DATE",
    TIMESTAMP: "TIMESTAMP_NTZ",
}
NO_COLUMN_IS_LONGER = 2**30  # a text of more code points does not fit a Spark column
TWO_TO_63 = "9.223372036854775808E18D"
ZEROS: Mapping[Type, str] = {DOUBLE: "0.0D", BIGINT: "0L"}  # 0.0 - 0.0 is 0.0, and - 0.0 is not


def spark_type(kind: Type) -> str:
    """The type as Spark's SQL writes it.

    >>> spark_type(ARRAY(DECIMAL(10, 2))), spark_type(VARCHAR)
    ('ARRAY<DECIMAL(10,2)>', 'STRING')
    """
    if isinstance(kind, ARRAY):
        return f"ARRAY<{spark_type(kind.element)}>"
    return str(kind) if isinstance(kind, DECIMAL) else SPARK_NAMES[kind]


@dataclass
class Parameters:
    """The values that a text refers to by name, as strings that Spark casts to their types.

    >>> parameters = Parameters()
    >>> parameters.literal(BIGINT, 3), parameters.literal(VARCHAR, "it's")
    ('CAST(:_p0 AS BIGINT)', ':_p1')
    >>> parameters.values
    {'_p0': '3', '_p1': "it's"}
    """

    values: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def literal(self, kind: Type, value: Value) -> str:
        """The text that stands for this value of this type."""
        if value is None:
            return f"CAST(NULL AS {spark_type(kind)})"
        if isinstance(kind, ARRAY):
            elements = ", ".join(self.literal(kind.element, element) for element in value)
            return f"CAST(ARRAY({elements}) AS {spark_type(kind)})"
        if kind == VARCHAR:
            return self.parameter(value)
        return f"CAST({self.parameter(str(value))} AS {spark_type(kind)})"

    def parameter(self, value: str) -> str:
        """The parameter with this value, new or shared."""
        name = self.names.setdefault(value, f"_p{len(self.names)}")
        self.values[name] = value
        return f":{name}"


@dataclass(frozen=True)
class ScalarText:
    """Writes expressions over rows of one schema.

    >>> from deltaproof.reference.scalar import col
    >>> write = ScalarText(Schema.parse("carrier VARCHAR, delay BIGINT"), Parameters())
    >>> write((col("delay") > 15) & col("carrier").is_null())
    '((_c1 > CAST(:_p0 AS BIGINT)) AND (_c0 IS NULL))'
    """

    schema: Schema
    parameters: Parameters

    def __call__(self, expression: Expr) -> str:
        match expression:
            case ColumnRef(name):
                return f"_c{self.schema.index(name)}"
            case Literal():
                return self.parameters.literal(expression.type, expression.value)
            case Arithmetic():
                return self.arithmetic(expression)
            case Comparison(symbol, left, right):
                return self.comparison(symbol, left, right)
            case Distinct(symbol, left, right):
                same = self.same(left, right)
                return same if symbol == "IS NOT DISTINCT FROM" else f"(NOT {same})"
            case Logic(symbol, left, right):
                return f"({self(left)} {symbol} {self(right)})"
            case Not(operand):
                return f"(NOT {self(operand)})"
            case IsNull(operand, negated):
                return f"({self(operand)} IS {'NOT ' if negated else ''}NULL)"
            case Negative(operand):
                zero = ZEROS.get(expression.type_in(self.schema), "")
                return f"({zero} - {self(operand)})"
            case Like(operand, pattern):
                escaped = self.parameters.parameter(pattern.replace("\\", "\\\\"))
                return f"({self(operand)} LIKE {escaped})"
            case Case(branches, default):
                whens = " ".join(f"WHEN {self(when)} THEN {self(then)}" for when, then in branches)
                return f"CASE {whens}{'' if default is None else f' ELSE {self(default)}'} END"
            case Coalesce(arguments):
                return f"COALESCE({self.listed(arguments)})"
            case ArrayOf(elements):
                return f"ARRAY({self.listed(elements)})"
            case Substring(operand, start, count):
                places = (min(number, NO_COLUMN_IS_LONGER) for number in (start, count))
                return f"SUBSTRING({self(operand)}, {', '.join(map(str, places))})"
            case Call(function, arguments):
                kinds = [argument.type_in(self.schema) for argument in arguments]
                return FUNCTIONS[function]([*map(self, arguments)], kinds)
            case Round(operand, places):
                kind, result = operand.type_in(self.schema), expression.type_in(self.schema)
                return round_text(self(operand), kind, result, places)
            case DateTrunc(operand, unit):
                return date_trunc_text(unit, self(operand), operand.type_in(self.schema))
            case In(operand, options):
                return self.membership(operand, options)
            case Cast(operand, kind):
                return cast_text(self(operand), operand.type_in(self.schema), kind)
        raise NotImplementedError(f"no Spark form of {type(expression).__name__}: {expression}")

    def listed(self, expressions: tuple[Expr, ...]) -> str:
        return ", ".join(map(self, expressions))

    def arithmetic(self, expression: Arithmetic) -> str:
        left, right = self(expression.left), self(expression.right)
        kind, symbol = expression.type_in(self.schema), expression.symbol
        if symbol == "/":
            left, right = f"CAST({left} AS DOUBLE)", f"CAST({right} AS DOUBLE)"
        plain = f"({left} {symbol} {right})"
        if kind == DOUBLE and symbol in "*/":
            return f"({plain} + 0.0D)"  # only a product or a quotient can be a negative zero
        if isinstance(kind, DECIMAL):
            return f"CAST({plain} AS {kind})"
        return plain

    def membership(self, operand: Expr, options: tuple[Expr, ...]) -> str:
        if all(self.share_a_type(operand, option) for option in options):
            return f"({self(operand)} IN ({self.listed(options)}))"
        either = [self.comparison("=", operand, option) for option in options]
        return f"({' OR '.join(either)})"

    def comparison(self, symbol: str, left: Expr, right: Expr) -> str:
        a, b = self(left), self(right)
        if not self.share_a_type(left, right):
            parts = f" {symbol} ".join(self.decimal_parts(left, right))
            return f"CASE WHEN {a} IS NOT NULL AND {b} IS NOT NULL THEN {parts} END"
        return f"({a} {symbol} {b})"

    def same(self, left: Expr, right: Expr) -> str:
        """IS NOT DISTINCT FROM."""
        sides = [self(left), self(right)]
        if not self.share_a_type(left, right):
            sides = self.decimal_parts(left, right)
        return f"({sides[0]} <=> {sides[1]})"

    def share_a_type(self, left: Expr, right: Expr) -> bool:
        """Whether one Spark type holds every value of both sides."""
        a, b = left.type_in(self.schema), right.type_in(self.schema)
        if not (isinstance(a, DECIMAL) and isinstance(b, DECIMAL)):
            return True
        whole = max(a.precision - a.scale, b.precision - b.scale)
        return whole + max(a.scale, b.scale) <= 38

    def decimal_parts(self, *sides: Expr) -> list[str]:
        """Both sides as (whole part, fraction), which together order as the numbers do."""
        scale = max(_decimal(side.type_in(self.schema)).scale for side in sides)
        fraction = DECIMAL(min(38, scale + 1), scale)
        return [
            f"STRUCT(CAST(FLOOR({text}) AS DECIMAL(38,0)), "
            f"CAST({text} - FLOOR({text}) AS {fraction}))"
            for text in map(self, sides)
        ]


def cast_text(operand: str, source: Type, target: Type) -> str:
    """The cast, with an infinity, which is refused, in place of a DOUBLE that Spark would clip."""
    if (source, target) == (DOUBLE, BIGINT):
        operand = f"CASE WHEN {operand} >= {TWO_TO_63} THEN DOUBLE('Infinity') ELSE {operand} END"
    return f"CAST({operand} AS {spark_type(target)})"


def _decimal(kind: Type) -> DECIMAL:
    if not isinstance(kind, DECIMAL):
        raise TypeError(f"expected a DECIMAL, got {kind}")
    return kind
