"""Random SQL, subqueries inside subqueries, means here what it means to DuckDB.

The texts put together what `test_sql_queries` has one by one, as nobody would by hand.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, TypeAlias

import pytest

from deltaproof.reference.errors import SqlError
from deltaproof.reference.sql import create_table, parse
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

TABLES = {
    "t": Schema.parse("k BIGINT, v BIGINT"),
    "r": Schema.parse("k BIGINT, w BIGINT"),
    "u": Schema.parse("a BIGINT NOT NULL"),
}
# DuckDB 2.0.0 with it: EXISTS (SELECT * FROM r LEFT JOIN t ON r.w = t.k AND t.v < t.k) is FALSE
# though that join has rows
OPTIMIZER_AT_FAULT = "statistics_propagation"
TEXTS = 100

Source: TypeAlias = tuple[str, str]  # an alias, and its table
Scopes: TypeAlias = list[list[Source]]  # of the queries around, the innermost last


class Writer:
    """Writes random SELECTs over the tables."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.aliases = 0

    def select(self) -> str:
        text, sources = self.source(top=True)
        where = f" WHERE {self.condition([sources], 2)}" if self.chance(0.8) else ""
        column = self.column([sources])
        if self.chance(0.2):
            total = f"SUM({self.column([sources])})"
            return f"SELECT {column}, COUNT(*), {total} FROM {text}{where} GROUP BY {column}"
        items = [column, self.column([sources])]
        if self.chance(0.4):
            items.append(f"({self.scalar([sources], 1)})")
        if self.chance(0.2):
            items.append(f"({self.condition([sources], 1)})")
        return f"SELECT {', '.join(items)} FROM {text}{where}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def source(self, top: bool = False) -> tuple[str, list[Source]]:
        """One table, or two in a join."""
        (first, text), (second, other) = self.table(), self.table()
        if self.chance(0.5):
            return text, [first]
        if self.chance(0.3):
            return f"{text}, {other}", [first, second]
        kinds = ["JOIN", "LEFT JOIN", *(["RIGHT JOIN", "FULL JOIN"] if top else [])]
        kind = self.random.choice(kinds)
        on = f"{self.column([[first]])} = {self.column([[second]])}"
        if kind != "FULL JOIN" and self.chance(0.4):
            both = [[first, second]]
            on += f" AND {self.column(both)} {self.comparison()} {self.column(both)}"
        return f"{text} {kind} {other} ON {on}", [first, second]

    def table(self) -> tuple[Source, str]:
        self.aliases += 1
        name, alias = self.random.choice(list(TABLES)), f"x{self.aliases}"
        return (alias, name), f"{name} {alias}"

    def column(self, scopes: Scopes) -> str:
        """A column of the innermost query, or of one around it."""
        inner = len(scopes) == 1 or self.chance(0.6)
        alias, name = self.random.choice(scopes[-1] if inner else self.random.choice(scopes[:-1]))
        return f"{alias}.{self.random.choice(TABLES[name].names)}"

    def comparison(self) -> str:
        return self.random.choice(["=", "=", "<", ">", "<>", "<=", ">="])

    def value(self, scopes: Scopes) -> str:
        column = self.column(scopes)
        return self.random.choice([column, column, f"{column} + 1", "0", "1"])

    def condition(self, scopes: Scopes, depth: int) -> str:
        plain = f"{self.value(scopes)} {self.comparison()} {self.value(scopes)}"
        if depth == 0 or self.chance(0.3):
            return plain
        inner, value = depth - 1, self.value(scopes)
        negated = self.random.choice(["", "NOT "])
        match self.random.randrange(8):
            case 0:
                return f"{self.column(scopes)} IS {negated}NULL"
            case 1:
                both = self.condition(scopes, inner), self.condition(scopes, inner)
                return f"({self.random.choice([' AND ', ' OR ']).join(both)})"
            case 2:
                return f"NOT ({self.condition(scopes, inner)})"
            case 3 | 4:
                return f"{negated}EXISTS ({self.rows(scopes, inner, '*')})"
            case 5:
                return f"{value} {negated}IN ({self.rows(scopes, inner)})"
            case 6:
                word = self.random.choice(["ANY", "ALL"])
                return f"{value} {self.comparison()} {word} ({self.rows(scopes, inner)})"
            case _:
                return f"{value} {self.comparison()} ({self.scalar(scopes, inner)})"

    def scalar(self, scopes: Scopes, depth: int) -> str:
        """An aggregate without GROUP BY."""
        text, sources = self.source()
        column = self.column([sources])
        calls = [f"MAX({column})", f"SUM({column})", "COUNT(*)", f"COUNT({column}) + 1"]
        where = f" WHERE {self.condition([*scopes, sources], depth)}" if self.chance(0.9) else ""
        having = " HAVING COUNT(*) > 1" if self.chance(0.1) else ""
        return f"SELECT {self.random.choice(calls)} FROM {text}{where}{having}"

    def rows(self, scopes: Scopes, depth: int, items: str = "") -> str:
        """A subquery of one column, or of these items."""
        text, sources = self.source()
        inside = [*scopes, sources]
        where = f" WHERE {self.condition(inside, depth)}" if self.chance(0.9) else ""
        column = self.column([sources])
        if items:
            return f"SELECT {items} FROM {text}{where}"
        match self.random.randrange(8):
            case 0:
                having = self.random.choice(["", " HAVING COUNT(*) > 1"])
                return f"SELECT {column} FROM {text}{where} GROUP BY {column}{having}"
            case 1:
                word = self.random.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
                return f"SELECT {column} FROM {text}{where} {word} {self.rows(scopes, 0)}"
            case 2:
                return f"SELECT DISTINCT {self.column(inside)} FROM {text}{where}"
            case _:
                return f"SELECT {column} FROM {text}{where}"


class Database:
    """The same random rows in DuckDB and as Z-sets."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.contents: dict[str, ZSet] = {}
        self.connection: Any = pytest.importorskip("duckdb").connect(config={"threads": 1})
        self.connection.execute(f"SET disabled_optimizers = '{OPTIMIZER_AT_FAULT}'")
        for name, schema in TABLES.items():
            rows = [self.row(random, schema) for _ in range(random.choice((0, 4, 6, 9)))]
            self.contents[name] = ZSet([(row, 1) for row in rows], schema)
            self.connection.execute(create_table(name, schema, "duckdb"))
            places = ", ".join("?" for _ in schema.columns)
            for row in rows:
                self.connection.execute(f"INSERT INTO {name} VALUES ({places})", row)

    @staticmethod
    def row(random: Random, schema: Schema) -> Row:
        return tuple(
            None if each.nullable and random.random() < 0.25 else random.choice((0, 1, 1, 2, 3))
            for each in schema.columns
        )

    def answer(self, text: str) -> Counter[Row]:
        return Counter(self.connection.execute(text).fetchall())


@pytest.mark.parametrize("seed", range(3))
def test_random_texts_mean_what_they_mean_to_duckdb(seed: int) -> None:
    databases = [Database(number) for number in range(1, 4)]
    refused = 0
    for number in range(TEXTS):
        text = Writer(Random(f"{seed}/{number}")).select()
        try:
            meaning = parse(text, TABLES, "duckdb").meaning()
        except SqlError:
            refused += 1
            continue
        for database in databases:
            ours = Counter(dict(meaning(database.contents).items()))
            assert ours == database.answer(text), text
    assert refused == 0
