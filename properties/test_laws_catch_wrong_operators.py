"""Every law refutes something: for each law in the catalogue there is a wrong one.

WRONG   the name of a law → what is wrong, and how the law says so; see `wrong`
"""

from __future__ import annotations

from typing import Any

import pytest

from deltaproof.properties.check import Counterexample, LawViolation, check_law
from deltaproof.properties.law import Law, Subject
from deltaproof.properties.laws import CATALOGUE
from deltaproof.properties.wrong import WRONG_DATA, WRONG_MEANINGS, Wrong
from deltaproof.properties.wrong_by_name import WRONG_BY_NAME
from deltaproof.properties.wrong_increments import WRONG_CIRCUITS, WRONG_INCREMENTS
from deltaproof.reference.zset import ZSet

WRONG: dict[str, Wrong] = {
    **WRONG_DATA,
    **WRONG_MEANINGS,
    **WRONG_INCREMENTS,
    **WRONG_CIRCUITS,
    **WRONG_BY_NAME,
}


def entries(value: Any) -> int:
    """How many rows with a weight there are in Z-sets, streams and ticks."""
    if isinstance(value, ZSet):
        return len(value)
    if isinstance(value, dict):
        return entries(list(value.values()))
    return sum(map(entries, value)) if isinstance(value, list | tuple) else 0


def refutation(law: Law, patch: pytest.MonkeyPatch) -> Counterexample:
    """The smallest counterexample that the law finds to what is wrong."""
    wrong = WRONG[law.name]
    if wrong.replaces:
        patch.setattr(*wrong.replaces)
    verdict = check_law(law, wrong.about, examples=200)
    patch.undo()
    assert verdict.status == "refuted"
    with pytest.raises(LawViolation) as raised:
        verdict.check()
    return raised.value.counterexample


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_every_law_refutes_what_is_wrong_and_says_why(
    law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    counterexample = refutation(law, monkeypatch)
    message = str(counterexample)
    assert message.startswith(f"{law.name} does not hold")
    assert WRONG[law.name].says in message
    assert law.why in message
    assert law.source in message
    data = [value for _, value in counterexample.inputs if not isinstance(value, Subject)]
    assert sum(map(entries, data)) <= 3
