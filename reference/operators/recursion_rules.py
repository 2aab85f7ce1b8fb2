"""What a recursive body may say, and how it is said with linear operators, joins and distinct.

A body must be monotone in the relations that it defines: more rows in, more rows out. Then the
iteration from empty ends in the least fixpoint, the only meaning that SQL and Datalog know. An
operator that takes rows away when its input grows is refused over a recursive input; over what
does not depend on the recursion anything is allowed, and is evaluated once.

Inside the recursion all weights are positive or zero, since what enters from outside enters as a
set. So a row's presence in the result depends on the presence of the rows it is made of alone,
and an operator may be replaced by another with the same rows, whatever their weights:

    a ∪ b               distinct(a + b)
    a ∩ b               a' + b' - distinct(a' + b')            where a' = distinct(a)
    a EXCEPT b          distinct(a' + b') - b'
    a ⋉ b               a's columns of a ⋈ b
    a ▷ b               a' - distinct(a' ⋉ b)
    a ⟕ b               (a ⋈ b) + (a ▷ b, padded with NULLs)
    recursion           its definitions, among those of the recursion around it

The last is Bekić's lemma: the least fixpoint of a system in which one equation is itself a least
fixpoint is the simultaneous least fixpoint of all equations.

Source   H. Bekić, Definable operations in general algebras (1969; LNCS 177, 1984);
         Abiteboul, Hull, Vianu, Foundations of Databases (1995), sections 12.2 and 15.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.logic import Logic, is_positive
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.scalar import Expr, col, null

if TYPE_CHECKING:  # the query module imports the operators
    from deltaproof.reference.operators.recursion import Recursion
    from deltaproof.reference.query import Apply, Query
    from deltaproof.reference.types import Schema


def flattened(recursion: Recursion) -> dict[Query, Query]:
    """Each relation and its body, over linear operators, joins and distinct, none of them nested.

    Raises SchemaError for an operator that is not monotone over a recursive input.
    """
    flattening = Flattening(set(recursion.schemas))
    for name, body in recursion.definitions:
        relation = recursion.relation(name)
        flattening.bodies[relation] = flattening.rewritten(body)
    return flattening.bodies


@dataclass
class Flattening:
    """A recursion while it is rewritten."""

    names: set[str]  # of the relations that are defined, here or in a nested recursion
    bodies: dict[Query, Query] = field(default_factory=dict)  # by the relation they define
    done: dict[Query, Query] = field(default_factory=dict)

    def rewritten(self, query: Query) -> Query:
        """The query, where it reads a recursive relation, in the three kinds of operators."""
        if query not in self.done:
            self.done[query] = self.rewritten_now(query) if self.recursive(query) else query
        return self.done[query]

    def recursive(self, query: Query) -> bool:
        return reads_any(query, self.names)

    def rewritten_now(self, query: Query) -> Query:
        from deltaproof.reference.query import Apply

        if not isinstance(query, Apply):
            return query
        if query.operator.name == "recursion":
            return self.inlined(query)
        recursive = [self.recursive(each) for each in query.over]
        refuse_unless_monotone(query, recursive)
        inputs = [self.entering(each) for each in query.over]
        return FORMS.get(type(query.operator), as_it_is)(query, inputs)

    def entering(self, query: Query) -> Query:
        """An input of an operator of the recursion: what comes from outside comes as a set."""
        return self.rewritten(query) if self.recursive(query) else query.distinct()

    def inlined(self, query: Apply) -> Query:
        """The relation that a nested recursion defines, once its definitions are among ours."""
        from deltaproof.reference.query import Table

        nested: Any = query.operator
        places: dict[Query, Query] = {
            Table(name, schema): each
            for (name, schema), each in zip(nested.tables, query.over, strict=True)
        }
        for name, schema in nested.schemas.items():
            fresh = self.fresh(name)
            self.names.add(fresh)
            places[nested.relation(name)] = Table(fresh, schema)
        for name, body in nested.definitions:
            relation = places[nested.relation(name)]
            self.bodies[relation] = self.rewritten(substituted(body, places))
        return places[nested.relation(nested.result)]

    def fresh(self, name: str) -> str:
        while name in self.names:
            name += "'"
        return name


def reads_any(query: Query, names: set[str]) -> bool:
    """Whether the query reads a table of one of these names."""
    return not names.isdisjoint(query.tables())


def substituted(query: Query, places: Mapping[Query, Query]) -> Query:
    """The query with other queries in the places of some of its tables."""
    from deltaproof.reference.query import Apply

    if isinstance(query, Apply):
        return Apply(query.operator, tuple(substituted(each, places) for each in query.over))
    return places.get(query, query)


def entering_as_sets(query: Query, names: set[str]) -> Query:
    """The body, where what comes from outside the recursion comes as a set.

    A nested recursion does the same for its own bodies.
    """
    from deltaproof.reference.query import Apply

    if not isinstance(query, Apply) or not reads_any(query, names):
        return query
    if query.operator.name == "recursion":
        return Apply(query.operator, tuple(entering_as_sets(each, names) for each in query.over))
    over = (
        entering_as_sets(each, names) if reads_any(each, names) else each.distinct()
        for each in query.over
    )
    return Apply(query.operator, tuple(over))


# --- monotone or not ---


def refuse_unless_monotone(query: Apply, recursive: Sequence[bool]) -> None:
    """Raises SchemaError when an input that is recursive may only grow the output less."""
    for place, (reads, each) in enumerate(zip(recursive, query.over, strict=True)):
        if reads and not is_monotone(query.operator, place):
            raise SchemaError(
                f"recursion: {query.label()} cannot read the recursive {each.label()}"
                f"{' on its right' * place}: it may lose rows when its input gains some, so there "
                "is no least fixpoint; use it on tables before the recursion, or on the result"
            )


def is_monotone(operator: Operator, place: int) -> bool:
    """Whether more rows in this input can only make more rows in the output."""
    match operator:
        case Join() | Distinct() | Positive():
            return True
        case Negate():
            return False
        case SetOperation(kind):
            return kind in GROWING or (kind == "except" and place == 0)
        case SemiJoin():
            return place == 0 or not operator.anti
        case OuterJoin():
            return operator.kind == ("left", "right")[place]
        case Logic():
            return operator.lifted and all(is_positive(each.weight) for each in operator.branches)
    return operator.shape is Shape.LINEAR and operator.lifted


GROWING = frozenset({"union", "intersect", "intersect_all"})


# --- the forms ---


def as_it_is(query: Apply, inputs: list[Query]) -> Query:
    return replace(query, over=tuple(inputs))


def bag_as_it_is(query: Apply, inputs: list[Query]) -> Query:
    (rows,) = inputs
    return rows


def set_operation(query: Apply, inputs: list[Query]) -> Query:
    operator: Any = query.operator
    left, right = inputs
    if operator.kind == "union":
        return left.union_all(right).distinct()
    left, right = left.distinct(), right.distinct()
    either = left.union_all(right).distinct()
    if operator.kind == "except":
        return either.union_all(right.negate())
    return left.union_all(right).union_all(either.negate())


def semi_join(query: Apply, inputs: list[Query]) -> Query:
    operator: Any = query.operator
    left, right = inputs
    if not operator.anti:
        return matched(operator.on, operator.residual, left, right)
    left = left.distinct()
    return left.union_all(matched(operator.on, operator.residual, left, right).distinct().negate())


Pairs = tuple[tuple[str, str], ...]


def matched(on: Pairs, residual: Expr | None, left: Query, right: Query) -> Query:
    """The left rows that a right row matches, as often as one does."""
    if residual is not None:
        return left.join(right, on).filter(residual).project(*left.schema.names)
    names = fresh_names(left.schema, len(on))
    keys = right.map(**{name: col(key) for name, (_, key) in zip(names, on, strict=True)})
    pairs = [(key, name) for name, (key, _) in zip(names, on, strict=True)]
    return left.join(keys.distinct(), pairs).project(*left.schema.names)


def fresh_names(schema: Schema, number: int) -> list[str]:
    """Names that no column of the schema has."""
    prefix = "_"
    while any(name.startswith(prefix) for name in schema.names):
        prefix += "_"
    return [f"{prefix}{place}" for place in range(number)]


def outer_join(query: Apply, inputs: list[Query]) -> Query:
    operator: Any = query.operator
    left, right = inputs
    inner = left.join(right, operator.on)
    if operator.residual is not None:
        inner = inner.filter(operator.residual)
    kept, other, on = left, right, operator.on
    if operator.kind == "right":
        kept, other, on = right, left, tuple((b, a) for a, b in operator.on)
    anti = SemiJoin(on, operator.residual, anti=True)
    alone = semi_join(replace(query, operator=anti, over=(kept, other)), [kept, other])
    padded = tuple(
        (column.name, col(column.name) if column.name in kept.schema.names else null(column.type))
        for column in query.schema.columns
    )
    return inner.union_all(replace(query, operator=Map(padded), over=(alone,)))


FORMS: Mapping[type[Operator], Callable[[Apply, list[Query]], Query]] = {
    SetOperation: set_operation,
    Positive: bag_as_it_is,
    SemiJoin: semi_join,
    OuterJoin: outer_join,
}
