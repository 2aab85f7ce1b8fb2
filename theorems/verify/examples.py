"""Five operators as somebody who writes an engine has them, four right answers and one wrong join.

Each function says what becomes of one row's weight, or of the two weights that meet in a join:
plain Python, with no import from here. What is true of them:

    >>> from deltaproof.theorems.verify.claims import *
    >>> print(prove_linear(refund))
    refund is linear: proved, all integers, any number of rows and ticks, with PRICE = 3
    >>> print(prove_linear(with_fee))
    with_fee is not linear: with_fee(0 + 0) = 1, but with_fee(0) + with_fee(0) = 2
    >>> print(prove_linear(clamp))
    clamp is not linear: clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1

A presence join, which keeps a left row when anything matches it, is right for every state:

    >>> print(prove_increment(matched_step, of=matched))
    matched_step is the increment of matched: proved, all integers before and after a tick, \
any number of rows and ticks

and keeping only whether something matches, and not how much of it, is not enough:

    >>> print(prove_sufficient_state(matched, state=left_and_whether))
    left_and_whether is not a sufficient state for matched: left_and_whether(0, 0) = \
left_and_whether(0, -1) = (0, False), but a delta of (1, 1) makes matched(0, 0) change by 1 and \
matched(0, -1) change by 0

The left join puts out the rows with a partner and the rows without, and forgets to take back the
row without a partner when its first partner comes:

    >>> print(prove_increment(left_join_step, of=left_join, state=both_weights))
    left_join_step is not the increment of left_join: left_join(1, 0) = (0, 1) becomes \
left_join(1, 1) = (1, 0), a change of (1, -1), but left_join_step((1, 0), 0, 1) puts out (1, 0)
"""

from __future__ import annotations

PRICE = 3


def refund(w: int) -> int:
    """Linear: a row that comes takes the price away, a row that goes brings it back."""
    return -PRICE * w


def with_fee(w: int) -> int:
    """Affine: the 1 is there even for rows that are not."""
    return w + 1


def clamp(w: int) -> int:
    """No negative weights. Not linear: a row that goes is seen before the one that came."""
    if w > 0:
        return w
    return 0


def matched(left: int, right: int) -> int:
    """The left row's weight where anything on the right matches it."""
    return left if right > 0 else 0


def matched_step(left: int, right: int, d_left: int, d_right: int) -> int:
    """Presence join: the delta of the left where there is a match, and the whole left row when
    its first match comes or its last one goes."""
    was, now = right > 0, right + d_right > 0
    change = d_left if now else 0
    if now and not was:
        change += left
    elif was and not now:
        change -= left
    return change


def left_and_whether(left: int, right: int) -> tuple[int, bool]:
    """The left weight, and whether something matches it."""
    return left, right > 0


def left_join(left: int, right: int) -> tuple[int, int]:
    """The weight of the pair, and of the left row with NULLs beside it."""
    return left * right, left if right == 0 else 0


def both_weights(left: int, right: int) -> tuple[int, int]:
    """All that there is to know."""
    return left, right


def left_join_step(
    state: tuple[int, int], d_left: int, d_right: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Wrong: what was put out with NULLs stays when the first partner comes."""
    left, right = state
    left_now, right_now = left + d_left, right + d_right
    pairs = d_left * right + left_now * d_right
    alone = d_left if right_now == 0 else 0
    return (pairs, alone), (left_now, right_now)
