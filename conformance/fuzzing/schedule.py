"""What to try next: first each place until its cells are reached, the least tried first; then any.

In what comes by chance the operator is alone in half of the queries, where nothing hides what it
does, and otherwise below and above what has fitted. Of a few draws the one is taken whose form
of the operator, such as one of many aggregates, has been seen least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from deltaproof.conformance.fuzzing.ground import ALONE, TRIES, Place, Target
from deltaproof.conformance.fuzzing.tally import Cell, Tally
from deltaproof.conformance.histories import KINDS
from deltaproof.reference.query import Query

MOST_ATTEMPTS = 12  # shapes at a place whose cells are not all reached, before it waits for chance
ALONE_SHARE, PAIR_SHARE = 0.6, 0.3  # of the random shapes; the others are towers
TALLEST = 4  # operators in a tower
DRAWS = 3  # of a random shape, when the operator has several forms


class Schedule:
    """The places that wait, and what has fitted."""

    def __init__(self, target: Target, places: Iterable[Place], tally: Tally) -> None:
        self.target = target
        self.tally = tally
        self.waiting = dict.fromkeys(places, 0)  # how often each was tried
        self.several_forms = len(target.kind.all_capabilities()) > 1

    def next_place(self) -> Place | None:
        """The place to cover next: the one that was tried least; None when chance decides."""
        return min(self.waiting, key=self.waiting.__getitem__) if self.waiting else None

    def attempted(self, place: Place, reached: set[Cell]) -> None:
        """Counts the attempt; a place that is covered, or was tried too often, waits no more."""
        self.waiting[place] += 1
        vain = self.tally.vain[place]
        unfit = place not in self.tally.fits and vain >= TRIES
        given_up = self.waiting[place] >= min(MOST_ATTEMPTS + vain, 2 * TRIES)
        if unfit or given_up or all((place, kind) in reached for kind in KINDS):
            del self.waiting[place]

    def names(self, random: Random, place: Place | None) -> list[str]:
        """The operators to put one above the other, inputs first."""
        return self.anything(random) if place is None else self.around(random, place)

    def draws(self, place: Place | None) -> int:
        """How many queries to choose from."""
        return DRAWS if place is None and self.several_forms else 1

    def around(self, random: Random, place: Place) -> list[str]:
        """Those of the place; at first with one more, so that one case reaches two places."""
        below, above = place
        names = [name for name in place if name != ALONE]
        if below == ALONE or self.waiting[place]:
            return names
        mine = self.target.name
        if above == mine:
            others = [fed for feeds, fed in self.waiting if feeds == mine]
            return [*names, random.choice(others)] if others else names
        others = [feeds for feeds, fed in self.waiting if fed == mine and feeds != ALONE]
        return [random.choice(others), *names] if others else names

    def anything(self, random: Random) -> list[str]:
        """The target alone, in a pair, or in a tower of what has fitted."""
        mine = self.target.name
        below = sorted(feeds for feeds, fed in self.tally.fits if fed == mine and feeds != ALONE)
        above = sorted(fed for feeds, fed in self.tally.fits if feeds == mine)
        drawn = random.random()
        if drawn < ALONE_SHARE or not (below or above):
            return [mine]
        if drawn < ALONE_SHARE + PAIR_SHARE:
            pairs = [[name, mine] for name in below] + [[mine, name] for name in above]
            return random.choice(pairs)
        names = [mine]
        for _ in range(random.randint(2, TALLEST - 1)):
            if below and (random.random() < 0.5 or not above):
                names.insert(0, random.choice(below))
            else:
                names.append(random.choice(above))
        return names

    def seen(self, query: Query) -> int:
        """How many cases there were of the rarest form of the operator in this query."""
        return min((self.tally.forms[name] for name in self.forms(query)), default=0)

    def forms(self, query: Query) -> Sequence[str]:
        """The capabilities of the operator as it is in this query."""
        return [
            name
            for each in query.operators()
            if each.name == self.target.name
            for name in each.capabilities()
        ]
