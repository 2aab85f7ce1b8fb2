"""Every operator there is, as a tuple that can be read: nothing registers itself.

OPERATORS        ours
knowing(kind)    while somebody's own operator is to be known by its name too
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from deltaproof.reference.errors import SchemaError
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators.aggregate import Aggregate
from deltaproof.reference.operators.asof_join import AsofJoin
from deltaproof.reference.operators.delay import Delay
from deltaproof.reference.operators.differentiate import Differentiate
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.filter import Filter
from deltaproof.reference.operators.flat_map import FlatMap
from deltaproof.reference.operators.grouping_sets import GroupingSets
from deltaproof.reference.operators.hop import Hop
from deltaproof.reference.operators.integrate import Integrate
from deltaproof.reference.operators.join import Join
from deltaproof.reference.operators.lag import Lag
from deltaproof.reference.operators.logic import Logic
from deltaproof.reference.operators.map import Map
from deltaproof.reference.operators.negate import Negate
from deltaproof.reference.operators.outer_join import OuterJoin
from deltaproof.reference.operators.per_group import PerGroup
from deltaproof.reference.operators.positive import Positive
from deltaproof.reference.operators.rank import Rank
from deltaproof.reference.operators.recursion import Recursion
from deltaproof.reference.operators.rolling import Rolling
from deltaproof.reference.operators.semi_join import SemiJoin
from deltaproof.reference.operators.session_window import SessionWindow
from deltaproof.reference.operators.set_operation import SetOperation
from deltaproof.reference.operators.temporal_filter import TemporalFilter
from deltaproof.reference.operators.top_k import TopK
from deltaproof.reference.operators.union_all import UnionAll

OPERATORS: tuple[type[Operator], ...] = (
    Filter,
    Map,
    FlatMap,
    Hop,
    Logic,
    UnionAll,
    SetOperation,
    Positive,
    Negate,
    Join,
    SemiJoin,
    OuterJoin,
    AsofJoin,
    Distinct,
    Aggregate,
    TopK,
    Rank,
    Lag,
    Rolling,
    SessionWindow,
    GroupingSets,
    TemporalFilter,
    Delay,
    Integrate,
    Differentiate,
    Recursion,
    PerGroup,
)

_ALSO: ContextVar[tuple[type[Operator], ...]] = ContextVar("_ALSO", default=())


@contextmanager
def knowing(*kinds: type[Operator]) -> Iterator[None]:
    """While these kinds of operator can be read from JSON by their names, beside ours.

    Raises   SchemaError for a name that is taken

    >>> class Twice(Negate):
    ...     name = "twice"
    >>> with knowing(Twice):
    ...     "twice" in kinds_by_name()
    True
    """
    taken = kinds_by_name()
    for kind in kinds:
        if taken.setdefault(kind.name, kind) is not kind:
            raise SchemaError(f"there is an operator {kind.name!r} already: name yours otherwise")
    token = _ALSO.set((*_ALSO.get(), *kinds))
    try:
        yield
    finally:
        _ALSO.reset(token)


def kinds_by_name() -> dict[str, type[Operator]]:
    """Every operator that is known, by its name."""
    return {kind.name: kind for kind in (*OPERATORS, *_ALSO.get())}
