"""One SELECT becomes a plan, clause by clause.

FROM and WHERE make the plan, GROUP BY and HAVING make it one of groups, window functions add
columns, SELECT names what is seen, DISTINCT, ORDER BY and LIMIT choose among it. ORDER BY
without LIMIT says nothing about a view, which has no order, and is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.parse import subquery
from deltaproof.reference.parse.aggregates import empty_values
from deltaproof.reference.parse.decorrelate import derived, lateral
from deltaproof.reference.parse.group import Grouping
from deltaproof.reference.parse.joins import built, key_of, parted
from deltaproof.reference.parse.scalars import SUBQUERIES, Scalars
from deltaproof.reference.parse.scope import (
    Block,
    Carried,
    Context,
    Environment,
    NeedsDomain,
    Outer,
    projected,
    with_columns,
)
from deltaproof.reference.parse.source import From
from deltaproof.reference.parse.tidy import EVERY_ROW
from deltaproof.reference.parse.window import Windows
from deltaproof.reference.query import Query, apply
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.scalar_tree import ColumnRef, Literal
from deltaproof.reference.types import Schema


@dataclass(frozen=True)
class Answer:
    """What a query gives: a plan, its visible columns, and how it hangs on the query around it.

    `values` are the visible columns as expressions over the plan. `carried` columns say for
    which rows around a row counts; `pulled` conditions read both sides. `exactly_one` row there
    is per row around, or `at_most_one`; `empty` is its value where the plan has no row for one.
    """

    query: Query
    names: tuple[str, ...]
    values: tuple[Expr, ...]
    carried: tuple[Carried, ...] = ()
    pulled: tuple[Expr, ...] = ()
    exactly_one: bool = False
    at_most_one: bool = False
    empty: Literal | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The visible columns of a plan that has them as columns."""
        return tuple(value.name for value in self.values if isinstance(value, ColumnRef))


class SelectReader:
    """Reads one SELECT."""

    def __init__(
        self,
        context: Context,
        node: exp.Select,
        environment: Environment,
        outer: Outer | None,
        role: str,
    ) -> None:
        self.node = node
        self.outer = outer
        self.role = role
        self.alone = False  # an aggregate without GROUP BY
        self.empty: Literal | None = None  # its value over nothing, where it is not NULL
        self.block = Block(context, environment, outer)
        self.scalars = Scalars(self.block, subquery.value)
        for item in node.expressions:
            if isinstance(item, exp.Alias):
                self.block.aliases.setdefault(item.alias.lower(), item.this)

    def read(self) -> Answer:
        block, node = self.block, self.node
        if not node.expressions:
            raise block.refusal(node, "SELECT needs columns")
        pulled = self.from_and_where()
        grouping = Grouping(block, self.scalars, node)
        windows = Windows(block, self.scalars, node)
        chooses = any(node.args.get(part) for part in ("distinct", "limit", "offset", "qualify"))
        simple = not grouping.is_needed and not windows.calls and not chooses
        if self.role == "exists" and not grouping.is_needed and not node.args.get("offset"):
            simple = not (windows.calls or node.args.get("qualify")) and self.keeps_a_row()
        if simple and self.role in ("exists", "rows"):
            values = () if self.role == "exists" else tuple(v for _, v in self.items())
            names = tuple(f"v{place}" for place, _ in enumerate(values))
            return Answer(block.query, names, values, tuple(block.carried), tuple(pulled))
        self.key(pulled)
        if grouping.is_needed:
            self.group(grouping)
        self.having()
        windows.make()
        answer = self.chosen(self.items() if self.role != "exists" else [])
        if not self.alone:
            return answer
        certain = not any(node.args.get(part) for part in ("having", "limit", "offset", "qualify"))
        return replace(answer, at_most_one=True, exactly_one=certain, empty=self.empty)

    def group(self, grouping: Grouping) -> None:
        """Groups the plan; without GROUP BY there is a row also over nothing.

        Its value is what the SELECT list is with every COUNT 0 and all else NULL: forgetting it
        is the "COUNT bug" of Kim's rewriting. Where it cannot be said once for all, the rows are
        completed from the domain.
        """
        block, outer = self.block, self.outer
        rows = block.query.schema
        grouping.make()
        self.alone = grouping.has_one_group
        if not self.alone or not block.carried or outer is None:
            return
        if self.role == "scalar" and not self.node.args.get("having") and self.is_plain():
            (_, value), *_ = self.items()
            value = value.substitute(empty_values(grouping.named, rows))
            if not value.columns():
                result = value.compile(Schema(()))(())
                kind = value.type_in(Schema(()))
                self.empty = None if result is None else Literal(kind, result)
                return
        if outer.domain is None:
            raise NeedsDomain(outer)
        grouping.complete()

    def is_plain(self) -> bool:
        """Whether no clause but the aggregates has a say in the value."""
        clauses = ("distinct", "limit", "offset", "qualify")
        nested = any(each.find(*SUBQUERIES, exp.Window) for each in self.node.expressions)
        return not nested and not any(self.node.args.get(part) for part in clauses)

    def keeps_a_row(self) -> bool:
        """Whether LIMIT and DISTINCT leave a row where there is one."""
        limit = self.node.args.get("limit")
        return limit is None or limit_of(self.scalars, self.node)[0] > 0

    def from_and_where(self) -> list[Expr]:
        """Makes the plan of FROM and WHERE; what reads the query around too is left over."""
        block, outer = self.block, self.outer
        tree = From(block, self.scalars, self.node, derived, lateral, self.role).read()
        if outer is not None and outer.domain is not None:
            pairs = outer.renamed.items()
            block.carried = [Carried(col(name), inner, True) for name, inner in pairs]
        where = self.node.args.get("where")
        parts = [] if where is None else flat(where.this)
        later = [each for each in parts if each.find(*SUBQUERIES)]
        plain = []
        for each in parts:
            if each not in later:
                if outer is not None:
                    outer.pulling = outer.may_pull
                plain.append(self.scalars.boolean(each))
                if outer is not None:
                    outer.pulling = False
        own, pulled = parted(plain, tree.columns)
        own += [each for each in pulled if not each.columns()]
        pulled = [each for each in pulled if each.columns()]
        try:
            block.query = built(tree, own, block.fresh)
        except SchemaError as error:
            why = str(error)
            sides = [join.side.upper() for join in self.node.args.get("joins") or []]
            if outer is not None and outer.domain is not None and {"RIGHT", "FULL"} & {*sides}:
                why = "what a RIGHT or FULL JOIN joins cannot read the query around"
            raise block.refusal(self.node.args.get("from_"), why) from None
        for each in later:
            subquery.condition(block, self.scalars, each)
        return pulled

    def key(self, pulled: Sequence[Expr]) -> None:
        """Conditions `outer = inner` become columns that the plan carries to its end.

        That is how Kim (1982) unnests: group by the inner side, join on it. Any other condition
        needs the outer columns in the plan.
        """
        block = self.block
        for each in pulled:
            here = frozenset(block.query.schema.names)
            key = key_of(each, each.columns() - here, here)
            if key is None or self.outer is None:
                raise NeedsDomain(self.outer) if self.outer else SchemaError(f"{each}: unknown")
            if isinstance(key.right, ColumnRef):
                column = key.right.name
            else:
                column = block.fresh("key")
                block.query = with_columns(block.query, [(column, key.right)])
            block.carried.append(Carried(key.left, column, key.null_safe))

    def having(self) -> None:
        clause = self.node.args.get("having")
        for each in [] if clause is None else flat(clause.this):
            subquery.condition(self.block, self.scalars, each)

    # --- the SELECT list ---

    def items(self) -> list[tuple[str, Expr]]:
        """What is seen: a name for each expression, no two the same."""
        items: list[tuple[str, Expr]] = []
        self.unnest()
        for place, node in enumerate(self.node.expressions, 1):
            if node.is_star:
                items += self.starred(node)
            elif isinstance(node, exp.Alias):
                items.append((node.alias, self.scalars.read(node.this)))
            else:
                items.append((name_of(node, place), self.scalars.read(node)))
        taken: set[str] = set()
        return [(unused(name, taken), value) for name, value in items]

    def unnest(self) -> None:
        """UNNEST in the SELECT list: the rows are as many as it has elements."""
        calls = [each.unalias() for each in self.node.expressions]
        if sum(isinstance(each, exp.Explode | exp.Unnest) for each in calls) > 1:
            raise self.block.refusal(
                self.node, "UNNEST twice in a SELECT list, row by row", "write them in FROM"
            )
        for node, call in zip(self.node.expressions, calls, strict=True):
            if isinstance(call, exp.Explode | exp.Unnest) and id(call) not in self.block.known:
                inside = call.expressions or [call.this]
                array = self.scalars.read(inside[0])
                column = self.block.fresh(node.alias or "unnest")
                try:
                    self.block.query = self.block.query.flat_map(array, column)
                except SchemaError as error:
                    raise self.block.refusal(node, str(error)) from None
                self.block.known[id(call)] = col(column)

    def starred(self, node: exp.Expr) -> list[tuple[str, Expr]]:
        """* and t.*, without the columns that EXCEPT or EXCLUDE names."""
        star = node if isinstance(node, exp.Star) else node.this
        left_out = {each.name.lower() for each in star.args.get("except_") or []}
        scope = self.block.scope
        if isinstance(node, exp.Column) and node.table:
            found = [s for s in scope.sources if s.alias.lower() == node.table.lower()]
            if not found:
                raise self.block.unknown(node, "*", node.table)
            fields = list(found[0].fields)
        else:
            fields = scope.star
        if self.block.before is not None or not fields:
            raise self.block.refusal(node, "* of groups", "name the keys and the aggregates")
        return [(e.name, col(e.column)) for e in fields if e.name.lower() not in left_out]

    def chosen(self, items: list[tuple[str, Expr]]) -> Answer:
        """DISTINCT, ORDER BY and LIMIT, and then only what is seen or carried."""
        block, node = self.block, self.node
        names = {name.lower() for name, _ in items}
        carried: list[tuple[str, str]] = []  # column of the plan, name in the answer
        for each in dict.fromkeys(c.column for c in block.carried):
            name = each if each.lower() not in names else block.fresh(each)
            while name.lower() in names:
                name = block.fresh(each)
            carried.append((each, name))
        kept = [(name, col(each)) for each, name in carried]
        distinct = node.args.get("distinct")
        on = distinct.args.get("on") if distinct is not None else None
        plan = block.query
        if on is not None:
            plan = self.first_of_each(on, [*items, *kept], [n for _, n in carried])
        elif node.args.get("limit") or node.args.get("offset"):
            plan = self.limited([*items, *kept], [n for _, n in carried], distinct is not None)
        else:
            if self.is_permuted([*items, *kept]):
                pass  # a subquery's columns are known by name
            elif items or kept:
                plan = projected(plan, [*items, *kept])
            plan = plan.distinct() if distinct is not None else plan
        new_names = dict(carried)
        return Answer(
            plan,
            tuple(name for name, _ in items),
            tuple(col(name) for name, _ in items),
            tuple(replace(each, column=new_names[each.column]) for each in block.carried),
            at_most_one=self.at_most_one(distinct),
        )

    def is_permuted(self, columns: Sequence[tuple[str, Expr]]) -> bool:
        """Whether these are the columns of a subquery's plan, in whatever order."""
        own = all(value == col(name) for name, value in columns)
        names = {name for name, _ in columns}
        return self.outer is not None and own and names == set(self.block.query.schema.names)

    def at_most_one(self, distinct: exp.Expr | None) -> bool:
        limit = self.node.args.get("limit")
        return limit is not None and limit_of(self.scalars, self.node)[0] <= 1

    def limited(
        self, columns: list[tuple[str, Expr]], partition: Sequence[str], distinct: bool
    ) -> Query:
        """The first rows in the order, of each row around."""
        plan, order = self.ordered(columns, distinct)
        limit, offset = limit_of(self.scalars, self.node)
        top = apply(TopK(tuple(partition), order, limit, offset), plan)
        return projected(top, [(name, col(name)) for name, _ in columns])

    def first_of_each(
        self, on: exp.Expr, columns: list[tuple[str, Expr]], partition: Sequence[str]
    ) -> Query:
        """DISTINCT ON (a, b): the first row in the order, for each a and b."""
        plan, order = self.ordered(columns, distinct=False)
        terms = on.expressions if isinstance(on, exp.Tuple) else [on]
        values = [self.order_value(each.unnest(), columns, "DISTINCT ON") for each in terms]
        added = [(self.block.fresh("on"), value) for value in values]
        missing = [(n, v) for n, v in added if v not in [w for _, w in columns]]
        if missing:
            plan, order = self.ordered([*columns, *missing], distinct=False)
        keys = [next((n for n, v in columns if v == w), name) for name, w in added]
        plan = apply(TopK((*partition, *keys), order, 1), plan)
        if self.node.args.get("limit"):
            raise self.block.refusal(on, "DISTINCT ON with LIMIT", "LIMIT a subquery of it")
        return projected(plan, [(name, col(name)) for name, _ in columns])

    def ordered(
        self, columns: list[tuple[str, Expr]], distinct: bool
    ) -> tuple[Query, tuple[Order, ...]]:
        """The columns, with others that ORDER BY reads, and the order over them."""
        clause = self.node.args.get("order")
        seen = {value: name for name, value in reversed(columns)}
        added: list[tuple[str, Expr]] = []
        order = []
        for term in [] if clause is None else clause.expressions:
            value = self.order_value(term.this, columns)
            name = seen.get(value)
            if name is None:
                if distinct:
                    raise self.block.refusal(
                        term, "ORDER BY of SELECT DISTINCT is over its columns"
                    )
                name = self.block.fresh("order")
                added.append((name, value))
                seen[value] = name
            order.append(order_term(term, col(name)))
        plan = projected(self.block.query, [*columns, *added])
        return (plan.distinct() if distinct else plan), tuple(order)

    def order_value(
        self, node: exp.Expr, columns: list[tuple[str, Expr]], clause: str = "ORDER BY"
    ) -> Expr:
        """A position, a name of the SELECT list, or an expression."""
        if (place := self.block.place(node, clause, len(columns))) is not None:
            return columns[place][1]
        if isinstance(node, exp.Column) and not node.table:
            for name, value in columns:
                if name.lower() == node.name.lower():
                    return value
        return self.scalars.read(node)


def flat(node: exp.Expr) -> list[exp.Expr]:
    """The parts of an AND, in order, however it is put in parentheses."""
    parts: list[exp.Expr] = []
    stack = [node]
    while stack:
        each = stack.pop()
        bare = each.unnest()
        if isinstance(bare, exp.And):
            stack += [bare.expression, bare.this]
        else:
            parts.append(each)
    return parts


def name_of(node: exp.Expr, place: int) -> str:
    """The name of a column without an alias: its own, its function's, or its place."""
    bare = node.unnest()
    while isinstance(bare, exp.Cast | exp.Filter | exp.Window):
        bare = bare.this
    if isinstance(bare, exp.Column):
        return bare.name
    if isinstance(bare, exp.Anonymous):
        return bare.name.lower()
    if isinstance(bare, exp.Func) and not isinstance(bare, exp.Connector | exp.Binary):
        return bare.sql_name().lower()
    return f"column{place}"


def unused(name: str, taken: set[str]) -> str:
    """The name, or the first of name_1, name_2, … that is not taken; it is taken then."""
    number, chosen = 0, name
    while chosen.lower() in taken:
        number += 1
        chosen = f"{name}_{number}"
    taken.add(chosen.lower())
    return chosen


def order_term(term: exp.Expr, value: Expr) -> Order:
    return Order(value, bool(term.args.get("desc")), bool(term.args.get("nulls_first")))


def limit_of(scalars: Scalars, node: exp.Expr) -> tuple[int, int]:
    """LIMIT and OFFSET, which must be constants."""

    def number(part: exp.Expr | None, default: int) -> int:
        if part is None:
            return default
        given = part.args.get("count") or part.expression
        value = scalars.read(given)
        if not isinstance(value, Literal) or not isinstance(value.value, int) or value.value < 0:
            raise scalars.block.refusal(part, "LIMIT and OFFSET need a constant whole number")
        options = part.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            raise scalars.block.refusal(part, "LIMIT counts rows, no ties and no percents")
        return int(value.value)

    return number(node.args.get("limit"), EVERY_ROW), number(node.args.get("offset"), 0)
