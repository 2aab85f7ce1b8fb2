"""Which column a name stands for, and the SELECT that is being read.

Inside a query every column has one name of its own, so that no join meets a name twice: the
second `k` of `a JOIN b` is called `b_k` in the plan, whatever the text calls it. A `Field` is
the name in the text and the column in the plan; a `Source` is an item of FROM; a `Scope` is
what the names of one SELECT may stand for. A name that is not found in a subquery is looked for
in the SELECT around it (`Outer`): that makes the subquery a correlated one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from deltaproof.reference.errors import SchemaError, SqlError
from deltaproof.reference.operators.map import Map
from deltaproof.reference.parse.text import Text
from deltaproof.reference.parse.tidy import tidied
from deltaproof.reference.query import Query, apply
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.types import Column, Schema

if TYPE_CHECKING:
    from deltaproof.reference.parse.select import Answer


@dataclass(frozen=True)
class Field:
    """A column as the text calls it, and as the plan does."""

    name: str
    column: str


@dataclass(frozen=True)
class Source:
    """An item of FROM, under the name that the text gives it."""

    alias: str
    fields: tuple[Field, ...]


@dataclass
class Scope:
    """The items of FROM so far, what `*` stands for, and the columns that USING made one."""

    sources: list[Source] = field(default_factory=list)
    star: list[Field] = field(default_factory=list)
    merged: dict[str, Field] = field(default_factory=dict)

    def add(self, source: Source) -> None:
        self.sources.append(source)
        self.star.extend(source.fields)

    def find(self, name: str, qualifier: str = "") -> list[Field]:
        """Every field that the name may stand for."""
        if not qualifier and name.lower() in self.merged:
            return [self.merged[name.lower()]]
        return [
            each
            for source in self.sources
            if not qualifier or source.alias.lower() == qualifier.lower()
            for each in source.fields
            if each.name.lower() == name.lower()
        ]

    def only(self, columns: Iterable[str]) -> Scope:
        """What is left of the scope when the plan has these columns only."""
        kept = set(columns)

        def fields(given: Iterable[Field]) -> tuple[Field, ...]:
            return tuple(each for each in given if each.column in kept)

        sources = [replace(source, fields=fields(source.fields)) for source in self.sources]
        merged = {name: each for name, each in self.merged.items() if each.column in kept}
        return Scope(sources, list(fields(self.star)), merged)

    def candidates(self) -> str:
        """The names there are, for a message."""
        names = [
            f"{source.alias}.{each.name}" if source.alias else each.name
            for source in self.sources
            for each in source.fields
        ]
        return ", ".join(names[:40]) + (", …" if len(names) > 40 else "") or "none"


class NeedsDomain(Exception):
    """A subquery that cannot be read without the columns of the SELECT around it in its plan."""

    def __init__(self, outer: Outer) -> None:
        super().__init__()
        self.outer = outer


@dataclass
class Outer:
    """The SELECT around a subquery.

    Without a `domain` its columns may stand only in conditions of WHERE (`pulling`), which are
    then pulled out of the subquery. With one, they are in the subquery's plan under new names,
    and may stand anywhere.
    """

    block: Block
    domain: Query | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)  # column around → of the domain
    may_pull: bool = True
    pulling: bool = False
    used: dict[tuple[str, str], None] = field(default_factory=dict)  # names as the text has them

    def lookup(self, name: str, qualifier: str, node: exp.Expr) -> Column | None:
        """The column that the name stands for around the subquery, as it is called inside."""
        found = self.block.lookup(name, qualifier, node)
        if found is None:
            return None
        self.used[(name, qualifier)] = None
        if self.domain is not None:
            return replace(found, name=self.renamed[found.name])
        if not self.pulling:
            raise NeedsDomain(self)
        return found


@dataclass
class Context:
    """What all SELECTs of one text share."""

    text: Text
    read_query: Callable[..., Answer]
    united: Callable[[Sequence[Answer]], Query]  # UNION ALL of answers of one width
    tables: Mapping[str, Query]
    correlations: dict[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    named: set[Query] = field(default_factory=set)  # tables of WITH and views, which stay whole

    def tidied(self, plan: Query) -> Query:
        """A plan as a table of WITH, a view, or the answer."""
        tidy = tidied(plan, self.named)
        self.named.add(tidy)
        return tidy

    def refusal(self, node: exp.Expr | None, why: str, instead: str = "") -> SqlError:
        return self.text.refusal(node, f"{why}: {instead}" if instead else why)


Environment = Mapping[str, Query]  # by lower-case name: tables, views, WITH


@dataclass
class Block:
    """One SELECT while it is read: what is in scope, and its plan so far."""

    context: Context
    environment: Environment
    outer: Outer | None = None
    scope: Scope = field(default_factory=Scope)
    columns: dict[str, Column] = field(default_factory=dict)  # every name that may be typed
    taken: set[str] = field(default_factory=set)  # names of the plan, in lower case
    plan: Query | None = None
    known: dict[int, Expr] = field(default_factory=dict)  # nodes that are columns of the plan
    keys: list[tuple[Expr, str]] = field(default_factory=list)  # computed keys of GROUP BY
    before: Block | None = None  # the block as it was before GROUP BY
    carried: list[Carried] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)  # of the SELECT list
    typed: Schema | None = None  # of `columns`

    @property
    def query(self) -> Query:
        if self.plan is None:
            raise SchemaError("the plan of FROM is not made yet")
        return self.plan

    @query.setter
    def query(self, plan: Query) -> None:
        self.plan = plan
        for column in plan.schema.columns:
            self.columns[column.name] = column
            self.taken.add(column.name.lower())

    @property
    def schema(self) -> Schema:
        """The types of all columns that an expression may name here."""
        columns = tuple(self.columns.values())
        if self.typed is None or self.typed.columns != columns:
            self.typed = Schema(columns)
        return self.typed

    def refusal(self, node: exp.Expr | None, why: str, instead: str = "") -> SqlError:
        return self.context.refusal(node, why, instead)

    def place(self, node: exp.Expr, clause: str, width: int) -> int | None:
        """Which column of the SELECT list a number stands for, from 0; None for what is none."""
        if not isinstance(node, exp.Literal) or node.is_string:
            return None
        if not node.is_int or not 1 <= int(node.name) <= width:
            raise self.refusal(node, f"{clause} {node.name}: there is no such column")
        return int(node.name) - 1

    def fresh(self, name: str) -> str:
        """The name, or the first of name_2, name_3, … that nothing here and around is called."""
        number, chosen = 1, name
        while self.is_taken(chosen):
            number += 1
            chosen = f"{name}_{number}"
        self.taken.add(chosen.lower())
        return chosen

    def is_taken(self, name: str) -> bool:
        around = self.outer is not None and self.outer.block.is_taken(name)
        return around or name.lower() in self.taken

    def resolve(self, node: exp.Column) -> Expr:
        """The column that a name stands for. Raises SqlError with the names there are."""
        column = self.lookup(node.name, node.table, node)
        if column is None:
            raise self.unknown(node, node.name, node.table)
        return col(column.name)

    def lookup(self, name: str, qualifier: str, node: exp.Expr) -> Column | None:
        """The column of this name here, else around here. Raises SqlError for one of two."""
        found = self.scope.find(name, qualifier)
        if len({each.column for each in found}) > 1:
            sides = [s.alias for s in self.scope.sources for f in s.fields if f in found]
            where = " or ".join(f"{side}.{name}" for side in sides)
            raise self.refusal(node, f"column {name!r} is ambiguous", f"write {where}")
        if found:
            return self.columns[found[0].column]
        if self.outer is None:
            return None
        column = self.outer.lookup(name, qualifier, node)
        if column is not None:
            self.columns.setdefault(column.name, column)
        return column

    def unknown(self, node: exp.Expr, name: str, qualifier: str) -> SqlError:
        full = f"{qualifier}.{name}" if qualifier else name
        block: Block | None = self
        while block is not None and not (
            block.before is not None and block.before.scope.find(name, qualifier)
        ):
            block = block.outer.block if block.outer is not None else None
        if block is not None:
            return self.refusal(
                node,
                f"column {full!r} is neither in GROUP BY nor in an aggregate",
                "add it to GROUP BY, or write MIN of it",
            )
        there = self.scope.candidates()
        return self.refusal(node, f"unknown column {full!r}", f"there are {there}")


@dataclass(frozen=True)
class Carried:
    """A column of a subquery's plan that says for which outer rows a row of it counts.

    `outer` is an expression over the SELECT around; with `null_safe` two NULLs are equal.
    """

    outer: Expr
    column: str
    null_safe: bool


def with_columns(query: Query, columns: Iterable[tuple[str, Expr]]) -> Query:
    """The rows with these columns added."""
    added = tuple(columns)
    if not added:
        return query
    kept = tuple((name, col(name)) for name in query.schema.names)
    return apply(Map(kept + added), query)


def projected(query: Query, columns: Iterable[tuple[str, Expr]]) -> Query:
    """The rows with these columns only; the query itself when it has no others."""
    wanted = tuple(columns)
    if wanted == tuple((name, col(name)) for name in query.schema.names):
        return query
    return apply(Map(wanted), query)
