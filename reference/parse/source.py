"""FROM: tables, subqueries, joins of every kind, UNNEST, LATERAL, VALUES and GENERATE_SERIES."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.parse.joins import Dependent, Inner, Leaf, Sided, Tree, built
from deltaproof.reference.parse.scalars import SUBQUERIES, Scalars
from deltaproof.reference.parse.scope import Block, Field, Scope, Source, projected, with_columns
from deltaproof.reference.parse.tidy import conjuncts
from deltaproof.reference.parse.types import compared, together
from deltaproof.reference.query import Query, apply, count
from deltaproof.reference.scalar import Expr, cardinality, case, coalesce, col
from deltaproof.reference.scalar_tree import Comparison, Literal
from deltaproof.reference.types import ARRAY, BIGINT, Column, Schema

Visible: TypeAlias = Sequence[tuple[str, str]]  # the names in the text, and in the plan
Derived = Callable[[Block, exp.Expr], tuple[Query, Visible, Sequence[Expr]]]
Lateral = Callable[[Block, exp.Expr, Query, str], tuple[Query, Visible]]


class From:
    """Reads the items of FROM in order: the scope grows, and with it the tree of joins."""

    def __init__(
        self,
        block: Block,
        scalars: Scalars,
        select: exp.Select,
        derived: Derived,
        lateral: Lateral,
        role: str,
    ) -> None:
        self.block = block
        self.scalars = scalars
        self.select = select
        self.derived = derived
        self.lateral = lateral
        self.role = role
        self.wanted = columns_wanted(select, role)
        self.tree: Tree | None = None

    def read(self) -> Tree:
        """The tree of all items; without FROM it is one row."""
        source = self.select.args.get("from_")
        items = [] if source is None else [exp.Join(this=source.this)]
        nested = [] if source is None else source.this.args.get("joins") or []
        joins = [*items, *nested, *(self.select.args.get("joins") or [])]
        domain = self.block.outer.domain if self.block.outer is not None else None
        # the domain goes first, for ON may read it; not where it would be padded with NULL
        first = not any(join.side.upper() in ("RIGHT", "FULL") for join in joins)
        if domain is not None and first:
            self.extend(Leaf(self.known(domain)), ())
        for join in joins:
            self.join(join)
        for lateral in self.select.args.get("laterals") or []:
            self.join(exp.Join(this=lateral))
        if domain is not None and not first:
            self.extend(Leaf(self.known(domain)), ())
        if self.tree is None:
            self.tree = Leaf(self.known(one_row(self.block, self.select)))
        return self.tree

    def known(self, query: Query) -> Query:
        """The query, its columns typed in the block."""
        for column in query.schema.columns:
            self.block.columns[column.name] = column
            self.block.taken.add(column.name.lower())
        return query

    # --- joins ---

    def join(self, join: exp.Join) -> None:
        """One more item, joined to those before it."""
        item, kind = join.this, self.kind(join)
        if isinstance(item, exp.Lateral | exp.Unnest) or is_table_function(item):
            self.dependent(join, item, kind)
            return
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
            self.joins_in_parentheses(join, item, kind)
            return
        before = self.block.scope
        source, leaf, carried = self.source(item)
        if source.alias and any(s.alias.lower() == source.alias.lower() for s in before.sources):
            raise self.block.refusal(
                item, f"two tables are called {source.alias!r}", "give one an alias: t AS other"
            )
        self.block.scope = Scope(
            [*before.sources, source], [*before.star, *source.fields], dict(before.merged)
        )
        conditions = [*carried, *self.on(join), *self.using(join, before, source, kind)]
        if kind in ("semi", "anti"):
            self.block.scope = before
        if kind == "inner" or self.tree is None:
            self.extend(leaf, conditions)
            return
        self.tree = Sided(kind, self.tree, leaf, tuple(conditions))
        if kind == "full":
            self.merge_full()

    def joins_in_parentheses(self, join: exp.Join, item: exp.Subquery, kind: str) -> None:
        """a JOIN (b JOIN c ON …) ON …: what is in parentheses is joined before the rest."""
        if join.args.get("using") or join.method or kind.startswith("asof") or item.alias:
            raise self.block.refusal(item, "joins in parentheses", "write them as a subquery")
        inner = From(self.block, self.scalars, self.select, self.derived, self.lateral, self.role)
        for each in (exp.Join(this=item.this), *(item.args.get("joins") or [])):
            inner.join(each)
        for each in item.this.args.get("joins") or []:
            inner.join(each)
        part, conditions = inner.tree, self.on(join)
        if part is None or kind in ("semi", "anti"):
            raise self.block.refusal(item, "joins in parentheses", "write them as a subquery")
        if kind == "inner" or self.tree is None:
            self.extend(part, conditions)
        else:
            self.tree = Sided(kind, self.tree, part, tuple(conditions))

    def extend(self, item: Tree, conditions: Iterable[Expr]) -> None:
        """One more input of the inner join."""
        match self.tree:
            case None:
                self.tree = item
            case Inner(parts, before):
                self.tree = Inner((*parts, item), (*before, *conditions))
            case other:
                self.tree = Inner((other, item), tuple(conditions))

    def kind(self, join: exp.Join) -> str:
        """inner, left, right, full, semi or anti."""
        side, kind, method = join.side.lower(), join.kind.lower(), join.method.lower()
        if kind in ("semi", "anti"):
            return kind
        if method == "asof" and side in ("", "left"):
            return f"asof {side}".strip()
        if method not in ("", "natural"):
            raise self.block.refusal(join, f"{join.method} {join.side} JOIN is not supported here")
        if kind not in ("", "inner", "cross", "outer") or side not in ("", "left", "right", "full"):
            raise self.block.refusal(join, f"{join.side} {join.kind} JOIN is not supported here")
        return side or "inner"

    def on(self, join: exp.Join) -> list[Expr]:
        condition = join.args.get("on")
        if condition is None:
            return []
        if condition.find(*SUBQUERIES):
            raise self.block.refusal(
                condition, "a subquery in ON", "put it in WHERE, or in a table of FROM"
            )
        return [] if is_true(condition) else conjuncts(self.scalars.boolean(condition))

    def using(self, join: exp.Join, before: Scope, source: Source, kind: str) -> list[Expr]:
        """The equalities of USING and NATURAL; afterwards each of the columns is one."""
        names = [each.name for each in join.args.get("using") or []]
        if join.method.upper() == "NATURAL":
            there = {each.name.lower() for each in before.star}
            names = [each.name for each in source.fields if each.name.lower() in there]
        conditions = []
        for name in names:
            left, right = before.find(name), Scope([source]).find(name)
            if not left or not right:
                raise self.block.refusal(join, f"USING ({name}): both sides need the column")
            conditions.append(self.equality(join, left[0], right[0]))
            kept = right[0] if kind == "right" else left[0]
            self.block.scope.merged[name.lower()] = Field(left[0].name, kept.column)
            self.merged_star(name, kept, {left[0].column, right[0].column})
        return conditions

    def equality(self, node: exp.Expr, left: Field, right: Field) -> Expr:
        try:
            pair = compared(col(left.column), col(right.column), self.block.schema)
        except SchemaError as error:
            raise self.block.refusal(node, str(error)) from None
        return Comparison("=", *pair)

    def merged_star(self, name: str, kept: Field, sides: set[str]) -> None:
        """`*` has a column of USING once, and first."""
        star = self.block.scope.star
        merged = self.block.scope.merged
        rest = [each for each in star if each.column not in sides]
        places = [each.name.lower() in merged for each in rest]
        first = places.index(False) if False in places else len(rest)
        self.block.scope.star = [*rest[:first], Field(name, kept.column), *rest[first:]]

    def merge_full(self) -> None:
        """A column of FULL JOIN USING is that of the side that is there."""
        tree, scope = self.tree, self.block.scope
        if not isinstance(tree, Sided):
            return
        added: list[tuple[str, Expr]] = []
        for condition in tree.conditions:
            for name, kept in scope.merged.items():
                if isinstance(condition, Comparison) and condition.left == col(kept.column):
                    column = self.block.fresh(name)
                    added.append((column, coalesce(condition.left, condition.right)))
                    kind = condition.left.type_in(self.block.schema)
                    self.block.columns[column] = Column(column, kind)
                    scope.merged[name] = replace(kept, column=column)
                    scope.star = [
                        replace(each, column=column) if each.column == kept.column else each
                        for each in scope.star
                    ]
        if added:
            names = frozenset(name for name, _ in added)
            self.tree = Dependent(tree, names, lambda query: with_columns(query, added))

    # --- items ---

    def source(self, item: exp.Expr) -> tuple[Source, Leaf, list[Expr]]:
        """A table, a subquery or VALUES, its columns under names that are not taken."""
        conditions: Sequence[Expr] = ()
        names: Sequence[str] | None = None
        if isinstance(item, exp.Table):
            query = self.table(item)
        elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
            query, visible, conditions = self.derived(self.block, item.this)
            names = [column for _, column in visible]
        elif isinstance(item, exp.Values):
            query = self.values(item)
        else:
            raise self.block.refusal(item, "no table, subquery or VALUES")
        for unsupported in ("sample", "pivots", "hints", "when", "version"):
            if item.args.get(unsupported):
                raise self.block.refusal(item, f"{unsupported.upper()} is not supported here")
        query, fields = self.adopted(item, query, names)
        return Source(item.alias_or_name, fields), Leaf(query), list(conditions)

    def table(self, item: exp.Table) -> Query:
        found = self.block.environment.get(item.name.lower())
        if item.db or item.catalog or found is None:
            full = ".".join(part.name for part in item.parts)
            there = ", ".join(self.block.environment) or "none"
            raise self.block.refusal(item, f"unknown table {full!r}", f"there are {there}")
        return found

    def adopted(
        self, item: exp.Expr, query: Query, names: Sequence[str] | None
    ) -> tuple[Query, tuple[Field, ...]]:
        """The query with columns of names that are free here, those that are not read left out.

        `names` are the columns that the text sees; the rest are for conditions only.
        """
        visible = list(names if names is not None else query.schema.names)
        given = [each.name for each in item.args["alias"].columns] if item.args.get("alias") else []
        if len(given) > len(visible):
            raise self.block.refusal(item, f"{len(given)} names for {len(visible)} columns")
        called = [*given, *visible[len(given) :]]
        fields, columns = [], []
        for name, column in zip(called, visible, strict=True):
            if self.is_wanted(name):
                fields.append(Field(name, self.free(item.alias_or_name, column)))
                columns.append((fields[-1].column, col(column)))
        if not columns:  # COUNT(*) reads none, but there is no table without columns
            columns.append((self.free(item.alias_or_name, visible[0]), col(visible[0])))
        hidden = [(name, col(name)) for name in query.schema.names if name not in visible]
        return self.known(projected(query, [*columns, *hidden])), tuple(fields)

    def is_wanted(self, name: str) -> bool:
        return self.wanted is None or name.lower() in self.wanted

    def free(self, alias: str, column: str) -> str:
        """The column's own name; where that is taken, it says which table it is of."""
        taken = self.block.is_taken(column)
        return self.block.fresh(f"{alias}_{column}" if taken and alias else column)

    def values(self, item: exp.Values) -> Query:
        """VALUES (1, 'a'), (2, 'b'): the rows one by one."""
        rows = [list(row.expressions) for row in item.expressions]
        read = [[self.scalars.read(each) for each in row] for row in rows]
        if len({len(row) for row in read}) != 1:
            raise self.block.refusal(item, "all rows of VALUES need as many columns")
        try:
            columns = [together(list(column), Schema(())) for column in zip(*read, strict=True)]
        except SchemaError as error:
            raise self.block.refusal(item, str(error)) from None
        one = one_row(self.block, item)
        maps = [
            one.map(**{f"column{place}": value for place, value in enumerate(row, 1)})
            for row in zip(*columns, strict=True)
        ]
        query = maps[0]
        for each in maps[1:]:
            query = query.union_all(each)
        return query

    # --- items that read the items before them ---

    def dependent(self, join: exp.Join, item: exp.Expr, kind: str) -> None:
        condition = join.args.get("on")
        if kind not in ("inner", "left") or (condition is not None and not is_true(condition)):
            raise self.block.refusal(
                item, "LATERAL and UNNEST are joined by a comma, CROSS or LEFT JOIN … ON TRUE"
            )
        if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            self.lateral_subquery(item, item.this.this, kind)
            return
        call = item.this if isinstance(item, exp.Lateral | exp.Table) else item
        left = kind == "left" or bool(item.args.get("outer"))
        self.unnest(item, call, left)

    def lateral_subquery(self, item: exp.Lateral, query: exp.Expr, kind: str) -> None:
        """The items so far are joined at once: the subquery is evaluated for their rows."""
        left = Leaf(self.known(one_row(self.block, item))) if self.tree is None else self.tree
        plan = built(left, (), self.block.fresh)
        plan, visible = self.lateral(self.block, query, plan, kind)
        alias = item.args.get("alias")
        given = [each.name for each in alias.columns] if alias else []
        names = [*given, *[name for name, _ in visible[len(given) :]]]
        columns = [column for _, column in visible]
        fields = tuple(map(Field, names, columns))
        self.block.scope.add(Source(item.alias_or_name, fields))
        self.tree = Leaf(self.known(plan))

    def unnest(self, item: exp.Expr, call: exp.Expr, left: bool) -> None:
        """A row per element of an array that is read off the items so far."""
        if isinstance(call, exp.Unnest | exp.Explode):
            inside = call.expressions or [call.this]
            if len(inside) != 1 or call.args.get("offset"):
                raise self.block.refusal(item, "UNNEST of one array, without its positions")
            argument = inside[0]
        else:
            argument = call
        try:
            array = self.scalars.read(argument)
            if not isinstance(array, Literal) and left:
                none = Literal(self.scalars.type_of(array), (None,))
                array = case((cardinality(array) > 0, array), default=none)
            kind = self.scalars.type_of(array)
        except SchemaError as error:
            raise self.block.refusal(item, str(error)) from None
        if not isinstance(kind, ARRAY):
            raise self.block.refusal(item, f"UNNEST needs an array, got {kind}")
        alias = item.args.get("alias")
        names = [each.name for each in alias.columns] if alias is not None else []
        called = names[0] if names else (item.alias or "unnest")
        column = self.free(item.alias, called)
        self.block.columns[column] = Column(column, kind.element)
        before = self.tree or Leaf(self.known(one_row(self.block, item)))
        self.tree = Dependent(
            before, frozenset([column]), lambda query: apply(FlatMap(array, column), query)
        )
        self.block.scope.add(Source(item.alias or called, (Field(called, column),)))


def is_true(condition: exp.Expr) -> bool:
    bare = condition.unnest()
    return (isinstance(bare, exp.Boolean) and bool(bare.this)) or (
        isinstance(bare, exp.EQ) and bare.this == bare.expression and bare.this.is_number
    )


def is_table_function(item: exp.Expr) -> bool:
    return isinstance(item, exp.Table) and isinstance(item.this, exp.Func)


def one_row(block: Block, node: exp.Expr) -> Query:
    """A table of one row, whatever the tables hold: an aggregate without keys has one.

    It needs a table to be over, as everything here has.
    """
    tables = block.context.tables
    if not tables:
        raise block.refusal(node, "SELECT without FROM needs a table that is there", "pass one")
    first = min(tables)
    return tables[first].aggregate(one=count()).map(one=Literal(BIGINT, 1))


def columns_wanted(select: exp.Select, role: str) -> frozenset[str] | None:
    """The names of all columns that a SELECT reads, in lower case; None where it reads all.

    A SELECT of one table without subqueries keeps no state that would be smaller without the
    columns that it does not read. What EXISTS selects is not read.
    """
    joins = [*select.find_all(exp.Join)] if select.find(exp.Join) else []
    where = select.args.get("where")
    subqueries = where is not None and where.find(*SUBQUERIES) is not None
    starred = any(each.is_star and not each.find(exp.Count) for each in select.expressions)
    natural = any(join.method.upper() == "NATURAL" for join in joins)
    unread = role == "exists" and starred
    if natural or (starred and not unread) or not (joins or subqueries or unread):
        return None
    names = {column.name.lower() for column in select.find_all(exp.Column)}
    using = {name.name.lower() for join in joins for name in join.args.get("using") or []}
    return frozenset(names | using)
