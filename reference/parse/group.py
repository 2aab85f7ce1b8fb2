"""GROUP BY in all its forms, the aggregates, and what may stand beside them.

After grouping, the plan has the keys and the aggregates and nothing else: a column that is
neither is refused. An expression that repeats a computed key is that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product

from sqlglot import exp

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.parse.aggregates import aggregate_call, aggregates_in
from deltaproof.reference.parse.joins import combined
from deltaproof.reference.parse.scalars import SUBQUERIES, Scalars
from deltaproof.reference.parse.scope import Block, with_columns
from deltaproof.reference.query import apply
from deltaproof.reference.scalar import Expr, case, coalesce, col, lit
from deltaproof.reference.scalar_tree import ColumnRef
from deltaproof.reference.select import AggregateCall


class Grouping:
    """Makes the plan of a block a plan of groups."""

    def __init__(self, block: Block, scalars: Scalars, select: exp.Select) -> None:
        self.block = block
        self.scalars = scalars
        self.select = select
        self.clause = select.args.get("group")
        having, qualify = select.args.get("having"), select.args.get("qualify")
        order = select.args.get("order")
        self.read_later = [
            e for e in (*select.expressions, having, qualify, order) if e is not None
        ]
        self.calls = [call for each in self.read_later for call in aggregates_in(each)]
        self.named: list[tuple[str, AggregateCall]] = []

    @property
    def is_needed(self) -> bool:
        having = self.select.args.get("having")
        return self.clause is not None or bool(self.calls) or having is not None

    @property
    def has_one_group(self) -> bool:
        """Whether all rows, also none, are one group: there is no GROUP BY, or GROUP BY ()."""
        items = [] if self.clause is None else self.clause.expressions
        empty = all(isinstance(each, exp.Tuple) and not each.expressions for each in items)
        return empty and not self.has_sets

    def make(self) -> None:
        """Groups the block's plan."""
        block = self.block
        sets, computed = self.sets()
        carried = tuple(dict.fromkeys(each.column for each in block.carried))
        calls = self.named = self.named_calls({*carried, *(key for each in sets for key in each)})
        before = replace(block, known={}, keys=[], columns=dict(block.columns))
        plan = with_columns(block.query, [(name, value) for value, name in computed])
        mask = None
        if self.has_sets:
            mask = block.fresh("grouping") if self.asks_for_sets() else None
            if carried and any(not each for each in sets):
                raise block.refusal(self.clause, "() among GROUPING SETS of a correlated subquery")
            with_carried = tuple((*carried, *each) for each in sets)
            plan = apply(GroupingSets(with_carried, tuple(calls), mask), plan)
        else:
            (keys,) = sets
            keys = tuple(dict.fromkeys((*keys, *carried)))
            plan = apply(Aggregate(keys, tuple(calls)), plan)
        foreign = {name: c for name, c in block.columns.items() if name not in before_names(before)}
        block.columns = foreign
        block.query = plan
        block.scope = block.scope.only(plan.schema.names)
        block.before, block.keys = before, [(value, name) for value, name in computed]
        if mask is not None:
            self.read_grouping(mask, [key for each in sets for key in each], sets)

    # --- the keys ---

    @property
    def has_sets(self) -> bool:
        parts = ("rollup", "cube", "grouping_sets")
        items = self.clause.expressions if self.clause is not None else []
        kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
        given = any(self.clause.args.get(part) for part in parts) if self.clause else False
        return given or any(isinstance(each, kinds) for each in items)

    def sets(self) -> tuple[list[tuple[str, ...]], list[tuple[Expr, str]]]:
        """The sets of keys, one where there is a plain GROUP BY; and what is computed for them."""
        computed: list[tuple[Expr, str]] = []
        if self.clause is None:
            return [()], computed
        if self.clause.args.get("all"):
            raise self.block.refusal(self.clause, "GROUP BY ALL", "name the keys")
        parts = [*self.clause.expressions]
        for name in ("grouping_sets", "rollup", "cube"):
            parts += self.clause.args.get(name) or []
        choices = [self.choices(each, computed) for each in parts]
        sets = [
            tuple(dict.fromkeys(key for part in chosen for key in part))
            for chosen in product(*choices)
        ]
        return sets, computed

    def choices(self, item: exp.Expr, computed: list[tuple[Expr, str]]) -> list[tuple[str, ...]]:
        """The sets that one item of GROUP BY stands for."""
        if isinstance(item, exp.Rollup | exp.Cube):
            units = [self.unit(each, computed) for each in item.expressions]
            widths = range(len(units), -1, -1)
            if isinstance(item, exp.Rollup):
                chosen: Iterable[Sequence[tuple[str, ...]]] = [units[:width] for width in widths]
            else:
                chosen = [each for width in widths for each in combinations(units, width)]
            return [tuple(key for unit in each for key in unit) for each in chosen]
        if isinstance(item, exp.GroupingSets):
            return [each for part in item.expressions for each in self.choices(part, computed)]
        return [self.unit(item, computed)]

    def unit(self, item: exp.Expr, computed: list[tuple[Expr, str]]) -> tuple[str, ...]:
        """The keys that stand or fall together: (a, b) in ROLLUP ((a, b), c)."""
        if isinstance(item, exp.Tuple):
            return tuple(key for each in item.expressions for key in self.unit(each, computed))
        return (self.key(item.unnest(), computed),)

    def key(self, item: exp.Expr, computed: list[tuple[Expr, str]]) -> str:
        """The column of one key: a column, an expression, a position, or an alias."""
        node, hint = item, ""
        place = self.block.place(item, "GROUP BY", len(self.select.expressions))
        if place is not None:
            node = self.select.expressions[place]
        elif isinstance(item, exp.Column) and not item.table:
            alias = self.block.aliases.get(item.name.lower())
            if alias is not None and not self.block.scope.find(item.name):
                node, hint = alias, item.name
        if isinstance(node, exp.Alias):
            node, hint = node.this, node.alias
        if any(True for _ in aggregates_in(node)):
            raise self.block.refusal(node, "an aggregate cannot be a key of GROUP BY")
        value = self.scalars.read(node)
        if isinstance(value, ColumnRef) and value.name in self.block.query.schema.names:
            return value.name
        for known, name in computed:
            if known == value:
                return name
        hint = hint or next((a for a, e in self.block.aliases.items() if e == node), "key")
        computed.append((value, self.block.fresh(hint)))
        if node.find(*SUBQUERIES):  # it is not read again after grouping
            for again in (n for each in self.read_later for n in each.find_all(type(node))):
                if again == node:
                    self.block.known[id(again)] = col(computed[-1][1])
        return computed[-1][1]

    # --- the aggregates ---

    def named_calls(self, keys: set[str]) -> list[tuple[str, AggregateCall]]:
        """The calls, each once, under the alias of the SELECT list where it has one."""
        named: list[tuple[str, AggregateCall]] = []
        calls = [(node, aggregate_call(self.scalars, node)) for node in self.calls]
        for node, call in calls:
            self.check_is_own(node, call)
        self.block.taken = {name.lower() for name in keys}  # no other column is left
        for node, call in calls:
            name = next((name for name, known in named if known == call), None)
            if name is None:
                name = self.block.fresh(self.hint(node) or call.function.removesuffix("_star"))
                named.append((name, call))
            self.block.known[id(node)] = col(name)
        return named

    def check_is_own(self, node: exp.Expr, call: AggregateCall) -> None:
        """Raises SqlError for an aggregate of outer columns only, which the query around has."""
        outer = self.block.outer
        parts = [each for each in (call.argument, call.by, call.where) if each is not None]
        reads = frozenset().union(*(each.columns() for each in parts))
        if outer is not None and reads and reads <= set(outer.renamed.values()):
            raise self.block.refusal(
                node,
                "an aggregate of columns of the query around belongs to that query",
                "aggregate there, in a subquery of FROM, and read its result here",
            )

    def hint(self, node: exp.Expr) -> str:
        """The alias of a SELECT item that is this call, or a cast of it."""
        around = node.parent
        while isinstance(around, exp.Paren | exp.Cast):
            around = around.parent
        return around.alias if isinstance(around, exp.Alias) else ""

    def complete(self) -> None:
        """An aggregate without GROUP BY has a row for every value of the domain, also over nothing.

        The values that no group has are those of the domain; there COUNT is 0.
        """
        block = self.block
        domain = block.outer.domain if block.outer is not None else None
        if domain is None:
            return
        names = {name: block.fresh(name) for name in domain.schema.names}
        renamed = domain.map(**{new: col(old) for old, new in names.items()})
        pairs = [col(new).is_not_distinct_from(col(old)) for old, new in names.items()]
        plan = combined("left", renamed, block.query, pairs, block.fresh)
        filled: list[tuple[str, Expr]] = [(old, col(new)) for old, new in names.items()]
        for name, call in self.named:
            zero = call.function in ("count", "count_star")
            filled.append((name, coalesce(col(name), lit(0)) if zero else col(name)))
        block.query = plan.map(**dict(filled))

    # --- GROUPING ---

    def asks_for_sets(self) -> bool:
        return any(each.find(exp.Grouping, exp.GroupingId) for each in self.read_later)

    def read_grouping(
        self, mask: str, keys: Sequence[str], sets: Sequence[tuple[str, ...]]
    ) -> None:
        """GROUPING(a, b): a bit for each argument, 1 where the row is not grouped by it."""
        order = list(dict.fromkeys(keys))
        before = Scalars(self.block.before or self.block, self.scalars.subquery)
        names = dict(self.block.keys)
        for each in self.read_later:
            for node in each.find_all(exp.Grouping, exp.GroupingId):
                arguments = [before.read(argument) for argument in node.expressions]
                asked = [
                    names.get(a, a.name if isinstance(a, ColumnRef) else "") for a in arguments
                ]
                asked = asked or order
                if any(name not in order for name in asked):
                    raise self.block.refusal(node, "GROUPING asks for keys of GROUP BY")
                if asked == order:
                    self.block.known[id(node)] = col(mask)
                    continue
                branches = [
                    (col(mask).eq(bits(order, given)), lit(bits(asked, given)))
                    for given in dict.fromkeys(map(frozenset, sets))
                ]
                self.block.known[id(node)] = case(*branches)


def bits(keys: Sequence[str], given: frozenset[str]) -> int:
    """A bit per key, the leftmost highest, set where the key is not given.

    >>> bits(["a", "b"], frozenset({"b"}))
    2
    """
    return sum((key not in given) << place for place, key in enumerate(reversed(keys)))


def before_names(block: Block) -> frozenset[str]:
    """The columns of a block's plan."""
    return frozenset(block.query.schema.names)
