"""A recursive query is a loop over a second time, the iteration, and its increment is the same loop
over changes of changes.

    a = R(e, z(a))                   iteration by iteration; z delays by one iteration
    δ = D(D(a)), ε = D(D(e))         by ticks and by iterations
    δ = R^ΔΔ(ε, z(δ))                with R^ΔΔ = D D R(I I ·, I I ·)

For any R. So every operator inside the loop is replaced by its increment in both times, and the
loop is closed by a delay of one iteration, as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from deltaproof.reference.fixpoint import DistinctNode, JoinNode
from deltaproof.reference.query import Query, recursion, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet, positive
from deltaproof.theorems.calculus.streams import (
    TICK,
    Streams,
    after,
    any_streams,
    integrate_after_differentiate,
    present,
)
from deltaproof.theorems.execution.forking import Enumerated, enumerated, prove_each, refute_each
from deltaproof.theorems.execution.symbolic import CircuitSteps, Subject, subject_of_root
from deltaproof.theorems.kernel import (
    Counterexample,
    Definition,
    Formula,
    Term,
    Thm,
    assume,
    axiom,
    both,
    discharge,
    fresh_sort,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove,
    prove_for_all,
    recursive,
    refute,
)
from deltaproof.theorems.loops.nested import passes_difference, two_times
from deltaproof.theorems.operators.semi_join import anti, semi
from deltaproof.theorems.operators.set_operation import except_, intersect, intersect_all, union
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import row

# ---------------------------------------------------------------- wrong variants


def loop_without_its_delay() -> Counterexample:
    """The integral inside the loop, not delayed: an iteration reads what it is computing."""
    e, a0, a1 = z3.Ints("e a0 a1")
    given = [a0 == e, a1 == e + 2 * a0, e != 0]
    claim = a1 - a0 == 2 * (a1 - a0)
    return refute("δ = R^Δ(δ), with R(x) = e + 2x", claim, given, show=[e, a0, a1])


def cycle_that_supports_itself() -> Counterexample:
    """Counting supports: x and y are each derived from the other, and their root was deleted."""
    x, y, root = z3.Bools("x y root")
    fixpoint = [x == z3.Or(root, y), y == x, z3.Not(root)]
    claim = z3.Not(z3.Or(x, y))

    def replay(x: bool, y: bool, root: bool) -> tuple[ZSet, ZSet]:
        """What counting keeps, and what is left when the reference has deleted the root."""
        circuit, edges = CircuitSteps(reached()), ZSet(dict.fromkeys(CYCLE, 1))
        before = circuit.step(ZSet({(1,): 1}), edges)
        change = circuit.step(ZSet({(1,): int(root) - 1}), ZSet())
        return ZSet({(1,): int(x), (2,): int(y)}), before + change

    name = "a row with a derivation left is in the fixpoint"
    return refute(name, claim, fixpoint, [x, y, root], replay=replay)


def changes_by_tick_only() -> Counterexample:
    """R^Δ by ticks where R^ΔΔ belongs: the iterations' contents are taken for their changes."""
    before, now, step = z3.Ints("before now step")
    claim = (now + step) * (now + step) - (before + step) * (before + step) == (
        now * now - before * before
    )
    return refute("D R(a) needs no contents of a", claim, show=[before, now, step])


@theorem(
    statement="a = R(e, z(a)) exactly if D D a = R^ΔΔ(D D e, z(D D a)), in ticks and iterations",
    source="DBSP (VLDB 2023) sections 5 and 6, equations 5.1 and 6.1",
    lean="cycle2_incremental",
    wrong=(loop_without_its_delay, cycle_that_supports_itself, changes_by_tick_only),
)
def recursion_seminaive() -> Thm:
    """Both directions, for any R: what solves the one loop solves the other. The result of a tick
    is the sum of its δ over the iterations: I(D D a) by iteration is D by tick of a.
    """
    times = two_times(any_streams("A"))
    outer = times.outer
    R = fresh_symbol("R", outer.sort, outer.sort, outer.sort)
    a, e = outer.stream("a"), outer.stream("e")
    delta, epsilon = times.changes(a), times.changes(e)

    def doubly_incremental(x: Term, y: Term) -> Term:
        return times.changes(R(times.contents(x), times.contents(y)))

    inverse, other_inverse = times.contents_of_changes, times.changes_of_contents
    late = times.delay_of_contents
    forth = prove_for_all(
        "the loop of contents is a loop of changes",
        [a, e],
        delta == doubly_incremental(epsilon, times.z.of(delta)),
        [inst(inverse, e), inst(inverse, a), inst(late, delta)],
        given=[a == R(e, times.z.of(a))],
    )
    d = outer.stream("d")
    view = times.contents(d)
    again = R(times.contents(epsilon), times.contents(times.z.of(d)))
    back = prove_for_all(
        "the loop of changes is a loop of contents",
        [d, e],
        view == R(e, times.z.of(view)),
        [inst(inverse, e), inst(late, d), inst(inverse, again)],
        given=[d == doubly_incremental(epsilon, times.z.of(d))],
    )
    inside = times.I.of(times.D.of(a))
    result = prove_for_all(
        "the sum of the changes of a tick is the change of the view",
        [a],
        times.I.of(delta) == outer.D(a),
        [
            inst(passes_difference(times.I), times.D.of(a)),
            times.everywhere(
                "I D a = a by iteration", integrate_after_differentiate(times.inner), inside, a
            ),
        ],
    )
    return both("recursion", forth, back, result, other_inverse, only_one_loop(any_streams("A")))


def only_one_loop(streams: Streams) -> Thm:
    """∀ a b. both solve the same loop → a = b, by induction over iterations."""
    group, at, z = streams.group, streams.at, streams.z
    step = fresh_symbol("step", TICK, group.sort, group.sort)
    a, b, t = streams.stream("a"), streams.stream("b"), z3.Const("t", TICK)

    def solves(s: Term) -> Formula:
        here = at(s, t)
        return z3.ForAll([t], here == step(t, at(z(s), t)), patterns=[here])

    hypothesis = z3.And(solves(a), solves(b))
    assumed = assume(hypothesis)
    same = induct(
        "the same at every iteration",
        TICK,
        lambda n: at(a, n) == at(b, n),
        [assumed, *z.equations],
    )
    equal = streams.space.equal("a = b", a, b, same)
    return gen(discharge("a loop has one solution", hypothesis, equal), a, b)


# ---------------------------------------------------------------- the least fixpoint


class Order:
    """Any partial order with a least element, such as sets of rows by inclusion."""

    def __init__(self, name: str) -> None:
        self.sort = fresh_sort(name)
        self.below = fresh_symbol("below", self.sort, self.sort, z3.BoolSort())
        self.bottom = fresh_symbol("nothing", self.sort)()
        x, y, z = z3.Consts("x y z", self.sort)
        below = self.below
        laws = z3.And(
            z3.ForAll([x], below(x, x)),
            z3.ForAll([x, y, z], z3.Implies(z3.And(below(x, y), below(y, z)), below(x, z))),
            z3.ForAll([x, y], z3.Implies(z3.And(below(x, y), below(y, x)), x == y)),
            z3.ForAll([x], below(self.bottom, x)),
        )
        self.laws = axiom("sets are partially ordered, with a least", laws)


def no_fixpoint() -> Counterexample:
    """A body that is not monotone need not come to rest."""
    x = z3.Bool("x")

    def replay(x: bool) -> tuple[ZSet, ZSet]:
        rows, known = table("rows", "k BIGINT"), ZSet({(1,): int(x)})
        body = rows.except_(table("known", "k BIGINT")).meaning()
        return body({"rows": ZSet({(1,): 1}), "known": known}), known

    return refute("some x is R(x), with R(x) = not x", z3.Not(x) == x, show=[x], replay=replay)


def any_fixpoint() -> Counterexample:
    """A fixpoint that was reached from something else than nothing need not be the least."""
    x = z3.Bool("x")

    def replay(x: bool) -> tuple[ZSet, ZSet]:
        """A set that the body maps to itself, and what the reference computes from nothing."""
        known, rows = ZSet({(1,): int(x)}), ZSet()
        body = table("rows", "k BIGINT").union(table("known", "k BIGINT"))
        fixpoint = body.meaning()({"rows": rows, "known": known})
        return fixpoint, recursion("known", {"known": body}).meaning()({"rows": rows})

    name = "every fixpoint of R(x) = x is the least"
    return refute(name, x == z3.BoolVal(False), show=[x], replay=replay)


def positive_as_growing() -> Counterexample:
    """A positive body need not have what it is given: R(x) = 0 has not."""
    x = z3.Int("x")

    def replay(x: int) -> tuple[bool, bool]:
        known = ZSet({(1,): x})
        body = table("known", "k BIGINT").filter(col("k") < col("k")).meaning()
        return (body({"known": known}) - known).is_positive(), True

    claim = z3.Implies(x >= 0, x <= 0)
    return refute("R positive, so R(x) >= x, with R(x) = 0", claim, show=[x], replay=replay)


@theorem(
    statement="if R^(N+1)(0) = R^N(0) for monotone R, then R^N(0) is the least fixpoint, for ever",
    source="DBSP (VLDB 2023) theorem 5.4; Kleene's fixpoint theorem",
    wrong=(no_fixpoint, any_fixpoint, positive_as_growing),
)
def recursion_least() -> Thm:
    order = Order("sets")
    below, sort = order.below, order.sort
    R = fresh_symbol("R", sort, sort)
    x, y, n = z3.Const("x", sort), z3.Const("y", sort), z3.Const("N", TICK)
    grows = z3.ForAll([x, y], z3.Implies(below(x, y), below(R(x), R(y))))
    monotone = axiom("R is monotone", grows)
    iterate = recursive(
        "R^n(0)", TICK, [], sort, (lambda recur: order.bottom, lambda recur, k: R(recur(k)))
    )
    least = induct(
        "R^n(0) is in every x with R(x) in x",
        TICK,
        lambda k: z3.ForAll([x], z3.Implies(below(R(x), x), below(iterate(k), x))),
        [order.laws, monotone, *iterate.equations],
    )
    increasing = induct(
        "R^n(0) is in R^(n+1)(0)",
        TICK,
        lambda k: below(iterate(k), iterate(after(k))),
        [order.laws, monotone, *iterate.equations],
    )
    at_rest = iterate(after(n)) == iterate(n)
    fixpoint = prove_for_all(
        "what is at rest is a fixpoint",
        [n],
        R(iterate(n)) == iterate(n),
        iterate.equations,
        given=[at_rest],
    )
    return both("least fixpoint", least, increasing, fixpoint, stays_at_rest(iterate, n, at_rest))


def stays_at_rest(iterate: Definition, n: Term, at_rest: Formula) -> Thm:
    """∀ N. R^(N+1)(0) = R^N(0) → R^(N+k)(0) = R^N(0) for every k."""
    plus = recursive(
        "+", TICK, [TICK], TICK, (lambda recur, m: m, lambda recur, k, m: after(recur(k, m)))
    )
    by = [assume(at_rest), *iterate.equations, *plus.equations]
    rest = induct("R^(N+k)(0) = R^N(0)", TICK, lambda k: iterate(plus(k, n)) == iterate(n), by)
    return gen(discharge("what is at rest stays at rest", at_rest, rest), n)


def nested_fixpoint_with_an_old_outer() -> Counterexample:
    """The inner fixpoint computed once, over the outer relation as it was at first."""
    x, y = z3.Bools("x y")
    given = [x, z3.Not(y)]

    def replay(x: bool, y: bool) -> tuple[ZSet, ZSet]:
        body = table("x", "k BIGINT").union(table("y", "k BIGINT"))
        inner = recursion("y", {"y": body}).meaning()
        now, at_first = (inner({"x": ZSet({(1,): int(each)})}) for each in (x, y))
        return now, at_first

    name = "h(x) = h(0), with h(x) the least y = x or y"
    return refute(name, x == y, given, [x, y], replay=replay)


@theorem(
    statement="a fixpoint in a body is one more definition: μ(x, y) = (μx. f(x, h(x)), h(μx. …))",
    source="H. Bekić, Definable operations in general algebras (1969)",
    wrong=(nested_fixpoint_with_an_old_outer, any_fixpoint),
)
def recursion_bekic() -> Thm:
    """h(x) is the least y with g(x, y) in y, and X the least x with f(x, h(x)) in x. Then (X, h(X))
    is the least pair with f(x, y) in x and g(x, y) in y.
    """
    outer, inner = Order("outer sets"), Order("inner sets")
    a, b = outer.sort, inner.sort
    f, g = fresh_symbol("f", a, b, a), fresh_symbol("g", a, b, b)
    h, least = fresh_symbol("h", a, b), fresh_symbol("X", a)()
    x, w = z3.Consts("x w", a)
    y, v = z3.Consts("y v", b)
    le, lt = outer.below, inner.below
    smaller = z3.And(le(x, w), lt(y, v))
    known = [
        outer.laws,
        inner.laws,
        axiom("f is monotone", z3.ForAll([x, w, y, v], z3.Implies(smaller, le(f(x, y), f(w, v))))),
        axiom("g is monotone", z3.ForAll([x, w, y, v], z3.Implies(smaller, lt(g(x, y), g(w, v))))),
        axiom(
            "h(x) is the least fixpoint of g(x, y)",
            z3.And(
                z3.ForAll([x], lt(g(x, h(x)), h(x))),
                z3.ForAll([x, y], z3.Implies(lt(g(x, y), y), lt(h(x), y))),
            ),
        ),
        axiom(
            "X is the least fixpoint of f(x, h(x))",
            z3.And(
                le(f(least, h(least)), least),
                z3.ForAll([x], z3.Implies(le(f(x, h(x)), x), le(least, x))),
            ),
        ),
    ]
    pair = prove(
        "(X, h(X)) is closed under f and g",
        z3.And(le(f(least, h(least)), least), lt(g(least, h(least)), h(least))),
        known,
    )
    given = [le(f(x, y), x), lt(g(x, y), y)]
    smallest = prove_for_all("X is in x", [x, y], le(least, x), known, given)
    inside = prove_for_all(
        "h(X) is in y", [x, y], lt(h(least), y), [*known, inst(smallest, x, y)], given
    )
    return both("Bekić's lemma", pair, smallest, inside)


# ---------------------------------------------------------------- operators in both times


def later_of(i: Term, j: Term) -> Term:
    return z3.If(i < j, j, i)


def once(condition: Formula) -> Term:
    return z3.If(condition, z3.IntVal(1), z3.IntVal(0))


def join_at_the_earlier_iteration() -> Counterexample:
    i, j, n = z3.Ints("i j n")
    met = once(z3.And(i <= n, j <= n)) - once(z3.And(i <= n - 1, j <= n - 1))
    earlier = z3.If(i < j, i, j)

    def replay(i: int, j: int, n: int) -> tuple[int, int]:
        schema = Schema.parse("k BIGINT")
        node, weights = JoinNode([schema, schema], [lambda key: key] * 2), dict[int, int]()
        for iteration in sorted({i, j}):
            inputs = [{(1,): 1} if iteration == when else {} for when in (i, j)]
            for when, rows in node.react(iteration, inputs).items():
                weights[when] = weights.get(when, 0) + sum(rows.values())
        return weights.get(n, 0), int(n == min(i, j))

    name, show = "two rows meet at min(i, j)", [i, j, n]
    return refute(name, met == once(n == earlier), show=show, replay=replay)


def distinct_at_the_changed_iteration_only() -> Counterexample:
    """A second derivation, later than one that is deleted, is where the row comes back."""
    first, second, deleted = z3.Ints("weight_at_1 weight_at_2 change_at_1")
    before = present(first + second) - present(first)
    now = present(first + deleted + second) - present(first + deleted)
    given = [first > 0, second > 0, first + deleted == 0]
    show = [first, second, deleted]

    def replay(first: int, second: int, deleted: int) -> tuple[int, int]:
        """What the row's presence changes by at iteration 2, and nothing."""
        node, k = DistinctNode(Schema.parse("k BIGINT")), (1,)
        node.react(1, [{k: first}])
        node.react(2, [{k: second}])
        node.commit()
        return node.react(1, [{k: deleted}]).get(2, {}).get(k, 0), 0

    name = "a change at iteration 1 changes nothing at 2"
    return refute(name, now == before, given, show, replay=replay)


@theorem(
    statement="rows of iterations i, j meet at max(i, j); distinct changes where the row does",
    source="DBSP (VLDB 2023) section 6; McSherry et al., Differential dataflow (CIDR 2013)",
    wrong=(join_at_the_earlier_iteration, distinct_at_the_changed_iteration_only),
)
def recursion_times() -> Thm:
    """The increments, by iteration, of a bilinear operator on single rows and of distinct."""
    i, j, n, s, d = z3.Ints("i j n sum change")
    meet = once(z3.And(i <= n, j <= n)) - once(z3.And(i <= n - 1, j <= n - 1))
    pairs = prove_for_all("the later of both", [i, j, n], meet == once(n == later_of(i, j)))
    quiet = prove_for_all(
        "an iteration without a change of the row has none of its presence",
        [s, d],
        present(s + d) - present(s) == 0,
        given=[d == 0],
    )
    return both("both times", pairs, quiet)


# ---------------------------------------------------------------- bodies in other words


def intersection_of_bags() -> Counterexample:
    """a + b - distinct(a + b), where the inputs were not made sets first."""
    a, b = z3.Ints("a b")
    claim = present(a + b - present(a + b)) == intersect(a, b)

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        left, right = table("left", "k BIGINT"), table("right", "k BIGINT")
        either = left.union_all(right)
        words = either.union_all(either.distinct().negate()).distinct()
        tables = {"left": row(a, 1), "right": row(b, 1)}
        return words.meaning()(tables), left.intersect(right).meaning()(tables)

    name = "duplicates of one side"
    return refute(name, claim, [a >= 0, b >= 0], show=[a, b], replay=replay)


def words_for_signed_weights() -> Counterexample:
    """Inside a recursion weights are not negative; elsewhere a ⋉ b is not a ⋈ b."""
    a, m = z3.Ints("a m")
    claim = present(a * m) == present(semi(a, m))

    def replay(a: int, m: int) -> tuple[ZSet, ZSet]:
        left, right = table("left", "k BIGINT"), table("right", "l BIGINT")
        joined = left.join(right, on={"k": "l"}).project("k")
        kept = left.semi_join(right, on={"k": "l"})
        tables = {"left": row(a, 1), "right": row(m, 1)}
        return joined.distinct().meaning()(tables), kept.distinct().meaning()(tables)

    return refute("a ⋉ b has the rows of a ⋈ b", claim, show=[a, m], replay=replay)


@theorem(
    statement="∪, ∩, EXCEPT, ⋉ and ▷ have the rows of + - ⋈ and distinct, weights not negative",
    source="DBSP (VLDB 2023) table 1; Abiteboul, Hull, Vianu (1995)",
    wrong=(intersection_of_bags, words_for_signed_weights),
)
def recursion_rewrites() -> Thm:
    """Row by row; m is the weight of what matches a row of a."""
    a, b, m = z3.Ints("a b m")
    one, other = present(a), present(b)
    either = present(one + other)
    forms = {
        "a ∪ b": (union(a, b), either),
        "a ∩ b": (intersect(a, b), one + other - either),
        "a ∩ b, as bags": (present(intersect_all(a, b)), one + other - either),
        "a EXCEPT b": (except_(a, b), either - other),
        "a ⋉ b": (present(semi(a, m)), present(a * m)),
        "a ▷ b": (present(anti(a, m)), one - present(one * m)),
    }
    given = [a >= 0, b >= 0, m >= 0]
    proofs = [
        prove_for_all(name, [a, b, m], meant == said, given=given)
        for name, (meant, said) in forms.items()
    ]
    return both("bodies in other words", *proofs)


# ---------------------------------------------------------------- the code

CYCLE: list[Row] = [(1, 2), (2, 1)]
ROOTS = table("roots", "a BIGINT")
EDGES = table("edges", "a BIGINT, b BIGINT")


def reached() -> Query:
    """What can be reached from the roots."""
    known = table("reached", "a BIGINT")
    steps = known.join(EDGES.prefix("from_"), on={"a": "from_a"}).map(a=col("from_b"))
    return recursion("reached", {"reached": ROOTS.union_all(steps)})


def paths() -> Query:
    """Transitive closure, by a body that reads itself twice."""
    known = table("paths", "a BIGINT, b BIGINT")
    longer = known.join(known.prefix("next_"), on={"b": "next_a"})
    body = EDGES.union_all(longer.map(a=col("a"), b=col("next_b")))
    return recursion("paths", {"paths": body})


def reached_subject(ticks: int = 2) -> Subject:
    """A cycle that hangs on a root."""
    return subject_of_root(reached(), [[(1,)], CYCLE], ticks)


def paths_subject(edges: list[Row], ticks: int) -> Subject:
    return subject_of_root(paths(), [edges], ticks)


class SupportCounting:
    """Counts for each node the edges into it from reached nodes; gone where the count is zero."""

    def __init__(self) -> None:
        self.edges: dict[Row, int] = {}
        self.roots: dict[Row, int] = {}
        self.supports: dict[int, int] = {}

    def step(self, roots: ZSet, edges: ZSet) -> ZSet:
        before = {node for node, count in self.supports.items() if count > 0}
        for (root,), change in crossings_of(self.roots, roots):
            self.support(root, change)
        for (a, b), change in crossings_of(self.edges, edges):
            self.support(b, change * positive(self.supports.get(a, 0)))
        after = {node for node, count in self.supports.items() if count > 0}
        return ZSet({(n,): (n in after) - (n in before) for n in before | after})

    def support(self, node: int, change: int) -> None:
        count = self.supports.get(node, 0)
        self.supports[node] = count + change
        if positive(count + change) != positive(count):
            for (a, b), weight in self.edges.items():
                if a == node and weight > 0:
                    self.support(b, change)

    def commit(self) -> None:
        """Already done."""


def crossings_of(weights: dict[Row, int], delta: ZSet) -> Iterator[tuple[Row, int]]:
    """Applies the change, row by row: those that appear, 1, and those that go, -1."""
    for entry, change in delta.items():
        before = weights.get(entry, 0)
        weights[entry] = before + change
        if crossing := positive(before + change) - positive(before):
            yield entry, crossing


def recursion_code_by_support_counts() -> Counterexample:
    """The root goes, and the nodes of the cycle go on supporting each other."""
    return refute_each("counts of supports", reached_subject(), SupportCounting, -1, 1)


@theorem(
    statement="RecursionIncrement, as it runs, is D ∘ recursion ∘ I",
    source="reference/operators/recursion_increment.py, reference/fixpoint.py",
    scope="weights from -1 to 1; graphs of 1 root + 2 edges or 3 edges, 2 ticks; of 2 edges, 3",
    wrong=(recursion_code_by_support_counts,),
)
def recursion_code() -> Enumerated:
    return enumerated(
        prove_each(reached_subject(), -1, 1),
        prove_each(paths_subject([*CYCLE, (2, 3)], 2), -1, 1),
        prove_each(paths_subject(CYCLE, 3), -1, 1),
    )
