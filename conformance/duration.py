"""A duration on the command line: 60s, 5m, 2h, or a plain number of seconds."""

from __future__ import annotations

import re
from typing import Any

import click

FOREVER = float("inf")


class Duration(click.ParamType[float]):
    """Seconds; with `off` also the word "off", for `FOREVER`.

    >>> Duration().convert("5m", None, None), Duration(off=True).convert("off", None, None)
    (300.0, inf)
    """

    name = "duration"

    def __init__(self, off: bool = False) -> None:
        self.off = off

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, float):
            return value
        if self.off and value == "off":
            return FOREVER
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        if match is None:
            also = ", nor off" if self.off else ""
            self.fail(f"{value!r} is not a duration like 60s, 5m or 2h{also}", param, ctx)
        seconds = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
        if not seconds:
            self.fail("a run of no time at all says nothing", param, ctx)
        return seconds
