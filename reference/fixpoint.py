"""Iteration to a fixpoint, kept up to date: streams over two times, the tick and the iteration.

A relation that a recursion computes grows with the iterations; from tick to tick the course of
its growth changes. What is kept of a stream is its *differences*: for each row the iterations at
which it entered (weight 1) or, in the general case, changed, summed over all ticks so far. What
happens in a tick is the difference of these differences: rows at iterations, processed in the
order of iterations, and nothing else is looked at.

    linear     a difference passes through, at its own iteration
    join       two rows meet at the later of their iterations: max(i, j), DBSP's bilinear rule in
               both times, the least upper bound of differential dataflow
    distinct   is not linear: its output at an iteration is [S(i) > 0] - [S(i-1) > 0], where S(i)
               is the row's weight up to i. A change at i may change it at i and at every later
               iteration where the row has a difference; only those are looked at
    variable   what a body reads of a relation: the relation one iteration before, the delay z⁻¹
               of the inner time

So inserting is the semi-naive evaluation, and deleting costs what the deletion reaches: a row
whose first derivation goes is retracted at its iteration and comes back at that of its next
derivation, if there is one. Rows that support only each other have no derivation that begins
anywhere, so a cycle that is cut from its root goes.

Source   DBSP (VLDB 2023) sections 5 and 6, theorem 6.2; McSherry et al., Differential Dataflow
         (CIDR 2013) section 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Protocol, TypeAlias

from deltaproof.reference.errors import EvaluationError
from deltaproof.reference.store import Index, add_into
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import Weight, ZSet, positive

Rows: TypeAlias = dict[Row, Weight]
Differences: TypeAlias = dict[int, Rows]  # iteration → the change of the rows there
Course: TypeAlias = dict[int, Weight]  # of one row: iteration → the change of its weight there
Timed: TypeAlias = tuple[Row, int]  # a row and the iteration of a difference of it


class Node(Protocol):
    """An operator in both times. `react` reads what is kept, and stages; `commit` keeps."""

    def react(self, iteration: int, inputs: Sequence[Rows]) -> Differences:
        """The output differences that these input differences of this iteration cause."""

    def commit(self) -> None: ...
    def forget_staged(self) -> None: ...
    def clear(self) -> None: ...
    def save(self) -> Any: ...
    def restore(self, saved: Any) -> None: ...


class LinearNode:
    """The operator applied to the differences; nothing to remember."""

    def __init__(self, meaning: Callable[..., ZSet]) -> None:
        self.meaning = meaning

    def react(self, iteration: int, inputs: Sequence[Rows]) -> Differences:
        return {iteration: dict(self.meaning(*map(ZSet.trusted, inputs)).items())}

    def commit(self) -> None: ...
    def forget_staged(self) -> None: ...
    def clear(self) -> None: ...

    def save(self) -> Any:
        return None

    def restore(self, saved: Any) -> None: ...


class VariableNode(LinearNode):
    """A relation as its bodies read it: as it was one iteration before."""

    def __init__(self, name: str, bound: int) -> None:
        super().__init__(lambda rows: rows)
        self.name = name
        self.bound = bound

    def react(self, iteration: int, inputs: Sequence[Rows]) -> Differences:
        (rows,) = inputs
        if iteration >= self.bound:
            raise not_converged(self.name, self.bound, rows)
        return {iteration: rows}


def not_converged(name: str, bound: int, rows: Iterable[Row]) -> EvaluationError:
    """What is said when a relation still changes at the bound."""
    return EvaluationError(
        f"recursion: {name!r} still changes after {bound} iterations, the bound, by rows such as "
        f"{next(iter(rows))!r}: a body that makes new values needs a filter that stops it, "
        "or the bound must be higher"
    )


class JoinNode:
    """Both sides' differences by key, those of earlier ticks and those of this one."""

    def __init__(
        self, schemas: Sequence[Schema], keys: Sequence[Callable[[Row], Row | None]]
    ) -> None:
        self.schemas = schemas
        self.keys = [of_timed(key) for key in keys]
        self.clear()

    def clear(self) -> None:
        self.past = [Index(key) for key in self.keys]
        self.forget_staged()

    def forget_staged(self) -> None:
        self.now = [Index(key) for key in self.keys]

    def react(self, iteration: int, inputs: Sequence[Rows]) -> Differences:
        output: Differences = {}
        for side, rows in enumerate(inputs):
            other = 1 - side
            timed = [((row, iteration), weight) for row, weight in rows.items()]
            for index in (self.past[other], self.now[other]):  # d × past, and d × what came so far
                for entry, weight in timed:
                    for (match, when), factor in index.of(self.keys[side](entry)).items():
                        pair = match + entry[0] if side else entry[0] + match
                        meeting = output.setdefault(max(iteration, when), {})
                        meeting[pair] = meeting.get(pair, 0) + weight * factor
            self.now[side].add(timed)
        return output

    def commit(self) -> None:
        for past, now in zip(self.past, self.now, strict=True):
            past.add(now.items())
        self.forget_staged()

    def save(self) -> Any:
        sides = zip(self.schemas, self.past, strict=True)
        return [
            [[schema.row_to_json(row), when, weight] for (row, when), weight in index.items()]
            for schema, index in sides
        ]

    def restore(self, saved: Any) -> None:
        self.clear()
        for schema, index, entries in zip(self.schemas, self.past, saved, strict=True):
            index.add(((schema.row_from_json(row), when), weight) for row, when, weight in entries)


def of_timed(key: Callable[[Row], Row | None]) -> Callable[[Timed], Row | None]:
    """The key of a row, of the row with its iteration."""
    return lambda entry: key(entry[0])


class DistinctNode:
    """For each row its course: the iterations at which its weight changes, and by how much."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.clear()

    def clear(self) -> None:
        self.past: dict[Row, Course] = {}
        self.now: dict[Row, Course] = {}  # of the rows that this tick touches

    def react(self, iteration: int, inputs: Sequence[Rows]) -> Differences:
        (rows,) = inputs
        output: Differences = {}
        for row, weight in rows.items():
            before = self.now.get(row)
            if before is None:
                before = self.past.get(row, {})
            after = dict(before)
            add_into(after, [(iteration, weight)])
            self.now[row] = after
            change = presence(after)
            add_into(change, [(when, -sign) for when, sign in presence(before).items()])
            for when, sign in change.items():  # never earlier than this iteration
                output.setdefault(when, {})[row] = sign
        return output

    def commit(self) -> None:
        for row, course in self.now.items():
            if course:
                self.past[row] = course
            else:
                self.past.pop(row, None)
        self.now = {}

    def forget_staged(self) -> None:
        self.now = {}

    def save(self) -> Any:
        return [
            [self.schema.row_to_json(row), list(map(list, course.items()))]
            for row, course in self.past.items()
        ]

    def restore(self, saved: Any) -> None:
        self.clear()
        for row, course in saved:
            self.past[self.schema.row_from_json(row)] = dict(course)


def presence(course: Course) -> Course:
    """The iterations at which a row of this course enters, +1, and leaves, -1.

    >>> presence({2: 1, 5: 1})
    {2: 1}
    >>> presence({5: 1, 2: 3, 3: -3})
    {2: 1, 3: -1, 5: 1}
    """
    changes: Course = {}
    weight, before = 0, 0
    for iteration in sorted(course):
        weight += course[iteration]
        after = positive(weight)
        if after - before:
            changes[iteration] = after - before
        before = after
    return changes


@dataclass(frozen=True)
class Edge:
    """Where a node's output goes: to an input of a node, so many iterations later."""

    target: int
    port: int
    delay: int = 0


@dataclass
class Fixpoint:
    """Nodes in both times, and the iterations of a tick.

    A node stands after those that it reads, but for what it reads one iteration later.
    """

    nodes: list[Node] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)  # for each node, how many inputs it has
    edges: list[list[Edge]] = field(default_factory=list)
    visits: int = 0  # rows that went into or came out of a node in the last tick: its work

    def add(self, node: Node, *inputs: int) -> int:
        """A new node over the outputs of these nodes; without any, it is fed. Its place."""
        place = len(self.nodes)
        self.nodes.append(node)
        self.ports.append(len(inputs) or 1)
        self.edges.append([])
        for port, each in enumerate(inputs):
            self.edges[each].append(Edge(place, port))
        return place

    def feed_back(self, source: int, variable: int) -> None:
        """The relation that this node computes is the variable one iteration later."""
        self.edges[source].append(Edge(variable, 0, delay=1))

    def run(self, sources: Mapping[int, ZSet], result: int) -> ZSet:
        """One tick, staged: what enters at iteration 0; what the result changes by in all.

        Raises EvaluationError when a variable does not come to rest.
        """
        self.forget_staged()
        agenda = Agenda(self.ports)
        output: Rows = {}
        for place, delta in sources.items():
            agenda.add(0, place, 0, dict(delta.items()))
        self.visits = 0
        for iteration, place, inputs in agenda:
            if place == result:
                add_into(output, inputs[0].items())
            differences = self.nodes[place].react(iteration, inputs)
            self.visits += sum(map(len, inputs)) + sum(map(len, differences.values()))
            for when, rows in differences.items():
                for edge in self.edges[place]:
                    agenda.add(when + edge.delay, edge.target, edge.port, rows)
        return ZSet.trusted(output)

    def commit(self) -> None:
        for node in self.nodes:
            node.commit()

    def forget_staged(self) -> None:
        for node in self.nodes:
            node.forget_staged()

    def clear(self) -> None:
        for node in self.nodes:
            node.clear()

    def save(self) -> Any:
        return [node.save() for node in self.nodes]

    def restore(self, saved: Any) -> None:
        for node, state in zip(self.nodes, saved, strict=True):
            node.restore(state)


class Agenda:
    """What is still to be processed: input differences of nodes, by iteration and place.

    >>> agenda = Agenda([1])
    >>> agenda.add(3, 0, 0, {("a",): 1})
    >>> agenda.add(2, 0, 0, {("b",): 1})
    >>> agenda.add(3, 0, 0, {("a",): -1})
    >>> list(agenda)
    [(2, 0, [{('b',): 1}])]
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = ports
        self.due: list[tuple[int, int]] = []
        self.inputs: dict[tuple[int, int], list[Rows]] = {}

    def add(self, iteration: int, place: int, port: int, rows: Rows) -> None:
        moment = (iteration, place)
        if moment not in self.inputs:
            heappush(self.due, moment)
            self.inputs[moment] = [{} for _ in range(self.ports[place])]
        add_into(self.inputs[moment][port], rows.items())

    def __iter__(self) -> Iterator[tuple[int, int, list[Rows]]]:
        """In the order of iterations, and within one in the order of places; more may come."""
        while self.due:
            moment = heappop(self.due)
            inputs = self.inputs.pop(moment)
            if any(inputs):
                yield (*moment, inputs)
