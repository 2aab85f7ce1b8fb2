"""A premise that hardly an operator of a kind meets is seen on a few random ones of that kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from random import Random

from deltaproof.properties.law import Premise, Subject, subject_of
from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.operator import Operator
from deltaproof.reference.types import Column, Schema

SCHEMAS = tuple(
    map(
        Schema.parse,
        (
            "c BIGINT NOT NULL",
            "c TIMESTAMP",
            "c BIGINT, d BIGINT",
            "c VARCHAR, d BIGINT NOT NULL, e DATE",
            "c DOUBLE, d BOOLEAN, e DECIMAL(10,2), f ARRAY(BIGINT), g BIGINT",
        ),
    )
)
SEEDS = range(12)  # for each of the schemas
OFTEN = 0.1  # the share of the operators of a kind
MADE: dict[type[Operator], tuple[Subject, ...]] = {}


def instances(kind: type[Operator]) -> tuple[Subject, ...]:
    """Operators of this kind, the same whenever asked; none where it cannot say how to make one.

    >>> from deltaproof.reference.operators.negate import Negate
    >>> {str(each) for each in instances(Negate)}
    {'negate'}
    """
    if kind not in MADE:
        MADE[kind] = tuple(made(kind))
    return MADE[kind]


def made(kind: type[Operator]) -> Iterator[Subject]:
    for schema, seed in product(SCHEMAS, SEEDS):
        inputs = (schema, prefixed(schema))[: kind.arity]
        with suppress(DeltaproofError, NotImplementedError):
            operator = kind.sample(Random(seed), *inputs)
            if operator is not None:
                yield subject_of(operator, *inputs)


def prefixed(schema: Schema) -> Schema:
    """The same columns under other names, so that they may stand beside these."""
    return Schema(tuple(Column(f"other_{c.name}", c.type, c.nullable) for c in schema.columns))


def often_met(premise: Premise, kind: type[Operator]) -> bool:
    """Whether operators of this kind meet the premise, so many that a law may be tried on them.

    >>> from deltaproof.properties.law import LOOPS
    >>> from deltaproof.reference.operators.hop import Hop
    >>> from deltaproof.reference.operators.map import Map
    >>> often_met(LOOPS, Map), often_met(LOOPS, Hop)
    (True, False)
    """
    those = instances(kind)
    return sum(map(premise.holds, those)) >= OFTEN * len(those)
