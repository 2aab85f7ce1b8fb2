"""The increments are proved, the reference's own code is checked on all weights, and every proof
comes with a wrong variant that it refutes.

    kernel            a proof is a value that only the kernel can make
    registry          a theorem is a function, with its wrong variants
    streams, zsets    time and finite support, by induction
    sums              sums over tables of any size are linear
    linear            operators that remember, and what may be fused
    grouped           any function of a group changes only with the group
    operators/        increment = D ∘ meaning ∘ I, one file per operator
    ztransform        the same circuits as fractions, with sympy
    symbolic, forking the reference's code on weights that stand for every integer
    circuit, planner  the same for whole queries
    laws              the laws of `properties`, run the same way
    admitted          what is claimed and not proved
    library           the catalogue

`python -m deltaproof.theorems` proves everything and prints a table. Needs z3-solver and sympy,
which the extra `theorems` brings; they are imported when a function here is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from deltaproof.reference.errors import BackendMissing, UsageError

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


def chosen(names: Iterable[str] | None = None) -> list[Theorem]:
    """The theorems of these names, in the order given; all of them for None.

    Raises UsageError for a name that no theorem has.
    """
    known = {theorem.name: theorem for theorem in catalogue()}
    wanted = list(known if names is None else names)
    for name in wanted:
        if name not in known:
            raise UsageError(f"unknown theorem {name!r}: there are {', '.join(known)}")
    return [known[name] for name in wanted]


def prove_all(names: Iterable[str] | None = None) -> list[Proof]:
    """Proves these theorems and refutes their wrong variants; what failed is in the results.

    >>> [(proof.name, proof.holds) for proof in prove_all(["integrate_inverse"])]
    [('integrate_inverse', True)]
    """
    return [theorem.prove() for theorem in chosen(names)]
