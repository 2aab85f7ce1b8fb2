"""The text that the second solver reads says what the condition says, whatever its names are."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.streams import TICK
from deltaproof.theorems.kernel import Formula, Query
from deltaproof.theorems.second_solver import CONFIRMED, SecondSolver, confirm, smtlib

INT = z3.IntSort()


def text_of(*formulas: Formula) -> str:
    text = smtlib(Query("a condition", "unsat", 0.0, clash=lambda: formulas))
    assert text is not None
    return text


def differs_from_some(sort: z3.SortRef) -> Formula:
    """Some x is not x: the second x is free, and another."""
    x, y = z3.Consts("x y", sort)
    return z3.substitute(z3.Exists([x], x != y), (y, x))


@pytest.mark.parametrize(
    "sort", [INT, TICK, z3.BitVecSort(8), z3.ArraySort(INT, INT), z3.Float64()], ids=str
)
def test_a_constant_is_not_caught_by_a_variable_of_its_name(sort: z3.SortRef) -> None:
    assert z3.Not(differs_from_some(sort)).sexpr().count("x") > 1
    assert confirm(text_of(differs_from_some(sort))) != CONFIRMED


def test_a_constant_may_have_the_name_of_a_constructor() -> None:
    first = z3.Const("first", TICK)
    assert confirm(text_of(z3.Not(first == TICK.first))) == "sat"
    assert confirm(text_of(z3.Exists([first], z3.Not(first == TICK.first)))) == "sat"
    assert confirm(text_of(first == TICK.first, z3.Not(first == TICK.first))) == CONFIRMED


def test_a_constant_may_have_the_name_that_z3_gives_what_it_writes_once() -> None:
    x = z3.Int("x")
    long = x * x + x
    named = [z3.Int(f"{mark}x{number}") for mark in "?$" for number in range(long.get_id() + 40)]
    assert confirm(text_of(long * long == 0, x == 0, z3.Sum(named) == 1)) != CONFIRMED


def test_a_condition_that_can_be_true_is_contradicted() -> None:
    assert confirm(text_of(z3.Int("x") > 0)) == "sat"
    assert confirm(text_of()) == "sat"


def test_what_was_not_asked_is_not_confirmed() -> None:
    silent, asked = Query("enumerated", "unsat", 0.0), Query("", "unsat", 0.0, clash=list)
    with SecondSolver() as cvc5:
        cvc5.ask([silent, asked])
        said = cvc5.answers([silent, asked, Query("never sent", "unsat", 0.0, clash=list)])
    assert (said.asked, said.confirmed) == (1, 0)
