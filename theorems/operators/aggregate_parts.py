"""What the other aggregates keep is linear too, or linear in which values are present.

f(x) FILTER (WHERE p)   part = 0 where p is not TRUE: what is kept of the rows where it is
VARIANCE(x)             three sums: of 1, x and x²
f(DISTINCT x)           over the values present in the group: D(F(distinct(P(I(d))))) = F(H(P(d)))
GROUPING SETS           one aggregate per set, added up
"""

from __future__ import annotations

from collections.abc import Callable

import z3

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.select import AggregateCall
from deltaproof.theorems.calculus.linear import any_lifted, change_of_sum
from deltaproof.theorems.calculus.streams import any_streams, present
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Term,
    Thm,
    both,
    define,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.operators.aggregate import ONE, any_grouping
from deltaproof.theorems.operators.aggregate_sums import (
    COUNT_DISTINCT,
    ROWS,
    Kept,
    V,
    keyless,
    nullable_argument,
    read_off,
    read_off_kept,
    value_of,
)
from deltaproof.theorems.operators.distinct import distinct_as_linear, distinct_contract
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZERO, any_zsets, if_then, streams_of

SIZE = (("n", AggregateCall("count_star")),)
POSITIVE_ROWS = keyless(AggregateCall("count_star", where=V > 0))
VARIANCE = keyless(AggregateCall("variance_pop", V))
SQUARES = keyless(AggregateCall("sum", V * V))
POSITIVE_GROUPS = Run(
    Aggregate(("k",), (("n", AggregateCall("count_star", where=V > 0)),)), ("k BIGINT, v BIGINT",)
)
SUBTOTALS = Run(GroupingSets((("v",), ()), SIZE), ("v BIGINT",))

# ---------------------------------------------------------------- FILTER


def filter_after_the_aggregate() -> Counterexample:
    """WHERE of the aggregate taken for a condition on the group."""
    kept, other = z3.Ints("rows_where_p rows_where_not_p")
    claim = kept == kept + other

    def replay(kept: int, other: int) -> tuple[int, int]:
        table = row(kept, 1) + row(other, -1)
        return value_of(POSITIVE_ROWS, table), value_of(ROWS, table)

    name = "COUNT(*) FILTER (WHERE p) = COUNT(*)"
    return refute(name, claim, show=[kept, other], replay=replay)


def group_that_goes_with_its_filter() -> Counterexample:
    """A group none of whose rows pass the filter is there nevertheless, with a count of 0."""
    kept, other = z3.Ints("rows_where_p rows_where_not_p")
    given = [kept >= 0, other >= 0]
    claim = (kept > 0) == (kept + other > 0)

    def replay(kept: int, other: int) -> tuple[bool, bool]:
        """Whether a row passes, and whether the group is there."""
        groups = POSITIVE_GROUPS.over(row(kept, 7, 1) + row(other, 7, -1))
        return any(n > 0 for _, n in groups), bool(groups)

    name = "the group exists while a row passes"
    return refute(name, claim, given, [kept, other], replay=replay)


@theorem(
    statement="f(x) FILTER (WHERE p): kept(a + d) = kept(a) + kept(d), part = 0 unless p is TRUE",
    source="SQL: FILTER; DBSP (VLDB 2023) section 7.2",
    wrong=(filter_after_the_aggregate, group_that_goes_with_its_filter),
)
def filtered_aggregate_linear() -> Thm:
    holds = fresh_symbol("p is TRUE", any_grouping().rows.row, z3.BoolSort())
    count, value = nullable_argument()

    def where(part: Callable[[Term], Term]) -> Callable[[Term], Term]:
        return lambda k: z3.If(holds(k), part(k), ZERO)

    return read_off("FILTER", [where(lambda k: ONE), where(count), where(value)])


# ---------------------------------------------------------------- VARIANCE


def mean_of_squares() -> Counterexample:
    """The square of the sum is not subtracted."""
    x, y = z3.Ints("x y")
    claim = 2 * (x * x + y * y) - (x + y) * (x + y) == 2 * (x * x + y * y)

    def replay(x: int, y: int) -> tuple[float, float]:
        table = row(1, x) + row(1, y)
        return 4 * value_of(VARIANCE, table), 2 * value_of(SQUARES, table)

    return refute("n² VARIANCE = n Σx²", claim, show=[x, y], replay=replay)


def variances_that_add() -> Counterexample:
    """VARIANCE of two halves is not the sum of their variances."""
    x, y = z3.Ints("x y")
    claim = 2 * (x * x + y * y) - (x + y) * (x + y) == 0

    def replay(x: int, y: int) -> tuple[float, float]:
        one, other = row(1, x), row(1, y)
        return value_of(VARIANCE, one + other), value_of(VARIANCE, one) + value_of(VARIANCE, other)

    name = "VARIANCE({x, y}) = VARIANCE({x}) + VARIANCE({y})"
    return refute(name, claim, show=[x, y], replay=replay)


@theorem(
    statement="Σ (n x - s)² = n (n q - s²), n = Σ 1, s = Σ x, q = Σ x²: VARIANCE from three sums",
    source="DBSP (VLDB 2023) section 7.2",
    wrong=(mean_of_squares, variances_that_add),
)
def variance_from_sums() -> Thm:
    """Σ goes by weight over the rows of a group, of any size, where x is not NULL; n² (n - 1) or n³
    times the variance is this, and n, s and q are what is kept for the group.
    """
    it, (count, value) = any_grouping(), nullable_argument()
    lists, a, g = it.rows.lists, it.rows.a, it.g
    parts = (lambda k: value(k) * value(k), value, count)
    kept = [Kept(it, f"VARIANCE{number}", part) for number, part in enumerate(parts)]
    m, c, x, w, n, s, q = z3.Ints("m c x w n s q")
    # Names for the products: z3 is slow where it has to multiply out and to add up at once.
    square = define(
        "(m x - c)² w", [INT] * 4, INT, lambda m, c, x, w: (m * x - c) * (m * x - c) * w
    )
    parabola = define(
        "m² q - 2 m c s + c² n",
        [INT] * 5,
        INT,
        lambda m, c, q, s, n: m * m * q - 2 * m * c * s + c * c * n,
    )
    multiplied = prove(
        "a square, multiplied out once",
        square(m, c, x, w) == (m * x * (m * x - c) - c * (m * x - c)) * w,
        [square.unfold(m, c, x, w)],
    )
    sums = (q, s, n), (x * x * w + q, x * w + s, w + n)
    before, after = (parabola(m, c, *each) for each in sums)
    known = [multiplied, *[parabola.unfold(m, c, *each) for each in sums]]
    goal = square(m, c, x, w) + before == after
    one_more = prove_for_all("one more row", [m, c, x, w, q, s, n], goal, known)

    def of_group(k: Term, g: Term, added: Term) -> Term:
        return if_then(z3.And(it.key(k) == g, count(k) == 1), added)

    deviations = recursive(
        "Σ (m x - c)²",
        lists.sort,
        [it.group_sort, INT, INT],
        INT,
        (
            lambda recur, g, m, c: ZERO,
            lambda recur, k, w, rest, g, m, c: (
                of_group(k, g, square(m, c, value(k), w)) + recur(rest, g, m, c)
            ),
        ),
    )

    def totals(entries: Term) -> list[Term]:
        return [each.maps.total_of(entries, each.image(), g) for each in kept]

    def facts(case: Case) -> list[Thm]:
        known = [deviations.unfold(case.term, g, m, c)]
        if not case.arguments:
            empty = [each.maps.totals_for(each.image(), g)[0] for each in kept]
            return [*known, *empty, parabola.unfold(m, c, ZERO, ZERO, ZERO)]
        k, w, rest = case.arguments
        x = value(k)
        added = (x * x * w, x * w, w)
        changes = zip(kept, added, totals(rest), totals(case.term), strict=True)
        for each, term, old, new in changes:
            image = each.image()
            by = [
                inst(each.maps.totals_for(image, g)[1], k, w, rest),
                each.maps.part.unfold(image, k, w, g),
                each.image.unfold(k),
                *each.groups.lists.W.equations,
            ]
            goal = new == of_group(k, g, term) + old
            known.append(prove(f"{case.name}: {each.name}", goal, by))
        return [*known, inst(one_more, m, c, x, w, *totals(rest))]

    def claim(entries: Term) -> Formula:
        return deviations(entries, g, m, c) == parabola(m, c, *totals(entries))

    name = "Σ (m x - c)² = m² q - 2 m c s + c² n"
    squares = gen(induct(name, lists.sort, claim, (), facts), m, c)
    entries = it.rows.entries(a)
    q, s, n = (each.of(a, g) for each in kept)
    known = [
        inst(squares, n, s, entries),
        *[each.maps.applied(each.image(), a, g) for each in kept],
        *parabola.equations,
    ]
    goal = deviations(entries, g, n, s) == n * (n * q - s * s)
    identity = gen(prove("Σ (n x - s)² = n (n q - s²)", goal, known), a, g)
    return both("VARIANCE", gen(squares, g), identity, read_off_kept("VARIANCE", kept))


# ---------------------------------------------------------------- DISTINCT


def distinct_count_of_the_delta() -> Counterexample:
    """The number of different values in the delta is added, also of those that were there."""
    before, delta = z3.Ints("weight_of_value delta_of_value")
    claim = present(before) + present(delta) == present(before + delta)
    given = [before >= 0, delta >= 0]

    def replay(before: int, delta: int) -> tuple[int, int]:
        weights = (before, delta, before + delta)
        one, other, whole = (value_of(COUNT_DISTINCT, row(each, 7)) for each in weights)
        return one + other, whole

    name = "COUNT(DISTINCT) adds the delta's values"
    return refute(name, claim, given, [before, delta], replay=replay)


def value_gone_with_one_of_its_rows() -> Counterexample:
    before = z3.Int("weight_of_value")
    claim = present(before - 1) == present(before) - 1

    def replay(before: int) -> tuple[int, int]:
        then, now = (value_of(COUNT_DISTINCT, row(n, 7)) for n in (before, before - 1))
        return now, then - 1

    name = "a deleted row takes its value away"
    return refute(name, claim, [before > 0], [before], replay=replay)


@theorem(
    statement="D(F(distinct(P(I(d))))) = F(H(zI(P(d)), P(d))), linear F, P: f(DISTINCT x)",
    source="DBSP (VLDB 2023) propositions 3.2 and 4.7",
    wrong=(distinct_count_of_the_delta, value_gone_with_one_of_its_rows, distinct_as_linear),
)
def distinct_aggregate_increment() -> Thm:
    """P, linear, gives a row to (group, value); F, linear, is the sum or the count per group."""
    values = any_zsets("B")
    first = any_lifted("P", any_streams("A"), streams_of(values))
    last = any_lifted("F", streams_of(values), any_streams("C"))
    d = first.source.stream("d")
    _, contract = distinct_contract(values)
    at_values = inst(contract, first.of(d))
    view, change = at_values.formula.arg(0).arg(0), at_values.formula.arg(1)
    inside = view.arg(0)
    passed = inst(first.passes_integral(), d)
    shifted = prove("P passes I", inside == first.of(first.source.I(d)), [passed])
    now = last.of(view.decl()(first.of(first.source.I(d))))
    known = [shifted, at_values, inst(last.passes_difference(), view)]
    goal = last.target.D(now) == last.of(change)
    return gen(prove("f(DISTINCT x)", goal, known), d)


# ---------------------------------------------------------------- GROUPING SETS


def one_group_for_all_sets() -> Counterexample:
    """A subtotal and a group whose key is NULL, in one row."""
    total, null_group = z3.Ints("total group_of_null")
    claim = total == total + null_group
    given = [null_group >= 0, total > null_group]

    def replay(total: int, null_group: int) -> tuple[int, int]:
        """How many keys the rows show, and how many groups they are."""
        groups = SUBTOTALS.over(row(null_group, None) + row(total - null_group, 7))
        return len({key for key, _ in groups}), sum(weight for _, weight in groups.items())

    name = "a missing key is the key NULL"
    return refute(name, claim, given, [total, null_group], replay=replay)


@theorem(
    statement="D(f(G(I(d))) + g(H(I(d)))) = f(D(G(I(d)))) + g(D(H(I(d)))), linear f, g",
    source="SQL: GROUPING SETS; DBSP (VLDB 2023) proposition 3.2",
    wrong=(one_group_for_all_sets,),
)
def grouping_sets_increment() -> Thm:
    """G and H are any queries, here one GROUP BY per set; f and g, linear, place its keys."""
    source, target = any_streams("A"), any_streams("C")
    d = source.stream("d")
    summands = []
    for name, rows in (("G", any_streams("B")), ("H", any_streams("V"))):
        query = fresh_symbol(name, source.sort, rows.sort)
        view = query(source.I(d))
        own = prove(f"the increment of {name}", rows.D(view) == rows.D(view))
        summands.append((any_lifted(f"columns of {name}", rows, target), own))
    return gen(change_of_sum("a sum of aggregates", *summands), d)
