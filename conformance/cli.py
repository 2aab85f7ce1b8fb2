"""The `deltaproof` command.

Exit codes: 0 pass, 1 nonconformant, 2 unknown (a backend crashed or did not answer),
4 usage (a wrong argument, a broken file, a backend that is not installed), 5 the suite
itself is broken (a mutant survived, or the reference is suspect).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from deltaproof.conformance.adapter import Backend, Observed
from deltaproof.conformance.case import Case
from deltaproof.conformance.connect import availability, backend
from deltaproof.conformance.console import (
    BROKEN,
    NONCONFORMANT,
    PASS,
    UNKNOWN,
    USAGE,
    progress_bar,
    say,
    writable,
)
from deltaproof.conformance.duration import Duration
from deltaproof.conformance.explain import explain, explain_json
from deltaproof.conformance.flights import FlightsReport, flights_run
from deltaproof.conformance.flights_data import data_folder
from deltaproof.conformance.fuzzing.command import fuzz
from deltaproof.conformance.judge import Judge, Oracle, run_cases
from deltaproof.conformance.laws.command import laws
from deltaproof.conformance.laws.replay import is_law_file, replay_law
from deltaproof.conformance.new_operator import new_operator
from deltaproof.conformance.pools import VALUES
from deltaproof.conformance.prove import prove
from deltaproof.conformance.report import suite_lines, verdict_line
from deltaproof.conformance.suite import Suite, SuiteRun, in_shape, outcome, select_cells
from deltaproof.conformance.target import kind_named, running
from deltaproof.reference.errors import (
    BackendError,
    BackendMissing,
    CaseError,
    CheckpointError,
    DeltaproofError,
    SqlError,
    UsageError,
)
from deltaproof.reference.operators import knowing
from deltaproof.reference.sql import DIALECTS, to_sql

DEFAULT_BACKENDS = ("reference", "spark", "sqlite", "duckdb")
DEFAULT_CASES = 72_000
DEFAULT_DAYS = 31


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: every error raised on purpose is one line, never a traceback."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code."""
    output = sys.stdout
    try:
        return command.main(args=arguments, prog_name="deltaproof", standalone_mode=False) or PASS
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return USAGE
    except click.ClickException as error:
        return complain(error.format_message())
    except click.Abort:
        return complain("interrupted", UNKNOWN)
    except BackendMissing as error:
        return complain(str(error))
    except SqlError as error:  # its lines show the place in the text
        click.echo(f"deltaproof: {error}", err=True)
        return USAGE
    except BackendError as error:
        return complain(str(error), UNKNOWN)
    except DeltaproofError as error:
        return complain(str(error))
    except BrokenPipeError:  # whoever was reading has gone: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNKNOWN
    except OSError as error:
        return complain(f"{error.filename or 'output'}: {error.strerror or error}")
    except SystemExit as error:
        if sys.stdout is not output:  # whoever was reading has gone, says click in this way
            return UNKNOWN
        return complain(f"a backend ended the process, with {error.code!r}", UNKNOWN)
    except Exception as error:
        if os.environ.get("DELTAPROOF_TRACEBACK"):
            raise
        what = f"internal error: {type(error).__name__}: {error}"
        return complain(f"{what}; DELTAPROOF_TRACEBACK=1 shows where", BROKEN)


def complain(message: str, code: int = USAGE) -> int:
    click.echo(f"deltaproof: {' '.join(message.split())}", err=True)
    return code


@click.group(no_args_is_help=True)
@click.version_option(package_name="deltaproof")
def command() -> None:
    """Conformance and verification of incremental view maintenance.

    One claim, for every query and every stream of changes: the integral of what an engine
    puts out equals the query of the integral of what was put in, at every tick.
    """


command.add_command(laws)
command.add_command(prove)
command.add_command(new_operator)
command.add_command(fuzz)


@command.command()
@click.argument("cells", nargs=-1, metavar="[CELL]...")
@click.option("-b", "--backend", "names", multiple=True, help="A backend; repeat for several.")
@click.option("--operator", "own", multiple=True, help="Yours, FILE.py:Operator: run its cells.")
@click.option("--cases", type=click.IntRange(min=1), help=f"Random cases ({DEFAULT_CASES:,}).")
@click.option("--seed", type=int, default=7, show_default=True, help="Everything follows from it.")
@click.option(
    "--values",
    type=click.Choice(VALUES),
    default="mixed",
    show_default=True,
    help="What tables hold: killers are values that broke engines; mixed, in one shape of six.",
)
@click.option("--for", "seconds", type=Duration(), help="Run for this long instead: 60s, 5m.")
@click.option("--days", type=click.IntRange(1, 365), help=f"Days of flights ({DEFAULT_DAYS}).")
@click.option("--flights/--no-flights", default=None, help="Replay the real stream of flights.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out/cases"), show_default=True
)
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def conform(
    cells: tuple[str, ...],
    names: tuple[str, ...],
    own: tuple[str, ...],
    cases: int | None,
    seed: int,
    values: str,
    seconds: float | None,
    days: int | None,
    flights: bool | None,
    out: Path,
    as_json: bool,
) -> int:
    """Run the suite: random cases and a real stream, judged at every tick.

    A CELL is OPERATOR@KIND, OPERATOR or @KIND; without one the whole grid is run. Without -b
    every backend that is installed is run.

    \b
    Examples:
      deltaproof conform
      deltaproof conform -b reference -b duckdb --for 60s
      deltaproof conform -b spark --cases 2000 distinct@null aggregate
      deltaproof conform --values killers -b duckdb --no-flights
      deltaproof conform --operator mine.py:Median -b duckdb -b spark --cases 2000
      deltaproof conform --no-flights --json > outcome.json
    """
    kinds = [kind_named(target) for target in own]
    click.get_current_context().with_resource(knowing(*kinds))
    chosen = select_cells(cells or [kind.name for kind in kinds])
    writable(out)
    backends, not_run = open_backends(names)
    with_flights = flights or (flights is None and not cells and not own)
    if with_flights:
        data_folder()  # raises before the long run, not after it, when the data is not installed
    with progress_bar() as progress:
        suite = Suite(backends, not_run, seed, chosen, out, progress, names, values)
        with running(*own):
            found = suite.go(cases or DEFAULT_CASES, seconds)
        replay: FlightsReport | None = None
        if with_flights:
            replay = flights_run(backends, days or DEFAULT_DAYS, progress)
    code = found.exit_code or (flights_code(replay) if replay else PASS)
    if as_json:
        document = outcome(found) | {"exit": code}
        click.echo(
            json.dumps(document | ({"flights": replay.to_json()} if replay else {}), indent=1)
        )
        return code
    say(suite_lines(found))
    if replay:
        say(["", *replay.lines()])
    say(["", verdict(found, replay), f"exit {code}"])
    return code


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-b", "--backend", "names", multiple=True, help="A backend; repeat for several.")
@click.option("--operator", "own", multiple=True, help="Yours, FILE.py:Operator, that it is about.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def replay(file: Path, names: tuple[str, ...], own: tuple[str, ...], as_json: bool) -> int:
    """Replay one case or law file on one or several backends, and explain what differs.

    \b
    Examples:
      deltaproof replay out/cases/5c1e0b7a90ff.case.json -b spark -b reference
      deltaproof replay out/laws/operator_odd-0b1c2d3e4f5a.law.json --operator mine.py:Median
    """
    if is_law_file(file):
        return replay_law(file, own, open_backends(names)[0] if names else [], as_json)
    click.get_current_context().with_resource(knowing(*map(kind_named, own)))
    case = load_case(file)
    backends, _ = open_backends(names or ("reference",))
    with running(*own):
        expected = Oracle(case.query).expected(case)
    outcomes: list[dict[str, Any]] = []
    code = PASS
    for each in backends:
        with progress_bar() as progress, redirect_stdout(sys.stderr):  # the operator may print
            progress(f"replaying on {each.name}", 0, 1)
            observed = observe(each, case)
        found = Judge(case.query.schema, each.tolerance).difference(expected, observed)
        outcomes.append({"backend": each.name, "engine": each.describe(), "equal": found is None})
        if found is None:
            lines = [f"EQUAL at every tick: {each.name} ({each.describe()})"]
        else:
            code = NONCONFORMANT
            story = explain_json(case, found, each.name, file, observed=observed)
            outcomes[-1] |= {"difference": story}
            lines = [explain(case, found, each.name, file, observed=observed)]
        if not as_json:
            say(lines)
    if as_json:
        click.echo(json.dumps({"case": case.identity, "outcomes": outcomes}))
    return code


def load_case(file: Path) -> Case:
    try:
        return Case.load(file)
    except CaseError as error:
        if "unknown operator" not in str(error):
            raise
        known = "make yours known with --operator package.module:Name or file.py:Name"
        raise CaseError(f"{error}; {known}") from None


def observe(each: Backend, case: Case) -> list[Observed]:
    """What the backend shows of the case. Raises BackendError however it fails."""
    try:
        (observed,) = run_cases(each, [case])
        return in_shape(observed)
    except CheckpointError as error:
        raise BackendError(f"{each.name}: {error}") from error
    except DeltaproofError:
        raise
    except (Exception, SystemExit) as error:
        raise BackendError(f"{each.name}: {type(error).__name__}: {error}") from error


@command.command()
@click.option("-b", "--backend", "names", multiple=True, help="reference, spark; both by default.")
@click.option("--seed", type=int, default=7, show_default=True)
@click.option("--fuzz", "by_fuzzing", is_flag=True, help="Find the reference's by `fuzz` instead.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def mutants(names: tuple[str, ...], seed: int, by_fuzzing: bool, as_json: bool) -> int:
    """Prove that the suite can fail: plant known bugs, and see each one killed in its cell.

    With --fuzz nothing is predicted: each bug of the reference is to be found by fuzzing its
    operator, from an empty corpus, within a minute.

    \b
    Examples:
      deltaproof mutants
      deltaproof mutants -b reference --json
      deltaproof mutants --fuzz
    """
    if by_fuzzing:
        from deltaproof.conformance.mutants.fuzzed import mutants_by_fuzzing

        return mutants_by_fuzzing(names, seed, as_json)
    from deltaproof.conformance.mutants import run_mutants

    with progress_bar() as progress:
        report = run_mutants(names, seed, progress)
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=1))
    else:
        say(report.lines())
    return PASS if report.all_killed else BROKEN


@command.command("tpch")
@click.argument("queries", nargs=-1, metavar="[QUERY]...")
@click.option("-b", "--backend", "names", multiple=True, help="reference, spark; both by default.")
@click.option("--scale", type=click.FloatRange(0.001, 100), default=0.01, show_default=True)
@click.option("--ticks", type=click.IntRange(1, 50), default=8, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def tpch_queries(
    queries: tuple[str, ...], names: tuple[str, ...], scale: float, ticks: int, as_json: bool
) -> int:
    """Keep the 22 queries of TPC-H up to date, and compare every tick with DuckDB's recompute.

    The first tick is the load; each tick after it inserts and deletes orders with their
    lineitems, as the benchmark's refresh functions do, and updates parts, suppliers, customers.

    \b
    Examples:
      deltaproof tpch
      deltaproof tpch q03 q18 -b reference --scale 0.1 --ticks 20
    """
    if not scale > 0:  # FloatRange lets NaN pass
        raise UsageError(f"--scale {scale}: expected a number from 0.001 to 100")
    from deltaproof.conformance.tpch.run import tpch_run
    from deltaproof.conformance.tpch.schema import QUERIES

    reasons = availability()
    chosen = names or tuple(name for name in ("reference", "spark") if reasons[name] is None)
    with progress_bar() as progress:
        backends, _ = open_backends(chosen)
        report = tpch_run(backends, queries or QUERIES, scale, ticks, progress)
    code = PASS if report.ok else NONCONFORMANT if report.differs else UNKNOWN
    if as_json:
        click.echo(json.dumps(report.to_json() | {"exit": code}, indent=1))
    else:
        say([*report.lines(), f"exit {code}"])
    return code


@command.command("explain")
@click.argument("select", metavar="SELECT")
@click.option(
    "--table", "tables", multiple=True, help="A table, 'sales(fruit VARCHAR, kg BIGINT)'."
)
@click.option(
    "--schema", type=click.Path(path_type=Path), help="A file of CREATE TABLE statements."
)
@click.option("--dialect", type=click.Choice(list(DIALECTS)), default="ansi", show_default=True)
@click.option("--sql", "as_sql", type=click.Choice(list(DIALECTS)), help="Print it in a dialect.")
@click.option("--svg", type=click.Path(path_type=Path), help="Draw the circuit into this file.")
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON on standard output.")
def explain_plan(
    select: str,
    tables: tuple[str, ...],
    schema: Path | None,
    dialect: str,
    as_sql: str | None,
    svg: Path | None,
    as_json: bool,
) -> int:
    """Show how a view is kept: its query, its circuit, and what licenses every node.

    SELECT is the view's SQL; - reads it from standard input.

    \b
    Examples:
      deltaproof explain "SELECT k, COUNT(*) FROM t GROUP BY k" --table "t(k BIGINT)"
      deltaproof explain - --schema schema.sql --svg plan.svg < view.sql
      deltaproof explain "SELECT DISTINCT k FROM t" --table "t(k BIGINT)" --sql duckdb
    """
    from deltaproof.conformance import plan

    query = plan.view_of(select, tables, schema, dialect)
    if svg is not None:
        plan.draw(query, svg)
        click.echo(f"drawn: {svg}", err=True)
    say([to_sql(query, as_sql, pretty=True)] if as_sql else plan.plan_text(query, as_json))
    return PASS


def open_backends(names: Sequence[str]) -> tuple[list[Backend], dict[str, str]]:
    """The backends of these names; of none, all that are installed, and why others are not.

    Raises UsageError for an unknown name, BackendMissing for one that was asked for by name.
    """
    if names:
        return [backend(name) for name in dict.fromkeys(names)], {}
    reasons = {name: reason for name, reason in availability().items() if name in DEFAULT_BACKENDS}
    not_run = {name: reason for name, reason in reasons.items() if reason is not None}
    return [backend(name) for name in DEFAULT_BACKENDS if name not in not_run], not_run


def flights_code(replay: FlightsReport) -> int:
    if replay.differs:
        return NONCONFORMANT
    return PASS if replay.ok else UNKNOWN


def verdict(found: SuiteRun, replay: FlightsReport | None) -> str:
    """The last line but one: the random cases, and the flights."""
    if replay is None:
        return verdict_line(found)
    words = {
        PASS: f"{replay.days} days of flights equal",
        NONCONFORMANT: "the flights DIFFER",
        UNKNOWN: "the flights are UNKNOWN",
    }
    return f"{verdict_line(found)}; {words[flights_code(replay)]}"


if __name__ == "__main__":
    main()
