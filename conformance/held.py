"""A backend is held to one case: asked whether it can run it, judged, and explained when it fails.

not_asked(backend, case)     why the backend cannot be asked about this case, if it cannot
failure(backend, case)       how it fails on the case; None when the square commutes
Failure.explained(path)      that in words, with the command that shows it again
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from deltaproof.conformance.adapter import (
    Backend,
    Observed,
    needs,
    unsupported,
    value_capabilities,
)
from deltaproof.conformance.case import Case
from deltaproof.conformance.explain import (
    description,
    explain,
    heading,
    indented,
    labelled,
    replay_command,
)
from deltaproof.conformance.judge import Difference, Expected, Judge, Oracle, run_cases
from deltaproof.conformance.pools import ADDING, adding_needs
from deltaproof.conformance.suite import in_shape
from deltaproof.properties.show import shown
from deltaproof.reference.query import Query
from deltaproof.reference.types import DOUBLE, Row, Schema
from deltaproof.reference.zset import ZSet

HUGE = 10_000_000  # from here on a weight is one that a backend may not hold
EXACT = 1e6  # a sum of doubles up to here, and not far below one, loses less than the tolerance


def not_asked(backend: Backend, case: Case) -> str | None:
    """Why this backend cannot be asked about the case; None when it can.

    >>> from deltaproof.conformance.connect import backend
    >>> from deltaproof.reference.query import table
    >>> case = Case(table("t", "k BIGINT").distinct(), ({"t": ZSet({(7,): -1})},))
    >>> not_asked(backend("sqlite"), case)
    'sqlite does not declare weights.signed'
    """
    return unsupported(backend, case.query, asks(case))


def asks(case: Case) -> frozenset[str]:
    """The capabilities that a case needs, beyond its operators and types."""
    asked = {"restart"} if case.restarts else set()
    sums = {name: ZSet() for name in case.tables}
    for tick in case.ticks:
        for name, delta in tick.items():
            asked |= row_capabilities(case.query, case.tables[name], delta)
            sums[name] = sums[name] + delta
            if any(abs(weight) >= HUGE for _, weight in delta.items()):
                asked.add("weights.huge")
            if not all(sums[name][row] >= 0 for row in delta):
                asked.add("weights.signed")
    return frozenset(asked)


def row_capabilities(query: Query, schema: Schema, rows: Iterable[Row]) -> set[str]:
    """What the values in these rows ask of a backend that keeps the query.

    >>> from deltaproof.reference.query import sum_, table
    >>> from deltaproof.reference.scalar import col
    >>> t = table("t", "x DOUBLE")
    >>> total = t.group_by().aggregate(total=sum_(col("x")))
    >>> row_capabilities(total, t.schema, [(1e16,)]), row_capabilities(t, t.schema, [(1e16,)])
    ({'sum.exact'}, set())
    """
    rows = list(rows)
    if not rows:
        return set()
    asked = value_capabilities(schema, rows) | adding_needs(query, chain.from_iterable(rows))
    if DOUBLE in schema.types and not ADDING.isdisjoint(needs(query)):
        columns = zip(schema.types, zip(*rows, strict=True), strict=True)
        doubles = (abs(x) for kind, column in columns if kind == DOUBLE for x in column if x)
        if not all(1 / EXACT <= x <= EXACT for x in doubles):
            asked.add("sum.exact")
    return asked


@dataclass(frozen=True)
class Failure:
    """A case on which a backend fails: by what it showed, or by an error."""

    case: Case
    backend: str  # the words that it was asked for by
    difference: Difference | None
    observed: Sequence[Observed] = ()
    error: str = ""

    @property
    def kind(self) -> str:
        """The class of the failure, as the suite names it."""
        return self.difference.kind if self.difference else f"crash/{self.error.partition(':')[0]}"

    def explained(self, path: Path | None = None, also: str | Iterable[str] = ()) -> str:
        """The failure as text; `path` is where the case is kept, `also` sentences to add."""
        case = self.case
        if self.difference:
            return explain(case, self.difference, self.backend, path, also, self.observed)
        notes = [also] if isinstance(also, str) else list(also)
        told = labelled(
            [
                *description(case),
                *ticks_of(case),
                ("error", self.error),
                *(("note", sentence) for sentence in notes),
                ("replay", replay_command(path, self.backend, self.case.query)),
            ]
        )
        crash = Difference(len(case.ticks), "ticks", ZSet(), ZSet(), self.error)
        head = heading(case, crash, self.backend).replace("ticks", self.kind, 1)
        return f"{head}\n\n{indented(told)}"


def ticks_of(case: Case) -> Iterator[tuple[str, str]]:
    """Each tick on a line, and where the engine is stopped and started."""
    for number, tick in enumerate(case.ticks, 1):
        restarted = ", then a restart" if number in case.restarts else ""
        yield f"tick {number}", f"{shown(dict(tick))}{restarted}"


def failure(backend: Backend, case: Case, words: str = "") -> Failure | None:
    """How the backend fails on the case; None when it does not.

    Raises EvaluationError when the query has no value for these ticks.

    >>> from deltaproof.conformance.connect import backend
    >>> from deltaproof.reference.query import table
    >>> case = Case(table("t", "k BIGINT").distinct(), ({"t": ZSet({(7,): 2})},))
    >>> print(failure(backend("reference"), case))
    None
    """
    expected = Oracle(case.query).expected(case)
    name = words or backend.name
    try:
        (answer,) = run_cases(backend, [case])
        observed = in_shape(answer)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # an engine's, so its crash
        return Failure(case, name, None, error=raised(error))
    found = judged(backend, case.query, expected, observed)
    return None if found is None else Failure(case, name, found, observed)


def judged(
    backend: Backend, query: Query, expected: Expected, observed: Sequence[Observed]
) -> Difference | None:
    return Judge(query.schema, backend.tolerance).difference(expected, observed)


def raised(error: BaseException) -> str:
    """An engine's error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
