"""Every kind of sign can be changed, in one function, for as long as it is wanted."""

from __future__ import annotations

import ast

import pytest

from deltaproof.reference.errors import UsageError
from deltaproof.theorems.execution.faults import (
    Change,
    Fault,
    Planted,
    change_of,
    code_named,
    faults_in,
    function_named,
    signs,
)
from deltaproof.theorems.operators.distinct import distinct_code

DISTINCT = "deltaproof.reference.operators.distinct"


def changed(code: str) -> str:
    """The code of a function with the one sign in it changed."""
    tree = ast.parse(f"def f():\n    {code}")
    ((_, node),) = signs(tree)
    return ast.unparse(Change(node).visit(tree)).splitlines()[1].strip()


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("return a + b", "return a - b"),
        ("a -= 1", "a += 1"),
        ("return a < b", "return a <= b"),
        ("return a >= b", "return a > b"),
        ("return a and b", "return a or b"),
        ("return not a", "return a"),
        ("return -a", "return a"),
        ("return z3.And(a, b)", "return z3.Or(a, b)"),
        ("return z3.Not(a)", "return a"),
    ],
)
def test_a_sign_becomes_the_other(code: str, other: str) -> None:
    assert changed(code) == other


@pytest.mark.parametrize(
    "code", ["a == b", "-1", "'a' + b", "[a] + b", "a < b < c", "z3.Sum(a)", "a * b", "a[b]"]
)
def test_nothing_else_has_a_sign(code: str) -> None:
    assert change_of(ast.parse(code, mode="eval").body) == ""


def test_a_fault_says_where_it_is() -> None:
    fault = faults_in(DISTINCT)[0]
    assert str(fault).startswith("reference.operators.distinct:")
    assert fault.function.startswith("Distinct")
    assert fault.change


def faults_of_step() -> list[Fault]:
    return [each for each in faults_in(DISTINCT) if each.function == "DistinctIncrement.step"]


def test_a_fault_is_gone_when_it_is_left() -> None:
    fault = faults_of_step()[0]
    step = function_named(DISTINCT, fault.function)
    right, planted = step.__code__, Planted(fault)
    with planted, planted:
        assert step.__code__ is not right
    assert step.__code__ is right


def test_what_a_decorator_wraps_is_found() -> None:
    wrapped = function_named("deltaproof.theorems.execution.faults", "faults_in")
    assert wrapped.__code__.co_qualname == "faults_in"
    proof = function_named("deltaproof.theorems.operators.distinct", "distinct_code")
    assert proof is distinct_code.function
    of_class = function_named("deltaproof.reference.operator", "Operator.all_capabilities")
    assert of_class.__qualname__ == "Operator.all_capabilities"
    with pytest.raises(UsageError, match="no function inside of"):
        function_named(DISTINCT, "Distinct.name")


def test_a_function_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="no function g in"):
        code_named("g", compile("x = 1", "here", "exec"))
