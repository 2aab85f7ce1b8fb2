"""A law is checked by looking for inputs that break it, and the smallest ones are shown.

    check_law(law, kind)   one law, on random operators of a kind, or on one `Subject`
    check_laws(thing)      every law of an operator, of a kind of operator, or of a function

    >>> from deltaproof.properties.laws.claims import operator_idempotent
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> print(check_law(operator_idempotent, Distinct, examples=50))
    operator_idempotent holds for distinct in 50 cases

A verdict says how many cases were tried and how many of them said anything: an equation
between two empty Z-sets was not tested, it was only not refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis.errors import Flaky, Unsatisfiable

from deltaproof.properties.draw import About, Inputs, cases
from deltaproof.properties.law import (
    Equation,
    Law,
    Stream,
    Subject,
    subject_of,
)
from deltaproof.properties.laws import laws_of
from deltaproof.properties.show import shown
from deltaproof.reference.errors import DeltaproofError, EvaluationError, UsageError
from deltaproof.reference.operator import Meaning, Operator, Shape, increment_of_shape
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet


@dataclass(frozen=True)
class Counterexample:
    """Inputs on which the two sides of a law differ; its text is the explanation."""

    law: Law
    inputs: Inputs
    equation: Equation

    def __str__(self) -> str:
        law = self.law
        premises = " and ".join(each.text for each in law.premises)
        provided = f", when {premises}" if premises else ""
        return "\n".join(
            [
                f"{law.name} does not hold{self._about()}",
                *self._sides(),
                *self._data(),
                f"  the law: {law.statement}{provided}",
                f"  why it matters: {law.why}",
                f"  source: {law.source}",
            ]
        )

    def _about(self) -> str:
        for _, value in self.inputs:
            if isinstance(value, Subject):
                schemas = ", ".join(f"({schema})" for schema in value.schemas)
                return f" for {value} over {schemas}"
            if isinstance(value, Query):
                return f" for the query\n{indent(str(value), '    ')}"
        return ""

    def _sides(self) -> Iterator[str]:
        """What each side is; of two streams, the first values that differ."""
        names = self.law.sides
        width = max(map(len, names))
        lhs, rhs = self.equation.lhs, self.equation.rhs
        if (tick := first_difference(lhs, rhs)) is not None:
            yield f"  at t = {tick}, the first difference:"
            lhs, rhs = lhs[tick], rhs[tick]
        for name, side in zip(names, (lhs, rhs), strict=True):
            yield f"    {name:<{width}} = {shown(side)}"

    def _data(self) -> Iterator[str]:
        lead = "  with"
        for name, value in self.inputs:
            if not isinstance(value, Subject | Query):
                yield f"{lead} {name} = {shown(value)}"
                lead = "      "


class LawViolation(DeltaproofError):
    """A law that does not hold; the message is the smallest counterexample found."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(str(counterexample))
        self.counterexample = counterexample


@dataclass(frozen=True)
class Verdict:
    """What looking for a counterexample found."""

    law: Law
    about: str
    tested: int  # cases tried
    telling: int  # cases among them whose sides were not both empty
    counterexample: Counterexample | None = None

    @property
    def status(self) -> str:
        """refuted; vacuous when no case could have refuted it; else holds, in the cases tried."""
        if self.counterexample:
            return "refuted"
        return "holds" if self.telling else "vacuous"

    @property
    def telling_share(self) -> float:
        return self.telling / self.tested if self.tested else 0.0

    def check(self) -> None:
        """Raises LawViolation when the law was refuted."""
        if self.counterexample:
            raise LawViolation(self.counterexample)

    def __str__(self) -> str:
        about = f" for {self.about}" if self.about else ""
        if self.counterexample:
            return str(self.counterexample)
        if not self.telling:
            return f"{self.law.name} is untested{about}: all {self.tested} cases are vacuous"
        return f"{self.law.name} holds{about} in {self.tested} cases"


@dataclass(frozen=True)
class Report:
    """The verdict on each law; its text is a table, then every counterexample."""

    verdicts: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        return all(verdict.status == "holds" for verdict in self.verdicts)

    def check(self) -> None:
        """Raises LawViolation for the first law that was refuted."""
        for verdict in self.verdicts:
            verdict.check()

    def __str__(self) -> str:
        width = max((len(verdict.law.name) for verdict in self.verdicts), default=0)
        lines = [f"{'law':<{width}}  verdict    cases  telling"]
        for each in self.verdicts:
            counted = f"{each.tested:>5}  {each.telling_share:>7.0%}"
            lines.append(f"{each.law.name:<{width}}  {each.status:<8}  {counted}")
        failures = [f"\n{each}" for each in self.verdicts if each.counterexample]
        return "\n".join(lines + failures)


def check_law(law: Law, about: About = None, examples: int = 100) -> Verdict:
    """Looks for inputs that break the law, and shrinks what it finds.

    The law of a Z-set or a stream is about nothing else; that of an operator or a query is
    about one `Subject`, or about random operators of a kind. Cases in which an expression has
    no value are not counted. The same arguments always give the same verdict.

    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> k = Schema.parse("k BIGINT NOT NULL")
    >>> claimed = subject_of_function(Distinct().meaning(k), Shape.LINEAR, k)
    >>> print(check_law(operator_additive, claimed))
    operator_additive does not hold for distinct over (k BIGINT NOT NULL)
        Q(a + b)    = {(0): +1}
        Q(a) + Q(b) = {(0): +2}
      with a = {(0): +1}
           b = {(0): +1}
      the law: Q(a + b) = Q(a) + Q(b), when Q has a meaning at each tick alone and Q(0) = 0
      why it matters: From it follows Q^D = Q: a change alone is enough to know the output's change.
      source: DBSP (VLDB 2023) definition 2.12; Lean: linear
    """
    tally = Tally()

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(law, about))
    def search(inputs: Inputs) -> None:
        tally.judge(law, inputs)

    try:
        search()
    except (LawViolation, Flaky):  # flaky: the answers depend on more than the inputs
        if not tally.violation:
            raise
    except Unsatisfiable:  # no input meets the premise: nothing was tested
        pass
    counterexample = tally.violation.counterexample if tally.violation else None
    return Verdict(law, about_text(about), tally.tested, tally.telling, counterexample)


@dataclass
class Tally:
    """Counts cases until one breaks the law; then keeps the last, so the smallest, that does."""

    tested: int = 0
    telling: int = 0
    violation: LawViolation | None = None

    def judge(self, law: Law, inputs: Inputs) -> None:
        """Raises LawViolation when the sides differ."""
        try:
            equation = law.equation(*[value for _, value in inputs])
        except EvaluationError:
            reject()
        except Exception as error:
            data = ", ".join(f"{name} = {shown(value)}" for name, value in inputs)
            error.add_note(f"while checking {law.name} with {data}")
            raise
        if not self.violation:
            self.tested += 1
            self.telling += is_telling(law, inputs, equation)
        if equation.lhs != equation.rhs:
            self.violation = LawViolation(Counterexample(law, inputs, equation))
            raise self.violation


def is_telling(law: Law, inputs: Inputs, equation: Equation) -> bool:
    """Whether the case could have refuted the law: its sides are not both zero.

    Where they must be, whether it has inputs that are not zero.
    """
    if not law.vanishes:
        return not (is_zero(equation.lhs) and is_zero(equation.rhs))
    data = [value for _, value in inputs if isinstance(value, ZSet | list | tuple)]
    return not data or not is_zero(data)


def is_zero(value: Any) -> bool:
    """Whether this is the empty Z-set, or made of nothing else."""
    if isinstance(value, dict):
        return is_zero(list(value.values()))
    return all(map(is_zero, value)) if isinstance(value, list | tuple) else not value


def first_difference(lhs: Any, rhs: Any) -> int | None:
    """The first tick at which two streams differ; None for what is no stream.

    >>> first_difference([ZSet(), ZSet({(1,): 1})], [ZSet(), ZSet()])
    1
    """
    if not (isinstance(lhs, list) and isinstance(rhs, list) and len(lhs) == len(rhs)):
        return None
    differing = (tick for tick, pair in enumerate(zip(lhs, rhs, strict=True)) if pair[0] != pair[1])
    return next(differing, None)


def check_laws(
    about: type[Operator] | Operator | Subject | Meaning,
    *inputs: Schema,
    shape: Shape | None = None,
    examples: int = 100,
) -> Report:
    """Checks every law that this must obey by what it declares.

    A kind of operator is checked on random instances, an operator at its input schemas, and
    any function of Z-sets at its input schemas with the shape that is claimed for it.

    >>> def doubled_plus_one(a: ZSet) -> ZSet:
    ...     return a + a + ZSet({(1,): 1})
    >>> report = check_laws(doubled_plus_one, Schema.parse("k BIGINT"), shape=Shape.LINEAR)
    >>> [each.law.name for each in report.verdicts if each.status == "refuted"][:2]
    ['operator_zero_preserving', 'operator_time_invariant']
    """
    subject = subject_from(about, inputs, shape)
    return Report(tuple(check_law(each, subject, examples) for each in laws_of(subject)))


def subject_from(
    about: Any, inputs: tuple[Schema, ...], shape: Shape | None
) -> type[Operator] | Subject:
    """What the arguments of `check_laws` speak of. Raises UsageError when they do not say it."""
    if isinstance(about, Subject) or (isinstance(about, type) and issubclass(about, Operator)):
        return about
    if not inputs:
        raise UsageError("the schemas of the inputs are missing: check_laws(operator, schema, ...)")
    if isinstance(about, Operator):
        return subject_of(about, *inputs)
    if shape is None:
        raise UsageError("the shape that the function claims is missing: shape=Shape.LINEAR")
    return subject_of_function(about, shape, *inputs)


def subject_of_function(
    meaning: Meaning,
    shape: Shape,
    *inputs: Schema,
    stream: Callable[..., Stream] | None = None,
) -> Subject:
    """Any function of Z-sets, with the shape claimed for it, and perhaps its incremental form."""
    return Subject(
        name=getattr(meaning, "__name__", "Q"),
        shape=shape,
        schemas=inputs,
        meaning=meaning,
        increment=lambda: increment_of_shape(shape, meaning, inputs),
        stream=stream,
    )


def about_text(about: About) -> str:
    """What a law is checked of, in a few words."""
    if about is None:
        return ""
    return f"{about}" if isinstance(about, Subject) else about.name
