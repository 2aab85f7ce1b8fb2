"""Random types, rows, Z-sets, delta streams, operators and queries, that shrink to small ones.

    types()                  a SQL type              schemas()               one to three columns
    values(type)             from a domain of few    rows(schema)
    zsets(schema)            weights of either sign  bags(schema)            weights above zero
    delta_streams(*schemas)  one stream per schema   table_streams(tables)   one delta per table
    operators(kind, *schemas)   queries(depth)       subjects(kind)

Small domains find more than large ones: rows must meet each other, cancel out and come back.
So Z-sets and streams are drawn over a universe of a few rows, as one flat list of events
(tick, table, row, weight), some of which retract whatever there is of a row.

All of this is decoded from blocks of 64 bytes. A block costs a third of drawing its parts
(3,000 a second against 800 to 1,500), and has a fixed layout: a byte means the same whatever
its neighbours shrink to, so counterexamples become as small as with parts. All blocks have
one size because Hypothesis also tries a case with one part in the place of another; where
sizes differed, it had to fill up with zeros, and 27 % of the streams came out empty.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, cycle
from random import Random
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from deltaproof.properties.law import Subject, subject_of
from deltaproof.reference.errors import UsageError
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
WEIGHTS = (1, -1, 2, -2, 3)
GONE = len(WEIGHTS)  # in place of a weight: as much as it takes for the row to be gone

ROWS = 4  # rows in the universe of a table
TICKS = 4
BLOCK = 64  # bytes; see above
COLUMNS = 3  # most columns of a table

BYTES = st.binary(min_size=BLOCK, max_size=BLOCK)


@lru_cache(maxsize=64)
def blocks(number: int) -> SearchStrategy[tuple[bytes, ...]]:
    """This many blocks of bytes, which everything else is decoded from."""
    return st.tuples(*[BYTES] * number)


# ── Values, rows, schemas ───────────────────────────────────────────────────────────────────


def types() -> SearchStrategy[Type]:
    """A SQL type; the simplest is BIGINT."""
    return st.sampled_from(TYPES)


def values(kind: Type, nullable: bool = False) -> SearchStrategy[Value]:
    """A value of this type, from a domain of a few; NULL too, if it may be.

    >>> from hypothesis import find
    >>> find(values(VARCHAR, nullable=True), lambda value: value != "a")
    'b'
    """
    return st.sampled_from(domain(kind, nullable))


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


def schemas(prefix: str = "c") -> SearchStrategy[Schema]:
    """A schema of one to three columns c0, c1, c2, of any type, nullable or not.

    >>> from hypothesis import find
    >>> print(find(schemas("k"), lambda schema: len(schema) == 2))
    k0 BIGINT NOT NULL, k1 BIGINT NOT NULL
    """
    return BYTES.map(lambda given: schema_of(given, prefix))


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


def rows(schema: Schema) -> SearchStrategy[Row]:
    """A row that fits the schema."""
    return st.tuples(*[values(column.type, column.nullable) for column in schema.columns])


# ── Z-sets and streams of changes ───────────────────────────────────────────────────────────


def zsets(schema: Schema) -> SearchStrategy[ZSet]:
    """A Z-set of a few rows, their weights of either sign.

    >>> from hypothesis import find
    >>> find(zsets(Schema.parse("k BIGINT NOT NULL")), lambda z: any(w < 0 for _, w in z.items()))
    ZSet({(0,): -1})
    """
    return delta_streams(schema, ticks=1).map(lambda streams: streams[0][0])


def bags(schema: Schema) -> SearchStrategy[ZSet]:
    """A Z-set whose weights are positive: the contents of a table."""
    return zsets(schema).map(as_bag)


def as_bag(zset: ZSet) -> ZSet:
    """The Z-set with every weight made positive.

    >>> as_bag(ZSet({("x",): -2}))
    ZSet({('x',): 2})
    """
    return ZSet({row: abs(weight) for row, weight in zset.items()}, zset.schema)


def delta_streams(
    *schemas: Schema, ticks: int = TICKS, signed: bool = True
) -> SearchStrategy[tuple[list[ZSet], ...]]:
    """For each schema a stream of changes, all of the same length.

    Unless signed, the sum of a stream is a table at every tick: no row is deleted that is
    not there.

    >>> from hypothesis import find
    >>> k = Schema.parse("k BIGINT NOT NULL")
    >>> comes_and_goes = lambda s: s[0][0] and not sum(s[0], ZSet())
    >>> (stream,) = find(delta_streams(k, signed=False), comes_and_goes)
    >>> stream[:2]
    [ZSet({(0,): 1}), ZSet({(0,): -1})]
    """
    return blocks(len(schemas) + 1).map(
        lambda drawn: history(schemas, ticks, signed, drawn[1:], drawn[0])
    )


def history(
    schemas: Sequence[Schema],
    ticks: int,
    signed: bool,
    universes: Sequence[bytes],
    events: bytes,
) -> tuple[list[ZSet], ...]:
    """The streams that these bytes stand for.

    A universe has a byte per column of each row. An event has two bytes: one for the tick,
    where zero is no event, and one for the weight, the row and the table.
    """
    tables = list(map(table_rows, schemas, universes))
    changes: list[list[dict[Row, int]]] = [[{} for _ in range(ticks)] for _ in schemas]
    sums: list[dict[Row, int]] = [{} for _ in schemas]
    for tick, table, position, choice in sorted(decoded(events, ticks, len(tables))):
        row = tables[table][position]
        present = sums[table].get(row, 0)
        weight = WEIGHTS[choice] if choice < GONE else -present
        if not signed and present + weight < 0:
            weight = -present
        sums[table][row] = present + weight
        change = changes[table][tick]
        change[row] = change.get(row, 0) + weight
    pairs = zip(schemas, changes, strict=True)
    return tuple([ZSet(change, schema) for change in stream] for schema, stream in pairs)


def table_rows(schema: Schema, universe: bytes) -> list[Row]:
    """The rows of one table's universe, by the bytes of their values."""
    width = len(schema)
    domains = [domain(column.type, column.nullable) for column in schema.columns]
    return [
        tuple(
            skewed(universe[(row * width + place) % BLOCK], choices)
            for place, choices in enumerate(domains)
        )
        for row in range(ROWS)
    ]


def skewed(byte: int, choices: Sequence[T]) -> T:
    """One of the choices, the first ones more often, so that rows of two tables meet.

    >>> skewed(0, "abc"), skewed(140, "abc"), skewed(255, "abc")
    ('a', 'a', 'c')
    """
    return choices[byte * byte * len(choices) >> 16]


def decoded(events: bytes, ticks: int, tables: int) -> list[tuple[int, int, int, int]]:
    """(tick, table, row, weight) of each event; more of them the more ticks there are."""
    found = []
    used = min(BLOCK, 2 * (5 + 2 * ticks))
    for when, what in zip(events[:used:2], events[1:used:2], strict=True):
        if when:
            rest, choice = divmod(what, len(WEIGHTS) + 1)
            table, position = divmod(rest, ROWS)
            found.append(((when - 1) % ticks, table % tables, position, choice))
    return found


def table_streams(
    tables: Mapping[str, Schema], ticks: int = TICKS, signed: bool = True
) -> SearchStrategy[list[dict[str, ZSet]]]:
    """For each tick, a change of each table: what a `Circuit` takes.

    >>> from hypothesis import find
    >>> find(table_streams({"t": Schema.parse("k BIGINT NOT NULL")}, ticks=2), lambda s: s[1]["t"])
    [{'t': ZSet({})}, {'t': ZSet({(0,): 1})}]
    """
    names = list(tables)
    streams = delta_streams(*tables.values(), ticks=ticks, signed=signed)
    return streams.map(
        lambda drawn: [dict(zip(names, deltas, strict=True)) for deltas in zip(*drawn, strict=True)]
    )


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


def operators(kind: type[Operator], *schemas: Schema) -> SearchStrategy[Operator]:
    """An operator of this kind that fits these schemas, by its own `sample`.

    >>> from hypothesis import find
    >>> from deltaproof.reference.operators.join import Join
    >>> a, b = Schema.parse("a BIGINT"), Schema.parse("b BIGINT, c BIGINT")
    >>> find(operators(Join, a, b), lambda join: True)
    Join(on=(('a', 'b'),))
    """
    drawn = BYTES.map(lambda given: kind.sample(Choices(given), *schemas))
    return drawn.filter(lambda operator: operator is not None)  # type: ignore[return-value]


def queries(depth: int = 2, root: type[Operator] | None = None) -> SearchStrategy[Query]:
    """A query of operators at most `depth` deep over tables t0 and t1; the top one of this kind.

    >>> from hypothesis import find
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> print(find(queries(root=Distinct), lambda query: len(query.operators()) == 2))
    distinct
    └─ filter c0 >= 3
       └─ t0
    """
    drawn = blocks(2**depth).map(lambda given: query_of(given, depth, root))
    return drawn.filter(lambda query: query is not None)  # type: ignore[return-value]


def subjects(kind: type[Operator]) -> SearchStrategy[Subject]:
    """An operator of this kind at the schemas of its inputs: what the operator laws speak of."""
    return queries(depth=1, root=kind).map(subject_of_query)


def subject_of_query(query: Query) -> Subject:
    """The operator at the top of a query. Raises UsageError for a table."""
    if not isinstance(query, Apply):
        raise UsageError(f"expected a query with an operator at the top, got table {query}")
    return subject_of(query.operator, *[each.schema for each in query.over])


def query_of(given: Sequence[bytes], depth: int, root: type[Operator] | None) -> Query | None:
    """The query that these blocks stand for; None when the operator at its top does not fit.

    The first is for the tables. Then there is one for every place of a binary tree, the top
    first: which table if this is a leaf, whether it is one, the operator, its choices.
    """
    tables = tables_of(given[0])

    def node(place: int, left: int, leaf: Query) -> Query:
        if not left:
            return leaf
        stop, choice, *leaves = given[place][:4]
        forced = root if place == 1 else None
        if stop % 4 == 0 and not forced:
            return leaf
        kind = forced or OPERATORS[choice % len(OPERATORS)]
        inputs = [
            node(2 * place + side, left - 1, tables[leaves[side] % len(tables)])
            for side in range(kind.arity)
        ]
        for over in fitting(*inputs):
            operator = kind.sample(Choices(given[place][4:]), *[each.schema for each in over])
            if operator is not None:
                return apply(operator, *over)
        return leaf

    query = node(1, depth, tables[0])
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
