"""Fuzzing in several processes: each resolves the target itself and draws from a seed of its own.

The places are dealt out between them. Each tells its whole tally again and again, so that what a
process had done counts also when it is killed; one that is silent for long is ended. The others
go on.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from deltaproof.conformance.case import Case
from deltaproof.conformance.fuzzing.clock import Clock, Part, collected_rarely, part_of
from deltaproof.conformance.fuzzing.fuzzer import Fuzzer
from deltaproof.conformance.fuzzing.ground import Place, Target
from deltaproof.conformance.fuzzing.tally import Cell, Tally
from deltaproof.conformance.shrink import Budget

TELLING = 0.5  # seconds between two messages of a process
PATIENCE = 60.0  # seconds of silence, after which a process is ended
STOPPING = 15.0  # seconds that a process has for its last round


@dataclass(frozen=True)
class Order:
    """What a process is to do."""

    words: str
    schemas: tuple[str, ...]
    seed: str
    out: Path
    covered: frozenset[Cell]
    places: tuple[Place, ...]
    cases: int | None
    budget: Budget


@dataclass(frozen=True)
class Message:
    """What a process has done so far; cases as JSON, as each process has classes of its own."""

    part: Part
    smallest: list[Any]  # of each class of failure, or None
    kept: list[Any]  # cases that were new to it since its last message


@dataclass
class Job:
    """A process, and what was heard of it."""

    number: int
    process: BaseProcess
    line: Connection
    part: Part = field(default_factory=Part)
    heard: float = field(default_factory=time.monotonic)


class Jobs:
    """The processes of a run."""

    def __init__(self, first: Fuzzer, number: int, clock: Clock, keep: Callable[[Case], object]):
        self.keep = keep
        self.clock = clock
        self.lost: list[str] = []
        self.reached = set(first.reached)
        self.all = [started(n, order) for n, order in enumerate(orders(first, number, clock), 1)]
        self.alive = list(self.all)

    @property
    def parts(self) -> list[Part]:
        return [job.part for job in self.all]

    def run(self) -> str:
        """Until all have ended; why they did."""
        why, deadline = "", float("inf")
        try:
            while self.alive and time.monotonic() < deadline:
                self.listen()
                if (reason := self.over()) and not why:
                    why, deadline = reason, time.monotonic() + STOPPING
                    self.stop()
        finally:
            self.end()
        if self.lost:
            return why or "all ended"
        return why or ("cases" if any(part.tally.cases for part in self.parts) else "nothing")

    def over(self) -> str:
        keys = {each.key for part in self.parts for each in part.classes}
        total = sum((part.tally for part in self.parts), Tally())
        covering = any(job.part.covering for job in self.alive)
        return self.clock.over(total, len(self.reached) + len(keys), covering)

    def listen(self) -> None:
        """What the processes tell in the next moment."""
        lines = {job.line: job for job in self.alive}
        for line in wait(list(lines), timeout=TELLING / 2):
            self.hear(lines[line])  # type: ignore[index]  # of the same lines
        for job in self.alive:
            if time.monotonic() - job.heard > PATIENCE:
                self.lose(job, f"said nothing for {PATIENCE:.0f} s, and was ended")

    def hear(self, job: Job) -> None:
        try:
            message: Message | str = job.line.recv()
        except (EOFError, OSError):
            job.process.join(STOPPING)
            self.lose(job, f"died, with exit code {job.process.exitcode}")
            return
        if isinstance(message, str):
            self.lose(job, message)
            return
        job.heard = time.monotonic()
        classes = [
            replace(each, case=None if document is None else Case.from_json(document))
            for each, document in zip(message.part.classes, message.smallest, strict=True)
        ]
        job.part = replace(message.part, classes=classes)
        for document in message.kept:
            self.keep(Case.from_json(document))
        self.reached |= job.part.tally.covered.keys()
        if job.part.done:
            self.alive.remove(job)

    def lose(self, job: Job, how: str) -> None:
        """The process is no more; what it had told counts."""
        self.lost.append(f"process {job.number} {how}")
        self.alive.remove(job)
        job.process.terminate()

    def stop(self) -> None:
        for job in self.alive:
            with contextlib.suppress(OSError):  # it is gone: hear will say so
                job.line.send("stop")

    def end(self) -> None:
        for job in list(self.alive):
            self.lose(job, "did not stop, and was ended")
        for job in self.all:
            job.process.join(STOPPING)
            job.line.close()


def orders(first: Fuzzer, jobs: int, clock: Clock) -> Iterator[Order]:
    """The work, dealt out."""
    target, cases = first.target, clock.limits.cases
    for number in range(jobs):
        yield Order(
            target.words,
            tuple(map(str, target.schemas)),
            f"{first.seed}/job {number + 1}",
            first.classes.out,
            frozenset(first.reached),
            tuple(first.schedule.waiting)[number::jobs],
            None if cases is None else cases // jobs + (number < cases % jobs),
            first.classes.budget,
        )


def started(number: int, order: Order) -> Job:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
    ours, its = context.Pipe()
    process = context.Process(target=work, args=(order, its), daemon=True)
    process.start()
    its.close()
    return Job(number, process, ours)


def work(order: Order, line: Connection) -> None:
    """What a process does: rounds, telling of them, until it is told to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process hears it, and stops us
    sys.stdout = sys.stderr  # the operator may print, and standard output is for the verdict
    try:
        target = Target.named(order.words, order.schemas)
        with target.known(), collected_rarely(), contextlib.suppress(BrokenPipeError):
            work_on(target, order, line)
    except Exception as error:  # noqa: BLE001  # whatever it is, the run is told
        line.send(f"failed: {type(error).__name__}: {error}")


def work_on(target: Target, order: Order, line: Connection) -> None:
    kept: list[Case] = []
    fuzzer = Fuzzer(
        target, order.seed, order.out, order.covered, order.places, kept.append, order.budget
    )
    told = time.monotonic()
    done = False
    while not done:
        enough = order.cases is not None and fuzzer.tally.cases >= order.cases
        done = enough or fuzzer.stuck or line.poll()
        if not done:
            fuzzer.round()
        if done or time.monotonic() - told >= TELLING:
            line.send(message(fuzzer, kept, done))
            kept.clear()
            told = time.monotonic()


def message(fuzzer: Fuzzer, kept: list[Case], done: bool) -> Message:
    part = part_of(fuzzer)
    smallest = [None if each.case is None else each.case.to_json() for each in part.classes]
    bare = [replace(each, case=None) for each in part.classes]
    return Message(
        replace(part, classes=bare, done=done), smallest, [case.to_json() for case in kept]
    )
