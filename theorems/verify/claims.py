"""Is your operator linear, bilinear, an increment, and is its state enough? For all integers.

An operator is a plain Python function of the weight of a row, or of the numbers of a group:

    def clamp(w):
        return w if w > 0 else 0

    >>> print(prove_linear(clamp))
    clamp is not linear: clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1

There are three answers. *proved*: z3 found no integers at all for which the claim is false; the
scope says what that covers. *refuted*: here are the smallest such integers found, and what your
function itself makes of them. *unknown*: the code is not of the kind that is translated, or z3
gave up; the reason and what to do are told.

A proof speaks about the function translated to z3 (see `code`). So before an answer, each
function is run beside its translation on some hundred arguments, small, large and random; before
*proved*, the claim itself is run on the smallest integers; before *refuted*, on the
counterexample. Where the two differ the answer is *unknown*.

What is true of each row is true of all: an operator that applies a linear function to each row's
weight is linear on Z-sets of any size (theorem `filter_linear` is of this kind), and an increment
that is right for one tick from every state is right at every tick, by induction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltaproof.reference.errors import UsageError
from deltaproof.theorems.kernel import Formula
from deltaproof.theorems.verify.code import Code, counted, same, translated, weights
from deltaproof.theorems.verify.source import UnsupportedCode, source_of
from deltaproof.theorems.verify.values import (
    BOOL,
    Shape,
    Value,
    described,
    equality,
    flat,
    shape_of,
    skeleton,
    term,
    truth,
)
from deltaproof.theorems.verify.verdict import (
    Arguments,
    Claim,
    Conditions,
    Function,
    Role,
    Verdict,
    conditions,
    decided,
    minus,
    name_of,
    plus,
    point,
    zero,
)

__all__ = [
    "Verdict",
    "prove_bilinear",
    "prove_equal",
    "prove_increment",
    "prove_linear",
    "prove_sufficient_state",
    "prove_zero_preserving",
]

ROWS_AND_TICKS = "any number of rows and ticks"
DELTAS_TOO = "those of deltas too"


# ---------------------------------------------------------------- the claims


def prove_linear(function: Function, given: Function | None = None) -> Verdict:
    """f(a + b) = f(a) + f(b), of all arguments together; members of tuples add up one by one.

    Then f is its own increment. `given(...)` takes the same arguments and says which of them are
    meant: a, b and a + b are supposed to be, so deltas too.

    >>> print(prove_linear(double))
    double is linear: proved, all integers, any number of rows and ticks
    """

    def claim() -> Claim:
        code = of_weights(function)
        a, b = point("a", code.shapes), point("b", code.shapes)
        both = plus(a, b)
        supposed, meant = precondition(given, code.shapes)

        def judge(a: Arguments, b: Arguments) -> str:
            both = plus(a, b)
            return additive(code, a, b, both) if all(map(meant, (a, b, both))) else ""

        return Claim(
            roles=(Role("a", code.names, a, moves=True), Role("b", code.names, b, moves=True)),
            conditions=conditions(
                [*supposed(a), *supposed(b), *supposed(both)],
                ("", code(*both), plus(code(*a), code(*b))),
            ),
            judges=(judge,),
            codes=(code, *helper(given, code.shapes)),
            covers=DELTAS_TOO if given else ROWS_AND_TICKS,
            given=given,
        )

    return decided(f"{name_of(function)} is linear", claim)


def prove_bilinear(function: Function, given: Function | None = None) -> Verdict:
    """f(a + a', b) = f(a, b) + f(a', b), and the same in b. Two arguments, ints or tuples.

    >>> print(prove_bilinear(product))
    product is bilinear: proved, all integers, any number of rows and ticks
    """

    def claim() -> Claim:
        code = of_weights(function, exactly=2)
        left, right = code.shapes
        a, a_more = point("a", [left]), point("a_more", [left])
        b, b_more = point("b", [right]), point("b_more", [right])
        supposed, meant = precondition(given, code.shapes)

        def judge(a: Arguments, a_more: Arguments, b: Arguments, b_more: Arguments) -> str:
            for fixed, one, other, both in (
                (1, (*a, *b), (*a_more, *b), (*plus(a, a_more), *b)),
                (0, (*a, *b), (*a, *b_more), (*a, *plus(b, b_more))),
            ):
                fails = additive(code, one, other, both, fixed)
                if fails and all(map(meant, (one, other, both))):
                    return fails
            return ""

        def in_one(one: Arguments, other: Arguments, both: Arguments) -> Conditions:
            hypotheses = [*supposed(one), *supposed(other), *supposed(both)]
            return conditions(hypotheses, ("", code(*both), plus(code(*one), code(*other))))

        first, second = code.names
        return Claim(
            roles=(
                Role("a", [first], a, moves=True),
                Role("a_more", [first], a_more, moves=True),
                Role("b", [second], b, moves=True),
                Role("b_more", [second], b_more, moves=True),
            ),
            conditions=(
                *in_one((*a, *b), (*a_more, *b), (*plus(a, a_more), *b)),
                *in_one((*a, *b), (*a, *b_more), (*a, *plus(b, b_more))),
            ),
            judges=(judge,),
            codes=(code, *helper(given, code.shapes)),
            covers=DELTAS_TOO if given else ROWS_AND_TICKS,
            given=given,
        )

    return decided(f"{name_of(function)} is bilinear", claim)


def prove_zero_preserving(function: Function) -> Verdict:
    """f(0) = 0: where nothing is put in, nothing comes out, so the result has finite support.

    >>> print(prove_zero_preserving(product))
    product is zero-preserving: proved, nothing but zeros
    """

    def claim() -> Claim:
        code = of_weights(function)
        zeros = tuple([zero(shape) for shape in code.shapes])

        def judge() -> str:
            result = code.run(*zeros)
            return "" if same(result, zero(shape_of(result))) else f"{call(code, zeros)} = {result}"

        output = code(*zeros)
        return Claim(
            roles=(),
            conditions=conditions([], ("", output, zero(shape_of(output)))),
            judges=(judge,),
            codes=(code,),
            of="nothing but zeros",
        )

    return decided(f"{name_of(function)} is zero-preserving", claim)


def prove_equal(one: Function, other: Function, given: Function | None = None) -> Verdict:
    """f(w) = g(w): two ways to write one function, such as a fused one and its parts.

    >>> print(prove_equal(double, clamp))
    double is not equal to clamp: double(1) = 2, but clamp(1) = 1
    """

    def claim() -> Claim:
        code = taking_something(translated(one))
        second = translated(other, code.shapes)
        w = point("", code.shapes)
        supposed, meant = precondition(given, code.shapes)

        def judge(w: Arguments) -> str:
            left, right = code.run(*w), second.run(*w)
            if same(left, right) or not meant(w):
                return ""
            return f"{call(code, w)} = {left}, but {call(second, w)} = {right}"

        return Claim(
            roles=(Role("", code.names, w),),
            conditions=conditions(supposed(w), ("", code(*w), second(*w))),
            judges=(judge,),
            codes=(code, second, *helper(given, code.shapes)),
            of="all integers and bools" if BOOL in map(shape_of, flat(w)) else "all integers",
            given=given,
        )

    return decided(f"{name_of(one)} is equal to {name_of(other)}", claim)


def prove_increment(
    step: Function, of: Function, state: Function | None = None, given: Function | None = None
) -> Verdict:
    """The step puts out what `of` changes by, from every state and for every delta.

    `of(I...)` is the meaning: the answer for the integrated weights I. The step is one of

        step(delta...) -> change                     it needs no state
        step(before..., delta...) -> change          it is given I, all of it, before the delta
        step(state, delta...) -> (change, state)     with `state(I...)`: what is kept of I

    and has to give of(I + d) - of(I), and with `state` the state of I + d, wherever `given` holds
    of I and of I + d.

    >>> print(prove_increment(double, of=double))
    double is the increment of double: proved, all integers before and after a tick, \
any number of rows and ticks
    """

    def claim() -> Claim:
        meaning = of_weights(of)
        before, delta = point("before", meaning.shapes), point("delta", meaning.shapes)
        after = plus(before, delta)
        code, keeps, arguments = stepping(step, meaning, state)
        supposed, meant = precondition(given, meaning.shapes)
        change = minus(meaning(*after), meaning(*before))
        put_out = code(*arguments(before, delta))
        goals = [("change", put_out, change)]
        if keeps is not None:
            check_step(code, keeps, change)
            goals = [("change", put_out[0], change), ("state", put_out[1], keeps(*after))]
        elif skeleton(shape_of(put_out)) != skeleton(shape_of(change)):
            raise unlike(code, "puts out", put_out, f"the change of {meaning.name}", change)

        def judge(before: Arguments, delta: Arguments) -> str:
            if not (meant(before) and meant(plus(before, delta))):
                return ""
            return wrong_change(code, meaning, keeps, arguments, before, delta)

        def judge_state(before: Arguments, delta: Arguments) -> str:
            after = plus(before, delta)
            if keeps is None or not (meant(before) and meant(after)):
                return ""
            return wrong_state(code, keeps, (keeps.run(*before), *delta), after)

        return Claim(
            roles=(
                Role("before", meaning.names, before),
                Role("delta", meaning.names, delta, moves=True),
            ),
            conditions=conditions([*supposed(before), *supposed(after)], *goals),
            judges=(judge, judge_state),
            codes=(meaning, code, *([keeps] if keeps else []), *helper(given, meaning.shapes)),
            of="all integers before and after a tick",
            covers=ROWS_AND_TICKS + at_first(meaning, keeps, meant),
            given=given,
            late_first=True,
        )

    return decided(f"{name_of(step)} is the increment of {name_of(of)}", claim)


def prove_sufficient_state(of: Function, state: Function, given: Function | None = None) -> Verdict:
    """There is a step with this state: it knows enough for the changes of `of`, and for itself.

    By Myhill and Nerode: two inputs I and J with the same state must change by the same, whatever
    delta comes, and have the same state again.

    >>> print(prove_sufficient_state(clamp, state=sign))
    sign is not a sufficient state for clamp: sign(0) = sign(-1) = 0, but a delta of 1 makes \
clamp(0) change by 1 and clamp(-1) change by 0
    """

    def claim() -> Claim:
        meaning = of_weights(of)
        keeps = translated(state, meaning.shapes)
        one, other = point("one", meaning.shapes), point("other", meaning.shapes)
        delta = point("delta", meaning.shapes)
        supposed, meant = precondition(given, meaning.shapes)
        ends = (plus(one, delta), plus(other, delta))
        changes = [
            minus(meaning(*end), meaning(*start))
            for end, start in zip(ends, (one, other), strict=True)
        ]
        hypotheses = [term(equality(keeps(*one), keeps(*other)))]
        for each in (one, other, *ends):
            hypotheses += supposed(each)

        def changed(before: Arguments, after: Arguments) -> tuple[Value, str]:
            change = minus(meaning.run(*after), meaning.run(*before))
            return change, f"{call(meaning, before)} change by {change}"

        def kept(before: Arguments, after: Arguments) -> tuple[Value, str]:
            state = keeps.run(*after)
            return state, f"the state {call(keeps, after)} = {state}"

        def judge(one: Arguments, other: Arguments, delta: Arguments) -> str:
            points = (one, other, plus(one, delta), plus(other, delta))
            return told_apart(keeps, changed, delta, one, other) if all(map(meant, points)) else ""

        def judge_state(one: Arguments, other: Arguments, delta: Arguments) -> str:
            points = (one, other, plus(one, delta), plus(other, delta))
            return told_apart(keeps, kept, delta, one, other) if all(map(meant, points)) else ""

        return Claim(
            roles=(
                Role("one", meaning.names, one),
                Role("other", meaning.names, other),
                Role("delta", meaning.names, delta, moves=True),
            ),
            conditions=conditions(
                hypotheses,
                ("change", changes[0], changes[1]),
                ("state", keeps(*ends[0]), keeps(*ends[1])),
            ),
            judges=(judge, judge_state),
            codes=(meaning, keeps, *helper(given, meaning.shapes)),
            of="all integers before and after a tick",
            covers=ROWS_AND_TICKS,
            given=given,
            late_first=True,
        )

    return decided(f"{name_of(state)} is a sufficient state for {name_of(of)}", claim)


# ---------------------------------------------------------------- the functions, translated


def precondition(
    given: Function | None, shapes: Sequence[Shape]
) -> tuple[Callable[[Arguments], list[Formula]], Callable[[Arguments], bool]]:
    """(what is supposed of arguments, for z3; whether the function itself says so)."""
    if given is None:
        return (lambda arguments: []), (lambda arguments: True)
    code = translated(given, shapes)
    if isinstance(code.output, tuple):
        raise code.source.refused(code.source.node, f"{code.name} returns a tuple", "return a bool")
    return (
        lambda arguments: [term(truth(code(*arguments)))],
        lambda arguments: bool(code.run(*arguments)),
    )


def helper(given: Function | None, shapes: Sequence[Shape]) -> tuple[Code, ...]:
    return () if given is None else (translated(given, shapes),)


def of_weights(function: Function, exactly: int | None = None) -> Code:
    """The function translated, whose arguments are ints or tuples of ints, as weights are."""
    code = taking_something(translated(function))
    if exactly is not None and len(code.names) != exactly:
        raise UsageError(
            f"{code.name} takes {counted(len(code.names))} ({', '.join(code.names)}), "
            f"expected {exactly}: two ints, or two tuples declared tuple[int, int]"
        )
    for name, value in zip(code.names, code.inputs, strict=True):
        if BOOL in map(shape_of, flat(value)):
            what = f"{name} is declared with a bool, and bools do not add up"
            raise code.source.refused(code.source.node, what, "declare an int, 1 for True")
    return code


def taking_something(code: Code) -> Code:
    if not flat(code.inputs):
        raise UsageError(f"{code.name} takes no argument: there is nothing to prove for all of")
    return code


# ---------------------------------------------------------------- what the functions themselves say


def call(code: Code, arguments: Arguments) -> str:
    return f"{code.name}({', '.join(map(repr, arguments))})"


def sum_text(one: Value, other: Value) -> str:
    """
    >>> sum_text((1, 2), (3, -4))
    '(1 + 3, 2 + (-4))'
    """
    if isinstance(one, tuple):
        parts = [sum_text(a, b) for a, b in zip(one, other, strict=True)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return f"{one} + {other}" if other >= 0 else f"{one} + ({other})"


def additive(
    code: Code, one: Arguments, other: Arguments, both: Arguments, fixed: int | None = None
) -> str:
    """How f(both) is not f(one) + f(other), or ""; the fixed argument is the same in all three."""
    whole, parts = code.run(*both), plus(code.run(*one), code.run(*other))
    if same(whole, parts):
        return ""
    sums = [
        repr(a) if place == fixed else sum_text(a, b)
        for place, (a, b) in enumerate(zip(one, other, strict=True))
    ]
    left = f"{code.name}({', '.join(sums)}) = {whole}"
    return f"{left}, but {call(code, one)} + {call(code, other)} = {parts}"


Given = Callable[[Arguments, Arguments], Arguments]


def stepping(
    step: Function, meaning: Code, state: Function | None
) -> tuple[Code, Code | None, Given]:
    """(the step, the state, the arguments of the step from what was before and the delta)."""
    if state is not None:
        keeps = translated(state, meaning.shapes)
        code = translated(step, (shape_of(keeps.output), *meaning.shapes))
        return code, keeps, lambda before, delta: (keeps(*before), *delta)
    width = len(meaning.shapes)
    declared = len(weights(source_of(step)))
    if declared == width:
        return translated(step, meaning.shapes), None, lambda before, delta: delta
    if declared == 2 * width:
        code = translated(step, (*meaning.shapes, *meaning.shapes))
        return code, None, lambda before, delta: (*before, *delta)
    names = ", ".join(meaning.names)
    deltas = ", ".join(f"d_{name}" for name in meaning.names)
    raise UsageError(
        f"{name_of(step)} takes {counted(declared)}: for the increment of {meaning.name}({names}) "
        f"expected ({deltas}) or ({names}, {deltas}), or with a state (state, {deltas})"
    )


def check_step(code: Code, keeps: Code, change: Value) -> None:
    """Raises UnsupportedCode unless the step gives (change, state) of the right shapes."""
    if not (isinstance(code.output, tuple) and len(code.output) == 2):
        what = f"{code.name} returns {described(shape_of(code.output))}"
        raise code.source.refused(code.source.node, what, "with a state, return (change, state)")
    if skeleton(shape_of(code.output[0])) != skeleton(shape_of(change)):
        raise unlike(code, "puts out", code.output[0], "the change", change)
    if skeleton(shape_of(code.output[1])) != skeleton(shape_of(keeps.output)):
        raise unlike(code, "keeps", code.output[1], keeps.name, keeps.output)


def unlike(code: Code, does: str, value: Value, what: str, expected: Value) -> UnsupportedCode:
    found = f"{code.name} {does} {described(shape_of(value))}"
    instead = f"{what} is {described(shape_of(expected))}, and this must be the same"
    return code.source.refused(code.source.node, found, instead)


def at_first(meaning: Code, keeps: Code | None, meant: Callable[[Arguments], bool]) -> str:
    """What else has to be true before the first tick, when the input is empty."""
    zeros = tuple([zero(shape) for shape in meaning.shapes])
    if not meant(zeros):
        return " from the first that it holds for (not for the empty input)"
    said = ""
    for code, before, after in (
        (keeps, "from the state ", ""),
        (meaning, "after ", " was put out for the empty input"),
    ):
        first = code.run(*zeros) if code else 0
        if code and not same(first, zero(shape_of(first))):
            said += f" {before}{call(code, zeros)} = {first}{after}"
    return said


def wrong_change(
    code: Code,
    meaning: Code,
    keeps: Code | None,
    arguments: Given,
    before: Arguments,
    delta: Arguments,
) -> str:
    """How what the step puts out is not the change, or ""."""
    given = (keeps.run(*before), *delta) if keeps else arguments(before, delta)
    result = code.run(*given)
    put_out = result[0] if keeps else result
    after = plus(before, delta)
    old, new = meaning.run(*before), meaning.run(*after)
    change = minus(new, old)
    if same(put_out, change):
        return ""
    becomes = f"{call(meaning, before)} = {old} becomes {call(meaning, after)} = {new}"
    return f"{becomes}, a change of {change}, but {call(code, given)} puts out {put_out}"


def wrong_state(code: Code, keeps: Code, given: Arguments, after: Arguments) -> str:
    """How what the step keeps is not the state, or ""."""
    kept, state = code.run(*given)[1], keeps.run(*after)
    if same(kept, state):
        return ""
    return f"{call(code, given)} keeps {kept}, but the state is {call(keeps, after)} = {state}"


def told_apart(
    keeps: Code,
    what: Callable[[Arguments, Arguments], tuple[Value, str]],
    delta: Arguments,
    one: Arguments,
    other: Arguments,
) -> str:
    """How two inputs with the same state differ after the same delta, or "".

    `what` gives of an input, before and after, the value that must not differ, and its text.
    """
    state = keeps.run(*one)
    if not same(state, keeps.run(*other)):
        return ""
    (value, text), (other_value, other_text) = (what(i, plus(i, delta)) for i in (one, other))
    if same(value, other_value):
        return ""
    equal = f"{call(keeps, one)} = {call(keeps, other)} = {state}"
    shown = repr(delta[0] if len(delta) == 1 else delta)
    return f"{equal}, but a delta of {shown} makes {text} and {other_text}"


# ---------------------------------------------------------------- the functions of the examples


def clamp(w: int) -> int:
    return max(0, w)


def double(w: int) -> int:
    return w + w


def product(left: int, right: int) -> int:
    return left * right


def sign(w: int) -> int:
    return 1 if w > 0 else 0
