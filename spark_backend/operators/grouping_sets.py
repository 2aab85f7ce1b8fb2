"""GROUPING SETS over a range of ticks: the GROUP BY of each set, side by side.

A key that a set lacks is NULL in its lines. Rows of two sets may be alike, unless the grouping
column tells them apart; then a row has lines of both.
"""

from __future__ import annotations

from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.spark_backend.lowering import Lowering, Relation, listed
from deltaproof.spark_backend.operators.aggregate import lower_aggregate
from deltaproof.spark_backend.scalar import spark_type


def lower_grouping_sets(operator: GroupingSets, rows: Relation, lowering: Lowering) -> Relation:
    """γ over several sets: the changes of all, in the columns of the output."""
    output = operator.output(rows.schema)
    if len(operator.sets) > 1:
        rows = lowering.share(rows)
    lines = [
        f"SELECT _case, _tick, {columns_of_set(operator, keys, rows)}, _weight FROM {part.name}"
        for keys, part in (
            (each.keys, lower_aggregate(each, rows, lowering)) for each in operator.parts
        )
    ]
    apart = operator.grouping is not None and len({*map(frozenset, operator.sets)}) == len(lines)
    name = lowering.define(" UNION ALL ".join(lines))
    return Relation(name, output, consolidated=apart or len(lines) == 1)


def columns_of_set(operator: GroupingSets, keys: tuple[str, ...], rows: Relation) -> str:
    """The output's columns from those of one set's GROUP BY: its keys, then the aggregates."""
    columns = [
        f"_c{keys.index(key)}" if key in keys else absent_key(rows, key) for key in operator.keys
    ]
    columns += [f"_c{len(keys) + n}" for n in range(len(operator.aggregates))]
    if operator.grouping is not None:
        columns.append(f"{grouping_mask(operator.keys, keys)}L")
    return listed(*(f"{text} AS _c{place}" for place, text in enumerate(columns)))


def absent_key(rows: Relation, key: str) -> str:
    return f"CAST(NULL AS {spark_type(rows.schema.column(key).type)})"


def grouping_mask(all_keys: tuple[str, ...], keys: tuple[str, ...]) -> int:
    """A bit for each key, the first the highest, set where the set lacks it."""
    return sum(1 << place for place, key in enumerate(reversed(all_keys)) if key not in keys)
