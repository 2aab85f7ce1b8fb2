"""One line in a test says what an operator is: assert_linear(op, schema), and it is checked.

    assert_linear ...    one for each group of laws that an operator may claim
    assert_incremental   its increment is D ∘ Q ∘ I; assert_causal, assert_lifted and so on
    assert_laws          everything that it declares
    laws_as_tests        the same as a class for pytest, one test for each law

All take an operator, a kind of operator, a `Subject`, or any function of Z-sets; an operator
and a function with the schemas of its inputs. They raise LawViolation with the smallest
counterexample, and UsageError where nothing could be tested: that is no pass.

    >>> from deltaproof.reference.operators.filter import Filter
    >>> from deltaproof.reference.scalar import col
    >>> from deltaproof.reference.zset import ZSet
    >>> assert_linear(Filter(col("k") > 0), Schema.parse("k BIGINT"))
    >>> def clamped(a: ZSet) -> ZSet:
    ...     return ZSet({row: max(weight, 0) for row, weight in a.items()})
    >>> assert_positive(clamped, Schema.parse("k BIGINT"))
    >>> assert_linear(clamped, Schema.parse("k BIGINT"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    deltaproof.properties.verdict.LawViolation: operator_additive does not hold for clamped over ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from deltaproof.properties.check import check_law, subject_from
from deltaproof.properties.draw import Draws
from deltaproof.properties.law import GROUPS, ZERO_PRESERVING, Law, Premise, Subject, inherited
from deltaproof.properties.laws import CATALOGUE, laws_of
from deltaproof.properties.laws.operators import operator_zero_preserving
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Meaning, Operator, Shape
from deltaproof.reference.types import Schema

EXAMPLES = 100

Declared: TypeAlias = type[Operator] | Operator | Subject | Meaning


class Assertion(Protocol):
    """Raises LawViolation unless it is so; UsageError when nothing could be tested."""

    def __call__(
        self,
        op: Declared,
        /,
        *schemas: Schema,
        shape: Shape | None = None,
        examples: int = EXAMPLES,
    ) -> None: ...


def asserting(*names: str, shape: Shape = Shape.GENERAL) -> Assertion:
    """The assertion of these groups of laws, or of single laws.

    `shape` is that of a function of which nothing else is said: an increment is derived from it.
    """
    groups = {each for name in names for each in inherited(name) if claimed_with(name, each)}
    laws = tuple(law for law in CATALOGUE if law.of in groups or law.name in names)
    given = shape

    def assertion(
        op: Declared,
        /,
        *schemas: Schema,
        shape: Shape | None = None,
        examples: int = EXAMPLES,
    ) -> None:
        subject = subject_from(op, schemas, shape or given)
        draws = Draws(subject, examples)
        if isinstance(subject, Subject):
            for name in names:
                assert_fits(name, subject, draws)
        for law in laws:
            if not isinstance(subject, Subject) or law.fits(subject):
                assert_law(law, subject, draws, claimed=None)

    assertion.__doc__ = (
        f"Raises LawViolation unless it obeys {', '.join(each.name for each in laws)}."
    )
    return assertion


def claimed_with(name: str, group: str) -> bool:
    """Whether who claims the one claims the other; what can be seen is not asserted again."""
    return name == group or (group in GROUPS and GROUPS[group].claimable)


def assert_fits(name: str, subject: Subject, draws: Draws) -> None:
    """Raises LawViolation when Q(0) is not 0 and has to be; UsageError for what cannot be so."""
    for premise in needed(name):
        if premise.holds(subject):
            continue
        if premise == ZERO_PRESERVING:
            check_law(operator_zero_preserving, subject, draws.examples, None, draws).check()
        raise UsageError(f"{name} says nothing about {subject}: it is not so that {premise.text}")


def needed(name: str) -> tuple[Premise, ...]:
    """What must be seen of an operator before this group, or this law, can be asserted of it."""
    if name in GROUPS:
        found = [GROUPS[each].provided for each in inherited(name)]
        return tuple(each for each in found if each is not None)
    return tuple(each for law in CATALOGUE if law.name == name for each in law.premises)


def assert_law(
    law: Law, subject: type[Operator] | Subject, draws: Draws, claimed: bool | None = True
) -> None:
    """Raises LawViolation unless this law holds; UsageError when no case could refute it."""
    verdict = check_law(law, subject, draws.examples, claimed, draws)
    verdict.check()
    if verdict.status == "vacuous":
        raise UsageError(f"{verdict}: give schemas, or an operator, that let rows through")


assert_linear = asserting("linear", shape=Shape.LINEAR)
assert_bilinear = asserting("bilinear", shape=Shape.BILINEAR)
assert_linear_over_time = asserting("linear_over_time")
assert_strict = asserting("strict")
assert_positive = asserting("positive")
assert_set_valued = asserting("set_valued")
assert_monotone = asserting("monotone")
assert_idempotent = asserting("idempotent")
assert_commutative = asserting("commutative")
assert_duplicate_free = asserting("duplicate_free")
assert_scales = asserting("scales")
assert_generic = asserting("generic")
assert_by_name = asserting("by_name")

# What every operator is, whether it says so or not.
assert_incremental = asserting("increment_is_incremental", "increment_of_zero")
assert_zero_preserving = asserting("operator_zero_preserving")
assert_time_invariant = asserting("time_invariant")
assert_causal = asserting("causal")
assert_lifted = asserting("lifted")
assert_restorable = asserting("increment_restores")
assert_partitioned = asserting("partitioned")
assert_composable = asserting("query")


def assert_laws(
    op: Declared, /, *schemas: Schema, shape: Shape | None = None, examples: int = EXAMPLES
) -> None:
    """Raises LawViolation unless it obeys every law that it declares.

    >>> from deltaproof.reference.operators.negate import Negate
    >>> assert_laws(Negate(), Schema.parse("k BIGINT"), examples=20)
    """
    subject = subject_from(op, schemas, shape)
    draws = Draws(subject, examples)
    for law in laws_of(subject):
        assert_law(law, subject, draws)


def laws_as_tests(
    op: Declared, /, *schemas: Schema, shape: Shape | None = None, examples: int = EXAMPLES
) -> type:
    """A class for pytest with a test for each law: TestMedian = laws_as_tests(Median).

    >>> from deltaproof.reference.operators.negate import Negate
    >>> TestNegate = laws_as_tests(Negate(), Schema.parse("k BIGINT"), examples=20)
    >>> TestNegate().test_operator_additive()
    """
    subject = subject_from(op, schemas, shape)
    draws = Draws(subject, examples)
    name = subject.name if isinstance(subject, Subject) else subject.__name__
    tests = {f"test_{law.name}": as_test(law, subject, draws) for law in laws_of(subject)}
    return type(f"TestLawsOf{name.title().replace('_', '')}", (), dict[str, Any](tests))


def as_test(law: Law, subject: type[Operator] | Subject, draws: Draws) -> Callable[[object], None]:
    """The law as the method of a test class."""

    def test(self: object) -> None:
        assert_law(law, subject, draws)

    test.__doc__ = f"{law.statement}: {law.why}"
    return test
