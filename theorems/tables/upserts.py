"""A stream of upserts is a stream of changes: for its key, each takes back the old row and puts the
new one.

    set k v      -(rows of k) + (k, v)
    delete k     -(rows of k)

Commands say what a key has from now on, and not what it had; that is looked up in the table so
far. The sum of the changes is the map that the commands describe, at every moment.
"""

from __future__ import annotations

import z3

from deltaproof.reference.stream import integrate
from deltaproof.reference.zset import ZSet
from deltaproof.theorems.calculus.streams import TICK, integrate_after_differentiate
from deltaproof.theorems.kernel import (
    Case,
    Counterexample,
    Formula,
    Term,
    Thm,
    both,
    fresh_symbol,
    gen,
    induct,
    inst,
    prove_for_all,
    recursive,
    refute,
    unfold,
)
from deltaproof.theorems.operators.join import pairs_of
from deltaproof.theorems.registry import theorem
from deltaproof.theorems.replays import row
from deltaproof.theorems.tables.zsets import ZSets, any_zsets, if_then, streams_of

ONE = z3.IntVal(1)


class Upserts:
    """Maps from any keys to any values, and commands that change them."""

    def __init__(self) -> None:
        pairs = pairs_of(any_zsets("A"), any_zsets("B"))
        self.row, self.key, self.value = pairs.pair, pairs.left, pairs.right
        self.rows = rows = pairs.zsets
        self.keys, self.values = any_zsets("A").row, any_zsets("B").row
        self.k, self.v = z3.Const("k", self.keys), z3.Const("v", self.values)
        self.of_key = rows.comprehension(
            "rows of a key",
            [rows.sort, self.keys],
            lambda x, a, k: if_then(self.key(x) == k, rows.weight(a, x)),
            lambda a, k: rows.entries(a),
            [rows.no_weight_outside()],
        )
        lists = rows.lists
        self.one = rows.comprehension(
            "one row",
            [self.keys, self.values],
            lambda x, k, v: if_then(x == self.row(k, v), ONE),
            lambda k, v: lists.entry(self.row(k, v), ONE, lists.none),
            lists.has.equations,
        )
        self._commands()

    def set(self, a: Term, k: Term, v: Term) -> Term:
        """What the command changes in the table a."""
        return self.rows.group.sub(self.one(k, v), self.of_key(a, k))

    def delete(self, a: Term, k: Term) -> Term:
        return self.rows.neg(self.of_key(a, k))

    def _commands(self) -> None:
        """The latest command comes first."""
        declared = z3.Datatype("commands")
        declared.declare("none")
        declared.declare("set", ("k", self.keys), ("v", self.values), ("before", declared))
        declared.declare("delete", ("k of delete", self.keys), ("before delete", declared))
        self.sort = declared.create()
        add, zero = self.rows.add, self.rows.zero
        self.has = recursive(
            "has",
            self.sort,
            [self.keys, self.values],
            z3.BoolSort(),
            (
                lambda recur, k, v: z3.BoolVal(False),
                lambda recur, key, value, before, k, v: z3.If(
                    k == key, v == value, recur(before, k, v)
                ),
                lambda recur, key, before, k, v: z3.And(k != key, recur(before, k, v)),
            ),
        )
        self.table = recursive(
            "sum of changes",
            self.sort,
            [],
            self.rows.sort,
            (
                lambda recur: zero(),
                lambda recur, k, v, before: add(recur(before), self.set(recur(before), k, v)),
                lambda recur, k, before: add(recur(before), self.delete(recur(before), k)),
            ),
        )
        self.commands = z3.Const("commands", self.sort)

    def content(self, commands: Term, x: Term) -> Term:
        """1 for a row that the map of the commands has."""
        return if_then(self.has(commands, self.key(x), self.value(x)), ONE)

    def known(self) -> list[Thm]:
        """What single rows weigh."""
        return [*self.of_key.equations, *self.one.equations, *self.rows.weights]

    def current(self) -> Thm:
        """∀ commands x. x weighs 1 in the sum of changes if the map has it, else 0."""
        x, rows = self.rows.x, self.rows

        def claim(commands: Term) -> Formula:
            weight = rows.weight(self.table(commands), x)
            return weight == self.content(commands, x)

        def facts(case: Case) -> list[Thm]:
            has = self.has.unfold(case.term, self.key(x), self.value(x))
            return [has, self.table.unfold(case.term), *self.known()]

        return gen(induct("the map so far", self.sort, claim, (), facts), x)

    def unchanged(self) -> tuple[Thm, ...]:
        """Deleting a key that is not there, and setting what it has, change nothing."""
        rows, k, v, commands = self.rows, self.k, self.v, self.commands
        a, x = rows.a, z3.FreshConst(rows.row, "x")
        table, zero = self.table(commands), rows.zero()
        absent = z3.ForAll([x], z3.Implies(self.key(x) == k, rows.weight(a, x) == 0))
        current = inst_everywhere(self.current(), rows, commands)
        return (
            rows.equal(
                "delete of nothing", self.delete(a, k), zero, [a, k], self.known(), [absent]
            ),
            rows.equal(
                "set to the same",
                self.set(table, k, v),
                zero,
                [commands, k, v],
                [*self.known(), current, self.one_value()],
                [self.has(commands, k, v)],
            ),
        )

    def one_value(self) -> Thm:
        """∀ commands k v u. a key has one value."""
        k, v, u = self.k, self.v, z3.FreshConst(self.values, "u")

        def claim(commands: Term) -> Formula:
            two = z3.And(self.has(commands, k, v), self.has(commands, k, u))
            return z3.Implies(two, v == u)

        def facts(case: Case) -> list[Thm]:
            return [self.has.unfold(case.term, k, value) for value in (v, u)]

        single = induct("a key has one value", self.sort, claim, (), facts)
        return gen(inst(single, self.commands), self.commands, k, v, u)

    def elsewhere(self) -> Thm:
        """∀ a k v x. rows of other keys keep their weight."""
        rows, k, v = self.rows, self.k, self.v
        a, x = rows.a, rows.x
        changes = self.set(a, k, v), self.delete(a, k)
        goal = z3.And(*[rows.weight(change, x) == 0 for change in changes])
        name = "rows of other keys stay"
        return prove_for_all(name, [a, k, v, x], goal, self.known(), [self.key(x) != k])

    def over_time(self) -> Thm:
        """The integral of the changes is at every tick the map of the commands up to then."""
        rows, changes, x, t = self.rows, streams_of(self.rows), self.rows.x, z3.Const("t", TICK)
        log = fresh_symbol("commands up to", TICK, self.sort)
        view = changes.space.define("table", [], lambda tick: self.table(log(tick)))()
        now = changes.at(changes.I(changes.D(view)), t)
        known = [
            inst(integrate_after_differentiate(changes), view),
            *unfold([changes.space], changes.at(view, t)),
            inst_everywhere(self.current(), rows, log(t)),
        ]
        goal = rows.weight(now, x) == self.content(log(t), x)
        return prove_for_all("I(D(table)) is the map", [t, x], goal, known)


def inst_everywhere(current: Thm, rows: ZSets, commands: Term) -> Thm:
    """∀ x. of ∀ x. ∀ commands., at these commands."""
    x = z3.FreshConst(rows.row, "x")
    return gen(inst(inst(current, x), commands), x)


# ---------------------------------------------------------------- wrong variants


def weight_in(changes: list[ZSet], *values: int) -> int:
    """What the row with these values weighs in the end."""
    weight: int = integrate(changes)[-1][values]
    return weight


def upsert_as_insert() -> Counterexample:
    """The old row stays: the key has two values."""
    old, new, x = z3.Ints("old new x")

    def replay(old: int, new: int, x: int) -> tuple[int, int]:
        current = {7: old} | {7: new}
        return weight_in([row(1, 7, old), row(1, 7, new)], 7, x), int(current[7] == x)

    claim = if_then(x == old, ONE) + if_then(x == new, ONE) == if_then(x == new, ONE)
    return refute("set k v = +(k, v)", claim, show=[old, new, x], replay=replay)


def delete_of_the_named_value() -> Counterexample:
    """A retraction of the value that the command names, whether the key had it or not."""
    old, named, x = z3.Ints("old named x")

    def replay(old: int, named: int, x: int) -> tuple[int, int]:
        current = {7: old}
        current.pop(7)
        return weight_in([row(1, 7, old), -row(1, 7, named)], 7, x), int(current.get(7) == x)

    claim = if_then(x == old, ONE) - if_then(x == named, ONE) == 0
    return refute("delete k v = -(k, v)", claim, show=[old, named, x], replay=replay)


@theorem(
    statement="Σ of -(rows of k) + (k, v) is the map that the commands describe, at every tick",
    source="beyond the paper: upsert sources of Feldera and Materialize",
    wrong=(upsert_as_insert, delete_of_the_named_value),
)
def upsert_to_zset() -> Thm:
    """Any number of commands; no change for a delete of nothing, or where the value stays."""
    it = Upserts()
    return both("upserts", it.current(), *it.unchanged(), it.elsewhere(), it.over_time())
