"""Flat map is linear: it is the linear map whose image of a row is a table of any size."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.map import Map
from deltaproof.reference.scalar import col
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import linear_increment
from deltaproof.theorems.execution.forking import prove_paths
from deltaproof.theorems.execution.symbolic import (
    Stateless,
    Subject,
    prove_code,
    refute_code,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, Thm, both, fresh_symbol, refute
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import Run, row
from deltaproof.theorems.tables.sums import linear_maps
from deltaproof.theorems.tables.zsets import any_zsets, streams_of

UNNESTED = Run(FlatMap(col("tags"), "tag"), ("tags ARRAY(BIGINT)",))
TAGS = Run(Map((("tag", col("tag")),)), ("tags ARRAY(BIGINT), tag BIGINT",))


def unnest_that_loses_duplicates() -> Counterexample:
    """An element that stands n times in the array, retracted once."""
    weight, times = z3.Ints("weight times")
    claim = weight * times == weight
    name = "an element that stands n times counts once"

    def replay(weight: int, times: int) -> tuple[ZSet, ZSet]:
        one, all_of_them = (
            TAGS.over(UNNESTED.over(row(weight, (7,) * number))) for number in (1, times)
        )
        return all_of_them, one

    return refute(name, claim, [times == 2], [weight, times], replay=replay)


def unnest_that_adds_the_weight() -> Counterexample:
    """The element's number plus the weight, where the product belongs."""
    a, b, times = z3.Ints("a b times")
    claim = (a + b) + times == (a + times) + (b + times)
    return refute(
        "flat_map(a + b) = flat_map(a) + flat_map(b), with + for ×", claim, show=[a, b, times]
    )


@theorem(
    statement="flat_map(a + b) = flat_map(a) + flat_map(b), so D(flat_map(I(d))) = flat_map(d)",
    source="DBSP (VLDB 2023) section 7.4, theorem 3.3",
    lean="flatmap_linear, flatmap_incremental",
    wrong=(unnest_that_loses_duplicates, unnest_that_adds_the_weight),
)
def flat_map_linear() -> Thm:
    """The elements are any list for each row: of any length, with duplicates, or empty."""
    source, target = any_zsets("A"), any_zsets("B")
    elements = fresh_symbol("elements", source.row, target.lists.sort)
    maps = linear_maps(source, target)
    unnested = maps.images.define("elements of the row", [], elements)
    linear = maps.linear_for(unnested())
    increment = linear_increment(
        "flat_map", streams_of(source), streams_of(target), maps.with_images(unnested()), linear
    )
    return both("flat map is linear and its own increment", linear, increment)


ROWS = [(1, [7, 7]), (2, [7, None]), (3, []), (4, None)]


def flat_map_subject(rows: int = 4, ticks: int = 2) -> Subject:
    """Arrays with a duplicate, with NULL, empty, and no array."""
    inputs = [("k BIGINT, tags ARRAY(BIGINT)", ROWS[:rows])]
    return subject_of(FlatMap(col("tags"), "tag"), inputs, ticks)


def flat_map_code_that_loses_duplicates() -> Counterexample:
    def unnested(delta: ZSet) -> ZSet:
        entries = delta.items()
        return ZSet.trusted({(*row, tag): w for row, w in entries for tag in row[1] or ()})

    name = "an element that stands twice in an array counts once"
    return refute_code(name, flat_map_subject(), lambda: Stateless(unnested))


@theorem(
    statement="FlatMap's increment, as it runs, is D ∘ flat_map ∘ I",
    source="reference/operators/flat_map.py, reference/operator.py",
    scope="all integer weights; 4 rows, 2 ticks",
    wrong=(flat_map_code_that_loses_duplicates,),
)
def flat_map_code() -> Thm:
    return both("flat map", prove_code(flat_map_subject()), prove_paths(flat_map_subject(2, 2)))
