"""A session keeps its bounds while nothing changes within a gap of it, and no row is in two.

s and e are a session of gap g: both are present, nothing is within g before s or behind e, and
from every row between them another is at most g away, upwards and downwards.
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.execution.forking import (
    Enumerated,
    enumerated,
    prove_each,
    prove_paths,
    refute_paths,
)
from deltaproof.theorems.execution.symbolic import Altered, Stateless, Subject, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Formula,
    Symbol,
    Term,
    Thm,
    both,
    fresh_symbol,
    prove_for_all,
    refute,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT


def is_session(present: Symbol, gap: Term, start: Term, end: Term) -> Formula:
    """`present` says at which times there is a row."""
    p, q = z3.Ints("p q")
    behind = z3.Exists([q], z3.And(present(q), p < q, q <= p + gap))
    in_front = z3.Exists([q], z3.And(present(q), p - gap <= q, q < p))
    return z3.And(
        present(start),
        present(end),
        start <= end,
        z3.ForAll([p], z3.Implies(z3.And(end < p, p <= end + gap), z3.Not(present(p)))),
        z3.ForAll([p], z3.Implies(z3.And(start - gap <= p, p < start), z3.Not(present(p)))),
        z3.ForAll([p], z3.Implies(z3.And(present(p), start <= p, p < end), behind)),
        z3.ForAll([p], z3.Implies(z3.And(present(p), start < p, p <= end), in_front)),
    )


def sessions_of_the_changed_time() -> Counterexample:
    """A row between two sessions joins them, and is in neither."""
    end, new, gap = z3.Ints("end new_row gap")
    given = [gap > 0, end < new, new <= end + gap]

    def replay(end: int, new: int, gap: int) -> tuple[bool, bool]:
        """Whether the row is inside, and whether the end moves."""
        sessions = Run(SessionWindow("t", gap, (), "begins", "ends"), ("t BIGINT",))
        before, after = row(1, end), row(1, end) + row(1, new)
        ends = [{last for _, _, last in sessions.over(each)} for each in (before, after)]
        return new <= end, ends[0] != ends[1]

    name = "only a change inside a session moves it"
    return refute(name, new <= end, given, [end, new, gap], replay=replay)


def gap_that_is_not_reached() -> Counterexample:
    end, following, gap = z3.Ints("end next_row gap")
    claim = (following - end < gap) == (following - end <= gap)

    def replay(end: int, following: int, gap: int) -> tuple[bool, bool]:
        """Whether both are of one session, by < and by the reference."""
        sessions = Run(SessionWindow("t", gap, (), "begins", "ends"), ("t BIGINT",))
        begins = {begin for _, begin, _ in sessions.over(row(1, end) + row(1, following))}
        return following - end < gap, len(begins) == 1

    given, show = [gap > 0, following > end], [end, following, gap]
    return refute("rows exactly a gap apart", claim, given, show, replay=replay)


@theorem(
    statement="a session with no change from start - gap to end + gap stays; sessions are disjoint",
    source="Beam model (VLDB 2015) section 2.2, sessions",
    wrong=(sessions_of_the_changed_time, gap_that_is_not_reached),
)
def session_locality() -> Thm:
    """What is supposed stands in the goals: z3 finds no values for all of it at once. A row alone
    and two rows are sessions, so that it can be true, with `after` as `before` and r, f as s, e.
    """
    before, after = (fresh_symbol(name, INT, z3.BoolSort()) for name in ("before", "after"))
    gap, s, e, r, f, t = z3.Ints("gap s e r f t")
    near = z3.And(s - gap <= t, t <= e + gap)
    same = z3.ForAll([t], z3.Implies(near, before(t) == after(t)))
    exist = prove_for_all(
        "rows at s and e, at most a gap apart, are a session",
        [gap, s, e],
        is_session(lambda at: z3.Or(at == s, at == e), gap, s, e),
        given=[s <= e, e <= s + gap],
    )
    unchanged = z3.And(gap >= 0, is_session(before, gap, s, e), same)
    stays = prove_for_all(
        "a session without a change near it stays",
        [gap, s, e],
        z3.Implies(unchanged, is_session(after, gap, s, e)),
    )
    two = z3.And(gap >= 0, is_session(before, gap, s, e), is_session(before, gap, r, f))
    shared = z3.And(s <= t, t <= e, r <= t, t <= f)
    alone = prove_for_all(
        "no row is in two sessions",
        [gap, s, e, r, f, t],
        z3.Implies(z3.And(two, shared), z3.And(s == r, e == f)),
    )
    return both("sessions", exist, stays, alone)


# ---------------------------------------------------------------- the code

ROWS: list[Row] = [(1, 3), (1, 5), (1, 7)]  # the middle row joins the others to one session


def session_window_subject(rows: list[Row], ticks: int) -> Subject:
    operator = SessionWindow("t", 2, ("k",), "begins", "ends")
    return subject_of(operator, [("k BIGINT, t BIGINT", rows)], ticks)


def session_code_of_changed_rows() -> Counterexample:
    """A row joins two sessions, and the rows of both keep their bounds."""
    subject = session_window_subject(ROWS[:2], 2)

    def only_the_delta(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([(row, weight) for row, weight in output.items() if row[:2] in delta])

    name = "only rows of the delta get new bounds"
    return refute_paths(name, subject, lambda: Altered(subject.increment(), only_the_delta))


def session_code_of_the_delta() -> Counterexample:
    subject = session_window_subject(ROWS[:2], 2)
    name = "puts out the sessions of the delta"
    return refute_paths(name, subject, lambda: Stateless(subject.meaning))


@theorem(
    statement="SessionWindow's increment, as it runs, is D ∘ session_window ∘ I",
    source="reference/operators/session_window.py, reference/operators/ordered_increment.py",
    scope="weights from -1000 to 1000; 2 rows, 2 ticks; from -1 to 1 with 3 rows, or 3 ticks",
    wrong=(session_code_of_changed_rows, session_code_of_the_delta),
)
def session_window_code() -> Enumerated:
    paths = prove_paths(session_window_subject(ROWS[:2], 2))
    three = prove_each(session_window_subject(ROWS, 2), -1, 1)
    null = prove_each(session_window_subject([*ROWS[:1], (1, None), *ROWS[2:]], 2), -1, 1)
    longer = prove_each(session_window_subject(ROWS[:2], 3), -1, 1)
    return enumerated(paths, three, null, longer)
