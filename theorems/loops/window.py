"""A window whose clock never goes back can be kept by a loop that forgets what has left it.

W(v)[t]        the rows of v[t] whose time is at the clock or behind it
W(I(s)) = fix a. W(s + z(a))
"""

from __future__ import annotations

import z3

from deltaproof.reference.query import table
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.causality import (
    Loop,
    Operator,
    lifted_causal,
)
from deltaproof.theorems.calculus.streams import (
    TICK,
    after,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
    Thm,
    axiom,
    both,
    certificate,
    fresh_symbol,
    gen,
    inst,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.loops.elimination import by_time
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import row
from deltaproof.theorems.tables.zsets import INT, ZSets, any_zsets, if_then, streams_of

T = z3.Const("t", TICK)


def clock_that_goes_back() -> Counterexample:
    """A row has left the window, the clock goes back, and the row belongs to it again."""
    time, before, now = z3.Ints("time_of_row clock_before clock_now")
    kept = z3.And(time >= now, time >= before)
    given = [before > now]

    def replay(time: int, before: int, now: int) -> tuple[ZSet, ZSet]:
        rows = row(1, time)
        return in_window(now, in_window(before, rows)), in_window(now, rows)

    name = "the window of the window is the window of all rows"
    return refute(name, kept == (time >= now), given, [time, before, now], replay=replay)


def in_window(clock: int, rows: ZSet) -> ZSet:
    """The rows whose time is at the clock or behind it.

    >>> in_window(3, ZSet({(2,): 1, (3,): 1}))
    ZSet({(3,): 1})
    """
    return table("rows", "t BIGINT").filter(col("t") >= clock).meaning()({"rows": rows})


@theorem(
    statement="W(I(s)) = fix a. W(s + z(a)), W(v)[t] the rows of v[t] from θ[t] on, θ monotone",
    source="DBSP (VLDB 2023) section 7.5; long version (2022) section 11",
    wrong=(clock_that_goes_back,),
)
def monotone_window() -> Thm:
    """So a window over a stream for ever keeps the rows of the window only."""
    rows = any_zsets("A")
    streams = streams_of(rows)
    at, add, group = streams.at, streams.add, streams.group
    time, clock = fresh_symbol("time", rows.row, INT), fresh_symbol("θ", TICK, INT)
    forward = axiom("θ is monotone", z3.ForAll([T], clock(T) <= clock(after(T))))
    keep = rows.comprehension(
        "kept",
        [INT, rows.sort],
        lambda x, limit, a: if_then(time(x) >= limit, rows.weight(a, x)),
        lambda limit, a: rows.entries(a),
        [rows.no_weight_outside()],
    )
    additive, shrinking = _window_laws(rows, keep)
    window = streams.space.define("W", [streams.sort], lambda t, s: keep(clock(t), at(s, t)))
    circuit = Operator("W(s + a)", (streams, streams), streams, lambda s, a: window(add(s, a)))
    loop = Loop("window", circuit, lifted_causal(circuit))
    s = streams.stream("s")
    o, all_rows = loop.operator.of(s), window(streams.I(s))
    solves = inst(loop.fixpoint.solves, s)

    def facts(case: Case) -> list[Thm]:
        new, now = at(s, case.term), clock(case.term)
        right = at(solves.formula.arg(1), case.term)
        known = [solves, *unfold([streams.space], right, at(all_rows, case.term))]
        nothing = certificate("x + 0 = x", group, group.add(new, group.zero) == new)
        for tick in case.arguments:
            before = at(streams.I(s), tick)
            kept = keep(clock(tick), before)
            known += [
                *unfold([streams.space], at(all_rows, tick)),
                inst(forward, tick),
                inst(additive, now, before, new),
                inst(additive, now, new, kept),
                inst(shrinking, clock(tick), now, before),
                certificate(
                    "x + y = y + x",
                    group,
                    group.add(keep(now, before), keep(now, new))
                    == group.add(keep(now, new), keep(now, before)),
                ),
            ]
        return [*known, nothing]

    everywhere = gen(by_time("the same window", lambda t: at(all_rows, t) == at(o, t), facts), T)
    same = streams.space.equal("W(I(s)) = fix a. W(s + z(a))", all_rows, o, everywhere)
    return both("window", gen(same, s), additive, shrinking)


def _window_laws(rows: ZSets, keep: Definition) -> tuple[Thm, Thm]:
    """What is kept of a sum; and from a later time on, of what was kept from an earlier time on."""
    limit, later = z3.Ints("limit later")
    a, b = rows.a, rows.b
    known = keep.equations
    additive = rows.equal(
        "kept(a + b) = kept(a) + kept(b)",
        keep(limit, rows.add(a, b)),
        rows.add(keep(limit, a), keep(limit, b)),
        [limit, a, b],
        known,
    )
    x = z3.Const("row!", rows.row)
    again = keep(later, keep(limit, a))
    here = prove_for_all(
        "kept of kept, at a row",
        [x],
        rows.weight(again, x) == rows.weight(keep(later, a), x),
        known,
        given=[limit <= later],
    )
    shrinking = prove_for_all(
        "kept(later, kept(a)) = kept(later, a)",
        [limit, later, a],
        again == keep(later, a),
        [here, inst(rows.extensional, again, keep(later, a))],
        given=[limit <= later],
    )
    return additive, shrinking
