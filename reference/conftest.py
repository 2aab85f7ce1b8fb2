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
    for line in ratios(best):
        terminalreporter.write_line(line)


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
