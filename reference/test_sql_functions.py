"""Each function at its edges: what the reference says, and SQLite and DuckDB say the same."""

from __future__ import annotations

import pytest

from deltaproof.reference.errors import EvaluationError, SchemaError
from deltaproof.reference.scalar import (
    Expr,
    absolute,
    add_days,
    add_micros,
    add_months,
    array,
    cast,
    col,
    contains,
    date_trunc,
    from_json,
    greatest,
    hour,
    is_in,
    replace,
    rounded,
    sequence,
)
from deltaproof.reference.scalar_examples import DAY, EXAMPLES, NOON, Example
from deltaproof.reference.scalar_tree import Literal
from deltaproof.reference.sql import DIALECTS, expression_sql
from deltaproof.reference.test_sql import Engine
from deltaproof.reference.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    DATE,
    DECIMAL,
    DOUBLE,
    TIMESTAMP,
    Column,
    Schema,
    Type,
    Value,
)

ENGINES = ("sqlite", "duckdb")


def with_null(example: Example) -> dict[Value, Value]:
    """The example's values, and NULL, which gives NULL where it does not say what."""
    return {**example.values, None: example.values.get(None)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.expression} of {each.kind}")
def test_a_function_gives_what_is_written_down(example: Example) -> None:
    run = example.expression.compile(example.schema)
    assert [run((x,)) for x in example.values] == [*example.values.values()]
    assert from_json(example.expression.to_json()) == example.expression


def said(example: Example, dialect: str) -> str | None:
    """The expression in a dialect; None where the dialect has no such values or words."""
    try:
        for value in example.values:
            literal = Literal(example.schema.types[0], value)
            expression_sql(literal, example.schema, dialect)
        return expression_sql(example.expression, example.schema, dialect)
    except SchemaError:
        return None


@pytest.mark.parametrize("dialect", ENGINES)
def test_engine_and_closure_agree_on_every_function(dialect: str) -> None:
    engine, wrong, ran = Engine(dialect), [], 0
    for number, example in enumerate(EXAMPLES):
        if (text := said(example, dialect)) is None:
            continue
        values = with_null(example)
        numbered = Schema((Column("n", BIGINT), *example.schema.columns))
        engine.load(f"t{number}", numbered, list(enumerate(values)))
        select = f"SELECT {text} AS y FROM t{number} ORDER BY n"
        got = [value for (value,) in engine.answer(select, [example.result])]
        run = example.expression.compile(example.schema)
        if got != [run((x,)) for x in values]:
            wrong.append(f"{text}: {values} gives {got}")
        if dialect == "duckdb" and engine.types_of(select) != [str(example.result)]:
            wrong.append(f"{text}: {engine.types_of(select)}, not {example.result}")
        ran += 1
    assert wrong == []
    assert ran >= 0.6 * len(EXAMPLES)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_function_is_printed_in_every_dialect_that_has_its_types(dialect: str) -> None:
    refused = [each.expression for each in EXAMPLES if said(each, dialect) is None]
    if dialect != "sqlite":
        assert refused == []


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (BIGINT, "1.5", "CAST(x AS BIGINT): '1.5' is no BIGINT, on row ('1.5',)"),
        (BIGINT, "", "'' is no BIGINT"),
        (BIGINT, "9223372036854775808", "needs more than 64 bits"),
        (DOUBLE, "1,5", "'1,5' is no DOUBLE"),
        (DECIMAL(3, 2), "9.995", "which has more digits"),
        (DECIMAL(3, 2), "1e99999", "does not fit DECIMAL(3,2)"),
        (DATE, "20240229", "'20240229' is no DATE"),
        (DATE, "2023-02-29", "'2023-02-29' is no DATE"),
        (TIMESTAMP, "2024-02-29 24:00:00", "is no TIMESTAMP"),
    ],
)
def test_a_text_that_is_no_such_value_is_an_error(kind: Type, text: str, message: str) -> None:
    with pytest.raises(EvaluationError) as error:
        cast(col("x"), kind).compile(Schema.parse("x VARCHAR"))((text,))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("expression", "value", "message"),
    [
        (absolute(col("x")), BIGINT_MIN, "needs more than 64 bits, on row"),
        (add_days(DAY, col("x")), 10**9, "expected a year from 1 to 9999, on row"),
        (add_months(DAY, col("x")), -(10**9), "expected a year from 1 to 9999, on row"),
        (add_micros(NOON, col("x")), BIGINT_MAX, "expected a year from 1 to 9999, on row"),
        (sequence(1, col("x")), 10**7, "a sequence of 10000000 elements: at most 1000000, on row"),
        (sequence(1, 3, col("x")), 0, "a sequence needs a step that is not 0, on row"),
    ],
)
def test_what_has_no_value_is_an_error_that_names_the_row(
    expression: Expr, value: Value, message: str
) -> None:
    with pytest.raises(EvaluationError) as error:
        expression.compile(Schema.parse("x BIGINT"))((value,))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (absolute("a"), "abs needs a number, got VARCHAR"),
        (greatest(1, 1.5), "greatest needs values of one type that has an order"),
        (
            replace("a", "b", 1),
            "replace needs VARCHAR, VARCHAR, VARCHAR, got VARCHAR, VARCHAR, BIGINT",
        ),
        (hour(DAY), "hour needs TIMESTAMP, got DATE"),
        (date_trunc("hour", DAY), "expected a TIMESTAMP, or a DATE and a day or more, got DATE"),
        (contains(array(1), "a"), "contains needs an ARRAY, one of its elements"),
        (rounded(1.5, 1), "a DOUBLE is rounded to 0 places, got 1"),
        (is_in(col("x"), "a"), "cannot compare BIGINT with VARCHAR"),
    ],
)
def test_arguments_of_other_types_are_refused_in_a_sentence(expression: Expr, message: str) -> None:
    with pytest.raises(SchemaError) as error:
        expression.type_in(Schema.parse("x BIGINT"))
    assert message in str(error.value)
