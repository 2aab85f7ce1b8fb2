"""A failure explains itself: the query, the ticks so far, expected, got, and how to see it again.

    FAIL  aggregate.count@resurrect  contents/missing-row  on my_engine

      view      aggregate COUNT(*) AS n BY a
                └─ p
      sql       SELECT "a", COUNT(*) AS "n" FROM "p" GROUP BY "a"
      tables    p (id BIGINT, a VARCHAR)

      tick   p           expected   got
      ────────────────────────────────────────────────────────────
         1   +(1, 'x')   ('x', 1)   ('x', 1)
         2   -(1, 'x')   (empty)    (empty)
         3   +(2, 'x')   ('x', 1)   (empty)    <- first difference

      missing   ('x', 1)
      replay    deltaproof replay 5c1e.case.json -b my_engine

What is expected is recomputed here; what was got is told by whoever saw it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from deltaproof.conformance.adapter import Observed
from deltaproof.conformance.case import Case, Tick
from deltaproof.conformance.judge import Difference, Oracle
from deltaproof.conformance.target import operator_options
from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import zset_to_json
from deltaproof.reference.query import Query
from deltaproof.reference.scalar_tree import quoted
from deltaproof.reference.show import RULED, table_text, value_text
from deltaproof.reference.types import Row, Schema, Value
from deltaproof.reference.zset import Weight, ZSet

WIDTH = 100
CELL_WIDTHS = (60, 44, 36, 28, 22, 16, 1)  # tried in turn, until the table fits into WIDTH
ENTRIES = 12  # of a longer delta or view only the first are shown
SQL_DIALECT = "duckdb"
VIEW_HEADERS = {"contents": ("expected", "got"), "delta": ("expected change", "got change")}

Entry = Callable[[Row, Weight], str]


@dataclass(frozen=True)
class Seen:
    """One tick of the case: what changed, what was expected, and what was got, if that is known."""

    number: int
    changes: Tick
    expected: ZSet
    got: ZSet | None
    first_difference: bool
    restart: bool


def explain(
    case: Case,
    difference: Difference,
    backend_name: str,
    path: Path | None = None,
    also: str | Iterable[str] = (),
    observed: Sequence[Observed] = (),
) -> str:
    """The failure as plain text.

    path: where the case was saved; also: sentences to add, such as what shrinking took, or whom
    to blame; observed: what the backend showed at each tick, where that was kept.
    """
    what = compared(case, difference)
    entry = delta_entry if what == "delta" else contents_entry
    ticks = seen(case, difference, what, observed)
    sections = [
        heading(case, difference, backend_name),
        labelled(description(case)),
        tick_by_tick(case, ticks, what),
        labelled(
            [
                *([(difference.what, difference.message)] if difference.message else []),
                *spelled_out(case.query.schema, difference, entry),
                *(("note", sentence) for sentence in sentences(also)),
                ("replay", replay_command(path, backend_name, case.query)),
            ]
        ),
    ]
    return "\n\n".join([sections[0], *map(indented, sections[1:])])


def explain_json(
    case: Case,
    difference: Difference,
    backend_name: str,
    path: Path | None = None,
    also: str | Iterable[str] = (),
    observed: Sequence[Observed] = (),
) -> dict[str, Any]:
    """The failure as JSON: what `explain` says, in full."""
    what = compared(case, difference)
    schema, tables = case.query.schema, case.tables
    return {
        "cell": case.cell,
        "title": case.title,
        "class": difference.kind,
        "backend": backend_name,
        "tick": difference.tick,
        "compared": what,
        "message": difference.message,
        "query": case.query.to_json(),
        "tree": str(case.query),
        "sql": sql_of(case.query),
        "tables": {name: str(columns) for name, columns in tables.items()},
        "ticks": [
            {
                "tick": tick.number,
                "changes": {
                    name: entries_json(tables[name], delta)
                    for name, delta in tick.changes.items()
                    if delta
                },
                "expected": entries_json(schema, tick.expected),
                "got": None if tick.got is None else entries_json(schema, tick.got),
                "first_difference": tick.first_difference,
                "restart_after": tick.restart,
            }
            for tick in seen(case, difference, what, observed)
        ],
        "expected": entries_json(schema, difference.expected),
        "got": entries_json(schema, difference.got),
        "also": sentences(also),
        "replay": replay_command(path, backend_name, case.query),
    }


# --- what was seen ---


def compared(case: Case, difference: Difference) -> str:
    """Whether contents or deltas were compared; of a difference of types that is found out."""
    if difference.what in ("contents", "delta"):
        return difference.what
    contents = Oracle(case.query).expected(case).contents[difference.tick - 1 :]
    return "delta" if contents and difference.expected != contents[0] else "contents"


def seen(case: Case, difference: Difference, what: str, observed: Sequence[Observed]) -> list[Seen]:
    """The ticks up to the first difference."""
    expected = Oracle(case.query).expected(case)
    values = expected.deltas if what == "delta" else expected.contents
    ticks = zip(case.ticks[: difference.tick], values, strict=False)
    return [
        Seen(
            number,
            changes,
            value,
            difference.got if number == difference.tick else got_at(number, what, observed),
            number == difference.tick,
            number in case.restarts,
        )
        for number, (changes, value) in enumerate(ticks, 1)
    ]


def got_at(number: int, what: str, observed: Sequence[Observed]) -> ZSet | None:
    if number > len(observed):
        return None
    at = observed[number - 1]
    return at.delta if what == "delta" else at.contents


def sentences(also: str | Iterable[str]) -> list[str]:
    return [also] if isinstance(also, str) else list(also)


# --- the parts of the text ---


def heading(case: Case, difference: Difference, backend_name: str) -> str:
    head = f"FAIL  {case.cell or 'a case of no cell'}  {difference.kind}  on {backend_name}"
    return f"{head}\n  {case.title}" if case.title else head


def description(case: Case) -> list[tuple[str, str]]:
    """The query as a tree and as SQL, and the columns of its tables."""
    tables = "\n".join(f"{name} ({schema})" for name, schema in case.tables.items())
    sql = sql_of(case.query)
    lines = [("view", str(case.query)), ("sql", sql or ""), ("tables", tables)]
    return [(label, text) for label, text in lines if text]


def sql_of(query: Query) -> str | None:
    """The query as SQL, on one line where that is short; None where SQL has no words for it."""
    try:
        from deltaproof.reference.sql import to_sql  # needs sqlglot, which may not be installed

        line = to_sql(query, SQL_DIALECT)
        return line if len(line) < WIDTH - 12 else to_sql(query, SQL_DIALECT, pretty=True)
    except (ImportError, SchemaError):
        return None


def tick_by_tick(case: Case, ticks: Sequence[Seen], what: str) -> str:
    """The ticks as a table, or one below the other where a table would be too wide to read."""
    rest = len(case.ticks) - len(ticks)
    more = f"\n… and {rest} more tick{'s' * (rest > 1)}" if rest else ""
    for width in CELL_WIDTHS:
        text = table_text(table_of(case, ticks, what, width))
        if max(map(len, text.splitlines())) + 2 <= WIDTH:
            return text + more
    names = headers(case, what)
    blocks = ([*zip(names, cells(case, tick, what, WIDTH - 14), strict=True)] for tick in ticks)
    return "\n\n".join(labelled([(a, b) for a, b in each if b]) for each in blocks) + more


def table_of(case: Case, ticks: Sequence[Seen], what: str, width: int) -> Table:
    table = Table(box=RULED, pad_edge=False, show_edge=False)
    for name in headers(case, what):
        table.add_column(Text(name), justify="right" if name == "tick" else "left")
    for tick in ticks:
        table.add_row(*map(Text, cells(case, tick, what, width)))
    return table


def headers(case: Case, what: str) -> list[str]:
    return ["tick", *case.tables, *VIEW_HEADERS[what], ""]


def cells(case: Case, tick: Seen, what: str, width: int) -> list[str]:
    """The tick's number, the changes of each table, expected, got, and what is to be noted."""
    entry, empty = (delta_entry, "(none)") if what == "delta" else (contents_entry, "(empty)")

    def view(zset: ZSet) -> str:
        return wrapped(entries(case.query.schema, zset, entry), width) or empty

    changes = [
        wrapped(entries(columns, tick.changes.get(name, ZSet()), delta_entry), width)
        for name, columns in case.tables.items()
    ]
    got = "as expected" if tick.got is None else view(tick.got)
    marks = [("<- first difference", tick.first_difference), ("then restart", tick.restart)]
    mark = ", ".join(text for text, holds in marks if holds)
    return [str(tick.number), *changes, view(tick.expected), got, mark]


def spelled_out(schema: Schema, difference: Difference, entry: Entry) -> Iterator[tuple[str, str]]:
    """Every row whose weight is not what was expected, up to a limit."""
    expected, got = difference.expected, difference.got
    wrong = [(row, weight) for row, weight in (expected - got).items()]
    rows = [row for row, _ in in_order(schema, wrong)]
    for row in rows[:ENTRIES]:
        if row not in got:
            yield "missing", entry(row, expected[row])
        elif row not in expected:
            yield "extra", entry(row, got[row])
        else:
            weights = f"expected {expected[row]:+d}, got {got[row]:+d}"
            yield "weight", f"{row_text(row)}: {weights}"
    if len(rows) > ENTRIES:
        yield "", f"… and {len(rows) - ENTRIES} more rows"


def replay_command(path: Path | None, backend_name: str, query: Query | None = None) -> str:
    """The command that runs the case again; of a query it names the operators of the user's.

    >>> from pathlib import Path
    >>> replay_command(Path("out/my case.json"), "spark")
    "deltaproof replay 'out/my case.json' -b spark"
    """
    file = "FILE" if path is None else str(path)
    own = [] if query is None else operator_options(query)
    return shlex.join(["deltaproof", "replay", file, "-b", backend_name, *own])


# --- rows and layout ---


def entries(schema: Schema, zset: ZSet, entry: Entry) -> list[str]:
    """The entries in order, the first ones if there are many."""
    shown = [entry(row, weight) for row, weight in in_order(schema, zset.items())]
    rest = len(shown) - ENTRIES
    return shown if rest <= 0 else [*shown[:ENTRIES], f"… {rest} more"]


def in_order(schema: Schema, items: Iterable[tuple[Row, Weight]]) -> list[tuple[Row, Weight]]:
    """Sorted as the schema says; values that do not fit it are sorted by their text."""
    listed = list(items)
    try:
        return sorted(listed, key=lambda item: schema.sort_key(item[0]))
    except (TypeError, ValueError):
        return sorted(listed, key=lambda item: repr(item[0]))


def delta_entry(row: Row, weight: Weight) -> str:
    """A change of a row.

    >>> delta_entry(("b", None), -2), delta_entry((1,), 1)
    ("-('b', NULL)x2", '+(1)')
    """
    return ("+" if weight > 0 else "-") + row_text(row) + times(abs(weight))


def contents_entry(row: Row, weight: Weight) -> str:
    """A row that is there.

    >>> contents_entry(("b", None), 2), contents_entry((1,), -1)
    ("('b', NULL)x2", '-(1)')
    """
    return ("-" if weight < 0 else "") + row_text(row) + times(abs(weight))


def times(weight: Weight) -> str:
    return "" if weight == 1 else f"x{weight}"


def row_text(row: Row) -> str:
    return "(" + ", ".join(map(literal_text, row)) + ")"


def literal_text(value: Value) -> str:
    """The value so that no two look alike: text in quotes, 1 and 1.0 as they are."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(literal_text, value)) + "]"
    return value_text(value)


def entries_json(schema: Schema, zset: ZSet) -> list[Any]:
    """[[row, weight], …]; rows that do not fit the schema as text."""
    try:
        return zset_to_json(schema, zset)
    except (TypeError, ValueError, AttributeError):
        ordered = in_order(schema, zset.items())
        return [[list(map(literal_text, row)), weight] for row, weight in ordered]


def wrapped(words: Iterable[str], width: int) -> str:
    """The words on as many lines as it takes; no word is broken.

    >>> wrapped(["+(1)", "-(2)", "+(3)"], 10)
    '+(1) -(2)\\n+(3)'
    """
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def labelled(lines: Iterable[tuple[str, str]]) -> str:
    """Labels to the left of texts; the further lines of a text stand below its first.

    >>> print(labelled([("view", "distinct"), ("", "└─ t")]))
    view      distinct
              └─ t
    """
    lines = list(lines)
    width = max([9, *(len(label) for label, _ in lines)])
    return "\n".join(
        f"{label if first else '':<{width}} {line}"
        for label, text in lines
        for first, line in zip((True, *[False] * len(text)), text.splitlines(), strict=False)
    )


def indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.splitlines())
