"""Sets are the Z-sets whose weights are 0 and 1, and distinct may wait until the end of a query.

    isset(m)        every weight is 0 or 1           toset(m)     the rows of distinct(m)
    ispositive(m)   no weight is below 0             tozset(s)    weight 1 for the rows of s
    m >= n          ispositive(m - n)                distinct(m)  weight 1 where m[x] > 0

Relational operators on sets are operators on Z-sets between tozset and toset. Each statement is
about whole Z-sets, of any size, over rows of which nothing is known; the predicate of a filter,
the condition of a join and the function of a map are arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import z3

from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.scalar import col
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import TICK, after, bilinear_increment, present
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Formula,
    FunctionSpace,
    Term,
    Thm,
    both,
    fresh_symbol,
    gen,
    induct,
    inst,
    parts,
    prove,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.operators.distinct import (
    ONE,
    crossings,
    distinct_increment,
    distinct_of,
    idempotence,
)
from deltaproof.theorems.operators.join import any_join, product
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.positive_sums import (
    any_map,
    is_positive,
    once_before_the_projection,
    positive_maps,
    signs_of_products,
)
from deltaproof.theorems.tables.zsets import ZERO, ZSets, any_zsets, if_then, streams_of

BOOL = z3.BoolSort()
FIRST = TICK.constructor(0)()
KEYS, BOTH_KEYS = "k BIGINT", ("k BIGINT", "j BIGINT")
ONCE = Run(Distinct(), (KEYS,))
PAIRS = Run(Join(()), BOTH_KEYS)
ONCE_PAIRS = Run(Distinct(), (", ".join(BOTH_KEYS),))
ADDED = Run(UnionAll(), (KEYS, KEYS))
PROJECTED = Run(Map((("k", col("k")),)), ("k BIGINT, v BIGINT",))


def is_set(rows: ZSets, a: Term) -> Formula:
    """isset(a): every row weighs 0 or 1."""
    x = z3.FreshConst(rows.row, "x")
    weight = rows.weight(a, x)
    return z3.ForAll([x], z3.Or(weight == ZERO, weight == ONE), patterns=[weight])


def at_least(rows: ZSets, a: Term, b: Term) -> Formula:
    """a >= b: ispositive(a - b)."""
    return is_positive(rows, rows.group.sub(a, b))


class Relations:
    """The operators of the relational algebra on Z-sets over arbitrary rows."""

    def __init__(self, left: ZSets, right: ZSets) -> None:
        self.left, self.right = left, right
        self.a, self.b = left.a, right.a
        self.c, self.d = left.b, right.b
        joined = any_join()
        self.rows, self.matches, self.join = joined.pairs, joined.matches, joined.join
        self.pairs = joined.pairs.zsets
        self.keeps = fresh_symbol("keeps", left.row, BOOL)
        self.filter = left.pointwise("filter", lambda x, w: if_then(self.keeps(x), w))
        self.matching = self.pairs.pointwise(
            "matching", lambda y, w: if_then(self.matches(*self.sides(y)), w)
        )
        all_pairs, listed = product(joined.pairs, left, right)
        self.product = self.pairs.comprehension(
            "product",
            [left.sort, right.sort],
            lambda y, a, b: left.weight(a, self.sides(y)[0]) * right.weight(b, self.sides(y)[1]),
            lambda a, b: all_pairs(left.entries(a), right.entries(b)),
            [listed, left.no_weight_outside(), right.no_weight_outside()],
        )
        self.intersect = left.comprehension(
            "intersect",
            [left.sort, left.sort],
            lambda x, a, b: left.weight(a, x) * left.weight(b, x),
            lambda a, b: left.entries(a),
            [left.no_weight_outside()],
        )

    def sides(self, pair: Term) -> tuple[Term, Term]:
        """The left and the right row of a pair."""
        return self.rows.left(pair), self.rows.right(pair)

    def signs(self, *weights: Term) -> Thm:
        """The sign of the product of these two weights."""
        return inst(signs_of_products(), *weights)


@cache
def relations() -> Relations:
    return Relations(any_zsets("A"), any_zsets("B"))


# ---------------------------------------------------------------- sets of rows


class Sets:
    """Sets of rows, and the way from them to Z-sets and back."""

    def __init__(self, rows: ZSets) -> None:
        self.rows = rows
        self.space = FunctionSpace(f"sets of {rows.name}", rows.row, BOOL)
        lists, distinct = rows.lists, distinct_of(rows)
        self.listed = self.space.define(
            "rows of a list", [lists.sort], lambda x, s: lists.has(s, x)
        )
        self.toset = self.space.define(
            "toset", [rows.sort], lambda x, m: rows.weight(distinct(m), x) != 0
        )
        self.tozset = rows.comprehension(
            "tozset", [lists.sort], lambda x, s: if_then(lists.has(s, x), ONE), lambda s: s
        )
        self.s, self.t = rows.list, z3.Const("t", lists.sort)

    def equations(self) -> list[Thm]:
        """What toset, tozset and distinct are."""
        definitions = (self.listed, self.toset, self.tozset, distinct_of(self.rows))
        return [*self.rows.weights, *[each.equations[0] for each in definitions]]

    def square(
        self, name: str, query: Definition, m: Term, by: Sequence[Thm], inputs: Sequence[Term]
    ) -> Thm:
        """∀ inputs. toset(m) = query(inputs), because every row is in both or in neither."""
        x = z3.FreshConst(self.rows.row, "row")
        left, right = self.toset(m), query(*inputs)
        goal = self.space.at(left, x) == self.space.at(right, x)
        known = [*self.equations(), *query.equations, *by]
        everywhere = prove_for_all(f"{name}, at every row", [x], goal, known)
        return gen(self.space.equal(name, left, right, everywhere), *inputs)


@cache
def sets_of(rows: ZSets) -> Sets:
    return Sets(rows)


def except_of_bags() -> Counterexample:
    """distinct(a - b) on bags that are no sets: what stands twice and is taken once stays."""
    a, b = z3.Ints("a b")
    claim = (present(a - b) > 0) == z3.And(a > 0, b <= 0)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        except_ = Run(SetOperation("except"), (KEYS, KEYS))
        return ONCE.over(row(a, 7) - row(b, 7)), except_.over(row(a, 7), row(b, 7))

    name = "toset(distinct(a - b)) = toset(a) EXCEPT toset(b), for bags"
    return refute(name, claim, [a >= 0, b >= 0], [a, b], replay=replay)


def except_without_distinct() -> Counterexample:
    """a - b, with every row that weighs something: rows of b alone would be in it."""
    a, b = z3.Ints("a b")
    claim = (a - b != 0) == z3.And(a > 0, b <= 0)
    sets = [z3.And(each >= 0, each <= 1) for each in (a, b)]

    def replay(a: int, b: int) -> tuple[set[object], set[object]]:
        except_ = Run(SetOperation("except"), (KEYS, KEYS))
        return set(row(a, 7) - row(b, 7)), set(except_.over(row(a, 7), row(b, 7)))

    return refute("the rows of a - b are a EXCEPT b", claim, sets, [a, b], replay=replay)


@theorem(
    statement="UNION, EXCEPT, INTERSECT, WHERE, product and JOIN of sets = toset(Q'(tozset, ...))",
    source="DBSP (VLDB 2023) table 1 and the commuting diagram of section 4.2",
    lean="union_ok, difference_ok, intersect_ok, filter_ok, product_ok",
    wrong=(except_of_bags, except_without_distinct),
)
def toset_commutes() -> Thm:
    """For finite sets of any size, given as lists of rows, in any order and with duplicates."""
    it, left, right = relations(), sets_of(any_zsets("A")), sets_of(any_zsets("B"))
    pairs, rows = sets_of(it.pairs), left.rows
    s, t, u = left.s, left.t, right.s
    lists, others = left.rows.lists, right.rows.lists
    two, distinct = [lists.sort, lists.sort], distinct_of(rows)
    both_sides = [lists.sort, others.sort]
    one, other = left.tozset(s), left.tozset(t)

    def set_of(name: str, member: Callable[..., Formula]) -> Definition:
        return left.space.define(name, two, member)

    def of_pairs(y: Term, s: Term, u: Term) -> Formula:
        first, second = it.sides(y)
        return z3.And(lists.has(s, first), others.has(u, second))

    union = set_of("UNION", lambda x, s, t: z3.Or(lists.has(s, x), lists.has(t, x)))
    except_ = set_of("EXCEPT", lambda x, s, t: z3.And(lists.has(s, x), z3.Not(lists.has(t, x))))
    both_in = set_of("INTERSECT", lambda x, s, t: z3.And(lists.has(s, x), lists.has(t, x)))
    where = left.space.define(
        "WHERE", [lists.sort], lambda x, s: z3.And(lists.has(s, x), it.keeps(x))
    )
    crossed = pairs.space.define("all pairs", both_sides, of_pairs)
    joined = pairs.space.define(
        "JOIN", both_sides, lambda y, s, u: z3.And(of_pairs(y, s, u), it.matches(*it.sides(y)))
    )
    sides = [*left.equations(), *right.equations()]
    of_both = (left.tozset(s), right.tozset(u))
    return both(
        "relational operators are operators on Z-sets",
        left.square("UNION", union, distinct(rows.add(one, other)), [], [s, t]),
        left.square("EXCEPT", except_, distinct(rows.group.sub(one, other)), [], [s, t]),
        left.square("INTERSECT", both_in, it.intersect(one, other), it.intersect.equations, [s, t]),
        left.square("WHERE", where, it.filter(one), it.filter.equations, [s]),
        pairs.square("x", crossed, it.product(*of_both), [*sides, *it.product.equations], [s, u]),
        pairs.square("JOIN", joined, it.join(*of_both), [*sides, *it.join.equations], [s, u]),
    )


def projection_as_a_set() -> Counterexample:
    """Two rows of a set with one image: the image weighs 2."""
    a, b = z3.Ints("a b")
    sets = [z3.And(each >= 0, each <= 1) for each in (a, b)]

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        image = PROJECTED.over(row(a, 7, 1) + row(b, 7, 2))
        return image, ONCE.over(image)

    name = "the projection of a set is a set"
    return refute(name, z3.And(a + b >= 0, a + b <= 1), sets, [a, b], replay=replay)


@theorem(
    statement="toset(map(f, tozset(s))) = the rows f(x) of x in s: SELECT DISTINCT f(x) FROM s",
    source="DBSP (VLDB 2023) table 1 (projection); long version (2022) section 4.4 (selection)",
    lean="map_ok",
    wrong=(projection_as_a_set,),
)
def toset_map() -> Thm:
    """A row may have any number of pre-images; that weights never cancel is `sum_positive`."""
    it, left, right = any_map(), sets_of(any_zsets("A")), sets_of(any_zsets("B"))
    lists, x, s = left.rows.lists, left.rows.x, left.s
    image = right.space.define(
        "the rows f(x)",
        [lists.sort],
        lambda y, s: z3.Exists([x], z3.And(lists.has(s, x), it.f(x) == y)),
    )
    rows, y = left.tozset(s), right.rows.x
    bag = prove("tozset(s) is positive", is_positive(left.rows, rows), left.equations())
    reached = prove_for_all(
        "the rows that are reached",
        [y],
        (right.rows.weight(it.of(rows), y) > 0) == right.space.at(image(s), y),
        [bag, it.reached(rows, y), *left.equations(), *image.equations],
    )
    return right.square("SELECT DISTINCT f(x)", image, it.of(rows), [reached], [s])


# ---------------------------------------------------------------- which operators keep sets, bags


def sum_of_sets() -> Counterexample:
    """UNION ALL of two sets is a bag."""
    a, b = z3.Ints("a b")
    sets = [z3.And(each >= 0, each <= 1) for each in (a, b)]

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        whole = ADDED.over(row(a, 7), row(b, 7))
        return whole, ONCE.over(whole)

    name = "the sum of two sets is a set"
    return refute(name, z3.And(a + b >= 0, a + b <= 1), sets, [a, b], replay=replay)


@theorem(
    statement="filter, product, join, intersection of sets are sets; distinct of anything is one",
    source="DBSP (VLDB 2023) definition 4.1, table 1; long version (2022) proposition 4.5",
    lean="distinct_is_set",
    wrong=(sum_of_sets, projection_as_a_set),
)
def isset_preserved() -> Thm:
    it = relations()
    left, right, pairs, a, b, c = it.left, it.right, it.pairs, it.a, it.b, it.c
    one, two, same = is_set(left, a), is_set(right, b), is_set(left, c)

    def kept(
        name: str, rows: ZSets, query: Definition, given: Sequence[Formula], *inputs: Term
    ) -> Thm:
        goal = is_set(rows, query(*inputs))
        return prove_for_all(f"isset({name})", inputs, goal, query.equations, given)

    return both(
        "operators that keep sets",
        kept("filter(a)", left, it.filter, [one], a),
        kept("a x b", pairs, it.product, [one, two], a, b),
        kept("join(a, b)", pairs, it.join, [one, two], a, b),
        kept("intersect(a, c)", left, it.intersect, [one, same], a, c),
        kept("distinct(a)", left, distinct_of(left), [], a),
    )


def difference_of_bags() -> Counterexample:
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[bool, bool]:
        bag, other = row(a, 7), row(b, 7)
        return bag.is_positive() and other.is_positive(), (bag - other).is_positive()

    return refute("a - b is positive", a - b >= 0, [a >= 0, b >= 0], [a, b], replay=replay)


def negation_of_bags() -> Counterexample:
    a = z3.Int("a")

    def replay(a: int) -> tuple[bool, bool]:
        negated = Run(Negate(), (KEYS,)).over(row(a, 7))
        return row(a, 7).is_positive(), negated.is_positive()

    return refute("-a is positive", -a >= 0, [a >= 0], [a], replay=replay)


@theorem(
    statement="ispositive: filter, map, +, x, join, intersect, distinct turn bags into bags",
    source="DBSP (VLDB 2023) definition 4.2, table 1",
    lean="filter_pos, map_pos, product_pos, equi_join_pos, intersect_pos, union_pos, distinct_pos",
    wrong=(difference_of_bags, negation_of_bags),
)
def positive_preserved() -> Thm:
    """Map and flat map, with any images that are bags, by `sum_positive`."""
    it, mapped = relations(), positive_maps(any_zsets("A"), any_zsets("B"))
    left, right, pairs, a, b, c = it.left, it.right, it.pairs, it.a, it.b, it.c
    one, two, same = (is_positive(*each) for each in ((left, a), (right, b), (left, c)))
    f, y = mapped.maps.f, right.x
    images = [mapped.images_positive(f), one]
    distinct = distinct_of(left)
    reached = prove_for_all(
        "no weight below zero",
        [y],
        right.weight(mapped.maps.apply(f, a), y) >= 0,
        [inst(mapped.reached, f, a, y)],
        images,
    )

    def kept(
        name: str, rows: ZSets, m: Term, by: Sequence[Thm], given: Sequence[Formula], *free: Term
    ) -> Thm:
        goal = is_positive(rows, m)
        return prove_for_all(f"ispositive({name})", free, goal, [*rows.weights, *by], given)

    return both(
        "operators that keep bags",
        kept("filter(a)", left, it.filter(a), it.filter.equations, [one], a),
        kept("f(a)", right, mapped.maps.apply(f, a), [reached], images, f, a),
        kept("a + c", left, left.add(a, c), [], [one, same], a, c),
        kept("a x b", pairs, it.product(a, b), it.product.equations, [one, two], a, b),
        kept("join(a, b)", pairs, it.join(a, b), it.join.equations, [one, two], a, b),
        kept(
            "intersect(a, c)",
            left,
            it.intersect(a, c),
            it.intersect.equations,
            [one, same],
            a,
            c,
        ),
        kept("distinct(a)", left, distinct(a), distinct.equations, [], a),
    )


def order_as_total() -> Counterexample:
    """Two bags of different rows: neither has what the other has."""
    a, b = z3.Ints("a b")
    claim = z3.Or(z3.And(a - 0 >= 0, 0 - b >= 0), z3.And(0 - a >= 0, b - 0 >= 0))

    def replay(a: int, b: int) -> tuple[bool, bool]:
        one, other = row(a, 7), row(b, 8)
        return True, (one - other).is_positive() or (other - one).is_positive()

    name = "a >= b or b >= a, for a bag of one row and a bag of another"
    return refute(name, claim, [a >= 0, b >= 0], [a, b], replay=replay)


def bag_as_set() -> Counterexample:
    a = z3.Int("a")

    def replay(a: int) -> tuple[ZSet, ZSet]:
        return row(a, 7), ONCE.over(row(a, 7))

    name = "ispositive(a) → isset(a)"
    return refute(name, z3.Or(a == 0, a == 1), [a >= 0], [a], replay=replay)


@theorem(
    statement="isset(a) -> ispositive(a); >= is a partial order of Z-sets, and + keeps it",
    source="DBSP (VLDB 2023) definition 4.2",
    lean="set_is_bag, zset.po",
    wrong=(order_as_total, bag_as_set),
)
def positive_order() -> Thm:
    rows = any_zsets("A")
    a, b, c = z3.Consts("a b c", rows.sort)
    x, by = z3.FreshConst(rows.row, "x"), rows.weights
    weights = z3.ForAll(
        [x], rows.weight(a, x) >= rows.weight(b, x), patterns=[rows.weight(a, x), rows.weight(b, x)]
    )
    difference = rows.weight(rows.group.sub(a, b), x)
    split = prove_for_all(
        "a row of a - b",
        [x],
        difference == rows.weight(a, x) - rows.weight(b, x),
        by,
        patterns=[difference, rows.weight(a, x)],
    )
    row_by_row = prove_for_all(
        "a >= b, row by row", [a, b], at_least(rows, a, b) == weights, [split]
    )

    def above(name: str, left: Term, right: Term, *pairs: tuple[Term, Term]) -> Thm:
        """left >= right, from the pairs."""
        given = [at_least(rows, *pair) for pair in pairs]
        known = [inst(row_by_row, *pair) for pair in (*pairs, (left, right))]
        return prove_for_all(name, [a, b, c], at_least(rows, left, right), [*by, *known], given)

    given = [at_least(rows, a, b), at_least(rows, b, a)]
    either_way = [inst(row_by_row, a, b), inst(row_by_row, b, a)]
    return both(
        "a partial order",
        prove_for_all("isset → ispositive", [a], is_positive(rows, a), given=[is_set(rows, a)]),
        row_by_row,
        above("a >= a", a, a),
        rows.equal("a >= b, b >= a → a = b", a, b, [a, b], either_way, given),
        above("a >= b, b >= c → a >= c", a, c, (a, b), (b, c)),
        above("a >= b → a + c >= b + c", rows.add(a, c), rows.add(b, c), (a, b)),
    )


# ---------------------------------------------------------------- distinct


def distinct_that_keeps_debts() -> Counterexample:
    """1 for every weight that is not 0: what is owed becomes a row."""
    a = z3.Int("a")

    def replay(a: int) -> tuple[set[object], set[object]]:
        return set(row(a, 7)), set(ONCE.over(row(a, 7)))

    return refute("toset(a) = the rows in a", (a != 0) == (a > 0), show=[a], replay=replay)


def distinct_of_a_bag() -> Counterexample:
    """distinct(a) = a asks for a set, and not for a bag."""
    a = z3.Int("a")

    def replay(a: int) -> tuple[ZSet, ZSet]:
        return ONCE.over(row(a, 7)), row(a, 7)

    return refute("distinct(a) = a for bags", present(a) == a, [a >= 0], [a], replay=replay)


@theorem(
    statement="isset(a) -> distinct(a) = a; toset(distinct(a)) = toset(a); tozset(s) is the set s",
    source="DBSP (VLDB 2023) definitions 4.1 and 4.3; long version (2022) propositions 4.4, 4.5",
    lean="distinct_set_id, to_from_set",
    wrong=(distinct_that_keeps_debts, distinct_of_a_bag),
)
def distinct_is_toset() -> Thm:
    """distinct is toset and then tozset, and what is a set already stays as it is."""
    it = sets_of(any_zsets("A"))
    rows, distinct = it.rows, distinct_of(it.rows)
    a, s = rows.a, it.s
    unchanged = rows.equal(
        "isset(a) → distinct(a) = a", distinct(a), a, [], distinct.equations, [is_set(rows, a)]
    )
    x = z3.FreshConst(rows.row, "row")
    members = it.space.at(it.toset(distinct(a)), x) == it.space.at(it.toset(a), x)
    everywhere = prove_for_all("the same rows", [x], members, it.equations())
    name = "toset(distinct(a)) = toset(a)"
    same = it.space.equal(name, it.toset(distinct(a)), it.toset(a), everywhere)
    is_one = prove("isset(tozset(s))", is_set(rows, it.tozset(s)), it.equations())
    there = it.square("toset(tozset(s)) = s", it.listed, it.tozset(s), [], [s])
    stays = prove(
        "distinct(tozset(s)) = tozset(s)",
        distinct(it.tozset(s)) == it.tozset(s),
        [is_one, inst(gen(unchanged, a), it.tozset(s))],
    )
    return both(
        "distinct is toset",
        gen(unchanged, a),
        gen(same, a),
        gen(is_one, s),
        there,
        gen(stays, s),
    )


def product_of_debts() -> Counterexample:
    """-1 times -1 is a row that is there, of two that are not."""
    a, b = z3.Ints("a b")
    claim = present(a) * present(b) == present(a * b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other = row(a, 7), row(b, 8)
        once = PAIRS.over(ONCE.over(one), ONCE.over(other))
        return once, ONCE_PAIRS.over(PAIRS.over(one, other))

    name = "distinct(a) x distinct(b) = distinct(a x b) for every a, b"
    return refute(name, claim, show=[a, b], replay=replay)


def sum_after_distinct() -> Counterexample:
    """4.4 for +: a row of both bags counts twice."""
    a, b = z3.Ints("a b")
    claim = present(a) + present(b) == present(a + b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other = row(a, 7), row(b, 7)
        return ADDED.over(ONCE.over(one), ONCE.over(other)), ONCE.over(ADDED.over(one, other))

    name = "distinct(a) + distinct(b) = distinct(a + b) for bags"
    return refute(name, claim, [a >= 0, b >= 0], [a, b], replay=replay)


@theorem(
    statement="ispositive(a): Q(distinct(a)) = distinct(Q(a)), Q filter, join, product, intersect",
    source="DBSP (VLDB 2023) proposition 4.4",
    lean="filter_distinct_comm, product_distinct_comm, join_distinct_comm, intersect_distinct_comm",
    wrong=(product_of_debts, sum_after_distinct, once_before_the_projection),
)
def distinct_commutes() -> Thm:
    """A filter needs no positivity."""
    return both("distinct may wait", *commutations())


@cache
def commutations() -> tuple[Thm, Thm, Thm, Thm]:
    """Q(distinct(a), …) = distinct(Q(a, …)) for the filter, the product, the join, intersection."""
    it = relations()
    left, right, pairs, a, b, c = it.left, it.right, it.pairs, it.a, it.b, it.c
    once, once_right, once_pair = (distinct_of(rows) for rows in (left, right, pairs))
    one, two, same = (is_positive(*each) for each in ((left, a), (right, b), (left, c)))
    x, y = left.x, pairs.x
    first, second = it.sides(y)
    of_pair = gen(it.signs(left.weight(a, first), right.weight(b, second)), y)
    of_row = gen(it.signs(left.weight(a, x), left.weight(c, x)), x)
    known = [*once.equations, *once_right.equations, *once_pair.equations]

    def commutes(
        name: str,
        rows: ZSets,
        sides: tuple[Term, Term],
        by: Sequence[Thm],
        given: Sequence[Formula],
    ) -> Thm:
        return rows.equal(name, *sides, [], [*known, *by], given)

    filtered, crossed, joined, shared = it.filter, it.product, it.join, it.intersect
    sides = (once(a), once_right(b))
    return (
        gen(
            commutes(
                "filter(distinct(a)) = distinct(filter(a))",
                left,
                (filtered(once(a)), once(filtered(a))),
                filtered.equations,
                [],
            ),
            a,
        ),
        gen(
            commutes(
                "distinct(a) x distinct(b) = distinct(a x b)",
                pairs,
                (crossed(*sides), once_pair(crossed(a, b))),
                [*crossed.equations, of_pair],
                [one, two],
            ),
            a,
            b,
        ),
        gen(
            commutes(
                "join(distinct(a), distinct(b)) = distinct(join(a, b))",
                pairs,
                (joined(*sides), once_pair(joined(a, b))),
                [*joined.equations, of_pair],
                [one, two],
            ),
            a,
            b,
        ),
        gen(
            commutes(
                "intersect(distinct(a), distinct(c)) = distinct(intersect(a, c))",
                left,
                (shared(once(a), once(c)), once(shared(a, c))),
                [*shared.equations, of_row],
                [one, same],
            ),
            a,
            c,
        ),
    )


def sum_of_changes() -> Counterexample:
    """4.5 for + on changes: what one side takes away, distinct forgets."""
    a, b = z3.Ints("a b")
    claim = present(present(a) + present(b)) == present(a + b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other = row(a, 7), row(b, 7)
        sets = ADDED.over(ONCE.over(one), ONCE.over(other))
        return ONCE.over(sets), ONCE.over(ADDED.over(one, other))

    name = "distinct(distinct(a) + distinct(b)) = distinct(a + b) for every a, b"
    return refute(name, claim, show=[a, b], replay=replay)


def difference_of_distinct() -> Counterexample:
    """4.5 for -: EXCEPT ALL loses copies, EXCEPT loses rows."""
    a, b = z3.Ints("a b")
    claim = present(present(a) - present(b)) == present(a - b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        one, other = row(a, 7), row(b, 7)
        return ONCE.over(ONCE.over(one) - ONCE.over(other)), ONCE.over(one - other)

    name = "distinct(distinct(a) - distinct(b)) = distinct(a - b) for bags"
    return refute(name, claim, [a >= 0, b >= 0], [a, b], replay=replay)


@theorem(
    statement="ispositive(a): distinct(Q(distinct(a))) = distinct(Q(a)), Q filter, +, join, x",
    source="DBSP (VLDB 2023) proposition 4.5",
    lean="filter_distinct_dedup, add_distinct_dedup, join_distinct_dedup, product_distinct_dedup",
    wrong=(sum_of_changes, difference_of_distinct),
)
def distinct_once() -> Thm:
    """Also for the intersection; maps and projections are `distinct_once_map`."""
    it = relations()
    left, right, pairs, a, b, c = it.left, it.right, it.pairs, it.a, it.b, it.c
    once, once_right = distinct_of(left), distinct_of(right)
    one, two, same = (is_positive(*each) for each in ((left, a), (right, b), (left, c)))
    filters, products, joins, intersections = commutations()

    def after(
        name: str,
        rows: ZSets,
        sides: tuple[Term, Term],
        commuted: Thm,
        given: Sequence[Formula],
        *inputs: Term,
    ) -> Thm:
        """By 4.4 the left side is distinct(distinct(Q)), and distinct is idempotent."""
        known = [inst(commuted, *inputs), inst(idempotence(rows), sides[1])]
        distinct = distinct_of(rows)
        goal = distinct(sides[0]) == distinct(sides[1])
        return prove_for_all(name, inputs, goal, known, given)

    sets = (once(a), once_right(b))
    return both(
        "distinct once",
        after(
            "distinct(filter(distinct(a))) = distinct(filter(a))",
            left,
            (it.filter(once(a)), it.filter(a)),
            filters,
            [],
            a,
        ),
        left.equal(
            "distinct(distinct(a) + distinct(c)) = distinct(a + c)",
            once(left.add(once(a), once(c))),
            once(left.add(a, c)),
            [a, c],
            once.equations,
            [one, same],
        ),
        after(
            "distinct(distinct(a) x distinct(b)) = distinct(a x b)",
            pairs,
            (it.product(*sets), it.product(a, b)),
            products,
            [one, two],
            a,
            b,
        ),
        after(
            "distinct(join(distinct(a), distinct(b))) = distinct(join(a, b))",
            pairs,
            (it.join(*sets), it.join(a, b)),
            joins,
            [one, two],
            a,
            b,
        ),
        after(
            "distinct(intersect(distinct(a), distinct(c))) = distinct(intersect(a, c))",
            left,
            (it.intersect(once(a), once(c)), it.intersect(a, c)),
            intersections,
            [one, same],
            a,
            c,
        ),
    )


def frame_as_converse() -> Counterexample:
    """That a row of the delta comes out is not said: most deltas do not cross zero."""
    i, d = z3.Ints("before delta")
    claim = (present(i + d) != present(i)) == (d != 0)

    def replay(before: int, delta: int) -> tuple[set[object], set[object]]:
        change = row(delta, 7)
        return set(ONCE.change([row(before, 7)], [change])), set(change)

    name = "the rows of the change are the rows of the delta"
    return refute(name, claim, show=[i, d], replay=replay)


def change_of_a_set_as_a_set() -> Counterexample:
    """The change has a row that goes, at weight -1: it is no set, though before and after are."""
    i, d = z3.Ints("before delta")
    change = present(i + d) - present(i)

    def replay(before: int, delta: int) -> tuple[ZSet, ZSet]:
        output = ONCE.change([row(before, 7)], [row(delta, 7)])
        return output, ONCE.over(output)

    claim = z3.Or(change == 0, change == 1)
    return refute("H(before, delta) is a set", claim, show=[i, d], replay=replay)


@theorem(
    statement="H(a, d) weighs -1, 0 or 1, and 0 at every row that d does not change",
    source="DBSP (VLDB 2023) proposition 4.7 and the complexity argument of section 4.4",
    wrong=(frame_as_converse, change_of_a_set_as_a_set),
)
def distinct_frame() -> Thm:
    """So the output is no larger than the delta: that, and `distinct_increment`, is efficiency."""
    rows = any_zsets("A")
    a, d, x = rows.a, rows.b, rows.x
    agrees, untouched, _ = parts(distinct_increment())
    step, distinct = crossings(rows), distinct_of(rows)
    weight = rows.weight(step(a, d), x)
    small = prove_for_all(
        "H weighs -1, 0 or 1", [a, d, x], z3.And(weight >= -1, weight <= 1), step.equations
    )
    same = prove_for_all(
        "outside the delta the set stays as it is",
        [a, d, x],
        rows.weight(distinct(rows.add(a, d)), x) == rows.weight(distinct(a), x),
        [inst(agrees, a, d), inst(untouched, a, d, x), *rows.weights],
        [rows.weight(d, x) == 0],
    )
    return both("only rows of the delta change", small, untouched, same)


# ---------------------------------------------------------------- join, product, intersection


def intersection_as_the_lesser_weight() -> Counterexample:
    """INTERSECT ALL, the lesser of two weights, is not linear; the product of weights is."""
    a, c, b = z3.Ints("a c b")
    bags = [a >= 0, c >= 0, b >= 0]
    whole, one, other = (z3.If(each < b, each, b) for each in (a + c, a, c))

    def replay(a: int, c: int, b: int) -> tuple[ZSet, ZSet]:
        shared = Run(SetOperation("intersect_all"), (KEYS, KEYS))
        one, other, whole = (shared.over(row(each, 7), row(b, 7)) for each in (a, c, a + c))
        return whole, one + other

    name = "intersect(a + c, b) = intersect(a, b) + intersect(c, b), with min for ×"
    return refute(name, whole == one + other, bags, [a, c, b], replay=replay)


def intersection_of_the_deltas() -> Counterexample:
    """Bilinear is not linear in the pair: what is new on one side meets what was there."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == da * db

    def replay(a: int, da: int, b: int, db: int) -> tuple[ZSet, ZSet]:
        equal_keys = Run(Join((("k", "j"),)), BOTH_KEYS)
        before, deltas = [row(a, 7), row(b, 7)], [row(da, 7), row(db, 7)]
        return equal_keys.change(before, deltas), equal_keys.over(*deltas)

    name = "D(intersect(I(da), I(db))) = intersect(da, db)"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


@theorem(
    statement="intersect(a, c)[x] = a[x] c[x] is bilinear, so D(intersect(I, I)) has three terms",
    source="DBSP (VLDB 2023) table 1, theorem 3.4",
    lean="intersect_bilinear",
    wrong=(intersection_as_the_lesser_weight, intersection_of_the_deltas),
)
def intersect_bilinear() -> Thm:
    it = relations()
    rows, shared = it.left, it.intersect
    a, b, c = z3.Consts("a b c", rows.sort)
    linear = (
        rows.equal(
            "intersect(a + b, c) = intersect(a, c) + intersect(b, c)",
            shared(rows.add(a, b), c),
            rows.add(shared(a, c), shared(b, c)),
            [a, b, c],
            shared.equations,
        ),
        rows.equal(
            "intersect(a, b + c) = intersect(a, b) + intersect(a, c)",
            shared(a, rows.add(b, c)),
            rows.add(shared(a, b), shared(a, c)),
            [a, b, c],
            shared.equations,
        ),
    )
    changes = streams_of(rows)
    increment = bilinear_increment("intersect", (changes, changes), changes, shared, linear)
    return both("intersection is bilinear", *linear, increment)


def product_that_adds_weights() -> Counterexample:
    a, c, b = z3.Ints("a c b")
    claim = (a + c) + b == (a + b) + (c + b)

    def replay(a: int, c: int, b: int) -> tuple[ZSet, ZSet]:
        one, other, whole = (ADDED.over(row(each, 7), row(b, 7)) for each in (a, c, a + c))
        return whole, one + other

    name = "(a + c) x b = a x b + c x b, with + for ×"
    return refute(name, claim, show=[a, c, b], replay=replay)


def join_as_a_filter_of_one_side() -> Counterexample:
    """JOIN ON k = j as WHERE k = 0: a filter of the left side does not see the right row."""
    k, j, a, b = z3.Ints("k j a b")
    claim = if_then(k == j, a * b) == if_then(k == 0, a) * b

    def replay(k: int, j: int, a: int, b: int) -> tuple[ZSet, ZSet]:
        joined = Run(Join((("k", "j"),)), BOTH_KEYS)
        kept = Run(Filter(col("k").eq(0)), (KEYS,)).over(row(a, k))
        return joined.over(row(a, k), row(b, j)), PAIRS.over(kept, row(b, j))

    name = "join(a, b) = filter(a) x b"
    return refute(name, claim, show=[k, j, a, b], replay=replay)


@theorem(
    statement="join(a, b) = filter(a x b), and x is bilinear: D(I(da) x I(db)) has three terms",
    source="DBSP (VLDB 2023) table 1, theorem 3.4",
    lean="equi_join, product_bilinear",
    wrong=(join_as_a_filter_of_one_side, product_that_adds_weights),
)
def join_is_filtered_product() -> Thm:
    it = relations()
    left, right, pairs, crossed, a, b = it.left, it.right, it.pairs, it.product, it.a, it.b
    same = pairs.equal(
        "join(a, b) = filter(a x b)",
        it.join(a, b),
        it.matching(crossed(a, b)),
        [a, b],
        [*it.join.equations, *it.matching.equations, *crossed.equations],
    )
    known = [*crossed.equations, *left.weights, *right.weights]
    linear = (
        pairs.equal(
            "(a + c) x b = a x b + c x b",
            crossed(left.add(a, it.c), b),
            pairs.add(crossed(a, b), crossed(it.c, b)),
            [a, it.c, b],
            known,
        ),
        pairs.equal(
            "a x (b + d) = a x b + a x d",
            crossed(a, right.add(b, it.d)),
            pairs.add(crossed(a, b), crossed(a, it.d)),
            [a, b, it.d],
            known,
        ),
    )
    sides = (streams_of(left), streams_of(right))
    increment = bilinear_increment("product", sides, streams_of(pairs), crossed, linear)
    return both("a join is a filtered product", same, *linear, increment)


# ---------------------------------------------------------------- positive and monotone streams


class Growth:
    """Streams of Z-sets that are positive, or that only grow."""

    def __init__(self, rows: ZSets) -> None:
        self.rows, self.streams = rows, streams_of(rows)
        self.s = self.streams.stream("s")

    def at(self, stream: Term, tick: Term, x: Term) -> Term:
        """What row x weighs at this tick."""
        return self.rows.weight(self.streams.at(stream, tick), x)

    def everywhere(self, claim: Callable[[Term, Term], Formula]) -> Formula:
        """claim(tick, row), at every tick and row."""
        tick, x = z3.FreshConst(TICK, "t"), z3.FreshConst(self.rows.row, "x")
        return z3.ForAll([tick, x], claim(tick, x))

    def positive(self, stream: Term) -> Formula:
        """s[t] >= 0 for all t."""
        return self.everywhere(lambda t, x: self.at(stream, t, x) >= 0)

    def monotone(self, stream: Term) -> Formula:
        """s[t + 1] >= s[t] for all t."""
        return self.everywhere(lambda t, x: self.at(stream, after(t), x) >= self.at(stream, t, x))

    def rule(self, name: str, left: Term, right: Term, *free: Term) -> Thm:
        """∀ free. left = right: weights at one row, by what I, D, z and + are."""
        known = [*unfold([self.streams.space], left, right), *self.rows.weights]
        return prove_for_all(name, free, left == right, known, patterns=[left])

    def sums(self) -> list[Thm]:
        """I(s)[0] = s[0] and I(s)[t + 1] = I(s)[t] + s[t + 1], at every row."""
        s, whole, t, x = self.s, self.streams.I(self.s), z3.Const("t", TICK), self.rows.x
        now, before = self.at(s, after(t), x), self.at(whole, t, x)
        return [
            self.rule("I(s)[0]", self.at(whole, FIRST, x), self.at(s, FIRST, x), x),
            self.rule("I(s)[t + 1]", self.at(whole, after(t), x), before + now, t, x),
        ]

    def changes(self) -> list[Thm]:
        """D(s)[0] = s[0] and D(s)[t + 1] = s[t + 1] - s[t], at every row."""
        s, change, t, x = self.s, self.streams.D(self.s), z3.Const("t", TICK), self.rows.x
        grown = self.at(s, after(t), x) - self.at(s, t, x)
        return [
            self.rule("D(s)[0]", self.at(change, FIRST, x), self.at(s, FIRST, x), x),
            self.rule("D(s)[t + 1]", self.at(change, after(t), x), grown, t, x),
        ]

    def always(self, name: str, stream: Term, by: Sequence[Thm], given: Formula, free: Term) -> Thm:
        """∀ free. given → positive(stream), by induction over time."""
        x = self.rows.x
        every = induct(
            name,
            TICK,
            lambda t: z3.Implies(given, z3.ForAll([x], self.at(stream, t, x) >= 0)),
            by,
        )
        whole = prove(f"{name}, as a stream", self.positive(stream), [every], [given])
        return gen(whole, free)

    def positive_integral(self) -> Thm:
        """∀ s. positive(s) → monotone(I(s)) ∧ positive(I(s))."""
        s, whole, given = self.s, self.streams.I(self.s), self.positive(self.s)
        grows = prove("positive(s) → monotone(I(s))", self.monotone(whole), self.sums(), [given])
        stays = self.always("positive(s) → positive(I(s))", whole, self.sums(), given, s)
        return both("what only grows", gen(grows, s), stays)

    def monotone_difference(self) -> Thm:
        """∀ s. monotone(s) ⟺ D(s)[t + 1] >= 0; with s[0] >= 0 too, positive(D(s))."""
        s, change, known = self.s, self.streams.D(self.s), self.changes()
        later = self.everywhere(lambda t, x: self.at(change, after(t), x) >= 0)
        monotone = self.monotone(s)
        up = prove("monotone(s) → D(s)[t + 1] >= 0", later, known, [monotone])
        t, x = z3.Const("t", TICK), self.rows.x
        down = prove_for_all(
            "D(s)[t + 1] >= 0 → monotone(s), at one tick and row",
            [t, x],
            self.at(s, after(t), x) >= self.at(s, t, x),
            [inst(known[1], t, x)],
            [self.at(change, after(t), x) >= 0],
        )
        first = z3.ForAll([x], self.at(s, FIRST, x) >= 0)
        given = z3.And(first, monotone)
        name = "monotone(s), s[0] >= 0 → positive(D(s))"
        whole = self.always(name, change, known, given, s)
        return both("what has only grown", gen(up, s), gen(down, s), whole)


def difference_at_the_first_tick() -> Counterexample:
    """As printed: a monotone stream may begin below zero; its first change is its first value."""
    s0, s1 = z3.Ints("s0 s1")
    claim = z3.And(s0 >= 0, s1 - s0 >= 0)

    def replay(s0: int, s1: int) -> tuple[list[bool], list[bool]]:
        changes = differentiate([row(s0, 7), row(s1, 7)])
        return [change.is_positive() for change in changes], [True, True]

    name = "monotone(s) → positive(D(s)), at t = 0 too"
    return refute(name, claim, [s1 >= s0], [s0, s1], replay=replay)


def integral_of_a_monotone_stream() -> Counterexample:
    """What must be positive is the stream of changes, and not its growth."""
    s0, s1 = z3.Ints("s0 s1")

    def replay(s0: int, s1: int) -> tuple[list[bool], list[bool]]:
        before, now = integrate([row(s0, 7), row(s1, 7)])
        return [(row(s1, 7) - row(s0, 7)).is_positive()], [(now - before).is_positive()]

    name = "monotone(s) → monotone(I(s))"
    return refute(name, s0 + s1 >= s0, [s1 >= s0], [s0, s1], replay=replay)


@theorem(
    statement="positive(s) -> monotone(I(s)); monotone(s) <-> D(s)[t] >= 0 for t > 0, s[0] any",
    source="DBSP (VLDB 2023) section 4.1; long version (2022) lemmas 4.8, and 4.9 corrected",
    lean="integral_monotone, derivative_pos",
    wrong=(difference_at_the_first_tick, integral_of_a_monotone_stream),
)
def positive_integral_monotone() -> Thm:
    """A table that is only inserted into; D(s) is positive at t = 0 too exactly if s[0] is."""
    growth = Growth(any_zsets("A"))
    return both("growth", growth.positive_integral(), growth.monotone_difference())
