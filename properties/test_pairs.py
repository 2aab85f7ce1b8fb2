"""Every law is run for every operator that it fits, and what is run never becomes less.

The count is printed in the summary of the tests.
"""

from __future__ import annotations

from deltaproof.properties.laws import CATALOGUE, laws_of
from deltaproof.properties.test_laws import LAWS_OF_DATA, LAWS_OF_OPERATORS
from deltaproof.reference.operators import OPERATORS

# Raise it to the count whenever there is a new law, operator or claim: `pytest properties` prints
# the count. It goes down only with the law, operator or claim that is taken away.
FLOOR = 1202


def test_as_many_pairs_of_law_and_operator_are_run_as_ever() -> None:
    assert len({(kind.name, law.name) for kind, law in LAWS_OF_OPERATORS}) >= FLOOR


def test_every_law_that_an_operator_must_obey_is_run() -> None:
    run = {(kind, law.name) for kind, law in LAWS_OF_OPERATORS}
    assert run == {(kind, law.name) for kind in OPERATORS for law in laws_of(kind)}
    assert {law.name for law in CATALOGUE} == {law.name for law in LAWS_OF_DATA} | {
        name for _, name in run
    }
