"""How changes are cut into entries and ticks makes no difference to a view.

    consolidate(l)   one entry for each row that weighs anything, with all its weight
    Q(a; d)          the step of any query: Q(a + d) - Q(a)

A row may come in several entries, and a batch in several ticks or with others in one: what is
summed up in the end is the same. In between, a view shows the ticks there are, and no others.
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import (
    TICK,
    any_streams,
    integrate_after_differentiate,
    present,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Term,
    Thm,
    both,
    certificate,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.sums import linear_maps
from deltaproof.theorems.tables.zsets import any_zsets

DISTINCT = Run(Distinct(), ("k BIGINT",))


# ---------------------------------------------------------------- entries


def last_entry_wins() -> Counterexample:
    """`weights[row] = weight`, entry by entry."""
    w, v = z3.Ints("w v")

    def replay(w: int, v: int) -> tuple[ZSet, ZSet]:
        entries = [((7,), w), ((7,), v)]
        return ZSet(dict(entries)), ZSet(entries)

    name = "a row weighs what its last entry says"
    return refute(name, v == w + v, show=[w, v], replay=replay)


def each_entry_for_itself() -> Counterexample:
    """distinct of every entry, added up: only linear queries can do without consolidation."""
    w, v = z3.Ints("w v")

    def replay(w: int, v: int) -> tuple[ZSet, ZSet]:
        one, other = row(w, 7), row(v, 7)
        return DISTINCT.over(one) + DISTINCT.over(other), DISTINCT.over(one + other)

    claim = present(w) + present(v) == present(w + v)
    return refute("distinct, entry by entry", claim, show=[w, v], replay=replay)


@theorem(
    statement="consolidate(l) weighs what l does, has each row once, and only rows of weight not 0",
    source="beyond the paper: consolidation in differential dataflow; reference/zset.py",
    wrong=(last_entry_wins, each_entry_for_itself),
)
def consolidation_weights() -> Thm:
    """So any query says the same of both; linear ones may also add up what each entry gives."""
    rows = any_zsets("A")
    maps = linear_maps(rows, any_zsets("B"))
    lists, without, removed = rows.lists, maps.without, maps.removed
    x, W, has = lists.x, lists.W, lists.has

    def with_first(k: Term, weight: Term, others: Term) -> Term:
        return z3.If(weight == 0, others, lists.entry(k, weight, others))

    tidy = recursive(
        "consolidate",
        lists.sort,
        [],
        lists.sort,
        (
            lambda recur: lists.none,
            lambda recur, k, w, rest: with_first(k, w + W(rest, k), without(recur(rest), k)),
        ),
    )
    once = recursive(
        "each row once",
        lists.sort,
        [],
        z3.BoolSort(),
        (
            lambda recur: z3.BoolVal(True),
            lambda recur, k, w, rest: z3.And(z3.Not(has(rest, k)), recur(rest)),
        ),
    )

    def row_gone(entries: Term) -> Formula:
        """has(l without k, x) = has(l, x), and x is not k."""
        k = z3.Const("k", lists.row)
        left = has(without(entries, k), x)
        return z3.ForAll([k, x], left == z3.And(has(entries, x), x != k), patterns=[left])

    by = [*has.equations, *without.equations]
    gone = induct("has(l without k, x)", lists.sort, row_gone, by)

    def still_once(entries: Term) -> Formula:
        k = z3.Const("k", lists.row)
        rest = without(entries, k)
        return z3.ForAll([k], z3.Implies(once(entries), once(rest)), patterns=[rest])

    stays = induct(
        "l has each row once, and so has l without k",
        lists.sort,
        still_once,
        [*once.equations, *without.equations, gone],
    )
    same = induct(
        "W(consolidate(l), x) = W(l, x)",
        lists.sort,
        lists.claim(lambda es, x: W(tidy(es), x) == W(es, x)),
        [*W.equations, *tidy.equations, removed],
    )
    unique = induct(
        "consolidate(l) has each row once",
        lists.sort,
        lambda es: once(tidy(es)),
        [*once.equations, *tidy.equations, stays, gone],
    )
    nonzero = induct(
        "consolidate(l) has x where W(l, x) is not 0",
        lists.sort,
        lists.claim(lambda es, x: has(tidy(es), x) == (W(es, x) != 0)),
        [*has.equations, *W.equations, *tidy.equations, gone],
    )
    entries = z3.Const("l", lists.sort)
    whole = rows.equal(
        "consolidate(l) is the same Z-set",
        rows.zset(tidy(entries)),
        rows.zset(entries),
        [entries],
        [rows.presented, same, *rows.weight.equations],
    )
    return both("consolidation", same, unique, nonzero, whole)


# ---------------------------------------------------------------- ticks


def steps_of_deltas_alone() -> Counterexample:
    """Two ticks added up from what each brings, without what was there before."""
    a, d, e = z3.Ints("a d e")

    def replay(a: int, d: int, e: int) -> tuple[ZSet, ZSet]:
        table, one, other = row(a, 7), row(d, 7), row(e, 7)
        apart = DISTINCT.change([table], [one]) + DISTINCT.change([table], [other])
        return apart, DISTINCT.change([table], [one + other])

    def step(d: Term) -> Term:
        return present(a + d) - present(a)

    claim = step(d) + step(e) == step(d + e)
    name = "both ticks see the table before the first"
    return refute(name, claim, show=[a, d, e], replay=replay)


def last_output_alone() -> Counterexample:
    """The output of the merged tick taken for that of the second."""
    a, d, e = z3.Ints("a d e")

    def replay(a: int, d: int, e: int) -> tuple[ZSet, ZSet]:
        table, one, other = row(a, 7), row(d, 7), row(e, 7)
        return DISTINCT.change([table], [one + other]), DISTINCT.change([table + one], [other])

    claim = present(a + d + e) - present(a) == present(a + d + e) - present(a + d)
    name = "the merged tick puts out what the second did"
    return refute(name, claim, show=[a, d, e], replay=replay)


@theorem(
    statement="Q(a; d + e) = Q(a; d) + Q(a + d; e); equal sums of changes, equal views",
    source="beyond the paper: batching; DBSP (VLDB 2023) definition 3.1, theorem 2.20",
    wrong=(steps_of_deltas_alone, last_output_alone),
)
def ticks_merge() -> Thm:
    """For every query, and any two schedules: d after s ticks, and e after t, bring the same."""
    source, target = any_streams("A"), any_streams("B")
    here, there = source.group, target.group
    q = fresh_symbol("Q", here.sort, there.sort)
    a, d, e = z3.Consts("a d e", here.sort)

    def step(a: Term, d: Term) -> Term:
        return there.sub(q(here.add(a, d)), q(a))

    after_both, at_once = here.add(here.add(a, d), e), here.add(a, here.add(d, e))
    regrouped = certificate("(a + d) + e = a + (d + e)", here, after_both == at_once)
    alike = prove("Q of both", q(after_both) == q(at_once), [regrouped])
    two_ticks = there.add(step(a, d), step(here.add(a, d), e))
    merged = certificate("two ticks are one", there, step(a, here.add(d, e)) == two_ticks, [alike])
    return both("ticks", gen(regrouped, a, d, e), gen(merged, a, d, e), _schedules())


def _schedules() -> Thm:
    """I(d)[s] = I(e)[t] → I(D(Q(I(d))))[s] = I(D(Q(I(e))))[t]."""
    source, target = any_streams("A"), any_streams("B")
    q = fresh_symbol("Q", source.group.sort, target.group.sort)
    answer = target.lift("Q", q, source)
    one, other = source.stream("d"), source.stream("e")
    s, t = z3.Consts("s t", TICK)
    views, known = [], []
    for stream, tick in ((one, s), (other, t)):
        view = answer(source.I(stream))
        views.append(target.at(target.I(target.D(view)), tick))
        known.append(inst(integrate_after_differentiate(target), view))
        known += unfold([target.space], target.at(view, tick))
    given = [source.at(source.I(one), s) == source.at(source.I(other), t)]
    name = "equal sums of changes, equal views"
    return prove_for_all(name, [one, other, s, t], views[0] == views[1], known, given)
