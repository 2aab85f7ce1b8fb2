"""Values mean on terms what Python computes on numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import pytest
import z3

from deltaproof.theorems.verify.source import UnsupportedCode
from deltaproof.theorems.verify.values import (
    KNOWN,
    MOST_BITS,
    Clash,
    Degrees,
    absolute,
    binary,
    choice,
    compared,
    conjunction,
    disjunction,
    equality,
    extreme,
    filled,
    flat,
    member,
    negation,
    number,
    shape_of,
    skeleton,
    term,
    truth,
    unary,
    variables,
)

X, Y, C = z3.Int("x"), z3.Int("y"), z3.Bool("c")
NUMBERS = (0, 1, -1, 2, -2, 6, -6, 7, -7, 2**64)


def at(value: Any, **where: Any) -> Any:
    """A term's value where its variables have these."""
    pairs = [({"x": X, "y": Y, "c": C}[name], term(each)) for name, each in where.items()]
    found = z3.simplify(z3.substitute(term(value), *pairs))
    return found.as_long() if z3.is_int_value(found) else z3.is_true(found)


@pytest.mark.parametrize("by", [1, 2, 3, 7, -1, -2, -3, -7])
@pytest.mark.parametrize("kind", [ast.FloorDiv, ast.Mod])
def test_division_rounds_down_as_in_python(kind: type[ast.operator], by: int) -> None:
    meant = binary(kind(), X, by)
    assert [at(meant, x=x) for x in NUMBERS] == [KNOWN[kind](x, by) for x in NUMBERS]


@pytest.mark.parametrize(
    ("kind", "constant"),
    [(ast.Pow, 0), (ast.Pow, 1), (ast.Pow, 3), (ast.LShift, 3), (ast.RShift, 1), (ast.RShift, 0)],
)
def test_powers_and_shifts_by_constants(kind: type[ast.operator], constant: int) -> None:
    meant = binary(kind(), X, constant)
    assert [at(meant, x=x) for x in NUMBERS] == [KNOWN[kind](x, constant) for x in NUMBERS]


@pytest.mark.parametrize("kind", [ast.Add, ast.Sub, ast.Mult])
def test_a_bool_is_an_int_in_arithmetic(kind: type[ast.operator]) -> None:
    meant = binary(kind(), C, X)
    cases = [(c, x) for c in (False, True) for x in (-3, 0, 5)]
    assert [at(meant, c=c, x=x) for c, x in cases] == [KNOWN[kind](c, x) for c, x in cases]
    assert binary(kind(), True, True) == KNOWN[kind](True, True)


@pytest.mark.parametrize("kind", [ast.BitAnd, ast.BitOr, ast.BitXor])
def test_bits_are_for_bools(kind: type[ast.operator]) -> None:
    meant = binary(kind(), C, X > 0)
    cases = [(c, x) for c in (False, True) for x in (0, 1)]
    assert [at(meant, c=c, x=x) for c, x in cases] == [KNOWN[kind](c, x > 0) for c, x in cases]
    with pytest.raises(UnsupportedCode, match="the bits of a weight"):
        binary(kind(), X, 1)


def test_unary_signs() -> None:
    signs: list[tuple[ast.unaryop, Callable[[Any], Any]]] = [
        (ast.USub(), operator.neg),
        (ast.UAdd(), operator.pos),
        (ast.Not(), operator.not_),
        (ast.Invert(), operator.invert),
    ]
    for sign, python in signs:
        assert [at(unary(sign, X), x=x) for x in NUMBERS] == [python(x) for x in NUMBERS]
    assert [at(unary(ast.USub(), C), c=c) for c in (True, False)] == [-1, 0]


def test_min_max_and_abs() -> None:
    pairs = [(x, y) for x in (-2, 0, 3) for y in (-2, 0, 3)]
    assert [at(extreme(True, [X, Y, 1]), x=x, y=y) for x, y in pairs] == [
        max(x, y, 1) for x, y in pairs
    ]
    assert [at(extreme(False, [X, Y]), x=x, y=y) for x, y in pairs] == [min(p) for p in pairs]
    assert [at(absolute(X), x=x) for x in NUMBERS] == [abs(x) for x in NUMBERS]
    assert absolute(-3) == 3
    with pytest.raises(UnsupportedCode, match="min or max of nothing"):
        extreme(True, [])


def test_a_tuple_is_true_when_it_has_members() -> None:
    assert (truth(()), truth((0,)), truth(0), truth(2)) == (False, True, False, True)


def test_tuples_are_equal_member_by_member() -> None:
    assert [at(equality((X, 1), (2, True)), x=x) for x in (1, 2)] == [False, True]
    assert (equality((1, 2), (1, 2, 3)), equality((1,), 1)) == (False, False)
    assert [at(member(X, (1, 3)), x=x) for x in (1, 2, 3)] == [True, False, True]
    assert binary(ast.Add(), (1, 2), (3,)) == (1, 2, 3)


def test_known_conditions_stay_known() -> None:
    assert (conjunction(True, C), disjunction(False, C)) == (C, C)
    assert (conjunction(False, C), disjunction(True, C)) == (False, True)
    assert negation(True) is False


def test_branches_of_one_shape_are_merged_and_others_clash() -> None:
    assert [at(choice(C, X, True), c=c, x=7) for c in (True, False)] == [7, 1]
    assert choice(C, (1, 2), (1, 2, 3)) == Clash(("int", "int"), ("int", "int", "int"))
    assert choice(C, Clash("int", ()), 1) == Clash("int", ())
    assert choice(True, 1, (1, 2)) == 1
    refusal = Clash("int", ("int", "int")).refusal("x")
    assert "x is an int on one path and a tuple of 2 on another" in str(refusal)


def test_shapes_are_taken_apart_and_put_together() -> None:
    made = variables("v", ("int", ("bool", "int")))
    assert shape_of(made) == ("int", ("bool", "int"))
    assert skeleton(shape_of(made)) == ("int", ("int", "int"))
    assert filled(shape_of(made), iter([7, 0, 2])) == (7, (False, 2))
    assert len(flat(made)) == 3


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: binary(ast.Div(), X, 2), "/ does not give an int: write //"),
        (lambda: binary(ast.MatMult(), X, 2), "@ does not give an int"),
        (lambda: binary(ast.FloorDiv(), X, Y), "a division by a weight: divide by a constant"),
        (lambda: binary(ast.FloorDiv(), 7, X), "a division by a weight"),
        (lambda: binary(ast.Mod(), X, 0), "a division by 0"),
        (lambda: binary(ast.FloorDiv(), 7, 0), "this raises ZeroDivisionError"),
        (lambda: binary(ast.LShift(), 7, -1), "this raises ValueError: negative shift count"),
        (lambda: binary(ast.LShift(), X, -1), "this shift"),
        (lambda: binary(ast.Pow(), 2, -1), r"2 \*\* -1 is no int"),
        (lambda: binary(ast.Pow(), X, -1), "this power: a constant exponent from 0 to 8"),
        (lambda: binary(ast.Pow(), X, 9), "this power"),
        (lambda: binary(ast.Pow(), 2, X), "this power"),
        (lambda: binary(ast.Pow(), 2, 10**12), "a number of more than 2000 bits"),
        (lambda: binary(ast.LShift(), 1, 10**12), "a number of more than 2000 bits"),
        (lambda: binary(ast.Mult(), 2**MOST_BITS // 2, 4), "a number of more than 2000 bits"),
        (lambda: binary(ast.Mult(), (1, 2), 2), "arithmetic of a tuple of 2 and an int"),
        (lambda: binary(ast.Add(), (1,) * 600, (1,) * 600), "a tuple of more than 1000"),
        (lambda: compared(ast.Is(), X, 1), "`is` between numbers: write =="),
        (lambda: compared(ast.Lt(), (1, 2), (2, 3)), "the order of tuples"),
        (lambda: extreme(True, [(1, 2), (2, 3)]), "the order of tuples"),
        (lambda: member(1, 2), "`in` an int"),
        (lambda: number((1, 2)), "a tuple of 2 where a number is needed"),
    ],
)
def test_what_has_no_meaning_is_refused(compute: Callable[[], Any], message: str) -> None:
    with pytest.raises(UnsupportedCode, match=message):
        compute()


def test_the_degree_of_a_term_counts_the_weights_that_are_multiplied() -> None:
    terms = [z3.IntVal(3), X, 3 * X, X * Y, (X + 1) * (X * Y), z3.If(X * Y > 0, X, 0)]
    assert [Degrees().of(each) for each in terms] == [0, 1, 1, 2, 3, 1]
