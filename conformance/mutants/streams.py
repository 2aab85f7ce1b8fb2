"""Wrong variants of windows, the moving filter, linear logic, operators over time, and plans."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

from deltaproof.conformance.mutants.mutant import Mutant, replaced
from deltaproof.reference import planner
from deltaproof.reference.operator import Increment, LinearIncrement
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.due import Due
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.integrate import IntegrateIncrement
from deltaproof.reference.operators.join import JoinIncrement
from deltaproof.reference.operators.logic import Branch, Logic
from deltaproof.reference.operators.temporal_filter import Steps, TemporalFilterIncrement
from deltaproof.reference.planner import Pairings
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

Plant = Callable[[], AbstractContextManager[None]]


class RoundsTowardZero(Hop):
    """Windows before 1970 begin where those of SQL's and Java's division do."""

    def last_start(self, units: int) -> int:
        whole = abs(units) // self.slide * self.slide
        return whole if units > 0 else -whole


class LastWindowOnly(Hop):
    """A hopping window is taken for a tumbling one."""

    def windows(self, rows: Schema) -> Callable[[Row], Iterator[Row]]:
        right = super().windows(rows)
        return lambda row: iter(list(right(row))[-1:])


def with_windows_of(wrong: type[Hop]) -> Callable[..., Increment]:
    """An `increment` method that puts rows into the windows of another class."""

    def increment(self: Hop, *inputs: Schema) -> Increment:
        arguments = [getattr(self, field.name) for field in fields(self)]
        return LinearIncrement(wrong(*arguments).meaning(*inputs))

    return increment


def now_is_asked_again(self: TemporalFilterIncrement, rows: ZSet, clock: ZSet) -> ZSet:
    """A row comes and goes by what now() says at that moment, and never by itself."""
    before = self.clock
    self.clock = dict((ZSet(before) + clock).items())
    try:
        output = FILTER_STEP(self, rows, ZSet())
    finally:
        self.clock = before
    self.staged = (clock, self.staged[1])
    return output


def rows_only_come(self: TemporalFilterIncrement, rows: ZSet, clock: ZSet) -> ZSet:
    """The clock brings rows, and takes none away."""
    right = FILTER_STEP(self, rows, clock)
    by_clock = FILTER_STEP(self, ZSet(), clock)
    FILTER_STEP(self, rows, clock)  # stages all of it
    return right - ZSet({row: weight for row, weight in by_clock.items() if weight < 0})


def before_or_at(self: Steps, key: Any) -> Any:
    return self.sums[bisect_right(self.keys, key)]


def first_move_only(self: Steps) -> Iterator[Any]:
    return iter(list(STEPS_MOVED(self))[:1])


def delay_is_one_tick_late(self: Delay, *inputs: Schema) -> Increment:
    return Due(inputs[0], {self.ticks + 1 if self.ticks > 1 else 0: same})


def same(delta: ZSet) -> ZSet:
    return delta


def saves_nothing(self: Any) -> Any:
    return []


def later_replaces_earlier(self: Due) -> None:
    """What two ticks put into one slot: the last one wins."""
    self.due.pop(self.now, None)
    self.due |= self.staged
    self.now += 1
    self.staged = {}


def differentiate_never_takes_back(self: Differentiate, *inputs: Schema) -> Increment:
    return LinearIncrement(same)


def rests_without_a_change(self: IntegrateIncrement, delta: ZSet) -> ZSet:
    right = INTEGRATE_STEP(self, delta)
    return right if delta else ZSet()


def logic_weighs_insertions_only(self: Logic, *inputs: Schema) -> Increment:
    right = LOGIC_INCREMENT(self, *inputs)
    plain = Logic(tuple(unweighted(branch) for branch in self.branches))
    if not self.lifted:
        return right
    meaning = plain.meaning(*inputs)

    def step(delta: ZSet) -> ZSet:
        gone = ZSet({row: weight for row, weight in delta.items() if weight < 0})
        return right.step(delta - gone) + meaning(gone)

    return LinearIncrement(step)


def unweighted(branch: Branch) -> Branch:
    return replace(branch, weight=None)


def logic_takes_one_branch(self: Logic, *inputs: Schema) -> Increment:
    return LOGIC_INCREMENT(Logic(self.branches[:1]), *inputs)


def logic_forgets_the_delay(self: Logic, *inputs: Schema) -> Increment:
    return LinearIncrement(Logic(tuple(map(undelayed, self.branches))).meaning(*inputs))


def undelayed(branch: Branch) -> Branch:
    return replace(branch, delay=0)


def chain_filters_insertions_only(stages: Any, rows: Schema) -> Any:
    """The predicates of a chain are tested on insertions only."""
    right = PAIRS_OF(stages, rows)
    kept = tuple(stage for stage in stages if not isinstance(stage, Filter))
    unfiltered = PAIRS_OF(kept, rows)

    def pairs(given: Any) -> Any:
        changes = list(given)
        yield from right([each for each in changes if each[1] > 0])
        yield from unfiltered([each for each in changes if each[1] < 0])

    return pairs


def without_the_product_of_deltas(join: JoinIncrement, da: Pairings, db: Pairings) -> Pairings:
    return Pairings([*MATCHES(join, da, Pairings()), *MATCHES(join, Pairings(), db)])


FILTER_STEP, STEPS_MOVED = TemporalFilterIncrement.step, Steps.moved
INTEGRATE_STEP = IntegrateIncrement.step
LOGIC_INCREMENT = Logic.increment
PAIRS_OF, MATCHES = planner.pairs_of, planner.matches


def mutant(name: str, edit: str, source: str, cell: str, plant: Plant) -> Mutant:
    operator, _, kind = cell.partition("@")
    return Mutant(name, edit, source, "reference", (operator, kind), plant)


REFERENCE: tuple[Mutant, ...] = (
    mutant(
        "hop_rounds_toward_zero",
        "the windows of what is before 1970 begin too late",
        "FLINK-26334",
        "window.hop@insert",
        lambda: replaced(Hop, "increment", with_windows_of(RoundsTowardZero)),
    ),
    mutant(
        "hop_takes_the_last_window",
        "a row of several windows is put into one",
        "feldera PR #1700",
        "window.hop@insert",
        lambda: replaced(Hop, "increment", with_windows_of(LastWindowOnly)),
    ),
    mutant(
        "temporal_filter_asks_now_again",
        "a retraction is judged by the clock of its own tick, and the clock moves no row",
        "flink#20791, trino#28696",
        "temporal_filter@churn",
        lambda: replaced(TemporalFilterIncrement, "step", now_is_asked_again),
    ),
    mutant(
        "temporal_filter_rows_only_come",
        "a row stays when the clock passes its end",
        "ksql#6314",
        "temporal_filter@churn",
        lambda: replaced(TemporalFilterIncrement, "step", rows_only_come),
    ),
    mutant(
        "temporal_filter_ends_too_late",
        "a row whose end is now is still there, and one that begins now is not yet",
        "timescaledb#10221",
        "temporal_filter@insert",
        lambda: replaced(Steps, "before", before_or_at),
    ),
    mutant(
        "temporal_filter_takes_the_first_move",
        "of several moments that come and go in a tick one is used",
        "d2ts#74",
        "temporal_filter@churn",
        lambda: replaced(Steps, "moved", first_move_only),
    ),
    mutant(
        "delay_is_off_by_one",
        "what waits one tick does not wait, what waits longer waits a tick more",
        "feldera@ee7af2a2c",
        "delay@insert",
        lambda: replaced(Delay, "increment", delay_is_one_tick_late),
    ),
    mutant(
        "delay_forgets_at_restart",
        "what is due after a checkpoint is not in it",
        "feldera#6765",
        "delay@restart",
        lambda: replaced(Due, "save", saves_nothing),
    ),
    mutant(
        "integrate_rests_without_a_change",
        "a tick without input has no output",
        "ksql#6314",
        "integrate@empty-out",
        lambda: replaced(IntegrateIncrement, "step", rests_without_a_change),
    ),
    mutant(
        "differentiate_never_takes_back",
        "a change is shown for ever after, not for one tick",
        "flink#27371",
        "differentiate@insert",
        lambda: replaced(Differentiate, "increment", differentiate_never_takes_back),
    ),
    mutant(
        "logic_weighs_insertions_only",
        "a retraction does not carry the factor that its insertion did",
        "TanStack/db#970",
        "logic@delete",
        lambda: replaced(Logic, "increment", logic_weighs_insertions_only),
    ),
    mutant(
        "logic_takes_one_branch",
        "of several outputs of a row the first is used",
        "d2ts#74",
        "logic@insert",
        lambda: replaced(Logic, "increment", logic_takes_one_branch),
    ),
    mutant(
        "logic_forgets_the_delay",
        "what is due later is put out now",
        "feldera@ee7af2a2c",
        "logic@insert",
        lambda: replaced(Logic, "increment", logic_forgets_the_delay),
    ),
    mutant(
        "logic_overwrites_what_is_due",
        "two ticks put something into one later tick, and the second one wins",
        "TanStack/db#1703",
        "logic@churn",
        lambda: replaced(Due, "commit", later_replaces_earlier),
    ),
    mutant(
        "chain_filters_insertions_only",
        "the predicates of fused operators are tested on insertions only",
        "flink#27371",
        "filter@update",
        lambda: replaced(planner, "pairs_of", chain_filters_insertions_only),
    ),
    mutant(
        "fused_join_drops_the_product_of_deltas",
        "a join with a fused reader misses pairs that arrive together",
        "differential-dataflow#24",
        "join.inner@both-sides",
        lambda: replaced(planner, "matches", without_the_product_of_deltas),
    ),
)


def in_spark(module: str, name: str, wrong: Any) -> Plant:
    """While it lasts, a word of a Spark form is the wrong one; Spark is imported only then."""

    def plant() -> AbstractContextManager[None]:
        form = import_module(f"deltaproof.spark_backend.operators.{module}")
        return replaced(form, name, wrong)

    return plant


def spark(name: str, edit: str, source: str, cell: str, plant: Plant) -> Mutant:
    return replace(mutant(name, edit, source, cell, plant), backend="spark")


SPARK: tuple[Mutant, ...] = (
    spark(
        "hop_rounds_toward_zero",
        "the windows of what is before 1970 begin too late",
        "FLINK-26334",
        "window.hop@insert",
        in_spark("hop", "since_start", lambda time, slide: f"({time} % {slide})"),
    ),
    spark(
        "temporal_filter_ends_too_late",
        "a row whose end is now is still there",
        "timescaledb#10221",
        "temporal_filter@insert",
        in_spark(
            "temporal_filter",
            "within_bounds",
            lambda lower, upper: [
                condition
                for condition, bound in (
                    ("a._lower <= b._c0", lower),
                    ("b._c0 <= a._upper", upper),
                )
                if bound is not None
            ],
        ),
    ),
    spark(
        "temporal_filter_rows_only_come",
        "a row stays when the clock passes its end",
        "ksql#6314",
        "temporal_filter@churn",
        in_spark(
            "temporal_filter",
            "pair_weight",
            lambda: "IF(b._weight < 0, 0L, a._weight * b._weight) AS _weight",
        ),
    ),
    spark(
        "delay_is_off_by_one",
        "what waits comes a tick too late",
        "feldera@ee7af2a2c",
        "delay@insert",
        in_spark("delay", "due", lambda operator: f"_tick + {operator.ticks} + 1"),
    ),
    spark(
        "integrate_rests_without_a_change",
        "a tick without input has no output",
        "ksql#6314",
        "integrate@insert",
        in_spark("integrate", "ticks_of_line", lambda lowering: "GREATEST(_tick, 1)"),
    ),
    spark(
        "differentiate_never_takes_back",
        "the undoing of a change has the sign of the change",
        "turso#8293",
        "differentiate@insert",
        in_spark("differentiate", "signed", lambda: "_weight"),
    ),
    spark(
        "logic_weighs_insertions_only",
        "a retraction does not carry the factor that its insertion did",
        "TanStack/db#970",
        "logic@delete",
        in_spark("logic", "weighted", lambda: "IF(_weight < 0, _weight, _weight * _factor)"),
    ),
    spark(
        "logic_forgets_the_delay",
        "what is due later is put out now",
        "feldera@ee7af2a2c",
        "logic@insert",
        in_spark("logic", "due", lambda branch: "_tick"),
    ),
)
