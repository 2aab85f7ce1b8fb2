"""A fault in the algorithm, in a translation or in a rewrite is found by the case that it is in."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import pytest
import z3

from deltaproof.theorems.calculus.algorithm import Algorithm, Rewrites, Trees, algorithm
from deltaproof.theorems.calculus.wiring import Circuits, circuits
from deltaproof.theorems.kernel import ProofError, Term, recursive

it = circuits()
CASES = dict(
    zip(
        [it.sort.constructor(n).name() for n in range(it.sort.num_constructors())],
        it._increments(),
        strict=True,
    )
)


def changed(word: str, case: Callable[..., Term]) -> Algorithm:
    """The algorithm with another rule for one constructor."""
    other: Circuits = copy(it)
    rules = {**CASES, word: case}
    other.inc = recursive("inc", it.sort, [], it.sort, list(rules.values()))
    wrong = copy(algorithm())
    wrong.__dict__.pop("right", None)
    wrong.it = other
    return wrong


def joined(*order: str) -> Callable[..., Term]:
    """A join's rule whose right side goes through these after it is made incremental."""

    def case(inc: Callable[[Term], Term], b: Term, c: Term, e: Term) -> Term:
        after = it.make("sequence", inc(c), it.make("integrate"))
        before = inc(e)
        for word in order:
            before = it.make("sequence", before, it.make(word))
        one, other = it.make("join", b, after, inc(e)), it.make("join", b, inc(c), before)
        return it.make("plus", one, other)

    return case


def test_the_algorithm_as_it_is_needs_no_fault_to_hold() -> None:
    assert str(changed("join", joined("integrate", "delay")).right) == "⊢ the algorithm"


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("join", joined("integrate")),
        ("join", joined("delay")),
        ("join", lambda inc, b, c, e: it.make("join", b, inc(c), inc(e))),
        ("query", lambda inc, q: it.make("query", q)),
        ("change", lambda inc, q: it.make("change", q)),
        ("negate", lambda inc, c: inc(c)),
        ("sequence", lambda inc, c, e: it.make("sequence", inc(e), inc(c))),
        ("plus", lambda inc, c, e: it.make("plus", inc(c), e)),
        ("loop", lambda inc, c: it.make("loop", c)),
        ("loop", lambda inc, c: inc(c)),
        ("delay", lambda inc: it.make("wire")),
    ],
)
def test_a_fault_in_a_rule_is_found(word: str, case: Callable[..., Term]) -> None:
    with pytest.raises(ProofError, match=rf"the algorithm \[{word}\]"):
        _ = changed(word, case).right


def test_a_translation_that_drops_a_node_is_found() -> None:
    trees = copy(Trees(it))
    cases = list(trees._circuits())
    cases[3] = lambda of, q: of(q)
    trees.circuit = recursive("circuit", trees.sort, [], it.sort, cases)
    with pytest.raises(ProofError, match=r"translated and lifted \[minus\]"):
        _ = trees.translated


def test_a_pass_that_swaps_circuits_in_sequence_is_found() -> None:
    rewrites = Rewrites(it)

    def swapped(old: Term, new: Term) -> Term:
        is_sequence = getattr(it.sort, "is_sequence")  # noqa: B009  # z3 makes it, not the class
        other = it.make("sequence", it.sort.later(new), it.sort.earlier(new))
        return z3.If(is_sequence(new), other, new)

    with pytest.raises(ProofError, match=r"\[sequence\]"):
        rewrites.kept(rewrites._everywhere("swapped", swapped))
