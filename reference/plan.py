"""What the runtime will do for a query: at every node the operator, and why it may do so.

plan_of(query).lines()      a tree, and beside each node its shape, its theorem, its state
plan_of(query).to_json()    the same for programs
plan_of(query).to_dot()     the same as a graph, in Graphviz's language
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deltaproof.reference.query import Apply, Query

TABLE_COLOR, LINEAR_COLOR, OTHER_COLOR = "#e8eef7", "#eef7e8", "#fdf3e1"


@dataclass(frozen=True)
class PlanNode:
    """One node of a circuit: what it is, and for an operator what licenses and feeds it."""

    number: int
    label: str
    schema: str
    inputs: tuple[int, ...]
    operator: str = ""  # empty for a table
    shape: str = ""
    theorem: str = ""
    source: str = ""
    keeps: str = ""
    capabilities: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "label": self.label,
            "schema": self.schema,
            "inputs": list(self.inputs),
            "operator": self.operator or "table",
            "shape": self.shape,
            "theorem": self.theorem,
            "source": self.source,
            "keeps": self.keeps,
            "capabilities": list(self.capabilities),
        }


@dataclass(frozen=True)
class Plan:
    """The nodes of a circuit, inputs before what they feed; the last one is the view."""

    nodes: tuple[PlanNode, ...]

    def lines(self) -> Iterator[str]:
        """A line per node, the view first; a node that was shown before is only named again.

        >>> from deltaproof.reference.query import table
        >>> query = table("t", "k BIGINT").distinct()
        >>> print("\\n".join(line.rstrip() for line in plan_of(query).lines()))
        node       shape     licensed by          keeps                     needs
        ────────────────────────────────────────────────────────────────────────────
        distinct   general   distinct_increment   the weight of every row   distinct
        └─ t       table
        """
        from rich.table import Table
        from rich.text import Text

        from deltaproof.reference.show import RULED, table_text

        table = Table(box=RULED, pad_edge=False, show_edge=False)
        for name in ("node", "shape", "licensed by", "keeps", "needs"):
            table.add_column(name, overflow="fold")
        shown: set[int] = set()
        for prefix, node in self.walk(len(self.nodes) - 1, "", "", shown):
            again = node.number in shown and bool(node.operator)
            shown.add(node.number)
            if again:
                table.add_row(Text(f"{prefix}{node.label}"), "above", "", "", "")
            else:
                needs = ", ".join(node.capabilities)
                shape = node.shape or "table"
                table.add_row(Text(f"{prefix}{node.label}"), shape, node.theorem, node.keeps, needs)
        yield from table_text(table).splitlines()

    def narrow_lines(self) -> Iterator[str]:
        """The same where there is no room for columns: what is said of a node stands below it.

        >>> from deltaproof.reference.query import table
        >>> print("\\n".join(plan_of(table("t", "k BIGINT").distinct()).narrow_lines()))
        distinct
        │    general, by distinct_increment; keeps the weight of every row; needs distinct
        └─ t
        """
        shown: set[int] = set()
        for prefix, node in self.walk(len(self.nodes) - 1, "", "", shown):
            again = node.number in shown and bool(node.operator)
            yield f"{prefix}{node.label}" + (" (above)" if again else "")
            if node.operator and not again:
                trunk = prefix.replace("├─ ", "│  ").replace("└─ ", "   ")
                said = f"{node.shape}, by {node.theorem}; keeps {node.keeps}"
                yield f"{trunk}│    {said}; needs {', '.join(node.capabilities)}"
            shown.add(node.number)

    def walk(
        self, number: int, first: str, rest: str, shown: set[int]
    ) -> Iterator[tuple[str, PlanNode]]:
        """The nodes under this one with the branches of the tree before them."""
        node = self.nodes[number]
        below = () if number in shown else node.inputs
        yield first, node
        for place, each in enumerate(below, 1):
            last = place == len(below)
            branch, trunk = ("└─ ", "   ") if last else ("├─ ", "│  ")
            yield from self.walk(each, rest + branch, rest + trunk, shown)

    def to_json(self) -> list[dict[str, Any]]:
        return [node.to_json() for node in self.nodes]

    def to_dot(self) -> str:
        """The circuit as a graph in Graphviz's language, changes flowing upwards.

        >>> from deltaproof.reference.query import table
        >>> "n0 -> n1" in plan_of(table("t", "k BIGINT").distinct()).to_dot()
        True
        """
        lines = [
            "digraph circuit {",
            '  rankdir=BT; bgcolor="transparent";',
            '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
            '  edge [color="#555555", arrowsize=0.7];',
        ]
        for node in self.nodes:
            lines.append(
                f"  n{node.number} [label={quoted(words(node))}, fillcolor={color(node)}];"
            )
            lines += [f"  n{each} -> n{node.number};" for each in node.inputs]
        return "\n".join([*lines, "}"])


def words(node: PlanNode) -> str:
    """What stands in the box of a node."""
    if not node.operator:
        return f"{node.label}\n{node.schema}"
    said = [node.label, f"{node.shape}: {node.theorem}"]
    return "\n".join(said + ([f"keeps {node.keeps}"] if node.keeps != "nothing" else []))


def color(node: PlanNode) -> str:
    chosen = LINEAR_COLOR if node.shape == "linear" else OTHER_COLOR
    return quoted(chosen if node.operator else TABLE_COLOR)


def quoted(text: str) -> str:
    """A string of Graphviz's language; a line break is one, a backslash stands for itself."""
    return json.dumps(text.replace("\\", "\\\\"), ensure_ascii=False)


def plan_of(query: Query) -> Plan:
    """The circuit of a query, node by node; equal subqueries are one node."""
    places: dict[Query, int] = {}
    nodes = []
    for number, node in enumerate(query.nodes()):
        places[node] = number
        inputs = tuple(places[each] for each in node.inputs)
        plain = PlanNode(number, node.label(), str(node.schema), inputs)
        if isinstance(node, Apply):
            operator = node.operator
            plain = PlanNode(
                number,
                node.label(),
                str(node.schema),
                inputs,
                operator.name,
                operator.shape.value,
                operator.theorem,
                operator.source,
                operator.remembers(),
                tuple(dict.fromkeys(operator.capabilities())),
            )
        nodes.append(plain)
    return Plan(tuple(nodes))
