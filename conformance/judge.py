"""The square must commute at every tick: what a backend shows is what the meaning says.

The right-hand side is recomputed from nothing at every tick: the tables are integrated, and
the query's meaning is applied to them. The contents, the output delta, and the types of the
values are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from deltaproof.conformance.adapter import (
    Backend,
    Observed,
    Restarts,
    RunsMany,
    Session,
    ShowsChanges,
)
from deltaproof.conformance.case import Case
from deltaproof.reference.errors import BackendError, RowError
from deltaproof.reference.query import Query
from deltaproof.reference.stream import differentiate, lift
from deltaproof.reference.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

VIEW = "view"
PLAIN = (BOOLEAN, BIGINT, VARCHAR, DATE, TIMESTAMP)  # types whose Python type says it all


@dataclass(frozen=True)
class Expected:
    """What the meaning says at every tick of a case."""

    contents: tuple[ZSet, ...]
    deltas: tuple[ZSet, ...]

    @property
    def vacuous(self) -> bool:
        """Whether the view changes at most once: such a case can show hardly anything."""
        return sum(1 for delta in self.deltas if delta) <= 1


@dataclass(frozen=True)
class Difference:
    """The first place where a backend is not what the meaning says.

    tick: from 1; what: "contents", "delta", "type" or "ticks"; message: for the last two.
    """

    tick: int
    what: str
    expected: ZSet
    got: ZSet
    message: str = ""

    @property
    def kind(self) -> str:
        """missing-row, extra-row, wrong-weight or zero-weight of what was compared; type; ticks.

        >>> Difference(1, "contents", ZSet({("a",): 1}), ZSet()).kind
        'contents/missing-row'
        """
        if self.what in ("type", "ticks"):
            return self.what
        rows = {row for row in {*self.expected, *self.got} if self.expected[row] != self.got[row]}
        if not rows:  # equal weights, but a zero was kept
            return f"{self.what}/zero-weight"
        if all(row in self.expected and row in self.got for row in rows):
            return f"{self.what}/wrong-weight"
        missing = any(row not in self.got for row in rows)
        return f"{self.what}/{'missing-row' if missing else 'extra-row'}"


def value_fault(kind: Type, value: Value) -> str:
    """What keeps a value from being a canonical one of its type, or nothing.

    >>> value_fault(BIGINT, 1), value_fault(BIGINT, 1.0)
    ('', 'expected BIGINT, got float 1.0')
    """
    try:
        canonical = kind.canonical(value)
    except RowError as error:
        return str(error)
    if repr(canonical) != repr(value):
        return f"expected {kind} as {canonical!r}, got {value!r}"
    return "" if canonical is not NAN or value is NAN else "expected the one NaN, types.NAN"


class Oracle:
    """The meaning of one query, applied to the integral of a stream at every tick.

    >>> from deltaproof.reference.query import table
    >>> case = Case.from_json({"tables": {"t": "k BIGINT"}, "query": {"op": "distinct",
    ...     "inputs": [{"table": "t"}]}, "ticks": [{"t": [[[7], 2]]}, {"t": [[[7], -1]]}]})
    >>> Oracle(case.query).expected(case).deltas
    (ZSet({(7,): 1}), ZSet({}))
    """

    def __init__(self, query: Query) -> None:
        self.over_time = lift(query.meaning()) if query.lifted else query.over_time()

    def expected(self, case: Case) -> Expected:
        """Raises EvaluationError when the query has no value for these tables."""
        tables: dict[str, ZSet] = {}
        integrals = []
        for tick in case.ticks:
            for name, delta in tick.items():
                table = tables.get(name)
                tables[name] = table + delta if table is not None else delta
            integrals.append(dict(tables))
        contents = self.over_time(integrals)
        return Expected(tuple(contents), tuple(differentiate(contents)))


def run_case(backend: Backend, case: Case) -> list[Observed]:
    """The case, tick by tick, through a session of the backend."""
    views = {VIEW: case.query}
    session = backend.open(case.tables, views)
    if case.restarts and not isinstance(session, Restarts):
        session.close()
        raise BackendError(f"{backend.name} does not declare restart, which the case asks for")
    shows = isinstance(session, ShowsChanges)
    try:
        observed = []
        for number, tick in enumerate(case.ticks, 1):
            session.step(tick)
            delta = cast(ShowsChanges, session).changes(VIEW) if shows else None
            observed.append(Observed(session.read(VIEW), delta))
            if number in case.restarts:
                session = restarted(backend, case, session)
        return observed
    finally:
        session.close()


def restarted(backend: Backend, case: Case, session: Session) -> Session:
    """A new session that continues where this one stops, from its checkpoint alone."""
    saved = cast(Restarts, session).checkpoint()
    session.close()
    fresh = backend.open(case.tables, {VIEW: case.query})
    cast(Restarts, fresh).restore(saved)
    return fresh


def run_cases(backend: Backend, cases: Sequence[Case]) -> list[list[Observed]]:
    """Cases of one query: in one batch when the backend can, but one by one with restarts."""
    together = [case for case in cases if not case.restarts]
    if not (together and isinstance(backend, RunsMany)):
        return [run_case(backend, case) for case in cases]
    answers = backend.run_many(together[0].query, [case.ticks for case in together])
    if len(answers) != len(together):
        raise BackendError(
            f"{backend.name}: run_many was given {len(together)} streams, "
            f"and answered {len(answers)}"
        )
    many = iter(answers)
    return [run_case(backend, case) if case.restarts else next(many) for case in cases]


class Judge:
    """Compares what was observed of one query's view with what was expected."""

    def __init__(self, schema: Schema, tolerance: float = 0.0) -> None:
        self.schema = schema
        self.tolerance = tolerance if DOUBLE in schema.types else 0.0
        self.doubles = [kind == DOUBLE for kind in schema.types]
        self.well_typed: set[tuple[type, ...]] = set()
        # of other types a value may be of the right Python type and still not be canonical
        self.types_suffice = all(kind in PLAIN for kind in schema.types)

    def difference(self, expected: Expected, observed: Sequence[Observed]) -> Difference | None:
        """The first difference, or None: the square commutes."""
        if len(observed) != len(expected.contents):
            tick = min(len(observed), len(expected.contents)) + 1
            message = f"expected {len(expected.contents)} ticks, got {len(observed)}"
            return Difference(tick, "ticks", ZSet(), ZSet(), message)
        integral = ZSet()
        ticks = zip(expected.contents, expected.deltas, observed, strict=True)
        for tick, (contents, delta, (read, change)) in enumerate(ticks, 1):
            if read is None and change is None:
                message = "neither contents nor an output delta were shown"
                return Difference(tick, "ticks", contents, ZSet(), message)
            if change is not None:
                if found := self.compare(tick, "delta", delta, change):
                    return found
                if read is None:
                    integral = integral + change
                    read = integral
            if read is not None and (found := self.compare(tick, "contents", contents, read)):
                return found
        return None

    def compare(self, tick: int, what: str, expected: ZSet, got: ZSet) -> Difference | None:
        if not isinstance(got, ZSet):
            message = f"expected a ZSet of {what}, got {type(got).__name__} {got!r:.80}"
            return Difference(tick, "type", expected, ZSet(), message)
        for row, weight in got.items():
            if type(weight) is not int:
                message = f"row {row!r}: expected an integer weight, got {weight!r}"
                return Difference(tick, "type", expected, ZSet(), message)
            if tuple(map(type, row)) not in self.well_typed and (message := self.type_fault(row)):
                return Difference(tick, "type", expected, got, message)
        if expected == got or (self.tolerance and self.close(expected - got)):
            return None
        return Difference(tick, what, expected, got)

    def type_fault(self, row: Row) -> str:
        """What is wrong with the types of this row, or nothing."""
        if len(row) != len(self.schema):
            return f"expected {len(self.schema)} columns, got {len(row)}: {row!r}"
        for column, value in zip(self.schema.columns, row, strict=True):
            if value is None and not column.nullable:
                return f"column {column.name}: expected {column.type} NOT NULL, got NULL"
            if value is not None and (fault := value_fault(column.type, value)):
                return f"column {column.name}: {fault}"
        if self.types_suffice:
            self.well_typed.add(tuple(map(type, row)))
        return ""

    def close(self, rest: ZSet) -> bool:
        """Whether what is left of the difference pairs up within the tolerance of its doubles."""
        extra = [(row, weight) for row, weight in rest.items() if weight > 0]
        missing = [[row, -weight] for row, weight in rest.items() if weight < 0]
        for row, weight in extra:
            for other in missing:
                if weight and other[1] and self.rows_close(row, other[0]):
                    paired = min(weight, other[1])
                    weight -= paired
                    other[1] -= paired
            if weight:
                return False
        return not any(weight for _, weight in missing)

    def rows_close(self, row: Row, other: Row) -> bool:
        return all(
            a == b or (double and self.doubles_close(a, b))
            for double, a, b in zip(self.doubles, row, other, strict=True)
        )

    def doubles_close(self, a: Value, b: Value) -> bool:
        if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
            return a is b or a == b
        return bool(abs(a - b) <= self.tolerance * max(abs(a), abs(b), 1.0))
