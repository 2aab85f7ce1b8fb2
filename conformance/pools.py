"""The rows that a history is made of: few, over small domains, so that they meet.

    pool(random, schema, special)    plain values; DOUBLE may be NaN and infinite when `special`
    killer_pool(random, schema)      beside two plain values of a column, a few that broke engines

Which of the two the tables of a shape get, its seed decides (`with_killers`). What it asks of a
backend to add such numbers up, `adding_needs` says.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from random import Random

from deltaproof.conformance.adapter import needs
from deltaproof.conformance.histories import Pool
from deltaproof.properties.killers import killer_groups
from deltaproof.reference.query import Query
from deltaproof.reference.types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    NAN,
    TIMESTAMP,
    VARCHAR,
    Column,
    Row,
    Schema,
    Type,
    Value,
)

VALUES = ("plain", "killers", "mixed")  # what the tables of a run may hold
KILLER_SHARE = 6  # of the shapes of a mixed run, one in so many holds killers

MONEY = DECIMAL(10, 2)
BIGINTS = ARRAY(BIGINT)
DOMAINS: Mapping[Type, tuple[Value, ...]] = {
    BIGINT: (0, 1, 2, -5, 5),
    VARCHAR: ("a", "b", "", "ab"),
    DOUBLE: (0.0, 0.5, -0.5, 1.25),
    BOOLEAN: (True, False),
    DATE: (datetime.date(2013, 1, 1), datetime.date(2013, 1, 31), datetime.date(1969, 12, 31)),
    TIMESTAMP: (
        datetime.datetime(2013, 1, 1, 5, 15),
        datetime.datetime(2013, 1, 1, 23, 59, 59, 999_999),
    ),
    MONEY: (Decimal("0.00"), Decimal("1.50"), Decimal("-1.50"), Decimal("0.01")),
    BIGINTS: ((), (1,), (1, 1), (0, None)),
}
KEYS: tuple[Value, ...] = (0, 1, 2)
SPECIAL_DOUBLES = (NAN, math.inf, 1e16)
GROUPS = (0, 1, 1, 2)  # of killers, in the domain of a column


def with_killers(values: str, seed: str) -> bool:
    """Whether the shape of this seed holds killers: in a mixed run, one in `KILLER_SHARE`.

    >>> with_killers("killers", "7"), with_killers("plain", "7")
    (True, False)
    >>> sum(with_killers("mixed", str(seed)) for seed in range(600))
    90
    """
    mixed = values == "mixed" and Random(f"{seed}/values").randrange(KILLER_SHARE) == 0
    return mixed or values == "killers"


def pool(random: Random, schema: Schema, special_doubles: bool) -> Pool:
    """Up to 18 rows over small domains, some with NULL where a column allows it."""

    def domain(column: Column) -> tuple[Value, ...]:
        if column.type == DOUBLE and special_doubles:
            return DOMAINS[DOUBLE][:2] + SPECIAL_DOUBLES
        return DOMAINS[column.type][:3] if random.random() < 0.5 else DOMAINS[column.type]

    return pool_over(random, schema, [KEYS, *[domain(column) for column in schema.columns[1:]]])


def killer_pool(random: Random, schema: Schema, far: bool = True) -> Pool:
    """As `pool`, but with values that broke engines in most columns; the keys among them.

    Without `far` no number is so great that a sum in doubles loses the small ones.
    """

    def domain(column: Column) -> tuple[Value, ...]:
        groups = killer_groups(column.type)
        if not far:
            groups = tuple(group for group in groups if not is_far(group))
        some = random.sample(groups, min(len(groups), random.choice(GROUPS)))
        return tuple(dict.fromkeys(chain(DOMAINS[column.type][:2], *some)))

    return pool_over(random, schema, list(map(domain, schema.columns)))


ADDING = frozenset(  # what most engines do in doubles, rounding at each step
    {
        *("aggregate.sum", "aggregate.sum_distinct", "aggregate.avg", "aggregate.avg_distinct"),
        *("aggregate.variance", "aggregate.stddev", "aggregate.quantile"),
        *("window.rolling_rows", "window.rolling_range"),
    }
)
FAR = 2**26  # the squares of greater numbers lose their last digits in a double
WIDE = 2**62  # two of such whole numbers need more than 64 bits together


def adding_needs(query: Query, values: Iterable[Value]) -> set[str]:
    """What it asks of a backend to add up such values, as far as the query does.

    >>> from deltaproof.reference.query import sum_, table
    >>> from deltaproof.reference.scalar import col
    >>> total = table("t", "k BIGINT").aggregate(s=sum_(col("k")))
    >>> adding_needs(total, [2**63 - 1]), adding_needs(total.inputs[0], [2**63 - 1])
    ({'sum.wide'}, set())
    """
    held = list(values)
    asked = query.capabilities() & ADDING
    found = {"sum.exact"} if adds_doubles(query) and any(map(is_far, held)) else set()
    if asked and any(map(is_wide, held)):
        found.add("sum.wide")
        if "window.rolling_range" in asked:
            found.add("range.wide")
    return found


def adds_doubles(query: Query) -> bool:
    """Whether an engine may round while it adds up: sums, averages, variances of DOUBLE.

    >>> from deltaproof.reference.query import avg, sum_, table
    >>> from deltaproof.reference.scalar import col
    >>> t = table("t", "k BIGINT")
    >>> adds_doubles(t.aggregate(s=sum_(col("k")))), adds_doubles(t.aggregate(a=avg(col("k"))))
    (False, True)
    """
    asked = needs(query)
    return "type.double" in asked and not asked.isdisjoint(ADDING)


def is_far(value: Value) -> bool:
    """Whether it is, or holds, a finite number so great that a double loses small ones beside it.

    >>> is_far(1e16), is_far(math.inf), is_far((1, None, -(2**63))), is_far(True)
    (True, False, True, False)
    """
    if isinstance(value, tuple):
        return any(map(is_far, value))
    return isinstance(value, (int, float, Decimal)) and FAR < abs(float(value)) < math.inf


def is_wide(value: Value) -> bool:
    """Whether it is, or holds, a whole number near the ends of 64 bits.

    >>> is_wide(2**63 - 1), is_wide(2**53), is_wide(1e300)
    (True, False, False)
    """
    if isinstance(value, tuple):
        return any(map(is_wide, value))
    return isinstance(value, int) and abs(value) > WIDE


def pool_over(random: Random, schema: Schema, domains: Sequence[Sequence[Value]]) -> Pool:
    """Twelve rows over these domains, and six with NULLs."""
    plain = [tuple(map(random.choice, domains)) for _ in range(12)]
    nulls = [
        tuple(
            None if column.nullable and random.random() < 0.5 else random.choice(values)
            for column, values in zip(schema.columns, domains, strict=True)
        )
        for _ in range(6)
    ]
    by_key: dict[Value, list[Row]] = {}
    for row in plain:
        by_key.setdefault(row[0], []).append(row)
    return Pool(
        schema,
        tuple(dict.fromkeys(plain)),
        tuple(row for row in dict.fromkeys(nulls) if None in row),
        {key: tuple(rows) for key, rows in by_key.items()},
    )
