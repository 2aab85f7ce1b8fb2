"""The general linear operator: what becomes of each row, whatever becomes of the others.

A row goes through every branch; a branch gives it new columns, a factor for its weight, and a
number of ticks to wait. Map, filter, flat map and delay are each one branch, and a chain of
them is again such an operator: `followed_by` writes it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Any, Self, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import (
    Increment,
    LinearIncrement,
    Meaning,
    Operator,
    Shape,
    StreamMeaning,
)
from deltaproof.reference.operators.due import Due, later, only_over_time
from deltaproof.reference.operators.map import row_function
from deltaproof.reference.scalar import Expr, array, case, col, from_json, lit
from deltaproof.reference.scalar_functions import Case, Coalesce
from deltaproof.reference.scalar_sample import sample_expression, sample_predicate
from deltaproof.reference.scalar_tree import (
    ColumnRef,
    Comparison,
    Distinct,
    IsNull,
    Like,
    Literal,
    Not,
    checked_expressions,
)
from deltaproof.reference.scalar_tree import Logic as Connective
from deltaproof.reference.select import Compound, Relation, Select
from deltaproof.reference.types import ARRAY, BIGINT, BOOLEAN, Column, Row, Schema
from deltaproof.reference.zset import Weight, ZSet, without_zeros

Pair: TypeAlias = tuple[Row, Weight]
Pairs: TypeAlias = Callable[[Iterable[Pair]], Iterable[Pair]]  # rows that are equal not added up

# Expressions that have a value on every row, if their operands have.
TOTAL = (ColumnRef, Literal, Comparison, Distinct, Connective, Not, IsNull, Like, Case, Coalesce)


@dataclass(frozen=True)
class Branch:
    """One thing that becomes of each row.

    In this order: `unnest=(name, array)` puts one row for each element of an array, which
    `col(name)` then is, and hides a column of that name; `where` keeps the rows for which it is
    TRUE; the weight of a row times `weight`, a BIGINT of which NULL counts as 0; `columns` of the
    rows that are left; put out `delay` ticks later.
    """

    columns: tuple[tuple[str, Expr], ...]
    where: Expr | None = None
    weight: Expr | None = None
    delay: int = 0
    unnest: tuple[str, Expr] | None = None

    def scope(self, rows: Schema) -> Schema:
        """The columns that its expressions may name."""
        if self.unnest is None:
            return rows
        name, elements = self.unnest
        if not isinstance(name, str):
            raise SchemaError(f"logic: expected the name of an element, got {name!r}")
        kind = elements.type_in(rows)
        if not isinstance(kind, ARRAY):
            raise SchemaError(f"logic: expected an ARRAY to unnest, got {kind} {elements}")
        hidden = (
            Column(f"{each.name} before {name}", each.type, each.nullable)
            if each.name.lower() == name.lower()
            else each
            for each in rows.columns
        )
        return Schema((*hidden, Column(name, kind.element)))

    def output(self, rows: Schema) -> Schema:
        """Raises SchemaError for an expression that does not fit the rows."""
        values = (value for _, value in self.columns)
        checked_expressions("logic", self.where, self.weight, *values)
        scope = self.scope(rows)
        for expression, kind in ((self.where, BOOLEAN), (self.weight, BIGINT)):
            if expression is not None and (found := expression.type_in(scope)) != kind:
                raise SchemaError(f"logic: expected {kind}, got {found} {expression}")
        if type(self.delay) is not int or self.delay < 0:
            raise SchemaError(f"logic: expected a delay of 0 ticks or more, got {self.delay!r}")
        return Schema(
            tuple(
                Column(name, value.type_in(scope), value.nullable_in(scope))
                for name, value in self.columns
            )
        )

    def pairs(self, rows: Schema) -> Pairs:
        """For rows with their weights, those of this branch; equal ones are not added up."""
        scope = self.scope(rows)
        steps: list[Pairs] = []
        if self.unnest is not None:
            elements = self.unnest[1].compile(rows)
            steps.append(lambda given: unnested(elements, given))
        if self.where is not None:
            keeps = self.where.compile(scope)
            steps.append(lambda given: (pair for pair in given if keeps(pair[0])))
        if self.weight is not None:
            factor = self.weight.compile(scope)
            steps.append(lambda given: weighted(factor, given))
        if not self.keeps_columns(scope):
            image = row_function([value.compile(scope) for _, value in self.columns])
            steps.append(lambda given: ((image(row), weight) for row, weight in given))
        return chained(steps)

    def keeps_columns(self, scope: Schema) -> bool:
        """Whether a row comes out as it is in the scope, under whatever names."""
        return [value for _, value in self.columns] == [col(name) for name in scope.names]

    def copies(self) -> bool:
        """Whether it asks nothing of the values that it puts out."""
        given = [value for _, value in self.columns] + ([self.unnest[1]] if self.unnest else [])
        asks = self.where is not None or not isinstance(self.weight, Literal | None)
        return not asks and all(isinstance(value, ColumnRef) for value in given)

    def followed_by(self, other: Branch) -> Branch | None:
        """What both do, as one branch; None when both unnest."""
        if self.unnest and other.unnest:
            return None
        columns = dict(self.columns)
        unnest = self.unnest
        if other.unnest:
            name, elements = other.unnest
            fresh = unread(name, self)  # its element must not hide what this branch reads
            unnest = fresh, elements.substitute(columns)
            columns[name] = col(fresh)
        where = None if other.where is None else other.where.substitute(columns)
        weight = None if other.weight is None else other.weight.substitute(columns)
        return Branch(
            tuple((name, value.substitute(columns)) for name, value in other.columns),
            one_after_the_other(self.where, where),
            weight if self.weight is None else times(self.weight, weight),
            self.delay + other.delay,
            unnest,
        )

    def __str__(self) -> str:
        columns = ", ".join(
            name if str(value) == name else f"{value} AS {name}" for name, value in self.columns
        )
        unnest = f" UNNEST {self.unnest[1]} AS {self.unnest[0]}" if self.unnest else ""
        where = "" if self.where is None else f" WHERE {self.where}"
        weight = "" if self.weight is None else f" WEIGHT {self.weight}"
        return f"{columns}{unnest}{where}{weight}{f' DELAY {self.delay}' if self.delay else ''}"

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": [[name, value.to_json()] for name, value in self.columns],
            "where": None if self.where is None else self.where.to_json(),
            "weight": None if self.weight is None else self.weight.to_json(),
            "delay": self.delay,
            "unnest": None if self.unnest is None else [self.unnest[0], self.unnest[1].to_json()],
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Branch:
        where, weight = (
            None if saved[name] is None else from_json(saved[name]) for name in ("where", "weight")
        )
        unnest = None
        if saved["unnest"] is not None:
            name, elements = saved["unnest"]
            unnest = name, from_json(elements)
        columns = tuple((name, from_json(value)) for name, value in saved["columns"])
        return cls(columns, where, weight, saved["delay"], unnest)


@dataclass(frozen=True)
class Logic(Operator):
    """Each row becomes rows, weights and delays: row → [(row, weight, delay)].

    Shape    Z[A] → Z[B], linear; over time when a branch waits, and then time-invariant
    Law      Q(a + b) = Q(a) + Q(b);  (Q followed by R)(a) = R(Q(a))
    Source   DBSP (VLDB 2023) theorem 3.3, proposition 3.2; stepping's and pydbsp's linear logic
    Raises   SchemaError for branches of different columns, or an expression that does not fit

    >>> rows = Schema.parse("k BIGINT, v BIGINT")
    >>> both = Logic((
    ...     Branch((("id", col("k")),), weight=col("v")),
    ...     Branch((("id", col("v")),), where=col("v") > 5),
    ... ))
    >>> both.meaning(rows)(ZSet({(1, 7): 2, (3, None): 1}))
    ZSet({(1,): 14, (7,): 2})
    """

    branches: tuple[Branch, ...]

    name = "logic"
    shape = Shape.LINEAR
    state = "what is due at later ticks"
    theorem = "logic_linear"
    source = "DBSP (VLDB 2023) theorem 3.3; Lean: lti_incremental"
    claimed = ("strict", "monotone", "generic", "by_name")

    @property
    def lifted(self) -> bool:
        return not any(branch.delay for branch in self.branches)

    def remembers(self) -> str:
        return "nothing" if self.lifted else self.state

    def claims(self) -> tuple[str, ...]:
        return self.claimed_if(
            strict=all(branch.delay for branch in self.branches),
            monotone=self.lifted and all(is_positive(branch.weight) for branch in self.branches),
            generic=self.lifted and all(branch.copies() for branch in self.branches),
            by_name=self.lifted,
        )

    def output(self, *inputs: Schema) -> Schema:
        outputs = [branch.output(*inputs) for branch in self.branches]
        if not outputs:
            raise SchemaError("logic: expected a branch or more")
        first = outputs[0]
        for other in outputs[1:]:
            if (other.names, other.types) != (first.names, first.types):
                raise SchemaError(
                    f"logic: all branches must have the same columns, got ({first}) and ({other})"
                )
        nullable = [any(each) for each in zip(*map(nullables, outputs), strict=True)]
        columns = zip(first.columns, nullable, strict=True)
        return Schema(tuple(Column(each.name, each.type, null) for each, null in columns))

    def meaning(self, *inputs: Schema) -> Meaning:
        if not self.lifted:
            only_over_time("logic with a delay")
        return added_up(self.pairs(*inputs))

    def over_time(self, *inputs: Schema) -> StreamMeaning:
        parts = self.parts(*inputs)

        def contents(stream: list[ZSet]) -> list[ZSet]:
            waited = [later([part(each) for each in stream], ticks) for ticks, part in parts]
            return [reduce(ZSet.__add__, outputs) for outputs in zip(*waited, strict=True)]

        return contents

    def parts(self, rows: Schema) -> list[tuple[int, Meaning]]:
        """For each delay there is, what its branches mean together."""
        delays = dict.fromkeys(branch.delay for branch in self.branches)
        return [
            (ticks, added_up(all_of([b.pairs(rows) for b in self.branches if b.delay == ticks])))
            for ticks in delays
        ]

    def pairs(self, rows: Schema) -> Pairs:
        """For rows with their weights, those of all branches; equal ones are not added up."""
        return all_of([branch.pairs(rows) for branch in self.branches])

    def increment(self, *inputs: Schema) -> Increment:
        if self.lifted:
            return LinearIncrement(self.meaning(*inputs))
        return Due(self.output(*inputs), dict(self.parts(*inputs)))

    def followed_by(self, other: Logic) -> Logic | None:
        """One operator that does what this one and then the other one does.

        Rows go through pairs of branches: expressions substituted, weights multiplied, delays
        added, conditions one after the other: the second is not asked of rows that the first
        drops. None when a branch of each unnests: one branch unnests one array.

        Not the same: a column of this operator that the other one does not read is not
        computed, so an error in computing it is not met. The planner keeps such steps apart.

        Law      (Q followed by R)(a) = R(Q(a)), where every expression has a value
        Source   DBSP (VLDB 2023) proposition 3.2 (chain); Lean: chain_incremental

        >>> late = Logic((Branch((("k", col("k")), ("d", col("d") * 2)), where=col("d") > 15),))
        >>> print(late.followed_by(Logic((Branch((("n", col("d") + 1),), weight=lit(3)),))).label())
        logic d * 2 + 1 AS n WHERE d > 15 WEIGHT 3
        """
        pairs = [ours.followed_by(theirs) for ours in self.branches for theirs in other.branches]
        together = tuple(branch for branch in pairs if branch is not None)
        return Logic(together) if len(together) == len(pairs) else None

    def select(self, *inputs: Relation) -> Select | Compound | None:
        """UNION ALL of the branches; None where weights or delays are not those of SQL."""
        (rows,) = inputs
        names = {name.lower() for name in rows.schema.names}
        for branch in self.branches:
            hides = branch.unnest is not None and branch.unnest[0].lower() in names
            if branch.weight is not None or branch.delay or hides:
                return None
        selects = tuple(
            Select(b.columns, rows, b.where, unnest=b.unnest, schema=b.output(rows.schema))
            for b in self.branches
        )
        return selects[0] if len(selects) == 1 else Compound(selects)

    @classmethod
    def sample(cls, random: Random, *inputs: Schema) -> Self | None:
        """One or two branches of the same types; some filter, weigh, wait or unnest."""
        (rows,) = inputs
        some = [column for column in rows.columns if random.random() < 0.7] or [rows.columns[0]]
        names = tuple(f"l{place}" for place in range(len(some)))
        return cls(
            tuple(
                sample_branch(random, rows, names, some, plain)
                for plain in ((True,) if random.random() < 0.5 else (True, False))
            )
        )

    def label(self) -> str:
        return "logic " + " | ".join(map(str, self.branches))

    def to_json(self) -> dict[str, Any]:
        return {"branches": [branch.to_json() for branch in self.branches]}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(tuple(map(Branch.from_json, arguments["branches"])))


def sample_branch(
    random: Random, rows: Schema, names: tuple[str, ...], some: list[Column], plain: bool
) -> Branch:
    """A branch with columns of the types of some of the input's."""
    scope, unnest = rows, None
    kinds = [column.type for column in rows.columns if not isinstance(column.type, ARRAY)]
    if kinds and random.random() < 0.25:
        kind = random.choice(kinds)
        elements = [sample_expression(random, rows, kind) for _ in range(random.choice((1, 2)))]
        unnest = "element", array(*elements)
        scope = Branch((), unnest=unnest).scope(rows)
    columns = []
    for name, column in zip(names, some, strict=True):
        kept = plain and random.random() < 0.6 and column in scope.columns
        value = col(column.name) if kept else sample_expression(random, scope, column.type)
        columns.append((name, value))
    where = sample_predicate(random, scope) if random.random() < 0.5 else None
    weight = sample_weight(random, scope) if random.random() < 0.3 else None
    return Branch(tuple(columns), where, weight, random.choice((0, 0, 0, 1, 2)), unnest)


def sample_weight(random: Random, scope: Schema) -> Expr:
    """A small factor, the same for all rows or not; 0, negative and NULL among them."""
    if random.random() < 0.5:
        return lit(random.choice((2, -1, 0, 3)))
    return case((sample_predicate(random, scope), lit(random.choice((2, -1)))))


def unnested(elements: Callable[[Row], Any], given: Iterable[Pair]) -> Iterator[Pair]:
    return (((*row, element), weight) for row, weight in given for element in elements(row) or ())


def weighted(factor: Callable[[Row], Any], given: Iterable[Pair]) -> Iterator[Pair]:
    """Weights times the factor; rows of factor 0 or NULL are gone."""
    return ((row, weight * times) for row, weight in given if (times := factor(row)))


def chained(steps: list[Pairs]) -> Pairs:
    """One step after the other."""
    match steps:
        case []:
            return lambda given: given
        case [only]:
            return only
        case [first, *rest]:
            others = chained(rest)
            return lambda given: others(first(given))
    raise TypeError(steps)


def all_of(branches: list[Pairs]) -> Pairs:
    """What each of the branches makes of the same rows."""
    if len(branches) == 1:
        return branches[0]

    def pairs(given: Iterable[Pair]) -> Iterator[Pair]:
        rows = list(given)
        for branch in branches:
            yield from branch(rows)

    return pairs


def added_up(pairs: Pairs) -> Meaning:
    """The function of Z-sets that adds up the weights of rows that are equal."""

    def meaning(rows: ZSet) -> ZSet:
        weights: dict[Row, Weight] = {}
        for row, weight in pairs(rows.items()):
            weights[row] = weights.get(row, 0) + weight
        return ZSet.trusted(without_zeros(weights))

    return meaning


def nullables(schema: Schema) -> list[bool]:
    return [column.nullable for column in schema.columns]


def unread(name: str, branch: Branch) -> str:
    """The name, or one like it that no expression of the branch reads."""
    expressions = [value for _, value in branch.columns]
    expressions += [each for each in (branch.where, branch.weight) if each is not None]
    taken = {each.lower() for value in expressions for each in value.columns()}
    tried = (name, *(f"{name}{number}" for number in range(len(taken) + 1)))
    return next(each for each in tried if each.lower() not in taken)


def is_positive(weight: Expr | None) -> bool:
    """Whether no row gets a weight below zero: known of a literal, or where there is none."""
    if isinstance(weight, Literal):
        return not isinstance(weight.value, int) or weight.value >= 0
    return weight is None


def one_after_the_other(first: Expr | None, second: Expr | None) -> Expr | None:
    """Both conditions, the second asked only where the first is TRUE.

    AND asks the second one also where the first is NULL, which shows if it may fail there.
    """
    if first is None or second is None:
        return second if first is None else first
    if has_value(second):
        return first & second
    return case((first, second), default=lit(False))


def has_value(expression: Expr) -> bool:
    """Whether the expression has a value on every row, be it NULL: nothing in it can fail.

    >>> has_value(col("a") < col("b")), has_value(col("a") + 1 < col("b"))
    (True, False)
    """
    return isinstance(expression, TOTAL) and all(map(has_value, expression.operands))


def times(first: Expr, second: Expr | None) -> Expr:
    """The product of two factors of a weight."""
    return first if second is None else first * second


def keeping(rows: Schema, **arguments: Any) -> Logic:
    """A logic of one branch that keeps all columns, and those given.

    >>> keeping(Schema.parse("k BIGINT"), weight=lit(-1)).label()
    'logic k WEIGHT -1'
    """
    columns = tuple((name, col(name)) for name in rows.names)
    return Logic((Branch(columns, **arguments),))
