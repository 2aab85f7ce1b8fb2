"""`deltaproof prove`: the catalogue of theorems, or a claim about somebody's own function."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from deltaproof.conformance.console import NONCONFORMANT, PASS, progress_bar, writable
from deltaproof.conformance.prove_claim import Options, run
from deltaproof.reference.errors import UsageError

SEED = 7  # of the queries of --plans


@click.command()
@click.argument("what", nargs=-1, metavar="[THEOREM|CHAPTER|OPERATOR|NUMBER|FUNCTION]...")
@click.option("--linear", is_flag=True, help="f(a + b) = f(a) + f(b).")
@click.option("--bilinear", is_flag=True, help="The same in each of two arguments.")
@click.option("--zero-preserving", is_flag=True, help="f(0) = 0.")
@click.option("--equal-to", metavar="G", help="f = g.")
@click.option(
    "--increment-of", metavar="G", help="f(before, delta), or f(delta), is how g changes."
)
@click.option("--state", metavar="H", help="Then f(state, delta) gives (change, state): h(input).")
@click.option("--sufficient-state", metavar="H", help="h(input) is enough to keep f up to date.")
@click.option("--given", metavar="P", help="For arguments with p(arguments) only.")
@click.option("--details", is_flag=True, help="Print the counterexamples too.")
@click.option("--cvc5/--no-cvc5", "second", default=None, help="Ask cvc5 every condition too.")
@click.option("--smtlib", type=click.Path(path_type=Path), help="Write the conditions here.")
@click.option(
    "--supports", is_flag=True, help="Run the code on the largest tables in half a second."
)
@click.option("--plans", type=click.IntRange(min=1), help="Prove the plans of so many queries.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON on standard output.")
def prove(
    what: tuple[str, ...],
    linear: bool,
    bilinear: bool,
    zero_preserving: bool,
    equal_to: str | None,
    increment_of: str | None,
    state: str | None,
    sufficient_state: str | None,
    given: str | None,
    details: bool,
    second: bool | None,
    smtlib: Path | None,
    supports: bool,
    plans: int | None,
    as_json: bool,
) -> int:
    """Prove the theorems, each with wrong variants that must be refuted; or a claim of yours.

    Without an argument the whole catalogue. NUMBER is one of the paper's, 4.7, or of its long
    version, 'TR 4.9'. FUNCTION is package.module:function or path/file.py:function, of the weights
    of a row or the numbers of a group; the answer is proved (exit 0), refuted with the smallest
    counterexample found (1), or unknown and why (2).

    \b
    Examples:
      deltaproof prove
      deltaproof prove join 4.7 nested --details
      deltaproof prove --json --smtlib out/conditions
      deltaproof prove --plans 1000
      deltaproof prove operators.py:clamp --linear
      deltaproof prove operators.py:step --increment-of operators.py:view --state operators.py:kept
    """
    options = Options(
        linear, bilinear, zero_preserving, equal_to, increment_of, sufficient_state, state, given
    )
    of_theorems = {
        "--details": details,
        "--smtlib": smtlib is not None,
        "--cvc5": second is not None,
    }
    if options != Options() or any(":" in word for word in what):
        alone("a claim about a function", of_theorems, supports, plans)
        return claim(what, options, as_json)
    if plans is not None:
        alone("--plans", of_theorems, supports)
        return random_plans(what, plans, as_json)
    if supports:
        alone("--supports", of_theorems)
        return largest_runs(what, as_json)
    return catalogue(what, details, second, smtlib, as_json)


def alone(
    asked: str, of_theorems: dict[str, bool], supports: bool = False, plans: int | None = None
) -> None:
    """Raises UsageError for an option that what is asked for would not heed."""
    given = {**of_theorems, "--supports": supports, "--plans": plans is not None}
    ignored = [option for option, there in given.items() if there]
    if ignored:
        raise UsageError(f"{ignored[0]} has no part in {asked}: leave it out")


def claim(what: tuple[str, ...], options: Options, as_json: bool) -> int:
    """A claim about one function of the user's."""
    if len(what) != 1:
        raise UsageError(f"a claim is about one function, module:name; got {len(what)}")
    verdict = run(what[0], options)
    click.echo(json.dumps(verdict.to_json(), indent=1) if as_json else str(verdict))
    return verdict.exit_code


def random_plans(what: tuple[str, ...], queries: int, as_json: bool) -> int:
    """What the planner makes of random queries, each equal to D ∘ query ∘ I."""
    from deltaproof.conformance.plan_proofs import validate_random

    if what:
        raise UsageError("--plans draws its queries: name none")
    found = validate_random(queries, SEED)
    if as_json:
        outcome = {
            "queries": len(found.all),
            "equal": len(found.all) - len(found.unequal),
            "algebraic": len(found.algebraic),
            "with_a_join": len(found.with_a_join),
            "unequal": [str(each.query) for each in found.unequal],
        }
        click.echo(json.dumps(outcome, indent=1))
    else:
        click.echo(str(found))
    return NONCONFORMANT if found.unequal else PASS


def largest_runs(what: tuple[str, ...], as_json: bool) -> int:
    """The code of the operators on the largest symbolic tables that half a second allows."""
    from deltaproof.theorems.execution.supports import run_supports, support_table

    if what:
        raise UsageError("--supports runs every operator: name none")
    with progress_bar() as progress:
        runs = run_supports(progress)
    if as_json:
        click.echo(json.dumps([run.to_json() for run in runs], indent=1))
    else:
        Console().print(support_table(runs))
    return PASS if all(run.holds for run in runs) else NONCONFORMANT


def catalogue(
    what: tuple[str, ...], details: bool, second: bool | None, smtlib: Path | None, as_json: bool
) -> int:
    """The theorems of these words, or all."""
    from deltaproof.theorems import chosen, prove_all
    from deltaproof.theorems.report import as_json as report_json
    from deltaproof.theorems.report import printed
    from deltaproof.theorems.second_solver import available, write_smtlib

    if smtlib is not None:
        if smtlib == Path():
            raise UsageError("--smtlib: name a folder to write to")
        writable(smtlib, "--smtlib")
    if second is None and not available():
        click.echo("cvc5: not run: not installed (pip install 'deltaproof[theorems]')", err=True)
    chosen(what or None)  # a wrong word is found before anything runs
    with progress_bar() as progress:
        proofs = prove_all(what or None, available() if second is None else second, progress)
    if smtlib is not None:
        written = write_smtlib(smtlib, [(proof.name, proof.queries) for proof in proofs])
        click.echo(f"{written} conditions written: {smtlib}", err=True)
    if as_json:
        click.echo(json.dumps(report_json(proofs), indent=1))
    else:
        Console().print(printed(proofs, details, whole=not what))
    return PASS if all(proof.holds for proof in proofs) else NONCONFORMANT
