"""What a SELECT says, without saying it in anyone's dialect: an operator's SQL form.

`operator.select(*inputs)` gets one `Relation` per input and returns a `Statement` over exactly
those relations; None where plain SQL cannot say it. `sql` prints it. The order of evaluation is
SQL's: source, unnest, where, group by, columns (window functions among them), distinct.

    filter      Select.star(t, where=predicate)
    map         Select((("total", col("a") + col("b")),), t)
    flat_map    Select.star(t, unnest=("tag", col("tags")))
    join        Select.star(JoinOn(left, right, (("k", "key"),)))
    left join   Select.star(JoinOn(left, right, (("k", "key"),), "left", col("a") < col("b")))
    semi join   Select.star(left, exists=Exists(right, (("k", "key"),)))
    distinct    Select.star(t, distinct=True)
    aggregate   Select((("k", col("k")), ("n", AggregateCall("count_star"))), t, group_by=("k",))
    rank        Select((("k", col("k")), ("n", WindowCall("rank", (), (), (Order(col("k")),)))), t)
    top-k       Select(columns, Select((*columns, ("_n", row_number)), t), where=col("_n") <= k)
    union_all   Compound((a, b))
    except      Compound((a, b), "except")
    recursion   Recursive("r", schema, base, step)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.types import ARRAY, Column, Schema

NO_COLUMNS = Schema(())


@dataclass(frozen=True)
class Relation:
    """An input: a table, or the result of another query. The printer decides its alias."""

    name: str
    schema: Schema


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate function of a group's rows, as a column of a Select.

    `distinct` counts a value once however often it is there; `where` is FILTER (WHERE …); `by`
    is what ARG_MIN and ARG_MAX look for the least or greatest of; `fraction` is a quantile's.

    >>> print(AggregateCall("count_star"), AggregateCall("sum", col("v"), distinct=True))
    COUNT(*) SUM(DISTINCT v)
    """

    function: str  # see operators/aggregate.py: FUNCTIONS
    argument: Expr | None = None
    distinct: bool = False
    where: Expr | None = None
    by: Expr | None = None
    fraction: Decimal | None = None

    def __str__(self) -> str:
        inside = [str(each) for each in (self.argument, self.by, self.fraction) if each is not None]
        name, listed = self.function.upper(), ", ".join(inside)
        if self.function == "count_star":
            name, listed = "COUNT", listed or "*"
        where = "" if self.where is None else f" FILTER (WHERE {self.where})"
        return f"{name}({'DISTINCT ' if self.distinct else ''}{listed}){where}"

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """Every expression it reads."""
        return tuple(each for each in (self.argument, self.where, self.by) if each is not None)


@dataclass(frozen=True)
class Frame:
    """The rows around a row that a rolling aggregate reads; None is without bound.

    For ROWS the bounds are numbers of rows. For RANGE they are in the unit of the only order
    term: whole numbers for BIGINT, days for DATE, microseconds for TIMESTAMP. A negative bound
    looks to the other side.

    >>> print(Frame("rows", 2, 0), "|", Frame("range", None, 0))
    ROWS BETWEEN 2 PRECEDING AND CURRENT ROW | RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    """

    unit: str  # "rows" or "range"
    preceding: int | None
    following: int | None

    def __str__(self) -> str:
        first = bound(-self.preceding) if self.preceding is not None else "UNBOUNDED PRECEDING"
        last = bound(self.following) if self.following is not None else "UNBOUNDED FOLLOWING"
        return f"{self.unit.upper()} BETWEEN {first} AND {last}"


def bound(distance: int) -> str:
    """A bound of a frame in words: negative before the row, positive after it."""
    if distance == 0:
        return "CURRENT ROW"
    return f"{abs(distance)} {'FOLLOWING' if distance > 0 else 'PRECEDING'}"


@dataclass(frozen=True)
class WindowCall:
    """A window function, as a column of a Select: a value per row, read off its partition.

    The order is completed by the whole row of the source (`order.order_key`), for every
    function but rank, dense_rank and RANGE frames, where rows that the order calls equal are
    peers.

    function   row_number rank dense_rank          no arguments
               lag lead                            (value,) or (value, default), and `offset`
               an AggregateCall                    over `frame`
    """

    function: str | AggregateCall
    arguments: tuple[Expr, ...] = ()
    partition: tuple[Expr, ...] = ()
    order: tuple[Order, ...] = ()
    frame: Frame | None = None
    offset: int = 1


@dataclass(frozen=True)
class JoinOn:
    """A join on pairs (left column, right column), and where given on a condition of both rows.

    Without either it is the cross product. The two schemas have no name in common, so a name
    alone says its side; the printer qualifies it.
    """

    left: Relation | Select
    right: Relation | Select
    on: tuple[tuple[str, str], ...] = ()
    kind: str = "inner"  # inner left right full
    residual: Expr | None = None

    @property
    def schema(self) -> Schema:
        """The columns of both sides; those that an outer join may pad are nullable."""
        left, right = self.left.schema.columns, self.right.schema.columns
        if self.kind in ("right", "full"):
            left = tuple(replace(column, nullable=True) for column in left)
        if self.kind in ("left", "full"):
            right = tuple(replace(column, nullable=True) for column in right)
        return Schema((*left, *right))


@dataclass(frozen=True)
class Exists:
    """EXISTS (SELECT … FROM relation WHERE the pairs are equal and the condition is TRUE)."""

    relation: Relation
    on: tuple[tuple[str, str], ...] = ()
    residual: Expr | None = None
    negated: bool = False


@dataclass(frozen=True)
class Select:
    """One SELECT: named columns over one source.

    `unnest=(name, array)` makes one row per element of the array, which `col(name)` then is;
    NULL and empty arrays make none. A column that is an AggregateCall makes it an aggregate,
    without `group_by` of exactly one row; the other columns are then among `group_by`. With
    `grouping_sets` it is grouped by each of them, and a key that a set lacks is NULL there. A
    source that is itself a Select is a subquery; `schema` gives the types of its columns.
    """

    columns: tuple[tuple[str, Expr | AggregateCall | WindowCall], ...]
    source: Relation | JoinOn | Select
    where: Expr | None = None
    group_by: tuple[str, ...] = ()
    distinct: bool = False
    unnest: tuple[str, Expr] | None = None
    exists: Exists | None = None
    grouping_sets: tuple[tuple[str, ...], ...] = ()
    schema: Schema = NO_COLUMNS  # of the result; needed only where it is the source of another

    @classmethod
    def star(
        cls,
        source: Relation | JoinOn | Select,
        *,
        where: Expr | None = None,
        distinct: bool = False,
        unnest: tuple[str, Expr] | None = None,
        exists: Exists | None = None,
    ) -> Select:
        """All columns of the source under their own names, and the unnested element.

        >>> rows = Relation("t", Schema.parse("a BIGINT"))
        >>> Select.star(rows, distinct=True).columns
        (('a', <a>),)
        """
        bare = cls((), source, where, (), distinct, unnest, exists)
        columns = tuple((name, col(name)) for name in bare.scope.names)
        return replace(bare, columns=columns, schema=bare.scope)

    @property
    def scope(self) -> Schema:
        """The columns its expressions may name: the source's, and the unnested element."""
        if self.unnest is None:
            return self.source.schema
        name, array = self.unnest
        kind = array.type_in(self.source.schema)
        if not isinstance(kind, ARRAY):
            raise SchemaError(f"unnest needs an ARRAY, {array} is {kind}")
        return Schema((*self.source.schema.columns, Column(name, kind.element)))


@dataclass(frozen=True)
class Compound:
    """A set operation of inputs with the same types; columns by position, names from the first.

    operation: "union all", "union", "intersect", "intersect all", "except", "except all"
    """

    inputs: tuple[Relation | Select, ...]
    operation: str = "union all"


@dataclass(frozen=True)
class Recursive:
    """WITH RECURSIVE name AS (base UNION step) SELECT * FROM name.

    `step` reads the relation `name`; UNION, not UNION ALL, so that it is the least fixpoint.
    """

    name: str
    schema: Schema
    base: Select | Compound
    step: Select | Compound


Statement: TypeAlias = Select | Compound | Recursive


def fresh_name(stem: str, taken: Iterable[str]) -> str:
    """The stem, with as many underscores as keep it apart from the names that are taken.

    >>> fresh_name("_rank", ["k", "_RANK"])
    '_rank_'
    """
    lower = {name.lower() for name in taken}
    while stem.lower() in lower:
        stem += "_"
    return stem


def columns_of(names: Sequence[str]) -> tuple[tuple[str, Expr], ...]:
    """The columns of these names, each under its own.

    >>> columns_of(["k"])
    (('k', <k>),)
    """
    return tuple((name, col(name)) for name in names)
