"""The increments are proved, the reference's own code is checked on all weights, and every proof
comes with a wrong variant that it refutes.

    kernel         a proof is a value that only the kernel can make
    registry       a theorem is a function, with its wrong variants
    calculus/      streams, operators on them, D ∘ Q ∘ I, every circuit; the same as fractions
    tables/        Z-sets, sums of any size, sets and groups among them, NULL, shards, lateness
    operators/     increment = D ∘ meaning ∘ I, one file per operator
    loops/         recursive queries, and streams of streams
    execution/     the reference's code on symbolic weights; planted faults
    verify/        the same questions about your own operator, a plain Python function
    weights        which theorem needs which weights
    errata         slips in print, and what holds instead
    models         the axioms have a model
    admitted       what is claimed and not proved
    licenses       no increment and no rewrite without a theorem
    paper          both editions by number
    library        the catalogue, by chapter
    second_solver  every condition as SMT-LIB 2, asked of cvc5

`deltaproof prove` proves everything and prints a table. Needs z3-solver, sympy and cvc5, which the
extra `theorems` brings; they are imported when a function here is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from deltaproof.reference.errors import BackendMissing, UsageError
from deltaproof.reference.operators import OPERATORS

if TYPE_CHECKING:
    from deltaproof.theorems.registry import Proof, Theorem


def catalogue() -> tuple[Theorem, ...]:
    """Every theorem, in reading order. Raises BackendMissing without z3 or sympy.

    >>> [theorem.name for theorem in catalogue()][:2]
    ['integrate_inverse', 'stream_group']
    """
    try:
        from deltaproof.theorems.library import THEOREMS
    except ModuleNotFoundError as error:
        if error.name not in ("z3", "sympy"):
            raise
        needed = "theorems need z3-solver and sympy: pip install 'deltaproof[theorems]'"
        raise BackendMissing(needed) from None
    return THEOREMS


def chosen(words: Iterable[str] | None = None) -> list[Theorem]:
    """The theorems of these names, chapters, operators or numbers in the paper; all for None.

    >>> [theorem.name for theorem in chosen(["integrate_inverse", "negate"])]
    ['integrate_inverse', 'negate_linear', 'negate_code']

    Raises UsageError for a word that is none of these.
    """
    theorems = catalogue()
    if words is None:
        return list(theorems)
    from deltaproof.theorems.library import CHAPTERS
    from deltaproof.theorems.paper import numbered

    licensing = {
        name: kind.theorem for kind in OPERATORS for name in (kind.name, *kind.all_capabilities())
    }
    chapters = {chapter.name: chapter.theorems for chapter in CHAPTERS}
    found: dict[str, Theorem] = {}
    for word in words:
        items = numbered(word)
        names = {each.name for each in chapters.get(word, ())}
        names |= {name for item in items for name in item.theorems}
        names |= {word, licensing.get(word, word)}
        here = [each for each in theorems if each.name in names or each.file == word]
        if not here and items:
            raise UsageError(
                f"{items[0].word} is a {items[0].kind} without a theorem: {items[0].remark}"
            )
        if not here:
            near = get_close_matches(
                word, [*(each.name for each in theorems), *chapters, *licensing]
            )
            hint = f"did you mean {', '.join(near)}? " if near else ""
            raise UsageError(
                f"unknown theorem {word!r}: {hint}expected the name of a theorem or an operator, "
                "a number in the paper such as 4.7 or in its long version such as 'TR 4.9', or a "
                f"chapter: {', '.join(chapters)}"
            )
        found |= {each.name: each for each in here}
    return list(found.values())


def prove_all(
    words: Iterable[str] | None = None,
    cvc5: bool = False,
    progress: Callable[[str, int, int], None] = lambda text, done, total: None,
) -> list[Proof]:
    """Proves these theorems and refutes their wrong variants; what failed is in the results.

    With `cvc5`, that solver is asked every condition too, in a process beside this one.

    >>> [(proof.name, proof.holds) for proof in prove_all(["integrate_inverse"])]
    [('integrate_inverse', True)]

    Raises UsageError for a word that chooses nothing, BackendMissing without z3, sympy or cvc5.
    """
    theorems = chosen(words)
    proofs: list[Proof] = []
    from deltaproof.theorems.second_solver import SecondSolver, available

    if cvc5 and not available():
        raise BackendMissing("cvc5 is missing: pip install 'deltaproof[theorems]'")
    with SecondSolver() if cvc5 else nullcontext() as second:
        for number, theorem in enumerate(theorems):
            progress(theorem.name, number, len(theorems))
            proofs.append(theorem.prove())
            if second is not None:
                second.ask(proofs[-1].queries)
        if second is None:
            return proofs
        progress("waiting for cvc5", 0, 0)
        return [replace(proof, second=second.answers(proof.queries)) for proof in proofs]
