"""The table of laws by kind of weights is as it is printed, and each "refuted" is a real sum."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from deltaproof.reference.zset import ZSet
from deltaproof.theorems.kernel import ProofError
from deltaproof.theorems.replays import row
from deltaproof.theorems.weights import (
    KEY,
    LAWS,
    PROVED,
    REFERENCE,
    REFUTED,
    Cells,
    Law,
    cell,
    cell_of,
    clamped,
    kinds,
    weight_cells,
    weight_rows,
    weight_table,
    wrapped,
)

# + proved, - refuted, . no minus: Z, Q, wrapping, saturating, double, N, booleans, GF(2)
EXPECTED = """
plus_associative     +++--+++
plus_commutative     ++++++++
plus_zero            ++++++++
minus_inverse        +++-+..+
integrate_inverse    +++--..+
sum_linear           +++--+++
join_bilinear        +++--+++
join_commutative     ++++++++
join_associative     +++--+++
join_increment       +++--..+
distinct_increment   +++++..+
distinct_idempotent  ++++++++
distinct_join        ++-+-+++
distinct_plus        ++-+++++
union_present        ++-++++-
plus_positive        ++-+++++
join_positive        ++-+++++
"""
SIGNS = {PROVED: "+", REFUTED: "-"}


@cache
def found() -> Cells:
    return weight_cells()


def test_the_table_is_as_expected() -> None:
    lines = [
        f"{law.name:21}" + "".join(SIGNS.get(c.verdict, ".") for c in found().cells if c.law is law)
        for law in LAWS
    ]
    assert lines == EXPECTED.split("\n")[1:-1]


def test_what_is_proved_in_fewer_bits_says_so() -> None:
    narrow = {(each.law.name, each.kind): each.bits for each in found().cells if each.bits}
    assert narrow == {
        ("distinct_join", "int64, saturating"): "8 bits",
        ("join_positive", "int64, saturating"): "8 bits",
        ("join_commutative", "double"): "float16",
        ("join_positive", "double"): "float32",
    }


def test_every_refuted_cell_shows_a_sum_that_the_reference_gets_right() -> None:
    shown = found().counterexamples
    assert len(shown) == 20
    assert all(each.values and " is not " in each.replay for each in shown)
    right = [each for each in shown if "the reference: " in each.replay]
    assert [each.values for each in shown if each not in right] == [
        (("a", 1e-200), ("b", 1e-200))  # half a row is no weight of the reference
    ]


def test_the_printed_table_has_a_line_for_each_law() -> None:
    heading, *lines = weight_rows()
    assert heading == ("law", *[kind.name for kind in kinds()], "refuted by")
    assert [line[0] for line in lines] == [law.statement for law in LAWS]
    assert {len(line) for line in lines} == {len(heading)}
    assert weight_table().row_count == len(LAWS)
    integrate = next(line for line in lines if "D ∘ I" in line[0])
    assert integrate[-1] == "int64, saturating: a = 2^63 - 1, d = 1; double: a = 2^53, d = 1"
    assert [line[5] for line in lines if "a × b = b × a" in line[0]] == ["✓ float16"]


def test_machine_numbers_at_their_edges() -> None:
    most, least = 2**63 - 1, -(2**63)
    assert [wrapped(each) for each in (most + 1, least - 1, 2**64 + 3, -3)] == [least, most, 3, -3]
    assert [clamped(each) for each in (most + 1, least - 1, 3)] == [most, least, 3]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_reference_is_right_for_small_weights(law: Law) -> None:
    """Its laws, by its own operators, are those of whole numbers."""
    for number in range(7 ** min(len(law.variables), 3)):
        weights = [number // 7**place % 7 - 3 for place in range(len(law.variables))]
        if law.positive and min(weights) < 0:
            continue
        left, right = law.sides(REFERENCE, *[row(each, KEY) for each in weights])
        numbers = law.sides(kinds()[0].machine, *weights)
        assert left == right == row(numbers[0], KEY)
        assert isinstance(left, ZSet)


def test_a_law_that_is_said_to_fail_and_holds_is_an_error() -> None:
    integers = replace(kinds()[0], fails=(("plus_commutative", (1, 2)),))
    law = next(each for each in LAWS if each.name == "plus_commutative")
    with pytest.raises(ProofError, match="expected a counterexample, z3 finds none"):
        cell(law, integers)


def test_a_law_that_is_said_to_hold_and_fails_is_an_error() -> None:
    law = next(each for each in LAWS if each.name == "plus_positive")
    with pytest.raises(ProofError, match="plus_positive, int64, wrapping: does not hold"):
        cell(law, replace(kinds()[2], fails=()))


def test_a_cell_that_is_proved_has_no_counterexample() -> None:
    with pytest.raises(ProofError, match="join_bilinear, Z: expected a counterexample"):
        cell_of("join_bilinear", "Z")
