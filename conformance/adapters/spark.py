"""Real Spark behind the protocol: `deltaproof.spark_backend`, its state carried from tick to tick.

The random cases of one query run side by side: every tick of every case in one job, or, where
`chunks` are drawn, in two jobs with the state carried between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from deltaproof.conformance.adapter import CAPABILITIES, Observed
from deltaproof.conformance.case import Stream, Tick
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.spark_backend.engine import Engine
from deltaproof.spark_backend.engine import run_many as run_streams
from deltaproof.spark_backend.lowering import own_form
from deltaproof.spark_backend.operators import FORMS
from deltaproof.spark_backend.session import describe, session


def not_on_spark() -> Iterator[str]:
    """The capabilities of operators that have no form on Spark."""
    for kind in OPERATORS:
        if kind not in FORMS:
            yield from kind.all_capabilities()


def kinds_in(query: Query) -> Iterator[type[Operator]]:
    """The kinds of its operators, and of those in the queries that they are made of."""
    for operator in query.operators():
        yield type(operator)
        match operator:
            case PerGroup():
                yield from kinds_in(operator.query)
            case Recursion():
                for body in operator.bodies.values():
                    yield from kinds_in(body)


class SparkBackend:
    """`deltaproof.spark_backend.engine.Engine`, on one SparkSession per process.

    Restart is not declared: the engine's state does not outlive its process yet.
    """

    name = "spark"
    capabilities = CAPABILITIES - {"restart", "sum.exact", "weights.huge", *not_on_spark()}
    tolerance = 1e-9  # SUM and AVG of DOUBLE are added in Spark's order
    takes_arrow = True  # a delta may be a pyarrow.Table

    def __init__(self) -> None:
        self.random = Random(7)  # where to cut a batch into chunks

    def describe(self) -> str:
        return describe()

    def refuses(self, query: Query) -> str | None:
        """Why an operator in it has no form; None when all have."""
        for kind in kinds_in(query):
            if kind not in FORMS:
                try:
                    own_form(kind)
                except UsageError as error:
                    return str(error)
        return None

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> SparkSession:
        return SparkSession(Engine(session(), views))

    def run_many(self, query: Query, streams: Sequence[Stream]) -> list[list[Observed]]:
        """All streams in one job, or in two: every third time, cut at a random tick."""
        ticks = max(map(len, streams), default=0)
        cut = self.random.randrange(1, ticks) if ticks > 1 and self.random.random() < 1 / 3 else 0
        chunks = [cut, ticks - cut] if cut else None
        outputs = run_streams(session(), query, streams, chunks)
        return [[Observed(None, delta) for delta in deltas] for deltas in outputs]


class SparkSession:
    """Views kept by Spark, one job per tick."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.deltas: Mapping[str, ZSet] = {}

    def step(self, deltas: Tick) -> None:
        self.deltas = self.engine.step(deltas)

    def step_many(self, ticks: Sequence[Tick]) -> list[dict[str, Observed]]:
        """Several ticks in one job: what each view put out at each."""
        outputs = self.engine.step_many(ticks)
        self.deltas = outputs[-1] if outputs else {}
        return [
            {view: Observed(None, delta) for view, delta in output.items()} for output in outputs
        ]

    def read(self, view: str) -> ZSet:
        return self.engine.contents()[view]

    def changes(self, view: str) -> ZSet:
        return self.deltas[view]

    def close(self) -> None:
        """Spark frees its memory of the ticks."""
        self.engine.close()
