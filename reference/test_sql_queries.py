"""What SQL text means here is what it means to DuckDB: a few hundred queries, on random tables.

Each query runs on small tables full of NULLs and duplicates, in DuckDB as it is written, and as
the meaning of what `parse` makes of it. Between them the queries have every clause and every kind
of subquery, and the traps: NOT IN with NULLs, COUNT over an empty group, conditions of WHERE
and ON around outer joins, NULLs as outer columns.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from deltaproof.reference.circuit import Circuit
from deltaproof.reference.sql import create_table, parse
from deltaproof.reference.types import Row, Schema, Value
from deltaproof.reference.zset import ZSet

TABLES = {
    "t": Schema.parse("k BIGINT, v BIGINT, s VARCHAR, d DATE, m DECIMAL(10,2)"),
    "r": Schema.parse("k BIGINT, w BIGINT, x DOUBLE"),
    "u": Schema.parse("a BIGINT NOT NULL, b VARCHAR NOT NULL"),
    "e": Schema.parse("src BIGINT, dst BIGINT"),
    "l": Schema.parse("id BIGINT, xs ARRAY(BIGINT)"),
}
VALUES: dict[str, Sequence[Value]] = {
    "BIGINT": (0, 1, 1, 2, 3),
    "VARCHAR": ("a", "b", "ab", ""),
    "DATE": (datetime.date(2024, 1, 31), datetime.date(2024, 2, 29), datetime.date(2023, 12, 1)),
    "DECIMAL(10,2)": (Decimal("0.00"), Decimal("1.50"), Decimal("-2.25")),
    "DOUBLE": (0.0, 0.5, -1.5),
    "ARRAY(BIGINT)": ((), (1,), (1, 2, 1), (None, 3)),
}

SEEDS = 5

QUERIES = """
# select list
SELECT k, v FROM t
SELECT * FROM t
SELECT t.*, v + 1 AS n FROM t
SELECT k AS a, k AS b, -k, v * 2 - 1 FROM t
SELECT DISTINCT k FROM t
SELECT DISTINCT k, s FROM t WHERE v > 0
SELECT k, CASE WHEN v > 1 THEN 'many' WHEN v = 1 THEN 'one' ELSE s END FROM t
SELECT CASE k WHEN 1 THEN 'x' WHEN 2 THEN 'y' END FROM t
SELECT COALESCE(k, v, 0), NULLIF(k, v), s || '!' FROM t
SELECT CAST(k AS DOUBLE), CAST(k AS VARCHAR), CAST(m AS DOUBLE) FROM t
SELECT UPPER(s), LOWER(s), LENGTH(s), SUBSTRING(s, 1, 1) FROM t
SELECT EXTRACT(YEAR FROM d), EXTRACT(MONTH FROM d), d + INTERVAL '1' DAY > DATE '2024-02-01' FROM
  t
SELECT m * 2, m + 1, m - 0.5, m * m FROM t
SELECT k / 2 FROM t
SELECT v % 2, ABS(v - 2) FROM t
SELECT 1 AS one, 'x' AS x, NULL AS n, TRUE AS y FROM t
SELECT GREATEST(k, v), LEAST(k, v, 1) FROM t
SELECT TRIM(s), REPLACE(s, 'a', 'z'), POSITION('b' IN s) FROM t
SELECT IF(k > 1, 'p', 'q') FROM t
SELECT k IS NULL, k IS NOT NULL, (k > 1) IS TRUE, (k > 1) IS NOT FALSE FROM t
SELECT k IS DISTINCT FROM v, k IS NOT DISTINCT FROM v FROM t
SELECT s LIKE 'a%', s NOT LIKE '%b', s ILIKE 'A_' FROM t
# where
SELECT k FROM t WHERE v > 1
SELECT k FROM t WHERE NOT (v > 1)
SELECT k FROM t WHERE v > 1 OR k = 0 AND s = 'a'
SELECT k FROM t WHERE k IN (1, 2)
SELECT k FROM t WHERE k NOT IN (1, 2)
SELECT k FROM t WHERE k NOT IN (1, NULL)
SELECT k FROM t WHERE k IN (v, 1)
SELECT k FROM t WHERE v BETWEEN 1 AND 2
SELECT k FROM t WHERE v NOT BETWEEN 1 AND 2
SELECT k FROM t WHERE s LIKE '%b' AND s NOT LIKE 'b%'
SELECT k FROM t WHERE d >= '2024-01-01'
SELECT k FROM t WHERE d < DATE '2024-02-29' - INTERVAL '1' MONTH
SELECT k FROM t WHERE m > 1
SELECT k FROM t WHERE m > k
SELECT k FROM t WHERE (k, v) = (1, 1)
SELECT k FROM t WHERE (k, v) IN ((1, 1), (2, 3))
SELECT k FROM t WHERE NULL
SELECT k FROM t WHERE k = NULL
# joins
SELECT * FROM t JOIN r ON t.k = r.k
SELECT t.k, w FROM t, r WHERE t.k = r.k
SELECT t.k, w FROM t, r WHERE t.k = r.k AND v < w
SELECT t.k, w FROM t, r WHERE t.k = r.k AND v = 1 AND w = 1
SELECT t.k, w FROM t CROSS JOIN r
SELECT t.v, r.w FROM t JOIN r ON t.v < r.w
SELECT t.v, r.w FROM t JOIN r ON t.v + 1 = r.w
SELECT t.v, r.w FROM t JOIN r ON t.v = r.w + 1 AND t.k = r.k
SELECT a.k, b.v FROM t a JOIN t b ON a.k = b.v
SELECT a.k, b.k, c.k FROM t a, t b, t c WHERE a.k = b.v AND b.k = c.v AND a.v > 0
SELECT t.k, r.w, u.b FROM t, u, r WHERE t.k = r.k AND r.w = u.a
SELECT t.k, r.w, u.b FROM t, u, r WHERE (t.k = r.k AND r.w = u.a AND t.v = 1) OR (t.k = r.k AND
  r.w = u.a AND t.v = 2)
SELECT t.k FROM t, r WHERE (t.k = r.k AND t.v = 1) OR t.k = r.k
SELECT t.k, r.k FROM t, r WHERE t.k IS NOT DISTINCT FROM r.k
SELECT * FROM t JOIN r USING (k)
SELECT k, v, w FROM t JOIN r USING (k)
SELECT * FROM t NATURAL JOIN r
SELECT * FROM t LEFT JOIN r ON t.k = r.k
SELECT * FROM t LEFT JOIN r ON t.k = r.k AND v < w
SELECT * FROM t LEFT JOIN r ON t.k = r.k AND v = 1
SELECT * FROM t LEFT JOIN r ON t.k = r.k AND w = 1
SELECT * FROM t LEFT JOIN r ON t.k = r.k WHERE w = 1
SELECT * FROM t LEFT JOIN r ON t.k = r.k WHERE w IS NULL
SELECT * FROM t LEFT JOIN r ON t.k = r.k WHERE v = 1
SELECT * FROM t LEFT JOIN r ON v < w
SELECT * FROM t LEFT JOIN r ON TRUE WHERE t.k = r.k
SELECT * FROM t RIGHT JOIN r ON t.k = r.k
SELECT * FROM t RIGHT JOIN r ON t.k = r.k WHERE v IS NULL
SELECT * FROM t RIGHT JOIN r ON t.k = r.k WHERE w = 1
SELECT * FROM t FULL JOIN r ON t.k = r.k
SELECT * FROM t FULL JOIN r ON t.k = r.k AND v < w
SELECT * FROM t FULL JOIN r ON t.k = r.k WHERE v = 1 OR w = 1
SELECT * FROM t LEFT JOIN r USING (k)
SELECT * FROM t RIGHT JOIN r USING (k)
SELECT * FROM t FULL JOIN r USING (k)
SELECT k, COUNT(*) FROM t FULL JOIN r USING (k) GROUP BY k
SELECT * FROM t LEFT JOIN r ON t.k = r.k LEFT JOIN u ON r.w = u.a
SELECT * FROM t LEFT JOIN r ON t.k = r.k JOIN u ON r.w = u.a
SELECT * FROM t JOIN r ON t.k = r.k LEFT JOIN u ON t.v = u.a AND r.w = 1
SELECT * FROM t, r LEFT JOIN u ON r.w = u.a WHERE t.k = r.k
SELECT * FROM u LEFT JOIN (SELECT k, SUM(w) AS w FROM r GROUP BY k) q ON u.a = q.k
SELECT * FROM t SEMI JOIN r ON t.k = r.k
SELECT * FROM t ANTI JOIN r ON t.k = r.k AND t.v < r.w
# group by
SELECT k, COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v) FROM t GROUP BY k
SELECT k, AVG(v), AVG(m) FROM t GROUP BY k
SELECT COUNT(*), SUM(v), MIN(s) FROM t
SELECT COUNT(*), SUM(v) FROM t WHERE v > 100
SELECT k + 1 AS n, SUM(v) FROM t GROUP BY k + 1
SELECT k + 1, SUM(v) FROM t GROUP BY 1
SELECT k + v AS n, COUNT(*) FROM t GROUP BY n
SELECT k, s, COUNT(*) FROM t GROUP BY k, s
SELECT SUM(v) FROM t GROUP BY k
SELECT k * 2, SUM(v) + 1 FROM t GROUP BY k
SELECT k + 1 + SUM(v) FROM t GROUP BY k + 1
SELECT k FROM t GROUP BY k
SELECT k FROM t GROUP BY k HAVING COUNT(*) > 1
SELECT k, SUM(v) AS s FROM t GROUP BY k HAVING SUM(v) > 1 AND k > 0
SELECT COUNT(*) FROM t HAVING COUNT(*) > 1
SELECT k, COUNT(DISTINCT v), SUM(DISTINCT v), AVG(DISTINCT v) FROM t GROUP BY k
SELECT COUNT(DISTINCT s) FROM t
SELECT k, COUNT(*) FILTER (WHERE v > 1), SUM(v) FILTER (WHERE s = 'a') FROM t GROUP BY k
SELECT k, SUM(CASE WHEN v > 1 THEN 1 ELSE 0 END) FROM t GROUP BY k
SELECT s, SUM(m), SUM(m * 2), SUM(m) / NULLIF(SUM(v), 0) FROM t GROUP BY s
SELECT k, VAR_POP(v), STDDEV_POP(v), BOOL_AND(v > 0), BOOL_OR(v > 1) FROM t GROUP BY k
SELECT k, VAR_SAMP(v), STDDEV_SAMP(v) FROM t GROUP BY k
SELECT MEDIAN(v), QUANTILE_CONT(v, 0.25) FROM t
SELECT k, COUNT(*) FROM t JOIN r USING (k) GROUP BY k
SELECT t.k, SUM(w) FROM t, r WHERE t.k = r.k GROUP BY t.k
SELECT EXTRACT(YEAR FROM d) AS y, COUNT(*) FROM t GROUP BY y
SELECT k, v, COUNT(*) FROM t GROUP BY ROLLUP (k, v)
SELECT k, v, COUNT(*) FROM t GROUP BY CUBE (k, v)
SELECT k, v, SUM(v) FROM t GROUP BY GROUPING SETS ((k, v), (k), ())
SELECT k, v, COUNT(*), GROUPING(k), GROUPING(v), GROUPING(k, v) FROM t GROUP BY ROLLUP (k, v)
SELECT k, s, COUNT(*), GROUPING(s) FROM t GROUP BY k, ROLLUP (s)
SELECT k, s, COUNT(*) FROM t GROUP BY GROUPING SETS ((k), (s)) HAVING COUNT(*) > 1
SELECT MIN(d), MAX(d), MIN(m) FROM t
SELECT k, SUM(v) FROM (SELECT k, v FROM t WHERE v > 0) q GROUP BY k
SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) q GROUP BY n
SELECT COUNT(*) FROM (SELECT DISTINCT k FROM t) q
SELECT COUNT(*) FROM t GROUP BY ()
SELECT (SELECT COUNT(*) FROM r WHERE r.k = t.k) AS c, COUNT(*) FROM t GROUP BY c
SELECT k IN (SELECT w FROM r), COUNT(*) FROM t GROUP BY k IN (SELECT w FROM r)
# order and limit
SELECT DISTINCT ON (2) v, k FROM t ORDER BY 2, 1, s, d, m
SELECT DISTINCT ON (z) k + 1 AS z, v FROM t ORDER BY z, v, s, d, m
SELECT k, v FROM t ORDER BY k, v, s, d, m LIMIT 3
SELECT k, v FROM t ORDER BY k DESC, v DESC LIMIT 2 OFFSET 1
SELECT k, v FROM t ORDER BY v NULLS FIRST, k LIMIT 4
SELECT k, v FROM t ORDER BY 2, 1 LIMIT 3
SELECT k, v + 1 AS n FROM t ORDER BY n, k LIMIT 3
SELECT DISTINCT k FROM t ORDER BY k LIMIT 2
SELECT k, SUM(v) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 2
SELECT k FROM t GROUP BY k ORDER BY COUNT(*), k LIMIT 2
SELECT DISTINCT ON (k) k, v FROM t ORDER BY k, v
SELECT DISTINCT ON (k) v, k FROM t ORDER BY k, v DESC
SELECT k FROM t UNION SELECT k FROM r ORDER BY k LIMIT 2
SELECT k FROM t ORDER BY k
# set operations
SELECT k FROM t UNION ALL SELECT k FROM r
SELECT k FROM t UNION SELECT w FROM r
SELECT k FROM t INTERSECT SELECT w FROM r
SELECT k FROM t INTERSECT ALL SELECT w FROM r
SELECT k FROM t EXCEPT SELECT w FROM r
SELECT k FROM t EXCEPT ALL SELECT w FROM r
SELECT k, s FROM t UNION ALL SELECT a, b FROM u
SELECT k FROM t UNION ALL SELECT x FROM r
SELECT k, NULL FROM t UNION ALL SELECT w, x FROM r
SELECT m FROM t UNION SELECT v FROM t
SELECT k FROM t UNION SELECT k FROM r INTERSECT SELECT a FROM u
(SELECT k FROM t UNION SELECT k FROM r) EXCEPT SELECT a FROM u
SELECT COUNT(*) FROM (SELECT k FROM t UNION SELECT k FROM r) q
# with, derived tables
WITH c AS (SELECT k, v FROM t WHERE v > 0) SELECT c.k, r.w FROM c JOIN r ON c.k = r.k
WITH c (a, b) AS (SELECT k, SUM(v) FROM t GROUP BY k) SELECT a FROM c WHERE b > 1
WITH c AS (SELECT k FROM t), d AS (SELECT k FROM c WHERE k > 0) SELECT * FROM d, c WHERE c.k = d.k
WITH c AS (SELECT k, v FROM t) SELECT x.k FROM c x, c y WHERE x.k = y.v
SELECT q.n FROM (SELECT k + 1 AS n FROM t) AS q WHERE q.n > 1
SELECT a, b FROM (SELECT k, v FROM t) AS q (a, b)
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS q (n, y)
SELECT t.k, q.y FROM t JOIN (VALUES (1, 'x'), (2, NULL)) AS q (n, y) ON t.k = q.n
WITH RECURSIVE p (a, b) AS (SELECT src, dst FROM e UNION SELECT p.a, e.dst FROM p JOIN e ON p.b =
  e.src) SELECT * FROM p
WITH RECURSIVE p (a) AS (SELECT 1 UNION SELECT a + 1 FROM p WHERE a < 5) SELECT * FROM p
WITH RECURSIVE p AS (SELECT src, dst FROM e WHERE src > 0 UNION SELECT p.src, e.dst FROM p, e
  WHERE p.dst = e.src) SELECT src, COUNT(*) FROM p GROUP BY src
# unnest, generate_series
SELECT id, x FROM l, UNNEST(xs) AS q (x)
SELECT id, q.x + 1 FROM l CROSS JOIN UNNEST(xs) AS q (x) WHERE q.x > 1
SELECT id, x FROM l LEFT JOIN UNNEST(xs) AS q (x) ON TRUE
SELECT k, i FROM t, GENERATE_SERIES(1, 3) AS q (i)
SELECT i FROM GENERATE_SERIES(1, 4) AS q (i)
SELECT x, COUNT(*) FROM l, UNNEST(xs) AS q (x) GROUP BY x
# windows
SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, s, d, m) AS n FROM t
SELECT k, v, RANK() OVER (ORDER BY v), DENSE_RANK() OVER (ORDER BY v) FROM t
SELECT k, v, RANK() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t
SELECT k, v FROM t QUALIFY RANK() OVER (PARTITION BY k ORDER BY v DESC) = 1
SELECT k, v FROM (SELECT k, v, RANK() OVER (ORDER BY v) AS n FROM t) q WHERE n <= 2
SELECT k, SUM(v) OVER (PARTITION BY k) FROM t
SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) FROM t
SELECT k, COUNT(*) OVER () FROM t
SELECT k, v, AVG(v) OVER (ORDER BY v RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t WHERE v IS
  NOT NULL
SELECT v, LAG(v) OVER (ORDER BY v), LEAD(v, 1, 9) OVER (ORDER BY v) FROM t
SELECT v, SUM(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
SELECT v, MIN(v) OVER (ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t
SELECT k, SUM(v), RANK() OVER (ORDER BY SUM(v)) FROM t GROUP BY k
SELECT k, SUM(SUM(v)) OVER () FROM t GROUP BY k
SELECT k, SUM(v) OVER w, COUNT(*) OVER w FROM t WINDOW w AS (PARTITION BY k)
SELECT k, v * 100 / SUM(v + 1) OVER (PARTITION BY k) FROM t
# scalar subqueries
SELECT k, (SELECT MAX(w) FROM r) FROM t
SELECT k FROM t WHERE v > (SELECT AVG(w) FROM r)
SELECT k FROM t WHERE v = (SELECT MAX(w) FROM r)
SELECT k, (SELECT COUNT(*) FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT COUNT(*) + 1 FROM r WHERE r.k = t.k) FROM t
SELECT k FROM t WHERE v = (SELECT COUNT(*) FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE 0 = (SELECT COUNT(*) FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE v >= (SELECT COUNT(w) FROM r WHERE r.k = t.k AND r.w > 1)
SELECT k, (SELECT SUM(w) FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT COALESCE(SUM(w), -1) FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT CASE WHEN COUNT(*) = 0 THEN 'none' WHEN MAX(w) > 1 THEN NULL ELSE 'some' END
  FROM r WHERE r.k = t.k) FROM t
SELECT k FROM t WHERE v < (SELECT SUM(w) FROM r WHERE r.k = t.k)
SELECT k, (SELECT SUM(w) FROM r WHERE r.w < t.v) FROM t
SELECT k, (SELECT COUNT(*) FROM r WHERE r.w < t.v) FROM t
SELECT k, (SELECT COUNT(*) FROM r WHERE r.k = t.k AND r.w < t.v) FROM t
SELECT k, (SELECT COUNT(*) FROM r WHERE r.k IS NOT DISTINCT FROM t.k) FROM t
SELECT k, (SELECT SUM(r.w + t.v) FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT SUM(w) + t.v FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT COUNT(*) + t.v FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT MAX(w) FROM r WHERE r.k = t.k GROUP BY r.k) FROM t
SELECT k, (SELECT SUM(w) FROM r WHERE r.k = t.k HAVING COUNT(*) > 1) FROM t
SELECT k, (SELECT COUNT(*) FROM r WHERE r.k = t.k HAVING COUNT(*) < 2) FROM t
SELECT k, (SELECT w FROM r WHERE r.k = t.k ORDER BY w LIMIT 1) FROM t
SELECT k, (SELECT w FROM r ORDER BY w NULLS FIRST LIMIT 1) FROM t
SELECT k, (SELECT DISTINCT r.k FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT t.v + 1) FROM t
SELECT k, (SELECT MAX(q.w) FROM (SELECT w FROM r WHERE r.k = t.k) q) FROM t
SELECT k, (SELECT SUM(q.n) FROM (SELECT COUNT(*) AS n FROM r WHERE r.k = t.k) q) FROM t
SELECT k, (SELECT COUNT(*) FROM r, u WHERE r.w = u.a AND r.k = t.k) FROM t
SELECT k, (SELECT COUNT(*) FROM r LEFT JOIN u ON r.w = u.a WHERE r.k = t.k) FROM t
SELECT k, (SELECT COUNT(*) FROM r LEFT JOIN u ON r.w = u.a AND u.a = t.v WHERE r.k = t.k) FROM t
SELECT k, (SELECT COUNT(u.a) FROM u RIGHT JOIN r ON r.w = u.a WHERE r.k = t.k) FROM t
SELECT k, (SELECT COUNT(*) FROM (SELECT k FROM r UNION ALL SELECT a FROM u) q WHERE q.k = t.k)
  FROM t
SELECT k, (SELECT MAX(n) FROM (SELECT w AS n FROM r WHERE r.k = t.k UNION SELECT a FROM u WHERE
  u.a > t.v) q) FROM t
SELECT k, (SELECT SUM(w) FROM r WHERE r.k = (SELECT MAX(a) FROM u WHERE u.a <= t.k)) FROM t
SELECT k, (SELECT SUM(w) FROM r WHERE r.k = t.k AND r.w = (SELECT MAX(a) FROM u WHERE u.a <= r.w))
  FROM t
SELECT k FROM t WHERE v + 1 > (SELECT AVG(w) FROM r WHERE r.k = t.k) * 2
SELECT k, SUM(v) FROM t GROUP BY k HAVING SUM(v) > (SELECT AVG(w) FROM r)
SELECT k, SUM(v) FROM t GROUP BY k HAVING SUM(v) > (SELECT SUM(w) FROM r WHERE r.k = t.k)
SELECT k, SUM(v), (SELECT MAX(w) FROM r WHERE r.k = t.k) FROM t GROUP BY k
SELECT SUM((SELECT COUNT(*) FROM r WHERE r.k = t.k)) FROM t
SELECT k FROM t WHERE v > (SELECT MIN(w) FROM r WHERE r.k = t.k) OR v IS NULL
SELECT k FROM t WHERE (SELECT MAX(w) FROM r WHERE r.k = t.k) IS NULL
SELECT CASE WHEN (SELECT COUNT(*) FROM r WHERE r.k = t.k) > 1 THEN 'many' ELSE 'few' END FROM t
SELECT k, (SELECT COUNT(DISTINCT w) FROM r WHERE r.k = t.k) FROM t
SELECT k, (SELECT STRING FROM (SELECT MAX(b) AS string FROM u WHERE u.a = t.k) q) FROM t
SELECT a.k FROM t a WHERE a.v = (SELECT MAX(b.v) FROM t b WHERE b.k = a.k)
SELECT a.k, a.v FROM t a WHERE a.v > (SELECT AVG(b.v) FROM t b WHERE b.s = a.s AND b.k <> a.k)
SELECT k, (SELECT SUM(n) OVER () FROM (SELECT COUNT(*) AS n FROM r WHERE r.k = t.k) q) FROM t
SELECT k, (SELECT COUNT(*) FROM r WHERE r.k = t.k GROUP BY ()) FROM t
SELECT k, (SELECT SUM(t.v + r.w) FROM r) FROM t
# exists
SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = t.k GROUP BY ())
SELECT k FROM t WHERE EXISTS (SELECT * FROM r)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE w > 100)
SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM r WHERE w > 100)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k AND r.w > t.v)
SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = t.k AND r.w <> t.v)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.w > t.v)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE t.v > 1)
SELECT k FROM t WHERE EXISTS (SELECT COUNT(*) FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE NOT EXISTS (SELECT COUNT(*) FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE EXISTS (SELECT COUNT(*) FROM r WHERE r.k = t.k HAVING COUNT(*) > 1)
SELECT k FROM t WHERE EXISTS (SELECT w FROM r WHERE r.k = t.k GROUP BY w HAVING COUNT(*) > 1)
SELECT k FROM t WHERE EXISTS (SELECT w FROM r WHERE r.w > t.v GROUP BY w HAVING COUNT(*) > 1)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k UNION ALL SELECT 1 FROM u WHERE u.a
  = t.v)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r, u WHERE r.k = t.k AND u.a = r.w)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k AND EXISTS (SELECT 1 FROM u WHERE
  u.a = r.w))
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k AND EXISTS (SELECT 1 FROM u WHERE
  u.a = t.v))
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.v
  AND u.a = r.w))
SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM r WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a =
  t.v AND u.a = r.w))
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k) OR v = 1
SELECT k FROM t WHERE NOT (EXISTS (SELECT 1 FROM r WHERE r.k = t.k) OR v = 1)
SELECT k, EXISTS (SELECT 1 FROM r WHERE r.k = t.k) FROM t
SELECT k, NOT EXISTS (SELECT 1 FROM r WHERE r.k = t.k AND r.w > t.v) FROM t
SELECT k, EXISTS (SELECT 1 FROM r WHERE w > 100) FROM t
SELECT k, CASE WHEN EXISTS (SELECT 1 FROM r WHERE r.w = t.v) THEN 1 ELSE 0 END FROM t
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k LIMIT 1)
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k OFFSET 1)
SELECT k FROM t WHERE EXISTS (SELECT DISTINCT w FROM r WHERE r.k = t.k)
SELECT a.k FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.k = a.k AND b.v <> a.v) AND NOT EXISTS
  (SELECT 1 FROM t c WHERE c.k = a.k AND c.v > a.v)
SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k IS NOT DISTINCT FROM t.k)
# in
SELECT k FROM t WHERE k IN (SELECT k FROM r)
SELECT k FROM t WHERE k NOT IN (SELECT k FROM r)
SELECT k FROM t WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)
SELECT k FROM t WHERE k NOT IN (SELECT a FROM u)
SELECT a FROM u WHERE a NOT IN (SELECT k FROM r)
SELECT a FROM u WHERE a NOT IN (SELECT k FROM r WHERE w > 100)
SELECT k FROM t WHERE k NOT IN (SELECT k FROM r WHERE w > 100)
SELECT k FROM t WHERE k IN (SELECT w FROM r WHERE r.k = t.v)
SELECT k FROM t WHERE k NOT IN (SELECT w FROM r WHERE r.k = t.v)
SELECT k FROM t WHERE k NOT IN (SELECT w FROM r WHERE r.k < t.v)
SELECT k FROM t WHERE k + 1 IN (SELECT w FROM r)
SELECT k FROM t WHERE k IN (SELECT w + t.v FROM r)
SELECT k FROM t WHERE m IN (SELECT w FROM r)
SELECT k FROM t WHERE NOT k IN (SELECT w FROM r)
SELECT k FROM t WHERE NOT (k NOT IN (SELECT w FROM r))
SELECT k FROM t WHERE k IN (SELECT k FROM r GROUP BY k HAVING COUNT(*) > 1)
SELECT k FROM t WHERE k IN (SELECT k FROM r UNION SELECT a FROM u)
SELECT k FROM t WHERE k IN (SELECT k FROM r ORDER BY k LIMIT 1)
SELECT k FROM t WHERE (k, v) IN (SELECT k, w FROM r)
SELECT k FROM t WHERE (k, v) NOT IN (SELECT k, w FROM r)
SELECT k FROM t WHERE k IN (SELECT k FROM r) OR v = 1
SELECT k FROM t WHERE k NOT IN (SELECT k FROM r) OR v = 1
SELECT k, k IN (SELECT w FROM r) FROM t
SELECT k, k NOT IN (SELECT w FROM r) FROM t
SELECT k, v, k IN (SELECT w FROM r WHERE r.k = t.v) FROM t
SELECT k, v, k IN (SELECT w FROM r WHERE r.k < t.v) FROM t
SELECT k, k IN (SELECT w FROM r WHERE w > 100) FROM t
SELECT k, (k IN (SELECT w FROM r)) IS NULL FROM t
SELECT k FROM t WHERE CASE WHEN k IN (SELECT k FROM r) THEN v = 1 ELSE v = 2 END
SELECT k FROM t WHERE k IN (SELECT k FROM r WHERE w IN (SELECT a FROM u))
SELECT k FROM t WHERE k IN (SELECT k FROM r WHERE w NOT IN (SELECT a FROM u WHERE u.a = t.v))
SELECT k, SUM(v) FROM t GROUP BY k HAVING k IN (SELECT k FROM r)
SELECT k, SUM(v) FROM t GROUP BY k HAVING SUM(v) NOT IN (SELECT w FROM r WHERE w IS NOT NULL)
# any, all
SELECT k FROM t WHERE k = ANY (SELECT k FROM r)
SELECT k FROM t WHERE v > ANY (SELECT w FROM r)
SELECT k FROM t WHERE v > ALL (SELECT w FROM r)
SELECT k FROM t WHERE v > ALL (SELECT w FROM r WHERE w IS NOT NULL)
SELECT k FROM t WHERE v >= ALL (SELECT w FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE v < ANY (SELECT w FROM r WHERE r.k = t.k)
SELECT k FROM t WHERE NOT (v > ANY (SELECT w FROM r WHERE r.k = t.k))
SELECT k FROM t WHERE NOT (v > ALL (SELECT w FROM r WHERE r.k = t.k))
SELECT k FROM t WHERE v <> ALL (SELECT w FROM r)
SELECT k FROM t WHERE v <> ALL (SELECT w FROM r WHERE w > 100)
SELECT k, v > ANY (SELECT w FROM r) FROM t
SELECT k, v <= ALL (SELECT w FROM r WHERE r.k = t.k) FROM t
# lateral
SELECT t.k, q.n FROM t, LATERAL (SELECT COUNT(*) AS n FROM r WHERE r.k = t.k) q
SELECT t.k, q.w FROM t, LATERAL (SELECT w FROM r WHERE r.k = t.k) q
SELECT t.k, q.w FROM t, LATERAL (SELECT w FROM r WHERE r.w < t.v ORDER BY w LIMIT 1) q
SELECT t.k, q.w FROM t LEFT JOIN LATERAL (SELECT w FROM r WHERE r.k = t.k AND r.w > t.v) q ON TRUE
SELECT t.k, q.n FROM t LEFT JOIN LATERAL (SELECT SUM(w) AS n FROM r WHERE r.k = t.k) q ON TRUE
SELECT t.k, q.n, p.y FROM t, LATERAL (SELECT t.v + 1 AS n) q, LATERAL (SELECT q.n * 2 AS y) p
SELECT t.k, q.w FROM t, LATERAL (SELECT DISTINCT w FROM r WHERE r.k = t.k) q WHERE t.v > 0
SELECT t.k, q.n FROM t, LATERAL (SELECT w AS n FROM r WHERE r.k = t.k UNION ALL SELECT a FROM u
  WHERE u.a = t.k) q
# asof
SELECT t.k, t.v, r.w FROM t ASOF JOIN r ON t.k = r.k AND t.v >= r.w
SELECT t.k, t.v, r.w FROM t ASOF LEFT JOIN r ON t.k = r.k AND t.v >= r.w
SELECT t.k, t.v, r.w FROM t ASOF JOIN r ON t.k = r.k AND r.w < t.v
SELECT t.* EXCLUDE (s, d), w FROM t JOIN r ON t.k = r.k
SELECT * EXCLUDE (s) FROM t
SELECT t.v, r.w, u.b FROM t JOIN (r JOIN u ON r.w = u.a) ON t.k = r.k
SELECT t.v, r.w, u.b FROM t LEFT JOIN (r JOIN u ON r.w = u.a) ON t.k = r.k
SELECT t.v, r.w, u.b FROM t LEFT JOIN (r LEFT JOIN u ON r.w = u.a) ON t.k = r.k AND t.v = u.a
SELECT k FROM t ORDER BY k, v OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY
SELECT d - 3 < DATE '2024-01-30', d - DATE '2024-01-01', CAST(DATE_TRUNC('month', d) AS DATE),
  DATE_DIFF('day', d, DATE '2024-03-01') FROM t
SELECT k, LIST(v) FILTER (WHERE v IS NOT NULL AND v < 0) FROM t GROUP BY k
SELECT k, ARG_MIN(v, m) IS NULL, COUNT_IF(v > 1) FROM t GROUP BY k
SELECT k // 2, k % 2, v / 4 FROM t
"""


def listed(text: str) -> list[str]:
    """One query per line; a line may go on in the next, which is indented."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith("  "):
            lines[-1] += " " + line.strip()
        elif not line.startswith("#"):
            lines.append(line)
    return lines


def random_rows(random: Random, schema: Schema, number: int) -> list[Row]:
    return [
        tuple(
            None
            if column.nullable and random.random() < 0.25
            else random.choice(VALUES[str(column.type)])
            for column in schema.columns
        )
        for _ in range(number)
    ]


class Database:
    """The same random tables in DuckDB and as Z-sets."""

    def __init__(self, seed: int) -> None:
        duckdb = pytest.importorskip("duckdb")
        self.connection: Any = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET integer_division = false")
        self.contents: dict[str, ZSet] = {}
        random = Random(seed)
        for name, schema in TABLES.items():
            rows = random_rows(random, schema, random.choice((0, 4, 7, 9)) if seed else 6)
            self.contents[name] = ZSet([(row, 1) for row in rows], schema)
            self.connection.execute(create_table(name, schema, "duckdb"))
            places = ", ".join("?" for _ in schema.columns)
            for row in rows:
                self.connection.execute(
                    f"INSERT INTO {name} VALUES ({places})",
                    [list(value) if isinstance(value, tuple) else value for value in row],
                )

    def answer(self, text: str) -> Counter[Row]:
        return Counter(map(plain_row, self.connection.execute(text).fetchall()))

    def meaning(self, text: str) -> Counter[Row]:
        rows = parse(text, TABLES, "duckdb").meaning()(self.contents)
        return Counter({plain_row(row): weight for row, weight in rows.items()})


def plain_row(row: Sequence[Value]) -> Row:
    """The row with numbers of any type comparable: DOUBLEs rounded, DECIMALs without zeros."""
    return tuple(map(plain, row))


def plain(value: Value) -> Value:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        number = float(value)
        return "NaN" if math.isnan(number) else float(f"{number:.9g}") + 0.0
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    return value


@pytest.fixture(scope="module")
def databases() -> list[Database]:
    return [Database(seed) for seed in range(SEEDS)]


@pytest.mark.parametrize("text", listed(QUERIES))
def test_the_text_means_what_it_means_to_duckdb(text: str, databases: list[Database]) -> None:
    for database in databases:
        assert database.meaning(text) == database.answer(text)


@pytest.mark.parametrize("text", listed(QUERIES))
def test_the_circuit_of_the_text_keeps_its_meaning(text: str) -> None:
    query = parse(text, TABLES, "duckdb")
    meaning = query.meaning()
    random = Random(text)
    circuit = Circuit({"view": query})
    contents = {name: ZSet() for name in query.tables()}
    view = ZSet()
    for _ in range(4):
        tick = {name: change(random, TABLES[name], contents[name]) for name in contents}
        contents = {name: contents[name] + delta for name, delta in tick.items()}
        view = view + circuit.step(tick)["view"]
        assert view == meaning(contents)


def change(random: Random, schema: Schema, before: ZSet) -> ZSet:
    """A few rows more, and about half of what is there less."""
    new = ZSet([(row, 1) for row in random_rows(random, schema, random.choice((0, 2, 4)))], schema)
    gone = ZSet([(row, -weight) for row, weight in before.items() if random.random() < 0.4])
    return new + gone
