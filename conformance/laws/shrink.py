"""The smallest inputs that still break a law on a backend, found in a few batches.

`properties.reduce` says what is smaller and what to try next, and asks about one candidate after
the other. An engine that is slow to start a job is asked about all of them at once: first about
every one, two and three of the rows, then about every step and, as far as it goes, every two
steps. Many broken laws are made smaller side by side: a round costs as much for ten as for one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, islice
from typing import TypeAlias

from deltaproof.conformance.shrink import Budget
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import Law
from deltaproof.properties.reduce import Small
from deltaproof.reference.types import Row

FEW = 3  # rows that are enough for most counterexamples
MOST_SUBSETS = 700  # of so many rows
AT_ONCE = 300  # candidates of one law in a round: steps, then pairs of steps

Fails: TypeAlias = Callable[[Sequence[tuple[int, Inputs]]], Sequence[bool]]


def shrink_laws(broken: Sequence[tuple[Law, Inputs]], fails: Fails, budget: Budget) -> list[Inputs]:
    """For each law the smallest inputs found that still break it.

    `fails` judges (number of the law, candidate). A round tries candidates of all laws together,
    and takes of each the smallest that fails.

    >>> from deltaproof.properties.laws.data import zset_add_commutes
    >>> from deltaproof.reference.zset import ZSet
    >>> given = (("a", ZSet({(1,): 3, (2,): 1})), ("b", ZSet({(1,): 2, (3,): -5})))
    >>> def in_both(batch):
    ...     return [(1,) in inputs[0][1] and (1,) in inputs[1][1] for _, inputs in batch]
    >>> shrink_laws([(zset_add_commutes, given)], in_both, Budget())
    [(('a', ZSet({(1,): 1})), ('b', ZSet({(1,): 1})))]
    """
    best = [Small.of(law, inputs) for law, inputs in broken]
    seen = [{str(each.inputs())} for each in best]
    live = list(range(len(best)))
    started, tries = time.monotonic(), 0
    while live and tries < budget.tries and time.monotonic() - started < budget.seconds:
        batch = [(n, each) for n in live for each in unseen(best[n], seen[n])]
        verdicts = fails([(n, each.inputs()) for n, each in batch])
        tries += len(batch)
        failing = [found for found, failed in zip(batch, verdicts, strict=True) if failed]
        for n, each in failing:
            best[n] = min(best[n], each, key=Small.measure)
        live = [n for n in live if any(n == other for other, _ in failing)]
    return [each.inputs() for each in best]


def unseen(small: Small, seen: set[str]) -> Iterator[Small]:
    """The candidates of a round: smaller, and not tried before."""
    size = small.measure()
    steps = [each for each in small.candidates() if each.measure() < size]
    pairs = (second for first in steps for second in first.candidates())
    for each in chain(few_rows(small), islice(chain(steps, pairs), AT_ONCE)):
        text = str(each.inputs())
        if text not in seen and each.measure() < size:
            seen.add(text)
            yield each


def few_rows(small: Small) -> Iterator[Small]:
    """Every choice of up to three of the rows, the fewest first; of two where rows are many."""
    places = [(n, row) for n, zset in enumerate(small.zsets) for row in zset]
    choices = (each for count in range(FEW + 1) for each in combinations(places, count))
    for chosen in islice(choices, MOST_SUBSETS):
        if len(chosen) < len(places):
            kept: dict[int, dict[Row, int]] = {n: {} for n in range(len(small.zsets))}
            for n, row in chosen:
                kept[n][row] = small.zsets[n][row]
            yield small.put(kept)
