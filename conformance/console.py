"""What every command says to a terminal and to the shell."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from deltaproof.reference.errors import UsageError

PASS, NONCONFORMANT, UNKNOWN, USAGE, BROKEN = 0, 1, 2, 4, 5


def writable(folder: Path, option: str = "--out") -> None:
    """Raises UsageError now, not after a long run, when nothing could be saved there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".write").touch()
        (folder / ".write").unlink()
    except OSError as error:
        raise UsageError(
            f"{option} {folder}: {error.strerror}: name a folder to write to"
        ) from None


def say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


class progress_bar:  # a context manager, read as a verb
    """Progress on standard error while something takes longer than two seconds."""

    def __enter__(self) -> Any:
        self.console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=self.console, transient=True)
        self.task = self.progress.add_task("starting", total=None)
        self.progress.start()
        return self.update

    def update(self, text: str, done: int, total: int) -> None:
        self.progress.update(self.task, description=text, completed=done, total=total or None)

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()
