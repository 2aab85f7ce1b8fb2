"""What the code looks at: the weights of the row, the rows of the group, the order of the values.

`cutoffs` says that for operators of these kinds small tables decide; here the code is seen to be of
its kind.

    mentions    the weights in the term of an output row: those of the row itself, and no others
    alone       the results of a group: those of the code that is given the rows of the group only
    Compared    values that can be compared, and with which nothing else can be done
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.set_operation import KINDS, SetOperation
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.execution.cutoffs import weak_orders
from deltaproof.theorems.execution.forking import (
    Enumerated,
    enumerated,
    prove_each,
    prove_paths,
    refute_each,
)
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Stateless,
    Subject,
    cells,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    ProofError,
    Query,
    Term,
    Thm,
    subterms,
)
from deltaproof.theorems.registry import theorem

Related = Callable[[int, Row, Row], bool]  # number of the input, its row, row of the output
Key = Callable[[Row], Any]


# ---------------------------------------------------------------- row by row


def mentions(term: Term) -> set[str]:
    """The names of the weights in the term, after z3 has cancelled what cancels.

    >>> v, w = z3.Ints("v w")
    >>> mentions(v + w - v)
    {'w'}
    """
    constants = (each for each in subterms(z3.simplify(term)) if z3.is_const(each))
    return {str(each) for each in constants if each.decl().kind() == z3.Z3_OP_UNINTERPRETED}


def same_row(place: int, row: Row, result: Row) -> bool:
    return row == result


def local_to(subject: Subject, related: Related = same_row) -> Enumerated:
    """The term of every output row mentions the weights of related input rows and no others.

    Raises ProofError naming the row and the weight that does not belong to it.
    """
    started = perf_counter()
    found = cells(subject, subject.increment())
    for cell in found:
        own = {name for name, _, place, row in subject.weights() if related(place, row, cell.row)}
        if others := mentions(cell.output) - own:
            raise ProofError(f"{cell.name}: its weight depends on {', '.join(sorted(others))}")
    ms = (perf_counter() - started) * 1000
    return Enumerated((Query(f"{subject.name}: {len(found)} rows, each of its own", "read", ms),))


# ---------------------------------------------------------------- group by group


def alone(subject: Subject, key: Key, keys: Sequence[Key], group: Any) -> Subject:
    """The code's results of a group; what is meant are those of the code that is given it alone.

    `key` is the group of an output row, `keys` those of the rows of each input.
    """

    def of_group(zset: ZSet, of: Key) -> ZSet:
        return ZSet.trusted({row: w for row, w in zset.items() if of(row) == group})

    def of_this_group(*streams: list[ZSet]) -> list[ZSet]:
        increment, found = subject.increment(), []
        for deltas in zip(*map(differentiate, streams), strict=True):
            own = [of_group(delta, of) for delta, of in zip(deltas, keys, strict=True)]
            found.append(of_group(increment.step(*own), key))
            increment.commit()
        return integrate(found)

    return replace(
        subject,
        name=f"{subject.name}, group {group}",
        over_time=of_this_group,
        increment=lambda: Altered(subject.increment(), lambda out, *_: of_group(out, key)),
    )


# ---------------------------------------------------------------- by order


class Compared:
    """A value of which only the order is known.

    >>> Compared(1) < Compared(2), Compared(1) == Compared(1)
    (True, True)
    >>> Compared(1) + Compared(2)
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for +: 'Compared' and 'Compared'
    """

    __slots__ = ("_place",)

    def __init__(self, place: int) -> None:
        self._place = place

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and self._place == other._place

    def __lt__(self, other: Compared) -> bool:
        return self._place < other._place

    def __gt__(self, other: Compared) -> bool:
        return other < self

    def __le__(self, other: Compared) -> bool:
        return not other < self

    def __ge__(self, other: Compared) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(self._place)

    def __repr__(self) -> str:
        return f"value {self._place}"


def on_every_order(operator: Any, rows: int, ticks: int) -> Enumerated:
    """Right for every order of so many values, which the code can compare and nothing else.

    The rows are (number, value), all different. Raises ProofError where it does something else.
    """
    proofs = []
    for order in weak_orders(rows):
        subject = subject_of(operator, [("k BIGINT, v BIGINT", [])], ticks)
        values = tuple((number, Compared(place)) for number, place in enumerate(order))
        name = f"{subject.name}, values ordered {order}"
        try:
            proofs.append(prove_each(replace(subject, name=name, rows=(values,)), -1, 1))
        except TypeError as error:
            raise ProofError(f"{name}: the code does more than compare ({error})") from error
    return enumerated(*proofs)


# ---------------------------------------------------------------- wrong variants

VALUE = "k BIGINT, v BIGINT"
OTHER = "j BIGINT, w BIGINT"
ORDER = (Order(col("v")),)
ON = (("k", "j"),)


def first_column(row: Row) -> Any:
    return row[0]


def distinct_of_a_table_that_is_there() -> Counterexample:
    """Puts out rows only where the delta as a whole gains weight: it reads other rows."""
    subject = subject_of(Distinct(), [("k BIGINT", [(1,), (2,)])], 1)

    def where_it_gains(delta: ZSet) -> ZSet:
        total = sum((weight for _, weight in delta.items()), start=0)
        return ZSet.trusted({row: positive(w) * positive(total) for row, w in delta.items()})

    def wrong() -> Stateless:
        return Stateless(where_it_gains)

    caught(lambda: local_to(replace(subject, increment=wrong)), "depends on a(2,) at tick 1")
    return refute_code("a row is there where the table gains weight", subject, wrong)


def caught(check: Callable[[], object], words: str) -> None:
    """Raises ProofError unless the check fails with these words."""
    try:
        check()
    except ProofError as error:
        if words in str(error):
            return
        raise
    raise ProofError(f"a wrong operator was not caught: {words}")


def rank_of_all_groups() -> Counterexample:
    """Ranks over all rows where they were asked for by k: right on every table of one group."""
    ranks = [Rank("rank", "n", partition, ORDER) for partition in (("k",), ())]
    subject, wrong = (subject_of(each, [(VALUE, [(1, 3), (2, 5)])], 1) for each in ranks)
    own = alone(wrong, first_column, [first_column], 2)
    caught(lambda: prove_each(own, -1, 1), "wrong at tick 1")
    return refute_each("ranks over all rows", subject, wrong.increment, 0, 1)


def sum_of_compared_values() -> Counterexample:
    """SUM in place of MIN: right where all values but one are 0, and not decided by the order."""
    least, total = (
        Aggregate((), ((name, AggregateCall(name, col("v"))),)) for name in ("min", "sum")
    )
    caught(lambda: on_every_order(total, 1, 1), "does more than compare")
    subject, wrong = (subject_of(each, [(VALUE, [(1, 3), (1, 5)])], 1) for each in (least, total))
    return refute_each("SUM is decided by the order", subject, wrong.increment, 0, 1)


# ---------------------------------------------------------------- theorems


@theorem(
    statement="The code of distinct and the set operations reads, for a row, its own weights only",
    source="reference/operators/distinct.py, set_operation.py; used with `pointwise_cutoff`",
    scope="all integer weights; 3 rows per input, 3 ticks",
    wrong=(distinct_of_a_table_that_is_there,),
)
def locality_rows_code() -> Enumerated:
    rows: list[Row] = [(1,), (None,), (2,)]
    one, two = [("k BIGINT", rows)], [("k BIGINT", rows)] * 2
    subjects = [subject_of(operator, one, 3) for operator in (Distinct(), Positive())]
    subjects += [subject_of(SetOperation(kind), two, 3) for kind in KINDS]
    return enumerated(*map(local_to, subjects))


@theorem(
    statement="The code of grouped and keyed operators reads, for a group, the rows of that group",
    source="reference/operators/*.py; used with `grouped_cutoff`",
    scope="joins: all integer weights, others: -1000 to 1000 or -1 to 1; 2 groups, 2 ticks",
    wrong=(rank_of_all_groups,),
)
def locality_groups_code() -> Enumerated:
    """With two groups in the table, the code does for one what it does with that one alone."""
    V = col("v")
    calls = tuple((name, AggregateCall(name, V)) for name in ("count", "sum", "min"))
    rows, others = [(1, 3), (2, 5)], [(1, 4), (2, 4)]
    merged = [SemiJoin(ON), SemiJoin(ON, None, True), OuterJoin("left", ON)]
    forked = [Aggregate(("k",), calls), TopK(("k",), ORDER, 1), Rank("rank", "n", ("k",), ORDER)]
    each = [
        Lag(V, 1, "n", ("k",), ORDER),
        Rolling(calls, ("k",), ORDER, Frame("rows", 1, 0)),
        SessionWindow("v", 2, ("k",), "begins", "ends"),
    ]
    keyed = AsofJoin(ON, "v", "w", "left", False)
    proofs: list[Thm | Enumerated] = [
        prove_code(of_two(operator, [rows, others], group))
        for operator in merged
        for group in (1, 2)
    ]
    proofs += [prove_paths(of_two(operator, [rows], 2)) for operator in forked]
    proofs += [prove_each(of_two(operator, [rows], 2), -1, 1) for operator in each]
    proofs.append(prove_each(of_two(keyed, [rows, others[:1]], 1), -1, 1))
    return enumerated(*proofs)


def of_two(operator: Any, rows: Sequence[list[Row]], group: int) -> Subject:
    """The operator's results of one of two groups, by the first column of every row."""
    inputs = list(zip((VALUE, OTHER), rows, strict=False))
    subject = subject_of(operator, inputs, 2)
    return alone(subject, first_column, [first_column] * len(rows), group)


@theorem(
    statement="MIN, MAX, top-k, ranks and LAG only compare values, and are right for every order",
    source="reference/operators/*.py; used with `order_cutoff`",
    scope="weights from -1 to 1; all 13 orders of 3 values, 1 tick; all 3 orders of 2, 2 ticks",
    wrong=(sum_of_compared_values,),
)
def order_types_code() -> Enumerated:
    """The values are of a kind with which nothing can be done but to compare them."""
    extremes = Aggregate(
        (), tuple((name, AggregateCall(name, col("v"))) for name in ("min", "max"))
    )
    operators = [
        extremes,
        TopK((), ORDER, 2),
        Rank("rank", "n", (), ORDER),
        Rank("dense_rank", "n", (), ORDER),
        Rank("row_number", "n", (), ORDER),
        Lag(col("v"), 1, "n", (), ORDER),
    ]
    return enumerated(
        *[on_every_order(each, 3, 1) for each in operators],
        *[on_every_order(each, 2, 2) for each in operators],
    )
