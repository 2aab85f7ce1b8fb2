"""TPC-H as a stream of changes: the load, then ticks of refreshes and updates.

The data is that of the PyPI package tpchgen-cli, which is deterministic. Some orders are held
back, for the refreshes to insert:

    tick 1      the load: all eight tables, without the orders held back
    tick 2 …    refresh function 1: scale × 1,500 orders are inserted, with their lineitems
                refresh function 2: as many orders are deleted, with their lineitems
                updates: a part, a supplier and a customer of every 20 gets new values in the
                columns that the queries look at; an update is a delete and an insert

Everything follows from the scale and the number of the tick.

    Tpch         the tables as rows of Python: every delta is a Z-set
    ArrowTpch    the tables as Arrow: the deltas of the load are Arrow tables, for the larger
                 scales; the refreshes are the same Z-sets
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from deltaproof.conformance.case import Tick
from deltaproof.conformance.tpch.schema import TABLES
from deltaproof.reference.errors import BackendError, BackendMissing
from deltaproof.reference.types import Row, Schema
from deltaproof.reference.zset import ZSet

ArrowTable: TypeAlias = Any  # pyarrow.Table; pyarrow has no types of its own

ORDERS_PER_REFRESH = 1_500  # at scale 1: clause 2.6 of the specification
ONE_IN = 20  # of the parts, suppliers and customers is updated in a tick
SEED = 20131231

BRANDS = [f"Brand#{first}{second}" for first in range(1, 6) for second in range(1, 6)]
TYPES = ["ECONOMY ANODIZED STEEL", "LARGE BRUSHED BRASS", "PROMO PLATED TIN"]
CONTAINERS = ["SM CASE", "SM BOX", "MED BAG", "MED BOX", "LG CASE", "LG BOX", "JUMBO PKG"]
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]


@dataclass(frozen=True)
class Tpch:
    """The tables of one scale, and the ticks that are made of them.

    >>> data = Tpch.load(0.001)
    >>> first, second = data.ticks(2)
    >>> len(first["nation"]), second["orders"].is_positive(), len(second["orders"])
    (25, False, 4)
    """

    scale: float
    tables: Mapping[str, list[Row]]

    @classmethod
    def load(cls, scale: float) -> Tpch:
        """Raises BackendMissing when the generator or the reader is not installed."""
        folder = generated(scale)
        return cls(scale, {name: read_table(folder, name, TABLES[name]) for name in TABLES})

    def ticks(self, number: int) -> Iterator[Tick]:
        """The load and the ticks after it, `number` in all."""
        random = Random(SEED)
        orders = random.sample(self.tables["orders"], len(self.tables["orders"]))
        size = per_refresh(self.scale)
        held, present = orders[: size * (number - 1)], orders[size * (number - 1) :]
        lineitems: dict[Any, list[Row]] = defaultdict(list)
        for row in self.tables["lineitem"]:
            lineitems[row[0]].append(row)
        updated = {name: list(self.tables[name]) for name in UPDATES}
        load = {**self.tables, "orders": present, "lineitem": lines_of(present, lineitems)}
        yield {name: tick_of(name, rows, ()) for name, rows in load.items()}
        yield from refreshes(random, size, held, present, lineitems, updated)


@dataclass(frozen=True)
class ArrowTpch:
    """The tables of one scale as Arrow, and the same ticks, the load as Arrow.

    >>> data = ArrowTpch.load(0.001)
    >>> first, second = data.ticks(2)
    >>> len(first["orders"]), first["orders"].num_columns, second["orders"].is_positive()
    (1498, 9, False)
    """

    scale: float
    tables: Mapping[str, ArrowTable]

    @classmethod
    def load(cls, scale: float) -> ArrowTpch:
        """Raises BackendMissing when the generator or the reader is not installed."""
        folder = generated(scale)
        return cls(scale, {name: read_arrow(folder, name, TABLES[name]) for name in TABLES})

    def ticks(self, number: int) -> Iterator[Mapping[str, ZSet | ArrowTable]]:
        """The load and the ticks after it, `number` in all."""
        import pyarrow
        from pyarrow import compute

        random = Random(SEED)
        orders, lineitem = self.tables["orders"], self.tables["lineitem"]
        places = random.sample(range(len(orders)), len(orders))
        size = per_refresh(self.scale)
        held = rows_of(orders.take(places[: size * (number - 1)]))
        going = rows_of(orders.take(places[size * (number - 1) :][: len(held)]))

        def of_orders(table: ArrowTable, rows: list[Row]) -> Any:
            """Whether each line of the table, whose first column is the order's key, is theirs."""
            keys = pyarrow.array([row[0] for row in rows], pyarrow.int64())
            return compute.is_in(table.column(0), value_set=keys)

        lineitems: dict[Any, list[Row]] = defaultdict(list)
        for row in rows_of(lineitem.filter(of_orders(lineitem, held + going))):
            lineitems[row[0]].append(row)
        updated = {name: rows_of(self.tables[name]) for name in UPDATES}
        load = {
            name: self.tables[name].filter(compute.invert(of_orders(self.tables[name], held)))
            for name in ("orders", "lineitem")
        }
        yield {**self.tables, **load}
        yield from refreshes(random, size, held, going, lineitems, updated)


def per_refresh(scale: float) -> int:
    """Orders that a tick inserts, and that it deletes."""
    return max(2, round(ORDERS_PER_REFRESH * scale))


def refreshes(
    random: Random,
    size: int,
    held: list[Row],
    present: list[Row],
    lineitems: Mapping[Any, list[Row]],
    updated: Mapping[str, list[Row]],
) -> Iterator[Tick]:
    """The ticks after the load: `size` of the orders held back come, as many of those present go.

    Changes the rows of `updated` in place.
    """
    for start in range(0, len(held), size):
        comes, goes = held[start : start + size], present[start : start + size]
        tick = {
            "orders": tick_of("orders", comes, goes),
            "lineitem": tick_of("lineitem", lines_of(comes, lineitems), lines_of(goes, lineitems)),
        }
        for name, rows in updated.items():
            tick[name] = update(random, name, rows)
        yield tick


def lines_of(orders: Sequence[Row], lineitems: Mapping[Any, list[Row]]) -> list[Row]:
    """The lineitems of these orders."""
    return [row for order in orders for row in lineitems.get(order[0], ())]


def tick_of(name: str, comes: Sequence[Row], goes: Sequence[Row]) -> ZSet:
    weights = dict.fromkeys(comes, 1) | dict.fromkeys(goes, -1)
    return ZSet.trusted(weights, TABLES[name])


def update(random: Random, name: str, rows: list[Row]) -> ZSet:
    """New values for some rows of a table, in place; the change as a delta."""
    change: list[tuple[Row, int]] = []
    for place in random.sample(range(len(rows)), max(1, len(rows) // ONE_IN)):
        values = dict(zip(TABLES[name].names, rows[place], strict=True))
        after = TABLES[name].row(list({**values, **UPDATES[name](random, values)}.values()))
        change += [(after, 1), (rows[place], -1)]
        rows[place] = after
    return ZSet(change, TABLES[name])


def new_part(random: Random, values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "p_size": random.randint(1, 50),
        "p_brand": random.choice(BRANDS),
        "p_type": random.choice(TYPES),
        "p_container": random.choice(CONTAINERS),
        "p_retailprice": values["p_retailprice"] + 1,
    }


def new_supplier(random: Random, values: Mapping[str, Any]) -> Mapping[str, Any]:
    nation = random.randrange(25)
    return {
        "s_nationkey": nation,
        "s_phone": f"{10 + nation}{values['s_phone'][2:]}",  # its first digits are the nation's
        "s_acctbal": values["s_acctbal"] - 1,
    }


def new_customer(random: Random, values: Mapping[str, Any]) -> Mapping[str, Any]:
    nation = random.randrange(25)
    return {
        "c_nationkey": nation,
        "c_phone": f"{10 + nation}{values['c_phone'][2:]}",  # its first digits are the nation's
        "c_mktsegment": random.choice(SEGMENTS),
        "c_acctbal": values["c_acctbal"] + 1,
    }


UPDATES = {"part": new_part, "supplier": new_supplier, "customer": new_customer}


def generated(scale: float) -> Path:
    """The folder with the tables of this scale, as Parquet; generated when it is not there."""
    folder = Path.home() / ".cache" / "deltaproof" / "tpch" / f"scale-{scale:g}"
    if folder.is_dir():
        return folder
    generator = Path(sys.executable).parent / "tpchgen-cli"
    program = str(generator) if generator.exists() else shutil.which("tpchgen-cli")
    if program is None:
        raise BackendMissing("tpchgen-cli is not installed: pip install 'deltaproof[tpch]'")
    half_done = folder.with_name(f"{folder.name}.part")
    half_done.mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(
        [program, "parquet", "-s", f"{scale:g}", "--output-dir", str(half_done)],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise BackendError(f"tpchgen-cli failed: {ended.stderr.strip()}")
    half_done.rename(folder)
    return folder


def read_table(folder: Path, name: str, schema: Schema) -> list[Row]:
    """The rows of a table, in canonical values."""
    return rows_of(read_arrow(folder, name, schema))


def read_arrow(folder: Path, name: str, schema: Schema) -> ArrowTable:
    """A table with the columns and types of its schema: an int32 becomes a BIGINT."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BackendMissing("pyarrow is not installed: pip install 'deltaproof[duckdb]'") from None
    table = parquet.read_table(folder / f"{name}.parquet")
    if table.column_names != list(schema.names):
        raise BackendError(f"{name}: expected columns {schema.names}, got {table.column_names}")
    from deltaproof.conformance.adapters.duckdb import arrow_type

    fields = [(column.name, arrow_type(column.type)) for column in schema.columns]
    return table.cast(pyarrow.schema(fields)).replace_schema_metadata()


def rows_of(table: ArrowTable) -> list[Row]:
    """The rows of a table in Python; Arrow's decimals are those of its type."""
    return list(zip(*[column.to_pylist() for column in table.columns], strict=True))
