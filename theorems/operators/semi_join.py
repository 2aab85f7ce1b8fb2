"""Semi, anti and outer joins ask of a left row only whether its matches weigh more than nothing:
rows change where the left side does, and where that answer does.

    m(b, l)       what the rows of b that match l weigh together; linear in b
    kept(a, b)    the rows l of a, with their weight, where p(m(b, l)) holds

    semi join: p(m) = m > 0        anti join, and padding: p(m) = m <= 0

The condition is any relation of a left row and a right row: equal keys, NULL matching nothing,
and a residual predicate that is TRUE, together are one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import z3

from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import steps_increment, zero_of_additive
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    OneSided,
    Stateless,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Symbol,
    Term,
    Thm,
    axiom,
    both,
    fresh_symbol,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.join import any_join
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.positive_sums import is_positive, positive_maps
from deltaproof.theorems.tables.sums import linear_maps
from deltaproof.theorems.tables.zsets import INT, ZSets, any_zsets, if_then, streams_of

Condition = Callable[[Term], Term]

SIDES = ("k BIGINT", "j BIGINT")
MATCHED = Run(SemiJoin((("k", "j"),)), SIDES)
UNMATCHED = Run(SemiJoin((("k", "j"),), anti=True), SIDES)
JOINED = Run(Join((("k", "j"),)), SIDES)
LEFT_COLUMNS = Run(Map((("k", col("k")),)), ("k BIGINT, j BIGINT",))


@cache
def one_row() -> ZSets:
    """Z-sets over a single row: whole numbers."""
    return ZSets("1", z3.EnumSort("the row", ["row"])[0])


class Matches:
    """m(b, l): what the rows of b that match the left row l weigh together."""

    def __init__(self, left: ZSets, right: ZSets, related: Callable[[Term, Term], Term]) -> None:
        self.left, self.right, self.related = left, right, related
        self.number = one_row()
        self.maps = linear_maps(right, self.number)
        lists, self.only = self.number.lists, self.number.row.constructor(0)()
        one = lists.entry(self.only, 1, lists.none)
        self.images = self.maps.images.define(
            "1 for a match", [left.row], lambda r, row: z3.If(related(row, r), one, lists.none)
        )

    def of(self, b: Term, row: Term) -> Term:
        return self.number.weight(self.maps.apply(self.images(row), b), self.only)

    def plus(self) -> Thm:
        """∀ b d l. m(b + d, l) = m(b, l) + m(d, l)."""
        b, d, row = self.right.a, self.right.b, self.left.x
        whole = self.of(self.right.add(b, d), row)
        known = [inst(self.maps.linear_for(self.images(row)), b, d), *self.number.weights]
        goal = whole == self.of(b, row) + self.of(d, row)
        name = "m(b + d, l) = m(b, l) + m(d, l)"
        return prove_for_all(name, [b, d, row], goal, known, (), [whole])

    def nothing(self) -> Thm:
        """∀ l. m(0, l) = 0."""
        row, right, number = self.left.x, self.right, self.number
        none = self.of(right.zero(), row)
        linear = self.maps.linear_for(self.images(row))
        empty = zero_of_additive(
            "m",
            right.group,
            number.group,
            self.maps.with_images(self.images(row)),
            inst(linear, right.zero(), right.zero()),
        )
        return prove_for_all("m(0, l) = 0", [row], none == 0, [empty, *number.weights], (), [none])

    def unmatched(self) -> Thm:
        """∀ b l. no row that matches l has any weight in b → m(b, l) = 0."""
        maps, right, b, row = self.maps, self.right, self.right.a, self.left.x
        images, x, lists = self.images(row), z3.Const("r", right.row), self.number.lists
        silent = z3.ForAll([x], z3.Implies(self.related(row, x), right.weight(b, x) == 0))
        weight = right.lists.W(right.entries(b), x)
        parts = prove(
            "no row adds anything",
            z3.ForAll([x], maps.part(images, x, weight, self.only) == 0, patterns=[weight]),
            [*maps.part.equations, *self.images.equations, *lists.W.equations,
             *right.weight.equations],
            [silent],
        )  # fmt: skip
        nothing = inst(gen(maps.nothing, maps.f, maps.y), images, self.only, right.entries(b))
        known = [parts, nothing, maps.applied(images, b, self.only)]
        return prove_for_all("m(b, l) = 0", [b, row], self.of(b, row) == 0, known, [silent])

    def of_one_row(self, r: Term, weight: Term, row: Term) -> Thm:
        """m(r with this weight, l) is the weight if r matches l, else 0."""
        maps, right, images = self.maps, self.right, self.images(row)
        entries = right.lists.entry(r, weight, right.lists.none)
        shown = right.entries(right.zset(entries))
        x = right.lists.x
        weights = prove_for_all(
            "the entries of one row weigh what its list does",
            [x],
            right.lists.W(shown, x) == right.lists.W(entries, x),
            [right.presented],
            patterns=[right.lists.W(shown, x)],
        )
        empty, entry = maps.totals_for(images, self.only)
        known = [
            weights,
            inst(gen(maps.same, maps.f, maps.y), images, self.only, shown, entries),
            maps.applied(images, right.zset(entries), self.only),
            empty,
            inst(entry, r, weight, right.lists.none),
            maps.part.unfold(images, r, weight, self.only),
            self.images.unfold(r, row),
            *self.number.lists.W.equations,
        ]
        goal = self.of(right.zset(entries), row) == if_then(self.related(row, r), weight)
        return prove("m of one row", goal, known)


@dataclass(frozen=True, eq=False)
class Presence:
    """The left rows whose matches satisfy a condition, kept up to date."""

    matches: Matches
    kept: Definition
    step: Definition
    agrees: Thm
    untouched: Thm
    contract: Thm

    def laws(self, name: str) -> Thm:
        return both(name, self.agrees, self.untouched, self.contract)


def presence(name: str, matches: Matches, p: Condition) -> Presence:
    """kept(a, b), its step, and the theorems about them, for any condition p on m."""
    left, right = matches.left, matches.right
    touched = fresh_symbol("touched", left.sort, right.sort, left.row, z3.BoolSort())
    a, da = left.a, left.b
    b, db, x = right.a, right.b, left.x
    kept = left.comprehension(
        name,
        [left.sort, right.sort],
        lambda x, a, b: if_then(p(matches.of(b, x)), left.weight(a, x)),
        lambda a, b: left.entries(a),
        [left.no_weight_outside()],
    )
    enough = axiom(
        "every row whose weight or matches change is touched",
        z3.ForAll(
            [da, db, x],
            z3.Or(touched(da, db, x), z3.And(left.weight(da, x) == 0, matches.of(db, x) == 0)),
            patterns=[touched(da, db, x)],
        ),
    )
    step = left.comprehension(
        f"change of {name}",
        [left.sort, right.sort, left.sort, right.sort],
        lambda x, a, b, da, db: if_then(
            touched(da, db, x), transition(matches, p, x, a, b, da, db)
        ),
        lambda a, b, da, db: left.lists.join(left.entries(a), left.entries(da)),
        [left.has_joined, left.no_weight_outside()],
    )
    plus = matches.plus()
    agrees = left.equal(
        f"the change of {name}",
        step(a, b, da, db),
        left.group.sub(kept(left.add(a, da), right.add(b, db)), kept(a, b)),
        [a, b, da, db],
        [*step.equations, *kept.equations, plus, enough],
    )
    empty = left.equal(
        f"{name} of nothing is nothing",
        kept(left.zero(), right.zero()),
        left.zero(),
        [],
        kept.equations,
    )
    untouched = prove_for_all(
        "no change where neither the row nor the answer changes",
        [a, b, da, db, x],
        left.weight(step(a, b, da, db), x) == 0,
        [inst(agrees, a, b, da, db), *kept.equations, *left.weights, plus],
        given=[
            left.weight(da, x) == 0,
            p(matches.of(b, x)) == p(matches.of(b, x) + matches.of(db, x)),
        ],
    )
    streams = [streams_of(left), streams_of(right)]
    contract = steps_increment(name, streams, streams_of(left), kept, step, agrees, empty)
    return Presence(matches, kept, step, agrees, untouched, contract)


def transition(
    matches: Matches, p: Condition, x: Term, a: Term, b: Term, da: Term, db: Term
) -> Term:
    """The delta where the row is kept now; all of the row before, where the answer changed."""
    weight, before = matches.left.weight, matches.of(b, x)
    after = before + matches.of(db, x)
    appears = z3.And(z3.Not(p(before)), p(after))
    goes = z3.And(p(before), z3.Not(p(after)))
    whole = z3.If(appears, weight(a, x), if_then(goes, -weight(a, x)))
    return if_then(p(after), weight(da, x)) + whole


@cache
def any_presence() -> Presence:
    """Any condition p on what matches, by any relation of a left row and a right row."""
    p: Symbol = fresh_symbol("p", INT, z3.BoolSort())
    return presence("kept", Matches(any_zsets("A"), any_zsets("B"), any_join().matches), p)


# ---------------------------------------------------------------- wrong variants


def anti(a: Term, m: Term) -> Term:
    return if_then(m <= 0, a)


def semi(a: Term, m: Term) -> Term:
    return if_then(m > 0, a)


def present_unless_zero() -> Counterexample:
    """ "Has a match" as m != 0: the same on bags, another thing on signed Z-sets."""
    a, m = z3.Ints("a m")

    def replay(a: int, m: int) -> tuple[ZSet, ZSet]:
        """m != 0 is |m| > 0."""
        return MATCHED.over(row(a, 7), row(abs(m), 7)), MATCHED.over(row(a, 7), row(m, 7))

    claim = if_then(m != 0, a) == semi(a, m)
    return refute("m != 0 is m > 0", claim, show=[a, m], replay=replay)


def semi_join_that_multiplies() -> Counterexample:
    """A join in place of a semi join: two matches make two rows."""
    a, m = z3.Ints("a m")

    def replay(a: int, m: int) -> tuple[ZSet, ZSet]:
        sides = row(a, 7), row(m, 7)
        return LEFT_COLUMNS.over(JOINED.over(*sides)), MATCHED.over(*sides)

    return refute("semi join = join", a * m == semi(a, m), [m >= 0], [a, m], replay=replay)


def left_delta_against_the_answer_before() -> Counterexample:
    """A left row that arrives together with its first match."""
    a, da, m, dm = z3.Ints("a da m dm")
    flips = z3.If(z3.And(m <= 0, m + dm > 0), -a, if_then(z3.And(m > 0, m + dm <= 0), a))
    claim = anti(da, m) + flips == anti(a + da, m + dm) - anti(a, m)
    given = [a >= 0, da >= 0, m >= 0, dm >= 0]

    def replay(a: int, da: int, m: int, dm: int) -> tuple[ZSet, ZSet]:
        old, new, before, after = row(a, 7), row(da, 7), row(m, 7), row(m + dm, 7)
        flips = UNMATCHED.over(old, after) - UNMATCHED.over(old, before)
        change = UNMATCHED.change([old, before], [new, row(dm, 7)])
        return UNMATCHED.over(new, before) + flips, change

    name = "da is tested on matches before"
    return refute(name, claim, given, [a, da, m, dm], replay=replay)


def no_transitions() -> Counterexample:
    """Only the left delta is looked at: what the right side changes is missed."""
    a, m, dm = z3.Ints("a m dm")
    claim = semi(a, m + dm) - semi(a, m) == 0

    def replay(a: int, m: int, dm: int) -> tuple[ZSet, ZSet]:
        return MATCHED.change([row(a, 7), row(m, 7)], [ZSet(), row(dm, 7)]), ZSet()

    name = "nothing changes without a left delta"
    return refute(name, claim, [a >= 0, m >= 0], [a, m, dm], replay=replay)


@theorem(
    statement="rows l with p(m(l)) change only where touched, if touched has the changed rows",
    source="DBSP (VLDB 2023) definition 3.1; semi and anti join by presence transitions",
    wrong=(
        present_unless_zero,
        semi_join_that_multiplies,
        left_delta_against_the_answer_before,
        no_transitions,
    ),
)
def presence_increment() -> Thm:
    """For any condition p on the weight of the matches: semi, anti and padding are three."""
    a, m = z3.Ints("a m")
    complement = prove_for_all("semi + anti = the left side", [a, m], semi(a, m) + anti(a, m) == a)
    return both("presence", any_presence().laws("any condition"), complement)


def negative_mass_is_present() -> Counterexample:
    """The anti join of m != 0: rows that are owed on the right take left rows away."""
    a, m = z3.Ints("a m")

    def replay(a: int, m: int) -> tuple[ZSet, ZSet]:
        return UNMATCHED.over(row(a, 7), row(abs(m), 7)), UNMATCHED.over(row(a, 7), row(m, 7))

    claim = if_then(m == 0, a) == anti(a, m)
    return refute("m = 0 is m <= 0", claim, show=[a, m], replay=replay)


@theorem(
    statement="semi, anti join by m > 0, m != 0 agree iff a(l) = 0 or m(b, l) >= 0, as if b >= 0",
    source="beyond the paper: presence in DBSP (mass > 0) and in TanStack DB (mass != 0)",
    wrong=(present_unless_zero, negative_mass_is_present),
)
def presence_semantics() -> Thm:
    """Either presence has the increment of `presence_increment`, which holds for any condition."""
    matches = any_presence().matches
    left, right = matches.left, matches.right
    a, b, x = left.a, right.a, left.x
    mass, images = matches.of(b, x), matches.images(x)
    bag = is_positive(right, b)
    maps = positive_maps(right, matches.number)
    lists = matches.number.lists
    ones = prove(
        "an image is one row or none",
        maps.images_positive(images),
        [*matches.images.equations, *lists.W.equations],
    )
    reached = inst(maps.reached, images, b, matches.only)
    above = prove_for_all("b >= 0 → m(b, l) >= 0", [b, x], mass >= 0, [ones, reached], [bag])
    exactly, agree = [], []
    for name, by_sign, by_zero in (
        ("semi join", lambda m: m > 0, lambda m: m != 0),
        ("anti join", lambda m: m <= 0, lambda m: m == 0),
    ):
        one, other = (
            left.comprehension(
                f"{name} by {how}",
                [left.sort, right.sort],
                lambda x, a, b, keeps=keeps: if_then(keeps(matches.of(b, x)), left.weight(a, x)),
                lambda a, b: left.entries(a),
                [left.no_weight_outside()],
            )
            for how, keeps in (("sign", by_sign), ("zero", by_zero))
        )
        known = [*one.equations, *other.equations]
        same = left.weight(one(a, b), x) == left.weight(other(a, b), x)
        harmless = z3.Or(left.weight(a, x) == 0, mass >= 0)
        name = f"{name}, by sign and by zero"
        exactly.append(prove_for_all(f"{name}: at a row", [a, b, x], same == harmless, known))
        agree.append(left.equal(name, one(a, b), other(a, b), [a, b], [*known, above], [bag]))
    return both("two notions of presence", above, *exactly, *agree)


# ---------------------------------------------------------------- the code

LEFT = [(1, 10), (None, 11), (1, 12), (2, 13)]
RIGHT = [(1, 11), (1, 12), (None, 11)]
RESIDUAL = col("v") < col("w")


def semi_join_subject(
    anti: bool, residual: Expr | None = None, rows: int = 4, ticks: int = 3
) -> Subject:
    """Two rows with one key, on both sides; a key without a match; NULL keys.

    The residual is TRUE for two of the four pairs with equal keys.
    """
    inputs = [("k BIGINT, v BIGINT", LEFT[:rows]), ("j BIGINT, w BIGINT", RIGHT[:rows])]
    return subject_of(SemiJoin((("k", "j"),), residual, anti), inputs, ticks)


def semi_join_code_of_the_deltas() -> Counterexample:
    subject = semi_join_subject(anti=False)
    name = "puts out da ⋉ db"
    return refute_code(name, subject, lambda: Stateless(subject.meaning))


def anti_join_code_that_hears_one_side() -> Counterexample:
    """What the right side changes reaches the left rows a tick late."""
    subject = semi_join_subject(anti=True)
    name = "left rows outside the delta stay"
    return refute_code(name, subject, lambda: OneSided(subject.increment(), 0))


@theorem(
    statement="The increments of semi and anti join, as they run, are D ∘ semi_join ∘ I",
    source="reference/operators/semi_join.py, reference/operators/presence.py",
    scope="all integer weights; 4+3 rows, 3 ticks, with and without a residual",
    wrong=(semi_join_code_of_the_deltas, anti_join_code_that_hears_one_side),
)
def semi_join_code() -> Thm:
    kinds = [(anti, residual) for anti in (False, True) for residual in (None, RESIDUAL)]
    merged = [prove_code(semi_join_subject(*kind)) for kind in kinds]
    forked = [prove_paths(semi_join_subject(*kind, rows=1, ticks=2)) for kind in kinds]
    return both("semi and anti join", *merged, *forked)
