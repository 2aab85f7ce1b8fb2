"""Every function at its edges: a column of values, and what each becomes.

The closures, every SQL engine and Spark are held against this one table.

    >>> [str(each.expression) for each in EXAMPLES if "TRUNC" in str(each.expression)][0]
    "DATE_TRUNC('year', x)"
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from deltaproof.reference.scalar import (
    Expr,
    absolute,
    add_days,
    add_micros,
    add_months,
    array,
    between,
    cardinality,
    cast,
    ceil,
    col,
    contains,
    date_trunc,
    days_between,
    element,
    epoch_days,
    epoch_micros,
    floor,
    greatest,
    hour,
    if_,
    is_false,
    is_in,
    is_true,
    least,
    left,
    lit,
    ltrim,
    minute,
    null,
    nullif,
    position,
    replace,
    right,
    rounded,
    rtrim,
    second,
    sequence,
    sign,
    starts_with,
    trim,
)
from deltaproof.reference.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
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


@dataclass(frozen=True)
class Example:
    """An expression over the column x, some values of x, and what it gives for them."""

    kind: str
    expression: Expr
    values: Mapping[Value, Value]

    @property
    def schema(self) -> Schema:
        return Schema.parse(f"x {self.kind}")

    @property
    def result(self) -> Type:
        return self.expression.type_in(self.schema)

    @property
    def rows(self) -> list[Row]:
        return [(value,) for value in self.values]


DAY, LEAP, NOON = (
    datetime.date(2023, 5, 31),
    datetime.date(2024, 2, 29),
    datetime.datetime(2024, 2, 29, 12, 34, 56, 789012),
)
OLD = datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
FIRST = datetime.datetime(1, 1, 1)
MIDNIGHT = datetime.datetime(2024, 2, 29)

NUMBERS: list[tuple[str, Expr, dict[Value, Value]]] = [
    ("BIGINT", absolute(col("x")), {-3: 3, 0: 0, BIGINT_MAX: BIGINT_MAX}),
    ("DOUBLE", absolute(col("x")), {-0.5: 0.5, -math.inf: math.inf}),
    ("BIGINT", sign(col("x")), {-3: -1, 0: 0, 9: 1, BIGINT_MIN: -1}),
    ("DOUBLE", sign(col("x")), {-0.5: -1, 0.0: 0, math.inf: 1}),
    ("BIGINT", floor(col("x")), {-3: -3, BIGINT_MAX: BIGINT_MAX}),
    ("DOUBLE", floor(col("x")), {-0.5: -1.0, 1.5: 1.0, 1e300: 1e300, -math.inf: -math.inf}),
    ("DOUBLE", ceil(col("x")), {-0.5: 0.0, 1.5: 2.0, 1e300: 1e300}),
    ("BIGINT", rounded(col("x")), {-3: -3}),
    (
        "DOUBLE",
        rounded(col("x")),
        {
            0.5: 1.0,
            1.5: 2.0,
            2.5: 3.0,
            -2.5: -3.0,
            -0.4: 0.0,
            0.49999999999999994: 0.0,
            4503599627370497.5: 4503599627370498.0,
            1e300: 1e300,
            -math.inf: -math.inf,
        },
    ),
    ("BIGINT", greatest(col("x"), 3, null(BIGINT)), {1: 3, 5: 5, None: 3}),
    ("BIGINT", least(col("x"), 3, null(BIGINT)), {1: 1, 5: 3, None: 3}),
    ("VARCHAR", greatest(col("x"), "a"), {"B": "a", "b": "b", "": "a", None: "a"}),
    ("DATE", least(col("x")), {DAY: DAY}),
    ("BIGINT", nullif(col("x"), 3), {3: None, 4: 4}),
    ("BIGINT", if_(col("x") > 3, "many", "few"), {3: "few", 4: "many", None: "few"}),
    ("BOOLEAN", is_true(col("x")), {True: True, False: False, None: False}),
    ("BOOLEAN", is_false(col("x")), {True: False, False: True, None: False}),
    ("BIGINT", between(col("x"), 1, 3), {0: False, 1: True, 3: True, 4: False}),
    ("BIGINT", is_in(col("x"), 1, 3), {1: True, 2: False}),
    ("BIGINT", is_in(col("x"), 1, null(BIGINT)), {1: True, 2: None}),
    ("BIGINT", ~is_in(col("x"), 1, null(BIGINT)), {1: False, 2: None}),
    ("BIGINT", is_in(col("x"), col("x") + 1, 3), {1: False, 3: True}),
    ("VARCHAR", is_in(col("x"), "a", "b"), {"a": True, "A": False, "": False}),
    ("DATE", is_in(col("x"), DAY), {DAY: True, LEAP: False}),
]
TEXTS: list[tuple[str, Expr, dict[Value, Value]]] = [
    ("VARCHAR", trim(col("x")), {"  a b ": "a b", "\ta\u2003 ": "\ta\u2003", " ": "", "": ""}),
    ("VARCHAR", ltrim(col("x")), {"  a b ": "a b "}),
    ("VARCHAR", rtrim(col("x")), {"  a b ": "  a b"}),
    ("VARCHAR", replace(col("x"), "ab", "🤦"), {"abab": "🤦🤦", "aab": "a🤦", "AB": "AB"}),
    ("VARCHAR", replace("aXa", col("x"), "y"), {"": "aXa", "a": "yXy", "x": "aXa"}),
    ("VARCHAR", position(col("x"), "b"), {"ab": 2, "🤦b": 2, "a": 0, "": 0}),
    ("VARCHAR", position("abc", col("x")), {"": 1, "bc": 2, "abcd": 0}),
    ("VARCHAR", left(col("x"), 2), {"🤦bc": "🤦b", "a": "a", "": ""}),
    ("VARCHAR", right(col("x"), 2), {"abc": "bc", "b🤦": "b🤦", "a": "a", "": ""}),
    ("VARCHAR", right(col("x"), 0), {"abc": ""}),
    ("BIGINT", right("abc", col("x")), {-1: "", 0: "", 1: "c", 3: "abc", 9: "abc"}),
    ("VARCHAR", starts_with(col("x"), "ab"), {"abc": True, "Abc": False, "a": False}),
    ("VARCHAR", starts_with("ab", col("x")), {"": True, "b": False, "abc": False}),
]
TIMES: list[tuple[str, Expr, dict[Value, Value]]] = [
    ("TIMESTAMP", hour(col("x")), {NOON: 12, OLD: 23}),
    ("TIMESTAMP", minute(col("x")), {NOON: 34, OLD: 59}),
    ("TIMESTAMP", second(col("x")), {NOON: 56, OLD: 59}),
    ("DATE", epoch_days(col("x")), {datetime.date(1970, 1, 1): 0, FIRST.date(): -719162}),
    ("TIMESTAMP", epoch_micros(col("x")), {OLD: -1, NOON: 1709210096789012}),
    ("DATE", add_days(col("x"), -1), {DAY: datetime.date(2023, 5, 30)}),
    (
        "BIGINT",
        add_days(DAY, col("x")),
        {1: datetime.date(2023, 6, 1), -151: datetime.date(2022, 12, 31)},
    ),
    (
        "BIGINT",
        add_months(DAY, col("x")),
        {
            0: DAY,
            1: datetime.date(2023, 6, 30),
            9: LEAP,
            -3: datetime.date(2023, 2, 28),
            -5: datetime.date(2022, 12, 31),
            7: datetime.date(2023, 12, 31),
            24: datetime.date(2025, 5, 31),
        },
    ),
    ("DATE", add_months(col("x"), 12), {LEAP: datetime.date(2025, 2, 28)}),
    (
        "BIGINT",
        add_micros(OLD, col("x")),
        {
            1: datetime.datetime(1970, 1, 1),
            -999_999: datetime.datetime(1969, 12, 31, 23, 59, 59),
            -1_000_000: datetime.datetime(1969, 12, 31, 23, 59, 58, 999999),
            86_400_000_000: datetime.datetime(1970, 1, 1, 23, 59, 59, 999999),
        },
    ),
    ("DATE", days_between(col("x"), LEAP), {DAY: 274, LEAP: 0}),
    ("DATE", date_trunc("year", col("x")), {DAY: datetime.date(2023, 1, 1)}),
    ("DATE", date_trunc("quarter", col("x")), {DAY: datetime.date(2023, 4, 1)}),
    ("DATE", date_trunc("month", col("x")), {DAY: datetime.date(2023, 5, 1)}),
    (
        "DATE",
        date_trunc("week", col("x")),
        {DAY: datetime.date(2023, 5, 29), datetime.date(2023, 5, 28): datetime.date(2023, 5, 22)},
    ),
    ("DATE", date_trunc("day", col("x")), {DAY: DAY}),
    ("TIMESTAMP", date_trunc("quarter", col("x")), {NOON: datetime.datetime(2024, 1, 1)}),
    ("TIMESTAMP", date_trunc("week", col("x")), {NOON: datetime.datetime(2024, 2, 26)}),
    ("TIMESTAMP", date_trunc("day", col("x")), {NOON: MIDNIGHT, MIDNIGHT: MIDNIGHT}),
    (
        "TIMESTAMP",
        date_trunc("hour", col("x")),
        {NOON: NOON.replace(minute=0, second=0, microsecond=0)},
    ),
    ("TIMESTAMP", date_trunc("minute", col("x")), {NOON: NOON.replace(second=0, microsecond=0)}),
    ("TIMESTAMP", date_trunc("second", col("x")), {NOON: NOON.replace(microsecond=0)}),
]
CASTS: list[tuple[str, Expr, dict[Value, Value]]] = [
    (
        "VARCHAR",
        cast(col("x"), BIGINT),
        {"12": 12, " -7 ": -7, "+0": 0, str(BIGINT_MIN): BIGINT_MIN},
    ),
    ("VARCHAR", cast(col("x"), DATE), {"2024-02-29": LEAP}),
    ("BOOLEAN", cast(col("x"), VARCHAR), {True: "true", False: "false"}),
    ("DATE", cast(col("x"), VARCHAR), {LEAP: "2024-02-29"}),
]
# of types that not every engine has
OTHERS: list[tuple[str, Expr, dict[Value, Value]]] = [
    ("DOUBLE", absolute(col("x")), {NAN: NAN}),
    ("DOUBLE", sign(col("x")), {NAN: 1}),
    ("DOUBLE", floor(col("x")), {NAN: NAN}),
    ("DOUBLE", rounded(col("x")), {NAN: NAN}),
    ("DOUBLE", greatest(col("x"), 1.0), {NAN: NAN, 0.5: 1.0, math.inf: math.inf}),
    ("DOUBLE", is_in(col("x"), NAN, 1.0), {NAN: True, 1.0: True, 2.0: False}),
    ("DECIMAL(5,2)", absolute(col("x")), {Decimal("-1.50"): Decimal("1.50")}),
    ("DECIMAL(5,2)", sign(col("x")), {Decimal("-0.01"): -1, Decimal("0.00"): 0}),
    ("DECIMAL(5,2)", floor(col("x")), {Decimal("-0.01"): Decimal(-1), Decimal("1.99"): Decimal(1)}),
    (
        "DECIMAL(5,2)",
        ceil(col("x")),
        {Decimal("-0.99"): Decimal(0), Decimal("999.99"): Decimal(1000)},
    ),
    (
        "DECIMAL(5,2)",
        rounded(col("x"), 1),
        {
            Decimal("1.25"): Decimal("1.3"),
            Decimal("-1.25"): Decimal("-1.3"),
            Decimal("1.24"): Decimal("1.2"),
        },
    ),
    (
        "DECIMAL(5,2)",
        rounded(col("x")),
        {Decimal("999.50"): Decimal(1000), Decimal("-0.49"): Decimal(0)},
    ),
    (
        "DECIMAL(5,2)",
        is_in(col("x"), Decimal("1.5")),
        {Decimal("1.50"): True, Decimal("1.51"): False},
    ),
    ("ARRAY(BIGINT)", cardinality(col("x")), {(1, None): 2, (): 0}),
    ("ARRAY(BIGINT)", element(col("x"), 2), {(1, 7): 7, (1, None): None, (1,): None}),
    ("BIGINT", element(array(7, 8), col("x")), {0: None, -1: None, 1: 7, 2: 8, 3: None}),
    ("ARRAY(BIGINT)", contains(col("x"), 2), {(1, 2): True, (1, None): False, (): False}),
    ("BIGINT", contains(array(1, null(BIGINT)), col("x")), {1: True, 2: False}),
    ("BIGINT", sequence(1, col("x")), {3: (1, 2, 3), 1: (1,), 0: ()}),
    ("BIGINT", sequence(5, col("x"), -2), {1: (5, 3, 1), 2: (5, 3), 6: ()}),
    (
        "VARCHAR",
        cast(col("x"), DOUBLE),
        {"1.5": 1.5, "-2": -2.0, "1e3": 1000.0, "-Infinity": -math.inf, "NaN": NAN},
    ),
    (
        "VARCHAR",
        cast(col("x"), DECIMAL(5, 2)),
        {"1.255": Decimal("1.26"), "-1.255": Decimal("-1.26"), " 7 ": Decimal(7)},
    ),
    (
        "VARCHAR",
        cast(col("x"), TIMESTAMP),
        {
            "2024-02-29 12:34:56.789012": NOON,
            "2024-02-29T12:34:56.789012": NOON,
            "2024-02-29": MIDNIGHT,
            "2024-02-29 00:00:00": MIDNIGHT,
        },
    ),
    ("DECIMAL(5,2)", cast(col("x"), VARCHAR), {Decimal("1.50"): "1.50", Decimal("-0.01"): "-0.01"}),
    ("DECIMAL(20,0)", cast(col("x"), BIGINT), {Decimal(-7): -7, Decimal(BIGINT_MAX): BIGINT_MAX}),
    # as TPC-H multiplies: l_extendedprice * (1 - l_discount) * (1 + l_tax)
    (
        "DECIMAL(15,2)",
        col("x")
        * (lit(Decimal(1)) - cast(lit(Decimal("0.07")), DECIMAL(15, 2)))
        * (lit(Decimal(1)) + cast(lit(Decimal("0.08")), DECIMAL(15, 2))),
        {Decimal("9999999999999.99"): Decimal("10043999999999.989956")},
    ),
    ("DECIMAL(18,0)", col("x") + col("x"), {Decimal(9 * 10**17): Decimal(18 * 10**17)}),
    (
        "DECIMAL(18,2)",
        col("x") * col("x"),
        {Decimal("9999999999.99"): Decimal("99999999999800000000.0001")},
    ),
]

EXAMPLES = tuple(Example(*each) for each in (*NUMBERS, *TEXTS, *TIMES, *CASTS, *OTHERS))
