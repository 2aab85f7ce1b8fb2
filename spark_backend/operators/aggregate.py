"""GROUP BY over a range of ticks: what each touched group's row was and is, tick by tick.

Two ways lead to the totals of a group after a tick.

    running      COUNT, and SUM and AVG of BIGINT and DECIMAL: whole numbers, so the totals after
                 a tick are those before it plus the tick's own. Remembered: the totals.
    snapshot     MIN and MAX, and SUM and AVG of DOUBLE, where adding and taking away would drift:
                 computed anew at each tick that touches the group, from the weight that each
                 value has then. Remembered: the weight of each value.

Either way a group's row after each tick is compared with its row after the tick before it: where
they differ the old row goes and the new one comes.

Without keys there is a row from the first tick on, so the first tick gets a line of weight 0 in
every case; in later calls that line is of the past, so that there is a row to compare with.

Not exact: SUM and AVG of DOUBLE are rounded at every addition, in the order of the values; the
reference rounds once. Integer AVG is rounded once while its sum is below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.scalar import Expr
from deltaproof.reference.select import AggregateCall
from deltaproof.reference.types import BIGINT, DECIMAL, DOUBLE, Schema, Type
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed
from deltaproof.spark_backend.scalar import spark_type

LINE = "_weight"  # of a line; `_rows` is the total weight of a group
DIGITS = "DECIMAL(19,0)"  # every BIGINT; the product of two has 38 digits


@dataclass(frozen=True)
class Argument:
    """An argument of the calls, and the names of what is totalled for it."""

    place: int
    expression: Expr
    kind: Type
    functions: frozenset[str]

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
    def is_summed(self) -> bool:
        return bool(self.functions & {"sum", "avg"})

    def extreme(self, function: str) -> str:
        return f"_{function}{self.place}"


@dataclass(frozen=True)
class Grouping:
    """An aggregate while it is written: its keys, its arguments, the lines of its input.

    The lines have `_case`, `_tick`, the keys `_k0` …, the arguments `_a0` … and `_weight`.
    """

    keys: tuple[str, ...]
    arguments: tuple[Argument, ...]
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
    exact = all(adds_up(argument) for argument in grouping.arguments)
    totals = (running_totals if exact else snapshot_totals)(grouping, lowering)
    by_expression = {argument.expression: argument for argument in grouping.arguments}
    results = [result_of(call, by_expression) for _, call in operator.aggregates]
    exists = "TRUE" if not operator.keys else group_exists()
    changes = changes_of_rows(grouping, totals, exists, results, lowering)
    return Relation(changes, operator.output(rows.schema), consolidated=True)


def grouped(operator: Aggregate, rows: Relation, lowering: Lowering) -> Grouping:
    """The input's lines, cut down to keys, arguments and weight."""
    keys = tuple(f"_k{n}" for n in range(len(operator.keys)))
    arguments = tuple(arguments_of(operator, rows.schema))
    scalars = lowering.scalars(rows.schema)
    columns = [
        *(
            f"_c{rows.schema.index(name)} AS {key}"
            for key, name in zip(keys, operator.keys, strict=True)
        ),
        *(f"{scalars(argument.expression)} AS {argument.value}" for argument in arguments),
    ]
    lines = f"SELECT _case, _tick, {listed(*columns, LINE)} FROM {rows.name}"
    if not keys:
        lines = f"SELECT {ONE_PARTITION} * FROM ({lines} UNION ALL {clock(arguments, lowering)})"
    return Grouping(keys, arguments, lowering.define(lines))


def clock(arguments: Iterable[Argument], lowering: Lowering) -> str:
    """A line of weight 0 in every case: in the first tick, later in the past."""
    nulls = [f"CAST(NULL AS {spark_type(each.kind)}) AS {each.value}" for each in arguments]
    tick = f"{int(lowering.first)} AS _tick"
    columns = listed("CAST(id AS INT) AS _case", tick, *nulls, f"0L AS {LINE}")
    return f"SELECT {columns} FROM RANGE(0, {lowering.cases}, 1, 1)"


def arguments_of(operator: Aggregate, schema: Schema) -> Iterable[Argument]:
    """The different arguments of the calls, each with the functions that are asked of it."""
    asked: dict[Expr, set[str]] = {}
    for _, call in operator.aggregates:
        if call.argument is not None:
            asked.setdefault(call.argument, set()).add(call.function)
    for place, (expression, functions) in enumerate(asked.items()):
        yield Argument(place, expression, expression.type_in(schema), frozenset(functions))


def adds_up(argument: Argument) -> bool:
    """Whether what is asked of the argument after a tick is that before plus the tick's own."""
    if argument.functions & {"min", "max"}:
        return False
    return not (argument.is_summed and argument.kind == DOUBLE)


# --- totals: `_case`, `_tick`, keys, `_rows`, and per argument `_w`, `_s`, `_min`, `_max` ---


def running_totals(grouping: Grouping, lowering: Lowering) -> str:
    """The totals after each tick, as running sums of the ticks' own."""
    sums = {"_rows": f"SUM({LINE})"}
    for argument in grouping.arguments:
        sums[argument.weight] = f"SUM(IF({argument.value} IS NULL, 0L, {LINE}))"
        if argument.is_summed:
            sums[argument.sum] = f"SUM({times_weight(argument, LINE)})"
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
    sums = listed(*(f"{text} AS {name}" for name, text in snapshot_sums(grouping).items()))
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
                else f"CAST(NULL AS {spark_type(argument.kind)}) AS {argument.value}"
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


def snapshot_sums(grouping: Grouping) -> Mapping[str, str]:
    """What the totals are, over the values of a group with the weights `_present`."""
    sums = {"_rows": "SUM(IF(_slot = 0, _present, 0L))"}
    for argument in grouping.arguments:
        value = argument.value
        here = f"_slot = {argument.place} AND {value} IS NOT NULL"
        sums[argument.weight] = f"SUM(IF({here}, _present, 0L))"
        if argument.is_summed:
            sums[argument.sum] = f"SUM({times_weight(argument, '_present')})"
        for function in sorted(argument.functions & {"min", "max"}):
            sums[argument.extreme(function)] = f"{function.upper()}({if_present(value)})"
    return sums


def if_present(value: str) -> str:
    """The value, for MIN and MAX, which look at values of positive weight."""
    return f"IF(_present > 0, {value}, NULL)"


def times_weight(argument: Argument, weight: str) -> str:
    """What a value with a weight adds to the sum: exactly, except for DOUBLE."""
    if argument.kind == DOUBLE:  # an infinity times 0 would be NaN
        return f"IF({weight} = 0, NULL, {argument.value} * CAST({weight} AS DOUBLE))"
    value = f"CAST({argument.value} AS {DIGITS})" if argument.kind == BIGINT else argument.value
    return f"{value} * CAST({weight} AS {DIGITS})"


# --- from totals to rows, from rows to changes ---


def group_exists() -> str:
    return "_rows > 0"


def result_of(call: AggregateCall, arguments: Mapping[Expr, Argument]) -> str:
    """The result of a call, from the totals."""
    if call.argument is None:
        return "_rows"
    argument = arguments[call.argument]
    match call.function:
        case "count":
            return argument.weight
        case "sum":
            return unless_empty(argument, sum_of(argument))
        case "avg":
            return unless_empty(argument, average_of(argument))
    return argument.extreme(call.function)


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
