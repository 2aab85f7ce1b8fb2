"""Semi, anti and outer joins over a range of ticks: rows that match, and rows that nothing does.

Without a residual all rows of a key share one presence, 1 or 0, so everything is bilinear in
lines: rows on one side, changes of the presence of keys on the other.

    a ⋉ b = a ⋈ p        a ▷ b = a - a ⋈ p        p = distinct(keys of b)
    a ⟕ b = a ⋈ b + pad(a ▷ b) = a ⋈ (b - p ⊗ NULLs) + pad(a)

So an outer join is one join, in which -p stands beside b as lines that are `_absent`; a full
join has them on both sides, and two absent lines do not meet.

With a residual every row has a match weight of its own. Its lines stand beside those of the row's
weight, and the output weight follows from both running sums, as in a set operation. Remembered
are both, for rows that are there; only rows that were not there before the call meet the past of
the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltaproof.reference.types import Type
from deltaproof.spark_backend.lowering import (
    CLAUSE_NAME,
    ONE_PARTITION,
    Lowering,
    Relation,
    listed,
)
from deltaproof.spark_backend.operators.join import LEFT_PART, RIGHT_PARTS
from deltaproof.spark_backend.operators.set_operation import WeightOf, running_changes
from deltaproof.spark_backend.scalar import spark_type


@dataclass(frozen=True)
class Side:
    """One input of a join. Its columns have names that the other side's have not.

    The left row's are `_c0` …, the right row's follow, as in the pair, so that an expression over
    the pair reads both.
    """

    rows: Relation
    keys: tuple[int, ...]  # positions in the row
    offset: int  # of its first column in the pair

    @property
    def columns(self) -> list[str]:
        return [f"_c{n + self.offset}" for n in range(len(self.rows.schema))]

    @property
    def key_columns(self) -> list[str]:
        return [f"_k{n}" for n in range(len(self.keys))]

    def renamed(self) -> list[str]:
        """Its columns, from the relation's names to those in the pair."""
        pairs = zip(self.rows.columns, self.columns, strict=True)
        return [f"{own} AS {name}" for own, name in pairs]

    def keyed(self, columns: Sequence[str]) -> list[str]:
        """Its keys, from these columns of it."""
        pairs = zip(self.keys, self.key_columns, strict=True)
        return [f"{columns[place]} AS {name}" for place, name in pairs]

    def nulls(self) -> list[str]:
        """NULL for each of its columns."""
        pairs = zip(self.rows.schema.types, self.columns, strict=True)
        return [f"{null_of(kind)} AS {name}" for kind, name in pairs]


def sides_of(on: Sequence[tuple[str, str]], left: Relation, right: Relation) -> tuple[Side, Side]:
    """Both inputs of a join."""
    left_keys = tuple(left.schema.index(name) for name, _ in on)
    right_keys = tuple(right.schema.index(name) for _, name in on)
    return Side(left, left_keys, 0), Side(right, right_keys, len(left.schema))


def read_again(rows: Relation, lowering: Lowering) -> Relation:
    """The relation, computed once, unless it is a table: to read that again costs less."""
    place = int(rows.name.removeprefix("_r"))
    is_table = CLAUSE_NAME.search(lowering.clauses[place]) is None
    return rows if is_table or place in lowering.shared else lowering.share(rows)


def null_of(kind: Type) -> str:
    return f"CAST(NULL AS {spark_type(kind)})"


# --- lines that meet ---


def row_lines(side: Side, lowering: Lowering) -> str:
    """The lines of a side, with those of the past: keys, columns, not absent, weight."""
    name = lowering.with_past(side.rows.name, side.rows.columns, ["_weight"])
    columns = listed("_case", "_tick", *side.keyed(side.rows.columns), *side.renamed())
    return lowering.define(f"SELECT {columns}, FALSE AS _absent, _weight FROM {name}")


def presence_lines(side: Side, lowering: Lowering) -> str:
    """The changes of the presence of each key, at tick 0 what it was; NULL is never present."""
    keys = listed("_case", *side.key_columns)
    known = " AND ".join(f"_c{place} IS NOT NULL" for place in side.keys) or "TRUE"
    keyed = listed("_case", "_tick", *side.keyed(side.rows.columns))
    lines = lowering.define(f"SELECT {keyed}, _weight FROM {side.rows.name} WHERE {known}")
    per_tick = lowering.define(
        f"SELECT {keys}, _tick, SUM(_weight) AS _weight FROM {lines} GROUP BY {keys}, _tick"
    )
    changes = lowering.with_past(per_tick, side.key_columns, ["_weight"])
    after = f"SUM(_weight) OVER (PARTITION BY {keys} ORDER BY _tick ROWS UNBOUNDED PRECEDING)"
    totals = lowering.define(f"SELECT {keys}, _tick, _weight, {after} AS _after FROM {changes}")
    crossing = f"{key_presence('_after')} - {key_presence('(_after - _weight)')}"
    crossings = lowering.define(f"SELECT {keys}, _tick, {crossing} AS _weight FROM {totals}")
    return lowering.define(f"SELECT * FROM {crossings} WHERE _weight <> 0")


def key_presence(total: str) -> str:
    """1 when a key's total weight is positive, else 0."""
    return f"IF({total} > 0, 1L, 0L)"


def absence_lines(side: Side, lowering: Lowering) -> str:
    """-p ⊗ NULLs: where a key of this side is present, the other side's padding is taken away."""
    columns = listed("_case", "_tick", *side.key_columns, *side.nulls())
    lines = presence_lines(side, lowering)
    return lowering.define(f"SELECT {columns}, TRUE AS _absent, - _weight AS _weight FROM {lines}")


def all_lines(parts: Sequence[str], lowering: Lowering) -> str:
    if len(parts) == 1:
        return lowering.define(parts[0])
    return lowering.define(f"SELECT {ONE_PARTITION} * FROM ({' UNION ALL '.join(parts)})")


def meeting(
    left: str,
    right: str,
    selected: Sequence[str],
    keys: Sequence[str],
    conditions: Sequence[str],
    lowering: Lowering,
) -> str:
    """The lines of both sides that match, each with each, but for two lines of the past.

    Those met in an earlier call: see `join`.
    """
    matching = ["a._case = b._case", *(f"a.{key} = b.{key}" for key in keys), *conditions]
    if not lowering.first:
        left = lowering.define(f"SELECT *, {LEFT_PART} AS _part FROM {left}")
        right = lowering.define(f"SELECT *, {RIGHT_PARTS} AS _part FROM {right}")
        matching.insert(1, "a._part = b._part")
    columns = listed("a._case AS _case", *selected)
    return lowering.define(
        f"SELECT /*+ SHUFFLE_HASH(b) */ {columns} FROM {left} a JOIN {right} b "
        f"ON {' AND '.join(matching)}"
    )


# --- with a residual ---


def kept_changes(
    side: Side, others: str, residual: str, weight_of: WeightOf, lowering: Lowering
) -> str:
    """The changes of a side's rows, each with a weight that follows from its own and its match's.

    Lines of a row have `_a`, the change of its weight, and `_b`, that of its match weight. The
    latter may come before the row does: no weight times any match is none.
    """
    row = listed("_case", *side.columns)
    own = lowering.define(
        f"SELECT {listed('_case', '_tick', *side.renamed())}, _weight AS _a, 0L AS _b "
        f"FROM {side.rows.name}"
    )
    place = len(lowering.pasts)
    own = lowering.with_past(own, side.columns, ["_a", "_b"])
    matches = match_lines(side, own, others, residual, lowering)
    both = all_lines(
        [f"SELECT {row}, _tick, _a, _b FROM {lines}" for lines in (own, matches)], lowering
    )
    changes = lowering.define(
        f"SELECT {row}, _tick, SUM(_a) AS _a, SUM(_b) AS _b FROM {both} GROUP BY {row}, _tick"
    )
    still_there = f"SUM(_a) OVER (PARTITION BY {row}) <> 0"
    kept = lowering.define(f"SELECT {row}, _a, IF({still_there}, _b, 0L) AS _b FROM {changes}")
    lowering.remember(place, kept)  # the matches too, while the row is there
    return running_changes(changes, side.columns, ["_a", "_b"], weight_of, lowering)


def match_lines(side: Side, own: str, others: str, residual: str, lowering: Lowering) -> str:
    """For every row of a side, the lines of the other side that match it.

    A row that was there meets the new lines only: what matched it before is remembered.
    """
    row = listed("_case", *side.columns)
    rows = lowering.define(f"SELECT {row}, MIN(_tick) AS _tick FROM {own} GROUP BY {row}")
    columns = listed("_case", "_tick", *side.columns, *side.keyed(side.columns))
    rows = lowering.define(f"SELECT {columns} FROM {rows}")
    selected = ["b._tick AS _tick", *side.columns, "0L AS _a", "b._weight AS _b"]
    return meeting(rows, others, selected, side.key_columns, [residual], lowering)
