"""Random types, rows, Z-sets, streams of changes, operators and queries, that shrink to small ones.

    types()             a SQL type                   schemas()         one to three columns
    values(type)        from a domain of few         rows(schema)
    zsets(schema)       weights of either sign       bags(schema)      weights above zero
    streams(*schemas)   one stream per schema        delta_streams(tables)   one delta per table
    operators(*schemas) that fits them, of any kind  subjects(kind)    with its input schemas
    queries(depth)      a tree of operators          views(depth)      with ticks of its tables

Somebody's own operator is drawn as ours are, by its `sample`: `operators(kind=MyOperator)`,
`subjects(MyOperator)`, `queries(root=MyOperator)`. A schema may be given in words.

One case in eight is of values that broke engines, and of huge weights: `killers=True` draws
nothing else, `killers=False` none.

All of this is decoded from blocks of 64 bytes (see `decode`). A block costs a third of drawing
its parts (3,000 a second against 800 to 1,500), and counterexamples become as small as with
parts. All blocks have one size because Hypothesis also tries a case with one part in the place
of another; where sizes differed, it had to fill up with zeros, and 27 % of the streams came out
empty. Making a strategy costs as much as drawing from it: the ones below are made once for the
same arguments, and `views` draws a query and its ticks at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from deltaproof.properties.decode import (
    BLOCK,
    PLAIN,
    TICKS,
    TYPES,
    by_tick,
    domain,
    history,
    operator_of,
    query_of,
    row_of,
    schema_of,
)
from deltaproof.properties.killers import killer_domain
from deltaproof.properties.law import Subject, subject_of
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.types import Row, Schema, Type, Value
from deltaproof.reference.zset import ZSet

Tables: TypeAlias = Mapping[str, Schema | str]
Kind: TypeAlias = type[Operator]
Ticks: TypeAlias = list[dict[str, ZSet]]

BYTES = st.binary(min_size=BLOCK, max_size=BLOCK)


@lru_cache(maxsize=64)
def blocks(number: int) -> SearchStrategy[tuple[bytes, ...]]:
    """This many blocks of bytes, which everything else is decoded from."""
    return st.tuples(*[BYTES] * number)


# ── Values, rows, schemas ───────────────────────────────────────────────────────────────────


def types() -> SearchStrategy[Type]:
    """A SQL type; the simplest is BIGINT."""
    return st.sampled_from(TYPES)


def values(
    kind: Type, nullable: bool = False, killers: bool | None = None
) -> SearchStrategy[Value]:
    """A value of this type, from a domain of a few; NULL too, if it may be.

    >>> from hypothesis import find
    >>> from deltaproof.reference.types import BIGINT, VARCHAR
    >>> find(values(VARCHAR, nullable=True), lambda value: value != "a")
    'b'
    >>> find(values(BIGINT, killers=True), lambda value: value > 1)
    9223372036854775807
    """
    return st.sampled_from(mixed(kind, nullable, killers))


@lru_cache(maxsize=1024)
def mixed(kind: Type, nullable: bool, killers: bool | None) -> tuple[Value, ...]:
    """The values to sample from; the plain ones so often that they make up their share."""
    null = (None,) if nullable else ()
    plain, broke = domain(kind, False) + null, killer_domain(kind) + null
    if killers is not None:
        return broke if killers else plain
    often = round(len(broke) * PLAIN / (256 - PLAIN) / len(plain))
    return plain * max(often, 1) + broke


def schemas(prefix: str = "c") -> SearchStrategy[Schema]:
    """A schema of one to three columns c0, c1, c2, of any type, nullable or not.

    >>> from hypothesis import find
    >>> print(find(schemas("k"), lambda schema: len(schema) == 2))
    k0 BIGINT NOT NULL, k1 BIGINT NOT NULL
    """
    return BYTES.map(lambda given: schema_of(given, prefix))


def rows(schema: Schema | str, killers: bool | None = None) -> SearchStrategy[Row]:
    """A row that fits the schema.

    >>> from hypothesis import find
    >>> find(rows("k BIGINT NOT NULL, name VARCHAR"), lambda row: row[1] is None)
    (0, None)
    """
    parsed = schema_from(schema)
    return BYTES.map(lambda given: row_of(given, parsed, killers))


def schema_from(given: Schema | str) -> Schema:
    """The schema, or the one that these words say. Raises UsageError for anything else."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, str):
        return Schema.parse(given)
    raise UsageError(f"expected a Schema or its words, 'k BIGINT, name VARCHAR', got {given!r}")


# ── Z-sets and streams of changes ───────────────────────────────────────────────────────────


def zsets(schema: Schema | str, killers: bool | None = None) -> SearchStrategy[ZSet]:
    """A Z-set of a few rows, their weights of either sign.

    >>> from hypothesis import find
    >>> find(zsets("k BIGINT NOT NULL"), lambda z: any(w < 0 for _, w in z.items()))
    ZSet({(0,): -1})
    >>> find(zsets("k BIGINT NOT NULL"), lambda z: any(w > 1000 for _, w in z.items()))
    ZSet({(0,): 2147483647})
    """
    return streams(schema, ticks=1, killers=killers).map(lambda drawn: drawn[0][0])


def bags(schema: Schema | str, killers: bool | None = None) -> SearchStrategy[ZSet]:
    """A Z-set whose weights are positive: the contents of a table."""
    return zsets(schema, killers).map(as_bag)


def as_bag(zset: ZSet) -> ZSet:
    """The Z-set with every weight made positive.

    >>> as_bag(ZSet({("x",): -2}))
    ZSet({('x',): 2})
    """
    return ZSet({row: abs(weight) for row, weight in zset.items()}, zset.schema)


def streams(
    *schemas: Schema | str, ticks: int = TICKS, signed: bool = True, killers: bool | None = None
) -> SearchStrategy[tuple[list[ZSet], ...]]:
    """For each schema a stream of changes, all of the same length.

    Unless signed, the sum of a stream is a table at every tick: no row is deleted that is
    not there.

    >>> from hypothesis import find
    >>> comes_and_goes = lambda s: s[0][0] and not sum(s[0], ZSet())
    >>> (stream,) = find(streams("k BIGINT NOT NULL", signed=False), comes_and_goes)
    >>> stream[:2]
    [ZSet({(0,): 1}), ZSet({(0,): -1})]
    """
    if not schemas:
        raise UsageError("streams need a schema each: streams('k BIGINT', 'k BIGINT')")
    if ticks < 1:
        raise UsageError(f"a stream has at least one tick, got ticks={ticks!r}")
    return _streams(tuple(map(schema_from, schemas)), ticks, signed, killers)


@lru_cache(maxsize=256)
def _streams(
    schemas: tuple[Schema, ...], ticks: int, signed: bool, killers: bool | None
) -> SearchStrategy[tuple[list[ZSet], ...]]:
    return blocks(len(schemas) + 1).map(
        lambda given: history(given, schemas, ticks, signed, killers)
    )


def delta_streams(
    tables: Tables, ticks: int = TICKS, signed: bool = True, killers: bool | None = None
) -> SearchStrategy[Ticks]:
    """For each tick, a change of each table: what a `Circuit` takes.

    >>> from hypothesis import find
    >>> find(delta_streams({"t": "k BIGINT NOT NULL"}, ticks=2), lambda ticks: ticks[1]["t"])
    [{'t': ZSet({})}, {'t': ZSet({(0,): 1})}]
    """
    if not isinstance(tables, Mapping):
        raise UsageError(
            f"expected the tables, {{name: schema}}, got {tables!r}: "
            "for streams of schemas without names see streams(*schemas)"
        )
    names = list(tables)
    drawn = streams(*tables.values(), ticks=ticks, signed=signed, killers=killers)
    return drawn.map(lambda streams: by_tick(names, streams))


# ── Operators and queries ───────────────────────────────────────────────────────────────────


def operators(*schemas: Schema | str, kind: Kind | None = None) -> SearchStrategy[Operator]:
    """An operator that fits these schemas, by its own `sample`; of this kind, or of any of ours.

    Without schemas, one that fits some.

    >>> from hypothesis import find
    >>> from deltaproof.reference.operators.join import Join
    >>> find(operators("a BIGINT", "b BIGINT, c BIGINT", kind=Join), lambda join: True)
    Join(on=(('a', 'b'),))
    >>> find(operators("a BIGINT"), lambda operator: operator.name == "distinct")
    Distinct()
    """
    check_kind(kind)
    if not schemas:
        return subjects(kind).map(operator_at_top)
    inputs = tuple(map(schema_from, schemas))
    kinds = (kind,) if kind else tuple(each for each in OPERATORS if each.arity == len(inputs))
    if not kinds:
        raise UsageError(f"no operator has {len(inputs)} inputs: give one schema, or two")
    drawn = BYTES.map(lambda given: operator_of(given, inputs, *kinds))
    return drawn.filter(lambda operator: operator is not None)  # type: ignore[return-value]


def operator_at_top(subject: Subject) -> Operator:
    if subject.operator is None:
        raise UsageError(f"{subject} is a function, and no operator")
    return subject.operator


def queries(
    depth: int = 2,
    root: Kind | None = None,
    tables: Tables | None = None,
    kinds: Sequence[Kind] = OPERATORS,
) -> SearchStrategy[Query]:
    """A query of operators at most `depth` deep over t0 and t1; the top one of the kind `root`.

    Over these tables instead, or of these kinds of operators, where they are given.

    >>> from hypothesis import find
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> print(find(queries(root=Distinct), lambda query: len(query.operators()) == 2))
    distinct
    └─ filter c0 >= 3
       └─ t0
    """
    check_kind(root)
    for kind in kinds:
        check_kind(kind)
    if depth < 0 or (root and not depth):
        raise UsageError(f"expected at least one level of operators, got depth={depth!r}")
    return _queries(depth, (root,) if root else (), tables_from(tables), tuple(kinds))


@lru_cache(maxsize=256)
def _queries(
    depth: int, roots: tuple[Kind, ...], tables: tuple[Table, ...], kinds: tuple[Kind, ...]
) -> SearchStrategy[Query]:
    root = next(iter(roots), None)
    drawn = blocks(2**depth).map(lambda given: query_of(given, depth, root, tables, kinds))
    return drawn.filter(lambda query: query is not None)  # type: ignore[return-value]


def views(
    depth: int = 2,
    root: Kind | None = None,
    tables: Tables | None = None,
    kinds: Sequence[Kind] = OPERATORS,
    *,
    ticks: int = TICKS,
    signed: bool = True,
    killers: bool | None = None,
) -> SearchStrategy[tuple[Query, Ticks]]:
    """A query as `queries` draws it, and ticks that change its tables: what a view must follow.

    >>> from hypothesis import find
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> changes = lambda view: view[0].meaning()(view[1][-1])
    >>> query, ticks = find(views(1, Distinct, ticks=1), changes)
    >>> ticks
    [{'t0': ZSet({(0,): 1})}]
    """
    given = tables_from(tables)
    most = len(given) or 2
    query_blocks = 2**depth
    queries(depth, root, tables, kinds)  # raises for arguments that fit nothing

    def view(drawn: tuple[bytes, ...]) -> tuple[Query, Ticks] | None:
        query = query_of(drawn[:query_blocks], depth, root, given, kinds)
        if query is None:
            return None
        used = query.tables()
        changes = drawn[query_blocks : query_blocks + 1 + len(used)]
        return query, by_tick(
            list(used), history(changes, [*used.values()], ticks, signed, killers)
        )

    found = blocks(query_blocks + 1 + most).map(view)
    return found.filter(lambda view: view is not None)  # type: ignore[return-value]


def tables_from(tables: Tables | None) -> tuple[Table, ...]:
    return tuple(Table(name, schema_from(each)) for name, each in (tables or {}).items())


def subjects(kind: Kind | None = None) -> SearchStrategy[Subject]:
    """An operator of this kind at the schemas of its inputs: what the operator laws speak of.

    >>> from hypothesis import find
    >>> from deltaproof.reference.operators.negate import Negate
    >>> find(subjects(Negate), lambda subject: True).schemas[0].names
    ('c0',)
    """
    return _subjects((kind,) if kind else ())


@lru_cache(maxsize=256)
def _subjects(kinds: tuple[Kind, ...]) -> SearchStrategy[Subject]:
    drawn = queries(depth=1, root=next(iter(kinds), None))
    with_operator = drawn if kinds else drawn.filter(lambda query: isinstance(query, Apply))
    return with_operator.map(subject_of_query)


def subject_of_query(query: Query) -> Subject:
    """The operator at the top of a query. Raises UsageError for a table."""
    if not isinstance(query, Apply):
        raise UsageError(f"expected a query with an operator at the top, got table {query}")
    return subject_of(query.operator, *[each.schema for each in query.over])


def check_kind(kind: Kind | None) -> None:
    """Raises UsageError for what is no kind of operator, or for one that cannot be drawn."""
    if kind is None:
        return
    given: object = kind  # whatever the caller wrote
    if not (isinstance(given, type) and issubclass(given, Operator)):
        raise UsageError(f"expected a kind of operator, such as Distinct, got {kind!r}")
    if vars(Operator)["sample"].__func__ is getattr(kind.sample, "__func__", None):
        raise UsageError(
            f"{kind.__name__} has no `sample`, which says how to draw one: "
            "write it (see deltaproof.reference.operator.Operator.sample), "
            "or judge one instance at the schemas of its inputs"
        )
