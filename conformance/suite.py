"""The suite: cells of operator × kind of change, filled by random cases, for any backend.

A run draws shapes (queries), and for each shape cases (histories). The meaning is computed
once per case and shared; every backend is judged against it at every tick. A cell is ok
when every case of it was equal, and its number of cases is always shown beside it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from deltaproof.conformance.adapter import (
    Backend,
    Observed,
    RunsMany,
    operator_capabilities,
    unsupported,
)
from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import MOST_DRAWS, Shape, operator_of, shapes
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.judge import (
    Difference,
    Expected,
    Judge,
    Oracle,
    run_case,
    run_cases,
)
from deltaproof.conformance.pairs import Pair, PairShapes, pairs_of, pairs_with, possible_pairs
from deltaproof.conformance.shrink import Budget, failing_on, shrink
from deltaproof.reference.errors import BackendError, EvaluationError, UsageError
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query

CASES_PER_SHAPE = 2_000
LEAST_SHAPES = 6  # also in a run about one operator: half of them plain, which every engine has
PAIR_CASES = 5  # of each kind of change, for a query that is there to cover pairs of operators
PAIR_SHARE = 3  # one case in so many is of such a query
SHRINKS_PER_BACKEND = 8
TICK_BY_TICK = 4  # cases that a batching backend also runs with one job per tick
VACUOUS_PROBE, VACUOUS_SHARE = 12, 0.34  # a shape whose view hardly ever changes is not used

Cell = tuple[str, str]
Progress = Callable[[str, int, int], None]


def cell_id(cell: Cell) -> str:
    return "@".join(cell)


def all_cells() -> list[Cell]:
    """Every cell, operators first.

    >>> len(all_cells()) == 12 * len(operator_capabilities()), cell_id(all_cells()[0])
    (True, 'filter@insert')
    """
    return [(operator, kind) for operator in operator_capabilities() for kind in KINDS]


def select_cells(words: Sequence[str]) -> list[Cell]:
    """The cells that these words name: "distinct@null", an operator, or "@null".

    Raises UsageError for a word that names none.

    >>> [cell_id(cell) for cell in select_cells(["distinct@null"])], len(select_cells(["join"]))
    (['distinct@null'], 84)
    """
    chosen: dict[Cell, None] = {}
    for word in words:
        operator, _, kind = word.partition("@")
        found = [
            cell
            for cell in all_cells()
            if (not operator or cell[0] == operator or cell[0].startswith(f"{operator}."))
            and (not kind or cell[1] == kind)
        ]
        if not found or word == "@":
            raise UsageError(
                f"unknown cell {word!r}: a cell is OPERATOR@KIND, OPERATOR or @KIND; operators: "
                f"{', '.join(operator_capabilities())}; kinds: {', '.join(KINDS)}"
            )
        chosen |= dict.fromkeys(found)
    return list(chosen) or all_cells()


@dataclass(frozen=True)
class Failure:
    """One class of failure on one backend: its shrunk case, and where it is kept."""

    backend: str
    cell: Cell
    kind: str  # a Difference.kind
    cases: int  # how many cases failed in this way
    first: int  # the number of the first failing case in this run, from 1
    case: Case
    difference: Difference
    observed: list[Observed]
    sizes: tuple[tuple[int, int, int], tuple[int, int, int]]  # operators, ticks, rows
    path: Path | None = None


@dataclass
class BackendRun:
    """What one backend did in a run."""

    name: str
    engine: str
    tolerance: float
    cells: dict[Cell, Counter[str]] = field(default_factory=dict)  # verdict → cases
    cases: int = 0
    seconds: float = 0.0
    single_cases: int = 0  # of those, run with one job per tick
    single_seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    failed_cases: set[str] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)  # of the queries that it ran

    def count(self, cells: Sequence[Cell], verdict: str, number: int = 1) -> None:
        for cell in cells:
            self.cells.setdefault(cell, Counter())[verdict] += number

    @property
    def rate(self) -> float:
        return self.cases / self.seconds if self.seconds else 0.0

    @property
    def single_rate(self) -> float:
        return self.single_cases / self.single_seconds if self.single_seconds else 0.0


@dataclass
class SuiteRun:
    """What a run of the suite found."""

    seed: int
    backends: list[BackendRun]
    not_run: dict[str, str]
    cases: int = 0
    ticks: int = 0
    shapes: int = 0
    vacuous: int = 0
    refused: int = 0  # cases whose query has no value, such as an overflow
    killer_shapes: int = 0  # whose tables hold values that broke engines
    killer_cases: int = 0
    killer_refused: int = 0
    possible_pairs: frozenset[Pair] = frozenset()  # of the operators that were asked for
    generate_seconds: float = 0.0
    oracle_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def suspects(self) -> list[str]:
        """Cases on which two independent SQL oracles both contradict the reference."""
        oracles = [run for run in self.backends if run.name in ("sqlite", "duckdb")]
        if len(oracles) < 2:
            return []
        return sorted(set.intersection(*[run.failed_cases for run in oracles]))

    @property
    def exit_code(self) -> int:
        """0 pass, 1 nonconformant, 2 unknown, 5 the reference itself is suspect."""
        if self.suspects:
            return 5
        if any(run.failures for run in self.backends):
            return 1
        unknown = any(run.unknown for run in self.backends)
        return 2 if unknown or not any(run.cases for run in self.backends) else 0


@dataclass(frozen=True)
class Batch:
    """The cases of one shape, with what the meaning says of each."""

    shape: Shape
    cases: list[Case]
    expected: list[Expected]


class Suite:
    """Runs random cases on backends until there are enough, or the time is over."""

    def __init__(
        self,
        backends: Sequence[Backend],
        not_run: dict[str, str],
        seed: int,
        cells: Sequence[Cell],
        out: Path | None,
        progress: Progress,
        words: Sequence[str] = (),
        values: str = "plain",
    ) -> None:
        self.backends = backends
        self.values = values
        # what each backend was asked for by, which a replay command must say again
        asked = list(dict.fromkeys(words)) or [each.name for each in backends]
        self.words = dict(zip(map(id, backends), asked, strict=True))
        self.run = SuiteRun(
            seed,
            [BackendRun(each.name, each.describe(), each.tolerance) for each in backends],
            not_run,
        )
        self.cells = cells
        self.operators = list(dict.fromkeys(operator for operator, _ in cells))
        self.kinds = list(dict.fromkeys(kind for _, kind in cells))
        self.out = out
        self.progress = progress
        kinds = {operator_of(name) for name in self.operators}
        chosen = {kind.name for kind in kinds}
        pairs = possible_pairs().union(*[pairs_with(kind) for kind in kinds.difference(OPERATORS)])
        self.run.possible_pairs = frozenset(pair for pair in pairs if not chosen.isdisjoint(pair))

    def go(self, cases: int, seconds: float | None) -> SuiteRun:
        """Runs about this many cases, or for this long; every operator gets its shape."""
        self.warm_up()
        start = time.perf_counter()
        for shape, number in self.timed_lanes() if seconds else self.lanes(cases):
            done = time.perf_counter() - start
            if seconds and done >= seconds:
                break
            if seconds:
                self.progress("random cases", int(done), int(seconds))
            else:
                self.progress("random cases", self.run.cases, cases)
            self.run_shape(shape, number)
        self.run.seconds = time.perf_counter() - start
        self.progress("random cases", 1, 1)
        return self.run

    def lanes(self, cases: int) -> Iterator[tuple[Shape, int]]:
        """Shapes, each with how many of its cases to run: of every operator, then of pairs."""
        of_operators = cases - cases // PAIR_SHARE
        number = max(len(self.operators), -(-of_operators // CASES_PER_SHAPE), LEAST_SHAPES)
        per_shape = max(len(self.kinds), -(-of_operators // number))
        for shape in islice(
            shapes(self.run.seed, self.operators, self.useful, self.values), number
        ):
            yield shape, per_shape
        per_shape = PAIR_CASES * len(self.kinds)
        for shape in islice(self.pair_shapes(), -(-(cases // PAIR_SHARE) // per_shape)):
            yield shape, per_shape

    def timed_lanes(self) -> Iterator[tuple[Shape, int]]:
        """The same without end, the two taking turns."""
        of_pairs = self.pair_shapes()
        for shape in shapes(self.run.seed, self.operators, self.useful, self.values):
            yield shape, CASES_PER_SHAPE
            for pair in islice(of_pairs, CASES_PER_SHAPE // (PAIR_CASES * len(KINDS))):
                yield pair, PAIR_CASES * len(self.kinds)

    def pair_shapes(self) -> Iterator[Shape]:
        """Shapes for the pairs that no query of this run has had yet."""
        found = PairShapes(self.run.seed, self.run.possible_pairs, self.values)
        for each in self.run.backends:
            for pair in each.pairs:
                found.waiting.pop(pair, None)
        for shape in filter(self.useful, found):
            found.used(shape.query)
            yield shape

    def warm_up(self) -> None:
        """One case on every backend that batches, before the clock runs: engines start slowly."""
        first = next(shapes(self.run.seed))
        case = first.case("churn", 0)
        for backend in self.backends:
            if isinstance(backend, RunsMany) and first.needs <= backend.capabilities:
                self.progress(f"starting {backend.name}", 0, 0)
                self.verdicts(backend, [case])

    def useful(self, shape: Shape) -> bool:
        """Whether its view has a value, and changes, in most cases."""
        refused, killer_refused = self.run.refused, self.run.killer_refused
        probe = self.expected(shape, [shape.case("churn", -n) for n in range(1, VACUOUS_PROBE)])
        self.run.refused, self.run.killer_refused = refused, killer_refused
        vacuous = sum(each.vacuous for each in probe.expected)
        vacuous += VACUOUS_PROBE - 1 - len(probe.cases)
        return vacuous <= VACUOUS_SHARE * VACUOUS_PROBE

    def expected(self, shape: Shape, cases: Sequence[Case]) -> Batch:
        """The cases that have a meaning, with it."""
        oracle = Oracle(shape.query)
        kept, expected = [], []
        for case in cases:
            try:
                expected.append(oracle.expected(case))
                kept.append(case)
            except EvaluationError:
                self.run.refused += 1
                self.run.killer_refused += shape.killers
        return Batch(shape, kept, expected)

    def topped_up(self, batch: Batch, number: int) -> Batch:
        """With a case of every kind of change, where one of the next few has a value."""
        seen = {case.cell[1:] for case in batch.cases}
        for kind in self.kinds:
            if kind not in seen:
                later = range(number, number + MOST_DRAWS)
                more = self.expected(batch.shape, [batch.shape.case(kind, n) for n in later])
                batch.cases.extend(more.cases[:1])
                batch.expected.extend(more.expected[:1])
        return batch

    def run_shape(self, shape: Shape, number: int) -> None:
        run = self.run
        start = time.perf_counter()
        cases = list(islice(shape.cases(self.kinds), number))
        generated = time.perf_counter()
        batch = self.topped_up(self.expected(shape, cases), number)
        run.oracle_seconds += time.perf_counter() - generated
        run.generate_seconds += generated - start
        run.shapes += 1
        run.cases += len(batch.cases)
        run.ticks += sum(len(case.ticks) for case in batch.cases)
        if shape.killers:
            run.killer_shapes += 1
            run.killer_cases += len(batch.cases)
        run.vacuous += sum(each.vacuous for each in batch.expected)
        for backend, record in zip(self.backends, run.backends, strict=True):
            self.run_backend(backend, record, batch)

    def run_backend(self, backend: Backend, record: BackendRun, batch: Batch) -> None:
        """Runs what the backend declares it can, and counts the rest as unsupported."""
        supported = supports(backend, batch.shape)
        chosen = []
        for number, case in enumerate(batch.cases):
            kind = case.cell[1:]
            if supported and batch.shape.asks(kind) <= backend.capabilities:
                chosen.append(number)
            else:
                record.count(self.cells_of(batch.shape, kind), "unsupported")
        if not chosen:
            return
        start = time.perf_counter()
        verdicts = self.verdicts(backend, [batch.cases[n] for n in chosen])
        judge = Judge(batch.shape.query.schema, backend.tolerance)
        differences: dict[int, Difference] = {}
        places = {number: record.cases + place for place, number in enumerate(chosen, 1)}
        for number, observed in zip(chosen, verdicts, strict=True):
            cells = self.cells_of(batch.shape, batch.cases[number].cell[1:])
            if isinstance(observed, str):
                record.unknown.append(f"{batch.cases[number].identity}: {observed}")
                record.count(cells, "unknown")
            elif found := judge.difference(batch.expected[number], observed):
                differences[number] = found
                record.count(cells, "fails")
            else:
                record.count(cells, "ok")
        record.seconds += time.perf_counter() - start
        record.cases += len(chosen)
        record.pairs |= pairs_of(batch.shape.query) & self.run.possible_pairs
        self.record_failures(backend, record, batch, differences, places)
        if isinstance(backend, RunsMany) and not record.single_cases:
            self.run_tick_by_tick(backend, record, batch, chosen)

    def verdicts(self, backend: Backend, cases: Sequence[Case]) -> list[list[Observed] | str]:
        """What was observed of each case, or how the backend failed on it.

        A batch that fails is halved until the cases that fail alone are found.
        """
        try:
            return [in_shape(answer) for answer in run_cases(backend, cases)]
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an engine's, so its crash
            if len(cases) == 1:
                return [f"{type(error).__name__}: {error}"]
        middle = len(cases) // 2
        return self.verdicts(backend, cases[:middle]) + self.verdicts(backend, cases[middle:])

    def run_tick_by_tick(
        self, backend: Backend, record: BackendRun, batch: Batch, chosen: Sequence[int]
    ) -> None:
        """A few cases with one job per tick: another plan, and what multiplexing saves."""
        judge = Judge(batch.shape.query.schema, backend.tolerance)
        start = time.perf_counter()
        differences = {}
        for number in chosen[:TICK_BY_TICK]:
            case = batch.cases[number]
            try:
                observed = in_shape(run_case(backend, case))
            except (Exception, SystemExit) as error:  # noqa: BLE001  # an engine's, so its crash
                record.unknown.append(f"{case.identity}: {type(error).__name__}: {error}")
                continue
            if found := judge.difference(batch.expected[number], observed):
                differences[number] = found
            record.single_cases += 1
        record.single_seconds = time.perf_counter() - start
        self.record_failures(backend, record, batch, differences, dict.fromkeys(chosen, 0))

    def cells_of(self, shape: Shape, kind: str) -> list[Cell]:
        chosen = shape.query.capabilities()
        return [(name, kind) for name in self.operators if name in chosen]

    def record_failures(
        self,
        backend: Backend,
        record: BackendRun,
        batch: Batch,
        found: dict[int, Difference],
        places: dict[int, int],
    ) -> None:
        """One failure per class of difference, shrunk; the other cases of it are counted."""
        by_class: dict[str, list[int]] = {}
        for number, difference in found.items():
            by_class.setdefault(difference.kind, []).append(number)
            record.failed_cases.add(batch.cases[number].identity)
        for numbers in by_class.values():
            case = batch.cases[numbers[0]]
            if len(record.failures) < SHRINKS_PER_BACKEND:
                first = places[numbers[0]]
                failure = self.shrunk(backend, case, found[numbers[0]], len(numbers), first)
                record.failures.append(failure)

    def shrunk(
        self, backend: Backend, case: Case, found: Difference, cases: int, first: int
    ) -> Failure:
        """The failure as a small case in a file of its own."""
        self.progress(f"shrinking a failure on {backend.name}", 0, 1)
        result = shrink(
            case,
            failing_on(backend, found.kind),
            Budget(),
            signed="weights.signed" in backend.capabilities,
        )
        kind = case.cell[1:]
        cell = (self.blamed(result.case.query) or self.blamed(case.query) or "", kind)
        observed, difference = self.observe(backend, result.case, found)
        small = result.case.with_notes(
            found={"backend": backend.name, "class": found.kind, "seed": self.run.seed}
        )
        small = Case(
            small.query,
            small.ticks,
            cell_id(cell),
            f"{found.kind} on {backend.name}",
            small.restarts,
            small.notes,
        )
        path = small.save(self.out) if self.out else None
        return Failure(
            self.words[id(backend)],
            cell,
            found.kind,
            cases,
            first,
            small,
            difference,
            observed,
            (size(case), size(result.case)),
            path,
        )

    def blamed(self, query: Query) -> str | None:
        """The operator to name: the outermost of those that the run is about."""
        names = [name for each in query.operators() for name in each.capabilities()]
        asked = [name for name in names if name in self.operators]
        chosen = asked or names
        return chosen[-1] if chosen else None

    @staticmethod
    def observe(
        backend: Backend, case: Case, fallback: Difference
    ) -> tuple[list[Observed], Difference]:
        """The small case once more, for the explanation."""
        (observed,) = run_cases(backend, [case])
        expected = Oracle(case.query).expected(case)
        judge = Judge(case.query.schema, backend.tolerance)
        return observed, judge.difference(expected, observed) or fallback


def in_shape(answer: Any) -> list[Observed]:
    """The answer to one case. Raises BackendError unless it is a list of `Observed`, per tick."""
    if not isinstance(answer, list) or not all(isinstance(each, Observed) for each in answer):
        raise BackendError(f"expected a list of Observed, one per tick, got {answer!r:.80}")
    return answer


def supports(backend: Backend, shape: Shape) -> bool:
    """Whether the backend declares that it can run the shape's query."""
    return unsupported(backend, shape.query, shape.needs) is None


def size(case: Case) -> tuple[int, int, int]:
    """(operators, ticks, rows) of a case."""
    return len(case.query.operators()), len(case.ticks), case.rows


def status(tally: Counter[str] | None) -> str:
    """The one verdict of a cell: fails over unknown over ok over unsupported."""
    for verdict in ("fails", "unknown", "ok", "unsupported"):
        if tally and tally[verdict]:
            return verdict
    return "not run"


def outcome(run: SuiteRun) -> dict[str, Any]:
    """The run as JSON: every cell of every backend with its number of cases."""
    return {
        "seed": run.seed,
        "cases": run.cases,
        "ticks": run.ticks,
        "shapes": run.shapes,
        "vacuous": run.vacuous,
        "refused": run.refused,
        "killers": {
            "shapes": run.killer_shapes,
            "cases": run.killer_cases,
            "refused": run.killer_refused,
        },
        "seconds": round(run.seconds, 3),
        "generate_cases_per_second": rate(run.cases, run.generate_seconds),
        "oracle_cases_per_second": rate(run.cases, run.oracle_seconds),
        "not_run": run.not_run,
        "suspect_reference": run.suspects,
        "possible_pairs": len(run.possible_pairs),
        "backends": [backend_outcome(each) for each in run.backends],
    }


def backend_outcome(run: BackendRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "engine": run.engine,
        "tolerance": run.tolerance,
        "cases": run.cases,
        "cases_per_second": rate(run.cases, run.seconds),
        "tick_by_tick": {
            "cases": run.single_cases,
            "cases_per_second": rate(run.single_cases, run.single_seconds),
        },
        "pairs": len(run.pairs),
        "cells": {
            cell_id(cell): {"verdict": status(tally), **tally} for cell, tally in run.cells.items()
        },
        "unknown": run.unknown,
        "failures": [
            {
                "cell": cell_id(failure.cell),
                "class": failure.kind,
                "cases": failure.cases,
                "first_case": failure.first,
                "file": str(failure.path) if failure.path else None,
                "case": failure.case.to_json(),
                "tick": failure.difference.tick,
            }
            for failure in run.failures
        ],
    }


def rate(number: int, seconds: float) -> float:
    return round(number / seconds, 2) if seconds else 0.0
