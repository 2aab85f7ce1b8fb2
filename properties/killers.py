"""Values that broke engines: for each type the few that are worth more than a thousand others.

    KILLERS              type name → groups of values, and who differed on them
    killer_domain(kind)  all of them for a type, as a tuple, the plainest first
    killer_groups(kind)  the same in groups that belong together
    killer_values(kind, nullable)   killer_rows(schema)   killer_zsets(schema)   as strategies
    HUGE_WEIGHTS         weights that a bounded type must refuse, and never wrap

Every value is canonical: −0.0 is given and is 0.0 behind the door, 1.0 and 1.00 are one decimal.
NULL is not listed, as every strategy and generator draws it where a column allows it. A type may
hold plain values too: 0 and 1 are here because they stand beside FALSE and TRUE.

    value                            who differed                          where
    NULL beside '' and 'NULL'        objectstack, spiceai: one key         VARCHAR, ARRAY
    ±inf, NaN, 1.1e31, DBL_MAX       Materialize: sum wrong, or a panic    DOUBLE
    1e16 + 1 - 1e16                  Feldera: drifts                       DOUBLE
    −0.0                             Spark, ClickHouse, Doris: two groups  DOUBLE
    1 beside 1.0, 0/1 beside FALSE   turso, memcp, arcadedb: mixed up      BIGINT, DOUBLE, BOOLEAN
    64-bit extremes                  RisingWave, ReadySet: panic           BIGINT
    scale and size of decimals       CockroachDB, ReadySet: other digits   DECIMAL
    non-BMP characters               Zero: two orders                      VARCHAR
    newline, %, _, \\ in LIKE         Zero, TanStack DB                     VARCHAR
    trailing spaces                  MySQL through ReadySet: trimmed       VARCHAR
    letters by case and accents      turso, DuckDB: a collation lost       VARCHAR
    __proto__                        Zero: lost                            VARCHAR
    very long strings                StarRocks: keys too long              VARCHAR
    NULL inside an array, empty      StarRocks, ReadySet                   ARRAY
    dates before the epoch           none found in the searches            DATE, TIMESTAMP
    DST gap and fold                 TimescaleDB, RisingWave               TIMESTAMP
    huge weights                     DDlog: wraps; Materialize: panics     HUGE_WEIGHTS
    equal rows                       DDlog: weights clipped                killer_zsets

`NOT_VALUES` names what else broke engines and is no value of a type here, with the reason.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

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

if TYPE_CHECKING:  # strategies alone need it, and the suite asks for the values alone
    from hypothesis.strategies import SearchStrategy

Make: TypeAlias = Callable[[Any], tuple[Value, ...]]


@dataclass(frozen=True)
class Killer:
    """Values of a type that broke engines in one way; `make` gives them for a type.

    >>> drift = KILLERS["DOUBLE"][2]
    >>> drift.make(DOUBLE), drift.source
    ((1e+16, -1e+16, 1.0), 'feldera#4136')
    """

    what: str
    differed: str  # who, and how; "none found" where the searches found nobody
    source: str  # a public issue or commit, or nothing
    make: Make


def these(*values: Value) -> Make:
    """The same values whatever the type's parameters."""
    return lambda kind: values


def decimal_extremes(kind: DECIMAL) -> tuple[Value, ...]:
    """The largest of the precision, either sign, and the smallest above zero."""
    largest = 10**kind.precision - 1
    return tuple(kind.from_units(units) for units in (largest, -largest, 1))


def decimal_ones(kind: DECIMAL) -> tuple[Value, ...]:
    """Zero and one with all their decimal places."""
    one = 10**kind.scale if kind.scale < kind.precision else 1
    return kind.from_units(0), kind.from_units(one)


def arrays_of_null(kind: ARRAY) -> tuple[Value, ...]:
    """NULL alone, before and after a value."""
    first, *_ = killer_domain(kind.element)
    return (None,), (None, first), (first, None)


def arrays_of_killers(kind: ARRAY) -> tuple[Value, ...]:
    """The element's values one by one: of text 'NULL' and '', of arrays the empty one."""
    return tuple((value,) for value in killer_domain(kind.element))


def arrays_of_equals(kind: ARRAY) -> tuple[Value, ...]:
    """One value twice and three times."""
    first, second, *_ = killer_domain(kind.element)
    return (first, first), (first, second, first)


LONG = "long " * 300  # 1,500 characters, trailing space included
GREGORY = datetime.date(1582, 10, 15)  # the day after 4 October, in the calendar of the time
MICRO = datetime.timedelta(microseconds=1)

KILLERS: Mapping[str, tuple[Killer, ...]] = {
    BOOLEAN.name: (
        Killer("TRUE beside 1, which Python calls equal", "none found", "", these(False, True)),
    ),
    BIGINT.name: (
        Killer("0 and 1, beside FALSE, TRUE and 1.0", "turso: 1 and 1.0 compared wrongly",
               "turso#4819", these(0, 1)),
        Killer("the ends of 64 bits", "RisingWave: SUM panicked", "risingwave#7587",
               these(BIGINT_MAX, BIGINT_MIN, BIGINT_MIN + 1)),
        Killer("integers that no double holds", "arcadedb: 100 and 100.0 as keys",
               "arcadedb#7623", these(2**53, 2**53 + 1)),
        Killer("the ends of 32 bits", "DDlog: weights of 32 bits", "differential-datalog#878",
               these(2**31 - 1, 2**31, -(2**31))),
    ),
    DOUBLE.name: (
        Killer("0.0, where −0.0 was given", "Spark, ClickHouse, Doris: two groups",
               "spark#55088", these(0.0)),
        Killer("1.0 beside 1", "memcp: split groups", "memcp#911", these(1.0)),
        Killer("a sum that drifts", "Feldera: never linear", "feldera#4136",
               these(1e16, -1e16, 1.0)),
        Killer("NaN and the infinities", "Materialize: 0, and an overflow", "materialize#8492",
               these(NAN, math.inf, -math.inf)),
        Killer("the largest", "Materialize: a panic, later -1.19e-7", "materialize#9368",
               these(sys.float_info.max, -sys.float_info.max)),
        Killer("large ones that cancel out", "Materialize: -5.96e-8", "materialize#36781",
               these(1.1e31, -1.1e31)),
        Killer("small ones and the smallest", "Materialize: SUM was 0", "materialize#15186",
               these(1e-39, sys.float_info.min, 5e-324)),
    ),
    DECIMAL.name: (
        Killer("1.0 and 1.00", "CockroachDB: DISTINCT kept both", "cockroach#44935", decimal_ones),
        Killer("the ends of the precision", "ReadySet: digits that differ by dialect",
               "readyset@ce07ae11f", decimal_extremes),
    ),
    VARCHAR.name: (
        Killer("empty, and the word NULL", "spiceai: NULL and 'NULL' one digest; objectstack: ''",
               "spiceai#11272", these("", "NULL")),
        Killer("trailing and leading spaces", "ReadySet: padded and trimmed as MySQL",
               "readyset@744da69e5", these("a", "a ", " a")),
        Killer("upper and lower case", "turso: a collation lost under GROUP BY", "turso#8745",
               these("A", "ß")),
        Killer("one letter, and a letter with a combining accent", "none found", "",
               these("\u00e9", "e\u0301")),
        Killer("beyond the basic plane, and after it in UTF-16 only", "Zero: two orders",
               "mono#6088", these("\U0001f600", "\uffee")),
        Killer("what LIKE and regular expressions read", "Zero: % stopped at a newline",
               "mono#6083", these("a\nb", "%", "_", "\\", "a\\%b")),
        Killer("quotes", "none found", "", these("'", '"', "a''b")),
        Killer("a name of the language", "Zero: lost from the view", "mono#6185",
               these("__proto__")),
        Killer("a number as text", "turso: panicked on arithmetic", "turso#5252",
               these("1", "01", "1.0")),
        Killer("very long", "StarRocks: keys too long", "starrocks#64820",
               these(LONG, LONG + "!")),
    ),
    DATE.name: (
        Killer("before the epoch", "none found", "",
               these(datetime.date(1969, 12, 31), datetime.date(1970, 1, 1))),
        Killer("the first and the last", "none found", "",
               these(datetime.date.min, datetime.date.max)),
        Killer("where the calendars change", "none found", "",
               these(GREGORY - datetime.timedelta(1), GREGORY, datetime.date(1582, 10, 4))),
        Killer("leap days", "none found", "",
               these(datetime.date(2000, 2, 29), datetime.date(1900, 2, 28))),
    ),
    TIMESTAMP.name: (
        Killer("before the epoch, by a microsecond", "none found", "",
               these(datetime.datetime(1970, 1, 1) - MICRO, datetime.datetime(1970, 1, 1))),
        Killer("an hour that clocks leave out", "TimescaleDB: an inverted range",
               "timescaledb#8898", these(datetime.datetime(2013, 3, 10, 2, 30),
                                         datetime.datetime(2013, 3, 31, 2, 30))),
        Killer("an hour that clocks have twice", "RisingWave: date_trunc at the jump back",
               "risingwave#13201", these(datetime.datetime(2013, 11, 3, 1, 30),
                                         datetime.datetime(2013, 11, 3, 2, 30))),
        Killer("the first and the last", "none found", "",
               these(datetime.datetime.min, datetime.datetime.max)),
        Killer("where the calendars change", "none found", "",
               these(datetime.datetime(1582, 10, 10, 12))),
        Killer("around a leap second", "none found", "",
               these(datetime.datetime(2017, 1, 1) - MICRO, datetime.datetime(2017, 1, 1))),
    ),
    ARRAY.name: (
        Killer("empty", "StarRocks: nothing hashed", "starrocks#79312", these(())),
        Killer("NULL inside", "ReadySet: NULLs in the opposite order", "readyset@9bed07a9e",
               arrays_of_null),
        Killer("each killer of the element", "StarRocks: nothing hashed", "starrocks#79312",
               arrays_of_killers),
        Killer("equal elements", "none found", "", arrays_of_equals),
    ),
}  # fmt: skip

HUGE_WEIGHTS: tuple[int, ...] = (  # differential-datalog#878 wrapped, materialize#32028 panicked
    2**31 - 1,
    2**31,
    2**32 + 1,
    2**53 + 1,
    2**63 - 1,
    2**63,
    10**30,
)

NOT_VALUES: Mapping[str, str] = {
    "undefined, Date objects": "values of JavaScript; a row here holds the types of SQL",
    "text in a numeric column": "refused on entry: RowError names the column",
    "CHAR": "no such type; VARCHAR keeps every space",
    "NOCASE and other collations": "strings compare by code point; there is no collation",
    "case of identifiers": "a property of names, not of values: schemas refuse two of one name",
    "INTERVAL": "no such type; an interval is a number of days, months or microseconds",
    "MAP, STRUCT": "no such types",
    "named time zones": "a TIMESTAMP is UTC without one; the hours where clocks jump are here",
    "leap seconds": "refused on entry: a TIMESTAMP has none, nor has Python's datetime",
    "NUL in a string": "PostgreSQL refuses it, and SQLite leaves undefined what its functions say",
    "lone surrogates": "not Unicode text: UTF-8 cannot write one, so no engine can be given one",
    "LIMIT 0": "a parameter of a query: top_k draws it",
}


@lru_cache(maxsize=256)
def killer_domain(kind: Type) -> tuple[Value, ...]:
    """The values of a type that broke engines, the plainest first, none twice.

    >>> killer_domain(BIGINT)[:4]
    (0, 1, 9223372036854775807, -9223372036854775808)
    >>> killer_domain(DECIMAL(3, 2))
    (Decimal('0.00'), Decimal('1.00'), Decimal('9.99'), Decimal('-9.99'), Decimal('0.01'))
    >>> killer_domain(ARRAY(BOOLEAN))[:4]
    ((), (None,), (None, False), (False, None))
    """
    return tuple(dict.fromkeys(value for group in killer_groups(kind) for value in group))


@lru_cache(maxsize=256)
def killer_groups(kind: Type) -> tuple[tuple[Value, ...], ...]:
    """The same in groups that belong together: 1e16, -1e16 and 1.0 drift in one sum.

    >>> (1e16, -1e16, 1.0) in killer_groups(DOUBLE), killer_groups(BOOLEAN)
    (True, ((False, True),))
    """
    return tuple(tuple(map(kind.canonical, killer.make(kind))) for killer in KILLERS[kind.name])


def killer_values(kind: Type, nullable: bool = False) -> SearchStrategy[Value]:
    """One of them; NULL too, if it may be.

    >>> from hypothesis import find
    >>> find(killer_values(VARCHAR), lambda text: len(text) > 2)
    'NULL'
    """
    from hypothesis import strategies as st

    return st.sampled_from(killer_domain(kind) + ((None,) if nullable else ()))


def killer_rows(schema: Schema) -> SearchStrategy[Row]:
    """A row of them.

    >>> from hypothesis import find
    >>> find(killer_rows(Schema.parse("k BIGINT, x DOUBLE NOT NULL")), lambda row: row[1] > 1e300)
    (0, inf)
    """
    from hypothesis import strategies as st

    return st.tuples(*[killer_values(column.type, column.nullable) for column in schema.columns])


def killer_zsets(schema: Schema) -> SearchStrategy[ZSet]:
    """A Z-set of up to four such rows; their weights of either sign, some of them huge.

    >>> from hypothesis import find
    >>> z = killer_zsets(Schema.parse("k BIGINT NOT NULL"))
    >>> find(z, lambda z: any(weight >= 2**63 for _, weight in z.items()))
    ZSet({(0,): 9223372036854775808})
    """
    from hypothesis import strategies as st

    weights = st.sampled_from((1, -1, 2, *HUGE_WEIGHTS, *(-weight for weight in HUGE_WEIGHTS)))
    entries = st.lists(st.tuples(killer_rows(schema), weights), max_size=4)
    return entries.map(lambda drawn: ZSet.of(schema, drawn))
