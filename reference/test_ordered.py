"""A group in order answers as the sorted list of its rows does, before and after a change."""

from __future__ import annotations

from itertools import accumulate
from random import Random
from typing import Any

import pytest

from deltaproof.reference import ordered
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.order import Order, order_key
from deltaproof.reference.ordered import LAST, After, Entry, InOrder, Ordered, copies, in_order
from deltaproof.reference.scalar import col
from deltaproof.reference.store import add_into
from deltaproof.reference.types import Row, Schema

SCHEMA = Schema.parse("a BIGINT, b VARCHAR")
KEY = order_key([Order(col("b"), descending=True), Order(col("a"), nulls_first=True)], SCHEMA)


def random_delta(random: Random, size: int) -> dict[Row, int]:
    rows = [(random.choice((None, *range(9))), random.choice((None, *"abc"))) for _ in range(size)]
    return {row: random.choice((-2, -1, 1, 1, 3)) for row in rows}


def answers(group: InOrder, probes: list[Any]) -> list[Any]:
    """Everything that can be asked of a group."""
    seeks = [
        (list(group.upwards(key)), list(group.downwards(key)), group.weight_before(key))
        for key in probes
    ]
    everything = [list(group.upwards()), list(group.downwards()), group.first(), group.last()]
    return [seeks, everything, group.total, [group.nth(n) for n in range(group.total + 2)]]


def expected(entries: list[Entry], probes: list[Any]) -> list[Any]:
    """The same, read off a sorted list."""
    seeks = []
    for key in probes:
        below = [entry for entry in entries if entry.key < key]
        above = [entry for entry in entries if not entry.key < key]
        seeks.append((above, below[::-1], sum(entry.weight for entry in below)))
    ends = [*accumulate(entry.weight for entry in entries)]
    total = ends[-1] if ends else 0
    copy_of = [entry for entry in entries for _ in range(entry.weight)]
    everything = [entries, entries[::-1], *([entries[0], entries[-1]] if entries else [None] * 2)]
    return [seeks, everything, total, [*copy_of, None, None]]


@pytest.mark.parametrize("seed", range(20))
def test_oracle_a_group_and_its_future_are_the_sorted_lists(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered, "BLOCK", 3)
    random = Random(seed)
    group, weights = Ordered(KEY), dict[Row, int]()
    for _ in range(30):
        delta = random_delta(random, random.choice((0, 1, 2, 8)))
        probes = [KEY(row) for row in random_delta(random, 4)]
        probes += [key[:-1] for key in probes] + [(*key[:-1], LAST) for key in probes]
        before = in_order(KEY, weights.items())
        add_into(weights, delta.items())
        after = in_order(KEY, weights.items())
        future = After(group, delta)
        assert answers(future, probes) == expected(after, probes)
        assert answers(group, probes) == expected(before, probes)  # nothing was applied
        moved = {entry.row for entry in before} ^ {entry.row for entry in after}
        assert moved <= {change.row for change in future.changes} <= delta.keys()
        group.add(delta)
        assert answers(group, probes) == expected(after, probes)
        assert dict(group.items()) == weights


def test_a_group_from_which_everything_was_taken_is_empty() -> None:
    random = Random("emptied")
    group = Ordered(KEY)
    deltas = [random_delta(random, 40) for _ in range(10)]
    for delta in deltas + [{row: -weight for row, weight in delta.items()} for delta in deltas]:
        group.add(delta)
    assert not group
    assert [group.blocks, group.ends, group.totals, group.absent] == [[], [], [], {}]


def test_a_row_of_negative_weight_is_remembered_and_not_in_order() -> None:
    group = Ordered(KEY)
    group.add({(1, "a"): -2})
    assert (list(group.upwards()), group.weight((1, "a"))) == ([], -2)
    assert [entry.weight for entry in After(group, {(1, "a"): 3}).upwards()] == [1]


def test_a_copy_of_its_own_is_not_made_of_too_many_rows() -> None:
    assert list(copies(Entry((), (7,), 2))) == [(7,), (7,)]
    with pytest.raises(EvaluationError, match=r"row \(7,\) is there 100001 times: at most 100000"):
        list(copies(Entry((), (7,), ordered.MOST_COPIES + 1)))
