"""A case is a query and a stream of changes: the one file format of the whole suite.

    {"deltaproof": 1,
     "title": "a group emptied in two ticks never returns",
     "cell": "aggregate.count@resurrect",
     "tables": {"p": "id BIGINT, a VARCHAR"},
     "query": {"op": "aggregate", "keys": ["a"], "aggregates": [["n", "count_star", null]],
               "inputs": [{"table": "p"}]},
     "ticks": [{"p": [[[1, "x"], 1], [[2, "x"], 1]]}, {"p": [[[1, "x"], -1]]}],
     "restarts": [1]}

Only tables, query and ticks are required. `restarts` lists the ticks after which the engine
is stopped and started again. What a backend should have answered is never read from the
file: it is recomputed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from deltaproof.reference.errors import CaseError, DeltaproofError
from deltaproof.reference.operator import zset_to_json
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

VERSION = 1
Tick: TypeAlias = Mapping[str, ZSet]
Stream: TypeAlias = Sequence[Tick]


@dataclass(frozen=True)
class Case:
    """A view's query, the ticks fed to it, and where the engine is restarted.

    >>> case = Case.from_json({"tables": {"t": "k BIGINT"}, "query": {"table": "t"},
    ...                        "ticks": [{"t": [[[7], 2]]}]})
    >>> case.ticks[0]["t"]
    ZSet({(7,): 2})
    >>> Case.from_json(case.to_json()) == case
    True
    """

    query: Query
    ticks: tuple[Tick, ...]
    cell: str = ""
    title: str = ""
    restarts: tuple[int, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def tables(self) -> dict[str, Schema]:
        return self.query.tables()

    @property
    def rows(self) -> int:
        """How many changes of rows all ticks hold together."""
        return sum(len(delta) for tick in self.ticks for delta in tick.values())

    @property
    def identity(self) -> str:
        """A name made from the content: equal cases have one, on every machine."""
        text = json.dumps(self.content(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def content(self) -> dict[str, Any]:
        """What makes this case the case it is, as JSON."""
        tables = self.tables
        return {
            "tables": {name: schema.to_json() for name, schema in tables.items()},
            "query": self.query.to_json(),
            "ticks": [
                {name: zset_to_json(tables[name], delta) for name, delta in tick.items() if delta}
                for tick in self.ticks
            ],
            "restarts": list(self.restarts),
        }

    def to_json(self) -> dict[str, Any]:
        head = {"deltaproof": VERSION, "title": self.title, "cell": self.cell}
        return head | self.content() | dict(self.notes)

    @classmethod
    def from_json(cls, document: Any) -> Case:
        """The case that `to_json` wrote. Raises CaseError saying what is wrong and where."""
        if not isinstance(document, dict):
            raise CaseError(f"a case is a JSON object, got {type(document).__name__}")
        if (version := document.get("deltaproof", VERSION)) != VERSION:
            raise CaseError(f"deltaproof: expected version {VERSION}, got {version!r}")
        for key in ("tables", "query", "ticks"):
            if key not in document:
                raise CaseError(f"{key!r} is missing: a case needs tables, query and ticks")
        tables = read_tables(document["tables"])
        query = Query.from_json(document["query"], tables)
        used = query.tables()
        if unused := sorted(tables.keys() - used.keys()):
            raise CaseError(f"tables: the query does not use {', '.join(unused)}: leave them out")
        ticks = read_ticks(document["ticks"], used)
        return cls(
            query,
            ticks,
            str(document.get("cell", "")),
            str(document.get("title", "")),
            read_restarts(document.get("restarts", []), len(ticks)),
            {key: value for key, value in document.items() if key not in KEYS},
        )

    @classmethod
    def load(cls, path: Path) -> Case:
        """The case in this file. Raises CaseError naming the file."""
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise CaseError(f"{path}: {error.strerror or error}") from None
        except (DeltaproofError, ValueError, RecursionError) as error:
            raise CaseError(f"{path}: {error}") from None

    def save(self, folder: Path) -> Path:
        """Writes the case to a file of its own, named by its content; the file appears whole."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.identity}.case.json"
        part = path.with_suffix(".part")
        part.write_text(self.text(), encoding="utf-8")
        return part.replace(path)

    def text(self) -> str:
        """The file's text: one line per key, so that a change of a case reads as a diff."""
        lines = ",\n ".join(
            f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.to_json().items()
        )
        return f"{{{lines}}}\n"

    def with_notes(self, **notes: Any) -> Case:
        """The case with more to say in its file: where it was found, what was observed."""
        return replace(self, notes={**self.notes, **notes})


KEYS = ("deltaproof", "title", "cell", "tables", "query", "ticks", "restarts")


def read_tables(tables: Any) -> dict[str, Schema]:
    if not isinstance(tables, dict):
        raise CaseError(f'tables: expected {{"name": columns}}, got {tables!r}')
    schemas = {}
    for name, columns in tables.items():
        try:
            schemas[name] = Schema.from_json(columns)
        except DeltaproofError as error:
            raise CaseError(f"tables.{name}: {error}") from None
    return schemas


def read_ticks(ticks: Any, tables: Mapping[str, Schema]) -> tuple[Tick, ...]:
    if not isinstance(ticks, list):
        raise CaseError(f"ticks: expected a list, got {ticks!r}")
    return tuple(read_tick(tick, tables, f"tick {n}") for n, tick in enumerate(ticks, 1))


def read_tick(tick: Any, tables: Mapping[str, Schema], where: str) -> Tick:
    if not isinstance(tick, dict):
        raise CaseError(f'{where}: expected {{"table": [[row, weight], …]}}, got {tick!r}')
    deltas = {}
    for name, entries in tick.items():
        if name not in tables:
            raise CaseError(f"{where}: unknown table {name!r}: there are {', '.join(tables)}")
        deltas[name] = read_delta(entries, tables[name], f"{where}, table {name}")
    return deltas


def read_delta(entries: Any, schema: Schema, where: str) -> ZSet:
    if not isinstance(entries, list):
        raise CaseError(f"{where}: expected [[row, weight], …], got {entries!r}")
    pairs = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2:
            raise CaseError(f"{where}: expected [row, weight], got {entry!r}")
        try:
            pairs.append((schema.row_from_json(entry[0]), entry[1]))
        except DeltaproofError as error:
            raise CaseError(f"{where}: {error}") from None
    try:
        return ZSet(pairs, schema)
    except DeltaproofError as error:
        raise CaseError(f"{where}: {error}") from None


def read_restarts(restarts: Any, ticks: int) -> tuple[int, ...]:
    fits = isinstance(restarts, list) and all(
        type(each) is int and 1 <= each <= ticks for each in restarts
    )
    if not fits:
        raise CaseError(f"restarts: expected tick numbers from 1 to {ticks}, got {restarts!r}")
    return tuple(restarts)
