"""After `make bench`: the ratios that the benchmark is read by."""

from __future__ import annotations

from typing import Any

import pytest


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    session: Any = getattr(config, "_benchmarksession", None)
    if session is None or not session.benchmarks:
        return
    best = {
        (each.extra_info["query"], each.extra_info["way"], each.extra_info["rows"]): each["min"]
        for each in session.benchmarks
        if "way" in each.extra_info
    }
    terminalreporter.section("ratios, of the best rounds")
    recursion = {
        each.extra_info["recursion"]: each["min"] / each.extra_info["changes"]
        for each in session.benchmarks
        if "recursion" in each.extra_info
    }
    for line in [*ratios(best), *share_of_recursion(recursion)]:
        terminalreporter.write_line(line)


def share_of_recursion(seconds: dict[str, float]) -> list[str]:
    """What an edge costs beside the closure of its component (bench_recursion).

    >>> share_of_recursion({"change": 0.001, "anew": 0.1})
    ['an edge deleted and put back: 1.00 % of the closure of its component from nothing']
    """
    if seconds.keys() < {"change", "anew"}:
        return []
    share = f"{seconds['change'] / seconds['anew']:.2%}".replace("%", " %")
    return [f"an edge deleted and put back: {share} of the closure of its component from nothing"]


def ratios(best: dict[tuple[str, str, int], float]) -> list[str]:
    """One line per query and size: seconds by (query, way, rows) in, ratios out.

    >>> ratios({("sum", "runtime", 10): 2.0, ("sum", "by-hand", 10): 1.0})
    ['sum over 10 rows: 0.50 times the rows/s of the code by hand']
    """
    lines = []
    for (query, way, rows), seconds in sorted(best.items()):
        if way != "runtime":
            continue
        line = f"{query} over {rows:,} rows:"
        if hand := best.get((query, "by-hand", rows)):
            line += f" {hand / seconds:.2f} times the rows/s of the code by hand"
        if smaller := best.get((query, way, rows // 10)):
            line += f"; time per tick {seconds / smaller:.2f} times that of a tenth of the state"
            if hand and (less := best.get((query, "by-hand", rows // 10))):
                line += f" (by hand {hand / less:.2f})"
        lines.append(line)
    return lines
