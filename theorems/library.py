"""Every theorem there is, in reading order, as a tuple: nothing registers itself."""

from __future__ import annotations

from deltaproof.theorems.circuit import circuit_code
from deltaproof.theorems.laws import zset_laws_code
from deltaproof.theorems.operators.aggregate import aggregate_increment, aggregate_keyless
from deltaproof.theorems.operators.aggregate_code import (
    aggregate_avg_code,
    aggregate_count_code,
    aggregate_keyless_code,
    aggregate_min_max_code,
    aggregate_sum_code,
)
from deltaproof.theorems.operators.aggregate_extremes import min_max_reevaluation
from deltaproof.theorems.operators.aggregate_sums import avg_from_sums, count_linear, sum_linear
from deltaproof.theorems.operators.distinct import (
    distinct_code,
    distinct_idempotent,
    distinct_increment,
)
from deltaproof.theorems.operators.filter import filter_code, filter_linear
from deltaproof.theorems.operators.flat_map import flat_map_code, flat_map_linear
from deltaproof.theorems.operators.join import join_bilinear, join_code, join_increment
from deltaproof.theorems.operators.map import map_code, map_linear
from deltaproof.theorems.operators.negate import negate_code, negate_linear
from deltaproof.theorems.operators.union_all import union_all_code, union_all_linear
from deltaproof.theorems.registry import Theorem
from deltaproof.theorems.streams import (
    general_increment,
    incremental_chain,
    integrate_inverse,
    integrate_linear,
    lifted_bilinear_increment,
    lifted_linear_increment,
    stream_group,
)
from deltaproof.theorems.sums import sum_linear_extension
from deltaproof.theorems.zsets import zset_group
from deltaproof.theorems.ztransform import integrate_ztransform, join_ztransform

THEOREMS: tuple[Theorem, ...] = (
    integrate_inverse,
    stream_group,
    integrate_linear,
    lifted_linear_increment,
    lifted_bilinear_increment,
    general_increment,
    incremental_chain,
    integrate_ztransform,
    join_ztransform,
    zset_group,
    sum_linear_extension,
    filter_linear,
    map_linear,
    flat_map_linear,
    union_all_linear,
    negate_linear,
    join_bilinear,
    join_increment,
    distinct_idempotent,
    distinct_increment,
    aggregate_increment,
    aggregate_keyless,
    count_linear,
    sum_linear,
    avg_from_sums,
    min_max_reevaluation,
    filter_code,
    map_code,
    flat_map_code,
    union_all_code,
    negate_code,
    join_code,
    distinct_code,
    aggregate_count_code,
    aggregate_sum_code,
    aggregate_avg_code,
    aggregate_min_max_code,
    aggregate_keyless_code,
    circuit_code,
    zset_laws_code,
)
