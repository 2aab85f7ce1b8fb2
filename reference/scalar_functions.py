"""The operations that are written as a call: CAST, CASE, COALESCE, IN, ARRAY and the functions."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from deltaproof.reference import scalar_closure as closure
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.scalar_calls import FUNCTIONS, Function
from deltaproof.reference.scalar_closure import Closure
from deltaproof.reference.scalar_tree import (
    BINDS_AS_COMPARISON,
    Comparison,
    Expr,
    Logic,
    Unary,
    text_in,
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


@dataclass(frozen=True, repr=False)
class Substring(Unary):
    """At most `count` code points of a text, from position `start` on; the first is 1."""

    start: int
    count: int

    def __post_init__(self) -> None:
        if type(self.start) is not int or type(self.count) is not int:
            raise SchemaError(f"SUBSTRING needs integers, got {self.start!r} and {self.count!r}")
        if self.start < 1 or self.count < 0:
            raise SchemaError(
                f"SUBSTRING needs start >= 1 and count >= 0, got {self.start} and {self.count}"
            )

    def type_in(self, schema: Schema) -> Type:
        self.needs(VARCHAR, schema)
        return VARCHAR

    def closure_in(self, schema: Schema) -> Closure:
        part = operator.itemgetter(slice(self.start - 1, self.start - 1 + self.count))
        return closure.strict_one(part, self.operand.operand_in(schema))

    def to_json(self) -> list[Any]:
        return ["substring", self.operand.to_json(), self.start, self.count]

    def __str__(self) -> str:
        return f"SUBSTRING({self.operand}, {self.start}, {self.count})"


@dataclass(frozen=True, repr=False)
class Cast(Unary):
    """The value as another type, where `closure.CASTS` knows how."""

    kind: Type

    def type_in(self, schema: Schema) -> Type:
        source = self.operand.type_in(schema)
        if source != self.kind and closure.cast_function(source, self.kind) is None:
            raise self.refusal(f"no cast from {source} to {self.kind}; {closure.CASTS_ALLOWED}")
        return self.kind

    def closure_in(self, schema: Schema) -> Closure:
        function = closure.cast_function(self.operand.type_in(schema), self.kind)
        if function is None:
            return self.operand.closure_in(schema)
        return closure.guarded(closure.strict_one(function, self.operand.operand_in(schema)), self)

    def to_json(self) -> list[Any]:
        return ["cast", self.operand.to_json(), str(self.kind)]

    def __str__(self) -> str:
        return f"CAST({self.operand} AS {self.kind})"


@dataclass(frozen=True, repr=False)
class Call(Expr):
    """A named function. `scalar_calls.FUNCTIONS` has the names, and says what they do."""

    function: str
    arguments: tuple[Expr, ...]

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            names = ", ".join(FUNCTIONS)
            raise SchemaError(f"unknown function {self.function!r}: there are {names}")
        if not self.arguments:
            raise SchemaError(f"{self.function} needs arguments: {self.known.takes}")

    @property
    def known(self) -> Function:
        return FUNCTIONS[self.function]

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.arguments

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        return Call(self.function, tuple(operands))

    def argument_types(self, schema: Schema) -> list[Type]:
        return [argument.type_in(schema) for argument in self.arguments]

    def type_in(self, schema: Schema) -> Type:
        kinds = self.argument_types(schema)
        result = self.known.result(kinds)
        if result is None:
            got = ", ".join(map(str, kinds))
            raise self.refusal(f"{self.function} needs {self.known.takes}, got {got}")
        return result

    def nullable_in(self, schema: Schema) -> bool:
        nullable = [argument.nullable_in(schema) for argument in self.arguments]
        return {"strict": any(nullable), "skipped": all(nullable)}.get(self.known.nulls, True)

    def closure_in(self, schema: Schema) -> Closure:
        python = self.known.python(self.argument_types(schema))
        operands = [argument.operand_in(schema) for argument in self.arguments]
        run = call_closure(python, operands, skips_nulls=self.known.nulls == "skipped")
        return closure.guarded(run, self) if self.known.partial else run

    def to_json(self) -> list[Any]:
        return [self.function, *(argument.to_json() for argument in self.arguments)]

    def __str__(self) -> str:
        return f"{self.function.upper()}({', '.join(map(str, self.arguments))})"


def call_closure(
    python: Callable[..., Value], operands: Sequence[closure.Operand], skips_nulls: bool
) -> Closure:
    """The function of the operands: of all, or NULL when one of them is."""
    if skips_nulls:
        closures = [operand.closure for operand in operands]
        return lambda row: python(*[each(row) for each in closures])
    if len(operands) == 1:
        return closure.strict_one(python, operands[0])
    if len(operands) == 2:
        return closure.strict_two(python, *operands)
    return closure.strict_all(python, operands)


@dataclass(frozen=True, repr=False)
class Round(Unary):
    """The nearest number with this many places after the point; halfway away from zero.

    A DECIMAL to any number of places; a BIGINT and a DOUBLE to a whole number, as for a DOUBLE
    like 2.675, which is below 2.675, engines differ in what they round.
    """

    places: int = 0

    def __post_init__(self) -> None:
        if type(self.places) is not int or not 0 <= self.places <= 38:
            raise SchemaError(f"ROUND needs a number of places from 0 to 38, got {self.places!r}")

    def type_in(self, schema: Schema) -> Type:
        kind = self.operand.type_in(schema)
        if isinstance(kind, DECIMAL):
            if self.places >= kind.scale:
                return kind
            whole = kind.precision - kind.scale
            return DECIMAL(min(38, whole + self.places + 1), self.places)
        if kind not in (BIGINT, DOUBLE):
            raise self.refusal(f"expected a number, got {kind}")
        if self.places and kind == DOUBLE:
            raise self.refusal(f"a DOUBLE is rounded to 0 places, got {self.places}: cast it first")
        return kind

    def closure_in(self, schema: Schema) -> Closure:
        kind, operand = self.operand.type_in(schema), self.operand.operand_in(schema)
        if isinstance(kind, DECIMAL) and self.places < kind.scale:
            return closure.strict_one(closure.decimal_rounded(self.places), operand)
        if kind == DOUBLE:
            return closure.strict_one(closure.double_rounded, operand)
        return operand.closure

    def to_json(self) -> list[Any]:
        return ["round", self.operand.to_json(), self.places]

    def __str__(self) -> str:
        return f"ROUND({self.operand}{f', {self.places}' if self.places else ''})"


UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
DATE_UNITS = UNITS[:5]


@dataclass(frozen=True, repr=False)
class DateTrunc(Unary):
    """The beginning of the year, quarter, … that a DATE or TIMESTAMP is in; weeks begin on Monday.

    The result has the operand's type.
    """

    unit: str

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise SchemaError(f"DATE_TRUNC needs one of {', '.join(UNITS)}, got {self.unit!r}")

    def type_in(self, schema: Schema) -> Type:
        kind = self.operand.type_in(schema)
        if kind == TIMESTAMP or (kind == DATE and self.unit in DATE_UNITS):
            return kind
        raise self.refusal(f"expected a TIMESTAMP, or a DATE and a day or more, got {kind}")

    def closure_in(self, schema: Schema) -> Closure:
        begin = closure.beginning(self.unit, self.operand.type_in(schema) == TIMESTAMP)
        return closure.strict_one(begin, self.operand.operand_in(schema))

    def to_json(self) -> list[Any]:
        return ["date_trunc", self.operand.to_json(), self.unit]

    def __str__(self) -> str:
        return f"DATE_TRUNC('{self.unit}', {self.operand})"


@dataclass(frozen=True, repr=False)
class In(Expr):
    """Whether a value is one of these: TRUE, or NULL where a comparison is NULL, else FALSE."""

    operand: Expr
    options: tuple[Expr, ...]

    binds: ClassVar[int] = BINDS_AS_COMPARISON

    def __post_init__(self) -> None:
        if not self.options:
            raise SchemaError("IN needs at least one value")

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.operand, *self.options)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        first, *options = operands
        return In(first, tuple(options))

    def comparisons(self) -> list[Expr]:
        return [Comparison("=", self.operand, option) for option in self.options]

    def type_in(self, schema: Schema) -> Type:
        for each in self.comparisons():
            each.type_in(schema)
        return BOOLEAN

    def closure_in(self, schema: Schema) -> Closure:
        operand = self.operand.operand_in(schema)
        options = [option.operand_in(schema) for option in self.options]
        if all(option.constant for option in options):
            values = [option.constant[0] for option in options]
            return closure.strict_one(closure.one_of(values), operand)
        either = functools.reduce(lambda a, b: Logic("OR", a, b), self.comparisons())
        return either.closure_in(schema)

    def to_json(self) -> list[Any]:
        return ["in", *(each.to_json() for each in self.operands)]

    def __str__(self) -> str:
        return f"{text_in(self.operand, self.binds + 1)} IN ({', '.join(map(str, self.options))})"


@dataclass(frozen=True, repr=False)
class Coalesce(Expr):
    """The first argument that is not NULL."""

    arguments: tuple[Expr, ...]

    def __post_init__(self) -> None:
        if not self.arguments:
            raise SchemaError("COALESCE needs at least one argument")

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.arguments

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        return Coalesce(tuple(operands))

    def type_in(self, schema: Schema) -> Type:
        return _one_type(self, self.arguments, schema)

    def nullable_in(self, schema: Schema) -> bool:
        return all(argument.nullable_in(schema) for argument in self.arguments)

    def closure_in(self, schema: Schema) -> Closure:
        return closure.first_not_null([argument.closure_in(schema) for argument in self.arguments])

    def to_json(self) -> list[Any]:
        return ["coalesce", *(argument.to_json() for argument in self.arguments)]

    def __str__(self) -> str:
        return f"COALESCE({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, repr=False)
class ArrayOf(Expr):
    """An array of these elements, in order; an element may be NULL, the array is not."""

    elements: tuple[Expr, ...]

    def __post_init__(self) -> None:
        if not self.elements:
            raise SchemaError("ARRAY needs at least one element, from which to take its type")

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.elements

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        return ArrayOf(tuple(operands))

    def type_in(self, schema: Schema) -> Type:
        return ARRAY(_one_type(self, self.elements, schema))

    def nullable_in(self, schema: Schema) -> bool:
        return False

    def closure_in(self, schema: Schema) -> Closure:
        elements = [element.closure_in(schema) for element in self.elements]
        return lambda row: tuple([element(row) for element in elements])

    def to_json(self) -> list[Any]:
        return ["array", *(element.to_json() for element in self.elements)]

    def __str__(self) -> str:
        return f"ARRAY[{', '.join(map(str, self.elements))}]"


@dataclass(frozen=True, repr=False)
class Case(Expr):
    """CASE WHEN condition THEN value … ELSE default END; without a default it is NULL."""

    branches: tuple[tuple[Expr, Expr], ...]
    default: Expr | None = None

    def __post_init__(self) -> None:
        if not self.branches:
            raise SchemaError("CASE needs at least one (condition, value)")

    @property
    def values(self) -> tuple[Expr, ...]:
        default = () if self.default is None else (self.default,)
        return (*(value for _, value in self.branches), *default)

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (*(condition for condition, _ in self.branches), *self.values)

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        count = len(self.branches)
        branches = tuple(zip(operands[:count], operands[count : 2 * count], strict=True))
        return Case(branches, None if self.default is None else operands[-1])

    def type_in(self, schema: Schema) -> Type:
        for condition, _ in self.branches:
            if (kind := condition.type_in(schema)) != BOOLEAN:
                raise self.refusal(f"WHEN needs a BOOLEAN, got {kind}")
        return _one_type(self, self.values, schema)

    def nullable_in(self, schema: Schema) -> bool:
        return self.default is None or any(value.nullable_in(schema) for value in self.values)

    def closure_in(self, schema: Schema) -> Closure:
        branches = [(c.closure_in(schema), v.closure_in(schema)) for c, v in self.branches]
        if self.default is None:
            return closure.choose(branches, lambda row: None)
        return closure.choose(branches, self.default.closure_in(schema))

    def to_json(self) -> list[Any]:
        branches = [[condition.to_json(), value.to_json()] for condition, value in self.branches]
        return ["case", branches, None if self.default is None else self.default.to_json()]

    def __str__(self) -> str:
        branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in self.branches)
        default = "" if self.default is None else f" ELSE {self.default}"
        return f"CASE {branches}{default} END"


def _one_type(expression: Expr, values: Sequence[Expr], schema: Schema) -> Type:
    """The type that all these values have. Raises SchemaError when there are two."""
    kinds = list(dict.fromkeys(value.type_in(schema) for value in values))
    if len(kinds) > 1:
        raise expression.refusal(
            f"its values are {' and '.join(map(str, kinds))}: cast to one type"
        )
    return kinds[0]
