"""What a run prints: who ran, the grid of cells with their denominators, failures, rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from deltaproof.conformance.adapter import operator_capabilities
from deltaproof.conformance.explain import explain
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.suite import BackendRun, Failure, SuiteRun, status
from deltaproof.reference.show import RULED, table_text

HEADERS = {  # so that the grid fits a terminal of 100 columns
    "duplicate": "dup",
    "resurrect": "resur",
    "empty-out": "empty",
    "both-sides": "both",
    "multi-table": "multi",
}
LETTERS = {"ok": None, "fails": "X", "unknown": "?", "unsupported": "-", "not run": "."}


def suite_lines(run: SuiteRun) -> Iterator[str]:
    """The run as lines of text."""
    yield from engine_lines(run)
    yield ""
    yield (
        f"{run.cases:,} random cases of {run.shapes} queries, {run.ticks:,} ticks, "
        f"seed {run.seed}; {run.vacuous:,} vacuous ({share(run.vacuous, run.cases)}), "
        f"{run.refused:,} without a value"
    )
    yield (
        f"{run.killer_cases:,} of them ({share(run.killer_cases, run.cases)}), of "
        f"{run.killer_shapes} queries, hold values that broke engines; "
        f"{run.killer_refused:,} more had no value"
    )
    yield ""
    yield from grid_lines(run.backends)
    yield ""
    yield pairs_line(run)
    yield ""
    yield from rate_lines(run)
    for each in run.backends:
        for failure in each.failures:
            yield ""
            yield from failure_lines(failure)
        for message in each.unknown[:5]:
            yield f"UNKNOWN  {each.name}  case {message}"
        if len(each.unknown) > 5:
            yield f"UNKNOWN  {each.name}  and {len(each.unknown) - 5} more"
    for identity in run.suspects:
        yield f"SUSPECT REFERENCE  both SQL oracles contradict it on case {identity}"


def engine_lines(run: SuiteRun) -> Iterator[str]:
    """One line per backend: its letter in the grid and its engine, or why it did not run."""
    for letter, each in zip(letters(run.backends), run.backends, strict=True):
        exact = f", DOUBLE within {each.tolerance:g}" if each.tolerance else ""
        yield f"  {letter}  {each.name:<10} {each.engine}{exact}"
    for name, reason in run.not_run.items():
        yield f"  .  {name:<10} not run: {reason}"


def grid_lines(backends: Sequence[BackendRun]) -> Iterator[str]:
    """Operators × kinds of change: a letter for each backend that was equal in every case."""
    table = Table(box=RULED, pad_edge=False, show_edge=False, padding=0)
    table.add_column("operator")
    for kind in KINDS:
        table.add_column(HEADERS.get(kind, kind))
    table.add_column("cases", justify="right")
    for operator in operator_capabilities():
        tallies = [
            sum((each.cells.get((operator, kind), Counter()) for kind in KINDS), Counter())
            for each in backends
        ]
        if not any(tallies):
            continue
        judged = max(tally.total() - tally["unsupported"] for tally in tallies)
        cells = [Text(cell_text(backends, operator, kind)) for kind in KINDS]
        table.add_row(operator, *cells, f"{judged:,}")
    yield from table_text(table).splitlines()
    names = ", ".join(
        f"{letter} {each.name} equal"
        for letter, each in zip(letters(backends), backends, strict=True)
    )
    yield f"{names}; X fails, ? unknown, - unsupported (declared), . no case"


def letters(backends: Sequence[BackendRun]) -> list[str]:
    """The first letter of each backend's name that no earlier one has."""
    taken: list[str] = []
    for each in backends:
        free = [letter for letter in each.name + "0123456789" if letter not in (*taken, *"X?-.")]
        taken.append(free[0])
    return taken


def cell_text(backends: Sequence[BackendRun], operator: str, kind: str) -> str:
    verdicts = [status(each.cells.get((operator, kind))) for each in backends]
    return "".join(
        LETTERS[verdict] or letter
        for letter, verdict in zip(letters(backends), verdicts, strict=True)
    )


def pairs_line(run: SuiteRun) -> str:
    """How many of the pairs of operators each backend has run, one feeding the other."""
    possible = len(run.possible_pairs)
    covered = ", ".join(
        f"{each.name} {len(each.pairs):,} ({share(len(each.pairs), possible)})"
        for each in run.backends
    )
    return f"pairs of operators, one feeding the other: of {possible:,} that fit, {covered}"


def rate_lines(run: SuiteRun) -> Iterator[str]:
    """Cases per second: of the generator, of the meaning, and of each backend with its judging."""
    yield f"  generator   {per_second(run.cases, run.generate_seconds)}"
    yield f"  meaning     {per_second(run.cases, run.oracle_seconds)} (recomputed at every tick)"
    for each in run.backends:
        line = f"  {each.name:<11} {per_second(each.cases, each.seconds)}"
        if each.name == "reference":
            judged = per_second(each.cases, each.seconds + run.oracle_seconds)
            line += f", with the meaning {judged}"
        elif each.single_rate:
            times = each.rate / each.single_rate
            line += (
                f", {times:,.0f} times one job per tick "
                f"({each.single_rate:.2f} cases/s on {each.single_cases} cases)"
            )
        yield line


def failure_lines(failure: Failure) -> Iterator[str]:
    text = explain(
        failure.case,
        failure.difference,
        failure.backend,
        failure.path,
        observed=failure.observed,
    )
    yield from text.splitlines()
    before, after = failure.sizes
    yield (
        f"  shrunk from {before[0]} operators, {before[1]} ticks, {before[2]} rows "
        f"to {after[0]}, {after[1]}, {after[2]}; {failure.cases:,} cases fail in this way"
    )


def verdict_line(run: SuiteRun) -> str:
    """The last line: what the run says, in one sentence."""
    if run.suspects:
        return "SUSPECT: both SQL oracles contradict the reference"
    failing = [each.name for each in run.backends if each.failures]
    if failing:
        return f"NONCONFORMANT: {', '.join(failing)}"
    unknown = [each.name for each in run.backends if each.unknown]
    if unknown:
        return f"UNKNOWN: {', '.join(unknown)} did not answer every case"
    idle = "".join(f"; {each.name} not run: unsupported" for each in run.backends if not each.cases)
    equal = ", ".join(f"{each.name} ({each.cases:,})" for each in run.backends if each.cases)
    return f"EQUAL at every tick: {equal}{idle}" if equal else f"UNKNOWN: no case was run{idle}"


def per_second(number: int, seconds: float) -> str:
    return f"{number / seconds:,.0f} cases/s" if seconds else "no case"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"
