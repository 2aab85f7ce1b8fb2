"""Linear operators in a row are one operator, and a join takes in those beside it.

    planned(query)         the query as the runtime runs it: it means the same, with fewer nodes
    plan_views(views)      the same for several views, and the rewrites that were made
    Rewrite                operators that became one, and the theorem that says they may

    Chain        linear operators one after the other; no Z-set is made between them
    FusedJoin    a join, with chains that feed it and a chain that reads it

A row goes through a whole chain before the next one does, so nothing between is looked up,
stored or added up. Adding up between is what makes rows that cancel vanish, and a later
expression may have no value on such a row: then, and only then, the operators run one after the
other, and say what the query alone would have said, in the name of the operator that failed.

A subquery that is read twice is computed once and never taken into a chain. What is remembered
between ticks is the same with and without: a chain remembers nothing, a join the rows it joins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from deltaproof.reference.errors import DeltaproofError
from deltaproof.reference.operator import Increment, LinearIncrement, Meaning, Operator, Shape
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.join import Join, JoinIncrement
from deltaproof.reference.operators.logic import (
    Branch,
    Logic,
    Pair,
    Pairs,
    added_up,
    chained,
    has_value,
    keeping,
)
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.query import Apply, Query
from deltaproof.reference.scalar import col, lit
from deltaproof.reference.scalar_tree import ColumnRef, Literal
from deltaproof.reference.select import Relation
from deltaproof.reference.store import Index
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

Stages = tuple[Operator, ...]  # linear operators of one input, the first one first


@dataclass(frozen=True)
class Rewrite:
    """Operators of a query that the runtime runs as one, and the theorem that says it may."""

    theorem: str
    before: tuple[str, ...]  # labels, what feeds the others first
    after: str

    def __str__(self) -> str:
        return f"{' → '.join(self.before)}  ⟹  {self.after}   ({self.theorem})"


@dataclass(frozen=True)
class Planned:
    """The views as the runtime runs them."""

    views: dict[str, Query]
    rewrites: tuple[Rewrite, ...]


def planned(query: Query) -> Query:
    """The query with its chains fused.

    Law      planned(q) means what q means, at every tick, and fails where q fails

    >>> from deltaproof.reference.query import table
    >>> late = table("t", "k BIGINT, d BIGINT").filter(col("d") > 15).map(k=col("k"))
    >>> print(planned(late))
    chain filter d > 15 → map k
    └─ t
    """
    return plan_views({"view": query}).views["view"]


def plan_views(views: Mapping[str, Query]) -> Planned:
    """The plan of several views together; what two of them share stays shared.

    >>> from deltaproof.reference.query import table
    >>> t = table("t", "k BIGINT")
    >>> for rewrite in plan_views({"v": t.join(t.prefix("r_").filter(col("r_k") > 0))}).rewrites:
    ...     print(rewrite)
    map k AS r_k → filter r_k > 0 → join  ⟹  join of … × chain map k AS r_k → filter r_k > 0   \
(join_after_linear)
    """
    planner = Planner(views)
    return Planned(
        {name: planner.planned(query) for name, query in views.items()}, tuple(planner.rewrites)
    )


def fused(views: dict[str, Query]) -> dict[str, Query]:
    """The views as the runtime runs them."""
    return plan_views(views).views


def as_written(views: dict[str, Query]) -> dict[str, Query]:
    """No plan: every operator of the views is a node of the circuit."""
    return views


class Planner:
    """Rewrites each node once, inputs before what they feed."""

    def __init__(self, views: Mapping[str, Query]) -> None:
        nodes = dict.fromkeys(node for query in views.values() for node in query.nodes())
        self.reads = Counter(each for node in nodes for each in node.inputs)
        self.reads.update(views.values())
        self.rewrites: list[Rewrite] = []
        self.done: dict[Query, Query] = {}

    def planned(self, query: Query) -> Query:
        if query not in self.done:
            self.done[query] = self.rewritten(query) if isinstance(query, Apply) else query
        return self.done[query]

    def rewritten(self, query: Apply) -> Query:
        stages, base = self.chain(query, top=True)
        alone = base is query or self.read_once(base)
        if alone and isinstance(base, Apply) and isinstance(base.operator, Join):
            return self.join(base.operator, base.over, stages)
        if len(stages) < 2:
            return Apply(query.operator, tuple(map(self.planned, query.over)))
        chain = Chain(stages)
        labels = tuple(stage.label() for stage in stages)
        self.rewrites.append(Rewrite(Chain.theorem, labels, chain.label()))
        return Apply(chain, (self.planned(base),))

    def join(self, join: Join, over: tuple[Query, ...], after: Stages) -> Query:
        """The join with the chains that feed it and the one that reads it."""
        (left, a), (right, b) = (self.chain(each, top=False) for each in over)
        inputs = self.planned(a), self.planned(b)
        if not (left or right or after):
            return Apply(join, inputs)
        fused = FusedJoin(join, left, right, after)
        labels = [stage.label() for stage in (*left, *right, join, *after)]
        self.rewrites.append(Rewrite(FusedJoin.theorem, tuple(labels), fused.label()))
        return Apply(fused, inputs)

    def chain(self, query: Query, top: bool) -> tuple[Stages, Query]:
        """The linear operators from here down that nobody else reads, and what feeds them.

        The first of them may be read by many if it is the top: its output is made in any case.
        """
        stages: list[Operator] = []
        while isinstance(query, Apply) and fits(query.operator):
            if not (self.read_once(query) or (top and not stages)):
                break
            stages.append(query.operator)
            (query,) = query.over
        return tuple(reversed(stages)), query

    def read_once(self, query: Query) -> bool:
        return self.reads[query] == 1


def fits(operator: Operator) -> bool:
    """Whether it can be a stage: what becomes of a row depends on this row and tick alone."""
    return isinstance(operator, Filter | Map | FlatMap | Negate | Hop | Logic) and operator.lifted


# ── The operators of a plan ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Chain(Operator):
    """Linear operators one after the other, without a Z-set between them.

    Shape    linear, as a composition of linear functions
    Source   DBSP (VLDB 2023) proposition 3.2 (chain), theorem 3.3
    """

    stages: Stages

    name = "chain"
    shape = Shape.LINEAR
    theorem = "linear_compose"
    source = "DBSP (VLDB 2023) proposition 3.2; Lean: chain_incremental"

    def capabilities(self) -> tuple[str, ...]:
        return tuple(name for stage in self.stages for name in stage.capabilities())

    def output(self, *inputs: Schema) -> Schema:
        return stage_schemas(self.stages, *inputs)[-1]

    def meaning(self, *inputs: Schema) -> Meaning:
        return one_by_one(self.stages, *inputs)

    def increment(self, *inputs: Schema) -> Increment:
        together, apart = added_up(pairs_of(self.stages, *inputs)), self.meaning(*inputs)

        def step(delta: ZSet) -> ZSet:
            try:
                return together(delta)
            except DeltaproofError:
                return apart(delta)

        return LinearIncrement(step)

    def select(self, *inputs: Relation) -> None:
        return None

    def label(self) -> str:
        return "chain " + " → ".join(stage.label() for stage in self.stages)


@dataclass(frozen=True)
class FusedJoin(Operator):
    """after(left(a) ⋈ right(b)), where left, right and after are chains; each may be empty.

    Shape    bilinear, as a composition of a bilinear function with linear ones
    Source   DBSP (VLDB 2023) proposition 3.2 (chain), theorem 3.4
    """

    join: Join
    left: Stages
    right: Stages
    after: Stages

    name = "fused_join"
    arity = 2
    shape = Shape.BILINEAR
    state: ClassVar[str] = Join.state
    theorem = "join_after_linear"
    source = "DBSP (VLDB 2023) proposition 3.2, theorem 3.4; Lean: chain_incremental"

    def capabilities(self) -> tuple[str, ...]:
        stages = (*self.left, *self.right, self.join, *self.after)
        return tuple(name for stage in stages for name in stage.capabilities())

    def output(self, *inputs: Schema) -> Schema:
        left, right = self.joined(*inputs)
        return stage_schemas(self.after, self.join.output(left, right))[-1]

    def joined(self, left: Schema, right: Schema) -> tuple[Schema, Schema]:
        """The schemas of what the join itself joins."""
        return stage_schemas(self.left, left)[-1], stage_schemas(self.right, right)[-1]

    def meaning(self, *inputs: Schema) -> Meaning:
        sides = self.joined(*inputs)
        left, right = (
            one_by_one(stages, schema)
            for stages, schema in zip((self.left, self.right), inputs, strict=True)
        )
        join, after = self.join.meaning(*sides), one_by_one(self.after, self.join.output(*sides))
        return lambda a, b: after(join(left(a), right(b)))

    def increment(self, *inputs: Schema) -> Increment:
        return FusedJoinIncrement(self, *inputs)

    def select(self, *inputs: Relation) -> None:
        return None

    def label(self) -> str:
        sides = (Chain(stages).label() if stages else "…" for stages in (self.left, self.right))
        before = f" of {' × '.join(sides)}" if self.left or self.right else ""
        after = "".join(f" → {stage.label()}" for stage in self.after)
        return f"{self.join.label()}{before}{after}"


class FusedJoinIncrement:
    """The increment of a join; rows go in, and matches come out, through the chains."""

    def __init__(self, fused: FusedJoin, left: Schema, right: Schema) -> None:
        sides = fused.joined(left, right)
        self.join = JoinIncrement(sides, fused.join.keys(*sides))
        self.pairs = pairs_of(fused.left, left), pairs_of(fused.right, right)
        self.one_by_one = one_by_one(fused.left, left), one_by_one(fused.right, right)
        after = fused.after, fused.join.output(*sides)
        self.output = added_up(pairs_of(*after)) if fused.after else None
        self.output_one_by_one = one_by_one(*after)
        self.clear, self.commit = self.join.clear, self.join.commit
        self.save, self.restore = self.join.save, self.join.restore

    def step(self, da: ZSet, db: ZSet) -> ZSet:
        try:
            left, right = self.pairs
            rows, others = Pairings(left(da.items())), Pairings(right(db.items()))
            if self.output is None:
                return self.join.step(rows, others)
            self.join.staged = (rows, others)
            return self.output(matches(self.join, rows, others))
        except DeltaproofError:
            left, right = self.one_by_one
            return self.output_one_by_one(self.join.step(left(da), right(db)))


class Pairings(list[Pair]):
    """Rows with their weights, in the place of a Z-set; equal rows are not added up."""

    def items(self) -> list[Pair]:
        return self


def matches(join: JoinIncrement, da: Pairings, db: Pairings) -> Pairings:
    """da × b + a × db + da × db, pair by pair: what `JoinIncrement.step` adds up."""
    left_key, right_key = join.keys
    right, left = join.right.rows.get, join.left.rows.get
    found = Pairings()
    if da:
        change = Index(right_key)
        change.add(db)
        for rows in (right, change.rows.get) if db else (right,):
            found += [
                (row + other, weight * match)
                for row, weight in da
                if (bucket := rows(left_key(row)))  # type: ignore[arg-type]  # None is no key
                for other, match in bucket.items()
            ]
    if db:
        found += [
            (row + other, weight * match)
            for other, match in db
            if (bucket := left(right_key(other)))  # type: ignore[arg-type]  # None is no key
            for row, weight in bucket.items()
        ]
    return found


# ── Chains as functions ─────────────────────────────────────────────────────────────────────


def stage_schemas(stages: Stages, rows: Schema) -> list[Schema]:
    """The schema before each stage, and after the last."""
    schemas = [rows]
    for stage in stages:
        schemas.append(stage.output(schemas[-1]))
    return schemas


def one_by_one(stages: Stages, rows: Schema) -> Meaning:
    """The function of Z-sets that all stages are, one after the other.

    An error is that of the operator in which it is met.
    """
    functions = [
        (stage.label(), stage.meaning(schema))
        for stage, schema in zip(stages, stage_schemas(stages, rows), strict=False)
    ]

    def meaning(zset: ZSet) -> ZSet:
        for label, function in functions:
            try:
                zset = function(zset)
            except DeltaproofError as error:
                error.operator = error.operator or label
                raise
        return zset

    return meaning


def pairs_of(stages: Stages, rows: Schema) -> Pairs:
    """The function of rows and weights that all stages are, row by row."""
    steps: list[Pairs] = []
    for stage in simplified(stages, rows):
        steps.append(stage_pairs(stage, rows))
        rows = stage.output(rows)
    return chained(steps)


def stage_pairs(stage: Operator, rows: Schema) -> Pairs:
    if isinstance(stage, Hop):
        windows = stage.windows(rows)
        return lambda given: (
            ((*row, *window), weight) for row, weight in given for window in windows(row)
        )
    logic = as_logic(stage, rows)
    return logic.pairs(rows)


def simplified(stages: Stages, rows: Schema) -> list[Operator]:
    """The stages, neighbours made one where the composition costs and misses nothing."""
    merged: list[Operator] = []
    for stage in stages:
        if isinstance(stage, Hop):
            merged.append(stage)
        else:
            logic = as_logic(stage, rows)
            together = merged_logic(merged[-1], logic) if merged else None
            if together is not None:
                merged[-1] = together
            else:
                merged.append(logic)
        rows = stage.output(rows)
    return merged


def merged_logic(first: Operator, second: Logic) -> Logic | None:
    """Both as one, if each expression is then evaluated as often, and of the same rows."""
    if not isinstance(first, Logic) or len(first.branches) > 1 or len(second.branches) > 1:
        return None
    (one,), (other,) = first.branches, second.branches
    plain = all(isinstance(value, ColumnRef | Literal) for _, value in one.columns)
    unguarded = one.where is None and one.weight is None
    skips = one.weight is not None and not has_value(one.weight)
    if not plain or skips or (other.unnest is not None and not unguarded):
        return None
    return first.followed_by(second)


def as_logic(stage: Operator, rows: Schema) -> Logic:
    """The stage as the general linear operator."""
    match stage:
        case Logic():
            return stage
        case Filter(predicate):
            return keeping(rows, where=predicate)
        case Map(columns):
            return Logic((Branch(columns),))
        case Negate():
            return keeping(rows, weight=lit(-1))
        case FlatMap(elements, name):
            columns = tuple((each, col(each)) for each in (*rows.names, name))
            return Logic((Branch(columns, unnest=(name, elements)),))
    raise TypeError(f"no linear operator of one row: {stage}")
