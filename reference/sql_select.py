"""Prints a Statement (`select`) as a sqlglot tree: every clause in the words of each dialect.

    what SQL says in several ways     here
    a step of the query               a CTE `_q1`, `_q2`, …
    a source that is a Select         a subquery with an alias
    a relation read twice             one alias for each reading
    GROUPING SETS                     in SQLite a UNION ALL of one SELECT for each set
    INTERSECT ALL, EXCEPT ALL         in SQLite by the number of the copy of each row
    WITH RECURSIVE                    one or more steps, each reading the recursion once

Which names stand for a table or a subquery is decided here; no name is a user's by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.scalar_functions import ArrayOf
from deltaproof.reference.scalar_tree import ColumnRef, Comparison, Expr, Literal
from deltaproof.reference.select import (
    AggregateCall,
    Compound,
    Exists,
    JoinOn,
    Recursive,
    Relation,
    Select,
    Statement,
    WindowCall,
)
from deltaproof.reference.sql_aggregate import aggregate_tree, window_tree
from deltaproof.reference.sql_scalar import ScalarPrinter, identifier, named
from deltaproof.reference.types import Schema

Tables = Mapping[str, exp.Query]
Source = Relation | JoinOn | Select


@dataclass
class StatementPrinter:
    """The statement of every node of a query, and under which name the others read it."""

    dialect: str
    tables: Mapping[str, Schema]
    table_source: Tables
    names: dict[Query, str] = field(default_factory=dict)
    recursions: dict[str, str] = field(default_factory=dict)  # the printed name of each

    # --- names ---

    def name(self, node: Query) -> str:
        """A table's own name; `_q1`, `_q2`, … for the rest, none of which is a table's name."""
        if isinstance(node, Table):
            return node.name
        if node not in self.names:
            number = len(self.names) + 1
            while f"_q{number}" in self.taken():
                number += 1
            self.names[node] = f"_q{number}"
        return self.names[node]

    def taken(self) -> set[str]:
        return {name.lower() for name in (*self.tables, *self.names.values())}

    def fresh(self, stem: str, *others: str) -> str:
        """A name that no table, no step and none of these has."""
        taken = self.taken() | {name.lower() for name in others}
        while stem in taken:
            stem += "_"
        return stem

    def printed(self, relation: Relation) -> str:
        return self.recursions.get(relation.name, relation.name)

    # --- statements ---

    def statement(self, node: Query) -> exp.Query:
        """The SELECT of one node of the query. Raises SchemaError where there is none."""
        if not isinstance(node, Apply):
            return self.select(Select.star(Relation(self.name(node), node.schema)))
        inputs = [Relation(self.name(each), each.schema) for each in node.inputs]
        said = node.operator.select(*inputs)
        if said is None:
            name, why = node.operator.name, "its `select` gives none"
            if type(node.operator) in OPERATORS:
                why = "SQL has neither rows of negative weight nor contents of earlier ticks"
            raise SchemaError(f"{name} has no plain SQL form: {why}")
        return self.said(said)

    def said(self, statement: Statement) -> exp.Query:
        match statement:
            case Compound():
                return self.compound(statement)
            case Recursive():
                return self.recursive(statement)
            case _:
                return self.select(statement)

    def select(self, select: Select) -> exp.Query:
        if not select.columns:
            raise SchemaError("SQL has no table without columns")
        if select.unnest is not None:
            return self.unnested(select, *select.unnest)
        if select.grouping_sets and not self.has_grouping_sets(select.grouping_sets):
            return self.each_grouping_set(select)
        return self.plain(select)

    def plain(self, select: Select) -> exp.Select:
        statement, scalar = self.source(select.source, qualified=select.exists is not None)
        if select.exists is not None:
            statement.where(self.exists(select.exists, scalar), copy=False)
        return clauses(statement, select, scalar)

    # --- where rows come from ---

    def source(self, source: Source, qualified: bool = False) -> tuple[exp.Select, ScalarPrinter]:
        """SELECT FROM the source, and the printer of expressions over its columns."""
        if isinstance(source, JoinOn):
            return self.join(source)
        tree, alias = self.readable(source, "_rows")
        sides = dict.fromkeys(source.schema.names, alias) if qualified else {}
        return exp.Select().from_(tree, copy=False), self.scalar(source.schema, sides)

    def scalar(self, schema: Schema, sides: Mapping[str, str]) -> ScalarPrinter:
        return ScalarPrinter(self.dialect, schema, sides)

    def readable(self, source: Relation | Select, stem: str, *others: str) -> tuple[exp.Expr, str]:
        """What stands in FROM, and the alias under which its columns are known."""
        if isinstance(source, Select):
            alias = self.fresh(stem, *others)
            return self.select(source).subquery(identifier(alias), copy=False), alias
        alias = own = self.printed(source)
        if own.lower() in {other.lower() for other in others}:
            alias = self.fresh(stem, *others)
        if replacement := self.table_source.get(source.name):
            return replacement.copy().subquery(identifier(alias), copy=False), alias
        table = exp.Table(this=identifier(own))
        return table if alias == own else exp.alias_(table, identifier(alias), table=True), alias

    def join(self, join: JoinOn) -> tuple[exp.Select, ScalarPrinter]:
        left, left_alias = self.readable(join.left, "_left")
        right, right_alias = self.readable(join.right, "_right", left_alias)
        sides = dict.fromkeys(join.left.schema.names, left_alias)
        sides |= dict.fromkeys(join.right.schema.names, right_alias)
        scalar = self.scalar(join.schema, sides)
        pairs = [scalar(Comparison("=", ColumnRef(a), ColumnRef(b))) for a, b in join.on]
        statement = exp.Select().from_(left, copy=False)
        condition = all_of([*pairs, *residual_of(join.residual, scalar)])
        if condition is None and join.kind == "inner":
            return statement.join(right, join_type="CROSS", copy=False), scalar
        condition = condition or exp.Boolean(this=True)
        return statement.join(right, on=condition, join_type=join.kind, copy=False), scalar

    def exists(self, exists: Exists, outer: ScalarPrinter) -> exp.Expr:
        (around,) = set(outer.sides.values())
        inner, alias = self.readable(exists.relation, "_other", around)
        sides = {**outer.sides, **dict.fromkeys(exists.relation.schema.names, alias)}
        pairs = [
            exp.EQ(this=outer(ColumnRef(left)), expression=_column(right, alias))
            for left, right in exists.on
        ]
        schema = outer.schema
        if exists.residual is not None:
            schema = Schema((*outer.schema.columns, *exists.relation.schema.columns))
        conditions = [*pairs, *residual_of(exists.residual, self.scalar(schema, sides))]
        rows = exp.select("1").from_(inner, copy=False)
        if (condition := all_of(conditions)) is not None:
            rows.where(condition, copy=False)
        found = exp.Exists(this=rows)
        return exp.Not(this=found) if exists.negated else found

    # --- one row per element ---

    def unnested(self, select: Select, name: str, array: Expr) -> exp.Query:
        """One row per element; the rest of the SELECT, if it says more, reads from that."""
        rows = self.elements(select, name, array)
        star = Select.star(select.source, unnest=select.unnest)
        if replace(select, schema=star.schema) == star:
            return rows
        inner = Relation(self.fresh("_elements"), select.scope)
        outer = exp.Select().from_(rows.subquery(identifier(inner.name)))
        sides = dict.fromkeys(inner.schema.names, inner.name) if select.exists else {}
        scalar = self.scalar(inner.schema, sides)
        if select.exists is not None:
            outer.where(self.exists(select.exists, scalar), copy=False)
        return clauses(outer, select, scalar)

    def elements(self, select: Select, name: str, array: Expr) -> exp.Query:
        rows, scalar = self.source(select.source)
        whole = Select.star(select.source)
        if self.dialect == "sqlite":
            if not isinstance(array, ArrayOf):
                raise SchemaError(f"sqlite has no arrays: it cannot unnest {array}")
            each = [
                self.plain(whole).select(named(scalar(element), name), copy=False)
                for element in array.elements
            ]
            return each[0] if len(each) == 1 else union_all(each)
        clauses(rows, whole, scalar)
        if self.dialect == "ansi":
            alias = exp.TableAlias(this=identifier("_e"), columns=[identifier(name)])
            unnest = exp.Unnest(expressions=[scalar(array)], alias=alias)
            rows.join(unnest, join_type="CROSS", copy=False)
            return rows.select(exp.Column(this=identifier(name)), copy=False)
        return rows.select(named(exp.Explode(this=scalar(array)), name), copy=False)

    # --- set operations ---

    def compound(self, compound: Compound) -> exp.Query:
        operation = compound.operation
        parts = [self.part(each) for each in compound.inputs]
        if self.dialect == "sqlite" and operation in ("intersect all", "except all"):
            return self.by_copies(compound)
        return combined(operation, parts)

    def part(self, part: Relation | Select) -> exp.Query:
        """One side of a set operation, which some engines want to be a plain SELECT."""
        statement = self.select(part if isinstance(part, Select) else Select.star(part))
        if not isinstance(statement, exp.SetOperation):
            return statement
        names = [identifier(name) for name in statement.named_selects]
        rows = statement.subquery(identifier(self.fresh("_rows")), copy=False)
        return exp.select(*names).from_(rows, copy=False)

    def by_copies(self, compound: Compound) -> exp.Query:
        """INTERSECT ALL and EXCEPT ALL of rows that carry the number of their copy."""
        names = compound.inputs[0].schema.names
        number = identifier(fresh_column("_copy", names))
        parts = []
        for each in compound.inputs:
            rows, _ = self.readable(each, "_rows")
            own = each.schema.names
            columns = [exp.Column(this=identifier(name)) for name in own]
            copy = exp.Window(
                this=exp.RowNumber(), partition_by=[column.copy() for column in columns]
            )
            part = exp.select(*columns, exp.Alias(this=copy, alias=number.copy()))
            parts.append(part.from_(rows, copy=False))
        whole = combined(compound.operation.removesuffix(" all"), parts)
        rows = whole.subquery(identifier(self.fresh("_copies")), copy=False)
        return exp.select(*map(identifier, names)).from_(rows, copy=False)

    # --- GROUPING SETS where there are none ---

    def has_grouping_sets(self, sets: Sequence[tuple[str, ...]]) -> bool:
        """Whether the dialect's own are right: over no rows DuckDB takes several () for one."""
        return self.dialect != "sqlite" and (self.dialect != "duckdb" or sets.count(()) < 2)

    def each_grouping_set(self, select: Select) -> exp.Query:
        """UNION ALL of one SELECT per set, a key that the set lacks being NULL."""
        return union_all([self.grouping_set(select, keys) for keys in select.grouping_sets])

    def grouping_set(self, select: Select, keys: tuple[str, ...]) -> exp.Query:
        columns = tuple((name, in_set(value, keys, select.scope)) for name, value in select.columns)
        one = self.plain(replace(select, columns=columns, group_by=keys, grouping_sets=()))
        if not keys and not any(isinstance(value, AggregateCall) for _, value in columns):
            rows = exp.Count(this=exp.Star())  # makes it an aggregate, of one row
            one.having(exp.GTE(this=rows, expression=exp.Literal.number(0)), copy=False)
        return one

    # --- WITH RECURSIVE ---

    def recursive(self, recursive: Recursive) -> exp.Query:
        name = self.fresh(recursive.name.lower(), *self.recursions.values())
        inner = replace(self, recursions={**self.recursions, recursive.name: name})
        base = [self.part(each) for each in branches(recursive.base)]
        steps = [inner.step(each, recursive.name) for each in branches(recursive.step)]
        columns = [identifier(column) for column in recursive.schema.names]
        alias = exp.TableAlias(this=identifier(name), columns=[each.copy() for each in columns])
        table = exp.CTE(this=self.fixpoint(base, steps), alias=alias)
        statement = exp.select(*columns).from_(exp.Table(this=identifier(name)), copy=False)
        statement.set("with_", exp.With(expressions=[table], recursive=True))
        return statement

    def step(self, step: Relation | Select, name: str) -> exp.Query:
        """A step of a recursion. Raises SchemaError for one that reads it more than once."""
        if references(step, name) > 1:
            raise SchemaError(
                f"{self.dialect}: WITH RECURSIVE reads the recursion once in each step, {name} "
                "reads it more often"
            )
        return self.part(step)

    def fixpoint(self, base: Sequence[exp.Query], steps: Sequence[exp.Query]) -> exp.Query:
        """The rows to begin with UNION those that the steps make of them."""
        if self.dialect == "sqlite" or len(steps) == 1:  # which takes several, side by side
            return combined("union", [*base, *steps])
        together = exp.Subquery(this=combined("union", steps))
        return exp.Union(this=combined("union", base), expression=together, distinct=True)


def with_steps(statement: exp.Query, steps: Sequence[tuple[str, exp.Query]]) -> exp.Query:
    """WITH the steps, and behind them what the statement itself says WITH, which may read them."""
    own = statement.args.get("with_")
    if own is not None:
        own.pop()
    for name, step in steps:
        statement = statement.with_(identifier(name), as_=step, copy=False)
    for each in own.expressions if own is not None else ():
        statement = statement.with_(each.args["alias"], as_=each.this, recursive=True, copy=False)
    return statement


# --- clauses ---


def clauses(statement: exp.Select, select: Select, scalar: ScalarPrinter) -> exp.Select:
    """What follows the source: WHERE, GROUP BY, the columns, DISTINCT."""
    if select.where is not None:
        statement.where(scalar(select.where), copy=False)
    if select.grouping_sets:
        sets = [exp.Tuple(expressions=keys_of(keys, scalar)) for keys in select.grouping_sets]
        group = exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)])
        statement.set("group", group)
    elif select.group_by:
        statement.group_by(*keys_of(select.group_by, scalar), copy=False)
    for name, value in select.columns:
        column = column_tree(value, select, scalar)
        own_name = value == ColumnRef(name)
        statement.select(column if own_name else named(column, name), copy=False)
    return statement.distinct(copy=False) if select.distinct else statement


def column_tree(
    value: Expr | AggregateCall | WindowCall, select: Select, scalar: ScalarPrinter
) -> exp.Expr:
    match value:
        case AggregateCall():
            return aggregate_tree(value, scalar)
        case WindowCall():
            return window_tree(value, scalar)
        case _:
            return scalar(value)


def keys_of(keys: Iterable[str], scalar: ScalarPrinter) -> list[exp.Expr]:
    return [scalar(ColumnRef(key)) for key in keys]


def in_set(
    value: Expr | AggregateCall | WindowCall, keys: Sequence[str], scope: Schema
) -> Expr | AggregateCall | WindowCall:
    """A column of a SELECT with grouping sets as it is in the SELECT of one set."""
    if isinstance(value, ColumnRef) and value.name not in keys:
        return Literal(value.type_in(scope), None)
    return value


def residual_of(residual: Expr | None, scalar: ScalarPrinter) -> list[exp.Expr]:
    return [] if residual is None else [scalar(residual)]


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr | None:
    """Their conjunction; None of none."""
    if not conditions:
        return None
    enclosed = [exp.Paren(this=each) if isinstance(each, exp.Or) else each for each in conditions]
    if len(conditions) == 1:
        return conditions[0]
    return reduce(lambda a, b: exp.And(this=a, expression=b), enclosed)


def _column(name: str, table: str) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier(table))


def union_all(parts: Sequence[exp.Query]) -> exp.Query:
    return combined("union all", parts)


SET_OPERATIONS: Mapping[str, type[exp.SetOperation]] = {
    "union": exp.Union,
    "intersect": exp.Intersect,
    "except": exp.Except,
}


def combined(operation: str, parts: Sequence[exp.Query]) -> exp.Query:
    """The parts under one set operation, from left to right."""
    kind, _, every = operation.partition(" ")
    if kind not in SET_OPERATIONS or every not in ("", "all"):
        raise SchemaError(f"unknown set operation {operation!r}")
    build = SET_OPERATIONS[kind]
    return reduce(lambda a, b: build(this=a, expression=b, distinct=not every), parts)


def fresh_column(stem: str, names: Iterable[str]) -> str:
    taken = {name.lower() for name in names}
    while stem in taken:
        stem += "_"
    return stem


def branches(statement: Select | Compound) -> tuple[Relation | Select, ...]:
    """The SELECTs whose union a part of a recursion is. Raises SchemaError for other operations."""
    if isinstance(statement, Select):
        return (statement,)
    if statement.operation not in ("union", "union all"):
        raise SchemaError(f"WITH RECURSIVE has no {statement.operation.upper()} in its parts")
    return statement.inputs


def references(source: Source | Compound, name: str) -> int:
    """How often a statement reads the relation of this name."""
    match source:
        case Relation():
            return source.name == name
        case JoinOn():
            return references(source.left, name) + references(source.right, name)
        case Compound():
            return sum(references(each, name) for each in source.inputs)
        case Select():
            inside = source.exists is not None and source.exists.relation.name == name
            return references(source.source, name) + inside
