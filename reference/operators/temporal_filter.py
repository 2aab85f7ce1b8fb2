"""A filter that asks for the time takes the time as input: bilinear in rows and clock.

When the clock moves from n to m, the rows that come and go are those with a bound in (n, m].
They are found in an order of the bounds, so a tick costs what it changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Pairing,
    Shape,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.ordered import Ordered
from deltaproof.reference.scalar import Expr, col, from_json
from deltaproof.reference.scalar_sample import sample_expression
from deltaproof.reference.scalar_tree import checked_expressions
from deltaproof.reference.select import JoinOn, Relation, Select
from deltaproof.reference.store import add_into
from deltaproof.reference.types import ARRAY, BOOLEAN, Column, Row, Schema, Type
from deltaproof.reference.zset import Weight, ZSet, without_zeros

Key: TypeAlias = Any  # a bound's place in the order of its type
Bounds: TypeAlias = tuple[Key, Key]  # from the first, before the second
ALWAYS, NEVER = (0,), (2,)  # below and above every key (1, …)


@dataclass(frozen=True)
class TemporalFilter(Operator):
    """WHERE lower <= now() AND now() < upper, where `now` is a row of a table of one column.

    A row is there from the moment `lower` on, until `upper`; a bound of None is no bound, and
    a row whose bound is NULL is never there. The clock is a Z-set like any other: with several
    rows each is a moment of its own, and their answers add up; without a row nothing is there.

    Shape    Z[A] × Z[T] → Z[A], bilinear
    Law      the weight of a is Σ w(a) w(n) over the moments n with lower(a) <= n < upper(a)
    Source   DBSP (VLDB 2023) theorem 3.4; Materialize's temporal filters; Lean: filter_incremental
    Raises   SchemaError without a bound, for a clock of more than one column, or for bounds
             that are not of the clock's type; EvaluationError for a row whose bound has no
             value, whatever the clock says

    >>> from deltaproof.reference.scalar import col
    >>> rows, clock = Schema.parse("t BIGINT"), Schema.parse("now BIGINT")
    >>> recent = TemporalFilter(col("t"), col("t") + 10).meaning(rows, clock)
    >>> recent(ZSet({(5,): 1, (15,): 1, (16,): 1}), ZSet({(15,): 1}))
    ZSet({(15,): 1})
    """

    lower: Expr | None
    upper: Expr | None

    name = "temporal_filter"
    arity = 2
    pairing = Pairing.CLOCK
    shape = Shape.BILINEAR
    state = "the clock, and the rows in the order of their bounds"
    theorem = "temporal_filter_increment"
    source = "DBSP (VLDB 2023) theorem 3.4; Lean: bilinear_incremental"
    claimed = ("monotone", "by_name")

    def output(self, *inputs: Schema) -> Schema:
        rows, clock = inputs
        if len(clock) != 1:
            raise SchemaError(f"temporal_filter: expected a clock of one column, got ({clock})")
        (kind,) = clock.types
        if isinstance(kind, ARRAY) or kind == BOOLEAN:
            raise SchemaError(f"temporal_filter: expected a clock of moments, got {kind}")
        bounds = [bound for bound in (self.lower, self.upper) if bound is not None]
        if not bounds:
            raise SchemaError("temporal_filter: expected lower, upper or both, got neither")
        checked_expressions(self.name, *bounds)
        for bound in bounds:
            if bound.type_in(rows) != kind:
                raise SchemaError(
                    f"temporal_filter: expected bounds of the clock's type {kind}, "
                    f"got {bound.type_in(rows)} {bound}"
                )
        return rows

    def meaning(self, *inputs: Schema) -> Meaning:
        rows, clock = inputs
        moments = Schema((*rows.columns, Column(unused_name(rows), clock.types[0])))
        admits = self.predicate(col(moments.names[-1])).compile(moments)
        bounds_of = self.bounds(rows)

        def filtered(rows: ZSet, clock: ZSet) -> ZSet:
            weights: dict[Row, Weight] = {}
            for row, weight in rows.items():
                bounds_of(row)  # a bound without a value is an error whatever the clock says
                for now, moment in clock.items():
                    if admits(row + now):
                        weights[row] = weights.get(row, 0) + weight * moment
            return ZSet.trusted(without_zeros(weights))

        return filtered

    def predicate(self, now: Expr) -> Expr:
        """lower <= now AND now < upper, as far as there are bounds."""
        above = None if self.lower is None else self.lower <= now
        below = None if self.upper is None else now < self.upper
        if above is not None and below is not None:
            return above & below
        return above if below is None else below  # type: ignore[return-value]  # one is there

    def increment(self, *inputs: Schema) -> Increment:
        return TemporalFilterIncrement(self, *inputs)

    def bounds(self, rows: Schema) -> Callable[[Row], Bounds | None]:
        """The function from a row to its bounds; None for a row that is there at no moment."""
        lower_of, upper_of = (
            self.bound(bound, rows, missing)
            for bound, missing in ((self.lower, ALWAYS), (self.upper, NEVER))
        )

        def bounds(row: Row) -> Bounds | None:
            lower, upper = lower_of(row), upper_of(row)
            return (lower, upper) if lower and upper and lower < upper else None

        return bounds

    @staticmethod
    def bound(bound: Expr | None, rows: Schema, missing: Key) -> Callable[[Row], Key]:
        """The function from a row to the key of its bound; None where the bound is NULL."""
        if bound is None:
            return lambda row: missing
        value_of, key_of = bound.compile(rows), moment_key(bound.type_in(rows))
        return lambda row: key_of(value_of(row))

    def select(self, *inputs: Relation) -> Select:
        rows, clock = inputs
        now = unused_name(rows.schema)
        moments = Select(
            ((now, col(clock.schema.names[0])),),
            clock,
            schema=Schema((Column(now, clock.schema.types[0]),)),
        )
        columns = tuple((name, col(name)) for name in rows.schema.names)
        where = self.predicate(col(now))
        return Select(columns, JoinOn(rows, moments), where=where, schema=rows.schema)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """A lower bound, an upper one, or both; columns mostly, so that moments meet them."""
        rows, clock = inputs
        if len(clock) != 1 or isinstance(clock.types[0], ARRAY) or clock.types[0] == BOOLEAN:
            return None
        (kind,) = clock.types
        names = [column.name for column in rows.columns if column.type == kind]

        def bound() -> Expr:
            if names and random.random() < 0.7:
                return col(random.choice(names))
            return sample_expression(random, rows, kind, depth=1)

        sides = random.choice(((True, True), (True, True), (False, True), (True, False)))
        lower, upper = (bound() if side else None for side in sides)
        return cls(lower, upper)

    def label(self) -> str:
        return f"temporal_filter {self.predicate(col('now'))}"

    def to_json(self) -> dict[str, Any]:
        bounds = {"lower": self.lower, "upper": self.upper}
        return {name: None if bound is None else bound.to_json() for name, bound in bounds.items()}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        lower, upper = (
            None if arguments[name] is None else from_json(arguments[name])
            for name in ("lower", "upper")
        )
        return cls(lower, upper)


def unused_name(rows: Schema) -> str:
    """A name for the clock's column that no column of the rows has."""
    taken = {name.lower() for name in rows.names}
    tried = ("now", *(f"now{number}" for number in range(len(taken) + 1)))
    return next(name for name in tried if name not in taken)


def moment_key(kind: Type) -> Callable[[Any], Key]:
    """The function from a moment to its key; None for NULL, which is no moment."""
    order = kind.order
    return lambda value: None if value is None else (1, order(value))


class TemporalFilterIncrement:
    """Keeps the clock, and the rows by each of their bounds, in the order of the bounds.

    The weight of a row is w S(upper) - w S(lower), where S(x) is the weight of the clock before
    x: a sum over bounds, linear in each input. So a change dS of the clock touches the rows that
    have a bound where dS is not zero, which is where the clock passed.
    """

    def __init__(self, operator: TemporalFilter, rows: Schema, clock: Schema) -> None:
        self.schemas = (rows, clock)
        self.bounds_of = operator.bounds(rows)
        self.key_of = moment_key(clock.types[0])
        self.clear()

    def clear(self) -> None:
        self.clock: dict[Row, Weight] = {}
        self.lower, self.upper = Boundaries(), Boundaries()
        self.staged: tuple[ZSet, list[tuple[Row, Bounds, Weight]]] = (ZSet(), [])

    def step(self, rows: ZSet, clock: ZSet) -> ZSet:
        changes = [
            (row, bounds, weight)
            for row, weight in rows.items()
            if (bounds := self.bounds_of(row)) is not None
        ]
        self.staged = (clock, changes)
        output: dict[Row, Weight] = {}
        if clock:  # a × db
            for first, last, moved in Steps(self.moments(clock.items())).moved():
                add_into(output, self.upper.between(first, last, moved))
                add_into(output, self.lower.between(first, last, -moved))
        if changes:  # da × (b + db)
            after = dict(self.clock)
            add_into(after, clock.items())
            before = Steps(self.moments(after.items())).before
            for row, (lower, upper), weight in changes:
                if passed := before(upper) - before(lower):
                    add_into(output, [(row, weight * passed)])
        return ZSet.trusted(output)

    def moments(self, clock: Iterable[tuple[Row, Weight]]) -> list[tuple[Key, Weight]]:
        """The moments of a clock with their weights, in order."""
        keyed = [(self.key_of(now), weight) for (now,), weight in clock if now is not None]
        return sorted(keyed, key=lambda moment: moment[0])

    def commit(self) -> None:
        clock, changes = self.staged
        add_into(self.clock, clock.items())
        self.lower.add([(lower, row, weight) for row, (lower, _), weight in changes])
        self.upper.add([(upper, row, weight) for row, (_, upper), weight in changes])
        self.staged = (ZSet(), [])

    def save(self) -> Any:
        rows, clock = self.schemas
        kept = ZSet.trusted(dict(self.lower.items()))
        return [zset_to_json(rows, kept), zset_to_json(clock, ZSet.trusted(self.clock))]

    def restore(self, saved: Any) -> None:
        self.clear()
        rows, clock = (
            zset_from_json(schema, entries)
            for schema, entries in zip(self.schemas, saved, strict=True)
        )
        self.step(rows, clock)
        self.commit()


class Steps:
    """The weight of a clock before a moment: a function that steps up at each of its moments.

    >>> steps = Steps([(3, -1), (7, 1)])
    >>> steps.before(3), steps.before(4), steps.before(7), steps.before(8)
    (0, -1, -1, 0)
    >>> list(steps.moved())
    [(3, 7, -1)]
    """

    def __init__(self, moments: list[tuple[Key, Weight]]) -> None:
        self.keys = [key for key, _ in moments]
        self.sums: list[Weight] = [0]
        for _, weight in moments:
            self.sums.append(self.sums[-1] + weight)

    def before(self, key: Key) -> Weight:
        return self.sums[bisect_left(self.keys, key)]

    def moved(self) -> Iterator[tuple[Key, Key, Weight]]:
        """(first, last, weight) where the weight before a moment of (first, last] is not zero."""
        for (first, last), weight in zip(pairwise([*self.keys, NEVER]), self.sums[1:], strict=True):
            if weight:
                yield first, last, weight


class Boundaries:
    """Rows with their weights, in the order of one of their bounds.

    >>> boundaries = Boundaries()
    >>> boundaries.add([((1, 5), ("a",), 1), ((1, 7), ("b",), 2), (NEVER, ("c",), 1)])
    >>> list(boundaries.between((1, 5), (1, 9), -1))
    [(('b',), -2)]
    >>> boundaries.add([((1, 7), ("b",), -2)])
    >>> list(boundaries.rows)
    [(1, 5), (2,)]
    """

    def __init__(self) -> None:
        self.rows: dict[Key, dict[Row, Weight]] = {}
        self.keys = Ordered(lambda key: key)  # of `rows`

    def between(self, first: Key, last: Key, factor: Weight) -> Iterator[tuple[Row, Weight]]:
        """The rows with first < bound <= last, their weights times the factor."""
        for key, _, _ in self.keys.between(first, last):
            if key != first:
                for row, weight in self.rows[key].items():
                    yield row, weight * factor

    def add(self, changes: Iterable[tuple[Key, Row, Weight]]) -> None:
        """Adds a change; a bound without rows is forgotten."""
        for key, row, weight in changes:
            rows = self.rows.get(key)
            if rows is None:
                rows = self.rows[key] = {}
                self.keys.add({key: 1})
            add_into(rows, [(row, weight)])
            if not rows:
                del self.rows[key]
                self.keys.add({key: -1})

    def items(self) -> Iterator[tuple[Row, Weight]]:
        for rows in self.rows.values():
            yield from rows.items()
