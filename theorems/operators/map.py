"""Map is linear: rows that become equal add their weights, in any order and any number."""

from __future__ import annotations

import z3

from deltaproof.reference.operators.distinct import Distinct
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
from deltaproof.theorems.tables.zsets import any_zsets, if_then, streams_of

PROJECTED = Run(Map((("k", col("k")),)), ("k BIGINT, v BIGINT",))
ONCE = Run(Distinct(), ("k BIGINT",))


def projection_onto_a_set() -> Counterexample:
    """Two rows with one image, counted once: a projection that removes duplicates."""
    a, b = z3.Ints("a b")
    claim = if_then(a + b > 0, z3.IntVal(1)) == if_then(a > 0, z3.IntVal(1)) + if_then(
        b > 0, z3.IntVal(1)
    )

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        first, second = row(a, 1, 3), row(b, 1, 7)
        one, other, whole = (
            ONCE.over(PROJECTED.over(each)) for each in (first, second, first + second)
        )
        return whole, one + other

    name = "map(a + b) = map(a) + map(b), each image once"
    return refute(name, claim, show=[a, b], replay=replay)


def map_that_keeps_the_last_image() -> Counterexample:
    """`weights[image] = weight` instead of adding to what is there."""
    a, b = z3.Ints("a b")

    def replay(a: int, b: int) -> tuple[ZSet, ZSet]:
        last = row(b, 1, 7)
        return PROJECTED.over(last), PROJECTED.over(row(a, 1, 3) + last)

    name = "the weight of an image of two rows = that of the last"
    return refute(name, b == a + b, show=[a, b], replay=replay)


@theorem(
    statement="map(a + b) = map(a) + map(b), so D(map(I(d))) = map(d)",
    source="DBSP (VLDB 2023) table 1, theorem 3.3",
    lean="map_linear, map_incremental",
    wrong=(projection_onto_a_set, map_that_keeps_the_last_image),
)
def map_linear() -> Thm:
    """map is the linear map with image(k) = one row f(k)."""
    source, target = any_zsets("A"), any_zsets("B")
    f = fresh_symbol("f", source.row, target.row)
    lists, maps = target.lists, linear_maps(source, target)
    one_row = maps.images.define("row of f", [], lambda k: lists.entry(f(k), 1, lists.none))
    linear = maps.linear_for(one_row())
    increment = linear_increment(
        "map", streams_of(source), streams_of(target), maps.with_images(one_row()), linear
    )
    return both("map is linear and its own increment", linear, increment)


ROWS = [(1, 3), (1, 7), (2, 7), (None, 9)]


def map_subject(rows: int = 4, ticks: int = 2) -> Subject:
    """Rows that merge into one, and NULL."""
    return subject_of(Map((("k", col("k")),)), [("k BIGINT, v BIGINT", ROWS[:rows])], ticks)


def map_code_that_keeps_the_last_image() -> Counterexample:
    def last_image(delta: ZSet) -> ZSet:
        return ZSet.trusted({row[:1]: weight for row, weight in delta.items()})

    name = "the weight of an image is that of its last row"
    return refute_code(name, map_subject(), lambda: Stateless(last_image))


@theorem(
    statement="Map's increment, as it runs, is D ∘ map ∘ I",
    source="reference/operators/map.py, reference/operator.py",
    scope="all integer weights; 4 rows, 2 ticks",
    wrong=(map_code_that_keeps_the_last_image,),
)
def map_code() -> Thm:
    return both("map", prove_code(map_subject()), prove_paths(map_subject(2, 2)))
