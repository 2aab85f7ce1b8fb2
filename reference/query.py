"""A query is a tree of operators over named tables, checked when it is built.

Equal subtrees are one subtree: they are evaluated once, in the meaning and in the runtime.
`query.meaning()` recomputes from nothing; it is the right-hand side of the one claim,

    integrate(engine(d)) = Q(integrate(d))  at every tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deltaproof.reference.errors import CaseError, SchemaError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Tables = Mapping[str, ZSet]


@dataclass(frozen=True)
class Query:
    """A table, or an operator applied to queries; `schema` is that of its rows.

    >>> from deltaproof.reference.scalar import col
    >>> flights = table("flights", "carrier VARCHAR, delay BIGINT")
    >>> late = flights.filter(col("delay") > 15).group_by("carrier").aggregate(flights=count())
    >>> print(late)
    aggregate COUNT(*) AS flights BY carrier
    └─ filter delay > 15
       └─ flights
    >>> print(late.schema)
    carrier VARCHAR, flights BIGINT NOT NULL
    """

    @property
    def schema(self) -> Schema:
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Query, ...]:
        return ()

    def filter(self, predicate: Expr) -> Query:
        return apply(Filter(predicate), self)

    def map(self, **columns: Expr) -> Query:
        """New rows: `q.map(k=col("k"), double=col("v") * 2)`."""
        return apply(Map(tuple(columns.items())), self)

    def project(self, *names: str) -> Query:
        return apply(Map(tuple((name, col(name)) for name in names)), self)

    def prefix(self, prefix: str) -> Query:
        """Every column renamed, so that a join meets no name twice."""
        return apply(Map(tuple((prefix + name, col(name)) for name in self.schema.names)), self)

    def flat_map(self, array: Expr, element: str) -> Query:
        return apply(FlatMap(array, element), self)

    def union_all(self, other: Query) -> Query:
        return apply(UnionAll(), self, other)

    def negate(self) -> Query:
        return apply(Negate(), self)

    def join(self, other: Query, on: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Query:
        pairs = on.items() if isinstance(on, Mapping) else on
        return apply(Join(tuple(pairs)), self, other)

    def distinct(self) -> Query:
        return apply(Distinct(), self)

    def group_by(self, *keys: str) -> Grouped:
        return Grouped(self, keys)

    def aggregate(self, **calls: AggregateCall) -> Query:
        """One row over all rows, also when there are none."""
        return Grouped(self, ()).aggregate(**calls)

    def nodes(self) -> list[Query]:
        """Every distinct subquery once, inputs before what they feed."""
        ordered: dict[Query, None] = {}

        def visit(query: Query) -> None:
            if query not in ordered:
                for each in query.inputs:
                    visit(each)
                ordered[query] = None

        visit(self)
        return list(ordered)

    def tables(self) -> dict[str, Schema]:
        """The base tables, by name. Raises SchemaError when one name has two schemas."""
        found: dict[str, Schema] = {}
        for node in self.nodes():
            if isinstance(node, Table) and found.setdefault(node.name, node.schema) != node.schema:
                raise SchemaError(f"table {node.name!r} is used with two different schemas")
        return found

    def operators(self) -> list[Operator]:
        """The operators, inputs first; a shared subtree counts once."""
        return [node.operator for node in self.nodes() if isinstance(node, Apply)]

    def capabilities(self) -> frozenset[str]:
        """What a backend must be able to do to run this query."""
        return frozenset(name for each in self.operators() for name in each.capabilities())

    @property
    def lifted(self) -> bool:
        """Whether the view at a tick depends on the tables at that tick only."""
        return all(operator.lifted for operator in self.operators())

    def over_time(self) -> Callable[[Sequence[Tables]], list[ZSet]]:
        """The function from the tables' contents at every tick to the view's at every tick."""
        nodes = self.nodes()
        functions = {
            node: node.operator.over_time(*[each.schema for each in node.over])
            for node in nodes
            if isinstance(node, Apply)
        }

        def evaluate(ticks: Sequence[Tables]) -> list[ZSet]:
            results: dict[Query, list[ZSet]] = {}
            for node in nodes:
                if node in functions:
                    results[node] = functions[node](*[results[each] for each in node.inputs])
                else:
                    results[node] = [tables.get(node.label()) or ZSet() for tables in ticks]
            return results[self]

        return evaluate

    def meaning(self) -> Callable[[Tables], ZSet]:
        """The function from the tables' contents to the view's, recomputed from nothing.

        Raises SchemaError for a query that is not `lifted`: see `over_time`.
        """
        plan = evaluation_plan(self)

        def evaluate(tables: Tables) -> ZSet:
            results: list[ZSet] = []
            for name, function, places in plan:
                if function is None:
                    results.append(tables.get(name) or ZSet())
                else:
                    results.append(function(*[results[place] for place in places]))
            return results[-1]

        return evaluate

    def __str__(self) -> str:
        return "\n".join(self._tree("", ""))

    def _tree(self, first: str, rest: str) -> Iterator[str]:
        yield first + self.label()
        for each in self.inputs[:-1]:
            yield from each._tree(rest + "├─ ", rest + "│  ")
        for each in self.inputs[-1:]:
            yield from each._tree(rest + "└─ ", rest + "   ")

    def label(self) -> str:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @staticmethod
    def from_json(tree: Any, tables: Mapping[str, Schema]) -> Query:
        """The query that `to_json` wrote. Raises CaseError or SchemaError, saying where."""
        return query_from_json(tree, tables, "query")


@dataclass(frozen=True)
class Table(Query):
    """A named base table."""

    name: str
    columns: Schema

    @property
    def schema(self) -> Schema:
        return self.columns

    def label(self) -> str:
        return self.name

    def to_json(self) -> dict[str, Any]:
        return {"table": self.name}

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class Apply(Query):
    """An operator over its inputs. Raises SchemaError when built over inputs that do not fit."""

    operator: Operator
    over: tuple[Query, ...]

    def __post_init__(self) -> None:
        if len(self.over) != (expected := self.operator.inputs()):
            raise SchemaError(
                f"{self.operator.name}: expected {expected} inputs, got {len(self.over)}"
            )
        self.schema  # noqa: B018  # checks the schema rule now, where the mistake was made

    @cached_property
    def _schema(self) -> Schema:
        return self.operator.output(*[each.schema for each in self.over])

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def inputs(self) -> tuple[Query, ...]:
        return self.over

    @cached_property
    def _hash(self) -> int:
        return hash((self.operator, self.over))

    def __hash__(self) -> int:
        return self._hash

    def label(self) -> str:
        return self.operator.label()

    def to_json(self) -> dict[str, Any]:
        inputs = [each.to_json() for each in self.over]
        return {"op": self.operator.name, **self.operator.to_json(), "inputs": inputs}


@dataclass(frozen=True)
class Grouped:
    """A query and the keys it will be grouped by."""

    query: Query
    keys: tuple[str, ...]

    def aggregate(self, **calls: AggregateCall) -> Query:
        return apply(Aggregate(self.keys, tuple(calls.items())), self.query)


def table(name: str, columns: Schema | str) -> Table:
    """A base table, its columns as a schema or in words."""
    return Table(name, Schema.parse(columns) if isinstance(columns, str) else columns)


def apply(operator: Operator, *inputs: Query) -> Apply:
    """The operator over these inputs. Raises SchemaError when they do not fit."""
    return Apply(operator, inputs)


def count(of: Expr | None = None) -> AggregateCall:
    """COUNT(*), or COUNT of the rows where the argument is not NULL."""
    return AggregateCall("count_star" if of is None else "count", of)


def sum_(of: Expr) -> AggregateCall:
    return AggregateCall("sum", of)


def avg(of: Expr) -> AggregateCall:
    return AggregateCall("avg", of)


def min_(of: Expr) -> AggregateCall:
    return AggregateCall("min", of)


def max_(of: Expr) -> AggregateCall:
    return AggregateCall("max", of)


Step = tuple[str, Callable[..., ZSet] | None, list[int]]


def evaluation_plan(query: Query) -> list[Step]:
    """For each node, inputs first: its table's name, or its meaning and where its inputs are."""
    places: dict[Query, int] = {}
    plan: list[Step] = []
    for node in query.nodes():
        inputs = [places[each] for each in node.inputs]
        places[node] = len(plan)
        if isinstance(node, Apply):
            schemas = [each.schema for each in node.over]
            plan.append(("", node.operator.meaning(*schemas), inputs))
        else:
            plan.append((node.label(), None, []))
    return plan


def query_from_json(tree: Any, tables: Mapping[str, Schema], where: str) -> Query:
    """The query at this place of a case file."""
    if not isinstance(tree, dict):
        raise CaseError(f'{where}: expected {{"table": …}} or {{"op": …}}, got {tree!r}')
    if "table" in tree:
        name = tree["table"]
        if not isinstance(name, str) or name not in tables:
            raise CaseError(f"{where}: unknown table {name!r}: there are {', '.join(tables)}")
        return Table(name, tables[name])
    kinds = {kind.name: kind for kind in OPERATORS}
    if not isinstance(tree.get("op"), str) or tree["op"] not in kinds:
        raise CaseError(
            f"{where}: unknown operator {tree.get('op')!r}: there are {', '.join(kinds)}"
        )
    inputs = tree.get("inputs")
    if not isinstance(inputs, list):
        raise CaseError(
            f"{where}: operator {tree['op']}: expected a list of inputs, got {inputs!r}"
        )
    place = f"{where}.{tree['op']}"
    over = [query_from_json(each, tables, f"{place}[{n}]") for n, each in enumerate(inputs)]
    try:
        return apply(kinds[tree["op"]].from_json(tree), *over)
    except (KeyError, TypeError, ValueError) as error:
        raise CaseError(f"{place}: a broken argument: {error!r}") from None
    except (CaseError, SchemaError) as error:
        raise type(error)(f"{place}: {error}") from None
