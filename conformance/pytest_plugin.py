"""deltaproof in anybody's tests: pytest finds this by itself, and does nothing until it is asked.

    deltaproof_backend    the backend under test: --deltaproof-backend NAME, one or several
    deltaproof_holds      (query, ticks): the view follows its tables on that backend
    deltaproof_machine    (query=None): so it does when stepped, split, stopped at random
    deltaproof_laws       (operator, schema, ...): the laws hold that it declares

    @given(views(depth=2, signed=False))
    def test_my_engine_follows(deltaproof_holds, view):
        deltaproof_holds(*view)

What fails is explained, and written as a file that `deltaproof replay` shows again: of the
examples that Hypothesis tries only the last one, which is the smallest. Files are listed after
the summary. The profiles deltaproof-ci, -dev and -deep are there for --hypothesis-profile and
HYPOTHESIS_PROFILE. Nothing heavy is imported here: neither Hypothesis nor an engine.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from deltaproof.conformance.adapter import Backend
    from deltaproof.reference.query import Query
    from deltaproof.reference.zset import ZSet

OUT = "out/cases"
DEFAULT = "reference"
PROFILES = "deltaproof-"
WRITTEN = "deltaproof_replay"  # the name of the property that carries a file to the summary

Save = Callable[[], tuple[Path, str]]  # writes a file: its path, and the command to see it again


class Findings:
    """What the running test found. The last is kept: of Hypothesis's examples, the smallest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.words: dict[int, str] = {}  # what each backend was asked for by, by its id
        self.last: Save | None = None
        self.written: list[str] = []

    def found(self, save: Save) -> None:
        self.last = save

    def wrote(self, command: str) -> None:
        if command not in self.written:
            self.written.append(command)

    def start(self) -> None:
        self.last, self.written = None, []

    def ended(self, failed: bool) -> list[str]:
        """The commands for what was written; of a test that passed nothing more is written."""
        if failed and self.last is not None:
            _, command = self.last()
            self.wrote(command)
        return self.written


FINDINGS = pytest.StashKey[Findings]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("deltaproof", "incremental view maintenance (deltaproof)")
    group.addoption(
        "--deltaproof-backend",
        action="append",
        metavar="NAME",
        help=f"a backend under test, as in `deltaproof conform -b`; repeat for several ({DEFAULT})",
    )
    group.addoption(
        "--deltaproof-out",
        metavar="DIR",
        default=OUT,
        help=f"where failing cases are written ({OUT})",
    )


def backends(config: pytest.Config) -> list[str]:
    return list(dict.fromkeys(config.getoption("--deltaproof-backend") or [DEFAULT]))


@pytest.hookimpl(tryfirst=True)  # before Hypothesis looks for its profile
def pytest_configure(config: pytest.Config) -> None:
    config.stash[FINDINGS] = Findings(Path(config.getoption("--deltaproof-out")))
    asked = config.getoption("--hypothesis-profile", None)
    named = asked or os.environ.get("HYPOTHESIS_PROFILE", "")
    if named.startswith(PROFILES):
        from deltaproof.properties import profiles

        if named not in profiles.PROFILES:
            known = ", ".join(profiles.PROFILES)
            raise pytest.UsageError(f"there is no Hypothesis profile {named!r}: there are {known}")
        if not asked:
            profiles.load()
    for name in config.getoption("--deltaproof-backend") or ():
        connected(name)


def connected(name: str) -> Backend:
    """The backend. Raises pytest.UsageError, on one line, for one that cannot be used."""
    from deltaproof.conformance.connect import backend
    from deltaproof.reference.errors import DeltaproofError

    try:
        return backend(name)
    except DeltaproofError as error:
        raise pytest.UsageError(f"--deltaproof-backend: {error}") from None


def pytest_report_header(config: pytest.Config) -> str:
    asked = config.getoption("--deltaproof-backend") or ()
    described = [f"{name} ({connected(name).describe()})" for name in dict.fromkeys(asked)]
    return f"deltaproof {own_version()}: {', '.join(described) or DEFAULT}"


def own_version() -> str:
    try:
        return version("deltaproof")
    except PackageNotFoundError:
        return "not installed"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "deltaproof_backend" in metafunc.fixturenames:
        names = backends(metafunc.config)
        metafunc.parametrize("deltaproof_backend", names, indirect=True, scope="session")


# ── Fixtures ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="session")
def deltaproof_backend(request: pytest.FixtureRequest) -> Backend:
    """The backend under test, ready to open sessions."""
    name = getattr(request, "param", None) or backends(request.config)[0]
    backend = connected(name)
    request.config.stash[FINDINGS].words[id(backend)] = name
    return backend


@pytest.fixture(scope="session")
def deltaproof_holds(
    request: pytest.FixtureRequest, deltaproof_backend: Backend
) -> Callable[[Query, Sequence[Mapping[str, ZSet]]], None]:
    """Raises AssertionError, explained, unless the view is its meaning after every tick.

    What the backend does not declare is no failure: the example is rejected, outside of
    Hypothesis the test is skipped.
    """
    findings = request.config.stash[FINDINGS]
    name = findings.words.get(id(deltaproof_backend), deltaproof_backend.name)

    def holds(query: Query, ticks: Sequence[Mapping[str, ZSet]]) -> None:
        __tracebackhide__ = True
        from deltaproof.conformance.case import Case
        from deltaproof.conformance.explain import replay_command
        from deltaproof.conformance.held import failure, not_asked
        from deltaproof.reference.errors import EvaluationError

        case = Case(query, tuple(ticks))
        try:
            reason = not_asked(deltaproof_backend, case)
            found = None if reason else failure(deltaproof_backend, case, name)
        except EvaluationError as error:
            reason = f"the query has no value for these ticks: {error}"
        if reason:
            passed_over(reason)
        if not found:
            return
        path = findings.folder / f"{case.identity}.case.json"

        def save() -> tuple[Path, str]:
            notes = {"backend": name, "class": found.kind}
            case.with_notes(found=notes).save(findings.folder)
            return path, replay_command(path, name, query)

        findings.found(save)
        raise AssertionError(found.explained(path))

    return holds


def passed_over(reason: str) -> None:
    """This example says nothing: another one, or none."""
    if "hypothesis" in sys.modules:
        from hypothesis import currently_in_test_context, reject

        if currently_in_test_context():
            reject()
    pytest.skip(reason)


@pytest.fixture(scope="session")
def deltaproof_machine(
    request: pytest.FixtureRequest, deltaproof_backend: Backend
) -> Callable[..., None]:
    """Runs the state machine of a query's view, or of random ones; see `conformance.machine`."""
    findings = request.config.stash[FINDINGS]
    name = findings.words.get(id(deltaproof_backend), deltaproof_backend.name)

    def runs(query: Query | None = None, **options: Any) -> None:
        from hypothesis.stateful import run_state_machine_as_test

        from deltaproof.conformance.machine import view_machine

        given: dict[str, Any] = {"out": findings.folder, "words": name} | options
        machine = view_machine(deltaproof_backend, query, **given)
        machine.wrote = findings.wrote
        run_state_machine_as_test(machine)

    return runs


@pytest.fixture(scope="session")
def deltaproof_laws(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`check_laws`, whose report it returns; it fails with the report when a law is refuted."""
    findings = request.config.stash[FINDINGS]

    def check(about: Any, *schemas: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        from deltaproof.properties.check import check_laws
        from deltaproof.properties.lawfile import LawFile

        report = check_laws(about, *schemas, **options)
        commands = []
        for verdict in report.verdicts:
            if verdict.counterexample and verdict.claimed:
                words, option = law_words(about)
                inputs = verdict.counterexample.inputs
                path = LawFile.of(verdict.law, inputs, words).save(findings.folder)
                commands.append(f"deltaproof replay {shlex.quote(str(path))}{option}")
                findings.wrote(commands[-1])
        if commands:
            raise AssertionError("\n".join([str(report), "", *commands]))
        return report

    return check


def law_words(about: Any) -> tuple[str, str]:
    """What a law file calls its operator, and what a replay must say besides to know it."""
    from deltaproof.conformance.target import words_of
    from deltaproof.reference.operators import OPERATORS

    about = getattr(about, "operator", None) or about
    kind = about if isinstance(about, type) or callable(about) else type(about)
    if kind in OPERATORS:
        return kind.name, ""
    words = words_of(kind)
    return words, f" --operator {shlex.quote(words)}"


# ── What was found ──────────────────────────────────────────────────────────────────────────


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    findings = item.config.stash[FINDINGS]
    findings.start()
    failed = True
    try:
        yield
        failed = False
    finally:
        for command in findings.ended(failed):
            item.user_properties.append((WRITTEN, command))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [each for kind in ("failed", "passed") for each in terminalreporter.getreports(kind)]
    commands = [
        command
        for report in reports
        for name, command in report.user_properties
        if name == WRITTEN and report.when == "call"
    ]
    if commands:
        terminalreporter.section("deltaproof: to see what failed again")
        for command in dict.fromkeys(commands):
            terminalreporter.write_line(str(command))
