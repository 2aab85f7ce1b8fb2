"""The two sides of a law, as a backend answered them, are equal: doubles within its tolerance."""

from __future__ import annotations

from typing import Any

from deltaproof.conformance.judge import Judge
from deltaproof.properties.law import Equation
from deltaproof.reference.types import BIGINT, DOUBLE, Column, Schema
from deltaproof.reference.zset import ZSet


def agree(equation: Equation, tolerance: float = 0.0) -> bool:
    """Whether the two sides are equal, doubles within the tolerance of the backend.

    >>> rounded = Equation([ZSet({(0.1 + 0.2,): 1})], [ZSet({(0.3,): 1})])
    >>> agree(rounded), agree(rounded, 1e-9)
    (False, True)
    """
    return equation.lhs == equation.rhs or (
        tolerance > 0 and close(equation.lhs, equation.rhs, tolerance)
    )


def close(lhs: Any, rhs: Any, tolerance: float) -> bool:
    if isinstance(lhs, ZSet) and isinstance(rhs, ZSet):
        return zsets_close(lhs, rhs, tolerance)
    if isinstance(lhs, list | tuple) and type(lhs) is type(rhs) and len(lhs) == len(rhs):
        return all(close(a, b, tolerance) for a, b in zip(lhs, rhs, strict=True))
    return bool(lhs == rhs)


def zsets_close(lhs: ZSet, rhs: ZSet, tolerance: float) -> bool:
    """Whether what is left of the difference pairs up; which columns are doubles the rows show."""
    rest = lhs - rhs
    rows = list(rest)
    if not rows or len(set(map(len, rows))) > 1:
        return not rows
    kinds = [
        DOUBLE if any(isinstance(value, float) for value in column) else BIGINT
        for column in zip(*rows, strict=True)
    ]
    schema = Schema(tuple(Column(f"c{n}", kind) for n, kind in enumerate(kinds)))
    judge = Judge(schema, tolerance)
    return bool(judge.tolerance) and judge.close(rest)
