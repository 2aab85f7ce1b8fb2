"""What breaks a law is made small: few ticks, few rows, weights of one, simple values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deltaproof.properties.draw import Draws
from deltaproof.properties.inputs import Inputs, copied, zsets_in
from deltaproof.properties.law import LeftStream, Subject, ZSets, subject_of
from deltaproof.properties.laws import CATALOGUE
from deltaproof.properties.laws.data import delay_strict, zset_add_commutes, zset_scale_adds
from deltaproof.properties.laws.operators import increment_causal, increment_is_incremental
from deltaproof.properties.laws.queries import circuit_is_incremental
from deltaproof.properties.reduce import Small, reduced
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.query import table
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

K = Schema.parse("k BIGINT, v VARCHAR")
DISTINCT = subject_of(Distinct(), K)


def z(weights: dict[Any, int]) -> ZSet:
    return ZSet(weights, K)


def some(*rows: tuple[int, str]) -> ZSet:
    return z(dict.fromkeys(rows, 2))


def test_ticks_that_do_not_matter_are_dropped_from_all_streams_with_the_position() -> None:
    stream = [z({}), some((3, "b")), z({}), some((2, "a"))]
    given: Inputs = (("q", DISTINCT), ("s", (stream,)), ("r", (stream[::-1],)), ("t", 3))
    small = reduced(increment_causal, given, lambda each: total(each) > 0)
    assert small == (("q", DISTINCT), ("s", ([z({})],)), ("r", ([z({(0, "a"): 1})],)), ("t", 0))


def total(inputs: Inputs) -> int:
    return sum(len(each) for each in zsets_in(tuple(value for _, value in inputs)))


def test_a_position_stays_at_the_tick_that_it_was_at() -> None:
    """What fails needs a row at the tick t itself."""
    stream = [z({}), z({}), some((2, "b")), z({})]
    given: Inputs = (("s", stream), ("r", [z({})] * 4), ("t", 2))

    def fails(inputs: Inputs) -> bool:
        s, _, t = (value for _, value in inputs)
        return len(s) > t >= 1 and bool(s[t])

    small = dict(reduced(delay_strict, given, fails))
    assert (small["s"], small["t"]) == ([z({}), z({(0, "a"): 1})], 1)


def test_two_ticks_become_one_where_that_is_enough() -> None:
    stream = [some((1, "a")), some((2, "b")), some((3, "ab"))]
    three = reduced(
        increment_is_incremental,
        (("q", DISTINCT), ("s", (stream,))),
        lambda each: total(each) >= 3,
    )
    assert [len(tick) for tick in dict(three)["s"][0]] == [3]


def test_ticks_of_a_circuit_are_dropped_and_added_up_table_by_table() -> None:
    query = table("t", K).distinct()
    ticks = [{"t": some((1, "a"))}, {"t": z({})}, {"t": some((2, "b"))}]
    given: Inputs = (("q", query), ("s", ticks))
    small = dict(reduced(circuit_is_incremental, given, lambda each: total(each) == 2))
    assert small["q"] is query
    assert [len(tick["t"]) for tick in small["s"]] == [2]


def test_values_become_simple_the_same_one_everywhere() -> None:
    given: Inputs = (("a", z({(77, "xyz"): 9})), ("b", z({(77, "xyz"): -4, (5, "c"): 1})))

    def fails(inputs: Inputs) -> bool:
        (_, a), (_, b) = inputs
        return any(row in b for row in a)

    assert reduced(zset_add_commutes, given, fails) == (
        ("a", z({(0, "a"): 1})),
        ("b", z({(0, "a"): 1})),
    )


def test_numbers_become_simple() -> None:
    given: Inputs = (("a", z({(0, "a"): 1})), ("n", -2), ("m", 3))
    small = reduced(zset_scale_adds, given, lambda each: bool(dict(each)["a"]))
    assert small == (("a", z({(0, "a"): 1})), ("n", 2), ("m", 2))


def test_a_weight_below_zero_stays_where_it_matters() -> None:
    given: Inputs = (("a", z({(1, "b"): -7})), ("b", z({})))
    small = reduced(zset_add_commutes, given, lambda each: not dict(each)["a"].is_positive())
    assert dict(small)["a"] == z({(0, "a"): -1})


def test_the_search_stops_at_its_budget_with_something_that_fails() -> None:
    given: Inputs = (("a", some(*((n, "ab") for n in range(9)))), ("b", z({})))
    asked: list[Inputs] = []

    def fails(inputs: Inputs) -> bool:
        asked.append(inputs)
        return len(dict(inputs)["a"]) > 5

    small = reduced(zset_add_commutes, given, fails, tries=7)
    assert len(asked) == 7
    assert 5 < len(dict(small)["a"]) < 9


def test_nothing_is_asked_twice_in_a_row_when_nothing_gets_smaller() -> None:
    given: Inputs = (("a", some((2, "b"), (3, "ab"))), ("b", z({})))
    asked: list[str] = []

    def fails(inputs: Inputs) -> bool:
        asked.append(str(inputs))
        return False

    assert reduced(zset_add_commutes, given, fails) == given
    assert len(asked) < 60


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_every_candidate_of_every_law_has_the_shape_of_the_law(law: Any) -> None:
    """Streams stay equally long and positions inside them, and tables stay tables."""
    kinds = dict(law.parameters)
    about = DISTINCT if Subject in kinds.values() else None
    try:
        drawn = Draws(about or Distinct, 3).of(law, claimed=None)
    except IndexError:  # the law is of two inputs
        return
    for given in drawn:
        small = Small.of(law, given)
        assert small.inputs() == given
        for candidate in small.candidates():
            check_shape(kinds, candidate.inputs())


def check_shape(kinds: dict[str, Any], inputs: Inputs) -> None:
    values = dict(inputs)
    lengths = {len(values[name]) for name, kind in kinds.items() if kind == LeftStream}
    streams = [s for value in values.values() if isinstance(value, tuple) for s in value]
    lengths |= {len(each) for each in streams if isinstance(each, list)}
    assert len(lengths) <= 1
    for name, kind in kinds.items():
        if getattr(kind, "__name__", "") == "Tick":
            assert 0 <= values[name] < max(1, *lengths, 4)
        if getattr(kind, "__name__", "") == "Bags":
            assert all(each.is_positive() for each in values[name])
        if kind == ZSets:
            assert all(isinstance(each, ZSet) for each in values[name])


def test_a_copy_shares_no_z_set() -> None:
    stream = [some((1, "a"))]
    given: Inputs = (("q", DISTINCT), ("s", (stream,)), ("t", 0))
    copy: Callable[[], Inputs] = lambda: copied(given)  # noqa: E731
    assert copy() == given
    dict(copy())["s"][0][0]._weights.clear()
    assert stream[0]
