"""Is your operator linear, bilinear, an increment, and is its state enough? For all integers.

    claims    the six questions
    verdict   the three answers, and the smallest counterexample
    source    a function's own source, and no other
    values    Python's meaning of integers, truth values and tuples, as z3 terms
    body      statements and expressions, with the branches merged
    code      a function translated, and held to the function that runs
    examples  five operators as a new user would write them

`deltaproof prove FILE.py:function --linear` asks from the command line.
"""

from deltaproof.theorems.verify.claims import (
    prove_bilinear,
    prove_equal,
    prove_increment,
    prove_linear,
    prove_sufficient_state,
    prove_zero_preserving,
)
from deltaproof.theorems.verify.verdict import Verdict

__all__ = [
    "Verdict",
    "prove_bilinear",
    "prove_equal",
    "prove_increment",
    "prove_linear",
    "prove_sufficient_state",
    "prove_zero_preserving",
]
