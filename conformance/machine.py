"""A view is stepped, split, merged, stopped and started at random, and must be its meaning.

    view_machine("reference")              any query that the backend declares
    view_machine("duckdb", query)          this one
    view_machine(backend).TestCase         for unittest and pytest

Hypothesis runs the machine: changes are collected, held, and committed as one tick or as several;
a checkpoint is kept, and any earlier one restored, where the backend can. After every tick the
view's contents are compared with the meaning of the tables, recomputed from nothing, and the
output delta with the difference of these. The smallest run that fails is written as a case file,
and its message says how to replay it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, cast

from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from deltaproof.conformance.adapter import Backend, Restarts, Session, ShowsChanges, unsupported
from deltaproof.conformance.case import Case
from deltaproof.conformance.connect import backend as backend_named
from deltaproof.conformance.explain import replay_command
from deltaproof.conformance.held import Failure, failure, raised, row_capabilities
from deltaproof.conformance.judge import VIEW, Judge, Oracle
from deltaproof.properties.decode import BLOCK, domains, query_of, universe
from deltaproof.reference.errors import EvaluationError, UsageError
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

OUT = Path("out/cases")
PHASES = set(Phase) - {Phase.explain}  # the case file explains, and explaining takes as long
DEPTH = 2
PART = 16  # bytes are enough for a part of a query, or for the rows of a table
PLACES = st.integers(0, 15)  # a row of a table's universe, the first of the first table first


class Change(NamedTuple):
    """A row of a table, and its weight."""

    table: str
    row: Row
    weight: int


@dataclass(frozen=True)
class Past:
    """All there is to know of a view after some ticks: how it came about, and what it must show."""

    ticks: tuple[Mapping[str, ZSet], ...] = ()
    restarts: tuple[int, ...] = ()
    tables: tuple[Mapping[str, ZSet], ...] = ()  # after every tick
    contents: ZSet = field(default_factory=ZSet)


class ViewMachine(RuleBasedStateMachine):
    """A session of a backend beside the tables that it should have seen."""

    backend: ClassVar[Backend]
    words: ClassVar[str]
    fixed: ClassVar[Query | None]
    kinds: ClassVar[Sequence[Any]]
    out: ClassVar[Path]
    killers: ClassVar[bool | None]
    wrote: ClassVar[Callable[[str], None]] = staticmethod(lambda command: None)  # how to replay

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None

    @initialize(drawn=st.tuples(*[st.binary(min_size=PART, max_size=PART)] * (2**DEPTH + 3)))
    def opens(self, drawn: tuple[bytes, ...]) -> None:
        """A query, a universe of rows for each of its tables, a session, and a first tick to be."""
        fill, *data = [part.ljust(BLOCK, b"\0") for part in drawn[:3]]
        root = self.kinds[fill[0] % len(self.kinds)]
        query = self.fixed or query_of(drawn[3:], DEPTH, root, kinds=self.kinds)
        assume(query is not None and unsupported(self.backend, query) is None)
        assert query is not None
        self.query = query
        self.rows = self.rows_of(query, data, fill[1:3].rjust(BLOCK, b"\0"))
        assume(self.rows)
        self.oracle = Oracle(query)
        self.judge = Judge(query.schema, self.backend.tolerance)
        self.past = Past()
        first = zip(self.rows, fill[3:], strict=False)
        self.planned = [[Change(table, row, copies % 4) for (table, row), copies in first]]
        self.kept: list[tuple[Any, Past]] = []
        self.changed = False  # whether the view was not read since
        self.session = self.opened()

    def rows_of(self, query: Query, data: Sequence[bytes], which: bytes) -> list[tuple[str, Row]]:
        """The rows that its tables may hold, but for those that the backend cannot hold."""
        rows: list[tuple[str, Row]] = []
        for number, (name, schema) in enumerate(query.tables().items()):
            choices = domains(schema, which, self.killers)
            rows += [
                (name, row)
                for row in dict.fromkeys(universe(schema, data[number % len(data)], choices))
                if row_capabilities(query, schema, [row]) <= self.backend.capabilities
            ]
        return rows

    def opened(self) -> Session:
        return self.backend.open(self.query.tables(), {VIEW: self.query})

    # ---------------------------------------------------------------- changes

    @rule(place=PLACES, copies=st.sampled_from((1, 2, 3)))
    def insert(self, place: int, copies: int) -> None:
        table, row = self.rows[place % len(self.rows)]
        self.plan(Change(table, row, copies))

    @precondition(lambda self: self.live())
    @rule(place=PLACES, all_copies=st.booleans())
    def delete(self, place: int, all_copies: bool) -> None:
        """A row that is there, one copy or all of them."""
        live = self.live()
        (table, row), weight = live[place % len(live)]
        self.plan(Change(table, row, -weight if all_copies else -1))

    @precondition(lambda self: self.live())
    @rule(place=PLACES, other=PLACES)
    def update(self, place: int, other: int) -> None:
        """A row becomes another one, in one tick."""
        live = self.live()
        (table, row), _ = live[place % len(live)]
        same_table = [each for name, each in self.rows if name == table]
        self.plan(Change(table, row, -1), Change(table, same_table[other % len(same_table)], 1))

    def plan(self, *changes: Change) -> None:
        self.planned[-1].extend(changes)

    def live(self) -> list[tuple[tuple[str, Row], int]]:
        """The rows that would be there if all that is planned were done, with their copies."""
        found = []
        tables = self.past.tables[-1] if self.past.tables else {}
        for table, row in self.rows:
            planned = sum(
                change.weight
                for changes in self.planned
                for change in changes
                if (change.table, change.row) == (table, row)
            )
            weight = tables.get(table, ZSet())[row] + planned
            if weight > 0:
                found.append(((table, row), weight))
        return found

    # ---------------------------------------------------------------- ticks

    @precondition(lambda self: any(change.weight for change in self.planned[-1]))
    @rule()
    def hold(self) -> None:
        """What was collected is to be one tick; what comes is to be another."""
        self.planned.append([])

    @rule()
    def step(self) -> None:
        """Every tick that is planned, one after the other."""
        self.commit(*self.planned)

    @precondition(lambda self: len(self.planned) > 1)
    @rule()
    def merge(self) -> None:
        """All that is planned, as one tick."""
        self.commit([change for changes in self.planned for change in changes])

    @precondition(lambda self: sum(map(len, self.planned)) > 1)
    @rule(cut=PLACES)
    def split(self, cut: int) -> None:
        """All that is planned, as two ticks, wherever it is cut."""
        changes = [change for changes in self.planned for change in changes]
        at = 1 + cut % (len(changes) - 1)
        self.commit(changes[:at], changes[at:])

    @rule(named=st.booleans())
    def empty(self, named: bool) -> None:
        """A tick in which nothing changes; what is planned stays planned."""
        tables = self.query.tables()
        self.tick({name: ZSet((), schema) for name, schema in tables.items()} if named else {})

    def commit(self, *ticks: Sequence[Change]) -> None:
        self.planned = [[]]
        for changes in ticks:
            deltas = {
                name: ZSet([(row, w) for table, row, w in changes if table == name], schema)
                for name, schema in self.query.tables().items()
            }
            if not self.tick({name: delta for name, delta in deltas.items() if delta}):
                return  # what was planned after it counted on it

    def tick(self, deltas: Mapping[str, ZSet]) -> bool:
        """One tick, if the query has a value after it; the view must then follow."""
        before = self.past
        tables = dict(before.tables[-1]) if before.tables else {}
        for name, delta in deltas.items():
            tables[name] = tables[name] + delta if name in tables else delta
        history = (*before.tables, tables)
        try:
            if self.query.lifted:
                (contents,) = self.oracle.over_time([tables])
            else:
                contents = self.oracle.over_time(list(history))[-1]
        except EvaluationError:
            return False
        self.past = Past((*before.ticks, deltas), before.restarts, history, contents)
        self.changed = True
        with self.running() as session:
            session.step(deltas)
            shows = isinstance(session, ShowsChanges)
            change = cast(ShowsChanges, session).changes(VIEW) if shows else None
        if change is not None:
            self.compare("delta", contents - before.contents, change)
        self.follows()
        return True

    @contextmanager
    def running(self) -> Iterator[Session]:
        """The session, whose errors are failures."""
        assert self.session is not None
        try:
            yield self.session
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an engine's, so its crash
            self.fail(Failure(self.case(), self.words, None, error=raised(error)), error)

    # ---------------------------------------------------------------- what must be true

    @invariant()
    def the_view_is_the_meaning_of_its_tables(self) -> None:
        if self.changed:
            self.follows()

    @precondition(lambda self: self.past.ticks)
    @rule()
    def read(self) -> None:
        """Once more, at any moment: reading changes nothing."""
        self.follows()

    def follows(self) -> None:
        with self.running() as session:
            contents = session.read(VIEW)
        self.changed = False
        self.compare("contents", self.past.contents, contents)

    def compare(self, what: str, expected: ZSet, got: ZSet) -> None:
        found = self.judge.compare(len(self.past.ticks), what, expected, got)
        if found is not None:
            self.fail(Failure(self.case(), self.words, found))

    def case(self) -> Case:
        return Case(self.query, self.past.ticks, restarts=self.past.restarts)

    def fail(self, seen: Failure, error: BaseException | None = None) -> NoReturn:
        """Raises AssertionError; of the smallest run there is a file, and the whole story."""
        if not current_build_context().is_final:  # on the way to it
            raise AssertionError(seen.kind) from error
        also = []
        straight = failure(self.backend, seen.case, self.words)
        if straight is None:
            also = [
                "replayed in a straight line the case does not fail: it takes the ticks that were "
                "given up by a restore, or the moments of reading. The steps above show it again"
            ]
        path = seen.case.with_notes(found={"backend": self.words, "class": seen.kind}).save(
            self.out
        )
        type(self).wrote(replay_command(path, self.words, seen.case.query))
        raise AssertionError((straight or seen).explained(path, also)) from error

    def teardown(self) -> None:
        if self.session is not None:
            self.session.close()


class SignedMachine(ViewMachine):
    """For a backend whose weights may be negative."""

    @rule(place=PLACES, weight=st.sampled_from((-1, -2)))
    def delete_what_may_not_be_there(self, place: int, weight: int) -> None:
        table, row = self.rows[place % len(self.rows)]
        self.plan(Change(table, row, weight))


class RestartingMachine(ViewMachine):
    """For a backend that can be stopped and started again."""

    @precondition(lambda self: self.past.ticks)
    @rule()
    def checkpoint(self) -> None:
        with self.running() as session:
            saved = cast(Restarts, session).checkpoint()
        self.kept.append((saved, self.past))

    @precondition(lambda self: self.past.ticks)
    @rule()
    def restart(self) -> None:
        """Stops, and continues from where it was; all plans are given up."""
        with self.running() as session:
            saved = cast(Restarts, session).checkpoint()
        self.continues(saved, self.past)

    @precondition(lambda self: self.kept)
    @rule(which=PLACES)
    def restore(self, which: int) -> None:
        """Stops, and continues from any checkpoint; later ticks are given up too."""
        self.continues(*self.kept[-1 - which % len(self.kept)])

    def continues(self, saved: Any, past: Past) -> None:
        restarts = (*past.restarts, len(past.ticks))
        self.past = Past(past.ticks, tuple(dict.fromkeys(restarts)), past.tables, past.contents)
        self.planned = [[]]
        with self.running() as session:
            session.close()
            self.session = self.opened()
            cast(Restarts, self.session).restore(saved)
        self.changed = True


OPTIONAL: Mapping[str, type[ViewMachine]] = {
    "weights.signed": SignedMachine,
    "restart": RestartingMachine,
}


def view_machine(
    backend: Backend | str,
    query: Query | None = None,
    *,
    out: Path = OUT,
    killers: bool | None = None,
    words: str = "",
) -> type[ViewMachine]:
    """The state machine of a view on this backend, with the rules that the backend declares.

    Without a query, each run draws one of two operators that the backend can run. Case files of
    failures go to `out`; `killers` is as in `strategies`; `words` are what a replay calls the
    backend, where it is not its name.

    Raises   UsageError for a query that the backend refuses

    >>> from deltaproof.reference.query import table
    >>> machine = view_machine("reference", table("t", "k BIGINT").distinct())
    >>> TestDistinct = machine.TestCase  # what pytest and unittest collect
    >>> machine.__name__, hasattr(machine, "restore")
    ('ViewOnReference', True)
    """
    words = words or (backend if isinstance(backend, str) else backend.name)
    found = backend_named(backend) if isinstance(backend, str) else backend
    if query is not None and (reason := unsupported(found, query)):
        raise UsageError(f"{words} cannot run this query: {reason}")
    bases = [machine for name, machine in OPTIONAL.items() if name in found.capabilities]
    named = "".join(part.capitalize() for part in found.name.split("_"))
    given = {
        "backend": found,
        "words": words,
        "fixed": query,
        "kinds": [
            kind for kind in OPERATORS if not found.capabilities.isdisjoint(kind.all_capabilities())
        ],
        "out": out,
        "killers": killers,
    }
    machine: type[ViewMachine] = type(f"ViewOn{named}", tuple(bases) or (ViewMachine,), given)
    machine.TestCase.settings = settings(
        deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES
    )
    return machine
