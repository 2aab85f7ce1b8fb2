"""The runtime composes increments: a whole query obeys what its operators obey."""

from __future__ import annotations

from deltaproof.properties.law import Equation, Stream, Tick, Ticks, law
from deltaproof.properties.laws.words import (
    circuit_outputs,
    composed_outputs,
    plus,
    refuses,
    saved,
    total,
)
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.query import Query, table
from deltaproof.reference.scalar import col
from deltaproof.reference.stream import differentiate, integrate, lift
from deltaproof.reference.zset import ZSet

# ── Queries: the runtime composes increments ────────────────────────────────────────────────


@law(
    "query", "circuit(s) = D(Q(I(s)))", source="DBSP (VLDB 2023) definition 3.1; Lean: incremental"
)
def circuit_is_incremental(q: Query, s: Ticks) -> Equation:
    """The one claim, of a whole query: maintained and recomputed are the same view."""
    sums = {name: integrate([tick[name] for tick in s]) for name in q.tables()}
    tables = [{name: sums[name][t] for name in sums} for t in range(len(s))]
    return Equation(circuit_outputs(q, s), differentiate(q.over_time()(tables)))


@law(
    "query",
    "circuit of Q1 after Q2 (s) = Q1^D(Q2^D(s))",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: chain_incremental",
)
def circuit_chain_rule(q: Query, s: Ticks) -> Equation:
    """Operators may be verified one by one: their increments compose to that of the query."""
    return Equation(circuit_outputs(q, s), composed_outputs(q, s))


@law(
    "query",
    "circuit of Q1 + Q2 (s) = Q1^D(s) + Q2^D(s)",
    source="DBSP (VLDB 2023) proposition 3.2; Lean: add_incremental",
)
def circuit_sum_rule(q: Query, s: Ticks) -> Equation:
    """Parts of a query are maintained apart, what they share once. Here Q2 is distinct(Q1)."""
    other = q.distinct()
    apart = lift(plus)(circuit_outputs(q, s), circuit_outputs(other, s))
    return Equation(circuit_outputs(q.union_all(other), s), apart)


@law("query", "contents after s = sum of circuit(s)", source="circuit.py")
def circuit_contents_integrate(q: Query, s: Ticks) -> Equation:
    """Whoever reads the view and whoever follows its changes see the same."""
    circuit = Circuit(q)
    outputs = [circuit.step(tick)["view"] for tick in s]
    return Equation(circuit.contents()["view"], total(outputs))


@law("query", "circuit(s), restored at t = circuit(s)", source="circuit.py")
def circuit_restores(q: Query, s: Ticks, t: Tick) -> Equation:
    """A restart from a checkpoint is not visible in any later answer."""
    circuit = Circuit(q)
    before = [circuit.step(tick)["view"] for tick in s[:t]]
    restored = Circuit.restore(q, circuit.checkpoint())
    later = [restored.step(tick)["view"] for tick in s[t:]]
    return Equation(before + later, circuit_outputs(q, s))


@law(
    "query",
    "checkpoint after s, restored at t = checkpoint after s",
    source="circuit.py: a checkpoint is a state, and a state follows from the changes so far",
)
def circuit_checkpoint_is_replay(q: Query, s: Ticks, t: Tick) -> Equation:
    """A checkpoint stands for all changes before it: they may be thrown away, again and again."""
    whole, stopped = Circuit(q), Circuit(q)
    outputs = [whole.step(tick)["view"] for tick in s]
    for tick in s[:t]:
        stopped.step(tick)
    restored = Circuit.restore(q, stopped.checkpoint())
    later = [restored.step(tick)["view"] for tick in s[t:]]
    return Equation((later, saved(restored)), (outputs[t:], saved(whole)))


@law(
    "query",
    "circuit(entries of s, r and -r) = circuit(s)",
    source="zset.py: entries of one row add up, and a tick is consolidated",
)
def circuit_consolidates(q: Query, s: Ticks, r: Ticks) -> Equation:
    """A row's weight may come in pieces, and pieces that cancel out leave no trace."""
    circuit = Circuit(q)
    outputs = []
    for tick, noise in zip(s, r, strict=True):
        pieces = {
            name: [*delta.items(), *noise[name].items(), *(-noise[name]).items()]
            for name, delta in tick.items()
        }
        outputs.append(circuit.step(pieces)["view"])
    return Equation(outputs, circuit_outputs(q, s))


@law("query", "circuit(s), refusing r at t = circuit(s)", source="circuit.py")
def circuit_refuses_whole_ticks(q: Query, s: Ticks, r: Ticks, t: Tick) -> Equation:
    """A tick that fails in one view must have changed nothing in another one."""
    fuse = table("fuse", "v BIGINT").map(blown=1 % col("v"))
    circuit = Circuit({"view": q, "fuse": fuse})
    outputs: Stream = []
    for position, tick in enumerate(s):
        if position == t and not refuses(circuit, {**r[position], "fuse": ZSet({(0,): 1})}):
            return Equation("a tick that divides by zero is applied", "it is refused")
        outputs.append(circuit.step(tick)["view"])
    return Equation(outputs, circuit_outputs(q, s))
