"""Prints a query as SQL that means what the query means, in the words of several engines.

Every operator becomes one SELECT, written once even when it is used twice:

    >>> from deltaproof.reference.query import count, table
    >>> from deltaproof.reference.scalar import col
    >>> flights = table("flights", "carrier VARCHAR, delay BIGINT")
    >>> late = flights.filter(col("delay") > 15).group_by("carrier").aggregate(n=count())
    >>> print(to_sql(late, "sqlite", pretty=True))
    WITH "_q1" AS (
      SELECT
        "carrier",
        "delay"
      FROM "flights"
      WHERE
        "delay" > 15
    )
    SELECT
      "carrier",
      COUNT(*) AS "n"
    FROM "_q1"
    GROUP BY
      "carrier"

Where an engine's own words mean something else, others are chosen: `/` divides DOUBLEs, a cast
to BIGINT truncates, LOWER knows ASCII only, LIKE minds the case. SQLite has no DATE, TIMESTAMP,
BOOLEAN, DECIMAL, ARRAY and NaN: the first three are ISO text and 0 or 1, the others are refused.
Trees are built and printed by sqlglot; no text is pasted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from sqlglot import exp

from deltaproof.reference.errors import SchemaError, UsageError
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.scalar_functions import ArrayOf, Call, Case, Cast, Coalesce, Substring
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
from deltaproof.reference.select import AggregateCall, Compound, JoinOn, Relation, Select
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Column,
    Schema,
    Type,
)

# our dialects, and which of sqlglot's prints them
DIALECTS: Mapping[str, str] = {
    "ansi": "postgres",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "spark": "spark",
    "postgres": "postgres",
}

Tables = Mapping[str, exp.Query]


# --- queries ---


def to_sql(
    query: Query, dialect: str, table_source: Tables | None = None, *, pretty: bool = False
) -> str:
    """The query as one SELECT statement.

    `table_source` says for a table's name which query to read in its place, such as a part of
    the table that is chosen by a row outside.

    Raises SchemaError for what the dialect cannot say, UsageError for an unknown dialect.
    """
    tree = to_tree(query, dialect, table_source)
    return tree.sql(dialect=DIALECTS[dialect], pretty=pretty)


def to_tree(query: Query, dialect: str, table_source: Tables | None = None) -> exp.Query:
    """The query as a sqlglot tree, for those who build a larger statement around it."""
    sources = _Sources(_known(dialect), query.tables(), table_source or {})
    steps = [node for node in query.nodes() if isinstance(node, Apply) and node != query]
    named = [(sources.name(node), sources.statement(node)) for node in steps]
    statement = sources.statement(query)
    for name, step in named:
        statement = statement.with_(_identifier(name), as_=step, copy=False)
    return statement


def create_table(name: str, schema: Schema, dialect: str) -> str:
    """The statement that creates a table of this schema.

    >>> create_table("t", Schema.parse("k BIGINT NOT NULL, d DATE"), "sqlite")
    'CREATE TABLE "t" ("k" INTEGER NOT NULL, "d" TEXT)'
    """
    columns = [_column_definition(column, dialect) for column in schema.columns]
    table = exp.Schema(this=exp.Table(this=_identifier(name)), expressions=columns)
    return exp.Create(this=table, kind="TABLE").sql(dialect=DIALECTS[_known(dialect)])


def _column_definition(column: Column, dialect: str) -> exp.ColumnDef:
    not_null = exp.ColumnConstraint(kind=exp.NotNullColumnConstraint())
    return exp.ColumnDef(
        this=_identifier(column.name),
        kind=sql_type(column.type, dialect),
        constraints=[] if column.nullable else [not_null],
    )


def sql_type(kind: Type, dialect: str) -> exp.DataType:
    """The type that holds these values in this dialect. Raises SchemaError where none does."""
    if _known(dialect) == "sqlite":
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


def _known(dialect: str) -> str:
    if dialect not in DIALECTS:
        raise UsageError(f"unknown SQL dialect {dialect!r}: there are {', '.join(DIALECTS)}")
    return dialect


@dataclass
class _Sources:
    """The statement of every node of a query, and under which name the others read it."""

    dialect: str
    tables: Mapping[str, Schema]
    table_source: Tables
    names: dict[Query, str] = field(default_factory=dict)

    def name(self, node: Query) -> str:
        """A table's own name; `_q1`, `_q2`, … for the rest, none of which is a table's name."""
        if isinstance(node, Table):
            return node.name
        if node not in self.names:
            taken = {name.lower() for name in (*self.tables, *self.names.values())}
            number = len(self.names) + 1
            while f"_q{number}" in taken:
                number += 1
            self.names[node] = f"_q{number}"
        return self.names[node]

    def statement(self, node: Query) -> exp.Query:
        if not isinstance(node, Apply):
            relation = Relation(self.name(node), node.schema)
            return self.select(Select.star(relation))
        inputs = [Relation(self.name(each), each.schema) for each in node.inputs]
        said = node.operator.select(*inputs)
        if said is None:
            raise SchemaError(
                f"{node.operator.name} has no plain SQL form: SQL has no rows of negative weight"
            )
        if isinstance(said, Compound):
            parts = [self.select(Select.star(relation)) for relation in said.inputs]
            return exp.union(*parts, distinct=False, copy=False)
        return self.select(said)

    def relation(self, relation: Relation) -> exp.Expr:
        if replacement := self.table_source.get(relation.name):
            return replacement.copy().subquery(_identifier(relation.name), copy=False)
        return exp.Table(this=_identifier(relation.name))

    def select(self, select: Select) -> exp.Query:
        if not select.columns:
            raise SchemaError("SQL has no table without columns")
        if select.unnest is not None:
            return self.unnested(select, *select.unnest)
        return self.plain(select)

    def plain(self, select: Select) -> exp.Select:
        source = select.source
        scalar = scalar_printer(source, self.dialect)
        statement = exp.Select()
        if isinstance(source, JoinOn):
            self.join(statement, source, scalar)
        else:
            statement.from_(self.relation(source), copy=False)
        return _clauses(statement, select, scalar)

    def join(self, statement: exp.Select, join: JoinOn, scalar: _Scalar) -> None:
        pairs = [Comparison("=", ColumnRef(left), ColumnRef(right)) for left, right in join.on]
        right = self.relation(join.right)
        statement.from_(self.relation(join.left), copy=False)
        if not pairs:
            statement.join(right, join_type="CROSS", copy=False)
            return
        condition = reduce(lambda a, b: exp.And(this=a, expression=b), map(scalar, pairs))
        statement.join(right, on=condition, join_type="INNER", copy=False)

    def unnested(self, select: Select, name: str, array: Expr) -> exp.Query:
        """One row per element; the rest of the SELECT, if it says more, reads from that."""
        rows = self.elements(select, name, array)
        if select == Select.star(select.source, unnest=select.unnest):
            return rows
        outer = exp.Select().from_(rows.subquery(_identifier("_elements")))
        return _clauses(outer, select, _Scalar(self.dialect, select.scope))

    def elements(self, select: Select, name: str, array: Expr) -> exp.Query:
        whole = Select.star(select.source)
        scalar = scalar_printer(select.source, self.dialect)
        if self.dialect == "sqlite":
            if not isinstance(array, ArrayOf):
                raise SchemaError(f"sqlite has no arrays: it cannot unnest {array}")
            each = [
                self.plain(whole).select(_named(scalar(element), name), copy=False)
                for element in array.elements
            ]
            return each[0] if len(each) == 1 else exp.union(*each, distinct=False, copy=False)
        rows = self.plain(whole)
        if self.dialect == "ansi":
            alias = exp.TableAlias(this=_identifier("_e"), columns=[_identifier(name)])
            unnest = exp.Unnest(expressions=[scalar(array)], alias=alias)
            rows = rows.join(unnest, join_type="CROSS", copy=False)
            return rows.select(exp.Column(this=_identifier(name)), copy=False)
        return rows.select(_named(exp.Explode(this=scalar(array)), name), copy=False)


def _clauses(statement: exp.Select, select: Select, scalar: _Scalar) -> exp.Select:
    """What follows the source: WHERE, GROUP BY, the columns, DISTINCT."""
    if select.where is not None:
        statement.where(scalar(select.where), copy=False)
    if select.group_by:
        statement.group_by(*(scalar(ColumnRef(key)) for key in select.group_by), copy=False)
    for name, value in select.columns:
        column = _aggregate(value, scalar) if isinstance(value, AggregateCall) else scalar(value)
        own_name = value == ColumnRef(name)
        statement.select(column if own_name else _named(column, name), copy=False)
    return statement.distinct(copy=False) if select.distinct else statement


def _aggregate(call: AggregateCall, scalar: _Scalar) -> exp.Expr:
    """The call, its result in the type that the schema rule of `aggregate` says."""
    if call.argument is None:
        return exp.Count(this=exp.Star())
    kind, argument = call.argument.type_in(scalar.schema), scalar(call.argument)
    boolean = scalar.dialect == "postgres" and kind == BOOLEAN
    match call.function:
        case "count":
            return exp.Count(this=argument)
        case "sum" if isinstance(kind, DECIMAL):
            return scalar.cast(exp.Sum(this=argument), DECIMAL(38, kind.scale))
        case "sum" if kind == BIGINT and scalar.dialect in ("duckdb", "postgres"):
            return scalar.cast(exp.Sum(this=argument), BIGINT)
        case "sum":
            return exp.Sum(this=argument)
        case "avg" if scalar.dialect in ("sqlite", "duckdb") or kind == DOUBLE:
            return exp.Avg(this=argument)
        case "avg":
            return exp.Avg(this=scalar.cast(argument, DOUBLE))
        case "min":
            return exp.LogicalAnd(this=argument) if boolean else exp.Min(this=argument)
        case "max":
            return exp.LogicalOr(this=argument) if boolean else exp.Max(this=argument)
    raise SchemaError(f"unknown aggregate function {call.function!r}")


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _named(value: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=value, alias=_identifier(name))


# --- expressions ---


def expression_sql(expression: Expr, schema: Schema, dialect: str) -> str:
    """A scalar expression over the columns of one table.

    >>> from deltaproof.reference.scalar import cast, col
    >>> v = Schema.parse("v DOUBLE")
    >>> expression_sql(cast(col("v"), BIGINT) / 2, v, "duckdb")
    'CAST(CAST(TRUNC("v") AS BIGINT) AS DOUBLE) / CAST(2 AS DOUBLE)'
    """
    expression.type_in(schema)
    return _Scalar(_known(dialect), schema)(expression).sql(dialect=DIALECTS[dialect])


def scalar_printer(source: Relation | JoinOn, dialect: str) -> _Scalar:
    """The printer of expressions over a source; in a join each column says its side."""
    if isinstance(source, Relation):
        return _Scalar(dialect, source.schema)
    sides = {
        name: relation.name
        for relation in (source.left, source.right)
        for name in relation.schema.names
    }
    return _Scalar(dialect, source.schema, sides)


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
ASCII_UPPER, ASCII_LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class _Scalar:
    """From expressions to sqlglot trees, for one dialect and one scope of columns."""

    dialect: str
    schema: Schema
    sides: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, expression: Expr) -> exp.Expr:
        match expression:
            case ColumnRef(name):
                side = self.sides.get(name)
                return exp.Column(this=_identifier(name), table=side and _identifier(side))
            case Literal():
                return self.literal(expression)
            case Arithmetic(symbol="/", left=left, right=right):
                return self.binary("/", self.as_double(left), self.as_double(right))
            case Arithmetic():
                result = self.binary(expression.symbol, *self.pair(expression))
                kind = expression.type_in(self.schema)
                return self.cast(result, kind) if isinstance(kind, DECIMAL) else result
            case Comparison() | Distinct():
                return self.binary(expression.symbol, *self.pair(expression))
            case Logic():
                return self.binary(expression.symbol, self(expression.left), self(expression.right))
            case Negative():
                return exp.Neg(this=_enclosed(self(expression.operand)))
            case Not():
                return exp.Not(this=_enclosed(self(expression.operand)))
            case IsNull():
                null = exp.Not(this=exp.Null()) if expression.negated else exp.Null()
                return exp.Is(this=_enclosed(self(expression.operand)), expression=null)
            case Like():
                return self.like(_enclosed(self(expression.operand)), expression.pattern)
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
                return self.call(expression)
            case Substring(operand=operand, start=start, count=count):
                return self.substring(self(operand), start, count)
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
        return operation(this=_enclosed(left, loose), expression=_enclosed(right, loose))

    def pair(self, binary: Arithmetic | Comparison | Distinct) -> Iterable[exp.Expr]:
        """Both operands; an integer takes its type from the other side, unless that is one too."""
        for side, other in ((binary.left, binary.right), (binary.right, binary.left)):
            match side:
                case Literal(type=kind, value=int() as number) if kind == BIGINT:
                    bare = not isinstance(other, Literal)
                    yield _number(str(number)) if bare else self(side)
                case _:
                    yield self(side)

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
            return _number(str(value))
        return self.cast(_number(str(value)), kind)

    def double(self, value: float) -> exp.Expr:
        if math.isfinite(value):
            text = repr(value)
            if self.dialect == "postgres":
                return self.cast(_number(text), DOUBLE)
            exact = self.dialect == "sqlite" or "e" in text  # elsewhere 0.5 is a DECIMAL
            return _number(text if exact else f"{text}e0")
        if self.dialect != "sqlite":
            return self.cast(exp.Literal.string(DOUBLE.to_json(value)), DOUBLE)
        if math.isnan(value):
            raise self.refusal("has no NaN")
        return _number("9e999" if value > 0 else "-9e999")

    # --- casts ---

    def cast(self, value: exp.Expr, kind: Type) -> exp.Expr:
        return exp.Cast(this=value, to=sql_type(kind, self.dialect))

    def as_double(self, operand: Expr) -> exp.Expr:
        kind = operand.type_in(self.schema)
        if kind == BIGINT and isinstance(operand, Literal) and operand.value is not None:
            return self.cast(_number(str(operand.value)), DOUBLE)
        return self(operand) if kind == DOUBLE else self.cast(self(operand), DOUBLE)

    def converted(self, value: exp.Expr, source: Type, target: Type) -> exp.Expr:
        if source == target:
            return value
        if (source, target) == (DOUBLE, BIGINT) and self.dialect not in ("sqlite", "spark"):
            return self.cast(exp.Anonymous(this="TRUNC", expressions=[value]), BIGINT)
        if (source, target) == (BOOLEAN, BIGINT) and self.dialect == "postgres":
            return self.cast(exp.Cast(this=value, to=exp.DataType.build("INT")), BIGINT)
        if self.dialect == "sqlite" and source in (DATE, TIMESTAMP):
            if target == TIMESTAMP:
                midnight = exp.Literal.string("T00:00:00.000000")
                return exp.DPipe(this=_enclosed(value), expression=midnight)
            return self.substring(value, 1, 10) if target == DATE else value
        return self.cast(value, target)

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

    def call(self, call: Call) -> exp.Expr:
        arguments = [self(argument) for argument in call.arguments]
        first = arguments[0]
        match call.function:
            case "lower":
                return self.letters(first, exp.Lower, ASCII_UPPER, ASCII_LOWER)
            case "upper":
                return self.letters(first, exp.Upper, ASCII_LOWER, ASCII_UPPER)
            case "length":
                return self.bigint(exp.Length(this=first))
            case "concat":
                return reduce(lambda a, b: exp.DPipe(this=a, expression=b), arguments)
            case "year" | "month" | "day":
                return self.part(first, call.function)
        raise SchemaError(f"{call.function} has no SQL form")

    def letters(
        self, text: exp.Expr, function: type[exp.Func], these: str, become: str
    ) -> exp.Expr:
        """LOWER, UPPER for ASCII only, as everywhere here."""
        if self.dialect in ("sqlite", "ansi"):
            return function(this=text)
        letters = [exp.Literal.string(these), exp.Literal.string(become)]
        return exp.Anonymous(this="TRANSLATE", expressions=[text, *letters])

    def part(self, moment: exp.Expr, unit: str) -> exp.Expr:
        if self.dialect == "sqlite":
            place = {"year": (1, 4), "month": (6, 2), "day": (9, 2)}[unit]
            return self.cast(self.substring(moment, *place), BIGINT)
        if self.dialect in ("ansi", "postgres"):
            part = exp.Extract(this=exp.Var(this=unit.upper()), expression=moment)
            return self.cast(part, BIGINT)
        return self.bigint(exp.Anonymous(this=unit.upper(), expressions=[moment]))

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


def _number(text: str) -> exp.Expr:
    """A number as it is written here: sqlglot's own constructor rewrites negative ones."""
    literal = exp.Literal(this=text.removeprefix("-"), is_string=False)
    return exp.Neg(this=literal) if text.startswith("-") else literal


def _enclosed(value: exp.Expr, loose: Any = (exp.Binary, exp.Not, exp.Neg)) -> exp.Expr:
    """The operand, in parentheses if it is one of these operations."""
    return exp.Paren(this=value) if isinstance(value, loose) else value
