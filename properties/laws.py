"""An operator obeys the laws of its shape, without listing them.

    laws_of    the laws of an operator, found from its declaration
    CATALOGUE  every law there is: whatever law stands in this file is in it

In the statements, z is delay, I integrate, D differentiate, Q an operator (at every tick),
and Q^D its incremental form. a, b are Z-sets, s, r streams, n, m numbers; s[<t] is the
stream before tick t, s[<=t] with it; ticks count from 0. The docstring of a law is its "why".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from deltaproof.properties.law import (
    LIFTED,
    STEPPED,
    TYPED,
    ZERO_PRESERVING,
    Bags,
    Equation,
    Factor,
    Law,
    Left,
    LeftStream,
    Right,
    RightStream,
    Size,
    Stream,
    Streams,
    Subject,
    Tick,
    Ticks,
    ZSets,
    law,
    run,
    subject_of,
)
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import DeltaproofError, RowError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.logic import Logic, keeping
from deltaproof.reference.query import Apply, Query, table
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.stream import delay, differentiate, incremental, integrate, lift
from deltaproof.reference.types import Row, Schema, key_function
from deltaproof.reference.zset import ZSet, positive

__all__ = ["CATALOGUE", "Equation", "Law", "Subject", "law", "laws_of", "subject_of"]

# ── Z-sets are an abelian group, and a module over the integers ─────────────────────────────

GROUP = "DBSP (VLDB 2023) section 4; Lean: zset_group"


@law("zset", "(a + b) + c = a + (b + c)", source=GROUP)
def zset_add_associative(a: ZSet, b: ZSet, c: ZSet) -> Equation:
    """A batch of changes may be cut anywhere."""
    return Equation((a + b) + c, a + (b + c))


@law("zset", "a + b = b + a", source=GROUP)
def zset_add_commutes(a: ZSet, b: ZSet) -> Equation:
    """The order in which changes arrive within a tick means nothing."""
    return Equation(a + b, b + a)


@law("zset", "a + 0 = a", source=GROUP)
def zset_zero_identity(a: ZSet) -> Equation:
    """A tick without changes changes nothing."""
    return Equation(a + ZSet(), a)


@law("zset", "a + (-a) = 0", source=GROUP)
def zset_negate_inverse(a: ZSet) -> Equation:
    """Whatever was inserted can be deleted, and then nothing of it is left."""
    return Equation(a + (-a), ZSet())


@law("zset", "a - b = a + (-b)", source=GROUP)
def zset_subtract_adds_negation(a: ZSet, b: ZSet) -> Equation:
    """The change from b to a, when added to b, gives a."""
    return Equation(a - b, a + (-b))


@law("zset", "n(a + b) = na + nb", source=GROUP)
def zset_scale_distributes(a: ZSet, b: ZSet, n: Factor) -> Equation:
    """Weights multiply in a join, and must do so row by row."""
    return Equation((a + b).scale(n), a.scale(n) + b.scale(n))


@law("zset", "(n + m)a = na + ma", source=GROUP)
def zset_scale_adds(a: ZSet, n: Factor, m: Factor) -> Equation:
    """A row of weight 2 is that row twice."""
    return Equation(a.scale(n + m), a.scale(n) + a.scale(m))


@law("zset", "ZSet(entries of a and of b) = a + b", source=GROUP)
def zset_entries_add_up(a: ZSet, b: ZSet) -> Equation:
    """Two Z-sets are the same change exactly when they are equal, however they were written."""
    return Equation(ZSet([*a.items(), *b.items()]), a + b)


# ── Streams: I and D are inverse, linear, causal and time-invariant ─────────────────────────

INVERSE = "DBSP (VLDB 2023) theorem 2.20; Lean: integral_derivative, derivative_integral"
I_LTI = "DBSP (VLDB 2023) proposition 2.19; Lean: integral_lti"
D_LTI = "DBSP (VLDB 2023) proposition 2.16; Lean: derivative_lti"


@law("stream", "D(I(s)) = s", source=INVERSE)
def integrate_differentiate_inverse(s: Stream) -> Equation:
    """The changes can be read off the contents."""
    return Equation(differentiate(integrate(s)), s)


@law("stream", "I(D(s)) = s", source=INVERSE)
def differentiate_integrate_inverse(s: Stream) -> Equation:
    """The contents can be rebuilt from the changes: nothing is lost by sending only those."""
    return Equation(integrate(differentiate(s)), s)


@law(
    "stream", "I(s) = s + z(I(s))", source="DBSP (VLDB 2023) definition 2.17; Lean: integral_unfold"
)
def integrate_recursive(s: Stream) -> Equation:
    """The contents now are the contents before plus the change: one addition per tick is enough."""
    before = delay(integrate(s))
    return Equation(integrate(s), lift(plus)(s, before))


@law("stream", "D(s) = s - z(s)", source="DBSP (VLDB 2023) definition 2.15; Lean: D")
def differentiate_definition(s: Stream) -> Equation:
    """The change is now minus before, and everything is new at the first tick."""
    return Equation(
        differentiate(s), [now - before for now, before in zip(s, delay(s), strict=True)]
    )


@law("stream", "I(s + r) = I(s) + I(r)", source=I_LTI)
def integrate_additive(s: Stream, r: Stream) -> Equation:
    """Contents may be kept in parts."""
    return Equation(integrate(lift(plus)(s, r)), lift(plus)(integrate(s), integrate(r)))


@law("stream", "D(s + r) = D(s) + D(r)", source=D_LTI)
def differentiate_additive(s: Stream, r: Stream) -> Equation:
    """Changes of parts may be computed apart."""
    both = differentiate(lift(plus)(s, r))
    return Equation(both, lift(plus)(differentiate(s), differentiate(r)))


@law(
    "stream",
    "z(s + r) = z(s) + z(r)",
    source="DBSP (VLDB 2023) definition 2.12; Lean: delay_linear",
)
def delay_additive(s: Stream, r: Stream) -> Equation:
    """To wait is to do nothing to the data."""
    return Equation(delay(lift(plus)(s, r)), lift(plus)(delay(s), delay(r)))


@law("stream", "I(z(s)) = z(I(s))", source=I_LTI)
def integrate_time_invariant(s: Stream) -> Equation:
    """When a stream starts does not matter, only what came before."""
    return Equation(integrate(delay(s)), delay(integrate(s)))


@law("stream", "D(z(s)) = z(D(s))", source=D_LTI)
def differentiate_time_invariant(s: Stream) -> Equation:
    """When a stream starts does not matter, only what came before."""
    return Equation(differentiate(delay(s)), delay(differentiate(s)))


@law(
    "stream",
    "z(s)[<=t] = z(s[<t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.8; Lean: delay_strict",
)
def delay_strict(s: Stream, r: Stream, t: Tick) -> Equation:
    """Strict: today's output needs no input of today, so a loop through z has one solution."""
    return Equation(delay(s)[: t + 1], delay(spliced(s, r, t))[: t + 1])


@law(
    "stream",
    "I(s)[<=t] = I(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: integral_causal",
)
def integrate_causal(s: Stream, r: Stream, t: Tick) -> Equation:
    """What is to come cannot change what was answered."""
    return Equation(integrate(s)[: t + 1], integrate(spliced(s, r, t + 1))[: t + 1])


@law(
    "stream",
    "D(s)[<=t] = D(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: derivative_causal",
)
def differentiate_causal(s: Stream, r: Stream, t: Tick) -> Equation:
    """What is to come cannot change what was answered."""
    return Equation(differentiate(s)[: t + 1], differentiate(spliced(s, r, t + 1))[: t + 1])


# ── Every operator ──────────────────────────────────────────────────────────────────────────


@law("operator", "Q(rows of a in reverse) = Q(a)", source="zset.py", provided=LIFTED)
def operator_row_order_free(q: Subject, a: ZSets) -> Equation:
    """A Z-set has no order; a sum of doubles that depends on one is not a function."""
    reverse = tuple(ZSet.trusted(dict(reversed(list(each.items()))), each.schema) for each in a)
    return Equation(q.meaning(*reverse), q.meaning(*a))


@law("operator", "rows made canonical of Q(s) = Q(s)", source="types.py", provided=TYPED)
def operator_well_typed(q: Subject, s: Streams) -> Equation:
    """The schema rule is true of the rows, so the next operator may trust it."""
    schema, results = cast(Schema, q.output), q.contents(*s)
    fitted = [ZSet([(row_in(schema, row), w) for row, w in each.items()]) for each in results]
    return Equation(fitted, results)


@law("operator", "a after Q(a) = a before", source="zset.py", provided=LIFTED)
def operator_keeps_inputs(q: Subject, a: ZSets) -> Equation:
    """An input that two operators share must be the same for the second one."""
    before = tuple(ZSet(dict(each.items())) for each in a)
    q.meaning(*a)
    return Equation(a, before)


@law(
    "operator",
    "Q(0) = 0",
    source="DBSP (VLDB 2023) section 2; Lean: time_invariant_zpp",
    provided=ZERO_PRESERVING,
)
def operator_zero_preserving(q: Subject) -> Equation:
    """Nothing in, nothing out: a view over an empty database needs no first tick to be right."""
    return Equation(q.contents(*([zero] for zero in q.zeros)), [ZSet()])


@law(
    "operator",
    "Q(z(s)) = z(Q(s))",
    source="DBSP (VLDB 2023) definition 2.6; Lean: lifting_time_invariance",
    provided=ZERO_PRESERVING,
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
    return Equation(q.outputs(*s), differentiate(q.contents(*map(integrate, s))))


@law(
    "operator",
    "Q^D(s) = (Q^D of its shape)(s)",
    source="operator.py; Lean: lti_incremental",
    provided=LIFTED,
)
def increment_default_agrees(q: Subject, s: Streams) -> Equation:
    """The fast form may differ from the plain form in nothing but speed."""
    return Equation(q.outputs(*s), run(q.default(), s))


@law(
    "operator",
    "Q^D(s)[<=t] = Q^D(s[<=t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.7; Lean: causal_incremental",
)
def increment_causal(q: Subject, s: Streams, r: Streams, t: Tick) -> Equation:
    """An answer given today may not depend on tomorrow, nor on a run before this one."""
    other = tuple(spliced(ours, theirs, t + 1) for ours, theirs in zip(s, r, strict=True))
    return Equation(q.outputs(*s)[: t + 1], q.outputs(*other)[: t + 1])


@law(
    "operator",
    "Q^D(z(s)) = z(Q^D(s))",
    source="DBSP (VLDB 2023) definition 2.6; Lean: time_invariant",
    provided=ZERO_PRESERVING,
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
    "Q^D(s, with a zero after t) = Q^D(s), with a zero after t",
    source="circuit.py: a zero delta changes nothing after tick one",
    provided=LIFTED,
)
def increment_skips_zero(q: Subject, s: Streams, t: Tick) -> Equation:
    """The runtime does not run an operator whose inputs did not change."""
    paused = tuple([*each[: t + 1], ZSet(), *each[t + 1 :]] for each in s)
    outputs = q.outputs(*s)
    return Equation(q.outputs(*paused), [*outputs[: t + 1], ZSet(), *outputs[t + 1 :]])


@law(
    "operator",
    "sum of Q^D(s) = Q^D(sum of s)",
    source="DBSP (VLDB 2023) definition 3.1",
    provided=LIFTED,
)
def increment_merges_ticks(q: Subject, s: Streams) -> Equation:
    """A day's changes give the same view in one batch or in many."""
    merged = tuple([total(each)] for each in s)
    return Equation(total(q.outputs(*s)), total(q.outputs(*merged)))


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
    "operator", "Q^D(s), restored at t = Q^D(s)", source="operator.py: Increment", provided=STEPPED
)
def increment_restores(q: Subject, s: Streams, t: Tick) -> Equation:
    """A restart from a checkpoint is not visible in any later answer."""
    first, rest = ahead(s, t), after(s, t)
    original = q.increment()
    outputs = run(original, first)
    restored = q.increment()
    if t:  # before the first tick there is no state to save
        restored.restore(json.loads(json.dumps(original.save())))
    return Equation(outputs + run(restored, rest), run(q.increment(), s))


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


# ── Linear operators ────────────────────────────────────────────────────────────────────────

LINEAR = "DBSP (VLDB 2023) definition 2.12; Lean: linear"
LTI = "DBSP (VLDB 2023) theorem 3.3; Lean: lti_incremental"


@law("linear", "Q(a + b) = Q(a) + Q(b)", source=LINEAR, provided=LIFTED)
def operator_additive(q: Subject, a: ZSets, b: ZSets) -> Equation:
    """From it follows Q^D = Q: a change alone is enough to know the output's change."""
    return Equation(q.meaning(*map(plus, a, b)), q.meaning(*a) + q.meaning(*b))


@law(
    "linear",
    "Q(-a) = -Q(a)",
    source="DBSP (VLDB 2023) definition 2.12; Lean: linear_neg",
    provided=LIFTED,
)
def operator_odd(q: Subject, a: ZSets) -> Equation:
    """A deletion is an insertion with the other sign, and needs no code of its own."""
    return Equation(q.meaning(*[-each for each in a]), -q.meaning(*a))


@law("linear", "Q(n a) = n Q(a)", source=LINEAR, provided=LIFTED)
def operator_homogeneous(q: Subject, a: ZSets, n: Factor) -> Equation:
    """Duplicates go through with their weight, not one by one."""
    return Equation(q.meaning(*[each.scale(n) for each in a]), q.meaning(*a).scale(n))


@law(
    "linear",
    "Q(I(s)) = I(Q(s))",
    source="DBSP (VLDB 2023) theorem 3.3; Lean: integral_lift_comm",
    provided=LIFTED,
)
def operator_commutes_with_integrate(q: Subject, s: Streams) -> Equation:
    """It makes no difference whether contents or changes go through a linear operator."""
    return Equation(lift(q.meaning)(*map(integrate, s)), integrate(lift(q.meaning)(*s)))


@law("linear", "Q^D(s) = Q(s)", source=LTI, provided=LIFTED)
def increment_is_operator(q: Subject, s: Streams) -> Equation:
    """A linear operator is its own increment and needs no state."""
    return Equation(q.outputs(*s), lift(q.meaning)(*s))


# ── Bilinear operators ──────────────────────────────────────────────────────────────────────

BILINEAR = "DBSP (VLDB 2023) definition 2.13; Lean: bilinear"


@law("bilinear", "Q(a + a', b) = Q(a, b) + Q(a', b)", source=BILINEAR)
def operator_left_additive(q: Subject, a: Left, more: Left, b: Right) -> Equation:
    """The delta rule da x b + a x db + da x db is derived from it."""
    return Equation(q.meaning(a + more, b), q.meaning(a, b) + q.meaning(more, b))


@law("bilinear", "Q(a, b + b') = Q(a, b) + Q(a, b')", source=BILINEAR)
def operator_right_additive(q: Subject, a: Left, b: Right, more: Right) -> Equation:
    """The delta rule da x b + a x db + da x db is derived from it."""
    return Equation(q.meaning(a, b + more), q.meaning(a, b) + q.meaning(a, more))


@law("bilinear", "Q(0, b) = 0", source=BILINEAR)
def operator_left_zero(q: Subject, b: Right) -> Equation:
    """A side that did not change contributes nothing."""
    return Equation(q.meaning(q.zeros[0], b), ZSet())


@law("bilinear", "Q(a, 0) = 0", source=BILINEAR)
def operator_right_zero(q: Subject, a: Left) -> Equation:
    """A side that did not change contributes nothing."""
    return Equation(q.meaning(a, q.zeros[1]), ZSet())


@law(
    "bilinear",
    "D(Q(I(s), I(r))) = Q(s, z(I(r))) + Q(z(I(s)), r) + Q(s, r)",
    source="DBSP (VLDB 2023) theorem 3.4; Lean: bilinear_incremental",
)
def operator_product_rule(q: Subject, s: LeftStream, r: RightStream) -> Equation:
    """It licenses the increment of every bilinear operator: only matches of a change are made."""
    before_s, before_r = delay(integrate(s)), delay(integrate(r))
    changed = lift(q.meaning)(s, before_r), lift(q.meaning)(before_s, r), lift(q.meaning)(s, r)
    return Equation(incremental(q.meaning)(s, r), lift(lambda a, b, c: a + b + c)(*changed))


# ── Laws of one operator ────────────────────────────────────────────────────────────────────


@law("filter", "Q(Q(a)) = Q(a)", source="filter.py")
def filter_idempotent(q: Subject, a: ZSets) -> Equation:
    """What passed once passes again, so a filter may be pushed down and kept."""
    once = q.meaning(*a)
    return Equation(q.meaning(once), once)


@law("filter", "distinct(Q(a)) = Q(distinct(a))", source="Lean: filter_distinct_comm")
def filter_commutes_with_distinct(q: Subject, a: ZSets) -> Equation:
    """A filter may go below a DISTINCT, on changes as on tables."""
    (rows,) = a
    return Equation(distinct(q.meaning(rows)), q.meaning(distinct(rows)))


@law("map", "weight of Q(a) = weight of a", source="Lean: map_apply")
def map_keeps_weight(q: Subject, a: ZSets) -> Equation:
    """Rows that become equal add up; none is lost and none is made."""
    return Equation(weight_of(q.meaning(*a)), weight_of(*a))


@law(
    "map",
    "distinct(Q(distinct(a))) = distinct(Q(a)) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: map_distinct_dedup",
)
def map_under_distinct(q: Subject, a: Bags) -> Equation:
    """A DISTINCT below another one may be dropped."""
    (rows,) = a
    return Equation(distinct(q.meaning(distinct(rows))), distinct(q.meaning(rows)))


@law(
    "flat_map",
    "Q(a) without the element is among a = Q(a) without the element",
    source="flat_map.py",
)
def flat_map_keeps_columns(q: Subject, a: ZSets) -> Equation:
    """Each element stands beside the row that it came from."""
    (rows,) = a
    kept = {row[:-1]: 1 for row in q.meaning(rows)}
    return Equation(ZSet({row: 1 for row in kept if rows[row]}), ZSet(kept))


@law("union_all", "Q(a, b) = Q(b, a)", source="DBSP (VLDB 2023) table 1")
def union_all_commutes(q: Subject, a: Left, b: Right) -> Equation:
    """It is the group's addition."""
    return Equation(q.meaning(a, b), q.meaning(b, a))


@law("union_all", "Q(a, 0) = a", source="DBSP (VLDB 2023) table 1")
def union_all_zero_identity(q: Subject, a: Left) -> Equation:
    """It is the group's addition, and keeps duplicates."""
    return Equation(q.meaning(a, q.zeros[1]), a)


@law(
    "union_all",
    "distinct(Q(distinct(a), distinct(b))) = distinct(Q(a, b)) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: add_distinct_dedup",
)
def union_all_under_distinct(q: Subject, ab: Bags) -> Equation:
    """A DISTINCT below another one may be dropped."""
    return Equation(distinct(q.meaning(*map(distinct, ab))), distinct(q.meaning(*ab)))


@law("negate", "Q(Q(a)) = a", source="DBSP (VLDB 2023) proposition 3.2")
def negate_involutive(q: Subject, a: ZSets) -> Equation:
    """Undoing an undo is doing."""
    return Equation(q.meaning(q.meaning(*a)), *a)


@law("join", "a join b = b join a, columns swapped", source="DBSP (VLDB 2023) table 1")
def join_commutes(q: Subject, a: Left, b: Right) -> Equation:
    """The planner may choose which side to index."""
    left, right = q.schemas
    on = cast(Join, q.operator).on
    swapped = Join(tuple((its, ours) for ours, its in on)).meaning(right, left)(b, a)
    width = len(right)
    turned = {row[width:] + row[:width]: weight for row, weight in swapped.items()}
    return Equation(q.meaning(a, b), ZSet(turned))


@law(
    "join",
    "distinct(a) join distinct(b) = distinct(a join b) over tables",
    source="DBSP (VLDB 2023) proposition 4.4; Lean: join_distinct_comm",
)
def join_commutes_with_distinct(q: Subject, ab: Bags) -> Equation:
    """A join of sets is a set."""
    return Equation(q.meaning(*map(distinct, ab)), distinct(q.meaning(*ab)))


@law("distinct", "Q(Q(a)) = Q(a)", source="DBSP (VLDB 2023) definition 4.3; Lean: distinct_idem")
def distinct_idempotent(q: Subject, a: ZSets) -> Equation:
    """All but the last of a chain of DISTINCTs may be dropped."""
    once = q.meaning(*a)
    return Equation(q.meaning(once), once)


@law(
    "distinct",
    "Q(a) = 1 where a > 0",
    source="DBSP (VLDB 2023) definition 4.3; Lean: distinct_is_set",
)
def distinct_is_a_set(q: Subject, a: ZSets) -> Equation:
    """Its output is a set whatever its input is: weights are 1, never 2, never negative."""
    (rows,) = a
    return Equation(q.meaning(rows), ZSet({row: positive(w) for row, w in rows.items()}))


@law("distinct", "Q(n a) = Q(a)", source="DBSP (VLDB 2023) definition 4.3")
def distinct_ignores_size(q: Subject, a: ZSets, n: Size) -> Equation:
    """How often a row is there does not matter, only that it is."""
    return Equation(q.meaning(a[0].scale(n)), q.meaning(*a))


@law("aggregate", "keys of Q(a) = distinct(keys of a)", source="aggregate.py; Lean: group_by")
def aggregate_has_one_row_per_group(q: Subject, a: ZSets) -> Equation:
    """A group is there exactly when its weight is positive, and once; without keys it always is."""
    (rows,) = q.schemas
    keys = cast(Aggregate, q.operator).keys
    key_of = key_function([rows.index(key) for key in keys])
    groups = ZSet([(key_of(row), weight) for row, weight in a[0].items()])
    found = ZSet([(row[: len(keys)], weight) for row, weight in q.meaning(*a).items()])
    return Equation(found, distinct(groups) if keys else ZSet({(): 1}))


@law(
    "delay",
    "I(Q(s)) = Q(I(s))",
    source="DBSP (VLDB 2023) proposition 2.19; Lean: integral_time_invariant",
)
def delay_commutes_with_integrate(q: Subject, s: Streams) -> Equation:
    """It makes no difference whether contents or changes are delayed."""
    return Equation(integrate(q.contents(*s)), q.contents(*map(integrate, s)))


@law("integrate", "D(Q(s)) = s", source="DBSP (VLDB 2023) theorem 2.20; Lean: derivative_integral")
def integrate_is_undone_by_differentiate(q: Subject, s: Streams) -> Equation:
    """What was added up at a tick can be read off the sums."""
    return Equation((differentiate(q.contents(*s)),), s)


@law(
    "differentiate",
    "I(Q(s)) = s",
    source="DBSP (VLDB 2023) theorem 2.20; Lean: integral_derivative",
)
def differentiate_is_undone_by_integrate(q: Subject, s: Streams) -> Equation:
    """The contents can be rebuilt from their changes."""
    return Equation((integrate(q.contents(*s)),), s)


@law(
    "logic",
    "R(Q(s)) = (Q followed by R)(s)",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: chain_incremental",
)
def logic_composes(q: Subject, s: Streams) -> Equation:
    """A chain of linear operators is one, and need not store what passes between them."""
    first, (rows,) = cast(Logic, q.operator), q.schemas
    between = first.output(rows)
    second = Logic((*keeping(between, delay=1).branches, *keeping(between, weight=lit(2)).branches))
    together = cast(Logic, first.followed_by(second))
    return Equation(second.over_time(between)(q.contents(*s)), together.over_time(rows)(*s))


# ── Queries: the runtime composes increments ────────────────────────────────────────────────


@law(
    "query", "circuit(s) = D(Q(I(s)))", source="DBSP (VLDB 2023) definition 3.1; Lean: incremental"
)
def circuit_is_incremental(q: Query, s: Ticks) -> Equation:
    """The one claim, of a whole query: maintained and recomputed are the same view."""
    sums = {name: integrate([tick[name] for tick in s]) for name in q.tables()}
    tables = [{name: sums[name][t] for name in sums} for t in range(len(s))]
    return Equation(circuit_outputs(q, s), differentiate(q.over_time()(tables)))


@law(
    "query",
    "circuit of Q1 after Q2 (s) = Q1^D(Q2^D(s))",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: chain_incremental",
)
def circuit_chain_rule(q: Query, s: Ticks) -> Equation:
    """Operators may be verified one by one: their increments compose to that of the query."""
    return Equation(circuit_outputs(q, s), composed_outputs(q, s))


@law("query", "contents after s = sum of circuit(s)", source="circuit.py")
def circuit_contents_integrate(q: Query, s: Ticks) -> Equation:
    """Whoever reads the view and whoever follows its changes see the same."""
    circuit = Circuit(q)
    outputs = [circuit.step(tick)["view"] for tick in s]
    return Equation(circuit.contents()["view"], total(outputs))


@law("query", "circuit(s), restored at t = circuit(s)", source="circuit.py")
def circuit_restores(q: Query, s: Ticks, t: Tick) -> Equation:
    """A restart from a checkpoint is not visible in any later answer."""
    circuit = Circuit(q)
    before = [circuit.step(tick)["view"] for tick in s[:t]]
    restored = Circuit.restore(q, circuit.checkpoint())
    later = [restored.step(tick)["view"] for tick in s[t:]]
    return Equation(before + later, circuit_outputs(q, s))


@law("query", "circuit(s), refusing r at t = circuit(s)", source="circuit.py")
def circuit_refuses_whole_ticks(q: Query, s: Ticks, r: Ticks, t: Tick) -> Equation:
    """A tick that fails in one view must have changed nothing in another one."""
    fuse = table("fuse", "v BIGINT").map(blown=1 % col("v"))
    circuit = Circuit({"view": q, "fuse": fuse})
    outputs: Stream = []
    for position, tick in enumerate(s):
        if position == t and not refuses(circuit, {**r[position], "fuse": ZSet({(0,): 1})}):
            return Equation("a tick that divides by zero is applied", "it is refused")
        outputs.append(circuit.step(tick)["view"])
    return Equation(outputs, circuit_outputs(q, s))


# ── Words the laws are written in ───────────────────────────────────────────────────────────


def plus(a: ZSet, b: ZSet) -> ZSet:
    return a + b


def total(stream: Sequence[ZSet]) -> ZSet:
    """The sum of a finite stream: its integral at the last tick."""
    return integrate(stream)[-1] if stream else ZSet()


def distinct(rows: ZSet) -> ZSet:
    """Weight 1 where the weight is positive, nothing elsewhere."""
    return Distinct().meaning()(rows)


def row_in(schema: Schema, row: Row) -> Row:
    """The row as the schema makes it canonical; what is wrong with it, when it does not fit."""
    try:
        return schema.row(row)
    except RowError as error:
        return (str(error),)


def weight_of(*zsets: ZSet) -> int:
    """The weights of all rows, added up."""
    return sum(weight for zset in zsets for _, weight in zset.items())


def pruned(state: Any) -> Any:
    """A saved state without its empty lists.

    >>> pruned([[], [0, [[]]]])
    [[0]]
    """
    if not isinstance(state, list):
        return state
    return [each for each in map(pruned, state) if each != []]


def spliced(stream: Stream, other: Stream, t: int) -> Stream:
    """The stream before tick t, then the other one."""
    return stream[:t] + other[t:]


def ahead(streams: Streams, t: int) -> Streams:
    return tuple(stream[:t] for stream in streams)


def after(streams: Streams, t: int) -> Streams:
    return tuple(stream[t:] for stream in streams)


def circuit_outputs(query: Query, ticks: Ticks) -> Stream:
    """The output deltas of a new circuit of this query."""
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in ticks]


def composed_outputs(query: Query, ticks: Ticks) -> Stream:
    """The increments of the query's operators, each run over whole streams, one after the other."""
    streams: dict[Query, Stream] = {}
    for node in query.nodes():
        if isinstance(node, Apply):
            increment = node.operator.increment(*[each.schema for each in node.over])
            streams[node] = run(increment, tuple(streams[each] for each in node.over))
        else:
            streams[node] = [tick[node.label()] for tick in ticks]
    return streams[query]


def refuses(circuit: Circuit, tick: dict[str, ZSet]) -> bool:
    """Whether the circuit refuses this tick."""
    try:
        circuit.step(tick)
    except DeltaproofError:
        return True
    return False


# ── The catalogue ───────────────────────────────────────────────────────────────────────────

CATALOGUE: tuple[Law, ...] = tuple(each for each in globals().values() if isinstance(each, Law))


def laws_of(declared: Operator | type[Operator] | Subject) -> tuple[Law, ...]:
    """The laws that this must obey, by what it declares: its shape, its name, its own `laws`.

    An operator may carry laws of its own as a tuple `laws` in its class.

    >>> [each.name for each in laws_of(Distinct) if each.of == "distinct"]
    ['distinct_idempotent', 'distinct_is_a_set', 'distinct_ignores_size']
    >>> [each.name for each in laws_of(Join) if each.of == "bilinear"][:2]
    ['operator_left_additive', 'operator_right_additive']
    """
    kinds = {"operator", declared.shape.value}
    operator = declared.operator if isinstance(declared, Subject) else declared
    if operator is not None:
        kinds |= {operator.name, "query"}
    if over_time(declared):
        kinds |= {"over_time", f"{declared.shape.value}_over_time"}
    own: tuple[Law, ...] = getattr(operator, "laws", ())
    laws = tuple(each for each in CATALOGUE if each.of in kinds) + own
    if operator is not None and never_lifted(operator):
        laws = tuple(each for each in laws if each.provided is not LIFTED)
    return laws


def never_lifted(declared: Operator | type[Operator]) -> bool:
    """Whether it has no meaning at a tick alone, whatever its arguments."""
    return declared.lifted is False


def over_time(declared: Operator | type[Operator] | Subject) -> bool:
    """Whether it, or some operator of this kind, depends on earlier ticks."""
    if isinstance(declared, Subject):
        return declared.over_time is not None
    kind = declared if isinstance(declared, type) else type(declared)
    return kind.over_time is not Operator.over_time
