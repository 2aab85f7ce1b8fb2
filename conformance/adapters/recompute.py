"""Any SQL engine is an oracle: it keeps the tables' rows, and answers each read from nothing.

    deltas_of         a tick, its rows made canonical
    Bag, Change       which copies of a row a table holds, so that a delta takes out its own
    RecomputeSession  a session over such a database; the engine's part is `Database`

A table is a bag: weight three is three rows. A row that is not there cannot be deleted, which
is an error before anything changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Generic, Protocol, TypeVar

from deltaproof.conformance.adapter import CAPABILITIES, type_capability
from deltaproof.conformance.adapters.rows import Rows
from deltaproof.conformance.case import Tick
from deltaproof.reference.errors import (
    BackendError,
    RowError,
    SchemaError,
    TickError,
    UsageError,
    WeightError,
)
from deltaproof.reference.operator import Operator, Pairing
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query, Table, apply
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.sql import expression_sql, sql_type, to_sql
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    DECIMAL,
    DOUBLE,
    NAN,
    SIMPLE_TYPES,
    Column,
    Row,
    Schema,
    Type,
)
from deltaproof.reference.zset import ZSet

MOST_COPIES = 100_000  # of one row in one delta: a bag writes every copy down


def refusal(query: Query, dialect: str) -> str | None:
    """Why a query cannot be said in this dialect; None when it can.

    >>> from deltaproof.reference.query import table
    >>> refusal(table("t", "k BIGINT").negate(), "sqlite") is None
    False
    """
    try:
        to_sql(query, dialect)
    except SchemaError as error:
        return str(error)
    return None


NOT_OF_BAGS = frozenset(("weights.signed", "weights.huge", "restart"))
ATTEMPTS = 300  # instances of an operator, among which are all that it can be


@cache
def capabilities_in(dialect: str) -> frozenset[str]:
    """What a database of bags can do: what its dialect has types and words for.

    An operator's capability is there when one of its random instances is printed.

    >>> sorted(CAPABILITIES - capabilities_in("duckdb") - NOT_OF_BAGS)
    ['delay', 'differentiate', 'integrate', 'negate', 'per_group', \
'range.wide', 'sum.exact', 'sum.wide']
    """
    kinds = [
        kind for kind in (*SIMPLE_TYPES, DECIMAL(20, 2), ARRAY(BIGINT)) if typed(kind, dialect)
    ]
    said = {type_capability(kind) for kind in kinds}
    if attempt(lambda: expression_sql(Literal(DOUBLE, NAN), Schema(()), dialect)):
        said.add("value.nan")
    for operator in OPERATORS:
        said |= said_capabilities(operator, kinds, dialect)
    return (CAPABILITIES - NOT_OF_BAGS) & said


def typed(kind: Type, dialect: str) -> bool:
    return attempt(lambda: sql_type(kind, dialect))


def attempt(say: Callable[[], object]) -> bool:
    """Whether the printer does not refuse it."""
    try:
        say()
    except SchemaError:
        return False
    return True


def said_capabilities(operator: type[Operator], kinds: Sequence[Type], dialect: str) -> set[str]:
    """The capabilities of an operator that this dialect has words for."""
    random, found = Random(operator.name), set[str]()
    for _ in range(ATTEMPTS):
        if found.issuperset(operator.all_capabilities()):
            break
        inputs = sample_inputs(operator, [*random.choices(kinds, k=3), BIGINT])
        instance = operator.sample(random, *[each.schema for each in inputs])
        if instance is None or not instance.lifted or found.issuperset(instance.capabilities()):
            continue
        query = apply(instance, *inputs)
        if refusal(query, dialect) is None:
            found.update(query.capabilities())
    return found


def sample_inputs(operator: type[Operator], kinds: Sequence[Type]) -> list[Table]:
    """Tables of such columns that the operator takes together."""

    def rows(name: str, prefix: str) -> Table:
        columns = (Column(f"{prefix}{n}", kind) for n, kind in enumerate(kinds))
        return Table(name, Schema(tuple(columns)))

    if operator.arity == 1:
        return [rows("a", "x")]
    if operator.pairing is Pairing.CLOCK:
        return [rows("a", "x"), Table("now", Schema.parse("now BIGINT"))]
    return [rows("a", "x"), rows("b", "x" if operator.pairing is Pairing.SAME_TYPES else "y")]


def deltas_of(tables: Mapping[str, Schema], tick: Tick) -> Iterator[tuple[str, ZSet]]:
    """The deltas of a tick, by table. Raises TickError, RowError or WeightError.

    >>> list(deltas_of({"t": Schema.parse("x DOUBLE")}, {"t": ZSet({(-0.0,): 1})}))
    [('t', ZSet({(0.0,): 1}))]
    """
    for name, delta in tick.items():
        schema = tables.get(name)
        if schema is None:
            raise TickError(f"unknown table {name!r}: there are {', '.join(tables)}")
        if delta.schema == schema:
            yield name, delta
            continue
        try:
            yield name, ZSet.of(schema, delta.items())
        except (RowError, WeightError) as error:
            raise type(error)(f"table {name}: {error}") from None


@dataclass(frozen=True)
class Change:
    """A table's delta as rows to insert, with their ids, and ids to delete."""

    table: str
    delta: ZSet
    inserts: list[tuple[int, Row]]
    deletes: list[int]


class Bag:
    """The ids of the copies of each row that a table holds.

    >>> bag = Bag("t")
    >>> bag.commit(bag.change(ZSet({("a",): 2})))
    >>> change = bag.change(ZSet({("a",): -1, ("b",): 1}))
    >>> change.inserts, change.deletes
    ([(2, ('b',))], [1])
    >>> bag.change(ZSet({("a",): -3}))
    Traceback (most recent call last):
    deltaproof.reference.errors.BackendError: table t: cannot delete 3 of row ('a',): it holds 2, \
and a bag has no negative weights
    """

    def __init__(self, table: str) -> None:
        self.table = table
        self.ids: dict[Row, list[int]] = {}
        self.next_id = 0

    def change(self, delta: ZSet) -> Change:
        """What to insert and to delete for this delta. Changes nothing, so a tick may fail."""
        inserts: list[tuple[int, Row]] = []
        deletes: list[int] = []
        for row, weight in delta.items():
            if weight < 0:
                deletes += self.newest(row, -weight)
            else:
                first = self.next_id + len(inserts)
                inserts += [(first + n, each) for n, each in enumerate(copies(row, weight))]
        return Change(self.table, delta, inserts, deletes)

    def newest(self, row: Row, count: int) -> list[int]:
        """The ids of so many copies of a row. Raises BackendError when there are fewer."""
        ids = self.ids.get(row, [])
        if len(ids) < count:
            raise BackendError(f"table {self.table}: {too_few(row, count, len(ids))}")
        return ids[-count:]

    def commit(self, change: Change) -> None:
        """The change, now made in the engine, is remembered."""
        for row, weight in change.delta.items():
            if weight < 0:
                del self.ids[row][weight:]
                if not self.ids[row]:
                    del self.ids[row]
        for number, row in change.inserts:
            self.ids.setdefault(row, []).append(number)
        self.next_id += len(change.inserts)


def copies(row: Row, weight: int) -> list[Row]:
    """A row of this weight as so many rows. Raises BackendError for more than a bag can hold."""
    if weight > MOST_COPIES:
        raise BackendError(
            f"weight {weight} of row {row!r}: a bag writes every copy down, at most {MOST_COPIES}"
        )
    return [row] * weight


def too_few(row: Row, count: int, held: int) -> str:
    return (
        f"cannot delete {count} of row {row!r}: it holds {held}, and a bag has no negative weights"
    )


class Database(Protocol):
    """What an engine does: keeps numbered rows, and answers for a view."""

    def clear(self) -> None:
        """All tables become empty."""

    def write(self, changes: Sequence[Change]) -> None:
        """Deletes and inserts in one transaction; an error leaves the tables as they were."""

    def answer(self, view: str) -> Iterable[Row]:
        """The rows of the view, computed from the tables as they are."""


AnyDatabase = TypeVar("AnyDatabase", bound=Database)


class RecomputeSession(Generic[AnyDatabase]):
    """Keeps the tables in a database of its own, until it is closed and hands it back."""

    def __init__(
        self,
        database: AnyDatabase,
        tables: Mapping[str, Schema],
        views: Mapping[str, Rows],
        release: Callable[[AnyDatabase], None],
    ) -> None:
        self.database: AnyDatabase | None = database
        self.tables = tables
        self.views = views
        self.release = release
        self.bags = {name: Bag(name) for name in tables}
        database.clear()

    def step(self, deltas: Tick) -> None:
        """All changes or none. Raises BackendError for a row that is not there to delete."""
        named = deltas_of(self.tables, deltas)
        changes = [self.bags[name].change(delta) for name, delta in named]
        self.running.write(changes)
        for change in changes:
            self.bags[change.table].commit(change)

    def read(self, view: str) -> ZSet:
        if view not in self.views:
            raise UsageError(f"unknown view {view!r}: there are {', '.join(self.views)}")
        return self.views[view].zset((row, 1) for row in self.running.answer(view))

    def close(self) -> None:
        if self.database is not None:
            self.release(self.database)
            self.database = None

    @property
    def running(self) -> AnyDatabase:
        if self.database is None:
            raise BackendError("the session is closed")
        return self.database
