"""What a SELECT says, without saying it in anyone's dialect: an operator's SQL form.

`operator.select(*inputs)` gets one `Relation` per input and returns a `Select` or a `Compound`
over exactly those relations; None where plain SQL cannot say it. `sql` prints it. The order
of evaluation is SQL's: source, unnest, where, group by, columns, distinct.

    filter      Select.star(t, where=predicate)
    map         Select((("total", col("a") + col("b")),), t)
    flat_map    Select.star(t, unnest=("tag", col("tags")))
    join        Select.star(JoinOn(left, right, (("k", "key"),)))
    distinct    Select.star(t, distinct=True)
    aggregate   Select((("k", col("k")), ("n", AggregateCall("count_star"))), t, group_by=("k",))
    union_all   Compound((a, b))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.types import ARRAY, Column, Schema


@dataclass(frozen=True)
class Relation:
    """An input: a table, or the result of another query. The printer decides its alias."""

    name: str
    schema: Schema


@dataclass(frozen=True)
class JoinOn:
    """An inner join on pairs (left column, right column); without pairs the cross product.

    The two schemas have no name in common, so a name alone says its side; the printer
    qualifies it.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...] = ()

    @property
    def schema(self) -> Schema:
        return Schema((*self.left.schema.columns, *self.right.schema.columns))


@dataclass(frozen=True)
class AggregateCall:
    """COUNT(*), COUNT, SUM, AVG, MIN or MAX, as a column of a Select.

    >>> print(AggregateCall("count_star"), AggregateCall("sum", col("v")))
    COUNT(*) SUM(v)
    """

    function: str  # count_star count sum avg min max
    argument: Expr | None = None

    def __str__(self) -> str:
        if self.argument is None:
            return "COUNT(*)" if self.function == "count_star" else f"{self.function.upper()}()"
        return f"{self.function.upper()}({self.argument})"


@dataclass(frozen=True)
class Select:
    """One SELECT: named columns over one source.

    `unnest=(name, array)` makes one row per element of the array, which `col(name)` then is;
    NULL and empty arrays make none. A column that is an AggregateCall makes it an aggregate,
    without `group_by` of exactly one row; the other columns are then among `group_by`.
    """

    columns: tuple[tuple[str, Expr | AggregateCall], ...]
    source: Relation | JoinOn
    where: Expr | None = None
    group_by: tuple[str, ...] = ()
    distinct: bool = False
    unnest: tuple[str, Expr] | None = None

    @classmethod
    def star(
        cls,
        source: Relation | JoinOn,
        *,
        where: Expr | None = None,
        distinct: bool = False,
        unnest: tuple[str, Expr] | None = None,
    ) -> Select:
        """All columns of the source under their own names, and the unnested element.

        >>> rows = Relation("t", Schema.parse("a BIGINT"))
        >>> Select.star(rows, distinct=True).columns
        (('a', <a>),)
        """
        bare = cls((), source, where, (), distinct, unnest)
        return replace(bare, columns=tuple((name, col(name)) for name in bare.scope.names))

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
    """The rows of all inputs, duplicates kept; columns by position, names from the first."""

    inputs: tuple[Relation, ...]


Statement: TypeAlias = Select | Compound
