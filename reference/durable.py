"""A tick that was committed is in the file, whole, whatever happens to the process.

    Circuit(views)                                 the state is in memory, and gone with the process
    Circuit(views, store="sqlite:///views.db")     the state is in one SQLite file as well

The file holds a snapshot of the state and the ticks since: one transaction per tick, in WAL mode,
synced before the tick counts. Opening it reads the snapshot and applies the ticks after it. When
the ticks in the file have grown as large as the snapshot, a new snapshot takes the place of both,
in the transaction of the tick that made them so: what a tick writes is, over time, in proportion
to its changes.

The state itself is in memory too: the file is what survives, not what makes room.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from deltaproof.reference.errors import CheckpointError, TickError, UsageError

VERSION = 1
APPLICATION_ID = 0xDE17A  # in the header of our files, so that no other database is taken for one
SMALLEST_SNAPSHOT = 1_000_000  # characters: below it, to apply the ticks again is as quick
BUSY_TIMEOUT_MS = 5_000  # how long to wait for another process that writes

Words = dict[str, Any]  # Z-sets by table or view, as JSON can hold them


@dataclass(frozen=True)
class Saved:
    """What a file holds: a checkpoint, or none yet, and the (number, deltas) of the ticks since."""

    checkpoint: str | None
    ticks: tuple[tuple[int, Words], ...]


class Store(Protocol):
    """Where a circuit's ticks are kept."""

    def load(self, views: Callable[[], str]) -> Saved:
        """What was kept for these views. Raises CheckpointError when it is of other views."""

    def append(
        self, tick: int, deltas: Words, outputs: Words, checkpoint: Callable[[], str]
    ) -> None:
        """Keeps a tick. Raises TickError, and keeps nothing, when it cannot.

        `checkpoint` gives the state before this tick, for when a snapshot is due.
        """

    def outputs_of(self, tick: int) -> Words | None:
        """The outputs of a tick, where they are still kept: those of the last one are."""

    def clear(self) -> None:
        """Back to before the first tick."""

    def close(self) -> None: ...


class MemoryStore:
    """Keeps nothing beyond the process."""

    def load(self, views: Callable[[], str]) -> Saved:
        return Saved(None, ())

    def append(
        self, tick: int, deltas: Words, outputs: Words, checkpoint: Callable[[], str]
    ) -> None: ...

    def outputs_of(self, tick: int) -> Words | None:
        return None

    def clear(self) -> None: ...
    def close(self) -> None: ...


class SqliteStore:
    """One SQLite file: `snapshot` has one row, `ticks` one per tick since.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SqliteStore(Path(folder) / "views.db")
    ...     _ = store.load(lambda: "{}")
    ...     store.append(1, {"t": [[[7], 1]]}, {"view": []}, lambda: "")
    ...     store.close()
    ...     SqliteStore(Path(folder) / "views.db").load(lambda: "{}").ticks
    ((1, {'t': [[[7], 1]]}),)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.errors("open"):
            self.connection = sqlite3.connect(
                path, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1_000
            )
        with self.errors("open"):
            self.claim()
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = FULL")
            with self.transaction():
                self.connection.execute(
                    "CREATE TABLE IF NOT EXISTS snapshot "
                    "(version INTEGER, views TEXT, tick INTEGER, checkpoint TEXT)"
                )
                self.connection.execute(
                    "CREATE TABLE IF NOT EXISTS ticks "
                    "(number INTEGER PRIMARY KEY, deltas TEXT, outputs TEXT)"
                )

    def claim(self) -> None:
        """Makes an empty file ours. Raises CheckpointError for a database of something else."""
        ((tables,),) = self.connection.execute("SELECT COUNT(*) FROM sqlite_master")
        ((owner,),) = self.connection.execute("PRAGMA application_id")
        if tables and owner != APPLICATION_ID:
            raise CheckpointError(
                f"{self.path} is an SQLite database, but not of a circuit: name another file"
            )
        self.connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def load(self, views: Callable[[], str]) -> Saved:
        with self.errors("read"), self.transaction():
            row = self.connection.execute(
                "SELECT version, views, tick, checkpoint FROM snapshot"
            ).fetchone()
            if row is None:
                row = (VERSION, views(), 0, None)
                self.connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?)", row)
            ticks = self.connection.execute(
                "SELECT number, deltas FROM ticks ORDER BY number"
            ).fetchall()
        version, kept, tick, checkpoint = row
        if version != VERSION:
            raise CheckpointError(f"{self.path}: expected version {VERSION}, got {version!r}")
        if not isinstance(tick, int):
            raise CheckpointError(f"{self.path}: expected the number of a tick, got {tick!r}")
        if kept != views():
            raise CheckpointError(
                f"{self.path} keeps other views: open it with those, or begin a new file"
            )
        if [number for number, _ in ticks] != [tick + n for n in range(1, len(ticks) + 1)]:
            raise CheckpointError(f"{self.path}: ticks are missing after tick {tick}")
        try:
            read = tuple((number, json.loads(deltas)) for number, deltas in ticks)
        except (ValueError, TypeError) as error:
            raise CheckpointError(f"{self.path}: a broken tick: {error}") from None
        self.snapshot_size = len(checkpoint or "")
        self.ticks_size = sum(len(deltas) for _, deltas in ticks)
        return Saved(checkpoint, read)

    def append(
        self, tick: int, deltas: Words, outputs: Words, checkpoint: Callable[[], str]
    ) -> None:
        due = self.ticks_size > max(self.snapshot_size, SMALLEST_SNAPSHOT)
        state = checkpoint() if due else None
        written = json.dumps(deltas)
        try:
            with self.errors(f"write tick {tick}"), self.transaction():
                if state is not None:
                    self.write_snapshot(tick - 1, state)
                self.check_last(tick - 1)
                self.connection.execute(
                    "UPDATE ticks SET outputs = NULL WHERE number = ?", (tick - 1,)
                )
                self.connection.execute(
                    "INSERT INTO ticks VALUES (?, ?, ?)", (tick, written, json.dumps(outputs))
                )
        except CheckpointError as error:
            raise TickError(str(error)) from error
        if state is not None:
            self.snapshot_size, self.ticks_size = len(state), 0
        self.ticks_size += len(written)

    def write_snapshot(self, tick: int, checkpoint: str) -> None:
        """The state after this tick takes the place of the ticks up to it."""
        self.check_last(tick)
        self.connection.execute("UPDATE snapshot SET tick = ?, checkpoint = ?", (tick, checkpoint))
        self.connection.execute("DELETE FROM ticks WHERE number <= ?", (tick,))

    def check_last(self, tick: int) -> None:
        """Raises TickError unless this is the last tick in the file: nobody else has written."""
        (last,) = self.connection.execute(
            "SELECT COALESCE((SELECT MAX(number) FROM ticks), (SELECT tick FROM snapshot))"
        ).fetchone()
        if last != tick:
            raise TickError(
                f"{self.path} is at tick {last}, this circuit at tick {tick}: another process has "
                "written to it; open it again"
            )

    def outputs_of(self, tick: int) -> Words | None:
        with self.errors("read"):
            row = self.connection.execute(
                "SELECT outputs FROM ticks WHERE number = ?", (tick,)
            ).fetchone()
        return json.loads(row[0]) if row and row[0] is not None else None

    def clear(self) -> None:
        with self.errors("clear"), self.transaction():
            self.connection.execute("DELETE FROM ticks")
            self.connection.execute("UPDATE snapshot SET tick = 0, checkpoint = NULL")
        self.snapshot_size = self.ticks_size = 0

    def close(self) -> None:
        self.connection.close()

    def transaction(self) -> AbstractContextManager[None]:
        return transaction(self.connection)

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """SQLite's errors as ours, naming the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise CheckpointError(f"{self.path}: cannot {what}: {error}") from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is done inside is committed, or none of it; the connection is in autocommit mode."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def open_store(url: str) -> Store:
    """The store that a URL names. Raises UsageError for another kind of URL.

    >>> type(open_store("memory:")).__name__
    'MemoryStore'
    >>> open_store("views.db")
    Traceback (most recent call last):
    deltaproof.reference.errors.UsageError: 'views.db': expected memory: or sqlite:///FILE
    """
    if url == "memory:":
        return MemoryStore()
    path = unquote(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path:
        raise UsageError(f"{url!r}: expected memory: or sqlite:///FILE")
    if path.startswith(":") or "?" in url:
        raise UsageError(f"{url!r}: a file has no options here, and memory is said as memory:")
    return SqliteStore(Path(path))
