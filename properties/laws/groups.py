"""What operators obey that work group by group: aggregates, grouping sets, a query per group."""

from __future__ import annotations

from decimal import localcontext
from typing import cast

from deltaproof.properties.law import Bags, Equation, Premise, Subject, ZSets, law
from deltaproof.properties.laws.words import distinct, grouped, total
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import DOUBLE, Row, Schema, Value, key_function
from deltaproof.reference.zset import ZSet

# ── Aggregates ──────────────────────────────────────────────────────────────────────────────

HAS_KEYS = Premise("Q has keys", lambda q: bool(cast(Aggregate, q.operator).keys))


@law("aggregate", "keys of Q(a) = distinct(keys of a)", source="aggregate.py; Lean: group_by")
def aggregate_has_one_row_per_group(q: Subject, a: ZSets) -> Equation:
    """A group is there exactly when its weight is positive, and once; without keys it always is."""
    (rows,) = q.schemas
    keys = cast(Aggregate, q.operator).keys
    key_of = key_function([rows.index(key) for key in keys])
    groups = ZSet([(key_of(row), weight) for row, weight in a[0].items()])
    found = ZSet([(row[: len(keys)], weight) for row, weight in q.meaning(*a).items()])
    return Equation(found, distinct(groups) if keys else ZSet({(): 1}))


@law(
    "aggregate",
    "sum of Q(group of a) = Q(a)",
    source="DBSP (VLDB 2023) section 7.4; Lean: group_by_linear",
    provided=HAS_KEYS,
)
def aggregate_of_each_group_alone(q: Subject, a: ZSets) -> Equation:
    """Only the groups that a change touches need another look."""
    (rows,), (schema,) = a, q.schemas
    keys = cast(Aggregate, q.operator).keys
    groups = grouped(rows, key_function([schema.index(key) for key in keys]))
    return Equation(total([q.meaning(group) for group in groups.values()]), q.meaning(rows))


@law(
    "aggregate",
    "Q(a) = each group of a, row by row, over tables",
    source="SQL:2016 part 2, 10.9 <aggregate function>; DBSP (VLDB 2023) section 7.2",
)
def aggregate_folds_each_group(q: Subject, a: Bags) -> Equation:
    """COUNT, SUM, MIN and MAX are what one gets who goes through the rows of a group by hand."""
    operator, (rows,), (schema,) = cast(Aggregate, q.operator), a, q.schemas
    width = len(operator.keys)
    places = [n for n, (_, call) in enumerate(operator.aggregates) if is_folded(call, schema)]
    chosen = key_function([*range(width), *[width + place for place in places]])
    calls = [operator.aggregates[place][1] for place in places]
    groups = grouped(rows, key_function([schema.index(key) for key in operator.keys]))
    if not operator.keys:
        groups.setdefault((), ZSet())
    by_hand = {
        key + tuple(folded(call, schema, group) for call in calls): 1
        for key, group in groups.items()
    }
    found = [(chosen(row), weight) for row, weight in q.meaning(rows).items()]
    return Equation(ZSet(found), ZSet(by_hand))


def is_folded(call: AggregateCall, rows: Schema) -> bool:
    """Whether `folded` knows the function, and its sum of such values is exact."""
    exact = call.argument is None or call.argument.type_in(rows) != DOUBLE
    return exact and call.function in ("count_star", "count", "sum", "min", "max")


def folded(call: AggregateCall, schema: Schema, rows: ZSet) -> Value:
    """COUNT, SUM, MIN or MAX of a table, by hand.

    >>> from deltaproof.reference.scalar import col
    >>> folded(AggregateCall("sum", col("v")), Schema.parse("v BIGINT"), ZSet({(5,): 2, (1,): 1}))
    11
    """
    value_of = call.argument.compile(schema) if call.argument is not None else lambda row: 1
    counts = call.where.compile(schema) if call.where is not None else lambda row: True
    counted = [(value_of(row), weight) for row, weight in rows.items() if counts(row)]
    given = [(value, weight) for value, weight in counted if value is not None]
    if call.distinct:
        given = [(value, 1) for value in {value for value, _ in given}]
    match call.function:
        case "count_star" | "count":
            return sum(weight for _, weight in given)
        case "sum":
            with localcontext(prec=100):  # or Decimal would round
                return sum(weight * value for value, weight in given) if given else None
        case least_or_greatest:
            best = min if least_or_greatest == "min" else max
            return best((value for value, _ in given), default=None)


# ── Grouping sets ───────────────────────────────────────────────────────────────────────────


@law(
    "grouping_sets",
    "Q(a) = sum of the GROUP BY of each set (a), NULL for the keys that it lacks",
    source="SQL:1999 GROUPING SETS",
)
def grouping_sets_add_up(q: Subject, a: ZSets) -> Equation:
    """ROLLUP and CUBE are many GROUP BYs at once, and none of their rows are merged or lost."""
    operator, (rows,) = cast(GroupingSets, q.operator), q.schemas
    found: list[tuple[Row, int]] = []
    for keys in operator.sets:
        one = Aggregate(keys, operator.aggregates)
        names = one.output(rows).names
        lacking = "".join("0" if key in keys else "1" for key in operator.keys)
        for row, weight in q.another(one, rows).meaning(*a).items():
            named = dict(zip(names, row, strict=True)) | {operator.grouping: int(lacking or "0", 2)}
            columns = [*operator.keys, *[name for name, _ in operator.aggregates]]
            columns += [operator.grouping] if operator.grouping else []
            found.append((tuple(named.get(column) for column in columns), weight))
    return Equation(q.meaning(*a), ZSet(found))


# ── Any query, per group ────────────────────────────────────────────────────────────────────


@law(
    "per_group",
    "Q(a) = the query over the rows of each key, the key in front",
    source="DBSP (VLDB 2023) section 6: the query, lifted",
)
def per_group_runs_each_alone(q: Subject, a: ZSets) -> Equation:
    """A query that is understood for one customer is understood for all of them."""
    operator = cast(PerGroup, q.operator)
    query, names = operator.query.meaning(), list(operator.query.tables())
    tables = [
        grouped(rows, key_function([schema.index(key) for key in operator.keys]))
        for schema, rows in zip(q.schemas, a, strict=True)
    ]
    found: list[tuple[Row, int]] = []
    for key in dict.fromkeys(key for table in tables for key in table):
        contents = [table.get(key, ZSet()) for table in tables]
        rows = query(dict(zip(names, contents, strict=True)))
        found += [(key + row, weight) for row, weight in rows.items()]
    return Equation(q.meaning(*a), ZSet(found))
