"""An outer join is the inner join, and pads for the rows without a match: a bilinear part and one
part per padded side that follows presence.

    full(a, b) = pairs(join(a, b)) + pad(unmatched(a, b)) + pad'(unmatched(b, a))

Every pad is put out in one place only. The three products of the inner join put out no pads.
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.scalar import Expr, col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linear import any_lifted, change_of_sum
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Altered,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both, fresh_symbol, gen, inst, refute
from deltaproof.theorems.operators.join import any_join, join_contract
from deltaproof.theorems.operators.semi_join import (
    LEFT,
    RESIDUAL,
    RIGHT,
    Matches,
    anti,
    any_presence,
    left_delta_against_the_answer_before,
    presence,
)
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, any_zsets, streams_of

LEFT_JOINED = Run(OuterJoin("left", (("k", "j"),), None), ("k BIGINT", "j BIGINT"))
PADDED = Run(Filter(col("j").is_null()), ("k BIGINT, j BIGINT",))


def pads_in_both_terms() -> Counterexample:
    """The outer join of the two deltas added to the outer joins with the tables: pads twice."""
    a, da, b, db = z3.Ints("a da b db")
    change = anti(a + da, b + db) - anti(a, b)
    claim = anti(da, b) + anti(a, db) + anti(da, db) == change
    given = [a >= 0, da >= 0, b >= 0, db >= 0]

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        before, deltas = (row(a, 7), row(b, 7)), (row(da, 7), row(db, 7))
        terms = [(deltas[0], before[1]), (before[0], deltas[1]), deltas]
        added = sum((LEFT_JOINED.over(*each) for each in terms), ZSet())
        return PADDED.over(added), PADDED.over(LEFT_JOINED.change(before, deltas))

    name = "D(a ⟕ b) = da ⟕ b + a ⟕ db + da ⟕ db, its pads"
    return refute(name, claim, given, [a, da, b, db], replay=replay)


def pad_that_stays() -> Counterexample:
    """The pad is put out with its row and not taken back when a match arrives."""
    a, m, dm = z3.Ints("a m dm")
    claim = anti(a, m + dm) - anti(a, m) == 0

    def replay(a: int, m: int, dm: int) -> tuple[ZSet, ZSet]:
        change = LEFT_JOINED.change([row(a, 7), row(m, 7)], [ZSet(), row(dm, 7)])
        return PADDED.over(change), ZSet()

    return refute("a match takes no pad back", claim, [a >= 0, m >= 0], [a, m, dm], replay=replay)


@theorem(
    statement="D(left, full join) = pair(3 joins) + pad(touched ⊇ changed rows), pair, pad linear",
    source="DBSP (VLDB 2023) theorem 3.4 and proposition 3.2; outer joins by presence transitions",
    wrong=(pads_in_both_terms, pad_that_stays, left_delta_against_the_answer_before),
)
def outer_join_increment() -> Thm:
    """pair and pad are any linear functions: `map_linear` has those that are meant. A row is padded
    by any condition on what matches it: m <= 0 is meant. The right join is the left join of the
    swapped inputs.
    """
    left, right, wide = any_zsets("A"), any_zsets("B"), any_streams("W")
    join = any_join()
    pairs = any_lifted("pair", streams_of(join.pairs.zsets), wide)
    pad_left = any_lifted("pad", streams_of(left), wide)
    pad_right = any_lifted("pad of the right", streams_of(right), wide)
    on_the_left = any_presence()
    mirrored = Matches(right, left, lambda one, other: join.matches(other, one))
    on_the_right = presence(
        "unmatched on the right", mirrored, fresh_symbol("p'", INT, z3.BoolSort())
    )
    da, db = streams_of(left).stream("da"), streams_of(right).stream("db")
    inner = (pairs, inst(join_contract(), da, db))
    left_pads = (pad_left, inst(on_the_left.contract, da, db))
    right_pads = (pad_right, inst(on_the_right.contract, db, da))
    return both(
        "outer joins",
        gen(change_of_sum("left join", inner, left_pads), da, db),
        gen(change_of_sum("full join", inner, left_pads, right_pads), da, db),
    )


# ---------------------------------------------------------------- the code


def outer_join_subject(
    kind: str, residual: Expr | None = None, rows: int = 3, ticks: int = 2
) -> Subject:
    inputs = [("k BIGINT, v BIGINT", LEFT[:rows]), ("j BIGINT, w BIGINT", RIGHT[:rows])]
    return subject_of(OuterJoin(kind, (("k", "j"),), residual), inputs, ticks)


def outer_join_code_with_pads_of_the_deltas() -> Counterexample:
    """da ⟕ db, pads and all, in place of da ⋈ db."""
    subject = outer_join_subject("left")

    def with_pads(output: ZSet, da: ZSet, db: ZSet) -> ZSet:
        pads = {row: w for row, w in subject.meaning(da, db).items() if row[2] is row[3] is None}
        return output + ZSet.trusted(pads)

    name = "the product of the deltas is padded too"
    return refute_code(name, subject, lambda: Altered(subject.increment(), with_pads))


def full_join_code_that_pads_one_side() -> Counterexample:
    subject = outer_join_subject("full")
    return refute_code("a left join", subject, outer_join_subject("left").increment)


@theorem(
    statement="The increments of left, right and full join, as they run, are D ∘ outer_join ∘ I",
    source="reference/operators/outer_join.py, reference/operators/presence.py",
    scope="all integer weights; 3+3 rows, 2 ticks, with and without a residual",
    wrong=(outer_join_code_with_pads_of_the_deltas, full_join_code_that_pads_one_side),
)
def outer_join_code() -> Thm:
    kinds = [("left", None), ("right", RESIDUAL), ("full", RESIDUAL)]
    merged = [prove_code(outer_join_subject(*kind)) for kind in kinds]
    forked = [prove_paths(outer_join_subject("full", residual, 1)) for residual in (None, RESIDUAL)]
    return both("outer joins", *merged, *forked)
