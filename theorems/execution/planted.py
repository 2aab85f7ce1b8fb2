"""Faults planted at random in what is proved, and what became of each.

    in a statement    the theorem is proved again, with one sign of its formula changed
    in an increment   the changed code is run on symbolic weights against the unchanged meaning

A fault is *refuted* when the proof fails or finds weights, and a *crash* when what was changed
raises an error. When the proof goes through, something must be shown, or the fault is *not caught*
and this command fails:

    equivalent   z3 proves that the changed formula says what the old one said; or the runs of the
                 changed increment went through and executed the changed line, so that it is right
                 on their scope
    also true    the changed statement was proved from the axioms and definitions of the old one

Counted are signs of the formula that is proved. A sign in a definition or in a hypothesis makes
another notion, of which the same theorem may well be true.

    python -m deltaproof.theorems.execution.planted --seed 1 --count 10

Each fault is planted in a process of its own (see `faults`).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pkgutil import iter_modules
from random import Random
from time import perf_counter
from types import CodeType, FrameType
from typing import Any, TypeAlias

import z3
from rich.console import Console
from rich.table import Table
from rich.text import Text

import deltaproof.reference.operators
from deltaproof.reference.operator import Shape
from deltaproof.theorems import kernel
from deltaproof.theorems.execution.faults import Fault, Planted, faults_in
from deltaproof.theorems.execution.forking import Enumerated, prove_each, prove_paths
from deltaproof.theorems.execution.symbolic import Subject, Within, prove_code
from deltaproof.theorems.kernel import ProofError, Query, Thm, assume, everything_under
from deltaproof.theorems.library import THEOREMS
from deltaproof.theorems.registry import Theorem

SECONDS = 60  # for one proof; a changed loop need not end
WORKERS = 2

FAULTS_PER_THEOREM = 5  # signs of steps of its proof do not count

REFUTED, CRASH, EQUIVALENT = "refuted", "crash", "equivalent"
ALSO_TRUE, NOT_CAUGHT = "also true", "NOT CAUGHT"


@dataclass(frozen=True)
class Outcome:
    """What became of a fault, and the words that say why."""

    fault: Fault
    theorem: str
    verdict: str
    why: str
    ms: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """The outcomes of all faults of a seed."""

    seed: int
    statements: tuple[Outcome, ...]
    increments: tuple[Outcome, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return (*self.statements, *self.increments)

    @property
    def caught(self) -> bool:
        return all(each.verdict != NOT_CAUGHT for each in self.outcomes)

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "caught": self.caught,
            "statements": [each.to_json() for each in self.statements],
            "increments": [each.to_json() for each in self.increments],
        }


def theorem_named(name: str) -> Theorem:
    return next(each for each in THEOREMS if each.name == name)


# ---------------------------------------------------------------- what is called


class Calls:
    """The functions of files below a folder that are called while this is entered."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.seen: set[CodeType] = set()

    def __enter__(self) -> Calls:
        sys.setprofile(self.note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self.seen.add(frame.f_code)

    def functions(self) -> list[tuple[str, str]]:
        """(file, qualified name) of each, inner functions counted as the outermost one."""
        here = [code for code in self.seen if self.folder in code.co_filename]
        return sorted({(c.co_filename, c.co_qualname.split(".<locals>")[0]) for c in here})


# ---------------------------------------------------------------- in statements


@dataclass(frozen=True)
class Said:
    """What a theorem says: its formula, and the definitions and axioms under it, as texts."""

    formula: str
    roots: tuple[str, ...]
    smtlib: str  # the formula and all that it speaks of
    functions: tuple[tuple[str, str], ...]  # (file, name) that were called to say it


def stated(name: str, fault: Fault | None = None) -> Said | None:
    """What the theorem's function states, whether or not it holds: nothing is asked of z3.

    None for a theorem that is more than a formula.
    """
    theorem = theorem_named(name)
    calls = Calls("/theorems/")
    with Planted(fault) if fault else nullcontext(), limited(), unasked(), calls:
        thm = theorem.function()
    if not isinstance(thm, Thm):
        return None
    roots = [each for each in everything_under(thm) if each.kind != "rule"]
    texts = tuple(each.formula.sexpr() for each in roots)
    functions = tuple(calls.functions())
    return Said(thm.formula.sexpr(), texts, as_smtlib(thm.formula), functions)


def restated(name: str, fault: Fault) -> Said | None:
    """The same with the fault in it; None where nothing can be stated any more."""
    try:
        return stated(name, fault)
    except Exception:  # noqa: BLE001  # the proof meets the same error, and reports it
        return None


@contextmanager
def unasked() -> Iterator[None]:
    """While this is entered every proof goes through."""

    def believed(name: str, *_: object, **__: object) -> Query:
        return Query(name, "not asked", 0.0)

    asked = kernel.ask
    kernel.ask = believed
    try:
        yield
    finally:
        kernel.ask = asked


def as_smtlib(formula: Any) -> str:
    solver = z3.Solver()
    solver.add(formula)
    return str(solver.to_smt2())


def same_meaning(one: str, other: str) -> bool:
    """Whether z3 proves the two formulas, as SMT-LIB, to say the same."""
    try:
        left, right = (z3.And(*z3.parse_smt2_string(text)) for text in (one, other))
    except z3.Z3Exception:  # they do not even speak of the same symbols
        return False
    solver = z3.Solver()
    solver.set("rlimit", kernel.EFFORT)
    solver.add(left != right)
    return bool(solver.check() == z3.unsat)


def prove_with(name: str, fault: Fault) -> tuple[str, str, float]:
    """(verdict, why, ms) of the theorem's proof with the fault in it."""
    theorem, started = theorem_named(name), perf_counter()
    with Planted(fault):
        verdict, why = attempt(theorem.function)
    return verdict, why, (perf_counter() - started) * 1000


def attempt(proof: Callable[[], object]) -> tuple[str, str]:
    """(verdict, why) of a proof that a fault may be planted in."""
    try:
        with limited():
            proof()
    except ProofError as error:
        return REFUTED, str(error)
    except Exception as error:  # noqa: BLE001  # whatever the changed code raises is a finding
        return CRASH, f"{type(error).__name__}: {error}"
    return NOT_CAUGHT, "the proof goes through"


@contextmanager
def limited() -> Iterator[None]:
    """Raises TimeoutError in what takes too long."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no end after {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def statement_fault(apart: Apart, name: str, seed: int) -> Outcome | None:
    """A fault in what the theorem says, drawn by the seed; None where none was found."""
    before: Said | None = apart(stated, name)
    if before is None:
        return None
    module = theorem_named(name).function.__module__
    called = {function for file, function in before.functions if file == file_of(module)}
    faults = [fault for fault in faults_in(module) if fault.function in called]
    draw = Random(f"{seed} {name}")
    for fault in draw.sample(faults, min(len(faults), FAULTS_PER_THEOREM)):
        after: Said | None = apart(restated, name, fault)
        if after is None or after.formula == before.formula:
            continue  # the sign was of a step of the proof, or of a notion
        verdict, why, ms = apart(prove_with, name, fault)
        if verdict == NOT_CAUGHT:
            verdict, why = apart(compared, before, after)
        return Outcome(fault, name, verdict, why, ms)
    return None


def compared(before: Said, after: Said) -> tuple[str, str]:
    """(verdict, why) of a changed statement that was proved."""
    if before.roots != after.roots:
        return NOT_CAUGHT, "another formula was proved, of other notions"
    if same_meaning(before.smtlib, after.smtlib):
        return EQUIVALENT, "z3: the changed formula says what the old one said"
    return ALSO_TRUE, "proved from the axioms and definitions of the old one"


def file_of(module: str) -> str:
    return str(sys.modules[module].__file__)


# ---------------------------------------------------------------- in increments

Run: TypeAlias = tuple[Callable[..., object], Subject, tuple[Any, ...]]  # how, of what, arguments


def runs_of(theorem: Theorem) -> list[Run]:
    """The runs of code that the theorem consists of, none of them made."""
    found: list[Run] = []
    names = theorem.function.__globals__

    def noted(prover: Callable[..., object], result: object) -> Callable[..., object]:
        def note(subject: Subject, *arguments: Any) -> object:
            found.append((prover, subject, arguments))
            return result

        return note

    nothing = assume(z3.BoolVal(True))
    stubs = {
        "prove_code": noted(prove_code, nothing),
        "prove_paths": noted(prove_paths, nothing),
        "prove_each": noted(prove_each, Enumerated(())),
    }
    own = {name: names[name] for name in stubs if name in names}
    names.update({name: stubs[name] for name in own})
    try:
        theorem.function()
    finally:
        names.update(own)
    return found


def make_runs(name: str, context: AbstractContextManager[Any]) -> None:
    """The runs of the theorem, every increment within the context, its meaning outside of it."""
    for prover, subject, arguments in runs_of(theorem_named(name)):
        make = subject.increment
        prover(replace(subject, increment=partial(Within, make, context)), *arguments)


def called_by_increments(name: str) -> list[tuple[str, str]]:
    """(file, function) of all that the increments of the theorem's runs call."""
    calls = Calls("/reference/")
    make_runs(name, calls)
    return calls.functions()


def run_with(name: str, fault: Fault) -> tuple[str, str, float]:
    """(verdict, why, ms) of the theorem's runs with the fault in the increments."""
    started = perf_counter()
    verdict, why = attempt(lambda: make_runs(name, Planted(fault)))
    return verdict, why, (perf_counter() - started) * 1000


class Reached:
    """Plants the fault, and notes whether its lines are executed while this is entered."""

    def __init__(self, fault: Fault) -> None:
        self.planted = Planted(fault)
        self.lines = range(fault.first_line, fault.last_line + 1)
        self.codes = set(codes_in(self.planted.wrong))
        self.yes = False

    def __enter__(self) -> None:
        self.planted.__enter__()
        if not self.yes:
            sys.settrace(self.enter)

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)
        self.planted.__exit__(*error)

    def enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self.line if frame.f_code in self.codes else None

    def line(self, frame: FrameType, event: str, argument: object) -> Any:
        self.yes |= frame.f_lineno in self.lines
        return self.line


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the functions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_in(each)


def executes(name: str, fault: Fault) -> bool:
    """Whether the runs of the theorem execute the line of the fault, with the fault in it."""
    reached = Reached(fault)
    attempt(lambda: make_runs(name, reached))
    return reached.yes


def increment_modules() -> list[str]:
    """The modules of the reference that increments are made of."""
    package = deltaproof.reference.operators
    operators = [f"{package.__name__}.{each.name}" for each in iter_modules(package.__path__)]
    return [each for each in operators if ".test_" not in each] + [
        f"deltaproof.reference.{name}"
        for name in ("fixpoint", "nested", "operator", "ordered", "store")
    ]


def increment_fault(apart: Apart, name: str, seed: int) -> Outcome | None:
    """A fault in what the increments of the theorem's runs call, drawn by the seed."""
    called = set(apart(called_by_increments, name))
    faults = [
        fault
        for module in increment_modules()
        for fault in faults_in(module)
        if (file_of(module), fault.function) in called and not is_meaning(fault)
    ]
    if not faults:
        return None
    fault = Random(f"{seed} {name}").choice(faults)
    verdict, why, ms = apart(run_with, name, fault)
    if verdict == NOT_CAUGHT:
        verdict, why = apart(survived, name, fault)
    return Outcome(fault, name, verdict, why, ms)


def is_meaning(fault: Fault) -> bool:
    """Whether the sign is of what an operator means, where that is not its increment as well."""
    owner, _, name = fault.function.rpartition(".")
    kind = vars(sys.modules[fault.module]).get(owner)
    return name == "meaning" and getattr(kind, "shape", None) is Shape.GENERAL


def survived(name: str, fault: Fault) -> tuple[str, str]:
    """(verdict, why) of a fault that the runs of one theorem did not catch.

    It is run by all others; if none catches it, it is right on the scope of those that execute it.
    """
    others = [each.name for each in THEOREMS if each.name.endswith("_code") and each.name != name]
    for other in others:
        verdict, why, _ = run_with(other, fault)
        if verdict != NOT_CAUGHT:
            return verdict, f"{other}: {why}"
    shown = next((each for each in (name, *others) if executes(each, fault)), None)
    if shown is None:
        return NOT_CAUGHT, "no run executes the line"
    return EQUIVALENT, f"as right as the old code on {shown}: {theorem_named(shown).scope}"


# ---------------------------------------------------------------- all together

Apart: TypeAlias = Callable[..., Any]  # calls a function in a process of its own
Plant: TypeAlias = Callable[[Apart, str, int], Outcome | None]
Progress: TypeAlias = Callable[[Outcome], None]


def planted(seed: int, count: int = 10, progress: Progress = lambda outcome: None) -> Report:
    """So many faults in statements and as many in increments, drawn by the seed."""
    names = [each.name for each in THEOREMS]
    code = [name for name in names if name.endswith("_code")]
    others = [name for name in names if name not in code]
    context = get_context("forkserver")  # it imports once, and every process starts from there
    context.set_forkserver_preload([statement_fault.__module__, "deltaproof.theorems.library"])
    with ProcessPoolExecutor(WORKERS, mp_context=context, max_tasks_per_child=1) as processes:

        def apart(function: Callable[..., Any], *arguments: Any) -> Any:
            return processes.submit(function, *arguments).result()

        def plant(how: Plant, among: list[str]) -> tuple[Outcome, ...]:
            drawn = Random(seed).sample(among, len(among))
            found: list[Outcome] = []
            with ThreadPoolExecutor(WORKERS) as threads:
                while drawn and len(found) < count:
                    missing = count - len(found)
                    here, drawn = drawn[:missing], drawn[missing:]
                    for outcome in threads.map(lambda name: how(apart, name, seed), here):
                        if outcome is not None:
                            found.append(outcome)
                            progress(outcome)
            return tuple(found)

        return Report(seed, plant(statement_fault, others), plant(increment_fault, code))


def report_table(report: Report) -> Table:
    """A line per fault: where, what was changed, and what became of it."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("verdict", "theorem", "changed", "why"):
        grid.add_column(heading, overflow="fold")
    for each in report.outcomes:
        fault = each.fault
        changed = f"{fault}\n{fault.change} in {fault.code:.60}"
        grid.add_row(each.verdict, each.theorem, Text(changed), Text(f"{each.why:.120}"))
    return grid


def summary(report: Report) -> str:
    """How many faults had which verdict."""
    counts = Counter(each.verdict for each in report.outcomes)
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    statements, increments = len(report.statements), len(report.increments)
    planted_in = f"{statements} faults in statements, {increments} in increments"
    return f"seed {report.seed}: {planted_in}: {verdicts}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Plants and prints. 1 when a fault was not caught."""
    parser = argparse.ArgumentParser(
        prog="python -m deltaproof.theorems.execution.planted",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="of faults in each of the two")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    report = planted(chosen.seed, chosen.count)
    console = Console()
    if chosen.json:
        console.out(json.dumps(report.to_json(), indent=2), highlight=False)
    else:
        console.print(report_table(report))
        console.print(summary(report))
    return 0 if report.caught else 1


if __name__ == "__main__":
    sys.exit(main())
