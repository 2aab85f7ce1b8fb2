"""DuckDB as a second independent oracle, tick by tick or all moments of many cases at once.

A moment is one tick of one case. The batch form writes down the tables as they are at every
moment, and asks once for the view at all moments:

    SELECT moments, view.*, COUNT(*)
    FROM moments, LATERAL (the view's SELECT, each table restricted to the moment) AS view
    GROUP BY ALL

Rows come and go by Arrow, whose types tell a BIGINT from the wider integer that a sum can be.
They are copied into DuckDB's own tables, as filters on Arrow data are run by Arrow. Inside,
tables and columns are known by position, so that no name can clash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from typing import Any, TypeAlias

from sqlglot import exp

from deltaproof.conformance.adapter import Observed
from deltaproof.conformance.adapters.pool import Pool
from deltaproof.conformance.adapters.recompute import (
    Change,
    RecomputeSession,
    capabilities_in,
    copies,
    deltas_of,
    refusal,
    too_few,
)
from deltaproof.conformance.adapters.rows import Reader, Rows, read_double
from deltaproof.conformance.case import Stream
from deltaproof.reference.errors import BackendError, BackendMissing
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.query import Query
from deltaproof.reference.sql import to_sql
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
from deltaproof.reference.zset import ZSet

try:
    import duckdb
    import pyarrow
except ImportError as error:
    raise BackendMissing(
        f"backend duckdb: {error.name} is not installed: pip install 'deltaproof[duckdb]'"
    ) from error

SETTINGS = (
    "SET threads = 2",
    "SET enable_progress_bar = false",
    "SET temp_directory = ''",  # spills nothing to disk
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",  # a name in SQL is never a variable of ours
    "SET enable_external_access = false",  # reads and writes no file
)
# An oracle had better run what is written. This one makes the batch form half as dear; with all
# of them, DuckDB 2.0.0 ends a LATERAL aggregate over one without keys in an INTERNAL error.
OPTIMIZERS = ("filter_pushdown",)
ROWS_AT_ONCE = 500_000  # in the batch form; more are asked for in several batches

Moment: TypeAlias = Mapping[str, list[Row]]  # every table's rows at one tick of one case


class DuckDBBackend:
    """DuckDB in memory, by recompute.

    >>> from deltaproof.reference.query import count, table
    >>> sales = table("sales", "fruit VARCHAR")
    >>> per_fruit = sales.group_by("fruit").aggregate(n=count())
    >>> ticks = [{"sales": ZSet({("fig",): 3})}, {"sales": ZSet({("fig",): -1})}, {}]
    >>> (observed,) = DuckDBBackend().run_many(per_fruit, [ticks])
    >>> [contents for contents, _ in observed]
    [ZSet({('fig', 3): 1}), ZSet({('fig', 2): 1}), ZSet({('fig', 2): 1})]
    """

    name = "duckdb"
    tolerance = 1e-9  # a sum of doubles is rounded at every step

    def __init__(self) -> None:
        self.capabilities = capabilities_in("duckdb") | {"sum.wide"}  # in 128 bits
        self.engines: Pool[Engine] = Pool()

    def describe(self) -> str:
        return f"DuckDB {duckdb.__version__}"

    def refuses(self, query: Query) -> str | None:
        """Why this query has no SQL here; None when it has."""
        return refusal(query, "duckdb")

    def open(
        self, tables: Mapping[str, Schema], views: Mapping[str, Query]
    ) -> RecomputeSession[DuckDBDatabase]:
        """Raises SchemaError for a query that plain SQL has no words for."""
        database = DuckDBDatabase(self.engines.take(Engine, Engine), tables, views)
        rows = {name: Rows(query.schema, reader) for name, query in views.items()}
        return RecomputeSession(database, tables, rows, lambda used: self.release(used.engine))

    def run_many(self, query: Query, streams: Sequence[Stream]) -> list[list[Observed]]:
        """The view at every tick of every stream. Raises SchemaError, BackendError."""
        if lateral_loses_rows(query):
            return [self.moment_by_moment(query, stream) for stream in streams]
        engine = self.engines.take(Engine, Engine)
        tables = query.tables()
        moments = chain.from_iterable(moments_of(tables, stream) for stream in streams)
        contents = chain.from_iterable(view_at(engine, query, batch) for batch in batches(moments))
        observed = [[Observed(next(contents), None) for _ in stream] for stream in streams]
        self.release(engine)
        return observed

    def moment_by_moment(self, query: Query, stream: Stream) -> list[Observed]:
        """The view at every tick of one stream, asked for after each."""
        observed = []
        with closing(self.open(query.tables(), {"view": query})) as session:
            for tick in stream:
                session.step(tick)
                observed.append(Observed(session.read("view"), None))
        return observed

    def release(self, engine: Engine) -> None:
        """Keeps an engine for the next session, unless an error may have left it unusable."""
        if not engine.failed:
            self.engines.give(Engine, engine)


def lateral_loses_rows(query: Query) -> bool:
    """Whether DuckDB 2.0.0, asked for all moments at once, forgets rows over empty tables.

    In a LATERAL, UNION ALL of aggregates without keys has no row where an aggregate is NULL. It
    is how the set without keys is printed when it is there twice.
    """
    return any(
        isinstance(operator, GroupingSets) and operator.sets.count(()) > 1
        for operator in query.operators()
    )


class DuckDBDatabase:
    """The tables of a session, their rows numbered, and the SELECT of each view."""

    def __init__(
        self, engine: Engine, tables: Mapping[str, Schema], views: Mapping[str, Query]
    ) -> None:
        self.engine = engine
        self.places = {
            name: (f"_t{place}", schema) for place, (name, schema) in enumerate(tables.items())
        }
        sources = {name: source(*place) for name, place in self.places.items()}
        self.selects = {name: to_sql(query, "duckdb", sources) for name, query in views.items()}

    def clear(self) -> None:
        for name, schema in self.places.values():
            self.engine.replace(name, schema, [], [])

    def write(self, changes: Sequence[Change]) -> None:
        with self.engine.transaction():
            for change in changes:
                name, schema = self.places[change.table]
                if change.deletes:
                    self.engine.delete(name, change.deletes)
                if change.inserts:
                    numbers, rows = zip(*change.inserts, strict=True)
                    self.engine.insert(name, schema, numbers, rows)

    def answer(self, view: str) -> Iterable[Row]:
        return self.engine.rows(self.selects[view])


class Engine:
    """A connection to a DuckDB in memory: numbered rows in, rows out, by Arrow."""

    def __init__(self) -> None:
        self.failed = False
        with self.errors():
            self.connection = duckdb.connect(":memory:")
            for statement in SETTINGS:
                self.connection.execute(statement)
            names = self.connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
            others = ",".join(name for (name,) in names if name not in OPTIMIZERS)
            self.connection.execute(f"SET disabled_optimizers = '{others}'")

    def replace(
        self, name: str, schema: Schema, numbers: Sequence[int], rows: Sequence[Row]
    ) -> None:
        self.write(f"CREATE OR REPLACE TABLE {name} AS FROM _arrow", schema, numbers, rows)

    def insert(
        self, name: str, schema: Schema, numbers: Sequence[int], rows: Sequence[Row]
    ) -> None:
        self.write(f"INSERT INTO {name} FROM _arrow", schema, numbers, rows)

    def delete(self, name: str, numbers: Sequence[int]) -> None:
        statement = f"DELETE FROM {name} WHERE _number IN (SELECT _number FROM _arrow)"
        self.write(statement, Schema(()), numbers, ())

    def write(
        self, statement: str, schema: Schema, numbers: Sequence[int], rows: Sequence[Row]
    ) -> None:
        """Runs a statement that reads these numbered rows as `_arrow`."""
        with self.errors():
            self.connection.register("_arrow", arrow_table(schema, numbers, rows))
            self.connection.execute(statement)
            self.connection.unregister("_arrow")

    def rows(self, select: str) -> Iterable[Row]:
        with self.errors():
            answer = self.connection.sql(select).to_arrow_table()
        return zip(*[column.to_pylist() for column in answer.columns], strict=True)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.errors():
            self.connection.begin()
            try:
                yield
            except BaseException:
                self.connection.rollback()
                raise
            self.connection.commit()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """DuckDB's and Arrow's own errors as BackendError."""
        try:
            yield
        except (duckdb.Error, pyarrow.ArrowException) as error:
            self.failed = True
            reason, _, _ = str(error).strip().partition("\n\nStack Trace")
            raise BackendError(f"duckdb: {reason}") from error


def moments_of(tables: Mapping[str, Schema], stream: Stream) -> Iterator[Moment]:
    """The rows of every table after each tick. Raises BackendError below weight zero.

    >>> tables = {"t": Schema.parse("k BIGINT")}
    >>> list(moments_of(tables, [{"t": ZSet({(7,): 2})}, {"t": ZSet({(7,): -1})}]))
    [{'t': [(7,), (7,)]}, {'t': [(7,)]}]
    """
    weights: dict[str, dict[Row, int]] = {name: {} for name in tables}
    for tick in stream:
        for name, delta in deltas_of(tables, tick):
            held = weights[name]
            for row, change in delta.items():
                weight = held.pop(row, 0) + change
                if weight < 0:
                    message = too_few(row, -change, weight - change)
                    raise BackendError(f"table {name}: {message}")
                if weight:
                    held[row] = weight
        yield {
            name: [each for row, weight in held.items() for each in copies(row, weight)]
            for name, held in weights.items()
        }


def batches(moments: Iterable[Moment]) -> Iterator[list[Moment]]:
    """The moments in order, in lists that hold no more rows than are asked for at once."""
    batch: list[Moment] = []
    rows = 0
    for moment in moments:
        batch.append(moment)
        rows += sum(map(len, moment.values()))
        if rows > ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def view_at(engine: Engine, query: Query, moments: Sequence[Moment]) -> Iterator[ZSet]:
    """The view's contents at each of these moments."""
    sources = {}
    for place, (name, schema) in enumerate(query.tables().items()):
        rows = [moment[name] for moment in moments]
        numbers = [number for number, each in enumerate(rows) for _ in each]
        engine.replace(f"_t{place}", schema, numbers, list(chain.from_iterable(rows)))
        sources[name] = source(f"_t{place}", schema).where("_number = _moments._number")
    engine.replace("_moments", Schema(()), range(len(moments)), ())
    view = to_sql(query, "duckdb", sources)
    answer = engine.rows(
        f"SELECT _moments._number, _view.*, COUNT(*) "
        f"FROM _moments, LATERAL ({view}) AS _view GROUP BY ALL"
    )
    entries: list[list[tuple[Row, int]]] = [[] for _ in moments]
    for number, *row, weight in answer:
        entries[number].append((tuple(row), weight))
    return map(Rows(query.schema, reader).zset, entries)


def source(name: str, schema: Schema) -> exp.Select:
    """A table of numbered rows as the user's table: `SELECT _c0 AS "k", … FROM _t0`."""
    columns = [
        exp.column(f"_c{place}").as_(column, quoted=True)
        for place, column in enumerate(schema.names)
    ]
    return exp.select(*columns).from_(name)


def arrow_table(schema: Schema, numbers: Sequence[int], rows: Sequence[Row]) -> pyarrow.Table:
    """Numbered rows as Arrow: columns _number, _c0, _c1, …"""
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema.types)
    kinds = map(arrow_type, schema.types)
    arrays = [pyarrow.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    names = [f"_c{place}" for place in range(len(schema))]
    number = pyarrow.array(numbers, pyarrow.int64())
    return pyarrow.table([number, *arrays], names=["_number", *names])


def arrow_type(kind: Type) -> pyarrow.DataType:
    if isinstance(kind, DECIMAL):
        return pyarrow.decimal128(kind.precision, kind.scale)
    if isinstance(kind, ARRAY):
        return pyarrow.list_(arrow_type(kind.element))
    return ARROW_TYPES[kind]


ARROW_TYPES: Mapping[Type, pyarrow.DataType] = {
    BOOLEAN: pyarrow.bool_(),
    BIGINT: pyarrow.int64(),
    DOUBLE: pyarrow.float64(),
    VARCHAR: pyarrow.string(),
    DATE: pyarrow.date32(),
    TIMESTAMP: pyarrow.timestamp("us"),
}


def reader(kind: Type) -> Reader | None:
    """How the values that Arrow gives are read as values of this type."""
    if kind == DOUBLE:
        return read_double
    if isinstance(kind, ARRAY):
        element = reader(kind.element) or (lambda value: value)
        return lambda value: read_list(value, element)
    return None


def read_list(value: Any, element: Reader) -> Value:
    if type(value) is not list:
        return value
    return tuple(None if each is None else element(each) for each in value)
