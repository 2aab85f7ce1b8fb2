"""How changes are cut into ticks and ordered, undone, stopped and run again, no view shows."""

from __future__ import annotations

import json

from deltaproof.properties.law import (
    STEPPED,
    TWO_INPUTS,
    Equation,
    Left,
    Right,
    Streams,
    Subject,
    Tick,
    ZSets,
    law,
    run,
)
from deltaproof.properties.laws.words import negated, reversed_rows, total, unordered
from deltaproof.reference.zset import ZSet

# ── How changes are cut into ticks ──────────────────────────────────────────────────────────


@law("lifted", "sum of Q^D(s) = Q^D(sum of s)", source="DBSP (VLDB 2023) definition 3.1")
def increment_merges_ticks(q: Subject, s: Streams) -> Equation:
    """A day's changes give the same view in one batch or in many."""
    merged = tuple([total(each)] for each in s)
    return Equation(total(q.outputs(*s)), total(q.outputs(*merged)))


@law(
    "lifted",
    "Q^D(s, tick t cut in two), the two added = Q^D(s)",
    source="DBSP (VLDB 2023) definition 3.1",
)
def increment_splits_ticks(q: Subject, s: Streams, a: ZSets, t: Tick) -> Equation:
    """Half of a batch may come later: no answer after it shows that there were two halves."""
    halves = zip(s, a, strict=True)
    cut = tuple([*each[:t], half, each[t] - half, *each[t + 1 :]] for each, half in halves)
    outputs = q.outputs(*cut)
    added = [*outputs[:t], total(outputs[t : t + 2]), *outputs[t + 2 :]]
    return Equation(added, q.outputs(*s))


@law(
    "lifted",
    "Q^D(s, with a zero after t) = Q^D(s), with a zero after t",
    source="circuit.py: a zero delta changes nothing after tick one",
)
def increment_skips_zero(q: Subject, s: Streams, t: Tick) -> Equation:
    """The runtime does not run an operator whose inputs did not change."""
    paused = tuple([*each[: t + 1], ZSet(), *each[t + 1 :]] for each in s)
    outputs = q.outputs(*s)
    return Equation(q.outputs(*paused), [*outputs[: t + 1], ZSet(), *outputs[t + 1 :]])


# ── In what order they come ─────────────────────────────────────────────────────────────────


@law(
    "lifted",
    "sum of Q^D(s backwards) = sum of Q^D(s)",
    source="DBSP (VLDB 2023) definition 3.1; Lean: incremental",
)
def increment_forgets_order(q: Subject, s: Streams) -> Equation:
    """The view follows from what is in the tables, not from how it got there."""
    backwards = tuple(each[::-1] for each in s)
    return Equation(total(q.outputs(*backwards)), total(q.outputs(*s)))


@law(
    "lifted",
    "sum of Q^D(s, then a, then b) = sum of Q^D(s, then b, then a)",
    source="DBSP (VLDB 2023) definition 3.1; bilinear: theorem 3.4",
    provided=TWO_INPUTS,
)
def increment_commutes_ticks(q: Subject, s: Streams, a: Left, b: Right) -> Equation:
    """Changes of different tables may overtake each other on their way."""
    left, right = s
    a_first = q.outputs([*left, a, ZSet()], [*right, ZSet(), b])
    b_first = q.outputs([*left, ZSet(), a], [*right, b, ZSet()])
    return Equation(total(a_first), total(b_first))


@law("operator", "Q^D(rows of s in reverse) = Q^D(s)", source="zset.py")
def increment_row_order_free(q: Subject, s: Streams) -> Equation:
    """The order of the rows of a change is an accident of how they were stored or sent."""
    turned = tuple(list(map(reversed_rows, each)) for each in s)
    return Equation(q.outputs(*turned), q.outputs(*s))


# ── What is undone, and what is empty again ─────────────────────────────────────────────────


@law(
    "lifted",
    "Q^D(0, s, -s backwards) = Q^D(0, s), and -Q^D(s) backwards",
    source="DBSP (VLDB 2023) definition 3.1: D after Q after I",
)
def increment_undoes(q: Subject, s: Streams) -> Equation:
    """A change that is taken back takes back what it did, to whoever follows the changes."""
    nothing = tuple([zero, *each] for zero, each in zip(q.zeros, s, strict=True))
    undone = tuple([*each, *negated(each[:0:-1])] for each in nothing)
    outputs = q.outputs(*nothing)
    return Equation(q.outputs(*undone), [*outputs, *negated(outputs[:0:-1])])


@law(
    "lifted",
    "sum of Q^D(s, then -sum of s) - Q(0) = 0",
    source="DBSP (VLDB 2023) definition 3.1: D after Q after I",
)
def increment_empties(q: Subject, s: Streams) -> Equation:
    """Over tables that are empty again a view is what it was over empty tables."""
    emptied = tuple([*each, -total(each)] for each in s)
    return Equation(total(q.outputs(*emptied)) - q.meaning(*q.zeros), ZSet())


# ── How often it is asked, and when it is stopped and started again ─────────────────────────


@law("operator", "Q(s), asked again = Q(s)", source="design: no clock and no chance in a query")
def operator_deterministic(q: Subject, s: Streams) -> Equation:
    """A question that has two answers cannot be maintained, nor can its answer be checked."""
    return Equation(q.contents(*s), q.contents(*s))


@law("operator", "Q^D(s), run again = Q^D(s)", source="design: no clock and no chance in a query")
def increment_deterministic(q: Subject, s: Streams) -> Equation:
    """What fails can be run again; what is sharded or replicated agrees."""
    return Equation(q.outputs(*s), q.outputs(*s))


@law(
    "operator",
    "what Q^D puts out and saves after s, restored at t = what Q^D puts out and saves after s",
    source="operator.py: Increment",
    provided=STEPPED,
)
def increment_checkpoint_is_replay(q: Subject, s: Streams, t: Tick) -> Equation:
    """A checkpoint stands for all changes before it: they may be thrown away, again and again."""
    whole, stopped, restored = q.increment(), q.increment(), q.increment()
    outputs = run(whole, s)
    run(stopped, tuple(each[:t] for each in s))
    if t:  # before the first tick there is no state to save
        restored.restore(json.loads(json.dumps(stopped.save())))
    later = run(restored, tuple(each[t:] for each in s))
    return Equation((later, unordered(restored.save())), (outputs[t:], unordered(whole.save())))
