"""The words that the laws are written in."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import isnan
from typing import Any, cast
from zlib import crc32

from deltaproof.properties.law import Stream, Streams, Subject, Ticks, ZSets, reversed_columns, run
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.errors import DeltaproofError, RowError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.stream import integrate
from deltaproof.reference.types import Row, Schema, Value, key_function
from deltaproof.reference.zset import ZSet


def plus(a: ZSet, b: ZSet) -> ZSet:
    return a + b


def total(stream: Sequence[ZSet]) -> ZSet:
    """The sum of a finite stream: its integral at the last tick."""
    return integrate(stream)[-1] if stream else ZSet()


def distinct(rows: ZSet) -> ZSet:
    """Weight 1 where the weight is positive, nothing elsewhere."""
    return Distinct().meaning()(rows)


def row_in(schema: Schema, row: Row) -> Row:
    """The row as the schema makes it canonical; what is wrong with it, when it does not fit.

    A value that is only equal to the canonical one, as 1.50 is to 1.5, does not.

    >>> row_in(Schema.parse("v DOUBLE"), (0.0,)), row_in(Schema.parse("v DOUBLE"), (-0.0,))
    ((0.0,), ('(-0.0,) is not canonical: (0.0,)',))
    """
    try:
        canonical = schema.row(row)
    except RowError as error:
        return (str(error),)
    return canonical if repr(canonical) == repr(row) else (f"{row} is not canonical: {canonical}",)


def weight_of(*zsets: ZSet) -> int:
    """The weights of all rows, added up."""
    return sum(weight for zset in zsets for _, weight in zset.items())


def pruned(state: Any) -> Any:
    """A saved state without its empty lists.

    >>> pruned([[], [0, [[]]]])
    [[0]]
    """
    if not isinstance(state, list):
        return state
    return [each for each in map(pruned, state) if each != []]


def unordered(state: Any) -> Any:
    """A saved state, pruned, its entries in one order: in which they are saved, nobody promises.

    >>> unordered([[["b"], 1], [["a"], 2], []])
    [[['a'], 2], [['b'], 1]]
    """
    return in_one_order(pruned(state))


def in_one_order(state: Any) -> Any:
    if not isinstance(state, list):
        return state
    parts = list(map(in_one_order, state))
    return sorted(parts, key=json.dumps) if all(isinstance(e, list) for e in parts) else parts


def spliced(stream: Stream, other: Stream, t: int) -> Stream:
    """The stream before tick t, then the other one."""
    return stream[:t] + other[t:]


def above_zero(rows: ZSet) -> ZSet:
    """The rows of positive weight.

    >>> above_zero(ZSet({("a",): 2, ("b",): -1}))
    ZSet({('a',): 2})
    """
    return ZSet({row: weight for row, weight in rows.items() if weight > 0})


def least(a: ZSet, b: ZSet) -> ZSet:
    """Row by row the lesser weight.

    >>> least(ZSet({("a",): 2, ("b",): 1}), ZSet({("a",): 1}))
    ZSet({('a',): 1})
    """
    return ZSet({row: min(a[row], b[row]) for row in {*a, *b}})


def renamed(rows: ZSet) -> ZSet:
    """Every value another one of its type, one-to-one, in the opposite order; NULL stays.

    >>> renamed(ZSet({(1, "ab", None): 2}))
    ZSet({(-2, 'ba', None): 2})
    """
    return ZSet({tuple(map(other_value, row)): weight for row, weight in rows.items()}, rows.schema)


LAST_DAY = datetime.date.max.toordinal()


def other_value(value: Value) -> Value:
    """Another value of the same type; applied twice it gives the value back."""
    match value:
        case None:
            return None
        case bool():
            return not value
        case float():
            return value if isnan(value) or value == 0 else -value
        case int():
            return ~value  # unlike -value it never leaves 64 bits
        case Decimal():
            return -value
        case str():
            return value[::-1]
        case datetime.datetime():
            return datetime.datetime.max - (value - datetime.datetime.min)
        case datetime.date():
            return datetime.date.fromordinal(LAST_DAY + 1 - value.toordinal())
        case _:
            return tuple(map(other_value, value))


def permuted(q: Subject, a: ZSets) -> tuple[Subject, ZSets]:
    """The operator over inputs whose columns are in reverse, and those inputs."""
    schemas = [reversed_columns(each) for each in q.schemas]
    rows = tuple(
        ZSet({row[::-1]: weight for row, weight in each.items()}, schema)
        for each, schema in zip(a, schemas, strict=True)
    )
    return q.another(cast(Operator, q.operator), *schemas), rows


def unpermuted(q: Subject, turned: Subject, rows: ZSet) -> ZSet:
    """The rows of one output with their columns in the order of the other, by their names."""
    ours, theirs = cast(Schema, q.output).names, cast(Schema, turned.output).names
    if sorted(ours) != sorted(theirs):
        return rows
    places = [theirs.index(name) for name in ours]
    return ZSet([(tuple(row[place] for place in places), w) for row, w in rows.items()])


def parts(q: Subject, a: ZSets, n: int) -> list[ZSets]:
    """The inputs cut into n + 1 parts by the columns of `partition`."""
    cut = [cut_up(*each, n + 1) for each in zip(q.schemas, q.partition, a, strict=True)]
    return list(zip(*cut, strict=True))


def stream_parts(q: Subject, s: Streams, n: int) -> list[Streams]:
    """The streams cut into n + 1 parts by the columns of `partition`."""
    cut = [
        [list(part) for part in zip(*[cut_up(schema, by, d, n + 1) for d in stream], strict=True)]
        for schema, by, stream in zip(q.schemas, q.partition, s, strict=True)
    ]
    return list(zip(*cut, strict=True))


def cut_up(schema: Schema, by: Sequence[str], rows: ZSet, n: int) -> list[ZSet]:
    """The rows in n parts; those that agree in these columns are in one."""
    key_of = key_function([schema.index(name) for name in by])
    found: list[dict[Row, int]] = [{} for _ in range(n)]
    for row, weight in rows.items():
        found[crc32(repr(key_of(row)).encode()) % n][row] = weight
    return [ZSet(part, schema) for part in found]


def circuit_outputs(query: Query, ticks: Ticks) -> Stream:
    """The output deltas of a new circuit of this query."""
    circuit = Circuit(query)
    return [circuit.step(tick)["view"] for tick in ticks]


def composed_outputs(query: Query, ticks: Ticks) -> Stream:
    """The increments of the query's operators, each run over whole streams, one after the other."""
    streams: dict[Query, Stream] = {}
    for node in query.nodes():
        if isinstance(node, Apply):
            increment = node.operator.increment(*[each.schema for each in node.over])
            streams[node] = run(increment, tuple(streams[each] for each in node.over))
        else:
            streams[node] = [tick[node.label()] for tick in ticks]
    return streams[query]


def saved(circuit: Circuit) -> tuple[Any, ...]:
    """What a checkpoint says of the view and of the operators."""
    checkpoint = json.loads(circuit.checkpoint())
    return checkpoint["contents"], unordered(checkpoint["nodes"])


def refuses(circuit: Circuit, tick: dict[str, ZSet]) -> bool:
    """Whether the circuit refuses this tick."""
    try:
        circuit.step(tick)
    except DeltaproofError:
        return True
    return False


def reversed_rows(rows: ZSet) -> ZSet:
    """The same Z-set, written down in the other order."""
    return ZSet.trusted(dict(reversed(list(rows.items()))), rows.schema)


def negated(stream: Stream) -> Stream:
    """The negation at every tick."""
    return [-each for each in stream]


def looped(operator: Callable[..., Stream], s: Streams) -> Stream:
    """fix a. Q(s + z(a)): the output, a tick later, is added to the last input.

    Q is causal, so the first t ticks of the input make the first t of the output.

    >>> looped(lambda stream: stream, ([ZSet({("a",): 1}), ZSet(), ZSet({("b",): 1})],))
    [ZSet({('a',): 1}), ZSet({('a',): 1}), ZSet({('a',): 1, ('b',): 1})]
    """
    *others, last = s
    output: Stream = []
    for t in range(1, len(last) + 1):
        fed = [plus(own, back) for own, back in zip(last[:t], [ZSet(), *output], strict=True)]
        output = operator(*[each[:t] for each in others], fed)
    return output


def grouped(rows: ZSet, key_of: Callable[[Row], Row]) -> dict[Row, ZSet]:
    """The rows of each key.

    >>> grouped(ZSet({("a", 1): 2, ("b", 1): 1}), lambda row: row[:1])
    {('a',): ZSet({('a', 1): 2}), ('b',): ZSet({('b', 1): 1})}
    """
    found: dict[Row, dict[Row, int]] = {}
    for row, weight in rows.items():
        found.setdefault(key_of(row), {})[row] = weight
    return {key: ZSet(group, rows.schema) for key, group in found.items()}


def first_columns(rows: ZSet, width: int) -> ZSet:
    """The first columns of the rows; rows that become equal add up.

    >>> first_columns(ZSet({("a", 1): 2, ("a", 2): 1}), 1)
    ZSet({('a',): 3})
    """
    return ZSet([(row[:width], weight) for row, weight in rows.items()])


def where(rows: ZSet, holds: Callable[[Row], bool]) -> ZSet:
    """The rows of which this holds, with their weights."""
    return ZSet({row: weight for row, weight in rows.items() if holds(row)}, rows.schema)
