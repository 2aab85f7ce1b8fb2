"""What a Select, a Compound or a Recursive says, every dialect says in its own words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.order import Order
from deltaproof.reference.scalar import Expr, col, lit
from deltaproof.reference.select import (
    AggregateCall,
    Compound,
    Exists,
    Frame,
    JoinOn,
    Recursive,
    Relation,
    Select,
    Statement,
    WindowCall,
    columns_of,
)
from deltaproof.reference.sql import DIALECTS
from deltaproof.reference.sql_select import StatementPrinter
from deltaproof.reference.test_sql import Engine
from deltaproof.reference.types import BIGINT, DATE, DOUBLE, TIMESTAMP, VARCHAR, Row, Schema, Type

A = Relation("a", Schema.parse("k BIGINT, v DOUBLE, s VARCHAR"))
B = Relation("b", Schema.parse("x BIGINT, w DOUBLE"))
T = Relation("t", Schema.parse("g BIGINT, d DATE, t TIMESTAMP"))
EDGES = Relation("edges", Schema.parse("src BIGINT, dst BIGINT"))
RELATIONS = (A, B, T, EDGES)
ROWS: dict[str, list[Row]] = {
    "a": [(1, 0.5, "a"), (1, 0.5, "a"), (1, None, "b"), (None, 2.0, "a"), (2, 1.0, None)],
    "b": [(1, 1.0), (1, 0.25), (2, None), (None, 2.0), (5, 5.0)],
    "t": [
        (1, DATE.from_json("2013-01-01"), TIMESTAMP.from_json("2013-01-01T00:00:00.000001")),
        (2, DATE.from_json("2013-01-03"), TIMESTAMP.from_json("2013-01-02T00:00:00.000001")),
        (3, DATE.from_json("2013-01-04"), TIMESTAMP.from_json("2013-01-02T00:00:00.000002")),
        (4, None, None),
    ],
    "edges": [(1, 2), (2, 3), (3, 1), (3, 4)],
}
DAY = 86_400_000_000
ENGINES = ("sqlite", "duckdb")


def said(statement: Statement, dialect: str) -> str:
    schemas = {relation.name: relation.schema for relation in RELATIONS}
    return StatementPrinter(dialect, schemas, {}).said(statement).sql(dialect=DIALECTS[dialect])


def keys(*names: str) -> tuple[tuple[str, Expr], ...]:
    return columns_of(names)


def windowed(source: Relation, call: WindowCall) -> Select:
    """The first column, and the window's."""
    return Select((*keys(source.schema.names[0]), ("n", call)), source)


def rows_of(statement: Statement, dialect: str, types: Sequence[Type]) -> list[Row]:
    engine = Engine(dialect)
    for relation in RELATIONS:
        engine.load(relation.name, relation.schema, ROWS[relation.name])
    return sorted(engine.answer(said(statement, dialect), types), key=repr)


COUNT = AggregateCall("count_star")
JOINED = (BIGINT, DOUBLE, VARCHAR, BIGINT, DOUBLE)
AN_A = Select(keys("k"), A, schema=Schema.parse("k BIGINT"))
AN_X = Select(keys("x"), B, schema=Schema.parse("x BIGINT"))
PAIRS = Schema.parse("p BIGINT, q BIGINT")
R = Relation("r", PAIRS)
BASE = Select((("p", col("src")), ("q", col("dst"))), EDGES)
STEP = Select((("p", col("p")), ("q", col("dst"))), JoinOn(R, EDGES, (("q", "src"),)))
BACK = Select((("p", col("q")), ("q", col("p"))), R)
ANSWERS: dict[str, tuple[Statement, Sequence[Type], list[Row]]] = {
    "full join with a residual": (
        Select.star(JoinOn(A, B, (("k", "x"),), "full", col("v") < col("w"))),
        JOINED,
        [
            (1, 0.5, "a", 1, 1.0),
            (1, 0.5, "a", 1, 1.0),
            (1, None, "b", None, None),
            (2, 1.0, None, None, None),
            (None, 2.0, "a", None, None),
            (None, None, None, 1, 0.25),
            (None, None, None, 2, None),
            (None, None, None, 5, 5.0),
            (None, None, None, None, 2.0),
        ],
    ),
    "left join without a condition": (
        Select((("n", COUNT),), JoinOn(A, B, (), "left")),
        (BIGINT,),
        [(25,)],
    ),
    "a table of those of its rows that another has": (
        Select(keys("k"), A, exists=Exists(A, (("k", "k"), ("s", "s")))),
        (BIGINT,),
        [(1,)] * 3,
    ),
    "not exists": (
        Select(keys("k"), A, exists=Exists(B, (("k", "x"),), col("v") < col("w"), negated=True)),
        (BIGINT,),
        [(1,), (2,), (None,)],
    ),
    "row_number, NULLS FIRST": (
        windowed(A, WindowCall("row_number", (), (), (Order(col("s"), True, True),))),
        (BIGINT, BIGINT),
        [(1, 2), (1, 3), (1, 4), (2, 1), (None, 5)],
    ),
    "lag by two, with a default": (
        windowed(
            A, WindowCall("lag", (col("k"), lit(7)), (col("s"),), (Order(col("v")),), offset=2)
        ),
        (BIGINT, BIGINT),
        [(1, 7), (1, 7), (1, 7), (2, 7), (None, 1)],
    ),
    "rows before the row": (
        windowed(A, WindowCall(COUNT, (), (), (Order(col("v")),), Frame("rows", 2, -1))),
        (BIGINT, BIGINT),
        [(1, 0), (1, 1), (1, 2), (2, 2), (None, 2)],
    ),
    "a range of days": (
        windowed(T, WindowCall(COUNT, (), (), (Order(col("d")),), Frame("range", 2, 0))),
        (BIGINT, BIGINT),
        [(1, 1), (2, 2), (3, 2), (4, 1)],
    ),
    "a range of microseconds, descending": (
        windowed(T, WindowCall(COUNT, (), (), (Order(col("t"), True),), Frame("range", DAY, 0))),
        (BIGINT, BIGINT),
        [(1, 2), (2, 2), (3, 1), (4, 1)],
    ),
    "grouping sets": (
        Select((*keys("k", "s"), ("n", COUNT)), A, grouping_sets=(("k",), ("s",), (), ())),
        (BIGINT, VARCHAR, BIGINT),
        [
            *((1, None, 3), (2, None, 1), (None, None, 1)),
            *((None, "a", 3), (None, "b", 1), (None, None, 1)),
            *((None, None, 5), (None, None, 5)),
        ],
    ),
    "intersect all": (Compound((A, A), "intersect all"), JOINED[:3], sorted(ROWS["a"], key=repr)),
    "except all": (Compound((AN_A, AN_X), "except all"), (BIGINT,), [(1,)]),
    "except": (Compound((AN_X, AN_A), "except"), (BIGINT,), [(5,)]),
    "recursion": (
        Recursive("r", PAIRS, BASE, STEP),
        (BIGINT, BIGINT),
        [(p, q) for p in (1, 2, 3) for q in (1, 2, 3, 4)],
    ),
    "recursion of two steps": (
        Recursive("r", PAIRS, BASE, Compound((STEP, BACK))),
        (BIGINT, BIGINT),
        [(p, q) for p in (1, 2, 3, 4) for q in (1, 2, 3, 4)],
    ),
}


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize("title", ANSWERS)
def test_a_statement_gives_these_rows(title: str, dialect: str) -> None:
    statement, types, expected = ANSWERS[title]
    assert rows_of(statement, dialect, types) == sorted(expected, key=repr)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("title", ANSWERS)
def test_every_dialect_has_words_for_it(title: str, dialect: str) -> None:
    assert said(ANSWERS[title][0], dialect).startswith(("SELECT", "WITH RECURSIVE"))


ORDERED = windowed(A, WindowCall("row_number", (), (), (Order(col("v"), True),)))


@pytest.mark.parametrize(
    ("dialect", "order"),
    [
        ("sqlite", 'ORDER BY "v" DESC, "k" NULLS LAST, "s" NULLS LAST'),
        ("duckdb", 'ORDER BY "v" DESC, "k", "s"'),
        ("spark", "ORDER BY `v` DESC, `k` NULLS LAST, `s` NULLS LAST"),
        ("postgres", 'ORDER BY "v" DESC NULLS LAST, "k", "s"'),
    ],
)
def test_a_window_is_ordered_by_the_whole_row_and_says_where_nulls_go(
    dialect: str, order: str
) -> None:
    assert f"({order})" in said(ORDERED, dialect)


def test_sqlite_numbers_the_copies_of_a_row_where_it_has_no_word_for_them() -> None:
    assert said(Compound((AN_A, AN_X), "except all"), "sqlite") == (
        'SELECT "k" FROM ('
        'SELECT "k", ROW_NUMBER() OVER (PARTITION BY "k") AS "_copy" FROM '
        '(SELECT "k" FROM "a") AS "_rows" '
        'EXCEPT SELECT "x", ROW_NUMBER() OVER (PARTITION BY "x") AS "_copy" FROM '
        '(SELECT "x" FROM "b") AS "_rows") AS "_copies"'
    )


def test_a_relation_that_is_read_twice_has_two_names() -> None:
    itself = Select(keys("k"), A, exists=Exists(A, (("k", "k"),)))
    assert said(itself, "duckdb") == (
        'SELECT "a"."k" FROM "a" '
        'WHERE EXISTS(SELECT 1 FROM "a" AS "_other" WHERE "a"."k" = "_other"."k")'
    )


def test_a_recursion_that_reads_itself_twice_in_a_step_is_refused() -> None:
    """Engines give both readings the rows of the last round only."""
    names = Schema.parse("a BIGINT, b BIGINT")
    renamed = Select((("a", col("p")), ("b", col("q"))), R, schema=names)
    twice = Select((("p", col("p")), ("q", col("b"))), JoinOn(R, renamed, (("q", "a"),)))
    with pytest.raises(SchemaError, match="reads the recursion once in each step, r reads it more"):
        said(Recursive("r", PAIRS, BASE, twice), "duckdb")
