"""A query per group over a range of ticks: a group is a case.

Every form treats the column `_case` as a name for a stream of its own, and does nothing with it
but keep streams apart. So the query's forms run for each group when `_case` is a STRUCT of the
case and the group's keys; afterwards it is taken apart again, and the keys become columns.

Only a query that has rows even over nothing, such as an aggregate without keys, must know which
groups there are, and when. A group begins at the tick at which it has a first row; while it has
none its output is not there, and nothing is remembered of it:

    output = what the query gives ⋈ the groups that are there
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.query import Query, Table
from deltaproof.spark_backend.lowering import Lowering, Relation, listed, worth_sharing
from deltaproof.spark_backend.operators.distinct import one_line_per_tick, presence
from deltaproof.spark_backend.operators.join import (
    LEFT_PART,
    RIGHT_PARTS,
    pair_tick,
    pair_weight,
)


def lower_per_group(operator: PerGroup, *arguments: Any) -> Relation:
    """The query's form, each group a case."""
    *inputs, lowering = arguments
    tables: list[Query] = [Table(name, schema) for name, schema in operator.query.tables().items()]
    rows = [in_groups(relation, operator.keys, lowering) for relation in inputs]
    needs_groups = has_rows_over_nothing(operator.query)
    relations = {
        each: lowering.share(lines) if needs_groups or reads(each, operator.query) > 1 else lines
        for each, lines in zip(tables, rows, strict=True)
    }
    with lowering.inside_groups():
        if needs_groups:
            inner = while_there(operator.query, relations, lowering)
        else:
            lowering.groups = lowering.define(f"SELECT _case, _tick FROM {rows[0].name}")
            inner = lowered(operator.query, relations, lowering)
    keys = [f"_case._k{n} AS _c{n}" for n in range(len(operator.keys))]
    columns = [f"{name} AS _c{n}" for n, name in enumerate(inner.columns, len(keys))]
    name = lowering.define(
        f"SELECT {listed('_case._case AS _case', '_tick', *keys, *columns, '_weight')} "
        f"FROM {inner.name}"
    )
    schema = operator.output(*[relation.schema for relation in inputs])
    return Relation(name, schema, inner.consolidated)


def reads(table: Query, query: Query) -> int:
    """How often the query reads the table."""
    return sum(node.inputs.count(table) for node in query.nodes())


def in_groups(rows: Relation, keys: Sequence[str], lowering: Lowering) -> Relation:
    """The relation's lines, each in the case of its group."""
    values = [f"_c{rows.schema.index(key)} AS _k{n}" for n, key in enumerate(keys)]
    group = f"STRUCT({listed('_case AS _case', *values)}) AS _case"
    line = listed(group, "_tick", *rows.columns, "_weight")
    return replace(rows, name=lowering.define(f"SELECT {line} FROM {rows.name}"))


def lowered(query: Query, tables: dict[Query, Relation], lowering: Lowering) -> Relation:
    done = dict(tables)
    nodes = query.nodes()
    lowering.lower(nodes, done, worth_sharing(nodes))
    return done[query]


def has_rows_over_nothing(query: Query) -> bool:
    """Whether the query may have a row where all its tables are empty."""
    for operator in query.operators():
        match operator:
            case Aggregate(()):
                return True
            case GroupingSets() if () in operator.sets:
                return True
            case Recursion() if any(map(has_rows_over_nothing, operator.bodies.values())):
                return True
    return False


def while_there(query: Query, tables: dict[Query, Relation], lowering: Lowering) -> Relation:
    """What the query gives, while the group has a row."""
    counts = counts_of_rows(list(tables.values()), lowering)
    start = len(lowering.pasts)
    lowering.groups = lowering.define(
        f"SELECT _case, MIN(_tick) AS _tick FROM {counts} GROUP BY _case"
    )
    inner = lowered(query, tables, lowering)
    lines = lowering.with_past(inner.name, inner.columns, ["_weight"])
    forget_groups_without_rows(start, counts, lowering)
    there = changes_of_presence(counts, lowering)
    columns = [f"a.{name} AS {name}" for name in inner.columns]
    parts = [] if lowering.first else ["a._part = b._part"]
    left = lowering.define(f"SELECT *, {LEFT_PART} AS _part FROM {lines}")
    right = lowering.define(f"SELECT *, {RIGHT_PARTS} AS _part FROM {there}")
    if lowering.first:
        left, right = lines, there
    name = lowering.define(
        f"SELECT {listed('a._case AS _case', pair_tick(), *columns, pair_weight())} "
        f"FROM {left} a JOIN {right} b ON {' AND '.join(['a._case = b._case', *parts])}"
    )
    return Relation(name, inner.schema, consolidated=False)


def counts_of_rows(rows: Sequence[Relation], lowering: Lowering) -> str:
    """A clause of the changes of how many rows a group has, whatever their weights."""
    changes = [f"SELECT _case, _tick, _weight FROM {rows_there(each, lowering)}" for each in rows]
    counts = lowering.define(
        f"SELECT _case, _tick, SUM(_weight) AS _weight FROM ({' UNION ALL '.join(changes)}) "
        "GROUP BY _case, _tick"
    )
    lines = lowering.with_past(counts, [], ["_weight"])
    computed = lowering.materialize(f"SELECT * FROM {lines}")  # read in many places
    lowering.remember(len(lowering.pasts) - 1, computed)
    return computed


def rows_there(rows: Relation, lowering: Lowering) -> str:
    """A clause of 1 where a row gets a weight and -1 where it has none again."""
    row = listed("_case", *rows.columns)
    lines = lowering.with_past(one_line_per_tick(rows, lowering), rows.columns, ["_weight"])
    after = f"SUM(_weight) OVER (PARTITION BY {row} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    weights = lowering.define(f"SELECT _case, _tick, _weight, {after} AS _after FROM {lines}")
    change = "IF(_after <> 0, 1L, 0L) - IF(_after - _weight <> 0, 1L, 0L)"
    changes = lowering.define(f"SELECT _case, _tick, {change} AS _weight FROM {weights}")
    return lowering.define(f"SELECT * FROM {changes} WHERE _weight <> 0 AND _tick > 0")


def changes_of_presence(counts: str, lowering: Lowering) -> str:
    """A clause of 1 where a group begins and -1 where it ends."""
    after = "SUM(_weight) OVER (PARTITION BY _case ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    totals = lowering.define(f"SELECT *, {after} AS _after FROM {counts}")
    change = f"{presence('_after')} - {presence('_after - _weight')}"
    changes = lowering.define(f"SELECT _case, _tick, {change} AS _weight FROM {totals}")
    return lowering.define(f"SELECT * FROM {changes} WHERE _weight <> 0")


def forget_groups_without_rows(start: int, counts: str, lowering: Lowering) -> None:
    """Of what the query's forms remember, drops the groups that end the call without a row."""
    there = lowering.define(f"SELECT _case FROM {counts} GROUP BY _case HAVING SUM(_weight) > 0")
    for place, past in enumerate(lowering.pasts[start:], start):
        if past.depth == lowering.depth:
            kept = f"SELECT a.* FROM {past.clause} a LEFT SEMI JOIN {there} b"
            lowering.remember(place, lowering.define(f"{kept} ON a._case = b._case"))
