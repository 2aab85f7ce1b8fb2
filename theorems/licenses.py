"""No increment runs without a proof: each names the theorem that says it is right for any data, and
the one in which its own code was run on symbolic weights.

    operators      `theorem`, beside the declaration
    increments     the classes whose `step` runs, of the operators and of the plan
    capabilities   what an operator can do is more than one thing: what is special to each
    rewrites       what the planner makes one operator of several

A license is good when its theorems are in the catalogue, hold, refute a wrong variant and speak of
the change D(…) that a query puts out. What is not proved may be admitted, and then says why.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from random import Random

import z3

import deltaproof.reference.operators
from deltaproof.reference import operator, planner
from deltaproof.reference.operator import Increment, IntegratingIncrement, Operator, Pairing
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.types import Schema
from deltaproof.theorems.kernel import Thm, subterms
from deltaproof.theorems.registry import Proof

ProofOf = Callable[[str], Proof | None]  # by a theorem's name; None where there is none


@dataclass(frozen=True)
class License:
    """Why something is right: theorems, or the reason for which it is admitted without."""

    theorems: tuple[str, ...]
    code: str = ""  # the theorem in which the code was run
    admitted: str = ""


INCREMENTS: Mapping[str, License] = {
    "LinearIncrement": License(("lifted_linear_increment",), "filter_code"),
    "BilinearIncrement": License(("lifted_bilinear_increment",), "default_increments_code"),
    "GeneralIncrement": License(("general_increment",), "default_increments_code"),
    "Due": License(("linear_increment_over_time", "logic_linear"), "logic_code"),
    "IntegrateIncrement": License(("integrate_linear_time_invariant",), "integrate_code"),
    "DistinctIncrement": License(("distinct_increment",), "distinct_code"),
    "RowwiseIncrement": License(("rowwise_increment",), "set_operation_code"),
    "JoinIncrement": License(("join_increment",), "join_code"),
    "FusedJoinIncrement": License(("join_increment", "join_after_linear"), "planner_code"),
    "SemiJoinIncrement": License(("presence_increment",), "semi_join_code"),
    "ResidualSemiJoinIncrement": License(("presence_increment",), "semi_join_code"),
    "OuterJoinIncrement": License(("outer_join_increment",), "outer_join_code"),
    "AsofJoinIncrement": License(("grouped_increment",), "asof_join_code"),
    "AggregateIncrement": License(("aggregate_increment",), "aggregate_sum_code"),
    "GroupingSetsIncrement": License(("grouping_sets_increment",), "grouping_sets_code"),
    "OrderedIncrement": License(("grouped_increment",), "top_k_code"),
    "DenseRankIncrement": License(("grouped_increment",), "rank_code"),
    "TemporalFilterIncrement": License(("temporal_filter_increment",), "temporal_filter_code"),
    "RecursionIncrement": License(("recursion_seminaive",), "recursion_code"),
    "PerGroupIncrement": License(("per_group_lifting",), "per_group_code"),
}

# What is special to a capability, beside its operator's increment; none: it is any function of a
# group, of a row, or of its matches, and the theorem of the operator is about all of these.
CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "filter": ("where_keeps_true",),
    "map": (),
    "flat_map": (),
    "window.hop": (),
    "logic": ("logic_composition",),
    "union_all": (),
    "set.union": (),
    "set.intersect": (),
    "set.except": (),
    "set.intersect_all": (),
    "set.except_all": (),
    "positive": (),
    "negate": (),
    "join.inner": ("join_bilinear", "null_join_key"),
    "join.semi": ("null_join_key", "presence_semantics"),
    "join.anti": ("null_join_key", "not_in_anti_join", "presence_semantics"),
    "join.left": ("outer_join_increment",),
    "join.right": ("outer_join_increment",),
    "join.full": ("outer_join_increment",),
    "join.asof": (),
    "distinct": ("distinct_idempotent",),
    "aggregate.count": ("count_linear", "aggregate_group_exists", "aggregate_keyless"),
    "aggregate.sum": ("sum_linear", "aggregate_skips_null"),
    "aggregate.avg": ("avg_from_sums", "aggregate_skips_null"),
    "aggregate.min": ("min_max_reevaluation", "min_max_insertions"),
    "aggregate.max": ("min_max_reevaluation", "min_max_insertions"),
    "aggregate.count_distinct": ("distinct_aggregate_increment",),
    "aggregate.sum_distinct": ("distinct_aggregate_increment",),
    "aggregate.avg_distinct": ("distinct_aggregate_increment",),
    "aggregate.filter": ("filtered_aggregate_linear",),
    "aggregate.variance": ("variance_from_sums",),
    "aggregate.stddev": ("variance_from_sums",),
    "aggregate.bool": ("filtered_aggregate_linear",),
    "aggregate.arg": ("min_max_reevaluation",),
    "aggregate.array_agg": (),
    "aggregate.quantile": (),
    "aggregate.single": (),
    "top_k": ("top_k_weight", "top_k_merge"),
    "window.row_number": ("rank_locality",),
    "window.rank": ("rank_locality",),
    "window.dense_rank": ("rank_locality",),
    "window.lag": ("lag_locality",),
    "window.lead": ("lag_locality",),
    "window.rolling_rows": ("rolling_locality",),
    "window.rolling_range": ("rolling_locality",),
    "window.session": ("session_locality",),
    "grouping_sets": ("grouping_sets_increment",),
    "temporal_filter": (),
    "delay": (),
    "integrate": (),
    "differentiate": (),
    "recursion": ("recursion_least", "recursion_bekic", "recursion_times", "recursion_rewrites"),
    "per_group": (),
}

# What else a rewrite of the planner does, beside making one operator of several.
REWRITES: Mapping[str, tuple[str, ...]] = {
    "chain": ("logic_composition",),  # neighbouring stages become one row function
    "fused_join": ("logic_composition",),
}


# ---------------------------------------------------------------- what there is


def written_increments() -> dict[str, type[object]]:
    """Every class of the reference whose `step` can run in a circuit, by its name.

    >>> sorted(written_increments())[:3]
    ['AggregateIncrement', 'AsofJoinIncrement', 'BilinearIncrement']
    """
    package = deltaproof.reference.operators
    names = (each.name for each in pkgutil.iter_modules(package.__path__, f"{package.__name__}."))
    written = [import_module(name) for name in names if ".test_" not in name]
    bases = (Increment, IntegratingIncrement)
    return {
        name: kind
        for module in (operator, planner, *written)
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__ == module.__name__ and kind not in bases and is_increment(kind)
    }


def is_increment(kind: type[object]) -> bool:
    """Whether it is called one, or can be saved, restored and committed as one."""
    keeps = all(hasattr(kind, name) for name in ("commit", "clear", "save", "restore"))
    return kind.__name__.endswith("Increment") or keeps


def rewrites() -> list[type[Operator]]:
    """The operators that only a plan has.

    >>> [each.name for each in rewrites()]
    ['chain', 'fused_join']
    """
    kinds = (kind for _, kind in inspect.getmembers(planner, inspect.isclass))
    mine = (kind for kind in kinds if kind.__module__ == planner.__name__)
    return sorted((k for k in mine if issubclass(k, Operator)), key=lambda kind: kind.name)


def made_by(kind: type[Operator]) -> frozenset[str]:
    """The increment classes of random instances of an operator.

    >>> from deltaproof.reference.operators.semi_join import SemiJoin
    >>> sorted(made_by(SemiJoin))
    ['ResidualSemiJoinIncrement', 'SemiJoinIncrement']
    """
    random = Random(kind.name)
    left = Schema.parse("k BIGINT, v BIGINT")
    right = {
        Pairing.DISTINCT_NAMES: Schema.parse("l BIGINT, w BIGINT"),
        Pairing.SAME_TYPES: left,
        Pairing.CLOCK: Schema.parse("n BIGINT"),
    }[kind.pairing]
    schemas = (left, right)[: kind.arity]
    drawn = (kind.sample(random, *schemas) for _ in range(100))
    fitting = [each for each in drawn if each is not None]
    return frozenset(type(each.increment(*schemas)).__name__ for each in fitting)


# ---------------------------------------------------------------- what is wrong with a license


def about_a_change(proof: Proof) -> bool:
    """Whether D(…) stands in what was proved: a theorem about an increment says what it equals."""
    if not isinstance(proof.evidence, Thm):
        return False
    applied = filter(z3.is_app, subterms(proof.evidence.formula))
    return any(each.decl().name().startswith("D!") for each in applied)


def wrong_with(theorem: str, proof_of: ProofOf, change: bool = False) -> str:
    """Why a theorem licenses nothing; an empty text if it does."""
    proof = proof_of(theorem)
    if proof is None:
        return f"{theorem!r} is in no chapter"
    if not proof.holds:
        return f"{theorem!r} does not hold: {proof.error}"
    if not proof.counterexamples:
        return f"{theorem!r} refutes no wrong variant"
    if change and not about_a_change(proof):
        return f"{theorem!r} is not about an increment"
    return ""


def faults(what: str, license: License, proof_of: ProofOf) -> Iterator[str]:
    """What is wrong with one license."""
    if not license.theorems and not license.admitted:
        yield f"{what}: no theorem, and no reason to admit it without"
    asked = [(theorem, True) for theorem in license.theorems]
    asked += [(license.code, False)] if license.code else []
    for theorem, change in asked:
        if wrong := wrong_with(theorem, proof_of, change):
            yield f"{what}: {wrong}"


def faults_of_operators(kinds: Iterable[type[Operator]], proof_of: ProofOf) -> Iterator[str]:
    """An operator cites a theorem about its increment, and all that it can do is accounted for."""
    for kind in kinds:
        yield from faults(kind.name, License((kind.theorem,)), proof_of)
        for capability in kind.all_capabilities():
            if capability not in CAPABILITIES:
                yield f"{capability}: nobody says why it is right"
            for theorem in CAPABILITIES.get(capability, ()):
                if wrong := wrong_with(theorem, proof_of):
                    yield f"{capability}: {wrong}"


def faults_of_rewrites(kinds: Iterable[type[Operator]], proof_of: ProofOf) -> Iterator[str]:
    """What the planner makes of several operators cites a theorem; what it can do is theirs."""
    for kind in kinds:
        yield from faults(kind.name, License((kind.theorem,), "planner_code"), proof_of)
        for theorem in REWRITES.get(kind.name, ()):
            if wrong := wrong_with(theorem, proof_of):
                yield f"{kind.name}: {wrong}"


def faults_of_increments(written: Iterable[str], proof_of: ProofOf) -> Iterator[str]:
    """A class that steps has a license, and a license is about a class that there is."""
    names = sorted(written)
    for name in names:
        license = INCREMENTS.get(name, License(()))
        yield from faults(name, license, proof_of)
        if not license.code:
            yield f"{name}: its code was run in no theorem"
    yield from (f"{name}: there is no such increment" for name in INCREMENTS if name not in names)


def faults_of_capabilities() -> Iterator[str]:
    """What is said of a capability that no operator has."""
    known = {capability for kind in OPERATORS for capability in kind.all_capabilities()}
    yield from (f"{each}: no operator can do this" for each in CAPABILITIES if each not in known)
