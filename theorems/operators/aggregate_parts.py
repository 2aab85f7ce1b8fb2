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
from deltaproof.theorems.calculus.streams import any_streams
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Definition,
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
from deltaproof.theorems.operators.aggregate import ONE, any_grouping, sign
from deltaproof.theorems.operators.aggregate_sums import (
    COUNT_DISTINCT,
    ROWS,
    V,
    keyless,
    nullable_argument,
    read_off,
    value_of,
)
from deltaproof.theorems.operators.distinct import distinct_as_linear, distinct_contract
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.zsets import INT, ZERO, ZSets, any_zsets, streams_of

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
    """Σ goes over a group of any size, by weight; n² (n - 1) or n³ times the variance is this."""
    lists = ZSets("values", INT).lists

    def total(name: str, part: Callable[[Term], Term]) -> Definition:
        return recursive(
            name,
            lists.sort,
            [],
            INT,
            (lambda recur: ZERO, lambda recur, k, w, rest: part(k) * w + recur(rest)),
        )

    n, s, q = total("n", lambda k: ONE), total("s", lambda k: k), total("q", lambda k: k * k)
    m, c, k, w = z3.Ints("m c k w")
    # Names for the products: z3 is slow where it has to multiply out and to add up at once.
    square = define(
        "(m x - c)² w", [INT] * 4, INT, lambda m, c, k, w: (m * k - c) * (m * k - c) * w
    )
    parabola = define(
        "m² q - 2 m c s + c² n",
        [INT] * 5,
        INT,
        lambda m, c, n, s, q: m * m * q - 2 * m * c * s + c * c * n,
    )
    deviations = recursive(
        "Σ (m x - c)²",
        lists.sort,
        [INT, INT],
        INT,
        (
            lambda recur, m, c: ZERO,
            lambda recur, k, w, rest, m, c: square(m, c, k, w) + recur(rest, m, c),
        ),
    )
    multiplied = prove_for_all(
        "a square, multiplied out once",
        [k, w],
        square(m, c, k, w) == (m * k * (m * k - c) - c * (m * k - c)) * w,
        [square.unfold(m, c, k, w)],
    )

    def sums(case: Case) -> list[Thm]:
        """The equations of the sums, and what one more row makes of them."""
        known = [*(of.unfold(case.term) for of in (n, s, q)), deviations.unfold(case.term, m, c)]
        if not case.arguments:
            return [*known, parabola.unfold(m, c, ZERO, ZERO, ZERO)]
        k, w, rest = case.arguments
        before = n(rest), s(rest), q(rest)
        after = w + before[0], k * w + before[1], k * k * w + before[2]
        left = square(m, c, k, w) + parabola(m, c, *before)
        unfolded = [parabola.unfold(m, c, *each) for each in (before, after)]
        return [
            *known,
            prove(
                "one more row", left == parabola(m, c, *after), [inst(multiplied, k, w), *unfolded]
            ),
        ]

    def claim(entries: Term) -> Formula:
        whole = parabola(m, c, n(entries), s(entries), q(entries))
        return deviations(entries, m, c) == whole

    name = "Σ (m x - c)² = m² q - 2 m c s + c² n"
    squares = gen(induct(name, lists.sort, claim, (), sums), m, c)
    entries = z3.Const("l", lists.sort)
    size, mean, square = n(entries), s(entries), q(entries)
    known = [inst(squares, size, mean, entries), *parabola.equations]
    goal = deviations(entries, size, mean) == size * (size * square - mean * mean)
    identity = gen(prove("Σ (n x - s)² = n (n q - s²)", goal, known), entries)
    count, value = nullable_argument()
    kept = read_off("VARIANCE", [lambda k: value(k) * value(k), value, count])
    return both("VARIANCE", squares, identity, kept)


# ---------------------------------------------------------------- DISTINCT


def distinct_count_of_the_delta() -> Counterexample:
    """The number of different values in the delta is added, also of those that were there."""
    before, delta = z3.Ints("weight_of_value delta_of_value")
    claim = sign(before) + sign(delta) == sign(before + delta)
    given = [before >= 0, delta >= 0]

    def replay(before: int, delta: int) -> tuple[int, int]:
        weights = (before, delta, before + delta)
        one, other, whole = (value_of(COUNT_DISTINCT, row(each, 7)) for each in weights)
        return one + other, whole

    name = "COUNT(DISTINCT) adds the delta's values"
    return refute(name, claim, given, [before, delta], replay=replay)


def value_gone_with_one_of_its_rows() -> Counterexample:
    before = z3.Int("weight_of_value")
    claim = sign(before - 1) == sign(before) - 1

    def replay(before: int) -> tuple[int, int]:
        then, now = (value_of(COUNT_DISTINCT, row(n, 7)) for n in (before, before - 1))
        return now, then - 1

    name = "a deleted row takes its value away"
    return refute(name, claim, [before > 0], [before], replay=replay)


@theorem(
    statement="D(F(distinct(P(I(d))))) = F(H(zI(P(d)), P(d))): f(DISTINCT x), value by value",
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
    statement="D(f(G(I(d))) + g(H(I(d)))) = f(D(G(I(d)))) + g(D(H(I(d))))",
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
