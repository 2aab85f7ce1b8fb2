"""A tree of joins, and the order in which its inner joins are made.

A conjunct of WHERE or ON goes as far down as it may: to the one input that it reads, or to the
first join that has all its columns. Equality of two sides becomes a key. Inner joins are made
greedily in the order of FROM, each time with the first input that an equality connects to what
is joined already, so that a cross product is made only where nothing connects.

Below an outer join nothing is moved but to the side that it preserves: on the other side a
condition of WHERE would drop rows before their partners are padded with NULL.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.parse.scope import projected, with_columns
from deltaproof.reference.parse.tidy import conjunction, conjuncts, filtered
from deltaproof.reference.query import Query, apply
from deltaproof.reference.scalar import Expr, coalesce, col
from deltaproof.reference.scalar_tree import ColumnRef, Comparison, Distinct, Literal, Logic
from deltaproof.reference.types import BOOLEAN, Type

Name: TypeAlias = Callable[[str], str]  # a name that is not taken yet


@dataclass(frozen=True)
class Leaf:
    """An item of FROM."""

    query: Query

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(self.query.schema.names)


@dataclass(frozen=True)
class Inner:
    """Inputs that are joined in any order, and what must be TRUE of their rows."""

    parts: tuple[Tree, ...]
    conditions: tuple[Expr, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset().union(*(part.columns for part in self.parts))


@dataclass(frozen=True)
class Sided:
    """left, right, full, semi, anti or asof join of two inputs."""

    kind: str
    left: Tree
    right: Tree
    conditions: tuple[Expr, ...]

    @property
    def columns(self) -> frozenset[str]:
        if self.kind in ("semi", "anti"):
            return self.left.columns
        return self.left.columns | self.right.columns


@dataclass(frozen=True)
class Dependent:
    """An item of FROM that reads the items before it: UNNEST, LATERAL."""

    left: Tree
    added: frozenset[str]
    make: Callable[[Query], Query]

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.added


Tree: TypeAlias = Leaf | Inner | Sided | Dependent


def built(tree: Tree, conditions: Sequence[Expr], name: Name) -> Query:
    """The plan of the tree, filtered by these conditions."""
    match tree:
        case Leaf(query):
            return filtered(query, conditions)
        case Inner(parts, own):
            return joined(parts, (*own, *conditions), name)
        case Dependent(left=left, make=make):
            below, above = parted(conditions, left.columns)
            return filtered(make(built(left, below, name)), above)
        case Sided(kind, left, right, own):
            keeps_left = kind in ("left", "semi", "anti", "asof left")
            preserved = left.columns if keeps_left else frozenset()
            below, above = parted(conditions, preserved)
            sides = built(left, below, name), built(right, (), name)
            return filtered(combined(kind, *sides, own, name), above)


def parted(conditions: Iterable[Expr], columns: frozenset[str]) -> tuple[list[Expr], list[Expr]]:
    """The conditions that read these columns only, and the others."""
    below: list[Expr] = []
    above: list[Expr] = []
    for each in conditions:
        (below if each.columns() and each.columns() <= columns else above).append(each)
    return below, above


def factored(condition: Expr) -> list[Expr]:
    """(c AND a) OR (c AND b) as c, a OR b: what all alternatives ask for may connect two inputs.

    >>> [str(each) for each in factored((col("c") & col("a")) | (col("c") & col("b")))]
    ['c', 'a OR b']
    """
    alternatives = [conjuncts(each) for each in disjuncts(condition)]
    first, *others = alternatives
    shared = [each for each in first if all(each in other for other in others)]
    if not others or not shared:
        return [condition]
    rests = [[each for each in parts if each not in shared] for parts in alternatives]
    if not all(rests):
        return shared  # one alternative asks for nothing more
    remaining = [conjunction(rest) for rest in rests]
    return [*shared, reduce(lambda a, b: a | b, (each for each in remaining if each is not None))]


def disjuncts(condition: Expr) -> list[Expr]:
    """The parts of an OR, in order."""
    parts: list[Expr] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case Logic(symbol="OR", left=left, right=right):
                stack += [right, left]
            case other:
                parts.append(other)
    return parts


# --- inner joins ---


def joined(parts: Sequence[Tree], conditions: Sequence[Expr], name: Name) -> Query:
    """The inner join of the parts under these conditions."""
    if len(parts) == 1:
        return built(parts[0], conditions, name)
    waiting = [part for condition in conditions for part in factored(condition)]
    queries: list[Query] = []
    for part in parts:
        own, waiting = parted(waiting, part.columns)
        queries.append(built(part, own, name))
    done, queries = queries[0], queries[1:]
    while queries:
        chosen = next((q for q in queries if connecting(waiting, done, q)), queries[0])
        queries.remove(chosen)
        keys = connecting(waiting, done, chosen)
        waiting = [each for each in waiting if each not in keys]
        done = combined("inner", done, chosen, keys, name)
        ready, waiting = parted(waiting, frozenset(done.schema.names))
        done = filtered(done, ready)
    return filtered(done, waiting)


def connecting(conditions: Iterable[Expr], left: Query, right: Query) -> list[Expr]:
    """The equalities between a side and the other."""
    sides = frozenset(left.schema.names), frozenset(right.schema.names)
    return [each for each in conditions if key_of(each, *sides) is not None]


@dataclass(frozen=True)
class Key:
    """An equality of two sides of a join; when `null_safe` two NULLs are equal."""

    left: Expr
    right: Expr
    null_safe: bool = False


def key_of(condition: Expr, left: frozenset[str], right: frozenset[str]) -> Key | None:
    """The condition as a key of a join of rows of these columns."""
    match condition:
        case Comparison(symbol="=", left=a, right=b):
            null_safe = False
        case Distinct(symbol="IS NOT DISTINCT FROM", left=a, right=b):
            null_safe = True
        case _:
            return None
    reads = a.columns(), b.columns()
    if not all(reads):
        return None
    if reads[0] <= left and reads[1] <= right:
        return Key(a, b, null_safe)
    if reads[0] <= right and reads[1] <= left:
        return Key(b, a, null_safe)
    return None


# --- one join ---


def combined(kind: str, left: Query, right: Query, conditions: Sequence[Expr], name: Name) -> Query:
    """The join of two plans under these conditions: equalities as keys, the rest as residual.

    A side of an equality that is no plain column becomes one first. IS NOT DISTINCT FROM, which
    takes two columns, is a key of an outer join only where there is no other.
    """
    if kind.startswith("asof"):
        return as_of(kind, left, right, conditions, name)
    sides = frozenset(left.schema.names), frozenset(right.schema.names)
    found = [(each, key_of(each, *sides)) for each in conditions]
    plain = any(key is not None and not key.null_safe for _, key in found)
    keys, residuals = [], []
    for each, key in found:
        beside = plain and kind != "inner" and key is not None and key.null_safe
        if key is None or beside or not hashable(key, left, right):
            residuals.append(each)
        else:
            keys.append(key)
    left, right, on = keyed(left, right, keys, name)
    if kind == "inner":
        return filtered(left.join(right, on), residuals)
    residual = conjunction(residuals)
    if kind in ("semi", "anti"):
        kept = [(each, col(each)) for each in left.schema.names if each in sides[0]]
        both = apply(SemiJoin(tuple(on), residual, anti=kind == "anti"), left, right)
        return projected(both, kept)
    return apply(OuterJoin(kind, tuple(on), residual), left, right)


def as_of(kind: str, left: Query, right: Query, conditions: Sequence[Expr], name: Name) -> Query:
    """ASOF JOIN: equalities, and one `left >= right` or `left > right` of two times."""
    sides = frozenset(left.schema.names), frozenset(right.schema.names)
    turned = {"<=": ">=", "<": ">"}
    found = [(each, key_of(each, *sides)) for each in conditions]
    keys = [key for _, key in found if key is not None and not key.null_safe]
    rest = [each for each, key in found if key is None or key.null_safe]
    times = [
        Comparison(turned[each.symbol], each.right, each.left) if each.symbol in turned else each
        for each in rest
        if isinstance(each, Comparison) and each.symbol in ("<", "<=", ">", ">=")
    ]
    time = times[0] if times else None
    if (
        time is None
        or len(rest) > 1
        or not (time.left.columns() <= sides[0] and time.right.columns() <= sides[1])
    ):
        raise SchemaError("ASOF JOIN needs equalities and one comparison left.time >= right.time")
    left, right, on = keyed(left, right, [*keys, Key(time.left, time.right)], name)
    (left_time, right_time), on = on[-1], on[:-1]
    strict = time.symbol == ">"
    style = "left" if kind.endswith("left") else "inner"
    return apply(AsofJoin(tuple(on), left_time, right_time, style, strict), left, right)


def hashable(key: Key, left: Query, right: Query) -> bool:
    """Whether both sides have one type, as keys must."""
    kinds = key.left.type_in(left.schema), key.right.type_in(right.schema)
    return kinds[0] == kinds[1]


def keyed(
    left: Query, right: Query, keys: Sequence[Key], name: Name
) -> tuple[Query, Query, list[tuple[str, str]]]:
    """Both sides with a column for each side of each key, and the pairs of them.

    Joins match no NULL. Where two NULLs are equal, the key is two columns: whether it is NULL,
    and its value or, for NULL, some value.
    """
    added: tuple[list[tuple[str, Expr]], list[tuple[str, Expr]]] = ([], [])
    pairs = []

    def column(side: int, value: Expr) -> str:
        if isinstance(value, ColumnRef):
            return value.name
        for known, expression in added[side]:
            if expression == value:
                return known
        added[side].append((name("key"), value))
        return added[side][-1][0]

    for key in keys:
        nullable = key.left.nullable_in(left.schema) and key.right.nullable_in(right.schema)
        if key.null_safe and nullable:
            filler = Literal(kind := key.left.type_in(left.schema), some_value(kind))
            pairs.append((column(0, key.left.is_null()), column(1, key.right.is_null())))
            values = coalesce(key.left, filler), coalesce(key.right, filler)
            pairs.append((column(0, values[0]), column(1, values[1])))
        else:
            pairs.append((column(0, key.left), column(1, key.right)))
    return with_columns(left, added[0]), with_columns(right, added[1]), pairs


def some_value(kind: Type) -> object:
    """Any value of the type, to stand beside a TRUE that says it is NULL.

    >>> some_value(BOOLEAN)
    False
    """
    if kind == BOOLEAN:
        return False
    values = {
        int: 0,
        float: 0.0,
        str: "",
        Decimal: Decimal(0),
        datetime.date: datetime.date(1970, 1, 1),
        datetime.datetime: datetime.datetime(1970, 1, 1),
        tuple: (),
    }
    if kind.python not in values:
        raise SchemaError(f"no value of {kind} is known")
    return values[kind.python]
