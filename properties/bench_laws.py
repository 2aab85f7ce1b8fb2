"""A wrong operator is asked all its laws, and each counterexample made small, within five seconds.

`make bench` runs this under pytest-benchmark. The limit is of processor time, so that what else
the machine does is not counted.
"""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from deltaproof.properties.check import check_laws
from deltaproof.properties.wrong_operators import TWELVE

LIMIT_S = 5.0


@pytest.mark.parametrize("wrong", TWELVE)
def bench_wrong_operator_refuted(benchmark: BenchmarkFixture, wrong: str) -> None:
    operator, schemas = TWELVE[wrong]
    spent_s: list[float] = []

    def refute() -> None:
        start = time.process_time()
        assert not check_laws(operator, *schemas).ok
        spent_s.append(time.process_time() - start)

    benchmark.pedantic(refute, rounds=2)  # type: ignore[no-untyped-call]  # it has no types
    assert min(spent_s) < LIMIT_S
