"""What every operator obeys, and its increment: the square commutes at every tick."""

from __future__ import annotations

from typing import cast

from deltaproof.properties.law import (
    RESTARTS,
    STEPPED,
    TYPED,
    Equation,
    Streams,
    Subject,
    Tick,
    ZSets,
    law,
    run,
)
from deltaproof.properties.laws.words import plus, pruned, reversed_rows, row_in, spliced, total
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.stream import delay, differentiate, integrate, lift
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

# ── Every operator ──────────────────────────────────────────────────────────────────────────


@law("lifted", "Q(rows of a in reverse) = Q(a)", source="zset.py")
def operator_row_order_free(q: Subject, a: ZSets) -> Equation:
    """A Z-set has no order; a sum of doubles that depends on one is not a function."""
    return Equation(q.meaning(*map(reversed_rows, a)), q.meaning(*a))


@law("operator", "rows made canonical of Q(s) = Q(s)", source="types.py", provided=TYPED)
def operator_well_typed(q: Subject, s: Streams) -> Equation:
    """The schema rule is true of the rows, so the next operator may trust it."""
    schema, results = cast(Schema, q.output), q.contents(*s)
    fitted = [ZSet([(row_in(schema, row), w) for row, w in each.items()]) for each in results]
    return Equation(fitted, results)


@law("operator", "rows made canonical of Q^D(s) = Q^D(s)", source="types.py", provided=TYPED)
def increment_well_typed(q: Subject, s: Streams) -> Equation:
    """True is equal to 1 in Python and not in SQL: a change must be of the rows that it is of."""
    schema, results = cast(Schema, q.output), q.outputs(*s)
    fitted = [ZSet([(row_in(schema, row), w) for row, w in each.items()]) for each in results]
    return Equation(fitted, results)


@law("lifted", "a after Q(a) = a before", source="zset.py")
def operator_keeps_inputs(q: Subject, a: ZSets) -> Equation:
    """An input that two operators share must be the same for the second one."""
    before = tuple(ZSet(dict(each.items())) for each in a)
    q.meaning(*a)
    return Equation(a, before)


@law("time_invariant", "Q(0) = 0", source="DBSP (VLDB 2023) section 2; Lean: time_invariant_zpp")
def operator_zero_preserving(q: Subject) -> Equation:
    """Nothing in, nothing out: a view over an empty database needs no first tick to be right."""
    return Equation(q.contents(*([zero] for zero in q.zeros)), [ZSet()])


@law(
    "time_invariant",
    "Q(z(s)) = z(Q(s))",
    source="DBSP (VLDB 2023) definition 2.6; Lean: lifting_time_invariance",
)
def operator_time_invariant(q: Subject, s: Streams) -> Equation:
    """Lifting commutes with delay: an answer depends on the data, not on the hour."""
    delayed = tuple(map(delay, s))
    return Equation(q.contents(*delayed), delay(q.contents(*s)))


@law(
    "operator",
    "Q^D(s) = D(Q(I(s)))",
    source="DBSP (VLDB 2023) definition 3.1; Lean: incremental",
)
def increment_is_incremental(q: Subject, s: Streams) -> Equation:
    """The one claim: maintained and recomputed are the same view, at every tick."""
    recomputed = differentiate(q.contents(*map(integrate, s)))
    try:
        return Equation(q.outputs(*s), recomputed)
    except EvaluationError as error:  # where the meaning has a value, the increment has it too
        return Equation(f"no value: {error}", recomputed)


@law(
    "operator",
    "Q^D(D(s)) = D(Q(s))",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: D_push",
)
def increment_takes_changes(q: Subject, s: Streams) -> Equation:
    """Whoever has contents and whoever has changes may come to the same view from either end."""
    return Equation(q.outputs(*map(differentiate, s)), differentiate(q.contents(*s)))


@law("lifted", "Q^D(s) = (Q^D of its shape)(s)", source="operator.py; Lean: lti_incremental")
def increment_default_agrees(q: Subject, s: Streams) -> Equation:
    """The fast form may differ from the plain form in nothing but speed."""
    return Equation(q.outputs(*s), run(q.default(), s))


@law(
    "causal",
    "Q^D(s)[<=t] = Q^D(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: causal_incremental",
)
def increment_causal(q: Subject, s: Streams, r: Streams, t: Tick) -> Equation:
    """An answer given today may not depend on tomorrow, nor on a run before this one."""
    other = tuple(spliced(ours, theirs, t + 1) for ours, theirs in zip(s, r, strict=True))
    return Equation(q.outputs(*s)[: t + 1], q.outputs(*other)[: t + 1])


@law(
    "time_invariant",
    "Q^D(z(s)) = z(Q^D(s))",
    source="DBSP (VLDB 2023) definition 2.6; Lean: time_invariant",
)
def increment_time_invariant(q: Subject, s: Streams) -> Equation:
    """A stream that starts a tick later is answered a tick later, and not otherwise."""
    delayed = tuple(map(delay, s))
    return Equation(q.outputs(*delayed), delay(q.outputs(*s)))


@law("operator", "Q^D(0, 0, 0) = Q(0), 0, 0", source="aggregate.py; circuit.py")
def increment_of_zero(q: Subject) -> Equation:
    """Over no data a view is there from the first tick on, and is reported once."""
    nothing = tuple([zero] * 3 for zero in q.zeros)
    return Equation(q.outputs(*nothing), differentiate(q.contents(*nothing)))


@law(
    "operator",
    "Q^D(s, each tick tried with r first) = Q^D(s)",
    source="operator.py: Increment",
    provided=STEPPED,
)
def increment_step_only_reads(q: Subject, s: Streams, r: Streams) -> Equation:
    """A tick that fails elsewhere is never committed here, and must leave no trace."""
    increment = q.increment()
    outputs = []
    for deltas, tried in zip(zip(*s, strict=True), zip(*r, strict=True), strict=True):
        increment.step(*tried)
        outputs.append(increment.step(*deltas))
        increment.commit()
    return Equation(outputs, run(q.increment(), s))


@law(
    "operator",
    "Q^D(s), cleared after r = Q^D(s)",
    source="operator.py: Increment",
    provided=STEPPED,
)
def increment_clear_forgets(q: Subject, s: Streams, r: Streams) -> Equation:
    """After `clear` the next stream must not meet the rows of the last one."""
    increment = q.increment()
    run(increment, r)
    increment.clear()
    return Equation(run(increment, s), run(q.increment(), s))


@law(
    "operator", "Q^D(s), restored at t = Q^D(s)", source="operator.py: Increment", provided=RESTARTS
)
def increment_restores(q: Subject, s: Streams, t: Tick) -> Equation:
    """A restart from a checkpoint is not visible in any later answer."""
    return Equation(q.outputs_restarted(s, t), q.outputs(*s))


@law(
    "operator",
    "state after s and its undoing = state after 0",
    source="store.py: what cancels out takes no room",
    provided=STEPPED,
)
def increment_state_returns(q: Subject, s: Streams) -> Equation:
    """A stream of changes that cancel out must not fill the memory."""
    used, unused = q.increment(), q.increment()
    run(unused, tuple([zero] for zero in q.zeros))
    pause = [] if q.over_time is None else [ZSet()] * FORGOTTEN  # what is due later comes first
    run(used, tuple([*each, -total(each), *pause] for each in s))
    return Equation(pruned(used.save()), pruned(unused.save()))


FORGOTTEN = 9  # ticks; no sampled operator waits as long


# ── Operators over time ─────────────────────────────────────────────────────────────────────


@law(
    "over_time",
    "Q(s)[<=t] = Q(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: causal",
)
def operator_causal_over_time(q: Subject, s: Streams, r: Streams, t: Tick) -> Equation:
    """What is to come cannot change what was answered."""
    other = tuple(spliced(ours, theirs, t + 1) for ours, theirs in zip(s, r, strict=True))
    return Equation(q.contents(*s)[: t + 1], q.contents(*other)[: t + 1])


@law(
    "linear_over_time",
    "Q(s + r) = Q(s) + Q(r)",
    source="DBSP (VLDB 2023) definition 2.12; Lean: linear",
)
def operator_additive_over_time(q: Subject, s: Streams, r: Streams) -> Equation:
    """With time-invariance it gives Q^D = Q: changes go the way that contents go."""
    both = tuple(lift(plus)(ours, theirs) for ours, theirs in zip(s, r, strict=True))
    return Equation(q.contents(*both), lift(plus)(q.contents(*s), q.contents(*r)))


@law(
    "linear_over_time",
    "Q^D(s) = Q(s) over time",
    source="DBSP (VLDB 2023) theorem 3.3; Lean: lti_incremental",
)
def increment_is_operator_over_time(q: Subject, s: Streams) -> Equation:
    """Changes are delayed, added up and subtracted as contents are."""
    return Equation(q.outputs(*s), q.contents(*s))
