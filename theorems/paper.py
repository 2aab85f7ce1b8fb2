"""What the papers number, and which theorem here proves it.

Two editions number differently: the paper (VLDB 2023) and the long version (its appendices and
technical report). An item is found by its number, `4.7` for the paper and `TR 4.9` for the long
version. A definition names the code that says what it means; a claim names theorems.
"""

from __future__ import annotations

from dataclasses import dataclass

PAPER, LONG = "VLDB 2023", "long version"


@dataclass(frozen=True)
class Item:
    """A numbered definition, proposition, lemma, theorem, corollary or algorithm."""

    edition: str
    number: str
    kind: str
    statement: str  # in our words, ASCII
    theorems: tuple[str, ...] = ()
    defined: str = (
        ""  # dotted name of what defines it here: "deltaproof.reference.stream.integrate"
    )
    lean: str = ""
    remark: str = ""  # what is not proved, and why

    @property
    def word(self) -> str:
        """The item's number as it is asked for."""
        return self.number if self.edition == PAPER else f"TR {self.number}"


ITEMS: tuple[Item, ...] = ()


def numbered(word: str) -> tuple[Item, ...]:
    """The items of this number: "4.7" in the paper, "TR 4.9" in the long version.

    >>> numbered("9.99")
    ()
    """
    wanted = " ".join(word.upper().split())
    return tuple(item for item in ITEMS if item.word == wanted)
