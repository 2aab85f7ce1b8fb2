"""Rows for an operator of any schema, few but chosen so that they meet: in a group, in a join.

    one group   equal in all columns but the last one
    apart       different in every column
    backwards   the same in the other order, in which a Z-set may hold them too
    NULL        the last row is NULL wherever it may be

Inputs are given rows of the same values, so what is joined by columns of one type matches.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Row,
    Schema,
    Type,
    Value,
)

Rows: TypeAlias = tuple[tuple[Row, ...], ...]  # per input

NUMBERS = (0, 1, 2, 3, 5, 10, 100, -1, -5)


def choices(schemas: Sequence[Schema], rows: int) -> Iterator[tuple[Rows, ...]]:
    """Choices of so many different rows for each input; then the same with other values.

    Other values are for predicates that the first ones do not reach.

    >>> next(choices([Schema.parse("k BIGINT, v BIGINT")], 2))
    ((((0, 0), (0, 1)),), (((0, 1), (0, 0)),), (((0, 0), (1, 1)),), (((0, 0), (None, None)),))
    """
    for start in range(len(NUMBERS)):
        made = (chosen(schemas, rows, start, way) for way in WAYS)
        if found := tuple(dict.fromkeys(each for each in made if each is not None)):
            yield found


RowOf: TypeAlias = Callable[[Schema, int, int, int], Row]  # start, number, of how many


def chosen(schemas: Sequence[Schema], rows: int, start: int, how: RowOf) -> Rows | None:
    """Rows made in one way; None where they are not so many different ones."""
    made = (tuple(how(schema, start, n, rows) for n in range(rows)) for schema in schemas)
    found = tuple(made)
    return found if all(len(set(each)) == rows for each in found) else None


def one_group(schema: Schema, start: int, number: int, of: int) -> Row:
    *keys, last = schema.types
    return schema.row([*(nth(kind, start) for kind in keys), nth(last, start + number)])


def backwards(schema: Schema, start: int, number: int, of: int) -> Row:
    return one_group(schema, start, of - 1 - number, of)


def apart(schema: Schema, start: int, number: int, of: int) -> Row:
    return schema.row([nth(kind, start + number) for kind in schema.types])


def with_null(schema: Schema, start: int, number: int, of: int) -> Row:
    row = one_group(schema, start, number, of)
    pairs = zip(schema.columns, row, strict=True)
    last = number == of - 1
    return tuple(None if last and column.nullable else value for column, value in pairs)


WAYS: tuple[RowOf, ...] = (one_group, backwards, apart, with_null)


def nth(kind: Type, n: int) -> Value:
    """A value of this type; different ones for numbers near each other, where there are two.

    >>> nth(BIGINT, 0), nth(VARCHAR, 1), nth(BOOLEAN, 3), nth(ARRAY(BIGINT), 1)
    (0, 'b', True, (1,))
    """
    number = NUMBERS[n % len(NUMBERS)]
    if kind == BOOLEAN:
        return n % 2 == 1
    if kind == BIGINT:
        return number
    if kind == DOUBLE:
        return float(number)
    if kind == VARCHAR:
        return "abcdefghi"[n % len(NUMBERS)]
    if kind == DATE:
        return datetime.date(2013, 1, 1) + datetime.timedelta(days=number)
    if kind == TIMESTAMP:
        return datetime.datetime(2013, 1, 1) + datetime.timedelta(days=number)
    if isinstance(kind, DECIMAL):
        return kind.from_units(number % 10**kind.precision)
    if isinstance(kind, ARRAY):
        return (nth(kind.element, n),)
    raise TypeError(f"no values of {kind}")
