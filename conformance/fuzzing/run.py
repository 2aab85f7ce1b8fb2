"""A run of fuzzing: the corpus first, then rounds until a limit, in one process or in several.

    fuzz(target, limits)    runs, writes what it found, and says so
    Limits                  when to stop

Interrupted, a run ends with what it has; a second interruption does not wait for the round, nor
does the first when the round does not end.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltaproof.conformance.case import Case
from deltaproof.conformance.fuzzing.classes import BUDGET, FailureClass, merged, saved
from deltaproof.conformance.fuzzing.clock import Clock, Limits, Progress, collected_rarely, part_of
from deltaproof.conformance.fuzzing.corpus import Corpus, loaded
from deltaproof.conformance.fuzzing.fuzzer import Fuzzer
from deltaproof.conformance.fuzzing.ground import Target
from deltaproof.conformance.fuzzing.jobs import PATIENCE, Jobs
from deltaproof.conformance.fuzzing.tally import Tally
from deltaproof.conformance.shrink import Budget

SHORT_PATIENCE = 3.0  # the same, once the run is interrupted


@dataclass
class FuzzRun:
    """What a run found."""

    target: Target
    seed: int
    jobs: int
    tally: Tally = field(default_factory=Tally)
    classes: list[FailureClass] = field(default_factory=list)
    unsorted: int = 0  # failing cases of which it is not known what class they are of
    corpus: Corpus | None = None
    seconds: float = 0.0
    last_new: float = 0.0  # when something new was met for the last time, after the start
    stopped: str = ""  # time, cases, plateau, interrupted, or what else
    endless: str = ""  # the query that did not end
    lost: list[str] = field(default_factory=list)  # processes that died, and how

    @property
    def quiet(self) -> float:
        """For how long nothing new came, at the end."""
        return max(0.0, self.seconds - self.last_new)

    @property
    def bound(self) -> float | None:
        """No more than this share fails outside the classes, at 95 %; None when there is none."""
        return None if self.unsorted else self.tally.bound


def fuzz(
    target: Target,
    limits: Limits,
    seed: int = 7,
    jobs: int = 1,
    corpus: Path | None = None,
    out: Path = Path("out/fuzz"),
    progress: Progress = lambda *_: None,
    budget: Budget = BUDGET,
) -> FuzzRun:
    """Fuzzes the operator, and writes the classes of failure to `out`, new cases to the corpus.

    >>> run = fuzz(Target.named("negate"), Limits(seconds=None, cases=100))
    >>> run.stopped, run.classes, run.tally.failing
    ('cases', [], 0)
    """
    with target.known():
        run = FuzzRun(target, seed, jobs)
        if corpus is not None:
            run.corpus = loaded(corpus, target)
        keep = run.corpus.keep if run.corpus is not None else ignored
        first = Fuzzer(target, str(seed), out, keep=keep, budget=budget)
        clock = Clock(limits, target.name, progress)
        processes: Jobs | None = None
        try:
            with interruptible(clock), collected_rarely():
                replay(first, run.corpus.cases if run.corpus is not None else (), clock)
                if jobs == 1:
                    run.stopped = rounds(first, clock)
                else:
                    processes = Jobs(first, jobs, clock, keep)
                    run.stopped = processes.run()
        except KeyboardInterrupt:
            run.stopped = "endless" if clock.endless else "interrupted"
            run.endless = first.judging if clock.endless else ""
        run.seconds, run.last_new = clock.now, clock.last_new
        parts = [part_of(first), *(processes.parts if processes else ())]
        run.lost = processes.lost if processes else []
        run.tally = sum((part.tally for part in parts), Tally())
        run.unsorted = sum(part.unsorted for part in parts)
        run.classes = saved(merged(part.classes for part in parts), out)
        if run.corpus is not None:
            for each in run.classes:
                if each.case is not None:
                    run.corpus.keep(each.case)
    return run


def replay(fuzzer: Fuzzer, cases: Sequence[Case], clock: Clock) -> None:
    """The corpus, before anything else."""
    for number, case in enumerate(cases):
        if clock.interrupted:
            return
        clock.heard = time.monotonic()
        if number % 50 == 0:
            clock.progress("replaying the corpus", number, len(cases))
        fuzzer.replay(case)


def rounds(fuzzer: Fuzzer, clock: Clock) -> str:
    """Rounds in this process until the clock says why not."""
    while not (why := clock.over(fuzzer.tally, fuzzer.news, fuzzer.covering)):
        if fuzzer.stuck:
            return "nothing"
        fuzzer.round()
    return why


def ignored(case: Case) -> bool:
    """Without a corpus nothing is kept."""
    return False


@contextmanager
def interruptible(clock: Clock) -> Iterator[None]:
    """While this lasts, the first interruption ends the run after its round, if that ends."""
    over = threading.Event()

    def interrupt(number: int, frame: Any) -> None:
        if clock.interrupted or clock.endless:
            raise KeyboardInterrupt
        clock.interrupted = True

    def watch() -> None:
        while not over.wait(0.5):
            if clock.silence > (SHORT_PATIENCE if clock.interrupted else PATIENCE):
                clock.endless = not clock.interrupted
                _thread.interrupt_main()
                return

    try:
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # not in the main thread, which alone is interrupted
        yield
        return
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)
