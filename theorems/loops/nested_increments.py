"""The increment in both times of a join is four joins, and that of distinct looks at two rows.

    Q^Δ      D(↑Q(I(·)))              by iteration, inside a tick
    Q^ΔΔ     D(↑(Q^Δ)(I(·)))          of that, by tick

With a ↦ I(a) for contents by tick and a ↦ ↑I(a) for contents by iteration, Q bilinear:

    Q^ΔΔ(a, b) = Q(↑I I a, b) + Q(z I a, ↑z ↑I b) + Q(↑I a, z I b) + Q(a, ↑z ↑I I b)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from deltaproof.reference.fixpoint import DistinctNode, JoinNode
from deltaproof.reference.stream import delay, differentiate, integrate
from deltaproof.reference.types import Schema
from deltaproof.theorems.calculus.multilinear import Bilinear, integral_unrolled
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    any_product,
    any_streams,
    bilinear_increment,
    delay_laws,
    differential_laws,
    general_increment_of,
    integral_laws,
    zero_of_additive,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Term,
    Thm,
    both,
    certificate,
    gen,
    inst,
    parts,
    prove,
    prove_for_all,
    refute,
    unfold,
)
from deltaproof.theorems.loops.elimination import streams_of_streams
from deltaproof.theorems.loops.nested import Rows, by_iteration, by_tick, square, unknowns
from deltaproof.theorems.operators.distinct import distinct_contract
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.tables.zsets import any_zsets, streams_of


def lifted_product(
    name: str,
    sides: tuple[Streams, Streams],
    target: Streams,
    query: Callable[[Term, Term], Term],
    linear: tuple[Thm, Thm],
) -> Bilinear:
    """↑Q for a bilinear Q: `linear` is what says so, as `bilinear_increment` takes it."""
    left, right = sides
    of = target.lift(name, query, left, right)
    s, r, q = left.stream("s"), left.stream("r"), right.stream("q")
    p, v, u = left.stream("p"), right.stream("v"), right.stream("u")
    spaces = [left.space, right.space]

    def value(case: Case, x: Term, y: Term, known: Thm) -> list[Thm]:
        """Q at a tick is what is known of it."""
        one, other = left.at(x, case.term), right.at(y, case.term)
        goal = query(one, other) == known.formula.arg(1)
        return [prove(f"{case.name}: Q", goal, [known, *unfold(spaces, one, other)])]

    def on_the_left(case: Case) -> list[Thm]:
        one, other = left.at(s, case.term), left.at(r, case.term)
        known = inst(linear[0], one, other, right.at(q, case.term))
        return value(case, left.add(s, r), q, known)

    def on_the_right(case: Case) -> list[Thm]:
        one, other = right.at(v, case.term), right.at(u, case.term)
        known = inst(linear[1], left.at(p, case.term), one, other)
        return value(case, p, right.add(v, u), known)

    def late(case: Case) -> list[Thm]:
        zero, nothing = left.group.zero, right.group.zero
        for tick in case.arguments:
            same = query(left.at(s, tick), right.at(q, tick))
            return value(case, left.z(s), right.z(q), prove("Q before", same == same))
        additive = inst(linear[0], zero, zero, nothing)
        none = zero_of_additive(
            name, left.group, target.group, lambda x: query(x, nothing), additive
        )
        return value(case, left.z(s), right.z(q), none)

    sums = target.add(of(s, q), of(r, q)), target.add(of(p, v), of(p, u))
    delayed = of(left.z(s), right.z(q))
    return Bilinear(
        name,
        left,
        right,
        target,
        of,
        gen(target.equal("Q(s + r, q)", of(left.add(s, r), q), sums[0], on_the_left), s, r, q),
        gen(target.equal("Q(p, v + u)", of(p, right.add(v, u)), sums[1], on_the_right), p, v, u),
        gen(target.equal("Q(z(s), z(q))", delayed, target.z(of(s, q)), late), s, q),
    )


def increment_additive(product: Bilinear) -> tuple[Thm, Thm]:
    """∀ s r q. Q^Δ(s + r, q) = Q^Δ(s, q) + Q^Δ(r, q), and the same on the right."""
    left, right, target, of = product.left, product.right, product.target, product.of
    s, r, q = left.stream("s"), left.stream("r"), right.stream("q")
    p, v, u = left.stream("p"), right.stream("v"), right.stream("u")
    change, _ = parts(differential_laws(target))
    sums, totals = (parts(integral_laws(each))[0] for each in (left, right))

    def increment(x: Term, y: Term) -> Term:
        return target.D(of(left.I(x), right.I(y)))

    return (
        prove_for_all(
            "Q^Δ(s + r, q)",
            [s, r, q],
            increment(left.add(s, r), q) == target.add(increment(s, q), increment(r, q)),
            [
                inst(sums, s, r),
                inst(product.on_the_left, left.I(s), left.I(r), right.I(q)),
                inst(change, of(left.I(s), right.I(q)), of(left.I(r), right.I(q))),
            ],
        ),
        prove_for_all(
            "Q^Δ(p, v + u)",
            [p, v, u],
            increment(p, right.add(v, u)) == target.add(increment(p, v), increment(p, u)),
            [
                inst(totals, v, u),
                inst(product.on_the_right, left.I(p), right.I(v), right.I(u)),
                inst(change, of(left.I(p), right.I(v)), of(left.I(p), right.I(u))),
            ],
        ),
    )


class DoublyIncremental:
    """A bilinear Q on streams, lifted, and its increment in both times."""

    def __init__(self, product: Bilinear) -> None:
        sides = product.left, product.right, product.target
        self.product = product
        self.left, self.right, self.target = map(streams_of_streams, sides)
        self.Q = self.target.lift("Q", product.of, self.left, self.right)
        self.sums = self.left.lift("I", product.left.I, self.left)
        self.before = self.right.lift("zI", self._before, self.right)

    def _before(self, row: Term) -> Term:
        """z(I(row)): of the iterations before."""
        return self.product.right.z(self.product.right.I(row))

    def _increment(self, x: Term, y: Term) -> Term:
        """Q^Δ(x, y)."""
        left, right, target = self.product.left, self.product.right, self.product.target
        return target.D(self.product.of(left.I(x), right.I(y)))

    def four_products(self, a: Term, b: Term) -> Term:
        """↑↑Q(↑I I a, b) + ↑↑Q(z I a, ↑z ↑I b) + ↑↑Q(↑I a, z I b) + ↑↑Q(a, ↑z ↑I I b)."""
        left, right, Q, add = self.left, self.right, self.Q, self.target.add
        one = Q(self.sums(left.I(a)), b)
        two = Q(left.z(left.I(a)), self.before(b))
        three = Q(self.sums(a), right.z(right.I(b)))
        four = Q(a, self.before(right.I(b)))
        return add(add(one, two), add(three, four))

    def theorem(self) -> Thm:
        """∀ a b. D(↑Q^Δ(I(a), I(b))) = the four products."""
        product, target = self.product, self.target
        a, b, t = self.left.stream("a"), self.right.stream("b"), z3.Const("t", TICK)
        contract = bilinear_increment(
            "Q^Δ",
            (self.left, self.right),
            target,
            self._increment,
            increment_additive(product),
        )
        three, four = inst(contract, a, b), self.four_products(a, b)
        change = three.formula.arg(1)
        x, p = self.left.at(a, t), self.left.at(self.left.z(self.left.I(a)), t)
        y, q = self.right.at(b, t), self.right.at(self.right.z(self.right.I(b)), t)
        two = product.increment()
        goal = target.at(change, t) == target.at(four, t)
        known = [
            *unfold([target.space], goal),
            *[inst(two, row, column) for row, column in ((x, q), (p, y), (x, y))],
            *self._splits(a, b, t, (x, p), (y, q)),
        ]
        here = certificate("four products, at a tick", target.group, goal, known)
        same = target.space.equal("four products", change, four, gen(here, t))
        return gen(prove("the increment in both times", _joined(three, same), [three, same]), a, b)

    def _splits(
        self, a: Term, b: Term, t: Term, rows: tuple[Term, Term], columns: tuple[Term, Term]
    ) -> list[Thm]:
        """What a contents meets is what its change and its past meet, at a tick."""
        product, left, right = self.product, self.product.left, self.product.right
        (x, p), (y, q) = rows, columns
        now, later = self.left.at(self.sums(self.left.I(a)), t), self.before(self.right.I(b))
        late = self.right.at(later, t)
        sums, totals = (parts(integral_laws(each))[0] for each in (left, right))
        of, add = product.of, product.target.add
        one = prove(
            "↑Q(I(x + p), y)",
            of(now, y) == add(of(left.I(x), y), of(left.I(p), y)),
            [
                inst(integral_unrolled(self.left), a),
                *unfold([self.left.space], now, self.left.at(_grown(self.left, a), t)),
                inst(sums, x, p),
                inst(product.on_the_left, left.I(x), left.I(p), y),
            ],
        )
        other = prove(
            "↑Q(x, zI(y + q))",
            of(x, late) == add(of(x, self._before(y)), of(x, self._before(q))),
            [
                inst(integral_unrolled(self.right), b),
                *unfold([self.right.space], late, self.right.at(_grown(self.right, b), t)),
                inst(totals, y, q),
                inst(delay_laws(right), right.I(y), right.I(q)),
                inst(product.on_the_right, x, self._before(y), self._before(q)),
            ],
        )
        lifted_one, lifted_other = self.left.at(self.sums(a), t), self.right.at(self.before(b), t)
        return [
            one,
            other,
            prove(
                "↑I(a) at a tick",
                of(lifted_one, q) == of(left.I(x), q),
                unfold([self.left.space], lifted_one),
            ),
            prove(
                "↑zI(b) at a tick",
                of(p, lifted_other) == of(p, self._before(y)),
                unfold([self.right.space], lifted_other),
            ),
        ]


def _grown(streams: Streams, s: Term) -> Term:
    """s + z(I(s))."""
    return streams.add(s, streams.z(streams.I(s)))


def _joined(first: Thm, second: Thm) -> Any:
    """a = c, for theorems a = b and b = c."""
    return first.formula.arg(0) == second.formula.arg(1)


def two_products_of_four() -> Counterexample:
    """The increment by iteration alone, tick after tick: what earlier ticks hold is not met."""

    def sides(*numbers: Any) -> tuple[Any, Any]:
        a, b = square(*numbers[:4]), square(*numbers[4:])
        whole = by_tick(integrate, a), by_tick(integrate, b)
        totals = [by_iteration(integrate, each) for each in whole]
        products = [
            [x * y for x, y in zip(*rows, strict=True)] for rows in zip(*totals, strict=True)
        ]
        right = by_tick(differentiate, by_iteration(differentiate, products))[1][1]
        sums = by_iteration(integrate, a)[1][1]
        before = by_iteration(delay, by_iteration(integrate, b))[1][1]
        return sums * numbers[7] + numbers[3] * before, right

    def replay(*numbers: int) -> tuple[int, int]:
        """On the right the reference's join in both times."""
        return sides(*numbers)[0], joined_at(numbers[:4], numbers[4:])

    numbers = [*unknowns("a"), *unknowns("b")]
    left, right = sides(*numbers)
    name = "(a × b)^ΔΔ[1][1] = (↑I a × b + a × ↑z ↑I b)[1][1]"
    return refute(name, left == right, show=numbers, replay=replay)


def joined_at(left: Sequence[int], right: Sequence[int]) -> int:
    """What the reference's join in both times puts out at tick 1 and iteration 1.

    >>> joined_at([0, 0, 0, 2], [3, 0, 0, 0])
    6
    """
    schema = Schema.parse("k BIGINT")
    node = JoinNode([schema, schema], [lambda row: row] * 2)
    output: dict[int, dict[Any, int]] = {}
    for ticks in zip(square(*left), square(*right), strict=True):
        output = {}
        for iteration, weights in enumerate(zip(*ticks, strict=True)):
            inputs = [{(0,): weight} if weight else {} for weight in weights]
            for when, rows in node.react(iteration, inputs).items():
                for row, weight in rows.items():
                    there = output.setdefault(when, {})
                    there[row] = there.get(row, 0) + weight
        node.commit()
    return output.get(1, {}).get((0, 0), 0)


@theorem(
    statement="Q^ΔΔ(a, b) = Q(↑IIa, b) + Q(zIa, ↑z↑Ib) + Q(↑Ia, zIb) + Q(a, ↑z↑IIb), Q bilinear",
    source="DBSP (VLDB 2023) section 6; long version (2022) section 9.1",
    lean="join_double_incremental_ok",
    wrong=(two_products_of_four,),
)
def doubly_incremental_join() -> Thm:
    """For any bilinear Q of any groups: the increment by ticks of the increment by iterations."""
    left, right, target = any_streams("A"), any_streams("B"), any_streams("C")
    q, linear = any_product("Q", left.group, right.group, target.group)
    return DoublyIncremental(lifted_product("Q", (left, right), target, q, linear)).theorem()


def crossings_of_this_tick_only() -> Counterexample:
    """H of the row as it is now; what the iterations of the tick before put out stays."""

    def sides(*numbers: Any) -> tuple[Any, Any]:
        def presence(weight: Any) -> Any:
            return z3.If(weight > 0, z3.IntVal(1), z3.IntVal(0))

        now = by_iteration(integrate, by_tick(integrate, square(*numbers)))
        shown = [[presence(weight) for weight in row] for row in now]
        right = by_tick(differentiate, by_iteration(differentiate, shown))[1][1]
        return by_iteration(differentiate, shown)[1][1], right

    def replay(*numbers: int) -> tuple[int, int]:
        """On the left for the contents of both ticks at once, on the right tick by tick."""
        both_ticks = [[0, 0], by_tick(integrate, square(*numbers))[1]]
        return entered_at(both_ticks), entered_at(square(*numbers))

    left, right = sides(*(numbers := unknowns("s")))
    name = "distinct^ΔΔ(s)[1] = H(z I row 1, row 1)"
    return refute(name, left == right, show=numbers, replay=replay)


def entered_at(rows: Rows) -> int:
    """What the reference's distinct in both times puts out at tick 1 and iteration 1.

    >>> entered_at([[0, 1], [0, -1]]), entered_at([[0, 1], [1, 0]])
    (-1, -1)
    """
    node = DistinctNode(Schema.parse("k BIGINT"))
    output: dict[int, int] = {}
    for row in rows:
        output = {}
        for iteration, weight in enumerate(row):
            inputs = [{(0,): weight}] if weight else [{}]
            for when, signs in node.react(iteration, inputs).items():
                output[when] = output.get(when, 0) + signs[(0,)]
        node.commit()
    return output.get(1, 0)


@theorem(
    statement="distinct^ΔΔ(s) = D(↑H(z I row, row)), row by row of I(s): H(row t) - H(row t-1)",
    source="DBSP (VLDB 2023) section 6, proposition 4.7",
    lean="distinct_double_incremental_ok",
    wrong=(crossings_of_this_tick_only,),
)
def doubly_incremental_distinct() -> Thm:
    rows = any_zsets("A")
    inner = streams_of(rows)
    outer = streams_of_streams(inner)
    _, contract = distinct_contract(rows)
    row, s, t = inner.stream("row"), outer.stream("s"), z3.Const("t", TICK)
    here = inst(contract, row).formula
    distinct, stepped = here.arg(0).arg(0).decl(), here.arg(1).decl()  # as they are there

    def change(row: Term) -> Term:
        return inner.D(distinct(inner.I(row)))

    def crossed(row: Term) -> Term:
        return stepped(inner.z(inner.I(row)), row)

    left, right = outer.lift("distinct^Δ", change, outer), outer.lift("H", crossed, outer)
    total = outer.I(s)
    one, other = outer.at(left(total), t), outer.at(right(total), t)
    known = [*unfold([outer.space], one, other), inst(contract, outer.at(total, t))]
    same = outer.space.equal(
        "distinct^Δ, at every tick",
        left(total),
        right(total),
        prove_for_all("distinct^Δ, at a tick", [t], one == other, known),
    )
    goal = outer.D(left(total)) == outer.D(right(total))
    rows_of_ticks = general_increment_of("H", outer, outer, crossed)
    return both(
        "distinct in both times",
        gen(prove("distinct^ΔΔ", goal, [same]), s),
        rows_of_ticks,
    )
