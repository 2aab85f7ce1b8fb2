"""Every operator claims what is true of it, and whatever it claims is tested.

A claim that no case refutes, and that is not made, stands in `UNCLAIMED` with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from deltaproof.properties.draw import Draws, drawn
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import GROUPS, Law, Subject, groups_of, inherited
from deltaproof.properties.laws import CATALOGUE
from deltaproof.properties.strategies import subjects
from deltaproof.properties.test_laws import LAWS_OF_OPERATORS
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.operators import OPERATORS, kinds_by_name

CLAIMABLE = tuple(name for name, group in GROUPS.items() if group.claimable)
INSTANCES = 60
CASES = 40  # of each instance, until one refutes the law

TIES = "where the order ties, rows go by their columns in order: a tie is seldom drawn"
TABLES = "its tables say where their columns are; only one column may be turned"
BY_PLACE = "goes by places: the law turns both inputs alike, but nobody may turn one alone"

# What no case refutes although it is not true of every instance, or says less than it seems.
UNCLAIMED = {
    ("map", "idempotent"): "random ones mostly copy columns in place; `c + 1` is not idempotent",
    ("union_all", "by_name"): BY_PLACE,
    ("set_operation", "by_name"): BY_PLACE,
    ("recursion", "by_name"): TABLES,
    ("recursion", "monotone"): "those that take rows away, of what is outside, are seldom drawn",
    ("per_group", "by_name"): TABLES,
    **{(name, "by_name"): TIES for name in ("asof_join", "top_k", "rank", "lag", "rolling")},
}


def name_of(kind: type[Operator]) -> str:
    return kind.name


def instances(kind: type[Operator]) -> tuple[Subject, ...]:
    return instances_named(kind.name)


@cache
def instances_named(name: str) -> tuple[Subject, ...]:
    return tuple(drawn(subjects(kinds_by_name()[name]), INSTANCES))


def laws_of_group(name: str, among: Iterable[Subject]) -> list[Law]:
    """The laws of a group that say something about one of these."""
    laws = [law for law in CATALOGUE if law.of == name]
    return [law for law in laws if any(law.fits(each) for each in among)]


def could_claim(kind: type[Operator], name: str) -> bool:
    """Whether some instances could be in the group, do not claim it, and no case keeps them out."""
    those = [each for each in instances(kind) if name not in groups_of(each)]
    laws = laws_of_group(name, those)
    return bool(laws) and not any(refuted(each, laws) for each in those)


def refuted(q: Subject, laws: list[Law]) -> bool:
    draws = Draws(q, CASES)
    fitting = [law for law in laws if law.fits(q)]
    return any(breaks(law, inputs) for law in fitting for inputs in draws.of(law))


def breaks(law: Law, inputs: Inputs) -> bool:
    try:
        equation = law.equation(*[value for _, value in inputs])
    except EvaluationError:
        return False
    return bool(equation.lhs != equation.rhs)


@pytest.mark.parametrize("kind", OPERATORS, ids=name_of)
def test_an_operator_claims_whatever_is_true_of_it(kind: type[Operator]) -> None:
    groups = [name for name in CLAIMABLE if (kind.name, name) not in UNCLAIMED]
    assert [name for name in groups if could_claim(kind, name)] == []


@pytest.mark.parametrize("kind", OPERATORS, ids=name_of)
def test_whatever_an_operator_claims_is_tested(kind: type[Operator]) -> None:
    groups = {each for name in kind.claimed for each in inherited(name)}
    claimed = [laws_of_group(name, instances(kind)) for name in groups & {*CLAIMABLE}]
    tested = {law.name for each, law in LAWS_OF_OPERATORS if each is kind}
    assert {law.name for laws in claimed for law in laws} <= tested


@pytest.mark.parametrize("kind", OPERATORS, ids=name_of)
def test_an_instance_claims_what_its_kind_may_claim(kind: type[Operator]) -> None:
    assert {*kind.claimed} <= {*CLAIMABLE}
    claims = [{*each.claims} for each in instances(kind)]
    assert set.union(*claims) <= {*kind.claimed}


@pytest.mark.parametrize("kind", OPERATORS, ids=name_of)
def test_an_operator_is_partitioned_by_columns_of_its_inputs(kind: type[Operator]) -> None:
    for each in instances(kind):
        columns = zip(each.schemas, each.partition, strict=True)
        assert all(schema.column(name) for schema, by in columns for name in by)
        assert each.shape is Shape.LINEAR or len({*map(len, each.partition)}) == 1


def test_every_reason_is_for_a_claim_that_an_operator_could_make() -> None:
    for name, group in UNCLAIMED:
        kind = kinds_by_name()[name]
        assert any(group not in groups_of(each) for each in instances(kind))
        assert group in CLAIMABLE
