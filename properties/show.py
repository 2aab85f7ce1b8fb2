"""Z-sets, streams and rows on one line, as a counterexample is read."""

from __future__ import annotations

from typing import Any

from deltaproof.reference.show import value_text
from deltaproof.reference.types import Row
from deltaproof.reference.zset import ZSet


def shown(value: Any) -> str:
    """A value on one line, the empty Z-set as 0; a query as its tree.

    >>> shown([ZSet({("a", None): 2}), ZSet()])
    "[{('a', NULL): +2}, 0]"
    """
    match value:
        case ZSet():
            entries = (f"{row_text(row)}: {weight_text(w)}" for row, w in in_order(value))
            return f"{{{', '.join(entries)}}}" if value else "0"
        case (only,) if isinstance(value, tuple):
            return shown(only)
        case tuple():
            return f"({', '.join(map(shown, value))})"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case dict():
            changes = [f"{name}: {shown(delta)}" for name, delta in value.items() if delta]
            return ", ".join(changes) or "0"
        case _:
            return str(value)


def in_order(zset: ZSet) -> list[tuple[Row, Any]]:
    """The entries in one order, also where wrong code put in rows that are no rows."""
    try:
        return zset.sorted_items()
    except Exception:  # noqa: BLE001  # whatever values raise that do not fit the schema
        return sorted(zset.items(), key=repr)


def weight_text(weight: Any) -> str:
    """A weight with its sign; what is no weight as it is.

    >>> weight_text(2), weight_text(2.0)
    ('+2', '2.0')
    """
    return f"{weight:+d}" if isinstance(weight, int) else str(weight)


def row_text(row: Row) -> str:
    """A row as SQL writes it; what is no row as it is."""
    if not isinstance(row, tuple):
        return repr(row)
    values = (repr(value) if isinstance(value, str) else value_text(value) for value in row)
    return f"({', '.join(values)})"
