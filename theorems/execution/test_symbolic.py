"""Symbolic runs find what is wrong with code, and only what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import z3

from deltaproof.properties.law import GROUPS
from deltaproof.properties.laws import CATALOGUE
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.distinct import Distinct, DistinctIncrement
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.scalar import col
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import Weight, ZSet, positive
from deltaproof.theorems.execution import forking
from deltaproof.theorems.execution.forking import (
    Path,
    Tree,
    explore,
    paths,
    prove_paths,
    refute_paths,
)
from deltaproof.theorems.execution.laws import laws, refute_law
from deltaproof.theorems.execution.symbolic import (
    WRAP_AROUND,
    MergedWeight,
    Stateless,
    Subject,
    cells,
    prove_code,
    refute_code,
    replayed,
    subject_of,
)
from deltaproof.theorems.kernel import Counterexample, ProofError, prove

ONE_ROW = [("k BIGINT", [(1,)])]
W: Weight = MergedWeight(z3.Int("w"))


def distinct(ticks: int = 2) -> Subject:
    return subject_of(Distinct(), ONE_ROW, ticks)


def test_a_merged_weight_is_dropped_only_when_it_is_zero_for_all_integers() -> None:
    assert (bool(W), bool(W - W), W == 0, W - W == 0) == (True, False, False, True)
    prove("1 or 0", positive(W).term == z3.If(W.term > 0, z3.IntVal(1), z3.IntVal(0)))


@pytest.mark.parametrize(
    "decision",
    [
        lambda: W < 1,
        lambda: W <= 1,
        lambda: W >= 1,
        lambda: W == 1,
        lambda: W == W,
        lambda: 1 if W > 0 else 0,
        lambda: not W > 0,
    ],
)
def test_a_merged_weight_refuses_every_other_decision(decision: Callable[[], object]) -> None:
    """Else code and definition that take the same wrong turn would be proved equal."""
    with pytest.raises(TypeError):
        decision()


def test_code_that_branches_on_a_sign_is_not_taken_for_proved() -> None:
    def branching(rows: ZSet) -> ZSet:
        return ZSet({row: 1 for row, weight in rows.items() if weight > 0})

    subject = replace(distinct(), meaning=branching, increment=lambda: Stateless(branching))
    with pytest.raises(ProofError, match="a branch on 0 < a"):
        prove_code(subject)


def test_a_zset_takes_a_merged_weight() -> None:
    zset = ZSet({("a",): W, ("b",): W - W})
    assert list(zset) == [("a",)]
    assert len(zset - zset) == 0


def test_code_that_branches_on_a_weight_is_told_to_fork() -> None:
    count = Aggregate(("k",), (("n", AggregateCall("count_star")),))
    subject = subject_of(count, ONE_ROW, 1)
    with pytest.raises(ProofError, match="asks of a weight what only a number can answer"):
        prove_code(subject)


def test_a_run_without_output_proves_nothing() -> None:
    empty = subject_of(Filter(col("k") > 5), ONE_ROW, 2)
    with pytest.raises(ProofError, match="proves nothing"):
        prove_code(empty)


def test_each_row_of_each_tick_is_a_question() -> None:
    assert [
        cell.name for cell in cells(distinct(), DistinctIncrement(Schema.parse("k BIGINT")))
    ] == [
        "distinct, tick 1, row (1,)",
        "distinct, tick 2, row (1,)",
    ]


def test_right_code_is_not_refuted() -> None:
    subject = distinct()
    with pytest.raises(ProofError, match="was not refuted"):
        refute_code("the code itself", subject, subject.increment)
    with pytest.raises(ProofError, match="was not refuted"):
        refute_paths("the code itself", subject, subject.increment)


class Late:
    """Distinct that commits before it steps, so it never sees a crossing."""

    def __init__(self) -> None:
        self.increment = DistinctIncrement(Schema.parse("k BIGINT"))

    def step(self, delta: ZSet) -> ZSet:
        self.increment.step(delta)
        self.increment.commit()
        return self.increment.step(delta)

    def commit(self) -> None:
        """Already done."""


def test_both_ways_of_running_find_the_same_mistake() -> None:
    merged = refute_code("commits first", distinct(1), Late)
    forked = refute_paths("commits first", distinct(1), Late)
    assert merged.values == forked.values == (("a(1,) at tick 1", 1),)
    assert merged.replay == "tick 1 puts out {}, expected {(1,): +1}"


def test_a_counterexample_that_integers_do_not_show_is_refused() -> None:
    found = Counterexample("nothing", tuple((name, 0) for name, *_ in distinct().weights()), 0.0)
    with pytest.raises(ProofError, match="do not show the error"):
        replayed(found, distinct(), distinct().increment)


def test_every_path_of_a_decision_is_run() -> None:
    def sign(path: Path) -> int:
        w = path.integer("w")
        return 1 if w > 0 else -1 if w < 0 else 0

    assert sorted(result for _, result in paths(sign, [])) == [-1, 0, 1]
    assert [result for _, result in paths(sign, [z3.Int("w") > 3])] == [1]


def test_a_question_is_asked_once_on_a_path() -> None:
    def twice(path: Path) -> bool:
        w = path.integer("w")
        return bool((w > 0) == (w + 1 > 1))

    assert [result for _, result in paths(twice, [])] == [True, True]


def test_too_many_paths_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "MOST_PATHS", 3)
    with pytest.raises(ProofError, match="more than 3 paths"):
        prove_paths(distinct(3))


def test_quotients_are_equal_across_multiples() -> None:
    def compare(path: Path) -> bool:
        w = path.integer("w")
        return bool((w * 2) / (w * 4) == w / (w + w))

    (only,) = [result for _, result in paths(compare, [z3.Int("w") > 0])]
    assert only


def test_code_that_is_wrong_on_one_path_is_found() -> None:
    """Right for every weight but one."""
    subject = distinct(1)

    def unlucky(delta: ZSet) -> ZSet:
        return ZSet({row: 1 for row, w in delta.items() if w > 0 and w != 13})

    assert [tick for _, tick in explore(subject, lambda: Stateless(unlucky)) if tick is not None]
    found = refute_paths("unlucky", subject, lambda: Stateless(unlucky))
    assert found.values == (("a(1,) at tick 1", 13),)


def test_every_law_on_zsets_and_streams_is_run() -> None:
    about = {each.of for each in CATALOGUE} - GROUPS.keys()
    assert about - {each.name for each in OPERATORS} == {each.of for each in laws()}


def test_a_law_that_is_true_is_not_refuted() -> None:
    with pytest.raises(ProofError, match="the law holds"):
        refute_law(laws()[0])


def test_a_product_with_an_answer_is_a_choice() -> None:
    """So that z3 is not asked about products of unknown weights."""
    v: Weight = MergedWeight(z3.Int("v"))
    chosen = positive(W) * v
    assert str(chosen.term) == "If(0 < w, v, 0)"
    other = (1 - positive(v)) * W
    prove("not there", other.term == z3.If(v.term > 0, 0, W.term))
    both = positive(W) * positive(v)
    prove("and", both.term == z3.If(z3.And(W.term > 0, v.term > 0), 1, 0))


def test_a_choice_is_kept_unless_it_is_zero_for_all_integers() -> None:
    assert (bool(positive(W)), bool(positive(W) - positive(W))) == (True, False)


def test_every_combination_of_weights_is_run() -> None:
    proof = forking.prove_each(distinct(2), -1, 1)
    assert [query.name for query in proof.queries] == [
        "distinct: right for 9 combinations of weights"
    ]


def test_a_run_on_integers_finds_what_is_wrong() -> None:
    subject = distinct(1)
    wrong = replace(subject, increment=Late)
    with pytest.raises(ProofError, match="distinct: wrong at tick 1 for"):
        forking.prove_each(wrong, -1, 1)
    found = forking.refute_each("commits first", subject, Late, -1, 1)
    assert found.values == (("a(1,) at tick 1", 1),)
    with pytest.raises(ProofError, match="was not refuted"):
        forking.refute_each("the code itself", subject, subject.increment, -1, 1)


def test_what_is_meant_over_time_is_compared_over_time() -> None:
    late = subject_of(Delay(1), ONE_ROW, 3)
    assert prove_code(late).queries == ()
    with pytest.raises(ProofError, match="delay 1, tick 1, row"):
        prove_code(replace(late, increment=distinct().increment))
    with pytest.raises(ProofError, match="no meaning at a tick"):
        late.meaning(ZSet())


def test_an_answer_answers_other_questions() -> None:
    def order(path: Path) -> tuple[bool, bool, bool]:
        v, w = path.integer("v"), path.integer("w")
        return bool(v > w), bool(v == w), bool(w >= v)

    results = [result for _, result in paths(order, [])]
    assert sorted(results) == [(False, False, True), (False, True, True), (True, False, False)]


def test_an_integer_without_weights_is_plain() -> None:
    def zero(path: Path) -> object:
        w = path.integer("w")
        return w - w + 3

    assert [result for _, result in paths(zero, [])] == [3]


def run_of(*names: str) -> Path:
    """A path that has asked whether these weights, all 0, are above zero."""
    path = Path(dict.fromkeys(names, 0))
    assert not any(path.integer(name) > 0 for name in names)
    return path


def test_runs_that_differ_without_a_reason_are_an_error() -> None:
    tree = Tree()
    tree.add(run_of("v", "w"))
    with pytest.raises(ProofError, match="ask different questions"):
        tree.add(run_of("v", "u"))


def test_the_proof_says_that_there_are_no_other_paths() -> None:
    tree = Tree("signs of w")
    for _ in paths(lambda path: path.integer("w") > 0, tree=tree):
        assert tree.proof is None
    assert str(tree.proof) == "⊢ signs of w: 2 paths were run, and there are no others"


def test_a_path_that_was_not_run_is_missed() -> None:
    tree = Tree()
    tree.add(run_of("w"))
    with pytest.raises(ProofError, match="1 paths were run, and there are no others: does not"):
        tree.close([])


class Hasty(DistinctIncrement):
    """Distinct that makes its change before the commit."""

    def step(self, delta: ZSet) -> ZSet:
        output = super().step(delta)
        self.commit()
        return output


def test_a_step_that_does_not_wait_for_the_commit_is_found() -> None:
    hasty = replace(distinct(1), increment=lambda: Hasty(Schema.parse("k BIGINT")))
    with pytest.raises(ProofError, match=r"has changed the state|wrong at tick 1"):
        forking.prove_each(hasty, -1, 1)


def test_weights_of_64_bits_wrap_around() -> None:
    subject = subject_of(Filter(col("k") > 0), ONE_ROW, 2)
    assert prove_code(subject, WRAP_AROUND).formula.children()
    greatest: Weight = MergedWeight(z3.BitVecVal(2**63 - 1, 64))
    assert z3.is_false(z3.simplify(positive(greatest + 1).term == 1))
    assert not greatest + 1 + (greatest + 1)
