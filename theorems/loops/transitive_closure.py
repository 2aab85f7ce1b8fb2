"""The incremental transitive closure of section 6 is right for every graph and every change of it.

    d = distinct^ΔΔ(δ0(dE) + π((⋈)^ΔΔ(↑z(d), δ0(dE))))        output: ↑∫ d

The circuit is run once, on graphs whose edges are Boolean unknowns at every tick; what it puts
out is compared with what changes in a closure that knows nothing of Z-sets: Warshall's, over
truth values. Nodes and ticks are few, and all graphs on them are covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import z3

from deltaproof.reference.stream import differentiate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import present
from deltaproof.theorems.execution.symbolic import CircuitSteps
from deltaproof.theorems.kernel import Counterexample, Formula, Term, Thm, both, prove, refute
from deltaproof.theorems.loops.iteration import paths
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.tables.zsets import ZERO, if_then

Edge = tuple[int, int]
Weights = Mapping[Edge, Term]  # of every pair of nodes
Truths = Mapping[Edge, Formula]
Join = Callable[["Nested", "Nested"], "Nested"]

ONE = z3.IntVal(1)
SIZES = ((3, 2), (2, 4))  # nodes and ticks


def pairs_of(nodes: int) -> list[Edge]:
    """Every edge that a graph with so many nodes may have.

    >>> pairs_of(2)
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return [(a, b) for a in range(nodes) for b in range(nodes)]


class Nested:
    """A stream of streams of relations: what is there at a tick and an iteration.

    Before the first tick or iteration nothing is there.
    """

    def __init__(self, nodes: int, at: Callable[[int, int], Weights]) -> None:
        self.nodes = nodes
        self.edges = pairs_of(nodes)
        self.nothing = dict.fromkeys(self.edges, ZERO)
        self.at = cache(lambda t, i: at(t, i) if t >= 0 and i >= 0 else self.nothing)

    def made(self, at: Callable[[int, int], Weights]) -> Nested:
        return Nested(self.nodes, at)

    def each(self, weight: Callable[[Term], Term]) -> Nested:
        """A function of every weight."""
        return self.made(lambda t, i: {e: weight(w) for e, w in self.at(t, i).items()})

    def __add__(self, other: Nested) -> Nested:
        def at(t: int, i: int) -> Weights:
            left, right = self.at(t, i), other.at(t, i)
            return {edge: plus(left[edge], right[edge]) for edge in self.edges}

        return self.made(at)

    def __sub__(self, other: Nested) -> Nested:
        def at(t: int, i: int) -> Weights:
            left, right = self.at(t, i), other.at(t, i)
            return {edge: minus(left[edge], right[edge]) for edge in self.edges}

        return self.made(at)

    def by_tick(self) -> Nested:
        """z."""
        return self.made(lambda t, i: self.at(t - 1, i))

    def by_iteration(self) -> Nested:
        """↑z."""
        return self.made(lambda t, i: self.at(t, i - 1))

    def over_ticks(self) -> Nested:
        """I."""
        total = self + self.made(lambda t, i: total.at(t - 1, i))
        return total

    def over_iterations(self) -> Nested:
        """↑I."""
        total = self + self.made(lambda t, i: total.at(t, i - 1))
        return total

    def then(self, other: Nested) -> Nested:
        """π(self ⋈ other): from the first node of one edge to the second of the other."""

        def at(t: int, i: int) -> Weights:
            left, right = self.at(t, i), other.at(t, i)
            return {
                (a, b): z3.Sum([times(left[a, c], right[c, b]) for c in range(self.nodes)])
                for a, b in self.edges
            }

        return self.made(at)


def plus(one: Term, other: Term) -> Term:
    """The sum; with a literal zero it is the other."""
    return other if one.eq(ZERO) else one if other.eq(ZERO) else one + other


def minus(one: Term, other: Term) -> Term:
    """The difference; less a literal zero it is the one."""
    return one if other.eq(ZERO) else one - other


def times(one: Term, other: Term) -> Term:
    """The product, multiplied out until one factor is a number: z3 then sees sums of choices.

    >>> x, c = z3.Int("x"), z3.Bool("c")
    >>> times(x, z3.If(c, ONE, ZERO) - ONE)
    If(c, x, 0) - x
    """
    if one.eq(ZERO) or other.eq(ZERO):
        return ZERO
    if other.eq(ONE):
        return one
    children = other.children()
    if z3.is_add(other):
        return z3.Sum([times(one, each) for each in children])
    if z3.is_sub(other):
        return times(one, children[0]) - times(one, children[1])
    if z3.is_app_of(other, z3.Z3_OP_ITE):
        condition, yes, no = children
        return z3.If(condition, times(one, yes), times(one, no))
    return one * other


def four_products(a: Nested, b: Nested) -> Nested:
    """The join in both times: see `doubly_incremental_join`."""
    before = b.over_iterations().by_iteration()
    return (
        a.over_ticks().over_iterations().then(b)
        + a.over_ticks().by_tick().then(before)
        + a.over_iterations().then(b.over_ticks().by_tick())
        + a.then(before.over_ticks())
    )


def two_products(a: Nested, b: Nested) -> Nested:
    """What earlier ticks hold of b is never met."""
    before = b.over_iterations().by_iteration()
    return a.over_ticks().over_iterations().then(b) + a.over_ticks().then(before)


def crossings(a: Nested) -> Nested:
    """distinct in both times: see `doubly_incremental_distinct`."""
    now = a.over_ticks().over_iterations()
    entered = now.each(present) - now.by_iteration().each(present)
    return entered - entered.by_tick()


def circuit(entering: Nested, join: Join) -> Nested:
    """d: the changes by iteration of the changes by tick of the paths."""
    feedback = entering.made(lambda t, i: d.at(t, i - 1))
    d = crossings(entering + join(feedback, entering))
    return d


def closure(edges: Truths, nodes: int) -> Truths:
    """Warshall's: paths through the first node, through the first two, … through any."""
    paths = dict(edges)
    for c in range(nodes):
        paths = {(a, b): z3.Or(paths[a, b], z3.And(paths[a, c], paths[c, b])) for a, b in paths}
    return paths


def all_graphs(nodes: int, ticks: int) -> list[Truths]:
    """At every tick a graph of which nothing is known."""
    return [
        {(a, b): z3.Bool(f"edge {a + 1}→{b + 1} at tick {t + 1}") for a, b in pairs_of(nodes)}
        for t in range(ticks)
    ]


class Run:
    """The circuit over the graphs of some ticks, and what it should put out."""

    def __init__(self, graphs: Sequence[Truths], join: Join = four_products) -> None:
        self.graphs = graphs
        self.edges = list(graphs[0])
        self.nodes = 1 + max(node for node, _ in self.edges)
        self.paths = [closure(graph, self.nodes) for graph in graphs]
        self.changes = circuit(Nested(self.nodes, self.entering), join)

    def entering(self, tick: int, iteration: int) -> Weights:
        """δ0 of the change of the graph."""
        return dict.fromkeys(self.edges, ZERO) if iteration else self.change(self.graphs, tick)

    def change(self, sets: Sequence[Truths], tick: int) -> Weights:
        """What the sets change by at a tick."""
        now = {edge: if_then(there, ONE) for edge, there in sets[tick].items()}
        if tick == 0:
            return now
        return {edge: now[edge] - if_then(there, ONE) for edge, there in sets[tick - 1].items()}

    def output(self, tick: int) -> Weights:
        """↑∫ d: as many rounds as there are nodes, for no path needs more edges."""
        rounds = [self.changes.at(tick, i) for i in range(self.nodes)]
        return {edge: z3.Sum([each[edge] for each in rounds]) for edge in self.edges}

    def cells(self) -> Iterator[tuple[str, Term, Term]]:
        """(a pair of nodes and a tick, the circuit's output there, what it should be)."""
        for tick in range(len(self.graphs)):
            output, expected = self.output(tick), self.change(self.paths, tick)
            for (a, b), weight in output.items():
                yield f"{a + 1} to {b + 1} at tick {tick + 1}", weight, expected[a, b]


def reference_changes(graphs: Sequence[Mapping[Edge, bool]]) -> list[ZSet]:
    """What the reference's recursion puts out for the changes of these graphs.

    >>> reference_changes([{(0, 1): True, (1, 1): False}, {(0, 1): True, (1, 1): True}])
    [ZSet({(0, 1): 1}), ZSet({(1, 1): 1})]
    """
    steps = CircuitSteps(paths())
    contents = [ZSet({edge: int(there) for edge, there in graph.items()}) for graph in graphs]
    return [steps.step(delta) for delta in differentiate(contents)]


def circuit_changes(graphs: Sequence[Mapping[Edge, bool]], join: Join) -> list[ZSet]:
    """What the circuit of this file puts out for them."""
    run = Run([{e: z3.BoolVal(there) for e, there in graph.items()} for graph in graphs], join)
    outputs = [run.output(tick).items() for tick in range(len(graphs))]
    return [ZSet({e: z3.simplify(w).as_long() for e, w in output}) for output in outputs]


def two_products_for_four() -> Counterexample:
    """The increment of the join by iteration only: what is new does not meet what was there."""
    graphs = all_graphs(nodes=2, ticks=2)
    edges = [there for graph in graphs for there in graph.values()]

    def replay(*there: bool) -> tuple[ZSet, ZSet]:
        pairs, values = list(graphs[0]), list(there)
        histories = [
            dict(zip(pairs, values[start : start + len(pairs)], strict=True))
            for start in range(0, len(values), len(pairs))
        ]
        return circuit_changes(histories, two_products)[-1], reference_changes(histories)[-1]

    cells = Run(graphs, two_products).cells()
    right = z3.And(*[output == expected for _, output, expected in cells])
    return refute("a × b in both times in two products", right, show=edges, replay=replay)


@theorem(
    statement="the incremental circuit for paths puts out the change of the transitive closure",
    source="DBSP (VLDB 2023) section 6, equation 6.1; long version (2022) section 9.1",
    lean="incremental_closure_opt_ok",
    scope="all graphs and changes: 3 nodes, 2 ticks; 2 nodes, 4 ticks",
    wrong=(two_products_for_four,),
)
def transitive_closure_incremental() -> Thm:
    """Against Warshall's algorithm on truth values, every pair of nodes and every tick."""
    runs = [Run(all_graphs(nodes, ticks)) for nodes, ticks in SIZES]
    cells = [cell for run in runs for cell in run.cells()]
    return both("paths", *[prove(name, output == expected) for name, output, expected in cells])
