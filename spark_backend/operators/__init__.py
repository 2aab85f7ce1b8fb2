"""Every operator that Spark runs, and its form: nothing registers itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.union_all import UnionAll
from deltaproof.spark_backend.lowering import Relation
from deltaproof.spark_backend.operators.aggregate import lower_aggregate
from deltaproof.spark_backend.operators.distinct import lower_distinct
from deltaproof.spark_backend.operators.filter import lower_filter
from deltaproof.spark_backend.operators.flat_map import lower_flat_map
from deltaproof.spark_backend.operators.join import lower_join
from deltaproof.spark_backend.operators.map import lower_map
from deltaproof.spark_backend.operators.negate import lower_negate
from deltaproof.spark_backend.operators.union_all import lower_union_all

Form: TypeAlias = Callable[..., Relation]  # (operator, *inputs, lowering) → the output's changes

FORMS: Mapping[type[Operator], Form] = {
    Filter: lower_filter,
    Map: lower_map,
    FlatMap: lower_flat_map,
    UnionAll: lower_union_all,
    Negate: lower_negate,
    Join: lower_join,
    Distinct: lower_distinct,
    Aggregate: lower_aggregate,
}
