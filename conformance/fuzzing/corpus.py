"""The corpus: a folder of cases that reached something new, one file each, named by its content.

Two corpora are merged by copying the files of one to the other. A file that cannot be read, or
is about something else, is reported and left alone; it never ends a run.

    loaded(folder, target)   the cases there, and what else lies there
    Corpus.keep(case)        writes a case, unless it is there already
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from deltaproof.conformance.case import Case
from deltaproof.conformance.fuzzing.ground import Target
from deltaproof.conformance.histories import KINDS
from deltaproof.reference.errors import CaseError

SUFFIX = ".case.json"


@dataclass
class Corpus:
    """The cases of a folder that an operator is in, and how many were written to it."""

    folder: Path
    cases: list[Case] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)  # what is wrong, with the file's name
    foreign: list[str] = field(default_factory=list)  # names of files that are no cases
    of_others: int = 0  # cases without the operator
    identities: set[str] = field(default_factory=set)
    written: int = 0

    def keep(self, case: Case) -> bool:
        """Writes the case; whether it was not there. Raises OSError when it cannot be written."""
        if case.identity in self.identities:
            return False
        self.identities.add(case.identity)
        case.save(self.folder)
        self.written += 1
        return True

    @property
    def size(self) -> int:
        return len(self.cases) + self.written


def loaded(folder: Path, target: Target) -> Corpus:
    """What lies in the folder; nothing, when there is none yet.

    >>> loaded(Path("no-such-folder"), Target.named("distinct")).cases
    []
    """
    corpus = Corpus(folder)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not path.name.endswith(SUFFIX) or not path.is_file():
            corpus.foreign.append(path.name)
            continue
        try:
            case = Case.load(path)
        except CaseError as error:
            corpus.unreadable.append(str(error))
            continue
        except Exception as error:  # noqa: BLE001  # `from_json` of somebody's operator
            corpus.unreadable.append(f"{path}: {type(error).__name__}: {error}")
            continue
        if target.name in {each.name for each in case.query.operators()}:
            corpus.cases.append(case)
            corpus.identities.add(case.identity)
        else:
            corpus.of_others += 1
    return corpus


def kind_of(case: Case) -> str:
    """The kind of change that the case says it is of; "" when it says none.

    >>> from deltaproof.reference.query import table
    >>> kind_of(Case(table("t", "k BIGINT"), (), "distinct@churn"))
    'churn'
    """
    kind = case.cell.rpartition("@")[2]
    return kind if kind in KINDS else ""
