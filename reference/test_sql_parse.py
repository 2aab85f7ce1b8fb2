"""SQL text becomes the query that it says, or an error: where, why, and what to write instead."""

from __future__ import annotations

import contextlib
import textwrap
from collections import Counter
from random import Random

import pytest

from deltaproof.reference.errors import EvaluationError, SchemaError, SqlError, UsageError
from deltaproof.reference.operators import OPERATORS
from deltaproof.reference.query import Query, apply, table
from deltaproof.reference.scalar import sample_value
from deltaproof.reference.sql import parse, parse_views, to_sql
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

TABLES = {
    "t": Schema.parse("k BIGINT, v BIGINT, s VARCHAR, d DATE, m DECIMAL(10,2)"),
    "r": Schema.parse("k BIGINT, w BIGINT"),
    "u": Schema.parse("a BIGINT NOT NULL, b VARCHAR NOT NULL"),
    "e": Schema.parse("x DOUBLE, xs ARRAY(BIGINT)"),
}


# --- forms ---

FORMS: dict[str, tuple[str, str]] = {
    "a filter and nothing else": (
        "SELECT * FROM t WHERE v > 3 AND s = 'a'",
        """
        filter v > 3 AND s = 'a'
        └─ t
        """,
    ),
    "a projection that renames": (
        "SELECT k AS a, v + 1 AS n FROM t",
        """
        map k AS a, v + 1 AS n
        └─ t
        """,
    ),
    "literals take the other side's type": (
        "SELECT k FROM t WHERE d < '2024-01-31' AND m > 1 AND m < 1.5e0",
        """
        map k
        └─ filter d < DATE '2024-01-31' AND m > 1 AND CAST(m AS DOUBLE) < 1.5
           └─ t
        """,
    ),
    "an interval on a constant is computed": (
        "SELECT k FROM t WHERE d < DATE '1998-12-01' - INTERVAL '90' DAY",
        """
        map k
        └─ filter d < DATE '1998-09-02'
           └─ t
        """,
    ),
    "a comma join with its conditions as keys and filters": (
        "SELECT v, w FROM t, r WHERE t.k = r.k AND v = 1 AND v < w",
        """
        map v, w
        └─ filter v < w
           └─ join k = r_k
              ├─ filter v = 1
              │  └─ map k, v
              │     └─ t
              └─ map k AS r_k, w
                 └─ r
        """,
    ),
    "a self join": (
        "SELECT x.k, y.v FROM t x JOIN t y ON x.k = y.v",
        """
        map k, y_v AS v
        └─ join k = y_v
           ├─ map k, v
           │  └─ t
           └─ map k AS y_k, v AS y_v
              └─ t
        """,
    ),
    "joins in an order without cross products": (
        "SELECT t.v FROM t, u, r WHERE t.k = r.k AND r.w = u.a",
        """
        map v
        └─ join w = a
           ├─ join k = r_k
           │  ├─ map k, v
           │  │  └─ t
           │  └─ map k AS r_k, w
           │     └─ r
           └─ map a
              └─ u
        """,
    ),
    "what all alternatives ask for is a key": (
        "SELECT v FROM t, r WHERE (t.k = r.k AND v = 1) OR (t.k = r.k AND w = 2)",
        """
        map v
        └─ filter v = 1 OR w = 2
           └─ join k = r_k
              ├─ map k, v
              │  └─ t
              └─ map k AS r_k, w
                 └─ r
        """,
    ),
    "a left join keeps its residual and filters above": (
        "SELECT v, w FROM t LEFT JOIN r ON t.k = r.k AND v < w WHERE w IS NULL AND v > 0",
        """
        map v, w
        └─ filter w IS NULL
           └─ left join k = r_k AND v < w
              ├─ filter v > 0
              │  └─ map k, v
              │     └─ t
              └─ map k AS r_k, w
                 └─ r
        """,
    ),
    "a condition on the padded side stays above": (
        "SELECT v, w FROM t RIGHT JOIN r ON t.k = r.k WHERE v = 1",
        """
        map v, w
        └─ filter v = 1
           └─ right join k = r_k
              ├─ map k, v
              │  └─ t
              └─ map k AS r_k, w
                 └─ r
        """,
    ),
    "groups, having, order and limit": (
        "SELECT k, SUM(v) AS total FROM t GROUP BY k HAVING COUNT(*) > 1 ORDER BY total DESC "
        "LIMIT 3",
        """
        top_k 3 ORDER total DESC
        └─ map k, total
           └─ filter count > 1
              └─ aggregate SUM(v) AS total, COUNT(*) AS count BY k
                 └─ t
        """,
    ),
    "aggregates are named once": (
        "SELECT SUM(v) + 1 AS a, SUM(v) - 1 AS b FROM t",
        """
        map sum + 1 AS a, sum - 1 AS b
        └─ aggregate SUM(v) AS sum
           └─ t
        """,
    ),
    "grouping sets": (
        "SELECT k, s, COUNT(*) AS n FROM t GROUP BY ROLLUP (k, s)",
        """
        aggregate COUNT(*) AS n BY GROUPING SETS ((k, s), (k), ())
        └─ t
        """,
    ),
    "a computed key": (
        "SELECT v + 1 AS n, COUNT(*) AS c FROM t GROUP BY v + 1",
        """
        aggregate COUNT(*) AS c BY n
        └─ map k, v, s, d, m, v + 1 AS n
           └─ t
        """,
    ),
    "set operations by position": (
        "SELECT k FROM t UNION SELECT w FROM r EXCEPT ALL SELECT a FROM u",
        """
        except all
        ├─ union
        │  ├─ map k
        │  │  └─ t
        │  └─ map w
        │     └─ r
        └─ map a
           └─ u
        """,
    ),
    "a shared table of WITH": (
        "WITH c AS (SELECT DISTINCT k FROM t) SELECT x.k FROM c x, c y WHERE x.k = y.k",
        """
        map k
        └─ join k = y_k
           ├─ distinct
           │  └─ map k
           │     └─ t
           └─ map k AS y_k
              └─ distinct
                 └─ map k
                    └─ t
        """,
    ),
    "exists": (
        "SELECT k FROM t WHERE EXISTS (SELECT * FROM r WHERE r.k = t.k AND r.w > t.v)",
        """
        map k
        └─ semi join k = r_k AND w > v
           ├─ map k, v
           │  └─ t
           └─ map k AS r_k, w
              └─ r
        """,
    ),
    "not in of columns that are never NULL": (
        "SELECT a FROM u WHERE a NOT IN (SELECT a FROM u)",
        """
        anti join a = u_a
        ├─ map a
        │  └─ u
        └─ map a AS u_a
           └─ u
        """,
    ),
    "not in of columns that may be NULL": (
        "SELECT k FROM t WHERE k NOT IN (SELECT w FROM r)",
        """
        anti join (k = w) IS DISTINCT FROM FALSE
        ├─ map k
        │  └─ t
        └─ map w
           └─ r
        """,
    ),
    "all": (
        "SELECT k FROM t WHERE v >= ALL (SELECT w FROM r WHERE r.k = t.k)",
        """
        map k
        └─ anti join k = r_k AND (v >= w) IS DISTINCT FROM TRUE
           ├─ map k, v
           │  └─ t
           └─ map k AS r_k, w
              └─ r
        """,
    ),
    "a correlated aggregate by Kim's rewriting": (
        "SELECT k FROM t WHERE v > (SELECT AVG(w) FROM r WHERE r.k = t.k)",
        """
        map k
        └─ filter CAST(v AS DOUBLE) > avg
           └─ join k = r_k
              ├─ map k, v
              │  └─ t
              └─ aggregate AVG(w) AS avg BY r_k
                 └─ map k AS r_k, w
                    └─ r
        """,
    ),
    "the count of an empty group is 0": (
        "SELECT k, (SELECT COUNT(*) FROM r WHERE r.k = t.k) AS n FROM t",
        """
        map k, COALESCE(count, 0) AS n
        └─ left join k = r_k
           ├─ t
           └─ aggregate COUNT(*) AS count BY r_k
              └─ map k AS r_k, w
                 └─ r
        """,
    ),
    "a correlated aggregate over the domain": (
        "SELECT a, (SELECT SUM(w) FROM r WHERE r.w < u.a) AS n FROM u",
        """
        map a, sum AS n
        └─ left join a = outer_a_2
           ├─ u
           └─ map outer_a AS outer_a_2, sum
              └─ aggregate SUM(w) AS sum BY outer_a
                 └─ filter w < outer_a
                    └─ join
                       ├─ distinct
                       │  └─ map a AS outer_a
                       │     └─ u
                       └─ r
        """,
    ),
    "exists as a value": (
        "SELECT k, EXISTS (SELECT 1 FROM r WHERE r.k = t.k) AS found FROM t",
        """
        map k, found IS NOT NULL AS found
        └─ left join k = r_k
           ├─ t
           └─ map r_k, TRUE AS found
              └─ distinct
                 └─ map k AS r_k
                    └─ r
        """,
    ),
    "row_number at most is top_k": (
        "SELECT k, v FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) <= 2",
        """
        map k, v
        └─ top_k 2 BY k ORDER v DESC
           └─ t
        """,
    ),
    "one rolling operator per window": (
        "SELECT k, SUM(v) OVER w AS total, COUNT(*) OVER w AS n FROM r AS t (k, v) WINDOW w AS "
        "(ORDER BY v ROWS 1 PRECEDING)",
        """
        map k, total, n
        └─ rolling SUM(w) AS total, COUNT(*) AS n ORDER w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
           └─ r
        """,
    ),
    "recursion": (
        "WITH RECURSIVE p (n) AS (SELECT k FROM t UNION SELECT r.w FROM p JOIN r ON p.n = r.k) "
        "SELECT n FROM p",
        """
        recursion p = map k AS n(union_all(map k(t), map w(join n = k(p, r))))
        ├─ t
        └─ r
        """,
    ),
    "unnest": (
        "SELECT k, e FROM t, UNNEST(ARRAY[v, 1]) AS q (e)",
        """
        map k, e
        └─ flat_map ARRAY[v, 1] AS e
           └─ map k, v
              └─ t
        """,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_of(name: str) -> None:
    text, tree = FORMS[name]
    assert str(parse(text, TABLES)) == textwrap.dedent(tree).strip()


def test_a_table_of_with_is_one_subtree_however_often_it_is_read() -> None:
    text = "WITH c AS (SELECT k, MAX(v) AS n FROM t GROUP BY k) SELECT * FROM c UNION TABLE c"
    left, right = parse(text, TABLES).inputs
    assert left is right


def test_views_read_views() -> None:
    views = parse_views(
        "CREATE VIEW a (n) AS SELECT k FROM t; CREATE VIEW b AS SELECT COUNT(*) AS c FROM a", TABLES
    )
    assert list(views) == ["a", "b"]
    assert views["b"].inputs == (views["a"],)


def test_a_select_may_come_with_the_views_that_it_reads() -> None:
    text = "CREATE VIEW a AS SELECT k FROM t; SELECT DISTINCT k FROM a; DROP VIEW a"
    assert parse(text, TABLES) == parse("SELECT DISTINCT k FROM (SELECT k FROM t) q", TABLES)


def test_order_by_without_limit_is_passed_over() -> None:
    assert parse("SELECT k FROM t ORDER BY v", TABLES) == parse("SELECT k FROM t", TABLES)


def test_columns_of_one_name_are_told_apart() -> None:
    query = parse("SELECT t.k, r.k, v + 1, v + 2 FROM t JOIN r ON t.k = r.k", TABLES)
    assert query.schema.names == ("k", "k_1", "column3", "column4")


# --- dialects ---


@pytest.mark.parametrize(
    ("dialect", "text", "tree"),
    [
        ("duckdb", "SELECT k / 2 AS h FROM t", "map k / 2 AS h"),
        ("spark", "SELECT k / 2 AS h FROM t", "map k / 2 AS h"),
        ("postgres", "SELECT k / 2 AS h FROM t", "map CAST((k - k % 2) / 2 AS BIGINT) AS h"),
        ("duckdb", "SELECT k // 2 AS h FROM t", "map CAST((k - k % 2) / 2 AS BIGINT) AS h"),
        ("spark", "SELECT k DIV 2 AS h FROM t", "map CAST((k - k % 2) / 2 AS BIGINT) AS h"),
        ("ansi", "SELECT * FROM r ORDER BY k DESC LIMIT 1", "top_k 1 ORDER k DESC"),
        ("postgres", "SELECT * FROM r ORDER BY k DESC LIMIT 1", "top_k 1 ORDER k DESC NULLS FIRST"),
        ("spark", "SELECT * FROM r ORDER BY k LIMIT 1", "top_k 1 ORDER k NULLS FIRST"),
        ("ansi", "SELECT * FROM r FETCH FIRST 2 ROWS ONLY", "top_k 2"),
        (
            "spark",
            "SELECT * FROM r LATERAL VIEW EXPLODE(ARRAY(w)) q AS e",
            "flat_map ARRAY[w] AS e",
        ),
        ("spark", "SELECT *, EXPLODE(ARRAY(w)) AS e FROM r", "flat_map ARRAY[w] AS e"),
        ("duckdb", "SELECT *, UNNEST([w]) AS e FROM r", "flat_map ARRAY[w] AS e"),
        ("spark", "SELECT DATE_ADD(d, 3) AS e FROM t", "map ADD_DAYS(d, 3) AS e"),
        ("duckdb", "SELECT d + TO_MONTHS(2) AS e FROM t", "map ADD_MONTHS(d, 2) AS e"),
        ("postgres", "SELECT k::DOUBLE PRECISION AS e FROM t", "map CAST(k AS DOUBLE) AS e"),
        ("sqlite", "SELECT IFNULL(k, 0) AS e FROM t", "map COALESCE(k, 0) AS e"),
        ("sqlite", "SELECT 0.5 AS e FROM t", "map 0.5 AS e"),
        ("spark", "SELECT k <=> v AS e FROM t", "map k IS NOT DISTINCT FROM v AS e"),
    ],
)
def test_the_words_of_a_dialect(dialect: str, text: str, tree: str) -> None:
    assert str(parse(text, TABLES, dialect)).splitlines()[0] == tree


def test_a_backslash_in_like_escapes_in_postgres_and_spark_only() -> None:
    text = r"SELECT s FROM t WHERE s LIKE 'a\\b'"
    assert r"LIKE 'a\\b'" in str(parse(text, TABLES, "ansi"))
    assert r"LIKE 'a\b'" in str(parse(text, TABLES, "postgres"))


# --- errors ---

REFUSED = {
    "SELECT zz FROM r": "unknown column 'zz': there are r.k, r.w",
    "SELECT k FROM t, r": "column 'k' is ambiguous: write t.k or r.k",
    "SELECT k FROM nope": "unknown table 'nope': there are t, r, u, e",
    "SELECT k FROM t JOIN t ON TRUE": "two tables are called 't': give one an alias: t AS other",
    "SELECT NOW() FROM t": "time is data: make `now` a table of one row and join it",
    "SELECT RANDOM() FROM t": "RAND is not the same at every reading",
    "SELECT k FROM t GROUP BY v": "column 'k' is neither in GROUP BY nor in an aggregate",
    "SELECT COUNT(*) FROM t WHERE COUNT(*) > 1": "an aggregate (COUNT) cannot stand here",
    "SELECT k FROM t WHERE s > 1": "VARCHAR and BIGINT have no common type: cast one of them",
    "SELECT k FROM t WHERE d > 'never'": "'never' is not a DATE",
    "SELECT k FROM t WHERE v": "expected a condition, got BIGINT v",
    "SELECT CAST(x AS BIGINT) FROM e": "write CAST(TRUNC(x) AS BIGINT)",
    "SELECT ARRAY_AGG(k) FROM t": "add FILTER (WHERE x IS NOT NULL)",
    "SELECT (SELECT k, w FROM r) FROM t": "a subquery as a value has 2 columns: select one",
    "SELECT k FROM t WHERE k IN (SELECT k, w FROM r)": "compared with a subquery of 2",
    "SELECT k FROM t UNION SELECT k, w FROM r": "UNION of 1 and 2 columns",
    "SELECT k FROM t UNION SELECT k FROM r ORDER BY 2 LIMIT 1": "ORDER BY 2: there is no such",
    "SELECT k FROM t UNION SELECT k FROM r ORDER BY 0 LIMIT 1": "ORDER BY 0: there is no such",
    "SELECT k FROM t ORDER BY 1.5 LIMIT 1": "ORDER BY 1.5: there is no such column",
    "SELECT k FROM t GROUP BY 1.5": "GROUP BY 1.5: there is no such column",
    "SELECT DISTINCT ON (2) k FROM t": "DISTINCT ON 2: there is no such column",
    "SELECT (SELECT SUM(t.v) FROM r) FROM t": "of the query around belongs to that query",
    "SELECT (SELECT MAX(w) FROM r WHERE k = t.k) FROM t GROUP BY v": "neither in GROUP BY nor",
    "SELECT MAX(k, 2) FROM t": "MAX is of one value: write GREATEST",
    "SELECT k, [] FROM t": "ARRAY[] is of no type",
    "SELECT UNNEST(xs), UNNEST(xs) FROM e": "UNNEST twice in a SELECT list",
    "WITH c AS (SELECT 1), C AS (SELECT 2) TABLE c": "two tables of WITH are called 'C'",
    "SELECT (WITH c AS (SELECT w FROM r WHERE k = t.v) SELECT MAX(w) FROM c) FROM t": "c of WITH",
    "SELECT (SELECT COUNT(*) FROM r FULL JOIN u ON w = a AND w = v) FROM t": "cannot read",
    "SELECT k FROM t LIMIT k": "LIMIT and OFFSET need a constant whole number",
    "SELECT NTILE(2) OVER (ORDER BY k) FROM t": "no aggregate NTILE here",
    "SELECT FIRST_VALUE(k) OVER (ORDER BY v) FROM t": "write ROW_NUMBER, RANK",
    "SELECT SUM(v) OVER (ORDER BY k GROUPS 1 PRECEDING) FROM t": "write ROWS or RANGE",
    "WITH RECURSIVE p AS (SELECT k FROM t UNION ALL TABLE p) SELECT * FROM p": "write UNION",
    "WITH RECURSIVE p AS (SELECT k FROM p) SELECT * FROM p": "begin with a SELECT that does not",
    "SELECT k FROM t JOIN u ON EXISTS (SELECT 1 FROM r)": "put it in WHERE",
    "SELECT k FROM t FOR UPDATE": "SELECT with LOCKS is not supported",
    "SELECT k FROM t TABLESAMPLE (10 PERCENT)": "TABLE with SAMPLE is not supported",
    "SELECT k FROM t FETCH FIRST 3 ROWS WITH TIES": "LIMIT counts rows, no ties",
    "INSERT INTO t VALUES (1)": "INSERT is no query: write SELECT",
    "SELECT k FRM t WHERE": "Invalid expression",
    "SELECT k FROM t ASOF JOIN u ON t.k = u.a": "one comparison left.time >= right.time",
    "SELECT 1e400 FROM t": "1e400 is no DOUBLE",
    "SELECT 99999999999999999999 FROM t": "needs more than 64 bits",
    "SELECT foo(k) FROM t": "FOO is not supported here",
    "SELECT s LIKE s FROM t": "LIKE needs a constant pattern",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_says_where_and_why(text: str) -> None:
    with pytest.raises(SqlError) as refused:
        parse(text, TABLES)
    assert REFUSED[text] in str(refused.value)
    assert refused.value.line == 1
    assert 1 <= refused.value.column <= len(text)


def test_an_error_shows_the_line_and_a_caret() -> None:
    with pytest.raises(SqlError) as refused:
        parse("SELECT k\nFROM t\nWHERE t.zz > 1", TABLES)
    assert str(refused.value) == (
        "line 3, column 7: unknown column 't.zz': there are t.k, t.v, t.s, t.d, t.m\n"
        "  WHERE t.zz > 1\n"
        "        ^"
    )


@pytest.mark.parametrize("text", ["", ";", "SELECT k FROM t; SELECT v FROM t", "SELECT 'x", "/* x"])
def test_what_is_no_single_select_is_refused(text: str) -> None:
    with pytest.raises(SqlError):
        parse(text, TABLES)


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown SQL dialect 'klingon'"):
        parse("SELECT 1", TABLES, "klingon")


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {'(' * 5000}1{')' * 5000} FROM t",
        f"SELECT {'+'.join(['k'] * 5000)} FROM t",
        f"SELECT k FROM t WHERE {' AND '.join(['k > 1'] * 5000)}",
        f"SELECT * FROM {'(SELECT * FROM ' * 500}t{') q' * 500}",
        f"SELECT k FROM t WHERE {'k IN (SELECT k FROM r WHERE ' * 500}k = 1{')' * 500}",
        f"SELECT {'-' * 3000}1 FROM t",
    ],
)
def test_absurd_nesting_is_an_error_and_not_a_crash(text: str) -> None:
    with contextlib.suppress(SqlError):
        parse(text, TABLES)


def test_each_side_of_a_sum_is_read_once() -> None:
    assert str(parse(f"SELECT {'+'.join('k' * 60)} FROM t", TABLES)).count("k") == 60
    assert str(parse("SELECT k + (SELECT MAX(w) FROM r) FROM t", TABLES)).count("join") == 1


def test_nested_correlation_is_not_read_again_and_again() -> None:
    depth = 10  # each level would double the work of the one around it
    inner = "1 = 1"
    for level in range(depth):
        inner = f"EXISTS (SELECT 1 FROM r a{level} WHERE a{level}.w < t.v OR {inner})"
    assert parse(f"SELECT k FROM t WHERE {inner}", TABLES).schema.names == ("k",)


# --- there and back ---

# The operators that SQL has words for of its own. The others are printed in other words, and read
# back as the operators that these words are: a session window as LAG and a running SUM, say.
WORDS = {"filter", "map", "flat_map", "union_all", "set_operation", "join", "semi_join"} | {
    *("outer_join", "distinct", "top_k", "rank", "lag", "rolling")
}
SAMPLES = 60
COLUMNS = "k BIGINT, n BIGINT NOT NULL, v DOUBLE, s VARCHAR, d DATE, t TIMESTAMP, m DECIMAL(10,2)"


def sampled(random: Random, words: set[str], depth: int = 2) -> Query:
    """A random query over these operators."""
    left = table("a", ", ".join(f"a_{column}" for column in COLUMNS.split(", ")))
    right = table("b", ", ".join(f"b_{column}" for column in COLUMNS.split(", ")))
    query: Query = left
    kinds = [kind for kind in OPERATORS if kind.name in words]
    while depth:
        kind = random.choice(kinds)
        other = query if kind.pairing.name == "SAME_TYPES" else right
        inputs = [query, other][: kind.arity]
        operator = kind.sample(random, *[each.schema for each in inputs])
        if operator is None:
            continue
        try:
            query = apply(operator, *inputs)
        except SchemaError:
            continue
        depth -= 1
    return query


def contents(random: Random, query: Query) -> dict[str, ZSet]:
    return {
        name: ZSet([(row(random, schema), 1) for _ in range(6)], schema)
        for name, schema in query.tables().items()
    }


def row(random: Random, schema: Schema) -> Row:
    return tuple(
        None if column.nullable and random.random() < 0.2 else sample_value(random, column.type)
        for column in schema.columns
    )


@pytest.mark.parametrize("dialect", ["ansi", "duckdb", "spark", "postgres"])
def test_what_is_printed_is_read_back(dialect: str) -> None:
    """Most trees come back as they were, all others mean the same and are fixed from then on.

    What does not come back: AND and OR nested to the right (they come back nested to the left),
    conditions of a semi join on its right side alone (they become a filter there), an order
    that says what it would be completed by anyway.
    """
    outcomes: Counter[str] = Counter()
    for seed in range(SAMPLES):
        random = Random(seed)
        query = sampled(random, WORDS)
        try:
            text = to_sql(query, dialect)
        except SchemaError:
            continue
        again = parse(text, query.tables(), dialect)
        outcomes["equal" if again == query else "other"] += 1
        if again != query:
            outcomes["fixed"] += parse(to_sql(again, dialect), query.tables(), dialect) == again
            tables = contents(random, query)
            try:
                expected = query.meaning()(tables)
            except EvaluationError:
                continue
            assert again.meaning()(tables) == expected, f"seed {seed}: {text}"
    total = outcomes["equal"] + outcomes["other"]
    assert total > SAMPLES * 0.8
    assert outcomes["equal"] / total > EQUAL_SHARE
    assert outcomes["fixed"] >= outcomes["other"] * 0.9


EQUAL_SHARE = 0.7


@pytest.mark.parametrize("name", sorted(WORDS - {"filter", "flat_map", "map"}))
def test_one_operator_is_read_back_as_itself(name: str) -> None:
    found = 0
    for seed in range(20):
        query = sampled(Random(seed), {name}, 1)
        again = parse(to_sql(query, "duckdb"), query.tables(), "duckdb")
        found += again == query
    assert found >= 12
