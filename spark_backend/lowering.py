"""A query becomes one SQL text, and Spark plans and runs it as one job.

Every clause of the text is a relation of changes: columns `_case`, `_tick`, `_c0` …, `_weight`,
a change of one row's weight per line. The lines of a range of ticks stand side by side, so
"before" and "after" are a matter of order by `_tick`, and one text answers for a thousand cases
of five ticks as for one case of one tick. Ticks count from 1 within a call.

What was before the call is a *past*: the integral of some relation, stamped tick 0. An operator
asks for it with `with_past`; at the first call there is none, and the text does without. What
the next call will find there follows from the same request: lines that are equal but for their
tick become one, their numbers added up. So an operator says once what it remembers.

    Relation    a clause: its name and the schema of its rows
    Past        what is remembered of one clause: which columns are kept, which added up
    Lowering    collects clauses, parameters and pasts while the operators write them
    Worker      runs a part of the text at once, for operators that iterate

Clauses are written where they are read, as subqueries: Spark's analysis takes twice as long for
the same clauses under WITH. Only what is read twice and costs something stands under WITH.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, TypeAlias

from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.types import Schema
from deltaproof.spark_backend.frames import column_names
from deltaproof.spark_backend.scalar import Parameters, ScalarText

ONE_PARTITION = "/*+ COALESCE(1) */"  # no exchange, no second stage: half the time of a small job
CLAUSE_NAME = re.compile(r"\b_r(\d+)\b")


@dataclass(frozen=True)
class Relation:
    """Changes of rows of a schema, under a name in the text.

    A relation is `consolidated` when no row has two lines in one tick of one case, and no line
    has weight 0.
    """

    name: str
    schema: Schema
    consolidated: bool

    @property
    def columns(self) -> list[str]:
        return column_names(self.schema)


@dataclass(frozen=True)
class Past:
    """What is remembered of a clause: the sums of `added`, per case and `kept`."""

    view: str  # under which the next call finds it
    clause: str
    kept: tuple[str, ...]
    added: tuple[str, ...]
    depth: int = 0  # of groups in groups: what its `_case` is


Form: TypeAlias = Callable[..., Relation]  # (operator, *inputs, lowering) → the output's changes
Forms: TypeAlias = Mapping[type[Operator], Form]
Rows: TypeAlias = list[tuple[Any, ...]]  # what Spark answers


class Worker:
    """Who runs a part of the text at once, for an operator that must see what comes of it."""

    def materialized(self, text: str) -> tuple[str, int]:
        """Computes the lines of this text, and keeps them until the call ends.

        The name of the view where they are, and how many there are.
        """
        raise NotImplementedError

    def fetched(self, text: str) -> Rows:
        """The lines of this text."""
        raise NotImplementedError


@dataclass
class Lowering:
    """The text of a query while it is written.

    >>> lowering = Lowering(cases=1, first=True)
    >>> rows = lowering.define("SELECT * FROM t")
    >>> kept = lowering.define(f"SELECT * FROM {rows} WHERE _c0 > 0")
    >>> lowering.text(f"SELECT _c0 FROM {kept}")
    'SELECT _c0 FROM (SELECT * FROM (SELECT * FROM t) WHERE _c0 > 0)'
    """

    cases: int
    first: bool  # whether nothing was before
    ticks: int = 1  # of this call: the largest `_tick` there is
    prefix: str = "_"  # of the names of views, which other queries in the session must not share
    parameters: Parameters = field(default_factory=Parameters)
    label: str = ""  # of the operator that is being written
    clauses: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # for each clause, whose it is
    shared: set[int] = field(default_factory=set)
    pasts: list[Past] = field(default_factory=list)
    forms: Forms = field(default_factory=dict)
    worker: Worker = field(default_factory=Worker)
    groups: str = ""  # where a query is lowered for each group: a clause like `begins`
    depth: int = 0  # how many of those are around what is being written

    def lower(
        self, nodes: Sequence[Query], done: dict[Query, Relation], shared: Collection[Query] = ()
    ) -> None:
        """Writes the nodes that are not done; inputs come before what they feed."""
        label = self.label
        for node in nodes:
            if node not in done and isinstance(node, Apply):
                self.label = node.label()
                kind = type(node.operator)
                form = self.forms.get(kind) or own_form(kind)
                relation = form(node.operator, *[done[each] for each in node.over], self)
                done[node] = self.share(relation) if node in shared else relation
        self.label = label

    @contextmanager
    def inside_groups(self) -> Iterator[None]:
        """While this lasts, a `_case` is a group; whoever writes says which `groups` there are."""
        outer = self.groups
        self.depth += 1
        try:
            yield
        finally:
            self.groups = outer
            self.depth -= 1

    def begins(self) -> str:
        """A clause of the cases, `_case` and `_tick`: when each begins; 0 in later calls."""
        if self.groups:
            return self.groups
        columns = f"CAST(id AS INT) AS _case, {int(self.first)} AS _tick"
        return self.define(f"SELECT {columns} FROM RANGE(0, {self.cases}, 1, 1)")

    def materialize(self, select: str) -> str:
        """A clause of the lines of a SELECT over clauses, computed now."""
        return self.materialize_and_count(select)[0]

    def materialize_and_count(self, select: str) -> tuple[str, int]:
        """The same, and how many lines there are."""
        view, lines = self.worker.materialized(self.text(select))
        return self.define(f"SELECT * FROM {view}"), lines

    def fetch(self, select: str) -> Rows:
        """What Spark answers to a SELECT over clauses, now."""
        return self.worker.fetched(self.text(select))

    def define(self, select: str) -> str:
        """A new clause of this text; its name."""
        self.clauses.append(select)
        self.labels.append(self.label)
        return f"_r{len(self.clauses) - 1}"

    def share(self, relation: Relation) -> Relation:
        """The relation, computed once however often it is read.

        Spark copies a clause into every place that reads it, and computes each copy, unless the
        clause is random.

        >>> lowering = Lowering(cases=1, first=True)
        >>> rows = Relation(lowering.define("SELECT * FROM t"), Schema(()), True)
        >>> once = lowering.share(rows).name
        >>> print(lowering.text(f"SELECT * FROM {once} UNION ALL SELECT * FROM {once}"))
        WITH _r1 AS (SELECT * FROM (SELECT * FROM t) WHERE RAND() >= 0D)
        SELECT * FROM _r1 UNION ALL SELECT * FROM _r1
        """
        name = self.define(f"SELECT * FROM {relation.name} WHERE RAND() >= 0D")
        self.shared.add(len(self.clauses) - 1)
        return replace(relation, name=name)

    def scalars(self, schema: Schema) -> ScalarText:
        """The writer of expressions over rows of this schema."""
        return ScalarText(schema, self.parameters)

    def with_past(
        self,
        clause: str,
        kept: Sequence[str],
        added: Sequence[str],
        carried: str = "",
    ) -> str:
        """The clause's lines, and at tick 0 a line for each thing remembered of earlier calls.

        Lines are remembered by their `kept` columns; the numbers in `added` are added up. What
        the next call finds is what `carried`, a SELECT from {lines}, says of all these lines.
        """
        past = self.reserve_past(kept, added)
        if not self.first:
            now = f"SELECT {listed('_case', *kept, *added)}, _tick FROM {clause}"
            before = self.lines_of_past(past)
            clause = self.define(f"SELECT {ONE_PARTITION} * FROM ({before} UNION ALL {now})")
        remembered = self.define(carried.format(lines=clause)) if carried else clause
        self.remember(past, remembered)
        return clause

    def reserve_past(self, kept: Sequence[str], added: Sequence[str]) -> int:
        """A place among the pasts, for what is written before it is known what to remember."""
        view = f"{self.prefix}s{len(self.pasts)}"
        self.pasts.append(Past(view, "", tuple(kept), tuple(added), self.depth))
        return len(self.pasts) - 1

    def lines_of_past(self, place: int) -> str:
        """The SELECT of what is remembered there, at tick 0; only where something was before."""
        past = self.pasts[place]
        return f"SELECT {listed('_case', *past.kept, *past.added)}, 0 AS _tick FROM {past.view}"

    def remember(self, place: int, clause: str) -> None:
        """The next call finds the sums of this clause's lines there."""
        self.pasts[place] = replace(self.pasts[place], clause=clause)

    def output(self, relation: Relation) -> str:
        """The text whose lines are the relation's changes, one line per row, tick and case."""
        columns = listed("_case", "_tick", *relation.columns)
        if relation.consolidated:
            return self.text(f"SELECT {columns}, _weight FROM {relation.name}")
        return self.text(summed(relation.name, columns, ["_weight"]))

    def next_past(self, past: Past) -> str:
        """The text whose lines are what the next call finds as this past."""
        return self.text(summed(past.clause, listed("_case", *past.kept), past.added))

    def label_of(self, fragment: str) -> str:
        """The operator that wrote this part of the text; empty when it is not known."""
        found = zip(self.labels, self.clauses, strict=True)
        return next((label for label, clause in found if fragment and fragment in clause), "")

    def text(self, select: str) -> str:
        """The whole text of a SELECT over clauses."""
        needed: dict[int, str] = {}  # the shared clauses, those that others read first

        def expanded(match: re.Match[str]) -> str:
            place = int(match[1])
            if place not in self.shared:
                return f"({CLAUSE_NAME.sub(expanded, self.clauses[place])})"
            if place not in needed:
                clause = CLAUSE_NAME.sub(expanded, self.clauses[place])
                needed[place] = f"{match[0]} AS ({clause})"
            return match[0]

        body = CLAUSE_NAME.sub(expanded, select)
        return f"WITH {', '.join(needed.values())}\n{body}" if needed else body


def own_form(kind: type[Operator]) -> Form:
    """The form of somebody's own operator: `lower_<name>` in the module that `kind.spark` names.

    Raises   UsageError where there is none, saying what to write

    >>> class Twice(Operator):
    ...     name = "twice"
    >>> own_form(Twice)
    Traceback (most recent call last):
    deltaproof.reference.errors.UsageError: operator twice has no Spark form: set \
`spark = "package.module"` in class Twice, and write lower_twice(operator, *inputs, lowering) there
    """
    form = f"lower_{kind.name}"
    lacks = f"operator {kind.name} has no Spark form"
    to_write = f"{form}(operator, *inputs, lowering)"
    if not kind.spark:
        wanted = (
            f'set `spark = "package.module"` in class {kind.__name__}, and write {to_write} there'
        )
        raise UsageError(f"{lacks}: {wanted}")
    try:
        module = import_module(kind.spark)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        named = f"cannot import {kind.spark!r}, which class {kind.__name__} names in `spark`"
        raise UsageError(f"{lacks}: {named}: {why}; expected {to_write} there") from error
    found: Form | None = getattr(module, form, None)
    if not callable(found):
        where = module.__file__ or kind.spark
        raise UsageError(f"{lacks}: there is no function {form} in {where}; expected {to_write}")
    return found


def listed(*columns: str) -> str:
    return ", ".join(columns)


def summed(clause: str, columns: str, added: Sequence[str]) -> str:
    """One line per value of the columns, the numbers added up; none where all are zero."""
    sums = listed(*(f"SUM({name}) AS {name}" for name in added))
    lines = f"SELECT {columns}, {sums} FROM {clause} GROUP BY {columns}"
    return f"SELECT * FROM ({lines}) WHERE {' OR '.join(f'{name} <> 0' for name in added)}"


def worth_sharing(nodes: Sequence[Query]) -> set[Query]:
    """The subqueries that are read more than once and cost more than to read a table again."""
    reads = Counter(each for node in nodes for each in node.inputs)
    costly: set[Query] = set()
    for node in nodes:
        if isinstance(node, Apply):
            linear = node.operator.shape is Shape.LINEAR
            if not linear or costly.intersection(node.over):
                costly.add(node)
    return {node for node in costly if reads[node] > 1}
