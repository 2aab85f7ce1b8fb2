"""An operator that says its shape and no more has an increment already, and it is right if the
shape is: a new operator is correct before it is fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deltaproof.reference.operator import Operator, Shape, increment_of_shape
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row, Schema
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import Subject, prove_code, refute_code, subject_of
from deltaproof.theorems.kernel import Counterexample, Thm, both
from deltaproof.theorems.registry import theorem

LEFT = ("k BIGINT, v BIGINT", [(1, 10), (None, 12)])
RIGHT = ("j BIGINT, w BIGINT", [(1, 20), (None, 22)])
ON = (("k", "j"),)


def default_subject(
    operator: Operator, shape: Shape, inputs: Sequence[tuple[str, list[Row]]] = (LEFT, RIGHT)
) -> Subject:
    """The run of the increment that the shape gives the operator, whatever it overrides."""
    tables = inputs[: operator.inputs()]
    schemas = [Schema.parse(columns) for columns, _ in tables]
    meaning = operator.meaning(*schemas)
    subject = subject_of(operator, tables, 2)
    name = f"{shape.value} {operator.label()}"
    return replace(
        subject, name=name, increment=lambda: increment_of_shape(shape, meaning, schemas)
    )


def distinct_said_to_be_linear() -> Counterexample:
    wrong = default_subject(Distinct(), Shape.LINEAR)
    return refute_code("distinct is linear", wrong, wrong.increment)


def semi_join_said_to_be_bilinear() -> Counterexample:
    wrong = default_subject(SemiJoin(ON), Shape.BILINEAR)
    return refute_code("semi join is bilinear", wrong, wrong.increment)


@theorem(
    statement="the increments of the shapes linear, bilinear, general, as they run, are D ∘ Q ∘ I",
    source="reference/operator.py",
    scope="all integer weights; 2+2 rows, 2 ticks",
    wrong=(distinct_said_to_be_linear, semi_join_said_to_be_bilinear),
)
def default_increments_code() -> Thm:
    """Each for an operator of this shape; the general one also for those of the others."""
    runs: tuple[tuple[Operator, Shape], ...] = (
        (Map((("k", col("k")),)), Shape.LINEAR),
        (Join(ON), Shape.BILINEAR),
        (Distinct(), Shape.GENERAL),
        (SemiJoin(ON), Shape.GENERAL),
        (Join(ON), Shape.GENERAL),
    )
    merged = [prove_code(default_subject(*run)) for run in runs]
    one_row = [(columns, rows[:1]) for columns, rows in (LEFT, RIGHT)]
    forked = [prove_paths(default_subject(*run, one_row)) for run in runs[1:3]]
    return both("the increment of a shape", *merged, *forked)
