"""Models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from deltaproof.theorems.kernel import Formula, Sort, Term
from deltaproof.theorems.streams import TICK

FIXED = (z3.IntSort(), z3.BoolSort(), TICK)  # sorts that mean the same in every model


@dataclass
class Shape:
    """A formula without its names: symbols and sorts are numbered as they appear.

    >>> f, x = z3.Function("f", z3.IntSort(), z3.IntSort()), z3.Int("x")
    >>> Shape.of(z3.ForAll([x], f(x + 1) >= f(x))).text
    '∀ Int. f0(v0 + 1) >= f0(v0)'
    """

    symbols: list[Any] = field(default_factory=list)
    sorts: list[Sort] = field(default_factory=list)
    text: str = ""

    @classmethod
    def of(cls, formula: Formula) -> Shape:
        shape = cls()
        shape.text = shape._term(formula)
        return shape

    def _term(self, term: Term) -> str:
        if z3.is_quantifier(term):
            sorts = " ".join(self._sort(term.var_sort(place)) for place in range(term.num_vars()))
            return f"{'∀' if term.is_forall() else '∃'} {sorts}. {self._term(term.body())}"
        if z3.is_var(term):
            return f"v{z3.get_var_index(term)}"
        parts = [self._term(each) for each in term.children()]
        if not free(term):
            return _written(term, parts)
        name = f"f{_place(self.symbols, term.decl())}"
        self._sort(term.sort())
        return f"{name}({', '.join(parts)})" if parts else name

    def _sort(self, sort: Sort) -> str:
        return str(sort) if sort in FIXED else f"S{_place(self.sorts, sort)}"


def free(term: Term) -> bool:
    """Whether a model may choose what the head of this term means."""
    kind = term.decl().kind()
    if kind in (z3.Z3_OP_DT_CONSTRUCTOR, z3.Z3_OP_DT_ACCESSOR, z3.Z3_OP_DT_IS):
        return term.sort() not in FIXED or term.children() and term.arg(0).sort() not in FIXED
    return bool(kind == z3.Z3_OP_UNINTERPRETED)


def _place(known: list[Any], value: Any) -> int:
    if value not in known:
        known.append(value)
    return known.index(value)


def _written(term: Term, parts: Sequence[str]) -> str:
    if not parts:
        return str(term)
    if len(parts) == 2 and not z3.is_and(term) and not z3.is_or(term):
        return f"{parts[0]} {term.decl().name()} {parts[1]}"
    return f"{term.decl().name()}({', '.join(parts)})"
