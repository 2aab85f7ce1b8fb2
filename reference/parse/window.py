"""OVER: each window function becomes a column of the plan.

Window functions come after GROUP BY and HAVING and before DISTINCT and LIMIT; QUALIFY is their
WHERE. Their order is completed by the whole row, so that ROW_NUMBER is a function of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.order import Order
from deltaproof.reference.parse import subquery
from deltaproof.reference.parse.aggregates import aggregate_call, is_aggregate
from deltaproof.reference.parse.dates import DAY, DAYS, MICROS, interval_of
from deltaproof.reference.parse.scalars import Scalars
from deltaproof.reference.parse.scope import Block, with_columns
from deltaproof.reference.parse.types import together
from deltaproof.reference.query import apply
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.scalar_tree import ColumnRef, Literal
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.types import DATE, TIMESTAMP, Schema

RANKS: Mapping[type[exp.Expr], str] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}
OWN = (*RANKS, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)  # no aggregates
Names: TypeAlias = tuple[str, ...]
Terms: TypeAlias = tuple[Order, ...]
INSTEAD = "write ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD or an aggregate OVER"


class Windows:
    """The window functions of a SELECT."""

    def __init__(self, block: Block, scalars: Scalars, select: exp.Select) -> None:
        self.block = block
        self.scalars = scalars
        self.qualify = select.args.get("qualify")
        self.named = {
            each.name.lower(): each for each in select.args.get("windows") or [] if each.name
        }
        order = select.args.get("order") if select.args.get("limit") else None
        parts = [each for each in (*select.expressions, self.qualify, order) if each is not None]
        self.calls = [call for part in parts for call in windows_in(part)]

    def make(self) -> None:
        """Adds a column for each, and keeps the rows that QUALIFY asks for.

        Aggregates over one frame are one operator.
        """
        rolling: dict[tuple[Names, Terms, Frame], list[tuple[str, AggregateCall]]] = {}
        rows = self.block.query.schema if self.calls else None
        for call in self.calls:
            try:
                partition, order = self.partition(call), self.order(call)
                result = self.block.fresh(hint(call))
                if rows is not None and not counts_peers(call, self.over(call)):
                    order = without_completion(order, rows)
                if is_aggregate(call.this) and not isinstance(call.this, OWN):
                    over = (partition, order, self.frame(call, order))
                    aggregate = aggregate_call(self.scalars, call.this)
                    rolling.setdefault(over, []).append((result, aggregate))
                else:
                    operator = self.operator(call, partition, order, result)
                    self.block.query = apply(operator, self.block.query)
            except SchemaError as error:
                raise self.block.refusal(call, str(error)) from None
            self.block.known[id(call)] = col(result)
        for (partition, order, frame), calls in rolling.items():
            try:
                operator = Rolling(tuple(calls), partition, order, frame)
                self.block.query = apply(operator, self.block.query)
            except SchemaError as error:
                raise self.block.refusal(self.calls[0], str(error)) from None
        if self.qualify is not None:
            if not self.calls:
                raise self.block.refusal(self.qualify, "QUALIFY needs a window function")
            subquery.condition(self.block, self.scalars, self.qualify.this)

    def partition(self, call: exp.Window) -> Names:
        """The columns of PARTITION BY; in a subquery each row around has partitions of its own."""
        given = self.over(call).args.get("partition_by") or []
        columns = [self.named_column("part", self.scalars.read(each)) for each in given]
        carried = [each.column for each in self.block.carried]
        return tuple(dict.fromkeys([*carried, *columns]))

    def over(self, call: exp.Window) -> exp.Window:
        """The window, its name replaced by what WINDOW says."""
        name = call.alias
        if not name:
            return call
        if name.lower() not in self.named:
            raise self.block.refusal(call, f"unknown window {name!r}")
        named: exp.Window = self.named[name.lower()]
        if call.args.get("partition_by") or call.args.get("order") or call.args.get("spec"):
            raise self.block.refusal(call, "a named window with more words", "write it in full")
        return named

    def order(self, call: exp.Window) -> Terms:
        clause = self.over(call).args.get("order")
        terms = [] if clause is None else clause.expressions
        return tuple(
            Order(
                self.scalars.read(term.this),
                bool(term.args.get("desc")),
                bool(term.args.get("nulls_first")),
            )
            for term in terms
        )

    def named_column(self, hint: str, value: Expr) -> str:
        """The column that a value is, added to the plan where it is none yet."""
        if isinstance(value, ColumnRef):
            return value.name
        name = self.block.fresh(hint)
        self.block.query = with_columns(self.block.query, [(name, value)])
        return name

    def operator(self, call: exp.Window, partition: Names, order: Terms, result: str) -> Operator:
        function = call.this
        if isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
            raise self.block.refusal(call, "IGNORE NULLS", "filter the NULLs away before")
        if type(function) in RANKS:
            return Rank(RANKS[type(function)], result, partition, order)
        if isinstance(function, exp.Lag | exp.Lead):
            return self.lag(function, partition, order, result)
        raise self.block.refusal(call, f"{function.key.upper()} OVER is not supported", INSTEAD)

    def lag(self, function: exp.Expr, partition: Names, order: Terms, result: str) -> Operator:
        value = self.scalars.read(function.this)
        given = function.args.get("offset")
        places = 1
        if given is not None:
            number = self.scalars.read(given)
            if not isinstance(number, Literal) or not isinstance(number.value, int):
                raise self.block.refusal(given, "the offset must be a constant whole number")
            places = number.value
        default = function.args.get("default")
        filler = None if default is None else self.scalars.read(default)
        if filler is not None:
            value, filler = together([value, filler], self.block.schema)
        sign = -1 if isinstance(function, exp.Lead) else 1
        return Lag(value, sign * places, result, partition, order, filler)

    # --- frames ---

    def frame(self, call: exp.Window, order: Terms) -> Frame:
        """The frame; with an order and without words it ends with the row's peers."""
        over = self.over(call)
        spec = over.args.get("spec")
        if spec is None:
            return Frame("range", None, 0) if order else Frame("rows", None, None)
        unit = spec.args["kind"].lower()
        if unit not in ("rows", "range"):
            raise self.block.refusal(over, f"{unit.upper()} frames", "write ROWS or RANGE")
        first = self.bound(over, spec.args.get("start"), spec.args.get("start_side"), order)
        last: int | None = 0
        if spec.args.get("end") is not None:
            last = self.bound(over, spec.args["end"], spec.args.get("end_side"), order)
        return Frame(unit, None if first is None else -first, last)

    def bound(
        self, over: exp.Window, given: object, side: object, order: Sequence[Order]
    ) -> int | None:
        """A distance: negative before the row; None is without bound."""
        if isinstance(given, str):
            return 0 if given.upper() == "CURRENT ROW" else None
        sign = -1 if str(side).upper() == "PRECEDING" else 1
        node = given
        if isinstance(node, exp.Interval):
            amount, word = interval_of(self.scalars, node)
            kind = self.scalars.type_of(order[0].expression) if order else None
            if isinstance(amount, Literal) and kind == DATE and word in DAYS:
                return sign * int(amount.value) * DAYS[word]
            if isinstance(amount, Literal) and kind == TIMESTAMP:
                micros = MICROS.get(word) or DAY * DAYS.get(word, 0)
                if micros:
                    return sign * int(amount.value) * micros
            raise self.block.refusal(over, f"no RANGE of {word}", "days of a DATE, or seconds")
        value = self.scalars.read(node) if isinstance(node, exp.Expr) else None
        if not isinstance(value, Literal) or not isinstance(value.value, int):
            raise self.block.refusal(over, "the bounds of a frame are constant whole numbers")
        return sign * value.value


def windows_in(node: exp.Expr) -> list[exp.Window]:
    """The window functions of an expression, not those of its subqueries."""
    found: list[exp.Window] = []
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, exp.Query | exp.Subquery | exp.Exists):
            continue
        if isinstance(each, exp.Window):
            found.append(each)
        stack.extend(reversed(list(each.iter_expressions())))
    return sorted(found, key=lambda call: -call.depth)  # what is inside another comes first


def hint(call: exp.Window) -> str:
    """The alias of a SELECT item that is this call or a cast of it; else the function's name."""
    around = call.parent
    while isinstance(around, exp.Paren | exp.Cast):
        around = around.parent
    return around.alias if isinstance(around, exp.Alias) else str(call.this.key)


def counts_peers(call: exp.Window, over: exp.Window) -> bool:
    """Whether rows that ORDER BY calls equal are treated alike, so that each term counts."""
    if isinstance(call.this, exp.RowNumber | exp.Lag | exp.Lead):
        return False
    spec = over.args.get("spec")
    return spec is None or spec.args["kind"].upper() != "ROWS"


def without_completion(order: Sequence[Order], rows: Schema) -> tuple[Order, ...]:
    """The order without the rest of the row, by which it is completed anyway.

    >>> rows = Schema.parse("a BIGINT, b BIGINT")
    >>> print(*without_completion([Order(col("b"), True), Order(col("a"))], rows))
    b DESC
    """
    for length in range(1, len(order)):
        said = [each.expression for each in order[:length]]
        rest = tuple(Order(col(name)) for name in rows.names if col(name) not in said)
        if tuple(order[length:]) == rest:
            return tuple(order[:length])
    return tuple(order)
