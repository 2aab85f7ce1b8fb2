"""The increment of a join: of two inputs, of n inputs, and of joins that remember.

    D(Q(I(da), I(db)))       = Q(I(da), db) + Q(da, z(I(db)))
    D(Q(I(d1), …, I(dn)))    = Σk Q(I(d1), …, I(dk-1), dk, z(I(dk+1)), …, z(I(dn)))

Q is any operator on streams that is linear in each input and time-invariant. From n inputs to
n + 1 is one step, 1 - Xw = (1 - X)w + (1 - w): the change of a product of products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import z3

from deltaproof.theorems.calculus.incremental import Inputs, joined
from deltaproof.theorems.calculus.linear import difference
from deltaproof.theorems.calculus.streams import (
    Streams,
    any_streams,
    group_of_streams,
)
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Term,
    Thm,
    axiom,
    both,
    certificate,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    recursive,
    refute,
)
from deltaproof.theorems.registry import theorem


@cache
def integral_unrolled(streams: Streams) -> Thm:
    """∀ d. I(d) = d + z(I(d))."""
    d = streams.stream("d")
    total = streams.I(d)
    unrolled = streams.add(d, streams.z(total))
    return gen(streams.equal("I(d) = d + z(I(d))", total, unrolled), d)


# ---------------------------------------------------------------- 3.4 for any operator on streams


@dataclass(frozen=True, eq=False)
class Bilinear:
    """A bilinear, time-invariant operator on two streams, with the theorems that say so."""

    name: str
    left: Streams
    right: Streams
    target: Streams
    of: Callable[[Term, Term], Term]
    on_the_left: Thm  # ∀ r s b. Q(r + s, b) = Q(r, b) + Q(s, b)
    on_the_right: Thm  # ∀ a r s. Q(a, r + s) = Q(a, r) + Q(a, s)
    invariant: Thm  # ∀ a b. Q(z(a), z(b)) = z(Q(a, b))

    def increment(self) -> Thm:
        """∀ da db. D(Q(I(da), I(db))) = Q(I(da), db) + Q(da, z(I(db)))."""
        left, right, target, of = self.left, self.right, self.target, self.of
        da, db = left.stream("da"), right.stream("db")
        a, b = left.I(da), right.I(db)
        before_b = right.z(b)
        new_right = prove(
            "Q(a, b) = Q(a, db) + Q(a, z(b))",
            of(a, b) == target.add(of(a, db), of(a, before_b)),
            [inst(integral_unrolled(right), db), inst(self.on_the_right, a, db, before_b)],
        )
        known = [
            new_right,
            self.new_on_the_left(da, before_b),
            inst(difference(target), of(a, b)),
            inst(self.invariant, a, b),
        ]
        goal = target.D(of(a, b)) == target.add(of(a, db), of(da, before_b))
        name = f"D({self.name}(I(da), I(db))) in two terms"
        return gen(certificate(name, group_of_streams(target), goal, known), da, db)

    def increment_of_deltas(self) -> Thm:
        """∀ da db. D(Q(I(da), I(db))) = Q(da, z(I(db))) + Q(z(I(da)), db) + Q(da, db)."""
        left, right, target, of = self.left, self.right, self.target, self.of
        da, db = left.stream("da"), right.stream("db")
        a, b = left.I(da), right.I(db)
        known = [inst(self.increment(), da, db), self.new_on_the_left(da, db)]
        three = target.add(target.add(of(da, right.z(b)), of(left.z(a), db)), of(da, db))
        goal = target.D(of(a, b)) == three
        name = f"D({self.name}(I(da), I(db))) in three terms"
        return gen(certificate(name, group_of_streams(target), goal, known), da, db)

    def new_on_the_left(self, da: Term, b: Term) -> Thm:
        """Q(I(da), b) = Q(da, b) + Q(z(I(da)), b)."""
        a = self.left.I(da)
        before = self.left.z(a)
        return prove(
            "Q(a, b) = Q(da, b) + Q(z(a), b)",
            self.of(a, b) == self.target.add(self.of(da, b), self.of(before, b)),
            [inst(integral_unrolled(self.left), da), inst(self.on_the_left, da, before, b)],
        )


def any_bilinear_operator(name: str, left: Streams, right: Streams, target: Streams) -> Bilinear:
    """An operator of which nothing is known but that it is bilinear and time-invariant."""
    of = fresh_symbol(name, left.sort, right.sort, target.sort)
    a, r = left.stream("a"), left.stream("r")
    b, s = right.stream("b"), right.stream("s")
    plus = target.add
    on_the_left = z3.ForAll([a, r, b], of(left.add(a, r), b) == plus(of(a, b), of(r, b)))
    on_the_right = z3.ForAll([a, b, s], of(a, right.add(b, s)) == plus(of(a, b), of(a, s)))
    late = z3.ForAll([a, b], of(left.z(a), right.z(b)) == target.z(of(a, b)))
    return Bilinear(
        name,
        left,
        right,
        target,
        of,
        axiom(f"{name} is linear on the left", on_the_left),
        axiom(f"{name} is linear on the right", on_the_right),
        axiom(f"{name} is time-invariant", late),
    )


def join_against_the_tables_after() -> Counterexample:
    """I(da) × db + da × I(db): what is new on both sides is counted twice."""
    a, da, b, db = z3.Ints("a da b db")
    claim = (a + da) * (b + db) - a * b == (a + da) * db + da * (b + db)

    def replay(a: int, da: int, b: int, db: int) -> tuple[int, int]:
        change = joined(a + da, b + db) - joined(a, b)
        return change, joined(a + da, db) + joined(da, b + db)

    name = "D(Q(I(da), I(db))) = Q(I(da), db) + Q(da, I(db))"
    return refute(name, claim, show=[a, da, b, db], replay=replay)


def product_scaled_by_the_tick() -> Counterexample:
    """Q(a, b)[t] = (t + 1) a[t] b[t] is bilinear, and 3.4 is false: it is not time-invariant."""
    a0, a1, b0, b1 = z3.Ints("a0 a1 b0 b1")
    change = 2 * (a0 + a1) * (b0 + b1) - a0 * b0
    claim = change == 2 * (a0 + a1) * b1 + 2 * a1 * b0
    name = "D(Q(I(da), I(db)))[1] in two terms, with Q(a, b)[t] = (t + 1) a[t] b[t]"
    return refute(name, claim, show=[a0, a1, b0, b1])


@theorem(
    statement="D(Q(Ia, Ib)) = Q(Ia, b) + Q(a, zIb) = Q(a, zIb) + Q(zIa, b) + Q(a, b), bilinear, TI",
    source="DBSP (VLDB 2023) theorem 3.4",
    lean="bilinear_incremental, bilinear_incremental_forward_proof",
    wrong=(join_against_the_tables_after, product_scaled_by_the_tick),
)
def bilinear_increment_over_time() -> Thm:
    """For every bilinear, time-invariant Q on whole streams: a join with a delay in it, say."""
    join = any_bilinear_operator("Q", *map(any_streams, "ABC"))
    return both("the increment of a join", join.increment(), join.increment_of_deltas())


# ---------------------------------------------------------------- joins of n inputs


class Multilinear:
    """An operator on any number of streams, linear in each and time-invariant.

    With n inputs, the sum of n terms: the k-th has the k-th delta, the integrals before it and
    the delayed integrals after it. `plug(done, rest)` is `rest` with the streams of `done` put
    back in front, the last first.
    """

    def __init__(self, streams: Streams) -> None:
        self.streams, self.inputs = streams, Inputs(streams)
        sort, some = self.inputs.sort, self.inputs.some
        self.of = fresh_symbol("Q", sort, streams.sort)
        self.plug = recursive(
            "plug",
            sort,
            [sort],
            sort,
            (lambda recur, rest: rest, lambda recur, s, done, rest: recur(done, some(s, rest))),
        )
        of, plug = self.of, self.plug
        r, s = streams.stream("r"), streams.stream("s")
        done, rest = z3.Consts("done rest", sort)

        def with_input(stream: Term) -> Term:
            return of(plug(done, some(stream, rest)))

        whole = with_input(streams.add(r, s))
        self.linear = axiom(
            "Q is linear in each input",
            z3.ForAll([done, r, s, rest], whole == streams.add(with_input(r), with_input(s))),
        )
        self.invariant = axiom(
            "Q is time-invariant",
            z3.ForAll([rest], of(self.inputs.z(rest)) == streams.z(of(rest))),
        )
        self.terms = recursive(
            "terms",
            sort,
            [sort],
            streams.sort,
            (
                lambda recur, done: streams.zero,
                lambda recur, d, ds, done: streams.add(
                    of(plug(done, some(d, self.before(ds)))), recur(ds, some(streams.I(d), done))
                ),
            ),
        )

    def before(self, ds: Term) -> Term:
        """z(I(d)) for each of the deltas."""
        return self.inputs.z(self.inputs.I(ds))

    def telescope(self) -> Thm:
        """∀ ds done. Q(…, I(ds)) = Q(…, z(I(ds))) + the terms: one more input, one more term."""
        streams, inputs, of, plug = self.streams, self.inputs, self.of, self.plug
        done = z3.Const("done", inputs.sort)
        lists = [*plug.equations, *inputs.I.equations, *inputs.z.equations]

        def claim(ds: Term) -> Term:
            before, after = of(plug(done, self.before(ds))), of(plug(done, inputs.I(ds)))
            return z3.ForAll([done], after == streams.add(before, self.terms(ds, done)))

        def step(case: Case) -> Thm:
            ds = case.term
            after, before = of(plug(done, inputs.I(ds))), of(plug(done, self.before(ds)))
            known = [self.terms.unfold(ds, done)]
            if case.arguments:
                known += one_more(case, *case.arguments)
            else:
                known.append(prove(f"{case.name}: no change", after == before, lists))
            goal = after == streams.add(before, self.terms(ds, done))
            proved = certificate(case.name, group_of_streams(streams), goal, known)
            return gen(proved, done)

        def one_more(case: Case, d: Term, ds: Term) -> list[Thm]:
            """1 - X w = (1 - X) w + (1 - w), where w delays and X is the join of the others."""
            some, total = inputs.some, streams.I(d)
            late, others = streams.z(total), self.before(ds)
            longer = some(total, done)
            linear = inst(self.linear, done, d, late, others)
            unrolled = inst(integral_unrolled(streams), d)
            split = of(plug(longer, others)) == streams.add(
                of(plug(done, some(d, others))), of(plug(done, some(late, others)))
            )
            after, before = inputs.I(case.term), self.before(case.term)
            first = of(plug(done, after)) == of(plug(longer, inputs.I(ds)))
            last = of(plug(done, before)) == of(plug(done, some(late, others)))
            (hypothesis,) = case.hypotheses
            return [
                inst(hypothesis, longer),
                prove(f"{case.name}: the new input is split", split, [linear, unrolled, *lists]),
                prove(f"{case.name}: after", first, lists),
                prove(f"{case.name}: before", last, lists),
            ]

        return induct("telescope", inputs.sort, claim, step=step)

    def increment(self) -> Thm:
        """∀ ds. D(Q(I(ds))) = the terms."""
        streams, inputs, of = self.streams, self.inputs, self.of
        ds = z3.Const("ds", inputs.sort)
        after, before, none = inputs.I(ds), self.before(ds), inputs.none
        alone = self.plug.equations[:1]
        split = inst(inst(self.telescope(), ds), none)
        known = [
            inst(difference(streams), of(after)),
            inst(self.invariant, after),
            prove("nothing done: after", of(self.plug(none, after)) == of(after), alone),
            prove("nothing done: before", of(self.plug(none, before)) == of(before), alone),
            split,
        ]
        goal = streams.D(of(after)) == self.terms(ds, none)
        return gen(certificate("D(Q(I(ds)))", group_of_streams(streams), goal, known), ds)

    def of_three(self) -> Thm:
        """∀ a b c. D(Q(Ia, Ib, Ic)) = Q(a, zIb, zIc) + Q(Ia, b, zIc) + Q(Ia, Ib, c)."""
        streams, inputs, of = self.streams, self.inputs, self.of
        deltas = [streams.stream(name) for name in "abc"]
        totals = [streams.I(d) for d in deltas]
        late = [streams.z(total) for total in totals]
        ds = inputs.list(*deltas)
        lists = [
            *self.plug.equations,
            *self.terms.equations,
            *inputs.I.equations,
            *inputs.z.equations,
        ]
        each = [
            of(inputs.list(*totals[:place], delta, *late[place + 1 :]))
            for place, delta in enumerate(deltas)
        ]
        with_zero = streams.add(each[0], streams.add(each[1], streams.add(each[2], streams.zero)))
        listed = prove("the three terms", self.terms(ds, inputs.none) == with_zero, lists)
        whole = of(inputs.list(*totals))
        same = prove("the three inputs", of(inputs.I(ds)) == whole, lists)
        contract = prove(
            "D of three inputs",
            streams.D(whole) == self.terms(ds, inputs.none),
            [same, inst(self.increment(), ds)],
        )
        goal = streams.D(whole) == streams.add(streams.add(each[0], each[1]), each[2])
        group = group_of_streams(streams)
        return gen(certificate("three inputs", group, goal, [contract, listed]), *deltas)


def join_of_three_against_the_tables_before() -> Counterexample:
    """Every delta with the other tables before: rows that arrive on two sides never meet."""
    a, da, b, db, c, dc = z3.Ints("a da b db c dc")
    claim = (a + da) * (b + db) * (c + dc) - a * b * c == da * b * c + a * db * c + a * b * dc

    def replay(a: int, da: int, b: int, db: int, c: int, dc: int) -> tuple[int, int]:
        change = joined(a + da, b + db, c + dc) - joined(a, b, c)
        return change, joined(da, b, c) + joined(a, db, c) + joined(a, b, dc)

    name = "D(Q(Ia, Ib, Ic)) = Q(a, zIb, zIc) + Q(zIa, b, zIc) + Q(zIa, zIb, c)"
    return refute(name, claim, show=[a, da, b, db, c, dc], replay=replay)


@theorem(
    statement="D(Q(I d1, …, I dn)) = sum of Q(I d1, …, dk, …, zI dn) over k, Q n-linear and TI",
    source="beyond the paper: delta joins of n tables, as in worst-case optimal join engines",
    wrong=(join_of_three_against_the_tables_before,),
)
def nary_join_increment() -> Thm:
    """n inputs, n terms; by induction on n, with the join of three written out."""
    join = Multilinear(any_streams("A"))
    return both("the increment of a join of n", join.increment(), join.of_three())
