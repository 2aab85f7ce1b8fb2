"""The operations that are written as a call: CAST, CASE, COALESCE, ARRAY and the functions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deltaproof.reference import scalar_closure as closure
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.scalar_closure import Closure
from deltaproof.reference.scalar_tree import Expr, Unary
from deltaproof.reference.types import ARRAY, BOOLEAN, VARCHAR, Schema, Type


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
    """A named function, NULL when an argument is NULL. `closure.FUNCTIONS` has the names."""

    function: str
    arguments: tuple[Expr, ...]

    def __post_init__(self) -> None:
        known = closure.FUNCTIONS.get(self.function)
        if known is None:
            names = ", ".join(closure.FUNCTIONS)
            raise SchemaError(f"unknown function {self.function!r}: there are {names}")
        if not self.arguments or (len(self.arguments) > 1 and not known.variadic):
            raise SchemaError(f"{self.function} got {len(self.arguments)} arguments")

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.arguments

    def with_operands(self, operands: Sequence[Expr]) -> Expr:
        return Call(self.function, tuple(operands))

    def type_in(self, schema: Schema) -> Type:
        function = closure.FUNCTIONS[self.function]
        for argument in self.arguments:
            if (kind := argument.type_in(schema)) not in function.takes:
                wanted = " or ".join(map(str, function.takes))
                raise self.refusal(f"{self.function} needs {wanted}, got {kind}")
        return function.gives

    def closure_in(self, schema: Schema) -> Closure:
        python = closure.FUNCTIONS[self.function].python
        operands = [argument.operand_in(schema) for argument in self.arguments]
        if len(operands) == 1:
            return closure.strict_one(python, operands[0])
        return closure.strict_all(python, operands)

    def to_json(self) -> list[Any]:
        return [self.function, *(argument.to_json() for argument in self.arguments)]

    def __str__(self) -> str:
        return f"{self.function.upper()}({', '.join(map(str, self.arguments))})"


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
