from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.kernel import ProofError, certificate, prove
from deltaproof.theorems.tables.indexed import LinearAggregate, any_indexed


def test_indexed_zsets_are_a_group_like_any_other() -> None:
    group = any_indexed().group
    i, j = z3.Consts("i j", group.sort)
    certificate("(i + j) - j = i", group, group.sub(group.add(i, j), j) == i)
    with pytest.raises(ProofError, match="is no combination"):
        certificate("i + j = i", group, group.add(i, j) == i)


def test_a_list_of_keys_that_leaves_out_a_group_does_not_cover_the_table() -> None:
    it = LinearAggregate()
    a, k = it.rows.a, it.grouping.g
    none = it.keys.lists.none
    there = it.grouping.contents(a, k) != it.rows.zero()
    name = "no keys cover no table with rows"
    prove(name, z3.Not(it.covers(none, a)), it.keys.lists.has.equations, [there])
