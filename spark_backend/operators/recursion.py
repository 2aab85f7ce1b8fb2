"""Recursion over a range of ticks: iterations in turn, each for all ticks and all cases at once.

Changes have two times, the tick and the iteration (`reference/fixpoint.py` says the same of the
reference's increment). The driver goes through the iterations in order; in each, a few jobs
compute the lines of that iteration from the lines of those before it, for every tick and case:

    linear     the form of the operator, over the lines of the iteration
    join       two lines meet at the later of their ticks and at the later of their iterations
    distinct   [weight up to this iteration > 0] - [weight up to the one before > 0], at every tick;
               looked at only for rows that have a line in this iteration
    variable   the relation's lines of the iteration before

Semi-naive in both times: lines of an iteration that were made are not made again, and pairs of
lines of the past are not made at all. Remembered, with their iterations: both sides of every join,
and what enters each distinct. The iterations end when the relations have no new lines, in a later
call not before the last iteration of which anything is remembered.

What does not depend on the recursion is lowered as ever, and enters at iteration 0 as a set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from deltaproof.reference.fixpoint import not_converged
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.operators.recursion_rules import reads_any
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.query import Apply, Query, Table
from deltaproof.reference.types import Schema
from deltaproof.spark_backend.frames import column_names
from deltaproof.spark_backend.lowering import ONE_PARTITION, Lowering, Relation, listed
from deltaproof.spark_backend.operators.distinct import presence
from deltaproof.spark_backend.operators.join import pair_tick, pair_weight
from deltaproof.spark_backend.scalar import spark_type

MANY = 8  # so many parts of a trace become one

# Which lines of a join meet in an iteration: those of one part. New lines of this iteration meet
# all that came so far, on either side; new lines of earlier ones meet the remembered of this.
#                 new, now        new, earlier    past, now       past, earlier
LEFT_PARTS = ("ARRAY(0)", "ARRAY(1, 3)", "ARRAY(1, 2)", "ARRAY(1)")
RIGHT_PARTS = ("ARRAY(0, 1)", "ARRAY(0, 2)", "ARRAY(0, 3)", "ARRAY(0)")


def lower_recursion(operator: Recursion, *arguments: Any) -> Relation:
    """μ: the changes of the result, of all iterations."""
    *inputs, lowering = arguments
    tables: dict[Query, Relation] = {
        Table(name, schema): relation
        for (name, schema), relation in zip(operator.tables, inputs, strict=True)
    }
    return Iterations(operator, lowering).run(tables)


class Trace:
    """The lines that go into a stateful operator, each with its iteration: the past, and new ones.

    Columns: `_case`, `_tick`, `_iter`, those of the row, `_weight`; the past is of tick 0.
    """

    def __init__(self, schema: Schema, lowering: Lowering) -> None:
        self.lowering = lowering
        self.schema = schema
        self.columns = column_names(schema)
        self.now: list[str] = []
        self.place = lowering.reserve_past(["_iter", *self.columns], ["_weight"])

    @property
    def line(self) -> str:
        return listed("_case", "_tick", "_iter", *self.columns, "_weight")

    def add(self, iteration: int, relation: Relation) -> None:
        """New lines, of this iteration."""
        line = listed("_case", "_tick", f"{iteration} AS _iter", *self.columns, "_weight")
        self.now.append(f"SELECT {line} FROM {relation.name}")
        if len(self.now) > MANY:
            together = self.lowering.materialize(" UNION ALL ".join(self.now))
            self.now = [f"SELECT {self.line} FROM {together}"]

    def past(self) -> list[str]:
        """A SELECT of the past; none in the first call."""
        if self.lowering.first:
            return []
        return [f"SELECT {self.line} FROM ({self.lowering.lines_of_past(self.place)})"]

    def together(self, *selects: str) -> str:
        """A clause of the lines of these SELECTs."""
        lines = " UNION ALL ".join(selects or [no_lines(self.schema, self.lowering)])
        return self.lowering.define(f"SELECT {ONE_PARTITION} * FROM ({lines})")

    def until(self, iteration: int) -> str:
        """A clause of the lines up to this iteration."""
        past = [f"{select} WHERE _iter <= {iteration}" for select in self.past()]
        return self.together(*self.now, *past)

    def touched(self, iteration: int) -> str:
        """A clause of the lines up to this iteration of the rows that have a new line."""
        if self.lowering.first:
            return self.until(iteration)
        same = [f"a.{name} <=> b.{name}" for name in ("_case", *self.columns)]
        return self.lowering.define(
            f"SELECT a.* FROM {self.until(iteration)} a "
            f"LEFT SEMI JOIN {self.together(*self.now)} b ON {' AND '.join(same)}"
        )

    def remember(self) -> None:
        """All lines are the next call's past."""
        self.lowering.remember(self.place, self.together(*self.now, *self.past()))


def no_lines(schema: Schema, lowering: Lowering) -> str:
    """A SELECT without lines, of the columns that a trace of this schema has."""
    nulls = [
        f"CAST(NULL AS {spark_type(column.type)}) AS {name}"
        for name, column in zip(column_names(schema), schema.columns, strict=True)
    ]
    columns = listed("_case", "_tick", "0 AS _iter", *nulls, "0L AS _weight")
    return f"SELECT {columns} FROM {lowering.begins()} WHERE FALSE"


Lines = dict[Query, Relation]  # of one iteration, by the query they are of; none where not there


@dataclass
class Iterations:
    """A recursion while its iterations run."""

    operator: Recursion
    lowering: Lowering
    names: set[str] = field(init=False)
    nodes: list[Apply] = field(init=False)  # what reads a relation, inputs first
    outside: list[Query] = field(init=False)  # what does not, where it enters
    traces: dict[tuple[Query, int], Trace] = field(init=False)  # by node and place of the input

    def __post_init__(self) -> None:
        bodies = self.operator.bodies
        self.names = {relation.label() for relation in bodies}
        every = dict.fromkeys(node for body in bodies.values() for node in body.nodes())
        self.nodes = [each for each in every if isinstance(each, Apply) and self.inside(each)]
        read = [each for node in self.nodes for each in node.over] + list(bodies.values())
        self.outside = [each for each in dict.fromkeys(read) if not self.inside(each)]
        self.traces = {
            (node, place): Trace(each.schema, self.lowering)
            for node in self.nodes
            if isinstance(node.operator, Join | Distinct)
            for place, each in enumerate(node.over)
        }
        for relation in bodies:
            self.traces[relation, 0] = Trace(relation.schema, self.lowering)

    def inside(self, query: Query) -> bool:
        return reads_any(query, self.names)

    def run(self, tables: Lines) -> Relation:
        """Every iteration in turn. Raises EvaluationError when they do not end."""
        found: list[Relation] = []
        entering = self.entering(tables)
        variables: Lines = {}
        iteration, last = 0, self.last_of_past() if entering else -1
        while entering or variables or iteration <= last:
            lines = entering | variables
            for node in self.nodes:
                self.write(node, lines, iteration)
            variables = dict(self.relations(lines, iteration))
            entering = {}
            iteration += 1
            self.check_bound(variables, iteration)
            if (result := self.operator.relation(self.operator.result)) in variables:
                found.append(variables[result])
        for trace in self.traces.values():
            trace.remember()
        return self.all_of(found)

    def entering(self, tables: Lines) -> Lines:
        """What enters at iteration 0, where there are changes."""
        done = dict(tables)
        for query in self.outside:
            self.lowering.lower(query.nodes(), done)
        found = {query: self.computed(done[query]) for query in self.outside}
        return {query: relation for query, relation in found.items() if relation}

    def computed(self, relation: Relation) -> Relation | None:
        """The relation's lines, computed now; None where there are none."""
        select = f"SELECT * FROM {relation.name}"
        name, lines = self.lowering.materialize_and_count(select)
        return Relation(name, relation.schema, relation.consolidated) if lines else None

    def last_of_past(self) -> int:
        """The last iteration of which anything is remembered."""
        pasts = [select for trace in self.traces.values() for select in trace.past()]
        if not pasts:
            return -1
        iterations = " UNION ALL ".join(f"SELECT _iter FROM ({select})" for select in pasts)
        ((last,),) = self.lowering.fetch(f"SELECT MAX(_iter) FROM ({iterations})")
        return -1 if last is None else int(last)

    def write(self, node: Apply, lines: Lines, iteration: int) -> None:
        """Adds the node's lines of this iteration, if there are any."""
        given = [lines.get(each) for each in node.over]
        match node.operator:
            case Join():
                found = self.joined(node, given, iteration)
            case Distinct():
                found = self.made_distinct(node, node.schema, given[0], iteration)
            case UnionAll() if None in given:
                found = next((each for each in given if each), None)
            case operator if None in given:
                return
            case operator:
                found = self.lowering.forms[type(operator)](operator, *given, self.lowering)
        if found:
            lines[node] = Relation(found.name, node.schema, found.consolidated)

    def relations(self, lines: Lines, iteration: int) -> Iterator[tuple[Query, Relation]]:
        """Each relation that changes in this iteration, with its lines."""
        for relation, body in self.operator.bodies.items():
            found = self.made_distinct(relation, relation.schema, lines.get(body), iteration)
            if found and (computed := self.computed(found)):
                yield relation, computed

    def check_bound(self, variables: Lines, iteration: int) -> None:
        if variables and iteration >= self.operator.bound:
            relation, lines = next(iter(variables.items()))
            rows = self.lowering.fetch(f"SELECT {listed(*lines.columns)} FROM {lines.name} LIMIT 1")
            raise not_converged(relation.label(), self.operator.bound, rows)

    def joined(self, node: Apply, given: list[Relation | None], iteration: int) -> Relation | None:
        """The pairs whose later line is of this iteration, computed now."""
        traces = [self.traces[node, place] for place in (0, 1)]
        for trace, relation in zip(traces, given, strict=True):
            if relation:
                trace.add(iteration, relation)
        nothing_new = not any(given) if self.lowering.first else not any(t.now for t in traces)
        if nothing_new:
            return None
        parts = (LEFT_PARTS, RIGHT_PARTS)
        sides = [
            self.side_of_join(trace, iteration, each)
            for trace, each in zip(traces, parts, strict=True)
        ]
        left, right = traces
        operator: Any = node.operator
        equal = [
            f"a._c{left.schema.index(a)} = b._c{right.schema.index(b)}" for a, b in operator.on
        ]
        columns = [f"a.{name} AS {name}" for name in left.columns]
        columns += [f"b.{name} AS _c{n}" for n, name in enumerate(right.columns, len(left.schema))]
        name = self.lowering.materialize(
            f"SELECT /*+ SHUFFLE_HASH(b) */ "
            f"{listed('a._case AS _case', pair_tick(), *columns, pair_weight())} "
            f"FROM {sides[0]} a JOIN {sides[1]} b "
            f"ON {' AND '.join(['a._case = b._case', 'a._part = b._part', *equal])}"
        )
        return Relation(name, node.schema, consolidated=False)

    def side_of_join(self, trace: Trace, iteration: int, parts: tuple[str, ...]) -> str:
        """The lines of one side up to this iteration, filed by part."""
        new_now, new_earlier, past_now, past_earlier = parts
        part = (
            f"EXPLODE(IF(_tick > 0, IF(_iter = {iteration}, {new_now}, {new_earlier}), "
            f"IF(_iter = {iteration}, {past_now}, {past_earlier}))) AS _part"
        )
        return self.lowering.define(f"SELECT *, {part} FROM {trace.until(iteration)}")

    def made_distinct(
        self, node: Query, schema: Schema, given: Relation | None, iteration: int
    ) -> Relation | None:
        """Where a row enters or leaves in this iteration, as that changes from tick to tick."""
        trace = self.traces[node, 0]
        if given:
            trace.add(iteration, given)
        if not trace.now or (self.lowering.first and not given):
            return None
        row = listed("_case", *trace.columns)
        earlier = f"SUM(IF(_iter < {iteration}, _weight, 0L)) AS _earlier"
        here = f"MAX(IF(_iter = {iteration}, 1, 0)) AS _here"
        ticks = self.lowering.define(
            f"SELECT {row}, _tick, SUM(_weight) AS _until, {earlier}, {here} "
            f"FROM {trace.touched(iteration)} GROUP BY {row}, _tick"
        )
        so_far = f"(PARTITION BY {row} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
        weights = self.lowering.define(
            f"SELECT {row}, _tick, _until, _earlier, SUM(_until) OVER so_far AS _until_now, "
            f"SUM(_earlier) OVER so_far AS _earlier_now, "
            f"MAX(_here) OVER (PARTITION BY {row}) AS _here "
            f"FROM {ticks} WINDOW so_far AS {so_far}"
        )
        after = f"{presence('_until_now')} - {presence('_earlier_now')}"
        before = f"{presence('_until_now - _until')} - {presence('_earlier_now - _earlier')}"
        changes = self.lowering.define(
            f"SELECT {row}, _tick, ({after}) - ({before}) AS _weight FROM {weights} WHERE _here = 1"
        )
        name = self.lowering.define(f"SELECT * FROM {changes} WHERE _weight <> 0 AND _tick > 0")
        if isinstance(node, Apply):  # a relation's lines are computed when they are asked for
            name = self.lowering.materialize(f"SELECT * FROM {name}")
        return Relation(name, schema, consolidated=True)

    def all_of(self, found: list[Relation]) -> Relation:
        """The lines of all iterations."""
        schema = self.operator.schemas[self.operator.result]
        columns = listed("_case", "_tick", *column_names(schema), "_weight")
        lines = [f"SELECT {columns} FROM {each.name}" for each in found]
        if not lines:
            lines = [f"SELECT {columns} FROM ({no_lines(schema, self.lowering)})"]
        name = self.lowering.define(f"SELECT {ONE_PARTITION} * FROM ({' UNION ALL '.join(lines)})")
        return Relation(name, schema, consolidated=False)
