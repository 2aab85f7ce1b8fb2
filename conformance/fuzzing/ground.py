"""The operator that is fuzzed, and where it is placed: alone, and below and above every other.

    Target    one of ours, a kind of the user's, or one of its instances at schemas that are given
    Place     (below, above): the pair of names that an arrow of the query has; ("", T) is T alone

A place is tried with random tables until some fit; how often in vain is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from deltaproof.conformance.generate import Growth, Shape, fitting, sample_tables, shape_of
from deltaproof.conformance.histories import Pool
from deltaproof.conformance.pairs import pairs_of
from deltaproof.conformance.pools import pool_over, with_killers
from deltaproof.conformance.target import operator_named
from deltaproof.properties.killers import killer_domain
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS, knowing
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.scalar_sample import sample_value
from deltaproof.reference.types import BIGINT, Schema

Place: TypeAlias = tuple[str, str]  # (the operator that feeds, the operator that is fed)

ALONE = ""
TRIES = 60  # at a place, before it is said that no schemas allow it
SPECIAL_SHARE = 0.25  # of the shapes may have doubles that are NaN or infinite
KILLERS_IN = 6  # one in so many domains of a given schema holds values that broke engines
TABLE_NAMES = "rstuvwxyz"


@dataclass(frozen=True)
class Target:
    """What is fuzzed: a kind of operator, and maybe one instance of it with its input schemas.

    >>> Target.named("distinct").name
    'distinct'
    """

    words: str  # as the user named it
    kind: type[Operator]
    instance: Operator | None = None
    schemas: tuple[Schema, ...] = ()

    @classmethod
    def named(cls, words: str, schemas: Sequence[str] = ()) -> Target:
        """What these words name. Raises UsageError when it cannot be placed, and says why."""
        found = operator_named(words)
        instance = found if isinstance(found, Operator) else None
        kind = type(found) if isinstance(found, Operator) else found
        if instance is None and schemas:
            raise UsageError(f"{words}: --schema is for an operator with its arguments")
        if instance is not None and len(schemas) != instance.inputs():
            raise UsageError(
                f"{words} is an operator with its arguments: give --schema for each of its "
                f"{instance.inputs()} inputs, or name its class, whose instances are sampled"
            )
        if instance is None and kind.arity not in (1, 2):
            raise UsageError(
                f"{words}: operators of one or two inputs are placed, not {kind.arity}"
            )
        if instance is None and kind.sample.__func__ is Operator.sample.__func__:  # type: ignore[attr-defined]  # a classmethod
            raise UsageError(
                f"{words}: `sample` is not there: write it, so that the operator can be placed, "
                "or name one with its arguments and give --schema"
            )
        return cls(words, kind, instance, tuple(map(Schema.parse, schemas)))

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def own(self) -> bool:
        """Whether it is not one of ours."""
        return self.kind not in OPERATORS

    def known(self) -> AbstractContextManager[None]:
        """While this lasts, its name is read from JSON. Raises SchemaError when it is taken."""
        return knowing(self.kind) if self.own else nullcontext()

    def places(self) -> tuple[Place, ...]:
        """Every place there may be, those of one neighbour together."""
        others = [kind.name for kind in OPERATORS if kind.name != self.name]
        around = [place for name in others for place in ((name, self.name), (self.name, name))]
        return ((ALONE, self.name), (self.name, self.name), *around)

    def places_in(self, query: Query) -> tuple[Place, ...]:
        """The places that it has in this query.

        >>> from deltaproof.reference.query import table
        >>> Target.named("distinct").places_in(table("t", "k BIGINT").distinct().negate())
        (('distinct', 'negate'),)
        """
        found = sorted(pair for pair in pairs_of(query) if self.name in pair)
        alone = isinstance(query, Apply) and query.operator.name == self.name
        if alone and any(isinstance(each, Table) for each in query.inputs):
            return ((ALONE, self.name), *found)
        return tuple(found)


class Ground:
    """Random tables on which queries with the target grow."""

    def __init__(self, target: Target, random: Random) -> None:
        self.target = target
        self.random = random
        self.given = target.instance is not None
        self.tables = given_tables(target.schemas) if self.given else sample_tables(random)
        self.growth = Growth(random, self.tables)

    def shape(self, names: Sequence[str], seed: str) -> Shape | None:
        """A query with these operators one above the other, and pools for its tables."""
        query = self.tower(names)
        if query is None:
            return None
        if self.given:
            used = query.tables()
            pools = {name: given_pool(self.random, schema) for name, schema in used.items()}
            return Shape(query, pools, seed)
        special = self.random.random() < SPECIAL_SHARE
        return shape_of(self.random, query, special, seed, with_killers("mixed", seed))

    def tower(self, names: Sequence[str]) -> Query | None:
        query: Query | None = self.random.choice(self.tables)
        for name in names:
            query = query and self.above(query, name)
        return query

    def above(self, below: Query, name: str) -> Query | None:
        """An operator of this name above the query; None when none was found that fits."""
        if name != self.target.name:
            return self.growth.over(below, BY_NAME[name], 2)
        if self.target.instance is None:
            return self.growth.over(below, self.target.kind, 2)
        return self.instance_above(below, self.target.instance)

    def instance_above(self, below: Query, instance: Operator) -> Query | None:
        """The one instance, with the query as any of its inputs and tables as the others."""
        places = list(range(instance.inputs()))
        self.random.shuffle(places)
        for place in places:
            inputs: list[Query] = list(self.tables[: len(places)])
            inputs[place] = below
            if (query := fitting(instance, inputs)) is not None:
                return query
        return None


BY_NAME: Mapping[str, type[Operator]] = {kind.name: kind for kind in OPERATORS}


def given_tables(schemas: Sequence[Schema]) -> list[Table]:
    """A table of each schema, and a second one where there is one only, so that two meet."""
    twice = (*schemas, *schemas) if len(schemas) == 1 else schemas
    return [Table(name, schema) for name, schema in zip(TABLE_NAMES, twice, strict=False)]


def given_pool(random: Random, schema: Schema) -> Pool:
    """A pool for a schema that the user chose: of any types, the first column for keys."""

    def domains() -> Iterator[tuple[object, ...]]:
        for column in schema.columns:
            values = [sample_value(random, column.type) for _ in range(4)]
            if random.randrange(KILLERS_IN) == 0:
                values.append(random.choice(killer_domain(column.type)))
            yield tuple(dict.fromkeys(values))

    first, *rest = domains()
    keys = (0, 1, 2) if schema.columns[0].type == BIGINT else first[:3]
    return pool_over(random, schema, [keys, *rest])
