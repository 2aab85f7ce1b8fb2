"""Recursion is the least fixpoint of its bodies, and a change costs what it changes in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.fixpoint import not_converged
from deltaproof.reference.operator import Increment, Meaning, Operator, Shape
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.recursion_rules import entering_as_sets, flattened
from deltaproof.reference.select import Recursive, Relation
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

if TYPE_CHECKING:  # the query module imports the operators
    from deltaproof.reference.query import Query, Table

BOUND = 10_000  # iterations

Definitions: TypeAlias = "tuple[tuple[str, Query], ...]"
Tables: TypeAlias = tuple[tuple[str, Schema], ...]


@dataclass(frozen=True)
class Recursion(Operator):
    """μ: the relations that the bodies define in terms of each other, and one of them as result.

    A body is a query over the relations that are defined here and over the `tables`, the names
    under which the inputs are known inside. All relations begin empty; an iteration replaces each
    by the set of the rows of its body, over the relations as they were, until nothing changes.
    What a body reads from outside enters the recursion as a set: the rows of positive weight.

    Bodies must be monotone in the relations (see `recursion_rules`), so that this is the least
    fixpoint. One that makes new values may have none that is finite, so the iterations have a
    bound. A recursion in a body is part of the iteration around it, whose bound holds for both.

    Shape    Z[A] × … → Z[R], general
    Law      μ = distinct(body(μ)), and it is in every set that is distinct(body) of itself
    Source   DBSP (VLDB 2023) sections 5 and 6, theorem 6.2; Bekić (1969) for nested recursion
    Raises   SchemaError for a body that is not monotone, or of other columns than its relation;
             EvaluationError when the iteration does not end within the bound
    """

    definitions: Definitions
    result: str
    tables: Tables
    bound: int = BOUND

    name = "recursion"
    shape = Shape.GENERAL
    theorem = "recursion_seminaive"
    source = "DBSP (VLDB 2023) section 6, proposition 6.2"
    state = "every relation and join side, by iteration"
    claimed = ("set_valued", "monotone", "duplicate_free", "generic")

    def capabilities(self) -> tuple[str, ...]:
        inner = (name for _, body in self.definitions for name in sorted(body.capabilities()))
        return (*dict.fromkeys(each for each in inner if each != self.name), self.name)

    def inputs(self) -> int:
        return len(self.tables)

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        """The columns of each relation: those it is read with, else those of its body."""
        read = {
            table.name: table.schema
            for _, body in self.definitions
            for table in base_tables(body)
            if table.name not in dict(self.tables)
        }
        return {name: read.get(name, body.schema) for name, body in self.definitions}

    def relation(self, name: str) -> Table:
        """The relation of this name as the bodies read it."""
        from deltaproof.reference.query import Table

        return Table(name, self.schemas[name])

    @cached_property
    def bodies(self) -> dict[Query, Query]:
        """The flattened bodies, by the relation that each defines."""
        return flattened(self)

    def claims(self) -> tuple[str, ...]:
        # the module needs queries, which need the operators, of which this is one
        from deltaproof.reference.nested import claims_of

        bodies = [claims_of(body) for _, body in self.definitions]
        together = frozenset.intersection(*bodies)
        return self.claimed_if(monotone="monotone" in together, generic="generic" in together)

    def output(self, *inputs: Schema) -> Schema:
        self.check_names(inputs)
        for name, body in self.definitions:
            self.check_tables(body)
            self.check_columns(name, body)
            if not body.lifted:
                raise SchemaError(
                    f"recursion: the body of {name!r} remembers earlier ticks: apply the delay "
                    "to what it reads, before the recursion"
                )
        self.bodies  # noqa: B018  # refuses what is not monotone
        return self.schemas[self.result]

    def check_names(self, inputs: tuple[Schema, ...]) -> None:
        names = [name for name, _ in (*self.definitions, *self.tables)]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise SchemaError(f"recursion: {repeated[0]!r} is defined twice: rename one")
        if self.result not in dict(self.definitions):
            known = ", ".join(name for name, _ in self.definitions)
            raise SchemaError(f"recursion: no definition of {self.result!r}: there are {known}")
        if type(self.bound) is not int or self.bound < 1:
            raise SchemaError(f"recursion: the bound must be at least 1, got {self.bound!r}")
        for (name, schema), given in zip(self.tables, inputs, strict=True):
            if schema != given:
                raise SchemaError(
                    f"recursion: table {name!r} has columns ({schema}), its input ({given})"
                )

    def check_tables(self, body: Query) -> None:
        known = self.schemas | dict(self.tables)
        for table in base_tables(body):
            if table.name not in known:
                raise SchemaError(
                    f"recursion: unknown table {table.name!r}: there are {', '.join(known)}"
                )
            if table.schema != known[table.name]:
                raise SchemaError(f"recursion: {table.name!r} is used with two different schemas")

    def check_columns(self, name: str, body: Query) -> None:
        declared = self.schemas[name]
        missing = [
            wanted
            for wanted, given in zip(declared.columns, body.schema.columns, strict=False)
            if given.nullable and not wanted.nullable
        ]
        if declared.types != body.schema.types or missing:
            raise SchemaError(
                f"recursion: {name!r} is read with columns ({declared}), its body has "
                f"({body.schema}): they must have the same types"
                + (f", and {missing[0].name} must be nullable" if missing else "")
            )

    def meaning(self, *inputs: Schema) -> Meaning:
        names = {name for name, _ in self.definitions}
        bodies = {name: entering_as_sets(body, names).meaning() for name, body in self.definitions}
        as_set = {name: Distinct().meaning(schema) for name, schema in self.schemas.items()}

        def least_fixpoint(*contents: ZSet) -> ZSet:
            tables = dict(zip(dict(self.tables), contents, strict=True))
            relations = {name: ZSet() for name in bodies}
            for _ in range(self.bound):
                before = relations
                relations = {
                    name: as_set[name](body(tables | before)) for name, body in bodies.items()
                }
                if relations == before:
                    return relations[self.result]
            name = next(name for name in relations if relations[name] != before[name])
            raise not_converged(name, self.bound, relations[name] - before[name])

        return least_fixpoint

    def increment(self, *inputs: Schema) -> Increment:
        # the module needs queries, which need the operators, of which this is one
        from deltaproof.reference.operators.recursion_increment import RecursionIncrement

        tables = [name for name, _ in self.tables]
        return RecursionIncrement(self.bodies, self.relation(self.result), tables, self.bound)

    def select(self, *inputs: Relation) -> Recursive | None:
        from deltaproof.reference.operators.recursion_select import recursive_select

        return recursive_select(self, inputs)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        # the module needs queries, which need the operators, of which this is one
        from deltaproof.reference.operators.recursion_sample import sample_recursion

        (rows,) = inputs
        query = sample_recursion(random, rows)
        return None if query is None else query.operator  # type: ignore[return-value]  # of this class

    def label(self) -> str:
        from deltaproof.reference.nested import one_line

        bodies = [f"{name} = {one_line(body)}" for name, body in self.definitions]
        others = "" if len(bodies) == 1 else f"{self.result} of "
        return f"recursion {others}{', '.join(bodies)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "definitions": [
                [name, self.schemas[name].to_json(), body.to_json()]
                for name, body in self.definitions
            ],
            "result": self.result,
            "tables": [[name, schema.to_json()] for name, schema in self.tables],
            "bound": self.bound,
        }

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        from deltaproof.reference.query import Query

        tables = {name: Schema.from_json(columns) for name, columns in arguments["tables"]}
        relations = {
            name: Schema.from_json(columns) for name, columns, _ in arguments["definitions"]
        }
        definitions = tuple(
            (name, Query.from_json(body, tables | relations))
            for name, _, body in arguments["definitions"]
        )
        return cls(definitions, arguments["result"], tuple(tables.items()), arguments["bound"])


def base_tables(query: Query) -> Iterator[Table]:
    """The tables that the query reads, once for each schema that they are read with."""
    from deltaproof.reference.query import Table

    return (node for node in query.nodes() if isinstance(node, Table))
