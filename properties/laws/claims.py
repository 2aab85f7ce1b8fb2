"""What an operator may claim beyond its shape: each claim is a group, and has its laws here.

    strict          idempotent       generic      values mean nothing but which are equal
    positive        commutative      by_name      columns mean nothing but their names
    set_valued      duplicate_free   partitioned  the whole is the sum of its parts
    monotone        scales

Who may claim what is in `law.GROUPS`. A planner, a sharded engine or a cache builds on these.
"""

from __future__ import annotations

from deltaproof.properties.law import (
    LIFTED,
    Bags,
    Equation,
    Premise,
    Size,
    Streams,
    Subject,
    Tick,
    ZSets,
    law,
)
from deltaproof.properties.laws.words import (
    above_zero,
    distinct,
    least,
    parts,
    permuted,
    plus,
    renamed,
    spliced,
    stream_parts,
    total,
    unpermuted,
)
from deltaproof.reference.operator import Shape
from deltaproof.reference.stream import lift

GENERAL = Shape.GENERAL
LINEAR_IN_EACH = Premise("Q is linear, or linear in each input", lambda q: q.shape is not GENERAL)


@law(
    "strict",
    "Q(s)[<=t] = Q(s[<t], then r)[<=t]",
    source="DBSP (VLDB 2023) definition 2.8; Lean: strict",
)
def operator_strict(q: Subject, s: Streams, r: Streams, t: Tick) -> Equation:
    """Today's output needs no input of today, so a loop through it has one solution."""
    other = tuple(spliced(ours, theirs, t) for ours, theirs in zip(s, r, strict=True))
    return Equation(q.contents(*s)[: t + 1], q.contents(*other)[: t + 1])


@law(
    "positive",
    "Q(a) above zero = Q(a) over tables",
    source="DBSP (VLDB 2023) definition 4.1; Lean: positive",
)
def operator_positive(q: Subject, a: Bags) -> Equation:
    """Out of tables comes a table: an engine that cannot hold negative weights can hold it."""
    rows = q.meaning(*a)
    return Equation(above_zero(rows), rows)


@law(
    "positive",
    "distinct(Q(distinct(a))) = distinct(Q(a)) over tables",
    source="DBSP (VLDB 2023) proposition 4.5, for all that is positive and linear; Lean: *_dedup",
    provided=LINEAR_IN_EACH,
)
def operator_under_distinct(q: Subject, a: Bags) -> Equation:
    """A DISTINCT below another one may be dropped, whatever positive linear chain is between."""
    return Equation(distinct(q.meaning(*map(distinct, a))), distinct(q.meaning(*a)))


@law(
    "set_valued",
    "distinct(Q(a)) = Q(a) over tables",
    source="DBSP (VLDB 2023) definition 4.2; Lean: is_set",
)
def operator_makes_sets(q: Subject, a: Bags) -> Equation:
    """A DISTINCT above it may be dropped."""
    rows = q.meaning(*a)
    return Equation(distinct(rows), rows)


@law(
    "monotone",
    "the lesser of Q(a) and Q(a + b) = Q(a) over tables",
    source="beyond the paper: CALM (Hellerstein & Alvaro 2020): monotone means coordination-free",
)
def operator_monotone(q: Subject, a: Bags, b: Bags) -> Equation:
    """What was answered is never taken back while rows only arrive: no need to wait for all."""
    before, grown = q.meaning(*a), q.meaning(*map(plus, a, b))
    return Equation(least(before, grown), before)


@law("idempotent", "Q(Q(a)) = Q(a)", source="DBSP (VLDB 2023) definition 4.3; Lean: distinct_idem")
def operator_idempotent(q: Subject, a: ZSets) -> Equation:
    """All but the last of a chain of them may be dropped; it may be pushed down and kept."""
    once = q.meaning(*a)
    return Equation(q.meaning(once), once)


@law("commutative", "Q(a, b) = Q(b, a)", source="DBSP (VLDB 2023) table 1")
def operator_commutes(q: Subject, a: ZSets) -> Equation:
    """The planner may choose which side comes first."""
    left, right = a
    return Equation(q.meaning(left, right), q.meaning(right, left))


@law("duplicate_free", "Q(n a) = Q(a), n > 0", source="DBSP (VLDB 2023) definition 4.3")
def operator_ignores_size(q: Subject, a: ZSets, n: Size) -> Equation:
    """How often a row is there does not matter, only that it is."""
    return Equation(q.meaning(*[each.scale(n) for each in a]), q.meaning(*a))


@law(
    "duplicate_free",
    "Q(distinct(a)) = Q(a) over tables",
    source="DBSP (VLDB 2023) proposition 4.5; Lean: map_distinct_dedup",
)
def operator_sees_through_distinct(q: Subject, a: Bags) -> Equation:
    """A DISTINCT below it may be dropped."""
    return Equation(q.meaning(*map(distinct, a)), q.meaning(*a))


@law("scales", "Q(n a) = n Q(a), n > 0", source="beyond the paper: positive homogeneity")
def operator_scales(q: Subject, a: ZSets, n: Size) -> Equation:
    """A table that is there three times gives each row of the view three times."""
    return Equation(q.meaning(*[each.scale(n) for each in a]), q.meaning(*a).scale(n))


@law(
    "generic",
    "Q(f(a)) = f(Q(a)), f one-to-one on values",
    source="beyond the paper: genericity (Chandra & Harel 1980)",
)
def operator_renames(q: Subject, a: ZSets) -> Equation:
    """Keys may be encoded, hashed without loss or interned: only which are equal matters."""
    return Equation(q.meaning(*map(renamed, a)), renamed(q.meaning(*a)))


@law(
    "by_name",
    "Q(a, columns turned) = Q(a), columns turned",
    source="beyond the paper: a relation's columns are a set of names (Codd 1970)",
)
def operator_permutes_columns(q: Subject, a: ZSets) -> Equation:
    """A table may be altered to hold its columns in another order."""
    turned, rows = permuted(q, a)
    return Equation(unpermuted(q, turned, turned.meaning(*rows)), q.meaning(*a))


@law(
    "partitioned",
    "sum of Q(part of a) = Q(a)",
    source="beyond the paper: data parallelism by key, Lean: none",
    provided=LIFTED,
)
def operator_partitions(q: Subject, a: ZSets, n: Size) -> Equation:
    """Shards may be worked on apart, and their answers put together."""
    return Equation(total([q.meaning(*part) for part in parts(q, a, n)]), q.meaning(*a))


@law(
    "partitioned",
    "sum of Q^D(part of s) = Q^D(s)",
    source="beyond the paper: data parallelism by key, Lean: none",
)
def increment_partitions(q: Subject, s: Streams, n: Size) -> Equation:
    """Workers that each keep one shard keep the whole view together, at every tick."""
    outputs = [q.outputs(*part) for part in stream_parts(q, s, n)]
    return Equation(lift(lambda *deltas: total(deltas))(*outputs), q.outputs(*s))
