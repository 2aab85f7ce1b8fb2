"""The kernel makes theorems from proofs and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from types import SimpleNamespace

import pytest
import z3

from deltaproof.theorems.calculus.streams import TICK, abelian_group, after
from deltaproof.theorems.kernel import (
    Case,
    Definition,
    FunctionSpace,
    Group,
    ProofError,
    Thm,
    assume,
    axiom,
    axioms,
    both,
    certificate,
    define,
    discharge,
    fresh_sort,
    fresh_symbol,
    gen,
    group_laws,
    induct,
    inst,
    parts,
    prove,
    prove_for_all,
    queries,
    recursive,
    refute,
    unfold,
    wf_induct,
)

INT = z3.IntSort()
X, Y = z3.Ints("x y")


def chain() -> z3.DatatypeSortRef:
    declared = z3.Datatype("chain")
    declared.declare("end")
    declared.declare("link", ("head", INT), ("rest", declared))
    return declared.create()


CHAIN = chain()
END, LINK = CHAIN.constructor(0)(), CHAIN.constructor(1)


def test_only_the_kernel_makes_a_theorem() -> None:
    with pytest.raises(ProofError, match="only the rules of the kernel"):
        Thm("false", z3.BoolVal(False), "rule")


def test_a_theorem_cannot_be_rewritten() -> None:
    true = prove("x = x", X == X)
    with pytest.raises(ProofError, match="only the rules of the kernel"):
        replace(true, formula=z3.BoolVal(False))
    with pytest.raises(AttributeError):
        true.formula = z3.BoolVal(False)  # type: ignore[misc]  # it is frozen


def test_there_is_one_kind_of_theorem() -> None:
    with pytest.raises(ProofError, match="Loose: there is one kind of Thm"):
        type("Loose", (Thm,), {"__post_init__": lambda self, key: None})
    alike = SimpleNamespace(formula=X > 5, assumptions=(), rests_on=(), queries=())
    with pytest.raises(ProofError, match="is no theorem"):
        prove("x > 3", X > 3, by=[alike])  # type: ignore[list-item]  # what is tested


def test_a_false_goal_comes_back_with_values_that_show_it() -> None:
    with pytest.raises(ProofError, match="does not hold, for example where") as caught:
        prove("x < 5", X < 5, given=[X > 2])
    assert caught.value.model.eval(X).as_long() >= 5


def test_a_goal_that_z3_cannot_decide_is_no_theorem() -> None:
    f = z3.Function("f", INT, INT)
    additive = z3.ForAll([X, Y], f(X + Y) == f(X) + f(Y))
    with pytest.raises(ProofError, match="gave up 4 times after 1,000 units"):
        prove("f(-3) = -f(3)", f(z3.IntVal(-3)) == -f(z3.IntVal(3)), given=[additive], effort=1000)


def test_from_contradictory_hypotheses_nothing_is_proved() -> None:
    with pytest.raises(ProofError, match="contradict each other"):
        prove("pigs fly", z3.BoolVal(False), given=[X > 1, X < 0])
    nonsense = axiom("one is two", z3.IntVal(1) == z3.IntVal(2))
    with pytest.raises(ProofError, match="contradict each other"):
        prove("pigs fly", z3.BoolVal(False), [nonsense])


def test_what_was_given_stays_an_antecedent() -> None:
    proved = prove("x + 1 > 0", X + 1 > 0, given=[X >= 0])
    assert proved.formula.eq(z3.Implies(z3.And(X >= 0), X + 1 > 0))


def test_what_was_given_once_stays_an_antecedent() -> None:
    once = iter([X >= 0])
    proved = prove("x + 1 > 0", X + 1 > 0, given=once)  # type: ignore[arg-type]  # what is tested
    assert proved.formula.eq(z3.Implies(z3.And(X >= 0), X + 1 > 0))


def test_an_assumption_is_kept_until_it_is_discharged() -> None:
    step = prove("x > 0", X > 0, [assume(X > 1)])
    assert [str(each) for each in step.assumptions] == ["x > 1"]
    proved = discharge("x > 1 -> x > 0", X > 1, step)
    assert proved.assumptions == ()
    assert proved.formula.eq(z3.Implies(X > 1, X > 0))


def test_for_all_is_introduced_for_arbitrary_constants_only() -> None:
    assert str(gen(prove("x = x", X == X), X).formula) == "ForAll(x, x == x)"
    with pytest.raises(ProofError, match="x is not arbitrary, see x is large"):
        gen(prove("x > 1", X > 1, [axiom("x is large", X > 5)]), X)
    with pytest.raises(ProofError, match="x is not arbitrary, see assumption"):
        gen(prove("x > 1", X > 1, [assume(X > 5)]), X)


def test_an_instance_needs_terms_of_the_right_number_and_sort() -> None:
    total = prove_for_all("x + y = y + x", [X, Y], X + Y == Y + X)
    assert str(inst(total, z3.IntVal(1), z3.IntVal(2)).formula) == "1 + 2 == 2 + 1"
    with pytest.raises(ProofError, match="needs 2 terms at once"):
        inst(total, z3.IntVal(1))
    with pytest.raises(ProofError, match="more terms than it has variables"):
        inst(total, z3.IntVal(1), z3.IntVal(2), z3.IntVal(3))
    with pytest.raises(ProofError, match="is a Int, got the Bool"):
        inst(total, z3.IntVal(1), z3.BoolVal(True))


def test_the_audit_finds_every_axiom_and_every_question() -> None:
    large = axiom("x is large", X > 5)
    step = prove("x > 3", X > 3, [large])
    proved = both("both", prove("x > 1", X > 1, [step]), prove("x = x", X == X))
    assert axioms(proved) == ("x is large",)
    assert sorted(query.name for query in queries(proved)) == ["x = x", "x > 1", "x > 3"]
    assert {query.alone for query in queries(proved)} == {"sat", "none"}


def length_of_chain() -> tuple[Definition, Thm]:
    length = recursive(
        "length", CHAIN, [], INT, (lambda recur: z3.IntVal(0), lambda recur, h, r: 1 + recur(r))
    )
    return length, induct("length >= 0", CHAIN, lambda c: length(c) >= 0, length.equations)


def test_induction_proves_what_holds_for_every_constructor() -> None:
    _, proved = length_of_chain()
    assert len(proved.rests_on) == 2
    assert proved.assumptions == ()


def test_induction_refuses_a_claim_that_one_constructor_breaks() -> None:
    with pytest.raises(ProofError, match=r"all ticks are the first \[next\]: does not hold"):
        induct("all ticks are the first", TICK, lambda tick: tick == TICK.first)


def test_induction_checks_that_a_step_proves_its_own_case() -> None:
    other = prove("true", z3.BoolVal(True))
    with pytest.raises(ProofError, match="expected a proof of"):
        induct("cheat", TICK, lambda tick: tick == TICK.first, step=lambda case: other)


def test_a_step_cannot_smuggle_in_an_axiom_about_its_case() -> None:
    def cheat(case: Case) -> Thm:
        return axiom("as needed", case.goal)

    with pytest.raises(ProofError, match="is not arbitrary, see as needed"):
        induct("all ticks are the first", TICK, lambda tick: tick == TICK.first, step=cheat)


def test_induction_on_a_measure_needs_a_smaller_term() -> None:
    length, nonnegative = length_of_chain()

    def claim(chain: z3.ExprRef) -> z3.ExprRef:
        return length(chain) >= 0

    def rest(case: Case) -> Sequence[z3.ExprRef]:
        return case.arguments[1:]

    wf_induct("length >= 0", CHAIN, claim, rest, length, [*length.equations, nonnegative])
    with pytest.raises(ProofError, match="smaller: does not hold"):
        wf_induct("circular", CHAIN, claim, lambda case: [case.term], lambda chain: z3.IntVal(0))


def test_a_measure_is_a_whole_number() -> None:
    """1/2, 1/4, 1/8, ... has no smallest: with it, g = 0 everywhere would follow from g(0) = 1."""
    g = recursive("g", TICK, [], INT, (lambda recur: z3.IntVal(1), lambda recur, n: recur(n)))
    half = recursive(
        "half",
        TICK,
        [],
        z3.RealSort(),
        (lambda recur: z3.RealVal(1), lambda recur, n: recur(n) / 2),
    )
    positive = induct("half > 0", TICK, lambda n: half(n) > 0, half.equations)
    known = [g.equations[1], half.equations[1], positive]
    with pytest.raises(ProofError, match="expected a whole number as the measure, got the Real"):
        wf_induct("g = 0", TICK, lambda n: g(n) == 0, lambda case: [after(case.term)], half, known)


def test_a_measure_is_the_same_for_all_terms() -> None:
    sizes = cycle([0, 0, 1])
    with pytest.raises(ProofError, match="smaller: does not hold"):
        wf_induct(
            "circular",
            CHAIN,
            lambda c: c == END,
            lambda case: [case.term],
            lambda chain: next_of(sizes),
        )


def next_of(sizes: Iterator[int]) -> z3.ExprRef:
    return z3.IntVal(next(sizes))


def test_a_claim_does_not_speak_about_the_arguments_of_a_case() -> None:
    """Every tick is the first, or the one after n: true of n + 1 for every n, and of few ticks."""
    number = int(fresh_symbol("c", INT).name().partition("!")[2])
    guessed = z3.Const(f"x!{number + 2}", TICK)
    with pytest.raises(ProofError, match="is not arbitrary, the claim speaks about it"):
        induct("two ticks", TICK, lambda n: z3.Or(n == TICK.first, n == after(guessed)))


def test_a_recursive_definition_recurs_on_its_own_arguments_only() -> None:
    with pytest.raises(ProofError, match="expected one of"):
        recursive(
            "loop",
            CHAIN,
            [],
            INT,
            (lambda recur: z3.IntVal(0), lambda recur, h, r: 1 + recur(LINK(h, r))),
        )


def test_a_recursive_definition_does_not_bind_what_it_recurs_on() -> None:
    """f(n + 1) = 1 if f is 0 everywhere, else 0: there is no such f."""

    def of_all(recur: Callable[..., z3.ExprRef], n: z3.ExprRef) -> z3.ExprRef:
        return z3.If(z3.ForAll([n], recur(n) == 0), z3.IntVal(1), z3.IntVal(0))

    with pytest.raises(ProofError, match=r"f: speaks about itself at Var\(0\), not by recursion"):
        recursive("f", TICK, [], INT, (lambda recur: z3.IntVal(0), of_all))
    space = FunctionSpace("functions", TICK, INT)
    with pytest.raises(ProofError, match=r"g: speaks about itself at Var\(0\), not by recursion"):
        space.define("g", [], cases=(lambda recur: z3.IntVal(0), of_all))


def test_a_recursive_definition_does_not_get_hold_of_its_symbol() -> None:
    """f(n + 1) = 1 + f(n + 1), also by way of another definition."""

    def itself(recur: Callable[..., z3.ExprRef], n: z3.ExprRef) -> z3.ExprRef:
        return 1 + recur(n).decl()(after(n))

    def by_another(recur: Callable[..., z3.ExprRef], n: z3.ExprRef) -> z3.ExprRef:
        f = recur(n).decl()
        return 1 + define("next", [TICK], INT, lambda m: f(after(m)))(n)

    with pytest.raises(ProofError, match=r"f: speaks about itself at next\(.*\), not by recursion"):
        recursive("f", TICK, [], INT, (lambda recur: z3.IntVal(0), itself))
    with pytest.raises(ProofError, match=r"next: speaks about f.*, which is not defined yet"):
        recursive("f", TICK, [], INT, (lambda recur: z3.IntVal(0), by_another))


def test_a_function_is_not_defined_by_itself() -> None:
    number = int(fresh_symbol("c", INT).name().partition("!")[2])
    guessed = z3.Int(f"c!{number + 1}")
    with pytest.raises(ProofError, match="c: speaks about itself"):
        define("c", [], INT, lambda: guessed + 1)


def test_a_definition_is_of_a_symbol_that_nothing_else_uses() -> None:
    one = define("c", [], INT, lambda: z3.IntVal(1))
    two = define("c", [], INT, lambda: z3.IntVal(2))
    assert not one.symbol.eq(two.symbol)
    prove("1 < 2", one() < two(), [*one.equations, *two.equations])


def test_functions_are_equal_when_they_are_equal_everywhere() -> None:
    space = FunctionSpace("functions", INT, INT)
    double = space.define("double", [], lambda x: 2 * x)()
    sum_of_two = space.define("sum of two", [], lambda x: x + x)()
    value = space.at(double, X) == space.at(sum_of_two, X)
    everywhere = prove_for_all("at x", [X], value, unfold([space], value))
    same = space.equal("double = sum of two", double, sum_of_two, everywhere)
    assert axioms(same) == ("functions: equal everywhere is equal",)


def test_a_function_of_time_is_defined_by_recursion_on_the_tick() -> None:
    space = FunctionSpace("counters", TICK, INT)
    ticks = space.define(
        "ticks", [], cases=(lambda recur: z3.IntVal(1), lambda recur, n: recur(n) + 1)
    )()
    third = space.at(ticks, after(after(TICK.first)))
    prove("the third tick", third == 3, unfold([space], third))


def test_a_certificate_holds_in_every_abelian_group() -> None:
    group = abelian_group("G")
    x, y, z = z3.Consts("x y z", group.sort)
    goal = group.sub(group.add(x, y), group.sub(x, z)) == group.add(z, y)
    assert axioms(certificate("(x + y) - (x - z) = z + y", group, goal)) == (
        "G is an abelian group",
    )


def test_a_certificate_does_not_divide() -> None:
    """In the integers 2x = 0 gives x = 0; in the group of two elements it does not."""
    group = abelian_group("G")
    x = z3.Const("x", group.sort)
    doubled = axiom("2x = 0", group.add(x, x) == group.zero)
    with pytest.raises(ProofError, match="is no combination"):
        certificate("x = 0", group, x == group.zero, [doubled])


def test_a_certificate_is_of_an_equation() -> None:
    """x != x has two arguments as well, whose difference is 0."""
    group = abelian_group("G")
    x = z3.Const("x", group.sort)
    with pytest.raises(ProofError, match="is no equation of G"):
        certificate("x != x", group, x != x)


def test_the_laws_of_a_group_bind_none_of_its_symbols() -> None:
    """max and the identity fulfil what the laws say where they bind the zero, and x - x is x."""
    greater = define("max", [INT, INT], INT, lambda a, b: z3.If(a >= b, a, b))
    same = define("same", [INT], INT, lambda a: a)
    known = [*greater.equations, *same.equations]
    laws = [prove("a law", law, known) for law in group_laws(INT, greater, same, X)]
    group = Group(INT, greater, same, X, both("laws", *laws))
    with pytest.raises(ProofError, match="does not say that this is an abelian group"):
        certificate("y - y = 0", group, greater(Y, same(Y)) == X)


def test_a_certificate_reads_the_symbols_that_the_laws_are_about() -> None:
    real = abelian_group("G")

    class Plus:
        symbol = fresh_symbol("minus", real.sort, real.sort, real.sort)

        def __call__(self, left: z3.ExprRef, right: z3.ExprRef) -> z3.ExprRef:
            return real.add(left, right)

    x, y = z3.Consts("x y", real.sort)
    group = Group(real.sort, Plus(), real.neg, real.zero, real.laws)
    with pytest.raises(ProofError, match="does not say that this is an abelian group"):
        certificate("x - y = y - x", group, Plus.symbol(x, y) == Plus.symbol(y, x))


def test_a_certificate_needs_a_group_that_is_one() -> None:
    sort = fresh_sort("G")
    add, neg = fresh_symbol("add", sort, sort, sort), fresh_symbol("neg", sort, sort)
    zero = fresh_symbol("zero", sort)()
    other = axiom("something else", zero == zero)
    group = Group(sort, add, neg, zero, other)
    with pytest.raises(ProofError, match="does not say that this is an abelian group"):
        certificate("0 = 0", group, zero == zero)
    assert len(group_laws(sort, add, neg, zero)) == 4


def test_a_true_claim_is_not_refuted() -> None:
    with pytest.raises(ProofError, match="expected a counterexample"):
        refute("x = x", X == X, show=[X])


def test_a_counterexample_is_small() -> None:
    found = refute("x is below 1", X < 1, show=[X])
    assert found.values == (("x", 1),)
    assert str(found) == "x is below 1: x = 1"


def test_what_was_made_one_comes_apart_again() -> None:
    one, other = prove("one", z3.IntVal(1) == 1), prove("two", z3.IntVal(2) == 2)
    assert parts(both("numbers", one, other)) == (one, other)
    with pytest.raises(ProofError, match="one: not made of several theorems"):
        parts(one)
