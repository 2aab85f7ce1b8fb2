"""What blocks of bytes stand for: rows, streams of changes, operators, queries.

    schema_of      one to three columns          row_of         a row that fits a schema
    history        a stream for each schema      operator_of    an operator that fits schemas
    query_of       a tree of operators           Choices        bytes in place of a `Random`

A block is 64 bytes and has a fixed layout: a byte means the same whatever its neighbours are,
and zero is the simplest choice. So whoever makes bytes smaller makes what they stand for
smaller, and needs to know nothing else: `strategies` leaves it to Hypothesis.

Small domains find more than large ones: rows must meet each other, cancel out and come back.
So streams are over a universe of a few rows, as one flat list of events (tick, table, row,
weight), some of which retract whatever there is of a row. One history in eight has a universe
of values that broke engines, and every second of these has huge weights among its weights; not
all, as over those half of what counts rows has no value.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, cycle
from random import Random
from typing import TypeVar

from deltaproof.properties.killers import HUGE_WEIGHTS, killer_domain
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Apply, Query, Table, apply
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
    Column,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

T = TypeVar("T")

TYPES: tuple[Type, ...] = (
    BIGINT,
    VARCHAR,
    BOOLEAN,
    DOUBLE,
    DATE,
    TIMESTAMP,
    DECIMAL(10, 2),
    ARRAY(BIGINT),
)
DAY = datetime.date(2013, 1, 1)
MIDNIGHT = datetime.datetime(2013, 1, 1)
DOMAINS: Mapping[Type, tuple[Value, ...]] = {
    BOOLEAN: (False, True),
    BIGINT: (0, 1, 2, 3, -1),
    DOUBLE: (0.0, 1.0, 0.5, -0.5, 0.1, 1e16, NAN, math.inf),
    VARCHAR: ("a", "b", "", "ab", "B"),
    DATE: tuple(DAY + datetime.timedelta(days=days) for days in (0, 1, 30)),
    TIMESTAMP: tuple(MIDNIGHT + datetime.timedelta(hours=hours) for hours in (0, 10, 24)),
}
GONE = None  # in place of a weight: as much as it takes for the row to be gone
WEIGHTS: tuple[int | None, ...] = (1, -1, 2, -2, 3, GONE)
HUGE = (*WEIGHTS, *HUGE_WEIGHTS)

ROWS = 4  # rows in the universe of a table
TICKS = 4
BLOCK = 64  # bytes
COLUMNS = 3  # most columns of a table
PLAIN = 7 * 256 // 8  # a byte below this leaves a history plain
TURN, KILLERS = BLOCK - 2, BLOCK - 1  # the last bytes of a block: which killers, and whether any


# ── Values, rows, schemas ───────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1024)
def domain(kind: Type, nullable: bool) -> tuple[Value, ...]:
    """The values that are tried of a type, the simplest first, NULL last."""
    if nullable:
        return (*domain(kind, False), None)
    if isinstance(kind, DECIMAL):
        one = min(10**kind.scale, 10 ** (kind.precision - 1))
        return tuple(kind.from_units(units) for units in (0, one, one // 2, -one))
    if isinstance(kind, ARRAY):
        first, second, *_ = domain(kind.element, False)
        return ((), (first,), (first, second, first), (None,))
    return DOMAINS[kind]


@lru_cache(maxsize=4096)
def turned(kind: Type, nullable: bool, turn: int) -> tuple[Value, ...]:
    """The values of a type that broke engines, from one of them on: that one is met most often.

    >>> turned(BIGINT, True, 2)[:3]
    (9223372036854775807, -9223372036854775808, -9223372036854775807)
    """
    values = killer_domain(kind) + ((None,) if nullable else ())
    place = turn % len(values)
    return values[place:] + values[:place]


def domains(schema: Schema, given: bytes, killers: bool | None) -> list[tuple[Value, ...]]:
    """The values to choose from for each column: those that broke engines, or plain ones."""
    if has_killers(given, killers):
        return [turned(column.type, column.nullable, given[TURN]) for column in schema.columns]
    return [domain(column.type, column.nullable) for column in schema.columns]


def has_killers(given: bytes, killers: bool | None) -> bool:
    """Whether this block asks for values that broke engines: always, never, or one in eight."""
    return given[KILLERS] >= PLAIN if killers is None else killers


def schema_of(given: bytes, prefix: str) -> Schema:
    """The schema that these bytes stand for: how many columns, then a byte for each."""
    width = 1 + given[0] % COLUMNS
    kinds = [divmod(byte % (2 * len(TYPES)), len(TYPES)) for byte in given[1 : 1 + width]]
    return Schema(
        tuple(
            Column(f"{prefix}{n}", TYPES[kind], bool(nullable))
            for n, (nullable, kind) in enumerate(kinds)
        )
    )


def row_of(given: bytes, schema: Schema, killers: bool | None = None) -> Row:
    """The row that these bytes stand for.

    >>> row_of(bytes(BLOCK), Schema.parse("k BIGINT, x VARCHAR"))
    (0, 'a')
    """
    return universe(schema, given, domains(schema, given, killers), rows=1)[0]


def universe(
    schema: Schema, given: bytes, domains: Sequence[Sequence[Value]], rows: int = ROWS
) -> list[Row]:
    """The rows of a table's universe, by the bytes of their values."""
    width = len(schema)
    return [
        tuple(
            skewed(given[(row * width + place) % BLOCK], choices)
            for place, choices in enumerate(domains)
        )
        for row in range(rows)
    ]


def skewed(byte: int, choices: Sequence[T]) -> T:
    """One of the choices, the first ones more often, so that rows of two tables meet.

    >>> skewed(0, "abc"), skewed(140, "abc"), skewed(255, "abc")
    ('a', 'a', 'c')
    """
    return choices[byte * byte * len(choices) >> 16]


# ── Streams of changes ──────────────────────────────────────────────────────────────────────


def history(
    given: Sequence[bytes],
    schemas: Sequence[Schema],
    ticks: int = TICKS,
    signed: bool = True,
    killers: bool | None = None,
) -> tuple[list[ZSet], ...]:
    """The streams, one for each schema, that a block of events and a universe each stand for.

    A universe has a byte per column of each row. An event has two bytes: one for the tick,
    where zero is no event, and one for the weight, the row and the table. Huge weights are for
    signed streams only, as a table that is kept as rows must write every copy down.
    """
    events, *universes = given
    tables = [
        universe(schema, drawn, domains(schema, events, killers))
        for schema, drawn in zip(schemas, universes, strict=True)
    ]
    huge = signed and has_killers(events, killers) and events[KILLERS] % 2
    weights = HUGE if huge else WEIGHTS
    changes: list[list[dict[Row, int]]] = [[{} for _ in range(ticks)] for _ in schemas]
    sums: list[dict[Row, int]] = [{} for _ in schemas]
    for tick, table, position, choice in sorted(decoded(events, ticks, len(tables), len(weights))):
        row = tables[table][position]
        present = sums[table].get(row, 0)
        chosen = weights[choice]
        weight = -present if chosen is None or (not signed and present + chosen < 0) else chosen
        sums[table][row] = present + weight
        change = changes[table][tick]
        change[row] = change.get(row, 0) + weight
    pairs = zip(schemas, changes, strict=True)
    return tuple([zset_of(change, schema) for change in stream] for schema, stream in pairs)


def zset_of(change: dict[Row, int], schema: Schema) -> ZSet:
    """A change as a Z-set: its rows are canonical already."""
    weights = {row: weight for row, weight in change.items() if weight}
    return ZSet.trusted(weights, schema)


def decoded(
    events: bytes, ticks: int, tables: int, weights: int
) -> list[tuple[int, int, int, int]]:
    """(tick, table, row, weight) of each event; more of them the more ticks there are."""
    found = []
    used = min(TURN, 2 * (5 + 2 * ticks))
    for when, what in zip(events[:used:2], events[1:used:2], strict=True):
        if when:
            rest, choice = divmod(what, weights)
            table, position = divmod(rest, ROWS)
            found.append(((when - 1) % ticks, table % tables, position, choice))
    return found


def by_tick(names: Sequence[str], streams: Sequence[list[ZSet]]) -> list[dict[str, ZSet]]:
    """The streams of the tables as a circuit takes them: a delta per table, tick by tick."""
    return [dict(zip(names, deltas, strict=True)) for deltas in zip(*streams, strict=True)]


# ── Operators and queries ───────────────────────────────────────────────────────────────────


class Choices(Random):
    """A `Random` whose choices are the bytes it is given, so what it chooses shrinks with them.

    `Operator.sample` says how to make an operator for every backend and generator alike, and
    asks for a `Random`. One that is seeded by Hypothesis would draw as fast, but seeds do not
    shrink; `st.randoms()` shrinks, but draws once per choice. Zeros choose what is simplest:
    the first of a sequence, the branch that `random() < p` guards not taken.

    >>> Choices(bytes([0, 2])).choice("abc"), Choices(b"").random()
    ('a', 0.99609375)
    """

    def __init__(self, given: bytes) -> None:
        super().__init__(0)
        self.given = chain(given, cycle(range(256)))

    def random(self) -> float:
        return (255 - next(self.given)) / 256

    def getrandbits(self, k: int, /) -> int:
        return next(self.given) % (1 << k)


def operator_of(given: bytes, schemas: Sequence[Schema], *kinds: type[Operator]) -> Operator | None:
    """The first of these kinds that fits the schemas, the bytes say from which on."""
    first = given[0] % len(kinds)
    for kind in kinds[first:] + kinds[:first]:
        operator = kind.sample(Choices(given[1:]), *schemas)
        if operator is not None:
            return operator
    return None


def query_of(
    given: Sequence[bytes],
    depth: int,
    root: type[Operator] | None = None,
    tables: Sequence[Table] = (),
    kinds: Sequence[type[Operator]] = OPERATORS,
) -> Query | None:
    """The query that these blocks stand for; None when the operator at its top does not fit.

    The first is for the tables. Then there is one for every place of a binary tree, the top
    first: which table if this is a leaf, whether it is one, the operator, its choices.
    """
    leaves = tables or tables_of(given[0])

    def node(place: int, left: int, leaf: Query) -> Query:
        if not left:
            return leaf
        stop, choice, *below = given[place][:4]
        forced = root if place == 1 else None
        if stop % 4 == 0 and not forced:
            return leaf
        kind = forced or kinds[choice % len(kinds)]
        inputs = [
            node(2 * place + side, left - 1, leaves[below[side] % len(leaves)])
            for side in range(kind.arity)
        ]
        for over in fitting(*inputs):
            operator = kind.sample(Choices(given[place][4:]), *[each.schema for each in over])
            if operator is not None:
                return apply(operator, *over)
        return leaf

    query = node(1, depth, leaves[0])
    fits = root is None or (isinstance(query, Apply) and isinstance(query.operator, root))
    return query if fits else None


def tables_of(given: bytes) -> tuple[Table, Table]:
    """Two tables, the second one half the time with the types of the first."""
    first, second = schema_of(given[1:], "c"), schema_of(given[COLUMNS + 2 :], "d")
    return Table("t0", first), Table("t1", second if given[0] % 2 else renamed(first, "d"))


def renamed(schema: Schema, prefix: str) -> Schema:
    """The same types under other names, so that a UNION ALL or a join fits."""
    return Schema(tuple(Column(f"{prefix}{n}", c.type) for n, c in enumerate(schema.columns)))


def fitting(left: Query, *right: Query) -> list[list[Query]]:
    """Inputs to offer an operator, in this order: as drawn, without a name twice, a self-join."""
    pairs = [[left, *right]]
    if right:
        pairs += [[left, prefixed(right[0], left)], [left, left], [left, prefixed(left, left)]]
    return pairs


def prefixed(query: Query, other: Query) -> Query:
    """The query with its columns renamed, so that it shares no name with the other one."""
    prefix = "r"
    while {prefix + name for name in query.schema.names} & set(other.schema.names):
        prefix += "r"
    return query.prefix(prefix)
