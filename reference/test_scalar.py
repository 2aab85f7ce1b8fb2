"""Scalar expressions: what they mean at the edges, how they print, what they refuse."""

from __future__ import annotations

import datetime
import itertools
import math
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from deltaproof.reference.errors import CaseError, EvaluationError, SchemaError
from deltaproof.reference.scalar import (
    Expr,
    array,
    case,
    cast,
    coalesce,
    col,
    concat,
    day,
    from_json,
    length,
    lit,
    lower,
    month,
    null,
    sample_expression,
    sample_predicate,
    sample_value,
    substring,
    upper,
    year,
)
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

EVERY_TYPE = Schema.parse(
    "b BOOLEAN, k BIGINT, n BIGINT NOT NULL, v DOUBLE, s VARCHAR, d DATE, t TIMESTAMP, "
    "m DECIMAL(20,2), q DECIMAL(4,1), xs ARRAY(BIGINT)"
)
TRUTH = (False, None, True)
NUMBERS = (-math.inf, -1.0, 0.0, 2.5, math.inf, NAN)


def value_of(expression: Expr, schema: Schema | str = "", row: Row = ()) -> Value:
    columns = Schema.parse(schema) if isinstance(schema, str) and schema else schema or Schema(())
    assert isinstance(columns, Schema)
    return expression.compile(columns)(row)


def random_row(random: Random, schema: Schema) -> Row:
    return tuple(
        None if column.nullable and random.random() < 0.25 else sample_value(random, column.type)
        for column in schema.columns
    )


# --- NULL ---


@pytest.mark.parametrize(("a", "b"), [*itertools.product(TRUTH, TRUTH)])
def test_and_and_or_follow_the_three_valued_tables(a: bool | None, b: bool | None) -> None:
    false_below_null_below_true = TRUTH.index
    schema = "a BOOLEAN, b BOOLEAN"
    expected_and = min(a, b, key=false_below_null_below_true)
    expected_or = max(a, b, key=false_below_null_below_true)
    assert value_of(col("a") & col("b"), schema, (a, b)) is expected_and
    assert value_of(col("a") | col("b"), schema, (a, b)) is expected_or


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", TRUTH)
def test_the_tables_hold_for_a_left_side_that_is_never_null(a: bool, b: bool | None) -> None:
    schema = "a BOOLEAN NOT NULL, b BOOLEAN"
    assert value_of(col("a") & col("b"), schema, (a, b)) is (b if a else False)
    assert value_of(col("a") | col("b"), schema, (a, b)) is (True if a else b)


def test_not_null_is_null() -> None:
    assert [value_of(~col("b"), "b BOOLEAN", (b,)) for b in TRUTH] == [True, None, False]


@pytest.mark.parametrize(
    "expression",
    [
        col("k") + 1,
        1 - col("k"),
        col("k") * col("k"),
        col("k") % 2,
        col("k") / 2,
        -col("k"),
        col("k") > 1,
        col("k").eq(col("k")),
        col("k").eq(null(BIGINT)),
        cast(col("k"), VARCHAR),
        concat("a", cast(col("k"), VARCHAR), "b"),
        cast(col("k"), DECIMAL(9, 2)) + lit(Decimal(1)),
    ],
    ids=str,
)
def test_an_operation_on_null_is_null(expression: Expr) -> None:
    assert value_of(expression, "k BIGINT", (None,)) is None
    assert expression.nullable_in(Schema.parse("k BIGINT"))


def test_null_is_not_distinct_from_null() -> None:
    def differ(a: int | None, b: int | None) -> tuple[Value, Value]:
        schema = "a BIGINT, b BIGINT"
        same = value_of(col("a").is_not_distinct_from(col("b")), schema, (a, b))
        return value_of(col("a").is_distinct_from(col("b")), schema, (a, b)), same

    assert differ(None, None) == (False, True)
    assert differ(None, 1) == differ(1, None) == differ(1, 2) == (True, False)
    assert differ(1, 1) == (False, True)


def test_is_null_is_never_null() -> None:
    for expression, expected in ((col("k").is_null(), True), (col("k").is_not_null(), False)):
        assert value_of(expression, "k BIGINT", (None,)) is expected
        assert not expression.nullable_in(Schema.parse("k BIGINT"))


def test_case_takes_the_first_true_branch_and_null_is_not_true() -> None:
    size = case((col("k") > 10, "big"), (col("k") > 5, "mid"), default="small")
    assert [value_of(size, "k BIGINT", (k,)) for k in (20, 7, 1, None)] == [
        "big",
        "mid",
        "small",
        "small",
    ]
    assert value_of(case((col("k") > 10, "big")), "k BIGINT", (1,)) is None


def test_coalesce_is_null_only_when_all_its_arguments_are() -> None:
    first = coalesce(col("a"), col("b"))
    assert [value_of(first, "a BIGINT, b BIGINT", row) for row in ((1, 2), (None, 2))] == [1, 2]
    assert value_of(first, "a BIGINT, b BIGINT", (None, None)) is None
    assert not coalesce(col("a"), 0).nullable_in(Schema.parse("a BIGINT"))


def test_what_cannot_matter_is_not_evaluated() -> None:
    broken = (lit(1) / 0) > 0.0
    schema = "k BIGINT"
    assert value_of((col("k") > 5) & broken, schema, (1,)) is False
    assert value_of((col("k") > 5) | broken, schema, (9,)) is True
    assert value_of(case((col("k").is_null(), 0), default=col("k") % 2), schema, (None,)) == 0
    assert value_of(coalesce(col("k"), lit(1) % 0), schema, (3,)) == 3


# --- numbers ---


@pytest.mark.parametrize(("a", "b"), [*itertools.product(NUMBERS, NUMBERS)])
def test_doubles_are_ordered_with_nan_last_and_equal_to_itself(a: float, b: float) -> None:
    place_a, place_b = NUMBERS.index(a), NUMBERS.index(b)
    schema, row = "a DOUBLE NOT NULL, b DOUBLE", (a, b)
    for left, right in ((col("a"), col("b")), (col("a"), lit(b)), (lit(a), col("b"))):
        assert value_of(left < right, schema, row) is (place_a < place_b)
        assert value_of(left <= right, schema, row) is (place_a <= place_b)
        assert value_of(left > right, schema, row) is (place_a > place_b)
        assert value_of(left >= right, schema, row) is (place_a >= place_b)
        assert value_of(left.eq(right), schema, row) is (place_a == place_b)
        assert value_of(left.ne(right), schema, row) is (place_a != place_b)
        assert value_of(left.is_distinct_from(right), schema, row) is (place_a != place_b)


@pytest.mark.parametrize(
    "zero", [col("v") * -1.0, -col("v"), col("v") / -2.0, lit(0) / lit(-3)], ids=str
)
def test_zero_has_no_sign(zero: Expr) -> None:
    assert math.copysign(1, value_of(zero, "v DOUBLE", (0.0,))) == 1


def test_there_is_one_nan() -> None:
    difference = col("v") - col("v")
    assert value_of(difference, "v DOUBLE", (math.inf,)) is NAN
    assert value_of(-(difference * 2.0), "v DOUBLE", (math.inf,)) is NAN


def test_division_of_bigints_is_a_double_and_modulo_truncates() -> None:
    assert value_of(lit(7) / 2) == 3.5
    signs = [value_of(lit(a) % b) for a, b in ((7, 3), (-7, 3), (7, -3), (-7, -3))]
    assert signs == [1, -1, 1, -1]


@pytest.mark.parametrize("expression", [lit(1) / 0, lit(1.0) / 0.0, lit(1) % 0], ids=str)
def test_division_by_zero_is_an_error_that_names_the_expression(expression: Expr) -> None:
    with pytest.raises(EvaluationError, match=r"1.* 0.*: \w+ by zero, on row \(\)"):
        value_of(expression)


@pytest.mark.parametrize(
    ("expression", "row"),
    [
        (col("k") + 1, (BIGINT_MAX,)),
        (col("k") - 1, (BIGINT_MIN,)),
        (col("k") * col("k"), (2**32,)),
        (-col("k"), (BIGINT_MIN,)),
    ],
    ids=str,
)
def test_a_bigint_outside_64_bits_is_an_error_that_names_expression_and_row(
    expression: Expr, row: Row
) -> None:
    with pytest.raises(EvaluationError) as error:
        value_of(expression, "k BIGINT", row)
    assert str(error.value).startswith(f"{expression}: ")
    assert str(error.value).endswith(f" needs more than 64 bits, on row {row}")


def test_decimal_arithmetic_is_exact_in_the_standard_types() -> None:
    schema = Schema.parse("a DECIMAL(10,2), b DECIMAL(5,4)")
    row = (Decimal("12345678.90"), Decimal("0.0001"))
    results = {
        expression.type_in(schema): str(value_of(expression, schema, row))
        for expression in (col("a") + col("b"), col("a") * col("b"))
    }
    assert results == {DECIMAL(13, 4): "12345678.9001", DECIMAL(16, 6): "1234.567890"}


def test_decimals_of_38_digits_stay_exact_and_overflow_is_an_error() -> None:
    schema = Schema.parse("m DECIMAL(38,0)")
    big = Decimal(10**38 - 1)
    assert value_of(col("m") - lit(Decimal(1)), schema, (big,)) == Decimal(10**38 - 2)
    with pytest.raises(EvaluationError, match=r"does not fit DECIMAL\(38,0\)"):
        value_of(col("m") + lit(Decimal(1)), schema, (big,))


def test_a_decimal_zero_has_its_scale_and_no_sign() -> None:
    schema = "m DECIMAL(4,1)"
    for zero in (col("m") * lit(Decimal(-1)), -col("m"), col("m") - col("m")):
        assert str(value_of(zero, schema, (Decimal("0.0"),))) == "0.0"


def test_decimals_of_different_types_compare_by_value() -> None:
    schema = "a DECIMAL(10,2), b DECIMAL(3,1)"
    assert value_of(col("a").eq(col("b")), schema, (Decimal("1.50"), Decimal("1.5"))) is True


# --- casts, text, time ---


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (cast(lit(3), DOUBLE), 3.0),
        (cast(lit(-3), VARCHAR), "-3"),
        (cast(lit(3), DECIMAL(5, 2)), Decimal("3.00")),
        (cast(lit(True), BIGINT), 1),
        (cast(lit(2.9), BIGINT), 2),
        (cast(lit(-2.9), BIGINT), -2),
        (cast(lit(Decimal("1.5")), DECIMAL(5, 3)), Decimal("1.500")),
        (cast(lit(Decimal("0.1")), DOUBLE), 0.1),
        (cast(lit(datetime.date(2013, 1, 2)), TIMESTAMP), datetime.datetime(2013, 1, 2)),
        (cast(lit(datetime.date(2013, 1, 2)), VARCHAR), "2013-01-02"),
        (cast(lit(datetime.datetime(2013, 1, 2, 23)), DATE), datetime.date(2013, 1, 2)),
        (cast(lit("a"), VARCHAR), "a"),
    ],
    ids=str,
)
def test_a_cast_gives_the_value_in_the_other_type(expression: Expr, expected: Value) -> None:
    assert repr(value_of(expression)) == repr(expected)


@pytest.mark.parametrize("value", [NAN, math.inf, 2.0**63, -(2.0**64)])
def test_a_double_without_a_bigint_is_an_error(value: float) -> None:
    with pytest.raises(EvaluationError, match=r"^CAST\(v AS BIGINT\): .* has no BIGINT, on row"):
        value_of(cast(col("v"), BIGINT), "v DOUBLE", (value,))


def test_a_cast_to_a_decimal_with_too_few_digits_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="has more digits"):
        value_of(cast(lit(100), DECIMAL(3, 1)))


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("", [""]),
        ("%", ["", "a", "ab", "ba", "aXb", "a\nb"]),
        ("a%", ["a", "ab", "aXb", "a\nb"]),
        ("%a", ["a", "ba"]),
        ("%b%", ["ab", "ba", "aXb", "a\nb"]),
        ("a_b", ["aXb", "a\nb"]),
        ("a%b", ["ab", "aXb", "a\nb"]),
        ("AB", []),
        (".*", []),
    ],
)
def test_like_knows_two_wildcards_and_the_case_of_letters(pattern: str, matches: list[str]) -> None:
    texts = ["", "a", "ab", "ba", "aXb", "a\nb"]
    like = col("s").like(pattern).compile(Schema.parse("s VARCHAR"))
    assert [text for text in texts if like((text,))] == matches


def test_like_has_no_escape() -> None:
    assert value_of(lit("a\\b").like("a\\_")) is True
    assert value_of(lit("a_").like("a\\_")) is False


def test_letters_beyond_ascii_keep_their_case() -> None:
    assert value_of(lower("ÀB")) == "Àb"
    assert value_of(upper("àb")) == "àB"


def test_text_is_counted_in_code_points() -> None:
    assert value_of(length("a🤦e\u0301")) == 4
    assert value_of(substring("a🤦bc", 2, 2)) == "🤦b"
    assert [value_of(substring("abc", start, 9)) for start in (1, 3, 4, 99)] == ["abc", "c", "", ""]
    assert value_of(substring("abc", 2, 0)) == ""


def test_the_parts_of_a_moment() -> None:
    moment = datetime.datetime(2013, 2, 3, 4, 5, 6, 7)
    assert [value_of(part(moment)) for part in (year, month, day)] == [2013, 2, 3]
    assert [value_of(part(moment.date())) for part in (year, month, day)] == [2013, 2, 3]


def test_an_array_is_a_tuple_and_may_hold_null() -> None:
    pair = array(col("k"), 1)
    assert pair.type_in(Schema.parse("k BIGINT")) == ARRAY(BIGINT)
    assert value_of(pair, "k BIGINT", (None,)) == (None, 1)


# --- what is refused ---


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (col("x"), "unknown column 'x': there are b, k"),
        (col("k") + 1.0, "k + 1.0: + needs two BIGINTs, two DOUBLEs or two DECIMALs, got BIGINT"),
        (col("v") % 2.0, "v % 2.0: % needs two BIGINTs, got DOUBLE and DOUBLE: cast one side"),
        (col("m") / col("m"), "/ needs two BIGINTs or two DOUBLEs, got DECIMAL(20,2)"),
        (
            lit(Decimal("1e-20")) * lit(Decimal("1e-20")),
            "DECIMAL(20,20) * DECIMAL(20,20) has 40 decimal places of at most 38",
        ),
        (col("k") > "a", "k > 'a': cannot compare BIGINT with VARCHAR: cast one side"),
        (col("xs").eq(col("xs")), "xs = xs: arrays are not compared: flat_map them first"),
        (col("k") & col("b"), "k AND b: AND needs two BOOLEANs, got BIGINT and BOOLEAN"),
        (~col("k"), "NOT k: expected BOOLEAN, got BIGINT"),
        (-col("s"), "-s: expected a number, got VARCHAR"),
        (col("k").like("a"), "k LIKE 'a': expected VARCHAR, got BIGINT"),
        (lower(col("k")), "LOWER(k): lower needs VARCHAR, got BIGINT"),
        (year(col("k")), "YEAR(k): year needs DATE or TIMESTAMP, got BIGINT"),
        (substring(col("k"), 1, 1), "SUBSTRING(k, 1, 1): expected VARCHAR, got BIGINT"),
        (case((col("k"), 1)), "CASE WHEN k THEN 1 END: WHEN needs a BOOLEAN, got BIGINT"),
        (coalesce(col("k"), 1.0), "its values are BIGINT and DOUBLE: cast to one type"),
        (cast(col("s"), BOOLEAN), "no cast from VARCHAR to BOOLEAN; allowed are BIGINT to DOUBLE"),
        (cast(col("m"), DECIMAL(20, 1)), "no cast from DECIMAL(20,2) to DECIMAL(20,1)"),
    ],
    ids=str,
)
def test_types_that_do_not_fit_are_refused(expression: Expr, message: str) -> None:
    with pytest.raises(SchemaError) as error:
        expression.compile(EVERY_TYPE)
    assert message in str(error.value)


def test_expressions_that_no_schema_could_save_are_refused_where_they_are_written() -> None:
    wrong: Any = 3
    attempts: list[tuple[Any, str]] = [
        (lambda: col("k") > None, r"write null\(BIGINT\)"),
        (lambda: lit(b"x"), "no SQL literal for bytes"),
        (lambda: lit(2**63), "more than 64 bits"),
        (lambda: lit(Decimal("NaN")), "no SQL literal"),
        (lambda: substring("a", 0, 1), "start >= 1"),
        (lambda: 1 < col("k") < 3, "use & | ~ to combine"),
        (case, "at least one"),
        (array, "at least one element"),
        (lambda: col(wrong), "name of a column"),
    ]
    for attempt, message in attempts:
        with pytest.raises(SchemaError, match=message):
            attempt()


# --- text, JSON, equality ---


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ((col("delay") > 15) & col("carrier").eq("UA"), "delay > 15 AND carrier = 'UA'"),
        ((col("a") | col("b")) & ~(col("c") & col("d")), "(a OR b) AND NOT (c AND d)"),
        (col("a") | (col("b") & col("c")), "a OR b AND c"),
        (col("a") - (col("b") - 1) * -2, "a - (b - 1) * -2"),
        (-lit(-2), "-(-2)"),
        ((col("a") + 1).is_null().eq(lit(True)), "(a + 1 IS NULL) = TRUE"),
        (col("a").is_distinct_from(null(BIGINT)), "a IS DISTINCT FROM NULL"),
        (~col("s").like("it's%"), "NOT s LIKE 'it''s%'"),
        (col("d") >= datetime.date(2013, 1, 1), "d >= DATE '2013-01-01'"),
        (col("v").eq(NAN), "v = DOUBLE 'nan'"),
        (coalesce(cast(col("a"), DOUBLE), 0.5), "COALESCE(CAST(a AS DOUBLE), 0.5)"),
        (array(upper(col("s")), "x"), "ARRAY[UPPER(s), 'x']"),
    ],
)
def test_an_expression_reads_like_sql(expression: Expr, text: str) -> None:
    assert str(expression) == text


def test_random_expressions_survive_json_and_copying() -> None:
    random = Random(1)
    for kind in EVERY_TYPE.types * 40:
        expression = sample_expression(random, EVERY_TYPE, kind, depth=3)
        copy = from_json(expression.to_json())
        assert copy == expression
        assert hash(copy) == hash(expression)
        assert expression.with_operands(expression.operands) == expression
        assert expression.columns() <= set(EVERY_TYPE.names)


def test_two_literals_are_equal_when_type_and_value_are() -> None:
    assert lit(1) != lit(True)
    assert lit(1) != lit(1.0)
    assert lit(-0.0) == lit(0.0)
    assert lit(float("nan")) == lit(NAN)
    assert null(BIGINT) != null(DOUBLE)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (3, "expression: expected an expression like"),
        ([], "expression: expected an expression like"),
        (["col"], 'expression: expected an expression like ["col", "k"] or'),
        (["+", ["col", "k"]], "got ['+', ['col', 'k']]"),
        (["+", ["col", "k"], ["zap"]], "expression[2]: expected an expression"),
        (["lit", "INT", 3], "expression: unknown type 'INT'"),
        (["not", ["lit", "BIGINT", 1.5]], "expression[1]: expected BIGINT, got float 1.5"),
        (["case", [[["col", "b"]]], None], "expression[1][0]: expected [condition, value]"),
        (["substring", ["col", "s"], 0, 1], "expression: SUBSTRING needs start >= 1"),
        (["lower"], "expression: lower needs arguments: VARCHAR"),
    ],
)
def test_broken_json_is_refused_with_its_place(broken: Any, message: str) -> None:
    with pytest.raises(CaseError) as error:
        from_json(broken)
    assert message in str(error.value)


# --- samples ---


def test_a_sampled_expression_has_its_type_and_a_canonical_value_on_small_rows() -> None:
    random = Random(2)
    kinds: tuple[Type, ...] = EVERY_TYPE.types
    for kind in kinds * 60:
        row = random_row(random, EVERY_TYPE)
        expression = sample_expression(random, EVERY_TYPE, kind)
        assert expression.type_in(EVERY_TYPE) == kind
        value = value_of(expression, EVERY_TYPE, row)
        if value is None:
            assert expression.nullable_in(EVERY_TYPE)
        else:
            assert repr(kind.canonical(value)) == repr(value)


def test_sampled_predicates_are_true_and_false_and_null() -> None:
    random = Random(3)
    seen = {
        value_of(sample_predicate(random, EVERY_TYPE), EVERY_TYPE, random_row(random, EVERY_TYPE))
        for _ in range(300)
    }
    assert seen == {True, False, None}


def test_without_columns_there_are_still_samples() -> None:
    random = Random(4)
    assert value_of(sample_predicate(random, Schema(()))) in TRUTH
    assert sample_expression(random, Schema(()), VARCHAR).type_in(Schema(())) == VARCHAR
    assert sample_expression(random, Schema(()), BOOLEAN).type_in(Schema(())) == BOOLEAN
