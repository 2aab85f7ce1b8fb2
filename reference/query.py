"""A query is a tree of operators over named tables, checked when it is built.

Equal subtrees are one subtree: they are evaluated once, in the meaning and in the runtime.
`query.meaning()` recomputes from nothing; it is the right-hand side of the one claim,

    integrate(engine(d)) = Q(integrate(d))  at every tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import combinations
from typing import Any

from deltaproof.reference.errors import CaseError, SchemaError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import kinds_by_name
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.logic import Branch, Logic
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.recursion import BOUND, Recursion
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Tables = Mapping[str, ZSet]
Term = Order | Expr | str  # of an order: see `terms`
On = Mapping[str, str] | Iterable[tuple[str, str]]  # left column → right column


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

    def join(self, other: Query, on: On = ()) -> Query:
        return apply(Join(pairs_of(on)), self, other)

    def semi_join(self, other: Query, on: On = (), residual: Expr | None = None) -> Query:
        """The rows that a row of the other matches; see `SemiJoin`."""
        return apply(SemiJoin(pairs_of(on), residual), self, other)

    def anti_join(self, other: Query, on: On = (), residual: Expr | None = None) -> Query:
        """The rows that no row of the other matches."""
        return apply(SemiJoin(pairs_of(on), residual, anti=True), self, other)

    def left_join(self, other: Query, on: On = (), residual: Expr | None = None) -> Query:
        """The matching pairs, and every row that nothing matches, padded with NULLs."""
        return apply(OuterJoin("left", pairs_of(on), residual), self, other)

    def right_join(self, other: Query, on: On = (), residual: Expr | None = None) -> Query:
        return apply(OuterJoin("right", pairs_of(on), residual), self, other)

    def full_join(self, other: Query, on: On = (), residual: Expr | None = None) -> Query:
        return apply(OuterJoin("full", pairs_of(on), residual), self, other)

    def asof_join(
        self,
        other: Query,
        on: On,
        left_time: str,
        right_time: str,
        kind: str = "inner",
        strict: bool = False,
    ) -> Query:
        """Each row with the other's last row that is not later; see `AsofJoin`."""
        return apply(AsofJoin(pairs_of(on), left_time, right_time, kind, strict), self, other)

    def top_k(
        self, limit: int, *order: Term, partition: Iterable[str] = (), offset: int = 0
    ) -> Query:
        """The first rows of the order, of each partition: `q.top_k(3, desc("delay"))`."""
        return apply(TopK(tuple(partition), terms(order), limit, offset), self)

    def row_number(self, result: str, *order: Term, partition: Iterable[str] = ()) -> Query:
        """Each row with its number in the order, from 1 on; see `Rank`."""
        return apply(Rank("row_number", result, tuple(partition), terms(order)), self)

    def rank(self, result: str, *order: Term, partition: Iterable[str] = ()) -> Query:
        """Each row with 1 + the number of rows before its peers."""
        return apply(Rank("rank", result, tuple(partition), terms(order)), self)

    def dense_rank(self, result: str, *order: Term, partition: Iterable[str] = ()) -> Query:
        """Each row with 1 + the number of groups of peers before its own."""
        return apply(Rank("dense_rank", result, tuple(partition), terms(order)), self)

    def lag(
        self,
        result: str,
        argument: Expr,
        *order: Term,
        offset: int = 1,
        partition: Iterable[str] = (),
        default: Expr | None = None,
    ) -> Query:
        """Each row with a value of the row so many places in front of it; see `Lag`."""
        over = tuple(partition), terms(order)
        return apply(Lag(argument, offset, result, *over, default), self)

    def lead(
        self,
        result: str,
        argument: Expr,
        *order: Term,
        offset: int = 1,
        partition: Iterable[str] = (),
        default: Expr | None = None,
    ) -> Query:
        """Each row with a value of the row so many places behind it."""
        over = tuple(partition), terms(order)
        return apply(Lag(argument, -offset, result, *over, default), self)

    def rolling(
        self, frame: Frame, *order: Term, partition: Iterable[str] = (), **calls: AggregateCall
    ) -> Query:
        """Each row with aggregates of the rows around it; see `Rolling`."""
        return apply(Rolling(tuple(calls.items()), tuple(partition), terms(order), frame), self)

    def session_window(
        self,
        time: str,
        gap: int,
        partition: Iterable[str] = (),
        start: str = "session_start",
        end: str = "session_end",
    ) -> Query:
        """Each row with the bounds of its session; see `SessionWindow`."""
        return apply(SessionWindow(time, gap, tuple(partition), start, end), self)

    def distinct(self) -> Query:
        return apply(Distinct(), self)

    def positive(self) -> Query:
        """The rows of positive weight, with their weights."""
        return apply(Positive(), self)

    def union(self, other: Query) -> Query:
        """The set of the rows of both; with the weights added it is `union_all`."""
        return apply(SetOperation("union"), self, other)

    def intersect(self, other: Query, all: bool = False) -> Query:
        return apply(SetOperation("intersect_all" if all else "intersect"), self, other)

    def except_(self, other: Query, all: bool = False) -> Query:
        return apply(SetOperation("except_all" if all else "except"), self, other)

    def hop(
        self,
        time: str,
        size: int,
        slide: int | None = None,
        start: str = "window_start",
        end: str = "window_end",
    ) -> Query:
        """Each row once per window that its time is in; without a slide the windows tumble."""
        return apply(Hop(time, size, size if slide is None else slide, start, end), self)

    def temporal_filter(
        self, now: Query, lower: Expr | None = None, upper: Expr | None = None
    ) -> Query:
        """The rows with lower <= now < upper; `now` is a table of one column, usually one row."""
        return apply(TemporalFilter(lower, upper), self, now)

    def delay(self, ticks: int = 1) -> Query:
        """What was so many ticks ago."""
        return apply(Delay(ticks), self)

    def logic(self, *branches: Branch) -> Query:
        """Each row through every branch: new columns, a factor for its weight, a delay."""
        return apply(Logic(branches), self)

    def integrate(self) -> Query:
        """The sum of the contents of all ticks so far."""
        return apply(Integrate(), self)

    def differentiate(self) -> Query:
        """What the last tick changed."""
        return apply(Differentiate(), self)

    def per_group(self, keys: Iterable[str], query: Query) -> Query:
        """A query of one table over the rows of each key alone; the function `per_group` has more.

        >>> flights = table("flights", "carrier VARCHAR, delay BIGINT")
        >>> delays = flights.per_group(["carrier"], flights.project("delay").distinct())
        >>> print(delays.schema)
        carrier VARCHAR, delay BIGINT
        """
        return apply(PerGroup(tuple(keys), query), self)

    def group_by(self, *keys: str) -> Grouped:
        return Grouped(self, keys)

    def aggregate(self, **calls: AggregateCall) -> Query:
        """One row over all rows, also when there are none."""
        return Grouped(self, ()).aggregate(**calls)

    def grouping_sets(self, *sets: Iterable[str], grouping: str | None = None) -> GroupedBySets:
        """To be grouped by each of these sets of keys; `grouping` names the GROUPING bit mask."""
        return GroupedBySets(self, tuple(map(tuple, sets)), grouping)

    def rollup(self, *keys: str, grouping: str | None = None) -> GroupedBySets:
        """By all keys, by all but the last, and so on to none."""
        sets = [keys[:width] for width in range(len(keys), -1, -1)]
        return self.grouping_sets(*sets, grouping=grouping)

    def cube(self, *keys: str, grouping: str | None = None) -> GroupedBySets:
        """By every subset of the keys."""
        widths = range(len(keys), -1, -1)
        sets = [each for width in widths for each in combinations(keys, width)]
        return self.grouping_sets(*sets, grouping=grouping)

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
        for each in self.over:
            if not isinstance(each, Query):
                raise SchemaError(f"{self.operator.name}: expected a query, got {each!r}")
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


@dataclass(frozen=True)
class GroupedBySets:
    """A query and the sets of keys it will be grouped by."""

    query: Query
    sets: tuple[tuple[str, ...], ...]
    grouping: str | None

    def aggregate(self, **calls: AggregateCall) -> Query:
        return apply(GroupingSets(self.sets, tuple(calls.items()), self.grouping), self.query)


def table(name: str, columns: Schema | str) -> Table:
    """A base table, its columns as a schema or in words."""
    schema = Schema.parse(columns) if isinstance(columns, str) else columns
    if not isinstance(schema, Schema):
        raise SchemaError(f"table {name!r}: expected its columns, got {columns!r}")
    return Table(name, schema)


def apply(operator: Operator, *inputs: Query) -> Apply:
    """The operator over these inputs. Raises SchemaError when they do not fit."""
    return Apply(operator, inputs)


def per_group(keys: Iterable[str], query: Query, **inputs: Query) -> Apply:
    """The query run for each key on its own, over the rows of that key; see `PerGroup`.

    Its tables are those of their names, unless others are given.
    """
    over = [inputs.get(name) or Table(name, schema) for name, schema in query.tables().items()]
    return apply(PerGroup(tuple(keys), query), *over)


def recursion(
    result: str, bodies: Mapping[str, Query], bound: int = BOUND, **inputs: Query
) -> Apply:
    """The relation of this name, where the bodies define relations in terms of each other.

    Tables that no body defines are those of their names, unless others are given.

    >>> edges = table("edges", "a BIGINT, b BIGINT")
    >>> paths = table("paths", "a BIGINT, c BIGINT")
    >>> longer = paths.join(edges.prefix("next_"), on={"c": "next_a"})
    >>> body = edges.union_all(longer.map(a=col("a"), c=col("next_b")))
    >>> closure = recursion("paths", {"paths": body})
    >>> closure.meaning()({"edges": ZSet({(1, 2): 1, (2, 3): 1})})
    ZSet({(1, 2): 1, (2, 3): 1, (1, 3): 1})
    """
    tables: dict[str, Schema] = {}
    for body in bodies.values():
        tables |= {name: each for name, each in body.tables().items() if name not in bodies}
    over = [inputs.get(name) or Table(name, schema) for name, schema in tables.items()]
    return apply(Recursion(tuple(bodies.items()), result, tuple(tables.items()), bound), *over)


def terms(order: Iterable[Term]) -> tuple[Order, ...]:
    """The terms of an order; an expression or the name of a column alone ascends.

    >>> print(*terms(["v", desc("k")]), sep=", ")
    v, k DESC
    """
    return tuple(map(term, order))


def term(given: Term) -> Order:
    if isinstance(given, Order):
        return given
    return Order(col(given) if isinstance(given, str) else given)


def desc(given: Expr | str, nulls_first: bool = False) -> Order:
    """A term of an order that descends; NULLs come last unless said."""
    return Order(col(given) if isinstance(given, str) else given, True, nulls_first)


def count(
    of: Expr | None = None, distinct: bool = False, where: Expr | None = None
) -> AggregateCall:
    """COUNT(*), or COUNT of the rows where the argument is not NULL; `where` is FILTER.

    >>> print(count(col("v"), distinct=True, where=col("v") > 0))
    COUNT(DISTINCT v) FILTER (WHERE v > 0)
    """
    return AggregateCall("count_star" if of is None else "count", of, distinct, where)


def sum_(of: Expr, distinct: bool = False, where: Expr | None = None) -> AggregateCall:
    return AggregateCall("sum", of, distinct, where)


def avg(of: Expr, distinct: bool = False, where: Expr | None = None) -> AggregateCall:
    return AggregateCall("avg", of, distinct, where)


def min_(of: Expr, distinct: bool = False, where: Expr | None = None) -> AggregateCall:
    return AggregateCall("min", of, distinct, where)


def max_(of: Expr, distinct: bool = False, where: Expr | None = None) -> AggregateCall:
    return AggregateCall("max", of, distinct, where)


def variance(of: Expr, population: bool = False, where: Expr | None = None) -> AggregateCall:
    """VAR_SAMP, or VAR_POP of a whole population."""
    return AggregateCall(f"variance_{'pop' if population else 'samp'}", of, where=where)


def stddev(of: Expr, population: bool = False, where: Expr | None = None) -> AggregateCall:
    """STDDEV_SAMP, or STDDEV_POP of a whole population."""
    return AggregateCall(f"stddev_{'pop' if population else 'samp'}", of, where=where)


def bool_and(of: Expr, where: Expr | None = None) -> AggregateCall:
    return AggregateCall("bool_and", of, where=where)


def bool_or(of: Expr, where: Expr | None = None) -> AggregateCall:
    return AggregateCall("bool_or", of, where=where)


def arg_min(value: Expr, by: Expr, where: Expr | None = None) -> AggregateCall:
    """The value where `by` is least; of several such rows the least value."""
    return AggregateCall("arg_min", value, where=where, by=by)


def arg_max(value: Expr, by: Expr, where: Expr | None = None) -> AggregateCall:
    """The value where `by` is greatest; of several such rows the greatest value."""
    return AggregateCall("arg_max", value, where=where, by=by)


def array_agg(of: Expr, where: Expr | None = None) -> AggregateCall:
    """The values that are not NULL in ascending order, as an array."""
    return AggregateCall("array_agg", of, where=where)


def quantile(of: Expr, fraction: Decimal | str, where: Expr | None = None) -> AggregateCall:
    """PERCENTILE_CONT: `quantile(col("v"), "0.9")`. Raises SchemaError for what is no number."""
    try:
        return AggregateCall("quantile", of, where=where, fraction=Decimal(fraction))
    except InvalidOperation:
        raise SchemaError(f'quantile: expected a fraction like "0.9", got {fraction!r}') from None


def median(of: Expr, where: Expr | None = None) -> AggregateCall:
    return quantile(of, "0.5", where)


def single(of: Expr, where: Expr | None = None) -> AggregateCall:
    """What a scalar subquery is: the value of the one row, NULL without; two are an error."""
    return AggregateCall("single", of, where=where)


def pairs_of(on: On) -> tuple[tuple[str, str], ...]:
    """The keys of a join as pairs. Raises SchemaError for what is none."""
    pairs: tuple[Any, ...] = tuple(on.items() if isinstance(on, Mapping) else on)
    if any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
        raise SchemaError(f"join: expected keys as {{left: right}} or pairs, got {on!r}")
    return pairs


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
    kinds = kinds_by_name()
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
