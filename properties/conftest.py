"""Hypothesis here repeats itself: the same code gives the same verdicts on every machine.

HYPOTHESIS_PROFILE=deltaproof-deep looks twenty times as long. After the tests: how many pairs of
law and operator hold. After `make bench`: the cases per second that Hypothesis draws and judges.
"""

from __future__ import annotations

from typing import Any

import pytest

from deltaproof.properties import profiles


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile", None):  # else Hypothesis has loaded that one
        profiles.load()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    passed = [report.nodeid for report in terminalreporter.getreports("passed")]
    if pairs := sum("::test_operators_obey[" in each for each in passed):
        terminalreporter.section("laws")
        terminalreporter.write_line(f"{pairs} pairs of law and operator hold")
    session: Any = getattr(config, "_benchmarksession", None)
    lanes = {
        each.extra_info["lane"]: each.extra_info["cases"] / each["min"]
        for each in getattr(session, "benchmarks", ())
        if "lane" in each.extra_info
    }
    if lanes:
        terminalreporter.section("cases per second with Hypothesis, of the best rounds")
        for line in lane_lines(lanes):
            terminalreporter.write_line(line)


WANTED = 500  # cases drawn and judged per second


def lane_lines(rates: dict[str, float]) -> list[str]:
    """A line per lane: its rate, and whether it is enough; of nested lists, the ratio.

    >>> for line in lane_lines({"judged: a": 400.0, "drawn: flat": 900.0, "drawn: nested": 300.0}):
    ...     print(line)
    judged: a                                            400/s   NOT MET: expected 500
    drawn: flat                                          900/s   3.0 times nested lists
    drawn: nested                                        300/s
    """
    lines = []
    for name, rate in rates.items():
        nested = rates.get(f"{name.partition(': ')[0]}: nested", 0.0)
        also = ""
        if name.startswith("judged") and rate < WANTED:
            also = f"   NOT MET: expected {WANTED}"
        elif name.endswith(": flat") and nested:
            also = f"   {rate / nested:.1f} times nested lists"
        lines.append(f"{name:48} {rate:7,.0f}/s{also}")
    return lines
