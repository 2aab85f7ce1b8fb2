"""How large the tables and how long the streams are for which the code is proved in half a second.

    merged       all integer weights at once: one term per row and tick, one question for all
    paths        weights from -1000 to 1000: a run per path that they could send the code down
    enumerated   every weight from -1 to a small one: a run per combination

The theorems of chapter `code` run smaller sizes, so that the catalogue stays quick; here each
operator is run at the size written below, which `largest` found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from time import perf_counter
from typing import Any, Literal, TypeAlias

import z3
from rich.table import Table

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.logic import Branch, Logic
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.order import Order
from deltaproof.reference.query import Apply, recursion, table
from deltaproof.reference.query import count as count_rows
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall, Frame
from deltaproof.reference.types import Row
from deltaproof.theorems.execution.forking import all_deltas, prove_each, prove_paths
from deltaproof.theorems.execution.symbolic import Subject, cells, subject_of
from deltaproof.theorems.kernel import ProofError

Mode: TypeAlias = Literal["merged", "paths", "enumerated"]
MakeRow: TypeAlias = Callable[[int], Row]  # from the number of the row


def keyed(groups: int) -> MakeRow:
    """Rows of so many groups: (key, value), all different."""
    return lambda number: (number % groups, number)


@dataclass(frozen=True)
class Support:
    """An operator, the tables it reads, and the size that half a second allows."""

    operator: Operator
    mode: Mode
    inputs: tuple[tuple[str, MakeRow], ...]  # columns and rows
    rows: int  # per input
    ticks: int
    high: int = 1  # the greatest weight, where each is run

    def subject(self) -> Subject:
        tables = [
            (columns, [make(number) for number in range(self.rows)])
            for columns, make in self.inputs
        ]
        return subject_of(self.operator, tables, self.ticks)

    @property
    def scope(self) -> str:
        """Which weights the run stands for."""
        return {
            "merged": "all integers",
            "paths": "-1000 to 1000",
            "enumerated": f"-1 to {self.high}",
        }[self.mode]


@dataclass(frozen=True)
class SupportRun:
    """What the run of one operator at its size showed.

    `cells` are rows times ticks of the output where weights are merged, else the paths or the
    combinations of weights that were run.
    """

    operator: str
    mode: Mode
    rows: tuple[int, ...]  # per input
    ticks: int
    cells: int
    build_ms: float  # running the code
    z3_ms: float
    scope: str
    error: str = ""

    @property
    def holds(self) -> bool:
        return not self.error

    @property
    def ms(self) -> float:
        return self.build_ms + self.z3_ms

    def to_json(self) -> dict[str, Any]:
        timed = {"build_ms": round(self.build_ms, 1), "z3_ms": round(self.z3_ms, 1)}
        return {**asdict(self), **timed, "holds": self.holds}


V = col("v")
ORDER = (Order(V),)
PAIRS = "k BIGINT, v BIGINT"
OTHERS = "j BIGINT, w BIGINT"
ONE = (PAIRS, keyed(1))
FOUR_KEYS = ((PAIRS, keyed(4)), (OTHERS, keyed(4)))
ON = (("k", "j"),)


def calls(*functions: str) -> tuple[tuple[str, AggregateCall], ...]:
    return tuple((f, AggregateCall(f, None if f == "count_star" else V)) for f in functions)


def closure() -> Operator:
    """Transitive closure, one step at a time."""
    edges = table("edges", "a BIGINT, b BIGINT")
    known = table("known", "a BIGINT, b BIGINT")
    longer = known.join(edges.prefix("next_"), on={"b": "next_a"})
    query = recursion("known", {"known": edges.union_all(longer.map(a=col("a"), b=col("next_b")))})
    if not isinstance(query, Apply):
        raise ProofError(f"expected one operator, got {query}")
    return query.operator


def present_values() -> Operator:
    """Per k, how many different values there are."""
    counted = table("t", PAIRS).project("v").distinct().aggregate(n=count_rows())
    return PerGroup(("k",), counted)


SUPPORTS: tuple[Support, ...] = (
    Support(Filter(V > 5), "merged", (ONE,), 96, 8),
    Support(Map((("k", col("k")),)), "merged", ((PAIRS, keyed(4)),), 96, 8),
    Support(
        FlatMap(col("tags"), "tag"),
        "merged",
        (("k BIGINT, tags ARRAY(BIGINT)", lambda number: (number, (number, number, None))),),
        64,
        8,
    ),
    Support(Hop("v", 4, 2, "begins", "ends"), "merged", (ONE,), 96, 8),
    Support(
        Logic((Branch((("x", col("k")),), weight=V), Branch((("x", V),), delay=1))),
        "merged",
        (ONE,),
        96,
        8,
    ),
    Support(UnionAll(), "merged", (ONE, ONE), 96, 8),
    Support(Negate(), "merged", (ONE,), 96, 8),
    Support(Delay(2), "merged", (ONE,), 96, 8),
    Support(Integrate(), "merged", (ONE,), 96, 8),
    Support(Differentiate(), "merged", (ONE,), 96, 8),
    Support(Join(ON), "merged", FOUR_KEYS, 24, 8),
    Support(
        TemporalFilter(col("a"), col("b")),
        "merged",
        (
            ("a BIGINT, b BIGINT", lambda number: (number, number + 3)),
            ("now BIGINT", lambda number: (number,)),
        ),
        64,
        4,
    ),
    Support(Distinct(), "merged", (ONE,), 64, 8),
    Support(Positive(), "merged", (ONE,), 64, 8),
    Support(SetOperation("except"), "merged", (ONE, ONE), 64, 4),
    Support(SetOperation("except_all"), "merged", (ONE, ONE), 96, 2),
    Support(SetOperation("intersect_all"), "merged", (ONE, ONE), 48, 4),
    Support(SemiJoin(ON), "merged", FOUR_KEYS, 64, 2),
    Support(SemiJoin(ON, None, True), "merged", FOUR_KEYS, 64, 2),
    Support(OuterJoin("left", ON), "merged", FOUR_KEYS, 32, 2),
    Support(OuterJoin("full", ON, col("w") > V), "merged", FOUR_KEYS, 16, 8),
    Support(Distinct(), "paths", (ONE,), 2, 2),
    Support(Join(ON), "paths", ((PAIRS, keyed(1)), (OTHERS, keyed(1))), 3, 1),
    Support(
        AsofJoin(ON, "v", "w", "left", False),
        "paths",
        ((PAIRS, keyed(1)), (OTHERS, keyed(1))),
        3,
        1,
    ),
    Support(Aggregate(("k",), calls("count_star", "count")), "paths", (ONE,), 2, 2),
    Support(Aggregate(("k",), calls("sum")), "paths", (ONE,), 2, 2),
    Support(Aggregate(("k",), calls("avg")), "paths", (ONE,), 2, 2),
    Support(Aggregate(("k",), calls("min", "max")), "paths", (ONE,), 2, 2),
    Support(GroupingSets((("k",), ()), calls("sum"), "g"), "paths", ((PAIRS, keyed(2)),), 2, 2),
    Support(TopK((), ORDER, 1), "paths", (ONE,), 2, 2),
    Support(Rank("rank", "n", (), ORDER), "paths", (ONE,), 2, 2),
    Support(Rank("dense_rank", "n", (), ORDER), "paths", (ONE,), 2, 2),
    Support(SessionWindow("v", 1, ("k",), "begins", "ends"), "paths", (ONE,), 2, 2),
    Support(
        Aggregate(("k",), (("median", AggregateCall("quantile", V, fraction=Decimal("0.5"))),)),
        "enumerated",
        (ONE,),
        4,
        2,
    ),
    Support(Rank("row_number", "n", (), ORDER), "enumerated", (ONE,), 4, 2),
    Support(Lag(V, 1, "p", (), ORDER), "enumerated", (ONE,), 3, 2),
    Support(Rolling(calls("sum"), ("k",), ORDER, Frame("rows", 1, 0)), "enumerated", (ONE,), 3, 2),
    Support(Rolling(calls("sum"), ("k",), ORDER, Frame("range", 2, 0)), "enumerated", (ONE,), 3, 2),
    Support(closure(), "enumerated", (("a BIGINT, b BIGINT", lambda n: (n, (n + 1) % 3)),), 4, 2),
    Support(present_values(), "enumerated", ((PAIRS, keyed(2)),), 4, 2),
)


# ---------------------------------------------------------------- running them


def run(support: Support) -> SupportRun:
    """The support at its size; what is wrong is in the result, not raised."""
    subject = support.subject()
    sizes = tuple(len(rows) for rows in subject.rows)
    found = SupportRun(subject.name, support.mode, sizes, support.ticks, 0, 0, 0, support.scope)
    started = perf_counter()
    try:
        count, z3_ms = RUNS[support.mode](support, subject)
    except ProofError as error:
        return replace(found, build_ms=(perf_counter() - started) * 1000, error=str(error))
    build_ms = (perf_counter() - started) * 1000 - z3_ms
    return replace(found, cells=count, build_ms=build_ms, z3_ms=z3_ms)


def run_merged(support: Support, subject: Subject) -> tuple[int, float]:
    """(cells, ms that z3 took). All cells are one question: is one of them wrong."""
    found = cells(subject, subject.increment())
    if not found:
        raise ProofError(f"{subject.name}: the run has no output, so it proves nothing")
    started = perf_counter()
    solver = by_normal_forms()
    solver.add(z3.Or([cell.output != cell.expected for cell in found]))
    verdict = solver.check()
    if verdict == z3.sat:
        model = solver.model()
        wrong = next(c for c in found if not z3.is_true(model.eval(c.output == c.expected, True)))
        raise ProofError(f"{wrong.name}: wrong where {model}", model)
    if verdict == z3.unknown:
        raise ProofError(f"{subject.name}: z3 gave up ({solver.reason_unknown()})")
    return len(found), (perf_counter() - started) * 1000


def by_normal_forms() -> Any:
    """A solver that multiplies products of sums out first: both sides are then the same sum."""
    sums = z3.With("simplify", som=True, som_blowup=1_000_000)
    return z3.Then(sums, "smt").solver()


def run_paths(support: Support, subject: Subject) -> tuple[int, float]:
    """(paths, ms that z3 took to see that there are no others)."""
    proof = prove_paths(subject)
    return int(proof.name.split(": ")[-1].split()[0]), sum(query.ms for query in proof.queries)


def run_each(support: Support, subject: Subject) -> tuple[int, float]:
    """(combinations, 0: nothing is asked of z3)."""
    prove_each(subject, -1, support.high)
    return len(all_deltas(subject, -1, support.high)) ** subject.ticks, 0.0


RUNS: dict[Mode, Callable[[Support, Subject], tuple[int, float]]] = {
    "merged": run_merged,
    "paths": run_paths,
    "enumerated": run_each,
}


def run_supports(
    progress: Callable[[str, int, int], None] = lambda operator, done, total: None,
    supports: Sequence[Support] = SUPPORTS,
) -> list[SupportRun]:
    """Every operator at its size; `progress` hears of each before it is run."""
    runs = []
    for done, support in enumerate(supports):
        progress(support.operator.name, done, len(supports))
        runs.append(run(support))
    return runs


def support_table(runs: Sequence[SupportRun]) -> Table:
    """A line per operator: on what it was run and what that took."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "operator", "mode", "weights"):
        grid.add_column(heading, overflow="fold")
    for heading in ("rows", "ticks", "cells", "run ms", "z3 ms"):
        grid.add_column(heading, justify="right")
    for each in runs:
        grid.add_row(
            "✓" if each.holds else "✗",
            each.operator + (f"\n{each.error}" if each.error else ""),
            each.mode,
            each.scope,
            "+".join(map(str, each.rows)),
            str(each.ticks),
            f"{each.cells:,}",
            f"{each.build_ms:.0f}",
            f"{each.z3_ms:.0f}",
        )
    return grid


# ---------------------------------------------------------------- finding the sizes

SIZES: dict[Mode, tuple[tuple[int, ...], tuple[int, ...]]] = {  # rows per input, ticks
    "merged": ((1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96), (2, 4, 8)),
    "paths": ((1, 2, 3), (1, 2, 3, 4)),
    "enumerated": ((1, 2, 3, 4), (1, 2, 3)),
}


def largest(support: Support, ms: float = 500) -> Support:
    """The size with the most weights, then rows, of those that take so long at most, twice."""
    rows, ticks = SIZES[support.mode]
    best, most = support, (0, 0)
    for length in ticks:
        for count in rows:
            size = replace(support, rows=count, ticks=length)
            found = max((run(size) for _ in range(2)), key=lambda run: run.ms)
            if found.ms > ms:
                break
            if found.holds and (count * length, count) > most:
                best, most = size, (count * length, count)
    return best
