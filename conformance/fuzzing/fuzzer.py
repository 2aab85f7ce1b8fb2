"""Fuzzing: an operator in every place of every query that fits, under every kind of change.

Each case is judged as in the suite: what the incremental runtime shows at every tick, against the
meaning recomputed from nothing. Everything follows from the seed and the number of rounds,
whatever the clock says.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from deltaproof.conformance.adapters.reference import ReferenceBackend
from deltaproof.conformance.case import Case
from deltaproof.conformance.fuzzing.classes import BUDGET, Classes, operators_of
from deltaproof.conformance.fuzzing.corpus import kind_of
from deltaproof.conformance.fuzzing.ground import Ground, Place, Target
from deltaproof.conformance.fuzzing.schedule import Schedule
from deltaproof.conformance.fuzzing.tally import Cell, Tally
from deltaproof.conformance.fuzzing.verdict import (
    EQUAL,
    REFUSED,
    VACUOUS,
    Verdict,
    crashed,
    verdicts,
)
from deltaproof.conformance.generate import Shape
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.shrink import Budget
from deltaproof.reference.query import Query

FIRST_KINDS = tuple(KINDS)  # of the first cases of a shape, one each
# Of the next, where the view changes in half of the first. A restart costs four other cases.
MORE_KINDS = (*KINDS, *(kind for kind in KINDS if kind != "restart"))


class Fuzzer:
    """One process's work: rounds of a shape and its cases, until nobody asks for more."""

    def __init__(
        self,
        target: Target,
        seed: str,
        out: Path,
        covered: Iterable[Cell] = (),
        places: Sequence[Place] | None = None,
        keep: Callable[[Case], object] = lambda case: None,
        budget: Budget = BUDGET,
    ) -> None:
        self.target = target
        self.seed = seed
        self.keep = keep  # is told of every case that reaches a cell first
        self.backend = ReferenceBackend()
        self.tally = Tally()
        self.schedule = Schedule(target, target.places() if places is None else places, self.tally)
        self.classes = Classes(target, out, budget)
        self.reached = set(covered)
        self.number = 0
        self.news = 0  # how often something new was met: a cell, or a class
        self.judging = ""  # the operators of the query whose cases are judged
        self.keeps = True  # whether the cases of this query are the same when read from a file

    @property
    def covering(self) -> bool:
        """Whether there are places left that were not tried enough."""
        return bool(self.schedule.waiting)

    @property
    def stuck(self) -> bool:
        """Whether every place was tried, and none gave a case that has a meaning."""
        return not self.covering and self.tally.cases == 0

    def replay(self, case: Case) -> None:
        """A case of the corpus: counted apart, as chance did not draw it."""
        started = time.process_time()
        self.record(case.query, [replace(case, cell=f"@{kind_of(case)}")], drawn=False)
        self.tally.seconds += time.process_time() - started

    def round(self) -> None:
        """One shape, and its cases."""
        started = time.process_time()
        self.number += 1
        random = Random(f"{self.seed}/{self.number}")
        place = self.schedule.next_place()
        shape = self.drawn(random, place)
        if shape is not None:
            self.keeps = self.read_back(shape.query)
            self.run(shape)
        elif place is not None:
            self.tally.vain[place] += 1
        if place is not None:
            self.schedule.attempted(place, self.reached)
        self.tally.seconds += time.process_time() - started

    def drawn(self, random: Random, place: Place | None) -> Shape | None:
        """A shape for the place, or for chance; of several the one whose form was seen least."""
        shapes = []
        for draw in range(self.schedule.draws(place)):
            names = self.schedule.names(random, place)
            seed = f"{self.seed}/{self.number}/{draw}"
            try:
                shape = Ground(self.target, random).shape(names, seed)
            except Exception as error:  # noqa: BLE001  # `sample` or `output` of the operator
                self.failed_before(crashed("sample", error), f"placing {' below '.join(names)}")
                continue
            if shape is not None:
                shapes.append(shape)
        return min(shapes, key=lambda each: self.schedule.seen(each.query), default=None)

    def run(self, shape: Shape) -> None:
        """A case of each kind of change, and more where the view changes."""
        self.tally.shapes += 1
        first = [shape.case(kind, number) for number, kind in enumerate(FIRST_KINDS)]
        if 2 * self.record(shape.query, first) >= len(first):
            later = enumerate(MORE_KINDS, len(first))
            self.record(shape.query, [shape.case(kind, number) for number, kind in later])

    def record(self, query: Query, cases: Sequence[Case], drawn: bool = True) -> int:
        """Judges the cases of one query, and counts; how many could show something."""
        places, forms = self.target.places_in(query), self.schedule.forms(query)
        self.tally.fits.update(places)
        self.judging = operators_of(query)
        telling = 0
        for case, verdict in zip(cases, verdicts(self.backend, query, cases), strict=True):
            self.count(verdict, drawn)
            kind = case.cell[1:]
            named = replace(case, cell=f"{self.target.name}@{kind}")
            if verdict.telling:
                telling += 1
                self.tally.forms.update(forms)
                new = self.reach([(place, kind) for place in places if kind])
                if new and drawn and self.keeps and not verdict.failed:
                    self.keep(named)
            if verdict.failed:
                self.news += self.classes.add(named, verdict, self.tally.cases)
        return telling

    def count(self, verdict: Verdict, drawn: bool) -> None:
        tally = self.tally
        if not drawn:
            tally.replayed += 1
        elif verdict.kind == REFUSED:
            tally.refused += 1
        else:
            tally.cases += 1
            tally.equal += verdict.kind == EQUAL
            tally.vacuous += verdict.kind == VACUOUS
            tally.failing += verdict.failed

    def reach(self, cells: Sequence[Cell]) -> bool:
        """Counts the cells; whether one of them is reached for the first time."""
        self.tally.covered.update(cells)
        if self.reached.issuperset(cells):
            return False
        self.reached.update(cells)
        self.news += 1
        return True

    def read_back(self, query: Query) -> bool:
        """Whether a query with the user's operator is the same when it is read from its JSON."""
        if not self.target.own:
            return True
        doing = f"writing and reading {self.target.name} as JSON"
        try:
            same = Query.from_json(json.loads(json.dumps(query.to_json())), query.tables()) == query
        except Exception as error:  # noqa: BLE001  # `to_json` or `from_json` of the operator
            self.failed_before(crashed("json", error), doing)
            return False
        if not same:
            message = "what was read is not what was written: see to_json and from_json"
            self.failed_before(Verdict("json/unequal", message), doing)
        return same

    def failed_before(self, verdict: Verdict, doing: str) -> None:
        """A failure without a case."""
        self.news += self.classes.add_without_case(verdict, doing, self.tally.cases)
