"""What operators obey that read an order: top-k, ranks, LAG, rolling aggregates, sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from deltaproof.properties.law import Equation, Premise, Subject, ZSets, law
from deltaproof.properties.laws.words import above_zero, first_columns, grouped, total, where
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.hop import TIMES
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.order import order_key, peer_key
from deltaproof.reference.types import Row, key_function
from deltaproof.reference.zset import ZSet

OF_ITS_ROWS = "columns of a in Q(a) = a above zero"


def partitions(q: Subject, a: ZSets) -> list[ZSet]:
    """The rows that are there, partition by partition."""
    (rows,), (schema,) = a, q.schemas
    names = cast(TopK, q.operator).partition
    key_of = key_function([schema.index(name) for name in names])
    return list(grouped(above_zero(rows), key_of).values())


def kept_rows(q: Subject, a: ZSets) -> ZSet:
    """The output, without the columns that were put behind those of the input."""
    return first_columns(q.meaning(*a), len(*q.schemas))


# ── The first rows ──────────────────────────────────────────────────────────────────────────


@law(
    "top_k",
    "rows before Q(a) + Q(a) + rows behind Q(a) = a above zero",
    source="SQL:2016 <result offset clause>, <fetch first clause>",
)
def top_k_pages(q: Subject, a: ZSets) -> Equation:
    """Whoever reads page after page sees every row, and none twice."""
    operator, (rows,) = cast(TopK, q.operator), a
    end, all_rows = operator.offset + operator.limit, sum(abs(w) for _, w in rows.items())
    before = replace(operator, offset=0, limit=operator.offset)
    behind = replace(operator, offset=end, limit=all_rows)
    pages = [q.another(each, *q.schemas).meaning(rows) for each in (before, behind)]
    return Equation(total([q.meaning(rows), *pages]), above_zero(rows))


@law(
    "top_k",
    "Q(a) = rows of a whose row number is after offset and not after offset + limit",
    source="SQL:2016 ROW_NUMBER; top_k.py",
)
def top_k_is_by_row_number(q: Subject, a: ZSets) -> Equation:
    """ORDER BY with LIMIT and a condition on ROW_NUMBER are two ways to write one query."""
    operator, (schema,) = cast(TopK, q.operator), q.schemas
    numbers = Rank("row_number", "number", operator.partition, operator.order)
    numbered = q.another(numbers, schema).meaning(*a)
    first, last = operator.offset, operator.offset + operator.limit
    kept = where(numbered, lambda row: first < row[-1] <= last)
    return Equation(q.meaning(*a), first_columns(kept, len(schema)))


# ── Ranks ───────────────────────────────────────────────────────────────────────────────────


@law("rank", OF_ITS_ROWS, source="SQL:2016 <rank function type>, ROW_NUMBER")
def rank_keeps_rows(q: Subject, a: ZSets) -> Equation:
    """A window function adds a column and neither makes nor loses a row."""
    return Equation(kept_rows(q, a), above_zero(*a))


@law(
    "rank",
    "Q(a) = each row of a with 1 + what is before it in its partition",
    source="SQL:2016 part 2, 6.10 <window function>: RANK is 1 + COUNT(*) of what precedes",
)
def rank_counts_what_is_before(q: Subject, a: ZSets) -> Equation:
    """The number of a row says how many rows, or how many different values, are better."""
    found = q.meaning(*a)  # first: it refuses a row that is there too often to be numbered
    counted = [pair for rows in partitions(q, a) for pair in ranked(q, rows)]
    return Equation(found, ZSet(counted))


def ranked(q: Subject, rows: ZSet) -> Iterator[tuple[Row, int]]:
    """The rows of one partition with their places, by counting for each row all the others."""
    operator, (schema,) = cast(Rank, q.operator), q.schemas
    place_of, whole_of = peer_key(operator.order, schema), order_key(operator.order, schema)
    for row, weight in rows.items():
        ahead = [each for each in rows if place_of(each) < place_of(row)]
        if operator.function == "row_number":
            number = sum(w for each, w in rows.items() if whole_of(each) < whole_of(row))
            yield from (((*row, number + copy), 1) for copy in range(1, weight + 1))
        elif operator.function == "rank":
            yield (*row, 1 + sum(rows[each] for each in ahead)), weight
        else:
            firsts = [x for n, x in enumerate(ahead) if place_of(x) not in map(place_of, ahead[:n])]
            yield (*row, 1 + len(firsts)), weight


# ── LAG and LEAD ────────────────────────────────────────────────────────────────────────────


@law("lag", OF_ITS_ROWS, source="SQL:2016 <lead or lag function>")
def lag_keeps_rows(q: Subject, a: ZSets) -> Equation:
    """A window function adds a column and neither makes nor loses a row."""
    return Equation(kept_rows(q, a), above_zero(*a))


@law(
    "lag",
    "Q(a) = each row of a with the value of the row whose row number is less by the offset",
    source="SQL:2016 <lead or lag function>, ROW_NUMBER",
)
def lag_reads_by_row_number(q: Subject, a: ZSets) -> Equation:
    """LAG is a self-join on the row number, and whoever has no LAG can write it so."""
    operator, (schema,) = cast(Lag, q.operator), q.schemas
    numbers = Rank("row_number", "number", operator.partition, operator.order)
    key_of = key_function([schema.index(name) for name in operator.partition])
    value_of = operator.argument.compile(schema)
    default = operator.default.compile(schema) if operator.default is not None else lambda row: None
    numbered = list(q.another(numbers, schema).meaning(*a))
    values = {(key_of(row), row[-1]): value_of(row[:-1]) for row in numbered}
    found = []
    for *row, number in numbered:
        place = key_of(tuple(row)), number - operator.offset
        value = values[place] if place in values else default(tuple(row))
        found.append(((*row, value), 1))
    return Equation(q.meaning(*a), ZSet(found))


# ── Rolling aggregates ──────────────────────────────────────────────────────────────────────

FRAME_OF_ROWS = Premise(
    "the frame of Q counts rows", lambda q: cast(Rolling, q.operator).frame.unit == "rows"
)


@law("rolling", OF_ITS_ROWS, source="SQL:2016 <window clause>")
def rolling_keeps_rows(q: Subject, a: ZSets) -> Equation:
    """A window function adds a column and neither makes nor loses a row."""
    return Equation(kept_rows(q, a), above_zero(*a))


@law(
    "rolling",
    "Q(a) = each row of a with the aggregate of the rows in its frame",
    source="SQL:2016 <window frame clause>; aggregate.py",
    provided=FRAME_OF_ROWS,
)
def rolling_aggregates_each_frame(q: Subject, a: ZSets) -> Equation:
    """A frame is a small table, so what is known of aggregates is known of rolling ones."""
    operator, (schema,) = cast(Rolling, q.operator), q.schemas
    aggregate = q.another(Aggregate((), operator.calls), schema)
    key = order_key(operator.order, schema)
    found = q.meaning(*a)  # first: it refuses a row that is there too often for frames of rows
    framed: list[tuple[Row, int]] = []
    for rows in partitions(q, a):
        copies = [row for row in sorted(rows, key=key) for _ in range(rows[row])]
        for place, row in enumerate(copies):
            frame = copies[frame_of(operator, place, len(copies))]
            (values,) = aggregate.meaning(ZSet([(each, 1) for each in frame], schema))
            framed.append((row + values, 1))
    return Equation(found, ZSet(framed))


def frame_of(rolling: Rolling, place: int, size: int) -> slice:
    """The places of the rows in the frame of the row at this place."""
    back, forward = rolling.frame.preceding, rolling.frame.following
    first = 0 if back is None else max(place - back, 0)
    last = size if forward is None else max(place + forward + 1, 0)
    return slice(first, last)


# ── Sessions ────────────────────────────────────────────────────────────────────────────────


def units_of(q: Subject) -> Callable[[Row], int | None]:
    """The function from a row to its time, in the unit of the gap."""
    operator, (schema,) = cast(SessionWindow, q.operator), q.schemas
    place = schema.index(operator.time)
    units, _ = TIMES[schema.types[place]]
    return lambda row: None if row[place] is None else units(row[place])


@law(
    "session_window",
    "columns of a in Q(a) = a above zero, with a time",
    source="Beam model (VLDB 2015) section 2.2, sessions",
)
def session_window_keeps_rows(q: Subject, a: ZSets) -> Equation:
    """Each row is in one session."""
    units = units_of(q)
    return Equation(kept_rows(q, a), where(above_zero(*a), lambda row: units(row) is not None))


@law(
    "session_window",
    "Q(a) = each row of a with the first and the last time that a chain of gaps leads to",
    source="Beam model (VLDB 2015) section 2.2, sessions: windows that overlap are merged",
)
def session_window_follows_gaps(q: Subject, a: ZSets) -> Equation:
    """One late row may join two sessions, and its deletion parts them again."""
    operator, (schema,) = cast(SessionWindow, q.operator), q.schemas
    units, (_, time_of) = units_of(q), TIMES[schema.column(operator.time).type]
    found = q.meaning(*a)  # first: it refuses an end that the type cannot hold
    chained: list[tuple[Row, int]] = []
    for rows in partitions(q, a):
        times = sorted({time for row in rows if (time := units(row)) is not None})
        for row, weight in rows.items():
            if (time := units(row)) is not None:
                first, last = chain(times, time, operator.gap)
                chained.append(((*row, time_of(first), time_of(last + operator.gap)), weight))
    return Equation(found, ZSet(chained))


def chain(times: list[int], time: int, gap: int) -> tuple[int, int]:
    """The first and the last of these times that steps of at most this gap lead to from here.

    >>> chain([1, 3, 9, 10], 3, 2)
    (1, 3)
    """
    reached = [time]
    while True:
        further = [each for each in times if any(abs(each - one) <= gap for one in reached)]
        if further == reached:
            return reached[0], reached[-1]
        reached = further
