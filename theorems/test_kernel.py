"""The kernel makes theorems from proofs and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import z3

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
from deltaproof.theorems.streams import TICK, abelian_group, after

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


def test_a_recursive_definition_recurs_on_its_own_arguments_only() -> None:
    with pytest.raises(ProofError, match="expected one of"):
        recursive(
            "loop",
            CHAIN,
            [],
            INT,
            (lambda recur: z3.IntVal(0), lambda recur, h, r: 1 + recur(LINK(h, r))),
        )


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
