"""The examples in the docstrings of this folder are true."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = (
    *("law", "laws", "laws.instances", "laws.words", "laws.groups", "laws.ordered"),
    *("show", "killers", "decode", "strategies", "draw", "reduce"),
    *("verdict", "check", "law_json", "lawfile", "asserts"),
)


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"deltaproof.properties.{module}"))
    assert results.attempted
    assert not results.failed
