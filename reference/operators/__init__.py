"""Every operator there is, as a tuple that can be read: nothing registers itself."""

from __future__ import annotations

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.union_all import UnionAll

OPERATORS: tuple[type[Operator], ...] = (
    Filter,
    Map,
    FlatMap,
    UnionAll,
    Negate,
    Join,
    Distinct,
    Aggregate,
)
