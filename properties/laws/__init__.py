"""An operator obeys the laws of its groups, without listing them.

    CATALOGUE        every law there is: whatever law stands in a file of this folder is in it
    laws_of          the laws of an operator, found from its declaration
    unclaimed_laws   those that it does not claim, but could

In the statements, z is delay, I integrate, D differentiate, Q an operator (at every tick),
and Q^D its incremental form. a, b are Z-sets, s, r streams, n, m numbers; s[<t] is the
stream before tick t, s[<=t] with it; ticks count from 0. The docstring of a law is its "why".
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from types import ModuleType

from deltaproof.properties.law import (
    GROUPS,
    Equation,
    Law,
    Subject,
    groups_of,
    inherited,
    is_one_of_ours,
    law,
    subject_of,
)
from deltaproof.properties.laws import (
    claims,
    data,
    groups,
    joins,
    loops,
    operators,
    ordered,
    queries,
    rowwise,
    sets,
    shapes,
    streams,
    ticks,
)
from deltaproof.properties.laws.instances import often_met
from deltaproof.reference.errors import UsageError
from deltaproof.reference.operator import Operator

__all__ = ["CATALOGUE", "Equation", "Law", "Subject", "law", "laws_of", "subject_of"]


def written_in(module: ModuleType) -> tuple[Law, ...]:
    """The laws that stand in a file, in its order."""
    return tuple(each for each in vars(module).values() if isinstance(each, Law))


EVERY_OPERATOR = (operators, ticks, loops, shapes, claims)
ONE_OPERATOR = (rowwise, sets, joins, groups, ordered, streams)
MODULES = (data, *EVERY_OPERATOR, *ONE_OPERATOR, queries)
CATALOGUE: tuple[Law, ...] = tuple(each for module in MODULES for each in written_in(module))


def laws_of(declared: Operator | type[Operator] | Subject) -> tuple[Law, ...]:
    """The laws that this must obey, by what it declares: its shape, its claims, its own `laws`.

    Of a kind of operator these are the laws of all its instances, less those whose premises hardly
    one of them meets; an instance has those whose premises it meets. An operator may carry laws
    of its own as a tuple `laws`.

    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> from deltaproof.reference.operators.join import Join
    >>> [each.name for each in laws_of(Distinct) if each.of == "distinct"]
    ['distinct_is_a_set', 'distinct_merges']
    >>> [each.name for each in laws_of(Join) if each.of == "bilinear"][:2]
    ['operator_left_additive', 'operator_right_additive']
    """
    groups = groups_of(declared) if isinstance(declared, Subject) else possible_groups(declared)
    operator = declared.operator if isinstance(declared, Subject) else declared
    own: tuple[Law, ...] = getattr(operator, "laws", ())
    if operator is not None:
        check_claims(operator, own)
    laws = tuple(each for each in CATALOGUE if each.of in groups) + own
    if isinstance(declared, Subject):
        return tuple(each for each in laws if each.fits(declared))
    kind = declared if isinstance(declared, type) else type(declared)
    return tuple(law for law in laws if all(often_met(each, kind) for each in law.premises))


def check_claims(declared: Operator | type[Operator], own: Sequence[Law]) -> None:
    """Raises UsageError for a claim that has no laws: it would be believed, and never tested."""
    known = {*GROUPS, *(each.of for each in own)}
    for name in declared.claimed:
        if name not in known:
            near = difflib.get_close_matches(name, known) or sorted(known)
            raise UsageError(
                f"{declared.name} claims {name!r}, of which there is no law: "
                f"did you mean {' or '.join(near)}?"
            )


def unclaimed_laws(q: Subject) -> tuple[Law, ...]:
    """The laws of the groups that it could be in and does not claim."""
    claimed = {each for name in groups_of(q) for each in inherited(name)}
    groups = {name for name, each in GROUPS.items() if each.claimable and name not in claimed}
    if q.over_time is not None:
        groups -= {"linear", "bilinear"}
    return tuple(each for each in CATALOGUE if each.of in groups and each.fits(q))


def possible_groups(declared: Operator | type[Operator]) -> frozenset[str]:
    """The groups that an operator, or some operator of a kind, may be in."""
    kind = declared if isinstance(declared, type) else type(declared)
    said = {*declared.claimed, declared.shape.value, "query"}
    if is_one_of_ours(kind):
        said.add(declared.name)
    if over_time(declared):
        said |= {"over_time", f"{declared.shape.value}_over_time"}
    said |= {name for name, group in GROUPS.items() if not group.claimable}
    names = {each for name in said for each in inherited(name)}
    return frozenset(names if over_time(declared) else names - {"over_time"})


def never_lifted(declared: Operator | type[Operator]) -> bool:
    """Whether it has no meaning at a tick alone, whatever its arguments."""
    return declared.lifted is False


def over_time(declared: Operator | type[Operator]) -> bool:
    """Whether it, or some operator of this kind, depends on earlier ticks."""
    kind = declared if isinstance(declared, type) else type(declared)
    return kind.over_time is not Operator.over_time
