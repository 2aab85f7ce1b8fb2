"""Convolution on numbers: the code that replays it, and the slip in print."""

from __future__ import annotations

from deltaproof.reference.stream import delay, integrate
from deltaproof.theorems.calculus.convolution import convolved

NUMBERS = [0, 1, 2, 3, 4]


def test_the_square_of_0_1_2_3_4_ends_in_ten() -> None:
    """The long version (2022), appendix A, prints 0 0 1 4 8."""
    assert convolved(NUMBERS, NUMBERS) == [0, 0, 1, 4, 10]


def test_z_and_i_are_factors() -> None:
    some = [3, -1, 2, 0, 5]
    assert convolved([1, 1, 1, 1, 1], some) == integrate(some)
    assert convolved([0, 1, 0, 0, 0], some) == delay(some)
    assert convolved(some, NUMBERS) == convolved(NUMBERS, some)
