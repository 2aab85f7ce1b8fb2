"""Pairs of operators, one feeding the other: which there can be, and queries that cover them.

Two operators that are right alone can be wrong together, because one sends what the other does
not expect: a weight of two, a retraction and its insertion in one tick, a row that stays while
its weight changes. So the suite counts the pairs that its queries have, of those there can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count
from random import Random
from typing import TypeAlias

from deltaproof.conformance.generate import Growth, Shape, sample_tables, shape_of
from deltaproof.conformance.pools import with_killers
from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS, kinds_by_name
from deltaproof.reference.query import Apply, Query

Pair: TypeAlias = tuple[str, str]  # (the operator that feeds, the operator that is fed)

TRIES = 60  # at a pair, before it is said that no schemas allow it
TALLEST = 5  # operators in a tower
WIDEST = 6  # operators that are tried above one before its tower is left as it is
MOST_TOWERS = 12  # for one pair


def pairs_of(query: Query) -> frozenset[Pair]:
    """The pairs in a query.

    >>> from deltaproof.reference.query import table
    >>> pairs_of(table("t", "k BIGINT").distinct().negate())
    frozenset({('distinct', 'negate')})
    """
    return frozenset(
        (each.operator.name, node.operator.name)
        for node in query.nodes()
        if isinstance(node, Apply)
        for each in node.over
        if isinstance(each, Apply)
    )


@cache
def possible_pairs() -> frozenset[Pair]:
    """Every pair for which a query was found, in so many tries over random tables."""
    return frozenset(
        (below.name, above.name) for below in OPERATORS for above in OPERATORS if fits(below, above)
    )


def pairs_with(own: type[Operator]) -> frozenset[Pair]:
    """The pairs that an operator which is not ours can be in."""
    pairs = ((own, own), *((own, kind) for kind in OPERATORS), *((kind, own) for kind in OPERATORS))
    return frozenset((below.name, above.name) for below, above in pairs if fits(below, above))


def fits(below: type[Operator], above: type[Operator]) -> bool:
    random = Random(f"{below.name} {above.name}")
    for _ in range(TRIES):
        growth = Growth(random, sample_tables(random))
        query = growth.around((below, above), 2)
        if query is not None and (below.name, above.name) in pairs_of(query):
            return True
    return False


class PairShapes:
    """Shapes that cover the pairs not covered yet: towers of operators, each pair of them new.

    The same seed, and the same queries `used`, give the same shapes.
    """

    def __init__(self, seed: int, wanted: Iterable[Pair], values: str = "plain") -> None:
        self.seed = seed
        self.values = values
        self.waiting = dict.fromkeys(sorted(wanted))
        self.tried: dict[Pair, int] = {}

    def used(self, query: Query) -> None:
        """The pairs of this query are covered."""
        for pair in pairs_of(query):
            self.waiting.pop(pair, None)

    def __iter__(self) -> Iterator[Shape]:
        """One shape after the other, until every pair is covered or was tried too often.

        A pair waits until a query with it was `used`; one whose view hardly ever changes is not.
        """
        for number in count():
            random = Random(f"{self.seed}/pairs/{number}")
            first = next(iter(self.waiting), None)
            if first is None:
                return
            query = self.tower(random, first)
            self.tried[first] = self.tried.get(first, 0) + 1
            if self.tried[first] == MOST_TOWERS:
                del self.waiting[first]
            if query is not None:
                name = f"{self.seed}/pairs/{number}"
                special = random.random() < 0.25
                yield shape_of(random, query, special, name, with_killers(self.values, name))

    def tower(self, random: Random, first: Pair) -> Query | None:
        """A query with this pair, as tall as further new pairs make it."""
        growth, kinds = Growth(random, sample_tables(random)), kinds_by_name()
        query = growth.around([kinds[name] for name in first], 2)
        top = first[1]
        for _ in range(TALLEST - 2):
            names = [fed for feeds, fed in self.waiting if feeds == top]
            random.shuffle(names)
            for name in names[:WIDEST]:
                above = query and growth.over(query, kinds[name], 1)
                if above is not None:
                    query, top = above, name
                    break
        return query
