"""How far a run of fuzzing is, and whether it is over.

Limits    when to stop
Clock     what has been heard of so far, and why the run is over
Part      what one process has done
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from deltaproof.conformance.fuzzing.classes import FailureClass
from deltaproof.conformance.fuzzing.fuzzer import Fuzzer
from deltaproof.conformance.fuzzing.tally import Tally

Progress = Callable[[str, int, int], None]

LEAST_CASES = 10_000  # before it is said that nothing new comes
EVERY = 0.25  # seconds between two words to the terminal


@dataclass(frozen=True)
class Limits:
    """When to stop: at a time, at a number of cases, or when nothing new comes for so long."""

    seconds: float | None = 60.0
    cases: int | None = None
    plateau: float | None = 20.0
    least: int = LEAST_CASES


@dataclass
class Part:
    """What one process did."""

    tally: Tally = field(default_factory=Tally)
    classes: Sequence[FailureClass] = ()
    unsorted: int = 0
    covering: bool = True
    done: bool = False


class Clock:
    """How far a run is, and whether it is over."""

    def __init__(self, limits: Limits, name: str, progress: Progress) -> None:
        self.limits = limits
        self.name = name
        self.progress = progress
        self.started = time.monotonic()
        self.last_new = self.last_shown = 0.0
        self.news = 0
        self.interrupted = self.endless = False
        self.heard = self.started  # when a round or a case ended for the last time

    @property
    def silence(self) -> float:
        """For how long nothing has ended."""
        return time.monotonic() - self.heard

    @property
    def now(self) -> float:
        return time.monotonic() - self.started

    def over(self, tally: Tally, news: int, covering: bool) -> str:
        """Why the run is over, or nothing; `news` is how often something new was met."""
        self.heard = time.monotonic()
        limits, now = self.limits, self.now
        if news != self.news:
            self.news, self.last_new = news, now
        if now - self.last_shown >= EVERY:
            self.show(tally, now)
        if self.interrupted:
            return "interrupted"
        if limits.cases is not None and tally.cases >= limits.cases:
            return "cases"
        if limits.seconds is not None and now >= limits.seconds:
            return "time"
        flat = limits.plateau is not None and now - self.last_new >= limits.plateau
        return "plateau" if flat and not covering and tally.cases >= limits.least else ""

    def show(self, tally: Tally, now: float) -> None:
        self.last_shown = now
        text = (
            f"{self.name}: {tally.cases:,} cases, {tally.rate:,.0f}/s per core, "
            f"{len(tally.covered):,} cells, {tally.failing:,} fail, "
            f"nothing new for {now - self.last_new:.0f} s"
        )
        if self.limits.cases is not None:
            self.progress(text, min(tally.cases, self.limits.cases), self.limits.cases)
        else:
            self.progress(text, int(now), int(self.limits.seconds or 0))


@contextmanager
def collected_rarely() -> Iterator[None]:
    """While this lasts, garbage is collected rarely: a case leaves little that is circular.

    It makes a tenth of the time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def part_of(fuzzer: Fuzzer) -> Part:
    """What the fuzzer has done so far."""
    classes = fuzzer.classes
    return Part(fuzzer.tally, list(classes.found.values()), classes.unsorted, fuzzer.covering)
