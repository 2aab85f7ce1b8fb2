"""Every condition, in SMT-LIB 2, asked of a second solver: cvc5 shares no code with z3.

    z3 says "unsat" ──▶ the same formulas as text ──▶ cvc5 says "unsat": confirmed

A condition is the claim that some formulas cannot all be true. cvc5 reads it from text, in a
process of its own, so it runs beside z3; like z3 it has a limit of work and not of time. An answer
"sat" is a contradiction between the solvers: one of them is wrong, and the proof does not hold.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread
from time import sleep
from types import TracebackType
from typing import TextIO

import z3

from deltaproof.reference.errors import BackendMissing
from deltaproof.theorems.kernel import Formula, Query, Sort, Term

CONFIRMED, CONTRADICTED = "unsat", "sat"
# (cvc5's units of work, does it try terms that no pattern asks for): the second only if needed
ATTEMPTS = ((20_000, False), (100_000, True))

_DECLARED = re.compile(r"^\(declare-(?:fun|const|sort) (\|[^|]*\||\S+)", re.MULTILINE)
_OF_ONE_OR_NONE = re.compile(r"\((?:[*+]|and|or) [^\s()]+\)|(?<!\()\b(?:and|or)\b")
_VARIADIC = (z3.Z3_OP_ADD, z3.Z3_OP_MUL, z3.Z3_OP_AND, z3.Z3_OP_OR)
_DATATYPES = re.compile(r"^\(declare-datatypes .*", re.MULTILINE)
_SORT = re.compile(r"\((\|[^|]*\||[^\s()]+) 0\)")  # as (Tick 0) in its declaration
_NAME = re.compile(r"\|[^|]*\||[^\s()]+")
# (name sort), and what may look like it: (f x)
_BOUND = re.compile(
    r"\((\|[^|]*\||[^\s()]+) "
    r"(?:(?:\|[^|]*\||[^\s()]+)\)|\((?:Array|Seq|_ BitVec|_ FloatingPoint) )"
)
_BINDER = re.compile(r"\((?:forall|exists) \((.*?) \)", re.DOTALL)
_OPENED = re.compile(r"\((?!_ |Array |Seq )(\|[^|]*\||[^\s()]+) ")
_OF_LET = re.compile(r"[?$]x\d+$")  # how z3 names what it writes once


# ---------------------------------------------------------------- text


def smtlib(query: Query) -> str | None:
    """The condition as an SMT-LIB 2 text that is "unsat"; None where no formula was asked.

    >>> from deltaproof.theorems.kernel import prove
    >>> x = z3.Int("x")
    >>> (query,) = prove("a square is not negative", x * x >= 0).queries
    >>> print(smtlib(query).splitlines()[0], "is", confirm(smtlib(query)))
    ; a square is not negative is unsat
    """
    if query.clash is None:
        return None
    formulas = list(query.clash())
    text = _printed(formulas)
    if _ambiguous(text):
        text = _printed([*map(Renamed(), formulas)])
    name = " ".join(query.name.split())
    return f"; {name}\n(set-logic ALL)\n{text}"


def _printed(formulas: Sequence[Formula]) -> str:
    solver = z3.Solver()
    solver.add(*formulas)
    lines = solver.to_smt2().replace("\\", "/").splitlines(keepends=True)  # no name may have a \\
    return "".join(line for line in lines if not line.startswith((";", "(set-info")))


def _ambiguous(text: str) -> bool:
    """Whether a name is declared twice or bound too, or a sum is of one: z3 minds none of it."""
    declared = Counter(_DECLARED.findall(text))
    if any(times > 1 for times in declared.values()) or _OF_ONE_OR_NONE.search(text):
        return True
    sorts = set(_SORT.findall(text))
    of_datatypes = {name for line in _DATATYPES.findall(text) for name in _NAME.findall(line)}
    bound = _BOUND.findall(text)
    taken = {*declared, *(name for each in _BINDER.findall(text) for name in _OPENED.findall(each))}
    return (
        any(name in declared for name in bound)
        or len(set(bound)) < len(bound)
        or not taken.isdisjoint(of_datatypes - sorts)
        or any(map(_OF_LET.match, taken))
    )


class Renamed:
    """Formulas with a name of its own for every constant and every bound variable."""

    def __init__(self) -> None:
        self._numbers = count()
        self._known: dict[int, tuple[Term, Term]] = {}  # the old one too: ids are given again

    def __call__(self, term: Term) -> Term:
        if term.get_id() not in self._known:
            self._known[term.get_id()] = (term, self._made(term))
        return self._known[term.get_id()][1]

    def _made(self, term: Term) -> Term:
        if z3.is_quantifier(term):
            return self._quantifier(term)
        if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            return self._fresh(term.sort())
        children = [self(each) for each in term.children()]
        if len(children) == 1 and term.decl().kind() in _VARIADIC:
            return children[0]
        if not children and term.decl().kind() in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            return z3.BoolVal(term.decl().kind() == z3.Z3_OP_AND)
        return term.decl()(*children) if children else term

    def _quantifier(self, formula: Formula) -> Formula:
        width = formula.num_vars()
        variables = [self._fresh(formula.var_sort(place)) for place in range(width)]

        self._known |= {each.get_id(): (each, each) for each in variables}

        def opened(term: Term) -> Term:
            return self(z3.substitute_vars(term, *reversed(variables)))

        patterns = [
            z3.MultiPattern(*map(opened, formula.pattern(place).children()))
            for place in range(formula.num_patterns())
        ]
        kind = z3.ForAll if formula.is_forall() else z3.Exists
        return kind(variables, opened(formula.body()), patterns=patterns)

    def _fresh(self, sort: Sort) -> Term:
        return z3.Const(f"c{next(self._numbers)}!", sort)


def write_smtlib(folder: Path, named: Iterable[tuple[str, Sequence[Query]]]) -> int:
    """A file per condition, each once, under the name of the first theorem that asks it.

    Returns how many were written. Raises OSError when the folder cannot be written.
    """
    seen: dict[int, Query] = {}
    for name, queries in named:
        number = 0
        for query in queries:
            if id(query) not in seen and (text := smtlib(query)) is not None:
                seen[id(query)] = query
                number += 1
                path = folder / name / f"{number:03}.smt2"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return len(seen)


# ---------------------------------------------------------------- cvc5


def available() -> bool:
    try:
        import cvc5  # noqa: F401  # whether it is there is the question
    except ModuleNotFoundError:
        return False
    return True


def confirm(text: str) -> str:
    """What cvc5 says: "unsat", "sat", or why it does not know. Raises BackendMissing without it.

    >>> confirm("(set-logic ALL)(declare-fun x () Int)(assert (< x x))(check-sat)")
    'unsat'
    >>> confirm("(set-logic ALL)(declare-fun x () Int)(assert (< x 1))(check-sat)")
    'sat'
    >>> confirm("(set-logic ALL)(assert (< x 1))(check-sat)")[:10]
    'unreadable'
    """
    answer = "unknown"
    for units, enumerate_terms in ATTEMPTS:
        answer = _ask(text, units, enumerate_terms)
        if not answer.startswith("unknown"):
            break
    return answer


def _ask(text: str, units: int, enumerate_terms: bool) -> str:
    try:
        import cvc5
    except ModuleNotFoundError:
        raise BackendMissing("cvc5 is missing: pip install 'deltaproof[theorems]'") from None
    solver = cvc5.Solver(cvc5.TermManager())  # of its own: one for all gets slower and slower
    solver.setOption("rlimit-per", str(units))
    solver.setOption("fresh-binders", "true")
    if enumerate_terms:
        solver.setOption("full-saturate-quant", "true")
    parser = cvc5.InputParser(solver)
    answer = ""
    try:
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "condition")
        symbols = parser.getSymbolManager()
        while not (command := parser.nextCommand()).isNull():
            answer += command.invoke(solver, symbols)
    except RuntimeError as error:
        return f"unreadable: {' '.join(str(error).split())}"
    return " ".join(answer.split()) or "unknown (no answer)"


def serve(texts: Iterable[str], answers: TextIO) -> None:
    """Answers each line, a condition in JSON, by a line: what the process beside z3 runs."""
    for line in texts:
        answers.write(json.dumps(confirm(json.loads(line))) + "\n")
        answers.flush()


# ---------------------------------------------------------------- beside z3


@dataclass(frozen=True)
class Confirmed:
    """What cvc5 answered to the conditions of a theorem."""

    answers: tuple[tuple[Query, str], ...] = ()

    @property
    def asked(self) -> int:
        return len(self.answers)

    @property
    def confirmed(self) -> int:
        return sum(answer == CONFIRMED for _, answer in self.answers)

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """(condition, answer) of those that are not confirmed."""
        return tuple((query.name, said) for query, said in self.answers if said != CONFIRMED)

    @property
    def contradicted(self) -> str:
        """The first condition that cvc5 refutes, or ""."""
        return next((name for name, answer in self.others if answer == CONTRADICTED), "")


class SecondSolver:
    """cvc5 in a process beside this one; conditions that several theorems rest on are asked once.

    >>> from deltaproof.theorems.kernel import prove
    >>> with SecondSolver() as cvc5:
    ...     queries = prove("zero is zero", z3.IntVal(0) == 0).queries
    ...     cvc5.ask(queries)
    ...     cvc5.answers(queries).others
    ()
    """

    def __init__(self) -> None:
        command = [sys.executable, "-m", "deltaproof.theorems.second_solver"]
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, text=True)
        self._asked: dict[int, tuple[int, Query]] = {}  # the query too: ids are given again
        self._answers: list[str] = []
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> SecondSolver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._answers.append(json.loads(line))

    def ask(self, queries: Iterable[Query]) -> None:
        """Sends what was not asked before, and does not wait for an answer."""
        for query in queries:
            if id(query) in self._asked or (text := smtlib(query)) is None:
                continue
            self._asked[id(query)] = (len(self._asked), query)
            with suppress(BrokenPipeError):  # it died: `answers` says so
                stdin = self._process.stdin
                if stdin is not None:
                    stdin.write(json.dumps(text) + "\n")
                    stdin.flush()

    def answers(self, queries: Iterable[Query]) -> Confirmed:
        """What cvc5 said of these, which were sent before; waits for it."""
        wanted = {id(query): query for query in queries}
        return Confirmed(
            tuple(
                (query, self._answer(self._asked[number][0]))
                for number, query in wanted.items()
                if number in self._asked
            )
        )

    def _answer(self, place: int) -> str:
        while len(self._answers) <= place:
            if not self._reader.is_alive() and len(self._answers) <= place:
                return "unknown (cvc5's process ended)"
            sleep(0.005)
        return self._answers[place]


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
