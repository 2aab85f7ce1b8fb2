"""A loop is maintained by the loop of the increments; a recursion ends in the least fixpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from deltaproof.properties.law import LOOPS, Equation, Streams, Subject, ZSets, law
from deltaproof.properties.laws.words import distinct, looped
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.operators.recursion_rules import entering_as_sets
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.zset import ZSet

# ── Feedback through a delay ────────────────────────────────────────────────────────────────


@law(
    "causal",
    "fix a. Q^D(s + z(a)) = D(fix a. Q(I(s) + z(a)))",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: cycle_incremental",
    provided=LOOPS,
)
def increment_cycle_rule(q: Subject, s: Streams) -> Equation:
    """A view that reads itself, a tick later, is maintained by the same loop of its increments."""
    contents = looped(q.contents, tuple(map(integrate, s)))
    return Equation(looped(q.outputs, s), differentiate(contents))


# ── Recursion ───────────────────────────────────────────────────────────────────────────────


@law(
    "recursion",
    "I(Q^D(s)) = the bodies, again and again from nothing, over I(s)",
    source="DBSP (VLDB 2023) equation 5.1; Lean: seminaive_equiv",
)
def recursion_seminaive(q: Subject, s: Streams) -> Equation:
    """Only what a tick changes in the course of the iteration is looked at, and that is enough."""
    operator = cast(Recursion, q.operator)
    contents = zip(*map(integrate, s), strict=True)
    return Equation(integrate(q.outputs(*s)), [naive(operator, each) for each in contents])


@law(
    "recursion",
    "distinct(body(Q(a))) = Q(a)",
    source="DBSP (VLDB 2023) theorem 5.4; Lean: recursive_fixpoint_ok",
)
def recursion_is_a_fixpoint(q: Subject, a: ZSets) -> Equation:
    """Nothing more follows from what was found, and whatever was found follows from something."""
    operator = cast(Recursion, q.operator)
    results = {
        name: q.another(replace(operator, result=name), *q.schemas).meaning(*a)
        for name, _ in operator.definitions
    }
    found = results | {operator.result: q.meaning(*a)}
    return Equation(iterated(operator, a, found)[operator.result], found[operator.result])


def naive(recursion: Recursion, contents: ZSets) -> ZSet:
    """The result of the bodies, evaluated again and again, from empty relations on."""
    relations = {name: ZSet() for name, _ in recursion.definitions}
    for _ in range(recursion.bound):
        following = iterated(recursion, contents, relations)
        if following == relations:
            return relations[recursion.result]
        relations = following
    raise EvaluationError(f"{recursion.result} does not come to an end")


def iterated(
    recursion: Recursion, contents: ZSets, relations: Mapping[str, ZSet]
) -> dict[str, ZSet]:
    """The set of the rows of each body over these relations."""
    names = {name for name, _ in recursion.definitions}
    tables = dict(zip(dict(recursion.tables), contents, strict=True))
    return {
        name: distinct(entering_as_sets(body, names).meaning()({**tables, **relations}))
        for name, body in recursion.definitions
    }
