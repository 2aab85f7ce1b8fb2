"""Every slip in print is a wrong variant of the theorem that corrects it."""

from __future__ import annotations

import pytest

from deltaproof.theorems.errata import ERRATA, Erratum
from deltaproof.theorems.library import THEOREMS

CATALOGUE = {each.name: each for each in THEOREMS}


@pytest.mark.parametrize("slip", ERRATA, ids=lambda slip: slip.theorem)
def test_what_is_printed_is_refuted_beside_what_holds(slip: Erratum) -> None:
    assert slip.refuted in CATALOGUE[slip.theorem].wrong
    assert slip.refuted().replay


def test_all_eight_are_here() -> None:
    assert len(ERRATA) == 8
    assert len({slip.place for slip in ERRATA}) == 8
