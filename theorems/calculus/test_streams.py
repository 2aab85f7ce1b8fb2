"""What the method proves of the true increments it does not prove of wrong ones."""

from __future__ import annotations

import pytest
import z3

from deltaproof.theorems.calculus.streams import (
    additive,
    any_streams,
    bilinear_increment,
    differentiate_after_integrate,
    linear_increment,
    step_increment,
)
from deltaproof.theorems.kernel import ProofError, axiom, fresh_symbol


def test_a_stream_is_not_its_delay() -> None:
    streams = any_streams("A")
    s = streams.stream("s")
    with pytest.raises(ProofError, match="is no combination"):
        streams.equal("s = z(s)", s, streams.z(s))


def test_the_integral_alone_does_not_give_the_stream_back() -> None:
    streams = any_streams("A")
    s = streams.stream("s")
    with pytest.raises(ProofError, match="is no combination"):
        streams.equal("I(s) = s", streams.I(s), s)


def test_without_linearity_a_query_is_not_its_own_increment() -> None:
    source, target = any_streams("A"), any_streams("B")
    f = fresh_symbol("f", source.group.sort, target.group.sort)
    x, y = z3.Consts("x y", source.group.sort)
    swaps = z3.ForAll([x, y], f(source.group.add(x, y)) == f(source.group.add(y, x)))
    with pytest.raises(ProofError, match="f of the integral: does not hold"):
        linear_increment("f", source, target, f, axiom("f of a sum commutes", swaps))


def test_linear_on_one_side_is_not_bilinear() -> None:
    a, b, c = (any_streams(name) for name in "ABC")
    q = fresh_symbol("Q", a.group.sort, b.group.sort, c.group.sort)
    x, y = z3.Consts("x y", a.group.sort)
    v, w = z3.Consts("v w", b.group.sort)
    left = z3.ForAll([x, y, v], q(a.group.add(x, y), v) == c.group.add(q(x, v), q(y, v)))
    same = z3.ForAll([x, v, w], q(x, v) == q(x, v))
    linear = (axiom("linear on the left", left), axiom("nothing on the right", same))
    with pytest.raises(ProofError):
        bilinear_increment("Q", (a, b), c, q, linear)


def test_a_step_that_is_wrong_over_nothing_is_not_an_increment() -> None:
    """Without Q(0) = 0 the first tick is not a step from the empty table."""
    source, target = any_streams("A"), any_streams("B")
    q = fresh_symbol("Q", source.group.sort, target.group.sort)
    step = fresh_symbol("step", source.group.sort, source.group.sort, target.group.sort)
    a, d = z3.Consts("a d", source.group.sort)
    change = target.group.sub(q(source.group.add(a, d)), q(a))
    agrees = axiom("the step is the change", z3.ForAll([a, d], step(a, d) == change))
    nothing = axiom("not a word about Q(0)", additive(target.group, target.group, lambda v: v))
    with pytest.raises(ProofError, match="is no combination"):
        step_increment("Q", source, target, q, step, agrees, nothing)


def test_the_inverse_holds_for_every_group_at_once() -> None:
    proved = differentiate_after_integrate(any_streams("A"))
    assert str(proved.formula.body()).startswith("D!")
    assert {query.verdict for query in proved.rests_on[0].queries} == {"unsat"}
