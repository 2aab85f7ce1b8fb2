"""What is asked about sums of products of weights, in one way for equal questions.

A form is the canonical polynomial of an integer in a symbolic run; a `Question` is all that code
may ask of it: is it above zero, is it zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import z3

from deltaproof.theorems.kernel import Formula, Term

Form: TypeAlias = Mapping[tuple[str, ...], int]  # the factor of each product of weights


def constant(number: int) -> Form:
    return {(): number} if number else {}


def plus(one: Form, other: Form, times: int = 1) -> Form:
    """one + times · other.

    >>> plus({("v",): 1, ("w",): 2}, {("w",): 1}, -2)
    {('v',): 1}
    """
    total = dict(one)
    for names, factor in other.items():
        total[names] = total.get(names, 0) + times * factor
    return {names: factor for names, factor in total.items() if factor}


def product(one: Form, other: Form) -> Form:
    """one · other.

    >>> product({("w",): 1, (): 1}, {("v",): 3})
    {('v', 'w'): 3, ('v',): 3}
    """
    total: Form = {}
    for names, factor in one.items():
        terms = {tuple(sorted((*names, *more))): factor * each for more, each in other.items()}
        total = plus(total, terms)
    return total


def term_of_form(form: Form) -> Term:
    """The form as z3 has it.

    >>> term_of_form({(): -1, ("v", "w"): 2, ("w",): 1})
    2*v*w + w + -1
    """
    parts = sorted(form.items(), key=lambda part: (not part[0], part[0]))  # the number last
    return z3.Sum([product_term(*part) for part in parts]) if parts else z3.IntVal(0)


def product_term(names: tuple[str, ...], factor: int) -> Term:
    factors = [] if names and factor == 1 else [z3.IntVal(factor)]
    return z3.Product([*factors, *map(z3.Int, names)])


@dataclass(frozen=True)
class Question:
    """Is the form above zero, or, where `equal` is asked, zero?

    >>> Question.zero({("w",): 2}) == Question.zero({("w",): -2})
    True
    """

    parts: frozenset[tuple[tuple[str, ...], int]]
    equal: bool = False

    @classmethod
    def positive(cls, form: Form) -> Question:
        return cls(frozenset(form.items()))

    @classmethod
    def zero(cls, form: Form) -> Question:
        """Asked in one way, whatever the sign."""
        turned = bool(form) and form[min(form)] < 0
        return cls(frozenset(plus({}, form, -1 if turned else 1).items()), equal=True)

    @cached_property
    def known(self) -> bool | None:
        """The answer that needs no weights: to a question about a number."""
        return None if any(names for names, _ in self.parts) else self.answer({})

    def answer(self, weights: Mapping[str, int]) -> bool:
        """What these weights make of it."""
        number = 0
        for names, factor in self.parts:
            each = factor
            for name in names:
                each *= weights[name]
            number += each
        return number == 0 if self.equal else number > 0

    def follows(self, yes: bool) -> dict[Question, bool]:
        """What the answer says about other questions."""
        form = dict(self.parts)
        above, below = self.positive(form), self.positive(plus({}, form, -1))
        if self.equal:
            return {above: False, below: False} if yes else {}
        opposite = {self.positive(plus(constant(1), form, -1)): not yes}
        return opposite | ({self.zero(form): False, below: False} if yes else {})


@cache
def formula_of(question: Question, yes: bool = True) -> Formula:
    """This answer to the question as z3 has it; every path asks the same ones again."""
    if not yes:
        return z3.Not(formula_of(question))
    term = term_of_form(dict(question.parts))
    return term == 0 if question.equal else term > 0
