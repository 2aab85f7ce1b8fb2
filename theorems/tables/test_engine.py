"""Sharding and state clean-up are not proved where a hypothesis is missing."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.streams import TICK, after
from deltaproof.theorems.kernel import ProofError, fresh_symbol, prove, prove_for_all
from deltaproof.theorems.tables.lateness import Kept, Watermark
from deltaproof.theorems.tables.sharding import any_sharded
from deltaproof.theorems.tables.zsets import INT, any_zsets


def test_a_shard_that_is_there_twice_counts_twice() -> None:
    it = any_sharded()
    i = z3.Const("i", it.shards.shard)
    none, one = it.shards.sort.constructor(0)(), it.shards.sort.constructor(1)
    twice = one(i, one(i, none))
    known = [it.shards.times.unfold(each, i) for each in (twice, twice.arg(1), none)]
    prove("twice", it.shards.times(twice, i) == 2, known)
    with pytest.raises(ProofError, match="does not hold"):
        prove("once", it.shards.times(twice, i) == 1, known)


def test_what_is_kept_depends_on_a_watermark_that_never_goes_back() -> None:
    rows = any_zsets("A")
    water = Watermark(rows, fresh_symbol("time", rows.row, INT))
    kept = Kept(rows, water.time, water.mark)
    n = z3.Const("n", TICK)
    kept.table(water.d, water.grows)
    steps = prove_for_all("a mark", [n], water.mark(after(n)) == water.mark(after(n)))
    with pytest.raises(ProofError, match="kept = I"):
        kept.table(water.d, steps)
