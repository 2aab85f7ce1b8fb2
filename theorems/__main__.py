"""python -m deltaproof.theorems [--json] [--details] [THEOREM...]: proves, refutes, prints."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from rich.console import Console

from deltaproof.reference.errors import BackendMissing, UsageError
from deltaproof.theorems import chosen

PASS, FAIL, USAGE = 0, 1, 4


class Parser(argparse.ArgumentParser):
    """A wrong argument is one line and exit 4, as everywhere in deltaproof."""

    def error(self, message: str) -> None:  # type: ignore[override]  # raises instead of exiting
        raise UsageError(message)


def parser() -> Parser:
    words = Parser(prog="python -m deltaproof.theorems", description="Prove the theorems.")
    words.add_argument("theorem", nargs="*", help="only these; all of them when none is named")
    words.add_argument("--details", action="store_true", help="print the counterexamples too")
    words.add_argument("--json", action="store_true", help="print JSON")
    return words


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. The exit code: 0 all hold, 1 something does not, 4 a wrong argument."""
    try:
        words = parser().parse_args(arguments)
        theorems = chosen(words.theorem or None)
    except (UsageError, BackendMissing) as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        return USAGE
    from deltaproof.theorems.report import as_json, printed  # needs z3, which may be missing

    proofs = []
    progress = Console(stderr=True)
    with progress.status("proving") as status:
        for number, theorem in enumerate(theorems):
            status.update(f"{number} of {len(theorems)}: {theorem.name}")
            proofs.append(theorem.prove())
    if words.json:
        sys.stdout.write(json.dumps(as_json(proofs), indent=2, ensure_ascii=False) + "\n")
    else:
        Console().print(printed(proofs, words.details))
    return PASS if all(proof.holds for proof in proofs) else FAIL


if __name__ == "__main__":
    sys.exit(main())
