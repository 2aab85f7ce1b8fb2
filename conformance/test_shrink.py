"""Faults are planted in the reference's operators; noise must become a case worth reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

import pytest

from deltaproof.conformance.adapter import CAPABILITIES, Observed
from deltaproof.conformance.case import Case, Tick
from deltaproof.conformance.generate import shapes
from deltaproof.conformance.judge import Difference, Judge, Oracle, run_case
from deltaproof.conformance.shrink import (
    Budget,
    Shrunk,
    Size,
    failing_on,
    kinds_of_failure,
    measure,
    positive_stream,
    same_class,
    shrink,
)
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.operator import (
    BilinearIncrement,
    Increment,
    IntegratingIncrement,
    LinearIncrement,
    Operator,
)
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.planner import as_written
from deltaproof.reference.query import Apply, Query, count, max_, sum_, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row, Schema, key_function
from deltaproof.reference.zset import ZSet

SALES = table("sales", "id BIGINT NOT NULL, shop VARCHAR, kg BIGINT, note VARCHAR")
SHOPS = table("shops", "name VARCHAR, town VARCHAR, staff BIGINT")
BY_TOWN = (
    SALES.filter((col("kg") > 3) | col("note").is_null())
    .join(SHOPS.project("name", "town", "staff"), on={"shop": "name"})
    .group_by("town")
    .aggregate(n=count(), kilos=sum_(col("kg")), staff=max_(col("staff")))
)
TOWNS = (
    SALES.filter(col("kg").is_not_null())
    .union_all(SALES.map(id=col("id") + 1, shop=col("shop"), kg=col("kg"), note=col("note")))
    .join(SHOPS.filter(col("staff") > 1), on={"shop": "name"})
    .project("shop", "town")
    .distinct()
)


# --- wrong operators ---


@dataclass(frozen=True)
class FilterIgnoresDeletions(Filter):
    def increment(self, *inputs: Schema) -> Increment:
        kept = self.meaning(*inputs)
        return LinearIncrement(lambda d: ZSet({row: w for row, w in kept(d).items() if w > 0}))


@dataclass(frozen=True)
class DistinctWithoutWeights(Distinct):
    def increment(self, *inputs: Schema) -> Increment:
        return LinearIncrement(lambda d: ZSet({row: 1 if w > 0 else -1 for row, w in d.items()}))


@dataclass(frozen=True)
class MapKeepsOneRow(Map):
    """Of rows with one image, the last one decides the weight."""

    def increment(self, *inputs: Schema) -> Increment:
        mapped = self.meaning(*inputs)

        def wrong(delta: ZSet) -> ZSet:
            images = [mapped(ZSet({row: w})) for row, w in delta.items()]
            return ZSet({row: w for image in images for row, w in image.items()})

        return LinearIncrement(wrong)


@dataclass(frozen=True)
class JoinMatchesNull(Join):
    def increment(self, *inputs: Schema) -> Increment:
        left, right = inputs
        left_key = key_function([left.index(name) for name, _ in self.on])
        right_key = key_function([right.index(name) for _, name in self.on])

        def joined(a: ZSet, b: ZSet) -> ZSet:
            return ZSet(
                (row + other, weight * times)
                for row, weight in a.items()
                for other, times in b.items()
                if left_key(row) == right_key(other)
            )

        return BilinearIncrement(joined, inputs)


@dataclass(frozen=True)
class JoinForgetsBothSides(Join):
    """When both inputs change in one tick, the change of the second one is lost for good."""

    def increment(self, *inputs: Schema) -> Increment:
        return FirstSideOnly(self.meaning(*inputs), inputs)


class FirstSideOnly(BilinearIncrement):
    def step(self, da: ZSet, db: ZSet) -> ZSet:
        return super().step(da, ZSet() if da else db)


@dataclass(frozen=True)
class AggregateBuriesGroups(Aggregate):
    """A group emptied by two ticks never comes back."""

    def increment(self, *inputs: Schema) -> Increment:
        return Buried(self.meaning(*inputs), inputs, self.keys)


class Buried(IntegratingIncrement):
    def __init__(
        self, meaning: Callable[..., ZSet], inputs: Sequence[Schema], keys: Sequence[str]
    ) -> None:
        self.input_key = key_function([inputs[0].index(key) for key in keys])
        self.output_key = key_function(range(len(keys)))
        super().__init__(meaning, inputs)

    def clear(self) -> None:
        super().clear()
        self.output = ZSet()
        self.losing: set[Row] = set()
        self.dead: set[Row] = set()

    def step(self, delta: ZSet) -> ZSet:
        self.staged = (self.before[0] + delta,)
        full = self.meaning(*self.staged)
        emptied = {self.output_key(row) for row in self.output} - set(map(self.output_key, full))
        self.dead |= emptied & self.losing
        self.losing |= {self.input_key(row) for row, weight in delta.items() if weight < 0}
        alive = {row: w for row, w in full.items() if self.output_key(row) not in self.dead}
        change, self.output = ZSet(alive) - self.output, ZSet(alive)
        return change


# --- a backend of wrong operators ---


class WrongBackend:
    """The reference's runtime, with some operators replaced."""

    name = "wrong"
    capabilities = CAPABILITIES
    tolerance = 0.0

    def __init__(self, *wrong: type[Operator]) -> None:
        self.wrong = {kind.__bases__[0]: kind for kind in wrong}
        self.runs = 0

    def describe(self) -> str:
        return self.name

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> WrongSession:
        self.runs += 1
        return WrongSession(
            Circuit(
                {name: self.spoiled(query) for name, query in views.items()},
                plan=as_written,  # the planner would run its own filter, not the wrong one
            )
        )

    def spoiled(self, query: Query) -> Query:
        if not isinstance(query, Apply):
            return query
        kind = self.wrong.get(type(query.operator), type(query.operator))
        operator = kind(**vars(query.operator))
        return Apply(operator, tuple(self.spoiled(each) for each in query.over))


class WrongSession:
    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit

    def step(self, deltas: Tick) -> None:
        self.deltas = self.circuit.step(deltas)

    def read(self, view: str) -> ZSet:
        return self.circuit.contents()[view]

    def changes(self, view: str) -> ZSet:
        return self.deltas[view]

    def close(self) -> None: ...


class RefusingBackend(WrongBackend):
    """Crashes where a shop has no name."""

    def open(self, tables: Mapping[str, Schema], views: Mapping[str, Query]) -> WrongSession:
        return RefusingSession(super().open(tables, views).circuit)


class RefusingSession(WrongSession):
    def step(self, deltas: Tick) -> None:
        if any(None in row for row in deltas.get("shops", ())):
            raise ValueError("no name")
        super().step(deltas)


# --- noise ---


def noisy(query: Query, seed: int, ticks: int = 10, rows: int = 30) -> Case:
    """Random changes, three rows a tick or more; tables hold rows, some of them twice."""
    random = Random(seed)
    held: dict[str, dict[Row, int]] = {name: {} for name in query.tables()}
    stream = []
    for _ in range(ticks):
        tick: dict[str, ZSet] = {}
        for _ in range(-(-rows // ticks)):
            name = random.choice(sorted(held))
            here = held[name]
            if here and random.random() < 0.45:
                row, weight = random.choice(sorted(here, key=repr)), -1
            else:
                row, weight = random_row(random, name), random.choice((1, 1, 2))
            here[row] = here.get(row, 0) + weight
            if not here[row]:
                del here[row]
            tick[name] = tick.get(name, ZSet()) + ZSet({row: weight})
        stream.append(tick)
    return Case(query, tuple(stream), "noise@random")


def random_row(random: Random, name: str) -> Row:
    shop = random.choice(("North Pier", "Old Town Hall", None))
    town = random.choice(("Ayr", "Troon"))
    if name == "shops":
        return (shop, town, random.choice((None, 4, 12, 17)))
    return (random.randint(100, 107), shop, random.randint(2, 9), random.choice((None, town)))


def difference_of(backend: WrongBackend, case: Case) -> Difference | None:
    expected = Oracle(case.query).expected(case)
    return Judge(case.query.schema).difference(expected, run_case(backend, case))


def first_failure(backend: WrongBackend, query: Query) -> tuple[Case, Difference]:
    """The first noisy case that fails after its first two ticks."""
    for seed in range(100):
        case = noisy(query, seed)
        found = difference_of(backend, case)
        if found and found.tick > 2:
            return case, found
    raise AssertionError("no noisy case fails")


def shrunk_failure(wrong: type[Operator], query: Query) -> tuple[Shrunk, Difference, Difference]:
    backend = WrongBackend(wrong)
    case, difference = first_failure(backend, query)
    shrunk = shrink(case, failing_on(backend, difference.kind), Budget(seconds=30))
    after = difference_of(backend, shrunk.case)
    assert after is not None
    return shrunk, difference, after


FAULTS = [
    (FilterIgnoresDeletions, BY_TOWN, Size(1, 2, 2)),
    (FilterIgnoresDeletions, TOWNS, Size(1, 2, 2)),
    (DistinctWithoutWeights, TOWNS, Size(1, 2, 2)),
    (MapKeepsOneRow, TOWNS, Size(2, 2, 3)),  # alone, a map shows another kind of difference
    (JoinMatchesNull, BY_TOWN, Size(1, 1, 2)),
    (JoinForgetsBothSides, TOWNS, Size(1, 1, 2)),
    (AggregateBuriesGroups, BY_TOWN, Size(1, 4, 4)),
]


@pytest.mark.parametrize(("wrong", "query", "most"), FAULTS)
def test_a_noisy_failure_shrinks_to_its_operator_and_a_few_rows(
    wrong: type[Operator], query: Query, most: Size
) -> None:
    shrunk, before, after = shrunk_failure(wrong, query)
    assert same_class(before, after)
    assert wrong.__bases__[0] in map(type, shrunk.case.query.operators())
    assert all(small <= bound for small, bound in zip(shrunk.after, most, strict=True))
    assert positive_stream(shrunk.case)
    assert Case.from_json(shrunk.case.to_json()) == shrunk.case


def test_a_shrunk_case_holds_the_simplest_values_that_still_fail() -> None:
    shrunk, _, _ = shrunk_failure(AggregateBuriesGroups, BY_TOWN)
    (name,) = shrunk.case.tables
    once = {name: ZSet({("a",): -1})}
    assert shrunk.case.ticks == ({name: ZSet({("a",): 2})}, once, once, {name: ZSet({("a",): 1})})


def test_null_stays_where_the_failure_needs_it() -> None:
    shrunk, _, _ = shrunk_failure(JoinMatchesNull, BY_TOWN)
    null = ZSet({(None,): 1})
    assert list(shrunk.case.ticks[0].values()) == [null, null]


def test_shrinking_twice_gives_the_same_case() -> None:
    once, _, _ = shrunk_failure(DistinctWithoutWeights, TOWNS)
    again, _, _ = shrunk_failure(DistinctWithoutWeights, TOWNS)
    assert (once.case, once.tries) == (again.case, again.tries)


def test_what_is_shrunk_already_stays_as_it_is() -> None:
    shrunk, difference, _ = shrunk_failure(JoinForgetsBothSides, TOWNS)
    failing = failing_on(WrongBackend(JoinForgetsBothSides), difference.kind)
    assert shrink(shrunk.case, failing).case == shrunk.case


@pytest.mark.parametrize("tries", [0, 1, 7, 30])
def test_the_budget_of_tries_is_kept_and_the_result_still_fails(tries: int) -> None:
    backend = WrongBackend(AggregateBuriesGroups)
    case, difference = first_failure(backend, BY_TOWN)
    backend.runs = 0
    shrunk = shrink(case, failing_on(backend, difference.kind), Budget(tries=tries, seconds=30))
    assert shrunk.tries == backend.runs <= tries
    after = difference_of(backend, shrunk.case)
    assert after is not None
    assert same_class(difference, after)


def test_without_time_nothing_is_tried() -> None:
    case = noisy(BY_TOWN, 1)
    shrunk = shrink(case, lambda cases: [True] * len(cases), Budget(seconds=0))
    assert (shrunk.case, shrunk.tries) == (case, 0)


def test_everything_goes_when_everything_fails() -> None:
    shrunk = shrink(noisy(BY_TOWN, 1), lambda cases: [True] * len(cases), Budget(seconds=30))
    assert shrunk.after == Size(0, 1, 0)


def test_tables_that_hold_rows_keep_holding_rows() -> None:
    seen: list[bool] = []

    def failing(cases: Sequence[Case]) -> list[bool]:
        seen.extend(map(positive_stream, cases))
        return [sum(len(t.get("sales", ())) for t in case.ticks) > 2 for case in cases]

    shrink(noisy(TOWNS, 3), failing, Budget(seconds=30), signed=True)
    assert seen
    assert all(seen)


def test_a_signed_case_may_lose_the_insertion_before_its_deletion() -> None:
    ticks = ({"t": ZSet({(5,): 1, (6,): 1})}, {"t": ZSet({(5,): -1, (6,): -3})})
    case = Case(table("t", "k BIGINT"), ticks)

    def deletes(cases: Sequence[Case]) -> list[bool]:
        deltas = [[delta for tick in case.ticks for delta in tick.values()] for case in cases]
        return [any(w < 0 for delta in each for _, w in delta.items()) for each in deltas]

    one = {"t": ZSet({(0,): 1})}
    assert shrink(case, deletes, signed=True).case.ticks == ({"t": ZSet({(0,): -1})},)
    positive = replace(case, ticks=(ticks[0], {"t": -ticks[0]["t"]}))
    assert shrink(positive, deletes, signed=True).case.ticks == (one, {"t": ZSet({(0,): -1})})


def test_a_restart_goes_unless_the_failure_needs_it() -> None:
    tick = {"t": ZSet({(0,): 1})}
    case = Case(table("t", "k BIGINT"), (tick, tick, tick, tick), restarts=(1, 3))

    def second_after_restart(cases: Sequence[Case]) -> list[bool]:
        return [any(len(c.ticks) > restart for restart in c.restarts) for c in cases]

    assert shrink(case, second_after_restart).case.restarts == (1,)
    assert shrink(case, lambda cases: [True] * len(cases)).case.restarts == ()


def test_a_crash_is_shrunk_as_a_crash() -> None:
    backend = RefusingBackend()
    case = noisy(BY_TOWN, 2)
    assert kinds_of_failure(backend, case.query, [case]) == ["crash/ValueError"]
    shrunk = shrink(case, failing_on(backend, "crash/ValueError"), Budget(seconds=30)).case
    assert shrunk.ticks == ({"shops": ZSet({(None,): 1})},)
    assert failing_on(backend, "contents/missing-row")([shrunk]) == [False]


def test_a_case_without_an_expected_value_does_not_fail() -> None:
    query = table("t", "k BIGINT NOT NULL").map(k=col("k") * 2)
    huge = Case(query, ({"t": ZSet({(2**62,): 1})},))
    fine = Case(
        query,
        (
            {
                "t": ZSet({(1,): 1}),
            },
            {"t": ZSet({(1,): -1})},
        ),
    )
    assert kinds_of_failure(WrongBackend(), query, [huge, fine]) == [None, None]


class BatchBackend(WrongBackend):
    """Runs all cases of a query at once, and counts how often; a NULL in a batch is its end."""

    batches = 0

    def run_many(self, query: Query, streams: Sequence[Sequence[Tick]]) -> list[list[Observed]]:
        self.batches += 1
        if any(None in row for s in streams for t in s for d in t.values() for row in d):
            raise ValueError("NULL")
        return [
            run_case(WrongBackend(*self.wrong.values()), Case(query, tuple(s))) for s in streams
        ]


def test_cases_of_one_query_go_to_the_backend_together() -> None:
    backend = BatchBackend()
    plain, distinct = table("t", "k BIGINT"), table("t", "k BIGINT").distinct()
    tick = {"t": ZSet({(1,): 2})}
    cases = [Case(query, (tick,) * n) for n in (1, 2, 3) for query in (plain, distinct)]
    assert failing_on(backend, "type")(cases) == [False] * 6
    assert backend.batches == 2


def test_one_crash_in_a_batch_does_not_hide_the_others() -> None:
    backend = BatchBackend()
    query = table("t", "k BIGINT")
    cases = [Case(query, ({"t": ZSet({(k,): 1})},)) for k in (1, 2, None, 3, 4)]
    assert failing_on(backend, "crash/ValueError")(cases) == [False, False, True, False, False]


def test_noise_of_every_shape_and_type_shrinks_without_an_error() -> None:
    """Random shapes of the generator; what fails is any view that ever shrinks."""
    for shape in islice(shapes(11), 12):
        case = shape.case("churn", 1)
        if not oracle_shrinks([case])[0]:
            continue
        shrunk = shrink(case, oracle_shrinks, Budget(tries=150, seconds=30), signed=True)
        assert oracle_shrinks([shrunk.case]) == [True]
        assert measure(shrunk.case) <= measure(case)
        assert Case.from_json(shrunk.case.to_json()) == shrunk.case


def oracle_shrinks(cases: Sequence[Case]) -> list[bool]:
    return [any(w < 0 for d in expected_deltas(case) for _, w in d.items()) for case in cases]


def expected_deltas(case: Case) -> Sequence[ZSet]:
    try:
        return Oracle(case.query).expected(case).deltas
    except EvaluationError:
        return ()
