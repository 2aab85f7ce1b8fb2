"""Each of twelve wrong operators is refuted in exactly the laws that it breaks, by a small case.

A law that is added to the catalogue, and that one of them breaks, is added to its list here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from deltaproof.properties.check import check_laws
from deltaproof.properties.verdict import Counterexample, Report
from deltaproof.properties.wrong_operators import TWELVE
from deltaproof.reference.zset import ZSet

MOST_ROWS = MOST_TICKS = 3

BROKEN: Mapping[str, str] = {
    "not linear": """
        increment_is_incremental increment_takes_changes increment_merges_ticks
        increment_splits_ticks increment_empties increment_cycle_rule operator_additive
        operator_homogeneous operator_commutes_with_integrate
        operator_commutes_with_differentiate operator_scales circuit_is_incremental
    """,
    "not zero-preserving": """
        operator_zero_preserving operator_time_invariant increment_is_incremental
        increment_takes_changes increment_time_invariant increment_of_zero
        increment_merges_ticks increment_splits_ticks increment_skips_zero increment_undoes
        increment_empties increment_cycle_rule operator_additive operator_odd
        operator_homogeneous operator_commutes_with_integrate
        operator_commutes_with_differentiate operator_scales operator_partitions
        increment_partitions circuit_is_incremental circuit_chain_rule
    """,
    "wrong increment": """
        increment_is_incremental increment_takes_changes increment_default_agrees
        increment_merges_ticks increment_splits_ticks increment_undoes increment_empties
        circuit_is_incremental
    """,
    "state that leaks": """
        increment_state_returns increment_checkpoint_is_replay circuit_checkpoint_is_replay
    """,
    "order-dependent": """
        operator_row_order_free increment_takes_changes increment_restores
        increment_splits_ticks increment_forgets_order increment_row_order_free increment_undoes
        increment_checkpoint_is_replay increment_cycle_rule circuit_restores
        circuit_checkpoint_is_replay
    """,
    "weight-clipping": """
        increment_is_incremental increment_takes_changes increment_default_agrees
        increment_state_returns increment_merges_ticks increment_splits_ticks
        increment_forgets_order increment_undoes increment_empties increment_cycle_rule
        circuit_is_incremental
    """,
    "NULL-blind": """
        increment_is_incremental increment_takes_changes increment_default_agrees
        circuit_is_incremental
    """,
    "tick-order-dependent": """
        increment_is_incremental increment_takes_changes increment_default_agrees
        increment_merges_ticks increment_splits_ticks increment_forgets_order
        increment_commutes_ticks increment_undoes increment_empties circuit_is_incremental
    """,
    "non-deterministic": """
        operator_row_order_free operator_time_invariant increment_is_incremental
        increment_takes_changes increment_default_agrees increment_causal
        increment_time_invariant increment_step_only_reads increment_clear_forgets
        increment_restores increment_merges_ticks increment_splits_ticks increment_skips_zero
        increment_forgets_order increment_row_order_free increment_undoes operator_deterministic
        increment_deterministic increment_checkpoint_is_replay circuit_is_incremental
        circuit_chain_rule circuit_sum_rule circuit_restores circuit_checkpoint_is_replay
        circuit_consolidates circuit_refuses_whole_ticks
    """,
    "restart-forgetting": """
        increment_restores increment_checkpoint_is_replay circuit_restores
        circuit_checkpoint_is_replay
    """,
    "shard-unsafe": """
        operator_partitions increment_partitions
    """,
    "negative output": """
        operator_positive
    """,
}


@cache
def report(wrong: str) -> Report:
    operator, schemas = TWELVE[wrong]
    return check_laws(operator, *schemas)


def zsets(value: Any) -> Iterator[ZSet]:
    """The Z-sets in the inputs of a law that are not empty."""
    if isinstance(value, ZSet):
        yield from [value] if value else []
    elif isinstance(value, dict):
        yield from zsets([*value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from zsets(each)


def rows_of(counterexample: Counterexample) -> int:
    """How many rows there are in all its Z-sets together."""
    return sum(map(len, zsets([value for _, value in counterexample.inputs])))


def ticks_of(counterexample: Counterexample) -> int:
    """How many ticks of all its streams together change something; a Z-set is one of one tick."""
    return sum(len([*map(len, changes(value))]) for _, value in counterexample.inputs)


def changes(value: Any) -> Iterator[list[ZSet]]:
    """What comes together at one tick, of a Z-set, Z-sets or streams, tick by tick."""
    if isinstance(value, tuple) and any(isinstance(each, list) for each in value):
        value = [list(each) for each in zip(*value, strict=True)]
    for each in value if isinstance(value, list) else [value]:
        if together := [*zsets(each)]:
            yield together


def test_there_are_twelve() -> None:
    assert len(TWELVE) == 12
    assert [*BROKEN] == [*TWELVE]


@pytest.mark.parametrize("wrong", TWELVE)
def test_a_wrong_operator_is_refuted_in_exactly_the_laws_it_breaks(wrong: str) -> None:
    statuses = {each.law.name: each.status for each in report(wrong).verdicts}
    refuted = {name for name, status in statuses.items() if status == "refuted"}
    assert refuted == {*BROKEN[wrong].split()}
    assert {status for name, status in statuses.items() if name not in refuted} == {"tested"}


@pytest.mark.parametrize("wrong", TWELVE)
def test_its_counterexamples_have_three_rows_and_three_ticks_at_most(wrong: str) -> None:
    for verdict in report(wrong).verdicts:
        if verdict.counterexample:
            assert rows_of(verdict.counterexample) <= MOST_ROWS, str(verdict)
            assert ticks_of(verdict.counterexample) <= MOST_TICKS, str(verdict)
