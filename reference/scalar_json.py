"""Reads back the JSON that every expression writes: lists, the operation first."""

from __future__ import annotations

from typing import Any

from deltaproof.reference.errors import CaseError, RowError, SchemaError
from deltaproof.reference.scalar_calls import FUNCTIONS
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
from deltaproof.reference.types import parse_type


def from_json(value: Any, where: str = "expression") -> Expr:
    """The expression that `to_json` wrote. Raises CaseError saying what is wrong, and where.

    >>> print(from_json([">", ["col", "delay"], ["lit", "BIGINT", 15]]))
    delay > 15
    >>> from_json([">", ["col", "delay"], ["lit", "BIGINT", "x"]])
    Traceback (most recent call last):
    deltaproof.reference.errors.CaseError: expression[2]: expected BIGINT, got str 'x'
    """
    try:
        return _read(value, where)
    except (SchemaError, RowError) as error:
        raise CaseError(f"{where}: {error}") from None


def _read(value: Any, where: str) -> Expr:
    def part(place: int) -> Expr:
        return from_json(value[place], f"{where}[{place}]")

    def parts() -> tuple[Expr, ...]:
        return tuple(part(place) for place in range(1, len(value)))

    match value:
        case ["col", str(name)]:
            return ColumnRef(name)
        case ["lit", str(name), literal]:
            kind = parse_type(name)
            return Literal(kind, None if literal is None else kind.from_json(literal))
        case ["+" | "-" | "*" | "/" | "%" as symbol, _, _]:
            return Arithmetic(symbol, part(1), part(2))
        case ["=" | "<>" | "<" | "<=" | ">" | ">=" as symbol, _, _]:
            return Comparison(symbol, part(1), part(2))
        case ["is distinct from" | "is not distinct from" as symbol, _, _]:
            return Distinct(symbol.upper(), part(1), part(2))
        case ["and" | "or" as symbol, _, _]:
            return Logic(symbol.upper(), part(1), part(2))
        case ["neg", _]:
            return Negative(part(1))
        case ["not", _]:
            return Not(part(1))
        case ["is null" | "is not null" as symbol, _]:
            return IsNull(part(1), negated=symbol == "is not null")
        case ["like", _, str(pattern)]:
            return Like(part(1), pattern)
        case ["substring", _, start, count]:
            return Substring(part(1), start, count)
        case ["round", _, places]:
            return Round(part(1), places)
        case ["date_trunc", _, str(unit)]:
            return DateTrunc(part(1), unit)
        case ["in", _, _, *_]:
            operand, *options = parts()
            return In(operand, tuple(options))
        case ["cast", _, str(name)]:
            return Cast(part(1), parse_type(name))
        case ["coalesce", *_]:
            return Coalesce(parts())
        case ["array", *_]:
            return ArrayOf(parts())
        case ["case", list(branches), default]:
            return Case(
                tuple(_read_branch(b, f"{where}[1][{i}]") for i, b in enumerate(branches)),
                None if default is None else part(2),
            )
        case [str(name), *_] if name in FUNCTIONS:
            return Call(name, parts())
    raise CaseError(
        f'{where}: expected an expression like ["col", "k"] or [">", a, b], got {value!r}'
    )


def _read_branch(value: Any, where: str) -> tuple[Expr, Expr]:
    match value:
        case [condition, result]:
            return from_json(condition, f"{where}[0]"), from_json(result, f"{where}[1]")
    raise CaseError(f"{where}: expected [condition, value], got {value!r}")
