"""As-of join: a right row that comes or goes matters only until the time of the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Shape,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.operators.presence import (
    Pairs,
    checked_keys,
    condition_label,
    key_functions,
    pairs_from_json,
)
from deltaproof.reference.order import Order, order_key
from deltaproof.reference.ordered import LAST, After, InOrder, Ordered
from deltaproof.reference.scalar import col
from deltaproof.reference.select import (
    JoinOn,
    Relation,
    Select,
    WindowCall,
    columns_of,
    fresh_name,
)
from deltaproof.reference.store import Index, add_into
from deltaproof.reference.types import ARRAY, BIGINT, Column, Row, Schema
from deltaproof.reference.zset import Weight, ZSet, without_zeros

KINDS = ("inner", "left")
Place: TypeAlias = Any  # of a time, comparable with the places of the other side's times


@dataclass(frozen=True)
class AsofJoin(Operator):
    """Each left row with the last right row of its key that is not later; strict: earlier.

    The last right row is the one with the greatest time; among several of that time it is the
    greatest row, column by column, NULLS LAST. It counts when its weight is above zero, and
    however often it is there, it is joined once: the weight of the pair is that of the left row.
    A NULL key or a NULL time matches nothing; a left row without a match is dropped, or in a left
    join padded with NULLs. NaN, as a time, comes after all others.

    Shape    Z[A] × Z[B] → Z[A × B], linear in the left, general in the right
    Source   an aggregate over the right rows of a key that are not later than the left row
    Raises   SchemaError for keys or times of different types, times that are arrays, a column
             name on both sides, or a kind that there is not
    """

    on: Pairs
    left_time: str
    right_time: str
    kind: str = "inner"
    strict: bool = False

    name = "asof_join"
    arity = 2
    shape = Shape.GENERAL
    theorem = "grouped_increment"
    source = "DBSP (VLDB 2023) section 7.2, group by group"
    state = "both inputs, by key and in the order of time"
    claimed = ("positive", "scales")

    @classmethod
    def all_capabilities(cls) -> tuple[str, ...]:
        return ("join.asof",)

    def capabilities(self) -> tuple[str, ...]:
        return ("join.asof",)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(name for name, _ in self.on), tuple(name for _, name in self.on)

    def output(self, *inputs: Schema) -> Schema:
        left, right = inputs
        if self.kind not in KINDS:
            raise SchemaError(
                f"asof_join: unknown kind {self.kind!r}: there are {', '.join(KINDS)}"
            )
        if type(self.strict) is not bool:
            raise SchemaError(f"asof join: expected strict True or False, got {self.strict!r}")
        checked_keys("asof join", self.on, left, right)
        ours, theirs = left.column(self.left_time), right.column(self.right_time)
        if ours.type != theirs.type or isinstance(ours.type, ARRAY):
            raise SchemaError(
                f"asof join: times must have one type, and arrays have no order here, got {ours} "
                f"and {theirs}"
            )
        nullable = self.kind == "left"
        padded = (replace(each, nullable=each.nullable or nullable) for each in right.columns)
        return Schema((*left.columns, *padded))

    def meaning(self, *inputs: Schema) -> Meaning:
        left, right = inputs
        left_key, right_key = key_functions(self.on, left, right)
        left_place, right_place = self.places(left, right)
        joined = self.paired(right)

        def place_of_row(row: Row) -> Any:
            return right_place(row), right.sort_key(row)

        def not_later(other: Row, place: Place) -> bool:
            theirs = right_place(other)
            return theirs is not None and (theirs < place or (theirs == place and not self.strict))

        def asof(lefts: ZSet, rights: ZSet) -> ZSet:
            index = Index(right_key)
            index.add(rights.items())
            output: dict[Row, Any] = {}
            for row, weight in lefts.items():
                place, others = left_place(row), index.of(left_key(row)).items()
                matching = [
                    other
                    for other, present in others
                    if present > 0 and place is not None and not_later(other, place)
                ]
                pair = joined(row, max(matching, key=place_of_row, default=None))
                if pair is not None:
                    output[pair] = weight
            return ZSet.trusted(output)

        return asof

    def places(
        self, left: Schema, right: Schema
    ) -> tuple[Callable[[Row], Place], Callable[[Row], Place]]:
        """The place of a row's time on each side, None where it is NULL."""
        return place_function(left, self.left_time), place_function(right, self.right_time)

    def paired(self, right: Schema) -> Callable[[Row, Row | None], Row | None]:
        """The function from a left row and its match to the output row, None where there is none.

        >>> right = Schema.parse("u BIGINT, w BIGINT")
        >>> AsofJoin((), "t", "u", "left").paired(right)((5,), None)
        (5, None, None)
        """
        nulls = (None,) * len(right) if self.kind == "left" else None

        def pair(row: Row, match: Row | None) -> Row | None:
            other = nulls if match is None else match
            return None if other is None else row + other

        return pair

    def increment(self, *inputs: Schema) -> Increment:
        return AsofJoinIncrement(self, *inputs)

    def select(self, *inputs: Relation) -> Select | None:
        """The matches that rank first, last time first: of each left row, however often there."""
        left, right = inputs
        if any(isinstance(kind, ARRAY) for kind in right.schema.types):
            return None  # ties are for the whole row to break, and SQL has no order of arrays
        earlier = col(self.right_time) < col(self.left_time)
        if not self.strict:
            earlier = col(self.right_time) <= col(self.left_time)
        rights = Select.star(right, distinct=True)
        pairs = JoinOn(left, rights, self.on, self.kind, earlier)
        names = (*left.schema.names, *right.schema.names)
        rank = fresh_name("_rank", names)
        last_first = [self.right_time, *right.schema.names]
        call = WindowCall(
            "rank",
            partition=tuple(col(name) for name in left.schema.names),
            order=tuple(Order(col(n), descending=True, nulls_first=True) for n in last_first),
        )
        schema = Schema((*pairs.schema.columns, Column(rank, BIGINT, nullable=False)))
        ranked = Select((*columns_of(names), (rank, call)), pairs, schema=schema)
        return Select(columns_of(names), ranked, where=col(rank).eq(1), schema=pairs.schema)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        left, right = inputs
        clash = {n.lower() for n in left.names} & {n.lower() for n in right.names}
        pairs = [(a.name, b.name) for a in left.columns for b in right.columns if a.type == b.type]
        times = [(a, b) for a, b in pairs if not isinstance(left.column(a).type, ARRAY)]
        if clash or not times:
            return None
        left_time, right_time = random.choice(times)
        keys = [(a, b) for a, b in pairs if a != left_time and b != right_time]
        on = tuple(random.sample(keys, min(len(keys), random.choice((0, 1, 1, 1, 2)))))
        return cls(on, left_time, right_time, random.choice(KINDS), random.random() < 0.4)

    def label(self) -> str:
        earlier = "<" if self.strict else "<="
        moment = f"{self.right_time} {earlier} {self.left_time}"
        on = condition_label(self.on, None)
        return f"{self.kind} asof join{on}{' AND' if on else ''} {moment}"

    def to_json(self) -> dict[str, Any]:
        return {
            "on": [list(pair) for pair in self.on],
            "left_time": self.left_time,
            "right_time": self.right_time,
            "kind": self.kind,
            "strict": self.strict,
        }

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        kind, strict = arguments["kind"], arguments["strict"]
        times = arguments["left_time"], arguments["right_time"]
        if kind not in KINDS:
            raise ValueError(f"expected one of {KINDS}, got {kind!r}")
        if type(strict) is not bool or not all(isinstance(time, str) for time in times):
            raise TypeError(f"expected two columns and strict true or false, got {arguments!r}")
        return cls(pairs_from_json(arguments["on"]), *times, kind, strict)


def place_function(schema: Schema, time: str) -> Callable[[Row], Place]:
    """The place of a row's time in the order, None where it is NULL."""
    position, order = schema.index(time), schema.column(time).type.order

    def place(row: Row) -> Place:
        value = row[position]
        return None if value is None else order(value)

    return place


class AsofJoinIncrement:
    """Keeps both sides by key and in the order of time.

    A right row that appears or goes at time t touches the left rows of its key from t up to the
    time of the right row that follows it after the tick: of later left rows that one, or one
    after it, was and is the match, unless it too has changed, and then it touches them itself.
    """

    def __init__(self, operator: AsofJoin, left: Schema, right: Schema) -> None:
        self.schemas = (left, right)
        self.strict = operator.strict
        self.keys = key_functions(operator.on, left, right)
        self.places = operator.places(left, right)
        self.orders = (
            order_key([Order(col(operator.left_time))], left),
            order_key([Order(col(operator.right_time))], right),
        )
        self.joined = operator.paired(right)
        self.nothing = Ordered(self.orders[1])
        self.clear()

    def clear(self) -> None:
        self.left = Index(self.keys[0])
        self.times: dict[Any, Ordered] = {}  # the left rows of a key by time, each once
        self.right: dict[Any, Ordered] = {}
        self.staged: tuple[ZSet, dict[Any, dict[Row, Weight]]] = (ZSet(), {})

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        changes = self.right_by_key(db)
        self.staged = (da, changes)
        afters = {
            key: After(self.right.get(key, self.nothing), change) for key, change in changes.items()
        }
        touched = dict.fromkeys([*da, *self.touched(afters)])
        output: dict[Row, Weight] = {}
        for row in touched:
            key = self.keys[0](row)
            weight = self.left.of(key).get(row, 0)
            before = self.right.get(key, self.nothing)
            after = afters.get(key, before)
            add_pair(output, self.joined(row, self.match(row, before)), -weight)
            add_pair(output, self.joined(row, self.match(row, after)), weight + da[row])
        return ZSet.trusted(without_zeros(output))

    def right_by_key(self, delta: ZSet) -> dict[Any, dict[Row, Weight]]:
        """The right delta by key; rows with a NULL in the key or the time match nothing."""
        changes: dict[Any, dict[Row, Weight]] = {}
        for row, weight in delta.items():
            key = self.keys[1](row)
            if key is not None and self.places[1](row) is not None:
                changes.setdefault(key, {})[row] = weight
        return changes

    def touched(self, afters: Mapping[Any, After]) -> Iterator[Row]:
        """The left rows whose match may be another one once these changes are applied."""
        for key, after in afters.items():
            times = self.times.get(key)
            if times is None:
                continue
            for change in after.changes:
                if (change.before > 0) != (change.after > 0):
                    yield from self.reached(times, change.key, after)

    def reached(self, times: Ordered, key: Any, after: After) -> Iterator[Row]:
        """The left rows that a right row in this place would be the last right row for."""
        follower = next((e.key[0] for e in after.upwards(key) if e.key != key), None)
        for entry in times.upwards((key[0], LAST) if self.strict else (key[0],)):
            place = entry.key[0]
            if follower is not None and self.is_match(follower, place):
                return
            yield entry.row

    def is_match(self, right: Place, left: Place) -> bool:
        """Whether a right row of the same time, or earlier, may be a left row's match."""
        return bool(right < left or (right == left and not self.strict))

    def match(self, row: Row, others: InOrder) -> Row | None:
        """The last of these right rows that is not later than the left row."""
        if self.places[0](row) is None:
            return None
        place = self.orders[0](row)[0]
        last = next(others.downwards((place,) if self.strict else (place, LAST)), None)
        return None if last is None else last.row

    def commit(self) -> None:
        da, changes = self.staged
        self.left.add(da.items())
        for row in da:
            self.place_left(row)
        for key, change in changes.items():
            group = self.right.setdefault(key, Ordered(self.orders[1]))
            group.add(change)
            if not group:
                del self.right[key]
        self.staged = (ZSet(), {})

    def place_left(self, row: Row) -> None:
        """A left row is in the order while its weight is not zero, whatever the sign."""
        key = self.keys[0](row)
        if key is None or self.places[0](row) is None:
            return
        times = self.times.setdefault(key, Ordered(self.orders[0]))
        times.add({row: (row in self.left.of(key)) - times.weight(row)})
        if not times:
            del self.times[key]

    def save(self) -> Any:
        rights: dict[Row, Weight] = {}
        for group in self.right.values():
            add_into(rights, group.items())
        sides = (dict(self.left.items()), rights)
        pairs = zip(self.schemas, sides, strict=True)
        return [zset_to_json(schema, ZSet.trusted(rows)) for schema, rows in pairs]

    def restore(self, saved: Any) -> None:
        self.clear()
        pairs = zip(self.schemas, saved, strict=True)
        left, right = (zset_from_json(schema, entries) for schema, entries in pairs)
        self.staged = (left, self.right_by_key(right))
        self.commit()


def add_pair(output: dict[Row, Weight], pair: Row | None, weight: Weight) -> None:
    """Adds a row to the output, if there is one."""
    if pair is not None:
        output[pair] = output.get(pair, 0) + weight
