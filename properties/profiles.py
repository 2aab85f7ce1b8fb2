"""Hypothesis repeats itself in CI, looks for new things at a desk, and has profiles for both.

    deltaproof-ci      the same cases on every machine; nothing is written, nothing has a deadline
    deltaproof-dev     new cases at every run; what failed is tried again first
    deltaproof-deep    as in CI, twenty times as long; prints how to reproduce a failure

    pytest --hypothesis-profile=deltaproof-deep
    HYPOTHESIS_PROFILE=deltaproof-deep pytest

Importing this file registers them, and changes nothing else. deltaproof's pytest plugin does so
before Hypothesis looks for the profile that it was asked for.
"""

from __future__ import annotations

import os

from hypothesis import Phase, settings

CI, DEV, DEEP = PROFILES = ("deltaproof-ci", "deltaproof-dev", "deltaproof-deep")
VARIABLE = "HYPOTHESIS_PROFILE"
EXAMPLES = 50
DEEPER = 20
PHASES = set(Phase) - {Phase.explain}  # bytes explain nothing, and explaining takes as long

settings.register_profile(
    CI,
    settings.get_profile("default"),
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=EXAMPLES,
    phases=PHASES,
)
settings.register_profile(
    DEV,
    settings.get_profile("default"),
    derandomize=False,
    deadline=None,
    max_examples=EXAMPLES,
    phases=PHASES,
)
settings.register_profile(
    DEEP, settings.get_profile(CI), max_examples=DEEPER * EXAMPLES, print_blob=True
)


def load(default: str = CI) -> str:
    """The profile that the environment names becomes the current one; its name.

    >>> before = settings.get_current_profile_name()
    >>> load(DEEP) in (DEEP, os.environ.get(VARIABLE))
    True
    >>> settings.load_profile(before)
    """
    name = os.environ.get(VARIABLE) or default
    settings.load_profile(name)
    return name
