"""The test runner's summary is the last thing printed.

At interpreter exit DuckDB's binding reports, on standard error, every object that somebody
still holds (Hypothesis keeps what it has seen of the modules under test); nothing else is
written there so late.
"""

from __future__ import annotations

import atexit
import os


def pytest_unconfigure() -> None:
    atexit.register(silence_standard_error)


def silence_standard_error() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
