"""Prints a scalar expression, or a type, in the words of each engine.

Where an engine's own words mean something else, others are chosen: `/` divides DOUBLEs, a cast
to BIGINT truncates, LOWER knows ASCII only, LIKE minds the case. SQLite has no DATE, TIMESTAMP,
BOOLEAN, DECIMAL, ARRAY and NaN: the first three are ISO text and 0 or 1, the others are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from deltaproof.reference.errors import SchemaError, UsageError
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
from deltaproof.reference.sql_calls import call_tree, date_trunc_tree, enclosed, round_tree
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
)

# our dialects, and which of sqlglot's prints them
DIALECTS: Mapping[str, str] = {
    "ansi": "ansi",  # parse.text: the words of Postgres, and NULLS LAST unless said
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "spark": "spark",
    "postgres": "postgres",
}


def sql_type(kind: Type, dialect: str) -> exp.DataType:
    """The type that holds these values in this dialect. Raises SchemaError where none does."""
    if known(dialect) == "sqlite":
        if kind not in SQLITE_TYPES:
            raise SchemaError(f"sqlite has no type for {kind}")
        return exp.DataType.build(SQLITE_TYPES[kind], dialect="sqlite")
    if isinstance(kind, ARRAY):
        element = sql_type(kind.element, dialect)
        return exp.DataType(this=exp.DataType.Type.ARRAY, expressions=[element], nested=True)
    return exp.DataType.build(str(kind))


SQLITE_TYPES: Mapping[Type, str] = {
    BOOLEAN: "INTEGER",
    BIGINT: "INTEGER",
    DOUBLE: "REAL",
    VARCHAR: "TEXT",
    DATE: "TEXT",
    TIMESTAMP: "TEXT",
}


def known(dialect: str) -> str:
    if dialect not in DIALECTS:
        raise UsageError(f"unknown SQL dialect {dialect!r}: there are {', '.join(DIALECTS)}")
    return dialect


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def named(value: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=value, alias=identifier(name))


# --- expressions ---

OPERATIONS: Mapping[str, type[exp.Binary]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "%": exp.Mod,
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "IS DISTINCT FROM": exp.NullSafeNEQ,
    "IS NOT DISTINCT FROM": exp.NullSafeEQ,
    "AND": exp.And,
    "OR": exp.Or,
}


OF_64_BITS = 18  # digits of a DECIMAL


@dataclass(frozen=True)
class ScalarPrinter:
    """From expressions to sqlglot trees, for one dialect and one scope of columns."""

    dialect: str
    schema: Schema
    sides: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, expression: Expr) -> exp.Expr:
        match expression:
            case ColumnRef(name):
                side = self.sides.get(name)
                return exp.Column(this=identifier(name), table=side and identifier(side))
            case Literal():
                return self.literal(expression)
            case Arithmetic(symbol="/", left=left, right=right):
                return self.binary("/", self.as_double(left), self.as_double(right))
            case Arithmetic():
                return self.arithmetic(expression)
            case Comparison() | Distinct():
                return self.binary(expression.symbol, *self.pair(expression))
            case Logic():
                return self.binary(expression.symbol, self(expression.left), self(expression.right))
            case Negative():
                return exp.Neg(this=enclosed(self(expression.operand)))
            case Not():
                return exp.Not(this=enclosed(self(expression.operand)))
            case IsNull():
                null = exp.Not(this=exp.Null()) if expression.negated else exp.Null()
                return exp.Is(this=enclosed(self(expression.operand)), expression=null)
            case Like():
                return self.like(enclosed(self(expression.operand)), expression.pattern)
            case Case():
                return self.case(expression)
            case Coalesce(arguments=(only,)):
                return self(only)
            case Coalesce():
                first, *rest = map(self, expression.arguments)
                return exp.Coalesce(this=first, expressions=rest)
            case Cast():
                source = expression.operand.type_in(self.schema)
                return self.converted(self(expression.operand), source, expression.kind)
            case Call():
                return call_tree(expression, self)
            case Substring(operand=operand, start=start, count=count):
                return self.substring(self(operand), start, count)
            case Round():
                return round_tree(expression, self)
            case DateTrunc():
                return date_trunc_tree(expression, self)
            case In():
                return self.membership(expression)
            case ArrayOf():
                if self.dialect == "sqlite":
                    raise self.refusal(f"has no arrays: {expression}")
                return exp.Array(expressions=list(map(self, expression.elements)))
        raise SchemaError(f"{expression} has no SQL form")

    def refusal(self, why: str) -> SchemaError:
        return SchemaError(f"{self.dialect} {why}")

    def binary(self, symbol: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        operation = OPERATIONS[symbol]
        loose = LOOSER.get(operation, exp.Binary)
        return operation(this=enclosed(left, loose), expression=enclosed(right, loose))

    def arithmetic(self, expression: Arithmetic) -> exp.Expr:
        left, right = self.pair(expression)
        kind = expression.type_in(self.schema)
        if not isinstance(kind, DECIMAL):
            return self.binary(expression.symbol, left, right)
        if self.dialect == "duckdb" and kind.precision > OF_64_BITS:
            left = self.widened(left, expression.left.type_in(self.schema))
        return self.cast(self.binary(expression.symbol, left, right), kind)

    def widened(self, value: exp.Expr, kind: Type) -> exp.Expr:
        """A DECIMAL so wide that DuckDB does not reckon with it in 64 bits, which may overflow."""
        if isinstance(kind, DECIMAL) and kind.precision <= OF_64_BITS:
            return self.cast(value, DECIMAL(OF_64_BITS + 1, kind.scale))
        return value

    def pair(self, binary: Arithmetic | Comparison | Distinct) -> Iterable[exp.Expr]:
        """Both operands; an integer takes its type from the other side, unless that is one too."""
        return self.bare(binary.left, binary.right), self.bare(binary.right, binary.left)

    def bare(self, side: Expr, other: Expr) -> exp.Expr:
        match side:
            case Literal(type=kind, value=int() as number) if kind == BIGINT:
                return self(side) if isinstance(other, Literal) else written(str(number))
        return self(side)

    def membership(self, member: In) -> exp.Expr:
        options = [self.bare(option, member.operand) for option in member.options]
        return exp.In(this=enclosed(self(member.operand)), expressions=options)

    # --- values ---

    def literal(self, literal: Literal) -> exp.Expr:
        kind, value = literal.type, literal.value
        if value is None:
            return exp.Null() if self.dialect == "sqlite" else self.cast(exp.Null(), kind)
        if kind == BOOLEAN:
            return exp.Boolean(this=value)
        if kind == VARCHAR:
            return exp.Literal.string(value)
        if kind == DOUBLE:
            return self.double(value)
        if isinstance(kind, ARRAY):
            elements = [self(Literal(kind.element, element)) for element in value]
            return self.cast(exp.Array(expressions=elements), kind)
        if kind in (DATE, TIMESTAMP):
            text = exp.Literal.string(kind.to_json(value))
            return text if self.dialect == "sqlite" else self.cast(text, kind)
        if kind == BIGINT and self.dialect == "sqlite":
            return written(str(value))
        return self.cast(written(str(value)), kind)

    def double(self, value: float) -> exp.Expr:
        if math.isfinite(value):
            text = repr(value)
            if self.dialect == "postgres":
                return self.cast(written(text), DOUBLE)
            exact = self.dialect == "sqlite" or "e" in text  # elsewhere 0.5 is a DECIMAL
            return written(text if exact else f"{text}e0")
        if self.dialect != "sqlite":
            return self.cast(exp.Literal.string(DOUBLE.to_json(value)), DOUBLE)
        if math.isnan(value):
            raise self.refusal("has no NaN")
        return written("9e999" if value > 0 else "-9e999")

    # --- casts ---

    def cast(self, value: exp.Expr, kind: Type) -> exp.Expr:
        return exp.Cast(this=value, to=sql_type(kind, self.dialect))

    def as_double(self, operand: Expr) -> exp.Expr:
        kind = operand.type_in(self.schema)
        if kind == BIGINT and isinstance(operand, Literal) and operand.value is not None:
            return self.cast(written(str(operand.value)), DOUBLE)
        return self(operand) if kind == DOUBLE else self.cast(self(operand), DOUBLE)

    def as_number(self, operand: Expr) -> exp.Expr:
        """A DATE as its days, a TIMESTAMP as its microseconds since 1970, a number as it is."""
        kind = operand.type_in(self.schema)
        if kind not in (DATE, TIMESTAMP):
            return self(operand)
        return self(Call("epoch_days" if kind == DATE else "epoch_micros", (operand,)))

    def converted(self, value: exp.Expr, source: Type, target: Type) -> exp.Expr:
        if source == target:
            return value
        if (source, target) == (DOUBLE, BIGINT) and self.dialect not in ("sqlite", "spark"):
            return self.cast(exp.Anonymous(this="TRUNC", expressions=[value]), BIGINT)
        if self.dialect == "sqlite" and VARCHAR in (source, target):
            return self.text_in_sqlite(value, source, target)
        if (source, target) == (BOOLEAN, BIGINT) and self.dialect == "postgres":
            return self.cast(exp.Cast(this=value, to=exp.DataType.build("INT")), BIGINT)
        if self.dialect == "sqlite" and source in (DATE, TIMESTAMP):
            if target == TIMESTAMP:
                midnight = exp.Literal.string("T00:00:00.000000")
                return exp.DPipe(this=enclosed(value), expression=midnight)
            return self.substring(value, 1, 10) if target == DATE else value
        return self.cast(value, target)

    def text_in_sqlite(self, value: exp.Expr, source: Type, target: Type) -> exp.Expr:
        """Casts to and from VARCHAR; SQLite reads a number out of any text, and no infinity."""
        if (source, target) == (BOOLEAN, VARCHAR):
            words = [exp.Literal.string("true"), exp.Literal.string("false")]
            chosen = [value, exp.Not(this=enclosed(value.copy()))]
            ifs = [exp.If(this=when, true=word) for when, word in zip(chosen, words, strict=True)]
            return exp.Case(ifs=ifs)
        if target == DATE:
            text = exp.Trim(this=value)
            return exp.Anonymous(this="DATE", expressions=[text])
        if (source, target) in ((VARCHAR, BIGINT), (BIGINT, VARCHAR), (DATE, VARCHAR)):
            return value if source == DATE else self.cast(value, target)
        raise self.refusal(f"has no cast from {source} to {target}")

    # --- functions ---

    def case(self, case: Case) -> exp.Expr:
        branches = [exp.If(this=self(when), true=self(then)) for when, then in case.branches]
        default = None if case.default is None else self(case.default)
        return exp.Case(ifs=branches, default=default)

    def like(self, text: exp.Expr, pattern: str) -> exp.Expr:
        if self.dialect == "sqlite":  # whose LIKE takes a for A
            wild = {"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"}
            glob = "".join(wild.get(letter, letter) for letter in pattern)
            return exp.Glob(this=text, expression=exp.Literal.string(glob))
        if self.dialect in ("spark", "postgres"):  # where a backslash escapes
            pattern = pattern.replace("\\", "\\\\")
        return exp.Like(this=text, expression=exp.Literal.string(pattern))

    def substring(self, text: exp.Expr, start: int, count: int) -> exp.Expr:
        first, length = exp.Literal.number(start), exp.Literal.number(count)
        if self.dialect == "sqlite":
            return exp.Anonymous(this="SUBSTR", expressions=[text, first, length])
        return exp.Substring(this=text, start=first, length=length)

    def int32(self, value: exp.Expr) -> exp.Expr:
        """A BIGINT as the INT that some functions want; an error where it does not fit."""
        return exp.Cast(this=value, to=exp.DataType.build("INT"))

    def bigint(self, value: exp.Expr) -> exp.Expr:
        """A count that some engines give as INT."""
        return value if self.dialect in ("sqlite", "duckdb") else self.cast(value, BIGINT)


COMPARISONS = (exp.Predicate, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Connector, exp.Not, exp.DPipe)
SUMS = (exp.Add, exp.Sub, *COMPARISONS)

# which operands of an operation need parentheses: all that are operations, but for these
LOOSER: Mapping[type[exp.Binary], Any] = {
    exp.And: (exp.Or,),
    exp.Or: (exp.And,),
    exp.Add: (*SUMS, exp.Neg),
    exp.Sub: (*SUMS, exp.Neg),
    **{
        OPERATIONS[symbol]: COMPARISONS
        for symbol in ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
    },
}


def written(text: str) -> exp.Expr:
    """A number as it is written here: sqlglot's own constructor rewrites negative ones."""
    literal = exp.Literal(this=text.removeprefix("-"), is_string=False)
    return exp.Neg(this=literal) if text.startswith("-") else literal
