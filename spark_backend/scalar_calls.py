"""The named functions as Spark's SQL says them, with the meaning that the reference gives them.

    FLOOR, CEIL     of a DOUBLE stay DOUBLE; Spark's give a BIGINT and clip it
    ELEMENT         NULL outside the array; Spark counts from the end, or raises an error
    SEQUENCE        empty where stop is on the other side; Spark runs backwards, or raises an error
    CONTAINS        passes over NULL elements
    RIGHT           '' for counts below 1

A function gets the texts of its arguments and their types.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from deltaproof.reference.scalar_calls import MOST_ELEMENTS
from deltaproof.reference.types import BIGINT, DATE, DECIMAL, DOUBLE, Type

Text: TypeAlias = Callable[[Sequence[str], Sequence[Type]], str]

ALL_ARE_WHOLE = "4503599627370496.0D"  # from 2^52 on no DOUBLE has a fraction
NO_TEXT_IS_LONGER = 2**30
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def word(name: str) -> Text:
    """The function is this one of Spark's."""
    return lambda texts, kinds: f"{name}({', '.join(texts)})"


def bigint(name: str) -> Text:
    """It is this one of Spark's, which gives an INT."""
    return lambda texts, kinds: f"CAST({name}({', '.join(texts)}) AS BIGINT)"


def letters(these: str, become: str) -> Text:
    return lambda texts, kinds: f"TRANSLATE({texts[0]}, '{these}', '{become}')"


def sign(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    (value,) = texts
    return f"CASE WHEN {value} > 0 THEN 1L WHEN {value} < 0 THEN -1L WHEN {value} = 0 THEN 0L END"


def whole(name: str) -> Text:
    def text(texts: Sequence[str], kinds: Sequence[Type]) -> str:
        (value,), (kind,) = texts, kinds
        if kind == BIGINT:
            return value
        if kind == DOUBLE:
            small = f"CAST({name}({value}) AS DOUBLE)"
            return f"CASE WHEN ABS({value}) < {ALL_ARE_WHOLE} THEN {small} ELSE {value} END"
        return f"{name}({value})"

    return text


def extreme(name: str) -> Text:
    return lambda texts, kinds: f"{name}({', '.join(texts)})" if len(texts) > 1 else texts[0]


def right(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    text, count = texts
    last = f"RIGHT({text}, CAST(LEAST({count}, {NO_TEXT_IS_LONGER}L) AS INT))"
    return f"CASE WHEN {count} >= 1 THEN {last} WHEN {count} < 1 THEN LEFT({text}, 0) END"


def moved(name: str) -> Text:
    """A DATE by a number of days or months, which is an INT."""
    return lambda texts, kinds: f"{name}({texts[0]}, CAST({texts[1]} AS INT))"


def epoch_micros(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    return f"TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {texts[0]})"


def add_micros(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    moment, micros = texts
    return f"TIMESTAMPADD(MICROSECOND, {micros}, {moment})"


def element(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    array, place = texts
    found = f"ELEMENT_AT({array}, CAST({place} AS INT))"
    return f"CASE WHEN {place} BETWEEN 1L AND SIZE({array}) THEN {found} END"


def contains(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    array, value = texts
    found = f"COALESCE(ARRAY_CONTAINS({array}, {value}), FALSE)"
    return f"CASE WHEN {array} IS NOT NULL AND {value} IS NOT NULL THEN {found} END"


def sequence(texts: Sequence[str], kinds: Sequence[Type]) -> str:
    start, stop, step = (*texts, "1L")[:3]
    runs = f"(({step} > 0L AND {start} <= {stop}) OR ({step} < 0L AND {start} >= {stop}))"
    elements = f"({stop} - {start}) DIV {step}"
    too_many = f"RAISE_ERROR('a sequence has at most {MOST_ELEMENTS} elements')"
    no_step = "RAISE_ERROR('a sequence needs a step that is not 0')"
    return (
        f"CASE WHEN {step} = 0L AND {start} IS NOT NULL AND {stop} IS NOT NULL THEN {no_step} "
        f"WHEN NOT {runs} THEN CAST(ARRAY() AS ARRAY<BIGINT>) "
        f"WHEN {elements} >= {MOST_ELEMENTS} THEN {too_many} "
        f"WHEN {runs} THEN SEQUENCE({start}, {stop}, {step}) END"
    )


FUNCTIONS: Mapping[str, Text] = {
    "abs": word("ABS"),
    "sign": sign,
    "floor": whole("FLOOR"),
    "ceil": whole("CEIL"),
    "greatest": extreme("GREATEST"),
    "least": extreme("LEAST"),
    "lower": letters(string.ascii_uppercase, string.ascii_lowercase),
    "upper": letters(string.ascii_lowercase, string.ascii_uppercase),
    "length": bigint("CHAR_LENGTH"),
    "concat": word("CONCAT"),
    "trim": word("TRIM"),
    "ltrim": word("LTRIM"),
    "rtrim": word("RTRIM"),
    "replace": word("REPLACE"),
    "position": bigint("INSTR"),
    "right": right,
    "starts_with": word("STARTSWITH"),
    "year": bigint("YEAR"),
    "month": bigint("MONTH"),
    "day": bigint("DAY"),
    "hour": bigint("HOUR"),
    "minute": bigint("MINUTE"),
    "second": bigint("SECOND"),
    "epoch_days": bigint("UNIX_DATE"),
    "epoch_micros": epoch_micros,
    "add_days": moved("DATE_ADD"),
    "add_months": moved("ADD_MONTHS"),
    "add_micros": add_micros,
    "cardinality": bigint("ARRAY_SIZE"),
    "element": element,
    "contains": contains,
    "sequence": sequence,
}


def round_text(value: str, kind: Type, result: Type, places: int) -> str:
    """ROUND, halfway away from zero; zero has no sign."""
    if kind == DOUBLE:
        return f"(ROUND({value}) + 0.0D)"
    if isinstance(kind, DECIMAL) and result != kind:
        return f"CAST(ROUND({value}, {places}) AS {result})"
    return value


def date_trunc_text(unit: str, value: str, kind: Type) -> str:
    if kind == DATE:
        return value if unit == "day" else f"TRUNC({value}, '{unit}')"
    return f"CAST(DATE_TRUNC('{unit}', {value}) AS TIMESTAMP_NTZ)"
