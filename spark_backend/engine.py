"""Views kept up to date by Spark: a range of ticks, and any number of streams, in one job.

    engine = Engine(session(), query)
    engine.step({"flights": delta})     one tick: output deltas
    engine.step_many(ticks)             several ticks in one job
    engine.contents()                   the views: the integral of all output deltas

    run_many(session(), query, streams) many streams of one query, all their ticks, in one job

A call is all or nothing: the state that it leaves is computed beside the one it found, and takes
its place only when everything has succeeded.

Spark plans and runs what `lowering` writes; no code of the reference computes an answer here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import pyarrow
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from deltaproof.reference.errors import (
    BackendError,
    DeltaproofError,
    EvaluationError,
    RowError,
    TickError,
    WeightError,
)
from deltaproof.reference.query import Query, Table
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Entries, ZSet
from deltaproof.spark_backend.frames import (
    WEIGHT,
    ArrowTable,
    Stream,
    arrow_delta,
    arrow_deltas,
    column_names,
    table_of_streams,
    write_delta,
    zsets_of_table,
)
from deltaproof.spark_backend.lowering import (
    ONE_PARTITION,
    Lowering,
    Relation,
    Rows,
    Worker,
    worth_sharing,
)
from deltaproof.spark_backend.operators import FORMS

Delta: TypeAlias = ZSet | Entries | ArrowTable

# What the meaning of a text depends on, and what makes one small job after another fast.
SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",  # overflow raises, it never wraps
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",  # no digit is rounded away
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.adaptive.enabled": "false",
    # Inferring filters gains nothing here, and Spark 4.3 fails in it ("key not found: _case")
    # over some plans that read what localCheckpoint stored.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
# A plan that runs once is not worth compiling: 20 % less work for a random query of three
# operators over 1,500 cases. From some 50,000 lines on, or for the same plan again, it is.
INTERPRETED: Mapping[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
WITHOUT_VALUE: Mapping[str, str] = {
    "ARITHMETIC_OVERFLOW": "a number needs more than 64 bits",
    "CAST_OVERFLOW": "a number does not fit the type that it is cast to",
    "DIVIDE_BY_ZERO": "division by zero",
    "NUMERIC_VALUE_OUT_OF_RANGE": "a DECIMAL needs more digits than its type has",
    "REMAINDER_BY_ZERO": "modulo by zero",
    "USER_RAISED_EXCEPTION": "there is no value",  # the text of the form says why
}

THROWN = frozenset(  # what Spark throws where a value cannot be computed
    f"org.apache.spark.Spark{kind}Exception"
    for kind in ("Arithmetic", "DateTime", "NumberFormat", "Runtime")
)

_own_sessions: WeakKeyDictionary[SparkSession, dict[bool, SparkSession]] = WeakKeyDictionary()
_numbers = count()


def own_session(session: SparkSession, compiled: bool) -> SparkSession:
    """A session beside the given one, on the same Spark, with the settings that we rely on."""
    own_sessions = _own_sessions.setdefault(session, {})
    if compiled not in own_sessions:
        own = session.newSession()
        for name, value in (SETTINGS if compiled else {**SETTINGS, **INTERPRETED}).items():
            own.conf.set(name, value)
        own_sessions[compiled] = own
    return own_sessions[compiled]


def run_many(
    session: SparkSession,
    query: Query,
    streams: Sequence[Stream],
    chunks: Sequence[int] | None = None,
) -> list[list[ZSet]]:
    """The output delta of every tick of every stream, each stream on its own.

    All ticks run in one job; or in one job per chunk, the state carried from each to the next,
    where `chunks` says how many ticks each has: [2, 3] for the first two and the three after.

    Raises what `Engine` raises; one stream that fails fails them all.
    """
    longest = max(map(len, streams), default=0)
    sizes = [longest] if chunks is None else list(chunks)
    if sum(sizes) != longest or (longest and min(sizes) < 1):
        raise TickError(f"chunks must be positive and make {longest} ticks, got {sizes}")
    views = Views(session, {"view": query}, len(streams), compiled=False)
    outputs: list[list[ZSet]] = [[] for _ in streams]
    start = 0
    for size in sizes if longest else ():
        end = start + size
        part = [views.checked(stream[start:end], start) for stream in streams]
        deltas = views.advance(part, last=end == longest)["view"]
        for output, more in zip(outputs, deltas, strict=True):
            output += more
        start = end
    return outputs


class Engine:
    """Incremental views of a stream of changes, on Spark.

    A delta is a Z-set, entries, or a pyarrow.Table: the columns of the base table by name, in its
    order and of the Arrow types that `frames` lists, and last, if not all are 1, the weights as
    `_weight`. What comes as Arrow reaches Spark without becoming rows of Python: a load of
    millions.

    Law      after every tick, contents()[view] = meaning of the view over all input so far
    Raises   TickError for an unknown table, or when closed; RowError and WeightError for a bad
             delta; EvaluationError when an expression has no value; BackendError for what Spark
             cannot hold. The state is then as it was.

    >>> from deltaproof.reference.query import count, table
    >>> from deltaproof.spark_backend.session import session
    >>> engine = Engine(session(), table("t", "k BIGINT").group_by("k").aggregate(n=count()))
    >>> engine.step({"t": pyarrow.table({"k": [7, 7, 8]})})
    {'view': ZSet({(7, 2): 1, (8, 1): 1})}
    >>> engine.step({"t": pyarrow.table({"k": [8], "_weight": [-1]})})
    {'view': ZSet({(8, 1): -1})}
    >>> engine.close()
    """

    def __init__(self, session: SparkSession, views: Query | Mapping[str, Query]) -> None:
        self.views = {"view": views} if isinstance(views, Query) else dict(views)
        self.ticks = 0
        self._views = Views(session, self.views, cases=1, compiled=True)
        self._contents: dict[str, dict[Row, int]] = {name: {} for name in self.views}

    def step(self, deltas: Mapping[str, Delta]) -> dict[str, ZSet]:
        """Applies one tick: a delta for each table that changes. The output deltas, by view."""
        return self.step_many([deltas])[0]

    def step_many(self, ticks: Sequence[Mapping[str, Delta]]) -> list[dict[str, ZSet]]:
        """Applies several ticks in one job. The output deltas of each, by view."""
        if not ticks:
            return []
        stream = self._views.checked(ticks, self.ticks)
        outputs = {name: zsets for name, (zsets,) in self._views.advance([stream]).items()}
        for name, zsets in outputs.items():
            for zset in zsets:
                integrate_into(self._contents[name], zset)
        self.ticks += len(ticks)
        return [{name: zsets[n] for name, zsets in outputs.items()} for n in range(len(ticks))]

    def contents(self) -> dict[str, ZSet]:
        """Every view as it is after the ticks so far."""
        return {
            name: ZSet.trusted(dict(weights), self.views[name].schema)
            for name, weights in self._contents.items()
        }

    def close(self) -> None:
        """Frees what Spark remembers of the ticks so far. Contents can be read, no tick taken."""
        self._views.close()


class Views:
    """Views over a number of streams side by side, and what Spark remembers of all of them."""

    def __init__(
        self, session: SparkSession, views: Mapping[str, Query], cases: int, compiled: bool
    ) -> None:
        self.session = own_session(session, compiled)
        self.views = views
        self.cases = cases
        self.prefix = f"_d{next(_numbers)}_"
        self.tables: dict[str, Schema] = {}
        for query in views.values():
            self.tables |= query.tables()
        self.nodes = list(dict.fromkeys(n for query in views.values() for n in query.nodes()))
        self.shared = worth_sharing(self.nodes)
        self.pasts: dict[str, DataFrame] | None = None  # by view name; None before the first call
        self.closed = False

    def checked(self, ticks: Sequence[Mapping[str, Delta]], ticks_before: int) -> Stream:
        """The deltas, made canonical by the schemas of their tables."""
        if self.closed:
            raise TickError(f"tick {ticks_before + 1}: the engine is closed")
        return [
            {name: self.checked_delta(name, delta, number) for name, delta in deltas.items()}
            for number, deltas in enumerate(ticks, start=ticks_before + 1)
        ]

    def checked_delta(self, name: str, delta: Delta, tick: int) -> ZSet | ArrowTable:
        schema = self.tables.get(name)
        if schema is None:
            known = ", ".join(self.tables)
            raise TickError(f"tick {tick}: unknown table {name!r}: there are {known}")
        if isinstance(delta, ZSet) and delta.schema == schema:
            return delta
        try:
            if isinstance(delta, pyarrow.Table):
                return arrow_delta(schema, delta)
            return ZSet.of(schema, delta.items() if isinstance(delta, ZSet) else delta)
        except (RowError, WeightError) as error:
            raise type(error)(f"tick {tick}, table {name}: {error}") from None

    def advance(self, streams: Sequence[Stream], last: bool = False) -> dict[str, list[list[ZSet]]]:
        """Applies the next ticks of every stream. The output deltas by view, case and tick.

        After the `last` call nothing is remembered, and nothing computed to be.
        """
        ticks = [len(stream) for stream in streams]
        lowering = self.lowering(max(ticks, default=0))
        with self.registered(streams), explaining(lowering), self.working(lowering):
            relations = self.lowered(lowering, streams)
            outputs = {
                name: zsets_of_table(
                    self.frame(lowering, lowering.output(relation)).toArrow(),
                    relation.schema,
                    ticks,
                )
                for name, relation in relations.items()
            }
            pasts = {} if last else self.next_pasts(lowering)
        self.remember(pasts)
        return outputs

    def remember(self, pasts: dict[str, DataFrame]) -> None:
        """These pasts in place of those before."""
        forgotten, self.pasts = self.pasts or {}, pasts
        for frame in forgotten.values():
            release(frame)

    def close(self) -> None:
        """Frees the pasts; there is no next call."""
        self.closed = True
        self.remember({})

    def next_pasts(self, lowering: Lowering) -> dict[str, DataFrame]:
        """What the next call finds, computed now: no plan grows with the number of calls."""
        pasts: dict[str, DataFrame] = {}
        try:
            for past in lowering.pasts:
                frame = self.frame(lowering, lowering.next_past(past))
                pasts[past.view] = frame.localCheckpoint()
        except BaseException:
            for frame in pasts.values():
                release(frame)
            raise
        return pasts

    def lowering(self, ticks: int) -> Lowering:
        """The text of the next call, before anything is written."""
        return Lowering(self.cases, self.pasts is None, ticks, self.prefix, forms=FORMS)

    def lowered(self, lowering: Lowering, streams: Sequence[Stream]) -> dict[str, Relation]:
        """Writes the text of the next call; the relation in it that each view is."""
        relations: dict[Query, Relation] = {
            node: self.source(node.name, lowering, streams)
            for node in self.nodes
            if isinstance(node, Table)
        }
        lowering.lower(self.nodes, relations, self.shared)
        return {name: relations[query] for name, query in self.views.items()}

    @contextmanager
    def working(self, lowering: Lowering) -> Iterator[None]:
        """Runs what operators ask for while they are written; what they kept goes with the call."""
        worker = lowering.worker = SparkWorker(self, lowering)
        try:
            yield
        finally:
            worker.release()

    def source(self, table: str, lowering: Lowering, streams: Sequence[Stream]) -> Relation:
        """The changes of a table. Of Arrow nobody knows whether it has a row on one line only."""
        lines = lowering.define(f"SELECT {ONE_PARTITION} * FROM {self.view_of(table)}")
        return Relation(lines, self.tables[table], consolidated=not arrow_deltas(table, streams))

    def view_of(self, table: str) -> str:
        """The name in the session under which the changes of a table stand."""
        return f"{self.prefix}t{list(self.tables).index(table)}"

    @contextmanager
    def registered(self, streams: Sequence[Stream]) -> Iterator[None]:
        """The streams and the pasts, while Spark can find them by name."""
        frames = dict(self.pasts or {})
        with TemporaryDirectory(prefix="deltaproof-arrow-") as folder:
            for name in self.tables:
                frames[self.view_of(name)] = self.changes(name, streams, Path(folder))
            try:
                for view, frame in frames.items():
                    frame.createOrReplaceTempView(view)
                yield
            finally:
                for view in frames:
                    self.session.catalog.dropTempView(view)

    def changes(self, name: str, streams: Sequence[Stream], folder: Path) -> DataFrame:
        """The changes of one table in every case and tick; Arrow by way of files in the folder."""
        schema = self.tables[name]
        table = table_of_streams(name, schema, streams)
        frames = []
        for case, tick, delta in arrow_deltas(name, streams):
            path = folder / f"table{list(self.tables).index(name)}_{case}_{tick}.parquet"
            write_delta(delta, path)
            stamps = [f"CAST({case} AS INT) AS _case", f"CAST({tick} AS INT) AS _tick"]
            lines = self.session.read.parquet(str(path))
            frames.append(lines.selectExpr(*stamps, *column_names(schema), WEIGHT))
        if len(table) or not frames:
            frames.append(self.session.createDataFrame(table))
        return reduce(DataFrame.unionAll, frames)

    def frame(self, lowering: Lowering, text: str) -> DataFrame:
        return self.session.sql(text, dict(lowering.parameters.values))


class SparkWorker(Worker):
    """Runs parts of a text in the session of the views."""

    def __init__(self, views: Views, lowering: Lowering) -> None:
        self.views = views
        self.lowering = lowering
        self.frames: dict[str, DataFrame] = {}

    def materialized(self, text: str) -> tuple[str, int]:
        name = f"{self.views.prefix}m{len(self.frames)}"
        frame = self.views.frame(self.lowering, text).localCheckpoint(eager=False)
        self.frames[name] = frame
        lines = stored(frame).count()  # the one job that computes and stores them
        frame.createOrReplaceTempView(name)
        return name, lines

    def fetched(self, text: str) -> Rows:
        return [tuple(line) for line in self.views.frame(self.lowering, text).collect()]

    def release(self) -> None:
        for name, frame in self.frames.items():
            self.views.session.catalog.dropTempView(name)
            release(frame)


def integrate_into(weights: dict[Row, int], delta: ZSet) -> None:
    """The integral with the delta added; a weight that becomes zero leaves no row."""
    for row, change in delta.items():
        if total := weights.get(row, 0) + change:
            weights[row] = total
        else:
            del weights[row]


def release(frame: DataFrame) -> None:
    """Frees what `localCheckpoint` stored; Spark alone would wait for a garbage collection."""
    stored(frame).unpersist(False)


def stored(frame: DataFrame) -> Any:
    """What `localCheckpoint` stores the lines of the frame in: an RDD, on Spark's side."""
    plan: Any = frame._jdf.queryExecution().logical()
    return plan.rdd()


@contextmanager
def explaining(lowering: Lowering) -> Iterator[None]:
    """Spark's errors as ours."""
    try:
        yield
    except PySparkException as error:
        raise explained(error, lowering) from error
    except Py4JJavaError as error:
        raise explained_thrown(error, lowering) from error
    except Py4JError as error:
        raise BackendError(f"Spark failed: {error}") from error


def explained(error: PySparkException, lowering: Lowering) -> DeltaproofError:
    """What went wrong, and in which operator, as far as Spark says."""
    condition = (error.getCondition() or "").partition(".")[0]
    where = next((context.fragment() for context in error.getQueryContext()), "")
    return told(condition, where, str(error), lowering)


def explained_thrown(error: Py4JJavaError, lowering: Lowering) -> DeltaproofError:
    """The same of an error inside a job that was asked for past PySpark, which then is a cause."""
    cause = error.java_exception
    while cause is not None:
        if cause.getClass().getName() in THROWN:
            condition = (cause.getCondition() or "").partition(".")[0]
            where = next((context.fragment() for context in cause.getQueryContext()), "")
            return told(condition, where, cause.getMessage(), lowering)
        cause = cause.getCause()
    return BackendError(f"Spark failed: {error}")


def told(condition: str, where: str, said: str, lowering: Lowering) -> DeltaproofError:
    """Spark's condition in our words, and the part of the text where it came up."""
    reason = WITHOUT_VALUE.get(condition)
    if reason is None:
        return BackendError(f"Spark failed: {said}")
    label = f"{found}: " if (found := lowering.label_of(where)) else ""
    said = said.partition(" Use ")[0].partition(" If necessary")[0].partition("\n")[0]
    if condition == "ARITHMETIC_OVERFLOW" and ("_weight" in where or not where):
        return BackendError(f"{label}Spark keeps weights in 64 bits, and one needs more ({said})")
    return EvaluationError(f"{label}{reason} (Spark: {said})")
