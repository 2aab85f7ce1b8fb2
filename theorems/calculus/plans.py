"""The circuit that the runtime runs for a query is D ∘ query ∘ I: proved for each plan by itself.

    query as written   ──▶   D(Q(I(tables)))                  what is meant
    query as planned   ──▶   the increments of its nodes      what runs
                             equal?                           decided by `circuit_algebra`

A node of a plan has the increment that its operator's code computes: a linear one itself, a join
its three terms, a temporal filter two, delay, D and I themselves; a chain those of its stages, and
a fused join those of its chains and its join. That the code computes these is what the theorems
with names in `_code` say; here it is shown that the planner put them together right.

A query may have operators that are neither linear nor bilinear, such as distinct. Their outputs are
inputs of the algebra: equal operators over equal changes change equally, and that is all that is
used of them. So every plan can be validated; one without such operators is proved by algebra alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeAlias

from deltaproof.reference.circuit import Circuit as Runtime
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.delay import Delay as DelayOperator
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.logic import Logic
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.reference.planner import Chain, FusedJoin, Stages, planned, stage_schemas
from deltaproof.reference.query import Apply as Node
from deltaproof.reference.query import Query, table
from deltaproof.reference.scalar import col
from deltaproof.reference.stream import differentiate, integrate
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.circuit_algebra import (
    Apply,
    Circuit,
    Delay,
    Difference,
    Function,
    Input,
    Integral,
    Residue,
    canonical,
    clash,
    equivalent,
    run,
)
from deltaproof.theorems.calculus.ztransform import Identities
from deltaproof.theorems.kernel import Counterexample, ProofError
from deltaproof.theorems.kernel import Query as Condition
from deltaproof.theorems.registry import theorem

Schemas: TypeAlias = tuple[Schema, ...]
Deltas: TypeAlias = Mapping[str, list[ZSet]]  # by table, one for each tick
JoinTerms: TypeAlias = Callable[["Named", Circuit, Circuit], Circuit]

# ---------------------------------------------------------------- nodes as circuits


@dataclass(frozen=True)
class Named:
    """An operator over inputs of these columns: equal ones are the same function."""

    label: str
    arguments: str
    operator: Operator = field(compare=False, repr=False)
    inputs: Schemas = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.label

    def over_time(self, *streams: list[ZSet]) -> list[ZSet]:
        """What the operator means over streams of contents."""
        return self.operator.over_time(*self.inputs)(*streams)


@dataclass(frozen=True)
class Opaque:
    """The change of an operator of which no algebra is known, over changes in lowest terms."""

    name: Named
    over: tuple[Hashable, ...]

    def __str__(self) -> str:
        return f"[{self.name}]"


def named(operator: Operator, *inputs: Schema) -> Named:
    """The operator as a name."""
    arguments = [operator.name, operator.to_json(), [each.to_json() for each in inputs]]
    words = json.dumps(arguments, sort_keys=True)
    return Named(operator.label(), words, operator, inputs)


def one_input(operator: Operator, rows: Schema, of: Circuit) -> Circuit | None:
    """A linear operator of one input, of contents or of changes alike; None for another one."""
    match operator:
        case Negate():
            return -of
        case DelayOperator(ticks):
            for _ in range(ticks):
                of = Delay(of)
            return of
        case Integrate():
            return Integral(of)
        case Differentiate():
            return Difference(of)
        case Filter() | Map() | FlatMap() | Hop() | Logic():
            return Apply(named(operator, rows), (of,))
    return None


def three_terms(join: Named, da: Circuit, db: Circuit) -> Circuit:
    """da ⋈ b + a ⋈ db + da ⋈ db, with a and b as they were: what JoinIncrement adds up."""
    a, b = Delay(Integral(da)), Delay(Integral(db))
    return Apply(join, (da, b)) + Apply(join, (a, db)) + Apply(join, (da, db))


def two_terms(join: Named, da: Circuit, db: Circuit) -> Circuit:
    """a ⋈ db + da ⋈ (b + db): what TemporalFilterIncrement adds up."""
    return Apply(join, (Delay(Integral(da)), db)) + Apply(join, (da, Integral(db)))


class Reading:
    """A query read as a circuit; equal subqueries are one circuit."""

    def __init__(self, query: Query) -> None:
        self.known: dict[Query, Circuit] = {}
        self.opaque: dict[str, None] = {}
        self.joins = 0
        self.circuit = self.of(query)

    def of(self, query: Query) -> Circuit:
        if query not in self.known:
            self.known[query] = self.read(query)
        return self.known[query]

    def read(self, query: Query) -> Circuit:
        raise NotImplementedError

    def opaque_change(self, node: Node, changes: Iterable[Circuit]) -> Circuit:
        """The operator's change as an input, the same wherever its inputs change the same."""
        operator = node.operator
        self.opaque[operator.name] = None
        over = tuple(frozenset((s, f.key()) for s, f in canonical(d).items()) for d in changes)
        return Input(Opaque(named(operator, *[each.schema for each in node.over]), over))


class Meant(Reading):
    """The contents of a query over time, from the tables' changes."""

    def read(self, query: Query) -> Circuit:
        if not isinstance(query, Node):
            return Integral(Input(query.label()))
        over, schemas = list(map(self.of, query.over)), [each.schema for each in query.over]
        match query.operator:
            case UnionAll():
                return over[0] + over[1]
            case Join() | TemporalFilter() as operator:
                self.joins += 1
                return Apply(named(operator, *schemas), tuple(over))
        linear = one_input(query.operator, schemas[0], over[0]) if len(over) == 1 else None
        if linear is not None:
            return linear
        return Integral(self.opaque_change(query, map(Difference, over)))


class Run(Reading):
    """The changes of a planned query, as the increments of its nodes compute them."""

    def __init__(self, query: Query, join_terms: JoinTerms = three_terms) -> None:
        self.join_terms = join_terms
        super().__init__(query)

    def read(self, query: Query) -> Circuit:
        if not isinstance(query, Node):
            return Input(query.label())
        deltas, schemas = list(map(self.of, query.over)), [each.schema for each in query.over]
        match query.operator:
            case UnionAll():
                return deltas[0] + deltas[1]
            case Join() as join:
                return self.join_terms(named(join, *schemas), *deltas)
            case TemporalFilter() as temporal:
                return two_terms(named(temporal, *schemas), *deltas)
            case Chain(stages):
                return chain(stages, schemas[0], deltas[0])
            case FusedJoin() as fused:
                return self.fused_join(fused, schemas, deltas)
        linear = one_input(query.operator, schemas[0], deltas[0]) if len(deltas) == 1 else None
        return self.opaque_change(query, deltas) if linear is None else linear

    def fused_join(
        self, fused: FusedJoin, schemas: Sequence[Schema], deltas: Sequence[Circuit]
    ) -> Circuit:
        sides = fused.joined(*schemas)
        da, db = map(chain, (fused.left, fused.right), schemas, deltas)
        joined = self.join_terms(named(fused.join, *sides), da, db)
        return chain(fused.after, fused.join.output(*sides), joined)


def chain(stages: Stages, rows: Schema, of: Circuit) -> Circuit:
    """The stages one after the other. Raises ProofError for one that is not linear."""
    for stage, schema in zip(stages, stage_schemas(stages, rows), strict=False):
        passed = one_input(stage, schema, of)
        if passed is None:
            raise ProofError(f"chain: {stage.label()} is not linear")
        of = passed
    return of


# ---------------------------------------------------------------- validation


@dataclass(frozen=True)
class Validation:
    """Whether a plan computes its query's changes; `residues` is what it lacks."""

    query: Query
    meant: Circuit
    runs: Circuit
    residues: tuple[Residue, ...]
    opaque: tuple[str, ...]  # operators that are neither linear nor bilinear
    joins: int
    ms: float

    @property
    def equal(self) -> bool:
        return not self.residues

    @property
    def algebraic(self) -> bool:
        """Whether all nodes are linear or bilinear: then nothing is left to other theorems."""
        return not self.opaque

    def __str__(self) -> str:
        verdict = "equal" if self.equal else "; ".join(map(str, self.residues))
        if self.algebraic:
            return verdict
        return f"{verdict}; not of linear and bilinear nodes: {', '.join(self.opaque)}"


def validate(
    query: Query,
    plan: Callable[[Query], Query] = planned,
    join_terms: JoinTerms = three_terms,
) -> Validation:
    """The plan of the query against what the query means, at every tick and for all tables.

    `plan` and `join_terms` are the planner and the join's increment; others are for tests.

    >>> t = table("t", "k BIGINT, v BIGINT")
    >>> late = t.filter(col("v") > 5).project("k")
    >>> print(validate(late))
    equal
    >>> print(validate(late, plan=lambda query: query.over[0]))
    missing: map k(filter v > 5(t)); too much: filter v > 5(t)
    >>> print(validate(late.distinct().negate()))
    equal; not of linear and bilinear nodes: distinct
    """
    started = perf_counter()
    meant, runs = Meant(query), Run(plan(query), join_terms)
    change = Difference(meant.circuit)
    residues = tuple(equivalent(change, runs.circuit).values())
    ms = (perf_counter() - started) * 1000
    opaque = tuple(meant.opaque)
    return Validation(query, change, runs.circuit, residues, opaque, meant.joins, ms)


@dataclass(frozen=True)
class Validations:
    """What the validation of many plans found."""

    all: tuple[Validation, ...]

    @property
    def unequal(self) -> tuple[Validation, ...]:
        return tuple(each for each in self.all if not each.equal)

    @property
    def algebraic(self) -> tuple[Validation, ...]:
        return tuple(each for each in self.all if each.algebraic)

    @property
    def with_a_join(self) -> tuple[Validation, ...]:
        return tuple(each for each in self.algebraic if each.joins)

    def __str__(self) -> str:
        """One line; below it every plan that is wrong."""
        joins, proved = len(self.with_a_join), len(self.algebraic)
        seconds = sum(each.ms for each in self.all) / 1000
        lines = [
            f"{len(self.all) - len(self.unequal)} of {len(self.all)} plans are equal to D ∘ query "
            f"∘ I; {proved} are of linear and bilinear nodes only, {joins} of these with a join; "
            f"{seconds:.2f} s"
        ]
        lines += [f"\n{each.query}\n{each}" for each in self.unequal]
        return "\n".join(lines)


def validate_all(queries: Iterable[Query]) -> Validations:
    """The plans of these queries."""
    return Validations(tuple(map(validate, queries)))


# ---------------------------------------------------------------- circuits that run


def run_circuit(circuit: Circuit, deltas: Deltas) -> list[ZSet]:
    """The circuit's stream of Z-sets, its operators those of the reference."""
    return run(circuit, dict(deltas.items()), function_of)


def function_of(name: Hashable) -> Function:
    if not isinstance(name, Named):
        raise ProofError(f"{name} is not an operator of the reference")
    return name.over_time


def meant_changes(query: Query, deltas: Deltas) -> list[ZSet]:
    """D of the query's meaning over the integrals of the tables."""
    contents = {name: integrate(each) for name, each in deltas.items()}
    ticks = len(next(iter(deltas.values())))
    tables = [{name: each[tick] for name, each in contents.items()} for tick in range(ticks)]
    return differentiate(query.over_time()(tables))


def runtime_changes(
    query: Query, deltas: Deltas, plan: Callable[[Query], Query] = planned
) -> list[ZSet]:
    """What the runtime puts out, tick by tick."""
    circuit = Runtime({"view": query}, plan=lambda views: {n: plan(q) for n, q in views.items()})
    ticks = len(next(iter(deltas.values())))
    return [
        circuit.step({name: each[tick] for name, each in deltas.items()})["view"]
        for tick in range(ticks)
    ]


# ---------------------------------------------------------------- the theorem

R, S, T = table("r", "k BIGINT, v BIGINT"), table("s", "j BIGINT, w BIGINT"), table("t", "n BIGINT")


def examples() -> Iterator[Query]:
    """Every kind of node that is linear or bilinear, and every way the planner fuses them."""
    some, others = R.filter(col("v") > 0).map(k=col("k"), u=col("v") + 1), S.negate().project("j")
    joined = some.join(others, on={"k": "j"})
    yield R.filter(col("v") > 0).negate().project("k")
    yield some.union_all(R.negate()).filter(col("u") > 1)
    yield joined.filter(col("u") > 2).project("u")
    yield joined.union_all(joined.negate())
    yield joined.join(T.filter(col("n") > 0), on={"j": "n"}).project("u")
    yield R.join(R.prefix("r_"), on={"k": "r_k"})
    yield R.delay(2).join(S.differentiate(), on={"k": "j"}).integrate()
    yield R.temporal_filter(T, lower=col("v"), upper=col("v") + 5).project("k")
    yield R.hop("v", 2, 1).filter(col("k") > 0).join(T, on={"k": "n"})


def chain_in_another_order() -> Counterexample:
    """map v + 1, then filter v > 1, run as filter, then map."""
    query = R.map(v=col("v") + 1).filter(col("v") > 1)

    def reordered(query: Query) -> Query:
        plan = planned(query)
        assert isinstance(plan, Node)
        assert isinstance(plan.operator, Chain)
        return Node(Chain(plan.operator.stages[::-1]), plan.over)

    deltas = {"r": [ZSet({(1, 1): 1})]}
    return refuted(
        "a chain in another order",
        validate(query, reordered),
        meant_changes(query, deltas),
        runtime_changes(query, deltas, reordered),
    )


def join_without_its_delay() -> Counterexample:
    """da ⋈ b + a ⋈ db, with a and b as they are after the tick."""

    def undelayed(join: Named, da: Circuit, db: Circuit) -> Circuit:
        return Apply(join, (da, Integral(db))) + Apply(join, (Integral(da), db))

    query = R.join(S, on={"k": "j"})
    deltas = {"r": [ZSet({(1, 1): 1})], "s": [ZSet({(1, 2): 1})]}
    wrong = validate(query, join_terms=undelayed)
    return refuted(
        "a join without its delay",
        wrong,
        meant_changes(query, deltas),
        run_circuit(wrong.runs, deltas),
    )


def plan_that_fuses_one_side_only() -> Counterexample:
    """The join reads the right table as it is; the filter over it is lost."""
    query = R.join(S.filter(col("w") > 1), on={"k": "j"})

    def lost(query: Query) -> Query:
        return R.join(S, on={"k": "j"})

    deltas = {"r": [ZSet({(1, 1): 1})], "s": [ZSet({(1, 1): 1})]}
    return refuted(
        "a filter is lost", validate(query, lost),
        meant_changes(query, deltas), runtime_changes(query, deltas, lost),
    )  # fmt: skip


def refuted(name: str, wrong: Validation, meant: Any, runs: Any) -> Counterexample:
    """The residue of a wrong plan, with a run in which it shows. Raises ProofError without one."""
    if wrong.equal or meant == runs:
        raise ProofError(f"{name}: expected a residue and a run that shows it, got {wrong}, {runs}")
    words = f"the reference: {meant!r} is not {runs!r}"
    return Counterexample(name, (("residue", str(wrong)),), wrong.ms, words)


@theorem(
    statement="the runtime's circuits for nine queries are D ∘ query ∘ I, for all tables and ticks",
    source="reference/planner.py; DBSP (VLDB 2023) algorithm 4.6, step 5",
    scope="unbounded (polynomials); the random suite validates the plans that it meets",
    wrong=(chain_in_another_order, join_without_its_delay, plan_that_fuses_one_side_only),
)
def planner_validated() -> Identities:
    """Every node that the algebra knows, and every fusion that the planner makes."""
    found = [validate(query) for query in examples()]
    for each in found:
        if not each.equal or not each.algebraic:
            raise ProofError(f"{each.query}\n{each}")
    return Identities(tuple(map(condition, found)))


def condition(found: Validation) -> Condition:
    return Condition(
        f"the plan of {found.query.label()}",
        "identity",
        found.ms,
        clash=lambda: clash(found.meant, found.runs),
    )
