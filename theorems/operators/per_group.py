"""A query per group is the query on the stream of the group's own changes: its increment is run
where the changes are, and a group that has no rows is as if it had never been.

    contents(I(d), g) = I(contents(d, g))      taking one group's rows is linear
    D(Q(contents(I(d), g))) = Q^Δ(contents(d, g))
    there(g) = contents(a, g) ≠ 0              what Q gives over nothing goes with the group
"""

from __future__ import annotations

import z3

from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.linear import lifted
from deltaproof.theorems.calculus.streams import abelian_group, any_streams
from deltaproof.theorems.execution.forking import Enumerated, enumerated, prove_each, refute_each
from deltaproof.theorems.execution.symbolic import Altered, Subject, subject_of
from deltaproof.theorems.kernel import (
    Counterexample,
    Term,
    Thm,
    both,
    fresh_symbol,
    gen,
    inst,
    prove,
    prove_for_all,
    refute,
)
from deltaproof.theorems.operators.aggregate import any_grouping
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import if_then, streams_of


def group_that_forgets() -> Counterexample:
    """A circuit that is dropped while the group has rows: what it gave is never taken back."""
    before, change = z3.Ints("view_before view_change")
    claim = before + change == change

    def replay(before: int, change: int) -> tuple[ZSet, ZSet]:
        """The view after both ticks, and that of a circuit which saw the second only."""
        groups, tables = Run(PerGroup(("k",), T.project("v")), (str(T.schema),)), row(before, 1, 3)
        delta = row(change, 1, 3)
        return groups.first(tables) + groups.change([tables], [delta]), groups.first(delta)

    name = "a group may begin anew at any time"
    return refute(name, claim, show=[before, change], replay=replay)


def empty_group_that_keeps_a_row() -> Counterexample:
    """A query with a row over nothing, such as a count: the row outlives its group."""
    over_nothing, before = z3.Ints("over_nothing before")
    claim = (over_nothing - before) == -before
    return refute("Q(0) - Q(c) takes all of Q(c) back", claim, show=[over_nothing, before])


def sum_over_all_groups() -> Counterexample:
    """The query of the whole table for that of each group: only a linear query may be split so."""
    one, other = z3.Ints("group_1 group_2")

    def top(x: Term) -> Term:
        return if_then(x > 0, z3.IntVal(1))

    claim = top(one) + top(other) == top(one + other)

    def replay(one: int, other: int) -> tuple[ZSet, ZSet]:
        """The values of each group, and those of the whole table."""
        values, rows = T.project("v").distinct(), row(one, 1, 3) + row(other, 2, 3)
        groups = T.per_group(["k"], values).project("v")
        return groups.meaning()({"t": rows}), values.meaning()({"t": rows})

    name = "Q(a) = the sum of Q per group"
    return refute(name, claim, show=[one, other], replay=replay)


@theorem(
    statement="D(Q(contents(I(d), g))) = Q^Δ(contents(d, g)) per group g, for any Q and any state",
    source="DBSP (VLDB 2023) section 6, proposition 3.2 (chain rule)",
    wrong=(group_that_forgets, empty_group_that_keeps_a_row, sum_over_all_groups),
)
def per_group_lifting() -> Thm:
    """Q^Δ(s) is D(Q(I(s))), for any operator Q on streams. Several inputs are several such laws."""
    it, target = any_grouping(), any_streams("B")
    rows = it.rows
    changes = streams_of(rows)
    g = fresh_symbol("g", it.group_sort)()
    a, d = rows.a, rows.b
    linear = gen(inst(it.contents_linear(), a, d, g), a, d)
    own = lifted("contents", changes, changes, lambda table: it.contents(table, g), linear)
    query = fresh_symbol("Q", changes.sort, target.sort)
    s = changes.stream("s")
    passed = own.passes_integral()
    whole = target.D(query(own.of(changes.I(s))))
    incremental = target.D(query(changes.I(own.of(s))))
    lifting = gen(
        prove("the group's increment is the query's", whole == incremental, [inst(passed, s)]), s
    )
    return both("per group", lifting, passed, group_comes_and_goes())


def group_comes_and_goes() -> Thm:
    """there(c') Q(c') - there(c) Q(c) is what the code puts out: the circuit's change, which is
    all of Q(c') for a group that is new, less Q(0) when the group goes."""
    group = abelian_group("contents")
    query = fresh_symbol("Q", group.sort, z3.IntSort())
    before, after = z3.Consts("before after", group.sort)
    zero = group.zero
    seen = if_then(before != zero, query(before))
    goes = if_then(after == zero, query(zero))
    view = if_then(after != zero, query(after)) - seen
    return prove_for_all(
        "a group comes and goes",
        [before, after],
        (query(after) - seen) - goes == view,
    )


# ---------------------------------------------------------------- the code

LEFT: list[Row] = [(1, 3), (2, 3)]
RIGHT: list[Row] = [(1, 3)]
T, S = table("t", "k BIGINT, v BIGINT"), table("s", "k BIGINT, w BIGINT")


def per_group_subject(query: Query, *rows: list[Row], ticks: int = 2) -> Subject:
    inputs = list(zip(("k BIGINT, v BIGINT", "k BIGINT, w BIGINT"), rows, strict=False))
    return subject_of(PerGroup(("k",), query), inputs, ticks)


def counted() -> Query:
    """A row even over nothing: the group decides whether it is there."""
    return T.project("v").distinct().aggregate(n=count())


def joined() -> Query:
    return T.project("v").left_join(S.project("w"), on={"v": "w"})


def per_group_code_that_keeps_its_row() -> Counterexample:
    """A group goes, and what its query gives over nothing stays."""
    subject = per_group_subject(counted(), LEFT[:1])

    def with_zero(output: ZSet, delta: ZSet) -> ZSet:
        gone = {row[:1] for row, weight in output.items() if weight < 0}
        back = {row[:1] for row, weight in output.items() if weight > 0}
        return output + ZSet({(*key, 0): 1 for key in gone - back})

    name = "a group that goes leaves the row of an empty one"
    return refute_each(name, subject, lambda: Altered(subject.increment(), with_zero), -1, 1)


def per_group_code_of_the_whole() -> Counterexample:
    """The query of all rows, where each group has its own."""
    subject = per_group_subject(counted(), LEFT)
    first = per_group_subject(counted(), LEFT).increment

    def of_one_group(output: ZSet, delta: ZSet) -> ZSet:
        return ZSet([((1, *row[1:]), weight) for row, weight in output.items()])

    name = "all rows are of one group"
    return refute_each(name, subject, lambda: Altered(first(), of_one_group), 0, 1)


@theorem(
    statement="PerGroupIncrement, as it runs, is D ∘ per_group ∘ I",
    source="reference/operators/per_group.py, reference/nested.py",
    scope="weights from -1 to 2; 2 rows, 2 ticks; from -1 to 1 with 2+1 rows; 1 row, 4 ticks",
    wrong=(per_group_code_that_keeps_its_row, per_group_code_of_the_whole),
)
def per_group_code() -> Enumerated:
    return enumerated(
        prove_each(per_group_subject(counted(), LEFT), -1, 2),
        prove_each(per_group_subject(counted(), LEFT[:1], ticks=4), -1, 1),
        prove_each(per_group_subject(joined(), LEFT, RIGHT), -1, 1),
    )
