"""ROW_NUMBER, RANK and DENSE_RANK over a range of ticks: in each snapshot, by running weights."""

from __future__ import annotations

from collections.abc import Sequence

from deltaproof.reference.operators.rank import Rank
from deltaproof.spark_backend.lowering import Lowering, Relation
from deltaproof.spark_backend.snapshots import (
    copies,
    from_tick_to_tick,
    snapshots,
    terms_of,
    whole_row,
    window,
)

PEERS = "RANGE BETWEEN CURRENT ROW AND CURRENT ROW"
UP_TO_PEERS = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def lower_rank(operator: Rank, rows: Relation, lowering: Lowering) -> Relation:
    """Each row, or each copy of it, with its place."""
    taken = snapshots(rows, operator.partition, lowering)
    terms = terms_of(operator.order, rows.schema, lowering)
    result = f"_c{len(rows.schema)}"
    if operator.function == "row_number":
        over = window(
            rows, operator.partition, [*terms, *whole_row(rows.schema)], "ROWS UNBOUNDED PRECEDING"
        )
        placed = lowering.define(f"SELECT *, SUM(_present) OVER {over} AS _end FROM {taken}")
        numbers = copies("_end - _present + 1L", "_end")
        found, weight = lowering.define(f"SELECT *, {numbers} AS {result} FROM {placed}"), "1L"
    else:
        number = PLACES[operator.function](operator, rows, terms)
        found, weight = lowering.define(f"SELECT *, {number} AS {result} FROM {taken}"), "_present"
    name = from_tick_to_tick(found, [*rows.columns, result], weight, lowering)
    schema = operator.output(rows.schema)
    return Relation(name, schema, consolidated=False)


def rank(operator: Rank, rows: Relation, terms: Sequence[str]) -> str:
    """1 + the weight of the rows before the peers: up to them, less their own."""
    if not terms:  # all are peers
        return "1L"
    so_far, own = (window(rows, operator.partition, terms, each) for each in (UP_TO_PEERS, PEERS))
    return f"1L + SUM(_present) OVER {so_far} - SUM(_present) OVER {own}"


def dense_rank(operator: Rank, rows: Relation, terms: Sequence[str]) -> str:
    """Every row has one line in a snapshot, so Spark's own count of peers is ours."""
    if not terms:
        return "1L"
    return f"CAST(DENSE_RANK() OVER {window(rows, operator.partition, terms)} AS BIGINT)"


PLACES = {"rank": rank, "dense_rank": dense_rank}
