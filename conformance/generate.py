"""The generator: random queries, three operators deep, and random histories for them.

Everything follows from a seed. A shape is one query with pools of rows for its tables; the
cases of a shape differ in their histories. Domains are small on purpose: rows must meet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count, islice
from random import Random

from deltaproof.conformance.adapter import (
    OPERATOR_CAPABILITIES,
    needs,
    type_capability,
    value_capabilities,
)
from deltaproof.conformance.case import Case
from deltaproof.conformance.histories import HUGE, KINDS, NEEDS, WEIGHTS, History, Pool
from deltaproof.conformance.pools import (
    BIGINTS,
    MONEY,
    adding_needs,
    adds_doubles,
    killer_pool,
    pool,
    with_killers,
)
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Operator, Pairing
from deltaproof.reference.operators import OPERATORS, kinds_by_name
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.aggregate_functions import call_capabilities
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.query import Apply, Query, Table, apply
from deltaproof.reference.scalar_sample import sample_predicate
from deltaproof.reference.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    Column,
    Schema,
    Type,
)

DEPTH = 3
MOST_DRAWS = 100  # of a shape that turns out not to be useful
MOST_PLAIN = 300  # tries at a plain query of an operator, before it may be another

# The types that an aggregate's argument takes in turn; odd turns are plain, see `shapes`.
ARGUMENTS: Mapping[str, Sequence[Type]] = {
    "aggregate.sum": (DOUBLE, BIGINT, MONEY),
    "aggregate.avg": (DOUBLE, BIGINT, MONEY),
    "aggregate.min": (DOUBLE, VARCHAR, MONEY),
    "aggregate.max": (TIMESTAMP, DATE, DOUBLE),
    "aggregate.sum_distinct": (DOUBLE, BIGINT, MONEY),
    "aggregate.avg_distinct": (DOUBLE, BIGINT, MONEY),
    "aggregate.variance": (DOUBLE, BIGINT, MONEY),
    "aggregate.stddev": (DOUBLE, BIGINT, MONEY),
    "aggregate.bool": (BOOLEAN,),
    "aggregate.arg": (DOUBLE, VARCHAR, BIGINT),
    "aggregate.array_agg": (DOUBLE, VARCHAR, BIGINT),
    "aggregate.quantile": (DOUBLE, BIGINT, MONEY),
}
# What must feed an operator for it to have a value: `single` takes at most one row.
NEEDS_BELOW: Mapping[str, tuple[type[Operator], ...]] = {"aggregate.single": (Distinct,)}
NOT_PLAIN = frozenset(  # what not every engine has
    {
        *("negate", "delay", "integrate", "differentiate", "logic", "per_group", "recursion"),
        *("type.decimal", "type.array"),
    }
)
COLUMN_TYPES: Sequence[Type] = (
    *([BIGINT] * 6),
    *([VARCHAR] * 4),
    *([DOUBLE] * 2),
    BOOLEAN,
    DATE,
    TIMESTAMP,
    MONEY,
    BIGINTS,
)


@dataclass(frozen=True)
class Shape:
    """A query, the pools of rows for its tables, and a seed for its histories.

    killers: the pools hold values that broke engines; huge: so do the weights of `signed`.
    """

    query: Query
    pools: Mapping[str, Pool] = field(compare=False)
    seed: str
    killers: bool = False
    huge: bool = False

    @cached_property
    def root(self) -> int:
        """The seed as a number, so that each case's own is one addition away."""
        return int.from_bytes(hashlib.sha256(self.seed.encode()).digest()[:8])

    @cached_property
    def needs(self) -> frozenset[str]:
        """The capabilities that its cases ask of a backend, whatever the history."""
        asked = needs(self.query)
        for held in self.pools.values():
            asked |= value_capabilities(held.schema, held.rows)
            if self.killers:
                asked |= adding_needs(self.query, chain.from_iterable(held.rows))
        return asked

    def asks(self, kind: str) -> frozenset[str]:
        """What a history of this kind asks of a backend besides.

        >>> sorted(shape("7", "distinct").asks("signed"))
        ['weights.signed']
        """
        asked = {NEEDS[kind]} if kind in NEEDS else set()
        return frozenset(asked | ({"weights.huge"} if self.huge and kind == "signed" else set()))

    def cases(self, kinds: Sequence[str], start: int = 0) -> Iterator[Case]:
        """Cases without end, the kinds of change taking turns."""
        for number in count(start):
            yield self.case(kinds[number % len(kinds)], number)

    def case(self, kind: str, number: int) -> Case:
        """The case of this kind and number; it depends on nothing else."""
        weights = WEIGHTS + HUGE if self.huge else WEIGHTS
        history = History(Random(self.root + number), self.pools, weights)
        KINDS[kind](history)
        return Case(self.query, tuple(history.ticks), f"@{kind}", "", tuple(history.restarts))


def shapes(
    seed: int,
    capabilities: Sequence[str] = OPERATOR_CAPABILITIES,
    useful: Callable[[Shape], bool] = lambda shape: True,
    values: str = "plain",
) -> Iterator[Shape]:
    """Shapes without end; each of the capabilities takes its turn to be in the query.

    Every second round is of plain shapes, so that each operator meets every SQL engine too. A
    shape that is not `useful` is drawn again, so that no capability loses its turn to chance.
    The `values` are plain, killers or mixed; they change no query and no other shape's values.
    """
    for number in count():
        turn, place = divmod(number, len(capabilities))
        name = capabilities[place]
        kinds = ARGUMENTS.get(name, (None,))
        kind = kinds[turn % len(kinds)]
        for again in range(MOST_DRAWS):
            drawn = shape(
                f"{seed}/{number}/{again}",
                name,
                plain=turn % 2 == 1,
                argument=kind,
                killers=with_killers(values, f"{seed}/{number}"),
            )
            if useful(drawn):
                yield drawn
                break


def shape(
    seed: str,
    capability: str,
    plain: bool = False,
    argument: Type | None = None,
    killers: bool = False,
) -> Shape:
    """The shape of this seed, its query using this operator; `plain` asks no engine for more.

    With an `argument` an aggregate of this capability has one of that type; with `killers` the
    tables hold values that broke engines.

    >>> "distinct" in shape("7", "distinct").needs
    True
    """
    random = Random(seed)
    special = not plain and (argument == DOUBLE or random.random() < 0.25)
    asked = {capability, type_capability(argument)} if argument else {capability}
    tries = 0
    while True:
        tries += 1
        # an operator may need what not every engine has, as array_agg needs arrays
        refused = NOT_PLAIN - asked if plain and tries < MOST_PLAIN else frozenset()
        tables = sample_tables(random, argument)
        kinds = (*NEEDS_BELOW.get(capability, ()), operator_of(capability))
        query = Growth(random, tables).around(kinds, DEPTH)
        if query is None:
            continue
        fits = argument is None or argument in argument_types(query, capability)
        if fits and capability in query.capabilities() and not needs(query) & refused:
            return shape_of(random, query, special, seed, killers)


def shape_of(
    random: Random, query: Query, special: bool, seed: str, killers: bool = False
) -> Shape:
    """The query with pools for its tables; `special` lets DOUBLE be NaN and infinite."""
    used = query.tables().items()
    if killers:
        # half of the sums of doubles are of numbers that do not ask for exact ones, as few have
        far = not adds_doubles(query) or random.random() < 0.5
        pools = {name: killer_pool(random, schema, far) for name, schema in used}
        return Shape(query, pools, seed, killers, huge=random.random() < 0.5)
    return Shape(query, {name: pool(random, schema, special) for name, schema in used}, seed)


def operator_of(capability: str) -> type[Operator]:
    """The operator that may need this capability.

    >>> operator_of("aggregate.sum").name
    'aggregate'
    """
    return next(kind for kind in kinds_by_name().values() if capability in kind.all_capabilities())


def argument_types(query: Query, name: str) -> set[Type]:
    """The types of the arguments that the aggregates of this capability have in the query."""
    return {
        call.argument.type_in(node.over[0].schema)
        for node in query.nodes()
        if isinstance(node, Apply) and isinstance(node.operator, Aggregate)
        for _, call in node.operator.aggregates
        if call.argument is not None and name in call_capabilities(call)
    }


def sample_tables(random: Random, wanted: Type | None = None) -> list[Table]:
    """Two or three tables, each with a key column first; sometimes two of the same columns.

    A `wanted` type is that of a column of every table.
    """
    tables = []
    types: list[Type] = []
    for name in ("r", "s", "t")[: random.choice((2, 2, 3))]:
        if not types or random.random() < 0.6:
            types = [BIGINT, *random.choices(COLUMN_TYPES, k=random.choice((1, 1, 2, 2, 3)))]
            types += [wanted] if wanted is not None else []
        columns = (
            Column(f"{name}{place}", kind, nullable=random.random() < 0.8)
            for place, kind in enumerate(types)
        )
        tables.append(Table(name, Schema(tuple(columns))))
    return tables


def sample_query(random: Random, tables: Sequence[Table], depth: int) -> Query:
    """A random tree of at most this depth, over at least one operator."""
    return Growth(random, tables).grow(depth, root=True)


class Growth:
    """Grows random trees over some tables."""

    def __init__(self, random: Random, tables: Sequence[Table]) -> None:
        self.random = random
        self.tables = tables
        self.clocks = [each.project(each.schema.names[0]).distinct() for each in tables]
        self.fresh = (f"j{number}_" for number in count())

    def grow(self, depth: int, root: bool = False) -> Query:
        """A tree of at most this depth; a table, now and then, unless it is to be a root."""
        if depth == 0 or (not root and self.random.random() < 0.15):
            return self.random.choice(self.tables)
        while True:
            below = self.grow(depth - 1)
            if (query := self.over(below, self.random.choice(OPERATORS), depth)) is not None:
                return query

    def around(self, kinds: Sequence[type[Operator]], depth: int) -> Query | None:
        """These operators one above the other, in a tree of this depth or as deep as they are."""
        spare = max(0, depth - len(kinds))
        below = self.random.randint(0, spare)
        query: Query | None = self.grow(below)
        for kind in kinds:
            query = query and self.over(query, kind, 2)
        for _ in range(self.random.randint(0, spare - below)):
            above = query and self.over(query, self.random.choice(OPERATORS), 2)
            query = above or query
        return query

    def over(self, below: Query, kind: type[Operator], depth: int) -> Query | None:
        """A random operator of this kind above the query; None when none was found that fits."""
        inputs = [below]
        if kind.arity == 2:
            inputs.append(self.partner(kind, below, depth))
            if kind.pairing is not Pairing.CLOCK and self.random.random() < 0.3:
                inputs.reverse()
        operator = kind.sample(self.random, *[each.schema for each in inputs])
        return None if operator is None else fitting(operator, inputs)

    def partner(self, kind: type[Operator], left: Query, depth: int) -> Query:
        """The other input: one of equal types, of other names, or a clock."""
        if kind.pairing is Pairing.CLOCK:
            return self.random.choice(self.clocks)
        other = self.grow(self.random.randrange(depth))
        if kind.pairing is Pairing.SAME_TYPES and other.schema.types != left.schema.types:
            some = Filter(sample_predicate(self.random, left.schema))
            return self.random.choice((left, apply(some, left)))
        if kind.pairing is Pairing.DISTINCT_NAMES and clashes(left.schema, other.schema):
            return other.prefix(next(self.fresh))
        return other


def fitting(operator: object, inputs: Sequence[Query]) -> Query | None:
    """The operator over these inputs, or None when a column becomes one too many."""
    try:
        query = Apply(operator, tuple(inputs))  # type: ignore[arg-type]  # sampled from OPERATORS
    except SchemaError:
        return None
    return query if len(query.schema) <= 12 else None


def clashes(left: Schema, right: Schema) -> bool:
    return not {name.lower() for name in left.names}.isdisjoint(
        name.lower() for name in right.names
    )


def applicable_kinds(shape: Shape, kinds: Sequence[str], capabilities: frozenset[str]) -> list[str]:
    """The kinds of change that a backend of these capabilities can be asked about."""
    return [kind for kind in kinds if shape.asks(kind) <= capabilities]


def take_cases(shape: Shape, kinds: Sequence[str], number: int) -> list[Case]:
    """The first cases of a shape.

    >>> len(take_cases(shape("7", "distinct"), ["insert", "null"], 4))
    4
    """
    return list(islice(shape.cases(kinds), number))
