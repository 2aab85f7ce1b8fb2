"""What a test says: strategies to draw from, laws, and checks that an operator obeys them.

    from hypothesis import given
    from deltaproof.properties import assert_linear, check_laws, delta_streams, views, zsets

A name is looked for where it is when it is first asked for: importing this costs nothing, and
needs Hypothesis only for what draws.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaproof.properties.asserts import (
        assert_bilinear,
        assert_by_name,
        assert_causal,
        assert_commutative,
        assert_composable,
        assert_duplicate_free,
        assert_generic,
        assert_idempotent,
        assert_incremental,
        assert_laws,
        assert_lifted,
        assert_linear,
        assert_linear_over_time,
        assert_monotone,
        assert_partitioned,
        assert_positive,
        assert_restorable,
        assert_scales,
        assert_set_valued,
        assert_strict,
        assert_time_invariant,
        assert_zero_preserving,
        laws_as_tests,
    )
    from deltaproof.properties.check import (
        check_law,
        check_laws,
        subject_of_function,
    )
    from deltaproof.properties.killers import (
        HUGE_WEIGHTS,
        KILLERS,
        killer_domain,
        killer_rows,
        killer_values,
        killer_zsets,
    )
    from deltaproof.properties.law import (
        GROUPS,
        Equation,
        Law,
        Subject,
        groups_of,
        subject_of,
    )
    from deltaproof.properties.lawfile import LawFile
    from deltaproof.properties.laws import (
        CATALOGUE,
        laws_of,
        unclaimed_laws,
    )
    from deltaproof.properties.strategies import (
        bags,
        delta_streams,
        operators,
        queries,
        rows,
        schemas,
        streams,
        subjects,
        types,
        values,
        views,
        zsets,
    )
    from deltaproof.properties.verdict import (
        Counterexample,
        LawViolation,
        Proof,
        Report,
        Verdict,
    )

__all__ = [
    "CATALOGUE",
    "GROUPS",
    "HUGE_WEIGHTS",
    "KILLERS",
    "Counterexample",
    "Equation",
    "Law",
    "LawFile",
    "LawViolation",
    "Proof",
    "Report",
    "Subject",
    "Verdict",
    "assert_bilinear",
    "assert_by_name",
    "assert_causal",
    "assert_commutative",
    "assert_composable",
    "assert_duplicate_free",
    "assert_generic",
    "assert_idempotent",
    "assert_incremental",
    "assert_laws",
    "assert_lifted",
    "assert_linear",
    "assert_linear_over_time",
    "assert_monotone",
    "assert_partitioned",
    "assert_positive",
    "assert_restorable",
    "assert_scales",
    "assert_set_valued",
    "assert_strict",
    "assert_time_invariant",
    "assert_zero_preserving",
    "bags",
    "check_law",
    "check_laws",
    "delta_streams",
    "groups_of",
    "killer_domain",
    "killer_rows",
    "killer_values",
    "killer_zsets",
    "laws_as_tests",
    "laws_of",
    "operators",
    "queries",
    "rows",
    "schemas",
    "streams",
    "subject_of",
    "subject_of_function",
    "subjects",
    "types",
    "unclaimed_laws",
    "values",
    "views",
    "zsets",
]

# Where they are looked for, in this order: those that do not draw come first.
MODULES = ("law", "laws", "killers", "strategies", "verdict", "check", "lawfile", "asserts")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: see its __all__")
    modules = (import_module(f"{__name__}.{module}") for module in MODULES)
    value = next(getattr(module, name) for module in modules if hasattr(module, name))
    globals()[name] = value  # so that it is looked for once
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
