"""The examples in the docstrings of this folder are true."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["law", "laws", "laws.words", "show", "strategies", "check"])
def test_examples_run(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"deltaproof.properties.{module}"))
    assert results.attempted
    assert not results.failed
