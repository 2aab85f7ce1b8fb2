"""The text of a statement, and the place in it that an error points to."""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ParseError, TokenError

from deltaproof.reference.errors import SqlError, UsageError


class Ansi(Postgres):
    """The grammar of Postgres, with our order: NULLs come last unless said, also descending."""

    NULL_ORDERING = "nulls_are_last"


READERS: Mapping[str, type[Dialect]] = {
    "ansi": Ansi,
    "spark": Spark,
    "duckdb": DuckDB,
    "postgres": Postgres,
    "sqlite": SQLite,
}


class Text:
    """A text in one dialect.

    >>> Text("SELECT a\\nFROM t", "ansi").error("no such table", 2, 6)
    SqlError('line 2, column 6: no such table\\n  FROM t\\n       ^')
    """

    def __init__(self, text: str, dialect: str) -> None:
        if dialect not in READERS:
            raise UsageError(f"unknown SQL dialect {dialect!r}: there are {', '.join(READERS)}")
        self.text = text
        self.dialect = dialect

    def statements(self) -> list[exp.Expr]:
        """What sqlglot reads. Raises SqlError where it stops understanding."""
        try:
            found = sqlglot.parse(self.text, dialect=READERS[self.dialect])
        except ParseError as error:
            (first, *_) = error.errors or [{}]
            why = (first.get("description") or "not understood").partition(" but got <")[0]
            raise self.error(why, first.get("line") or 0, first.get("col") or 0) from None
        except TokenError as error:
            raise SqlError(f"not SQL: {error}") from None
        except RecursionError:
            raise self.too_deep() from None
        return [statement for statement in found if statement is not None]

    def error(self, message: str, line: int, column: int) -> SqlError:
        """The error, the line, and a caret under the place."""
        lines = self.text.splitlines()
        if not 1 <= line <= len(lines):
            return SqlError(message)
        shown, start = lines[line - 1], max(0, column - 60)
        clipped = shown[start : start + 100]
        caret = " " * (column - 1 - start) + "^"
        where = f"line {line}, column {column}"
        return SqlError(f"{where}: {message}\n  {clipped}\n  {caret}", line, column)

    def refusal(self, node: exp.Expr | None, message: str) -> SqlError:
        """The error at the first place that sqlglot remembers of a node, or of one around it."""
        while node is not None:
            places = [each.meta for each in node.walk() if "line" in each.meta]
            if places:
                first = min(places, key=lambda meta: int(meta["start"]))
                width = int(first["end"]) - int(first["start"])
                return self.error(message, first["line"], first["col"] - width)
            node = node.parent
        return SqlError(message)

    def too_deep(self) -> SqlError:
        return SqlError(
            "nested too deeply: name the inner parts in a WITH and read them from there"
        )
