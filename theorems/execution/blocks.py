"""A long order is kept in blocks, and where one is split or emptied nothing is lost.

`reference/ordered.py` and `reference/store.py` keep the rows of a group, and the values of an
aggregate, in blocks of hundreds. Here a block is full with one row, so that tables of a few rows
fill, split and empty them; the code is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import accumulate
from operator import add
from typing import Any
from unittest.mock import patch

from deltaproof.reference import ordered, store
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.ordered import Ordered
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import Enumerated, enumerated, prove_each, refute_each
from deltaproof.theorems.execution.symbolic import Steps, Subject, Within, subject_of
from deltaproof.theorems.kernel import Counterexample
from deltaproof.theorems.registry import theorem

ROWS: list[Row] = [(1, 2), (1, 4), (1, 6), (1, 8)]
CHANGED: list[Row] = [
    (1, 3),
    ROWS[1],
    ROWS[3],
]  # between two blocks, and in the midst and at the end
ORDER = (Order(col("v")),)


class SmallBlocks(ExitStack):
    """While this is entered a block is full with one row."""

    def __enter__(self) -> SmallBlocks:
        for module in (ordered, store):
            self.enter_context(patch.object(module, "BLOCK", 1))
        return self


def over_small_blocks(operator: Operator, rows: Sequence[Row], ticks: int = 2) -> Subject:
    """The run of the operator on a table of (k, v)."""
    subject = subject_of(operator, [("k BIGINT, v BIGINT", rows)], ticks)
    small = partial(Within, subject.increment, SmallBlocks())
    return replace(subject, name=f"{subject.name}, over small blocks", increment=small)


def after_ticks(subject: Subject, ticks: Sequence[ZSet]) -> Subject:
    """The run of what comes after these deltas of the one input; what they left is where it starts.

    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> later = after_ticks(over_small_blocks(Distinct(), ROWS[:1]), [ZSet({ROWS[0]: 2})])
    >>> later.meaning(ZSet({ROWS[0]: -1})), later.increment().step(ZSet({ROWS[0]: -2}))
    (ZSet({}), ZSet({(1, 2): -1}))
    """
    *_, table = accumulate(ticks, add)

    def started() -> Steps:
        increment = subject.increment()
        for delta in ticks:
            increment.step(delta)
            increment.commit()
        return increment

    def change(more: ZSet) -> ZSet:
        return subject.meaning(table + more) - subject.meaning(table)

    return replace(subject, meaning=change, increment=started)


def row_by_row(operator: Operator) -> Subject:
    """Four blocks, filled one by one; then three rows change, over two ticks."""
    return after_ticks(over_small_blocks(operator, CHANGED), [ZSet({row: 1}) for row in ROWS])


def operators() -> list[Operator]:
    calls = {name: AggregateCall(name, col("v")) for name in ("min", "max")}
    median = AggregateCall("quantile", col("v"), fraction=Decimal("0.5"))
    return [
        Rank("row_number", "n", (), ORDER),
        TopK((), ORDER, 2),
        Aggregate(("k",), (*calls.items(), ("median", median))),
    ]


def split_that_loses_a_block() -> Counterexample:
    """When a block is split, the last of all is lost."""
    insert: Callable[..., None] = Ordered._insert

    def losing(group: Any, block: int, place: int, entry: Any) -> None:
        before = len(group.blocks)
        insert(group, block, place, entry)
        if len(group.blocks) > max(before, 1):
            del group.blocks[-1], group.ends[-1], group.totals[-1]

    subject = row_by_row(operators()[0])
    wrong = partial(Within, subject.increment, patch.object(Ordered, "_insert", losing))
    return refute_each("a block is lost", subject, wrong, -1, 1)


@theorem(
    statement="Ranks, top-k, MIN, MAX and quantiles over blocks, as they run, are D ∘ Q ∘ I",
    source="reference/ordered.py, reference/store.py",
    scope="weights from -1 to 1; 3 rows, 2 ticks, at once or after 4 rows; blocks of 1 row",
    wrong=(split_that_loses_a_block,),
)
def order_blocks_code() -> Enumerated:
    """Blocks that are loaded, filled row by row, split and emptied."""
    subjects = [over_small_blocks(each, ROWS[:3]) for each in operators()]
    subjects += map(row_by_row, operators())
    return enumerated(*[prove_each(subject, -1, 1) for subject in subjects])
