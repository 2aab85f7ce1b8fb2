"""After `make bench`: the ratios that the benchmark is read by."""

from __future__ import annotations

from itertools import pairwise
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
        if "way" in each.extra_info and "claim" not in each.extra_info
    }
    work: dict[tuple[str, str], dict[int, float]] = {}
    for each in session.benchmarks:
        if "claim" in each.extra_info:
            info = each.extra_info
            times = work.setdefault((info["query"], info["claim"]), {})
            times[info["rows"]] = each["min"] / info["ticks"]
    terminalreporter.section("ratios, of the best rounds")
    recursion = {
        each.extra_info["recursion"]: each["min"] / each.extra_info["changes"]
        for each in session.benchmarks
        if "recursion" in each.extra_info
    }
    for line in [*ratios(best), *share_of_recursion(recursion), *work_lines(work)]:
        terminalreporter.write_line(line)


def work_lines(seconds: dict[tuple[str, str], dict[int, float]]) -> list[str]:
    """One line per operator: its claim, time per tick, and the ratio at each tenfold of the state.

    >>> for line in work_lines({("filter", "hash: 1.3"): {10: 0.001, 100: 0.001, 1000: 0.002}}):
    ...     print(line)
    filter                                 hash: 1.3       1.000 ms   1.00   2.00   NOT MET
    """
    lines = []
    for (query, claim), by_rows in seconds.items():
        times = [by_rows[rows] for rows in sorted(by_rows)]
        ratios = [after / before for before, after in pairwise(times)]
        most = float(claim.partition(": ")[2] or "inf")
        met = "" if max(ratios, default=0) <= most else "   NOT MET"
        shown = "".join(f"{ratio:7.2f}" for ratio in ratios)
        lines.append(f"{query:38} {claim:12} {1_000 * times[0]:8.3f} ms{shown}{met}")
    return lines


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
