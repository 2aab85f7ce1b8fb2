"""`deltaproof fuzz`: an operator in every place of every query that fits, until a limit."""

from __future__ import annotations

import json
from pathlib import Path

import click

from deltaproof.conformance.console import progress_bar, say, writable
from deltaproof.conformance.duration import FOREVER, Duration
from deltaproof.conformance.target import running
from deltaproof.reference.errors import UsageError

SECONDS = 60.0


@click.command()
@click.argument("target")
@click.option("--for", "seconds", type=Duration(), help="Run for this long (60s).")
@click.option("--cases", type=click.IntRange(min=1), help="Run so many cases instead.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="Replay this folder first, and add to it."
)
@click.option("--seed", type=int, default=7, show_default=True, help="Everything follows from it.")
@click.option(
    "--plateau",
    type=Duration(off=True),
    default="20s",
    show_default=True,
    help="Stop when nothing new came for so long; off: never.",
)
@click.option(
    "--schema", "schemas", multiple=True, help="'k BIGINT, v DOUBLE': of each input of an instance."
)
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/fuzz"), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def fuzz(
    target: str,
    seconds: float | None,
    cases: int | None,
    jobs: int,
    corpus: Path | None,
    seed: int,
    plateau: float,
    schemas: tuple[str, ...],
    out: Path,
    as_json: bool,
) -> int:
    """Try an operator above and below every other, under every kind of change.

    TARGET is one of ours by its name, package.module:Operator or path/file.py:Operator; a class is
    placed where its `sample` fits, an operator with its arguments over tables of --schema. What
    its increment shows is held to its meaning, recomputed at every tick.

    \b
    Each failure is one class, shrunk to its smallest case, in a file that replays. Exit 0: all
    equal; 1: something fails; 2: interrupted, a process died, or no case could show anything.

    \b
    Examples:
      deltaproof fuzz distinct
      deltaproof fuzz operators.py:Median --for 10m --jobs 2 --corpus corpus
      deltaproof fuzz operators.py:Median --cases 20000 --seed 8 --json
      deltaproof fuzz mine.py:double_v --schema "k BIGINT, v BIGINT" --plateau off
    """
    if seconds and cases:
        raise UsageError("--for and --cases each say when to stop: give one of them")
    from deltaproof.conformance.fuzzing.clock import Limits
    from deltaproof.conformance.fuzzing.ground import Target
    from deltaproof.conformance.fuzzing.report import exit_code, fuzz_json, fuzz_lines
    from deltaproof.conformance.fuzzing.run import fuzz as run_fuzz

    chosen = Target.named(target, schemas)
    writable(out)
    if corpus is not None:
        writable(corpus, "--corpus")
    limits = Limits(
        None if cases else seconds or SECONDS,
        cases,
        None if cases or plateau == FOREVER else plateau,
    )
    with progress_bar() as progress, running(target):
        run = run_fuzz(chosen, limits, seed, jobs, corpus, out, progress)
    code = exit_code(run)
    if as_json:
        click.echo(json.dumps(fuzz_json(run), indent=1))
    else:
        say([*fuzz_lines(run), f"exit {code}"])
    return code
