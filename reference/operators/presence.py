"""A row's presence turns on whether anything on the other side matches it, not on how much.

Semi, anti and outer joins keep rows of one side by m(row): the total weight of the rows on the
other side that match it. A row matches when the keys are equal and, where there is one, the
residual condition is TRUE. So

    output weight of a row = its weight × keeps(m(row)),   keeps = positive, or 1 - positive

and a change of m that does not cross zero changes nothing.

    presence by key   without a residual all rows of a key share one m: only its total is kept
    presence by row   with a residual every row has its own
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, TypeAlias

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operators.join import KeyFunction, matching_key
from deltaproof.reference.scalar import Expr, from_json, sample_predicate
from deltaproof.reference.store import Index, add_into
from deltaproof.reference.types import BOOLEAN, Row, Schema
from deltaproof.reference.zset import Weight, ZSet, positive

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Keeps: TypeAlias = Callable[[Weight], Weight]  # m(row) → 1 where the row is kept, 0 where not
Matches: TypeAlias = Callable[[Row, Row], bool]  # of two rows whose keys are equal


def present(match: Weight) -> Weight:
    """1 for a row that something matches."""
    return positive(match)


def absent(match: Weight) -> Weight:
    """1 for a row that nothing matches.

    >>> absent(0), absent(2), absent(-1)
    (1, 0, 1)
    """
    return 1 - positive(match)


# --- the declaration ---


def checked_keys(operator: str, on: Pairs, left: Schema, right: Schema) -> None:
    """Raises SchemaError unless the columns of every pair are there, and of one type."""
    for a, b in on:
        if left.column(a).type != right.column(b).type:
            raise SchemaError(
                f"{operator}: keys must have one type, got {left.column(a)} and {right.column(b)}: "
                "cast one side in a map before the join"
            )


def checked_residual(operator: str, residual: Expr | None, left: Schema, right: Schema) -> None:
    """Raises SchemaError unless the residual is a condition on a row of each side."""
    if residual is None:
        return
    if not isinstance(residual, Expr):
        raise SchemaError(f"{operator}: expected an expression as residual, got {residual!r}")
    if (kind := residual.type_in(Schema(left.columns + right.columns))) != BOOLEAN:
        raise SchemaError(f"{operator}: expected a BOOLEAN residual, got {kind} {residual}")


def key_functions(on: Pairs, left: Schema, right: Schema) -> tuple[KeyFunction, KeyFunction]:
    """The key of a row on each side, None where a part of it is NULL and so matches nothing."""
    return (
        matching_key([left.index(name) for name, _ in on]),
        matching_key([right.index(name) for _, name in on]),
    )


def condition(residual: Expr | None, left: Schema, right: Schema) -> Matches:
    """Whether the residual is TRUE of a left and a right row; of all rows where there is none."""
    if residual is None:
        return lambda row, other: True
    holds = residual.compile(Schema(left.columns + right.columns))
    return lambda row, other: holds(row + other) is True


def turned(matches: Matches) -> Matches:
    """The same condition, its rows in the other order."""
    return lambda row, other: matches(other, row)


def match_weight(row: Row, others: Iterable[tuple[Row, Weight]], matches: Matches) -> Weight:
    """m(row), given the rows of the other side that have its key."""
    total: Weight = 0
    for other, weight in others:
        if matches(row, other):
            total = total + weight
    return total


def condition_label(on: Pairs, residual: Expr | None) -> str:
    """The condition of a join on one line.

    >>> condition_label((("k", "key"),), None), condition_label((), None)
    (' k = key', '')
    """
    terms = [f"{a} = {b}" for a, b in on] + ([] if residual is None else [str(residual)])
    return "".join(f" {'AND ' if place else ''}{term}" for place, term in enumerate(terms))


def sample_condition(
    random: Random, left: Schema, right: Schema
) -> tuple[Pairs, Expr | None] | None:
    """Random keys and a random residual, seldom a residual alone; None where nothing fits."""
    if {name.lower() for name in left.names} & {name.lower() for name in right.names}:
        return None
    residual = None
    if random.random() < 0.4:
        residual = sample_predicate(random, Schema(left.columns + right.columns))
    pairs = [(a.name, b.name) for a in left.columns for b in right.columns if a.type == b.type]
    if residual is not None and (not pairs or random.random() < 0.2):
        return (), residual
    if not pairs:
        return None
    return tuple(random.sample(pairs, min(len(pairs), random.choice((1, 1, 1, 2))))), residual


def condition_to_json(on: Pairs, residual: Expr | None) -> dict[str, Any]:
    """The condition of a join as a case file holds it; `condition_from_json` is its inverse."""
    saved = None if residual is None else residual.to_json()
    return {"on": [list(pair) for pair in on], "residual": saved}


def condition_from_json(arguments: Mapping[str, Any]) -> tuple[Pairs, Expr | None]:
    """Raises CaseError, KeyError, TypeError or ValueError for what is no condition."""
    residual = arguments["residual"]
    on = pairs_from_json(arguments["on"])
    return on, None if residual is None else from_json(residual)


def pairs_from_json(saved: Any) -> Pairs:
    """The pairs of column names that a case file holds as lists. Raises TypeError."""
    if not isinstance(saved, list) or not all(isinstance(pair, list) for pair in saved):
        raise TypeError(f"expected pairs [left, right], got {saved!r}")
    return tuple((left, right) for left, right in saved)


# --- the increment ---
#
# A presence keeps what it needs of the other side, and reads the index of its own. `change` gives
# the change of the kept rows and stages its own; its owner then changes the indexes, and calls
# `commit` last.


class PresenceByKey:
    """Keeps the total weight of the other side's rows of each key.

    Touches the rows of the delta, and all rows of a key only when the key appears or goes.

    Law      Δ(a · p) = (a + da) · p_after - a · p_before; where p stays it is da · p
    """

    def __init__(self, rows: Index, other_key: KeyFunction, keeps: Keeps) -> None:
        self.rows = rows
        self.other_key = other_key
        self.keeps = keeps
        self.totals: dict[Any, Weight] = {}
        self.staged: dict[Any, Weight] = {}

    def change(self, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
        changes = self.staged = self.by_key(others)
        totals, keeps, row_key = self.totals, self.keeps, self.rows.key
        output: dict[Row, Weight] = {}
        for row, weight in rows.items():
            key = row_key(row)
            after = totals.get(key, 0) + changes.get(key, 0) if key is not None else 0
            output[row] = weight * keeps(after)
        for key, change in changes.items():
            before = totals.get(key, 0)
            crossing = keeps(before + change) - keeps(before)
            if crossing:  # else the key's other rows stay as they are
                for row, weight in self.rows.of(key).items():
                    output[row] = output.get(row, 0) + weight * crossing
        return output

    def by_key(self, others: ZSet) -> dict[Any, Weight]:
        """The change of each key's total; rows with a NULL key match nothing."""
        changes: dict[Any, Weight] = {}
        for other, weight in others.items():
            key = self.other_key(other)
            if key is not None:
                changes[key] = changes.get(key, 0) + weight
        return changes

    def commit(self) -> None:
        add_into(self.totals, self.staged.items())
        self.staged = {}

    def recount(self, others: Index) -> None:
        """The totals, from the other side: what a checkpoint of both sides need not hold."""
        self.totals = {}
        add_into(self.totals, self.by_key(ZSet.trusted(dict(others.items()))).items())


class PresenceByRow:
    """Keeps m(row) for each row of its side.

    Touches the rows of the delta, and the rows that match a row of the other side's delta.
    """

    def __init__(self, rows: Index, others: Index, matches: Matches, keeps: Keeps) -> None:
        self.rows = rows
        self.others = others
        self.matches = matches
        self.keeps = keeps
        self.match: dict[Row, Weight] = {}  # m(row) where it is not 0
        self.staged: dict[Row, Weight] = {}

    def change(self, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
        gained = self.gained(rows, others)
        changes = Index(self.others.key)
        changes.add(others.items())
        self.staged = {}
        output: dict[Row, Weight] = {}
        for row in dict.fromkeys([*rows, *gained]):
            present = self.rows.of(self.rows.key(row))
            before, match = present.get(row, 0), self.match.get(row, 0)
            if row in present:
                match_after = match + gained.get(row, 0)
            else:
                match_after = self.match_of_new(row, changes)
            self.staged[row] = match_after
            kept_after = (before + rows[row]) * self.keeps(match_after)
            output[row] = kept_after - before * self.keeps(match)
        return output

    def gained(self, rows: ZSet, others: ZSet) -> dict[Row, Weight]:
        """The change of m(row), for the rows that stay and match a row of the other's delta.

        A row that goes is not asked about a row that comes: they never meet, and the residual
        may have no value for the two.
        """
        gained: dict[Row, Weight] = {}
        for other, weight in others.items():
            for row, before in self.rows.of(self.others.key(other)).items():
                if before + rows[row] and self.matches(row, other):
                    gained[row] = gained.get(row, 0) + weight
        return gained

    def match_of_new(self, row: Row, changes: Index) -> Weight:
        """m(row) after the tick of a row that was not there before it."""
        key = self.rows.key(row)
        others = dict(self.others.of(key))
        add_into(others, changes.of(key).items())
        return match_weight(row, others.items(), self.matches)

    def commit(self) -> None:
        for row, match in self.staged.items():
            if match and row in self.rows.of(self.rows.key(row)):
                self.match[row] = match
            else:
                self.match.pop(row, None)
        self.staged = {}

    def recount(self, others: Index) -> None:
        """m(row) of every row, from both sides."""
        self.match = {}
        for key, bucket in self.rows.rows.items():
            for row in bucket:
                if match := match_weight(row, others.of(key).items(), self.matches):
                    self.match[row] = match
