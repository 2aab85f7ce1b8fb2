"""Every example in a docstring and in the README runs, and prints what it says.

The modules are imported by their one name. Collected by folder, `reference.zset` would load beside
`deltaproof.reference.zset`, with a second ZSet class that equals nothing of the first.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDERS = ("reference", "properties", "theorems", "spark_backend", "conformance")
README = Path(__file__).resolve().parent.parent / "README.md"


def modules() -> Iterator[str]:
    for folder in FOLDERS:
        package = importlib.import_module(f"deltaproof.{folder}")
        yield package.__name__
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.rpartition(".")[2].startswith(("test_", "bench_", "conftest")):
                yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_the_examples_run_of(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.skipif(not README.exists(), reason="this is an installed copy, not the repository")
def test_the_examples_run_of_the_readme() -> None:
    assert doctest.testfile(str(README), module_relative=False).failed == 0
