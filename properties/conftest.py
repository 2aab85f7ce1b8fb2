"""Hypothesis here repeats itself: the same code gives the same verdicts on every machine.

HYPOTHESIS_PROFILE=deep looks twenty times as long.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, database=None, deadline=None, max_examples=50)
settings.register_profile("deep", settings.get_profile("ci"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
