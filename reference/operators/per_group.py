"""Any query, run for every group on its own: a circuit per group, work only in those touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Self

from deltaproof.reference.errors import CheckpointError, EvaluationError, SchemaError
from deltaproof.reference.operator import (
    Increment,
    Meaning,
    Operator,
    Pairing,
    Shape,
    zset_from_json,
    zset_to_json,
)
from deltaproof.reference.select import Relation
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Column, Row, Schema, key_function
from deltaproof.reference.zset import Weight, ZSet

if TYPE_CHECKING:  # the query module imports the operators
    from deltaproof.reference.nested import Subcircuit
    from deltaproof.reference.query import Query

KeyOf = Callable[[Row], Row]


@dataclass(frozen=True)
class PerGroup(Operator):
    """The query over the rows of each key alone, with the key in front of what it gives.

    The inputs are the tables of the query, in the order of `query.tables()`, and each has the
    keys among its columns. A group is there while any input has a row of its key, of whatever
    weight; so a query that has a row even over nothing has it for these keys. NULL keys are equal.

    Shape    Z[A] × … → Z[K × B], general
    Law      Q per key, of all keys = Q of each key's rows; a query that groups by the key, or
             partitions by it, is this
    Source   DBSP (VLDB 2023) section 6, lifting to streams of streams: ↑↑Q over the group's rows
    Raises   SchemaError for a key that is not in every table, or a column of the query that is
             named like a key, or a query that remembers earlier ticks
    """

    keys: tuple[str, ...]
    query: Query

    name = "per_group"
    shape = Shape.GENERAL
    theorem = "per_group_lifting"
    source = "DBSP (VLDB 2023) section 6; stepping: per_group"
    state = "each group's rows and its own circuit"
    claimed = ("positive", "set_valued", "monotone", "duplicate_free", "scales", "generic")

    def capabilities(self) -> tuple[str, ...]:
        return (*sorted(self.query.capabilities() - {self.name}), self.name)

    def inputs(self) -> int:
        return len(self.query.tables())

    def claims(self) -> tuple[str, ...]:
        from deltaproof.reference.nested import claims_of

        found = claims_of(self.query)
        return tuple(name for name in self.claimed if name in found)

    def partition_by(self, *inputs: Schema) -> tuple[tuple[str, ...], ...]:
        return tuple(self.keys for _ in inputs)

    def output(self, *inputs: Schema) -> Schema:
        if not self.keys:
            raise SchemaError("per_group: no keys: the query alone is its one group")
        if not self.query.lifted:
            raise SchemaError(
                "per_group: the query remembers earlier ticks, and a group is as old as its first "
                "row: apply the delay outside"
            )
        for (name, schema), given in zip(self.query.tables().items(), inputs, strict=True):
            if schema != given:
                raise SchemaError(
                    f"per_group: table {name!r} has columns ({schema}), its input ({given})"
                )
        keys = tuple(self.key_column(key, inputs) for key in self.keys)
        taken = {key.lower() for key in self.keys}
        if clash := [name for name in self.query.schema.names if name.lower() in taken]:
            raise SchemaError(
                f"per_group: the query has a column {clash[0]!r}, and so has the key: rename it "
                "in a map, or leave it out"
            )
        return Schema(keys + self.query.schema.columns)

    @staticmethod
    def key_column(key: str, inputs: tuple[Schema, ...]) -> Column:
        columns = [schema.column(key) for schema in inputs]
        if len({column.type for column in columns}) > 1:
            raise SchemaError(f"per_group: key {key!r} must have one type in every table")
        return Column(key, columns[0].type, any(column.nullable for column in columns))

    def key_functions(self, inputs: tuple[Schema, ...]) -> list[KeyOf]:
        return [key_function([schema.index(key) for key in self.keys]) for schema in inputs]

    def meaning(self, *inputs: Schema) -> Meaning:
        query, names = self.query.meaning(), list(self.query.tables())
        keys = self.key_functions(inputs)

        def per_group(*contents: ZSet) -> ZSet:
            output: dict[Row, Weight] = {}
            for key, tables in groups_of(keys, contents).items():
                rows = query(dict(zip(names, tables, strict=True)))
                output |= {key + row: weight for row, weight in rows.items()}
            return ZSet.trusted(output)

        return per_group

    def increment(self, *inputs: Schema) -> Increment:
        return PerGroupIncrement(self, inputs)

    def select(self, *inputs: Relation) -> None:
        """SQL has no word for a query per group; where one is, it is GROUP BY or PARTITION BY."""

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """Another operator, sometimes two, over the rows of one or two keys."""
        from deltaproof.reference.query import Table

        (schema,) = inputs
        rows = Table("rows", schema)
        query = sample_inner(random, rows, rows)
        if query is not None and random.random() < 0.3:
            query = sample_inner(random, query, rows) or query
        if query is None:
            return None
        keys = random.sample(schema.names, min(len(schema), random.choice((1, 1, 2))))
        return cls(tuple(keys), without_names(query, keys))

    def label(self) -> str:
        from deltaproof.reference.nested import one_line

        return f"per group {', '.join(self.keys)}: {one_line(self.query)}"

    def to_json(self) -> dict[str, Any]:
        tables = [[name, schema.to_json()] for name, schema in self.query.tables().items()]
        return {"keys": list(self.keys), "tables": tables, "query": self.query.to_json()}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        from deltaproof.reference.query import Query

        tables = {name: Schema.from_json(columns) for name, columns in arguments["tables"]}
        if not isinstance(arguments["keys"], list):
            raise TypeError(f"expected a list of names, got {arguments['keys']!r}")
        return cls(tuple(arguments["keys"]), Query.from_json(arguments["query"], tables))


def sample_inner(random: Random, over: Query, rows: Query) -> Query | None:
    """A random operator over the query, where it takes two inputs with the rows as the other."""
    from deltaproof.reference.operators import OPERATORS
    from deltaproof.reference.query import Apply

    for kind in random.sample(OPERATORS, len(OPERATORS)):
        inputs = [over]
        if kind.arity == 2:
            inputs.append(rows.prefix("other_") if kind.pairing is Pairing.DISTINCT_NAMES else over)
        operator = kind.sample(random, *[each.schema for each in inputs])
        if operator is None or isinstance(operator, PerGroup) or not operator.lifted:
            continue
        try:
            return Apply(operator, tuple(inputs))
        except SchemaError:
            continue
    return None


def without_names(query: Query, keys: list[str]) -> Query:
    """The query with its columns renamed, as often as one is named like a key."""
    taken = {key.lower() for key in keys}
    while not taken.isdisjoint(name.lower() for name in query.schema.names):
        query = query.prefix("its_")
    return query


def groups_of(keys: list[KeyOf], contents: tuple[ZSet, ...]) -> dict[Row, list[ZSet]]:
    """The rows of each key, of every input.

    >>> groups_of([key_function([0])], (ZSet({("a", 1): 2, ("b", 1): 1}),))
    {('a',): [ZSet({('a', 1): 2})], ('b',): [ZSet({('b', 1): 1})]}
    """
    groups: dict[Row, list[dict[Row, Weight]]] = {}
    for place, (key_of, rows) in enumerate(zip(keys, contents, strict=True)):
        for row, weight in rows.items():
            key = key_of(row)
            if key not in groups:
                groups[key] = [{} for _ in contents]
            groups[key][place][row] = weight
    return {key: list(map(ZSet.trusted, tables)) for key, tables in groups.items()}


@dataclass
class Group:
    """What is kept of one key: its rows, and the query's own state over them."""

    circuit: Subcircuit
    contents: list[dict[Row, Weight]] = field(default_factory=list)  # of every input

    def size_after(self, deltas: list[ZSet]) -> int:
        """How many rows the group will have."""
        size = sum(map(len, self.contents))
        for rows, delta in zip(self.contents, deltas, strict=True):
            for row, weight in delta.items():
                before = rows.get(row, 0)
                size += bool(before + weight) - bool(before)
        return size


class PerGroupIncrement:
    """A circuit per group, which runs when a change touches the group, and goes with its last row.

    When it goes, its last output is what the query gives over nothing, which is taken back.
    """

    def __init__(self, operator: PerGroup, inputs: tuple[Schema, ...]) -> None:
        self.query = operator.query
        self.keys = operator.key_functions(inputs)
        self.schemas = inputs
        self.names = list(self.query.tables())
        self.over_nothing = self.query.meaning()({})
        self.clear()

    def clear(self) -> None:
        self.groups: dict[Row, Group] = {}
        self.staged: dict[Row, tuple[Group, list[ZSet]]] = {}
        self.emptied: list[Row] = []

    def step(self, *deltas: ZSet) -> ZSet:
        self.staged, self.emptied = {}, []
        output: dict[Row, Weight] = {}
        for key, tables in groups_of(self.keys, deltas).items():
            group = self.groups.get(key) or self.new_group()
            self.staged[key] = (group, tables)
            change = self.change_of(key, group, tables)
            if not group.size_after(tables):
                self.emptied.append(key)
                change = change - self.over_nothing
            output |= {key + row: weight for row, weight in change.items()}
        return ZSet.trusted(output)

    def new_group(self) -> Group:
        from deltaproof.reference.nested import Subcircuit

        return Group(Subcircuit([self.query]), [{} for _ in self.names])

    def change_of(self, key: Row, group: Group, tables: list[ZSet]) -> ZSet:
        try:
            (change,) = group.circuit.step(dict(zip(self.names, tables, strict=True)))
        except EvaluationError as error:
            raise EvaluationError(f"{error} in group {key!r}") from None
        return change

    def commit(self) -> None:
        for key, (group, deltas) in self.staged.items():
            group.circuit.commit()
            for rows, delta in zip(group.contents, deltas, strict=True):
                add_into(rows, delta.items())
            self.groups[key] = group
        for key in self.emptied:
            del self.groups[key]
        self.staged, self.emptied = {}, []

    def save(self) -> Any:
        return [
            [
                [
                    zset_to_json(schema, ZSet.trusted(rows))
                    for schema, rows in zip(self.schemas, group.contents, strict=True)
                ],
                group.circuit.save(),
            ]
            for group in self.groups.values()
        ]

    def restore(self, saved: Any) -> None:
        self.clear()
        for contents, state in saved:
            group = self.new_group()
            pairs = list(zip(self.schemas, contents, strict=True))
            group.contents = [dict(zset_from_json(schema, rows).items()) for schema, rows in pairs]
            group.circuit.restore(state)
            tables = zip(self.keys, group.contents, strict=True)
            keys = {key_of(row) for key_of, rows in tables for row in rows}
            if len(keys) != 1:
                raise CheckpointError(f"expected the rows of one group, got {contents!r:.80}")
            self.groups[keys.pop()] = group
