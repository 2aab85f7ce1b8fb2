"""A Z-set prints as a table: its columns, and its weights with their signs."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.box import Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deltaproof.reference.types import Value

if TYPE_CHECKING:
    from deltaproof.reference.zset import ZSet

RULED = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")  # one rule, below the header


def zset_table(zset: ZSet) -> str:
    """The table that `print(zset)` shows; the empty Z-set is a sentence.

    >>> from deltaproof.reference.zset import ZSet
    >>> print(ZSet())
    (empty)
    """
    if not zset:
        return "(empty)"
    names = zset.schema.names if zset.schema else [f"_{i}" for i in range(len(next(iter(zset))))]
    table = Table(box=RULED, pad_edge=False, show_edge=False)
    for name in names:
        table.add_column(Text(name))
    table.add_column("weight", justify="right")
    for row, weight in zset.sorted_items():
        shown = f"{weight:+d}" if isinstance(weight, int) else str(weight)
        table.add_row(*(Text(value_text(value)) for value in row), shown)
    return table_text(table)


def table_text(table: Table) -> str:
    """A rich table as plain lines, as wide as it needs to be, without trailing blanks."""
    console = Console(file=StringIO(), width=10_000, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def value_text(value: Value) -> str:
    """A value as a reader expects it: NULL, true, text without quotes.

    >>> value_text(None), value_text(True), value_text("")
    ('NULL', 'true', "''")
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return str(value) if value != "" else "''"
