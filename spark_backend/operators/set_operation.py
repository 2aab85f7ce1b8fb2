"""UNION, INTERSECT and EXCEPT over a range of ticks: each row's running weights on both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed

WeightOf: TypeAlias = Callable[..., str]  # a row's input weights, as text → its output weight


def there(weight: str) -> str:
    """Whether a row of this weight is there."""
    return f"{weight} > 0"


def copies(weight: str) -> str:
    """How often a row of this weight is there."""
    return f"GREATEST({weight}, 0L)"


def union(a: str, b: str) -> str:
    return f"IF({there(f'{a} + {b}')}, 1L, 0L)"


def intersect(a: str, b: str) -> str:
    return f"IF({there(a)} AND {there(b)}, 1L, 0L)"


def except_(a: str, b: str) -> str:
    return f"IF({there(a)} AND NOT {there(b)}, 1L, 0L)"


def intersect_all(a: str, b: str) -> str:
    return f"LEAST({copies(a)}, {copies(b)})"


def except_all(a: str, b: str) -> str:
    return copies(f"{copies(a)} - {copies(b)}")


KINDS: Mapping[str, WeightOf] = {
    "union": union,
    "intersect": intersect,
    "except": except_,
    "intersect_all": intersect_all,
    "except_all": except_all,
}


def lower_set_operation(
    operator: SetOperation, left: Relation, right: Relation, lowering: Lowering
) -> Relation:
    """The lines of both sides, each with a weight left and a weight right."""
    columns = listed("_case", "_tick", *left.columns)
    lines = lowering.define(
        f"SELECT {ONE_PARTITION} * FROM ("
        f"SELECT {columns}, _weight AS _a, 0L AS _b FROM {left.name} "
        f"UNION ALL SELECT {columns}, 0L AS _a, _weight AS _b FROM {right.name})"
    )
    weight_of = KINDS[operator.kind]
    name = rowwise_changes(lines, left.columns, ["_a", "_b"], weight_of, lowering)
    return Relation(name, operator.output(left.schema, right.schema), consolidated=True)


def rowwise_changes(
    lines: str,
    columns: Sequence[str],
    weights: Sequence[str],
    weight_of: WeightOf,
    lowering: Lowering,
) -> str:
    """What lines of input weights change in the output weight, a function of all of a row's."""
    row = listed("_case", *columns)
    sums = listed(*(f"SUM({name}) AS {name}" for name in weights))
    per_tick = f"SELECT {row}, _tick, {sums} FROM {lines} GROUP BY {row}, _tick"
    changes = lowering.with_past(lowering.define(per_tick), columns, weights)
    return running_changes(changes, columns, weights, weight_of, lowering)


def running_changes(
    changes: str,
    columns: Sequence[str],
    weights: Sequence[str],
    weight_of: WeightOf,
    lowering: Lowering,
) -> str:
    """At each line the output weight after it less the one before it; one line per row and tick."""
    row = listed("_case", *columns)
    running = listed(*(f"SUM({name}) OVER so_far AS _after{name}" for name in weights))
    totals = lowering.define(
        f"SELECT {row}, _tick, {listed(*weights)}, {running} FROM {changes} WINDOW so_far AS "
        f"(PARTITION BY {row} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    )
    after = weight_of(*(f"_after{name}" for name in weights))
    before = weight_of(*(f"(_after{name} - {name})" for name in weights))
    change = lowering.define(f"SELECT {row}, _tick, {after} - {before} AS _weight FROM {totals}")
    return lowering.define(f"SELECT * FROM {change} WHERE _weight <> 0 AND _tick > 0")
