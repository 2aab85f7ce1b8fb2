"""Inner join is bilinear, so two lines meet at the later of their ticks.

A pair of rows is in the join from the tick on at which the second of them arrives, with the
product of their weights. Over a range of ticks that is one equi-join of all lines with all
lines, at tick GREATEST(left, right): da × b + a × db + da × db, for all ticks at once.

Pairs of two lines of the past were output by earlier calls. They are not made and thrown away:
every line is filed under the parts of the sum that it belongs to, and only lines of one part
meet, so that a call's pairs follow its changes, not the state.

    part 0      new left × (past and new) right
    part 1      past left × new right
"""

from __future__ import annotations

from deltaproof.reference.operators.join import Join
from deltaproof.spark_backend.lowering import Lowering, Relation, listed

LEFT_PART = "IF(_tick = 0, 1, 0)"
RIGHT_PARTS = "EXPLODE(IF(_tick = 0, ARRAY(0), ARRAY(0, 1)))"


def lower_join(operator: Join, left: Relation, right: Relation, lowering: Lowering) -> Relation:
    """a ⋈ b: `=` never matches NULL; NaN matches NaN."""
    sides = [
        side_of_join(left, LEFT_PART, lowering),
        side_of_join(right, RIGHT_PARTS, lowering),
    ]
    equal = [f"a._c{left.schema.index(a)} = b._c{right.schema.index(b)}" for a, b in operator.on]
    parts = [] if lowering.first else ["a._part = b._part"]
    matching = " AND ".join(["a._case = b._case", *parts, *equal])
    columns = [f"a.{name} AS {name}" for name in left.columns]
    columns += [f"b.{name} AS _c{n}" for n, name in enumerate(right.columns, len(left.schema))]
    selected = listed("a._case AS _case", pair_tick(), *columns, pair_weight())
    name = lowering.define(
        f"SELECT /*+ SHUFFLE_HASH(b) */ {selected} "
        f"FROM {sides[0]} a JOIN {sides[1]} b ON {matching}"
    )
    return Relation(name, operator.output(left.schema, right.schema), consolidated=False)


def side_of_join(rows: Relation, parts: str, lowering: Lowering) -> str:
    """The lines of one side with those of the past, filed by part."""
    name = lowering.with_past(rows.name, rows.columns, ["_weight"])
    if lowering.first:
        return name
    return lowering.define(f"SELECT *, {parts} AS _part FROM {name}")


def pair_tick() -> str:
    """A pair is there when its second row arrives."""
    return "GREATEST(a._tick, b._tick) AS _tick"


def pair_weight() -> str:
    return "a._weight * b._weight AS _weight"
