"""The 22 queries of TPC-H as incremental views, compared at every tick with DuckDB's recompute.

Each query is a view of its own on each backend. It takes the load as one tick and then the
refreshes, a stretch of them at once where the backend can; after every tick its contents and its
output delta must be what DuckDB makes of the benchmark's own text and the tables as they are.

Above scale 0.1 the load is Arrow for the backends that take it, and for DuckDB; the others get it
as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

from rich.table import Table

from deltaproof.conformance.adapter import Backend, Observed, Session, ShowsChanges
from deltaproof.conformance.case import Tick
from deltaproof.conformance.lockstep import (
    Moment,
    Result,
    Shown,
    StepsMany,
    Watch,
)
from deltaproof.conformance.tpch.data import ArrowTable, ArrowTpch, Tpch, rows_of, tick_of
from deltaproof.conformance.tpch.oracle import Oracle
from deltaproof.conformance.tpch.schema import QUERIES, TABLES, query_text
from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.query import Query
from deltaproof.reference.show import RULED, table_text
from deltaproof.reference.sql import parse
from deltaproof.reference.zset import ZSet

Progress = Callable[[str, int, int], None]
Changes: TypeAlias = Mapping[str, ZSet | ArrowTable]  # one tick, the load of which may be Arrow

ROWS_UP_TO = 0.1  # the largest scale whose load is a Z-set for every backend


@dataclass(frozen=True)
class QueryRun:
    """One query on one backend."""

    query: str
    backend: str
    result: Result
    load_seconds: float
    tick_seconds: float  # of a refresh, on average

    @property
    def ok(self) -> bool:
        return self.result.ok


@dataclass(frozen=True)
class TpchReport:
    """How every query went on every backend."""

    scale: float
    ticks: int
    changes: int  # rows of all deltas after the load
    rows: Mapping[str, int]  # of each view in the end
    changed: Mapping[str, int]  # rows of each view's output deltas after the load
    recompute_seconds: Mapping[str, float]  # DuckDB's, per tick on average
    runs: Sequence[QueryRun]

    @property
    def ok(self) -> bool:
        return bool(self.runs) and all(run.ok for run in self.runs)

    @property
    def differs(self) -> bool:
        return any(run.result.difference for run in self.runs)

    def lines(self) -> Iterator[str]:
        backends = list(dict.fromkeys(run.backend for run in self.runs))
        yield (
            f"TPC-H at scale {self.scale:g}: {self.ticks} ticks, the load and "
            f"{self.ticks - 1} refreshes of {self.changes:,} changes in all"
        )
        table = Table(box=RULED, pad_edge=False, show_edge=False)
        for name in ("query", "rows", "changed", "recompute ms"):
            table.add_column(name, justify="left" if name == "query" else "right")
        for name in backends:
            table.add_column(name)
            table.add_column("load s", justify="right")
            table.add_column("tick ms", justify="right")
        for query in self.rows:
            cells = [query, f"{self.rows[query]:,}", f"{self.changed[query]:,}"]
            cells.append(f"{1_000 * self.recompute_seconds[query]:.1f}")
            for run in (run for run in self.runs if run.query == query):
                cells.append(verdict(run.result))
                cells.append(f"{run.load_seconds:.2f}")
                cells.append(f"{1_000 * run.tick_seconds:.1f}")
            table.add_row(*cells)
        yield from table_text(table).splitlines()
        for run in self.runs:
            if not run.ok:
                yield from ["", *str(run.result).splitlines()]
        for name in backends:
            equal = sum(run.ok for run in self.runs if run.backend == name)
            yield f"{name}: {equal} of {len(self.rows)} queries equal at every tick"

    def to_json(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "ticks": self.ticks,
            "ok": self.ok,
            "queries": [
                {
                    **run.result.to_json(),
                    "rows": self.rows[run.query],
                    "changed": self.changed[run.query],
                    "load_seconds": round(run.load_seconds, 3),
                    "tick_seconds": round(run.tick_seconds, 4),
                    "recompute_seconds": round(self.recompute_seconds[run.query], 4),
                }
                for run in self.runs
            ],
        }


def verdict(result: Result) -> str:
    """What is said of a result in a word."""
    if result.difference:
        return f"DIFFERS at tick {result.difference.tick}"
    return "FAILED" if result.error else "equal"


def tpch_run(
    backends: Sequence[Backend],
    queries: Sequence[str] = QUERIES,
    scale: float = 0.01,
    ticks: int = 8,
    progress: Progress = lambda text, done, total: None,
    finished: Callable[[QueryRun], None] = lambda run: None,
) -> TpchReport:
    """Keeps these queries up to date on these backends, and compares every tick.

    `finished` is told of each query on each backend when it is done.

    Raises   UsageError for an unknown query; BackendMissing when the data's generator or DuckDB
             is not installed
    """
    views = {name: parse(query_text(name), TABLES) for name in queries}
    progress("TPC-H: loading", 0, 0)
    stream: list[Changes] = list(
        (ArrowTpch if scale > ROWS_UP_TO else Tpch).load(scale).ticks(ticks)
    )
    truth = Truth(views, stream, progress)
    as_rows = stream if all(map(takes_arrow, backends)) else list(map(with_rows, stream))
    runs = []
    for done, (name, query) in enumerate(views.items()):
        for backend in backends:
            progress(f"TPC-H: {name} on {backend.name}", done, len(views))
            given = stream if takes_arrow(backend) else as_rows
            runs.append(query_run(backend, name, query, given, truth.moments[name]))
            finished(runs[-1])
    return TpchReport(
        scale,
        len(stream),
        sum(len(delta) for tick in stream[1:] for delta in tick.values()),
        {name: len(moments[-1].contents) for name, moments in truth.moments.items()},
        {name: sum(len(m.delta) for m in moments[1:]) for name, moments in truth.moments.items()},
        {name: spent / len(stream) for name, spent in truth.seconds.items()},
        runs,
    )


def takes_arrow(backend: Backend) -> bool:
    """Whether its sessions take a delta that is a pyarrow.Table."""
    return getattr(backend, "takes_arrow", False)


def with_rows(tick: Changes) -> Tick:
    """The tick with a Z-set for every delta."""
    return {
        name: delta if isinstance(delta, ZSet) else tick_of(name, rows_of(delta), ())
        for name, delta in tick.items()
    }


class Truth:
    """What every view must be after each tick, recomputed by DuckDB from its tables."""

    def __init__(
        self, views: Mapping[str, Query], stream: Sequence[Changes], progress: Progress
    ) -> None:
        oracle = Oracle({name: query.schema for name, query in views.items()})
        self.moments: dict[str, list[Moment]] = {name: [] for name in views}
        self.seconds = dict.fromkeys(views, 0.0)
        for done, tick in enumerate(stream):
            oracle.step(tick)
            for name, moments in self.moments.items():
                progress(f"TPC-H: {name} on DuckDB", done, len(stream))
                began = perf_counter()
                contents = oracle.contents(name)
                self.seconds[name] += perf_counter() - began
                before = moments[-1].contents if moments else ZSet()
                moments.append(Moment(contents, contents - before))


def query_run(
    backend: Backend,
    name: str,
    query: Query,
    stream: Sequence[Changes],
    moments: Sequence[Moment],
) -> QueryRun:
    """One query through one backend: the load, then the refreshes."""
    watch = Watch(query.schema, max(backend.tolerance, 1e-9))
    tables = query.tables()
    mine = [{table: tick[table] for table in tables if table in tick} for tick in stream]
    error = ""
    load = refreshes = 0.0
    try:
        with closing(backend.open(tables, {name: query})) as session:
            began = perf_counter()
            shown = stepped(session, name, mine[:1])
            load = perf_counter() - began
            began = perf_counter()
            shown += stepped(session, name, mine[1:])
            refreshes = perf_counter() - began
        for tick, (moment, seen) in enumerate(zip(moments, shown, strict=True), 1):
            watch.compare(tick, moment, seen[name])
    except DeltaproofError as failed:
        error = str(failed)
    except (Exception, SystemExit) as failed:  # noqa: BLE001  # an engine may raise anything
        error = f"{type(failed).__name__}: {(str(failed).splitlines() or [''])[0]}"
    result = Result(backend.name, name, query.schema, watch.ticks, watch.difference, error)
    return QueryRun(name, backend.name, result, load, refreshes / max(1, len(stream) - 1))


def stepped(session: Session, view: str, ticks: Sequence[Changes]) -> list[Shown]:
    """Applies these ticks: what the view showed after each."""
    if isinstance(session, StepsMany):
        return list(session.step_many(ticks)) if ticks else []
    shown: list[Shown] = []
    for tick in ticks:
        session.step(tick)
        delta = session.changes(view) if isinstance(session, ShowsChanges) else None
        shown.append({view: Observed(session.read(view), delta)})
    return shown
