"""The inputs of a law as JSON, and back: Z-sets, streams, ticks, numbers, queries.

    value_json(kind, value, schemas)        [[row, weight], ...] and lists of them
    value_from_json(kind, given, schemas)   its inverse; CaseError says what is wrong, and where

Rows are written in the order in which the Z-set holds them: a wrong operator may depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from deltaproof.properties.draw import NUMBERS
from deltaproof.properties.law import (
    Bags,
    Left,
    LeftStream,
    Right,
    RightStream,
    Stream,
    Streams,
    Ticks,
    ZSets,
)
from deltaproof.reference.errors import CaseError, DeltaproofError
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Codec = Callable[[Any, Schema], Any]

# For each kind of parameter: whether it is a stream, and of which input; None is of each of them.
LAYOUT: Mapping[Any, tuple[bool, int | None]] = {
    ZSet: (False, 0),
    Left: (False, 0),
    Right: (False, 1),
    Stream: (True, 0),
    LeftStream: (True, 0),
    RightStream: (True, 1),
    ZSets: (False, None),
    Bags: (False, None),
    Streams: (True, None),
}


@contextmanager
def naming(place: str) -> Iterator[None]:
    """What is wrong inside is said of this place, as a CaseError."""
    try:
        yield
    except DeltaproofError as error:
        if place and not str(error).startswith(f"{place}: "):
            raise CaseError(f"{place}: {error}") from None
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise CaseError(f"{place}: {what}" if place else what) from None


def value_json(kind: Any, value: Any, schemas: Sequence[Schema]) -> Any:
    """A value as JSON.

    >>> k = Schema.parse("k BIGINT")
    >>> value_json(ZSets, (ZSet({(7,): -1}), ZSet()), (k, k))
    [[[[7], -1]], []]
    """
    if kind is Query:
        tables = {name: schema.to_json() for name, schema in value.tables().items()}
        return {"tables": tables, "query": value.to_json()}
    if kind in NUMBERS:
        return value
    return laid_out(kind, value, schemas, tuple, zset_json)


def ticks_json(value: Ticks, tables: Mapping[str, Schema]) -> list[dict[str, Any]]:
    """Ticks as JSON, without what did not change."""
    return [
        {name: zset_json(delta, tables[name]) for name, delta in tick.items() if delta}
        for tick in value
    ]


def value_from_json(kind: Any, given: Any, schemas: Sequence[Schema]) -> Any:
    """The value that `value_json` wrote. Raises CaseError saying what is wrong.

    >>> k = Schema.parse("k BIGINT")
    >>> value_from_json(ZSets, [[[[7], -1]], []], (k, k))
    (ZSet({(7,): -1}), ZSet({}))
    """
    if kind is Query:
        return query_from_json(given)
    if kind in NUMBERS:
        if type(given) is not int:
            raise CaseError(f"expected a whole number, got {given!r}")
        return given
    return laid_out(kind, given, schemas, list, zset_from_json)


def laid_out(kind: Any, value: Any, schemas: Sequence[Schema], several: type, codec: Codec) -> Any:
    """The codec at work on every Z-set of the value; `several` is what holds one per input."""
    streams, which = LAYOUT[kind]

    def one(each: Any, schema: Schema) -> Any:
        if not streams:
            return codec(each, schema)
        if not isinstance(each, list):
            raise CaseError(f"expected a list of Z-sets, got {each!r}")
        return [numbered(f"tick {n}", codec, tick, schema) for n, tick in enumerate(each)]

    if which is not None:
        if which >= len(schemas):
            raise CaseError(f"expected the schema of input {which}, got {len(schemas)} schemas")
        return one(value, schemas[which])
    fits = isinstance(value, several)
    if not fits or len(value) != len(schemas):
        raise CaseError(f"expected one for each of {len(schemas)} inputs, got {value!r}")
    found = [
        numbered(f"input {n}", one, each, schema)
        for n, (each, schema) in enumerate(zip(value, schemas, strict=True))
    ]
    return found if several is tuple else tuple(found)


def numbered(place: str, codec: Codec, value: Any, schema: Schema) -> Any:
    with naming(place):
        return codec(value, schema)


def zset_json(zset: ZSet, schema: Schema) -> list[Any]:
    """[[row, weight], ...] in the order of the Z-set."""
    return [[schema.row_to_json(row), weight] for row, weight in zset.items()]


def zset_from_json(given: Any, schema: Schema) -> ZSet:
    """The Z-set that `zset_json` wrote."""
    if not isinstance(given, list) or any(
        not isinstance(entry, list) or len(entry) != 2 for entry in given
    ):
        raise CaseError(f"expected [[row, weight], ...], got {given!r}")
    return ZSet([(schema.row_from_json(row), weight) for row, weight in given], schema)


def ticks_from_json(given: Any, tables: Mapping[str, Schema]) -> Ticks:
    """The ticks that `ticks_json` wrote, with a Z-set for every table."""
    if not isinstance(given, list):
        raise CaseError(f'expected [{{"table": Z-set}}, ...], got {given!r}')
    return [tick_from_json(tick, tables, n) for n, tick in enumerate(given)]


def tick_from_json(given: Any, tables: Mapping[str, Schema], number: int) -> dict[str, ZSet]:
    with naming(f"tick {number}"):
        if not isinstance(given, dict):
            raise CaseError(f'expected {{"table": Z-set}}, got {given!r}')
        if unknown := sorted(given.keys() - tables.keys()):
            raise CaseError(f"unknown table {unknown[0]!r}: there are {', '.join(tables)}")
        found = {}
        for name, schema in tables.items():
            with naming(f"table {name}"):
                found[name] = zset_from_json(given.get(name, []), schema)
        return found


def query_from_json(given: Any) -> Query:
    """The query, and the tables it is over."""
    if not isinstance(given, dict) or not isinstance(given.get("tables"), dict):
        raise CaseError(f'expected {{"tables": ..., "query": ...}}, got {given!r}')
    tables = {}
    for name, columns in given["tables"].items():
        with naming(f"table {name}"):
            tables[name] = Schema.from_json(columns)
    if "query" not in given:
        raise CaseError("the query is missing")
    return Query.from_json(given["query"], tables)
