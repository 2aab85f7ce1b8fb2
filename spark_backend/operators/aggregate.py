"""GROUP BY over a range of ticks: what each touched group's row was and is, tick by tick.

Two ways lead to the totals of a group after a tick.

    running      COUNT, BOOL_AND, BOOL_OR, and SUM, AVG and the variances of BIGINT and DECIMAL:
                 whole numbers, so the totals after a tick are those before it plus the tick's
                 own. Remembered: the totals.
    snapshot     what reads values and not sums of them (MIN, ARG_MIN, ARRAY_AGG, quantiles,
                 DISTINCT), and SUM, AVG and the variances of DOUBLE, where adding and taking
                 away would drift: computed anew at each tick that touches the group, from the
                 weight that each value has then. Remembered: the weight of each value.

Either way a group's row after each tick is compared with its row after the tick before it: where
they differ the old row goes and the new one comes.

What a call is given for a line is one value, NULL for nothing: its argument where the FILTER is
TRUE, for ARG_MIN and ARG_MAX the pair (by, argument), for SINGLE a row of one column.

Without keys there is a row from the first tick on, so the first tick gets a line of weight 0 in
every case; in later calls that line is of the past, so that there is a row to compare with.

Not exact: SUM and AVG of DOUBLE are rounded at every addition, in the order of the values, and so
are variances and quantiles; the reference rounds once. Integer AVG is rounded once while its sum
is below 2^53. A variance of BIGINT or DECIMAL is an error where n Σ x² needs more than 38 digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import BIGINT, BOOLEAN, DECIMAL, DOUBLE, Schema, Type
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed
from deltaproof.spark_backend.scalar import ScalarText, spark_type

LINE = "_weight"  # of a line; `_rows` is the total weight of a group
DIGITS = "DECIMAL(19,0)"  # every BIGINT; the product of two has 38 digits


INFINITY = "DOUBLE('Infinity')"
SUMMED = ("sum", "avg")
SPREAD = ("variance_pop", "variance_samp", "stddev_pop", "stddev_samp")
EXTREMES = {"min": "MIN", "max": "MAX", "arg_min": "MIN", "arg_max": "MAX", "single": "MAX"}

Given: TypeAlias = tuple[object, ...]  # what makes two calls be given the same values


@dataclass(frozen=True)
class Argument:
    """What calls are given for a line, and the names of what is totalled for it.

    `once` is DISTINCT: a value that is there counts as one row. `copies` counts the rows that
    are there, whatever is taken away from others.
    """

    place: int
    text: str
    kind: Type  # of the argument
    spark: str  # the type of the text
    once: bool
    copies: bool

    @property
    def value(self) -> str:
        return f"_a{self.place}"

    @property
    def weight(self) -> str:
        return f"_w{self.place}"

    @property
    def sum(self) -> str:
        return f"_s{self.place}"

    @property
    def squares(self) -> str:
        return f"_q{self.place}"

    @property
    def listed(self) -> str:
        return f"_l{self.place}"

    def named(self, what: object) -> str:
        return f"_{what}{self.place}"

    def counted(self, weight: str) -> str:
        """How often a value of this weight counts."""
        if self.once:
            return presence(weight)
        return copies_of(weight) if self.copies else weight


@dataclass(frozen=True)
class Grouping:
    """An aggregate while it is written: its keys, its arguments, the lines of its input.

    The lines have `_case`, `_tick`, the keys `_k0` …, the arguments `_a0` … and `_weight`.
    """

    keys: tuple[str, ...]
    arguments: tuple[Argument, ...]
    calls: tuple[tuple[AggregateCall, Argument | None], ...]  # None: given every row
    lines: str

    @property
    def group(self) -> str:
        return listed("_case", *self.keys)

    @property
    def values(self) -> list[str]:
        return [argument.value for argument in self.arguments]


def lower_aggregate(operator: Aggregate, rows: Relation, lowering: Lowering) -> Relation:
    """γ: the changes of the groups' rows."""
    grouping = grouped(operator, rows, lowering)
    exact = all(adds_up(call, argument) for call, argument in grouping.calls)
    totals = (running_totals if exact else snapshot_totals)(grouping, lowering)
    results = [result_of(call, argument) for call, argument in grouping.calls]
    exists = "TRUE" if not operator.keys else group_exists()
    changes = changes_of_rows(grouping, totals, exists, results, lowering)
    return Relation(changes, operator.output(rows.schema), consolidated=True)


def grouped(operator: Aggregate, rows: Relation, lowering: Lowering) -> Grouping:
    """The input's lines, cut down to keys, arguments and weight."""
    keys = tuple(f"_k{n}" for n in range(len(operator.keys)))
    calls = tuple(arguments_of(operator, rows.schema, lowering.scalars(rows.schema)))
    arguments = tuple(dict.fromkeys(argument for _, argument in calls if argument is not None))
    columns = [
        *(
            f"_c{rows.schema.index(name)} AS {key}"
            for key, name in zip(keys, operator.keys, strict=True)
        ),
        *(f"{argument.text} AS {argument.value}" for argument in arguments),
    ]
    lines = f"SELECT _case, _tick, {listed(*columns, LINE)} FROM {rows.name}"
    if not keys:
        lines = f"SELECT {ONE_PARTITION} * FROM ({lines} UNION ALL {clock(arguments, lowering)})"
    return Grouping(keys, arguments, calls, lowering.define(lines))


def clock(arguments: Iterable[Argument], lowering: Lowering) -> str:
    """A line of weight 0 in every case: in the first tick, later in the past."""
    nulls = [f"CAST(NULL AS {each.spark}) AS {each.value}" for each in arguments]
    return f"SELECT {listed('_case', '_tick', *nulls, f'0L AS {LINE}')} FROM {lowering.begins()}"


def arguments_of(
    operator: Aggregate, schema: Schema, scalars: ScalarText
) -> Iterator[tuple[AggregateCall, Argument | None]]:
    """Every call with what it is given; calls that are given the same share it."""
    found: dict[Given, Argument] = {}
    for _, call in operator.aggregates:
        if call.function == "count_star" and call.where is None:
            yield call, None
            continue
        once = call.distinct and call.function in ("count", *SUMMED)
        copies = call.function == "single"
        given = (call.argument, call.where, call.by, once, copies)
        if given not in found:
            text, kind, spark = given_value(call, schema, scalars)
            found[given] = Argument(len(found), text, kind, spark, once, copies)
        yield call, found[given]


def given_value(call: AggregateCall, schema: Schema, scalars: ScalarText) -> tuple[str, Type, str]:
    """(what the call is given for a line, the type of its argument, the type of what is given)."""
    text, kind = "TRUE", BOOLEAN if call.argument is None else call.argument.type_in(schema)
    if call.argument is not None:
        text = scalars(call.argument)
    spark = spark_type(kind)
    if call.by is not None:
        by, of = scalars(call.by), text
        text = f"IF({by} IS NULL OR {of} IS NULL, NULL, STRUCT({by} AS _by, {of} AS _of))"
        spark = f"STRUCT<_by: {spark_type(call.by.type_in(schema))}, _of: {spark}>"
    if call.function == "single":
        text, spark = f"STRUCT({text} AS _of)", f"STRUCT<_of: {spark}>"
    if call.where is not None:
        text = where_true(scalars(call.where), text)
    return text, kind, spark


def where_true(condition: str, text: str) -> str:
    """FILTER: what is given for a line, nothing unless the condition is TRUE."""
    return f"IF({condition}, {text}, NULL)"


def adds_up(call: AggregateCall, argument: Argument | None) -> bool:
    """Whether what the call needs after a tick is that before plus the tick's own."""
    if argument is None:
        return True
    if argument.once:
        return False
    if call.function in (*SUMMED, *SPREAD):
        return argument.kind != DOUBLE
    return call.function in ("count_star", "count", "bool_and", "bool_or")


# --- totals: `_case`, `_tick`, keys, `_rows`, and for each argument what its calls need ---


def totals_of(grouping: Grouping, weight: str) -> Mapping[str, str]:
    """What is totalled, by name, over lines of this weight; a line without a value adds nothing."""
    totals: dict[str, str] = {}
    for call, argument in grouping.calls:
        if argument is not None:
            totals |= needed(call, argument, weight)
    return totals


def needed(call: AggregateCall, argument: Argument, weight: str) -> Iterator[tuple[str, str]]:
    """(name, aggregate) of what one call needs."""
    value, counted = argument.value, argument.counted(weight)
    match call.function:
        case "count_star" | "count" | "sum" | "avg" | "single":
            yield argument.weight, f"SUM(IF({value} IS NULL, 0L, {counted}))"
        case function if function in SPREAD:
            yield argument.weight, f"SUM(IF({value} IS NULL, 0L, {counted}))"
        case "bool_and" | "bool_or":
            yield argument.named("t"), f"SUM(IF({value}, {weight}, 0L))"
            yield argument.named("f"), f"SUM(IF(NOT {value}, {weight}, 0L))"
        case "array_agg":
            copies = f"ARRAY_REPEAT({value}, CAST({weight} AS INT))"
            present = f"IF({value} IS NOT NULL AND {weight} > 0, {copies}, NULL)"
            yield argument.named("all"), f"SORT_ARRAY(FLATTEN(COLLECT_LIST({present})))"
        case "quantile":
            fraction = f"CAST({call.fraction} AS DOUBLE)"
            found = f"PERCENTILE({if_present(value)}, {fraction}, {copies_of(weight)})"
            yield quantile_name(call, argument), found
    if call.function in SUMMED:
        yield argument.sum, f"SUM({times_weight(argument, counted)})"
    if call.function in SPREAD and argument.kind == DOUBLE:
        present = f"STRUCT({value} AS v, CAST({weight} AS DOUBLE) AS w)"
        kept = f"IF({value} IS NOT NULL AND {weight} <> 0, {present}, NULL)"
        yield argument.listed, f"SORT_ARRAY(COLLECT_LIST({kept}))"
    elif call.function in SPREAD:
        square = f"{units(argument)} * {units(argument)}"
        yield argument.named("u"), f"SUM({units(argument)} * CAST({weight} AS {DIGITS}))"
        yield argument.squares, f"SUM({square} * CAST({weight} AS {DIGITS}))"
    if call.function in EXTREMES:
        extreme = EXTREMES[call.function]
        yield argument.named(extreme.lower()), f"{extreme}({if_present(value)})"


def presence(weight: str) -> str:
    """1 for a value that is there, however often, else 0."""
    return f"IF({weight} > 0, 1L, 0L)"


def copies_of(weight: str) -> str:
    """How often a value of this weight is there."""
    return f"GREATEST({weight}, 0L)"


def quantile_name(call: AggregateCall, argument: Argument) -> str:
    numerator, denominator = (call.fraction or Decimal()).as_integer_ratio()
    return argument.named(f"quantile_{numerator}_{denominator}_of_")


def running_totals(grouping: Grouping, lowering: Lowering) -> str:
    """The totals after each tick, as running sums of the ticks' own."""
    sums = {"_rows": f"SUM({LINE})", **totals_of(grouping, LINE)}
    columns = listed(*(f"{text} AS {name}" for name, text in sums.items()))
    group = grouping.group
    own = lowering.define(
        f"SELECT {group}, _tick, {columns} FROM {grouping.lines} GROUP BY {group}, _tick"
    )
    own = lowering.with_past(own, grouping.keys, list(sums))
    running = listed(*(f"SUM({name}) OVER so_far AS {name}" for name in sums))
    window = f"(PARTITION BY {group} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    return lowering.define(f"SELECT {group}, _tick, {running} FROM {own} WINDOW so_far AS {window}")


def snapshot_totals(grouping: Grouping, lowering: Lowering) -> str:
    """The totals after each tick that touches the group, from the values' weights at that tick."""
    group = grouping.group
    lines = one_line_per_value(grouping, lowering)
    value = listed(*grouping.keys, "_slot", *grouping.values)
    changes = lowering.define(
        f"SELECT _case, _tick, {value}, SUM({LINE}) AS {LINE} FROM {lines} "
        f"GROUP BY _case, _tick, {value}"
    )
    changes = lowering.with_past(changes, value.split(", "), [LINE])
    touched = f"COLLECT_SET(IF(_tick > 0, _tick, NULL)) OVER (PARTITION BY {group})"
    history = lowering.define(
        f"SELECT _case, {value}, _tick, SUM({LINE}) OVER so_far AS _present, "
        f"LEAD(_tick) OVER in_order AS _until, {touched} AS _touched FROM {changes} "
        f"WINDOW in_order AS (PARTITION BY _case, {value} ORDER BY _tick), "
        f"so_far AS (PARTITION BY _case, {value} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    )
    at = "_touched" if lowering.first else "IF(SIZE(_touched) > 0, ARRAY_APPEND(_touched, 0), NULL)"
    moments = lowering.define(
        f"SELECT _case, {value}, _present, _tick, _until, EXPLODE({at}) AS _at FROM {history}"
    )
    valid = lowering.define(
        f"SELECT * FROM {moments} WHERE _at >= _tick AND (_until IS NULL OR _at < _until)"
    )
    totals = {"_rows": "SUM(IF(_slot = 0, _present, 0L))", **totals_of(grouping, "_present")}
    sums = listed(*(f"{text} AS {name}" for name, text in totals.items()))
    return lowering.define(
        f"SELECT {group}, _at AS _tick, {sums} FROM {valid} GROUP BY {group}, _at"
    )


def one_line_per_value(grouping: Grouping, lowering: Lowering) -> str:
    """Every line once per argument, in its slot: a value's weight is that of all its rows."""
    columns = listed("_case", "_tick", *grouping.keys)
    slots = [
        listed(
            f"{slot.place} AS _slot",
            *(
                argument.value
                if argument == slot
                else f"CAST(NULL AS {argument.spark}) AS {argument.value}"
                for argument in grouping.arguments
            ),
        )
        for slot in grouping.arguments
    ]
    if len(slots) == 1:
        return lowering.define(f"SELECT {columns}, {slots[0]}, {LINE} FROM {grouping.lines}")
    structs = listed(*(f"STRUCT({slot})" for slot in slots))
    return lowering.define(
        f"SELECT {columns}, INLINE(ARRAY({structs})), {LINE} FROM {grouping.lines}"
    )


def if_present(value: str) -> str:
    """The value, for what looks at values of positive weight, such as MIN and MAX."""
    return f"IF(_present > 0, {value}, NULL)"


def times_weight(argument: Argument, weight: str) -> str:
    """What a value with a weight adds to the sum: exactly, except for DOUBLE."""
    if argument.kind == DOUBLE:  # an infinity times 0 would be NaN
        return f"IF({weight} = 0, NULL, {argument.value} * CAST({weight} AS DOUBLE))"
    value = f"CAST({argument.value} AS {DIGITS})" if argument.kind == BIGINT else argument.value
    return f"{value} * CAST({weight} AS {DIGITS})"


def units(argument: Argument) -> str:
    """The value as a whole number of its type's unit."""
    if isinstance(argument.kind, DECIMAL) and argument.kind.scale:
        ten = f"CAST({10**argument.kind.scale} AS DECIMAL(38,0))"
        return f"CAST({argument.value} * {ten} AS DECIMAL(38,0))"
    return f"CAST({argument.value} AS {DIGITS})"


# --- from totals to rows, from rows to changes ---


def group_exists() -> str:
    return "_rows > 0"


def result_of(call: AggregateCall, argument: Argument | None) -> str:
    """The result of a call, from the totals."""
    if argument is None:
        return "_rows"
    match call.function:
        case "count_star" | "count":
            return argument.weight
        case "sum":
            return unless_empty(argument, sum_of(argument))
        case "avg":
            return unless_empty(argument, average_of(argument))
        case "min" | "max":
            return argument.named(call.function)
        case "arg_min" | "arg_max":
            return f"{argument.named(call.function.removeprefix('arg_'))}._of"
        case "bool_and":
            return (
                f"IF({argument.named('f')} > 0, FALSE, IF({argument.named('t')} > 0, TRUE, NULL))"
            )
        case "bool_or":
            return (
                f"IF({argument.named('t')} > 0, TRUE, IF({argument.named('f')} > 0, FALSE, NULL))"
            )
        case "array_agg":
            return null_when_empty(argument.named("all"))
        case "quantile":
            return f"({quantile_name(call, argument)} + 0.0D)"
        case "single":
            error = "RAISE_ERROR('a scalar subquery gave more than one row')"
            return f"IF({argument.weight} > 1, {error}, {argument.named('max')}._of)"
    return spread_of(call, argument)


def null_when_empty(array: str) -> str:
    """The array, for ARRAY_AGG, which is NULL over nothing."""
    return f"IF(SIZE({array}) > 0, {array}, NULL)"


def spread_of(call: AggregateCall, argument: Argument) -> str:
    """VARIANCE and STDDEV; NULL unless there are enough values."""
    less = 1 if call.function.endswith("samp") else 0
    variance = (double_variance if argument.kind == DOUBLE else exact_variance)(argument, less)
    result = f"SQRT({variance})" if call.function.startswith("stddev") else variance
    return f"IF({argument.weight} > {less}, {result} + 0.0D, NULL)"


def exact_variance(argument: Argument, less: int) -> str:
    """(n Σ x² - (Σ x)²) / (n (n - less)) in whole units, up to the division."""
    count = f"CAST({argument.weight} AS {DIGITS})"
    total = argument.named("u")
    deviations = f"CAST({count} * {argument.squares} - {total} * {total} AS DOUBLE)"
    degrees = degrees_of_freedom(argument.weight, less)
    pairs = f"(CAST({argument.weight} AS DOUBLE) * CAST({degrees} AS DOUBLE))"
    scale = argument.kind.scale if isinstance(argument.kind, DECIMAL) else 0
    return f"({deviations} / ({pairs} * 1E{2 * scale}D))"


def double_variance(argument: Argument, less: int) -> str:
    """Σ w (x - mean)² / (n - less): first the mean, as a distance from the first value."""
    values, count = argument.listed, f"CAST({argument.weight} AS DOUBLE)"
    moved = f"GET({values}, 0).v"
    distance = f"(y.v - {moved} - total / {count})"
    squares = f"AGGREGATE({values}, 0D, (sum, y) -> sum + y.w * {distance} * {distance})"
    # NaN is above everything here, and a special value leaves no other total
    result = f"IF(ABS(total) >= {INFINITY}, DOUBLE('NaN'), {squares})"
    sums = f"AGGREGATE({values}, 0D, (sum, x) -> sum + x.w * (x.v - {moved}), total -> {result})"
    return f"({sums} / CAST({degrees_of_freedom(argument.weight, less)} AS DOUBLE))"


def degrees_of_freedom(count: str, less: int) -> str:
    """What the squares are divided by: n, or of a sample n - 1."""
    return f"{count} - {less}"


def unless_empty(argument: Argument, result: str) -> str:
    """SUM and AVG are NULL unless the values have a positive total weight."""
    return f"IF({argument.weight} > 0, {result}, NULL)"


def sum_of(argument: Argument) -> str:
    if isinstance(argument.kind, DECIMAL):
        return f"CAST({argument.sum} AS DECIMAL(38,{argument.kind.scale}))"
    if argument.kind == BIGINT:
        return f"CAST({argument.sum} AS BIGINT)"
    return f"({argument.sum} + 0.0D)"


def average_of(argument: Argument) -> str:
    """The quotient of two whole numbers as DOUBLE: for DECIMAL, of its units."""
    total, weight = f"CAST({argument.sum} AS DOUBLE)", f"CAST({argument.weight} AS DOUBLE)"
    if isinstance(argument.kind, DECIMAL):
        units = f"1E{argument.kind.scale}D"
        total, weight = f"RINT({total} * {units})", f"({weight} * {units})"
    return f"({total} / {weight} + 0.0D)"


def changes_of_rows(
    grouping: Grouping, totals: str, exists: str, results: Sequence[str], lowering: Lowering
) -> str:
    """Where a group's row differs from its row before: the old one goes, the new one comes."""
    group = grouping.group
    fields = listed(*(f"{text} AS _v{n}" for n, text in enumerate(results))) or "TRUE AS _v"
    rows = lowering.define(
        f"SELECT {group}, _tick, IF({exists}, STRUCT({fields}), NULL) AS _row FROM {totals}"
    )
    before = f"LAG(_row) OVER (PARTITION BY {group} ORDER BY _tick)"
    pairs = lowering.define(f"SELECT *, {before} AS _before FROM {rows}")
    goes, comes = "STRUCT(_before AS _row, -1L AS _weight)", "STRUCT(_row AS _row, 1L AS _weight)"
    changes = lowering.define(
        f"SELECT {group}, _tick, INLINE(ARRAY({goes}, {comes})) FROM {pairs} "
        "WHERE _tick > 0 AND NOT (_row <=> _before)"
    )
    columns = [f"{key} AS _c{n}" for n, key in enumerate(grouping.keys)]
    columns += [f"_row._v{n} AS _c{n + len(grouping.keys)}" for n in range(len(results))]
    return lowering.define(
        f"SELECT {listed('_case', '_tick', *columns, '_weight')} FROM {changes} "
        "WHERE _row IS NOT NULL"
    )
