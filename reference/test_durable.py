"""No committed tick is lost and none is applied twice, whenever the process is killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from deltaproof.reference import durable
from deltaproof.reference.circuit import Circuit
from deltaproof.reference.durable import SqliteStore, open_store
from deltaproof.reference.errors import CheckpointError, TickError, UsageError
from deltaproof.reference.query import Query, count, max_, sum_, table
from deltaproof.reference.scalar import col
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet

T = table("t", "k BIGINT, v BIGINT")
S = table("s", "key BIGINT, name VARCHAR")
VIEWS: dict[str, Query] = {
    "joined": T.join(S, on={"k": "key"}).group_by("name").aggregate(n=count(), s=sum_(col("v"))),
    "highest": T.group_by("k").aggregate(hi=max_(col("v"))),
    "all": T.aggregate(n=count()),
}
KILLS = int(os.environ.get("DELTAPROOF_KILLS", "6"))  # `make soak` runs 200

Tick = dict[str, dict[Row, int]]


def tick_number(number: int) -> Tick:
    """Changes that depend on nothing but the tick's number, deletes of what is there included."""
    random = Random(number)
    tick: Tick = {"t": {}, "s": {}}
    for _ in range(random.randrange(6)):
        row = (random.randrange(4), random.choice((0, 5, None)))
        tick["t"][row] = random.choice((-1, 1, 1, 2))
    for _ in range(random.randrange(3)):
        tick["s"][random.randrange(4), random.choice(("a", "", None))] = random.choice((-1, 1))
    return tick


def meaning_after(ticks: int) -> dict[str, ZSet]:
    """Every view over the sum of the first ticks, recomputed from nothing."""
    tables = {"t": ZSet((), T.schema), "s": ZSet((), S.schema)}
    for number in range(1, ticks + 1):
        for name, rows in tick_number(number).items():
            tables[name] = tables[name] + ZSet(rows)
    return {name: query.meaning()(tables) for name, query in VIEWS.items()}


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def stepped(path: Path, ticks: int) -> Circuit:
    circuit = Circuit(VIEWS, store=url(path))
    while circuit.ticks < ticks:
        circuit.step(tick_number(circuit.ticks + 1))
    return circuit


def test_a_circuit_opened_again_continues_where_it_was(tmp_path: Path) -> None:
    stepped(tmp_path / "views.db", 5).close()
    again = Circuit(VIEWS, store=url(tmp_path / "views.db"))
    assert (again.ticks, again.contents()) == (5, meaning_after(5))
    again.step(tick_number(6))
    assert again.contents() == meaning_after(6)


def test_a_snapshot_takes_the_place_of_the_ticks_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "SMALLEST_SNAPSHOT", 100)
    stepped(tmp_path / "views.db", 60).close()
    with sqlite3.connect(tmp_path / "views.db") as connection:
        ((tick, checkpoint),) = connection.execute("SELECT tick, checkpoint FROM snapshot")
        ((ticks,),) = connection.execute("SELECT COUNT(*) FROM ticks")
    assert (tick > 0, ticks) == (True, 60 - tick)
    assert json.loads(checkpoint)["ticks"] == tick
    assert stepped(tmp_path / "views.db", 61).contents() == meaning_after(61)


def test_a_tick_offered_twice_is_applied_once(tmp_path: Path) -> None:
    circuit = stepped(tmp_path / "views.db", 3)
    outputs = circuit.step(tick_number(4), tick=4)
    assert circuit.step(tick_number(4), tick=4) == outputs
    circuit.close()
    again = Circuit(VIEWS, store=url(tmp_path / "views.db"))
    assert again.step(tick_number(4), tick=4) == outputs
    assert (again.ticks, again.contents()) == (4, meaning_after(4))


def test_a_tick_out_of_turn_is_refused(tmp_path: Path) -> None:
    circuit = stepped(tmp_path / "views.db", 3)
    with pytest.raises(TickError, match="tick 2 cannot be applied after tick 3: expected 4, or"):
        circuit.step({}, tick=2)
    with pytest.raises(TickError, match="tick 9 cannot be applied after tick 3"):
        circuit.step({}, tick=9)
    with pytest.raises(TickError, match=r"tick 2 cannot be applied after tick 0: expected 1$"):
        Circuit(VIEWS).step({}, tick=2)


def test_a_tick_that_fails_is_not_in_the_file(tmp_path: Path) -> None:
    query = T.map(q=col("v") % col("k"))
    circuit = Circuit(query, store=url(tmp_path / "views.db"))
    circuit.step({"t": {(2, 5): 1}})
    with pytest.raises(Exception, match="tick 2"):
        circuit.step({"t": {(0, 5): 1}})
    circuit.step({"t": {(3, 5): 1}})
    circuit.close()
    assert Circuit(query, store=url(tmp_path / "views.db")).contents()["view"] == ZSet(
        {(1,): 1, (2,): 1}
    )


def test_a_tick_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    circuit = stepped(tmp_path / "views.db", 3)
    circuit.close()
    with pytest.raises(TickError, match="cannot write tick 4"):
        circuit.step(tick_number(4))
    assert (circuit.ticks, circuit.contents()) == (3, meaning_after(3))


def test_a_second_writer_is_told_so(tmp_path: Path) -> None:
    first, second = stepped(tmp_path / "views.db", 2), stepped(tmp_path / "views.db", 2)
    first.step(tick_number(3))
    with pytest.raises(TickError, match="is at tick 3, this circuit at tick 2: another process"):
        second.step(tick_number(3))
    assert second.ticks == 2


def test_a_file_of_other_views_is_refused(tmp_path: Path) -> None:
    stepped(tmp_path / "views.db", 2).close()
    with pytest.raises(CheckpointError, match="keeps other views"):
        Circuit(T.distinct(), store=url(tmp_path / "views.db"))


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "views.db").write_text("not a database, but long enough to be looked at" * 100)
    with pytest.raises(CheckpointError, match="cannot open"):
        Circuit(VIEWS, store=url(tmp_path / "views.db"))
    with pytest.raises(CheckpointError, match="cannot open"):
        Circuit(VIEWS, store=url(tmp_path / "no such folder" / "views.db"))


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM ticks WHERE number = 2",
        "UPDATE ticks SET deltas = '{' WHERE number = 2",
        """UPDATE ticks SET deltas = '{"t": [[["x", 1], 1]]}' WHERE number = 2""",
        """UPDATE ticks SET deltas = '{"u": []}' WHERE number = 2""",
        "UPDATE ticks SET deltas = NULL WHERE number = 2",
        "UPDATE snapshot SET version = 7",
        "UPDATE snapshot SET tick = NULL",
    ],
)
def test_a_file_that_was_damaged_is_refused(tmp_path: Path, damage: str) -> None:
    stepped(tmp_path / "views.db", 3).close()
    with sqlite3.connect(tmp_path / "views.db") as connection:
        connection.execute(damage)
    connection.close()
    with pytest.raises(CheckpointError):
        Circuit(VIEWS, store=url(tmp_path / "views.db"))


def test_reset_empties_the_file_too(tmp_path: Path) -> None:
    circuit = stepped(tmp_path / "views.db", 3)
    circuit.reset()
    circuit.close()
    assert Circuit(VIEWS, store=url(tmp_path / "views.db")).ticks == 0


@pytest.mark.parametrize(
    "bad", ["views.db", "sqlite:views.db", "sqlite://host/x", "sqlite:///", ""]
)
def test_a_url_of_another_kind_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="expected memory: or sqlite:///FILE"):
        open_store(bad)


@pytest.mark.parametrize("bad", ["sqlite:///:memory:", "sqlite:///x.db?mode=ro"])
def test_what_sqlite_would_take_as_an_option_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="a file has no options here"):
        open_store(bad)


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    connection.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(CheckpointError, match="not of a circuit: name another file"):
        Circuit(VIEWS, store=url(tmp_path / "other.db"))
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_path_may_hold_what_urls_escape(tmp_path: Path) -> None:
    store = open_store(url(tmp_path / "a%20b%3F.db"))
    assert isinstance(store, SqliteStore)
    assert (tmp_path / "a b?.db").exists()
    store.close()


WRITER = """
import sys
from deltaproof.reference import durable
from deltaproof.reference.test_durable import VIEWS, tick_number
from deltaproof.reference.circuit import Circuit
durable.SMALLEST_SNAPSHOT = 500
circuit = Circuit(VIEWS, store=sys.argv[1])
sys.stdout.write("open\\n")
sys.stdout.flush()
while True:
    circuit.step(tick_number(circuit.ticks + 1), tick=circuit.ticks + 1)
    sys.stdout.write(f"{circuit.ticks}\\n")
    sys.stdout.flush()
"""


def test_a_killed_process_loses_no_committed_tick(tmp_path: Path) -> None:
    """What a process said it had committed is there when it was killed; the rest is whole."""
    random = Random(7)
    path = tmp_path / "views.db"
    for _ in range(KILLS):
        said = last_tick_before_the_kill(path, random.uniform(0.0, 0.2))
        circuit = Circuit(VIEWS, store=url(path))
        assert circuit.ticks >= said
        assert circuit.contents() == meaning_after(circuit.ticks)
        circuit.close()


def last_tick_before_the_kill(path: Path, seconds: float) -> int:
    """Lets a process write ticks for so long, kills it, and gives the last tick it spoke of."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, url(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        whole = [line for line in writer.stdout.read().splitlines(keepends=True) if "\n" in line]
    return max(map(int, whole), default=0)
