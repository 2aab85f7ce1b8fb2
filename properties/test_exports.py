"""What `deltaproof.properties` offers is there, and costs nothing before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deltaproof import properties


def test_every_name_is_there() -> None:
    missing = [name for name in properties.__all__ if not hasattr(properties, name)]
    assert missing == []


def test_a_name_is_the_thing_itself() -> None:
    from deltaproof.properties.strategies import zsets

    assert properties.zsets is zsets


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'zset': see its __all__"):
        properties.zset  # read because it must raise


def test_laws_are_read_without_hypothesis() -> None:
    reads = (
        "import sys; from deltaproof.properties import CATALOGUE, Law; "
        "sys.exit('hypothesis' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", reads], check=False).returncode == 0
