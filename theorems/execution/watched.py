"""What stands for an integer is treated as one: somebody's code does the same steps with both.

A `ForkedInt` notes what is asked of its worth. Code may also ask what it is (`isinstance(w, int)`,
`try: w.bit_length()`), and then does on symbolic weights what it never does on integers. So the
instructions that a run executes are written down: they must be those of the run on integers that
take the same path. Only code that is not ours is watched.

Not seen: a look at the type of a weight that changes no step, such as `TABLE[type(w)]`.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = list[tuple[str, int, int]]  # the function, where it starts, the instruction

OURS = ("deltaproof.reference.", "deltaproof.theorems.", "deltaproof.properties.law")
LIBRARY = sysconfig.get_path("stdlib")


def is_own(frame: FrameType) -> bool:
    """Whether this frame runs somebody's own code: not ours, and not Python's library."""
    name, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
    if name.startswith(OURS) and ".test_" not in name and not file.startswith("<doctest"):
        return False
    return "site-packages" in file or not file.startswith((LIBRARY, "<frozen "))


def watched(run: Callable[[], T]) -> tuple[T, Steps]:
    """What the run returns, and the instructions of somebody's own code that it executed.

    >>> def sign(weight):
    ...     return 1 if weight > 0 else -1
    >>> (_, above), (_, below) = watched(lambda: sign(7)), watched(lambda: sign(-7))
    >>> above == below, above == watched(lambda: sign(1))[1]
    (False, True)
    """
    steps: Steps = []

    def instruction(frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode":
            code = frame.f_code
            steps.append((code.co_qualname, code.co_firstlineno, frame.f_lasti))
        return instruction

    def call(frame: FrameType, event: str, _: Any) -> Any:
        if not is_own(frame):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return instruction

    before, collecting = sys.gettrace(), gc.isenabled()
    gc.disable()  # what it calls back comes at any step
    sys.settrace(call)
    try:
        return run(), steps
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()
