"""A long stream through several backends at once, next to a database that recomputes every view.

    the oracle       applies each tick to its tables and runs the SELECT of every view
    each follower    is fed the same ticks and shows its views after each of them
    at every tick    contents, output deltas and types are compared, view by view

The stream is read once and never held: only a stretch of ticks is in memory, so that a backend
which is slow to start a job can take a stretch in one. The first difference ends the comparison
of that view on that backend, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from deltaproof.conformance.adapter import Backend, Observed, Session, ShowsChanges
from deltaproof.conformance.case import Tick
from deltaproof.conformance.judge import Difference, Judge
from deltaproof.reference.errors import BackendError, DeltaproofError
from deltaproof.reference.query import Query
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

Shown: TypeAlias = Mapping[str, Observed]  # by view, after one tick
Progress: TypeAlias = Callable[[int, str], None]  # ticks done by all together; what was done last
STRETCH = 20  # ticks held in memory, and the most that a backend is given at once
ROWS_SHOWN = 5
NOT_LOOKED = Observed(None, None)


@runtime_checkable
class StepsMany(Protocol):
    """A session that takes a stretch of ticks at once."""

    def step_many(self, ticks: Sequence[Tick]) -> Sequence[Shown]:
        """Applies every tick, in order: what each view showed after each."""


class Moment(NamedTuple):
    """What a view must be after a tick, and how the tick must have changed it."""

    contents: ZSet
    delta: ZSet


Moments: TypeAlias = Mapping[str, Moment]  # by view


@dataclass(frozen=True)
class Result:
    """How one view went on one backend. With neither a difference nor an error: as expected."""

    backend: str
    view: str
    schema: Schema
    ticks: int  # at which it was compared
    difference: Difference | None = None
    error: str = ""

    @property
    def ok(self) -> bool:
        return self.difference is None and not self.error and self.ticks > 0

    def __str__(self) -> str:
        if self.difference is not None:
            return "\n".join(self.explanation(self.difference))
        verdict = f"failed: {self.error}" if self.error else f"equal at {self.ticks} ticks"
        return f"{self.view} on {self.backend}: {verdict}"

    def explanation(self, difference: Difference) -> Iterator[str]:
        """The tick, what differs, and the first rows that are missing or too many."""
        where = f"{self.view} on {self.backend}: differs at tick {difference.tick}"
        rows = differing_rows(self.schema, difference)
        yield f"{where}, {difference.kind}: {difference.message or f'{len(rows)} rows'}"
        for row, expected, got in rows[:ROWS_SHOWN]:
            values = ", ".join(f"{n}={v!r}" for n, v in zip(self.schema.names, row, strict=False))
            yield f"    expected weight {expected}, got {got}: {values}"

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"backend": self.backend, "view": self.view, "ok": self.ok}
        found["ticks"] = self.ticks
        if self.error:
            found["error"] = self.error
        if self.difference is not None:
            found["difference"] = {
                "tick": self.difference.tick,
                "kind": self.difference.kind,
                "explanation": list(self.explanation(self.difference)),
            }
        return found


def differing_rows(schema: Schema, difference: Difference) -> list[tuple[Row, int, int]]:
    """(row, expected weight, weight that came), in an order that depends on the rows only."""
    expected, got = difference.expected, difference.got
    rows = sorted({*(expected - got)}, key=repr)
    return [(row, expected[row], got[row]) for row in rows]


@dataclass(frozen=True)
class Run:
    """A stream from its first tick to its last, and what came of it."""

    ticks: int
    changes: int  # rows of all deltas of all ticks
    results: tuple[Result, ...]  # by backend and view
    seconds: Mapping[str, float]  # of each backend, of the oracle, of "stream" and "judging"

    @property
    def ok(self) -> bool:
        return all(result.ok for result in self.results)

    @property
    def differs(self) -> bool:
        """Whether a view came out wrong; when not ok and not this, a backend gave up."""
        return any(result.difference for result in self.results)


def lockstep(
    views: Mapping[str, Query],
    ticks: Iterable[Tick],
    oracle: Backend,
    followers: Sequence[Backend],
    every: Mapping[str, int] | None = None,
    progress: Progress = lambda done, text: None,
) -> Run:
    """Every tick through the oracle and all followers, compared.

    Where looking is dear, `every` says at which ticks a follower is looked at: 3 is every
    third. The last tick is always one of them.

    Raises   BackendMissing or SchemaError when a backend cannot be opened; BackendError when
             the oracle fails. A follower that fails has a result that says so.

    >>> from deltaproof.conformance.adapters.reference import ReferenceBackend
    >>> from deltaproof.conformance.adapters.sqlite import SqliteBackend
    >>> from deltaproof.reference.query import table
    >>> views = {"numbers": table("t", "n BIGINT").distinct()}
    >>> ticks = [{"t": ZSet({(7,): 2})}, {"t": ZSet({(7,): -1})}]
    >>> print(*lockstep(views, ticks, SqliteBackend(), [ReferenceBackend()]).results)
    numbers on reference: equal at 2 ticks
    """
    work = Work(progress)
    with ExitStack() as stack:
        truth = Truth(oracle, stack.enter_context(opened(oracle, views)), views)
        following = []
        for each in followers:
            with work.timed(each.name):
                session = stack.enter_context(opened(each, views))
            tolerance = max(each.tolerance, oracle.tolerance)
            watches = {name: Watch(query.schema, tolerance) for name, query in views.items()}
            following.append(Follower(each.name, session, watches, (every or {}).get(each.name, 1)))
        count = changes = 0
        moments: list[Moments] = []
        for stretch in stretches(ticks, work):
            count += len(stretch)
            changes += sum(len(delta) for tick in stretch for delta in tick.values())
            moments = [truth.after(tick, work) for tick in stretch]
            for follower in following:
                follower.follow(stretch, moments, work)
        for follower in following:
            follower.finish(moments[-1:], work)
    results = tuple(result for follower in following for result in follower.results())
    return Run(count, changes, results, work.seconds)


@contextmanager
def opened(backend: Backend, views: Mapping[str, Query]) -> Iterator[Session]:
    """A session for these views and all their tables."""
    tables = {name: schema for query in views.values() for name, schema in query.tables().items()}
    with closing(backend.open(tables, views)) as session:
        yield session


def stretches(ticks: Iterable[Tick], work: Work) -> Iterator[list[Tick]]:
    """The stream in pieces that fit into memory."""
    stream = iter(ticks)
    while True:
        with work.timed("stream"):
            stretch = list(islice(stream, STRETCH))
        if not stretch:
            return
        yield stretch


class Work:
    """Who has spent how long, and how many ticks are done by all together."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = 0
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, who: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[who] = self.seconds.get(who, 0.0) + perf_counter() - began

    def tick_done(self, who: str, tick: int) -> None:
        self.done += 1
        self.progress(self.done, f"{who}, tick {tick}")


class Truth:
    """What every view must be after each tick, recomputed by the oracle from its tables."""

    def __init__(self, oracle: Backend, session: Session, views: Mapping[str, Query]) -> None:
        self.name = oracle.name
        self.session = session
        self.judges = {name: Judge(query.schema) for name, query in views.items()}
        self.before = dict.fromkeys(views, ZSet())
        self.tick = 0

    def after(self, tick: Tick, work: Work) -> Moments:
        """Raises BackendError when the oracle's values are not of the types of the view."""
        self.tick += 1
        with work.timed(self.name):
            self.session.step(tick)
            contents = {view: self.session.read(view) for view in self.judges}
        for view, judge in self.judges.items():
            if fault := judge.compare(self.tick, "contents", contents[view], contents[view]):
                raise BackendError(
                    f"{self.name}: view {view}, tick {self.tick}: {fault.message}: "
                    "an oracle must answer in the types of the view"
                )
        moments = {
            view: Moment(after, after - self.before[view]) for view, after in contents.items()
        }
        self.before = contents
        work.tick_done(self.name, self.tick)
        return moments


class Watch:
    """One view on one backend, until it first differs."""

    def __init__(self, schema: Schema, tolerance: float) -> None:
        self.schema = schema
        self.judge = Judge(schema, tolerance)
        self.integral = ZSet()  # of the deltas shown, for a backend that shows nothing else
        self.difference: Difference | None = None
        self.ticks = 0

    def compare(self, tick: int, expected: Moment, shown: Observed) -> None:
        if self.difference is not None or shown is NOT_LOOKED:
            return
        contents = shown.contents
        if contents is None and shown.delta is not None:
            contents = self.integral = self.integral + shown.delta
        self.ticks += 1
        if shown.delta is not None:
            self.difference = self.judge.compare(tick, "delta", expected.delta, shown.delta)
        if contents is not None and self.difference is None:
            self.difference = self.judge.compare(tick, "contents", expected.contents, contents)


class Follower:
    """A backend under test: its session, and a watch on each of its views."""

    def __init__(
        self, name: str, session: Session, watches: Mapping[str, Watch], every: int
    ) -> None:
        self.name = name
        self.session = session
        self.watches = watches
        self.every = every
        self.taken = 0  # ticks
        self.looked = 0  # at which tick, last
        self.error = ""

    def follow(self, stretch: Sequence[Tick], moments: Sequence[Moments], work: Work) -> None:
        """Takes the ticks and compares what is shown; after an error it takes no more."""
        shown = self.observations(stretch)
        for moment in moments:
            if self.error:
                return
            with self.keeping_error(), work.timed(self.name):
                seen = next(shown)
            if not self.error:
                self.compare(moment, seen, work)
            work.tick_done(self.name, self.taken)

    def observations(self, stretch: Sequence[Tick]) -> Iterator[Shown]:
        """Applies the ticks one after the other, when they are asked for."""
        if isinstance(self.session, StepsMany):
            answers = self.session.step_many(stretch)
            if len(answers) != len(stretch):
                raise BackendError(f"{len(stretch)} ticks given, {len(answers)} answered")
            for shown in answers:
                self.taken = self.looked = self.taken + 1
                yield shown
            return
        for tick in stretch:
            self.session.step(tick)
            self.taken += 1
            yield (
                dict.fromkeys(self.watches, NOT_LOOKED) if self.taken % self.every else self.look()
            )

    def look(self) -> Shown:
        self.looked = self.taken
        return {view: self.observed(view) for view in self.watches}

    def observed(self, view: str) -> Observed:
        session = self.session
        delta = session.changes(view) if isinstance(session, ShowsChanges) else None
        return Observed(session.read(view), delta)

    def compare(self, expected: Moments, shown: Shown, work: Work) -> None:
        with work.timed("judging"):
            for view, watch in self.watches.items():
                watch.compare(self.taken, expected[view], shown[view])

    def finish(self, moments: Sequence[Moments], work: Work) -> None:
        """Looks at the views as they are in the end, unless that is done."""
        if self.error or self.looked == self.taken:
            return
        with self.keeping_error(), work.timed(self.name):
            shown = self.look()
        if not self.error:
            self.compare(moments[-1], shown, work)

    @contextmanager
    def keeping_error(self) -> Iterator[None]:
        """What a backend fails of is a result, not the end of the run."""
        try:
            yield
        except DeltaproofError as error:
            self.error = f"after tick {self.taken}: {error}"
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an engine may raise anything
            lines = str(error).splitlines() or [""]
            self.error = f"after tick {self.taken}: {type(error).__name__}: {lines[0]}"

    def results(self) -> Iterator[Result]:
        for view, watch in self.watches.items():
            yield Result(self.name, view, watch.schema, watch.ticks, watch.difference, self.error)
