"""SQL is the query in other words: SQLite and DuckDB answer as the reference does."""

from __future__ import annotations

import datetime
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from sqlglot import exp

from deltaproof.reference import sql, sql_calls, sql_scalar
from deltaproof.reference.errors import SchemaError, UsageError
from deltaproof.reference.operator import Pairing
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query, apply, avg, count, max_, min_, sum_, table
from deltaproof.reference.scalar import (
    Expr,
    array,
    case,
    cast,
    coalesce,
    col,
    concat,
    length,
    lit,
    lower,
    null,
    sample_expression,
    sample_predicate,
    sample_value,
    substring,
    upper,
    year,
)
from deltaproof.reference.sql import create_table, expression_sql, to_sql
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Row,
    Schema,
    Type,
    Value,
)
from deltaproof.reference.zset import ZSet

PLAIN = "b BOOLEAN, k BIGINT, n BIGINT NOT NULL, v DOUBLE, s VARCHAR, d DATE, t TIMESTAMP"
COLUMNS = {
    "sqlite": Schema.parse(PLAIN),
    "duckdb": Schema.parse(f"{PLAIN}, m DECIMAL(20,2), q DECIMAL(4,1), xs ARRAY(BIGINT)"),
}
ENGINES = tuple(COLUMNS)


class Engine:
    """SQLite or DuckDB in memory, its values read back as the reference keeps them."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        if dialect == "sqlite":
            self.connection: Any = sqlite3.connect(":memory:")
        else:
            self.connection = pytest.importorskip("duckdb").connect(config={"threads": 1})

    def load(self, name: str, schema: Schema, rows: Iterable[Row]) -> None:
        self.connection.execute(create_table(name, schema, self.dialect))
        places = ", ".join("?" for _ in schema.columns)
        for row in rows:
            values = [self.written(kind, v) for kind, v in zip(schema.types, row, strict=True)]
            self.connection.execute(f'INSERT INTO "{name}" VALUES ({places})', values)

    def answer(self, select: str, types: Sequence[Type]) -> list[Row]:
        rows = self.connection.execute(select).fetchall()
        return [tuple(map(self.read, types, row)) for row in rows]

    def types_of(self, select: str) -> list[str]:
        """DuckDB's types of the answer's columns, in our words."""
        described = self.connection.execute(f"DESCRIBE {select}").fetchall()
        return [re.sub(r"(.*)\[\]", r"ARRAY(\1)", str(kind)) for _, kind, *_ in described]

    def written(self, kind: Type, value: Value) -> Any:
        if self.dialect == "sqlite" and kind in (DATE, TIMESTAMP):
            return kind.to_json(value)
        return list(value) if isinstance(value, tuple) else value

    def read(self, kind: Type, value: Any) -> Value:
        if value is None:
            return None
        if self.dialect == "sqlite" and kind in (DATE, TIMESTAMP):
            return kind.from_json(value)
        if self.dialect == "sqlite" and kind == BOOLEAN:
            return {0: False, 1: True}[value]
        return kind.canonical(value)


def random_rows(random: Random, schema: Schema, number: int) -> list[Row]:
    return [
        tuple(
            None
            if column.nullable and random.random() < 0.25
            else sample_value(random, column.type)
            for column in schema.columns
        )
        for _ in range(number)
    ]


# --- expressions ---


def disagreements(dialect: str, seed: int, rounds: int) -> list[str]:
    """Of 20 random expressions a round over 10 rows, those on which engine and closure differ."""
    random, schema, engine = Random(seed), COLUMNS[dialect], Engine(dialect)
    rows = random_rows(random, schema, 10)
    if dialect == "duckdb":
        rows = [(*row[:3], NAN, *row[4:]) if n % 5 == 0 else row for n, row in enumerate(rows)]
    numbered = Schema((*Schema.parse("_row BIGINT").columns, *schema.columns))
    engine.load("t", numbered, ((n, *row) for n, row in enumerate(rows)))
    found = []
    for _ in range(rounds):
        kinds = [random.choice(schema.types) for _ in range(20)]
        expressions = [sample_expression(random, schema, kind, depth=3) for kind in kinds]
        if dialect == "sqlite":
            kinds, expressions = without_arrays(kinds, expressions)
        texts = [expression_sql(expression, schema, dialect) for expression in expressions]
        select = f"SELECT {', '.join(texts)} FROM t ORDER BY _row"
        columns = zip(*engine.answer(select, kinds), strict=True)
        for expression, text, got in zip(expressions, texts, columns, strict=True):
            expected = tuple(map(expression.compile(schema), rows))
            if got != expected:
                found.append(f"{expression}\n{text}\nexpected {expected}\ngot      {got}")
        if dialect == "duckdb" and engine.types_of(select) != list(map(str, kinds)):
            found.append(f"types of {select}\nexpected {kinds}")
    return found


def without_arrays(kinds: list[Type], expressions: list[Expr]) -> tuple[list[Type], list[Expr]]:
    kept = [pair for pair in zip(kinds, expressions, strict=True) if pair[0] in sql.SQLITE_TYPES]
    return [kind for kind, _ in kept], [expression for _, expression in kept]


@pytest.mark.parametrize("dialect", ENGINES)
def test_engine_and_closure_agree_on_random_expressions_and_rows(dialect: str) -> None:
    assert disagreements(dialect, seed=1, rounds=40) == []


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (sql_scalar, "OPERATIONS", {**sql_scalar.OPERATIONS, "<": exp.LTE}),
        (sql_calls, "PRINTED", {**sql_calls.PRINTED, "lower": sql_calls.PRINTED["upper"]}),
    ],
)
def test_a_wrongly_printed_operation_is_noticed(
    module: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert disagreements("duckdb", seed=1, rounds=40)


EDGES: list[tuple[Expr, Value]] = [
    (lit(BIGINT_MAX), BIGINT_MAX),
    (lit(BIGINT_MIN), BIGINT_MIN),
    (lit(7) / 2, 3.5),
    (lit(-7) % 3, -1),
    (lit(1) - (lit(2) - 3), 2),
    (lit(2) * (lit(2) + 3), 10),
    (-(lit(2) - 3), 1),
    (-lit(-2), 2),
    (lit(8.0) / (lit(4.0) / 2.0), 4.0),
    (lit(1e300) * 1e10 > 1e308, True),
    (lit(math.inf), math.inf),
    (lit(-math.inf) < -1e308, True),
    (lit(5e-324), 5e-324),
    (lit(0.1) + 0.2, 0.1 + 0.2),
    (cast(lit(-2.9), BIGINT), -2),
    (cast(lit(2.5), BIGINT), 2),
    (cast(lit(BIGINT_MIN), VARCHAR), str(BIGINT_MIN)),
    (cast(lit(True), BIGINT), 1),
    (lit("it's \\ \" % ü\n"), "it's \\ \" % ü\n"),
    (lower("ÀB"), "Àb"),
    (upper("àb"), "àB"),
    (length("a🤦e\u0301"), 4),
    (substring("a🤦bc", 2, 2), "🤦b"),
    (substring("abc", 3, 9), "c"),
    (substring("abc", 4, 1), ""),
    (concat("a", "", "b"), "ab"),
    (lit("B") < "a", True),
    (lit("😀") > "\uffff", True),
    (lit("AB").like("a%"), False),
    (lit("a\nb").like("a_b"), True),
    (lit("a*b[?]").like("a*_[?]"), True),
    (lit("a\\b").like("a\\_"), True),
    (lit("a_").like("a\\_"), False),
    (coalesce(null(BIGINT)), None),
    (case((null(BOOLEAN), 1)), None),
    ((lit(1) > 2).eq(lit(2) > 3), True),
    (~(lit(1) > 2) & (null(BOOLEAN) | True), True),
    ((null(BIGINT) > 1).is_null(), True),
    (null(BIGINT).is_distinct_from(null(BIGINT)), False),
    (year(datetime.date(987, 1, 2)), 987),
    (cast(lit(datetime.date(987, 1, 2)), VARCHAR), "0987-01-02"),
    (cast(lit(datetime.date(2013, 1, 2)), TIMESTAMP), datetime.datetime(2013, 1, 2)),
    (cast(lit(datetime.datetime(2013, 1, 2, 3, 4, 5, 6)), DATE), datetime.date(2013, 1, 2)),
    (lit(datetime.datetime(2013, 1, 2, 3, 4, 5, 6)), datetime.datetime(2013, 1, 2, 3, 4, 5, 6)),
    (lit(datetime.datetime(2013, 1, 2)) < datetime.datetime(2013, 1, 2, 0, 0, 0, 1), True),
]
DECIMAL_EDGES: list[tuple[Expr, Value]] = [
    (lit(NAN) > math.inf, True),
    (lit(NAN).eq(NAN), True),
    (lit(Decimal("1.50")) * lit(Decimal("-0.5")), Decimal("-0.750")),
    (lit(Decimal("9.9")) + lit(Decimal("0.01")), Decimal("9.91")),
    (lit(Decimal("0.30")).eq(Decimal("0.3")), True),
    (cast(lit(7), DECIMAL(38, 10)) - lit(Decimal(1)), Decimal("6.0000000000")),
    (cast(lit(Decimal("0.1")), DOUBLE), 0.1),
    (cast(lit(Decimal("1.5")), DECIMAL(5, 3)), Decimal("1.500")),
    (array(lit(1), null(BIGINT)), (1, None)),
]


@pytest.mark.parametrize("dialect", ENGINES)
def test_engine_and_closure_agree_at_the_edges(dialect: str) -> None:
    engine, nothing = Engine(dialect), Schema(())
    edges = EDGES if dialect == "sqlite" else EDGES + DECIMAL_EDGES
    for expression, expected in edges:
        assert expression.compile(nothing)(()) == expected, str(expression)
        kind = expression.type_in(nothing)
        text = expression_sql(expression, nothing, dialect)
        assert engine.answer(f"SELECT {text}", [kind]) == [(expected,)], text
        if dialect == "duckdb":
            assert engine.types_of(f"SELECT {text}") == [str(kind)], text


# --- queries ---

TABLES = {
    "a": Schema.parse("k BIGINT, v DOUBLE, s VARCHAR, b BOOLEAN NOT NULL"),
    "c": Schema.parse("x BIGINT NOT NULL, d DATE, t TIMESTAMP, u VARCHAR"),
    "clock": Schema.parse("now BIGINT"),
}


def random_query(random: Random, depth: int, dialect: str) -> Query:
    """A tree of operators that this dialect can say, at most this deep."""
    if depth == 0:
        name = random.choice(list(TABLES))
        return table(name, TABLES[name])
    kind = random.choice(OPERATORS)
    inputs = [random_query(random, depth - 1, dialect) for _ in range(kind.arity)]
    if kind.pairing is Pairing.SAME_TYPES:
        inputs[1] = inputs[0].filter(sample_predicate(random, inputs[0].schema))
    elif kind.pairing is Pairing.CLOCK:
        inputs[1] = table("clock", TABLES["clock"])
    elif kind.arity == 2:
        inputs[1] = inputs[1].prefix("r_")
    operator = kind.sample(random, *[each.schema for each in inputs])
    query = inputs[0] if operator is None else apply(operator, *inputs)
    return query if is_said(query, dialect) else inputs[0]


def is_said(query: Query, dialect: str) -> bool:
    """Whether the dialect has words for it, and a type for each of its columns."""
    try:
        create_table("t", query.schema, dialect)
        return bool(query.lifted and to_sql(query, dialect))
    except SchemaError:
        return False


def random_contents(random: Random) -> dict[str, ZSet]:
    return {
        name: ZSet([(row, 1) for row in random_rows(random, schema, 5)], schema)
        for name, schema in TABLES.items()
    }


def rounded(zset: ZSet) -> ZSet:
    """Engines round a sum of DOUBLEs at every step."""
    return ZSet(
        (tuple(float(f"{v:.9g}") if isinstance(v, float) else v for v in row), weight)
        for row, weight in zset.items()
    )


def rows_of(zset: ZSet) -> Iterator[Row]:
    return (row for row, weight in zset.items() for _ in range(weight))


@pytest.mark.parametrize("dialect", ENGINES)
def test_engine_and_meaning_agree_on_random_queries(dialect: str) -> None:
    random, engine = Random(7), Engine(dialect)
    contents = random_contents(random)
    for name, schema in TABLES.items():
        engine.load(name, schema, rows_of(contents[name]))
    for _ in range(60):
        query = random_query(random, 3, dialect)
        text = to_sql(query, dialect)
        got = ZSet([(row, 1) for row in engine.answer(text, query.schema.types)])
        assert rounded(got) == rounded(query.meaning()(contents)), f"{query}\n{text}"
        if dialect == "duckdb":
            assert engine.types_of(text) == list(map(str, query.schema.types)), text


def test_a_table_can_be_replaced_by_the_part_of_it_that_an_outer_row_chooses() -> None:
    """One statement asks DuckDB for the view at many moments."""
    random, engine = Random(8), Engine("duckdb")
    # 2.0.0 fails inside when it inlines CTEs that depend on an outer row
    engine.connection.execute("SET disabled_optimizers = 'cte_inlining'")
    moments = [random_contents(random) for _ in range(3)]
    engine.load("moments", Schema.parse("moment BIGINT"), [(n,) for n in range(len(moments))])
    for name, schema in TABLES.items():
        columns = Schema((*Schema.parse("moment BIGINT").columns, *schema.columns))
        rows = ((n, *row) for n, each in enumerate(moments) for row in rows_of(each[name]))
        engine.load(name, columns, rows)
    chosen = {
        name: exp.select(*[exp.column(column, quoted=True) for column in schema.names])
        .from_(exp.to_identifier(name, quoted=True))
        .where(exp.column("moment", name).eq(exp.column("moment", "moments")))
        for name, schema in TABLES.items()
    }
    for _ in range(25):
        query = random_query(random, 2, "duckdb")
        text = (
            f"SELECT moments.moment, _view.*, COUNT(*) FROM moments, "
            f"LATERAL ({to_sql(query, 'duckdb', chosen)}) AS _view GROUP BY ALL"
        )
        answer = engine.answer(text, (BIGINT, *query.schema.types, BIGINT))
        for moment, contents in enumerate(moments):
            got = ZSet([(row[1:-1], row[-1]) for row in answer if row[0] == moment])
            assert rounded(got) == rounded(query.meaning()(contents)), f"{query}\n{text}"


FLIGHTS = table("flights", "carrier VARCHAR, delay BIGINT, cost DECIMAL(10,2), late BOOLEAN")


def test_a_subtree_that_is_used_twice_is_printed_once() -> None:
    late = FLIGHTS.filter(col("delay") > 15).project("carrier")
    assert to_sql(late.union_all(late), "sqlite") == (
        'WITH "_q1" AS (SELECT "carrier", "delay", "cost", "late" FROM "flights" '
        'WHERE "delay" > 15), '
        '"_q2" AS (SELECT "carrier" FROM "_q1") '
        'SELECT "carrier" FROM "_q2" UNION ALL SELECT "carrier" FROM "_q2"'
    )


def test_columns_of_a_join_say_their_side() -> None:
    both = FLIGHTS.project("carrier").join(
        table("airlines", "code VARCHAR, name VARCHAR"), on={"carrier": "code"}
    )
    assert to_sql(both, "spark") == (
        "WITH `_q1` AS (SELECT `carrier` FROM `flights`) "
        "SELECT `_q1`.`carrier`, `airlines`.`code`, `airlines`.`name` "
        "FROM `_q1` INNER JOIN `airlines` ON `_q1`.`carrier` = `airlines`.`code`"
    )


def test_a_table_may_have_the_name_of_a_step_and_columns_may_have_any_name() -> None:
    odd = table("_Q1", 'select BIGINT, "quoted" BIGINT, Größe VARCHAR')
    query = odd.filter(col("select") > 0).distinct()
    for dialect in ENGINES:
        engine = Engine(dialect)
        engine.load("_Q1", odd.schema, [(1, 2, "a"), (1, 2, "a"), (0, 0, "b")])
        text = to_sql(query, dialect)
        assert engine.answer(text, odd.schema.types) == [(1, 2, "a")], text


@pytest.mark.parametrize("dialect", ENGINES)
def test_a_new_name_never_hides_the_column_of_that_name(dialect: str) -> None:
    odd = table("t", "a BIGINT, b BIGINT")
    swapped = odd.map(b=col("a") + 1, a=col("b")).filter(col("a") > 1)
    query = swapped.group_by("b").aggregate(a=max_(col("a")), c=sum_(col("a")), n=count())
    engine = Engine(dialect)
    engine.load("t", odd.schema, [(1, 2), (1, 3), (2, 1)])
    assert engine.answer(to_sql(query, dialect), query.schema.types) == [(2, 3, 5, 2)]


def test_aggregates_come_in_the_types_of_the_schema_rule() -> None:
    calls = {
        "n": count(),
        "total": sum_(col("delay")),
        "cost": sum_(col("cost")),
        "mean": avg(col("cost")),
        "ever": max_(col("late")),
        "always": min_(col("late")),
    }
    query = FLIGHTS.aggregate(**calls)
    engine = Engine("duckdb")
    engine.load("flights", FLIGHTS.schema, [])
    text = to_sql(query, "duckdb")
    assert engine.answer(text, query.schema.types) == [(0, None, None, None, None, None)]
    assert engine.types_of(text) == list(map(str, query.schema.types))
    engine.connection.execute(
        "INSERT INTO flights VALUES ('UA', 3, 1.25, true), (NULL, 4, 1, NULL)"
    )
    expected = (2, 7, Decimal("2.25"), 1.125, True, True)
    assert engine.answer(text, query.schema.types) == [expected]
    assert "BOOL_OR" in to_sql(query, "postgres")


@pytest.mark.parametrize(
    ("dialect", "select"),
    [
        (
            "ansi",
            'SELECT "k", "e" FROM "t" '
            'CROSS JOIN UNNEST(ARRAY["k", CAST(0 AS BIGINT)]) AS "_e"("e")',
        ),
        ("sqlite", 'SELECT "k", "k" AS "e" FROM "t" UNION ALL SELECT "k", 0 AS "e" FROM "t"'),
        ("duckdb", 'SELECT "k", UNNEST(["k", CAST(0 AS BIGINT)]) AS "e" FROM "t"'),
        ("spark", "SELECT `k`, EXPLODE(ARRAY(`k`, CAST(0 AS BIGINT))) AS `e` FROM `t`"),
        ("postgres", 'SELECT "k", UNNEST(ARRAY["k", CAST(0 AS BIGINT)]) AS "e" FROM "t"'),
    ],
)
def test_each_dialect_has_its_own_unnest(dialect: str, select: str) -> None:
    assert to_sql(table("t", "k BIGINT").flat_map(array(col("k"), 0), "e"), dialect) == select


def test_an_array_column_is_unnested_null_and_empty_give_no_row() -> None:
    query = table("t", "k BIGINT, xs ARRAY(BIGINT)").flat_map(col("xs"), "x").project("k", "x")
    engine = Engine("duckdb")
    engine.load("t", query.tables()["t"], [(1, (1, None)), (2, ()), (3, None)])
    assert sorted(engine.answer(to_sql(query, "duckdb"), query.schema.types), key=str) == [
        (1, 1),
        (1, None),
    ]


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        ("ansi", "BOOLEAN BIGINT DOUBLE PRECISION VARCHAR DATE TIMESTAMP DECIMAL(9, 2) BIGINT[]"),
        ("duckdb", "BOOLEAN BIGINT DOUBLE TEXT DATE TIMESTAMP DECIMAL(9, 2) BIGINT[]"),
        ("spark", "BOOLEAN BIGINT DOUBLE STRING DATE TIMESTAMP DECIMAL(9, 2) ARRAY<BIGINT>"),
    ],
)
def test_every_type_has_a_name_in_every_dialect_but_sqlite(dialect: str, types: str) -> None:
    kinds = (BOOLEAN, BIGINT, DOUBLE, VARCHAR, DATE, TIMESTAMP, DECIMAL(9, 2), ARRAY(BIGINT))
    names = [sql.sql_type(kind, dialect).sql(dialect=sql.DIALECTS[dialect]) for kind in kinds]
    assert " ".join(names) == types


# --- what is refused ---

ARRAYS = table("t", "k BIGINT, xs ARRAY(BIGINT)")


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (
            lambda: to_sql(FLIGHTS.negate(), "ansi"),
            "negate has no plain SQL form: SQL has neither rows",
        ),
        (lambda: to_sql(ARRAYS.flat_map(col("xs"), "x"), "sqlite"), "cannot unnest xs"),
        (lambda: to_sql(ARRAYS.map(a=array(col("k"))), "sqlite"), "sqlite has no arrays: ARRAY[k]"),
        (
            lambda: create_table("t", ARRAYS.schema, "sqlite"),
            "sqlite has no type for ARRAY(BIGINT)",
        ),
        (lambda: expression_sql(lit(Decimal(1)), Schema(()), "sqlite"), "no type for DECIMAL(1,0)"),
        (lambda: expression_sql(lit(NAN), Schema(()), "sqlite"), "sqlite has no NaN"),
        (lambda: to_sql(table("t", Schema(())), "ansi"), "SQL has no table without columns"),
        (lambda: expression_sql(col("k") + 1.0, ARRAYS.schema, "ansi"), "cast one side"),
    ],
)
def test_what_a_dialect_cannot_say_is_refused_in_a_sentence(
    attempt: Callable[[], str], message: str
) -> None:
    with pytest.raises(SchemaError) as error:
        attempt()
    assert message in str(error.value)


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown SQL dialect 'mysql': there are ansi, sqlite"):
        to_sql(FLIGHTS, "mysql")
