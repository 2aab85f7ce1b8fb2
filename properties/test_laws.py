"""Every law holds for everything it is a law of; who that is, the declarations say."""

from __future__ import annotations

import pytest
from hypothesis import settings

from deltaproof.properties.check import Verdict, check_law
from deltaproof.properties.draw import Draws
from deltaproof.properties.law import GROUPS, Law
from deltaproof.properties.laws import CATALOGUE, laws_of, never_lifted
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join

LAWS_OF_DATA = [law for law in CATALOGUE if law.of in ("zset", "stream")]
LAWS_OF_OPERATORS = [(kind, law) for kind in OPERATORS for law in laws_of(kind)]
EXAMPLES = settings().max_examples
DRAWS = {kind: Draws(kind, EXAMPLES) for kind in OPERATORS}  # drawn when a test asks for them
LEAST_TELLING = 0.1  # the share of cases that must be able to refute the law


def name_of(value: object) -> str | None:
    return getattr(value, "name", None)


def holds(verdict: Verdict) -> bool:
    """Raises LawViolation when it does not; False when too few cases say anything."""
    verdict.check()
    return verdict.telling_share >= LEAST_TELLING


@pytest.mark.parametrize("law", LAWS_OF_DATA, ids=name_of)
def test_zsets_and_streams_obey(law: Law) -> None:
    assert holds(check_law(law, examples=EXAMPLES))


@pytest.mark.parametrize(("kind", "law"), LAWS_OF_OPERATORS, ids=name_of)
def test_operators_obey(kind: type[Operator], law: Law) -> None:
    assert holds(check_law(law, kind, EXAMPLES, draws=DRAWS[kind]))


def test_every_law_is_run_by_somebody() -> None:
    run = {law.name for law in LAWS_OF_DATA} | {law.name for _, law in LAWS_OF_OPERATORS}
    assert run == {law.name for law in CATALOGUE}


@pytest.mark.parametrize("kind", OPERATORS, ids=name_of)
def test_every_operator_obeys_the_laws_of_its_shape(kind: type[Operator]) -> None:
    obeyed = {law.of for law in laws_of(kind)}
    shape = f"{kind.shape.value}_over_time" if never_lifted(kind) else kind.shape.value
    shapes = {"linear", "bilinear", "general", "linear_over_time"} & obeyed
    assert shapes >= {shape} - {Shape.GENERAL.value}  # general claims nothing
    assert {"operator", "query"} <= obeyed


@pytest.mark.parametrize("kind", OPERATORS, ids=name_of)
def test_every_operator_has_a_law_of_its_own(kind: type[Operator]) -> None:
    assert [law for law in laws_of(kind) if law.of == kind.name and law.name.startswith(kind.name)]


@pytest.mark.parametrize("law", CATALOGUE, ids=name_of)
def test_a_law_says_what_it_is_and_why(law: Law) -> None:
    subjects = {*SUBJECTS.get(law.of, ())}
    if law.of in OPERATORS_BY_NAME:
        subjects.add(law.of.split("_")[0])
    assert law.name.split("_")[0] in subjects
    assert law.statement.isascii()
    assert law.statement.count(" = ") == 1
    assert all(law.sides)
    assert law.why.endswith(".")
    assert law.source


OPERATORS_BY_NAME = {kind.name for kind in OPERATORS}
SUBJECTS = {
    "zset": ("zset",),
    "stream": ("integrate", "differentiate", "delay"),
    **dict.fromkeys(GROUPS, ("operator", "increment")),
    "query": ("circuit",),
}


def test_names_of_laws_are_unique() -> None:
    names = [law.name for law in CATALOGUE]
    assert sorted(set(names)) == sorted(names)


def test_join_is_held_to_the_product_rule_and_filter_is_not() -> None:
    assert "operator_product_rule" in {law.name for law in laws_of(Join)}
    assert "operator_product_rule" not in {law.name for law in laws_of(Filter)}


def test_a_delay_is_held_to_laws_of_streams_and_not_of_single_zsets() -> None:
    names = {law.name for law in laws_of(Delay)}
    assert "operator_additive_over_time" in names
    assert "operator_additive" not in names


def test_an_aggregate_is_not_held_to_additivity() -> None:
    assert "operator_additive" not in {law.name for law in laws_of(Aggregate)}
