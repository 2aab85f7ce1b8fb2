"""Each claim is proved where it is true and refuted where it is not, with the smallest integers."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import GenericAlias
from typing import Any, cast

import pytest

from deltaproof.reference.errors import UsageError
from deltaproof.theorems.verify import body, examples, values
from deltaproof.theorems.verify.claims import (
    Verdict,
    prove_bilinear,
    prove_equal,
    prove_increment,
    prove_linear,
    prove_sufficient_state,
    prove_zero_preserving,
)
from deltaproof.theorems.verify.code import Code
from deltaproof.theorems.verify.verdict import of_size

LIMIT = 1000
ALL = "all integers, any number of rows and ticks"
TICKS = "all integers before and after a tick, any number of rows and ticks"


def zero(w: int) -> int:
    return 0


def same(w: int) -> int:
    return w


def pair(w: int) -> tuple[int, int]:
    return w, w


def triple(w: int) -> tuple[int, int, int]:
    return w, w, w


def clamp(w: int) -> int:
    return max(w, 0)


def branching(w: int) -> int:
    """Linear, although it branches."""
    x = w if w > 0 else 0 - (-w)
    return x + w


def swap(a: int, b: int) -> tuple[int, int]:
    return b - a, a


def halved(w: int) -> int:
    return w // 2


def large(w: int) -> int:
    return w if w > LIMIT else 0


def huge(w: int) -> int:
    return 1 if w > 10**40 else 0


def times(a: int, b: int) -> int:
    return a * b


def times_and_one(a: int, b: int) -> int:
    return a * b + b


def dot(x: tuple[int, int], y: tuple[int, int]) -> int:
    return sum(a * b for a, b in zip(x, y, strict=False))


def dot_clamped(x: tuple[int, int], y: tuple[int, int]) -> int:
    return x[0] * y[0] + max(x[1], 0) * y[1]


def distinct(w: int) -> int:
    return 1 if w > 0 else 0


def distinct_step(before: int, d: int) -> int:
    """H of proposition 4.7."""
    after = before + d
    if before > 0 and after <= 0:
        return -1
    elif before <= 0 and after > 0:
        return 1
    return 0


def distinct_keeps(before: int, d: int) -> tuple[int, int]:
    return distinct_step(before, d), before + d


def distinct_late(before: int, d: int) -> tuple[int, int]:
    """< where <= is meant."""
    after = before + d
    if before > 0 and after < 0:
        return -1, after
    return (1 if before <= 0 < after else 0), after


def distinct_forgets(before: int, d: int) -> tuple[int, int]:
    return distinct_step(before, d), before


def full_join(a: int, b: int) -> tuple[int, int, int]:
    return a * b, a if b == 0 else 0, b if a == 0 else 0


def full_join_step(
    state: tuple[int, int], da: int, db: int
) -> tuple[tuple[int, int, int], tuple[int, int]]:
    a, b = state
    a2, b2 = a + da, b + db
    left = da if b2 == 0 else 0
    if (b == 0) != (b2 == 0):
        left = left - a if b == 0 else left + a
    right = db if a2 == 0 else 0
    if (a == 0) != (a2 == 0):
        right = right - b if a == 0 else right + b
    return (da * b + a2 * db, left, right), (a2, b2)


def both(a: int, b: int) -> tuple[int, int]:
    return a, b


def absent(w: int) -> int:
    return 1 if w == 0 else 0


def absent_step(before: int, d: int) -> int:
    return absent(before + d) - absent(before)


def counted_ticks(w: int) -> tuple[int, int]:
    return w, 1


def counting_step(state: tuple[int, int], d: int) -> tuple[int, tuple[int, int]]:
    return absent_step(state[0], d), (state[0] + d, 1)


def grows(w: int) -> int:
    for _ in range(12):
        w = w << 1900
    return w


def grows_far_out(w: int) -> int:
    """Where no sample comes."""
    return grows(w) if 3 * w == 370370367036 else w


def first_of_600(t: Any) -> int:
    return 1 if t[599] > 3 else 0


first_of_600.__annotations__["t"] = GenericAlias(tuple, (int,) * 600)


def is_set(w: int) -> bool:
    return w in (0, 1)


def is_bag(w: int) -> bool:
    return w >= 0


def is_there(w: int) -> bool:
    return w > 0


def is_five(w: int) -> bool:
    return w == 5


def is_nothing(w: int) -> bool:
    return w > 0 and w < 0


def if_wanted(p: bool, w: int) -> int:
    return w if p else 0


def wanted_times(p: bool, w: int) -> int:
    return p * w


def unwanted_times(p: bool, w: int) -> int:
    return (1 - p) * w


def fermat(a: int, b: int, c: int) -> int:
    return 1 if a * b * c != 0 and a**3 + b**3 == c**3 else 0


def never(a: int, b: int, c: int) -> int:
    return 0


def text(verdict: Verdict) -> str:
    """The answer and what goes with it."""
    return str(verdict).partition(": ")[2]


@pytest.mark.parametrize(
    ("prove", "scope"),
    [
        (lambda: prove_linear(branching), ALL),
        (lambda: prove_linear(swap), ALL),
        (lambda: prove_linear(clamp, given=is_bag),
         "all integers for which is_bag holds, those of deltas too"),
        (lambda: prove_linear(lambda w: LIMIT * w), f"{ALL}, with LIMIT = 1000"),
        (lambda: prove_bilinear(times), ALL),
        (lambda: prove_bilinear(dot), ALL),
        (lambda: prove_zero_preserving(full_join), "nothing but zeros"),
        (lambda: prove_equal(halved, lambda w: -((1 - w) // 2)), "all integers"),
        (lambda: prove_equal(if_wanted, wanted_times), "all integers and bools"),
        (lambda: prove_increment(same, of=same), TICKS),
        (lambda: prove_increment(distinct_step, of=distinct), TICKS),
        (lambda: prove_increment(distinct_keeps, of=distinct, state=same), TICKS),
        (lambda: prove_increment(full_join_step, of=full_join, state=both), TICKS),
        (lambda: prove_increment(absent_step, of=absent),
         f"{TICKS} after absent(0) = 1 was put out for the empty input"),
        (lambda: prove_increment(counting_step, of=absent, state=counted_ticks),
         f"{TICKS} from the state counted_ticks(0) = (0, 1) "
         "after absent(0) = 1 was put out for the empty input"),
        (lambda: prove_increment(distinct_step, of=distinct, given=is_there),
         "all integers before and after a tick for which is_there holds, any number of rows and "
         "ticks from the first that it holds for (not for the empty input)"),
        (lambda: prove_sufficient_state(distinct, state=same), TICKS),
        (lambda: prove_sufficient_state(same, state=zero), TICKS),
        (lambda: prove_sufficient_state(distinct, state=distinct, given=is_set),
         "all integers before and after a tick for which is_set holds, "
         "any number of rows and ticks"),
    ],
)  # fmt: skip
def test_what_is_true_is_proved_with_its_scope(prove: Callable[[], Verdict], scope: str) -> None:
    verdict = prove()
    assert (verdict.answer, verdict.scope, verdict.why) == ("proved", scope, "")


@pytest.mark.parametrize(
    ("prove", "found"),
    [
        (lambda: prove_linear(clamp), "clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1"),
        (lambda: prove_linear(times),
         "times(0 + 1, 1 + 0) = 1, but times(0, 1) + times(1, 0) = 0"),
        (lambda: prove_linear(halved), "halved(1 + 1) = 1, but halved(1) + halved(1) = 0"),
        (lambda: prove_linear(large),
         "large(1 + 1000) = 1001, but large(1) + large(1000) = 0"),
        (lambda: prove_bilinear(times_and_one),
         "times_and_one(0 + 0, 1) = 1, but times_and_one(0, 1) + times_and_one(0, 1) = 2"),
        (lambda: prove_bilinear(dot_clamped),
         "dot_clamped((0 + 0, -1 + 1), (0, 1)) = 0, "
         "but dot_clamped((0, -1), (0, 1)) + dot_clamped((0, 1), (0, 1)) = 1"),
        (lambda: prove_zero_preserving(absent), "absent(0) = 1"),
        (lambda: prove_equal(huge, zero), f"huge({10**40 + 1}) = 1, but zero({10**40 + 1}) = 0"),
        (lambda: prove_equal(if_wanted, unwanted_times),
         "if_wanted(False, 1) = 0, but unwanted_times(False, 1) = 1"),
        (lambda: prove_equal(pair, triple), "pair(0) = (0, 0), but triple(0) = (0, 0, 0)"),
        (lambda: prove_equal(pair, same), "pair(0) = (0, 0), but same(0) = 0"),
        (lambda: prove_increment(same, of=distinct),
         "distinct(0) = 0 becomes distinct(-1) = 0, a change of 0, but same(-1) puts out -1"),
        (lambda: prove_increment(distinct_late, of=distinct, state=same),
         "distinct(1) = 1 becomes distinct(0) = 0, a change of -1, "
         "but distinct_late(1, -1) puts out 0"),
        (lambda: prove_increment(distinct_forgets, of=distinct, state=same),
         "distinct_forgets(0, 1) keeps 0, but the state is same(1) = 1"),
        (lambda: prove_sufficient_state(distinct, state=distinct),
         "distinct(0) = distinct(-1) = 0, but a delta of 1 makes distinct(0) change by 1 "
         "and distinct(-1) change by 0"),
        (lambda: prove_sufficient_state(same, state=distinct),
         "distinct(0) = distinct(-1) = 0, but a delta of 1 makes the state distinct(1) = 1 "
         "and the state distinct(0) = 0"),
    ],
)  # fmt: skip
def test_what_is_false_is_refuted_by_the_smallest_integers(
    prove: Callable[[], Verdict], found: str
) -> None:
    verdict = prove()
    assert (verdict.answer, text(verdict)) == ("refuted", found)
    assert " is not " in str(verdict)


@pytest.mark.parametrize(
    ("prove", "why"),
    [
        (lambda: prove_equal(fermat, never), "z3 gave up after 1,000,000 units, and of the 5,000"),
        (lambda: prove_equal(clamp, same, given=is_nothing),
         "nothing satisfies `given` (is_nothing): a wider precondition"),
        (lambda: prove_linear(clamp, given=is_five),
         "no arguments, with their sums, satisfy `given` (is_five): a wider precondition"),
        (lambda: prove_linear(large, given=is_set),
         "one of a, b is always 0 under `given` (is_set): a wider precondition"),
        (lambda: prove_bilinear(times_and_one, given=lambda a, b: a == 0),
         "one of a, a_more, b, b_more is always 0 under `given` (<lambda>)"),
        (lambda: prove_linear(grows), "a result of more than 4,300 digits: smaller constants"),
        (lambda: prove_linear(grows_far_out), "a result of more than 4,300 digits"),
        (lambda: prove_zero_preserving(lambda w: grows(w + 1)), "a result of more than 4,300"),
        (lambda: prove_linear(first_of_600), "Python's stack is too small for this: fewer"),
        (lambda: prove_increment(distinct_step, of=distinct, given=is_five),
         "only zero deltas satisfy `given` (is_five): a wider precondition"),
        (lambda: prove_linear(clamp, given=pair), "pair returns a tuple: return a bool"),
        (lambda: prove_linear(if_wanted), "p is declared with a bool, and bools do not add up"),
        (lambda: prove_increment(distinct_step, of=pair),
         "distinct_step puts out an int: the change of pair is a tuple of 2"),
        (lambda: prove_increment(distinct_step, of=distinct, state=same),
         "distinct_step returns an int: with a state, return (change, state)"),
        (lambda: prove_increment(distinct_keeps, of=pair, state=same),
         "distinct_keeps puts out an int: the change is a tuple of 2"),
        (lambda: prove_increment(lambda s, d: (d, s + d), of=same, state=pair), "arithmetic of a"),
        (lambda: prove_increment(lambda s, d: (d, 0), of=same, state=pair),
         "<lambda> keeps an int: pair is a tuple of 2"),
        (lambda: prove_increment(dot, of=times),
         "x is declared a tuple of 2, here it is an int: "
         "declare what dot is given: an int, an int"),
        (lambda: prove_bilinear(lambda x, y: x // y), "a division by a weight"),
        (lambda: prove_linear(abs), "abs is not written in Python"),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_is_unknown_and_says_why(
    prove: Callable[[], Verdict], why: str
) -> None:
    verdict = prove()
    assert (verdict.answer, verdict.scope, verdict.counterexample) == ("unknown", "", None)
    assert why in verdict.why


@pytest.mark.parametrize(
    ("prove", "message"),
    [
        (lambda: prove_linear(cast("Any", 3)), "expected a function, got 3"),
        (lambda: prove_linear(lambda: 1), "takes no argument: there is nothing to prove"),
        (lambda: prove_bilinear(clamp), r"clamp takes 1 argument \(w\), expected 2"),
        (lambda: prove_equal(clamp, times), r"times takes 2 arguments \(a, b\), here 1 are given"),
        (lambda: prove_linear(clamp, given=times), "times takes 2 arguments"),
        (lambda: prove_increment(times, of=full_join_step), "for the increment of full_join_step"),
        (
            lambda: prove_increment(full_join_step, of=distinct, state=same),
            "full_join_step takes 3 arguments",
        ),
        (lambda: prove_sufficient_state(times, state=same), "same takes 1 argument"),
    ],
)
def test_arguments_that_do_not_go_together_are_an_error(
    prove: Callable[[], Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        prove()


def test_five_operators_of_a_new_user() -> None:
    ours = examples
    verdicts = [
        prove_linear(ours.refund),
        prove_linear(ours.with_fee),
        prove_linear(ours.clamp),
        prove_increment(ours.matched_step, of=ours.matched),
        prove_increment(ours.left_join_step, of=ours.left_join, state=ours.both_weights),
    ]
    answers = ["proved", "refuted", "refuted", "proved", "refuted"]
    assert [verdict.answer for verdict in verdicts] == answers
    assert text(verdicts[-1]) == (
        "left_join(1, 0) = (0, 1) becomes left_join(1, 1) = (1, 0), a change of (1, -1), "
        "but left_join_step((1, 0), 0, 1) puts out (1, 0)"
    )


def test_a_verdict_is_printed_and_written_as_json() -> None:
    refuted = prove_increment(distinct_late, of=distinct, state=same)
    written = json.loads(json.dumps(refuted.to_json()))
    assert written.pop("ms") > 0
    assert written == {
        "claim": "distinct_late is the increment of distinct",
        "answer": "refuted",
        "scope": "",
        "counterexample": {"values": {"before": 1, "delta": -1}, "text": text(refuted)},
        "why": "",
    }
    several = prove_linear(times).counterexample
    assert several is not None
    assert dict(several.values) == {"a.a": 0, "a.b": 1, "b.a": 1, "b.b": 0}
    members = prove_bilinear(dot_clamped).counterexample
    assert members is not None
    assert [name for name, _ in members.values][:2] == ["a[0]", "a[1]"]
    assert [v.exit_code for v in (prove_linear(same), refuted, prove_linear(abs))] == [0, 1, 2]


# ---------------------------------------------------------------- a translator that is wrong


def test_a_wrong_division_is_found_by_running_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """z3's own rounding for negative divisors, where Python's is meant."""

    def as_z3_has_it(kind: Any, one: Any, by: int) -> Any:
        return one / by

    monkeypatch.setattr(values, "divided", as_z3_has_it)
    verdict = prove_equal(lambda w: w // -2, lambda w: w // -2)
    assert verdict.answer == "unknown"
    assert "the translation and the function differ: <lambda>(" in verdict.why
    assert "this is a mistake of deltaproof: please report it" in verdict.why


@pytest.mark.parametrize("wrong", ["or", "min", "merge"])
def test_a_wrong_translation_is_found_by_running_the_function(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wrong == "or":
        right = body.Body.on_bool
        monkeypatch.setattr(
            body.Body, "on_bool", lambda self, all_of, nodes: right(self, not all_of, nodes)
        )
    elif wrong == "min":
        monkeypatch.setitem(
            body.CALLS,
            min,
            lambda body, node: values.extreme(True, body.candidates(node)),
        )
    else:
        monkeypatch.setattr(body, "choice", lambda condition, one, other: other)

    def mixed(a: int, b: int) -> int:
        if a > 0 or b > 0:
            a = min(a, b)
        return a

    verdict = prove_equal(mixed, mixed)
    assert verdict.answer == "unknown"
    assert "the translation and the function differ: mixed(" in verdict.why


def test_a_translation_that_is_wrong_at_one_place_does_not_prove(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The claim itself is run on small integers, and every counterexample on the functions."""
    right = Code.__call__
    monkeypatch.setattr("deltaproof.theorems.verify.verdict.difference", lambda code: "")
    monkeypatch.setattr(Code, "__call__", lambda self, *where: right(self, *where) * 0)
    proved_wrongly = prove_linear(clamp)
    assert proved_wrongly.answer == "unknown"
    assert "differ: clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1" in proved_wrongly.why
    monkeypatch.setattr(Code, "__call__", lambda self, *where: right(self, *where) + 1)
    refuted_wrongly = prove_linear(same)
    assert refuted_wrongly.answer == "unknown"
    assert "differ: a = 0, b = 0" in refuted_wrongly.why


def test_small_numbers_come_in_order_of_their_sum() -> None:
    assert [list(of_size(["int"], total)) for total in (0, 1)] == [[[0]], [[-1], [1]]]
    assert len(list(of_size(["int", "int", "bool"], 2))) == 8 + 4
    assert list(of_size(["bool"], 2)) == []
